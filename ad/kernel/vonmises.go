package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// vonMisesMoment is ∫_{-π}^{x} (cos t)ⁿ exp(κ(cos t - cos x)) dt for x ≤ 0.
func vonMisesMoment(n, x, kappa float64) float64 {
	sum := 0.0
	sx, cx := math.Sincos(x)
	interval(-math.Pi, x, func(t, d, w float64) {
		// cos t - cos x with t = x - d
		s := math.Sin(d / 2)
		diff := sx*math.Sin(d) - 2*cx*s*s
		v := w * math.Exp(kappa*diff)
		if n != 0 {
			c := math.Cos(t)
			for range int(n) {
				v *= c
			}
		}
		sum += v
	})
	return sum
}

// LogVonMisesCDF is the logarithm of the probability of angles between -π and
// x under the von Mises distribution around 0 with concentration kappa, for x
// between -π and π.
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

// VonMisesMoment is the mean of (cos t)ⁿ for an angle t of that distribution
// that is at most x.
func VonMisesMoment(n, x, kappa float64) float64 {
	switch {
	case math.IsNaN(x) || !(kappa >= 0) || math.IsInf(kappa, 1):
		return math.NaN()
	case x <= -math.Pi:
		return math.Pow(-1, n)
	case x <= 0:
		return vonMisesMoment(n, x, kappa) / vonMisesMoment(0, x, kappa)
	}
	all := VonMisesMoment(n, 0, kappa) // by symmetry, that of all angles
	if x >= math.Pi {
		return all
	}
	above := math.Exp(LogVonMisesCDF(-x, kappa))
	return (all - above*VonMisesMoment(n, -x, kappa)) / (1 - above)
}
