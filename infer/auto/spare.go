package auto

import (
	"fmt"
	"math"
)

// poor is the number of effective draws per transition of NUTS, of the poorest quantity,
// below which the transitions that warm-up has left are made between draws: four chains
// of 1000 draws should have several times the 400 that R-hat and quantiles need. (The
// estimate is from few transitions, many of which had another metric.)
const poor = 0.5

// barelyNormal is the held-out divergence, by the root of the dimension, from which on
// static kernels are helped too: they are tried up to nearNormal, but above two thirds of it
// the tails that warm-up has hardly seen may be slow. From half of it on, logistic
// regressions, which need no help, had a third of their ESS per gradient. (What the race sees
// of a static kernel's worth does not tell them from mixtures, whose tails are slow: 0.34 to
// 0.56 effective draws per transition of either.)
const barelyNormal = 2 * nearNormal / 3

// spend gives the transitions that warm-up has not needed to draws that are worth little.
// A target far from normal often has a short warm-up here and short trajectories, worth
// more per gradient than longer ones, but less per draw. A draw takes two transitions at
// most; with as many draws as warm-up was to have transitions, all are as many
// as were asked for.
func (w *chain) spend(v *verdict) {
	left := w.length - w.made
	why := fmt.Sprintf("one is worth about %.2g effective draws", v.worth)
	help := v.worth < poor
	if w.kernel.setting.Kind != NUTS {
		why = "the target is not quite normal"
		help = v.divergence*math.Sqrt(float64(v.metric.Dim)) > barelyNormal
	}
	if w.options.NoSpare || w.options.NoEarlyEnd || left <= 0 || !help {
		return
	}
	w.kernel.spare = float64(left) / float64(w.length)
	w.note(fmt.Sprintf("Draws: of %.2g transitions each in the mean, as %s and warm-up has left %d transitions of its %d.", 1+w.kernel.spare, why, left, w.length))
}

// worthOf estimates the effective draws per transition of the poorest of coordinates, of
// their squared distances from the mean, and of the log density, as if autocorrelations
// were geometric. Chains that are in different places make it small.
func worthOf(recent []record) float64 {
	if len(recent) == 0 {
		return 0
	}
	least := 1.0
	chains := make([][]float64, len(recent))
	for i, r := range recent {
		chains[i] = make([]float64, len(r.draws))
	}
	for j := range recent[0].draws[0] {
		for i, r := range recent {
			for t, x := range r.draws {
				chains[i][t] = x[j]
			}
		}
		least = min(least, worthOfChains(chains))
	}
	for i, r := range recent {
		copy(chains[i], r.logDensity)
	}
	return min(least, worthOfChains(chains))
}

// worthOfChains is that of one quantity, whose values it replaces by the squared distances
// from their mean.
func worthOfChains(chains [][]float64) float64 {
	least := 1.0
	for range 2 {
		mean, n := 0.0, 0.0
		for _, c := range chains {
			for _, v := range c {
				mean += v
				n++
			}
		}
		mean /= n
		variance, lag, pairs := 0.0, 0.0, 0.0
		for _, c := range chains {
			for t, v := range c {
				variance += (v - mean) * (v - mean) / n
				if t > 0 {
					lag += (v - c[t-1]) * (v - c[t-1])
					pairs++
				}
			}
		}
		if pairs > 0 && variance > 0 {
			moved := lag / pairs / (2 * variance) // 1 - ρ
			least = min(least, moved/max(2-moved, 0.05))
		}
		for _, c := range chains {
			for t, v := range c {
				c[t] = (v - mean) * (v - mean)
			}
		}
	}
	return least
}
