package draws

import (
	"math"
	"strconv"
)

// DefaultSigFigs is the number of significant digits of CmdStan since 2.37
// (six before); also used where none or -1 is asked for.
const DefaultSigFigs = 8

// maxSigFigs is CmdStan's limit.
const maxSigFigs = 18

// appendNumber appends v as a C++ stream of the given precision prints it:
// printf's %.{sigFigs}g, in which integers have no point, exponents at least
// two digits, and numbers that are none are nan, inf and -inf.
func appendNumber(dst []byte, v float64, sigFigs int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "nan"...)
	case math.IsInf(v, 1):
		return append(dst, "inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-inf"...)
	}
	return strconv.AppendFloat(dst, v, 'g', sigFigs, 64)
}

// parseNumber reads what appendNumber and CmdStan write.
func parseNumber(text string) (float64, error) {
	if text == "-nan" || text == "+nan" { // as C libraries may print NaN
		return math.NaN(), nil
	}
	return strconv.ParseFloat(text, 64)
}
