package nuts

import (
	"fmt"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// Sampler is the no-U-turn sampler for a run: [Kernel], over a Euclidean metric by default. The
// zero value has Stan's defaults.
type Sampler struct {
	MaxDepth       int     // maximum number of doublings; 0: 10
	MaxEnergyError float64 // energy error above which a transition is divergent; 0: 1000
	Jitter         float64 // variation of the step size, see Kernel
	Refine         float64 // see Kernel
	Adapt          warmup.Options

	// Hamiltonian makes the geometry, if it is not Euclidean. Then only the step size is adapted.
	Hamiltonian func(target *infer.Meter) (infer.Hamiltonian, error)
}

// Validate returns an error if an option is invalid.
func (s Sampler) Validate() error {
	if err := checkTree(s.MaxDepth, s.MaxEnergyError, s.Jitter); err != nil {
		return err
	}
	if err := infer.CheckOptions(map[string]float64{"refine": s.Refine}); err != nil {
		return fmt.Errorf("nuts: %w", err)
	}
	return s.Adapt.Validate()
}

// checkTree returns an error if an option of trees is invalid; 0 means the default.
func checkTree(depth int, energyError, jitter float64) error {
	err := infer.CheckOptions(map[string]int{"max-depth": depth})
	if err == nil {
		err = infer.CheckOptions(map[string]float64{"max-energy-error": energyError, "stepsize-jitter": jitter})
	}
	if err != nil {
		return fmt.Errorf("nuts: %w", err)
	}
	return nil
}

// Squares implements [infer.Squares].
func (s Sampler) Squares() int { return s.Adapt.Squares() }

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
		Kernel:      &Kernel{MaxDepth: s.MaxDepth, MaxEnergyError: s.MaxEnergyError, Jitter: s.Jitter, Refine: s.Refine},
		Stages:      adapt.Stages(n),
		StepSize:    adapt.Start(),
	}, nil
}
