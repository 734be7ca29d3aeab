package sampler

import (
	"flag"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/nuts"
)

func nuts2011Row() Row {
	return Row{
		Name:    "nuts2011",
		Type:    nuts.Sampler2011{},
		Doc:     "The no-U-turn sampler as first published: slice sampling, unit metric, step size adapted by dual averaging.",
		Adapts:  true,
		Columns: []Column{stepSizeColumn, treeDepthColumn, leapfrogColumn, divergentColumn, energyColumn},
		Options: func(fs *flag.FlagSet) Build {
			s := &nuts.Sampler2011{}
			fs.Float64Var(&s.StepSize, "stepsize", 1, "step size to start from, or to keep if -fixed-stepsize")
			fs.BoolVar(&s.FixedStepSize, "fixed-stepsize", false, "do not adapt the step size")
			dualFlags(fs, &s.Averaging, nuts.DefaultDelta2011)
			fs.IntVar(&s.MaxDepth, "max-depth", nuts.DefaultMaxDepth, "maximum depth of a tree; it has at most 2^depth points")
			fs.Float64Var(&s.MaxEnergyError, "max-energy-error", nuts.DefaultMaxEnergyError, "energy error beyond which a transition is divergent")
			return func() (infer.Sampler, error) { return *s, s.Validate() }
		},
	}
}
