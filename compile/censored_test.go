package compile

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// censoredCases are programs for censored data, each with the program that says the same by hand.
var censoredCases = []struct{ name, program, values, byHand, handValues string }{
	{"limits on both sides",
		`data { int N; vector[N] x; real lod; vector<lower=0, censored_below=lod, censored_above=10>[N] y; } parameters { real a; real<lower=0> s; }
		model { y ~ normal(a + x, s); }`,
		`{"N": 7, "x": [1, 2, 3, 4, 5, 6, 7], "lod": 1.5, "y": [1.5, 0, 3, 5, 10, 1e9, "Inf"]}`,
		`data { int N; vector[N] x; vector[2] y; } parameters { real a; real<lower=0> s; }
		model { y ~ normal(a + x[3:4], s); target += normal_lcdf(1.5 | a + x[1:2], s) + normal_lccdf(10 | a + x[5:7], s); }`,
		`{"N": 7, "x": [1, 2, 3, 4, 5, 6, 7], "y": [3, 5]}`},
	{"a limit for each value",
		`data { int N; vector[N] lod; vector<censored_below=lod>[N] y; } parameters { real a; real<lower=0> s; } model { target += lognormal_lpdf(y | a, s) - a^2; }`,
		`{"N": 3, "lod": [1, 2, 3], "y": [1.5, 2, 0]}`,
		`parameters { real a; real<lower=0> s; } model { target += lognormal_lpdf(1.5 | a, s) + lognormal_lcdf([2, 3] | a, s) - a^2; }`, `{}`},
	{"sides, of a part of the rows",
		`data { int N; array[N] int cens; array[N] real<censored=cens> y; array[2] int at; } parameters { array[2] real<lower=0> k; real<lower=0> s; }
		model { y[at] ~ weibull(k, s); y[3:] ~ weibull(2, s); y[:1] ~ weibull(k[1], s); }`,
		`{"N": 4, "cens": [0, 1, -1, 1], "y": [1, 2, 3, 4], "at": [2, 1]}`,
		`parameters { array[2] real<lower=0> k; real<lower=0> s; }
		model { 1 ~ weibull(k[2], s); target += weibull_lccdf(2 | k[1], s) + weibull_lcdf(3 | 2, s) + weibull_lccdf(4 | 2, s); 1 ~ weibull(k[1], s); }`, `{}`},
	{"intervals",
		`data { int N; vector[N] hi; vector<censored_to=hi>[N] lo; } parameters { real a; real<lower=0> s; } model { for (n in 1:N) lo[n] ~ logistic(a, s); }`,
		`{"N": 5, "lo": [1, "-Inf", 2, -3, 0], "hi": [2, 1, "Inf", -3, 0.5]}`,
		`parameters { real a; real<lower=0> s; } model { -3 ~ logistic(a, s); target += log_diff_exp(logistic_lcdf(2 | a, s), logistic_lcdf(1 | a, s))
		+ log_diff_exp(logistic_lcdf(0.5 | a, s), logistic_lcdf(0 | a, s)) + logistic_lcdf(1 | a, s) + logistic_lccdf(2 | a, s); }`, `{}`},
	{"intervals from the end of the support, and sides",
		`data { int N; array[N] int cens; vector[N] hi; vector<lower=0, censored=cens, censored_to=hi>[N] lo; } parameters { real<lower=0> a; real<lower=0> s; } model { lo ~ weibull(a, s); }`,
		`{"N": 4, "cens": [2, 2, 1, 0], "lo": [0, 1, 2, 3], "hi": [2, 1.5, 0, 0]}`,
		`parameters { real<lower=0> a; real<lower=0> s; } model { 3 ~ weibull(a, s); target += weibull_lcdf(2 | a, s) + weibull_lccdf(2 | a, s) +
		log_diff_exp(weibull_lcdf(1.5 | a, s), weibull_lcdf(1 | a, s)); }`, `{}`},
	{"counts",
		`data { int N; array[N] int<lower=0, censored_below=1, censored_above=8> y; array[N] int up; array[N] int<censored_to=up> z; } parameters { real<lower=0> mu; real<lower=0> phi; }
		model { y ~ poisson(mu); z ~ neg_binomial_2(mu, phi); }`,
		`{"N": 4, "y": [0, 1, 5, 12], "z": [2, 0, 3, 7], "up": [2, 4, 5, 7]}`,
		`parameters { real<lower=0> mu; real<lower=0> phi; } model { 5 ~ poisson(mu); {2, 7} ~ neg_binomial_2(mu, phi); target += 2 * poisson_lcdf(1 | mu) + poisson_lccdf(7 | mu)
		+ neg_binomial_2_lcdf(4 | mu, phi) + log_diff_exp(neg_binomial_2_lcdf(5 | mu, phi), neg_binomial_2_lcdf(2 | mu, phi)); }`, `{}`},
	{"one number",
		`data { int<censored_above=3> k; real<censored_below=0> y; } parameters { real<lower=0, upper=1> p; real a; } model { k ~ binomial(5, p); target += normal_lupdf(y | a, 1); }`,
		`{"k": 4, "y": -1}`, `parameters { real<lower=0, upper=1> p; real a; } model { target += binomial_lccdf(2 | 5, p) + normal_lcdf(0 | a, 1); }`, `{}`},
	{"no values", `data { int N; vector<censored_below=0>[N] y; } parameters { real a; } model { y ~ normal(a, 1); a ~ normal(0, 1); }`,
		`{"N": 0, "y": []}`, `parameters { real a; } model { a ~ normal(0, 1); }`, `{}`},
	{"rows of a matrix and of an array", `data { int N; matrix<censored_below=0>[N, 2] y; array[N] vector<censored_above=2>[2] z; } parameters { vector[2] a; }
		model { for (n in 1:N) { y[n] ~ normal(a, 1); z[n] ~ normal(a, n); } y[, 2] ~ cauchy(a, 3); }`,
		`{"N": 2, "y": [[1, -1], [0, 2]], "z": [[1, 2], [3, -1]]}`,
		`parameters { vector[2] a; } model { 1 ~ normal(a[1], 1); 2 ~ normal(a[2], 1); 1 ~ normal(a[1], 1); -1 ~ normal(a[2], 2); 2 ~ cauchy(a[2], 3);
		target += normal_lcdf(0 | a[2], 1) + normal_lcdf(0 | a[1], 1) + normal_lccdf(2 | a[2], 1) + normal_lccdf(2 | a[1], 2) + cauchy_lcdf(0 | a[1], 3); }`, `{}`},
	{"a mixture", `data { int N; vector<lower=0, censored_above=5>[N] y; } parameters { real<lower=0, upper=1> w; real<lower=0> b; }
		model { for (n in 1:N) target += log_mix(w, exponential_lpdf(y[n] | b), gamma_lpdf(y[n] | 2, b)); }`,
		`{"N": 2, "y": [1, 5]}`, `parameters { real<lower=0, upper=1> w; real<lower=0> b; }
		model { target += log_mix(w, exponential_lpdf(1 | b), gamma_lpdf(1 | 2, b)) + log_mix(w, exponential_lccdf(5 | b), gamma_lccdf(5 | 2, b)); }`, `{}`},
	{"a distribution of the program", `functions { real tri_lpdf(real y, real b) { return log(2 * y) - 2 * log(b); } real tri_lcdf(real y, real b) { return 2 * log(y / b); } real tri_lccdf(real y, real b) { return log1m((y / b)^2); } }
		data { int N; vector<lower=0, censored_above=1>[N] y; } parameters { real<lower=2> b; } model { for (n in 1:N) y[n] ~ tri(b); }`,
		`{"N": 2, "y": [0.5, 1]}`, `parameters { real<lower=2> b; } model { target += log(2 * 0.5) - 2 * log(b) + log1m((1 / b)^2); }`, `{}`},
	{"a lower bound of truncation",
		`data { int N; vector[N] x; vector<lower=0, censored_below=1, censored_above=5>[N] y; } parameters { real a; real<lower=0> s; }
		model { y ~ normal(a + x, s) T[0, ]; }`,
		`{"N": 3, "x": [1, 2, 3], "y": [1, 2, 6]}`,
		`parameters { real a; real<lower=0> s; } model { 2 ~ normal(a + 2, s); target += log_diff_exp(normal_lcdf(1 | a + 1, s), normal_lcdf(0 | a + 1, s)) + normal_lccdf(5 | a + 3, s)
		- normal_lccdf(0 | a + [1, 2, 3], s); }`, `{}`},
	{"an upper bound of truncation, a parameter",
		`data { int N; array[N] int cens; vector[N] hi; vector<censored=cens, censored_to=hi>[N] y; } parameters { real a; real<lower=0> s; real<lower=6> u; }
		model { for (n in 1:N) y[n] ~ logistic(a, s) T[, u]; }`,
		`{"N": 4, "cens": [-1, 0, 1, 2], "y": [1, 2, 3, 4], "hi": [0, 0, 0, 5]}`,
		`parameters { real a; real<lower=0> s; real<lower=6> u; } model { 2 ~ logistic(a, s); target += logistic_lcdf(1 | a, s) + log_diff_exp(logistic_lcdf(u | a, s), logistic_lcdf(3 | a, s))
		+ log_diff_exp(logistic_lcdf(5 | a, s), logistic_lcdf(4 | a, s)) - 4 * logistic_lcdf(u | a, s); }`, `{}`},
	{"truncation within intervals and limits",
		`data { int N; vector[N] hi; vector<censored_to=hi>[N] y; real<censored_below=9> z; } parameters { real a; real<lower=0> s; } model { y ~ gamma(exp(a), s) T[1, 4]; z ~ gamma(2, s) T[1, 4]; }`,
		`{"N": 5, "y": [0.5, 2, 3, 2.5, "-Inf"], "hi": [2, 3, 7, 2.5, 3], "z": 0}`,
		`parameters { real a; real<lower=0> s; } model { 2.5 ~ gamma(exp(a), s);
		target += log_diff_exp(gamma_lcdf(2 | exp(a), s), gamma_lcdf(1 | exp(a), s)) + log_diff_exp(gamma_lcdf(3 | exp(a), s), gamma_lcdf(2 | exp(a), s))
		+ log_diff_exp(gamma_lcdf(4 | exp(a), s), gamma_lcdf(3 | exp(a), s)) + log_diff_exp(gamma_lcdf(3 | exp(a), s), gamma_lcdf(1 | exp(a), s))
		- 5 * log_diff_exp(gamma_lcdf(4 | exp(a), s), gamma_lcdf(1 | exp(a), s)); }`, `{}`},
	{"truncated counts",
		`data { int N; array[N] int<lower=1, censored_below=2, censored_above=6> y; } parameters { real<lower=0> mu; } model { y ~ poisson(mu) T[1, ]; y ~ poisson(2 * mu) T[, 8]; y[3:] ~ poisson(3 * mu) T[2, 6]; }`,
		`{"N": 4, "y": [1, 7, 2, 4]}`,
		`parameters { real<lower=0> mu; } model { 4 ~ poisson(mu); 4 ~ poisson(2 * mu); 4 ~ poisson(3 * mu);
		target += 2 * log_diff_exp(poisson_lcdf(2 | mu), poisson_lcdf(0 | mu)) + poisson_lccdf(5 | mu) - 4 * poisson_lccdf(0 | mu);
		target += 2 * poisson_lcdf(2 | 2 * mu) + log_diff_exp(poisson_lcdf(8 | 2 * mu), poisson_lcdf(5 | 2 * mu)) - 4 * poisson_lcdf(8 | 2 * mu);
		target += log_diff_exp(poisson_lcdf(2 | 3 * mu), poisson_lcdf(1 | 3 * mu)) - 2 * log_diff_exp(poisson_lcdf(6 | 3 * mu), poisson_lcdf(1 | 3 * mu)); }`, `{}`},
	{"discrete parameters", `data { int N; vector<censored_below=0>[N] y; } parameters { vector[2] mu; array[N] int<lower=1, upper=2> z; }
		model { for (n in 1:N) { z[n] ~ categorical([0.3, 0.7]'); y[n] ~ normal(mu[z[n]], 1); } }`, `{"N": 2, "y": [1, 0]}`,
		`parameters { vector[2] mu; } model { target += log_sum_exp(log(0.3) + normal_lpdf(1 | mu[1], 1), log(0.7) + normal_lpdf(1 | mu[2], 1)) + log_mix(0.3, normal_lcdf(0 | mu[1], 1), normal_lcdf(0 | mu[2], 1)); }`, `{}`},
}

// TestCensored compares programs for censored data with those by hand, and with their own text
// without the declarations: log density and gradient.
func TestCensored(t *testing.T) {
	for _, c := range censoredCases {
		t.Run(c.name, func(t *testing.T) {
			for _, plain := range []bool{false, true} {
				o := BindOptions{NoPropto: plain}
				got, want := boundTo(t, c.program, c.values, o), boundTo(t, c.byHand, c.handValues, o)
				text := got.Stan()
				if p, list := CompileWith(source.NewFile("stan.stan", text), Options{StanOnly: true}); p == nil && c.name != "discrete parameters" {
					t.Fatalf("%v\n%s", list, text)
				}
				stan := boundTo(t, text, c.values, o)
				rng := rand.New(rand.NewPCG(1, 2))
				for range 5 {
					x := make([]float64, want.Dim())
					for i := range x {
						x[i] = rng.NormFloat64()
					}
					g, h := make([]float64, len(x)), make([]float64, len(x))
					lp, err := got.LogDensityGrad(x, g)
					if err != nil {
						t.Fatal(err)
					}
					same := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(b)) }
					for _, other := range []*Model{want, stan} {
						lq, err := other.LogDensityGrad(x, h)
						if err != nil || !same(lp, lq) || !slices.EqualFunc(g, h, same) {
							t.Errorf("at %v: log density %v and gradient %v, want %v and %v: %v\n%s", x, lp, g, lq, h, err, text)
						}
					}
					if a, err := got.Agree(x, rng, time.Minute); err != nil || a.Wrong() {
						t.Errorf("the engines differ: %v %v", a, err)
					}
				}
			}
		})
	}
}

// TestCensoredRefused checks the messages about data that contradict their declaration.
func TestCensoredRefused(t *testing.T) {
	for _, c := range []struct{ declared, values, want string }{
		{"int N; array[N] int cens; vector<censored=cens>[N] y;", `{"N": 2, "cens": [0, 2], "y": [1, 2]}`, "cens[2] is 2, which is none of -1"},
		{"int N; array[N] int cens; vector[N] to; vector<censored=cens, censored_to=to>[N] y;", `{"N": 2, "cens": [0, 2], "y": [1, 2], "to": [0, 1]}`, "y[2] is 2, above the end of its interval"},
		{"int N; vector[N] to; vector<censored_to=to>[N] y;", `{"N": 2, "y": [1, 2], "to": [1, "NaN"]}`, "y[2] is 2, above the end of its interval"},
		{"int N; vector[2] lod; vector<censored_below=lod>[N] y;", `{"N": 3, "y": [1, 2, 3], "lod": [1, 2]}`, "index"},
	} {
		p, list := Compile(source.NewFile("m.stan", "data { "+c.declared+" } parameters { real a; } model { y ~ normal(a, 1); }"))
		if p == nil {
			t.Fatal(list)
		}
		set, err := data.ParseJSON("data.json", []byte(c.values))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Bind(set, BindOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: %v, want %q", c.declared, c.values, err, c.want)
		}
	}
}
