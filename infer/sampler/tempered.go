package sampler

import (
	"flag"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/tempered"
)

func temperedRow() Row {
	return Row{
		Name:    "tempered",
		Type:    tempered.Sampler{},
		Doc:     "Parallel tempering, for posteriors with several modes: replicas between a fitted reference and the target; estimates log Z.",
		Adapts:  true,
		Columns: []Column{stepSizeColumn, treeDepthColumn, leapfrogColumn, divergentColumn, energyColumn, restartsColumn},
		Options: func(fs *flag.FlagSet) Build {
			s := &tempered.Sampler{}
			fs.IntVar(&s.Replicas, "replicas", tempered.DefaultReplicas, "maximum number of replicas of each chain")
			fs.BoolVar(&s.OneLeg, "one-leg", false, "temper from the fitted reference alone, without the broad one")
			fs.IntVar(&s.Starts, "starts", tempered.DefaultStarts, "climbs of each chain from random points in search of modes")
			fs.IntVar(&s.Refreshes, "refreshes", tempered.DefaultRefreshes, "transitions of each replica between swaps")
			fs.IntVar(&s.MaxDepth, "max-depth", tempered.DefaultMaxDepth, "maximum depth of a tree; it has at most 2^depth points")
			fs.Float64Var(&s.Delta, "delta", tempered.DefaultDelta, "target of the mean acceptance statistic, between 0 and 1")
			withZero(fs, &s.Refine, "refine", tempered.DefaultRefine, "the largest variation of the energy within a step of NUTS; where there is more, it is made of smaller ones; 0: steps are as they are")
			fs.Float64Var(&s.MaxEnergyError, "max-energy-error", hmc.DefaultMaxEnergyError, "energy error beyond which a transition is divergent")
			return func() (infer.Sampler, error) {
				made := *s
				made.NoRefine = s.Refine == 0
				return made, made.Validate()
			}
		},
	}
}
