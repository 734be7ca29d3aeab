package fit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// leaving is a sampler that ends late after a cancellation. It then leaves work behind for its
// chain and for the self-check.
type leaving struct {
	late     time.Duration
	released chan struct{}
	check    func() error // asks for the self-check whether to stop
}

func (l *leaving) Plan(target *infer.Meter, warmup int) (infer.Plan, error) {
	for !target.Interrupted() {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(l.late)
	for _, ended := range []func(){target.Leave(), ad.Leave(l.check())} {
		go func() {
			<-l.released
			ended()
		}()
	}
	return infer.Plan{}, infer.ErrInterrupted
}

// TestOneGrace checks that chains, the session and the self-check share one period of grace, which
// begins when the run is cancelled. The test uses its own clock.
func TestOneGrace(t *testing.T) {
	p := bind(t, pair, nil)
	for _, test := range []struct{ grace, late, want time.Duration }{
		{time.Second, 0, time.Second},
		{time.Second, 600 * time.Millisecond, time.Second},
		{time.Second, 2 * time.Second, 2 * time.Second},
		{-1, 0, 0},
		{0, 600 * time.Millisecond, time.Minute},
		{time.Hour, 600 * time.Millisecond, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			sampler := &leaving{late: test.late, released: make(chan struct{})}
			ctx, cancel := context.WithCancel(t.Context())
			run, err := fit.NewRun(ctx, p, fit.Options{Sampler: sampler, Chains: 2, Seed: 1, Grace: test.grace})
			if err != nil {
				t.Fatal(err)
			}
			sampler.check = fit.StopOf(run)
			time.AfterFunc(time.Second, cancel)
			time.AfterFunc(time.Second+time.Minute, func() { close(sampler.released) })
			began := time.Now()
			if _, err := run.Fit(); !errors.As(err, new(*fit.InterruptedError)) {
				t.Error(err)
			}
			if late := time.Since(began) - time.Second; late < test.want || late > test.want+30*time.Millisecond {
				t.Errorf("grace %v, chains end after %v: late by %v, not %v", test.grace, test.late, late, test.want)
			}
			<-sampler.released
		})
	}
}

// foreign is a sampler that is in no table.
type foreign struct{ infer.Sampler }

// TestForeignStatistics checks a sampler that is in no table: it has the statistics that all
// samplers have, but no findings about tempering.
func TestForeignStatistics(t *testing.T) {
	got, err := fit.Sample(t.Context(), bind(t, pair, nil), fit.Options{Sampler: foreign{nuts.Sampler{}}, Seed: 1, Warmup: 200, Draws: 200})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Findings() {
		if f.Code == "restarts" {
			t.Error(f.Summary)
		}
	}
	if n := len(got.Draws.Columns().Statistics); n < 5 {
		t.Errorf("%d statistics", n)
	}
}
