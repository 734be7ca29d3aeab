package fit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/internal/planted"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/model"
)

// flattened returns a fault to plant: it makes a normal density wider, from a point on, or
// everywhere for -Inf.
func flattened(from float64) func(any) any {
	return func(made any) any {
		g := made.(*ad.Graph).Fork()
		lp, x := g.Outputs[0], g.Reshape(g.Inputs[0], nil)
		wrong := g.Scale(0.25, lp)
		if !math.IsInf(from, -1) {
			wrong = g.Select(g.Less(g.Const(from), x), wrong, lp)
		}
		g.Outputs[0] = wrong
		return g
	}
}

// TestPanicIsReported checks that a run of a model on which the compiler panics has draws of the
// reference evaluator, and one finding that reports it.
func TestPanicIsReported(t *testing.T) {
	t.Setenv(planted.Panics, "")
	m, err := model.Compile("normal.stan", "parameters { real x; } model { x ~ normal(10, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	ctx := planted.With(context.Background(), &planted.Fault{Pass: "reductions", Change: func(any) any { panic("planted") }})
	p, err := m.BindContext(ctx, nil, model.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := fit.Sample(t.Context(), p, fit.Options{Chains: 2, Draws: 200, Warmup: 200, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	reports := 0
	for _, f := range run.Findings() {
		if f.Code == "plan-fault" && strings.Contains(f.Summary, "(the reference evaluator computes the log density: pass reductions: planted)") && strings.Contains(f.Advice, "a fault of ppl") {
			reports++
		}
	}
	if reports != 1 {
		t.Errorf("%d findings of the fault: %v", reports, run.Findings())
	}
	if mean := run.Summary()[0].Mean; math.Abs(mean-10) > 0.5 {
		t.Errorf("mean %v", mean)
	}
}

// TestWrongDensityIsNotTrusted checks that an error of the compiler is found before the first draw
// or at the draws, and that the run then uses a program without it.
func TestWrongDensityIsNotTrusted(t *testing.T) {
	m, err := model.Compile("normal.stan", "parameters { real x; } model { x ~ normal(10, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, pass, instead string
		from                float64
		begun               bool
	}{
		{"everywhere", "reductions", "the program without the compiler's pass reductions", math.Inf(-1), false},
		{"where the draws are", "if-convert", "the program without the compiler's pass if-convert", 5, true},
		{"in the binder", planted.Bind, "the reference evaluator", 5, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := planted.With(context.Background(), &planted.Fault{Pass: c.pass, Change: flattened(c.from)})
			p, err := m.BindContext(ctx, nil, model.BindOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, output := range []string{"", filepath.Join(t.TempDir(), "fit")} {
				going, err := fit.NewRun(context.Background(), p, fit.Options{Sampler: nuts.Sampler{}, Chains: 2, Draws: 500, Warmup: 300, Seed: 3,
					Output: output, Resumable: output != ""})
				if err != nil {
					t.Fatal(err)
				}
				counted, discarded := 0, 0
				for _, err := range going.Draws() {
					if counted++; err != nil {
						counted, discarded = 0, discarded+1
						if !errors.As(err, new(*fit.DiscardedError)) {
							t.Fatal(err)
						}
					}
				}
				run, err := going.Fit()
				if err != nil {
					t.Fatal(err)
				}
				// The wrong density has a standard deviation of 2.
				if row := run.Summary()[0]; math.Abs(row.Mean-10) > 0.2 || math.Abs(row.SD-1) > 0.15 {
					t.Errorf("mean %v and standard deviation %v", row.Mean, row.SD)
				}
				if run.Draws.Len(0) != 500 || run.Draws.Len(1) != 500 {
					t.Errorf("%d and %d draws", run.Draws.Len(0), run.Draws.Len(1))
				}
				if counted != 1000 || discarded > 1 || c.begun && discarded != 1 || going.SoFar().Draws.Len(1) != 500 {
					t.Errorf("%d draws that count, discarded %d times", counted, discarded)
				}
				d := run.DensityCheck()
				if len(d.Wrong) != 1 || d.Wrong[0].Instead != c.instead || d.Wrong[0].Begun != c.begun || (d.Wrong[0].Point[0] > 5) != c.begun {
					t.Errorf("%+v", *d)
				}
				found := run.Findings()
				if len(found) == 0 || found[0].Code != "density-wrong" || found[0].Severity != diagnose.Problem || !strings.Contains(found[0].Summary, c.instead) {
					t.Errorf("%+v", found)
				}
				if output == "" {
					continue
				}
				if left, _ := filepath.Glob(output + "*"); len(left) != 2 || len(run.Files) != 2 {
					t.Errorf("files %v", left)
				}
				if again, err := fit.ReadCSV(run.Files...); err != nil || fmt.Sprint(again.Draws.Len(0)) != "500" {
					t.Errorf("the files hold %v", err)
				}
				dir := filepath.Join(t.TempDir(), "saved")
				if err := run.Save(dir); err != nil {
					t.Fatal(err)
				}
				read, err := fit.ReadFit(dir)
				if err != nil || len(read.DensityCheck().Wrong) != 1 || read.Findings()[0].Code != "density-wrong" {
					t.Errorf("%+v, %v", read.DensityCheck(), err)
				}
			}
		})
	}
}

// TestResumedRunKeepsItsProgram checks that a run that had to change to another program and was
// interrupted is resumed with that program, and that its draws continue.
func TestResumedRunKeepsItsProgram(t *testing.T) {
	m, err := model.Compile("normal.stan", "parameters { real x; } model { x ~ normal(10, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	type way struct {
		name, pass, instead string
	}
	for _, c := range short.Every(2, []way{
		{"without a pass", "if-convert", "the program without the compiler's pass if-convert"},
		{"the reference", planted.Bind, "the reference evaluator"},
	}) {
		t.Run(c.name, func(t *testing.T) {
			p, err := m.BindContext(planted.With(context.Background(), &planted.Fault{Pass: c.pass, Change: flattened(5)}), nil, model.BindOptions{})
			if err != nil {
				t.Fatal(err)
			}
			output := filepath.Join(t.TempDir(), "fit")
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			o := fit.Options{Sampler: nuts.Sampler{}, Chains: 2, Draws: 500, Warmup: 300, Seed: 3, Output: output, Resumable: true, SnapshotEvery: -1, Parallel: 1, Refresh: 1}
			// Interrupt the run in the middle of the draws of its second attempt.
			*fit.ProgressOf(&o) = func(p infer.Progress) {
				if _, err := os.Stat(output + ".density"); err == nil && p.Chain == 0 && p.Iteration == 500 {
					cancel()
				}
			}
			begun, err := fit.Sample(ctx, p, o)
			var interrupted *fit.InterruptedError
			if !errors.As(err, &interrupted) || begun.Draws.Len(0) < 150 {
				t.Fatalf("%v", err)
			}
			*fit.ProgressOf(&o), o.Resume = nil, true
			fit, err := fit.Sample(context.Background(), p, o)
			if err != nil {
				t.Fatal(err)
			}
			for i := range begun.Draws.Len(0) {
				_, a := begun.Draws.Draw(0, i)
				_, b := fit.Draws.Draw(0, i)
				if a[0] != b[0] {
					t.Fatalf("draw %d was made again", i)
				}
			}
			if row := fit.Summary()[0]; fit.Draws.Len(1) != 500 || math.Abs(row.Mean-10) > 0.2 || math.Abs(row.SD-1) > 0.15 {
				t.Errorf("%d draws, mean %v, standard deviation %v", fit.Draws.Len(1), row.Mean, row.SD)
			}
			if d := fit.DensityCheck(); len(d.Wrong) != 1 || d.Wrong[0].Instead != c.instead {
				t.Errorf("%+v", *d)
			}
			if left, _ := filepath.Glob(output + "*"); len(left) != 2 {
				t.Errorf("files %v", left)
			}
		})
	}
}

// TestDensityIsCompared checks that a run without an error makes comparisons at a starting point
// and at draws of every chain, and has no message about them.
func TestDensityIsCompared(t *testing.T) {
	model, err := model.Compile("normal.stan", "parameters { real x; real<lower=0> s; } model { x ~ normal(0, 1); s ~ exponential(1); }")
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := fit.Sample(context.Background(), p, fit.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if d := fit.DensityCheck(); d.Points < 1 || d.Slopes < 1 || d.Share != 1 || d.Excess > 1 || d.Wrong != nil || d.Reason != "" {
		t.Errorf("%+v", *d)
	}
	for _, f := range fit.Findings() {
		if strings.HasPrefix(f.Code, "density") {
			t.Errorf("%+v", f)
		}
	}
}
