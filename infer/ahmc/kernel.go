package ahmc

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/bayesopt"
	"github.com/ppl-lang/ppl/infer/hmc"
)

// Kernel is Algorithm 2: hmc.Kernel (the paper's Algorithm 1) in batches of m
// transitions, after each of which step size and number of steps may change.
// The numbers of lines in its code are those of the paper's listing.
//
// The step size that Transition is handed is not used: the kernel has its own.
type Kernel struct {
	hmc       hmc.Kernel
	optimizer *bayesopt.Optimizer
	options   Sampler
	box       Box
	m, k      int
	jumps     jumps

	// γ_i, and what has been seen of batch i.
	point    int // its number in the grid
	stepSize float64
	steps    int
	batch    int // i
	seen     int // transitions
	jumped   float64
	accepted float64
	drawn    int // leapfrog steps

	history []Batch
	changes int
	frozen  bool
}

var (
	_ infer.Kernel    = (*Kernel)(nil)
	_ infer.Describer = (*Kernel)(nil)
)

// Batch is the account of m transitions with one setting γ_i.
type Batch struct {
	Number      int     // i, from 1
	StepSize    float64 // γ_i
	Steps       int     // γ_i: L, of which numbers up to it are drawn
	Reward      float64 // r_i
	AcceptStat  float64 // mean
	Leapfrogs   int     // in all
	Scale       float64 // s after the batch
	Probability float64 // p_i
	Adapted     bool    // u < p_i: a new setting was chosen (it may be the same)
}

// newKernel starts Algorithm 2 on a complete box (line 1). m and k are at
// least 1.
func newKernel(options Sampler, box Box, m, k int, h infer.Hamiltonian) (*Kernel, error) {
	grid := bayesopt.Grid{
		options.stepSizeAxis(box),
		bayesopt.IntegerAxis(box.MinSteps, box.MaxSteps, options.StepsPoints),
	}
	optimizer, err := bayesopt.New(grid, options.Bayes)
	if err != nil {
		return nil, err
	}
	a := &Kernel{
		hmc:       hmc.Kernel{FixedLength: options.FixedLength},
		optimizer: optimizer,
		options:   options,
		box:       box,
		m:         m,
		k:         k,
		jumps:     newJumps(h),
		batch:     1,
	}
	a.use(0) // γ_1: the cheapest corner of Γ
	return a, nil
}

// use makes a point of the grid the setting.
func (a *Kernel) use(point int) {
	x := a.optimizer.Grid().Point(point)
	a.point, a.stepSize, a.steps = point, x[0], int(x[1])
	a.hmc.Steps = a.steps
}

// Transition implements [infer.Kernel]: one iteration of HMC with γ_i (line 3),
// and at the end of a batch the adaptation.
func (a *Kernel) Transition(rng *rand.Rand, h infer.Hamiltonian, _ float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	next, info, err := a.hmc.Transition(rng, h, a.stepSize, z)
	if err != nil {
		return next, info, err
	}
	if a.options.Radius > 0 && outside(info.Proposal.Position, a.options.Radius) {
		// Outside the compact set M: the density counts as zero there.
		// (Energy stays that of the proposal, if it would have been accepted.)
		next, info.AcceptStat = z, 0
	}
	if a.frozen {
		return next, info, nil
	}
	switch {
	case a.options.Reward == RewardRealised:
		a.jumped += a.jumps.squared(next.Position, z.Position)
	case info.AcceptStat > 0: // else the proposal may be anything, NaN included
		a.jumped += info.AcceptStat * a.jumps.squared(info.Proposal.Position, z.Position)
	}
	a.accepted += info.AcceptStat
	a.drawn += info.Leapfrogs
	a.seen++
	if a.seen == a.m {
		a.adapt(rng)
	}
	return next, info, nil
}

// adapt ends batch i: lines 4 to 16 of Algorithm 2.
func (a *Kernel) adapt(rng *rand.Rand) {
	// Line 4: the objective function value r_i of the drawn samples.
	n := float64(a.seen)
	r := a.jumped / a.options.Cost.divisor(a.steps, float64(a.drawn)/n)
	if a.options.Reward != RewardSum {
		r /= n
	}
	if math.IsNaN(r) || math.IsInf(r, 0) {
		r = 0 // such a sum has overflowed: the setting is of no use
	}
	// Lines 5 to 8: D_i = D_{i-1} ∪ (γ_i, r_i); if r_i > sup r_j, s = α/r_i. The
	// error is about points outside the grid and rewards that are not finite.
	_ = a.optimizer.Observe(a.point, r)
	// Line 9: u ~ U[0, 1].
	u := rng.Float64()
	// Line 10: p_i.
	p := probability(a.batch, a.k)
	done := Batch{
		Number: a.batch, StepSize: a.stepSize, Steps: a.steps, Reward: r,
		AcceptStat: a.accepted / n, Leapfrogs: a.drawn,
		Scale: a.optimizer.Scale(), Probability: p, Adapted: u < p,
	}
	// Lines 11 to 15: γ_{i+1} maximises the acquisition, or is γ_i.
	if done.Adapted {
		before := a.point
		a.use(a.optimizer.Next(p))
		if a.point != before {
			a.changes++
		}
	}
	a.history = append(a.history, done)
	// Line 16: the next i.
	a.batch++
	a.seen, a.jumped, a.accepted, a.drawn = 0, 0, 0, 0
}

// probability is p_i = max(i-k+1, 1)^(-1/2).
func probability(i, k int) float64 {
	return 1 / math.Sqrt(float64(max(i-k+1, 1)))
}

func outside(x []float64, radius float64) bool {
	for _, v := range x {
		if !(math.Abs(v) <= radius) {
			return true
		}
	}
	return false
}

// Freeze ends adaptation at the setting with the largest posterior mean of the
// objective. Transitions of an unfinished batch are forgotten. Without any
// finished batch the setting stays.
func (a *Kernel) Freeze() {
	if a.frozen {
		return
	}
	a.frozen = true
	if a.optimizer.Observations() > 0 {
		a.use(a.optimizer.Next(0))
	}
}

// Setting returns the step size and the largest number of steps in use.
func (a *Kernel) Setting() (stepSize float64, steps int) { return a.stepSize, a.steps }

// Box returns Γ, complete.
func (a *Kernel) Box() Box { return a.box }

// Schedule returns the length of a batch, m, and the number of batches before
// the annealing, k.
func (a *Kernel) Schedule() (m, k int) { return a.m, a.k }

// Batches returns the account of the finished batches: all points that were
// visited, with their rewards.
func (a *Kernel) Batches() []Batch { return slices.Clone(a.history) }

// Surface returns what is believed of the objective at every point of the
// grid, whose coordinates are step size and number of steps.
func (a *Kernel) Surface() []bayesopt.Belief { return a.optimizer.Surface() }

// Describe implements [infer.Describer].
func (a *Kernel) Describe() map[string]float64 {
	frozen := 0.0
	if a.frozen {
		frozen = 1
	}
	return map[string]float64{
		"step_size":     a.stepSize,
		"steps":         float64(a.steps),
		"batches":       float64(len(a.history)),
		"batch_length":  float64(a.m),
		"changes":       float64(a.changes),
		"settings":      float64(a.optimizer.Distinct()),
		"frozen":        frozen,
		"min_step_size": a.box.MinStepSize,
		"max_step_size": a.box.MaxStepSize,
		"min_steps":     float64(a.box.MinSteps),
		"max_steps":     float64(a.box.MaxSteps),
	}
}
