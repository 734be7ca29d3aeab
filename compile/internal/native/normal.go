package native

import "math"

// This file: the normal distribution and the error function. All are computed from E(t) =
// φ(t)/Φ(-t) - t for t ≥ 0, which falls from 0.8 to 0 like 1/t. Then Φ(-t) = φ(t)/(t + E), without
// cancellation anywhere.

// excessTerms are the coefficients of (t+4)·E(t) + u in powers of u = (t-4)/(t+4), which maps [0,
// ∞) to [-1, 1). Adding u makes most of the slope exact. They were computed with 50 digits by
// interpolation at Chebyshev points; the error is 2e-18.
var excessTerms = []float64{
	1.8048571559157687, -0.1822045015192798, 0.4019567038062286, 0.0675179279228465,
	-0.13822449147872118, 0.033703667650192635, 0.03165652747870675, -0.020800454247068063,
	-0.004488589742739966, 0.007961410440624905, -0.0003735871523969663, -0.002485787341256449,
	0.0005948621210070812, 0.0006654731716162328, -0.0002893133552822841, -0.00015025894760102609,
	0.00010494035068547954, 2.5434614211576515e-05, -3.179970088990955e-05, -1.1922024853727769e-06,
	8.224457128881878e-06, -1.428763505177387e-06, -1.7822262287235983e-06, 7.992969271589827e-07,
	3.0550711106643485e-07, -2.5940020439035366e-07, -3.665185010524945e-08, 5.298480200665563e-08,
	2.277203379331957e-09, -5.26555144242389e-09,
}

const (
	excessLow = -9.139647225400203e-17 // low part of excessTerms[0]

	logSqrt2Pi     = 0.9189385332046728 // log √(2π), in two parts
	logSqrt2PiLow  = -3.8782941580672414e-17
	logSqrtPi2     = 0.22579135264472744 // log √(π/2)
	logSqrtPi2Low  = -6.4622584878775846e-18
	sqrt2          = 0x1.6a09e667f3bcdp0
	sqrt2Low       = -9.667293313452913e-17
	beyondGaussian = 39 // exp(-x²/2) is 0 from here on
)

// excessOf returns E(t) in two parts, for finite t ≥ 0.
func excessOf(b *Builder, t Value) (high, low Value) {
	d, dl := twoSum(b, t, b.Number(4))
	one := b.Number(1)
	k := b.Div(one, d)
	kl := b.Mul(b.Sub(remainder(b, one, k, d), b.Mul(k, dl)), k)
	v := b.Mul(k, b.Number(8))
	u := b.Sub(one, v)
	ul := b.Sub(b.Sub(b.Sub(one, u), v), b.Mul(kl, b.Number(8)))
	h, hl := fastSum(b, b.Number(excessTerms[0]), b.Neg(u))
	hl = b.Add(b.Sub(hl, ul), b.Number(excessLow))
	p := polynomial(b, u, excessTerms[3:])
	// Add the largest terms last and one by one, so that few roundings have their size.
	for k := 2; k > 0; k-- {
		p = b.Add(b.Mul(p, u), b.Number(excessTerms[k]))
	}
	g, gl := fastSum(b, h, b.Add(hl, b.Mul(u, p)))
	q, ql := product(b, g, k)
	return q, b.Add(ql, b.Add(b.Mul(g, kl), b.Mul(gl, k)))
}

// pair is a number in two parts.
type pair struct{ high, low Value }

// ratioAt returns t + E(t), and E(t).
func ratioAt(b *Builder, t Value) (s pair, excess Value) {
	q, ql := excessOf(b, t)
	h, l := twoSum(b, t, q)
	return pair{h, b.Add(l, ql)}, q
}

// movedBy returns s = t + E(t) for the argument t + tl, where tl is small. It uses the derivative
// of s, which is s·E.
func (s pair) movedBy(b *Builder, excess, tl Value) pair {
	return pair{s.high, b.Add(s.low, b.Mul(tl, b.Mul(s.high, excess)))}
}

// gaussian returns exp(-high-low-c-cl) in two parts, divided by a power of two; scale multiplies by
// that power.
func gaussian(b *Builder, high, low Value, c, cl float64) (e pair, scale func(Value) Value) {
	x, xl := twoSum(b, b.Neg(high), b.Number(-c))
	xl = b.Sub(xl, b.Add(low, b.Number(cl)))
	var tail Value
	r := reduce(b, x, &tail)
	r.rest = b.Add(r.rest, xl)
	s, factors := r.unscaled(b)
	p := b.Mul(s, r.polynomial(b, &tail))
	e.high, e.low = fastSum(b, s, p)
	return e, func(y Value) Value { return b.Mul(b.Mul(y, factors[0]), factors[1]) }
}

// over returns a/d in two parts.
func (a pair) over(b *Builder, d pair) pair {
	k := b.Div(b.Number(1), d.high)
	q := b.Mul(a.high, k)
	rest := b.Sub(b.Add(remainder(b, a.high, q, d.high), a.low), b.Mul(q, d.low))
	return pair{q, b.Mul(rest, k)}
}

// less returns n - q - ql in two parts, for q ≤ n.
func less(b *Builder, n float64, q, ql Value) pair {
	w := b.Sub(b.Number(n), q)
	return pair{w, b.Sub(b.Sub(b.Sub(b.Number(n), w), q), ql)}
}

// magnitude returns the smaller of |x| and most.
func magnitude(b *Builder, x Value, most float64) Value { return b.Min(b.Number(most), b.Abs(x)) }

// halfSquare returns x²/2 in two parts, with |x| limited to most.
func halfSquare(b *Builder, x Value, most float64) (high, low Value) {
	high, low = square(b, magnitude(b, x, most))
	half := b.Number(0.5)
	return b.Mul(high, half), b.Mul(low, half)
}

func isLeft(b *Builder, x Value) Value { return b.Compare(LT, x, b.Number(0)) }

// density is φ(x) in two parts, divided by a power of two; scale multiplies by that power.
type density struct {
	pair
	scale func(Value) Value
}

// densityAt returns φ(x) or, if moved is not nil, φ(x + moved) for a small moved, such as the
// rounding error of x.
func densityAt(b *Builder, x Value, moved *Value) density {
	high, low := halfSquare(b, x, beyondGaussian)
	if moved != nil {
		low = b.Add(low, b.Mul(x, *moved))
	}
	e, scale := gaussian(b, high, low, logSqrt2Pi, logSqrt2PiLow)
	return density{e, scale}
}

func phiRoutine(b *Builder, x []Value, _ func(Value)) Value {
	s, _ := ratioAt(b, magnitude(b, x[0], beyondGaussian))
	e := densityAt(b, x[0], nil)
	q := e.over(b, s) // Φ(-|x|)
	left := e.scale(b.Add(q.high, q.low))
	right := less(b, 1, e.scale(q.high), e.scale(q.low))
	return b.Select(isLeft(b, x[0]), left, b.Add(right.high, right.low))
}

// erfcRoutine computes erfc(x) from the normal tail at t = √2 |x|. It computes x² in two parts.
func erfcRoutine(b *Builder, x []Value, _ func(Value)) Value {
	q := erfcOf(b, x[0])
	left := less(b, 2, q.high, q.low)
	return b.Select(isLeft(b, x[0]), b.Add(left.high, left.low), b.Add(q.high, q.low))
}

// erfcOf returns erfc |x|.
func erfcOf(b *Builder, x Value) pair {
	m := magnitude(b, x, 28)
	t := b.Mul(m, b.Number(sqrt2))
	mh := upper(b, m)
	const high = 0x1.6a09e6p0 // the leading digits of √2
	tl := b.Sub(t, b.Mul(mh, b.Number(high)))
	tl = b.Sub(tl, b.Mul(b.Sub(m, mh), b.Number(high)))
	tl = b.Sub(tl, b.Mul(m, b.Number(sqrt2-high)))
	s, excess := ratioAt(b, t)
	s = s.movedBy(b, excess, b.Sub(b.Mul(m, b.Number(sqrt2Low)), tl))
	h, l := square(b, m)
	e, scale := gaussian(b, h, l, logSqrtPi2, logSqrtPi2Low)
	q := e.over(b, s)
	return pair{scale(q.high), scale(q.low)}
}

// erfTerms are the coefficients of erf(x)/x - 1 in powers of x² for |x| ≤ 0.75.
var erfTerms = []float64{
	0.1283791670955126, -0.37612638903183754, 0.11283791670955087, -0.026866170645118446,
	0.005223977625222192, -0.0008548327001135946, 0.00012055331545294116, -1.4925589383821143e-05,
	1.646038320985815e-06, -1.63332293434337e-07, 1.4413879289095029e-08, -9.502840894774706e-10,
}

func erfRoutine(b *Builder, x []Value, _ func(Value)) Value {
	q := erfcOf(b, x[0])
	right := less(b, 1, q.high, q.low)
	large := b.Or(b.Add(right.high, right.low), b.And(x[0], b.Word(signBit)))
	small := magnitude(b, x[0], 1)
	p := polynomial(b, b.Mul(small, small), erfTerms)
	return b.Select(b.Compare(LT, b.Abs(x[0]), b.Number(0.75)), b.Add(x[0], b.Mul(x[0], p)), large)
}

func phiExcessRoutine(b *Builder, x []Value, _ func(Value)) Value {
	e, el := excessOf(b, magnitude(b, x[0], math.MaxFloat64))
	s, sl := twoSum(b, b.Abs(x[0]), e)
	return phiExcessOf(b, x[0], e, el, phiRatioRight(b, pair{s, b.Add(sl, el)}, densityAt(b, x[0], nil)))
}

// phiExcessOf returns PhiExcess(x): E for x < 0, x + r for x ≥ 0, where r is φ/Φ.
func phiExcessOf(b *Builder, x, e, el Value, r pair) Value {
	right, low := twoSum(b, x, r.high)
	right = b.Select(b.Compare(GT, x, b.Number(beyondGaussian)), x, b.Add(right, b.Add(low, r.low)))
	left := b.Keep(b.Compare(NEQ, x, b.Number(math.Inf(-1))), b.Add(e, el))
	return b.Select(isLeft(b, x), left, right)
}

// phiRatioRoutine computes φ(x)/Φ(x). For x < 0 that is |x| + E.
func phiRatioRoutine(b *Builder, x []Value, _ func(Value)) Value {
	s, _ := ratioAt(b, magnitude(b, x[0], math.MaxFloat64))
	return phiRatioOf(b, x[0], s, phiRatioRight(b, s, densityAt(b, x[0], nil)))
}

func phiRatioOf(b *Builder, x Value, s, r pair) Value {
	left := b.Select(b.Compare(EQ, x, b.Number(math.Inf(-1))), b.Number(math.Inf(1)), b.Add(s.high, s.low))
	return b.Select(isLeft(b, x), left, b.Add(r.high, r.low))
}

// phiExcessAndRatioRoutine computes both phiExcessRoutine and phiRatioRoutine.
func phiExcessAndRatioRoutine(b *Builder, x []Value) [2]Value {
	t := magnitude(b, x[0], math.MaxFloat64)
	e, el := excessOf(b, t)
	h, l := twoSum(b, t, e)
	s := pair{h, b.Add(l, el)}
	r := phiRatioRight(b, s, densityAt(b, x[0], nil))
	return [2]Value{phiExcessOf(b, x[0], e, el, r), phiRatioOf(b, x[0], s, r)}
}

// phiRatioRight returns φ/Φ for x ≥ 0, in two parts: φ/(1-φ/s) = φ + φ·φ/(s-φ).
func phiRatioRight(b *Builder, s pair, f density) pair {
	e := pair{f.scale(f.high), f.scale(f.low)}
	d := b.Sub(s.high, e.high)
	dl := b.Sub(b.Add(b.Sub(b.Sub(s.high, d), e.high), s.low), e.low)
	z := e.over(b, pair{d, dl})
	m, ml := product(b, e.high, z.high)
	y, yl := fastSum(b, e.high, m)
	yl = b.Add(b.Add(yl, ml), b.Mul(e.high, z.low))
	return pair{y, b.Add(yl, b.Add(e.low, b.Mul(e.low, z.high)))}
}

// logPhiRoutine computes log Φ(x) by logTail, with T + Tl = -x²/2 for x < 0 and T + Tl = 0 for x ≥
// 0.
func logPhiRoutine(b *Builder, x []Value, _ func(Value)) Value {
	high, low := halfSquare(b, x[0], 1e200)
	left := isLeft(b, x[0])
	return logTail(b, x[0], b.Neg(b.Keep(left, high)), b.Neg(b.Keep(left, low)))
}

// logPhiAndRatioRoutine computes both logPhiRoutine and phiRatioRoutine.
func logPhiAndRatioRoutine(b *Builder, x []Value) [2]Value {
	high, low := halfSquare(b, x[0], 1e200)
	left := isLeft(b, x[0])
	s, _ := ratioAt(b, magnitude(b, x[0], maxTail))
	e := densityAt(b, x[0], nil)
	log := logOfTail(b, x[0], s, e, b.Neg(b.Keep(left, high)), b.Neg(b.Keep(left, low)))
	size := b.Abs(x[0])
	all := b.Select(b.Compare(GT, size, b.Number(maxTail)), size, b.Add(s.high, s.low))
	right := phiRatioRight(b, s, e)
	return [2]Value{log, b.Select(left, all, b.Add(right.high, right.low))}
}

// maxTail is a number beyond which E is negligible compared with x.
const maxTail = 1e300

// logTail returns the sum of T + Tl and, for t = -x > 0, log(1/√(2π)(t+E)), or for x ≥ 0, log Φ(x).
func logTail(b *Builder, x Value, T, Tl Value) Value {
	s, _ := ratioAt(b, magnitude(b, x, maxTail))
	return logOfTail(b, x, s, densityAt(b, x, nil), T, Tl)
}

// logOfTail is logTail, given s = t + E and the density e at x.
func logOfTail(b *Builder, x Value, s pair, e density, T, Tl Value) Value {
	q := e.over(b, s)
	right := less(b, 1, e.scale(q.high), e.scale(q.low))
	left := isLeft(b, x)
	w := lookUp(b, b.Select(left, s.high, right.high))
	lost := w.over(b, b.Select(left, s.low, right.low))
	h, l, p := w.parts(b, &lost)
	l = b.Add(l, p)
	sign := b.Keep(left, b.Word(signBit))
	h, l = b.Xor(h, sign), b.Xor(l, sign)
	y, yl := twoSum(b, T, b.Keep(left, b.Number(-logSqrt2Pi)))
	z, zl := twoSum(b, y, h)
	low := b.Add(b.Add(yl, zl), b.Add(b.Add(l, Tl), b.Keep(left, b.Number(-logSqrt2PiLow))))
	// Infinite arguments have become NaN by now.
	infinite := b.Either(b.Compare(EQ, T, b.Number(math.Inf(-1))), b.Compare(EQ, x, b.Number(math.Inf(-1))))
	return b.Select(infinite, b.Number(math.Inf(-1)), b.Add(z, low))
}

// expModTail holds what the functions of the exponentially modified normal distribution have in
// common: t = z-v and, at |t|, the values of E, |t| + E and φ.
type expModTail struct {
	t, excess, excessLow Value
	s                    pair
	e                    density
}

func expModTailAt(b *Builder, z, v Value) expModTail {
	t, tl := twoSum(b, z, b.Neg(v))
	tl = b.Keep(b.Compare(LT, b.Abs(t), b.Number(1e100)), tl)
	m := magnitude(b, t, maxTail)
	e, el := excessOf(b, m)
	h, l := twoSum(b, m, e)
	// For t < 0, |t| is -t.
	s := pair{h, b.Add(l, el)}.movedBy(b, e, b.Xor(tl, b.And(t, b.Word(signBit))))
	return expModTail{t, e, el, s, densityAt(b, t, &tl)}
}

// log returns the logarithm of the tail, without cancellation, as a sum of terms that are all
// negative: for t = v-z > 0, -z²/2 + log(1/√(2π)(t+E)); otherwise v(v/2 - z) + log Φ(-t).
func (x expModTail) log(b *Builder, z, v Value) Value {
	left := isLeft(b, x.t)
	high, low := halfSquare(b, z, 1e200)
	half := b.Mul(v, b.Number(0.5))
	d, dl := twoSum(b, half, b.Neg(z))
	m, ml := product(b, v, d)
	ml = b.Add(ml, b.Mul(v, dl))
	return logOfTail(b, x.t, x.s, x.e, b.Select(left, b.Neg(high), m), b.Select(left, b.Neg(low), ml))
}

func (x expModTail) slope(b *Builder) Value {
	right := phiRatioRight(b, x.s, x.e)
	ratio := b.Select(b.Compare(GT, x.t, b.Number(beyondGaussian)), b.Number(0), b.Add(right.high, right.low))
	return b.Select(isLeft(b, x.t), b.Add(x.excess, x.excessLow), ratio)
}

func logExpModTailRoutine(b *Builder, x []Value, _ func(Value)) Value {
	return expModTailAt(b, x[0], x[1]).log(b, x[0], x[1])
}

func expModSlopeRoutine(b *Builder, x []Value, _ func(Value)) Value {
	return expModTailAt(b, x[0], x[1]).slope(b)
}

// expModTailAndSlopeRoutine computes both logExpModTailRoutine and expModSlopeRoutine.
func expModTailAndSlopeRoutine(b *Builder, x []Value) [2]Value {
	t := expModTailAt(b, x[0], x[1])
	return [2]Value{t.log(b, x[0], x[1]), t.slope(b)}
}

// invPhiRoutine is the quantile function of the standard normal distribution. It uses the rational
// approximations of Wichura's algorithm AS 241 (PPND16). In the tails, one step of Newton's method
// on the logarithm of Φ follows.
func invPhiRoutine(b *Builder, x []Value, slow func(Value)) Value {
	q := b.Sub(x[0], b.Number(0.5))
	slow(b.Compare(LE, b.Abs(q), b.Number(0.425)))
	return invPhiCentral(b, q)
}

func invPhiCentral(b *Builder, q Value) Value {
	return b.Mul(q, quotient(b, b.Sub(b.Number(0.180625), b.Mul(q, q)), asA, asB))
}

// smallerTail returns the smaller of p and 1-p.
func smallerTail(b *Builder, p Value) Value {
	return b.Select(b.Compare(GT, p, b.Number(0.5)), b.Sub(b.Number(1), p), p)
}

// invPhiOf returns the quantile for p other than 0 and 1. l is the logarithm of the smaller tail.
func invPhiOf(b *Builder, p, l Value) Value {
	q := b.Sub(p, b.Number(0.5))
	r := b.Sqrt(b.Neg(l))
	near := quotient(b, b.Sub(r, b.Number(1.6)), asC, asD)
	far := quotient(b, b.Sub(r, b.Number(5)), asE, asF)
	// The quantile of the smaller tail, without its sign.
	t := b.Select(b.Compare(LE, r, b.Number(5)), near, far)
	s, _ := ratioAt(b, t)
	high, low := halfSquare(b, t, 1e200)
	y := b.Add(t, b.Div(b.Sub(logTail(b, b.Neg(t), b.Neg(high), b.Neg(low)), l), s.high))
	outer := b.Select(b.Compare(GT, q, b.Number(0)), y, b.Neg(y))
	return b.Select(b.Compare(LE, b.Abs(q), b.Number(0.425)), invPhiCentral(b, q), outer)
}

func invPhiAll(b *Builder, x []Value) Value {
	p := x[0]
	y := invPhiOf(b, p, exactLog(b, smallerTail(b, p)))
	inf := math.Inf(1)
	y = b.Select(b.Compare(EQ, p, b.Number(0)), b.Number(-inf), y)
	y = b.Select(b.Compare(EQ, p, b.Number(1)), b.Number(inf), y)
	return b.Select(between(b, p, 0, 1), y, b.Number(math.NaN()))
}

// quotient returns a quotient of polynomials.
func quotient(b *Builder, x Value, numerator, denominator []float64) Value {
	return b.Div(horner(b, x, numerator), horner(b, x, denominator))
}

// Coefficients of AS 241: the centre, the near and the far tail.
var (
	asA = []float64{3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3}
	asB = []float64{1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3}
	asC = []float64{1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
		1.27045825245236838258, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4}
	asD = []float64{1, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}
	asE = []float64{6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7}
	asF = []float64{1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}
)
