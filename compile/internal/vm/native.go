package vm

import (
	"math"
	"unsafe"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/ad/kernel"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// nativeCode is machine code of a program's scalar code and strips.
type nativeCode struct {
	code    *native.Code
	scratch int // numbers that it needs
}

// segment is part of a block's code: a function, or instructions for the
// interpreter.
type segment struct {
	fn       native.Func
	native   bool
	from, to int
}

// Native reports whether programs are run as machine code here.
func Native() bool { return native.Available() }

// makeNative makes machine code of what blocks it can; none where the processor
// or the system has no use for it.
func (p *Program) makeNative() {
	if p.portable || !native.Available() {
		return
	}
	g := &generator{p: p, Asm: &native.Asm{}, scratch: native.ScratchOfRoutines, parts: map[*block][]segment{}, runs: map[*block]*fusedRun{}, scans: map[*regionPlan]*native.Func{}}
	g.blocks(p.blocks)
	if len(g.entries) == 0 {
		return
	}
	g.Routines(tables())
	code, fs, err := g.Make(g.entries)
	if err != nil {
		return // the interpreter does without
	}
	p.native = &nativeCode{code, g.scratch}
	for i, fn := range g.made {
		*fn = fs[i]
	}
	for b, segments := range g.parts {
		b.native = segments
	}
	for p, fn := range g.scans {
		p.native = fn
	}
	for b, r := range g.runs {
		b.fused = r
	}
	p.moved = g.moved
}

// generator makes machine code.
type generator struct {
	*native.Asm
	p       *Program
	entries []native.Label
	made    []*native.Func // by entry
	parts   map[*block][]segment
	runs    map[*block]*fusedRun // by first block
	scans   map[*regionPlan]*native.Func
	moved   []viewLength
	scratch int

	// of the function being made
	lanes    native.Lanes
	cache    cache
	code     []instr
	uses     [][]use // by instruction
	b        *block
	bad      native.Vec
	checks   bool
	lazy     bool                 // scalar code whose results stay in registers as long as they can
	streams  map[int32]native.Mem // what places show before they are written
	wanted   []key                // at the end
	sums     []sumPlace
	inverses map[int32]int32 // places in scratch memory of reciprocals, by view
	spills   map[int32]int32 // places in scratch memory, by key
	pending  map[int32]bool  // temporaries whose value is in a register alone
}

func (g *generator) blocks(bs []block) {
	for i := 0; i < len(bs); i++ {
		if n := g.eligible(bs[i:]); n > 0 {
			g.fuse(bs[i : i+n])
			i += n - 1
			continue
		}
		b := &bs[i]
		switch b.kind {
		case scalarBlock:
			if len(b.code) <= maxNative {
				g.block(b, g.scalarNative, g.scalarFunction)
			}
		case stripBlock:
			if len(b.code) <= maxNative {
				g.block(b, g.stripNative, g.stripFunction)
			}
		case regionBlock:
			if g.scanFunction(b.reg) {
				continue
			}
			g.blocks(b.reg.bodies[0])
			g.blocks(b.reg.bodies[1])
		}
	}
}

// block cuts a block's code into segments.
func (g *generator) block(b *block, can func(b *block, in *instr) bool, function func(b *block, from, to int)) {
	var segments []segment
	any := false
	for k := 0; k < len(b.code); {
		n := k
		is := can(b, &b.code[k])
		for n < len(b.code) && can(b, &b.code[n]) == is {
			n++
		}
		segments = append(segments, segment{native: is, from: k, to: n})
		any = any || is
		k = n
	}
	if !any {
		return
	}
	for i := range segments {
		if s := &segments[i]; s.native {
			g.enter(&s.fn)
			function(b, s.from, s.to)
		}
	}
	g.parts[b] = segments
}

// enter begins a function.
func (g *generator) enter(fn *native.Func) {
	l := g.NewLabel()
	g.entries, g.made = append(g.entries, l), append(g.made, fn)
	g.Place(l)
}

// key names a value that a register may hold: a place of scalar code, a view of
// a strip, times two, plus one if it is one number in all lanes.
type key = int32

// use is an operand and the next instruction that reads the same value; never
// if there is none.
type use struct {
	key  key
	next int
}

const never = math.MaxInt32

// cache tells what vector registers hold.
type cache struct {
	held [16]key // -1: nothing
	next [16]int // when it is read next
	open [16]bool
	pins [16]bool
}

func (c *cache) reset(first, last native.Vec) {
	for i := range c.held {
		c.held[i], c.open[i], c.pins[i], c.next[i] = -1, native.Vec(i) >= first && native.Vec(i) <= last, false, never
	}
}

func (c *cache) find(k key) (native.Vec, bool) {
	for i, h := range c.held {
		if h == k {
			return native.Vec(i), true
		}
	}
	return 0, false
}

// take is a register for a value, of which the one whose value is wanted last is
// given up.
func (g *generator) take(k key, next int) native.Vec {
	best := -1
	for i := range g.cache.held {
		if !g.cache.open[i] || g.cache.pins[i] {
			continue
		}
		if g.cache.held[i] < 0 {
			best = i
			break
		}
		if best < 0 || g.cache.next[i] > g.cache.next[best] {
			best = i
		}
	}
	g.spill(native.Vec(best))
	g.cache.held[best], g.cache.next[best] = k, next
	return native.Vec(best)
}

// spill keeps what a register alone holds and somebody will read.
func (g *generator) spill(r native.Vec) {
	k := g.cache.held[r]
	if k < 0 || !g.pending[k] {
		return
	}
	delete(g.pending, k)
	if g.cache.next[r] == never {
		return
	}
	if g.lazy {
		g.lanes.Store(place(k), r)
		return
	}
	at, ok := g.spills[k]
	if !ok {
		at = int32(g.scratch)
		g.scratch += 4
		g.spills[k] = at
	}
	g.lanes.Store(native.At(native.Scratch, 8*at), r)
}

// forget drops what is known of a value that is written anew.
func (g *generator) forget(k key) {
	if r, ok := g.cache.find(k); ok {
		g.cache.held[r] = -1
	}
	delete(g.pending, k)
	delete(g.spills, k)
	delete(g.streams, k/2)
}

// findUses computes when each operand's value is read next.
func (g *generator) findUses(operands func(in *instr) (reads []key, writes key)) {
	next := map[key]int{}
	for _, k := range g.wanted {
		next[k] = len(g.code)
	}
	g.uses = make([][]use, len(g.code))
	for k := len(g.code) - 1; k >= 0; k-- {
		reads, writes := operands(&g.code[k])
		us := make([]use, 0, 4)
		at := func(k key) int {
			if n, ok := next[k]; ok {
				return n
			}
			return never
		}
		us = append(us, use{writes, at(writes)})
		delete(next, writes)
		for _, r := range reads {
			us = append(us, use{r, at(r)})
		}
		for _, r := range reads {
			next[r] = k
		}
		g.uses[k] = us
	}
}

// operation is the instruction of a binary op.
func operation(op ad.OpCode) (native.Op, bool) {
	switch op {
	case ad.OpAdd:
		return native.Add, true
	case ad.OpSub:
		return native.Sub, true
	case ad.OpMul:
		return native.Mul, true
	case ad.OpDiv:
		return native.Div, true
	}
	return 0, false
}

// comparison is the comparison of a binary op.
func comparison(op ad.OpCode) (byte, bool) {
	switch op {
	case ad.OpLess:
		return native.LT, true
	case ad.OpLessEqual:
		return native.LE, true
	case ad.OpEqual:
		return native.EQ, true
	case ad.OpNotEqual:
		return native.NEQ, true
	case loopnest.OpNotLessEqual:
		return native.NLE, true
	}
	return 0, false
}

// bounds jump or mark where x leaves the interval: the comparisons that say so.
func bounds(iv *ad.Interval) (lo, hi byte) {
	lo, hi = native.NGE, native.NLE
	if iv.LoOpen {
		lo = native.NGT
	}
	if iv.HiOpen {
		hi = native.NLT
	}
	return lo, hi
}

const signBit = 1 << 63

// elementwise computes d of operands in registers a, b, c; the first two of the
// scratch registers are free, all of them for routines. It reports whether it
// knows the op.
func (g *generator) elementwise(op ad.OpCode, d, a, b, c native.Vec) bool {
	l := g.lanes
	one := g.Number(1)
	if o, ok := operation(op); ok {
		l.Do(o, d, a, b)
		return true
	}
	if o, ok := comparison(op); ok {
		l.Compare(o, 0, a, b)
		l.DoMem(native.And, d, 0, one)
		return true
	}
	switch op {
	case ad.OpReshape:
		l.Copy(d, a)
	case ad.OpNeg:
		l.DoMem(native.Xor, d, a, g.Word(signBit))
	case ad.OpAbs:
		l.DoMem(native.And, d, a, g.Word(^uint64(signBit)))
	case ad.OpSquare:
		l.Do(native.Mul, d, a, a)
	case ad.OpSqrt:
		l.Sqrt(d, a)
	case ad.OpInv:
		l.Load(0, one)
		l.Do(native.Div, d, 0, a)
	case loopnest.OpMulAdd:
		l.Do(native.Mul, 0, a, b)
		l.Do(native.Add, d, 0, c)
	case loopnest.OpMulSub:
		l.Do(native.Mul, 0, a, b)
		l.Do(native.Sub, d, 0, c)
	case loopnest.OpSubMul:
		l.Do(native.Mul, 0, a, b)
		l.Do(native.Sub, d, c, 0)
	case ad.OpMulGuarded: // 0 where a is 0, NaN where it is
		l.CompareMem(native.NEQ, 0, a, g.Number(0))
		l.Do(native.Mul, 1, a, b)
		l.Do(native.And, d, 0, 1)
	case ad.OpNot:
		l.CompareMem(native.EQ, 0, a, g.Number(0))
		l.DoMem(native.And, d, 0, one)
	case ad.OpIsInf:
		l.DoMem(native.And, 0, a, g.Word(^uint64(signBit)))
		l.CompareMem(native.EQ, 0, 0, g.Number(math.Inf(1)))
		l.DoMem(native.And, d, 0, one)
	case ad.OpIsNaN:
		l.Compare(native.UNORD, 0, a, a)
		l.DoMem(native.And, d, 0, one)
	case ad.OpSelect:
		l.CompareMem(native.NEQ, 0, a, g.Number(0))
		l.Blend(d, c, b, 0)
	case ad.OpExp:
		g.routine(native.Exp, d, a)
	case ad.OpLog:
		g.routine(native.Log, d, a)
	case ad.OpLog1p:
		g.routine(native.Log1p, d, a)
	case ad.OpPow:
		l.Copy(0, a)
		l.Copy(1, b)
		l.Apply(native.Pow)
		l.Copy(d, 0)
	case ad.OpFloor:
		l.Round(native.Floor, d, a)
	case ad.OpCeil:
		l.Round(native.Ceil, d, a)
	case ad.OpTrunc:
		l.Round(native.Trunc, d, a)
	case ad.OpLog1m:
		l.DoMem(native.Xor, 0, a, g.Word(signBit))
		l.Apply(native.Log1p)
		l.Copy(d, 0)
	case loopnest.OpExpNegAbs:
		l.DoMem(native.Or, 0, a, g.Word(signBit))
		l.Apply(native.Exp)
		l.Copy(d, 0)
	case ad.OpDetach:
		l.Copy(d, a)
	case ad.OpMax, ad.OpMin: // a if it is the greater one or b is NaN
		c := native.GT
		if op == ad.OpMin {
			c = native.LT
		}
		l.Compare(c, 0, a, b)
		l.Compare(native.UNORD, 1, b, b)
		l.Do(native.Or, 0, 0, 1)
		l.Blend(d, b, a, 0)
	case loopnest.OpExpNegDiff:
		l.Compare(native.NEQ, 1, a, b)
		l.Do(native.Sub, 0, a, b)
		l.DoMem(native.Or, 0, 0, g.Word(signBit))
		l.Do(native.And, 0, 0, 1)
		l.Apply(native.Exp)
		l.Copy(d, 0)
	case loopnest.OpSigmoid: // (a < 0 ? b : 1)/(1 + b)
		l.CompareMem(native.LT, 0, a, g.Number(0))
		l.Load(1, one)
		l.Blend(0, 1, b, 0)
		l.Do(native.Add, 1, b, 1)
		l.Do(native.Div, d, 0, 1)
	case loopnest.OpMaxPlus0: // max(a, 0) + b; NaN of NaN
		l.Zero(0)
		l.Do(native.Max, 0, 0, a)
		l.Do(native.Add, d, 0, b)
	case loopnest.OpMinMinus0:
		l.Zero(0)
		l.Do(native.Min, 0, 0, a)
		l.Do(native.Sub, d, 0, b)
	case loopnest.OpMaxPlus: // (a < b ? b : a) + c
		l.Compare(native.LT, 0, a, b)
		l.Blend(0, a, b, 0)
		l.Do(native.Add, d, 0, c)
	default:
		return false
	}
	return true
}

func (g *generator) routine(r native.Routine, d, a native.Vec) {
	g.lanes.Copy(0, a)
	g.lanes.Apply(r)
	g.lanes.Copy(d, 0)
}

// usesRoutine reports whether the op calls one.
func usesRoutine(op ad.OpCode) bool {
	switch op {
	case ad.OpExp, ad.OpLog, ad.OpLog1p, ad.OpLog1m, ad.OpPow, loopnest.OpExpNegAbs, loopnest.OpExpNegDiff:
		return true
	}
	return false
}

// tables are those of exponentials and logarithms.
func tables() native.Tables {
	return native.Tables{Exp: uintptr(unsafe.Pointer(&kernel.ExpTable)), Log: uintptr(unsafe.Pointer(&kernel.LogTable))}
}
