package truth

import (
	"math"
	"math/rand/v2"
	"slices"
)

// curve is a model of observations y at certain times, with errors of scale s. The mean is a sum of
// basis functions times amplitudes. The basis functions depend on the core parameters; the
// amplitudes have the prior normal(0, wide). The coordinates are the core parameters and one or two
// amplitudes.
type curve struct {
	core  int
	basis int
	times []float64
	y     []float64
	s     float64
	wide  float64

	// at writes the basis functions at time t, and their derivatives by the core parameters to
	// slopes[function][parameter].
	at func(t float64, core, values []float64, slopes [][]float64)
	// prior returns the log prior of the core and adds its gradient to grad.
	prior func(core, grad []float64) float64
	box   []axis
	modes []Quantity
}

func (c curve) scratch() (values []float64, slopes [][]float64) {
	values, slopes = make([]float64, c.basis), make([][]float64, c.basis)
	for i := range slopes {
		slopes[i] = make([]float64, c.core)
	}
	return values, slopes
}

func (c curve) posterior() posterior {
	p := posterior{dim: c.core + c.basis, core: c.core, box: c.box, modes: c.modes}
	p.joint = func() evaluator {
		values, slopes := c.scratch()
		return func(x, grad []float64) float64 {
			core, amplitudes := x[:c.core], x[c.core:]
			clear(grad)
			lp := c.prior(core, grad[:c.core])
			for m, a := range amplitudes {
				lp -= 0.5 * a * a / (c.wide * c.wide)
				grad[c.core+m] = -a / (c.wide * c.wide)
			}
			for i, t := range c.times {
				c.at(t, core, values, slopes)
				r := c.y[i]
				for m, a := range amplitudes {
					r -= a * values[m]
				}
				lp -= 0.5 * r * r / (c.s * c.s)
				w := r / (c.s * c.s)
				for m, a := range amplitudes {
					grad[c.core+m] += w * values[m]
					for k := range core {
						grad[k] += w * a * slopes[m][k]
					}
				}
			}
			return lp
		}
	}
	p.marginal = func(core []float64) float64 {
		_, _, det, form := c.amplitudes(core)
		return c.prior(core, make([]float64, c.core)) - 0.5*math.Log(det) + 0.5*form
	}
	p.moments = func(core, mean, variance []float64) {
		m, inverse, _, _ := c.amplitudes(core)
		copy(mean, m)
		for i := range variance {
			variance[i] = inverse[i][i]
		}
	}
	p.rest = func(rng *rand.Rand, x []float64) {
		m, v, _, _ := c.amplitudes(x[:c.core])
		z := rng.NormFloat64()
		x[c.core] = m[0] + math.Sqrt(v[0][0])*z
		if c.basis == 2 {
			on := v[0][1] / math.Sqrt(v[0][0])
			x[c.core+1] = m[1] + on*z + math.Sqrt(v[1][1]-on*on)*rng.NormFloat64()
		}
	}
	return p
}

// amplitudes returns the normal distribution of the amplitudes given the core: mean, covariance,
// the determinant of the precision, and meanᵀ precision mean.
func (c curve) amplitudes(core []float64) (mean []float64, covariance [][]float64, det, form float64) {
	values, slopes := c.scratch()
	g, b := [2][2]float64{{1, 0}, {0, 1}}, [2]float64{}
	for m := range c.basis {
		g[m][m] = 1 / (c.wide * c.wide)
	}
	for i, t := range c.times {
		c.at(t, core, values, slopes)
		for m, v := range values {
			b[m] += v * c.y[i] / (c.s * c.s)
			for k, w := range values {
				g[m][k] += v * w / (c.s * c.s)
			}
		}
	}
	det = g[0][0]*g[1][1] - g[0][1]*g[1][0]
	covariance = [][]float64{{g[1][1] / det, -g[0][1] / det}, {-g[1][0] / det, g[0][0] / det}}
	for m := range c.basis {
		v := 0.0
		for k := range c.basis {
			v += covariance[m][k] * b[k]
		}
		mean = append(mean, v)
		form += v * b[m]
	}
	return mean, covariance, det, form
}

// observed returns the curve with simulated observations: its values at given parameters plus
// errors.
func (c curve) observed(rng *rand.Rand, core, amplitudes []float64) curve {
	values, slopes := c.scratch()
	c.y = nil
	for _, t := range c.times {
		c.at(t, core, values, slopes)
		v := c.s * rng.NormFloat64()
		for m, a := range amplitudes {
			v += a * values[m]
		}
		c.y = append(c.y, v)
	}
	return c
}

// normalPrior is a normal prior with independent coordinates.
func normalPrior(mean, sd []float64) func(x, grad []float64) float64 {
	return func(x, grad []float64) float64 {
		lp := 0.0
		for i, v := range x {
			z := (v - mean[i]) / sd[i]
			lp -= 0.5 * z * z
			grad[i] -= z / sd[i]
		}
		return lp
	}
}

// transfection is the concentration of a protein after transfection with mRNA. The mRNA decays at
// rate β = exp(x₁) and the protein at rate δ = exp(x₂):
//
//	scale (exp(−βt) − exp(−δt))/(δ − β) + offset
//
// The rates are exchangeable; prior has the prior means of their logarithms.
func transfection(n int, s float64, prior []float64) curve {
	c := curve{
		core: 2, basis: 2, s: s, wide: 5,
		prior: normalPrior(prior, []float64{1, 1}),
		box:   []axis{{-7, 5, 141}, {-7, 5, 141}},
		modes: []Quantity{mode("x[1] < x[2]", func(x []float64) bool { return x[0] < x[1] })},
	}
	for i := range n {
		c.times = append(c.times, 10*float64(i+1)/float64(n))
	}
	c.at = func(t float64, core, values []float64, slopes [][]float64) {
		// t exp(−βt) g(h) with β the smaller rate, h = (δ − β)t and g(h) = (1 − exp(−h))/h.
		slow, fast := 0, 1
		if core[1] < core[0] {
			slow, fast = 1, 0
		}
		beta, delta := math.Exp(core[slow]), math.Exp(core[fast])
		h := (delta - beta) * t
		g, slope := 1-h/2+h*h/6-h*h*h/24, -0.5+h/3-h*h/8+h*h*h/30
		if h > 1e-3 {
			g, slope = -math.Expm1(-h)/h, (math.Exp(-h)*(1+h)-1)/(h*h)
		}
		e := t * math.Exp(-beta*t)
		values[0] = e * g
		slopes[0][slow] = (-t*e*g - t*e*slope) * beta
		slopes[0][fast] = t * e * slope * delta
		values[1], slopes[1][0], slopes[1][1] = 1, 0, 0
	}
	return c
}

// oscillator is an undamped oscillation observed once a second, so that cos(ωt) is the same for ω
// and 2π − ω. The core coordinate is the logit of ω/2π, with the prior normal(prior, 1.5).
func oscillator(n int, s, prior float64) curve {
	c := curve{
		core: 1, basis: 1, s: s, wide: 3,
		prior: normalPrior([]float64{prior}, []float64{1.5}),
		box:   []axis{{-10, 10, 8001}},
		modes: []Quantity{mode("x[1] < 0", func(x []float64) bool { return x[0] < 0 })},
	}
	for t := range n {
		c.times = append(c.times, float64(t))
	}
	c.at = func(t float64, core, values []float64, slopes [][]float64) {
		share := invLogit(core[0])
		omega := 2 * math.Pi * share
		values[0] = math.Cos(omega * t)
		slopes[0][0] = -t * math.Sin(omega*t) * 2 * math.Pi * share * (1 - share)
	}
	return c
}

// bistable is the ODE x' = r (x − x³), solved in closed form. Only the square of x is observed, so
// the solutions x and −x look the same. The coordinates are x at time 0 with prior normal(prior,
// 1), and log r with prior normal(0, 0.5).
func bistable(rng *rand.Rand, n int, s, start, rate, prior float64) posterior {
	square := func(t, x, r float64) (q, byX, byR float64) {
		e := math.Exp(2 * r * t)
		d := 1 + x*x*(e-1)
		return x * x * e / d, 2 * x * e / (d * d), x * x * (1 - x*x) / (d * d) * 2 * t * e
	}
	var times, y []float64
	for i := range n {
		t := 2 * float64(i) / float64(n)
		q, _, _ := square(t, start, rate)
		times, y = append(times, t), append(y, q+s*rng.NormFloat64())
	}
	p := posterior{dim: 2, core: 2, box: []axis{{-5, 5, 201}, {-4, 4, 141}}}
	p.joint = func() evaluator {
		return func(x, grad []float64) float64 {
			r := math.Exp(x[1])
			z := x[0] - prior
			lp := -0.5*z*z - 0.5*x[1]*x[1]/0.25
			grad[0], grad[1] = -z, -x[1]/0.25
			for i, t := range times {
				q, byX, byR := square(t, x[0], r)
				w := (y[i] - q) / (s * s)
				lp -= 0.5 * w * (y[i] - q)
				grad[0] += w * byX
				grad[1] += w * byR * r
			}
			return lp
		}
	}
	p.marginal = valueOf(2, p.joint)
	p.modes = []Quantity{mode("x[1] > 0", func(x []float64) bool { return x[0] > 0 })}
	return p
}

// wells has two coordinates in double wells with minima at ±1, of depth k, tilted by a and coupled
// by c. The other d − 2 coordinates are normal about the sum of these two.
func wells(d int, k, a, c float64) posterior {
	p := posterior{dim: d, core: 2, box: slices.Repeat([]axis{{-4, 4, 141}}, 2)}
	well := func(x float64) (lp, slope float64) {
		v := x*x - 1
		return -k*v*v + a*x, -4*k*v*x + a
	}
	p.joint = func() evaluator {
		return func(x, grad []float64) float64 {
			l0, s0 := well(x[0])
			l1, s1 := well(x[1])
			lp := l0 + l1 + c*x[0]*x[1]
			grad[0], grad[1] = s0+c*x[1], s1+c*x[0]
			for i := 2; i < d; i++ {
				r := x[i] - x[0] - x[1]
				lp -= 0.5 * r * r
				grad[i] = -r
				grad[0] += r
				grad[1] += r
			}
			return lp
		}
	}
	p.marginal = func(x []float64) float64 {
		l0, _ := well(x[0])
		l1, _ := well(x[1])
		return l0 + l1 + c*x[0]*x[1]
	}
	if d > 2 {
		p.moments = func(core, mean, variance []float64) {
			for i := range mean {
				mean[i], variance[i] = core[0]+core[1], 1
			}
		}
		p.rest = p.normalRest()
	}
	for _, q := range []struct {
		name string
		a, b bool
	}{{"x[1] < 0, x[2] < 0", false, false}, {"x[1] < 0, x[2] > 0", false, true}, {"x[1] > 0, x[2] < 0", true, false}, {"x[1] > 0, x[2] > 0", true, true}} {
		p.modes = append(p.modes, mode(q.name, func(x []float64) bool { return (x[0] > 0) == q.a && (x[1] > 0) == q.b }))
	}
	return p
}
