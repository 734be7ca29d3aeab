package stdlib

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: distributions on the whole line. Formulas are those of Johnson, Kotz & Balakrishnan,
// Continuous Univariate Distributions (2nd ed.), in Stan's parametrisation.

const logSqrt2Pi = 0.918938533204672741780329736405617640

// standard returns (y - mu)/sigma.
func standard(g *ad.Graph, y, mu, sigma ad.Ref) ad.Ref {
	return g.Div(g.Sub(y, mu), sigma)
}

// constant returns an addend that does not depend on any argument.
func constant(g *ad.Graph, v float64) Term { return Term{Value: g.Const(v)} }

// minusLog returns the addend -log p for a parameter p. of is the bit of p in Term.Of.
func minusLog(g *ad.Graph, p ad.Ref, of uint) Term { return Term{Value: g.Log(p), Weight: -1, Of: of} }

// Parameters that many distributions have.
var (
	location    = Param{Name: "mu", Is: "Location parameter", In: types.Finite}
	scale       = Param{Name: "sigma", Is: "Scale parameter", In: types.PositiveFinite}
	inverseRate = Param{Name: "beta", Is: "Inverse scale parameter", In: types.PositiveFinite}
	degrees     = Param{Name: "nu", Is: "Degrees of freedom parameter", In: types.PositiveFinite}
)

func logPhi(g *ad.Graph, x ad.Ref) ad.Ref { return g.Do(ad.OpLogPhi, nil, x) }

var normal = Dist{
	Name: "normal", Doc: "the normal distribution with mean mu and standard deviation sigma.",
	Formula:     "exp(-((y - mu) / sigma)^2 / 2) / (sigma * sqrt(2 * pi()))",
	Mean:        "mu",
	Variance:    "sigma^2",
	Link:        "mu",
	Information: ofLocationScale(1, 2, 0),
	Half:        half(ofLocationScale(1, 2, 0)),
	Variate:     types.NotNaN,
	Params:      []Param{location, {Name: "sigma", Is: "Scale parameter", In: types.Positive}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		return []Term{
			{Value: g.Square(standard(g, y, p[0], p[1])), Weight: -0.5, Of: always},
			minusLog(g, p[1], of2nd),
			constant(g, -logSqrt2Pi),
		}
	},
	LogCDF:  func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref { return logPhi(g, standard(g, y, p[0], p[1])) },
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref { return logPhi(g, g.Neg(standard(g, y, p[0], p[1]))) },
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref {
		return g.Add(p[0], g.Mul(p[1], g.Do(ad.OpInvPhi, nil, q)))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 { return p[0] + p[1]*rng.NormFloat64() },
	Examples: []Example{
		{Call: "normal_lpdf(0.5 | 0, 1)", Value: "-log(2 * pi()) / 2 - 0.125"},
	},
}

var stdNormal = Dist{
	Name: "std_normal", Doc: "the normal distribution with mean 0 and standard deviation 1.",
	Formula:     "exp(-y^2 / 2) / sqrt(2 * pi())",
	Mean:        "0.0",
	Variance:    "1.0",
	Link:        "0.0",
	Information: func(g *ad.Graph, _ []ad.Ref) [][]ad.Ref { return rows{{g.Const(1)}} },
	Half:        func(g *ad.Graph, x []ad.Ref) [][]ad.Ref { return rows{{g.Scale(2, g.Inv(g.Square(x[0])))}} },
	Variate:     types.NotNaN,
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		return []Term{{Value: g.Square(y), Weight: -0.5, Of: ofY}, constant(g, -logSqrt2Pi)}
	},
	LogCDF:   func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref { return logPhi(g, y) },
	LogCCDF:  func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref { return logPhi(g, g.Neg(y)) },
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref { return g.Do(ad.OpInvPhi, nil, q) },
	Rand:     func(rng *rand.Rand, p []float64) float64 { return rng.NormFloat64() },
}

// squaredTail returns log(1 + z²/ν), the part z²/(ν+z²), and half the derivative of the logarithm
// with respect to z, divided by z. For z beyond 2⁵¹² √ν the square would overflow, so z is
// multiplied by 2⁻⁵¹². This is left out if all y that determine z are known to be of moderate size.
func squaredTail(g *ad.Graph, z, y, nu ad.Ref) (log, part, slope ad.Ref) {
	const huge = 0x1p512
	one, zero := g.Const(1), g.Const(0)
	root := g.Inv(g.Sqrt(nu))
	t, far := g.Mul(z, root), zero
	if v, known := g.Value(y); !known || slices.ContainsFunc(v, func(y float64) bool { return math.Abs(y) > 1e150 }) {
		far = g.Less(g.Const(huge), g.Do(ad.OpAbs, nil, t))
		scale := g.Select(far, g.Const(1/huge), one)
		t, root = g.Mul(t, scale), g.Mul(root, scale)
	}
	square := g.Square(t)
	more := g.Sub(square, far) // adding 1 to the square has no effect
	inverse := g.Inv(g.Add(one, more))
	log = g.Add(g.Do(ad.OpLog1p, nil, more), g.Scale(2*512*math.Ln2, far))
	return log, g.Mul(square, inverse), g.Mul(g.Mul(t, root), inverse)
}

var studentT = Dist{
	Name: "student_t", Doc: "Student's t distribution with nu degrees of freedom, location mu and scale sigma.",
	Formula:     "tgamma((nu + 1) / 2) / (tgamma(nu / 2) * sqrt(nu * pi()) * sigma) * (1 + ((y - mu) / sigma)^2 / nu)^(-(nu + 1) / 2)",
	Mean:        "nu > 1 ? mu : not_a_number()",
	Variance:    "nu > 2 ? sigma^2 * nu / (nu - 2) : positive_infinity()",
	Link:        "mu",
	Information: ofStudentT,
	Half:        half(ofStudentT),
	Variate:     types.NotNaN,
	Params:      []Param{degrees, location, scale},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		nu, z := p[0], standard(g, y, p[1], p[2])
		half := g.Scale(0.5, nu)
		log, part, slope := squaredTail(g, z, y, nu)
		kernel := g.Mul(g.Add(half, g.Const(0.5)), log)
		// log Γ((ν+1)/2) - log Γ(ν/2) is ½ log π - log B(ν/2, ½), which does not cancel for large
		// ν.
		gammas := g.Sub(g.Const(0.5*math.Log(math.Pi)), g.Do(ad.OpLbeta, nil, half, g.Const(0.5)))
		norm := g.Sub(gammas, g.Scale(0.5, g.Log(nu)))
		if _, known := g.Value(nu); !known {
			// The addends have derivatives with respect to ν of the size of 1/ν, but their sum has
			// one of the size of 1/ν². So each addend has a slope of that size instead. That of
			// norm is half of ψ((ν+1)/2) - ψ(ν/2) - 1/ν.
			i := g.Inv(nu)
			gap := g.Do(ad.OpDigammaGap, nil, half, g.Const(0.5))
			norm = g.Add(g.Detach(norm), g.Slope(nu, g.Scale(0.5, g.Sub(gap, g.Mul(g.Less(half, g.Const(1)), i)))))
			byNu := g.Scale(0.5, g.Sub(g.Do(ad.OpLogGap, nil, part, log), g.Mul(part, i)))
			kernel = g.Add(g.Detach(kernel), g.Add(g.Slope(nu, byNu), g.Slope(z, g.Mul(plus(g, nu, 1), slope))))
		}
		return []Term{
			{Value: kernel, Weight: -1, Of: always},
			{Value: norm, Of: of1st},
			minusLog(g, p[2], of3rd),
			constant(g, -0.5*math.Log(math.Pi)),
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return g.Do(ad.OpLogStudentCDF, nil, standard(g, y, p[1], p[2]), p[0])
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return g.Do(ad.OpLogStudentCDF, nil, g.Neg(standard(g, y, p[1], p[2])), p[0])
	},
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref {
		return g.Add(p[1], g.Mul(p[2], g.Do(ad.OpStudentQuantile, nil, q, p[0])))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		z := rng.NormFloat64()
		return p[1] + p[2]*(z*math.Exp(0.5*(math.Log(p[0]/2)-randLogGamma(rng, p[0]/2))))
	},
	Examples: []Example{{Call: "student_t_lpdf(0 | 1, 0, 1)", Value: "-log(pi())"}},
}

var cauchy = Dist{
	Name: "cauchy", Doc: "the Cauchy distribution with location mu and scale sigma.",
	Formula:     "1 / (pi() * sigma * (1 + ((y - mu) / sigma)^2))",
	Link:        "mu",
	Information: ofLocationScale(0.5, 0.5, 0),
	Half:        half(ofLocationScale(0.5, 0.5, 0)),
	Variate:     types.NotNaN,
	Params:      []Param{location, scale},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		log, _, _ := squaredTail(g, standard(g, y, p[0], p[1]), y, g.Const(1))
		return []Term{
			{Value: log, Weight: -1, Of: always},
			minusLog(g, p[1], of2nd),
			constant(g, -math.Log(math.Pi)),
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return cauchyTail(g, g.Sub(p[0], y), p[1])
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return cauchyTail(g, g.Sub(y, p[0]), p[1])
	},
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref {
		// The quantile is -1/tan(πq), computed from the smaller tail.
		left := g.Less(q, g.Const(0.5))
		tail := g.Select(left, q, g.Sub(g.Const(1), q))
		z := g.Inv(g.Do(ad.OpTan, nil, g.Scale(math.Pi, tail)))
		return g.Add(p[0], g.Mul(p[1], g.Select(left, g.Neg(z), z)))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		return p[0] + p[1]*math.Tan(math.Pi*(uniformOpen(rng)-0.5))
	},
}

// cauchyTail returns the log probability of more than d above the location. That probability is ½ -
// atan(d/σ)/π = atan2(σ, d)/π; on the left it is computed from its complement.
func cauchyTail(g *ad.Graph, d, sigma ad.Ref) ad.Ref {
	one, z := g.Const(1), g.Div(d, sigma)
	part := func(z ad.Ref) ad.Ref { // without the length of (1, z), which may overflow
		angle := g.Detach(g.Do(ad.OpAtan2, nil, one, z))
		return g.Scale(1/math.Pi, g.Add(angle, g.Slope(z, g.Neg(g.Inv(plus(g, g.Square(z), 1))))))
	}
	far := g.Less(g.Const(1e9), z) // the tail is σ/πd there, computed from logarithms
	near := g.Select(far, one, z)
	tail := g.Select(g.Less(z, g.Const(0)), g.Do(ad.OpLog1m, nil, part(g.Neg(near))), g.Log(part(near)))
	quotient := g.Sub(g.Log(sigma), g.Log(g.Select(far, d, one)))
	return g.Select(far, plus(g, quotient, -math.Log(math.Pi)), tail)
}

var doubleExponential = Dist{
	Name: "double_exponential", Doc: "the double exponential (Laplace) distribution with location mu and scale sigma.",
	Formula:     "exp(-abs(y - mu) / sigma) / (2 * sigma)",
	Mean:        "mu",
	Variance:    "2 * sigma^2",
	Link:        "mu",
	Information: ofLocationScale(1, 1, 0),
	Half:        half(ofLocationScale(1, 1, 0)),
	Variate:     types.Finite,
	CDFVariate:  types.NotNaN,
	Params:      []Param{location, scale},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		return []Term{
			{Value: g.Do(ad.OpAbs, nil, standard(g, y, p[0], p[1])), Weight: -1, Of: always},
			minusLog(g, p[1], of2nd),
			constant(g, -math.Ln2),
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return laplaceTail(g, standard(g, y, p[0], p[1]))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return laplaceTail(g, g.Neg(standard(g, y, p[0], p[1])))
	},
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref {
		left := g.Less(q, g.Const(0.5))
		z := g.Log(g.Scale(2, g.Select(left, q, g.Sub(g.Const(1), q))))
		return g.Add(p[0], g.Mul(p[1], g.Select(left, z, g.Neg(z))))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		x := rng.ExpFloat64()
		if rng.Uint64()&1 == 0 {
			x = -x
		}
		return p[0] + p[1]*x
	},
}

// laplaceTail returns the log distribution function at z: z - log 2 for z < 0, otherwise log(1 -
// ½e⁻ᶻ).
func laplaceTail(g *ad.Graph, z ad.Ref) ad.Ref {
	zero := g.Const(0)
	left := g.Sub(g.Do(ad.OpMin, nil, z, zero), g.Const(math.Ln2))
	// At 0 the derivative is that of z.
	right := g.Do(ad.OpLog1m, nil, g.Scale(0.5, g.Exp(g.Neg(g.Do(ad.OpMax, nil, zero, z)))))
	return g.Select(g.Less(z, zero), left, right)
}

var logistic = Dist{
	Name: "logistic", Doc: "the logistic distribution with location mu and scale sigma.",
	Formula:     "exp(-(y - mu) / sigma) / (sigma * (1 + exp(-(y - mu) / sigma))^2)",
	Mean:        "mu",
	Variance:    "(pi() * sigma)^2 / 3",
	Link:        "mu",
	Information: ofLocationScale(1./3, logisticSpread, 0),
	Half:        half(ofLocationScale(1./3, logisticSpread, 0)),
	Variate:     types.Finite,
	CDFVariate:  types.NotNaN,
	Params:      []Param{location, scale},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		// The density is symmetric; on the left, z and the exponential would cancel.
		z := g.Do(ad.OpAbs, nil, standard(g, y, p[0], p[1]))
		return []Term{
			{Value: g.Add(z, g.Scale(2, g.Do(ad.OpLog1pExp, nil, g.Neg(z)))), Weight: -1, Of: always},
			minusLog(g, p[1], of2nd),
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return g.Do(ad.OpLogInvLogit, nil, standard(g, y, p[0], p[1]))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return g.Do(ad.OpLog1mInvLogit, nil, standard(g, y, p[0], p[1]))
	},
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref {
		return g.Add(p[0], g.Mul(p[1], g.Do(ad.OpLogit, nil, q)))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		u := uniformOpen(rng)
		return p[0] + p[1]*math.Log(u/(1-u))
	},
}

var gumbel = Dist{
	Name: "gumbel", Doc: "the Gumbel distribution with location mu and scale beta.",
	Formula:     "exp(-(y - mu) / beta - exp(-(y - mu) / beta)) / beta",
	Mean:        "mu + 0.57721566490153286 * beta",
	Variance:    "(pi() * beta)^2 / 6",
	Link:        "mu",
	Information: ofLocationScale(1, gumbelSpread, -gumbelMixed),
	Variate:     types.NotNaN,
	Params:      []Param{location, {Name: "beta", Is: "Scale parameter", In: types.Positive}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		z := standard(g, y, p[0], p[1])
		return []Term{
			{Value: g.Add(g.Do(ad.OpMax, nil, z, g.Const(-math.MaxFloat64)), g.Exp(g.Neg(z))), Weight: -1, Of: always},
			minusLog(g, p[1], of2nd),
		}
	},
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return g.Neg(g.Exp(g.Neg(standard(g, y, p[0], p[1]))))
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		return logHit(g, g.Neg(standard(g, y, p[0], p[1])))
	},
	Quantile: func(g *ad.Graph, q ad.Ref, p []ad.Ref) ad.Ref {
		return g.Sub(p[0], g.Mul(p[1], g.Log(g.Neg(g.Log(q)))))
	},
	Rand: func(rng *rand.Rand, p []float64) float64 {
		return p[0] - p[1]*math.Log(rng.ExpFloat64())
	},
}

var vonMises = Dist{
	Name: "von_mises", Doc: "the von Mises distribution with direction mu and concentration kappa.",
	Formula:     "exp(kappa * cos(y - mu)) / (2 * pi() * modified_bessel_first_kind(0, kappa))",
	Mean:        "mu",
	Link:        "mu",
	Information: ofVonMises,
	Variate:     types.Finite,
	Params:      []Param{location, {Name: "kappa", Is: "Scale parameter", In: types.NonNegativeFinite}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		return []Term{
			{Value: g.Mul(p[1], g.Do(ad.OpCos, nil, g.Sub(p[0], y))), Of: always},
			{Value: logBesselI(g, g.Const(0), p[1]), Weight: -1, Of: of2nd},
			constant(g, -math.Log(2*math.Pi)),
		}
	},
	// With all terms, κ cos(y - μ) - κ = -2κ sin²((y - μ)/2) does not cancel.
	Whole: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		half := g.Do(ad.OpSin, nil, g.Scale(0.5, g.Sub(p[0], y)))
		return []Term{
			{Value: g.Mul(p[1], g.Square(half)), Weight: -2},
			{Value: g.Do(ad.OpLogBesselI, nil, g.Const(0), p[1]), Weight: -1},
			constant(g, -math.Log(2*math.Pi)),
		}
	},
	CDFVariate: types.Between(-math.Pi, math.Pi),
	LogCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		x, seam := onCircle(g, y, p)
		around := g.Do(ad.OpLogAddExp, nil, aboveAngle(g, seam, p[1]), belowAngle(g, x, p[1]))
		v := g.Select(g.Less(seam, x), betweenAngles(g, seam, x, p[1]), around)
		return atEnds(g, y, v, negInf, 0)
	},
	LogCCDF: func(g *ad.Graph, y ad.Ref, p []ad.Ref) ad.Ref {
		x, seam := onCircle(g, y, p)
		around := g.Do(ad.OpLogAddExp, nil, aboveAngle(g, x, p[1]), belowAngle(g, seam, p[1]))
		v := g.Select(g.Less(seam, x), around, betweenAngles(g, x, seam, p[1]))
		return atEnds(g, y, v, 0, negInf)
	},
	// The algorithm of Best & Fisher (1979).
	Rand: func(rng *rand.Rand, p []float64) float64 {
		kappa, mu := p[1], math.Mod(p[0], 2*math.Pi)
		if mu < 0 {
			mu += 2 * math.Pi
		}
		if kappa < 1e-100 {
			return mu + math.Pi*(2*uniformOpen(rng)-1)
		}
		if kappa > 1e8 { // the distribution is normal up to 1/κ, while r rounds to 1
			return mu + rng.NormFloat64()/math.Sqrt(kappa)
		}
		root := math.Sqrt(1 + 4*kappa*kappa)
		// With τ = 1 + root, ρ is (τ - √2τ)/2κ. It is written so that nothing cancels for small κ.
		sqrtTau := math.Sqrt(1 + root)
		rho := 2 * kappa / (1 + root) * sqrtTau / (sqrtTau + math.Sqrt2)
		r := (1 + rho*rho) / (2 * rho)
		for {
			z := math.Cos(math.Pi * uniformOpen(rng))
			f := (1 + r*z) / (r + z)
			c := kappa * (r - f)
			u := uniformOpen(rng)
			if c*(2-c) > u || math.Log(c/u)+1-c >= 0 {
				angle := math.Acos(math.Max(-1, math.Min(1, f)))
				if rng.Uint64()&1 == 0 {
					angle = -angle
				}
				return mu + angle
			}
		}
	},
}

// The distribution function of the von Mises distribution counts angles from -π up to y. Relative
// to mu, the circle is cut at another angle, the seam. From there the angle rises to π, and
// continues from -π.

// onCircle returns y and the seam as angles from mu, between -π and π.
func onCircle(g *ad.Graph, y ad.Ref, p []ad.Ref) (x, seam ad.Ref) {
	wrap := func(x ad.Ref) ad.Ref {
		turns := g.Do(ad.OpFloor, nil, g.Scale(1/(2*math.Pi), plus(g, x, math.Pi)))
		return g.Sub(x, g.Scale(2*math.Pi, turns))
	}
	return wrap(g.Sub(y, p[0])), wrap(g.Sub(g.Const(math.Pi), p[0]))
}

// belowAngle and aboveAngle return log probabilities of smaller and greater angles from mu.
// betweenAngles returns that of angles between a and b > a; if b is not greater, its value must not
// be used. They are computed from the smaller tails, so that nothing cancels far from mu.
func belowAngle(g *ad.Graph, x, kappa ad.Ref) ad.Ref { return g.Do(ad.OpLogVonMises, nil, x, kappa) }

func aboveAngle(g *ad.Graph, x, kappa ad.Ref) ad.Ref { return belowAngle(g, g.Neg(x), kappa) }

func betweenAngles(g *ad.Graph, a, b, kappa ad.Ref) ad.Ref {
	ordered := g.Less(a, b)
	a, b = g.Select(ordered, a, g.Const(-1)), g.Select(ordered, b, g.Const(1))
	left := g.Less(b, g.Const(0))
	all := g.Do(ad.OpLessEqual, nil, a, g.Const(-math.Pi)) // of all angles below b
	inner := g.Select(all, g.Const(-1.5), a)
	between := g.Do(ad.OpLogDiffExp, nil,
		belowAngle(g, g.Select(left, g.Do(ad.OpMax, nil, b, inner), g.Neg(inner)), kappa), belowAngle(g, g.Select(left, inner, g.Neg(b)), kappa))
	below := belowAngle(g, b, kappa)
	half := g.Do(ad.OpSin, nil, g.Scale(0.5, a))
	density := g.Neg(g.Add(g.Scale(2, g.Mul(kappa, g.Square(half))), g.Do(ad.OpLogBesselI, nil, g.Const(0), kappa)))
	density = g.Exp(g.Sub(plus(g, density, -math.Log(2*math.Pi)), below))
	return g.Select(all, g.Add(below, g.Slope(a, g.Neg(density))), between)
}

// atEnds returns v, with the values low and high at y = -π and y = π.
func atEnds(g *ad.Graph, y, v ad.Ref, low, high float64) ad.Ref {
	v = g.Select(g.Do(ad.OpLessEqual, nil, y, g.Const(-math.Pi)), g.Const(low), v)
	return g.Select(g.Do(ad.OpLessEqual, nil, g.Const(math.Pi), y), g.Const(high), v)
}

// logBesselI returns log I_v(x), where I is the modified Bessel function of the first kind.
func logBesselI(g *ad.Graph, v, x ad.Ref) ad.Ref { return g.Add(x, g.Do(ad.OpLogBesselI, nil, v, x)) }
