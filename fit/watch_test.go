package fit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/model"
)

// TestWatch checks that a running run can be watched: the draws seen are the first ones of the run,
// and summary and findings are available.
func TestWatch(t *testing.T) {
	model, err := model.Compile("m.stan", "parameters { real x; vector[2] y; } model { x ~ normal(0, 1); y ~ normal(x, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := model.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	var run *fit.Run
	var seen []*fit.Fit
	var looking sync.WaitGroup
	look := make(chan struct{}, 1)
	run, err = fit.NewRun(context.Background(), posterior, fit.Options{Seed: 1, Chains: 2, Parallel: 1, Draws: 2000})
	if err != nil {
		t.Fatal(err)
	}
	if run.SoFar() != nil {
		t.Error("there is a fit before the first draw")
	}
	looking.Go(func() {
		for range look {
			f := run.SoFar()
			if every, running := f.InProgress(); !running || every != 1 {
				t.Errorf("every %d, running %t", every, running)
			}
			f.Summary()
			f.Findings()
			seen = append(seen, f)
		}
	})
	streamed := map[int][]float64{}
	for d, err := range run.Draws() {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Fit(); len(streamed) == 0 && err == nil {
			t.Error("there is a fit while the run goes on")
		}
		streamed[d.Chain] = append(streamed[d.Chain], d.Values[0])
		select {
		case look <- struct{}{}:
		default:
		}
	}
	fit, err := run.Fit()
	close(look)
	looking.Wait()
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range run.Draws() {
		if err == nil {
			t.Error("draws can be ranged over twice")
		}
	}
	if _, running := fit.InProgress(); running || len(seen) == 0 {
		t.Fatalf("running %t, seen %d times", running, len(seen))
	}
	seen = append(seen, run.SoFar())
	whole := map[int][]float64{}
	for chain := range 2 {
		whole[chain] = fit.Draws.Column(nil, chain, 0)
	}
	for chain, want := range whole {
		if !slices.Equal(streamed[chain], want) {
			t.Errorf("chain %d: other draws were yielded than are in the fit", chain)
		}
	}
	for _, f := range seen {
		for chain := range 2 {
			for i, v := range f.Draws.Column(nil, chain, 0) {
				if v != whole[chain][i] {
					t.Fatalf("draw %d of chain %d is %v, then %v", i, chain, v, whole[chain][i])
				}
			}
		}
	}
	if last := seen[len(seen)-1]; last.Draws.Len(0) != 2000 || last.Summary()[0] != fit.Summary()[0] {
		t.Error("the last look differs from the fit")
	}
}

// TestDrawsBreak checks that a break of the loop ends the run; the fit has the draws up to then.
func TestDrawsBreak(t *testing.T) {
	run, err := fit.NewRun(t.Context(), bind(t, pair, nil), fit.Options{Seed: 1, Chains: 2, Draws: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range run.Draws() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 500 {
			break
		}
	}
	f, err := run.Fit()
	if err != nil || f.Draws.Len(0)+f.Draws.Len(1) != 500 || !f.Report.Interrupted || len(f.Summary()) == 0 {
		t.Errorf("%v, %+v", err, f)
	}
}

// TestRunProgress checks that each chain yields its progress, including the quantities that
// TargetESS checks.
func TestRunProgress(t *testing.T) {
	o := fit.Options{Sampler: nuts.Sampler{}, Seed: 1, Chains: 2, Warmup: 200, Draws: 2000, TargetESS: 200, Refresh: 50}
	run, err := fit.NewRun(t.Context(), bind(t, pair, nil), o)
	if err != nil {
		t.Fatal(err)
	}
	var last fit.Progress
	chains, looks := map[int]int{}, 0
	for p, err := range run.Progress() {
		if err != nil {
			t.Fatal(err)
		}
		chains[p.Chain]++
		if p.Looked < last.Looked {
			t.Errorf("looked at %d draws after %d", p.Looked, last.Looked)
		}
		if p.Looked != last.Looked {
			looks++
		}
		last = p
	}
	f, err := run.Fit()
	if err != nil {
		t.Fatal(err)
	}
	if len(chains) != 2 || chains[1] < 4 || looks < 1 || last.ESS < 200 || last.Rhat > 1.01 || f.Report.Enough != last.Looked {
		t.Errorf("%v, %d looks, %+v, enough after %d", chains, looks, last, f.Report.Enough)
	}
	// The draws are the same as those of Sample.
	alone, err := fit.Sample(t.Context(), bind(t, pair, nil), o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Draws.Column(nil, 1, 0), alone.Draws.Column(nil, 1, 0)) {
		t.Error("a run that is followed has other draws")
	}
	for _, err := range run.Progress() {
		if err == nil {
			t.Error("a run can be ranged over twice")
		}
	}
}

// TestProgressBreak checks that a break of a loop over progress ends the run, also in warm-up. A
// cancelled run yields its error.
func TestProgressBreak(t *testing.T) {
	for _, warm := range []bool{true, false} {
		run, err := fit.NewRun(t.Context(), bind(t, pair, nil), fit.Options{Sampler: nuts.Sampler{}, Seed: 1, Chains: 1, Draws: 1_000_000})
		if err != nil {
			t.Fatal(err)
		}
		for p, err := range run.Progress() {
			if err != nil {
				t.Fatal(err)
			}
			if warm || !p.Warmup {
				break
			}
		}
		f, err := run.Fit()
		if err != nil || !f.Report.Interrupted || f.Draws.Len(0) > 100_000 || warm && f.Draws.Len(0) > 0 {
			t.Errorf("in warm-up %t: %v, %d draws", warm, err, f.Draws.Len(0))
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	run, err := fit.NewRun(ctx, bind(t, pair, nil), fit.Options{Seed: 1, Chains: 1, Draws: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	enough, seen := errors.New("enough"), error(nil)
	for _, err := range run.Progress() {
		cancel(enough)
		seen = err
	}
	if _, err := run.Fit(); !errors.Is(seen, enough) || !errors.Is(err, enough) {
		t.Errorf("%v, %v", seen, err)
	}
}
