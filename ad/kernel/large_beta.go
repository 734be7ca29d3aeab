package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// This file: incomplete beta functions with a large shape, as integrals over the logit of the
// variable. From x away from the mean, the integrand is exp(-h(v)) for v ≥ 0, where h is convex
// with h(0) = 0 and h′(0) ≥ 0. It has no second peak and no plateau. So one Gauss-Legendre rule on
// the range where h ≤ 40 gives all digits, whatever the shapes. Derivatives with respect to the
// shapes are means of the logarithms of x and 1-x, which cancel no more than the result itself.

// largeBeta is the size of a shape from which these integrals replace the continued fraction.
const largeBeta = 100

// largeIncompleteBeta is incompleteBeta if a shape is at least largeBeta.
func largeIncompleteBeta(x, y, a, b float64, shapes bool) dual {
	n, d := a+b, fromMean(x, y, a, b)
	switch {
	case a < 1 && n*x < 1:
		lower, upper, _ := betaSeries(x, a, b)
		if lower[0] < -math.Ln2 {
			return lower
		}
		return upper.complement()
	case b < 1 && n*y < 1:
		upper, lower, _ := betaSeries(y, b, a)
		if upper[0] < -math.Ln2 {
			return upper.swap().complement()
		}
		return lower.swap()
	case d <= 0:
		return lowerBeta(x, y, a, b, d, shapes)
	}
	return lowerBeta(y, x, b, a, -d, shapes).swap().complement()
}

// logitTail is the integrand of a lower tail, as a function of v. The variable t of the beta
// distribution is given by logit t = logit x - v.
type logitTail struct {
	x, y, a, b, n, slope float64 // slope is h′(0) = a - (a+b)x
}

// logs returns h(v), log(x/t) and log((1-t)/y) at v. The last two add up to v.
func (l *logitTail) logs(v float64) (h, down, up float64) {
	if l.x <= l.y {
		e := math.Expm1(-v)
		up = -math.Log1p(l.x * e)
		return l.slope*v + l.n*(l.x*expMinus(-v, e)+log1pMinus(l.x*e)), v - up, up
	}
	e := math.Expm1(v)
	down = math.Log1p(l.y * e)
	if l.y*e > 1 {
		return l.slope*v + l.n*(down-l.y*v), down, v - down
	}
	return l.slope*v + l.n*(l.y*expMinus(v, e)+log1pMinus(l.y*e)), down, v - down
}

// expMinus returns exp(v) - 1 - v, given e = exp(v) - 1.
func expMinus(v, e float64) float64 {
	if math.Abs(v) > 0.5 {
		return e - v
	}
	s := 0.0
	for k := 14.; k >= 3; k-- {
		s = (1 + s) * v / k
	}
	return 0.5 * v * v * (1 + s)
}

// end returns a v at which h is between 38 and 44: beyond it, the integrand is negligible.
func (l *logitTail) end() float64 {
	const want, most = 40, 44
	spread := l.n * l.x * l.y
	// Start from the parabola with the slope and curvature of h at 0.
	v := want * 2 / (l.slope + math.Sqrt(l.slope*l.slope+2*want*spread))
	for range 100 {
		v = min(v, 700)
		h, down, up := l.logs(v)
		if h > want-2 && h < most {
			break
		}
		// The derivative of h is slope + n(x-t).
		slope := l.slope + l.n*l.x*-math.Expm1(-down)
		if l.x > l.y {
			slope = l.slope + l.n*l.y*math.Expm1(up)
		}
		v -= (h - want) / slope
	}
	return v
}

// lowerBeta returns log I_x(a, b) for x up to the mean. d = (a+b)x - a is at most 0.
func lowerBeta(x, y, a, b, d float64, shapes bool) dual {
	l := logitTail{x: x, y: y, a: a, b: b, n: a + b, slope: -d}
	end := l.end()
	rule := legendre48[:]
	if a >= 10 {
		rule = Legendre28[:]
	}
	var whole, down, up float64
	for _, node := range rule {
		h, p, q := l.logs(end * node[0])
		w := node[1] * math.Exp(-h)
		whole += w
		down += w * p
		up += w * q
	}
	value := logBetaTerm(x, y, a, b, d) + routines.Log(end*whole)
	if !shapes {
		return dual{value}
	}
	return dual{
		value,
		logOverMean(x, a, l.n, d) - down/whole,
		logOverMean(y, b, l.n, -d) + up/whole,
	}
}

// logOverMean returns log x + ψ(n) - ψ(a), given d = nx - a.
func logOverMean(x, a, n, d float64) float64 {
	if a < 10 {
		return routines.Log(x*n) + digammaMinusLog(n) - routines.Digamma(a)
	}
	l := 0.0
	if math.Abs(d) < 0.5*a {
		l = math.Log1p(d / a)
	} else {
		l = routines.Log(x * (n / a))
	}
	return l + digammaMinusLog(n) - digammaMinusLog(a)
}
