package native

import (
	"encoding/binary"
	"math/bits"
)

// arm64 assembles instructions on general registers for arm64. It also has what its vector
// instructions share. Registers without a name in asm.go hold addresses and intermediate values.
// Registers reserved by Go or the system (X18, X26 to X30) are not used, except for X30, which
// calls overwrite.
type arm64 struct {
	buffer
	fixups []reference
	kept   [numKept]keptAddress
	clock  int
	// greatest distance of a conditional jump or of the load of a constant; 0: the processor's
	reach   int
	pending int // position, plus 1, of the first distance that is still to be filled in; 0: none
}

const (
	// An intermediate value of an instruction that takes several on this processor.
	inBetween     Reg = 16
	returnAddress Reg = 17
	link          Reg = 30
	zeroRegister      = 31
)

// keptRegisters cache addresses. The next operand is often at the same or a nearby address, and
// then its instruction needs no code to load the address: a distance of up to 32 KB can be encoded
// in the instruction, though not together with an index.
var keptRegisters = [numKept]Reg{4, 5, 14, 19, 20, 21, 22, 23, 24, 25}

const numKept = 10

// origin is what an address is counted from: base + index·scale, where base is a register or a
// fixed address.
type origin struct {
	base, index Reg
	scale       uint8
	fixed       uintptr // the base, if base is NoReg
}

// keptAddress is the contents of a kept register: the address origin + off.
type keptAddress struct {
	origin
	off  int32
	used int // when it was last used; 0: the register holds no address
}

// reference is a position in the code at which a distance must be filled in.
type reference struct {
	at    int
	to    int // label, or position among the constants
	kind  byte
	short bool // the target may be at most 1 MB away, otherwise 128 MB
}

const (
	toLabel = iota
	toConstant
)

// emit writes an instruction. If the target of an open reference would soon be too far away, it
// also writes an island: constants and jumps that are closer.
func (a *arm64) emit(w uint32) {
	a.int32(int32(w))
	limit := a.reach
	if limit == 0 {
		limit = 3 << 18
	}
	if a.pending > 0 && len(a.buf)-a.pending+len(a.constants) > limit {
		a.island()
	}
}

// island writes an island in the code: constants, and unconditional jumps to targets that are out
// of reach of a conditional jump. Code before the island jumps over it.
func (a *arm64) island() {
	over := len(a.buf)
	a.int32(0)
	base := a.pool()
	open := a.fixups
	a.fixups = nil
	for _, f := range open {
		switch {
		case f.kind == toConstant:
			a.fill(f, base+f.to)
		case f.short && a.labels[f.to] < 0:
			a.fill(f, len(a.buf))
			a.fixups = append(a.fixups, reference{at: len(a.buf), to: f.to})
			a.int32(0x14000000)
		default:
			a.fixups = append(a.fixups, f)
		}
	}
	binary.LittleEndian.PutUint32(a.buf[over:], 0x14000000)
	a.fill(reference{at: over}, len(a.buf))
	a.pending = 0
}

// pool writes the constants and returns their position.
func (a *arm64) pool() int {
	base := a.withConstants()
	a.constants, a.known = nil, nil
	return base
}

// fill fills in the distance from a reference to its target.
func (a *arm64) fill(f reference, target int) {
	d := uint32(target-f.at) >> 2
	w := binary.LittleEndian.Uint32(a.buf[f.at:])
	if f.short {
		w |= d & (1<<19 - 1) << 5
	} else {
		w |= d & (1<<26 - 1)
	}
	binary.LittleEndian.PutUint32(a.buf[f.at:], w)
}

// short writes an instruction that can only refer to a target at most 1 MB away.
func (a *arm64) short(w uint32, kind byte, to int) {
	if a.pending == 0 {
		a.pending = len(a.buf) + 1
	}
	a.fixups = append(a.fixups, reference{len(a.buf), to, kind, true})
	a.emit(w)
}

// finish fills in the distances to labels and constants. It returns the code, followed by its
// constants, and a function that gives the position of a label.
func (a *arm64) finish() ([]byte, func(Label) int) {
	base := a.pool()
	for _, f := range a.fixups {
		target := base + f.to
		if f.kind == toLabel {
			target = a.labels[f.to]
		}
		a.fill(f, target)
	}
	return a.buf, func(l Label) int { return a.labels[l] }
}

// Place puts the label at the current position. Other code may jump there, so the contents of kept
// registers are unknown from here on.
func (a *arm64) Place(l Label) {
	a.forget()
	a.buffer.Place(l)
}

func (a *arm64) forget() {
	for i := range a.kept {
		a.kept[i].used = 0
	}
}

// wrote is called when register r was written: kept addresses that depend on it are no longer
// known.
func (a *arm64) wrote(r Reg) {
	for i := range a.kept {
		if k := &a.kept[i]; k.base == r || k.index == r {
			k.used = 0
		}
	}
}

// rr and rrr write instructions on registers: d = op(n) and d = op(n, m).
func (a *arm64) rrr(op uint32, d, n, m byte) {
	a.emit(op | uint32(m)<<16 | uint32(n)<<5 | uint32(d))
}

func (a *arm64) rr(op uint32, d, n byte) { a.rrr(op, d, n, 0) }

// MovImm takes one or two instructions, or a load of a constant.
func (a *arm64) MovImm(r Reg, v uint64) {
	a.immediate(r, v)
	a.wrote(r)
}

func (a *arm64) immediate(r Reg, v uint64) {
	move := func(op uint32, part int) {
		a.emit(op | uint32(part)<<21 | uint32(v>>(16*part)&0xffff)<<5 | uint32(r))
	}
	parts := func(v uint64) (which []int) {
		for k := range 4 {
			if v>>(16*k)&0xffff != 0 {
				which = append(which, k)
			}
		}
		return which
	}
	const movz, movn, movk = 0xd2800000, 0x92800000, 0xf2800000
	set, clear := parts(v), parts(^v)
	switch {
	case len(set) == 0:
		move(movz, 0)
	case len(clear) == 0:
		v = 0
		move(movn, 0)
	case len(clear) == 1:
		v = ^v
		move(movn, clear[0])
	case len(set) <= 2:
		move(movz, set[0])
		for _, k := range set[1:] {
			move(movk, k)
		}
	default:
		a.short(0x58000000|uint32(r), toConstant, a.constantAt(v, 1))
	}
}

func (a *arm64) Mov(r, s Reg) {
	a.rrr(0xaa0003e0, byte(r), 0, byte(s))
	a.wrote(r)
}

// access is a load or store instruction in three forms: with an address in a register and an
// unsigned distance, in units of the size; with a signed distance in bytes; and with an index in
// units of the size.
type access struct {
	size                     int32
	scaled, unscaled, byPlus uint32
}

var (
	loadWord     = access{8, 0xf9400000, 0xf8400000, 0xf8607800}
	storeWord    = access{8, 0xf9000000, 0xf8000000, 0xf8207800}
	loadInteger  = access{4, 0xb9800000, 0xb8800000, 0xb8a07800}
	loadNumber   = access{8, 0xfd400000, 0xfc400000, 0xfc607800}
	storeNumber  = access{8, 0xfd000000, 0xfc000000, 0xfc207800}
	loadNumbers  = access{16, 0x3dc00000, 0x3cc00000, 0x3ce07800}
	storeNumbers = access{16, 0x3d800000, 0x3c800000, 0x3ca07800}
)

// fits reports whether the instruction can encode a distance.
func (x *access) fits(disp int32) bool {
	return disp >= -256 && disp < 256 || disp >= 0 && disp%x.size == 0 && disp/x.size < 4096
}

// access writes the instruction for a register and an operand in memory.
func (a *arm64) access(x *access, r byte, m Mem) {
	if m.Index != NoReg && m.Disp == 0 && int32(m.Scale) == x.size {
		a.rrr(x.byPlus, r, byte(m.Base), byte(m.Index))
		return
	}
	base, disp := a.address(m, x)
	w := uint32(r) | uint32(base)<<5
	if disp >= 0 && disp%x.size == 0 && disp/x.size < 4096 {
		a.emit(x.scaled | w | uint32(disp/x.size)<<10)
	} else {
		a.emit(x.unscaled | w | uint32(disp)&511<<12)
	}
}

// address converts an operand to a register and a distance that the instruction can encode.
func (a *arm64) address(m Mem, x *access) (Reg, int32) {
	if m.Index == NoReg && x.fits(m.Disp) {
		return m.Base, m.Disp
	}
	return a.near(origin{base: m.Base, index: m.Index, scale: m.Scale}, m.Disp, x)
}

// near returns a register whose address is close to the operand's, and the distance between them,
// which the instruction can encode. It reuses a kept address if possible.
func (a *arm64) near(o origin, disp int32, x *access) (Reg, int32) {
	if o.index == NoReg {
		o.scale = 1
	}
	a.clock++
	closest := -1
	for i := range a.kept {
		k := &a.kept[i]
		if k.used == 0 || k.origin != o {
			continue
		}
		if x.fits(disp - k.off) {
			k.used = a.clock
			return keptRegisters[i], disp - k.off
		}
		if d := int64(disp) - int64(k.off); d > -4096 && d < 4096 {
			closest = i
		}
	}
	// Replace the least recently used address. Its distance gets its lowest twelve bits cleared, so
	// that neighbouring operands can use the same register, unless the instruction cannot encode
	// the rest.
	off := disp &^ 0xfff
	switch {
	case x.fits(disp):
		off = 0
	case !x.fits(disp - off):
		off = disp
	}
	oldest := -1
	for i, r := range keptRegisters {
		if r != o.base && (oldest < 0 || a.kept[i].used < a.kept[oldest].used) {
			oldest = i
		}
	}
	r := keptRegisters[oldest]
	a.wrote(r)
	switch {
	case closest >= 0 && closest != oldest:
		off = disp
		a.add(r, keptRegisters[closest], off-a.kept[closest].off)
	case o.base == NoReg:
		a.immediate(r, uint64(o.fixed)+uint64(int64(off)))
		if o.index != NoReg {
			a.addScaled(r, r, o.index, o.scale)
		}
	case o.index != NoReg:
		a.addScaled(r, o.base, o.index, o.scale)
		a.add(r, r, off)
	default:
		a.add(r, o.base, off)
	}
	a.kept[oldest] = keptAddress{o, off, a.clock}
	return r, disp - off
}

// Fixed implements general.
func (a *arm64) Fixed(_ Reg, p uintptr, index Reg, scale uint8, disp int32) Mem {
	r, d := a.near(origin{base: NoReg, index: index, scale: scale, fixed: p}, disp, &loadNumber)
	return At(r, d)
}

// addScaled sets d to n + m·scale.
func (a *arm64) addScaled(d, n, m Reg, scale uint8) {
	a.rrr(0x8b000000|uint32(bits.TrailingZeros8(scale))<<10, byte(d), byte(n), byte(m))
}

// add sets d to n + v.
func (a *arm64) add(d, n Reg, v int32) {
	op, w := uint32(0x91000000), uint32(v)
	if v < 0 {
		op, w = 0xd1000000, uint32(-int64(v))
	}
	switch {
	case v == 0:
		if d != n {
			a.rrr(0xaa0003e0, byte(d), 0, byte(n))
		}
	case w >= 1<<24:
		a.immediate(inBetween, uint64(int64(v)))
		a.addScaled(d, n, inBetween, 1)
	default:
		if high := w >> 12; high > 0 {
			a.rr(op|1<<22|high<<10, byte(d), byte(n))
			n = d
		}
		if low := w & 0xfff; low > 0 {
			a.rr(op|low<<10, byte(d), byte(n))
		}
	}
}

func (a *arm64) MovLoad(r Reg, m Mem)   { a.access(&loadWord, byte(r), m); a.wrote(r) }
func (a *arm64) MovStore(m Mem, r Reg)  { a.access(&storeWord, byte(r), m) }
func (a *arm64) MovLoad32(r Reg, m Mem) { a.access(&loadInteger, byte(r), m); a.wrote(r) }

func (a *arm64) Lea(r Reg, m Mem) {
	base := m.Base
	if m.Index != NoReg {
		a.addScaled(r, base, m.Index, m.Scale)
		base = r
	}
	a.add(r, base, m.Disp)
	a.wrote(r)
}

func (a *arm64) Add(r, s Reg)          { a.addScaled(r, r, s, 1); a.wrote(r) }
func (a *arm64) Sub(r, s Reg)          { a.rrr(0xcb000000, byte(r), byte(r), byte(s)); a.wrote(r) }
func (a *arm64) AddImm(r Reg, v int32) { a.add(r, r, v); a.wrote(r) }

func (a *arm64) MulImm(r, s Reg, v int32) {
	if v > 0 && v&(v-1) == 0 { // a power of two: shift
		n := uint32(bits.TrailingZeros32(uint32(v)))
		a.rr(0xd3400000|(64-n)&63<<16|(63-n)<<10, byte(r), byte(s))
	} else {
		a.immediate(inBetween, uint64(int64(v)))
		a.rrr(0x9b007c00, byte(r), byte(s), byte(inBetween))
	}
	a.wrote(r)
}

func (a *arm64) Cmp(r, s Reg) { a.rrr(0xeb000000, zeroRegister, byte(r), byte(s)) }

func (a *arm64) CmpImm(r Reg, v int32) {
	switch {
	case v >= 0 && v < 4096:
		a.rr(0xf1000000|uint32(v)<<10, zeroRegister, byte(r))
	case v < 0 && v > -4096:
		a.rr(0xb1000000|uint32(-v)<<10, zeroRegister, byte(r))
	default:
		a.immediate(inBetween, uint64(int64(v)))
		a.Cmp(r, inBetween)
	}
}

// ToInt converts NaN to -1.
func (a *arm64) ToInt(r Reg, m Mem) {
	const ordered = 7
	a.access(&loadNumber, spareVec, m)
	a.rr(0x9e780000, byte(r), spareVec)
	a.rrr(0x1e602000, 0, spareVec, spareVec)
	a.rrr(0xda800000|ordered<<12, byte(r), byte(r), zeroRegister)
	a.wrote(r)
}

// conditionCodes are the codes of conditions. The opposite of a condition differs in the lowest
// bit.
var conditionCodes = [...]uint32{Equal: 0, NotEqual: 1, Less: 0xb, GreaterE: 0xa, AboveE: 2}

func (a *arm64) If(c Cond, l Label) {
	a.branch(0x54000000|conditionCodes[c], 0x54000000|conditionCodes[c]^1, l)
}

// ifZero jumps if a register is 0, unlessZero if it is not.
func (a *arm64) ifZero(r Reg, l Label)     { a.branch(0xb4000000|uint32(r), 0xb5000000|uint32(r), l) }
func (a *arm64) unlessZero(r Reg, l Label) { a.branch(0xb5000000|uint32(r), 0xb4000000|uint32(r), l) }

// branch writes a conditional jump. If it cannot reach back to its target, a jump with the opposite
// condition skips an unconditional jump to the target.
func (a *arm64) branch(op, opposite uint32, l Label) {
	if at := a.labels[l]; at >= 0 && len(a.buf)-at >= 1<<20-8 {
		over := a.NewLabel()
		a.short(opposite, toLabel, int(over))
		a.Jump(l)
		a.buffer.Place(over)
		return
	}
	a.short(op, toLabel, int(l))
}

func (a *arm64) Jump(l Label) {
	a.fixups = append(a.fixups, reference{at: len(a.buf), to: int(l)})
	a.emit(0x14000000)
}

func (a *arm64) Call(l Label) {
	a.fixups = append(a.fixups, reference{at: len(a.buf), to: int(l)})
	a.emit(0x94000000)
	a.forget()
}

// Enter saves the return address, which calls would overwrite.
func (a *arm64) Enter() {
	a.forget()
	a.Mov(returnAddress, link)
}

func (a *arm64) Leave()  { a.emit(0xd65f0000 | uint32(returnAddress)<<5) }
func (a *arm64) Return() { a.emit(0xd65f0000 | uint32(link)<<5) }
