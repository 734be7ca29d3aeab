package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// This file: the derivative of the negative binomial distribution function with respect to the
// precision. With mean μ and precision φ, the function at n-1 is I_x(φ, n) with x = φ/(φ+μ). This
// is the probability that λ exceeds μ, if φ/(φ+λ) has the distribution Beta(φ, n).
//
// For large φ, the derivative falls as 1/φ². It is the sum of the derivative through the shape φ
// and that through x, which fall as 1/φ and cancel. So it is computed as a mean of the score of φ
// over the tail, in which nothing cancels.

// digammaRest returns a part of the derivative of the log density of λ with respect to φ: the part
// that does not depend on λ. With w = (λ-n)/(φ+λ), that derivative is
//
//	log(1-w) + w + ψ(φ+n) - log(φ+n) - ψ(φ) + log φ.
//
// It uses the asymptotic expansion for φ ≥ 100.
func digammaRest(phi, n float64) float64 {
	i, j := 1/phi, 1/(phi+n)
	ii, jj := i*i, j*j
	s := 0.5 + (i+j)*(1./12-(ii+jj)*(1./120)+(ii*ii+ii*jj+jj*jj)*(1./252))
	return n * i * j * s
}

// failuresPhi returns the derivative with respect to φ of log I_x(φ, n) or, with upper, of log(1 -
// I_x(φ, n)).
func failuresPhi(mu, phi, n float64, upper bool) float64 {
	if !(mu > 0 && phi > 0 && n > 0) || math.IsInf(mu+phi, 1) || math.IsInf(n, 1) {
		return math.NaN()
	}
	x, y := phi/(mu+phi), mu/(mu+phi)
	if phi < largeBeta {
		// Add the derivatives through the shape and through x; that of x with respect to φ is xy/φ.
		l := incompleteBeta(x, y, phi, n, true)
		if upper {
			l = incompleteBeta(y, x, n, phi, true).swap()
		}
		term := math.Exp(logBetaTerm(x, y, phi, n, fromMean(x, y, phi, n))-l[0]) / phi
		if upper {
			term = -term
		}
		return l[1] + term
	}
	// Take the mean over the smaller tail. There logit x = log φ/λ is v away from its value at μ,
	// away from the mean.
	d := fromMean(x, y, phi, n)
	away := 1.0
	tail := logitTail{x: x, y: y, a: phi, b: n, n: phi + n, slope: -d}
	if d > 0 {
		away = -1
		tail = logitTail{x: y, y: x, a: n, b: phi, n: phi + n, slope: d}
	}
	end := tail.end()
	rule := legendre48[:]
	if tail.a >= 10 {
		rule = Legendre28[:]
	}
	rest := digammaRest(phi, n)
	var whole, scored float64
	for _, node := range rule {
		v := end * node[0]
		h, _, _ := tail.logs(v)
		w := node[1] * math.Exp(-h)
		whole += w
		lambda := mu * math.Exp(away*v)
		scored += w * (log1pMinus((n-lambda)/(phi+lambda)) + rest)
	}
	mean := scored / whole
	if upper == (d > 0) {
		return mean
	}
	l := logBetaTerm(tail.x, tail.y, tail.a, tail.b, -tail.slope) + routines.Log(end*whole)
	return -mean / math.Expm1(-l)
}

// LogFailuresPhi returns the derivative with respect to φ of log I_x(φ, n) for x = φ/(φ+μ), with μ
// and n fixed.
func LogFailuresPhi(mu, phi, n float64) float64 { return failuresPhi(mu, phi, n, false) }

// LogFailuresPhic returns the derivative with respect to φ of log(1 - I_x(φ, n)) for x = φ/(φ+μ),
// with μ and n fixed.
func LogFailuresPhic(mu, phi, n float64) float64 { return failuresPhi(mu, phi, n, true) }
