package vm

import (
	"maps"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// lanes generates code that runs as many lanes of a region together as a vector register holds.
// Numbers are vectors in scratch memory, and masks mark the active lanes. All lanes of a loop
// iterate together, so that they share iteration counts and rows of histories; lanes that are done
// keep their carried values. If the iterations overflow the histories, or something fails in a
// lane, all lanes of the vector start again in the code for single lanes.
type lanes struct {
	*generator
	r     *fusedRun
	done  native.Label
	bail  native.Label
	width int
	first int32            // word of scratch memory with the number of the first lane
	moved map[int32]move   // views that move from lane to lane
	lone  map[int32]int32  // for each such view of one number, the position of its vector
	at    map[int32]int32  // for each place that the region writes, the position of its vector
	kept  map[int32]bool   // written places whose values outlive a trip
	read  map[int32]bool   // places that it reads
	from  map[int32]int32  // for each array whose elements it takes, by its start, the size
	table map[int32]*table // by their place: the histories of loops in the region
	fits  bool
}

// table is an array of n elements in each lane. Each element is a vector across lanes; these begin
// at position at.
type table struct{ n, at int32 }

// lanesOf examines whether a region can run as vectors of lanes; it returns nil if not.
func (g *generator) lanesOf(p *regionPlan) *lanes {
	if p.lanes < 2 { // a frame for one number has one lane
		return nil
	}
	v := &lanes{generator: g, width: g.Frame(min(p.lanes, eight)).Lanes(), moved: map[int32]move{}, lone: map[int32]int32{}, at: map[int32]int32{},
		kept: map[int32]bool{}, read: map[int32]bool{}, from: map[int32]int32{}, table: map[int32]*table{}, fits: true}
	if p.lanes < v.width {
		return nil
	}
	for _, w := range p.laneMoves {
		v.moved[w.dst] = w
		if w.n == 1 {
			v.lone[w.dst] = 0
		}
	}
	for _, s := range p.laneLoads {
		v.at[s.slot] = 0
	}
	v.region(p, true)
	for place := range v.read {
		for off, t := range v.table {
			v.need(place < off || place >= off+t.n)
		}
	}
	for off, n := range v.from {
		for place := range v.at {
			v.need(n == 1 || place < off || place >= off+n)
		}
	}
	if !v.fits {
		return nil
	}
	return v
}

// reserve gives the vectors their places in scratch memory.
func (v *lanes) reserve() {
	g := v.generator
	for _, at := range []map[int32]int32{v.at, v.lone} {
		for _, k := range slices.Sorted(maps.Keys(at)) {
			at[k] = g.Reserve(v.width)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(v.table)) {
		v.table[k].at = g.Reserve(int(v.table[k].n) * v.width)
	}
}

// need records a condition for the region to run as vectors.
func (v *lanes) need(ok bool) { v.fits = v.fits && ok }

// place returns the position in memory of a view of one number.
func (v *lanes) place(view int32) int32 {
	s := &v.p.views[view]
	v.need(!s.unset && s.data == nil && s.n == 1)
	return int32(s.off)
}

// writes and reads record that the region writes, or reads, a view of one number.
func (v *lanes) writes(view int32, kept bool) {
	at := v.place(view)
	v.at[at] = 0
	v.kept[at] = v.kept[at] || kept
}

func (v *lanes) reads(view int32) {
	if _, lone := v.lone[view]; !lone && v.p.views[view].data == nil {
		v.read[v.place(view)] = true
	}
}

// laneVectors is a control whose lanes can run as vectors.
type laneVectors interface {
	// survey records what the control reads and writes. top means that the region is the outermost
	// one, whose lanes become those of vectors.
	survey(v *lanes, p *regionPlan, top bool)

	// top generates the code of the outermost region, and inner that of a region within it, for the
	// lanes in the mask.
	top(v *lanes, p *regionPlan, mask int32)
	inner(v *lanes, p *regionPlan, mask int32)
}

// region examines a region, see lanesOf.
func (v *lanes) region(p *regionPlan, top bool) {
	v.need(top || p.lanes == 1 && len(p.laneMoves)+len(p.laneLoads) == 0)
	p.control.survey(v, p, top)
}

// general examines what a conditional or a while loop reads and writes, with its bodies.
func (v *lanes) general(p *regionPlan, top bool) {
	v.need(len(p.nexts)+len(p.history.arrays)+len(p.keeps[0].arrays)+len(p.keeps[1].arrays) == 0)
	for _, c := range p.inits {
		v.need(c.n == 1)
		v.writes(c.dst, true)
		if !top {
			v.reads(c.src)
		}
	}
	for _, view := range p.clears {
		v.writes(view, true)
	}
	for _, side := range p.keeps {
		for _, s := range side.scalars {
			v.read[s.slot] = true
			if top {
				v.need(s.lane == 1)
			} else {
				v.need(s.off == 0)
				v.writes(s.view, true)
			}
		}
	}
	for _, c := range p.stages {
		v.need(c.n == 1)
		v.reads(c.src)
		v.writes(c.dst, false)
	}
	for _, in := range p.nextScalars {
		v.read[in.a] = true
		v.at[in.dst] = 0
	}
	for _, c := range p.finals {
		v.need(c.n == 1)
		v.reads(c.src)
		if !top {
			v.writes(c.dst, false)
		}
	}
	for _, body := range p.bodies {
		for i := range body {
			v.block(&body[i])
		}
	}
}

func (c *chosen) survey(v *lanes, p *regionPlan, top bool) {
	v.general(p, top)
	v.need(!top || c.condLane <= 1)
	if !top {
		v.reads(c.cond)
	}
}

func (c *tested) survey(v *lanes, p *regionPlan, top bool) {
	v.general(p, top)
	v.need(!p.keeps[0].any())
	v.reads(c.cond)
	for _, s := range p.history.scalars {
		v.read[s.slot] = true
		v.need(s.off == 0 && s.step == 1)
		if top {
			v.need(s.lane == c.snapshots)
			continue
		}
		spec := &v.p.views[s.view]
		v.need(!spec.unset && spec.data == nil && spec.n == c.snapshots)
		v.table[int32(spec.off)] = &table{n: int32(c.snapshots)}
	}
	for _, view := range []int32{c.trips, c.stride} {
		if view >= 0 && !top {
			v.writes(view, false)
		}
	}
}

// block examines a block of a body, see lanesOf.
func (v *lanes) block(b *block) {
	for _, view := range b.clears {
		v.writes(view, false)
	}
	switch {
	case b.kind == scalarBlock:
		v.need(v.fusible(b))
		for k := range b.code {
			in := &b.code[k]
			for _, place := range []int32{in.a, in.b, in.c}[:scalarArity(in)] {
				v.read[place] = true
			}
			if in.op != ad.OpCheck {
				v.at[in.dst] = 0
			}
		}
	case b.kind == arrayBlock && b.node.Op == ad.OpTake:
		v.need(v.fusible(b) && b.node.Type.Size() == 1)
		if v.fits {
			v.reads(b.args[1])
			v.writes(b.dst, false)
			_, moves := v.moved[b.args[0]]
			s := &v.p.views[b.args[0]]
			v.need(moves || !s.unset)
			if !moves && s.data == nil {
				v.from[int32(s.off)] = max(v.from[int32(s.off)], int32(s.n))
			}
		}
	case b.kind == effectBlock:
		v.need(v.fusible(b))
		if v.fits {
			v.reads(b.args[0])
		}
	case b.kind == regionBlock:
		v.region(b.reg, false)
	default:
		v.fits = false
	}
}

// vectors generates the code that f records, on vectors.
func (v *lanes) vectors(f func(b *native.Builder)) {
	b := v.Builder()
	f(b)
	v.Frame(v.width).Emit(b, v.width)
}

// value returns the value of a place, in all lanes.
func (v *lanes) value(b *native.Builder, place int32) native.Value {
	if at, ok := v.at[place]; ok {
		return b.Load(scratch(at))
	}
	return b.Broadcast(slot(place))
}

// viewed returns the value of a view of one number, in all lanes.
func (v *lanes) viewed(b *native.Builder, view int32) native.Value {
	if at, ok := v.lone[view]; ok {
		return b.Load(scratch(at))
	}
	if s := &v.p.views[view]; s.data == nil {
		return v.value(b, int32(s.off))
	}
	return b.Broadcast(v.uniform(view))
}

// in returns the truth that a lane is in the mask.
func (v *lanes) in(b *native.Builder, mask int32) native.Value {
	return b.Compare(native.NEQ, b.Load(scratch(mask)), b.Number(0))
}

// set makes place hold x. A value that outlives a trip changes only in the lanes of the mask.
func (v *lanes) set(b *native.Builder, place int32, x native.Value, mask int32) {
	if v.kept[place] {
		x = b.Select(v.in(b, mask), x, v.value(b, place))
	}
	b.Store(scratch(v.at[place]), x, false)
}

// run generates the code for one vector of lanes.
func (v *lanes) run(p *regionPlan) {
	mask := v.Reserve(v.width)
	v.vectors(func(b *native.Builder) { b.Store(scratch(mask), b.Number(1), false) })
	for _, s := range p.laneLoads {
		v.load(v.at[s.slot], s.view, s.off, s.lane)
	}
	for _, w := range p.laneMoves {
		if w.n == 1 {
			v.load(v.lone[w.dst], w.src, w.off, w.lane)
		}
	}
	p.control.top(v, p, mask)
}

func (c *tested) top(v *lanes, p *regionPlan, mask int32) {
	for _, c := range p.inits {
		v.load(v.at[int32(v.p.views[c.dst].off)], c.src, 0, c.lane)
	}
	for _, s := range p.history.scalars {
		v.clearPart(s.view, v.width*c.snapshots, moving{v.first, s.lane})
	}
	trips := c.loop(v, p, mask, true)
	store := func(view int32, value func(b *native.Builder) native.Value) {
		v.address(native.T1, view, 0, moving{v.first, 1})
		v.vectors(func(b *native.Builder) {
			b.Store(native.Address{Base: native.T1, Index: native.NoReg}, value(b), false)
		})
	}
	for _, c := range p.finals {
		store(c.dst, func(b *native.Builder) native.Value { return v.viewed(b, c.src) })
	}
	if c.trips >= 0 {
		store(c.trips, func(b *native.Builder) native.Value { return b.Load(scratch(trips)) })
	}
	if c.stride >= 0 {
		store(c.stride, func(b *native.Builder) native.Value { return b.Number(1) })
	}
}

// load generates the load of a vector whose numbers are `apart` numbers apart in memory.
func (v *lanes) load(to, view int32, off, apart int) {
	v.address(native.T1, view, off, moving{v.first, apart})
	from := native.Address{Base: native.T1, Index: native.NoReg}
	switch apart {
	case 0:
		v.vectors(func(b *native.Builder) { b.Store(scratch(to), b.Broadcast(from), false) })
	case 1:
		v.vectors(func(b *native.Builder) { b.Store(scratch(to), b.Load(from), false) })
	default:
		for l := range v.width {
			v.MovLoad(native.T0, native.At(native.T1, int32(8*l*apart)))
			v.MovStore(native.At(native.Scratch, 8*(to+int32(l))), native.T0)
		}
	}
}

// body generates the code of a body's blocks.
func (v *lanes) body(bs []block, mask int32) {
	for i := range bs {
		b := &bs[i]
		for _, view := range b.clears {
			v.vectors(func(x *native.Builder) { v.set(x, int32(v.p.views[view].off), x.Number(0), mask) })
		}
		switch b.kind {
		case scalarBlock:
			v.vectors(func(x *native.Builder) { v.scalars(x, b.code, mask) })
		case arrayBlock:
			v.take(b, mask)
		case effectBlock:
			v.vectors(func(x *native.Builder) {
				x.Branch(x.Both(v.in(x, mask), x.Compare(native.NEQ, v.viewed(x, b.args[0]), x.Number(0))), v.bail)
			})
		default:
			b.reg.control.inner(v, b.reg, mask)
		}
	}
}

func (c *tested) inner(v *lanes, p *regionPlan, mask int32) {
	off := func(view int32) int32 { return int32(v.p.views[view].off) }
	v.vectors(func(b *native.Builder) {
		// Load in all lanes; those not in the mask do not use their values.
		for _, c := range p.inits {
			b.Store(scratch(v.at[off(c.dst)]), v.viewed(b, c.src), false)
		}
		for _, s := range p.history.scalars {
			t := v.table[off(s.view)]
			for k := range t.n {
				b.Store(scratch(t.at+k*int32(v.width)), b.Number(0), false)
			}
		}
	})
	trips := c.loop(v, p, mask, false)
	v.vectors(func(b *native.Builder) {
		for _, c := range p.finals {
			v.set(b, off(c.dst), v.viewed(b, c.src), mask)
		}
		if c.trips >= 0 {
			v.set(b, off(c.trips), b.Load(scratch(trips)), mask)
		}
		if c.stride >= 0 {
			v.set(b, off(c.stride), b.Number(1), mask)
		}
	})
}

// loop generates the code of a loop's trips. It returns the position of the vector that counts
// them.
func (c *tested) loop(v *lanes, p *regionPlan, outer int32, top bool) (trips int32) {
	mask, trips, row := v.Reserve(v.width), v.Reserve(v.width), v.Reserve(1)
	v.vectors(func(b *native.Builder) {
		b.Store(scratch(mask), b.Load(scratch(outer)), false)
		b.Store(scratch(trips), b.Number(0), false)
		for _, view := range p.clears {
			b.Store(scratch(v.at[int32(v.p.views[view].off)]), b.Number(0), false)
		}
	})
	v.setWord(row, 0)
	again, on, end := v.NewLabel(), v.NewLabel(), v.NewLabel()
	v.Place(again)
	v.pausing(v.r, v.done)
	condition := p.bodies[0]
	short := len(condition) == 1 && condition[0].kind == scalarBlock && len(condition[0].clears) == 0
	if !short {
		v.body(condition, mask)
	}
	v.vectors(func(b *native.Builder) {
		if short {
			v.scalars(b, condition[0].code, mask)
		}
		x := v.viewed(b, c.cond)
		t := b.Both(v.in(b, mask), b.Compare(native.NEQ, x, b.Number(0)))
		b.Store(scratch(mask), b.Truth(t), false)
		b.Branch(t, on)
	})
	v.Jump(end)
	v.Place(on)
	if c.stride >= 0 || len(p.history.scalars) > 0 {
		v.MovLoad(native.T0, native.At(native.Scratch, 8*row))
		v.CmpImm(native.T0, int32(c.snapshots))
		v.If(native.Equal, v.bail)
		for _, s := range p.history.scalars {
			v.snapshot(s, row, mask, top)
		}
		v.addWord(row, 1)
	}
	if c.trips >= 0 {
		v.vectors(func(b *native.Builder) {
			b.Store(scratch(trips), b.Add(b.Load(scratch(trips)), b.Load(scratch(mask))), false)
		})
	}
	v.body(p.bodies[1], mask)
	v.vectors(func(b *native.Builder) {
		for _, c := range p.stages {
			v.set(b, int32(v.p.views[c.dst].off), v.viewed(b, c.src), mask)
		}
		for _, in := range p.nextScalars {
			v.set(b, in.dst, v.value(b, in.a), mask)
		}
	})
	v.Jump(again)
	v.Place(end)
	return trips
}

// snapshot generates the code that stores a value in a row of a history. Lanes that are done store
// 0, as unused rows have.
func (v *lanes) snapshot(s scalarMove, row, mask int32, top bool) {
	if !top {
		t := v.table[int32(v.p.views[s.view].off)]
		v.Lea(native.T1, native.At(native.Scratch, 8*t.at))
		v.MovLoad(native.T0, native.At(native.Scratch, 8*row))
		v.MulImm(native.T0, native.T0, int32(8*v.width))
		v.Add(native.T1, native.T0)
		v.vectors(func(b *native.Builder) {
			b.Store(native.Address{Base: native.T1, Index: native.NoReg}, b.Keep(v.in(b, mask), v.value(b, s.slot)), false)
		})
		return
	}
	x := v.Reserve(v.width)
	v.vectors(func(b *native.Builder) { b.Store(scratch(x), b.Keep(v.in(b, mask), v.value(b, s.slot)), false) })
	v.address(native.T1, s.view, s.off, moving{v.first, s.lane}, moving{row, s.step})
	for l := range v.width {
		v.MovLoad(native.T0, native.At(native.Scratch, 8*(x+int32(l))))
		v.MovStore(native.At(native.T1, int32(8*l*s.lane)), native.T0)
	}
}

func (c *chosen) top(v *lanes, p *regionPlan, mask int32) {
	v.address(native.T1, c.cond, 0, moving{v.first, c.condLane})
	c.bodies(v, p, mask, true)
}

func (c *chosen) inner(v *lanes, p *regionPlan, mask int32) { c.bodies(v, p, mask, false) }

// bodies generates the code of a conditional. If top is set, T1 holds the address of the condition.
func (c *chosen) bodies(v *lanes, p *regionPlan, outer int32, top bool) {
	masks := [2]int32{v.Reserve(v.width), v.Reserve(v.width)}
	v.vectors(func(b *native.Builder) {
		var x native.Value
		switch {
		case !top:
			x = v.viewed(b, c.cond)
		case c.condLane == 0:
			x = b.Broadcast(native.Address{Base: native.T1, Index: native.NoReg})
		default:
			x = b.Load(native.Address{Base: native.T1, Index: native.NoReg})
		}
		for side, test := range [2]native.Comparison{native.NEQ, native.EQ} {
			b.Store(scratch(masks[side]), b.Truth(b.Both(v.in(b, outer), b.Compare(test, x, b.Number(0)))), false)
		}
	})
	for side, body := range p.bodies {
		mask := masks[side]
		some, none := v.NewLabel(), v.NewLabel()
		v.vectors(func(b *native.Builder) { b.Branch(v.in(b, mask), some) })
		v.Jump(none)
		v.Place(some)
		v.body(body, mask)
		for _, s := range p.keeps[side].scalars {
			if !top {
				v.vectors(func(b *native.Builder) {
					v.set(b, int32(v.p.views[s.view].off), v.value(b, s.slot), mask)
				})
				continue
			}
			v.address(native.T1, s.view, s.off, moving{v.first, 1})
			to := native.Address{Base: native.T1, Index: native.NoReg}
			v.vectors(func(b *native.Builder) {
				b.Store(to, b.Select(v.in(b, mask), v.value(b, s.slot), b.Load(to)), false)
			})
		}
		v.Place(none)
	}
}

// scalarArity returns the number of operands of an instruction of scalar code.
func scalarArity(in *instr) int {
	if in.op == ad.OpCheck {
		return 1
	}
	return ops.Of(in.op).Arity
}

// scalars generates scalar code.
func (v *lanes) scalars(b *native.Builder, code []instr, mask int32) {
	values := map[int32]native.Value{}
	value := func(place int32) native.Value {
		x, ok := values[place]
		if !ok {
			x = v.value(b, place)
			values[place] = x
		}
		return x
	}
	for k := range code {
		in := &code[k]
		if in.op == ad.OpCheck {
			wrong := outside(b, value(in.a), &v.p.checks[in.b].Attr.(*ad.Check).Set)
			b.Branch(b.Both(wrong, v.in(b, mask)), v.bail)
			continue
		}
		var x [3]native.Value
		n := scalarArity(in)
		for i, place := range []int32{in.a, in.b, in.c}[:n] {
			x[i] = value(place)
		}
		y := b.Apply(ops.Of(in.op).Formula, x[:n])
		if v.kept[in.dst] {
			y = b.Select(v.in(b, mask), y, value(in.dst))
		}
		b.Store(scratch(v.at[in.dst]), y, true)
		values[in.dst] = y
	}
}

// take generates the code that takes elements at computed positions.
func (v *lanes) take(b *block, mask int32) {
	at := v.Reserve(v.width)
	v.vectors(func(x *native.Builder) { // lanes that are not in the mask take the first element
		x.Store(scratch(at), x.Keep(v.in(x, mask), v.viewed(x, b.args[1])), false)
	})
	n, apart, by := int32(b.types[0].Size()), 0, 1
	inMemory := v.p.views[b.args[0]].data == nil
	off := int32(v.p.views[b.args[0]].off)
	if w, ok := v.moved[b.args[0]]; ok {
		v.address(native.T2, w.src, w.off, moving{v.first, w.lane})
		apart = w.lane
	} else if t := v.table[off]; t != nil && inMemory {
		v.Lea(native.T2, native.At(native.Scratch, 8*t.at))
		apart, by = 1, v.width
	} else if at, ok := v.at[off]; ok && inMemory { // the array is a single number that the region computes
		v.Lea(native.T2, native.At(native.Scratch, 8*at))
		apart = 1
	} else {
		v.LeaAddress(native.T2, v.uniform(b.args[0]))
	}
	place := int32(v.p.views[b.dst].off)
	to := v.at[place]
	// A carried value that is computed in place: lanes that are done keep the old one.
	if v.kept[place] {
		to = v.Reserve(v.width)
	}
	for l := range int32(v.width) {
		v.ToInt(native.T0, native.At(native.Scratch, 8*(at+l)))
		v.CmpImm(native.T0, n)
		v.If(native.AboveE, v.bail)
		if by > 1 {
			v.MulImm(native.T0, native.T0, int32(by))
		}
		v.MovLoad(native.T0, native.Indexed(native.T2, native.T0, 8, 8*l*int32(apart)))
		v.MovStore(native.At(native.Scratch, 8*(to+l)), native.T0)
	}
	if v.kept[place] {
		v.vectors(func(x *native.Builder) { v.set(x, place, x.Load(scratch(to)), mask) })
	}
}

// inLanes generates the code of a region with lanes as vectors. It reports whether the region
// allows that.
func (g *generator) inLanes(p *regionPlan, lane int32, r *fusedRun, done native.Label) bool {
	v := g.lanesOf(p)
	if v == nil {
		return false
	}
	v.reserve()
	v.r, v.done, v.first = r, done, lane
	stop, end := g.Reserve(1), g.Reserve(1)
	g.setWord(end, int64(p.lanes))
	v.all(p, end, func() {
		single := g.NewLabel()
		g.MovLoad(native.T0, native.At(native.Scratch, 8*lane))
		g.AddImm(native.T0, int32(v.width))
		g.MovStore(native.At(native.Scratch, 8*stop), native.T0)
		g.Place(single)
		g.lane(p, lane, r, done)
		g.addWord(lane, 1)
		g.MovLoad(native.T1, native.At(native.Scratch, 8*stop))
		g.Cmp(native.T0, native.T1)
		g.If(native.Less, single)
	})
	return true
}

// all generates the code for the lanes from the first up to that in word `end` of scratch memory;
// these are at least one vector. bailed generates the code for a vector that must run as single
// lanes. It continues with the next vector, whose first lane is then in T0.
func (v *lanes) all(p *regionPlan, end int32, bailed func()) {
	v.p.vectored++
	v.bail = v.NewLabel()
	vectors, next, done := v.NewLabel(), v.NewLabel(), v.NewLabel()
	v.Place(vectors)
	v.run(p)
	v.addWord(v.first, int32(v.width))
	v.Place(next) // the last vector may overlap the one before
	v.MovLoad(native.T1, native.At(native.Scratch, 8*end))
	v.Cmp(native.T0, native.T1)
	v.If(native.GreaterE, done)
	v.AddImm(native.T1, int32(-v.width))
	v.Cmp(native.T1, native.T0)
	v.If(native.GreaterE, vectors)
	v.MovStore(native.At(native.Scratch, 8*v.first), native.T1)
	v.Jump(vectors)
	v.Place(v.bail)
	bailed()
	v.Jump(next)
	v.Place(done)
}
