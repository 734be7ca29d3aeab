package formula

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// TestLinks derives the linear predictor of each family from its program, and compares it with the
// expression that the program was written from.
func TestLinks(t *testing.T) {
	set := randomTable(t, rand.New(rand.NewPCG(3, 1)), 60)
	families, _ := Families()
	for _, family := range families {
		formula := outcomes[family] + " ~ x1 + h"
		p, err := New(formula, set, Options{Family: family})
		if err != nil {
			t.Fatalf("%s: %v", family, err)
		}
		var lines strings.Builder
		for i, eta := range p.eta {
			fmt.Fprintf(&lines, "vector[N] eta_out_%d = %s;\n", i, eta)
		}
		m, err := model.Compile("links.model", strings.Replace(p.Text, "}\nmodel {", "}\ntransformed parameters {\n"+lines.String()+"}\nmodel {", 1))
		if err != nil {
			t.Fatalf("%s: %v\n%s", family, err, p.Text)
		}
		for _, kind := range []predict.Kind{predict.LinearPredictor, predict.Expected} {
			d, err := m.Derive(kind)
			if err != nil {
				t.Errorf("%s: %v\n%s", family, err, p.Text)
				continue
			}
			post, err := d.BindContext(context.Background(), set, model.BindOptions{})
			if err != nil {
				t.Fatalf("%s: %v", family, err)
			}
			r := rand.New(rand.NewPCG(4, 2))
			x := make([]float64, post.Dim())
			for i := range x {
				x[i] = 0.3 * r.NormFloat64()
			}
			values := make([]float64, len(post.OutputNames()))
			if err := post.Generate(x, r, values); err != nil {
				t.Fatalf("%s: %v", family, err)
			}
			var want, got []float64
			for i, name := range post.OutputNames() {
				switch {
				case strings.HasPrefix(name, "eta_out_"):
					want = append(want, values[i])
				case strings.Contains(name, "_link") || strings.Contains(name, "_mean"):
					got = append(got, values[i])
				}
			}
			if len(got) == 0 || family != "categorical" && family != "cumulative" && len(got) != len(want) {
				t.Fatalf("%s: %d values of %d rows", family, len(got), len(want))
			}
			for i, x := range got {
				if kind == predict.LinearPredictor && family != "categorical" && !(math.Abs(x-want[i]) <= 1e-12*(1+math.Abs(want[i]))) || math.IsNaN(x) {
					t.Errorf("%s: the linear predictor of row %d is %v, want %v\n%s", family, i+1, x, want[i], p.Text)
					break
				}
			}
		}
	}
}
