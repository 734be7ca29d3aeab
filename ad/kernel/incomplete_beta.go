package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// dual is a number with its derivatives with respect to two parameters.
type dual [3]float64

// LogBetaTerm returns log xᵃ(1-x)ᵇ/B(a, b).
func LogBetaTerm(x, a, b float64) float64 {
	switch {
	case !(x >= 0 && x <= 1) || !(a >= 0) || !(b >= 0) || !(max(a, b) > 0):
		return math.NaN()
	case a == 0 || b == 0: // B(a, b) is infinite
		return math.Inf(-1)
	}
	return logBetaTerm(x, 1-x, a, b, fromMean(x, 1-x, a, b))
}

// logs returns log x and log y for x + y = 1, where the smaller of x and y is exact.
func logs(x, y float64) (logX, logY float64) {
	if x > y {
		return math.Log1p(-y), routines.Log(y)
	}
	return routines.Log(x), math.Log1p(-x)
}

// fromMean returns (a+b)x - a = b - (a+b)y for x + y = 1, where the smaller of x and y is exact. It
// computes in double-double arithmetic until the last step, because the value is small near the
// mean of the beta distribution.
func fromMean(x, y, a, b float64) float64 {
	n := a + b
	v := n - a
	rest := (a - (n - v)) + (b - v) // n + rest is a+b exactly
	if x > y {
		return -fromMean(y, x, b, a)
	}
	p := n * x
	return (p - a) + (math.FMA(n, x, -p) + rest*x)
}

// logBetaTerm returns LogBetaTerm, given y = 1-x and d from fromMean. For large a and b it combines
// Stirling's series (as in Loader's binomial mass), so that nothing as large as a log a cancels.
func logBetaTerm(x, y, a, b, d float64) float64 {
	if a < 10 || b < 10 {
		logX, logY := logs(x, y)
		return a*logX + b*logY - routines.Lbeta(a, b)
	}
	n := a + b
	part := func(a, d, x float64) float64 {
		if d < -0.6*a { // d/a rounds to a number close to -1, where log1pMinus would lose digits
			return a*routines.Log(x*(n/a)) - d
		}
		return a * log1pMinus(d/a)
	}
	rest := stirlingRest(n) - stirlingRest(a) - stirlingRest(b)
	return part(a, d, x) + part(b, -d, y) + 0.5*routines.Log(a/n*b) - logSqrt2Pi + rest
}

// incompleteBeta returns log I_x(a, b), the logarithm of the regularised incomplete beta function,
// with its derivatives with respect to a and b; y is 1-x. Without shapes, it leaves out the
// derivatives. For x up to about the mean of the distribution it uses the continued fraction DLMF
// 8.17.22 or, for large shapes, an integral; beyond, the complement of I_y(b, a).
func incompleteBeta(x, y, a, b float64, shapes bool) dual {
	if nan := x + y + a + b; math.IsNaN(nan) {
		return dual{nan, nan, nan}
	}
	if max(a, b) >= largeBeta {
		return largeIncompleteBeta(x, y, a, b, shapes)
	}
	if x > (a+1)/(a+b+2) {
		return incompleteBeta(y, x, b, a, shapes).complement().swap()
	}
	if a <= 0.2 { // x may be above nearly all of the mass, although it is below the mean
		if _, upper, _ := betaSeries(x, a, b); upper[0] < -math.Ln2 {
			return upper.complement()
		}
	}
	term := logBetaTerm(x, y, a, b, fromMean(x, y, a, b)) - routines.Log(a)
	if !shapes {
		h, _ := betaFractionValue(x, a, b)
		return dual{term + routines.Log(h)}
	}
	h, _ := betaFraction(x, a, b)
	logX, logY := logs(x, y)
	return dual{
		term + routines.Log(h[0]),
		logX - 1/a + PolygammaRise(0, a, b) + h[1]/h[0],
		logY + PolygammaRise(0, b, a) + h[2]/h[0],
	}
}

// complement returns log(1 - e^l), where l is the logarithm of a probability.
func (l dual) complement() dual {
	f := -1 / math.Expm1(-l[0]) // -1/(1 - e^-l): the derivative of the result is -l′/(e^-l - 1)
	return dual{routines.Log1mExp(l[0]), f * l[1], f * l[2]}
}

// swap exchanges the two parameters.
func (l dual) swap() dual { return dual{l[0], l[2], l[1]} }

// betaFraction returns the continued fraction for x below the mean, as a function of a and b, and
// the number of its terms. It uses Steed's method: for a term n/d of the fraction, the reciprocal D
// of the denominator so far becomes d/(d + nD). The term changes the fraction by D-1 times the
// change by the term before.
func betaFraction(x, a, b float64) (dual, int) {
	n := -(a + b) * x
	t := 1 / (a + 1 + n)
	d := (a + 1) * t
	da, db := (1-d*(1-x))*t, d*x*t
	c, ca, cb := -n*t, da, db // the change of the fraction by the term
	h := dual{d, da, db}
	k := 1.0
	step := func(n, na, nb, q, qa float64) {
		na, nb = na*d+n*da, nb*d+n*db
		t := 1 / (q + n*d)
		factor := -n * d * t // D-1
		d = q * t
		da, db = (qa-d*(qa+na))*t, -d*nb*t
		ca, cb = da*c+factor*ca, db*c+factor*cb
		c *= factor
		h[0] += c
		h[1] += ca
		h[2] += cb
	}
	for ; k < maxTerms; k++ {
		m := a + 2*k
		step(k*(b-k)*x, 0, k*x, (m-1)*m, 2*m-1)
		step(-(a+k)*(a+b+k)*x, -(2*(a+k)+b)*x, -(a+k)*x, m*(m+1), 2*m+1)
		const tiny = 1e-17
		if math.Abs(c) < tiny*h[0] && math.Abs(ca) < tiny*(h[0]+math.Abs(h[1])) && math.Abs(cb) < tiny*(h[0]+math.Abs(h[2])) {
			break
		}
	}
	return h, int(k)
}

// betaFractionValue is betaFraction without derivatives.
func betaFractionValue(x, a, b float64) (float64, int) {
	t := 1 / (a + 1 - (a+b)*x)
	d := (a + 1) * t
	c, h := (a+b)*x*t, d
	k := 1.0
	for ; k < maxTerms; k++ {
		m := a + 2*k
		n := k * (b - k) * x * d
		q := (m - 1) * m
		t = 1 / (q + n)
		d = q * t
		c *= -n * t
		h += c
		n = -(a + k) * (a + b + k) * x * d
		q = m * (m + 1)
		t = 1 / (q + n)
		d = q * t
		c *= -n * t
		h += c
		if math.Abs(c) < 1e-17*h {
			break
		}
	}
	return h, int(k)
}

// betaSeries returns log I_x(a, b), log(1 - I_x(a, b)) and the number of terms, for a < 1 and x
// below about 1/(a+b). The series is xᵃ/(aB(a, b)) (1 + a Σ (1-b)ₖxᵏ/(k!(a+k))), with the sum from
// k = 1 (DLMF 8.17.7). The second result is accurate to all digits even if a is tiny.
func betaSeries(x, a, b float64) (lower, upper dual, terms int) {
	sum, term, byB := dual{}, 1.0, 0.0
	k := 1.0
	for ; k < maxTerms; k++ {
		byB = (byB*(k-b) - term) * x / k
		term *= (k - b) * x / k
		r := 1 / (a + k)
		sum[0] += a * term * r
		sum[1] += k * term * r * r
		sum[2] += a * byB * r
		if math.Abs(term)+math.Abs(byB) < 1e-18 {
			break
		}
	}
	// l is log xᵃ/(aB(a, b)).
	l := dual{a*routines.Log(x) + logRise(b, a) - lgammaNear1(a), 0, routines.DigammaRise(b, a)}
	if b < 100 {
		l[1] = routines.Log(x) + routines.Digamma(a+b) - routines.Digamma(a+1)
	} else {
		l[0] = a*routines.Log(x*b) + logRiseOver(b, a) - lgammaNear1(a)
		l[1] = routines.Log(x*(a+b)) + digammaMinusLog(a+b) - routines.Digamma(a+1)
	}
	s := 1 + sum[0]
	lower = dual{l[0] + routines.Log(s), l[1] + sum[1]/s, l[2] + sum[2]/s}
	q := -math.Expm1(l[0]) - math.Exp(l[0])*sum[0]
	f := -math.Exp(lower[0]) / q
	upper = dual{routines.Log(q), f * lower[1], f * lower[2]}
	return lower, upper, int(k)
}

// lgammaNear1 returns log Γ(1+a) for 0 ≤ a ≤ 1, with relative accuracy near 0.
func lgammaNear1(a float64) float64 {
	if a <= 0.2 {
		return lgamma1p(a)
	}
	return routines.Lgamma(1 + a)
}

// logRise returns log Γ(b+a)/Γ(b) for 0 ≤ a ≤ 1, with relative accuracy also where a is small.
func logRise(b, a float64) float64 {
	p := 0.0 // Π (1 + a/(b+j)) - 1
	for ; b < 10; b++ {
		p += (1 + p) * (a / b)
	}
	return a*routines.Log(b) + logRiseOver(b, a) - math.Log1p(p)
}

// logRiseOver returns log Γ(b+a)/(Γ(b)bᵃ) for 0 ≤ a ≤ 1 and b ≥ 10.
func logRiseOver(b, a float64) float64 {
	return b*log1pMinus(a/b) + (a-0.5)*math.Log1p(a/b) + stirlingRise(b, a)
}

// stirlingRise returns stirlingRest(b+a) - stirlingRest(b). Both are polynomials of 1/b, so it is
// 1/(a+b) - 1/b times a difference quotient.
func stirlingRise(b, a float64) float64 {
	i, j := 1/b, 1/(a+b)
	s, quotient := 0.0, 0.0
	for k := 7; k >= 0; k-- {
		m := float64(2*k + 2)
		quotient = quotient*j + s
		s = s*i + bernoulli[k]/(m*(m-1))
		quotient = quotient*j + s
		s *= i
	}
	return -a * i * j * quotient
}

// incompleteBetaPart returns a part of log I_x(a, b) or, with upper, of log(1 - I_x(a, b)): the
// value if part is 0, the derivative with respect to a or b if part is 1 or 2.
func incompleteBetaPart(part int, x, a, b float64, upper bool) float64 {
	switch {
	case part == 0 && x >= 0 && x <= 1 && min(a, b) == 0 && max(a, b) > 0: // all mass is at one end
		if (a == 0) == upper {
			return math.Inf(-1)
		}
		return 0
	case !(x >= 0 && x <= 1) || !(max(a, b) > 0) || !(min(a, b) >= 0) || math.IsInf(a, 1) || math.IsInf(b, 1):
		return math.NaN()
	case (x == 0 && !upper || x == 1 && upper) && part == 0:
		return math.Inf(-1)
	case x == 0 || x == 1:
		return 0
	// A derivative; with respect to a shape of 0 it is one-sided, so use a tiny shape.
	case a == 0 || b == 0:
		const tiny = 1e-300
		return incompleteBetaPart(part, x, max(a, tiny), max(b, tiny), upper)
	case upper:
		d := incompleteBeta(1-x, x, b, a, part > 0)
		return dual{d[0], d[2], d[1]}[part]
	}
	return incompleteBeta(x, 1-x, a, b, part > 0)[part]
}

// LogBetaI returns log I_x(a, b), where I is the regularised incomplete beta function.
func LogBetaI(x, a, b float64) float64 { return incompleteBetaPart(0, x, a, b, false) }

// LogBetaIa returns the derivative of LogBetaI with respect to a.
func LogBetaIa(x, a, b float64) float64 { return incompleteBetaPart(1, x, a, b, false) }

// LogBetaIb returns the derivative of LogBetaI with respect to b.
func LogBetaIb(x, a, b float64) float64 { return incompleteBetaPart(2, x, a, b, false) }

// LogBetaIc returns log(1 - I_x(a, b)) = log I_{1-x}(b, a). Use it where a float64 does not hold
// 1-x.
func LogBetaIc(x, a, b float64) float64 { return incompleteBetaPart(0, x, a, b, true) }

// LogBetaIca returns the derivative of LogBetaIc with respect to a.
func LogBetaIca(x, a, b float64) float64 { return incompleteBetaPart(1, x, a, b, true) }

// LogBetaIcb returns the derivative of LogBetaIc with respect to b.
func LogBetaIcb(x, a, b float64) float64 { return incompleteBetaPart(2, x, a, b, true) }
