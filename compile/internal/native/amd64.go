package native

import (
	"encoding/binary"
	"math/bits"
)

// amd64 assembles instructions on general registers for amd64. It also has the encodings shared by
// its vector instructions.
type amd64 struct {
	buffer
	jumps []fixup // distances to labels that are still to be filled in
	loads []fixup // distances to constants that are still to be filled in
}

// newAMD64 returns an assembler whose buffers are large enough for the code of a small model.
func newAMD64() *amd64 {
	b := buffer{buf: make([]byte, 0, 4096), labels: make([]int, 0, 32), constants: make([]byte, 0, 1024)}
	return &amd64{buffer: b, jumps: make([]fixup, 0, 32), loads: make([]fixup, 0, 128)}
}

// fixup is the position of a 32-bit distance that is filled in later. The processor counts the
// distance from end, the end of the instruction.
type fixup struct{ at, end, target int }

// operand is an operand in memory, or a constant stored with the code.
type operand struct {
	Mem
	isConstant bool
	constant   int
}

// modrm encodes an operand in memory. imm is the number of bytes of the instruction that follow the
// operand. short allows distances of one byte; otherwise they take four.
func (a *amd64) modrm(reg byte, m operand, imm int, short bool) {
	reg = reg & 7 << 3
	if m.isConstant {
		a.bytes(reg | 5)
		a.loads = append(a.loads, fixup{len(a.buf), len(a.buf) + 4 + imm, m.constant})
		a.int32(0)
		return
	}
	mod := byte(2) << 6
	if short && m.Disp >= -128 && m.Disp < 128 {
		mod = 1 << 6
	}
	const sp = 4
	if m.Index != NoReg || m.Base&7 == sp {
		// The binary logarithm of the scale; a scale of 0 counts as 1.
		scale := byte(bits.Len8(m.Scale|1) - 1)
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

// high returns the fourth bits of the numbers of index and base, which are encoded in the prefix.
func (m *operand) high() (x, b byte) {
	if m.isConstant {
		return 0, 0
	}
	if m.Index != NoReg {
		x = byte(m.Index) >> 3
	}
	return x, byte(m.Base) >> 3
}

// ofRR and ofRM generate 64-bit instructions: on two registers, and on a register and memory.
func (a *amd64) ofRR(op byte, r, s Reg) {
	a.bytes(0x48|byte(r)>>3<<2|byte(s)>>3, op, 0xc0|byte(r)&7<<3|byte(s)&7)
}

func (a *amd64) ofRM(op byte, r Reg, m Mem) {
	o := operand{Mem: m}
	x, b := o.high()
	a.bytes(0x48|byte(r)>>3<<2|x<<1|b, op)
	a.modrm(byte(r), o, 0, true)
}

func (a *amd64) ofImm(op, extension byte, r Reg, v int32) {
	a.bytes(0x48|byte(r)>>3, op, 0xc0|extension<<3|byte(r)&7)
	a.int32(v)
}

func (a *amd64) MovImm(r Reg, v uint64) {
	if v < 1<<31 {
		a.bytes(0x40|byte(r)>>3, 0xb8|byte(r)&7)
		a.int32(int32(v))
		return
	}
	a.bytes(0x48|byte(r)>>3, 0xb8|byte(r)&7)
	a.buf = binary.LittleEndian.AppendUint64(a.buf, v)
}

// Fixed implements general.
func (a *amd64) Fixed(t Reg, p uintptr, index Reg, scale uint8, disp int32) Mem {
	a.MovImm(t, uint64(p))
	return Indexed(t, index, scale, disp)
}

func (a *amd64) Mov(r, s Reg)           { a.ofRR(0x8b, r, s) }
func (a *amd64) MovLoad(r Reg, m Mem)   { a.ofRM(0x8b, r, m) }
func (a *amd64) MovStore(m Mem, r Reg)  { a.ofRM(0x89, r, m) }
func (a *amd64) MovLoad32(r Reg, m Mem) { a.ofRM(0x63, r, m) }
func (a *amd64) Lea(r Reg, m Mem)       { a.ofRM(0x8d, r, m) }
func (a *amd64) Add(r, s Reg)           { a.ofRR(0x03, r, s) }
func (a *amd64) Sub(r, s Reg)           { a.ofRR(0x2b, r, s) }
func (a *amd64) Cmp(r, s Reg)           { a.ofRR(0x3b, r, s) }
func (a *amd64) AddImm(r Reg, v int32)  { a.ofImm(0x81, 0, r, v) }
func (a *amd64) CmpImm(r Reg, v int32)  { a.ofImm(0x81, 7, r, v) }
func (a *amd64) MulImm(r, s Reg, v int32) {
	a.ofRR(0x69, r, s)
	a.int32(v)
}

func (a *amd64) ToInt(r Reg, m Mem) { a.vrm(m0F, pF2, 1, 0, 0x2c, byte(r), 0, operand{Mem: m}) }

func (a *amd64) If(c Cond, l Label) {
	a.branch([...]byte{Equal: 4, NotEqual: 5, Less: 0xc, GreaterE: 0xd, AboveE: 3}[c], l)
}

func (a *amd64) branch(condition byte, l Label) {
	a.bytes(0x0f, 0x80|condition)
	a.jump(l)
}

func (a *amd64) Jump(l Label) { a.bytes(0xe9); a.jump(l) }
func (a *amd64) Call(l Label) { a.bytes(0xe8); a.jump(l) }
func (a *amd64) Enter()       {}

// Leave clears the upper parts of the vector registers. Otherwise they would slow down Go's use of
// the lower parts.
func (a *amd64) Leave()  { a.bytes(0xc5, 0xf8, 0x77, 0xc3) }
func (a *amd64) Return() { a.bytes(0xc3) }

func (a *amd64) jump(l Label) {
	a.jumps = append(a.jumps, fixup{len(a.buf), len(a.buf) + 4, int(l)})
	a.int32(0)
}

// finish fills in the distances to labels and constants. It returns the code, followed by its
// constants, and a function that gives the position of a label.
func (a *amd64) finish() ([]byte, func(Label) int) {
	base := a.withConstants()
	for _, f := range a.jumps {
		binary.LittleEndian.PutUint32(a.buf[f.at:], uint32(int32(a.labels[f.target]-f.end)))
	}
	for _, f := range a.loads {
		binary.LittleEndian.PutUint32(a.buf[f.at:], uint32(int32(base+f.target-f.end)))
	}
	return a.buf, func(l Label) int { return a.labels[l] }
}

// roundingCodes and comparisonCodes are the immediate operands for these roundings and comparisons.
var (
	roundingCodes   = [...]byte{Floor: 9, Ceil: 10, Trunc: 11}
	comparisonCodes = [...]byte{EQ: 0x00, LT: 0x11, LE: 0x12, GE: 0x1d, GT: 0x1e, NEQ: 0x04, NLT: 0x15, NLE: 0x16, NGE: 0x19, NGT: 0x1a, UNORD: 0x03}
)

// Prefixes and maps of the encodings of vector instructions.
const (
	pNone, p66, pF3, pF2 = 0, 1, 2, 3
	m0F, m0F38, m3A      = 1, 2, 3
)

// prefix writes a VEX prefix and the opcode; l is 1 for 256 bits.
func (a *amd64) prefix(m, p, w, l byte, r, v, x, b byte, op byte) {
	a.bytes(0xc4, (^r&1)<<7|(^x&1)<<6|(^b&1)<<5|m, w<<7|(^v&15)<<3|l<<2|p, op)
}

// vrr writes a vector instruction on registers.
func (a *amd64) vrr(m, p, w, l byte, op byte, reg, v, rm byte, imm ...byte) {
	a.prefix(m, p, w, l, reg>>3, v, 0, rm>>3, op)
	a.bytes(0xc0 | reg&7<<3 | rm&7)
	a.bytes(imm...)
}

// vrm writes a vector instruction with an operand in memory.
func (a *amd64) vrm(m, p, w, l byte, op byte, reg, v byte, mem operand, imm ...byte) {
	x, b := mem.high()
	a.prefix(m, p, w, l, reg>>3, v, x, b, op)
	a.modrm(reg, mem, len(imm), true)
	a.bytes(imm...)
}

// evex writes the EVEX prefix of a 512-bit instruction. mask selects lanes, and zero clears the
// others. all broadcasts one number in memory to all lanes.
func (a *amd64) evex(m, p, w byte, reg, v, x, b, mask byte, zero, all bool, op byte) {
	a.evexWidth(2, m, p, w, reg, v, x, b, mask, zero, all, op)
}

// evexWidth is evex for vectors of 128 bits times 2 to the power of width.
func (a *amd64) evexWidth(width, m, p, w byte, reg, v, x, b, mask byte, zero, all bool, op byte) {
	z, bc := byte(0), byte(0)
	if zero {
		z = 1
	}
	if all {
		bc = 1
	}
	a.bytes(0x62, (^reg>>3&1)<<7|(^x&1)<<6|(^b&1)<<5|(^reg>>4&1)<<4|m,
		w<<7|(^v&15)<<3|4|p,
		z<<7|width<<5|bc<<4|(^v>>4&1)<<3|mask, op)
}

// err and erm are the 512-bit forms of vrr and vrm: EVEX with operands in registers, or with one in
// memory. mask is the mask register that selects lanes; 0 selects all.
func (a *amd64) err(m, p, w byte, op byte, reg, v, rm, mask byte, zero bool, imm ...byte) {
	a.evex(m, p, w, reg, v, rm>>4, rm>>3, mask, zero, false, op)
	a.bytes(0xc0 | reg&7<<3 | rm&7)
	a.bytes(imm...)
}

func (a *amd64) erm(m, p, w byte, op byte, reg, v byte, mem operand, mask byte, all bool, imm ...byte) {
	x, b := mem.high()
	a.evex(m, p, w, reg, v, x, b, mask, false, all, op)
	a.modrm(reg, mem, len(imm), false)
	a.bytes(imm...)
}
