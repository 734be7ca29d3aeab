package ad

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ppl-lang/ppl/ad/kernel"
	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// TriAttr selects the system of a triangular solve: op(A) X = B or, with Right, X op(A) = B. op(A)
// is A or, with Trans, its transpose. Only one triangle of A is read: the lower one or, with Upper,
// the upper one.
type TriAttr struct{ Upper, Trans, Right bool }

// AppendKey implements Keyed.
func (a TriAttr) AppendKey(b []byte) []byte {
	for _, x := range [...]bool{a.Upper, a.Trans, a.Right} {
		b = strconv.AppendBool(b, x)
	}
	return b
}

// SolveAttr says whether the matrix of a solve is transposed.
type SolveAttr struct{ Trans bool }

// AppendKey implements Keyed.
func (a SolveAttr) AppendKey(b []byte) []byte { return strconv.AppendBool(b, a.Trans) }

// CholeskyAttr says how messages name the matrix of a factorisation, like the fields of Check. Both
// are empty if the matrix does not come from the user's program, Function alone for a function that
// the program may not name.
type CholeskyAttr struct{ Function, Name string }

// AppendKey implements Keyed. Factorisations of one matrix are thereby merged, even if messages
// name it in different ways.
func (CholeskyAttr) AppendKey(b []byte) []byte { return b }

// NotPositiveError rejects a matrix that has no Cholesky factor.
type NotPositiveError struct {
	CholeskyAttr
	Pivot int     // the first pivot that is not positive, counted from 1
	Value float64 // its square
}

// Error implements error.
func (e *NotPositiveError) Error() string {
	s := "the matrix"
	if e.Name != "" {
		s = e.Name
	}
	if e.Function != "" {
		s = e.Function + ": " + s
	}
	return fmt.Sprintf("%s must be positive definite, but its pivot %d is %s", s, e.Pivot, FormatNumber(e.Value))
}

// notPositive finds the pivot at which the factorisation of a fails.
func notPositive(a []float64, n int, attr any) error {
	e := &NotPositiveError{Value: math.NaN()}
	e.CholeskyAttr, _ = attr.(CholeskyAttr)
	l := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			x := a[i*n+j]
			for k := range j {
				x -= l[i*n+k] * l[j*n+k]
			}
			switch {
			case i > j:
				l[i*n+j] = x / l[j*n+j]
			case x > 0:
				l[i*n+i] = math.Sqrt(x)
			default:
				e.Pivot, e.Value = i+1, x
				return e
			}
		}
	}
	e.Pivot = n // rounding made the factorisation fail
	return e
}

// Cholesky returns the lower triangular L with L Lᵀ = A. It reads A's lower triangle. A matrix that
// is not positive definite rejects the evaluation.
func (g *Graph) Cholesky(a Ref) Ref { return g.CholeskyOf(a, CholeskyAttr{}) }

// CholeskyOf is Cholesky with a name for the matrix in messages.
func (g *Graph) CholeskyOf(a Ref, name CholeskyAttr) Ref { return g.Do(OpCholesky, name, a) }

// TriSolve solves a triangular system with right-hand side B; see TriAttr. A zero on the diagonal
// gives infinities and NaN.
func (g *Graph) TriSolve(a, b Ref, attr TriAttr) Ref { return g.Do(OpTriSolve, attr, a, b) }

// Solve returns A⁻¹B for a square A and a matrix B. A singular A gives infinities and NaN. Systems
// of one or two equations are written out, because a separate op costs more than their arithmetic.
func (g *Graph) Solve(a, b Ref) Ref {
	ta, tb := g.Type(a), g.Type(b)
	if len(ta.Shape) != 2 || len(tb.Shape) != 2 || ta.Shape[0] != ta.Shape[1] || ta.Shape[0] != tb.Shape[0] {
		return g.Do(OpSolve, SolveAttr{}, a, b) // and let it report the error
	}
	switch ta.Shape[0] {
	case 1:
		return g.Div(b, g.Reshape(a, nil))
	case 2:
		return g.solve2(a, b, tb.Shape[1])
	}
	return g.Do(OpSolve, SolveAttr{}, a, b)
}

// solve2 is Solve for two equations, by elimination with partial pivoting.
func (g *Graph) solve2(a, b Ref, cols int) Ref {
	at := func(k int) Ref { return g.Slice(a, k, nil) }
	row := func(k int) Ref { return g.Slice(b, k*cols, []int{cols}) }
	size := func(x Ref) Ref { return g.Do(OpAbs, nil, x) }
	swap := g.Less(size(at(0)), size(at(2)))
	pivot, other := g.Select(swap, at(2), at(0)), g.Select(swap, at(0), at(2))
	up, low := g.Select(swap, at(3), at(1)), g.Select(swap, at(1), at(3))
	first, second := g.Select(swap, row(1), row(0)), g.Select(swap, row(0), row(1))
	m := g.Div(other, pivot)
	y := g.Div(g.Sub(second, g.Mul(m, first)), g.Sub(low, g.Mul(m, up)))
	x := g.Div(g.Sub(first, g.Mul(up, y)), pivot)
	return g.Reshape(g.Concat(x, y), []int{2, cols})
}

// Inverse returns A⁻¹; infinities and NaN if A is singular.
func (g *Graph) Inverse(a Ref) Ref { return g.Do(OpInverse, nil, a) }

// LogAbsDet returns log |det A|.
func (g *Graph) LogAbsDet(a Ref) Ref { return g.Do(OpLogAbsDet, nil, a) }

// Det returns det A.
func (g *Graph) Det(a Ref) Ref { return g.Do(OpDet, nil, a) }

// LogDetSPD returns log det A of a positive definite A. It reads the lower triangle.
func (g *Graph) LogDetSPD(a Ref) Ref {
	return g.Scale(2, g.Sum(g.Log(g.Diagonal(g.Cholesky(a)))))
}

// Diagonal returns the diagonal of a square matrix.
func (g *Graph) Diagonal(a Ref) Ref {
	n := g.Type(a).Shape[0]
	return g.Gather(a, Index{Dims: []Dim{{N: n, Stride: n + 1}}})
}

// Lower returns the lower triangle of a square matrix, with zeros above.
func (g *Graph) Lower(a Ref) Ref {
	s := g.Type(a).Shape
	ix := g.lowerIndex(s[0])
	return g.Scatter(g.Gather(a, ix), ix, s)
}

// EigenSym returns the eigenvalues, in ascending order, and the eigenvectors, in columns, of a
// symmetric matrix. It reads the lower triangle. Eigenvectors of equal eigenvalues have no
// derivatives; these are taken to be 0 within their space.
func (g *Graph) EigenSym(a Ref) (values, vectors Ref) {
	n := g.Type(a).Shape[0]
	r := g.Do(OpEigenSym, nil, a)
	return g.Slice(r, 0, []int{n}), g.Slice(r, n, []int{n, n})
}

// lowerIndex maps positions 0, 1, … to the lower triangle of an n×n matrix, row by row. The graph
// stores its table once.
func (g *Graph) lowerIndex(n int) Index {
	if ix, ok := g.lower[n]; ok {
		return ix
	}
	g.Reserve(4, n+1, (n+1)/2)
	table := make([]int32, 0, n*(n+1)/2)
	for i := range n {
		for j := range i + 1 {
			table = append(table, int32(i*n+j))
		}
	}
	ix := Index{Dims: []Dim{{N: len(table), Table: table}}}
	if g.lower == nil {
		g.lower = map[int]Index{}
	}
	g.lower[n] = ix
	return ix
}

// halfDiagonal returns weights for the elements that lowerIndex(n) visits: 1/2 on the diagonal, 1
// elsewhere.
func (g *Graph) halfDiagonal(n int) Ref {
	ix := g.lowerIndex(n)
	w := g.Array(ix.Size())
	for k, at := range ix.Dims[0].Table {
		w[k] = 1
		if int(at)%(n+1) == 0 {
			w[k] = 0.5
		}
	}
	return g.ConstArray(Type{Shape: []int{len(w)}}, w)
}

// halfLower returns the lower triangle of a square matrix, with its diagonal halved.
func (g *Graph) halfLower(a Ref) Ref {
	shape := g.Type(a).Shape
	ix := g.lowerIndex(shape[0])
	return g.Scatter(g.Mul(g.halfDiagonal(shape[0]), g.Gather(a, ix)), ix, shape)
}

// onLower returns the adjoint of the lower triangle of a symmetric matrix, of which only that is
// read, given the adjoint s of the whole matrix.
func (g *Graph) onLower(s Ref) Ref {
	shape := g.Type(s).Shape
	ix := g.lowerIndex(shape[0])
	both := g.Add(g.Gather(s, ix), g.Gather(g.Transpose(s), ix))
	return g.Scatter(g.Mul(g.halfDiagonal(shape[0]), both), ix, shape)
}

// Converged returns an error if a symmetric eigendecomposition did not converge.
func Converged(ok bool) error {
	if !ok {
		return errors.New("the eigenvalues of the matrix do not converge")
	}
	return nil
}

// unclear returns a matrix with the lower triangle of x and any upper triangle. It skips nodes that
// only set the upper triangle to 0, which adjoints of factors contain.
func (g *Graph) unclear(x Ref) Ref {
	n := &g.Nodes[x]
	switch args := n.Args; n.Op {
	case OpAdd:
		return g.Add(g.unclear(args[0]), g.unclear(args[1]))
	case OpSub:
		return g.Sub(g.unclear(args[0]), g.unclear(args[1]))
	case OpNeg:
		return g.Neg(g.unclear(args[0]))
	case OpScatter:
		of := &g.Nodes[args[0]]
		if of.Op != OpGather || len(n.Type.Shape) != 2 || !shapeEqual(g.Type(of.Args[0]).Shape, n.Type.Shape) {
			break
		}
		isLower := func(ix Index) bool {
			return ix.Offset == 0 && len(ix.Dims) == 1 && slices.Equal(ix.Dims[0].Table, g.lowerIndex(n.Type.Shape[0]).Dims[0].Table)
		}
		if isLower(n.Attr.(scatterAttr).Index) && isLower(of.Attr.(Index)) {
			return of.Args[0]
		}
	}
	return x
}

func square(args []Type) error {
	if s := args[0].Shape; len(s) != 2 || s[0] != s[1] {
		return fmt.Errorf("a matrix of shape %v is not square", s)
	}
	return nil
}

func sameSquare(args []Type, _ any) (Type, error) {
	return Type{Shape: args[0].Shape}, square(args)
}

func squareToScalar(args []Type, _ any) (Type, error) { return Type{}, square(args) }

// choleskyAdjoint returns the row of the op that computes A's adjoint from the factor L and the
// lower triangle of its adjoint L̄. The result is the lower triangle of S = L⁻ᵀ (P + Pᵀ) L⁻¹, with
// its diagonal halved, where P is the lower triangle of Lᵀ L̄, with its diagonal halved (Murray
// 2016, Differentiation of the Cholesky decomposition). The kernel uses another algorithm; the
// derivative is that of this formula, in plain ops.
func choleskyAdjoint() Op {
	return Op{Name: "adjoint of cholesky", Class: Array, Arity: 2,
		Shape: func(args []Type, _ any) (Type, error) {
			if !shapeEqual(args[0].Shape, args[1].Shape) {
				return Type{}, errors.New("a factor and its adjoint of different shapes")
			}
			return Type{Shape: args[0].Shape}, square(args)
		},
		Eval: func(dst []float64, args [][]float64, types []Type, _ any, work []float64) error {
			kernel.CholeskyAdjoint(dst, args[0], args[1], types[0].Shape[0], work)
			return nil
		},
		Work: func(args []Type, _ any) int { n := args[0].Shape[0]; return n * n },
		// Let H be the adjoint of S, symmetric. Then the adjoint of P is L⁻¹ H L⁻ᵀ, and that of L
		// through the inverses is -S H L⁻ᵀ.
		VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
			l, lbar := n.Args[0], n.Args[1]
			half := g.halfLower(adj)
			right := g.TriSolve(l, g.Add(half, g.Transpose(half)), TriAttr{Trans: true, Right: true})
			p := g.halfLower(g.TriSolve(l, right, TriAttr{}))
			adjs := []Ref{None, None}
			if need[0] {
				s := g.Add(out, g.Transpose(out))
				d := g.Sub(g.matMul(g.Lower(lbar), p, false, true), g.matMul(s, right, false, false))
				adjs[0] = g.reduceLanes(g.Lower(d), l)
			}
			if need[1] {
				adjs[1] = g.reduceLanes(g.Lower(g.matMul(l, p, false, false)), lbar)
			}
			return adjs
		}}
}

// matrixOps returns the rows of the ops that factorise and solve.
func matrixOps() map[OpCode]Op {
	system := func(args []Type, rows int) (Type, error) {
		if err := square(args); err != nil {
			return Type{}, err
		}
		if b := args[1].Shape; len(b) != 2 || b[rows] != args[0].Shape[0] {
			return Type{}, fmt.Errorf("a system of shape %v for a value of shape %v", args[0].Shape, b)
		}
		return Type{Shape: args[1].Shape}, nil
	}
	luWork := func(args []Type, _ any) int { n := args[0].Shape[0]; return n*n + n }
	return map[OpCode]Op{
		OpCholesky: {Name: "cholesky", Class: Array, Arity: 1, Shape: sameSquare,
			Eval: func(dst []float64, args [][]float64, types []Type, attr any, _ []float64) error {
				if n := types[0].Shape[0]; !kernel.Cholesky(dst, args[0], n) {
					return notPositive(args[0], n, attr)
				}
				return nil
			},
			VJP: func(g *Graph, n *Node, l, adj Ref, need []bool) []Ref {
				return []Ref{g.reduceLanes(g.Do(OpCholeskyAdjoint, nil, l, g.unclear(adj)), n.Args[0])}
			}},
		OpCholeskyAdjoint: choleskyAdjoint(),
		OpMatrixExp: {Name: "matrix exp", Class: Array, Arity: 1, Shape: sameSquare,
			Eval: func(dst []float64, args [][]float64, types []Type, _ any, work []float64) error {
				matrixExp(dst, args[0], nil, nil, types[0].Shape[0], work)
				return nil
			},
			Work: func(args []Type, _ any) int { return matrixExpWork(args[0].Shape[0]) },
			VJP: func(g *Graph, n *Node, _, adj Ref, need []bool) []Ref {
				d := g.Do(OpMatrixExpTangent, nil, g.Transpose(n.Args[0]), adj)
				return []Ref{g.reduceLanes(d, n.Args[0])}
			}},
		OpMatrixExpTangent: matrixExpTangent(),
		OpTriSolve: {Name: "triangular solve", Class: Array, Arity: 2,
			Shape: func(args []Type, attr any) (Type, error) {
				if attr.(TriAttr).Right {
					return system(args, 1)
				}
				return system(args, 0)
			},
			Eval: func(dst []float64, args [][]float64, types []Type, attr any, work []float64) error {
				copy(dst, args[1])
				if t := attr.(TriAttr); t.Right {
					triSolveRight(dst, args[0], types[0].Shape[0], t, work)
				} else {
					triSolve(dst, args[0], types[0].Shape[0], types[1].Shape[1], t, false)
				}
				return nil
			},
			Work: func(args []Type, attr any) int {
				if attr.(TriAttr).Right {
					return args[1].Size()
				}
				return 0
			},
			VJP: func(g *Graph, n *Node, x, adj Ref, need []bool) []Ref {
				t, a, b := n.Attr.(TriAttr), n.Args[0], n.Args[1]
				db := g.TriSolve(a, adj, TriAttr{t.Upper, !t.Trans, t.Right})
				da := None
				if need[0] { // the adjoint of op(A) is -B̄ Xᵀ, with Right -Xᵀ B̄
					switch p, q := db, x; {
					case t.Right && t.Trans:
						da = g.matMul(p, q, true, false)
					case t.Right:
						da = g.matMul(q, p, true, false)
					case t.Trans:
						da = g.matMul(q, p, false, true)
					default:
						da = g.matMul(p, q, false, true)
					}
					if da = g.reduceLanes(da, a); t.Upper {
						da = g.Transpose(g.Lower(g.Transpose(da)))
					} else {
						da = g.Lower(da)
					}
					da = g.Neg(da)
				}
				return []Ref{da, g.reduceLanes(db, b)}
			}},
		OpSolve: {Name: "solve", Class: Array, Arity: 2,
			Shape: func(args []Type, _ any) (Type, error) { return system(args, 0) },
			Eval: func(dst []float64, args [][]float64, types []Type, attr any, work []float64) error {
				n := types[0].Shape[0]
				lu, pivots := work[:n*n], work[n*n:]
				copy(lu, args[0])
				factorLU(lu, pivots, n)
				copy(dst, args[1])
				solveLU(dst, lu, pivots, n, types[1].Shape[1], attr.(SolveAttr).Trans)
				return nil
			},
			Work: luWork,
			VJP: func(g *Graph, n *Node, x, adj Ref, need []bool) []Ref {
				t, a, b := n.Attr.(SolveAttr), n.Args[0], n.Args[1]
				db := g.Do(OpSolve, SolveAttr{!t.Trans}, a, adj)
				da := None
				if need[0] {
					if t.Trans {
						da = g.matMul(x, db, false, true)
					} else {
						da = g.matMul(db, x, false, true)
					}
					da = g.Neg(g.reduceLanes(da, a))
				}
				return []Ref{da, g.reduceLanes(db, b)}
			}},
		OpInverse: {Name: "inverse", Class: Array, Arity: 1, Shape: sameSquare,
			Eval: func(dst []float64, args [][]float64, types []Type, _ any, work []float64) error {
				n := types[0].Shape[0]
				kernel.Invert(dst, args[0], n, n, byBLAS{}, work)
				return nil
			},
			Work: func(args []Type, _ any) int { n := args[0].Shape[0]; return kernel.InvertWork(n, n) },
			VJP: func(g *Graph, n *Node, x, adj Ref, need []bool) []Ref {
				return []Ref{g.Neg(g.matMul(g.matMul(x, adj, true, false), x, false, true))}
			}},
		OpLogAbsDet: {Name: "log |det|", Class: Array, Arity: 1, Shape: squareToScalar,
			Eval: func(dst []float64, args [][]float64, types []Type, _ any, work []float64) error {
				n := types[0].Shape[0]
				copy(work[:n*n], args[0])
				factorLU(work[:n*n], work[n*n:], n)
				dst[0] = 0
				for i := range n {
					dst[0] += routines.Log(math.Abs(work[i*n+i]))
				}
				return nil
			},
			Work: luWork,
			VJP: func(g *Graph, n *Node, _, adj Ref, need []bool) []Ref {
				return []Ref{g.Mul(adj, g.Transpose(g.Inverse(n.Args[0])))}
			}},
		OpDet: {Name: "det", Class: Array, Arity: 1, Shape: squareToScalar,
			Eval: func(dst []float64, args [][]float64, types []Type, _ any, work []float64) error {
				n := types[0].Shape[0]
				copy(work[:n*n], args[0])
				dst[0] = factorLU(work[:n*n], work[n*n:], n)
				for i := range n {
					dst[0] *= work[i*n+i]
				}
				return nil
			},
			Work: luWork,
			// For a singular matrix the result is NaN, although the derivative exists.
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				return []Ref{g.Mul(g.Mul(adj, out), g.Transpose(g.Inverse(n.Args[0])))}
			}},

		OpSVD: svdOp(),

		OpEigenSym: {Name: "symmetric eigen", Class: Array, Arity: 1,
			Shape: func(args []Type, _ any) (Type, error) {
				if err := square(args); err != nil {
					return Type{}, err
				}
				n := args[0].Shape[0]
				return Type{Shape: []int{n + n*n}}, nil
			},
			Eval: func(dst []float64, args [][]float64, types []Type, _ any, work []float64) error {
				n := types[0].Shape[0]
				return Converged(kernel.EigenSym(dst[:n], dst[n:], args[0], n, kernel.PortableEigenLoops{}, work))
			},
			Work: func(args []Type, _ any) int { return kernel.EigenWork(args[0].Shape[0]) },
			// The adjoint is V (diag(λ̄) + F∘(Vᵀ V̄)) Vᵀ with F(i,j) = 1/(λj - λi), 0 on the
			// diagonal.
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				k := g.Type(n.Args[0]).Shape[0]
				values, v := g.Slice(out, 0, []int{k}), g.Slice(out, k, []int{k, k})
				column := g.Gather(values, Index{Dims: []Dim{{N: k}, {N: k, Stride: 1}}})
				row := g.Gather(values, Index{Dims: []Dim{{N: k, Stride: 1}, {N: k}}})
				gap := g.Sub(column, row)
				f := g.Select(g.Equal(gap, g.Const(0)), g.Const(0), g.Inv(gap))
				inner := g.Mul(f, g.matMul(v, g.Slice(adj, k, []int{k, k}), true, false))
				inner = g.Add(inner, g.Scatter(g.Slice(adj, 0, []int{k}), Index{Dims: []Dim{{N: k, Stride: k + 1}}}, []int{k, k}))
				return []Ref{g.onLower(g.matMul(g.matMul(v, inner, false, false), v, false, true))}
			}},
	}
}
