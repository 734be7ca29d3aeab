package whiten

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
)

// Sample is draws with their scores.
type Sample struct {
	Draws, Scores [][]float64

	// Groups counts draws that follow each other and belong to one chain; their
	// means are taken off before covariances are computed, so that chains that have
	// not met yet do not widen the estimate. nil: all are one group.
	Groups []int

	// Plain says that Draws and Scores are differences already (steps of an
	// optimiser with the changes of the gradient): nothing is taken off, and there
	// is no mean.
	Plain bool
}

// Options of [Fit].
type Options struct {
	// Shrink is the weight of the identity, in coordinates scaled by the diagonal
	// estimate, that is added to both covariances. 0: 1e-5.
	Shrink float64

	// Cutoff and Rank say what LowRank keeps: eigenvalues that differ from 1 by more
	// than the factor Cutoff, the Rank most different ones. 0: 2 and 64.
	Cutoff float64
	Rank   int

	// Refine makes LowRank's diagonal that of what the low rank leaves: right for
	// a few common factors, which are in every coordinate's variance.
	Refine bool
}

var errDraws = errors.New("whiten: draws or scores are not finite, or their variance overflows: the density seems to be improper or extremely wide; check that every parameter has a proper prior")

// mostPoints bounds the draws that a low-rank estimate is made of where they are
// fewer than the dimensions would want: it takes the cube of their number.
const mostPoints = 80

// Fit learns a metric of the kind Diagonal, LowRank or Dense with its mean from at
// least 2 draws, or one difference.
func Fit(kind infer.MetricKind, s Sample, o Options) (infer.Metric, error) {
	if o.Shrink == 0 {
		o.Shrink = 1e-5
	}
	if o.Cutoff == 0 {
		o.Cutoff = 2
	}
	if o.Rank == 0 {
		o.Rank = 64
	}
	n := len(s.Draws)
	if n < 2 && !(s.Plain && n == 1) {
		return infer.Metric{}, errors.New("whiten: there are fewer than two draws")
	}
	d := len(s.Draws[0])
	m := infer.Metric{Kind: kind, Dim: d}
	if d == 0 {
		return m, nil
	}
	x, mx := s.centre(s.Draws)
	g, mg := s.centre(s.Scores)
	scale, err := scales(x, g)
	if err != nil {
		return m, err
	}
	if !s.Plain {
		temper(x, g, scale)
		if scale, err = scales(x, g); err != nil {
			return m, err
		}
	}
	var basis *basis
	switch kind {
	case infer.Diagonal:
		m.Inverse = make([]float64, d)
		for i, v := range scale {
			m.Inverse[i] = v * v
		}
	case infer.Dense, infer.LowRank:
		for i := range x {
			for j, v := range scale {
				x[i][j] /= v
				g[i][j] *= v
			}
		}
		if basis, err = newBasis(x, g, o.Shrink, kind == infer.Dense); err != nil {
			return m, err
		}
		if kind == infer.LowRank && o.Refine {
			if basis, err = basis.refine(x, g, scale, o); err != nil {
				return m, err
			}
		}
		if kind == infer.LowRank {
			m.Inverse = basis.lowRank(scale, o)
		} else {
			m.Inverse = basis.dense(scale)
		}
	default:
		return m, errors.New("whiten: a metric of the kind " + string(kind) + " cannot be learnt")
	}
	if !s.Plain {
		m.Mean = mean(m, mx, mg)
	}
	if m.Check() != nil {
		return m, errDraws
	}
	return m, nil
}

// centre takes the mean of each group off; all is the mean of all.
func (s Sample) centre(rows [][]float64) (centred [][]float64, all []float64) {
	n, d := len(rows), len(rows[0])
	buffer := make([]float64, (n+2)*d)
	all, own, buffer := buffer[:d:d], buffer[d:2*d:2*d], buffer[2*d:]
	centred = make([][]float64, n)
	for i, row := range rows {
		centred[i] = buffer[i*d : (i+1)*d]
		copy(centred[i], row)
		for j, v := range row {
			all[j] += v / float64(n)
		}
	}
	if s.Plain {
		return centred, all
	}
	groups := s.Groups
	if groups == nil {
		groups = []int{n}
	}
	for at := 0; len(groups) > 0; groups = groups[1:] {
		part := centred[at : at+groups[0]]
		at += groups[0]
		clear(own)
		for _, row := range part {
			for j, v := range row {
				own[j] += v / float64(len(part))
			}
		}
		for _, row := range part {
			for j := range row {
				row[j] -= own[j]
			}
		}
	}
	return centred, all
}

// scales is (var x / var g)^¼ of each coordinate: the diagonal estimate's standard
// deviations.
func scales(x, g [][]float64) ([]float64, error) {
	d := len(x[0])
	scale := make([]float64, d)
	for j := range scale {
		vx, vg := 0.0, 0.0
		for i := range x {
			vx += x[i][j] * x[i][j]
			vg += g[i][j] * g[i][j]
		}
		vx, vg = vx/float64(len(x)), vg/float64(len(g))
		switch {
		case math.IsNaN(vx+vg) || math.IsInf(vx+vg, 0):
			return nil, errDraws
		case vx > 0 && vg > 0:
			scale[j] = math.Sqrt(math.Sqrt(vx) / math.Sqrt(vg))
		case vx > 0: // a flat direction
			scale[j] = math.Sqrt(vx)
		case vg > 0: // the chains have not moved along it
			scale[j] = 1 / math.Sqrt(vg)
		default:
			scale[j] = 1
		}
		if !(scale[j] > 1e-150 && scale[j] < 1e150) {
			return nil, errDraws
		}
	}
	return scale, nil
}

// mostScore is the largest squared score, in units of the median, that counts in
// full.
const mostScore = 3

// temper gives less weight to draws with large scores: those in the neck of a funnel
// would make an estimate that fits nothing but the neck. Of a normal target every
// weighting gives the same estimate.
func temper(x, g [][]float64, scale []float64) {
	norms := make([]float64, len(g))
	for i, row := range g {
		for j, v := range row {
			norms[i] += v * v * scale[j] * scale[j]
		}
	}
	sorted := slices.Clone(norms)
	slices.Sort(sorted)
	median := sorted[len(sorted)/2]
	for i, v := range norms {
		if v <= mostScore*median || !(median > 0) {
			continue
		}
		root := math.Sqrt(mostScore * median / v)
		for j := range g[i] {
			x[i][j] *= root
			g[i][j] *= root
		}
	}
}

// basis is an estimate Σ in scaled coordinates: the identity but for a space that
// the columns of vectors span.
type basis struct {
	vectors *mat.Dense // d×r: eigenvectors of Σ
	values  []float64  // its eigenvalues, ascending

	sigma *mat.SymDense // Σ, where that is all that is asked for
}

func newBasis(x, g [][]float64, shrink float64, whole bool) (*basis, error) {
	n, d := len(x), len(x[0])
	var q *mat.Dense // d×r, orthonormal; nil: the identity
	a, b := dense(x), dense(g)
	if 2*min(n, mostPoints) < d && !(whole && n >= d) {
		if n > mostPoints {
			a, b, n = thin(a), thin(b), mostPoints
		}
		// The span of draws and scores, by their Gram matrix.
		z := mat.NewDense(2*n, d, nil)
		z.Slice(0, n, 0, d).(*mat.Dense).Copy(a)
		z.Slice(n, 2*n, 0, d).(*mat.Dense).Copy(b)
		gram := mat.NewSymDense(2*n, nil)
		gram.SymOuterK(1, z)
		values, vectors, err := eigen(gram)
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
		v := mat.DenseCopyOf(vectors.Slice(0, 2*n, first, 2*n))
		for k := range r {
			f := 1 / math.Sqrt(values[first+k])
			for i := range 2 * n {
				v.Set(i, k, v.At(i, k)*f)
			}
		}
		q = new(mat.Dense)
		q.Mul(z.T(), v)
		var pa, pb mat.Dense
		pa.Mul(a, q)
		pb.Mul(b, q)
		a, b = &pa, &pb
	}
	covariance := func(m *mat.Dense) *mat.SymDense {
		rows, r := m.Dims()
		c := mat.NewSymDense(r, nil)
		c.SymOuterK(1/float64(rows), m.T())
		for i := range r {
			c.SetSym(i, i, c.At(i, i)+shrink)
		}
		return c
	}
	sigma, err := geometricMean(covariance(a), covariance(b), shrink/2)
	if err != nil {
		return nil, err
	}
	if q == nil && whole { // the matrix itself will do
		return &basis{sigma: sigma}, nil
	}
	values, vectors, err := eigen(sigma)
	if err != nil {
		return nil, err
	}
	for k, v := range values {
		values[k] = max(v, shrink/2) // but for rounding
	}
	if q != nil {
		var full mat.Dense
		full.Mul(q, vectors)
		vectors = &full
	}
	return &basis{vectors: vectors, values: values}, nil
}

// geometricMean solves Σ B Σ = A: with B = LLᵀ it is L⁻ᵀ (LᵀAL)^½ L⁻¹. No eigenvalue
// of B is less than floor, but for rounding.
func geometricMean(a, b *mat.SymDense, floor float64) (*mat.SymDense, error) {
	r := a.SymmetricDim()
	var factor mat.Cholesky
	for boost := floor; !factor.Factorize(b); boost *= 10 {
		if !(boost < 1e10) {
			return nil, errDraws
		}
		for i := range r {
			b.SetSym(i, i, b.At(i, i)+boost)
		}
	}
	var lower mat.TriDense
	factor.LTo(&lower)
	var t, inner mat.Dense
	t.Mul(lower.T(), a)
	inner.Mul(&t, &lower)
	middle := mat.NewSymDense(r, nil)
	for i := range r {
		for j := i; j < r; j++ {
			middle.SetSym(i, j, 0.5*(inner.At(i, j)+inner.At(j, i)))
		}
	}
	values, vectors, err := eigen(middle)
	if err != nil {
		return nil, err
	}
	// Σ = WWᵀ with W = L⁻ᵀ Q Λ^¼.
	w := vectors
	for k, v := range values {
		f := math.Sqrt(math.Sqrt(max(v, 0)))
		for i := range r {
			w.Set(i, k, w.At(i, k)*f)
		}
	}
	blas64.Trsm(blas.Left, blas.Trans, 1, lower.RawTriangular(), w.RawMatrix())
	sigma := mat.NewSymDense(r, nil)
	sigma.SymOuterK(1, w)
	return sigma, nil
}

func eigen(s *mat.SymDense) ([]float64, *mat.Dense, error) {
	var e mat.EigenSym
	for _, v := range s.RawSymmetric().Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil, errDraws
		}
	}
	if !e.Factorize(s, true) {
		return nil, nil, errDraws
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	return e.Values(nil), &vectors, nil
}

func dense(rows [][]float64) *mat.Dense {
	d := len(rows[0])
	m := mat.NewDense(len(rows), d, nil)
	for i, row := range rows {
		m.SetRow(i, row)
	}
	return m
}

// thin keeps mostPoints rows, evenly.
func thin(m *mat.Dense) *mat.Dense {
	n, d := m.Dims()
	out := mat.NewDense(mostPoints, d, nil)
	for i := range mostPoints {
		out.SetRow(i, m.RawRowView(i*n/mostPoints))
	}
	return out
}

// dense is the inverse metric as infer.Dense has it.
func (b *basis) dense(scale []float64) []float64 {
	d := len(scale)
	if b.sigma != nil {
		out := make([]float64, d*d)
		for i := range d {
			for j := range d {
				out[i*d+j] = scale[i] * b.sigma.At(i, j) * scale[j]
			}
		}
		return out
	}
	scaled := mat.DenseCopyOf(b.vectors)
	_, r := scaled.Dims()
	full := r == d
	for k, v := range b.values {
		f := math.Sqrt(math.Abs(v - 1))
		if full {
			f = math.Sqrt(v)
		}
		for i := range d {
			scaled.Set(i, k, scaled.At(i, k)*f)
		}
	}
	out := make([]float64, d*d)
	for i := range d {
		for j := range i + 1 {
			sum := 0.0
			ri, rj := scaled.RawRowView(i), scaled.RawRowView(j)
			for k := range r {
				if full || b.values[k] > 1 {
					sum += ri[k] * rj[k]
				} else {
					sum -= ri[k] * rj[k]
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

// refinements is how often refine estimates the diagonal anew.
const refinements = 4

// refine estimates the scales from what is left of draws and scores when the
// directions that lowRank keeps are taken off, as in the analysis of factors, and the
// basis with them. It changes x, g and scale.
func (b *basis) refine(x, g [][]float64, scale []float64, o Options) (*basis, error) {
	d := len(scale)
	o.Rank = min(o.Rank, d/4)
	for range refinements {
		low, high := b.kept(o)
		if low == 0 && high == len(b.values) {
			return b, nil
		}
		less := func(rows [][]float64) [][]float64 {
			out := make([][]float64, len(rows))
			u := make([]float64, d)
			for i, row := range rows {
				out[i] = append([]float64(nil), row...)
				for k := range b.values {
					if k < low || k >= high {
						mat.Col(u, k, b.vectors)
						floats.AddScaled(out[i], -floats.Dot(u, row), u)
					}
				}
			}
			return out
		}
		again, err := scales(less(x), less(g))
		if err != nil {
			return nil, err
		}
		for j, v := range again {
			scale[j] *= v
			for i := range x {
				x[i][j] /= v
				g[i][j] *= v
			}
		}
		if b, err = newBasis(x, g, o.Shrink, false); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// kept says which eigenvalues lowRank keeps: [0, low) and [high, …).
func (b *basis) kept(o Options) (low, high int) {
	limit := math.Log(o.Cutoff)
	high = len(b.values)
	for low+len(b.values)-high < o.Rank && low < high {
		first, last := -math.Log(b.values[low]), math.Log(b.values[high-1])
		if max(first, last) <= limit {
			break
		}
		if first >= last {
			low++
		} else {
			high--
		}
	}
	return low, high
}

// lowRank is the inverse metric as infer.LowRank has it.
func (b *basis) lowRank(scale []float64, o Options) []float64 {
	d := len(scale)
	low, high := b.kept(o)
	out := append([]float64(nil), scale...)
	var kept []int
	for k := range b.values {
		if k < low || k >= high {
			kept = append(kept, k)
			out = append(out, b.values[k])
		}
	}
	for _, k := range kept {
		for i := range d {
			out = append(out, b.vectors.At(i, k))
		}
	}
	return out
}

// Centre gives a metric the mean that suits it best, by the draws and their scores.
func Centre(m infer.Metric, s Sample) infer.Metric {
	_, x := s.centre(s.Draws)
	_, g := s.centre(s.Scores)
	m.Mean = mean(m, x, g)
	return m
}

// mean is μ = E x + Σ E g.
func mean(m infer.Metric, x, g []float64) []float64 {
	out := append([]float64(nil), x...)
	switch m.Kind {
	case infer.Unit:
		floats.Add(out, g)
	case infer.Diagonal:
		for i, v := range m.Inverse {
			out[i] += v * g[i]
		}
	case infer.Dense:
		blas64.Gemv(blas.NoTrans, 1, blas64.General{Rows: m.Dim, Cols: m.Dim, Stride: m.Dim, Data: m.Inverse},
			blas64.Vector{N: m.Dim, Inc: 1, Data: g}, 1, blas64.Vector{N: m.Dim, Inc: 1, Data: out})
	case infer.LowRank:
		scale, values, vectors := m.LowRank()
		step := make([]float64, m.Dim)
		for i, v := range scale {
			step[i] = v * g[i]
		}
		for k, u := range vectors {
			dot := 0.0
			for i, v := range u {
				dot += v * step[i]
			}
			for i, v := range u {
				step[i] += (values[k] - 1) * dot * v
			}
		}
		for i, v := range scale {
			out[i] += v * step[i]
		}
	}
	return out
}
