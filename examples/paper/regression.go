package main

import (
	"errors"
	"math"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer"
)

// regression is the posterior of a logistic regression: the model in
// models/blr.model, which gives density and gradient, with its metric
// X'ΛX + I/scale² written out by hand.
type regression struct {
	posterior infer.LogDensity
	x         []float64 // N×K, with the intercept, and rows of zeros up to a multiple of lanes
	k         int
	scale     float64
}

// priorScale is that of Girolami and Calderhead: a variance of 100.
const priorScale = 10

// load reads a data set, or simulates one of its shape.
func (s set) load(dir string) (*regression, error) {
	covariates, y, err := s.read(dir)
	if err != nil {
		return nil, err
	}
	n := len(y)
	r := &regression{k: 1, scale: priorScale}
	for _, c := range covariates {
		standardise(c)
	}
	// Powers of what is standardised, not standardised again: the posterior
	// means that are known of Ripley's data are those of this basis.
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
		r.x = append(r.x, rows[i]...)
	}
	for len(r.x)%(lanes*r.k) > 0 { // rows of zeros add nothing to the metric
		r.x = append(r.x, 0)
	}
	text, err := models.ReadFile("models/blr.model")
	if err != nil {
		return nil, err
	}
	model, err := ppl.Compile("blr.model", string(text))
	if err != nil {
		return nil, err
	}
	r.posterior, err = model.Bind(map[string]any{"N": n, "K": r.k, "X": rows, "y": y, "scale": r.scale})
	return r, err
}

// Dim implements infer.LogDensity.
func (r *regression) Dim() int { return r.k }

// LogDensityGrad implements infer.LogDensity.
func (r *regression) LogDensityGrad(b, grad []float64) (float64, error) {
	return r.posterior.LogDensityGrad(b, grad)
}

// Clone implements infer.Cloner.
func (r *regression) Clone() infer.LogDensity {
	c := *r
	c.posterior = r.posterior.(infer.Cloner).Clone()
	return &c
}

// lanes is how many rows the metric takes at once: each element of a matrix is
// then loaded once for so many products, and these do not wait for each other.
const lanes = 4

// blocks calls f with each block of rows and their probabilities.
func (r *regression) blocks(b []float64, f func(x *[lanes][]float64, p *[lanes]float64)) {
	k := r.k
	var x [lanes][]float64
	var p [lanes]float64
	for at := 0; at < len(r.x); at += lanes * k {
		for c := range x {
			x[c] = r.x[at+c*k : at+(c+1)*k]
			eta := 0.0
			for j, v := range x[c] {
				eta += v * b[j]
			}
			p[c] = 1 / (1 + math.Exp(-eta))
		}
		f(&x, &p)
	}
}

// FisherMetric writes X'ΛX + I/scale², for package riemann.
func (r *regression) FisherMetric(b, g []float64) error {
	k := r.k
	clear(g)
	r.blocks(b, func(x *[lanes][]float64, p *[lanes]float64) {
		x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
		for j := range k {
			w0, w1 := p[0]*(1-p[0])*x0[j], p[1]*(1-p[1])*x1[j]
			w2, w3 := p[2]*(1-p[2])*x2[j], p[3]*(1-p[3])*x3[j]
			row := g[j*k : j*k+j+1]
			a0, a1, a2, a3 := x0[:len(row)], x1[:len(row)], x2[:len(row)], x3[:len(row)]
			for l := range row {
				row[l] += w0*a0[l] + w1*a1[l] + (w2*a2[l] + w3*a3[l])
			}
		}
	})
	for j := range k {
		g[j*k+j] += 1 / (r.scale * r.scale)
		for l := range j {
			g[l*k+j] = g[j*k+l]
		}
	}
	return nil
}

// FisherTraceGrad writes the gradient of tr(A·G(b)).
func (r *regression) FisherTraceGrad(b, a, grad []float64) error {
	k := r.k
	clear(grad)
	r.blocks(b, func(x *[lanes][]float64, p *[lanes]float64) {
		x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
		var q [lanes]float64 // x'Ax; A is symmetric
		for j := range k {
			row := a[j*k : j*k+j]
			a0, a1, a2, a3 := x0[:len(row)], x1[:len(row)], x2[:len(row)], x3[:len(row)]
			var s0, s1, s2, s3 float64
			for l, v := range row {
				s0 += v * a0[l]
				s1 += v * a1[l]
				s2 += v * a2[l]
				s3 += v * a3[l]
			}
			d := a[j*k+j]
			q[0] += (2*s0 + d*x0[j]) * x0[j]
			q[1] += (2*s1 + d*x1[j]) * x1[j]
			q[2] += (2*s2 + d*x2[j]) * x2[j]
			q[3] += (2*s3 + d*x3[j]) * x3[j]
		}
		for c := range q {
			q[c] *= p[c] * (1 - p[c]) * (1 - 2*p[c])
		}
		for j := range k {
			grad[j] += q[0]*x0[j] + q[1]*x1[j] + (q[2]*x2[j] + q[3]*x3[j])
		}
	})
	return nil
}

// mode finds the mode and the metric there, by Newton's method: the metric is
// minus the Hessian.
func (r *regression) mode() (mode, g []float64, err error) {
	mode, g = make([]float64, r.k), make([]float64, r.k*r.k)
	grad, factor := make([]float64, r.k), make([]float64, r.k*r.k)
	for range 50 {
		if _, err := r.LogDensityGrad(mode, grad); err != nil {
			return nil, nil, err
		}
		if err := r.FisherMetric(mode, g); err != nil {
			return nil, nil, err
		}
		copy(factor, g)
		if !cholesky(factor, r.k) {
			return nil, nil, errors.New("no mode was found")
		}
		solveLower(factor, grad)
		solveUpper(factor, grad)
		for j := range mode {
			mode[j] += grad[j]
		}
	}
	return mode, g, nil
}

// startSpread is that of dispersed starting points, in standard deviations.
const startSpread = 2

// starts gives dispersed starting points: the mode plus twice the normal
// approximation's deviation, times a Student t with 4 degrees of freedom.
func (r *regression) starts(n int, name string) ([][]float64, error) {
	mode, g, err := r.mode()
	if err != nil {
		return nil, err
	}
	if !cholesky(g, r.k) {
		return nil, errors.New("the metric is not positive definite at the mode")
	}
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
		solveUpper(g, z)
		for j := range z {
			z[j] += mode[j]
		}
		points[i] = z
	}
	return points, nil
}
