package passes

import (
	"fmt"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestSequences compares scans of several sequences with the same in lanes: all results, for
// numbers of sequences on both sides of minSequences and for sequences of different lengths.
func TestSequences(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 20} {
		for _, steps := range []int{1, 2, 5} {
			for _, other := range []int{-1, 0} { // a step after which another sequence begins, too
				t.Run(fmt.Sprint(n, " ", steps, " ", other), func(t *testing.T) {
					total := n * steps
					starts := make([]float64, total)
					for i := range starts {
						if (i+1)%steps == 0 && i+1 < total || i == other {
							starts[i] = 1
						}
					}
					g := ad.NewGraph()
					one := ad.Type{Shape: []int{1}}
					x, from, z, scale := g.Input(one), g.Input(ad.Type{Shape: []int{total, 1}}), g.Input(ad.Type{Shape: []int{total}}), g.Input(ad.Scalar)
					b := ad.NewGraph()
					x1, x2 := b.Input(one), b.Input(ad.Scalar)
					mask, start, noise, c := b.Input(ad.Scalar), b.Input(one), b.Input(ad.Scalar), b.Input(ad.Scalar)
					y1 := b.Add(b.Do(ad.OpTanh, nil, b.Mul(c, x2)), noise)
					y2 := b.Add(b.Mul(c, b.Reshape(x1, nil)), x2)
					b.Output(b.Select(mask, start, b.Reshape(y1, []int{1})))
					b.Output(b.Select(mask, b.Const(0.5), y2))
					b.Output(b.Mul(y1, y2))
					b.Output(b.Exp(b.Scale(0.01, y2)))
					s := g.DoScan(&ad.Scan{Body: b, Carries: 2, Streams: 3, Outs: 1, Sums: 1, Steps: total},
						[]ad.Ref{x, g.Const(0.5), g.ConstArray(ad.Type{Shape: []int{total}}, starts), from, z, scale})
					for _, r := range []ad.Ref{g.Final(s, 0), g.Final(s, 1), g.History(s, 0), g.History(s, 1), g.Kept(s, 0), g.SumOf(s, 0)} {
						g.Output(r)
					}
					h := separate(g)
					lanes := 0
					for i := range h.Nodes {
						if h.Nodes[i].Op == ad.OpScan {
							lanes = h.Nodes[i].Type.Lanes
						}
					}
					if want := n >= minSequences && steps > 1 && (other < 0 || steps == 1); (lanes == n) != want {
						t.Fatalf("the scan has %d lanes", lanes)
					}
					in := [][]float64{{0.3}, make([]float64, total), make([]float64, total), {0.7}}
					for i := range total {
						in[1][i], in[2][i] = math.Sin(float64(i)), math.Cos(float64(3*i))
					}
					want, err := g.Eval(in, &ad.Env{})
					if err != nil {
						t.Fatal(err)
					}
					got, err := h.Eval(in, &ad.Env{})
					if err != nil {
						t.Fatal(err)
					}
					for k := range want {
						for i, v := range want[k] {
							if math.Abs(got[k][i]-v) > 1e-13*max(1, math.Abs(v)) {
								t.Errorf("output %d, element %d: %v, want %v", k, i, got[k][i], v)
							}
						}
						if len(got[k]) != len(want[k]) || fmt.Sprint(h.Type(h.Outputs[k])) != fmt.Sprint(g.Type(g.Outputs[k])) {
							t.Errorf("output %d has type %v, want %v", k, h.Type(h.Outputs[k]), g.Type(g.Outputs[k]))
						}
					}
				})
			}
		}
	}
}
