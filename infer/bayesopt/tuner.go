package bayesopt

import (
	"fmt"
	"math"
)

// Tuner chooses among the arms of a grid by the rewards of batches, which are made one after
// another with the chosen arm: lines 5 to 16 of the paper's Algorithm 2. The user of a Tuner
// decides on the meaning of an arm and on how a batch is made and rewarded.
type Tuner struct {
	*Optimizer
	batches int     // k: after each of the first k batches, an arm is always chosen
	power   float64 // exponent of the probability of a choice after later ones

	point   int // the current arm, by its number in the grid
	history []Trial
	changes int
	frozen  bool
}

// Trial is the record of a batch.
type Trial struct {
	Point       int // the arm it was made with
	Reward      float64
	Observed    bool    // the reward is finite
	Scale       float64 // s after the batch
	Probability float64 // p_i
	Adapted     bool    // a new arm was chosen (it may be the same)
}

// NewTuner returns a tuner that begins with the arm first. After batch i it chooses an arm with
// probability max(i-batches+1, 1)^-power. If batches is 0, it always does.
func NewTuner(grid Grid, options Options, first, batches int, power float64) (*Tuner, error) {
	o, err := New(grid, options)
	if err != nil {
		return nil, err
	}
	if first < 0 || first >= grid.Size() {
		return nil, fmt.Errorf("bayesopt: point %d of a grid of %d", first, grid.Size())
	}
	return &Tuner{Optimizer: o, batches: batches, power: power, point: first}, nil
}

// Point returns the current arm, by its number in the grid.
func (t *Tuner) Point() int { return t.point }

// Use sets the current arm, for callers that choose the first arms.
func (t *Tuner) Use(point int) { t.point = point }

// Batch returns i, the number of the current batch, from 1.
func (t *Tuner) Batch() int { return len(t.history) + 1 }

// History returns the finished batches, which must not be modified.
func (t *Tuner) History() []Trial { return t.history }

// Changes returns the number of changes of the arm.
func (t *Tuner) Changes() int { return t.changes }

// Frozen reports whether tuning has ended.
func (t *Tuner) Frozen() bool { return t.frozen }

// End ends a batch with its reward; observed is false if it has no reward. u is a uniform random
// number in [0, 1) (line 9).
func (t *Tuner) End(reward float64, observed bool, u float64) Trial {
	p := t.probability(t.Batch())
	trial := Trial{Point: t.point, Reward: reward, Observed: observed, Probability: p, Adapted: u < p}
	t.take(&trial)
	return trial
}

// take updates the tuner with a trial. All fields of the trial but the scale are known.
func (t *Tuner) take(trial *Trial) {
	// Lines 5 to 8: D_i = D_{i-1} ∪ (γ_i, r_i); if r_i > sup r_j, s = α/r_i. An error means that a
	// point is outside the grid or a reward is not finite.
	if trial.Observed {
		_ = t.Observe(trial.Point, trial.Reward)
	}
	trial.Scale = t.Scale()
	// Lines 11 to 15: γ_{i+1} maximises the acquisition, or is γ_i.
	if trial.Adapted {
		before := t.point
		if t.point = t.Next(trial.Probability); t.point != before {
			t.changes++
		}
	}
	t.history = append(t.history, *trial)
}

// Replay sets a new tuner to the state of one with that history, exact to the last bit.
func (t *Tuner) Replay(history []Trial) error {
	for _, trial := range history {
		if trial.Point != t.point {
			return fmt.Errorf("batch %d was made with another setting than its history leads to: was the run started by another version, or with other options?", t.Batch())
		}
		t.take(&trial)
	}
	return nil
}

// MinReward returns the smallest reward so far; ok is false if there is none.
func (t *Tuner) MinReward() (reward float64, ok bool) {
	reward = math.Inf(1)
	for _, b := range t.history {
		if b.Observed {
			reward = min(reward, b.Reward)
		}
	}
	return reward, !math.IsInf(reward, 1)
}

// Freeze ends tuning and chooses the arm with the largest posterior mean. Without a finished batch
// the arm does not change.
func (t *Tuner) Freeze() {
	if t.frozen {
		return
	}
	t.frozen = true
	if t.Observations() > 0 {
		t.point = t.Next(0)
	}
}

// probability returns p_i = max(i-k+1, 1)^(-power); the power is ½ in the paper.
func (t *Tuner) probability(i int) float64 {
	if t.batches == 0 {
		return 1
	}
	n := float64(max(i-t.batches+1, 1))
	if t.power == 0.5 {
		return 1 / math.Sqrt(n)
	}
	return math.Pow(n, -t.power)
}
