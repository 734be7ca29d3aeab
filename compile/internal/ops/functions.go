package ops

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// exp is the exponential by table and short polynomial, as machine code computes it. On a
// Zen 3 it takes 3.3 ns against 13 for math.Exp. Errors are below 1.01 units in the last
// place, half of which are the table's and half the last sum's; of 40 million arguments none erred
// by more than 1.000. Arguments out of the ordinary go to package math. Every product is rounded by
// itself: Go may contract x*y + z on other processors.
func exp(x float64) float64 {
	if !(x > -708 && x < 709) {
		return math.Exp(x)
	}
	k := float64(x*routines.InvLn2N) + routines.Shift
	bits := math.Float64bits(k)
	k -= routines.Shift
	r := x - float64(k*routines.Ln2NHi) - float64(k*routines.Ln2NLo)
	s := math.Float64frombits(routines.ExpTable[bits&127] + bits<<45)
	r2 := float64(r * r)
	p := r + float64(r2*(0.5+float64(r*(1./6)))) + float64(float64(r2*r2)*(1./24+float64(r*(1./120))))
	return s + float64(s*p)
}
