package ir_test

import (
	"testing"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

// TestAccumulated checks which loops that accumulate in an element have a second form, in which a
// variable replaces the element: those whose inner loop provably reads only other elements.
func TestAccumulated(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"earlier elements", "x[t] = y[t]; for (q in 1:min(t - 1, Q)) x[t] -= b * x[t - q];", true},
		{"written as a sum", "x[t] = y[t]; for (q in 1:t - 1) x[t] = x[t] + b * x[t - q];", true},
		{"up to the one before", "x[t] = y[t]; for (u in 1:t - 1) x[t] += x[u] * y[t - u];", true},
		{"from the one after", "x[t] = y[t]; for (u in max(2, t + 1):T) x[t] += x[u];", true},
		{"a fixed distance", "x[t] = y[t]; for (q in 1:Q) x[t] += x[t - 1] * q;", true},
		{"another row", "m[1, t] = y[t]; for (q in 1:Q) m[1, t] += m[2, t];", true},
		{"two loops", "m[t, 1] = y[t]; for (q in 1:Q) for (u in 1:t - 1) m[t, 1] += m[u, q];", true},
		{"a condition", "x[t] = y[t]; for (q in 1:Q) if (y[q] > 0) x[t] += b;", true},
		{"its size", "x[t] = y[t]; for (q in 1:rows(x)) x[t] += y[q];", true},
		{"from 0", "x[t] = y[t]; for (q in 0:Q) x[t] -= b * x[t - q];", false},
		{"up to itself", "x[t] = y[t]; for (u in 1:t) x[t] += x[u];", false},
		{"a computed element", "x[t] = y[t]; for (u in 1:t - 1) x[t] += x[g[u]];", false},
		{"two loop variables", "x[t] = y[t]; for (q in 1:Q) for (u in 1:Q) x[t] += x[t - q - u + 5];", false},
		{"twice the distance", "x[t] = y[t]; for (q in 1:Q) x[t] += x[t - 2 * q];", false},
		{"the whole", "x[t] = y[t]; for (q in 1:Q) x[t] += sum(x);", false},
		{"a slice", "x[t] = y[t]; for (q in 1:Q) x[t] += sum(x[1:q]);", false},
		{"other assignments", "x[t] = y[t]; for (q in 1:Q) { x[t] += b; x[q] = b; }", false},
		{"an index that changes", "x[t] = y[t]; for (q in 1:Q) { int i = q; x[i] += b; }", false},
		{"another element before", "x[1] = y[t]; for (q in 1:Q) x[t] += b;", false},
		{"a statement between", "x[t] = y[t]; b2 = x[t]; for (q in 1:Q) x[t] += b;", false},
		{"no sum", "x[t] = y[t]; for (q in 1:Q) x[t] = b * x[t - q];", false},
	} {
		f, diags := lang.Parse(source.NewFile("m.stan", `data { int T; int Q; vector[T] y; array[T] int g; }
parameters { real b; }
model { real b2; vector[T] x; matrix[T, T] m; for (t in 1:T) { `+c.body+` } }`))
		info, more := check.Check(f, stdlib.Language())
		if diags = append(diags, more...); diags.HasErrors() {
			t.Fatalf("%s: %v", c.name, diags)
		}
		p := ir.Lower(f, info, stdlib.Language())
		if err := p.Verify(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		got := false
		for _, s := range p.Model {
			if f, ok := s.(*ir.For); ok {
				got = f.Accumulated != nil
			}
		}
		if got != c.want {
			t.Errorf("%s: a second form: %v, want %v", c.name, got, c.want)
		}
	}
}
