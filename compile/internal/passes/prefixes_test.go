package passes

import (
	"math"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestPrefixes checks arrays that grow step by step, and others with the same beginning. Each must
// become a concatenation of a few parts. Values and derivatives must not change.
func TestPrefixes(t *testing.T) {
	const steps = 30
	g := ad.NewGraph()
	x := g.Input(ad.Type{Shape: []int{3}})
	g2 := g.Reshape(x, []int{3, 1})
	parts, total := []ad.Ref{x}, g.Const(0)
	for k := range steps {
		total = g.Add(total, g.Mul(g.Const(0.1), g.Sum(g.Square(g.Concat(parts...)))))
		if k == steps/2 { // begins like the previous one, but ends differently
			total = g.Add(total, g.Sum(g.Concat(append(parts, x)...)))
		}
		if k%2 == 1 {
			parts[0] = g2 // the same numbers in another shape
		}
		y := g.Mul(total, g.Const(1/float64(3+k*k)))
		parts = append(parts, g.Reshape(y, []int{1}))
	}
	g.Output(total)
	h := nestConcats(g)
	count := func(g *ad.Graph) (n int) {
		for i := range g.Nodes {
			if g.Nodes[i].Op == ad.OpConcat {
				n += len(g.Nodes[i].Args)
			}
		}
		return n
	}
	if before, after := count(g), count(h); before < steps*steps/2 || after > 5*steps {
		t.Errorf("%d parts, before %d", after, before)
	}
	var values [2][][]float64
	for i, g := range []*ad.Graph{g, h} {
		g.Output(g.Grad(g.Outputs[0], g.Inputs[0])[0])
		v, err := g.Eval([][]float64{{0.3, -0.2, 0.7}}, &ad.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range v {
			values[i] = append(values[i], append([]float64(nil), x...))
		}
	}
	for k, v := range values[0] {
		for e, x := range v {
			if y := values[1][k][e]; math.Abs(x-y) > 1e-13*math.Abs(x) || k == 0 && x != y {
				t.Errorf("output %d[%d]: %v, before %v", k, e, y, x)
			}
		}
	}
}
