package native

import "math"

// This file: inverses of sine, cosine and tangent. Each is computed as the angle of a point whose
// coordinates are numbers in two parts.

// arcTerms are the coefficients of (atan(q)/q - 1)/q² in powers of q², for |q| ≤ tan(π/8). They
// were computed with 60 digits by interpolation at Chebyshev points; the error is 3e-18 of
// atan(q)/q.
var arcTerms = []float64{
	-0.3333333333333333, 0.19999999999999804, -0.14285714285659729, 0.11111111105145725,
	-0.09090908753017178, 0.07692296361048218, -0.06666424634599337, 0.05878926110528101,
	-0.052304330074828924, 0.0455149623749493, -0.034568068014968874, 0.016282993238924487,
}

// plus returns p + q.
func (p pair) plus(b *Builder, q pair) pair {
	h, l := twoSum(b, p.high, q.high)
	h, l = fastSum(b, h, b.Add(l, b.Add(p.low, q.low)))
	return pair{h, l}
}

// times returns p·q.
func (p pair) times(b *Builder, q pair) pair {
	h, l := product(b, p.high, q.high)
	h, l = fastSum(b, h, b.Add(l, b.Add(b.Mul(p.high, q.low), b.Mul(p.low, q.high))))
	return pair{h, l}
}

// root returns √p, also for 0.
func (p pair) root(b *Builder) pair {
	s := b.Sqrt(p.high)
	lost := b.Add(remainder(b, p.high, s, s), p.low)
	return pair{s, b.Keep(b.Compare(NEQ, s, b.Number(0)), b.Mul(lost, b.Div(b.Number(0.5), s)))}
}

func (p pair) negative(b *Builder) pair { return pair{b.Neg(p.high), b.Neg(p.low)} }

// ifTrue returns p where t holds, else q. It computes the truth separately for each part, because
// few truths fit into registers.
func (p pair) ifTrue(b *Builder, t func() Value, q pair) pair {
	return pair{b.Select(t(), p.high, q.high), b.Select(t(), p.low, q.low)}
}

// angle returns the angle of (x, y), from 0 to π/2, in two parts. Both coordinates are at least 0
// and not both 0. The point is rotated back by the nearest of 0, π/4 and π/2; the result is that
// angle plus the angle of the rotated point.
func angle(b *Builder, x, y pair) pair {
	const eighth = 0.4142135623730951 // tan(π/8)
	flat := func() Value { return b.Compare(LE, y.high, b.Mul(x.high, b.Number(eighth))) }
	steep := func() Value { return b.Compare(LE, x.high, b.Mul(y.high, b.Number(eighth))) }
	top := y.ifTrue(b, flat, x.negative(b).ifTrue(b, steep, y.plus(b, x.negative(b))))
	bottom := x.ifTrue(b, flat, y.ifTrue(b, steep, y.plus(b, x)))
	zero := b.Number(0)
	at := pair{zero, zero}.ifTrue(b, flat, pair{b.Number(math.Pi / 2), b.Number(halfPiLow)}.ifTrue(b, steep, pair{b.Number(math.Pi / 4), b.Number(halfPiLow / 2)}))
	q := top.over(b, bottom)
	z := b.Mul(q.high, q.high)
	rest := b.Add(b.Sub(q.low, b.Mul(q.low, z)), b.Mul(b.Mul(q.high, z), polynomial(b, z, arcTerms)))
	s, sl := fastSum(b, at.high, q.high)
	return pair{s, b.Add(sl, b.Add(at.low, rest))}
}

// toLeft returns π - a, the angle of the mirrored point on the left side.
func toLeft(b *Builder, a pair) pair {
	return pair{b.Number(math.Pi), b.Number(2 * halfPiLow)}.plus(b, a.negative(b))
}

// signed returns p with the sign of x, also if x is a zero. p is at least 0.
func (p pair) signed(b *Builder, x Value) Value {
	return b.Or(b.Add(p.high, p.low), b.And(x, b.Word(signBit)))
}

// whole returns x as a pair with second part 0.
func whole(b *Builder, x Value) pair { return pair{x, b.Number(0)} }

func atanRoutine(b *Builder, x []Value, _ func(Value)) Value {
	return angle(b, whole(b, b.Number(1)), whole(b, magnitude(b, x[0], 1e30))).signed(b, x[0])
}

// cosineOf returns √(1-x²) in two parts, for |x| ≤ 1.
func cosineOf(b *Builder, x Value) pair {
	one := b.Number(1)
	u, ul := twoSum(b, one, b.Neg(x))
	v, vl := twoSum(b, one, x)
	return pair{u, ul}.times(b, pair{v, vl}).root(b)
}

func asinRoutine(b *Builder, x []Value, _ func(Value)) Value {
	m := b.Abs(x[0])
	return angle(b, cosineOf(b, m), whole(b, m)).signed(b, x[0])
}

func acosRoutine(b *Builder, x []Value, _ func(Value)) Value {
	m := b.Abs(x[0])
	a := angle(b, whole(b, m), cosineOf(b, m))
	a = toLeft(b, a).ifTrue(b, func() Value { return b.Compare(LT, x[0], b.Number(0)) }, a)
	return b.Add(a.high, a.low)
}

// atan2Routine computes the angle of a point whose operands come in the order y, x.
func atan2Routine(b *Builder, x []Value, slow func(Value)) Value {
	p, q := b.Abs(x[1]), b.Abs(x[0])
	slow(b.Both(between(b, p, 1e-140, 1e140), between(b, q, 1e-140, 1e140)))
	return around(b, x, p, q)
}

// around returns the angle of a point, given the absolute values p and q of its coordinates.
func around(b *Builder, x []Value, p, q Value) Value {
	a := angle(b, whole(b, p), whole(b, q))
	left := func() Value { return b.Compare(NEQ, b.And(b.Shr(x[1], 1), b.Number(2)), b.Number(0)) }
	return toLeft(b, a).ifTrue(b, left, a).signed(b, x[0])
}

// atan2All computes the angle for any operands. It multiplies both coordinates by a power of two,
// which does not change the angle. If any coordinate is infinite, it replaces infinite ones by 1
// and finite ones by 0.
func atan2All(b *Builder, x []Value) Value {
	p, q := b.Abs(x[1]), b.Abs(x[0])
	inf, one := b.Number(math.Inf(1)), b.Number(1)
	infinite := func() Value { return b.Compare(EQ, b.Max(p, q), inf) }
	least := func(v Value) Value {
		return b.Select(infinite(), b.Keep(b.Compare(EQ, v, inf), one), v)
	}
	large := b.Max(p, q)
	scale := b.Select(b.Compare(GT, large, one), b.Number(0x1p-600), b.Number(0x1p600))
	scale = b.Select(between(b, large, 0x1p-400, 0x1p400), one, scale)
	nothing := b.Both(b.Compare(EQ, p, b.Number(0)), b.Compare(EQ, q, b.Number(0)))
	u := b.Select(nothing, one, b.Mul(least(p), b.Select(infinite(), one, scale)))
	v := b.Mul(least(q), b.Select(infinite(), one, scale))
	none := b.Compare(UNORD, p, q)
	return b.Select(none, b.Number(math.NaN()), around(b, x, u, v))
}

// tangent returns sine over cosine, both in two parts.
func tangent(b *Builder, x Value, t turns) Value {
	s, c := t.parts(b)
	odd := func() Value { return b.Compare(NEQ, b.Shl(b.And(t.n, b.Word(1)), 62), b.Number(0)) }
	q := c.negative(b).ifTrue(b, odd, s).over(b, s.ifTrue(b, odd, c))
	return b.Select(b.Compare(LT, b.Abs(x), b.Number(0x1p-30)), x, b.Add(q.high, q.low))
}

func tanRoutine(b *Builder, x []Value, slow func(Value)) Value {
	slow(isFewTurns(b, x[0]))
	return tangent(b, x[0], turnsOf(b, x[0]))
}

func tanAll(b *Builder, x []Value) Value {
	return tangent(b, x[0], anyTurns(b, x[0]))
}
