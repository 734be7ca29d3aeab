package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestDeduplicateRows checks models of discrete outcomes with categorical predictors, in many
// spellings. Density, gradient and messages must be the same as without the pass. No value in the
// program may have as many elements as the data have rows.
func TestDeduplicateRows(t *testing.T) {
	const head = `data { int N; array[N] int g, h, y, c, o; matrix[N, 2] x; }
parameters { real b; vector[4] a; vector[3] d; vector[2] k; ordered[2] cut; real<lower=0> s; matrix[2, 2] m; }
model { `
	rng := rand.New(rand.NewPCG(9, 8))
	const n = 600
	var columns [6][]string
	for range n {
		x := fmt.Sprintf("[%d, %d]", rng.IntN(2), rng.IntN(2))
		for k, v := range []any{rng.IntN(4) + 1, rng.IntN(3) + 1, rng.IntN(2), rng.IntN(3), rng.IntN(3) + 1, x} {
			columns[k] = append(columns[k], fmt.Sprint(v))
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, `{"N": %d`, n)
	for k, name := range []string{"g", "h", "y", "c", "o", "x"} {
		fmt.Fprintf(&text, `, "%s": [%s]`, name, strings.Join(columns[k], ","))
	}
	set, err := data.ParseJSON("d", []byte(text.String()+"}"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spelling string
		all      bool // rows are left
	}{
		{spelling: "y ~ bernoulli_logit(b + a[g] + d[h]);"},
		{spelling: "for (n in 1:N) y[n] ~ bernoulli_logit(b + a[g[n]] * d[h[n]]);"},
		{spelling: "y ~ bernoulli_logit_glm(x, b + a[g], k);"},
		{spelling: "y ~ bernoulli_logit(x * k + a[g]);"},
		{spelling: "for (n in 1:N) y[n] ~ bernoulli_logit(x[n] * k);"},
		{spelling: "c ~ poisson_log(b + a[g]);"},
		{spelling: "c ~ poisson(a[g]);"},
		{spelling: "for (n in 1:N) c[n] ~ poisson(a[g[n]] + d[h[n]]);"},
		{spelling: "c ~ neg_binomial_2_log(a[g], s); y ~ bernoulli_logit(a[g]);"},
		{spelling: "for (n in 1:N) o[n] ~ ordered_logistic(x[n] * k, cut);"},
		{spelling: "for (n in 1:N) o[n] ~ categorical_logit(append_row(0, m * x[n]'));"},
		{spelling: "for (n in 1:N) target += log_mix(inv_logit(b), bernoulli_logit_lpmf(y[n] | b), bernoulli_logit_lpmf(y[n] | a[g[n]]));"},
		{spelling: "for (n in 1:N) target += binomial_lpmf(c[n] | 3, inv_logit(a[g[n]]));"},
		{spelling: "vector[N] eta = a[g]; for (n in 1:N) eta[n] += x[n, 1] * k[1]; target += bernoulli_logit_lpmf(y | eta);"},
		{spelling: "target += sum(square(cumulative_sum(a[g])));", all: true},
		{spelling: "target += sum(exp(a[g] .* linspaced_vector(N, 0, 1)));", all: true},
	} {
		for _, whole := range []bool{false, true} {
			var ms [2]*Model
			for k, without := range [][]string{nil, {"deduplicate"}} {
				p, list := Compile(source.NewFile("spelling", head+c.spelling+" }"))
				if p == nil {
					t.Fatal(c.spelling, list)
				}
				var err error
				if ms[k], err = p.Bind(set, BindOptions{NoPropto: whole, Without: without}); err != nil {
					t.Fatal(c.spelling, err)
				}
			}
			if err := loopnest.VerifyGraph(ms[0].DensityGraph()); err != nil {
				t.Error(c.spelling, err)
			}
			if rows(ms[0], n) != c.all {
				t.Errorf("%s: whether a value of %d rows is left is %v", c.spelling, n, !c.all)
			}
			for range 5 {
				at, g, want := make([]float64, 17), make([]float64, 17), make([]float64, 17)
				for i := range at {
					at[i] = rng.NormFloat64()
				}
				lp, err := ms[0].LogDensityGrad(at, g)
				lpWant, errWant := ms[1].LogDensityGrad(at, want)
				if fmt.Sprint(err) != fmt.Sprint(errWant) {
					t.Errorf("%s at %v: %v, want %v", c.spelling, at, err, errWant)
				}
				if err != nil {
					continue
				}
				for i, v := range append(g, lp) {
					if w := append(want, lpWant)[i]; !(math.Abs(v-w) <= 1e-12*(n+math.Abs(w))) {
						t.Errorf("%s: %d is %.17g, want %.17g", c.spelling, i, v, w)
					}
				}
			}
			for k := range 6 { // of b and of a
				at := make([]float64, 17)
				at[k] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[k%3]
				_, err := ms[0].LogDensityGrad(at, make([]float64, 17))
				_, errWant := ms[1].LogDensityGrad(at, make([]float64, 17))
				if fmt.Sprint(err) != fmt.Sprint(errWant) {
					t.Errorf("%s at %v: %v, want %v", c.spelling, at, err, errWant)
				}
			}
		}
	}
}
