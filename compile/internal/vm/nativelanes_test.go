package vm

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
	"github.com/ppl-lang/ppl/internal/short"
)

// countdown adds a loop in lanes. Each lane makes as many trips as its bound says. The body has a
// conditional, a sum, elements at computed positions, and a check that x stays below a limit.
func countdown(g *ad.Graph, start, bound, scale ad.Ref, snapshots int) ad.Ref {
	cond, body := ad.NewGraph(), ad.NewGraph()
	var k, x, n, a [2]ad.Ref
	for i, b := range []*ad.Graph{cond, body} {
		k[i], x[i], n[i], a[i] = b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar)
	}
	cond.Output(cond.Less(k[0], n[0]))
	then, other := ad.NewGraph(), ad.NewGraph()
	t, o := then.Input(ad.Scalar), other.Input(ad.Scalar)
	then.Output(then.Log(then.Add(then.Square(t), then.Const(1))))
	other.Output(other.Do(ad.OpSin, nil, other.Exp(other.Scale(0.1, o))))
	body.Check(&ad.Check{Set: ad.Interval{Lo: -1e9, Hi: 50}, Function: "f", Name: "x", Want: "small"}, x[1])
	f := body.Do(ad.OpIf, &ad.If{Then: then, Else: other}, body.Less(x[1], body.Const(0.5)), x[1])
	table := body.ConstArray(ad.Type{Shape: []int{4}}, []float64{0.3, 0.9, -0.2, 1.1})
	rest := body.Sub(k[1], body.Scale(4, body.Do(ad.OpFloor, nil, body.Scale(0.25, k[1]))))
	y := body.Add(body.Mul(a[1], body.Result(f, 0)), body.Take(table, rest))
	body.Output(body.Add(k[1], body.Const(1)))
	body.Output(y)
	body.Output(body.Mul(y, x[1]))
	w := &ad.While{Cond: cond, Body: body, Carries: 2, Sums: 1, Snapshots: snapshots}
	r := g.DoWhile(w, []ad.Ref{g.Const(0), start, bound, scale})
	return g.Add(g.Add(g.Final(r, 1), g.SumOf(r, 0)), g.Scale(1e-3, g.Trips(r)))
}

// TestLanesAsVectors checks loops in lanes with different numbers of iterations, and their
// derivatives, computed as vectors. They must have the same bits as single lanes. Some histories
// are too short for the iterations.
func TestLanesAsVectors(t *testing.T) {
	for _, lanes := range short.Every(3, []int{1, 2, 7, 8, 9, 16, 21}) {
		for _, snapshots := range short.Every(2, []int{2, 8, 64}) {
			t.Run(fmt.Sprint(lanes, " ", snapshots), func(t *testing.T) {
				shape := ad.Type{Shape: []int{lanes}}
				g := ad.NewGraph()
				start, bound, scale := g.Input(shape), g.Input(shape), g.Input(ad.Scalar)
				y := g.SumLanes(countdown(g, g.Lane(start), g.Lane(bound), scale, snapshots))
				d := g.Grad(y, start, scale)
				for _, r := range append(d, y) {
					g.Output(r)
				}
				var ms [2]*Machine
				for i, o := range []passes.Options{{Verify: true}, {Without: []string{passes.NativePass}}} {
					p, err := Compile(g, o)
					if err != nil {
						t.Fatal(err)
					}
					ms[i] = p.New()
					if i == 0 && (p.mistake != "" || p.native != nil && lanes >= eight && p.vectored == 0) {
						t.Fatalf("%d regions are vectors; %s", p.vectored, p.mistake)
					}
				}
				for _, most := range []float64{0, 1, 7, 50, 200} {
					bounds := make([]float64, lanes)
					for i := range bounds {
						bounds[i] = math.Floor(most * math.Abs(math.Sin(float64(3*i))))
					}
					for _, wrong := range []int{-1, 0, lanes - 1} {
						in := [][]float64{normals(lanes, 7), bounds, {0.8}}
						if wrong >= 0 {
							in[0][wrong] = 60 + float64(wrong)
						}
						var errs [2]string
						for i, m := range ms {
							for k, x := range in {
								copy(m.Input(k), x)
							}
							if err := m.Run(nil); err != nil {
								errs[i] = err.Error()
							}
						}
						if errs[0] != errs[1] || wrong < 0 && errs[0] != "" || wrong >= 0 && bounds[wrong] > 0 && !strings.Contains(errs[0], fmt.Sprint(60+wrong)) {
							t.Fatalf("at most %v trips, wrong lane %d: error %q, without machine code %q", most, wrong, errs[0], errs[1])
						}
						if errs[0] != "" {
							continue
						}
						for k := range 3 {
							for e, v := range ms[0].Output(k) {
								if want := ms[1].Output(k)[e]; math.Float64bits(v) != math.Float64bits(want) {
									t.Errorf("at most %v trips: output %d, element %d: %v, without machine code %v", most, k, e, v, want)
								}
							}
						}
						compare(t, t.Name(), g, ms[0], in, 1e-9)
					}
				}
			})
		}
	}
}

// TestLanesFollowLinks checks a loop that carries a position and replaces it by the number that a
// table has at that position, counted from 1. The new value overwrites the old one, but lanes that
// have finished must keep theirs.
func TestLanesFollowLinks(t *testing.T) {
	const lanes = 19
	// Each number points to an earlier one; the first and every fifth point to themselves.
	links := make([]float64, lanes)
	for i := range links {
		links[i] = float64(i + 1 - i%5%3)
		if i%5 == 4 {
			links[i] = float64(i + 1)
		}
	}
	want := make([]float64, lanes)
	for i := range want {
		at := i + 1
		for int(links[at-1]) != at {
			at = int(links[at-1])
		}
		want[i] = float64(at)
	}
	g := ad.NewGraph()
	table, start := g.Input(ad.Type{Shape: []int{lanes}}), g.Input(ad.Type{Shape: []int{lanes}})
	cond, body := ad.NewGraph(), ad.NewGraph()
	at, all := cond.Input(ad.Scalar), cond.Input(g.Type(table))
	cond.Output(cond.Do(ad.OpNotEqual, nil, cond.Take(all, cond.Sub(at, cond.Const(1))), at))
	at, all = body.Input(ad.Scalar), body.Input(g.Type(table))
	body.Output(body.Take(all, body.Sub(at, body.Const(1))))
	w := &ad.While{Cond: cond, Body: body, Carries: 1, Snapshots: 4}
	g.Output(g.Final(g.DoWhile(w, []ad.Ref{g.Lane(start), table}), 0))
	p, err := Compile(g, passes.Options{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	if p.native != nil && p.vectored == 0 {
		t.Fatalf("the lanes are no vectors: %s", p.mistake)
	}
	m := p.New()
	copy(m.Input(0), links)
	for i := range lanes {
		m.Input(1)[i] = float64(i + 1)
	}
	if err := m.Run(nil); err != nil {
		t.Fatal(err)
	}
	for i, v := range m.Output(0) {
		if v != want[i] {
			t.Errorf("lane %d ends at %v instead of %v", i, v, want[i])
		}
	}
}
