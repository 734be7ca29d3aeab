package main

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer"
)

// regression is the posterior of a logistic regression, models/blr.model. Its metric, which the
// text of the model gives, is X'ΛX + I/scale².
type regression struct {
	*ppl.Posterior
	k int
}

// priorScale is the prior standard deviation of Girolami and Calderhead, whose variance is 100.
const priorScale = 10

// load reads a data set, or simulates one of the same shape.
func (s set) load(dir string) (*regression, error) {
	covariates, y, err := s.read(dir)
	if err != nil {
		return nil, err
	}
	n := len(y)
	r := &regression{k: 1}
	for _, c := range covariates {
		standardise(c)
	}
	// The powers are those of standardised columns and are not standardised themselves: the known
	// posterior means for Ripley's data belong to this basis.
	columns := covariates
	for p := 2; s.cubic && p <= 3; p++ {
		for _, c := range covariates {
			column := make([]float64, n)
			for i, v := range c {
				column[i] = math.Pow(v, float64(p))
			}
			columns = append(columns, column)
		}
	}
	r.k += len(columns)
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = []float64{1}
		for _, c := range columns {
			rows[i] = append(rows[i], c[i])
		}
	}
	text, err := models.ReadFile("models/blr.model")
	if err != nil {
		return nil, err
	}
	model, err := ppl.Compile("blr.model", string(text))
	if err != nil {
		return nil, err
	}
	r.Posterior, err = model.Bind(map[string]any{"N": n, "K": r.k, "X": rows, "y": y, "scale": priorScale})
	return r, err
}

// mode finds the mode and the metric there by Newton's method, since the metric is minus the
// Hessian.
func (r *regression) mode() (mode, g []float64, err error) {
	mode, g = make([]float64, r.k), make([]float64, r.k*r.k)
	grad := make([]float64, r.k)
	for range 50 {
		if _, err := r.LogDensityGrad(mode, grad); err != nil {
			return nil, nil, err
		}
		if err := r.Compiled().FisherMetric(mode, g); err != nil {
			return nil, nil, err
		}
		var factor mat.Cholesky
		step := mat.NewVecDense(r.k, nil)
		if !factor.Factorize(mat.NewSymDense(r.k, slices.Clone(g))) {
			return nil, nil, errors.New("no mode was found")
		}
		if err := factor.SolveVecTo(step, mat.NewVecDense(r.k, grad)); err != nil {
			return nil, nil, err
		}
		for j := range mode {
			mode[j] += step.AtVec(j)
		}
	}
	return mode, g, nil
}

// startSpread is the spread of dispersed starting points, in standard deviations.
const startSpread = 2

// starts returns dispersed starting points: the mode plus a Student t variable with 4 degrees of
// freedom, times twice the standard deviation of the normal approximation.
func (r *regression) starts(n int, name string) ([][]float64, error) {
	mode, g, err := r.mode()
	if err != nil {
		return nil, err
	}
	var factor mat.Cholesky
	var upper mat.TriDense
	if !factor.Factorize(mat.NewSymDense(r.k, g)) {
		return nil, errors.New("the metric is not positive definite at the mode")
	}
	factor.UTo(&upper)
	points := make([][]float64, n)
	for i := range points {
		rng := infer.Stream(masterSeed, i+1, "start "+name, 0)
		z := make([]float64, r.k)
		chi := 0.0
		for range 4 {
			v := rng.NormFloat64()
			chi += v * v
		}
		for j := range z {
			z[j] = startSpread * rng.NormFloat64() / math.Sqrt(chi/4)
		}
		blas64.Trsv(blas.NoTrans, upper.RawTriangular(), blas64.Vector{N: r.k, Inc: 1, Data: z})
		for j := range z {
			z[j] += mode[j]
		}
		points[i] = z
	}
	return points, nil
}
