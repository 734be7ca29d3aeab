package sampler

import (
	"flag"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/nuts"
)

func nutsRow() Row {
	return Row{
		Name:    "nuts",
		Type:    nuts.Sampler{},
		Doc:     "The no-U-turn sampler as in Stan: multinomial, with step size and metric adapted in warm-up.",
		Adapts:  true,
		Columns: []Column{stepSizeColumn, treeDepthColumn, leapfrogColumn, divergentColumn, energyColumn},
		Options: func(fs *flag.FlagSet) Build {
			s, r := &nuts.Sampler{}, &Riemannian{}
			adaptFlags(fs, &s.Adapt, r)
			fs.IntVar(&s.MaxDepth, "max-depth", nuts.DefaultMaxDepth, "maximum depth of a tree; it has at most 2^depth points (tempered: 7)")
			fs.Float64Var(&s.Jitter, "stepsize-jitter", 0, "random relative variation of the step size, between 0 and 1")
			fs.Float64Var(&s.Refine, "refine", 0, "maximum variation of the energy within a step; a step with more is split; 0: never split, as in Stan (auto, tempered: 2)")
			fs.Float64Var(&s.MaxEnergyError, "max-energy-error", nuts.DefaultMaxEnergyError, "energy error beyond which a transition is divergent")
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
