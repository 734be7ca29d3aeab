package stdlib

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: distributions of counts. Formulas are those of Johnson, Kemp & Kotz, Univariate
// Discrete Distributions (3rd ed.), in Stan's parametrisation.

// weightedLog returns n·log x (with lg OpLog) or n·log(1-x) (with lg OpLog1m) for a count n. It is
// 0 where n is 0, even if the logarithm is infinite. If x is the same for many counts, its
// logarithm is computed once. The logarithm of a logistic function shares its exponential.
func weightedLog(g *ad.Graph, lg ad.OpCode, n, x ad.Ref) ad.Ref {
	v, known := g.Value(n)
	if known && !slices.ContainsFunc(v, func(v float64) bool { return v != 0 }) {
		return n
	}
	if narrower(g, x, n) || known && (g.Nodes[x].Op == ad.OpInvLogit || !slices.Contains(v, 0)) {
		return weighted(g, n, g.Do(lg, nil, x))
	}
	if lg == ad.OpLog {
		return g.Do(ad.OpXLogY, nil, n, x)
	}
	return g.Do(ad.OpXLog1mY, nil, n, x)
}

// weighted returns n·v for a count n, and 0 where n is 0 even if v is infinite.
func weighted(g *ad.Graph, n, v ad.Ref) ad.Ref {
	if c, ok := g.Value(n); ok && !slices.Contains(c, 0) {
		return g.Mul(n, v)
	}
	zero := g.Const(0)
	return g.Select(g.Equal(n, zero), zero, g.Mul(n, v))
}

// narrower reports whether x has fewer elements or lanes than n, over which it is repeated.
func narrower(g *ad.Graph, x, n ad.Ref) bool {
	t, u := g.Type(x), g.Type(n)
	return len(t.Shape) < len(u.Shape) || t.Lanes < u.Lanes
}

// pooled replaces the counts of an array by their sum, if they share the parameter x. total reports
// whether it did; n is the number of counts.
func pooled(g *ad.Graph, y, x ad.Ref) (sum ad.Ref, n float64, total bool) {
	if t := g.Type(y); len(t.Shape) > 0 && g.Type(x).IsScalar() {
		return g.Sum(y), float64(t.Size()), true
	}
	return y, 1, false
}

// logFactorial returns the addend -log n!, which only `target +=` keeps.
func logFactorial(g *ad.Graph, n ad.Ref) Term {
	return Term{Make: func() ad.Ref { return g.Lgamma(plus(g, n, 1)) }, Weight: -1, Of: ofY}
}

// Parameters that several distributions of counts have.
var (
	probability = Param{Name: "theta", Is: "Probability parameter", In: types.UnitInterval}
	trials      = Param{Name: "N", Is: "Population size parameter", In: types.NonNegative, Int: true}
)

func randBernoulli(rng *rand.Rand, p float64) float64 {
	if rng.Float64() < p {
		return 1
	}
	return 0
}

var bernoulli = Dist{
	Name: "bernoulli", Doc: "the Bernoulli distribution with probability theta of 1.", Discrete: true,
	Formula:     "theta^y * (1 - theta)^(1 - y)",
	Mean:        "theta",
	Variance:    "theta * (1 - theta)",
	Link:        "logit(theta)",
	Information: ofMass(2, func(g *ad.Graph, x []ad.Ref) ad.Ref { return g.Inv(bernoulliVariance(g, x[1])) }),
	Variate:     types.UnitInterval,
	Params:      []Param{probability},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		theta := p[0]
		if sum, n, total := pooled(g, y, theta); total {
			fails := g.Sub(g.Const(n), sum)
			v := g.Add(weightedLog(g, ad.OpLog, sum, theta), weightedLog(g, ad.OpLog1m, fails, theta))
			return []Term{{Value: v, Of: always, Total: true}}
		}
		if v, ok := g.Value(y); ok && len(v) == 1 {
			return []Term{{Value: g.Do(map[bool]ad.OpCode{true: ad.OpLog, false: ad.OpLog1m}[v[0] != 0], nil, theta), Of: always}}
		}
		if narrower(g, theta, y) {
			return []Term{{Value: g.Select(y, g.Log(theta), g.Do(ad.OpLog1m, nil, theta)), Of: always}}
		}
		return []Term{{Value: g.Log(g.Select(y, theta, g.Sub(g.Const(1), theta))), Of: always}}
	},
	CDFVariate: types.NotNaN,
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return step3(g, y, g.Const(negInf), g.Do(ad.OpLog1m, nil, p[0]), g.Const(0))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return step3(g, y, g.Const(0), g.Log(p[0]), g.Const(negInf))
	},
	Rand:     func(rng *rand.Rand, p []float64) float64 { return randBernoulli(rng, p[0]) },
	Examples: []Example{{Call: "bernoulli_lpmf(1 | 0.25)", Value: "log(0.25)"}},
}

// step3 returns a for y < 0, b for 0 ≤ y < 1, and c for y ≥ 1.
func step3(g *ad.Graph, y, a, b, c ad.Ref) ad.Ref {
	return g.Select(g.Less(y, g.Const(0)), a, g.Select(g.Less(y, g.Const(1)), b, c))
}

// countTail returns a (complementary) log distribution function of counts: below for y < 0, above
// for y ≥ most (if there is a largest count), otherwise inside, which receives a count in the
// range.
func countTail(g *ad.Graph, y, most, below, above ad.Ref, inside func(y ad.Ref) ad.Ref) ad.Ref {
	v, known := g.Value(y)
	zero := g.Const(0)
	negative := g.Less(y, zero)
	if most == ad.None {
		if known && !slices.ContainsFunc(v, func(x float64) bool { return x < 0 }) {
			return inside(y)
		}
		return g.Select(negative, below, inside(g.Select(negative, zero, y)))
	}
	over := g.Do(ad.OpLessEqual, nil, most, y)
	out := g.Do(ad.OpMax, nil, negative, over)
	// Where y is replaced by 0, N = 0 makes a parameter of the beta function 0. The value is then
	// NaN, but it is not used.
	return g.Select(out, g.Select(negative, below, above), inside(g.Select(out, zero, y)))
}

// zeroTail returns the log probability of at most y or, with upper, of more. If every y is known to
// be 0, as in a distribution truncated to positive counts, it uses the closed form from the
// probability of 0, which is accurate and takes a fraction of the time. Otherwise it uses general.
func zeroTail(g *ad.Graph, y ad.Ref, upper bool, ofZero, general func() ad.Ref) ad.Ref {
	v, known := g.Value(y)
	switch {
	case !known || slices.ContainsFunc(v, func(x float64) bool { return x != 0 }):
		return general()
	case upper:
		return g.Do(ad.OpLog1mExp, nil, ofZero())
	}
	return ofZero()
}

var bernoulliLogit = Dist{
	Name: "bernoulli_logit", Doc: "the Bernoulli distribution with log odds alpha of 1.", Discrete: true,
	Formula:     "inv_logit(alpha)^y * (1 - inv_logit(alpha))^(1 - y)",
	Mean:        "inv_logit(alpha)",
	Variance:    "inv_logit(alpha) * inv_logit(-alpha)",
	Link:        "alpha",
	Information: ofMass(2, func(g *ad.Graph, x []ad.Ref) ad.Ref { return logitVariance(g, x[1]) }),
	Variate:     types.UnitInterval,
	Params:      []Param{{Name: "alpha", Is: "Logit transformed probability parameter", In: types.NotNaN}},
	// This is log inv_logit(±α) = -log(1 + e^∓α).
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		if sum, n, total := pooled(g, y, p[0]); total {
			v := g.Add(weighted(g, sum, g.Do(ad.OpLogInvLogit, nil, p[0])),
				weighted(g, g.Sub(g.Const(n), sum), g.Do(ad.OpLog1mInvLogit, nil, p[0])))
			return []Term{{Value: v, Of: always, Total: true}}
		}
		sign := g.Sub(g.Const(1), g.Scale(2, y))
		return []Term{{Value: g.Do(ad.OpLog1pExp, nil, g.Mul(sign, p[0])), Weight: -1, Of: always}}
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return randBernoulli(rng, 1/(1+math.Exp(-p[0]))) },
}

// logCombinations returns the addend log(N choose n), which depends on data only.
func logCombinations(g *ad.Graph, y, n ad.Ref) Term {
	return Term{Make: func() ad.Ref { return g.Do(ad.OpLchoose, nil, n, y) }, Of: ofY | of1st}
}

var binomial = Dist{
	Name: "binomial", Doc: "the binomial distribution of N trials with probability theta.", Discrete: true,
	Formula:     "choose(N, y) * theta^y * (1 - theta)^(N - y)",
	Mean:        "N * theta",
	Variance:    "N * theta * (1 - theta)",
	Link:        "logit(theta)",
	Information: ofMass(3, func(g *ad.Graph, x []ad.Ref) ad.Ref { return g.Div(x[1], bernoulliVariance(g, x[2])) }),
	Variate:     types.NonNegative,
	Params:      []Param{trials, probability},
	Relations:   []Relation{{Arg: 1, Than: 0}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		n, theta := p[0], p[1]
		return []Term{
			logCombinations(g, y, n),
			{Value: weightedLog(g, ad.OpLog, y, theta), Of: always},
			{Value: weightedLog(g, ad.OpLog1m, g.Sub(n, y), theta), Of: always},
		}
	},
	CDFVariate: types.NotNaN,
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return countTail(g, y, p[0], g.Const(negInf), g.Const(0), func(y ad.Ref) ad.Ref {
			return log1mBetaI(g, p[1], plus(g, y, 1), g.Sub(p[0], y))
		})
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return countTail(g, y, p[0], g.Const(0), g.Const(negInf), func(y ad.Ref) ad.Ref {
			return logBetaI(g, p[1], plus(g, y, 1), g.Sub(p[0], y))
		})
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return randBinomial(rng, p[0], p[1]) },
}

var binomialLogit = Dist{
	Name: "binomial_logit", Doc: "the binomial distribution of N trials with log odds alpha.", Discrete: true,
	Formula:     "choose(N, y) * inv_logit(alpha)^y * (1 - inv_logit(alpha))^(N - y)",
	Mean:        "N * inv_logit(alpha)",
	Variance:    "N * inv_logit(alpha) * inv_logit(-alpha)",
	Link:        "alpha",
	Information: ofMass(3, func(g *ad.Graph, x []ad.Ref) ad.Ref { return g.Mul(x[1], logitVariance(g, x[2])) }),
	Variate:     types.NonNegative,
	Params:      []Param{trials, {Name: "alpha", Is: "Probability parameter", In: types.Finite}},
	Relations:   []Relation{{Arg: 1, Than: 0}},
	// n log inv_logit(α) + (N-n) log inv_logit(-α) is nα - N log(1 + e^α). For large α the
	// difference is computed in the smaller tail.
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		n, alpha := p[0], p[1]
		kernel := g.Add(g.Mul(y, g.Do(ad.OpLogInvLogit, nil, alpha)), g.Mul(g.Sub(n, y), g.Do(ad.OpLog1mInvLogit, nil, alpha)))
		return []Term{logCombinations(g, y, n), {Value: kernel, Of: always}}
	},
}

// greatestRate is the greatest rate for which counts can be drawn, as in Stan.
const greatestRate = 1 << 30

var (
	drawnRate    = types.Constraint{Text: "nonnegative and less than 2^30", Hi: greatestRate, HiOpen: true}
	drawnLogRate = types.Constraint{Text: "less than 30 log 2", Lo: negInf, Hi: 30 * math.Ln2, HiOpen: true}
	drawnMean    = types.Constraint{Text: "positive and less than 2^30", Hi: greatestRate, LoOpen: true, HiOpen: true}
	drawnLogMean = types.Constraint{Text: "finite and less than 30 log 2", Lo: negInf, Hi: 30 * math.Ln2, LoOpen: true, HiOpen: true}
)

// loggedRate returns the rate whose logarithm enters the mass. An infinite rate is replaced by a
// finite one, so that y log λ - λ is -∞ there instead of NaN. The logarithm of an exponential is
// its argument, which is finite.
func loggedRate(g *ad.Graph, lambda ad.Ref) ad.Ref {
	if g.Nodes[lambda].Op == ad.OpExp {
		return lambda
	}
	return g.Do(ad.OpMin, nil, lambda, g.Const(math.MaxFloat64))
}

// mayBeInfinite reports whether x, which is not NaN, may be +∞ although parameters and data are of
// moderate size. Sums and products count as finite if their operands are, so linear predictors are
// recognised at once. Operands more than depth ops away count as finite.
func mayBeInfinite(g *ad.Graph, x ad.Ref, depth int) bool {
	n := &g.Nodes[x]
	switch n.Op {
	case ad.OpConst:
		return slices.Contains(n.Data, math.Inf(1)) || slices.Contains(n.Data, negInf)
	case ad.OpInput:
		return false
	case ad.OpNeg, ad.OpAdd, ad.OpSub, ad.OpMul, ad.OpMatMul, ad.OpGather, ad.OpScatter, ad.OpReshape, ad.OpConcat:
		return depth > 0 && slices.ContainsFunc(n.Args, func(a ad.Ref) bool { return mayBeInfinite(g, a, depth-1) })
	}
	return true
}

var poisson = Dist{
	Name: "poisson", Doc: "the Poisson distribution with rate lambda.", Discrete: true,
	Formula:     "lambda^y * exp(-lambda) / tgamma(y + 1)",
	Mean:        "lambda",
	Variance:    "lambda",
	Link:        "log(lambda)",
	Information: ofMass(2, func(g *ad.Graph, x []ad.Ref) ad.Ref { return g.Inv(x[1]) }),
	Variate:     types.NonNegative,
	Params:      []Param{{Name: "lambda", Is: "Rate parameter", In: types.NonNegative, Draws: drawnRate}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		sum, _, total := pooled(g, y, p[0])
		return []Term{
			{Value: weightedLog(g, ad.OpLog, sum, loggedRate(g, p[0])), Of: always, Total: total},
			{Value: p[0], Weight: -1, Of: of1st},
			logFactorial(g, y),
		}
	},
	CDFVariate: types.NotNaN,
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return zeroTail(g, y, false, func() ad.Ref { return g.Neg(p[0]) }, func() ad.Ref {
			return countTail(g, y, ad.None, g.Const(negInf), ad.None, func(y ad.Ref) ad.Ref { return logGammaQ(g, plus(g, y, 1), p[0]) })
		})
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return zeroTail(g, y, true, func() ad.Ref { return g.Neg(p[0]) }, func() ad.Ref {
			return countTail(g, y, ad.None, g.Const(0), ad.None, func(y ad.Ref) ad.Ref { return logGammaP(g, plus(g, y, 1), p[0]) })
		})
	},
	Rand:     func(rng *rand.Rand, p []float64) float64 { return randPoisson(rng, p[0]) },
	Examples: []Example{{Call: "poisson_lpmf(0 | 2)", Value: "-2"}},
}

var poissonLog = Dist{
	Name: "poisson_log", Doc: "the Poisson distribution with log rate alpha.", Discrete: true,
	Formula:     "exp(alpha * y - exp(alpha)) / tgamma(y + 1)",
	Mean:        "exp(alpha)",
	Variance:    "exp(alpha)",
	Link:        "alpha",
	Information: ofMass(2, func(g *ad.Graph, x []ad.Ref) ad.Ref { return g.Exp(x[1]) }),
	Variate:     types.NonNegative,
	Params:      []Param{{Name: "alpha", Is: "Log rate parameter", In: types.NotNaN, Draws: drawnLogRate}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		sum, _, total := pooled(g, y, p[0])
		alpha, rate := p[0], g.Exp(p[0])
		times := g.Mul
		if mayBeInfinite(g, alpha, 4) { // if the rate is infinite, the mass is 0 for all y
			finite := g.Less(alpha, g.Const(math.Inf(1)))
			alpha = g.Select(finite, alpha, g.Const(0))
			rate = g.Select(finite, g.Exp(alpha), g.Const(math.Inf(1)))
			// The rate may be 0, with no counts.
			times = func(n, v ad.Ref) ad.Ref { return weighted(g, n, v) }
		}
		return []Term{
			{Value: times(sum, alpha), Of: always, Total: total},
			{Value: rate, Weight: -1, Of: of1st},
			logFactorial(g, y),
		}
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return randPoisson(rng, math.Exp(p[0])) },
}

var precision = Param{Name: "phi", Is: "Precision parameter", In: types.PositiveFinite}

// combinations returns log Γ(n+φ) - log Γ(φ) - log n! = log (n+φ-1 choose n).
func combinations(g *ad.Graph, n, phi ad.Ref, of uint) Term {
	return Term{Value: g.Do(ad.OpLmultichoose, nil, phi, n), Of: of}
}

// logRising returns log Γ(x+n)/Γ(x), without cancellation for large x.
func logRising(g *ad.Graph, x, n ad.Ref) ad.Ref {
	return g.Add(g.Do(ad.OpLmultichoose, nil, x, n), g.Lgamma(plus(g, n, 1)))
}

// log1pRatio returns log(1 + x/y) for positive numbers. Where the quotient is large, it avoids it,
// because it or its derivative may overflow.
func log1pRatio(g *ad.Graph, x, y ad.Ref) ad.Ref {
	large := g.Less(y, x)
	return g.Select(large, g.Sub(g.Log(g.Add(x, y)), g.Log(y)), g.Do(ad.OpLog1p, nil, g.Div(g.Select(large, y, x), y)))
}

// failures returns the log probability of at most y failures before r successes, or of more, for
// the probability p of success and q = 1-p of failure. It is computed from the smaller of p and q,
// because the difference of the other from 1 has lost digits.
func failures(g *ad.Graph, y, r, p, q ad.Ref, atMost bool) ad.Ref {
	n := plus(g, y, 1)
	if atMost {
		return g.Select(g.Less(p, q), logBetaI(g, p, r, n), log1mBetaI(g, q, n, r))
	}
	return g.Select(g.Less(q, p), logBetaI(g, q, n, r), log1mBetaI(g, p, r, n))
}

var negBinomial = Dist{
	Name: "neg_binomial", Doc: "the negative binomial distribution with shape alpha and inverse scale beta.", Discrete: true,
	Formula:  "tgamma(y + alpha) / (tgamma(y + 1) * tgamma(alpha)) * (beta / (beta + 1))^alpha * (1 / (beta + 1))^y",
	Mean:     "alpha / beta",
	Variance: "alpha * (beta + 1) / beta^2",
	Link:     "log(alpha) - log(beta)",
	Variate:  types.NonNegative, Information: ofNegBinomial,
	Params: []Param{shapeParam, inverseRate},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		a, b := p[0], p[1]
		kernel := g.Add(g.Mul(a, log1pRatio(g, g.Const(1), b)), g.Mul(y, g.Do(ad.OpLog1p, nil, b)))
		return []Term{combinations(g, y, a, of1st), {Value: kernel, Weight: -1, Of: always}}
	},
	CDFVariate: types.NotNaN,
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return zeroTail(g, y, false, func() ad.Ref { return g.Neg(g.Mul(p[0], log1pRatio(g, g.Const(1), p[1]))) }, func() ad.Ref {
			return countTail(g, y, ad.None, g.Const(negInf), ad.None, func(y ad.Ref) ad.Ref {
				return failures(g, y, p[0], g.Div(p[1], plus(g, p[1], 1)), g.Inv(plus(g, p[1], 1)), true)
			})
		})
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return zeroTail(g, y, true, func() ad.Ref { return g.Neg(g.Mul(p[0], log1pRatio(g, g.Const(1), p[1]))) }, func() ad.Ref {
			return countTail(g, y, ad.None, g.Const(0), ad.None, func(y ad.Ref) ad.Ref {
				return failures(g, y, p[0], g.Div(p[1], plus(g, p[1], 1)), g.Inv(plus(g, p[1], 1)), false)
			})
		})
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return randPoisson(rng, randGamma(rng, p[0])/p[1]) },
}

var negBinomial2 = Dist{
	Name: "neg_binomial_2", Doc: "the negative binomial distribution with mean mu and precision phi.", Discrete: true,
	Formula:  "tgamma(y + phi) / (tgamma(y + 1) * tgamma(phi)) * (mu / (mu + phi))^y * (phi / (mu + phi))^phi",
	Mean:     "mu",
	Variance: "mu + mu^2 / phi",
	Link:     "log(mu)",
	Variate:  types.NonNegative, Information: ofNegBinomial2,
	Params: []Param{{Name: "mu", Is: "Location parameter", In: types.PositiveFinite, Draws: drawnMean}, precision},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		mu, phi := p[0], p[1]
		all := g.Add(mu, phi)
		w, log1p := g.Inv(all), g.Do(ad.OpLog1p, nil, g.Div(mu, phi))
		// The quotient may overflow if phi is small.
		if v, known := g.Value(phi); !known || slices.Min(v) < 1 {
			log1p = g.Select(g.Less(g.Scale(1e300, phi), mu), g.Sub(g.Log(all), g.Log(phi)), log1p)
		}
		byMu := g.Mul(g.Div(g.Sub(y, mu), mu), g.Mul(phi, w))
		return withSlopes(g, y, mu, byMu, phi, g.Mul(mu, w), log1p, []Term{
			combinations(g, y, phi, of2nd),
			{Value: g.Mul(y, g.Log(mu)), Of: of1st},
			{Value: g.Add(g.Mul(phi, log1p), g.Mul(y, g.Log(all))), Weight: -1, Of: always},
		})
	},
	CDFVariate: types.NotNaN,
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return zeroTail(g, y, false, func() ad.Ref { return g.Neg(negBinomial2Zero(g, p)) }, func() ad.Ref {
			return countTail(g, y, ad.None, g.Const(negInf), ad.None, func(y ad.Ref) ad.Ref { return negBinomial2Tail(g, y, p, true) })
		})
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return zeroTail(g, y, true, func() ad.Ref { return g.Neg(negBinomial2Zero(g, p)) }, func() ad.Ref {
			return countTail(g, y, ad.None, g.Const(0), ad.None, func(y ad.Ref) ad.Ref { return negBinomial2Tail(g, y, p, false) })
		})
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return randPoisson(rng, p[0]*randGamma(rng, p[1])/p[1]) },
}

// negBinomial2Zero returns minus the log probability of 0, φ log(1 + μ/φ). Its derivative with
// respect to φ is of the size of 1/φ², where the derivatives of its factors cancel.
func negBinomial2Zero(g *ad.Graph, p []ad.Ref) ad.Ref {
	mu, phi := p[0], p[1]
	log := log1pRatio(g, mu, phi)
	v := g.Mul(phi, log)
	if _, known := g.Value(phi); known {
		return v
	}
	all := g.Add(mu, phi)
	byPhi := g.Do(ad.OpLogGap, nil, g.Div(mu, all), log)
	return g.Add(g.Detach(v), g.Add(g.Slope(mu, g.Div(phi, all)), g.Slope(phi, byPhi)))
}

// negBinomial2Tail returns the log probability of at most y or of more. The derivative with respect
// to φ, at a fixed mean, is an ad.OpSlope: through the shape and the probability of success it
// would cancel.
func negBinomial2Tail(g *ad.Graph, y ad.Ref, p []ad.Ref, atMost bool) ad.Ref {
	mu, phi := p[0], p[1]
	tail := func(phi ad.Ref) ad.Ref {
		all := g.Add(mu, phi)
		return failures(g, y, phi, g.Div(phi, all), g.Div(mu, all), atMost)
	}
	if _, known := g.Value(phi); known {
		return tail(phi)
	}
	op := ad.OpLogFailuresPhic
	if atMost {
		op = ad.OpLogFailuresPhi
	}
	return g.Add(tail(g.Detach(phi)), g.Slope(phi, g.Do(op, nil, mu, phi, plus(g, y, 1))))
}

// The derivative of the log mass of neg_binomial_2 with respect to φ is, with t = μ/(μ+φ),
//
//	ψ(φ+n) - ψ(φ) - n/φ + log(1-t) + t + nt/φ.
//
// These are terms of the size of 1/φ². The addends of the mass have derivatives of the size of 1/φ,
// which cancel. So derivatives treat the addends as constants, and slopes are added to them: one
// has the first three terms, which depend on the count and φ only, another has the others. Below φ
// = 1, n/φ would cancel.

// withSlopes returns the addends of the mass with these slopes, given t, l = -log(1-t) and the
// derivative with respect to the location (byMu). If φ is known, it needs no slope.
func withSlopes(g *ad.Graph, n, mu, byMu, phi, t, l ad.Ref, terms []Term) []Term {
	if _, known := g.Value(phi); known {
		return terms
	}
	for i := range terms {
		terms[i].Value = g.Detach(terms[i].Value)
	}
	byPhi := g.Sub(g.Mul(g.Div(n, phi), g.Sub(t, g.Less(phi, g.Const(1)))), g.Do(ad.OpLogGap, nil, t, l))
	return append(terms,
		Term{Value: g.Slope(phi, g.Do(ad.OpDigammaGap, nil, phi, n)), Of: of1st | of2nd},
		Term{Value: g.Add(g.Slope(mu, byMu), g.Slope(phi, byPhi)), Of: of1st | of2nd})
}

// withLogSlopes is withSlopes for the logarithm η of the location, with l = log(1+μ/φ).
func withLogSlopes(g *ad.Graph, n, eta, phi, odds, l ad.Ref, terms []Term) []Term {
	t := g.Do(ad.OpInvLogit, nil, odds)
	return withSlopes(g, n, eta, g.Sub(n, g.Mul(g.Add(n, phi), t)), phi, t, l, terms)
}

var negBinomial2Log = Dist{
	Name: "neg_binomial_2_log", Doc: "the negative binomial distribution with log mean eta and precision phi.", Discrete: true,
	Formula:  "tgamma(y + phi) / (tgamma(y + 1) * tgamma(phi)) * (exp(eta) / (exp(eta) + phi))^y * (phi / (exp(eta) + phi))^phi",
	Mean:     "exp(eta)",
	Variance: "exp(eta) + exp(2 * eta) / phi",
	Link:     "eta",
	Variate:  types.NonNegative, Information: ofNegBinomial2Log,
	Params: []Param{{Name: "eta", Is: "Log location parameter", In: types.Finite, Draws: drawnLogMean}, precision},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		eta, phi := p[0], p[1]
		logPhi := g.Log(phi)
		odds := g.Sub(eta, logPhi)
		log1p := g.Do(ad.OpLog1pExp, nil, odds)
		return withLogSlopes(g, y, eta, phi, odds, log1p, []Term{
			combinations(g, y, phi, of2nd),
			{Value: g.Mul(y, eta), Of: of1st},
			{Value: g.Add(g.Mul(phi, log1p), g.Mul(y, g.Add(logPhi, log1p))), Weight: -1, Of: always},
		})
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		return randPoisson(rng, math.Exp(p[0])*randGamma(rng, p[1])/p[1])
	},
}

var discreteRange = Dist{
	Name: "discrete_range", Doc: "the uniform distribution on the ints from lower to upper.", Discrete: true,
	Formula:  "1.0 / (upper - lower + 1)",
	Mean:     "0.5 * (lower + upper)",
	Variance: "((upper - lower + 1.0)^2 - 1) / 12",
	Params: []Param{{Name: "lower", Is: "Lower bound parameter", In: types.NotNaN, Int: true},
		{Name: "upper", Is: "Upper bound parameter", In: types.NotNaN, Int: true}},
	Relations: []Relation{{Arg: 2, Than: 1}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		out := g.Do(ad.OpMax, nil, g.Less(y, p[0]), g.Less(p[1], y))
		return []Term{{Value: g.Log(rangeSize(g, p)), Weight: -1, Of: ofY}, outside(g, out)}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return logPart(g, plus(g, g.Sub(y, p[0]), 1), g.Sub(p[1], y))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return logPart(g, g.Sub(p[1], y), plus(g, g.Sub(y, p[0]), 1))
	},
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref {
		return plus(g, g.Add(p[0], g.Do(ad.OpCeil, nil, g.Mul(q, rangeSize(g, p)))), -1)
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		return p[0] + math.Floor(rng.Float64()*(p[1]-p[0]+1))
	},
}

// rangeSize returns upper - lower + 1.
func rangeSize(g *ad.Graph, p []ad.Ref) ad.Ref { return plus(g, g.Sub(p[1], p[0]), 1) }

// hypergeometrics declares the distribution of the number of successes among N draws without
// replacement from a successes and b failures. All its parameters are ints, so ~ drops all of it.
func hypergeometrics() []Func {
	const doc = "the number of successes among N draws without replacement from a successes and b failures."
	in := []types.Constraint{drawnFrom(0, 3), drawnFrom(4, 6), drawnFrom(4, 8), drawnFrom(7, 9)}
	one := types.Just(tInt)
	valid := func(b *Builder, bad ad.Ref, what string) {
		rejectIf(b.G, bad, b.Name+": "+what)
	}
	return []Func{
		density("hypergeometric_lpmf", "The logarithm of the mass of "+doc, []types.Set{one, one, one, one}, in, func(b *Builder, a []Arg) []ad.Ref {
			g := b.G
			n, draws, yes, no := a[0].Ref, a[1].Ref, a[2].Ref, a[3].Ref
			check(g, b.Name, "Successes variable", types.NonNegative, n)
			valid(b, g.Less(yes, n), "there are more successes than in the population")
			valid(b, g.Less(g.Sub(draws, n), g.Const(0)), "there are more successes than draws")
			valid(b, g.Less(no, g.Sub(draws, n)), "there are more failures than in the population")
			if b.Propto {
				return nil
			}
			// The mass is a ratio of binomial masses, for any probability p. If p is the overall
			// proportion, these masses are of the size of the result, unlike binomial coefficients.
			p := g.Div(plus(g, draws, 1), plus(g, g.Add(yes, no), 2))
			mass := func(n, k ad.Ref) ad.Ref { // log (n choose k) pᵏ(1-p)ⁿ⁻ᵏ, plus log p(1-p)
				l := g.Do(ad.OpLogBetaTerm, nil, p, plus(g, k, 1), plus(g, g.Sub(n, k), 1))
				return g.Sub(l, g.Log(plus(g, n, 1)))
			}
			rest := g.Add(g.Log(p), g.Do(ad.OpLog1m, nil, p))
			return []ad.Ref{mass(yes, n), mass(no, g.Sub(draws, n)), g.Neg(mass(g.Add(yes, no), draws)), g.Neg(rest)}
		}),
		fixed("hypergeometric_rng", "A draw of "+doc, tInt, list(tInt, tInt, tInt), func(b *Builder, a []Arg) ad.Ref {
			g := b.G
			for i, what := range []string{"Draws parameter", "Successes in population parameter", "Failures in population parameter"} {
				check(g, b.Name, what, types.NonNegative, a[i].Ref)
			}
			valid(b, g.Less(g.Add(a[1].Ref, a[2].Ref), a[0].Ref), "there are more draws than elements of the population")
			return b.random("hypergeometric", randHypergeometric, a[0].Ref, a[1].Ref, a[2].Ref)
		}).in(in[1:]...).with(func(f *Func) { f.Random = true }),
	}
}
