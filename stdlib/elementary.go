package stdlib

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// unary declares an elementwise function of one argument. in is its domain, if that is not all
// numbers.
func unary(name, doc string, f fun1, in ...types.Constraint) Func {
	return Func{Overload: types.Unary(name), Name: name, Doc: doc, Build: of1(f), In: in}
}

// binary declares an elementwise function of two arguments.
func binary(name, doc string, f fun2, in ...types.Constraint) Func {
	return Func{Overload: types.Binary(name), Name: name, Doc: doc, Build: of2(f), In: in}
}

// Domains that are not checked.
var (
	negative     = types.Constraint{Text: "negative", Lo: math.Inf(-1), HiOpen: true}
	symmetric    = types.Constraint{Text: "in the interval (-1, 1)", Lo: -1, Hi: 1, LoOpen: true, HiOpen: true}
	aboveMinus1  = types.Constraint{Text: "greater than -1", Lo: -1, Hi: math.Inf(1), LoOpen: true}
	belowOne     = types.Constraint{Text: "less than 1", Lo: math.Inf(-1), Hi: 1, HiOpen: true}
	aboveOne     = types.GreaterThanOne
	openUnit     = types.OpenUnitInterval
	positiveReal = types.Positive
)

// checking adds checks of the arguments, as in Stan. Each has the argument's name and its domain.
func (f Func) checking(cs ...argCheck) Func {
	inner := f.Build
	f.Build = func(b *Builder, a []Arg) ad.Ref {
		for i, c := range cs {
			check(b.G, b.Name, c.name, c.is, a[i].Ref)
		}
		return inner(b, a)
	}
	return f
}

type argCheck struct {
	name string
	is   types.Constraint
}

// greater declares fmax or fmin. At ties the derivative is that of the second number, or of the
// only one that depends on parameters, as in Stan.
func greater(name, doc string, op ad.OpCode) Func {
	return Func{Overload: types.Binary(name), Name: name, Doc: doc, Build: func(b *Builder, a []Arg) ad.Ref {
		if a[0].Param && !a[1].Param {
			a = []Arg{a[1], a[0]}
		}
		return of2(op2(op))(b, a)
	}}
}

// logMix returns log(p eˣ + (1-p) eʸ).
func logMix(g *ad.Graph, p, x, y ad.Ref) ad.Ref {
	if _, known := g.Value(p); known || g.Nodes[p].Op == ad.OpInvLogit { // the logarithm of inv_logit has a derivative everywhere
		return g.Do(ad.OpLogAddExp, nil, g.Add(g.Log(p), x), g.Add(g.Do(ad.OpLog1m, nil, p), y))
	}
	q := g.Sub(g.Const(1), p)
	mix := g.Do(ad.OpLogAddExp, nil, g.Add(logOrNone(g, p, g.Log(p)), x), g.Add(logOrNone(g, q, g.Do(ad.OpLog1m, nil, p)), y))
	return g.Add(mix, g.Add(shareOfNone(g, p, x, mix), shareOfNone(g, q, y, mix)))
}

// logOrNone returns the logarithm l of a weight p of a mixture. Where p is 0 it returns a constant,
// whose derivative is 0 instead of 0/0.
func logOrNone(g *ad.Graph, p, l ad.Ref) ad.Ref {
	return g.Select(g.Equal(p, g.Const(0)), g.Const(negInf), l)
}

// shareOfNone returns 0, with a derivative. Where the weight p of a mixture is 0, the derivative of
// the mixture's logarithm with respect to p is the ratio of the densities, exp(lp - mix).
func shareOfNone(g *ad.Graph, p, lp, mix ad.Ref) ad.Ref {
	const most = 700 // so that the exponential is finite: 0 times infinity would not be 0
	none := g.Equal(p, g.Const(0))
	ratio := g.Exp(g.Do(ad.OpMin, nil, g.Sub(lp, mix), g.Const(most)))
	return g.Mul(g.Sub(p, g.Detach(p)), g.Select(none, ratio, g.Const(0)))
}

// elementary declares the elementwise functions that are not operators: powers, exponentials,
// rounding, trigonometry.
func elementary() []Func {
	absDoc := "The absolute value."
	absInt := Func{Overload: types.Elementwise{Name: "abs", Args: []types.Kind{types.Int}, Result: types.Int},
		Name: "abs", Doc: absDoc, Build: of1(op1(ad.OpAbs)),
		Int: func(a []int64) (int64, error) { return max(a[0], -a[0]), nil }}
	absReal := Func{Overload: types.Elementwise{Name: "abs", Args: []types.Kind{types.Real}, Result: types.Real, Strict: true},
		Name: "abs", Doc: absDoc, Build: of1(op1(ad.OpAbs))}
	fma := Func{Overload: types.Elementwise{Name: "fma", Args: []types.Kind{types.Real, types.Real, types.Real}, Result: types.Real, NoArray: true},
		Name: "fma", Doc: "x·y + z.",
		Build: of3(func(g *ad.Graph, x, y, z ad.Ref) ad.Ref { return g.Add(g.Mul(x, y), z) })}
	ldexp := Func{Overload: types.Elementwise{Name: "ldexp", Args: []types.Kind{types.Real, types.Int}, Result: types.Real},
		Name: "ldexp", Doc: "x·2ⁿ.",
		Build: of2(func(g *ad.Graph, x, n ad.Ref) ad.Ref {
			// Multiply in three steps, because 2ⁿ may overflow although x·2ⁿ does not. Limit n,
			// because x may be 0 for a huge n.
			n = g.Do(ad.OpMin, nil, g.Do(ad.OpMax, nil, n, g.Const(-2400)), g.Const(2400))
			third := g.Do(ad.OpTrunc, nil, g.Scale(1.0/3, n))
			power := g.Do(ad.OpExp2, nil, third)
			return g.Mul(g.Mul(g.Mul(x, power), power), g.Do(ad.OpExp2, nil, g.Sub(n, g.Scale(2, third))))
		})}
	fdim := func(g *ad.Graph, x, y ad.Ref) ad.Ref {
		return g.Select(g.Do(ad.OpLessEqual, nil, x, y), g.Const(0), g.Sub(x, y))
	}
	return []Func{
		absInt, absReal, fma, ldexp,
		unary("square", "x².", (*ad.Graph).Square).example("square(-3)", "9"),
		unary("sqrt", "The square root.", (*ad.Graph).Sqrt, positiveReal),
		unary("cbrt", "The cube root.", op1(ad.OpCbrt)).example("cbrt(-8)", "-2"),
		unary("inv", "1/x.", (*ad.Graph).Inv, positiveReal),
		unary("inv_sqrt", "1/√x.", func(g *ad.Graph, x ad.Ref) ad.Ref { return g.Inv(g.Sqrt(x)) }, positiveReal),
		unary("inv_square", "1/x².", func(g *ad.Graph, x ad.Ref) ad.Ref { return g.Square(g.Inv(x)) }, positiveReal),
		binary("hypot", "√(x² + y²) without overflow.", op2(ad.OpHypot)).example("hypot(3, 4)", "5"),

		unary("exp", "eˣ.", (*ad.Graph).Exp),
		unary("exp2", "2ˣ.", op1(ad.OpExp2)).example("exp2(3)", "8"),
		unary("expm1", "eˣ - 1, accurate near 0.", op1(ad.OpExpm1)),
		unary("log", "The natural logarithm.", (*ad.Graph).Log, positiveReal),
		unary("log2", "The logarithm to the base 2.", op1(ad.OpLog2), positiveReal).example("log2(8)", "3"),
		unary("log10", "The logarithm to the base 10.", op1(ad.OpLog10), positiveReal).example("log10(0.01)", "-2"),
		unary("log1p", "log(1 + x), accurate near 0.", op1(ad.OpLog1p), aboveMinus1).checking(argCheck{"x", types.AtLeast(-1)}),
		unary("log1m", "log(1 - x), accurate near 0.", op1(ad.OpLog1m), belowOne).checking(argCheck{"x", types.AtMost(1)}),
		unary("log1p_exp", "log(1 + eˣ) without overflow.", op1(ad.OpLog1pExp)).example("log1p_exp(0)", "log(2)"),
		unary("log1m_exp", "log(1 - eˣ) for x < 0.", op1(ad.OpLog1mExp), negative),
		binary("log_diff_exp", "log(eˣ - eʸ) for x > y.", op2(ad.OpLogDiffExp), types.Between(1, 3), negative),
		binary("log_sum_exp", "log(eˣ + eʸ) without overflow.", op2(ad.OpLogAddExp)).example("log_sum_exp(0, 0)", "log(2)"),
		unary("inv_logit", "The logistic function 1/(1 + e⁻ˣ).", op1(ad.OpInvLogit)).example("inv_logit(0)", "0.5"),
		unary("log_inv_logit", "The logarithm of inv_logit.", op1(ad.OpLogInvLogit)),
		unary("log1m_inv_logit", "The logarithm of 1 - inv_logit.", op1(ad.OpLog1mInvLogit)),
		binary("log_inv_logit_diff", "log(inv_logit(x) - inv_logit(y)) for x > y.", logInvLogitDiff, types.Between(1, 3), negative),
		unary("logit", "log(p/(1 - p)), the inverse of inv_logit.", op1(ad.OpLogit), openUnit),
		unary("inv_cloglog", "1 - exp(-eˣ), the inverse of the complementary log-log.",
			func(g *ad.Graph, x ad.Ref) ad.Ref {
				x = g.Do(ad.OpMin, nil, x, g.Const(700)) // exp must not overflow, because of its derivative; the value is 1 from 4 on
				return g.Neg(g.Do(ad.OpExpm1, nil, g.Neg(g.Exp(x))))
			}),

		greater("fmin", "The lesser of two numbers; a number if the other is not one.", ad.OpMin).example("fmin(2, -1)", "-1"),
		greater("fmax", "The greater of two numbers; a number if the other is not one.", ad.OpMax).example("fmax(2, -1)", "2"),
		binary("fdim", "x - y if that is positive, else 0.", fdim),
		binary("fmod", "The remainder of x/y rounded toward zero.", op2(ad.OpFmod), positiveReal, positiveReal).example("fmod(7.5, 2)", "1.5"),
		unary("floor", "The greatest whole number that is not greater.", op1(ad.OpFloor)).example("floor(-1.5)", "-2"),
		unary("ceil", "The least whole number that is not less.", op1(ad.OpCeil)).example("ceil(-1.5)", "-1"),
		unary("round", "The nearest whole number; halves are rounded away from zero.", op1(ad.OpRound)).example("round(-1.5)", "-2"),
		unary("trunc", "The whole part.", op1(ad.OpTrunc)).example("trunc(-1.5)", "-1"),
		fixed("step", "1 if x is 0 or positive, else 0.", tReal, list(tReal), of1(func(g *ad.Graph, x ad.Ref) ad.Ref {
			return g.Do(ad.OpNot, nil, g.Less(x, g.Const(0)))
		})).example("step(-0.1)", "0"),
		fixed("is_nan", "1 if x is not a number, else 0.", tInt, list(tReal), of1(op1(ad.OpIsNaN))),
		fixed("is_inf", "1 if x is infinite, else 0.", tInt, list(tReal), of1(op1(ad.OpIsInf))),

		unary("sin", "The sine.", op1(ad.OpSin)),
		unary("cos", "The cosine.", op1(ad.OpCos)),
		unary("tan", "The tangent.", op1(ad.OpTan), symmetric),
		unary("asin", "The arc sine.", op1(ad.OpAsin), symmetric),
		unary("acos", "The arc cosine.", op1(ad.OpAcos), symmetric),
		unary("atan", "The arc tangent.", op1(ad.OpAtan)),
		binary("atan2", "The angle of the point (y, x), for arguments y and x.", op2(ad.OpAtan2)).example("atan2(1, 1)", "pi() / 4"),
		unary("sinh", "The hyperbolic sine.", op1(ad.OpSinh)),
		unary("cosh", "The hyperbolic cosine.", op1(ad.OpCosh)),
		unary("tanh", "The hyperbolic tangent.", op1(ad.OpTanh)),
		unary("asinh", "The inverse hyperbolic sine.", op1(ad.OpAsinh)),
		unary("acosh", "The inverse hyperbolic cosine.", op1(ad.OpAcosh), aboveOne).checking(argCheck{"x", types.AtLeast(1)}),
		unary("atanh", "The inverse hyperbolic tangent.", op1(ad.OpAtanh), symmetric).checking(argCheck{"x", types.Between(-1, 1)}),
	}
}

// logInvLogitDiff returns log(inv_logit x - inv_logit y), as x - log1p_exp(x) - log1p_exp(y) +
// log(1 - e^(y-x)), in which nothing cancels that does not cancel in the result.
func logInvLogitDiff(g *ad.Graph, x, y ad.Ref) ad.Ref {
	base := g.Sub(g.Do(ad.OpLogInvLogit, nil, x), g.Do(ad.OpLog1pExp, nil, y))
	return g.Add(base, g.Do(ad.OpLog1mExp, nil, g.Sub(y, x)))
}
