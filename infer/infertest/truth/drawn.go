package truth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// family draws targets of one kind, with random dimension, scales, masses and rotation.
type family struct {
	name string
	n    int // number of targets drawn per seed
	draw func(rng *rand.Rand, name string) *Target
}

// families lists the families from which [Drawn] draws.
var families = []family{
	{"normal", 5, func(rng *rand.Rand, name string) *Target {
		d := between(rng, 2, 50)
		condition := logUniform(rng, 1, 1e4)
		return target(name, OneMode, gaussian(rng, normals(rng, d), spread(d, 1/math.Sqrt(condition), math.Sqrt(condition))))
	}},
	{"t", 4, func(rng *rand.Rand, name string) *Target {
		d := between(rng, 1, 12)
		return target(name, OneMode, affine(sphericalT(d, logUniform(rng, 1.5, 10)), normals(rng, d), scaled(rotation(rng, d), spread(d, 0.3, 3))))
	}},
	{"laplace", 3, func(rng *rand.Rand, name string) *Target {
		d := between(rng, 1, 8)
		return target(name, OneMode, affine(iid(d, laplace(logUniform(rng, 0.3, 3), logUniform(rng, 0.3, 3))), normals(rng, d), rotation(rng, d)))
	}},
	{"boundary", 4, func(rng *rand.Rand, name string) *Target {
		var s []scalar
		for range between(rng, 1, 8) {
			s = append(s, []scalar{logGamma(logUniform(rng, 0.3, 5)), logitBeta(logUniform(rng, 0.3, 5), logUniform(rng, 0.3, 5)), logHalfNormal(), logHalfCauchy()}[rng.IntN(4)])
		}
		return target(name, OneMode, independent(s...))
	}},
	{"banana", 4, func(rng *rand.Rand, name string) *Target {
		s := logUniform(rng, 1, 10)
		return target(name, OneMode, product(banana(logUniform(rng, 0.3, 3)/s, s), standard(between(rng, 1, 10))))
	}},
	{"funnel", 4, func(rng *rand.Rand, name string) *Target {
		return target(name, OneMode, funnel(between(rng, 2, 12), 0.5+2*rng.Float64()))
	}},
	{"hierarchy", 5, func(rng *rand.Rand, name string) *Target {
		y, s := normals(rng, between(rng, 3, 15)), logUniform(rng, 0.2, 5)
		tau := logUniform(rng, 0.3, 3)
		for i := range y {
			y[i] = 1 + tau*y[i] + s*rng.NormFloat64()
		}
		return hierarchy(y, s, 1, rng.IntN(2) == 0).target(name, OneMode)
	}},
	{"modes", 7, func(rng *rand.Rand, name string) *Target {
		k, d := between(rng, 2, 6), between(rng, 2, 12)
		centres := apartWithin(rng, k, d, 1.7)
		return drawnModes(rng, name, Reachable, centres)
	}},
	{"equals", 6, func(rng *rand.Rand, name string) *Target {
		k, d := between(rng, 2, 4), between(rng, 2, 10)
		var p []float64
		sum := 0.0
		for range k {
			p = append(p, 0.3+rng.ExpFloat64())
			sum += p[len(p)-1]
		}
		for i := range p {
			p[i] /= sum
		}
		centres := apartWithin(rng, k, d, 1.7)
		least := math.Inf(1)
		for i := range k {
			for j := range i {
				least = min(least, distance(centres[i], centres[j]))
			}
		}
		scale := 0.48 * least / ballRadius(d) * logUniform(rng, 0.5, 1)
		return balls(name, Reachable, p, centres, at(k, scale)...)
	}},
	{"heights", 5, func(rng *rand.Rand, name string) *Target {
		p, d := 0.05+0.9*rng.Float64(), between(rng, 3, 60)
		l := heights(p, d, logUniform(rng, 0.2, 0.8))
		return target(name, Reachable, l, ofHeights(p))
	}},
	{"concentric", 4, func(rng *rand.Rand, name string) *Target {
		d := between(rng, 2, 8)
		// The narrow part must be so narrow that a ball around it has little mass of the wide part.
		narrow := logUniform(rng, 0.01, 0.1)
		return concentric(name, d, 0.2+0.6*rng.Float64(), rng.Float64()-0.5, narrow)
	}},
	{"labels", 4, func(rng *rand.Rand, name string) *Target {
		k := between(rng, 2, 3)
		means, weights, prior := make([]float64, k), at(k, 1/float64(k)), make([]float64, k)
		for i := range means {
			means[i] = (3 + rng.Float64()) * (float64(i) - float64(k-1)/2)
		}
		if rng.IntN(2) == 0 {
			for i := range prior {
				prior[i] = 0.5 * rng.NormFloat64()
			}
		}
		return components(mixtureData(rng, between(rng, 30, 60), weights, means, 1), weights, prior, 1, 3).target(name, Reachable)
	}},
	{"factor", 4, func(rng *rand.Rand, name string) *Target {
		loadings := normals(rng, 3)
		loadings[0] = math.Copysign(1+0.5*rng.Float64(), loadings[0])
		return factor(factorData(rng, between(rng, 10, 25), loadings, 0.6), 0.6).target(name, Reachable)
	}},
	{"hidden", 4, func(rng *rand.Rand, name string) *Target {
		m, stay := 1.5+rng.Float64(), 0.7+0.25*rng.Float64()
		prior := []float64{0.5 * rng.NormFloat64(), 0}
		return hidden(hiddenData(rng, between(rng, 20, 50), stay, []float64{-m, m}), stay, prior).target(name, Reachable)
	}},
	{"curves", 6, func(rng *rand.Rand, name string) *Target {
		tilt := 0.5 * float64(rng.IntN(2)) * rng.NormFloat64()
		switch rng.IntN(3) {
		case 0:
			c := transfection(between(rng, 15, 40), logUniform(rng, 0.03, 0.2), []float64{-0.7, -0.7 + tilt})
			return c.observed(rng, []float64{-2.2 + 0.5*rng.Float64(), rng.Float64()}, []float64{2 + 2*rng.Float64(), 0.3}).posterior().target(name, Reachable)
		case 1:
			c := oscillator(between(rng, 8, 20), logUniform(rng, 0.1, 0.5), tilt)
			return c.observed(rng, []float64{-1.5 + rng.Float64()}, []float64{1 + rng.Float64()}).posterior().target(name, Reachable)
		}
		return bistable(rng, between(rng, 8, 20), logUniform(rng, 0.05, 0.2), 0.2+0.4*rng.Float64(), 0.7+0.7*rng.Float64(), tilt).target(name, Reachable)
	}},
	{"wells", 4, func(rng *rand.Rand, name string) *Target {
		return wells(between(rng, 2, 10), 2+4*rng.Float64(), 0.3*rng.NormFloat64(), 0.5*rng.NormFloat64()).target(name, Reachable)
	}},
	{"far", 6, func(rng *rand.Rand, name string) *Target {
		d := between(rng, 1, 10)
		to, away := direction(rng, d), 3*ballRadius(d)+logUniform(rng, 5, 40)
		for i := range to {
			to[i] *= away
		}
		p := 0.15 + 0.7*rng.Float64()
		return balls(name, Far, []float64{p, 1 - p}, [][]float64{make([]float64, d), to}, 1, logUniform(rng, 0.2, 2))
	}},
	{"improper", 4, func(rng *rand.Rand, name string) *Target {
		switch rng.IntN(3) {
		case 0:
			return ridge(name, normals(rng, between(rng, 2, 8))...)
		case 1:
			return heavy(name, between(rng, 1, 6), 0.3+0.7*rng.Float64())
		}
		return unboundedScale(name, normals(rng, between(rng, 2, 8)))
	}},
}

// Drawn returns targets drawn at random from families, with a seed.
func Drawn(seed uint64) []*Target {
	var out []*Target
	for _, f := range families {
		for i := range f.n {
			t := f.draw(infer.Stream(seed, i+1, "truth "+f.name, 0), fmt.Sprintf("%s-%d-%d", f.name, seed, i+1))
			t.Drawn = true
			out = append(out, t)
		}
	}
	return classed(out)
}

// between is a random integer from low to high, both included.
func between(rng *rand.Rand, low, high int) int { return low + rng.IntN(high-low+1) }

func logUniform(rng *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, rng.Float64())
}

func normals(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

// direction is a random vector of length 1.
func direction(rng *rand.Rand, d int) []float64 {
	v := normals(rng, d)
	n := norm(v)
	for i := range v {
		v[i] /= n
	}
	return v
}

// apartWithin draws k points in the cube with the given half-width, far enough apart that modes
// around them can be distinguished.
func apartWithin(rng *rand.Rand, k, d int, half float64) [][]float64 {
	var out [][]float64
	for len(out) < k {
		x := make([]float64, d)
		for i := range x {
			x[i] = half * (2*rng.Float64() - 1)
		}
		if !slices.ContainsFunc(out, func(c []float64) bool { return distance(x, c) < 0.8 }) {
			out = append(out, x)
		}
	}
	return out
}

// drawnModes has normal modes at given centres, with random masses of at least 0.05 and different
// scales along random directions.
func drawnModes(rng *rand.Rand, name string, class Class, centres [][]float64) *Target {
	k, d := len(centres), len(centres[0])
	weights, sum := make([]float64, k), 0.0
	for i := range weights {
		weights[i] = rng.ExpFloat64()
		sum += weights[i]
	}
	for i := range weights {
		weights[i] = 0.05 + (1-0.05*float64(k))*weights[i]/sum
	}
	least := math.Inf(1)
	for i := range centres {
		for j := range i {
			least = min(least, distance(centres[i], centres[j]))
		}
	}
	var scales []float64
	for range centres {
		scales = append(scales, 0.48*least/ballRadius(d)*logUniform(rng, 0.3, 1))
	}
	l, shares := apart(weights, centres, scales, func(i int) law {
		return gaussian(rng, centres[i], spread(d, scales[i]*logUniform(rng, 0.2, 1), scales[i]))
	})
	return target(name, class, l, shares...)
}
