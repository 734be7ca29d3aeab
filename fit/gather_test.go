package fit_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/model"
)

// TestGather checks that chains drawn separately and combined from pieces equal a single run of all
// chains, with the same draws and reports.
func TestGather(t *testing.T) {
	model, err := model.Compile("m.stan", "parameters { real x; vector[2] y; } model { x ~ normal(0, 1); y ~ normal(x, 1); } generated quantities { real z = normal_rng(x, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := model.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	// Each chain learns only from itself.
	o := fit.Options{Seed: 7, Chains: 3, Warmup: 200, Draws: 150, Sampler: nuts.Sampler{}}
	whole, err := fit.Sample(context.Background(), posterior, o)
	if err != nil {
		t.Fatal(err)
	}
	g, err := fit.Gather(posterior, o)
	if err != nil {
		t.Fatal(err)
	}
	for id := 1; id <= 3; id++ {
		alone := o
		alone.Chains, alone.FirstID, alone.Refresh = 1, id, 1
		var run *fit.Run
		handed, parts := 0, 0
		hand := func(f *fit.Fit) {
			text, n, err := f.EncodeFrom(handed)
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Add(text); err != nil {
				t.Fatal(err)
			}
			handed, parts = n, parts+1
		}
		*fit.ProgressOf(&alone) = func(p infer.Progress) {
			if p.Iteration%60 == 0 {
				hand(run.SoFar())
			}
		}
		if run, err = fit.NewRun(context.Background(), posterior, alone); err != nil {
			t.Fatal(err)
		}
		fit, err := run.Fit()
		if err != nil {
			t.Fatal(err)
		}
		if f := g.Fit(true, false); id == 2 {
			if _, running := f.InProgress(); !running || len(f.Summary()) == 0 {
				t.Error("the fit so far is none of a run that goes on")
			}
		}
		hand(fit)
		if handed != 150 || parts != 6 {
			t.Errorf("chain %d: %d draws in %d parts", id, handed, parts)
		}
	}
	fit := g.Fit(false, false)
	for chain := range 3 {
		for i := range whole.Names() {
			if !slices.Equal(fit.Draws.Column(nil, chain, i), whole.Draws.Column(nil, chain, i)) {
				t.Fatalf("chain %d: other draws of %s", chain, whole.Names()[i])
			}
		}
		a, b := fit.Report.Chains[chain], whole.Report.Chains[chain]
		if a.ID != b.ID || a.Chain != b.Chain || a.StepSize != b.StepSize || a.Sampling.Gradients != b.Sampling.Gradients || !slices.Equal(a.Metric.Inverse, b.Metric.Inverse) || a.Interrupted {
			t.Errorf("chain %d: %+v, but together %+v", chain, a, b)
		}
	}
	if !slices.Equal(fit.Summary(), whole.Summary()) || len(fit.Findings()) != len(whole.Findings()) {
		t.Error("another summary, or other findings")
	}
	if d := fit.DensityCheck(); d == nil || d.Points < 3 || d.Share != 1 || d.Wrong != nil {
		t.Errorf("log densities were compared: %+v", d)
	}
}

// TestGatherRefuses checks that chains of different runs are refused, and that a stopped run is
// reported.
func TestGatherRefuses(t *testing.T) {
	model, err := model.Compile("m.stan", "parameters { real x; } model { x ~ normal(0, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := model.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := fit.Sample(context.Background(), posterior, fit.Options{Seed: 1, Chains: 1, FirstID: 2, Warmup: 50, Draws: 40})
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := alone.EncodeFrom(0)
	if err != nil {
		t.Fatal(err)
	}
	g, err := fit.Gather(posterior, fit.Options{Seed: 1, Chains: 2, Warmup: 50, Draws: 100})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Add(text); err != nil {
		t.Fatal(err)
	}
	for want, bad := range map[string][]byte{"cannot be read": text[:20], "after 40 draws": text} {
		if err := g.Add(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := fit.Gather(posterior, fit.Options{Chains: -1}); err == nil {
		t.Error("a run of -1 chains is gathered")
	}
	if f := g.Fit(false, true); !f.Report.Interrupted || !f.Report.Chains[1].Interrupted || len(f.Findings()) == 0 {
		t.Error("the run that was stopped does not say so")
	}
	small, err := fit.Gather(posterior, fit.Options{Chains: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := small.Add(text); err == nil || !strings.Contains(err.Error(), "none of the run") {
		t.Errorf("a chain of another run: %v", err)
	}
}

// TestWatchTables checks that the adaptation of ahmc can be watched while it learns, and that
// watching changes no draw.
func TestWatchTables(t *testing.T) {
	model, err := model.Compile("m.stan", "parameters { vector[500] x; } model { x ~ normal(0, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := model.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	o := fit.Options{Sampler: ahmc.Sampler{}, Seed: 3, Chains: 1, Warmup: 8000, Draws: 100}
	plain, err := fit.Sample(context.Background(), posterior, o)
	if err != nil {
		t.Fatal(err)
	}
	var run *fit.Run
	seen := map[int]bool{}
	o.LiveTables = true
	o.Refresh = 20
	o = fit.TablesAlways(o)
	*fit.ProgressOf(&o) = func(p infer.Progress) {
		for _, table := range run.SoFar().Report.Chains[0].Tables {
			if table.Name == "visits" && p.Warmup {
				seen[len(table.Rows)] = true
			}
		}
	}
	if run, err = fit.NewRun(context.Background(), posterior, o); err != nil {
		t.Fatal(err)
	}
	watched, err := run.Fit()
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) < 3 {
		t.Errorf("what was learnt is seen at %d moments: %v", len(seen), seen)
	}
	if !slices.Equal(plain.Draws.Column(nil, 0, 0), watched.Draws.Column(nil, 0, 0)) {
		t.Error("looking changes the draws")
	}
}
