package ops

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel"
)

// Exponentials and logarithms by table and short polynomial, as machine code
// computes them. On a Zen 3, per element: exp 3.3 ns against 13 for math.Exp, log
// 4.1 against 10.4. Errors are below 1.1 units in the last place. Arguments out of
// the ordinary go to package math. Every product is rounded by itself: Go may
// contract x*y + z on other processors.

func exp(x float64) float64 {
	if !(x > -708 && x < 709) {
		return math.Exp(x)
	}
	k := float64(x*kernel.InvLn2N) + kernel.Shift
	bits := math.Float64bits(k)
	k -= kernel.Shift
	r := x - float64(k*kernel.Ln2NHi) - float64(k*kernel.Ln2NLo)
	s := math.Float64frombits(kernel.ExpTable[bits&127] + bits<<45)
	r2 := float64(r * r)
	p := r + float64(r2*(0.5+float64(r*(1./6)))) + float64(float64(r2*r2)*(1./24+float64(r*(1./120))))
	return s + float64(s*p)
}

func log(x float64) float64 {
	if !(x >= 0x1p-1022 && x <= math.MaxFloat64) {
		return kernel.Log(x)
	}
	h, l, r2p := logParts(math.Float64bits(x), nil)
	return h + (l + r2p)
}

// log1p makes up for the rounding of 1 + x = z·2^k by what was lost over 1 + x,
// for which the table's reciprocal of z is good enough.
func log1p(x float64) float64 {
	u := 1 + x
	if !(u >= 0x1p-1022 && u <= 0x1p1000) {
		return math.Log1p(x)
	}
	e := x - (u - 1)
	h, l, r2p := logParts(math.Float64bits(u), &e)
	return h + (l + (r2p + e))
}

// logParts is the logarithm of a normal number as h + (l + r2p), and lost, if
// there is any, over the number.
func logParts(bits uint64, lost *float64) (h, l, r2p float64) {
	t := bits - kernel.LogBits
	k := float64(int64(t) >> 52)
	c := &kernel.LogTable[t>>45&127]
	power := t &^ (1<<52 - 1)
	if lost != nil {
		*lost = float64(float64(*lost*math.Float64frombits(1023<<52-power)) * c.Inv)
	}
	bits -= power
	// r = z·inv - 1 without error: both products are exact.
	z := math.Float64frombits(bits)
	zh := math.Float64frombits(bits &^ (1<<27 - 1))
	r := (float64(zh*c.Inv) - 1) + float64((z-zh)*c.Inv)
	w := float64(k*kernel.Ln2Hi) + c.Hi
	h = w + r
	l = w - h + r + (float64(k*kernel.Ln2Lo) + c.Lo)
	r2 := float64(r * r)
	p := -0.5 + float64(r*(1./3)) + float64(r2*(-0.25+float64(r*(1./5)))) +
		float64(float64(r2*r2)*(-1./6+float64(r*(1./7))-float64(r2*(1./8))))
	return h, l, float64(r2 * p)
}
