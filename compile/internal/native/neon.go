package native

import "math"

var neonTarget = &Target{Name: "NEON", Lanes: 2, Vectors: 30, found: hasNEON,
	make: func() (general, [3]vectors) {
		a := &arm64{}
		two := &neon{a, 2}
		return a, [3]vectors{&neon{a, 1}, two, two}
	}}

// neon has the instructions of arm64 for one number or two. The last two vector registers hold
// intermediate values. A truth is a vector in which each lane has all bits set, or none.
type neon struct {
	*arm64
	n int
}

const (
	spareVec    = 31
	operandsVec = 30 // holds operands that amd64 reads from memory
)

func (l *neon) lanes() int { return l.n }

// neonCodes are the opcodes of instructions with two operands: on two lanes, and on one lane if
// that is another instruction. Bit operations always work on both lanes, of which one may be
// unused.
var neonCodes = map[prim][2]uint32{
	primAdd: {0x4e60d400, 0x1e602800}, primSub: {0x4ee0d400, 0x1e603800}, primMul: {0x6e60dc00, 0x1e600800}, primDiv: {0x6e60fc00, 0x1e601800},
	primAnd: {0x4e201c00}, primOr: {0x4ea01c00}, primXor: {0x6e201c00}, primKeep: {0x4e201c00}, primBoth: {0x4e201c00}, primEither: {0x4ea01c00},
	primAddWord: {0x4ee08400}, primSubWord: {0x6ee08400},
}

// Other instructions on two lanes.
const (
	vFcmeq, vFcmge, vFcmgt                      = 0x4e60e400, 0x6e60e400, 0x6ee0e400
	vFcmeq0, vFcmge0, vFcmgt0, vFcmle0, vFcmlt0 = 0x4ee0d800, 0x6ee0c800, 0x4ee0c800, 0x6ee0d800, 0x4ee0e800
	vBsl, vBit, vBif                            = 0x6e601c00, 0x6ea01c00, 0x6ee01c00
	vAnd, vOrr, vNot                            = 0x4e201c00, 0x4ea01c00, 0x6e205800
	vFneg, vFabs, vFmla                         = 0x6ee0f800, 0x4ee0f800, 0x4e60cc00
	vShl, vUshr                                 = 0x4f005400, 0x6f000400
	// Add the two lanes of a register.
	vFaddp, vAddp = 0x7e70d800, 0x5ef1b800
	// copy the lower lane: to both lanes, or to the upper one
	vDup, vIns              = 0x4e080400, 0x6e180400
	vTrn1                   = 0x4ec02800
	vFmovD, vToX, vUpperToX = 0x1e604000, 0x9e660000, 0x4e183c00
)

// roundingNEON has the instructions for the roundings.
var roundingNEON = [...]uint32{Floor: 0x4e619800, Ceil: 0x4ee18800, Trunc: 0x4ee19800}

func (l *neon) two(op uint32, d, a Vec)      { l.rr(op, byte(d), byte(a)) }
func (l *neon) three(op uint32, d, a, b Vec) { l.rrr(op, byte(d), byte(a), byte(b)) }

func (l *neon) op(p prim, imm uint64, d, a, b, c Vec) {
	if codes, ok := neonCodes[p]; ok {
		code := codes[0]
		if l.n == 1 && codes[1] != 0 {
			code = codes[1]
		}
		l.three(code, d, a, b)
		return
	}
	switch p {
	case primMax, primMin:
		greater, less := a, b
		if p == primMin {
			greater, less = b, a
		}
		truth := d
		if d == a || d == b {
			truth = spareVec
		}
		l.three(vFcmgt, truth, greater, less)
		l.choose(d, truth, a, b)
	case primSqrt:
		if l.n == 1 {
			l.two(0x1e61c000, d, a)
		} else {
			l.two(0x6ee1f800, d, a)
		}
	case primMulAdd:
		switch {
		case l.n == 1:
			l.three(0x1f400000|uint32(c)<<10, d, a, b)
		case d == c:
			l.three(vFmla, d, a, b)
		case d != a && d != b:
			l.copy(d, c)
			l.three(vFmla, d, a, b)
		default:
			l.copy(spareVec, c)
			l.three(vFmla, spareVec, a, b)
			l.copy(d, spareVec)
		}
	case primRound:
		l.two(roundingNEON[imm], d, a)
	case primShl:
		l.two(vShl|uint32(64+imm)<<16, d, a)
	case primShr:
		l.two(vUshr|uint32(128-imm)<<16, d, a)
	case primCompare:
		l.compare(Comparison(imm), d, a, b)
	case primZip:
		l.three(vTrn1+uint32(imm)<<14, d, a, b)
	case primSelect:
		l.choose(d, a, b, c)
	default:
		panic("native: no such instruction")
	}
}

// choose sets d to a where t is true, else to b.
func (l *neon) choose(d, t, a, b Vec) {
	switch d {
	case t:
		l.three(vBsl, d, a, b)
	case b:
		l.three(vBit, d, a, t)
	case a:
		l.three(vBif, d, b, t)
	default:
		l.copy(d, t)
		l.three(vBsl, d, a, b)
	}
}

func (l *neon) compare(c Comparison, d, a, b Vec) {
	switch c {
	case EQ, NEQ:
		l.three(vFcmeq, d, a, b)
	case LT, NLT:
		l.three(vFcmgt, d, b, a)
	case LE, NLE:
		l.three(vFcmge, d, b, a)
	case GE, NGE:
		l.three(vFcmge, d, a, b)
	case GT, NGT:
		l.three(vFcmgt, d, a, b)
	case UNORD:
		l.three(vFcmeq, spareVec, b, b)
		if a != b {
			l.three(vFcmeq, d, a, a)
			l.three(vAnd, spareVec, spareVec, d)
		}
		l.two(vNot, d, spareVec)
		return
	}
	l.negated(c, d)
}

// negated inverts d if comparison c is implemented as the negation of another.
func (l *neon) negated(c Comparison, d Vec) {
	if c >= NEQ {
		l.two(vNot, d, d)
	}
}

// folds returns false, because no operand may be in memory. Bit operations and comparisons with
// some constants need no operand at all.
func (l *neon) folds(p prim) bool {
	return p == primAnd || p == primOr || p == primXor || p == primCompare
}

func (l *neon) opMem(p prim, imm uint64, d, a Vec, m Mem) {
	l.load(operandsVec, m, l.n)
	l.op(p, imm, d, a, operandsVec, 0)
}

func (l *neon) opWord(p prim, imm uint64, d, a Vec, w uint64) {
	switch {
	case p == primXor && w == signBit:
		l.two(vFneg, d, a)
	case p == primAnd && w == ^uint64(signBit):
		l.two(vFabs, d, a)
	case p == primOr && w == signBit:
		l.two(vFabs, d, a)
		l.two(vFneg, d, d)
	case p == primCompare && w == 0 && Comparison(imm) != UNORD:
		c := Comparison(imm)
		l.two([...]uint32{EQ: vFcmeq0, NEQ: vFcmeq0, LT: vFcmlt0, NLT: vFcmlt0, LE: vFcmle0, NLE: vFcmle0,
			GE: vFcmge0, NGE: vFcmge0, GT: vFcmgt0, NGT: vFcmgt0}[c], d, a)
		l.negated(c, d)
	default:
		l.word(operandsVec, w)
		l.op(p, imm, d, a, operandsVec, 0)
	}
}

func (l *neon) addProduct(d, a Vec, m Mem) {
	l.load(operandsVec, m, l.n)
	l.op(primMulAdd, 0, d, a, operandsVec, d)
}

func (l *neon) copy(d, x Vec) {
	if d != x {
		l.three(vOrr, d, x, x)
	}
}

// word loads a constant. If each of its bytes has all bits set or none, or if it is a number of few
// digits, one instruction encodes it; otherwise it is loaded from memory.
func (l *neon) word(d Vec, w uint64) {
	// The eight bits are split over two fields of the instruction.
	eight := func(op uint32, b uint32) { l.rr(op|b>>5<<16|b&31<<5, byte(d), 0) }
	if b, ok := byteMask(w); ok {
		eight(0x6f00e400, b)
	} else if b, ok := fewDigits(w); ok {
		eight(0x6f00f400, b)
	} else {
		l.short(0x9c000000|uint32(d), toConstant, l.constantAt(w, 2))
	}
}

// byteMask returns one bit for each byte of w: 1 for 255, 0 for 0. ok is false if w has other
// bytes.
func byteMask(w uint64) (b uint32, ok bool) {
	for k := range 8 {
		switch byte(w >> (8 * k)) {
		case 0:
		case 0xff:
			b |= 1 << k
		default:
			return 0, false
		}
	}
	return b, true
}

// fewDigits encodes a number as sign, three bits of an exponent and four bits of a fraction, if it
// is ±(16 to 31)/16·2^(-3 to 4).
func fewDigits(w uint64) (b uint32, ok bool) {
	x := math.Float64frombits(w)
	fraction, e := math.Frexp(math.Abs(x)) // 0.5 ≤ fraction < 1
	digits := fraction * 32
	if math.IsNaN(x) || math.IsInf(x, 0) || digits < 16 || digits != math.Trunc(digits) || e < -2 || e > 5 {
		return 0, false
	}
	// The highest bit of the exponent is inverted.
	return uint32(w>>63)<<7 | (uint32(e+2)>>2^1)<<6 | uint32(e+2)&3<<4 | uint32(digits)&15, true
}

func (l *neon) load(d Vec, m Mem, active int) {
	switch {
	case l.n == 1:
		l.access(&loadNumber, byte(d), m)
	case active == 1:
		l.broadcast(d, m)
	default:
		l.access(&loadNumbers, byte(d), m)
	}
}

func (l *neon) store(m Mem, x Vec, active int) {
	if l.n == 1 || active == 1 {
		l.access(&storeNumber, byte(x), m)
	} else {
		l.access(&storeNumbers, byte(x), m)
	}
}

func (l *neon) broadcast(d Vec, m Mem) {
	switch {
	case l.n == 1:
		l.access(&loadNumber, byte(d), m)
	case m.Index == NoReg && m.Disp == 0:
		l.rr(0x4d40cc00, byte(d), byte(m.Base))
	default:
		l.access(&loadNumber, byte(d), m)
		l.two(vDup, d, d)
	}
}

// gather loads the numbers one by one.
func (l *neon) gather(d, _, _ Vec, base Reg, table Mem, active int) {
	for k := range l.n {
		to := d
		if k > 0 {
			to = spareVec
		}
		if k == 0 || k < active {
			at := table
			at.Disp += int32(4 * k)
			l.MovLoad32(T0, at)
			l.access(&loadNumber, byte(to), Indexed(base, T0, 8, 0))
		}
	}
	switch {
	case l.n == 1:
	case active == 1:
		l.two(vDup, d, d)
	default:
		l.two(vIns, d, spareVec)
	}
}

func (l *neon) fetch(ds []Vec, _, _ Vec, base Reg, distances []int32, x Vec) {
	l.two(vToX, Vec(T0), x)
	if l.n > 1 {
		l.two(vUpperToX, Vec(T1), x)
		l.addScaled(T1, base, T1, 8)
	}
	l.addScaled(T0, base, T0, 8)
	l.wrote(T0)
	l.wrote(T1)
	for k, d := range ds {
		l.access(&loadNumber, byte(d), At(T0, distances[k]))
		if l.n > 1 {
			l.access(&loadNumber, spareVec, At(T1, distances[k]))
			l.two(vIns, d, spareVec)
		}
	}
}

func (l *neon) keepLanes(d, x Vec, active int) {
	if active < l.n { // this instruction copies the lower lane and clears the upper one
		l.two(vFmovD, d, x)
	} else {
		l.copy(d, x)
	}
}

func (l *neon) falseTruth(d Vec) { l.word(d, 0) }

// total sums the lanes of a truth as integers. Each lane in which it holds counts as -1.
func (l *neon) total(t Vec) {
	if l.n > 1 {
		l.two(vAddp, spareVec, t)
		t = spareVec
	}
	l.two(vToX, Vec(inBetween), t)
}

func (l *neon) unlessAll(t Vec, target Label) {
	l.total(t)
	if l.n == 1 {
		l.ifZero(inBetween, target)
		return
	}
	l.CmpImm(inBetween, -2)
	l.If(NotEqual, target)
}

func (l *neon) ifAny(t Vec, target Label) {
	l.total(t)
	l.unlessZero(inBetween, target)
}

func (l *neon) sum(d Vec, x []Vec) {
	two := &neon{l.arm64, 2}
	// Add numbers that are four apart in the original eight, then two apart.
	for n := 2; n > 0; n /= 2 {
		for k := range n {
			if k+n < len(x) {
				two.op(primAdd, 0, x[k], x[k], x[k+n], 0)
			}
		}
		x = x[:min(n, len(x))]
	}
	l.two(vFaddp, d, x[0])
}
