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

	// Refine makes LowRank estimate its diagonal from the variation that the low-rank part does not
	// explain. This is correct if a few common factors contribute to the variance of every
	// coordinate.
	Refine bool
}

var errDraws = errors.New("whiten: draws or scores are not finite, or their variance overflows: the density seems to be improper or extremely wide; check that every parameter has a proper prior")

// maxPoints bounds the draws that a low-rank estimate uses, if there are fewer draws than
// dimensions; its cost is the cube of their number.
const maxPoints = 80

// Fit learns a metric of the kind Diagonal, LowRank or Dense with its mean from at
// least 2 draws, or one difference.
func Fit(kind infer.MetricKind, s Sample, o Options) (infer.Metric, error) {
	return new(Fitter).Fit(kind, s, o)
}

// Fitter learns one metric after another in the same memory. The zero value is ready.
type Fitter struct{ work workspace }

// Fit is [Fit], in the memory of f.
func (f *Fitter) Fit(kind infer.MetricKind, s Sample, o Options) (infer.Metric, error) {
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
	w := &f.work
	w.reset()
	mx, mg := w.numbers(d), w.numbers(d)
	x, g := s.centre(w, s.Draws, mx), s.centre(w, s.Scores, mg)
	scale, again := w.numbers(d), w.numbers(d)
	if err := scales(x, g, scale); err != nil {
		return m, err
	}
	if !s.Plain {
		temper(w, x, g, scale)
		if err := scales(x, g, scale); err != nil {
			return m, err
		}
	}
	switch kind {
	case infer.Diagonal:
		m.Inverse = make([]float64, d)
		for i, v := range scale {
			m.Inverse[i] = v * v
		}
	case infer.Dense, infer.LowRank:
		rescale(x, g, scale)
		b, err := newBasis(w, x, g, o.Shrink, kind == infer.Dense)
		if err != nil {
			return m, err
		}
		if kind == infer.LowRank && o.Refine {
			if b, err = b.refine(w, x, g, scale, again, o); err != nil {
				return m, err
			}
		}
		if kind == infer.LowRank {
			m.Inverse = b.lowRank(scale, o)
		} else {
			m.Inverse = b.dense(scale)
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

// rescale divides draws by scales and multiplies scores by them.
func rescale(x, g blas64.General, by []float64) {
	for i := range x.Rows {
		xi, gi := row(x, i), row(g, i)
		for j, v := range by {
			xi[j] /= v
			gi[j] *= v
		}
	}
}

// centre returns the rows minus the mean of their group, as a matrix. It writes the mean of all
// rows to all.
func (s Sample) centre(w *workspace, rows [][]float64, all []float64) blas64.General {
	n, d := len(rows), len(rows[0])
	centred := w.matrix(n, d)
	clear(all)
	for i, r := range rows {
		copy(row(centred, i), r)
		for j, v := range r {
			all[j] += v / float64(n)
		}
	}
	if s.Plain {
		return centred
	}
	own := w.numbers(d)
	at := 0
	group := func(n int) {
		clear(own)
		for i := at; i < at+n; i++ {
			for j, v := range row(centred, i) {
				own[j] += v / float64(n)
			}
		}
		for i := at; i < at+n; i++ {
			for j, v := range own {
				row(centred, i)[j] -= v
			}
		}
		at += n
	}
	if s.Groups == nil {
		group(n)
	}
	for _, n := range s.Groups {
		group(n)
	}
	return centred
}

// scales writes (var x / var g)^¼ of each coordinate: the standard deviations of the diagonal
// estimate.
func scales(x, g blas64.General, scale []float64) error {
	n := float64(x.Rows)
	for j := range scale {
		vx, vg := 0.0, 0.0
		for i := range x.Rows {
			a, b := x.Data[i*x.Stride+j], g.Data[i*g.Stride+j]
			vx += a * a
			vg += b * b
		}
		vx, vg = vx/n, vg/n
		switch {
		case math.IsNaN(vx+vg) || math.IsInf(vx+vg, 0):
			return errDraws
		case vx > 0 && vg > 0:
			scale[j] = math.Sqrt(math.Sqrt(vx) / math.Sqrt(vg))
		case vx > 0: // a flat direction
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
	m.Mean = mean(m, meanOf(s.Draws), meanOf(s.Scores))
	return m
}

// meanOf returns the mean of rows.
func meanOf(rows [][]float64) []float64 {
	all := make([]float64, len(rows[0]))
	for _, r := range rows {
		for j, v := range r {
			all[j] += v / float64(len(rows))
		}
	}
	return all
}

// mean returns μ = E x + Σ E g.
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
