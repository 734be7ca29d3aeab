package bayesopt

import (
	"fmt"
	"math"
)

// Tuner chooses between the arms of a grid by the rewards of batches that are made
// with them, one after another: lines 5 to 16 of the paper's Algorithm 2. What an arm
// is, and how a batch is made and rewarded, is up to its user.
type Tuner struct {
	*Optimizer
	batches int     // k: with certainty a new arm is chosen after as many
	power   float64 // of the probability after more

	point   int // the arm in use, by its number in the grid
	history []Trial
	changes int
	frozen  bool
}

// Trial is the account of a batch.
type Trial struct {
	Point       int // the arm it was made with
	Reward      float64
	Observed    bool    // the reward was a number
	Scale       float64 // s after the batch
	Probability float64 // p_i
	Adapted     bool    // a new arm was chosen (it may be the same)
}

// NewTuner begins with the arm first. After batch i an arm is chosen with the
// probability max(i-batches+1, 1)^-power; without batches (0) always.
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

// Point is the arm in use, by its number in the grid.
func (t *Tuner) Point() int { return t.point }

// Use makes an arm the one in use, for those who begin with arms of their choice.
func (t *Tuner) Use(point int) { t.point = point }

// Batch is i, the number of the batch under way, from 1.
func (t *Tuner) Batch() int { return len(t.history) + 1 }

// History holds the finished batches; not to be modified.
func (t *Tuner) History() []Trial { return t.history }

// Changes counts how often the arm was changed.
func (t *Tuner) Changes() int { return t.changes }

// Frozen reports whether tuning has ended.
func (t *Tuner) Frozen() bool { return t.frozen }

// End ends a batch with its reward; observed is false if it has none. u is uniform
// on [0, 1) (line 9).
func (t *Tuner) End(reward float64, observed bool, u float64) Trial {
	p := t.probability(t.Batch())
	trial := Trial{Point: t.point, Reward: reward, Observed: observed, Probability: p, Adapted: u < p}
	t.take(&trial)
	return trial
}

// take brings the tuner up to date with a trial, of which all but the scale is known.
func (t *Tuner) take(trial *Trial) {
	// Lines 5 to 8: D_i = D_{i-1} ∪ (γ_i, r_i); if r_i > sup r_j, s = α/r_i. The
	// error is about points outside the grid and rewards that are not finite.
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

// Replay brings a new tuner to the state of one with that history, to the last bit.
func (t *Tuner) Replay(history []Trial) error {
	for _, trial := range history {
		if trial.Point != t.point {
			return fmt.Errorf("batch %d was made with another setting than its history leads to: was the run started by another version, or with other options?", t.Batch())
		}
		t.take(&trial)
	}
	return nil
}

// Least is the least reward so far; ok is false if there is none.
func (t *Tuner) Least() (reward float64, ok bool) {
	reward = math.Inf(1)
	for _, b := range t.history {
		if b.Observed {
			reward = min(reward, b.Reward)
		}
	}
	return reward, !math.IsInf(reward, 1)
}

// Freeze ends tuning with the arm of the largest posterior mean; without any
// finished batch it stays.
func (t *Tuner) Freeze() {
	if t.frozen {
		return
	}
	t.frozen = true
	if t.Observations() > 0 {
		t.point = t.Next(0)
	}
}

// probability is p_i = max(i-k+1, 1)^(-power), the power ½ in the paper.
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
