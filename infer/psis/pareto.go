package psis

import (
	"math"
)

// FitPareto estimates the shape k and the scale sigma of a generalised Pareto distribution with
// location 0. x must be in ascending order. The method is that of Zhang and Stephens (2009), "A new
// and efficient estimation method for the generalized Pareto distribution", Technometrics 51; their
// shape is −k. The shape is shrunk towards 0.5, as by a prior worth ten observations (Vehtari et
// al. 2024, appendix). k is +Inf if there is no estimate.
func FitPareto(x []float64) (k, sigma float64) {
	const (
		grid      = 30 // minimum number of grid points
		prior     = 3  // constant of Zhang and Stephens' empirical prior
		shrink    = 10 // number of observations that the prior of k is worth
		shrinkTo  = 0.5
		quartered = 4
	)
	n := float64(len(x))
	if len(x) < 2 {
		return math.Inf(1), math.NaN()
	}
	m := grid + int(math.Sqrt(n))
	quartile := x[int(n/quartered+0.5)-1]
	largest := x[len(x)-1]
	theta, fit := make([]float64, m), make([]float64, m)
	best := math.Inf(-1)
	for j := range theta {
		theta[j] = 1/largest + (1-math.Sqrt(float64(m)/(float64(j)+0.5)))/prior/quartile
		shape := meanLog1p(-theta[j], x)
		fit[j] = n * (math.Log(-theta[j]/shape) - shape - 1)
		if math.IsNaN(fit[j]) {
			return math.Inf(1), math.NaN()
		}
		best = max(best, fit[j])
	}
	sum, at := 0.0, 0.0
	for j, l := range fit {
		w := math.Exp(l - best)
		sum += w
		at += w * theta[j]
	}
	at /= sum
	k = meanLog1p(-at, x)
	sigma = -k / at
	k = (k*n + shrink*shrinkTo) / (n + shrink)
	if math.IsNaN(k) || math.IsNaN(sigma) {
		return math.Inf(1), math.NaN()
	}
	return k, sigma
}

// meanLog1p returns the mean of log(1 + a·x). It multiplies factors as long as the product stays
// well within range, so that one logarithm serves many of them. Otherwise logarithms would take
// most of the time of a fit.
func meanLog1p(a float64, x []float64) float64 {
	sum, product := 0.0, 1.0
	for _, v := range x {
		t := a * v
		if math.Abs(t) < 1e-3 { // the sum 1 + t has lost digits of t
			sum += math.Log1p(t)
			continue
		}
		product *= 1 + t
		if !(product > 1e-200 && product < 1e200) {
			sum += math.Log(product)
			product = 1
		}
	}
	return (sum + math.Log(product)) / float64(len(x))
}

// paretoQuantile returns the p-quantile of the generalised Pareto distribution with location 0.
func paretoQuantile(p, k, sigma float64) float64 {
	l := math.Log1p(-p)
	if k == 0 {
		return -sigma * l
	}
	return sigma * math.Expm1(-k*l) / k
}
