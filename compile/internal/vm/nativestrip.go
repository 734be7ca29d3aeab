package vm

import (
	"errors"
	"slices"
	"unsafe"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// Registers of the code of a strip: the index of the element within the block, the end of the last
// full group of eight, the end of the strip, and the offset from an element's index to its
// temporary.
const (
	element  = native.R0
	lastFull = native.R1
	endOf    = native.R2
	temps    = native.R3
)

// eight is the number of elements that the code of a strip computes together, on every processor.
// Sums have eight partial sums, which are added as a tree.
const eight = 8

// stripNative reports whether an instruction of a strip has machine code.
func (g *generator) stripNative(b *block, in *instr) bool {
	if in.op >= firstMove {
		return isLoad(in.op) || g.gridNative(b, in)
	}
	row := ops.Of(in.op)
	return in.op == ad.OpCheck || row.Formula != nil || row.Reduce != nil && row.Reduce.Add != nil
}

// stripMaker generates the code of a strip. It knows which values are in registers.
type stripMaker struct {
	*generator
	b     *block
	code  []instr
	frame *native.Frame
	lanes int
	sums  [][]int               // the accumulators of each sum, in the order of lanes
	live  func(view int32) bool // whether other code reads a temporary; nil: none does
	fails bool

	uniforms map[int32]native.Vec   // for each view that is one number for all elements, its register
	columns  map[int32][]native.Vec // for each array of sums by column, registers with these sums
	windows  map[int32]int32        // for each window, the view of which it is a part
}

// stripFunction generates instructions from up to, but excluding, to of a strip. The function
// reports whether a check failed; none of its results count then.
func (g *generator) stripFunction(b *block, from, to int) {
	g.MulImm(native.T0, element, 8)
	if b.split != nil {
		g.Mov(temps, native.Scratch)
	} else {
		g.Mov(temps, native.Memory)
	}
	g.Sub(temps, native.T0)
	if g.uses == nil || g.uses.of != b {
		g.uses = usesIn(b)
	}
	u := g.uses
	s := g.newStrip(b, b.code[from:to], func(view int32) bool { return u.live(view, to) })
	loop, rest, done := g.NewLabel(), g.NewLabel(), g.NewLabel()
	switch {
	case b.grid.row > 0:
		s.rows()
	case b.n >= eight:
		g.Cmp(element, lastFull)
		g.If(native.GreaterE, rest)
		g.Place(loop)
		s.elements(eight)
		g.AddImm(element, eight)
		g.Cmp(element, lastFull)
		g.If(native.Less, loop)
		g.Place(rest)
	}
	if n := b.n % eight; n > 0 && b.grid.row == 0 {
		g.Cmp(element, endOf)
		g.If(native.GreaterE, done)
		s.elements(n)
		g.Place(done)
	}
	bad := g.NewLabel()
	s.end(bad)
	g.MovImm(native.T0, 0)
	g.Leave()
	g.Place(bad)
	g.MovImm(native.T0, 1)
	g.leave()
}

// frame returns a frame of vectors for n numbers.
func (g *generator) frame(n int) *native.Frame {
	if n >= wideFrom {
		return g.Frame(eight)
	}
	return g.Frame(min(max(n, 2), 4))
}

// newStrip generates the code before the loop over elements.
func (g *generator) newStrip(b *block, code []instr, live func(view int32) bool) *stripMaker {
	s := &stripMaker{generator: g, b: b, code: code, frame: g.frame(b.n), live: live}
	s.lanes = s.frame.Lanes()
	s.windows = map[int32]int32{}
	for i := range b.wins {
		s.windows[b.wins[i].dst] = b.wins[i].src
	}
	if !calls(code) {
		s.frame.Spare(6)
	}
	for k := range code {
		s.fails = s.fails || code[k].op == ad.OpCheck
	}
	if s.fails {
		s.frame.Mark()
	}
	for k := range code {
		if !s.reduces(&code[k]) {
			continue
		}
		accs := make([]int, 0, (min(b.n, eight)+s.lanes-1)/s.lanes)
		for at := 0; at < min(b.n, eight); at += s.lanes {
			accs = append(accs, s.frame.Accumulator())
		}
		s.sums = append(s.sums, accs)
	}
	s.keepColumns()
	s.keepUniforms()
	return s
}

// keepUniforms loads the numbers that all elements share into registers, as far as there are
// enough. With 16 registers none is free; on amd64, loading such numbers each time is as fast. NEON
// needs two instructions for each such load, for two elements.
func (s *stripMaker) keepUniforms() {
	s.uniforms = map[int32]native.Vec{}
	if s.Target.Vectors <= 16 {
		return
	}
	s.frame.Spare(max(leftByUniforms, s.frame.Spared()))
	before := s.Builder()
	for k := range s.code {
		in := &s.code[k]
		for i, view := range []int32{in.a, in.b, in.c}[:arity(in)] {
			if _, known := s.known(view); known || in.x>>i&1 == 0 || s.uniforms[view] != 0 {
				continue
			}
			r, ok := s.frame.Reserve()
			if !ok {
				break
			}
			s.uniforms[view] = r
			before.Out(r, before.Broadcast(s.uniform(view)))
		}
	}
	s.frame.Emit(before, s.lanes)
}

// reduces reports whether an instruction of a strip adds to one number, or to one for each row.
func (s *stripMaker) reduces(in *instr) bool {
	if in.op >= firstMove {
		return in.op == addAffine && s.b.byRow(&s.p.maps[in.c])
	}
	return ops.Of(in.op).Reduce != nil
}

// arity returns the number of operands of an instruction of a strip.
func arity(in *instr) int {
	if in.op >= firstMove {
		return 0
	}
	return ops.Of(in.op).Arity
}

// end generates code that adds the partial sums to their destinations, and jumps to bad if a check
// has failed.
func (s *stripMaker) end(bad native.Label) {
	k := 0
	for i := range s.code {
		in := &s.code[i]
		if !s.reduces(in) {
			continue
		}
		if in.op != addAffine {
			for _, r := range ops.Of(in.op).Reduce.Last {
				s.frame.CallOn(r, s.sums[k])
			}
			// The number of the strip's first sum, for total.
			if sp := s.b.split; sp != nil {
				s.MovLoad(temps, native.At(native.Scratch, 8*sp.word))
			}
			s.frame.AddSum(s.sums[k], s.total(in.dst))
		}
		k++
	}
	s.frame.IfMarked(bad)
}

// total returns the address to which a sum is added. In a block that runs in parts, each strip has
// its own sums.
func (s *stripMaker) total(view int32) native.Address {
	sp := s.b.split
	if sp == nil {
		return s.uniform(view)
	}
	at := s.uniform(sp.kept)
	at.Index = temps // this register is no longer used
	at.Disp += 8 * int32(slices.Index(sp.own, view))
	return at
}

// elements generates the instructions for the next n elements, at most eight.
func (s *stripMaker) elements(n int) {
	v := s.strip
	if v == nil {
		v = &stripValues{values: map[int32]native.Value{}}
		v.counted = v.counting
		s.strip = v
	}
	v.stripMaker = s
	for at := 0; at < n; at += s.lanes {
		v.Builder = s.Builder()
		clear(v.values)
		v.at, v.sum, v.shown = at, 0, v.shown[:0]
		v.active = min(s.lanes, n-at)
		for k := range s.code {
			v.instr(&s.code[k])
		}
		s.frame.Emit(v.Builder, v.active)
	}
}

// stripValues generates the code of some elements. values holds the values that are in registers;
// the key is twice the view, plus one for a value that is the same number in all lanes.
type stripValues struct {
	*stripMaker
	*native.Builder
	at     int // index of the first element, counted from the one in the register
	active int
	sum    int // index of the next sum
	values map[int32]native.Value
	shown  []shown         // known values whose memory may be overwritten
	x      [3]native.Value // operands of the current instruction

	counted func(native.Value) native.Value // the method counting, bound once
}

// shown is the part of memory that a known value was read from or written to.
type shown struct {
	value    int32 // its index in values
	from, to int
	unset    bool // the position is not known, so it may be any
}

func (v *stripValues) instr(in *instr) {
	if isLoad(in.op) {
		v.write(in.dst, v.gather(in))
		return
	}
	if in.op == addAffine {
		v.addByGrid(in)
		return
	}
	n := arity(in)
	x := v.x[:n]
	for i, view := range []int32{in.a, in.b, in.c}[:n] {
		x[i] = v.value(view, in.x>>i&1 != 0)
	}
	switch row := ops.Of(in.op); {
	case in.op == ad.OpCheck:
		v.Fail(outside(v.Builder, x[0], &v.p.stripChecks[in.b].node.Attr.(*ad.Check).Set))
	case row.Reduce != nil:
		row.Reduce.Add(v.Builder, v.sums[v.sum][v.at/v.lanes], x, v.counted)
		v.sum++
	default:
		v.write(in.dst, v.Apply(row.Formula, x))
	}
}

// addByGrid adds elements by row or by column.
func (v *stripValues) addByGrid(in *instr) {
	x := v.value(in.a, in.x&1 != 0)
	m := &v.p.maps[in.c]
	if v.b.byRow(m) {
		v.Sum(v.sums[v.sum][v.at/v.lanes], v.counting(x))
		v.sum++
		return
	}
	if rs := v.columns[in.dst]; rs != nil {
		r := rs[v.at/v.lanes]
		v.Out(r, v.Add(v.In(r), x))
		return
	}
	at := v.element(in.dst, m.off+v.at)
	at.Index = column
	v.dropOverlaps(in.dst)
	v.Store(at, v.Add(v.Load(at), x), false)
}

// counting returns x in the active lanes, 0 in the others.
func (v *stripValues) counting(x native.Value) native.Value {
	if v.active < v.lanes {
		return v.Active(x)
	}
	return x
}

// value returns the value of a view, in lanes or as one number.
func (v *stripValues) value(view int32, uniform bool) native.Value {
	k := 2 * view
	if uniform {
		k++
	}
	x, ok := v.values[k]
	if ok {
		return x
	}
	if !uniform {
		x = v.Load(v.place(view))
	} else if c, ok := v.known(view); ok {
		x = v.Number(c)
	} else if r := v.uniforms[view]; r != 0 {
		x = v.In(r)
	} else {
		x = v.Broadcast(v.uniform(view))
	}
	v.know(k, x)
	return x
}

// know records that a value is known.
func (v *stripValues) know(k int32, x native.Value) {
	if _, ok := v.values[k]; !ok && !v.b.temps[k/2] {
		if w := &v.p.views[v.whole(k/2)]; w.data == nil {
			v.shown = append(v.shown, shown{k, w.off, w.off + w.n, w.unset})
		}
	}
	v.values[k] = x
}

// write stores a result in memory, unless it is a temporary that no other code reads.
func (v *stripValues) write(view int32, x native.Value) {
	if v.b.temps[view] {
		if v.live != nil && v.live(view) {
			v.Store(v.place(view), x, true)
		}
	} else {
		v.dropOverlaps(view)
		v.Store(v.place(view), x, true)
	}
	v.know(2*view, x)
}

// dropOverlaps drops the known values whose memory the view overlaps.
func (v *stripValues) dropOverlaps(view int32) {
	w := &v.p.views[v.whole(view)]
	from, to := w.off, w.off+w.n
	kept := v.shown[:0]
	for _, s := range v.shown {
		if s.value/2 != view && (s.unset || w.unset || s.from < to && from < s.to) {
			delete(v.values, s.value)
		} else {
			kept = append(kept, s)
		}
	}
	v.shown = kept
}

// place returns the address of the first of the elements in a view.
func (v *stripValues) place(view int32) native.Address {
	at := v.uniform(v.whole(view))
	if v.b.temps[view] {
		at.Base = temps
	}
	at.Index = element
	at.Disp += int32(8 * v.at)
	return at
}

// gather loads elements by a table.
func (v *stripValues) gather(in *instr) native.Value {
	m := &v.p.maps[in.c]
	from := v.uniform(in.a)
	switch {
	case v.b.byRow(m):
		from.Index = rowNumber
		from.Disp += int32(8 * m.off)
		return v.Broadcast(from)
	case v.b.byColumn(m):
		from.Index = column
		from.Disp += int32(8 * (m.off + v.at))
		return v.Load(from)
	}
	// The elements are adjacent, or all the same.
	if m.table == nil && m.n1 >= v.b.n && m.s1 <= 1 && m.s1 >= 0 {
		from.Disp += int32(8 * m.off)
		if m.s1 == 0 {
			return v.Broadcast(from)
		}
		from.Index = element
		from.Disp += int32(8 * v.at)
		return v.Load(from)
	}
	if m.table != nil {
		from.Disp += int32(8 * m.off)
	}
	table := m.elements(v.b.n)
	return v.Gather(from, uintptr(unsafe.Pointer(unsafe.SliceData(table))), element, int32(4*v.at))
}

// uses lists, for each view of a block, the instructions that read and that write it, in order.
type uses struct {
	of            *block
	reads, writes map[int32][]int32
}

func usesIn(b *block) *uses {
	u := &uses{b, map[int32][]int32{}, map[int32][]int32{}}
	for k := range b.code {
		in := &b.code[k]
		for _, v := range []int32{in.a, in.b, in.c} {
			u.reads[v] = append(u.reads[v], int32(k)) // this may include more than is read
		}
		u.writes[in.dst] = append(u.writes[in.dst], int32(k))
	}
	return u
}

// live reports whether instructions from number `from` on read a view before they write it.
func (u *uses) live(view int32, from int) bool {
	reads, writes := u.reads[view], u.writes[view]
	r, _ := slices.BinarySearch(reads, int32(from))
	w, _ := slices.BinarySearch(writes, int32(from))
	return r < len(reads) && (w == len(writes) || reads[r] <= writes[w])
}

// whole returns the view that contains a view of the strip.
func (s *stripMaker) whole(view int32) int32 {
	if src, ok := s.windows[view]; ok {
		return src
	}
	return view
}

// known returns the number in a view, if it is constant.
func (g *generator) known(view int32) (float64, bool) {
	if s := &g.p.views[view]; !s.unset && s.data != nil {
		return s.data[0], true
	}
	return 0, false
}

// elements returns the table of n elements, with the offset included.
func (m *mapping) elements(n int) []int32 {
	if m.table != nil {
		return m.table
	}
	if m.written == nil {
		m.written = make([]int32, n)
		for i := range m.written {
			e, _, _ := m.first(i)
			m.written[i] = int32(e)
		}
	}
	return m.written
}

// errDisagree says that machine code failed a check that the interpreter passes: a bug of this
// package.
var errDisagree = errors.New("machine code rejects what the interpreter accepts")

// segments runs a strip from element pos to end, and reports whether all checks hold.
func (m *Machine) segments(b *block, pos, end int) bool {
	last := pos + (end-pos)&^(eight-1)
	for i := range b.native {
		s := &b.native[i]
		if s.runs != nil {
			k := pos / b.strip
			s.fn.Run(m.memory, m.viewTable, m.scratchMemory, int(s.runs.strips[k]), int(s.runs.strips[k+1]), pos)
			continue
		}
		if s.native {
			second := last
			if b.grid.row > 0 {
				second = pos / b.grid.row
			}
			if s.fn.Run(m.memory, m.viewTable, m.scratchMemory, pos, second, end) != 0 {
				return false
			}
			continue
		}
		if m.strip(b, b.code[s.from:s.to], pos) >= 0 {
			return false
		}
	}
	return true
}
