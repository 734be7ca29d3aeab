package ahmc

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
)

// Reward says which estimate of the expected squared jumping distance a batch
// yields.
type Reward int

const (
	// RewardExpected averages acceptance probability × ‖proposal - state‖²:
	// the expectation over the acceptance step, which has less noise.
	RewardExpected Reward = iota
	// RewardRealised averages ‖x_{t+1} - x_t‖², as printed.
	RewardRealised
	// RewardSum is the sum, not the mean, of RewardExpected's terms, as in the
	// released program. The scale s takes the difference away again but for
	// the first batches of bayesopt.ScaleReleased.
	RewardSum
)

// Cost says what the jumping distance is divided by.
type Cost int

const (
	CostSqrtSteps Cost = iota // √L, L the largest number of steps: the formula, the released program
	CostSteps                 // L: the text ("normalizes by L")
	CostSqrtDrawn             // √ of the mean number of steps drawn in the batch
	CostDrawn                 // that mean: the jumping distance per gradient
)

// divisor is the cost of a batch.
func (c Cost) divisor(steps int, meanDrawn float64) float64 {
	switch c {
	case CostSteps:
		return float64(steps)
	case CostSqrtDrawn:
		return math.Sqrt(meanDrawn)
	case CostDrawn:
		return meanDrawn
	}
	return math.Sqrt(float64(steps))
}

// jumps measures squared distances ΔᵀMΔ in a metric: those of the whitened
// space in which the metric is the identity, so that wide coordinates do not
// hide the others.
type jumps struct {
	weights []float64     // Diagonal
	factor  *mat.Cholesky // Dense: of M⁻¹
	delta   *mat.VecDense
	solved  *mat.VecDense
}

// newJumps takes the metric of h, the plain distance if it has none.
func newJumps(h infer.Hamiltonian) jumps {
	euclidean, ok := h.(infer.Euclidean)
	if !ok {
		return jumps{}
	}
	m := euclidean.Metric()
	switch m.Kind {
	case infer.Diagonal:
		weights := make([]float64, m.Dim)
		for i, v := range m.Inverse {
			weights[i] = 1 / v
		}
		return jumps{weights: weights}
	case infer.Dense:
		if m.Dim == 0 {
			return jumps{}
		}
		var factor mat.Cholesky
		if factor.Factorize(mat.NewSymDense(m.Dim, m.Inverse)) {
			return jumps{factor: &factor, delta: mat.NewVecDense(m.Dim, nil), solved: mat.NewVecDense(m.Dim, nil)}
		}
	}
	return jumps{}
}

// squared is the squared distance of two positions; 0 where it is not finite
// (nothing is worth an infinite reward).
func (j *jumps) squared(x, y []float64) float64 {
	sum := 0.0
	switch {
	case j.factor != nil:
		for i := range x {
			j.delta.SetVec(i, x[i]-y[i])
		}
		if err := j.factor.SolveVecTo(j.solved, j.delta); err != nil {
			if _, illConditioned := err.(mat.Condition); !illConditioned {
				return 0
			}
		}
		sum = mat.Dot(j.delta, j.solved)
	case j.weights != nil:
		for i := range x {
			d := x[i] - y[i]
			sum += d * d * j.weights[i]
		}
	default:
		for i := range x {
			d := x[i] - y[i]
			sum += d * d
		}
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return 0
	}
	return sum
}
