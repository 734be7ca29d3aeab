package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// series is a function of one variable near a point, given by the coefficients of its Taylor
// polynomial. The k-th coefficient is the k-th derivative divided by k!.
type series [4]float64

// mul returns the product of two series, up to the n-th coefficient. Here and in the other methods,
// a small n saves the work for derivatives.
func (s series) mul(n int, t series) (p series) {
	for k := range n + 1 {
		for i := range k + 1 {
			p[k] += s[i] * t[k-i]
		}
	}
	return p
}

func (s series) add(t series) series {
	for k := range s {
		s[k] += t[k]
	}
	return s
}

func (s series) scale(c float64) series {
	for k := range s {
		s[k] *= c
	}
	return s
}

// log returns log s with the given constant coefficient c, which the caller may know more
// accurately.
func (s series) log(n int, c float64) (l series) {
	l[0] = c
	for k := 1; k <= n; k++ {
		v := float64(k) * s[k]
		for i := 1; i < k; i++ {
			v -= float64(i) * l[i] * s[k-i]
		}
		l[k] = v / (float64(k) * s[0])
	}
	return l
}

func (s series) exp(n int) (e series) {
	e[0] = math.Exp(s[0])
	for k := 1; k <= n; k++ {
		for i := 1; i <= k; i++ {
			e[k] += float64(i) * s[i] * e[k-i]
		}
		e[k] /= float64(k)
	}
	return e
}

// variable returns the series of the variable itself, at x.
func variable(x float64) series { return series{x, 1} }

// log1pMinus returns log(1+x) - x, without cancellation for small x. It uses log(1+x) = 2 artanh r
// with r = x/(2+x), so x = 2r/(1-r).
func log1pMinus(x float64) float64 {
	if x < -0.6 || x > 1 {
		return math.Log1p(x) - x
	}
	r := x / (2 + x)
	q := r * r
	s := 0.0
	for k := 33; k >= 3; k -= 2 {
		s = s*q + 2/float64(k)
	}
	return r * (s*q - x)
}

// logPoisson returns a log x - x - log Γ(a+1), without cancellation for large a.
func logPoisson(a, x float64) float64 {
	if a < 10 {
		return a*routines.Log(x) - x - routines.Lgamma(a+1)
	}
	main := a * log1pMinus((x-a)/a)
	if x < 0.4*a {
		// (x-a)/a rounds to a number close to -1, where log1pMinus would lose digits.
		main = a*logRatio(x, a) - (x - a)
	}
	return main - 0.5*routines.Log(2*math.Pi*a) - stirlingRest(a)
}

// LogPoisson returns the logarithm of xᵃ e⁻ˣ/Γ(a+1): the probability of a under the Poisson
// distribution with mean x, extended to real a.
func LogPoisson(a, x float64) float64 {
	if !(a >= 0) || !(x >= 0) {
		return math.NaN()
	}
	return logPoisson(a, x)
}

// logRatio returns log(x/a), without cancellation for x near a.
func logRatio(x, a float64) float64 {
	if d := x - a; math.Abs(d) < 0.5*a {
		return math.Log1p(d / a)
	}
	if r := x / a; r > 1e-300 && r < 1e300 {
		return routines.Log(r)
	}
	return routines.Log(x) - routines.Log(a)
}

// digammaMinusLog returns ψ(a) - log a for a ≥ 10 (DLMF 5.11.2).
func digammaMinusLog(a float64) float64 {
	i := 1 / a
	q, s := i*i, 0.0
	for k := 7; k >= 0; k-- {
		s = s*q - bernoulli[k]/float64(2*k+2)
	}
	return s*q - 0.5*i
}

// powerOverGamma returns log(xᵃ/Γ(a+1)) as a function of a, up to the n-th coefficient. c is the
// constant coefficient, which the caller computes.
func powerOverGamma(n int, a, x, c float64) series {
	s := series{c}
	switch {
	case n > 0 && a >= 10: // for a large a, log x and the derivative of log Γ would cancel
		s[1] = logRatio(x, a) - digammaMinusLog(a) - 1/a
	case n > 0:
		s[1] = routines.Log(x) - routines.Digamma(a+1)
	}
	for k, f := 2, -2.0; k <= n; k, f = k+1, f*float64(k+1) {
		s[k] = Polygamma(float64(k-1), a+1) / f
	}
	return s
}

// lgamma1p returns log Γ(1+a) for |a| ≤ 0.2, by its Taylor series (DLMF 5.7.3), with the relative
// accuracy that Lgamma(1+a) lacks.
func lgamma1p(a float64) float64 {
	s := 0.0
	for k := len(zeta) - 1; k >= 0; k-- {
		s = zeta[k]/float64(k+2) - a*s
	}
	return a * (a*s - eulerGamma)
}

const eulerGamma = 0.57721566490153286060651209008240243

// zeta holds ζ(2), ζ(3), ….
var zeta = [...]float64{1.6449340668482264, 1.2020569031595942, 1.0823232337111381, 1.03692775514337, 1.0173430619844492, 1.008349277381923, 1.0040773561979444, 1.0020083928260821, 1.000994575127818, 1.0004941886041194, 1.000246086553308, 1.0001227133475785, 1.0000612481350588, 1.000030588236307, 1.0000152822594086, 1.0000076371976379, 1.000003817293265, 1.0000019082127165, 1.0000009539620338, 1.0000004769329869, 1.0000002384505027, 1.000000119219926, 1.000000059608189, 1.0000000298035034, 1.0000000149015549, 1.0000000074507118, 1.000000003725334, 1.0000000018626598}

// smallGamma returns Q(a, x) as a function of a, for a ≤ 0.2 and x < a+1, where Q is small: Q =
// -(e^L - 1) - a e^L Σ (-x)ᵏ/(k! (a+k)) with L = a log x - log Γ(1+a), the sum from k = 1 (DLMF
// 8.7.1).
func smallGamma(n int, a, x float64) series {
	l := powerOverGamma(n, a, x, a*routines.Log(x)-lgamma1p(a))
	sum, term := series{}, 1.0
	for k := 1.; k < 40; k++ {
		term *= -x / k
		r := 1 / (a + k)
		c := term * r
		for i := range n + 1 {
			sum[i] += c
			c *= -r
		}
	}
	e := l.exp(n)
	q := e.scale(-1)
	q[0] = -math.Expm1(l[0])
	return q.add(variable(a).mul(n, e).mul(n, sum).scale(-1))
}

// Methods to compute one of the incomplete gamma functions P and Q.
const (
	bySeries        = iota // P: xᵃe⁻ˣ/Γ(a+1) Σ xᵐ/((a+1)…(a+m)) (DLMF 8.7.1)
	byUpperFraction        // Q: a continued fraction (DLMF 8.9.2)
	byLowerFraction        // P: a continued fraction
	byExpansion            // the smaller one: the uniform expansion
)

// gammaMethod returns the method for P(a, x) and Q(a, x), except for a ≤ 0.2 and x < a+1. For a
// below largeShape it is the series where Q is not small: near x = a+1 it takes fewer terms than
// the fraction, and its complement loses at most two digits.
func gammaMethod(a, x float64) int {
	switch {
	case a >= largeShape:
		if eta := temmeEta(a, x); eta*eta*a <= temmeWidth*temmeWidth {
			return byExpansion
		}
		if x < a {
			return byLowerFraction
		}
	case x < a+1 || a > 0.2 && x < a+1+min(math.Sqrt(a+1), 5):
		return bySeries
	}
	return byUpperFraction
}

// incompleteGamma returns the n-th coefficient, as a series in a, of log P(a, x), the regularised
// lower incomplete gamma function, or with upper of log Q(a, x). It computes one of the two and
// gets the other as the complement.
func incompleteGamma(n int, a, x float64, upper bool) float64 {
	if a <= 0.2 && x < a+1 {
		q := smallGamma(n, a, x)
		if upper {
			return q.log(n, routines.Log(q[0]))[n]
		}
		if q[0] < 0.5 { // for a larger q, 1 - q would cancel
			p := q.scale(-1)
			p[0] += 1
			return p.log(n, math.Log1p(-q[0]))[n]
		}
	}
	// P or Q is xᵃe⁻ˣ/Γ(a+1) times factor.
	var factor series
	method := gammaMethod(a, x)
	switch method {
	case byExpansion:
		return temmeGamma(n, a, temmeEta(a, x), upper)
	case bySeries:
		factor, _ = lowerSum(n, a, x)
	case byLowerFraction:
		factor, _ = lowerFraction(n, a, x)
		factor = variable(a).mul(n, factor)
	case byUpperFraction:
		fraction, _ := upperFraction(n, a, x)
		factor = variable(a).mul(n, fraction)
		// factor is subnormal or 0; the logarithms of its two factors keep all digits.
		if upper && n > 0 && factor[0] < 1e-300 {
			return powerOverGamma(n, a, x, 0)[n] + variable(a).log(n, 0)[n] + fraction.log(n, 0)[n]
		}
	}
	if upper == (method == byUpperFraction) {
		if n == 0 {
			if factor[0] == 0 { // it underflows if x is large: it is about a/x
				return logPoisson(a, x) + routines.Log(a) - routines.Log(x)
			}
			return logPoisson(a, x) + routines.Log(factor[0])
		}
		return powerOverGamma(n, a, x, 0)[n] + factor.log(n, 0)[n]
	}
	rest := powerOverGamma(n, a, x, logPoisson(a, x)).exp(n).mul(n, factor).scale(-1)
	log := math.Log1p(rest[0])
	rest[0] += 1
	return rest.log(n, log)[n]
}

// maxTerms is the maximum number of terms of a series or fraction. TestTerms counts the terms used.
const maxTerms = 200

// lowerSum returns Σ xᵐ/((a+1)…(a+m)) as a function of a, and the number of terms. The logarithm of
// a term has the derivatives -Σ1/(a+i), Σ1/(a+i)², …. So a term takes one division for any n, and
// all terms of one derivative have the same sign.
func lowerSum(n int, a, x float64) (sum series, terms int) {
	if n == 0 {
		s, t, m := 1.0, 1.0, 1.0
		for ; m < maxTerms; m++ {
			t *= x / (a + m)
			if s += t; t < 1e-17*s && m > x-a {
				break
			}
		}
		return series{s}, int(m)
	}
	s0, s1, s2, s3 := 1.0, 0.0, 0.0, 0.0
	h1, h2, h3, t := 0.0, 0.0, 0.0, 1.0
	m := 1.0
	for ; m < maxTerms; m++ {
		r := 1 / (a + m)
		t *= x * r
		s0 += t
		h1 += r
		last := t * h1
		s1 += last
		most := s1
		if n > 1 {
			h2 += r * r
			last = t * (h1*h1 + h2)
			s2 += last
			most = s2
		}
		if n > 2 {
			h3 += r * r * r
			last = t * (h1*(h1*h1+3*h2) + 2*h3)
			s3 += last
			most = s3
		}
		if last < 1e-17*most && m > x-a { // from m = x-a on, terms decrease at a growing rate
			break
		}
	}
	return series{s0, -s1, s2 / 2, -s3 / 6}, int(m)
}

// upperFraction returns 1/(x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - …))) as a function of a, and the
// number of terms.
func upperFraction(n int, a, x float64) (series, int) {
	f := fraction{denominator: series{(x - a) + 1, -1}, step: 2, scale: max(1, math.Sqrt(a))}
	return f.value(n, func(m float64) (t0, t1 float64) { return m * (a - m), m })
}

// lowerFraction returns 1/(a-x + x/(a+1-x + 2x/(a+2-x + …))) as a function of a, and the number of
// terms. It equals the sum of xᵐ/(a(a+1)…(a+m)) if x is less than a by more than a few √a (Jones &
// Thron 1980, Continued Fractions, 6.1.42).
func lowerFraction(n int, a, x float64) (series, int) {
	f := fraction{denominator: series{a - x, 1}, step: 1, scale: max(1, math.Sqrt(a))}
	return f.value(n, func(m float64) (t0, t1 float64) { return m * x, 0 })
}

// fraction is 1/(b + t₁/(b+step + t₂/(b+2·step + …))), where b and the tₘ are linear functions of
// one variable.
type fraction struct {
	denominator series // b
	step        float64
	scale       float64 // size of a change of the variable that matters, for the stopping rule
}

// value returns the fraction and the number of its terms, by Steed's method. For each term t it
// updates D to 1/(b + tD). The term changes the fraction by -tD₋₁D times the change by the term
// before, where D₋₁ is the D before the update.
func (f *fraction) value(n int, term func(m float64) (t0, t1 float64)) (series, int) {
	if n < 2 {
		return f.value1(term)
	}
	b, b1 := f.denominator[0], f.denominator[1]
	d0 := 1 / b
	d1 := -b1 * d0 * d0 // coefficients of D
	d2 := -b1 * d1 * d0
	d3 := -b1 * d2 * d0
	c0, c1, c2, c3 := d0, d1, d2, d3 // coefficients of the change
	h := series{d0, d1, d2, d3}
	m := 1.0
	for ; m < maxTerms; m++ {
		b += f.step
		t0, t1 := term(m)
		// Coefficients, as series, of tD, of the next D, and of the factor of the change.
		e0, e1 := t0*d0, t0*d1+t1*d0
		e2, e3 := t0*d2+t1*d1, t0*d3+t1*d2
		d0 = 1 / (b + e0)
		r := -(b1 + e1) * d0
		d1 = r * d0
		u0, u1 := -e0*d0, -(e0*d1 + e1*d0)
		d2 = r*d1 - e2*d0*d0
		d3 = r*d2 - (e2*d1+e3*d0)*d0
		u2 := -(e0*d2 + e1*d1 + e2*d0)
		u3 := -(e0*d3 + e1*d2 + e2*d1 + e3*d0)
		c3 = c0*u3 + c1*u2 + c2*u1 + c3*u0
		c2 = c0*u2 + c1*u1 + c2*u0
		c1 = c0*u1 + c1*u0
		c0 *= u0
		h = h.add(series{c0, c1, c2, c3})
		// ≤, because both sides may underflow to 0.
		if math.Abs(c0)+f.scale*(math.Abs(c1)+f.scale*(math.Abs(c2)+f.scale*math.Abs(c3))) <= 1e-17*h[0] {
			break
		}
	}
	return h, int(m)
}

// value1 is value up to the first coefficient only.
func (f *fraction) value1(term func(m float64) (t0, t1 float64)) (series, int) {
	b, b1 := f.denominator[0], f.denominator[1]
	d0 := 1 / b
	d1 := -b1 * d0 * d0
	c0, c1 := d0, d1
	h0, h1 := d0, d1
	m := 1.0
	for ; m < maxTerms; m++ {
		b += f.step
		t0, t1 := term(m)
		e0, e1 := t0*d0, t0*d1+t1*d0
		d0 = 1 / (b + e0)
		d1 = -(b1 + e1) * d0 * d0
		u0 := -e0 * d0
		c1 = c0*-(e0*d1+e1*d0) + c1*u0
		c0 *= u0
		h0 += c0
		h1 += c1
		if math.Abs(c0)+f.scale*math.Abs(c1) <= 1e-17*h0 {
			break
		}
	}
	return series{h0, h1}, int(m)
}

func incompleteGammaOrder(n, a, x float64, upper bool) float64 {
	switch {
	case !(a > 0) || !(x >= 0) || n < 0 || n > 3 || n != math.Floor(n) || math.IsInf(a, 1):
		return math.NaN()
	case x == 0 || math.IsInf(x, 1):
		if n == 0 && (x == 0) != upper {
			return math.Inf(-1)
		}
		return 0
	}
	return incompleteGamma(int(n), a, x, upper) * [...]float64{1, 1, 2, 6}[int(n)]
}

// LogGammaP returns the n-th derivative with respect to a, n ≤ 3, of log P(a, x), where P is the
// regularised lower incomplete gamma function.
func LogGammaP(n, a, x float64) float64 { return incompleteGammaOrder(n, a, x, false) }

// LogGammaQ returns the n-th derivative with respect to a, n ≤ 3, of log Q(a, x), where Q(a, x) = 1
// - P(a, x).
func LogGammaQ(n, a, x float64) float64 { return incompleteGammaOrder(n, a, x, true) }
