package criticise

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer/psis"
)

// Moments improves leave-one-out estimates of observations whose Pareto k is too large, by moment
// matching. It shifts, scales and rotates the draws until their mean, variances and covariances
// match those of the posterior without the observation, as estimated by the importance weights. New
// weights account for the transformation.
//
// The algorithm, split transformation included, is that of Paananen, Piironen, Bürkner
// and Vehtari (2021), "Implicitly adaptive importance sampling", Statistics and
// Computing 31, as R's package loo does it.
type Moments struct {
	Draws      [][]float64 // by draw, chain after chain: an unconstrained point
	LogDensity []float64   // log density of the posterior at the draws, up to a constant

	// At computes the log density of the posterior and the log likelihood of an observation at
	// points; logLik may be nil. Where the density is zero, it sets logDensity to -Inf and logLik
	// to any finite number.
	At func(ctx context.Context, observation int, points [][]float64, logDensity, logLik []float64) error

	// Limit is the Pareto k below which an estimate is good enough; 0: psis.Limit.
	Limit float64
}

// Moved is the estimate of one observation from transformed draws.
type Moved struct {
	ELPD, MCSE, ESS float64
	K               float64 // Pareto k of the weights of the transformed draws
	Steps           int     // number of transformations that lowered k; 0: the estimate is unchanged
}

// maxSteps limits the number of transformations for one observation.
const maxSteps = 30

// transformation is an affine transformation of the draws.
type transformation struct {
	shift, scale []float64
	mapping      *mat.Dense // linear part of the transformation; nil: only shift and scale
}

// Match computes the estimate of an observation from its log likelihoods at the draws. k is the
// Pareto k of the current estimate, and efficiency the relative efficiency of its likelihood, see
// [Matrix.Efficiency]. tails is the efficiency that determines the lengths of tails, see
// [CrossValidate].
func (m *Moments) Match(ctx context.Context, observation int, logLik []float64, k, tails, efficiency float64) (*Moved, error) {
	s := len(m.Draws)
	if len(logLik) != s || len(m.LogDensity) != s || s < 2 {
		return nil, fmt.Errorf("criticise: %d log likelihoods and %d log densities at %d draws", len(logLik), len(m.LogDensity), s)
	}
	dim := len(m.Draws[0])
	limit := m.Limit
	if limit == 0 {
		limit = psis.Limit(s)
	}
	w := &weights{tail: psis.TailLength(s, tails)}
	ratios := make([]float64, s)
	for i, v := range logLik {
		ratios[i] = -v
	}
	w.leave(ratios)
	w.full(make([]float64, s))
	total := transformation{shift: make([]float64, dim), scale: make([]float64, dim)}
	for j := range total.scale {
		total.scale[j] = 1
	}
	kinds := []func([][]float64, []float64) ([][]float64, transformation, error){shifted, scaled}
	if s >= 10*dim {
		kinds = append(kinds, rotated)
	}
	points := m.Draws
	density, likelihood := make([]float64, s), make([]float64, s)
	steps := 0
	// After a transformation has helped, begin again with the cheapest kind.
search:
	for steps < maxSteps-1 && k > limit {
		for _, kind := range kinds {
			moved, t, err := kind(points, w.weights)
			if err != nil {
				continue // the weights are too uneven to estimate the moments
			}
			if err := m.At(ctx, observation, moved, density, likelihood); err != nil {
				return nil, err
			}
			for i := range ratios {
				ratios[i] = density[i] - m.LogDensity[i] - likelihood[i]
			}
			next := &weights{tail: w.tail}
			if next.leave(ratios); !(next.k < k) {
				continue
			}
			for i := range ratios {
				ratios[i] = density[i] - m.LogDensity[i]
			}
			next.full(ratios)
			points, w, k = moved, next, next.k
			logLik = append([]float64(nil), likelihood...)
			total.add(t)
			steps++
			continue search
		}
		break
	}
	if steps > 0 {
		var err error
		if logLik, err = m.split(ctx, observation, &total, w); err != nil {
			return nil, err
		}
	}
	out := w.estimate(logLik, efficiency)
	out.K, out.Steps = k, steps
	return out, nil
}

// split transforms only the first half of the draws. It weights all draws as draws of the mixture
// of the posterior and its transformation, because transformed draws alone may miss a part of the
// target. It returns the log likelihoods at these draws, and stores their weights in w.
func (m *Moments) split(ctx context.Context, observation int, total *transformation, w *weights) ([]float64, error) {
	s := len(m.Draws)
	half := s / 2
	mean := means(m.Draws, nil)
	inverse, logDet, err := total.inverse()
	if err != nil {
		return nil, err
	}
	there, back := make([][]float64, s), make([][]float64, s)
	for i, x := range m.Draws {
		there[i], back[i] = x, x
		d := make([]float64, len(x))
		for j := range x {
			d[j] = x[j] - mean[j]
		}
		if i < half {
			for j := range d {
				d[j] *= total.scale[j]
			}
			d = times(total.mapping, d)
			for j := range d {
				d[j] += total.shift[j] + mean[j]
			}
			there[i] = d
			continue
		}
		d = times(inverse, d)
		for j := range d {
			d[j] = d[j]/total.scale[j] + mean[j] - total.shift[j]
		}
		back[i] = d
	}
	density, other, likelihood := make([]float64, s), make([]float64, s), make([]float64, s)
	if err := m.At(ctx, observation, there, density, likelihood); err != nil {
		return nil, err
	}
	if err := m.At(ctx, observation, back, other, nil); err != nil {
		return nil, err
	}
	ratios := make([]float64, s)
	for i := range ratios {
		o := other[i] - logDet
		mixture := max(density[i], o)
		if !math.IsInf(mixture, -1) {
			mixture += math.Log1p(math.Exp(min(density[i], o) - mixture))
		}
		ratios[i] = density[i] - likelihood[i] - mixture
		if math.IsInf(density[i], -1) {
			ratios[i] = math.Inf(-1)
		}
	}
	w.leave(ratios)
	for i := range ratios {
		ratios[i] = w.logWeights[i] + likelihood[i]
	}
	w.full(ratios)
	return likelihood, nil
}

// add composes t with u, so that u is applied after t.
func (t *transformation) add(u transformation) {
	for j := range t.shift {
		t.shift[j] += u.shift[j]
		if u.scale != nil {
			t.scale[j] *= u.scale[j]
		}
	}
	switch {
	case u.mapping == nil:
	case t.mapping == nil:
		t.mapping = u.mapping
	default:
		product := new(mat.Dense)
		product.Mul(u.mapping, t.mapping)
		t.mapping = product
	}
}

// inverse returns the inverse of the mapping, nil if t has no mapping, and the log determinant of
// the scales and the mapping.
func (t *transformation) inverse() (*mat.Dense, float64, error) {
	logDet := 0.0
	for _, s := range t.scale {
		logDet += math.Log(s)
	}
	if t.mapping == nil {
		return nil, logDet, nil
	}
	d, _ := mat.LogDet(t.mapping)
	inverse := new(mat.Dense)
	var condition mat.Condition
	if err := inverse.Inverse(t.mapping); err != nil && !errors.As(err, &condition) {
		return nil, 0, err
	}
	return inverse, logDet + d, nil
}

// times multiplies a matrix by a vector; a nil matrix is the identity.
func times(a *mat.Dense, x []float64) []float64 {
	if a == nil {
		return x
	}
	out := mat.NewVecDense(len(x), nil)
	out.MulVec(a, mat.NewVecDense(len(x), x))
	return out.RawVector().Data
}

// means returns the weighted means of the coordinates. Weights sum to one; nil means equal weights.
func means(points [][]float64, weights []float64) []float64 {
	mean := make([]float64, len(points[0]))
	for i, x := range points {
		w := 1 / float64(len(points))
		if weights != nil {
			w = weights[i]
		}
		for j, v := range x {
			mean[j] += w * v
		}
	}
	return mean
}

// moved applies x ↦ a(x − from) + to to all points. a is either diagonal or a matrix.
func moved(points [][]float64, from, to, diagonal []float64, a *mat.Dense) [][]float64 {
	out := make([][]float64, len(points))
	for i, x := range points {
		d := make([]float64, len(x))
		for j := range x {
			d[j] = x[j] - from[j]
			if diagonal != nil {
				d[j] *= diagonal[j]
			}
		}
		d = times(a, d)
		for j := range d {
			d[j] += to[j]
		}
		out[i] = d
	}
	return out
}

// difference returns y − x.
func difference(x, y []float64) []float64 {
	d := make([]float64, len(x))
	for j := range d {
		d[j] = y[j] - x[j]
	}
	return d
}

// shifted shifts points so that their mean matches the weighted mean.
func shifted(points [][]float64, weights []float64) ([][]float64, transformation, error) {
	from, to := means(points, nil), means(points, weights)
	return moved(points, from, to, nil, nil), transformation{shift: difference(from, to)}, nil
}

// scaled shifts and scales points so that their mean and variances match the weighted ones.
func scaled(points [][]float64, weights []float64) ([][]float64, transformation, error) {
	from, to := means(points, nil), means(points, weights)
	s := float64(len(points))
	scale := make([]float64, len(from))
	for j := range scale {
		plain, weighted := 0.0, 0.0
		for i, x := range points {
			plain += (x[j] - from[j]) * (x[j] - from[j])
			weighted += weights[i] * (x[j] - to[j]) * (x[j] - to[j])
		}
		scale[j] = math.Sqrt(weighted * s / plain) // the divisor s − 1 of both variances cancels
		if !(scale[j] > 0) {
			return nil, transformation{}, errors.New("a coordinate does not vary")
		}
	}
	return moved(points, from, to, scale, nil), transformation{shift: difference(from, to), scale: scale}, nil
}

// rotated transforms points so that their mean and covariances match the weighted ones.
func rotated(points [][]float64, weights []float64) ([][]float64, transformation, error) {
	from, to := means(points, nil), means(points, weights)
	s := float64(len(points))
	equal := make([]float64, len(points))
	squares := 0.0
	for i, w := range weights {
		equal[i] = 1 / s
		squares += w * w
	}
	factor := func(w, mean []float64, by float64) (*mat.TriDense, bool) {
		cov := mat.NewSymDense(len(mean), nil)
		d := mat.NewVecDense(len(mean), nil)
		for i, x := range points {
			for j := range x {
				d.SetVec(j, x[j]-mean[j])
			}
			cov.SymRankOne(cov, w[i]/by, d)
		}
		var c mat.Cholesky
		if !c.Factorize(cov) {
			return nil, false
		}
		l := new(mat.TriDense)
		c.LTo(l)
		return l, true
	}
	l1, ok1 := factor(weights, to, 1-squares)
	l2, ok2 := factor(equal, from, 1-1/s)
	if !ok1 || !ok2 {
		return nil, transformation{}, errors.New("the covariances are not positive definite")
	}
	var inverse mat.TriDense
	if err := inverse.InverseTri(l2); err != nil {
		return nil, transformation{}, err
	}
	mapping := new(mat.Dense)
	mapping.Mul(l1, &inverse)
	return moved(points, from, to, nil, mapping), transformation{shift: difference(from, to), mapping: mapping}, nil
}

// weights are the smoothed importance weights of draws that may have been transformed: for the
// posterior without the observation, or for the posterior with it.
type weights struct {
	tail                int
	k                   float64
	logWeights, weights []float64 // the weights and their logarithms; the weights sum to one
	squares             float64   // Σ w²
	fullSquares         float64
	smoother            psis.Smoother
}

// leave sets the weights for the posterior without the observation from log importance ratios.
func (w *weights) leave(ratios []float64) {
	w.logWeights, w.weights, w.k = w.smooth(ratios)
	w.squares = squared(w.weights)
}

// full sets the weights for the posterior with all observations from log importance ratios.
func (w *weights) full(ratios []float64) {
	_, v, _ := w.smooth(ratios)
	w.fullSquares = squared(v)
}

func (w *weights) smooth(ratios []float64) (logs, values []float64, k float64) {
	logs = append([]float64(nil), ratios...)
	k = w.smoother.Smooth(logs, w.tail)
	values = append([]float64(nil), logs...)
	psis.Normalize(values)
	top := math.Inf(-1)
	for _, v := range logs {
		top = max(top, v)
	}
	sum := 0.0
	for _, v := range logs {
		sum += math.Exp(v - top)
	}
	for i := range logs {
		logs[i] -= top + math.Log(sum)
	}
	return logs, values, k
}

func squared(w []float64) float64 {
	sum := 0.0
	for _, v := range w {
		sum += v * v
	}
	return sum
}

// estimate computes the log predictive density and its standard error from the weights and from the
// log likelihoods at the same draws.
func (w *weights) estimate(logLik []float64, efficiency float64) *Moved {
	top := math.Inf(-1)
	for i, v := range logLik {
		top = max(top, v+w.logWeights[i])
	}
	sum := 0.0
	for i, v := range logLik {
		sum += math.Exp(v + w.logWeights[i] - top)
	}
	m := &Moved{ELPD: top + math.Log(sum), ESS: min(1/w.squares, 1/w.fullSquares) * efficiency}
	variance := 0.0
	for i, v := range logLik {
		d := w.weights[i] * math.Expm1(v-m.ELPD)
		variance += d * d
	}
	m.MCSE = math.Sqrt(math.Log1p(variance / efficiency))
	return m
}

// Move replaces the estimate of observation i by one from transformed draws.
func (r *Result) Move(i int, m *Moved) {
	r.ELPD[i], r.MCSE[i], r.ESS[i], r.K[i] = m.ELPD, m.MCSE, m.ESS, m.K
	r.P[i] = r.LPD[i] - m.ELPD
}
