package sampler

import (
	"context"
	"errors"
	"math"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/optimize"
)

// climb is a stage that brings a chain that began at random to the typical set, before its first
// transition, by [optimize.FindTypical]. Where a metric moves, steps far from there must be a
// hundred times as short as within it, trajectories of a given length have as many more of them,
// and each takes the work of many gradients; a climb takes some hundred gradients.
//
// A chain that was asked to begin where it is stays there.
type climb struct{}

// climbEvaluations of the density is the most that a climb takes, and twice the root of the dimension.
const climbEvaluations = 100

// Run implements [infer.Stage].
func (climb) Run(ctx context.Context, s *infer.State) error {
	d := s.Target.Dim()
	if !s.RandomStart || d == 0 {
		return nil
	}
	a, err := optimize.FindTypical(ctx, s.Target, s.Point.Position, s.Rng, climbEvaluations+int(2*math.Sqrt(float64(d))))
	if none := (*infer.InitError)(nil); errors.As(err, &none) {
		return nil
	}
	if err != nil {
		return err
	}
	// In order of preference; where there is no metric nobody may be.
	first := infer.NewPoint(d)
	first.CopyFrom(s.Point)
	for _, x := range [][]float64{a.Draw, a.X} {
		if x == nil {
			continue
		}
		copy(s.Point.Position, x)
		if err := s.Hamiltonian.Reset(s.Point); err != nil {
			return err
		}
		if !math.IsInf(s.Point.LogDensity, -1) {
			return nil
		}
	}
	s.Point.CopyFrom(first)
	return nil
}
