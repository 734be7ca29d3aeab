package ad

import (
	"errors"
	"math"
	"strconv"
	"sync"
)

// This file: ops on complex matrices, which have shape [2, n, n]: the real parts, then the
// imaginary parts.

func complexOps() map[OpCode]Op {
	return map[OpCode]Op{OpFourier: fourierOp(), OpEigen: eigenOp(), OpOrthonormal: orthonormalOp(), OpSchur: schurOp(), OpSchurAdjoint: schurAdjoint(), OpSchurTangent: schurTangent()}
}

var errNoSchur = errors.New("the QR algorithm does not converge")

// pairs is a complex matrix as two nodes of a graph.
type pairs struct{ re, im Ref }

// parts returns the complex array of the given shape at position i of x, where the imaginary parts
// follow the real ones.
func (g *Graph) parts(x Ref, i int, shape ...int) pairs {
	n := Type{Shape: shape}.Size()
	return pairs{g.Slice(x, i, shape), g.Slice(x, i+n, shape)}
}

// together is the inverse of parts: it joins the real and the imaginary part of a matrix.
func (g *Graph) together(x pairs) Ref {
	s := g.Type(x.re).Shape
	n := s[0] * s[1]
	return g.Reshape(g.Concat(g.Reshape(x.re, []int{n}), g.Reshape(x.im, []int{n})), []int{2, s[0], s[1]})
}

// mulH returns x yᴴ; hMul returns xᴴ y.
func (g *Graph) mulH(x, y pairs) pairs {
	return pairs{
		g.Add(g.matMul(x.re, y.re, false, true), g.matMul(x.im, y.im, false, true)),
		g.Sub(g.matMul(x.im, y.re, false, true), g.matMul(x.re, y.im, false, true)),
	}
}

func (g *Graph) hMul(x, y pairs) pairs {
	return pairs{
		g.Add(g.matMul(x.re, y.re, true, false), g.matMul(x.im, y.im, true, false)),
		g.Sub(g.matMul(x.re, y.im, true, false), g.matMul(x.im, y.re, true, false)),
	}
}

// Eigen returns the eigenvalues of a complex matrix, in no particular order, and its eigenvectors
// in columns. Each eigenvector has norm 1 and a real positive largest element.
func (g *Graph) Eigen(re, im Ref) (valuesRe, valuesIm, vectorsRe, vectorsIm Ref) {
	n := g.Type(re).Shape[0]
	r := g.Do(OpEigen, newSchur(n), g.together(pairs{re, im}))
	values, vectors := g.parts(r, 0, n), g.parts(r, 2*n, n, n)
	return values.re, values.im, vectors.re, vectors.im
}

// EigenHermitian returns the real eigenvalues of a Hermitian matrix, in ascending order, and the
// eigenvectors as Eigen does.
func (g *Graph) EigenHermitian(re, im Ref) (values, vectorsRe, vectorsIm Ref) {
	n := g.Type(re).Shape[0]
	attr := newSchur(n)
	attr.hermitian = true
	r := g.Do(OpEigen, attr, g.together(pairs{re, im}))
	vectors := g.parts(r, 2*n, n, n)
	return g.Slice(r, 0, []int{n}), vectors.re, vectors.im
}

// Schur returns T and U of the Schur decomposition U T Uᴴ of a complex matrix. The columns of U
// have arbitrary phases; derivatives hold these phases constant.
func (g *Graph) Schur(re, im Ref) (tRe, tIm, uRe, uIm Ref) {
	n := g.Type(re).Shape[0]
	r := g.Do(OpSchur, newSchur(n), g.together(pairs{re, im}))
	t, u := g.parts(r, 0, n, n), g.parts(r, 2*n*n, n, n)
	return t.re, t.im, u.re, u.im
}

// schurAttr keeps the work memory of decompositions for the next evaluation.
type schurAttr struct {
	work      *sync.Pool
	hermitian bool // the matrix is Hermitian; for OpEigen
}

// AppendKey implements Keyed. Decompositions of one matrix are thereby merged.
func (s schurAttr) AppendKey(b []byte) []byte { return strconv.AppendBool(b, s.hermitian) }

type schurWork struct {
	t, u, v, x []complex128
	largest    []int
	more       [4][]complex128 // work space of the adjoint
}

func newSchur(n int) schurAttr {
	return schurAttr{work: &sync.Pool{New: func() any {
		c := make([]complex128, 7*n*n+n)
		next := func(n int) []complex128 { part := c[:n]; c = c[n:]; return part }
		w := &schurWork{t: next(n * n), u: next(n * n), v: next(n * n), x: next(n), largest: make([]int, n)}
		for i := range w.more {
			w.more[i] = next(n * n)
		}
		return w
	}}}
}

// decompose computes the Schur decomposition of a.
func (w *schurWork) decompose(a []float64, n int) error {
	load(w.t, a)
	// Scale the matrix by a power of two, which is exact. Otherwise products of very large or very
	// small elements would overflow or underflow.
	whole, scale := 0.0, 1.0
	for _, x := range a {
		whole = max(whole, math.Abs(x))
	}
	if whole > 0 && !math.IsInf(whole, 0) && (whole < 0x1p-200 || whole > 0x1p200) {
		_, e := math.Frexp(whole)
		scale = math.Ldexp(1, max(e-1, -1000))
		for i, x := range w.t {
			w.t[i] = complex(real(x)/scale, imag(x)/scale)
		}
	}
	if !schur(w.t, w.u, n, w.x) {
		return errNoSchur
	}
	for i, x := range w.t {
		w.t[i] = complex(real(x)*scale, imag(x)*scale)
	}
	return nil
}

// load interleaves real and imaginary parts; store separates them again.
func load(z []complex128, x []float64) {
	for i := range z {
		z[i] = complex(x[i], x[len(z)+i])
	}
}

func store(x []float64, z []complex128) {
	for i, v := range z {
		x[i], x[len(z)+i] = real(v), imag(v)
	}
}

func complexSquare(args []Type) (int, error) {
	s := args[0].Shape
	if len(s) != 3 || s[0] != 2 || s[1] != s[2] {
		return 0, errors.New("no square complex matrix")
	}
	return s[1], nil
}

// eigenOp computes the eigenvalues, the eigenvectors and, for derivatives, a matrix with a 1 at the
// largest element of each eigenvector.
func eigenOp() Op {
	return Op{Name: "eigen", Class: Array, Arity: 1,
		Shape: func(args []Type, _ any) (Type, error) {
			n, err := complexSquare(args)
			return Type{Shape: []int{2*n + 3*n*n}}, err
		},
		Eval: func(dst []float64, args [][]float64, types []Type, attr any, _ []float64) error {
			n := types[0].Shape[1]
			pool := attr.(schurAttr).work
			w := pool.Get().(*schurWork)
			defer pool.Put(w)
			if err := w.decompose(args[0], n); err != nil {
				return err
			}
			if attr.(schurAttr).hermitian {
				w.ascending(n)
			}
			eigenvectors(w.v, w.t, w.u, n, w.x, w.largest)
			for i := range n {
				dst[i], dst[n+i] = real(w.t[i*n+i]), imag(w.t[i*n+i])
			}
			store(dst[2*n:], w.v)
			mask := dst[2*n+2*n*n:]
			clear(mask)
			for k, i := range w.largest {
				mask[i*n+k] = 1
			}
			return nil
		},
		// Let M = V⁻¹ dA V and F(i,j) = 1/(λj - λi), 0 on the diagonal. Then dλ is the diagonal of
		// M. dV is W = V (F∘M) minus the part that changes norms and phases, V diag(Re vᴴw + i Im
		// w_p/v_p), where p is the index of the largest element.
		VJP: func(g *Graph, node *Node, out, adj Ref, need []bool) []Ref {
			n := g.Type(node.Args[0]).Shape[1]
			values, v, mask := g.parts(out, 0, n), g.parts(out, 2*n, n, n), g.Slice(out, 2*n+2*n*n, []int{n, n})
			valuesAdj, vAdj := g.parts(adj, 0, n), g.parts(adj, 2*n, n, n)
			along := func(x Ref) Ref { return g.Gather(x, Index{Dims: []Dim{{N: n}, {N: n, Stride: 1}}}) }
			down := func(x Ref) Ref { return g.Gather(x, Index{Dims: []Dim{{N: n, Stride: 1}, {N: n}}}) }
			columns := func(x Ref) Ref { // sums over each column
				ones := make([]float64, n)
				for i := range ones {
					ones[i] = 1
				}
				return g.VecMat(g.ConstArray(Type{Shape: []int{n}}, ones), x)
			}
			norms := columns(g.Add(g.Mul(v.re, vAdj.re), g.Mul(v.im, vAdj.im)))
			phases := columns(g.Sub(g.Mul(v.re, vAdj.im), g.Mul(v.im, vAdj.re)))
			largest := columns(g.Mul(mask, v.re))
			w := pairs{
				g.Sub(vAdj.re, g.Mul(v.re, along(norms))),
				g.Sub(g.Sub(vAdj.im, g.Mul(v.im, along(norms))), g.Mul(mask, along(g.Div(phases, largest)))),
			}
			m := g.hMul(v, w)
			// Multiply by the conjugate of F, which is (λj - λi)/|λj - λi|².
			f := pairs{g.Sub(along(values.re), down(values.re)), g.Sub(along(values.im), down(values.im))}
			gap := g.Add(g.Square(f.re), g.Square(f.im))
			inv := g.Select(g.Equal(gap, g.Const(0)), g.Const(0), g.Inv(gap))
			diagonal := func(x Ref) Ref { return g.Scatter(x, Index{Dims: []Dim{{N: n, Stride: n + 1}}}, []int{n, n}) }
			m = pairs{
				g.Add(g.Mul(inv, g.Sub(g.Mul(m.re, f.re), g.Mul(m.im, f.im))), diagonal(valuesAdj.re)),
				g.Add(g.Mul(inv, g.Add(g.Mul(m.re, f.im), g.Mul(m.im, f.re))), diagonal(valuesAdj.im)),
			}
			y := g.solveH(v, m)
			return []Ref{g.reduceLanes(g.together(g.mulH(y, v)), node.Args[0])}
		}}
}

// solveH returns the solution Y of Vᴴ Y = M, from a real system of twice the size.
func (g *Graph) solveH(v, m pairs) pairs {
	n := g.Type(v.re).Shape[0]
	below := func(a, b Ref) Ref {
		return g.Reshape(g.Concat(g.Reshape(a, []int{n * n}), g.Reshape(b, []int{n * n})), []int{2 * n, n})
	}
	// The transpose of [Vr Vi; -Vi Vr]ᵀ, whose rows are columns of the blocks.
	left, right := below(v.re, v.im), below(g.Neg(v.im), v.re)
	block := g.Concat(g.Reshape(g.Transpose(left), []int{2 * n * n}), g.Reshape(g.Transpose(right), []int{2 * n * n}))
	y := g.Solve(g.Reshape(block, []int{2 * n, 2 * n}), below(m.re, m.im))
	return g.parts(g.Reshape(y, []int{2 * n * n}), 0, n, n)
}

// schurOp computes T, then U.
func schurOp() Op {
	return Op{Name: "schur", Class: Array, Arity: 1,
		Shape: func(args []Type, _ any) (Type, error) {
			n, err := complexSquare(args)
			return Type{Shape: []int{4 * n * n}}, err
		},
		Eval: func(dst []float64, args [][]float64, types []Type, attr any, _ []float64) error {
			n := types[0].Shape[1]
			pool := attr.(schurAttr).work
			w := pool.Get().(*schurWork)
			defer pool.Put(w)
			if err := w.decompose(args[0], n); err != nil {
				return err
			}
			store(dst, w.t)
			store(dst[2*n*n:], w.u)
			return nil
		},
		VJP: func(g *Graph, node *Node, out, adj Ref, need []bool) []Ref {
			return []Ref{g.reduceLanes(g.Do(OpSchurAdjoint, node.Attr, out, adj), node.Args[0])}
		}}
}

// schurAdjoint computes the adjoint of the matrix from the decomposition and its adjoint. Let dU =
// U (L - Lᴴ), with L strictly lower triangular, and N = Uᴴ dA U. The lower triangle of L T - T L
// equals that of N, and dT = N - (X T - T X) above it, where X = L - Lᴴ.
func schurAdjoint() Op {
	return Op{Name: "schur adjoint", Class: Array, Arity: 2,
		Shape: func(args []Type, _ any) (Type, error) {
			n := int(math.Round(math.Sqrt(float64(args[0].Size()) / 4)))
			return Type{Shape: []int{2, n, n}}, nil
		},
		Eval: func(dst []float64, args [][]float64, types []Type, attr any, _ []float64) error {
			n := int(math.Round(math.Sqrt(float64(types[0].Size()) / 4)))
			pool := attr.(schurAttr).work
			w := pool.Get().(*schurWork)
			defer pool.Put(w)
			w.adjoint(dst, args[0], args[1], n)
			return nil
		},
		VJP: func(g *Graph, node *Node, _, adj Ref, need []bool) []Ref {
			return schurTwice(g, OpSchurAdjoint, OpSchurTangent, node, adj, need)
		}}
}

// schurTangent computes the tangents of T and U from that of the matrix. It is the transpose of
// schurAdjoint.
func schurTangent() Op {
	return Op{Name: "schur tangent", Class: Array, Arity: 2,
		Shape: func(args []Type, _ any) (Type, error) { return Type{Shape: args[0].Shape}, nil },
		Eval: func(dst []float64, args [][]float64, types []Type, attr any, _ []float64) error {
			pool := attr.(schurAttr).work
			w := pool.Get().(*schurWork)
			defer pool.Put(w)
			w.tangent(dst, args[0], args[1], types[1].Shape[1])
			return nil
		},
		VJP: func(g *Graph, node *Node, _, adj Ref, need []bool) []Ref {
			return schurTwice(g, OpSchurTangent, OpSchurAdjoint, node, adj, need)
		}}
}

// schurTwice returns the adjoints of an op that is linear in its second argument; transpose is the
// op's transpose.
func schurTwice(g *Graph, op, transpose OpCode, node *Node, adj Ref, need []bool) []Ref {
	if need[0] {
		g.fail(op, "Schur decompositions have no second derivative")
	}
	return []Ref{None, g.reduceLanes(g.Do(transpose, node.Attr, node.Args[0], adj), node.Args[1])}
}
