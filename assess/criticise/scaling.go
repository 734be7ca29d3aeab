package criticise

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer/psis"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// Scaling says how a posterior changes when a part of its density is raised to a power near one.
type Scaling struct {
	Sensitivity []float64 // by quantity: change per doubling of the power, see [PowerScale]
	K           float64   // the larger Pareto k of the two sets of importance weights
}

// SensitivityLimit is the sensitivity above which a quantity is reported as sensitive.
const SensitivityLimit = 0.05

// PowerScale measures how much the distributions of quantities depend on a part of the density,
// such as the prior. Importance weights raise the part to the powers 1/1.01 and 1.01. The
// sensitivity is the distance of the weighted distribution from the unweighted one, divided by the
// logarithm (base 2) of the power. The distance is the square root of the cumulative Jensen-Shannon
// divergence (Kallioinen et al. 2024).
//
// part has the log density of the part at each draw, up to a constant; quantities has the draws of
// each quantity.
func PowerScale(part []float64, quantities [][]float64) (*Scaling, error) {
	const power = 1.01
	for i, v := range part {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("the log density of the part is %v at draw %d", v, i+1)
		}
	}
	s := &Scaling{Sensitivity: make([]float64, len(quantities)), K: math.Inf(-1)}
	var smoother psis.Smoother
	var weights [2][]float64
	for i, alpha := range []float64{1 / power, power} {
		w := make([]float64, len(part))
		for j, v := range part {
			w[j] = (alpha - 1) * v
		}
		if slices.Max(w)-slices.Min(w) > 1e-12 { // otherwise all weights are equal, and there is nothing to smooth
			s.K = max(s.K, smoother.Smooth(w, psis.TailLength(len(w), 1)))
		}
		psis.Normalize(w)
		weights[i] = w
	}
	for q, x := range quantities {
		d := 0.0
		for _, w := range weights {
			d += Distance(x, w)
		}
		s.Sensitivity[q] = d / (2 * math.Log2(power))
	}
	return s, nil
}

// Distance is the distance between draws with and without weights: the square root of the
// cumulative Jensen-Shannon divergence, relative to its upper bound. It is computed for the
// quantity and for its negative; the larger value counts.
func Distance(x, weights []float64) float64 {
	if slices.ContainsFunc(x, math.IsNaN) {
		return math.NaN()
	}
	type draw struct{ x, w float64 }
	all := make([]draw, len(x))
	for i := range x {
		all[i] = draw{x[i], weights[i]}
	}
	sorting.Stable(all, func(a, b draw) int { return cmp.Compare(a.x, b.x) })
	one := func() float64 {
		var p, q, pq, qp, sumP, sumQ float64
		for i := range all[:max(len(all)-1, 0)] {
			p += 1 / float64(len(all))
			q += all[i].w
			width := math.Abs(all[i+1].x - all[i].x)
			sumP += width * p
			sumQ += width * q
			m := (p + q) / 2
			if p > 0 {
				pq += width * p * math.Log2(p/m)
			}
			if q > 0 {
				qp += width * q * math.Log2(q/m)
			}
		}
		if !(sumP+sumQ > 0) {
			return 0
		}
		// The terms 0.5/log 2·(∫Q − ∫P) and 0.5/log 2·(∫P − ∫Q) of the two divergences cancel in
		// their sum.
		return math.Sqrt(max(0, pq+qp) / (sumP + sumQ))
	}
	forward := one()
	slices.Reverse(all)
	return max(forward, one())
}
