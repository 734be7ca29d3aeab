package auto

import (
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// watched lists the whitened coordinates that the race observes, with their variances, and has the
// variance of the log density.
type watched struct {
	to     *whiten.Map
	which  []int
	scales []float64 // scales of these coordinates
}

// maxWatched is the maximum number of slow coordinates, and of other ones, that the race observes.
const maxWatched = 8

func newWatched(v *verdict, rng *rand.Rand) (*watched, error) {
	to, err := whiten.NewMap(v.metric)
	if err != nil {
		return nil, err
	}
	o := &watched{to: to, scales: v.scales, which: v.slow}
	if len(v.slow) > 2*maxWatched {
		o.which = append([]int(nil), v.slow[:maxWatched]...)
		rest := append([]int(nil), v.slow[maxWatched:]...)
		rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		o.which = append(o.which, rest[:maxWatched]...)
	}
	return o, nil
}

// jumps has the mean squared jumps of one chain in a batch. A jump is the distance from one state
// to the next. With a static kernel, it is the distance to the proposal, weighted by the acceptance
// probability, which is less noisy.
type jumps struct {
	n         float64
	cost      float64   // number of gradients
	later     float64   // the same, if all transitions took as many as those of the later half
	linear    []float64 // sums over the transitions, by observed coordinate
	squares   []float64
	energy    float64 // sum for the log density
	levels    []float64
	accept    float64
	divergent int
}

// batch makes n transitions with the current setting and returns their jumps.
func (w *chain) batch(o *watched, n int, each func(info infer.Info)) (jumps, error) {
	j := jumps{linear: make([]float64, len(o.which)), squares: make([]float64, len(o.which))}
	d := w.Target.Dim()
	before, after, scratch := make([]float64, d), make([]float64, d), make([]float64, d)
	start, half := w.Target.Gradients(), w.Target.Gradients()
	for t := range n {
		if t == n/2 {
			half = w.Target.Gradients()
		}
		o.to.Whiten(w.Point.Position, w.Point.Gradient, before, scratch)
		level := w.Point.LogDensity
		info, err := w.Advance()
		if err != nil {
			return j, err
		}
		j.n++
		j.levels = append(j.levels, w.Point.LogDensity)
		j.accept += info.AcceptStat
		if info.Divergent {
			j.divergent++
		}
		each(info)
		end, weight := w.Point, 1.0
		if info.Proposal != nil {
			end, weight = info.Proposal, info.AcceptStat
		}
		if weight == 0 {
			continue
		}
		o.to.Whiten(end.Position, end.Gradient, after, scratch)
		for k, c := range o.which {
			a, b := before[c], after[c]
			j.linear[k] += weight * (b - a) * (b - a)
			j.squares[k] += weight * (b*b - a*a) * (b*b - a*a)
		}
		j.energy += weight * (end.LogDensity - level) * (end.LogDensity - level)
	}
	j.cost = float64(w.Target.Gradients() - start)
	j.later = float64(w.Target.Gradients()-half) * float64(n) / float64(max(1, n-n/2))
	w.made += n
	return j, nil
}

// outcome combines the jumps of all chains in a batch.
type outcome struct {
	reward    float64
	linear    float64 // effective draws per transition, for the coordinates
	accept    float64 // smallest mean acceptance of a chain
	divergent int
	cost      float64 // gradients per transition
}

// worth combines the jumps of all chains into effective draws per gradient, on the assumption that
// autocorrelations decay geometrically. It is the smallest of three values: for the coordinates,
// for their squares, and for the log density. Coordinates are combined by the harmonic mean, so
// that slow ones count most.
func (o *watched) worth(parts []any) outcome {
	var total jumps
	out := outcome{accept: 1}
	for _, part := range parts {
		j, ok := part.(jumps)
		if !ok {
			continue
		}
		if total.linear == nil {
			total.linear, total.squares = make([]float64, len(j.linear)), make([]float64, len(j.squares))
		}
		total.n += j.n
		total.cost += j.cost
		total.energy += j.energy
		total.levels = append(total.levels, j.levels...)
		for k := range j.linear {
			total.linear[k] += j.linear[k]
			total.squares[k] += j.squares[k]
		}
		out.divergent += j.divergent
		out.accept = min(out.accept, j.accept/j.n)
	}
	if total.n == 0 || !(total.cost > 0) {
		return out
	}
	// For a stationary chain, the mean squared jump is 2(1 - ρ) times the variance. The square of a
	// normal variable has variance 2σ⁴.
	rate := func(jump, variance float64) float64 {
		moved := jump / total.n / (2 * max(variance, 1e-300)) // 1 - ρ
		if !(moved > 0) {
			return 1e-6
		}
		return min(1, moved/max(2-moved, 0.05))
	}
	harmonic := func(sums []float64, variance func(s float64) float64) float64 {
		sum := 0.0
		for k, s := range sums {
			sum += 1 / rate(s, variance(o.scales[o.which[k]]))
		}
		return float64(len(sums)) / sum
	}
	linear := harmonic(total.linear, func(s float64) float64 { return s })
	squares := harmonic(total.squares, func(s float64) float64 { return 2 * s * s })
	mean, variance := 0.0, 0.0
	for _, l := range total.levels {
		mean += l / total.n
	}
	for _, l := range total.levels {
		variance += (l - mean) * (l - mean) / total.n
	}
	out.cost = total.cost / total.n
	out.linear = linear
	out.reward = min(linear, squares, rate(total.energy, variance)) / out.cost
	if math.IsNaN(out.reward) || math.IsInf(out.reward, 0) {
		out.reward = 0
	}
	return out
}
