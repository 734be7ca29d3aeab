package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
)

// coxVariant is one of two interpretations of the log-Gaussian Cox process. They differ in the unit
// of distances in the covariance: it is the side of a cell in the formula that papers print, and
// the side of the unit square in the programs of Girolami and Calderhead and in the data that they
// made.
type coxVariant struct {
	name  string
	title string
	reach func(d int) float64 // range of the covariance, in cells
	ours  bool                // data are always simulated, even if there is a folder of data
	delta float64             // best δ of NUTS with 32 × 32 cells, see fig3.md
}

var coxVariants = []coxVariant{
	{"A", "as run", func(d int) float64 { return float64(d) * coxSide / 33 }, false, 0.55},
	{"B", "as printed", func(d int) float64 { return float64(d) / 33 }, true, 0.65},
}

// The hyper-parameters of Girolami and Calderhead, and the number of cells on a side of their grid.
const (
	coxVariance = 1.91
	coxSide     = 64
)

var coxMean = math.Log(126) - coxVariance/2

// cox is a data set of a log-Gaussian Cox process on a grid of d × d cells, column by column. It
// also has what Go code needs of its two models.
type cox struct {
	variant coxVariant
	d       int
	y       []int
	truth   []float64
	field   *field
}

// loadCox reads the counts of Girolami and Calderhead, added up to a coarser grid if d is smaller
// than theirs, or simulates counts.
func loadCox(v coxVariant, dir string, d int) (*cox, error) {
	f, err := newField(d, v.reach(d), math.Exp(coxMean+coxVariance)/float64(d*d))
	if err != nil {
		return nil, err
	}
	c := &cox{variant: v, d: d, field: f}
	if v.ours || dir == "" {
		c.simulate(0)
		return c, nil
	}
	return c, c.read(filepath.Join(dir, "lgc", "lgc64.csv"))
}

// simulate makes the data set of a number. Data set 0 is the one on which samplers are compared.
func (c *cox) simulate(number int) {
	rng := infer.Stream(masterSeed, number, fmt.Sprintf("data cox %s %d", c.variant.name, c.d), 0)
	c.truth = c.field.draw(rng)
	c.y = make([]int, c.d*c.d)
	for i, x := range c.truth {
		c.y[i] = poisson(rng, math.Exp(x)/float64(c.d*c.d))
	}
}

// joined returns the counts on a coarser grid.
func (c *cox) joined(d int) []int {
	y := make([]int, d*d)
	for k, v := range c.y {
		y[k/c.d/(c.d/d)*d+k%c.d/(c.d/d)] += v
	}
	return y
}

// points returns the number of points, and the number of ordered pairs of points in the same cell.
func (c *cox) points() (points, pairs int) {
	for _, y := range c.y {
		points += y
		pairs += y * (y - 1)
	}
	return points, pairs
}

// read reads the file and joins cells to the size of the grid: it adds up counts and averages
// intensities.
func (c *cox) read(name string) error {
	if coxSide%c.d != 0 {
		return fmt.Errorf("%s has a grid with a side of %d, which cannot be reduced to %d", name, coxSide, c.d)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(records) != 1+coxSide*coxSide {
		return fmt.Errorf("%s: %d lines instead of %d", name, len(records), 1+coxSide*coxSide)
	}
	step := coxSide / c.d
	c.y, c.truth = make([]int, c.d*c.d), make([]float64, c.d*c.d)
	for k, record := range records[1:] { // columns i, j, y, x_true
		y, err := strconv.Atoi(record[2])
		x, err2 := strconv.ParseFloat(record[3], 64)
		if err := errors.Join(err, err2); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		cell := k/coxSide/step*c.d + k%coxSide/step
		c.y[cell] += y
		c.truth[cell] += math.Exp(x) / float64(step*step)
	}
	for i, v := range c.truth {
		c.truth[i] = math.Log(v)
	}
	return nil
}

// poisson draws a Poisson variable by multiplying uniform ones, which is fast enough for the small
// means here.
func poisson(rng *rand.Rand, mean float64) int {
	n := 0
	for p := rng.Float64(); p > math.Exp(-mean); p *= rng.Float64() {
		n++
	}
	return n
}

// posterior binds a model of the process to the data.
func (c *cox) posterior(name string) (*ppl.Posterior, error) {
	m, err := compileModel(name)
	if err != nil {
		return nil, err
	}
	return m.Bind(map[string]any{"d": c.d, "y": c.y, "mu": coxMean, "variance": coxVariance, "range": c.variant.reach(c.d)})
}

// compileModel compiles a model in the folder models. It may include other files of that folder.
func compileModel(name string) (*ppl.Model, error) {
	text, err := models.ReadFile("models/" + name)
	if err != nil {
		return nil, err
	}
	parts, err := models.ReadFile("models/" + coxPartsFile)
	if err != nil {
		return nil, err
	}
	return ppl.CompileContext(context.Background(), name, string(text), ppl.CompileOptions{Included: map[string]string{coxPartsFile: string(parts)}})
}

// coxPartsFile is a file that models include.
const coxPartsFile = "parts.model"

// field is a Gaussian field on a square grid. It is the sum of four parts that are even or odd in
// rows and in columns, see models/cox.model. field also has a metric: the inverse covariance plus
// the information in the counts, which is taken to be the same for all cells.
type field struct {
	d     int
	prior [4]blas64.Triangular // upper triangular U: the covariance of the part is UᵀU
	// Upper triangular too: U, where UᵀU is the metric of the part, and the inverse of this U.
	metric, inverse [4]blas64.Triangular
}

// The parts in the order of the coordinates of models/cox_metric.model. The second and third have
// the same covariance; one of them is transposed.
var coxParts = [4][2]float64{{1, 1}, {-1, 1}, {-1, 1}, {-1, -1}}

func newField(d int, reach, information float64) (*field, error) {
	if d < 2 || d%2 != 0 {
		return nil, fmt.Errorf("a grid with a side of %d, which is not even", d)
	}
	f := &field{d: d}
	h := d / 2
	for p, sign := range coxParts {
		if p == 2 {
			f.prior[2], f.metric[2], f.inverse[2] = f.prior[1], f.metric[1], f.inverse[1]
			continue
		}
		c := mat.NewSymDense(h*h, nil)
		for a := range h * h {
			for b := range a + 1 {
				sum := 0.0
				for image := range 4 {
					i, j, weight := b%h, b/h, 1.0
					if image&1 != 0 {
						i, weight = d-1-i, sign[0]
					}
					if image&2 != 0 {
						j, weight = d-1-j, weight*sign[1]
					}
					sum += weight * math.Exp(-math.Hypot(float64(a%h-i), float64(a/h-j))/reach)
				}
				c.SetSym(a, b, coxVariance*sum)
			}
		}
		var factor mat.Cholesky
		var u mat.TriDense
		var precision mat.SymDense
		if !factor.Factorize(c) {
			return nil, errors.New("the covariance is not positive definite")
		}
		factor.UTo(&u)
		f.prior[p] = u.RawTriangular()
		if err := factor.InverseTo(&precision); err != nil {
			return nil, err
		}
		for i := range h * h {
			precision.SetSym(i, i, precision.At(i, i)+information)
		}
		var root, inverse mat.TriDense
		if !factor.Factorize(&precision) {
			return nil, errors.New("the metric is not positive definite")
		}
		factor.UTo(&root)
		if err := inverse.InverseTri(&root); err != nil {
			return nil, err
		}
		f.metric[p], f.inverse[p] = root.RawTriangular(), inverse.RawTriangular()
	}
	return f, nil
}

// draw draws a field from the prior.
func (f *field) draw(rng *rand.Rand) []float64 {
	z := make([]float64, f.d*f.d)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	f.multiply(f.prior, blas.Trans, z)
	return f.unfold(z)
}

// multiply multiplies each part of v by its matrix in u or by the transpose.
func (f *field) multiply(u [4]blas64.Triangular, t blas.Transpose, v []float64) {
	q := len(v) / 4
	for p := range u {
		blas64.Trmv(t, u[p], blas64.Vector{N: q, Inc: 1, Data: v[p*q : (p+1)*q]})
	}
}

// fromMetric converts coordinates in which the metric is the identity to the field. toMetric is its
// inverse.
func (f *field) fromMetric(z []float64) []float64 {
	v := append([]float64(nil), z...)
	f.multiply(f.inverse, blas.NoTrans, v)
	return f.unfold(v)
}

func (f *field) toMetric(x []float64) []float64 {
	v := f.fold(x)
	f.multiply(f.metric, blas.NoTrans, v)
	return v
}

// fold returns the four parts of a field, each a quarter of the grid. unfold is its inverse. Apart
// from the mean, which it subtracts, fold is an orthogonal matrix.
func (f *field) fold(x []float64) []float64 {
	d, h := f.d, f.d/2
	v := make([]float64, d*d)
	for j := range h {
		for i := range h {
			a, b := x[j*d+i]-coxMean, x[j*d+d-1-i]-coxMean
			c, e := x[(d-1-j)*d+i]-coxMean, x[(d-1-j)*d+d-1-i]-coxMean
			at, transposed := j*h+i, i*h+j
			v[at] = 0.5 * (a + b + c + e)
			v[h*h+at] = 0.5 * (a - b + c - e)
			v[2*h*h+transposed] = 0.5 * (a + b - c - e)
			v[3*h*h+at] = 0.5 * (a - b - c + e)
		}
	}
	return v
}

func (f *field) unfold(v []float64) []float64 {
	d, h := f.d, f.d/2
	x := make([]float64, d*d)
	for j := range h {
		for i := range h {
			at, transposed := j*h+i, i*h+j
			s, t, u, w := 0.5*v[at], 0.5*v[h*h+at], 0.5*v[2*h*h+transposed], 0.5*v[3*h*h+at]
			x[j*d+i] = coxMean + s + t + u + w
			x[j*d+d-1-i] = coxMean + s - t + u - w
			x[(d-1-j)*d+i] = coxMean + s + t - u - w
			x[(d-1-j)*d+d-1-i] = coxMean + s - t - u + w
		}
	}
	return x
}

// fieldJump is the reward of the paper's adaptive Riemannian sampler when it runs in the
// coordinates of the metric: squared jumps of the field itself, added up over a batch as in
// ahmc.SquaredJump.
type fieldJump struct{ field *field }

// Signed implements ahmc.Reward.
func (fieldJump) Signed() bool { return false }

// Start implements ahmc.Reward.
func (j fieldJump) Start(infer.Hamiltonian, *infer.Meter) (ahmc.Objective, error) {
	return &fieldJumps{field: j.field, jump: make([]float64, j.field.d*j.field.d)}, nil
}

// fieldJumps is the sum of the jumps in a batch.
type fieldJumps struct {
	field *field
	jump  []float64
	total float64
}

// Observe implements ahmc.Objective.
func (t *fieldJumps) Observe(before, _ *infer.Point, info infer.Info) {
	if !(info.AcceptStat > 0) {
		return
	}
	for i, v := range info.Proposal.Position {
		t.jump[i] = v - before.Position[i]
	}
	t.field.multiply(t.field.inverse, blas.NoTrans, t.jump)
	// The parts are an orthogonal transformation of the field, so their jump has the same length.
	t.total += info.AcceptStat * blas64.Dot(blas64.Vector{N: len(t.jump), Inc: 1, Data: t.jump}, blas64.Vector{N: len(t.jump), Inc: 1, Data: t.jump})
}

// Reward implements ahmc.Objective.
func (t *fieldJumps) Reward(*rand.Rand, ahmc.Setting) (float64, error) {
	r := t.total
	t.total = 0
	return r, nil
}

// State and SetState implement ahmc.Objective.
func (t *fieldJumps) State() []float64 { return []float64{t.total} }

func (t *fieldJumps) SetState(s []float64) error {
	t.total = s[0]
	return nil
}
