package truth

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ppl-lang/ppl/infer"
)

// dataSeed selects the data and rotations of the fixed targets.
const dataSeed = 33

// Fixed returns the fixed list of targets, with new scratch memory at each call.
func Fixed() []*Target {
	return slices.Concat(fixedOneMode(), classed(fixedReachable()), fixedFar(), fixedImproper())
}

func fixedOneMode() []*Target {
	rng := infer.Stream(dataSeed, 1, "truth", 0)
	one := func(name string, l law, more ...Quantity) *Target { return target(name, OneMode, l, more...) }
	ringLaw, ringMedian := ring(2, 5, 0.5)
	shellLaw, shellMedian := ring(6, 10, 0.5)
	even := []float64{2.8, 0.8, -0.3, 0.7, -0.1, 0.1, 1.8, 1.2}
	return []*Target{
		one("normal-2", standard(2)),
		one("normal-100", standard(100)),
		one("normal-10-condition-1e4", gaussian(rng, at(10, 1), spread(10, 0.1, 10))),
		one("normal-40-condition-1e2", gaussian(rng, at(40, -1), spread(40, 0.3, 3))),
		one("normal-12-units-1e6", independent(unitsOf(12, 1e-3, 1e3)...)),
		one("normal-100-neal", independent(unitsOf(100, 0.01, 1)...)),
		one("autoregression-50", autoregression(50, 0.99)),
		one("equicorrelated-20", equicorrelated(20, 0.95)),
		one("cauchy-2", iid(2, studentT(1))),
		one("t2-spherical-5", sphericalT(5, 2)),
		one("t3-3", iid(3, studentT(3))),
		one("t8-spherical-10", affine(sphericalT(10, 8), at(10, 0.5), scaled(rotation(rng, 10), spread(10, 0.3, 3)))),
		one("laplace-3", iid(3, laplace(1, 1))),
		one("laplace-skewed-4", affine(iid(4, laplace(3, 0.5)), at(4, 0), rotation(rng, 4))),
		one("cube-5", cube(5)),
		one("quartic-4", iid(4, quartic())),
		one("banana-wide", banana(0.03, 10)),
		one("banana-bent", product(banana(1, 1), standard(3))),
		one("chained-4", chained(4, 0.3)),
		one("funnel-2", funnel(2, 3)),
		one("funnel-10", funnel(10, 3)),
		one("funnel-5-mild", funnel(5, 1)),
		one("ring-2", ringLaw, ringMedian),
		one("shell-6", shellLaw, shellMedian),
		one("log-gamma-3", iid(3, logGamma(0.3))),
		one("logit-arcsine-2", iid(2, logitBeta(0.5, 0.5))),
		one("simplex-5", simplex(0.5, 1, 2, 0.3, 4)),
		one("log-scales", independent(logHalfNormal(), logHalfCauchy(), logHalfNormal(), normal(0, 1))),
		one("horseshoe-2", horseshoe(2)),
		one("mixed-scales-2", mix([]float64{0.8, 0.2}, standard(2), shift(standard(2), at(2, 1.5), 3))),
		one("bumps-near", mix([]float64{0.6, 0.4}, shift(standard(3), at(3, -0.9), 1), shift(standard(3), at(3, 0.9), 0.7))),
		hierarchy(even, 1, 1, true).target("hierarchy-centred", OneMode),
		hierarchy(even, 1, 1, false).target("hierarchy-non-centred", OneMode),
		hierarchy(even, 5, 1.5, true).target("hierarchy-weak-centred", OneMode),
		hierarchy(even, 0.1, 1, false).target("hierarchy-strong-non-centred", OneMode),
	}
}

// unitsOf is a normal distribution whose coordinates have different scales.
func unitsOf(d int, low, high float64) []scalar {
	var out []scalar
	for _, s := range spread(d, low, high) {
		out = append(out, normal(s, s))
	}
	return out
}

// simplex is a Dirichlet distribution, on the unconstrained scale of Stan's stick-breaking
// transform.
func simplex(alpha ...float64) law {
	var s []scalar
	rest := 0.0
	for _, a := range alpha {
		rest += a
	}
	for k, a := range alpha[:len(alpha)-1] {
		rest -= a
		s = append(s, moved(logitBeta(a, rest), math.Log(float64(len(alpha)-1-k))))
	}
	return independent(s...)
}

// heights has two modes of masses p and 1−p, separated in the first coordinate. The second mode is
// narrower in the d other coordinates, so its density may be higher although it has less mass.
func heights(p float64, d int, narrow float64) law {
	wide := product(independent(normal(-1, 0.05)), standard(d))
	return mix([]float64{p, 1 - p}, wide, product(independent(normal(1, 0.05)), shift(standard(d), at(d, 0), narrow)))
}

// ofHeights is the share of the first mode of heights.
func ofHeights(p float64) Quantity {
	return share("x[1] < 0", p, func(x []float64) bool { return x[0] < 0 })
}

// apart is a mixture of normal modes that hardly overlap, with their shares. A ball around the
// centre of a mode contains all but a millionth of its mass, and almost none of the others'.
func apart(weights []float64, centres [][]float64, scales []float64, part func(k int) law) (law, []Quantity) {
	var parts []law
	var shares []Quantity
	d := len(centres[0])
	for k := range weights {
		parts = append(parts, part(k))
		radius := ballRadius(d) * scales[k]
		name := fmt.Sprintf("mode %d", k+1)
		shares = append(shares, share(name, weights[k], func(x []float64) bool { return distance(x, centres[k]) < radius }))
	}
	return mix(weights, parts...), shares
}

// ballRadius is the radius of a ball that contains all but a millionth of a standard normal
// distribution.
func ballRadius(d int) float64 {
	return math.Sqrt(distuv.ChiSquared{K: float64(d)}.Quantile(1 - 1e-6))
}

func distance(x, y []float64) float64 {
	s := 0.0
	for i := range x {
		s += (x[i] - y[i]) * (x[i] - y[i])
	}
	return math.Sqrt(s)
}

// balls is apart with spherical modes.
func balls(name string, class Class, weights []float64, centres [][]float64, scales ...float64) *Target {
	l, shares := apart(weights, centres, scales, func(k int) law { return shift(standard(len(centres[0])), centres[k], scales[k]) })
	return target(name, class, l, shares...)
}

// concentric is a mixture of two normal distributions with the same centre and different scales.
// Its share is the probability of the ball that contains the narrow one.
func concentric(name string, d int, p, centre, narrow float64) *Target {
	c, radius := at(d, centre), ballRadius(d)*narrow
	inside := distuv.ChiSquared{K: float64(d)}.CDF(radius * radius)
	l := mix([]float64{p, 1 - p}, shift(standard(d), c, 1), shift(standard(d), c, narrow))
	return target(name, Reachable, l, share("narrow", (1-p)*(1-1e-6)+p*inside, func(x []float64) bool { return distance(x, c) < radius }))
}

func circle(n, d int, radius float64) [][]float64 {
	var out [][]float64
	for k := range n {
		c := make([]float64, d)
		c[0], c[1] = radius*math.Cos(2*math.Pi*float64(k)/float64(n)), radius*math.Sin(2*math.Pi*float64(k)/float64(n))
		out = append(out, c)
	}
	return out
}

func fixedReachable() []*Target {
	rng := infer.Stream(dataSeed, 2, "truth", 0)
	many := func(name string, p posterior) *Target { return p.target(name, Reachable) }
	half, third := []float64{0.5, 0.5}, []float64{1. / 3, 1. / 3, 1. / 3}
	return []*Target{
		target("heights-0.99-101", Reachable, heights(0.99, 100, 0.3), ofHeights(0.99)),
		target("heights-0.9-51", Reachable, heights(0.9, 50, 0.3), ofHeights(0.9)),
		target("heights-0.6-21", Reachable, heights(0.6, 20, 0.4), ofHeights(0.6)),
		target("heights-0.3-6", Reachable, heights(0.3, 5, 0.2), ofHeights(0.3)),
		balls("two-equal-1", Reachable, half, [][]float64{{-1}, {1}}, 0.15, 0.15),
		balls("two-equal-5", Reachable, half, [][]float64{at(5, -1), at(5, 1)}, 0.3, 0.3),
		balls("two-unequal-2", Reachable, []float64{0.7, 0.3}, [][]float64{{-1, 0}, {1.2, 0.5}}, 0.15, 0.15),
		balls("two-scales-5", Reachable, half, [][]float64{at(5, -0.8), at(5, 0.8)}, 0.4, 0.05),
		balls("three-2", Reachable, []float64{0.5, 0.3, 0.2}, circle(3, 2, 1.5), 0.1, 0.2, 0.1),
		balls("eight-2", Reachable, at(8, 0.125), circle(8, 2, 1.7), at(8, 0.1)...),
		balls("four-20", Reachable, []float64{0.4, 0.3, 0.2, 0.1}, circle(4, 20, 1.8), 0.12, 0.15, 0.1, 0.15),
		concentric("concentric-2", 2, 0.5, 0.3, 0.02),
		concentric("concentric-5", 5, 0.5, -0.4, 0.05),
		concentric("concentric-5-0.8", 5, 0.8, 0.2, 0.01),
		concentric("concentric-10", 10, 0.5, 0, 0.1),
		many("labels-2", components(mixtureData(rng, 40, half, []float64{-2, 2}, 1), half, at(2, 0), 1, 5)),
		many("labels-3", components(mixtureData(rng, 60, third, []float64{-4, 0, 4}, 1), third, at(3, 0), 1, 5)),
		many("labels-2-told-apart", components(mixtureData(rng, 40, half, []float64{-1.5, 1.5}, 1), half, []float64{-0.5, 0.5}, 1, 2)),
		many("labels-2-weights", components(mixtureData(rng, 30, []float64{0.6, 0.4}, []float64{-2, 2}, 1), []float64{0.6, 0.4}, at(2, 0), 1, 5)),
		many("factor-20", factor(factorData(rng, 20, []float64{1.2, -0.8, 1}, 0.6), 0.6)),
		many("hidden-30", hidden(hiddenData(rng, 30, 0.9, []float64{-2, 2}), 0.9, at(2, 0))),
		many("hidden-30-told-apart", hidden(hiddenData(rng, 30, 0.8, []float64{-2, 2}), 0.8, []float64{-1, 1})),
		many("transfection-20", transfection(20, 0.1, at(2, -0.7)).observed(rng, []float64{-2, 0.3}, []float64{3, 0.2}).posterior()),
		many("transfection-40-told-apart", transfection(40, 0.1, []float64{-1, -0.5}).observed(rng, []float64{-1.5, 0.5}, []float64{2, 0.5}).posterior()),
		many("oscillator-12", oscillator(12, 0.3, 0).observed(rng, []float64{-1}, []float64{1}).posterior()),
		many("oscillator-12-told-apart", oscillator(12, 0.3, 0.7).observed(rng, []float64{0.8}, []float64{1.5}).posterior()),
		many("bistable-15", bistable(rng, 15, 0.1, 0.3, 1, 0)),
		many("bistable-15-told-apart", bistable(rng, 15, 0.1, 0.4, 1.3, 0.5)),
		many("wells-2", wells(2, 4, 0, 0)),
		many("wells-8", wells(8, 4, 0.2, 0.3)),
	}
}

func fixedFar() []*Target {
	return []*Target{
		balls("far-1", Far, []float64{0.5, 0.5}, [][]float64{{0}, {20}}, 1, 1),
		balls("far-5", Far, []float64{0.7, 0.3}, [][]float64{at(5, 0), at(5, 15)}, 1, 0.5),
		balls("far-10-narrow", Far, []float64{0.2, 0.8}, [][]float64{at(10, 0), at(10, -10)}, 1, 0.1),
		balls("far-three-2", Far, []float64{0.3, 0.3, 0.4}, [][]float64{{-1, 0}, {1, 0}, {0, 30}}, 0.15, 0.15, 2),
	}
}

func fixedImproper() []*Target {
	return []*Target{
		ridge("improper-ridge-2", 1, -1),
		ridge("improper-ridge-4", 1, 1, 0.5, -2),
		improper("improper-flat-1", 1, func(_, grad []float64) float64 { clear(grad); return 0 }),
		improper("improper-growing-2", 2, func(x, grad []float64) float64 {
			grad[0], grad[1] = 1, -x[1]
			return x[0] - 0.5*x[1]*x[1]
		}),
		heavy("improper-tail-3", 3, 0.8),
		separated("improper-separated", []float64{-2, -1.1, -0.4, 0.3, 0.9, 1.7}),
		unboundedScale("improper-scale", []float64{0.3, -0.2, 0.5, 0.1}),
	}
}
