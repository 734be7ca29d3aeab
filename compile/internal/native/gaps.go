package native

import "math"

// This file: the gap, an increment of ψ minus the first term of its series. Derivatives of
// densities with respect to large parameters use it to avoid cancellation.

// atanhTerms are the coefficients of (atanh(s) - s)/s³ in powers of s², for s² up to 0.04.
var atanhTerms = []float64{1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15, 1. / 17, 1. / 19, 1. / 21, 1. / 23}

// gapRoutine computes ψ(x+d) - ψ(x) - d/x for d ≥ 0. For x below 1 it omits the term d/x.
func gapRoutine(b *Builder, x []Value, slow func(Value)) Value {
	to := b.Add(x[0], x[1])
	slow(b.Both(between(b, x[0], minGap, maxGap), between(b, to, minGap, maxGap)))
	return gapOf(b, x[0], to, x[1])
}

const minGap, maxGap = 1e-30, 1e150

// gapOf raises both arguments to at least 6, as digammaRiseOf does.
func gapOf(b *Builder, from, to, d Value) Value {
	one := b.Number(1)
	sum := shiftTerms(b, from, to)
	isNear := func() Value { return b.Compare(LT, from, b.Number(seriesFrom)) }
	shift := b.Keep(isNear(), b.Number(seriesFrom))
	from6, to6 := b.Add(from, shift), b.Add(to, shift)
	first := b.Keep(b.Compare(GE, from, one), b.Div(one, from))
	sum = b.Keep(isNear(), b.Add(sum, b.Sub(b.Div(one, from6), first)))
	return b.Add(gapFrom(b, from6, to6, d), b.Mul(d, sum))
}

// gapFrom returns ψ(to) - ψ(from) - d/from for to = from + d, from at least 6. With t = d/from, it
// is log(1+t) - t plus the rest of the series. The logarithm is 2 atanh s with s = t/(t+2), and 2s
// - t = -ts.
func gapFrom(b *Builder, from, to, d Value) Value {
	w, rest := riseRest(b, from, to, d)
	t := b.Div(d, from)
	s := b.Div(t, b.Add(t, b.Number(2)))
	q := b.Mul(s, s)
	near := b.Mul(s, b.Sub(b.Mul(b.Mul(b.Number(2), q), polynomial(b, q, atanhTerms)), t))
	far := b.Sub(log1pOf(b, t, b.Number(0)), t)
	y := b.Select(b.Compare(LE, t, b.Number(0.5)), near, far)
	return b.Add(y, b.Sub(b.Mul(b.Mul(b.Number(0.5), d), w), rest))
}

// gapAll computes the gap for any numbers: for huge ones by two terms of the series, for others as
// a difference.
func gapAll(b *Builder, x []Value) Value {
	from, d := x[0], x[1]
	to := b.Add(from, d)
	t := b.Div(d, from)
	first := b.Keep(b.Compare(GE, from, b.Number(1)), t)
	y := b.Sub(digammaRiseAll(b, x), first)
	s := b.Div(t, b.Add(t, b.Number(2)))
	q := b.Mul(s, s)
	huge := b.Mul(s, b.Sub(b.Mul(b.Mul(b.Number(2), q), polynomial(b, q, atanhTerms)), t))
	huge = b.Add(huge, b.Div(b.Mul(b.Number(0.5), t), to))
	isHuge := b.Both(b.Compare(GT, from, b.Number(maxGap)), b.Compare(LE, t, b.Number(0.5)))
	y = b.Select(b.Both(isHuge, b.Compare(LE, to, b.Number(math.MaxFloat64))), huge, y)
	ordinary := b.Both(between(b, from, minGap, maxGap), between(b, to, minGap, maxGap))
	return b.Select(ordinary, gapOf(b, from, to, d), y)
}
