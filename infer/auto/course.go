package auto

import (
	"context"
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// course is the stage that is all of warm-up.
type course struct {
	options Sampler
	length  int // transitions at most
}

// The constants of warm-up.
const (
	roundGrowth   = 1.5
	fewestNear    = 2 // rounds of a target that is close to normal
	fewestRounds  = 5
	apart         = 1.5 // R-hat of chains that are in different places, where each needs a step size of its own
	firstMaxDepth = 6   // of trees while the metric is a guess
)

// averaging is dual averaging for short rounds that begin with a step size that is
// nearly right: it shrinks towards twice that, not ten times.
func (c course) averaging(delta float64) warmup.Averaging {
	return warmup.Averaging{Delta: delta, Reach: 2}
}

// chain is a chain in warm-up.
type chain struct {
	course
	*infer.State
	h      *hmc.Whitened
	kernel *Kernel
	delta  float64
	made   int // transitions

	record record // of the round under way
}

// record is what a chain has seen in a round.
type record struct {
	draws, scores [][]float64
	logDensity    []float64
	divergent     int
	steps         int // integration steps
	saturated     int
	stepSize      float64
}

func (r *record) take(z *infer.Point, info infer.Info, maxDepth int) {
	row := append(append(make([]float64, 0, 2*len(z.Position)), z.Position...), z.Gradient...)
	d := len(z.Position)
	r.draws, r.scores = append(r.draws, row[:d:d]), append(r.scores, row[d:])
	r.logDensity = append(r.logDensity, z.LogDensity)
	r.steps += info.Leapfrogs
	if info.Divergent {
		r.divergent++
	}
	if info.TreeDepth >= maxDepth {
		r.saturated++
	}
}

// Run implements [infer.Stage].
func (c course) Run(ctx context.Context, s *infer.State) error {
	w := &chain{course: c, State: s, h: s.Hamiltonian.(*hmc.Whitened), kernel: s.Kernel.(*Kernel), delta: c.options.Delta}
	d := s.Target.Dim()
	if d == 0 {
		return nil
	}
	given := w.h.Metric().Kind != infer.Unit // by the run
	begun := s.Target.Gradients()
	var pairs pairs
	if !c.options.PlainStart {
		var err error
		if pairs, err = w.start(ctx, given); err != nil {
			return err
		}
		pairs.position, pairs.logDensity = slices.Clone(s.Point.Position), s.Point.LogDensity
	}
	if !given {
		f, err := w.firstMetric(pairs)
		if err != nil {
			return err
		}
		if f.trails(pairs, d) {
			w.note(fmt.Sprintf("Chain %d began in a mode whose log density is %.3g lower than that of another chain's, and was moved there.", s.ID, f.best.logDensity-pairs.logDensity))
			if err := w.move(f.best.position); err != nil {
				return err
			}
		}
		if err := w.h.SetMetric(f.metric); err != nil {
			return err
		}
	}
	started := s.Target.Gradients()
	w.kernel.use(Setting{Kind: NUTS})
	if err := (warmup.Search{}).Run(ctx, s); err != nil {
		return err
	}
	v, err := w.rounds(given)
	if err != nil {
		return err
	}
	learnt := s.Target.Gradients()
	if err := w.race(v); err != nil {
		return err
	}
	told := w.kernel.told
	told["start_gradients"] = float64(started - begun)
	told["rounds_gradients"] = float64(learnt - started)
	told["race_gradients"] = float64(s.Target.Gradients() - learnt)
	told["warmup_transitions"] = float64(w.made)
	told["divergence"] = v.divergence
	return nil
}

// advance makes n transitions that adapt the step size, and records them.
func (w *chain) advance(n int, maxDepth int) error {
	w.record = record{}
	w.kernel.nuts.MaxDepth = min(maxDepth, w.options.MaxDepth)
	avg := warmup.NewDualAveraging(w.averaging(w.delta), w.StepSize)
	for range n {
		info, err := w.Advance()
		if err != nil {
			return err
		}
		w.StepSize = avg.Update(info.AcceptStat)
		w.record.take(w.Point, info, w.kernel.nuts.MaxDepth)
	}
	w.StepSize = avg.Final()
	w.record.stepSize = w.StepSize
	w.kernel.nuts.MaxDepth = w.options.MaxDepth
	w.made += n
	return nil
}

// rounds makes the rounds and returns the last verdict.
func (w *chain) rounds(given bool) (*verdict, error) {
	p := &pool{course: w.course, given: given}
	length := float64(w.options.FirstRound)
	for round := 1; ; round++ {
		n := min(int(length), w.length-w.made)
		depth := w.options.MaxDepth
		if round <= 2 {
			depth = firstMaxDepth + 2*(round-1)
		}
		if err := w.advance(n, depth); err != nil {
			return nil, err
		}
		last := w.made >= w.length
		p.metric = w.h.Metric()
		all, err := w.Exchange(w.record, func(parts []any) any { return p.judge(parts, last) })
		if err != nil {
			return nil, err
		}
		v := all.(*verdict)
		if v.err != nil {
			return nil, v.err
		}
		p.adopt(v)
		if !given {
			if err := w.h.SetMetric(v.metric); err != nil {
				return nil, err
			}
		}
		w.delta = v.delta
		if v.rhat < apart || v.done {
			w.StepSize = v.stepSize
		}
		if v.done {
			w.note(fmt.Sprintf("Metric: %s.", v.why))
			if v.warn != "" {
				w.note(v.warn)
			}
			return v, nil
		}
		length *= roundGrowth
	}
}

func (w *chain) note(sentence string) {
	if w.Note != nil {
		w.Note(sentence)
	}
}
