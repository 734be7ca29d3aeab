package compile_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/internal/short"
)

// TestSeries compares the evaluators on values that are computed row by row from earlier rows: sets
// at risk, lags that the first rows lack, lags within groups, and states with their covariance. The
// data have no rows, one, two, and more than the passes require. The values are equal, sorted, in
// blocks or in random order.
func TestSeries(t *testing.T) {
	const data = seriesData
	compareSeries(t, map[string]string{
		"risk": data + `parameters { real b; }
model {
  vector[N] eta = b * x;
  real lse = negative_infinity();
  b ~ normal(0, 1);
  for (n in 1:N) {
    lse = log_sum_exp(lse, eta[n]);
    if (d[n]) target += eta[n] - lse;
  }
}`,
		"risk, backwards, with weights that may be 0": data + `parameters { real b; }
model {
  real lse = negative_infinity();
  int n = N;
  b ~ normal(0, 1);
  while (n >= 1) {
    lse = log_sum_exp(lse, b * x[n] + log(k[n]));
    if (lse > negative_infinity()) target += d[n] * (b * x[n] - lse);
    n -= 1;
  }
}`,
		"risk, in strata": data + `parameters { real b, c; }
model {
  vector[N] lse;
  b ~ normal(c, 1);
  c ~ normal(0, 1);
  for (n in 1:N) {
    if (n == 1 || k[n] != k[n - 1]) lse[n] = b * x[n];
    else lse[n] = log_sum_exp(lse[n - 1] - c, b * x[n]);
    target += d[n] * (b * x[n] - lse[n]);
  }
}`,
		"rows that go on from a row of another statement": data + `parameters { real b, c; }
model {
  vector[N] v = b * x;
  b ~ normal(c, 1);
  c ~ normal(0, 1);
  for (n in 1:N) {
    if (n > 1 && d[n - 1]) v[n] += c;
    if (n > 1 && d[n]) v[n] = c * v[n - 1];
  }
  target += -0.5 * v;
}`,
		"risk, of those who are at it": `functions {
  vector risk(vector eta, array[] int d) {
    vector[num_elements(eta)] r;
    real s = negative_infinity();
    for (i in 1:num_elements(eta)) {
      if (d[i] == 1) s = log_sum_exp(eta[i], s);
      r[i] = s;
    }
    return r;
  }
}
` + data + `parameters { real b; }
model {
  b ~ normal(0, 1);
  vector[N] r = risk(b * x, d);
  for (n in 1:N) if (d[n]) target += b * x[n] - r[n];
}`,
		"errors of groups": data + `parameters { real b; vector[2] ar; vector[2] ma; real<lower=0> s; }
model {
  matrix[N, 2] Err = rep_matrix(0, N, 2);
  vector[N] err;
  vector[N] mu = b * x;
  b ~ normal(0, 1);
  ar ~ normal(0, 0.3);
  ma ~ normal(0, 0.3);
  s ~ exponential(1);
  for (n in 1:N) {
    mu[n] += Err[n, 1:2] * ma;
    err[n] = y[n] - mu[n];
    for (i in 1:min(2, k[n])) if (n < N) Err[n + 1, i] = err[n + 1 - min(i, n)];
    mu[n] += Err[n, 1:2] * ar;
  }
  y ~ normal(mu, s);
}`,
		"lags": data + `parameters { real m; vector[2] phi; vector[3] theta; real<lower=0> s; }
model {
  vector[N] nu;
  vector[N] err;
  m ~ normal(0, 1);
  phi ~ normal(0, 0.3);
  theta ~ normal(0, 0.3);
  s ~ exponential(1);
  for (t in 1:N) {
    nu[t] = m;
    for (p in 1:min(2, t - 1)) nu[t] += phi[p] * (y[t - p] - m);
    for (q in 1:min(3, t - 1)) nu[t] += theta[q] * err[t - q];
    err[t] = y[t] - nu[t];
  }
  err ~ normal(0, s);
}`,
		"sequences with lags": data + `parameters { real f; vector[2] phi; vector[4] m; }
model {
  f ~ normal(0, 1);
  phi ~ normal(0, 0.3);
  m ~ normal(0, 1);
  for (i in 1:4) {
    vector[N] z;
    vector[N] w;
    for (t in 1:N) {
      if (t <= 2) {
        z[t] = m[i] + t * f;
      } else {
        z[t] = phi[1] * z[t - 1] + phi[2] * tanh(z[t - 2]) + x[t];
        if (d[t]) z[t] += 0.1 * z[t - 2];
      }
      if (t == 1) w[t] = f;
      else w[t] = w[t - 1] * phi[1] + z[t];
      target += normal_lpdf(y[t] | z[t] + w[t], 1);
    }
    target += sum(z) + (N > 0 ? square(w[N]) : 0);
  }
}`,
		"sequences of different lengths": data + `parameters { real f; real<lower=0> s; vector[4] m; }
model {
  f ~ normal(0, 0.3);
  s ~ exponential(1);
  m ~ normal(0, 1);
  real last = m[1];
  for (i in 1:4) {
    array[N] vector[2] z;
    if (N > 0) z[1] = [m[i], last]';
    for (t in 2:max(1, N - i)) {
      z[t, 1] = f * z[t - 1, 2] + x[t];
      z[t, 2] = tanh(z[t - 1, 1]) + (t > 2 ? 0.2 * z[t - 2, 2] : s);
      target += normal_lpdf(y[t] | z[t, 1], s);
    }
    if (N > i + 1) last = z[N - i, 2];
  }
  target += last;
}`,
		"sequences in rows": data + `parameters { real f; vector[4] m; }
model {
  vector[N] z;
  vector[N] v;
  f ~ normal(0, 0.3);
  m ~ normal(0, 1);
  for (n in 1:N) {
    if (n == 1 || k[n] != k[n - 1]) {
      z[n] = m[k[n] + 1];
      v[n] = 0;
    } else {
      z[n] = f * z[n - 1] + x[n];
      v[n] = n == 2 || k[n] != k[n - 2] ? z[n - 1] : tanh(z[n - 1] + v[n - 1]) * v[n - 2];
    }
    target += normal_lpdf(y[n] | z[n] + v[n], 1);
  }
}`,
		"states": data + `parameters { real<lower=0> q; real<lower=0> r; real<lower=-1, upper=1> f; }
model {
  vector[2] m = rep_vector(0, 2);
  matrix[2, 2] P = diag_matrix(rep_vector(1, 2));
  matrix[2, 2] F = [[1, 1], [0, f]];
  q ~ exponential(1);
  r ~ exponential(1);
  for (n in 1:N) {
    m = F * m;
    P = add_diag(F * P * F', q);
    real S = P[1, 1] + r;
    vector[2] K = P[, 1] / S;
    if (d[n]) {
      target += normal_lpdf(y[n] | m[1], sqrt(S));
      m += K * (y[n] - m[1]);
      P -= K * P[1];
    }
  }
}`,
	})
}

// TestLevels compares the evaluators on loops whose iterations read results of earlier iterations
// at irregular distances: products by index (with factors and derivatives that may be 0), sums of
// exponentials and maxima by index, and trees. These are combined with sums, reads in between,
// conditionals, and outer and inner loops.
func TestLevels(t *testing.T) {
	const data = seriesData
	const parameters = "parameters { real b; vector[5] a; }\nmodel {\n  b ~ normal(0, 1);\n  a ~ normal(0, 1);\n"
	compareSeries(t, map[string]string{
		"products": data + parameters + `
  vector[4] p = rep_vector(1, 4);
  for (n in 1:N) p[k[n] + 1] *= cos(x[n] + b * y[n]);
  target += sum(p);
}`,
		"products of what may be 0": data + parameters + `
  vector[4] p = rep_vector(1 + b, 4);
  for (n in 1:N) p[k[n] + 1] = (d[n] * a[1 + n % 5] + 0 * b) * p[k[n] + 1];
  target += sum(sin(p));
}`,
		"quotients and sums": data + parameters + `
  vector[4] p = a[1:4];
  vector[4] s = rep_vector(0, 4);
  for (n in 1:N) {
    p[k[n] + 1] /= 1.5 + square(b * x[n]);
    s[4 - k[n]] += p[k[n] + 1];
  }
  target += sum(p) + sum(sin(s));
}`,
		"sums of exponentials and the greatest": data + parameters + `
  vector[4] m = rep_vector(negative_infinity(), 4);
  vector[4] g = rep_vector(-1, 4);
  for (n in 1:N) {
    m[k[n] + 1] = log_sum_exp(m[k[n] + 1], b * x[n]);
    if (d[n]) g[k[n] + 1] = fmax(g[k[n] + 1], a[1] * y[n]);
    target += -0.1 * square(m[k[n] + 1]);
  }
  target += sum(g);
}`,
		"a tree": data + parameters + `
  vector[N] u;
  for (n in 1:N) {
    int parent = n %/% (k[n] + 2);
    u[n] = parent == 0 ? a[1] : b * u[parent] + y[n];
  }
  target += -0.5 * dot_self(u - x);
}`,
		"a tree within a loop": data + parameters + `
  for (j in 1:3) {
    vector[N] u;
    for (n in 1:N) {
      u[n] = a[j];
      if (n > 2) u[n] = tanh(b * u[(n + j) %/% 3]) + y[n];
    }
    target += -0.5 * dot_self(u - x);
  }
}`,
		"loops within": data + parameters + `
  matrix[3, 4] p = rep_matrix(1, 3, 4);
  for (n in 1:N) {
    for (j in 1:3) p[j, k[n] + 1] = cos(p[j, k[n] + 1]) * a[j] + b * x[n];
  }
  target += sum(p);
}`,
		"swaps": data + parameters + `
  vector[5] p = a;
  for (n in 1:N) {
    real old = p[1];
    p[1] = p[k[n] + 2] * 0.9;
    p[k[n] + 2] = old + b;
  }
  target += -dot_self(p);
}`,
	})
}

const seriesData = "data { int<lower=0> N; vector[N] x; vector[N] y; array[N] int<lower=0, upper=3> k; array[N] int<lower=0, upper=1> d; }\n"

// compareSeries compares the evaluators on programs with rows of data. A third of the sizes and
// kinds of data is due each day.
func compareSeries(t *testing.T, texts map[string]string) {
	for name, text := range texts {
		seed := uint64(0)
		for _, n := range []int{0, 1, 2, 7, 8, 9, 40} {
			for _, kind := range []string{"alike", "sorted", "blocks", "any"} {
				seed++
				if testing.Short() && n != 1 && n != 9 {
					continue // 9 is about the length of a vector
				}
				if !short.Turn(int(seed), 3) {
					continue
				}
				rng := rand.New(rand.NewPCG(seed, 1))
				x, y, k, d := make([]float64, n), make([]float64, n), make([]int, n), make([]int, n)
				for i := range n {
					x[i], y[i], k[i], d[i] = rng.NormFloat64(), rng.NormFloat64(), rng.IntN(4), rng.IntN(2)
					switch kind {
					case "alike":
						x[i], y[i], k[i], d[i] = x[0], y[0], k[0], d[0]
					case "blocks":
						x[i], k[i], d[i] = float64(i/3), i/3%3, i/5%2
					}
				}
				if kind == "sorted" {
					slices.Sort(x)
					slices.Sort(y)
					slices.Sort(k)
				}
				values, err := json.Marshal(map[string]any{"N": n, "x": x, "y": y, "k": k, "d": d})
				if err != nil {
					t.Fatal(err)
				}
				set := parsed(t, string(values))
				rep := contest.Contend(text, "series.stan", set, seed, 2)
				if rep.Wrong == nil {
					rep = contest.Quick(text, "series.stan", set, seed, 2)
				}
				at := fmt.Sprintf("%s, %d rows, %s", name, n, kind)
				switch {
				case rep.Wrong != nil:
					t.Errorf("%s: %s (%s)", at, rep.Wrong.Text, rep.Wrong.Kind)
				case rep.Unsupported != "" || rep.Compared == 0:
					t.Errorf("%s: nothing was compared: %s", at, rep.Unsupported)
				}
			}
		}
	}
}
