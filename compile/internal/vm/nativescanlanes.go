package vm

import (
	"slices"
	"unsafe"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// This file: scans of scalar code in lanes, such as a recurrence for each of many subjects. As many
// lanes as a vector register holds go through the steps together.

// vectorStrides are the registers for the products of a step number and a stride. Loads of numbers
// that are apart in memory use T3.
var vectorStrides = [...]native.Reg{native.R0, native.R1, native.R2, native.R3, native.T4}

// maxApart is the largest distance of lanes in memory, in numbers: machine code has offsets of 32
// bits.
const maxApart = 1 << 24

func (c *counted) survey(v *lanes, p *regionPlan, top bool) {
	v.need(top && c.times > 0 && len(p.laneMoves) == 0 && p.numberSteps())
	if !v.fits {
		return
	}
	b := &p.bodies[0][0]
	v.need(v.fusible(b))
	for _, c := range p.inits {
		v.need(c.n == 1)
		v.writes(c.dst, true)
	}
	for _, view := range p.clears {
		v.writes(view, true)
	}
	for _, c := range p.finals {
		v.need(c.n == 1 && c.lane == 1)
		_, carried := v.at[v.place(c.src)]
		v.need(carried)
	}
	moves := c.moves(p)
	v.need(len(c.strides(moves)) <= len(vectorStrides))
	for i := range moves {
		v.need(moves[i].lane < maxApart)
		// Numbers that leave the region belong to a lane.
		v.need(i < len(p.stepLoads) || moves[i].lane > 0)
	}
}

func (c *counted) top(v *lanes, p *regionPlan, _ int32) {
	g, moves := v.generator, c.moves(p)
	steps := c.strides(moves)
	at, staged := make([]native.Address, len(moves)), make([]int32, len(moves))
	for i := range moves {
		s := &moves[i]
		index := native.NoReg
		if s.step != 0 {
			index = vectorStrides[slices.Index(steps, s.step)]
		}
		saved := v.Reserve(1)
		at[i] = native.Address{Base: native.NoReg, Saved: saved + 1, Index: index}
		v.address(native.T1, s.view, s.off, moving{v.first, s.lane})
		v.MovStore(native.At(native.Scratch, 8*saved), native.T1)
		if i >= len(p.stepLoads) && s.lane != 1 {
			staged[i] = v.Reserve(v.width)
		}
	}
	off := func(view int32) int32 { return int32(g.p.views[view].off) }
	var carried []int32 // slots of the carried numbers and sums
	for _, c := range p.inits {
		v.load(v.at[off(c.dst)], c.src, 0, c.lane)
		carried = append(carried, off(c.dst))
	}
	v.vectors(func(b *native.Builder) {
		for _, view := range p.clears {
			b.Store(scratch(v.at[off(view)]), b.Number(0), false)
			carried = append(carried, off(view))
		}
	})
	v.firstStep(c, steps, vectorStrides[:])

	frame := v.Frame(v.width)
	own, held := hold(frame, carried, p.bodies[0][0].code)
	before := v.Builder()
	for _, k := range held {
		before.Out(own[k], before.Load(scratch(v.at[k])))
	}
	frame.Emit(before, v.width)
	loop := v.NewLabel()
	v.Place(loop)
	v.step(c, p, frame, own, carried, at, staged)
	v.nextStep(c, steps, vectorStrides[:], loop)
	after := v.Builder()
	for _, k := range held {
		after.Store(scratch(v.at[k]), after.In(own[k]), false)
	}
	frame.Emit(after, v.width)
	for _, c := range p.finals {
		v.address(native.T1, c.dst, 0, moving{v.first, 1})
		v.vectors(func(b *native.Builder) {
			b.Store(native.Address{Base: native.T1, Index: native.NoReg}, b.Load(scratch(v.at[off(c.src)])), false)
		})
	}
}

// step generates the code of one step. own has the registers of carried numbers; the others are in
// scratch memory. at has the addresses of what the step reads and stores, and staged the positions
// in scratch memory of vectors whose numbers are apart in memory.
func (v *lanes) step(c *counted, p *regionPlan, frame *native.Frame, own map[int32]native.Vec, carried []int32, at []native.Address, staged []int32) {
	loads, history, keeps := p.stepLoads, p.history.scalars, p.keeps[0].scalars
	b := v.Builder()
	values, streams := map[int32]native.Value{}, map[int32]int{}
	old := map[native.Value]bool{}
	for k, r := range own {
		values[k] = b.In(r)
		old[values[k]] = true
	}
	for i := range loads {
		streams[loads[i].slot] = i
	}
	value := func(place int32) native.Value {
		x, ok := values[place]
		if ok {
			return x
		}
		if i, ok := streams[place]; ok {
			switch apart := loads[i].lane; apart {
			case 0:
				x = b.Broadcast(at[i])
			case 1:
				x = b.Load(at[i])
			default:
				x = b.Gather(at[i], c.table(v.width, apart), native.NoReg, 0)
			}
		} else {
			x = v.value(b, place)
		}
		values[place] = x
		return x
	}
	store := func(i int, x native.Value) {
		if staged[i] != 0 {
			b.Store(scratch(staged[i]), x, false)
		} else {
			b.Store(at[i], x, false)
		}
	}
	for i := range history {
		store(len(loads)+i, value(history[i].slot))
	}
	for k := range p.bodies[0][0].code {
		in := &p.bodies[0][0].code[k]
		if in.op == ad.OpCheck {
			b.Branch(outside(b, value(in.a), &v.p.checks[in.b].Attr.(*ad.Check).Set), v.bail)
			continue
		}
		var x [3]native.Value
		n := scalarArity(in)
		for i, place := range []int32{in.a, in.b, in.c}[:n] {
			x[i] = value(place)
		}
		values[in.dst] = b.Apply(ops.Of(in.op).Formula, x[:n])
	}
	for i := range keeps {
		store(len(loads)+len(history)+i, value(keeps[i].slot))
	}
	for _, c := range p.stages {
		values[v.place(c.dst)] = value(v.place(c.src))
	}
	next := map[int32]native.Value{}
	for _, k := range carried {
		next[k] = value(k)
	}
	for _, n := range p.nextScalars {
		next[n.dst] = value(n.a)
	}
	passed := map[int32]int32{} // carried numbers in memory change only when all are computed
	for _, k := range carried {
		if r, ok := own[k]; ok {
			x := next[k]
			if old[x] { // a copy, because the register of that carried number may change first
				x = b.Or(x, x)
			}
			b.Out(r, x)
			continue
		}
		passed[k] = v.Reserve(v.width)
		b.Store(scratch(passed[k]), next[k], false)
	}
	frame.Emit(b, v.width)
	if len(passed) > 0 {
		b := v.Builder()
		for _, k := range carried {
			if from, ok := passed[k]; ok {
				b.Store(scratch(v.at[k]), b.Load(scratch(from)), false)
			}
		}
		frame.Emit(b, v.width)
	}
	for i, from := range staged {
		if from == 0 {
			continue
		}
		s := slices.Concat(loads, history, keeps)[i]
		v.LeaAddress(native.T1, at[i])
		for l := range v.width {
			v.MovLoad(native.T0, native.At(native.Scratch, 8*(from+int32(l))))
			v.MovStore(native.At(native.T1, int32(8*l*s.lane)), native.T0)
		}
	}
}

// table returns the address of the positions of as many numbers that are apart in memory.
func (c *counted) table(width, apart int) uintptr {
	for _, t := range c.tables {
		if int(t[1]) == apart {
			return uintptr(unsafe.Pointer(unsafe.SliceData(t)))
		}
	}
	t := make([]int32, width)
	for l := range t {
		t[l] = int32(l * apart)
	}
	c.tables = append(c.tables, t)
	return uintptr(unsafe.Pointer(unsafe.SliceData(t)))
}

func (*counted) inner(*lanes, *regionPlan, int32) {} // survey refuses them
