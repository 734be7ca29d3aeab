package compile_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/compile"
)

// book is a latent discrete model as textbooks have it, once with discrete parameters and once with
// the sums written by hand.
type book struct {
	name, data, parameters string
	discrete, summed       string // the model blocks
	unknowns               string // declarations of the discrete parameters
	values                 func(rng *rand.Rand) map[string]any
	functions, made        string // functions and transformed data of the sums by hand
}

func (b book) texts() (discrete, summed string) {
	head := "data { " + b.data + " }\n"
	discrete = head + "parameters { " + b.parameters + "\n" + b.unknowns + " }\nmodel {\n" + b.discrete + "\n}\n"
	summed = head + "transformed data { " + b.made + " }\nparameters { " + b.parameters + " }\nmodel {\n" + b.summed + "\n}\n"
	if b.functions != "" {
		summed = "functions { " + b.functions + " }\n" + summed
	}
	return discrete, summed
}

func (b book) bind(t testing.TB) (discrete, summed *compile.Model) {
	values, err := json.Marshal(b.values(rand.New(rand.NewPCG(5, 6))))
	if err != nil {
		t.Fatal(err)
	}
	x, y := b.texts()
	return bindText(t, x, string(values)), bindText(t, y, string(values))
}

// TestDiscreteBooks compares densities and gradients.
func TestDiscreteBooks(t *testing.T) {
	for _, b := range books {
		t.Run(b.name, func(t *testing.T) {
			discrete, summed := b.bind(t)
			values, err := json.Marshal(b.values(rand.New(rand.NewPCG(5, 6))))
			if err != nil {
				t.Fatal(err)
			}
			written := bindText(t, discrete.Stan(), string(values))
			if discrete.Interpreted() {
				t.Error("the density is interpreted")
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for range 4 {
				x := make([]float64, summed.Dim())
				for i := range x {
					x[i] = 2*rng.Float64() - 1
				}
				got, want := make([]float64, len(x)), make([]float64, len(x))
				lp, err := discrete.LogDensityGrad(x, got)
				if err != nil {
					t.Fatal(err)
				}
				hand, err := summed.LogDensityGrad(x, want)
				if err != nil {
					t.Fatal(err)
				}
				if !near(lp, hand, 1e-10) {
					t.Errorf("log density %.15g, by hand %.15g", lp, hand)
				}
				if again, err := written.LogDensityGrad(x, make([]float64, len(x))); err != nil || !near(again, lp, 1e-12) {
					t.Errorf("log density %.15g, of the program for Stan %.15g, %v", lp, again, err)
				}
				for i := range got {
					if !near(got[i], want[i], 1e-9) {
						t.Errorf("derivative %d is %.15g, by hand %.15g", i, got[i], want[i])
					}
				}
			}
		})
	}
}

// BenchmarkDiscreteBooks times gradients.
func BenchmarkDiscreteBooks(b *testing.B) {
	for _, k := range books {
		discrete, summed := k.bind(b)
		x := make([]float64, summed.Dim())
		for i := range x {
			x[i] = 0.1 * float64(i%7)
		}
		grad := make([]float64, len(x))
		for _, m := range []struct {
			name string
			*compile.Model
		}{{"discrete", discrete}, {"by hand", summed}} {
			b.Run(k.name+"/"+m.name, func(b *testing.B) {
				for range b.N {
					if _, err := m.LogDensityGrad(x, grad); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func flips(rng *rand.Rand, p float64, dims ...int) any {
	if len(dims) == 0 {
		if rng.Float64() < p {
			return 1
		}
		return 0
	}
	out := make([]any, dims[0])
	for i := range out {
		out[i] = flips(rng, p, dims[1:]...)
	}
	return out
}

func normals(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

// histories are sightings of animals: each is marked at some time, and then seen again or not.
func histories(rng *rand.Rand, animals, times int) (y [][]int, first, last []int) {
	for range animals {
		row := make([]int, times)
		f := rng.IntN(times-1) + 1
		row[f-1] = 1
		l := f
		for t := f; t < times && rng.Float64() < 0.8; t++ {
			if rng.Float64() < 0.5 {
				row[t], l = 1, t+1
			}
		}
		y, first, last = append(y, row), append(first, f), append(last, l)
	}
	return y, first, last
}

var books = []book{
	{
		name: "occupancy", data: "int R; int J; array[R, J] int<lower=0, upper=1> y; vector[R] x;",
		parameters: "real a; real b; real c;",
		unknowns:   "array[R] int<lower=0, upper=1> z;",
		discrete: `z ~ bernoulli_logit(a + b * x);
for (i in 1:R) for (j in 1:J) y[i, j] ~ bernoulli(z[i] * inv_logit(c));`,
		made: "array[R] int n; for (i in 1:R) n[i] = sum(y[i]);",
		summed: `for (i in 1:R) {
  real seen = log_inv_logit(a + b * x[i]) + bernoulli_logit_lpmf(y[i] | c);
  if (n[i] > 0) target += seen; else target += log_sum_exp(seen, log1m_inv_logit(a + b * x[i]));
}`,
		values: func(rng *rand.Rand) map[string]any {
			y := make([]any, 200)
			for i := range y {
				y[i] = flips(rng, 0.5*float64(rng.IntN(2)), 4)
			}
			return map[string]any{"R": 200, "J": 4, "y": y, "x": normals(rng, 200)}
		},
	},
	{
		name: "changing occupancy", data: "int R; int T; int J; array[R, T] int<lower=0> y;",
		parameters: "real<lower=0, upper=1> psi; real<lower=0, upper=1> stay; real<lower=0, upper=1> come; real<lower=0, upper=1> p;",
		unknowns:   "array[R, T] int<lower=0, upper=1> z;",
		discrete: `for (i in 1:R) {
  z[i, 1] ~ bernoulli(psi);
  for (t in 2:T) z[i, t] ~ bernoulli(z[i, t - 1] == 1 ? stay : come);
  for (t in 1:T) y[i, t] ~ binomial(J, z[i, t] * p);
}`,
		summed: `for (i in 1:R) {
  array[2] real f = {log1m(psi) + (y[i, 1] == 0 ? 0 : negative_infinity()), log(psi) + binomial_lpmf(y[i, 1] | J, p)};
  for (t in 2:T) {
    real gone = log_sum_exp(f[1] + log1m(come), f[2] + log1m(stay)) + (y[i, t] == 0 ? 0 : negative_infinity());
    real here = log_sum_exp(f[1] + log(come), f[2] + log(stay)) + binomial_lpmf(y[i, t] | J, p);
    f = {gone, here};
  }
  target += log_sum_exp(f);
}`,
		values: func(rng *rand.Rand) map[string]any {
			y := make([][]int, 60)
			for i := range y {
				y[i] = make([]int, 10)
				for t := range y[i] {
					y[i][t] = rng.IntN(4) * rng.IntN(2)
				}
			}
			return map[string]any{"R": 60, "T": 10, "J": 3, "y": y}
		},
	},
	{
		name: "abundance", data: "int R; int J; array[R, J] int<lower=0> y; vector[R] x; int K;",
		parameters: "real a; real b; real<lower=0, upper=1> p;",
		unknowns:   "array[R] int<lower=0, upper=K> N;",
		discrete:   "N ~ poisson_log(a + b * x);\nfor (i in 1:R) y[i] ~ binomial(N[i], p);",
		summed: `for (i in 1:R) {
  int least = max(y[i]);
  vector[K - least + 1] lp;
  for (n in least:K) lp[n - least + 1] = poisson_log_lpmf(n | a + b * x[i]) + binomial_lpmf(y[i] | n, p);
  target += log_sum_exp(lp);
}`,
		values: func(rng *rand.Rand) map[string]any { return abundances(rng, 0) },
	},
	{
		name: "zero-inflated abundance", data: "int R; int J; array[R, J] int<lower=0> y; vector[R] x; int K;",
		parameters: "real a; real b; real<lower=0, upper=1> psi; real<lower=0, upper=1> p;",
		unknowns:   "array[R] int<lower=0, upper=1> z; array[R] int<lower=0, upper=K> N;",
		discrete:   "z ~ bernoulli(psi);\nfor (i in 1:R) N[i] ~ poisson(z[i] * exp(a + b * x[i]));\nfor (i in 1:R) y[i] ~ binomial(N[i], p);",
		summed: `for (i in 1:R) {
  int least = max(y[i]);
  vector[K - least + 1] lp;
  for (n in least:K) lp[n - least + 1] = poisson_log_lpmf(n | a + b * x[i]) + binomial_lpmf(y[i] | n, p);
  if (least > 0) target += log(psi) + log_sum_exp(lp);
  else target += log_sum_exp(log1m(psi), log(psi) + log_sum_exp(lp));
}`,
		values: func(rng *rand.Rand) map[string]any { return abundances(rng, 0.4) },
	},
	{
		name: "survival of marked animals", data: "int I; int T; array[I, T] int<lower=0, upper=1> y; array[I] int first; array[I] int last;",
		parameters: "vector<lower=0, upper=1>[T - 1] phi; vector<lower=0, upper=1>[T - 1] p;",
		unknowns:   "array[I, T] int<lower=0, upper=1> alive;",
		discrete: `for (i in 1:I) {
  for (t in 1:first[i]) target += log(alive[i, t] == 1);
  for (t in first[i] + 1:T) {
    alive[i, t] ~ bernoulli(alive[i, t - 1] * phi[t - 1]);
    y[i, t] ~ bernoulli(alive[i, t] * p[t - 1]);
  }
}`,
		summed: `vector[T] chi;
chi[T] = 1;
for (s in 1:T - 1) {
  int t = T - s;
  chi[t] = 1 - phi[t] + phi[t] * (1 - p[t]) * chi[t + 1];
}
for (i in 1:I) {
  for (t in first[i] + 1:last[i]) {
    target += log(phi[t - 1]);
    y[i, t] ~ bernoulli(p[t - 1]);
  }
  target += log(chi[last[i]]);
}`,
		values: func(rng *rand.Rand) map[string]any {
			y, first, last := histories(rng, 100, 8)
			return map[string]any{"I": 100, "T": 8, "y": y, "first": first, "last": last}
		},
	},
	{
		name: "survival of marked animals, forward", data: "int I; int T; array[I, T] int<lower=0, upper=1> y; array[I] int first;",
		parameters: "real a; real b; vector[T] e;",
		unknowns:   "array[I, T] int<lower=1, upper=2> s;",
		discrete: `e ~ normal(0, 1);
for (i in 1:I) {
  for (t in 1:first[i]) target += log(s[i, t] == 1);
  for (t in first[i] + 1:T) {
    s[i, t] ~ categorical(s[i, t - 1] == 1 ? [inv_logit(a + e[t]), 1 - inv_logit(a + e[t])]' : [0, 1]');
    y[i, t] ~ bernoulli(s[i, t] == 1 ? inv_logit(b) : 0);
  }
}`,
		summed: `e ~ normal(0, 1);
for (i in 1:I) {
  array[2] real f = {0, negative_infinity()};
  for (t in first[i] + 1:T) {
    real up = log_inv_logit(a + e[t]) + f[1] + bernoulli_logit_lpmf(y[i, t] | b);
    real down = y[i, t] == 1 ? negative_infinity() : log_sum_exp(f[1] + log1m_inv_logit(a + e[t]), f[2]);
    f = {up, down};
  }
  target += log_sum_exp(f);
}`,
		values: func(rng *rand.Rand) map[string]any {
			y, first, _ := histories(rng, 100, 8)
			return map[string]any{"I": 100, "T": 8, "y": y, "first": first}
		},
	},
	{
		name: "survival by a covariate of each animal", data: "int I; int T; array[I, T] int<lower=0, upper=1> y; array[I] int first; array[I] int last; vector[I] x;",
		parameters: "real a; real b; vector<lower=0, upper=1>[T - 1] p;",
		unknowns:   "array[I, T] int<lower=0, upper=1> alive;",
		discrete: `for (i in 1:I) {
  for (t in 1:first[i]) target += log(alive[i, t] == 1);
  for (t in first[i] + 1:T) {
    alive[i, t] ~ bernoulli(alive[i, t - 1] * inv_logit(a + b * x[i]));
    y[i, t] ~ bernoulli(alive[i, t] * p[t - 1]);
  }
}`,
		summed: `for (i in 1:I) {
  real phi = inv_logit(a + b * x[i]);
  vector[T] chi;
  chi[T] = 1;
  for (s in 1:T - 1) {
    int t = T - s;
    chi[t] = 1 - phi + phi * (1 - p[t]) * chi[t + 1];
  }
  for (t in first[i] + 1:last[i]) {
    target += log(phi);
    y[i, t] ~ bernoulli(p[t - 1]);
  }
  target += log(chi[last[i]]);
}`,
		values: func(rng *rand.Rand) map[string]any {
			y, first, last := histories(rng, 100, 8)
			return map[string]any{"I": 100, "T": 8, "y": y, "first": first, "last": last, "x": normals(rng, 100)}
		},
	},
	{
		name: "entries", data: "int M; int T; array[M, T] int<lower=0, upper=1> y;",
		parameters: "vector<lower=0, upper=1>[T] enter; real<lower=0, upper=1> phi; real<lower=0, upper=1> p;",
		unknowns:   "array[M, T] int<lower=1, upper=3> s; ",
		discrete: `for (i in 1:M) {
  s[i, 1] ~ categorical([1 - enter[1], enter[1], 0]');
  for (t in 2:T) {
    if (s[i, t - 1] == 1) s[i, t] ~ categorical([1 - enter[t], enter[t], 0]');
    else if (s[i, t - 1] == 2) s[i, t] ~ categorical([0, phi, 1 - phi]');
    else target += log(s[i, t] == 3);
  }
  for (t in 1:T) y[i, t] ~ bernoulli(s[i, t] == 2 ? p : 0);
}`,
		summed: `for (i in 1:M) {
  vector[3] f = [log1m(enter[1]) + log(y[i, 1] == 0), log(enter[1]) + bernoulli_lpmf(y[i, 1] | p), negative_infinity()]';
  for (t in 2:T) {
    real out = y[i, t] == 0 ? 0 : negative_infinity();
    f = [f[1] + log1m(enter[t]) + out,
         log_sum_exp(f[1] + log(enter[t]), f[2] + log(phi)) + bernoulli_lpmf(y[i, t] | p),
         log_sum_exp(f[2] + log1m(phi), f[3]) + out]';
  }
  target += log_sum_exp(f);
}`,
		values: func(rng *rand.Rand) map[string]any {
			y, _, _ := histories(rng, 80, 7)
			for range 80 {
				y = append(y, make([]int, 7))
			}
			return map[string]any{"M": 160, "T": 7, "y": y}
		},
	},
	{
		name: "places", data: "int I; int T; array[I, T] int<lower=0, upper=2> y; array[I] int first;",
		parameters: "array[2] simplex[3] move; vector<lower=0, upper=1>[2] p;",
		unknowns:   "array[I, T] int<lower=1, upper=3> s;",
		discrete: `for (i in 1:I) {
  for (t in 1:first[i]) target += log(s[i, t] == y[i, first[i]]);
  for (t in first[i] + 1:T) {
    if (s[i, t - 1] < 3) s[i, t] ~ categorical(move[s[i, t - 1]]);
    else target += log(s[i, t] == 3);
    if (s[i, t] == 3) target += log(y[i, t] == 0);
    else target += y[i, t] == 0 ? log1m(p[s[i, t]]) : log(p[s[i, t]]) + log(y[i, t] == s[i, t]);
  }
}`,
		summed: `for (i in 1:I) {
  vector[3] f = rep_vector(negative_infinity(), 3);
  f[y[i, first[i]]] = 0;
  for (t in first[i] + 1:T) {
    vector[3] g;
    for (k in 1:3) {
      real seen = k == 3 ? log(y[i, t] == 0) : y[i, t] == 0 ? log1m(p[k]) : y[i, t] == k ? log(p[k]) : negative_infinity();
      g[k] = log_sum_exp([f[1] + log(move[1, k]), f[2] + log(move[2, k]), k == 3 ? f[3] : negative_infinity()]) + seen;
    }
    f = g;
  }
  target += log_sum_exp(f);
}`,
		values: func(rng *rand.Rand) map[string]any {
			y, first, _ := histories(rng, 100, 7)
			for i := range y {
				for t := range y[i] {
					y[i][t] *= 1 + rng.IntN(2)
				}
			}
			return map[string]any{"I": 100, "T": 7, "y": y, "first": first}
		},
	},
	{
		name: "unknown size of a population", data: "int M; int T; array[M] int<lower=0, upper=T> y;",
		parameters: "real<lower=0, upper=1> psi; real a; real<lower=0> sd0; vector[M] e;",
		unknowns:   "array[M] int<lower=0, upper=1> z;",
		discrete: `e ~ normal(0, 1);
sd0 ~ normal(0, 1);
z ~ bernoulli(psi);
for (i in 1:M) y[i] ~ binomial(T, z[i] * inv_logit(a + sd0 * e[i]));`,
		summed: `e ~ normal(0, 1);
sd0 ~ normal(0, 1);
for (i in 1:M) {
  real seen = log(psi) + binomial_logit_lpmf(y[i] | T, a + sd0 * e[i]);
  target += y[i] > 0 ? seen : log_sum_exp(seen, log1m(psi));
}`,
		values: func(rng *rand.Rand) map[string]any {
			y := make([]int, 200)
			for i := range 80 {
				y[i] = rng.IntN(6)
			}
			return map[string]any{"M": 200, "T": 5, "y": y}
		},
	},
	{
		name: "change point", data: "int T; array[T] int<lower=0> y;",
		parameters: "real<lower=0> before; real<lower=0> after;",
		unknowns:   "int<lower=1, upper=T> s;",
		discrete: `before ~ exponential(1);
after ~ exponential(1);
for (t in 1:T) y[t] ~ poisson(t < s ? before : after);`,
		summed: `vector[T + 1] early;
vector[T + 1] late;
before ~ exponential(1);
after ~ exponential(1);
early[1] = 0;
late[1] = 0;
for (t in 1:T) {
  early[t + 1] = early[t] + poisson_lpmf(y[t] | before);
  late[t + 1] = late[t] + poisson_lpmf(y[t] | after);
}
target += log_sum_exp(rep_vector(late[T + 1], T) + head(early, T) - head(late, T));`,
		values: func(rng *rand.Rand) map[string]any {
			y := make([]int, 112)
			for i := range y {
				y[i] = rng.IntN(5)
			}
			return map[string]any{"T": 112, "y": y}
		},
	},
	{
		name: "mixture", data: "int K; int N; vector[N] y;",
		parameters: "simplex[K] w; ordered[K] mu; vector<lower=0>[K] sigma;",
		unknowns:   "array[N] int<lower=1, upper=K> z;",
		discrete: `mu ~ normal(0, 5);
sigma ~ lognormal(0, 1);
z ~ categorical(w);
y ~ normal(mu[z], sigma[z]);`,
		summed: `vector[K] log_w = log(w);
mu ~ normal(0, 5);
sigma ~ lognormal(0, 1);
for (n in 1:N) {
  vector[K] lp = log_w;
  for (k in 1:K) lp[k] += normal_lpdf(y[n] | mu[k], sigma[k]);
  target += log_sum_exp(lp);
}`,
		values: func(rng *rand.Rand) map[string]any { return map[string]any{"K": 4, "N": 500, "y": normals(rng, 500)} },
	},
	{
		name: "hidden Markov", data: "int K; int T; vector[T] y;",
		parameters: "array[K] simplex[K] move; ordered[K] mu;",
		unknowns:   "array[T] int<lower=1, upper=K> z;",
		discrete: `mu ~ normal(0, 3);
for (t in 2:T) z[t] ~ categorical(move[z[t - 1]]);
y ~ normal(mu[z], 1);`,
		summed: `vector[K] f;
mu ~ normal(0, 3);
for (k in 1:K) f[k] = normal_lpdf(y[1] | mu[k], 1);
for (t in 2:T) {
  vector[K] g;
  for (k in 1:K) {
    vector[K] lp;
    for (j in 1:K) lp[j] = f[j] + log(move[j, k]) + normal_lpdf(y[t] | mu[k], 1);
    g[k] = log_sum_exp(lp);
  }
  f = g;
}
target += log_sum_exp(f);`,
		values: func(rng *rand.Rand) map[string]any { return map[string]any{"K": 3, "T": 200, "y": normals(rng, 200)} },
	},
	{
		name: "raters", data: "int I; int J; int K; int N; array[N] int item; array[N] int rater; array[N] int<lower=1, upper=K> grade;",
		parameters: "simplex[K] share; array[J, K] simplex[K] says;",
		unknowns:   "array[I] int<lower=1, upper=K> truth;",
		discrete: `for (j in 1:J) for (k in 1:K) says[j, k] ~ dirichlet(rep_vector(2, K));
truth ~ categorical(share);
for (n in 1:N) grade[n] ~ categorical(says[rater[n], truth[item[n]]]);`,
		summed: `array[I] vector[K] lp = rep_array(log(share), I);
for (j in 1:J) for (k in 1:K) says[j, k] ~ dirichlet(rep_vector(2, K));
for (n in 1:N) for (k in 1:K) lp[item[n], k] += log(says[rater[n], k, grade[n]]);
for (i in 1:I) target += log_sum_exp(lp[i]);`,
		values: func(rng *rand.Rand) map[string]any {
			var item, rater, grade []int
			for i := range 50 {
				for j := range 5 {
					item, rater, grade = append(item, i+1), append(rater, j+1), append(grade, 1+rng.IntN(4))
				}
			}
			return map[string]any{"I": 50, "J": 5, "K": 4, "N": 250, "item": item, "rater": rater, "grade": grade}
		},
	},
}

func abundances(rng *rand.Rand, zeros float64) map[string]any {
	y := make([][]int, 100)
	for i := range y {
		y[i] = make([]int, 3)
		if rng.Float64() < zeros {
			continue
		}
		for j := range y[i] {
			y[i][j] = rng.IntN(8)
		}
	}
	return map[string]any{"R": 100, "J": 3, "y": y, "x": normals(rng, 100), "K": 60}
}
