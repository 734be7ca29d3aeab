package riemann

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// dense computes with metrics that are full matrices. A factor is the lower triangle L of the
// Cholesky decomposition G = LLᵀ, stored in a square.
type dense struct {
	metric     Metric
	dim        int
	ridge      float64
	inverse, a []float64

	potrf, potri func(m []float64) bool // in place
}

func newDense(m Metric, ridge float64) *dense {
	d := m.Dim()
	g := &dense{metric: m, dim: d, ridge: ridge, inverse: make([]float64, d*d), a: make([]float64, d*d)}
	g.potrf = func(l []float64) bool {
		_, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: d, Stride: d, Data: l})
		return ok
	}
	g.potri = func(l []float64) bool {
		_, ok := lapack64.Potri(g.triangle(l))
		return ok
	}
	return g
}

func (g *dense) size() int { return g.dim * g.dim }

func (g *dense) evaluate(x, l []float64) error { return g.metric.Metric(x, l) }

func (g *dense) factorise(l []float64, run runner) (logDet float64, ok bool) {
	if g.dim == 0 {
		return 0, true
	}
	if g.ridge > 0 {
		for i := range g.dim {
			l[i*(g.dim+1)] *= 1 + g.ridge
		}
	}
	if !positive(l, g.dim) {
		return 0, false
	}
	if !run.do(g.potrf, l) {
		return 0, false
	}
	for i := range g.dim {
		logDet += 2 * math.Log(l[i*(g.dim+1)])
	}
	return logDet, true
}

// triangle returns the factor as a triangular matrix of blas64.
func (g *dense) triangle(l []float64) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: g.dim, Stride: max(1, g.dim), Data: l}
}

func (g *dense) solve(l, p, v []float64) {
	copy(v, p)
	if g.dim == 0 {
		return
	}
	blas64.Trsv(blas.NoTrans, g.triangle(l), vector(v))
	blas64.Trsv(blas.Trans, g.triangle(l), vector(v))
}

func (g *dense) momentum(rng *rand.Rand, l, p []float64) {
	for i := range p {
		p[i] = rng.NormFloat64()
	}
	if g.dim > 0 {
		blas64.Trmv(blas.NoTrans, g.triangle(l), vector(p))
	}
}

func (g *dense) norm(l, x []float64, momenta bool) float64 {
	if momenta {
		blas64.Trsv(blas.NoTrans, g.triangle(l), vector(x)) // |L⁻¹Δ|² = ΔᵀG⁻¹Δ
	} else {
		blas64.Trmv(blas.Trans, g.triangle(l), vector(x)) // |LᵀΔ|² = ΔᵀGΔ
	}
	return blas64.Nrm2(vector(x))
}

func (g *dense) minPivot(l []float64) float64 {
	least := 1.0
	for i := range g.dim {
		row := vector(l[i*g.dim:][:i+1])
		least = min(least, l[i*(g.dim+1)]*l[i*(g.dim+1)]/blas64.Dot(row, row))
	}
	return least
}

// invert writes G⁻¹ to g.inverse, both triangles.
func (g *dense) invert(l []float64, run runner) bool {
	d := g.dim
	if d == 0 {
		return true
	}
	copy(g.inverse, l)
	// Potri overwrites the lower triangle of the factor with that of the inverse.
	if !run.do(g.potri, g.inverse) {
		return false
	}
	for i := range d {
		for j := range i {
			g.inverse[j*d+i] = g.inverse[i*d+j]
		}
	}
	return true
}

// force implements geometry by the trace trick, see the package documentation.
func (g *dense) force(x, _, v, force []float64) error {
	d := g.dim
	for i := range d {
		for j := range d {
			g.a[i*d+j] = 0.5 * (g.inverse[i*d+j] - v[i]*v[j])
		}
	}
	if r := g.ridge; r > 0 { // tr(A(G + r·diag(G))) = tr((A + r·diag(A))G)
		for i := range d {
			g.a[i*(d+1)] *= 1 + r
		}
	}
	return g.metric.TraceGrad(x, g.a, force)
}
