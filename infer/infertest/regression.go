package infertest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// LogisticRegression is the posterior of coefficients b ~ normal(0, Scale) given
// y ~ bernoulli_logit(X b). It has no exact draws.
type LogisticRegression struct {
	X     []float64 // N×D, row major
	Y     []bool    // N
	D     int
	Scale float64
}

// NewLogisticRegression makes n rows of data for d coefficients: an intercept
// and standard normal covariates.
func NewLogisticRegression(rng *rand.Rand, n, d int) *LogisticRegression {
	r := &LogisticRegression{X: make([]float64, n*d), Y: make([]bool, n), D: d, Scale: 2.5}
	b := make([]float64, d)
	for j := range b {
		b[j] = rng.NormFloat64()
	}
	for i, row := range slices.Collect(slices.Chunk(r.X, d)) {
		eta := 0.0
		for j := range row {
			row[j] = rng.NormFloat64()
			if j == 0 {
				row[j] = 1
			}
			eta += row[j] * b[j]
		}
		r.Y[i] = rng.Float64() < 1/(1+math.Exp(-eta))
	}
	return r
}

// Dim implements [infer.LogDensity].
func (r *LogisticRegression) Dim() int { return r.D }

// CloneDensity implements [infer.Cloner]; nothing in r changes.
func (r *LogisticRegression) CloneDensity() infer.LogDensity { return r }

// LogDensityGrad implements [infer.LogDensity].
func (r *LogisticRegression) LogDensityGrad(b, grad []float64) (float64, error) {
	lp := 0.0
	for j, bj := range b {
		z := bj / r.Scale
		lp -= 0.5 * z * z
		grad[j] = -z / r.Scale
	}
	for i, y := range r.Y {
		row := r.X[i*r.D : (i+1)*r.D]
		eta := 0.0
		for j, x := range row {
			eta += x * b[j]
		}
		if !y {
			eta = -eta
		}
		e := math.Exp(-math.Abs(eta))
		lp += min(0, eta) - math.Log1p(e)
		s := 1 / (1 + e) // d/deta = 1 - inv_logit(eta)
		if eta > 0 {
			s = e * s
		}
		if !y {
			s = -s
		}
		for j, x := range row {
			grad[j] += s * x
		}
	}
	return lp, nil
}
