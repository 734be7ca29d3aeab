package native

import (
	"math"

	"github.com/ppl-lang/ppl/ad/kernel"
)

// pow is register 0 to the power of register 1, see kernel.Pow: the logarithm
// in two parts, times the exponent, and the exponential.
func (l Lanes) pow(t Tables) {
	slow := l.NewLabel()
	ys := At(Scratch, 8*powScratch)
	l.Store(ys, 1)
	l.CompareMem(GE, 2, 0, l.Number(normal))
	l.CompareMem(LE, 3, 0, l.Number(math.MaxFloat64))
	l.Do(And, 2, 2, 3)
	l.Store(At(Scratch, 8*powScratch+32), 0)
	l.unless(2, slow)
	l.powLog(t, nil)
	l.powProduct(ys)
	// 3: the product, 0: what it lacks
	l.DoMem(And, 1, 3, l.Word(^uint64(1<<63)))
	l.CompareMem(LT, 1, 1, l.Number(kernel.PowMost))
	l.unless(1, slow)
	l.powExp(t)
	l.shiftLeft(1, 2, 45)
	l.addWords(3, 3, 1)
	l.expFinish(true)
	l.Ret()

	// Everything else, for all lanes.
	l.Place(slow)
	xs, adjust, mag, sign, special := At(Scratch, 8*powScratch+32), At(Scratch, 8*powScratch+64), At(Scratch, 8*powScratch+96), At(Scratch, 8*powScratch+128), At(Scratch, 8*powScratch+160)
	l.Load(0, xs)
	l.DoMem(And, 0, 0, l.Word(^uint64(1<<63)))
	l.Store(mag, 0)
	// Subnormal numbers are multiplied by 2^54; zero, infinity and NaN count as 1.
	l.CompareMem(LT, 2, 0, l.Number(normal))
	l.DoMem(Mul, 1, 0, l.Number(0x1p54))
	l.Blend(0, 0, 1, 2)
	l.DoMem(And, 2, 2, l.Number(-54))
	l.Store(adjust, 2)
	l.CompareMem(GT, 1, 0, l.Number(0))
	l.CompareMem(LE, 2, 0, l.Number(math.MaxFloat64))
	l.Do(And, 1, 1, 2)
	l.Load(2, l.Number(1))
	l.Blend(0, 2, 0, 1)
	l.powLog(t, &adjust)
	// The logarithms of zero and infinity: 3 is the high part, 0 the low one.
	l.Load(1, mag)
	l.CompareMem(EQ, 2, 1, l.Number(0))
	l.BlendMem(3, 3, l.Number(math.Inf(-1)), 2)
	l.CompareMem(EQ, 2, 1, l.Number(math.Inf(1)))
	l.BlendMem(3, 3, l.Number(math.Inf(1)), 2)
	l.powProduct(ys)
	// Beyond the range the low part is of no matter, and may be no number.
	l.DoMem(And, 1, 3, l.Word(^uint64(1<<63)))
	l.CompareMem(LT, 1, 1, l.Number(800))
	l.Do(And, 0, 0, 1)
	l.Load(1, l.Number(-746))
	l.Do(Max, 3, 1, 3)
	l.Load(1, l.Number(710))
	l.Do(Min, 3, 1, 3)
	// The sign: negative if the base is and the exponent is odd; no number if the
	// base is negative and finite and the exponent no integer.
	l.Load(1, ys)
	l.Round(Trunc, 2, 1)
	l.Compare(EQ, 2, 2, 1) // integer
	l.DoMem(Mul, 4, 1, l.Number(0.5))
	l.Round(Trunc, 5, 4)
	l.Compare(NEQ, 5, 5, 4) // not even
	l.Do(And, 5, 5, 2)
	l.Load(4, xs)
	l.Do(And, 5, 5, 4)
	l.DoMem(And, 5, 5, l.Word(1<<63))
	l.Store(sign, 5)
	l.CompareMem(LT, 5, 4, l.Number(0))
	l.CompareMem(GE, 6, 4, l.Number(-math.MaxFloat64))
	l.Do(And, 5, 5, 6)
	l.Do(AndNot, 5, 2, 5)
	l.Compare(UNORD, 6, 4, 4)
	l.Do(Or, 5, 5, 6)
	l.Store(special, 5)
	l.powExp(t)
	l.shiftLeft(1, 1, 45)
	l.addWords(3, 3, 1)
	l.expFinish(true)
	l.expScale()
	l.Load(1, sign)
	l.Do(Xor, 0, 0, 1)
	l.Load(1, special)
	l.BlendMem(0, 0, l.Number(math.NaN()), 1)
	// What is 1 whatever the other number is.
	l.Load(1, ys)
	l.CompareMem(EQ, 2, 1, l.Number(0))
	l.Load(3, xs)
	l.CompareMem(EQ, 4, 3, l.Number(1))
	l.Do(Or, 2, 2, 4)
	l.CompareMem(EQ, 4, 3, l.Number(-1))
	l.DoMem(And, 1, 1, l.Word(^uint64(1<<63)))
	l.CompareMem(EQ, 1, 1, l.Number(math.Inf(1)))
	l.Do(And, 4, 4, 1)
	l.Do(Or, 2, 2, 4)
	l.BlendMem(0, 0, l.Number(1), 2)
	l.Ret()
}

// powLog is the logarithm of the normal numbers in 0, in two parts: 3 the high
// one, 0 the low one. adjust is added to the exponents.
func (l Lanes) powLog(t Tables, adjust *Mem) {
	l.MovImm(R11, uint64(t.Log))
	l.logReduce() // 0: z, 1: change of the exponent, 2: k, 3: index
	if adjust != nil {
		l.Load(4, *adjust)
		l.Do(Add, 2, 2, 4)
	}
	l.gather([]Vec{1, 4, 5}, []int32{0, 8, 16}, 3, 6, R11)
	l.DoMem(And, 3, 0, l.Word(^uint64(1<<27-1)))
	l.Do(Mul, 6, 3, 1)
	l.DoMem(Sub, 6, 6, l.Number(1))
	l.Do(Sub, 0, 0, 3)
	l.Do(Mul, 0, 0, 1)
	l.Do(Add, 3, 6, 0) // r
	l.Do(Sub, 6, 3, 6)
	l.Do(Sub, 0, 0, 6) // what it lacks
	l.Do(Mul, 6, 0, 3)
	l.Do(Sub, 0, 0, 6)
	l.DoMem(Mul, 6, 2, l.Number(kernel.Ln2Hi))
	l.Do(Add, 1, 6, 4)
	l.Do(Sub, 6, 6, 1)
	l.Do(Add, 6, 6, 4)
	l.Do(Add, 4, 1, 3) // h
	l.Do(Sub, 1, 1, 4)
	l.Do(Add, 1, 1, 3)
	l.DoMem(Mul, 2, 2, l.Number(kernel.Ln2Lo))
	l.Do(Add, 2, 2, 5)
	l.Do(Add, 2, 2, 6)
	l.Do(Add, 1, 1, 2)
	l.Do(Add, 0, 1, 0) // low
	l.DoMem(Mul, 1, 3, l.Number(-0.5))
	l.Do(Mul, 2, 3, 1)                // -r²/2
	l.DoMem(Xor, 5, 2, l.Word(1<<63)) // what it lacks
	l.MulAdd(5, 1, 3)
	l.Do(Add, 0, 0, 5)
	l.Do(Add, 5, 4, 2) // high
	l.Do(Sub, 4, 4, 5)
	l.Do(Add, 4, 4, 2)
	l.Do(Add, 0, 0, 4)
	l.Do(Mul, 1, 3, 3) // r²
	l.DoMem(Mul, 4, 3, l.Number(-1./4))
	l.DoMem(Add, 4, 4, l.Number(1./3))
	l.DoMem(Mul, 6, 3, l.Number(-1./6))
	l.DoMem(Add, 6, 6, l.Number(1./5))
	l.Do(Mul, 6, 6, 1)
	l.Do(Add, 4, 4, 6) // degrees 0 to 3
	l.DoMem(Mul, 6, 3, l.Number(-1./8))
	l.DoMem(Add, 6, 6, l.Number(1./7))
	l.DoMem(Mul, 2, 3, l.Number(-1./10))
	l.DoMem(Add, 2, 2, l.Number(1./9))
	l.Do(Mul, 2, 2, 1)
	l.Do(Add, 6, 6, 2) // degrees 4 to 7
	l.Do(Mul, 2, 1, 1)
	l.Do(Mul, 6, 6, 2)
	l.Do(Add, 4, 4, 6)
	l.Do(Mul, 1, 1, 3) // r³
	l.Do(Mul, 4, 4, 1)
	l.Do(Add, 0, 0, 4)
	l.Do(Add, 3, 5, 0)
	l.Do(Sub, 5, 5, 3)
	l.Do(Add, 0, 0, 5)
}

// powProduct is the product of a number in two parts, 3 and 0, and that at y, in
// two parts.
func (l Lanes) powProduct(y Mem) {
	l.Load(1, y)
	l.Do(Mul, 2, 3, 1)
	l.Do(Mul, 0, 0, 1)
	l.DoMem(Xor, 4, 2, l.Word(1<<63))
	l.MulAdd(4, 3, 1)
	l.Do(Add, 0, 0, 4)
	l.Copy(3, 2)
}

// powExp prepares the exponential of a number in two parts, 3 and 0, as
// expReduce does.
func (l Lanes) powExp(t Tables) {
	l.Copy(5, 0)
	l.Copy(0, 3)
	l.MovImm(R11, uint64(t.Exp))
	l.expReduce(true)
	l.Do(Add, 0, 0, 5)
}
