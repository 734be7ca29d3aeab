package truth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// hierarchy is the posterior of a hierarchical model: y ~ normal(θ, s), θ ~ normal(μ, τ), μ ~
// normal(0, 5), log τ ~ normal(0, spread). The coordinates are μ, log τ and θ or, if not centred,
// (θ − μ)/τ.
func hierarchy(y []float64, s, spread float64, centred bool) posterior {
	const wide = 5
	d := len(y)
	p := posterior{dim: 2 + d, core: 2, box: []axis{{-25, 25, 801}, {-8 * spread, 8 * spread, 141}}}
	p.joint = func() evaluator {
		return func(x, grad []float64) float64 {
			mu, tau := x[0], math.Exp(x[1])
			lp := -0.5*mu*mu/(wide*wide) - 0.5*x[1]*x[1]/(spread*spread)
			grad[0], grad[1] = -mu/(wide*wide), -x[1]/(spread*spread)
			for j, v := range y {
				e := x[2+j] // standard
				if centred {
					r := (v - x[2+j]) / s
					e = (x[2+j] - mu) / tau
					lp -= 0.5*r*r + 0.5*e*e + x[1]
					grad[0] += e / tau
					grad[1] += e*e - 1
					grad[2+j] = r/s - e/tau
					continue
				}
				r := (v - mu - tau*e) / s
				lp -= 0.5*r*r + 0.5*e*e
				grad[0] += r / s
				grad[1] += r / s * tau * e
				grad[2+j] = r/s*tau - e
			}
			return lp
		}
	}
	p.marginal = func(core []float64) float64 {
		v := s*s + math.Exp(2*core[1])
		lp := -0.5*core[0]*core[0]/(wide*wide) - 0.5*core[1]*core[1]/(spread*spread) - 0.5*float64(d)*math.Log(v)
		for _, y := range y {
			lp -= 0.5 * (y - core[0]) * (y - core[0]) / v
		}
		return lp
	}
	p.moments = func(core, mean, variance []float64) {
		mu, tau := core[0], math.Exp(core[1])
		for j, v := range y {
			precision := 1 + tau*tau/(s*s)
			mean[j], variance[j] = tau*(v-mu)/(s*s)/precision, 1/precision
			if centred {
				mean[j], variance[j] = mu+tau*mean[j], tau*tau*variance[j]
			}
		}
	}
	p.rest = p.normalRest()
	return p
}

// normalRest draws the other parameters if they are independent and normal given the core.
func (p posterior) normalRest() func(rng *rand.Rand, x []float64) {
	n := p.dim - p.core
	return func(rng *rand.Rand, x []float64) {
		m, v := make([]float64, n), make([]float64, n)
		p.moments(x[:p.core], m, v)
		for i := range m {
			x[p.core+i] = m[i] + math.Sqrt(v[i])*rng.NormFloat64()
		}
	}
}

// components is the posterior of the means of a mixture of normals with scale s and known weights.
// The means have normal priors with means prior and scale wide. If weights and prior means are
// equal, the labels are exchangeable.
func components(y, weights, prior []float64, s, wide float64) posterior {
	k := len(weights)
	reach := slices.Max(y) - slices.Min(y)
	logs := make([]float64, k)
	for j, w := range weights {
		logs[j] = math.Log(w)
	}
	p := posterior{dim: k, core: k}
	for range k {
		p.box = append(p.box, axis{slices.Min(y) - reach/2, slices.Max(y) + reach/2, []int{0, 0, 141, 41}[k]})
	}
	p.joint = func() evaluator {
		lps := make([]float64, k)
		return func(x, grad []float64) float64 {
			lp := 0.0
			for j, m := range x {
				z := (m - prior[j]) / wide
				lp -= 0.5 * z * z
				grad[j] = -z / wide
			}
			for _, v := range y {
				for j, m := range x {
					z := (v - m) / s
					lps[j] = logs[j] - 0.5*z*z
				}
				one := logSumExp(lps)
				lp += one
				for j, m := range x {
					grad[j] += math.Exp(lps[j]-one) * (v - m) / (s * s)
				}
			}
			return lp
		}
	}
	p.marginal = valueOf(k, p.joint)
	for _, order := range permutations(k) {
		var name strings.Builder
		for i, j := range order {
			if i > 0 {
				name.WriteString(" < ")
			}
			fmt.Fprintf(&name, "x[%d]", j+1)
		}
		p.modes = append(p.modes, mode(name.String(), func(x []float64) bool {
			for i := range k - 1 {
				if x[order[i]] >= x[order[i+1]] {
					return false
				}
			}
			return true
		}))
	}
	return p
}

// valueOf returns the log density without the gradient, as a function that is safe for concurrent
// use.
func valueOf(d int, make1 func() evaluator) func(x []float64) float64 {
	return func(x []float64) float64 { return make1()(x, make([]float64, d)) }
}

// permutations lists the orders of 0, 1, … n−1.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			out = append(out, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return out
}

// mixtureData draws observations from a mixture.
func mixtureData(rng *rand.Rand, n int, weights, means []float64, s float64) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = means[choose(rng, weights)] + s*rng.NormFloat64()
	}
	return y
}

// factor is the posterior of a model with one factor: y[j] ~ normal(λ f[j], s) in three dimensions,
// with λ and f standard normal. Changing the signs of λ and f gives the same density. The
// coordinates are λ and f.
func factor(y [][]float64, s float64) posterior {
	const width = 3
	n := len(y)
	var cross [width][width]float64
	for _, v := range y {
		for i := range width {
			for j := range width {
				cross[i][j] += v[i] * v[j]
			}
		}
	}
	p := posterior{dim: width + n, core: width, box: slices.Repeat([]axis{{-6, 6, 61}}, width)}
	p.joint = func() evaluator {
		return func(x, grad []float64) float64 {
			lp := 0.0
			for i, v := range x {
				lp -= 0.5 * v * v
				grad[i] = -v
			}
			for j, v := range y {
				f := x[width+j]
				for i := range width {
					r := (v[i] - x[i]*f) / s
					lp -= 0.5 * r * r
					grad[i] += r / s * f
					grad[width+j] += r / s * x[i]
				}
			}
			return lp
		}
	}
	p.marginal = func(l []float64) float64 {
		size, form := 0.0, 0.0
		for i := range width {
			size += l[i] * l[i]
			for j := range width {
				form += l[i] * cross[i][j] * l[j]
			}
		}
		return -0.5*size - 0.5*float64(n)*math.Log1p(size/(s*s)) + 0.5*form/(s*s*(s*s+size))
	}
	p.moments = func(l, mean, variance []float64) {
		precision := 1.0
		for _, v := range l {
			precision += v * v / (s * s)
		}
		for j, v := range y {
			mean[j], variance[j] = 0, 1/precision
			for i := range width {
				mean[j] += l[i] * v[i] / (s * s) / precision
			}
		}
	}
	p.rest = p.normalRest()
	p.modes = []Quantity{mode("x[1] > 0", func(x []float64) bool { return x[0] > 0 })}
	return p
}

// factorData draws observations from a model with one factor.
func factorData(rng *rand.Rand, n int, loadings []float64, s float64) [][]float64 {
	y := make([][]float64, n)
	for j := range y {
		f := rng.NormFloat64()
		for _, l := range loadings {
			y[j] = append(y[j], l*f+s*rng.NormFloat64())
		}
	}
	return y
}

// hidden is the posterior of the means of a hidden Markov model with two states and observations of
// scale 1. It leaves a state with probability 1 − stay. The means have normal priors with means
// prior and scale 3; if these are equal, the states are exchangeable.
func hidden(y []float64, stay float64, prior []float64) posterior {
	const wide = 3
	p := posterior{dim: 2, core: 2, box: slices.Repeat([]axis{{-10, 10, 141}}, 2)}
	p.joint = func() evaluator {
		forward := make([][2]float64, len(y)) // scaled
		scale := make([]float64, len(y))
		return func(x, grad []float64) float64 {
			lp := 0.0
			for i := range 2 {
				z := (x[i] - prior[i]) / wide
				lp -= 0.5 * z * z
				grad[i] = -z / wide
			}
			// The densities of an observation in both states, divided by the larger one, so that
			// they do not both underflow.
			emit := func(t int) (e [2]float64, larger float64) {
				a, b := -0.5*(y[t]-x[0])*(y[t]-x[0]), -0.5*(y[t]-x[1])*(y[t]-x[1])
				larger = max(a, b)
				return [2]float64{math.Exp(a - larger), math.Exp(b - larger)}, larger
			}
			for t := range y {
				e, larger := emit(t)
				for i := range 2 {
					before := 0.5
					if t > 0 {
						before = stay*forward[t-1][i] + (1-stay)*forward[t-1][1-i]
					}
					forward[t][i] = before * e[i]
				}
				scale[t] = forward[t][0] + forward[t][1]
				forward[t][0] /= scale[t]
				forward[t][1] /= scale[t]
				lp += math.Log(scale[t]) + larger
			}
			backward := [2]float64{1, 1}
			for t := len(y) - 1; t >= 0; t-- {
				a, b := forward[t][0]*backward[0], forward[t][1]*backward[1]
				grad[0] += a / (a + b) * (y[t] - x[0])
				grad[1] += b / (a + b) * (y[t] - x[1])
				e, _ := emit(t)
				e0, e1 := e[0]*backward[0], e[1]*backward[1]
				e0, e1 = e0/(e0+e1), e1/(e0+e1)
				backward = [2]float64{stay*e0 + (1-stay)*e1, stay*e1 + (1-stay)*e0}
			}
			return lp
		}
	}
	p.marginal = valueOf(2, p.joint)
	p.modes = []Quantity{mode("x[1] < x[2]", func(x []float64) bool { return x[0] < x[1] })}
	return p
}

// hiddenData draws observations from a hidden Markov model.
func hiddenData(rng *rand.Rand, n int, stay float64, means []float64) []float64 {
	y, state := make([]float64, n), rng.IntN(2)
	for t := range y {
		if t > 0 && rng.Float64() > stay {
			state = 1 - state
		}
		y[t] = means[state] + rng.NormFloat64()
	}
	return y
}
