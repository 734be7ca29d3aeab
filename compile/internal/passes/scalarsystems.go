package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// replaceSystems is the part of scalar replacement that runs after the density has been
// differentiated. It writes out systems of few equations, as elimination with pivots. Solutions
// with the same matrix, transposed or not, share its factors: an implicit solver of differential
// equations solves several systems with each matrix, and its derivative as many again. It does not
// run earlier because the derivative of a solution is another solution, and the derivative of the
// expressions made here would be much longer.
func replaceSystems(g *ad.Graph, o *Options) *ad.Graph {
	if !has(g, ad.OpSolve) {
		return g
	}
	factorised := map[ad.Ref]*factors{} // by matrix
	return rebuild(o, g, replaceSystems, func(w *ad.Rewriter, _ ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if !isSystem(g, n) {
			return w.Same(n, attr, args)
		}
		f := factorised[args[0]]
		if f == nil {
			f = factorise(w.To, args[0])
			factorised[args[0]] = f
		}
		return f.solve(w.To, args[1], attr.(ad.SolveAttr).Trans)
	})
}

// isSystem reports whether a node is a system that is written out.
func isSystem(g *ad.Graph, n *ad.Node) bool {
	if n.Op != ad.OpSolve {
		return false
	}
	s := g.Type(n.Args[1]).Shape
	if s[0] < 2 || s[0] > maxShort || s[1] == 0 || s[1] > maxShort {
		return false
	}
	written := ad.NewGraph()
	f := factorise(written, written.Input(ad.Type{Shape: []int{s[0], s[0]}}))
	written.Output(f.solve(written, written.Input(ad.Type{Shape: s}), false))
	each := float64(s[0] * s[0])
	return billOf(written).beats(bill{work: solveNS + opNS*each*(float64(s[0])/3+2*float64(s[1]))}, maxCode)
}

// factors are the LU factors of a matrix with exchanged rows. rows holds U on and above the
// diagonal, and L below it, whose diagonal is all ones.
type factors struct {
	rows     [][]ad.Ref
	inverses []ad.Ref // of the diagonal of U
	swaps    []swap   // in order
}

// swap exchanges rows i and j if do is true at run time.
type swap struct {
	i, j int
	do   ad.Ref
}

func (s *swap) exchange(g *ad.Graph, x, y *ad.Ref) {
	*x, *y = g.Select(s.do, *y, *x), g.Select(s.do, *x, *y)
}

func factorise(g *ad.Graph, a ad.Ref) *factors {
	n := g.Type(a).Shape[0]
	f := &factors{rows: make([][]ad.Ref, n)}
	for i := range n {
		for j := range n {
			f.rows[i] = append(f.rows[i], g.Slice(a, i*n+j, nil))
		}
	}
	size := func(x ad.Ref) ad.Ref { return g.Do(ad.OpAbs, nil, x) }
	for k := range n {
		for i := k + 1; i < n; i++ { // the largest element of the column moves to the diagonal
			s := swap{k, i, g.Less(size(f.rows[k][k]), size(f.rows[i][k]))}
			f.swaps = append(f.swaps, s)
			for j := range n {
				s.exchange(g, &f.rows[k][j], &f.rows[i][j])
			}
		}
		f.inverses = append(f.inverses, g.Do(ad.OpInv, nil, f.rows[k][k]))
		for i := k + 1; i < n; i++ {
			f.rows[i][k] = g.Mul(f.rows[i][k], f.inverses[k])
			for j := k + 1; j < n; j++ {
				f.rows[i][j] = g.Sub(f.rows[i][j], g.Mul(f.rows[i][k], f.rows[k][j]))
			}
		}
	}
	return f
}

// solve returns A⁻¹b, or A⁻ᵀb with trans.
func (f *factors) solve(g *ad.Graph, b ad.Ref, trans bool) ad.Ref {
	n, shape := len(f.rows), g.Type(b).Shape
	var row []int // a row of b
	if shape[1] > 1 {
		row = []int{shape[1]}
	}
	x := make([]ad.Ref, n)
	for i := range x {
		x[i] = g.Slice(b, i*shape[1], row)
	}
	less := func(i, j int, c ad.Ref) { x[i] = g.Sub(x[i], g.Mul(c, x[j])) }
	if trans {
		for i := range n {
			for j := range i {
				less(i, j, f.rows[j][i])
			}
			x[i] = g.Mul(x[i], f.inverses[i])
		}
		for i := n - 1; i >= 0; i-- {
			for j := i + 1; j < n; j++ {
				less(i, j, f.rows[j][i])
			}
		}
		for _, s := range slices.Backward(f.swaps) {
			s.exchange(g, &x[s.i], &x[s.j])
		}
	} else {
		for _, s := range f.swaps {
			s.exchange(g, &x[s.i], &x[s.j])
		}
		for i := range n {
			for j := range i {
				less(i, j, f.rows[i][j])
			}
		}
		for i := n - 1; i >= 0; i-- {
			for j := i + 1; j < n; j++ {
				less(i, j, f.rows[i][j])
			}
			x[i] = g.Mul(x[i], f.inverses[i])
		}
	}
	return g.Reshape(g.Concat(x...), shape)
}
