package fit

import (
	"context"

	"github.com/ppl-lang/ppl/infer"
)

// SnapshotAlways makes a run save the state of its chains after every
// transition.
func SnapshotAlways(o Options) Options {
	o.SnapshotEvery = -1
	return o
}

// FlushAlways makes a run show its draws to readers after each draw.
func FlushAlways(o Options) Options {
	o.flushAlways = true
	return o
}

// KeepLittle makes a run read draws back from journals almost from the beginning.
func KeepLittle(o Options) Options {
	o.keepInMemory = 1000
	return o
}

// TablesAlways makes a run that is watched show what its sampler has learnt after every
// transition, however long that takes.
func TablesAlways(o Options) Options {
	o.tablesEvery = -1
	return o
}

// Take takes processors and bytes of limits.
func Take(ctx context.Context, l *Limits, processors int, bytes int64) (got int, giveBack func(), err error) {
	a, giveBack, err := l.take(ctx, allotment{processors, bytes})
	return a.processors, giveBack, err
}

// ProgressOf returns the function of options that is called when chains report their progress.
func ProgressOf(o *Options) *func(infer.Progress) { return &o.progress }

// StopOf returns the function that tells the self-check of a run whether to stop.
func StopOf(r *Run) func() error { return r.check.Stop }
