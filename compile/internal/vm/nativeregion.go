package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// This file: regions within the function of several blocks, for each of their lanes. If such code
// needs Go, it returns the number of an event. When it is called again with that number, it
// continues after that point. No values are in registers there.

// Machine code cannot be interrupted, so it calls the stop function after pauseEvery iterations,
// counted over all loops of a function. If the blocks have so many operations that this would take
// longer than pauseWork, a few milliseconds, it calls it more often. A call costs about as much as
// a short iteration.
const (
	pauseEvery = ad.StopEvery / 8
	pauseWork  = 4e6
)

// tripsBetween returns the number of trips, of all loops among the blocks, between two calls of the
// stop function.
func tripsBetween(bs []block) int64 {
	return int64(max(1, min(pauseEvery, pauseWork/(1+work(bs)))))
}

// work returns the number of operations on numbers in the blocks, without repetition by loops.
func work(bs []block) float64 {
	w := 0.0
	for i := range bs {
		b := &bs[i]
		w += float64(len(b.code)) * float64(max(b.n, 1))
		if b.kind == matmulBlock {
			p := dimensions(b)
			w += float64(p.r) * float64(p.c) * float64(p.k)
		}
		if b.reg != nil {
			w += work(b.reg.bodies[0]) + work(b.reg.bodies[1])
		}
	}
	return w
}

// event is a reason for which a function returns to Go.
type event struct {
	kind   eventKind
	b      []block     // a slice of blocks with only the block in question
	k      int32       // instruction of the failed check of scalar code
	loop   *tested     // the loop, if its histories are full
	reg    *regionPlan // its region
	lane   int32       // word of scratch memory with the lane; -1: the first lane
	resume native.Label
}

type eventKind uint8

const (
	checkFails  eventKind = iota // a check of scalar code failed
	stripFails                   // some check of a strip failed
	opFails                      // the op of the block fails
	pause                        // it is time to call the stop function
	historyFull                  // every second snapshot must be dropped
	lanesLeft                    // a vector of lanes must be run as single lanes
	runBlock                     // a block without machine code must run
	opInGo                       // the block's op must run in Go, and may fail
)

// resumes reports whether the function continues after the event.
func (k eventKind) resumes() bool { return k >= pause }

// hasLoop reports whether a while loop is among the blocks, or within them.
func hasLoop(bs []block) bool {
	for i := range bs {
		p := bs[i].reg
		if p == nil {
			continue
		}
		if _, ok := p.control.(*tested); ok || hasLoop(p.bodies[0]) || hasLoop(p.bodies[1]) {
			return true
		}
	}
	return false
}

// loopable reports whether a loop can be part of a function: its sums must be added to the
// machine's memory.
func (g *generator) loopable(p *regionPlan) bool {
	for _, v := range p.clears {
		if s := &g.p.views[v]; s.unset || s.data != nil {
			return false
		}
	}
	return true
}

// allFusible reports whether all blocks of the bodies can be part of a function.
func (g *generator) allFusible(p *regionPlan) bool {
	for _, body := range p.bodies {
		for i := range body {
			if !g.fusible(&body[i]) {
				return false
			}
		}
	}
	return true
}

// goOut generates code that returns because of an event, and continues after it when called again.
func (g *generator) goOut(r *fusedRun, e event, done native.Label) {
	e.resume = g.NewLabel()
	r.events = append(r.events, e)
	g.MovImm(native.T0, uint64(len(r.events)))
	g.Jump(done)
	g.Place(e.resume)
}

// region generates the code of a conditional, a while loop or a scan.
func (g *generator) region(p *regionPlan, r *fusedRun, done native.Label) {
	if p.lanes == 1 {
		g.lane(p, -1, r, done)
		return
	}
	lane := g.Reserve(1)
	g.setWord(lane, 0)
	if g.inLanes(p, lane, r, done) {
		return
	}
	next := g.NewLabel()
	g.Place(next)
	g.lane(p, lane, r, done)
	g.addWord(lane, 1)
	g.CmpImm(native.T0, int32(p.lanes))
	g.If(native.Less, next)
}

// lane generates the code of one lane. Word `lane` of scratch memory has its number; -1: it is lane
// 0.
func (g *generator) lane(p *regionPlan, lane int32, r *fusedRun, done native.Label) {
	for _, w := range p.laneMoves {
		g.address(native.T1, w.src, w.off, moving{lane, w.lane})
		g.MovStore(native.At(native.Views, 24*w.dst), native.T1)
		g.moved = append(g.moved, viewLength{w.dst, w.n})
	}
	for _, s := range p.laneLoads {
		g.address(native.T1, s.view, s.off, moving{lane, s.lane})
		g.copyNumber(slot(s.slot), native.Address{Base: native.T1, Index: native.NoReg})
	}
	for i := range p.inits {
		c := &p.inits[i]
		g.copying(c, moving{-1, 0}, moving{lane, c.lane})
	}
	for _, v := range p.clears {
		g.clear(v)
	}
	p.control.code(g, p, lane, r, done)
	for i := range p.finals {
		c := &p.finals[i]
		g.copying(c, moving{lane, c.lane}, moving{-1, 0})
	}
}

func (c *chosen) fusible(g *generator, p *regionPlan) bool { return g.allFusible(p) }

func (c *chosen) code(g *generator, p *regionPlan, lane int32, r *fusedRun, done native.Label) {
	otherwise, end := g.NewLabel(), g.NewLabel()
	g.ifNumber(native.EQ, c.cond, moving{lane, c.condLane}, otherwise)
	for side, body := range p.bodies {
		g.inline(body, r, done)
		g.keep(&p.keeps[side], lane, -1)
		if side == 0 {
			g.Jump(end)
			g.Place(otherwise)
		}
	}
	g.Place(end)
}

func (c *tested) fusible(g *generator, p *regionPlan) bool { return g.loopable(p) }

// code generates the code of a while loop's lane; see ad.While for the snapshots. Scratch memory
// holds five numbers: the number of iterations, the iteration before which the next snapshot is
// taken, the stride, the row of the next snapshot, and the row of the iteration that runs; -1 if it
// has none.
func (c *tested) code(g *generator, p *regionPlan, lane int32, r *fusedRun, done native.Label) {
	taken := c.stride >= 0
	for _, rows := range []*keeps{&p.history, &p.keeps[0]} {
		taken = taken || rows.any()
		for _, s := range rows.scalars {
			g.clearPart(s.view, c.snapshots, moving{lane, s.lane})
		}
		for _, a := range rows.arrays {
			g.clearPart(a.dst, c.snapshots*a.n, moving{lane, a.lane})
		}
	}
	counts := taken || c.trips >= 0
	state := g.Reserve(5)
	trips, next, stride, row, here := scratch(state), scratch(state+1), scratch(state+2), state+3, state+4
	keeps := p.keeps[0].any()
	if counts {
		g.number(func(b *native.Builder) {
			b.Store(trips, b.Number(0), false)
			b.Store(next, b.Number(0), false)
			b.Store(stride, b.Number(1), false)
		})
		g.setWord(row, 0)
	}
	again, end := g.NewLabel(), g.NewLabel()
	g.Place(again)
	g.pausing(r, done)
	g.inline(p.bodies[0], r, done)
	g.ifNumber(native.EQ, c.cond, moving{-1, 0}, end)
	if taken {
		skip, full, room := g.NewLabel(), g.NewLabel(), g.NewLabel()
		if keeps {
			g.setWord(here, -1)
		}
		g.number(func(b *native.Builder) { b.Branch(b.Compare(native.NEQ, b.Load(trips), b.Load(next)), skip) })
		g.MovLoad(native.T0, native.At(native.Scratch, 8*row))
		g.CmpImm(native.T0, int32(c.snapshots))
		g.If(native.Equal, full)
		g.Place(room)
		g.After(func() {
			g.Place(full)
			g.goOut(r, event{kind: historyFull, loop: c, reg: p, lane: lane}, done)
			g.setWord(row, int64(c.snapshots/2))
			g.number(func(b *native.Builder) { b.Store(stride, b.Add(b.Load(stride), b.Load(stride)), false) })
			g.Jump(room)
		})
		g.keep(&p.history, lane, row)
		if keeps {
			g.MovLoad(native.T0, native.At(native.Scratch, 8*row))
			g.MovStore(native.At(native.Scratch, 8*here), native.T0)
		}
		g.addWord(row, 1)
		g.number(func(b *native.Builder) { b.Store(next, b.Add(b.Load(next), b.Load(stride)), false) })
		g.Place(skip)
	}
	if counts {
		g.number(func(b *native.Builder) { b.Store(trips, b.Add(b.Load(trips), b.Number(1)), false) })
	}
	g.inline(p.bodies[1], r, done)
	if keeps {
		skip := g.NewLabel()
		g.MovLoad(native.T0, native.At(native.Scratch, 8*here))
		g.CmpImm(native.T0, 0)
		g.If(native.Less, skip)
		g.keep(&p.keeps[0], lane, here)
		g.Place(skip)
	}
	g.next(p)
	g.Jump(again)
	g.Place(end)
	for _, k := range []struct {
		view int32
		from native.Address
	}{{c.trips, trips}, {c.stride, stride}} {
		if k.view >= 0 {
			g.address(native.T1, k.view, 0, moving{lane, 1})
			g.copyNumber(native.Address{Base: native.T1, Index: native.NoReg}, k.from)
		}
	}
}

// pausing generates code that calls the stop function from time to time.
func (g *generator) pausing(r *fusedRun, done native.Label) {
	g.addWord(r.trips, -1)
	g.CmpImm(native.T0, 0)
	ask, asked := g.NewLabel(), g.NewLabel()
	g.If(native.Equal, ask)
	g.Place(asked)
	g.After(func() {
		g.Place(ask)
		g.goOut(r, event{kind: pause}, done)
		g.setWord(r.trips, r.between)
		g.Jump(asked)
	})
}

// next generates the code that passes carried values on.
func (g *generator) next(p *regionPlan) {
	still := moving{-1, 0}
	for i := range p.stages {
		g.copying(&p.stages[i], still, still)
	}
	for i := range p.nextScalars {
		g.copyNumber(slot(p.nextScalars[i].dst), slot(p.nextScalars[i].a))
	}
	for i := range p.nexts {
		g.copying(&p.nexts[i], still, still)
	}
}

// keep generates the code that stores values of a body, at a lane and a step.
func (g *generator) keep(k *keeps, lane, step int32) {
	for _, s := range k.scalars {
		g.address(native.T1, s.view, s.off, moving{lane, s.lane}, moving{step, s.step})
		g.copyNumber(native.Address{Base: native.T1, Index: native.NoReg}, slot(s.slot))
	}
	for i := range k.arrays {
		c := &k.arrays[i]
		g.copying(c, moving{lane, c.lane}, moving{-1, 0}, moving{step, c.step})
	}
}

// moving is the distance by which a slice has moved: `by` numbers for each unit of a word of
// scratch memory. With word -1, the slice has not moved.
type moving struct {
	word int32
	by   int
}

// address sets r to the address of element off of a view, plus the distances that it has moved.
func (g *generator) address(r native.Reg, view int32, off int, by ...moving) {
	g.LeaAddress(r, g.element(view, off))
	for _, m := range by {
		if m.word < 0 || m.by == 0 {
			continue
		}
		g.MovLoad(native.T0, native.At(native.Scratch, 8*m.word))
		g.MulImm(native.T0, native.T0, int32(8*m.by))
		g.Add(r, native.T0)
	}
}

// setWord sets a word of scratch memory to v. addWord adds v to it and leaves the sum in T0.
func (g *generator) setWord(at int32, v int64) {
	g.MovImm(native.T0, uint64(v))
	g.MovStore(native.At(native.Scratch, 8*at), native.T0)
}

func (g *generator) addWord(at, v int32) {
	g.MovLoad(native.T0, native.At(native.Scratch, 8*at))
	g.AddImm(native.T0, v)
	g.MovStore(native.At(native.Scratch, 8*at), native.T0)
}

// scratch returns the place of a number in scratch memory.
func scratch(at int32) native.Address {
	return native.Address{Base: native.Scratch, Index: native.NoReg, Disp: 8 * at}
}

// number generates code on single numbers.
func (g *generator) number(f func(b *native.Builder)) {
	b := g.Builder()
	f(b)
	g.Frame(1).Emit(b, 1)
}

// copyNumber generates the copy of one number. Neither place may use T2.
func (g *generator) copyNumber(to, from native.Address) {
	g.LeaAddress(native.T2, from)
	g.MovLoad(native.T2, native.At(native.T2, 0))
	g.LeaAddress(native.T0, to)
	g.MovStore(native.At(native.T0, 0), native.T2)
}

// inParts generates code for n elements, one vector at a time, by calling f with the position of
// the vector: register index plus at bytes. index is NoReg unless there are so many elements that
// they need a loop.
func (g *generator) inParts(n int, f func(b *native.Builder, index native.Reg, at int32)) {
	frame := g.frame(n)
	lanes := frame.Lanes()
	part := func(index native.Reg, at, n int) {
		b := g.Builder()
		f(b, index, int32(8*at))
		frame.Emit(b, n)
	}
	done := 0
	if n > maxWritten*lanes {
		done = n / lanes * lanes
		g.MovImm(element, 0)
		loop := g.NewLabel()
		g.Place(loop)
		part(element, 0, lanes)
		g.AddImm(element, int32(lanes))
		g.CmpImm(element, int32(done))
		g.If(native.Less, loop)
	}
	for ; done < n; done += lanes {
		part(native.NoReg, done, min(lanes, n-done))
	}
}

// copying generates the copy of a value without lanes between two slices, each of which may have
// moved.
func (g *generator) copying(c *copying, dst, src moving, more ...moving) {
	g.address(native.T2, c.src, 0, src)
	g.address(native.T3, c.dst, 0, append(more, dst)...)
	g.inParts(c.n, func(b *native.Builder, index native.Reg, at int32) {
		from := native.Address{Base: native.T2, Index: native.NoReg}
		x := native.Value(0)
		if c.rep {
			x = b.Broadcast(from)
		} else {
			from.Index, from.Disp = index, at
			x = b.Load(from)
		}
		b.Store(native.Address{Base: native.T3, Index: index, Disp: at}, x, false)
	})
}

// clear generates code that sets the elements of a view to 0.
func (g *generator) clear(view int32) { g.clearPart(view, g.p.views[view].n, moving{-1, 0}) }

// clearPart generates code that sets n elements of a view to 0.
func (g *generator) clearPart(view int32, n int, by moving) {
	g.address(native.T3, view, 0, by)
	g.inParts(n, func(b *native.Builder, index native.Reg, at int32) {
		b.Store(native.Address{Base: native.T3, Index: index, Disp: at}, b.Number(0), false)
	})
}
