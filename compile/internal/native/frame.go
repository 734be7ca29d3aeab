package native

import "math/bits"

// Frame is the environment of a piece of code: the instructions for its number of lanes, and its
// registers. Some registers are reserved for values that outlive a formula: accumulators, carried
// numbers, the failure flag.
type Frame struct {
	a      *Asm
	v      vectors
	free   [2]uint64 // registers that formulas may use, by class
	accs   []accumulator
	marked bool
	mark   Vec
	spare  int  // number of registers that must not be reserved
	inner  bool // the code is that of a routine
}

// accumulator is a sum kept in as many lanes as the frame has. It is in a register or in scratch
// memory.
type accumulator struct {
	reg Vec
	mem bool
	at  int32
}

// Classes of registers, which index Frame.free.
const (
	ofVectors = 0
	ofTruths  = 1
)

// Frame returns an empty frame. Its instructions work on one number if n is 1, otherwise on vectors
// of the narrowest width that holds n numbers, or of the full width.
func (a *Asm) Frame(n int) *Frame {
	if len(a.frames) == 0 {
		a.frames = make([]Frame, 8)
	}
	f := &a.frames[0]
	a.frames = a.frames[1:]
	*f = Frame{a: a, v: a.whole}
	defer func() { f.spare = a.routineVectors(f.v) + 2 }()
	f.free[ofVectors] = 1<<a.Target.Vectors - 1
	switch {
	case n == 1:
		f.v = a.single
	case n <= a.half.lanes():
		f.v = a.half
	default:
		// Mask register 0 means all lanes, so it holds no truth.
		f.free[ofTruths] = (1<<a.Target.Truths - 1) << 1
		return f
	}
	// With AVX-512, only full vectors can use all 32 registers; narrower ones use 16.
	if a.Target.Truths > 0 {
		f.free[ofVectors] = 1<<16 - 1
	}
	return f
}

// Spare sets the number of registers that reservations must leave free.
func (f *Frame) Spare(n int) { f.spare = n }

// Spared returns the number of registers that reservations leave free: the one set by Spare or,
// initially, the number that routines and a formula need.
func (f *Frame) Spared() int { return f.spare }

// Lanes returns the number of lanes of the frame's instructions.
func (f *Frame) Lanes() int { return f.v.lanes() }

// Free returns the number of vector registers that are not reserved.
func (f *Frame) Free() int { return bits.OnesCount64(f.free[ofVectors]) }

// Reserve reserves the last free vector register, if Spared registers remain free without it.
func (f *Frame) Reserve() (Vec, bool) {
	if f.Free() <= f.spare {
		return 0, false
	}
	r := 63 - bits.LeadingZeros64(f.free[ofVectors])
	f.free[ofVectors] &^= 1 << r
	return Vec(r), true
}

// Accumulator adds an accumulator to the frame, initially 0, and returns its number, from 0.
func (f *Frame) Accumulator() int {
	r, ok := f.Reserve()
	acc := accumulator{reg: r, mem: !ok}
	if !ok {
		acc.at = f.a.Reserve(f.v.lanes())
	}
	k := len(f.accs)
	f.accs = append(f.accs, acc)
	f.Clear([]int{k})
	return k
}

// Clear sets accumulators to 0.
func (f *Frame) Clear(accs []int) {
	for _, k := range accs {
		if acc := f.accs[k]; acc.mem {
			f.v.word(0, 0)
			f.v.store(At(Scratch, 8*acc.at), 0, f.v.lanes())
		} else {
			f.v.word(acc.reg, 0)
		}
	}
}

// Mark adds the failure flag to the frame, initially false.
func (f *Frame) Mark() {
	f.marked = true
	if t := f.free[ofTruths]; t != 0 {
		f.mark = Vec(63 - bits.LeadingZeros64(t))
		f.free[ofTruths] &^= 1 << f.mark
	} else {
		f.mark, _ = f.Reserve()
	}
	f.v.falseTruth(f.mark)
}

// IfMarked jumps if the failure flag is set.
func (f *Frame) IfMarked(l Label) {
	if f.marked {
		f.v.ifAny(f.mark, l)
	}
}

// AddSum adds the sum of accumulators to the number at p. The accumulators together have eight
// lanes; their registers are overwritten.
func (f *Frame) AddSum(accs []int, p Address) {
	xs := make([]Vec, len(accs))
	for i, k := range accs {
		if acc := f.accs[k]; acc.mem {
			xs[i] = Vec(i + 1)
			f.v.load(xs[i], At(Scratch, 8*acc.at), f.v.lanes())
		} else {
			xs[i] = acc.reg
		}
	}
	f.v.sum(0, xs)
	m := f.a.mem(p, T0)
	f.a.single.opMem(primAdd, 0, 0, 0, m)
	f.a.single.store(m, 0, 1)
}

// CallOn applies a routine to each of the accumulators. The results replace the sums.
func (f *Frame) CallOn(r Routine, accs []int) {
	b := f.a.Builder()
	for _, k := range accs {
		if acc := f.accs[k]; acc.mem {
			at := Address{Base: Scratch, Index: NoReg, Disp: 8 * acc.at}
			b.Store(at, b.Call(r, b.Load(at)), false)
		} else {
			b.Out(acc.reg, b.Call(r, b.In(acc.reg)))
		}
	}
	f.Emit(b, f.v.lanes())
}

// Accumulators makes n accumulators, which must fit into registers.
func (f *Frame) Accumulators(n int) {
	f.spare = 0
	for range n {
		if f.Accumulator(); f.accs[len(f.accs)-1].mem {
			panic("native: no register for an accumulator")
		}
	}
}

// Release returns the registers of the accumulators and no longer reserves them. The next formula
// can read the sums with In.
func (f *Frame) Release() []Vec {
	rs := make([]Vec, len(f.accs))
	for i, acc := range f.accs {
		rs[i] = acc.reg
		f.free[ofVectors] |= 1 << acc.reg
	}
	f.accs = nil
	return rs
}

// StoreAccumulator stores the first active lanes of an accumulator.
func (f *Frame) StoreAccumulator(k int, p Address, active int) {
	f.v.store(f.a.mem(p, T0), f.accs[k].reg, active)
}

// StoreTotal stores the sum of the lanes of an accumulator, and overwrites the accumulator.
func (f *Frame) StoreTotal(k int, p Address) {
	f.v.sum(0, []Vec{f.accs[k].reg})
	f.a.single.store(f.a.mem(p, T0), 0, 1)
}

// mem converts an address to an operand; t is used if the address needs a register.
func (a *Asm) mem(p Address, t Reg) Mem {
	base := p.Base
	if base == NoReg {
		base = t
		switch {
		case p.Pointer != 0:
			return a.Fixed(t, p.Pointer, p.Index, 8, p.Disp)
		case p.Saved != 0:
			a.MovLoad(t, At(Scratch, 8*(p.Saved-1)))
		default:
			a.MovLoad(t, At(Views, 24*p.View))
		}
	}
	return Indexed(base, p.Index, 8, p.Disp)
}

// LeaAddress loads an address into r.
func (a *Asm) LeaAddress(r Reg, p Address) { a.Lea(r, a.mem(p, r)) }
