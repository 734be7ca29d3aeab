package kernel

import "math"

// LogBesselI is log(e⁻ˣ I_v(x)), I the modified Bessel function of the first
// kind, for v ≥ 0 and x ≥ 0. The factor keeps the value small, so that ratios of
// Bessel functions can be taken from it.
//
// For large x it is the asymptotic series Σ (-1)ᵏ aₖ(v)/xᵏ of √(2πx) e⁻ˣ I (DLMF
// 10.40.1), otherwise the power series Σ (x/2)^(2k+v)/(k! Γ(k+v+1)), summed from
// its greatest term in both directions: about 12√x terms, all positive.
func LogBesselI(v, x float64) float64 {
	switch {
	case !(v >= 0) || !(x >= 0):
		return math.NaN()
	case x == 0 && v == 0:
		return 0
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return math.Inf(-1)
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
		return math.Log(sum) - 0.5*math.Log(2*math.Pi*x)
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
	return logPoisson(peak, x/2) + logPoisson(peak+v, x/2) + math.Log(sum)
}
