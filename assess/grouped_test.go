package assess_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
)

// noise is a model whose observations are standard normal, whatever the parameter is.
const noise = `data { int N; array[N] int g; vector[N] x; vector[N] y; } parameters { real a; }
model { a ~ std_normal(); y ~ normal(0, 1); }`

func priorChecks(t *testing.T, text string, values map[string]any, o assess.PredictiveOptions) (*assess.Predictive, error) {
	t.Helper()
	m, err := model.Compile("m", text)
	if err != nil {
		t.Fatal(err)
	}
	o.Seed = 1
	p, _, err := assess.PriorPredictive(context.Background(), m, values, model.BindOptions{}, fit.Options{Seed: 1, Draws: 2000}, o)
	return p, err
}

// rowsOf makes n rows. g repeats 1 to 3, x repeats 0 to 11, and y is shift in group 3 and 0
// elsewhere.
func rowsOf(n int, shift float64) map[string]any {
	g, x, y := make([]int, n), make([]float64, n), make([]float64, n)
	for i := range n {
		g[i], x[i] = i%3+1, float64(i%12)
		if g[i] == 3 {
			y[i] = shift
		}
	}
	return map[string]any{"N": n, "g": g, "x": x, "y": y}
}

// TestGroupsOfNoise compares deviations and P with theory. The mean of n standard normal values has
// a standard deviation of 1/√n. The largest of k independent deviations has the distribution
// function (2Φ(z)-1)^k.
func TestGroupsOfNoise(t *testing.T) {
	const n, k, draws = 48, 3, 8000
	p, err := priorChecks(t, noise, rowsOf(n, 1), assess.PredictiveOptions{By: []string{"g"}})
	if err != nil {
		t.Fatal(err)
	}
	groups := p.Variables[0].Groups
	if len(groups.Cells) != k {
		t.Fatalf("%d groups", len(groups.Cells))
	}
	tail := func(z float64) float64 { return 1 - math.Pow(math.Erf(z/math.Sqrt2), k) }
	for i, c := range groups.Cells {
		sd := 1 / math.Sqrt(n/k)
		if c.Rows != n/k || c.By[0].Label != fmt.Sprint(i+1) || math.Abs(c.Check.SD-sd) > 5*sd/math.Sqrt(2*draws) {
			t.Errorf("group %+v, want %d rows and a standard deviation of %v", c, n/k, sd)
		}
	}
	if got := tail(groups.Limit); math.Abs(got-0.01) > 5*math.Sqrt(0.01*0.99/draws) {
		t.Errorf("the limit %v is exceeded with probability %v, want 0.01", groups.Limit, got)
	}
	if odd := groups.Odd(); len(odd) != 1 || odd[0].By[0].Value != 3 || groups.P > 5*tail(4)+3./draws {
		t.Errorf("deviating groups %+v, p = %v", odd, groups.P)
	}
	// The largest of three deviations is often 1.5 standard deviations or more.
	if p, err = priorChecks(t, noise, rowsOf(n, 1.5/4), assess.PredictiveOptions{By: []string{"g"}}); err != nil {
		t.Fatal(err)
	}
	want := tail(1.5)
	if got := p.Variables[0].Groups.P; math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/draws)+0.02 || p.Variables[0].Groups.Odd() != nil {
		t.Errorf("p = %v, want %v", got, want)
	}
}

// TestIntervals checks that intervals have about as many rows each, keep equal values together, and
// are made within groups.
func TestIntervals(t *testing.T) {
	p, err := priorChecks(t, noise, rowsOf(48, 0), assess.PredictiveOptions{X: "x", Statistic: "max"})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	rows := 0
	for _, c := range p.Variables[0].Groups.Cells {
		text += fmt.Sprintf("%v-%v:%d ", c.Low, c.High, c.Rows)
		rows += c.Rows
	}
	if rows != 48 || len(p.Variables[0].Groups.Cells) != 10 || !strings.HasPrefix(text, "0-1:8 ") || !strings.HasSuffix(text, "11-11:4 ") {
		t.Errorf("intervals: %s", text)
	}
	values := rowsOf(48, 0)
	values["x"] = values["g"] // few distinct values: each makes an interval
	if p, err = priorChecks(t, noise, values, assess.PredictiveOptions{X: "x", By: []string{"g"}}); err != nil {
		t.Fatal(err)
	}
	if cells := p.Variables[0].Groups.Cells; len(cells) != 3 || cells[2].Low != 3 || cells[2].High != 3 {
		t.Errorf("cells %+v", cells)
	}
	for _, c := range []struct {
		o    assess.PredictiveOptions
		want string
	}{
		{assess.PredictiveOptions{By: []string{"ward"}}, "no ward"},
		{assess.PredictiveOptions{By: []string{"N"}}, "no column"},
		{assess.PredictiveOptions{By: []string{"g"}, Statistic: "skew"}, "no statistic"},
		{assess.PredictiveOptions{By: []string{"other"}}, "2 values, but y has 48 rows"},
	} {
		values := rowsOf(48, 0)
		values["other"] = []float64{1, 2}
		if _, err := priorChecks(t, noise, values, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
}

// TestImplausible checks the findings about the prior: data that it hardly expects, far wider data,
// constant data, and data that cannot be drawn. A sensible prior, or a check without data, must
// have no findings.
func TestImplausible(t *testing.T) {
	head := "data { int N; vector[N] x; array[N] int g; vector[N] y; array[N] int<lower=0> k; } parameters { real a; real<lower=0> s; } model { "
	for _, c := range []struct{ name, model, want string }{
		{"sensible", "a ~ normal(0, 1); s ~ exponential(1); y ~ normal(a, s);", ""},
		{"far", "a ~ normal(50, 1); s ~ exponential(1); y ~ normal(a, s);", "prior-predictive"},
		{"wide", "a ~ normal(0, 100); s ~ exponential(0.001); y ~ normal(a, s);", "prior-wide"},
		{"constant", "a ~ normal(0, 50); s ~ exponential(1); k ~ bernoulli_logit(a);", "prior-constant"},
		{"overflow", "a ~ normal(0, 30); s ~ exponential(1); k ~ poisson_log(a);", "prior-impossible"},
		{"no data", "a ~ normal(50, 1); s ~ exponential(1); y ~ normal(a, s);", "none"},
	} {
		values := rowsOf(24, 0)
		y, k := make([]float64, 24), make([]int, 24)
		for i := range y {
			y[i], k[i] = float64(i%5)-2, i%2
		}
		if values["y"], values["k"] = y, k; c.want == "none" {
			delete(values, "y")
		}
		p, err := priorChecks(t, head+c.model+" }", values, assess.PredictiveOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		findings, found := p.Findings(), false
		for _, f := range findings {
			found = found || f.Code == c.want
		}
		if plausible := c.want == "" || c.want == "none"; assess.Plausible(findings) != plausible || !plausible && !found {
			t.Errorf("%s: findings %+v", c.name, findings)
		}
		checks := p.Variables[0].Checks
		if c.want == "none" && !math.IsNaN(checks[0].Observed) || p.Variables[0].Uniform != nil {
			t.Errorf("%s: checks %+v", c.name, checks)
		}
	}
}
