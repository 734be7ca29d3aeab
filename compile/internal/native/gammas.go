package native

import "math"

// This file: the logarithm of the gamma function and its derivatives. Polynomials are used up to 6,
// Stirling's series with fitted coefficients above. The coefficients were computed with 50 digits
// by interpolation at Chebyshev points; the error is 2e-18 of the value.

const seriesFrom = 6

// lgammaTerms are the coefficients of log Γ(x)/((x-1)(x-2)) in powers of u = 2(x-2)/(x+2). This
// maps [0.7, 6] to [-1, 1] and moves the singularity at 0 far away.
var lgammaTerms = []float64{
	0.42278433509846713, -0.20063460334870784, 0.031542700810269296, -0.01737218589952384,
	0.005183628759586745, -0.0027236372037123843, 0.0009738003834879416, -0.0005008379571779851,
	0.0001950523222751902, -9.928484302169142e-05, 4.0664568024079394e-05, -2.0583855625268434e-05,
	8.716873911927823e-06, -4.397756469549774e-06, 1.906447013439772e-06, -9.597782350831291e-07,
	4.256832125427279e-07, -2.1399044320432056e-07, 9.159186522314334e-08, -4.600209066400769e-08,
	2.716702824690712e-08, -1.3626432925058302e-08, -6.437629524663818e-10, 3.1821675450826675e-10,
	5.026540825315051e-09, -2.517447489790996e-09, -1.4117774924523953e-09, 7.067743895361669e-10,
	4.3437301076361803e-10, -2.1751608229395695e-10,
}

// stirlingTerms are the coefficients of x(log Γ(x) - ((x-½) log x - x + ½ log 2π)) in powers of
// 1/x², x ≥ 6.
var stirlingTerms = []float64{
	0.08333333333333333, -0.0027777777777734623, 0.0007936507903643918, -0.0005952371351851137,
	0.0008416117568838537, -0.001906405156123843, 0.005901549297067006, -0.016450184918873966,
}

// digammaTerms are the coefficients of ψ(x)/(x-x₀) + u/2 in powers of u = 2.375 - 12/(x+2.5), for x
// in [1, 6], where x₀ is the zero of ψ. Adding u/2 makes most of the slope exact.
var digammaTerms = []float64{
	0.667867563222097, 0.1302084570826493, 0.0990161490562095, -0.04156446222893671,
	0.015716047820109342, -0.0066211122847207975, 0.00264805240928072, -0.0011093016228029184,
	0.00045050165704959953, -0.00018780758267391545, 7.671048977360174e-05, -3.1879632894986105e-05,
	1.3057950581916823e-05, -5.415991514232655e-06, 2.221788708537773e-06, -9.205377773859237e-07,
	3.7864014878608915e-07, -1.5626806366859119e-07, 6.318073078325608e-08, -2.6927030962924478e-08,
	1.2409149813896426e-08, -4.126346499918767e-09, 5.237215115885218e-10, -1.0962826481845227e-09,
	1.1258220319832396e-09, 4.210052211998043e-11, -2.4587899945616186e-10, -7.144717826613737e-11,
	6.400613934534941e-11,
}

const (
	digammaLow    = -8.489869126361183e-18 // low part of digammaTerms[0]
	digammaZero   = 1.4616321449683622
	digammaZeroLo = 9.549995429965697e-17
)

// digammaSeries are the coefficients of x²(log x - 1/2x - ψ(x)) in powers of 1/x², x ≥ 6.
var digammaSeries = []float64{
	0.08333333333333331, -0.008333333333265424, 0.003968253916496818, -0.004166651522951171,
	0.0075735577568517305, -0.020916085217393375, 0.0751835876696361, -0.2297854245497472,
}

// sinPiTerms are the coefficients of sin(πx)/x in powers of x², |x| ≤ ½.
var sinPiTerms = []float64{
	3.141592653589793, -5.16771278004997, 2.5501640398773455, -0.5992645293207869,
	0.08214588661099356, -0.007370430943702132, 0.00046630278745929816, -2.191525030172846e-05,
	7.948539034586525e-07, -2.2283711898523372e-08,
}

func sinPi(b *Builder, x Value) Value {
	return b.Mul(x, polynomial(b, b.Mul(x, x), sinPiTerms))
}

func lgammaRoutine(b *Builder, x []Value, slow func(Value)) Value {
	slow(between(b, x[0], 1e-300, 1e300))
	return lgammaOf(b, x[0])
}

// lgammaFirst computes log Γ of numbers from seriesFrom (6) to 1e300, by the series alone.
func lgammaFirst(b *Builder, x []Value, slow func(Value)) Value {
	slow(between(b, x[0], seriesFrom, 1e300))
	h, l, p := lookUp(b, x[0]).parts(b, nil)
	return lgammaFar(b, x[0], h, b.Add(l, p))
}

// lgammaOf returns log Γ of ordinary positive numbers; below 0.7 it is log Γ(x+1) - log x.
func lgammaOf(b *Builder, x Value) Value {
	one, two := b.Number(1), b.Number(2)
	h, l, p := lookUp(b, x).parts(b, nil)
	l = b.Add(l, p)
	small := b.Compare(LT, x, b.Number(0.7))
	first := b.Select(small, x, b.Sub(x, one)) // y-1, where y is x or, for a small x, x+1
	second := b.Sub(first, one)
	u := b.Div(b.Mul(second, two), b.Add(second, b.Number(4)))
	g, gl := fastSum(b, b.Number(lgammaTerms[0]), b.Mul(u, polynomial(b, u, lgammaTerms[1:])))
	z, zl := product(b, first, second)
	near := b.Sub(b.Mul(z, g), b.Keep(small, h))
	near = b.Add(near, b.Sub(b.Add(b.Mul(zl, g), b.Mul(z, gl)), b.Keep(small, l)))
	far := lgammaFar(b, x, h, l)
	return b.Select(b.Compare(LT, x, b.Number(seriesFrom)), near, far)
}

// lgammaFar returns log Γ(x) by Stirling's series. h + l is log x. It computes (x-½) log x - x in
// two parts.
func lgammaFar(b *Builder, x, h, l Value) Value {
	i := b.Div(b.Number(1), x)
	rest := b.Mul(polynomial(b, b.Mul(i, i), stirlingTerms), i)
	half := b.Sub(x, b.Number(0.5))
	m, ml := product(b, half, h)
	y, yl := fastSum(b, m, b.Neg(x))
	yl = b.Add(b.Add(yl, ml), b.Mul(half, l))
	return b.Add(y, b.Add(b.Number(logSqrt2Pi), b.Add(rest, yl)))
}

// lgammaAll computes log |Γ| of any numbers. It uses the reflection formula for negative ones.
func lgammaAll(b *Builder, x []Value) Value {
	inf := b.Number(math.Inf(1))
	y := b.Abs(x[0])
	l := exactLog(b, y)
	positive := lgammaOf(b, b.Min(b.Number(1e300), b.Max(b.Number(1e-300), y)))
	positive = b.Select(b.Compare(GT, y, b.Number(1e300)), b.Mul(y, b.Sub(l, b.Number(1))), positive)
	positive = b.Select(b.Compare(LT, y, b.Number(1e-300)), b.Neg(l), positive)
	f := b.Sub(y, b.Round(Floor, y))
	f = b.Min(f, b.Sub(b.Number(1), f))
	sine := exactLog(b, b.Mul(y, sinPi(b, f)))
	reflected := b.Sub(b.Sub(b.Number(logPi), sine), positive)
	reflected = b.Select(b.Compare(EQ, y, inf), inf, reflected)
	negative := b.Both(b.Compare(LT, x[0], b.Number(-1e-100)), b.Compare(EQ, x[0], x[0]))
	return b.Select(negative, reflected, positive)
}

const logPi = 1.1447298858494002

func digammaRoutine(b *Builder, x []Value, slow func(Value)) Value {
	slow(b.Both(b.Compare(GT, x[0], b.Number(0)), b.Compare(LE, x[0], b.Number(math.MaxFloat64))))
	return digammaOf(b, x[0])
}

// digammaFirst computes ψ of numbers from seriesFrom (6) on, by the series alone.
func digammaFirst(b *Builder, x []Value, slow func(Value)) Value {
	slow(between(b, x[0], seriesFrom, math.MaxFloat64))
	return digammaFar(b, x[0], b.Div(b.Number(1), x[0]))
}

// digammaFar returns ψ(x) by the series in i = 1/x.
func digammaFar(b *Builder, x, i Value) Value {
	h, l, p := lookUp(b, x).parts(b, nil)
	return b.Add(h, b.Sub(b.Add(l, p), digammaRest(b, i)))
}

// digammaOf returns ψ of positive numbers.
func digammaOf(b *Builder, x Value) Value {
	one := b.Number(1)
	i := b.Div(one, x)
	far := digammaFar(b, x, i)

	small := b.Compare(LT, x, one)
	y, yl := twoSum(b, x, b.Keep(small, one))
	d, dl := twoSum(b, y, b.Number(2.5))
	dl = b.Add(dl, yl)
	k := b.Div(one, d)
	kl := b.Mul(b.Sub(remainder(b, one, k, d), b.Mul(k, dl)), k)
	v, vl := fastSum(b, b.Mul(k, b.Number(8)), b.Mul(k, b.Number(4)))
	u, ul := twoSum(b, b.Number(2.375), b.Neg(v))
	ul = b.Sub(ul, b.Add(vl, b.Mul(kl, b.Number(12))))
	g, gl := fastSum(b, b.Number(digammaTerms[0]), b.Mul(u, b.Number(-0.5)))
	gl = b.Add(gl, b.Sub(b.Number(digammaLow), b.Mul(ul, b.Number(0.4))))
	g, gl = fastSum(b, g, b.Add(gl, b.Mul(u, polynomial(b, u, digammaTerms[1:]))))
	n, nl := twoSum(b, y, b.Number(-digammaZero))
	nl = b.Add(nl, b.Sub(yl, b.Number(digammaZeroLo)))
	m, ml := product(b, n, g)
	ml = b.Add(ml, b.Add(b.Mul(n, gl), b.Mul(nl, g)))
	// For x < 1, ψ(x) is ψ(x+1) - 1/x.
	small = b.Compare(LT, x, one)
	z, zl := twoSum(b, b.Neg(b.Keep(small, i)), m)
	near := b.Add(z, b.Add(ml, zl))
	// For a tiny x, i = 1/x may be infinite.
	near = b.Select(b.Compare(LT, x, b.Number(1e-20)), b.Neg(i), near)
	return b.Select(b.Compare(LT, x, b.Number(seriesFrom)), near, far)
}

// digammaRest returns log x - ψ(x) for x = 1/i ≥ 6.
func digammaRest(b *Builder, i Value) Value {
	q := b.Mul(i, i)
	return b.Add(b.Mul(b.Number(0.5), i), b.Mul(q, polynomial(b, q, digammaSeries)))
}

// digammaAll computes ψ of any number; for negative ones it is ψ(1-x) - π/tan(πx).
func digammaAll(b *Builder, x []Value) Value {
	zero := b.Number(0)
	negative := b.Compare(LE, x[0], zero)
	y := b.Select(negative, b.Sub(b.Number(1), x[0]), x[0])
	y = digammaOf(b, b.Min(b.Number(math.MaxFloat64), y))
	f := b.Sub(x[0], b.Round(Floor, b.Add(x[0], b.Number(0.5))))
	sine, cosine := sinPi(b, f), sinPi(b, b.Sub(b.Number(0.5), b.Abs(f)))
	reflected := b.Sub(y, b.Div(b.Mul(b.Number(math.Pi), cosine), sine))
	y = b.Select(b.Compare(LE, x[0], zero), reflected, y)
	none := b.Either(b.Both(b.Compare(LE, x[0], zero), b.Compare(EQ, f, zero)), b.Compare(UNORD, f, f))
	y = b.Select(none, b.Number(math.NaN()), y)
	return b.Select(b.Compare(EQ, x[0], b.Number(math.Inf(1))), x[0], y)
}

// trigammaTerms are the coefficients of x²ψ′(x) - x - ½ in powers of u = 2 - 7.5/(x+1.5), for x in
// [1, 6]. trigammaSeries are the coefficients of x·(x²ψ′(x) - x - ½) in powers of 1/x², for x ≥ 6.
var (
	trigammaTerms = []float64{
		0.07147884469224812, -0.05569169718498911, 0.014346780173860934, -0.0029100228808825743,
		0.0004499036497203574, -5.166747566786837e-05, 4.661106294042777e-06, -4.3915826249979064e-07,
		4.680690767482854e-08, -3.4096770737723147e-09, 2.626153548437282e-10, -4.6528446378039636e-11,
		4.1984752567565006e-13, -4.6536758783591926e-14, 1.2274634164429396e-13, 1.675180934568197e-14,
	}
	trigammaSeries = []float64{
		0.16666666666666644, -0.03333333333220509, 0.023809522948893713, -0.03333308110147455,
		0.07572083203711484, -0.2501477294451848, 1.0286907996359482, -3.412961215232866,
	}
)

func trigammaRoutine(b *Builder, x []Value, slow func(Value)) Value {
	slow(between(b, x[0], minTrigamma, maxTrigamma))
	return trigammaOf(b, x[0])
}

// Below minTrigamma, ψ′(x) is 1/x²; above maxTrigamma it is 1/x.
const minTrigamma, maxTrigamma = 1e-140, 1e300

// trigammaOf returns ψ′ of ordinary positive numbers: i + i²(½ + k) with i = 1/x in two parts and a
// polynomial k. For x below 1 it is ψ′(x+1) + 1/x².
func trigammaOf(b *Builder, x Value) Value {
	one, half := b.Number(1), b.Number(0.5)
	isSmall := func() Value { return b.Compare(LT, x, one) }
	y, yl := twoSum(b, x, b.Keep(isSmall(), one))
	i := b.Div(one, y)
	il := b.Mul(b.Sub(remainder(b, one, i, y), b.Mul(i, yl)), i)
	q, ql := product(b, i, i)
	ql = b.Add(ql, b.Mul(b.Add(i, i), il))
	u := b.Sub(b.Number(2), b.Div(b.Number(7.5), b.Add(y, b.Number(1.5))))
	far := b.Mul(i, polynomial(b, q, trigammaSeries))
	k := b.Select(b.Compare(LT, y, b.Number(seriesFrom)), polynomial(b, u, trigammaTerms), far)
	s, sl := fastSum(b, i, b.Mul(q, half))
	sl = b.Add(b.Add(sl, il), b.Add(b.Mul(ql, half), b.Mul(q, k)))

	j := b.Div(one, x)
	r, rl := product(b, j, j)
	rl = b.Add(rl, b.Mul(b.Add(j, j), b.Mul(remainder(b, one, j, x), j)))
	t, tl := twoSum(b, b.Keep(isSmall(), r), s)
	return b.Add(t, b.Add(b.Add(tl, b.Keep(isSmall(), rl)), sl))
}

// trigammaAll computes ψ′ of any number; for negative ones it is (π/sin πx)² - ψ′(1-x).
func trigammaAll(b *Builder, x []Value) Value {
	zero, one := b.Number(0), b.Number(1)
	y := b.Select(b.Compare(LE, x[0], zero), b.Sub(one, x[0]), x[0])
	v := trigammaOf(b, b.Min(b.Number(maxTrigamma), b.Max(b.Number(minTrigamma), y)))
	v = b.Select(b.Compare(GT, y, b.Number(maxTrigamma)), b.Div(one, y), v)
	v = b.Select(b.Compare(LT, y, b.Number(minTrigamma)), b.Mul(b.Div(one, y), b.Div(one, y)), v)
	f := b.Sub(x[0], b.Round(Floor, b.Add(x[0], b.Number(0.5))))
	sine := b.Div(b.Number(math.Pi), sinPi(b, f))
	v = b.Select(b.Compare(LE, x[0], zero), b.Sub(b.Mul(sine, sine), v), v)
	pole := b.Both(b.Compare(LE, x[0], zero), b.Compare(EQ, f, zero))
	v = b.Select(pole, b.Number(math.Inf(1)), v)
	none := b.Either(b.Compare(UNORD, x[0], x[0]), b.Compare(EQ, x[0], b.Number(math.Inf(-1))))
	return b.Select(none, b.Number(math.NaN()), v)
}

// digammaRiseRoutine computes ψ(x+d) - ψ(x) without cancellation. It raises both arguments to at
// least 6 by adding six terms d/(x+j)(x+d+j), five of them as one fraction. From there the result
// is log1p(d/x) plus the divided difference of the series.
func digammaRiseRoutine(b *Builder, x []Value, slow func(Value)) Value {
	to := b.Add(x[0], x[1])
	slow(b.Both(between(b, x[0], 1e-30, 1e15), between(b, to, 1e-30, 1e15)))
	return digammaRiseOf(b, x[0], to, x[1])
}

func digammaRiseOf(b *Builder, from, to, d Value) Value {
	sum := shiftTerms(b, from, to)
	near := b.Compare(LT, b.Min(from, to), b.Number(seriesFrom))
	shift := b.Keep(near, b.Number(seriesFrom))
	sum = b.Keep(b.Compare(LT, b.Min(from, to), b.Number(seriesFrom)), sum)
	from, to = b.Add(from, shift), b.Add(to, shift)
	return b.Add(riseFrom(b, from, to, d), b.Mul(d, sum))
}

// shiftTerms returns the sum of 1/(from+j)(to+j) over j from 0 to 5.
func shiftTerms(b *Builder, from, to Value) Value {
	one := b.Number(1)
	num, den := b.Number(0), one
	for j := 1; j < seriesFrom; j++ {
		q := b.Mul(b.Add(from, b.Number(float64(j))), b.Add(to, b.Number(float64(j))))
		if j == 1 {
			num, den = one, q
			continue
		}
		num, den = b.Add(b.Mul(num, q), den), b.Mul(den, q)
	}
	// For small numbers the first term is most of the sum, so add it separately.
	return b.Add(b.Div(num, den), b.Div(one, b.Mul(from, to)))
}

// riseFrom returns ψ(to) - ψ(from) for to = from + d, both at least 6.
func riseFrom(b *Builder, from, to, d Value) Value {
	w, rest := riseRest(b, from, to, d)
	u := b.Mul(w, to)
	t := b.Mul(d, u)
	y := log1pOf(b, t, b.Mul(remainder(b, d, t, from), u))
	return b.Add(y, b.Sub(b.Mul(b.Mul(b.Number(0.5), d), w), rest))
}

// riseRest returns 1/(from·to), and the difference of the series of log x - 1/2x - ψ(x) at to and
// from.
func riseRest(b *Builder, from, to, d Value) (w, rest Value) {
	w = b.Div(b.Number(1), b.Mul(from, to))
	u, v := b.Mul(w, to), b.Mul(w, from)
	p, q := b.Mul(u, u), b.Mul(v, v)
	step := b.Mul(b.Mul(b.Neg(d), b.Add(from, to)), b.Mul(w, w)) // q - p
	n := len(digammaSeries)
	value, slope := b.Number(digammaSeries[n-1]), b.Number(0)
	for k := n - 2; k >= -1; k-- {
		slope = b.Add(b.Mul(slope, q), value)
		if k >= 0 {
			value = b.Add(b.Mul(value, p), b.Number(digammaSeries[k]))
		}
	}
	return w, b.Mul(slope, step)
}

// log1pOf returns log(1+x+xl), if 1+x is an ordinary number.
func log1pOf(b *Builder, x, xl Value) Value {
	u := b.Add(x, b.Number(1))
	e := lookUp(b, u)
	lost := e.over(b, b.Add(b.Sub(x, b.Sub(u, b.Number(1))), xl))
	return e.finish(b, &lost)
}

// digammaRiseAll computes ψ(x+d) - ψ(x) for any numbers. For positive ones it adds the six terms
// one by one; for others it subtracts two values of ψ.
func digammaRiseAll(b *Builder, x []Value) Value {
	from, d := x[0], x[1]
	to := b.Add(from, d)
	difference := b.Sub(digammaAll(b, []Value{to}), digammaAll(b, []Value{from}))
	most := b.Number(math.MaxFloat64)
	sum := b.Number(0)
	// The greater divisor first, so that the first quotient is at most 1.
	for j := range seriesFrom {
		greater, lesser := b.Max(from, to), b.Min(from, to)
		sum = b.Add(sum, b.Div(b.Div(d, b.Add(greater, b.Number(float64(j)))), b.Add(lesser, b.Number(float64(j)))))
	}
	near := b.Compare(LT, b.Min(from, to), b.Number(seriesFrom))
	shift := b.Keep(near, b.Number(seriesFrom))
	sum = b.Keep(b.Compare(LT, b.Min(from, to), b.Number(seriesFrom)), sum)
	from6, to6 := b.Add(from, shift), b.Add(to, shift)
	// If one argument is large, the logarithm of the quotient dominates.
	ratio := b.Div(to6, from6)
	far := b.Select(b.Compare(LT, b.Abs(d), b.Mul(from6, b.Number(0.5))), exactLog1p(b, b.Div(d, from6)), exactLog(b, ratio))
	one := b.Number(1)
	far = b.Add(far, b.Sub(digammaRest(b, b.Div(one, from6)), digammaRest(b, b.Div(one, to6))))
	ordinary := riseFrom(b, from6, to6, d)
	large := b.Compare(GT, b.Max(from, to), b.Number(1e15))
	y := b.Add(b.Select(large, far, ordinary), sum)
	positive := b.Both(b.Compare(GT, from, b.Number(0)), b.Compare(GT, to, b.Number(0)))
	positive = b.Both(positive, b.Both(b.Compare(LE, from, most), b.Compare(LE, to, most)))
	y = b.Select(positive, y, difference)
	ordinary = digammaRiseOf(b, from, to, d)
	return b.Select(b.Both(between(b, from, 1e-30, 1e15), between(b, to, 1e-30, 1e15)), ordinary, y)
}

// lmultichooseRoutine computes log Γ(x+n)/(Γ(x) Γ(n+1)).
func lmultichooseRoutine(b *Builder, x []Value, slow func(Value)) Value {
	slow(isMultiset(b, x))
	return lmultichooseOf(b, x[0], x[1])
}

func isMultiset(b *Builder, x []Value) Value {
	return b.Both(between(b, x[0], 1e-300, 1e300), between(b, x[1], 0, 1e300))
}

func lmultichooseOf(b *Builder, x, n Value) Value {
	y := gammaRatio(b, x, b.Add(n, b.Number(1)), b.Add(x, n), n, -1)
	return b.Keep(b.Compare(NEQ, n, b.Number(0)), y)
}

// gammaRatio returns log Γ(c)/(Γ(a) Γ(b)) for c = a + b + gap, given rise = c-a. Arguments below 6
// are raised by 6, each with a product P of six numbers; A, B and C are the raised arguments. L is
// the larger one of A and B, S the smaller one. Then by Stirling's formula the result is
//
//	(L-½) log(C/L) - (S-½) log S + (C-L) log C - (C-A-B) - ½ log 2π
//	 + rest(C) - rest(A) - rest(B) + log(P(a) P(b)/P(c)).
//
// If S is large too, the second and third terms would cancel. They are then computed as (S-½)
// log(C/S) + (C-A-B+½) log C.
func gammaRatio(b *Builder, first, second, third, rise Value, gap float64) Value {
	one, half := b.Number(1), b.Number(0.5)
	args := [3]Value{first, second, third}
	var shift, at, rest, products [3]Value
	for k, a := range args {
		p := a
		for j := 1; j < seriesFrom; j++ {
			p = b.Mul(p, b.Add(a, b.Number(float64(j))))
		}
		small := b.Compare(LT, a, b.Number(seriesFrom))
		products[k] = b.Select(small, p, one)
		shift[k] = b.Keep(b.Compare(LT, a, b.Number(seriesFrom)), b.Number(seriesFrom))
		at[k] = b.Add(a, shift[k])
		i := b.Div(one, at[k])
		rest[k] = b.Mul(polynomial(b, b.Mul(i, i), stirlingTerms), i)
	}
	C := at[2]
	// L is the larger one of A and B, S the smaller one.
	larger := b.Compare(GT, at[0], at[1])
	L, S := b.Select(larger, at[0], at[1]), b.Select(larger, at[1], at[0])
	// C - B without the argument a.
	back := b.Add(b.Sub(shift[2], shift[1]), b.Number(gap))
	step := b.Select(larger, b.Add(rise, b.Sub(shift[2], shift[0])), b.Add(first, back)) // C - L
	delta := b.Add(b.Sub(b.Sub(shift[2], shift[0]), shift[1]), b.Number(gap))            // C - A - B
	k := b.Div(one, L)
	t := b.Mul(step, k)
	y := b.Mul(b.Sub(L, half), log1pOf(b, t, b.Mul(remainder(b, step, t, L), k)))
	small := b.Compare(LT, S, b.Number(16))
	ls := lookUp(b, b.Select(small, S, b.Div(S, C))).finish(b, nil)
	small = b.Compare(LT, S, b.Number(16))
	y = b.Add(y, b.Mul(b.Select(small, step, b.Add(delta, half)), lookUp(b, C).finish(b, nil)))
	y = b.Sub(y, b.Mul(b.Sub(S, half), ls))
	y = b.Sub(y, b.Add(delta, b.Number(logSqrt2Pi)))
	y = b.Add(y, lookUp(b, b.Div(b.Mul(products[0], products[1]), products[2])).finish(b, nil))
	return b.Add(y, b.Sub(rest[2], b.Add(rest[0], rest[1])))
}

// lmultichooseAll computes lmultichoose for any numbers, as a sum of logarithms. It uses limits for
// extreme numbers: log x/(x+n) for a tiny x, n log x - log Γ(n+1) for a huge x, and (x-1) log n -
// log Γ(x) for a huge n. If the smaller of the two is huge too, both are scaled down, because the
// result then grows in proportion to them.
func lmultichooseAll(b *Builder, x []Value) Value {
	one, zero := b.Number(1), b.Number(0)
	all := func(v Value) Value { return lgammaAll(b, []Value{v}) }
	y := b.Sub(b.Sub(all(b.Add(x[0], x[1])), all(x[0])), all(b.Add(x[1], one)))
	isPair := func() Value { // x > 0 and n ≥ 0, both finite
		top := b.Number(math.MaxFloat64)
		return b.Both(b.Both(b.Compare(GT, x[0], zero), b.Compare(LE, x[0], top)), b.Both(b.Compare(GE, x[1], zero), b.Compare(LE, x[1], top)))
	}
	tiny := b.Sub(exactLog(b, x[0]), exactLog(b, b.Add(x[0], x[1])))
	y = b.Select(b.Both(b.Compare(LT, x[0], b.Number(1e-300)), isPair()), tiny, y)
	shrink := b.Number(0x1p-40)
	huge := b.Div(lmultichooseOf(b, b.Mul(x[0], shrink), b.Mul(x[1], shrink)), shrink)
	few, many := b.Min(x[1], b.Sub(x[0], one)), b.Max(x[0], x[1])
	lesser := b.Sub(b.Mul(few, exactLog(b, many)), lgammaOf(b, b.Max(b.Number(1e-300), b.Add(few, one))))
	huge = b.Select(b.Compare(LT, few, b.Number(1e280)), lesser, huge)
	y = b.Select(b.Both(b.Compare(GT, b.Max(x[0], x[1]), b.Number(1e300)), b.Both(b.Compare(GE, x[0], b.Number(1e-300)), isPair())), huge, y)
	y = b.Keep(b.Compare(NEQ, x[1], zero), y)
	return b.Select(isMultiset(b, x), lmultichooseOf(b, x[0], x[1]), y)
}

// lbetaRoutine computes log Γ(x) Γ(y)/Γ(x+y) for ordinary x and y with a sum of at least fewGammas.
func lbetaRoutine(b *Builder, x []Value, slow func(Value)) Value {
	inside := b.Both(between(b, x[0], minBeta, maxBeta), between(b, x[1], minBeta, maxBeta))
	slow(b.Both(inside, b.Compare(GE, b.Add(x[0], x[1]), b.Number(fewGammas))))
	return lbetaOf(b, x[0], x[1])
}

// minBeta and maxBeta bound the arguments of gammaRatio. If the sum of the arguments is below
// fewGammas, the logarithms of the gamma functions are added instead, so that results near 0 are
// accurate.
const minBeta, maxBeta, fewGammas = 1e-140, 1e300, 10

// sumOfGammas returns log Γ(c)/(Γ(a) Γ(b)) as a sum of three logarithms, for c < fewGammas.
func sumOfGammas(b *Builder, first, second, third Value) Value {
	l := func(v Value) Value { return lgammaOf(b, b.Min(b.Number(fewGammas), b.Max(b.Number(minBeta), v))) }
	return b.Sub(l(third), b.Add(l(first), l(second)))
}

func lbetaOf(b *Builder, x, y Value) Value { return b.Neg(gammaRatio(b, x, y, b.Add(x, y), y, 0)) }

// lbetaAll computes lbeta for any numbers. It uses limits for extreme arguments m ≤ M: log(1/m +
// 1/M) for a tiny m, and log Γ(m) - m log M for a huge M. If both are huge, they are scaled down,
// because the result then grows in proportion to them.
func lbetaAll(b *Builder, x []Value) Value {
	m, M := b.Min(x[0], x[1]), b.Max(x[0], x[1])
	isHuge := func() Value { return b.Compare(GT, M, b.Number(maxBeta)) }
	scale := b.Select(isHuge(), b.Number(0x1p40), b.Number(1))
	inside := func(v Value) Value {
		return b.Min(b.Number(maxBeta), b.Max(b.Number(minBeta), b.Div(v, scale)))
	}
	y := b.Mul(lbetaOf(b, inside(m), inside(M)), scale)
	one := b.Sub(lgammaOf(b, b.Max(b.Number(minBeta), m)), b.Mul(m, exactLog(b, M)))
	y = b.Select(b.Both(isHuge(), b.Compare(LT, m, b.Number(1e280))), one, y)
	c := b.Add(x[0], x[1])
	y = b.Select(b.Compare(LT, c, b.Number(fewGammas)), b.Neg(sumOfGammas(b, x[0], x[1], c)), y)
	tiny := b.Sub(exactLog1p(b, b.Div(m, M)), exactLog(b, m))
	y = b.Select(b.Compare(LT, m, b.Number(minBeta)), tiny, y)
	inf := b.Number(math.Inf(1))
	y = b.Select(b.Compare(EQ, M, inf), b.Neg(inf), y)
	y = b.Select(b.Compare(EQ, m, b.Number(0)), inf, y)
	defined := b.Both(b.Compare(GE, x[0], b.Number(0)), b.Compare(GE, x[1], b.Number(0)))
	return b.Select(defined, y, b.Number(math.NaN()))
}

// lchooseRoutine computes log Γ(n+1)/(Γ(k+1) Γ(n-k+1)) with n = x and k = y. All three arguments of
// Γ must be ordinary numbers, and the first at least fewGammas.
func lchooseRoutine(b *Builder, x []Value, slow func(Value)) Value {
	a := chosen(b, x)
	slow(b.Both(isChoice(b, a), b.Compare(GE, a[2], b.Number(fewGammas))))
	return lchooseOf(b, x)
}

// chosen returns the arguments of the three gamma functions: n-k+1, k+1 and n+1.
func chosen(b *Builder, x []Value) [3]Value {
	one := b.Number(1)
	return [3]Value{b.Add(b.Sub(x[0], x[1]), one), b.Add(x[1], one), b.Add(x[0], one)}
}

func isChoice(b *Builder, a [3]Value) Value {
	t := between(b, a[0], 1e-100, maxBeta)
	for _, v := range a[1:] {
		t = b.Both(t, between(b, v, 1e-100, maxBeta))
	}
	return t
}

// lchooseOf computes lchoose from the three arguments of Γ. The result is exactly 0 if k is 0 or n.
func lchooseOf(b *Builder, x []Value) Value {
	a := chosen(b, x)
	y := gammaRatio(b, a[0], a[1], a[2], x[1], -1)
	some := b.Both(b.Compare(NEQ, x[1], b.Number(0)), b.Compare(NEQ, x[1], x[0]))
	return b.Keep(some, y)
}

// lchooseAll computes lchoose for any numbers. The result is NaN for n or k below -1, or k above
// n+1. For a huge n it is m log n - log Γ(m+1), where m is the smaller of k and n-k, unless m is
// huge too.
func lchooseAll(b *Builder, x []Value) Value {
	zero, one, nan, inf := b.Number(0), b.Number(1), b.Number(math.NaN()), b.Number(math.Inf(1))
	isHuge := func() Value { return b.Compare(GT, x[0], b.Number(maxBeta)) }
	scale := b.Select(isHuge(), b.Number(0x1p40), one)
	y := b.Mul(lchooseOf(b, []Value{b.Div(x[0], scale), b.Div(x[1], scale)}), scale)
	k := b.Min(x[1], b.Sub(x[0], x[1]))
	few := b.Sub(b.Mul(k, exactLog(b, x[0])), lgammaOf(b, b.Max(one, b.Add(k, one))))
	y = b.Select(b.Both(isHuge(), b.Compare(LT, k, b.Number(1e280))), few, y)
	a := chosen(b, x)
	y = b.Select(b.Compare(LT, a[2], b.Number(fewGammas)), sumOfGammas(b, a[0], a[1], a[2]), y)
	y = b.Select(b.Compare(EQ, a[2], zero), inf, y)
	y = b.Select(b.Either(b.Compare(EQ, a[0], zero), b.Compare(EQ, a[1], zero)), b.Neg(inf), y)
	y = b.Keep(b.Both(b.Compare(NEQ, x[1], zero), b.Compare(NEQ, x[1], x[0])), y)
	negative := b.Either(b.Compare(NGE, a[0], zero), b.Either(b.Compare(NGE, a[1], zero), b.Compare(NGE, a[2], zero)))
	return b.Select(b.Either(negative, b.Compare(EQ, x[0], inf)), nan, y)
}
