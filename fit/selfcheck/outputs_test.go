package selfcheck_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/fit/selfcheck"
	"github.com/ppl-lang/ppl/internal/planted"
	"github.com/ppl-lang/ppl/lang/source"
)

// generating has outputs of all kinds: 2 parameters, 4 transformed parameters, and in generated
// quantities 3 that depend on draws, one of them by a condition, and 4 that do not.
const generating = `
data { int N; vector[N] x; }
parameters { real a; real<lower=0> s; }
transformed parameters { vector[N] mu = a + s * x; }
model { a ~ normal(0, 1); s ~ exponential(1); }
generated quantities {
  real drawn = normal_rng(a, s);
  real later = 2 * drawn;
  int above = 0;
  real total = 0;
  array[2] int most;
  real rounded = floor(10 * a);
  if (drawn > a) above = 1;
  for (n in 1:N) total += log_sum_exp(mu[n], a);
  most[1] = sort_indices_desc(mu)[1];
  most[2] = mu[1] > a;
}`

// faultyOutputs binds that program to data, with a fault in the program of its outputs, or without
// one if change is nil.
func faultyOutputs(t *testing.T, pass string, change func(g *ad.Graph)) (*compile.Model, *data.Set) {
	t.Helper()
	prog, list := compile.Compile(source.NewFile("model.stan", generating))
	if prog == nil {
		t.Fatal(list)
	}
	set, err := data.ParseJSON("data", []byte(`{"N": 4, "x": [0.1, 2, -1.5, 0.7]}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if change != nil {
		ctx = planted.With(ctx, &planted.Fault{Pass: pass, Outputs: true, Change: func(made any) any {
			g := made.(*ad.Graph).Fork()
			change(g)
			return g
		}})
	}
	m, err := prog.BindContext(ctx, set, compile.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m, set
}

// at adds to one output.
func at(place int, add float64) func(g *ad.Graph) {
	return func(g *ad.Graph) {
		n := g.Type(g.Outputs[0]).Total()
		shift := make([]float64, n)
		shift[place] = add
		g.Outputs[0] = g.Add(g.Outputs[0], g.ConstArray(ad.Type{Shape: []int{n}}, shift))
	}
}

// TestOutputsAgree checks that outputs are compared at draws, except those that depend on random
// draws.
func TestOutputsAgree(t *testing.T) {
	m, set := faultyOutputs(t, "", nil)
	for seed := range uint64(10) {
		c := check(m, set, seed, 2, 1)
		if run(t, c, seed, 1) {
			t.Fatalf("seed %d: %+v", seed, *c.Record())
		}
		if o := c.Record().Outputs; o == nil || o.Points == 0 || o.Compared != 10 || o.Drawn != 3 || o.Reason != "" {
			t.Errorf("seed %d: %+v", seed, o)
		}
	}
}

// TestWrongOutput checks that an error in a transformed parameter or a generated quantity is
// noticed at the first draw. The message must name the output, and the run must begin again with a
// program without the error.
func TestWrongOutput(t *testing.T) {
	for _, c := range []struct {
		pass, output string
		change       func(g *ad.Graph)
		instead      string
	}{
		{"slices", "mu.2", at(3, 1e-8), "the program without the compiler's pass slices"},
		{"slices", "total", at(9, 1e-6), "the program without the compiler's pass slices"},
		{planted.Bind, "most.1", at(10, 1), "the reference evaluator"},
		{planted.Bind, "rounded", at(12, -1), "the reference evaluator"},
		{"slices", "", func(g *ad.Graph) {
			g.RejectIf(g.Const(1), &ad.Message{Parts: []ad.MessagePart{{Text: "never", Arg: -1}}})
		}, ""},
	} {
		m, set := faultyOutputs(t, c.pass, c.change)
		k := check(m, set, 1, 1, 1)
		x := []float64{0.33, -0.2}
		if k.Start() || k.Draw(0, true, x) {
			t.Fatalf("%+v", *k.Record())
		}
		noticed := k.Draw(0, false, x)
		if c.output == "" { // a rejection is only recorded: draws may cause it
			if noticed || k.Record().Outputs.Reason == "" {
				t.Errorf("%+v", *k.Record())
			}
			continue
		}
		if !noticed {
			t.Errorf("%s: %+v", c.output, *k.Record().Outputs)
			continue
		}
		if err := k.Replace(context.Background()); err != nil {
			t.Fatal(err)
		}
		w := k.Record().Wrong[0]
		if w.What != folder.DensityOutput || w.Name != c.output || w.Instead != c.instead || !w.Begun {
			t.Errorf("%s: %+v", c.output, w)
		}
		found := selfcheck.Findings(k.Record())
		if len(found) != 1 || found[0].Code != "density-wrong" || !strings.Contains(found[0].Summary, "another value of "+c.output) {
			t.Errorf("%+v", found)
		}
		if run(t, k, 1, 1) {
			t.Errorf("%s: the program in its place is wrong, too", c.output)
		}
		out := make([]float64, 13)
		if err := k.Bound().Generate(x, rand.New(rand.NewPCG(1, 1)), out); err != nil || out[12] != 3 {
			t.Errorf("%v, %v", out, err)
		}
	}
}
