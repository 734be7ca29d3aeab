package native

import "math"

// ψ's rises beyond the first term of their series: derivatives of densities by large parameters are
// made of these, in which nothing cancels.

// atanhTerms are (atanh(s) - s)/s³ in powers of s², for s² up to 0.04.
var atanhTerms = []float64{1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15, 1. / 17, 1. / 19, 1. / 21, 1. / 23}

// gapRoutine is ψ(x+d) - ψ(x) - d/x for d ≥ 0, but without the last term where x is below 1.
func gapRoutine(b *Builder, x []Value, slow func(Value)) Value {
	to := b.Add(x[0], x[1])
	slow(b.Both(between(b, x[0], minGap, maxGap), between(b, to, minGap, maxGap)))
	return gapOf(b, x[0], to, x[1])
}

const minGap, maxGap = 1e-30, 1e150

// gapOf brings both arguments to 6 as digammaRiseOf does.
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

// gapFrom is ψ(to) - ψ(from) - d/from for to = from + d, from at least 6: log(1+t) - t and the
// rest, t = d/from. The logarithm is 2 atanh s, of which t cancels 2s but for -ts.
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

// gapAll is it of any numbers: of huge ones by two terms, of others the difference.
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
