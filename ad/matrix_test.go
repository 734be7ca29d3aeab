package ad

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// randomMatrix returns a well-conditioned matrix; with spd, a symmetric positive definite one.
func randomMatrix(rng *rand.Rand, n int, spd bool) []float64 {
	a := make([]float64, n*n)
	for i := range a {
		a[i] = rng.NormFloat64()
	}
	if spd {
		b := make([]float64, n*n)
		product(b, a, a, []int{n, n}, []int{n, n}, MatMulAttr{TransB: true})
		a = b
	}
	for i := range n {
		a[i*n+i] += 3 * math.Sqrt(float64(n))
	}
	return a
}

// TestMatrixValues checks each op by the equation that defines it, at sizes below and above the
// limits at which kernels change their method.
func TestMatrixValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, n := range []int{0, 1, 2, 5, 9, 17, 40} {
		sq := []int{n, n}
		mul := func(a, b []float64, ta, tb bool, sa, sb []int) []float64 {
			r, c, _, err := MatMulAttr{ta, tb}.dims(sa, sb)
			if err != nil {
				t.Fatal(err)
			}
			d := make([]float64, r*c)
			product(d, a, b, sa, sb, MatMulAttr{ta, tb})
			return d
		}
		same := func(what string, got, want []float64) {
			t.Helper()
			for i := range want {
				if !(math.Abs(got[i]-want[i]) <= 1e-11*(1+math.Abs(want[i]))) {
					t.Errorf("n = %d, %s: element %d is %v, want %v", n, what, i, got[i], want[i])
					return
				}
			}
		}
		run := func(build func(g *Graph) Ref) []float64 {
			t.Helper()
			g := NewGraph()
			g.Output(build(g))
			v, err := g.Eval(nil, &Env{})
			if err != nil {
				t.Fatal(err)
			}
			return v[0]
		}
		spd, a := randomMatrix(rng, n, true), randomMatrix(rng, n, false)
		mat := func(g *Graph, x []float64, s []int) Ref { return g.ConstArray(Type{Shape: s}, x) }
		l := run(func(g *Graph) Ref { return g.Cholesky(mat(g, spd, sq)) })
		same("cholesky", mul(l, l, false, true, sq, sq), spd)
		for i := range n {
			for j := i + 1; j < n; j++ {
				if l[i*n+j] != 0 {
					t.Errorf("the factor has %v above the diagonal", l[i*n+j])
				}
			}
		}
		tri := func(upper bool) []float64 {
			x := append([]float64(nil), a...)
			for i := range n {
				for j := range n {
					if i != j && i < j != upper {
						x[i*n+j] = 0
					}
				}
			}
			return x
		}
		for _, k := range []int{1, 3, 20} {
			for bits := range 8 {
				at := TriAttr{bits&1 > 0, bits&2 > 0, bits&4 > 0}
				s := []int{n, k}
				if at.Right {
					s = []int{k, n}
				}
				b := make([]float64, n*k)
				for i := range b {
					b[i] = rng.NormFloat64()
				}
				x := run(func(g *Graph) Ref { return g.TriSolve(mat(g, a, sq), mat(g, b, s), at) })
				if at.Right {
					same(fmt.Sprint("triangular ", at), mul(x, tri(at.Upper), false, at.Trans, s, sq), b)
				} else {
					same(fmt.Sprint("triangular ", at), mul(tri(at.Upper), x, at.Trans, false, sq, s), b)
				}
			}
			b := make([]float64, n*k)
			for i := range b {
				b[i] = rng.NormFloat64()
			}
			for _, trans := range []bool{false, true} {
				x := run(func(g *Graph) Ref {
					return g.Do(OpSolve, SolveAttr{trans}, mat(g, a, sq), mat(g, b, []int{n, k}))
				})
				same("solve", mul(a, x, trans, false, sq, []int{n, k}), b)
			}
		}
		eye := make([]float64, n*n)
		for i := range n {
			eye[i*n+i] = 1
		}
		same("inverse", mul(a, run(func(g *Graph) Ref { return g.Inverse(mat(g, a, sq)) }), false, false, sq, sq), eye)
		logDet := 0.0
		for i := range n {
			logDet += 2 * math.Log(l[i*n+i])
		}
		same("log |det|", run(func(g *Graph) Ref { return g.LogAbsDet(mat(g, spd, sq)) }), []float64{logDet})
		same("log det", run(func(g *Graph) Ref { return g.LogDetSPD(mat(g, spd, sq)) }), []float64{logDet})
		minus := mul(spd, eye, false, false, sq, sq)
		if n > 0 { // swap two rows and change the sign of one
			swapRows(minus, 0, n-1, n)
			for j := range n {
				minus[j] *= -1
			}
			if n > 1 {
				logDet = math.Exp(logDet)
			} else {
				logDet = -math.Exp(logDet)
			}
			same("det", []float64{run(func(g *Graph) Ref { return g.Det(mat(g, minus, sq)) })[0] / logDet}, []float64{1})
		}
		e := run(func(g *Graph) Ref { return g.Do(OpEigenSym, nil, mat(g, spd, sq)) })
		values, vectors := e[:n], e[n:]
		scaled := append([]float64(nil), vectors...)
		for i := range scaled {
			scaled[i] *= values[i%max(n, 1)]
		}
		same("eigenvectors", mul(scaled, vectors, false, true, sq, sq), spd)
		same("eigenvectors", mul(vectors, vectors, true, false, sq, sq), eye)
		for i := 1; i < n; i++ {
			if values[i] < values[i-1] {
				t.Errorf("eigenvalues %v are not in order", values)
			}
		}
	}
}

// TestMatrixNaN checks that NaN and infinities times 0 are not lost, and that no kernel panics on
// them.
func TestMatrixNaN(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	for _, n := range []int{2, 12, 20} {
		for op := OpInvalid + 1; op < numOps; op++ {
			if _, matrix := matrixOps()[op]; !matrix && op != OpMatMul {
				continue
			}
			attrs := map[OpCode]any{OpMatMul: MatMulAttr{}, OpTriSolve: TriAttr{}, OpSolve: SolveAttr{}}
			for _, bad := range []float64{math.NaN(), math.Inf(1)} {
				g := NewGraph()
				x := g.Input(Type{Shape: []int{n, n}})
				args := []Ref{x}
				if op.Row().Arity == 2 { // the second matrix is the identity, which has zeros
					eye := make([]float64, n*n)
					for i := range n {
						eye[i*n+i] = 1
					}
					args = []Ref{g.ConstArray(Type{Shape: []int{n, n}}, eye), x}
				}
				g.Output(g.Sum(g.Do(op, attrs[op], args...)))
				a := randomMatrix(rng, n, true)
				a[n-1] = 0
				a[(n-1)*n] = bad
				v, err := g.Eval([][]float64{a}, &Env{})
				if op == OpCholesky {
					var np *NotPositiveError
					if !errors.As(err, &np) {
						t.Errorf("%s of %v: error %v", op, bad, err)
					}
				} else if err != nil || !math.IsNaN(v[0][0]) && !math.IsInf(v[0][0], 0) && op != OpInverse {
					t.Errorf("%s of a matrix with %v: %v, error %v", op, bad, v, err)
				}
			}
		}
	}
}

// TestNotPositive checks that a rejection names the op and the pivot.
func TestNotPositive(t *testing.T) {
	g := NewGraph()
	x := g.Input(Type{Shape: []int{2, 2}})
	g.SetSite(7)
	g.Output(g.Cholesky(x))
	_, err := g.Eval([][]float64{{1, 2, 2, 1}}, &Env{})
	var op *OpError
	if !errors.As(err, &op) || op.Site != 7 || err.Error() != "cholesky: the matrix must be positive definite, but its pivot 2 is -3" {
		t.Errorf("error %v", err)
	}
}

// TestSingular checks that solves of singular systems give infinities or NaN, and no error.
func TestSingular(t *testing.T) {
	g := NewGraph()
	x := g.Input(Type{Shape: []int{2, 2}})
	g.Output(g.Inverse(x))
	g.Output(g.LogAbsDet(x))
	g.Output(g.Det(x))
	v, err := g.Eval([][]float64{{1, 2, 2, 4}}, &Env{})
	if err != nil || finite(v[0]) || !math.IsInf(v[1][0], -1) || v[2][0] != 0 {
		t.Errorf("%v, error %v", v, err)
	}
}

// TestMatrixAllocations checks that the kernels do not allocate.
func TestMatrixAllocations(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	const n = 40
	a := randomMatrix(rng, n, true)
	types := []Type{{Shape: []int{n, n}}, {Shape: []int{n, n}}}
	dst := make([]float64, n*n+n)
	for op, attr := range map[OpCode]any{OpCholesky: nil, OpCholeskyAdjoint: nil, OpTriSolve: TriAttr{Trans: true}, OpSolve: SolveAttr{}, OpInverse: nil,
		OpLogAbsDet: nil, OpDet: nil, OpEigenSym: nil} {
		row := op.Row()
		var work []float64
		if row.Work != nil {
			work = make([]float64, row.Work(types, attr))
		}
		args := [][]float64{a, a}
		size := n * n
		if op == OpEigenSym {
			size += n
		}
		if k := testing.AllocsPerRun(3, func() {
			if err := row.Eval(dst[:size], args, types, attr, work); err != nil {
				t.Error(err)
			}
		}); k > 0 {
			t.Errorf("%s allocates %v times", op, k)
		}
	}
}

// TestUnclear checks that no node sets the part above the diagonal of a factor's adjoint to 0,
// because nothing reads it there.
func TestUnclear(t *testing.T) {
	const n = 4
	rng := rand.New(rand.NewPCG(1, 2))
	g := NewGraph()
	a, b := g.Input(Type{Shape: []int{n, n}}), g.Input(Type{Lanes: 3, Shape: []int{n, 1}})
	l := g.Cholesky(a)
	x := g.TriSolve(l, b, TriAttr{})
	g.Output(g.Add(g.SumLanes(g.Sum(g.Square(x))), g.Sum(g.Log(g.Diagonal(l)))))
	adjoint := g.Grad(g.Outputs[0], a)[0]
	g.Output(adjoint)
	var look func(r Ref)
	look = func(r Ref) {
		node := &g.Nodes[r]
		if node.Op == OpScatter {
			if ix := node.Attr.(scatterAttr).Index; len(ix.Dims) == 1 && len(ix.Dims[0].Table) > 0 {
				t.Errorf("a triangle is cleared: %v", ix)
			}
		}
		for _, a := range node.Args {
			look(a)
		}
	}
	look(adjoint)
	// The adjoint of the whole matrix is S = -Σ A⁻¹ b bᵀ A⁻¹ + A⁻¹/2.
	spd, rhs := randomMatrix(rng, n, true), randomMatrix(rng, n, false)[:3*n]
	out, err := g.Eval([][]float64{spd, rhs}, &Env{})
	if err != nil {
		t.Fatal(err)
	}
	h := NewGraph()
	inverse, err := func() ([][]float64, error) {
		h.Output(h.Inverse(h.Input(Type{Shape: []int{n, n}})))
		return h.Eval([][]float64{spd}, &Env{})
	}()
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := range i + 1 {
			want := inverse[0][i*n+j] / 2
			for lane := range 3 {
				u, v := 0.0, 0.0
				for k := range n {
					u += inverse[0][i*n+k] * rhs[lane*n+k]
					v += inverse[0][j*n+k] * rhs[lane*n+k]
				}
				want -= u * v
			}
			if i != j {
				want *= 2
			}
			if got := out[1][i*n+j]; !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
				t.Errorf("element %d, %d is %v, want %v", i, j, got, want)
			}
		}
	}
}
