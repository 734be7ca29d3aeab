package study

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
)

// Engine does units somewhere.
type Engine interface {
	// Run does the units of a job and hands their results to its Done. It returns when all
	// are done, when ctx ends, or when it cannot go on, with the error; then some units have
	// no result. Of a unit that is done twice, both results may be handed on.
	Run(ctx context.Context, job *Job) error
}

// Job is what an engine is to do.
type Job struct {
	// Models are the bytes of models by their digests; Units what is to be done, made one
	// after another. Units is gone through once, by one goroutine.
	Models map[string][]byte
	Units  iter.Seq[*Unit]
	Count  int // units, those that are done already among them

	// Done takes a result. It may be called by several goroutines; an error, of a disk that
	// is full for instance, ends the job.
	Done func(*Result) error

	// Folder is that of the study. Where workers write to its journal themselves, Refresh
	// takes in what they have written; Has then says whether there is a result of a key, and
	// Lost how often its unit was begun by a process that has left none.
	Folder  string
	Refresh func() error
	Has     func(key string) bool
	Lost    func(key string) int

	Note func(string) // tells people something

	begun func() int // how often units were begun that have no result
}

// Local is the engine that works in this process.
type Local struct {
	Parallel int // fits at a time; 0: one per processor
}

// Run implements [Engine].
func (l Local) Run(ctx context.Context, job *Job) error {
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
	var running sync.WaitGroup
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

// feed hands units to those who do them.
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
