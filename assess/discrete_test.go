package assess_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
)

const classes = `data { int N; vector[N] y; array[N] int g; }
parameters { simplex[2] w; ordered[2] mu; array[N] int<lower=1, upper=2> z; }
model {
  w ~ dirichlet([2, 2]'); mu ~ normal(0, 3);
  z ~ categorical(w);
  for (n in 1:N) y[n] ~ normal(mu[z[n]], 0.01);
}`

// TestDiscreteCriticism checks what is computed for a model with discrete parameters: the log
// likelihood of each observation with its class summed out, replicated and simulated data that
// belong to the classes drawn with them, probabilities of classes, and refusals.
func TestDiscreteCriticism(t *testing.T) {
	m, err := model.Compile("m.stan", classes)
	if err != nil {
		t.Fatal(err)
	}
	ys := []float64{1.01, 0.99, 3, 3.01, 2.99}
	values := map[string]any{"N": len(ys), "y": ys, "g": []int{1, 1, 1, 2, 2}}
	p, err := m.Bind(values)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(t.Context(), p, fit.Options{Chains: 2, Warmup: 200, Draws: 100, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	l, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !l.Given || strings.Join(l.Names, " ") != "y[1] y[2] y[3] y[4] y[5]" || l.Source != "derived from the statements on y, each given the others" {
		t.Errorf("log likelihoods of %v, %s", l.Names, l.Source)
	}
	matrix, err := l.Matrix(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	normal := func(y, mu float64) float64 {
		d := (y - mu) / 0.01
		return -d*d/2 - math.Log(0.01*math.Sqrt(2*math.Pi))
	}
	at := map[string]int{}
	for i, n := range f.Names() {
		at[n] = i
	}
	for chain := range 2 {
		for draw := range f.Draws.Len(chain) {
			_, row := f.Draws.Draw(chain, draw)
			for i, y := range ys {
				a, b := math.Log(row[at["w.1"]])+normal(y, row[at["mu.1"]]), math.Log(row[at["w.2"]])+normal(y, row[at["mu.2"]])
				want := max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
				if got := matrix.Columns[i][matrix.Row(chain, draw)]; math.Abs(got-want) > 1e-10*max(1, math.Abs(want)) {
					t.Fatalf("log likelihood of y[%d] at draw %d: %.14g, want %.14g", i+1, draw, got, want)
				}
			}
		}
	}
	if _, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{By: "g"}); err == nil || !strings.Contains(err.Error(), "discrete parameters") {
		t.Errorf("groups: %v", err)
	}
	for _, all := range []bool{false, true} {
		s, err := assess.SensitivityOf(t.Context(), f, assess.SensitivityOptions{All: all})
		if err != nil || len(s.Names) != 4 {
			t.Errorf("sensitivity to %v: %v", s, err)
		}
	}
	if _, err := assess.PredictiveOf(t.Context(), f, assess.PredictiveOptions{}); err != nil {
		t.Error(err)
	}
	plain, err := model.Compile("plain.stan", "parameters { real x; } model { x ~ normal(0, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plain.DeriveProbabilities(); err == nil || !strings.Contains(err.Error(), "no discrete parameters") {
		t.Errorf("no states: %v", err)
	}
	for _, given := range []map[string]any{values, {"N": 7, "g": []int{1, 1, 1, 1, 1, 1, 1}}} {
		s, err := assess.NewSimulator(t.Context(), m, given, 3, 1, assess.SimulatorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !s.Direct {
			t.Errorf("the prior was sampled: %s", s.Reason)
		}
		for n := range 3 {
			data, params, err := s.Set(n)
			if err != nil {
				t.Fatal(err)
			}
			y, _ := data.Get("y")
			z, ok := params.Get("z")
			mu, _ := params.Get("mu")
			if !ok || !z.IsInt || len(z.Ints) != len(y.Reals) {
				t.Fatalf("z is %v", z)
			}
			for i := range y.Reals {
				if d := y.Reals[i] - mu.Reals[z.Ints[i]-1]; math.Abs(d) > 0.06 {
					t.Errorf("set %d: y[%d] is %g from the mean of its class", n, i+1, d)
				}
			}
		}
	}
	s, err := assess.StatesOf(t.Context(), f, 0)
	if err != nil {
		t.Fatal(err)
	}
	if s.Draws != 200 || s.MostLikely != 200 || len(s.Elements) != 5 {
		t.Errorf("%d states at %d draws, the most likely at %d", len(s.Elements), s.Draws, s.MostLikely)
	}
	for i, e := range s.Elements {
		want := 1 // the classes are far apart
		if ys[i] > 2 {
			want = 2
		}
		best, p := e.Best()
		if e.Name != fmt.Sprintf("z[%d]", i+1) || e.Least != 1 || best != want || p < 0.999 || e.Jointly != want || len(e.Probability) != 2 || math.Abs(e.Probability[0]+e.Probability[1]-1) > 1e-12 {
			t.Errorf("state %+v, want the value %d", e, want)
		}
	}
	g, err := assess.StatesAt(t.Context(), f, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range g.Draws.Names() {
		at[n] = i
	}
	for draw := range f.Draws.Len(0) {
		_, row := f.Draws.Draw(0, draw)
		_, own := g.Draws.Draw(0, draw)
		for i, y := range ys {
			var a [2]float64
			for k := range a {
				a[k] = math.Log(row[at[fmt.Sprintf("w.%d", k+1)]]) + normal(y, row[at[fmt.Sprintf("mu.%d", k+1)]])
			}
			want, mode := 1/(1+math.Exp(a[1]-a[0])), 1.0
			if a[1] > a[0] {
				mode = 2
			}
			first, second := own[at[fmt.Sprintf("z_probability.%d.1", i+1)]], own[at[fmt.Sprintf("z_probability.%d.2", i+1)]]
			if math.Abs(first-want) > 1e-10 || math.Abs(first+second-1) > 1e-12 || own[at[fmt.Sprintf("z_mode.%d", i+1)]] != mode {
				t.Fatalf("draw %d of z[%d]: probabilities %g, %g, want %g; mode %g", draw, i+1, first, second, want, mode)
			}
		}
	}
	h, err := assess.NewHoldout(t.Context(), m, values, model.BindOptions{})
	if err != nil || h.N != 5 {
		t.Errorf("rows to leave out: %v", err)
	}
	rows, err := model.Compile("rows.stan", `data { int R; array[R, 2] int y; }
parameters { real<lower=0, upper=1> p; array[R] int<lower=0, upper=1> z; }
model { z ~ bernoulli(0.5); for (r in 1:R) y[r] ~ bernoulli(z[r] * p); }`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = assess.NewHoldout(t.Context(), rows, map[string]any{"R": 2, "y": [][]int{{0, 1}, {0, 0}}}, model.BindOptions{})
	if err == nil || !strings.Contains(err.Error(), "discrete parameters") {
		t.Errorf("rows of several elements: %v", err)
	}
}

// TestCountsLogLik compares the densities of observations given all others with sums over counts
// that are written out here: for mixtures in a local vector, and for a count whose mean another one
// decides.
func TestCountsLogLik(t *testing.T) {
	lg := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	poisson := func(n int, mean float64) float64 {
		if mean == 0 {
			return map[bool]float64{true: 1}[n == 0]
		}
		return math.Exp(float64(n)*math.Log(mean) - mean - lg(float64(n)+1))
	}
	binomial := func(y, n int, p float64) float64 {
		if y > n {
			return 0
		}
		return math.Exp(lg(float64(n)+1) - lg(float64(y)+1) - lg(float64(n-y)+1) + float64(y)*math.Log(p) + float64(n-y)*math.Log1p(-p))
	}
	normal := func(y, mu float64) float64 { return math.Exp(-(y-mu)*(y-mu)/8) / 2 / math.Sqrt(2*math.Pi) }
	const last = 120
	for _, c := range []struct {
		text string
		y    any
		want func(a, r float64) []float64
	}{
		{`data { array[2] int y; }
parameters { real<lower=0, upper=3> a; real<lower=0, upper=1> r; array[2] int<lower=0> N; }
model {
  for (i in 1:2) {
    vector[2] lp;
    N[i] ~ poisson(a);
    lp[1] = log(r) + binomial_lpmf(y[i] | N[i], 0.2);
    lp[2] = log1m(r) + binomial_lpmf(y[i] | N[i], 0.7);
    target += log_sum_exp(lp);
  }
}`, []int{4, 0}, func(a, r float64) []float64 {
			var sums [2]float64
			for i, y := range []int{4, 0} {
				for n := range last {
					sums[i] += poisson(n, a) * (r*binomial(y, n, 0.2) + (1-r)*binomial(y, n, 0.7))
				}
			}
			return sums[:]
		}},
		{`data { vector[2] y; }
parameters { real<lower=0, upper=3> a; real<lower=0, upper=2> r; array[2] int<lower=0> N; }
model {
  N[1] ~ poisson(a);
  N[2] ~ poisson(r * N[1]);
  y ~ normal(to_vector(N), 2);
}`, []float64{3.5, 6}, func(a, r float64) []float64 {
			var both, first, second float64
			for n := range last {
				for m := range last {
					p := poisson(n, a) * poisson(m, r*float64(n))
					first += p * normal(3.5, float64(n))
					second += p * normal(6, float64(m))
					both += p * normal(3.5, float64(n)) * normal(6, float64(m))
				}
			}
			return []float64{both / second, both / first}
		}},
	} {
		m, err := model.Compile("m.stan", c.text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Bind(map[string]any{"y": c.y})
		if err != nil {
			t.Fatal(err)
		}
		f, err := fit.Sample(t.Context(), p, fit.Options{Chains: 1, Warmup: 50, Draws: 8, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		l, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{})
		if err != nil {
			t.Fatal(err)
		}
		matrix, err := l.Matrix(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for draw := range f.Draws.Len(0) {
			_, row := f.Draws.Draw(0, draw)
			for i, want := range c.want(row[0], row[1]) {
				if got := matrix.Columns[i][matrix.Row(0, draw)]; math.Abs(got-math.Log(want)) > 1e-9*max(1, math.Abs(got)) {
					t.Errorf("log likelihood of y[%d] at a = %v, r = %v: %.14g, want %.14g", i+1, row[0], row[1], got, math.Log(want))
				}
			}
		}
	}
}
