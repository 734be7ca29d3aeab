package ad

import (
	"errors"
	"fmt"

	"github.com/ppl-lang/ppl/internal/sparse"
)

// SparseAttr is the factor's pattern of the ops on sparse matrices, and how messages name the
// matrix.
type SparseAttr struct {
	CholeskyAttr
	Factor *sparse.Factor
	Trans  bool // of OpSparseSolve: solve Lᵀ x = b
}

// AppendKey implements Keyed.
func (a SparseAttr) AppendKey(b []byte) []byte {
	return fmt.Appendf(b, "%p %v", a.Factor, a.Trans)
}

// SparseCholesky returns the values of the factor L of a symmetric matrix with the values a in its
// lower triangle, in the order of the positions that the pattern f was made from.
func (g *Graph) SparseCholesky(a Ref, f *sparse.Factor, name CholeskyAttr) Ref {
	return g.Do(OpSparseCholesky, SparseAttr{CholeskyAttr: name, Factor: f}, a)
}

// SparseLogDet returns log det A of the matrix with the factor l.
func (g *Graph) SparseLogDet(l Ref, f *sparse.Factor) Ref {
	return g.Scale(2, g.Sum(g.Log(g.Gather(l, Index{Dims: []Dim{{N: f.Dim, Table: f.Start[:f.Dim]}}}))))
}

// SparseSolve returns A⁻¹ b for a vector or the columns of a matrix, and the factor l of A.
func (g *Graph) SparseSolve(l, b Ref, f *sparse.Factor) Ref {
	shape := g.Type(b).Shape
	rows := func(x Ref, order []int32) Ref {
		if len(shape) == 1 {
			return g.Gather(x, Index{Dims: []Dim{{N: f.Dim, Table: order}}})
		}
		table := make([]int32, f.Dim)
		for i, o := range order {
			table[i] = o * int32(shape[1])
		}
		return g.Gather(x, Index{Dims: []Dim{{N: f.Dim, Table: table}, {N: shape[1], Stride: 1}}})
	}
	x := g.Do(OpSparseSolve, SparseAttr{Factor: f}, l, rows(b, f.Order))
	return rows(g.Do(OpSparseSolve, SparseAttr{Factor: f, Trans: true}, l, x), f.Place)
}

// sparsePlaces returns the positions in a Dim×Dim matrix, in the order of elimination, of the
// values of the factor, or of the matrix.
func sparsePlaces(f *sparse.Factor, factor bool) Index {
	at := make([]int32, f.Len())
	for j := range f.Dim {
		for k := f.Start[j]; k < f.Start[j+1]; k++ {
			at[k] = f.Rows[k]*int32(f.Dim) + int32(j)
		}
	}
	if !factor {
		of := make([]int32, len(f.At))
		for k, i := range f.At {
			of[k] = at[i]
		}
		at = of
	}
	return Index{Dims: []Dim{{N: len(at), Table: at}}}
}

// sparseOps returns the rows of ops on sparse matrices.
func sparseOps() map[OpCode]Op {
	of := func(attr any) *sparse.Factor { return attr.(SparseAttr).Factor }
	size := func(t Type, n int) error {
		if t.Size() != n || len(t.Shape) != 1 {
			return fmt.Errorf("%v values of a sparse matrix with %d", t.Shape, n)
		}
		return nil
	}
	return map[OpCode]Op{
		OpSparseCholesky: {Name: "sparse cholesky", Class: Array, Arity: 1,
			Shape: func(args []Type, attr any) (Type, error) {
				return Type{Shape: []int{of(attr).Len()}}, size(args[0], len(of(attr).At))
			},
			Eval: func(dst []float64, args [][]float64, _ []Type, attr any, work []float64) error {
				f := of(attr)
				clear(dst)
				clear(work)
				for k, i := range f.At {
					dst[i] = args[0][k]
				}
				if _, failed, pivot := f.Cholesky(dst, work); failed >= 0 {
					return &NotPositiveError{attr.(SparseAttr).CholeskyAttr, int(f.Order[failed]) + 1, pivot}
				}
				return nil
			},
			Work: func(_ []Type, attr any) int { return of(attr).Dim },
			VJP: func(g *Graph, n *Node, l, adj Ref, _ []bool) []Ref {
				return []Ref{g.reduceLanes(g.Do(OpSparseCholeskyAdjoint, n.Attr, l, adj), n.Args[0])}
			}},
		OpSparseCholeskyAdjoint: {Name: "adjoint of sparse cholesky", Class: Array, Arity: 2, Total: true,
			Shape: func(args []Type, attr any) (Type, error) {
				return Type{Shape: []int{len(of(attr).At)}}, errors.Join(size(args[0], of(attr).Len()), size(args[1], of(attr).Len()))
			},
			Eval: func(dst []float64, args [][]float64, _ []Type, attr any, work []float64) error {
				f := of(attr)
				column, adjoint := work[:f.Dim], work[f.Dim:]
				clear(column)
				copy(adjoint, args[1])
				f.Adjoint(args[0], adjoint, column)
				for k, i := range f.At {
					dst[k] = adjoint[i]
				}
				return nil
			},
			Work: func(_ []Type, attr any) int { return of(attr).Dim + of(attr).Len() },
			// The derivative is that of the op on ordinary matrices.
			VJP: func(g *Graph, n *Node, _, adj Ref, need []bool) []Ref {
				f := of(n.Attr)
				square, places, own := []int{f.Dim, f.Dim}, sparsePlaces(f, true), sparsePlaces(f, false)
				l, lbar := g.Scatter(n.Args[0], places, square), g.Scatter(n.Args[1], places, square)
				d := g.Do(OpCholeskyAdjoint, nil, l, lbar)
				of := g.Nodes[d]
				adjs := OpCholeskyAdjoint.Row().VJP(g, &of, d, g.Scatter(adj, own, square), need)
				for i, a := range adjs {
					if a != None {
						adjs[i] = g.reduceLanes(g.Gather(a, places), n.Args[i])
					}
				}
				return adjs
			}},
		OpSparseSolve: {Name: "sparse triangular solve", Class: Array, Arity: 2, Total: true,
			Shape: func(args []Type, attr any) (Type, error) {
				f, b := of(attr), args[1].Shape
				if len(b) < 1 || len(b) > 2 || b[0] != f.Dim {
					return Type{}, fmt.Errorf("a sparse system of %d rows for a value of shape %v", f.Dim, b)
				}
				return Type{Shape: b}, size(args[0], f.Len())
			},
			Eval: func(dst []float64, args [][]float64, types []Type, attr any, _ []float64) error {
				f, n := of(attr), 1
				if s := types[1].Shape; len(s) == 2 {
					n = s[1]
				}
				copy(dst, args[1])
				if attr.(SparseAttr).Trans {
					f.Backward(args[0], dst, n)
				} else {
					f.Forward(args[0], dst, n)
				}
				return nil
			},
			VJP: func(g *Graph, n *Node, x, adj Ref, need []bool) []Ref {
				a := n.Attr.(SparseAttr)
				f, l, b := a.Factor, n.Args[0], n.Args[1]
				back := a
				back.Trans = !a.Trans
				db := g.Do(OpSparseSolve, back, l, adj)
				dl := None
				if need[0] { // the adjoint of L is -B̄ Xᵀ, with Trans -X B̄ᵀ, where L has values
					p, q := db, x
					if a.Trans {
						p, q = x, db
					}
					dl = g.Neg(g.reduceLanes(g.sparseOuter(f, p, q), l))
				}
				return []Ref{dl, g.reduceLanes(db, b)}
			}},
	}
}

// sparseOuter returns the elements of p qᵀ where the factor has values.
func (g *Graph) sparseOuter(f *sparse.Factor, p, q Ref) Ref {
	columns := make([]int32, f.Len())
	for j := range f.Dim {
		for k := f.Start[j]; k < f.Start[j+1]; k++ {
			columns[k] = int32(j)
		}
	}
	s := g.Type(p).Shape
	if len(s) == 1 {
		at := func(x Ref, table []int32) Ref { return g.Gather(x, Index{Dims: []Dim{{N: len(table), Table: table}}}) }
		return g.Mul(at(p, f.Rows), at(q, columns))
	}
	at := func(x Ref, table []int32) Ref {
		scaled := make([]int32, len(table))
		for k, i := range table {
			scaled[k] = i * int32(s[1])
		}
		return g.Gather(x, Index{Dims: []Dim{{N: len(table), Table: scaled}, {N: s[1], Stride: 1}}})
	}
	return g.Scatter(g.Mul(at(p, f.Rows), at(q, columns)), Index{Dims: []Dim{{N: f.Len(), Stride: 1}, {N: s[1]}}}, []int{f.Len()})
}
