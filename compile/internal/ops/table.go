package ops

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/ad/kernel"
	"github.com/ppl-lang/ppl/ad/kernel/routines"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// The costs of ops per number, in nanoseconds on a Zen 3, without the pass over a strip.
const (
	unknownCost  = 20
	divisionCost = 1
	expCost      = 3.5
	logCost      = 5.5
	powCost      = 12
	normalCost   = 20
)

// rows returns the rows of ops for which this package has more than package ad.
func rows() []Row {
	return []Row{
		// As an instruction, ad.OpReshape copies a number.
		{Op: ad.OpReshape, Name: "copy", Arity: 1, F1: same, Loop: func(d, a, _, _ []float64) { copy(d, a) }, Formula: formula1(itself)},
		{Op: ad.OpDetach, Formula: formula1(itself)},
		{Op: ad.OpBoundAdjoint, Formula: formula1(itself)},
		{Op: ad.OpSlope, Formula: formula2(func(b *builder, _, _ value) value { return b.Number(0) })},
		{Op: ad.OpNeg, Loop: negLoop, Formula: formula1((*builder).Neg)},
		{Op: ad.OpAbs, Formula: formula1((*builder).Abs)},
		{Op: ad.OpAdd, Loop: addLoop, Formula: formula2((*builder).Add)},
		{Op: ad.OpSub, Loop: subLoop, Formula: formula2((*builder).Sub)},
		{Op: ad.OpMul, Loop: mulLoop, Formula: formula2((*builder).Mul)},
		{Op: ad.OpDiv, Loop: divLoop, Formula: formula2((*builder).Div), Cost: divisionCost},
		{Op: ad.OpSquare, Loop: func(d, a, _, _ []float64) { mulLoop(d, a, a, nil) }, Formula: formula1(func(b *builder, x value) value { return b.Mul(x, x) })},
		{Op: ad.OpSqrt, Formula: formula1((*builder).Sqrt), Cost: divisionCost},
		{Op: ad.OpInv, Loop: invLoop, Formula: formula1(func(b *builder, x value) value { return b.Div(b.Number(1), x) }), Cost: divisionCost},
		{Op: ad.OpMulGuarded, Formula: formula2(func(b *builder, x, y value) value { // 0 if x is 0
			return b.Keep(b.Compare(native.NEQ, x, b.Number(0)), b.Mul(x, y))
		})},
		{Op: MulAdd, Name: "mul_add", Arity: 3, F3: func(x, y, z float64) float64 { return float64(x*y) + z }, Loop: mulAddLoop,
			Formula: formula3(func(b *builder, x, y, z value) value { return b.Add(b.Mul(x, y), z) })},
		{Op: MulSub, Name: "mul_sub", Arity: 3, F3: func(x, y, z float64) float64 { return float64(x*y) - z }, Loop: mulSubLoop,
			Formula: formula3(func(b *builder, x, y, z value) value { return b.Sub(b.Mul(x, y), z) })},
		{Op: SubMul, Name: "sub_mul", Arity: 3, F3: func(x, y, z float64) float64 { return z - float64(x*y) }, Loop: subMulLoop,
			Formula: formula3(func(b *builder, x, y, z value) value { return b.Sub(z, b.Mul(x, y)) })},

		{Op: ad.OpFloor, Formula: rounding(native.Floor)},
		{Op: ad.OpCeil, Formula: rounding(native.Ceil)},
		{Op: ad.OpTrunc, Formula: rounding(native.Trunc)},
		// Halves are rounded away from 0.
		{Op: ad.OpRound, Formula: formula1(func(b *builder, x value) value {
			t, sign := b.Round(native.Trunc, x), b.And(x, b.Word(1<<63))
			away := b.Keep(b.Compare(native.GE, b.Abs(b.Sub(x, t)), b.Number(0.5)), b.Number(1))
			return b.Or(b.Add(t, b.Or(away, sign)), sign)
		})},
		// 0 for equal numbers.
		{Op: ad.OpDistance, Formula: formula2(func(b *builder, x, y value) value {
			return b.Keep(b.Compare(native.NEQ, x, y), b.Sub(x, y))
		})},
		// x if x is greater or y is NaN
		{Op: ad.OpMax, Formula: formula2(func(b *builder, x, y value) value {
			return b.Select(b.Either(b.Compare(native.GT, x, y), b.Compare(native.UNORD, y, y)), x, y)
		})},
		{Op: ad.OpMin, Formula: formula2(func(b *builder, x, y value) value {
			return b.Select(b.Either(b.Compare(native.LT, x, y), b.Compare(native.UNORD, y, y)), x, y)
		})},

		{Op: ad.OpLess, Loop: lessLoop, Formula: comparison(native.LT)},
		{Op: ad.OpLessEqual, Loop: lessEqualLoop, Formula: comparison(native.LE)},
		{Op: ad.OpEqual, Formula: comparison(native.EQ)},
		{Op: ad.OpNotEqual, Formula: comparison(native.NEQ)},
		{Op: NotLessEqual, Name: "not_less_equal", Arity: 2, F2: func(x, y float64) float64 { return truth(!(x <= y)) }, Formula: comparison(native.NLE)},
		{Op: ad.OpNot, Formula: formula1(func(b *builder, x value) value { return b.Truth(b.Compare(native.EQ, x, b.Number(0))) })},
		{Op: ad.OpIsNaN, Formula: formula1(func(b *builder, x value) value { return b.Truth(b.Compare(native.UNORD, x, x)) })},
		{Op: ad.OpIsInf, Formula: formula1(func(b *builder, x value) value {
			return b.Truth(b.Compare(native.EQ, b.Abs(x), b.Number(math.Inf(1))))
		})},
		{Op: ad.OpSelect, Loop: selectLoop, Formula: formula3(func(b *builder, c, x, y value) value {
			return b.Select(b.Compare(native.NEQ, c, b.Number(0)), x, y)
		})},
		{Op: ad.OpCheck, Name: "check", Arity: 1}, // the generator has its machine code

		{Op: ad.OpExp, F1: exp, Formula: call(native.Exp), Cost: expCost},
		{Op: ad.OpLog, F1: routines.Log, Formula: call(native.Log), Cost: logCost},
		{Op: ad.OpLog1p, F1: routines.Log1p, Formula: call(native.Log1p), Cost: logCost},
		{Op: ad.OpLog1m, F1: func(x float64) float64 { return routines.Log1p(-x) }, Cost: logCost,
			Formula: formula1(func(b *builder, x value) value { return b.Call(native.Log1p, b.Neg(x)) })},
		{Op: ad.OpPow, F2: kernel.Pow, Cost: powCost, Formula: call2(native.Pow)},
		{Op: ad.OpXLogY, Cost: logCost,
			F2:      func(x, y float64) float64 { return timesLog(x, y, routines.Log(y)) },
			Formula: formula2(func(b *builder, x, y value) value { return timesLogFormula(b, x, y, b.Call(native.Log, y)) })},
		{Op: ad.OpXLog1mY, Cost: logCost,
			F2:      func(x, y float64) float64 { return timesLog(x, y, routines.Log1p(-y)) },
			Formula: formula2(func(b *builder, x, y value) value { return timesLogFormula(b, x, y, b.Call(native.Log1p, b.Neg(y))) })},
		{Op: ad.OpLogit, Cost: logCost + divisionCost,
			F1:      func(p float64) float64 { return routines.Log(p / (1 - p)) },
			Formula: formula1(func(b *builder, p value) value { return b.Call(native.Log, b.Div(p, b.Sub(b.Number(1), p))) })},

		{Op: ad.OpErf, Formula: call(native.Erf), Cost: normalCost},
		{Op: ad.OpErfc, Formula: call(native.Erfc), Cost: normalCost},
		{Op: ad.OpPhi, Formula: call(native.Phi), Cost: normalCost},
		{Op: ad.OpLogPhi, Formula: call(native.LogPhi), Cost: normalCost},
		{Op: ad.OpPhiRatio, Formula: call(native.PhiRatio), Cost: normalCost},
		{Op: ad.OpPhiExcess, Formula: call(native.PhiExcess), Cost: normalCost},
		{Op: ad.OpLogExpModTail, Formula: call2(native.LogExpModTail), Cost: normalCost},
		{Op: ad.OpExpModSlope, Formula: call2(native.ExpModSlope), Cost: normalCost},
		{Op: ad.OpInvPhi, Formula: call(native.InvPhi), Cost: normalCost},
		{Op: ad.OpPhiApprox, Cost: expCost + divisionCost,
			F1: func(x float64) float64 {
				u := float64(x * (float64(0.07056*float64(x*x)) + 1.5976))
				e := exp(-math.Abs(u))
				return sigmoid(u, e)
			},
			Formula: formula1(func(b *builder, x value) value {
				u := b.Mul(x, b.Add(b.Mul(b.Number(0.07056), b.Mul(x, x)), b.Number(1.5976)))
				return sigmoidFormula(b, u, b.Call(native.Exp, b.NegAbs(u)))
			})},
		{Op: ad.OpExpm1, Formula: call(native.Expm1), Cost: expCost},
		{Op: ad.OpTanh, Formula: call(native.Tanh), Cost: logCost},
		{Op: ad.OpTanhSlope, Formula: call(native.TanhSlope), Cost: logCost},
		{Op: ad.OpLog1mExp, Formula: call(native.Log1mExp), Cost: powCost},
		{Op: ad.OpLogDiffExp, Cost: powCost, Formula: formula2(func(b *builder, x, y value) value {
			d := b.Add(x, b.Call(native.Log1mExp, b.Sub(y, x)))
			// These are the cases in which the difference is not a positive number. The result is
			// -Inf for equal numbers, if they are finite or -Inf, and NaN for others with x ≤ y.
			none := b.Select(b.Both(b.Compare(native.EQ, x, y), b.Compare(native.LT, x, b.Number(math.Inf(1)))), b.Number(math.Inf(-1)), b.Number(math.NaN()))
			return b.Select(b.Compare(native.LE, x, y), none, d)
		})},
		{Op: ad.OpExp2, Formula: call(native.Exp2), Cost: expCost},
		{Op: ad.OpLog2, Formula: call(native.Log2), Cost: logCost},
		{Op: ad.OpLog10, Formula: call(native.Log10), Cost: logCost},
		{Op: ad.OpSin, Formula: call(native.Sin), Cost: logCost},
		{Op: ad.OpCos, Formula: call(native.Cos), Cost: logCost},
		{Op: ad.OpTan, Formula: call(native.Tan), Cost: powCost},
		{Op: ad.OpAsin, Formula: call(native.Asin), Cost: powCost},
		{Op: ad.OpAcos, Formula: call(native.Acos), Cost: powCost},
		{Op: ad.OpAtan, Formula: call(native.Atan), Cost: logCost},
		{Op: ad.OpAtan2, Formula: call2(native.Atan2), Cost: powCost},
		{Op: ad.OpSinh, Formula: call(native.Sinh), Cost: logCost},
		{Op: ad.OpCosh, Formula: call(native.Cosh), Cost: logCost},
		{Op: ad.OpAsinh, Formula: call(native.Asinh), Cost: powCost},
		{Op: ad.OpAcosh, Formula: call(native.Acosh), Cost: powCost},
		{Op: ad.OpAtanh, Formula: call(native.Atanh), Cost: powCost},
		{Op: ad.OpCbrt, Formula: call(native.Cbrt), Cost: logCost},
		{Op: ad.OpHypot, Formula: call2(native.Hypot), Cost: expCost},
		{Op: ad.OpLgamma, Formula: call(native.Lgamma), Cost: normalCost},
		{Op: ad.OpDigamma, Formula: call(native.Digamma), Cost: normalCost},
		{Op: ad.OpTrigamma, Formula: call(native.Trigamma), Cost: normalCost},
		{Op: ad.OpDigammaRise, Formula: call2(native.DigammaRise), Cost: normalCost},
		{Op: ad.OpDigammaGap, Formula: call2(native.DigammaGap), Cost: normalCost},
		{Op: ad.OpLogGap, Formula: formula2(func(b *builder, t, l value) value {
			r := b.Add(b.Mul(t, b.Number(1./5)), b.Number(1./4))
			r = b.Add(b.Mul(t, r), b.Number(1./3))
			r = b.Add(b.Mul(t, r), b.Number(1./2))
			near := b.Mul(b.Mul(t, t), r)
			return b.Select(b.Compare(native.LE, t, b.Number(1e-4)), near, b.Sub(l, t))
		})},
		{Op: ad.OpLmultichoose, Formula: call2(native.Lmultichoose), Cost: 2 * normalCost},
		{Op: ad.OpLbeta, Formula: call2(native.Lbeta), Cost: 2 * normalCost},
		{Op: ad.OpLchoose, Formula: call2(native.Lchoose), Cost: 2 * normalCost},

		{Op: ExpNegAbs, Name: "exp_neg_abs", Arity: 1, Cost: expCost,
			F1:      func(x float64) float64 { return exp(-math.Abs(x)) },
			Formula: formula1(func(b *builder, x value) value { return b.Call(native.Exp, b.NegAbs(x)) })},
		{Op: ExpNegDiff, Name: "exp_neg_diff", Arity: 2, Cost: expCost,
			F2: func(x, y float64) float64 {
				if x == y {
					return 1
				}
				return exp(-math.Abs(x - y))
			},
			Formula: formula2(func(b *builder, x, y value) value {
				return b.Call(native.Exp, b.Keep(b.Compare(native.NEQ, x, y), b.NegAbs(b.Sub(x, y))))
			})},
		{Op: Sigmoid, Name: "sigmoid", Arity: 2, Cost: divisionCost,
			F2: sigmoid, Formula: formula2(sigmoidFormula)},
		{Op: MaxPlus0, Name: "max_plus0", Arity: 2, F2: func(x, l float64) float64 { return maxOf(x, 0) + l },
			Formula: formula2(func(b *builder, x, l value) value { return b.Add(b.Max(b.Number(0), x), l) })},
		{Op: MinMinus0, Name: "min_minus0", Arity: 2,
			F2: func(x, l float64) float64 {
				if x > 0 {
					x = 0
				}
				return x - l
			},
			Formula: formula2(func(b *builder, x, l value) value { return b.Sub(b.Min(b.Number(0), x), l) })},
		{Op: MaxPlus, Name: "max_plus", Arity: 3, F3: func(x, y, l float64) float64 { return maxOf(x, y) + l },
			Formula: formula3(func(b *builder, x, y, l value) value { return b.Add(b.Max(y, x), l) })},
		{Op: MaxOf, Name: "max_of", Arity: 2, F2: maxOf, Formula: formula2(func(b *builder, x, y value) value { return b.Max(y, x) })},
	}
}

type (
	builder = native.Builder
	value   = native.Value
)

// Functions that make formulas with one, two and three operands.

func formula1(f func(b *builder, x value) value) *native.Formula {
	return native.NewFormula(1, func(b *builder, x []value) value { return f(b, x[0]) })
}

func formula2(f func(b *builder, x, y value) value) *native.Formula {
	return native.NewFormula(2, func(b *builder, x []value) value { return f(b, x[0], x[1]) })
}

func formula3(f func(b *builder, x, y, z value) value) *native.Formula {
	return native.NewFormula(3, func(b *builder, x []value) value { return f(b, x[0], x[1], x[2]) })
}

// itself returns a copy of x in another register, because the register of x may be overwritten.
func itself(b *builder, x value) value { return b.Or(x, x) }

func rounding(r native.Rounding) *native.Formula {
	return formula1(func(b *builder, x value) value { return b.Round(r, x) })
}

func comparison(c native.Comparison) *native.Formula {
	return formula2(func(b *builder, x, y value) value { return b.Truth(b.Compare(c, x, y)) })
}

func call(r native.Routine) *native.Formula {
	return formula1(func(b *builder, x value) value { return b.Call(r, x) })
}

func call2(r native.Routine) *native.Formula {
	return formula2(func(b *builder, x, y value) value { return b.Call(r, x, y) })
}

func same(x float64) float64 { return x }

// maxOf returns y if x is less than y, otherwise x.
func maxOf(x, y float64) float64 {
	if x < y {
		return y
	}
	return x
}

// timesLog returns x·l, where l is the logarithm of a function of y. It is 0 if x is 0, unless y is
// NaN.
func timesLog(x, y, l float64) float64 {
	if x == 0 && y == y {
		return 0
	}
	return x * l
}

func timesLogFormula(b *builder, x, y, l value) value {
	return b.Keep(b.Either(b.Compare(native.NEQ, x, b.Number(0)), b.Compare(native.UNORD, y, y)), b.Mul(x, l))
}

// sigmoid returns inv_logit(x), given e = exp(-|x|).
func sigmoid(x, e float64) float64 {
	if x < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}

func sigmoidFormula(b *builder, x, e value) value {
	one := b.Number(1)
	return b.Div(b.Select(b.Compare(native.LT, x, b.Number(0)), e, one), b.Add(e, one))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
