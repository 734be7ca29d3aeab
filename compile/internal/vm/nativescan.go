package vm

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// strides are the registers that count steps times a stride, in numbers.
var strides = [...]native.Reg{native.CX, native.DX, native.R8, native.R9, native.R12, native.R13}

const stepCount = native.R15

// maxCarried is how many carried numbers have registers of their own.
const maxCarried = 5

// scanFunction makes one function of the steps of a scan of scalar code, which is
// given the lane. Carried numbers stay in registers, streams are read where they
// are. The function returns as that of scalar code.
func (g *generator) scanFunction(p *regionPlan) bool {
	if !p.tight || p.steps == 0 {
		return false
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
	moves := slices.Concat(p.stepLoads, p.history.scalars, p.keeps[0].scalars)
	loads, history := moves[:len(p.stepLoads)], moves[len(p.stepLoads):len(p.stepLoads)+len(p.history.scalars)]
	keeps := moves[len(loads)+len(history):]
	var steps []int
	for i := range moves {
		if s := moves[i].step; s != 0 && !slices.Contains(steps, s) {
			steps = append(steps, s)
		}
	}
	if len(steps) > len(strides) || len(b.code) > maxNative {
		return false
	}
	fn := &native.Func{}
	g.scans[p] = fn
	g.enter(fn)
	g.begin(b, b.code, 1)
	l := g.lanes

	// Addresses: fixed ones, and those that depend on the run, in scratch memory.
	at := make([]native.Mem, len(moves))
	for i := range moves {
		s := &moves[i]
		index := native.NoReg
		if s.step != 0 {
			index = strides[slices.Index(steps, s.step)]
		}
		v := &g.p.views[s.view]
		if !v.unset && v.data == nil && (s.lane == 0 || p.lanes == 1) {
			at[i] = native.Indexed(native.DI, index, 8, int32(8*(v.off+s.off)))
			continue
		}
		at[i] = native.Indexed(native.NoReg, index, 8, int32(8*g.scratch))
		g.scratch++
		l.Lea(native.R11, g.elementOf(s.view, s.off))
		l.MulImm(native.BX, native.CX, int32(8*s.lane))
		l.Add(native.R11, native.BX)
		l.MovStore(native.At(native.Scratch, at[i].Disp), native.R11)
	}
	address := func(i int) native.Mem { // BX is overwritten
		m := at[i]
		if m.Base == native.NoReg {
			l.MovLoad(native.BX, native.At(native.Scratch, m.Disp))
			m.Base, m.Disp = native.BX, 0
		}
		return m
	}
	for i, s := range steps {
		first := 0
		if p.reverse {
			first = (p.steps - 1) * s
		}
		l.MovImm(strides[i], uint64(int64(first)))
	}
	l.MovImm(stepCount, uint64(p.steps))

	var carried []int32 // places
	for _, c := range p.inits {
		carried = append(carried, int32(g.p.views[c.dst].off))
	}
	for k := range b.code { // sums are carried, too
		if c := b.code[k].dst; ad.OpCode(b.code[k].op) != ad.OpCheck && g.isSum(p, c) && !slices.Contains(carried, c) {
			carried = append(carried, c)
		}
	}
	held := carried[:min(len(carried), maxCarried)] // those with a register
	own := func(i int) native.Vec { return native.Vec(15 - i) }
	for i, c := range held {
		l.Load(own(i), native.At(native.DI, 8*c))
	}
	loop, done := g.NewLabel(), g.NewLabel()
	l.Place(loop)
	g.cache.reset(g.firstOpen(), native.Vec(15-len(held)))
	g.lazy, g.streams = true, map[int32]native.Mem{}
	for i, c := range held {
		g.cache.held[own(i)] = 2 * c
	}
	for _, s := range keeps {
		g.wanted = append(g.wanted, 2*s.slot)
	}
	for _, c := range carried {
		g.wanted = append(g.wanted, 2*c)
	}
	for _, n := range p.nextScalars {
		g.wanted = append(g.wanted, 2*n.a)
	}
	value := func(slot int32) native.Vec {
		if r, ok := g.cache.find(2 * slot); ok {
			return r
		}
		l.Load(0, g.home(2*slot))
		return 0
	}
	for i, s := range loads {
		if at[i].Base == native.DI {
			g.streams[s.slot] = at[i]
			continue
		}
		l.Load(0, address(i))
		l.Store(native.At(native.DI, 8*s.slot), 0)
	}
	for i, s := range history {
		r := value(s.slot)
		l.Store(address(len(loads)+i), r)
	}
	g.findUses(scalarOperands)
	g.scalarInstrs(0, func(k int) {
		l.MovImm(native.AX, uint64(k+1))
		l.Jump(done)
	})
	for i, s := range keeps {
		r := value(s.slot)
		l.Store(address(len(loads)+len(history)+i), r)
	}
	// Carried numbers without a register are passed on in memory.
	next := map[int32]int32{}
	for _, n := range p.nextScalars {
		next[n.dst] = n.a
	}
	for _, c := range carried[len(held):] {
		if a, ok := next[c]; ok {
			l.Store(native.At(native.DI, 8*c), value(a))
		} else if g.pending[2*c] {
			l.Store(native.At(native.DI, 8*c), value(c))
		}
	}
	for i, c := range held {
		if a, ok := next[c]; ok {
			l.Copy(own(i), value(a))
		} else {
			l.Copy(own(i), value(c))
		}
	}
	for i, s := range steps {
		if p.reverse {
			s = -s
		}
		l.AddImm(strides[i], int32(s))
	}
	l.AddImm(stepCount, -1)
	l.If(native.NotEqual, loop)
	for i, c := range held {
		l.Store(native.At(native.DI, 8*c), own(i))
	}
	l.MovImm(native.AX, 0)
	l.Place(done)
	l.ZeroUpper()
	l.Ret()
	return true
}

// isSum reports whether a place belongs to what a scan sums up.
func (g *generator) isSum(p *regionPlan, place int32) bool {
	return slices.ContainsFunc(p.clears, func(view int32) bool {
		v := &g.p.views[view]
		return int(place) >= v.off && int(place) < v.off+v.n
	})
}
