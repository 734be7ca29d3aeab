package native

import "strings"

// vectors are the instructions on vectors of a target: of one number, or of as many
// as a register holds. The registers of operands may be that of the result.
type vectors interface {
	lanes() int
	// op makes a primitive of registers: arithmetic, bits, comparison, choice.
	op(p prim, imm uint64, d, a, b, c Vec)
	// folds reports whether the second operand of p may be in memory, and opMem makes p
	// of it; opWord is for an operand that is a word.
	folds(p prim) bool
	opMem(p prim, imm uint64, d, a Vec, m Mem)
	opWord(p prim, imm uint64, d, a Vec, w uint64)
	// addProduct is d += a·the numbers at m, rounded once.
	addProduct(d, a Vec, m Mem)

	copy(d, x Vec)
	word(d Vec, w uint64)
	// load is the first active numbers at m. Each other lane is like one of these, as a whole: in
	// what is loaded and in what is gathered it is the same one, so that what holds in all active
	// lanes holds in the others.
	load(d Vec, m Mem, active int)
	store(m Mem, x Vec, active int)
	broadcast(d Vec, m Mem)
	// gather loads numbers at base + 8·i for the integers i at table, of 32 bits; it
	// overwrites t, u and T0.
	gather(d, t, u Vec, base Reg, table Mem, active int)
	// fetch loads numbers at base + 8·x plus each of the distances; it overwrites t, u,
	// T0 and T1.
	fetch(ds []Vec, t, u Vec, base Reg, distances []int32, x Vec)
	// keepLanes is x in the first active lanes, 0 in the others.
	keepLanes(d, x Vec, active int)
	falseTruth(d Vec)
	// unlessAll and ifAny jump unless a truth holds in all lanes, and if it holds in any.
	unlessAll(t Vec, l Label)
	ifAny(t Vec, l Label)
	// sum is d = the sum of eight numbers, by the tree that all targets have: of those
	// four apart, two apart, and neighbours. The registers are overwritten.
	sum(d Vec, x []Vec)
}

// Target is a processor as code is made for it.
type Target struct {
	Name    string // as users name it
	Lanes   int    // numbers of a vector register
	Vectors int    // vector registers that code may use
	Truths  int    // registers of truths; 0: truths are in vector registers
	own     int    // numbers of scratch memory that instructions use
	// make makes the instructions: on general registers, on one number, on the narrowest
	// vectors and on those that fill a register.
	make func() (general, [3]vectors)
	// found reports whether this processor, its system included, runs the code.
	found func() bool
}

// Targets are all there are, the best first.
var Targets = []*Target{avx512Target, avx2Target, neonTarget}

// Find is the target of that name, in any case, or, if there is no name, the best one that this
// processor is; nil if there is none or it is not this one.
func Find(name string) *Target {
	for _, t := range Targets {
		if (name == "" || strings.EqualFold(name, t.Name)) && t.found() {
			return t
		}
	}
	return nil
}

// Asm makes code for a target.
type Asm struct {
	general
	Target   *Target
	single   vectors // of one number
	half     vectors // of the narrowest vectors
	whole    vectors // of as many as a register holds
	Numbers  int     // numbers of scratch memory that the code needs
	slots    []int32 // of scratch memory, for what registers do not hold
	inner    []int32 // likewise, of routines
	routines [numRoutines][3]Label
	after    []func()    // what comes behind the function
	spare    *allocation // the last one, whose memory the next one takes
	builders []*Builder  // whose code has been made, for the next ones
}

// Builder is an empty builder for one Emit, which takes it back.
func (a *Asm) Builder() *Builder {
	if n := len(a.builders); n > 0 {
		b := a.builders[n-1]
		a.builders, b.free = a.builders[:n-1], false
		return b
	}
	return &Builder{of: a, code: make([]instruction, 0, 64), places: make([]Place, 0, 32)}
}

// giveBack takes a builder of this assembler back.
func (a *Asm) giveBack(b *Builder) {
	if b.of == a && !b.free {
		b.Reset()
		b.free = true
		a.builders = append(a.builders, b)
	}
}

// NewAsm is an assembler for a target.
func (t *Target) NewAsm() *Asm {
	a := &Asm{Target: t, Numbers: t.own}
	var vs [3]vectors
	a.general, vs = t.make()
	a.single, a.half, a.whole = vs[0], vs[1], vs[2]
	return a
}

// routineVectors is how many vector registers, from 0 on, the routines of these
// instructions use.
func (a *Asm) routineVectors(v vectors) int {
	if a.Target.Vectors > 16 && (a.Target.Truths == 0 || v == a.whole) {
		return 12
	}
	return 7 // of 16
}

// Reserve takes numbers of scratch memory: vectors of them from a multiple of their size on, since
// to load what lies in two lines of the cache takes longer.
func (a *Asm) Reserve(n int) int32 {
	if lanes := a.Target.Lanes; n >= lanes {
		a.Numbers = (a.Numbers + lanes - 1) / lanes * lanes
	}
	at := a.Numbers
	a.Numbers += n
	return int32(at)
}

// After puts code off to behind the function.
func (a *Asm) After(f func()) { a.after = append(a.after, f) }

// End ends a function: what was put off comes behind it.
func (a *Asm) End() {
	for len(a.after) > 0 {
		f := a.after[0]
		a.after = a.after[1:]
		f()
	}
}
