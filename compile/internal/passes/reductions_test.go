package passes

import (
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestReductions checks that a carried value of a scan becomes a sum if steps only add to it, with
// and without lanes. If a value is read within a step, or after each step, it is carried as before.
func TestReductions(t *testing.T) {
	for _, c := range []struct {
		what    string
		looks   bool // the step reads the sum so far
		history bool // the sum after each step is read
		first   bool // only the first value has lanes
		carries int  // that are left
	}{
		{what: "added to", carries: 1},
		{what: "read in the step", looks: true, carries: 2},
		{what: "read after each step", history: true, carries: 2},
		{what: "lanes of the first value alone", first: true, carries: 2},
	} {
		for _, lanes := range []bool{false, true} {
			if c.first && !lanes {
				continue
			}
			g := ad.NewGraph()
			in := g.Input(ad.Type{Shape: []int{4}})
			x, factor := g.Slice(in, 0, nil), g.Slice(in, 1, nil)
			if lanes {
				x = g.Lane(in)
				if !c.first {
					factor = x
				}
			}
			body := ad.NewGraph()
			total, state, stream, f := body.Input(ad.Scalar), body.Input(ad.Scalar), body.Input(ad.Scalar), body.Input(ad.Scalar)
			term := body.Mul(state, body.Mul(stream, f))
			kept := body.Square(term)
			if c.looks {
				kept = body.Mul(kept, total)
			}
			body.Output(body.Add(term, total))
			body.Output(body.Add(body.Mul(state, body.Const(0.9)), stream))
			body.Output(kept)
			body.Output(body.Mul(state, stream))
			steps := g.ConstArray(ad.Type{Shape: []int{5}}, []float64{1, -2, 3, 0.5, 0.25})
			scan := g.DoScan(&ad.Scan{Body: body, Carries: 2, Streams: 1, Outs: 1, Sums: 1, Steps: 5}, []ad.Ref{x, g.Const(0.7), steps, factor})
			of := g.Add(g.Square(g.Final(scan, 0)), g.Add(g.Mul(g.Final(scan, 1), g.SumOf(scan, 0)), g.Sum(g.Kept(scan, 0))))
			if c.history {
				of = g.Add(of, g.Sum(g.Mul(g.History(scan, 0), steps)))
			}
			g.Output(g.Sum(g.Unlane(of)))
			after := recogniseReductions(g)
			for i := range after.Nodes {
				if s, ok := after.Nodes[i].Attr.(*ad.Scan); ok && s.Carries != c.carries {
					t.Errorf("%s, lanes %v: %d values are carried, want %d", c.what, lanes, s.Carries, c.carries)
				}
			}
			sameAfter(t, g, recogniseReductions, ad.OpInvalid, 1e-14, []float64{0.3, -1.2, 2, 0.1})
		}
	}
}
