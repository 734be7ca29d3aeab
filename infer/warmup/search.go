package warmup

import (
	"context"
	"errors"
	"math"

	"github.com/ppl-lang/ppl/infer"
)

// Search is a stage that doubles or halves the step size until the acceptance
// probability of a single step crosses 0.8. It makes no transition; each trial
// has a new momentum and costs one gradient.
type Search struct{}

// The search gives up beyond these step sizes. A density that is flat over such distances is
// improper; one that changes within them jumps. (A smaller lower limit would never be reached:
// steps underflow, and a step that goes nowhere is accepted.)
const (
	hugeStep = 1e7
	tinyStep = 1e-100
)

// ErrImproper is the error of a search for a step size in a density that seems to be flat.
var ErrImproper = errors.New("the density seems to be improper: it stays flat over any distance; give every parameter a proper prior, or bounds on both sides")

var errNoStep = errors.New("no step size is small enough: the log density seems to be discontinuous, or its gradient wrong")

// Run implements [infer.Stage].
func (Search) Run(_ context.Context, s *infer.State) error {
	// In zero dimensions every step size is the same.
	if s.Target.Dim() == 0 || s.KeepStep {
		return nil
	}
	z := infer.NewPoint(s.Target.Dim())
	accepted := func() (bool, error) {
		s.Hamiltonian.Momentum(s.Rng, s.Point)
		err := s.Hamiltonian.Step(s.Point, z, s.StepSize)
		return s.Point.Energy-z.Energy > logThreshold, err
	}
	grow, err := accepted()
	if err != nil {
		return err
	}
	factor := 0.5
	if grow {
		factor = 2
	}
	for {
		ok, err := accepted()
		if err != nil {
			return err
		}
		if ok != grow {
			return nil
		}
		s.StepSize *= factor
		if err := CheckStepSize(s.StepSize); err != nil {
			return err
		}
	}
}

// CheckStepSize returns an error if a search should end at this step size. The error says what the
// step size means.
func CheckStepSize(eps float64) error {
	switch {
	case eps > hugeStep:
		return ErrImproper
	case !(eps >= tinyStep): // also NaN
		return errNoStep
	}
	return nil
}

var logThreshold = math.Log(0.8)
