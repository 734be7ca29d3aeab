// Package fittest has models and fits for tests of packages that use package fit.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
package fittest

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/model"
)

// Kinds is a model with variables of all types: integer, real, complex, tuple and so on.
const Kinds = `data {
  int N;
  array[N] int y;
  vector[2] x;
  real unused;
}
parameters {
  real<lower=0> mu;
  matrix[2, 3] c;
  complex g;
  tuple(real, array[2] row_vector[2]) h;
  array[2] tuple(ordered[2], real<upper=0>) i;
}
model {
  mu ~ lognormal(0, 1);
  to_vector(c) ~ normal(0, 1);
  get_real(g) ~ normal(0, 1);
  get_imag(g) ~ normal(0, 1);
  h.1 ~ normal(0, 1);
  for (k in 1:2) {
    h.2[k] ~ normal(0, 1);
    i[k].1 ~ normal(0, 1);
    i[k].2 ~ normal(0, 1);
  }
  for (n in 1:(N - 1)) y[n] ~ poisson(mu);
  x ~ normal(c[1, 1], 1);
}
generated quantities {
  int k = poisson_rng(mu);
  array[2, 2] int kk = {{k, k + 1}, {k + 2, k + 3}};
  complex_vector[2] z = [g, 2 * g]';
}`

// KindsPosterior returns Kinds bound to data.
func KindsPosterior(t *testing.T) *model.Posterior {
	t.Helper()
	m, err := model.Compile("kinds.stan", Kinds)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(map[string]any{"N": 3, "y": []int{1, 2, 3}, "x": []float64{0.5, 1}, "unused": 3.5})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// SameDraws fails the test unless draws are equal to the last bit.
func SameDraws(t *testing.T, got, want *draws.Store) {
	t.Helper()
	if !slices.Equal(got.Names(), want.Names()) {
		t.Fatalf("names %v, want %v", got.Names(), want.Names())
	}
	if !slices.Equal(got.Columns().StatisticNames(), want.Columns().StatisticNames()) {
		t.Fatalf("statistics %v, want %v", got.Columns().StatisticNames(), want.Columns().StatisticNames())
	}
	if got.Chains() != want.Chains() {
		t.Fatalf("%d chains, want %d", got.Chains(), want.Chains())
	}
	for c := range want.Chains() {
		if got.Len(c) != want.Len(c) {
			t.Fatalf("chain %d: %d draws, want %d", c, got.Len(c), want.Len(c))
		}
		for i := range want.Len(c) {
			s, v := got.Draw(c, i)
			ws, wv := want.Draw(c, i)
			same := func(a, b float64) bool { return a == b || a != a && b != b }
			if !slices.EqualFunc(s, ws, same) || !slices.EqualFunc(v, wv, same) {
				t.Fatalf("chain %d, draw %d: %v %v\nwant %v %v", c, i, s, v, ws, wv)
			}
		}
	}
}

// Line is a linear regression model.
const Line = `data { int N; vector[N] x; vector[N] y; array[N] int g; }
parameters { real a; real b; real<lower=0> s; }
model { a ~ normal(0, 10); b ~ normal(0, 10); s ~ normal(0, 5); y ~ normal(a + b * x, s); }`

// LineData returns data for Line.
func LineData() map[string]any {
	n := 20
	x, y, g := make([]float64, n), make([]float64, n), make([]int, n)
	for i := range n {
		x[i] = float64(i)/10 - 1
		y[i] = 1 + 2*x[i] + math.Sin(7*float64(i))
		g[i] = 3 + i%4
	}
	return map[string]any{"N": n, "x": x, "y": y, "g": g}
}

// LineFit returns a fit of a model, given as Stan source, to LineData.
func LineFit(t *testing.T, text string) *fit.Fit {
	t.Helper()
	model, err := model.Compile("m", text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Bind(LineData())
	if err != nil {
		t.Fatal(err)
	}
	fit, err := fit.Sample(context.Background(), p, fit.Options{Seed: 1, Draws: 500, Warmup: 500})
	if err != nil {
		t.Fatal(err)
	}
	return fit
}
