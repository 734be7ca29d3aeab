package vm

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// strides are the registers for the products of a step number and a stride.
var strides = [...]native.Reg{native.R0, native.R1, native.R2, native.R3, native.T3, native.T4}

const stepCount = native.T5

// scanFunction generates one function for all steps of a scan of scalar code. Its argument is the
// lane. Carried numbers stay in registers, and streams are read where they are. The result is like
// that of functions of scalar code.
func (g *generator) scanFunction(p *regionPlan) bool {
	c, ok := p.control.(*counted)
	if !ok || !c.tight || c.times == 0 {
		return false
	}
	switch {
	case c.chain == nil || c.chain.brief(c.times):
	case c.chain.distance != 0 && c.times >= minAhead:
		g.scans[c] = g.aheadFunction(c.chain)
		return true
	default:
		return true
	}
	b := &p.bodies[0][0]
	for k := range b.code {
		if !g.scalarNative(b, &b.code[k]) {
			return false
		}
	}
	for _, c := range p.inits {
		if v := &g.p.views[c.dst]; c.n != 1 || v.unset || v.data != nil {
			return false
		}
	}
	moves := c.moves(p)
	loads, history := moves[:len(p.stepLoads)], moves[len(p.stepLoads):len(p.stepLoads)+len(p.history.scalars)]
	keeps := moves[len(loads)+len(history):]
	steps := c.strides(moves)
	if len(steps) > len(strides) || len(b.code) > maxNative {
		return false
	}
	fn := &native.Func{}
	g.scans[c] = fn
	g.enter(fn)

	// An address is a constant or, if it differs between runs, saved in scratch memory.
	at := make([]native.Address, len(moves))
	for i := range moves {
		s := &moves[i]
		index := native.NoReg
		if s.step != 0 {
			index = strides[slices.Index(steps, s.step)]
		}
		v := &g.p.views[s.view]
		if !v.unset && v.data == nil && (s.lane == 0 || p.lanes == 1) {
			at[i] = native.Address{Base: native.Memory, Index: index, Disp: int32(8 * (v.off + s.off))}
			continue
		}
		saved := g.Reserve(1)
		at[i] = native.Address{Base: native.NoReg, Saved: saved + 1, Index: index}
		g.LeaAddress(native.T2, g.element(s.view, s.off))
		g.MulImm(native.T1, native.R0, int32(8*s.lane))
		g.Add(native.T2, native.T1)
		g.MovStore(native.At(native.Scratch, 8*saved), native.T2)
	}
	g.firstStep(c, steps, strides[:])

	// Slots of the carried numbers. A number comes after the one that it becomes, so that no
	// register gets a carried number from memory, where it has changed.
	var carried []int32
	for _, c := range p.inits {
		if k := int32(g.p.views[c.dst].off); !slices.ContainsFunc(p.nextScalars, func(n instr) bool { return n.dst == k }) {
			carried = append(carried, k)
		}
	}
	for _, n := range slices.Backward(p.nextScalars) {
		carried = append(carried, n.dst)
	}
	for k := range b.code { // sums are like carried numbers
		if c := b.code[k].dst; b.code[k].op != ad.OpCheck && g.isSum(p, c) && !slices.Contains(carried, c) {
			carried = append(carried, c)
		}
	}
	frame := g.Frame(1)
	own, held := hold(frame, carried, b.code)
	before := g.Builder()
	for _, c := range held {
		before.Out(own[c], before.Load(slot(c)))
	}
	frame.Emit(before, 1)
	loop, done := g.NewLabel(), g.NewLabel()
	g.Place(loop)
	s := newScalars(g)
	s.Builder, s.at = g.Builder(), map[int32]native.Address{}
	for _, c := range held {
		s.values[c] = s.In(own[c])
	}
	for i, l := range loads {
		s.at[l.slot] = at[i]
	}
	for i, h := range history {
		s.Store(at[len(loads)+i], s.value(h.slot), false)
	}
	for k := range b.code {
		s.instr(&b.code[k], func() {
			g.MovImm(native.T0, uint64(k+1))
			g.Jump(done)
		})
	}
	for i, k := range keeps {
		s.Store(at[len(loads)+len(history)+i], s.value(k.slot), false)
	}
	// Other carried numbers are passed on in memory.
	for _, n := range p.nextScalars {
		if _, ok := own[n.dst]; ok {
			s.Out(own[n.dst], s.value(n.a))
		} else {
			s.Store(slot(n.dst), s.value(n.a), false)
		}
	}
	for _, c := range carried {
		if slices.ContainsFunc(p.nextScalars, func(n instr) bool { return n.dst == c }) {
			continue
		}
		if _, ok := own[c]; ok {
			s.Out(own[c], s.value(c))
		} else if v, ok := s.values[c]; ok {
			s.Store(slot(c), v, false)
		}
	}
	frame.Emit(s.Builder, 1)
	g.nextStep(c, steps, strides[:], loop)
	after := g.Builder()
	for _, c := range held {
		after.Store(slot(c), after.In(own[c]), false)
	}
	frame.Emit(after, 1)
	g.MovImm(native.T0, 0)
	g.Place(done)
	g.leave()
	return true
}

// moves returns the numbers that a step reads from streams, those it adds to histories, and those
// it keeps.
func (c *counted) moves(p *regionPlan) []scalarMove {
	return slices.Concat(p.stepLoads, p.history.scalars, p.keeps[0].scalars)
}

// strides returns the distances in memory between the steps of these numbers.
func (c *counted) strides(moves []scalarMove) []int {
	var steps []int
	for i := range moves {
		if s := moves[i].step; s != 0 && !slices.Contains(steps, s) {
			steps = append(steps, s)
		}
	}
	return steps
}

// firstStep sets the registers of strides, and the number of steps that are left.
func (g *generator) firstStep(c *counted, steps []int, regs []native.Reg) {
	for i, s := range steps {
		first := 0
		if c.reverse {
			first = (c.times - 1) * s
		}
		g.MovImm(regs[i], uint64(int64(first)))
	}
	g.MovImm(stepCount, uint64(c.times))
}

// nextStep moves on to the next step, at loop, or leaves the loop.
func (g *generator) nextStep(c *counted, steps []int, regs []native.Reg, loop native.Label) {
	for i, s := range steps {
		if c.reverse {
			s = -s
		}
		g.AddImm(regs[i], int32(s))
	}
	g.AddImm(stepCount, -1)
	g.CmpImm(stepCount, 0)
	g.If(native.NotEqual, loop)
}

// hold reserves registers for as many carried numbers as possible. It returns the registers and the
// slots of these numbers.
func hold(frame *native.Frame, carried []int32, code []instr) (own map[int32]native.Vec, held []int32) {
	if !calls(code) {
		frame.Spare(8)
	}
	own = map[int32]native.Vec{}
	for _, k := range carried {
		r, ok := frame.Reserve()
		if !ok {
			break
		}
		own[k], held = r, append(held, k)
	}
	return own, held
}

// isSum reports whether a slot holds a sum of the scan.
func (g *generator) isSum(p *regionPlan, place int32) bool {
	return slices.ContainsFunc(p.clears, func(view int32) bool {
		v := &g.p.views[view]
		return int(place) >= v.off && int(place) < v.off+v.n
	})
}

// fusible returns false if the body is only scalar code, unless the lanes run as vectors: such a
// scan gets a separate function, which keeps carried values in registers.
func (c *counted) fusible(g *generator, p *regionPlan) bool {
	if c.times == 0 || !g.loopable(p) {
		return false
	}
	return g.lanesOf(p) != nil || !c.tight && g.allFusible(p)
}

// code writes the addresses of streams to the table of views, where the body finds them; carried
// values are in memory.
func (c *counted) code(g *generator, p *regionPlan, lane int32, r *fusedRun, done native.Label) {
	step := g.Reserve(1)
	first := 0
	if c.reverse {
		first = c.times - 1
	}
	g.setWord(step, int64(first))
	again := g.NewLabel()
	g.Place(again)
	for _, w := range p.stepMoves {
		g.address(native.T1, w.src, w.off, moving{lane, w.lane}, moving{step, w.step})
		g.MovStore(native.At(native.Views, 24*w.dst), native.T1)
		g.moved = append(g.moved, viewLength{w.dst, w.n})
	}
	for _, s := range p.stepLoads {
		g.address(native.T1, s.view, s.off, moving{lane, s.lane}, moving{step, s.step})
		g.copyNumber(slot(s.slot), native.Address{Base: native.T1, Index: native.NoReg})
	}
	g.keep(&p.history, lane, step)
	g.inline(p.bodies[0], r, done)
	g.keep(&p.keeps[0], lane, step)
	g.next(p)
	if c.reverse {
		g.addWord(step, -1)
		g.CmpImm(native.T0, 0)
		g.If(native.GreaterE, again)
	} else {
		g.addWord(step, 1)
		g.CmpImm(native.T0, int32(c.times))
		g.If(native.Less, again)
	}
}
