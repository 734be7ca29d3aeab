package vm

import (
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

func runGraph(t *testing.T, g *ad.Graph, in ...[]float64) *Machine {
	t.Helper()
	p, err := Compile(g, passes.Options{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	m := p.New()
	compare(t, t.Name(), g, m, in, 1e-13)
	return m
}

// TestCarriesChangePlaces checks a scan that exchanges its carried values: each next value is read
// from a place that another next value overwrites.
func TestCarriesChangePlaces(t *testing.T) {
	vec := ad.Type{Shape: []int{2}}
	b := ad.NewGraph()
	x, y, u, v := b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(vec), b.Input(vec)
	b.Output(y)
	b.Output(x)
	b.Output(v)
	b.Output(b.Broadcast(b.Slice(u, 1, nil), []int{2}))
	b.Output(b.Add(b.Sum(u), x))
	g := ad.NewGraph()
	in := g.Input(ad.Type{Shape: []int{6}})
	args := []ad.Ref{g.Slice(in, 0, nil), g.Slice(in, 1, nil), g.Slice(in, 2, []int{2}), g.Slice(in, 4, []int{2})}
	s := g.DoScan(&ad.Scan{Body: b, Carries: 4, Outs: 1, Steps: 5}, args)
	for k := range 4 {
		g.Output(g.Final(s, k))
		g.Output(g.History(s, k))
	}
	g.Output(g.Kept(s, 0))
	runGraph(t, g, []float64{1, 2, 3, 4, 5, 6})
}

// TestScanEffects checks that prints and checks of a scan happen in order, step by step, although
// their operands are computed elsewhere.
func TestScanEffects(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		b := ad.NewGraph()
		c, s := b.Input(ad.Scalar), b.Input(ad.Scalar)
		b.Print(&ad.Message{Parts: []ad.MessagePart{{Arg: 0}}}, b.Square(s))
		b.Check(&ad.Check{Set: ad.Interval{Lo: -10, Hi: 9}, Function: "f", Name: "s", Want: "small"}, s)
		b.Output(b.Add(c, s))
		b.Output(b.Exp(b.Neg(b.Square(s))))
		g := ad.NewGraph()
		in := g.Input(ad.Type{Shape: []int{12}})
		sc := g.DoScan(&ad.Scan{Body: b, Carries: 1, Streams: 1, Outs: 1, Steps: 12, Reverse: reverse}, []ad.Ref{g.Const(0), in})
		g.Output(g.Kept(sc, 0)) // after loop distribution, this is computed outside the scan
		x := make([]float64, 12)
		for i := range x {
			x[i] = float64(i % 5)
		}
		m := runGraph(t, g, x)
		var out []string
		env := &ad.Env{Print: func(s string) { out = append(out, s) }}
		if err := m.Run(env); err != nil || len(out) != 12 {
			t.Fatal(err, out)
		}
		m.Input(0)[7], m.Input(0)[3] = 11, 12
		out = nil
		want := "f: s must be small, but is 12"
		if reverse {
			want = "f: s must be small, but is 11"
		}
		if err := m.Run(env); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
		m.Input(0)[7], m.Input(0)[3] = 1, 1
		out = nil
		if err := m.Run(env); err != nil || len(out) != 12 {
			t.Error("after a rejection:", err, len(out))
		}
	}
}

// TestDistribute checks that only the recurrence of a GARCH step remains in the scan.
func TestDistribute(t *testing.T) {
	var g *ad.Graph
	o := passes.Options{Trace: func(s *passes.Step) {
		if s.Pass.Name == "distribute" {
			g = s.Graph
		}
	}}
	if _, err := passes.Run(garch(200).graph(), o); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for i := range g.Nodes {
		s, ok := g.Nodes[i].Attr.(*ad.Scan)
		if !ok {
			continue
		}
		n := 0
		for k := range s.Body.Nodes {
			if op := s.Body.Nodes[k].Op; op != ad.OpInput && op != ad.OpConst {
				n++
			}
		}
		sizes = append(sizes, n)
	}
	if len(sizes) != 2 || sizes[0] > 5 || sizes[1] > 6 {
		t.Errorf("operations in scans: %v", sizes)
	}
}

// TestInPlace checks that the gradient with respect to slices of a vector is computed in the memory
// of the vector's gradient.
func TestInPlace(t *testing.T) {
	g := ad.NewGraph()
	in := g.Input(ad.Type{Shape: []int{1000}})
	sum := g.Const(0)
	for k := range 10 {
		sum = g.Add(sum, g.Sum(g.Exp(g.Slice(in, 100*k, []int{100}))))
	}
	g.Output(g.Grad(sum, in)[0])
	m := runGraph(t, g, normals(1000, 1))
	if n := len(m.mem); n > 2200 {
		t.Errorf("%d elements of memory for 2000", n)
	}
}
