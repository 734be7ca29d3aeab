package native

import (
	"math"
	"slices"
	"unsafe"

	"github.com/ppl-lang/ppl/ad/kernel/routines"
)

// Routine is a function that formulas call. Its code is generated once for each vector width.
type Routine int

// The routines.
const (
	Exp Routine = iota
	Log
	Log1p
	Pow
	Phi
	LogPhi
	PhiRatio
	PhiExcess
	LogExpModTail
	ExpModSlope
	InvPhi
	Erf
	Erfc
	Lgamma
	Digamma
	DigammaRise
	DigammaGap
	Trigamma
	Lmultichoose
	Lbeta
	Lchoose
	Exp2
	Log2
	Log10
	Expm1
	Tanh
	TanhSlope
	Log1mExp
	Sin
	Cos
	Tan
	Asin
	Acos
	Atan
	Atan2
	Sinh
	Cosh
	Asinh
	Acosh
	Atanh
	Cbrt
	Hypot
	// Pairs of functions that one routine computes together, see together.
	logPhiAndRatio
	phiExcessAndRatio
	expModTailAndSlope
	tanhAndSlope
	numRoutines
)

// routine is the definition of a routine.
type routine struct {
	operands int
	// main computes the function for ordinary numbers, which are most. It calls slow with the truth
	// that its operands are ordinary. Where this does not hold in all lanes, rest computes the
	// function instead, for any numbers; for ordinary ones it must give the same result. A routine
	// without rest never calls slow.
	main func(b *Builder, x []Value, slow func(ordinary Value)) Value
	rest func(b *Builder, x []Value) Value
	// first is a faster way to compute the same bits for some of the ordinary numbers. Machine code
	// tries it before main, for single numbers only if alone is set.
	first func(b *Builder, x []Value, slow func(ordinary Value)) Value
	alone bool
	// both is the code of a routine that computes two functions.
	both func(b *Builder, x []Value) [2]Value
	// name, doc and file are the name, comment and file of the function in package
	// ad/kernel/routines that is printed from the routine; "": none is printed.
	name, doc, file string
}

// body returns f, or nil if there is no machine code. The linker can then leave f out.
func body[F any](f F) (none F) {
	if !Supported {
		return none
	}
	return f
}

// routineTable is filled by init. A plain initialiser would refer to itself, because routines call
// routines.
var routineTable [numRoutines]routine

func init() {
	routineTable = [numRoutines]routine{
		Exp: {operands: 1, main: body(expRoutine), rest: body(expAll)},
		Log: {operands: 1, main: body(logRoutine), rest: body(logAll), name: "Log", file: "log",
			doc: "Log is the natural logarithm."},
		Log1p: {operands: 1, main: body(log1pRoutine), rest: body(log1pAll), name: "Log1p", file: "log",
			doc: "Log1p is log(1 + x), accurate for small x."},
		Pow: {operands: 2, main: body(powRoutine), rest: body(powAll)},

		Phi: {operands: 1, main: body(phiRoutine), name: "Phi", file: "normal",
			doc: "Phi is the standard normal cumulative distribution function."},
		LogPhi: {operands: 1, main: body(logPhiRoutine), name: "LogPhi", file: "normal",
			doc: "LogPhi is log Φ(x), accurate in both tails."},
		PhiRatio: {operands: 1, main: body(phiRatioRoutine), name: "PhiRatio", file: "normal",
			doc: "PhiRatio is φ(x)/Φ(x), the derivative of log Φ: about -x in the left tail."},
		PhiExcess: {operands: 1, main: body(phiExcessRoutine), name: "PhiExcess", file: "normal",
			doc: "PhiExcess is x + PhiRatio(x): about -1/x in the left tail."},
		LogExpModTail: {operands: 2, main: body(logExpModTailRoutine), name: "LogExpModTail", file: "normal",
			doc: "LogExpModTail is v²/2 - vz + log Φ(z-v), of z = x and v = y > 0."},
		ExpModSlope: {operands: 2, main: body(expModSlopeRoutine), name: "ExpModSlope", file: "normal",
			doc: "ExpModSlope is PhiExcess(x-y) where x < y, elsewhere PhiRatio(x-y)."},
		InvPhi: {operands: 1, main: body(invPhiRoutine), rest: body(invPhiAll), name: "InvPhi", file: "invphi",
			doc: "InvPhi is the quantile function of the standard normal distribution."},
		Erf: {operands: 1, main: body(erfRoutine), name: "Erf", file: "erf",
			doc: "Erf is the error function 2Φ(√2 x) - 1."},
		Erfc: {operands: 1, main: body(erfcRoutine), name: "Erfc", file: "erf",
			doc: "Erfc is 1 - Erf(x), accurate in the right tail."},

		Lgamma: {operands: 1, first: body(lgammaFirst), main: body(lgammaRoutine), rest: body(lgammaAll), name: "Lgamma", file: "lgamma",
			doc: "Lgamma is log |Γ(x)|; +Inf at the poles and at both infinities."},
		Digamma: {operands: 1, first: body(digammaFirst), main: body(digammaRoutine), rest: body(digammaAll), name: "Digamma", file: "digamma",
			doc: "Digamma is ψ(x), the derivative of log Γ: NaN at the poles 0, -1, -2, …."},
		DigammaRise: {operands: 2, main: body(digammaRiseRoutine), rest: body(digammaRiseAll), name: "DigammaRise", file: "digammarise",
			doc: "DigammaRise is ψ(x+y) - ψ(x), without cancellation where y is small compared with x."},
		DigammaGap: {operands: 2, main: body(gapRoutine), rest: body(gapAll), name: "DigammaGap", file: "digammagap",
			doc: "DigammaGap is ψ(x+y) - ψ(x) - y/x for y ≥ 0, without cancellation where y is small compared\n// with x. Where x is below 1, it omits the last term."},
		Trigamma: {operands: 1, main: body(trigammaRoutine), rest: body(trigammaAll), name: "Trigamma", file: "trigamma",
			doc: "Trigamma is ψ′(x), the derivative of Digamma: +Inf at the poles 0, -1, -2, …."},
		Lmultichoose: {operands: 2, main: body(lmultichooseRoutine), rest: body(lmultichooseAll), name: "Lmultichoose", file: "lmultichoose",
			doc: "Lmultichoose is log |Γ(x+n)/(Γ(x) Γ(n+1))| for n = y. For whole numbers that is the logarithm of\n// the number of multisets of n elements of x kinds. It is 0 where n is 0."},
		Lbeta: {operands: 2, main: body(lbetaRoutine), rest: body(lbetaAll), name: "Lbeta", file: "lbeta",
			doc: "Lbeta is log B(x, y) = log Γ(x) + log Γ(y) - log Γ(x+y) for x, y ≥ 0."},
		Lchoose: {operands: 2, main: body(lchooseRoutine), rest: body(lchooseAll), name: "Lchoose", file: "lchoose",
			doc: "Lchoose is the logarithm of the binomial coefficient of n = x and k = y, extended to real\n// arguments by Γ(n+1)/(Γ(k+1) Γ(n-k+1)); it needs n ≥ -1 and -1 ≤ k ≤ n+1."},

		Exp2: {operands: 1, main: body(exp2Routine), rest: body(exp2All), name: "Exp2", file: "logarithms",
			doc: "Exp2 is 2 to the power of x."},
		Log2: {operands: 1, main: body(baseTwo.main), rest: body(baseTwo.all), name: "Log2", file: "logarithms",
			doc: "Log2 is the binary logarithm."},
		Log10: {operands: 1, main: body(baseTen.main), rest: body(baseTen.all), name: "Log10", file: "logarithms",
			doc: "Log10 is the decimal logarithm."},
		Expm1: {operands: 1, main: body(expm1Routine), rest: body(expm1All), name: "Expm1", file: "elementary",
			doc: "Expm1 is eˣ - 1."},
		Tanh: {operands: 1, first: body(tanhFirst), alone: true, main: body(tanhRoutine), name: "Tanh", file: "elementary",
			doc: "Tanh is the hyperbolic tangent."},
		TanhSlope: {operands: 1, first: body(tanhSlopeFirst), alone: true, main: body(tanhSlopeRoutine), name: "TanhSlope", file: "elementary",
			doc: "TanhSlope is 1 - tanh² x, the derivative of the hyperbolic tangent."},
		Log1mExp: {operands: 1, main: body(log1mExpRoutine), rest: body(log1mExpAll), name: "Log1mExp", file: "elementary",
			doc: "Log1mExp is log(1 - eˣ), NaN for x > 0."},

		Sin: {operands: 1, main: body(circularRoutine(0)), rest: body(circularAll(0)), name: "Sin", file: "circular",
			doc: "Sin is the sine, of arguments of any size."},
		Cos: {operands: 1, main: body(circularRoutine(1)), rest: body(circularAll(1)), name: "Cos", file: "circular",
			doc: "Cos is the cosine, of arguments of any size."},
		Tan: {operands: 1, main: body(tanRoutine), rest: body(tanAll), name: "Tan", file: "circular",
			doc: "Tan is the tangent, of arguments of any size."},
		Asin: {operands: 1, main: body(asinRoutine), name: "Asin", file: "angles",
			doc: "Asin is the inverse of the sine, between -π/2 and π/2."},
		Acos: {operands: 1, main: body(acosRoutine), name: "Acos", file: "angles",
			doc: "Acos is the inverse of the cosine, between 0 and π."},
		Atan: {operands: 1, main: body(atanRoutine), name: "Atan", file: "angles",
			doc: "Atan is the inverse of the tangent, between -π/2 and π/2."},
		Atan2: {operands: 2, main: body(atan2Routine), rest: body(atan2All), name: "Atan2", file: "angles",
			doc: "Atan2 is the angle of the point (y, x): like that of math.Atan2, the first argument is the second\n// coordinate."},
		Sinh: {operands: 1, main: body(sinhRoutine), rest: body(sinhAll), name: "Sinh", file: "hyperbolic",
			doc: "Sinh is the hyperbolic sine."},
		Cosh: {operands: 1, main: body(coshRoutine), rest: body(coshAll), name: "Cosh", file: "hyperbolic",
			doc: "Cosh is the hyperbolic cosine."},
		Asinh: {operands: 1, main: body(asinhRoutine), rest: body(asinhAll), name: "Asinh", file: "hyperbolic",
			doc: "Asinh is the inverse of the hyperbolic sine."},
		Acosh: {operands: 1, main: body(acoshRoutine), rest: body(acoshAll), name: "Acosh", file: "hyperbolic",
			doc: "Acosh is the inverse of the hyperbolic cosine, NaN below 1."},
		Atanh: {operands: 1, main: body(atanhRoutine), rest: body(atanhAll), name: "Atanh", file: "hyperbolic",
			doc: "Atanh is the inverse of the hyperbolic tangent, NaN beyond ±1."},

		Cbrt: {operands: 1, main: body(cbrtRoutine), rest: body(cbrtAll), name: "Cbrt", file: "roots",
			doc: "Cbrt is the cube root."},
		Hypot: {operands: 2, main: body(hypotRoutine), rest: body(hypotAll), name: "Hypot", file: "roots",
			doc: "Hypot is √(x²+y²) without overflow; infinite if one of them is."},

		logPhiAndRatio:    {operands: 1, both: body(logPhiAndRatioRoutine)},
		phiExcessAndRatio: {operands: 1, both: body(phiExcessAndRatioRoutine)},
		tanhAndSlope:      {operands: 1, both: body(tanhAndSlopeRoutine)},

		expModTailAndSlope: {operands: 2, both: body(expModTailAndSlopeRoutine)},
	}
}

func (r Routine) operands() int { return routineTable[r].operands }

// together lists pairs of routines with the same operands that share much of their work, mostly a
// function and its derivative. The key is a routine that computes both with the same bits. It
// replaces calls of the two.
var together = map[Routine][2]Routine{
	logPhiAndRatio:    {LogPhi, PhiRatio},
	phiExcessAndRatio: {PhiExcess, PhiRatio},
	tanhAndSlope:      {Tanh, TanhSlope},

	expModTailAndSlope: {LogExpModTail, ExpModSlope},
}

// routine returns the label of a routine's code.
func (a *Asm) routine(r Routine, v vectors) Label {
	w := slices.Index([]vectors{a.single, a.half, a.whole}, v)
	l := &a.routines[r][w]
	if *l == 0 {
		*l = a.NewLabel() + 1
	}
	return *l - 1
}

// Routines generates the code of the routines that were called.
func (a *Asm) Routines() {
	for r := range a.routines {
		for w, label := range a.routines[r] {
			if label == 0 {
				continue
			}
			row := &routineTable[r]
			slow, n := a.NewLabel(), []vectors{a.single, a.half, a.whole}[w].lanes()
			a.Place(label - 1)
			if row.both != nil {
				a.compute(n, row.operands, row.both)
				continue
			}
			if row.first != nil && (n == 1 || !row.alone) {
				longer := a.NewLabel()
				a.unlessSlow(n, row.operands, row.first, longer)
				a.Place(longer)
			}
			a.unlessSlow(n, row.operands, row.main, slow)
			if row.rest != nil {
				a.Place(slow)
				a.compute(n, row.operands, one(row.rest))
			}
		}
	}
}

// unlessSlow generates code that computes a function, and jumps to slow unless the operands are
// ordinary in all lanes.
func (a *Asm) unlessSlow(n, operands int, text func(*Builder, []Value, func(Value)) Value, slow Label) {
	a.compute(n, operands, one(func(b *Builder, x []Value) Value {
		return text(b, x, func(ordinary Value) { b.unless(ordinary, slow) })
	}))
	a.End()
}

// noValue marks an absent value.
const noValue = Value(-1)

// one converts a function with one result to one with two, the second absent.
func one(f func(b *Builder, x []Value) Value) func(b *Builder, x []Value) [2]Value {
	return func(b *Builder, x []Value) [2]Value { return [2]Value{f(b, x), noValue} }
}

// compute generates code for a function whose operands are in the first registers. Its results are
// returned in registers 0 and 1.
func (a *Asm) compute(n, operands int, f func(b *Builder, x []Value) [2]Value) {
	frame := a.Frame(n)
	frame.inner = true
	frame.free[ofVectors] &= 1<<a.routineVectors(frame.v) - 1
	b := a.Builder()
	x := make([]Value, operands)
	for i := range x {
		x[i] = b.In(Vec(i))
	}
	for r, v := range f(b, x) {
		if v != noValue {
			b.Out(Vec(r), v)
		}
	}
	frame.Emit(b, frame.Lanes())
	a.Return()
}

// The addresses of the tables of exponentials, which are words, and of logarithms: triples of a
// reciprocal and its logarithm in two parts.
var (
	expTable = uintptr(unsafe.Pointer(&routines.ExpTable))
	logTable = uintptr(unsafe.Pointer(&routines.LogTable))
)

const normal = 0x1p-1022

// between returns the truth of lo ≤ x ≤ hi.
func between(b *Builder, x Value, lo, hi float64) Value {
	return b.Both(b.Compare(GE, x, b.Number(lo)), b.Compare(LE, x, b.Number(hi)))
}

// scaled is an exponential in parts, s·(1 + p)·2^k, where p is a polynomial of rest. The lowest
// seven bits of bits select s; the bits above them are k.
type scaled struct{ rest, s, bits Value }

// reduce splits x for the exponential. If tail is not nil, it is set to the rounding error of s.
func reduce(b *Builder, x Value, tail *Value) scaled {
	k := b.Add(b.Mul(x, b.Number(routines.InvLn2N)), b.Number(routines.Shift))
	bits := k
	k = b.Sub(k, b.Number(routines.Shift))
	r := b.Sub(x, b.Mul(k, b.Number(routines.Ln2NHi)))
	r = b.Sub(r, b.Mul(k, b.Number(routines.Ln2NLo)))
	index := b.And(bits, b.Word(127))
	if tail == nil {
		return scaled{r, b.Fetch(expTable, index, 0)[0], bits}
	}
	s := b.Fetch(expTable, index, 0, 8*128)
	*tail = s[1]
	return scaled{r, s[0], bits}
}

// lost returns the rounding error of rest.
func (e scaled) lost(b *Builder, x Value) Value {
	k := b.Sub(e.bits, b.Number(routines.Shift))
	r := b.Sub(x, b.Mul(k, b.Number(routines.Ln2NHi)))
	return b.Sub(b.Sub(r, e.rest), b.Mul(k, b.Number(routines.Ln2NLo)))
}

// polynomial returns p, plus tail unless that is nil.
func (e scaled) polynomial(b *Builder, tail *Value) Value {
	r := e.rest
	r2 := b.Mul(r, r)
	low := b.Mul(r2, b.Add(b.Mul(r, b.Number(1./6)), b.Number(0.5)))
	high := b.Mul(b.Mul(r2, r2), b.Add(b.Mul(r, b.Number(1./120)), b.Number(1./24)))
	p := b.Add(b.Add(r, low), high)
	if tail != nil {
		p = b.Add(*tail, p)
	}
	return p
}

// finish returns s + s·p.
func (e scaled) finish(b *Builder, s Value, tail *Value) Value {
	return b.Add(s, b.Mul(s, e.polynomial(b, tail)))
}

// direct returns the exponential, if the power of two is within range.
func (e scaled) direct(b *Builder, tail *Value) Value {
	return e.finish(b, b.AddWord(e.s, b.Shl(e.bits, 45)), tail)
}

// everywhere returns the exponential of any number. It multiplies by the power of two in two steps,
// so that the result may be subnormal or infinite.
func (e scaled) everywhere(b *Builder, tail *Value) Value {
	s, factors := e.unscaled(b)
	y := e.finish(b, s, tail)
	return b.Mul(b.Mul(y, factors[0]), factors[1])
}

// unscaled returns s without the power of two, and two factors whose product is that power.
func (e scaled) unscaled(b *Builder) (s Value, factors [2]Value) {
	index := b.And(e.bits, b.Word(127))
	s = b.AddWord(e.s, b.Shl(index, 45))
	// The exponent plus 4096, which is positive, is split into halves.
	const bias = 4096
	shift := math.Float64bits(routines.Shift)
	k := b.Shr(b.AddWord(b.SubWord(e.bits, b.Word(shift)), b.Word(bias<<7)), 7)
	half := b.Shr(k, 1)
	for i, part := range []Value{half, b.SubWord(k, half)} {
		factors[i] = b.Shl(b.SubWord(part, b.Word(bias/2-1023)), 52)
	}
	return s, factors
}

// expRoutine computes the exponential of numbers between -708 and 709, by table and polynomial.
func expRoutine(b *Builder, x []Value, slow func(Value)) Value {
	slow(b.Both(b.Compare(GT, x[0], b.Number(-708)), b.Compare(LT, x[0], b.Number(709))))
	return reduce(b, x[0], nil).direct(b, nil)
}

func expAll(b *Builder, x []Value) Value {
	return reduce(b, within(b, x[0]), nil).everywhere(b, nil)
}

// within returns x or, if x is far out of range, a value with the same exponential: 0 or infinity.
func within(b *Builder, x Value) Value {
	return b.Min(b.Number(710), b.Max(b.Number(-746), x))
}

// split splits a normal number x into z·2^k, where z is at least the number with the bits least and
// less than twice that. power is what must be subtracted from the bits of x to get those of z, and
// t is the bits of x minus least.
func split(b *Builder, x Value, least uint64) (k, power, t Value) {
	t = b.SubWord(x, b.Word(least))
	power = b.And(t, b.Word(0xfff<<52))
	// Convert the exponent to a number by placing it in the fraction of 0x1p52.
	k = b.Or(b.Shr(b.Xor(t, b.Word(signBit)), 52), b.Number(0x1p52))
	k = b.Sub(k, b.Number(0x1p52+2048))
	return k, power, t
}

// entry is a normal number z·2^k, split for the logarithm, with the entry of the table for a number
// near z: its reciprocal (inv), and its logarithm in two parts (high, low).
type entry struct{ z, k, power, inv, high, low Value }

func lookUp(b *Builder, x Value) entry {
	k, power, t := split(b, x, routines.LogBits)
	i := b.And(b.Shr(t, 45), b.Word(127))
	i = b.AddWord(i, b.Shl(i, 1))
	fields := b.Fetch(logTable, i, 0, 8, 16)
	return entry{b.SubWord(x, power), k, power, fields[0], fields[1], fields[2]}
}

// finish returns the logarithm. If lost is not nil, it adds this small correction.
func (e entry) finish(b *Builder, lost *Value) Value {
	h, l, p := e.parts(b, lost)
	return b.Add(h, b.Add(l, p))
}

// parts returns the logarithm as h + (l + p), where h is by far the largest part.
func (e entry) parts(b *Builder, lost *Value) (h, l, p Value) {
	zh := upper(b, e.z)
	r := b.Add(b.Sub(b.Mul(zh, e.inv), b.Number(1)), b.Mul(b.Sub(e.z, zh), e.inv))
	w := b.Add(b.Mul(e.k, b.Number(routines.Ln2Hi)), e.high)
	h = b.Add(w, r)
	l = b.Add(b.Sub(w, h), r)
	l = b.Add(l, b.Add(b.Mul(e.k, b.Number(routines.Ln2Lo)), e.low))
	r2 := b.Mul(r, r)
	p = b.Add(b.Mul(r, b.Number(1./3)), b.Number(-0.5))
	p = b.Add(p, b.Mul(r2, b.Add(b.Mul(r, b.Number(1./5)), b.Number(-0.25))))
	q := b.Sub(b.Add(b.Mul(r, b.Number(1./7)), b.Number(-1./6)), b.Mul(r2, b.Number(1./8)))
	p = b.Mul(r2, b.Add(p, b.Mul(b.Mul(r2, r2), q)))
	if lost != nil {
		p = b.Add(p, *lost)
	}
	return h, l, p
}

// over returns approximately x/(z·2^k), from the reciprocal in the table.
func (e entry) over(b *Builder, x Value) Value {
	return b.Mul(b.Mul(b.SubWord(b.Word(1023<<52), e.power), x), e.inv)
}

// exactLog returns the logarithm of any number, by table. Its error is little more than half a unit
// in the last place, small enough for use inside other functions. It multiplies subnormal numbers
// by a power of two first.
func exactLog(b *Builder, x Value) Value {
	small := b.Compare(LT, x, b.Number(normal))
	y := b.Select(small, b.Mul(x, b.Number(0x1p54)), x)
	y = b.Add(lookUp(b, y).finish(b, nil), b.Keep(small, b.Number(-54*math.Ln2)))
	return logEnds(b, x, y)
}

// exactLog1p returns log(1 + x) in the same way. It first divides large numbers by a power of two.
func exactLog1p(b *Builder, x Value) Value {
	u := b.Add(x, b.Number(1))
	large := b.Compare(GT, u, b.Number(0x1p1000))
	e := lookUp(b, b.Select(large, b.Mul(u, b.Number(0x1p-54)), u))
	lost := e.over(b, b.Sub(x, b.Sub(u, b.Number(1))))
	y := b.Add(e.finish(b, &lost), b.Keep(large, b.Number(54*math.Ln2)))
	return logEnds(b, u, y)
}
