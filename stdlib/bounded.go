package stdlib

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: distributions on an interval.

var uniform = Dist{
	Name: "uniform", Doc: "the uniform distribution between alpha and beta.",
	Formula:  "1 / (beta - alpha)",
	Mean:     "(alpha + beta) / 2",
	Variance: "(beta - alpha)^2 / 12",
	Variate:  types.NotNaN,
	Params: []Param{{Name: "alpha", Is: "Lower bound parameter", In: types.Finite},
		{Name: "beta", Is: "Upper bound parameter", In: types.Finite}},
	Relations: []Relation{{Arg: 2, Strict: true, Than: 1}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		out := g.Do(ad.OpMax, nil, g.Less(y, p[0]), g.Less(p[1], y))
		return []Term{
			{Value: g.Log(g.Sub(p[1], p[0])), Weight: -1, Of: of1st | of2nd},
			outside(g, out),
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return logPart(g, g.Sub(y, p[0]), g.Sub(p[1], y))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return logPart(g, g.Sub(p[1], y), g.Sub(y, p[0]))
	},
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref { return g.Add(p[0], g.Mul(g.Sub(p[1], p[0]), q)) },
	Rand:     func(rng *rand.Rand, p []float64) float64 { return p[0] + (p[1]-p[0])*rng.Float64() },
	Examples: []Example{{Call: "uniform_lpdf(0.5 | 0, 1)", Value: "0"}},

	Information: ofUniform,
}

// logPart returns log(part/(part+rest)), computed from the smaller of the two. It is -Inf for part
// ≤ 0 and 0 for rest ≤ 0.
func logPart(g *ad.Graph, part, rest ad.Ref) ad.Ref {
	zero, one := g.Const(0), g.Const(1)
	some, more := g.Less(zero, part), g.Less(zero, rest)
	in := g.Mul(some, more)
	part, rest = g.Select(in, part, one), g.Select(in, rest, one)
	whole := g.Add(part, rest)
	v := g.Select(g.Less(part, rest), g.Sub(g.Log(part), g.Log(whole)), g.Do(ad.OpLog1m, nil, g.Div(rest, whole)))
	return g.Select(in, v, g.Select(some, zero, g.Const(negInf)))
}

// logBetaI returns the logarithm of the regularised incomplete beta function.
func logBetaI(g *ad.Graph, x, a, b ad.Ref) ad.Ref { return g.Do(ad.OpLogBetaI, nil, x, a, b) }

// log1mBetaI returns log(1 - I_x(a, b)).
func log1mBetaI(g *ad.Graph, x, a, b ad.Ref) ad.Ref { return g.Do(ad.OpLogBetaIc, nil, x, a, b) }

var beta = Dist{
	Name: "beta", Doc: "the beta distribution with prior sample sizes alpha and beta.",
	Formula:     "y^(alpha - 1) * (1 - y)^(beta - 1) / exp(lbeta(alpha, beta))",
	Mean:        "alpha / (alpha + beta)",
	Variance:    "alpha * beta / ((alpha + beta)^2 * (alpha + beta + 1))",
	Link:        "log(alpha) - log(beta)",
	Information: onLogitScale(ofBeta),
	Variate:     types.UnitInterval,
	Params: []Param{{Name: "alpha", Is: "First shape parameter", In: types.PositiveFinite},
		{Name: "beta", Is: "Second shape parameter", In: types.PositiveFinite}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		a, b := p[0], p[1]
		return []Term{
			{Value: g.Lgamma(a), Weight: -1, Of: of1st},
			{Value: g.Lgamma(b), Weight: -1, Of: of2nd},
			{Value: g.Lgamma(g.Add(a, b)), Of: of1st | of2nd},
			{Value: atEdge(g, plus(g, a, -1), g.Log(y)), Of: ofY | of1st},
			{Value: atEdge(g, plus(g, b, -1), g.Do(ad.OpLog1m, nil, y)), Of: ofY | of2nd},
		}
	},
	LogCDF:  func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref { return logBetaI(g, y, p[0], p[1]) },
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref { return log1mBetaI(g, y, p[0], p[1]) },
	Rand:    func(rng *rand.Rand, p []float64) float64 { return randBeta(rng, p[0], p[1]) },
}

// atEdge returns e·logY for a density with the factor y^e. Data may lie at the edge where y is 0.
// There the factor is 1 if e is 0, although the logarithm is infinite.
func atEdge(g *ad.Graph, e, logY ad.Ref) ad.Ref {
	v, _ := g.Value(logY)
	if n, _ := g.Value(e); slices.Contains(v, negInf) || slices.Contains(n, 0) {
		return weighted(g, e, logY)
	}
	return g.Mul(e, logY)
}

// proportions returns the shapes of a beta distribution with mean mu and precision kappa.
func proportions(g *ad.Graph, p []ad.Ref) (a, b ad.Ref) {
	return g.Mul(p[0], p[1]), g.Mul(g.Sub(g.Const(1), p[0]), p[1])
}

var betaProportion = Dist{
	Name: "beta_proportion", Doc: "the beta distribution with mean mu and precision kappa.",
	Formula:     "y^(mu * kappa - 1) * (1 - y)^((1 - mu) * kappa - 1) / exp(lbeta(mu * kappa, (1 - mu) * kappa))",
	Mean:        "mu",
	Variance:    "mu * (1 - mu) / (1 + kappa)",
	Link:        "logit(mu)",
	Information: onLogitScale(ofBetaProportion),
	Variate:     types.UnitInterval,
	Params: []Param{{Name: "mu", Is: "Location parameter", In: types.OpenUnitInterval},
		{Name: "kappa", Is: "Precision parameter", In: types.PositiveFinite}},
	// log Γ(a) = log Γ(a+1) - log a, where log a is computed from log μ and log κ, because their
	// product may underflow.
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		a, b := proportions(g, p)
		kernel := g.Add(atEdge(g, plus(g, a, -1), g.Log(y)), atEdge(g, plus(g, b, -1), g.Do(ad.OpLog1m, nil, y)))
		logKappa := g.Log(p[1])
		// This is log ab.
		logs := g.Add(g.Add(g.Log(p[0]), g.Do(ad.OpLog1m, nil, p[0])), g.Scale(2, logKappa))
		return []Term{
			{Value: g.Sub(g.Lgamma(plus(g, p[1], 1)), logKappa), Of: of2nd},
			{Value: g.Sub(g.Add(g.Lgamma(plus(g, a, 1)), g.Lgamma(plus(g, b, 1))), logs), Weight: -1, Of: of1st | of2nd},
			{Value: kernel, Of: always},
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		a, b := proportions(g, p)
		return logBetaI(g, y, a, b)
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		// Below 1e-290 the probability is a multiple of a, and a may underflow.
		const tiny = 1e-290
		a, b := proportions(g, p)
		small := g.Less(a, g.Const(tiny))
		ratio := plus(g, g.Add(g.Log(p[0]), g.Log(p[1])), -math.Log(tiny))
		return g.Add(log1mBetaI(g, y, g.Select(small, g.Const(tiny), a), b), g.Select(small, ratio, g.Const(0)))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return randBeta(rng, p[0]*p[1], p[1]-p[0]*p[1]) },
}
