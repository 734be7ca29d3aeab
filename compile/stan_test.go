package compile

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

var stanResults = flag.String("stan", "", "take the figures of testdata/stan from this folder; see stan.sh there")

// stanFigures are the results of Stan 2.32.2 for a model. There are log densities without
// constants, with constants, and with constants but without Jacobians. There are also the gradient
// of the first, the parameters and the transformed parameters.
type stanFigures struct {
	Unconstrained []string    `json:"names_unconstrained"`
	Params        []string    `json:"names_params"`
	Transformed   []string    `json:"names_tparams"`
	Points        []stanPoint `json:"points"`
}

type stanPoint struct {
	X           []float64 `json:"x"`
	Propto      float64   `json:"lp_propto_jac"`
	Full        float64   `json:"lp_full_jac"`
	NoJacobian  float64   `json:"lp_full_nojac"`
	Gradient    []float64 `json:"grad_propto_jac"`
	Constrained []float64 `json:"constrained"`
}

// TestStanTransforms compares transforms with Stan 2.32: three forms of the log density, the
// gradient, the constrained values and the inverse. All are sums of some hundred numbers of size 1.
func TestStanTransforms(t *testing.T) {
	const tolerance = 1e-13 // relative, at least to 1; seen: 3e-15
	models, err := filepath.Glob("testdata/stan/*.stan")
	if err != nil || len(models) == 0 {
		t.Fatal("no models", err)
	}
	for _, file := range models {
		base := strings.TrimSuffix(file, ".stan")
		t.Run(filepath.Base(base), func(t *testing.T) {
			if *stanResults != "" {
				collectStan(t, filepath.Join(*stanResults, filepath.Base(base)+".json"), base+".figures.json")
			}
			var want stanFigures
			if b, err := os.ReadFile(base + ".figures.json"); err != nil {
				t.Fatal(err)
			} else if err := json.Unmarshal(b, &want); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			set, err := data.ReadJSON(base+".data.json", data.Options{})
			if err != nil {
				t.Fatal(err)
			}
			prog, list := Compile(source.NewFile(file, string(text)))
			if prog == nil {
				t.Fatal(list[0])
			}
			bound := func(o BindOptions) *Model {
				o.StanCompat = "2.32"
				m, err := prog.Bind(set, o)
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			propto, full, plain := bound(BindOptions{}), bound(BindOptions{NoPropto: true}), bound(BindOptions{NoPropto: true, NoJacobian: true})
			if got := propto.ConstrainedNames(); !slices.Equal(got, slices.Concat(want.Params, want.Transformed)) {
				t.Errorf("names %v", got)
			}
			// Stan names the numbers of arrays of several dimensions in an order different from
			// that of the numbers.
			if got := slices.Sorted(slices.Values(propto.UnconstrainedNames())); !slices.Equal(got, slices.Sorted(slices.Values(want.Unconstrained))) {
				t.Errorf("unconstrained names %v", got)
			}
			near := func(what string, got, want float64) {
				t.Helper()
				if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
					t.Errorf("%s: %v, Stan %v", what, got, want)
				}
			}
			for _, p := range want.Points {
				grad := make([]float64, propto.Dim())
				for _, w := range []struct {
					what string
					m    *Model
					want float64
				}{{"density", full, p.Full}, {"density without Jacobian", plain, p.NoJacobian}, {"density without constants", propto, p.Propto}} {
					lp, err := w.m.LogDensityGrad(p.X, grad)
					if err != nil {
						t.Fatal(err)
					}
					near(w.what, lp, w.want)
				}
				for i, name := range propto.UnconstrainedNames() {
					near("gradient by "+name, grad[i], p.Gradient[i])
				}
				values := make([]float64, len(propto.ConstrainedNames()))
				if err := propto.Constrain(p.X, values); err != nil {
					t.Fatal(err)
				}
				for i, name := range propto.ConstrainedNames() {
					near(name, values[i], p.Constrained[i])
				}
				wayBack(t, propto, p.X, values)
			}
		})
	}
}

// wayBack checks that the values of a model's parameters give back the unconstrained point x,
// except for the lengths of unit vectors, which the values do not contain.
func wayBack(t *testing.T, m *Model, x, values []float64) {
	t.Helper()
	given := map[string]any{}
	rest := values
	for _, p := range m.bound.Params {
		var nested func(shape []int, at, stride int) any
		part := rest
		nested = func(shape []int, at, stride int) any { // the first index fastest
			if len(shape) == 0 {
				return part[at]
			}
			list := make([]any, shape[0])
			for i := range list {
				list[i] = nested(shape[1:], at+i*stride, stride*shape[0])
			}
			return list
		}
		n := 1
		for _, d := range p.Leaves[0].Shape {
			n *= d
		}
		given[p.Name], rest = nested(p.Leaves[0].Shape, 0, 1), rest[n:]
	}
	set, err := data.FromGo(given)
	if err != nil {
		t.Fatal(err)
	}
	back, err := m.Unconstrain(set)
	if err != nil {
		t.Fatal(err)
	}
	const tolerance = 1e-9 // lower accuracy: values may be close to a bound
	for i, name := range m.UnconstrainedNames() {
		if name[0] != 'u' && math.Abs(back[i]-x[i]) > tolerance {
			t.Errorf("%s comes back as %v, not %v", name, back[i], x[i])
		}
	}
}

// collectStan keeps half of the points of the harness's result.
func collectStan(t *testing.T, from, to string) {
	t.Helper()
	var f stanFigures
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	f.Points = []stanPoint{f.Points[0], f.Points[1], f.Points[len(f.Points)-1]}
	if b, err = json.MarshalIndent(f, "", ""); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, append(b, '\n'), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestUnconstrainedOrder checks the order of unconstrained numbers and their names. Matrices are
// stored by columns, arrays element by element.
func TestUnconstrainedOrder(t *testing.T) {
	prog, list := Compile(source.NewFile("order.model", `parameters {
  row_stochastic_matrix[2, 3] r;
  array[2] column_stochastic_matrix[3, 1] c;
  array[2] cholesky_factor_corr[3] L;
}
`))
	if prog == nil {
		t.Fatal(list[0])
	}
	m, err := prog.Bind(nil, BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("r.1.1 r.2.1 r.1.2 r.2.2 c.1.1.1 c.1.2.1 c.2.1.1 c.2.2.1 L.1.1 L.1.2 L.1.3 L.2.1 L.2.2 L.2.3")
	if got := m.UnconstrainedNames(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// Each number changes only a few elements.
	moves := func(i int) []string {
		x, at, moved := make([]float64, m.Dim()), make([]float64, len(m.ConstrainedNames())), make([]float64, len(m.ConstrainedNames()))
		if err := m.Constrain(x, at); err != nil {
			t.Fatal(err)
		}
		x[i] = 1
		if err := m.Constrain(x, moved); err != nil {
			t.Fatal(err)
		}
		var names []string
		for k, name := range m.ConstrainedNames() {
			if at[k] != moved[k] {
				names = append(names, name)
			}
		}
		return names
	}
	for i, want := range map[int]string{
		1: "r.2.1 r.2.2 r.2.3", 2: "r.1.1 r.1.2 r.1.3", 6: "c.2.1.1 c.2.2.1 c.2.3.1",
		8: "L.1.2.1 L.1.2.2", 9: "L.1.3.1 L.1.3.3", 13: "L.2.3.2 L.2.3.3",
	} {
		if got := strings.Join(moves(i), " "); got != want {
			t.Errorf("%s moves %s, want %s", m.UnconstrainedNames()[i], got, want)
		}
	}
}

// TestInitialValues checks that initial values with six digits are accepted, although they satisfy
// the constraints of their types only up to rounding.
func TestInitialValues(t *testing.T) {
	prog, list := Compile(source.NewFile("initial.model", "parameters {\n  simplex[3] s;\n  cov_matrix[2] S;\n}\n"))
	if prog == nil {
		t.Fatal(list[0])
	}
	m, err := prog.Bind(nil, BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{`{"s": [0.333333, 0.333333, 0.333333], "S": [[2, 1], [1, 2]]}`, ""},
		{`{"s": [0.333333, 0.333333, 0.333333]}`, ""}, // S is not given
		{`{"s": [0.33, 0.33, 0.33]}`, "the initial value of `s` must be a valid simplex, but its elements sum to 0.99"},
		{`{"S": [[1, 2], [2, 1]]}`, "the initial value of `S` must be symmetric and positive definite"},
	} {
		set, err := data.ParseJSON("init.json", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		x, err := m.Unconstrain(set)
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.text, err, c.want)
			}
		case err != nil:
			t.Errorf("%s: %v", c.text, err)
		case math.IsNaN(x[0]) || math.IsNaN(x[2]) == strings.Contains(c.text, "S"):
			t.Errorf("%s: %v", c.text, x)
		}
	}
}
