package native

import "math/bits"

// This file allocates registers around calls of routines.

// call generates the call of a routine.
func (x *allocation) call(i int) {
	// Routines may not call routines: not every processor keeps return addresses on a stack.
	if x.inner {
		panic("native: a routine calls another")
	}
	in := &x.b.code[i]
	vs := in.operands()
	low := Vec(x.a.routineVectors(x.v))
	for k, v := range vs {
		x.next[v] = x.after[i][k]
		if r := x.reg[v]; r != nowhere {
			x.pinned[ofVectors] |= 1 << r
		}
	}
	// The routine overwrites its registers. Move values that are needed later to other registers,
	// or to memory.
	for r := range low {
		v := x.held[ofVectors][r]
		if v < 0 || x.next[v] == never || x.again(v) {
			continue
		}
		to := nowhere
		for set := x.free[ofVectors] >> low << low; set != 0; set &= set - 1 {
			if h := Vec(bits.TrailingZeros64(set)); x.held[ofVectors][h] < 0 {
				to = h
				break
			}
		}
		if to == nowhere {
			x.keep(v)
			continue
		}
		x.v.copy(to, r)
		x.vacate(ofVectors, r)
		x.place(v, to, x.next[v])
	}
	x.arrange(vs)
	for r := range low {
		x.vacate(ofVectors, r)
	}
	for r, v := range x.held[ofTruths] {
		if v >= 0 {
			if x.next[v] != never && Vec(r) != x.mark {
				panic("native: a truth is needed beyond a call")
			}
			x.vacate(ofTruths, Vec(r))
		}
	}
	x.a.Call(x.a.routine(Routine(in.imm), x.v))
	x.pinned = [2]uint64{}
	for _, v := range vs {
		if x.next[v] == never && x.reg[v] != nowhere {
			x.vacate(ofVectors, x.reg[v])
		}
	}
	var results []int
	pair, two := x.b.pairs[i]
	if x.first[i] != never {
		results = append(results, i)
		x.place(Value(i), pair.first, x.first[i])
	}
	if two && x.live[pair.second] {
		results = append(results, pair.second)
		x.place(Value(pair.second), 1-pair.first, x.first[pair.second])
	}
	for _, v := range results {
		x.pinned[ofVectors] |= 1 << x.reg[v] // take must not use this register
	}
	for _, v := range results {
		if x.calls[i+1] >= x.first[v] {
			continue
		}
		// There is another call before its use, so it needs a register that routines do not use.
		if r := x.take(ofVectors, i, x.first[v]); r >= low {
			x.v.copy(r, x.reg[v])
			x.vacate(ofVectors, x.reg[v])
			x.place(Value(v), r, x.first[v])
			x.pinned[ofVectors] |= 1 << r
		}
	}
}

// arrange moves values to the first registers, where a routine takes its operands.
func (x *allocation) arrange(vs []Value) {
	switch {
	case len(vs) == 1:
		x.move(0, vs[0])
	case x.reg[vs[1]] == 0 && x.reg[vs[0]] == 0:
		x.move(1, vs[1])
	case x.reg[vs[1]] == 0 && x.reg[vs[0]] == 1: // the two are swapped
		at := At(Scratch, 8*x.a.swapping())
		x.v.store(at, 0, x.v.lanes())
		x.v.copy(0, 1)
		x.v.load(1, at, x.v.lanes())
	case x.reg[vs[1]] == 0:
		x.move(1, vs[1])
		x.move(0, vs[0])
	default:
		x.move(0, vs[0])
		x.move(1, vs[1])
	}
}

// swapping returns the scratch memory used to swap two registers.
func (a *Asm) swapping() int32 {
	if len(a.inner) == 0 {
		a.inner = append(a.inner, a.Reserve(a.Target.Lanes))
	}
	return a.inner[0]
}

// unless generates a jump that is taken unless a truth holds in all lanes. It leads from a routine
// to code that expects the same operands in the same registers.
func (x *allocation) unless(i int) {
	in := &x.b.code[i]
	t := x.need(in.a, i)
	l := x.a.NewLabel()
	x.v.unlessAll(t, l)
	x.done(i)
	// The operands are moved by deferred code, which needs the present state of the registers.
	then := *x
	then.reg = append([]Vec(nil), x.reg...)
	x.lent = true // the deferred code reads x's slices
	var ins []Value
	for k := range x.b.code {
		if x.b.code[k].prim == primIn {
			ins = append(ins, Value(k))
		}
	}
	x.a.after = append(x.a.after, func() {
		x.a.Place(l)
		then.arrange(ins)
		x.a.Jump(Label(in.imm))
	})
	for _, v := range ins { // the code jumped to may have been the last user
		x.next[v] = x.nextUse(v, i)
		if x.next[v] == never && x.reg[v] != nowhere {
			x.vacate(ofVectors, x.reg[v])
		}
	}
}

// nextUse returns the next use of a value after instruction i.
func (x *allocation) nextUse(v Value, i int) int {
	for k := i + 1; k < len(x.b.code); k++ {
		if !x.live[k] {
			continue
		}
		if x.b.code[k].prim == primUnless {
			return k
		}
		for _, o := range x.b.code[k].operands() {
			if o == v {
				return k
			}
		}
	}
	return never
}
