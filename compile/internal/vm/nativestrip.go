package vm

import (
	"errors"
	"unsafe"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// Registers of the code of a strip: CX is the number of the element within the
// block, DX where the last four begin, R8 the end, R9 what makes a place of a
// temporary of CX. The others hold addresses.
const (
	element  = native.CX
	lastFour = native.DX
	endOf    = native.R8
	temps    = native.R9
)

// sumPlace is where a sum of lanes is kept: a register or scratch memory.
type sumPlace struct {
	reg native.Vec // 0: none
	at  int32
	dst int32 // view
}

// operands of an instruction of a strip: views, and which are one number in all
// lanes.
type stripOperands struct {
	op      ad.OpCode // on the lanes
	views   [3]int32
	uniform [3]bool
	n       int
}

// stripForm takes an instruction apart.
func stripForm(in *instr) (f stripOperands) {
	mode := in.op & 3
	f.op, f.views, f.n = ad.OpCode(in.op>>2), [3]int32{in.a, in.b, in.c}, 1
	switch in.op {
	case fill:
		f.uniform[0] = true
		return
	case move1, check, sum, not, isNaN, expNegAbs:
		return
	case dot, expNegDiff, maxPlus0, minMinus0, sigmoid:
		f.n = 2
		return
	case maxPlus:
		f.n = 3
		return
	}
	switch in.op &^ 3 {
	case add, sub, mul, div, guarded, less, lessEq, notLessEq:
		f.n = 2
		f.uniform = [3]bool{mode == modeSV, mode == modeVS}
	case generic1 &^ 3:
		f.op = ad.OpCode(in.x)
	case generic2:
		f.op, f.n = ad.OpCode(in.x), 2
		f.uniform = [3]bool{mode == modeSV, mode == modeVS}
	case choose, mulAdd, mulSub, subMul:
		f.n = 3
		f.uniform = [3]bool{false, mode&modeVS != 0, mode&modeSV != 0}
	}
	return
}

// stripNative reports whether an instruction of a strip has machine code.
func (g *generator) stripNative(b *block, in *instr) bool {
	switch in.op {
	case fill, move1, neg, square, abs, sqrt, inv, exp, log, log1p, log1m, check, sum, not, isNaN, dot, expNegAbs, expNegDiff, maxPlus0, minMinus0,
		sigmoid, maxPlus:
		return true
	case loadTable, loadRuns, loadAffine:
		return true
	case generic1, generic2, generic2 | modeVS, generic2 | modeSV:
		switch ad.OpCode(in.x) {
		case ad.OpDetach, ad.OpFloor, ad.OpCeil, ad.OpTrunc, ad.OpMax, ad.OpMin, ad.OpPow, ad.OpIsInf, ad.OpEqual, ad.OpNotEqual:
			return true
		}
		return false
	}
	switch in.op &^ 3 {
	case add, sub, mul, div, guarded, less, lessEq, notLessEq, choose, mulAdd, mulSub, subMul:
		return true
	}
	return false
}

func (g *generator) stripOperands(in *instr) (reads []key, writes key) {
	writes = 2 * in.dst
	switch in.op {
	case loadTable, loadRuns, loadAffine:
		return nil, writes
	case check, sum, dot:
		writes = -2
	}
	f := stripForm(in)
	for i := range f.n {
		k := 2 * f.views[i]
		if f.uniform[i] {
			k++
		}
		reads = append(reads, k)
	}
	return reads, writes
}

// stripFunction makes the instructions from from to to of a strip. The function
// returns whether a check fails; then nothing that it has computed counts.
func (g *generator) stripFunction(b *block, from, to int) {
	g.begin(b, b.code[from:to], 4)
	l := g.lanes
	g.invert()
	l.Mov(temps, element)
	l.Shl(temps, 3)
	l.Mov(native.AX, native.DI)
	l.Sub(native.AX, temps)
	l.Mov(temps, native.AX)
	first, last := g.stripBegin()
	live := g.liveOut(b, to)
	loop, rest := g.NewLabel(), g.NewLabel()
	l.Cmp(element, lastFour)
	l.If(native.GreaterE, rest)
	l.Place(loop)
	g.lanesOnce(first, last, live)
	l.AddImm(element, 4)
	l.Cmp(element, lastFour)
	l.If(native.Less, loop)
	l.Place(rest)
	for _, w := range []int{2, 1} {
		none := g.NewLabel()
		l.Mov(native.AX, endOf)
		l.Sub(native.AX, element)
		l.TestImm(native.AX, int32(w))
		l.If(native.Equal, none)
		g.lanes.Width = w
		g.lanesOnce(first, last, live)
		l.AddImm(element, int32(w))
		l.Place(none)
	}
	g.lanes.Width = 4
	g.stripEnd()
	l.MovImm(native.AX, 0)
	if g.checks {
		l.Signs(native.AX, g.bad)
	}
	l.ZeroUpper()
	l.Ret()
}

// stripBegin makes what comes before the lanes and returns which registers they
// may use: failures and sums have their own, from the last one downwards.
func (g *generator) stripBegin() (first, last native.Vec) {
	l := native.Lanes{Asm: g.Asm, Width: 4}
	first, last = g.firstOpen(), 15
	for k := range g.code {
		g.checks = g.checks || g.code[k].op == check
	}
	if g.checks {
		g.bad = last
		last--
		l.Zero(g.bad)
	}
	zero := false
	for k := range g.code {
		in := &g.code[k]
		if in.op != sum && in.op != dot {
			continue
		}
		s := sumPlace{dst: in.dst}
		if last >= first+4 {
			s.reg = last
			last--
			l.Zero(s.reg)
		} else {
			s.at = int32(g.scratch)
			g.scratch += 4
			if !zero {
				l.Zero(0)
				zero = true
			}
			l.Store(native.At(native.Scratch, 8*s.at), 0)
		}
		g.sums = append(g.sums, s)
	}
	return first, last
}

// stripEnd adds sums to where they belong.
func (g *generator) stripEnd() {
	l, one := native.Lanes{Asm: g.Asm, Width: 4}, native.Lanes{Asm: g.Asm, Width: 1}
	for _, s := range g.sums {
		x := s.reg
		if x == 0 {
			x = 1
			l.Load(x, native.At(native.Scratch, 8*s.at))
		}
		l.SumLanes(0, x)
		m := g.uniformMem(s.dst)
		one.DoMem(native.Add, 0, 0, m)
		one.Store(m, 0)
	}
}

// invert computes the reciprocals of numbers that lanes are divided by; where one
// is not normal, the interpreter is to divide.
func (g *generator) invert() {
	g.inverses = map[int32]int32{}
	l := native.Lanes{Asm: g.Asm, Width: 1}
	for k := range g.code {
		in := &g.code[k]
		if in.op != div|modeVS {
			continue
		}
		if _, ok := g.inverses[in.b]; ok {
			continue
		}
		at := int32(g.scratch)
		g.scratch += 4
		g.inverses[in.b] = at
		other := g.NewLabel()
		l.Load(1, g.uniformMem(in.b))
		l.DoMem(native.And, 0, 1, g.Word(^uint64(signBit)))
		l.CompareMem(native.GT, 2, 0, g.Number(1e-300))
		l.CompareMem(native.LT, 3, 0, g.Number(1e300))
		l.Do(native.And, 2, 2, 3)
		l.Signs(native.AX, 2)
		l.TestImm(native.AX, 1)
		l.If(native.NotEqual, other)
		l.MovImm(native.AX, stripOther)
		l.ZeroUpper()
		l.Ret()
		l.Place(other)
		l.Load(0, g.Number(1))
		l.Do(native.Div, 0, 0, 1)
		l.Store(native.At(native.Scratch, 8*at), 0)
	}
}

// liveOut are the temporaries that instructions from to on read.
func (g *generator) liveOut(b *block, to int) map[int32]bool {
	live := map[int32]bool{}
	for k := len(b.code) - 1; k >= to; k-- {
		in := &b.code[k]
		delete(live, in.dst)
		for _, v := range []int32{in.a, in.b, in.c} {
			live[v] = true // more than it reads, perhaps
		}
	}
	return live
}

// lanesOnce makes the instructions for four lanes.
func (g *generator) lanesOnce(first, last native.Vec, live map[int32]bool) {
	g.cache.reset(first, last)
	g.spills, g.pending = map[int32]int32{}, map[int32]bool{}
	g.findUses(g.stripOperands)
	l, all := g.lanes, native.Lanes{Asm: g.Asm, Width: 4}
	sums := g.sums
	for k := range g.code {
		in := &g.code[k]
		f, us := stripForm(in), g.uses[k]
		dst := us[0]
		var v [3]native.Vec
		for i, u := range us[1:] {
			v[i] = g.stripValue(u)
		}
		switch in.op {
		case check:
			set := &g.p.stripChecks[in.b].node.Attr.(*ad.Check).Set
			lo, hi := bounds(set)
			l.CompareMem(lo, 0, v[0], g.Number(set.Lo))
			l.CompareMem(hi, 1, v[0], g.Number(set.Hi))
			l.Do(native.Or, 0, 0, 1)
			l.Alone(0, 0)
			all.Do(native.Or, g.bad, g.bad, 0)
			g.unpin()
			continue
		case sum, dot:
			x := v[0]
			if in.op == dot {
				l.Do(native.Mul, 0, v[0], v[1])
				x = 0
			}
			if l.Width < 4 {
				l.Alone(0, x)
				x = 0
			}
			if s := sums[0]; s.reg > 0 {
				all.Do(native.Add, s.reg, s.reg, x)
			} else {
				at := native.At(native.Scratch, 8*s.at)
				all.DoMem(native.Add, 0, x, at)
				all.Store(at, 0)
			}
			sums = sums[1:]
			g.unpin()
			continue
		}
		// The operands are read after the result's register may be written,
		// but by one instruction.
		_, two := operation(f.op)
		if two || in.op == square || in.op == sqrt || in.op == neg || in.op == abs || in.op == move1 || in.op == fill {
			for i, u := range us[1:] {
				if u.next == never {
					g.cache.pins[v[i]] = false
				}
			}
		}
		g.forget(dst.key)
		d := g.take(dst.key, dst.next)
		switch in.op {
		case loadTable, loadRuns, loadAffine:
			g.gather(d, in)
		case div | modeVS: // see divVS
			l.Broadcast(0, native.At(native.Scratch, 8*g.inverses[in.b]))
			l.Do(native.Mul, d, v[0], 0)
		default:
			g.elementwise(f.op, d, v[0], v[1], v[2])
		}
		g.written(dst, d, live)
		g.unpin()
	}
}

// written keeps a result: in memory, or in a register alone if it is a temporary
// that nobody else reads.
func (g *generator) written(dst use, d native.Vec, live map[int32]bool) {
	view := dst.key / 2
	if !g.b.temps[view] {
		g.store(view, d)
		return
	}
	if dst.next == never && live[view] {
		g.store(view, d)
		return
	}
	if live[view] { // it is read here and there
		g.store(view, d)
	}
	g.pending[dst.key] = true
}

func (g *generator) store(view int32, d native.Vec) {
	if !g.b.temps[view] {
		g.dropOverlaps(view)
	}
	g.lanes.Store(g.elementMem(view), d)
}

// dropOverlaps forgets what registers hold of memory that view shows part of.
func (g *generator) dropOverlaps(view int32) {
	written := &g.p.views[g.whole(view)]
	for r, k := range g.cache.held {
		if k < 0 || k/2 == view || g.b.temps[k/2] {
			continue
		}
		s := &g.p.views[g.whole(k/2)]
		if s.data == nil && (s.unset || written.unset || s.off < written.off+written.n && written.off < s.off+s.n) {
			g.cache.held[r] = -1
		}
	}
}

// whole is the view that a view of the strip is part of.
func (g *generator) whole(view int32) int32 {
	for i := range g.b.wins {
		if w := &g.b.wins[i]; w.dst == view {
			return w.src
		}
	}
	return view
}

// stripValue is an operand in a register.
func (g *generator) stripValue(u use) native.Vec {
	l := g.lanes
	r, ok := g.cache.find(u.key)
	if !ok {
		r = g.take(u.key, u.next)
		view := u.key / 2
		switch at, spilled := g.spills[u.key]; {
		case spilled:
			l.Load(r, native.At(native.Scratch, 8*at))
		case u.key%2 == 1:
			if x, ok := g.known(view); ok {
				l.Load(r, g.Number(x))
			} else {
				l.Broadcast(r, g.uniformMem(view))
			}
		default:
			l.Load(r, g.elementMem(view))
		}
	}
	g.cache.next[r], g.cache.pins[r] = u.next, true
	return r
}

// known is the number that a view shows if it is constant.
func (g *generator) known(view int32) (float64, bool) {
	if s := &g.p.views[view]; !s.unset && s.data != nil {
		return s.data[0], true
	}
	return 0, false
}

// uniformMem is the first element of a view; AX is overwritten.
func (g *generator) uniformMem(view int32) native.Mem {
	s := &g.p.views[view]
	switch {
	case s.unset:
		g.MovLoad(native.AX, native.At(native.SI, 24*view))
		return native.At(native.AX, 0)
	case s.data != nil:
		g.MovImm(native.AX, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(s.data)))))
		return native.At(native.AX, 0)
	}
	return native.At(native.DI, int32(8*s.off))
}

// elementMem is the element of a view that CX tells; AX is overwritten.
func (g *generator) elementMem(view int32) native.Mem {
	temp := g.b.temps[view]
	view = g.whole(view)
	s := &g.p.views[view]
	switch {
	case temp:
		return native.Indexed(temps, element, 8, int32(8*s.off))
	case s.unset:
		g.MovLoad(native.AX, native.At(native.SI, 24*view))
		return native.Indexed(native.AX, element, 8, 0)
	case s.data != nil:
		g.MovImm(native.AX, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(s.data)))))
		return native.Indexed(native.AX, element, 8, 0)
	}
	return native.Indexed(native.DI, element, 8, int32(8*s.off))
}

// gather loads elements by a table, which is padded for the last lanes.
func (g *generator) gather(d native.Vec, in *instr) {
	m := &g.p.maps[in.c]
	l, one := g.lanes, native.Lanes{Asm: g.Asm, Width: 1}
	base, at := native.R11, native.BX
	off := m.off
	if m.table == nil {
		if m.n1 >= g.b.n && m.s1 <= 1 && m.s1 >= 0 { // neighbours, or all the same one
			src := g.uniformMem(in.a)
			src.Disp += int32(8 * m.off)
			if m.s1 == 0 {
				l.Broadcast(d, src)
			} else {
				src.Index, src.Scale = element, 8
				l.Load(d, src)
			}
			return
		}
		off = 0 // it is in the table
	}
	table := m.elements(g.b.n)
	if src := g.uniformMem(in.a); src.Base == native.AX {
		l.Mov(base, native.AX)
		if off != 0 {
			l.AddImm(base, int32(8*off))
		}
	} else {
		src.Disp += int32(8 * off)
		l.Lea(base, src)
	}
	l.MovImm(at, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(table)))))
	pair := func(to native.Vec, k int32) {
		l.MovLoad32(native.AX, native.Indexed(at, element, 4, 4*k))
		one.Load(to, native.Indexed(base, native.AX, 8, 0))
		l.MovLoad32(native.AX, native.Indexed(at, element, 4, 4*k+4))
		one.LoadHigh(to, to, native.Indexed(base, native.AX, 8, 0))
	}
	switch l.Width {
	case 4:
		pair(0, 0)
		pair(1, 2)
		l.Join(d, 0, 1)
	case 2:
		pair(d, 0)
	default:
		l.MovLoad32(native.AX, native.Indexed(at, element, 4, 0))
		l.Load(d, native.Indexed(base, native.AX, 8, 0))
	}
}

// elements is the table of n elements, off included if the mapping has none.
func (m *mapping) elements(n int) []int32 {
	if m.table != nil {
		return m.table
	}
	if m.written == nil {
		m.written = make([]int32, n)
		for i := range m.written {
			e, _ := m.first(i)
			m.written[i] = int32(e)
		}
	}
	return m.written
}

// Results of a function of a strip.
const (
	stripDone  = 0
	stripOther = 16 // not run: the interpreter is to run it; others: a check fails
)

// nativeStrips runs a block's segments over n elements, a strip at a time.
func (m *Machine) nativeStrips(b *block) error {
	fail := failure{k: len(b.code)}
	mixed := len(b.native) > 1
	for pos := 0; pos < b.n; pos += b.strip {
		end := min(b.n, pos+b.strip)
		if mixed {
			m.windows(b, pos, end-pos)
		}
		if fail.check == nil && m.segments(b, pos, end) {
			continue
		}
		// The interpreter finds out which check fails, and where.
		m.windows(b, pos, end-pos)
		code := b.code[:min(fail.k+1, len(b.code))]
		if k := m.strip(code, pos); k >= 0 {
			fail = m.failed(fail, code, k, pos)
		} else if fail.check == nil {
			return errDisagree
		}
	}
	return fail.error()
}

// errDisagree is a mistake of this package's.
var errDisagree = errors.New("machine code rejects what the interpreter accepts")

// segments runs a strip from element pos to end. It reports whether all checks
// hold.
func (m *Machine) segments(b *block, pos, end int) bool {
	last := pos + (end-pos)&^3
	for i := range b.native {
		s := &b.native[i]
		if s.native {
			switch s.fn.Run(m.memory, m.viewTable, m.scratchMemory, pos, last, end) {
			case stripDone:
				continue
			case stripOther:
				m.windows(b, pos, end-pos)
			default:
				return false
			}
		}
		if m.strip(b.code[s.from:s.to], pos) >= 0 {
			return false
		}
	}
	return true
}
