package truth

import "math"

// improper makes a target without a posterior.
func improper(name string, d int, at evaluator) *Target {
	return &Target{Name: name, Class: Improper, Density: newDensity(d, func() evaluator { return at })}
}

// ridge is normal in one weighted sum of coordinates, and flat in all other directions.
func ridge(name string, weights ...float64) *Target {
	return improper(name, len(weights), func(x, grad []float64) float64 {
		s := 0.0
		for i, w := range weights {
			s += w * x[i]
		}
		for i, w := range weights {
			grad[i] = -s * w
		}
		return -0.5 * s * s
	})
}

// heavy has a tail |x|^-power in its first coordinate, which has no finite integral if power is at
// most 1. The other coordinates are standard normal.
func heavy(name string, d int, power float64) *Target {
	return improper(name, d, func(x, grad []float64) float64 {
		lp := -0.5 * power * math.Log1p(x[0]*x[0])
		grad[0] = -power * x[0] / (1 + x[0]*x[0])
		for i := 1; i < d; i++ {
			lp -= 0.5 * x[i] * x[i]
			grad[i] = -x[i]
		}
		return lp
	})
}

// separated is a logistic regression without a prior, where the predictor separates the outcomes.
func separated(name string, predictor []float64) *Target {
	return improper(name, 2, func(x, grad []float64) float64 {
		clear(grad)
		lp := 0.0
		for _, v := range predictor {
			sign := math.Copysign(1, v)
			eta := sign * (x[0] + x[1]*v)
			lp -= softplus(-eta)
			w := sign * invLogit(-eta)
			grad[0] += w
			grad[1] += w * v
		}
		return lp
	})
}

// unboundedScale is a hierarchy with a flat prior on the logarithm of its scale, so its mass is
// infinite as the scale goes to zero. The coordinates are log τ, μ and non-centred effects.
func unboundedScale(name string, y []float64) *Target {
	return improper(name, 2+len(y), func(x, grad []float64) float64 {
		tau, lp := math.Exp(x[0]), -0.5*x[1]*x[1]/25
		grad[0], grad[1] = 0, -x[1]/25
		for j, v := range y {
			e := x[2+j]
			r := v - x[1] - tau*e
			lp -= 0.5*r*r + 0.5*e*e
			grad[0] += r * tau * e
			grad[1] += r
			grad[2+j] = r*tau - e
		}
		return lp
	})
}
