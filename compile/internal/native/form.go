package native

import "math"

// Value is a virtual register, identified by the instruction that defines it: a number, a word or a
// truth in each lane.
type Value int32

// prim is a primitive: an operation that takes one or a few instructions.
type prim uint8

const (
	primIn        prim = iota // the initial value of register imm; in a formula, operand imm
	primWord                  // imm in all lanes
	primLoad                  // the numbers at address imm, one for each lane
	primBroadcast             // the number at address imm, in all lanes
	primGather                // numbers selected by a table of integers: gather imm
	// numbers at address imm + 8·a; the primField instructions that follow load further ones, at
	// other distances from the same address
	primFetch
	primField // a further result of a primFetch

	primAdd // arithmetic: each operation is rounded
	primSub
	primMul
	primDiv
	primMax // a > b ? a : b
	primMin // a < b ? a : b
	primSqrt
	primMulAdd // a·b + c, rounded once
	primRound  // to an integer, by the Rounding imm
	primAnd    // operations on bits, up to primXor
	primOr
	primXor
	primAddWord // arithmetic on 64-bit integers
	primSubWord
	primShl // by imm bits
	primShr
	primCompare // truth, by the Comparison imm
	primBoth    // a and b, which are truths
	primEither  // a or b, which are truths
	primSelect  // a ? b : c
	primKeep    // a ? b : 0
	primActive  // a in the active lanes, 0 in the others
	primZip     // even lanes of a and b in alternation; with imm 1, odd lanes
	primPairs   // even-numbered pairs of lanes of a, then of b; with imm 1, odd-numbered ones
	primCall    // calls routine imm with a, and b if it has two arguments
	primSecond  // second result of the call at instruction imm

	// Primitives with side effects.
	primStore    // stores a at address imm
	primSum      // adds a to accumulator imm
	primProduct  // adds a·b to accumulator imm, rounded once
	primCompound // multiplies accumulator imm by a and adds b
	primFail     // sets the failure flag where a is true
	primExit     // leaves the function by exit imm if a is true in any lane, after storing b
	primBranch   // jumps to label imm if a is true in any lane
	// jumps to the routine's code at label imm, with the same operands, unless a is true in all
	// lanes
	primUnless
	numPrimitives
)

// primitives lists, for each primitive, the number of operands, whether it has side effects, and
// whether its result is a truth.
var primitives = [numPrimitives]struct {
	operands      int
	effect, truth bool
}{
	primFetch: {operands: 1}, primAdd: {operands: 2}, primSub: {operands: 2}, primMul: {operands: 2}, primDiv: {operands: 2},
	primMax: {operands: 2}, primMin: {operands: 2}, primSqrt: {operands: 1}, primMulAdd: {operands: 3}, primRound: {operands: 1},
	primAnd: {operands: 2}, primOr: {operands: 2}, primXor: {operands: 2}, primAddWord: {operands: 2}, primSubWord: {operands: 2},
	primZip: {operands: 2}, primPairs: {operands: 2}, primShl: {operands: 1}, primShr: {operands: 1}, primCompare: {operands: 2, truth: true}, primBoth: {operands: 2, truth: true},
	primEither: {operands: 2, truth: true}, primSelect: {operands: 3}, primKeep: {operands: 2}, primCall: {operands: 1},
	primStore: {operands: 1, effect: true}, primSum: {operands: 1, effect: true}, primProduct: {operands: 2, effect: true}, primCompound: {operands: 2, effect: true},
	primFail: {operands: 1, effect: true}, primExit: {operands: 2, effect: true}, primBranch: {operands: 1, effect: true}, primActive: {operands: 1}, primUnless: {operands: 1, effect: true},
}

// instruction is one instruction of a formula: a primitive, its operands and a constant.
type instruction struct {
	prim    prim
	a, b, c Value
	imm     uint64
}

// operands returns the operands of an instruction.
func (in *instruction) operands() []Value {
	n := primitives[in.prim].operands
	if in.prim == primCall {
		n = Routine(in.imm).operands()
	}
	return [...][]Value{nil, {in.a}, {in.a, in.b}, {in.a, in.b, in.c}}[n]
}

// Formula is straight-line code of primitives, for any number of lanes and any processor.
type Formula struct {
	code   []instruction
	result Value
}

// NewFormula returns the formula that f builds from this number of operands.
func NewFormula(operands int, f func(b *Builder, x []Value) Value) *Formula {
	b := &Builder{}
	x := make([]Value, operands)
	for i := range x {
		x[i] = b.In(Vec(i))
	}
	r := f(b, x)
	return &Formula{b.code, r}
}

// Calls reports whether the formula calls a routine.
func (t *Formula) Calls() bool {
	for i := range t.code {
		if t.code[i].prim == primCall {
			return true
		}
	}
	return false
}

// Rounds reports whether the formula calls a routine whose results may differ in the last bits from
// those of its Go function.
func (t *Formula) Rounds() bool {
	for i := range t.code {
		if in := &t.code[i]; in.prim == primCall && routineTable[in.imm].name == "" {
			return true
		}
	}
	return false
}

// Address is where numbers are in memory. Its base is a register, a pointer, an address saved in
// scratch memory or, with none of these, a view. An index times 8 and a displacement are added.
type Address struct {
	Base    Reg // NoReg: one of the next three is the base
	Pointer uintptr
	Saved   int32 // index in scratch memory of the saved address, from 1
	View    int32
	Index   Reg // NoReg: none
	Disp    int32
}

// gathering is the loading of numbers whose positions are 32-bit integers in a table.
type gathering struct {
	from  Address
	table uintptr // address of the table's first integer
	index Reg     // register with the position of the first lane's integer
	disp  int32   // added to the integer's address, in bytes
}

// exit describes how code leaves if a truth holds: it first stores a value.
type exit struct {
	at   Address
	code func()
}

// Builder records straight-line code. Instructions without side effects are generated only if they
// are used. A load happens at its first use, and may be repeated.
type Builder struct {
	code   []instruction
	places []Address
	gather []gathering
	exits  []exit
	outs   []out
	fields [][]int32      // the distances of each fetch
	words  []constantWord // the constants used so far
	homes  map[Value]Address
	pairs  map[int]paired // calls with two results, by instruction

	of   *Asm // assembler that gets the builder back after Emit, for reuse; nil: none
	free bool // it was given back
}

// out is a value that a register must hold at the end.
type out struct {
	v Value
	r Vec
}

// Reset discards the recorded code, and keeps the memory for other formulas.
func (b *Builder) Reset() {
	clear(b.exits)
	*b = Builder{code: b.code[:0], places: b.places[:0], gather: b.gather[:0], exits: b.exits[:0], outs: b.outs[:0], words: b.words[:0], homes: b.homes, of: b.of}
	clear(b.homes)
}

// do appends an instruction. Its thousands of callers are formulas: inlined, it took 0.75 MB of the
// program.
//
//go:noinline
func (b *Builder) do(in instruction) Value {
	b.code = append(b.code, in)
	return Value(len(b.code) - 1)
}

// In returns the initial value of a register. Each call with the same register returns the same
// value.
func (b *Builder) In(r Vec) Value {
	for i := range b.code {
		if in := &b.code[i]; in.prim == primIn && in.imm == uint64(r) {
			return Value(i)
		}
	}
	return b.do(instruction{prim: primIn, imm: uint64(r)})
}

// Out makes reserved register r hold v when the formula ends. Several such registers are written in
// the order of the calls of Out.
func (b *Builder) Out(r Vec, v Value) { b.outs = append(b.outs, out{v, r}) }

// Word returns a constant word in all lanes.
func (b *Builder) Word(w uint64) Value {
	for _, of := range b.words { // linear search, since a formula has few constants
		if of.bits == w {
			return of.v
		}
	}
	v := b.do(instruction{prim: primWord, imm: w})
	b.words = append(b.words, constantWord{w, v})
	return v
}

// constantWord is a constant and the value that holds it.
type constantWord struct {
	bits uint64
	v    Value
}

// Number returns a constant number in all lanes.
func (b *Builder) Number(x float64) Value { return b.Word(math.Float64bits(x)) }

func (b *Builder) place(p Address) uint64 {
	b.places = append(b.places, p)
	return uint64(len(b.places) - 1)
}

// Load loads the numbers at p, one per lane. Do not write there while the value is in use: it may
// be loaded later, or twice.
func (b *Builder) Load(p Address) Value { return b.do(instruction{prim: primLoad, imm: b.place(p)}) }

// Broadcast loads the number at p into all lanes. Do not write there while the value is in use.
func (b *Builder) Broadcast(p Address) Value {
	return b.do(instruction{prim: primBroadcast, imm: b.place(p)})
}

// Store stores a value at p. home promises that nothing else is written to p while the value is in
// use, so that it can be loaded again from there instead of occupying a register.
func (b *Builder) Store(p Address, x Value, home bool) {
	if home {
		b.Home(p, x)
	}
	b.do(instruction{prim: primStore, a: x, imm: b.place(p)})
}

// Home says that a value may be stored at p when its register is needed for another one, and that
// nothing else is written to p while the value is in use.
func (b *Builder) Home(p Address, x Value) {
	if b.homes == nil {
		b.homes = map[Value]Address{}
	}
	if _, ok := b.homes[x]; !ok {
		b.homes[x] = p
	}
}

// Gather loads one number for each lane, at p + 8·i, where i is the lane's 32-bit integer in a
// table. The first lane's integer is at table + 4·index + disp, the others follow.
func (b *Builder) Gather(p Address, table uintptr, index Reg, disp int32) Value {
	b.gather = append(b.gather, gathering{p, table, index, disp})
	return b.do(instruction{prim: primGather, imm: uint64(len(b.gather) - 1)})
}

// Fetch loads numbers at address + 8·x + distance, where x holds integers. It returns one value for
// each of the distances, which are in bytes.
func (b *Builder) Fetch(address uintptr, x Value, distances ...int32) []Value {
	b.fields = append(b.fields, distances)
	vs := []Value{b.do(instruction{prim: primFetch, a: x, imm: uint64(address), b: Value(len(b.fields) - 1)})}
	for range distances[1:] {
		vs = append(vs, b.do(instruction{prim: primField}))
	}
	return vs
}

// Arithmetic, rounded to the nearest number.

func (b *Builder) Add(x, y Value) Value { return b.do(instruction{prim: primAdd, a: x, b: y}) }
func (b *Builder) Sub(x, y Value) Value { return b.do(instruction{prim: primSub, a: x, b: y}) }
func (b *Builder) Mul(x, y Value) Value { return b.do(instruction{prim: primMul, a: x, b: y}) }
func (b *Builder) Div(x, y Value) Value { return b.do(instruction{prim: primDiv, a: x, b: y}) }
func (b *Builder) Sqrt(x Value) Value   { return b.do(instruction{prim: primSqrt, a: x}) }

// MulAdd returns x·y + z, rounded once.
func (b *Builder) MulAdd(x, y, z Value) Value {
	return b.do(instruction{prim: primMulAdd, a: x, b: y, c: z})
}

// Max returns x where x > y, else y. Min returns x where x < y, else y. So both return y where
// either is NaN.
func (b *Builder) Max(x, y Value) Value { return b.do(instruction{prim: primMax, a: x, b: y}) }
func (b *Builder) Min(x, y Value) Value { return b.do(instruction{prim: primMin, a: x, b: y}) }

// Rounding is a way to round to integers.
type Rounding byte

// The roundings.
const (
	Floor Rounding = iota
	Ceil
	Trunc
)

// Round rounds x to an integer.
func (b *Builder) Round(r Rounding, x Value) Value {
	return b.do(instruction{prim: primRound, a: x, imm: uint64(r)})
}

// Operations on bits.

func (b *Builder) And(x, y Value) Value { return b.do(instruction{prim: primAnd, a: x, b: y}) }
func (b *Builder) Or(x, y Value) Value  { return b.do(instruction{prim: primOr, a: x, b: y}) }
func (b *Builder) Xor(x, y Value) Value { return b.do(instruction{prim: primXor, a: x, b: y}) }

const signBit = 1 << 63

// Neg returns -x, Abs |x|, NegAbs -|x|.
func (b *Builder) Neg(x Value) Value    { return b.Xor(x, b.Word(signBit)) }
func (b *Builder) Abs(x Value) Value    { return b.And(x, b.Word(^uint64(signBit))) }
func (b *Builder) NegAbs(x Value) Value { return b.Or(x, b.Word(signBit)) }

// Integers of 64 bits.

func (b *Builder) AddWord(x, y Value) Value { return b.do(instruction{prim: primAddWord, a: x, b: y}) }
func (b *Builder) SubWord(x, y Value) Value { return b.do(instruction{prim: primSubWord, a: x, b: y}) }
func (b *Builder) Shl(x Value, n int) Value {
	return b.do(instruction{prim: primShl, a: x, imm: uint64(n)})
}
func (b *Builder) Shr(x Value, n int) Value {
	return b.do(instruction{prim: primShr, a: x, imm: uint64(n)})
}

// Comparison is a way to compare numbers.
type Comparison byte

// The comparisons.
const (
	EQ Comparison = iota // this and the next three are false if a number is NaN
	LT
	LE
	GE
	GT
	NEQ // this and the next ones are true if a number is NaN
	NLT
	NLE
	NGE
	NGT
	UNORD
)

// Compare compares x and y.
func (b *Builder) Compare(c Comparison, x, y Value) Value {
	return b.do(instruction{prim: primCompare, a: x, b: y, imm: uint64(c)})
}

// Both and Either return the conjunction and the disjunction of truths.
func (b *Builder) Both(x, y Value) Value   { return b.do(instruction{prim: primBoth, a: x, b: y}) }
func (b *Builder) Either(x, y Value) Value { return b.do(instruction{prim: primEither, a: x, b: y}) }

// Select returns x where t is true, else y.
func (b *Builder) Select(t, x, y Value) Value {
	return b.do(instruction{prim: primSelect, a: t, b: x, c: y})
}

// Keep returns x where t is true, else 0.
func (b *Builder) Keep(t, x Value) Value { return b.do(instruction{prim: primKeep, a: t, b: x}) }

// Truth returns 1 where t is true, else 0.
func (b *Builder) Truth(t Value) Value { return b.Keep(t, b.Number(1)) }

// Call calls a routine of one or two numbers. Truths computed before the call must not be used
// after it.
func (b *Builder) Call(r Routine, x ...Value) Value {
	in := instruction{prim: primCall, a: x[0], imm: uint64(r)}
	if len(x) > 1 {
		in.b = x[1]
	}
	return b.do(in)
}

// Sum adds x to an accumulator. Product adds x·y, rounded once.
func (b *Builder) Sum(acc int, x Value) { b.do(instruction{prim: primSum, a: x, imm: uint64(acc)}) }
func (b *Builder) Product(acc int, x, y Value) {
	b.do(instruction{prim: primProduct, a: x, b: y, imm: uint64(acc)})
}

// Compound multiplies an accumulator by x and adds y.
func (b *Builder) Compound(acc int, x, y Value) {
	b.do(instruction{prim: primCompound, a: x, b: y, imm: uint64(acc)})
}

// Fail sets the failure flag where t is true.
func (b *Builder) Fail(t Value) { b.do(instruction{prim: primFail, a: t}) }

// Exit leaves the function if t is true in any lane: it stores x at p and runs the code made by f,
// which is placed after the function.
func (b *Builder) Exit(t, x Value, p Address, f func()) {
	b.exits = append(b.exits, exit{p, f})
	b.do(instruction{prim: primExit, a: t, b: x, imm: uint64(len(b.exits) - 1)})
}

// Branch jumps to l if t is true in any lane.
func (b *Builder) Branch(t Value, l Label) { b.do(instruction{prim: primBranch, a: t, imm: uint64(l)}) }

// Transpose transposes a square matrix whose rows are as many values as there are lanes. Lane k of
// result i is lane i of operand k.
func (b *Builder) Transpose(x []Value) []Value {
	if len(x) == 1 {
		return x
	}
	// Each step splits the values into two halves: first into even and odd lanes, then the results
	// into even and odd pairs of lanes.
	halves := func(p prim, x []Value) (even, odd []Value) {
		for k := 0; k < len(x); k += 2 {
			even = append(even, b.do(instruction{prim: p, a: x[k], b: x[k+1]}))
			odd = append(odd, b.do(instruction{prim: p, a: x[k], b: x[k+1], imm: 1}))
		}
		return even, odd
	}
	t := make([]Value, len(x))
	var pairs func(x []Value, lane, step int)
	pairs = func(x []Value, lane, step int) {
		if len(x) == 1 {
			t[lane] = x[0]
			return
		}
		even, odd := halves(primPairs, x)
		pairs(even, lane, 2*step)
		pairs(odd, lane+step, 2*step)
	}
	even, odd := halves(primZip, x)
	pairs(even, 0, 2)
	pairs(odd, 1, 2)
	return t
}

// Active returns x in the active lanes, 0 in the others.
func (b *Builder) Active(x Value) Value { return b.do(instruction{prim: primActive, a: x}) }

// unless jumps to a label unless t is true in all lanes. In a routine, the operands are then in the
// same registers as at its beginning.
func (b *Builder) unless(t Value, l Label) {
	b.do(instruction{prim: primUnless, a: t, imm: uint64(l)})
}

// Apply applies a formula to operands.
func (b *Builder) Apply(t *Formula, x []Value) Value {
	at := make([]Value, len(t.code))
	for i, in := range t.code {
		switch in.prim {
		case primIn:
			at[i] = x[in.imm]
		case primWord:
			at[i] = b.Word(in.imm)
		default:
			in.a, in.b, in.c = at[in.a], at[in.b], at[in.c]
			at[i] = b.do(in)
		}
	}
	return at[t.result]
}
