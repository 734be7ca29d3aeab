package predict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/model/predict"
)

// TestSummaries checks which expressions are recognised as computed from all rows: those on which
// expected values depend, in any form, and no others.
func TestSummaries(t *testing.T) {
	const data = `data { int N; int K; int J; vector[N] x; matrix[N, K] X; array[N] vector[K] A; array[K] vector[N] C; vector[J] w; array[N] int g; vector[N] y; }`
	const parameters = `parameters { real a; real b; vector[K] B; vector[J] u; real<lower=0> s; }`
	for name, c := range map[string]struct {
		functions, transformed, model string // model: the mean of y, or statements
		want                          string // the summaries, each with its variables
	}{
		"mean":                 {"", "vector[N] xc = x - mean(x);", "a + b * xc", "mean(x) of x"},
		"in steps":             {"", "real m; vector[N] xc; m = mean(x); xc = x - m;", "a + b * xc", "mean(x) of x"},
		"mean and sd":          {"", "vector[N] z = (x - mean(x)) / sd(x);", "a + b * z", "mean(x) of x; sd(x) of x"},
		"in the model":         {"", "", "a + b * (x - max(x))", "max(x) of x"},
		"of what follows":      {"", "vector[N] z = log(x); vector[N] zc = z - mean(z);", "a + b * zc", "mean(z) of x"},
		"of elements":          {"", "vector[N] z; for (n in 1:N) z[n] = log(x[n]);", "a + b * (z - mean(z))", "mean(z) of x"},
		"as brms writes":       {"", "matrix[N, K] Z; vector[K] m; for (k in 1:K) { m[k] = mean(X[, k]); Z[, k] = X[, k] - m[k]; }", "a + Z * B", "mean(X[, k]) of X"},
		"columns of an array":  {"", "array[K] vector[N] Z; for (k in 1:K) Z[k] = C[k] - mean(C[k]);", "a + b * Z[1]", "mean(C[k]) of C"},
		"QR":                   {"", "matrix[N, K] Q = qr_thin_Q(X) * sqrt(N - 1);", "a + Q * B", "N of N; qr_thin_Q(X) of X"},
		"numbers of rows":      {"", "vector[N] t; for (n in 1:N) t[n] = n * 1.0 / (N - 1);", "a + b * t / sqrt(N)", "N of N; N of N"},
		"sums by group":        {"", "vector[J] m = rep_vector(0, J); for (n in 1:N) m[g[n]] += x[n];", "a + m[g]", "m[g[n]] += x[n]; of x, g"},
		"in other places":      {"", "vector[N] z; for (n in 1:N) z[g[n]] = x[n];", "a + z", ""},
		"by hand":              {"", "real m = 0; for (n in 1:N) m += x[n] / N;", "a + b * (x - m)", "N of N; m += x[n] / N; of x"},
		"largest by hand":      {"", "real m = 0; for (n in 1:N) { real v = x[n]; if (v > m) m = v; }", "a + b * (x / m)", "m = v; of x"},
		"by a product":         {"", "real m = x' * x;", "a + b * (x / m)", "x' * x of x"},
		"function":             {"vector f(vector v) { return v - mean(v); }", "vector[N] z = f(x);", "a + b * z", "f(x) of x"},
		"function with a loop": {"real f(vector v) { real m = 0; for (n in 1:size(v)) m += v[n]; return m; } vector h(real c, vector v) { return c * (v - f(v)); }", "", "a + b * h(2, x)", "h(2, x) of x"},
		"condition":            {"", "", "for (n in 1:N) { if (x[n] > mean(x)) y[n] ~ normal(a, s); else y[n] ~ normal(b, s); }", "mean(x) of x"},
		"groups":               {"", "", "a + (u + b * (w - mean(w)))[g]", "mean(w) of w"},
		"density of one's own": {"real d_lpdf(vector v, vector z, real b) { return normal_lpdf(v | b * z, 1); } vector d_mean(vector z, real b) { return b * (z - mean(z)); }", "", "y ~ d(x, b);", "y ~ d(x, b); of x"},

		"whole numbers of rows": {"", "int h = N %/% 2;", "a + b * x[h] + rep_vector(0, N)", ""},
		"priors only":           {"", "", "a ~ normal(mean(y), 2 * sd(y)); b ~ normal(0, 1 / sd(x)); y ~ normal(a + b * x, s);", ""},
		"sizes":                 {"", "int G = max(g); vector[G] z = rep_vector(0, G);", "a + b * x", ""},
		"rows of a matrix":      {"", "vector[N] z; for (n in 1:N) z[n] = mean(X[n]);", "a + b * z", ""},
		"rows of an array":      {"", "vector[N] z; for (n in 1:N) z[n] = sum(A[n]);", "a + b * z", ""},
		"row sums by hand":      {"", "vector[N] z = rep_vector(0, N); for (n in 1:N) for (k in 1:K) z[n] += X[n, k];", "a + b * z", ""},
		"one row's sum by hand": {"", "vector[N] z; for (n in 1:N) { real t = 0; for (k in 1:K) t += X[n, k]; z[n] = t; }", "a + b * z", ""},
		"running sums":          {"", "vector[N] z; real t = 0; for (n in 1:N) { t += x[n]; z[n] = t; }", "a + b * z", ""},
		"parameters":            {"", "", "a + x * mean(u) + sum(x .* x * b) * 0", ""},
		"function of rows":      {"real f(row_vector v, vector c) { return v * c / sum(c); }", "", "for (n in 1:N) y[n] ~ normal(a + f(X[n], B), s);", ""},
		"product of a row":      {"", "", "for (n in 1:N) y[n] ~ normal(a + X[n] * B + dot_product(X[n], B), s);", ""},
	} {
		t.Run(name, func(t *testing.T) {
			model := c.model
			if !strings.Contains(model, "~") {
				model = "y ~ normal(" + model + ", s);"
			}
			text := data + " transformed data { " + c.transformed + " } " + parameters + " model { " + model + " }"
			if c.functions != "" {
				text = "functions { " + c.functions + " } " + text
			}
			var got []string
			for _, s := range predict.Summaries(compiled(t, text), predict.Expected, predict.Options{}) {
				got = append(got, s.Text+" of "+strings.Join(s.Of, ", "))
			}
			slices.Sort(got)
			if g := strings.Join(got, "; "); g != c.want {
				t.Errorf("%q, not %q", g, c.want)
			}
		})
	}
}

// TestGeneratedSummaries checks which summaries of the data generated quantities combine with
// parameters. Statistics of the data alone keep their meaning for new data.
func TestGeneratedSummaries(t *testing.T) {
	const model = `data { int N; int K; vector[N] x; matrix[N, K] X; vector[N] y; } transformed data { real m = mean(x); vector[N] xc = x - m; }
parameters { real a; real b; } transformed parameters { vector[N] mu = a + b * xc; } model { y ~ normal(a, 1); } `
	for name, c := range map[string]struct{ text, want string }{
		"written out":            {"vector[N] z = a + b * (x - mean(x));", "mean(x) of x"},
		"in steps":               {"vector[N] c = x / sd(x); vector[N] z; z = b * c;", "sd(x) of x"},
		"transformed data":       {"vector[N] z = b * xc;", "mean(x) of x"},
		"transformed parameters": {"array[N] real z = normal_rng(mu, 1);", "mean(x) of x"},
		"in a loop":              {"vector[N] z; for (n in 1:N) z[n] = b * (x[n] - max(x));", "max(x) of x"},
		"in a block":             {"real z; { vector[N] c = x - min(x); z = b * c[1]; }", "min(x) of x"},

		"of the data alone": {"real z = mean(x); real w = sd(y) + a * 0;", "sd(y) of y"},
		"of parameters":     {"real z = mean(a + b * x);", ""},
		"rows":              {"vector[N] z; for (n in 1:N) z[n] = a * sum(X[n]);", ""},
		"sizes":             {"vector[size(x)] z = a + b * x;", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range predict.GeneratedSummaries(compiled(t, model+"generated quantities { "+c.text+" }")) {
				got = append(got, s.Text+" of "+strings.Join(s.Of, ", "))
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if got := predict.GeneratedSummaries(compiled(t, model)); got != nil {
		t.Errorf("without generated quantities: %v", got)
	}
}
