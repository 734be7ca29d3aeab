package passes

import (
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// hasArray reports whether a graph, or a region in it, computes arrays.
func hasArray(g *ad.Graph) bool {
	return slices.ContainsFunc(g.Nodes, func(n ad.Node) bool {
		return n.Op != ad.OpInput && n.Op != ad.OpConst && n.Type.Size() > 1 || slices.ContainsFunc(n.Bodies(), hasArray)
	})
}

// TestScalarsInLoops checks loops, with and without lanes, that carry and sum arrays. The bodies
// contain products of matrices, reversals, sums, slices, long tables, conditionals and inner loops.
// Short arrays become scalars; sorted and long ones remain. Values and derivatives must not change.
func TestScalarsInLoops(t *testing.T) {
	vector := func(n int) ad.Type { return ad.Type{Shape: []int{n}} }
	table := make([]float64, 20)
	for i := range table {
		table[i] = float64(i%7) / 7
	}
	for _, c := range []struct {
		what   string
		states int
		lanes  bool
		order  bool
		stays  bool
	}{
		{what: "two states", states: 2},
		{what: "two states in lanes", states: 2, lanes: true},
		{what: "many states", states: maxShort + 1, stays: true},
		{what: "more states in lanes", states: maxShort, lanes: true},
		{what: "many states in lanes", states: maxShort + 1, lanes: true, stays: true},
		{what: "order", states: 2, order: true, stays: true},
	} {
		n := c.states
		inputs := func(g *ad.Graph) (count, y, x, w ad.Ref) {
			return g.Input(ad.Scalar), g.Input(vector(n)), g.Input(ad.Scalar), g.Input(vector(len(table)))
		}
		inner := func() *ad.While { // halves the states until their sum of squares is small
			cond, body := ad.NewGraph(), ad.NewGraph()
			y := cond.Input(vector(n))
			cond.Output(cond.Less(cond.Const(0.5), cond.Sum(cond.Square(y))))
			y = body.Input(vector(n))
			body.Output(body.Scale(0.5, y))
			return &ad.While{Cond: cond, Body: body, Carries: 1, Snapshots: 4}
		}
		cond, body := ad.NewGraph(), ad.NewGraph()
		count, _, _, _ := inputs(cond)
		cond.Output(cond.Less(count, cond.Const(5)))
		count, y, x, w := inputs(body)
		reversed := body.Gather(y, ad.Index{Offset: n - 1, Dims: []ad.Dim{{N: n, Stride: -1}}})
		product := body.Mul(y, body.Dot(reversed, reversed)) // a product with a matrix, unless it is too long
		if n == 2 {
			product = body.MatVec(body.MatMul(body.Reshape(y, []int{n, 1}), body.Reshape(reversed, []int{1, n})), reversed)
		}
		moved := body.Add(body.Mul(body.Const(0.3), product), body.Mul(x, body.Slice(w, 3, []int{n})))
		side := func(other bool) *ad.Graph {
			g := ad.NewGraph()
			v := g.Input(vector(n))
			if other {
				v = g.Concat(g.Slice(v, 1, []int{n - 1}), g.Sum(v))
			}
			g.Output(g.Mul(v, g.Const(0.9)))
			return g
		}
		chosen := body.Result(body.Do(ad.OpIf, &ad.If{Then: side(true), Else: side(false)}, body.Less(x, body.Slice(y, 0, nil)), moved), 0)
		next := body.Final(body.DoWhile(inner(), []ad.Ref{body.Add(chosen, y)}), 0)
		if c.order {
			next = body.Do(ad.OpTake, nil, next, body.Do(ad.OpOrder, ad.OrderAttr{}, next))
		}
		body.Output(body.Add(count, body.Const(1)))
		body.Output(next)
		body.Output(body.Mul(next, y)) // a sum
		g := ad.NewGraph()
		in := g.Input(vector(5))
		x = g.Sum(in)
		if c.lanes {
			x = g.Lane(in)
		}
		start := make([]ad.Ref, n)
		for i := range start {
			start[i] = g.Mul(x, g.Const(1/float64(i+1)))
		}
		loop := g.DoWhile(&ad.While{Cond: cond, Body: body, Carries: 2, Sums: 1, Snapshots: 4},
			[]ad.Ref{g.Const(0), g.Stack(start...), x, g.ConstArray(vector(len(table)), table)})
		of := g.Add(g.Sum(g.Square(g.Final(loop, 1))), g.Add(g.Sum(g.SumOf(loop, 0)), g.Trips(loop)))
		g.Output(g.Sum(g.Unlane(of)))
		after := replaceInRegions(g)
		arrays := slices.ContainsFunc(after.Nodes, func(n ad.Node) bool { return slices.ContainsFunc(n.Bodies(), hasArray) })
		if arrays != c.stays {
			t.Errorf("%s: there are arrays: %v, want %v", c.what, arrays, c.stays)
		}
		sameAfter(t, g, replaceInRegions, ad.OpInvalid, 1e-14, []float64{0.3, -1.2, 2, 0.1, 0.7}, []float64{0.1, 0.2, -0.5, 3, -1})
	}
}
