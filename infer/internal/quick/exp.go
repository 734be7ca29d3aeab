package quick

import "math"

// shift rounds a number to an integer when added to it: the sum has no digits after the binary
// point, and its last bits are the integer.
const shift = 0x1.8p52

// maxArg is the absolute value up to which Exp computes the result itself; larger arguments are
// rare.
const maxArg = 700

// Exp is math.Exp, except for the last two binary digits.
//
// x is k·(ln 2)/64 + r with an integer k and |r| < (ln 2)/128, for which the series is short. The
// result depends on a chain of only five terms, in pairs, and on no division.
func Exp(x float64) float64 {
	if !(x > -maxArg && x < maxArg) {
		return math.Exp(x)
	}
	const (
		high = 0x1.62e42feep-7
		low  = math.Ln2/64 - high // k·high is exact
	)
	k := x*(64*math.Log2E) + shift
	bits := math.Float64bits(k)
	k -= shift
	r := x - k*high - k*low
	square := r * r
	tail := r + square*((1.0/2+r*(1.0/6))+square*(1.0/24+r*(1.0/120)))
	// Multiply by the power of two by adding to the exponent.
	scale := math.Float64frombits(math.Float64bits(powers[bits%64]) + bits>>6<<52)
	return scale + scale*tail
}
