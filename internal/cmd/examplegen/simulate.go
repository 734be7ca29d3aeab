package main

import (
	"math"
	"math/rand/v2"
	"path/filepath"
)

// An example is a folder of examples/ and its data.
type example struct {
	name string
	data func() dataset
}

var examples = []example{
	{"eight_schools", eightSchools},
	{"logistic_regression", logisticRegression},
	{"hierarchical_regression", hierarchicalRegression},
	{"stochastic_volatility", stochasticVolatility},
	{"garch", garch},
	{"normal_mixture", normalMixture},
}

func (e example) dataPath(dir string) string {
	return filepath.Join(dir, e.name, e.name+".data.json")
}

// newRand returns the random source of one example. The seeds differ, so that a change to one
// example does not change the data of the others.
func newRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
}

// eightSchools returns the figures of Rubin (1981), Estimation in parallel randomized experiments.
// Nothing is simulated.
func eightSchools() dataset {
	y := []float64{28, 8, -3, 7, -1, 1, 18, 12}
	sigma := []float64{15, 10, 16, 11, 9, 11, 10, 18}
	return dataset{{"J", len(y)}, {"y", y}, {"sigma", sigma}}
}

func logisticRegression() dataset {
	const (
		n     = 1200
		rho   = 0.4 // correlation of neighbouring predictors
		alpha = -0.8
	)
	beta := []float64{0.9, -0.6, 0.3, 0, 0.15, -1.1, 0, 0.5}
	r := newRand(1)
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, len(beta))
		for k := range x[i] {
			x[i][k] = r.NormFloat64()
			if k > 0 {
				x[i][k] = rho*x[i][k-1] + math.Sqrt(1-rho*rho)*x[i][k]
			}
		}
	}
	column := make([]float64, n)
	for k := range beta {
		for i := range x {
			column[i] = x[i][k]
		}
		standardise(column)
		for i := range x {
			x[i][k] = column[i]
		}
	}
	y := make([]int, n)
	for i := range y {
		eta := alpha
		for k, b := range beta {
			eta += x[i][k] * b
		}
		if r.Float64() < 1/(1+math.Exp(-eta)) {
			y[i] = 1
		}
	}
	return dataset{{"N", n}, {"K", len(beta)}, {"X", x}, {"y", y}}
}

func hierarchicalRegression() dataset {
	const (
		n, j    = 1500, 60
		muAlpha = 8.0
		tau     = 1.5
		beta    = 2.0
		sigma   = 6.0
	)
	r := newRand(6)
	alpha := make([]float64, j)
	weight := make([]float64, j) // clinics differ in size, too
	for k := range alpha {
		alpha[k] = muAlpha + tau*r.NormFloat64()
		weight[k] = math.Exp(0.6 * r.NormFloat64())
	}
	g := make([]int, n)
	for i := range g {
		if i < j {
			g[i] = i // no clinic stays empty
		} else {
			g[i] = pick(r, weight)
		}
	}
	r.Shuffle(n, func(a, b int) { g[a], g[b] = g[b], g[a] })
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	standardise(x)
	y := make([]float64, n)
	for i := range y {
		y[i] = alpha[g[i]] + beta*x[i] + sigma*r.NormFloat64()
		g[i]++ // the model counts from 1
	}
	return dataset{{"N", n}, {"J", j}, {"g", g}, {"x", x}, {"y", y}}
}

func stochasticVolatility() dataset {
	const (
		days  = 500
		mu    = -0.4
		phi   = 0.9
		sigma = 0.3
	)
	r := newRand(3)
	y := make([]float64, days)
	h := mu + sigma/math.Sqrt(1-phi*phi)*r.NormFloat64()
	for t := range y {
		if t > 0 {
			h = mu + phi*(h-mu) + sigma*r.NormFloat64()
		}
		y[t] = math.Exp(0.5*h) * r.NormFloat64()
	}
	return dataset{{"T", days}, {"y", y}}
}

func garch() dataset {
	const (
		days  = 300
		mu    = 0.1
		omega = 0.2
		alpha = 0.3
		beta  = 0.5
	)
	r := newRand(4)
	y := make([]float64, days)
	variance := omega / (1 - alpha - beta)
	for t := range y {
		if t > 0 {
			shock := y[t-1] - mu
			variance = omega + alpha*shock*shock + beta*variance
		}
		y[t] = mu + math.Sqrt(variance)*r.NormFloat64()
	}
	return dataset{{"T", days}, {"y", y}}
}

func normalMixture() dataset {
	const (
		n              = 800
		lambda         = 0.35
		mu1, mu2       = -1.0, 1.5
		sigma1, sigma2 = 0.6, 0.9
	)
	r := newRand(5)
	y := make([]float64, n)
	for i := range y {
		infected := r.Float64() < lambda
		y[i] = r.NormFloat64()
		if infected {
			y[i] = mu2 + sigma2*y[i]
		} else {
			y[i] = mu1 + sigma1*y[i]
		}
	}
	titres := []float64{-2, -1, -0.5, 0, 0.25, 0.5, 1, 2, 3}
	return dataset{{"N", n}, {"y", y}, {"M", len(titres)}, {"y_new", titres}}
}

// standardise shifts and scales x to mean 0 and standard deviation 1.
func standardise(x []float64) {
	n := float64(len(x))
	var mean, squares float64
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	sd := math.Sqrt(squares / (n - 1))
	for i, v := range x {
		x[i] = (v - mean) / sd
	}
}

// pick draws an index with probability proportional to its weight.
func pick(r *rand.Rand, weight []float64) int {
	var total float64
	for _, w := range weight {
		total += w
	}
	u := r.Float64() * total
	for i, w := range weight {
		if u -= w; u < 0 {
			return i
		}
	}
	return len(weight) - 1
}
