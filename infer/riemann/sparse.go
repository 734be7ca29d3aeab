package riemann

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// sparse computes with sparse metrics of one pattern, given their factors. Let S = L·Lᵀ in the
// order of symbolic. Let U have the vectors as columns, D the roots of their weights, and Y = L⁻¹U.
// Then
//
//	G = L·(I + Y·D²·Yᵀ)·Lᵀ,  log|G| = log|S| + log|C|,  C = I + D·YᵀY·D
//	G⁻¹ = L⁻ᵀ·(I - Y·D·C⁻¹·D·Yᵀ)·L⁻¹
//
// A factor consists of the values of L, then U, Y, the Cholesky factor of C, and D.
type sparse struct {
	*symbolic
	metric Sparse
	ridge  float64
	rank   int

	elements []float64
	column   []float64 // work space of a factorisation: d numbers, which are 0 between columns
	where    []int32   // position in a column plus 1, by row; 0 between columns
	inverse  []float64 // elements of S⁻¹ in the pattern of the factor
	solved   []float64 // S⁻¹U, then G⁻¹U
	moved    []float64 // work space for G⁻¹U
	square   []float64 // R×R
	rotated  []float64 // d numbers
	small    []float64 // R numbers
	logDet   float64

	factored, inverted func(f []float64) bool
}

func newSparse(m Sparse, s *symbolic, ridge float64) *sparse {
	d, r := s.pattern.Dim, s.pattern.Rank()
	g := &sparse{
		symbolic: s, metric: m, ridge: ridge, rank: r,
		elements: make([]float64, s.pattern.Len()), column: make([]float64, d), where: make([]int32, d),
		inverse: make([]float64, len(s.Rows)), solved: make([]float64, d*r), moved: make([]float64, d*r),
		square: make([]float64, r*r), rotated: make([]float64, d), small: make([]float64, r),
	}
	g.factored = func(f []float64) (ok bool) {
		g.logDet, ok = g.factor(f)
		return ok
	}
	g.inverted = g.invertNow
	return g
}

func (s *sparse) size() int {
	return len(s.Rows) + 2*s.pattern.Dim*s.rank + s.rank*s.rank + s.rank
}

// parts returns the parts of a factor.
func (s *sparse) parts(f []float64) (l, u, y, c, root []float64) {
	d, r := s.pattern.Dim, s.rank
	cut := func(n int) []float64 {
		part := f[:n:n]
		f = f[n:]
		return part
	}
	return cut(len(s.Rows)), cut(d * r), cut(d * r), cut(r * r), cut(r)
}

func (s *sparse) evaluate(x, f []float64) error { return s.metric.Elements(x, s.elements) }

func (s *sparse) factorise(f []float64, run runner) (logDet float64, ok bool) {
	if !run.do(s.factored, f) {
		return 0, false
	}
	return s.logDet, true
}

// factor computes the factor of the elements; ok is false if there is none.
func (s *sparse) factor(f []float64) (logDet float64, ok bool) {
	l, u, y, c, root := s.parts(f)
	clear(l)
	for k, v := range s.elements[:len(s.At)] {
		if s.pattern.Rows[k] == s.pattern.Cols[k] {
			v *= 1 + s.ridge
		}
		l[s.At[k]] = v
	}
	logDet, failed, _ := s.Cholesky(l, s.column)
	if ok = failed < 0 && !math.IsNaN(logDet); !ok || s.rank == 0 {
		return logDet, ok
	}
	clear(u)
	e, first := s.elements[len(s.At):], 0
	for _, w := range s.pattern.Wide {
		for i, q := range w.Columns {
			copy(u[int(s.Place[q])*s.rank+first:], e[i*w.Rank:(i+1)*w.Rank])
		}
		e = e[len(w.Columns)*w.Rank:]
		for i, v := range e[:w.Rank] {
			if !(v >= 0) {
				return 0, false
			}
			// A weight of 0 is replaced by one so small that it adds nothing, because the roots are
			// divided by each other.
			root[first+i] = math.Sqrt(max(v, 1e-200))
		}
		e, first = e[w.Rank:], first+w.Rank
	}
	copy(y, u)
	s.Forward(l, y, s.rank)
	s.multiply(blas.Trans, y, y, c)
	for i := range s.rank {
		for j := range s.rank {
			c[i*s.rank+j] *= root[i] * root[j]
		}
		c[i*(s.rank+1)]++
	}
	for _, v := range c {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, false
		}
	}
	if _, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: s.rank, Stride: s.rank, Data: c}); !ok {
		return 0, false
	}
	for i := range s.rank {
		logDet += 2 * math.Log(c[i*(s.rank+1)])
	}
	return logDet, true
}

// multiply writes aᵀ·b to the R×R matrix c; a and b have d rows.
func (s *sparse) multiply(ta blas.Transpose, a, b, c []float64) {
	blas64.Gemm(ta, blas.NoTrans, 1, s.tall(a), s.tall(b), 0, s.ofRank(c))
}

func (s *sparse) tall(a []float64) blas64.General {
	return blas64.General{Rows: s.pattern.Dim, Cols: s.rank, Stride: s.rank, Data: a}
}

func (s *sparse) ofRank(a []float64) blas64.General {
	return blas64.General{Rows: s.rank, Cols: s.rank, Stride: s.rank, Data: a}
}

func (s *sparse) triangle(c []float64) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: s.rank, Stride: s.rank, Data: c}
}

// solve writes G⁻¹p to v.
func (s *sparse) solve(f, p, v []float64) {
	l, _, y, c, root := s.parts(f)
	z := s.rotated
	for i, o := range s.Order {
		z[i] = p[o]
	}
	s.Forward(l, z, 1)
	if s.rank > 0 {
		blas64.Gemv(blas.Trans, 1, s.tall(y), vector(z), 0, vector(s.small))
		s.scale(root)
		blas64.Trsv(blas.NoTrans, s.triangle(c), vector(s.small))
		blas64.Trsv(blas.Trans, s.triangle(c), vector(s.small))
		s.scale(root)
		blas64.Gemv(blas.NoTrans, -1, s.tall(y), vector(s.small), 1, vector(z))
	}
	s.Backward(l, z, 1)
	for i, o := range s.Order {
		v[o] = z[i]
	}
}

// scale multiplies s.small by the roots of the weights.
func (s *sparse) scale(root []float64) {
	for i, w := range root {
		s.small[i] *= w
	}
}

// momentum draws p ~ normal(0, G): L·z + U·D·z'.
func (s *sparse) momentum(rng *rand.Rand, f, p []float64) {
	l, u, _, _, root := s.parts(f)
	for i := range s.rotated {
		s.rotated[i] = rng.NormFloat64()
	}
	z := s.column
	for j := range s.Start[1:] {
		for k := s.Start[j]; k < s.Start[j+1]; k++ {
			z[s.Rows[k]] += l[k] * s.rotated[j]
		}
	}
	if s.rank > 0 {
		for i := range s.small {
			s.small[i] = rng.NormFloat64()
		}
		s.scale(root)
		blas64.Gemv(blas.NoTrans, 1, s.tall(u), vector(s.small), 1, vector(z))
	}
	for i, o := range s.Order {
		p[o] = z[i]
	}
	clear(z)
}

// norm returns the norm √(pᵀG⁻¹p) of a momentum, or √(xᵀGx) of a position. It overwrites its
// argument.
func (s *sparse) norm(f, x []float64, momenta bool) float64 {
	l, u, y, c, root := s.parts(f)
	z := s.rotated
	for i, o := range s.Order {
		z[i] = x[o]
	}
	if momenta {
		s.Forward(l, z, 1)
		sum := blas64.Dot(vector(z), vector(z))
		if s.rank > 0 {
			blas64.Gemv(blas.Trans, 1, s.tall(y), vector(z), 0, vector(s.small))
			s.scale(root)
			blas64.Trsv(blas.NoTrans, s.triangle(c), vector(s.small))
			sum -= blas64.Dot(vector(s.small), vector(s.small))
		}
		return math.Sqrt(max(sum, 0))
	}
	sum := 0.0
	for j := range s.Start[1:] {
		v := 0.0
		for k := s.Start[j]; k < s.Start[j+1]; k++ {
			v += l[k] * z[s.Rows[k]]
		}
		sum += v * v
	}
	if s.rank > 0 {
		blas64.Gemv(blas.Trans, 1, s.tall(u), vector(z), 0, vector(s.small))
		s.scale(root)
		sum += blas64.Dot(vector(s.small), vector(s.small))
	}
	return math.Sqrt(sum)
}

// minPivot returns the smallest pivot of S, the part to which the ridge is added.
func (s *sparse) minPivot(f []float64) float64 {
	l, diagonal, least := f[:len(s.Rows)], s.column, 1.0
	for k, i := range s.Rows {
		diagonal[i] += l[k] * l[k]
	}
	for j, first := range s.Start[:s.pattern.Dim] {
		least = min(least, l[first]*l[first]/diagonal[j])
	}
	clear(diagonal)
	return least
}

func (s *sparse) invert(f []float64, run runner) bool { return run.do(s.inverted, f) }

// invertNow computes the parts of G⁻¹ that force needs.
func (s *sparse) invertNow(f []float64) bool {
	l, _, y, c, root := s.parts(f)
	s.selected(l)
	if s.rank == 0 {
		return true
	}
	copy(s.solved, y)
	s.Backward(l, s.solved, s.rank)
	// G⁻¹U = S⁻¹U·D·C⁻¹·D⁻¹
	copy(s.square, c)
	if _, ok := lapack64.Potri(s.triangle(s.square)); !ok {
		return false
	}
	r := s.rank
	for i := range r {
		for j := range i + 1 {
			v := s.square[i*r+j]
			s.square[i*r+j], s.square[j*r+i] = v*root[i]/root[j], v*root[j]/root[i]
		}
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, s.tall(s.solved), s.ofRank(s.square), 0, s.tall(s.moved))
	return true
}

// selected computes the elements of S⁻¹ in the pattern of the factor by Takahashi's equations. Each
// column is computed from later columns, which have all elements that it needs.
func (s *sparse) selected(l []float64) {
	sum, where := s.column, s.where
	for j := s.pattern.Dim - 1; j >= 0; j-- {
		first, last := s.Start[j], s.Start[j+1]
		for k := first + 1; k < last; k++ {
			where[s.Rows[k]] = k + 1
		}
		for k := first + 1; k < last; k++ {
			col := s.Rows[k]
			own := s.Start[col]
			sum[col] += s.inverse[own] * l[k]
			for i := own + 1; i < s.Start[col+1]; i++ {
				if at := where[s.Rows[i]]; at > 0 {
					sum[s.Rows[i]] += s.inverse[i] * l[k]
					sum[col] += s.inverse[i] * l[at-1]
				}
			}
		}
		w := 1 / l[first]
		diagonal := w
		for k := first + 1; k < last; k++ {
			i := s.Rows[k]
			s.inverse[k] = -sum[i] * w
			diagonal -= l[k] * s.inverse[k]
			sum[i], where[i] = 0, 0
		}
		s.inverse[first] = diagonal * w
	}
}

// force writes the gradient in x of ½ log|G| + ½ pᵀG⁻¹p; v is G⁻¹p.
func (s *sparse) force(x, f, v, force []float64) error {
	_, u, _, _, root := s.parts(f)
	r, a := s.rank, s.elements
	for k, row := range s.pattern.Rows {
		col := s.pattern.Cols[k]
		w := s.inverse[s.At[k]]
		if r > 0 {
			i, j := int(s.Place[row])*r, int(s.Place[col])*r
			for q, b := range s.solved[j : j+r] {
				w -= s.moved[i+q] * root[q] * root[q] * b
			}
		}
		a[k] = 0.5 * (w - v[row]*v[col])
		if row == col {
			a[k] *= 1 + s.ridge
		}
	}
	if r > 0 {
		for i, o := range s.Order {
			s.rotated[i] = v[o]
		}
		blas64.Gemv(blas.Trans, 1, s.tall(u), vector(s.rotated), 0, vector(s.small))
		e, first := a[len(s.At):], 0
		for _, w := range s.pattern.Wide {
			quadratic := e[len(w.Columns)*w.Rank:][:w.Rank]
			clear(quadratic)
			for i, q := range w.Columns {
				row := int(s.Place[q])*r + first
				for k := range w.Rank {
					product := 0.5 * (s.moved[row+k] - v[q]*s.small[first+k])
					e[i*w.Rank+k] = product
					quadratic[k] += u[row+k] * product
				}
			}
			e, first = e[(len(w.Columns)+1)*w.Rank:], first+w.Rank
		}
	}
	return s.metric.ElementsTraceGrad(x, a, force)
}
