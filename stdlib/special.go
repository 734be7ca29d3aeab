package stdlib

import (
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// special declares the special functions, which are elementwise.
func special() []Func {
	lgamma, lbeta := op1(ad.OpLgamma), op2(ad.OpLbeta)
	expOf := func(f fun2) fun2 {
		return func(g *ad.Graph, x, y ad.Ref) ad.Ref { return g.Exp(f(g, x, y)) }
	}
	lmgamma := Func{Overload: types.Elementwise{Name: "lmgamma", Args: []types.Kind{types.Int, types.Real}, Result: types.Real},
		Name: "lmgamma", Doc: "The logarithm of the multivariate gamma function of dimension n.", Build: buildLmgamma}.in(types.Between(1, 3), types.Between(2, 6))
	shape := types.Between(0.3, 5)
	return []Func{
		unary("erf", "The error function.", op1(ad.OpErf)),
		unary("erfc", "The complementary error function, 1 - erf(x).", op1(ad.OpErfc)),
		unary("Phi", "The standard normal cumulative distribution function.", op1(ad.OpPhi)).example("Phi(0)", "0.5"),
		unary("Phi_approx", "An approximation of Phi, inv_logit(0.07056 x³ + 1.5976 x).", op1(ad.OpPhiApprox)).example("Phi_approx(0)", "0.5"),
		unary("inv_Phi", "The standard normal quantile function.", op1(ad.OpInvPhi), openUnit).
			checking(aProbability).example("inv_Phi(0.5)", "0"),
		unary("inv_erfc", "The inverse of erfc, -inv_Phi(x/2)/√2.", func(g *ad.Graph, x ad.Ref) ad.Ref {
			return g.Scale(-math.Sqrt2/2, g.Do(ad.OpInvPhi, nil, g.Scale(0.5, x)))
		}, types.Between(0.1, 1.9)).checking(argCheck{"x", types.Constraint{Text: "in the interval (0, 2)", Hi: 2, LoOpen: true, HiOpen: true}}).example("inv_erfc(1)", "0"),
		unary("std_normal_qf", "The standard normal quantile function.", op1(ad.OpInvPhi), openUnit).checking(aProbability),
		unary("lgamma", "The logarithm of the absolute value of the gamma function.", lgamma, positiveReal).example("lgamma(5)", "log(24)"),
		unary("tgamma", "The gamma function.", op1(ad.OpTgamma), positiveReal).example("tgamma(5)", "24"),
		unary("digamma", "The derivative of lgamma.", op1(ad.OpDigamma), positiveReal),
		unary("trigamma", "The derivative of digamma.", op1(ad.OpTrigamma), positiveReal).example("trigamma(1)", "pi()^2 / 6"),
		lmgamma,
		binary("lbeta", "The logarithm of the beta function.", lbeta, positiveReal, positiveReal).
			checking(argCheck{"first argument", types.NonNegative}, argCheck{"second argument", types.NonNegative}).example("lbeta(1, 2)", "-log(2)"),
		binary("beta", "The beta function Γ(a) Γ(b)/Γ(a + b).", expOf(lbeta), positiveReal, positiveReal).example("beta(2, 3)", "1.0 / 12"),
		binary("lchoose", "The logarithm of the binomial coefficient, for real arguments too.", op2(ad.OpLchoose),
			types.Between(6, 9), types.Between(0, 5)).
			checking(argCheck{"first argument", types.AtLeast(-1)}, argCheck{"second argument", types.AtLeast(-1)}).example("lchoose(5, 2)", "log(10)"),
		strict2("gamma_p", "The regularised lower incomplete gamma function P(a, x).", expOf(logGammaP), positiveReal, positiveReal).checking(incompleteGamma...),
		strict2("gamma_q", "The regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x).", expOf(logGammaQ), positiveReal, positiveReal).checking(incompleteGamma...),
		fixed("inc_beta", "The regularised incomplete beta function I_x(a, b), for arguments a, b, x.", tReal, list(tReal, tReal, tReal),
			of3(func(g *ad.Graph, a, b, x ad.Ref) ad.Ref { return g.Exp(logBetaI(g, x, a, b)) })).in(positiveReal, positiveReal, openUnit).
			checking(argCheck{"a", types.NonNegative}, argCheck{"b", types.NonNegative}, argCheck{"x", types.UnitInterval}),
		binary("log_modified_bessel_first_kind", "The logarithm of the modified Bessel function I_v(x) of the first kind, for v ≥ -1 and x ≥ 0.",
			logBesselIFrom, types.Between(0, 3), positiveReal).example("log_modified_bessel_first_kind(-0.5, 2)", "log(cosh(2) / sqrt(pi()))").
			checking(argCheck{"first argument (order)", types.AtLeast(-1)}, argCheck{"second argument (variable)", types.NonNegative}),
		{Overload: types.Elementwise{Name: "modified_bessel_first_kind", Args: []types.Kind{types.Int, types.Real}, Result: types.Real, Strict: true},
			Name: "modified_bessel_first_kind", Doc: "The modified Bessel function I_n(x) of the first kind.",
			Build: of2(modifiedBessel)},
		besselOrder("modified_bessel_second_kind", "The modified Bessel function K_n(x) of the second kind, for x > 0.",
			func(g *ad.Graph, n, x ad.Ref) ad.Ref { return g.Exp(g.Sub(g.Do(ad.OpLogBesselK, nil, n, x), x)) }, positiveReal),
		besselOrder("bessel_first_kind", "The Bessel function J_n(x) of the first kind.", op2(ad.OpBesselJ), types.Constraint{}),
		besselOrder("bessel_second_kind", "The Bessel function Y_n(x) of the second kind, for x > 0.", op2(ad.OpBesselY), positiveReal),
		unary("lambert_w0", "The principal branch of Lambert's W, the w ≥ -1 with w eʷ = x (Corless et al. 1996).", op1(ad.OpLambertW0),
			types.Between(-0.3, 4)).checking(argCheck{"x", types.AtLeast(-1 / math.E)}).example("lambert_w0(0)", "0"),
		unary("lambert_wm1", "The other real branch of Lambert's W, the w ≤ -1 with w eʷ = x, for -1/e ≤ x < 0 (Corless et al. 1996).", op1(ad.OpLambertWm1),
			types.Between(-0.36, 0)).checking(argCheck{"x", types.Between(-1/math.E, 0)}),
		binary("owens_t", "Owen's T function 1/(2π) ∫₀ᵃ exp(-h²(1 + x²)/2)/(1 + x²) dx, for arguments h and a (Owen 1956).", op2(ad.OpOwensT)).
			example("owens_t(0, 1)", "0.125"),
		fixed("inv_inc_beta", "The x at which inc_beta(a, b, x) is p, for arguments a, b, p.", tReal, list(tReal, tReal, tReal),
			of3(func(g *ad.Graph, a, b, p ad.Ref) ad.Ref { return g.Do(ad.OpInvBetaI, nil, p, a, b) })).in(positiveReal, positiveReal, openUnit),
		unary("std_normal_log_qf", "The standard normal quantile function of the logarithm of a probability.", op1(ad.OpInvLogPhi), negative).
			checking(argCheck{"Log probability variable", types.AtMost(0)}),
		studentQuantile,
		fixed("hypergeometric_1F0", "The hypergeometric function ₁F₀(a; z) = (1 - z)⁻ᵃ, for z < 1, or for any z where a is 0 or a negative whole number.", tReal, list(tReal, tReal),
			of2(func(g *ad.Graph, a, z ad.Ref) ad.Ref {
				inside := g.Less(z, g.Const(1))
				power := g.Exp(g.Neg(g.Mul(a, g.Do(ad.OpLog1m, nil, g.Select(inside, z, g.Const(0))))))
				polynomial := g.Do(ad.OpPow, nil, g.Select(inside, g.Const(1), g.Sub(g.Const(1), z)), g.Neg(a))
				return g.Select(inside, power, polynomial)
			})).in(types.Constraint{}, belowOne),
		binary("lmultiply", "x log y, and 0 where both are 0.", lmultiply, positiveReal, positiveReal),
		binary("log_rising_factorial", "log |Γ(x + n)/Γ(x)|.", op2(ad.OpLogRising), shape, shape).example("log_rising_factorial(2, -1)", "0").checking(argCheck{"first argument", types.Positive}),
		binary("log_falling_factorial", "log |Γ(x + 1)/Γ(x - n + 1)|.", func(g *ad.Graph, x, n ad.Ref) ad.Ref {
			return g.Do(ad.OpLogRising, nil, plus(g, g.Sub(x, n), 1), n)
		}, types.Between(6, 9), shape).example("log_falling_factorial(2, -1)", "-log(3)").checking(argCheck{"first argument", types.Positive}),
	}
}

// Checks of arguments of these functions.
var (
	aProbability    = argCheck{"Probability variable", types.UnitInterval}
	incompleteGamma = []argCheck{{"first argument", types.Positive}, {"second argument", types.NonNegative}}
)

// besselOrder declares a function of a whole order n and a number x.
func besselOrder(name, doc string, f fun2, x types.Constraint) Func {
	return Func{Overload: types.Elementwise{Name: name, Args: []types.Kind{types.Int, types.Real}, Result: types.Real, Strict: true},
		Name: name, Doc: doc, Build: of2(f), In: []types.Constraint{{}, x}}
}

// studentQuantile returns a vector if any argument is a container.
var studentQuantile = Func{Name: "student_t_qf",
	Doc:      "The quantile function of Student's t distribution, for arguments p, nu, mu, sigma; a vector if an argument is a container.",
	Overload: quantiles("student_t_qf", 4),
	Build: func(b *Builder, a []Arg) ad.Ref {
		b.sameSizes(a)
		g := b.G
		for i, c := range studentQuantileIn {
			check(g, b.Name, [...]string{"p", "nu", "mu", "sigma"}[i], c, a[i].Ref)
		}
		return g.Add(a[2].Ref, g.Mul(a[3].Ref, g.Do(ad.OpStudentQuantile, nil, a[0].Ref, a[1].Ref)))
	}, In: studentQuantileIn, Example: []Example{{Call: "student_t_qf(0.5, 3, 1, 2)", Value: "1"}}}

var studentQuantileIn = []types.Constraint{types.UnitInterval, types.PositiveFinite, types.Finite, types.PositiveFinite}

// strict2 is binary without overloads for ints, which Stan does not have.
func strict2(name, doc string, f fun2, in ...types.Constraint) Func {
	fn := binary(name, doc, f, in...)
	fn.Overload = types.Elementwise{Name: name, Args: []types.Kind{types.Real, types.Real}, Result: types.Real, Strict: true}
	return fn
}

// modifiedBessel returns I_n(x) = (-1)ⁿ I_n(-x) = I_{-n}(x).
func modifiedBessel(g *ad.Graph, n, x ad.Ref) ad.Ref {
	abs := op1(ad.OpAbs)
	n = abs(g, n)
	i := g.Exp(logBesselI(g, n, abs(g, x)))
	odd := g.Mul(g.Less(x, g.Const(0)), g.Do(ad.OpFmod, nil, n, g.Const(2)))
	return g.Mul(g.Sub(g.Const(1), g.Scale(2, odd)), i)
}

// lmultiply returns x log y, and 0 where both are 0.
func lmultiply(g *ad.Graph, x, y ad.Ref) ad.Ref {
	if v, ok := g.Value(x); ok && len(v) == 1 && v[0] != 0 {
		return g.Mul(x, g.Log(y))
	}
	return g.Do(ad.OpXLogY, nil, x, y)
}

// logBesselIFrom returns log I_v(x) for v ≥ -1. For v < 0 it uses the recurrence I_v = I_{v+2} +
// 2(v+1)/x I_{v+1}, all terms of which are positive (DLMF 10.29.1).
func logBesselIFrom(g *ad.Graph, v, x ad.Ref) ad.Ref {
	i := logBesselI(g, v, x)
	if known, ok := g.Value(v); ok && !slices.ContainsFunc(known, func(v float64) bool { return v < 0 }) {
		return i
	}
	next := plus(g, v, 1)
	below := g.Do(ad.OpLogAddExp, nil, logBesselI(g, plus(g, v, 2), x),
		g.Add(g.Log(g.Div(g.Scale(2, next), x)), logBesselI(g, next, x)))
	return g.Select(g.Less(v, g.Const(0)), below, i)
}

// buildLmgamma builds n(n-1)/4 log π + Σ_{j=1}^{n} lgamma(x + (1-j)/2), for known n that may differ
// between elements.
func buildLmgamma(b *Builder, a []Arg) ad.Ref {
	b.sameSizes(a)
	g, n := b.G, a[0].Ref
	v, ok := g.Value(n)
	if !ok {
		b.FailUnknown("argument 1 must be known when the data are bound")
	}
	sum := g.Scale(math.Log(math.Pi)/4, g.Sub(g.Mul(n, n), n))
	if len(b.shape(a[1])) > len(b.shape(a[0])) {
		sum = g.Broadcast(sum, b.shape(a[1])) // the shape is right even if there are no terms
	}
	if len(v) == 0 {
		return sum
	}
	g.Reserve(256, int(max(slices.Max(v), 0))) // memory for the nodes of each term
	for j := 1.; j <= slices.Max(v); j++ {
		part := g.Lgamma(plus(g, a[1].Ref, (1-j)/2))
		if j > slices.Min(v) {
			part = g.Select(g.Less(n, g.Const(j)), g.Const(0), part)
		}
		sum = g.Add(sum, part)
	}
	return sum
}

// quantiles declares a function of n arguments, each a real scalar or container. The result is a
// vector if any argument is a container.
func quantiles(name string, n int) types.Overload {
	form := name + "(reals" + strings.Repeat(", reals", n-1) + ") => real or vector"
	reals := types.Density(name, slices.Repeat([]types.Set{types.Reals}, n)...)
	return types.Computed{Form: form, Fit: func(args []types.Type) (types.Match, bool) {
		m, ok := reals.Match(args)
		if slices.ContainsFunc(args, func(t types.Type) bool { return !t.IsScalar() }) {
			m.Result = tVec
		}
		return m, ok
	}}
}
