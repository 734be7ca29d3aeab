package bridge

import (
	"context"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/internal/planted"
)

// TestWrongDensity plants a fault in the compiler. The comparison must find it near the origin, at
// the first point that a client evaluates, or at a later one. The latter call fails, since earlier
// answers may be wrong.
func TestWrongDensity(t *testing.T) {
	const program = "parameters { real x; } model { x ~ normal(10, 1); }"
	wide := func(from float64) func(any) any {
		return func(made any) any {
			g := made.(*ad.Graph).Fork()
			lp, x := g.Outputs[0], g.Reshape(g.Inputs[0], nil)
			g.Outputs[0] = g.Select(g.Less(g.Const(from), x), g.Scale(0.25, lp), lp)
			return g
		}
	}
	for _, pass := range []string{"if-convert", planted.Bind} {
		for _, from := range []float64{-1e9, 5} {
			for _, before := range []int{0, 1, 3, 4} { // calls at points where the density is right
				ctx := planted.With(context.Background(), &planted.Fault{Pass: pass, Change: wide(from)})
				m, err := newModel(ctx, Program{Name: "normal.stan", Text: program}, "", 1, nil)
				if err != nil {
					t.Fatal(err)
				}
				failed := 0
				for call := range 20 {
					x := 2.0
					if call >= before {
						x = 8 + 0.1*float64(call)
					}
					grad := make([]float64, 1)
					lp, err := m.Gradient(true, true, []float64{x}, grad)
					if err != nil {
						failed++
						if !strings.Contains(err.Error(), "Earlier results may be wrong") || call != 3 && call != 15 {
							t.Errorf("call %d: %v", call, err)
						}
						continue
					}
					// Nothing is compared before the 4th call, nor between the 4th and the 16th.
					if want := -0.5 * (x - 10) * (x - 10); lp != want || grad[0] != 10-x {
						if compared := from < 0 || before == 0 || failed > 0 || call >= 15; compared {
							t.Errorf("%s from %v, %d right calls: call %d: %v %v", pass, from, before, call, lp, grad)
						}
					}
				}
				if want := from > 0 && before > 0; (failed == 1) != want {
					t.Errorf("%s from %v, %d right calls: %d calls fail", pass, from, before, failed)
				}
			}
		}
	}
}
