package truth

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// scalar is the distribution of one coordinate.
type scalar struct {
	log  func(x float64) (lp, slope float64) // normalised
	draw func(rng *rand.Rand) float64
	cdf  func(x float64) float64
	mean float64
	sd   float64 // NaN: the tails are heavy, so means of draws are not compared
}

var logRoot2Pi = 0.5 * math.Log(2*math.Pi)

func normalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

func normal(mean, sd float64) scalar {
	constant := logRoot2Pi + math.Log(sd)
	return scalar{
		log: func(x float64) (float64, float64) {
			z := (x - mean) / sd
			return -0.5*z*z - constant, -z / sd
		},
		draw: func(rng *rand.Rand) float64 { return mean + sd*rng.NormFloat64() },
		cdf:  func(x float64) float64 { return normalCDF((x - mean) / sd) },
		mean: mean, sd: sd,
	}
}

// studentT has means compared only from 6 degrees of freedom. With fewer, means of a few thousand
// draws are far from normal.
func studentT(nu float64) scalar {
	a, _ := math.Lgamma((nu + 1) / 2)
	b, _ := math.Lgamma(nu / 2)
	constant := a - b - 0.5*math.Log(nu*math.Pi)
	dist := distuv.StudentsT{Sigma: 1, Nu: nu}
	sd := math.NaN()
	if nu >= 6 {
		sd = math.Sqrt(nu / (nu - 2))
	}
	return scalar{
		log: func(x float64) (float64, float64) {
			return constant - 0.5*(nu+1)*math.Log1p(x*x/nu), -(nu + 1) * x / (nu + x*x)
		},
		draw: func(rng *rand.Rand) float64 {
			return rng.NormFloat64() / math.Sqrt(distuv.ChiSquared{K: nu, Src: rng}.Rand()/nu)
		},
		cdf: dist.CDF,
		sd:  sd,
	}
}

// laplace has the density a b/(a + b) times exp(-a x) above zero and exp(b x) below.
func laplace(a, b float64) scalar {
	constant := math.Log(a * b / (a + b))
	return scalar{
		log: func(x float64) (float64, float64) {
			if x < 0 {
				return constant + b*x, b
			}
			return constant - a*x, -a
		},
		draw: func(rng *rand.Rand) float64 { return rng.ExpFloat64()/a - rng.ExpFloat64()/b },
		cdf: func(x float64) float64 {
			if x < 0 {
				return a / (a + b) * math.Exp(b*x)
			}
			return 1 - b/(a+b)*math.Exp(-a*x)
		},
		mean: 1/a - 1/b, sd: math.Sqrt(1/(a*a) + 1/(b*b)),
	}
}

// quartic has a density proportional to exp(-x⁴/4), with lighter tails than the normal
// distribution.
func quartic() scalar {
	quarter := math.Gamma(0.25)
	constant := math.Log(math.Pow(4, 0.25) / 2 * quarter)
	return scalar{
		log: func(x float64) (float64, float64) { return -x*x*x*x/4 - constant, -x * x * x },
		draw: func(rng *rand.Rand) float64 {
			// gamma(1/4) is gamma(5/4) times U⁴.
			u := rng.Float64()
			v := math.Pow(4*distuv.Gamma{Alpha: 1.25, Beta: 1, Src: rng}.Rand()*u*u*u*u, 0.25)
			if rng.IntN(2) == 0 {
				return -v
			}
			return v
		},
		cdf: func(x float64) float64 {
			return 0.5 + math.Copysign(0.5*mathext.GammaIncReg(0.25, x*x*x*x/4), x)
		},
		sd: math.Sqrt(2 * math.Gamma(0.75) / quarter),
	}
}

// logGamma is the logarithm of a gamma variate with the given shape and scale 1.
func logGamma(shape float64) scalar {
	constant, _ := math.Lgamma(shape)
	return scalar{
		log: func(x float64) (float64, float64) {
			e := math.Exp(x)
			return shape*x - e - constant, shape - e
		},
		draw: func(rng *rand.Rand) float64 {
			return math.Log(distuv.Gamma{Alpha: shape + 1, Beta: 1, Src: rng}.Rand()) - rng.ExpFloat64()/shape
		},
		cdf:  func(x float64) float64 { return mathext.GammaIncReg(shape, math.Exp(x)) },
		mean: mathext.Digamma(shape), sd: math.Sqrt(mathext.Zeta(2, shape)),
	}
}

// logitBeta is the logit of a beta variate.
func logitBeta(a, b float64) scalar {
	constant := mathext.Lbeta(a, b)
	return scalar{
		log: func(x float64) (float64, float64) {
			return a*x - (a+b)*softplus(x) - constant, a - (a+b)*invLogit(x)
		},
		draw: func(rng *rand.Rand) float64 { return logGamma(a).draw(rng) - logGamma(b).draw(rng) },
		cdf:  func(x float64) float64 { return mathext.RegIncBeta(a, b, invLogit(x)) },
		mean: mathext.Digamma(a) - mathext.Digamma(b),
		sd:   math.Sqrt(mathext.Zeta(2, a) + mathext.Zeta(2, b)),
	}
}

// logHalfNormal is the logarithm of the absolute value of a standard normal variate.
func logHalfNormal() scalar {
	constant := 0.5 * math.Log(2/math.Pi)
	return scalar{
		log: func(x float64) (float64, float64) {
			e := math.Exp(2 * x)
			return constant + x - e/2, 1 - e
		},
		draw: func(rng *rand.Rand) float64 { return math.Log(math.Abs(rng.NormFloat64())) },
		cdf:  func(x float64) float64 { return math.Erf(math.Exp(x) / math.Sqrt2) },
		mean: 0.5 * (mathext.Digamma(0.5) + math.Ln2), sd: math.Pi / (2 * math.Sqrt2),
	}
}

// logHalfCauchy is the logarithm of the absolute value of a standard Cauchy variate.
func logHalfCauchy() scalar {
	return scalar{
		log: func(x float64) (float64, float64) {
			return math.Log(2/math.Pi) + x - softplus(2*x), -math.Tanh(x)
		},
		draw: func(rng *rand.Rand) float64 { return math.Log(math.Tan(math.Pi / 2 * rng.Float64())) },
		cdf:  func(x float64) float64 { return 2 / math.Pi * math.Atan(math.Exp(x)) },
		sd:   math.Pi / 2,
	}
}

// moved is a scalar shifted by a constant.
func moved(s scalar, by float64) scalar {
	return scalar{
		log:  func(x float64) (float64, float64) { return s.log(x - by) },
		draw: func(rng *rand.Rand) float64 { return s.draw(rng) + by },
		cdf:  func(x float64) float64 { return s.cdf(x - by) },
		mean: s.mean + by, sd: s.sd,
	}
}

func softplus(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

func invLogit(x float64) float64 {
	if x > 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

// overNormal is the mean of f(z) for standard normal z, by the trapezoidal rule.
func overNormal(f func(z float64) float64) float64 {
	const steps, far = 800, 10.0
	s := 0.0
	for i := range steps + 1 {
		z := -far + 2*far*float64(i)/steps
		s += math.Exp(-0.5*z*z) * f(z)
	}
	return s * 2 * far / steps / math.Sqrt(2*math.Pi)
}
