package ad

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// sweep returns a loop that makes a captured number of trips. Trip m replaces c, two numbers, by
// a·sin(c), with the elements exchanged, plus c·m/100, and adds the cosines of c to a sum.
func sweep(snapshots int) *While {
	cond, body := NewGraph(), NewGraph()
	m := cond.Input(Scalar)
	cond.Input(Type{Shape: []int{2}})
	cond.Input(Scalar)
	count := cond.Input(Scalar)
	cond.Output(cond.Less(m, count))
	m = body.Input(Scalar)
	c, a := body.Input(Type{Shape: []int{2}}), body.Input(Scalar)
	body.Input(Scalar)
	body.Output(body.Add(m, body.Const(1)))
	flip := body.Gather(c, Index{Offset: 1, Dims: []Dim{{N: 2, Stride: -1}}})
	body.Output(body.Add(body.Mul(body.Do(OpSin, nil, flip), a), body.Scale(0.01, body.Mul(c, m))))
	body.Output(body.Sum(body.Do(OpCos, nil, c)))
	return &While{Cond: cond, Body: body, Carries: 2, Sums: 1, Snapshots: snapshots}
}

// used returns a number that depends on all results of a sweep.
func used(g *Graph, r Ref, w *While) Ref {
	y := g.Add(g.Sum(g.Mul(g.Final(r, 1), g.Slice(g.Final(r, 1), 0, nil))), g.SumOf(r, 0))
	h := g.Result(r, w.historyAt(1))
	weights := make([]float64, g.Type(h).Size())
	for i := range weights {
		weights[i] = 0.1 * float64(1+i%5)
	}
	return g.Add(y, g.Sum(g.Mul(g.Square(h), g.ConstArray(Type{Shape: g.Type(h).Shape}, weights))))
}

// TestWhileGradient checks first and second derivatives of loops that make no trips, as many as
// there are snapshots, and many more.
func TestWhileGradient(t *testing.T) {
	for _, trips := range []int{0, 1, 3, 4, 5, 8, 9, 11, 16, 17, 29} {
		t.Run(fmt.Sprint(trips), func(t *testing.T) {
			checkOrders(t, func() (*Graph, Ref, Ref) {
				g := NewGraph()
				in := g.Input(Type{Shape: []int{3}})
				w := sweep(4)
				r := g.DoWhile(w, []Ref{g.Const(0), g.Slice(in, 0, []int{2}), g.Slice(in, 2, nil), g.Const(float64(trips))})
				return g, in, used(g, r, w)
			}, 3, 1e-6)
		})
	}
}

// TestWhileLanes checks that each lane makes its own trips, one of them none.
func TestWhileLanes(t *testing.T) {
	checkOrders(t, func() (*Graph, Ref, Ref) {
		g := NewGraph()
		in := g.Input(Type{Shape: []int{9}})
		w := sweep(4)
		counts := g.Lane(g.ConstArray(Type{Shape: []int{4}}, []float64{2, 0, 13, 5}))
		r := g.DoWhile(w, []Ref{g.Const(0), g.Lane(g.Slice(in, 0, []int{4, 2})), g.Slice(in, 8, nil), counts})
		return g, in, g.SumLanes(used(g, r, w))
	}, 9, 1e-6)
}

// TestWhileValues compares with a loop in Go, for the default number of snapshots and a small one.
func TestWhileValues(t *testing.T) {
	for _, snapshots := range []int{2, 6, DefaultSnapshots} {
		for _, trips := range []int{0, 1, 2, 5, 7, 64, 65, 1000} {
			g := NewGraph()
			w := sweep(snapshots)
			r := g.DoWhile(w, []Ref{g.Const(0), g.ConstArray(Type{Shape: []int{2}}, []float64{0.3, -0.7}), g.Const(1.5), g.Const(float64(trips))})
			for i := range w.Results() {
				g.Output(g.Result(r, i))
			}
			v, err := g.Eval(nil, &Env{})
			if err != nil {
				t.Fatal(err)
			}
			c, sum := [2]float64{0.3, -0.7}, 0.0
			var past [][2]float64
			for m := range trips {
				past = append(past, c)
				sum += routines.Cos(c[0]) + routines.Cos(c[1])
				// Rounded in the same order as in the graph, because the map is chaotic and
				// amplifies errors.
				f := float64(m)
				c = [2]float64{routines.Sin(c[1])*1.5 + 0.01*(c[0]*f), routines.Sin(c[0])*1.5 + 0.01*(c[1]*f)}
			}
			stride := int(v[w.strideAt()][0])
			if v[w.tripsAt()][0] != float64(trips) || stride&(stride-1) != 0 || stride*snapshots < trips || stride > 1 && stride*snapshots/2 >= trips {
				t.Errorf("%d trips, %d snapshots: trips %v, stride %d", trips, snapshots, v[w.tripsAt()][0], stride)
			}
			near := func(what string, got, want float64) {
				if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) && got != want {
					t.Errorf("%d trips, %d snapshots: %s is %v, want %v", trips, snapshots, what, got, want)
				}
			}
			if trips > 100 {
				continue // do not compare values that grow without bound
			}
			near("final[0]", v[w.finalAt(1)][0], c[0])
			near("final[1]", v[w.finalAt(1)][1], c[1])
			near("sum", v[w.sumAt(0)][0], sum)
			for row := range snapshots {
				want := [2]float64{}
				if row*stride < trips {
					want = past[row*stride]
				}
				near("history", v[w.historyAt(1)][2*row], want[0])
				near("history", v[w.historyAt(1)][2*row+1], want[1])
			}
		}
	}
}

// TestWhileLong compares the derivative of a fixed point after many trips with the implicit
// function theorem. The number of trips depends on the point.
func TestWhileLong(t *testing.T) {
	// c' = c + ε(cos(x) - c·x) converges slowly to cos(x)/x.
	cond, body := NewGraph(), NewGraph()
	c, x := cond.Input(Scalar), cond.Input(Scalar)
	step := func(b *Graph, c, x Ref) Ref {
		return b.Scale(0.002, b.Sub(b.Do(OpCos, nil, x), b.Mul(c, x)))
	}
	cond.Output(cond.Less(cond.Const(1e-12), cond.Do(OpAbs, nil, step(cond, c, x))))
	c, x = body.Input(Scalar), body.Input(Scalar)
	body.Output(body.Add(c, step(body, c, x)))
	g := NewGraph()
	in := g.Input(Scalar)
	r := g.DoWhile(&While{Cond: cond, Body: body, Carries: 1, Snapshots: 8}, []Ref{g.Const(0), in})
	d := g.Grad(g.Final(r, 0), in)[0]
	g.Output(g.Trips(r))
	g.Output(d)
	v, err := g.Eval([][]float64{{1.3}}, &Env{})
	if err != nil {
		t.Fatal(err)
	}
	want := -math.Sin(1.3)/1.3 - math.Cos(1.3)/(1.3*1.3)
	if v[0][0] < 5000 || math.Abs(v[1][0]-want) > 1e-6 {
		t.Errorf("after %v trips the derivative is %v, want %v", v[0][0], v[1][0], want)
	}
}

// TestWhileNested checks a loop in a conditional in a scan, and a loop in a loop.
func TestWhileNested(t *testing.T) {
	inner := func(b *Graph, x, a, count Ref) Ref {
		w := sweep(4)
		r := b.DoWhile(w, []Ref{b.Const(0), b.Stack(x, a), a, count})
		return b.Add(b.Sum(b.Final(r, 1)), b.Scale(0.1, b.SumOf(r, 0)))
	}
	checkOrders(t, func() (*Graph, Ref, Ref) {
		body := NewGraph()
		x, s, a := body.Input(Scalar), body.Input(Scalar), body.Input(Scalar)
		then, els := NewGraph(), NewGraph()
		for _, b := range []*Graph{then, els} {
			x, s, a := b.Input(Scalar), b.Input(Scalar), b.Input(Scalar)
			count := 6.0
			if b == els {
				count = 9
			}
			b.Output(inner(b, b.Scale(0.3, b.Add(x, s)), a, b.Const(count)))
		}
		r := body.Do(OpIf, &If{Then: then, Else: els}, body.Less(s, body.Const(0)), x, s, a)
		body.Output(body.Do(OpTanh, nil, body.Result(r, 0)))
		g := NewGraph()
		in := g.Input(Type{Shape: []int{5}})
		sc := g.DoScan(&Scan{Body: body, Carries: 1, Streams: 1, Steps: 3},
			[]Ref{g.Slice(in, 0, nil), g.Slice(in, 1, []int{3}), g.Slice(in, 4, nil)})
		return g, in, g.Final(sc, 0)
	}, 5, 1e-6)
	checkOrders(t, func() (*Graph, Ref, Ref) {
		cond, body := NewGraph(), NewGraph()
		m := cond.Input(Scalar)
		cond.Input(Scalar)
		cond.Input(Scalar)
		cond.Output(cond.Less(m, cond.Const(5)))
		m, x, a := body.Input(Scalar), body.Input(Scalar), body.Input(Scalar)
		body.Output(body.Add(m, body.Const(1)))
		body.Output(body.Do(OpSin, nil, inner(body, x, a, m)))
		g := NewGraph()
		in := g.Input(Type{Shape: []int{2}})
		r := g.DoWhile(&While{Cond: cond, Body: body, Carries: 2, Snapshots: 2}, []Ref{g.Const(0), g.Slice(in, 0, nil), g.Slice(in, 1, nil)})
		return g, in, g.Square(g.Final(r, 1))
	}, 2, 1e-6)
}

// TestWhileEffects checks that side effects happen in the order of the trips, and only once,
// although the derivative repeats the body. A rejection must end the loop.
func TestWhileEffects(t *testing.T) {
	build := func(limit float64) (*Graph, *strings.Builder, *Env) {
		cond, body := NewGraph(), NewGraph()
		c := cond.Input(Scalar)
		cond.Print(&Message{Parts: []MessagePart{{Text: "?", Arg: -1}, {Arg: 0}}}, c)
		cond.Output(cond.Less(c, cond.Const(3)))
		c = body.Input(Scalar)
		body.Print(&Message{Parts: []MessagePart{{Text: "!", Arg: -1}, {Arg: 0}}}, c)
		body.Check(&Check{Set: Interval{Lo: math.Inf(-1), Hi: limit}, Function: "f", Name: "c", Want: "small"}, c)
		body.Output(body.Add(c, body.Const(1)))
		// Put the loop into a region: when the region is repeated, the loop must have no effects
		// either.
		outer := NewGraph()
		in := outer.Input(Scalar)
		r := outer.DoWhile(&While{Cond: cond, Body: body, Carries: 1, Snapshots: 2}, []Ref{in})
		outer.SideEffects = append(outer.SideEffects, r)
		outer.Output(outer.Final(r, 0))
		g := NewGraph()
		x := g.Input(Scalar)
		s := g.DoScan(&Scan{Body: outer, Carries: 1, Steps: 1}, []Ref{x})
		g.SideEffects = append(g.SideEffects, s)
		g.Output(g.Grad(g.Final(s, 0), x)[0])
		var b strings.Builder
		return g, &b, &Env{Print: func(s string) { b.WriteString(s) }}
	}
	g, text, env := build(10)
	v, err := g.Eval([][]float64{{0.5}}, env)
	if err != nil || v[0][0] != 1 {
		t.Errorf("derivative %v, error %v", v, err)
	}
	if got, want := text.String(), "?0.5!0.5?1.5!1.5?2.5!2.5?3.5"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	g, text, env = build(1)
	var failed *CheckError
	if _, err = g.Eval([][]float64{{0.5}}, env); !errors.As(err, &failed) || text.String() != "?0.5!0.5?1.5!1.5" {
		t.Errorf("error %v after %q", err, text)
	}
}

// TestWhileStop checks that a loop that never ends can be stopped.
func TestWhileStop(t *testing.T) {
	cond, body := NewGraph(), NewGraph()
	cond.Input(Scalar)
	cond.Output(cond.Const(1))
	body.Output(body.Input(Scalar))
	g := NewGraph()
	g.Output(g.Trips(g.DoWhile(&While{Cond: cond, Body: body, Carries: 1, Snapshots: 2}, []Ref{g.Const(0)})))
	stop, asked := errors.New("stop"), 0
	_, err := g.Eval(nil, &Env{Stop: func() error {
		if asked++; asked == 2 {
			return stop
		}
		return nil
	}})
	if !errors.Is(err, stop) || asked != 2 {
		t.Errorf("asked %d times, error %v", asked, err)
	}
}

// TestWhileTypes checks that a wrong type is reported with its name.
func TestWhileTypes(t *testing.T) {
	bad := map[string]func(w *While){
		"snapshots": func(w *While) { w.Snapshots = 3 },
		"condition": func(w *While) { w.Cond.Outputs[0] = w.Cond.Inputs[1] },
		"outputs":   func(w *While) { w.Sums = 2 },
		"carried":   func(w *While) { w.Body.Outputs[0] = w.Body.Outputs[1] },
		"arguments": func(w *While) { w.Cond.Input(Scalar) },
	}
	for want, spoil := range bad {
		func() {
			var err error
			defer func() {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: error %v", want, err)
				}
			}()
			defer Recover(&err)
			w := sweep(4)
			spoil(w)
			g := NewGraph()
			g.DoWhile(w, []Ref{g.Const(0), g.ConstArray(Type{Shape: []int{2}}, []float64{1, 2}), g.Const(1), g.Const(2)})
		}()
	}
}

// TestLoopsThatOnlySum checks loops in which no carried value has a derivative, only the sums, and
// loops that carry an array without elements.
func TestLoopsThatOnlySum(t *testing.T) {
	body := func() *Graph {
		b := NewGraph()
		m, e, a := b.Input(Scalar), b.Input(Type{Shape: []int{0}}), b.Input(Scalar)
		b.Output(b.Add(m, b.Const(1)))
		b.Output(b.Mul(e, a))
		b.Output(b.Do(OpSin, nil, b.Mul(m, a)))
		return b
	}
	for _, while := range []bool{false, true} {
		checkOrders(t, func() (*Graph, Ref, Ref) {
			g := NewGraph()
			in := g.Input(Type{Shape: []int{1}})
			args := []Ref{g.Const(0), g.ConstArray(Type{Shape: []int{0}}, nil), g.Slice(in, 0, nil)}
			var r Ref
			if while {
				cond := NewGraph()
				m := cond.Input(Scalar)
				cond.Input(Type{Shape: []int{0}})
				cond.Input(Scalar)
				cond.Output(cond.Less(m, cond.Const(19)))
				r = g.DoWhile(&While{Cond: cond, Body: body(), Carries: 2, Sums: 1, Snapshots: 4}, args)
			} else {
				r = g.DoScan(&Scan{Body: body(), Carries: 2, Sums: 1, Steps: 19}, args)
			}
			return g, in, g.Square(g.SumOf(r, 0))
		}, 1, 1e-6)
	}
}

// loops returns loops nested deep levels. Each makes trips until m + x/1000 reaches the given
// number, where m counts the trips and x is the carried value.
func loops(deep, trips, snapshots int) *While {
	open := func() (b *Graph, m, x, a Ref) {
		b = NewGraph()
		return b, b.Input(Scalar), b.Input(Scalar), b.Input(Scalar)
	}
	cond, m, x, _ := open()
	cond.Output(cond.Less(cond.Add(m, cond.Scale(1e-3, x)), cond.Const(float64(trips))))
	body, m, x, a := open()
	if deep > 1 {
		w := loops(deep-1, trips, snapshots)
		x = body.Final(body.DoWhile(w, []Ref{body.Const(0), body.Do(OpSin, nil, body.Mul(x, a)), a}), 1)
	}
	body.Output(body.Add(m, body.Const(1)))
	body.Output(body.Add(body.Do(OpSin, nil, x), body.Scale(0.1, a)))
	return &While{Cond: cond, Body: body, Carries: 2, Snapshots: snapshots}
}

// TestWhileDeep checks that derivatives of loops nested more deeply than maxPulledTwice do not grow
// by a factor with each level.
func TestWhileDeep(t *testing.T) {
	build := func(deep, trips int) (*Graph, Ref, Ref) {
		g := NewGraph()
		in := g.Input(Type{Shape: []int{2}})
		r := g.DoWhile(loops(deep, trips, 2), []Ref{g.Const(0), g.Slice(in, 0, nil), g.Slice(in, 1, nil)})
		return g, in, g.Square(g.Final(r, 1))
	}
	for _, trips := range []int{1, 3} {
		checkOrders(t, func() (*Graph, Ref, Ref) { return build(maxPulledTwice+1, trips) }, 2, 1e-6)
	}
	nodes := func(deep int) int {
		g, in, out := build(deep, 2)
		g.Output(g.Grad(out, in)[0])
		return all(g)
	}
	if few, many := nodes(10), nodes(40); many > 20*few {
		t.Errorf("derivatives of 10 loops in one another have %d nodes, of 40 %d", few, many)
	}
}

// all returns the number of nodes of a graph and of the regions in it.
func all(g *Graph) int {
	n := len(g.Nodes)
	for i := range g.Nodes {
		for _, b := range g.Nodes[i].Bodies() {
			n += all(b)
		}
	}
	return n
}
