package vm

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel"
)

// Exponentials and logarithms of strips: table and short polynomial, inline, so
// that the processor works on several elements at once. On a Zen 3, per element:
// exp 3.3 ns against 13 for math.Exp, log 4.1 against 10.4. Errors are below
// 1.1 units in the last place. Arguments out of the ordinary go to package math.

//go:noinline
func expLoop(d, a []float64) {
	a = a[:len(d)]
	for i, x := range a {
		if !(x > -708 && x < 709) {
			d[i] = math.Exp(x)
			continue
		}
		k := x*kernel.InvLn2N + kernel.Shift
		bits := math.Float64bits(k)
		k -= kernel.Shift
		r := x - k*kernel.Ln2NHi - k*kernel.Ln2NLo
		s := math.Float64frombits(kernel.ExpTable[bits&127] + bits<<45)
		r2 := r * r
		p := r + r2*(0.5+r*(1./6)) + (r2*r2)*(1./24+r*(1./120))
		d[i] = s + s*p
	}
}

//go:noinline
func logLoop(d, a []float64) {
	a = a[:len(d)]
	for i, x := range a {
		if !(x >= 0x1p-1022 && x <= math.MaxFloat64) {
			d[i] = kernel.Log(x)
			continue
		}
		bits := math.Float64bits(x)
		t := bits - kernel.LogBits
		k := float64(int64(t) >> 52)
		c := &kernel.LogTable[t>>45&127]
		bits -= t &^ (1<<52 - 1)
		// r = z·inv - 1 without error: both products are exact.
		z := math.Float64frombits(bits)
		zh := math.Float64frombits(bits &^ (1<<27 - 1))
		r := (zh*c.Inv - 1) + (z-zh)*c.Inv
		w := k*kernel.Ln2Hi + c.Hi
		h := w + r
		l := w - h + r + (k*kernel.Ln2Lo + c.Lo)
		r2 := r * r
		p := -0.5 + r*(1./3) + r2*(-0.25+r*(1./5)) + (r2*r2)*(-1./6+r*(1./7)-r2*(1./8))
		d[i] = h + (l + r2*p)
	}
}

// log1pLoop makes up for the rounding of 1 + x = z·2^k by what was lost over 1 + x,
// for which the table's reciprocal of z is good enough.
//
//go:noinline
func log1pLoop(d, a []float64) {
	a = a[:len(d)]
	for i, x := range a {
		u := 1 + x
		if !(u >= 0x1p-1022 && u <= 0x1p1000) {
			d[i] = math.Log1p(x)
			continue
		}
		lost := x - (u - 1)
		bits := math.Float64bits(u)
		t := bits - kernel.LogBits
		k := float64(int64(t) >> 52)
		c := &kernel.LogTable[t>>45&127]
		power := t &^ (1<<52 - 1)
		e := lost * math.Float64frombits(1023<<52-power) * c.Inv
		bits -= power
		z := math.Float64frombits(bits)
		zh := math.Float64frombits(bits &^ (1<<27 - 1))
		r := (zh*c.Inv - 1) + (z-zh)*c.Inv
		w := k*kernel.Ln2Hi + c.Hi
		h := w + r
		l := w - h + r + (k*kernel.Ln2Lo + c.Lo)
		r2 := r * r
		p := -0.5 + r*(1./3) + r2*(-0.25+r*(1./5)) + (r2*r2)*(-1./6+r*(1./7)-r2*(1./8))
		d[i] = h + (l + (r2*p + e))
	}
}

//go:noinline
func absLoop(d, a []float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = math.Abs(a[i])
	}
}

//go:noinline
func negAbsLoop(d, a []float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = -math.Abs(a[i])
	}
}

//go:noinline
func negDiffLoop(d, a, b []float64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		x := 0.0
		if a[i] != b[i] {
			x = -math.Abs(a[i] - b[i])
		}
		d[i] = x
	}
}

//go:noinline
func sigmoidLoop(d, a, e []float64) {
	a, e = a[:len(d)], e[:len(d)]
	for i := range d {
		x := 1.0
		if a[i] < 0 {
			x = e[i]
		}
		d[i] = x / (1 + e[i])
	}
}

//go:noinline
func maxPlus0Loop(d, a, l []float64) {
	a, l = a[:len(d)], l[:len(d)]
	for i := range d {
		x := a[i]
		if x < 0 {
			x = 0
		}
		d[i] = x + l[i]
	}
}

//go:noinline
func minMinus0Loop(d, a, l []float64) {
	a, l = a[:len(d)], l[:len(d)]
	for i := range d {
		x := a[i]
		if x > 0 {
			x = 0
		}
		d[i] = x - l[i]
	}
}

//go:noinline
func maxPlusLoop(d, a, b, l []float64) {
	a, b, l = a[:len(d)], b[:len(d)], l[:len(d)]
	for i := range d {
		x := a[i]
		if x < b[i] {
			x = b[i]
		}
		d[i] = x + l[i]
	}
}

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
	return float64(exponents)*math.Ln2 + l + odd
}
