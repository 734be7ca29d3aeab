package passes

import (
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestDeadCarries differentiates the sum of an array that a loop fills with terms that do not
// depend on the array. The loop that recomputes the values of each trip must carry no array.
func TestDeadCarries(t *testing.T) {
	array := ad.Type{Shape: []int{20}}
	inputs := func() (g *ad.Graph, k, a, x ad.Ref) {
		g = ad.NewGraph()
		return g, g.Input(ad.Scalar), g.Input(array), g.Input(ad.Scalar)
	}
	cond, k, _, x := inputs()
	cond.Output(cond.Less(k, cond.Mul(x, cond.Const(10))))
	body, k, a, x := inputs()
	term := body.Do(ad.OpSin, nil, body.Mul(x, k))
	a = body.Replace(a, term, k)
	again := body.Take(a, k)
	if again != term {
		t.Error("what has just been put somewhere is taken from there")
	}
	body.Output(body.Add(k, body.Const(1)))
	body.Output(a)

	g := ad.NewGraph()
	in := g.Input(ad.Scalar)
	w := &ad.While{Cond: cond, Body: body, Carries: 2, Snapshots: 4}
	r := g.DoWhile(w, []ad.Ref{g.Const(0), g.Broadcast(g.Const(0), array.Shape), in})
	y := g.Sum(g.Square(g.Final(r, 1)))
	g.Output(y)
	for _, d := range g.Grad(y, in) {
		g.Output(d)
	}
	h := removeDeadCarries(g, &Options{})
	if before, after := carried(g), carried(h); after > before*2/3 {
		t.Errorf("loops carry %d numbers, and %d without what nobody needs", before, after)
	}
	for _, x := range []float64{-1, 0.05, 0.3, 1.3, 1.7} {
		want, err := g.Eval([][]float64{{x}}, &ad.Env{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.Eval([][]float64{{x}}, &ad.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got[i][0] != want[i][0] {
				t.Errorf("output %d at %v is %v, want %v", i, x, got[i][0], want[i][0])
			}
		}
	}
}

// carried returns the number of values that the loops in g carry.
func carried(g *ad.Graph) int {
	n := 0
	for i := range g.Nodes {
		if w, ok := g.Nodes[i].Attr.(*ad.While); ok {
			for _, r := range w.Body.Inputs[:w.Carries] {
				n += w.Body.Type(r).Size()
			}
		}
		for _, b := range g.Nodes[i].Bodies() {
			n += carried(b)
		}
	}
	return n
}
