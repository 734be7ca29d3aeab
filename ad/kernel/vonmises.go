package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// vonMisesMoment returns ∫_{-π}^{x} (cos t - 1)ⁿ exp(κ(cos t - cos x)) dt for x ≤ 0. With t = x-d,
// it applies a Gauss-Legendre rule to the range of d where the exponent -2κ sin(d/2) sin(d/2-x) is
// above -40.
func vonMisesMoment(n, x, kappa float64) float64 {
	end := math.Pi + x
	// At the end of the range, sin²(½(d-x)) - sin²(½x) = 20/κ.
	s := math.Sin(x / 2)
	if p := s*s + 20/kappa; p < 1 {
		d := 2*math.Asin(math.Sqrt(p)) + x
		if d < -1e-4*x {
			d = 40 / (kappa * -math.Sin(x))
		}
		end = min(end, d)
	}
	sum := 0.0
	for _, node := range legendre48 {
		d := end * node[0]
		v := node[1] * math.Exp(-2*kappa*math.Sin(d/2)*math.Sin(d/2-x))
		if n != 0 {
			s := math.Sin(0.5 * (d - x))
			for range int(n) {
				v *= -2 * s * s
			}
		}
		sum += v
	}
	return end * sum
}

// LogVonMisesCDF returns the logarithm of the probability of angles between -π and x under the von
// Mises distribution around 0 with concentration kappa, for x between -π and π.
func LogVonMisesCDF(x, kappa float64) float64 {
	switch {
	case math.IsNaN(x) || !(kappa >= 0) || math.IsInf(kappa, 1):
		return math.NaN()
	case x <= -math.Pi:
		return math.Inf(-1)
	case x >= math.Pi:
		return 0
	case x > 0:
		return math.Log1p(-math.Exp(LogVonMisesCDF(-x, kappa)))
	}
	s := math.Sin(x / 2)
	return routines.Log(vonMisesMoment(0, x, kappa)) - 2*kappa*s*s - routines.Log(2*math.Pi) - LogBesselI(0, kappa)
}

// VonMisesMoment returns the mean of (cos t - 1)ⁿ over angles t ≤ x under the von Mises
// distribution. Moments of the cosine itself would cancel for large κ.
func VonMisesMoment(n, x, kappa float64) float64 {
	switch {
	case math.IsNaN(x) || !(kappa >= 0) || math.IsInf(kappa, 1):
		return math.NaN()
	case x <= -math.Pi:
		return math.Pow(-2, n)
	case x <= 0:
		return vonMisesMoment(n, x, kappa) / vonMisesMoment(0, x, kappa)
	}
	all := VonMisesMoment(n, 0, kappa) // by symmetry, the mean up to 0 is the mean over all angles
	if x >= math.Pi {
		return all
	}
	above := math.Exp(LogVonMisesCDF(-x, kappa))
	return (all - above*VonMisesMoment(n, -x, kappa)) / (1 - above)
}
