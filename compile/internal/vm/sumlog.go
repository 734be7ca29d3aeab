package vm

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/ad/kernel"
	"github.com/ppl-lang/ppl/compile/internal/ops"
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

// sumLog1pLoop is the sum of log1p a for numbers between 0 and 1: the logarithm of
// the product of all 1 + a, which is carried less 1, as p. Nothing cancels there, so that p
// is exact to as many roundings as there are factors however small the numbers are. a has
// fewer than 8000 elements, so that none of the eight products, those of the lanes of the
// widest machine code, leaves the range of numbers.
//
//go:noinline
func sumLog1pLoop(a []float64) float64 {
	var p [8]float64
	for i, x := range a {
		q := &p[i&7]
		*q = float64(*q*(x+1)) + x
	}
	ops.Of(ad.OpLog1p).Loop(p[:], p[:], nil, nil)
	return sumLoop(p[:])
}
