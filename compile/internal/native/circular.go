package native

import (
	"math"
	"unsafe"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// This file: sine and cosine. The argument is reduced modulo π/2. Polynomials are evaluated at the
// rest, which is a number in two parts.

var twoOverPiTable = uintptr(unsafe.Pointer(&routines.TwoOverPi))

// halfPi is π/2 as a sum of four numbers. The first three have at most 33 bits, so their products
// with integers below 2²⁰ are exact.
var halfPi = [4]float64{0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104}

const maxTurns = 1.6e6 // for larger arguments, halfPi has too few digits

// sineTerms are the coefficients of (sin(x)/x - 1)/x², and cosineTerms those of (cos(x) - 1 +
// x²/2)/x⁴, in powers of x² for |x| ≤ 0.8.
var (
	sineTerms = []float64{-0.16666666666666666, 0.008333333333333331, -0.0001984126984126457, 2.755731921895673e-06,
		-2.5052106100926675e-08, 1.605851097953535e-10, -7.58549250782124e-13}
	cosineTerms = []float64{0.041666666666666664, -0.0013888888888888887, 2.480158730158437e-05, -2.75573192211902e-07,
		2.0876755717957296e-09, -1.147044941240971e-11, 4.745202155702359e-14}
)

// turns is x as n quarter turns and a rest of at most half a quarter turn.
type turns struct {
	n    Value // the integer is in the lowest bits of this number
	rest pair
}

func turnsOf(b *Builder, x Value) turns {
	k := b.Add(b.Mul(x, b.Number(2/math.Pi)), b.Number(routines.Shift))
	n := b.Sub(k, b.Number(routines.Shift))
	r := b.Sub(x, b.Mul(n, b.Number(halfPi[0])))
	high, low := twoSum(b, r, b.Neg(b.Mul(n, b.Number(halfPi[1]))))
	third, t := twoSum(b, high, b.Neg(b.Mul(n, b.Number(halfPi[2]))))
	low = b.Add(low, b.Sub(t, b.Mul(n, b.Number(halfPi[3]))))
	high, low = fastSum(b, third, low)
	return turns{k, pair{high, low}}
}

// manyTurns is turnsOf for large numbers, by the method of Payne and Hanek. It multiplies x by 2/π,
// of which it uses only some digits: higher ones would give whole turns, lower ones are negligible.
// The digits are stored as numbers of 24 bits. x is scaled by a power of two to match the first of
// them. The products of the digits with each half of x are exact.
func manyTurns(b *Builder, x Value) turns {
	const digits = 9
	e := b.And(b.Shr(x, 52), b.Word(0x7ff))
	e = b.Sub(b.Or(e, b.Number(0x1p52)), b.Number(0x1p52+1077))
	j := b.Max(b.Number(0), b.Round(Floor, b.Div(e, b.Number(24))))
	j = b.And(b.Add(j, b.Number(0x1p52)), b.Word(63))
	scale := b.Shl(b.SubWord(b.Word(1023-24), b.AddWord(b.Shl(j, 4), b.Shl(j, 3))), 52)
	x = b.Mul(x, scale)
	halves := [2]Value{upper(b, x)}
	halves[1] = b.Sub(x, halves[0])
	var high, low, n Value
	for k := range digits {
		// Fetch the digits one by one, to save registers.
		c := b.Fetch(twoOverPiTable, j, int32(8*k))[0]
		for i, half := range halves {
			y := b.Mul(b.Mul(half, c), b.Number(math.Ldexp(1, -24*k)))
			if k < 4 { // remove multiples of 4, which are whole turns
				y = b.Sub(y, b.Mul(b.Round(Floor, b.Mul(y, b.Number(0.25))), b.Number(4)))
			}
			if k == 0 && i == 0 {
				high, low = y, b.Number(0)
				continue
			}
			var lost Value
			high, lost = twoSum(b, high, y)
			high, low = fastSum(b, high, b.Add(low, lost))
		}
		if k == 3 {
			n = b.Add(high, b.Number(routines.Shift))
			high, low = twoSum(b, b.Sub(high, b.Sub(n, b.Number(routines.Shift))), low)
		}
	}
	y, yl := product(b, high, b.Number(math.Pi/2))
	yl = b.Add(yl, b.Add(b.Mul(low, b.Number(math.Pi/2)), b.Mul(high, b.Number(halfPiLow))))
	y, yl = fastSum(b, y, yl)
	return turns{n, pair{y, yl}}
}

const halfPiLow = 0x1.1a62633145c07p-54 // low part of π/2

// terms returns sine and cosine of the rest, each as a large term and a small correction.
func (t turns) terms(b *Builder) (sine, cosine pair) {
	r, rl := t.rest.high, t.rest.low
	z := b.Mul(r, r)
	half := b.Mul(z, b.Number(0.5))
	w := b.Sub(b.Number(1), half)
	s := b.Mul(b.Mul(r, z), horner(b, z, sineTerms))
	s = b.Add(s, b.Mul(rl, w))
	c := b.Sub(b.Mul(b.Mul(z, z), horner(b, z, cosineTerms)), b.Mul(r, rl))
	c = b.Add(b.Sub(b.Sub(b.Number(1), w), half), c)
	return pair{r, s}, pair{w, c}
}

// parts returns sine and cosine of the rest in two parts each.
func (t turns) parts(b *Builder) (sine, cosine pair) {
	s, c := t.terms(b)
	sh, sl := fastSum(b, s.high, s.low)
	ch, cl := fastSum(b, c.high, c.low)
	return pair{sh, sl}, pair{ch, cl}
}

// sine returns the sine of the angle plus further quarter turns.
func (t turns) sine(b *Builder, further uint64) Value {
	sine, cosine := t.terms(b)
	s, c := b.Add(sine.high, sine.low), b.Add(cosine.high, cosine.low)
	quarter := b.AddWord(t.n, b.Word(further))
	// The bits of the number 2 if the quarter is odd, else of 0.
	odd := b.Shl(b.And(quarter, b.Word(1)), 62)
	y := b.Select(b.Compare(NEQ, odd, b.Number(0)), c, s)
	return b.Xor(y, b.Shl(b.And(quarter, b.Word(2)), 62))
}

func isFewTurns(b *Builder, x Value) Value { return b.Compare(LE, b.Abs(x), b.Number(maxTurns)) }

func circularRoutine(further uint64) func(b *Builder, x []Value, slow func(Value)) Value {
	return func(b *Builder, x []Value, slow func(Value)) Value {
		slow(isFewTurns(b, x[0]))
		return circular(b, x[0], turnsOf(b, x[0]), further)
	}
}

// circular returns the sine of the angle plus further quarter turns. For a tiny x a sine is x
// itself, which keeps the sign of zero.
func circular(b *Builder, x Value, t turns, further uint64) Value {
	y := t.sine(b, further)
	if further > 0 {
		return y
	}
	return b.Select(b.Compare(LT, b.Abs(x), b.Number(0x1p-30)), x, y)
}

func circularAll(further uint64) func(b *Builder, x []Value) Value {
	return func(b *Builder, x []Value) Value {
		return circular(b, x[0], anyTurns(b, x[0]), further)
	}
}

// anyTurns is turnsOf for numbers of any size.
func anyTurns(b *Builder, x Value) turns {
	few, many := turnsOf(b, x), manyTurns(b, x)
	choose := func(y, z Value) Value { return b.Select(isFewTurns(b, x), y, z) }
	return turns{choose(few.n, many.n), pair{choose(few.rest.high, many.rest.high), choose(few.rest.low, many.rest.low)}}
}
