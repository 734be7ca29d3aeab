package sampler

import (
	"flag"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/warmup"
)

func ahmcRow() Row {
	return Row{
		Name:    "ahmc",
		Doc:     "Hamiltonian Monte Carlo whose step size and number of steps are tuned by Bayesian optimisation.",
		Adapts:  true,
		Columns: []Column{stepSizeColumn, intTimeColumn, leapfrogColumn, divergentColumn, energyColumn},
		Options: func(fs *flag.FlagSet) Build {
			s := &ahmc.Sampler{}
			b := &s.Box
			fs.Float64Var(&b.MinStepSize, "min-stepsize", 0, "least step size to choose; 0: a twentieth of the largest")
			fs.Float64Var(&b.MaxStepSize, "max-stepsize", 0, "largest step size to choose; 0: found in warm-up")
			fs.IntVar(&b.MinSteps, "min-steps", 0, "least number of steps to choose; 0: 1")
			fs.IntVar(&b.MaxSteps, "max-steps", 0, "largest number of steps to choose; 0: found in warm-up")
			s.Metric = infer.Unit
			fs.Func("metric", "the metric: unit_e, or diag_e or dense_e, which take half of warm-up (default unit_e)", func(v string) error {
				m := warmup.Options{Metric: infer.MetricKind(v)}
				if err := m.Validate(); err != nil {
					return err
				}
				s.Metric = m.MetricKind()
				return nil
			})
			fs.BoolVar(&s.FixedMetric, "fixed-metric", false, "keep the metric that the run starts with")
			fs.IntVar(&s.Batches, "batches", ahmc.DefaultBatches, "number of batches of warm-up, after each of which a setting is chosen")
			fs.BoolVar(&s.Freeze, "freeze", false, "stop tuning after warm-up")
			fs.BoolVar(&s.FixedLength, "fixed-length", false, "always take the largest number of steps")
			fs.Float64Var(&s.Radius, "radius", 0, "reject proposals with an unconstrained coordinate beyond it; 0: none")
			return func() (infer.Sampler, error) { return *s, s.Validate() }
		},
	}
}
