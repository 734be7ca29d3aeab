package vm

import (
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// aheadFunction generates a function that runs groups of steps of a chain by look-ahead. Its
// arguments are the address of Machine.addresses and the number of groups. It returns the number of
// groups that are left, because the chain must go on step by step.
func (g *generator) aheadFunction(c *chain) *native.Func {
	fn := &native.Func{}
	g.enter(fn)
	const index, left = native.R0, native.R1
	bases := [numAddresses]native.Reg{atX: native.R2, atY: native.R3, atZ: native.T2, atKeeps: native.T3, atHistory: native.T4}
	for i, r := range bases {
		g.MovLoad(r, native.At(native.R0, int32(8*i)))
	}
	g.MovImm(index, 0)

	frame := g.Frame(group)
	frame.Spare(10)
	lanes := frame.Lanes()
	// at is the address of the numbers of a part of the group, as many steps ago.
	at := func(which, part, ago int) native.Address {
		return native.Address{Base: bases[which], Index: index, Disp: int32(8 * (part*lanes - ago*c.distance))}
	}
	before := g.Builder()
	fix := func(v native.Value) native.Vec {
		r, ok := frame.Reserve()
		if !ok {
			panic("vm: no register for a chain")
		}
		before.Out(r, v)
		return r
	}
	// Operands that do not change, and the products of two and of four such factors.
	fixed := map[int]native.Vec{}
	for which, o := range [...]chainOperand{atX: c.x, atY: c.y, atZ: c.z} {
		if o.stream < 0 && !o.unused() {
			fixed[which] = fix(before.Broadcast(native.Address{Base: bases[which], Index: native.NoReg}))
		}
	}
	var square, fourth native.Vec
	if c.y.stream < 0 {
		y := before.Broadcast(native.Address{Base: bases[atY], Index: native.NoReg})
		two := before.Mul(y, y)
		square, fourth = fix(two), fix(before.Mul(two, two))
	}
	out := atKeeps
	if len(c.keeps) == 0 {
		out = atHistory
	}
	last := make([]native.Vec, group/lanes)
	for part := range last {
		v := before.Load(at(out, part, group))
		if c.form == rootForm {
			v = before.Mul(v, v)
		}
		last[part] = fix(v)
	}
	frame.Emit(before, lanes)

	loop, stop := g.NewLabel(), g.NewLabel()
	g.Place(loop)
	s := g.Builder()
	operand := func(which, part, ago int) native.Value {
		if r, ok := fixed[which]; ok {
			return s.In(r)
		}
		return s.Load(at(which, part, ago))
	}
	next := make([]native.Value, len(last))
	for part := range next {
		var a, b [group]native.Value // by the number of steps ago
		for ago := range a {
			a[ago] = operand(atY, part, ago)
			switch {
			case c.x.unused():
				b[ago] = operand(atZ, part, ago)
			case c.z.unused():
				b[ago] = s.Mul(operand(atX, part, ago), a[ago])
			default:
				b[ago] = s.Add(s.Mul(operand(atX, part, ago), a[ago]), operand(atZ, part, ago))
			}
		}
		var a2, a4 native.Value
		if c.y.stream < 0 {
			a2, a4 = s.In(square), s.In(fourth)
		} else {
			a2 = s.Mul(a[0], a[1])
			a4 = s.Mul(a2, s.Mul(a[2], a[3]))
		}
		v := s.Add(s.Mul(s.In(last[part]), a4),
			s.Add(s.Mul(a2, s.Add(s.Mul(a[2], b[3]), b[2])), s.Add(s.Mul(a[0], b[1]), b[0])))
		size := s.Abs(v)
		if c.y.stream >= 0 {
			size = s.Max(s.Abs(a[0]), size)
		}
		s.Branch(s.Compare(native.NLT, size, s.Number(maxAhead)), stop)
		if c.form == rootForm {
			s.Branch(s.Compare(native.LT, v, s.Number(0)), stop)
		}
		next[part] = v
	}
	for part, v := range next {
		s.Out(last[part], v)
		if c.form == rootForm {
			v = s.Sqrt(v)
		}
		if len(c.keeps) > 0 {
			s.Store(at(atKeeps, part, 0), v, false)
		}
		if len(c.history) > 0 {
			s.Store(at(atHistory, part, 0), v, false)
		}
	}
	frame.Emit(s, lanes)
	g.AddImm(index, int32(group*c.distance))
	g.AddImm(left, -1)
	g.CmpImm(left, 0)
	g.If(native.NotEqual, loop)
	g.Place(stop)
	g.Mov(native.T0, left)
	g.leave()
	return fn
}
