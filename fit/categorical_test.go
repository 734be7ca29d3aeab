package fit_test

import (
	"math"
	"testing"

	"github.com/ppl-lang/ppl/model"
)

// TestCategoricalOfZero checks that a probability that is 0, or so small that its reciprocal
// overflows, adds nothing to the gradient if no outcome has that category.
func TestCategoricalOfZero(t *testing.T) {
	for name, statement := range map[string]string{
		"one":       "target += categorical_lpmf(y[1] | p);",
		"several":   "y ~ categorical(p);",
		"a loop":    "for (n in 1:N) y[n] ~ categorical(p);",
		"each own":  "for (n in 1:N) { vector[3] q = softmax(cumulative_sum(append_row(rep_vector(0, 1), theta + x[n] - kappa))); y[n] ~ categorical(q); }",
		"generated": "array[N] int z; for (n in 1:N) z[n] = y[n]; z ~ categorical(p);",
	} {
		m, err := model.Compile("m", `data { int N; array[N] int y; vector[N] x; }
parameters { real theta; vector[2] kappa; }
model {
  vector[3] p = softmax(cumulative_sum(append_row(rep_vector(0, 1), theta - kappa)));
  `+statement+`
}`)
		if err != nil {
			t.Fatal(err)
		}
		for _, y := range [][]int{{3}, {3, 3}, {3, 3, 3, 3, 3}} {
			p, err := m.Bind(map[string]any{"N": len(y), "y": y, "x": make([]float64, len(y))})
			if err != nil {
				t.Fatal(err)
			}
			for _, theta := range []float64{1, 300, 370, 400, 800} {
				g := make([]float64, 3)
				lp, err := p.LogDensityGrad([]float64{theta, 0.1, -0.2}, g)
				a, b := theta-0.1, 2*theta+0.1 // the logits of the second and third category; the first is 0
				n := float64(len(y))
				if name == "one" {
					n = 1
				}
				total := math.Exp(-b) + math.Exp(a-b) + 1
				want := n * (2 - (math.Exp(a-b)+2)/total)
				if err != nil || math.Abs(lp+n*math.Log(total)) > 1e-12 || math.Abs(g[0]-want) > 1e-12 {
					t.Errorf("%s, %v, theta %v: density %v, gradient %v, %v; want %v, %v", name, y, theta, lp, g, err, -n*math.Log(total), want)
				}
			}
		}
	}
}
