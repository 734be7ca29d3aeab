package native

import "math"

// This file: hyperbolic functions, computed from exp(|x|) - 1, and their inverses, computed from
// log1p. Intermediate numbers are in two parts.

const (
	maxGrown = 700   // beyond it, sinh and cosh are half an exponential
	maxAreal = 1e100 // larger numbers are not squared, because the square would overflow
)

// halfExponential returns exp(x)/2 for x up to 712, without overflow if the result is finite.
func halfExponential(b *Builder, x Value) Value {
	var tail Value
	e := reduce(b, b.Min(b.Number(712), x), &tail)
	s, factors := e.unscaled(b)
	y := b.Mul(b.Mul(e.finish(b, s, &tail), factors[0]), b.Number(0.5))
	return b.Mul(y, factors[1])
}

// grown returns exp(m) - 1 and exp(m) in two parts each, for m from 0 to maxGrown.
func grown(b *Builder, m Value) (less, e pair) {
	less = expm1Of(b, m, true)
	return less, less.plus(b, whole(b, b.Number(1)))
}

func half(b *Builder, p pair) Value { return b.Mul(b.Number(0.5), b.Add(p.high, p.low)) }

// sinhOf returns sinh m as (u + u/(u+1))/2 with u = exp(m) - 1.
func sinhOf(b *Builder, m Value) Value {
	u, e := grown(b, m)
	return half(b, u.plus(b, u.over(b, e)))
}

func coshOf(b *Builder, m Value) Value {
	_, e := grown(b, m)
	return half(b, e.plus(b, whole(b, b.Number(1)).over(b, e)))
}

func signOf(b *Builder, y, x Value) Value { return b.Or(y, b.And(x, b.Word(signBit))) }

func isLess(b *Builder, x Value, most float64) Value {
	return b.Compare(LE, b.Abs(x), b.Number(most))
}

func sinhRoutine(b *Builder, x []Value, slow func(Value)) Value {
	slow(isLess(b, x[0], maxGrown))
	return signOf(b, sinhOf(b, b.Abs(x[0])), x[0])
}

func sinhAll(b *Builder, x []Value) Value {
	m := b.Abs(x[0])
	y := b.Select(b.Compare(GT, m, b.Number(maxGrown)), halfExponential(b, m), sinhOf(b, magnitude(b, x[0], maxGrown)))
	return signOf(b, y, x[0])
}

func coshRoutine(b *Builder, x []Value, slow func(Value)) Value {
	slow(isLess(b, x[0], maxGrown))
	return coshOf(b, b.Abs(x[0]))
}

func coshAll(b *Builder, x []Value) Value {
	m := b.Abs(x[0])
	return b.Select(b.Compare(GT, m, b.Number(maxGrown)), halfExponential(b, m), coshOf(b, magnitude(b, x[0], maxGrown)))
}

// logOfTwice returns log(2x) for large x.
func logOfTwice(b *Builder, x Value) Value {
	e := lookUp(b, b.Min(b.Number(math.MaxFloat64), x))
	e.k = b.Add(e.k, b.Number(1))
	return b.Select(b.Compare(EQ, x, b.Number(math.Inf(1))), x, e.finish(b, nil))
}

// log1pOfPair returns log(1+x). Unlike log1pOf, which multiplies by a reciprocal from a table and
// has an error of a unit in the last place for small x, it divides.
func log1pOfPair(b *Builder, x pair) Value {
	u := b.Add(x.high, b.Number(1))
	lost := b.Div(b.Add(b.Sub(x.high, b.Sub(u, b.Number(1))), x.low), u)
	return lookUp(b, u).finish(b, &lost)
}

// asinhOf returns asinh m as log1p(m + m²/(1+√(1+m²))).
func asinhOf(b *Builder, m Value) Value {
	one := whole(b, b.Number(1))
	square := whole(b, m).times(b, whole(b, m))
	t := square.over(b, square.plus(b, one).root(b).plus(b, one)).plus(b, whole(b, m))
	return log1pOfPair(b, t)
}

func asinhRoutine(b *Builder, x []Value, slow func(Value)) Value {
	slow(isLess(b, x[0], maxAreal))
	return signOf(b, asinhOf(b, b.Abs(x[0])), x[0])
}

func asinhAll(b *Builder, x []Value) Value {
	m := b.Abs(x[0])
	y := b.Select(b.Compare(GT, m, b.Number(maxAreal)), logOfTwice(b, m), asinhOf(b, magnitude(b, x[0], maxAreal)))
	y = b.Select(b.Compare(UNORD, m, m), m, y)
	return signOf(b, y, x[0])
}

// acoshOf returns acosh x as log1p(t + √(t(x+1))) with t = x-1.
func acoshOf(b *Builder, x Value) Value {
	one := b.Number(1)
	t, tl := twoSum(b, x, b.Number(-1))
	v, vl := twoSum(b, x, one)
	s := pair{t, tl}.times(b, pair{v, vl}).root(b).plus(b, pair{t, tl})
	return log1pOfPair(b, s)
}

func acoshRoutine(b *Builder, x []Value, slow func(Value)) Value {
	slow(between(b, x[0], 1, maxAreal))
	return acoshOf(b, x[0])
}

func acoshAll(b *Builder, x []Value) Value {
	y := acoshOf(b, b.Min(b.Number(maxAreal), b.Max(b.Number(1), x[0])))
	y = b.Select(b.Compare(GT, x[0], b.Number(maxAreal)), logOfTwice(b, x[0]), y)
	return b.Select(b.Compare(GE, x[0], b.Number(1)), y, b.Number(math.NaN()))
}

// atanhOf returns atanh m as log1p(2m/(1-m))/2, for 0 ≤ m < 1.
func atanhOf(b *Builder, m Value) Value {
	d, dl := twoSum(b, b.Number(1), b.Neg(m))
	q := whole(b, b.Add(m, m)).over(b, pair{d, dl})
	return b.Mul(b.Number(0.5), log1pOfPair(b, q))
}

func atanhRoutine(b *Builder, x []Value, slow func(Value)) Value {
	slow(b.Compare(LT, b.Abs(x[0]), b.Number(1)))
	return signOf(b, atanhOf(b, b.Abs(x[0])), x[0])
}

// nearOne is the greatest number below 1.
const nearOne = 1 - 0x1p-53

func atanhAll(b *Builder, x []Value) Value {
	m := b.Abs(x[0])
	y := atanhOf(b, magnitude(b, x[0], nearOne))
	y = b.Select(b.Compare(EQ, m, b.Number(1)), b.Number(math.Inf(1)), y)
	y = b.Select(b.Compare(LE, m, b.Number(1)), y, b.Number(math.NaN()))
	return signOf(b, y, x[0])
}
