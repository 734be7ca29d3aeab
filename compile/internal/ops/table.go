package ops

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/ad/kernel"
	"github.com/ppl-lang/ppl/ad/kernel/routines"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// Costs per number in nanoseconds, on a Zen 3, beyond a pass over a strip.
const (
	unknownCost  = 20
	divisionCost = 1
	expCost      = 3.5
	logCost      = 5.5
	powCost      = 12
	normalCost   = 20
)

// rows are the ops that have more than package ad's table tells.
func rows() []Row {
	return []Row{
		// ad.OpReshape as an instruction copies a number.
		{Op: ad.OpReshape, Name: "copy", Arity: 1, F1: same, Loop: func(d, a, _, _ []float64) { copy(d, a) }, Text: text1(itself)},
		{Op: ad.OpDetach, Text: text1(itself)},
		{Op: ad.OpSlope, Text: text2(func(b *builder, _, _ value) value { return b.Number(0) })},
		{Op: ad.OpNeg, Loop: negLoop, Text: text1((*builder).Neg)},
		{Op: ad.OpAbs, Text: text1((*builder).Abs)},
		{Op: ad.OpAdd, Loop: addLoop, Text: text2((*builder).Add)},
		{Op: ad.OpSub, Loop: subLoop, Text: text2((*builder).Sub)},
		{Op: ad.OpMul, Loop: mulLoop, Text: text2((*builder).Mul)},
		{Op: ad.OpDiv, Loop: divLoop, Text: text2((*builder).Div), Cost: divisionCost},
		{Op: ad.OpSquare, Loop: func(d, a, _, _ []float64) { mulLoop(d, a, a, nil) }, Text: text1(func(b *builder, x value) value { return b.Mul(x, x) })},
		{Op: ad.OpSqrt, Text: text1((*builder).Sqrt), Cost: divisionCost},
		{Op: ad.OpInv, Loop: invLoop, Text: text1(func(b *builder, x value) value { return b.Div(b.Number(1), x) }), Cost: divisionCost},
		{Op: ad.OpMulGuarded, Text: text2(func(b *builder, x, y value) value { // 0 where x is 0, NaN where it is
			return b.Keep(b.Compare(native.NEQ, x, b.Number(0)), b.Mul(x, y))
		})},
		{Op: MulAdd, Name: "mul_add", Arity: 3, F3: func(x, y, z float64) float64 { return float64(x*y) + z }, Loop: mulAddLoop,
			Text: text3(func(b *builder, x, y, z value) value { return b.Add(b.Mul(x, y), z) })},
		{Op: MulSub, Name: "mul_sub", Arity: 3, F3: func(x, y, z float64) float64 { return float64(x*y) - z }, Loop: mulSubLoop,
			Text: text3(func(b *builder, x, y, z value) value { return b.Sub(b.Mul(x, y), z) })},
		{Op: SubMul, Name: "sub_mul", Arity: 3, F3: func(x, y, z float64) float64 { return z - float64(x*y) }, Loop: subMulLoop,
			Text: text3(func(b *builder, x, y, z value) value { return b.Sub(z, b.Mul(x, y)) })},

		{Op: ad.OpFloor, Text: rounding(native.Floor)},
		{Op: ad.OpCeil, Text: rounding(native.Ceil)},
		{Op: ad.OpTrunc, Text: rounding(native.Trunc)},
		{Op: ad.OpRound, Text: text1(func(b *builder, x value) value { // halves away from 0
			t, sign := b.Round(native.Trunc, x), b.And(x, b.Word(1<<63))
			away := b.Keep(b.Compare(native.GE, b.Abs(b.Sub(x, t)), b.Number(0.5)), b.Number(1))
			return b.Or(b.Add(t, b.Or(away, sign)), sign)
		})},
		{Op: ad.OpDistance, Text: text2(func(b *builder, x, y value) value { // 0 of equal numbers, infinite ones too
			return b.Keep(b.Compare(native.NEQ, x, y), b.Sub(x, y))
		})},
		{Op: ad.OpMax, Text: text2(func(b *builder, x, y value) value { // x if it is the greater one or y is NaN
			return b.Select(b.Either(b.Compare(native.GT, x, y), b.Compare(native.UNORD, y, y)), x, y)
		})},
		{Op: ad.OpMin, Text: text2(func(b *builder, x, y value) value {
			return b.Select(b.Either(b.Compare(native.LT, x, y), b.Compare(native.UNORD, y, y)), x, y)
		})},

		{Op: ad.OpLess, Loop: lessLoop, Text: comparison(native.LT)},
		{Op: ad.OpLessEqual, Loop: lessEqualLoop, Text: comparison(native.LE)},
		{Op: ad.OpEqual, Text: comparison(native.EQ)},
		{Op: ad.OpNotEqual, Text: comparison(native.NEQ)},
		{Op: NotLessEqual, Name: "not_less_equal", Arity: 2, F2: func(x, y float64) float64 { return truth(!(x <= y)) }, Text: comparison(native.NLE)},
		{Op: ad.OpNot, Text: text1(func(b *builder, x value) value { return b.Truth(b.Compare(native.EQ, x, b.Number(0))) })},
		{Op: ad.OpIsNaN, Text: text1(func(b *builder, x value) value { return b.Truth(b.Compare(native.UNORD, x, x)) })},
		{Op: ad.OpIsInf, Text: text1(func(b *builder, x value) value {
			return b.Truth(b.Compare(native.EQ, b.Abs(x), b.Number(math.Inf(1))))
		})},
		{Op: ad.OpSelect, Loop: selectLoop, Text: text3(func(b *builder, c, x, y value) value {
			return b.Select(b.Compare(native.NEQ, c, b.Number(0)), x, y)
		})},
		{Op: ad.OpCheck, Name: "check", Arity: 1}, // machine code by the generator

		{Op: ad.OpExp, F1: exp, Text: call(native.Exp), Cost: expCost},
		{Op: ad.OpLog, F1: routines.Log, Text: call(native.Log), Cost: logCost},
		{Op: ad.OpLog1p, F1: routines.Log1p, Text: call(native.Log1p), Cost: logCost},
		{Op: ad.OpLog1m, F1: func(x float64) float64 { return routines.Log1p(-x) }, Cost: logCost,
			Text: text1(func(b *builder, x value) value { return b.Call(native.Log1p, b.Neg(x)) })},
		{Op: ad.OpPow, F2: kernel.Pow, Cost: powCost, Text: call2(native.Pow)},
		{Op: ad.OpXLogY, Cost: logCost,
			F2:   func(x, y float64) float64 { return timesLog(x, y, routines.Log(y)) },
			Text: text2(func(b *builder, x, y value) value { return timesLogText(b, x, y, b.Call(native.Log, y)) })},
		{Op: ad.OpXLog1mY, Cost: logCost,
			F2:   func(x, y float64) float64 { return timesLog(x, y, routines.Log1p(-y)) },
			Text: text2(func(b *builder, x, y value) value { return timesLogText(b, x, y, b.Call(native.Log1p, b.Neg(y))) })},
		{Op: ad.OpLogit, Cost: logCost + divisionCost,
			F1:   func(p float64) float64 { return routines.Log(p / (1 - p)) },
			Text: text1(func(b *builder, p value) value { return b.Call(native.Log, b.Div(p, b.Sub(b.Number(1), p))) })},

		{Op: ad.OpErf, Text: call(native.Erf), Cost: normalCost},
		{Op: ad.OpErfc, Text: call(native.Erfc), Cost: normalCost},
		{Op: ad.OpPhi, Text: call(native.Phi), Cost: normalCost},
		{Op: ad.OpLogPhi, Text: call(native.LogPhi), Cost: normalCost},
		{Op: ad.OpPhiRatio, Text: call(native.PhiRatio), Cost: normalCost},
		{Op: ad.OpPhiExcess, Text: call(native.PhiExcess), Cost: normalCost},
		{Op: ad.OpLogExpModTail, Text: call2(native.LogExpModTail), Cost: normalCost},
		{Op: ad.OpExpModSlope, Text: call2(native.ExpModSlope), Cost: normalCost},
		{Op: ad.OpInvPhi, Text: call(native.InvPhi), Cost: normalCost},
		{Op: ad.OpPhiApprox, Cost: expCost + divisionCost,
			F1: func(x float64) float64 {
				u := float64(x * (float64(0.07056*float64(x*x)) + 1.5976))
				e := exp(-math.Abs(u))
				return sigmoid(u, e)
			},
			Text: text1(func(b *builder, x value) value {
				u := b.Mul(x, b.Add(b.Mul(b.Number(0.07056), b.Mul(x, x)), b.Number(1.5976)))
				return sigmoidText(b, u, b.Call(native.Exp, b.NegAbs(u)))
			})},
		{Op: ad.OpExpm1, Text: call(native.Expm1), Cost: expCost},
		{Op: ad.OpTanh, Text: call(native.Tanh), Cost: logCost},
		{Op: ad.OpLog1mExp, Text: call(native.Log1mExp), Cost: powCost},
		{Op: ad.OpLogDiffExp, Cost: powCost, Text: text2(func(b *builder, x, y value) value {
			d := b.Add(x, b.Call(native.Log1mExp, b.Sub(y, x)))
			// Of equal numbers it is -Inf, of those that are infinite only if negative; of
			// others with x ≤ y none.
			none := b.Select(b.Both(b.Compare(native.EQ, x, y), b.Compare(native.LT, x, b.Number(math.Inf(1)))), b.Number(math.Inf(-1)), b.Number(math.NaN()))
			return b.Select(b.Compare(native.LE, x, y), none, d)
		})},
		{Op: ad.OpExp2, Text: call(native.Exp2), Cost: expCost},
		{Op: ad.OpLog2, Text: call(native.Log2), Cost: logCost},
		{Op: ad.OpLog10, Text: call(native.Log10), Cost: logCost},
		{Op: ad.OpSin, Text: call(native.Sin), Cost: logCost},
		{Op: ad.OpCos, Text: call(native.Cos), Cost: logCost},
		{Op: ad.OpTan, Text: call(native.Tan), Cost: powCost},
		{Op: ad.OpAsin, Text: call(native.Asin), Cost: powCost},
		{Op: ad.OpAcos, Text: call(native.Acos), Cost: powCost},
		{Op: ad.OpAtan, Text: call(native.Atan), Cost: logCost},
		{Op: ad.OpAtan2, Text: call2(native.Atan2), Cost: powCost},
		{Op: ad.OpSinh, Text: call(native.Sinh), Cost: logCost},
		{Op: ad.OpCosh, Text: call(native.Cosh), Cost: logCost},
		{Op: ad.OpAsinh, Text: call(native.Asinh), Cost: powCost},
		{Op: ad.OpAcosh, Text: call(native.Acosh), Cost: powCost},
		{Op: ad.OpAtanh, Text: call(native.Atanh), Cost: powCost},
		{Op: ad.OpCbrt, Text: call(native.Cbrt), Cost: logCost},
		{Op: ad.OpHypot, Text: call2(native.Hypot), Cost: expCost},
		{Op: ad.OpLgamma, Text: call(native.Lgamma), Cost: normalCost},
		{Op: ad.OpDigamma, Text: call(native.Digamma), Cost: normalCost},
		{Op: ad.OpTrigamma, Text: call(native.Trigamma), Cost: normalCost},
		{Op: ad.OpDigammaRise, Text: call2(native.DigammaRise), Cost: normalCost},
		{Op: ad.OpDigammaGap, Text: call2(native.DigammaGap), Cost: normalCost},
		{Op: ad.OpLogGap, Text: text2(func(b *builder, t, l value) value {
			r := b.Add(b.Mul(t, b.Number(1./5)), b.Number(1./4))
			r = b.Add(b.Mul(t, r), b.Number(1./3))
			r = b.Add(b.Mul(t, r), b.Number(1./2))
			near := b.Mul(b.Mul(t, t), r)
			return b.Select(b.Compare(native.LE, t, b.Number(1e-4)), near, b.Sub(l, t))
		})},
		{Op: ad.OpLmultichoose, Text: call2(native.Lmultichoose), Cost: 2 * normalCost},
		{Op: ad.OpLbeta, Text: call2(native.Lbeta), Cost: 2 * normalCost},
		{Op: ad.OpLchoose, Text: call2(native.Lchoose), Cost: 2 * normalCost},

		{Op: ExpNegAbs, Name: "exp_neg_abs", Arity: 1, Cost: expCost,
			F1:   func(x float64) float64 { return exp(-math.Abs(x)) },
			Text: text1(func(b *builder, x value) value { return b.Call(native.Exp, b.NegAbs(x)) })},
		{Op: ExpNegDiff, Name: "exp_neg_diff", Arity: 2, Cost: expCost,
			F2: func(x, y float64) float64 {
				if x == y {
					return 1
				}
				return exp(-math.Abs(x - y))
			},
			Text: text2(func(b *builder, x, y value) value {
				return b.Call(native.Exp, b.Keep(b.Compare(native.NEQ, x, y), b.NegAbs(b.Sub(x, y))))
			})},
		{Op: Sigmoid, Name: "sigmoid", Arity: 2, Cost: divisionCost,
			F2: sigmoid, Text: text2(sigmoidText)},
		{Op: MaxPlus0, Name: "max_plus0", Arity: 2, F2: func(x, l float64) float64 { return maxOf(x, 0) + l },
			Text: text2(func(b *builder, x, l value) value { return b.Add(b.Max(b.Number(0), x), l) })},
		{Op: MinMinus0, Name: "min_minus0", Arity: 2,
			F2: func(x, l float64) float64 {
				if x > 0 {
					x = 0
				}
				return x - l
			},
			Text: text2(func(b *builder, x, l value) value { return b.Sub(b.Min(b.Number(0), x), l) })},
		{Op: MaxPlus, Name: "max_plus", Arity: 3, F3: func(x, y, l float64) float64 { return maxOf(x, y) + l },
			Text: text3(func(b *builder, x, y, l value) value { return b.Add(b.Max(y, x), l) })},
		{Op: MaxOf, Name: "max_of", Arity: 2, F2: maxOf, Text: text2(func(b *builder, x, y value) value { return b.Max(y, x) })},
	}
}

type (
	builder = native.Builder
	value   = native.Value
)

// Texts of one, two and three operands.

func text1(f func(b *builder, x value) value) *native.Formula {
	return native.NewRoutine(1, func(b *builder, x []value) value { return f(b, x[0]) })
}

func text2(f func(b *builder, x, y value) value) *native.Formula {
	return native.NewRoutine(2, func(b *builder, x []value) value { return f(b, x[0], x[1]) })
}

func text3(f func(b *builder, x, y, z value) value) *native.Formula {
	return native.NewRoutine(3, func(b *builder, x []value) value { return f(b, x[0], x[1], x[2]) })
}

// itself is x in a separate register: what it was read from may be overwritten.
func itself(b *builder, x value) value { return b.Or(x, x) }

func rounding(r native.Rounding) *native.Formula {
	return text1(func(b *builder, x value) value { return b.Round(r, x) })
}

func comparison(c native.Comparison) *native.Formula {
	return text2(func(b *builder, x, y value) value { return b.Truth(b.Compare(c, x, y)) })
}

func call(r native.Routine) *native.Formula {
	return text1(func(b *builder, x value) value { return b.Call(r, x) })
}

func call2(r native.Routine) *native.Formula {
	return text2(func(b *builder, x, y value) value { return b.Call(r, x, y) })
}

func same(x float64) float64 { return x }

// maxOf is x unless it is less than y.
func maxOf(x, y float64) float64 {
	if x < y {
		return y
	}
	return x
}

// timesLog is x·l, 0 where x is 0 unless y is NaN, for the logarithm l of a function
// of y.
func timesLog(x, y, l float64) float64 {
	if x == 0 && y == y {
		return 0
	}
	return x * l
}

func timesLogText(b *builder, x, y, l value) value {
	return b.Keep(b.Either(b.Compare(native.NEQ, x, b.Number(0)), b.Compare(native.UNORD, y, y)), b.Mul(x, l))
}

// sigmoid is inv_logit x of e = exp(-|x|).
func sigmoid(x, e float64) float64 {
	if x < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}

func sigmoidText(b *builder, x, e value) value {
	one := b.Number(1)
	return b.Div(b.Select(b.Compare(native.LT, x, b.Number(0)), e, one), b.Add(e, one))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
