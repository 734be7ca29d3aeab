package nuts

import (
	"fmt"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// Sampler makes NUTS for a run: [Kernel], over a Euclidean metric by default. The zero
// value has Stan's defaults.
type Sampler struct {
	MaxDepth       int     // doublings of a tree; 0: 10
	MaxEnergyError float64 // beyond which a transition is divergent; 0: 1000
	Jitter         float64 // of the step size, see Kernel
	Adapt          warmup.Options

	// Hamiltonian makes the geometry, if it is not to be Euclidean; only the
	// step size is then adapted.
	Hamiltonian func(target *infer.Meter) (infer.Hamiltonian, error)
}

// MaxMaxDepth bounds the option MaxDepth: a tree that deep has a thousand
// million points.
const MaxMaxDepth = 30

// Validate says what is wrong with the options.
func (s Sampler) Validate() error {
	switch {
	case s.MaxDepth < 0 || s.MaxDepth > MaxMaxDepth:
		return fmt.Errorf("nuts: the maximal tree depth must be between 1 and %d, but is %d", MaxMaxDepth, s.MaxDepth)
	case !(s.MaxEnergyError >= 0):
		return fmt.Errorf("nuts: the limit on the energy error must be positive, but is %v", s.MaxEnergyError)
	case !(s.Jitter >= 0 && s.Jitter <= 1):
		return fmt.Errorf("nuts: the step size jitter must be between 0 and 1, but is %v", s.Jitter)
	}
	return s.Adapt.Validate()
}

// Plan implements [infer.Sampler].
func (s Sampler) Plan(target *infer.Meter, n int) (infer.Plan, error) {
	if err := s.Validate(); err != nil {
		return infer.Plan{}, err
	}
	h, adapt, err := hmc.Geometry(target, s.Adapt, s.Hamiltonian)
	if err != nil {
		return infer.Plan{}, err
	}
	return infer.Plan{
		Hamiltonian: h,
		Kernel:      &Kernel{MaxDepth: s.MaxDepth, MaxEnergyError: s.MaxEnergyError, Jitter: s.Jitter},
		Stages:      adapt.Stages(n),
		StepSize:    adapt.Start(),
	}, nil
}
