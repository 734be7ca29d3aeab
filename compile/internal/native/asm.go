package native

import (
	"encoding/binary"
)

// Reg is a general register.
type Reg uint8

// The general registers that code may use, named by what they hold at the beginning of a function
// or by their purpose. On amd64 the numbers are those of the encoding, on arm64 they are the
// registers X0 to X15. Others (the stack pointer, registers reserved by Go or the system) are not
// used.
const (
	T0      Reg = 0 // for temporary values; the result
	R0      Reg = 1 // first argument, mostly the index of an element
	R1      Reg = 2 // second argument
	T1      Reg = 3
	Views   Reg = 6 // the table of views
	Memory  Reg = 7 // the machine's memory
	R2      Reg = 8 // third argument
	R3      Reg = 9
	Scratch Reg = 10 // the scratch memory
	T2      Reg = 11
	T3      Reg = 12
	T4      Reg = 13
	T5      Reg = 15
	NoReg   Reg = 255
)

// Vec is a register for vectors or for truths; which of the two follows from the value it holds.
type Vec uint8

// Mem is an operand in memory: base + index·scale + disp.
type Mem struct {
	Base, Index Reg
	Scale       uint8
	Disp        int32
}

// At is base + disp.
func At(base Reg, disp int32) Mem { return Mem{Base: base, Index: NoReg, Disp: disp} }

// Indexed is base + index·scale + disp.
func Indexed(base, index Reg, scale uint8, disp int32) Mem { return Mem{base, index, scale, disp} }

// Label is a position in the code.
type Label int

// Cond is a condition of a jump after a comparison of signed or unsigned integers.
type Cond byte

// The conditions.
const (
	Equal Cond = iota
	NotEqual
	Less
	GreaterE
	AboveE // greater or equal, as unsigned integers
)

// general has the instructions on general registers.
type general interface {
	MovImm(r Reg, v uint64) // r = v
	// Fixed is the operand p + index·scale + disp. It uses t if the address needs a register; use
	// it before asking for other operands.
	Fixed(t Reg, p uintptr, index Reg, scale uint8, disp int32) Mem
	Mov(r, s Reg)             // r = s
	MovLoad(r Reg, m Mem)     // r = the word at m
	MovStore(m Mem, r Reg)    // the word at m = r
	MovLoad32(r Reg, m Mem)   // r = the signed 32-bit integer at m
	Lea(r Reg, m Mem)         // r = the address m
	Add(r, s Reg)             // r += s
	Sub(r, s Reg)             // r -= s
	AddImm(r Reg, v int32)    // r += v
	MulImm(r, s Reg, v int32) // r = s·v
	Cmp(r, s Reg)             // compares r with s
	CmpImm(r Reg, v int32)    // compares r with v
	// r = the number at m, truncated; for NaN and numbers out of range, a value that is negative or
	// out of range
	ToInt(r Reg, m Mem)
	If(c Cond, l Label) // jumps if the condition holds
	Jump(l Label)       // jumps
	Call(l Label)       // calls the code at l, which ends with Return and makes no calls
	Enter()             // begins a function that Go calls
	Leave()             // ends such a function and returns to Go
	Return()            // returns from code that was called by Call
	finish() (code []byte, at func(Label) int)
	NewLabel() Label
	Place(l Label)
}

// buffer is the code generated so far, with its labels and constants.
type buffer struct {
	buf       []byte
	labels    []int
	constants []byte
	known     map[constant]int // position of each constant
}

// constant is a 64-bit word that is stored n times in a row, as a vector operand needs it.
type constant struct {
	w uint64
	n int
}

// NewLabel returns a label without a position.
func (b *buffer) NewLabel() Label {
	b.labels = append(b.labels, -1)
	return Label(len(b.labels) - 1)
}

// Place puts the label at the current position.
func (b *buffer) Place(l Label) { b.labels[l] = len(b.buf) }

func (b *buffer) bytes(bs ...byte) { b.buf = append(b.buf, bs...) }
func (b *buffer) int32(v int32)    { b.buf = binary.LittleEndian.AppendUint32(b.buf, uint32(v)) }

// constantAt returns the position of n equal words among the constants.
func (b *buffer) constantAt(w uint64, n int) int {
	if b.known == nil {
		b.known = map[constant]int{}
	}
	c := constant{w, n}
	at, ok := b.known[c]
	if !ok {
		for len(b.constants)%(8*n) != 0 {
			b.constants = append(b.constants, 0)
		}
		at = len(b.constants)
		for range n {
			b.constants = binary.LittleEndian.AppendUint64(b.constants, w)
		}
		b.known[c] = at
	}
	return at
}

// withConstants appends the constants to the code, and returns where they begin.
func (b *buffer) withConstants() int {
	for len(b.buf)%64 != 0 {
		b.bytes(0)
	}
	base := len(b.buf)
	b.buf = append(b.buf, b.constants...)
	return base
}
