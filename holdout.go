package ppl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/predict"
)

// Holdout refits a model without some of its observations, and tells how well they are
// predicted. The observations are the rows of all data whose first size is that of the
// variable which the model's statements are about; they must be independent given the
// parameters.
type Holdout struct {
	N        int      // observations
	Rows     []string // the data that have a row for each
	Variable string   // that the statements are about

	model   *Model
	derived *Derived
	values  *data.Set
	size    string
	dim     int
	options BindOptions
}

// Holdout prepares for refits. An error says why observations cannot be left out.
func (m *Model) Holdout(values any, o BindOptions) (*Holdout, error) {
	set, err := ReadData(values)
	if err != nil {
		return nil, err
	}
	derived, err := m.Derive(predict.LogLikelihood)
	if err != nil {
		return nil, fmt.Errorf("there is no log likelihood of observations: %w", err)
	}
	if len(derived.Left) > 0 {
		return nil, fmt.Errorf("what held-out observations say about the model cannot be derived: %s", derived.Left[0])
	}
	if len(derived.Outputs) > 1 {
		return nil, fmt.Errorf("observations are of %s and of %s: which belong together is not known, so that they cannot be left out", derived.Outputs[0].Variable, derived.Outputs[1].Variable)
	}
	out := derived.Outputs[0]
	if out.Dims == 0 {
		return nil, fmt.Errorf("%s is one observation, which cannot be left out", out.Variable)
	}
	h := &Holdout{Variable: out.Variable, model: m, derived: derived, values: set, options: o}
	if h.Rows, err = m.alike(out.Variable); err != nil {
		return nil, err
	}
	if h.size, h.N, err = m.program.Rows(set, h.Rows); err != nil {
		return nil, err
	}
	whole, err := m.BindWith(set, o)
	if err != nil {
		return nil, err
	}
	h.dim = whole.Dim()
	return h, h.apart()
}

// apart checks that the log likelihood of a row is the same without other rows: it is not
// in a time series, or where all rows together enter, as in a mean that is subtracted in
// the transformed data. At some points only: what differs, mostly does everywhere.
func (h *Holdout) apart() error {
	var some []int
	for i := 0; i < h.N; i += 2 {
		some = append(some, i)
	}
	if len(some) == h.N {
		return nil
	}
	whole, err := h.derived.BindWith(h.values, h.options)
	if err != nil {
		return err
	}
	part, err := h.derived.BindWith(h.values.ChooseRows(h.Rows, h.size, some), h.options)
	if err != nil || part.Dim() != whole.Dim() {
		return nil // each refit says so itself
	}
	values := func(p *Posterior, x []float64) []float64 {
		dst := make([]float64, len(p.OutputNames()))
		if err := p.Generate(x, rand.New(rand.NewPCG(1, 1)), dst); err != nil {
			return nil
		}
		return dst[len(dst)-len(p.GeneratedNames()):]
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		x := make([]float64, whole.Dim())
		for i := range x {
			x[i] = 2*rng.Float64() - 1
		}
		a, b := values(whole, x), values(part, x)
		if a == nil || b == nil {
			continue
		}
		for k, v := range b {
			// The first index, which runs fastest, is the row.
			row := some[k%len(some)]
			w := a[k/len(some)*h.N+row]
			if math.Abs(v-w) > 1e-8*max(1, math.Abs(w)) {
				return fmt.Errorf("observations cannot be left out: the log likelihood of %s[%d] changes with the other rows of the data. It is that of a time series, or something is computed from all rows, such as a mean that is subtracted; do that before, in the data",
					h.Variable, row+1)
			}
		}
	}
	return nil
}

// alike lists the data whose first size is the same variable as that of name.
func (m *Model) alike(name string) ([]string, error) {
	size := ""
	all := m.program.IR().Data
	for _, v := range all {
		if v.Name == name && len(v.Sizes) > 0 {
			if ref, ok := v.Sizes[0].(*ir.VarRef); ok {
				size = ref.Var.Name
			}
		}
	}
	if size == "" {
		return nil, fmt.Errorf("the number of rows of %s must be declared as a variable of the data, as in array[N] real %s, so that observations can be left out", name, name)
	}
	var names []string
	for _, v := range all {
		if len(v.Sizes) == 0 {
			continue
		}
		if ref, ok := v.Sizes[0].(*ir.VarRef); ok && ref.Var.Name == size {
			names = append(names, v.Name)
		}
	}
	return names, nil
}

// Groups gives the rows that have the same value of a variable of the data with a number
// for each row, in the order of the values.
func (h *Holdout) Groups(name string) ([][]int, []string, error) {
	v, ok := h.values.Get(name)
	if !ok || len(v.Shape) != 1 || v.Shape[0] != h.N {
		return nil, nil, fmt.Errorf("groups by %s: it must be data with a number for each of the %d observations", name, h.N)
	}
	values := slices.Clone(v.Reals)
	slices.Sort(values)
	values = slices.Compact(values)
	groups := make([][]int, len(values))
	names := make([]string, len(values))
	for g, x := range values {
		names[g] = fmt.Sprintf("%s = %v", name, x)
	}
	for i, x := range v.Reals {
		g, _ := slices.BinarySearch(values, x)
		groups[g] = append(groups[g], i)
	}
	return groups, names, nil
}

// Values are the numbers of a variable of the data, one for each row.
func (h *Holdout) Values(name string) ([]float64, error) {
	v, ok := h.values.Get(name)
	if !ok || len(v.Shape) != 1 || v.Shape[0] != h.N {
		return nil, fmt.Errorf("%s must be data with a number for each of the %d observations", name, h.N)
	}
	return v.Reals, nil
}

// HeldOut is how well observations are predicted that a fit has not seen.
type HeldOut struct {
	Fit    *Fit
	LogLik [][]float64 // by observation: log likelihood at every draw, chain after chain
}

// ELPD is the log predictive density of an observation: the logarithm of the mean
// likelihood; with its Monte Carlo standard error.
func (h *HeldOut) ELPD(observation int) (elpd, mcse float64) {
	column := h.LogLik[observation]
	top := slices.Max(column)
	if math.IsInf(top, 0) || math.IsNaN(top) {
		return top, math.NaN()
	}
	n := float64(len(column))
	mean := 0.0
	for _, v := range column {
		mean += math.Exp(v-top) / n
	}
	variance := 0.0
	for _, v := range column {
		d := math.Exp(v-top)/mean - 1
		variance += d * d / n
	}
	return top + math.Log(mean), math.Sqrt(variance / n)
}

// Without fits the model to the observations in kept, all that are not in out if it is
// nil, and gives the log likelihoods of those in out. Rows count from 0.
func (h *Holdout) Without(ctx context.Context, out, kept []int, o Options) (*HeldOut, error) {
	if kept == nil {
		for i := range h.N {
			if !slices.Contains(out, i) {
				kept = append(kept, i)
			}
		}
	}
	if len(out) == 0 {
		return nil, errors.New("there are no observations to leave out")
	}
	p, err := h.model.BindWith(h.values.ChooseRows(h.Rows, h.size, kept), h.options)
	if err != nil {
		return nil, fmt.Errorf("the data without %s: %w", h.name(out), err)
	}
	if p.Dim() != h.dim {
		return nil, fmt.Errorf("the model has %d unconstrained parameters with all observations and %d without %s: parameters that belong to single observations cannot be learnt without them", h.dim, p.Dim(), h.name(out))
	}
	fit, err := Sample(ctx, p, o)
	if err != nil {
		return nil, fmt.Errorf("the fit without %s: %w", h.name(out), err)
	}
	q, err := h.derived.BindWith(h.values.ChooseRows(h.Rows, h.size, out), BindOptions{Seed: h.options.Seed, StanCompat: h.options.StanCompat})
	if err != nil {
		return nil, fmt.Errorf("the likelihood of %s: %w", h.name(out), err)
	}
	held := &HeldOut{Fit: fit}
	l := &LogLik{fit: fit, derived: q}
	for i, n := range q.GeneratedNames() {
		l.columns, l.group, l.Names = append(l.columns, i), append(l.group, i), append(l.Names, n)
	}
	if len(l.columns)%len(out) != 0 {
		return nil, fmt.Errorf("%d log likelihoods of %d observations", len(l.columns), len(out))
	}
	// Of further dimensions, a row's elements count together; the first index runs fastest.
	for i := range l.group {
		l.group[i] = i % len(out)
	}
	l.Names = l.Names[:len(out)]
	m, err := l.Matrix(ctx)
	if err != nil {
		return nil, err
	}
	held.LogLik = m.Columns
	return held, nil
}

// name says which observations are meant.
func (h *Holdout) name(rows []int) string {
	if len(rows) == 1 {
		return fmt.Sprintf("%s[%d]", h.Variable, rows[0]+1)
	}
	return fmt.Sprintf("%d observations, among them %s[%d]", len(rows), h.Variable, rows[0]+1)
}
