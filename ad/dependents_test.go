package ad

import "testing"

// TestFoundValues checks two loops. The derivative must have no region if a loop's results depend
// on the input only through detached values. It must have one if the loop carries a number that
// depends on the input. The derivative is then computed from expressions of the results.
func TestFoundValues(t *testing.T) {
	// halve returns a body that computes y/2 + d·x from y and x, where d is x or, if detached is
	// set, Detach(x).
	halve := func(detached bool) *Graph {
		b := NewGraph()
		y, x := b.Input(Scalar), b.Input(Scalar)
		d := x
		if detached {
			d = b.Do(OpDetach, nil, x)
		}
		b.Output(b.Add(b.Scale(0.5, y), d))
		return b
	}
	regions := map[string]func(g *Graph, x Ref, detached bool) Ref{
		"while": func(g *Graph, x Ref, detached bool) Ref {
			cond := NewGraph()
			y, in := cond.Input(Scalar), cond.Input(Scalar)
			cond.Output(cond.Less(y, in))
			return g.Final(g.DoWhile(&While{Cond: cond, Body: halve(detached), Carries: 1, Snapshots: 4}, []Ref{g.Const(0), x}), 0)
		},
		"scan": func(g *Graph, x Ref, detached bool) Ref {
			return g.Final(g.DoScan(&Scan{Body: halve(detached), Carries: 1, Steps: 3}, []Ref{g.Const(0), x}), 0)
		},
		"if": func(g *Graph, x Ref, detached bool) Ref {
			return g.Result(g.Do(OpIf, &If{Then: halve(detached), Else: halve(true)}, g.Less(g.Const(0), x), g.Const(1), x), 0)
		},
	}
	count := func(g *Graph) (n int) {
		for i := range g.Nodes {
			if table[g.Nodes[i].Op].Class == Region {
				n++
			}
		}
		return n
	}
	for name, region := range regions {
		for _, detached := range []bool{true, false} {
			g := NewGraph()
			x := g.Input(Scalar)
			found := region(g, x, detached)
			before := count(g)
			g.Output(found)
			g.Output(g.Grad(g.Mul(found, x), x)[0])
			if grown := count(g) > before; grown == detached {
				t.Errorf("%s, detached %v: the derivative has regions: %v", name, detached, grown)
			}
			out, err := g.Eval([][]float64{{1.5}}, &Env{})
			if err != nil {
				t.Fatal(err)
			}
			if detached && out[1][0] != out[0][0] {
				t.Errorf("%s: the derivative is %v, want what was found, %v", name, out[1][0], out[0][0])
			}
			if !detached && !(out[1][0] > out[0][0]) {
				t.Errorf("%s: the derivative is %v and does not count what was found, %v", name, out[1][0], out[0][0])
			}
		}
	}
}
