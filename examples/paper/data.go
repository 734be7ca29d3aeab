package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer"
)

// set is one of the paper's logistic regressions.
type set struct {
	name  string
	rows  int
	given int  // covariates in the file
	cubic bool // powers 1, 2, 3 of each covariate, as Girolami and Calderhead did for this set
}

var sets = []set{
	{"ripley", 250, 2, true},
	{"pima", 532, 7, false},
	{"heart", 270, 13, false},
	{"australian", 690, 14, false},
	{"german", 1000, 24, false},
}

// regression is the posterior of a logistic regression: the model in
// models/blr.model, which gives density and gradient, with its metric
// X'ΛX + I/scale² written out by hand.
type regression struct {
	posterior infer.LogDensity
	x         []float64 // N×K, with the intercept
	n, k      int
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
	r := &regression{n: n, k: 1, scale: priorScale}
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

func standardise(v []float64) {
	mean, sd := moments(v)
	for i := range v {
		v[i] = (v[i] - mean) / sd
	}
}

// read gives the covariates, by column, and the outcome.
func (s set) read(dir string) (covariates [][]float64, y []int, err error) {
	if dir == "" {
		return s.simulate()
	}
	file, err := os.Open(filepath.Join(dir, "blr", s.name+".csv"))
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	covariates = make([][]float64, len(records[0])-1)
	for _, record := range records[1:] {
		for j, field := range record {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", file.Name(), err)
			}
			if j < len(covariates) {
				covariates[j] = append(covariates[j], v)
			} else {
				y = append(y, int(v))
			}
		}
	}
	return covariates, y, nil
}

// simulate makes data of the same shape: correlated covariates, an outcome
// that depends on a few.
func (s set) simulate() (covariates [][]float64, y []int, err error) {
	rng := infer.Stream(masterSeed, 0, "data "+s.name, 0)
	covariates = make([][]float64, s.given)
	b := make([]float64, s.given)
	for j := range b {
		b[j] = rng.NormFloat64() / math.Sqrt(float64(j+1))
	}
	for range s.rows {
		common, eta := rng.NormFloat64(), 0.0
		for j := range covariates {
			v := 0.6*common + 0.8*rng.NormFloat64()
			covariates[j] = append(covariates[j], v)
			eta += b[j] * v
		}
		outcome := 0
		if rng.Float64() < 1/(1+math.Exp(-eta)) {
			outcome = 1
		}
		y = append(y, outcome)
	}
	return covariates, y, nil
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

// FisherMetric writes X'ΛX + I/scale², for package riemann.
func (r *regression) FisherMetric(b, g []float64) error {
	k := r.k
	clear(g)
	for i := range r.n {
		x := r.x[i*k : (i+1)*k]
		p := r.probability(x, b)
		for j, xj := range x {
			w := p * (1 - p) * xj
			for l := range j + 1 {
				g[j*k+l] += w * x[l]
			}
		}
	}
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
	for i := range r.n {
		x := r.x[i*k : (i+1)*k]
		p := r.probability(x, b)
		q := 0.0
		for j, xj := range x { // A is symmetric
			row := a[j*k : j*k+j]
			s := 0.5 * a[j*k+j] * xj
			for l, v := range row {
				s += v * x[l]
			}
			q += 2 * s * xj
		}
		w := q * p * (1 - p) * (1 - 2*p)
		for j, xj := range x {
			grad[j] += w * xj
		}
	}
	return nil
}

func (r *regression) probability(x, b []float64) float64 {
	eta := 0.0
	for j, v := range x {
		eta += v * b[j]
	}
	return 1 / (1 + math.Exp(-eta))
}

// starts gives dispersed starting points: the mode plus twice the normal
// approximation's deviation, times a Student t with 4 degrees of freedom.
func (r *regression) starts(n int, name string) ([][]float64, error) {
	mode := make([]float64, r.k)
	grad, g := make([]float64, r.k), make([]float64, r.k*r.k)
	for range 50 { // Newton: the metric is minus the Hessian
		if _, err := r.LogDensityGrad(mode, grad); err != nil {
			return nil, err
		}
		if err := r.FisherMetric(mode, g); err != nil {
			return nil, err
		}
		if !cholesky(g, r.k) {
			return nil, errors.New("no mode was found")
		}
		solveLower(g, grad)
		solveUpper(g, grad)
		for j := range mode {
			mode[j] += grad[j]
		}
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
			z[j] = 2 * rng.NormFloat64() / math.Sqrt(chi/4)
		}
		solveUpper(g, z)
		for j := range z {
			z[j] += mode[j]
		}
		points[i] = z
	}
	return points, nil
}

// cholesky replaces the lower triangle of g by its factor.
func cholesky(g []float64, k int) bool {
	for i := range k {
		for j := range i + 1 {
			s := g[i*k+j]
			for l := range j {
				s -= g[i*k+l] * g[j*k+l]
			}
			if i == j {
				if !(s > 0) {
					return false
				}
				g[i*k+i] = math.Sqrt(s)
			} else {
				g[i*k+j] = s / g[j*k+j]
			}
		}
	}
	return true
}

// solveLower solves Lx = b, solveUpper L'x = b, in place.
func solveLower(l, b []float64) {
	k := len(b)
	for i := range k {
		for j := range i {
			b[i] -= l[i*k+j] * b[j]
		}
		b[i] /= l[i*k+i]
	}
}

func solveUpper(l, b []float64) {
	k := len(b)
	for i := k - 1; i >= 0; i-- {
		for j := i + 1; j < k; j++ {
			b[i] -= l[j*k+i] * b[j]
		}
		b[i] /= l[i*k+i]
	}
}

// reference reads the posterior moments that are known of a data set.
func reference(dir, name string) (mean, sd []float64, err error) {
	file, err := os.Open(filepath.Join(dir, "blr", "reference_moments.csv"))
	if errors.Is(err, fs.ErrNotExist) || dir == "" {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, nil, err
	}
	for _, record := range records[1:] {
		if record[0] != name {
			continue
		}
		m, err1 := strconv.ParseFloat(record[2], 64)
		s, err2 := strconv.ParseFloat(record[3], 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, nil, err
		}
		mean, sd = append(mean, m), append(sd, s)
	}
	return mean, sd, nil
}
