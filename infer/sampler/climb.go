package sampler

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/infer/riemann"
)

// climb is a stage that moves a chain with a random start to the typical set, before its first
// transition, by [optimize.FindTypical]. With a metric that depends on the position, steps far out
// must be a hundred times shorter than within the typical set. Trajectories of a given length then
// have a hundred times as many steps, and each costs many gradients. A climb takes about a hundred
// gradients.
//
// The density of a hierarchical model may be largest in the neck of a funnel, which has next to no
// mass. So the chain goes to the point of the path with the least [riemann.Hamiltonian.Potential],
// which is not in the neck. If that is no better than for draws, it stays where it is.
//
// From there it makes transitions with a Euclidean metric, which take a few thousand gradients, see
// relaxed.
//
// A chain whose start was given stays there.
type climb struct{}

// Constants of climb.
const (
	climbEvaluations = 100 // maximum number of evaluations of the density, plus twice the root of the dimension
	climbMetrics     = 16  // approximate number of points of the path that are examined
	relaxTransitions = 60  // number of NUTS transitions after the climb
	relaxDepth       = 6   // maximum depth of their trees
	climbUnlikely    = 8   // standard deviations of a log density by which a draw may be below its expected value
)

// Run implements [infer.Stage].
func (climb) Run(ctx context.Context, s *infer.State) error {
	d := float64(s.Target.Dim())
	h, ok := s.Hamiltonian.(*riemann.Hamiltonian)
	if !ok || !s.RandomStart || d == 0 {
		return nil
	}
	var path [][]float64
	a, err := optimize.FindTypical(ctx, s.Target, s.Point.Position, s.Rng, climbEvaluations+int(2*math.Sqrt(d)),
		func(x []float64) { path = append(path, slices.Clone(x)) })
	if none := (*infer.InitError)(nil); errors.As(err, &none) {
		return nil
	}
	if err != nil {
		return err
	}
	first, err := h.Potential(s.Point.Position)
	if err != nil {
		return err
	}
	last := len(path) - 1
	var best []float64
	least := math.Inf(1)
	for i := last; i >= 0; i -= 1 + last/climbMetrics {
		u, err := h.Potential(path[i])
		if err != nil {
			return err
		}
		if u < least {
			best, least = path[i], u
		}
	}
	if !(least < first-0.5*d) { // draws have a log density half the dimension below the mode's
		return nil
	}
	if a.Draw != nil && &best[0] == &path[last][0] {
		u, err := h.Potential(a.Draw)
		if err != nil {
			return err
		}
		if u <= least+0.5*d+climbUnlikely*math.Sqrt(0.5*d) {
			best = a.Draw
		}
	}
	at, err := relaxed(ctx, s, a.Scale, best)
	if err != nil {
		return err
	}
	if u, err := h.Potential(at); err != nil || math.IsInf(u, 1) {
		at = best // there is no metric at the other points
	}
	copy(s.Point.Position, at)
	return s.Hamiltonian.Reset(s.Point)
}

// relaxed makes transitions of NUTS from x with a Euclidean metric, at first that of the climb, and
// returns the last position; x if there are no transitions. A climb ends when the density can gain
// no more than half the dimension. If some directions are long and flat, that is far from draws,
// and a metric may be almost singular there. A gradient is cheap compared with a step in a
// position-dependent metric.
func relaxed(ctx context.Context, s *infer.State, scale, x []float64) ([]float64, error) {
	plan, err := nuts.Sampler{MaxDepth: relaxDepth}.Plan(s.Target, relaxTransitions)
	if err != nil {
		return nil, err
	}
	variance := make([]float64, len(scale))
	for i, v := range scale {
		variance[i] = v * v
	}
	if err := plan.Hamiltonian.(infer.Euclidean).SetMetric(infer.Metric{Kind: infer.Diagonal, Dim: len(x), Inverse: variance}); err != nil {
		return x, nil
	}
	chain, err := infer.NewState(plan, s.Target, s.Rng, x)
	for _, stage := range plan.Stages {
		if err == nil {
			err = stage.Run(ctx, chain)
		}
	}
	switch {
	case errors.Is(err, infer.ErrInterrupted):
		return nil, err
	case err != nil: // no step size works there; a final error will occur again
		return x, nil
	}
	return chain.Point.Position, nil
}
