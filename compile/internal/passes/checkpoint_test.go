package passes

import (
	"math"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestCheckpoints checks a scan whose steps run a while loop. The scan must keep the loop's final
// values, so that its derivative does not run the loop forward again. Values, gradients and second
// derivatives must not change.
func TestCheckpoints(t *testing.T) {
	density := func(lanes bool) *ad.Graph {
		loop := func() (g *ad.Graph, y, p, x ad.Ref) {
			g = ad.NewGraph()
			return g, g.Input(ad.Scalar), g.Input(ad.Scalar), g.Input(ad.Scalar)
		}
		cond, y, _, x := loop()
		cond.Output(cond.Less(y, cond.Add(x, cond.Const(2))))
		body, y, p, x := loop()
		body.Output(body.Add(y, body.Exp(body.Mul(p, x))))
		body.Output(body.Mul(p, body.Const(0.9)))
		body.Output(body.Mul(y, p)) // a sum
		w := &ad.While{Cond: cond, Body: body, Carries: 2, Sums: 1, Snapshots: 4}

		step := ad.NewGraph()
		c, s, x := step.Input(ad.Scalar), step.Input(ad.Scalar), step.Input(ad.Scalar)
		r := step.DoWhile(w, []ad.Ref{step.Mul(c, s), s, x})
		step.Output(step.Mul(step.Const(0.1), step.Final(r, 0)))
		step.Output(step.Do(ad.OpSin, nil, step.Final(r, 1)))
		step.Output(step.Add(step.SumOf(r, 0), step.Square(c)))

		g := ad.NewGraph()
		in := g.Input(ad.Type{Shape: []int{3}})
		x = g.Sum(in)
		if lanes {
			x = g.Lane(in)
		}
		stream := g.ConstArray(ad.Type{Shape: []int{5}}, []float64{0.5, 0.2, 0.7, 0.1, 0.4})
		scan := g.DoScan(&ad.Scan{Body: step, Carries: 1, Streams: 1, Outs: 1, Sums: 1, Steps: 5}, []ad.Ref{g.Const(0.3), stream, x})
		y = g.Add(g.Add(g.Final(scan, 0), g.Sum(g.Kept(scan, 0))), g.SumOf(scan, 0))
		g.Output(g.Sum(g.Unlane(y)))
		return g
	}
	for _, lanes := range []bool{false, true} {
		g := density(lanes)
		h := checkpoint(g)
		var counts [2]int
		for k, d := range []*ad.Graph{g, h} {
			grad := d.Grad(d.Outputs[0], d.Inputs[0])[0]
			d.Output(grad)
			d.Output(d.Grad(d.Sum(d.Square(grad)), d.Inputs[0])[0])
			d = rebuild(&Options{}, d, nil, func(w *ad.Rewriter, _ ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
				return w.Same(n, attr, args)
			})
			counts[k] = forwardLoops(d)
		}
		if counts[0] != 4 || counts[1] != 1 {
			t.Errorf("lanes %v: the loop is run forward in %d scans, with what it left in %d, want 4 and 1", lanes, counts[0], counts[1])
		}
		for _, x := range [][]float64{{0.1, 0.2, 0.3}, {-0.5, 0.4, 1.1}, {1, 1, -0.5}} {
			want, err := g.Eval([][]float64{x}, &ad.Env{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := h.Eval([][]float64{x}, &ad.Env{})
			if err != nil {
				t.Fatal(err)
			}
			for k := range want {
				for i, v := range want[k] {
					if !(math.Abs(got[k][i]-v) <= 1e-13*(1+math.Abs(v))) {
						t.Errorf("lanes %v, at %v: output %d[%d] is %v, want %v", lanes, x, k, i, got[k][i], v)
					}
				}
			}
		}
	}
	if g := density(false); checkpoint(g) == g {
		t.Error("nothing is kept")
	}
	for i := range [2]int{} { // loops with too large results must not change
		g := ad.NewGraph()
		shape := []int{maxCheckpointed}
		body := ad.NewGraph()
		body.Output(body.Exp(body.Input(ad.Type{Shape: shape})))
		cond := ad.NewGraph()
		cond.Output(cond.Less(cond.Sum(cond.Input(ad.Type{Shape: shape})), cond.Const(1)))
		step := ad.NewGraph()
		step.Output(step.Final(step.DoWhile(&ad.While{Cond: cond, Body: body, Carries: 1, Snapshots: 2}, []ad.Ref{step.Input(ad.Type{Shape: shape})}), 0))
		in := g.Input(ad.Type{Shape: shape})
		g.Output(g.Sum(g.Final(g.DoScan(&ad.Scan{Body: step, Carries: 1, Steps: 1 + i}, []ad.Ref{in}), 0)))
		if checkpoint(g) != g {
			t.Error("a loop that leaves more than there is room for is kept")
		}
	}
}

// forwardLoops returns the number of scans that contain the loop of TestCheckpoints as it runs
// forward.
func forwardLoops(g *ad.Graph) (n int) {
	for i := range g.Nodes {
		if s, ok := g.Nodes[i].Attr.(*ad.Scan); ok && slices.ContainsFunc(s.Body.Nodes, func(m ad.Node) bool {
			w, ok := m.Attr.(*ad.While)
			return ok && w.Carries == 2 && w.Sums == 1 && len(w.Body.Inputs) == 3
		}) {
			n++
		}
	}
	return n
}

// TestExponentialsKept checks scans whose steps compute exponentials of arrays of 15 and 16
// elements. Those of 16 are kept, so that the derivative does not compute them again.
func TestExponentialsKept(t *testing.T) {
	density := func(size int) *ad.Graph {
		step := ad.NewGraph()
		c, s := step.Input(ad.Type{Shape: []int{size}}), step.Input(ad.Scalar)
		step.Output(step.Unlane(step.Mul(step.Exp(step.Mul(step.Lane(c), s)), step.Const(0.3))))
		g := ad.NewGraph()
		in := g.Input(ad.Type{Shape: []int{4}})
		scan := g.DoScan(&ad.Scan{Body: step, Carries: 1, Streams: 1, Steps: 4}, []ad.Ref{g.Broadcast(g.Const(0.2), []int{size}), in})
		g.Output(g.Sum(g.Final(scan, 0)))
		return g
	}
	for _, size := range []int{15, 16} {
		var grad [2][]float64
		var exps [2]int
		for k, d := range []*ad.Graph{density(size), checkpoint(density(size))} {
			d.Output(d.Grad(d.Outputs[0], d.Inputs[0])[0])
			for i := range d.Nodes {
				if s, ok := d.Nodes[i].Attr.(*ad.Scan); ok {
					for j, live := range s.Body.Live(s.Body.Outputs, true) {
						if live && s.Body.Nodes[j].Op == ad.OpExp {
							exps[k]++
						}
					}
				}
			}
			out, err := d.Eval([][]float64{{0.5, -0.2, 0.9, 0.4}}, &ad.Env{})
			if err != nil {
				t.Fatal(err)
			}
			grad[k] = out[1]
		}
		if want := [2]int{2, 2 - size/16}; exps != want {
			t.Errorf("%d elements: scans have %v exponentials without and with the pass, want %v", size, exps, want)
		}
		if !slices.Equal(grad[0], grad[1]) {
			t.Errorf("%d elements: the gradient is %v, without the pass %v", size, grad[1], grad[0])
		}
	}
}
