package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// This file: inverses of distribution functions (quantiles).

// InvLogPhi returns the x at which log Φ(x) is l ≤ 0.
func InvLogPhi(l float64) float64 {
	switch {
	case !(l <= 0):
		return math.NaN()
	case l == 0:
		return math.Inf(1)
	case math.IsInf(l, -1):
		return l
	case l > -1e-2:
		return -routines.InvPhi(-math.Expm1(l))
	}
	x := 0.0
	if l > -600 {
		x = routines.InvPhi(math.Exp(l))
	} else {
		x = -math.Sqrt(-2 * l)
	}
	// log Φ is concave and smooth, so Newton's method converges within a few steps from here.
	for range 6 {
		d := (routines.LogPhi(x) - l) / routines.PhiRatio(x)
		x -= d
		if math.Abs(d) <= 1e-16*math.Abs(x) {
			break
		}
	}
	return x
}

// rootOf solves f(y) = 0 for y, the logarithm of a number. f increases, and returns its derivative
// too. It starts with the bracket from lo to hi and uses Newton's method, and bisection where that
// makes no progress. It stops when a step is due to rounding: noise is the rounding error of f. It
// returns hi if f is not positive there.
func rootOf(lo, hi, noise float64, f func(y float64) (value, slope float64)) float64 {
	if v, _ := f(hi); v <= 0 {
		return hi
	}
	y, before := 0.5*(lo+hi), math.Inf(1)
	for range maxTerms {
		v, d := f(y)
		if math.Abs(v) <= noise {
			return y
		}
		if v < 0 {
			lo = y
		} else {
			hi = y
		}
		step := v / d
		size := math.Abs(step)
		if size >= 0.5*before && size < 4e-14*max(1, math.Abs(y)) {
			return y
		}
		next := y - step
		if !(next > lo && next < hi) {
			next = 0.5 * (lo + hi)
		}
		if math.Abs(next-y) <= 2e-16*max(1, math.Abs(y)) || next == lo || next == hi {
			return next
		}
		y, before = next, size
	}
	return y
}

// InvBetaI returns the x at which I_x(a, b) is p.
func InvBetaI(p, a, b float64) float64 {
	switch {
	case !(p >= 0 && p <= 1) || !(a > 0) || !(b > 0) || math.IsInf(a, 1) || math.IsInf(b, 1):
		return math.NaN()
	case p == 0 || p == 1:
		return p
	}
	// Solve for t = log(x/(1-x)), on the side of the smaller tail.
	upper := p > 0.5
	if upper {
		p, a, b = 1-p, b, a
	}
	logP := routines.Log(p)
	scale := 0.0 // log aB(a, b), which is tiny for a tiny a
	if a <= 1 {
		scale = lgammaNear1(a) - logRise(b, a)
	} else {
		scale = routines.Log(a) + routines.Lbeta(a, b)
	}
	t := rootOf(-745*max(1, 1/a), 40, -2e-16*logP, func(t float64) (float64, float64) {
		logX, logY := -Log1pExp(-t), -Log1pExp(t)
		x := math.Exp(logX)
		if x == 0 { // x underflows: the leading term of log I is exact
			return a*logX - scale - logP, a
		}
		y := math.Exp(logY)
		l := incompleteBeta(x, y, a, b, false)[0]
		// Far out, large logarithms cancel in the slope. For the integrand exp(-h) of the tail it
		// is known to lie between h′(0) and h′(0) + √h″, and not above a.
		d := fromMean(x, y, a, b)
		most := max(-d, 0) + math.Sqrt((a+b)*min(x, 0.5)*max(y, 0.5))
		return l - logP, min(max(math.Exp(logBetaTerm(x, y, a, b, d)-l), -d), most, a)
	})
	if upper {
		t = -t
	}
	return InvLogit(t)
}

// StudentQuantile returns the t at which Student's distribution function with nu degrees of freedom
// is p.
func StudentQuantile(p, nu float64) float64 {
	switch {
	case !(p >= 0 && p <= 1) || !(nu > 0):
		return math.NaN()
	case p == 0:
		return math.Inf(-1)
	case p == 1:
		return math.Inf(1)
	case p == 0.5:
		return 0
	case p > 0.5:
		return -StudentQuantile(1-p, nu)
	}
	// Solve for s = log(-t). Near the centre, use 1 - 2p, which has no rounding error there. It
	// equals I_y(½, ν/2) with y = t²/(ν+t²).
	if p > 0.25 {
		logC := routines.Log(1 - 2*p)
		s := rootOf(-745, 710, -2e-16*logC, func(s float64) (float64, float64) {
			t2 := math.Exp(2 * s)
			if t2 == 0 {
				return s - 0.5*routines.Log(nu) + math.Ln2 - routines.Lbeta(nu/2, 0.5) - logC, 1
			}
			y, x := t2/(nu+t2), nu/(nu+t2)
			if math.IsInf(t2, 1) {
				y, x = 1, 0
			}
			l := incompleteBeta(y, x, 0.5, nu/2, false)[0]
			d := math.Exp(math.Ln2 + s - 0.5*(nu+1)*math.Log1p(t2/nu) - routines.Lbeta(nu/2, 0.5) - 0.5*routines.Log(nu) - l)
			return l - logC, d
		})
		if s < 354 { // t² does not overflow, so the root is accurate
			return -math.Exp(s)
		}
	}
	// The tail is ½ I_x(ν/2, ½), x = 1 - y.
	logP := routines.Log(p)
	if nu < 1.1 { // the tail beyond the largest float64 may have a probability above p
		if l, _ := studentTail(math.MaxFloat64, nu); l > logP {
			return math.Inf(-1)
		}
	}
	s := rootOf(-745, 710, -2e-16*logP, func(s float64) (float64, float64) {
		t := math.Exp(s)
		l, _ := studentTail(t, nu)
		// The density of the logarithm divided by the tail.
		log1p := math.Log1p(t * t / nu)
		if math.IsInf(t*t, 1) {
			log1p = 2*s - routines.Log(nu)
		}
		d := math.Exp(s - 0.5*(nu+1)*log1p - routines.Lbeta(nu/2, 0.5) - 0.5*routines.Log(nu) - l)
		return logP - l, d
	})
	return -math.Exp(s)
}
