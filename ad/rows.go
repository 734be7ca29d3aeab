package ad

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// structuralOps returns the rows of the ops that move and sum elements.
func structuralOps() map[OpCode]Op {
	return map[OpCode]Op{
		OpGather: {Name: "gather", Class: Linear, Arity: 1,
			Shape: func(args []Type, attr any) (Type, error) {
				ix := attr.(Index)
				if lo, hi, ok := ix.bounds(); ok && (lo < 0 || hi >= args[0].Size()) {
					return Type{}, fmt.Errorf("elements %d to %d of a value of %d", lo, hi, args[0].Size())
				}
				return Type{Shape: ix.Shape()}, nil
			},
			Eval: func(dst []float64, args [][]float64, _ []Type, attr any, _ []float64) error {
				gather(dst, args[0], attr.(Index))
				return nil
			},
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				return []Ref{g.Scatter(adj, n.Attr.(Index), g.Type(n.Args[0]).Shape)}
			}},
		OpScatter: {Name: "scatter", Class: Linear, Arity: 1,
			Shape: func(args []Type, attr any) (Type, error) {
				s := attr.(scatterAttr)
				to := Type{Shape: s.to}
				if s.Size() != args[0].Size() {
					return Type{}, fmt.Errorf("a map of %d positions for a value of %d", s.Size(), args[0].Size())
				}
				if lo, hi, ok := s.bounds(); ok && (lo < 0 || hi >= to.Size()) {
					return Type{}, fmt.Errorf("elements %d to %d of a result of %d", lo, hi, to.Size())
				}
				return to, nil
			},
			Eval: func(dst []float64, args [][]float64, _ []Type, attr any, _ []float64) error {
				clear(dst)
				scatter(dst, args[0], attr.(scatterAttr).Index)
				return nil
			},
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				back := g.Gather(adj, n.Attr.(scatterAttr).Index)
				return []Ref{g.Reshape(back, g.Type(n.Args[0]).Shape)}
			}},
		OpReshape: {Name: "reshape", Class: Linear, Arity: 1,
			Shape: func(args []Type, attr any) (Type, error) {
				t := Type{Shape: attr.(shapeAttr).shape}
				if t.Size() != args[0].Size() {
					return t, fmt.Errorf("shape %v for a value of shape %v", t.Shape, args[0].Shape)
				}
				return t, nil
			},
			Eval: func(dst []float64, args [][]float64, _ []Type, _ any, _ []float64) error {
				copy(dst, args[0])
				return nil
			},
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				return []Ref{g.Reshape(adj, g.Type(n.Args[0]).Shape)}
			}},
		OpConcat: {Name: "concat", Class: Linear, Arity: -1,
			Shape: func(args []Type, _ any) (Type, error) {
				n := 0
				for _, a := range args {
					n += a.Size()
				}
				return Type{Shape: []int{n}}, nil
			},
			Eval: func(dst []float64, args [][]float64, _ []Type, _ any, _ []float64) error {
				n := 0
				for _, a := range args {
					n += copy(dst[n:], a)
				}
				return nil
			},
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				adjs, offset := make([]Ref, len(n.Args)), 0
				for i, a := range n.Args {
					t := g.Type(a)
					adjs[i] = None
					if need[i] {
						adjs[i] = g.ReduceTo(g.Slice(adj, offset, t.Shape), t)
					}
					offset += t.Size()
				}
				return adjs
			}},
		OpLane: {Name: "lane", Class: Linear, Arity: 1, OwnLanes: true,
			Shape: func(args []Type, _ any) (Type, error) {
				a := args[0]
				if a.Lanes > 0 || len(a.Shape) == 0 || a.Shape[0] == 0 {
					return a, fmt.Errorf("lanes from a value of type %v", a)
				}
				return Type{Lanes: a.Shape[0], Shape: a.Shape[1:]}, nil
			},
			Eval: copyEval,
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				return []Ref{g.Unlane(adj)}
			}},
		OpUnlane: {Name: "unlane", Class: Linear, Arity: 1, OwnLanes: true,
			Shape: func(args []Type, _ any) (Type, error) {
				a := args[0]
				if a.Lanes == 0 {
					return a, errors.New("no lanes")
				}
				return Type{Shape: append([]int{a.Lanes}, a.Shape...)}, nil
			},
			Eval: copyEval,
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				return []Ref{g.Lane(adj)}
			}},
	}
}

func copyEval(dst []float64, args [][]float64, _ []Type, _ any, _ []float64) error {
	copy(dst, args[0])
	return nil
}

// MatMulAttr says which operands of a matrix product are transposed.
type MatMulAttr struct{ TransA, TransB bool }

// AppendKey implements Keyed.
func (m MatMulAttr) AppendKey(b []byte) []byte {
	return strconv.AppendBool(strconv.AppendBool(b, m.TransA), m.TransB)
}

// dims returns the sizes of the product: the rows and columns of the result, and the length of the
// sums.
func (m MatMulAttr) dims(a, b []int) (r, c, k int, err error) {
	if len(a) != 2 || len(b) != 2 {
		return 0, 0, 0, fmt.Errorf("matrix product of values of shapes %v and %v", a, b)
	}
	r, k, k2, c := a[0], a[1], b[0], b[1]
	if m.TransA {
		r, k = k, r
	}
	if m.TransB {
		k2, c = c, k2
	}
	if k != k2 {
		return 0, 0, 0, fmt.Errorf("matrix product of values of shapes %v and %v", a, b)
	}
	return r, c, k, nil
}

// arrayOps returns the rows of the ops on whole arrays, except matrix decompositions.
func arrayOps() map[OpCode]Op {
	return map[OpCode]Op{
		OpMatMul: {Name: "matmul", Class: Array, Arity: 2, Total: true,
			Shape: func(args []Type, attr any) (Type, error) {
				r, c, _, err := attr.(MatMulAttr).dims(args[0].Shape, args[1].Shape)
				return Type{Shape: []int{r, c}}, err
			},
			Eval: func(dst []float64, args [][]float64, types []Type, attr any, _ []float64) error {
				matMul(dst, args[0], args[1], types[0].Shape, types[1].Shape, attr.(MatMulAttr))
				return nil
			},
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				m, a, b := n.Attr.(MatMulAttr), n.Args[0], n.Args[1]
				da, db := None, None
				if need[0] { // for C = A B, dA = dC Bᵀ; if A is given transposed, dA = B dCᵀ
					if m.TransA {
						da = g.matMul(b, adj, m.TransB, true)
					} else {
						da = g.matMul(adj, b, false, !m.TransB)
					}
					da = g.reduceLanes(da, a)
				}
				if need[1] {
					if m.TransB {
						db = g.matMul(adj, a, true, m.TransA)
					} else {
						db = g.matMul(a, adj, !m.TransA, false)
					}
					db = g.reduceLanes(db, b)
				}
				return []Ref{da, db}
			}},
		OpLogSumExp: {Name: "log_sum_exp", Class: Array, Arity: 1, Total: true,
			Shape: lastDimReduced,
			Eval: func(dst []float64, args [][]float64, types []Type, _ any, _ []float64) error {
				k := types[0].Shape[len(types[0].Shape)-1]
				for i := range dst {
					dst[i] = logSumExp(args[0][i*k : (i+1)*k])
				}
				return nil
			},
			// The derivative is softmax(x) = exp(x - y). If y is infinite, because all x are -Inf
			// or one is +Inf, the derivative is defined as 0.
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				x := n.Args[0]
				shape := g.Type(x).Shape
				y := g.alongLast(out, shape)
				p := g.Select(g.Do(OpIsInf, nil, y), g.Const(0), g.Exp(g.Sub(x, y)))
				return []Ref{g.times(g.alongLast(adj, shape), p)}
			}},
		OpMaxOf: {Name: "max", Class: Array, Arity: 1, Total: true,
			Shape: lastDimReduced,
			Eval: func(dst []float64, args [][]float64, types []Type, _ any, _ []float64) error {
				k := types[0].Shape[len(types[0].Shape)-1]
				for i := range dst {
					m := math.Inf(-1)
					for _, v := range args[0][i*k : (i+1)*k] {
						if v > m || math.IsNaN(v) {
							m = v
						}
					}
					dst[i] = m
				}
				return nil
			},
			// If several elements are equal, the first one gets the adjoint, as in Stan.
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				x := n.Args[0]
				shape := g.Type(x).Shape
				k := shape[len(shape)-1]
				at := make([]float64, k)
				for i := range at {
					at[i] = float64(i)
				}
				places := g.Gather(g.ConstArray(Type{Shape: []int{k}}, at), lastOf(shape))
				hit := g.Equal(g.alongLast(g.Do(OpFirstMax, nil, x), shape), places)
				return []Ref{g.Select(hit, g.alongLast(adj, shape), g.Const(0))}
			}},
	}
}

// PutAttr is the attribute of OpPut: the shape of the result.
type PutAttr struct{ Shape []int }

// Take returns the elements of x, as a flat array, at the positions i, in the shape of i. Positions
// are computed numbers, counted from 0. A position outside x rejects the evaluation.
func (g *Graph) Take(x, i Ref) Ref { return g.Do(OpTake, nil, x, i) }

// Replace returns x in which the elements at the positions i are replaced by those of v. Positions
// are computed numbers, counted from 0 in x as a flat array. v and i have the same shape. If
// several positions are equal, the last element counts. Positions outside x are ignored, so the
// caller must add a check of the positions.
func (g *Graph) Replace(x, v, i Ref) Ref { return g.Do(OpReplace, nil, x, v, i) }

// takeOps returns the rows of the ops on computed positions.
func takeOps() map[OpCode]Op {
	return map[OpCode]Op{
		OpTake: {Name: "take", Class: Array, Arity: 2,
			Shape: func(args []Type, _ any) (Type, error) { return Type{Shape: args[1].Shape}, nil },
			Eval: func(dst []float64, args [][]float64, _ []Type, _ any, _ []float64) error {
				for k, p := range args[1] {
					i := int(p)
					if i < 0 || i >= len(args[0]) {
						return fmt.Errorf("index %d is out of range; there are %d elements", i+1, len(args[0]))
					}
					dst[k] = args[0][i]
				}
				return nil
			},
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				return []Ref{g.putBack(adj, n.Args[1], n.Args[0]), None}
			}},
		OpPut: {Name: "put", Class: Array, Arity: 2, Total: true,
			Shape: func(args []Type, attr any) (Type, error) {
				if !shapeEqual(args[0].Shape, args[1].Shape) {
					return Type{}, fmt.Errorf("values of shape %v for positions of shape %v", args[0].Shape, args[1].Shape)
				}
				return Type{Shape: attr.(PutAttr).Shape}, nil
			},
			Eval: func(dst []float64, args [][]float64, _ []Type, _ any, _ []float64) error {
				clear(dst)
				for k, p := range args[1] {
					if i := int(p); i >= 0 && i < len(dst) {
						dst[i] += args[0][k]
					}
				}
				return nil
			},
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				return []Ref{g.reduceLanes(g.Take(adj, n.Args[1]), n.Args[0]), None}
			}},
		OpReplace: {Name: "replace", Class: Array, Arity: 3, Total: true,
			Shape: writtenShape,
			Eval: func(dst []float64, args [][]float64, _ []Type, _ any, _ []float64) error {
				copyTo(dst, args[0])
				for k, p := range args[2] {
					if i := int(p); i >= 0 && i < len(dst) {
						dst[i] = args[1][k]
					}
				}
				return nil
			},
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				adjs := []Ref{None, None, None}
				// Before the array is overwritten, so that the write can be done in place.
				if need[1] {
					d := g.Take(adj, n.Args[2])
					// If several positions are equal, only the last element was written.
					if v := g.Type(n.Args[1]); v.Size() > 1 {
						k := make([]float64, v.Size())
						for i := range k {
							k[i] = float64(i)
						}
						order := g.ConstArray(Type{Shape: v.Shape}, k)
						last := g.Replace(g.Broadcast(g.Const(-1), g.Type(n.Args[0]).Shape), order, n.Args[2])
						d = g.Select(g.Equal(g.Take(last, n.Args[2]), order), d, g.Const(0))
					}
					adjs[1] = g.reduceLanes(d, n.Args[1])
				}
				if need[0] {
					zeros := g.Broadcast(g.Const(0), g.Type(n.Args[1]).Shape)
					adjs[0] = g.reduceLanes(g.Do(OpReplace, nil, adj, zeros, n.Args[2]), n.Args[0])
				}
				return adjs
			}},
		OpAddAt: {Name: "add_at", Class: Array, Arity: 3, Total: true,
			Shape: writtenShape,
			Eval: func(dst []float64, args [][]float64, _ []Type, _ any, _ []float64) error {
				copyTo(dst, args[0])
				for k, p := range args[2] {
					if i := int(p); i >= 0 && i < len(dst) {
						dst[i] += args[1][k]
					}
				}
				return nil
			},
			VJP: func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
				adjs := []Ref{g.reduceLanes(adj, n.Args[0]), None, None}
				if need[1] {
					adjs[1] = g.reduceLanes(g.Take(adj, n.Args[2]), n.Args[1])
				}
				return adjs
			}},
	}
}

// copyTo copies src to dst, unless the op computes its value in place of its argument and dst is
// src.
func copyTo(dst, src []float64) {
	if len(dst) > 0 && &dst[0] != &src[0] {
		copy(dst, src)
	}
}

// putBack returns the adjoint of the array `of`, given the adjoints adj of its elements at
// positions i. If several lanes read one array, their adjoints are added one lane after another,
// because a copy of the array for each lane would take too much memory.
func (g *Graph) putBack(adj, i, of Ref) Ref {
	t := g.Type(of)
	if lanes := max(g.Type(adj).Lanes, g.Type(i).Lanes); t.Lanes == 0 && lanes > 0 {
		adj, i = g.Unlane(g.Spread(adj, lanes)), g.Unlane(g.Spread(i, lanes))
	}
	return g.Do(OpPut, PutAttr{t.Shape}, adj, i)
}

// addTo returns the sum of an adjoint and a term of the same type. If the term adds to elements at
// some positions only, the sum does so too, and costs these elements instead of the whole array.
func (g *Graph) addTo(adj, term Ref) Ref {
	for _, p := range [][2]Ref{{adj, term}, {term, adj}} {
		if n := &g.Nodes[p[1]]; n.Op == OpPut && n.Type.Equal(g.Type(p[0])) && n.Type.Size() >= minSparse {
			return g.Do(OpAddAt, nil, p[0], n.Args[0], n.Args[1])
		}
	}
	if n := &g.Nodes[term]; n.Op == OpScatter && n.Type.Lanes == 0 && n.Type.Equal(g.Type(adj)) && g.updated(adj) &&
		minRarity*g.Type(n.Args[0]).Total() <= n.Type.Size() {
		return g.Do(OpAddAt, nil, adj, g.Reshape(n.Args[0], []int{g.Type(n.Args[0]).Size()}), g.positions(n.Attr.(scatterAttr).Index))
	}
	return g.Add(adj, term)
}

// positions returns the elements that an index selects, as a constant vector of numbers.
func (g *Graph) positions(x Index) Ref {
	at := make([]float64, x.Size())
	x.Each(func(pos, elem int) { at[pos] = float64(elem) })
	return g.ConstArray(Type{Shape: []int{len(at)}}, at)
}

// updated reports whether r is an input array of a body, or one in which elements were replaced.
func (g *Graph) updated(r Ref) bool {
	for {
		switch n := &g.Nodes[r]; n.Op {
		case OpReplace, OpAddAt:
			r = n.Args[0]
		default:
			return n.Op == OpInput && n.Type.Size() >= minSparse
		}
	}
}

func lastDimReduced(args []Type, _ any) (Type, error) {
	s := args[0].Shape
	if len(s) == 0 {
		return Type{}, errors.New("a scalar has no last dimension")
	}
	return Type{Shape: s[:len(s)-1]}, nil
}

// lastMap maps each position of an array of the given shape to the corresponding position of the
// array without its last dimension.
func lastMap(shape []int) Index {
	ix := contiguous(shape[:len(shape)-1], 0)
	ix.Dims = append(ix.Dims, Dim{N: shape[len(shape)-1]})
	return ix
}

// lastOf maps each position of an array of the given shape to its position along the last
// dimension.
func lastOf(shape []int) Index {
	ix := Index{}
	for i, n := range shape {
		d := Dim{N: n}
		if i == len(shape)-1 {
			d.Stride = 1
		}
		ix.Dims = append(ix.Dims, d)
	}
	return ix
}

// alongLast repeats y along the last dimension of shape, which y does not have.
func (g *Graph) alongLast(y Ref, shape []int) Ref { return g.Gather(y, lastMap(shape)) }

// sumLast sums x over its last dimension.
func (g *Graph) sumLast(x Ref) Ref {
	shape := g.Type(x).Shape
	return g.Scatter(x, lastMap(shape), shape[:len(shape)-1])
}

// reduceLanes sums an adjoint over lanes if its value, of, has no lanes.
func (g *Graph) reduceLanes(adj, of Ref) Ref {
	if g.Type(of).Lanes == 0 {
		return g.SumLanes(adj)
	}
	return adj
}

// LogSumExp returns log Σ exp over the last dimension.
func (g *Graph) LogSumExp(x Ref) Ref { return g.Do(OpLogSumExp, nil, x) }

// MatMul returns the matrix product of values of shapes [r k] and [k c].
func (g *Graph) MatMul(a, b Ref) Ref { return g.matMul(a, b, false, false) }

// MatVec returns the product of a matrix [r k] and a vector [k], of shape [r].
func (g *Graph) MatVec(a, v Ref) Ref {
	n := g.Type(v).Size()
	p := g.matMul(a, g.Reshape(v, []int{n, 1}), false, false)
	return g.Reshape(p, []int{g.Type(p).Shape[0]})
}

// VecMat returns the product of a vector [k] and a matrix [k c], of shape [c].
func (g *Graph) VecMat(v, a Ref) Ref {
	n := g.Type(v).Size()
	p := g.matMul(g.Reshape(v, []int{1, n}), a, false, false)
	return g.Reshape(p, []int{g.Type(p).Shape[1]})
}

// Dot returns the inner product of two vectors.
func (g *Graph) Dot(a, b Ref) Ref {
	if la, lb := g.Type(a).Lanes, g.Type(b).Lanes; (la > 0) != (lb > 0) {
		// Rows of lanes times one vector: a matrix times a vector.
		if la == 0 {
			a, b = b, a
		}
		return g.Lane(g.MatVec(g.Unlane(a), b))
	}
	return g.Sum(g.Mul(a, b))
}

// matMul returns op(a) op(b). If only one side has lanes, these become rows, so that one large
// product replaces many small ones.
func (g *Graph) matMul(a, b Ref, ta, tb bool) Ref {
	a, ta = g.untransposed(a, ta)
	b, tb = g.untransposed(b, tb)
	A, B := g.Type(a), g.Type(b)
	if A.Lanes > 0 && B.Lanes == 0 && !ta && len(A.Shape) == 2 {
		u := g.Unlane(a)
		rows := g.Reshape(u, []int{A.Lanes * A.Shape[0], A.Shape[1]})
		p := g.matMul(rows, b, false, tb)
		return g.Lane(g.Reshape(p, []int{A.Lanes, A.Shape[0], g.Type(p).Shape[1]}))
	}
	if B.Lanes > 0 && A.Lanes == 0 && len(B.Shape) == 2 {
		k, c := B.Shape[0], B.Shape[1]
		if tb {
			k, c = c, k
		}
		// A matrix times one vector per lane: the matrix whose rows are the vectors, times its
		// transpose.
		if c == 1 {
			rows := g.Reshape(g.Unlane(b), []int{B.Lanes, k})
			p := g.matMul(rows, a, false, !ta)
			return g.Lane(g.Reshape(p, []int{B.Lanes, g.Type(p).Shape[1], 1}))
		}
	}
	// A symmetric constant is its own transpose. Without the flag, the product in a quadratic form
	// and the one in its derivative are the same node.
	ta, tb = ta && !g.symmetric(a), tb && !g.symmetric(b)
	return g.Do(OpMatMul, MatMulAttr{ta, tb}, a, b)
}

// symmetric reports whether x is known to be a symmetric matrix.
func (g *Graph) symmetric(x Ref) bool {
	t := g.Type(x)
	if t.Lanes > 0 || len(t.Shape) != 2 || t.Shape[0] != t.Shape[1] {
		return false
	}
	v, known := g.Value(x)
	if !known {
		return false
	}
	n := t.Shape[0]
	for i := range n {
		for j := range i {
			if v[i*n+j] != v[j*n+i] {
				return false
			}
		}
	}
	return true
}

// untransposed returns the source of a transposition and the inverted flag. It returns other values
// unchanged. With lanes, matMul can then turn lanes into rows.
func (g *Graph) untransposed(a Ref, trans bool) (Ref, bool) {
	n := &g.Nodes[a]
	if n.Op != OpGather || n.Type.Lanes > 0 {
		return a, trans
	}
	d, s := n.Attr.(Index).Dims, g.Type(n.Args[0]).Shape
	if n.Attr.(Index).Offset == 0 && len(d) == 2 && len(s) == 2 && d[0].Table == nil && d[1].Table == nil &&
		d[0].N == s[1] && d[1].N == s[0] && d[0].Stride == 1 && d[1].Stride == s[1] {
		return n.Args[0], !trans
	}
	return a, trans
}

// writtenShape is the type rule of ops that write values at positions of an array.
func writtenShape(args []Type, _ any) (Type, error) {
	if !shapeEqual(args[1].Shape, args[2].Shape) {
		return Type{}, fmt.Errorf("values of shape %v for positions of shape %v", args[1].Shape, args[2].Shape)
	}
	return Type{Shape: args[0].Shape}, nil
}
