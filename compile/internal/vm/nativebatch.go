package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/dense"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// This file: factors of small matrices, their adjoints, triangular solves with one right side, and
// products of the smallest matrices, for many lanes at once. The code uses vectors across lanes,
// and computes the same bits as lane by lane. In memory, lanes follow one another, so vectors are
// loaded from each lane and transposed into vectors across lanes.

// batch builds code for some lanes of a block, as vectors across these lanes.
type batch struct {
	*native.Builder
	lanes int
}

// batched returns a frame, and the number of a block's lanes that run as vectors; the others run
// one by one. A matrix may have fewer numbers than a vector; then loads and stores also touch the
// lanes after it, so the last lanes cannot be in vectors.
func (g *generator) batched(b *block) (*native.Frame, int) {
	all := b.node.Type.Lanes
	if single := b.array.single; single != nil && single(b) {
		return nil, 0
	}
	least := b.node.Type.Size()
	for _, t := range b.types {
		if t.Lanes > 0 {
			least = min(least, t.Size())
		}
	}
	f := g.Frame(4)
	beyond := 0 // number of lanes, after those of a vector, that its loads and stores touch
	if least < f.Lanes() {
		beyond = (f.Lanes() - 1) / least
	}
	return f, max(all-beyond, 0) / f.Lanes() * f.Lanes()
}

// load returns the elements of an operand, each a vector across lanes.
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

// store stores elements of the form that load returns.
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

// pieces calls f for each position at which a vector of the elements of a matrix begins.
func (x *batch) pieces(size int, f func(at int)) {
	for at := 0; at < size; at += x.lanes {
		f(max(min(at, size-x.lanes), 0))
	}
}

// batchOperands are the operands of an op on matrices for the lanes of a vector. The first one has
// n rows.
type batchOperands struct {
	b      *block
	n      int
	first  []native.Value
	second func() []native.Value // loads the second operand when it is needed
	result []native.Value
	wrong  native.Label
}

func (o *batchOperands) matrix(vs []native.Value) dense.Load {
	return func(i, j int) native.Value { return vs[i*o.n+j] }
}

func (o *batchOperands) set(i, j int, v native.Value) { o.result[i*o.n+j] = v }

// emit generates the block for the lanes of a frame. The code jumps to wrong if a lane has no
// factor.
func (x *batch) emit(b *block, f *native.Frame, regs [3]native.Reg, wrong native.Label) {
	n := order(b)
	result := make([]native.Value, b.node.Type.Size())
	b.array.batch(x, &batchOperands{
		b: b, n: n, first: x.load(regs[0], b.types[0]), result: result, wrong: wrong,
		second: func() []native.Value { return x.load(regs[1], b.types[1]) },
	})
	x.store(regs[2], result)
	f.Emit(x.Builder, x.lanes)
}

// product multiplies two matrices. It adds the terms in order.
func (x *batch) product(b *block, left, right, result []native.Value) {
	p, attr := dimensions(b), b.node.Attr.(ad.MatMulAttr)
	element := func(vs []native.Value, t *ad.Type, trans bool, i, j int) native.Value {
		if trans {
			i, j = j, i
		}
		return vs[i*t.Shape[1]+j]
	}
	for i := range p.r {
		for j := range p.c {
			sum := x.Number(0)
			for k := range p.k {
				sum = x.MulAdd(element(left, &b.types[0], attr.TransA, i, k), element(right, &b.types[1], attr.TransB, k, j), sum)
			}
			result[i*p.c+j] = sum
		}
	}
}

// smallProduct generates the product of a block, if its matrices are so small that lanes become
// vectors.
func (g *generator) smallProduct(b *block, p product) bool {
	most := maxInLanes
	if p.transB {
		most = maxTransposed
	}
	if max(p.r, p.c, p.k) > most || b.node.Type.Lanes < 4 {
		return false
	}
	g.overLanes(b, [3]native.Reg{native.R1, native.R2, native.R3}, 0, nil)
	return true
}

// operands generates code that loads the addresses of the arguments and the result, and returns the
// registers and the types of these.
func (g *generator) operands(b *block, regs [3]native.Reg) ([3]native.Reg, []ad.Type) {
	views := append(append([]int32(nil), b.args...), b.dst)
	types := append(append([]ad.Type(nil), b.types...), b.node.Type)
	if len(views) == 2 {
		regs[1] = regs[2]
	}
	for k, v := range views {
		g.LeaAddress(regs[k], g.uniform(v))
	}
	return regs, types
}

// overLanes generates a block: vectors for as many lanes as fill them. The remaining lanes run as
// rest generates them or, without it, in vectors with one active lane.
func (g *generator) overLanes(b *block, regs [3]native.Reg, wrong native.Label, rest func()) {
	regs, types := g.operands(b, regs)
	part := func(lanes, times int, code func()) {
		g.repeat(cols, times, func() {
			code()
			for k, t := range types {
				if t.Lanes > 0 {
					g.AddImm(regs[k], int32(8*lanes*t.Size()))
				}
			}
		})
	}
	f, batched := g.batched(b)
	if batched > 0 {
		part(f.Lanes(), batched/f.Lanes(), func() { (&batch{g.Builder(), f.Lanes()}).emit(b, f, regs, wrong) })
	}
	if rest == nil {
		rest = func() { (&batch{g.Builder(), 1}).emit(b, g.Frame(1), regs, wrong) }
	}
	part(1, max(b.node.Type.Lanes, 1)-batched, rest)
}
