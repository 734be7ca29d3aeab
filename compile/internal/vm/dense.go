package vm

import (
	"github.com/ppl-lang/ppl/compile/internal/dense"
)

// This file: factorisations, triangular solves and products of matrices by package dense, which
// needs machine code and is used for matrices that are large enough. The ops' rows in package ad
// define the results; those of package dense differ by rounding. Symmetric eigendecompositions and
// inverses agree in every bit.

// takeDense makes package dense run a block if that is faster.
func (x *context) takeDense(b *block) {
	if row := b.array; x.p.target != nil && row.large != nil && !small(x.p.target, b) && row.large(b) {
		b.dense = x.kernels()
	}
}

// sharing lets package dense divide its work among the machine's workers.
type sharing struct {
	m   *Machine
	own int32 // view of a worker's private memory
	p   dense.Parts
}

// Each implements [dense.Team].
func (s *sharing) Each(n int, p dense.Parts) {
	s.p = p
	s.m.team.each(s.m, s, n)
}

// part implements the interface parts.
func (s *sharing) part(m *Machine, k int) { s.p.Part(k, m.views[s.own]) }

// kernels returns the program's kernels of package dense, made at the first call; nil if there is
// no executable memory.
func (x *context) kernels() *dense.Kernels {
	if x.p.dense == nil {
		x.p.dense = dense.New(x.p.target)
	}
	return x.p.dense
}

// productWork returns the size of the work space that package dense needs for a product of
// matrices; 0 if the product does not use package dense.
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
