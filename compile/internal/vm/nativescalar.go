package vm

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// scalarNative reports whether an instruction of scalar code has machine code.
func (g *generator) scalarNative(_ *block, in *instr) bool {
	switch op := ad.OpCode(in.op) &^ run; op {
	case ad.OpReshape, ad.OpNeg, ad.OpAdd, ad.OpSub, ad.OpMul, ad.OpDiv, loopnest.OpMulAdd, loopnest.OpMulSub, loopnest.OpSubMul,
		ad.OpMulGuarded, ad.OpAbs, ad.OpSquare, ad.OpSqrt, ad.OpInv, ad.OpLess, ad.OpLessEqual, ad.OpEqual, ad.OpNotEqual, ad.OpNot,
		ad.OpSelect, ad.OpExp, ad.OpLog, ad.OpLog1p, ad.OpLog1m, ad.OpPow, ad.OpFloor, ad.OpCeil, ad.OpTrunc, ad.OpIsNaN, ad.OpIsInf, ad.OpDetach, ad.OpMax, ad.OpMin, ad.OpCheck,
		loopnest.OpExpNegAbs, loopnest.OpExpNegDiff, loopnest.OpSigmoid, loopnest.OpMaxPlus0, loopnest.OpMinMinus0, loopnest.OpMaxPlus:
		return true
	}
	return false
}

// scalarArity is the number of operands of scalar code.
func scalarArity(op ad.OpCode) int {
	switch op {
	case ad.OpMax, ad.OpMin, ad.OpPow, ad.OpAdd, ad.OpSub, ad.OpMul, ad.OpDiv, ad.OpMulGuarded, ad.OpLess, ad.OpLessEqual, ad.OpEqual, ad.OpNotEqual,
		loopnest.OpExpNegDiff, loopnest.OpSigmoid, loopnest.OpMaxPlus0, loopnest.OpMinMinus0:
		return 2
	case loopnest.OpMulAdd, loopnest.OpMulSub, loopnest.OpSubMul, loopnest.OpMaxPlus, ad.OpSelect:
		return 3
	}
	return 1
}

func scalarOperands(in *instr) (reads []key, writes key) {
	op := ad.OpCode(in.op) &^ run
	reads = []key{2 * in.a, 2 * in.b, 2 * in.c}[:scalarArity(op)]
	if op == ad.OpCheck {
		return reads, -2
	}
	return reads, 2 * in.dst
}

// home is where the value of a place is in memory.
func (g *generator) home(k key) native.Mem {
	if m, ok := g.streams[k/2]; ok {
		return m
	}
	return place(k)
}

func place(k key) native.Mem { return native.At(native.DI, 8*(k/2)) }

// scalarFunction makes scalar code from instruction from to to. The function
// returns 0, or the number of the instruction whose check failed, plus 1.
func (g *generator) scalarFunction(b *block, from, to int) {
	done := g.NewLabel()
	g.scalarCode(b, from, to, func(k int) {
		g.MovImm(native.AX, uint64(k+1))
		g.Jump(done)
	})
	g.MovImm(native.AX, 0)
	g.Place(done)
	g.ZeroUpper()
	g.Ret()
}

// scalarCode makes scalar code from instruction from to to; fail makes what
// happens where the check of an instruction fails. Memory always holds what
// registers hold.
func (g *generator) scalarCode(b *block, from, to int, fail func(k int)) {
	g.begin(b, b.code[from:to], 1)
	g.cache.reset(g.firstOpen(), 15)
	g.findUses(scalarOperands)
	g.scalarInstrs(from, fail)
}

func (g *generator) scalarInstrs(from int, fail func(k int)) {
	l := g.lanes
	for k := range g.code {
		in := &g.code[k]
		op, us := ad.OpCode(in.op)&^run, g.uses[k]
		if op == ad.OpCheck {
			x := g.scalarValue(us[1], k)
			set := &g.p.checks[in.b].Attr.(*ad.Check).Set
			lo, hi := bounds(set)
			fine := g.NewLabel()
			l.CompareMem(lo, 0, x, g.Number(set.Lo))
			l.CompareMem(hi, 1, x, g.Number(set.Hi))
			l.Do(native.Or, 0, 0, 1)
			l.Signs(native.AX, 0)
			l.TestImm(native.AX, 1)
			l.If(native.Equal, fine)
			l.Store(place(us[1].key), x) // for the message
			fail(from + k)
			l.Place(fine)
			g.unpin()
			continue
		}
		g.scalarInstr(op, us, k)
	}
}

func (g *generator) unpin() { g.cache.pins = [16]bool{} }

// scalarValue is an operand in a register.
func (g *generator) scalarValue(u use, k int) native.Vec {
	r, ok := g.cache.find(u.key)
	if !ok {
		r = g.take(u.key, u.next)
		g.lanes.Load(r, g.home(u.key))
	}
	g.cache.next[r], g.cache.pins[r] = u.next, true
	return r
}

// scalarInstr makes an instruction that computes a number.
func (g *generator) scalarInstr(op ad.OpCode, us []use, k int) {
	l, dst := g.lanes, us[0]
	var v [3]native.Vec
	o, two := operation(op)
	direct := false
	for i, u := range us[1:] {
		if i == 1 && two {
			if r, ok := g.cache.find(u.key); !ok && u.next == never {
				direct = true // an operand in memory
				continue
			} else if ok {
				v[1] = r
				g.cache.next[r], g.cache.pins[r] = u.next, true
				continue
			}
		}
		v[i] = g.scalarValue(u, k)
	}
	// The result may take the place of an operand that is not read again.
	for i, u := range us[1:] {
		if u.next == never && !(i == 1 && direct) {
			g.cache.pins[v[i]] = false
		}
	}
	single := two || op == ad.OpSquare || op == ad.OpSqrt || op == ad.OpNeg || op == ad.OpAbs
	if !single { // the operands are read after the result's register may be written
		for i := range us[1:] {
			g.cache.pins[v[i]] = true
		}
	}
	m := g.home(us[len(us)-1].key)
	g.forget(dst.key)
	d := g.take(dst.key, dst.next)
	if direct {
		l.DoMem(o, d, v[0], m)
	} else {
		g.elementwise(op, d, v[0], v[1], v[2])
	}
	if g.lazy {
		g.pending[dst.key] = true
	} else {
		l.Store(place(dst.key), d)
	}
	g.unpin()
}

// begin starts a function.
func (g *generator) begin(b *block, code []instr, width int) {
	g.b, g.code = b, code
	g.lanes = native.Lanes{Asm: g.Asm, Width: width}
	g.checks, g.sums, g.lazy, g.streams, g.wanted = false, nil, false, nil, nil
	g.spills, g.pending = map[int32]int32{}, map[int32]bool{}
}

// firstOpen is the first register that routines leave alone.
func (g *generator) firstOpen() native.Vec {
	for i := range g.code {
		op := ad.OpCode(g.code[i].op) &^ run
		if g.lanes.Width == 4 {
			op = stripForm(&g.code[i]).op
		}
		if usesRoutine(op) {
			return native.LastOfRoutines + 1
		}
	}
	return 2
}

// runNative runs a block of scalar code by its segments; the result is that of
// scalar.
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
