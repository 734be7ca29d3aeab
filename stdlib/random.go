package stdlib

import (
	"math"
	"math/rand/v2"
)

// This file: generators that several distributions use.

// uniformOpen draws from the uniform distribution on (0, 1).
func uniformOpen(rng *rand.Rand) float64 {
	return (float64(rng.Uint64()>>12) + 0.5) * 0x1p-52
}

// randGamma draws from the gamma distribution with the given shape and scale 1, by the method of
// Marsaglia & Tsang (2000). Below shape 1, a draw of shape+1 is multiplied by U^(1/shape).
func randGamma(rng *rand.Rand, shape float64) float64 {
	return math.Exp(randLogGamma(rng, shape))
}

// randLogGamma draws the logarithm of randGamma, which does not underflow for small shapes.
func randLogGamma(rng *rand.Rand, shape float64) float64 {
	boost := 0.0
	if shape < 1 {
		boost = math.Log(uniformOpen(rng)) / shape
		shape++
	}
	d := shape - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		u := uniformOpen(rng)
		if math.Log(u) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return math.Log(d*v) + boost
		}
	}
}

// randBeta draws from the beta distribution. It uses logarithms, so that small parameters give 0 or
// 1 and not 0/0.
func randBeta(rng *rand.Rand, a, b float64) float64 {
	return 1 / (1 + math.Exp(-randLogOdds(rng, a, b)))
}

// randLogOdds draws the logit of a beta variate.
func randLogOdds(rng *rand.Rand, a, b float64) float64 {
	x := randLogGamma(rng, a) - randLogGamma(rng, b)
	if math.IsNaN(x) { // if both logarithms are infinite, the shapes determine which is greater
		return moreOften(rng, a, b)
	}
	return x
}

// moreOften returns positive infinity with probability a/(a+b), otherwise negative infinity.
func moreOften(rng *rand.Rand, a, b float64) float64 {
	if uniformOpen(rng)*(1+b/a) < 1 {
		return math.Inf(1)
	}
	return math.Inf(-1)
}

// randPoisson draws from the Poisson distribution: below 10 by multiplication of uniforms,
// otherwise by transformed rejection (Hörmann 1993, PTRS).
func randPoisson(rng *rand.Rand, lambda float64) float64 {
	if !(lambda <= math.MaxFloat64) { // the draw would be too large for an int, so it fails
		return lambda
	}
	if lambda < 10 {
		limit, p, k := math.Exp(-lambda), 1.0, -1.0
		for {
			p *= uniformOpen(rng)
			k++
			if p <= limit {
				return k
			}
		}
	}
	b := 0.931 + 2.53*math.Sqrt(lambda)
	a := -0.059 + 0.02483*b
	invAlpha := 1.1239 + 1.1328/(b-3.4)
	vr := 0.9277 - 3.6224/(b-2)
	logLambda := math.Log(lambda)
	for {
		u, v := rng.Float64()-0.5, uniformOpen(rng)
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + lambda + 0.43)
		if us >= 0.07 && v <= vr {
			return k
		}
		if k < 0 || us < 0.013 && v > us {
			continue
		}
		lg, _ := math.Lgamma(k + 1)
		if math.Log(v)+math.Log(invAlpha)-math.Log(a/(us*us)+b) <= k*logLambda-lambda-lg {
			return k
		}
	}
}

// randBinomial draws from the binomial distribution: by inversion where the
// mean is small, otherwise by transformed rejection (Hörmann 1993, BTRS).
func randBinomial(rng *rand.Rand, n, p float64) float64 {
	switch {
	case p > 0.5:
		return n - randBinomial(rng, n, 1-p)
	case n == 0 || p == 0:
		return 0
	case math.IsNaN(p): // p is NaN, so the draw fails
		return p
	case n*p < 10:
		// The waiting times between successes are geometric.
		logQ, k, at := math.Log1p(-p), 0.0, 0.0
		for {
			at += math.Floor(math.Log(uniformOpen(rng))/logQ) + 1
			if at > n {
				return k
			}
			k++
		}
	}
	spq := math.Sqrt(n * p * (1 - p))
	b := 1.15 + 2.53*spq
	a := -0.0873 + 0.0248*b + 0.01*p
	c := n*p + 0.5
	vr := 0.92 - 4.2/b
	alpha := (2.83 + 5.1/b) * spq
	logOdds := math.Log(p / (1 - p))
	m := math.Floor((n + 1) * p)
	lg := func(k float64) float64 {
		x, _ := math.Lgamma(k + 1)
		y, _ := math.Lgamma(n - k + 1)
		return x + y
	}
	h := lg(m)
	for {
		u, v := rng.Float64()-0.5, uniformOpen(rng)
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + c)
		if us >= 0.07 && v <= vr {
			return k
		}
		if k < 0 || k > n {
			continue
		}
		if math.Log(v*alpha/(a/(us*us)+b)) <= h-lg(k)+(k-m)*logOdds {
			return k
		}
	}
}

// randHypergeometric draws one element after another.
func randHypergeometric(rng *rand.Rand, p []float64) float64 {
	draws, yes, all := p[0], p[1], p[1]+p[2]
	n := 0.0
	for ; draws > 0 && yes > 0; draws-- {
		if rng.Float64()*all < yes {
			n++
			yes--
		}
		all--
	}
	return n
}
