package native

// This file: sums, products and quotients in two parts, a number and its rounding error. They avoid
// fused multiply-add, because package kernel must emulate it where the processor lacks it, as in a
// browser.

// twoSum returns x + y and its rounding error.
func twoSum(b *Builder, x, y Value) (high, low Value) {
	high = b.Add(x, y)
	z := b.Sub(high, x)
	return high, b.Add(b.Sub(x, b.Sub(high, z)), b.Sub(y, z))
}

// fastSum is twoSum for |x| ≥ |y|.
func fastSum(b *Builder, x, y Value) (high, low Value) {
	high = b.Add(x, y)
	return high, b.Sub(y, b.Sub(high, x))
}

// upper returns x without its lowest bits. Products of two such numbers are exact.
func upper(b *Builder, x Value) Value { return b.And(x, b.Word(^uint64(1<<27-1))) }

// square returns x² in two parts. The first part has few bits.
func square(b *Builder, x Value) (high, low Value) {
	h := upper(b, x)
	return b.Mul(h, h), b.Mul(b.Sub(x, h), b.Add(x, h))
}

// remainder returns n - q·d for a rounded quotient q = n/d.
func remainder(b *Builder, n, q, d Value) Value {
	qh, dh := upper(b, q), upper(b, d)
	r := b.Sub(n, b.Mul(qh, dh))
	r = b.Sub(r, b.Mul(qh, b.Sub(d, dh)))
	return b.Sub(r, b.Mul(b.Sub(q, qh), d))
}

// product returns x·y and its rounding error.
func product(b *Builder, x, y Value) (high, low Value) {
	high = b.Mul(x, y)
	return high, b.Neg(remainder(b, high, x, y))
}

// polynomial returns c[0] + c[1]·x + …, in four interleaved chains.
func polynomial(b *Builder, x Value, c []float64) Value {
	if len(c) < 8 {
		return horner(b, x, c)
	}
	x2 := b.Mul(x, x)
	x4 := b.Mul(x2, x2)
	var chains [4]Value
	for k := range chains {
		var every []float64
		for i := k; i < len(c); i += 4 {
			every = append(every, c[i])
		}
		chains[k] = horner(b, x4, every)
	}
	low := b.Add(chains[0], b.Mul(x, chains[1]))
	return b.Add(low, b.Mul(x2, b.Add(chains[2], b.Mul(x, chains[3]))))
}

func horner(b *Builder, x Value, c []float64) Value {
	p := b.Number(c[len(c)-1])
	for k := len(c) - 2; k >= 0; k-- {
		p = b.Add(b.Mul(p, x), b.Number(c[k]))
	}
	return p
}
