package truth

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// funnel is Neal's funnel: v ~ normal(0, sd), the other d−1 coordinates normal(0, exp(v/2)).
func funnel(d int, sd float64) law {
	constant := float64(d)*logRoot2Pi + math.Log(sd)
	l := law{dim: d, mean: make([]float64, d), sd: slices.Repeat([]float64{math.NaN()}, d)}
	l.sd[0] = sd
	l.density = func() evaluator {
		return func(x, grad []float64) float64 {
			v, n := x[0], float64(d-1)
			precision := math.Exp(-v)
			lp := -0.5*v*v/(sd*sd) - 0.5*n*v - constant
			grad[0] = -v/(sd*sd) - 0.5*n
			for i := 1; i < d; i++ {
				s := 0.5 * precision * x[i] * x[i]
				lp -= s
				grad[0] += s
				grad[i] = -precision * x[i]
			}
			return lp
		}
	}
	l.draw = func(rng *rand.Rand, x []float64) {
		x[0] = sd * rng.NormFloat64()
		for i := 1; i < d; i++ {
			x[i] = math.Exp(x[0]/2) * rng.NormFloat64()
		}
	}
	l.cdf = func(j int, c float64) float64 {
		if j == 0 {
			return normalCDF(c / sd)
		}
		return overNormal(func(z float64) float64 { return normalCDF(c * math.Exp(-sd*z/2)) })
	}
	return l
}

// banana is x₁ ~ normal(0, s), x₂ ~ normal(b (x₁² − s²), 1).
func banana(b, s float64) law {
	l := law{dim: 2, mean: []float64{0, 0}, sd: []float64{s, math.Sqrt(1 + 2*b*b*s*s*s*s)}}
	constant := 2*logRoot2Pi + math.Log(s)
	l.density = func() evaluator {
		return func(x, grad []float64) float64 {
			r, z := x[1]-b*(x[0]*x[0]-s*s), x[0]/s
			grad[0], grad[1] = -z/s+2*b*x[0]*r, -r
			return -0.5*z*z - 0.5*r*r - constant
		}
	}
	l.draw = func(rng *rand.Rand, x []float64) {
		x[0] = s * rng.NormFloat64()
		x[1] = b*(x[0]*x[0]-s*s) + rng.NormFloat64()
	}
	l.cdf = func(j int, c float64) float64 {
		if j == 0 {
			return normalCDF(c / s)
		}
		return overNormal(func(z float64) float64 { return normalCDF(c - b*s*s*(z*z-1)) })
	}
	return l
}

// chained is a valley that bends in every coordinate: x₁ ~ normal(0, 1), and each further
// coordinate xᵢ ~ normal(xᵢ₋₁²/2, s).
func chained(d int, s float64) law {
	l := law{dim: d, mean: make([]float64, d), sd: slices.Repeat([]float64{math.NaN()}, d)}
	l.sd[0] = 1
	if d > 1 {
		l.mean[1], l.sd[1] = 0.5, math.Sqrt(0.5+s*s) // E[x²/2], and Var[x²/2] = ½
	}
	constant := float64(d)*logRoot2Pi + float64(d-1)*math.Log(s)
	l.density = func() evaluator {
		return func(x, grad []float64) float64 {
			lp := -0.5*x[0]*x[0] - constant
			grad[0] = -x[0]
			for i := 1; i < d; i++ {
				r := (x[i] - 0.5*x[i-1]*x[i-1]) / s
				lp -= 0.5 * r * r
				grad[i] = -r / s
				grad[i-1] += r / s * x[i-1]
			}
			return lp
		}
	}
	l.draw = func(rng *rand.Rand, x []float64) {
		x[0] = rng.NormFloat64()
		for i := 1; i < d; i++ {
			x[i] = 0.5*x[i-1]*x[i-1] + s*rng.NormFloat64()
		}
	}
	return l
}

// ring has a radius with distribution normal(r, s) and a uniform direction. r must be many times s.
func ring(d int, r, s float64) (law, Quantity) {
	l := law{dim: d, mean: make([]float64, d), sd: slices.Repeat([]float64{math.Sqrt((r*r + s*s) / float64(d))}, d)}
	a, _ := math.Lgamma(float64(d) / 2)
	constant := logRoot2Pi + math.Log(s) + math.Ln2 + float64(d)/2*math.Log(math.Pi) - a
	l.density = func() evaluator {
		return func(x, grad []float64) float64 {
			radius := norm(x)
			z := (radius - r) / s
			slope := -z/s - float64(d-1)/radius
			for i, v := range x {
				grad[i] = slope * v / radius
			}
			return -0.5*z*z - float64(d-1)*math.Log(radius) - constant
		}
	}
	l.draw = func(rng *rand.Rand, x []float64) {
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		by := (r + s*rng.NormFloat64()) / norm(x)
		for i := range x {
			x[i] *= by
		}
	}
	q := share("P(radius < its median)", 0.5, func(x []float64) bool { return norm(x) < r })
	q.Share = false
	return l, q
}

func norm(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}

// cube has a density proportional to exp(−max |x|), whose slope jumps at the edges of cubes.
func cube(d int) law {
	n := float64(d)
	l := law{dim: d, mean: make([]float64, d), sd: slices.Repeat([]float64{math.Sqrt(n * (n + 1) * (1/n + (1-1/n)/3))}, d)}
	a, _ := math.Lgamma(n + 1)
	constant := n*math.Ln2 + a
	l.density = func() evaluator {
		return func(x, grad []float64) float64 {
			clear(grad)
			k := 0
			for i, v := range x {
				if math.Abs(v) > math.Abs(x[k]) {
					k = i
				}
			}
			grad[k] = -math.Copysign(1, x[k])
			return -math.Abs(x[k]) - constant
		}
	}
	l.draw = func(rng *rand.Rand, x []float64) {
		r := distuv.Gamma{Alpha: n, Beta: 1, Src: rng}.Rand()
		for i := range x {
			x[i] = r * (2*rng.Float64() - 1)
		}
		x[rng.IntN(d)] = r * float64(2*rng.IntN(2)-1)
	}
	return l
}

// horseshoe is the horseshoe prior of d coefficients in centred form: log τ and log λ with
// half-Cauchy τ and λ, then β ~ normal(0, λ τ).
func horseshoe(d int) law {
	s := logHalfCauchy()
	l := law{dim: 1 + 2*d, mean: make([]float64, 1+2*d), sd: slices.Repeat([]float64{math.NaN()}, 1+2*d)}
	for i := range 1 + d {
		l.sd[i] = s.sd
	}
	l.density = func() evaluator {
		return func(x, grad []float64) float64 {
			lp, slope := s.log(x[0])
			grad[0] = slope
			for i := 1; i <= d; i++ {
				v, slope := s.log(x[i])
				scale := x[0] + x[i]
				z := x[d+i] * math.Exp(-scale)
				lp += v - 0.5*z*z - scale - logRoot2Pi
				grad[i] = slope + z*z - 1
				grad[0] += z*z - 1
				grad[d+i] = -z * math.Exp(-scale)
			}
			return lp
		}
	}
	l.draw = func(rng *rand.Rand, x []float64) {
		x[0] = s.draw(rng)
		for i := 1; i <= d; i++ {
			x[i] = s.draw(rng)
			x[d+i] = rng.NormFloat64() * math.Exp(x[0]+x[i])
		}
	}
	return l
}

// gaussian is the normal distribution with a given mean and given scales along random directions.
func gaussian(rng *rand.Rand, mean, scales []float64) law {
	return affine(standard(len(scales)), mean, scaled(rotation(rng, len(scales)), scales))
}

// autoregression is the stationary first-order autoregressive process with correlation rho and
// scale 1.
func autoregression(d int, rho float64) law {
	a := make([][]float64, d)
	for i := range a {
		a[i] = make([]float64, d)
		a[i][0] = math.Pow(rho, float64(i))
		for j := 1; j <= i; j++ {
			a[i][j] = math.Pow(rho, float64(i-j)) * math.Sqrt(1-rho*rho)
		}
	}
	return affine(standard(d), make([]float64, d), a)
}

// equicorrelated is the normal distribution with correlation rho between all coordinates.
func equicorrelated(d int, rho float64) law {
	a := make([][]float64, d)
	// (1−ρ)I + ρ 11ᵀ has the symmetric root s I + t 11ᵀ.
	s := math.Sqrt(1 - rho)
	t := (math.Sqrt(1-rho+rho*float64(d)) - s) / float64(d)
	for i := range a {
		a[i] = at(d, t)
		a[i][i] += s
	}
	return affine(standard(d), make([]float64, d), a)
}
