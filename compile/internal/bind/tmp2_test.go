package bind

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
)

func TestTmpStan(t *testing.T) {
	for _, m := range []string{"eight_schools", "garch", "hierarchical_regression", "logistic_regression", "normal_mixture", "stochastic_volatility"} {
		name := "../../../examples/" + m + "/" + m
		text, _ := os.ReadFile(name + ".model")
		js, _ := os.ReadFile(name + ".data.json")
		d, err := data.ParseJSON(name, js)
		if err != nil {
			t.Fatal(err)
		}
		p := compileIR(t, name, string(text))
		var exp struct {
			Points []struct {
				X, Gradient, Constrained []float64
				LogDensity               float64 `json:"log_density"`
				Full                     float64 `json:"log_density_full"`
				NoJac                    float64 `json:"log_density_full_no_jacobian"`
			}
		}
		ej, _ := os.ReadFile("../../../examples/" + m + "/expected.json")
		if err := json.Unmarshal(ej, &exp); err != nil {
			t.Fatal(err)
		}
		for mode := range 3 {
			b, err := Bind(p, d, Options{Propto: mode == 0, Jacobian: mode < 2})
			if err != nil {
				t.Fatal(err)
			}
			g := b.Density
			for _, r := range g.Grad(g.Outputs[0], g.Inputs...) {
				g.Output(r)
			}
			worst, gworst, cworst := 0.0, 0.0, 0.0
			for _, pt := range exp.Points {
				var in [][]float64
				x := pt.X
				for _, p := range b.Params {
					in = append(in, x[:p.Size])
					x = x[p.Size:]
				}
				out, err := g.Eval(in, &ad.Env{})
				if err != nil {
					t.Fatal(err)
				}
				want := []float64{pt.LogDensity, pt.Full, pt.NoJac}[mode]
				worst = max(worst, math.Abs(out[0][0]-want)/math.Max(1, math.Abs(want)))
				if mode == 0 {
					k := 0
					for _, o := range out[1:] {
						for _, v := range o {
							gworst = max(gworst, math.Abs(v-pt.Gradient[k])/math.Max(1, math.Abs(v)))
							k++
						}
					}
					c, err := b.Constrained.Eval(in, &ad.Env{})
					if err != nil {
						t.Fatal(err)
					}
					for i, v := range c[0] {
						cworst = max(cworst, math.Abs(v-pt.Constrained[i])/math.Max(1, math.Abs(v)))
					}
				}
			}
			fmt.Println(m, mode, worst, gworst, cworst)
		}
	}
}
