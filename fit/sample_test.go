package fit_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/model"
)

// bind compiles and binds a small model or fails the test.
func bind(t *testing.T, text string, values any) *model.Posterior {
	t.Helper()
	model, err := model.Compile("test.model", text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Bind(values)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const pair = `
parameters {
  vector<lower=0>[2] s;
  matrix[2, 2] m;
}
model {
  s ~ exponential(1);
  to_vector(m) ~ std_normal();
}
`

func TestFit(t *testing.T) {
	p := bind(t, pair, nil)
	o := fit.Options{Chains: 2, Warmup: 200, Draws: 100, Seed: 4}
	run, err := fit.Sample(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"s.1", "s.2", "m.1.1", "m.2.1", "m.1.2", "m.2.2"}; !slices.Equal(run.Names(), want) {
		t.Errorf("names %v, want %v", run.Names(), want)
	}
	if rows := run.Summary(); len(rows) != 6 || rows[3].Name != "m[2,1]" {
		t.Errorf("summary %v", rows)
	}
	values := func(f *fit.Fit, name string) []float64 {
		t.Helper()
		v, err := f.Quantity(name)
		if err != nil {
			t.Fatal(err)
		}
		return v.Values()
	}
	a, b := values(run, "m.2.1"), values(run, "m[2,1]")
	if _, err := run.Quantity("m[2,9]"); err == nil || err.Error() != "ppl: there are no draws of m[2,9]; did you mean m[2,1]?" {
		t.Error(err)
	}
	if len(a) != 200 || !slices.Equal(a, b) {
		t.Errorf("%d and %d values", len(a), len(b))
	}
	o.Parallel = 1
	again, err := fit.Sample(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a, values(again, "m.2.1")) {
		t.Error("the same seed gives other draws")
	}
}

func TestInterrupted(t *testing.T) {
	p := bind(t, pair, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	reason := errors.New("enough")
	o := fit.Options{Chains: 2, Warmup: 50, Draws: 50_000_000, Seed: 4, Parallel: 2, Output: filepath.Join(t.TempDir(), "fit"), Refresh: 10}
	seen := map[int]bool{}
	*fit.ProgressOf(&o) = func(pr infer.Progress) {
		if seen[pr.Chain] = seen[pr.Chain] || !pr.Warmup; seen[0] && seen[1] {
			cancel(reason)
		}
	}
	fit, err := fit.Sample(ctx, p, o)
	if !errors.Is(err, reason) || fit == nil || !fit.Report.Interrupted {
		t.Fatalf("error %v", err)
	}
	if s, err := fit.Quantity("s.1"); len(fit.Files) != 2 || err != nil || len(s.Values()) == 0 {
		t.Errorf("files %v, %v, %v", fit.Files, s, err)
	}
	store, err := draws.ReadStore(fit.Files...)
	if err != nil {
		t.Fatal(err)
	}
	for chain := range 2 {
		if store.Len(chain) != fit.Draws.Len(chain) {
			t.Errorf("chain %d: %d draws in the file, %d in the fit", chain+1, store.Len(chain), fit.Draws.Len(chain))
		}
	}
}

// TestInterruptedEarly checks that a run interrupted before the first draw leaves no files.
func TestInterruptedEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	fit, err := fit.Sample(ctx, bind(t, pair, nil), fit.Options{Output: filepath.Join(dir, "fit")})
	if !errors.Is(err, context.Canceled) || fit == nil || len(fit.Files) != 0 {
		t.Errorf("error %v, fit %v", err, fit)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
	if len(fit.Findings()) == 0 || len(fit.Summary()) != 6 {
		t.Error("an empty fit should be found wanting")
	}
}

func TestNoStart(t *testing.T) {
	for _, test := range []struct{ model, line, summary string }{
		{"parameters {\n  real x;\n}\nmodel {\n  x ~ normal(0, 1);\n  target += x > 9 ? 0 : negative_infinity();\n}\n", "target += x > 9 ? 0 : negative_infinity();", "-Inf"},
		{"parameters {\n  real x;\n}\nmodel {\n  x ~ uniform(7, 8);\n}\n", "x ~ uniform(7, 8);", "-Inf"},
		{"parameters {\n  real x;\n}\nmodel {\n  x ~ normal(0, -exp(x));\n}\n", "x ~ normal(0, -exp(x));", "positive"},
	} {
		fit, err := fit.Sample(context.Background(), bind(t, test.model, nil), fit.Options{Chains: 1})
		var chain *infer.ChainError
		if !errors.As(err, &chain) || fit == nil {
			t.Errorf("%s: error %v", test.line, err)
			continue
		}
		list := model.Diagnostics(err)
		if len(list) != 1 || list[0].Span.Text() != test.line || !strings.Contains(list[0].Summary, test.summary) {
			t.Errorf("%s: %v", test.line, list)
		}
	}
}

// TestOutput checks that files written while sampling equal those written afterwards.
func TestOutput(t *testing.T) {
	for name, s := range map[string]infer.Sampler{
		"nuts": nuts.Sampler{}, "hmc": hmc.Sampler{}, "ahmc": ahmc.Sampler{}, "fixed_param": sampler.Fixed{},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fit, err := fit.Sample(context.Background(), bind(t, pair, nil), fit.Options{
				Sampler: s, Chains: 2, Warmup: 150, Draws: 20, Thin: 2, SaveWarmup: true, Seed: 1,
				Output: filepath.Join(dir, "a"), SigFigs: 17,
			})
			if err != nil {
				t.Fatal(err)
			}
			files, err := fit.WriteCSV(filepath.Join(dir, "b"))
			if err != nil {
				t.Fatal(err)
			}
			for i := range files {
				a, b := read(t, fit.Files[i]), read(t, files[i])
				if strings.ReplaceAll(a, "a_", "b_") != b {
					t.Errorf("%s and %s differ", fit.Files[i], files[i])
				}
				if rows := strings.Count(b, "\n") - strings.Count(b, "#"); rows != 1+fit.Draws.Warmup().Len(i)+10 {
					t.Errorf("%d rows beside %d draws of warm-up", rows, fit.Draws.Warmup().Len(i))
				}
			}
			if row, ok := sampler.Lookup(name); !ok || len(fit.Draws.Columns().Statistics) != len(row.AllColumns()) {
				t.Error("the statistics are not those of the sampler's row")
			}
		})
	}
}

func read(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSamplers checks that every sampler of the table is known by its name here.
func TestSamplers(t *testing.T) {
	for _, row := range sampler.Table() {
		s, err := row.Default()
		if err != nil {
			t.Fatal(err)
		}
		fit, err := fit.Sample(context.Background(), bind(t, pair, nil), fit.Options{Sampler: s, Chains: 1, Warmup: 120, Draws: 5})
		if _, ok := s.(sampler.Geometric); ok && err != nil && strings.Contains(err.Error(), "does not provide") {
			continue // models offer no metric yet
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fit.Draws.Columns().StatisticNames(), len(row.AllColumns()); len(got) != want {
			t.Errorf("%s has the columns %v", row.Name, got)
		}
	}
}

func TestUnwritable(t *testing.T) {
	started := false
	o := fit.Options{Output: filepath.Join(t.TempDir(), "absent", "fit")}
	*fit.ProgressOf(&o) = func(infer.Progress) { started = true }
	fit, err := fit.Sample(context.Background(), bind(t, pair, nil), o)
	if err == nil || fit != nil || started {
		t.Errorf("error %v, started %t", err, started)
	}
}

func TestInit(t *testing.T) {
	p := bind(t, pair, nil)
	x, err := p.Unconstrain(map[string]any{"s": []float64{1, math.E}})
	if err != nil {
		t.Fatal(err)
	}
	if x[0] != 0 || math.Abs(x[1]-1) > 1e-15 || !math.IsNaN(x[2]) {
		t.Errorf("unconstrained %v", x)
	}
	init, err := p.InitAt(map[string]any{"s": []float64{1, math.E}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := fit.Sample(context.Background(), p, fit.Options{Chains: 1, Warmup: 10, Draws: 10, Init: init})
	if err != nil {
		t.Fatal(err)
	}
	if start := fit.Report.Chains[0].Start; start[0] != 0 || start[2] != 0 {
		t.Errorf("started at %v", start)
	}
	if _, err := p.InitAt(map[string]any{"s": []float64{1, -1}}, 0); err == nil {
		t.Error("an initial value outside its bounds passes")
	}
}

func TestNoAllocation(t *testing.T) {
	p := bind(t, pair, nil)
	x, grad := make([]float64, p.Dim()), make([]float64, p.Dim())
	if n := testing.AllocsPerRun(100, func() {
		if _, err := p.LogDensityGrad(x, grad); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per gradient", n)
	}
	if _, err := p.LogDensity(x[1:]); err == nil {
		t.Error("a point of the wrong length passes")
	}
}

// TestPrint checks that print statements of several chains come one at a time.
func TestPrint(t *testing.T) {
	m, err := model.Compile("print.model", "parameters { real x; } model { x ~ std_normal(); print(\"at \", x); }")
	if err != nil {
		t.Fatal(err)
	}
	var printing sync.Mutex
	lines := 0
	p, err := m.BindContext(t.Context(), nil, model.BindOptions{Print: func(s string) {
		if !printing.TryLock() {
			t.Error("calls overlap")
			return
		}
		defer printing.Unlock()
		if strings.HasPrefix(s, "at ") {
			lines++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fit.Sample(context.Background(), p, fit.Options{Warmup: 50, Draws: 50, Parallel: 4}); err != nil {
		t.Fatal(err)
	}
	if lines < 400 {
		t.Errorf("%d lines", lines)
	}
}
