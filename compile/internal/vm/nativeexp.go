package vm

import (
	"github.com/ppl-lang/ppl/compile/internal/dense"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// This file: exponentials of small matrices and their derivatives, for many lanes at once.

// smallExponential reports whether this file has code for a block.
func smallExponential(b *block) bool { return 1 < order(b) && order(b) <= maxExponential }

// exponential generates the code for the lanes of a frame.
func (g *generator) exponential(b *block, f *native.Frame, regs [3]native.Reg, wrong native.Label) {
	e := &dense.Exponentials{Asm: g.Asm, Frame: f, N: order(b), Tangent: len(b.args) == 2,
		Load:  func(x *native.Builder, k int) []native.Value { return (&batch{x, f.Lanes()}).load(regs[k], b.types[k]) },
		Store: func(x *native.Builder, result []native.Value) { (&batch{x, f.Lanes()}).store(regs[2], result) },
	}
	e.At = g.temporary(e.Size())
	e.Emit(wrong)
}

// temporary returns scratch memory for n numbers that other blocks overwrite.
func (g *generator) temporary(n int) int32 {
	if n > g.shared.n {
		g.shared.at, g.shared.n = g.Reserve(n), n
	}
	return g.shared.at
}

// overlapping generates a block whose code has loops, so that there is only one copy of it: for
// vectors of lanes, of which the last one may begin among the lanes of the one before. From time
// to time it runs the code of pause, in which all registers are lost.
func (g *generator) overlapping(b *block, regs [3]native.Reg, code func(f *native.Frame), pause func()) {
	regs, types := g.operands(b, regs)
	all := max(b.node.Type.Lanes, 1)
	f := g.Frame(eight)
	for _, narrower := range [2]int{4, 1} {
		// Loads and stores of a matrix that is shorter than a vector would go beyond the last lane.
		if f.Lanes() > min(all, b.node.Type.Size()) {
			f = g.Frame(narrower)
		}
	}
	move := func(lanes int) {
		for k, t := range types {
			if t.Lanes > 0 {
				g.AddImm(regs[k], int32(8*lanes*t.Size()))
			}
		}
	}
	vectors := (all + f.Lanes() - 1) / f.Lanes()
	if vectors == 1 {
		code(f)
		return
	}
	between := max(1, int(pauseWork/exponentialWork)/(b.node.Type.Size()*order(b)))
	left, kept := int32(0), int32(0)
	if vectors > between {
		left, kept = g.Reserve(1), g.Reserve(len(types)+1)
		g.setWord(left, int64(between))
	}
	again, whole, end := g.NewLabel(), g.NewLabel(), g.NewLabel()
	g.MovImm(cols, uint64(vectors))
	g.Place(again)
	code(f)
	move(f.Lanes())
	g.AddImm(cols, -1)
	if back := all - vectors*f.Lanes(); back < 0 {
		g.CmpImm(cols, 1)
		g.If(native.NotEqual, whole)
		move(back)
		g.Place(whole)
	}
	g.CmpImm(cols, 0)
	if vectors <= between {
		g.If(native.NotEqual, again)
		return
	}
	g.If(native.Equal, end)
	g.addWord(left, -1)
	g.CmpImm(native.T0, 0)
	g.If(native.NotEqual, again)
	words := append([]native.Reg{cols}, regs[:len(types)]...)
	for k, r := range words {
		g.MovStore(native.At(native.Scratch, 8*(kept+int32(k))), r)
	}
	pause()
	for k, r := range words {
		g.MovLoad(r, native.At(native.Scratch, 8*(kept+int32(k))))
	}
	g.setWord(left, int64(between))
	g.Jump(again)
	g.Place(end)
}
