package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/dense"
)

// Factorisations, triangular solves and products of matrices by package dense, where
// there is machine code and matrices are large enough. The rows of the ops are what is
// meant; results differ from theirs by roundings, but for those of symmetric
// eigendecompositions and inverses, which are the same bits.

// denseWork is the size of the work space of a block that package dense runs; 0 if it
// does not.
func (x *context) denseWork(b *block) int {
	n := b.node
	if x.p.target == nil || small(x.p.target, b) {
		return 0
	}
	a, size := b.types[0].Shape, n.Type.Size()
	switch n.Op {
	case ad.OpCholesky, ad.OpCholeskyAdjoint:
		if a[0] < fromDense {
			return 0
		}
	case ad.OpTriSolve:
		if a[0] < fromSolve || size < fromSolve*a[0] || size < fromSolution {
			return 0
		}
	case ad.OpEigenSym:
		if a[0] < fromEigen {
			return 0
		}
	case ad.OpInverse:
		if a[0] < fromInverse {
			return 0
		}
	default:
		return 0
	}
	k := x.kernels()
	b.dense = k
	switch {
	case k == nil:
		return 0
	case n.Op == ad.OpTriSolve:
		return k.SolveWork(a[0], size/a[0])
	case n.Op == ad.OpEigenSym:
		return k.EigenWork(a[0])
	case n.Op == ad.OpInverse:
		return k.InvertWork(a[0])
	}
	return k.CholeskyWork(a[0])
}

// kernels are the program's, made when the first block needs them; nil if there is no
// executable memory.
func (x *context) kernels() *dense.Kernels {
	if x.p.dense == nil {
		x.p.dense = dense.New(x.p.target)
	}
	return x.p.dense
}

// productWork is denseWork of a product of matrices.
func (x *context) productWork(b *block) int {
	s := dimensions(b)
	terms := s.r * s.c * s.k
	large := min(s.r, s.c, s.k) >= fromProduct && terms >= fromProducts || s.transA && s.transB && terms >= fromBoth
	flat := s.transB && min(s.r, s.c) >= fromProduct && 1 < s.k && s.k < fromProduct
	if x.p.target == nil || !large && !flat {
		return 0
	}
	if b.dense = x.kernels(); b.dense == nil {
		return 0
	}
	return b.dense.ProductWork(s.r, s.k)
}

// denseEval is the evaluation of the block's op, for one lane.
func (b *block) denseEval(dst []float64, args [][]float64, types []ad.Type, attr any, work []float64) error {
	n := types[0].Shape[0]
	switch b.node.Op {
	case ad.OpCholesky:
		if !b.dense.Cholesky(dst, args[0], n, work) { // the row says why, or knows better
			return b.node.Op.Row().Eval(dst, args, types, attr, work)
		}
	case ad.OpCholeskyAdjoint:
		b.dense.CholeskyAdjoint(dst, args[0], args[1], n, work)
	case ad.OpEigenSym:
		return ad.Converged(b.dense.EigenSym(dst[:n], dst[n:], args[0], n, work))
	case ad.OpInverse:
		b.dense.Invert(dst, args[0], n, work)
	case ad.OpTriSolve:
		t := attr.(ad.TriAttr)
		b.dense.Solve(dst, args[0], args[1], n, len(dst)/n, t.Upper, t.Trans, t.Right, work)
	}
	return nil
}
