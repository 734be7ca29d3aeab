package auto

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// Sampler is the self-tuning sampler for a run. With the zero value, every choice is made
// automatically.
type Sampler struct {
	Metric infer.MetricKind // "": the one with the smallest held-out Fisher divergence
	Kind   Kind             // "": the winner of the race between kernels
	Steps  int              // number of steps of a kernel with fixed trajectory length; 0: chosen by the race

	StepSize float64 // step size of a kernel given by Kind; 0: adapted (NUTS) or chosen by the race
	// target mean acceptance of NUTS; 0: 0.8, and raised if transitions diverge
	Delta          float64
	MaxDepth       int     // maximum tree depth of NUTS; 0: 10
	MaxEnergyError float64 // energy error above which a transition is divergent; 0: 1000
	// maximum variation of the energy within a step of NUTS, see [nuts.Kernel]; 0: 2
	Refine float64

	// Recentre chooses the coordinates of group-level terms, see [infer.Recentrer]. "" and "learn"
	// learn them from the draws. "off" uses the target's own coordinates. A number sets the degree
	// of centring, from 0 (non-centred) to 1 (centred).
	Recentre string

	PlainStart bool // start where Config.Init says, without climbing to the typical set
	NoPool     bool // each chain learns from its own draws alone
	NoEarlyEnd bool // make all transitions of warm-up, even if it has settled before
	NoRefine   bool // never divide a NUTS step into smaller ones
	NoTemper   bool // never temper, even if chains do not move between modes
	NoSpare    bool // one transition per draw, even if draws are then highly autocorrelated
	FirstRound int  // transitions of the first round; 0: 15
	RaceBatch  int  // transitions per chain in a batch of the race; 0: 6
	RaceLength int  // batches of the race; 0: 8

	// Threshold names a row of [Thresholds], whose value is multiplied by Factor. It is for
	// experiments on the influence of that threshold.
	Threshold string
	Factor    float64

	raises bool // Delta was not given, so it is raised if transitions diverge
}

// Defaults of [Sampler].
const (
	DefaultDelta      = 0.8
	DefaultRefine     = 2
	DefaultFirstRound = 15
	DefaultRaceBatch  = 6
	DefaultRaceLength = 8
)

func (s Sampler) withDefaults() Sampler {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&s.FirstRound, DefaultFirstRound)
	def(&s.RaceBatch, DefaultRaceBatch)
	def(&s.RaceLength, DefaultRaceLength)
	def(&s.MaxDepth, nuts.DefaultMaxDepth)
	if s.Delta == 0 {
		s.Delta, s.raises = DefaultDelta, true
	}
	switch {
	case s.NoRefine:
		s.Refine = 0
	case s.Refine == 0:
		s.Refine = DefaultRefine
	}
	return s
}

// Validate returns an error if an option, or a combination of options, is invalid.
func (s Sampler) Validate() error {
	switch {
	case s.Metric != "" && !slices.Contains(infer.MetricKinds(), s.Metric):
		return fmt.Errorf("auto: unknown metric %q", s.Metric)
	case s.Kind != "" && !slices.Contains(Kinds(), s.Kind):
		return fmt.Errorf("auto: unknown kernel %q", s.Kind)
	case s.Steps < 0 || s.Steps > 0 && s.Kind != Leapfrog && s.Kind != ExactNormal:
		return fmt.Errorf("auto: a number of steps (%d) is for the kernels %s and %s", s.Steps, Leapfrog, ExactNormal)
	}
	if _, _, err := s.fixedRecentring(); err != nil {
		return err
	}
	if err := s.checkThreshold(); err != nil {
		return err
	}
	err := infer.CheckOptions(map[string]int{"first-round": s.FirstRound, "race-batch": s.RaceBatch, "race-length": s.RaceLength, "steps": s.Steps, "max-depth": s.MaxDepth})
	if err == nil {
		err = infer.CheckOptions(map[string]float64{"stepsize": s.StepSize, "delta": s.Delta, "max-energy-error": s.MaxEnergyError, "refine": s.Refine})
	}
	if err == nil && s.StepSize > 0 && s.Kind == "" {
		err = fmt.Errorf("a step size (%v) is that of a kernel, which must be given too", s.StepSize)
	}
	if err != nil {
		return fmt.Errorf("auto: %w", err)
	}
	return nil
}

// Pooled implements [infer.Pooled].
func (s Sampler) Pooled() bool { return !s.NoPool }

// Squares implements [infer.Squares].
func (s Sampler) Squares() int { return warmup.Options{Metric: s.Metric}.Squares() }

// Plan implements [infer.Sampler].
func (s Sampler) Plan(target *infer.Meter, n int) (infer.Plan, error) {
	if err := s.Validate(); err != nil {
		return infer.Plan{}, err
	}
	s = s.withDefaults()
	h, err := hmc.NewWhitened(target, infer.Metric{})
	if err != nil {
		return infer.Plan{}, err
	}
	plan := infer.Plan{Hamiltonian: h, Kernel: newKernel(s, target), StepSize: cmp.Or(s.StepSize, 1)}
	if n > 0 {
		plan.Stages = []infer.Stage{course{options: s, at: s.limits(), length: n}}
	}
	return plan, nil
}

// Kind names a kernel.
type Kind string

// The kernels. Leapfrog and ExactNormal are static: their trajectories have a fixed number of
// steps.
const (
	NUTS        Kind = "nuts"
	Leapfrog    Kind = "leapfrog"     // HMC with a fixed number of leapfrog steps of random size
	ExactNormal Kind = "exact_normal" // HMC with the exact-normal splitting and a random step size
)

// Kinds lists the kernels.
func Kinds() []Kind { return []Kind{NUTS, Leapfrog, ExactNormal} }

// jitter is the relative random variation of the step size of static kernels. Without it, the
// length of a trajectory might be a period of the motion, and the chain would not move.
const jitter = 0.15

// Setting is a kernel with its options, except for the step size.
type Setting struct {
	Kind  Kind
	Steps int // number of steps of a static kernel
}

// String implements fmt.Stringer.
func (s Setting) String() string {
	switch s.Kind {
	case Leapfrog, ExactNormal:
		name := map[Kind]string{Leapfrog: "leapfrog HMC", ExactNormal: "exact-normal HMC"}[s.Kind]
		if s.Steps == 1 {
			return name + " with 1 step"
		}
		return fmt.Sprintf("%s with %d steps", name, s.Steps)
	}
	return "NUTS"
}

var infinity = math.Inf(1)

// order compares numbers for sorting. NaN counts as equal to every number.
func order(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
