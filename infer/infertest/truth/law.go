package truth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// law is a distribution with known density, exact draws and moments.
type law struct {
	dim     int
	density func() evaluator                        // makes an evaluator of the log density; that of a part of a mixture must be normalised
	draw    func(rng *rand.Rand, x []float64)       // an exact draw; safe for concurrent use
	mean    []float64                               // mean of each coordinate; nil: means are not compared
	sd      []float64                               // standard deviation of each coordinate; NaN: its mean is not compared
	cdf     func(coordinate int, c float64) float64 // of a coordinate; nil: no closed form

	// marginal is the distribution of a spherical law's projection on any unit vector. With it,
	// affine images have marginals in closed form.
	marginal *scalar

	normalised bool // the density is known to integrate to 1; set for mixtures
}

// maxCompared is the maximum number of coordinates whose quantities are compared.
const maxCompared = 4

// compared lists the coordinates whose quantities are compared: all, or maxCompared evenly spaced
// ones.
func compared(d int) []int {
	n := min(d, maxCompared)
	out := make([]int, n)
	for i := range out {
		out[i] = i * (d - 1) / max(1, n-1)
	}
	return out
}

// quantities returns the means of coordinates and the indicators of their quantiles.
func (l law) quantities() []Quantity {
	var out []Quantity
	for _, j := range compared(l.dim) {
		name := fmt.Sprintf("x[%d]", j+1)
		if l.sd != nil && !math.IsNaN(l.sd[j]) {
			out = append(out, Quantity{Name: "mean of " + name, Truth: l.mean[j], SD: l.sd[j], Of: func(x []float64) float64 { return x[j] }})
		}
		if l.cdf == nil {
			continue
		}
		for _, p := range []float64{0.1, 0.5, 0.9} {
			c := quantile(func(c float64) float64 { return l.cdf(j, c) }, p)
			p := l.cdf(j, c) // between modes, many values of c have nearly the same probability
			q := share(fmt.Sprintf("P(%s < %.3g)", name, c), p, func(x []float64) bool { return x[j] < c })
			q.Share = false
			out = append(out, q)
		}
	}
	return out
}

// quantile solves cdf(c) = p by bisection.
func quantile(cdf func(c float64) float64, p float64) float64 {
	low, high := -1.0, 1.0
	for cdf(low) > p && low > -1e12 {
		low *= 2
	}
	for cdf(high) < p && high < 1e12 {
		high *= 2
	}
	for range 100 {
		if c := (low + high) / 2; cdf(c) < p {
			low = c
		} else {
			high = c
		}
	}
	return (low + high) / 2
}

// independent has coordinates of given distributions.
func independent(s ...scalar) law {
	l := law{dim: len(s), mean: make([]float64, len(s)), sd: make([]float64, len(s))}
	for i, c := range s {
		l.mean[i], l.sd[i] = c.mean, c.sd
	}
	l.density = func() evaluator {
		return func(x, grad []float64) float64 {
			lp := 0.0
			for i, c := range s {
				v, slope := c.log(x[i])
				lp += v
				grad[i] = slope
			}
			return lp
		}
	}
	l.draw = func(rng *rand.Rand, x []float64) {
		for i, c := range s {
			x[i] = c.draw(rng)
		}
	}
	l.cdf = func(j int, c float64) float64 { return s[j].cdf(c) }
	return l
}

// iid has d coordinates of the same distribution.
func iid(d int, s scalar) law { return independent(slices.Repeat([]scalar{s}, d)...) }

// standard is the standard normal distribution in d dimensions.
func standard(d int) law {
	l, s := iid(d, normal(0, 1)), normal(0, 1)
	l.marginal = &s
	return l
}

// sphericalT is the multivariate t distribution with nu degrees of freedom.
func sphericalT(d int, nu float64) law {
	s := studentT(nu)
	half := (nu + float64(d)) / 2
	a, _ := math.Lgamma(half)
	b, _ := math.Lgamma(nu / 2)
	constant := a - b - float64(d)/2*math.Log(nu*math.Pi)
	l := law{dim: d, marginal: &s, mean: make([]float64, d), sd: slices.Repeat([]float64{s.sd}, d)}
	l.density = func() evaluator {
		return func(x, grad []float64) float64 {
			r2 := 0.0
			for _, v := range x {
				r2 += v * v
			}
			for i, v := range x {
				grad[i] = -2 * half * v / (nu + r2)
			}
			return constant - half*math.Log1p(r2/nu)
		}
	}
	l.draw = func(rng *rand.Rand, x []float64) {
		scale := 1 / math.Sqrt(distuv.ChiSquared{K: nu, Src: rng}.Rand()/nu)
		for i := range x {
			x[i] = scale * rng.NormFloat64()
		}
	}
	l.cdf = func(_ int, c float64) float64 { return s.cdf(c) }
	return l
}

// product concatenates independent laws.
func product(parts ...law) law {
	l := law{}
	var first []int // coordinate of each part
	of := []int{}   // part of each coordinate
	for k, p := range parts {
		first = append(first, l.dim)
		l.dim += p.dim
		of = append(of, slices.Repeat([]int{k}, p.dim)...)
		for j := range p.dim {
			mean, sd := math.NaN(), math.NaN()
			if p.sd != nil {
				mean, sd = p.mean[j], p.sd[j]
			}
			l.mean, l.sd = append(l.mean, mean), append(l.sd, sd)
		}
	}
	l.density = func() evaluator {
		var each []evaluator
		for _, p := range parts {
			each = append(each, p.density())
		}
		return func(x, grad []float64) float64 {
			lp := 0.0
			for k, p := range parts {
				i, j := first[k], first[k]+p.dim
				lp += each[k](x[i:j], grad[i:j])
			}
			return lp
		}
	}
	l.draw = func(rng *rand.Rand, x []float64) {
		for k, p := range parts {
			p.draw(rng, x[first[k]:first[k]+p.dim])
		}
	}
	if !slices.ContainsFunc(parts, func(p law) bool { return p.cdf == nil }) {
		l.cdf = func(j int, c float64) float64 { return parts[of[j]].cdf(j-first[of[j]], c) }
	}
	return l
}

// affine is the law of at + a z, where z has law l. The coordinates of l must be uncorrelated, and
// a invertible.
func affine(l law, at []float64, a [][]float64) law {
	d := l.dim
	inverse, logDet := invert(a)
	out := law{dim: d, mean: slices.Clone(at), sd: make([]float64, d)}
	for i := range d {
		if l.sd == nil {
			out.sd[i] = math.NaN()
			continue
		}
		v := 0.0
		for j, w := range a[i] {
			if w != 0 {
				out.mean[i] += w * l.mean[j]
				v += w * w * l.sd[j] * l.sd[j]
			}
		}
		out.sd[i] = math.Sqrt(v)
	}
	out.density = func() evaluator {
		base := l.density()
		z, g := make([]float64, d), make([]float64, d)
		return func(x, grad []float64) float64 {
			for i, row := range inverse {
				s := 0.0
				for j, w := range row {
					s += w * (x[j] - at[j])
				}
				z[i] = s
			}
			lp := base(z, g) - logDet
			clear(grad)
			for i, row := range inverse {
				for j, w := range row {
					grad[j] += w * g[i]
				}
			}
			return lp
		}
	}
	out.draw = func(rng *rand.Rand, x []float64) {
		z := make([]float64, d)
		l.draw(rng, z)
		for i, row := range a {
			x[i] = at[i]
			for j, w := range row {
				x[i] += w * z[j]
			}
		}
	}
	if l.marginal != nil {
		scale := make([]float64, d)
		for i, row := range a {
			for _, w := range row {
				scale[i] += w * w
			}
			scale[i] = math.Sqrt(scale[i])
		}
		out.cdf = func(j int, c float64) float64 { return l.marginal.cdf((c - at[j]) / scale[j]) }
	}
	return out
}

// shift scales a law by a factor and then adds at.
func shift(l law, at []float64, by float64) law {
	out := law{dim: l.dim}
	for j := range at {
		if l.sd != nil {
			out.mean, out.sd = append(out.mean, at[j]+by*l.mean[j]), append(out.sd, by*l.sd[j])
		}
	}
	constant := float64(l.dim) * math.Log(by)
	out.density = func() evaluator {
		base, z := l.density(), make([]float64, l.dim)
		return func(x, grad []float64) float64 {
			for i, v := range x {
				z[i] = (v - at[i]) / by
			}
			lp := base(z, grad) - constant
			for i := range grad {
				grad[i] /= by
			}
			return lp
		}
	}
	out.draw = func(rng *rand.Rand, x []float64) {
		l.draw(rng, x)
		for i := range x {
			x[i] = at[i] + by*x[i]
		}
	}
	if l.cdf != nil {
		out.cdf = func(j int, c float64) float64 { return l.cdf(j, (c-at[j])/by) }
	}
	return out
}

// mix is a mixture. weights must sum to 1, and the densities of the parts must be normalised.
func mix(weights []float64, parts ...law) law {
	l := law{normalised: true, dim: parts[0].dim, mean: make([]float64, parts[0].dim), sd: make([]float64, parts[0].dim)}
	for j := range l.dim {
		second := 0.0
		for k, p := range parts {
			if p.sd == nil {
				second = math.NaN()
				continue
			}
			l.mean[j] += weights[k] * p.mean[j]
			second += weights[k] * (p.mean[j]*p.mean[j] + p.sd[j]*p.sd[j])
		}
		l.sd[j] = math.Sqrt(second - l.mean[j]*l.mean[j])
	}
	l.density = func() evaluator {
		var each []evaluator
		var grads [][]float64
		lps, logs := make([]float64, len(parts)), make([]float64, len(parts))
		for k, p := range parts {
			logs[k] = math.Log(weights[k])
			each, grads = append(each, p.density()), append(grads, make([]float64, l.dim))
		}
		return func(x, grad []float64) float64 {
			for k, f := range each {
				lps[k] = logs[k] + f(x, grads[k])
			}
			lp := logSumExp(lps)
			clear(grad)
			for k, g := range grads {
				w := math.Exp(lps[k] - lp)
				if !(w > 0) {
					continue
				}
				for j, v := range g {
					grad[j] += w * v
				}
			}
			return lp
		}
	}
	l.draw = func(rng *rand.Rand, x []float64) { parts[choose(rng, weights)].draw(rng, x) }
	if !slices.ContainsFunc(parts, func(p law) bool { return p.cdf == nil }) {
		l.cdf = func(j int, c float64) float64 {
			s := 0.0
			for k, p := range parts {
				s += weights[k] * p.cdf(j, c)
			}
			return s
		}
	}
	return l
}

func choose(rng *rand.Rand, weights []float64) int {
	u := rng.Float64()
	for k, w := range weights {
		if u -= w; u < 0 {
			return k
		}
	}
	return len(weights) - 1
}

func logSumExp(v []float64) float64 {
	top := slices.Max(v)
	if math.IsInf(top, 0) {
		return top
	}
	s := 0.0
	for _, x := range v {
		s += math.Exp(x - top)
	}
	return top + math.Log(s)
}

// invert returns the inverse of a matrix and the logarithm of its absolute determinant.
func invert(a [][]float64) (inverse [][]float64, logDet float64) {
	d := len(a)
	m := make([][]float64, d)
	for i := range m {
		m[i] = append(slices.Clone(a[i]), make([]float64, d)...)
		m[i][d+i] = 1
	}
	for i := range m {
		pivot := i
		for k := i; k < d; k++ {
			if math.Abs(m[k][i]) > math.Abs(m[pivot][i]) {
				pivot = k
			}
		}
		m[i], m[pivot] = m[pivot], m[i]
		p := m[i][i]
		logDet += math.Log(math.Abs(p))
		for j := range m[i] {
			m[i][j] /= p
		}
		for k := range m {
			if f := m[k][i]; k != i && f != 0 {
				for j := range m[k] {
					m[k][j] -= f * m[i][j]
				}
			}
		}
	}
	for i := range m {
		inverse = append(inverse, m[i][d:])
	}
	return inverse, logDet
}

// rotation is a random orthogonal matrix, made by the Gram–Schmidt method.
func rotation(rng *rand.Rand, d int) [][]float64 {
	q := make([][]float64, d)
	for i := range q {
		q[i] = make([]float64, d)
		for j := range q[i] {
			q[i][j] = rng.NormFloat64()
		}
		for range 2 { // twice, against rounding
			for k := range i {
				dot := 0.0
				for j := range d {
					dot += q[i][j] * q[k][j]
				}
				for j := range d {
					q[i][j] -= dot * q[k][j]
				}
			}
		}
		norm := 0.0
		for _, v := range q[i] {
			norm += v * v
		}
		for j := range d {
			q[i][j] /= math.Sqrt(norm)
		}
	}
	return q
}

// scaled multiplies the columns of a matrix by scales.
func scaled(a [][]float64, scales []float64) [][]float64 {
	out := make([][]float64, len(a))
	for i := range a {
		out[i] = make([]float64, len(scales))
		for j, s := range scales {
			out[i][j] = a[i][j] * s
		}
	}
	return out
}

// spread returns n scales from low to high in equal ratios.
func spread(n int, low, high float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = low * math.Pow(high/low, float64(i)/float64(max(1, n-1)))
	}
	return out
}

// at returns a point whose coordinates are all c.
func at(d int, c float64) []float64 { return slices.Repeat([]float64{c}, d) }
