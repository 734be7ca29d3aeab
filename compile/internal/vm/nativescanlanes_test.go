package vm

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/internal/short"
)

// lanedScan adds a recurrence of k numbers in lanes. Its streams are one per lane, one for all
// lanes, and one with two numbers a step. It has a sum, values that are kept, and a check that the
// first number stays below a limit.
func lanedScan(g *ad.Graph, k, steps int, start, own, pairs, common, scale ad.Ref) ad.Ref {
	body := ad.NewGraph()
	var x []ad.Ref
	for range k {
		x = append(x, body.Input(ad.Scalar))
	}
	own1, pair, all, c := body.Input(ad.Scalar), body.Input(ad.Type{Shape: []int{2}}), body.Input(ad.Scalar), body.Input(ad.Scalar)
	body.Check(&ad.Check{Set: ad.Interval{Lo: -1e9, Hi: 50}, Function: "f", Name: "x", Want: "small"}, x[0])
	sum := body.Mul(own1, body.Slice(pair, 1, nil))
	for i := range x {
		sum = body.Add(sum, body.Mul(x[i], body.Scale(0.1+0.05*float64(i), all)))
	}
	body.Output(body.Add(body.Do(ad.OpTanh, nil, sum), body.Mul(c, body.Slice(pair, 0, nil))))
	for i := range k - 1 { // the others move on
		body.Output(x[i])
	}
	body.Output(body.Exp(body.Scale(0.1, sum)))
	body.Output(body.Mul(x[0], sum))
	s := &ad.Scan{Body: body, Carries: k, Streams: 3, Outs: 1, Sums: 1, Steps: steps}
	args := []ad.Ref{start}
	for i := range k - 1 {
		args = append(args, g.Scale(0.5/float64(i+1), start))
	}
	r := g.DoScan(s, append(args, own, pairs, common, scale))
	return g.Add(g.Add(g.Final(r, 0), g.Sum(g.Square(g.Kept(r, 0)))), g.SumOf(r, 0))
}

// TestScansAsVectors checks recurrences in lanes and their derivatives, computed as vectors. They
// must have the same bits as single lanes. With many carried numbers, not all are in registers.
func TestScansAsVectors(t *testing.T) {
	for _, lanes := range short.Every(3, []int{1, 2, 7, 8, 9, 16, 21}) {
		for _, k := range short.Every(2, []int{1, 2, 5, 40}) {
			for _, steps := range []int{1, 2, 13} {
				t.Run(fmt.Sprint(lanes, " ", k, " ", steps), func(t *testing.T) {
					g := ad.NewGraph()
					start, own := g.Input(ad.Type{Shape: []int{lanes}}), g.Input(ad.Type{Shape: []int{lanes, steps}})
					common, scale := g.Input(ad.Type{Shape: []int{steps}}), g.Input(ad.Scalar)
					pairs := g.ConstArray(ad.Type{Shape: []int{lanes, steps, 2}}, normals(lanes*2*steps, 5))
					y := g.SumLanes(lanedScan(g, k, steps, g.Lane(start), g.Lane(own), g.Lane(pairs), common, scale))
					for _, r := range append(g.Grad(y, start, own, common, scale), y) {
						g.Output(r)
					}
					targets := []*native.Target{nil} // of this processor; nil: none
					for _, x := range native.Targets {
						if native.Find(x.Name) != nil {
							targets = append(targets, x)
						}
					}
					var ms []*Machine
					for i, x := range targets {
						p, err := Compile(g, passes.Options{Verify: true})
						if err != nil {
							t.Fatal(err)
						}
						p.target = x
						ms = append(ms, p.New())
						if i > 0 && (p.mistake != "" || p.native != nil && lanes >= eight && steps > 2 && p.vectored < 2) {
							t.Fatalf("%d regions are vectors; %s", p.vectored, p.mistake)
						}
					}
					for _, wrong := range []int{-1, 0, lanes - 1} {
						in := [][]float64{normals(lanes, 7), normals(lanes*steps, 8), normals(steps, 9), {0.8}}
						if wrong >= 0 {
							in[0][wrong] = 60 + float64(wrong)
						}
						errs := make([]string, len(ms))
						for i, m := range ms {
							for j, x := range in {
								copy(m.Input(j), x)
							}
							if err := m.Run(nil); err != nil {
								errs[i] = err.Error()
							}
						}
						if (wrong < 0) != (errs[0] == "") || wrong >= 0 && !strings.Contains(errs[0], "small") {
							t.Fatalf("wrong lane %d: error %q", wrong, errs[0])
						}
						for i, e := range errs {
							if e != errs[0] {
								t.Fatalf("wrong lane %d, %s: error %q, without machine code %q", wrong, targets[i].Name, e, errs[0])
							}
						}
						if errs[0] != "" {
							continue
						}
						for i, m := range ms[1:] {
							for o := range 5 {
								for e, v := range m.Output(o) {
									if want := ms[0].Output(o)[e]; math.Float64bits(v) != math.Float64bits(want) {
										t.Fatalf("%s, output %d, element %d: %v, without machine code %v", targets[i+1].Name, o, e, v, want)
									}
								}
							}
							compare(t, t.Name(), g, m, in, 1e-9)
						}
					}
				})
			}
		}
	}
}
