package native

import "strings"

// vectors is the vector instructions of a target, for one number or for vectors of one width. An
// instruction may write its result to the register of an operand.
type vectors interface {
	lanes() int
	// op generates the code of a primitive whose operands are in registers.
	op(p prim, imm uint64, d, a, b, c Vec)
	// folds reports whether the second operand of p may be in memory. opMem generates p with such
	// an operand, opWord with a constant.
	folds(p prim) bool
	opMem(p prim, imm uint64, d, a Vec, m Mem)
	opWord(p prim, imm uint64, d, a Vec, w uint64)
	// addProduct adds a·(numbers at m) to d, rounded once.
	addProduct(d, a Vec, m Mem)

	copy(d, x Vec)
	word(d Vec, w uint64)
	// load loads the first active numbers at m. Each other lane becomes a copy of an active lane,
	// the same one in every load and gather. So whatever holds in all active lanes holds in all.
	load(d Vec, m Mem, active int)
	store(m Mem, x Vec, active int)
	broadcast(d Vec, m Mem)
	// gather loads numbers at base + 8·i, where i are the 32-bit integers at table. It overwrites
	// t, u and T0.
	gather(d, t, u Vec, base Reg, table Mem, active int)
	// fetch loads numbers at base + 8·x + distance, one result for each distance. It overwrites t,
	// u, T0 and T1.
	fetch(ds []Vec, t, u Vec, base Reg, distances []int32, x Vec)
	// keepLanes sets d to x in the first active lanes, 0 in the others.
	keepLanes(d, x Vec, active int)
	falseTruth(d Vec)
	// unlessAll jumps to l unless t holds in all lanes. ifAny jumps to l if t holds in any.
	unlessAll(t Vec, l Label)
	ifAny(t Vec, l Label)
	// sum sets d to the sum of eight numbers, in the same order on all targets: first it adds
	// numbers that are four apart, then two apart, then neighbours. It overwrites the registers x.
	sum(d Vec, x []Vec)
}

// Target is a processor for which code can be generated.
type Target struct {
	Name    string // as users name it
	Lanes   int    // lanes of a vector register
	Vectors int    // number of vector registers that code may use
	Truths  int    // number of registers for truths; 0: truths are in vector registers
	own     int    // numbers of scratch memory needed by the instructions themselves
	// make returns the instructions of the target: general ones, and vector instructions for one
	// number, for the narrowest vectors and for full registers.
	make func() (general, [3]vectors)
	// found reports whether this processor and its system can run the code.
	found func() bool
}

// Targets lists all targets, the best first.
var Targets = []*Target{avx512Target, avx2Target, neonTarget}

// Find returns the target with this name, in any case, or nil. Without a name it returns the best
// target that this processor can run, or nil.
func Find(name string) *Target {
	for _, t := range Targets {
		if (name == "" || strings.EqualFold(name, t.Name)) && t.found() {
			return t
		}
	}
	return nil
}

// Asm generates code for a target.
type Asm struct {
	general
	Target   *Target
	single   vectors // on one number
	half     vectors // on the narrowest vectors
	whole    vectors // on full registers
	Numbers  int     // size of the scratch memory that the code needs
	slots    []int32 // scratch memory for values that are in no register
	inner    []int32 // the same, for code of routines
	routines [numRoutines][3]Label
	after    []func()    // generate code that is placed after the function
	spare    *allocation // the last allocation, whose memory is reused
	frames   []Frame     // memory for the next frames
	builders []*Builder  // builders that Emit has finished with, for reuse
}

// Builder returns an empty builder for one Emit, which takes it back.
func (a *Asm) Builder() *Builder {
	if n := len(a.builders); n > 0 {
		b := a.builders[n-1]
		a.builders, b.free = a.builders[:n-1], false
		return b
	}
	return &Builder{of: a, code: make([]instruction, 0, 64), places: make([]Address, 0, 32), words: make([]constantWord, 0, 16)}
}

// giveBack makes a builder of this assembler available for reuse.
func (a *Asm) giveBack(b *Builder) {
	if b.of == a && !b.free {
		b.Reset()
		b.free = true
		a.builders = append(a.builders, b)
	}
}

// NewAsm returns an assembler for a target.
func (t *Target) NewAsm() *Asm {
	a := &Asm{Target: t, Numbers: t.own}
	var vs [3]vectors
	a.general, vs = t.make()
	a.single, a.half, a.whole = vs[0], vs[1], vs[2]
	return a
}

// routineVectors returns the number of vector registers that routines may use: the first ones.
func (a *Asm) routineVectors(v vectors) int {
	if a.Target.Vectors > 16 && (a.Target.Truths == 0 || v == a.whole) {
		return 12
	}
	return 7 // of 16: leave the others to values that outlive a call
}

// Reserve reserves n numbers of scratch memory. Vectors are aligned to their size, since loads
// across two cache lines are slower.
func (a *Asm) Reserve(n int) int32 {
	lanes := a.Target.Lanes
	for lanes > max(n, 1) {
		lanes /= 2
	}
	a.Numbers = (a.Numbers + lanes - 1) / lanes * lanes
	at := a.Numbers
	a.Numbers += n
	return int32(at)
}

// After defers the generation of code to the end of the function.
func (a *Asm) After(f func()) { a.after = append(a.after, f) }

// End ends a function and generates the deferred code.
func (a *Asm) End() {
	for len(a.after) > 0 {
		f := a.after[0]
		a.after = a.after[1:]
		f()
	}
}
