package assess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/model/predict"
)

// IndividualOptions are options of [IndividualsOf].
type IndividualOptions struct {
	X  string // the column along which predictions are made; "": time. It may have an index, as in time[iObs]
	By string // the column of the subjects; "": id or, without it, as start says for data sets of NONMEM
}

// The columns by default. Data sets of NONMEM have them.
const (
	defaultX  = "time"
	defaultBy = "id"
)

// Individuals has the observations of an outcome by subject, with its predictions.
type Individuals struct {
	Name         string // the outcome
	X, By        string
	Subjects     []Subject
	Redrawn      []string // the parameters that are at the means of their distributions in population predictions
	NoPopulation error    // why there are no population predictions; nil if there are
	NoNPDE       error    // why no row has an NPDE; nil if some have
	NoCWRES      error    // why no row has a CWRES; nil if some have
}

// Subject has the observations of a subject, by X.
type Subject struct {
	Of   Setting
	Rows []SubjectRow
}

// SubjectRow is an observation with its predictions, which are expected outcomes.
type SubjectRow struct {
	Element       string // the observation, as in y[3]
	X, Observed   float64
	Mean, Q5, Q95 float64 // the individual prediction, with the subject's own parameters
	Population    float64 // with group-level parameters at their means; NaN if not known

	// NPDE is the normalised prediction distribution error: where the observation is among
	// replications of new subjects, given the observations of the subject before it. It is standard
	// normal if the model holds; NaN if not known.
	NPDE float64

	// CWRES is the conditional weighted residual: the residual, decorrelated from the others of the
	// subject, of the model that is linear in group-level parameters about the subject's mode. NaN
	// if not known.
	CWRES float64
}

// Errors returns the mean of the observations, and the root mean square of their differences from
// the individual and the population predictions.
func (s Subject) Errors() (mean, individual, population float64) {
	n := float64(len(s.Rows))
	for _, r := range s.Rows {
		mean += r.Observed / n
		individual += (r.Observed - r.Mean) * (r.Observed - r.Mean) / n
		population += (r.Observed - r.Population) * (r.Observed - r.Population) / n
	}
	return mean, math.Sqrt(individual), math.Sqrt(population)
}

// UnknownColumnError says that the data do not have a column.
type UnknownColumnError struct {
	Name     string
	Subjects bool // the column was to have the subjects
}

// Error implements error.
func (e *UnknownColumnError) Error() string { return "the data have no column " + e.Name }

// IndividualsOf returns the individual fits of a model with group-level terms: what each subject's
// own parameters predict, and what a subject at the means of the population is predicted to have.
// An outcome whose expected value does not follow from the model's statements has none.
func IndividualsOf(ctx context.Context, f *fit.Fit, o IndividualOptions) ([]Individuals, error) {
	m, values, err := fitted(f)
	if err != nil {
		return nil, err
	}
	o.X, o.By = cmp.Or(o.X, defaultX), cmp.Or(o.By, defaultBy)
	if _, ok := values.Get(baseName(o.X)); !ok {
		return nil, &UnknownColumnError{baseName(o.X), false}
	}
	if _, ok := values.Get(baseName(o.By)); !ok && !(o.By == defaultBy && records(values, baseName(o.X)) != nil) {
		return nil, &UnknownColumnError{baseName(o.By), true}
	}
	r := &replication{fit: f, model: m, values: values}
	if err := r.chooseRedrawn(m, PredictiveOptions{}); err != nil {
		return nil, err
	}
	if _, err := r.derive(ctx, m, f.Binding()); err != nil {
		return nil, err
	}
	individual, err := r.expected(ctx, m, f.Binding(), nil)
	if err != nil {
		return nil, err
	}
	var population map[*replicated]expectation
	noPopulation := errors.New("no parameter describes a population")
	if len(r.varying) > 0 {
		population, noPopulation = r.expected(ctx, m, f.Binding(), r.varying)
	}
	linear, noCWRES := r.linearised(ctx, m, f.Binding())
	drawn, noNPDE := r.newSubjects(ctx, m, values, f.Binding())
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var out []Individuals
	var reason error
	for _, v := range r.variables {
		one := Individuals{Name: v.name, X: o.X, By: o.By, Redrawn: r.varying, NoPopulation: noPopulation, NoNPDE: noNPDE, NoCWRES: noCWRES}
		if err := one.add(r.values, v, individual[v], population[v]); err != nil {
			reason = cmp.Or(reason, err)
			continue
		}
		if len(one.Subjects) > 0 {
			one.normalise(v, drawn[v.name])
			if n, _, _ := one.Residuals(NPDE); n == 0 {
				one.NoNPDE = cmp.Or(noNPDE, errors.New("values are counts, censored, or more than a tenth as many per subject as draws"))
			}
			if noCWRES == nil {
				one.NoCWRES = one.weigh(v, linear)
			}
			out = append(out, one)
		}
	}
	if out == nil {
		return nil, cmp.Or(reason, r.unexpected())
	}
	return out, nil
}

// unexpected says why no outcome has an expected value.
func (r *replication) unexpected() error {
	for _, v := range r.variables {
		if predict.Categorical(v.dist) {
			return fmt.Errorf("the values of %s are categories (%s), which have no mean", v.name, v.dist)
		}
	}
	if len(r.unknown) > 0 {
		return fmt.Errorf("no expected value is known: %s", r.unknown[0])
	}
	return errors.New("the expected value of no outcome follows from the model's statements")
}

// records returns the number of the subject of each record from the first record of each, start, as
// the data sets of NONMEM have it; nil if there are none. x is a column of the records.
func records(values *data.Set, x string) []float64 {
	column, _ := values.Get(x)
	start, ok := values.Get("start")
	if !ok || !start.IsInt || len(start.Shape) != 1 || len(column.Shape) != 1 {
		return nil
	}
	out := make([]float64, len(column.Reals))
	before := 0
	for k, first := range start.Reals {
		if first != math.Trunc(first) || int(first) <= before || int(first) > len(out) || k == 0 && first != 1 {
			return nil
		}
		before = int(first)
		for i := before - 1; i < len(out); i++ {
			out[i] = float64(k + 1)
		}
	}
	return out
}

// add divides the observations of a variable into subjects, in the order of their numbers.
func (s *Individuals) add(values *data.Set, v *replicated, individual, population expectation) error {
	x, err := elementsOf(values, dataColumn(values), s.X, v)
	if err != nil {
		return err
	}
	by, err := elementsOf(values, func(name string) ([]float64, error) {
		if _, given := values.Get(name); given || name != defaultBy {
			return dataColumn(values)(name)
		}
		return records(values, baseName(s.X)), nil
	}, s.By, v)
	if err != nil {
		return err
	}
	means := population.means()
	order := make([]int, 0, len(x))
	for i := range x {
		if len(individual[i]) > 0 && !math.IsNaN(x[i]) && !math.IsNaN(by[i]) {
			order = append(order, i)
		}
	}
	sorting.Stable(order, func(a, b int) int { return cmp.Or(cmp.Compare(by[a], by[b]), cmp.Compare(x[a], x[b])) })
	for k, i := range order {
		if k == 0 || by[i] != by[order[k-1]] {
			s.Subjects = append(s.Subjects, Subject{Of: settingOf(baseName(s.By), by[i], values)})
		}
		q := diagnose.Quantiles(individual[i], 0.05, 0.95)
		row := SubjectRow{Element: v.elements[i], X: x[i], Observed: v.y[i], Mean: expectation{individual[i]}.means()[0], Q5: q[0], Q95: q[1], Population: math.NaN(), NPDE: math.NaN(), CWRES: math.NaN()}
		if len(means) > 0 {
			row.Population = means[i]
		}
		last := &s.Subjects[len(s.Subjects)-1]
		last.Rows = append(last.Rows, row)
	}
	return nil
}
