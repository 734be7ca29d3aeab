package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// LogBesselI returns log(e⁻ˣ I_v(x)), for v ≥ 0 and x ≥ 0, where I is the modified Bessel function
// of the first kind. The factor keeps the value small, so that ratios of Bessel functions can be
// computed from it.
//
// It uses a uniform expansion where v or x is large. Elsewhere it uses the power series Σ
// (x/2)^(2k+v)/(k! Γ(k+v+1)), summed from its greatest term in both directions.
func LogBesselI(v, x float64) float64 {
	switch {
	case !(v >= 0) || !(x >= 0):
		return math.NaN()
	case x == 0 && v == 0:
		return 0
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1) || math.IsInf(v, 1):
		return math.Inf(-1)
	case math.Hypot(v, x) >= uniformBessel:
		l, _ := largeBesselI(v, x)
		return l
	}
	peak := math.Floor((math.Hypot(v, x) - v) / 2)
	q := x * x / 4
	sum := 1.0
	for k, term := peak+1, 1.0; ; k++ {
		term *= q / (k * (k + v))
		sum += term
		if term < 1e-17*sum {
			break
		}
	}
	for k, term := peak, 1.0; k >= 1; k-- {
		term *= k * (k + v) / q
		sum += term
		if term < 1e-17*sum {
			break
		}
	}
	// The greatest term, scaled by e⁻ˣ, is the product of two Poisson probabilities with mean x/2.
	return logPoisson(peak, x/2) + logPoisson(peak+v, x/2) + routines.Log(sum)
}

// LogBesselIv returns the derivative of log I_v(x) with respect to v, for v ≥ 0 and x ≥ 0, by the
// same formulas. The derivative of the power series is log(x/2) minus the mean of ψ(k+v+1) over its
// terms; only differences of ψ are summed.
func LogBesselIv(v, x float64) float64 {
	switch {
	case !(v >= 0) || !(x >= 0):
		return math.NaN()
	case x == 0 || math.IsInf(v, 1):
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return 0
	case math.Hypot(v, x) >= uniformBessel:
		_, byV := largeBesselI(v, x)
		return byV
	}
	peak := math.Floor((math.Hypot(v, x) - v) / 2)
	q := x * x / 4
	sum, slope := 1.0, 0.0
	for k, term, rise := peak+1, 1.0, 0.0; ; k++ {
		term *= q / (k * (k + v))
		rise += 1 / (k + v)
		sum, slope = sum+term, slope+term*rise
		if term*(1+rise) < 1e-17*sum {
			break
		}
	}
	for k, term, rise := peak, 1.0, 0.0; k >= 1; k-- {
		term *= k * (k + v) / q
		rise -= 1 / (k + v)
		sum, slope = sum+term, slope+term*rise
		if term*(1-rise) < 1e-17*sum {
			break
		}
	}
	return routines.Log(x/2) - routines.Digamma(peak+v+1) - slope/sum
}

// LogBesselK returns log(eˣ K_v(x)), for whole v and x > 0, where K is the modified Bessel function
// of the second kind. It applies the trapezoidal rule to ∫_0^∞ exp(-x (cosh t - 1)) cosh(vt) dt,
// which converges exponentially. For order 0 the integrand is a plateau of length log 1/x, so for x
// < 1 a series is used.
func LogBesselK(v, x float64) float64 {
	v = math.Abs(v)
	switch {
	case !(x >= 0) || v != math.Trunc(v):
		return math.NaN()
	case x == 0:
		return math.Inf(1)
	case math.IsInf(x, 1):
		return math.Inf(-1)
	case math.IsInf(v, 1):
		return math.Inf(1)
	case v == 0 && x < 1:
		return x + routines.Log(besselK0(x))
	}
	exponent := func(t float64) float64 {
		s := math.Sinh(t / 2)
		return v*t - 2*x*s*s
	}
	top := math.Asinh(v / x)
	peak := exponent(top)
	step := min(0.2, 0.5/math.Sqrt(math.Hypot(v, x)))
	sum := 0.0
	add := func(k float64) (more bool) {
		t := k * step
		term := math.Exp(exponent(t)-peak) * (1 + math.Exp(-2*v*t)) / 2
		if k == 0 {
			term /= 2
		}
		sum += term
		return term >= 1e-18*sum
	}
	first := math.Ceil(top / step)
	for k := first; add(k); k++ {
	}
	for k := first - 1; k >= 0 && add(k); k-- {
	}
	return peak + routines.Log(sum*step)
}

// besselK0 returns K_0(x) for x < 1, by Σ (x²/4)ᵏ/k!² (1 + ½ + … + 1/k - γ - log(x/2)) (DLMF
// 10.31.2).
func besselK0(x float64) float64 {
	q, factor := x*x/4, -routines.Log(x/2)-eulerGamma
	sum := factor
	for k, term := 1., 1.; k < 12; k++ {
		term *= q / (k * k)
		factor += 1 / k
		sum += term * factor
	}
	return sum
}

// BesselJ returns the Bessel function of the first kind of whole order n; NaN for x < 0. It uses
// package math, whose recurrence takes n steps.
func BesselJ(n, x float64) float64 {
	// |J_n(x)| ≤ (|x|/2)^n/n!, which may underflow to 0. The recurrence would take n steps for
	// that.
	if m := math.Abs(n); m > 100 && m > math.Abs(x) {
		if factorial, _ := math.Lgamma(m + 1); m*routines.Log(math.Abs(x)/2)-factorial < -750 {
			return 0
		}
	}
	return math.Jn(int(n), x)
}

// BesselY returns the Bessel function of the second kind of whole order n; see BesselJ.
func BesselY(n, x float64) float64 {
	if n != math.Trunc(n) {
		return math.NaN()
	}
	return math.Yn(int(n), x)
}
