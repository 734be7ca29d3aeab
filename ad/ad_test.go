package ad

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestScanGradient compares derivatives of orders 1 and 2 with finite differences, for x' = a x +
// s_t and out = Σ_t sin(x_t) + final².
func TestScanGradient(t *testing.T) {
	const T = 7
	build := func() (*Graph, Ref, Ref) {
		body := NewGraph()
		x, s, a := body.Input(Scalar), body.Input(Scalar), body.Input(Scalar)
		nx := body.Add(body.Mul(a, x), s)
		body.Output(nx)
		body.Output(body.Do(OpSin, nil, nx))
		body.Output(body.Mul(x, a))
		g := NewGraph()
		in := g.Input(Type{Shape: []int{T + 2}})
		sc := g.DoScan(&Scan{Body: body, Carries: 1, Streams: 1, Outs: 1, Sums: 1, Steps: T},
			[]Ref{g.Slice(in, 0, nil), g.Slice(in, 2, []int{T}), g.Slice(in, 1, nil)})
		out := g.Add(g.Sum(g.Kept(sc, 0)), g.Square(g.Final(sc, 0)))
		out = g.Add(out, g.Mul(g.SumOf(sc, 0), g.Sum(g.History(sc, 0))))
		return g, in, out
	}
	checkOrders(t, build, T+2, 1e-7)
}

// TestScanLanes checks that a scan in lanes equals separate scans.
func TestScanLanes(t *testing.T) {
	build := func() (*Graph, Ref, Ref) {
		body := NewGraph()
		x, s, a := body.Input(Scalar), body.Input(Scalar), body.Input(Scalar)
		body.Output(body.Do(OpTanh, nil, body.Add(body.Mul(a, x), s)))
		g := NewGraph()
		in := g.Input(Type{Shape: []int{3*4 + 3 + 1}})
		streams := g.Lane(g.Slice(in, 0, []int{3, 4}))
		init := g.Lane(g.Slice(in, 12, []int{3}))
		sc := g.DoScan(&Scan{Body: body, Carries: 1, Streams: 1, Steps: 4}, []Ref{init, streams, g.Slice(in, 15, nil)})
		return g, in, g.SumLanes(g.Mul(g.Final(sc, 0), g.Sum(g.History(sc, 0))))
	}
	checkOrders(t, build, 16, 1e-7)
}

func TestIfGradient(t *testing.T) {
	build := func() (*Graph, Ref, Ref) {
		then, els := NewGraph(), NewGraph()
		x := then.Input(Scalar)
		then.Output(then.Log(x))
		x = els.Input(Scalar)
		els.Output(els.Do(OpSin, nil, x))
		g := NewGraph()
		in := g.Input(Type{Shape: []int{4}})
		l := g.Lane(in)
		r := g.Do(OpIf, &If{Then: then, Else: els}, g.Less(g.Const(0), l), l)
		return g, in, g.SumLanes(g.Square(g.Result(r, 0)))
	}
	checkOrders(t, build, 4, 1e-6)
}

// TestSelectGuards checks a select whose untaken side has an infinite partial derivative.
func TestSelectGuards(t *testing.T) {
	g := NewGraph()
	in := g.Input(Type{Shape: []int{2}})
	zero := g.Const(0)
	safe := g.Select(g.Less(zero, in), g.Log(in), g.Scale(3, in))
	g.Output(g.Grad(g.Sum(safe), in)[0])
	out, err := g.Eval([][]float64{{0, 2}}, &Env{})
	if err != nil || out[0][0] != 3 || out[0][1] != 0.5 {
		t.Fatal(out, err)
	}
}

func TestMatMulLanes(t *testing.T) {
	for _, ta := range []bool{false, true} {
		for _, tb := range []bool{false, true} {
			for lanes := range 4 {
				for _, c := range []int{1, 2} {
					build := func() (*Graph, Ref, Ref) {
						g := NewGraph()
						const N, r, k = 3, 2, 4
						sa, sb := []int{r, k}, []int{k, c}
						if ta {
							sa = []int{k, r}
						}
						if tb {
							sb = []int{c, k}
						}
						in := g.Input(Type{Shape: []int{N*r*k + N*k*c}})
						a, b := g.Slice(in, 0, sa), g.Slice(in, N*r*k, sb)
						if lanes&1 > 0 {
							a = g.Lane(g.Slice(in, 0, append([]int{N}, sa...)))
						}
						if lanes&2 > 0 {
							b = g.Lane(g.Slice(in, N*r*k, append([]int{N}, sb...)))
						}
						p := g.matMul(a, b, ta, tb)
						w := g.ConstArray(Type{Shape: g.Type(p).Shape}, []float64{1, 2, 3, 4}[:g.Type(p).Size()])
						return g, in, g.SumLanes(g.Sum(g.Mul(g.Square(p), w)))
					}
					checkOrders(t, build, 3*2*4+3*4*c, 1e-6)
				}
			}
		}
	}
}

// TestQuadraticForm checks that a quadratic form with a symmetric constant needs one matrix
// product, which its derivative uses too.
func TestQuadraticForm(t *testing.T) {
	for _, c := range []struct {
		p        []float64
		products int
	}{{[]float64{2, 0.5, 0.5, 1}, 1}, {[]float64{2, 0.5, 0.25, 1}, 2}} {
		g := NewGraph()
		d := g.Input(Type{Shape: []int{1, 2}})
		form := g.Sum(g.Mul(d, g.MatMul(d, g.ConstArray(Type{Shape: []int{2, 2}}, c.p))))
		g.Output(form)
		g.Output(g.Grad(form, d)[0])
		products := 0
		for _, n := range g.Nodes {
			if n.Op == OpMatMul {
				products++
			}
		}
		if products != c.products {
			t.Errorf("%d products instead of %d", products, c.products)
		}
		out, err := g.Eval([][]float64{{3, -1}}, &Env{})
		off := c.p[1] + c.p[2]
		if err != nil || out[0][0] != 9*c.p[0]-3*off+c.p[3] || out[1][0] != 6*c.p[0]-off || out[1][1] != 3*off-2*c.p[3] {
			t.Fatal(out, err)
		}
	}
}

// TestUntaken checks that a side of a select that is not taken, with an infinite slope, changes no
// derivative of any order.
func TestUntaken(t *testing.T) {
	checkOrders(t, func() (*Graph, Ref, Ref) {
		g := NewGraph()
		in := g.Input(Type{Shape: []int{6}})
		// log and sqrt of 0: each has an infinite slope, and no element takes this side.
		low := g.Scale(0, in)
		y := g.Select(g.Less(g.Const(50), in), g.Mul(g.Log(low), g.Sqrt(low)), g.Do(OpSin, nil, in))
		return g, in, g.Sum(g.Square(y))
	}, 6, 1e-6)
}

// checkOrders compares the gradient with central differences of the value, and the gradient of a
// random directional derivative with differences of the gradient. Forward mode must agree with
// both.
func checkOrders(t *testing.T, build func() (*Graph, Ref, Ref), n int, tol float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	x, dir := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], dir[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	g, in, out := build()
	grad := g.Grad(out, in)[0]
	along := g.ConstArray(Type{Shape: []int{n}}, dir)
	hv := g.Grad(g.Sum(g.Mul(grad, along)), in)[0]
	slope := g.JVP([]Ref{out}, []Ref{in}, []Ref{along})[0]
	for _, r := range []Ref{out, grad, hv, slope, g.JVP([]Ref{grad}, []Ref{in}, []Ref{along})[0], g.Grad(slope, in)[0]} {
		g.Output(r)
	}
	at := func(x []float64) [][]float64 {
		v, err := g.Eval([][]float64{x}, &Env{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	base := at(x)
	forward := 0.0
	for i := range x {
		forward += dir[i] * base[1][i]
		for k, mode := range []string{"forward over reverse", "reverse over forward"} {
			if v := base[4+k][i]; !(math.Abs(v-base[2][i]) <= 1e-9*(1+math.Abs(v))) {
				t.Errorf("%s [%d] = %v, reverse over reverse %v", mode, i, v, base[2][i])
			}
		}
	}
	if v := base[3][0]; !(math.Abs(v-forward) <= 1e-9*(1+math.Abs(v))) {
		t.Errorf("forward slope %v, reverse %v", v, forward)
	}
	const h = 1e-5
	for i := range x {
		y := append([]float64(nil), x...)
		y[i] += h
		up := at(y)
		y[i] -= 2 * h
		dn := at(y)
		fd := (up[0][0] - dn[0][0]) / (2 * h)
		if !(math.Abs(fd-base[1][i]) <= tol*(1+math.Abs(fd))) {
			t.Errorf("gradient[%d] = %v, differences give %v", i, base[1][i], fd)
		}
		fd = 0
		for j := range x {
			fd += dir[j] * (up[1][j] - dn[1][j]) / (2 * h)
		}
		if !(math.Abs(fd-base[2][i]) <= tol*(1+math.Abs(fd))) {
			t.Errorf("second order [%d] = %v, differences give %v", i, base[2][i], fd)
		}
	}
}

// TestForwardStill checks an element with an infinite slope that does not change in a direction. It
// must affect neither the derivative in that direction nor other rows of the Hessian.
func TestForwardStill(t *testing.T) {
	g := NewGraph()
	in := g.Input(Type{Shape: []int{2}})
	out := g.Add(g.Sqrt(g.Slice(in, 0, nil)), g.Exp(g.Slice(in, 1, nil)))
	d := g.JVP([]Ref{out}, []Ref{in}, []Ref{g.ConstArray(Type{Shape: []int{2}}, []float64{0, 1})})[0]
	v := evalAt(t, g, []float64{0, 0.5}, d, g.Jacobian(out, in, false))
	closeTo(t, "slope", v[0], []float64{math.Exp(0.5)}, 1e-15)
	closeTo(t, "row", v[1][1:], []float64{math.Exp(0.5)}, 1e-15)
}

// TestForwardBroadcast checks forward mode for an elementwise op that broadcasts an argument and
// has a VJP instead of partials.
func TestForwardBroadcast(t *testing.T) {
	checkOrders(t, func() (*Graph, Ref, Ref) {
		g := NewGraph()
		in := g.Input(Type{Shape: []int{3}})
		orders := g.ConstArray(Type{Shape: []int{4}}, []float64{0, 1, 2, 3})
		return g, in, g.SumLanes(g.Sum(g.Do(OpLogBesselI, nil, orders, g.Exp(g.Lane(in)))))
	}, 3, 1e-6)
}

// TestInvLogitNearOne checks that expressions of 1 - y are differentiated with the rounded y. The
// derivative of log(1 - y) must be -y even where y is rounded.
func TestInvLogitNearOne(t *testing.T) {
	for _, x := range []float64{1, 20, 33.3, 35.9, 36.5} {
		g := NewGraph()
		in := g.Input(Scalar)
		y := g.Do(OpInvLogit, nil, in)
		out := g.Do(OpLog1m, nil, y)
		g.Output(y)
		g.Output(g.Grad(out, in)[0])
		v, err := g.Eval([][]float64{{x}}, &Env{})
		if err != nil {
			t.Fatal(err)
		}
		if y, got := v[0][0], v[1][0]; math.Abs(got+y) > 1e-15 {
			t.Errorf("at %v: %v, want %v", x, got, -y)
		}
	}
}
