package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// fusedRun is one function for blocks that follow each other, with the
// conditionals among them.
type fusedRun struct {
	fn    native.Func
	n     int // blocks
	fails []failPlace
}

// failPlace is a check that may fail: instruction k of scalar code, some check of a
// strip, or the block's op.
type failPlace struct {
	b *block
	k int32
}

// viewLength is a view whose address machine code moves.
type viewLength struct {
	view int32
	n    int
}

// eligible is how many of the blocks, from the first one on, can be one
// function.
func (g *generator) eligible(bs []block) int {
	n := 0
	for n < len(bs) && g.fusible(&bs[n]) {
		n++
	}
	if g.p.apart {
		n = min(n, 1)
	}
	return n
}

func (g *generator) fusible(b *block) bool {
	for _, v := range b.clears {
		if s := &g.p.views[v]; s.unset || s.data != nil || s.n > maxCleared {
			return false
		}
	}
	switch b.kind {
	case scalarBlock:
		if len(b.code) > maxNative {
			return false
		}
		for k := range b.code {
			if !g.scalarNative(b, &b.code[k]) {
				return false
			}
		}
		return true
	case stripBlock:
		if len(b.wins) > 0 || len(b.code) > maxNative {
			return false
		}
		for k := range b.code {
			if in := &b.code[k]; in.op == div|modeVS || !g.stripNative(b, in) {
				return false
			}
		}
		return true
	case matmulBlock:
		_, ok := productOf(b)
		return ok
	case effectBlock:
		_, message := b.node.Attr.(*ad.Message)
		return message && b.node.Op == ad.OpReject && b.types[0].Lanes == 0 && b.types[0].Size() == 1
	case arrayBlock:
		return b.node.Op == ad.OpTake && b.node.Type.Lanes == 0 && b.types[0].Lanes == 0 && b.node.Type.Size() <= unrolled
	case regionBlock:
		p := b.reg
		if !p.conditional || p.lanes != 1 {
			return false
		}
		for side, body := range p.bodies {
			for _, c := range p.keeps[side].arrays {
				if c.n > maxCopied {
					return false
				}
			}
			if g.eligible(body) < len(body) {
				return false
			}
		}
		return true
	}
	return false
}

// fuse makes one function of the blocks.
func (g *generator) fuse(bs []block) {
	r := &fusedRun{n: len(bs)}
	g.runs[&bs[0]] = r
	g.enter(&r.fn)
	done := g.NewLabel()
	g.inline(bs, r, done)
	g.MovImm(native.AX, 0)
	g.Place(done)
	g.ZeroUpper()
	g.Ret()
}

// inline makes the code of blocks; where a check fails it goes to done with the
// number of the place in AX, from 1.
func (g *generator) inline(bs []block, r *fusedRun, done native.Label) {
	for i := range bs {
		b := &bs[i]
		for _, v := range b.clears {
			g.clear(v)
		}
		fail := func(k int) {
			r.fails = append(r.fails, failPlace{b, int32(k)})
			g.MovImm(native.AX, uint64(len(r.fails)))
			g.Jump(done)
		}
		switch b.kind {
		case scalarBlock:
			g.scalarCode(b, 0, len(b.code), fail)
		case stripBlock:
			g.shortStrip(b, fail)
		case matmulBlock:
			g.matmul(b)
		case effectBlock:
			g.rejection(b, func() { fail(whole) })
		case arrayBlock:
			g.taking(b, func() { fail(whole) })
		default:
			g.conditional(b.reg, r, done)
		}
	}
}

// Places of failures that are no instruction of scalar code.
const (
	someCheck = -1 // of a strip
	whole     = -2 // the block, whose op fails
)

// rejection makes the code of a rejection: where its condition holds, the op
// itself is run, which fails.
func (g *generator) rejection(b *block, fail func()) {
	one := native.Lanes{Asm: g.Asm, Width: 1}
	fine := g.NewLabel()
	one.Load(0, g.uniformMem(b.args[0]))
	one.CompareMem(native.NEQ, 0, 0, g.Number(0))
	one.Signs(native.AX, 0)
	g.TestImm(native.AX, 1)
	g.If(native.Equal, fine)
	fail()
	g.Place(fine)
}

// taking makes the code that takes elements at computed places; beyond the end the
// op itself is run, which fails.
func (g *generator) taking(b *block, fail func()) {
	one := native.Lanes{Asm: g.Asm, Width: 1}
	wrong, fine := g.NewLabel(), g.NewLabel()
	g.Lea(native.R11, g.elementOf(b.args[0], 0))
	g.Lea(native.BX, g.elementOf(b.dst, 0))
	for k := range b.node.Type.Size() {
		one.ToInt(native.AX, g.elementOf(b.args[1], k))
		g.CmpImm(native.AX, int32(b.types[0].Size()))
		g.If(native.AboveE, wrong)
		one.Load(0, native.Indexed(native.R11, native.AX, 8, 0))
		one.Store(native.At(native.BX, int32(8*k)), 0)
	}
	g.Jump(fine)
	g.Place(wrong)
	fail()
	g.Place(fine)
}

// shortStrip makes the code of a block of a single strip.
func (g *generator) shortStrip(b *block, fail func(int)) {
	g.begin(b, b.code, 4)
	g.Mov(temps, native.DI)
	first, last := g.stripBegin()
	pos := 0
	if b.n > unrolled {
		loop := g.NewLabel()
		g.MovImm(element, 0)
		g.Place(loop)
		g.lanesOnce(first, last, nil)
		g.AddImm(element, 4)
		pos = b.n &^ 3
		g.CmpImm(element, int32(pos))
		g.If(native.Less, loop)
	}
	for pos < b.n {
		w := 4
		for w > b.n-pos {
			w /= 2
		}
		g.MovImm(element, uint64(pos))
		g.lanes.Width = w
		g.lanesOnce(first, last, nil)
		pos += w
	}
	g.stripEnd()
	if g.checks {
		fine := g.NewLabel()
		native.Lanes{Asm: g.Asm, Width: 4}.Signs(native.AX, g.bad)
		g.CmpImm(native.AX, 0)
		g.If(native.Equal, fine)
		fail(someCheck)
		g.Place(fine)
	}
}

// conditional makes the code of a conditional.
func (g *generator) conditional(p *regionPlan, r *fusedRun, done native.Label) {
	one := native.Lanes{Asm: g.Asm, Width: 1}
	for _, w := range p.laneMoves {
		g.Lea(native.AX, g.elementOf(w.src, w.off))
		g.MovStore(native.At(native.SI, 24*w.dst), native.AX)
		g.moved = append(g.moved, viewLength{w.dst, w.n})
	}
	for _, s := range p.laneLoads {
		one.Load(0, g.elementOf(s.view, s.off))
		one.Store(native.At(native.DI, 8*s.slot), 0)
	}
	otherwise, end := g.NewLabel(), g.NewLabel()
	one.Load(0, g.uniformMem(p.cond))
	one.CompareMem(native.EQ, 0, 0, g.Number(0))
	one.Signs(native.AX, 0)
	g.TestImm(native.AX, 1)
	g.If(native.NotEqual, otherwise)
	for side, body := range p.bodies {
		g.inline(body, r, done)
		for _, s := range p.keeps[side].scalars {
			one.Load(0, native.At(native.DI, 8*s.slot))
			one.Store(g.elementOf(s.view, s.off), 0)
		}
		for _, c := range p.keeps[side].arrays {
			g.copying(&c)
		}
		if side == 0 {
			g.Jump(end)
			g.Place(otherwise)
		}
	}
	g.Place(end)
}

// elementOf is element off of a view; AX is overwritten.
func (g *generator) elementOf(view int32, off int) native.Mem {
	m := g.uniformMem(view)
	m.Disp += int32(8 * off)
	return m
}

// widths calls f for n elements in parts of four, two and one.
func widths(n int, f func(at, w int)) {
	for at, w := 0, 4; at < n; at += w {
		for w > n-at {
			w /= 2
		}
		f(at, w)
	}
}

// copying makes the copy of a value without lanes.
func (g *generator) copying(c *copying) {
	g.Lea(native.BX, g.elementOf(c.src, 0))
	g.Lea(native.R11, g.elementOf(c.dst, 0))
	widths(c.n, func(at, w int) {
		l := native.Lanes{Asm: g.Asm, Width: w}
		if c.rep {
			l.Broadcast(0, native.At(native.BX, 0))
		} else {
			l.Load(0, native.At(native.BX, int32(8*at)))
		}
		l.Store(native.At(native.R11, int32(8*at)), 0)
	})
}

// clear makes the elements of a view 0.
func (g *generator) clear(view int32) {
	g.Lea(native.R11, g.elementOf(view, 0))
	native.Lanes{Asm: g.Asm, Width: 4}.Zero(0)
	widths(g.p.views[view].n, func(at, w int) {
		native.Lanes{Asm: g.Asm, Width: w}.Store(native.At(native.R11, int32(8*at)), 0)
	})
}

// runFused runs the function of blocks.
func (m *Machine) runFused(r *fusedRun) error {
	k := r.fn.Run(m.memory, m.viewTable, m.scratchMemory, 0, 0, 0)
	if k == 0 {
		return nil
	}
	f := &r.fails[k-1]
	if f.k >= 0 {
		return m.failedCheck(f.b, f.k)
	}
	if f.k == whole {
		if err := m.single(f.b); err != nil {
			return err
		}
		return errDisagree
	}
	if k := m.strip(f.b.code, 0); k >= 0 {
		return m.failed(failure{k: len(f.b.code)}, f.b.code, k, 0).error()
	}
	return errDisagree
}

// setLengths gives the views that machine code moves their lengths: it changes
// addresses only.
func (m *Machine) setLengths() {
	most := 0
	for _, v := range m.p.moved {
		most = max(most, v.n)
	}
	nothing := make([]float64, most)
	for _, v := range m.p.moved {
		m.views[v.view] = nothing[:v.n:v.n]
	}
}
