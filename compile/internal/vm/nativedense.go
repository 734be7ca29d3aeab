package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/dense"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// This file: factors of small matrices, their adjoints and triangular solves with them, in the
// function of the blocks around them.

// small reports whether this file has code for a block on a target.
func small(t *native.Target, b *block) bool {
	if t == nil || b.node.Type.Size() == 0 {
		return false
	}
	return b.array != nil && b.array.small != nil && b.array.small(b)
}

// inBlocks reports whether a triangular solve has one right side and many equations. There must not
// be so many that machine code, which cannot be interrupted, would take milliseconds.
func inBlocks(b *block) bool {
	n := b.types[0].Shape[0]
	return n >= fromSolves && b.node.Type.Size() == n && !b.node.Attr.(ad.TriAttr).Upper && float64(n)*float64(n)*float64(max(b.node.Type.Lanes, 1)) <= pauseWork
}

// smallMatrix generates the code of a block for which small holds. If a matrix is not positive
// definite, the code returns, and the op's row in package ad reports the reason, or succeeds.
func (g *generator) smallMatrix(bs []block, r *fusedRun, done native.Label) {
	b := &bs[0]
	wrong, after := g.NewLabel(), g.NewLabel()
	row := b.array
	regs := [3]native.Reg{native.R1, native.R2, native.R3} // the first argument, the second, the result
	if len(b.args) == 1 {
		regs[1] = regs[2]
	}
	if row.loops != nil {
		g.overlapping(b, regs, func(f *native.Frame) { row.loops(g, b, f, regs, wrong) },
			func() { g.goOut(r, event{kind: pause}, done) })
	} else {
		g.overLanes(b, regs, wrong, func() { row.code(g, b, order(b), regs, wrong) })
	}
	g.Place(after)
	if row.fails {
		g.After(func() {
			g.Place(wrong)
			g.goOut(r, event{kind: opInGo, b: bs}, done)
			g.Jump(after)
		})
	}
}

// substitution generates a triangular solve, several right sides at a time.
func (g *generator) substitution(b *block, n int, regs [3]native.Reg) {
	t := b.node.Attr.(ad.TriAttr)
	others := b.node.Type.Size() / n
	f := g.frame(others)
	if t.Right || others == 1 { // these are solved row by row, as transposed systems
		f = g.Frame(1)
	}
	for at := 0; at < others; at += f.Lanes() {
		element := func(r native.Reg, i int) native.Address {
			if t.Right {
				return beyond(r, 8*(at*n+i))
			}
			return beyond(r, 8*(i*others+at))
		}
		x := g.Builder()
		known := map[int]native.Value{}
		a := func(i, j int) native.Value {
			v, ok := known[i*n+j]
			if !ok {
				v = x.Broadcast(beyond(regs[0], 8*(i*n+j)))
				known[i*n+j] = v
			}
			return v
		}
		dense.Substitute(x, n, t.Upper, t.Trans != t.Right, a,
			func(i int) native.Value { return x.Load(element(regs[1], i)) },
			func(i int, v native.Value) { x.Store(element(regs[2], i), v, true) })
		f.Emit(x, min(f.Lanes(), others-at))
	}
}

// loads returns a function that loads elements of a matrix of n columns at an address.
func loads(b *native.Builder, r native.Reg, n int) dense.Load {
	known := map[int]native.Value{}
	return func(i, j int) native.Value {
		v, ok := known[i*n+j]
		if !ok {
			v = b.Load(beyond(r, 8*(i*n+j)))
			known[i*n+j] = v
		}
		return v
	}
}

func stores(b *native.Builder, r native.Reg, n int) dense.Store {
	return func(i, j int, x native.Value) { b.Store(beyond(r, 8*(i*n+j)), x, true) }
}

// Registers of triangular solves in blocks of rows: the address of the block's first row, the
// number of that row, and the number of a column.
const (
	blockRow, blockNumber, columnOf = native.T1, native.T2, native.R0
)

// blockSubstitution generates a triangular solve with one right side, for a lower triangular matrix
// or its transpose, eight rows at a time. For the matrix itself, the elements left of the diagonal
// block are multiplied, as vectors along the rows, by the numbers that are already known. For the
// transpose they are multiplied by the eight numbers that were just found.
func (g *generator) blockSubstitution(n int, trans bool, regs [3]native.Reg) {
	sums := g.Reserve(eight)
	within := func(r native.Reg, at int) native.Address {
		return native.Address{Base: r, Index: blockNumber, Disp: int32(8 * at)}
	}
	a := func(r int) native.Address {
		return native.Address{Base: blockRow, Index: columnOf, Disp: int32(8 * n * r)}
	}
	// along generates a loop over the columns left of the block.
	along := func(f *native.Frame, code func(x *native.Builder)) {
		again, done := g.NewLabel(), g.NewLabel()
		g.CmpImm(blockNumber, 0)
		g.If(native.Equal, done)
		g.MovImm(columnOf, 0)
		g.Place(again)
		x := g.Builder()
		code(x)
		f.Emit(x, f.Lanes())
		g.AddImm(columnOf, int32(f.Lanes()))
		g.Cmp(columnOf, blockNumber)
		g.If(native.Less, again)
		g.Place(done)
	}
	solution := native.Address{Base: regs[2], Index: columnOf}
	triangle := func(rows int, right func(x *native.Builder, i int) native.Value) {
		x := g.Builder()
		known := map[int]native.Value{}
		dense.Substitute(x, rows, false, trans, func(i, j int) native.Value {
			v, ok := known[i*eight+j]
			if !ok {
				v = x.Load(within(blockRow, n*i+j))
				known[i*eight+j] = v
			}
			return v
		}, func(i int) native.Value { return right(x, i) }, func(i int, v native.Value) { x.Store(within(regs[2], i), v, true) })
		g.Frame(1).Emit(x, 1)
	}
	forward := func(rows int) {
		f := g.Frame(eight)
		f.Accumulators(rows)
		along(f, func(x *native.Builder) {
			v := x.Load(solution)
			for r := range rows {
				x.Product(r, v, x.Load(a(r)))
			}
		})
		for r := range rows {
			f.StoreTotal(r, scratch(sums+int32(r)))
		}
		triangle(rows, func(x *native.Builder, i int) native.Value {
			return x.Sub(x.Load(within(regs[1], i)), x.Load(scratch(sums+int32(i))))
		})
	}
	backward := func(rows int) {
		triangle(rows, func(x *native.Builder, i int) native.Value { return x.Load(within(regs[2], i)) })
		f := g.Frame(eight)
		f.Spare(4)
		found := make([]native.Vec, rows)
		x := g.Builder()
		for r := range found {
			found[r], _ = f.Reserve()
			x.Out(found[r], x.Neg(x.Broadcast(within(regs[2], r))))
		}
		f.Emit(x, f.Lanes())
		along(f, func(x *native.Builder) {
			v := x.Load(solution)
			for r := range rows {
				v = x.MulAdd(x.In(found[r]), x.Load(a(r)), v)
			}
			x.Store(solution, v, false)
		})
	}
	full, rest := n/eight, n%eight
	g.Mov(blockRow, regs[0])
	g.MovImm(blockNumber, 0)
	if !trans {
		g.repeat(rows, full, func() {
			forward(eight)
			g.AddImm(blockRow, int32(8*n*eight))
			g.AddImm(blockNumber, eight)
		})
		if rest > 0 {
			forward(rest)
		}
		return
	}
	g.Mov(native.T3, regs[2])
	g.Mov(native.T2, regs[1])
	g.inParts(n, func(x *native.Builder, index native.Reg, at int32) {
		x.Store(native.Address{Base: native.T3, Index: index, Disp: at}, x.Load(native.Address{Base: native.T2, Index: index, Disp: at}), false)
	})
	g.MovImm(blockNumber, uint64(full*eight))
	g.AddImm(blockRow, int32(8*n*eight*full))
	if rest > 0 {
		backward(rest)
	}
	g.repeat(rows, full, func() {
		g.AddImm(blockRow, int32(-8*n*eight))
		g.AddImm(blockNumber, -eight)
		backward(eight)
	})
}
