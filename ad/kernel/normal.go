package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// LogExpModCDF returns the logarithm of Φ(z) - exp(LogExpModTail(z, v)), v > 0. With m = Φ/φ, the
// difference is φ(z) (m(z) - m(z-v)). For small v, where this cancels, it is φ(z) times the
// integral of m′ = 1 + t m, by Gauss's rule. For z > 0 it is computed from the complement.
func LogExpModCDF(z, v float64) float64 {
	switch {
	case math.IsNaN(z) || !(v > 0):
		return math.NaN()
	case math.IsInf(z, -1):
		return z
	case v > 0.5*max(1, math.Abs(z)):
		if z < 0 && math.IsInf(z*z, 1) {
			return math.Inf(-1)
		}
		if z > 0 {
			return routines.Log1mExp(LogAddExp(routines.LogPhi(-z), routines.LogExpModTail(z, v)))
		}
		// Not Log1mExp, because the two logarithms may be equal after rounding.
		return routines.LogPhi(z) + math.Log1p(-routines.PhiRatio(z)/routines.PhiRatio(z-v))
	}
	if z > 0 {
		if upper := LogAddExp(routines.LogPhi(-z), routines.LogExpModTail(z, v)); upper < -math.Ln2 {
			return routines.Log1mExp(upper)
		}
	}
	// m′(z-d) φ(z) is m(z-d) φ(z) times the excess at z-d.
	sum := 0.0
	for k, u := range gauss10 {
		for _, d := range [2]float64{0.5 * v * (1 - u), 0.5 * v * (1 + u)} {
			sum += gauss10Weights[k] * math.Exp(routines.LogExpModTail(z, d)-routines.LogPhi(z)) * routines.PhiExcess(z-d)
		}
	}
	return routines.LogPhi(z) + routines.Log(0.5*v*sum)
}

// The positive nodes of Gauss's rule of ten points on [-1, 1], and their weights.
var (
	gauss10        = [5]float64{0.14887433898163122, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845, 0.9739065285171717}
	gauss10Weights = [5]float64{0.29552422471475287, 0.26926671930999635, 0.21908636251598204, 0.1494513491505806, 0.06667134430868814}
)

// PhiApprox returns Stan's logistic approximation of Phi, inv_logit(0.07056 x³ + 1.5976 x), with an
// error below 1.5e-4.
func PhiApprox(x float64) float64 { return InvLogit(PhiApproxArg(x)) }

// PhiApproxArg returns the argument of the logistic function in PhiApprox.
func PhiApproxArg(x float64) float64 { return x * (0.07056*x*x + 1.5976) }
