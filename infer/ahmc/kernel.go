package ahmc

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/bayesopt"
	"github.com/ppl-lang/ppl/infer/hmc"
)

// Kernel is Algorithm 2: hmc.Kernel (the paper's Algorithm 1) in batches of m transitions, with a
// chance to change step size and number of steps after each batch. Line numbers in its code are
// those of the paper's listing.
//
// Before tuning begins, it is plain HMC with the step size passed to Transition; afterwards it uses
// its own.
type Kernel struct {
	hmc     hmc.Kernel
	options Sampler
	target  *infer.Meter

	// Set by begin.
	tuner     *bayesopt.Tuner
	objective Objective
	box       Box
	m, k      int

	// γ_i, and the totals of batch i.
	stepSize float64
	steps    int
	seen     int // number of transitions in the batch
	accepted float64
	drawn    int // sum of the numbers of leapfrog steps drawn

	history []Batch
}

var (
	_ infer.Kernel    = (*Kernel)(nil)
	_ infer.Describer = (*Kernel)(nil)
	_ infer.Resumable = (*Kernel)(nil)
	_ infer.Tabler    = (*Kernel)(nil)
)

// Batch describes m transitions with one setting γ_i.
type Batch struct {
	Number      int     // i, from 1
	StepSize    float64 // γ_i
	Steps       int     // L of γ_i; numbers of steps are drawn from 1 to L
	Reward      float64 // r_i
	AcceptStat  float64 // mean acceptance
	Leapfrogs   int     // total number in the batch
	Scale       float64 // s after the batch
	Probability float64 // p_i
	Adapted     bool    // u < p_i: a new setting was chosen (it may be the same)
}

// newKernel makes a kernel that does not tune yet. target may be nil where
// the reward does not need it.
func newKernel(options Sampler, target *infer.Meter) *Kernel {
	return &Kernel{hmc: hmc.Kernel{MaxSteps: learnSteps}, options: options, target: target}
}

// begin starts Algorithm 2 on a complete box (line 1). m and k are at least 1.
func (a *Kernel) begin(box Box, m, k int, h infer.Hamiltonian) error {
	grid := bayesopt.Grid{
		a.options.stepSizeAxis(box),
		bayesopt.IntegerAxis(box.MinSteps, box.MaxSteps, a.options.StepsPoints),
	}
	bayes := a.options.Bayes
	if a.options.Reward.Signed() {
		bayes.Scale = bayesopt.ScaleRange
	}
	first := grid.Nearest(a.options.First.StepSize, float64(a.options.First.Steps)) // γ_1
	tuner, err := bayesopt.NewTuner(grid, bayes, first, k, a.options.Power)
	if err != nil {
		return err
	}
	reward := a.options.Reward
	if p, ok := reward.(Predictive); ok {
		if p.Hamiltonian == nil {
			p.Hamiltonian = a.options.Hamiltonian
		}
		p.fixedLength = a.options.FixedLength
		reward = p
	}
	objective, err := reward.Start(h, a.target)
	if err != nil {
		return err
	}
	a.hmc = hmc.Kernel{FixedLength: a.options.FixedLength, MaxEnergyError: a.options.MaxEnergyError}
	a.tuner, a.objective = tuner, objective
	a.box, a.m, a.k = box, m, k
	a.use()
	return nil
}

// tuning reports whether Algorithm 2 has begun.
func (a *Kernel) tuning() bool { return a.tuner != nil }

// use sets step size and number of steps to those of the current arm.
func (a *Kernel) use() {
	x := a.tuner.Grid().Point(a.tuner.Point())
	a.stepSize, a.steps = x[0], int(x[1])
	a.hmc.Steps = a.steps
}

// Transition implements [infer.Kernel]: one iteration of HMC with γ_i (line 3),
// and at the end of a batch the adaptation.
func (a *Kernel) Transition(rng *rand.Rand, h infer.Hamiltonian, eps float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	if a.tuning() {
		eps = a.stepSize
	}
	next, info, err := a.hmc.Transition(rng, h, eps, z)
	if err != nil {
		return next, info, err
	}
	if a.options.Radius > 0 && outside(info.Proposal.Position, a.options.Radius) {
		// Outside the compact set M the density counts as zero. (Energy stays that of the proposal,
		// if it would have been accepted.)
		next, info.AcceptStat = z, 0
	}
	if !a.tuning() || a.tuner.Frozen() {
		return next, info, nil
	}
	a.objective.Observe(z, next, info)
	a.accepted += info.AcceptStat
	a.drawn += info.Leapfrogs
	a.seen++
	if a.seen == a.m {
		if err := a.adapt(rng); err != nil {
			return next, info, err
		}
	}
	return next, info, nil
}

// adapt ends batch i: lines 4 to 16 of Algorithm 2.
func (a *Kernel) adapt(rng *rand.Rand) error {
	// Line 4: the objective function value r_i of the drawn samples.
	n := float64(a.seen)
	setting := Setting{StepSize: a.stepSize, Steps: a.steps, MeanSteps: float64(a.drawn) / n}
	r, err := a.objective.Reward(rng, setting)
	if err != nil {
		return err
	}
	if !a.options.Reward.Signed() {
		r /= a.options.Cost.divisor(setting)
	}
	r, ok := a.finite(r)
	trial := a.tuner.End(r, ok, rng.Float64())
	a.use()
	a.history = append(a.history, Batch{
		Number: len(a.history) + 1, StepSize: setting.StepSize, Steps: setting.Steps, Reward: r,
		AcceptStat: a.accepted / n, Leapfrogs: a.drawn,
		Scale: trial.Scale, Probability: trial.Probability, Adapted: trial.Adapted,
	})
	a.seen, a.accepted, a.drawn = 0, 0, 0
	return nil
}

// finite replaces a reward that is not finite, which comes from a useless setting, by zero. If
// rewards may be negative, it replaces it by the smallest reward so far; ok is false if there is
// none.
func (a *Kernel) finite(r float64) (_ float64, ok bool) {
	if !math.IsNaN(r) && !math.IsInf(r, 0) {
		return r, true
	}
	if !a.options.Reward.Signed() {
		return 0, true
	}
	return a.tuner.MinReward()
}

func outside(x []float64, radius float64) bool {
	for _, v := range x {
		if !(math.Abs(v) <= radius) {
			return true
		}
	}
	return false
}

// Freeze ends adaptation at the setting with the largest posterior mean of the objective. It
// discards the transitions of an unfinished batch. If no batch is finished, the setting does not
// change.
func (a *Kernel) Freeze() {
	if a.tuning() {
		a.tuner.Freeze()
		a.use()
	}
}

// Setting returns the step size and the largest number of steps in use.
func (a *Kernel) Setting() (stepSize float64, steps int) { return a.stepSize, a.steps }

// Box returns Γ, complete.
func (a *Kernel) Box() Box { return a.box }

// Schedule returns the length of a batch, m, and the number of batches before
// the annealing, k.
func (a *Kernel) Schedule() (m, k int) { return a.m, a.k }

// Batches returns the finished batches: all settings that were tried, with their rewards.
func (a *Kernel) Batches() []Batch { return slices.Clone(a.history) }

// Surface returns the posterior of the objective at every point of the grid, whose coordinates are
// step size and number of steps.
func (a *Kernel) Surface() []bayesopt.Belief {
	if !a.tuning() {
		return nil
	}
	return a.tuner.Surface()
}

// Describe implements [infer.Describer].
func (a *Kernel) Describe() map[string]float64 {
	if !a.tuning() {
		return nil
	}
	frozen := 0.0
	if a.tuner.Frozen() {
		frozen = 1
	}
	return map[string]float64{
		"step_size":     a.stepSize,
		"steps":         float64(a.steps),
		"batches":       float64(len(a.history)),
		"batch_length":  float64(a.m),
		"changes":       float64(a.tuner.Changes()),
		"settings":      float64(a.tuner.Distinct()),
		"frozen":        frozen,
		"min_step_size": a.box.MinStepSize,
		"max_step_size": a.box.MaxStepSize,
		"min_steps":     float64(a.box.MinSteps),
		"max_steps":     float64(a.box.MaxSteps),
	}
}
