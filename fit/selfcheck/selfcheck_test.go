package selfcheck_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/fit/selfcheck"
	"github.com/ppl-lang/ppl/internal/planted"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/source"
)

// programs are programs with one parameter, in which the tests plant errors.
var programs = map[string]string{
	"plain": "parameters { real a; } model { a ~ normal(1, 2); target += -log1p_exp(a); }",
	// Heron's method for square roots, in a loop whose end depends on parameters. The library does
	// not know it as a solver.
	"while": `parameters { real a; }
model {
  real s = exp(a);
  real r = 1;
  while (abs(r * r - s) > 1e-9 * s) r = 0.5 * (r + s / r);
  target += -square(r - 2) - 0.1 * square(a);
}`,
	// A loop that counts and whose end depends on parameters.
	"count": `parameters { real a; }
model {
  real x = a;
  real n = 0;
  while (x > 0) { x -= 0.37; n += x; }
  a ~ normal(0.2 * n, 1);
}`,
	"ode": `functions { vector f(real t, vector y, real k) { return -k * y; } }
parameters { real a; }
model {
  array[3] vector[2] y = ode_rk45(f, [1, 2]', 0, {0.5, 1, 2}, exp(a));
  for (n in 1:3) target += -square(y[n, 1] - 0.3) - 0.2 * y[n, 2];
  a ~ normal(0, 1);
}`,
	"loose ode": `functions { vector f(real t, vector y, real k) { return -k * y; } }
data { real tolerance; }
parameters { real a; }
model {
  array[3] vector[2] y = ode_bdf_tol(f, [1, 2]', 0, {0.5, 1, 2}, tolerance, 1e-6, 1000, exp(a));
  for (n in 1:3) target += -square(y[n, 1] - 0.3) - 0.2 * y[n, 2];
  a ~ normal(0, 1);
}`,
	"algebra": `functions { vector f(vector y, real k) { return [square(y[1]) - exp(k)]'; } }
parameters { real a; }
model { target += -square(solve_newton(f, [1]', a)[1] - 2) - 0.1 * square(a); }`,
	"integral": `functions { real f(real x, real xc, array[] real theta, data array[] real r, data array[] int i) { return exp(-square(x) * exp(theta[1])); } }
transformed data { array[0] real r; array[0] int i; }
parameters { real a; }
model { target += integrate_1d(f, 0, 1, {a}, r, i) - 0.1 * square(a); }`,
}

// values returns data for all of these programs.
func values(t *testing.T) *data.Set {
	t.Helper()
	set, err := data.ParseJSON("data", []byte(`{"tolerance": 1e-3}`))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// bind binds a program, with a fault that multiplies its log density by value and its gradient by
// slope. If both are 1, there is no fault.
func bind(t *testing.T, text, pass string, value, slope float64) *compile.Model {
	t.Helper()
	prog, list := compile.Compile(source.NewFile("model.stan", text))
	if prog == nil {
		t.Fatal(list)
	}
	ctx := context.Background()
	if value != 1 || slope != 1 {
		ctx = planted.With(ctx, &planted.Fault{Pass: pass, Change: func(made any) any {
			g := made.(*ad.Graph).Fork()
			g.Outputs[0] = g.Scale(value, g.Outputs[0])
			for k := 1; k < len(g.Outputs); k++ {
				g.Outputs[k] = g.Scale(slope, g.Outputs[k])
			}
			return g
		}})
	}
	m, err := prog.BindContext(ctx, values(t), compile.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// check returns the check of a run that allows all the time that comparisons need, even on a slow
// machine.
func check(m *compile.Model, set *data.Set, seed uint64, chains, parallel int) *selfcheck.Check {
	c := selfcheck.New(context.Background(), m, set, seed, chains, parallel)
	c.Min = time.Hour
	return c
}

// run takes a check through a run of two chains, which draw around the origin, and reports whether
// something was wrong.
func run(t *testing.T, c *selfcheck.Check, seed uint64, radius float64) bool {
	t.Helper()
	if c.Start() {
		return true
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	for draw := range 40 {
		for chain := range 2 {
			x := make([]float64, c.Bound().Dim())
			for i := range x {
				x[i] = radius * rng.NormFloat64()
			}
			if c.Draw(chain, draw < 20, x) {
				return true
			}
		}
	}
	return c.End(context.Background())
}

// TestNoFalseAlarms checks that values and slopes of correct programs are compared completely, and
// that no error is reported.
func TestNoFalseAlarms(t *testing.T) {
	for name, text := range programs {
		m := bind(t, text, "", 1, 1)
		for seed := range uint64(4) {
			c := check(m, values(t), seed, 2, 1)
			wrong := run(t, c, seed, 0.5+float64(seed%4))
			r := c.Record()
			if wrong || len(r.Wrong) > 0 || r.Points == 0 || r.Slopes == 0 || r.Share != 1 || len(selfcheck.Findings(r)) > 0 {
				t.Errorf("%s, seed %d: %v, %+v", name, seed, wrong, *r)
			}
		}
	}
}

// TestFaultsAreNoticed checks that errors of the log density and of its gradient are noticed before
// the first draw, and that the run uses a program without them. Only solvers of the library may be
// less exact, and only by as much as their tolerance explains.
func TestFaultsAreNoticed(t *testing.T) {
	type trial struct {
		program      string
		value, slope float64
		what         string
		replaced     bool // the run continues with the replacement
	}
	for _, c := range short.Every(3, []trial{
		{"plain", 1 + 1e-8, 1, folder.DensityValue, false},
		{"plain", 1, 1.0001, folder.DensityGradient, true},
		{"while", 1 + 1e-7, 1, folder.DensityValue, false},
		{"while", 1, 1.015, folder.DensityGradient, true},
		{"while", 1, 1.0005, folder.DensityGradient, false},
		{"count", 1 + 1e-7, 1, folder.DensityValue, false},
		{"count", 1, 1.015, folder.DensityGradient, false},
		{"ode", 1.0001, 1, folder.DensityValue, false},
		{"ode", 1, 1.015, folder.DensityGradient, true},
		{"ode", 1, 1.008, folder.DensityGradient, false},
		{"loose ode", 1.001, 1, folder.DensityValue, false},
		{"loose ode", 1, 1.025, folder.DensityGradient, false},
		{"algebra", 1, 1.015, folder.DensityGradient, false},
		{"integral", 1, 1.002, folder.DensityGradient, false},
	}) {
		// The graph with the gradient passes through this compiler pass.
		m := bind(t, programs[c.program], "slices", c.value, c.slope)
		k := check(m, values(t), 1, 2, 1)
		if !k.Start() {
			t.Errorf("%s times %v and %v: nothing is wrong, %+v", c.program, c.value, c.slope, *k.Record())
			continue
		}
		if !c.replaced {
			continue
		}
		if err := k.Replace(context.Background()); err != nil {
			t.Fatal(err)
		}
		r := k.Record()
		if len(r.Wrong) != 1 || r.Wrong[0].What != c.what || r.Wrong[0].Pass != "slices" || r.Wrong[0].Begun {
			t.Errorf("%s times %v and %v: %+v", c.program, c.value, c.slope, *r)
		}
		if found := selfcheck.Findings(r); len(found) != 1 || found[0].Code != "density-wrong" || !strings.Contains(found[0].Summary, "slices") {
			t.Errorf("%s: %+v", c.program, found)
		}
		if run(t, k, 1, 1) {
			t.Errorf("%s: the program without the pass is wrong, too", c.program)
		}
	}
}

// TestFaultOfTheBinder checks that the run continues with the reference evaluator if leaving out a
// pass does not remove the error.
func TestFaultOfTheBinder(t *testing.T) {
	k := check(bind(t, programs["plain"], planted.Bind, 1.5, 1), values(t), 1, 2, 1)
	if !k.Start() {
		t.Fatal("nothing is wrong")
	}
	if err := k.Replace(context.Background()); err != nil {
		t.Fatal(err)
	}
	if w := k.Record().Wrong[0]; w.Pass != "" || w.Instead != "the reference evaluator" || !k.Bound().Interpreted() {
		t.Errorf("%+v", w)
	}
}

// TestLateFault checks that a fault that affects only the region of the draws is found there, and
// that the draws are discarded.
func TestLateFault(t *testing.T) {
	prog, _ := compile.Compile(source.NewFile("model.stan", programs["plain"]))
	ctx := planted.With(context.Background(), &planted.Fault{Pass: "if-convert", Change: func(made any) any {
		g := made.(*ad.Graph).Fork()
		x := g.Reshape(g.Inputs[0], nil)
		g.Outputs[0] = g.Select(g.Less(g.Const(5), x), g.Scale(1.1, g.Outputs[0]), g.Outputs[0])
		return g
	}})
	m, err := prog.BindContext(ctx, values(t), compile.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	k := check(m, values(t), 1, 1, 1)
	if k.Start() || k.Draw(0, true, []float64{6}) || !k.Draw(0, false, []float64{6}) {
		t.Fatalf("%+v", *k.Record())
	}
	if err := k.Replace(ctx); err != nil {
		t.Fatal(err)
	}
	if w := k.Record().Wrong[0]; !w.Begun || w.When != "at the end of warm-up" || w.Point[0] != 6 {
		t.Errorf("%+v", w)
	}
}

// TestRoundingToABound checks parameters that round to their bound, and probabilities that round to
// 1. The reference itself has no digits left there, so no error must be reported.
func TestRoundingToABound(t *testing.T) {
	for _, text := range []string{
		"parameters { real<lower=0, upper=1> p; } model { target += log1m(p) + log(p); }",
		"parameters { real<upper=1> p; } model { target += -square(p) + log1m(p); }",
		"parameters { real<lower=1e6> p; } model { target += -log(p - 1e6); }",
		"parameters { real a; } model { target += log1m(inv_logit(a)) + log(inv_logit(a)); }",
		"parameters { ordered[2] c; } model { 1 ~ ordered_logistic(c[1], c); target += -dot_self(c) * 1e-4; }",
	} {
		m := bind(t, text, "", 1, 1)
		k := check(m, values(t), 1, 1, 1)
		for _, far := range []float64{0, 10, 20, 30, 33, 36, 36.7, 37, 40, 300, 700, 720, 800} {
			for _, sign := range []float64{-1, 1} {
				x := make([]float64, m.Dim())
				for i := range x {
					x[i] = sign * far
				}
				if replaced, err := k.At(context.Background(), x); replaced || err != nil {
					t.Fatalf("%s at %v: %v, %+v", text, x, err, *k.Record())
				}
			}
		}
		if k.Record().Points == 0 || math.IsNaN(k.Record().Excess) {
			t.Errorf("%s: %+v", text, *k.Record())
		}
	}
}
