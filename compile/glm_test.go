package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestNormalGLM compares the normal linear model, whose data are rotated when it is
// bound, with the density at the written-out predictor: data with a zero column,
// collinear columns, columns of different scales, and outcomes far from zero.
func TestNormalGLM(t *testing.T) {
	const head = `data { int N; matrix[N, 5] x; vector[N] y; real<lower=0> known; }
parameters { real a; vector[5] b; real<lower=0> s; }
model { `
	rng := rand.New(rand.NewPCG(7, 8))
	for name, row := range map[string]func(i int) (row [5]float64, y float64){
		"ordinary": func(int) (row [5]float64, y float64) {
			for j := range row {
				row[j] = rng.NormFloat64()
			}
			return row, 1 + row[0] - row[1] + 0.5*rng.NormFloat64()
		},
		"hard": func(i int) (row [5]float64, y float64) {
			u := rng.NormFloat64()
			return [5]float64{0, u, 2*u + 1, 1e6 * rng.NormFloat64(), 1e-6 * float64(i)}, 1e5 + u + 1e-3*rng.NormFloat64()
		},
	} {
		for _, n := range []int{3, 7, 8, 40} { // few rows are not rotated
			var xs, ys []string
			size := 0.0
			for i := range n {
				x, y := row(i)
				xs = append(xs, strings.ReplaceAll(fmt.Sprint(x), " ", ","))
				ys = append(ys, fmt.Sprint(y))
				for _, v := range x {
					size += v * v
				}
				size += y * y
			}
			set, err := data.ParseJSON("d", fmt.Appendf(nil, `{"N":%d,"x":[%s],"y":[%s],"known":0.7}`, n, strings.Join(xs, ","), strings.Join(ys, ",")))
			if err != nil {
				t.Fatal(err)
			}
			for _, sd := range []string{"s", "known"} {
				for _, o := range []BindOptions{{}, {NoPropto: true}} {
					var ms [2]*Model
					for k, text := range []string{"y ~ normal_id_glm(x, a, b, " + sd + "); }", "y ~ normal(a + x * b, " + sd + "); }"} {
						p, list := Compile(source.NewFile(name, head+text))
						if p == nil {
							t.Fatal(list)
						}
						if ms[k], err = p.Bind(set, o); err != nil {
							t.Fatal(err)
						}
					}
					for range 5 {
						at, size := []float64{}, size
						for range 7 {
							at = append(at, rng.NormFloat64())
						}
						g, want := [7]float64{}, [7]float64{}
						lp, err := ms[0].LogDensityGrad(at, g[:])
						lpWant, errWant := ms[1].LogDensityGrad(at, want[:])
						if err != nil || errWant != nil {
							t.Fatal(err, errWant)
						}
						size *= 10 * math.Exp(-2*min(at[6], 0)) / 0.49
						if !(math.Abs(lp-lpWant) <= 1e-12*(size+math.Abs(lpWant))) {
							t.Errorf("%s, %d rows, %s, %+v: %.17g, want %.17g", name, n, sd, o, lp, lpWant)
						}
						for i := range g {
							if !(math.Abs(g[i]-want[i]) <= 1e-12*(size+math.Abs(want[i]))) {
								t.Errorf("%s, %d rows, %s: derivative %d is %.17g, want %.17g", name, n, sd, i+1, g[i], want[i])
							}
						}
					}
					if _, err := ms[0].LogDensityGrad([]float64{math.Inf(1), 1, 1, 1, 1, 1, 1}, make([]float64, 7)); err == nil || !strings.Contains(err.Error(), "Location parameter") {
						t.Errorf("an infinite predictor: %v", err)
					}
				}
			}
		}
	}
}
