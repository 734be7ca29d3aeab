package ad

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestSegments checks that a scan differentiated in segments has the same derivatives as one whose
// history is stored: first and second ones, in both modes, whichever results are read. It also
// covers lanes, reverse scans, and segments that are divided again.
func TestSegments(t *testing.T) {
	const T = 23
	build := func(limit int, reverse, laned bool) (*Graph, Ref, Ref) {
		body := NewGraph()
		x, s, a := body.Input(Type{Shape: []int{2}}), body.Input(Scalar), body.Input(Scalar)
		count := body.Input(Scalar) // a value without derivative
		nx := body.Do(OpSin, nil, body.Add(body.Mul(a, body.Gather(x, Index{Offset: 1, Dims: []Dim{{N: 2, Stride: -1}}})), s))
		body.Inputs = []Ref{x, count, s, a}
		for k, r := range body.Inputs {
			body.Nodes[r].Attr = k
		}
		body.Output(nx)
		body.Output(body.Add(count, body.Const(1)))
		body.Output(body.Do(OpCos, nil, nx))
		body.Output(body.Mul(body.Sum(x), body.Scale(0.1, count)))
		g := NewGraph()
		in := g.Input(Type{Shape: []int{T + 5}})
		start := g.Slice(in, 0, []int{2})
		if laned {
			start = g.Lane(g.Slice(in, 0, []int{2, 2}))
		}
		sc := g.DoScan(&Scan{Body: body, Carries: 2, Streams: 1, Outs: 1, Sums: 1, Steps: T, Reverse: reverse, Limit: limit},
			[]Ref{start, g.Const(0), g.Slice(in, 4, []int{T}), g.Slice(in, T+4, nil)})
		w := make([]float64, 2*T)
		for i := range w {
			w[i] = 1 + 0.1*float64(i%7)
		}
		weights := g.ConstArray(Type{Shape: []int{T, 2}}, w)
		out := g.Add(g.Sum(g.Mul(g.Kept(sc, 0), weights)), g.Sum(g.Square(g.Final(sc, 0))))
		out = g.Add(out, g.SumOf(sc, 0))
		if !laned { // with lanes, nothing reads the history
			out = g.Add(out, g.Sum(g.Square(g.Mul(weights, g.History(sc, 0)))))
		}
		return g, in, g.SumLanes(out)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	x, dir := make([]float64, T+5), make([]float64, T+5)
	for i := range x {
		x[i], dir[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	for _, reverse := range []bool{false, true} {
		for _, laned := range []bool{false, true} {
			var want [][]float64
			for _, limit := range []int{0, 50, 1} {
				g, in, out := build(limit, reverse, laned)
				along := g.ConstArray(Type{Shape: []int{T + 5}}, dir)
				grad := g.Grad(out, in)[0]
				v := evalAt(t, g, x, out, grad, g.Grad(g.Dot(grad, along), in)[0], g.HVP(out, []Ref{in}, []Ref{along})[0])
				if limit == 0 {
					want = v
					continue
				}
				for k := range v {
					closeTo(t, fmt.Sprint("limit ", limit, " reverse ", reverse, " lanes ", laned, " output ", k), v[k], want[k], 1e-11)
				}
			}
		}
	}
}

// TestSegmentsStore checks that no value used in the derivative of a long scan is as large as its
// history.
func TestSegmentsStore(t *testing.T) {
	const T, K = 10_000_000, 4
	body := NewGraph()
	x, a := body.Input(Type{Shape: []int{K, K}}), body.Input(Type{Shape: []int{K, K}})
	body.Output(body.Do(OpTanh, nil, body.MatMul(a, x)))
	g := NewGraph()
	in := g.Input(Type{Shape: []int{K, K}})
	sc := g.DoScan(&Scan{Body: body, Carries: 1, Steps: T}, []Ref{in, in})
	d := g.Grad(g.Sum(g.Final(sc, 0)), in)[0]
	// Of a scan, only the histories that are read are stored.
	var largest func(g *Graph, outs []Ref) int
	largest = func(g *Graph, outs []Ref) int {
		most := 0
		live := g.Live(outs, false)
		for i := range g.Nodes {
			n := &g.Nodes[i]
			if !live[i] {
				continue
			}
			if s, ok := n.Attr.(*Scan); ok {
				most = max(most, largest(s.Body, s.Body.Outputs))
			} else {
				most = max(most, n.Type.Total())
			}
		}
		return most
	}
	if n := largest(g, []Ref{d}); n > DefaultHistory || n < 1000*K*K {
		t.Errorf("a value of %d elements is read", n)
	}
}
