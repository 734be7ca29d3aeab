package criticise

import (
	"math"
)

// Stacking computes the weights of models that maximise the mean log predictive density of their
// mixture over observations. The weights sum to one. pointwise has a row of log predictive
// densities per model.
//
// The problem is concave. It is solved as in mixsqp (Kim, Carbonetto, Stephens and Anitescu 2020),
// by sequential quadratic programming: minimise Σ w − mean log(P w) over w ≥ 0. Its solution sums
// to one.
func Stacking(pointwise [][]float64) []float64 {
	models, n := len(pointwise), 0
	if models > 0 {
		n = len(pointwise[0])
	}
	w := make([]float64, models)
	for k := range w {
		w[k] = 1 / float64(models)
	}
	if n == 0 || models < 2 {
		return w
	}
	// p has the density of each observation divided by its largest over the models.
	p := make([]float64, n*models)
	for i := range n {
		top := math.Inf(-1)
		for k := range models {
			top = max(top, pointwise[k][i])
		}
		for k := range models {
			p[i*models+k] = math.Exp(pointwise[k][i] - top)
		}
	}
	value := func(w []float64) float64 {
		sum := 0.0
		for _, v := range w {
			sum += v
		}
		for i := range n {
			mix := 0.0
			for k, v := range w {
				mix += v * p[i*models+k]
			}
			sum -= math.Log(mix) / float64(n)
		}
		return sum
	}
	grad, hess := make([]float64, models), make([]float64, models*models)
	ratio, next := make([]float64, models), make([]float64, models)
	f := value(w)
	for range 500 {
		clear(hess)
		for k := range grad {
			grad[k] = 1
		}
		for i := range n {
			mix := 0.0
			for k, v := range w {
				mix += v * p[i*models+k]
			}
			for k := range models {
				ratio[k] = p[i*models+k] / mix
				grad[k] -= ratio[k] / float64(n)
			}
			for k := range models {
				for m := range k + 1 {
					hess[k*models+m] += ratio[k] * ratio[m] / float64(n)
				}
			}
		}
		// At the solution, the gradient is zero where the weight is positive, and not negative
		// elsewhere (the Karush-Kuhn-Tucker conditions).
		worst := 0.0
		for k, g := range grad {
			if w[k] > 0 {
				worst = max(worst, math.Abs(g)*min(1, w[k]*1e3))
			}
			worst = max(worst, -g)
		}
		if worst < 1e-13 {
			break
		}
		quadratic(hess, grad, w, next)
		decrease := 0.0
		for k := range next {
			decrease += grad[k] * (next[k] - w[k])
		}
		moved := false
		for step := 1.0; step > 1e-10; step /= 2 {
			try := make([]float64, models)
			for k := range try {
				try[k] = w[k] + step*(next[k]-w[k])
			}
			if v := value(try); v <= f+1e-4*step*decrease && v < f+1e-15*math.Abs(f) {
				moved = v < f
				copy(w, try)
				f = v
				break
			}
		}
		if !moved {
			break
		}
	}
	sum := 0.0
	for _, v := range w {
		sum += v
	}
	for k := range w {
		w[k] /= sum
	}
	return w
}

// quadratic minimises gᵀ(x − w) + ½(x − w)ᵀH(x − w) over x ≥ 0 by coordinate descent, which is fast
// enough for a few models.
func quadratic(h, g, w, x []float64) {
	n := len(w)
	at := func(i, j int) float64 {
		if i < j {
			i, j = j, i
		}
		return h[i*n+j]
	}
	copy(x, w)
	slope := append([]float64(nil), g...)
	for range 100000 {
		largest := 0.0
		for i := range n {
			curvature := at(i, i) + 1e-12
			old := x[i]
			x[i] = max(0, old-slope[i]/curvature)
			if d := x[i] - old; d != 0 {
				for j := range n {
					slope[j] += d * at(i, j)
				}
				largest = max(largest, math.Abs(d))
			}
		}
		if largest < 1e-15 {
			return
		}
	}
}

// PseudoBMA computes weights proportional to the exponential of the expected log predictive
// density.
func PseudoBMA(pointwise [][]float64) []float64 {
	w := make([]float64, len(pointwise))
	top := math.Inf(-1)
	for k, p := range pointwise {
		w[k] = Sum(p).Value
		top = max(top, w[k])
	}
	sum := 0.0
	for k := range w {
		w[k] = math.Exp(w[k] - top)
		sum += w[k]
	}
	for k := range w {
		w[k] /= sum
	}
	return w
}
