package passes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestUnswitching checks a conditional in lanes whose condition is the same in all lanes. It
// becomes one conditional around all lanes, also if it contains another or has results common to
// all lanes. Values, gradients and side effects must not change. If lanes may take different sides,
// it remains.
func TestUnswitching(t *testing.T) {
	side := func(build func(g *ad.Graph, x, k ad.Ref) []ad.Ref) *ad.Graph {
		g := ad.NewGraph()
		x, k := g.Input(ad.Scalar), g.Input(ad.Scalar)
		for _, r := range build(g, x, k) {
			g.Output(r)
		}
		return g
	}
	inner := func(g *ad.Graph, cond, x, k ad.Ref) ad.Ref {
		then := side(func(g *ad.Graph, x, k ad.Ref) []ad.Ref { return []ad.Ref{g.Do(ad.OpSin, nil, x)} })
		otherwise := side(func(g *ad.Graph, x, k ad.Ref) []ad.Ref { return []ad.Ref{g.Mul(x, k)} })
		return g.Result(g.Do(ad.OpIf, &ad.If{Then: then, Else: otherwise}, cond, x, k), 0)
	}
	density := func(lanewise bool) *ad.Graph {
		g := ad.NewGraph()
		in := g.Input(ad.Type{Shape: []int{6}})
		x := g.Lane(in)
		k := g.Sum(g.Square(in))
		cond := g.Less(k, g.Const(10))
		if lanewise {
			cond = g.Less(x, g.Const(1))
		}
		then := side(func(g *ad.Graph, x, k ad.Ref) []ad.Ref {
			return []ad.Ref{g.Mul(inner(g, g.Less(k, g.Const(4)), x, k), g.Exp(k)), g.Exp(k)}
		})
		otherwise := side(func(g *ad.Graph, x, k ad.Ref) []ad.Ref {
			return []ad.Ref{inner(g, g.Less(x, g.Const(2)), x, k), g.Const(3)}
		})
		r := g.Do(ad.OpIf, &ad.If{Then: then, Else: otherwise}, cond, x, k)
		g.Output(g.Sum(g.Unlane(g.Add(g.Result(r, 0), g.Mul(g.Result(r, 1), x)))))
		return g
	}
	conditionals := func(g *ad.Graph) (once, lanes int) {
		var count func(g *ad.Graph)
		count = func(g *ad.Graph) {
			for i := range g.Nodes {
				n := &g.Nodes[i]
				switch {
				case n.Op == ad.OpIf && n.Type.Lanes > 0:
					lanes++
				case n.Op == ad.OpIf:
					once++
				}
				for _, b := range n.Bodies() {
					count(b)
				}
			}
		}
		count(g)
		return once, lanes
	}
	points := [][]float64{
		{0.1, 0.2, -0.3, 0.4, 0.5, 0.6},
		{1, -1, 1, 0.5, 2, 0.1},
		{3, 1, 2, -1, 1, 2.5},
	}
	g := density(false)
	if once, lanes := conditionals(unswitch(g)); once != 2 || lanes != 1 {
		t.Errorf("%d conditionals about all lanes and %d in lanes, want 2 and 1", once, lanes)
	}
	sameAfter(t, g, unswitch, ad.OpScan, 1e-15, points...)
	g = density(true)
	if once, lanes := conditionals(unswitch(g)); lanes != 1 || once != 2 {
		t.Errorf("lanes that go different ways: %d conditionals about all lanes and %d in lanes, want 2 and 1", once, lanes)
	}
	sameAfter(t, g, unswitch, ad.OpScan, 1e-15, points...)
}

// TestUnswitchedEffects checks that a rejection on one side remains, and names the first lane that
// fails. A conditional that prints does not change.
func TestUnswitchedEffects(t *testing.T) {
	density := func(printing bool) *ad.Graph {
		side := func(acts bool) *ad.Graph {
			g := ad.NewGraph()
			x := g.Input(ad.Scalar)
			m := &ad.Message{Parts: []ad.MessagePart{{Text: "too large: ", Arg: -1}, {Arg: 0}}}
			switch {
			case acts && printing:
				g.Print(m, x)
			case acts:
				g.RejectIf(g.Less(g.Const(1), x), m, x)
			}
			g.Output(g.Exp(x))
			return g
		}
		g := ad.NewGraph()
		in := g.Input(ad.Type{Shape: []int{3}})
		x := g.Lane(in)
		r := g.Do(ad.OpIf, &ad.If{Then: side(true), Else: side(false)}, g.Less(g.Sum(in), g.Const(0)), x)
		g.SideEffects = append(g.SideEffects, r)
		g.Output(g.Sum(g.Unlane(g.Result(r, 0))))
		return g
	}
	run := func(g *ad.Graph, x []float64) (said string) {
		var printed []string
		out, err := g.Eval([][]float64{x}, &ad.Env{Print: func(s string) { printed = append(printed, s) }})
		return fmt.Sprint(out, err, printed)
	}
	for _, printing := range []bool{false, true} {
		g := density(printing)
		h := unswitch(g)
		if changed := h != g; changed == printing {
			t.Errorf("printing %v: changed %v", printing, changed)
		}
		for _, x := range [][]float64{{-7, 2, 3}, {7, 2, 3}, {-1, -2, 0}} {
			if got, want := run(h, x), run(g, x); got != want {
				t.Errorf("printing %v, at %v: %s, want %s", printing, x, got, want)
			}
		}
		if printing {
			continue
		}
		if said := run(h, []float64{-7, 2, 3}); !strings.Contains(said, "too large: 2") {
			t.Errorf("rejected because %s", said)
		}
	}
}
