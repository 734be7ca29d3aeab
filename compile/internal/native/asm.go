package native

import (
	"encoding/binary"
	"math"
)

// Reg is a general register, by its number in the encoding.
type Reg uint8

// The general registers. SP, BP (which profilers follow) and R14 (in which Go
// keeps its goroutine) are left alone.
const (
	AX Reg = iota
	CX
	DX
	BX
	sp
	bp
	SI
	DI
	R8
	R9
	R10
	R11
	R12
	R13
	r14
	R15
	NoReg Reg = 255
)

// Vec is a vector register, 0 to 15.
type Vec uint8

// Mem is a place in memory: base + index·scale + disp, or a constant of the
// code's own.
type Mem struct {
	Base, Index Reg
	Scale       uint8
	Disp        int32
	constant    int // from 1
}

// At is base + disp.
func At(base Reg, disp int32) Mem { return Mem{Base: base, Index: NoReg, Disp: disp} }

// Indexed is base + index·scale + disp.
func Indexed(base, index Reg, scale uint8, disp int32) Mem { return Mem{base, index, scale, disp, 0} }

// Label is a place in the code.
type Label int

// fixup is a 32-bit distance to fill in, counted from end.
type fixup struct{ at, end, target int }

// Asm assembles code.
type Asm struct {
	buf       []byte
	labels    []int
	jumps     []fixup // to labels
	constants [][4]uint64
	known     map[[4]uint64]int
	loads     []fixup               // of constants
	routines  [numRoutines][3]Label // by width 1, 2, 4
}

// Len is the number of bytes so far.
func (a *Asm) Len() int { return len(a.buf) }

func (a *Asm) bytes(b ...byte) { a.buf = append(a.buf, b...) }
func (a *Asm) int32(v int32)   { a.buf = binary.LittleEndian.AppendUint32(a.buf, uint32(v)) }

// NewLabel is a label that is not placed yet.
func (a *Asm) NewLabel() Label {
	a.labels = append(a.labels, -1)
	return Label(len(a.labels) - 1)
}

// Place puts the label here.
func (a *Asm) Place(l Label) { a.labels[l] = len(a.buf) }

// Constant is a constant of four words.
func (a *Asm) Constant(words [4]uint64) Mem {
	if a.known == nil {
		a.known = map[[4]uint64]int{}
	}
	k, ok := a.known[words]
	if !ok {
		a.constants = append(a.constants, words)
		k = len(a.constants)
		a.known[words] = k
	}
	return Mem{constant: k, Index: NoReg}
}

// Word is a constant of four equal words.
func (a *Asm) Word(w uint64) Mem { return a.Constant([4]uint64{w, w, w, w}) }

// Number is a constant of four equal numbers.
func (a *Asm) Number(x float64) Mem { return a.Word(math.Float64bits(x)) }

// modrm encodes an operand in memory; imm is how many bytes of the instruction
// follow it.
func (a *Asm) modrm(reg byte, m Mem, imm int) {
	reg = reg & 7 << 3
	if m.constant > 0 {
		a.bytes(reg | 5)
		a.loads = append(a.loads, fixup{len(a.buf), len(a.buf) + 4 + imm, m.constant - 1})
		a.int32(0)
		return
	}
	mod := byte(2) << 6
	if m.Disp >= -128 && m.Disp < 128 {
		mod = 1 << 6
	}
	if m.Index != NoReg || m.Base&7 == sp {
		scale := map[uint8]byte{0: 0, 1: 0, 2: 1, 4: 2, 8: 3}[m.Scale]
		index := byte(sp)
		if m.Index != NoReg {
			index = byte(m.Index)
		}
		a.bytes(mod|reg|byte(sp), scale<<6|index&7<<3|byte(m.Base)&7)
	} else {
		a.bytes(mod | reg | byte(m.Base)&7)
	}
	if mod == 1<<6 {
		a.bytes(byte(m.Disp))
	} else {
		a.int32(m.Disp)
	}
}

// high are the high bits of index and base.
func (m Mem) high() (x, b byte) {
	if m.constant > 0 {
		return 0, 0
	}
	if m.Index != NoReg {
		x = byte(m.Index) >> 3
	}
	return x, byte(m.Base) >> 3
}

// Prefixes and maps of the VEX encoding.
const (
	p66, pF3, pF2       = 1, 2, 3
	m0F, m0F38, m3A     = 1, 2, 3
	narrow, wide        = 0, 1
	noVec           Vec = 0
)

func (a *Asm) prefix(m, p, w, l byte, r, v, x, b byte, op byte) {
	a.bytes(0xc4, (^r&1)<<7|(^x&1)<<6|(^b&1)<<5|m, w<<7|(^v&15)<<3|l<<2|p, op)
}

// vrr is an instruction on registers.
func (a *Asm) vrr(m, p, w, l byte, op byte, reg, v, rm byte, imm ...byte) {
	a.prefix(m, p, w, l, reg>>3, v, 0, rm>>3, op)
	a.bytes(0xc0 | reg&7<<3 | rm&7)
	a.bytes(imm...)
}

// vrm is an instruction with an operand in memory.
func (a *Asm) vrm(m, p, w, l byte, op byte, reg, v byte, mem Mem, imm ...byte) {
	x, b := mem.high()
	a.prefix(m, p, w, l, reg>>3, v, x, b, op)
	a.modrm(reg, mem, len(imm))
	a.bytes(imm...)
}

func (a *Asm) rexRM(reg Reg, m Mem) {
	x, b := m.high()
	a.bytes(0x48 | byte(reg)>>3<<2 | x<<1 | b)
}

// MovImm is r = v.
func (a *Asm) MovImm(r Reg, v uint64) {
	if v < 1<<31 {
		a.bytes(0x40|byte(r)>>3, 0xb8|byte(r)&7)
		a.int32(int32(v))
		return
	}
	a.bytes(0x48|byte(r)>>3, 0xb8|byte(r)&7)
	a.buf = binary.LittleEndian.AppendUint64(a.buf, v)
}

// Mov is r = s.
func (a *Asm) Mov(r, s Reg) {
	a.bytes(0x48|byte(r)>>3<<2|byte(s)>>3, 0x8b, 0xc0|byte(r)&7<<3|byte(s)&7)
}

// MovLoad is r = the word at m.
func (a *Asm) MovLoad(r Reg, m Mem) { a.rexRM(r, m); a.bytes(0x8b); a.modrm(byte(r), m, 0) }

// MovStore is the word at m = r.
func (a *Asm) MovStore(m Mem, r Reg) { a.rexRM(r, m); a.bytes(0x89); a.modrm(byte(r), m, 0) }

// MovLoad32 is r = the signed 32-bit integer at m.
func (a *Asm) MovLoad32(r Reg, m Mem) { a.rexRM(r, m); a.bytes(0x63); a.modrm(byte(r), m, 0) }

// Lea is r = the address m.
func (a *Asm) Lea(r Reg, m Mem) { a.rexRM(r, m); a.bytes(0x8d); a.modrm(byte(r), m, 0) }

// AddImm is r += v.
func (a *Asm) AddImm(r Reg, v int32) { a.bytes(0x48|byte(r)>>3, 0x81, 0xc0|byte(r)&7); a.int32(v) }

// Sub is r -= s.
func (a *Asm) Sub(r, s Reg) {
	a.bytes(0x48|byte(r)>>3<<2|byte(s)>>3, 0x2b, 0xc0|byte(r)&7<<3|byte(s)&7)
}

// MulImm is r = s·v.
func (a *Asm) MulImm(r, s Reg, v int32) {
	a.bytes(0x48|byte(r)>>3<<2|byte(s)>>3, 0x69, 0xc0|byte(r)&7<<3|byte(s)&7)
	a.int32(v)
}

// Add is r += s.
func (a *Asm) Add(r, s Reg) {
	a.bytes(0x48|byte(r)>>3<<2|byte(s)>>3, 0x03, 0xc0|byte(r)&7<<3|byte(s)&7)
}

// Shl is r <<= n.
func (a *Asm) Shl(r Reg, n byte) { a.bytes(0x48|byte(r)>>3, 0xc1, 0xe0|byte(r)&7, n) }

// Cmp compares r with s.
func (a *Asm) Cmp(r, s Reg) {
	a.bytes(0x48|byte(r)>>3<<2|byte(s)>>3, 0x3b, 0xc0|byte(r)&7<<3|byte(s)&7)
}

// CmpImm compares r with v.
func (a *Asm) CmpImm(r Reg, v int32) { a.bytes(0x48|byte(r)>>3, 0x81, 0xf8|byte(r)&7); a.int32(v) }

// TestImm compares the bits of r in v with 0.
func (a *Asm) TestImm(r Reg, v int32) { a.bytes(0x48|byte(r)>>3, 0xf7, 0xc0|byte(r)&7); a.int32(v) }

// Cond is a condition of a jump.
type Cond byte

// The conditions, of signed comparisons unless it says otherwise.
const (
	Equal    Cond = 4
	NotEqual Cond = 5
	Below    Cond = 2 // of Ucomi: unordered too
	AboveE   Cond = 3 // of unsigned integers
	Less     Cond = 0xc
	GreaterE Cond = 0xd
	LessE    Cond = 0xe
	Greater  Cond = 0xf
	Parity   Cond = 0xa // of Ucomi: unordered
)

// If jumps to l on the condition.
func (a *Asm) If(c Cond, l Label) { a.bytes(0x0f, 0x80|byte(c)); a.jump(l) }

// Jump jumps to l.
func (a *Asm) Jump(l Label) { a.bytes(0xe9); a.jump(l) }

// Call calls the code at l.
func (a *Asm) Call(l Label) { a.bytes(0xe8); a.jump(l) }

func (a *Asm) jump(l Label) {
	a.jumps = append(a.jumps, fixup{len(a.buf), len(a.buf) + 4, int(l)})
	a.int32(0)
}

// Ret returns.
func (a *Asm) Ret() { a.bytes(0xc3) }

// ZeroUpper clears the upper halves of the vector registers.
func (a *Asm) ZeroUpper() { a.bytes(0xc5, 0xf8, 0x77) }

// finish fills in distances and returns code with its constants.
func (a *Asm) finish() []byte {
	for len(a.buf)%32 != 0 {
		a.bytes(0xcc)
	}
	base := len(a.buf)
	for _, c := range a.constants {
		for _, w := range c {
			a.buf = binary.LittleEndian.AppendUint64(a.buf, w)
		}
	}
	for _, f := range a.jumps {
		binary.LittleEndian.PutUint32(a.buf[f.at:], uint32(int32(a.labels[f.target]-f.end)))
	}
	for _, f := range a.loads {
		binary.LittleEndian.PutUint32(a.buf[f.at:], uint32(int32(base+32*f.target-f.end)))
	}
	return a.buf
}

// MovInt is r = v.
func (a *Asm) MovInt(r Reg, v int64) { a.MovImm(r, uint64(v)) }
