package draws

import (
	"math"
	"strconv"
)

// DefaultSigFigs is the number of significant digits of CmdStan since 2.37
// (six before).
const DefaultSigFigs = 8

// ExactSigFigs is the number of digits that a file with exact numbers states, as no float64 needs
// more. Each number has only as many digits as it needs to read back unchanged.
const ExactSigFigs = 17

// maxSigFigs is CmdStan's limit.
const maxSigFigs = 18

// appendNumber appends v as a C++ stream of the given precision prints it: printf's %.{sigFigs}g,
// with nan, inf and -inf. Integers have no point, and exponents at least two digits. With 0 digits
// it appends the shortest text that reads back as v.
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
	// Use no exponent for moderate magnitudes: some programs accept integers only without a point
	// or an exponent.
	if a := math.Abs(v); a == 0 || a >= 1e-5 && a < 1e15 {
		return strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// parseNumber reads a number that appendNumber or CmdStan wrote.
func parseNumber(text string) (float64, error) {
	if text == "-nan" || text == "+nan" { // some C libraries print NaN with a sign
		return math.NaN(), nil
	}
	return strconv.ParseFloat(text, 64)
}
