package assess_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// TestNewHoles checks predictions for new data with missing values against closed forms. These are
// at the places of those that the fit estimated. Given covariates are kept, missing ones are drawn
// from their distributions, and never those of the fit.
func TestNewHoles(t *testing.T) {
	m, err := model.Compile("m.stan", `data { int N; vector<missing>[N] x; array[N] int<lower=1, upper=2, missing> g; vector<missing>[N] y; }
parameters { real a; real b; real c; real mu; real<lower=0, upper=1> q; }
model { x ~ normal(mu, 2); g ~ categorical([q, 1 - q]'); y ~ normal(a + b * x + c * to_vector(g), 0.1); }`)
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	set := func(values map[string]any) *data.Set {
		s, err := data.FromGo(values)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	fitted := set(map[string]any{"N": 3, "x": []float64{1, nan, 2}, "g": []float64{1, 2, nan}, "y": []float64{8, 400, 9}})
	p, err := m.Bind(fitted)
	if err != nil {
		t.Fatal(err)
	}
	const n = 20000
	at := map[string]float64{"x.2": 100, "y.2": 100, "a": 5, "b": 3, "c": 10, "mu": 1, "q": 0.25}
	contents := &draws.Contents{Columns: draws.Columns{Names: p.ParameterNames()}}
	for range n {
		for _, name := range p.ParameterNames() {
			contents.Draws = append(contents.Draws, at[name])
		}
	}
	store, err := draws.NewStoreFrom([]string{""}, []*draws.Contents{contents})
	if err != nil {
		t.Fatal(err)
	}
	f := &fit.Fit{Draws: store}
	for name, c := range map[string]struct {
		x, g, y    []float64
		mean, sd   []float64 // of y_rep
		unexpected string    // the value that expected values lack
	}{
		"given": {[]float64{0, 2, -1}, []float64{1, 2, 1}, []float64{0, 0, 0}, []float64{15, 31, 12}, []float64{0.1, 0.1, 0.1}, ""},
		"no y":  {[]float64{0, 2}, []float64{1, 2}, []float64{0, nan}, []float64{15, 31}, []float64{0.1, 0.1}, ""},
		"x":     {[]float64{0, nan, -1}, []float64{1, 2, 1}, []float64{0, 0, 0}, []float64{15, 28, 12}, []float64{0.1, math.Sqrt(36.01), 0.1}, "x[2]"},
		"g":     {[]float64{0, 2, -1}, []float64{1, 2, nan}, []float64{0, 0, 0}, []float64{15, 31, 19.5}, []float64{0.1, 0.1, math.Sqrt(0.01 + 100*0.25*0.75)}, "g[3]"},
		"same":  {[]float64{0, nan, 2}, []float64{1, 2, nan}, []float64{8, 400, 9}, []float64{15, 28, 28.5}, []float64{0.1, math.Sqrt(36.01), math.Sqrt(0.01 + 100*0.25*0.75)}, "x[2]"},
		"one":   {[]float64{nan}, []float64{nan}, []float64{nan}, []float64{25.5}, []float64{math.Sqrt(36.01 + 100*0.25*0.75)}, "x[1]"},
	} {
		values := set(map[string]any{"N": len(c.x), "x": c.x, "g": c.g, "y": c.y})
		d, err := m.DeriveNew(t.Context(), fitted, values, predict.Replicated, predict.Options{}, model.BindOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		q, err := d.BindContext(t.Context(), values, model.BindOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		g, err := fit.Generate(t.Context(), q, f, fit.GenerateOptions{Seed: 1})
		if err != nil || g.Failed > 0 {
			t.Fatalf("%s: %v, %v", name, err, g)
		}
		row := 0
		for i, element := range g.Draws.Names() {
			column := g.Draws.Column(nil, 0, i)
			mean, square := 0.0, 0.0
			for _, v := range column {
				mean += v
			}
			mean /= n
			for _, v := range column {
				square += (v - mean) * (v - mean) / n
			}
			at := int(element[len(element)-1] - '1')
			switch {
			case strings.HasPrefix(element, "y_rep"):
				if d := math.Abs(mean - c.mean[at]); d > 5*c.sd[at]/math.Sqrt(n) || math.Abs(math.Sqrt(square)/c.sd[at]-1) > 0.05 {
					t.Errorf("%s: %s has the mean %g and the standard deviation %g, want %g and %g", name, element, mean, math.Sqrt(square), c.mean[at], c.sd[at])
				}
				row++
			case strings.HasPrefix(element, "x_rep") && !math.IsNaN(c.x[at]) && (mean != c.x[at] || square > 0),
				strings.HasPrefix(element, "g_rep") && !math.IsNaN(c.g[at]) && (mean != c.g[at] || square > 0):
				t.Errorf("%s: %s is drawn, with the mean %g", name, element, mean)
			}
		}
		if row != len(c.x) {
			t.Errorf("%s: %d rows of y", name, row)
		}
		_, err = m.DeriveNew(t.Context(), fitted, values, predict.Expected, predict.Options{}, model.BindOptions{})
		if (err == nil) != (c.unexpected == "") || err != nil && !strings.Contains(err.Error(), c.unexpected+".") {
			t.Errorf("expected values of %s: %v", name, err)
		}
		_, _, err = m.GenerateNew(t.Context(), fitted, values, model.BindOptions{})
		if missing := c.unexpected != "" || name == "no y"; missing != (err != nil) {
			t.Errorf("generated quantities of %s: %v", name, err)
		}
	}
}

// TestNewHolesUndrawn checks that missing values of new data that cannot be drawn are refused.
func TestNewHolesUndrawn(t *testing.T) {
	for _, c := range []struct{ program, want string }{
		{`data { int N; vector<missing>[N] x; vector[N] y; } parameters { real a; } transformed parameters { vector[N] eta = a * x; }
model { x ~ normal(0, 1); y ~ normal(eta, 1); }`, "transformed parameters block"},
		{`data { int N; vector<missing>[N] x; vector[N] y; } parameters { real a; }
model { x ~ multi_normal(rep_vector(0, N), identity_matrix(N)); y ~ normal(a * x, 1); }`, "one by one"},
		{`data { int N; vector<lower=0, upper=1, missing>[N] x; vector[N] y; } parameters { real a; }
model { y ~ normal(a * x, 1); }`, "which no statement of the model draws"},
	} {
		m, err := model.Compile("m.stan", c.program)
		if err != nil {
			t.Fatal(err)
		}
		values := func(x ...float64) *data.Set {
			s, err := data.FromGo(map[string]any{"N": 2, "x": x, "y": []float64{1, 2}})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		_, err = m.DeriveNew(t.Context(), values(0.5, math.NaN()), values(0.2, math.NaN()), predict.Replicated, predict.Options{}, model.BindOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%v", c.program, err)
		}
	}
}

// TestNewHolesInBounds checks that missing values of new data are drawn within the bounds of their
// declaration, as those of a fit are. The means are those of truncated distributions.
func TestNewHolesInBounds(t *testing.T) {
	m, err := model.Compile("m.stan", `data { int N; vector[2] least; vector<lower=least, missing>[2] x; array[N] int<lower=1, upper=3, missing> k; vector<upper=0, missing>[N] u; vector[N] y; }
parameters { real a; }
model { x ~ normal(a, 2); k ~ poisson(3); u ~ normal(a, 1); y[1] ~ normal(x[1] + k[1] + u[1], 1); y[2] ~ normal(x[2] + k[2] + u[2], 1); }`)
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	set := func(values map[string]any) *data.Set {
		s, err := data.FromGo(values)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	fitted := set(map[string]any{"N": 2, "least": []float64{0, 0}, "x": []float64{1, 2}, "k": []float64{1, 2}, "u": []float64{-1, -1}, "y": []float64{1, 2}})
	contents := &draws.Contents{Columns: draws.Columns{Names: []string{"a"}}}
	const n, a = 20000, 1.0
	for range n {
		contents.Draws = append(contents.Draws, a)
	}
	store, err := draws.NewStoreFrom([]string{""}, []*draws.Contents{contents})
	if err != nil {
		t.Fatal(err)
	}
	f := &fit.Fit{Draws: store}
	above := func(end, mu, s float64) float64 { // the mean of a normal distribution above an end
		z := (end - mu) / s
		return mu + s*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)/(math.Erfc(z/math.Sqrt2)/2)
	}
	counts := (1*3 + 2*4.5 + 3*4.5) / (3 + 4.5 + 4.5)
	for name, c := range map[string]struct {
		values map[string]any
		want   map[string]float64
	}{
		"holes":  {map[string]any{"N": 2, "least": []float64{0, 3}, "x": []float64{nan, nan}, "k": []float64{nan, 2}, "u": []float64{nan, nan}, "y": []float64{0, 0}}, map[string]float64{"x_rep.1": above(0, a, 2), "x_rep.2": above(3, a, 2), "k_rep.1": counts, "k_rep.2": 2, "u_rep.1": -above(0, -a, 1)}},
		"absent": {map[string]any{"N": 2, "least": []float64{-1, 0}}, map[string]float64{"x_rep.1": above(-1, a, 2), "x_rep.2": above(0, a, 2), "k_rep.2": counts, "u_rep.2": -above(0, -a, 1)}},
		"never":  {map[string]any{"N": 2, "least": []float64{0, 90}, "x": []float64{1, nan}, "k": []float64{1, 1}, "u": []float64{-1, -1}}, nil},
	} {
		values := set(c.values)
		d, err := m.DeriveNew(t.Context(), fitted, values, predict.Replicated, predict.Options{}, model.BindOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		q, err := d.BindContext(t.Context(), values, model.BindOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		of := f
		if c.want == nil {
			few, err := draws.NewStoreFrom([]string{""}, []*draws.Contents{{Columns: contents.Columns, Draws: contents.Draws[:2]}})
			if err != nil {
				t.Fatal(err)
			}
			of = &fit.Fit{Draws: few}
		}
		g, err := fit.Generate(t.Context(), q, of, fit.GenerateOptions{Seed: 1})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.want == nil {
			if g.Failed != 2 || !strings.Contains(g.Reason.Error(), "x lacks a value, and its distribution is hardly ever within its bounds") {
				t.Errorf("%s: %d draws failed: %v", name, g.Failed, g.Reason)
			}
			continue
		}
		for i, element := range g.Draws.Names() {
			want, ok := c.want[element]
			if !ok {
				continue
			}
			mean := 0.0
			for _, v := range g.Draws.Column(nil, 0, i) {
				mean += v / n
			}
			if math.Abs(mean-want) > 5*2/math.Sqrt(n) {
				t.Errorf("%s: the mean of %s is %g, want %g", name, element, mean, want)
			}
		}
	}
}
