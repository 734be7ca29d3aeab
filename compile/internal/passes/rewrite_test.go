package passes

import (
	"math"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestLogRest checks log(1 - inv_logit x), as of the first element of [1 - p, p]', against
// -x - log1p(exp(-x)), where 1 - p is rounded and where it is 0.
func TestLogRest(t *testing.T) {
	g := ad.NewGraph()
	x := g.Input(ad.Type{Shape: []int{2}})
	p := g.Do(ad.OpInvLogit, nil, x)
	rest := g.Reshape(g.Sub(g.Const(1), p), []int{2, 1})
	g.Output(g.Sum(g.Log(rest)))
	g.Output(g.Grad(g.Outputs[0], x)[0])
	after := rewriteLogarithms(g)
	for _, v := range []float64{-40, 0, 20, 36, 800} {
		got, err := after.Eval([][]float64{{v, v}}, &ad.Env{})
		if err != nil {
			t.Fatal(err)
		}
		want := 2 * (math.Min(-v, 0) - math.Log1p(math.Exp(-math.Abs(v))))
		if math.Abs(got[0][0]-want) > 1e-15*math.Abs(want) {
			t.Errorf("at %v: %v, want %v", v, got[0][0], want)
		}
	}
}
