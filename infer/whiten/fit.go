package whiten

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
)

// Sample is draws with their scores.
type Sample struct {
	Draws, Scores [][]float64

	// Groups has the lengths of consecutive runs of draws that belong to one chain. The mean of
	// each group is subtracted before covariances are computed, so that chains that have not met
	// yet do not widen the estimate. nil: all draws are one group.
	Groups []int

	// Plain means that Draws and Scores are already differences (steps of an optimiser, with the
	// changes of the gradient): no mean is subtracted or learnt.
	Plain bool
}

// Options of [Fit].
type Options struct {
	// Shrink is the weight of the identity, in coordinates scaled by the diagonal
	// estimate, that is added to both covariances. 0: 1e-5.
	Shrink float64

	// Cutoff and Rank determine which eigenvalues LowRank keeps: those that differ from 1 by more
	// than the factor Cutoff, at most the Rank most different ones. 0: 2 and 64.
	Cutoff float64
	Rank   int

	// Cost is the work for one eigenvector in a step of a trajectory, relative to all other work in
	// it. LowRank then keeps fewer eigenvalues, if the rest would not shorten trajectories by as
	// much as they cost.
	Cost float64

	// Refine makes LowRank estimate its diagonal from the variation that the low-rank part does not
	// explain. This is correct if a few common factors contribute to the variance of every
	// coordinate.
	Refine bool
}

var errDraws = errors.New("whiten: draws or scores are not finite, or their variance overflows: the density seems to be improper or extremely wide; check that every parameter has a proper prior")

// maxPoints is the maximum number of draws that a low-rank estimate uses if there are fewer draws
// than dimensions. Its cost is the cube of their number.
const maxPoints = 80

// Fit learns a metric of the kind Diagonal, LowRank or Dense with its mean from at
// least 2 draws, or one difference.
func Fit(kind infer.MetricKind, s Sample, o Options) (infer.Metric, error) {
	f := Fitter{thin: kind == infer.Diagonal || kind == infer.LowRank && !o.Refine}
	f.Use(s)
	return f.Fit(kind, o)
}

// Fitter learns several metrics from one sample. It computes once what these have in common, and
// reuses its memory for the next sample. The zero value is ready for [Fitter.Use].
type Fitter struct {
	plain  bool
	thin   bool           // keep only the differences that span a metric of low rank, if any
	n, d   int            // the numbers of draws and dimensions
	both   blas64.General // draws above scores, centred and tempered, in units of scale
	x, g   blas64.General // its halves
	scale  []float64      // of the diagonal estimate
	mx, mg []float64      // means of draws and scores
	err    error          // of the sample
	common workspace      // for the fields above and below
	span   *span          // nil: not computed yet

	work workspace // for one metric

	// The dense estimate of the last metric, which the next may share.
	sigma  blas64.Symmetric
	shrink float64 // of sigma; 0: there is none
}

// Use sets the sample.
func (f *Fitter) Use(s Sample) {
	*f = Fitter{plain: s.Plain, thin: f.thin, n: len(s.Draws), common: f.common, work: f.work, sigma: f.sigma}
	if f.n < 2 && !(s.Plain && f.n == 1) {
		f.err = errors.New("whiten: there are fewer than two draws")
		return
	}
	if f.d = len(s.Draws[0]); f.d == 0 {
		return
	}
	w := &f.common
	w.reset()
	if f.thin && s.Plain && f.n > maxPoints && spans(f.n, f.d) {
		f.useThinned(s)
		return
	}
	w.reserve(2*f.n*(f.d+1) + 5*f.d)
	f.mx, f.mg = w.numbers(f.d), w.numbers(f.d)
	f.both = w.matrix(2*f.n, f.d)
	f.x, f.g = halves(f.both)
	s.centre(w, s.Draws, f.mx, f.x)
	s.centre(w, s.Scores, f.mg, f.g)
	f.scale = w.numbers(f.d)
	if f.err = scales(f.n, rowsOf(f.x), rowsOf(f.g), f.scale); f.err != nil {
		return
	}
	if !s.Plain {
		temper(w, f.x, f.g, f.scale)
		if f.err = scales(f.n, rowsOf(f.x), rowsOf(f.g), f.scale); f.err != nil {
			return
		}
	}
	rescale(f.x, f.g, f.scale)
}

// useThinned is Use for many plain differences, such as all second derivatives. All of them count
// for the diagonal, but only those that span a metric of low rank are copied. In 1000 dimensions,
// copying all would take longer than the rest.
func (f *Fitter) useThinned(s Sample) {
	w := &f.common
	f.scale = w.numbers(f.d)
	if f.err = scales(f.n, func(i int) []float64 { return s.Draws[i] }, func(i int) []float64 { return s.Scores[i] }, f.scale); f.err != nil {
		return
	}
	f.n = maxPoints
	f.both = w.matrix(2*f.n, f.d)
	f.x, f.g = halves(f.both)
	for i := range f.n {
		k := evenly(i, len(s.Draws))
		copy(row(f.x, i), s.Draws[k])
		copy(row(f.g, i), s.Scores[k])
	}
	rescale(f.x, f.g, f.scale)
}

// Fit is the function of that name, for the sample of [Fitter.Use].
func (f *Fitter) Fit(kind infer.MetricKind, o Options) (infer.Metric, error) {
	f.work.reset()
	return f.fit(kind, o, func(n int) []float64 { return make([]float64, n) })
}

// Divergence learns a metric as [Fitter.Fit] does, and returns its divergence over other draws.
func (f *Fitter) Divergence(kind infer.MetricKind, o Options, draws, scores [][]float64) (float64, error) {
	f.work.reset()
	m, err := f.fit(kind, o, f.work.numbers)
	if err != nil {
		return 0, err
	}
	to, err := newMap(m, f.work.numbers)
	if err != nil {
		return 0, err
	}
	return to.divergence(draws, scores, f.work.numbers), nil
}

// fit is Fit; numbers allocates memory for the metric.
func (f *Fitter) fit(kind infer.MetricKind, o Options, numbers func(n int) []float64) (infer.Metric, error) {
	if o.Shrink == 0 {
		o.Shrink = 1e-5
	}
	if o.Cutoff == 0 {
		o.Cutoff = 2
	}
	if o.Rank == 0 {
		o.Rank = 64
	}
	m := infer.Metric{Kind: kind, Dim: f.d}
	if f.err != nil || f.d == 0 {
		return m, f.err
	}
	var err error
	switch kind {
	case infer.Diagonal:
		m.Inverse = numbers(f.d)
		for i, v := range f.scale {
			m.Inverse[i] = v * v
		}
	case infer.Dense:
		m.Inverse, err = f.dense(o, numbers)
	case infer.LowRank:
		m.Inverse, err = f.lowRank(o, numbers)
	default:
		err = errors.New("whiten: a metric of the kind " + string(kind) + " cannot be learnt")
	}
	if err != nil {
		return m, err
	}
	if !f.plain {
		m.Mean = mean(m, f.mx, f.mg, numbers(f.d), f.work.numbers(f.d))
	}
	if m.Check() != nil {
		return m, errDraws
	}
	return m, nil
}

func (f *Fitter) dense(o Options, numbers func(n int) []float64) ([]float64, error) {
	if spans(f.n, f.d) && f.n < f.d {
		b, err := f.inSpan(o.Shrink)
		if err != nil {
			return nil, err
		}
		return b.dense(f.scale, numbers(f.d*f.d)), nil
	}
	sigma, err := f.estimate(o.Shrink)
	if err != nil {
		return nil, err
	}
	return scaled(sigma, f.scale, numbers(f.d*f.d)), nil
}

func (f *Fitter) lowRank(o Options, numbers func(n int) []float64) ([]float64, error) {
	w := &f.work
	var b *basis
	var err error
	if spans(f.n, f.d) {
		b, err = f.inSpan(o.Shrink)
	} else {
		var sigma blas64.Symmetric
		if sigma, err = f.estimate(o.Shrink); err != nil {
			return nil, err
		}
		own := w.symmetric(f.d) // newBasis changes it
		copy(own.Data, sigma.Data)
		b, err = newBasis(w, own, o.Shrink)
	}
	if err != nil {
		return nil, err
	}
	scale := f.scale
	if o.Refine {
		both := w.matrix(2*f.n, f.d)
		copy(both.Data, f.both.Data)
		scale = w.numbers(f.d)
		copy(scale, f.scale)
		if b, err = b.refine(w, both, scale, w.numbers(f.d), o); err != nil {
			return nil, err
		}
	}
	return b.lowRank(scale, o, numbers), nil
}

// inSpan is the basis of the estimate in the space that draws and scores span.
func (f *Fitter) inSpan(shrink float64) (*basis, error) {
	if f.span == nil {
		s, err := newSpan(&f.common, f.both)
		if err != nil {
			return nil, err
		}
		f.span = s
	}
	return f.span.basis(&f.work, shrink)
}

// perEstimate is about the number of matrices that an estimate and the metric made of it take.
const perEstimate = 12

// estimate is the dense estimate in units of scale. The next call may change it.
func (f *Fitter) estimate(shrink float64) (blas64.Symmetric, error) {
	if f.shrink == shrink {
		return f.sigma, nil
	}
	f.shrink = 0
	f.work.reserve(perEstimate * f.d * f.d)
	sigma, err := estimate(&f.work, f.x, f.g, shrink)
	if err != nil {
		return sigma, err
	}
	if f.sigma.N != f.d {
		f.sigma = blas64.Symmetric{N: f.d, Stride: f.d, Uplo: blas.Upper, Data: make([]float64, f.d*f.d)}
	}
	copy(f.sigma.Data, sigma.Data)
	f.shrink = shrink
	return f.sigma, nil
}

// rescale divides draws by scales and multiplies scores by them.
func rescale(x, g blas64.General, by []float64) {
	for i := range x.Rows {
		floats.Div(row(x, i), by)
		floats.Mul(row(g, i), by)
	}
}

// halves returns the upper and the lower half of the rows of a matrix.
func halves(m blas64.General) (upper, lower blas64.General) {
	upper, lower = m, m
	upper.Rows, lower.Rows = m.Rows/2, m.Rows/2
	upper.Data, lower.Data = m.Data[:upper.Rows*m.Stride], m.Data[upper.Rows*m.Stride:]
	return upper, lower
}

// centre writes the rows minus the mean of their group to centred, and the mean of all rows to all.
func (s Sample) centre(w *workspace, rows [][]float64, all []float64, centred blas64.General) {
	meanOf(rows, all)
	if s.Plain {
		for i, r := range rows {
			copy(row(centred, i), r)
		}
		return
	}
	own := w.numbers(len(rows[0]))
	at := 0
	group := func(n int) {
		meanOf(rows[at:at+n], own)
		for i := at; i < at+n; i++ {
			floats.SubTo(row(centred, i), rows[i], own)
		}
		at += n
	}
	if s.Groups == nil {
		group(len(rows))
	}
	for _, n := range s.Groups {
		group(n)
	}
}

// scales writes (var x / var g)^¼ of each coordinate: the standard deviations of the diagonal
// estimate. x and g return the n rows.
func scales(n int, x, g func(i int) []float64, scale []float64) error {
	const columns = 64 // summed together, since neighbours share lines of the processor's cache
	var sx, sg [columns]float64
	for j := range scale {
		if j%columns == 0 {
			end := min(j+columns, len(scale))
			clear(sx[:])
			clear(sg[:])
			for i := range n {
				for k, a := range x(i)[j:end] {
					sx[k] += a * a
				}
				for k, b := range g(i)[j:end] {
					sg[k] += b * b
				}
			}
		}
		vx, vg := sx[j%columns]/float64(n), sg[j%columns]/float64(n)
		switch {
		case math.IsNaN(vx+vg) || math.IsInf(vx+vg, 0):
			return errDraws
		case vx > 0 && vg > 0:
			scale[j] = math.Sqrt(math.Sqrt(vx) / math.Sqrt(vg))
		case vx > 0: // the target is flat in this direction
			scale[j] = math.Sqrt(vx)
		case vg > 0: // the chains have not moved in this coordinate
			scale[j] = 1 / math.Sqrt(vg)
		default:
			scale[j] = 1
		}
		if !(scale[j] > 1e-150 && scale[j] < 1e150) {
			return errDraws
		}
	}
	return nil
}

// maxScore is the largest squared score with full weight, in units of the median.
const maxScore = 3

// temper reduces the weight of draws with large scores. With full weight, draws in the neck of a
// funnel would lead to an estimate that fits only the neck. For a normal target, every weighting
// gives the same estimate.
func temper(w *workspace, x, g blas64.General, scale []float64) {
	norms, sorted := w.numbers(g.Rows), w.numbers(g.Rows)
	for i := range norms {
		norms[i] = 0
		for j, v := range row(g, i) {
			norms[i] += v * v * scale[j] * scale[j]
		}
	}
	copy(sorted, norms)
	slices.Sort(sorted)
	median := sorted[len(sorted)/2]
	for i, v := range norms {
		if v <= maxScore*median || !(median > 0) {
			continue
		}
		root := math.Sqrt(maxScore * median / v)
		floats.Scale(root, row(x, i))
		floats.Scale(root, row(g, i))
	}
}

// Centre returns the metric with the mean that fits draws and their scores best.
func Centre(m infer.Metric, s Sample) infer.Metric {
	room := make([]float64, 4*m.Dim)
	next := func() (v []float64) { v, room = room[:m.Dim:m.Dim], room[m.Dim:]; return v }
	m.Mean = mean(m, meanOf(s.Draws, next()), meanOf(s.Scores, next()), next(), next())
	return m
}

// meanOf writes the mean of rows to all, and returns it. It divides each row, so that the sum of
// rows that are large does not overflow.
func meanOf(rows [][]float64, all []float64) []float64 {
	clear(all)
	for _, r := range rows {
		floats.AddScaled(all, 1/float64(len(rows)), r)
	}
	return all
}

// mean is μ = E x + Σ E g, which it writes to out. step has as many numbers.
func mean(m infer.Metric, x, g, out, step []float64) []float64 {
	copy(out, x)
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
