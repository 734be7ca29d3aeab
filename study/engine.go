package study

import (
	"context"
	"errors"
	"iter"
	"runtime"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/goroutines"
)

// Engine runs units, for instance on other machines.
type Engine interface {
	// Run runs the units of a job and calls its Done with their results. It returns when all are
	// done, when ctx ends, or with an error when it cannot continue; then some units have no
	// result. If a unit is run twice, both results may be passed on.
	Run(ctx context.Context, job *Job) error
}

// Job is the work of an engine.
type Job struct {
	// Models has the texts of models by their digests. Units yields the units to run, each of which
	// is made when it is needed. One goroutine ranges over Units, only once.
	Models map[string][]byte
	Units  iter.Seq[*Unit]
	Count  int // number of units, including those already done

	// Done stores a result. Several goroutines may call it. An error, for instance of a full disk,
	// ends the job.
	Done func(*Result) error

	// Folder is the folder of the study. If workers write to its journal themselves, Refresh reads
	// what they have written. Has then reports whether a key has a result. Lost returns the number
	// of times that a unit was begun without leaving a result.
	Folder  string
	Refresh func() error
	Has     func(key string) bool
	Lost    func(key string) int

	Note func(string) // shows a note to the user

	begun func() int // number of times that units without a result were begun
}

// Local is the engine that works in this process.
type Local struct {
	Parallel int // fits at a time; 0: one per processor
}

// Run implements [Engine].
func (l Local) Run(ctx context.Context, job *Job) (err error) {
	defer infer.Recover(&err)
	parallel := l.Parallel
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	w := &Worker{Model: blobOf(job.Models)}
	if job.Count < parallel {
		w.Chains = (parallel + job.Count - 1) / max(job.Count, 1)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan *Unit)
	running := goroutines.Group{Failed: func() { cancel(errPanic) }}
	for range parallel {
		running.Go(func() {
			for u := range todo {
				r := w.Do(ctx, u)
				if r == nil {
					return
				}
				if err := job.Done(r); err != nil {
					cancel(err)
				}
			}
		})
	}
	feed(ctx, job.Units, todo)
	running.Wait()
	return context.Cause(ctx)
}

// errPanic ends the other goroutines after one has panicked.
var errPanic = errors.New("another goroutine panicked")

// feed sends units to the workers.
func feed(ctx context.Context, units iter.Seq[*Unit], todo chan<- *Unit) {
	defer close(todo)
	for u := range units {
		select {
		case todo <- u:
		case <-ctx.Done():
			return
		}
	}
}

// blobOf finds the bytes of models.
func blobOf(models map[string][]byte) func(string) ([]byte, error) {
	return func(digest string) ([]byte, error) {
		if blob, ok := models[digest]; ok {
			return blob, nil
		}
		return nil, errors.New("the model of the fit is not there")
	}
}
