package auto

import (
	"context"
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// course is the stage that runs the whole of warm-up.
type course struct {
	options Sampler
	at      *limits
	length  int // maximum number of transitions
}

// chain is a chain in warm-up.
type chain struct {
	course
	*infer.State
	h      *hmc.Whitened
	kernel *Kernel
	delta  float64
	made   int  // transitions so far
	learns bool // whether the chain learns the coordinates of group-level terms

	slow bool // whether the chain can only begin at points that are slow to evaluate

	worth float64 // effective draws per transition of the static kernel that won the race; 0: none did

	// coordinates in which the modes were searched for, see infer.Recentring
	searchedIn []float64

	record record // record of the current round
}

// Run implements [infer.Stage]. Its steps are start, metric, rounds, kernel and end.
func (c course) Run(ctx context.Context, s *infer.State) error {
	w := &chain{course: c, State: s, h: s.Hamiltonian.(*hmc.Whitened), kernel: s.Kernel.(*Kernel), delta: c.options.Delta}
	if s.Target.Dim() == 0 {
		return nil
	}
	given := w.h.Metric().Kind != infer.Unit // the caller gave a metric
	begun := s.Target.Gradients()
	o, err := w.open(ctx, given)
	if err != nil {
		return err
	}
	started := s.Target.Gradients()
	w.kernel.use(Setting{Kind: NUTS})
	if err := w.search(ctx, given); err != nil {
		return err
	}
	v, err := w.rounds(ctx, given, o.modes)
	if err != nil {
		return err
	}
	learnt := s.Target.Gradients()
	tempers, err := w.temper(ctx)
	if err != nil {
		return err
	}
	if !tempers {
		if err := w.race(v); err != nil {
			return err
		}
	}
	if !v.unsettled && !c.options.NoEarlyEnd && !tempers {
		w.note(fmt.Sprintf("Warm-up ended early, after %d of %d transitions. Step size, metric and means had settled.", w.made, w.length))
	}
	if !tempers {
		w.spend(v)
	}
	figures := w.kernel.figures
	figures["start_gradients"] = float64(started - begun)
	figures["search_gradients"] = float64(o.searched)
	figures["rounds_gradients"] = float64(learnt - started)
	figures["race_gradients"] = float64(s.Target.Gradients() - learnt)
	figures["warmup_transitions"] = float64(w.made)
	figures["divergence"] = v.divergence
	figures["worth"] = v.worth
	figures["delta"] = w.delta
	figures["refined"] = v.refined
	return nil
}

// opening is the result of a chain's start, except its point and its metric.
type opening struct {
	modes    []*mode // the modes whose mass matters; nil unless there are several
	searched int64   // number of gradients that the search for modes used
}

// open moves the chain to the typical set, searches for modes and sets the first metric.
func (w *chain) open(ctx context.Context, given bool) (o opening, err error) {
	if err := w.beginRecentred(given); err != nil {
		return o, err
	}
	var pairs pairs
	if !w.options.PlainStart {
		if pairs, err = w.start(ctx, given); err != nil {
			return o, err
		}
		pairs.position, pairs.logDensity = slices.Clone(w.Point.Position), w.Point.LogDensity
	}
	climbed := w.Target.Gradients()
	if w.Chart != nil {
		w.searchedIn = slices.Clone(w.Chart.Evidence())
	}
	if !w.options.PlainStart {
		if o.modes, err = w.searchModes(ctx, pairs); err != nil {
			return o, err
		}
	}
	o.searched = w.Target.Gradients() - climbed
	if given {
		return o, nil
	}
	f, err := w.firstMetric(pairs)
	if err != nil {
		return o, err
	}
	return o, w.h.SetMetric(f.metric)
}

// search finds the first step size. If that fails with the metric learnt from the climb, it tries
// the identity, because the learnt metric may not fit where the chain is now.
func (w *chain) search(ctx context.Context, given bool) error {
	begun := w.StepSize
	err := (warmup.Search{}).Run(ctx, w.State)
	if err == nil || given || ctx.Err() != nil {
		return err
	}
	if e := w.h.SetMetric(infer.Metric{Kind: infer.Unit, Dim: w.Target.Dim()}); e != nil {
		return e
	}
	w.StepSize = begun
	if (warmup.Search{}).Run(ctx, w.State) != nil {
		return err
	}
	return nil
}

// place returns the index of the chain among the n chains that learn together.
func (w *chain) place(n int) int {
	if n == 1 { // it learns alone, whatever its index in the run
		return 0
	}
	return w.Chain
}

// emit reports an event of the chain.
func (w *chain) emit(code string, figures infer.Figures) {
	if w.Emit != nil {
		w.Emit(infer.Event{Code: code, Figures: figures})
	}
}

func (w *chain) note(sentence string) {
	if w.Note != nil {
		w.Note(sentence)
	}
}
