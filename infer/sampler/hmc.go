package sampler

import (
	"flag"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
)

func hmcRow() Row {
	return Row{
		Name:    "hmc",
		Type:    hmc.Sampler{},
		Doc:     "Hamiltonian Monte Carlo with a uniformly random number of steps per trajectory.",
		Adapts:  true,
		Columns: []Column{stepSizeColumn, intTimeColumn, treeDepthColumn, leapfrogColumn, divergentColumn, energyColumn},
		Options: func(fs *flag.FlagSet) Build {
			s, r := &hmc.Sampler{}, &Riemannian{}
			adaptFlags(fs, &s.Adapt, r)
			staticFlags(fs, &s.Kernel)
			return func() (infer.Sampler, error) {
				return r.of(func(h func(*infer.Meter) (infer.Hamiltonian, error)) infer.Sampler {
					s.Hamiltonian = h
					r.keep(&s.Adapt.Metric, &s.Adapt.FixedMetric)
					return *s
				})
			}
		},
	}
}

// staticFlags declares the options of static trajectories.
func staticFlags(fs *flag.FlagSet, k *hmc.Kernel) {
	fs.IntVar(&k.Steps, "steps", 0, "largest number of steps; 0: from the integration time")
	fs.Float64Var(&k.IntTime, "int-time", hmc.DefaultIntTime, "largest integration time, if -steps is 0")
	fs.IntVar(&k.MaxSteps, "most-steps", hmc.DefaultMaxSteps, "largest number of steps that -int-time may give")
	fs.BoolVar(&k.FixedLength, "fixed-length", false, "always take the largest number of steps")
	fs.Float64Var(&k.Jitter, "stepsize-jitter", 0, "random relative variation of the step size, between 0 and 1")
	fs.Float64Var(&k.MaxEnergyError, "max-energy-error", hmc.DefaultMaxEnergyError, "energy error beyond which a transition is divergent")
}
