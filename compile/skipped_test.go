package compile

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
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
	for _, statements := range skipped {
		prog, list := Compile(source.NewFile("skipped.stan", strings.Replace(text, "STATEMENTS", statements, 1)))
		if prog == nil {
			t.Fatal(list)
		}
		m, err := prog.Bind(set, BindOptions{Statements: 20e6, Memory: 500e6})
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
