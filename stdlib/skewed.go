package stdlib

import (
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: skewed distributions on the whole line.

var skewNormal = Dist{
	Name: "skew_normal", Doc: "the skew normal distribution with location xi, scale omega and shape alpha.",
	Formula:  "2 * exp(-((y - xi) / omega)^2 / 2) / (omega * sqrt(2 * pi())) * Phi(alpha * (y - xi) / omega)",
	Mean:     "xi + omega * alpha * sqrt(2 / (pi() * (1 + alpha^2)))",
	Variance: "omega^2 * (1 - 2 * alpha^2 / (pi() * (1 + alpha^2)))",
	Link:     "xi",
	Cite:     "Azzalini 1985", Information: ofSkewNormal,
	Variate: types.NotNaN,
	Params: []Param{{Name: "xi", Is: "Location parameter", In: types.Finite}, {Name: "omega", Is: "Scale parameter", In: types.Positive},
		{Name: "alpha", Is: "Shape parameter", In: types.Finite}},
	// The density is 2 φ(z) Φ(αz)/ω.
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		z := standard(g, y, p[0], p[1])
		return []Term{
			{Value: plus(g, logPhi(g, g.Mul(p[2], z)), math.Ln2), Of: always},
			{Value: g.Square(z), Weight: -0.5, Of: ofY | of1st | of2nd},
			minusLog(g, p[1], of2nd),
			constant(g, -logSqrt2Pi),
		}
	},
	// The distribution function is Φ(z) - 2T(z, α), where T is Owen's function.
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return g.Do(ad.OpLogSkewNormal, nil, standard(g, y, p[0], p[1]), p[2])
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return g.Do(ad.OpLogSkewNormal, nil, g.Neg(standard(g, y, p[0], p[1])), g.Neg(p[2]))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		delta := p[2] / math.Hypot(1, p[2])
		z := delta*math.Abs(rng.NormFloat64()) + math.Sqrt(1-delta*delta)*rng.NormFloat64()
		return p[0] + p[1]*z
	},
}

// expModNormal is the distribution of the sum of a normal and an exponential variate. With z =
// (y-μ)/σ and v = λσ, the density is λ exp(v²/2 - vz) Φ(z-v), and the distribution function Φ(z) -
// exp(v²/2 - vz) Φ(z-v).
var expModNormal = Dist{
	Name: "exp_mod_normal", Doc: "the exponentially modified normal distribution with mean mu and scale sigma of the normal part and rate lambda of the exponential part.",
	Formula:  "lambda / 2 * exp(lambda / 2 * (2 * mu + lambda * sigma^2 - 2 * y)) * erfc((mu + lambda * sigma^2 - y) / (sqrt2() * sigma))",
	Mean:     "mu + 1 / lambda",
	Variance: "sigma^2 + 1 / lambda^2",
	Link:     "mu",
	Variate:  types.NotNaN, Information: ofExpModNormal,
	Params: []Param{location, scale, {Name: "lambda", Is: "Inv_scale parameter", In: types.PositiveFinite}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		z, v := modified(g, y, p)
		return []Term{
			{Value: plus(g, g.Do(ad.OpLogExpModTail, nil, z, v), math.Ln2), Of: always},
			{Value: g.Log(p[2]), Of: of3rd},
			constant(g, -math.Ln2),
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		z, v := modified(g, y, p)
		return g.Do(ad.OpLogExpModCDF, nil, z, v)
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		z, v := modified(g, y, p)
		tail := g.Do(ad.OpLogAddExp, nil, logPhi(g, g.Neg(z)), g.Do(ad.OpLogExpModTail, nil, z, v))
		return smallerTail(g, tail, g.Do(ad.OpLogExpModCDF, nil, z, v))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		return p[0] + p[1]*rng.NormFloat64() + rng.ExpFloat64()/p[2]
	},
}

// modified returns z and v of expModNormal.
func modified(g *ad.Graph, y ad.Ref, p []ad.Ref) (z, v ad.Ref) {
	return standard(g, y, p[0], p[1]), g.Mul(p[2], p[1])
}

var skewDoubleExponential = Dist{
	Name: "skew_double_exponential", Doc: "the skewed double exponential distribution with location mu, scale sigma and skewness tau.",
	Formula:  "2 * tau * (1 - tau) / sigma * exp(-2 / sigma * (y < mu ? (1 - tau) * (mu - y) : tau * (y - mu)))",
	Mean:     "mu + sigma * (1 - 2 * tau) / (2 * tau * (1 - tau))",
	Variance: "sigma^2 / 4 * (1 / tau^2 + 1 / (1 - tau)^2)",
	Link:     "mu",
	Variate:  types.NotNaN, Information: ofSkewDoubleExponential,
	Params: []Param{location, scale, {Name: "tau", Is: "Skewness parameter", In: types.UnitInterval}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		z, left, right := sides(g, y, p)
		rate := g.Select(g.Less(z, g.Const(0)), left, right)
		return []Term{
			{Value: g.Mul(rate, g.Do(ad.OpAbs, nil, z)), Weight: -2, Of: always},
			{Value: g.Add(g.Log(p[2]), g.Do(ad.OpLog1m, nil, p[2])), Of: of3rd},
			minusLog(g, p[1], of2nd),
			constant(g, math.Ln2),
		}
	},
	// The distribution function is τ e^(2(1-τ)z) on the left, and 1 - (1-τ) e^(-2τz) on the right.
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		z, left, right := sides(g, y, p)
		return oneSided(g, z, g.Log(p[2]), left, g.Do(ad.OpLog1m, nil, p[2]), right)
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		z, left, right := sides(g, y, p)
		return oneSided(g, g.Neg(z), g.Do(ad.OpLog1m, nil, p[2]), right, g.Log(p[2]), left)
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		x := rng.ExpFloat64() / 2
		if rng.Float64() < p[2] {
			return p[0] - p[1]*(x/(1-p[2]))
		}
		return p[0] + p[1]*(x/p[2])
	},
}

// sides returns z and half the rates of decay on both sides.
func sides(g *ad.Graph, y ad.Ref, p []ad.Ref) (z, left, right ad.Ref) {
	return standard(g, y, p[0], p[1]), g.Sub(g.Const(1), p[2]), p[2]
}

// oneSided returns logA + 2a·z for z < 0 and log(1 - exp(logB - 2b·z)) otherwise.
func oneSided(g *ad.Graph, z, logA, a, logB, b ad.Ref) ad.Ref {
	zero := g.Const(0)
	below := g.Add(logA, g.Scale(2, g.Mul(a, g.Do(ad.OpMin, nil, z, zero))))
	above := g.Sub(logB, g.Scale(2, g.Mul(b, g.Do(ad.OpMax, nil, zero, z))))
	return g.Select(g.Less(z, zero), below, g.Do(ad.OpLog1mExp, nil, above))
}

var loglogistic = Dist{
	Name: "loglogistic", Doc: "the log-logistic distribution with scale alpha and shape beta.",
	Formula:     "beta / alpha * (y / alpha)^(beta - 1) / (1 + (y / alpha)^beta)^2",
	Mean:        "beta > 1 ? alpha * pi() / beta / sin(pi() / beta) : positive_infinity()",
	Variance:    "beta > 2 ? alpha^2 * (2 * pi() / beta / sin(2 * pi() / beta) - (pi() / beta / sin(pi() / beta))^2) : positive_infinity()",
	Link:        "log(alpha)",
	Information: onLogScale(ofLoglogistic),
	Variate:     types.PositiveFinite, CDFVariate: types.NonNegative,
	Params: []Param{{Name: "alpha", Is: "Scale parameter", In: types.PositiveFinite}, {Name: "beta", Is: "Shape parameter", In: types.PositiveFinite}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		logY, logA, b := g.Log(y), g.Log(p[0]), p[1]
		odds := g.Mul(b, g.Sub(logY, logA))
		b1 := plus(g, b, -1)
		return []Term{
			{Value: g.Sub(g.Mul(b1, logY), g.Scale(2, g.Do(ad.OpLog1pExp, nil, odds))), Of: always},
			{Value: g.Sub(g.Log(b), g.Mul(b, logA)), Of: of1st | of2nd},
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return g.Do(ad.OpLogInvLogit, nil, g.Mul(p[1], logQuotient(g, y, p[0], p[1])))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return g.Do(ad.OpLog1mInvLogit, nil, g.Mul(p[1], logQuotient(g, y, p[0], p[1])))
	},
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref {
		return g.Mul(p[0], g.Exp(g.Div(g.Do(ad.OpLogit, nil, q), p[1])))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		u := uniformOpen(rng)
		return p[0] * math.Pow(u/(1-u), 1/p[1])
	},
}
