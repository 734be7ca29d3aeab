package assess

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// Holdout splits data, so that you can fit a model without some observations and see how well it
// predicts them. An observation is a row: one index of the variable that the model's statements are
// about, and of all data declared with the same first size. In ragged data it is an element of a
// row, with its elements in all ragged data of the same sizes; a row may lose all of its elements.
// Observations must be independent given the parameters.
type Holdout struct {
	N    int      // number of observations
	Rows []string // data variables with one row per observation

	// Variables are those that the model's statements are about. If there are several, a row of all
	// of them is one observation.
	Variables []string

	// Unobserved is the number of rows of the data that lack their outcome. They are no
	// observations.
	Unobserved int

	given    data.Rows // the rows of ragged data, with all of their elements
	observed []int     // the rows of the data that are observations; nil: all are

	model   *model.Model
	derived *model.Derived
	values  *data.Set
	size    string // the variable with the number of observations, or with those in each row of ragged data
	ragged  bool   // the values of Rows have all rows one after another
	dim     int
	alone   bool // the log likelihood of a row is known not to depend on others
	options model.BindOptions
}

// NewHoldout prepares refits without some observations. It stops early if ctx ends. An error says
// why observations cannot be left out.
func NewHoldout(ctx context.Context, m *model.Model, values any, o model.BindOptions) (*Holdout, error) {
	set, err := model.ReadData(values)
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
	h := &Holdout{model: m, derived: derived, values: set, options: o}
	for _, out := range derived.Outputs {
		h.Variables = append(h.Variables, out.Variable)
		if out.Dims == 0 {
			return nil, fmt.Errorf("%s is one observation, which cannot be left out", out.Variable)
		}
		if out.Dims > 1 && m.Program().Discrete() {
			return nil, fmt.Errorf("a row of %s has several elements, which share discrete parameters: the density of a row is a sum over these, which is not derived. Leave single elements out by importance sampling, or compute log_lik in generated quantities", out.Variable)
		}
	}
	out := derived.Outputs[0]
	if len(h.Variables) > 1 && m.Program().Discrete() {
		return nil, fmt.Errorf("a row has elements of %s and of %s, which may share discrete parameters: the density of a row is a sum over these, which is not derived. Leave single elements out by importance sampling, or compute log_lik in generated quantities", h.Variables[0], h.Variables[1])
	}
	if h.ragged, err = h.rows(out.Variable); err != nil {
		return nil, err
	}
	set = h.values
	if h.ragged {
		v, _ := set.Get(out.Variable)
		h.N = v.Shape[0]
	} else if h.Rows = m.RowsOf(out.Variable); h.Rows == nil {
		return nil, fmt.Errorf("the number of rows of %s must be declared as a variable of the data, as in array[N] real %s, so that observations can be left out", out.Variable, out.Variable)
	}
	if !h.ragged {
		if h.size, h.N, err = m.Program().Rows(set, h.Rows); err != nil {
			return nil, err
		}
	}
	for _, name := range h.Variables {
		if !slices.Contains(h.Rows, name) && len(h.Variables) > 1 {
			return nil, fmt.Errorf("observations are of %s and of %s, which have different rows, so that they cannot be left out. "+
				"Leave single observations of either out by importance sampling (ppl loo)", out.Variable, name)
		}
	}
	if missing := m.Program().Missing(set, out.Variable); len(h.Variables) == 1 && len(missing) > 0 && out.Dims == 1 && len(missing) < h.N && slices.Contains(h.Rows, out.Variable) {
		if v, _ := set.Get(out.Variable); len(v.Shape) == 1 { // a row without its outcome is no observation
			for i := range h.N {
				if !slices.Contains(missing, i) {
					h.observed = append(h.observed, i)
				}
			}
			set = h.choose(h.observed)
			h.values, h.N, h.Unobserved = set, len(h.observed), len(missing)
		}
	}
	for _, name := range h.Rows {
		if missing := m.Program().Missing(set, name); len(missing) > 0 {
			return nil, fmt.Errorf("%s has missing values, which are parameters: a fit without their observations has other parameters. "+
				"Leave these rows out of the data, or use leave-one-out cross-validation by importance sampling", name)
		}
	}
	whole, err := m.BindContext(ctx, set, o)
	if err != nil {
		return nil, err
	}
	h.dim = whole.Dim()
	h.alone, err = h.apart(ctx)
	return h, err
}

// apart checks that the log likelihood of a row does not depend on other rows. It depends on them
// in a time series, if transformed data subtract a mean over all rows, or if rows share discrete
// parameters. A few points are enough, since a dependence shows almost everywhere. It returns false
// without an error if some rows cannot be left out at the same parameters.
func (h *Holdout) apart(ctx context.Context) (bool, error) {
	if h.N < 2 {
		return true, nil
	}
	whole, err := h.derived.BindContext(ctx, h.values, h.options)
	if err != nil {
		return false, err
	}
	// Two rows alone may share a discrete parameter. Their numbers differ in some binary digit, so
	// that one of them is among the rows in which it is 0 without the other.
	digits := 1
	if h.model.Program().Discrete() {
		digits = bits.Len(uint(h.N - 1))
	}
	known := true
	for digit := range digits {
		var some []int
		for i := range h.N {
			if i>>digit&1 == 0 {
				some = append(some, i)
			}
		}
		ok, err := h.same(ctx, whole, some)
		if err != nil {
			return false, err
		}
		known = known && ok
	}
	return known, nil
}

// same compares the log likelihoods of some rows among all with those of these rows alone.
func (h *Holdout) same(ctx context.Context, whole *model.Posterior, some []int) (bool, error) {
	part, err := h.derived.BindContext(ctx, h.choose(some), h.options)
	if err != nil || part.Dim() != whole.Dim() {
		return false, nil // each refit reports this error
	}
	values := func(p *model.Posterior, x []float64) []float64 {
		dst := make([]float64, len(p.OutputNames()))
		if err := p.Generate(x, rand.New(rand.NewPCG(1, 1)), dst); err != nil {
			return nil
		}
		return dst[len(dst)-len(p.GeneratedNames()):]
	}
	rng := rand.New(rand.NewPCG(1, 2))
	compared := false
	for range 3 {
		x := make([]float64, whole.Dim())
		for i := range x {
			x[i] = 2*rng.Float64() - 1
		}
		a, b := values(whole, x), values(part, x)
		if a == nil || b == nil {
			continue
		}
		compared = true
		for k, v := range b {
			// The first index, which runs fastest, is the row.
			row := some[k%len(some)]
			w := a[k/len(some)*h.N+row]
			if math.Abs(v-w) <= 1e-8*max(1, math.Abs(w)) {
				continue
			}
			if h.model.Program().Discrete() {
				return false, fmt.Errorf("observations cannot be left out: the log likelihood of %s changes with the other rows of the data, which share discrete parameters with it, or it is that of a time series", h.Name(row))
			}
			return false, fmt.Errorf("observations cannot be left out: the log likelihood of %s changes with the other rows of the data. It is that of a time series, or something is computed from all rows, such as a mean that is subtracted; do that before, in the data",
				h.Name(row))
		}
	}
	return compared, nil
}

// Groups groups the observations by the value of a data variable with one number per observation
// or, of ragged data, per row. It returns the
// groups in the order of the values, and their names.
func (h *Holdout) Groups(name string) ([][]int, []string, error) {
	v, ok := h.values.Get(name)
	if !ok {
		return nil, nil, fmt.Errorf("groups by %s: %w", name, noData(h.values, name))
	}
	v = h.byRow(v)
	if len(v.Shape) != 1 || v.Shape[0] != h.N {
		return nil, nil, fmt.Errorf("groups by %s: it must be data with a number for each of the %d observations", name, h.N)
	}
	values := slices.Clone(v.Reals)
	slices.Sort(values)
	values = slices.Compact(values)
	groups := make([][]int, len(values))
	names := make([]string, len(values))
	for g, x := range values {
		names[g] = groupName(h.values, name, x)
	}
	for i, x := range v.Reals {
		g, _ := slices.BinarySearch(values, x)
		groups[g] = append(groups[g], i)
	}
	return groups, names, nil
}

// groupName names the group of observations in which a data variable has the value x, as in school
// = 3. If the variable is a factor, the name has the level, as in school = Bolton.
func groupName(values *data.Set, variable string, x float64) string {
	if levels, n := values.Levels(variable), int(x); n >= 1 && n <= len(levels) && float64(n) == x {
		return variable + " = " + levels[n-1]
	}
	return fmt.Sprintf("%s = %v", variable, x)
}

// Values returns the values of a data variable with one number per observation or, of ragged data,
// per row.
func (h *Holdout) Values(name string) ([]float64, error) {
	v, ok := h.values.Get(name)
	if !ok {
		return nil, noData(h.values, name)
	}
	v = h.byRow(v)
	if len(v.Shape) != 1 || v.Shape[0] != h.N {
		return nil, fmt.Errorf("%s must be data with a number for each of the %d observations", name, h.N)
	}
	return v.Reals, nil
}

// HeldOut says how well a fit predicts observations that it has not seen.
type HeldOut struct {
	Fit    *fit.Fit
	LogLik [][]float64 // log likelihoods by observation and draw, chain after chain
}

// ELPD is the log predictive density of an observation, the logarithm of its mean likelihood over
// the draws, with its Monte Carlo standard error.
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

// Split splits the data: train has the observations in kept, and test those in out. If kept is nil,
// train has all observations that are not in out. Rows count from 0.
func (h *Holdout) Split(out, kept []int) (train, test *data.Set, err error) {
	if kept == nil {
		for i := range h.N {
			if !slices.Contains(out, i) {
				kept = append(kept, i)
			}
		}
	}
	if len(out) == 0 {
		return nil, nil, errors.New("there are no observations to leave out")
	}
	return h.choose(kept), h.choose(out), nil
}

// Dim returns the number of unconstrained parameters of a fit to all observations. A fit without
// some observations must have the same number. If it has fewer, some parameters belong to left-out
// observations, and nothing can be learnt about them.
func (h *Holdout) Dim() int { return h.dim }

// PredictHeldOut computes how well a fit predicts rows of data that it has not seen, such as the
// test rows of [Holdout.Split]. d comes from [model.Model.Derive] with [predict.LogLikelihood].
func PredictHeldOut(ctx context.Context, d *model.Derived, fit *fit.Fit, test *data.Set, rows int, o model.BindOptions) (*HeldOut, error) {
	q, err := d.BindContext(ctx, test, o)
	if err != nil {
		return nil, fmt.Errorf("the likelihood of what is held out: %w", err)
	}
	held := &HeldOut{Fit: fit}
	l := &LogLik{fit: fit, derived: q}
	for i, n := range q.GeneratedNames() {
		l.columns, l.group, l.Names = append(l.columns, i), append(l.group, i), append(l.Names, n)
	}
	if rows < 1 || len(l.columns)%rows != 0 {
		return nil, fmt.Errorf("%d log likelihoods of %d observations", len(l.columns), rows)
	}
	// If a variable has further dimensions, the elements of a row count as one observation. The
	// first index runs fastest.
	for i := range l.group {
		l.group[i] = i % rows
	}
	l.Names = l.Names[:rows]
	m, err := l.Matrix(ctx)
	if err != nil {
		return nil, err
	}
	held.LogLik = m.Columns
	return held, nil
}

// Joint is the joint log predictive density of all held-out observations, with its Monte Carlo
// standard error.
func (h *HeldOut) Joint() (elpd, mcse float64) {
	sum := slices.Clone(h.LogLik[0])
	for _, column := range h.LogLik[1:] {
		for s, v := range column {
			sum[s] += v
		}
	}
	return (&HeldOut{LogLik: [][]float64{sum}}).ELPD(0)
}

// NoDataError says that the data have no variable of this name. The folder of a run keeps only the
// data variables that the model declares, unless asked for more.
type NoDataError struct {
	Name string
	Near string // data variable with a similar name; "" if there is none
}

// Error implements error.
func (e *NoDataError) Error() string {
	text := "the data have no " + e.Name
	if e.Near != "" {
		text += "; did you mean " + e.Near + "?"
	}
	return text
}

// noData returns the [NoDataError] for a name.
func noData(values *data.Set, name string) error {
	return &NoDataError{name, diag.Nearest(name, slices.Values(values.Names()))}
}
