package native

import "sync"

// found is evaluated once, since cpuid is slow under a hypervisor.
var avx512Target = &Target{Name: "AVX-512", Lanes: 8, Vectors: 32, Truths: 6, found: sync.OnceValue(hasAVX512),
	make: func() (general, [3]vectors) {
		a := newAMD64()
		return a, [3]vectors{&avx2{a, 1}, &avx2{a, 4}, &avx512{a}}
	}}

// avx512 has the instructions of amd64 with AVX-512F, DQ and VL, for eight numbers. Truths are in
// mask registers.
type avx512 struct{ *amd64 }

func (l *avx512) lanes() int { return 8 }

var bitCodes512 = [numPrimitives]byte{primAnd: 0xdb, primOr: 0xeb, primXor: 0xef, primAddWord: 0xd4, primSubWord: 0xfb}

func (l *avx512) code(p prim) (byte, bool) {
	if code := arithmeticCodes[p]; code != 0 {
		return code, true
	}
	code := bitCodes512[p]
	return code, code != 0
}

func (l *avx512) op(p prim, imm uint64, d, a, b, c Vec) {
	if code, ok := l.code(p); ok {
		l.err(m0F, p66, 1, code, byte(d), byte(a), byte(b), 0, false)
		return
	}
	switch p {
	case primSqrt:
		l.err(m0F, p66, 1, 0x51, byte(d), 0, byte(a), 0, false)
	case primMulAdd:
		switch d {
		case c:
			l.err(m0F38, p66, 1, 0xb8, byte(d), byte(a), byte(b), 0, false)
		case a:
			l.err(m0F38, p66, 1, 0xa8, byte(d), byte(b), byte(c), 0, false)
		case b:
			l.err(m0F38, p66, 1, 0xa8, byte(d), byte(a), byte(c), 0, false)
		default:
			l.copy(d, c)
			l.err(m0F38, p66, 1, 0xb8, byte(d), byte(a), byte(b), 0, false)
		}
	case primRound:
		l.err(m3A, p66, 1, 0x09, byte(d), 0, byte(a), 0, false, roundingCodes[imm])
	case primShl:
		l.err(m0F, p66, 1, 0x73, 6, byte(d), byte(a), 0, false, byte(imm))
	case primShr:
		l.err(m0F, p66, 1, 0x73, 2, byte(d), byte(a), 0, false, byte(imm))
	case primCompare:
		l.err(m0F, p66, 1, 0xc2, byte(d), byte(a), byte(b), 0, false, comparisonCodes[imm])
	case primZip:
		l.err(m0F, p66, 1, 0x14+byte(imm), byte(d), byte(a), byte(b), 0, false)
	case primPairs:
		l.err(m3A, p66, 1, 0x23, byte(d), byte(a), byte(b), 0, false, 0x88+0x55*byte(imm))
	case primBoth: // conjunction of two mask registers
		l.vrr(m0F, p66, 0, 1, 0x41, byte(d), byte(a), byte(b))
	case primEither:
		l.vrr(m0F, p66, 0, 1, 0x45, byte(d), byte(a), byte(b))
	case primSelect:
		l.err(m0F38, p66, 1, 0x65, byte(d), byte(c), byte(b), byte(a), false)
	case primKeep:
		l.err(m0F, p66, 1, 0x28, byte(d), 0, byte(b), byte(a), true)
	default:
		panic("native: no such instruction")
	}
}

func (l *avx512) folds(p prim) bool {
	_, ok := l.code(p)
	return ok || p == primCompare
}

func (l *avx512) opOperand(p prim, imm uint64, d, a Vec, m operand, all bool) {
	if p == primCompare {
		l.erm(m0F, p66, 1, 0xc2, byte(d), byte(a), m, 0, all, comparisonCodes[imm])
		return
	}
	code, _ := l.code(p)
	l.erm(m0F, p66, 1, code, byte(d), byte(a), m, 0, all)
}

func (l *avx512) opMem(p prim, imm uint64, d, a Vec, m Mem) {
	l.opOperand(p, imm, d, a, operand{Mem: m}, false)
}

func (l *avx512) opWord(p prim, imm uint64, d, a Vec, w uint64) {
	l.opOperand(p, imm, d, a, l.constant(w), true)
}

func (l *avx512) addProduct(d, a Vec, m Mem) {
	l.erm(m0F38, p66, 1, 0xb8, byte(d), byte(a), operand{Mem: m}, 0, false)
}

func (l *avx512) constant(w uint64) operand {
	return operand{isConstant: true, constant: l.constantAt(w, 1)}
}

func (l *avx512) copy(d, x Vec) {
	if d != x {
		l.err(m0F, p66, 1, 0x28, byte(d), 0, byte(x), 0, false)
	}
}

func (l *avx512) word(d Vec, w uint64) {
	if w == 0 {
		l.err(m0F, p66, 1, 0xef, byte(d), byte(d), byte(d), 0, false)
		return
	}
	l.erm(m0F38, p66, 1, 0x19, byte(d), 0, l.constant(w), 0, false)
}

// mask sets mask register k to select the first active lanes.
func (l *avx512) mask(k Vec, active int) {
	l.MovImm(T0, 1<<active-1)
	l.vrr(m0F, p66, 0, 0, 0x92, byte(k), 0, byte(T0))
}

// partMask is the mask register reserved for loads and stores of some of the lanes.
const partMask = 7

func (l *avx512) load(d Vec, m Mem, active int) {
	if active == 8 {
		l.erm(m0F, p66, 1, 0x10, byte(d), 0, operand{Mem: m}, 0, false)
		return
	}
	l.broadcast(d, m)
	l.erm(m0F, p66, 1, 0x10, byte(d), 0, l.parted(&m, active), partMask, false)
}

// parted sets partMask for the first active lanes. This overwrites T0, so an address that uses T0
// is first moved to T1.
func (l *avx512) parted(m *Mem, active int) operand {
	if m.Base == T0 || m.Index == T0 {
		l.Lea(T1, *m)
		*m = At(T1, 0)
	}
	l.mask(partMask, active)
	return operand{Mem: *m}
}

func (l *avx512) store(m Mem, x Vec, active int) {
	if active == 8 {
		l.erm(m0F, p66, 1, 0x11, byte(x), 0, operand{Mem: m}, 0, false)
		return
	}
	l.erm(m0F, p66, 1, 0x11, byte(x), 0, l.parted(&m, active), partMask, false)
}

func (l *avx512) broadcast(d Vec, m Mem) {
	l.erm(m0F38, p66, 1, 0x19, byte(d), 0, operand{Mem: m}, 0, false)
}

// gather loads number by number. For eight numbers, the gather instruction takes 25 cycles on a
// Sapphire Rapids, and single loads take 10.
func (l *avx512) gather(d, t, u Vec, base Reg, table Mem, active int) {
	l.numbers(d, t, u, base, 0, func(k int) {
		at := table
		if k < active { // the other lanes become copies of the first, as in load
			at.Disp += int32(4 * k)
		}
		l.MovLoad32(T0, at)
	})
}

// fetch uses the gather instruction, with the words as indices. The instruction needs a mask of the
// lanes still to be loaded.
func (l *avx512) fetch(ds []Vec, _, _ Vec, base Reg, distances []int32, x Vec) {
	for k, d := range ds {
		l.vrr(m0F, pNone, 0, 1, 0x46, partMask, partMask, partMask) // all lanes
		l.bytes(0x62, (^byte(d)>>3&1)<<7|(^byte(x)>>3&1)<<6|(^byte(base)>>3&1)<<5|(^byte(d)>>4&1)<<4|m0F38,
			1<<7|15<<3|4|p66,
			2<<5|(^byte(x)>>4&1)<<3|partMask, 0x93)
		l.bytes(2<<6|byte(d)&7<<3|4, 3<<6|byte(x)&7<<3|byte(base)&7)
		l.int32(distances[k])
	}
}

// numbers loads eight numbers at base + 8·T0 + distance. index sets T0 for lane k.
func (l *avx512) numbers(d, t, u Vec, base Reg, distance int32, index func(k int)) {
	at := func(k int) operand {
		index(k)
		return operand{Mem: Indexed(base, T0, 8, distance)}
	}
	pair := func(to Vec, k int) {
		l.narrow(0, m0F, pF2, 0x10, byte(to), 0, at(k))
		l.narrow(0, m0F, p66, 0x16, byte(to), byte(to), at(k+1))
	}
	four := func(to Vec, k int) {
		pair(to, k)
		pair(t, k+2)
		l.evexWidth(1, m3A, p66, 1, byte(to), byte(to), byte(t)>>4, byte(t)>>3, 0, false, false, 0x18)
		l.bytes(0xc0|byte(to)&7<<3|byte(t)&7, 1)
	}
	four(d, 0)
	four(u, 4)
	l.err(m3A, p66, 1, 0x1a, byte(d), byte(d), byte(u), 0, false, 1)
}

// narrow writes an instruction for a vector of 128 or 256 bits, with an operand in memory.
func (l *avx512) narrow(width, m, p byte, op byte, reg, v byte, mem operand) {
	x, b := mem.high()
	l.evexWidth(width, m, p, 1, reg, v, x, b, 0, false, false, op)
	l.modrm(reg, mem, 0, false)
}

func (l *avx512) keepLanes(d, x Vec, active int) {
	l.mask(partMask, active)
	l.err(m0F, p66, 1, 0x28, byte(d), 0, byte(x), partMask, true)
}

func (l *avx512) falseTruth(d Vec) { l.vrr(m0F, pNone, 0, 1, 0x47, byte(d), byte(d), byte(d)) }

// test sets the flags for a truth: carry if it holds in all lanes, zero if in none.
func (l *avx512) test(t Vec) { l.vrr(m0F, p66, 0, 0, 0x98, byte(t), 0, byte(t)) }

func (l *avx512) unlessAll(t Vec, target Label) {
	l.test(t)
	l.If(AboveE, target)
}

func (l *avx512) ifAny(t Vec, target Label) {
	l.test(t)
	l.If(NotEqual, target)
}

func (l *avx512) sum(d Vec, x []Vec) {
	// The shorter encoding reaches only the first 16 registers, so copy the lower half to register
	// 1.
	l.err(m0F, p66, 1, 0x28, 1, 0, byte(x[0]), 0, false)
	l.err(m3A, p66, 1, 0x1b, 1, 0, byte(d), 0, false, 1)
	four := &avx2{l.amd64, 4}
	four.op(primAdd, 0, 1, 1, d, 0)
	four.sumFour(d, 1)
}
