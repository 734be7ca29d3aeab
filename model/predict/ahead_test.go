package predict_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/model/predict"
)

const series = "data { int T; vector[T] y; } "

// forecasts are models with two known rows of four, and the program that one would write by hand.
var forecasts = []struct {
	name, head, model string
	grown             []predict.Grown
	params, hand      string // parameters and generated quantities by hand
}{
	{name: "random walk", head: series + "parameters { real<lower=0> s; vector[T] x; }", model: "x[1] ~ std_normal(); for (t in 2:T) x[t] ~ normal(x[t - 1], s); y ~ normal(x, 0.5);",
		grown: []predict.Grown{{Name: "x", Shape: []int{2}, Known: []int{2}}}, params: "real<lower=0> s; vector[2] x_;",
		hand: "real a = normal_rng(x_[2], s); real b = normal_rng(a, s); y_rep[3] = normal_rng(a, 0.5); y_rep[4] = normal_rng(b, 0.5);"},
	{name: "without a loop", head: series + "parameters { real<lower=0> s; vector[T] x; }", model: "x[1] ~ std_normal(); x[2:T] ~ normal(0.9 * x[1:(T - 1)], s); y ~ normal(x, 0.5);",
		grown: []predict.Grown{{Name: "x", Shape: []int{2}, Known: []int{2}}}, params: "real<lower=0> s; vector[2] x_;",
		hand: "real a = normal_rng(0.9 * x_[2], s); real b = normal_rng(0.9 * a, s); y_rep[3] = normal_rng(a, 0.5); y_rep[4] = normal_rng(b, 0.5);"},
	{name: "innovations", head: series + "parameters { real<lower=0> s; vector[T - 1] z; } transformed parameters { vector[T] x; x[1] = 1; for (t in 2:T) x[t] = x[t - 1] + s * z[t - 1]; }",
		model: "z ~ std_normal(); y ~ normal(x, 0.5);", grown: []predict.Grown{{Name: "z", Shape: []int{1}, Known: []int{1}}}, params: "real<lower=0> s; vector[1] z_;",
		hand: "real a = 1 + s * z_[1] + s * std_normal_rng(); real b = a + s * std_normal_rng(); y_rep[3] = normal_rng(a, 0.5); y_rep[4] = normal_rng(b, 0.5);"},
	{name: "sums", head: series + "parameters { real<lower=0> s; vector[T] z; }", model: "z ~ std_normal(); y ~ normal(cumulative_sum(s * z), 0.5);"},
	{name: "sums of a variable", head: series + "parameters { vector[T] z; }", model: "z ~ std_normal(); y ~ normal(cumulative_sum(z), 0.5);",
		grown: []predict.Grown{{Name: "z", Shape: []int{2}, Known: []int{2}}}, params: "vector[2] z_;",
		hand: "real a = z_[1] + z_[2] + std_normal_rng(); real b = a + std_normal_rng(); y_rep[3] = normal_rng(a, 0.5); y_rep[4] = normal_rng(b, 0.5);"},
	{name: "autoregression", head: series + "parameters { real a; real<lower=0> s; }", model: "for (t in 2:T) y[t] ~ normal(a * y[t - 1], s);", params: "real a; real<lower=0> s;",
		hand: "y_rep[3] = normal_rng(a * y[2], s); y_rep[4] = normal_rng(a * y_rep[3], s);"},
	{name: "autoregression without a loop", head: series + "parameters { real a; real<lower=0> s; }", model: "y[2:T] ~ normal(a * y[1:(T - 1)], s);", params: "real a; real<lower=0> s;",
		hand: "y_rep[3] = normal_rng(a * y[2], s); y_rep[4] = normal_rng(a * y_rep[3], s);"},
	{name: "errors", head: series + "parameters { real a; real<lower=0> s; }", params: "real a; real<lower=0> s;",
		model: "vector[T] e; e[1] = y[1]; for (t in 2:T) { y[t] ~ normal(a * e[t - 1], s); e[t] = y[t] - a * e[t - 1]; }",
		hand:  "real e = y[2] - a * y[1]; y_rep[3] = normal_rng(a * e, s); e = y_rep[3] - a * e; y_rep[4] = normal_rng(a * e, s);"},
	{name: "from the row before", head: series + "parameters { real<lower=0> s; vector[T] x; }", model: "x[1] ~ std_normal(); for (t in 1:(T - 1)) x[t + 1] ~ normal(x[t], s); y ~ normal(x, 0.5);",
		grown: []predict.Grown{{Name: "x", Shape: []int{2}, Known: []int{2}}}, params: "real<lower=0> s; vector[2] x_;",
		hand: "real a = normal_rng(x_[2], s); real b = normal_rng(a, s); y_rep[3] = normal_rng(a, 0.5); y_rep[4] = normal_rng(b, 0.5);"},
	{name: "seasons", head: series + "parameters { real<lower=0> s; vector[T] x; }", model: "for (t in 1:T) { if (t < 3) x[t] ~ normal(0, 3); else x[t] ~ normal(-sum(x[(t - 2):(t - 1)]), s); } y ~ normal(x, 0.5);",
		grown: []predict.Grown{{Name: "x", Shape: []int{2}, Known: []int{2}}}, params: "real<lower=0> s; vector[2] x_;",
		hand: "real a = normal_rng(-x_[1] - x_[2], s); real b = normal_rng(-x_[2] - a, s); y_rep[3] = normal_rng(a, 0.5); y_rep[4] = normal_rng(b, 0.5);"},
	{name: "lags", head: series + "parameters { vector[2] phi; real<lower=0> s; }", model: "for (t in 1:T) { real m = 1; for (k in 1:2) if (t > k) m += phi[k] * y[t - k]; y[t] ~ normal(m, s); }",
		params: "vector[2] phi; real<lower=0> s;",
		hand:   "y_rep[3] = normal_rng(1 + phi[1] * y[2] + phi[2] * y[1], s); y_rep[4] = normal_rng(1 + phi[1] * y_rep[3] + phi[2] * y[2], s);"},
	{name: "logarithms, and another prior", head: series + "parameters { real m; real<lower=0> s; vector<lower=0>[T] x; }", model: "m ~ normal(0, 1.0 / sqrt(T)); x[1] ~ lognormal(y[1], 1); x[2:T] ~ lognormal(log(x[1:(T - 1)]), s); y ~ lognormal(log(x), 0.5);",
		grown: []predict.Grown{{Name: "x", Shape: []int{2}, Known: []int{2}}}, params: "real m; real<lower=0> s; vector<lower=0>[2] x_;",
		hand: "real a = lognormal_rng(log(x_[2]), s); real b = lognormal_rng(log(a), s); y_rep[3] = lognormal_rng(log(a), 0.5); y_rep[4] = lognormal_rng(log(b), 0.5);"},
}

// Rows ahead are drawn as a program by hand draws them, each given those before it.
func TestAhead(t *testing.T) {
	for _, c := range forecasts {
		p := compiled(t, c.head+" model { "+c.model+" }")
		line, err := predict.TimelineOf(p)
		if c.hand == "" { // what is summed is no variable
			if !errors.Is(err, predict.ErrNoFuture) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || line.Size != "T" || line.Rows != "T" || len(line.Columns) != 2 || !line.Columns[1].Outcome || line.Columns[1].Along != 0 {
			t.Errorf("%s: %+v, %v", c.name, line, err)
			continue
		}
		d, err := predict.Derive(p, predict.Replicated, predict.Options{Grown: c.grown, NewLevels: predict.SampleNewLevels, Ahead: &predict.Ahead{Rows: "T", From: 2}})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		unset(t, d, compiled(t, series+"parameters { "+c.params+" } generated quantities { vector[T] y_rep = y; { "+c.hand+" } }"), `{"T": 4, "y": [0.5, 1, 7, 7]}`)
	}
}

// Where the text does not determine what follows, the error has the reason and the line.
func TestNoFuture(t *testing.T) {
	for _, c := range []struct{ name, program, want string }{
		{"no series", series + "parameters { real m; } model { y ~ normal(m, 1); }", "no statement connects a row"},
		{"other rows", "data { int T; int N; vector[N] y; } parameters { vector[T] x; } model { for (t in 2:T) x[t] ~ normal(x[t - 1], 1); y ~ normal(x[1], 1); }", "rows of size T follow each other"},
		{"two", "data { int T; int S; vector[T] y; vector[S] z; } parameters { real a; } model { for (t in 2:T) y[t] ~ normal(y[t - 1], 1); for (t in 2:S) z[t] ~ normal(z[t - 1], a); }", "size T and of size S"},
		{"pairs", "data { int T; matrix[T, T] K; vector[T] y; } parameters { real a; } model { for (t in 2:T) y[t] ~ normal(a * y[t - 1], K[t, t]); }", "each pair of rows (line 1)"},
		{"gaps", "data { int T; vector[T - 1] gap; vector[T] y; } parameters { real a; } model { for (t in 2:T) y[t] ~ normal(y[t - 1], a * gap[t - 1]); }", "gap has the size T - 1 (line 1)"},
		{"computed before", series + "transformed data { vector[T] z = y * 2; } parameters { real a; } model { for (t in 2:T) y[t] ~ normal(a * z[t - 1], 1); }", "later values of y are not known, whose values the transformed data block needs (line 1)"},
		{"share of the series", series + "parameters { real a; } model { for (t in 2:T) y[t] ~ normal(a * t * 1.0 / T + y[t - 1], 1); }", "line 1 computes with the number of rows, `T`"},
		{"share, computed before", series + "transformed data { int n = T - 1; vector[T] z; for (t in 1:T) z[t] = t * 1.0 / n; } parameters { real a; } model { for (t in 2:T) y[t] ~ normal(a * z[t] + y[t - 1], 1); }", "computes with the number of rows, `n`"},
		{"share of a size", series + "parameters { real a; } model { for (t in 2:T) y[t] ~ normal(a * t / size(y) + y[t - 1], 1); }", "computes with the number of rows, `size(y)`"},
		{"means in advance", series + "parameters { real a; } model { vector[T] m; m[1] = 0; for (t in 2:T) m[t] = a * y[t - 1]; y ~ normal(m, 1); }", "cannot be drawn one after another"},
	} {
		p := compiled(t, c.program)
		_, err := predict.TimelineOf(p)
		if err == nil {
			_, err = predict.Derive(p, predict.Replicated, predict.Options{Ahead: &predict.Ahead{Rows: "T", From: 2}})
		}
		if !errors.Is(err, predict.ErrNoFuture) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	grown := []predict.Grown{{Name: "x", Shape: []int{2}, Known: []int{2}}}
	p := compiled(t, series+"parameters { vector[T] x; } model { x[1] ~ std_normal(); for (t in 2:T) x[t] ~ normal(x[t - 1] + y[t - 1], 1); y ~ normal(x, 1); }")
	if _, err := predict.Derive(p, predict.Replicated, predict.Options{Grown: grown, NewLevels: predict.SampleNewLevels, Ahead: &predict.Ahead{Rows: "T", From: 2}}); !errors.Is(err, predict.ErrNoFuture) || !strings.Contains(err.Error(), "later values of x depend on values of y that are not known (line 1)") {
		t.Errorf("states that depend on outcomes: %v", err)
	}
	p = compiled(t, series+"parameters { real a; } model { for (t in 2:T) y[t] ~ normal(a * y[t - 1], 1); }")
	if _, err := predict.Derive(p, predict.Expected, predict.Options{Ahead: &predict.Ahead{Rows: "T", From: 2}}); err == nil || !strings.Contains(err.Error(), "Draw the values") {
		t.Errorf("expected values: %v", err)
	}
}
