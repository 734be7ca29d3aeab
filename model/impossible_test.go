package model_test

import (
	"testing"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/model"
)

// TestImpossibleInLoops checks that Bind refuses data that no parameter values make possible, also
// in a loop that carries a value, in a branch that data decide, and in a function. It must not
// refuse them in a branch that parameters decide, which may never be taken.
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

// TestImpossibleInterpreted checks that Bind refuses such data also if the log density is
// interpreted because another statement requires it. It must not refuse them if the statement
// depends on such a statement.
func TestImpossibleInterpreted(t *testing.T) {
	const prefix = `functions {
  real halves(real x) { return abs(x) < 0.1 ? 0 : 1 + halves(x / 2); }
  real f(int y, int n, real p) { return binomial_lpmf(y | n, p); }
}
data { int N; array[N] int n; array[N] int y; }
parameters { real<lower=0, upper=1> p; real a; }
`
	const size = "int k = 1; while (k < N && k < exp(a)) k += 1; vector[k] v = rep_vector(a, k); target += sum(v); "
	const n = 60
	count, y := make([]int, n), make([]int, n)
	for i := range count {
		count[i], y[i] = 3, i%3
	}
	y[40] = 5
	for name, c := range map[string]struct {
		text     string
		possible bool
	}{
		"before":           {text: "model { y ~ binomial(n, p); target += halves(a); }"},
		"after":            {text: "model { target += halves(a); y ~ binomial(n, p); }"},
		"sizes":            {text: "model { " + size + "y ~ binomial(n, p); }"},
		"block":            {text: "model { {" + size + "} y ~ binomial(n, p); }"},
		"transformed":      {text: "transformed parameters { real b = halves(a); } model { b ~ normal(0, 1); y ~ binomial(n, p); }"},
		"loop":             {text: "model { for (i in 1:N) { target += halves(a * i); y[i] ~ binomial(n[i], p); } }"},
		"loop of sizes":    {text: "model { for (i in 1:N) { " + size + "y[i] ~ binomial(n[i], p); } }"},
		"function":         {text: "model { for (i in 1:N) { " + size + "target += f(y[i], n[i], p); } }"},
		"several":          {text: "model { target += halves(a); target += halves(p); { " + size + "} y ~ binomial(n, p); }"},
		"reject":           {text: `model { target += halves(a); if (N > 3) reject("too many"); }`},
		"of parameters":    {text: "model { target += halves(a); if (a > 0) y ~ binomial(n, p); }", possible: true},
		"of the unknown":   {text: "model { real h = halves(a); if (h > 3) y ~ binomial(n, p); }", possible: true},
		"of unknown loops": {text: "model { " + size + "for (i in 1:k) y[i] ~ binomial(n[i], p); }", possible: true},
		"of a jump":        {text: "model { for (i in 1:N) { real h = halves(a); if (h < 9) break; y[i] ~ binomial(n[i], p); } }", possible: true},
		"of the target":    {text: "model { target += halves(a); if (target() > 0) y ~ binomial(n, p); }", possible: true},
		"assigned later":   {text: "model { real h = 0; for (i in 1:N) { if (h > 3) y[i] ~ binomial(n[i], p); h += halves(a); } }", possible: true},
	} {
		m, err := model.Compile("m.model", prefix+c.text)
		if err != nil {
			t.Fatal(name, err)
		}
		data := map[string]any{"N": n, "n": count, "y": y}
		_, err = m.Bind(data)
		list := model.Diagnostics(err)
		if refused := len(list) == 1 && list[0].Code == diag.Impossible; refused == c.possible {
			t.Errorf("%s: %v", name, err)
		}
		p, err := m.BindContext(t.Context(), data, model.BindOptions{AllowImpossible: true})
		if err != nil || !p.Compiled().Interpreted() {
			t.Errorf("%s: not interpreted: %v", name, err)
		}
	}
}
