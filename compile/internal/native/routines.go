package native

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel"
)

// Routine is a function of one number: from vector register 0 to vector register
// 0. It overwrites registers up to LastOfRoutines, AX, BX and R11, and words of
// the scratch memory below ScratchOfRoutines.
type Routine int

// The routines.
const (
	Exp Routine = iota
	Log
	Log1p
	Pow // of registers 0 and 1
	numRoutines
)

// What routines use.
const (
	LastOfRoutines    Vec = 6
	ScratchOfRoutines int = 32
	powScratch            = 8 // where those of powers begin
)

// Scratch holds the address of the scratch memory.
const Scratch = R10

// Tables are those of exponentials and logarithms: the words of 2^(i/128) less
// i·2^45, and triples of a reciprocal and its logarithm in two parts.
type Tables struct{ Exp, Log uintptr }

const (
	normal   = 0x1p-1022
	exponent = 0xfff << 52
)

// Apply makes register 0 the function of register 0.
func (l Lanes) Apply(r Routine) {
	k := &l.routines[r][l.Width>>1]
	if *k == 0 {
		*k = l.NewLabel() + 1
	}
	l.Call(*k - 1)
}

// Routines puts the routines that the code calls behind it.
func (a *Asm) Routines(t Tables) {
	for r := range a.routines {
		for w, label := range a.routines[r] {
			if label == 0 {
				continue
			}
			l := Lanes{a, 1 << w}
			a.Place(label - 1)
			switch Routine(r) {
			case Exp:
				l.exp(t)
			case Log:
				l.log(t, false)
			case Log1p:
				l.log(t, true)
			case Pow:
				l.pow(t)
			}
		}
	}
}

// unless jumps to slow if not every lane's sign of x is set.
func (l Lanes) unless(x Vec, slow Label) {
	l.Signs(AX, x)
	if l.Width > 1 {
		l.CmpImm(AX, 1<<l.Width-1)
		l.If(NotEqual, slow)
		return
	}
	l.TestImm(AX, 1)
	l.If(Equal, slow)
}

// exp is the exponential by table and polynomial, see vm's expLoop.
func (l Lanes) exp(t Tables) {
	slow := l.NewLabel()
	l.MovImm(R11, uint64(t.Exp))
	l.CompareMem(GT, 1, 0, l.Number(-708))
	l.CompareMem(LT, 2, 0, l.Number(709))
	l.Do(And, 1, 1, 2)
	l.unless(1, slow)
	l.expReduce(false)
	l.shiftLeft(1, 2, 45)
	l.addWords(3, 3, 1)
	l.expFinish(false)
	l.Ret()

	// Beyond ±708 the power of two is multiplied by in two parts.
	l.Place(slow)
	l.Load(1, l.Number(-746))
	l.Do(Max, 0, 1, 0)
	l.Load(1, l.Number(710))
	l.Do(Min, 0, 1, 0)
	l.expReduce(false)
	l.shiftLeft(1, 1, 45)
	l.addWords(3, 3, 1)
	l.expFinish(false)
	l.expScale()
	l.Ret()
}

// expReduce takes the number in 0 apart: 0 the rest, 1 the index and 3 the entry
// of the table, 2 the bits, 6 its tail if asked for; 4 is overwritten.
func (l Lanes) expReduce(tail bool) {
	l.DoMem(Mul, 1, 0, l.Number(kernel.InvLn2N))
	l.DoMem(Add, 1, 1, l.Number(kernel.Shift))
	l.Copy(2, 1)
	l.DoMem(Sub, 1, 1, l.Number(kernel.Shift))
	l.DoMem(Mul, 3, 1, l.Number(kernel.Ln2NHi))
	l.Do(Sub, 0, 0, 3)
	l.DoMem(Mul, 3, 1, l.Number(kernel.Ln2NLo))
	l.Do(Sub, 0, 0, 3)
	l.DoMem(And, 1, 2, l.Word(127))
	if tail {
		l.gather([]Vec{3, 6}, []int32{0, 8 * 128}, 1, 4, R11)
	} else {
		l.gather([]Vec{3}, []int32{0}, 1, 4, R11)
	}
}

// expFinish is 0 = s + s·p(0), s in 3, p with the tail in 6 if there is one; 1 and
// 4 are overwritten.
func (l Lanes) expFinish(tail bool) {
	l.Do(Mul, 1, 0, 0)
	l.DoMem(Mul, 4, 0, l.Number(1./6))
	l.DoMem(Add, 4, 4, l.Number(0.5))
	l.Do(Mul, 4, 1, 4)
	l.Do(Add, 4, 0, 4)
	l.DoMem(Mul, 0, 0, l.Number(1./120))
	l.DoMem(Add, 0, 0, l.Number(1./24))
	l.Do(Mul, 1, 1, 1)
	l.Do(Mul, 0, 1, 0)
	l.Do(Add, 4, 4, 0)
	if tail {
		l.Do(Add, 4, 6, 4)
	}
	l.Do(Mul, 4, 3, 4)
	l.Do(Add, 0, 3, 4)
}

// expScale multiplies 0 by the power of two that the bits in 2 tell, in two
// parts, so that the result may be subnormal or infinite.
func (l Lanes) expScale() {
	l.shiftInts(3, 2, 8)
	l.shiftInts(2, 2, 7)
	l.subInts(2, 2, 3)
	for _, v := range []Vec{3, 2} {
		l.addIntsMem(v, v, l.Word(1023))
		l.shiftLeft(v, v, 52)
		l.Do(Mul, 0, 0, v)
	}
}

// log is the logarithm of x or of 1 + x, see vm's logLoop and log1pLoop.
func (l Lanes) log(t Tables, plus1 bool) {
	slow := l.NewLabel()
	xs, es := At(Scratch, 0), At(Scratch, 32)
	l.MovImm(R11, uint64(t.Log))
	if plus1 {
		l.DoMem(Add, 1, 0, l.Number(1))
		l.DoMem(Sub, 2, 1, l.Number(1))
		l.Do(Sub, 2, 0, 2)
		l.Store(es, 2)
		l.Copy(0, 1)
	}
	// Numbers beyond a limit are multiplied by a power of two first.
	beyond, limit, factor, change := LT, normal, 0x1p54, -54*math.Ln2
	most := math.MaxFloat64
	if plus1 {
		beyond, limit, factor, change = GT, 0x1p1000, 0x1p-54, 54*math.Ln2
		most = limit
	}
	l.CompareMem(GE, 1, 0, l.Number(normal))
	l.CompareMem(LE, 2, 0, l.Number(most))
	l.Do(And, 1, 1, 2)
	l.unless(1, slow)
	l.logNormal(plus1, es)
	l.Ret()

	l.Place(slow)
	l.Store(xs, 0)
	l.CompareMem(beyond, 1, 0, l.Number(limit))
	l.DoMem(Mul, 2, 0, l.Number(factor))
	l.Blend(0, 0, 2, 1)
	l.logNormal(plus1, es)
	l.Load(1, xs)
	l.CompareMem(beyond, 2, 1, l.Number(limit))
	l.DoMem(And, 2, 2, l.Number(change))
	l.Do(Add, 0, 0, 2)
	l.CompareMem(NLE, 2, 1, l.Number(math.MaxFloat64))
	l.Blend(0, 0, 1, 2)
	l.CompareMem(LT, 2, 1, l.Number(0))
	l.BlendMem(0, 0, l.Number(math.NaN()), 2)
	l.CompareMem(EQ, 2, 1, l.Number(0))
	l.BlendMem(0, 0, l.Number(math.Inf(-1)), 2)
	l.Ret()
}

// logNormal is the logarithm of normal numbers, plus the number at e over them if
// that is asked for.
func (l Lanes) logNormal(plus bool, e Mem) {
	l.logReduce()
	if plus {
		l.Load(4, l.Word(1023<<52))
		l.subWords(4, 4, 1)
		l.DoMem(Mul, 4, 4, e)
		l.Store(e, 4)
	}
	l.gather([]Vec{1, 4, 5}, []int32{0, 8, 16}, 3, 6, R11)
	if plus {
		l.DoMem(Mul, 6, 1, e)
		l.Store(e, 6)
	}
	l.DoMem(And, 3, 0, l.Word(^uint64(1<<27-1)))
	l.Do(Mul, 6, 3, 1)
	l.DoMem(Sub, 6, 6, l.Number(1))
	l.Do(Sub, 0, 0, 3)
	l.Do(Mul, 0, 0, 1)
	l.Do(Add, 0, 6, 0) // r
	l.DoMem(Mul, 1, 2, l.Number(kernel.Ln2Hi))
	l.Do(Add, 1, 1, 4) // w
	l.Do(Add, 3, 1, 0) // h
	l.Do(Sub, 1, 1, 3)
	l.Do(Add, 1, 1, 0)
	l.DoMem(Mul, 2, 2, l.Number(kernel.Ln2Lo))
	l.Do(Add, 2, 2, 5)
	l.Do(Add, 1, 1, 2) // l
	l.Do(Mul, 2, 0, 0) // r²
	l.DoMem(Mul, 4, 0, l.Number(1./3))
	l.DoMem(Add, 4, 4, l.Number(-0.5))
	l.DoMem(Mul, 5, 0, l.Number(1./5))
	l.DoMem(Add, 5, 5, l.Number(-0.25))
	l.Do(Mul, 5, 2, 5)
	l.Do(Add, 4, 4, 5)
	l.DoMem(Mul, 5, 0, l.Number(1./7))
	l.DoMem(Add, 5, 5, l.Number(-1./6))
	l.DoMem(Mul, 6, 2, l.Number(1./8))
	l.Do(Sub, 5, 5, 6)
	l.Do(Mul, 6, 2, 2)
	l.Do(Mul, 5, 6, 5)
	l.Do(Add, 4, 4, 5) // p
	l.Do(Mul, 4, 2, 4)
	if plus {
		l.Load(5, e)
		l.Do(Add, 4, 4, 5)
	}
	l.Do(Add, 1, 1, 4)
	l.Do(Add, 0, 3, 1)
}

// logReduce takes the normal number in 0 apart: 0 the number between those of the
// table, 1 the change of the exponent's bits, 2 the exponent, 3 the index of the
// entry's first word; 4 is overwritten.
func (l Lanes) logReduce() {
	l.Load(1, l.Word(kernel.LogBits))
	l.subWords(1, 0, 1) // t
	l.DoMem(Xor, 2, 1, l.Word(1<<63))
	l.shiftRight(2, 2, 52)
	l.DoMem(Or, 2, 2, l.Number(0x1p52))
	l.DoMem(Sub, 2, 2, l.Number(0x1p52+2048)) // k
	l.shiftRight(3, 1, 45)
	l.DoMem(And, 3, 3, l.Word(127))
	l.shiftLeft(4, 3, 1)
	l.addWords(3, 3, 4) // index of the triple's first word
	l.DoMem(And, 1, 1, l.Word(exponent))
	l.subWords(0, 0, 1) // z
}
