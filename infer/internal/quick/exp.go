package quick

import "math"

// shift rounds: a sum with it has no digits behind the point, and its last ones in binary are the
// whole number.
const shift = 0x1.8p52

// most is the size of the arguments that Exp reduces; others are rare.
const maxArg = 700

// Exp is math.Exp, but for the last two digits in binary.
//
// x is k·(ln 2)/64 + r with a whole number k and r of less than (ln 2)/128, whose series is short:
// what has to be waited for is its five terms, in pairs, and no division.
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
	// The power of two goes to the exponent.
	scale := math.Float64frombits(math.Float64bits(powers[bits%64]) + bits>>6<<52)
	return scale + scale*tail
}
