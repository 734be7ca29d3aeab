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

// Sampler makes the chains of a run. The zero value leaves every choice to it.
type Sampler struct {
	Metric infer.MetricKind // "": chosen by held-out Fisher divergence
	Kind   Kind             // "": raced
	Steps  int              // of a static kernel; 0: raced

	StepSize       float64 // of the draws, of a kernel that is given; 0: adapted (NUTS) or raced
	Delta          float64 // target of the mean acceptance of NUTS; 0: 0.8, and more where there are divergences
	MaxDepth       int     // of NUTS; 0: 10
	MaxEnergyError float64 // beyond which a transition is divergent; 0: 1000
	Refine         float64 // the largest variation of the energy within a step of NUTS, see [nuts.Kernel]; 0: 2

	// Recentre is for targets with effects, see [infer.Recentrer]: "" or "learn": their
	// coordinates are learnt; "off": they are the target's own; a number: between
	// centred, 1, and non-centred, 0.
	Recentre string

	PlainStart bool // start where the run's rule says, without a climb
	NoPool     bool // each chain learns from its own draws alone
	NoEarlyEnd bool // make all transitions of warm-up
	NoRefine   bool // leave steps as they are
	NoTemper   bool // no tempering, where chains do not get from one mode to another
	NoSpare    bool // one transition per draw, however little draws are worth
	FirstRound int  // transitions; 0: 15
	RaceBatch  int  // transitions of a chain per batch of the race; 0: 6
	RaceLength int  // batches; 0: 8

	// Threshold names one of [Thresholds] that is multiplied by Factor, to see what depends on it.
	Threshold string
	Factor    float64

	raises bool // the target of the acceptance, where there are divergences
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

// Validate says what is wrong with the options.
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

// The kernels.
const (
	NUTS        Kind = "nuts"
	Leapfrog    Kind = "leapfrog"     // HMC, a fixed number of leapfrog steps of random size
	ExactNormal Kind = "exact_normal" // HMC with the exact-normal splitting, likewise
)

// Kinds lists them.
func Kinds() []Kind { return []Kind{NUTS, Leapfrog, ExactNormal} }

// jitter is the random relative variation of the step size of static kernels, which
// keeps trajectories from being periods.
const jitter = 0.15

// Setting is a kernel with its setting but for the step size.
type Setting struct {
	Kind  Kind
	Steps int // of static kernels
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

// order compares numbers for sorting; NaN is equal to all.
func order(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
