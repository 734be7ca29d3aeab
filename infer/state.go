package infer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// State is the state of a chain in warm-up, which each stage passes on to the next. Stages may
// change any exported field between transitions.
type State struct {
	Chain int    // index of the chain, from 0
	ID    int    // number of the chain, which selects its random streams
	Seed  uint64 // seed of the run

	Rng         *rand.Rand // random numbers for the transitions
	Target      *Meter
	Chart       *Chart // changeable coordinates, below Target; nil: they cannot be changed
	Hamiltonian Hamiltonian
	Kernel      Kernel
	Point       *Point  // the current state, after Reset
	StepSize    float64 // the step size that Advance passes to the kernel
	FirstStep   float64 // StepSize at the start of the chain: the plan's, or that of Config.StepSize
	KeepStep    bool    // StepSize was given for a run without warm-up: stages should not search for another
	RandomStart bool    // Point was drawn by Uniform, not given

	Iteration int // transitions made so far

	// Note adds a sentence to ChainReport.Notes; nil: notes are dropped.
	Note func(sentence string)

	// Emit adds to ChainReport.Events; nil: events are dropped.
	Emit func(Event)

	// exchange exchanges parts with the other chains; nil: the chain is alone
	exchange func(part any, combine func(parts []any) any) (any, error)

	observe func(Info) error // saves the draw and reports progress, after a transition
	before  func() error     // saves the state, before a transition

	keep   func() []float64 // returns the numbers of the current stage, see Resumable; nil: it cannot be saved
	within []float64        // saved numbers of the stage in which the run is resumed; nil: none
}

// Resumable lets a run be saved and resumed in the middle of a stage. A stage calls it before its
// first transition. save returns the numbers on which the rest of the stage depends and that are
// not in s, such as the number of transitions made; it is called between two transitions. The
// result is nil or, if the run is resumed within this stage, the saved numbers, from which the
// stage must continue.
//
// A stage that does not call Resumable is repeated from its beginning.
func (s *State) Resumable(save func() []float64) (saved []float64) {
	saved, s.within = s.within, nil
	s.keep = save
	return saved
}

// SavedCount returns the first of the numbers that [State.Resumable] returned, which is the number
// of transitions made so far by a stage of n transitions. It returns an error if no stage could
// have saved this number.
func SavedCount(saved []float64, n int) (int, error) {
	if len(saved) == 0 || !(saved[0] >= 0 && saved[0] <= float64(n)) || saved[0] != math.Trunc(saved[0]) {
		return 0, errors.New("infer: the saved state of a stage of warm-up makes no sense: was the run started by another version?")
	}
	return int(saved[0]), nil
}

// NewState returns the state of a chain that starts at a copy of x, with the parts of plan.
// Sessions make their own states; use this one to run stages and kernels yourself. It returns an
// error if the plan is incomplete or the log density at x is not finite.
func NewState(plan Plan, target *Meter, rng *rand.Rand, x []float64) (*State, error) {
	if err := plan.validate(); err != nil {
		return nil, err
	}
	if target == nil || rng == nil {
		return nil, errors.New("infer: a state needs a target and a source of random numbers")
	}
	if len(x) != target.Dim() {
		return nil, fmt.Errorf("infer: position of length %d for a target of dimension %d", len(x), target.Dim())
	}
	s := &State{
		ID:          1,
		Rng:         rng,
		Target:      target,
		Hamiltonian: plan.Hamiltonian,
		Kernel:      plan.Kernel,
		Point:       NewPoint(target.Dim()),
		StepSize:    plan.StepSize,
		FirstStep:   plan.StepSize,
	}
	copy(s.Point.Position, x)
	if err := s.Hamiltonian.Reset(s.Point); err != nil {
		return nil, err
	}
	if math.IsInf(s.Point.LogDensity, -1) {
		return nil, fmt.Errorf("infer: the chain cannot start where it is: %s", target.lastRejection())
	}
	return s, nil
}

func (p Plan) validate() error {
	switch {
	case p.Hamiltonian == nil:
		return errors.New("infer: the sampler's plan has no Hamiltonian")
	case p.Kernel == nil:
		return errors.New("infer: the sampler's plan has no kernel")
	case !(p.StepSize > 0) || math.IsInf(p.StepSize, 1):
		return fmt.Errorf("infer: the step size must be positive and finite, but is %v", p.StepSize)
	}
	return nil
}

// Advance makes one transition: it moves Point, counts the iteration, and passes the draw to the
// run. An error is final and must be returned unchanged.
func (s *State) Advance() (Info, error) {
	if s.Target.Interrupted() {
		return Info{}, ErrInterrupted
	}
	if s.before != nil {
		if err := s.before(); err != nil {
			return Info{}, err
		}
	}
	z, info, err := s.Kernel.Transition(s.Rng, s.Hamiltonian, s.StepSize, s.Point)
	if err != nil {
		return info, err
	}
	s.Point = z
	s.Iteration++
	if s.observe != nil {
		err = s.observe(info)
	}
	return info, err
}
