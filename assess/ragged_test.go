package assess_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
)

const visits = `data {
  int J;
  array[J] int n;
  array[J] vector<missing>[n] y;
}
parameters {
  real a;
  real<lower=0> s;
}
model {
  a ~ normal(0, 2);
  s ~ normal(0, 1);
  for (j in 1:J) y[j] ~ normal(a * j, s);
}
generated quantities {
  array[J] vector[n] log_lik;
  for (j in 1:J) for (k in 1:n[j]) log_lik[j, k] = normal_lpdf(y[j, k] | a * j, s);
}`

// TestRagged checks the derived log likelihood of ragged data, and their predictive check: both are
// about the elements that exist and were observed.
func TestRagged(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		rows     [][]float64
		names    []string
		observed []float64
	}{
		{[][]float64{{1, 2}, {}, {3}, {2, 4, 5}}, []string{"y[1,1]", "y[1,2]", "y[3,1]", "y[4,1]", "y[4,2]", "y[4,3]"}, []float64{1, 2, 3, 2, 4, 5}},
		{[][]float64{{}, {1, nan}, {nan}, {2.5}}, []string{"y[2,1]", "y[4,1]"}, []float64{1, 2.5}},
	} {
		var n []int
		for _, row := range c.rows {
			n = append(n, len(row))
		}
		m, err := model.Compile("m.stan", visits)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Bind(map[string]any{"J": len(n), "n": n, "y": c.rows})
		if err != nil {
			t.Fatal(err)
		}
		f, err := fit.Sample(t.Context(), p, fit.Options{Chains: 1, Warmup: 200, Draws: 50, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		own, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{})
		if err != nil {
			t.Fatal(err)
		}
		derived, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{Derive: true})
		if err != nil {
			t.Fatal(err)
		}
		a, err := own.Matrix(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, err := derived.Matrix(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(derived.Names, c.names) || len(a.Columns) != len(b.Columns) {
			t.Fatalf("log likelihoods of %v, of the program %v", derived.Names, own.Names)
		}
		for i := range a.Columns {
			if d := math.Abs(a.Columns[i][7] - b.Columns[i][7]); !(d < 1e-12) {
				t.Errorf("%s: %v, want %v", derived.Names[i], b.Columns[i][7], a.Columns[i][7])
			}
		}
		r, err := assess.PredictiveOf(t.Context(), f, assess.PredictiveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Variables) != 1 || !slices.Equal(r.Variables[0].Observed, c.observed) {
			t.Errorf("%d variables are checked, want one with the values %v", len(r.Variables), c.observed)
		}
	}
}

// TestRaggedSimulated checks that simulated data and parameters are given with the rows one after
// another or in lists, as the program reads them.
func TestRaggedSimulated(t *testing.T) {
	m, err := model.Compile("m.stan", `data {
  int J;
  array[J] int n;
  array[J] vector[n] y;
  array[J, n] int c;
  array[J] matrix[n, 2] x;
}
parameters {
  array[J] vector<lower=0>[n] b;
}
model {
  for (j in 1:J) {
    b[j] ~ lognormal(j, 1e-6);
    for (k in 1:n[j]) {
      y[j, k] ~ normal(10 * j + k, 1e-6);
      c[j, k] ~ binomial(10 * j + k, 1);
      x[j, k] ~ normal(10 * j + k, 1e-6);
    }
  }
}`)
	if err != nil {
		t.Fatal(err)
	}
	n := []int{0, 2, 1, 0, 3}
	want := []float64{21, 22, 31, 51, 52, 53}
	for _, values := range []map[string]any{
		{"J": 5, "n": n},
		{"J": 5, "n": n, "y": make([]float64, 6), "c": make([]int, 6), "x": [][][]float64{{}, {{1, 2}, {1, 2}}, {{1, 2}}, {}, {{1, 2}, {1, 2}, {1, 2}}}},
	} {
		s, err := assess.NewSimulator(t.Context(), m, values, 1, 1, assess.SimulatorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		d, params, err := s.Set(0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Bind(d); err != nil {
			t.Error(err)
		}
		y, _ := d.Get("y")
		c, _ := d.Get("c")
		x, _ := d.Get("x")
		b, _ := params.Get("b")
		for i, w := range want {
			if len(y.Reals) != 6 || len(c.Ints) != 6 || len(x.Reals) != 12 || len(b.Reals) != 6 {
				t.Fatalf("y %v, c %v, x %v, b %v", y, c, x, b)
			}
			if math.Round(y.Reals[i]) != w || float64(c.Ints[i]) != w || math.Round(x.Reals[2*i]) != w || math.Round(x.Reals[2*i+1]) != w {
				t.Errorf("element %d: %v, %v, %v, want %v", i, y.Reals[i], c.Ints[i], x.Reals[2*i:2*i+2], w)
			}
			if math.Round(math.Log(b.Reals[i])) != math.Floor(w/10) {
				t.Errorf("b has %v at element %d", b.Reals[i], i)
			}
		}
	}
}

// TestRaggedCensored checks that replications of ragged censored data are compared with the values
// at the limits.
func TestRaggedCensored(t *testing.T) {
	m, err := model.Compile("m.stan", `data {
  int J;
  array[J] int n;
  array[J] vector<censored_above=3>[n] y;
}
parameters { real a; real<lower=0> s; }
model {
  a ~ normal(0, 1);
  s ~ normal(0, 1);
  for (j in 1:J) y[j] ~ normal(a, s);
}`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(map[string]any{"J": 4, "n": []int{0, 2, 1, 3}, "y": [][]float64{{}, {1, 3}, {4}, {0.5, 1, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(t.Context(), p, fit.Options{Chains: 1, Warmup: 200, Draws: 50, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := assess.PredictiveOf(t.Context(), f, assess.PredictiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{1, 3, 3, 0.5, 1, 2}; len(r.Variables) != 1 || !slices.Equal(r.Variables[0].Observed, want) {
		t.Errorf("%d variables are checked, want one with the values %v", len(r.Variables), want)
	}
}

// TestRaggedDiscrete checks the names of the elements of ragged integer parameters, and the derived
// log likelihoods of ragged data that depend on them.
func TestRaggedDiscrete(t *testing.T) {
	m, err := model.Compile("m.stan", `data { int J; array[J] int n; array[J] vector[n] y; }
parameters { real mu; array[J, n] int<lower=0, upper=1> z; }
model { mu ~ normal(0, 1); for (j in 1:J) { z[j] ~ bernoulli(0.3); for (k in 1:n[j]) y[j, k] ~ normal(mu + 3 * z[j, k], 1); } }`)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{"J": 3, "n": []int{2, 0, 1}, "y": [][]float64{{-1, 2.5}, {}, {4}}}
	p, err := m.Bind(values)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(t.Context(), p, fit.Options{Chains: 1, Warmup: 200, Draws: 50, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := assess.StatesOf(t.Context(), f, 1)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range s.Elements {
		names = append(names, e.Name)
	}
	if want := []string{"z[1,1]", "z[1,2]", "z[3,1]"}; !slices.Equal(names, want) {
		t.Errorf("states of %v, want %v", names, want)
	}
	if !(s.Elements[0].Probability[0] > 0.9) || !(s.Elements[2].Probability[1] > 0.9) {
		t.Errorf("probabilities %v", s.Elements)
	}
	l, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"y[1,1]", "y[1,2]", "y[3,1]"}; !slices.Equal(l.Names, want) {
		t.Errorf("log likelihoods of %v, want %v", l.Names, want)
	}
	x, err := l.Matrix(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, row := f.Draws.Draw(0, 7)
	density := func(d float64) float64 { return math.Exp(-d*d/2) / math.Sqrt(2*math.Pi) }
	at := row[slices.Index(f.Names(), "mu")]
	if want := math.Log(0.7*density(4-at) + 0.3*density(4-at-3)); math.Abs(x.Columns[2][7]-want) > 1e-9 {
		t.Errorf("log likelihood %v, want %v", x.Columns[2][7], want)
	}
	sim, err := assess.NewSimulator(t.Context(), m, values, 1, 1, assess.SimulatorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := sim.Set(0)
	if err != nil {
		t.Fatal(err)
	}
	if z, _ := params.Get("z"); len(z.Ints) != 3 {
		t.Errorf("simulated z %v", z)
	}
}

// TestRaggedHoldout checks which data remain when elements of ragged data are left out.
func TestRaggedHoldout(t *testing.T) {
	m, err := model.Compile("m.stan", `data { int J; array[J] int n; array[J] int g; array[J] matrix[n, 2] x; array[J] vector<missing>[n] y; }
parameters { vector[J] a; vector[2] b; }
model { a ~ normal(0, 1); b ~ normal(0, 1); for (j in 1:J) y[j] ~ normal(a[j] + x[j] * b, 1); }`)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{"J": 4, "n": []int{2, 0, 3, 1}, "g": []int{1, 1, 2, 1},
		"x": [][][]float64{{{1, 2}, {3, 4}}, {}, {{5, 6}, {7, 8}, {9, 10}}, {{11, 12}}}, "y": [][]float64{{1, 2}, {}, {3, math.NaN(), 5}, {6}}}
	h, err := assess.NewHoldout(t.Context(), m, values, model.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if h.N != 5 || h.Unobserved != 1 || h.Dim() != 6 || h.Name(1) != "y[1,2]" || h.Name(3) != "y[3,3]" || h.Name(4) != "y[4,1]" {
		t.Fatalf("%d observations, %d left out, %d parameters, %s %s %s", h.N, h.Unobserved, h.Dim(), h.Name(1), h.Name(3), h.Name(4))
	}
	train, test, err := h.Split([]int{0, 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set  *data.Set
		n    []int64
		y, x []float64
	}{
		{train, []int64{1, 0, 1, 1}, []float64{2, 3, 6}, []float64{3, 4, 5, 6, 11, 12}},
		{test, []int64{1, 0, 1, 0}, []float64{1, 5}, []float64{1, 2, 9, 10}},
	} {
		n, _ := c.set.Get("n")
		y, _ := c.set.Get("y")
		x, _ := c.set.Get("x")
		if !slices.Equal(n.Ints, c.n) || !slices.Equal(y.Reals, c.y) || !slices.Equal(x.Reals, c.x) {
			t.Errorf("n %v, y %v, x %v, want %v", n.Ints, y.Reals, x.Reals, c)
		}
		if _, err := m.Bind(c.set); err != nil {
			t.Error(err)
		}
	}
	groups, names, err := h.Groups("g")
	if err != nil || len(groups) != 2 || !slices.Equal(groups[0], []int{0, 1, 4}) || !slices.Equal(groups[1], []int{2, 3}) || names[0] != "g = 1" {
		t.Errorf("groups %v %v: %v", groups, names, err)
	}
}

// TestRaggedEffects checks averages of expected values over the elements of ragged data, also by a
// variable with a value for each row.
func TestRaggedEffects(t *testing.T) {
	m, err := model.Compile("m.stan", `data { int J; array[J] int n; array[J] int g; array[J] vector[n] x; array[J] vector[n] y; }
parameters { real a; real b; }
model { a ~ normal(0, 1); b ~ normal(0, 1); for (j in 1:J) y[j] ~ normal(a + b * x[j], 1); }`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(map[string]any{"J": 4, "n": []int{2, 0, 3, 1}, "g": []int{1, 1, 2, 1}, "x": [][]float64{{1, 2}, {}, {3, 4, 5}, {9}}, "y": [][]float64{{1, 2}, {}, {3, 3, 5}, {6}}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(t.Context(), p, fit.Options{Chains: 1, Warmup: 200, Draws: 50, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, row := f.Draws.Draw(0, 7)
	a, b := row[slices.Index(f.Names(), "a")], row[slices.Index(f.Names(), "b")]
	for _, c := range []struct {
		o    assess.EffectOptions
		want []float64
	}{
		{assess.EffectOptions{Kind: assess.Predictions}, []float64{a + b*4}},
		{assess.EffectOptions{Kind: assess.Predictions, By: []string{"g"}}, []float64{a + b*4, a + b*4}},
		{assess.EffectOptions{Kind: assess.Comparisons, Of: []string{"x"}, Step: 2}, []float64{2 * b}},
	} {
		e, err := assess.EffectsOf(t.Context(), f, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Rows) != len(c.want) {
			t.Fatalf("%v: %d effects, want %d", c.o, len(e.Rows), len(c.want))
		}
		for i, w := range c.want {
			if got := e.Rows[i].Draws[7]; math.Abs(got-w) > 1e-9 {
				t.Errorf("%v: effect %v, want %v", c.o, got, w)
			}
		}
	}
}

// TestRaggedGroups checks that groups of ragged data come from a variable with a value for each
// row, or for each element, also where elements are missing.
func TestRaggedGroups(t *testing.T) {
	nan := math.NaN()
	m, err := model.Compile("m.stan", strings.Replace(visits, "array[J] int n;", "array[J] int n, sex;\n  array[J, n] int place;\n  array[J] vector[n] age;", 1))
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(map[string]any{
		"J": 4, "n": []int{2, 0, 1, 3}, "y": [][]float64{{1, 2}, {}, {nan}, {2, 4, 5}}, "sex": []int{1, 1, 2, 2},
		"place": [][]int{{1, 2}, {}, {2}, {1, 1, 2}}, "age": [][]float64{{1, 2}, {}, {3}, {1, 2, 3}},
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(t.Context(), p, fit.Options{Chains: 1, Warmup: 200, Draws: 50, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	all, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{Derive: true})
	if err != nil {
		t.Fatal(err)
	}
	single, err := all.Matrix(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		by       string
		members  [][]int // of y[1,1], y[1,2], y[4,1], y[4,2], y[4,3]
		observed []float64
	}{
		{"sex", [][]int{{0, 1}, {2, 3, 4}}, []float64{1.5, 11. / 3}},
		{"place", [][]int{{0, 2, 3}, {1, 4}}, []float64{7. / 3, 3.5}},
	} {
		for _, derive := range []bool{true, false} {
			l, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{Derive: derive, By: c.by})
			if err != nil {
				if !derive && c.by == "sex" { // nothing shows what the rows of log_lik are
					continue
				}
				t.Fatal(err)
			}
			got, err := l.Matrix(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for g, own := range c.members {
				want := 0.0
				for _, i := range own {
					want += single.Columns[i][7]
				}
				if math.Abs(got.Columns[g][7]-want) > 1e-12*math.Abs(want) {
					t.Errorf("%s, derived %v: %s has %v, want %v", c.by, derive, l.Names[g], got.Columns[g][7], want)
				}
			}
		}
		r, err := assess.PredictiveOf(t.Context(), f, assess.PredictiveOptions{By: []string{c.by}})
		if err != nil {
			t.Fatal(err)
		}
		for g, cell := range r.Variables[0].Groups.Cells {
			if math.Abs(cell.Check.Observed-c.observed[g]) > 1e-12 {
				t.Errorf("%s: mean %v in %v, want %v", c.by, cell.Check.Observed, cell.By, c.observed[g])
			}
		}
	}
	r, err := assess.PredictiveOf(t.Context(), f, assess.PredictiveOptions{X: "age"})
	if err != nil {
		t.Fatal(err)
	}
	for g, want := range []float64{1.5, 3, 5} { // at ages 1, 2 and 3
		if got := r.Variables[0].Groups.Cells[g].Check.Observed; got != want {
			t.Errorf("mean %v at age %d, want %v", got, g+1, want)
		}
	}
}
