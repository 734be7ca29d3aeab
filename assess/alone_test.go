package assess_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
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
