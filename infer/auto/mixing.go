package auto

import (
	"cmp"
	"math"

	"github.com/ppl-lang/ppl/infer/whiten"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// This file computes R-hat, the slow coordinates and the extremes of the draws.

// extremes makes maxTails points in the tails. Each is a draw moved out: its most extreme
// coordinate is multiplied by farther.
const (
	maxTails = 12
	farther  = 1.5
)

// extremes finds the draws with the most extreme whitened coordinates, and makes a point farther
// out from each.
func (v *verdict) extremes(to *whiten.Map, recent []record) {
	d := v.metric.Dim
	type extreme struct {
		size       float64
		coordinate int
		x, score   []float64
	}
	n := 0
	for _, r := range recent {
		n += len(r.draws)
	}
	all := make([]extreme, 0, n)
	y, w := make([]float64, d), make([]float64, d)
	for _, r := range recent {
		for t, x := range r.draws {
			to.Whiten(x, r.scores[t], y, w)
			e := extreme{x: x, score: r.scores[t]}
			for j, c := range y {
				if math.Abs(c) > e.size {
					e.size, e.coordinate = math.Abs(c), j
				}
			}
			all = append(all, e)
		}
	}
	sorting.Stable(all, func(a, b extreme) int { return cmp.Compare(b.size, a.size) })
	for _, e := range all[:min(maxTails, len(all))] {
		to.Whiten(e.x, e.score, y, w)
		y[e.coordinate] *= farther
		x := make([]float64, d)
		to.Forward(y, x)
		v.tails = append(v.tails, x)
	}
}

// diagnose computes R-hat of the log density and of the whitened coordinates, the variances of
// these coordinates, and which of them mix slowly.
func (v *verdict) diagnose(to *whiten.Map, recent []record) {
	d := v.metric.Dim
	means, within, lag := moments(to, recent, d)
	between := func(j int) float64 {
		mean, sum := 0.0, 0.0
		for _, m := range means {
			mean += m[j] / float64(len(means))
		}
		for _, m := range means {
			sum += (m[j] - mean) * (m[j] - mean)
		}
		return sum / float64(max(1, len(means)-1))
	}
	v.rhat = 1
	v.scales = make([]float64, d)
	speed := make([]float64, d)
	for j := range d {
		b := between(j)
		if within[j] > 0 {
			v.rhat = max(v.rhat, math.Sqrt(1+b/within[j]))
		} else if b > 0 {
			v.rhat = infinity
		}
		v.scales[j] = within[j] + b
		speed[j] = lag[j] / max(v.scales[j], 1e-300)
		v.slow = append(v.slow, j)
	}
	sorting.Stable(v.slow, func(a, b int) int { return order(speed[a], speed[b]) })
	v.rhat = max(v.rhat, rhatOfDensity(recent))
}

// moments returns, for each whitened coordinate, the mean of each chain, the variance within
// chains, and the mean square of the steps from draw to draw.
func moments(to *whiten.Map, recent []record, d int) (means [][]float64, within, lag []float64) {
	n := len(recent[0].draws)
	means = make([][]float64, len(recent))
	within, lag = make([]float64, d), make([]float64, d)
	y, w, previous := make([]float64, d), make([]float64, d), make([]float64, d)
	for i, r := range recent {
		means[i] = make([]float64, d)
		squares := make([]float64, d)
		for t, x := range r.draws {
			to.Whiten(x, r.scores[t], y, w)
			for j, v := range y {
				means[i][j] += v / float64(n)
				squares[j] += v * v / float64(n)
				if t > 0 {
					lag[j] += (v - previous[j]) * (v - previous[j]) / float64(len(recent)*max(1, n-1))
				}
			}
			copy(previous, y)
		}
		for j := range within {
			within[j] += max(0, squares[j]-means[i][j]*means[i][j]) / float64(len(recent))
		}
	}
	return means, within, lag
}

// rhatOfDensity returns R-hat of the log density; 0 if that is constant.
func rhatOfDensity(recent []record) float64 {
	n := len(recent[0].draws)
	mean, variance := make([]float64, len(recent)), 0.0
	grand := 0.0
	for i, r := range recent {
		for _, l := range r.logDensity {
			mean[i] += l / float64(n)
		}
		for _, l := range r.logDensity {
			variance += (l - mean[i]) * (l - mean[i]) / float64(n*len(recent))
		}
		grand += mean[i] / float64(len(recent))
	}
	b := 0.0
	for _, m := range mean {
		b += (m - grand) * (m - grand) / float64(max(1, len(recent)-1))
	}
	if variance > 0 {
		return math.Sqrt(1 + b/variance)
	}
	return 0
}
