package vm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// TestCallers checks Gradient for programs that read long inputs and write long outputs in its
// caller's memory: it equals Run to the last bit, writes all of the gradient and nothing else, and
// keeps no slice. Sizes are on both sides of one strip and of two.
func TestCallers(t *testing.T) {
	t.Run("one part", func(t *testing.T) { testCallers(t, 1) })
	t.Run("parts", func(t *testing.T) {
		finely(t)
		testCallers(t, 1)
		testCallers(t, 3)
	})
}

func testCallers(t *testing.T, workers int) {
	vector := func(n int) ad.Type { return ad.Type{Shape: []int{n}} }
	for _, c := range []struct {
		name    string
		views   bool // Gradient sets views where inputs are longer than a strip
		program func(g *ad.Graph, n int)
	}{
		{"elements", true, func(g *ad.Graph, n int) {
			x := g.Input(vector(n))
			y := g.Exp(x)
			g.Output(g.Sum(y))
			g.Output(g.Mul(y, x))
		}},
		{"two inputs and outputs", true, func(g *ad.Graph, n int) {
			a, x, z := g.Input(ad.Scalar), g.Input(vector(n)), g.Input(vector(n))
			g.Output(g.Sum(g.Mul(x, z)))
			g.Output(g.Sum(g.Mul(a, z)))
			g.Output(g.Mul(a, z))
			g.Output(g.Sub(x, g.Square(z)))
		}},
		{"scalars of the same input", true, func(g *ad.Graph, n int) {
			x := g.Input(vector(n + 2))
			a, b, rest := g.Slice(x, 0, nil), g.Slice(x, n+1, nil), g.Slice(x, 1, []int{n})
			y := g.Mul(g.Exp(a), rest)
			total := g.Add(g.Sum(g.Square(y)), g.Mul(b, b))
			g.Output(total)
			g.Output(g.Grad(total, x)[0])
		}},
		{"an output that another block reads", true, func(g *ad.Graph, n int) {
			x := g.Input(vector(n))
			y := g.Mul(x, x)
			s := g.Sum(y)
			z := g.Mul(y, s)
			g.Output(s)
			g.Output(y)
			g.Output(z)
		}},
		{"an output that a scan reads", true, func(g *ad.Graph, n int) {
			x := g.Input(vector(n))
			y := g.Mul(x, x)
			body := ad.NewGraph()
			before, own := body.Input(ad.Scalar), body.Input(ad.Scalar)
			next := body.Add(body.Mul(before, body.Const(0.5)), own)
			body.Output(next)
			body.Output(next)
			scan := g.DoScan(&ad.Scan{Body: body, Carries: 1, Streams: 1, Outs: 1, Steps: n}, []ad.Ref{g.Const(0), y})
			g.Output(g.Sum(g.Kept(scan, 0)))
			g.Output(y)
			g.Output(g.Kept(scan, 0))
		}},
		{"one value as two outputs", true, func(g *ad.Graph, n int) {
			x := g.Input(vector(n))
			y := g.Mul(x, x)
			g.Output(g.Sum(y))
			g.Output(y)
			g.Output(y)
		}},
		{"inputs and data as outputs", true, func(g *ad.Graph, n int) {
			x := g.Input(vector(n))
			g.Output(g.Sum(g.Exp(x)))
			g.Output(x)
			g.Output(g.ConstArray(vector(n), slices.Repeat([]float64{2}, n)))
		}},
		{"overlapping parts", true, func(g *ad.Graph, n int) {
			x := g.Input(vector(n))
			first, last := g.Slice(x, 0, []int{n - 1}), g.Slice(x, 1, []int{n - 1})
			total := g.Sum(g.Square(g.Sub(last, g.Mul(first, g.Const(0.9)))))
			g.Output(total)
			g.Output(g.Grad(total, x)[0])
		}},
		{"no part", false, func(g *ad.Graph, n int) {
			x := g.Input(vector(n))
			i := make([]int32, n)
			for k := range i {
				i[k] = int32(k * 7 % n)
			}
			total := g.Sum(g.Exp(g.Gather(x, ad.Index{Dims: []ad.Dim{{N: n, Table: i}}})))
			g.Output(total)
		}},
	} {
		for _, n := range []int{2, maxStrip - 1, maxStrip, maxStrip + 1, maxStrip + 2, 2*maxStrip + 3} {
			for _, without := range [][]string{nil, {passes.NativePass}, {passes.MemoryPass}} {
				name := fmt.Sprintf("%s, %d, without %v", c.name, n, without)
				g := ad.NewGraph()
				c.program(g, n)
				p, err := Compile(g, passes.Options{Without: without})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if has := p.callers != nil; has && !c.views || !has && c.views && n > maxStrip+1 {
					t.Errorf("%s: views of the caller: %v", name, has)
				}
				callersAt(t, name, p, g, workers)
			}
		}
	}
}

// callersAt compares Gradient with Run at several points, and with a reference.
func callersAt(t *testing.T, name string, p *Program, g *ad.Graph, workers int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	m, other := p.New(), p.New()
	m.SetWorkers(workers)
	other.SetWorkers(workers)
	for range 3 {
		var in [][]float64
		for i := range p.inputs {
			x := make([]float64, len(m.Input(i)))
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			in = append(in, x)
			copy(other.Input(i), x)
		}
		point := slices.Concat(in...)
		if err := other.Run(nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var want []float64
		for k := range p.outputs[1:] {
			want = append(want, other.Output(k+1)...)
		}
		const guard = 16
		room := slices.Repeat([]float64{math.NaN()}, len(want)+2*guard)
		x := slices.Clone(point)
		lp, err := m.Gradient(&ad.Env{}, x, room[guard:guard+len(want)])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if lp != other.Output(0)[0] || !slices.Equal(x, point) {
			t.Errorf("%s: the value is %v, want %v, or the point has changed", name, lp, other.Output(0)[0])
		}
		for i, v := range room {
			if inside := i >= guard && i < guard+len(want); inside && math.Float64bits(v) != math.Float64bits(want[i-guard]) || !inside && !math.IsNaN(v) {
				t.Errorf("%s: number %d of %d is %v", name, i-guard, len(want), v)
				break
			}
		}
		for i, v := range m.views { // no slice of the caller is kept
			if len(v) > 0 && (&v[0] == &x[0] || len(want) > 0 && &v[0] == &room[guard]) {
				t.Errorf("%s: view %d still shows memory of the caller", name, i)
			}
		}
		for i, v := range in {
			copy(m.Input(i), v)
		}
		compare(t, name, g, m, in, 1e-13)
		if len(p.inputs) > 1 { // the rest of the inputs keep their values
			got := make([]float64, len(want))
			if lp2, err := m.Gradient(&ad.Env{}, in[0], got); err != nil || lp2 != lp || !slices.Equal(got, want) {
				t.Errorf("%s: with the first input alone, %v, %v", name, lp2, err)
			}
		}
	}
}
