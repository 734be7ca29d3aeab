package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer"
)

// The true parameters of Girolami and Calderhead's series and of simulated ones.
const trueBeta, truePhi, trueSigma = 0.65, 0.98, 0.15

// series reads the first days of the series of returns, or simulates a series.
func series(dir string, days int) ([]float64, error) {
	if dir == "" {
		rng := infer.Stream(masterSeed, 0, "data volatility", 0)
		y := make([]float64, days)
		x := rng.NormFloat64() * trueSigma / math.Sqrt(1-truePhi*truePhi)
		for t := range y {
			y[t] = rng.NormFloat64() * trueBeta * math.Exp(x/2)
			x = truePhi*x + rng.NormFloat64()*trueSigma
		}
		return y, nil
	}
	name := filepath.Join(dir, "sv", "stochvol1.csv")
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(records) <= days {
		return nil, fmt.Errorf("%s: only %d days of %d", name, len(records)-1, days)
	}
	y := make([]float64, days)
	for t := range y { // columns t, y, x_true
		if y[t], err = strconv.ParseFloat(records[t+1][1], 64); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return y, nil
}

// The indices of the first coordinates of the stochastic volatility model; the others are the log
// variances.
const (
	atBeta, atGamma, atAlpha = 0, 1, 2
	volatilityParameters     = 3
)

// volatility returns the posterior of models/sv.model.
func volatility(y []float64) (infer.LogDensity, error) {
	text, err := models.ReadFile("models/sv.model")
	if err != nil {
		return nil, err
	}
	model, err := ppl.Compile("sv.model", string(text))
	if err != nil {
		return nil, err
	}
	return model.Bind(map[string]any{"T": len(y), "y": y})
}

// volatilityStarts returns draws from the prior. The prior of beta is improper, so beta is drawn
// from a lognormal around the standard deviation of the returns.
func volatilityStarts(y []float64, n int) [][]float64 {
	_, sd := moments(y)
	points := make([][]float64, n)
	for i := range points {
		rng := infer.Stream(masterSeed, i+1, "start volatility", 0)
		x := make([]float64, volatilityParameters+len(y))
		x[atBeta] = sd * math.Exp(0.5*rng.NormFloat64())
		chi := 0.0
		for range 10 {
			v := rng.NormFloat64()
			chi += v * v
		}
		sigma := math.Sqrt(10 * 0.05 / chi)
		x[atGamma] = math.Log(sigma)
		// A Beta(20, 1.5) variable is made from two gamma variables. Twice these are chi-squared
		// variables with 40 and 3 degrees of freedom.
		var g [2]float64
		for j, df := range [2]int{40, 3} {
			for range df {
				v := rng.NormFloat64()
				g[j] += v * v
			}
		}
		phi := 2*g[0]/(g[0]+g[1]) - 1
		x[atAlpha] = math.Atanh(phi)
		state := rng.NormFloat64() * sigma / math.Sqrt(1-phi*phi)
		for t := range y {
			x[volatilityParameters+t] = state
			state = phi*state + sigma*rng.NormFloat64()
		}
		points[i] = x
	}
	return points
}

// whitened is a stochastic volatility posterior in coordinates z in which it is about equally wide
// in all directions. Log variances are x = L⁻ᵀz with LLᵀ = I/2 + C⁻¹, the metric of Girolami and
// Calderhead at one φ and σ, where C is the prior covariance. Each parameter is measured from its
// mean, in units of its standard deviation given all else. So the metric is constant. All
// operations are O(T).
type whitened struct {
	target         infer.LogDensity
	centre, scale  [volatilityParameters]float64
	diagonal, side []float64 // elements L[t,t] and L[t+1,t]
	x, grad        []float64
}

// whiten makes the coordinates for a typical point with these parameters.
func whiten(target infer.LogDensity, beta, gamma, alpha float64) *whitened {
	n := target.Dim() - volatilityParameters
	w := &whitened{
		target: target, diagonal: make([]float64, n), side: make([]float64, n),
		x: make([]float64, target.Dim()), grad: make([]float64, target.Dim()),
	}
	w.centre = [volatilityParameters]float64{beta, gamma, alpha}
	phi, sigma := math.Tanh(alpha), math.Exp(gamma)
	// From the Fisher information of each parameter given the log variances.
	days := float64(n)
	w.scale[atBeta] = beta / math.Sqrt(2*days)
	w.scale[atGamma] = 1 / math.Sqrt(2*days)
	w.scale[atAlpha] = 1 / math.Sqrt(2*phi*phi+(days-1)*(1-phi*phi))
	precision := 1 / (sigma * sigma)
	below := 0.0
	for t := range n {
		d := 0.5 + (1+phi*phi)*precision
		if t == 0 || t == n-1 {
			d = 0.5 + precision
		}
		w.diagonal[t] = math.Sqrt(d - below*below)
		below = -phi * precision / w.diagonal[t]
		w.side[t] = below
	}
	return w
}

// Dim implements infer.LogDensity.
func (w *whitened) Dim() int { return w.target.Dim() }

// LogDensityGrad implements infer.LogDensity.
func (w *whitened) LogDensityGrad(z, grad []float64) (float64, error) {
	copy(w.x, z)
	w.present(w.x)
	lp, err := w.target.LogDensityGrad(w.x, w.grad)
	for j, s := range w.scale {
		grad[j] = w.grad[j] * s
	}
	// Multiply the gradient in x by L⁻¹.
	before := 0.0
	for t, d := range w.diagonal {
		g := w.grad[volatilityParameters+t]
		if t > 0 {
			g -= w.side[t-1] * before
		}
		before = g / d
		grad[volatilityParameters+t] = before
	}
	return lp, err
}

// present replaces z by the coordinates of the target, and returns it.
func (w *whitened) present(z []float64) []float64 {
	for j := range w.scale {
		z[j] = w.centre[j] + w.scale[j]*z[j]
	}
	x := z[volatilityParameters:]
	after := 0.0
	for t := len(x) - 1; t >= 0; t-- {
		x[t] = (x[t] - w.side[t]*after) / w.diagonal[t]
		after = x[t]
	}
	return z
}

// whiten replaces a point of the target by its coordinates z; it is the inverse of present.
func (w *whitened) whiten(x []float64) []float64 {
	z := make([]float64, len(x))
	for j := range w.scale {
		z[j] = (x[j] - w.centre[j]) / w.scale[j]
	}
	v := x[volatilityParameters:]
	for t := range v {
		z[volatilityParameters+t] = w.diagonal[t] * v[t]
		if t+1 < len(v) {
			z[volatilityParameters+t] += w.side[t] * v[t+1]
		}
	}
	return z
}

// CloneDensity implements infer.Cloner.
func (w *whitened) CloneDensity() infer.LogDensity {
	c := *w
	c.target = w.target.(infer.Cloner).CloneDensity()
	c.x, c.grad = make([]float64, len(w.x)), make([]float64, len(w.grad))
	return &c
}
