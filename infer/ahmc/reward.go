package ahmc

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/infer"
)

// Reward is what tuning maximises: an objective with its options, shared by the chains. To add one,
// write a file with two small types.
type Reward interface {
	// Start makes the objective of one chain when its tuning begins. h is the geometry; target
	// counts the chain's evaluations.
	Start(h infer.Hamiltonian, target *infer.Meter) (Objective, error)

	// Signed reports whether rewards may be negative. Such rewards are not divided by a [Cost];
	// they are scaled by their range (see bayesopt.ScaleRange).
	Signed() bool
}

// Objective turns the transitions of a batch into a number, the larger the
// better. It belongs to one chain.
type Objective interface {
	// Observe receives one transition, from before to after. Only the position of these points, and
	// values that belong to it, are defined. info.Proposal is not nil.
	Observe(before, after *infer.Point, info infer.Info)

	// Reward ends a batch of at least one transition with one setting. A result that is not finite
	// counts as the worst possible.
	Reward(rng *rand.Rand, s Setting) (float64, error)

	// State returns all that later rewards depend on, as numbers; SetState restores it in an
	// objective that was just started.
	State() []float64
	SetState([]float64) error
}

// Setting is one point of Γ, and the mean number of steps drawn with it.
type Setting struct {
	StepSize  float64
	Steps     int     // L
	MeanSteps float64 // mean of the numbers of steps drawn in the batch
}

// Cost is the divisor of a reward.
type Cost int

const (
	CostSqrtSteps Cost = iota // √L, where L is the maximum number of steps: the paper's formula and the released program
	CostSteps                 // L: the paper's text ("normalizes by L")
	CostSqrtDrawn             // √ of the mean number of steps drawn in the batch
	CostDrawn                 // that mean: the reward per gradient
)

// divisor returns the cost of a batch.
func (c Cost) divisor(s Setting) float64 {
	switch c {
	case CostSteps:
		return float64(s.Steps)
	case CostSqrtDrawn:
		return math.Sqrt(s.MeanSteps)
	case CostDrawn:
		return s.MeanSteps
	}
	return math.Sqrt(float64(s.Steps))
}

// Names of costs, and of rewards without further options.
var (
	costNames = []string{"sqrt_steps", "steps", "sqrt_drawn", "gradient"}
	rewards   = []struct {
		name   string
		reward Reward
	}{
		{"esjd", SquaredJump{}},
		{"esjd_realised", SquaredJump{Realised: true}},
		{"esjd_sum", SquaredJump{Sum: true}},
		{"distance", Distance{}},
		{"autocorrelation", Autocorrelation{}},
	}
)

// CostNames names the costs, in the order of the constants.
func CostNames() []string { return append([]string(nil), costNames...) }

// String implements fmt.Stringer.
func (c Cost) String() string {
	if c < 0 || int(c) >= len(costNames) {
		return fmt.Sprintf("Cost(%d)", int(c))
	}
	return costNames[c]
}

// RewardNames names the rewards that have no options, the default first.
func RewardNames() []string {
	names := make([]string, len(rewards))
	for i, r := range rewards {
		names[i] = r.name
	}
	return names
}

// RewardNamed returns the reward of one of [RewardNames].
func RewardNamed(name string) (Reward, bool) {
	for _, r := range rewards {
		if r.name == name {
			return r.reward, true
		}
	}
	return nil, false
}

// PredictiveName is the name of [Predictive], which needs folds and is not among
// [RewardNames].
const PredictiveName = "predictive"

// RewardName returns the name of a reward, or its type if it has no name.
func RewardName(r Reward) string {
	if r == nil {
		return rewards[0].name
	}
	if _, ok := r.(Predictive); ok {
		return PredictiveName
	}
	for _, known := range rewards {
		if known.reward == r {
			return known.name
		}
	}
	return fmt.Sprintf("%T", r)
}

// stateError reports that saved numbers do not fit the objective.
func stateError(what string, got, want int) error {
	return fmt.Errorf("ahmc: the saved state of the %s has %d numbers instead of %d", what, got, want)
}
