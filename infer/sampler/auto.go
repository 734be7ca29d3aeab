package sampler

import (
	"flag"
	"fmt"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
)

func autoRow() Row {
	return Row{
		Name:    "auto",
		Type:    auto.Sampler{},
		Doc:     "Finds metric, kernel and its settings automatically, in a warm-up that its chains share.",
		Adapts:  true,
		Columns: []Column{stepSizeColumn, treeDepthColumn, leapfrogColumn, divergentColumn, energyColumn},
		Options: func(fs *flag.FlagSet) Build {
			s := &auto.Sampler{}
			fs.Func("metric", "the metric: unit_e, diag_e, low_rank or dense_e (default: chosen by the draws that it was not learnt from)", func(v string) error {
				kind := infer.MetricKind(v)
				if err := (auto.Sampler{Metric: kind}).Validate(); err != nil || v == "" {
					return fmt.Errorf("it can be unit_e, diag_e, low_rank or dense_e; for a file, or a metric that depends on the position, take the sampler nuts")
				}
				s.Metric = kind
				return nil
			})
			kinds := []string{"auto"}
			for _, k := range auto.Kinds() {
				kinds = append(kinds, string(k))
			}
			choose(fs, "kernel", "what makes the transitions", kinds, func(i int) {
				s.Kind = ""
				if i > 0 {
					s.Kind = auto.Kind(kinds[i])
				}
			})
			fs.IntVar(&s.Steps, "steps", 0, "number of steps of -kernel leapfrog or exact_normal; 0: found by trial")
			fs.Float64Var(&s.StepSize, "stepsize", 0, "step size of the draws, in units of the metric, of a -kernel that is given; 0: found")
			fs.Float64Var(&s.Delta, "delta", auto.DefaultDelta, "target of the mean acceptance statistic of NUTS, between 0 and 1")
			fs.IntVar(&s.MaxDepth, "max-depth", nuts.DefaultMaxDepth, "maximum depth of a tree; it has at most 2^depth points")
			withZero(fs, &s.Refine, "refine", auto.DefaultRefine, "the largest variation of the energy within a step of NUTS; where there is more, it is made of smaller ones; 0: steps are as they are")
			fs.Float64Var(&s.MaxEnergyError, "max-energy-error", hmc.DefaultMaxEnergyError, "energy error beyond which a transition is divergent")
			fs.StringVar(&s.Recentre, "recentre", auto.RecentreLearn, "coordinates of group-level effects: learn, off, or a number between 0 (non-centred) and 1 (centred)")
			fs.BoolVar(&s.PlainStart, "plain-start", false, "start at the initial values, without a climb to the typical set")
			fs.BoolVar(&s.NoPool, "no-pool", false, "let each chain learn from its own draws alone")
			fs.BoolVar(&s.NoEarlyEnd, "no-early-end", false, "make all transitions of warm-up, even if it has settled")
			fs.BoolVar(&s.NoTemper, "no-temper", false, "no parallel tempering if chains cannot move between modes")
			fs.BoolVar(&s.NoSpare, "no-spare", false, "make one transition per draw, even if transitions are worth little")
			fs.IntVar(&s.FirstRound, "first-round", auto.DefaultFirstRound, "transitions of the first round of warm-up, after which the metric is learnt; later rounds are longer")
			fs.IntVar(&s.RaceBatch, "race-batch", auto.DefaultRaceBatch, "transitions of a chain in each batch of the race between kernels")
			fs.IntVar(&s.RaceLength, "race-length", auto.DefaultRaceLength, "batches of the race between kernels")
			return func() (infer.Sampler, error) {
				made := *s
				made.NoRefine = s.Refine == 0
				made.Delta = 0 // 0 means the default, which is raised if transitions diverge
				fs.Visit(func(f *flag.Flag) {
					if f.Name == "delta" {
						made.Delta = s.Delta
					}
				})
				return made, made.Validate()
			}
		},
	}
}
