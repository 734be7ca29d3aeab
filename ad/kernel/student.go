package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// studentTail returns the logarithm of the probability of exceeding t > 0 under Student's
// distribution, ½ I_x(ν/2, ½) with x = ν/(ν+t²), and its derivative with respect to ν.
func studentTail(t, nu float64) (l, dnu float64) {
	s := nu + t*t
	switch {
	case t == 0:
		return -math.Ln2, 0
	case math.IsInf(s, 1) && math.IsInf(t*t, 1) && t > 1e10*math.Sqrt(nu):
		// t² overflows: the leading term of the tail, which is proportional to t^-ν.
		log := routines.Log(t) - 0.5*routines.Log(nu)
		return -routines.Log(nu) - routines.Lbeta(nu/2, 0.5) - nu*log, 0.5 - 1/nu + 0.5*routines.DigammaRise(nu/2, 0.5) - log
	case nu >= 2*largeBeta:
		return largeStudentTail(t, nu)
	}
	x, y := nu/s, t*t/s
	i := incompleteBeta(x, y, nu/2, 0.5, true)
	// ∂I/∂x·dx/dν, where y^(-½) was cancelled against dx/dν = y/s.
	dx := math.Exp((nu/2-1)*routines.Log(x)+0.5*routines.Log(y)-routines.Lbeta(nu/2, 0.5)-i[0]) / s
	return i[0] - math.Ln2, 0.5*i[1] + dx
}

// largeStudentTail is studentTail for many degrees of freedom. It integrates the density, and the
// density times the score of ν, which is the derivative. The incomplete beta function would give
// the derivative as a difference of far larger numbers.
func largeStudentTail(t, nu float64) (l, dnu float64) {
	// The score of ν at the square w = t² is half of ψ((ν+1)/2) - ψ(ν/2) - 1/ν - log(1+u) +
	// (1+1/ν)u/(1+u) with u = w/ν. The first three terms, ψ(x+½) - ψ(x) - 1/(2x) at x = ν/2, have
	// an asymptotic expansion.
	r := 4 / (nu * nu)
	constant := r * (0.125 + r*(-0.015625+r*(0.0078125-r*0.00830078125)))
	score := func(u float64) float64 {
		return 0.5 * (constant - log1pMinus(u) - u*(u-1/nu)/(1+u))
	}
	if t < 1.5 {
		// Subtract the probability between 0 and t from ½.
		var whole, scored float64
		for _, node := range Legendre28 {
			v := t * node[0]
			u := v * v / nu
			w := node[1] * math.Exp(-0.5*(nu+1)*math.Log1p(u))
			whole += w
			scored += w * score(u)
		}
		f := t * math.Exp(-routines.Lbeta(nu/2, 0.5)) / math.Sqrt(nu)
		tail := 0.5 - f*whole
		return routines.Log(tail), -f * scored / tail
	}
	s := nu + t*t
	x, y := nu/s, t/s*t
	a, b := nu/2, 0.5
	d := fromMean(x, y, a, b)
	tail := logitTail{x: x, y: y, a: a, b: b, n: a + b, slope: -d}
	end := tail.end()
	var whole, scored float64
	for _, node := range Legendre28 {
		v := end * node[0]
		h, _, _ := tail.logs(v)
		w := node[1] * math.Exp(-h)
		whole += w
		scored += w * score(t*t/nu*math.Exp(v))
	}
	return logBetaTerm(x, y, a, b, d) + routines.Log(end*whole) - math.Ln2, scored / whole
}

// LogStudentCDF returns the logarithm of the distribution function of Student's distribution with
// nu degrees of freedom.
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

// LogStudentCDFNu returns the derivative of LogStudentCDF with respect to nu.
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
