package assess_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// TestDiscretePIT compares the LOO-PIT of a mixture whose classes are far apart with the
// distribution function of the mixture. Draws of a class that an observation rules out do not
// exist, so that replications given the classes would be right for no observation.
func TestDiscretePIT(t *testing.T) {
	m, err := model.Compile("m.stan", strings.ReplaceAll(classes, "0.01", "0.5"))
	if err != nil {
		t.Fatal(err)
	}
	ys := []float64{1.2, 0.7, 5, 5.9, 4.6, 5.2}
	p, err := m.Bind(map[string]any{"N": len(ys), "y": ys, "g": []int{1, 1, 1, 2, 2, 2}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(t.Context(), p, fit.Options{Chains: 4, Warmup: 300, Draws: 2000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	got, err := assess.PredictiveOf(t.Context(), f, assess.PredictiveOptions{Seed: 1})
	if err != nil || got.NoPIT != nil || len(got.Variables[0].PIT) != len(ys) {
		t.Fatalf("no LOO-PIT: %v, %v", err, got)
	}
	l, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{})
	if err != nil {
		t.Fatal(err)
	}
	matrix, err := l.Matrix(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, n := range f.Names() {
		at[n] = i
	}
	below := func(y, mu float64) float64 { return math.Erfc((mu-y)/0.5/math.Sqrt2) / 2 }
	for i, y := range ys {
		weights, _ := criticise.Weights(matrix.Columns[i], 1)
		want := 0.0
		for chain := range 4 {
			for draw := range f.Draws.Len(chain) {
				_, x := f.Draws.Draw(chain, draw)
				want += weights[matrix.Row(chain, draw)] * (x[at["w.1"]]*below(y, x[at["mu.1"]]) + x[at["w.2"]]*below(y, x[at["mu.2"]]))
			}
		}
		if u := got.Variables[0].PIT[i]; math.Abs(u-want) > 0.04 {
			t.Errorf("the LOO-PIT of y[%d] is %.3f, want %.3f", i+1, u, want)
		}
	}
}

// TestSharedStates checks that rows which share discrete parameters are not left out, wherever in
// the data they are, and that the reason is given in place of their LOO-PIT.
func TestSharedStates(t *testing.T) {
	m, err := model.Compile("m.stan", `data { int N; vector[N] y; array[N] int<lower=1, upper=9> g; }
parameters { ordered[2] mu; array[9] int<lower=1, upper=2> z; }
model { mu ~ normal(0, 3); y ~ normal(mu[z[g]], 1); }`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		groups []int
		shared bool
	}{
		{[]int{1}, false}, {[]int{1, 1}, true}, {[]int{2, 1}, false},
		{[]int{1, 2, 1, 2}, true}, {[]int{1, 1, 2, 2}, true}, {[]int{1, 2, 2, 1}, true}, {[]int{1, 2, 3, 4, 1}, true},
		{[]int{1, 2, 3, 4, 5}, false}, {[]int{8, 7, 6, 5, 4, 3, 2, 2}, true}, {[]int{1, 2, 3, 4, 3, 5, 6, 7, 8}, true},
	} {
		ys := make([]float64, len(c.groups))
		for i := range ys {
			ys[i] = float64(i % 3)
		}
		values := map[string]any{"N": len(ys), "y": ys, "g": c.groups}
		_, err := assess.NewHoldout(t.Context(), m, values, model.BindOptions{})
		if (err != nil) != c.shared || err != nil && !strings.Contains(err.Error(), "share discrete parameters") {
			t.Errorf("groups %v: %v", c.groups, err)
		}
	}
}

// TestTwoOutcomes leaves out rows of two outcomes, and compares their densities at the draws of a
// fit to the others with those computed here.
func TestTwoOutcomes(t *testing.T) {
	const head, tail = `data { int N; int M; vector[N] y; array[N, 2] int c; array[M] int d; }
parameters { real a; real<lower=0> s; real<lower=0> l; }
model { a ~ normal(0, 5); s ~ normal(0, 2); l ~ exponential(1); y ~ normal(a, s);`, ` }`
	values := map[string]any{"N": 4, "M": 3, "y": []float64{1, 2, -1, 0.5}, "c": [][]int{{0, 1}, {2, 3}, {4, 1}, {1, 1}}, "d": []int{1, 0, 2}}
	m, err := model.Compile("m.stan", head+"for (n in 1:N) c[n] ~ poisson(l);"+tail)
	if err != nil {
		t.Fatal(err)
	}
	h, err := assess.NewHoldout(t.Context(), m, values, model.BindOptions{})
	if err != nil || h.N != 4 || strings.Join(h.Variables, " ") != "y c" || h.Name(2) != "row[3]" {
		t.Fatalf("rows to leave out: %+v, %v", h, err)
	}
	train, test, err := h.Split([]int{1, 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(train)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(t.Context(), p, fit.Options{Chains: 1, Warmup: 100, Draws: 20, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	derived, err := m.Derive(predict.LogLikelihood)
	if err != nil {
		t.Fatal(err)
	}
	out, err := assess.PredictHeldOut(t.Context(), derived, f, test, 2, model.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for draw := range f.Draws.Len(0) {
		_, x := f.Draws.Draw(0, draw)
		a, s, l := x[0], x[1], x[2]
		for k, row := range []struct {
			y float64
			c []float64
		}{{2, []float64{2, 3}}, {-1, []float64{4, 1}}} {
			want := -(row.y-a)*(row.y-a)/2/s/s - math.Log(s*math.Sqrt(2*math.Pi))
			for _, c := range row.c {
				lg, _ := math.Lgamma(c + 1)
				want += c*math.Log(l) - l - lg
			}
			if got := out.LogLik[k][draw]; math.Abs(got-want) > 1e-10*max(1, math.Abs(want)) {
				t.Errorf("draw %d: the log density of row %d is %v, want %v", draw, k+2, got, want)
			}
		}
	}
	for _, c := range []struct{ text, want string }{
		{head + "d ~ poisson(l);" + tail, "y and of d, which have different rows"},
		{"data { int N; vector[N] x; vector[N] y; } parameters { array[N] int<lower=0, upper=1> z; real a; } model { a ~ normal(0, 1); y ~ normal(a, 1); x ~ normal(to_vector(z), 1); }", "may share discrete parameters"},
	} {
		m, err := model.Compile("m.stan", c.text)
		if err != nil {
			t.Fatal(err)
		}
		values["x"] = values["y"]
		if _, err := assess.NewHoldout(t.Context(), m, values, model.BindOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.want, err)
		}
	}
}
