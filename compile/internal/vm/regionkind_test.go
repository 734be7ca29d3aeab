package vm

import (
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// TestRegionKinds compares compiled code with the graph for an example of each kind of region:
// alone, in a conditional, in the steps of a scan, and in a while loop. It compares values,
// gradients and a derivative of the gradient. Passes run before and after differentiation.
func TestRegionKinds(t *testing.T) {
	kinds := 0
	for op := ad.OpInvalid + 1; op <= ad.OpRandom; op++ {
		row := op.Row()
		if row.Class != ad.Region {
			continue
		}
		kinds++
		total := func(g *ad.Graph, x ad.Ref) ad.Ref { return g.Sum(g.Do(ad.OpCos, nil, row.Example(g, x))) }
		for name, build := range map[string]func(g *ad.Graph, x ad.Ref) ad.Ref{
			"alone": total,
			"in a conditional": func(g *ad.Graph, x ad.Ref) ad.Ref {
				f := &ad.If{Then: ad.NewGraph(), Else: ad.NewGraph()}
				f.Then.Output(total(f.Then, f.Then.Input(g.Type(x))))
				f.Else.Output(f.Else.Sum(f.Else.Input(g.Type(x))))
				return g.Result(g.Do(ad.OpIf, f, g.Less(g.Const(0), g.Slice(x, 0, nil)), x), 0)
			},
			"in a scan": func(g *ad.Graph, x ad.Ref) ad.Ref {
				b := ad.NewGraph()
				in := b.Input(g.Type(x))
				y := total(b, in)
				b.Output(b.Add(in, b.Scale(0.1, b.Broadcast(y, g.Type(x).Shape))))
				b.Output(y)
				return g.SumOf(g.DoScan(&ad.Scan{Body: b, Carries: 1, Sums: 1, Steps: 3}, []ad.Ref{x}), 0)
			},
			"in a loop": func(g *ad.Graph, x ad.Ref) ad.Ref {
				w := &ad.While{Cond: ad.NewGraph(), Body: ad.NewGraph(), Carries: 1, Sums: 1, Snapshots: 2}
				k := w.Cond.Input(ad.Scalar)
				w.Cond.Input(g.Type(x))
				w.Cond.Output(w.Cond.Less(k, w.Cond.Const(3)))
				k, in := w.Body.Input(ad.Scalar), w.Body.Input(g.Type(x))
				w.Body.Output(w.Body.Add(k, w.Body.Const(1)))
				w.Body.Output(w.Body.Mul(w.Body.Add(k, w.Body.Const(1)), total(w.Body, in)))
				return g.SumOf(g.DoWhile(w, []ad.Ref{g.Const(0), x}), 0)
			},
		} {
			t.Run(row.Name+" "+name, func(t *testing.T) {
				g := ad.NewGraph()
				in := g.Input(ad.Type{Shape: []int{row.Size}})
				g.Output(build(g, in))
				o := passes.Options{Verify: true}
				g, err := passes.RunDensity(g, o)
				if err != nil {
					t.Fatal(err)
				}
				in = g.Inputs[0]
				grad := g.Grad(g.Outputs[0], in)[0]
				g.Output(grad)
				g.Output(g.JVP([]ad.Ref{grad}, []ad.Ref{in}, []ad.Ref{in})[0])
				p, err := Compile(g, o)
				if err != nil {
					t.Fatal(err)
				}
				m := p.New()
				rng := rand.New(rand.NewPCG(uint64(op), 4))
				for range 5 {
					x := make([]float64, row.Size)
					for i := range x {
						x[i] = rng.NormFloat64()
					}
					compare(t, name, g, m, [][]float64{x}, 1e-9)
				}
			})
		}
	}
	if kinds < 3 {
		t.Errorf("%d kinds", kinds)
	}
}
