package kernel

import "math"

// series is a function of one variable near a point: the coefficients of its
// Taylor polynomial, of which the k-th is the k-th derivative over k!.
type series [4]float64

// mul is the product up to the n-th coefficient; a value alone does not pay for
// derivatives, here and below.
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

// log is log s; the constant coefficient is given, as it may be known better.
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

// variable is x itself.
func variable(x float64) series { return series{x, 1} }

// log1pMinus is log(1+x) - x without cancellation near 0, from
// log(1+x) = 2 artanh r with r = x/(2+x), by which x = 2r/(1-r).
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

// logPoisson is a log x - x - log Γ(a+1), for large a without cancellation.
func logPoisson(a, x float64) float64 {
	if a < 10 {
		return a*math.Log(x) - x - Lgamma(a+1)
	}
	main := a * log1pMinus((x-a)/a)
	if x < 0.4*a {
		main = a*math.Log(x/a) - (x - a) // (x-a)/a is rounded to near -1
	}
	return main - 0.5*math.Log(2*math.Pi*a) - stirlingRest(a)
}

// LogPoisson is the logarithm of xᵃ e⁻ˣ/Γ(a+1), the mass at a of the Poisson
// distribution of mean x extended to real a.
func LogPoisson(a, x float64) float64 {
	if !(a >= 0) || !(x >= 0) {
		return math.NaN()
	}
	return logPoisson(a, x)
}

// powerOverGamma is log(xᵃ/Γ(a+1)) as a function of a, up to the n-th coefficient and
// but for the constant one, which is given.
func powerOverGamma(n int, a, x, c float64) series {
	s := series{c}
	if n > 0 {
		s[1] = math.Log(x) - Digamma(a+1)
	}
	for k, f := 2, -2.0; k <= n; k, f = k+1, f*float64(k+1) {
		s[k] = Polygamma(float64(k-1), a+1) / f
	}
	return s
}

// lgamma1p is log Γ(1+a) for |a| ≤ 0.2, by its Taylor series (DLMF 5.7.3), with
// the relative accuracy that Lgamma(1+a) lacks.
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

// smallGamma is Q(a, x) for a ≤ 0.2 and x < a+1, where Q is small, as a
// function of a: Q = -(e^L - 1) - a e^L Σ (-x)ᵏ/(k! (a+k)) with L = a log x - log
// Γ(1+a) (DLMF 8.7.1), the sum from k = 1.
func smallGamma(n int, a, x float64) series {
	l := powerOverGamma(n, a, x, a*math.Log(x)-lgamma1p(a))
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

// incompleteGamma is the n-th coefficient of log P(a, x), the regularised lower
// incomplete gamma function, or with upper of log Q(a, x), as functions of a. Where Q
// is not small it is P by the series xᵃe⁻ˣ/Γ(a+1) Σ xᵐ/((a+1)…(a+m)) (DLMF 8.7.1),
// elsewhere Q by its continued fraction (DLMF 8.9.2); the other of the two is its
// complement. The series takes less than the fraction near a+1, and costs its
// complement at most two digits there; for large a it would cost the derivatives more.
func incompleteGamma(n int, a, x float64, upper bool) float64 {
	if a <= 0.2 && x < a+1 {
		q := smallGamma(n, a, x)
		if upper {
			return q.log(n, math.Log(q[0]))[n]
		}
		if q[0] < 0.5 { // otherwise 1 - q cancels
			p := q.scale(-1)
			p[0] += 1
			return p.log(n, math.Log1p(-q[0]))[n]
		}
	}
	// What xᵃe⁻ˣ/Γ(a+1) is multiplied by.
	var factor series
	bySeries := x < a+1 || a > 0.2 && x < a+1+min(math.Sqrt(a+1), 5)
	if bySeries {
		factor = lowerSum(n, a, x)
	} else {
		factor = variable(a).mul(n, upperFraction(n, a, x))
	}
	if upper != bySeries {
		if n == 0 {
			return logPoisson(a, x) + math.Log(factor[0])
		}
		return powerOverGamma(n, a, x, 0)[n] + factor.log(n, 0)[n]
	}
	rest := powerOverGamma(n, a, x, logPoisson(a, x)).exp(n).mul(n, factor).scale(-1)
	log := math.Log1p(rest[0])
	rest[0] += 1
	return rest.log(n, log)[n]
}

// mostTerms bounds the terms of a series or fraction.
const mostTerms = 1_000_000

// lowerSum is Σ xᵐ/((a+1)…(a+m)) as a function of a. The logarithm of a term has
// the derivatives -Σ1/(a+i), Σ1/(a+i)², …, so that a term takes one division
// whatever n, and all terms of a derivative have one sign.
func lowerSum(n int, a, x float64) series {
	if n == 0 {
		sum, t := 1.0, 1.0
		for m := 1.; m < mostTerms; m++ {
			t *= x / (a + m)
			if sum += t; t < 1e-17*sum && m > x {
				break
			}
		}
		return series{sum}
	}
	s0, s1, s2, s3 := 1.0, 0.0, 0.0, 0.0
	h1, h2, h3, t := 0.0, 0.0, 0.0, 1.0
	for m := 1.; m < mostTerms; m++ {
		r := 1 / (a + m)
		t *= x * r
		s0 += t
		h1 += r
		last := t * h1
		s1 += last
		sum := s1
		if n > 1 {
			h2 += r * r
			last = t * (h1*h1 + h2)
			s2 += last
			sum = s2
		}
		if n > 2 {
			h3 += r * r * r
			last = t * (h1*(h1*h1+3*h2) + 2*h3)
			s3 += last
			sum = s3
		}
		// Beyond x the terms fall faster than by halves soon after.
		if last < 1e-17*sum && m > x {
			break
		}
	}
	return series{s0, -s1, s2 / 2, -s3 / 6}
}

// upperFraction is 1/(x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - …))) as a function of
// a, by Steed's method: D = 1/(b + aD) and the change of the fraction by a term,
// -aD₋₁D times that by the one before.
func upperFraction(n int, a, x float64) series {
	if n < 2 {
		return upperFraction1(a, x)
	}
	b := x + 1 - a
	d0 := 1 / b
	d1 := d0 * d0 // coefficients of D
	d2 := d1 * d0
	d3 := d2 * d0
	c0, c1, c2, c3 := d0, d1, d2, d3 // of the change
	h := series{d0, d1, d2, d3}
	for m := 1.; m < mostTerms; m++ {
		b += 2
		f := m * (a - m)
		// Of the term times D, of the next D, and of the factor of the change.
		e0, e1 := f*d0, f*d1+m*d0
		e2, e3 := f*d2+m*d1, f*d3+m*d2
		d0 = 1 / (b + e0)
		r := (1 - e1) * d0
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
		if math.Abs(c0)+math.Abs(c1)+math.Abs(c2)+math.Abs(c3) < 1e-17*h[0] {
			break
		}
	}
	return h
}

// upperFraction1 is upperFraction up to the first coefficient.
func upperFraction1(a, x float64) series {
	b := x + 1 - a
	d0 := 1 / b
	d1 := d0 * d0
	c0, c1 := d0, d1
	h0, h1 := d0, d1
	for m := 1.; m < mostTerms; m++ {
		b += 2
		f := m * (a - m)
		e0, e1 := f*d0, f*d1+m*d0
		d0 = 1 / (b + e0)
		d1 = (1 - e1) * d0 * d0
		u0 := -e0 * d0
		c1 = c0*-(e0*d1+e1*d0) + c1*u0
		c0 *= u0
		h0 += c0
		h1 += c1
		if math.Abs(c0)+math.Abs(c1) < 1e-17*h0 {
			break
		}
	}
	return series{h0, h1}
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

// LogGammaP is the n-th derivative with respect to a, n ≤ 3, of log P(a, x), P
// the regularised lower incomplete gamma function.
func LogGammaP(n, a, x float64) float64 { return incompleteGammaOrder(n, a, x, false) }

// LogGammaQ is LogGammaP of Q(a, x) = 1 - P(a, x).
func LogGammaQ(n, a, x float64) float64 { return incompleteGammaOrder(n, a, x, true) }

// dual is a number with its derivatives with respect to two parameters.
type dual [3]float64

func (s dual) mul(t dual) dual {
	return dual{s[0] * t[0], s[1]*t[0] + s[0]*t[1], s[2]*t[0] + s[0]*t[2]}
}

func (s dual) div(t dual) dual {
	q := s[0] / t[0]
	return dual{q, (s[1] - q*t[1]) / t[0], (s[2] - q*t[2]) / t[0]}
}

func (s dual) add(t dual) dual { return dual{s[0] + t[0], s[1] + t[1], s[2] + t[2]} }

// LogBetaTerm is log xᵃ(1-x)ᵇ/B(a, b).
func LogBetaTerm(x, a, b float64) float64 {
	if !(x >= 0 && x <= 1) || !(a > 0) || !(b > 0) {
		return math.NaN()
	}
	return logBetaTerm(x, 1-x, a, b)
}

// logs are log x and log y for x + y = 1, of which the lesser is exact.
func logs(x, y float64) (logX, logY float64) {
	if x > y {
		return math.Log1p(-y), math.Log(y)
	}
	return math.Log(x), math.Log1p(-x)
}

// logBetaTerm is LogBetaTerm, y being 1-x. For large a and b Stirling's series
// is put together by hand (as in Loader's binomial mass), so that nothing of the
// size of a log a cancels.
func logBetaTerm(x, y, a, b float64) float64 {
	if a < 10 || b < 10 {
		logX, logY := logs(x, y)
		return a*logX + b*logY - Lbeta(a, b)
	}
	n, d := a+b, b*x-a*y // d = nx - a = b - ny
	part := func(a, d, x float64) float64 {
		if d < -0.6*a { // d/a is rounded to near -1
			return a*math.Log(x*(n/a)) - d
		}
		return a * log1pMinus(d/a)
	}
	rest := stirlingRest(n) - stirlingRest(a) - stirlingRest(b)
	return part(a, d, x) + part(b, -d, y) + 0.5*math.Log(a/n*b) - logSqrt2Pi + rest
}

// incompleteBeta is log I_x(a, b), the regularised incomplete beta function,
// with its derivatives with respect to a and b; y is 1-x. It is the continued
// fraction DLMF 8.17.22 where that converges fast, else the complement of
// I_y(b, a).
func incompleteBeta(x, y, a, b float64) dual {
	const most = 1_000_000
	if nan := x + y + a + b; math.IsNaN(nan) { // of which the fraction would never be done
		return dual{nan, nan, nan}
	}
	if x > (a+1)/(a+b+2) {
		c := incompleteBeta(y, x, b, a)
		// log(1 - e^c), derivative -c'/(e^-c - 1)
		f := -1 / math.Expm1(-c[0])
		return dual{Log1mExp(c[0]), f * c[2], f * c[1]}
	}
	va, vb := dual{a, 1, 0}, dual{b, 0, 1}
	sum := va.add(vb)
	one := dual{1}
	c := dual{1}
	d := one.div(one.add(sum.mul(dual{-x}).div(va.add(one))))
	h := d
	for k := 1.; k < most; k++ {
		va2k := va.add(dual{2 * k})
		step := func(an dual) dual {
			d = one.div(one.add(an.mul(d)))
			c = one.add(an.div(c))
			delta := c.mul(d)
			h = h.mul(delta)
			return delta
		}
		// k(b-k)x/((a+2k-1)(a+2k))
		step(vb.add(dual{-k}).mul(dual{k * x}).div(va2k.add(dual{-1}).mul(va2k)))
		// -(a+k)(a+b+k)x/((a+2k)(a+2k+1))
		delta := step(va.add(dual{k}).mul(sum.add(dual{k})).mul(dual{-x}).div(va2k.mul(va2k.add(one))))
		// Rounding keeps factors an ulp or two from 1, and derivatives, which are
		// of the size of 1/a for small a, as far from 0 for their size.
		const ulps = 4e-16
		if math.Abs(delta[0]-1) < ulps && math.Abs(delta[1]) < ulps*(1+math.Abs(h[1]/h[0])) && math.Abs(delta[2]) < ulps*(1+math.Abs(h[2]/h[0])) {
			break
		}
	}
	logX, logY := logs(x, y)
	return dual{
		logBetaTerm(x, y, a, b) - math.Log(a) + math.Log(h[0]),
		logX - 1/a + PolygammaRise(0, a, b) + h[1]/h[0],
		logY + PolygammaRise(0, b, a) + h[2]/h[0],
	}
}

// incompleteBetaPart is log I_x(a, b) or, with upper, log(1 - I_x(a, b)), for
// part 0, and its derivatives with respect to a and b for parts 1 and 2.
func incompleteBetaPart(part int, x, a, b float64, upper bool) float64 {
	switch {
	case part == 0 && x >= 0 && x <= 1 && min(a, b) == 0 && max(a, b) > 0: // all mass is at one end
		if (a == 0) == upper {
			return math.Inf(-1)
		}
		return 0
	case !(x >= 0 && x <= 1) || !(a > 0) || !(b > 0) || math.IsInf(a, 1) || math.IsInf(b, 1):
		return math.NaN()
	case (x == 0 && !upper || x == 1 && upper) && part == 0:
		return math.Inf(-1)
	case x == 0 || x == 1:
		return 0
	case upper:
		d := incompleteBeta(1-x, x, b, a)
		return dual{d[0], d[2], d[1]}[part]
	}
	return incompleteBeta(x, 1-x, a, b)[part]
}

// LogBetaI is log I_x(a, b), I the regularised incomplete beta function; LogBetaIa
// and LogBetaIb are its derivatives with respect to a and b.
func LogBetaI(x, a, b float64) float64 { return incompleteBetaPart(0, x, a, b, false) }

// LogBetaIa is the derivative of LogBetaI with respect to a.
func LogBetaIa(x, a, b float64) float64 { return incompleteBetaPart(1, x, a, b, false) }

// LogBetaIb is the derivative of LogBetaI with respect to b.
func LogBetaIb(x, a, b float64) float64 { return incompleteBetaPart(2, x, a, b, false) }

// LogBetaIc is log(1 - I_x(a, b)) = log I_{1-x}(b, a), for x whose difference
// from 1 a float64 does not hold; LogBetaIca and LogBetaIcb are its derivatives.
func LogBetaIc(x, a, b float64) float64 { return incompleteBetaPart(0, x, a, b, true) }

// LogBetaIca is the derivative of LogBetaIc with respect to a.
func LogBetaIca(x, a, b float64) float64 { return incompleteBetaPart(1, x, a, b, true) }

// LogBetaIcb is the derivative of LogBetaIc with respect to b.
func LogBetaIcb(x, a, b float64) float64 { return incompleteBetaPart(2, x, a, b, true) }

// studentTail is the logarithm of the probability of more than t ≥ 0 under
// Student's distribution, ½ I_x(ν/2, ½) with x = ν/(ν+t²), and its derivative
// with respect to ν.
func studentTail(t, nu float64) (l, dnu float64) {
	s := nu + t*t
	if t == 0 {
		return -math.Ln2, 0
	}
	if math.IsInf(s, 1) {
		// t² overflows: the leading term of the tail, which is proportional to t^-ν.
		c := 0.5*nu*math.Log(nu) - math.Log(nu) - Lbeta(nu/2, 0.5)
		return c - nu*math.Log(t), math.NaN()
	}
	x, y := nu/s, t*t/s
	i := incompleteBeta(x, y, nu/2, 0.5)
	// ∂I/∂x·dx/dν, with y^(-½) cancelled against dx/dν = y/s.
	dx := math.Exp((nu/2-1)*math.Log(x)+0.5*math.Log(y)-Lbeta(nu/2, 0.5)-i[0]) / s
	return i[0] - math.Ln2, 0.5*i[1] + dx
}

// LogStudentCDF is the logarithm of the distribution function of Student's
// distribution with nu degrees of freedom.
func LogStudentCDF(t, nu float64) float64 {
	switch {
	case math.IsNaN(t) || !(nu > 0):
		return math.NaN()
	case math.IsInf(t, -1):
		return t
	case t < 0:
		l, _ := studentTail(-t, nu)
		return l
	case math.IsInf(t, 1):
		return 0
	}
	l, _ := studentTail(t, nu)
	return math.Log1p(-math.Exp(l))
}

// LogStudentCDFNu is the derivative of LogStudentCDF with respect to nu.
func LogStudentCDFNu(t, nu float64) float64 {
	switch {
	case math.IsNaN(t) || !(nu > 0):
		return math.NaN()
	case math.IsInf(t, 0):
		return 0
	case t < 0:
		_, d := studentTail(-t, nu)
		return d
	}
	l, d := studentTail(t, nu)
	return -d / math.Expm1(-l)
}
