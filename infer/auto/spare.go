package auto

import "fmt"

// Transitions of NUTS that are worth less than poor effective draws, of the poorest quantity,
// are made several to a draw: those that warm-up has left or, where they are worth less than
// poorest, mostPerDraw. Four chains of 1000 draws then have several times the 400 that
// R-hat and quantiles need, though the estimate, from few transitions of which many had another
// metric, may be three times too large. Per gradient nothing is lost: below poor a second
// transition adds nearly as much as the first, and warm-up counts for less.
const (
	poor        = 0.3
	poorest     = 0.125
	mostPerDraw = 4
)

// spend gives the transitions that warm-up has not needed to draws that are worth little,
// and more where that does not do. (A target far from normal often has a short warm-up here and short
// trajectories, worth more per gradient than longer ones, but less per draw.) Chains that are in different
// places are not brought together by more of the same. Static kernels, which are
// chosen where draws are worth much, are helped only where they were asked for on
// another target.
func (w *chain) spend(v *verdict) {
	if w.options.NoSpare || w.options.NoEarlyEnd {
		return
	}
	left := w.length - w.made
	perDraw := 1 + max(0, float64(left))/float64(w.length)
	why, from := "the target is not quite normal", fmt.Sprintf(" and warm-up has left %d transitions of its %d", left, w.length)
	if w.kernel.setting.Kind == NUTS {
		if v.worth >= poor {
			return
		}
		why = fmt.Sprintf("one is worth about %.2g effective draws", v.worth)
		if v.worth < poorest && v.rhat < apart {
			perDraw, from = mostPerDraw, ""
		}
	} else if v.near() {
		return
	}
	if perDraw == 1 {
		return
	}
	w.kernel.spare = perDraw - 1
	w.note(fmt.Sprintf("Draws: of %.2g transitions each in the mean, as %s%s.", perDraw, why, from))
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
