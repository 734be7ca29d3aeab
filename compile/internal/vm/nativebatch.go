package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/dense"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// Factors of small matrices, their adjoints and triangular solves with one right side for many
// lanes at once: as vectors across lanes, with the bits that one lane after the other has. In memory a
// lane follows the other; what a vector loads of one is turned into vectors across as many lanes.

// batch is the lanes of a vector, of a block's operands.
type batch struct {
	*native.Builder
	lanes int
}

// batched reports how many of a block's lanes go by vectors of a frame; the others, one by
// one. What a vector of a matrix of fewer numbers than it has lanes loads or stores too much is of the
// lanes that come after it.
func (g *generator) batched(b *block) (*native.Frame, int) {
	n, all := b.types[0].Shape[0], b.node.Type.Lanes
	if b.node.Op == ad.OpTriSolve && (inBlocks(b) || b.node.Type.Size() != n) {
		return nil, 0
	}
	least := n * n
	for _, t := range append(b.types, b.node.Type) {
		least = min(least, t.Size())
	}
	f := g.Frame(4)
	beyond := 0 // lanes that the last vector reaches
	if least < f.Lanes() {
		beyond = (f.Lanes() - 1) / least
	}
	return f, max(all-beyond, 0) / f.Lanes() * f.Lanes()
}

// load is the elements of an operand of a size, each across lanes.
func (x *batch) load(r native.Reg, t ad.Type) []native.Value {
	size := t.Size()
	vs := make([]native.Value, size)
	if t.Lanes == 0 {
		for i := range vs {
			vs[i] = x.Broadcast(beyond(r, 8*i))
		}
		return vs
	}
	x.pieces(size, func(at int) {
		var rows []native.Value
		for l := range x.lanes {
			rows = append(rows, x.Load(beyond(r, 8*(l*size+at))))
		}
		for k, v := range x.Transpose(rows) {
			if at+k < size {
				vs[at+k] = v
			}
		}
	})
	return vs
}

// store is the contrary.
func (x *batch) store(r native.Reg, vs []native.Value) {
	size := len(vs)
	x.pieces(size, func(at int) {
		var rows []native.Value
		for k := range x.lanes {
			rows = append(rows, vs[min(at+k, size-1)])
		}
		for l, v := range x.Transpose(rows) {
			x.Store(beyond(r, 8*(l*size+at)), v, false)
		}
	})
}

// pieces are the places of a matrix that vectors of a lane begin at.
func (x *batch) pieces(size int, f func(at int)) {
	for at := 0; at < size; at += x.lanes {
		f(max(min(at, size-x.lanes), 0))
	}
}

// emit makes the block for the lanes of a frame; it goes to wrong where one has no factor.
func (x *batch) emit(b *block, f *native.Frame, regs [3]native.Reg, wrong native.Label) {
	n := b.types[0].Shape[0]
	matrix := func(vs []native.Value) dense.Load {
		return func(i, j int) native.Value { return vs[i*n+j] }
	}
	result := make([]native.Value, b.node.Type.Size())
	set := func(i, j int, v native.Value) { result[i*n+j] = v }
	a := matrix(x.load(regs[0], b.types[0]))
	switch b.node.Op {
	case ad.OpCholesky:
		x.Branch(dense.Factor(x.Builder, n, a, set), wrong)
	case ad.OpCholeskyAdjoint:
		dense.FactorAdjoint(x.Builder, n, a, matrix(x.load(regs[1], b.types[1])), set)
	case ad.OpTriSolve:
		t := b.node.Attr.(ad.TriAttr)
		right := x.load(regs[1], b.types[1])
		dense.Substitute(x.Builder, n, t.Upper, t.Trans != t.Right, a,
			func(i int) native.Value { return right[i] }, func(i int, v native.Value) { result[i] = v })
	}
	x.store(regs[2], result)
	f.Emit(x.Builder, x.lanes)
}
