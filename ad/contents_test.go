package ad

import (
	"slices"
	"testing"
)

// nested returns a graph of so many conditionals in one another. The innermost body computes last.
func nested(depth int, last func(g *Graph, x Ref) Ref) *Graph {
	var body func(left int) *Graph
	body = func(left int) *Graph {
		g := NewGraph()
		x := g.Input(Scalar)
		y := g.Exp(x)
		if left == 0 {
			y = last(g, y)
		} else {
			other := NewGraph()
			other.Output(other.Input(Scalar))
			y = g.Result(g.Do(OpIf, &If{Then: body(left - 1), Else: other}, g.Less(g.Const(0), y), y), 0)
		}
		g.Output(y)
		return g
	}
	return body(depth)
}

// bodies calls f for all bodies of regions of the graph, at any depth.
func bodies(g *Graph, f func(*Graph)) {
	for i := range g.Nodes {
		for _, b := range g.Nodes[i].Bodies() {
			f(b)
			bodies(b, f)
		}
	}
}

// Every body has its contents when it has become part of a region, however the graph was made. So
// no question about a graph walks more than its own nodes.
func TestContents(t *testing.T) {
	const depth = 300
	tests := []struct {
		name          string
		last          func(g *Graph, x Ref) Ref
		acts, mayFail bool
		op            OpCode
	}{
		{"pure", func(g *Graph, x Ref) Ref { return g.Sqrt(x) }, false, false, OpSqrt},
		{"rejects", func(g *Graph, x Ref) Ref { g.RejectIf(g.Less(x, g.Const(0)), &Message{}); return x }, true, true, OpReject},
		{"prints", func(g *Graph, x Ref) Ref { g.Print(&Message{}, x); return x }, true, true, OpPrint},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := nested(depth, test.last)
			gradient := g.Fork()
			gradient.Output(gradient.Grad(g.Outputs[0], g.Inputs[0])[0])
			again := NewGraph()
			again.Output(again.Inline(g, []Ref{again.Input(Scalar)}, false)[0])
			copied := NewRewriter(g, NewGraph())
			copied.Body = func(b *Graph) *Graph { return b.Fork() }
			copied.Inputs()
			copied.Run(g.Live(g.Outputs, true))
			copied.To.Output(copied.At(g.Outputs[0]))

			for name, h := range map[string]*Graph{"built": g, "its gradient": gradient, "without side effects": again, "copied": copied.To} {
				count, asked := 0, 0
				bodies(h, func(b *Graph) {
					count++
					if b.known == nil {
						t.Fatalf("%s: a body of a region does not have its contents", name)
					}
					if fresh := (&Graph{Nodes: b.Nodes, Outputs: b.Outputs, SideEffects: b.SideEffects}).contents(); fresh.ops != b.known.ops || fresh.acts != b.known.acts || fresh.mayFail != b.known.mayFail {
						t.Fatalf("%s: a body consists of %v, but has noted %v", name, fresh, b.known)
					}
					asked += len(b.known.reach)
				})
				if count < depth {
					t.Errorf("%s: %d bodies, want at least %d", name, count, depth)
				}
				if asked > 2*count {
					t.Errorf("%s: dependences were looked for %d times in %d bodies", name, asked, count)
				}
				effects := name != "without side effects"
				c := h.contents()
				if c.acts != (test.acts && effects) || c.mayFail != slices.ContainsFunc(h.Nodes, func(n Node) bool { return n.MayFail() }) {
					t.Errorf("%s: side effects %v, may fail %v", name, c.acts, c.mayFail)
				}
				if effects && (c.mayFail != test.mayFail || !h.Has(test.op)) {
					t.Errorf("%s: may fail %v; has %v: %v", name, c.mayFail, test.op, h.Has(test.op))
				}
				if h.Has(OpCholesky) {
					t.Errorf("%s: has an op that is nowhere", name)
				}
			}
		})
	}
}
