package fit

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/ppl-lang/ppl/fit/selfcheck"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/model"
)

// Run is a run of [Sample] whose draws can be taken in one by one, and that can be looked at while
// it goes on. Only [NewRun] makes one.
type Run struct {
	ctx       context.Context
	posterior *model.Posterior
	options   Options
	check     *selfcheck.Check

	begun atomic.Bool
	ended atomic.Bool
	now   atomic.Pointer[func() *Fit] // the fit so far; nil before the first draw
	yield func(infer.Draw, error) bool
	left  bool // yield has said that it wants no more

	fit *Fit
	err error
}

// NewRun makes a run, of which [Run.Draws] or [Run.Fit] makes the draws. An error says that the
// options, or the files of a run to resume, are not in order.
func NewRun(ctx context.Context, p *model.Posterior, o Options) (*Run, error) {
	if err := o.check(ctx, p); err != nil {
		return nil, err
	}
	if err := o.startFrom(p); err != nil {
		return nil, err
	}
	if o.Sampler == nil {
		o.Sampler = auto.Sampler{}
	}
	if err := o.withinMemory(p); err != nil {
		return nil, err
	}
	if err := o.checkNumbers(); err != nil {
		return nil, err
	}
	r := &Run{ctx: ctx, posterior: p, options: o, check: selfcheck.New(p.Compiled(), p.Data(), o.Seed, o.Chains, o.Parallel)}
	if err := o.restoreVerdict(ctx, r.check); err != nil {
		return nil, err
	}
	return r, nil
}

// Draws makes the draws and yields them as they come: those of a chain in order, those of different
// chains interleaved. It can be ranged over once. A loop that breaks ends the run. [Run.Fit] has
// the fit of all draws after the loop. To keep no draws, range over infer.Run.
//
// The error of Fit, if any, is yielded last, with a Draw that has the chain -1. A [DiscardedError]
// before that says that the draws so far do not count. Draws that a resumed run has made before are
// not yielded, but are in the fit.
func (r *Run) Draws() iter.Seq2[infer.Draw, error] {
	return func(yield func(infer.Draw, error) bool) {
		if !r.begun.CompareAndSwap(false, true) {
			yield(infer.Draw{Chain: -1}, errors.New("ppl: the draws of a run can be ranged over only once"))
			return
		}
		r.yield = yield
		r.sample()
		if r.err != nil && !r.left {
			yield(infer.Draw{Chain: -1}, r.err)
		}
	}
}

// Fit is what [Sample] returns. It makes the draws, unless a loop over [Run.Draws] has done so.
// After a loop that was left early, it has the draws up to then, and no error for that.
func (r *Run) Fit() (*Fit, error) {
	if r.begun.CompareAndSwap(false, true) {
		r.sample()
	}
	if !r.ended.Load() {
		return nil, errors.New("ppl: the run goes on; Run.SoFar has the fit so far")
	}
	return r.fit, r.err
}

// SoFar is the fit of the draws made up to now, for those who look at a run while it goes on. It
// may be called by any goroutine, as long as the fit is not closed; nil before the first draw.
func (r *Run) SoFar() *Fit {
	if now := r.now.Load(); now != nil {
		return (*now)()
	}
	return nil
}

// take hands a draw over; it reports whether the run is to go on.
func (r *Run) take(d infer.Draw, err error) bool {
	if r.yield != nil && !r.left {
		r.left = true // also after a panic of the loop's body
		r.left = !r.yield(d, err)
	}
	return !r.left
}

// sample makes the draws, with another program where the compiled one turns out to be wrong.
func (r *Run) sample() {
	defer r.ended.Store(true)
	r.err = errors.New("ppl: the loop over the draws has panicked")
	r.fit, r.err = r.logged(func() (*Fit, error) {
		got, giveBack, err := r.options.Limits.take(r.ctx, r.needs())
		if err != nil {
			return nil, err
		}
		defer giveBack()
		if r.options.Limits != nil {
			r.options.Parallel = got.processors
		}
		return r.attempts()
	})
}

func (r *Run) attempts() (*Fit, error) {
	var fit *Fit
	for o := r.options; ; {
		if !r.check.Start() {
			var err error
			if fit, err = sample(r.ctx, r.posterior.With(r.check.Bound()), o, r); !errors.Is(err, selfcheck.ErrWrong) {
				return fit, err
			}
			if !r.take(infer.Draw{Chain: -1}, &DiscardedError{}) {
				return fit, &DiscardedError{}
			}
		}
		if err := r.check.Replace(r.ctx); err != nil {
			return fit, &InterruptedError{Cause: err}
		}
		// What was drawn, now or before the run was resumed, is of another density.
		o.Resumable, o.Resume = o.Resumable || o.Resume, false
		if err := o.keepVerdict(r.check); err != nil {
			return fit, err
		}
	}
}
