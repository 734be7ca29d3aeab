package stdlib

import (
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: the Poisson-binomial distribution, of the number of successes in trials with different
// probabilities.
//
// The masses of all numbers are computed by adding one trial after another (Barlow & Heidtmann
// 1984). Far from the mean they would underflow. So the odds of each trial are multiplied by eᵗ,
// with t such that the mean is near y (exponential tilting), and the result is divided by what this
// does to the mass. The result does not depend on t, so t needs few digits and no derivative.

// tiltSteps is the number of bisections of [minTilt, maxTilt] that find t. The ends allow for the
// smallest double above 0 that is not denormal, and for the largest below 1.
const (
	minTilt   = -100.0
	maxTilt   = 700.0
	tiltSteps = 30
)

// trialCounts are the numbers of a Poisson-binomial distribution for n variates and k trials.
type trialCounts struct {
	y      ad.Ref // the variates, of size n
	tilt   ad.Ref // t of each variate
	masses ad.Ref // k+1 by n: the tilted masses of 0 to k
	offset ad.Ref // of each variate: log mass less log tilted mass, at the variate
	n, k   int
}

// trialCounts checks the arguments, variates and probabilities, and computes the masses. ok is
// false if there is no variate.
func (b *Builder) trialCounts(a []Arg) (c trialCounts, ok bool) {
	g := b.G
	n, k := b.rows(a[1])
	several := len(b.shape(a[1])) == 2
	if s := b.shape(a[0]); len(s) > 0 {
		if several && s[0] != n {
			b.Fail("Successes variable has %d elements, but Probability parameters has %d", s[0], n)
		}
		n = s[0]
	}
	check(g, b.Name, "Successes variable", types.Between(0, float64(k)), a[0].Ref)
	check(g, b.Name, "Probability parameters", types.UnitInterval, a[1].Ref)
	if n == 0 {
		return c, false
	}
	c = trialCounts{n: n, k: k, y: g.Broadcast(a[0].Ref, []int{n})}
	if k == 0 { // the number is 0
		c.tilt, c.offset = g.Broadcast(g.Const(0), []int{n}), g.Broadcast(g.Const(0), []int{n})
		c.masses = g.Broadcast(g.Const(1), []int{1, n})
		return c, true
	}
	theta := a[1].Ref
	if several {
		theta = g.Transpose(theta)
	} else {
		theta = alongCols(g, theta, []int{k, n})
	}
	c.tilt = tiltTo(g, theta, c.y, k, n)
	t := alongRows(g, c.tilt, []int{k, n})
	success := g.Mul(theta, g.Exp(t))
	failure := g.Sub(g.Const(1), theta)
	scale := g.Detach(g.Add(failure, success))
	grown := g.Detach(g.Mul(theta, g.Do(ad.OpExpm1, nil, t))) // scale - 1
	logScale := g.Select(g.Less(g.Const(-0.5), grown), g.Do(ad.OpLog1p, nil, grown), g.Log(scale))
	c.offset = g.Sub(sumCols(g, logScale), g.Mul(c.tilt, c.y))

	body := ad.NewGraph()
	row := ad.Type{Shape: []int{n}}
	before, no, yes := body.Input(ad.Type{Shape: []int{k + 1, n}}), body.Input(row), body.Input(row)
	shifted := body.Concat(body.Broadcast(body.Const(0), []int{n}), body.Slice(before, 0, []int{k, n}))
	along := func(v ad.Ref) ad.Ref { return alongRows(body, v, []int{k + 1, n}) }
	body.Output(body.Add(body.Mul(before, along(no)), body.Mul(body.Reshape(shifted, []int{k + 1, n}), along(yes))))
	first := make([]float64, (k+1)*n)
	for i := range n {
		first[i] = 1
	}
	scan := g.DoScan(&ad.Scan{Body: body, Carries: 1, Streams: 2, Steps: k},
		[]ad.Ref{g.ConstArray(ad.Type{Shape: []int{k + 1, n}}, first), g.Div(failure, scale), g.Div(success, scale)})
	c.masses = g.Final(scan, 0)
	return c, true
}

// tiltTo returns the t for which the mean of each column is near y. The target is pulled inside the
// range of the possible means, so that t remains moderate at its ends.
func tiltTo(g *ad.Graph, theta, y ad.Ref, k, n int) ad.Ref {
	theta = g.Detach(theta)
	count := func(is ad.Ref) ad.Ref { return sumCols(g, is) }
	certain := count(g.Equal(theta, g.Const(1)))
	open := g.Sub(g.Const(float64(k)), g.Add(certain, count(g.Equal(theta, g.Const(0)))))
	target := g.Add(certain, g.Mul(g.Div(open, plus(g, open, 1)), plus(g, g.Sub(y, certain), 0.5)))
	body := ad.NewGraph()
	row, all := ad.Type{Shape: []int{n}}, ad.Type{Shape: []int{k, n}}
	lo, hi, p, want := body.Input(row), body.Input(row), body.Input(all), body.Input(row)
	t := body.Scale(0.5, body.Add(lo, hi))
	yes := body.Mul(p, alongRows(body, body.Exp(t), all.Shape))
	mean := sumCols(body, body.Div(yes, body.Add(body.Sub(body.Const(1), p), yes)))
	below := body.Less(mean, want)
	body.Output(body.Select(below, t, lo))
	body.Output(body.Select(below, hi, t))
	end := func(v float64) ad.Ref { return g.Broadcast(g.Const(v), []int{n}) }
	scan := g.DoScan(&ad.Scan{Body: body, Carries: 2, Steps: tiltSteps}, []ad.Ref{end(minTilt), end(maxTilt), theta, target})
	return g.Detach(g.Select(g.Less(g.Const(0), open), g.Final(scan, 0), g.Const(0)))
}

// total returns the logarithms of the sums of the masses of some numbers, one for each variate.
// which selects them by their distances to the variate.
func (c trialCounts) total(g *ad.Graph, which func(distance ad.Ref) ad.Ref) ad.Ref {
	shape := []int{c.k + 1, c.n}
	numbers := make([]float64, c.k+1)
	for i := range numbers {
		numbers[i] = float64(i)
	}
	distance := g.Sub(alongCols(g, g.ConstArray(ad.Type{Shape: shape[:1]}, numbers), shape), alongRows(g, c.y, shape))
	zero := g.Const(0)
	// Without the tilt a mass is less by e^(-t distance). This is at most 1 where it counts.
	weight := g.Exp(g.Do(ad.OpMin, nil, zero, g.Neg(g.Mul(alongRows(g, c.tilt, shape), distance))))
	weight = g.Select(which(distance), weight, zero)
	return g.Add(logPositive(g, sumCols(g, g.Mul(weight, c.masses))), c.offset)
}

// poissonBinomials declares the distribution.
func poissonBinomials() []Func {
	const doc = "the Poisson-binomial distribution, the number of successes in trials with probabilities theta."
	vectors := types.OneOf(tVec, tRow, tReal.Array(1), tVec.Array(1), tRow.Array(1), tReal.Array(2))
	sets := []types.Set{types.Ints, vectors}
	in := []types.Constraint{drawnFrom(0, 2), types.UnitInterval}
	mass := func(b *Builder, a []Arg) []ad.Ref {
		c, ok := b.trialCounts(a)
		if !ok {
			return nil
		}
		zero := b.G.Const(0)
		return b.kept(a, Term{Value: c.total(b.G, func(d ad.Ref) ad.Ref { return b.G.Equal(d, zero) }), Of: always})
	}
	// tails returns the logarithm of one tail, upper or not. The tail on the side of the variate
	// away from the mean is summed, the other is its complement.
	tails := func(b *Builder, a []Arg, upper bool) ad.Ref {
		g := b.G
		c, ok := b.trialCounts(a)
		if !ok {
			return g.Const(0)
		}
		zero := g.Const(0)
		above := g.Less(zero, c.tilt)
		side := alongRows(g, above, []int{c.k + 1, c.n})
		sum := c.total(g, func(d ad.Ref) ad.Ref {
			over := g.Less(zero, d)
			return g.Select(side, over, g.Sub(g.Const(1), over))
		})
		sum = g.Do(ad.OpMin, nil, sum, zero)
		rest := g.Do(ad.OpLog1mExp, nil, sum)
		all := g.Equal(c.y, g.Const(float64(c.k)))
		if upper {
			return g.Sum(g.Select(all, g.Const(negInf), g.Select(above, sum, rest)))
		}
		return g.Sum(g.Select(all, zero, g.Select(above, rest, sum)))
	}
	distribution := func(suffix, what string, upper, log bool) Func {
		f := density("poisson_binomial_"+suffix, what+doc, sets, in, nil)
		f.Build = func(b *Builder, a []Arg) ad.Ref {
			v := tails(b, a, upper)
			if !log {
				v = b.G.Exp(v)
			}
			return v
		}
		return f
	}
	const name = "poisson_binomial_rng"
	draw := func(b *Builder, a []Arg) ad.Ref {
		check(b.G, name, "Probability parameters", types.UnitInterval, a[0].Ref)
		return sumLast(b.G, b.random("bernoulli", func(rng *rand.Rand, p []float64) float64 { return randBernoulli(rng, p[0]) }, a[0].Ref))
	}
	generators := slices.Concat(
		fixedEach(name, "A draw from "+doc, tInt, vectors.Types[:3], nil, draw),
		fixedEach(name, "A draw from "+doc, tInt.Array(1), vectors.Types[3:], nil, draw))
	for i := range generators {
		generators[i].In, generators[i].Random = []types.Constraint{types.UnitInterval}, true
	}
	return append(generators,
		density("poisson_binomial_lpmf", "The logarithm of the mass of "+doc, sets, in, mass),
		distribution("cdf", "The distribution function of ", false, false),
		distribution("lcdf", "The logarithm of the distribution function of ", false, true),
		distribution("lccdf", "The logarithm of the complementary distribution function of ", true, true))
}
