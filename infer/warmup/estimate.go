package warmup

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// estimator accumulates draws for an inverse metric.
type estimator interface {
	add(z *infer.Point)
	// estimate returns the regularised estimate; ok is false if there are too
	// few draws.
	estimate() (m infer.Metric, ok bool, err error)
	// state returns all that the estimator has accumulated, as numbers; setState sets a new one to
	// that state.
	state() []float64
	setState([]float64) error
}

// setMoments fills n, mean and sum from consecutive numbers.
func setMoments(s []float64, n *float64, mean, sum []float64) error {
	if len(s) != 1+len(mean)+len(sum) {
		return errState
	}
	*n = s[0]
	copy(sum, s[1+copy(mean, s[1:]):])
	return nil
}

func newEstimator(kind infer.MetricKind, dim int) (estimator, error) {
	switch kind {
	case infer.Dense:
		return &covariance{mean: make([]float64, dim), delta: make([]float64, dim), sum: make([]float64, dim*dim)}, nil
	case infer.Diagonal:
		return &variance{mean: make([]float64, dim), sum: make([]float64, dim)}, nil
	case infer.LowRank:
		return &scored{dim: dim}, nil
	}
	return nil, fmt.Errorf("warmup: a metric of the kind %q cannot be learnt", kind)
}

// Estimates are shrunk towards 1e-3 times the identity with the weight of five
// draws, as in Stan.
const (
	shrinkDraws = 5
	shrinkTo    = 1e-3
)

var errOverflow = errors.New("the variance of the draws in warm-up overflows: the density seems to be improper or extremely wide; check that every parameter has a proper prior")

// variance is Welford's running variance of each coordinate.
type variance struct {
	n         float64
	mean, sum []float64
}

func (v *variance) add(z *infer.Point) {
	x := z.Position
	v.n++
	for i, xi := range x {
		d := xi - v.mean[i]
		v.mean[i] += d / v.n
		v.sum[i] += d * (xi - v.mean[i])
	}
}

func (v *variance) state() []float64           { return slices.Concat([]float64{v.n}, v.mean, v.sum) }
func (v *variance) setState(s []float64) error { return setMoments(s, &v.n, v.mean, v.sum) }

func (v *variance) estimate() (infer.Metric, bool, error) {
	m := infer.Metric{Kind: infer.Diagonal, Dim: len(v.mean)}
	if v.n < 2 {
		return m, false, nil
	}
	m.Inverse = make([]float64, len(v.mean))
	w := v.n / (v.n + shrinkDraws)
	for i, s := range v.sum {
		m.Inverse[i] = w*s/(v.n-1) + (1-w)*shrinkTo
		if math.IsInf(m.Inverse[i], 0) || math.IsNaN(m.Inverse[i]) {
			return m, false, errOverflow
		}
	}
	return m, true, nil
}

// covariance is Welford's running covariance.
type covariance struct {
	n                float64
	mean, delta, sum []float64
}

func (c *covariance) add(z *infer.Point) {
	x := z.Position
	c.n++
	for i, xi := range x {
		c.delta[i] = xi - c.mean[i]
		c.mean[i] += c.delta[i] / c.n
	}
	// (x - mean after)(x - mean before)ᵀ = (1 - 1/n) delta deltaᵀ is symmetric:
	// the lower triangle is enough.
	w := 1 - 1/c.n
	dim := len(x)
	for i, di := range c.delta {
		row := c.sum[i*dim : i*dim+i+1]
		for j := range row {
			row[j] += w * di * c.delta[j]
		}
	}
}

func (c *covariance) state() []float64           { return slices.Concat([]float64{c.n}, c.mean, c.sum) }
func (c *covariance) setState(s []float64) error { return setMoments(s, &c.n, c.mean, c.sum) }

func (c *covariance) estimate() (infer.Metric, bool, error) {
	dim := len(c.mean)
	m := infer.Metric{Kind: infer.Dense, Dim: dim}
	if c.n < 2 {
		return m, false, nil
	}
	m.Inverse = make([]float64, dim*dim)
	w := c.n / (c.n + shrinkDraws)
	for i := range dim {
		for j := range i + 1 {
			s := w * c.sum[i*dim+j] / (c.n - 1)
			if i == j {
				s += (1 - w) * shrinkTo
			}
			if math.IsInf(s, 0) || math.IsNaN(s) {
				return m, false, errOverflow
			}
			m.Inverse[i*dim+j], m.Inverse[j*dim+i] = s, s
		}
	}
	return m, true, nil
}

// scored keeps draws and scores for a metric of low rank; if there are too many, the later ones.
type scored struct {
	dim  int
	rows []float64 // positions and scores in alternating rows
}

// maxScored is the maximum amount of numbers that a chain keeps.
const maxScored = 1 << 22

func (s *scored) add(z *infer.Point) {
	s.rows = append(append(s.rows, z.Position...), z.Gradient...)
	if len(s.rows) > maxScored && s.dim > 0 {
		s.rows = append([]float64(nil), s.rows[len(s.rows)/(4*s.dim)*2*s.dim:]...)
	}
}

func (s *scored) state() []float64 { return slices.Clone(s.rows) }

func (s *scored) setState(rows []float64) error {
	if s.dim > 0 && len(rows)%(2*s.dim) != 0 {
		return errState
	}
	s.rows = slices.Clone(rows)
	return nil
}

func (s *scored) estimate() (infer.Metric, bool, error) {
	var sample whiten.Sample
	for at := 0; s.dim > 0 && at < len(s.rows); at += 2 * s.dim {
		sample.Draws = append(sample.Draws, s.rows[at:at+s.dim])
		sample.Scores = append(sample.Scores, s.rows[at+s.dim:at+2*s.dim])
	}
	if len(sample.Draws) < 2 {
		return infer.Metric{}, false, nil
	}
	m, err := whiten.Fit(infer.LowRank, sample, whiten.Options{})
	return m, err == nil, err
}
