package model_test

import (
	"testing"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/model"
)

// Bind refuses data that no parameters make possible also where the statement is in a loop that
// carries a value, in a branch that data decide, or in a function; a branch that parameters decide
// may never be taken.
func TestImpossibleInLoops(t *testing.T) {
	const n = 300
	count, y := make([]int, n), make([]int, n)
	for i := range count {
		count[i], y[i] = 3, i%3
	}
	y[200] = 5
	data := map[string]any{"N": n, "n": count, "y": y, "flag": 1}
	for name, c := range map[string]struct {
		body     string
		possible bool
	}{
		"scan":            {body: "y[i] ~ binomial(n[i], inv_logit(z));"},
		"branch":          {body: "if (flag == 1) y[i] ~ binomial(n[i], inv_logit(z));"},
		"branch, element": {body: "if (y[i] > 3) y[i] ~ binomial(n[i], inv_logit(z));"},
		"function":        {body: "target += f(y[i], n[i], inv_logit(z));"},
		"other branch":    {body: "if (flag == 0) y[i] ~ binomial(n[i], inv_logit(z));", possible: true},
		"of parameters":   {body: "if (a > 0) y[i] ~ binomial(n[i], inv_logit(z));", possible: true},
	} {
		m, err := model.Compile("m.model", `functions { real f(int y, int n, real p) { return binomial_lpmf(y | n, p); } }
data { int N; array[N] int n; array[N] int y; int flag; }
parameters { real a; }
model { a ~ normal(0, 1); real z = 0; for (i in 1:N) { z = sin(z) + a; `+c.body+` } }`)
		if err != nil {
			t.Fatal(name, err)
		}
		_, err = m.Bind(data)
		list := model.Diagnostics(err)
		if refused := len(list) == 1 && list[0].Code == diag.Impossible; refused == c.possible {
			t.Errorf("%s: %v", name, err)
		}
	}
}
