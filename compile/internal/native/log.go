package native

import "math"

// This file: the natural logarithm, by a division and without a table. A vector of divisions takes
// a fraction of the time needed to load scattered numbers.

// ratio is a number x = z·2^k split for the logarithm, with z between √½ and √2. Then log z = f -
// (f²/2 - s·(f²/2 + R)) with f = z - 1 and s = f/(2+f), where R is the rest of the series
// 2·atanh(s)/s = 2 + R.
type ratio struct{ f, s, k, power Value }

func ratioOf(b *Builder, x Value) ratio {
	k, power, _ := split(b, x, math.Float64bits(math.Sqrt2/2))
	z := b.SubWord(x, power)
	f := b.Sub(z, b.Number(1))
	return ratio{f, b.Div(f, b.Add(z, b.Number(1))), k, power}
}

// log returns the logarithm. If lost is not nil, it adds this small correction. Errors are below
// 0.9 units in the last place.
func (q ratio) log(b *Builder, lost *Value) Value {
	line := func(x Value, a, c float64) Value { return b.Add(b.Mul(x, b.Number(c)), b.Number(a)) }
	z := b.Mul(q.s, q.s)
	z2 := b.Mul(z, z)
	z4 := b.Mul(z2, z2)
	// The coefficients minimise the largest error, which is 2^-58.
	high := b.Add(line(z, 0.18183572948605292, 0.15313162513434073), b.Mul(z2, b.Number(0.14810267350349626)))
	low := b.Add(line(z, 0.6666666666666711, 0.39999999999513286), b.Mul(z2, line(z, 0.28571428730258097, 0.22222199031471093)))
	r := b.Mul(z, b.Add(low, b.Mul(z4, high)))
	half := b.Mul(q.f, b.Mul(q.f, b.Number(0.5)))
	// k·log 2 + f in two parts.
	k := b.Mul(q.k, b.Number(0x1.62e42fee00000p-1))
	w := b.Add(k, q.f)
	low = b.Add(b.Add(b.Sub(k, w), q.f), b.Mul(q.k, b.Number(0x1.a39ef35793c76p-33)))
	if lost != nil {
		low = b.Add(low, *lost)
	}
	return b.Add(w, b.Add(b.Sub(low, half), b.Mul(q.s, b.Add(half, r))))
}

// over returns x/(z·2^k), accurate to about ten bits, since 1/z = (1-s)/(1+s) is about 1 - 2s +
// 2s².
func (q ratio) over(b *Builder, x Value) Value {
	twice := b.Add(q.s, q.s)
	inv := b.Add(b.Sub(b.Mul(twice, q.s), twice), b.Number(1))
	return b.Mul(b.Mul(b.SubWord(b.Word(1023<<52), q.power), x), inv)
}

func logRoutine(b *Builder, x []Value, slow func(Value)) Value {
	slow(between(b, x[0], normal, math.MaxFloat64))
	return ratioOf(b, x[0]).log(b, nil)
}

// logAll computes the logarithm of any numbers. It multiplies subnormal numbers by a power of two
// first.
func logAll(b *Builder, x []Value) Value {
	small := b.Compare(LT, x[0], b.Number(normal))
	y := b.Select(small, b.Mul(x[0], b.Number(0x1p54)), x[0])
	y = b.Add(ratioOf(b, y).log(b, nil), b.Keep(small, b.Number(-54*math.Ln2)))
	return logEnds(b, x[0], y)
}

// logEnds returns y where x is positive and finite, and log x elsewhere.
func logEnds(b *Builder, x, y Value) Value {
	y = b.Select(b.Compare(NLE, x, b.Number(math.MaxFloat64)), x, y)
	y = b.Select(b.Compare(LT, x, b.Number(0)), b.Number(math.NaN()), y)
	return b.Select(b.Compare(EQ, x, b.Number(0)), b.Number(math.Inf(-1)), y)
}

// log1pRoutine computes log(1 + x) as the logarithm of the rounded 1 + x, corrected by the rounding
// error divided by 1 + x.
func log1pRoutine(b *Builder, x []Value, slow func(Value)) Value {
	u := b.Add(x[0], b.Number(1))
	slow(between(b, u, normal, 0x1p1000))
	q := ratioOf(b, u)
	lost := q.over(b, b.Sub(x[0], b.Sub(u, b.Number(1))))
	return q.log(b, &lost)
}

// log1pAll computes log(1 + x) for any numbers. It divides large numbers by a power of two first.
func log1pAll(b *Builder, x []Value) Value {
	u := b.Add(x[0], b.Number(1))
	large := b.Compare(GT, u, b.Number(0x1p1000))
	q := ratioOf(b, b.Select(large, b.Mul(u, b.Number(0x1p-54)), u))
	lost := q.over(b, b.Sub(x[0], b.Sub(u, b.Number(1))))
	y := b.Add(q.log(b, &lost), b.Keep(large, b.Number(54*math.Ln2)))
	return logEnds(b, u, y)
}
