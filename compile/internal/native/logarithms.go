package native

import "math"

// This file: logarithms and exponentials with other bases than e. Logarithms are exact if the
// result is an integer. Exponentials are exact if the argument is an integer and the result can be
// represented.

// base describes the base of a logarithm. scale and scaleLow are the two parts of 1 divided by the
// natural logarithm of the base. two and twoLow are the two parts of the logarithm of 2 to this
// base. two has 40 bits, so that its products with exponents are exact.
type base struct{ scale, scaleLow, two, twoLow float64 }

var (
	baseTwo = base{scale: 0x1.71547652b82fep+0, scaleLow: 0x1.777d0ffda0d24p-56, two: 1}
	baseTen = base{scale: 0x1.bcb7b1526e50ep-2, scaleLow: 0x1.95355baaafad3p-57, two: 0x1.34413509f6p-2, twoLow: 0x1.9fef311f12b36p-42}
)

// logarithm returns the logarithm of x·2^-further for a normal x: that of the power of two, plus
// scale times the natural logarithm of the rest, in two parts.
func (c base) logarithm(b *Builder, x, further Value) Value {
	e := lookUp(b, x)
	k := b.Sub(e.k, further)
	e.k = b.Number(0)
	h, l, p := e.parts(b, nil)
	m, ml := product(b, h, b.Number(c.scale))
	low := b.Add(ml, b.Add(b.Mul(h, b.Number(c.scaleLow)), b.Mul(b.Add(l, p), b.Number(c.scale))))
	y, yl := twoSum(b, b.Mul(k, b.Number(c.two)), m)
	return b.Add(y, b.Add(yl, b.Add(low, b.Mul(k, b.Number(c.twoLow)))))
}

func (c base) main(b *Builder, x []Value, slow func(Value)) Value {
	slow(between(b, x[0], normal, math.MaxFloat64))
	return c.logarithm(b, x[0], b.Number(0))
}

// all computes the logarithm of any numbers. It multiplies subnormal numbers by a power of two
// first.
func (c base) all(b *Builder, x []Value) Value {
	small := b.Compare(LT, x[0], b.Number(normal))
	y := b.Select(small, b.Mul(x[0], b.Number(0x1p54)), x[0])
	return logEnds(b, x[0], c.logarithm(b, y, b.Keep(b.Compare(LT, x[0], b.Number(normal)), b.Number(54))))
}

// reduceTwo splits x to compute 2^x. Of its parts, only the rest times log 2 is rounded; tail is
// the rounding error of s.
func reduceTwo(b *Builder, x Value) (e scaled, tail Value) {
	k := b.Add(b.Mul(x, b.Number(128)), b.Number(0x1.8p52))
	rest := b.Sub(x, b.Mul(b.Sub(k, b.Number(0x1.8p52)), b.Number(1./128)))
	s := b.Fetch(expTable, b.And(k, b.Word(127)), 0, 8*128)
	return scaled{b.Mul(rest, b.Number(math.Ln2)), s[0], k}, s[1]
}

func exp2Routine(b *Builder, x []Value, slow func(Value)) Value {
	slow(between(b, x[0], -1021, 1023))
	e, tail := reduceTwo(b, x[0])
	return e.direct(b, &tail)
}

func exp2All(b *Builder, x []Value) Value {
	e, tail := reduceTwo(b, b.Min(b.Number(1025), b.Max(b.Number(-1080), x[0])))
	return e.everywhere(b, &tail)
}
