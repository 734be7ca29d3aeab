package native

import "math"

// This file: functions of exponentials that are accurate near 0.

// expm1Of returns exp(x) - 1 in two parts, for x between -708 and 709. With eˣ = s(1+p), it adds
// s-1 and s·p; near 0, s is 1. Unless exact is set, it ignores the rounding errors of s·p and of
// the reduced argument.
func expm1Of(b *Builder, x Value, exact bool) pair {
	var tail Value
	e := reduce(b, x, &tail)
	s := b.AddWord(e.s, b.Shl(e.bits, 45))
	r := e.rest
	r2 := b.Mul(r, r)
	p := b.Add(b.Mul(r, b.Number(1./6)), b.Number(0.5))
	last := b.Add(b.Add(b.Mul(r, b.Number(1./120)), b.Number(1./24)), b.Mul(r2, b.Number(1./720)))
	p = b.Add(p, b.Mul(r2, last))
	if exact {
		tail = b.Add(tail, e.lost(b, x))
	}
	p, pl := fastSum(b, r, b.Add(b.Mul(r2, p), tail))
	low := b.Mul(s, pl)
	m := b.Mul(s, p)
	if exact {
		low = b.Sub(low, remainder(b, m, s, p))
	}
	z, zl := twoSum(b, s, b.Number(-1))
	y, yl := twoSum(b, z, m)
	return pair{y, b.Add(b.Add(zl, yl), low)}
}

func expm1Routine(b *Builder, x []Value, slow func(Value)) Value {
	slow(between(b, x[0], -700, 700))
	y := expm1Of(b, x[0], false)
	return b.Or(b.Add(y.high, y.low), b.And(x[0], b.Word(signBit))) // set the sign, also of a zero
}

// expm1All computes exp(x) - 1 for any numbers. For large x it uses the exponential itself.
func expm1All(b *Builder, x []Value) Value {
	y := expm1Of(b, b.Min(b.Number(700), b.Max(b.Number(-700), x[0])), false)
	small := b.Or(b.Add(y.high, y.low), b.And(x[0], b.Word(signBit)))
	return b.Select(b.Compare(GT, x[0], b.Number(700)), expAll(b, x), small)
}

// tanhOf returns tanh|x| and its derivative 1 - tanh². Below 0.77, tanh m is m + m³·P(m²)/Q(m²), where
// the coefficients minimise the largest error, which is 2^-56. From there on it is 1 - y with y =
// 2/(exp(2m) + 1), and the derivative y·(2-y), in which nothing cancels. Both sides share the
// division. The rounding errors of exp(2m) + 1 and of 1 - y are added in the end.
func tanhOf(b *Builder, x Value) (t, slope Value) {
	const most = 354 // exp(2·most) is finite
	m := magnitude(b, x, most)
	small := b.Compare(LT, m, b.Number(tanhSmall))
	p, q := tanhQuotient(b, m)
	e := reduce(b, b.Add(m, m), nil)
	s := b.AddWord(e.s, b.Shl(e.bits, 45))
	d, lost := fastSum(b, s, b.Add(b.Number(1), b.Mul(s, e.polynomial(b, nil))))
	num := b.Select(small, p, b.Number(-2))
	r := b.Div(num, b.Select(small, q, d))
	large, rest := fastSum(b, b.Number(1), r)
	large = b.Add(large, b.Add(rest, b.Mul(b.Mul(r, r), b.Mul(lost, b.Number(0.5)))))
	t = b.Select(small, b.Add(m, r), large)
	slope = b.Select(small, b.Sub(b.Number(1), b.Mul(t, t)), b.Mul(b.Neg(r), b.Add(r, b.Number(2))))
	return t, b.Select(b.Compare(GT, b.Abs(x), b.Number(most)), b.Number(0), slope)
}

// tanhSmall is the number below which tanh is a quotient of polynomials.
const tanhSmall = 0.77

// tanhQuotient returns the numerator and the denominator of tanh m - m for m below tanhSmall.
func tanhQuotient(b *Builder, m Value) (p, q Value) {
	z := b.Mul(m, m)
	z2 := b.Mul(z, z)
	line := func(a, c float64) Value { return b.Add(b.Mul(z, b.Number(c)), b.Number(a)) }
	p = b.Add(line(-0.3333333333333322, -0.020488559716941652), b.Mul(z2, b.Number(-0.00019872503535760784)))
	q = b.Add(line(1, 0.46146567915070735), b.Mul(z2, line(0.02327768486294945, 0.00020604863623195917)))
	return b.Mul(b.Mul(m, z), p), q
}

// tanhShort returns tanh|x| of small numbers, with the bits of tanhOf.
func tanhShort(b *Builder, x Value, slow func(Value)) Value {
	m := b.Abs(x)
	slow(b.Compare(LT, m, b.Number(tanhSmall)))
	p, q := tanhQuotient(b, m)
	return b.Add(m, b.Div(p, q))
}

func tanhFirst(b *Builder, x []Value, slow func(Value)) Value {
	return b.Or(tanhShort(b, x[0], slow), b.And(x[0], b.Word(signBit)))
}

func tanhSlopeFirst(b *Builder, x []Value, slow func(Value)) Value {
	t := tanhShort(b, x[0], slow)
	return b.Sub(b.Number(1), b.Mul(t, t))
}

func tanhRoutine(b *Builder, x []Value, _ func(Value)) Value {
	t, _ := tanhOf(b, x[0])
	return b.Or(t, b.And(x[0], b.Word(signBit)))
}

func tanhSlopeRoutine(b *Builder, x []Value, _ func(Value)) Value {
	_, slope := tanhOf(b, x[0])
	return slope
}

// tanhAndSlopeRoutine computes both tanhRoutine and tanhSlopeRoutine.
func tanhAndSlopeRoutine(b *Builder, x []Value) [2]Value {
	t, slope := tanhOf(b, x[0])
	return [2]Value{b.Or(t, b.And(x[0], b.Word(signBit))), slope}
}

// log1mExpRoutine computes log(1 - eˣ) for x ≤ 0, as the logarithm of 1 - eˣ in two parts.
func log1mExpRoutine(b *Builder, x []Value, slow func(Value)) Value {
	slow(between(b, x[0], -50, -normal))
	return log1mExpOf(b, x[0])
}

func log1mExpOf(b *Builder, x Value) Value {
	e := expm1Of(b, x, false)
	w := lookUp(b, b.Neg(e.high))
	lost := w.over(b, b.Neg(e.low))
	return w.finish(b, &lost)
}

func log1mExpAll(b *Builder, x []Value) Value {
	y := log1mExpOf(b, b.Max(b.Number(-700), x[0]))
	y = b.Select(b.Compare(LT, x[0], b.Number(-50)), b.Neg(expAll(b, x)), y)
	tiny := b.Compare(LT, b.Abs(x[0]), b.Number(normal)) // x is subnormal
	y = b.Select(tiny, exactLog(b, b.Neg(x[0])), y)
	return b.Select(b.Compare(GT, x[0], b.Number(0)), b.Number(math.NaN()), y)
}
