package auto

import (
	"context"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// This file decides which chains are useless for learning, and how they are treated. A chain is
// never moved to the position of another one. It may start again from a random point that it draws
// itself, and its draws are never replaced.

// standing is the state of a chain among the chains that learn together.
type standing struct {
	restarted bool
	useless   int  // number of rounds since the chain became useless
	present   bool // the chain has not ended
	dropped   bool // the chain is no longer used for learning
	lost      bool // useless in the last round although it was restarted
}

// judgeChains finds the chains of the last round that are useless for learning. A chain is useless
// if almost all of its transitions diverge, while those of others do not, or if the region of its
// draws has next to no mass. The log mass of a region is its log density plus its log volume, so a
// high but narrow mode may have little mass. Useless chains start again, once; those that fail
// again are dropped. With onlyExclude, as in the first and the last round, they are only excluded
// from learning.
func (v *verdict) judgeChains(parts []any, onlyExclude bool) {
	now := slices.Clone(v.rounds[len(v.rounds)-1]) // the records of the chains that take part
	v.rounds[len(v.rounds)-1] = now
	logMass, diverging := make([]float64, len(now)), make([]float64, len(now)) // of each chain
	width := 0.0
	for i, r := range now {
		levels := slices.Clone(r.logDensity)
		slices.Sort(levels)
		n := len(levels)
		logMass[i] = levels[n/2] + logVolume(r.draws)
		diverging[i] = float64(r.divergent) / float64(r.transitions)
		width = max(width, levels[n*3/4]-levels[n/4])
	}
	best := heaviest(logMass, diverging, v.at.stuck)
	d := float64(len(now[0].draws[0]))
	width = min(width, 3*math.Sqrt(d)) // except for chains that have not arrived yet
	othersMove := slices.Sorted(slices.Values(diverging))[(len(diverging)-1)/2] < v.at.moving
	healthy := 0 // without dropped chains, as the last one that is left must not be dropped
	i := -1
	for chain, part := range parts {
		if _, ok := part.(record); !ok {
			continue
		}
		i++
		light := logMass[i] < best-v.at.farBelow-v.at.farBelow*width
		stuck := othersMove && diverging[i] > v.at.stuck
		if now[i].useless = light || stuck; !now[i].useless && !v.standing[chain].dropped {
			healthy++
		}
	}
	if healthy == 0 {
		for i := range now {
			now[i].useless = false
		}
		return
	}
	k := -1
	for chain, part := range parts {
		if _, ok := part.(record); !ok {
			continue
		}
		k++
		s := &v.standing[chain]
		s.lost = now[k].useless && s.restarted
		switch {
		case s.dropped:
			now[k].useless, s.lost = true, true
		case onlyExclude || !now[k].useless:
		case !s.restarted:
			s.restarted = true
			v.restarts = append(v.restarts, chain)
		default:
			s.useless++
			s.dropped = s.useless >= int(v.at.patience)
			v.wavering = v.wavering || !s.dropped
		}
	}
}

// heaviest returns the largest log mass of the chains that move: the draws of a chain that diverges
// in most transitions do not measure the volume around it. In the neck of a funnel, where the
// density grows without bound, such a chain would seem to have more mass than all the others.
func heaviest(logMass, diverging []float64, stuck float64) float64 {
	best, moving := -infinity, slices.Min(diverging) <= stuck
	for i, m := range logMass {
		if !moving || diverging[i] <= stuck {
			best = max(best, m)
		}
	}
	return best
}

// logVolume is half the sum of the logarithms of the variances of draws.
func logVolume(draws [][]float64) float64 {
	n, sum := float64(len(draws)), 0.0
	for j := range draws[0] {
		mean, square := 0.0, 0.0
		for _, x := range draws {
			mean += x[j] / n
		}
		for _, x := range draws {
			square += (x[j] - mean) * (x[j] - mean) / n
		}
		sum += 0.5 * math.Log(max(square, minVariance))
	}
	return sum
}

// minVariance is the minimum variance of a chain that moves. Smaller variances are due to rounding.
const minVariance = 1e-20

// present returns the records of the chains that have not been dropped.
func (v *verdict) present(parts []any, recent []record) []record {
	var out []record
	k := 0
	for chain, part := range parts {
		if _, ok := part.(record); !ok {
			continue
		}
		if !v.standing[chain].dropped {
			out = append(out, recent[k])
		}
		k++
	}
	return out
}

// restart moves the chain to a new random point, drawn from the chain's own random stream.
func (w *chain) restart(ctx context.Context) error {
	rng := infer.Stream(w.Seed, w.ID, "restart", 0)
	x, _, err := infer.FindStart(infer.Uniform{Radius: restartRadius}, w.Chain, w.Target, rng)
	if err != nil {
		return err
	}
	w.nearMeans(x, rng)
	_, err = w.startFrom(ctx, x, false)
	return err
}

// restartRadius is the radius of Stan's random starts.
const restartRadius = 2
