package optimize

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
)

// inverse is the normal distribution whose covariance is the inverse Hessian of an L-BFGS history
// with a given diagonal, in factorised form. The inverse Hessian is diag(α) + βγβᵀ with β =
// [diag(α)Y, S] (Byrd, Nocedal and Schnabel 1994; Zhang et al. 2022, algorithms 3 and 4).
type inverse struct {
	mean  []float64
	scale float64 // logScale

	// For a long history (2·history ≥ dim): the factor of the whole matrix before √α.
	lower *mat.TriDense

	// Otherwise x = mean + √α·(z + Q(L − I)Qᵀz), where L is the factor of I + RγRᵀ, and QR = β/√α.
	root  []float64  // √α
	q     *mat.Dense // dim × 2·history
	inner *mat.TriDense
}

// newInverse computes the distribution from a history of steps s and changes y of the gradient of
// the negative log density. Its mean is the end of the Newton step from x, where that gradient is
// g. It returns nil if the matrix is not positive definite because of rounding.
func newInverse(x, g, alpha []float64, s, y [][]float64) *inverse {
	d, j := len(x), len(s)
	e := &inverse{mean: append([]float64(nil), x...), root: make([]float64, d)}
	if d == 0 {
		return e
	}
	logRoot := 0.0
	for i, a := range alpha {
		e.root[i] = math.Sqrt(a)
		logRoot += math.Log(a) / 2
	}
	// γ = [0, −R⁻¹; −R⁻ᵀ, R⁻ᵀ(D + YᵀαY)R⁻¹], where R is the upper triangle of SᵀY and D its
	// diagonal.
	r := mat.NewTriDense(max(j, 1), mat.Upper, nil)
	middle := mat.NewDense(max(j, 1), max(j, 1), nil)
	for a := range j {
		for b := range j {
			if b >= a {
				r.SetTri(a, b, floats.Dot(s[a], y[b]))
			}
			sum := 0.0
			for i := range d {
				sum += y[a][i] * alpha[i] * y[b][i]
			}
			middle.Set(a, b, sum)
		}
	}
	gamma := mat.NewDense(max(2*j, 1), max(2*j, 1), nil)
	if j > 0 {
		for a := range j {
			middle.Set(a, a, middle.At(a, a)+r.At(a, a))
		}
		var rInv mat.TriDense
		if err := rInv.InverseTri(r); err != nil {
			if _, ok := err.(mat.Condition); !ok {
				return nil
			}
		}
		var lower, t mat.Dense
		t.Mul(middle, &rInv)
		lower.Mul(rInv.T(), &t)
		for a := range j {
			for b := range j {
				gamma.Set(a, j+b, -rInv.At(a, b))
				gamma.Set(j+a, b, -rInv.At(b, a))
				gamma.Set(j+a, j+b, lower.At(a, b))
			}
		}
	}
	// The step −Hg.
	product := make([]float64, max(2*j, 1))
	for a := range j {
		for i := range d {
			product[a] += y[a][i] * alpha[i] * g[i]
		}
		product[j+a] = floats.Dot(s[a], g)
	}
	through := make([]float64, max(2*j, 1))
	for a := range 2 * j {
		for b := range 2 * j {
			through[a] += gamma.At(a, b) * product[b]
		}
	}
	for i := range d {
		step := alpha[i] * g[i]
		for a := range j {
			step += alpha[i]*y[a][i]*through[a] + s[a][i]*through[j+a]
		}
		e.mean[i] -= step
	}
	if !finite(e.mean) {
		return nil
	}
	beta := mat.NewDense(d, max(2*j, 1), nil) // β/√α
	for i := range d {
		for a := range j {
			beta.Set(i, a, e.root[i]*y[a][i])
			beta.Set(i, j+a, s[a][i]/e.root[i])
		}
	}
	var matrix *mat.SymDense // the matrix to factorise, before √α
	if 2*j >= d || j == 0 {
		matrix = plusIdentity(beta, gamma)
	} else {
		var upper *mat.Dense
		e.q, upper = thinQR(beta)
		matrix = plusIdentity(upper, gamma)
	}
	var factor mat.Cholesky
	if n := matrix.SymmetricDim(); !finite(matrix.RawSymmetric().Data[:n*n]) || !factor.Factorize(matrix) {
		return nil
	}
	lower := mat.NewTriDense(matrix.SymmetricDim(), mat.Lower, nil)
	factor.LTo(lower)
	e.scale = factor.LogDet()/2 + logRoot
	if e.q == nil {
		e.lower = lower
	} else {
		e.inner = lower
	}
	return e
}

// thinQR computes the thin QR factorisation of a matrix with fewer columns than rows, and
// overwrites it with Q. mat.QR cannot return only the first columns of Q.
func thinQR(a *mat.Dense) (q, r *mat.Dense) {
	raw := a.RawMatrix()
	n := raw.Cols
	tau := make([]float64, n)
	work := make([]float64, 1)
	lapack64.Geqrf(raw, tau, work, -1)
	work = make([]float64, int(work[0]))
	lapack64.Geqrf(raw, tau, work, len(work))
	r = mat.NewDense(n, n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			r.Set(i, j, a.At(i, j))
		}
	}
	work = work[:1]
	lapack64.Orgqr(raw, tau, work, -1)
	work = make([]float64, int(work[0]))
	lapack64.Orgqr(raw, tau, work, len(work))
	return a, r
}

// plusIdentity returns I + bγbᵀ.
func plusIdentity(b mat.Matrix, gamma *mat.Dense) *mat.SymDense {
	n, _ := b.Dims()
	var left, m mat.Dense
	left.Mul(b, gamma)
	m.Mul(&left, b.T())
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for k := i; k < n; k++ {
			v := (m.At(i, k) + m.At(k, i)) / 2
			if i == k {
				v++
			}
			s.SetSym(i, k, v)
		}
	}
	return s
}

func (e *inverse) transform(z, x []float64) {
	if len(x) == 0 {
		return
	}
	copy(x, z)
	if e.lower != nil {
		blas64.Trmv(blas.NoTrans, e.lower.RawTriangular(), blas64.Vector{N: len(x), Inc: 1, Data: x})
	} else {
		_, n := e.q.Dims()
		in, out := make([]float64, n), make([]float64, n)
		q := e.q.RawMatrix()
		blas64.Gemv(blas.Trans, 1, q, blas64.Vector{N: len(z), Inc: 1, Data: z}, 0, blas64.Vector{N: n, Inc: 1, Data: in})
		copy(out, in)
		blas64.Trmv(blas.NoTrans, e.inner.RawTriangular(), blas64.Vector{N: n, Inc: 1, Data: out})
		floats.Sub(out, in)
		blas64.Gemv(blas.NoTrans, 1, q, blas64.Vector{N: n, Inc: 1, Data: out}, 1, blas64.Vector{N: len(x), Inc: 1, Data: x})
	}
	for i := range x {
		x[i] = e.mean[i] + e.root[i]*x[i]
	}
}

// metric converts the distribution to a metric with its mean. If that fails, the metric has no
// Kind.
func (e *inverse) metric() infer.Metric {
	d := len(e.root)
	if e.lower != nil {
		var product mat.Dense
		product.Mul(e.lower, e.lower.T())
		m := infer.Metric{Kind: infer.Dense, Dim: d, Mean: e.mean, Inverse: make([]float64, d*d)}
		for i := range d {
			for j := range d {
				m.Inverse[i*d+j] = e.root[i] * product.At(i, j) * e.root[j]
			}
		}
		return m
	}
	m := infer.Metric{Kind: infer.LowRank, Dim: d, Mean: e.mean, Inverse: append([]float64(nil), e.root...)}
	if e.q == nil {
		return m
	}
	n := e.inner.RawTriangular().N
	var product mat.Dense
	product.Mul(e.inner, e.inner.T())
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (product.At(i, j)+product.At(j, i))/2)
		}
	}
	var values mat.EigenSym
	if !values.Factorize(s, true) {
		return infer.Metric{}
	}
	var vectors, turned mat.Dense
	values.VectorsTo(&vectors)
	turned.Mul(e.q, &vectors)
	m.Inverse = append(m.Inverse, values.Values(nil)...)
	for k := range n {
		m.Inverse = append(m.Inverse, mat.Col(nil, k, &turned)...)
	}
	return m
}

func (e *inverse) logScale() float64 { return e.scale }
