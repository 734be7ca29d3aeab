package compile

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/source"
)

// skipped are statements in a branch that parameters decide. With these data they never end or ask
// for too much, so binding must not run them unless a point takes the branch.
var skipped = []string{
	"int n = 0; while (n < N) { if (n > 3) n += 1; target += 0.1; }",
	"int n = 0; while (n < N) { if (n > 3) n += 1; } target += n;",
	"real r = 0; while (N) r += s; target += r;",
	"for (i in 1:3) { int n = 0; while (n < N) { if (n > 3) n += 1; } target += n; }",
	"int m = 0; for (i in 1:3) { int n = 0; while (n < N) { if (n > 3) n += 1; } m += n; target += y[m]; }",
	"real r = 0; for (i in 1:2000000000) r += s * i; target += r;",
	"for (i in 1:2000000000) for (j in 1:2000000000) if (i == j) target += s;",
	"int m = 0; for (i in 1:2000000000) m += 1; target += m * s;",
	"target += forever(N);",
	"target += y[forever(N)];",
	"for (i in 1:20) target += y[forever(i)];",
	"vector[20] x; for (i in 1:20) { x[forever(i)] = s; } target += sum(x);",
	"for (i in 1:20) { if (forever(i)) target += s; }",
	"target += sum(z[perm[perm[E]]:E]);",
	"for (i in 1:3) target += i * sum(z[perm[perm[E]]:E]);",
	"array[E] int p; for (i in 1:E) p[i] = i; target += sum(z[p[p[E]]:E]);",
	"target += sum(y[1:2000000000]);",
	"target += sum(rep_vector(s, 2000000000));",
	"vector[2000000000] v = rep_vector(s, 2000000000); target += sum(v);",
}

// TestSkippedBranches binds these statements, with limits that do not depend on the clock. The
// model is evaluated at points that do not take the branch. Points that do take it are rejected, or
// the evaluation ends only when it is stopped.
func TestSkippedBranches(t *testing.T) {
	const text = `
functions { int forever(int k) { int n = 0; while (n < 10) { if (n > 3) n += k; } return n; } }
data { int N; int E; array[E] int perm; vector[E] z; vector[N] y; }
parameters { real<lower=0> s; }
model { s ~ exponential(1); if (s > 2) { STATEMENTS } }`
	set, err := data.ParseJSON("data", []byte(`{"N": 3, "E": 0, "perm": [], "z": [], "y": [1, 2, 3]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, statements := range short.Every(3, skipped) {
		prog, list := Compile(source.NewFile("skipped.stan", strings.Replace(text, "STATEMENTS", statements, 1)))
		if prog == nil {
			t.Fatal(list)
		}
		m, err := prog.Bind(set, BindOptions{Statements: 200e6, Memory: 500e6})
		if err != nil {
			t.Errorf("%s\n%v", statements, err)
			continue
		}
		if f := m.Loops().Faults; len(f) > 0 {
			t.Errorf("%s\n%s", statements, f)
		}
		grad := make([]float64, 1)
		if lp, err := m.LogDensityGrad([]float64{math.Log(1.5)}, grad); err != nil || math.Abs(lp-(math.Log(1.5)-1.5)) > 1e-12 {
			t.Errorf("%s\n%v, %v", statements, lp, err)
		}
		stop, asked := errors.New("stop"), 0
		m.SetStop(func() error {
			if asked++; asked > 3 {
				return stop
			}
			return nil
		})
		if lp, err := m.LogDensityGrad([]float64{math.Log(3)}, grad); err == nil {
			t.Errorf("%s\nat a point that takes the branch: %v", statements, lp)
		}
	}
}

// longBranches are statements in a branch that parameters decide. Data decide how much work they
// are: MANY is the number of iterations, DEEP the depth of the recursion.
var longBranches = []string{
	"r -= paths(DEEP, s);",
	"r -= ackermann(2, DEEP) * s;",
	"int k = 1; for (i in 1:(4 * MANY)) for (j in 1:(4 * MANY)) k += 1; r -= k * s;",
	"int n = 0; while (n < MANY) { int m = 0; while (m < MANY) { m += 1; r -= s / m; } n += 1; }",
	"int n = 0; while (n < MANY) { n += 1; r -= counted(n, 100 * MANY) * s; }",
	"int n = 0; while (n < MANY) { n += 1; for (i in 1:(200 * MANY)) r -= s * i; }",
	"for (i in 1:3) { int n = 0; while (n < MANY) { n += 1; r -= paths(8, s) / n; } }",
}

// branchBlocks are the blocks in which such a branch is evaluated.
var branchBlocks = []string{
	"model { s ~ exponential(1); real r = 0; BRANCH target += r; }",
	"transformed parameters { real r = 0; BRANCH } model { s ~ exponential(1); target += r; }",
	"model { s ~ exponential(1); } generated quantities { real r = 0; BRANCH }",
}

func longBranch(t *testing.T, block, statements, many, deep string) (*Program, string) {
	const text = `
functions {
  real paths(int n, real s) { if (n < 2) return s; return paths(n - 1, s) + paths(n - 2, s); }
  int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
  }
  int counted(int n, int m) { int k = 0; for (i in 1:m) k += n; return k; }
}
parameters { real<lower=0> s; }
`
	r := strings.NewReplacer("MANY", many, "DEEP", deep)
	program := text + strings.Replace(block, "BRANCH", "if (s > 2) { "+r.Replace(statements)+" }", 1)
	prog, list := Compile(source.NewFile("branch.stan", program))
	if prog == nil {
		t.Fatal(list, program)
	}
	return prog, program
}

// TestSkippedWork binds branches that would take hours or never end, and counts the work: the
// statements of the budget, and how often the binding asks whether it is to stop, which it does at
// least once in some thousand statements of any kind.
func TestSkippedWork(t *testing.T) {
	const statements, maxAsked = 4e6, 200
	for _, block := range branchBlocks {
		for _, s := range longBranches {
			prog, text := longBranch(t, block, s, "20000", "50")
			budget, asked := ad.NewBudget(500e6, statements), 0
			budget.Stop = func() error {
				if asked++; asked > maxAsked {
					return errors.New("too much work")
				}
				return nil
			}
			b, err := bind.Bind(prog.ir, data.Empty(), bind.Options{Propto: true, Jacobian: true, Budget: budget})
			if err != nil {
				t.Errorf("%s\n%v", text, err)
				continue
			}
			_, left := budget.Left()
			if spent := statements - left; spent > statements/2 {
				t.Errorf("%s\nbinding runs %d statements", text, spent)
			}
			if b.Density != nil && b.Generated != nil || len(b.Stats.Faults) > 0 {
				t.Errorf("%s\nis not interpreted, or has faults %s", text, b.Stats.Faults)
			}
		}
	}
}

// TestSkippedValues compares the values of interpreted branches with those of graphs, which larger
// limits allow, where points take the branch and where they do not.
func TestSkippedValues(t *testing.T) {
	for _, block := range branchBlocks {
		for _, s := range short.Every(3, longBranches) {
			prog, text := longBranch(t, block, s, "40", "12")
			var models [2]*Model
			for i, statements := range []int64{4e6, 1000e6} {
				m, err := prog.Bind(data.Empty(), BindOptions{Statements: statements})
				if err != nil {
					t.Fatalf("%s\n%v", text, err)
				}
				if interpreted := m.bound.Density == nil || m.bound.Generated == nil; interpreted != (i == 0) {
					t.Errorf("%s\nwith %d statements: interpreted: %v, %s", text, statements, interpreted, m.Loops().Notes)
				}
				models[i] = m
			}
			for _, at := range []float64{1.5, 3} {
				var got [2][]float64
				for i, m := range models {
					out := make([]float64, 2+len(m.OutputNames()))
					lp, err := m.LogDensityGrad([]float64{math.Log(at)}, out[1:2])
					if err == nil {
						err = m.Generate([]float64{math.Log(at)}, nil, out[2:])
					}
					if err != nil {
						t.Fatalf("%s\nat %v: %v", text, at, err)
					}
					out[0], got[i] = lp, out
				}
				for k, want := range got[1] {
					if d := math.Abs(got[0][k] - want); !(d <= 1e-9*math.Max(1, math.Abs(want))) {
						t.Errorf("%s\nat %v: %v, and %v by graphs", text, at, got[0], got[1])
						break
					}
				}
			}
		}
	}
}
