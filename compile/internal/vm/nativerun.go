package vm

import (
	"slices"

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
			if !g.stripNative(b, &b.code[k]) {
				return false
			}
		}
		return true
	case matmulBlock:
		_, ok := productOf(b)
		return ok && b.sparse == nil && b.dense == nil
	case effectBlock:
		_, message := b.node.Attr.(*ad.Message)
		return message && b.node.Op == ad.OpReject && b.types[0].Lanes == 0 && b.types[0].Size() == 1
	case arrayBlock:
		return g.movable(b)
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

// movable reports whether elements at computed places are few enough to be taken, or put, one
// by one.
func (g *generator) movable(b *block) bool {
	if b.node.Type.Lanes > 0 || slices.ContainsFunc(b.types, func(t ad.Type) bool { return t.Lanes > 0 }) {
		return false
	}
	n := b.types[len(b.types)-1].Size() // of the positions
	switch b.node.Op {
	case ad.OpTake:
		return n <= unrolled
	case ad.OpReplace, ad.OpPut:
		return n <= unrolled && b.node.Type.Size() <= maxCleared
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
	g.MovImm(native.T0, 0)
	g.Place(done)
	g.leave()
}

// inline makes the code of blocks; where a check fails it goes to done with the
// number of the place in T0, from 1.
func (g *generator) inline(bs []block, r *fusedRun, done native.Label) {
	for i := range bs {
		b := &bs[i]
		for _, v := range b.clears {
			g.clear(v)
		}
		fail := func(k int) {
			r.fails = append(r.fails, failPlace{b, int32(k)})
			g.MovImm(native.T0, uint64(len(r.fails)))
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
			g.rejection(b, g.failing(func() { fail(whole) }))
		case arrayBlock:
			if b.node.Op == ad.OpTake {
				g.taking(b, g.failing(func() { fail(whole) }))
			} else {
				g.putting(b)
			}
		default:
			g.conditional(b.reg, r, done)
		}
	}
}

// failing is a place behind the function where fail happens.
func (g *generator) failing(fail func()) native.Label {
	l := g.NewLabel()
	g.After(func() {
		g.Place(l)
		fail()
	})
	return l
}

// Places of failures that are no instruction of scalar code.
const (
	someCheck = -1 // of a strip
	whole     = -2 // the block, whose op fails
)

// ifNumber goes to l if a number compares so with 0.
func (g *generator) ifNumber(c native.Comparison, view int32, l native.Label) {
	b := &native.Builder{}
	b.Branch(b.Compare(c, b.Load(g.uniform(view)), b.Number(0)), l)
	g.Frame(1).Emit(b, 1)
}

// rejection makes the code of a rejection: where its condition holds, the op
// itself is run, which fails.
func (g *generator) rejection(b *block, wrong native.Label) {
	g.ifNumber(native.NEQ, b.args[0], wrong)
}

// taking makes the code that takes elements at computed places; beyond the end the
// op itself is run, which fails.
func (g *generator) taking(b *block, wrong native.Label) {
	g.LeaPlace(native.T2, g.uniform(b.args[0]))
	g.LeaPlace(native.T1, g.uniform(b.dst))
	g.LeaPlace(native.T3, g.uniform(b.args[1]))
	for k := range b.node.Type.Size() {
		g.ToInt(native.T0, native.At(native.T3, int32(8*k)))
		g.CmpImm(native.T0, int32(b.types[0].Size()))
		g.If(native.AboveE, wrong)
		g.MovLoad(native.T0, native.Indexed(native.T2, native.T0, 8, 0))
		g.MovStore(native.At(native.T1, int32(8*k)), native.T0)
	}
}

// putting makes the code that replaces elements at computed places, or adds to zeros there;
// those beyond the end are left out.
func (g *generator) putting(b *block) {
	size, values := b.node.Type.Size(), b.args[0]
	if b.node.Op == ad.OpReplace {
		values = b.args[1]
		g.copying(&copying{dst: b.dst, src: b.args[0], n: size})
	} else {
		g.clear(b.dst)
	}
	positions := b.args[len(b.args)-1]
	g.LeaPlace(native.T1, g.uniform(b.dst))
	g.LeaPlace(native.T2, g.uniform(values))
	g.LeaPlace(native.T3, g.uniform(positions))
	for k := range b.types[len(b.types)-1].Size() {
		beyond := g.NewLabel()
		g.ToInt(native.T0, native.At(native.T3, int32(8*k)))
		g.CmpImm(native.T0, int32(size))
		g.If(native.AboveE, beyond)
		to := native.Place{Base: native.T1, Index: native.T0}
		x := &native.Builder{}
		v := x.Load(native.Place{Base: native.T2, Index: native.NoReg, Disp: int32(8 * k)})
		if b.node.Op == ad.OpPut {
			v = x.Add(x.Load(to), v)
		}
		x.Store(to, v, false)
		g.Frame(1).Emit(x, 1)
		g.Place(beyond)
	}
}

// shortStrip makes the code of a block of a single strip.
func (g *generator) shortStrip(b *block, fail func(int)) {
	g.Mov(temps, native.Memory)
	s := g.newStrip(b, b.code, nil)
	full := b.n / eight * eight
	g.MovImm(element, 0)
	switch {
	case full > eight:
		loop := g.NewLabel()
		g.Place(loop)
		s.elements(eight)
		g.AddImm(element, eight)
		g.CmpImm(element, int32(full))
		g.If(native.Less, loop)
	case full > 0:
		s.elements(eight)
		g.AddImm(element, eight)
	}
	if full < b.n {
		s.elements(b.n - full)
	}
	s.end(g.failing(func() { fail(someCheck) }))
}

// conditional makes the code of a conditional.
func (g *generator) conditional(p *regionPlan, r *fusedRun, done native.Label) {
	for _, w := range p.laneMoves {
		g.LeaPlace(native.T0, g.element(w.src, w.off))
		g.MovStore(native.At(native.Views, 24*w.dst), native.T0)
		g.moved = append(g.moved, viewLength{w.dst, w.n})
	}
	move := func(to, from native.Place) {
		g.LeaPlace(native.T1, from)
		g.LeaPlace(native.T2, to)
		g.MovLoad(native.T1, native.At(native.T1, 0))
		g.MovStore(native.At(native.T2, 0), native.T1)
	}
	for _, s := range p.laneLoads {
		move(slot(s.slot), g.element(s.view, s.off))
	}
	otherwise, end := g.NewLabel(), g.NewLabel()
	g.ifNumber(native.EQ, p.cond, otherwise)
	for side, body := range p.bodies {
		g.inline(body, r, done)
		for _, s := range p.keeps[side].scalars {
			move(g.element(s.view, s.off), slot(s.slot))
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

// inParts calls f for n elements in parts of as many as there are lanes.
func (g *generator) inParts(n int, f func(b *native.Builder, at int32)) {
	frame := g.frame(n)
	for at := 0; at < n; at += frame.Lanes() {
		b := &native.Builder{}
		f(b, int32(8*at))
		frame.Emit(b, min(frame.Lanes(), n-at))
	}
}

// copying makes the copy of a value without lanes.
func (g *generator) copying(c *copying) {
	g.LeaPlace(native.T2, g.uniform(c.src))
	g.LeaPlace(native.T3, g.uniform(c.dst))
	g.inParts(c.n, func(b *native.Builder, at int32) {
		from := native.Place{Base: native.T2, Index: native.NoReg}
		x := native.Value(0)
		if c.rep {
			x = b.Broadcast(from)
		} else {
			from.Disp = at
			x = b.Load(from)
		}
		b.Store(native.Place{Base: native.T3, Index: native.NoReg, Disp: at}, x, false)
	})
}

// clear makes the elements of a view 0.
func (g *generator) clear(view int32) {
	g.LeaPlace(native.T3, g.uniform(view))
	g.inParts(g.p.views[view].n, func(b *native.Builder, at int32) {
		b.Store(native.Place{Base: native.T3, Index: native.NoReg, Disp: at}, b.Number(0), false)
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
