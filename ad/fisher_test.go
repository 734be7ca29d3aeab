package ad

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Declarations of information as distributions have them, written by hand for these tests.

func normalInfo(g *Graph, a []Ref) [][]Ref { // y, mu, sigma
	p := g.Inv(g.Square(a[2]))
	return [][]Ref{{p}, {g.Neg(p), p}, {None, None, g.Scale(2, p)}}
}

func poissonInfo(g *Graph, a []Ref) [][]Ref { return [][]Ref{{None}, {None, g.Inv(a[1])}} }

func bernoulliLogitInfo(g *Graph, a []Ref) [][]Ref {
	p := g.Do(OpInvLogit, nil, a[1])
	return [][]Ref{{None}, {None, g.Mul(p, g.Do(OpInvLogit, nil, g.Neg(a[1])))}}
}

func evalAt(t *testing.T, g *Graph, x []float64, outs ...Ref) [][]float64 {
	t.Helper()
	g.Outputs = outs
	v, err := g.Eval([][]float64{x}, &Env{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func closeTo(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol*(1+math.Abs(want[i]))) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// TestFisherLogistic compares the information of a logistic regression with XᵀΛX plus the prior's
// precision, written with vectors and as a loop. For this link, the Hessian of the log density must
// be the same, computed in lanes and by a scan.
func TestFisherLogistic(t *testing.T) {
	const N, D, tau = 30, 4, 2.5
	rng := rand.New(rand.NewPCG(4, 4))
	x, y, beta := make([]float64, N*D), make([]float64, N), make([]float64, D)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = float64(rng.IntN(2))
	}
	for i := range beta {
		beta[i] = rng.NormFloat64()
	}
	want := make([]float64, D*D)
	for i := range D {
		want[i*D+i] = 1 / (tau * tau)
	}
	for n := range N {
		row := x[n*D : (n+1)*D]
		p := 1 / (1 + math.Exp(-dot(row, beta)))
		for i := range D {
			for j := range D {
				want[i*D+j] += p * (1 - p) * row[i] * row[j]
			}
		}
	}
	for _, laned := range []bool{false, true} {
		g := NewGraph()
		in := g.Input(Type{Shape: []int{D}})
		X := g.ConstArray(Type{Shape: []int{N, D}}, x)
		Y := g.ConstArray(Type{Shape: []int{N}}, y)
		var eta Ref
		if laned {
			Y, eta = g.Lane(Y), g.Sum(g.Mul(g.Lane(X), in))
		} else {
			eta = g.MatVec(X, in)
		}
		fisher := g.Fisher(in, []Statement{
			{Args: []Ref{in, g.Const(0), g.Const(tau)}, Info: normalInfo},
			{Args: []Ref{Y, eta}, Info: bernoulliLogitInfo},
		})
		logp := g.Sub(g.Mul(Y, eta), g.Do(OpLog1pExp, nil, eta))
		out := g.SumLanes(g.Sum(logp))
		out = g.Sub(out, g.Scale(0.5/(tau*tau), g.Sum(g.Square(in))))
		nodes := len(g.Nodes)
		hessian := g.Hessian(out, in)
		if len(g.Nodes)-nodes > 200 {
			t.Errorf("the Hessian takes %d nodes", len(g.Nodes)-nodes)
		}
		hvp := g.HVP(out, []Ref{in}, []Ref{g.ConstArray(Type{Shape: []int{D}}, []float64{1, -2, 0, 3})})[0]
		v := evalAt(t, g, beta, fisher, hessian, hvp)
		closeTo(t, "Fisher information", v[0], want, 1e-10)
		product := make([]float64, D)
		for i := range want {
			v[1][i] *= -1
			product[i/D] -= want[i] * []float64{1, -2, 0, 3}[i%D]
		}
		closeTo(t, "Hessian", v[1], want, 1e-10)
		closeTo(t, "Hessian-vector product", v[2], product, 1e-10)
	}
}

// TestFisherHierarchy compares the information of a hierarchical model with sums that are written
// out. Groups have Poisson counts, and a normal prior whose mean and scale are parameters.
func TestFisherHierarchy(t *testing.T) {
	const J, N = 3, 7
	group := []int{0, 1, 2, 0, 1, 0, 2}
	exposure := []float64{1, 2, 3, 1.5, 2.5, 0.5, 1}
	at := []float64{0.3, -0.2, 0.1, -0.4, 0.5} // mu, log tau, theta
	want := make([]float64, (J+2)*(J+2))
	entry := func(i, j int, v float64) {
		want[i*(J+2)+j] += v
		if i != j {
			want[j*(J+2)+i] += v
		}
	}
	prec := math.Exp(-2 * at[1])
	for j := range J {
		entry(0, 0, prec)
		entry(2+j, 2+j, prec)
		entry(0, 2+j, -prec)
		entry(1, 1, 2) // of log tau: 2/tau² · tau²
	}
	for n := range N {
		entry(2+group[n], 2+group[n], exposure[n]*math.Exp(at[2+group[n]]))
	}
	for _, laned := range []bool{false, true} {
		g := NewGraph()
		in := g.Input(Type{Shape: []int{J + 2}})
		mu, tau, theta := g.Slice(in, 0, nil), g.Exp(g.Slice(in, 1, nil)), g.Slice(in, 2, []int{J})
		table := make([]int32, N)
		for n, j := range group {
			table[n] = int32(j)
		}
		rate := g.Mul(g.ConstArray(Type{Shape: []int{N}}, exposure), g.Exp(g.Gather(theta, Index{Dims: []Dim{{N: N, Table: table}}})))
		y := g.ConstArray(Type{Shape: []int{N}}, make([]float64, N))
		if laned {
			rate, y, theta = g.Lane(rate), g.Lane(y), g.Lane(theta)
		}
		f := g.Fisher(in, []Statement{{Args: []Ref{theta, mu, tau}, Info: normalInfo}, {Args: []Ref{y, rate}, Info: poissonInfo}})
		closeTo(t, "Fisher information", evalAt(t, g, at, f)[0], want, 1e-12)
	}
}

// TestFisherGradient checks that the graph gives the gradient of a function of the metric, which
// Riemannian samplers need.
func TestFisherGradient(t *testing.T) {
	for _, laned := range []bool{false, true} {
		checkOrders(t, func() (*Graph, Ref, Ref) {
			g := NewGraph()
			in := g.Input(Type{Shape: []int{3}})
			X := g.ConstArray(Type{Shape: []int{4, 3}}, []float64{1, 2, 3, -1, 0.5, 2, 1, 1, -1, 0.2, 0.1, 2})
			y, eta := g.ConstArray(Type{Shape: []int{4}}, make([]float64, 4)), g.MatVec(X, in)
			if laned {
				y, eta = g.Lane(y), g.Lane(eta)
			}
			f := g.Fisher(in, []Statement{
				{Args: []Ref{in, g.Const(0), g.Exp(g.Slice(in, 0, nil))}, Info: normalInfo},
				{Args: []Ref{y, eta}, Info: bernoulliLogitInfo},
			})
			return g, in, g.LogDetSPD(f)
		}, 3, 1e-6)
	}
}

// TestHessianRegions checks second derivatives through a scan, in lanes and in steps.
func TestHessianRegions(t *testing.T) {
	for _, laned := range []bool{false, true} {
		g := NewGraph()
		in := g.Input(Type{Shape: []int{5}})
		body := NewGraph()
		c, s := body.Input(Scalar), body.Input(Scalar)
		body.Output(body.Do(OpSin, nil, body.Add(body.Mul(c, s), s)))
		args := []Ref{g.Slice(in, 0, nil), g.Slice(in, 1, []int{4})}
		if laned {
			args[0] = g.Lane(g.Slice(in, 0, []int{2}))
		}
		out := g.SumLanes(g.Square(g.Final(g.DoScan(&Scan{Body: body, Carries: 1, Streams: 1, Steps: 4}, args), 0)))
		h := g.Hessian(out, in)
		var rows []Ref
		for i := range 5 {
			e := make([]float64, 5)
			e[i] = 1
			rows = append(rows, g.Grad(g.Dot(g.Grad(out, in)[0], g.ConstArray(Type{Shape: []int{5}}, e)), in)[0])
		}
		v := evalAt(t, g, []float64{0.3, -0.4, 1.1, 0.7, -0.2}, h, g.Concat(rows...))
		closeTo(t, "Hessian", v[0], v[1], 1e-12)
	}
}

// TestFisherLanes checks a statement about a vector in each lane, where each lane depends on few
// columns. It must be summed as a sparse matrix, and equal the sum of one statement per lane.
func TestFisherLanes(t *testing.T) {
	const lanes, size = 40, 3
	whiten := func(g *Graph, args, t []Ref) []Ref { return []Ref{g.Mul(t[0], g.Exp(args[0]))} }
	vectors := func(g *Graph, in Ref) []Ref {
		var of []Ref
		for l := range lanes { // each lane has two separate elements, and one that all lanes share
			own := g.Slice(in, 1+l, []int{2})
			of = append(of, g.Concat(g.Do(OpSin, nil, g.Mul(own, g.Slice(in, 0, nil))), g.Square(g.Slice(in, 0, []int{1}))))
		}
		return of
	}
	at, weights := make([]float64, lanes+2), make([]float64, (lanes+2)*(lanes+2))
	for i := range at {
		at[i] = math.Sin(float64(i) + 1)
		for k := range at {
			weights[i*len(at)+k] = math.Cos(float64(i + k))
		}
	}
	both := func(laned bool) [][]float64 {
		g := NewGraph()
		in := g.Input(Type{Shape: []int{lanes + 2}})
		var statements []Statement
		of := vectors(g, in)
		if laned {
			all := g.Lane(g.Reshape(g.Concat(of...), []int{lanes, size}))
			statements = []Statement{{Args: []Ref{all}, Whiten: whiten}}
			if p := newFisher(g, in).part(statements[0]); p.sparse == nil || p.sparse.directions > 4 {
				t.Errorf("not sparse, or in too many directions: %+v", p.sparse)
			}
		} else {
			for _, v := range of {
				statements = append(statements, Statement{Args: []Ref{v}, Whiten: whiten})
			}
		}
		a := g.ConstArray(Type{Shape: []int{lanes + 2, lanes + 2}}, weights)
		return evalAt(t, g, at, g.Fisher(in, statements), g.Grad(g.FisherTrace(in, a, statements), in)[0])
	}
	got, want := both(true), both(false)
	closeTo(t, "metric", got[0], want[0], 1e-12)
	closeTo(t, "gradient of the trace", got[1], want[1], 1e-12)
}
