package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// Inverses of distribution functions.

// InvLogPhi is the x at which log Φ(x) is l ≤ 0.
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
	// log Φ is concave and smooth: Newton's method from here converges at once.
	for range 6 {
		d := (routines.LogPhi(x) - l) / routines.PhiRatio(x)
		x -= d
		if math.Abs(d) <= 1e-16*math.Abs(x) {
			break
		}
	}
	return x
}

// rootOf solves f(y) = 0 for increasing f with derivative, from the bracket lo,
// hi: Newton's method, halving the bracket where it does not help.
func rootOf(lo, hi float64, f func(y float64) (value, slope float64)) float64 {
	y := 0.5 * (lo + hi)
	for range 200 {
		v, d := f(y)
		if v == 0 {
			return y
		}
		if v < 0 {
			lo = y
		} else {
			hi = y
		}
		next := y - v/d
		if !(next > lo && next < hi) {
			next = 0.5 * (lo + hi)
		}
		if math.Abs(next-y) <= 2e-16*math.Abs(y) || next == lo || next == hi {
			return next
		}
		y = next
	}
	return y
}

// InvBetaI is the x at which I_x(a, b) is p.
func InvBetaI(p, a, b float64) float64 {
	switch {
	case !(p >= 0 && p <= 1) || !(a > 0) || !(b > 0) || math.IsInf(a, 1) || math.IsInf(b, 1):
		return math.NaN()
	case p == 0 || p == 1:
		return p
	}
	// In t = log(x/(1-x)), on the side of the smaller tail.
	lbeta := routines.Lbeta(a, b)
	upper := p > lowerBetaHalf(a, b)
	if upper {
		p, a, b = 1-p, b, a
	}
	logP := routines.Log(p)
	t := rootOf(-745*max(1, 1/a), 40, func(t float64) (float64, float64) {
		logX, logY := -Log1pExp(-t), -Log1pExp(t)
		x := math.Exp(logX)
		if x == 0 { // the leading term
			return a*logX - routines.Log(a) - lbeta - logP, a
		}
		l := incompleteBeta(x, math.Exp(logY), a, b, false)[0]
		return l - logP, math.Exp(a*logX + b*logY - lbeta - l)
	})
	if upper {
		t = -t
	}
	return InvLogit(t)
}

// lowerBetaHalf is I_x(a, b) at x = ½.
func lowerBetaHalf(a, b float64) float64 { return math.Exp(incompleteBeta(0.5, 0.5, a, b, false)[0]) }

// StudentQuantile is the t at which Student's distribution function with nu
// degrees of freedom is p.
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
	// In s = log(-t). Near the centre from 1 - 2p, which is exact there, as
	// I_y(½, ν/2) with y = t²/(ν+t²).
	if p > 0.25 {
		logC := routines.Log(1 - 2*p)
		s := rootOf(-745, 710, func(s float64) (float64, float64) {
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
		if s < 354 { // t² is a number
			return -math.Exp(s)
		}
	}
	// The tail is ½ I_x(ν/2, ½), x = 1 - y.
	logP := routines.Log(p)
	if nu < 1.1 { // even the largest double may leave more than p
		if l, _ := studentTail(math.MaxFloat64, nu); l > logP {
			return math.Inf(-1)
		}
	}
	s := rootOf(-745, 710, func(s float64) (float64, float64) {
		t := math.Exp(s)
		l, _ := studentTail(t, nu)
		// The density of the logarithm over the tail.
		log1p := math.Log1p(t * t / nu)
		if math.IsInf(t*t, 1) {
			log1p = 2*s - routines.Log(nu)
		}
		d := math.Exp(s - 0.5*(nu+1)*log1p - routines.Lbeta(nu/2, 0.5) - 0.5*routines.Log(nu) - l)
		return logP - l, d
	})
	return -math.Exp(s)
}
