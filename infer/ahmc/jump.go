package ahmc

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// SquaredJump is the expected squared jumping distance (Pasarica and Gelman
// 2010), in units of the metric. By default it averages acceptance probability
// × ‖proposal - state‖²: the expectation over the acceptance step, which has
// less noise than the jump itself.
type SquaredJump struct {
	// Realised averages the jump itself, ‖x_{t+1} - x_t‖², as the paper prints it.
	Realised bool
	// Sum uses the sum of a batch instead of the mean, as in the released program. The scale s
	// removes the difference, except in the first batches with bayesopt.ScaleReleased.
	Sum bool
}

// Signed implements [Reward].
func (SquaredJump) Signed() bool { return false }

// Start implements [Reward].
func (j SquaredJump) Start(h infer.Hamiltonian, _ *infer.Meter) (Objective, error) {
	return &jumpTotal{realised: j.Realised, sum: j.Sum, jumps: newJumps(h), length: identity}, nil
}

// Distance is the mean update distance: like SquaredJump, but with the distance itself, so that
// rare long jumps count less. The widest directions also count less: if widths differ much,
// trajectories may be too short for these directions, which R-hat shows. Then use a metric that
// makes the widths similar, or SquaredJump.
type Distance struct{ Realised bool }

// Signed implements [Reward].
func (Distance) Signed() bool { return false }

// Start implements [Reward].
func (d Distance) Start(h infer.Hamiltonian, _ *infer.Meter) (Objective, error) {
	return &jumpTotal{realised: d.Realised, jumps: newJumps(h), length: math.Sqrt}, nil
}

func identity(v float64) float64 { return v }

// jumpTotal adds up the jumps of a batch.
type jumpTotal struct {
	realised, sum bool
	jumps         jumps
	length        func(squared float64) float64

	total float64
	n     float64
}

// Observe implements [Objective].
func (t *jumpTotal) Observe(before, after *infer.Point, info infer.Info) {
	t.n++
	switch {
	case t.realised:
		t.total += t.length(t.jumps.squared(after.Position, before.Position))
	case info.AcceptStat > 0: // otherwise the proposal may be arbitrary, even NaN
		t.total += info.AcceptStat * t.length(t.jumps.squared(info.Proposal.Position, before.Position))
	}
}

// Reward implements [Objective].
func (t *jumpTotal) Reward(*rand.Rand, Setting) (float64, error) {
	r := t.total
	if !t.sum {
		r /= t.n
	}
	t.total, t.n = 0, 0
	return r, nil
}

// State implements [Objective].
func (t *jumpTotal) State() []float64 { return []float64{t.total, t.n} }

// SetState implements [Objective].
func (t *jumpTotal) SetState(s []float64) error {
	if len(s) != 2 {
		return stateError("jumps", len(s), 2)
	}
	t.total, t.n = s[0], s[1]
	return nil
}

// jumps measures squared distances ΔᵀMΔ in a metric. These are the distances in the whitened space,
// in which wide coordinates do not hide the others.
type jumps struct {
	weights []float64     // for Diagonal
	whiten  *whiten.Map   // for LowRank
	y, z, w []float64     // work space of whiten
	factor  *mat.Cholesky // for Dense: Cholesky factor of M⁻¹
	delta   *mat.VecDense
	solved  *mat.VecDense
}

// newJumps uses the metric of h, or the plain distance if it has none.
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
	case infer.Unit:
	case infer.LowRank:
		m.Mean = nil
		if whitened, err := whiten.NewMap(m); err == nil {
			return jumps{whiten: whitened, y: make([]float64, m.Dim), z: make([]float64, m.Dim), w: make([]float64, m.Dim)}
		}
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

// squared returns the squared distance between two positions; 0 if it is not finite, so that no
// reward is infinite.
func (j *jumps) squared(x, y []float64) float64 {
	sum := 0.0
	switch {
	case j.whiten != nil:
		j.whiten.Whiten(x, x, j.y, j.w)
		j.whiten.Whiten(y, y, j.z, j.w)
		for i, v := range j.y {
			sum += (v - j.z[i]) * (v - j.z[i])
		}
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
