package benchsuite

import (
	"math"
	"slices"
)

type processData struct {
	N int       `json:"N"`
	X []float64 `json:"x"`
	Y []float64 `json:"y"`
}

func gaussianProcess(n int) (any, Gradient) {
	rng := generator(11)
	d := processData{N: n, X: make([]float64, n), Y: make([]float64, n)}
	for i := range d.X {
		d.X[i] = 10 * rng.Float64()
	}
	slices.Sort(d.X)
	for i, x := range d.X {
		d.Y[i] = math.Sin(x) + 0.5*math.Cos(2.3*x) + 0.3*rng.NormFloat64()
	}
	// Squared distances, and matrices whose lower triangles are used, by rows.
	d2 := make([]float64, n*n)
	for i := range n {
		for j := range i {
			d2[i*n+j] = (d.X[i] - d.X[j]) * (d.X[i] - d.X[j])
		}
	}
	K, L, M := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	z := make([]float64, n)
	return d, func(x, grad []float64) float64 {
		rho, alpha, sigma := math.Exp(x[0]), math.Exp(x[1]), math.Exp(x[2])
		lp := -6*x[0] - 5/rho - 0.5*(alpha*alpha+sigma*sigma) + x[0] + x[1] + x[2]
		a2, s2, c := alpha*alpha, sigma*sigma, -0.5/(rho*rho)
		for i := range n {
			for j := range i {
				K[i*n+j] = a2 * math.Exp(c*d2[i*n+j])
			}
			K[i*n+i] = a2
		}
		// L Lᵀ = K + σ², z = L⁻¹ y.
		for i := range n {
			li := L[i*n : i*n+i+1]
			for j := range i {
				li[j] = (K[i*n+j] - dot(li[:j], L[j*n:j*n+j])) / L[j*n+j]
			}
			li[i] = math.Sqrt(a2 + s2 - dot(li[:i], li[:i]))
			z[i] = (d.Y[i] - dot(li[:i], z[:i])) / li[i]
			lp -= 0.5*z[i]*z[i] + math.Log(li[i])
		}
		// M = L⁻ᵀ by rows, that is the columns of L⁻¹; then z = K⁻¹ y.
		for j := range n {
			m := M[j*n : (j+1)*n]
			m[j] = 1 / L[j*n+j]
			for i := j + 1; i < n; i++ {
				m[i] = -dot(L[i*n+j:i*n+i], m[j:i]) / L[i*n+i]
			}
			z[j] = dot(m[j:], z[j:])
		}
		// The gradient with respect to the covariance is ½ (z zᵀ - K⁻¹); each pair counts twice.
		drho, dalpha, dsigma := 0.0, 0.0, 0.0
		for i := range n {
			for j := range i {
				e := (z[i]*z[j] - dot(M[i*n+i:(i+1)*n], M[j*n+i:(j+1)*n])) * K[i*n+j]
				dalpha += e
				drho += e * d2[i*n+j]
			}
			m := M[i*n+i : (i+1)*n]
			e := 0.5 * (z[i]*z[i] - dot(m, m))
			dalpha += e * a2
			dsigma += e
		}
		grad[0] = drho/(rho*rho) - 5 + 5/rho
		grad[1] = 2*dalpha - a2 + 1
		grad[2] = 2*dsigma*s2 - s2 + 1
		return lp
	}
}
