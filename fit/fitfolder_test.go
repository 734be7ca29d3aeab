package fit_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/model"
)

// TestUnconstrainValues checks, for parameters of all types, that unconstraining their values gives
// the point that the values came from.
func TestUnconstrainValues(t *testing.T) {
	model, err := model.Compile("m", `parameters {
  real<lower=0> a;
  array[2] vector<lower=-1, upper=1>[3] b;
  matrix[2, 3] c;
  array[2] simplex[3] d;
  cholesky_factor_corr[3] e;
  cov_matrix[2] f;
  complex g;
  tuple(real, array[2] row_vector[2]) h;
  array[2, 2] tuple(ordered[2], real<upper=0>) i;
  complex_matrix[2, 2] j;
}
model { }
generated quantities { real z = a; }`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, p.Dim())
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	values, err := p.Constrain(x)
	if err != nil {
		t.Fatal(err)
	}
	n := len(p.ParameterNames())
	if n != len(values) || !slices.Equal(p.GeneratedNames(), []string{"z"}) {
		t.Fatalf("%d parameters among %d values, generated: %v", n, len(values), p.GeneratedNames())
	}
	got, err := p.UnconstrainValues(values)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x {
		if math.Abs(got[i]-x[i]) > 1e-9 {
			t.Errorf("%s is %v, not %v", p.UnconstrainedNames()[i], got[i], x[i])
		}
	}
}

// TestReadFit checks that a fit written to a folder can be moved and read back: its draws, settings
// and findings.
func TestReadFit(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("lib.stan", "functions { real twice(real x) { return 2 * x; } }\n")
	write("m.stan", "#include lib.stan\ndata { int N; vector[N] y; }\nparameters { real mu; real<lower=0> sigma; }\nmodel { y ~ normal(mu, sigma); sigma ~ exponential(1); }\ngenerated quantities { real m2 = twice(mu); }\n")
	m, err := model.CompileFile(filepath.Join(dir, "m.stan"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(map[string]any{"N": 3, "y": []float64{1, 2.5, 1e-7}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(context.Background(), p, fit.Options{Seed: 3, Draws: 50, Warmup: 200, Chains: 2, SaveWarmup: true})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if err := f.Save(out); err != nil {
		t.Fatal(err)
	}
	if err := f.Save(out); err == nil || !strings.Contains(err.Error(), "holds a run already") {
		t.Errorf("saved over another run: %v", err)
	}
	moved := filepath.Join(dir, "moved")
	for _, err := range []error{os.Rename(out, moved), os.Remove(filepath.Join(dir, "m.stan")), os.Remove(filepath.Join(dir, "lib.stan"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	back, err := fit.ReadFit(moved)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back.Names(), f.Names()) || back.Draws.Chains() != 2 || back.Draws.Warmup().Len(1) != f.Draws.Warmup().Len(1) {
		t.Fatalf("%v, %d chains, %d draws of warm-up", back.Names(), back.Draws.Chains(), back.Draws.Warmup().Len(1))
	}
	for i := range 2 {
		a, b := f.Report.Chains[i], back.Report.Chains[i]
		if a.ID != b.ID || a.Warmup.Gradients != b.Warmup.Gradients || a.Sampling.Gradients != b.Sampling.Gradients ||
			!slices.Equal(a.Last, b.Last) || a.Metric.Kind != b.Metric.Kind || !slices.Equal(a.Metric.Inverse, b.Metric.Inverse) {
			t.Errorf("chain %d: %+v, not %+v", i, b, a)
		}
	}
	for chain := range 2 {
		for draw := range 50 {
			_, a := f.Draws.Draw(chain, draw)
			_, b := back.Draws.Draw(chain, draw)
			if !slices.Equal(a, b) {
				t.Fatalf("draw %d: %v, not %v", draw, b, a)
			}
		}
	}
	p, err = back.Posterior(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	values, err := back.Data()
	if v, ok := values.Get("y"); err != nil || !ok || !slices.Equal(v.Reals, []float64{1, 2.5, 1e-7}) {
		t.Errorf("y is %v (%v)", v, err)
	}
	if v, _ := values.Get("N"); !v.IsInt {
		t.Error("N is no integer any more")
	}
	generated, err := fit.Generate(context.Background(), p, back, fit.GenerateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if generated.Failed != 0 || !slices.Equal(generated.Draws.Names(), []string{"m2"}) {
		t.Fatalf("%+v", generated)
	}
	was, err := f.Quantity("m2")
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range generated.Draws.Column(nil, 0, 0) {
		if math.Abs(v-was.Values()[i]) > 1e-12*math.Abs(v) {
			t.Errorf("draw %d: %v, not %v", i, v, was.Values()[i])
		}
	}
	if f.Findings()[0].Code != back.Findings()[0].Code || back.Config().Chains != 2 {
		t.Errorf("findings %v", back.Findings())
	}
	var _ infer.Sampler = back.Config().Sampler

	other, err := model.Compile("other", "parameters { real mu; real tau; } model {}")
	if err != nil {
		t.Fatal(err)
	}
	q, _ := other.Bind(nil)
	if _, err := fit.Generate(context.Background(), q, back, fit.GenerateOptions{}); err == nil || err.Error() != "the fit has no tau, which is a parameter of other" {
		t.Error(err)
	}
	if _, err := fit.ReadFit(dir); err == nil {
		t.Error("read a folder without a run")
	}
}

// TestHeadOfCutRun checks that the header of a file has the number of transitions made, even if the
// run ended before the planned number.
func TestHeadOfCutRun(t *testing.T) {
	model, err := model.Compile("m", "parameters { real x; } model { x ~ std_normal(); }")
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, stop := range map[string]func(o *fit.Options, cancel func()){
		"target": func(o *fit.Options, _ func()) { o.TargetESS = 50 },
		"interrupted": func(o *fit.Options, cancel func()) {
			*fit.ProgressOf(o) = func(q infer.Progress) {
				if q.Iteration == 150 {
					cancel()
				}
			}
		},
		"warm-up": func(o *fit.Options, cancel func()) {
			*fit.ProgressOf(o) = func(q infer.Progress) {
				if q.Iteration == 50 {
					cancel()
				}
			}
		},
		"thinned": func(o *fit.Options, _ func()) { o.Draws = 1001; o.Thin = 3 },
	} {
		ctx, cancel := context.WithCancel(context.Background())
		options := fit.Options{Seed: 2, Warmup: 100, Draws: 100000, Chains: 2, Refresh: 50, SaveWarmup: true, Output: filepath.Join(t.TempDir(), "m")}
		stop(&options, cancel)
		fit, _ := fit.Sample(ctx, p, options)
		cancel()
		for _, path := range fit.Files {
			c, err := draws.ReadFile(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			number := func(setting string) int {
				s, ok := draws.Lookup(c.Config, "method", "sample", setting)
				n, err := strconv.Atoi(s.Value)
				if !ok || err != nil {
					t.Fatalf("%s: %s is %q", name, setting, s.Value)
				}
				return n
			}
			width := len(c.Columns.Names) + len(c.Columns.Statistics)
			thin := number("thin")
			lines := len(c.Warmup)/width + c.Len()
			if want := (number("num_samples")+thin-1)/thin + (number("num_warmup")+thin-1)/thin; want != lines {
				t.Errorf("%s: %s states %d draws and has %d", name, path, want, lines)
			}
		}
		if len(fit.Files) == 0 {
			t.Errorf("%s: no files", name)
		}
	}
}

// TestVariable checks the draws and the shape of a variable, and the error for a missing variable.
func TestVariable(t *testing.T) {
	model, err := model.Compile("m", `parameters { real x; } model { x ~ std_normal(); }
generated quantities {
  array[2] matrix[2, 3] a;
  tuple(real, array[2] complex) t = (x, {to_complex(1, 2), to_complex(3, x)});
  for (i in 1:2) for (j in 1:2) for (k in 1:3) a[i, j, k] = 100 * i + 10 * j + k + x;
}`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := fit.Sample(context.Background(), p, fit.Options{Chains: 2, Draws: 3})
	if err != nil {
		t.Fatal(err)
	}
	x, err := fit.Variable("x")
	if err != nil || x.Shape != nil || len(x.Chains) != 2 || len(x.Chains[0]) != 3 {
		t.Fatalf("%+v, %v", x, err)
	}
	a, err := fit.Variable("a")
	if err != nil || !slices.Equal(a.Shape, []int{2, 2, 3}) {
		t.Fatalf("%+v, %v", a, err)
	}
	for i, want := range []float64{111, 112, 113, 121, 122, 123, 211, 212, 213, 221, 222, 223} {
		if got := a.Draw(1, 2)[i] - x.Draw(1, 2)[0]; math.Abs(got-want) > 1e-9 {
			t.Errorf("element %d is %v, not %v", i, got, want)
		}
	}
	z, err := fit.Variable("t.2")
	if err != nil || !slices.Equal(z.Shape, []int{2, 2}) || !slices.Equal(z.Draw(0, 0), []float64{1, 2, 3, x.Draw(0, 0)[0]}) {
		t.Errorf("%+v, %v", z, err)
	}
	if _, err := fit.Variable("y"); err == nil || err.Error() != "ppl: there are no draws of y" {
		t.Error(err)
	}
}

// TestImpossibleData checks that data with which no chain can start are reported once.
func TestImpossibleData(t *testing.T) {
	m, err := model.Compile("m", "data { real y; } parameters { real x; } model { x ~ std_normal(); y ~ lognormal(x, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.BindContext(t.Context(), map[string]any{"y": -1.5}, model.BindOptions{AllowImpossible: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = fit.Sample(context.Background(), p, fit.Options{Seed: 1})
	if err == nil || strings.Count(err.Error(), "no starting point") > 1 || !strings.HasPrefix(err.Error(), "chains 1, 2, 3, 4: ") {
		t.Error(err)
	}
	if len(model.Diagnostics(err)) != 1 {
		t.Errorf("%v", model.Diagnostics(err))
	}
}

// TestReasonsOfStarts checks that failed starts of several chains are reported once for each
// message of a statement, whatever the numbers in it.
func TestReasonsOfStarts(t *testing.T) {
	p := bind(t, `parameters { real x; }
transformed parameters { vector<lower=0>[2] y = x > 0 ? [-x, 1]' : [1, 0.5 - x]'; }
model { x ~ normal(x > -1 ? not_a_number() : 0, x > -1 ? 1 : x); }`, nil)
	for _, c := range []struct {
		init  infer.Init
		wants []string
	}{
		{infer.At{Positions: [][]float64{{-0.1}, {-0.2}, {-1.5}, {-0.3}}}, []string{"chains 1, 2, 4: ", "Location parameter", "chain 3: ", "Scale parameter"}},
		{infer.At{Positions: [][]float64{{1}, {2e-7}, {1.5}, {1e9}}}, []string{"chains 1, 2, 3, 4: ", "y[1]"}},
	} {
		_, err := fit.Sample(context.Background(), p, fit.Options{Seed: 1, Init: c.init})
		if err == nil {
			t.Fatal("no error")
		}
		for _, want := range c.wants {
			if strings.Count(err.Error(), want) != 1 {
				t.Errorf("%q is not there once: %v", want, err)
			}
		}
	}
}

// TestPlanFaults checks that a fault of planning is reported, by the run and when its folder is
// read.
func TestPlanFaults(t *testing.T) {
	run, err := fit.Sample(t.Context(), bind(t, "parameters { real x; } model { x ~ normal(0, 1); }", nil), fit.Options{Seed: 1, Chains: 1, Warmup: 100, Draws: 100})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "fit")
	if err := run.Save(dir); err != nil {
		t.Fatal(err)
	}
	back, err := fit.ReadFit(dir)
	if err != nil {
		t.Fatal(err)
	}
	has := func() bool {
		return slices.ContainsFunc(back.Findings(), func(f diagnose.Finding) bool {
			return f.Code == "plan-fault" && strings.Contains(f.Summary, "is interpreted (line 3: a plan).")
		})
	}
	if has() {
		t.Error("a fault is told that there is not")
	}
	back.Record().PlanFaults = []string{"line 3: a plan"}
	if !has() {
		t.Error("a fault is not told")
	}
}
