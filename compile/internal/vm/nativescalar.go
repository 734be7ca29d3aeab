package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// scalarNative reports whether an instruction of scalar code has machine code.
func (g *generator) scalarNative(_ *block, in *instr) bool {
	return in.op == ad.OpCheck || ops.Of(in.op).Formula != nil
}

// scalarFunction generates machine code for instructions from up to, but excluding, to of scalar
// code. The function returns 0, or 1 plus the number of the instruction whose check failed.
func (g *generator) scalarFunction(b *block, from, to int) {
	done := g.NewLabel()
	g.scalarCode(b, from, to, func(k int) {
		g.MovImm(native.T0, uint64(k+1))
		g.Jump(done)
	})
	g.MovImm(native.T0, 0)
	g.Place(done)
	g.leave()
}

// scalarCode generates machine code for instructions from up to, but excluding, to. fail generates
// the code that runs if the check of an instruction fails.
func (g *generator) scalarCode(b *block, from, to int, fail func(k int)) {
	s := g.scalars
	if s == nil {
		s = newScalars(g)
	}
	g.scalars = nil
	s.Builder = g.Builder()
	clear(s.values)
	for k := from; k < to; k++ {
		var fails func()
		if b.code[k].op == ad.OpCheck {
			fails = func() { fail(k) }
		}
		s.instr(&b.code[k], fails)
		switch dst := b.code[k].dst; {
		case fails != nil:
		case len(b.local) > 0 && b.local[k] && to-from == len(b.code):
			s.Home(slot(dst), s.values[dst])
		default:
			s.Store(slot(dst), s.values[dst], true)
		}
	}
	g.Frame(1).Emit(s.Builder, 1)
	g.scalars = s
}

// scalars emits scalar code. It knows which registers hold the values of slots.
type scalars struct {
	*native.Builder
	g      *generator
	values map[int32]native.Value
	at     map[int32]native.Address // addresses of slots that are read from a stream
	x      [3]native.Value          // operands of the current instruction
}

func newScalars(g *generator) *scalars {
	return &scalars{g: g, values: map[int32]native.Value{}}
}

// value returns the value of a slot.
func (s *scalars) value(place int32) native.Value {
	v, ok := s.values[place]
	if !ok {
		at, ok := s.at[place]
		if !ok {
			at = slot(place)
		}
		v = s.Load(at)
		s.values[place] = v
	}
	return v
}

// instr emits an instruction; fail generates the code that runs if its check fails.
func (s *scalars) instr(in *instr, fail func()) {
	if in.op == ad.OpCheck { // the message shows the number, so store it in its slot
		x := s.value(in.a)
		s.Exit(outside(s.Builder, x, &s.g.p.checks[in.b].Attr.(*ad.Check).Set), x, slot(in.a), fail)
		return
	}
	row := ops.Of(in.op)
	x := s.x[:row.Arity]
	for i, place := range []int32{in.a, in.b, in.c}[:row.Arity] {
		x[i] = s.value(place)
	}
	v := s.Apply(row.Formula, x)
	s.values[in.dst] = v
	delete(s.at, in.dst)
}

// runNative runs a block of scalar code segment by segment. It returns the same as scalar.
func (m *Machine) runNative(b *block) int32 {
	for i := range b.native {
		s := &b.native[i]
		if s.native {
			if k := s.fn.Run(m.memory, m.viewTable, m.scratchMemory, 0, 0, 0); k != 0 {
				return int32(k - 1)
			}
		} else if k := m.scalar(b.code[s.from:s.to], nil); k >= 0 {
			return int32(s.from) + k
		}
	}
	return -1
}
