package fit_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
)

// TestDrawsOfSeveralProcessors checks a model so large that processors share an evaluation. Its
// draws must not depend on the number of processors.
func TestDrawsOfSeveralProcessors(t *testing.T) {
	const n, groups = 60000, 30
	rng := rand.New(rand.NewPCG(1, 1))
	x, y, g := make([]float64, n), make([]float64, n), make([]int, n)
	for i := range x {
		g[i] = 1 + rng.IntN(groups)
		x[i] = rng.NormFloat64()
		y[i] = 0.5*x[i] + float64(g[i])/groups + rng.NormFloat64()
	}
	model, err := model.Compile("large.stan", `
data { int N, J; array[N] int g; vector[N] x, y; }
parameters { vector[J] a; real b; real<lower=0> s; }
model { a ~ normal(0, 1); b ~ normal(0, 1); s ~ normal(0, 1); y ~ student_t(4, a[g] + b * x, s); }`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Bind(map[string]any{"N": n, "J": groups, "g": g, "x": x, "y": y})
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	for _, parallel := range []int{1, 2, 5} {
		fit, err := fit.Sample(context.Background(), p, fit.Options{Chains: 1, Warmup: 30, Draws: 10, Seed: 3, Parallel: parallel})
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for i := range fit.Draws.Len(0) {
			_, values := fit.Draws.Draw(0, i)
			got = append(got, values...)
		}
		if want == nil {
			want = got
		}
		if len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("other draws by %d processors than by one", parallel)
		}
	}
}
