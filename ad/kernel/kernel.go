// Package kernel holds the numerical functions behind the ops: plain functions of float64, which
// know nothing of graphs.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// Files:
//
//	kernel.go           exponentials that avoid overflow and cancellation
//	gamma.go            relatives of the gamma function
//	normal.go           relatives of the normal distribution
//	incomplete_gamma.go the incomplete gamma functions; temme.go: for large shapes
//	incomplete_beta.go  the incomplete beta function; large_beta.go: for large shapes
//	student.go          Student's distribution function
//	failures.go         derivatives of the negative binomial's with respect to its precision
//	bessel.go           Bessel functions; bessel_uniform.go: for large orders or arguments
//	lambert.go          Lambert's W
//	owens.go            Owen's T
//	inverse.go          quantiles
//	vonmises.go         the von Mises distribution
//	wiener.go           the Wiener distribution
//	pow.go              powers
//	quadrature.go       quadrature; legendre.go: Gauss-Legendre rules
//	dense.go            products and Cholesky factors of dense matrices
//	eigen.go, invert.go eigenvectors of symmetric matrices; inverses
//
// Functions that compiled programs also compute in vector lanes are in package routines: log Γ, the
// normal distribution function, sines and others. They are generated.
package kernel

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// LogGap returns l - t for l = -log(1-t), 0 ≤ t < 1. If t is small, where these cancel, it sums
// four terms of the series.
func LogGap(t, l float64) float64 {
	if !(t <= 1e-4) {
		return l - t
	}
	r := float64(t*(1./5)) + 1./4
	r = float64(t*r) + 1./3
	r = float64(t*r) + 1./2
	return float64(float64(t*t) * r)
}

// Log1pExp returns log(1 + eˣ) without overflow.
func Log1pExp(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

// LogDiffExp returns log(eˣ - eʸ); NaN for x < y.
func LogDiffExp(x, y float64) float64 {
	if x <= y {
		if x == y && x < math.Inf(1) {
			return math.Inf(-1)
		}
		return math.NaN()
	}
	return x + routines.Log1mExp(y-x)
}

// LogAddExp returns log(eˣ + eʸ) without overflow.
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

// InvLogit returns 1/(1 + e⁻ˣ), accurate in both tails.
func InvLogit(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}
