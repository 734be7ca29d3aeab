package criticise

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Uniformity is the result of a test of whether numbers between 0 and 1 are uniformly distributed.
type Uniformity struct {
	N int
	P float64 // p-value: probability that a uniform sample deviates at least as much at some point

	// Difference is the empirical distribution function minus the uniform one, at Points. Lower and
	// Upper are a simultaneous band that contains it for 95 % of uniform samples.
	Points, Difference, Lower, Upper []float64

	Mean, Variance float64 // mean and variance of the numbers; 1/2 and 1/12 if they are uniform
}

// Shape is the way in which numbers deviate from uniform, see [Uniformity.Shape].
type Shape int

// The shapes.
const (
	Other   Shape = iota // neither the mean nor the variance deviates clearly
	High                 // the numbers are too large
	Low                  // the numbers are too small
	Spread               // too many are near 0 and 1
	Crowded              // too few are near 0 and 1
)

// Shape classifies the deviation from uniform by the mean or the variance, whichever deviates by
// more standard errors. Only one of them counts, because numbers that are all near 1 also vary
// little.
func (u *Uniformity) Shape() Shape {
	const enough = 2 // in standard errors
	root := math.Sqrt(float64(u.N))
	mean, variance := (u.Mean-0.5)*root/math.Sqrt(1.0/12), (u.Variance-1.0/12)*root/math.Sqrt(1.0/180)
	switch {
	case !(max(math.Abs(mean), math.Abs(variance)) >= enough):
		return Other
	case math.Abs(mean) >= math.Abs(variance) && mean > 0:
		return High
	case math.Abs(mean) >= math.Abs(variance):
		return Low
	case variance > 0:
		return Spread
	}
	return Crowded
}

// Farthest returns the point at which the share of the numbers below it deviates most from that of
// uniform numbers, which equals the point, and that share. Both are NaN if there are no numbers.
func (u *Uniformity) Farthest() (point, share float64) {
	if u == nil || len(u.Points) == 0 {
		return math.NaN(), math.NaN()
	}
	most := 0
	for i, d := range u.Difference {
		if math.Abs(d) > math.Abs(u.Difference[most]) {
			most = i
		}
	}
	return u.Points[most], u.Points[most] + u.Difference[most]
}

// simulations is the number of simulated uniform samples from which the band and P are computed.
const simulations = 2000

// Uniform tests whether values are uniform, by their empirical distribution function at equally
// spaced points. At each point, the number of values below it has a binomial distribution; the most
// unlikely point counts. This is the test of Säilynoja, Bürkner and Vehtari (2022), with its level
// adjusted by simulation. rng is the only source of random numbers.
func Uniform(values []float64, rng *rand.Rand) *Uniformity {
	n := len(values)
	points := min(max(n, 10), 100)
	u := &Uniformity{N: n, P: math.NaN(), Mean: math.NaN(), Variance: math.NaN()}
	if n == 0 {
		return u
	}
	u.Mean, u.Variance = 0, 0
	for _, v := range values {
		u.Mean += v / float64(n)
	}
	for _, v := range values {
		u.Variance += (v - u.Mean) * (v - u.Mean) / float64(max(n-1, 1))
	}
	// tails[i][c] is the two-sided probability, twice the smaller tail, that c of n values are
	// below point i.
	tails := make([][]float64, points-1)
	for i := range tails {
		z := float64(i+1) / float64(points)
		u.Points = append(u.Points, z)
		b := distuv.Binomial{N: float64(n), P: z}
		tails[i] = make([]float64, n+1)
		below, cumulated := 0.0, 0.0
		for c := range tails[i] {
			cumulated += b.Prob(float64(c))
			tails[i][c] = 2 * min(cumulated, 1-below)
			below = cumulated
		}
	}
	counts := make([]int, points)
	least := func(values []float64) float64 {
		clear(counts)
		for _, v := range values {
			counts[min(max(int(v*float64(points)), 0), points-1)]++
		}
		worst, c := 1.0, 0
		for i := range tails {
			c += counts[i]
			worst = min(worst, tails[i][c])
		}
		return worst
	}
	observed := least(values)
	c := 0
	for i := range tails {
		c += counts[i]
		u.Difference = append(u.Difference, float64(c)/float64(n)-u.Points[i])
	}
	sample := make([]float64, n)
	all := make([]float64, simulations)
	as := 1
	for s := range all {
		for i := range sample {
			sample[i] = rng.Float64()
		}
		all[s] = least(sample)
		if all[s] <= observed {
			as++
		}
	}
	// The sum of the probabilities at all points is also an upper bound of P (Bonferroni). It is
	// used where the simulation can only show that P is below 1/simulations.
	u.P = min(float64(as)/(simulations+1), float64(len(tails))*observed)
	slices.Sort(all)
	level := all[simulations/20]
	for i := range tails {
		lower, upper := n, 0
		for c, p := range tails[i] {
			if p >= level {
				lower, upper = min(lower, c), max(upper, c)
			}
		}
		u.Lower = append(u.Lower, float64(lower)/float64(n)-u.Points[i])
		u.Upper = append(u.Upper, float64(upper)/float64(n)-u.Points[i])
	}
	return u
}
