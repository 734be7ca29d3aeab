// Package kernel holds the numerical functions behind the ops: plain functions
// of float64, with no knowledge of graphs.
//
// Files: kernel.go, exponentials that avoid overflow and cancellation; gamma.go,
// relatives of the gamma function; normal.go, of the normal distribution; incomplete_gamma.go
// and temme.go, the incomplete gamma functions;
// incomplete_beta.go and large_beta.go, the incomplete beta function; student.go, Student's
// distribution function; failures.go, the negative binomial's by its precision; bessel.go,
// Bessel functions; lambert.go, owens.go, inverse.go,
// Lambert's W, Owen's T, quantiles; vonmises.go and wiener.go, these distributions; pow.go,
// powers; quadrature.go and legendre.go, the rules that these use; dense.go, products and
// Cholesky factors of dense matrices.
//
// Functions that compiled programs also compute in vector lanes are in package routines: log Γ,
// the normal distribution function, sines and others. They are generated.
package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// LogGap is l - t for l = -log(1-t), 0 ≤ t < 1: near 0, where these cancel, by four terms of the
// series.
func LogGap(t, l float64) float64 {
	if !(t <= 1e-4) {
		return l - t
	}
	r := float64(t*(1./5)) + 1./4
	r = float64(t*r) + 1./3
	r = float64(t*r) + 1./2
	return float64(float64(t*t) * r)
}

// Log1pExp is log(1 + eˣ) without overflow.
func Log1pExp(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

// LogDiffExp is log(eˣ - eʸ), NaN for x < y.
func LogDiffExp(x, y float64) float64 {
	if x <= y {
		if x == y && x < math.Inf(1) {
			return math.Inf(-1)
		}
		return math.NaN()
	}
	return x + routines.Log1mExp(y-x)
}

// LogAddExp is log(eˣ + eʸ) without overflow.
func LogAddExp(x, y float64) float64 {
	if x == math.Inf(-1) {
		return y
	}
	if x == math.Inf(1) && y == x {
		return x
	}
	if x > y {
		return x + Log1pExp(y-x)
	}
	return y + Log1pExp(x-y)
}

// InvLogit is 1/(1 + e⁻ˣ), accurate in both tails.
func InvLogit(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}
