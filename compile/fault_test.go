package compile_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/internal/planted"
	"github.com/ppl-lang/ppl/lang/source"
)

// faultyModel has a log density, a transformed parameter and a generated quantity.
const faultyModel = `data { int N; vector[N] y; }
parameters { real m; real<lower=0> s; }
transformed parameters { real t = 2 * m; }
model { m ~ normal(0, 1); for (n in 1:N) y[n] ~ normal(t, s); }
generated quantities { real g = t + s; }`

// faulty returns faultyModel with data.
func faulty(t *testing.T) (*compile.Program, *data.Set) {
	t.Helper()
	prog, list := compile.Compile(source.NewFile("model.stan", faultyModel))
	if prog == nil {
		t.Fatal(list)
	}
	set, err := data.FromGo(map[string]any{"N": 3, "y": []float64{1, 2, 4}})
	if err != nil {
		t.Fatal(err)
	}
	return prog, set
}

// TestPanicsOfPasses checks that a panic in any pass leaves a model to the reference evaluator,
// with a report, and that it goes on where tests ask for it.
func TestPanicsOfPasses(t *testing.T) {
	prog, set := faulty(t)
	right, err := prog.Bind(set, compile.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{0.3, -0.2}
	grad, names := make([]float64, 2), len(right.OutputNames())
	lp, err := right.LogDensityGrad(x, grad)
	out := make([]float64, names)
	if err := errors.Join(err, right.Generate(x, rand.New(rand.NewPCG(1, 1)), out)); err != nil {
		t.Fatal(err)
	}
	var table []string
	for _, p := range passes.Table() {
		if p.Density != nil || p.Graph != nil || p.Nest != nil {
			table = append(table, p.Name)
		}
	}
	for _, outputs := range []bool{false, true} {
		for k, pass := range slices.Concat(table, table[:1]) {
			broken := func(made any) any {
				if k < len(table) {
					panic("planted\n in two lines")
				}
				g := made.(*ad.Graph) // a mistake in a graph that the pass makes
				return g.Add(g.Input(ad.Type{Shape: []int{2}}), g.Input(ad.Type{Shape: []int{3}}))
			}
			ctx := planted.With(context.Background(), &planted.Fault{Pass: pass, Outputs: outputs, Change: broken})
			name := pass + map[bool]string{true: ", outputs"}[outputs]
			bind := func() (m *compile.Model, panicked bool, err error) {
				defer func() { panicked = recover() != nil }()
				if m, err = prog.BindContext(ctx, set, compile.BindOptions{}); err == nil {
					err = m.Generate(x, rand.New(rand.NewPCG(1, 1)), make([]float64, names))
				}
				return m, false, err
			}
			runs := !outputs || runsOnOutputs(pass)
			if _, panicked, _ := bind(); panicked != runs {
				t.Errorf("%s: with %s, panicked %v", name, planted.Panics, panicked)
			}
			t.Setenv(planted.Panics, "")
			m, panicked, err := bind()
			t.Setenv(planted.Panics, "1")
			if err != nil || panicked {
				t.Errorf("%s: %v, panicked %v", name, err, panicked)
				continue
			}
			again := make([]float64, 2)
			value, err := m.LogDensityGrad(x, again)
			if err != nil || math.Abs(value-lp) > 1e-12 || math.Abs(again[0]-grad[0]) > 1e-12 || math.Abs(again[1]-grad[1]) > 1e-12 {
				t.Errorf("%s: %v %v (%v), want %v %v", name, value, again, err, lp, grad)
			}
			faults := m.Loops().Faults
			if runs != (len(faults) == 1) || len(faults) > 0 && (!strings.HasPrefix(faults[0], "the reference evaluator computes ") || strings.Contains(faults[0], "\n")) {
				t.Errorf("%s: faults %q", name, faults)
			}
			if m.Interpreted() != (!outputs && len(faults) == 1) {
				t.Errorf("%s: interpreted %v", name, m.Interpreted())
			}
			got := make([]float64, names)
			if err := m.Generate(x, rand.New(rand.NewPCG(1, 1)), got); err != nil || !slices.EqualFunc(got, out, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
				t.Errorf("%s: %v (%v), want %v", name, got, err, out)
			}
			if _, err := m.Explain(x, 1); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// runsOnOutputs reports whether a pass runs on programs of outputs, too.
func runsOnOutputs(pass string) bool {
	return slices.ContainsFunc(passes.Table(), func(p passes.Pass) bool {
		return p.Name == pass && (p.Graph != nil || p.Nest != nil)
	})
}

// TestPanicsOfPrograms checks that the reference evaluator computes the points at which a compiled
// program panics, and only these.
func TestPanicsOfPrograms(t *testing.T) {
	t.Setenv(planted.Panics, "")
	prog, set := faulty(t)
	for _, outputs := range []bool{false, true} {
		pass := "deduplicate"
		if outputs {
			pass = "slices"
		}
		ctx := planted.With(context.Background(), &planted.Fault{Pass: pass, Outputs: outputs, Change: func(made any) any {
			g := made.(*ad.Graph).Fork()
			message := &ad.Message{Where: func(x, _ float64) bool { panic("planted at a point") }, Parts: []ad.MessagePart{{Arg: 0}}}
			pair := g.Expand(g.Inputs[0], ad.Type{Shape: []int{2}})
			g.RejectIf(g.Less(g.Const(0.5), g.Inputs[0]), message, pair, pair)
			return g
		}})
		m, err := prog.BindContext(ctx, set, compile.BindOptions{})
		if err != nil {
			t.Fatal(err)
		}
		reference := m.Reference()
		for k, x := range [][]float64{{0.3, 0.1}, {0.9, 0.1}, {0.4, 0.2}, {0.6, 0}} {
			c := m.Clone()
			for _, m := range []*compile.Model{m, c, c} {
				var lp [2]float64
				var grad, out [2][]float64
				var err [2]error
				for i, m := range []*compile.Model{m, reference} {
					grad[i], out[i] = make([]float64, 2), make([]float64, len(m.OutputNames()))
					var failed, also error
					lp[i], failed = m.LogDensityGrad(x, grad[i])
					hessian := make([]float64, 4)
					if !outputs {
						also = m.Hessian(x, hessian)
						grad[i] = append(grad[i], hessian...)
					}
					err[i] = errors.Join(failed, also, m.Generate(x, rand.New(rand.NewPCG(1, 1)), out[i]))
				}
				near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
				if err[0] != nil || err[1] != nil || !near(lp[0], lp[1]) || !slices.EqualFunc(grad[0], grad[1], near) || !slices.EqualFunc(out[0], out[1], near) {
					t.Errorf("at %v: %v %v %v (%v), want %v %v %v (%v)", x, lp[0], grad[0], out[0], err[0], lp[1], grad[1], out[1], err[1])
				}
			}
			if faults := m.Loops().Faults; len(faults) != min(k, 1) {
				t.Errorf("after %d points: faults %q", k+1, faults)
			}
		}
		if m.Interpreted() {
			t.Error("the whole density is interpreted")
		}
	}
}

// TestPanicWithCounts checks that a model whose sums need compiled checks is refused, and why.
func TestPanicWithCounts(t *testing.T) {
	t.Setenv(planted.Panics, "")
	prog, list := compile.Compile(source.NewFile("model.stan", "parameters { real<lower=0> r; int<lower=0> n; } model { r ~ exponential(1); n ~ poisson(r); 3 ~ poisson(n + 1); }"))
	if prog == nil {
		t.Fatal(list)
	}
	ctx := planted.With(context.Background(), &planted.Fault{Pass: "deduplicate", Change: func(any) any { panic("planted") }})
	_, err := prog.BindContext(ctx, nil, compile.BindOptions{})
	if err == nil || !strings.HasPrefix(err.Error(), "the model cannot be compiled (pass deduplicate: planted): this is a fault of ppl") {
		t.Error(err)
	}
}
