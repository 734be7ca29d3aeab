package stdlib

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/ad/kernel"
	"github.com/ppl-lang/ppl/ad/kernel/routines"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: distributions of counts with a random probability: beta-binomial, beta negative
// binomial, Yule-Simon.

var betaBinomial = Dist{
	Name: "beta_binomial", Doc: "the beta-binomial distribution of N trials with prior sample sizes alpha and beta.", Discrete: true,
	Formula:     "choose(N, y) * exp(lbeta(y + alpha, N - y + beta) - lbeta(alpha, beta))",
	Mean:        "N * alpha / (alpha + beta)",
	Variance:    "N * alpha * beta * (alpha + beta + N) / ((alpha + beta)^2 * (alpha + beta + 1))",
	Link:        "log(alpha) - log(beta)",
	Information: ofBetaBinomial,
	Params: []Param{trials,
		{Name: "alpha", Is: "First prior sample size parameter", In: types.PositiveFinite},
		{Name: "beta", Is: "Second prior sample size parameter", In: types.PositiveFinite}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		y, out := betaBinomialCount(g, y, p[0])
		sets := logCombinations(g, y, p[0])
		terms := append(betaBinomialTerms(g, y, p[0], p[1], p[2]), outside(g, out), sets)
		return append(terms, Term{Value: sets.Make(), Weight: -1, Of: always})
	},
	Whole: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		y, out := betaBinomialCount(g, y, p[0])
		return append(betaBinomialTerms(g, y, p[0], p[1], p[2]), outside(g, out))
	},
	CDFVariate: types.NotNaN,
	CDFCounts:  true,
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return countTail(g, y, p[0], g.Const(negInf), g.Const(0), func(y ad.Ref) ad.Ref {
			return betaBinomialBelow(g, y, p[0], p[1], p[2])
		})
	},
	// Exchange successes and failures.
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return countTail(g, y, p[0], g.Const(0), g.Const(negInf), func(y ad.Ref) ad.Ref {
			return betaBinomialBelow(g, plus(g, g.Sub(p[0], y), -1), p[0], p[2], p[1])
		})
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		return randBinomial(rng, p[0], randBeta(rng, p[1], p[2]))
	},
}

// betaBinomialCount returns y, or 0 where y is not in 0..N; out marks these elements.
func betaBinomialCount(g *ad.Graph, y, n ad.Ref) (count, out ad.Ref) {
	zero := g.Const(0)
	out = g.Do(ad.OpMax, nil, g.Less(y, zero), g.Less(n, y))
	return g.Select(out, zero, y), out
}

// betaBinomialTerms returns the addends of the log mass at y. They are logarithms of numbers of
// multisets, which cancel less than gamma functions.
func betaBinomialTerms(g *ad.Graph, y, n, a, b ad.Ref) []Term {
	sets := op2(ad.OpLmultichoose)
	return []Term{
		{Value: sets(g, a, y), Of: always},
		{Value: sets(g, b, g.Sub(n, y)), Of: always},
		{Value: sets(g, g.Add(a, b), n), Weight: -1, Of: always},
	}
}

// betaBinomialMass returns the log mass at y, the sum of betaBinomialTerms.
func betaBinomialMass(g *ad.Graph, y, n, a, b ad.Ref) ad.Ref {
	t := betaBinomialTerms(g, y, n, a, b)
	return g.Sub(g.Add(t[0].Value, t[1].Value), t[2].Value)
}

// maxSummed is the maximum number of masses that a distribution function sums; beyond it, the
// function is an integral.
const maxSummed = 2000

// manyCounts reports whether a count in y is beyond maxSummed.
func manyCounts(g *ad.Graph, y ad.Ref) bool {
	v, ok := g.Value(y)
	return ok && len(v) > 0 && slices.Max(v) > maxSummed
}

// betaBinomialBelow returns the log probability of at most y successes. It is a sum of masses, or
// the probability that the success probability is less than the order statistic y+1 of n uniform
// variates.
func betaBinomialBelow(g *ad.Graph, y, n, a, b ad.Ref) ad.Ref {
	fails := plus(g, g.Sub(n, y), -1)
	if manyCounts(g, y) || manyCounts(g, fails) {
		successes, rest := plus(g, y, 1), g.Sub(n, y)
		return smallerTail(g, logBetaLess(g, a, b, successes, rest), logBetaLess(g, b, a, rest, successes))
	}
	return smallerTail(g, betaBinomialSum(g, y, n, a, b), betaBinomialSum(g, fails, n, b, a))
}

func betaBinomialSum(g *ad.Graph, y, n, a, b ad.Ref) ad.Ref {
	return logSumCounts(g, y, []ad.Ref{n, a, b}, func(k ad.Ref, p []ad.Ref) ad.Ref {
		// Beyond N nothing is summed, and N replaces k.
		return betaBinomialMass(g, g.Do(ad.OpMin, nil, k, p[0]), p[0], p[1], p[2])
	})
}

// smallerTail returns the log probability l. Where the probability is above ½, it computes l from
// the logarithm of the complement, which is accurate there.
func smallerTail(g *ad.Graph, l, complement ad.Ref) ad.Ref {
	small := g.Less(l, g.Const(-math.Ln2))
	return g.Select(small, l, g.Do(ad.OpLog1mExp, nil, g.Select(small, g.Const(-1), complement)))
}

// logSumCounts returns the logarithm of the sum of the masses at 0, 1, …, y, for known y that may
// differ between elements and lanes. mass receives counts and arguments of one shape.
func logSumCounts(g *ad.Graph, y ad.Ref, p []ad.Ref, mass func(k ad.Ref, p []ad.Ref) ad.Ref) ad.Ref {
	most := 0.
	if v, ok := g.Value(y); ok && len(v) > 0 {
		most = max(0, slices.Max(v))
	}
	args := append([]ad.Ref{y}, p...)
	return logSumNodes(g, int(most)+1, args, func(row func(v []float64) ad.Ref, args []ad.Ref) ad.Ref {
		counts := make([]float64, int(most)+1)
		for i := range counts {
			counts[i] = float64(i)
		}
		k := row(counts)
		return g.Select(g.Less(args[0], k), g.Const(negInf), mass(k, args[1:]))
	})
}

// logSumNodes returns the logarithm of the sum of exp(f) at n nodes, where f may differ between
// elements and lanes. f receives arguments of one shape, and row, which gives one number per node
// that shape.
func logSumNodes(g *ad.Graph, n int, args []ad.Ref, f func(row func(v []float64) ad.Ref, args []ad.Ref) ad.Ref) ad.Ref {
	elements := -1 // number of elements, if the arguments are containers
	for _, r := range args {
		if s := g.Type(r).Shape; len(s) > 0 {
			elements = s[0]
		}
	}
	row := func(v []float64) ad.Ref {
		r := g.ConstArray(ad.Type{Shape: []int{n}}, v)
		if elements >= 0 {
			r = alongRows(g, r, []int{elements, n})
		}
		return r
	}
	wide := make([]ad.Ref, len(args))
	for i, r := range args {
		if wide[i] = r; len(g.Type(r).Shape) > 0 {
			wide[i] = alongCols(g, r, []int{elements, n})
		}
	}
	return g.LogSumExp(f(row, wide))
}

var betaNegBinomial = Dist{
	Name: "beta_neg_binomial", Discrete: true,
	Formula:  "exp(lbeta(y + r, alpha + beta) - lbeta(r, alpha)) * tgamma(y + beta) / (tgamma(beta) * tgamma(y + 1))",
	Mean:     "alpha > 1 ? r * beta / (alpha - 1) : positive_infinity()",
	Variance: "alpha > 2 ? r * (alpha + r - 1) * beta * (alpha + beta - 1) / ((alpha - 2) * (alpha - 1)^2) : positive_infinity()",
	Doc:      "the beta negative binomial distribution: of failures before r successes, with prior sample sizes alpha of successes and beta of failures.",
	Variate:  types.NonNegative,
	Params: []Param{{Name: "r", Is: "Number of successes parameter", In: types.PositiveFinite},
		{Name: "alpha", Is: "Prior success parameter", In: types.PositiveFinite},
		{Name: "beta", Is: "Prior failure parameter", In: types.PositiveFinite}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		return []Term{{Value: betaNegBinomialKernel(g, y, p), Of: always}, logFactorial(g, y)}
	},
	CDFVariate: types.NotNaN,
	CDFCounts:  true,
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return countTail(g, y, ad.None, g.Const(negInf), ad.None, func(y ad.Ref) ad.Ref {
			below, above := betaNegBinomialTails(g, y, p)
			return smallerTail(g, below, above)
		})
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return countTail(g, y, ad.None, g.Const(0), ad.None, func(y ad.Ref) ad.Ref {
			below, above := betaNegBinomialTails(g, y, p)
			if manyCounts(g, y) {
				return smallerTail(g, above, below)
			}
			return above
		})
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		logRate := randLogOdds(rng, p[2], p[1]) + randLogGamma(rng, p[0])
		// +Inf - Inf: the odds of failure overflow, and the gamma draw underflows.
		if math.IsNaN(logRate) {
			logRate = moreOften(rng, p[0], p[1])
		}
		return randPoisson(rng, math.Exp(logRate))
	},
}

// betaNegBinomialKernel returns log Γ(β+n)/Γ(β) B(r+n, α+β)/B(r, α).
func betaNegBinomialKernel(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
	r, a, b := p[0], p[1], p[2]
	all := g.Add(g.Add(r, a), b)
	v := g.Sub(g.Add(logRising(g, b, y), logRising(g, r, y)), logRising(g, all, y))
	// B(α+β, r)/B(α, r) = B(α+r, β)/B(α, β). With the smaller of r and β as the last argument,
	// large numbers do not cancel.
	less := g.Less(r, b)
	more, least := g.Select(less, b, r), g.Select(less, r, b)
	lbeta := op2(ad.OpLbeta)
	return g.Add(v, g.Sub(lbeta(g, g.Add(a, more), least), lbeta(g, a, least)))
}

// betaNegBinomialTails returns the log probabilities of at most y and of more than y. The first is
// the sum of the masses. The second is its complement, or the probability of more than 0 minus the
// masses at 1, 2, …, y, if less than three digits cancel; otherwise it is an integral. Beyond
// maxSummed both are integrals.
func betaNegBinomialTails(g *ad.Graph, y ad.Ref, p []ad.Ref) (below, above ad.Ref) {
	r, a, b, n := p[0], p[1], p[2], plus(g, y, 1)
	if manyCounts(g, y) {
		return logBetaLess(g, r, n, a, b), logBetaLess(g, a, b, r, n)
	}
	const part = 1e-3
	one, cut := g.Const(1), g.Const(math.Log1p(-part))
	// rest returns log(1 - exp(l)), where that is greater than log part.
	rest := func(l ad.Ref) (enough, of ad.Ref) {
		enough = g.Less(l, cut)
		return enough, g.Do(ad.OpLog1mExp, nil, g.Select(enough, l, g.Const(-1)))
	}
	less := g.Less(r, b)
	none := betaNegBinomialNone(g, a, g.Select(less, b, r), g.Select(less, r, b))
	some := g.Do(ad.OpLog1mExp, nil, none)
	positive := logSumCounts(g, y, p, func(k ad.Ref, p []ad.Ref) ad.Ref {
		zero := g.Equal(k, g.Const(0))
		k = g.Select(zero, one, k)
		return g.Select(zero, g.Const(negInf), g.Sub(betaNegBinomialKernel(g, k, p), g.Lgamma(plus(g, k, 1))))
	})
	zero := g.Equal(y, g.Const(0))
	below = g.Select(zero, none, g.Do(ad.OpLogAddExp, nil, none, g.Select(zero, one, positive)))
	enough, direct := rest(below)
	enoughOfSome, ofSome := rest(g.Sub(g.Select(zero, g.Const(-1), positive), g.Select(zero, g.Const(0), some)))
	ofSome = g.Add(some, g.Select(zero, g.Const(0), ofSome))
	far := g.Do(ad.OpNot, nil, g.Do(ad.OpMax, nil, enough, enoughOfSome))
	integral := whereAny(g, far, []ad.Ref{a, b, r, n}, func(g *ad.Graph, p []ad.Ref) ad.Ref {
		return logBetaLess(g, p[0], p[1], p[2], p[3])
	})
	return below, g.Select(enough, direct, g.Select(enoughOfSome, ofSome, integral))
}

// whereAny returns f of the arguments if an element of far is not 0, otherwise -1. Use it for an f
// that is rarely needed and takes long.
func whereAny(g *ad.Graph, far ad.Ref, args []ad.Ref, f func(g *ad.Graph, args []ad.Ref) ad.Ref) ad.Ref {
	then, otherwise := ad.NewGraph(), ad.NewGraph()
	inputs := make([]ad.Ref, len(args))
	for i, r := range args {
		t := ad.Type{Shape: g.Type(r).Shape}
		inputs[i] = then.Input(t)
		otherwise.Input(t)
	}
	out := f(then, inputs)
	then.Output(out)
	otherwise.Output(otherwise.Broadcast(otherwise.Const(-1), then.Type(out).Shape))
	any := far
	if len(g.Type(far).Shape) > 0 {
		any = g.Less(g.Const(0), g.Sum(far))
	}
	return g.Result(g.Do(ad.OpIf, &ad.If{Then: then, Else: otherwise}, append([]ad.Ref{any}, args...)...), 0)
}

// betaNegBinomialNone returns the log probability of 0, log Γ(a+m)Γ(a+l)/(Γ(a)Γ(a+m+l)) for l ≤ m.
// Where a is greater than l these cancel, and it computes the integral of ψ(a+t) - ψ(a+m+t) over t
// from 0 to l.
func betaNegBinomialNone(g *ad.Graph, a, more, least ad.Ref) ad.Ref {
	var nodes, weights []float64
	for _, node := range kernel.Legendre28 {
		nodes, weights = append(nodes, node[0]), append(weights, math.Log(node[1]))
	}
	mean := logSumNodes(g, len(nodes), []ad.Ref{a, more, least}, func(row func(v []float64) ad.Ref, args []ad.Ref) ad.Ref {
		rise := g.Do(ad.OpDigammaRise, nil, g.Add(args[0], g.Mul(args[2], row(nodes))), args[1])
		return g.Add(row(weights), g.Log(rise))
	})
	apart := g.Sub(g.Do(ad.OpLogRising, nil, a, least), g.Do(ad.OpLogRising, nil, g.Add(a, more), least))
	return g.Select(g.Less(a, least), apart, g.Neg(g.Mul(least, g.Exp(mean))))
}

// logBetaLess is the log probability that a Beta(a, b) variable is less than a Beta(r, n) variable,
// for small probabilities. The probability of more than y failures before r successes has the same
// form, with n = y+1 and a Beta(a, b) probability of success.
//
// It is an integral over the logit s of the second variable. The integrand is log-concave and close
// to the density of Beta(r+a, n+b). Gauss-Legendre rules cover the range where it is more than e⁻⁴⁰
// of its mode: one to the left, two around the mean, and one to the right. If r is small and b
// large, the function is nearly constant from the mean to where the density of Beta(r, n) ends; two
// more rules cover that range.
func logBetaLess(g *ad.Graph, a, b, r, n ad.Ref) ad.Ref {
	const left, near, after, plateau, bend, right, panels = 0, 1, 2, 3, 4, 5, 6
	rule := kernel.Legendre28[:]
	var weights []float64
	var starts, lengths [panels][]float64 // for each node, the start and length of each panel
	for panel := range panels {
		for _, node := range rule {
			for k := range panels {
				is := 0.0
				if k == panel {
					is = 1
				}
				starts[k], lengths[k] = append(starts[k], is), append(lengths[k], is*node[0])
			}
			weights = append(weights, math.Log(node[1]))
		}
	}
	return logSumNodes(g, len(weights), []ad.Ref{a, b, r, n}, func(row func(v []float64) ad.Ref, args []ad.Ref) ad.Ref {
		a, b, r, n := args[0], args[1], args[2], args[3]
		one, tiny := g.Const(1), g.Const(1e-290) // tiny is the length of an unused panel
		up, down := g.Add(r, a), g.Add(n, b)
		bulk := g.Do(ad.OpMax, nil, up, one)
		// The range is where the log density is within 40 of the mode: 40 is half its square
		// divided by the variance.
		width := g.Sqrt(g.Scale(80, g.Add(g.Inv(bulk), g.Inv(down))))
		mean := g.Log(g.Div(bulk, down))
		// Where the density of Beta(r, n) begins to end, approximately.
		last := plus(g, g.Neg(g.Log(n)), -1)
		edge := g.Add(mean, width)
		flat := g.Mul(g.Less(edge, last), g.Less(r, one))
		reach := g.Add(g.Log(g.Do(ad.OpExpm1, nil, g.Div(g.Const(40), n))), g.Neg(last))
		turn := g.Do(ad.OpMax, nil, edge, plus(g, last, -9))
		var start, length [panels]ad.Ref
		length[left] = g.Div(g.Const(40), up)
		start[left] = g.Sub(g.Sub(mean, width), length[left])
		start[near], length[near] = g.Sub(mean, width), width
		start[after], length[after] = mean, width
		start[plateau], length[plateau] = edge, g.Select(flat, g.Do(ad.OpMax, nil, g.Sub(turn, edge), tiny), tiny)
		start[bend], length[bend] = turn, g.Select(flat, g.Sub(last, turn), tiny)
		start[right] = g.Select(flat, last, edge)
		// The slope at the edge; beyond it is steeper.
		slope := g.Sub(g.Mul(g.Add(r, n), g.Do(ad.OpInvLogit, nil, edge)), r)
		steep := g.Div(g.Const(40), g.Do(ad.OpMax, nil, slope, g.Const(1e-9)))
		length[right] = g.Select(flat, reach, g.Do(ad.OpMin, nil, steep, g.Do(ad.OpMax, nil, g.Sub(g.Add(reach, last), edge), g.Div(g.Const(40), n))))
		s, size := g.Const(0), g.Const(0)
		for k := range panels {
			s = g.Add(s, g.Add(g.Mul(row(starts[k]), start[k]), g.Mul(row(lengths[k]), length[k])))
			size = g.Add(size, g.Mul(row(starts[k]), length[k]))
		}
		s, size = g.Detach(s), g.Detach(size) // the integral does not depend on the nodes
		above := g.Less(g.Const(0), s)
		// The variable or, above ½, 1 minus it.
		x := g.Do(ad.OpInvLogit, nil, g.Neg(g.Do(ad.OpAbs, nil, s)))
		density := g.Do(ad.OpLogBetaTerm, nil, x, g.Select(above, n, r), g.Select(above, r, n))
		less := g.Select(above, log1mBetaI(g, x, b, a), logBetaI(g, x, a, b))
		return g.Add(g.Add(density, less), g.Add(row(weights), g.Log(size)))
	})
}

var yuleSimon = Dist{
	Name: "yule_simon", Doc: "the Yule-Simon distribution with shape alpha.", Discrete: true,
	Formula:  "alpha * exp(lbeta(y, alpha + 1))",
	Mean:     "alpha > 1 ? alpha / (alpha - 1) : positive_infinity()",
	Variance: "alpha > 2 ? alpha^2 / ((alpha - 1)^2 * (alpha - 2)) : positive_infinity()",
	Variate:  types.Constraint{Text: "at least 1", Lo: 1, Hi: math.Inf(1)},
	Params:   []Param{shapeParam},
	// The mass is α B(n, α+1), with 1/B(n, α+1) = n (n+α choose n).
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		return []Term{
			{Value: g.Log(p[0]), Of: of1st},
			{Value: g.Do(ad.OpLmultichoose, nil, plus(g, p[0], 1), y), Weight: -1, Of: of1st},
			{Make: func() ad.Ref { return g.Lgamma(plus(g, y, 1)) }, Weight: -1, Of: of1st},
			{Make: func() ad.Ref { return g.Lgamma(y) }, Of: ofY},
		}
	},
	CDFVariate: types.NotNaN,
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return countTail(g, plus(g, y, -1), ad.None, g.Const(negInf), ad.None, func(y ad.Ref) ad.Ref {
			return g.Do(ad.OpLog1mExp, nil, yuleSimonTail(g, plus(g, y, 1), p[0]))
		})
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return countTail(g, plus(g, y, -1), ad.None, g.Const(0), ad.None, func(y ad.Ref) ad.Ref {
			return yuleSimonTail(g, plus(g, y, 1), p[0])
		})
	},
	// Draw a geometric variate with success probability exp(-W), for an exponential W.
	Rand: func(rng *rand.Rand, p []float64) float64 {
		w := rng.ExpFloat64() / p[0]
		return 1 + math.Floor(math.Log(uniformOpen(rng))/routines.Log1mExp(-w))
	},
}

// yuleSimonTail returns log n B(n, α+1) for small α, where it is nearly proportional to α. It uses
// logarithms that are small too.
func yuleSimonTail(g *ad.Graph, n, alpha ad.Ref) ad.Ref {
	rising := op2(ad.OpLogRising)
	one := g.Const(1)
	small := g.Sub(rising(g, one, alpha), rising(g, plus(g, n, 1), alpha))
	return g.Select(g.Less(alpha, one), small, g.Neg(g.Do(ad.OpLmultichoose, nil, plus(g, alpha, 1), n)))
}
