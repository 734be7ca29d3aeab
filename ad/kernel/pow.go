package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// Pow returns x to the power of y. It computes the logarithm in two parts, accurate to about 2^-66,
// multiplies it by y and takes the exponential. Errors are below 0.51 units in the last place, so
// powers that are representable are exact. math.Pow multiplies repeatedly: its error is about y
// units in the last place, and it is wrong for subnormal x. Special values are those of math.Pow.
//
// Every product is rounded separately, so that machine code computes the same bits: on some
// processors, Go may otherwise fuse x*y + z.
func Pow(x, y float64) float64 {
	if x >= 0x1p-1022 && x <= math.MaxFloat64 {
		if high, low := powLog(x, 0, y); math.Abs(high) < routines.PowMost {
			s, p := powExp(high, low)
			return s + float64(s*p)
		}
		return powEnds(x, y)
	}
	switch {
	case x == 0 || y == 0 || math.IsInf(x, 0) || math.IsNaN(x) || math.IsNaN(y):
		return math.Pow(x, y)
	case x > 0:
		return powEnds(x, y)
	case x == -1 && math.IsInf(y, 0):
		return 1
	case math.Trunc(y) != y:
		return math.NaN()
	case math.Trunc(y/2) != y/2:
		return -Pow(-x, y)
	}
	return Pow(-x, y)
}

// powEnds is Pow for x > 0 where x or the result may be subnormal.
func powEnds(x, y float64) float64 {
	if math.IsInf(y, 0) || math.IsNaN(y) {
		return math.Pow(x, y)
	}
	k := 0.0
	if x < 0x1p-1022 {
		x, k = x*0x1p54, -54
	}
	high, low := powLog(x, k, y)
	if !(math.Abs(high) < 800) {
		low = 0
	}
	high = min(max(high, -746), 710)
	n := math.Round(high / math.Ln2)
	return math.Ldexp(math.Exp((high-float64(n*routines.Ln2Hi))-float64(n*routines.Ln2Lo)+low), int(n))
}

// powLog returns y·(log x + k·log 2) in two parts, for a normal x.
func powLog(x, k, y float64) (high, low float64) {
	bits := math.Float64bits(x)
	t := bits - routines.LogBits
	k += float64(int64(t) >> 52)
	c := &routines.LogTable[t>>45&127]
	bits -= t &^ (1<<52 - 1)
	z := math.Float64frombits(bits)
	zh := math.Float64frombits(bits &^ (1<<27 - 1))
	rh, rl := float64(zh*c.Inv)-1, float64((z-zh)*c.Inv)
	r := rh + rl
	lost := rl - (r - rh)
	a := float64(k * routines.Ln2Hi)
	w := a + c.Hi
	h := w + r
	low = w - h + r + (float64(k*routines.Ln2Lo) + c.Lo + (a - w + c.Hi)) + (lost - float64(lost*r))
	half := -0.5 * r
	q := float64(r * half)
	low += math.FMA(half, r, -q)
	high = h + q
	low += h - high + q
	r2 := float64(r * r)
	p := (1./3 + float64(r*(-1./4))) + float64((1./5+float64(r*(-1./6)))*r2)
	p += float64(((1./7 + float64(r*(-1./8))) + float64((1./9+float64(r*(-1./10)))*r2)) * float64(r2*r2))
	low += float64(p * float64(r2*r))
	l := high + low
	low += high - l
	e := float64(l * y)
	return e, float64(low*y) + math.FMA(l, y, -e)
}

// powExp returns e^(high+low) as s + s·p. p is accurate to 2^-60, so that a representable power
// comes out exactly.
func powExp(high, low float64) (s, p float64) {
	n := float64(high*routines.InvLn2N) + routines.Shift
	bits := math.Float64bits(n)
	n -= routines.Shift
	r := high - float64(n*routines.Ln2NHi) - float64(n*routines.Ln2NLo) + low
	s = math.Float64frombits(routines.ExpTable[bits&127] + bits<<45)
	r2 := float64(r * r)
	tail := math.Float64frombits(routines.ExpTable[128+bits&127])
	return s, tail + (r + float64(r2*(0.5+float64(r*(1./6)))) + float64(float64(r2*r2)*(1./24+float64(r*(1./120)))))
}
