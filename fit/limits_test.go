package fit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// TestLimitsTake checks that runs take free resources in the order of arrival, and that a run that
// stopped waiting does not block the others.
func TestLimitsTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := fit.NewLimits(3, 100)
		if err != nil {
			t.Fatal(err)
		}
		got, first, err := fit.Take(t.Context(), l, 2, 60)
		if got != 2 || err != nil {
			t.Fatal(got, err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		var mu sync.Mutex
		var order []int
		var backs []func()
		take := func(ctx context.Context, number, processors int, bytes int64) {
			go func() {
				got, back, err := fit.Take(ctx, l, processors, bytes)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					order = append(order, -number)
					return
				}
				order, backs = append(order, 10*number+got), append(backs, back)
			}()
			synctest.Wait()
		}
		take(ctx, 1, 4, 50)         // must wait for bytes
		take(t.Context(), 2, 4, 10) // there would be room for it, but others came first
		if len(order) > 0 {
			t.Fatalf("%v did not wait", order)
		}
		cancel(errors.New("gone"))
		synctest.Wait()
		if !slices.Equal(order, []int{-1, 21}) { // one processor was left
			t.Fatalf("%v", order)
		}
		first()
		first() // calling it again gives nothing back
		take(t.Context(), 3, 4, 90)
		take(t.Context(), 4, 1, 0)
		if !slices.Equal(order, []int{-1, 21, 32, 41}) && !slices.Equal(order, []int{-1, 21, 32}) {
			t.Fatalf("%v", order)
		}
		for range 3 {
			mu.Lock()
			if len(backs) > 0 {
				backs[0]()
				backs = backs[1:]
			}
			mu.Unlock()
			synctest.Wait()
		}
		if got, _, err := fit.Take(t.Context(), l, 3, 100); got != 3 || err != nil {
			t.Errorf("%d processors, %v: not all was given back", got, err)
		}
		var limit *fit.LimitError
		if _, _, err := fit.Take(t.Context(), l, 1, 101); !errors.As(err, &limit) || limit.Asked != 101 {
			t.Error(err)
		}
	})
}

// TestConcurrentSamples checks that many goroutines can sample the same posterior, within shared
// limits, and get the same draws. .ci/run race runs it with the race detector.
func TestConcurrentSamples(t *testing.T) {
	p := bind(t, pair, nil)
	l, err := fit.NewLimits(2, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	o := fit.Options{Sampler: nuts.Sampler{}, Chains: 2, Warmup: 100, Draws: 100, Seed: 4, Limits: l}
	want, err := fit.Sample(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			o := o
			if i%2 == 1 {
				o.Limits = nil
			}
			f, err := fit.Sample(t.Context(), p, o)
			if err != nil {
				t.Error(err)
				return
			}
			for k := range want.Names() {
				if !slices.Equal(f.Draws.Column(nil, 1, k), want.Draws.Column(nil, 1, k)) {
					t.Error("other draws")
				}
			}
			f.Summary()
			if _, err := p.Model().Bind(nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	small, err := fit.NewLimits(1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	o.Limits = small
	if _, err := fit.Sample(t.Context(), p, o); !errors.As(err, new(*fit.LimitError)) || !strings.Contains(err.Error(), "all runs together may take 1 kB") {
		t.Error(err)
	}
}

// TestLogger checks that a logger receives the end of a run and its findings.
func TestLogger(t *testing.T) {
	var text bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&text, nil))
	o := fit.Options{Sampler: nuts.Sampler{}, Chains: 2, Warmup: 100, Draws: 20, Seed: 4, Logger: logger}
	if _, err := fit.Sample(t.Context(), bind(t, pair, nil), o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = fit.Sample(ctx, bind(t, pair, nil), o)
	for _, want := range []string{"level=WARN msg=finding", "finding.code=", "level=INFO msg=\"sampling has ended\"", "fit.draws=40", "fit.min_ess=", "level=ERROR msg=\"sampling has failed\""} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %s in:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "sampling begins") {
		t.Error("messages of level Debug are written")
	}
}
