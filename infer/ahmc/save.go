package ahmc

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/bayesopt"
)

// saved is the content that SaveState writes.
type saved struct {
	Tuning    bool
	Steps     int // number of steps of Algorithm 1, before tuning
	Box       Box
	M, K      int
	Point     int
	Seen      int
	Accepted  float64
	Drawn     int
	Frozen    bool
	Objective []float64
	History   []savedBatch
}

type savedBatch struct {
	Point       int
	Observed    bool
	Reward      float64
	AcceptStat  float64
	Leapfrogs   int
	Probability float64
	Adapted     bool
}

// SaveState implements [infer.Resumable].
func (a *Kernel) SaveState() ([]byte, error) {
	s := saved{Tuning: a.tuning(), Steps: a.hmc.Steps}
	if a.tuning() {
		s.Box, s.M, s.K, s.Point = a.box, a.m, a.k, a.tuner.Point()
		s.Seen, s.Accepted, s.Drawn, s.Frozen = a.seen, a.accepted, a.drawn, a.tuner.Frozen()
		s.Objective = a.objective.State()
		trials := a.tuner.History()
		for i, b := range a.history {
			s.History = append(s.History, savedBatch{trials[i].Point, trials[i].Observed, b.Reward, b.AcceptStat, b.Leapfrogs, b.Probability, b.Adapted})
		}
	}
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(s)
	return out.Bytes(), err
}

// LoadState implements [infer.Resumable]. The Gaussian process is restored by repeating all
// observations and queries in the same order, so that it agrees with the saved one in the last bit.
// Otherwise choices between settings that are almost equal could differ.
func (a *Kernel) LoadState(h infer.Hamiltonian, state []byte) error {
	var s saved
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return fmt.Errorf("ahmc: the saved state of the kernel cannot be read: %w", err)
	}
	if !s.Tuning {
		a.hmc.Steps = s.Steps
		return nil
	}
	if s.M < 1 || s.K < 1 {
		return errors.New("ahmc: the saved state of the kernel makes no sense")
	}
	if err := a.begin(s.Box, s.M, s.K, h); err != nil {
		return err
	}
	size := a.tuner.Grid().Size()
	for _, b := range s.History {
		if b.Point < 0 || b.Point >= size {
			return errors.New("ahmc: the saved setting is none of the grid")
		}
		trial := bayesopt.Trial{Point: b.Point, Reward: b.Reward, Observed: b.Observed, Probability: b.Probability, Adapted: b.Adapted}
		done := Batch{
			Number: len(a.history) + 1, StepSize: a.stepSize, Steps: a.steps, Reward: b.Reward, AcceptStat: b.AcceptStat,
			Leapfrogs: b.Leapfrogs, Probability: b.Probability, Adapted: b.Adapted,
		}
		if err := a.tuner.Replay([]bayesopt.Trial{trial}); err != nil {
			return fmt.Errorf("ahmc: %w", err)
		}
		history := a.tuner.History()
		done.Scale = history[len(history)-1].Scale
		a.use()
		a.history = append(a.history, done)
	}
	if s.Frozen {
		a.Freeze()
	}
	if s.Point != a.tuner.Point() {
		return errors.New("ahmc: the saved setting is not the one that its history leads to")
	}
	a.seen, a.accepted, a.drawn = s.Seen, s.Accepted, s.Drawn
	return a.objective.SetState(s.Objective)
}

// Tables implements [infer.Tabler]: "visits" has a row per batch, in order; "surface" has the
// posterior of the objective at every point of the grid.
func (a *Kernel) Tables() []infer.Table {
	if !a.tuning() {
		return nil
	}
	visits := infer.Table{Name: "visits", Columns: []string{"batch", "step_size", "steps", "reward", "accept_stat", "leapfrogs", "scale", "probability", "adapted"}}
	for _, b := range a.history {
		adapted := 0.0
		if b.Adapted {
			adapted = 1
		}
		visits.Rows = append(visits.Rows, []float64{float64(b.Number), b.StepSize, float64(b.Steps), b.Reward,
			b.AcceptStat, float64(b.Leapfrogs), b.Scale, b.Probability, adapted})
	}
	surface := infer.Table{Name: "surface", Columns: []string{"step_size", "steps", "mean", "sd", "observations", "average"}}
	for _, b := range a.Surface() {
		surface.Rows = append(surface.Rows, []float64{b.Coordinates[0], b.Coordinates[1], b.Mean, b.SD, float64(b.Observations), b.Average})
	}
	return []infer.Table{visits, surface}
}
