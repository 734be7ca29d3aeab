package whiten

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// basis is an estimate Σ in scaled coordinates. It is the identity except in the space that its
// eigenvectors span. These are the columns of vectors or, if draws and scores span only a subspace,
// zᵀ times these columns. Only the eigenvectors that are needed are computed, since there may be
// many dimensions.
type basis struct {
	vectors blas64.General
	z       blas64.General // no rows: vectors contains the eigenvectors
	values  []float64      // eigenvalues, ascending
}

// spans reports whether n draws with their scores are so few that the estimate is computed in the
// space that they span.
func spans(n, d int) bool { return 2*min(n, maxPoints) < d }

// evenly returns the index of draw i of maxPoints among n, evenly spaced.
func evenly(i, n int) int { return i * n / maxPoints }

// estimate is Σ from draws x and scores g.
func estimate(w *workspace, x, g blas64.General, shrink float64) (blas64.Symmetric, error) {
	return geometricMean(w, covariance(w, x, shrink), covariance(w, g, shrink), shrink/2)
}

// newBasis computes the eigenvectors of Σ, whose memory the basis then uses.
func newBasis(w *workspace, sigma blas64.Symmetric, shrink float64) (*basis, error) {
	b := &basis{}
	var err error
	if b.values, b.vectors, err = eigen(w, sigma); err != nil {
		return nil, err
	}
	for k, v := range b.values {
		b.values[k] = max(v, shrink/2) // rounding may make it smaller
	}
	return b, nil
}

// span is the space that draws and their scores span, with both in an orthonormal basis of it: the
// rows of zᵀ times the columns of columns.
type span struct {
	z, columns blas64.General
	x, g       blas64.General
}

// newSpan finds the span of the rows of z, draws above their scores, by their Gram matrix. The span
// may share the memory of z.
func newSpan(w *workspace, z blas64.General) (*span, error) {
	n := z.Rows / 2
	if n > maxPoints {
		x, g := halves(z)
		n, z = maxPoints, w.matrix(2*maxPoints, z.Cols)
		for i := range n {
			k := evenly(i, x.Rows)
			copy(row(z, i), row(x, k))
			copy(row(z, n+i), row(g, k))
		}
	}
	gram := w.symmetric(2 * n)
	blas64.Syrk(blas.NoTrans, 1, z, 0, gram)
	values, vectors, err := eigen(w, gram)
	if err != nil {
		return nil, err
	}
	first := 0
	for first < 2*n && values[first] <= 1e-10*values[2*n-1] {
		first++
	}
	r := 2*n - first
	if r == 0 {
		return nil, errDraws
	}
	// z zᵀ has these eigenvectors.
	s := &span{z: z, columns: w.matrix(2*n, r), x: w.matrix(n, r), g: w.matrix(n, r)}
	for k := range r {
		root := math.Sqrt(values[first+k])
		for i := range 2 * n {
			v := vectors.Data[i*vectors.Stride+first+k]
			s.columns.Data[i*r+k] = v / root
			if i < n {
				s.x.Data[i*r+k] = v * root
			} else {
				s.g.Data[(i-n)*r+k] = v * root
			}
		}
	}
	return s, nil
}

// basis computes the eigenvectors of the estimate in the span.
func (s *span) basis(w *workspace, shrink float64) (*basis, error) {
	sigma, err := estimate(w, s.x, s.g, shrink)
	if err != nil {
		return nil, err
	}
	b, err := newBasis(w, sigma, shrink)
	if err != nil {
		return nil, err
	}
	all := w.matrix(s.columns.Rows, s.columns.Cols)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, s.columns, b.vectors, 0, all)
	b.vectors, b.z = all, s.z
	return b, nil
}

// rows writes some eigenvectors, given by their numbers, to the rows of to.
func (b *basis) rows(which []int, to blas64.General) {
	n := b.vectors.Rows
	if b.z.Rows == 0 {
		for i, k := range which {
			for j := range row(to, i) {
				to.Data[i*to.Stride+j] = b.vectors.Data[j*b.vectors.Stride+k]
			}
		}
		return
	}
	some := blas64.General{Rows: len(which), Cols: n, Stride: n, Data: make([]float64, len(which)*n)}
	for i, k := range which {
		for j := range n {
			some.Data[i*n+j] = b.vectors.Data[j*b.vectors.Stride+k]
		}
	}
	if len(which) > 0 {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, some, b.z, 0, to)
	}
}

// covariance returns the covariance of rows with mean 0, plus shrink times the identity.
func covariance(w *workspace, rows blas64.General, shrink float64) blas64.Symmetric {
	c := w.symmetric(rows.Cols)
	clear(c.Data)
	blas64.Syrk(blas.Trans, 1/float64(rows.Rows), rows, 1, c)
	for i := range c.N {
		c.Data[i*(c.Stride+1)] += shrink
	}
	return c
}

// geometricMean solves Σ B Σ = A. With B = LLᵀ, Σ = L⁻ᵀ (LᵀAL)^½ L⁻¹. Up to rounding, no eigenvalue
// of B is smaller than floor.
func geometricMean(w *workspace, a, b blas64.Symmetric, floor float64) (blas64.Symmetric, error) {
	r := a.N
	upper := blas64.Symmetric{N: r, Stride: r, Uplo: blas.Upper, Data: w.numbers(r * r)}
	var factor blas64.Triangular
	for boost := floor; ; boost *= 10 {
		copy(upper.Data, b.Data)
		var ok bool
		if factor, ok = lapack64.Potrf(upper); ok {
			break
		}
		if !(boost < 1e10) {
			return b, errDraws
		}
		for i := range r {
			b.Data[i*(r+1)] += boost
		}
	}
	lower := blas64.Triangular{N: r, Stride: r, Uplo: blas.Lower, Diag: blas.NonUnit, Data: w.numbers(r * r)}
	for i := range r {
		for j := range r {
			lower.Data[j*r+i] = factor.Data[i*r+j]
		}
	}
	// LᵀAL; only the upper triangle of A is set.
	for i := range r {
		for j := range i {
			a.Data[i*r+j] = a.Data[j*r+i]
		}
	}
	inner := w.matrix(r, r)
	clear(inner.Data)
	for i := range r {
		to := row(inner, i)
		for k := i; k < r; k++ {
			l := factor.Data[i*r+k]
			for j, v := range a.Data[k*r : (k+1)*r] {
				to[j] += l * v
			}
		}
	}
	blas64.Trmm(blas.Right, blas.NoTrans, 1, lower, inner)
	middle := w.symmetric(r)
	for i := range r {
		for j := i; j < r; j++ {
			middle.Data[i*r+j] = 0.5 * (inner.Data[i*r+j] + inner.Data[j*r+i])
		}
	}
	values, vectors, err := eigen(w, middle)
	if err != nil {
		return b, err
	}
	// Σ = WWᵀ with W = L⁻ᵀ Q Λ^¼.
	for k, v := range values {
		f := math.Sqrt(math.Sqrt(max(v, 0)))
		for i := range r {
			vectors.Data[i*r+k] *= f
		}
	}
	blas64.Trsm(blas.Left, blas.Trans, 1, lower, vectors)
	sigma := w.symmetric(r)
	clear(sigma.Data)
	blas64.Syrk(blas.NoTrans, 1, vectors, 1, sigma)
	return sigma, nil
}

// symmetric returns memory for a symmetric matrix, stored by its upper triangle. The content is
// arbitrary.
func (w *workspace) symmetric(n int) blas64.Symmetric {
	return blas64.Symmetric{N: n, Stride: max(n, 1), Uplo: blas.Upper, Data: w.numbers(n * n)}
}

// eigen computes the eigenvalues and eigenvectors of a matrix. The eigenvectors are columns and
// overwrite the matrix.
func eigen(w *workspace, s blas64.Symmetric) (values []float64, vectors blas64.General, err error) {
	for i := range s.N {
		for _, v := range s.Data[i*s.Stride+i : i*s.Stride+s.N] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, vectors, errDraws
			}
		}
	}
	values = w.numbers(s.N)
	size := w.numbers(1)
	lapack64.Syev(lapack.EVCompute, s, values, size, -1)
	work := w.numbers(int(size[0]))
	if !lapack64.Syev(lapack.EVCompute, s, values, work, len(work)) {
		return nil, vectors, errDraws
	}
	return values, blas64.General{Rows: s.N, Cols: s.N, Stride: s.Stride, Data: s.Data}, nil
}

// scaled writes Σ in the target's own units to out.
func scaled(sigma blas64.Symmetric, scale, out []float64) []float64 {
	d := len(scale)
	for i := range d {
		for j := range d {
			out[i*d+j] = scale[i] * sigma.Data[min(i, j)*sigma.Stride+max(i, j)] * scale[j]
		}
	}
	return out
}

// dense writes the inverse metric as infer.Dense has it to out.
func (b *basis) dense(scale, out []float64) []float64 {
	d := len(scale)
	r := len(b.values)
	full := r == d
	which := make([]int, r)
	for k := range which {
		which[k] = k
	}
	scaled := blas64.General{Rows: r, Cols: d, Stride: d, Data: make([]float64, r*d)}
	b.rows(which, scaled)
	for k, v := range b.values {
		f := math.Sqrt(math.Abs(v - 1))
		if full {
			f = math.Sqrt(v)
		}
		floats.Scale(f, row(scaled, k))
	}
	for i := range d {
		for j := range i + 1 {
			sum := 0.0
			for k := range r {
				if u := row(scaled, k); full || b.values[k] > 1 {
					sum += u[i] * u[j]
				} else {
					sum -= u[i] * u[j]
				}
			}
			if i == j && !full {
				sum++
			}
			sum *= scale[i] * scale[j]
			out[i*d+j], out[j*d+i] = sum, sum
		}
	}
	return out
}

// refinements is the number of times that refine estimates the diagonal.
const refinements = 4

// refine estimates the scales from the parts of draws and scores outside the directions that
// lowRank keeps, as in factor analysis, and then the basis. both has the draws above their scores.
// It changes both and scale. again is memory for as many numbers as scale.
func (b *basis) refine(w *workspace, both blas64.General, scale, again []float64, o Options) (*basis, error) {
	d := len(scale)
	x, g := halves(both)
	o.Rank = min(o.Rank, d/4)
	lessX, lessG := w.matrix(x.Rows, d), w.matrix(g.Rows, d)
	before := w.mark()
	for range refinements {
		kept := b.kept(o)
		if len(kept) == len(b.values) {
			return b, nil
		}
		us := w.matrix(len(kept), d)
		b.rows(kept, us)
		less := func(rows, to blas64.General) {
			for i := range rows.Rows {
				from, at := row(rows, i), row(to, i)
				copy(at, from)
				for k := range us.Rows {
					u := row(us, k)
					floats.AddScaled(at, -floats.Dot(u, from), u)
				}
			}
		}
		less(x, lessX)
		less(g, lessG)
		if err := scales(x.Rows, rowsOf(lessX), rowsOf(lessG), again); err != nil {
			return nil, err
		}
		for j, v := range again {
			scale[j] *= v
		}
		rescale(x, g, again)
		w.release(before)
		var err error
		if spans(x.Rows, d) {
			var s *span
			if s, err = newSpan(w, both); err == nil {
				b, err = s.basis(w, o.Shrink)
			}
		} else {
			var sigma blas64.Symmetric
			if sigma, err = estimate(w, x, g, o.Shrink); err == nil {
				b, err = newBasis(w, sigma, o.Shrink)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// kept returns the numbers of the eigenvalues that lowRank keeps. The n most different from 1 that
// pass the cutoff may be kept. Of these, as many are kept as make a trajectory cheapest. Its number
// of steps is taken to be proportional to the square root of the ratio between the largest and the
// smallest eigenvalue that are left, and a step costs Options.Cost more for each that is kept.
func (b *basis) kept(o Options) []int {
	limit := math.Log(o.Cutoff)
	low, high := 0, len(b.values)
	bestLow, bestHigh, least := low, high, math.Inf(1)
	for {
		n := low + len(b.values) - high
		first, last := 0.0, 0.0
		if low < high {
			first, last = -math.Log(b.values[low]), math.Log(b.values[high-1])
		}
		if cost := math.Log1p(o.Cost*float64(n)) + 0.5*(max(first, 0)+max(last, 0)); cost < least || o.Cost == 0 {
			bestLow, bestHigh, least = low, high, cost
		}
		if !(n < o.Rank && low < high && max(first, last) > limit) {
			break
		}
		if first >= last {
			low++
		} else {
			high--
		}
	}
	which := make([]int, 0, bestLow+len(b.values)-bestHigh)
	for k := range b.values {
		if k < bestLow || k >= bestHigh {
			which = append(which, k)
		}
	}
	return which
}

// lowRank returns the inverse metric in the form of infer.LowRank.
func (b *basis) lowRank(scale []float64, o Options, numbers func(n int) []float64) []float64 {
	d, which := len(scale), b.kept(o)
	r := len(which)
	out := numbers(d + r + r*d)
	copy(out, scale)
	for i, k := range which {
		out[d+i] = b.values[k]
	}
	b.rows(which, blas64.General{Rows: r, Cols: d, Stride: d, Data: out[d+r:]})
	return out
}
