package model_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/model"
)

// compiled compiles a text that must have no errors.
func compiled(t *testing.T, text string) *model.Model {
	t.Helper()
	m, err := model.Compile("m.stan", text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// bound compiles a text and binds it.
func bound(t *testing.T, text string, values any, o model.BindOptions) *model.Posterior {
	t.Helper()
	p, err := compiled(t, text).BindContext(t.Context(), values, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// near compares numbers relative to want, or absolutely if want is below 1.
func near(got, want float64) bool {
	return got == want || math.Abs(got-want) <= 1e-12*max(1, math.Abs(want))
}

const line = `data {
  int<lower=0> N;
  vector[N] x;
  vector[N] y;
}
parameters {
  real a;
  real<lower=0> s;
}
model {
  a ~ normal(0, 2);
  y ~ normal(a * x, s);
}
`

// TestCompile checks a model's name, text and warnings, and that errors are listed with positions.
func TestCompile(t *testing.T) {
	m := compiled(t, line)
	if m.Name() != "m.stan" || m.Text() != line || len(m.Warnings()) != 0 || len(m.Included()) != 0 || m.Err() != nil || m.Program() == nil {
		t.Errorf("%q, %q, %v, %v", m.Name(), m.Text(), m.Warnings(), m.Err())
	}
	m, err := model.Compile("wrong.stan", "parameters { real a; }\nmodel {\n  a ~ normal(b, 1);\n  c = 2;\n}")
	list := model.Diagnostics(err)
	if m != nil || len(list) != 2 {
		t.Fatalf("%v, %v", m, err)
	}
	for i, want := range []int{3, 4} {
		if at := list[i].Span.Begin(); at.Line != want || !strings.Contains(at.File, "wrong.stan") {
			t.Errorf("error %d is at %v, not on line %d", i, at, want)
		}
	}
	if m := compiled(t, "parameters { real a; real b; } model { a ~ normal(0, 1); }"); len(m.Warnings()) == 0 {
		t.Error("no warning of a parameter that nothing uses")
	}
	if model.Diagnostics(nil) != nil || model.Diagnostics(errors.New("another")) != nil {
		t.Error("diagnostics of errors that have none")
	}
	if model.Version() == "" {
		t.Error("no version")
	}
}

func TestCompileOptions(t *testing.T) {
	ctx := t.Context()
	const old = "data { int N; real x[N]; } parameters { real a; } model { x ~ normal(a, 1); }"
	if _, err := model.CompileContext(ctx, "m", old, model.CompileOptions{}); err == nil {
		t.Error("old syntax passes")
	}
	if m, err := model.CompileContext(ctx, "m", old, model.CompileOptions{Legacy: true}); err != nil || len(m.Warnings()) == 0 || !m.Options().Legacy {
		t.Errorf("old syntax: %v", err)
	}
	if _, err := model.CompileContext(ctx, "m", line, model.CompileOptions{MaxSource: int64(len(line)) - 1}); err == nil {
		t.Error("a text longer than is allowed passes")
	}
	if _, err := model.CompileContext(ctx, "m", line, model.CompileOptions{MaxSource: int64(len(line))}); err != nil {
		t.Error(err)
	}
}

// TestInclude checks that included texts come from a map, then from folders, and that the model
// keeps them.
func TestInclude(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.stan": "#include priors.stan\n#include data.stan\nparameters { real a; }\nmodel { a ~ prior(); }",
		"data.stan": "data { int N; }",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const priors = "functions { real prior_lpdf(real x) { return std_normal_lpdf(x); } }"
	path := filepath.Join(dir, "main.stan")
	m, err := model.CompileFileContext(t.Context(), path, model.CompileOptions{Included: map[string]string{"priors.stan": priors}})
	if err != nil {
		t.Fatal(err)
	}
	if in := m.Included(); len(in) != 2 || in["priors.stan"] != priors || in["data.stan"] != "data { int N; }" {
		t.Errorf("included: %q", in)
	}
	// The included texts are enough to compile the text again, without the files.
	if _, err := model.CompileContext(t.Context(), "m", m.Text(), model.CompileOptions{Included: m.Included()}); err != nil {
		t.Error(err)
	}
	if _, err := model.CompileFile(path); err == nil || len(model.Diagnostics(err)) == 0 {
		t.Errorf("a file that is missing: %v", err)
	}
	if _, err := model.CompileFile(filepath.Join(dir, "none.stan")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a model that is missing: %v", err)
	}
}

// TestSizes compares the log density and its gradient at sizes 0, 1 and 2 with the formula: a ~
// N(0, 2), yₙ ~ N(a xₙ, s), s = exp(u) with Jacobian u.
func TestSizes(t *testing.T) {
	m := compiled(t, line)
	x, y := []float64{0.5, -2}, []float64{1.25, 3}
	const a, u = 0.75, -0.25
	for n := range 3 {
		p, err := m.Bind(map[string]any{"N": n, "x": x[:n], "y": y[:n]})
		if err != nil {
			t.Fatalf("%d rows: %v", n, err)
		}
		s := math.Exp(u)
		lp, da, du := -a*a/8+u, -a/4, 1.0
		for i := range n {
			z := (y[i] - a*x[i]) / s
			lp += -z*z/2 - u
			da += z * x[i] / s
			du += z*z - 1
		}
		grad := make([]float64, p.Dim())
		got, err := p.LogDensityGrad([]float64{a, u}, grad)
		if err != nil || p.Dim() != 2 || !near(got, lp) || !near(grad[0], da) || !near(grad[1], du) {
			t.Errorf("%d rows: %v %v (%v), want %v %v", n, got, grad, err, lp, []float64{da, du})
		}
		if only, err := p.LogDensity([]float64{a, u}); err != nil || only != got {
			t.Errorf("%d rows: the log density alone is %v, with its gradient %v", n, only, got)
		}
	}
}

// TestSizesOfParameters checks parameters of sizes 0, 1 and 2, and models without parameters.
func TestSizesOfParameters(t *testing.T) {
	m := compiled(t, "data { int N; } parameters { vector[N] v; array[N] real<lower=0> w; } model { v ~ std_normal(); w ~ exponential(1); }")
	for n := range 3 {
		p, err := m.Bind(map[string]any{"N": n})
		if err != nil {
			t.Fatal(err)
		}
		lp, err := p.LogDensity(make([]float64, 2*n)) // w = 1, whose Jacobian is 0
		if err != nil || p.Dim() != 2*n || !near(lp, -float64(n)) || len(p.UnconstrainedNames()) != 2*n {
			t.Errorf("%d: dimension %d, log density %v, %v", n, p.Dim(), lp, err)
		}
	}
	p := bound(t, "model { target += -3; }", nil, model.BindOptions{})
	if lp, err := p.LogDensity(nil); p.Dim() != 0 || lp != -3 || err != nil {
		t.Errorf("no parameters: %v, %v", lp, err)
	}
}

// TestWrongData checks that errors about data name the variable or its element.
func TestWrongData(t *testing.T) {
	m := compiled(t, `data {
  int<lower=0> N;
  vector<lower=0>[N] x;
  array[2, N] int k;
  simplex[2] p;
}
parameters { real a; }
model { x ~ normal(a, 1); }
`)
	good := func() map[string]any {
		return map[string]any{"N": 2, "x": []float64{1, 2}, "k": [][]int{{1, 2}, {3, 4}}, "p": []float64{0.25, 0.75}}
	}
	if _, err := m.Bind(good()); err != nil {
		t.Fatal(err)
	}
	itself := []any{nil}
	itself[0] = itself
	for _, c := range []struct {
		name  string
		value any // nil: missing
		want  string
	}{
		{"x", nil, "x"},
		{"N", -1, "N"},
		{"N", 3, "x"},
		{"N", 2.5, "N"},
		{"N", "two", "N"},
		{"x", []float64{1}, "x"},
		{"x", [][]float64{{1, 2}}, "x"},
		{"x", 1.0, "x"},
		{"x", []float64{1, -2}, "x[2]"},
		{"x", []float64{1, math.NaN()}, "x[2]"},
		{"k", [][]int{{1, 2}}, "k"},
		{"k", [][]int{{1, 2}, {3}}, "k[2]"},
		{"k", [][]float64{{1, 2}, {3, 4}}, "k"},
		{"p", []float64{0.25, 0.5}, "p"},
		{"x", itself, "x"},
		{"x", make(chan int), "x"},
	} {
		values := good()
		values[c.name] = c.value
		if c.value == nil {
			delete(values, c.name)
		}
		if p, err := m.Bind(values); err == nil || p != nil || !strings.Contains(err.Error(), c.want) || len(model.Diagnostics(err)) == 0 {
			t.Errorf("%s = %v: %v, without %q", c.name, c.value, err, c.want)
		}
	}
	// For a JSON text, the error has the position.
	_, err := m.Bind(model.JSON("{\"N\": 2,\n \"x\": [1, \"a\"]}"))
	if list := model.Diagnostics(err); len(list) == 0 || list[0].Span.Begin().Line != 2 {
		t.Errorf("%v: %+v", err, list)
	}
	if _, err := m.Bind(model.DataFile{Path: filepath.Join(t.TempDir(), "none.json")}); err == nil || !strings.Contains(err.Error(), "none.json") {
		t.Errorf("a file that is missing: %v", err)
	}
}

// TestFormsOfData checks that the same data in each form give the same log density.
func TestFormsOfData(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	type tagged struct {
		N      int
		X      []float64 `ppl:"x"`
		Y      []float64 `json:"y"`
		Unused string    `json:"-"`
	}
	const text = `{"N": 2, "x": [1, 2], "y": [3, 4.5], "other": 1}`
	set, err := model.ReadData(model.JSON(text))
	if err != nil {
		t.Fatal(err)
	}
	m, at, want := compiled(t, line), []float64{0.5, 0.25}, 0.0
	for i, values := range []any{
		map[string]any{"N": 2, "x": []float64{1, 2}, "y": []float32{3, 4.5}},
		map[string][]float64{"x": {1, 2}, "y": {3, 4.5}}, // without N: wrong
		tagged{N: 2, X: []float64{1, 2}, Y: []float64{3, 4.5}},
		&tagged{N: 2, X: []float64{1, 2}, Y: []float64{3, 4.5}},
		model.JSON(text),
		model.DataFile{Path: write("d.json", text)},
		model.DataFile{Path: write("d.csv", "x,y\n1,3\n2,4.5\n"), Counts: []string{"N"}},
		model.DataFile{Path: write("d.R", "N <- 2\nx <- c(1, 2)\ny <- c(3, 4.5)\n")},
		set,
	} {
		p, err := m.Bind(values)
		if i == 1 {
			if err == nil {
				t.Error("data without N pass")
			}
			continue
		}
		if err != nil {
			t.Errorf("%T: %v", values, err)
			continue
		}
		lp, err := p.LogDensity(at)
		if i == 0 {
			want = lp
		}
		if err != nil || lp != want || p.Data() == nil || p.Model() != m || p.Name() != "m.stan" {
			t.Errorf("%T: %v, not %v (%v)", values, lp, want, err)
		}
	}
	if _, err := m.Bind(nil); err == nil {
		t.Error("a model with data needs none")
	}
}

// TestCancellation checks that compiling and binding end when the context does, with its cause. The
// posterior must not depend on the context. A nil context is an error.
func TestCancellation(t *testing.T) {
	cause := errors.New("the cause")
	ctx, cancel := context.WithCancelCause(t.Context())
	p := bound(t, line, map[string]any{"N": 0, "x": []float64{}, "y": []float64{}}, model.BindOptions{})
	endless := compiled(t, "transformed data { real x = 1; while (x > 0) x += 1; } parameters { real a; } model { a ~ normal(x, 1); }")
	ended := make(chan error)
	go func() {
		_, err := endless.BindContext(ctx, nil, model.BindOptions{Statements: math.MaxInt64})
		ended <- err
	}()
	cancel(cause)
	if err := <-ended; !errors.Is(err, cause) {
		t.Errorf("binding: %v", err)
	}
	if _, err := model.CompileContext(ctx, "m", line, model.CompileOptions{}); !errors.Is(err, cause) {
		t.Errorf("compiling: %v", err)
	}
	if _, err := p.LogDensity([]float64{1, 1}); err != nil {
		t.Error(err)
	}
	//lint:ignore SA1012 a nil context is what this is about
	if _, err := model.CompileContext(nil, "m", line, model.CompileOptions{}); !errors.Is(err, model.ErrNoContext) {
		t.Error(err)
	}
	//lint:ignore SA1012 likewise
	if _, err := endless.BindContext(nil, nil, model.BindOptions{}); !errors.Is(err, model.ErrNoContext) {
		t.Error(err)
	}
}

// TestStop checks that an endless loop over parameters can be stopped, and that the number of
// statements during binding is limited.
func TestStop(t *testing.T) {
	enough := errors.New("enough")
	p := bound(t, "parameters { real a; } model { real s = 1; while (s > 0) s += 1 + square(a); target += s; }", nil, model.BindOptions{})
	p.SetStop(func() error { return enough })
	if _, err := p.LogDensity([]float64{1}); !errors.Is(err, enough) {
		t.Error(err)
	}
	m := compiled(t, "transformed data { int n = 0; while (n < 100000) n += 1; } parameters { real a; } model { a ~ normal(n, 1); }")
	for statements, ok := range map[int64]bool{1000: false, 10000000: true} {
		if _, err := m.BindContext(t.Context(), nil, model.BindOptions{Statements: statements}); (err == nil) != ok {
			t.Errorf("%d statements: %v", statements, err)
		}
	}
}

// TestBindOptions checks the options of binding: constants, Jacobians, seeds, printing, memory,
// passes.
func TestBindOptions(t *testing.T) {
	at := []float64{0.5}
	density := func(text string, o model.BindOptions) float64 {
		t.Helper()
		lp, err := bound(t, text, nil, o).LogDensity(at)
		if err != nil {
			t.Fatal(err)
		}
		return lp
	}
	const positive = "parameters { real<lower=0> a; } model { a ~ normal(0, 2); }"
	all := density(positive, model.BindOptions{})
	if got, want := density(positive, model.BindOptions{NoPropto: true})-all, -math.Log(2)-0.5*math.Log(2*math.Pi); !near(got, want) {
		t.Errorf("constants: %v, want %v", got, want)
	}
	if got := all - density(positive, model.BindOptions{NoJacobian: true}); !near(got, at[0]) {
		t.Errorf("Jacobian: %v, want %v", got, at[0])
	}
	if got := density(positive, model.BindOptions{Without: []string{"cse"}}); !near(got, all) {
		t.Errorf("without a pass: %v, want %v", got, all)
	}
	const drawn = "transformed data { real x = normal_rng(0, 1); } parameters { real a; } model { a ~ normal(x, 1); }"
	one := density(drawn, model.BindOptions{Seed: 1})
	if density(drawn, model.BindOptions{Seed: 1}) != one || density(drawn, model.BindOptions{Seed: 2}) == one {
		t.Error("transformed data do not depend on the seed alone")
	}
	var printed []string
	p := bound(t, `transformed data { print("data ", 3); } parameters { real a; } model { print("a = ", a); a ~ normal(0, 1); }`, nil,
		model.BindOptions{Print: func(s string) { printed = append(printed, s) }})
	if _, err := p.LogDensity(at); err != nil || !slices.Equal(printed, []string{"data 3", "a = 0.5"}) {
		t.Errorf("printed %q, %v", printed, err)
	}
	big := compiled(t, "transformed data { vector[1000000] v = rep_vector(1, 1000000); } parameters { real a; } model { v ~ normal(a, 1); }")
	if _, err := big.BindContext(t.Context(), nil, model.BindOptions{Memory: 1e6}); err == nil || len(model.Diagnostics(err)) == 0 {
		t.Errorf("8 MB in 1 MB: %v", err)
	}
	if o := p.Options(); o.Print == nil || o.Seed != 0 {
		t.Errorf("options: %+v", o)
	}
}
