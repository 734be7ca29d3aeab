package ahmc

import (
	"context"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// Constants of the search for a box, see the package comment.
const (
	approachSteps  = 5    // maximum number of steps of the trajectories that approach the typical set
	approachAccept = 0.65 // target mean acceptance of these trajectories
	stepSizeReach  = 1.5  // maximum step size of the box, relative to the step size found
	stepSizeRatio  = 20   // ratio of maximum to minimum step size
	turnTrials     = 10   // number of trajectories followed until a U-turn
	stepsReach     = 2    // maximum number of steps of the box, relative to the number found
	minSteps       = 10   // minimum of that maximum
	maxSteps       = 512  // maximum of that maximum
)

// Box is Γ, the set of step sizes and of maximum numbers of steps from which to choose. Bounds that
// are zero are found automatically, see the package comment; MinSteps is then 1, and MinStepSize a
// twentieth of MaxStepSize.
type Box struct {
	MinStepSize, MaxStepSize float64
	MinSteps, MaxSteps       int
}

// complete reports whether all bounds are given.
func (b Box) complete() bool { return b.MaxStepSize > 0 && b.MaxSteps > 0 }

// withDefaults fills in the lower bounds if the upper ones are given.
func (b Box) withDefaults() Box {
	if b.MinStepSize == 0 {
		b.MinStepSize = b.MaxStepSize / stepSizeRatio
	}
	if b.MinSteps == 0 {
		b.MinSteps = 1
	}
	return b
}

// approach makes the transitions before a box is found: n short trajectories. It finds the step
// size for which these have a mean acceptance of 0.65, and returns the spread of the second half of
// the positions.
//
// The step size is averaged twice. The second average does not include the transitions with which
// the chain first approaches the typical set.
func approach(ctx context.Context, s *infer.State, kernel *Kernel, n int) (*spread, error) {
	kernel.hmc = hmc.Kernel{Steps: approachSteps}
	seen := &spread{}
	average := func() *warmup.DualAveraging {
		return warmup.NewDualAveraging(warmup.Averaging{Delta: approachAccept}, s.StepSize)
	}
	i, step := 0, average()
	saved := s.Resumable(func() []float64 {
		return slices.Concat([]float64{float64(i)}, step.State(), seen.state())
	})
	if saved == nil {
		if err := (warmup.Search{}).Run(ctx, s); err != nil {
			return nil, err
		}
		step = average()
	} else {
		var err error
		if i, err = infer.SavedCount(saved, n); err != nil {
			return nil, err
		}
		rest, err := step.SetState(saved[1:])
		if err == nil {
			err = seen.setState(rest, s.Target.Dim())
		}
		if err != nil {
			return nil, err
		}
	}
	for ; i < n; i++ {
		if i == n/2 && i > 0 {
			s.StepSize = step.Final()
			step = average()
		}
		info, err := s.Advance()
		if err != nil {
			return nil, err
		}
		s.StepSize = step.Update(info.AcceptStat)
		if i >= n/2 {
			seen.add(s.Point.Position)
		}
	}
	s.StepSize = step.Final()
	return seen, nil
}

// findBox finds the missing bounds of box, from where the approach ended.
func findBox(box Box, s *infer.State, seen *spread) (Box, error) {
	if s.Target.Dim() == 0 { // nothing moves
		box.MaxStepSize, box.MaxSteps = max(box.MaxStepSize, 1), max(box.MaxSteps, 1)
		return box.withDefaults(), nil
	}
	found := s.StepSize
	if box.MaxStepSize == 0 {
		box.MaxStepSize = stepSizeReach * found
		if box.MinStepSize >= box.MaxStepSize { // a given bound is larger than expected
			box.MaxStepSize = stepSizeRatio * box.MinStepSize
		}
	}
	if box.MaxSteps == 0 {
		eps := min(found, box.MaxStepSize)
		steps := min(math.Pi*seen.widest(newJumps(s.Hamiltonian))/eps, maxSteps)
		for range turnTrials {
			turn, err := stepsToTurn(s, eps)
			if err != nil {
				return box, err
			}
			steps = max(steps, float64(turn))
		}
		box.MaxSteps = max(min(int(math.Ceil(stepsReach*steps)), maxSteps), minSteps, box.MinSteps)
	}
	return box.withDefaults(), nil
}

// stepsToTurn counts the steps of a trajectory with a new momentum until it turns back: until (q -
// q₀)·p, the derivative of half the squared distance in units of the metric, is negative. If the
// trajectory fails, it returns the number of steps before the failure; if it does not turn,
// maxSteps.
func stepsToTurn(s *infer.State, eps float64) (int, error) {
	z := infer.NewPoint(s.Target.Dim())
	z.CopyFrom(s.Point)
	s.Hamiltonian.Momentum(s.Rng, z)
	for step := 1; step < maxSteps; step++ {
		if err := s.Hamiltonian.Step(z, z, eps); err != nil {
			return 0, err
		}
		if math.IsInf(z.Energy, 1) {
			return step, nil
		}
		away := 0.0
		for i, p := range z.Momentum {
			away += (z.Position[i] - s.Point.Position[i]) * p
		}
		if away < 0 {
			return step, nil
		}
	}
	return maxSteps, nil
}

// spread is the running variance of each coordinate (Welford).
type spread struct {
	n         float64
	mean, sum []float64
}

func (v *spread) add(x []float64) {
	if v.mean == nil {
		v.mean, v.sum = make([]float64, len(x)), make([]float64, len(x))
	}
	v.n++
	for i, xi := range x {
		d := xi - v.mean[i]
		v.mean[i] += d / v.n
		v.sum[i] += d * (xi - v.mean[i])
	}
}

// state returns the moments as numbers; setState restores them.
func (v *spread) state() []float64 { return slices.Concat([]float64{v.n}, v.mean, v.sum) }

func (v *spread) setState(s []float64, dim int) error {
	moments := 0
	if len(s) > 0 && s[0] > 0 {
		moments = 2 * dim
	}
	if len(s) != 1+moments {
		return stateError("approach", len(s), 1+moments)
	}
	v.n = s[0]
	if moments > 0 {
		v.mean, v.sum = slices.Clone(s[1:1+dim]), slices.Clone(s[1+dim:])
	}
	return nil
}

// widest returns the largest standard deviation of a coordinate, in units of a diagonal metric. For
// a dense metric it returns 0: unknown.
func (v *spread) widest(j jumps) float64 {
	if v.n < 2 || j.factor != nil || j.whiten != nil {
		return 0
	}
	widest := 0.0
	for i, sum := range v.sum {
		variance := sum / (v.n - 1)
		if j.weights != nil {
			variance *= j.weights[i]
		}
		if sd := math.Sqrt(variance); sd > widest && !math.IsInf(sd, 0) {
			widest = sd
		}
	}
	return widest
}
