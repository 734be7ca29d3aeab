package sampler

import (
	"flag"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/bayesopt"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/warmup"
)

func ahmcRow() Row {
	return Row{
		Name:    "ahmc",
		Type:    ahmc.Sampler{},
		Doc:     "Hamiltonian Monte Carlo whose step size and number of steps are tuned by Bayesian optimisation.",
		Adapts:  true,
		Columns: []Column{stepSizeColumn, intTimeColumn, treeDepthColumn, leapfrogColumn, divergentColumn, energyColumn},
		Options: func(fs *flag.FlagSet) Build {
			s := &ahmc.Sampler{}
			s.Metric = infer.Unit
			fs.Func("metric", "the metric: unit_e, or diag_e, dense_e or low_rank, which take half of warm-up (default unit_e)", func(v string) error {
				m := warmup.Options{Metric: infer.MetricKind(v)}
				if err := m.Validate(); err != nil {
					return err
				}
				s.Metric = m.MetricKind()
				return nil
			})
			fs.BoolVar(&s.FixedMetric, "fixed-metric", false, "keep the initial metric")
			v := tuneFlags(fs, s)
			return func() (infer.Sampler, error) {
				return v.of(*s, func(s ahmc.Sampler) infer.Sampler { return s }), v.check(s.Validate())
			}
		},
	}
}

// tuneFlags declares the options of tuning, including the paper's constants and its variants. Build
// uses the result.
func tuneFlags(fs *flag.FlagSet, s *ahmc.Sampler) *validation {
	b := &s.Box
	fs.Float64Var(&b.MinStepSize, "min-stepsize", 0, "smallest step size to choose; 0: a twentieth of the largest")
	fs.Float64Var(&b.MaxStepSize, "max-stepsize", 0, "largest step size to choose; 0: found in warm-up")
	fs.IntVar(&b.MinSteps, "min-steps", 0, "smallest number of steps to choose; 0: 1")
	fs.IntVar(&b.MaxSteps, "max-steps", 0, "largest number of steps to choose; 0: found in warm-up")
	fs.BoolVar(&s.LinearStepSize, "linear-stepsize", false, "choose step sizes on a linear scale, not a logarithmic one")
	fs.IntVar(&s.StepSizePoints, "stepsize-points", ahmc.DefaultStepSizePoints, "number of step sizes to choose from")
	fs.IntVar(&s.StepsPoints, "steps-points", ahmc.DefaultStepsPoints, "maximum number of candidates for the number of steps")

	fs.IntVar(&s.Batches, "batches", ahmc.DefaultBatches, "number of batches of warm-up; a setting is chosen after each")
	fs.IntVar(&s.BatchLength, "batch-length", 0, "transitions per batch; 0: warm-up divided by the number of batches")
	fs.Float64Var(&s.First.StepSize, "first-stepsize", 0, "step size of the first batch; the nearest candidate is used; 0: the smallest")
	fs.IntVar(&s.First.Steps, "first-steps", 0, "number of steps of the first batch; the nearest candidate is used; 0: the smallest")
	fs.Float64Var(&s.Power, "adapt-power", ahmc.DefaultPower, "after warm-up, choose a new setting after the n-th batch with probability n^-power")
	fs.BoolVar(&s.Freeze, "freeze", false, "stop tuning after warm-up")
	fs.BoolVar(&s.FixedLength, "fixed-length", false, "always take the largest number of steps")
	fs.Float64Var(&s.Radius, "radius", 0, "reject proposals with an unconstrained coordinate beyond it; 0: none")
	fs.Float64Var(&s.MaxEnergyError, "max-energy-error", hmc.DefaultMaxEnergyError, "energy error beyond which a transition is divergent")

	v := &validation{}
	names := append(ahmc.RewardNames(), ahmc.PredictiveName)
	choose(fs, "reward", "the reward to maximise", names, func(i int) {
		s.Reward, _ = ahmc.RewardNamed(names[i])
		v.asked = names[i] == ahmc.PredictiveName
	})
	v.flags(fs)
	choose(fs, "cost", "divide the reward by this", ahmc.CostNames(), func(i int) { s.Cost = ahmc.Cost(i) })

	o := &s.Bayes
	fs.Float64Var(&o.SignalVariance, "gp-signal-variance", 25, "prior variance of the scaled reward")
	fs.Float64Var(&o.NoiseVariance, "gp-noise-variance", 0.1, "variance of the noise of a batch's scaled reward")
	fs.Float64Var(&o.LengthScale, "gp-length-scale", 0.2, "length scale of the reward, as a fraction of a side of the box")
	fs.Float64Var(&o.RewardMaximum, "reward-maximum", 4, "scale the largest reward to this value")
	fs.Float64Var(&o.Delta, "ucb-delta", 0.1, "delta of the upper confidence bound, between 0 and 1")
	choose(fs, "reward-scale", "scale rewards always, or only after the first improvement", []string{"always", "released"},
		func(i int) { o.Scale = bayesopt.Scale(i) })
	choose(fs, "annealing", "quantity that vanishing adaptation multiplies: the width, beta, or nothing", []string{"width", "beta", "none"},
		func(i int) { o.Annealing = bayesopt.Annealing(i) })
	choose(fs, "ucb-width", "the measure of uncertainty", []string{"sd", "variance"}, func(i int) { o.Width = bayesopt.Width(i) })
	choose(fs, "ucb-time", "the time in beta: that of the next batch or of the last", []string{"next", "observed"},
		func(i int) { o.Time = bayesopt.Time(i) })
	return v
}
