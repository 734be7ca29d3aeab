package criticise

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer/psis"
)

// Scaling is how a posterior changes if a part of its density is raised to a power near
// one.
type Scaling struct {
	Sensitivity []float64 // by quantity: change of its distribution by doubling of the power, see [PowerScale]
	K           float64   // Pareto k of the importance weights, the larger one
}

// SensitivityLimit is the sensitivity above which it is reported.
const SensitivityLimit = 0.05

// PowerScale tells how much the distributions of quantities depend on a part of the log
// density, such as that of the prior: the part is raised to the powers 1/1.01 and 1.01 by
// importance weights, and the distance of the weighted distribution from the
// unweighted one is divided by the logarithm (base 2) of the power. The distance is the
// square root of the cumulative Jensen-Shannon divergence (Kallioinen et al. 2024).
// quantities has a slice of draws each; part has the log density of the part at each
// draw, up to a constant.
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
		if slices.Max(w)-slices.Min(w) > 1e-12 { // else there is nothing to smooth
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

// Distance is the square root of the cumulative Jensen-Shannon divergence, relative to
// its upper bound, of weighted draws from the same draws without weights; the larger of
// those of the quantity and of its negative.
func Distance(x, weights []float64) float64 {
	if slices.ContainsFunc(x, math.IsNaN) {
		return math.NaN()
	}
	type draw struct{ x, w float64 }
	all := make([]draw, len(x))
	for i := range x {
		all[i] = draw{x[i], weights[i]}
	}
	slices.SortFunc(all, func(a, b draw) int { return cmp.Compare(a.x, b.x) })
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
		// The terms 0.5/log 2·(∫Q − ∫P) and its opposite cancel in the sum of both.
		return math.Sqrt(max(0, pq+qp) / (sumP + sumQ))
	}
	forward := one()
	slices.Reverse(all)
	return max(forward, one())
}
