package fit

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/ppl-lang/ppl/fit/selfcheck"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/internal/goroutines"
	"github.com/ppl-lang/ppl/model"
)

// Run is a run of [Sample] that you can follow. Range over its draws with [Run.Draws], or over its
// progress with [Run.Progress], and call [Run.Fit] after the loop. [Run.SoFar] returns the current
// fit at any time. Make a Run with [NewRun].
type Run struct {
	ctx       context.Context
	posterior *model.Posterior
	options   Options
	check     *selfcheck.Check

	begun atomic.Bool
	ended atomic.Bool
	now   atomic.Pointer[func() *Fit] // the current fit; nil before the first draw
	yield func(infer.Draw, error) bool
	left  bool // the loop over the run was left

	behind goroutines.Leftover // self-check evaluations that still run after a cancellation

	fit *Fit
	err error
}

// Progress is the progress of the chain that reported most recently.
type Progress struct {
	infer.Progress

	// Looked is the number of draws per chain at the last check of [Options.TargetESS]; 0: no check
	// yet. ESS and Rhat are the smallest effective sample size and the largest R-hat of all
	// quantities at that check.
	Looked    int
	ESS, Rhat float64
}

// errTwice is the error of a second loop over the same run.
var errTwice = errors.New("ppl: a run can be ranged over only once, by Draws or by Progress")

// errLeft is the cause with which a run is cancelled after its loop was left.
var errLeft = errors.New("the loop over the run was left")

// NewRun prepares a run. The first call of [Run.Draws], [Run.Progress] or [Run.Fit] makes its
// draws. An error says that the options, or the files of a run to resume, are invalid.
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
	r := &Run{ctx: ctx, posterior: p, options: o, check: selfcheck.New(ctx, p.Compiled(), p.Data(), o.Seed, o.Chains, o.Parallel)}
	r.check.Stop = func() error {
		if r.ctx.Err() == nil {
			return nil
		}
		return interruption{context.Cause(r.ctx), &r.behind}
	}
	defer r.behind.Begin(ctx, o.Grace)()
	if err := o.restoreVerdict(ctx, r.check); err != nil {
		r.behind.Wait()
		return nil, err
	}
	return r, nil
}

// Draws makes the draws and yields each when it is made. The draws of a chain are in order; those
// of different chains are interleaved. You can range over it only once. A break ends the run. After
// the loop, [Run.Fit] returns the fit of all draws. To keep no draws, range over infer.Run.
//
// The error of Fit, if any, is yielded last, with a Draw whose Chain is -1. A [DiscardedError]
// before that says that the draws so far do not count. Draws that a resumed run made earlier are
// not yielded, but the fit has them.
func (r *Run) Draws() iter.Seq2[infer.Draw, error] {
	return func(yield func(infer.Draw, error) bool) {
		if !r.begun.CompareAndSwap(false, true) {
			yield(infer.Draw{Chain: -1}, errTwice)
			return
		}
		r.yield = yield
		r.sample()
		if r.err != nil && !r.left {
			yield(infer.Draw{Chain: -1}, r.err)
		}
	}
}

// Progress makes the draws and yields the progress of the chains: every 10 s before the first
// transition of each, after it, after every [Options.Refresh] transitions, at the end of warm-up
// and sampling, and at each check of [Options.TargetESS]. A break ends the run. After the loop,
// [Run.Fit] returns the fit. The error of Fit, if any, is yielded last.
func (r *Run) Progress() iter.Seq2[Progress, error] {
	return func(yield func(Progress, error) bool) {
		if !r.begun.CompareAndSwap(false, true) {
			yield(Progress{}, errTwice)
			return
		}
		ctx, cancel := context.WithCancelCause(r.ctx)
		defer cancel(nil)
		r.ctx = ctx
		var now Progress
		report := func() {
			if r.left {
				return
			}
			r.left = true // also if the body of the loop panicked
			if r.left = !yield(now, nil); r.left {
				cancel(errLeft)
			}
		}
		r.options.progress = func(p infer.Progress) {
			now.Progress = p
			report()
		}
		r.options.looked = func(n int, ess, rhat float64) {
			now.Looked, now.ESS, now.Rhat = n, ess, rhat
			report()
		}
		r.sample()
		if r.err != nil && !r.left {
			yield(now, r.err)
		}
	}
}

// Fit returns the fit as [Sample] does. It makes the draws, unless a loop over the run has done so.
// After a loop that was left early, it returns the draws up to then without an error for the early
// end.
func (r *Run) Fit() (*Fit, error) {
	if r.begun.CompareAndSwap(false, true) {
		r.sample()
	}
	if !r.ended.Load() {
		return nil, errors.New("ppl: the run goes on; Run.SoFar has the fit so far")
	}
	return r.fit, r.err
}

// SoFar returns the fit of the draws so far, to watch a running run. It is nil before the first
// draw. Any goroutine may call it, as long as the fit is not closed.
func (r *Run) SoFar() *Fit {
	if now := r.now.Load(); now != nil {
		return (*now)()
	}
	return nil
}

// take yields a draw, and reports whether the run should continue.
func (r *Run) take(d infer.Draw, err error) bool {
	if r.yield != nil && !r.left {
		r.left = true // also if the body of the loop panicked
		r.left = !r.yield(d, err)
	}
	return !r.left
}

// sample makes the draws. If the compiled program turns out to be wrong, it begins again with
// another one.
func (r *Run) sample() {
	defer r.ended.Store(true)
	defer r.behind.Begin(r.ctx, r.options.Grace)()
	defer r.behind.Wait()
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

// interruption is the error that ends an evaluation of the self-check. If the evaluation continues
// in the background, the run waits for its end.
type interruption struct {
	error
	behind *goroutines.Leftover
}

// Unwrap returns the cause.
func (i interruption) Unwrap() error { return i.error }

// Leave is called if an evaluation continues in the background. The function that it returns is
// called when the evaluation has ended.
func (i interruption) Leave() (ended func()) {
	return i.behind.Leave()
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
			if r.left {
				return fit, nil
			}
			return fit, &InterruptedError{Cause: err}
		}
		// All draws so far, including those made before the run was resumed, are from another
		// density.
		o.Resumable, o.Resume = o.Resumable || o.Resume, false
		if err := o.keepVerdict(r.check); err != nil {
			return fit, err
		}
	}
}
