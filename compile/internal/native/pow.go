package native

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// powRoutine computes x to the power of y, as kernel.Pow defines it: the exponential of y times the
// logarithm of x, which has two parts.
func powRoutine(b *Builder, x []Value, slow func(Value)) Value {
	slow(between(b, x[0], normal, math.MaxFloat64))
	high, low := powLog(b, lookUp(b, x[0]))
	high, low = twice(b, high, low, x[1])
	slow(b.Compare(LT, b.Abs(high), b.Number(routines.PowMost)))
	var tail Value
	e := reduce(b, high, &tail)
	e.rest = b.Add(e.rest, low)
	return e.direct(b, &tail)
}

// powLog returns the logarithm of a normal number, in two parts.
func powLog(b *Builder, e entry) (high, low Value) {
	zh := upper(b, e.z)
	rh, rl := b.Sub(b.Mul(zh, e.inv), b.Number(1)), b.Mul(b.Sub(e.z, zh), e.inv)
	r := b.Add(rh, rl)
	lost := b.Sub(rl, b.Sub(r, rh))
	a := b.Mul(e.k, b.Number(routines.Ln2Hi))
	w := b.Add(a, e.high)
	h := b.Add(w, r)
	low = b.Add(b.Sub(w, h), r)
	low = b.Add(low, b.Add(b.Add(b.Mul(e.k, b.Number(routines.Ln2Lo)), e.low), b.Add(b.Sub(a, w), e.high)))
	low = b.Add(low, b.Sub(lost, b.Mul(lost, r)))
	half := b.Mul(r, b.Number(-0.5))
	q := b.Mul(r, half)
	low = b.Add(low, b.MulAdd(half, r, b.Neg(q)))
	high = b.Add(h, q)
	low = b.Add(low, b.Add(b.Sub(h, high), q))
	r2 := b.Mul(r, r)
	line := func(a, c float64) Value { return b.Add(b.Mul(r, b.Number(c)), b.Number(a)) }
	p := b.Add(line(1./3, -1./4), b.Mul(line(1./5, -1./6), r2))
	p = b.Add(p, b.Mul(b.Add(line(1./7, -1./8), b.Mul(line(1./9, -1./10), r2)), b.Mul(r2, r2)))
	low = b.Add(low, b.Mul(p, b.Mul(r2, r)))
	l := b.Add(high, low)
	return l, b.Add(low, b.Sub(high, l))
}

// twice returns the product of y and a number in two parts, also in two parts.
func twice(b *Builder, high, low, y Value) (Value, Value) {
	e := b.Mul(high, y)
	return e, b.Add(b.Mul(low, y), b.MulAdd(high, y, b.Neg(e)))
}

// powAll computes x to the power of y for any numbers.
func powAll(b *Builder, x []Value) Value {
	zero, one, inf := b.Number(0), b.Number(1), b.Number(math.Inf(1))
	base, y := x[0], x[1]
	mag := b.Abs(base)
	// Multiply subnormal numbers by 2^54. Replace zero, infinity and NaN by 1; they are handled
	// below.
	small := b.Compare(LT, mag, b.Number(normal))
	m := b.Select(small, b.Mul(mag, b.Number(0x1p54)), mag)
	m = b.Select(b.Both(b.Compare(GT, m, zero), b.Compare(LE, m, b.Number(math.MaxFloat64))), m, one)
	e := lookUp(b, m)
	e.k = b.Add(e.k, b.Keep(small, b.Number(-54)))
	high, low := powLog(b, e)
	high = b.Select(b.Compare(EQ, mag, zero), b.Number(math.Inf(-1)), high)
	high = b.Select(b.Compare(EQ, mag, inf), inf, high)
	high, low = twice(b, high, low, y)
	// If the exponential overflows or underflows, the low part does not matter and may be NaN.
	low = b.Keep(b.Compare(LT, b.Abs(high), b.Number(800)), low)
	var tail Value
	s := reduce(b, within(b, high), &tail)
	s.rest = b.Add(s.rest, low)
	p := s.everywhere(b, &tail)
	// The result is negative if the base is negative and the exponent is odd. It is NaN if the base
	// is negative and finite and the exponent is no integer.
	trunc := b.Round(Trunc, y)
	half := b.Mul(y, b.Number(0.5))
	odd := b.Both(b.Compare(EQ, trunc, y), b.Compare(NEQ, b.Round(Trunc, half), half))
	p = b.Xor(p, b.Keep(odd, b.And(base, b.Word(signBit))))
	finite := b.Both(b.Compare(LT, base, zero), b.Compare(GE, base, b.Number(-math.MaxFloat64)))
	none := b.Either(b.Both(finite, b.Compare(NEQ, trunc, y)), b.Compare(UNORD, base, base))
	p = b.Select(none, b.Number(math.NaN()), p)
	// x⁰ and 1ʸ are 1 even if the other number is NaN.
	is1 := b.Either(b.Compare(EQ, y, zero), b.Compare(EQ, base, one))
	is1 = b.Either(is1, b.Both(b.Compare(EQ, base, b.Number(-1)), b.Compare(EQ, b.Abs(y), inf)))
	return b.Select(is1, one, p)
}
