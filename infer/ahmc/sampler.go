package ahmc

import (
	"context"
	"fmt"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/bayesopt"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// Defaults of [Sampler].
const (
	DefaultBatches        = 100 // the paper's k
	DefaultStepSizePoints = 40
	DefaultStepsPoints    = 50
	DefaultPower          = 0.5
)

// learnSteps is the maximum number of steps of the trajectories from which a metric is learnt.
const learnSteps = 64

// Sampler is adaptive HMC for a run. The zero value is the paper's method with the unit metric, and
// finds the box automatically.
type Sampler struct {
	Box Box // Γ; bounds that are zero are found automatically

	// Metric is the kind of metric: "" or Unit as in the paper. Diagonal or Dense is learnt first,
	// in windows as in NUTS, during half of warm-up; the box then belongs to the space in which the
	// metric is the identity.
	Metric      infer.MetricKind
	FixedMetric bool // keep the metric that the run starts with: nothing is learnt

	Batches     int // k: the number of batches in warm-up; 0: 100
	BatchLength int // m; 0: ⌊transitions left for tuning / k⌋, at least 1

	// First is γ_1, the setting of the first batch. Each part selects the nearest value of the
	// grid. A part that is zero selects the smallest value, so that tuning begins with the cheapest
	// setting, as in the released program.
	First First

	// Power is the exponent of the probability of adaptation after batch i > k, (i-k+1)^-Power; 0:
	// ½.
	Power float64

	// Freeze ends adaptation with warm-up. The draws then come from a Markov chain, but if warm-up
	// was poor, its bad settings remain.
	Freeze bool

	FixedLength bool // every trajectory takes all L steps
	// Radius bounds the compact set M, in which chains must begin: proposals with a coordinate
	// beyond ±Radius are rejected; 0: no proposals are
	Radius float64

	Reward Reward // the objective; nil: SquaredJump{}
	Cost   Cost   // its divisor
	Bayes  bayesopt.Options

	MaxEnergyError float64 // beyond which a transition is divergent; 0: 1000

	LinearStepSize bool // the box's scale of step sizes, as printed; default: logarithmic
	StepSizePoints int  // number of grid points; 0: 40
	StepsPoints    int  // maximum number of grid points; the grid has all integers if there are no more; 0: 50

	// Hamiltonian makes the geometry, if it is not Euclidean; Metric is then ignored. With a
	// Riemannian one this is the paper's ARMHMC.
	Hamiltonian func(target *infer.Meter) (infer.Hamiltonian, error)

	// Watch, if not nil, receives each chain's kernel, with the chain's ID, when tuning begins, in
	// the goroutine of that chain. A kernel may be inspected during that call, and after its chain
	// has ended.
	Watch func(id int, k *Kernel)
}

// First is the first setting.
type First struct {
	StepSize float64
	Steps    int
}

func (s Sampler) withDefaults() Sampler {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&s.Batches, DefaultBatches)
	def(&s.StepSizePoints, DefaultStepSizePoints)
	def(&s.StepsPoints, DefaultStepsPoints)
	if s.Metric == "" {
		s.Metric = infer.Unit
	}
	if s.Power == 0 {
		s.Power = DefaultPower
	}
	if s.Reward == nil {
		s.Reward = SquaredJump{}
	}
	return s
}

// Validate returns an error if an option is invalid.
func (s Sampler) Validate() error {
	b := s.Box
	err := infer.CheckOptions(map[string]int{"stepsize-points": s.StepSizePoints, "steps-points": s.StepsPoints, "batches": s.Batches, "batch-length": s.BatchLength,
		"min-steps": b.MinSteps, "max-steps": b.MaxSteps, "first-steps": s.First.Steps})
	if err == nil {
		err = infer.CheckOptions(map[string]float64{"min-stepsize": b.MinStepSize, "max-stepsize": b.MaxStepSize, "first-stepsize": s.First.StepSize,
			"radius": s.Radius, "adapt-power": s.Power, "max-energy-error": s.MaxEnergyError})
	}
	if err != nil {
		return fmt.Errorf("ahmc: %w", err)
	}
	switch {
	case b.MaxStepSize > 0 && b.MinStepSize > b.MaxStepSize:
		return fmt.Errorf("ahmc: the least step size %v is more than the largest, %v", b.MinStepSize, b.MaxStepSize)
	case b.MaxSteps > 0 && b.MinSteps > b.MaxSteps:
		return fmt.Errorf("ahmc: the least number of steps %d is more than the largest, %d", b.MinSteps, b.MaxSteps)
	case s.Cost < 0 || s.Cost > CostDrawn:
		return fmt.Errorf("ahmc: an unknown cost: %d", int(s.Cost))
	}
	if err := (warmup.Options{Metric: s.Metric}).Validate(); err != nil {
		return fmt.Errorf("ahmc: %w", err)
	}
	return s.Bayes.Validate()
}

// stepSizeAxis returns the grid of step sizes.
func (s Sampler) stepSizeAxis(b Box) bayesopt.Axis {
	if s.LinearStepSize {
		return bayesopt.LinearAxis(b.MinStepSize, b.MaxStepSize, s.StepSizePoints)
	}
	return bayesopt.LogAxis(b.MinStepSize, b.MaxStepSize, s.StepSizePoints)
}

// Squares implements [infer.Squares].
func (s Sampler) Squares() int { return warmup.Options{Metric: s.Metric}.Squares() }

// Plan implements [infer.Sampler].
func (s Sampler) Plan(target *infer.Meter, n int) (infer.Plan, error) {
	if err := s.Validate(); err != nil {
		return infer.Plan{}, err
	}
	s = s.withDefaults()
	var h infer.Hamiltonian
	var err error
	learn := 0
	if s.Hamiltonian != nil {
		h, err = s.Hamiltonian(target)
	} else {
		h, err = hmc.NewEuclidean(target, infer.Metric{Kind: s.Metric})
		if s.Metric != infer.Unit && !s.FixedMetric {
			learn = n / 2
		}
	}
	if err != nil {
		return infer.Plan{}, err
	}
	find := 0
	if !s.Box.complete() {
		find = n / 5
		if learn > 0 {
			find = n / 10
		}
	}
	var stages []infer.Stage
	if learn > 0 {
		stages = warmup.Options{Metric: s.Metric, EndBuffer: -1}.Stages(learn)
	}
	t := tune{find: find, length: n - learn - find}
	stages = append(stages, t, run(t.length))
	if s.Freeze {
		stages = append(stages, freeze{})
	}
	return infer.Plan{
		Hamiltonian: h,
		Kernel:      newKernel(s, target),
		Stages:      stages,
		StepSize:    1,
	}, nil
}

// tune is the stage that finds the box and begins Algorithm 2.
type tune struct {
	find   int // number of transitions from which the box is found
	length int // number of transitions of Algorithm 2 in warm-up
}

// Run implements [infer.Stage].
func (t tune) Run(ctx context.Context, s *infer.State) error {
	kernel := s.Kernel.(*Kernel)
	box := kernel.options.Box
	if !box.complete() {
		seen, err := approach(ctx, s, kernel, t.find)
		if err != nil {
			return err
		}
		if box, err = findBox(box, s, seen); err != nil {
			return err
		}
	}
	m, k := t.schedule(kernel.options)
	if err := kernel.begin(box.withDefaults(), m, k, s.Hamiltonian); err != nil {
		return err
	}
	if kernel.options.Watch != nil {
		kernel.options.Watch(s.ID, kernel)
	}
	s.StepSize, _ = kernel.Setting()
	return nil
}

// run is the stage of Algorithm 2, with its number of transitions.
type run int

// Run implements [infer.Stage].
func (r run) Run(_ context.Context, s *infer.State) error {
	kernel := s.Kernel.(*Kernel)
	i := 0
	if saved := s.Resumable(func() []float64 { return []float64{float64(i)} }); saved != nil {
		var err error
		if i, err = infer.SavedCount(saved, int(r)); err != nil {
			return err
		}
	}
	for ; i < int(r); i++ {
		if _, err := s.Advance(); err != nil {
			return err
		}
		s.StepSize, _ = kernel.Setting()
	}
	return nil
}

// freeze is the stage that ends adaptation.
type freeze struct{}

// Run implements [infer.Stage].
func (freeze) Run(_ context.Context, s *infer.State) error {
	kernel := s.Kernel.(*Kernel)
	kernel.Freeze()
	s.StepSize, _ = kernel.Setting()
	return nil
}

// schedule returns the length of a batch, m = ⌊B/k⌋ ≥ 1, and the number k of batches in warm-up,
// after which annealing begins.
func (t tune) schedule(o Sampler) (m, k int) {
	m = o.BatchLength
	if m == 0 {
		m = max(t.length/o.Batches, 1)
	}
	return m, max(t.length/m, 1)
}
