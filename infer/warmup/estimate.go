package warmup

import (
	"errors"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// estimator accumulates draws for an inverse metric.
type estimator interface {
	add(x []float64)
	// estimate returns the regularised estimate; ok is false if there are too
	// few draws.
	estimate() (m infer.Metric, ok bool, err error)
	// state gives all that it has taken in, as numbers; setState brings a new
	// one to that state.
	state() []float64
	setState([]float64) error
}

// setMoments fills n, mean and sum from numbers that follow each other.
func setMoments(s []float64, n *float64, mean, sum []float64) error {
	if len(s) != 1+len(mean)+len(sum) {
		return errState
	}
	*n = s[0]
	copy(sum, s[1+copy(mean, s[1:]):])
	return nil
}

func newEstimator(kind infer.MetricKind, dim int) estimator {
	if kind == infer.Dense {
		return &covariance{mean: make([]float64, dim), delta: make([]float64, dim), sum: make([]float64, dim*dim)}
	}
	return &variance{mean: make([]float64, dim), sum: make([]float64, dim)}
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

func (v *variance) add(x []float64) {
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

func (c *covariance) add(x []float64) {
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
