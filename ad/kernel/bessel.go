package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// LogBesselI is log(e⁻ˣ I_v(x)), I the modified Bessel function of the first
// kind, for v ≥ 0 and x ≥ 0. The factor keeps the value small, so that ratios of
// Bessel functions can be taken from it.
//
// For large x it is the asymptotic series Σ (-1)ᵏ aₖ(v)/xᵏ of √(2πx) e⁻ˣ I (DLMF
// 10.40.1), otherwise the power series Σ (x/2)^(2k+v)/(k! Γ(k+v+1)), summed from
// its greatest term in both directions: about 12√x terms, all positive. For large
// v it is the expansion that is uniform in x (DLMF 10.41.3).
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
	case v > 1e4:
		h := math.Hypot(v, x)
		p := v / h
		q := p * p
		u1 := p * (3 - 5*q) / 24
		u2 := q * (81 + q*(-462+q*385)) / 1152
		u3 := p * q * (30375 + q*(-369603+q*(765765-q*425425))) / 414720
		series := (u1 + (u2+u3/v)/v) / v
		return v*(v/(h+x)) - v*math.Asinh(v/x) - 0.5*routines.Log(2*math.Pi) - 0.5*routines.Log(h) + math.Log1p(series)
	case x > 40+2*v*v:
		sum, term := 1.0, 1.0
		for k := 1.; k < 100; k++ {
			odd := 2*k - 1
			term *= (odd*odd - 4*v*v) / (8 * x * k)
			sum += term
			if math.Abs(term) < 1e-17 {
				break
			}
		}
		return routines.Log(sum) - 0.5*routines.Log(2*math.Pi*x)
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
	// The greatest term is a product of two Poisson probabilities.
	return logPoisson(peak, x/2) + logPoisson(peak+v, x/2) + routines.Log(sum)
}

// LogBesselIv is the derivative of log I_v(x) by v, for v ≥ 0 and x ≥ 0: that of the
// expansions of LogBesselI. That of the power series is log(x/2) less the mean of
// ψ(k+v+1) over its terms, of which only the differences are summed.
func LogBesselIv(v, x float64) float64 {
	switch {
	case !(v >= 0) || !(x >= 0):
		return math.NaN()
	case x == 0 || math.IsInf(v, 1):
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return 0
	case v > 1e4:
		h := math.Hypot(v, x)
		p := v / h
		q := p * p
		s := (3-5*q)/(24*h) + (81+q*(-462+q*385))/(1152*h*h)
		ds := p * ((-13+15*q)/24 + (-1086+q*(3388-q*2310))/(1152*h)) / h / h
		return -math.Asinh(v/x) - p/(2*h) + ds/(1+s)
	case x > 40+2*v*v:
		sum, term, slope, change := 1.0, 1.0, 0.0, 0.0
		for k := 1.; k < 100; k++ {
			odd, c := 2*k-1, 8*x*k
			change = (change*(odd*odd-4*v*v) - 8*v*term) / c
			term *= (odd*odd - 4*v*v) / c
			sum, slope = sum+term, slope+change
			if math.Abs(term) < 1e-17 && math.Abs(change) < 1e-17*math.Abs(slope) || change == 0 {
				break
			}
		}
		return slope / sum
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

// LogBesselK is log(eˣ K_v(x)), K the modified Bessel function of the second
// kind, for x > 0: by the trapezoidal rule for
// ∫_0^∞ exp(-x (cosh t - 1)) cosh(vt) dt, which converges exponentially.
func LogBesselK(v, x float64) float64 {
	v = math.Abs(v)
	switch {
	case !(x >= 0) || math.IsNaN(v):
		return math.NaN()
	case x == 0:
		return math.Inf(1)
	case math.IsInf(x, 1):
		return math.Inf(-1)
	case math.IsInf(v, 1):
		return math.Inf(1)
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

// BesselJ and BesselY are the Bessel functions of the first and the second kind
// of whole order n; Y is NaN for x < 0.
func BesselJ(n, x float64) float64 {
	// |J_n(x)| ≤ (|x|/2)^n/n!. Recurrences take n steps to find out that this is 0.
	if m := math.Abs(n); m > 100 && m > math.Abs(x) {
		if factorial, _ := math.Lgamma(m + 1); m*routines.Log(math.Abs(x)/2)-factorial < -750 {
			return 0
		}
	}
	return math.Jn(int(n), x)
}

// BesselY: see BesselJ.
func BesselY(n, x float64) float64 {
	if n != math.Trunc(n) {
		return math.NaN()
	}
	return math.Yn(int(n), x)
}
