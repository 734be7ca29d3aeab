package draws

import (
	"math"
	"strconv"
)

// DefaultSigFigs is the number of significant digits of CmdStan since 2.37
// (six before).
const DefaultSigFigs = 8

// ExactSigFigs is what a file states as its number of digits if its numbers are exact:
// none of them needs more. They are written with as few as give the same number again.
const ExactSigFigs = 17

// maxSigFigs is CmdStan's limit.
const maxSigFigs = 18

// appendNumber appends v as a C++ stream of the given precision prints it:
// printf's %.{sigFigs}g, in which integers have no point, exponents at least
// two digits, and numbers that are none are nan, inf and -inf. With 0 digits it appends
// the shortest text that reads back as v.
func appendNumber(dst []byte, v float64, sigFigs int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "nan"...)
	case math.IsInf(v, 1):
		return append(dst, "inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-inf"...)
	}
	if sigFigs > 0 {
		return strconv.AppendFloat(dst, v, 'g', sigFigs, 64)
	}
	// Plain digits as far as they are easily read: programs take integers without a point or
	// an exponent only.
	if a := math.Abs(v); a == 0 || a >= 1e-5 && a < 1e15 {
		return strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// parseNumber reads what appendNumber and CmdStan write.
func parseNumber(text string) (float64, error) {
	if text == "-nan" || text == "+nan" { // as C libraries may print NaN
		return math.NaN(), nil
	}
	return strconv.ParseFloat(text, 64)
}
