package native

// Lanes are the instructions on four, two or one number: the lowest of a
// register. What else is in it is of no matter, but may be computed with.
type Lanes struct {
	*Asm
	Width int
}

// Op is an instruction on two operands.
type Op byte

// The instructions.
const (
	Add Op = 0x58
	Mul Op = 0x59
	Sub Op = 0x5c
	Min Op = 0x5d // the second operand if either is NaN
	Div Op = 0x5e
	Max Op = 0x5f

	And    Op = 0x54
	AndNot Op = 0x55 // not a, and b
	Or     Op = 0x56
	Xor    Op = 0x57

	sqrtOp Op = 0x51
)

// Comparisons.
const (
	EQ    byte = 0x00 // false if unordered, as the next two
	LT    byte = 0x11
	LE    byte = 0x12
	NEQ   byte = 0x04 // true if unordered, as the next ones
	NLT   byte = 0x15
	NLE   byte = 0x16
	NGE   byte = 0x19
	NGT   byte = 0x1a
	UNORD byte = 0x03
	GE    byte = 0x1d // false if unordered
	GT    byte = 0x1e
)

func (l Lanes) width() byte {
	if l.Width == 4 {
		return wide
	}
	return narrow
}

func (l Lanes) form(op Op) (p, w byte) {
	if l.Width > 1 || op >= And && op <= Xor {
		return p66, l.width()
	}
	return pF2, narrow
}

// Do is d = x op y.
func (l Lanes) Do(op Op, d, x, y Vec) {
	p, w := l.form(op)
	l.vrr(m0F, p, 0, w, byte(op), byte(d), byte(x), byte(y))
}

// DoMem is d = x op the operand in memory: of the bitwise ones only a constant.
func (l Lanes) DoMem(op Op, d, x Vec, m Mem) {
	p, w := l.form(op)
	l.vrm(m0F, p, 0, w, byte(op), byte(d), byte(x), m)
}

// Sqrt is d = √x.
func (l Lanes) Sqrt(d, x Vec) {
	v := Vec(0)
	if l.Width == 1 {
		v = x
	}
	l.Do(sqrtOp, d, v, x)
}

// Rounding is a way to make integers of numbers.
type Rounding byte

// The ways.
const (
	Floor Rounding = 9 + iota
	Ceil
	Trunc
)

// Round is d = x rounded.
func (l Lanes) Round(r Rounding, d, x Vec) {
	l.vrr(m3A, p66, 0, l.width(), 0x09, byte(d), 0, byte(x), byte(r))
}

// ToInt is r = the lowest number of m without its fraction; the least integer if
// that is none.
func (l Lanes) ToInt(r Reg, m Mem) { l.vrm(m0F, pF2, 1, narrow, 0x2c, byte(r), 0, m) }

// Compare is d = all ones where x and y compare so, 0 elsewhere.
func (l Lanes) Compare(c byte, d, x, y Vec) {
	p, w := l.form(Add)
	l.vrr(m0F, p, 0, w, 0xc2, byte(d), byte(x), byte(y), c)
}

// CompareMem is Compare with an operand in memory.
func (l Lanes) CompareMem(c byte, d, x Vec, m Mem) {
	p, w := l.form(Add)
	l.vrm(m0F, p, 0, w, 0xc2, byte(d), byte(x), m, c)
}

// Blend is d = y where the mask's sign is set, x elsewhere.
func (l Lanes) Blend(d, x, y, mask Vec) {
	l.vrr(m3A, p66, 0, l.width(), 0x4b, byte(d), byte(x), byte(y), byte(mask)<<4)
}

// BlendMem is Blend with a constant for y.
func (l Lanes) BlendMem(d, x Vec, y Mem, mask Vec) {
	l.vrm(m3A, p66, 0, l.width(), 0x4b, byte(d), byte(x), y, byte(mask)<<4)
}

// Copy is d = x.
func (l Lanes) Copy(d, x Vec) {
	if d != x {
		l.vrr(m0F, p66, 0, l.width(), 0x28, byte(d), 0, byte(x))
	}
}

// Zero is d = 0.
func (l Lanes) Zero(d Vec) { l.vrr(m0F, p66, 0, l.width(), 0x57, byte(d), byte(d), byte(d)) }

// Load is d = the numbers at m.
func (l Lanes) Load(d Vec, m Mem) {
	if l.Width > 1 {
		l.vrm(m0F, p66, 0, l.width(), 0x10, byte(d), 0, m)
	} else {
		l.vrm(m0F, pF2, 0, narrow, 0x10, byte(d), 0, m)
	}
}

// Store puts x at m.
func (l Lanes) Store(m Mem, x Vec) {
	if l.Width > 1 {
		l.vrm(m0F, p66, 0, l.width(), 0x11, byte(x), 0, m)
	} else {
		l.vrm(m0F, pF2, 0, narrow, 0x11, byte(x), 0, m)
	}
}

// Broadcast is d = the number at m, in all lanes.
func (l Lanes) Broadcast(d Vec, m Mem) {
	switch l.Width {
	case 4:
		l.vrm(m0F38, p66, 0, wide, 0x19, byte(d), 0, m)
	case 2:
		l.vrm(m0F, pF2, 0, narrow, 0x12, byte(d), 0, m)
	default:
		l.Load(d, m)
	}
}

// Alone makes all of x but its lowest numbers, as many as there are lanes, 0.
func (l Lanes) Alone(d, x Vec) {
	if l.Width == 1 {
		l.vrr(m0F, pF3, 0, narrow, 0x7e, byte(d), 0, byte(x))
	} else {
		l.Copy(d, x)
	}
}

// LoadHigh is d = x's lowest number, and the one at m above it.
func (l Lanes) LoadHigh(d, x Vec, m Mem) { l.vrm(m0F, p66, 0, narrow, 0x16, byte(d), byte(x), m) }

// Join is d = the lower half of x, and that of y above it.
func (l Lanes) Join(d, x, y Vec) { l.vrr(m3A, p66, 0, wide, 0x18, byte(d), byte(x), byte(y), 1) }

// Upper is d = the upper half of x.
func (l Lanes) Upper(d, x Vec) { l.vrr(m3A, p66, 0, wide, 0x19, byte(x), 0, byte(d), 1) }

// Signs is r = the signs of x, one bit for each lane.
func (l Lanes) Signs(r Reg, x Vec) { l.vrr(m0F, p66, 0, l.width(), 0x50, byte(r), 0, byte(x)) }

// Ucomi compares the lowest numbers of x and y for a jump: Below, Equal, Parity.
func (l Lanes) Ucomi(x Vec, m Mem) { l.vrm(m0F, p66, 0, narrow, 0x2e, byte(x), 0, m) }

// SumLanes is d = (x₀+x₁) + (x₂+x₃), in the lowest lane; both registers are
// overwritten.
func (l Lanes) SumLanes(d, x Vec) {
	one := Lanes{l.Asm, 1}
	l.Upper(d, x)
	// (x0, x1) and (x2, x3) are added pair by pair.
	l.vrr(m0F, p66, 0, narrow, 0x7c, byte(x), byte(x), byte(d)) // x = (x0+x1, x2+x3)
	l.vrr(m0F, p66, 0, narrow, 0x15, byte(d), byte(x), byte(x)) // d = (x2+x3, x2+x3)
	one.Do(Add, d, x, d)
}

// MulAdd is d += x·y, rounded once.
func (l Lanes) MulAdd(d, x, y Vec) {
	l.vrr(m0F38, p66, 1, l.width(), 0xb8, byte(d), byte(x), byte(y))
}

// MulAddMem is d += x·the numbers at m, rounded once.
func (l Lanes) MulAddMem(d, x Vec, m Mem) {
	l.vrm(m0F38, p66, 1, l.width(), 0xb8, byte(d), byte(x), m)
}

// AddPairs is d = the sums of neighbours of x and y: x₀+x₁, y₀+y₁, x₂+x₃, y₂+y₃.
func (l Lanes) AddPairs(d, x, y Vec) {
	l.vrr(m0F, p66, 0, l.width(), 0x7c, byte(d), byte(x), byte(y))
}

// Integers of 64 bits in lanes.

func (l Lanes) addWords(d, x, y Vec) { l.vrr(m0F, p66, 0, l.width(), 0xd4, byte(d), byte(x), byte(y)) }
func (l Lanes) subWords(d, x, y Vec) { l.vrr(m0F, p66, 0, l.width(), 0xfb, byte(d), byte(x), byte(y)) }
func (l Lanes) shiftLeft(d, x Vec, n byte) {
	l.vrr(m0F, p66, 0, l.width(), 0x73, 6, byte(d), byte(x), n)
}
func (l Lanes) shiftRight(d, x Vec, n byte) {
	l.vrr(m0F, p66, 0, l.width(), 0x73, 2, byte(d), byte(x), n)
}

// shiftInts shifts the signed integers of 32 bits right.
func (l Lanes) shiftInts(d, x Vec, n byte) {
	l.vrr(m0F, p66, 0, l.width(), 0x72, 4, byte(d), byte(x), n)
}
func (l Lanes) addIntsMem(d, x Vec, m Mem) {
	l.vrm(m0F, p66, 0, l.width(), 0xfe, byte(d), byte(x), m)
}
func (l Lanes) subInts(d, x, y Vec) { l.vrr(m0F, p66, 0, l.width(), 0xfa, byte(d), byte(x), byte(y)) }

// low and second move a word of the lower half to a general register.
func (l Lanes) low(r Reg, x Vec)    { l.vrr(m0F, p66, 1, narrow, 0x7e, byte(x), 0, byte(r)) }
func (l Lanes) second(r Reg, x Vec) { l.vrr(m3A, p66, 1, narrow, 0x16, byte(x), 0, byte(r), 1) }

// gather is d = the numbers at table + idx words·8, for each field's offset in
// disp one register; idx is not changed. AX and BX are overwritten.
func (l Lanes) gather(ds []Vec, disps []int32, idx, tmp Vec, table Reg) {
	if l.Width == 1 {
		l.low(AX, idx)
		for k, d := range ds {
			l.Load(d, Indexed(table, AX, 8, disps[k]))
		}
		return
	}
	one := Lanes{l.Asm, 1}
	pair := func(to Vec, k int) {
		one.Load(to, Indexed(table, AX, 8, disps[k]))
		one.LoadHigh(to, to, Indexed(table, BX, 8, disps[k]))
	}
	if l.Width == 2 {
		l.low(AX, idx)
		l.second(BX, idx)
		for k, d := range ds {
			pair(d, k)
		}
		return
	}
	l.Upper(tmp, idx)
	l.low(AX, tmp)
	l.second(BX, tmp)
	// The upper halves wait in the lower ones of the results.
	for k, d := range ds {
		pair(d, k)
	}
	l.low(AX, idx)
	l.second(BX, idx)
	for k, d := range ds {
		pair(tmp, k)
		l.Join(d, tmp, d)
	}
}
