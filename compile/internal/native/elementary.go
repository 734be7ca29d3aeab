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

// tanhRoutine computes (e-1)/(e+1) with e = exp(2|x|).
func tanhRoutine(b *Builder, x []Value, _ func(Value)) Value {
	m := magnitude(b, x[0], 20)
	e := expm1Of(b, b.Add(m, m), false)
	d, dl := twoSum(b, e.high, b.Number(2))
	q := e.over(b, pair{d, b.Add(dl, e.low)})
	return b.Or(b.Add(q.high, q.low), b.And(x[0], b.Word(signBit)))
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
