package native

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// This file: the cube root, and the square root of a sum of two squares.

// cubeTerms are the coefficients of the cube root of z in powers of z - 1.5, for z from 1 to 2, by
// interpolation at Chebyshev points. The relative error is 1e-4.
var cubeTerms = []float64{1.1447918716844296, 0.2543427306341776, -0.05899331361608753, 0.022148699208245196}

func cbrtRoutine(b *Builder, x []Value, slow func(Value)) Value {
	m := b.Abs(x[0])
	slow(between(b, m, normal, math.MaxFloat64))
	return signOf(b, cbrtOf(b, m), x[0])
}

// cbrtAll computes the cube root of any numbers. It multiplies subnormal numbers by a power of two
// first. The root of a zero, an infinity or NaN is that number itself.
func cbrtAll(b *Builder, x []Value) Value {
	m := b.Abs(x[0])
	y := cbrtOf(b, b.Select(b.Compare(LT, m, b.Number(normal)), b.Mul(m, b.Number(0x1p54)), m))
	y = b.Mul(y, b.Select(b.Compare(LT, m, b.Number(normal)), b.Number(0x1p-18), b.Number(1)))
	has := b.Both(b.Compare(GT, m, b.Number(0)), b.Compare(LE, m, b.Number(math.MaxFloat64)))
	return b.Select(has, signOf(b, y, x[0]), x[0])
}

// cbrtOf returns the cube root of a normal number t·8^q with t from 1 to 8. A polynomial gives a
// first approximation; each of Halley's two steps cubes its relative error. The second step starts
// from a number with so few bits that its cube is exact in two parts. So the error is little more
// than half a unit in the last place.
func cbrtOf(b *Builder, m Value) Value {
	two := b.Number(2)
	k, power, _ := split(b, m, math.Float64bits(1))
	z := b.SubWord(m, power)
	q := b.Round(Floor, b.Mul(b.Add(k, b.Number(0.25)), b.Number(1./3)))
	r := b.Sub(k, b.Mul(q, b.Number(3)))
	byRest := func(none, first, second float64) Value {
		least := b.Select(b.Compare(GT, r, b.Number(0.5)), b.Number(first), b.Number(none))
		return b.Select(b.Compare(GT, r, b.Number(1.5)), b.Number(second), least)
	}
	t := b.Mul(z, byRest(1, 2, 4))
	y := b.Mul(polynomial(b, b.Sub(z, b.Number(1.5)), cubeTerms), byRest(1, 1.2599210498948732, 1.5874010519681996))
	cube := b.Mul(b.Mul(y, y), y)
	y = b.Div(b.Mul(y, b.Add(cube, b.Mul(two, t))), b.Add(b.Mul(two, cube), t))

	y = upper(b, y)
	s := b.Mul(y, y)
	h := upper(b, s)
	rest := b.Sub(b.Sub(t, b.Mul(h, y)), b.Mul(b.Sub(s, h), y))
	y = b.Add(y, b.Div(b.Mul(y, rest), b.Add(b.Mul(two, b.Mul(s, y)), t)))
	// Multiply by 2^q; adding a large number puts q into the lowest bits.
	return b.Mul(y, b.Shl(b.Add(q, b.Number(routines.Shift+1023)), 52))
}

func hypotRoutine(b *Builder, x []Value, slow func(Value)) Value {
	p, q := b.Abs(x[0]), b.Abs(x[1])
	// Max returns q if p is NaN, so check p too
	slow(b.Both(between(b, b.Max(p, q), minLength, maxLength), b.Compare(EQ, p, p)))
	return lengthOf(b, p, q)
}

// Squares of numbers between these neither overflow nor underflow.
const minLength, maxLength = 1e-140, 1e150

// lengthOf returns √(p²+q²).
func lengthOf(b *Builder, p, q Value) Value {
	long, short := b.Max(p, q), b.Min(p, q)
	h, hl := square(b, long)
	s, sl := square(b, short)
	y := pair{h, hl}.plus(b, pair{s, sl}).root(b)
	return b.Add(y.high, y.low)
}

// hypotAll computes √(p²+q²) for any numbers. It multiplies them by a power of two first. If one is
// infinite, so is the result, even if the other is NaN.
func hypotAll(b *Builder, x []Value) Value {
	p, q := b.Abs(x[0]), b.Abs(x[1])
	inf := b.Number(math.Inf(1))
	scale := func(small, large float64) Value {
		most := b.Max(p, q)
		s := b.Select(b.Compare(LT, most, b.Number(minLength)), b.Number(small), b.Number(1))
		return b.Select(b.Compare(GT, most, b.Number(maxLength)), b.Number(large), s)
	}
	y := b.Mul(lengthOf(b, b.Mul(p, scale(0x1p600, 0x1p-600)), b.Mul(q, scale(0x1p600, 0x1p-600))), scale(0x1p-600, 0x1p600))
	y = b.Select(b.Compare(UNORD, p, q), b.Number(math.NaN()), y)
	return b.Select(b.Either(b.Compare(EQ, p, inf), b.Compare(EQ, q, inf)), inf, y)
}
