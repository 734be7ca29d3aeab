package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// owensRest returns log ((1/π) ∫_a^∞ exp(-½h²(1+x²))/(1+x²) dx), a ≥ 0: the logarithm of twice the
// difference between Owen's T at a = ∞ and at a. The integrand is positive, and its exponential at
// a is factored out, so that nothing underflows.
func owensRest(h, a float64) float64 {
	if h == 0 {
		return routines.Log(math.Atan2(1, a) / math.Pi)
	}
	if math.IsInf(a, 1) {
		return math.Inf(-1)
	}
	if h*max(1, a) <= 0.5 { // here the integrand decays on two scales, so it is not integrated
		if a <= 1 {
			return routines.Log(routines.Phi(-h) - 2*owensIntegral(h, a))
		}
		// Use T(h, a) + T(ah, 1/a) = ½(Φ(h) + Φ(ah)) - Φ(h)Φ(ah).
		return routines.Log(2*owensIntegral(a*h, 1/a) - 0.5*routines.Erf(h/math.Sqrt2)*routines.Erfc(a*h/math.Sqrt2))
	}
	h2 := h * h
	// scale is the distance over which the integrand decays.
	scale := 1 / (h2*a/(1+a) + h + 1/(1+a))
	if s := 1 / (h2 * a); s < scale {
		scale = s
	}
	scale = min(scale, 1+a)
	i := scale * halfLine(func(u float64) float64 {
		u *= scale
		x := a + u
		return math.Exp(-h2*u*(a+0.5*u)) / (1 + x*x)
	})
	return -0.5*h2*(1+a*a) + routines.Log(i/math.Pi)
}

// owensIntegral returns T(h, a) for h and a of at most 1.
func owensIntegral(h, a float64) float64 {
	sum := 0.0
	for _, node := range Legendre28 {
		x := a * node[0]
		sum += node[1] * math.Exp(-0.5*h*h*(1+x*x)) / (1 + x*x)
	}
	return a * sum / (2 * math.Pi)
}

// OwensT returns Owen's function T(h, a) = 1/(2π) ∫_0^a exp(-½h²(1+x²))/(1+x²) dx.
func OwensT(h, a float64) float64 {
	switch {
	case math.IsNaN(h) || math.IsNaN(a):
		return math.NaN()
	case a < 0:
		return -OwensT(h, -a)
	case a == 0 || math.IsInf(h, 0):
		return 0
	}
	h = math.Abs(h)
	if a > 100 || a*h > 1 {
		return 0.5 * (routines.Phi(-h) - math.Exp(owensRest(h, a)))
	}
	sum := 0.0
	interval(0, a, func(x, _, w float64) { sum += w * math.Exp(-0.5*h*h*x*x) / (1 + x*x) })
	return math.Exp(-0.5*h*h) * sum / (2 * math.Pi)
}

// LogSkewNormalCDF returns the logarithm of the distribution function Φ(z) - 2T(z, a) of the
// standard skew normal distribution. Where both terms are nearly equal, it computes their
// difference as an integral.
func LogSkewNormalCDF(z, a float64) float64 {
	switch {
	case math.IsNaN(z) || math.IsNaN(a):
		return math.NaN()
	case math.IsInf(z, -1):
		return z
	case math.IsInf(z, 1):
		return 0
	}
	rest := owensRest(math.Abs(z), math.Abs(a))
	switch {
	case a >= 0 && z <= 0:
		return rest
	case a >= 0: // erf(z/√2) + rest; if that is near 1, through its complement
		if z > 1 {
			return math.Log1p(math.Exp(rest) - 2*routines.Phi(-z))
		}
		return routines.Log(math.Erf(z/math.Sqrt2) + math.Exp(rest))
	case z < 0:
		return routines.Log(2*routines.Phi(z) - math.Exp(rest))
	}
	return math.Log1p(-math.Exp(rest))
}
