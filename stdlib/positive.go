package stdlib

import (
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: distributions on the positive half-line.

var (
	shapeParam = Param{Name: "alpha", Is: "Shape parameter", In: types.PositiveFinite}
	scaleBeta  = Param{Name: "beta", Is: "Scale parameter", In: types.PositiveFinite}
)

// plus returns x + c.
func plus(g *ad.Graph, x ad.Ref, c float64) ad.Ref { return g.Add(x, g.Const(c)) }

var negInf = math.Inf(-1)

// logGammaP and logGammaQ return the logarithms of the regularised incomplete gamma functions.
func logGammaP(g *ad.Graph, a, x ad.Ref) ad.Ref { return g.Do(ad.OpLogGammaP, nil, g.Const(0), a, x) }

func logGammaQ(g *ad.Graph, a, x ad.Ref) ad.Ref { return g.Do(ad.OpLogGammaQ, nil, g.Const(0), a, x) }

// gammaTail returns log P(a, x) or, with upper, log Q(a, x), for a product or quotient x that may
// underflow. Where x is small, P is xᵃ/Γ(a+1), computed from its logarithm.
func gammaTail(g *ad.Graph, upper bool, a, x, logX ad.Ref) ad.Ref {
	small := g.Less(x, g.Const(1e-30))
	far := g.Sub(g.Mul(a, logX), g.Lgamma(plus(g, a, 1)))
	if upper { // if a is small, its relative error matters
		tiny := g.Less(a, g.Const(1e-4))
		b := g.Select(tiny, a, g.Const(0))
		// This is the series of log Γ(1+a)/a (DLMF 5.7.3).
		series := plus(g, g.Mul(b, plus(g, g.Scale(-0.40068563438653143, b), 0.8224670334241132)), -0.57721566490153286)
		far = g.Select(tiny, g.Mul(b, g.Sub(logX, series)), far)
	}
	x = g.Select(small, g.Const(1), x)
	if upper {
		return g.Select(small, g.Do(ad.OpLog1mExp, nil, g.Select(small, far, g.Const(-1))), logGammaQ(g, a, x))
	}
	return g.Select(small, far, logGammaP(g, a, x))
}

var lognormal = Dist{
	Name: "lognormal", Doc: "the lognormal distribution: that of exp(x) for x ~ normal(mu, sigma).",
	Formula:     "exp(-((log(y) - mu) / sigma)^2 / 2) / (y * sigma * sqrt(2 * pi()))",
	Mean:        "exp(mu + sigma^2 / 2)",
	Variance:    "expm1(sigma^2) * exp(2 * mu + sigma^2)",
	Link:        "mu",
	Information: onLogScale(ofLocationScale(1, 2, 0)),
	Variate:     types.NonNegative, Support: types.Positive,
	Params: []Param{location, scale},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		logY := g.Log(y)
		return []Term{
			{Value: g.Square(standard(g, logY, p[0], p[1])), Weight: -0.5, Of: always},
			minusLog(g, p[1], of2nd),
			{Value: logY, Weight: -1, Of: ofY},
			{Value: g.Const(-logSqrt2Pi), Of: always}, // Stan never drops this constant
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return logPhi(g, standard(g, g.Log(y), p[0], p[1]))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return logPhi(g, g.Neg(standard(g, g.Log(y), p[0], p[1])))
	},
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref {
		return g.Exp(g.Add(p[0], g.Mul(p[1], g.Do(ad.OpInvPhi, nil, q))))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return math.Exp(p[0] + p[1]*rng.NormFloat64()) },
}

var exponential = Dist{
	Name: "exponential", Doc: "the exponential distribution with rate beta.",
	Formula:     "beta * exp(-beta * y)",
	Mean:        "1 / beta",
	Variance:    "1 / beta^2",
	Link:        "-log(beta)",
	Information: onLogScale(ofExponential),
	Variate:     types.NonNegative,
	Params:      []Param{inverseRate},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		return []Term{
			{Value: g.Log(p[0]), Of: of1st},
			{Value: g.Mul(p[0], y), Weight: -1, Of: ofY | of1st},
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		hazard := g.Mul(p[0], y)
		// The hazard is so small that it may have underflowed.
		rare := g.Less(hazard, g.Const(1e-20))
		return g.Select(rare, g.Add(g.Log(p[0]), g.Log(y)), g.Do(ad.OpLog1mExp, nil, g.Neg(g.Select(rare, g.Const(1), hazard))))
	},
	LogCCDF:  func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref { return g.Neg(g.Mul(p[0], y)) },
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref { return g.Div(waiting(g, q), p[0]) },
	Rand:     func(rng *rand.Rand, p []float64) float64 { return rng.ExpFloat64() / p[0] },
	Examples: []Example{{Call: "exponential_lpdf(2 | 1)", Value: "-2"}},
}

var gamma = Dist{
	Name: "gamma", Doc: "the gamma distribution with shape alpha and inverse scale beta.",
	Formula:     "beta^alpha * y^(alpha - 1) * exp(-beta * y) / tgamma(alpha)",
	Mean:        "alpha / beta",
	Variance:    "alpha / beta^2",
	Link:        "log(alpha) - log(beta)",
	Information: onLogScale(ofGamma(1)),
	Variate:     types.PositiveFinite,
	Params:      []Param{shapeParam, inverseRate},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		a, b := p[0], p[1]
		return []Term{
			{Value: g.Lgamma(a), Weight: -1, Of: of1st},
			{Value: g.Mul(a, g.Log(b)), Of: of1st | of2nd},
			{Value: g.Mul(plus(g, a, -1), g.Log(y)), Of: ofY | of1st},
			{Value: g.Mul(b, y), Weight: -1, Of: ofY | of2nd},
		}
	},
	CDFVariate: types.NonNegative,
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return gammaTail(g, false, p[0], g.Mul(p[1], y), g.Add(g.Log(p[1]), g.Log(y)))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return gammaTail(g, true, p[0], g.Mul(p[1], y), g.Add(g.Log(p[1]), g.Log(y)))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return randGamma(rng, p[0]) / p[1] },
}

var invGamma = Dist{
	Name: "inv_gamma", Doc: "the inverse gamma distribution with shape alpha and scale beta.",
	Formula:     "beta^alpha * y^(-alpha - 1) * exp(-beta / y) / tgamma(alpha)",
	Mean:        "alpha > 1 ? beta / (alpha - 1) : positive_infinity()",
	Variance:    "alpha > 2 ? beta^2 / ((alpha - 1)^2 * (alpha - 2)) : positive_infinity()",
	Information: onLogScale(ofGamma(-1)),
	Variate:     types.NotNaN, Support: types.Positive,
	Params: []Param{shapeParam, scaleBeta},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		a, b := p[0], p[1]
		return []Term{
			{Value: g.Lgamma(a), Weight: -1, Of: of1st},
			{Value: g.Mul(a, g.Log(b)), Of: of1st | of2nd},
			{Value: g.Mul(plus(g, a, 1), g.Log(y)), Weight: -1, Of: ofY | of1st},
			{Value: g.Mul(b, g.Inv(y)), Weight: -1, Of: ofY | of2nd},
		}
	},
	CDFVariate: types.NonNegative,
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return gammaTail(g, true, p[0], g.Div(p[1], y), g.Sub(g.Log(p[1]), g.Log(y)))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return gammaTail(g, false, p[0], g.Div(p[1], y), g.Sub(g.Log(p[1]), g.Log(y)))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return p[1] * math.Exp(-randLogGamma(rng, p[0])) },
}

// halfDegrees returns log Γ(ν/2) + ½ν log 2, the normalisation of χ².
func halfDegrees(g *ad.Graph, nu ad.Ref) ad.Ref {
	return g.Add(g.Lgamma(g.Scale(0.5, nu)), g.Scale(0.5*math.Ln2, nu))
}

var chiSquare = Dist{
	Name: "chi_square", Doc: "the chi-square distribution with nu degrees of freedom.",
	Formula:     "y^(nu / 2 - 1) * exp(-y / 2) / (2^(nu / 2) * tgamma(nu / 2))",
	Mean:        "nu",
	Variance:    "2 * nu",
	Information: onLogScale(ofChiSquare(1)),
	Variate:     types.NonNegative,
	Params:      []Param{degrees},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		return []Term{
			{Value: halfDegrees(g, p[0]), Weight: -1, Of: of1st},
			{Value: atEdge(g, plus(g, g.Scale(0.5, p[0]), -1), g.Log(y)), Of: always},
			{Value: y, Weight: -0.5, Of: ofY},
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return logGammaP(g, g.Scale(0.5, p[0]), g.Scale(0.5, y))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return logGammaQ(g, g.Scale(0.5, p[0]), g.Scale(0.5, y))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return 2 * randGamma(rng, p[0]/2) },
}

var invChiSquare = Dist{
	Name: "inv_chi_square", Doc: "the inverse chi-square distribution with nu degrees of freedom.",
	Formula:     "y^(-nu / 2 - 1) * exp(-1 / (2 * y)) / (2^(nu / 2) * tgamma(nu / 2))",
	Mean:        "nu > 2 ? 1 / (nu - 2) : positive_infinity()",
	Variance:    "nu > 4 ? 2 / ((nu - 2)^2 * (nu - 4)) : positive_infinity()",
	Information: onLogScale(ofChiSquare(-1)),
	Variate:     types.NotNaN, Support: types.Positive,
	Params: []Param{degrees},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		return []Term{
			{Value: halfDegrees(g, p[0]), Weight: -1, Of: of1st},
			{Value: g.Mul(plus(g, g.Scale(0.5, p[0]), 1), g.Log(y)), Weight: -1, Of: always},
			{Value: g.Inv(y), Weight: -0.5, Of: ofY},
		}
	},
	CDFVariate: types.NonNegative,
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return gammaTail(g, true, g.Scale(0.5, p[0]), g.Scale(0.5, g.Inv(y)), plus(g, g.Neg(g.Log(y)), -math.Ln2))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return gammaTail(g, false, g.Scale(0.5, p[0]), g.Scale(0.5, g.Inv(y)), plus(g, g.Neg(g.Log(y)), -math.Ln2))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return 0.5 * math.Exp(-randLogGamma(rng, p[0]/2)) },
}

// scaledRatio returns νs²/2y and its logarithm.
func scaledRatio(g *ad.Graph, y ad.Ref, p []ad.Ref) (x, logX ad.Ref) {
	half := g.Scale(0.5, p[0])
	return g.Mul(g.Mul(half, p[1]), g.Div(p[1], y)), g.Sub(g.Add(g.Log(half), g.Scale(2, g.Log(p[1]))), g.Log(y))
}

var scaledInvChiSquare = Dist{
	Name: "scaled_inv_chi_square", Doc: "the scaled inverse chi-square distribution with nu degrees of freedom and scale s.",
	Formula:     "(nu / 2)^(nu / 2) / tgamma(nu / 2) * s^nu * y^(-nu / 2 - 1) * exp(-nu * s^2 / (2 * y))",
	Mean:        "nu > 2 ? nu * s^2 / (nu - 2) : positive_infinity()",
	Variance:    "nu > 4 ? 2 * nu^2 * s^4 / ((nu - 2)^2 * (nu - 4)) : positive_infinity()",
	Information: onLogScale(ofScaledInvChiSquare),
	Variate:     types.NotNaN, Support: types.Positive,
	Params: []Param{degrees, {Name: "s", Is: "Scale parameter", In: types.PositiveFinite}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		nu, s, half := p[0], p[1], g.Scale(0.5, p[0])
		return []Term{
			{Value: g.Sub(g.Mul(half, g.Log(half)), g.Lgamma(half)), Of: of1st},
			{Value: g.Mul(nu, g.Log(s)), Of: of1st | of2nd},
			{Value: g.Mul(plus(g, half, 1), g.Log(y)), Weight: -1, Of: ofY | of1st},
			{Value: g.Mul(g.Mul(g.Mul(half, g.Inv(y)), s), s), Weight: -1, Of: always},
		}
	},
	CDFVariate: types.NonNegative,
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		x, logX := scaledRatio(g, y, p)
		return gammaTail(g, true, g.Scale(0.5, p[0]), x, logX)
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		x, logX := scaledRatio(g, y, p)
		return gammaTail(g, false, g.Scale(0.5, p[0]), x, logX)
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		return math.Exp(math.Log(p[0]/2) + 2*math.Log(p[1]) - randLogGamma(rng, p[0]/2))
	},
}

// logHit returns log(1 - exp(-eˡ)), the log probability of an event whose hazard has the logarithm
// l. Where the hazard is so small that this equals l, it returns l itself, also where the hazard
// underflows.
func logHit(g *ad.Graph, l ad.Ref) ad.Ref {
	rare := g.Less(l, g.Const(-40))
	// The exponential must not overflow, because its derivative would.
	safe := g.Do(ad.OpMin, nil, g.Select(rare, g.Const(0), l), g.Const(700))
	return g.Select(rare, l, g.Do(ad.OpLog1mExp, nil, g.Neg(g.Exp(safe))))
}

// logQuotient returns log(x/y), for use in a product with a. If a is large and x is near y, the
// difference of the logarithms loses digits that matter; there it computes log(1 + (x-y)/y).
func logQuotient(g *ad.Graph, x, y, a ad.Ref) ad.Ref {
	large := g.Less(g.Const(10), a)
	exact := whereAny(g, large, []ad.Ref{x, y}, func(g *ad.Graph, p []ad.Ref) ad.Ref {
		rise := g.Div(g.Sub(p[0], p[1]), p[1])
		near := g.Less(g.Do(ad.OpAbs, nil, rise), g.Const(0.5))
		return g.Select(near, g.Do(ad.OpLog1p, nil, g.Select(near, rise, g.Const(0))), g.Sub(g.Log(p[0]), g.Log(p[1])))
	})
	return g.Select(large, exact, g.Sub(g.Log(x), g.Log(y)))
}

// powRatio returns (x/y)^a, from logarithms that other terms need as well.
func powRatio(g *ad.Graph, logX, logY, a ad.Ref) ad.Ref {
	return g.Exp(g.Mul(a, g.Sub(logX, logY)))
}

var weibull = Dist{
	Name: "weibull", Doc: "the Weibull distribution with shape alpha and scale sigma.",
	Formula:     "alpha / sigma * (y / sigma)^(alpha - 1) * exp(-(y / sigma)^alpha)",
	Mean:        "sigma * tgamma(1 + 1 / alpha)",
	Variance:    "sigma^2 * (tgamma(1 + 2 / alpha) - tgamma(1 + 1 / alpha)^2)",
	Link:        "log(sigma)",
	Information: onLogScale(ofWeibull(1)),
	Variate:     types.Finite, Support: types.NonNegative,
	CDFVariate: types.NonNegative,
	Params:     []Param{shapeParam, scale},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		a, logY, logS := p[0], g.Log(y), g.Log(p[1])
		return []Term{
			{Value: powRatio(g, logY, logS, a), Weight: -1, Of: always},
			{Value: g.Log(a), Of: of1st},
			{Value: atEdge(g, plus(g, a, -1), logY), Of: ofY | of1st},
			{Value: g.Mul(a, logS), Weight: -1, Of: of1st | of2nd},
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return logHit(g, g.Mul(p[0], logQuotient(g, y, p[1], p[0])))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return g.Neg(g.Exp(g.Mul(p[0], logQuotient(g, y, p[1], p[0]))))
	},
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref {
		return g.Mul(p[1], g.Exp(g.Div(g.Log(waiting(g, q)), p[0])))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return p[1] * math.Pow(rng.ExpFloat64(), 1/p[0]) },
}

var frechet = Dist{
	Name: "frechet", Doc: "the Fréchet distribution with shape alpha and scale sigma.",
	Formula:     "alpha / sigma * (y / sigma)^(-alpha - 1) * exp(-(y / sigma)^(-alpha))",
	Mean:        "alpha > 1 ? sigma * tgamma(1 - 1 / alpha) : positive_infinity()",
	Variance:    "alpha > 2 ? sigma^2 * (tgamma(1 - 2 / alpha) - tgamma(1 - 1 / alpha)^2) : positive_infinity()",
	Link:        "log(sigma)",
	Information: onLogScale(ofWeibull(-1)),
	Variate:     types.Positive,
	Params:      []Param{shapeParam, scale},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		a, logY, logS := p[0], g.Log(y), g.Log(p[1])
		return []Term{
			{Value: powRatio(g, logS, logY, a), Weight: -1, Of: always},
			{Value: g.Log(a), Of: of1st},
			{Value: g.Mul(plus(g, a, 1), logY), Weight: -1, Of: ofY | of1st},
			{Value: g.Mul(a, logS), Of: of1st | of2nd},
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return g.Neg(g.Exp(g.Mul(p[0], logQuotient(g, p[1], y, p[0]))))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return logHit(g, g.Mul(p[0], logQuotient(g, p[1], y, p[0])))
	},
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref {
		return g.Mul(p[1], g.Exp(g.Neg(g.Div(g.Log(g.Neg(g.Log(q))), p[0]))))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return p[1] * math.Pow(rng.ExpFloat64(), -1/p[0]) },
}

var rayleigh = Dist{
	Name: "rayleigh", Doc: "the Rayleigh distribution with scale sigma.",
	Formula:     "y / sigma^2 * exp(-y^2 / (2 * sigma^2))",
	Mean:        "sigma * sqrt(pi() / 2)",
	Variance:    "(2 - pi() / 2) * sigma^2",
	Link:        "log(sigma)",
	Information: onLogScale(ofRayleigh),
	Variate:     types.Positive,
	Params:      []Param{{Name: "sigma", Is: "Scale parameter", In: types.Positive}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		return []Term{
			{Value: g.Square(g.Div(y, p[0])), Weight: -0.5, Of: always},
			{Value: g.Log(p[0]), Weight: -2, Of: of1st},
			{Value: g.Log(y), Of: ofY},
		}
	},
	CDFVariate: types.NonNegative,
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		z := g.Div(y, p[0])
		rare := g.Less(z, g.Const(1e-9))
		far := plus(g, g.Scale(2, g.Sub(g.Log(y), g.Log(p[0]))), -math.Ln2)
		return g.Select(rare, far, g.Do(ad.OpLog1mExp, nil, g.Scale(-0.5, g.Square(g.Select(rare, g.Const(1), z)))))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return g.Scale(-0.5, g.Square(g.Div(y, p[0])))
	},
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref {
		return g.Mul(p[0], g.Do(ad.OpSqrt, nil, g.Scale(2, waiting(g, q))))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return p[0] * math.Sqrt(2*rng.ExpFloat64()) },
}

var pareto = Dist{
	Name: "pareto", Doc: "the Pareto distribution with minimum y_min and shape alpha.",
	Formula:  "alpha * y_min^alpha / y^(alpha + 1)",
	Mean:     "alpha > 1 ? alpha * y_min / (alpha - 1) : positive_infinity()",
	Variance: "alpha > 2 ? y_min^2 * alpha / ((alpha - 1)^2 * (alpha - 2)) : positive_infinity()",
	Variate:  types.NotNaN, Support: types.Positive, Information: onLogScale(ofPareto),
	CDFVariate: types.NonNegative,
	Params:     []Param{{Name: "y_min", Is: "Scale parameter", In: types.PositiveFinite}, shapeParam},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		low, a, logY := p[0], p[1], g.Log(y)
		return []Term{
			{Value: g.Log(a), Of: of2nd},
			{Value: g.Mul(plus(g, a, 1), logY), Weight: -1, Of: ofY | of2nd},
			{Value: g.Mul(a, g.Log(low)), Of: of1st | of2nd},
			outside(g, g.Less(y, low)),
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return logLeftOf(g, g.Less(p[0], y), g.Mul(p[1], logQuotient(g, p[0], y, p[1])))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		in := g.Mul(p[1], logQuotient(g, p[0], g.Do(ad.OpMax, nil, y, p[0]), p[1]))
		return g.Select(g.Less(y, p[0]), g.Const(0), in)
	},
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref { return g.Mul(p[0], g.Exp(g.Div(waiting(g, q), p[1]))) },
	Rand:     func(rng *rand.Rand, p []float64) float64 { return p[0] * math.Exp(rng.ExpFloat64()/p[1]) },
}

// logLeftOf returns the log probability to the left of a variate, from that to its right, or -Inf
// where the variate is not above the lower end of the support. That end may be an argument of the
// distribution, and truncation there excludes nothing. Without a select, the derivatives would be
// those of log(0).
func logLeftOf(g *ad.Graph, above, right ad.Ref) ad.Ref {
	safe := g.Select(above, right, g.Const(-1))
	return g.Select(above, g.Do(ad.OpLog1mExp, nil, safe), g.Const(negInf))
}

// outside returns the addend that is -Inf where out is 1, for supports that depend on parameters.
func outside(g *ad.Graph, out ad.Ref) Term {
	return Term{Value: g.Select(out, g.Const(negInf), g.Const(0)), Of: always}
}

var paretoType2 = Dist{
	Name: "pareto_type_2", Doc: "the Pareto distribution of type 2 (Lomax) with location mu, scale lambda and shape alpha.",
	Formula:  "alpha / lambda * (1 + (y - mu) / lambda)^(-alpha - 1)",
	Mean:     "alpha > 1 ? mu + lambda / (alpha - 1) : positive_infinity()",
	Variance: "alpha > 2 ? lambda^2 * alpha / ((alpha - 1)^2 * (alpha - 2)) : positive_infinity()",
	Variate:  types.NotNaN, Information: ofParetoType2,
	Params: []Param{{Name: "mu", Is: "Location parameter", In: types.Finite},
		{Name: "lambda", Is: "Scale parameter", In: types.PositiveFinite}, shapeParam},
	Relations: []Relation{{Arg: 0, Than: 1}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		return []Term{
			{Value: g.Log(p[2]), Of: of3rd},
			minusLog(g, p[1], of2nd),
			{Value: g.Mul(plus(g, p[2], 1), lomax(g, y, p)), Weight: -1, Of: always},
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return logLeftOf(g, g.Less(p[0], y), g.Neg(g.Mul(p[2], lomax(g, y, p))))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref { return g.Neg(g.Mul(p[2], lomax(g, y, p))) },
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref {
		return g.Add(p[0], g.Mul(p[1], g.Do(ad.OpExpm1, nil, g.Div(waiting(g, q), p[2]))))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		return p[0] + p[1]*math.Expm1(rng.ExpFloat64()/p[2])
	},
}

// waiting returns the quantile of the exponential distribution, -log(1 - q).
func waiting(g *ad.Graph, q ad.Ref) ad.Ref { return g.Neg(g.Do(ad.OpLog1m, nil, q)) }

// lomax returns log(1 + (y - mu)/lambda). A lambda below 1e-300 of the difference is scaled by a
// power of two, because the quotient would overflow.
func lomax(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
	const doublings = 600
	d := g.Sub(y, p[0])
	far := g.Less(g.Scale(1e300, p[1]), d)
	lambda := g.Mul(p[1], g.Select(far, g.Const(0x1p600), g.Const(1)))
	return g.Add(g.Do(ad.OpLog1p, nil, g.Div(d, lambda)), g.Scale(doublings*math.Ln2, far))
}
