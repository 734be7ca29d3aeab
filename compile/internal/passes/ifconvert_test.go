package passes

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// within reports whether a region in the graph, however deeply nested, has an op.
func within(g *ad.Graph, op ad.OpCode) bool {
	return slices.ContainsFunc(g.Nodes, func(n ad.Node) bool {
		return slices.ContainsFunc(n.Bodies(), func(b *ad.Graph) bool {
			return within(b, op) || slices.ContainsFunc(b.Nodes, func(n ad.Node) bool { return n.Op == op })
		})
	})
}

// TestIfConversionInSteps checks conditionals in the steps of scans, also nested and in lanes.
// Short ones become selections. Conditionals that are expensive, contain checks, or are outside
// loops remain.
func TestIfConversionInSteps(t *testing.T) {
	const steps = 9
	lagged := make([]float64, steps)
	for i := range lagged {
		lagged[i] = float64(min(i, 2))
	}
	side := func(f func(b *ad.Graph, c, x, k ad.Ref) ad.Ref) *ad.Graph {
		b := ad.NewGraph()
		b.Output(f(b, b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar)))
		return b
	}
	conditional := func(b *ad.Graph, cond, c, x, k ad.Ref, then, otherwise *ad.Graph) ad.Ref {
		return b.Result(b.Do(ad.OpIf, &ad.If{Then: then, Else: otherwise}, cond, c, x, k), 0)
	}
	for what, c := range map[string]struct {
		then  func(b *ad.Graph, c, x, k ad.Ref) ad.Ref
		stays bool
	}{
		"a lag": {then: func(b *ad.Graph, c, x, k ad.Ref) ad.Ref { return b.Add(b.Mul(k, c), x) }},
		"one within another": {then: func(b *ad.Graph, c, x, k ad.Ref) ad.Ref {
			return b.Add(c, conditional(b, b.Less(b.Const(1), x), c, x, k,
				side(func(b *ad.Graph, c, x, k ad.Ref) ad.Ref { return b.Mul(k, c) }), side(func(b *ad.Graph, c, x, k ad.Ref) ad.Ref { return x })))
		}},
		"a logarithm, where it does not count of a negative number": {stays: true, then: func(b *ad.Graph, c, x, k ad.Ref) ad.Ref { return b.Mul(b.Log(x), c) }},
		"a quotient, where it does not count by 0":                  {then: func(b *ad.Graph, c, x, k ad.Ref) ad.Ref { return b.Div(c, b.Mul(x, x)) }},
		"an array": {stays: true, then: func(b *ad.Graph, c, x, k ad.Ref) ad.Ref { return b.Sum(b.Concat(c, x)) }},
	} {
		for _, lanes := range []int{0, 3} {
			n := max(lanes, 1)
			g := ad.NewGraph()
			in := g.Input(ad.Type{Shape: []int{n * (steps + 1)}})
			first, x := g.Slice(in, 0, nil), g.Slice(in, 1, []int{steps})
			if lanes > 0 {
				first, x = g.Lane(g.Slice(in, 0, []int{lanes})), g.Lane(g.Reshape(g.Slice(in, lanes, []int{lanes * steps}), []int{lanes, steps}))
			}
			b := ad.NewGraph()
			carried, lag, z, k := b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar)
			next := conditional(b, b.Less(b.Const(0), lag), carried, lag, k, side(c.then), side(func(b *ad.Graph, c, x, k ad.Ref) ad.Ref { return x }))
			next = b.Add(b.Scale(0.5, next), z)
			b.Output(next)
			b.Output(next)
			scan := g.DoScan(&ad.Scan{Body: b, Carries: 1, Streams: 2, Outs: 1, Steps: steps},
				[]ad.Ref{first, g.ConstArray(ad.Type{Shape: []int{steps}}, lagged), x, g.Const(0.7)})
			g.Output(g.Sum(g.Unlane(g.Sum(g.Square(g.Kept(scan, 0))))))
			rng := rand.New(rand.NewPCG(7, 8))
			points := make([][]float64, 3)
			for p := range points {
				points[p] = make([]float64, n*(steps+1))
				for i := range points[p] {
					points[p][i] = rng.NormFloat64()
				}
			}
			if stays := within(ifConvert(g), ad.OpIf); stays != c.stays {
				t.Errorf("%s: stays %v, want %v", what, stays, c.stays)
			}
			sameAfter(t, g, ifConvert, ad.OpInvalid, 1e-14, points...)
		}
	}
	g := ad.NewGraph()
	x := g.Input(ad.Scalar)
	g.Output(conditional(g, g.Less(g.Const(0), x), x, x, x, side(func(b *ad.Graph, c, x, k ad.Ref) ad.Ref { return b.Add(c, x) }),
		side(func(b *ad.Graph, c, x, k ad.Ref) ad.Ref { return x })))
	if ifConvert(g) != g {
		t.Error("a conditional in no loop does not stay")
	}
}

// TestScalarsInScans checks scans, forward and reverse, that carry, read, keep and sum arrays.
// Short arrays are replaced by scalars. Arrays remain if they are long, or if vectors are faster
// for their functions.
func TestScalarsInScans(t *testing.T) {
	const steps = 9
	vector := func(n int) ad.Type { return ad.Type{Shape: []int{n}} }
	for _, c := range []struct {
		what  string
		n     int
		of    func(b *ad.Graph, x ad.Ref) ad.Ref
		stays bool
	}{
		{what: "products", n: 2, of: func(b *ad.Graph, x ad.Ref) ad.Ref { return b.Scale(0.5, x) }},
		{what: "quotients", n: maxShort, of: func(b *ad.Graph, x ad.Ref) ad.Ref { return b.Div(x, b.Add(b.Square(x), b.Const(1))) }},
		{what: "exponentials", n: 4, of: func(b *ad.Graph, x ad.Ref) ad.Ref { return b.Exp(b.Neg(b.Square(x))) }},
		{what: "distribution functions", n: maxShort, of: func(b *ad.Graph, x ad.Ref) ad.Ref { return b.Do(ad.OpPhi, nil, x) }, stays: true},
		{what: "many", n: maxShort + 1, of: func(b *ad.Graph, x ad.Ref) ad.Ref { return b.Scale(0.5, x) }, stays: true},
	} {
		for _, reverse := range []bool{false, true} {
			n := c.n
			g := ad.NewGraph()
			in := g.Input(vector(n * (steps + 2)))
			first, x, captured := g.Slice(in, 0, []int{n}), g.Slice(in, n, []int{steps, n}), g.Slice(in, n*(steps+1), []int{n})
			b := ad.NewGraph()
			y, z, k := b.Input(vector(n)), b.Input(vector(n)), b.Input(vector(n))
			turned := b.Gather(y, ad.Index{Offset: n - 1, Dims: []ad.Dim{{N: n, Stride: -1}}})
			next := b.Add(c.of(b, b.Add(turned, b.Mul(k, b.Dot(y, k)))), z)
			b.Output(next)
			b.Output(b.Mul(next, z))
			b.Output(b.Sum(next))
			b.Output(b.Square(next))
			scan := g.DoScan(&ad.Scan{Body: b, Carries: 1, Streams: 1, Outs: 2, Sums: 1, Steps: steps, Reverse: reverse}, []ad.Ref{first, x, captured})
			total := g.Const(0)
			for i, r := range []ad.Ref{g.Final(scan, 0), g.History(scan, 0), g.Kept(scan, 0), g.Kept(scan, 1), g.SumOf(scan, 0)} {
				weights := make([]float64, g.Type(r).Size())
				for j := range weights {
					weights[j] = 1 / float64(i+j+2)
				}
				total = g.Add(total, g.Sum(g.Mul(r, g.ConstArray(g.Type(r), weights))))
			}
			g.Output(total)
			arrays := slices.ContainsFunc(replaceInRegions(g).Nodes, func(n ad.Node) bool { return slices.ContainsFunc(n.Bodies(), hasArray) })
			if arrays != c.stays {
				t.Errorf("%s: there are arrays: %v, want %v", c.what, arrays, c.stays)
			}
			rng := rand.New(rand.NewPCG(9, 10))
			points := make([][]float64, 2)
			for p := range points {
				points[p] = make([]float64, n*(steps+2))
				for i := range points[p] {
					points[p][i] = 0.5 * rng.NormFloat64()
				}
			}
			sameAfter(t, g, replaceInRegions, ad.OpInvalid, 1e-13, points...)
		}
	}
}
