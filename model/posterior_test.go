package model_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

const quantities = `data { int N; }
parameters {
  real<lower=0> s;
  matrix[2, N] b;
  simplex[3] p;
}
transformed parameters { real t = 2 * s; }
model {
  s ~ exponential(1);
  to_vector(b) ~ std_normal();
}
generated quantities {
  real z = normal_rng(t, 1);
  array[N] int k = rep_array(7, N);
}
`

// TestNames checks that names are those in CmdStan's files, with the first index fastest. A simplex
// of 3 has 2 coordinates.
func TestNames(t *testing.T) {
	for n := range 3 {
		p := bound(t, quantities, map[string]any{"N": n}, model.BindOptions{})
		b, k := []string{}, []string{}
		for j := range n {
			b = append(b, fmt.Sprintf("b.1.%d", j+1), fmt.Sprintf("b.2.%d", j+1))
			k = append(k, fmt.Sprintf("k.%d", j+1))
		}
		coordinates := slices.Concat([]string{"s"}, b, []string{"p.1", "p.2"})
		parameters := slices.Concat([]string{"s"}, b, []string{"p.1", "p.2", "p.3"})
		constrained := append(slices.Clone(parameters), "t")
		generated := append([]string{"z"}, k...)
		for what, names := range map[string][2][]string{
			"coordinates": {p.UnconstrainedNames(), coordinates},
			"parameters":  {p.ParameterNames(), parameters},
			"constrained": {p.ConstrainedNames(), constrained},
			"generated":   {p.GeneratedNames(), generated},
			"outputs":     {p.OutputNames(), slices.Concat(constrained, generated)},
		} {
			if !slices.Equal(names[0], names[1]) {
				t.Errorf("N = %d, %s: %q, want %q", n, what, names[0], names[1])
			}
		}
		if p.Dim() != len(coordinates) {
			t.Errorf("N = %d: dimension %d", n, p.Dim())
		}
	}
}

// TestPointsOfManyValues converts several points to values and back, with all types. Bounds that
// depend on parameters differ from point to point, so nothing of one point may be used for another.
func TestPointsOfManyValues(t *testing.T) {
	p := bound(t, `parameters {
  real<lower=0> s;
  real<lower=s, upper=s + 3> u;
  vector<upper=s>[3] w;
  vector<offset=u, multiplier=s>[2] z;
  array[2] simplex[3] p;
  array[2] positive_ordered[2] q;
  ordered[3] o;
  unit_vector[3] e;
  cholesky_factor_corr[3] L;
  corr_matrix[3] R;
  cov_matrix[2] S;
  matrix[2, 3] b;
}
model { }
`, nil, model.BindOptions{})
	unit := slices.Index(p.UnconstrainedNames(), "e.1")
	if unit < 0 {
		t.Fatal(p.UnconstrainedNames())
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		x := make([]float64, p.Dim())
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		norm := math.Sqrt(x[unit]*x[unit] + x[unit+1]*x[unit+1] + x[unit+2]*x[unit+2])
		for i := range 3 {
			x[unit+i] /= norm // only the direction is kept
		}
		v, err := p.Constrain(x)
		if err != nil {
			t.Fatal(err)
		}
		y, err := p.UnconstrainRounded(v, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x {
			if !(math.Abs(y[i]-x[i]) < 1e-9) {
				t.Errorf("coordinate %s is %v, not %v", p.UnconstrainedNames()[i], y[i], x[i])
			}
		}
	}
}

// TestPointsAndValues converts points to values and back, by names and in order.
func TestPointsAndValues(t *testing.T) {
	p := bound(t, quantities, map[string]any{"N": 1}, model.BindOptions{})
	x := []float64{math.Log(3), 0.5, -1.5, 0.25, -0.75}
	v, err := p.Constrain(x)
	if err != nil {
		t.Fatal(err)
	}
	if !near(v[0], 3) || v[1] != 0.5 || v[2] != -1.5 || !near(v[3]+v[4]+v[5], 1) || !near(v[6], 6) {
		t.Errorf("values %v", v)
	}
	same := func(how string, y []float64, err error) {
		t.Helper()
		if err != nil || len(y) != len(x) {
			t.Errorf("%s: %v, %v", how, y, err)
			return
		}
		for i := range x {
			if !near(y[i], x[i]) {
				t.Errorf("%s: coordinate %d is %v, not %v", how, i, y[i], x[i])
			}
		}
	}
	y, err := p.UnconstrainValues(v[:6])
	same("in order", y, err)
	y, err = p.UnconstrainRounded(v[:6], 0)
	same("exact", y, err)
	y, err = p.Unconstrain(map[string]any{"s": v[0], "b": [][]float64{{v[1]}, {v[2]}}, "p": v[3:6]})
	same("by name", y, err)
	// Coordinates of missing parameters are NaN; in an initial point they are random.
	if y, err = p.Unconstrain(map[string]any{"s": 3}); err != nil || !near(y[0], x[0]) || !math.IsNaN(y[1]) || !math.IsNaN(y[4]) {
		t.Errorf("one of them: %v, %v", y, err)
	}
	if at, err := p.InitAt(map[string]any{"s": 3}, 1.5); err != nil || at.(infer.At).Radius != 1.5 || !near(at.(infer.At).Positions[0][0], x[0]) {
		t.Errorf("initial point: %v, %v", at, err)
	}
	// A value on its bound has an infinite coordinate; one outside has none.
	v[0] = 0
	if y, err := p.UnconstrainValues(v[:6]); err != nil || !math.IsInf(y[0], -1) {
		t.Errorf("on the edge: %v, %v", y, err)
	}
	v[0] = -1
	if y, err := p.UnconstrainValues(v[:6]); err != nil || !math.IsNaN(y[0]) {
		t.Errorf("outside: %v, %v", y, err)
	}
	for _, values := range []any{map[string]any{"s": -1}, map[string]any{"b": []float64{1}}, map[string]any{"p": []float64{0.5, 0.25, 0.5}}} {
		if _, err := p.Unconstrain(values); err == nil {
			t.Errorf("%v passes", values)
		}
	}
}

// TestGenerate checks that generated quantities depend only on the point and the random numbers.
func TestGenerate(t *testing.T) {
	p := bound(t, quantities, map[string]any{"N": 2}, model.BindOptions{})
	x := make([]float64, p.Dim())
	draw := func(seed uint64) []float64 {
		dst := make([]float64, len(p.OutputNames()))
		if err := p.Generate(x, rand.New(rand.NewPCG(seed, 0)), dst); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	a, b, c := draw(1), draw(2), draw(1)
	z := slices.Index(p.OutputNames(), "z")
	if !slices.Equal(a, c) || a[z] == b[z] || a[len(a)-1] != 7 {
		t.Errorf("%v, %v, %v", a, b, c)
	}
	if err := p.Generate(x, nil, a); err == nil {
		t.Error("no random numbers pass")
	}
	if err := p.Generate(x, rand.New(rand.NewPCG(1, 1)), a[1:]); err == nil {
		t.Error("a short slice passes")
	}
}

// TestWrongLengths checks that each method that takes a point refuses one of another length.
func TestWrongLengths(t *testing.T) {
	p := bound(t, quantities, map[string]any{"N": 0}, model.BindOptions{})
	d := p.Dim()
	for _, n := range []int{0, d - 1, d + 1} {
		x := make([]float64, n)
		_, e1 := p.LogDensity(x)
		_, e2 := p.LogDensityGrad(make([]float64, d), x)
		_, e3 := p.Constrain(x)
		e4 := p.Generate(x, rand.New(rand.NewPCG(1, 1)), make([]float64, len(p.OutputNames())))
		_, e5 := p.UnconstrainValues(make([]float64, n))
		if e1 == nil || e2 == nil || e3 == nil || e4 == nil || e5 == nil {
			t.Errorf("length %d instead of %d passes: %v, %v, %v, %v, %v", n, d, e1, e2, e3, e4, e5)
		}
	}
}

// TestRejection checks that the error for a rejected point names the statement, and that the next
// point is not affected.
func TestRejection(t *testing.T) {
	p := bound(t, "parameters { real a; }\nmodel {\n  if (a > 1) reject(\"a is \", a);\n  target += normal_lpdf(0 | 0, a);\n}", nil, model.BindOptions{})
	for a, line := range map[float64]int{2: 3, -1: 4} {
		_, err := p.LogDensity([]float64{a})
		var rejection *compile.Rejection
		list := model.Diagnostics(err)
		if !errors.As(err, &rejection) || len(list) != 1 || list[0].Span.Begin().Line != line {
			t.Errorf("a = %v: %v", a, err)
		}
	}
	if lp, err := p.LogDensity([]float64{0.5}); err != nil || !near(lp, math.Log(2)-0.5*math.Log(2*math.Pi)) {
		t.Errorf("%v, %v", lp, err)
	}
}

// TestClones checks that clones compute the same values at the same time, without allocating.
func TestClones(t *testing.T) {
	p := bound(t, quantities, map[string]any{"N": 2}, model.BindOptions{})
	at := func(k int) []float64 {
		x := make([]float64, p.Dim())
		for i := range x {
			x[i] = math.Sin(float64(k + 3*i))
		}
		return x
	}
	var want [8]float64
	for k := range want {
		var err error
		if want[k], err = p.LogDensity(at(k)); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for _, c := range []infer.LogDensity{p.CloneDensity(), p.Clone(), p.With(p.Compiled().Clone())} {
		all.Go(func() {
			grad := make([]float64, c.Dim())
			for k := range want {
				if lp, err := c.LogDensityGrad(at(k), grad); err != nil || lp != want[k] {
					t.Errorf("point %d: %v (%v), want %v", k, lp, err, want[k])
				}
			}
		})
	}
	all.Wait()
	x, grad := at(1), make([]float64, p.Dim())
	if n := testing.AllocsPerRun(10, func() { _, _ = p.LogDensityGrad(x, grad) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestNothing checks that all methods of nil and zero models and posteriors return an error or
// nothing, and that none panics.
func TestNothing(t *testing.T) {
	for _, subject := range []any{(*model.Model)(nil), new(model.Model), (*model.Posterior)(nil), new(model.Posterior)} {
		v := reflect.ValueOf(subject)
		for i := range v.NumMethod() {
			method := v.Type().Method(i)
			args := make([]reflect.Value, method.Type.NumIn()-1)
			for k := range args {
				args[k] = reflect.Zero(method.Type.In(k + 1))
			}
			call := v.Method(i).Call
			if method.Type.IsVariadic() {
				call = v.Method(i).CallSlice
			}
			for _, out := range call(args) {
				_, isError := out.Interface().(error)
				if out.Type().String() == "error" && !isError && !strings.HasPrefix(method.Name, "Set") {
					t.Errorf("%T.%s returns no error", subject, method.Name)
				}
			}
		}
	}
}

// TestDerive derives the log likelihood of each observation, and new data, from statements about
// data.
func TestDerive(t *testing.T) {
	m := compiled(t, line)
	values := map[string]any{"N": 2, "x": []float64{1, 2}, "y": []float64{1, 3}}
	log, err := m.Derive(predict.LogLikelihood)
	if err != nil {
		t.Fatal(err)
	}
	p, err := log.Bind(values)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, len(p.OutputNames()))
	if err := p.Generate([]float64{1, 0}, rand.New(rand.NewPCG(1, 1)), dst); err != nil {
		t.Fatal(err)
	}
	if names := p.GeneratedNames(); !slices.Equal(names, []string{"log_lik.1", "log_lik.2"}) {
		t.Errorf("%q", names)
	}
	for i, z := range []float64{0, 1} {
		if got, want := dst[len(dst)-2+i], -z*z/2-0.5*math.Log(2*math.Pi); !near(got, want) {
			t.Errorf("log likelihood %d: %v, want %v", i, got, want)
		}
	}
	set, err := model.ReadData(map[string]any{"N": 2, "x": []float64{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	if missing := m.NotGiven(set); !slices.Equal(missing, []string{"y"}) {
		t.Errorf("not given: %q", missing)
	}
	again, err := m.DeriveReplicated(set)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Outputs) != 1 || again.Outputs[0].Name != "y_rep" || again.Outputs[0].Variable != "y" || len(again.Left) != 0 {
		t.Errorf("%+v, left %+v", again.Outputs, again.Left)
	}
	if _, err := again.Bind(set); err != nil {
		t.Errorf("new data need those that they replace: %v", err)
	}
	if _, err := compiled(t, "parameters { real a; } model { a ~ std_normal(); }").Derive(predict.LogLikelihood); err == nil {
		t.Error("a model without data has a log likelihood")
	}
}
