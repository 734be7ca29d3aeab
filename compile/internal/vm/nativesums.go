package vm

import (
	"math"
	"unsafe"

	"github.com/ppl-lang/ppl/compile/internal/native"
)

// This file: machine code for sums by tables, strip by strip. If rows of data are sorted by group,
// each run is summed in eight partial sums, like a whole strip. With other tables, numbers are
// added one by one, in order.

// partMasks is the source of masks: the eight words from element 8-n on begin with n words of all
// ones.
var partMasks = func() (masks [2 * eight]uint64) {
	for i := range eight {
		masks[i] = math.MaxUint64
	}
	return masks
}()

// runsNative reports whether an instruction is a sum by runs with machine code. Its operand must be
// memory of the machine, which may be read beyond the end of a run.
func (g *generator) runsNative(b *block, in *instr) bool {
	if in.op != addRuns {
		return false
	}
	s := &g.p.views[b.whole(in.a)]
	return !s.unset && s.data == nil
}

// whole returns the view that contains a view of a strip.
func (b *block) whole(view int32) int32 {
	for i := range b.wins {
		if b.wins[i].dst == view {
			return b.wins[i].src
		}
	}
	return view
}

// runsFunction generates instructions from up to, but excluding, to, which are sums by the runs of
// one mapping. The arguments of the function are the index of the strip's first run, the index
// after its last run, and the strip's first element.
func (g *generator) runsFunction(b *block, from, to int) {
	const (
		first, last, pos     = native.R0, native.R1, native.R2
		sums, at, run, index = native.T1, native.T2, native.T3, native.R3
		end, left            = native.T4, native.T5
	)
	runs := &g.p.maps[b.code[from].c]
	table := uintptr(unsafe.Pointer(unsafe.SliceData(runs.runs)))
	masks := uintptr(unsafe.Pointer(&partMasks[eight]))
	for k := from; k < to; k++ {
		in := &b.code[k]
		for _, x := range [2]struct{ to, number native.Reg }{{run, first}, {end, last}} {
			g.MovImm(x.to, uint64(table))
			g.Lea(x.to, native.Indexed(x.to, x.number, 8, 0))
		}
		g.LeaAddress(sums, g.element(in.dst, runs.off))
		g.LeaAddress(at, g.uniform(b.whole(in.a)))
		if !b.temps[in.a] {
			g.Lea(at, native.Indexed(at, pos, 8, 0))
		}
		frame := g.frame(b.n)
		frame.Spare(6)
		lanes := frame.Lanes()
		parts := eight / lanes
		next := g.NewLabel()
		g.Place(next)
		var accs []int
		for range parts {
			accs = append(accs, frame.Accumulator())
		}
		g.MovLoad32(left, native.At(run, 4))
		add := func(mask bool) {
			x := g.Builder()
			for i, acc := range accs {
				v := x.Load(beyond(at, 8*lanes*i))
				if mask {
					v = x.And(v, x.Load(native.Address{Base: native.NoReg, Pointer: masks, Index: index, Disp: int32(8 * lanes * i)}))
				}
				x.Sum(acc, v)
			}
			frame.Emit(x, lanes)
		}
		again, rest := g.NewLabel(), g.NewLabel()
		g.CmpImm(left, eight)
		g.If(native.Less, rest)
		g.Place(again)
		add(false)
		g.AddImm(at, 8*eight)
		g.AddImm(left, -eight)
		g.CmpImm(left, eight)
		g.If(native.GreaterE, again)
		g.Place(rest)
		g.MulImm(index, left, -1)
		add(true)
		g.Lea(at, native.Indexed(at, left, 8, 0))
		g.MovLoad32(index, native.At(run, 0))
		frame.AddSum(accs, native.Address{Base: sums, Index: index})
		frame.Release()
		g.AddImm(run, 8)
		g.Cmp(run, end)
		g.If(native.Less, next)
	}
	g.MovImm(native.T0, 0)
	g.leave()
}

// tableNative reports whether an instruction is a sum by a table with machine code. Sums of a few
// adjacent elements each do not count: they are added in a different order.
func (g *generator) tableNative(in *instr) bool {
	return in.op == addTable || in.op == addAffine && g.p.maps[in.c].s1 != 0
}

// tablesFunction generates instructions from up to, but excluding, to, which are sums by tables.
// The arguments of the function are the first element and the end of the strip.
func (g *generator) tablesFunction(b *block, from, to int) {
	const (
		pos, end                 = native.R0, native.R2
		table, source, sum, left = native.T1, native.T2, native.T3, native.T4
	)
	for k := from; k < to; k++ {
		in := &b.code[k]
		m, off := &g.p.maps[in.c], 0
		if m.table != nil {
			off = m.off
		}
		g.MovImm(table, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.elements(b.n))))))
		g.Lea(table, native.Indexed(table, pos, 4, 0))
		g.LeaAddress(source, g.uniform(b.whole(in.a)))
		if !b.temps[in.a] {
			g.Lea(source, native.Indexed(source, pos, 8, 0))
		}
		g.LeaAddress(sum, g.element(in.dst, off))
		g.Mov(left, end)
		g.Sub(left, pos)
		// add generates a loop over n numbers at a time, while that many are left.
		add := func(n int) {
			again, done := g.NewLabel(), g.NewLabel()
			g.Place(again)
			g.CmpImm(left, int32(n))
			g.If(native.Less, done)
			for i := range n {
				g.MovLoad32(native.T0, native.At(table, int32(4*i)))
				at := native.Address{Base: sum, Index: native.T0}
				x := g.Builder()
				x.Store(at, x.Add(x.Load(at), x.Load(beyond(source, 8*i))), false)
				g.Frame(1).Emit(x, 1)
			}
			g.AddImm(table, int32(4*n))
			g.AddImm(source, int32(8*n))
			g.AddImm(left, int32(-n))
			g.Jump(again)
			g.Place(done)
		}
		add(eight)
		add(1)
	}
	g.MovImm(native.T0, 0)
	g.leave()
}
