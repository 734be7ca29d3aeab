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
	fresh     int  // number of times that the chain started again because it was on a plateau
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
// from learning. With several known modes, only chains on a plateau start again, however little
// mass it has: those in a mode of little mass are there on purpose, but the search may have taken a
// plateau for a mode.
//
// Masses are those in the coordinates in use, c. In the target's own coordinates, that of a
// right chain may be too small by hundreds of nats: where the scale of group-level terms varies,
// the volume of all draws together and the density at each of them do not belong together.
func (v *verdict) judgeChains(c *infer.Chart, parts []any, onlyExclude, several bool) {
	now := slices.Clone(v.rounds[len(v.rounds)-1]) // the records of the chains that take part
	v.rounds[len(v.rounds)-1] = now
	logMass, diverging := make([]float64, len(now)), make([]float64, len(now)) // of each chain
	width := 0.0
	for i, r := range now {
		levels, volume := inUse(c, r)
		slices.Sort(levels)
		n := len(levels)
		logMass[i] = levels[n/2] + volume
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
	flat := v.aside(withoutMass(v.plateaus(c, now), logMass, best), now)
	k := -1
	for chain, part := range parts {
		if _, ok := part.(record); !ok {
			continue
		}
		k++
		s := &v.standing[chain]
		s.lost = now[k].useless && s.restarted || flat[k].touched && s.fresh >= maxFresh
		switch {
		case s.dropped:
			now[k].useless, s.lost = true, true
		case flat[k].touched && (several || !now[k].useless):
			now[k].useless, v.plateau = true, true
			if flat[k].stays && !onlyExclude && s.fresh < maxFresh {
				s.fresh++
				v.restarts = append(v.restarts, chain)
			}
		case onlyExclude || several || !now[k].useless:
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

// aside returns flat, unless no chain to learn from would then be left.
func (v *verdict) aside(flat []plateau, now []record) []plateau {
	for i, r := range now {
		if !r.useless && !flat[i].touched {
			return flat
		}
	}
	return make([]plateau, len(flat))
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

// inUse returns the log densities of a record in the coordinates in use, and the log volume of its
// draws there: half the sum of the logarithms of their variances. c may be nil.
func inUse(c *infer.Chart, r record) (levels []float64, logVolume float64) {
	levels = slices.Clone(r.logDensity)
	d := len(r.draws[0])
	mean, squares := make([]float64, d), make([]float64, d)
	u, x := make([]float64, d), make([]float64, d)
	n := 0.0
	for t, draw := range r.draws {
		at := draw
		if c != nil && c.Evidence() != nil {
			if c.At(draw, u) != nil {
				continue
			}
			jacobian, err := c.Original(u, x)
			if err != nil {
				continue
			}
			levels[t] += jacobian
			at = u
		}
		n++
		for j, v := range at {
			from := v - mean[j]
			mean[j] += from / n
			squares[j] += from * (v - mean[j])
		}
	}
	for _, s := range squares {
		logVolume += 0.5 * math.Log(max(s/max(n, 1), minVariance))
	}
	return levels, logVolume
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
