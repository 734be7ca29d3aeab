package compile_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// countCase is a program with counts without an upper bound. The oracle is the same program with
// the bound `last` in place of none.
type countCase struct {
	name, text, data string
	last             int
	scale            float64 // of the points
	about            float64
}

func bindText(t testing.TB, text, values string) *compile.Model {
	t.Helper()
	p, list := compile.Compile(source.NewFile("m.stan", text))
	if list.HasErrors() {
		t.Fatal(list, "\n", text)
	}
	set, err := data.ParseText("data.json", values, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Bind(set, compile.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestCounts compares cut sums with much longer ones.
func TestCounts(t *testing.T) {
	for _, c := range countCases {
		t.Run(c.name, func(t *testing.T) {
			m := bindText(t, c.text, c.data)
			long := bindText(t, strings.ReplaceAll(c.text, "int<lower=0>", fmt.Sprintf("int<lower=0, upper=%d>", c.last)), c.data)
			rng := rand.New(rand.NewPCG(3, 4))
			for range 4 {
				x := make([]float64, m.Dim())
				for i := range x {
					x[i] = c.about + c.scale*(2*rng.Float64()-1)
				}
				got, want := make([]float64, len(x)), make([]float64, len(x))
				lp, err := m.LogDensityGrad(x, got)
				if err != nil {
					t.Fatalf("at %v: %v", x, err)
				}
				all, err := long.LogDensityGrad(x, want)
				if err != nil {
					t.Fatal(err)
				}
				if !near(lp, all, 1e-10) {
					t.Errorf("at %v: log density %.15g, with more values %.15g", x, lp, all)
				}
				for i := range got {
					if !near(got[i], want[i], 1e-9) {
						t.Errorf("at %v: derivative %d is %.15g, with more values %.15g", x, i, got[i], want[i])
					}
				}
				dst := make([]float64, len(m.OutputNames()))
				if err := m.Generate(x, rng, dst); err != nil {
					t.Error(err)
				}
				for i, v := range dst {
					if math.IsNaN(v) {
						t.Errorf("%s is NaN", m.OutputNames()[i])
					}
				}
			}
			t.Logf("%+v", m.Cuts())
		})
	}
}

var countCases = []countCase{
	{"mixture", `data { int R; int J; array[R, J] int y; }
parameters { real<lower=0> lambda; real<lower=0, upper=1> p; array[R] int<lower=0> N; }
model {
  N ~ poisson(lambda);
  for (i in 1:R) y[i] ~ binomial(N[i], p);
}
generated quantities { int total = sum(N); }`, `{"R": 4, "J": 2, "y": [[3, 2], [0, 0], [1, 4], [12, 9]]}`, 400, 2, 0},
	{"trials", `data { int y; }
parameters { real a; real b; int<lower=0> M; int<lower=0> N; }
model { M ~ binomial(60, inv_logit(a)); N ~ binomial(M, inv_logit(b)); y ~ binomial(N, 0.5); }`, `{"y": 3}`, 60, 6, 0},
	{"trials of each", `data { int R; array[R] int n; array[R] int y; }
parameters { real a; real b; array[R] int<lower=0> M; array[R] int<lower=0> N; }
model {
  M ~ binomial(n, inv_logit(a));
  for (i in 1:R) N[i] ~ binomial(M[i], inv_logit(b));
  y ~ poisson(N);
}`, `{"R": 3, "n": [40, 0, 75], "y": [20, 0, 3]}`, 75, 6, 0},
	{"rates", `data { int R; array[R] int y; vector[R] x; }
parameters { real a; real b; real q; array[R] int<lower=0> N; }
model {
  N ~ poisson_log(a + b * x);
  for (i in 1:R) y[i] ~ binomial_logit(N[i], q);
}`, `{"R": 3, "y": [1, 0, 3], "x": [-1, 0, 2]}`, 3000, 1, 1},
	{"negative", `data { int R; array[R] int y; }
parameters { real<lower=0> mu; real<lower=0> phi; real<lower=0, upper=1> p; array[R] int<lower=0> N; }
model {
  N ~ neg_binomial_2(mu, phi);
  y ~ binomial(N, p);
}`, `{"R": 3, "y": [1, 0, 3]}`, 4000, 1, 0},
	{"inflated", `data { int R; array[R] int y; }
parameters { real<lower=0> lambda; real<lower=0, upper=1> psi; real<lower=0, upper=1> p; array[R] int<lower=0, upper=1> z; array[R] int<lower=0> N; }
model {
  z ~ bernoulli(psi);
  for (i in 1:R) N[i] ~ poisson(lambda * z[i]);
  y ~ binomial(N, p);
}`, `{"R": 3, "y": [1, 0, 3]}`, 200, 1.5, 0},
	{"two rates", `data { int R; array[R] int y; }
parameters { real a; int<lower=1, upper=2> z; array[R] int<lower=0> N; }
model {
  z ~ categorical([0.5, 0.5]');
  for (i in 1:R) N[i] ~ poisson(z == 1 ? 2 : exp(a)); // the first sums do not see the second peak
  for (i in 1:R) y[i] ~ normal(0.001 * N[i], 1);
}`, `{"R": 2, "y": [1, 0]}`, 1500, 0.5, 6},
	{"two rates by element", `data { int R; array[R] int y; }
parameters { real a; array[R] int<lower=1, upper=2> z; array[R] int<lower=0> N; }
model {
  z ~ categorical([0.5, 0.5]');
  for (i in 1:R) N[i] ~ poisson(z[i] == 1 ? 2 : exp(a));
  for (i in 1:R) y[i] ~ normal(0.001 * N[i], 1);
}`, `{"R": 2, "y": [1, 0]}`, 1500, 0.5, 6},
	{"two indicators", `data { int R; array[R] real y; }
parameters { real a; array[R] int<lower=0, upper=1> z; array[R] int<lower=0, upper=1> c; array[R] int<lower=0> N; }
model {
  z ~ bernoulli(0.5);
  c ~ bernoulli(0.3);
  for (i in 1:R) N[i] ~ poisson(z[i] == 1 ? 2 : exp(a));
  for (i in 1:R) y[i] ~ normal(0.001 * c[i] * N[i], 1);
}`, `{"R": 2, "y": [1, 0]}`, 1500, 0.5, 6},
	{"chain", `data { int T; array[T] int y; }
parameters { real<lower=0> lambda; real<lower=0, upper=1> r; real<lower=0, upper=1> p; array[T] int<lower=0> N; }
model {
  N[1] ~ poisson(lambda);
  for (t in 2:T) N[t] ~ poisson(r * N[t - 1] + 0.1);
  y ~ binomial(N, p);
}`, `{"T": 5, "y": [1, 0, 3, 2, 4]}`, 230, 0.6, 0},
	{"births", `data { int T; array[T] int y; }
parameters { real<lower=0> lambda; real<lower=0, upper=1> phi; real<lower=0> gamma; real<lower=0, upper=1> p; array[T] int<lower=0> N; array[T] int<lower=0> S; }
model {
  N[1] ~ poisson(lambda);
  S[1] ~ poisson(0.5);
  for (t in 2:T) {
    S[t] ~ binomial(N[t - 1], phi);
    target += N[t] < S[t] ? negative_infinity() : poisson_lpmf(N[t] - S[t] | gamma);
  }
  y ~ binomial(N, p);
}`, `{"T": 3, "y": [1, 0, 3]}`, 100, 0.6, 0},
	{"size", `data { int y; }
parameters { real<lower=0> lambda; real<lower=0, upper=1> p; real<lower=0, upper=1> q; int<lower=0> N; int<lower=0> M; }
model {
  target += neg_binomial_2_lpmf(N | lambda, 3);
  M ~ binomial(N, p);
  y ~ binomial(M, q);
}`, `{"y": 3}`, 150, 1, 0},
	{"open population", `data { int T; array[T] int y; }
parameters { real<lower=0> lambda; real<lower=0> gamma; vector<lower=0, upper=1>[2] phi; array[T] int<lower=0> S; array[T] int<lower=0> G; }
model {
  S[1] ~ poisson(lambda);
  G ~ poisson(gamma);
  for (t in 2:T) S[t] ~ binomial(S[t - 1] + G[t - 1], phi[1]);
  for (t in 1:T) y[t] ~ binomial(S[t] + G[t], phi[2]);
}`, `{"T": 2, "y": [1, 2]}`, 90, 0.6, 0},
	{"total", `data { int y; }
parameters { real a; real<lower=0, upper=1> p; array[2] int<lower=0> N; int<lower=0> S; }
model { N ~ poisson_log(a); S ~ binomial(sum(N), p); y ~ poisson(0.1 + sum(N)); }`, `{"y": 3}`, 60, 0.5, 0},
	{"offspring", `data { int y; }
parameters { real a; int<lower=0> M; int<lower=0> N; }
model { M ~ poisson(0.01); N ~ poisson(M); target += -a * M; y ~ poisson(0.1 + 0.01 * N); }`, `{"y": 3}`, 250, 0.5, 0},
	{"detection", `data { int R; int J; array[R] int y; }
parameters { real<lower=0> lambda; real<lower=0, upper=1> r; array[R] int<lower=0> N; }
model {
  N ~ poisson(lambda);
  for (i in 1:R) y[i] ~ binomial(J, 1 - (1 - r)^N[i]); // 1 by rounding, for large counts
}`, `{"R": 4, "J": 5, "y": [0, 2, 5, 1]}`, 200, 1, 1},
	{"chances", `data { int R; array[R] int y; }
parameters { real a; real<lower=0, upper=1> r; real<lower=0, upper=1> c; array[R] int<lower=0> N; }
model {
  N ~ poisson_log(a);
  for (i in 1:R) {
    y[i] ~ binomial(4, inv_logit(a + 0.1 * N[i]));
    y[i] ~ binomial(4, 1 - inv_logit(a - 0.1 * N[i]));
    y[i] ~ binomial(4, 1 - c * (1 - r)^N[i]);
    y[i] ~ binomial(4, -expm1(-0.1 * N[i]));
    y[i] ~ poisson(40 * r^N[i]);
    y[i] ~ poisson(a^2 * r^N[i]);
    target += log1m(c * r^N[i]) + binomial_lpmf(y[i] | 4, Phi(a - 0.1 * N[i]));
  }
}`, `{"R": 2, "y": [3, 1]}`, 300, 1, 1},
	{"power before the peak", `data { int y; }
parameters { real a; int<lower=0> N; }
model { N ~ poisson_log(a); target += -1000 * log(N + 1.0); }`, `{"y": 3}`, 20000, 0.3, 9.2},
	{"large", `data { int y; }
parameters { real a; int<lower=0> N; }
model { N ~ poisson_log(a); y ~ binomial(N, 0.5); }`, `{"y": 3}`, 4000, 0.5, 7},
	{"small", `data { int y; }
parameters { real a; int<lower=0> N; }
model { N ~ poisson_log(a); y ~ binomial(N, 0.5); }`, `{"y": 3}`, 100, 1, -18},
	{"far peak", `data { int y; }
parameters { real a; int<lower=0> N; }
model { target += log_mix(0.3, poisson_lpmf(N | 1), poisson_lpmf(N | exp(a))); y ~ normal(0.001 * N, 1); }`, `{"y": 3}`, 1500, 0.5, 6},
	{"far peaks", `data { int R; array[R] int y; }
parameters { real a; simplex[3] w; array[R] int<lower=0> N; }
model {
  for (i in 2:R)
    target += log_mix(w, [poisson_lpmf(N[i] | 1), log_sum_exp(log(0.5) + poisson_lpmf(N[i] | exp(a)), log(0.5) + neg_binomial_2_lpmf(N[i] | 30, 4)), poisson_lpmf(N[i] | 700)]');
  N[1] ~ poisson(2);
  y ~ binomial(N, 0.1);
}
generated quantities { int last = N[R]; }`, `{"R": 3, "y": [1, 0, 4]}`, 1500, 0.5, 5},
	{"inflated by terms", `data { int R; array[R] int y; }
parameters { real a; real<lower=0, upper=1> psi; array[R] int<lower=0> N; }
model {
  for (i in 1:R) {
    target += log_sum_exp(log(psi) + (N[i] == 0 ? 0 : negative_infinity()), log1m(psi) + poisson_log_lpmf(N[i] | a));
    if (i > 1) target += log_mix(psi, binomial_lpmf(y[i] | N[i], 0.3), poisson_lpmf(y[i] | 2));
  }
}`, `{"R": 3, "y": [1, 0, 60]}`, 1500, 0.5, 5},
	{"multiples", `data { int y; }
parameters { real<lower=0> a; int<lower=0> N; }
model { target += -0.02 * a * N; if (N % 100 > 0) target += negative_infinity(); y ~ normal(0.001 * N, 1); }`, `{"y": 3}`, 15000, 0.5, 0},
	{"parity", `data { int R; array[R] int y; }
parameters { real a; real<lower=0, upper=1> q; array[R] int<lower=0, upper=1> z; array[R] int<lower=0> N; }
model {
  z ~ bernoulli(q);
  N ~ poisson_log(a);
  for (i in 1:R) if (N[i] % 2 != z[i]) target += negative_infinity();
  y ~ normal(N, 3);
}`, `{"R": 2, "y": [1, 4]}`, 800, 0.5, 3},
	{"thirds", `data { int y; }
parameters { real a; int<lower=0> N; }
model { target += -0.1 * exp(a) * (N / 3) + (N % 2 == 0 ? 1 : -1); y ~ poisson(1 + N % 3); }`, `{"y": 3}`, 4000, 0.5, 0},
	{"powers", `data { int y; }
parameters { real<lower=0> a; int<lower=0> N; }
model { N ~ beta_neg_binomial(2, 9 + a, 3); y ~ poisson(0.1 + 0.01 * N); }`, `{"y": 3}`, 40000, 0.5, 0},
	{"turns", `data { int y; int u; }
parameters { real a; int<lower=0> N; }
model { N ~ poisson(N > 60 ? 2 : 1); if (2 * N >= u) target += a + 50; target += -abs(N - 5) * exp(a); y ~ poisson(max(N, 70)); }`, `{"y": 3, "u": 150}`, 2000, 0.5, -1},
	{"functions", `functions {
  real prior_lpmf(int n, real a) { real r = exp(a); return n * log(r) - r - lgamma(n + 1); }
  real seen(int n, real p) { return 1 - (1 - p)^n; }
}
data { int R; int J; array[R] int y; }
parameters { real a; real<lower=0, upper=1> p; array[R] int<lower=0> N; }
model { for (i in 1:R) { N[i] ~ prior(a); y[i] ~ binomial(J, seen(N[i], p)); } }`, `{"R": 2, "J": 4, "y": [1, 4]}`, 300, 1, 2},
	{"lists of observations", `data { int R; int J; array[R, J] int y; }
parameters { real<lower=0> a; real<lower=0> b; array[R] int<lower=0> N; }
model { N ~ poisson(9); for (i in 1:R) y[i] ~ beta_binomial(N[i], a, b); }`, `{"R": 2, "J": 3, "y": [[3, 2, 0], [0, 0, 0]]}`, 900, 1, 0},
	{"removal", `data { int R; int J; array[R, J] int y; }
parameters { real a; real<lower=0, upper=1> p; array[R] int<lower=0> N; }
model {
  N ~ poisson_log(a);
  for (i in 1:R) {
    int left = N[i];
    for (j in 1:J) { y[i, j] ~ binomial(left, p); left -= y[i, j]; }
  }
}`, `{"R": 2, "J": 3, "y": [[3, 2, 0], [0, 0, 0]]}`, 900, 1, 2},
	{"recaptured", `data { int marked; int caught; int again; }
parameters { real a; int<lower=0> N; }
model { N ~ poisson_log(a); again ~ hypergeometric(caught, marked, N - marked); }`, `{"marked": 10, "caught": 8, "again": 3}`, 1500, 1, 3},
	{"recaptured, none", `data { int marked; int caught; int again; }
parameters { real a; int<lower=0> N; }
model { N ~ poisson_log(a); again ~ hypergeometric(caught, marked, N - marked); }`, `{"marked": 10, "caught": 8, "again": 0}`, 1500, 1, 3},
	{"catch", `data { int y; }
parameters { real a; int<lower=0> N; int<lower=0> M; }
model { N ~ poisson_log(a); y ~ hypergeometric(N, 9, 30); 1 ~ hypergeometric(5, M, 6); M ~ poisson_log(a); }`, `{"y": 2}`, 400, 1, 2},
	{"serial numbers", `data { int n; array[n] int y; }
parameters { real<lower=0> a; int<lower=0> N; }
model { N ~ neg_binomial_2(30 * a, 4); y ~ discrete_range(1, N); }`, `{"n": 3, "y": [19, 40, 12]}`, 3000, 0.5, 0},
	{"vectors of terms", `data { int R; array[R] int y; }
parameters { real a; simplex[2] w; vector<lower=0, upper=1>[2] p; array[R] int<lower=0> N; }
model {
  for (i in 1:R) {
    vector[2] lp = log(w);
    N[i] ~ poisson_log(a);
    for (k in 1:2) lp[k] += binomial_lpmf(y[i] | N[i], p[k]);
    target += log_sum_exp(lp);
    vector[2] lq;
    for (k in 1:2) lq[k] = poisson_lpmf(y[i] | p[k] * (N[i] + 1));
    target += log_mix(w, lq);
  }
}`, `{"R": 3, "y": [4, 0, 40]}`, 900, 1, 2},
	{"functions with mixtures", `functions {
  real seen_lpmf(int y, int N, real w, vector p) { return log_mix(w, binomial_lpmf(y | N, p[1]), binomial_lpmf(y | N, p[2])); }
  real site_lpmf(array[] int y, int N, real a) {
    real lp = poisson_log_lpmf(N | a);
    for (j in 1:size(y)) lp += binomial_lpmf(y[j] | N, 0.3);
    return lp;
  }
  real none_lpmf(int y, int N) { if (N < y) return negative_infinity(); return binomial_lpmf(y | N, 0.5); }
}
data { int R; array[R, 2] int y; }
parameters { real a; real<lower=0, upper=1> w; vector<lower=0, upper=1>[2] p; array[R] int<lower=0> N; }
model {
  for (i in 1:R) {
    y[i] ~ site(N[i], a);
    y[i, 1] ~ seen(N[i], w, p);
    target += none_lpmf(y[i, 2] | N[i]);
  }
}`, `{"R": 3, "y": [[4, 1], [0, 0], [30, 40]]}`, 900, 1, 2},
	{"first values by component", `data { int R; array[R] int y; }
parameters { real a; real<lower=0, upper=1> w; array[R] int<lower=0, upper=1> z; array[R] int<lower=0> N; }
model {
  z ~ bernoulli(w);
  N ~ poisson_log(a);
  for (i in 1:R) {
    int left = z[i] == 1 ? N[i] : 100;
    target += log_mix(w, binomial_lpmf(y[i] | N[i], 0.9), poisson_lpmf(y[i] | 0.01 * w));
    for (k in 1:2) { y[i] ~ binomial(left, 0.9); left -= y[i]; }
  }
}`, `{"R": 2, "y": [44, 3]}`, 900, 1, 0},
	{"seen through an indicator", `data { int R; array[R] int y; }
parameters { real a; array[R] int<lower=0, upper=1> z; array[R] int<lower=0> N; }
model {
  z ~ bernoulli(0.5);
  N ~ poisson_log(a);
  for (i in 1:R) target += z[i] == 1 ? binomial_lpmf(y[i] | N[i], 0.5) : poisson_lpmf(y[i] | 100);
}`, `{"R": 2, "y": [90, 4]}`, 1500, 0.5, 5},
}

// TestCountsRefused checks what happens where a cut would leave out too much.
func TestCountsRefused(t *testing.T) {
	const head = "data { int y; } parameters { real a; int<lower=0> N; } model { "
	for _, c := range []struct{ statements, want string }{
		{"target += -2 * log(N + 1.0);", "needs more than"}, // falls like a power
		{"N ~ poisson_log(a); y ~ binomial(N, 0.5);", ""},
	} {
		m := bindText(t, head+c.statements+" a ~ normal(0, 1); }", `{"y": 0}`)
		_, err := m.LogDensityGrad([]float64{0}, make([]float64, 1))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.statements, err)
		}
		// A rate that needs too many values, and then the first point again.
		first, _ := m.LogDensityGrad([]float64{0.5}, make([]float64, 1))
		if _, err := m.LogDensityGrad([]float64{40}, make([]float64, 1)); c.want == "" && (err == nil || !strings.Contains(err.Error(), "needs more than")) {
			t.Errorf("a rate of exp(40): %v", err)
		}
		if _, err := m.LogDensityGrad([]float64{6}, make([]float64, 1)); c.want == "" && err != nil {
			t.Error(err)
		}
		if again, _ := m.LogDensityGrad([]float64{0.5}, make([]float64, 1)); again != first {
			t.Errorf("%s: %v at first, %v after other points", c.statements, first, again)
		}
		if c.want == "" {
			if cut := m.Cuts()[0]; cut.Last != 31 || cut.Deepest < 403 || cut.Refused != 1 {
				t.Errorf("%+v", cut)
			}
		}
	}
	for statement, want := range map[string]string{"target += log(N - 20);": "`N` = 0", "target += lchoose(N, y + 2);": "`N` = 0"} {
		p, list := compile.Compile(source.NewFile("m.stan", head+"N ~ poisson(2); "+statement+" }"))
		if list.HasErrors() {
			t.Fatal(list)
		}
		set, err := data.ParseText("data.json", `{"y": 0}`, data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var e *compile.Error
		if _, err := p.Bind(set, compile.BindOptions{}); !errors.As(err, &e) || !strings.Contains(e.List[0].Summary, "NaN") || !strings.Contains(e.List[0].Summary, want) {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if _, list := compile.Compile(source.NewFile("m.stan", head+"a ~ normal(0, 1); }")); len(list) != 1 || !strings.Contains(list[0].Summary, "no statement gives it a distribution") {
		t.Errorf("without a statement: %v", list)
	}
}

// TestCountsUnshaped checks that sums whose end is not known are refused, with a remedy.
func TestCountsUnshaped(t *testing.T) {
	for _, c := range []struct{ statements, want string }{
		{"target += -0.1 * N + sin(N);", "not known how fast"},
		{"N ~ poisson(1000); target += 100 * log(1 + 100 * 0.9^N);", "not known how fast"},
		{"N ~ poisson(1000); target += 100 * log1p(100 * 0.9^N);", "not known how fast"},
		{"N ~ poisson(1000); target += 100 * log1m(-100 * 0.9^N);", "not known how fast"},
		{"N ~ poisson(1000); target += 100 * log(1 - a * 0.9^N);", "not known how fast"},
		{"target += -0.1 * N; target += log(exp(poisson_lpmf(N | 1)) + exp(poisson_lpmf(N | 400)));", "not known how fast"},
		{"N ~ poisson(2); target += N < a ? -100 : N;", "not known how fast"},
		{"N ~ poisson(2); target += -v[N + 1];", "decides an index"},
		{"M ~ poisson(exp(a)); target += N * log(1 + 150.0 * M) - 150 * M - lgamma(N + 1);", "not known how fast"},
		{"z ~ bernoulli(0.5); N ~ poisson(2); { vector[2] lp; for (k in 1:2) lp[k] = z * binomial_lpmf(40 | N + k, 0.5); target += lp[1]; }", "not known how fast"},
		{"z ~ bernoulli(0.5); N ~ poisson(2); { vector[2] lp; lp[2] = z * binomial_lpmf(40 | N, 0.5); lp[1] = lp[2]; target += log_sum_exp(lp); }", "not known how fast"},
		{"N ~ poisson(1); L[1] ~ poisson(1);", "`L[2]` has no upper bound, and no statement gives it a distribution"},
	} {
		p, list := compile.Compile(source.NewFile("m.stan", "data { int y; vector[3] v; } parameters { real a; int<lower=0> N; int<lower=0, upper=1> z; "+
			map[bool]string{true: "int<lower=0> M; "}[strings.Contains(c.statements, "M")]+
			map[bool]string{true: "array[2] int<lower=0> L; "}[strings.Contains(c.statements, "L")]+"} model { "+c.statements+" }"))
		if list.HasErrors() {
			t.Fatal(list)
		}
		set, err := data.ParseText("data.json", `{"y": 1, "v": [1, 2, 3]}`, data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Bind(set, compile.BindOptions{})
		var e *compile.Error
		if !errors.As(err, &e) || !strings.Contains(e.List[0].Summary, c.want) || !strings.Contains(e.List[0].Fix, "upper bound") {
			t.Errorf("%s: %v", c.statements, err)
		}
	}
}

// TestCountsRounded checks that a point is rejected where a part of the density is -inf by rounding
// at the values that matter: 1 - 0.5^N is 1 beyond 53.
func TestCountsRounded(t *testing.T) {
	for _, c := range []struct {
		part string
		at   float64
		ok   bool
	}{{"0 ~ binomial(5, 1 - 0.5^N);", 1, true}, {"0 ~ binomial(5, 1 - 0.5^N);", 9.2, false}, {"1 ~ poisson(100 * 0.5^N);", 1, true}, {"1 ~ poisson(100 * 0.5^N);", 9.2, false}} {
		m := bindText(t, "parameters { real a; int<lower=0> N; } model { N ~ poisson_log(a); "+c.part+" }", "{}")
		if got, err := m.LogDensityGrad([]float64{c.at}, make([]float64, 1)); (err == nil) != c.ok {
			t.Errorf("%s at %v: %v, %v", c.part, c.at, got, err)
		}
	}
}

// TestCountsAgree checks that the comparison with the reference evaluator knows about levels.
func TestCountsAgree(t *testing.T) {
	m := bindText(t, "data { int y; } parameters { real a; int<lower=0> N; } model { N ~ poisson_log(a); y ~ binomial(N, 0.5); }", `{"y": 3}`)
	for _, x := range []float64{0, 5, 7} {
		a, err := m.Agree([]float64{x}, rand.New(rand.NewPCG(1, 1)), 1e10)
		if err != nil || a.Verdict != compile.Agrees {
			t.Errorf("at %v: %v, %+v", x, err, a)
		}
	}
}

// TestCountsReach checks points where the ratio of the last terms promises far more values than are
// needed: the density is that of a long sum.
func TestCountsReach(t *testing.T) {
	for _, c := range []struct {
		text string
		at   float64
	}{
		{"N ~ poisson_log(a); 500 ~ normal(N, 5);", math.Log(500)},
		{"N ~ poisson_log(a); 1000 ~ poisson(0.5 * N);", math.Log(2000)},
		{"N ~ binomial_logit(50, a);", 12},
		// Parts that change slowly before the peak, and hardly beyond it.
		{"N ~ poisson_log(a); target += -1000 * log(1 + N / 100.0);", 8.5},
		{"N ~ poisson_log(a); for (i in 1:3) 0 ~ beta_binomial(N, 1000, 1);", 8.5},
		{"N ~ poisson_log(a); target += lgamma(N + 300.0) - lgamma(N + 700.0); target += 2 - 3 * log(N + 90.0) + 0.01 * N;", 8},
		{"N ~ neg_binomial_2_log(a, 0.3); for (i in 1:20) 1 ~ neg_binomial_2(50 + N, 2);", 2},
	} {
		text := "parameters { real a; int<lower=0> N; } model { " + c.text + " }"
		got, err := bindText(t, text, "{}").LogDensityGrad([]float64{c.at}, make([]float64, 1))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		long := bindText(t, strings.Replace(text, "int<lower=0>", "int<lower=0, upper=9000>", 1), "{}")
		if want, err := long.LogDensityGrad([]float64{c.at}, make([]float64, 1)); err != nil || !near(got, want, 1e-10) {
			t.Errorf("%s: %.15g, a long sum %.15g, %v", c.text, got, want, err)
		}
	}
}

// TestCountsLinked compares chains of counts, and a count with an upper bound given one without,
// with sums written out here.
func TestCountsLinked(t *testing.T) {
	poisson := func(n int, rate float64) float64 {
		lg, _ := math.Lgamma(float64(n + 1))
		if rate == 0 {
			return map[bool]float64{true: 1}[n == 0]
		}
		return math.Exp(float64(n)*math.Log(rate) - rate - lg)
	}
	check := func(text string, x []float64, want float64) {
		t.Helper()
		got, err := bindText(t, text, "{}").LogDensityGrad(x, make([]float64, len(x)))
		if err != nil || !near(got, want, 1e-10) {
			t.Errorf("%s at %v: %.15g, sums give %.15g, %v", text, x, got, want, err)
		}
	}
	const last = 400
	type at struct {
		upper float64
		x     []float64
	}
	for _, c := range []at{{1, []float64{-4, -2}}, {1, []float64{0, 0}}, {1, []float64{1.5, 3}}, {1, []float64{3, 12}}, {4, []float64{-14, 2}}, {4, []float64{-3, 1}}, {3, []float64{0, 1}}, {2, []float64{1, 5}}} {
		for size := 1; size <= 3; size++ {
			text := fmt.Sprintf("parameters { real a; real<lower=0, upper=%v> r; array[%d] int<lower=0> N; } model { N[1] ~ poisson(exp(a)); target += poisson_lpmf(2 | 0.1 + N[1]); "+
				"for (t in 2:%[2]d) { N[t] ~ poisson(0.05 + 2 * r * N[t - 1] / 2.0); target += poisson_lpmf(2 | 0.1 + N[t]) + normal_lpdf(3.5 | N[t], 20); } }", c.upper, size)
			x, share := c.x, 1/(1+math.Exp(-c.x[1]))
			r := c.upper * share
			var p [last + 1]float64
			for n := range p {
				p[n] = poisson(n, math.Exp(x[0])) * poisson(2, 0.1+float64(n))
			}
			for range size - 1 {
				var q [last + 1]float64
				for m := range p {
					for n := range q {
						d := (3.5 - float64(n)) / 20
						q[n] += p[m] * poisson(n, 0.05+r*float64(m)) * poisson(2, 0.1+float64(n)) * math.Exp(-d*d/2) / 20 / math.Sqrt(2*math.Pi)
					}
				}
				p = q
			}
			sum := 0.0
			for _, v := range p {
				sum += v
			}
			check(text, x, math.Log(sum)+math.Log(r*(1-share)))
		}
	}
	for _, a := range []float64{-3, 0, 1} {
		sum := 0.0
		for m := range 30 {
			for n := range 4001 {
				sum += poisson(m, math.Exp(a)) * poisson(n, 2+150*float64(m)) * poisson(1, 0.01*float64(n))
			}
		}
		check("parameters { real a; int<lower=0> M; int<lower=0, upper=4000> N; } model { M ~ poisson(exp(a)); N ~ poisson(2 + 150 * M); target += poisson_lpmf(1 | 0.01 * N); }", []float64{a}, math.Log(sum))
	}
}

// TestCountsRebound checks that a program without passes of the compiler has the checks of counts
// that depend on one another, and that a point with too many terms is no fault.
func TestCountsRebound(t *testing.T) {
	m := bindText(t, "parameters { real a; int<lower=0> M; int<lower=0> N; } model { M ~ poisson_log(a); N ~ binomial(M, 0.5); 4 ~ poisson(0.5 * N + 0.1); }", "{}")
	bare, err := m.Rebind(t.Context(), nil, compile.Passes()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []float64{0, 3, 4.2} {
		x, grad := []float64{a}, make([]float64, 1)
		got, err := bare.LogDensityGrad(x, grad)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := m.LogDensityGrad(x, grad); err != nil || !near(got, want, 1e-12) {
			t.Errorf("at %v: %.15g and %.15g, %v", a, got, want, err)
		}
	}
	a, err := m.Agree([]float64{9}, rand.New(rand.NewPCG(1, 1)), 1e10)
	if err != nil || a.Verdict != compile.Vague {
		t.Errorf("%v, %+v", err, a)
	}
}

// TestCountsOf checks probabilities and densities of observations of cut sums.
func TestCountsOf(t *testing.T) {
	c := countCases[0]
	for _, o := range []compile.Options{
		{Sums: compile.SumsLeaveOneOut, Observations: []string{"log_lik"}},
		{Sums: compile.SumsProbabilities},
	} {
		text := c.text
		if o.Observations != nil {
			text = strings.Replace(text, "for (i in 1:R) y[i] ~ binomial(N[i], p);", "array[R] real log_lik = rep_array(0.0, R); for (i in 1:R) log_lik[i] += binomial_lpmf(y[i] | N[i], p);", 1)
		}
		text, _, _ = strings.Cut(text, "generated quantities")
		at := 1.5
		if o.Observations != nil {
			at = 4.5 // needs more values
		}
		results := map[bool]map[string]float64{}
		for _, long := range []bool{false, true} {
			if long {
				text = strings.ReplaceAll(text, "int<lower=0> N", "int<lower=0, upper=400> N")
			}
			p, list := compile.CompileWith(source.NewFile("m.stan", text), o)
			if list.HasErrors() {
				t.Fatal(list)
			}
			set, err := data.ParseText("data.json", c.data, data.Options{})
			if err != nil {
				t.Fatal(err)
			}
			m, err := p.Bind(set, compile.BindOptions{})
			if err != nil {
				t.Fatal(err)
			}
			dst := make([]float64, len(m.OutputNames()))
			if err := m.Generate([]float64{c.about + at, 0.2}, rand.New(rand.NewPCG(1, 1)), dst); err != nil {
				t.Fatal(err)
			}
			results[long] = map[string]float64{}
			for i, n := range m.OutputNames() {
				results[long][n] = dst[i]
			}
		}
		for n, v := range results[false] {
			if !near(v, results[true][n], 1e-10) {
				t.Errorf("%s is %v, with more values %v", n, v, results[true][n])
			}
		}
	}
}
