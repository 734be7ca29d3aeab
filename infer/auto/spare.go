package auto

import "fmt"

// spend decides how many transitions make a draw: where one of NUTS is worth little, as many as
// make it worth wanted effective draws, and maxPerDraw at most (thresholds.go). Four chains of
// 1000 draws then have several times the 400 effective draws that R-hat and quantiles need, though
// the estimate, from few transitions of which many had another metric, may be three times too
// large. Per gradient little is lost: below that worth a second transition adds nearly as much as
// the first, and warm-up counts for less.
//
// Chains that are in different places are not brought together by more of the same: they get what
// warm-up has left at most. Static kernels are chosen where draws are worth much; only where they
// were asked for on another target do they get the transitions that warm-up has left.
func (w *chain) spend(v *verdict) {
	if w.options.NoSpare || w.options.NoEarlyEnd {
		return
	}
	spared := 1 + float64(max(0, w.length-w.made))/float64(w.length)
	perDraw, why := 1.0, "The target is not quite normal"
	switch {
	case w.kernel.setting.Kind == NUTS:
		perDraw = w.at.transitionsFor(v.worth)
		if v.rhat >= w.at.apart {
			perDraw = min(perDraw, spared)
		}
		why = fmt.Sprintf("A transition is worth about %.2g effective draws", v.worth)
	case !v.near():
		perDraw = spared
	}
	if perDraw == 1 {
		return
	}
	w.kernel.spare = perDraw - 1
	w.note(fmt.Sprintf("Thinning: one draw per %.2g transitions on average, to lower the autocorrelation. %s.", perDraw, why))
}

// transitionsFor is the number of transitions for a draw, on average, if one is worth so many
// effective draws.
func (at *limits) transitionsFor(worth float64) float64 {
	return min(max(at.wanted/worth, 1), at.maxPerDraw)
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
