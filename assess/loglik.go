package assess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// LogLikOptions select the log likelihoods that [LogLikOf] returns. The zero value is the default.
type LogLikOptions struct {
	// Name is the generated quantity of the fit that holds the log likelihoods, such as log_lik. If
	// it is "", they are the fit's log_lik if there is one, else derived from the model's
	// statements on data.
	Name string

	// Quantities, if not nil, holds the log likelihoods instead of the fit: generated quantities at
	// its draws.
	Quantities *fit.Fit

	// Derive derives the log likelihoods from the model even if the fit has a log_lik.
	Derive bool

	// By names a data variable with an integer per observation. Observations with the same number
	// count as one.
	By string
}

// LogLik holds the log likelihoods of observations at the draws of a fit.
type LogLik struct {
	Names     []string       // names of the observations, as in y[1], or of groups, as in school = 3
	Source    string         // where the log likelihoods come from, in words
	Variables []string       // data variables with the observations; nil if Name was given
	Left      []predict.Left // statements on data that are not included

	// Given says that the log likelihood of each observation is given all other observations, as
	// of a model with discrete parameters: log p(y[n] | other y, parameters). This is what
	// leave-one-out cross-validation needs. The sum is not the log likelihood of all observations.
	Given bool

	fit     *fit.Fit
	holder  *fit.Fit // has the log likelihoods, unless they are derived
	derived *model.Posterior
	outputs []string // outputs of derived, in the order of Variables
	columns []int    // column of each element, in the fit or among the generated quantities
	group   []int    // index of each element's observation

	elements []int  // columns of all elements of Name, also of those that are about missing data
	groups   string // the variable by which elements are grouped; "": none
}

// logLikName is the name by which a generated quantity is known to hold log likelihoods.
const logLikName = "log_lik"

// LogLikOf finds the log likelihoods of the observations to which the model was fitted. It stops
// early if ctx ends. An error says why there are none.
func LogLikOf(ctx context.Context, f *fit.Fit, o LogLikOptions) (*LogLik, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	l := &LogLik{fit: f, holder: cmp.Or(o.Quantities, f)}
	if err := l.holder.Err(); err != nil {
		return nil, err
	}
	if err := sameDraws(f, l.holder); err != nil {
		return nil, err
	}
	name := o.Name
	if name == "" && !o.Derive && slices.ContainsFunc(l.holder.Names(), func(n string) bool { return diagnose.VariableName(n) == logLikName }) {
		name = logLikName
	}
	if name != "" {
		for i, n := range l.holder.Names() {
			if diagnose.VariableName(n) == name {
				l.columns, l.Names = append(l.columns, i), append(l.Names, diagnose.DisplayName(n))
			}
		}
		if l.columns == nil {
			return nil, fmt.Errorf("the fit has no %s", name)
		}
		l.Source, l.elements = name+" of the model", slices.Clone(l.columns)
		l.withoutMissing()
	} else if err := l.derive(ctx); err != nil {
		return nil, err
	}
	for i := range l.columns {
		l.group = append(l.group, i)
	}
	if o.By != "" {
		return l, l.by(o.By)
	}
	return l, nil
}

// sameDraws returns an error unless quantities have a value for each draw of a fit.
func sameDraws(f, quantities *fit.Fit) error {
	same := f.Draws.Chains() == quantities.Draws.Chains()
	for chain := range f.Draws.Chains() {
		same = same && f.Draws.Len(chain) == quantities.Draws.Len(chain)
	}
	if !same {
		return errors.New("the generated quantities are not those of this run: the numbers of draws differ")
	}
	return nil
}

// derive finds the elements of the data that the model's statements are about.
func (l *LogLik) derive(ctx context.Context) error {
	m, err := l.fit.Model()
	if err != nil {
		return err
	}
	values, err := l.fit.Data()
	if err != nil {
		return err
	}
	derived, err := m.Derive(predict.LogLikelihood)
	if err != nil {
		return fmt.Errorf("there is no log likelihood of observations: %w", err)
	}
	if l.derived, err = derived.BindContext(ctx, values, l.fit.Binding()); err != nil {
		return err
	}
	counts, err := m.Derive(predict.Terms)
	if err != nil {
		return err
	}
	counter, err := counts.BindContext(ctx, values, l.fit.Binding())
	if err != nil {
		return err
	}
	terms, err := firstGenerated(counter, l.fit)
	if err != nil {
		return err
	}
	l.Left, l.Given = derived.Left, m.Program().Discrete()
	stated := map[string]bool{} // elements that statements are about
	for i, n := range counter.GeneratedNames() {
		own := diagnose.VariableName(n)
		if o := slices.IndexFunc(counts.Outputs, func(o predict.Output) bool { return o.Name == own }); o >= 0 && terms[i] > 0 {
			stated[counts.Outputs[o].Variable+strings.TrimPrefix(n, own)] = true
		}
	}
	variables, gone := map[string]string{}, map[string]func(string) bool{}
	for _, out := range derived.Outputs {
		variables[out.Name], gone[out.Name] = out.Variable, missingOf(m, values, out.Variable)
		l.Variables = append(l.Variables, out.Variable)
		l.outputs = append(l.outputs, out.Name)
	}
	for i, n := range l.derived.GeneratedNames() {
		own := diagnose.VariableName(n)
		if stated[variables[own]+strings.TrimPrefix(n, own)] && !gone[own](strings.TrimPrefix(n, own)) {
			l.columns = append(l.columns, i)
			l.Names = append(l.Names, diagnose.DisplayName(variables[own]+strings.TrimPrefix(n, own)))
		}
	}
	if l.columns == nil {
		return errors.New("there is no log likelihood of observations: no statement on data that were observed is reached")
	}
	l.Source = "derived from the statements on " + strings.Join(l.Variables, ", ")
	if l.Given {
		l.Source += ", each given the others"
	}
	return nil
}

// missingOf returns a function that reports whether an element of a data variable is missing, or an
// observation that consists of several elements has a missing one. It is given the indices, as in
// .2.3.
func missingOf(m *model.Model, values *data.Set, variable string) func(indices string) bool {
	values = m.Program().Flattened(values)
	v, _ := values.Get(variable)
	missing := m.Program().Missing(values, variable)
	return func(indices string) bool {
		if len(missing) == 0 {
			return false
		}
		parts := 0
		if indices != "" {
			parts = strings.Count(indices, ".")
		}
		if v.Ragged != nil {
			parts = max(0, parts-len(v.Ragged.Outer))
		}
		if parts > len(v.Shape) {
			return false
		}
		at, ok := offset(indices, v.Shape[:parts], v.Ragged)
		size := 1
		for _, n := range v.Shape[parts:] {
			size *= n
		}
		return ok && slices.ContainsFunc(missing, func(e int) bool { return e/size == at })
	}
}

// withoutMissing leaves out the log likelihoods of a quantity of the fit that are about missing
// elements: those at their places, if the quantity has the size of the only variable that the
// model's statements are about.
func (l *LogLik) withoutMissing() {
	m, err := l.fit.Model()
	if err != nil {
		return
	}
	values, err := l.fit.Data()
	if err != nil {
		return
	}
	derived, err := m.Derive(predict.Terms)
	if err != nil || len(derived.Outputs) != 1 {
		return
	}
	variable := derived.Outputs[0].Variable
	if v, _ := values.Get(variable); v.Size() != len(l.columns) {
		return
	}
	gone := missingOf(m, values, variable)
	var columns []int
	var names []string
	for i, c := range l.columns {
		n := l.holder.Names()[c]
		if !gone(strings.TrimPrefix(n, diagnose.VariableName(n))) {
			columns, names = append(columns, c), append(names, l.Names[i])
		}
	}
	if len(columns) > 0 {
		l.columns, l.Names = columns, names
	}
}

// firstGenerated computes the generated quantities at the first draw of a fit.
func firstGenerated(p *model.Posterior, f *fit.Fit) ([]float64, error) {
	for chain := range f.Draws.Chains() {
		if f.Draws.Len(chain) > 0 {
			return generatedFrom(p, f, chain, 0)
		}
	}
	return nil, errors.New("the fit has no draws")
}

// What names what the log likelihoods belong to: "observations" or "groups".
func (l *LogLik) What() string {
	if l.groups != "" {
		return "groups"
	}
	return "observations"
}

// Observations is the number of observations, or of groups of them.
func (l *LogLik) Observations() int { return len(l.Names) }

// chains returns the number of draws of each chain.
func (l *LogLik) chains() []int {
	chains := make([]int, l.fit.Draws.Chains())
	for i := range chains {
		chains[i] = l.fit.Draws.Len(i)
	}
	return chains
}

// each calls f with the log likelihoods of all observations at every draw, possibly from several
// goroutines at a time. row is only valid during the call.
func (l *LogLik) each(ctx context.Context, f func(chain, draw int, row []float64) error) error {
	rows := sync.Pool{New: func() any { r := make([]float64, len(l.Names)); return &r }}
	collect := func(chain, draw int, values []float64) error {
		row := rows.Get().(*[]float64)
		defer rows.Put(row)
		clear(*row)
		for i, c := range l.columns {
			(*row)[l.group[i]] += values[c]
		}
		return f(chain, draw, *row)
	}
	if l.derived != nil {
		g, err := fit.Generate(ctx, l.derived, l.fit, fit.GenerateOptions{Each: collect})
		if err == nil && g.Failed > 0 {
			err = fmt.Errorf("the log likelihood cannot be computed at %d draws: %w", g.Failed, g.Reason)
		}
		return err
	}
	for chain, n := range l.chains() {
		for draw := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			_, values := l.holder.Draws.Draw(chain, draw)
			if err := collect(chain, draw, values); err != nil {
				return err
			}
		}
	}
	return nil
}

// Matrix computes the log likelihoods of all observations at all draws.
func (l *LogLik) Matrix(ctx context.Context) (*criticise.Matrix, error) {
	m := criticise.NewMatrix(l.chains(), len(l.Names))
	err := l.each(ctx, func(chain, draw int, row []float64) error {
		at := m.Row(chain, draw)
		for i, v := range row {
			m.Columns[i][at] = v
		}
		return nil
	})
	return m, err
}

// LOO computes leave-one-out cross-validation by importance sampling. memory limits the memory that
// it uses, in bytes; 0 means 1 GiB.
//
// If the log likelihoods of all observations at all draws fit in a quarter of that memory, they are
// computed once, and the Monte Carlo standard errors account for the effective sample sizes of the
// likelihoods. Otherwise LOO goes through the draws several times, each time for as many
// observations as fit, and the errors treat draws as independent. The estimates are the same in
// both cases: those of R's package loo with r_eff = 1.
func (l *LogLik) LOO(ctx context.Context, memory int) (*criticise.Result, error) {
	if memory <= 0 {
		memory = 1 << 30
	}
	draws := 0
	for _, n := range l.chains() {
		draws += n
	}
	if draws < 2 {
		return nil, fmt.Errorf("cross-validation needs draws, and there are %d", draws)
	}
	if draws*len(l.Names)*8 <= memory/4 {
		m, err := l.Matrix(ctx)
		if err != nil {
			return nil, err
		}
		r, err := criticise.CrossValidate(m, nil)
		if err == nil {
			r.Adjust(m.Efficiency())
		}
		return r, err
	}
	whole := &criticise.Result{Draws: draws}
	atOnce := max(1, memory/criticise.LOOBytes(draws))
	for first := 0; first < len(l.Names); first += atOnce {
		last := min(first+atOnce, len(l.Names))
		part, err := l.stream(ctx, draws, first, last)
		if err != nil {
			return nil, err
		}
		whole.Append(part)
		runtime.GC() // free the memory of this part, since the next one needs it
	}
	return whole, nil
}

// stream computes the result for the observations from first to last - 1, one draw after another.
func (l *LogLik) stream(ctx context.Context, draws, first, last int) (*criticise.Result, error) {
	loo, err := criticise.NewLOO(draws, last-first, nil)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	err = l.each(ctx, func(_, _ int, row []float64) error {
		mu.Lock()
		defer mu.Unlock()
		return loo.Add(row[first:last])
	})
	if err != nil {
		return nil, err
	}
	return loo.Finish()
}

// Sums returns the sum of the log likelihoods of all observations at every draw, chain after chain.
func (l *LogLik) Sums(ctx context.Context) ([]float64, error) {
	at := criticise.NewMatrix(l.chains(), 1)
	err := l.each(ctx, func(chain, draw int, row []float64) error {
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		at.Columns[0][at.Row(chain, draw)] = sum
		return nil
	})
	if err == nil && slices.ContainsFunc(at.Columns[0], math.IsNaN) {
		err = errors.New("the log likelihood is NaN at some draws")
	}
	return at.Columns[0], err
}
