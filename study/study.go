package study

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/internal/goroutines"
)

// RunOptions are options of [Run]. The zero value is the default.
type RunOptions struct {
	Engine Engine // nil: Local{}

	// Folder stores the results during the run, so that the study can be continued, and as tables
	// at the end, see [ResultsName]. If it is "", nothing is stored.
	Folder string
	Text   string // the text of the plan, which is stored in the folder
	Retry  bool   // repeat failed fits, for instance those that lacked memory

	// InMemory keeps results in memory if there is no Folder. Otherwise they are in a temporary
	// folder until the end.
	InMemory bool

	// Progress, if not nil, is called with the progress of the study, twice a second and at the
	// end.
	Progress func(Progress)
	Note     func(string)

	// Each, if not nil, is called with the results in the order of the fits, once all are complete.
	Each func(*Unit, *Result) error
}

// Progress is the progress of a study. Its JSON encoding is part of the interface.
type Progress struct {
	Total    int     `json:"total"`           // number of fits
	Done     int     `json:"done"`            // fits done, those of earlier runs included
	Reused   int     `json:"reused"`          // fits of earlier runs
	Problems int     `json:"problems"`        // fits with problems
	Failed   int     `json:"failed"`          // fits that failed
	Seconds  float64 `json:"seconds"`         // seconds since the start
	Rate     float64 `json:"fits_per_second"` // recent rate of fits
	Left     float64 `json:"seconds_left"`    // estimated seconds to the end; -1 if not known yet
	// processor seconds of sampling, in the fits of this run
	Sampling float64 `json:"sampling_seconds"`
	Busy     float64 `json:"fitting_seconds"`   // processor seconds of all fits of this run
	Finished bool    `json:"finished,omitzero"` // whether this is the last line
}

// InterruptedError says that a study was stopped before its end.
type InterruptedError struct {
	Done, Total int
	Err         error
}

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("the study was interrupted: %d of %d fits are done: %v", e.Done, e.Total, e.Err)
}
func (e *InterruptedError) Unwrap() error { return e.Err }

// run is the state of Run.
type run struct {
	plan    *Plan
	options RunOptions
	journal *journal

	mu       sync.Mutex
	progress Progress
	began    time.Time
	recent   []moment
	again    map[shortKey]bool // fits that are repeated and have no new result yet
}

// moment is the number of fits of this run at a point in time.
type moment struct {
	when time.Time
	n    int
}

// Run makes the fits of a plan that have no results yet, and delivers the results of all. It
// returns the progress, with an *[InterruptedError] if ctx ended early. A failed fit is a result,
// not an error.
func Run(ctx context.Context, plan *Plan, o RunOptions) (Progress, error) {
	if err := plan.Check(); err != nil {
		return Progress{}, err
	}
	if o.Engine == nil {
		o.Engine = Local{}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	dir := o.Folder
	if dir == "" && !o.InMemory {
		var err error
		if dir, err = os.MkdirTemp("", "ppl-study-"); err != nil {
			return Progress{}, err
		}
		defer files.RemoveAll(dir)
	}
	r := &run{plan: plan, options: o, began: time.Now(), recent: []moment{{time.Now(), 0}}, progress: Progress{Total: plan.Len(), Left: -1}, again: map[shortKey]bool{}}
	if o.Folder != "" { // first, so that the folder always belongs to a study
		if err := files.MakeFolder(dir); err != nil {
			return r.progress, fmt.Errorf("cannot make the folder of the study: %w", err)
		}
		if err := r.writeRecord(false); err != nil {
			return r.progress, err
		}
	}
	j, err := newMemoryJournal(), error(nil)
	if dir != "" {
		j, err = openJournal(dir, "")
	}
	if err != nil {
		return r.progress, err
	}
	defer j.close()
	r.journal = j
	if err := j.create("study"); err != nil {
		return r.progress, err
	}
	stop := r.report()
	err = r.fit(ctx, dir)
	stop()
	r.now(true)
	if err != nil {
		if ctx.Err() != nil {
			err = &InterruptedError{r.progress.Done, r.progress.Total, context.Cause(ctx)}
		}
		return r.progress, err
	}
	if err := j.sync(); err != nil {
		return r.progress, err
	}
	if err := r.collect(ctx, dir); err != nil {
		if ctx.Err() != nil {
			err = &InterruptedError{r.progress.Done, r.progress.Total, context.Cause(ctx)}
		}
		return r.progress, err
	}
	if o.Folder != "" {
		err = r.writeRecord(true)
	}
	return r.progress, err
}

// fit lets the engine run the units that have no result.
func (r *run) fit(ctx context.Context, dir string) error {
	return r.options.Engine.Run(ctx, &Job{Models: r.plan.models(), Units: r.todo(ctx), Count: r.plan.Len(), Done: r.done, Folder: dir, Note: r.options.Note,
		Refresh: r.refresh, Has: func(key string) bool { return r.journal.statusOf(key) != "" }, Lost: r.journal.lost, begun: r.journal.begunTimes})
}

// todo yields the units that have no result, each once.
func (r *run) todo(ctx context.Context) iter.Seq[*Unit] {
	return func(yield func(*Unit) bool) {
		seen := map[shortKey]bool{} // to skip units that are the same fit
		for u := range r.plan.Units(ctx) {
			if u.Err != nil {
				r.count(Failed, false)
				continue
			}
			k, err := short(u.Key)
			if err != nil {
				continue
			}
			status := r.journal.statusOf(u.Key)
			retry := status == Failed && r.options.Retry && !seen[k]
			if status != "" && !retry {
				r.count(status, true)
				continue
			}
			if retry {
				r.mu.Lock()
				r.again[k] = true
				r.mu.Unlock()
			}
			if seen[k] {
				r.count(OK, true)
				continue
			}
			seen[k] = true
			if !yield(u) {
				return
			}
		}
	}
}

// refresh reads the results that workers have written to the journal.
func (r *run) refresh() error {
	more, err := r.journal.refresh()
	for status, n := range more {
		for range n {
			r.count(status, false)
		}
	}
	return err
}

// done stores a result of an engine.
func (r *run) done(result *Result) error {
	isNew, err := r.journal.put("", result)
	if err != nil || !isNew && !r.retried(result) {
		return err
	}
	r.mu.Lock()
	r.progress.Sampling += result.Sampling
	r.progress.Busy += result.Seconds
	r.mu.Unlock()
	r.count(result.Status, false)
	return nil
}

// retried reports whether a result says that a repeated fit has failed again. It is true only for
// the first such result.
func (r *run) retried(result *Result) bool {
	k, err := short(result.Key)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || !r.again[k] {
		return false
	}
	delete(r.again, k)
	return result.Status == Failed
}

func (r *run) count(s Status, reused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.progress
	p.Done++
	if reused {
		p.Reused++
	}
	switch s {
	case Failed:
		p.Failed++
	case Problems:
		p.Problems++
	}
}

// report calls Progress regularly until stop is called.
func (r *run) report() (stop func()) {
	if r.options.Progress == nil {
		return func() {}
	}
	done := make(chan struct{})
	var ended goroutines.Group
	ended.Go(func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.options.Progress(r.now(false))
			case <-done:
				r.options.Progress(r.now(true))
				return
			}
		}
	})
	return func() { close(done); ended.Wait() }
}

// now returns the current progress. The rate is measured over the last minute or, if fits take
// long, over the last GOMAXPROCS fits.
func (r *run) now(last bool) Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.progress
	now := time.Now()
	p.Seconds, p.Finished = now.Sub(r.began).Seconds(), last
	n := p.Done - p.Reused
	r.recent = append(r.recent, moment{now, n})
	for len(r.recent) > 2 && now.Sub(r.recent[1].when) > time.Minute && n-r.recent[1].n >= 2*runtime.GOMAXPROCS(0) {
		r.recent = r.recent[1:]
	}
	p.Left = -1
	first := r.recent[0]
	if made := n - first.n; made > 0 {
		p.Rate = float64(made) / now.Sub(first.when).Seconds()
		p.Left = float64(p.Total-p.Done) / p.Rate
	}
	return *p
}

// errMissing says that a fit has no result.
var errMissing = errors.New("a fit has no result")

// collect processes the results in the order of the fits.
func (r *run) collect(ctx context.Context, dir string) error {
	var out *outputs
	if r.options.Folder != "" {
		var err error
		if out, err = newOutputs(dir, r.plan); err != nil {
			return err
		}
		defer out.abandon()
	}
	for u := range r.plan.Units(ctx) {
		var result *Result
		if u.Err != nil {
			result = failed("", "data", u.Err)
		} else {
			var err error
			if result, err = r.journal.get(u.Key); err != nil {
				return err
			}
			if result == nil {
				// The engine may not be at fault: data that have changed meanwhile are another
				// unit.
				return fmt.Errorf("%w: that of %s to %s; the same study again makes it", errMissing, u.Model, u.Data)
			}
		}
		if out != nil {
			if err := out.add(u, result); err != nil {
				return err
			}
		}
		if r.options.Each != nil {
			if err := r.options.Each(u, result); err != nil {
				return err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if out != nil {
		return out.finish()
	}
	return nil
}
