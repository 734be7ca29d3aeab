package vm

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel"
)

// sumLogLoop is the sum of log a: the logarithm of the product of the mantissas,
// and the exponents times log 2. Rounding of a product of n factors costs n/2
// units in the last place of 1, as the sum of the logarithms would. a has fewer
// than 1000 elements, so that a product of mantissas stays below 2^1000.
//
//go:noinline
func sumLogLoop(a []float64) float64 {
	const (
		fraction = 1<<52 - 1
		one      = 1023 << 52
	)
	var p [4]float64
	p[0], p[1], p[2], p[3] = 1, 1, 1, 1
	exponents, odd := 0, 0.0
	for i, x := range a {
		bits := math.Float64bits(x)
		e := bits >> 52
		if e-1 >= 0x7fe { // zero, subnormal, negative, infinite, NaN
			odd += kernel.Log(x)
			continue
		}
		exponents += int(e) - 1023
		p[i&3] *= math.Float64frombits(bits&fraction | one)
	}
	l := 0.0
	for _, q := range p {
		l += math.Log(q)
	}
	return float64(float64(exponents)*math.Ln2) + l + odd
}
