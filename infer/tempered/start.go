package tempered

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/infer/warmup"
)

var errNoLadder = errors.New("tempered: the stages of a ladder were run before it was made")

// The constants of the search for modes.
const (
	climbs     = 100 // evaluations of a climb, and twice the root of the dimension
	localWarm  = 100 // transitions of NUTS at what a climb has led to, in which it adapts
	localDraws = 60  // and from which a component is learnt
	localDepth = 6
	mostStarts = 8 // times the starts asked for, as long as they find modes

	seekClimbs  = 12   // climbs after a round
	seekRuns    = 2    // short runs from draws that no component explains
	foundWeight = 0.05 // of a component that they find
)

// radii are those of the random points from which climbs begin, one after the other.
var radii = []float64{2, 4, 1, 8}

// search is the stage that looks for modes: climbs from random points, and at each place that none of
// the modes found so far explains, a short run of NUTS, to which a normal distribution is
// fitted. The ladder begins with these.
type search struct{ k *Kernel }

// local is what is known of a mode.
type local struct {
	Component
	log   float64 // of its mass
	draws [][]float64
}

// Run implements [infer.Stage].
func (f search) Run(ctx context.Context, s *infer.State) error {
	k := f.k
	first := slices.Clone(s.Point.Position)
	x := slices.Clone(first)
	var found []local
	var failure error // of the chain's own start
	for i, vain := 0, 0; vain < k.options.Starts && i < mostStarts*k.options.Starts && len(found) < mostComponents; i++ {
		if i > 0 {
			radius := radii[(i-1)%len(radii)]
			for j := range x {
				x[j] = radius * (2*s.Rng.Float64() - 1)
			}
		}
		vain++
		scale, end, err := k.climb(ctx, s.Rng, x)
		if err != nil {
			return err
		}
		if end == nil || explained(mixtureOf(found), end) {
			continue
		}
		mode, err := k.explored(ctx, s.Rng, scale, end)
		if final(err) {
			return err
		}
		if err != nil {
			if i == 0 {
				failure = err
			}
			continue
		}
		found, vain = append(found, mode), 0
	}
	if len(found) == 0 {
		if failure != nil {
			return failure
		}
		return k.improvise(s.Rng, first)
	}
	start := Start{At: found[0].draws[len(found[0].draws)-1]}
	most := math.Inf(-1)
	for _, m := range found {
		most = max(most, m.log)
	}
	for _, m := range found {
		m.Weight = max(math.Exp(m.log-most), 1e-6)
		start.Modes = append(start.Modes, m.Component)
	}
	for i := range localDraws / 4 {
		for _, m := range found {
			start.Points = append(start.Points, m.draws[len(m.draws)-1-i])
		}
	}
	if err := k.begin(s.Rng, start); err != nil {
		return err
	}
	copy(s.Point.Position, start.At)
	return s.Hamiltonian.Reset(s.Point)
}

// final reports whether an error ends the chain, wherever it occurs.
func final(err error) bool {
	return errors.Is(err, infer.ErrInterrupted) || errors.Is(err, infer.ErrFatal)
}

// climb leads from x to where a mode may be: scales of the coordinates and a point there; no point if
// the density is zero at x.
func (k *Kernel) climb(ctx context.Context, rng *rand.Rand, x []float64) (scale, end []float64, err error) {
	a, err := optimize.FindTypical(ctx, k.target, x, rng, climbs+int(2*math.Sqrt(float64(len(x)))), nil)
	if none := (*infer.InitError)(nil); errors.As(err, &none) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if a.Draw != nil {
		return a.Scale, a.Draw, nil
	}
	return a.Scale, a.X, nil
}

// mixtureOf is a mixture of all that was found, in equal parts; nil if that is nothing.
func mixtureOf(found []local) *Mixture {
	var parts []Component
	for _, m := range found {
		parts = append(parts, Component{1, m.Normal})
	}
	m, err := NewMixture(parts)
	if err != nil {
		return nil
	}
	return m
}

// explained reports whether a point may be a draw of one of the components.
func explained(m *Mixture, x []float64) bool {
	if m == nil {
		return false
	}
	d := float64(len(x))
	_, square := m.nearest(x)
	return square < d+4*math.Sqrt(2*d)+4
}

// seek looks for modes that the fitted reference misses, from draws of the other levels, whose
// scales are those of the target: by climbs from them, as far as they are hot, and by short runs
// from the coldest that no component explains, which may be of a wide mode about the summit of
// a narrow one. What is found becomes a component.
func (k *Kernel) seek(ctx context.Context, rng *rand.Rand) error {
	parts := k.fitted.Components()
	all := k.fitted
	add := func(scale, x []float64) error {
		mode, err := k.explored(ctx, rng, scale, x)
		if err != nil {
			if final(err) {
				return err
			}
			return nil
		}
		if explained(all, mode.draws[len(mode.draws)-1]) {
			return nil // it has led to a mode that is known
		}
		mode.Weight = foundWeight
		grown := append(slices.Clone(parts), mode.Component)
		if m, err := NewMixture(grown); err == nil {
			all, parts = m, grown
		}
		return nil
	}
	for count, place := 0, len(k.levels)-1; count < seekClimbs && len(parts) < mostComponents; count++ {
		draws := k.learning.draws[place]
		if n := len(draws); n > 0 {
			scale, end, err := k.climb(ctx, rng, draws[rng.IntN(n)])
			if err != nil {
				return err
			}
			if end != nil && !explained(all, end) {
				if err := add(scale, end); err != nil {
					return err
				}
			}
		}
		if place--; place < 0 {
			place = len(k.levels) - 1
		}
	}
	tried := 0
	for place := k.cold; place < len(k.levels) && tried < seekRuns && len(parts) < mostComponents; place++ {
		draws := k.learning.draws[place]
		for i := len(draws) - 1; i >= 0 && k.levels[place].beta > 0.3; i -= 1 + len(draws)/8 {
			if explained(all, draws[i]) {
				continue
			}
			scale := make([]float64, len(draws[i]))
			for j, v := range variances(k.levels[place].h.inner.Metric()) {
				scale[j] = math.Sqrt(v)
			}
			if err := add(scale, draws[i]); err != nil {
				return err
			}
			tried++
			break
		}
	}
	if len(parts) == len(k.fitted.parts) {
		return nil
	}
	lift(parts)
	m, err := NewMixture(parts)
	if err == nil {
		k.fitted = m
	}
	return err
}

// explored is what a short run of NUTS from x finds of the mode there.
func (k *Kernel) explored(ctx context.Context, rng *rand.Rand, scale, x []float64) (local, error) {
	plan, err := nuts.Sampler{MaxDepth: localDepth, Refine: k.options.refine()}.Plan(k.target, localWarm)
	if err != nil {
		return local{}, err
	}
	variance := make([]float64, len(scale))
	for i, v := range scale {
		variance[i] = v * v
	}
	// A metric that cannot be used leaves the unit one in place.
	_ = plan.Hamiltonian.(infer.Euclidean).SetMetric(infer.Metric{Kind: infer.Diagonal, Dim: len(x), Inverse: variance})
	chain, err := infer.NewState(plan, k.target, rng, x)
	if err != nil {
		return local{}, err
	}
	for _, stage := range plan.Stages {
		if err := stage.Run(ctx, chain); err != nil {
			return local{}, err
		}
	}
	var m local
	var scores [][]float64
	var logs []float64
	for range localDraws {
		if _, err := chain.Advance(); err != nil {
			return m, err
		}
		m.draws, scores = append(m.draws, slices.Clone(chain.Point.Position)), append(scores, slices.Clone(chain.Point.Gradient))
		logs = append(logs, chain.Point.LogDensity)
	}
	var ok bool
	if m.Normal, ok = component(m.draws, scores); !ok {
		if len(x) == 0 {
			m.Normal, ok = infer.Metric{Kind: infer.Unit}, true
		} else {
			return m, warmup.ErrImproper
		}
	}
	m.Weight = 1
	q, err := NewMixture([]Component{m.Component})
	if err != nil {
		return m, err
	}
	for i, x := range m.draws {
		logs[i] -= q.Log(x)
	}
	m.log = floats.Sum(logs) / float64(len(logs))
	return m, nil
}
