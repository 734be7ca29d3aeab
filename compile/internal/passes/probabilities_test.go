package passes

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// TestProbabilities puts sums of probabilities together in different ways, in lanes, as arrays and
// in scans. At ordinary points, and at those where probabilities underflow, values and derivatives
// must equal those of the sums of logarithms.
func TestProbabilities(t *testing.T) {
	const n, steps = 9, 5
	inf := math.Inf(1)
	weights, truths := make([]float64, n), make([]float64, n)
	for i := range weights {
		weights[i], truths[i] = []float64{0, -0.5, -inf}[i%3], float64(i%2)
	}
	lse := func(g *ad.Graph, x, y ad.Ref) ad.Ref { return g.Do(ad.OpLogAddExp, nil, x, y) }
	type build = func(g *ad.Graph, u, v ad.Ref) ad.Ref // of two vectors of n numbers
	yes := func(g *ad.Graph, u ad.Ref) ad.Ref { return g.Do(ad.OpLogInvLogit, nil, u) }
	no := func(g *ad.Graph, u ad.Ref) ad.Ref { return g.Do(ad.OpLog1mInvLogit, nil, u) }
	inLanes := func(f build) build {
		return func(g *ad.Graph, u, v ad.Ref) ad.Ref { return g.Unlane(f(g, g.Lane(u), g.Lane(v))) }
	}
	nested := func(g *ad.Graph, u, v ad.Ref) ad.Ref {
		x := lse(g, no(g, u), g.Add(yes(g, u), no(g, v)))
		return lse(g, no(g, u), g.Add(g.Add(yes(g, u), no(g, v)), x))
	}
	scan := func(reverse, logs bool, extra func(b *ad.Graph, c ad.Ref) ad.Ref) build {
		return func(g *ad.Graph, u, v ad.Ref) ad.Ref {
			b := ad.NewGraph()
			c, d, stream, term, k := b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar)
			p, in := u, [2]ad.Ref{no(b, stream), yes(b, stream)}
			if logs {
				p, in = g.Do(ad.OpInvLogit, nil, u), [2]ad.Ref{b.Do(ad.OpLog1m, nil, stream), b.Log(stream)}
			}
			next := lse(b, in[0], b.Add(b.Add(in[1], b.Add(k, term)), c))
			if extra != nil {
				next = extra(b, next)
			}
			b.Output(next)
			b.Output(d)
			b.Output(b.Add(next, d))
			first := func(x ad.Ref) ad.Ref { return g.Slice(x, 0, []int{steps}) }
			s := g.DoScan(&ad.Scan{Body: b, Carries: 2, Streams: 2, Outs: 1, Steps: steps, Reverse: reverse},
				[]ad.Ref{g.Const(0), g.Const(-0.25), first(p), first(no(g, v)), g.Slice(no(g, v), steps, nil)})
			return g.Concat(g.Kept(s, 0), g.Final(s, 0), g.History(s, 0))
		}
	}
	for what, c := range map[string]struct {
		of    build
		stays bool
		left  bool // some sum stays
		exact bool // logarithms of computed probabilities have derivatives at ordinary points only
	}{
		"alone":           {of: func(g *ad.Graph, u, v ad.Ref) ad.Ref { return lse(g, yes(g, u), g.Add(no(g, u), yes(g, v))) }},
		"nested":          {of: nested},
		"nested in lanes": {of: inLanes(nested)},
		"never": {of: func(g *ad.Graph, u, v ad.Ref) ad.Ref {
			w := g.ConstArray(ad.Type{Shape: []int{n}}, weights)
			return lse(g, g.Add(yes(g, u), w), g.Add(yes(g, v), w))
		}},
		"chosen": {exact: true, of: func(g *ad.Graph, u, v ad.Ref) ad.Ref {
			p, q := g.Do(ad.OpInvLogit, nil, u), g.Do(ad.OpInvLogit, nil, v)
			c := g.ConstArray(ad.Type{Shape: []int{n}}, truths)
			x := g.Log(g.Select(c, p, g.Sub(g.Const(1), q)))
			return lse(g, g.Select(c, x, g.Neg(g.Do(ad.OpLog1pExp, nil, v))), g.Do(ad.OpLog1m, nil, g.Mul(p, q)))
		}},
		"whole sum": {of: func(g *ad.Graph, u, v ad.Ref) ad.Ref {
			x := g.LogSumExp(g.Add(yes(g, u), no(g, v)))
			return lse(g, x, g.Concat(nested(g, u, v), g.Slice(yes(g, v), 2, []int{3})))
		}},
		"scan":                    {of: scan(false, false, nil)},
		"scan backwards":          {of: scan(true, false, nil)},
		"scan over probabilities": {exact: true, of: scan(false, true, nil)},
		"a term may be any number": {stays: true, of: func(g *ad.Graph, u, v ad.Ref) ad.Ref {
			return lse(g, yes(g, u), g.Add(no(g, u), v))
		}},
		"scan of a term that may be any number": {stays: true, of: scan(false, false, func(b *ad.Graph, c ad.Ref) ad.Ref { return b.Do(ad.OpTanh, nil, c) })},
		"a condition reads a sum": {left: true, of: func(g *ad.Graph, u, v ad.Ref) ad.Ref {
			x := g.Add(nested(g, u, v), v)
			return lse(g, g.Select(g.Less(x, g.Const(-1)), yes(g, u), no(g, u)), v)
		}},
	} {
		g := ad.NewGraph()
		in := g.Input(ad.Type{Shape: []int{2 * n}})
		g.Output(g.Sum(g.Do(ad.OpTanh, nil, g.Scale(0.3, c.of(g, g.Slice(in, 0, []int{n}), g.Slice(in, n, []int{n}))))))
		rng := rand.New(rand.NewPCG(5, 6))
		points := make([][]float64, 6)
		for p := range points {
			points[p] = make([]float64, 2*n)
			for i := range points[p] {
				points[p][i] = rng.NormFloat64() * []float64{1, 5, 40, 400, 4000, 1}[p]
			}
		}
		for i := range points[5] {
			points[5][i] = -300 // all sums are below the least one
		}
		after := sumProbabilities(g)
		if err := loopnest.VerifyGraph(after); err != nil {
			t.Error(what, err)
		}
		if changed := has(after, ad.OpIf); changed == c.stays {
			t.Errorf("%s: changed %v, want %v", what, changed, !c.stays)
		}
		for i, live := range after.Live(after.Outputs, true) {
			if live && after.Nodes[i].Op == ad.OpLogAddExp && !c.stays && !c.left {
				t.Errorf("%s: a sum of logarithms is left", what)
			}
		}
		if c.exact {
			points = points[:2]
		}
		t.Run(what, func(t *testing.T) { sameAfter(t, g, sumProbabilities, ad.OpInvalid, 1e-12, points...) })
	}
}
