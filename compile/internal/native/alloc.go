package native

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

const (
	never   = math.MaxInt32
	nowhere = Vec(255)
)

// allocation generates the code of one formula in a frame. It puts values into registers as they
// are needed. If no register is free, it evicts the value whose next use is furthest (Belady's
// rule), to scratch memory unless the value can be computed again.
type allocation struct {
	*Frame
	b      *Builder
	active int
	live   []bool
	after  [][3]int // by operand of an instruction: the value's next use after it
	first  []int    // by value: its first use
	calls  []int    // by instruction: the next call of a routine, from this instruction on
	next   []int    // by value: its next use, at the current instruction
	// next uses as analyse sees them on its way from the last instruction to the first
	ahead  []int
	lent   bool // deferred code still uses this allocation, so Emit must not reuse it
	reg    []Vec
	slot   []int32 // by value: its place in scratch memory; -1: none
	stored []bool  // whether the value has been stored at its home
	held   [2][64]Value
	pinned [2]uint64
	used   int // number of places in scratch memory in use
}

// Emit generates the code of the instructions that b has recorded. Only results in the first active
// lanes are stored and summed.
func (f *Frame) Emit(b *Builder, active int) {
	b.callTogether()
	x := f.a.spare // reused: there are many formulas, and most are short
	if x == nil {
		x = newAllocation()
	}
	f.a.spare = nil
	defer func() {
		if !x.lent {
			f.a.spare = x
			f.a.giveBack(b)
		}
	}()
	x.Frame, x.b, x.active, x.used, x.pinned = f, b, active, 0, [2]uint64{}
	x.analyse()
	n := len(b.code)
	x.reg, x.slot, x.stored = fresh(x.reg, n), fresh(x.slot, n), fresh(x.stored, n)
	for i := range n {
		x.reg[i], x.slot[i] = nowhere, -1
	}
	for c := range x.held {
		for r := range x.held[c] {
			x.held[c][r] = -1
		}
	}
	for i := range b.code {
		if in := &b.code[i]; in.prim == primIn && x.first[i] != never {
			x.place(Value(i), Vec(in.imm), x.first[i])
		}
	}
	for i := range b.code {
		if x.live[i] {
			x.instruction(i)
			x.pinned = [2]uint64{}
		}
	}
	// In a routine, the registers of the two results may have to be swapped.
	if f.inner && len(b.outs) == 2 {
		x.arrange([]Value{b.outs[0].v, b.outs[1].v})
		return
	}
	for _, o := range b.outs {
		x.move(o.r, o.v)
	}
}

// usual is a length that few formulas exceed; memory is allocated for this length at once.
const usual = 64

// newAllocation returns an allocation whose slices share its memory.
func newAllocation() *allocation {
	of := &struct {
		allocation
		live, stored       [usual]bool
		after              [usual][3]int
		first, next, ahead [usual]int
		calls              [usual + 1]int
		reg                [usual]Vec
		slot               [usual]int32
	}{}
	x := &of.allocation
	x.live, x.stored, x.after, x.first = of.live[:], of.stored[:], of.after[:], of.first[:]
	x.next, x.ahead, x.calls, x.reg, x.slot = of.next[:], of.ahead[:], of.calls[:], of.reg[:], of.slot[:]
	return x
}

// fresh returns n zeros. It uses the memory of s if that is large enough.
func fresh[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// paired describes a call of a routine with two results: the instruction of the second result, and
// the register of the first.
type paired struct {
	second int
	first  Vec
}

// callTogether merges two calls into one where a single routine computes both functions.
func (b *Builder) callTogether() {
	for i := range b.code {
		first := &b.code[i]
		if first.prim != primCall {
			continue
		}
		for k := i + 1; k < len(b.code); k++ {
			second := &b.code[k]
			if second.prim != primCall || !slices.Equal(first.operands(), second.operands()) {
				continue
			}
			for r, of := range together {
				swapped := slices.Index(of[:], Routine(first.imm))
				if swapped >= 0 && of[1-swapped] == Routine(second.imm) {
					first.imm, *second = uint64(r), instruction{prim: primSecond, imm: uint64(i)}
					if b.pairs == nil {
						b.pairs = map[int]paired{}
					}
					b.pairs[i] = paired{k, Vec(swapped)}
					break
				}
			}
		}
	}
}

// analyse finds the values that are needed (liveness analysis), and the next uses of each.
func (x *allocation) analyse() {
	code := x.b.code
	n := len(code)
	x.live, x.after, x.first, x.calls = fresh(x.live, n), fresh(x.after, n), fresh(x.first, n), fresh(x.calls, n+1)
	x.next, x.ahead = fresh(x.next, n), fresh(x.ahead, n)
	next := x.ahead
	for i := range next {
		next[i] = never
	}
	for _, o := range x.b.outs {
		next[o.v] = n
	}
	x.calls[n] = never
	for i := n - 1; i >= 0; i-- {
		in := &code[i]
		x.first[i] = next[i]
		x.calls[i] = x.calls[i+1]
		// One instruction loads all values of a fetch, so a use of any is a use of the first.
		if in.prim == primField {
			for k := i; ; k-- {
				if code[k].prim == primFetch {
					next[k] = min(next[k], next[i])
					break
				}
			}
		}
		if in.prim == primSecond && next[i] != never { // the call is needed, perhaps not its first result
			x.live[in.imm] = true
		}
		if !primitives[in.prim].effect && next[i] == never && !x.live[i] {
			continue
		}
		x.live[i] = true
		if in.prim == primCall {
			x.calls[i] = i
		}
		vs := in.operands()
		for k, v := range vs {
			x.after[i][k] = next[v]
		}
		for _, v := range vs {
			next[v] = i
		}
		// The code jumped to needs all operands of the formula, see unless.
		if in.prim == primUnless {
			for k := range code {
				if code[k].prim == primIn {
					next[k] = i
				}
			}
		}
	}
}

func (x *allocation) class(v Value) int {
	if primitives[x.b.code[v].prim].truth && x.truths() {
		return ofTruths
	}
	return ofVectors
}

// truths reports whether truth values have separate registers (mask registers).
func (f *Frame) truths() bool { return f.a.Target.Truths > 0 && f.v == f.a.whole }

// place records that register r holds v.
func (x *allocation) place(v Value, r Vec, next int) {
	c := x.class(v)
	x.reg[v], x.next[v], x.held[c][r] = r, next, v
}

// vacate records that register r is free.
func (x *allocation) vacate(c int, r Vec) {
	if v := x.held[c][r]; v >= 0 {
		x.reg[v] = nowhere
		x.held[c][r] = -1
	}
}

// again reports whether v need not be stored, because it can be computed or loaded again.
func (x *allocation) again(v Value) bool {
	switch x.b.code[v].prim {
	case primWord, primLoad, primBroadcast:
		return true
	}
	return x.slot[v] >= 0 || x.stored[v]
}

// keep stores v at its home or in scratch memory if its register is the only place where it exists.
func (x *allocation) keep(v Value) {
	if x.again(v) {
		return
	}
	if x.class(v) == ofTruths {
		panic("native: no register for a truth")
	}
	// A second result exists before the instruction it replaces, while its home may still be in use
	// by another value.
	if home, ok := x.b.homes[v]; ok && x.b.code[v].prim != primSecond && x.active == x.v.lanes() {
		x.v.store(x.a.mem(home, T0), x.reg[v], x.active)
		x.stored[v] = true
		return
	}
	slots := &x.a.slots
	if x.inner {
		slots = &x.a.inner
	}
	if x.used == len(*slots) {
		*slots = append(*slots, x.a.Reserve(x.a.Target.Lanes))
	}
	x.slot[v] = (*slots)[x.used]
	x.used++
	x.v.store(At(Scratch, 8*x.slot[v]), x.reg[v], x.v.lanes())
}

// take returns a register for a value that is used next at instruction next. If there is a call
// before that use, it is a register that routines do not use.
func (x *allocation) take(c, i, next int) Vec {
	free := x.free[c]
	best, last := nowhere, -1
	across := c == ofVectors && i+1 < len(x.calls) && x.calls[i+1] < next
	low := uint64(1)<<x.a.routineVectors(x.v) - 1
	for _, part := range [2]uint64{low, ^low} {
		if across {
			part = ^part
		}
		for set := free & part &^ x.pinned[c]; set != 0; set &= set - 1 {
			r := Vec(bits.TrailingZeros64(set))
			v := x.held[c][r]
			if v < 0 {
				return r
			}
			if x.next[v] > last {
				best, last = r, x.next[v]
			}
		}
	}
	if best == nowhere {
		panic(fmt.Sprintf("native: no register in class %d", c))
	}
	x.keep(x.held[c][best])
	x.vacate(c, best)
	return best
}

// need returns a register that holds a value, for instruction i.
func (x *allocation) need(v Value, i int) Vec {
	c := x.class(v)
	r := x.reg[v]
	if r == nowhere {
		r = x.take(c, i, x.next[v])
		x.load(v, r)
		x.place(v, r, x.next[v])
	}
	x.pinned[c] |= 1 << r
	return r
}

// load loads a value that is in no register.
func (x *allocation) load(v Value, r Vec) {
	in := &x.b.code[v]
	switch {
	case x.slot[v] >= 0:
		x.v.load(r, At(Scratch, 8*x.slot[v]), x.v.lanes())
	case in.prim == primWord:
		x.v.word(r, in.imm)
	case in.prim == primLoad:
		x.v.load(r, x.a.mem(x.b.places[in.imm], T0), x.active)
	case in.prim == primBroadcast:
		x.v.broadcast(r, x.a.mem(x.b.places[in.imm], T0))
	case x.stored[v]:
		x.v.load(r, x.a.mem(x.b.homes[v], T0), x.active)
	default:
		panic(fmt.Sprintf("native: value %d is lost", v))
	}
}

// move makes register r hold v, whatever it held before.
func (x *allocation) move(r Vec, v Value) {
	if x.reg[v] == nowhere {
		x.load(v, r)
	} else if x.reg[v] != r {
		x.v.copy(r, x.reg[v])
	}
}

// done frees the registers of operands whose last use is instruction i.
func (x *allocation) done(i int) {
	for k, v := range x.b.code[i].operands() {
		x.next[v] = x.after[i][k]
	}
	for _, v := range x.b.code[i].operands() {
		if x.next[v] == never && x.reg[v] != nowhere {
			c := x.class(v)
			r := x.reg[v]
			x.vacate(c, r)
			x.pinned[c] &^= 1 << r
		}
	}
}

// result returns a register for the value of instruction i.
func (x *allocation) result(i int) Vec {
	v := Value(i)
	r := x.take(x.class(v), i, x.first[i])
	x.place(v, r, x.first[i])
	return r
}

// inMemory returns the address of an operand that can stay in memory: a load or stored value with
// no later use.
func (x *allocation) inMemory(v Value, later int) (Address, bool) {
	in := &x.b.code[v]
	if x.reg[v] != nowhere || x.slot[v] >= 0 || later != never {
		return Address{}, false
	}
	if in.prim == primLoad && x.active == x.v.lanes() {
		return x.b.places[in.imm], true
	}
	if x.stored[v] && x.active == x.v.lanes() {
		return x.b.homes[v], true
	}
	return Address{}, false
}

func (x *allocation) instruction(i int) {
	in := &x.b.code[i]
	switch in.prim {
	case primField, primSecond: // generated together with the first value of the fetch or call
		return
	case primIn, primWord, primLoad, primBroadcast: // loaded when first needed
		x.next[i] = x.first[i]
		return
	case primCall:
		x.call(i)
		return
	case primUnless:
		x.unless(i)
		return
	}
	vs := in.operands()
	if len(vs) == 2 && x.v.folds(in.prim) {
		a, b := vs[0], vs[1]
		commutes := in.prim == primAdd || in.prim == primMul || in.prim == primAnd || in.prim == primOr || in.prim == primXor
		isWord := func(v Value) bool { return x.b.code[v].prim == primWord && x.reg[v] == nowhere }
		if commutes && isWord(a) && !isWord(b) {
			a, b = b, a
		}
		if isWord(b) {
			ra := x.need(a, i)
			x.done(i)
			x.v.opWord(in.prim, in.imm, x.result(i), ra, x.b.code[b].imm)
			return
		}
		if p, ok := x.inMemory(b, x.laterOf(i, b)); ok && a != b && in.prim != primAnd && in.prim != primOr && in.prim != primXor {
			ra := x.need(a, i)
			m := x.a.mem(p, T0)
			x.done(i)
			x.v.opMem(in.prim, in.imm, x.result(i), ra, m)
			return
		}
	}
	if in.prim == primProduct && x.v.lanes() > 1 {
		if p, ok := x.inMemory(in.b, x.laterOf(i, in.b)); ok && in.a != in.b {
			x.v.addProduct(x.accs[in.imm].reg, x.need(in.a, i), x.a.mem(p, T0))
			x.done(i)
			return
		}
	}
	if in.prim == primMulAdd && x.mulAddMem(i) {
		return
	}
	var r [3]Vec
	for k, v := range vs {
		r[k] = x.need(v, i)
	}
	switch in.prim {
	case primStore:
		x.v.store(x.a.mem(x.b.places[in.imm], T0), r[0], x.active)
		if home, ok := x.b.homes[in.a]; ok && home == x.b.places[in.imm] && x.active == x.v.lanes() {
			x.stored[in.a] = true
		}
		x.done(i)
	case primSum, primProduct, primCompound:
		x.accumulate(in, r)
		x.done(i)
	case primFail:
		x.v.op(primEither, 0, x.mark, x.mark, r[0], 0)
		x.done(i)
	case primExit:
		x.exit(&x.b.exits[in.imm], r[0], r[1])
		x.done(i)
	case primBranch:
		x.v.ifAny(r[0], Label(in.imm))
		x.done(i)
	case primActive:
		x.done(i)
		x.v.keepLanes(x.result(i), r[0], x.active)
	case primGather:
		g := &x.b.gather[in.imm]
		x.a.LeaAddress(T2, g.from)
		d := x.result(i)
		x.pinned[ofVectors] |= 1 << d
		t, u := x.temporaries(i)
		x.v.gather(d, t, u, T2, x.a.Fixed(T3, g.table, g.index, 4, g.disp), x.active)
	case primFetch:
		x.fetch(i, r[0])
	default:
		x.done(i)
		x.v.op(in.prim, in.imm, x.result(i), r[0], r[1], r[2])
	}
}

// mulAddMem generates a·b + c with a or b as an operand in memory, if loading it would evict
// another value. It reports whether it generated the code.
func (x *allocation) mulAddMem(i int) bool {
	in := &x.b.code[i]
	if x.roomy() || in.c == in.a || in.c == in.b || in.a == in.b {
		return false
	}
	a, b := in.a, in.b
	p, ok := x.kept(b)
	if !ok {
		a, b = b, a
		if p, ok = x.kept(b); !ok {
			return false
		}
	}
	ra, rc := x.need(a, i), x.need(in.c, i)
	m := x.a.mem(p, T0)
	d := rc
	if x.done(i); x.reg[in.c] == nowhere {
		x.place(Value(i), d, x.first[i])
	} else {
		x.pinned[ofVectors] |= 1 << ra
		d = x.result(i)
		x.v.copy(d, rc)
	}
	x.v.addProduct(d, ra, m)
	return true
}

// roomy reports whether a vector register is free.
func (x *allocation) roomy() bool {
	for set := x.free[ofVectors] &^ x.pinned[ofVectors]; set != 0; set &= set - 1 {
		if x.held[ofVectors][bits.TrailingZeros64(set)] < 0 {
			return true
		}
	}
	return false
}

// kept returns the address of a value that is in memory and in no register.
func (x *allocation) kept(v Value) (Address, bool) {
	in := &x.b.code[v]
	switch {
	case x.reg[v] != nowhere:
	case x.slot[v] >= 0:
		return Address{Base: Scratch, Index: NoReg, Disp: 8 * x.slot[v]}, true
	case x.active != x.v.lanes():
	case in.prim == primLoad:
		return x.b.places[in.imm], true
	case x.stored[v]:
		return x.b.homes[v], true
	}
	return Address{}, false
}

// fetch loads from a table. It writes result registers before it has read the whole operand, so
// they must not be the operand's register.
func (x *allocation) fetch(i int, index Vec) {
	x.a.MovImm(T2, x.b.code[i].imm)
	distances := x.b.fields[x.b.code[i].b]
	ds := make([]Vec, len(distances))
	for k := range ds {
		ds[k] = x.result(i + k)
		x.pinned[ofVectors] |= 1 << ds[k]
	}
	t, u := x.temporaries(i)
	x.v.fetch(ds, t, u, T2, distances, index)
	x.done(i)
}

// temporaries returns two free registers.
func (x *allocation) temporaries(i int) (t, u Vec) {
	t = x.take(ofVectors, i, 0)
	x.pinned[ofVectors] |= 1 << t
	return t, x.take(ofVectors, i, 0)
}

// laterOf returns the next use of operand v after instruction i.
func (x *allocation) laterOf(i int, v Value) int {
	for k, o := range x.b.code[i].operands() {
		if o == v {
			return x.after[i][k]
		}
	}
	return never
}

// accumulate adds a value or a product to an accumulator, or multiplies the accumulator first.
func (x *allocation) accumulate(in *instruction, r [3]Vec) {
	acc := &x.accs[in.imm]
	if in.prim == primProduct {
		x.v.op(primMulAdd, 0, acc.reg, r[0], r[1], acc.reg)
		return
	}
	add := func(to Vec) {
		if in.prim == primCompound {
			x.v.op(primMul, 0, to, to, r[0], 0)
			x.v.op(primAdd, 0, to, to, r[1], 0)
			return
		}
		x.v.op(primAdd, 0, to, to, r[0], 0)
	}
	if !acc.mem {
		add(acc.reg)
		return
	}
	t := x.take(ofVectors, 0, 0)
	at := At(Scratch, 8*acc.at)
	x.v.load(t, at, x.v.lanes())
	add(t)
	x.v.store(at, t, x.v.lanes())
}

// exit jumps to code after the function if a truth holds.
func (x *allocation) exit(e *exit, t, keep Vec) {
	l := x.a.NewLabel()
	x.v.ifAny(t, l)
	// Copies: by the time the deferred code is generated, x and e describe other code.
	v, a, at, code := x.v, x.a, e.at, e.code
	a.after = append(a.after, func() {
		a.Place(l)
		v.store(a.mem(at, T0), keep, v.lanes())
		code()
	})
}
