package native

import "sync"

// found is evaluated once, since cpuid is slow under a hypervisor.
var avx2Target = &Target{Name: "AVX2", Lanes: 4, Vectors: 16, found: sync.OnceValue(hasAVX2),
	make: func() (general, [3]vectors) {
		a := newAMD64()
		four := &avx2{a, 4}
		return a, [3]vectors{&avx2{a, 1}, four, four}
	}}

// avx2 has the instructions of amd64 with AVX2 and FMA, for n = 1, 2 or 4 numbers.
type avx2 struct {
	*amd64
	n int
}

func (l *avx2) lanes() int { return l.n }

// width returns the width bit of the encoding: 1 for 256 bits, 0 for fewer.
func (l *avx2) width() byte {
	if l.n == 4 {
		return 1
	}
	return 0
}

// Opcodes of instructions with two operands: arithmetic, also on single numbers, and bit
// operations.
var (
	arithmeticCodes = [numPrimitives]byte{primAdd: 0x58, primMul: 0x59, primSub: 0x5c, primMin: 0x5d, primDiv: 0x5e, primMax: 0x5f}
	bitCodes        = [numPrimitives]byte{primAnd: 0x54, primKeep: 0x54, primBoth: 0x54, primOr: 0x56, primEither: 0x56, primXor: 0x57, primAddWord: 0xd4, primSubWord: 0xfb}
)

// code returns the opcode of an instruction with two operands, with its prefix and width.
func (l *avx2) code(p prim) (code, prefix, width byte, ok bool) {
	if code = arithmeticCodes[p]; code != 0 {
		if l.n == 1 {
			return code, pF2, 0, true
		}
		return code, p66, l.width(), true
	}
	code = bitCodes[p]
	return code, p66, l.width(), code != 0
}

func (l *avx2) op(p prim, imm uint64, d, a, b, c Vec) {
	if code, prefix, w, ok := l.code(p); ok {
		l.vrr(m0F, prefix, 0, w, code, byte(d), byte(a), byte(b))
		return
	}
	switch p {
	case primSqrt:
		if l.n == 1 {
			l.vrr(m0F, pF2, 0, 0, 0x51, byte(d), byte(a), byte(a))
		} else {
			l.vrr(m0F, p66, 0, l.width(), 0x51, byte(d), 0, byte(a))
		}
	case primMulAdd:
		switch d {
		case c:
			l.vrr(m0F38, p66, 1, l.width(), 0xb8, byte(d), byte(a), byte(b))
		case a: // the instruction overwrites a: d = b·d + c
			l.vrr(m0F38, p66, 1, l.width(), 0xa8, byte(d), byte(b), byte(c))
		case b:
			l.vrr(m0F38, p66, 1, l.width(), 0xa8, byte(d), byte(a), byte(c))
		default:
			l.copy(d, c)
			l.vrr(m0F38, p66, 1, l.width(), 0xb8, byte(d), byte(a), byte(b))
		}
	case primRound:
		l.vrr(m3A, p66, 0, l.width(), 0x09, byte(d), 0, byte(a), roundingCodes[imm])
	case primShl:
		l.vrr(m0F, p66, 0, l.width(), 0x73, 6, byte(d), byte(a), byte(imm))
	case primShr:
		l.vrr(m0F, p66, 0, l.width(), 0x73, 2, byte(d), byte(a), byte(imm))
	case primCompare:
		prefix, w := l.comparing()
		l.vrr(m0F, prefix, 0, w, 0xc2, byte(d), byte(a), byte(b), comparisonCodes[imm])
	case primZip:
		l.vrr(m0F, p66, 0, l.width(), 0x14+byte(imm), byte(d), byte(a), byte(b))
	case primPairs:
		l.vrr(m3A, p66, 0, 1, 0x06, byte(d), byte(a), byte(b), 0x20+0x11*byte(imm))
	case primSelect:
		l.vrr(m3A, p66, 0, l.width(), 0x4b, byte(d), byte(c), byte(b), byte(a)<<4)
	default:
		panic("native: no such instruction")
	}
}

func (l *avx2) comparing() (prefix, width byte) {
	if l.n == 1 {
		return pF2, 0
	}
	return p66, l.width()
}

func (l *avx2) folds(p prim) bool {
	_, _, _, ok := l.code(p)
	return ok && p != primBoth && p != primEither || p == primCompare
}

func (l *avx2) opOperand(p prim, imm uint64, d, a Vec, m operand) {
	if p == primCompare {
		prefix, w := l.comparing()
		l.vrm(m0F, prefix, 0, w, 0xc2, byte(d), byte(a), m, comparisonCodes[imm])
		return
	}
	code, prefix, w, _ := l.code(p)
	l.vrm(m0F, prefix, 0, w, code, byte(d), byte(a), m)
}

func (l *avx2) opMem(p prim, imm uint64, d, a Vec, m Mem) {
	l.opOperand(p, imm, d, a, operand{Mem: m})
}

// opWord generates a primitive with a constant operand. The constant is stored as often as the
// instruction reads it, at least twice for bit operations.
func (l *avx2) opWord(p prim, imm uint64, d, a Vec, w uint64) {
	l.opOperand(p, imm, d, a, l.constant(w))
}

func (l *avx2) addProduct(d, a Vec, m Mem) {
	if l.n == 1 {
		l.vrm(m0F38, p66, 1, 0, 0xb9, byte(d), byte(a), operand{Mem: m})
		return
	}
	l.vrm(m0F38, p66, 1, l.width(), 0xb8, byte(d), byte(a), operand{Mem: m})
}

func (l *avx2) constant(w uint64) operand {
	return operand{isConstant: true, constant: l.constantAt(w, max(l.n, 2))}
}

func (l *avx2) copy(d, x Vec) {
	if d != x {
		l.vrr(m0F, p66, 0, l.width(), 0x28, byte(d), 0, byte(x))
	}
}

func (l *avx2) word(d Vec, w uint64) {
	if w == 0 {
		l.vrr(m0F, p66, 0, 0, 0x57, byte(d), byte(d), byte(d))
		return
	}
	l.vrm(m0F, p66, 0, l.width(), 0x10, byte(d), 0, l.constant(w))
}

// like returns the active lane that lane k of a loaded vector equals: k itself if it is active.
func like(k, active int) int {
	if k >= active && active == 2 {
		return k % 2
	}
	return min(k, active-1)
}

func (l *avx2) load(d Vec, m Mem, active int) {
	o := operand{Mem: m}
	switch {
	case l.n == 1:
		l.vrm(m0F, pF2, 0, 0, 0x10, byte(d), 0, o)
	case active == 1:
		l.broadcast(d, m)
	case active == 2:
		l.vrm(m0F38, p66, 0, 1, 0x1a, byte(d), 0, o) // load the two numbers into both halves
	case active == 3: // load the third number into both lanes of the upper half
		third := o
		third.Disp += 16
		l.vrm(m0F, pF2, 0, 0, 0x12, byte(d), 0, third)
		l.vrr(m3A, p66, 0, 1, 0x18, byte(d), byte(d), byte(d), 1)
		l.vrm(m3A, p66, 0, 1, 0x18, byte(d), byte(d), o, 0)
	default:
		l.vrm(m0F, p66, 0, 1, 0x10, byte(d), 0, o)
	}
}

func (l *avx2) store(m Mem, x Vec, active int) {
	o := operand{Mem: m}
	switch {
	case l.n == 1 || active == 1:
		l.vrm(m0F, pF2, 0, 0, 0x11, byte(x), 0, o)
	case active == 4:
		l.vrm(m0F, p66, 0, 1, 0x11, byte(x), 0, o)
	default:
		l.vrm(m0F, p66, 0, 0, 0x11, byte(x), 0, o)
		if active == 3 { // swap the halves for one store, and back
			third := o
			third.Disp += 16
			l.vrr(m3A, p66, 0, 1, 0x06, byte(x), byte(x), byte(x), 1)
			l.vrm(m0F, pF2, 0, 0, 0x11, byte(x), 0, third)
			l.vrr(m3A, p66, 0, 1, 0x06, byte(x), byte(x), byte(x), 1)
		}
	}
}

func (l *avx2) broadcast(d Vec, m Mem) {
	if l.n == 1 {
		l.load(d, m, 1)
		return
	}
	l.vrm(m0F38, p66, 0, 1, 0x19, byte(d), 0, operand{Mem: m})
}

// element returns the operand at base + 8·i, where i is the integer at position k of a table.
func (l *avx2) element(base Reg, table Mem, k int) operand {
	table.Disp += int32(4 * k)
	l.MovLoad32(T0, table)
	return operand{Mem: Indexed(base, T0, 8, 0)}
}

// gather loads the numbers one by one. On no processor that was measured was the gather instruction
// faster.
func (l *avx2) gather(d, t, _ Vec, base Reg, table Mem, active int) {
	if l.n == 1 {
		l.vrm(m0F, pF2, 0, 0, 0x10, byte(d), 0, l.element(base, table, 0))
		return
	}
	pair := func(to Vec, k int) {
		l.vrm(m0F, pF2, 0, 0, 0x10, byte(to), 0, l.element(base, table, like(k, active)))
		l.vrm(m0F, p66, 0, 0, 0x16, byte(to), byte(to), l.element(base, table, like(k+1, active)))
	}
	pair(d, 0)
	pair(t, 2)
	l.vrr(m3A, p66, 0, 1, 0x18, byte(d), byte(d), byte(t), 1)
}

func (l *avx2) fetch(ds []Vec, t, _ Vec, base Reg, distances []int32, x Vec) {
	// Move the two words of the lower half to general registers.
	words := func(x Vec) {
		l.vrr(m0F, p66, 1, 0, 0x7e, byte(x), 0, byte(T0))
		if l.n > 1 {
			l.vrr(m3A, p66, 1, 0, 0x16, byte(x), 0, byte(T1), 1)
		}
	}
	pair := func(to Vec, k int) {
		l.vrm(m0F, pF2, 0, 0, 0x10, byte(to), 0, operand{Mem: Indexed(base, T0, 8, distances[k])})
		if l.n > 1 {
			l.vrm(m0F, p66, 0, 0, 0x16, byte(to), byte(to), operand{Mem: Indexed(base, T1, 8, distances[k])})
		}
	}
	if l.n == 1 {
		words(x)
		for k, d := range ds {
			pair(d, k)
		}
		return
	}
	// Load the upper half first, into the lower halves of the results; then the lower half.
	l.vrr(m3A, p66, 0, 1, 0x19, byte(x), 0, byte(t), 1)
	words(t)
	for k, d := range ds {
		pair(d, k)
	}
	words(x)
	for k, d := range ds {
		pair(t, k)
		l.vrr(m3A, p66, 0, 1, 0x18, byte(d), byte(t), byte(d), 1)
	}
}

func (l *avx2) keepLanes(d, x Vec, active int) {
	at := len(l.constants)
	for at%32 != 0 {
		l.constants = append(l.constants, 0)
		at++
	}
	for k := range 4 {
		w := byte(0)
		if k < active {
			w = 0xff
		}
		for range 8 {
			l.constants = append(l.constants, w)
		}
	}
	l.vrm(m0F, p66, 0, 1, 0x54, byte(d), byte(x), operand{isConstant: true, constant: at})
}

func (l *avx2) falseTruth(d Vec) { l.word(d, 0) }

// signs sets T0 to the signs of x, one bit per lane.
func (l *avx2) signs(x Vec) { l.vrr(m0F, p66, 0, l.width(), 0x50, byte(T0), 0, byte(x)) }

func (l *avx2) unlessAll(t Vec, target Label) {
	l.signs(t)
	if l.n > 1 {
		l.CmpImm(T0, 1<<l.n-1)
		l.If(NotEqual, target)
		return
	}
	l.testLow()
	l.If(Equal, target)
}

func (l *avx2) ifAny(t Vec, target Label) {
	l.signs(t)
	if l.n > 1 {
		l.CmpImm(T0, 0)
	} else {
		l.testLow()
	}
	l.If(NotEqual, target)
}

// testLow tests the lowest bit of T0: the truth of a single number. The bit of the other lane is
// ignored.
func (l *avx2) testLow() { l.bytes(0xa8, 1) }

func (l *avx2) sum(d Vec, x []Vec) {
	four := &avx2{l.amd64, 4}
	a := x[0]
	if len(x) > 1 {
		four.op(primAdd, 0, a, a, x[1], 0)
	}
	l.sumFour(d, a)
}

// sumFour sets d to (a₀+a₂) + (a₁+a₃).
func (l *avx2) sumFour(d, a Vec) {
	two, one := &avx2{l.amd64, 2}, &avx2{l.amd64, 1}
	l.vrr(m3A, p66, 0, 1, 0x19, byte(a), 0, byte(d), 1) // d = the upper two numbers of a
	two.op(primAdd, 0, a, a, d, 0)
	l.vrr(m0F, p66, 0, 0, 0x15, byte(d), byte(a), byte(a)) // a = its second number
	one.op(primAdd, 0, d, a, d, 0)
}
