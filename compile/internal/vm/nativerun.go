package vm

import (
	"slices"
	"unsafe"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// fusedRun is one function for consecutive blocks, with the conditionals and while loops among
// them.
type fusedRun struct {
	fn     native.Func
	n      int     // number of blocks
	events []event // the reasons for which it returns; it returns an index into this list, counted from 1
	trips  int32   // position in scratch memory of the number of trips until the next call of the stop function
	// between is the number of trips between two such calls.
	between int64
}

// viewLength is a view whose address machine code changes, and its length.
type viewLength struct {
	view int32
	n    int
}

// eligible returns the number of blocks, from the first one on, that can become one function.
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
		if b.sparse != nil {
			return b.sparse.table != nil
		}
		_, ok := productOf(b)
		return ok && b.dense == nil && b.split == nil
	case effectBlock:
		_, message := b.node.Attr.(*ad.Message)
		return message && b.node.Op == ad.OpReject && b.types[0].Lanes == 0 && b.types[0].Size() == 1
	case arrayBlock:
		return b.split == nil && (g.movable(b) || small(g.p.target, b))
	case regionBlock:
		return b.split == nil && b.reg.control.fusible(g, b.reg)
	}
	return false
}

// movable reports whether a block moves so few elements at computed positions that they can be
// moved one by one.
func (g *generator) movable(b *block) bool {
	if b.array == nil || b.array.move == nil {
		return false
	}
	if b.node.Type.Lanes > 0 || slices.ContainsFunc(b.types, func(t ad.Type) bool { return t.Lanes > 0 }) {
		return false
	}
	n := b.types[len(b.types)-1].Size() // the number of positions
	return n <= unrolled && (!b.array.fills || b.node.Type.Size() <= maxCleared || g.p.inPlace(b))
}

// fuse generates one function for the blocks. Its argument is the number of the event after which
// it continues, or 0. If exchange is set, it also gets the address of a point and of its gradient;
// these may be 0.
func (g *generator) fuse(bs []block, exchange bool) {
	r := &fusedRun{n: len(bs)}
	g.runs[&bs[0]] = r
	g.resumable(r, bs, func(done native.Label) {
		gradient := int32(0)
		if exchange {
			gradient = g.Reserve(1)
			g.whole = r
			g.MovStore(native.At(native.Scratch, 8*gradient), native.R2)
			g.takePoint()
		}
		g.inline(bs, r, done)
		if exchange {
			g.giveGradient(gradient)
		}
	})
	// Blocks that Go runs are given separate functions, where they have machine code.
	for i := range r.events {
		if r.events[i].kind == runBlock {
			g.blocks(r.events[i].b)
		}
	}
}

// resumable generates a function for some blocks. Their code may return for an event: it jumps to
// done with the event's number in T0. When the function is called with an event's number, it
// continues after that event.
func (g *generator) resumable(r *fusedRun, bs []block, code func(done native.Label)) {
	g.enter(&r.fn)
	later, done := g.NewLabel(), g.NewLabel()
	g.CmpImm(native.R0, 0)
	g.If(native.NotEqual, later)
	if hasLoop(bs) {
		r.trips, r.between = g.Reserve(1), tripsBetween(bs)
		g.setWord(r.trips, r.between)
	}
	code(done)
	g.MovImm(native.T0, 0)
	g.Place(done)
	g.leave()
	g.Place(later)
	for i := range r.events {
		if r.events[i].kind.resumes() {
			g.CmpImm(native.R0, int32(i+1))
			g.If(native.Equal, r.events[i].resume)
		}
	}
	g.Jump(done)
}

// inline generates the code of blocks. If a check fails, it jumps to done with the number of the
// event in T0.
func (g *generator) inline(bs []block, r *fusedRun, done native.Label) {
	for i := range bs {
		b := &bs[i]
		if !g.fusible(b) { // in a loop, Go runs such a block
			g.goOut(r, event{kind: runBlock, b: bs[i : i+1]}, done)
			continue
		}
		for _, v := range b.clears {
			g.clear(v)
		}
		fail := func(kind eventKind, k int) {
			r.events = append(r.events, event{kind: kind, b: bs[i : i+1], k: int32(k)})
			g.MovImm(native.T0, uint64(len(r.events)))
			g.Jump(done)
		}
		opFails := func() { fail(opFails, 0) }
		switch b.kind {
		case scalarBlock:
			g.scalarCode(b, 0, len(b.code), func(k int) { fail(checkFails, k) })
		case stripBlock:
			g.shortStrip(b, g.failing(func() { fail(stripFails, 0) }))
		case matmulBlock:
			if b.sparse != nil {
				g.sparseProduct(bs[i:i+1], r, done)
			} else {
				g.matmul(b)
			}
		case effectBlock:
			g.rejection(b, g.failing(opFails))
		case arrayBlock:
			if small(g.p.target, b) {
				g.smallMatrix(bs[i:i+1], r, done)
				continue
			}
			var wrong native.Label
			if b.array.fails {
				wrong = g.failing(opFails)
			}
			b.array.move(g, b, wrong)
		default:
			g.region(b.reg, r, done)
		}
	}
}

// failing returns a label of the code that fail generates. It is placed after the function.
func (g *generator) failing(fail func()) native.Label {
	l := g.NewLabel()
	g.After(func() {
		g.Place(l)
		fail()
	})
	return l
}

// ifNumber jumps to l if the comparison of a number with 0 holds. The number is the first of a view
// that has moved.
func (g *generator) ifNumber(c native.Comparison, view int32, by moving, l native.Label) {
	at := g.uniform(view)
	if by.word >= 0 && by.by != 0 {
		g.address(native.T1, view, 0, by)
		at = native.Address{Base: native.T1, Index: native.NoReg}
	}
	g.number(func(b *native.Builder) { b.Branch(b.Compare(c, b.Load(at), b.Number(0)), l) })
}

// rejection generates the code of a rejection: if its condition holds, the op itself runs, and
// fails.
func (g *generator) rejection(b *block, wrong native.Label) {
	g.ifNumber(native.NEQ, b.args[0], moving{-1, 0}, wrong)
}

// taking generates the code that reads elements at computed positions. If one is out of range, the
// op itself runs, and fails.
func (g *generator) taking(b *block, wrong native.Label) {
	g.LeaAddress(native.T2, g.uniform(b.args[0]))
	g.LeaAddress(native.T1, g.uniform(b.dst))
	g.LeaAddress(native.T3, g.uniform(b.args[1]))
	for k := range b.node.Type.Size() {
		g.ToInt(native.T0, native.At(native.T3, int32(8*k)))
		g.CmpImm(native.T0, int32(b.types[0].Size()))
		g.If(native.AboveE, wrong)
		g.MovLoad(native.T0, native.Indexed(native.T2, native.T0, 8, 0))
		g.MovStore(native.At(native.T1, int32(8*k)), native.T0)
	}
}

// replacing generates the code that replaces elements at computed positions.
func (g *generator) replacing(b *block, _ native.Label) {
	g.copyChanged(b)
	g.putAt(b, b.args[1], false)
}

// adding generates the code that adds to elements at computed positions.
func (g *generator) adding(b *block, _ native.Label) {
	g.copyChanged(b)
	g.putAt(b, b.args[1], true)
}

// copyChanged generates the copy of an array whose elements will change. It generates nothing if
// they change in place.
func (g *generator) copyChanged(b *block) {
	if !g.p.inPlace(b) {
		g.copying(&copying{dst: b.dst, src: b.args[0], n: b.node.Type.Size()}, moving{-1, 0}, moving{-1, 0})
	}
}

// putting generates the code that adds to zeros at computed positions.
func (g *generator) putting(b *block, _ native.Label) {
	g.clear(b.dst)
	g.putAt(b, b.args[0], true)
}

// putAt generates the code that stores or adds values at computed positions; those out of range are
// skipped.
func (g *generator) putAt(b *block, values int32, add bool) {
	size := b.node.Type.Size()
	positions := b.args[len(b.args)-1]
	g.LeaAddress(native.T1, g.uniform(b.dst))
	g.LeaAddress(native.T2, g.uniform(values))
	g.LeaAddress(native.T3, g.uniform(positions))
	for k := range b.types[len(b.types)-1].Size() {
		beyond := g.NewLabel()
		g.ToInt(native.T0, native.At(native.T3, int32(8*k)))
		g.CmpImm(native.T0, int32(size))
		g.If(native.AboveE, beyond)
		to := native.Address{Base: native.T1, Index: native.T0}
		x := g.Builder()
		v := x.Load(native.Address{Base: native.T2, Index: native.NoReg, Disp: int32(8 * k)})
		if add {
			v = x.Add(x.Load(to), v)
		}
		x.Store(to, v, false)
		g.Frame(1).Emit(x, 1)
		g.Place(beyond)
	}
}

// shortStrip generates the code of a block with a single strip. It jumps to wrong if a check fails.
func (g *generator) shortStrip(b *block, wrong native.Label) {
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
	s.end(wrong)
}

// exchanges reports whether the function of all blocks copies point and gradient.
func (g *generator) exchanges() bool {
	numbers := 0
	for _, t := range slices.Concat(g.p.point, g.p.gradient) {
		numbers += t.n
	}
	return numbers <= maxExchanged
}

// takePoint copies the numbers at R1 to the inputs, unless R1 is 0.
func (g *generator) takePoint() {
	none := g.NewLabel()
	g.CmpImm(native.R1, 0)
	g.If(native.Equal, none)
	for _, t := range g.p.point {
		for k := 0; k < t.n; {
			f := g.Frame(min(t.n-k, 4))
			n := min(f.Lanes(), t.n-k)
			b := g.Builder()
			b.Store(beyond(native.Memory, 8*(t.off+k)), b.Load(beyond(native.R1, 8*(t.at+k))), false)
			f.Emit(b, n)
			k += n
		}
	}
	g.Place(none)
}

// giveGradient copies the gradient to the address in scratch memory, unless that is 0. It copies
// single numbers, because they may just have been stored one by one, and the processor delays a
// wider load until these stores are complete.
func (g *generator) giveGradient(address int32) {
	none := g.NewLabel()
	g.MovLoad(native.R2, native.At(native.Scratch, 8*address))
	g.CmpImm(native.R2, 0)
	g.If(native.Equal, none)
	f := g.Frame(1)
	for _, t := range g.p.gradient {
		for k := range t.n {
			from := beyond(native.Memory, 8*(t.off+k))
			if t.view >= 0 {
				from = g.element(t.view, k)
			}
			b := g.Builder()
			b.Store(beyond(native.R2, 8*(t.at+k)), b.Load(from), false)
			f.Emit(b, 1)
		}
	}
	g.Place(none)
}

// pointerTo returns the address of numbers, as an argument of machine code.
func pointerTo(x []float64) int { return int(uintptr(unsafe.Pointer(unsafe.SliceData(x)))) }

// runFused runs the function of blocks, with the addresses of a point and of its gradient if
// it copies them.
func (m *Machine) runFused(r *fusedRun, point, gradient int) error {
	for at := 0; ; {
		at = r.fn.Run(m.memory, m.viewTable, m.scratchMemory, at, point, gradient)
		if at == 0 {
			return nil
		}
		if err := m.happen(&r.events[at-1]); err != nil {
			return err
		}
	}
}

// happen handles the event for which a function returned.
func (m *Machine) happen(e *event) error {
	var err error
	switch e.kind {
	case pause:
		if w := m.watch; w != nil && w.left.Load() {
			return errLeft
		}
		if m.env.Stop != nil {
			return m.env.Stop()
		}
		return nil
	case historyFull:
		lane := 0
		if e.lane >= 0 {
			lane = int(*(*int64)(unsafe.Add(m.scratchMemory, 8*e.lane)))
		}
		e.loop.thin(m, e.reg, lane)
		return nil
	case runBlock:
		return m.run(e.b)
	case checkFails:
		return m.failedCheck(&e.b[0], e.k)
	case opInGo:
		if b := &e.b[0]; b.kind == matmulBlock {
			m.matmul(b)
			return nil
		}
		return m.single(&e.b[0])
	case opFails:
		err = m.single(&e.b[0])
	case stripFails:
		code := e.b[0].code
		if k := m.strip(&e.b[0], code, 0); k >= 0 {
			err = m.failed(failure{k: len(code)}, code, k, 0).error()
		}
	}
	if err == nil {
		err = errDisagree
	}
	return err
}

// setLengths sets the lengths of the views that machine code moves; the code itself only changes
// addresses.
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
