package adtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/internal/sparse"
)

// TestOps checks every elementwise op with a derivative, at random arguments in its Domain and at
// its Points: values must be finite, and derivatives of orders 1 and 2 correct.
func TestOps(t *testing.T) {
	for op := ad.OpInvalid + 1; op <= ad.OpRandom; op++ {
		row := op.Row()
		if row.Name == "" {
			t.Errorf("op %d has no row", op)
			continue
		}
		if row.Class != ad.Elementwise {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			if row.Domain == nil {
				t.Fatal("the op has no Domain")
			}
			// The derivative of OpSlope is its argument, not the slope of its value.
			if row.Flat || op == ad.OpSlope {
				return
			}
			rng := rand.New(rand.NewPCG(uint64(op), 1))
			points := row.Points
			for range 20 {
				x := make([]float64, row.Arity)
				for i := range x {
					x[i] = row.Domain(i, rng.NormFloat64())
				}
				points = append(points, x)
			}
			for _, x := range points {
				f := func(g *ad.Graph, a []ad.Ref) ad.Ref { return build(g, op, x, a) }
				if err := Derivatives(x, 1e-6, rng, f, fixedArgs(op)...); err != nil {
					t.Error(err)
				}
				if err := hessian(x, f); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// hessian compares the rows of the Hessian, which is built in lanes or as a scan over directions,
// with derivatives of the elements of the gradient.
func hessian(x []float64, build func(g *ad.Graph, x []ad.Ref) ad.Ref) (err error) {
	defer ad.Recover(&err)
	n := len(x)
	g := ad.NewGraph()
	in := g.Input(ad.Type{Shape: []int{n}})
	parts := make([]ad.Ref, n)
	for i := range parts {
		parts[i] = g.Slice(in, i, nil)
	}
	out := build(g, parts)
	grad := g.Grad(out, in)[0]
	if secondOrder(func() ad.Ref { return g.Grad(g.Slice(grad, 0, nil), in)[0] }) == ad.None {
		return nil
	}
	g.Output(g.Hessian(out, in))
	for i := range n {
		g.Output(g.Grad(g.Slice(grad, i, nil), in)[0])
	}
	v, err := g.Eval([][]float64{x}, &ad.Env{})
	if err != nil {
		return err
	}
	for i := range n {
		for j, want := range v[1+i] {
			if got := v[0][i*n+j]; !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) && !(math.IsNaN(got) && math.IsNaN(want)) {
				return fmt.Errorf("element (%d, %d) of the Hessian at %v is %v, want %v", i, j, x, got, want)
			}
		}
	}
	return nil
}

// build adds op with the arguments a. Arguments with respect to which op is not differentiable
// become constants, the elements of x.
func build(g *ad.Graph, op ad.OpCode, x []float64, a []ad.Ref) ad.Ref {
	args := append([]ad.Ref(nil), a...)
	if op == ad.OpLogGap {
		args[1] = g.Neg(g.Do(ad.OpLog1m, nil, args[0]))
	}
	for _, i := range fixedArgs(op) {
		args[i] = g.Const(x[i])
	}
	return g.Do(op, nil, args...)
}

// fixedArgs returns the arguments with respect to which an op is not differentiable: orders of
// derivatives, the condition of a select, and the shape parameters of ops that are derivatives with
// respect to them.
func fixedArgs(op ad.OpCode) []int {
	switch op {
	case ad.OpPolygamma, ad.OpPolygammaRise, ad.OpSelect, ad.OpLogGammaP, ad.OpLogGammaQ, ad.OpLogBesselIv, ad.OpLogBesselK,
		ad.OpBesselJ, ad.OpBesselY, ad.OpVonMisesMoment, ad.OpWienerRatio:
		return []int{0}
	case ad.OpLogBetaIa, ad.OpLogBetaIb, ad.OpLogBetaIca, ad.OpLogBetaIcb, ad.OpLogFailuresPhi, ad.OpLogFailuresPhic:
		return []int{1, 2}
	case ad.OpLogStudentCDFNu:
		return []int{1}
	}
	return nil
}

// TestFlat checks that ops declared as flat are constant near random points.
func TestFlat(t *testing.T) {
	for op := ad.OpInvalid + 1; op <= ad.OpRandom; op++ {
		row := op.Row()
		// OpDetach has derivative 0 by definition, not by its values.
		if row.Class != ad.Elementwise || !row.Flat || op == ad.OpDetach {
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(op), 2))
		for range 50 {
			var x [3]float64
			for i := range x {
				x[i] = row.Domain(i, rng.NormFloat64())
			}
			y := x
			for i := range y {
				y[i] += 1e-12
			}
			if a, b := row.Scalar(x), row.Scalar(y); a != b || math.IsNaN(a) {
				t.Errorf("%s%v = %v but %v nearby", row.Name, x, a, b)
			}
		}
	}
}

// TestInjected checks that Derivatives detects wrong derivatives, of first and of second order.
func TestInjected(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	// The graph takes the slope of the staircase to be 0; on average it is 1e6.
	wrong := func(g *ad.Graph, x []ad.Ref) ad.Ref {
		return g.Add(g.Exp(x[0]), g.Do(ad.OpFloor, nil, g.Scale(1e6, x[0])))
	}
	if Derivatives([]float64{0.3}, 1e-6, rng, wrong) == nil {
		t.Error("a function whose derivative is wrong passes")
	}
	flatSecond := func(g *ad.Graph, x []ad.Ref) ad.Ref {
		// The graph takes the rounded factor q to be constant, so its derivatives of q·x are q and
		// 0.
		q := g.Scale(1e-7, g.Do(ad.OpRound, nil, g.Scale(1e7, x[0])))
		return g.Mul(q, x[0])
	}
	if Derivatives([]float64{0.33333}, 1e-6, rng, flatSecond) == nil {
		t.Error("a function whose second derivative is wrong passes")
	}
}

// arrayCases has an expression of a vector of numbers for each op that is not elementwise.
// TestArrays fails for an op without a case.
var arrayCases = map[ad.OpCode]struct {
	n     int
	build func(g *ad.Graph, x ad.Ref) ad.Ref
}{
	ad.OpGather: {6, func(g *ad.Graph, x ad.Ref) ad.Ref {
		table := []int32{5, 0, 0, 3}
		return g.Concat(g.Gather(x, ad.Index{Dims: []ad.Dim{{N: 4, Table: table}}}),
			g.Gather(x, ad.Index{Offset: 4, Dims: []ad.Dim{{N: 2, Stride: -2}, {N: 3, Stride: 0}}}))
	}},
	ad.OpScatter: {6, func(g *ad.Graph, x ad.Ref) ad.Ref {
		table := []int32{2, 0, 0, 3, 2, 2}
		return g.Scatter(x, ad.Index{Dims: []ad.Dim{{N: 6, Table: table}}}, []int{2, 2})
	}},
	ad.OpReshape: {6, func(g *ad.Graph, x ad.Ref) ad.Ref { return g.Reshape(x, []int{3, 2}) }},
	ad.OpConcat: {4, func(g *ad.Graph, x ad.Ref) ad.Ref {
		return g.SumLanes(g.Square(g.Concat(g.Lane(x), x, g.Slice(x, 1, nil))))
	}},
	ad.OpLane: {4, func(g *ad.Graph, x ad.Ref) ad.Ref { return g.SumLanes(g.Square(g.Mul(g.Lane(x), g.Slice(x, 0, nil)))) }},
	ad.OpUnlane: {4, func(g *ad.Graph, x ad.Ref) ad.Ref {
		return g.Unlane(g.Exp(g.Mul(g.Lane(g.Reshape(x, []int{2, 2})), g.Slice(x, 0, nil))))
	}},
	ad.OpMatMul: {10, func(g *ad.Graph, x ad.Ref) ad.Ref {
		return g.MatMul(g.Slice(x, 0, []int{2, 3}), g.Transpose(g.Slice(x, 4, []int{2, 3})))
	}},
	ad.OpLogSumExp: {6, func(g *ad.Graph, x ad.Ref) ad.Ref { return g.LogSumExp(g.Reshape(x, []int{2, 3})) }},
	ad.OpMaxOf:     {6, func(g *ad.Graph, x ad.Ref) ad.Ref { return g.Square(g.Do(ad.OpMaxOf, nil, g.Reshape(x, []int{2, 3}))) }},
	ad.OpTake: {5, func(g *ad.Graph, x ad.Ref) ad.Ref {
		at := g.ConstArray(ad.Type{Shape: []int{2, 2}}, []float64{4, 0, 0, 2})
		return g.Take(x, g.Do(ad.OpFloor, nil, g.Add(at, g.Scale(0, g.Slice(x, 0, nil)))))
	}},
	ad.OpPut: {3, func(g *ad.Graph, x ad.Ref) ad.Ref {
		at := g.ConstArray(ad.Type{Shape: []int{3}}, []float64{3, 0, 3})
		return g.Do(ad.OpPut, ad.PutAttr{Shape: []int{4}}, x, g.Do(ad.OpFloor, nil, g.Add(at, g.Scale(0, x))))
	}},
	ad.OpMatrixExp: {9, func(g *ad.Graph, x ad.Ref) ad.Ref {
		return g.Do(ad.OpMatrixExp, nil, g.Reshape(g.Scale(1.5, x), []int{3, 3}))
	}},
	ad.OpMatrixExpTangent: {8, func(g *ad.Graph, x ad.Ref) ad.Ref {
		return g.Do(ad.OpMatrixExpTangent, nil, g.Slice(x, 0, []int{2, 2}), g.Slice(x, 4, []int{2, 2}))
	}},
	ad.OpCholesky: {9, func(g *ad.Graph, x ad.Ref) ad.Ref { return g.Cholesky(definite(g, x)) }},
	ad.OpCholeskyAdjoint: {18, func(g *ad.Graph, x ad.Ref) ad.Ref {
		l := g.Lower(regular(g, g.Slice(x, 0, []int{3, 3})))
		return g.Scale(4, g.Do(ad.OpCholeskyAdjoint, nil, l, g.Slice(x, 9, []int{3, 3})))
	}},
	ad.OpTriSolve: {9 + 6, func(g *ad.Graph, x ad.Ref) ad.Ref {
		a, b := regular(g, g.Slice(x, 0, []int{3, 3})), g.Slice(x, 9, []int{3, 2})
		var all []ad.Ref
		for bits := range 8 {
			at := ad.TriAttr{Upper: bits&1 > 0, Trans: bits&2 > 0, Right: bits&4 > 0}
			c := b
			if at.Right {
				c = g.Transpose(b)
			}
			all = append(all, g.TriSolve(a, c, at))
		}
		// One operand of the product has lanes, or the other, or both.
		lanes := g.Lane(g.Slice(x, 9, []int{2, 3, 1}))
		all = append(all, g.Unlane(g.TriSolve(a, lanes, ad.TriAttr{})))
		both := g.Lane(g.Stack(a, g.Transpose(a)))
		all = append(all, g.Unlane(g.TriSolve(both, b, ad.TriAttr{Upper: true})))
		return g.Concat(all...)
	}},
	ad.OpSolve: {9 + 6, func(g *ad.Graph, x ad.Ref) ad.Ref {
		a, b := regular(g, g.Slice(x, 0, []int{3, 3})), g.Slice(x, 9, []int{3, 2})
		return g.Add(g.Solve(a, b), g.Do(ad.OpSolve, ad.SolveAttr{Trans: true}, a, b))
	}},
	ad.OpInverse:   {9, func(g *ad.Graph, x ad.Ref) ad.Ref { return g.Inverse(regular(g, x)) }},
	ad.OpLogAbsDet: {9, func(g *ad.Graph, x ad.Ref) ad.Ref { return g.LogAbsDet(g.Neg(regular(g, x))) }},
	ad.OpDet:       {9, func(g *ad.Graph, x ad.Ref) ad.Ref { return g.Log(g.Do(ad.OpAbs, nil, g.Det(regular(g, x)))) }},
	ad.OpSparseCholesky: {5, func(g *ad.Graph, x ad.Ref) ad.Ref {
		return g.SparseCholesky(sparseDefinite(g, x), cycle, ad.CholeskyAttr{})
	}},
	ad.OpSparseCholeskyAdjoint: {5, func(g *ad.Graph, x ad.Ref) ad.Ref {
		l := g.SparseCholesky(sparseDefinite(g, x), cycle, ad.CholeskyAttr{})
		return g.Do(ad.OpSparseCholeskyAdjoint, ad.SparseAttr{Factor: cycle}, l, g.Square(l))
	}},
	ad.OpSparseSolve: {5, func(g *ad.Graph, x ad.Ref) ad.Ref {
		l := g.SparseCholesky(sparseDefinite(g, x), cycle, ad.CholeskyAttr{})
		b := g.Slice(g.Concat(x, g.Exp(x)), 0, []int{5, 2})
		lanes := g.Unlane(g.SparseSolve(l, g.Lane(g.Reshape(b, []int{2, 5})), cycle))
		return g.Concat(g.SparseSolve(l, x, cycle), g.Reshape(g.SparseSolve(l, b, cycle), []int{10}), g.Reshape(lanes, []int{10}), g.Reshape(g.SparseLogDet(l, cycle), []int{1}))
	}},
	ad.OpFourier: {2 * 2 * 3, func(g *ad.Graph, x ad.Ref) ad.Ref {
		re, im := g.Fourier(g.Slice(x, 0, []int{2, 3}), g.Slice(x, 6, []int{2, 3}), false)
		re2, im2 := g.Fourier(g.Mul(re, im), im, true)
		return g.Concat(g.Reshape(re2, []int{6}), g.Reshape(im2, []int{6}))
	}},
	ad.OpEigen: {2 * 9, func(g *ad.Graph, x ad.Ref) ad.Ref {
		spread := g.ConstArray(ad.Type{Shape: []int{3, 3}}, []float64{0, 0, 0, 0, 7, 0, 0, 0, 19})
		a, b, c, d := g.Eigen(g.Add(spread, g.Slice(x, 0, []int{3, 3})), g.Slice(x, 9, []int{3, 3}))
		// Add the same for a Hermitian matrix.
		re, im := g.Add(spread, g.Slice(x, 0, []int{3, 3})), g.Slice(x, 9, []int{3, 3})
		h, p, q := g.EigenHermitian(g.Add(re, g.Transpose(re)), g.Sub(im, g.Transpose(im)))
		return g.Concat(a, b, g.Reshape(c, []int{9}), g.Reshape(d, []int{9}), h, g.Reshape(p, []int{9}), g.Reshape(q, []int{9}))
	}},
	// The columns are orthonormal already, as the op expects.
	ad.OpOrthonormal: {2 * 9, func(g *ad.Graph, x ad.Ref) ad.Ref {
		spread := g.ConstArray(ad.Type{Shape: []int{3, 3}}, []float64{0, 0, 0, 0, 7, 0, 0, 0, 19})
		re, im := g.Add(spread, g.Slice(x, 0, []int{3, 3})), g.Slice(x, 9, []int{3, 3})
		_, p, q := g.EigenHermitian(g.Add(re, g.Transpose(re)), g.Sub(im, g.Transpose(im)))
		p, q = g.Orthonormal(p, q)
		return g.Concat(g.Reshape(p, []int{9}), g.Reshape(q, []int{9}))
	}},
	ad.OpSchur: {2 * 9, schurCase}, ad.OpSchurAdjoint: {2 * 9, schurCase}, ad.OpSchurTangent: {2 * 9, schurCase},
	ad.OpEigenSym: {9, func(g *ad.Graph, x ad.Ref) ad.Ref {
		spread := g.ConstArray(ad.Type{Shape: []int{3, 3}}, []float64{0, 0, 0, 0, 7, 0, 0, 0, 19})
		values, vectors := g.EigenSym(g.Add(definite(g, x), spread))
		return g.Concat(g.Log(values), g.Square(vectors))
	}},
	ad.OpSVD: {6 + 6 + 9, func(g *ad.Graph, x ad.Ref) ad.Ref {
		var parts []ad.Ref
		at := 0
		for _, s := range [][]int{{3, 2}, {2, 3}, {3, 3}} {
			n := s[0] * s[1]
			spread := make([]float64, n)
			for i := range min(s[0], s[1]) {
				spread[i*s[1]+i] = float64(4 * (i + 1) * (i + 1))
			}
			m := g.Add(g.ConstArray(ad.Type{Shape: s}, spread), g.Slice(x, at, s))
			values, u, v := g.SVD(m)
			parts = append(parts, g.Log(values), g.Reshape(g.Square(u), []int{ad.SizeOf(g.Type(u).Shape)}), g.Reshape(g.Square(v), []int{ad.SizeOf(g.Type(v).Shape)}))
			at += n
		}
		return g.Concat(parts...)
	}},
	ad.OpOrder: {5, func(g *ad.Graph, x ad.Ref) ad.Ref {
		at := g.Do(ad.OpOrder, ad.OrderAttr{}, x)
		down := g.Do(ad.OpOrder, ad.OrderAttr{Descending: true}, g.Square(x))
		return g.Concat(g.Square(g.Take(x, at)), g.Take(g.Exp(x), down))
	}},
	ad.OpFirstMax: {6, func(g *ad.Graph, x ad.Ref) ad.Ref {
		rows := g.Reshape(x, []int{2, 3})
		return g.Mul(g.Do(ad.OpFirstMax, nil, rows), g.Exp(g.Do(ad.OpMaxOf, nil, rows)))
	}},
	ad.OpReplace: {7, func(g *ad.Graph, x ad.Ref) ad.Ref {
		at := g.ConstArray(ad.Type{Shape: []int{3}}, []float64{3, 0, 3})
		v := g.Slice(x, 4, []int{3})
		return g.Square(g.Replace(g.Slice(x, 0, []int{4}), v, g.Do(ad.OpFloor, nil, g.Add(at, g.Scale(0, v)))))
	}},
	ad.OpAddAt: {7, func(g *ad.Graph, x ad.Ref) ad.Ref {
		at := g.ConstArray(ad.Type{Shape: []int{3}}, []float64{3, 0, 3})
		v := g.Slice(x, 4, []int{3})
		return g.Square(g.Do(ad.OpAddAt, nil, g.Slice(x, 0, []int{4}), v, g.Do(ad.OpFloor, nil, g.Add(at, g.Scale(0, v)))))
	}},
}

// definite returns a positive definite 3×3 matrix whose upper triangle is wrong: ops on symmetric
// matrices read only the lower one.
func definite(g *ad.Graph, x ad.Ref) ad.Ref {
	m := g.Reshape(x, []int{3, 3})
	a := regular(g, g.MatMul(m, g.Transpose(m)))
	upper := g.ConstArray(ad.Type{Shape: []int{3, 3}}, []float64{0, 1, 1, 0, 0, 1, 0, 0, 0})
	return g.Add(a, g.Mul(upper, m))
}

// cycle is the pattern of a matrix of five rows in which each is adjacent to the next.
var cycle = sparse.NewFactor(5, []int32{0, 1, 1, 2, 2, 3, 3, 4, 4, 4}, []int32{0, 0, 1, 1, 2, 2, 3, 0, 3, 4})

// sparseDefinite returns the values of a positive definite matrix with that pattern.
func sparseDefinite(g *ad.Graph, x ad.Ref) ad.Ref {
	diagonal := g.ConstArray(ad.Type{Shape: []int{10}}, []float64{9, 0, 9, 0, 9, 0, 9, 0, 0, 9})
	return g.Add(diagonal, g.Concat(x, x))
}

// schurCase returns values of a Schur decomposition that do not depend on the arbitrary phases of
// the columns of U.
func schurCase(g *ad.Graph, x ad.Ref) ad.Ref {
	spread := g.ConstArray(ad.Type{Shape: []int{3, 3}}, []float64{0, 0, 0, 0, 7, 0, 0, 0, 19})
	a, b, c, d := g.Schur(g.Add(spread, g.Slice(x, 0, []int{3, 3})), g.Slice(x, 9, []int{3, 3}))
	moduli := func(re, im ad.Ref) ad.Ref { return g.Reshape(g.Add(g.Square(re), g.Square(im)), []int{9}) }
	return g.Concat(moduli(a, b), moduli(c, d), g.Gather(b, ad.Index{Dims: []ad.Dim{{N: 3, Stride: 4}}}))
}

// regular returns a 3×3 matrix that is far from singular.
func regular(g *ad.Graph, x ad.Ref) ad.Ref {
	m := g.Reshape(x, []int{3, 3})
	return g.Add(m, g.ConstArray(g.Type(m), []float64{8, 0, 0, 0, 8, 0, 0, 0, 8}))
}

// TestArrays checks the ops that are not elementwise.
func TestArrays(t *testing.T) {
	for op := ad.OpInvalid + 1; op <= ad.OpRandom; op++ {
		row := op.Row()
		if c := row.Class; c != ad.Linear && c != ad.Array && c != ad.Region {
			continue
		}
		c, ok := arrayCases[op]
		if row.Example != nil {
			c.n, c.build = row.Size, row.Example
		} else if !ok {
			t.Errorf("%s has no case in arrayCases", row.Name)
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(op), 3))
		for range 3 {
			x := make([]float64, c.n)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			f := func(g *ad.Graph, a []ad.Ref) ad.Ref {
				y := c.build(g, g.Concat(a...))
				w := make([]float64, g.Type(y).Size())
				for i := range w {
					w[i] = 1 + 0.3*float64(i)
				}
				// With the cosine, second derivatives of linear ops are not 0.
				return g.Sum(g.Mul(g.ConstArray(g.Type(y), w), g.Do(ad.OpCos, nil, y)))
			}
			if err := Derivatives(x, 1e-6, rng, f); err != nil {
				t.Errorf("%s: %v", row.Name, err)
			}
			if err := hessian(x, f); err != nil {
				t.Errorf("%s: %v", row.Name, err)
			}
		}
	}
}

// TestEqualArguments checks that second derivatives of log_add_exp are correct if both arguments
// are equal: an op that treats that case separately could lose them.
func TestEqualArguments(t *testing.T) {
	for _, x := range []float64{-1.5, 0, 0.25} {
		f := func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Do(ad.OpLogAddExp, nil, a...) }
		g := ad.NewGraph()
		in := g.Input(ad.Type{Shape: []int{2}})
		out := f(g, []ad.Ref{g.Slice(in, 0, nil), g.Slice(in, 1, nil)})
		g.Output(g.Hessian(out, in))
		v, err := g.Eval([][]float64{{x, x}}, &ad.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{0.25, -0.25, -0.25, 0.25} {
			if got := v[0][i]; math.Abs(got-want) > 1e-15 {
				t.Errorf("element %d of the Hessian of log_sum_exp at (%v, %v) is %v, want %v", i, x, x, got, want)
			}
		}
	}
}
