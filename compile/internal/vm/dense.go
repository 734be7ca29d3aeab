package vm

import (
	"github.com/ppl-lang/ppl/compile/internal/dense"
)

// Factorisations, triangular solves and products of matrices by package dense, where
// there is machine code and matrices are large enough. The rows of the ops are what is
// meant; results differ from theirs by roundings, but for those of symmetric
// eigendecompositions and inverses, which are the same bits.

// takeDense has package dense run a block where that is faster.
func (x *context) takeDense(b *block) {
	if row := b.array; x.p.target != nil && row.large != nil && !small(x.p.target, b) && row.large(b) {
		b.dense = x.kernels()
	}
}

// sharing is the team of a machine as package dense sees it.
type sharing struct {
	m   *Machine
	own int32 // view of the memory of a worker's own
	p   dense.Parts
}

// Each implements [dense.Team].
func (s *sharing) Each(n int, p dense.Parts) {
	s.p = p
	s.m.team.each(s.m, s, n)
}

// part implements parts.
func (s *sharing) part(m *Machine, k int) { s.p.Part(k, m.views[s.own]) }

// kernels are the program's, made when the first block needs them; nil if there is no
// executable memory.
func (x *context) kernels() *dense.Kernels {
	if x.p.dense == nil {
		x.p.dense = dense.New(x.p.target)
	}
	return x.p.dense
}

// productWork is the size of the work space that package dense takes for a product of matrices; 0
// if it does not run it.
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
