package ad

import (
	"fmt"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
)

// untakenSides are expressions of x and y that have no finite value, or no finite derivative, at
// any x and y.
var untakenSides = []struct {
	name string
	f    func(g *Graph, x, y Ref) Ref
}{
	{"log_diff_exp(x, x)", func(g *Graph, x, y Ref) Ref { return g.Do(OpLogDiffExp, nil, x, x) }},
	{"y log(0x)", func(g *Graph, x, y Ref) Ref { return g.Mul(y, g.Log(g.Scale(0, x))) }},
	{"sqrt(0x)", func(g *Graph, x, y Ref) Ref { return g.Sqrt(g.Scale(0, x)) }},
	{"sqrt(0x) sqrt(0y)", func(g *Graph, x, y Ref) Ref { return g.Mul(g.Sqrt(g.Scale(0, x)), g.Sqrt(g.Scale(0, y))) }},
	{"x NaN", func(g *Graph, x, y Ref) Ref { return g.Mul(x, g.Add(y, g.Const(math.NaN()))) }},
	{"x exp(y inf)", func(g *Graph, x, y Ref) Ref {
		return g.Mul(x, g.Exp(g.Mul(g.Square(y), g.Const(math.Inf(1)))))
	}},
	{"pow(0x, y)", func(g *Graph, x, y Ref) Ref { return g.Do(OpPow, nil, g.Scale(0, x), y) }},
	{"log_sum_exp of NaN", func(g *Graph, x, y Ref) Ref {
		return g.LogSumExp(g.Stack(x, g.Mul(y, g.Const(math.NaN()))))
	}},
	{"max of NaN", func(g *Graph, x, y Ref) Ref {
		return g.Square(g.Do(OpMaxOf, nil, g.Stack(x, g.Mul(y, g.Const(math.NaN())))))
	}},
	{"dot with NaN", func(g *Graph, x, y Ref) Ref {
		return g.Dot(g.Stack(x, y), g.Stack(g.Mul(y, g.Const(math.NaN())), x))
	}},
	{"matrix of NaN times vector", func(g *Graph, x, y Ref) Ref {
		nan := g.Mul(x, g.Const(math.NaN()))
		return g.Sum(g.MatVec(g.Reshape(g.Concat(x, nan, y, nan), []int{2, 2}), g.Stack(x, y)))
	}},
	{"determinant of NaN", func(g *Graph, x, y Ref) Ref {
		nan := g.Mul(x, g.Const(math.NaN()))
		return g.Do(OpDet, nil, g.Reshape(g.Concat(x, nan, nan, y), []int{2, 2}))
	}},
	{"bessel_j(0, x NaN)", func(g *Graph, x, y Ref) Ref {
		return g.Do(OpBesselJ, nil, g.Const(0), g.Mul(x, g.Const(math.NaN())))
	}},
	{"a scan of NaN", func(g *Graph, x, y Ref) Ref {
		b := NewGraph()
		c, k := b.Input(Scalar), b.Input(Scalar)
		b.Output(b.Mul(c, k))
		return g.Final(g.DoScan(&Scan{Body: b, Carries: 1, Steps: 3}, []Ref{g.Mul(x, g.Const(math.NaN())), y}), 0)
	}},
	{"a long scan of NaN", func(g *Graph, x, y Ref) Ref {
		b := NewGraph()
		c, k := b.Input(Scalar), b.Input(Scalar)
		b.Output(b.Mul(c, k))
		b.Output(b.Mul(c, c))
		s := g.DoScan(&Scan{Body: b, Carries: 1, Outs: 1, Steps: 11, Limit: 2}, []Ref{g.Mul(x, g.Const(math.NaN())), y})
		return g.Add(g.Final(s, 0), g.Sum(g.Kept(s, 0)))
	}},
	{"a loop of NaN", func(g *Graph, x, y Ref) Ref {
		w := sweep(2)
		nan := g.Mul(x, g.Const(math.NaN()))
		return g.Sum(g.Final(g.DoWhile(w, []Ref{g.Const(0), g.Stack(nan, y), y, g.Const(5)}), 1))
	}},
	{"a conditional with NaN", func(g *Graph, x, y Ref) Ref {
		then, els := NewGraph(), NewGraph()
		for _, b := range []*Graph{then, els} {
			x, y := b.Input(Scalar), b.Input(Scalar)
			b.Output(b.Mul(x, b.Log(b.Scale(0, y))))
		}
		return g.Result(g.Do(OpIf, &If{Then: then, Else: els}, g.Less(x, y), g.Mul(x, g.Const(math.NaN())), y), 0)
	}},
}

// taken is the side that every choice takes.
func taken(g *Graph, x, y Ref) Ref { return g.Mul(g.Do(OpSin, nil, x), g.Exp(y)) }

// never returns a condition that is always false, without the graph knowing it.
func never(g *Graph, x Ref) Ref { return g.Less(g.Const(100), x) }

// conditional adds an OpIf with two sides.
func conditional(g *Graph, c Ref, then, els func(g *Graph, x, y Ref) Ref, args ...Ref) Ref {
	f := &If{Then: NewGraph(), Else: NewGraph()}
	for side, b := range []*Graph{f.Then, f.Else} {
		in := make([]Ref, len(args))
		for i, a := range args {
			in[i] = b.Input(core(g.Type(a)))
		}
		b.Output([]func(g *Graph, x, y Ref) Ref{then, els}[side](b, in[0], in[len(in)-1]))
	}
	return g.Result(g.Do(OpIf, f, append([]Ref{c}, args...)...), 0)
}

// TestSidesNotTaken checks that a side of a choice that was not taken affects no derivative of
// first or second order, in any mode, whatever it consists of. Adjoints that reach it must be
// replaced by 0 before they are multiplied by anything.
func TestSidesNotTaken(t *testing.T) {
	forms := []struct {
		name  string
		build func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref
	}{
		{"select", func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref {
			x, y := g.Slice(in, 0, nil), g.Slice(in, 1, nil)
			return g.Select(never(g, x), f(g, x, y), taken(g, x, y))
		}},
		{"select in lanes", func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref {
			x, y := g.Lane(g.Slice(in, 0, []int{3})), g.Slice(in, 1, nil)
			return g.SumLanes(g.Select(never(g, x), f(g, x, y), taken(g, x, y)))
		}},
		{"nested selects", func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref {
			x, y := g.Slice(in, 0, nil), g.Slice(in, 1, nil)
			c := never(g, x)
			return g.Select(c, g.Mul(x, g.Select(c, f(g, x, y), y)), g.Select(c, f(g, y, x), taken(g, x, y)))
		}},
		{"conditional", func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref {
			x, y := g.Slice(in, 0, nil), g.Slice(in, 1, nil)
			return conditional(g, never(g, x), f, taken, x, y)
		}},
		{"argument of a conditional", func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref {
			x, y := g.Slice(in, 0, nil), g.Slice(in, 1, nil)
			return conditional(g, never(g, x),
				func(g *Graph, z, y Ref) Ref { return g.Mul(z, y) },
				func(g *Graph, z, y Ref) Ref { return g.Square(y) }, f(g, x, y), taken(g, x, y))
		}},
		{"conditional in lanes", func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref {
			x, y := g.Lane(g.Slice(in, 0, []int{3})), g.Slice(in, 1, nil)
			return g.SumLanes(conditional(g, never(g, x), f, taken, x, y))
		}},
		{"argument of a conditional in lanes", func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref {
			x, y := g.Lane(g.Slice(in, 0, []int{3})), g.Slice(in, 1, nil)
			return g.SumLanes(conditional(g, never(g, x),
				func(g *Graph, z, y Ref) Ref { return g.Mul(z, y) },
				func(g *Graph, z, y Ref) Ref { return g.Square(y) }, f(g, x, y), taken(g, x, y)))
		}},
		{"steps of a scan", func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref {
			x, y := g.Slice(in, 0, nil), g.Slice(in, 1, nil)
			return g.Final(g.DoScan(someSteps(f), []Ref{x, g.ConstArray(Type{Shape: []int{4}}, []float64{0, 1, 0, 1}), y}), 0)
		}},
		{"steps of a long scan", func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref {
			x, y := g.Slice(in, 0, nil), g.Slice(in, 1, nil)
			s := someSteps(f)
			s.Steps, s.Limit = 7, 2
			return g.Final(g.DoScan(s, []Ref{x, g.ConstArray(Type{Shape: []int{7}}, []float64{0, 1, 0, 1, 1, 0, 0}), y}), 0)
		}},
		{"steps of a scan in lanes", func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref {
			x, y := g.Lane(g.Slice(in, 0, []int{3})), g.Slice(in, 1, nil)
			return g.SumLanes(g.Final(g.DoScan(someSteps(f), []Ref{x, g.ConstArray(Type{Shape: []int{4}}, []float64{0, 1, 0, 1}), y}), 0))
		}},
		{"stream of a scan", func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref {
			// The scan reads these values only on a side that no step takes.
			x, y := g.Lane(g.Slice(in, 0, []int{3})), g.Slice(in, 1, nil)
			b := NewGraph()
			c, z, k := b.Input(Scalar), b.Input(Scalar), b.Input(Scalar)
			b.Output(b.Add(b.Mul(c, k), b.Select(never(b, c), b.Mul(z, k), c)))
			return g.Final(g.DoScan(&Scan{Body: b, Carries: 1, Streams: 1, Steps: 3}, []Ref{y, g.Unlane(g.Spread(f(g, x, y), 3)), y}), 0)
		}},
		{"trips of a loop", func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref {
			x, y := g.Slice(in, 0, nil), g.Slice(in, 1, nil)
			return g.Final(g.DoWhile(someTrips(f), []Ref{g.Const(0), x, y}), 1)
		}},
		{"trips of a loop in lanes", func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref {
			x, y := g.Lane(g.Slice(in, 0, []int{3})), g.Slice(in, 1, nil)
			return g.SumLanes(g.Final(g.DoWhile(someTrips(f), []Ref{g.Const(0), x, y}), 1))
		}},
		{"captured by a loop", func(g *Graph, in Ref, f func(g *Graph, x, y Ref) Ref) Ref {
			x, y := g.Slice(in, 0, nil), g.Slice(in, 1, nil)
			w := someTrips(func(_ *Graph, z, _ Ref) Ref { return z })
			w.Body, w.Cond = NewGraph(), NewGraph()
			for _, b := range []*Graph{w.Body, w.Cond} {
				for range 4 {
					b.Input(Scalar)
				}
			}
			b := w.Body
			n, c, y0, z := b.Inputs[0], b.Inputs[1], b.Inputs[2], b.Inputs[3]
			b.Output(b.Add(n, b.Const(1)))
			b.Output(b.Select(never(b, c), b.Mul(c, z), b.Mul(c, y0)))
			w.Cond.Output(w.Cond.Less(w.Cond.Inputs[0], w.Cond.Const(5)))
			return g.Final(g.DoWhile(w, []Ref{g.Const(0), x, y, f(g, x, y)}), 1)
		}},
	}
	for _, form := range forms {
		for _, side := range short.Every(6, untakenSides) {
			t.Run(fmt.Sprintf("%s/%s", form.name, side.name), func(t *testing.T) {
				checkOrders(t, func() (*Graph, Ref, Ref) {
					g := NewGraph()
					in := g.Input(Type{Shape: []int{3}})
					return g, in, g.Do(OpTanh, nil, form.build(g, in, side.f))
				}, 3, 1e-6)
			})
		}
	}
}

// someSteps returns a scan with a choice in each step. Steps whose stream is 0 take the side taken,
// the others c·y; none takes the side f.
func someSteps(f func(g *Graph, x, y Ref) Ref) *Scan {
	b := NewGraph()
	c, o, y := b.Input(Scalar), b.Input(Scalar), b.Input(Scalar)
	b.Output(b.Select(b.Do(OpNot, nil, o), taken(b, c, y), b.Select(never(b, c), f(b, c, y), b.Mul(c, y))))
	return &Scan{Body: b, Carries: 1, Streams: 1, Steps: 4}
}

// someTrips returns a loop of five trips with a choice in each. Even trips take the side taken, odd
// ones c·y; none takes the side f.
func someTrips(f func(g *Graph, x, y Ref) Ref) *While {
	cond, b := NewGraph(), NewGraph()
	cond.Output(cond.Less(cond.Input(Scalar), cond.Const(5)))
	cond.Input(Scalar)
	cond.Input(Scalar)
	n, c, y := b.Input(Scalar), b.Input(Scalar), b.Input(Scalar)
	b.Output(b.Add(n, b.Const(1)))
	even := b.Equal(b.Do(OpFmod, nil, n, b.Const(2)), b.Const(0))
	b.Output(b.Select(even, taken(b, c, y), b.Select(never(b, c), f(b, c, y), b.Mul(c, y))))
	return &While{Cond: cond, Body: b, Carries: 2, Snapshots: 2}
}

// TestSkippedSteps checks a local value that is NaN in skipped steps, and values computed from it,
// none of which is used. Published models of reinforcement learning have this form.
func TestSkippedSteps(t *testing.T) {
	for _, limit := range []int{0, 2} {
		checkOrders(t, func() (*Graph, Ref, Ref) {
			g := NewGraph()
			in := g.Input(Type{Shape: []int{3}})
			nan := g.Const(math.NaN())
			b := NewGraph()
			v, pe, o, beta, phi := b.Input(Scalar), b.Input(Scalar), b.Input(Scalar), b.Input(Scalar), b.Input(Scalar)
			next := b.Select(o, b.Sub(beta, v), b.Const(math.NaN()))
			b.Output(b.Select(o, b.Add(v, b.Mul(phi, next)), v))
			b.Output(next)
			b.Output(b.Select(o, b.Mul(next, phi), b.Const(0)))
			_ = pe
			sc := g.DoScan(&Scan{Body: b, Carries: 2, Streams: 1, Outs: 1, Steps: 6, Limit: limit},
				[]Ref{g.Slice(in, 0, nil), nan, g.ConstArray(Type{Shape: []int{6}}, []float64{0, 1, 0, 0, 1, 0}), g.Slice(in, 1, nil), g.Slice(in, 2, nil)})
			// Read the history of all steps in lanes, without the skipped steps.
			errs := g.Lane(g.Result(sc, 3))
			phis := g.Mul(g.Slice(in, 2, nil), errs)
			ok := g.Equal(errs, errs)
			return g, in, g.Add(g.Square(g.Final(sc, 0)), g.Add(g.Sum(g.Kept(sc, 0)), g.SumLanes(g.Select(ok, phis, g.Const(0)))))
		}, 3, 1e-6)
	}
}
