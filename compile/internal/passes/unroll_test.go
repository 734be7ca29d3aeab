package passes

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// sameAfter checks that a pass leaves no node of an op, and values and gradients of the first
// output as they were, but for tol; in is a point or several.
func sameAfter(t *testing.T, g *ad.Graph, pass func(*ad.Graph) *ad.Graph, op ad.OpCode, tol float64, points ...[]float64) {
	t.Helper()
	after := pass(g)
	for i := range after.Nodes {
		if after.Nodes[i].Op == op {
			t.Errorf("there is a %s left", op)
		}
	}
	for _, h := range []*ad.Graph{g, after} {
		h.Output(h.Grad(h.Outputs[0], h.Inputs[0])[0])
	}
	for _, x := range points {
		want, err := g.Eval([][]float64{x}, &ad.Env{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := after.Eval([][]float64{x}, &ad.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			for i, v := range want[k] {
				if w := got[k][i]; v != w && !(math.Abs(v-w) <= tol*(1+math.Abs(v))) {
					t.Errorf("at %v output %d[%d] is %v, want %v", x, k, i, w, v)
				}
			}
		}
	}
}

// TestUnroll writes out a scan in lanes, forwards and backwards, whose every result is used.
func TestUnroll(t *testing.T) {
	const lanes, steps = 5, 4
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, lanes*steps)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for _, reverse := range []bool{false, true} {
		g := ad.NewGraph()
		in := g.Lane(g.Input(ad.Type{Shape: []int{lanes, steps}}))
		body := ad.NewGraph()
		carried, stream, factor := body.Input(ad.Scalar), body.Input(ad.Scalar), body.Input(ad.Scalar)
		next := body.Add(body.Mul(carried, factor), stream)
		body.Output(next)
		body.Output(body.Square(next))
		body.Output(body.Mul(carried, stream))
		scan := g.DoScan(&ad.Scan{Body: body, Carries: 1, Streams: 1, Outs: 1, Sums: 1, Steps: steps, Reverse: reverse}, []ad.Ref{g.Const(0.5), in, g.Const(0.7)})
		weights := g.ConstArray(ad.Type{Shape: []int{steps}}, []float64{1, 2, 3, 5})
		of := g.Add(g.Sum(g.Mul(g.History(scan, 0), weights)), g.Sum(g.Mul(g.Kept(scan, 0), weights)))
		g.Output(g.Sum(g.Unlane(g.Add(of, g.Add(g.Final(scan, 0), g.SumOf(scan, 0))))))
		sameAfter(t, g, unroll, ad.OpScan, 1e-14, x)
	}
}

// TestTerms writes sums of exponentials out, impossible terms among them: where all are, there is no
// derivative.
func TestTerms(t *testing.T) {
	for _, n := range []int{2, 3, 8} {
		g := ad.NewGraph()
		in := g.Input(ad.Type{Shape: []int{n}})
		var terms []ad.Ref
		for k := range n {
			terms = append(terms, g.Scale(float64(k+1), g.Slice(in, k, nil)))
		}
		g.Output(g.LogSumExp(g.Add(g.Stack(terms...), g.Square(in))))
		some, none, first, far := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for k := range n {
			some[k], far[k] = float64(k)/3-1, 700*float64(k%2)
			none[k], first[k] = math.Inf(-1), 0.3
		}
		first[0] = 40
		sameAfter(t, g, writeTerms, ad.OpLogSumExp, 1e-14, some, first, far)
		g = ad.NewGraph()
		in = g.Input(ad.Type{Shape: []int{n}})
		for k := range n {
			terms[k] = g.Scale(float64(k+1), g.Slice(in, k, nil))
		}
		sum := g.LogSumExp(g.Stack(terms...))
		g.Output(g.Select(g.Less(sum, g.Const(-1e300)), g.Const(1), sum))
		sameAfter(t, g, writeTerms, ad.OpLogSumExp, 1e-14, none, some)
	}
}
