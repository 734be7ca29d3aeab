package assess

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/arrays"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// EffectKind says which effects are computed.
type EffectKind string

// The kinds of effects, with the names of R's package marginaleffects.
const (
	Predictions EffectKind = "predictions" // averages of expected outcomes
	Comparisons EffectKind = "comparisons" // differences between values of a variable
	Slopes      EffectKind = "slopes"      // derivatives with respect to a numeric variable
)

// Contrast says how two averages are compared.
type Contrast string

// The contrasts. Ratios are ratios of averages, not averages of ratios.
const (
	Difference Contrast = "difference"
	Ratio      Contrast = "ratio"
	OddsRatio  Contrast = "odds"
	Lift       Contrast = "lift" // relative difference
)

// Pairing says which pairs of levels of a factor are compared.
type Pairing string

// The pairings.
const (
	Reference  Pairing = "reference"  // each level with the first one
	Sequential Pairing = "sequential" // each level with the one before it
	Pairwise   Pairing = "pairwise"   // all pairs
)

// EffectOptions are options of [EffectsOf].
type EffectOptions struct {
	Kind     EffectKind
	Of       []string // data variables whose effects are computed
	By       []string // variables whose values define groups of rows; averages are over each group
	At       []At     // values to set in all rows; every combination is used
	Contrast Contrast // "": Difference
	Pairing  Pairing  // "": Reference
	Step     float64  // increase of a numeric variable in comparisons; 0: 1
	Outcome  string   // name of the outcome; required if there are several
	Link     bool     // use the scale of the linear predictor
	Ranks    bool     // also rank the levels by their predictions
	Data     *data.Set
	Seed     uint64
	Parallel int
}

// At gives a variable each of several values.
type At struct {
	Name   string
	Values []float64
}

// Effects is the result of [EffectsOf].
type Effects struct {
	Outcome    string // name of the outcome, a data variable
	Categories bool   // there is an effect for each category of the outcome
	Rows       []Effect
	Ranks      []LevelRank
	Draws      int
	Failed     int // draws at which the expected outcomes could not be computed
	Left       []predict.Left
	Kept       []predict.Summary // values such as a mean that are those of the fit's data
	Observed   []string          // reasons why the expected values depend on other observed values
}

// Setting is a variable with a value. Label is the name of its level or, without levels, the
// number.
type Setting struct {
	Name, Label string
	Value       float64
}

// Effect is one quantity, with its value at every draw.
type Effect struct {
	Term     string    // the variable that changes; "" for predictions without one
	Level    *Setting  // level of the variable, for predictions
	From, To *Setting  // compared values; nil for slopes. For a numeric variable, To is the increase
	By, At   []Setting // the group of rows, and the values set in all rows
	Category int       // category of the outcome, from 1; 0 without categories
	Draws    []float64
}

// EffectSummary summarises the draws of an effect.
type EffectSummary struct {
	Mean, SD  float64
	Quantiles []float64
	Above     float64 // share of the draws above a threshold
}

// Summary summarises the draws. above is the threshold of [EffectSummary].Above.
func (e *Effect) Summary(above float64, probabilities ...float64) EffectSummary {
	s := EffectSummary{Quantiles: diagnose.Quantiles(e.Draws, probabilities...)}
	n := float64(len(e.Draws))
	for _, x := range e.Draws {
		s.Mean += x / n
		if x > above {
			s.Above += 1 / n
		}
	}
	for _, x := range e.Draws {
		s.SD += (x - s.Mean) * (x - s.Mean) / (n - 1)
	}
	s.SD = math.Sqrt(s.SD)
	return s
}

// LevelRank has the probabilities of a level's ranks when all levels are ordered by their expected
// outcomes. Rank 1 is the highest. Levels with equal outcomes at a draw divide the probability of
// their ranks equally.
type LevelRank struct {
	Term          string
	Level         Setting
	By, At        []Setting
	Category      int
	Mean          float64
	Probabilities []float64
}

// effecting is the state of a call of EffectsOf.
type effecting struct {
	EffectOptions
	ctx     context.Context
	fit     *fit.Fit
	base    *data.Set
	derived *model.Derived
	out     predict.Output
	rows    int
	factors []string
	result  *Effects
	known   map[string]averages
}

// averages holds mean expected outcomes by group, category and draw.
type averages [][][]float64

// EffectsOf computes how the expected outcome depends on data variables, at each draw of a fit. It
// compares averages over the rows. For each average, a variable is set to another value in all
// rows, while the other variables keep their observed values.
func EffectsOf(ctx context.Context, f *fit.Fit, o EffectOptions) (*Effects, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	m, err := f.Model()
	if err != nil {
		return nil, err
	}
	fitted, err := f.Data()
	if err != nil && o.Data == nil {
		return nil, err
	}
	o.Step = cmp.Or(o.Step, 1)
	e := &effecting{EffectOptions: o, ctx: ctx, fit: f, base: m.Program().Flattened(cmp.Or(o.Data, fitted)), known: map[string]averages{}}
	kind := predict.Expected
	if o.Link {
		kind = predict.LinearPredictor
	}
	changed := slices.Clone(o.Of)
	for _, a := range o.At {
		changed = append(changed, a.Name)
	}
	if variable, by := chosenDiscrete(m, f, changed); variable != "" {
		return nil, fmt.Errorf("%s chooses elements of the discrete parameter %s, whose values are known only together with the data: the expected %s at another value of %s cannot be computed. ppl states and ppl summary show %s", by, variable, cmp.Or(o.Outcome, "outcome"), by, variable)
	}
	if e.derived, err = m.DeriveNew(ctx, fitted, e.base, kind, predict.Options{}, f.Binding(), changed...); err != nil {
		return nil, err
	}
	if err := e.chooseOutcome(); err != nil {
		return nil, err
	}
	if err := e.countRows(); err != nil {
		return nil, err
	}
	e.factors = predict.Indices(m.Program())
	e.result = &Effects{Outcome: e.out.Variable, Left: e.derived.Left, Kept: e.derived.Kept, Observed: e.out.Observed}
	for _, name := range slices.Concat(changed, o.By) {
		if err := e.checkVariable(name); err != nil {
			return nil, err
		}
	}
	for _, at := range combinations(o.At) {
		if err := e.at(at); err != nil {
			return nil, err
		}
	}
	if err := e.result.empty(); err != nil {
		return nil, err
	}
	return e.result, nil
}

// chosenDiscrete returns a discrete parameter whose elements one of the columns chooses, and the
// column; "" if there is none.
func chosenDiscrete(m *model.Model, f *fit.Fit, columns []string) (variable, by string) {
	p := m.Program()
	if !p.Discrete() {
		return "", ""
	}
	levels, factors := predict.RolesOf(p).Levels, f.IndexFactors(p.IR())
	for variable := range p.Discretes() {
		for _, column := range columns {
			if levels[variable] == column || slices.ContainsFunc(factors[variable], func(by arrays.Factor) bool { return by.Name == column }) {
				return variable, column
			}
		}
	}
	return "", ""
}

// empty returns an error if no effect has a value at any draw, with the reason.
func (r *Effects) empty() error {
	for _, row := range r.Rows {
		if slices.ContainsFunc(row.Draws, func(x float64) bool { return !math.IsNaN(x) }) {
			return nil
		}
	}
	if len(r.Rows) == 0 {
		return nil
	}
	reason := "some rows have none at every draw"
	if len(r.Left) > 0 {
		reason = r.Left[0].String()
	}
	return fmt.Errorf("the averages over rows of the expected %s have no value at any draw: %s", r.Outcome, reason)
}

func (e *effecting) chooseOutcome() error {
	var names []string
	for _, out := range e.derived.Outputs {
		names = append(names, out.Variable)
		if e.EffectOptions.Outcome == out.Variable || e.EffectOptions.Outcome == "" {
			e.out = out
		}
	}
	switch {
	case e.EffectOptions.Outcome == "" && len(names) > 1:
		return fmt.Errorf("the model has several outcomes: %s; choose one", strings.Join(names, ", "))
	case e.out.Name == "":
		return fmt.Errorf("the model has no outcome %s, but %s", e.EffectOptions.Outcome, strings.Join(names, ", "))
	case e.out.Dims != 1:
		return fmt.Errorf("the outcome %s has %d dimensions; effects are averages over rows, so it must have one", e.out.Variable, e.out.Dims)
	}
	return nil
}

// columns lists the data variables that have one value per row.
func (e *effecting) columns() []string {
	var out []string
	for _, n := range e.base.Names() {
		if v, ok := e.column(n); ok && len(v.Shape) == 1 && v.Shape[0] == e.rows && n != e.out.Variable {
			out = append(out, n)
		}
	}
	return out
}

// column returns the values of a variable. Of ragged data, a row's value is that of its elements.
func (e *effecting) column(name string) (data.Value, bool) {
	v, ok := e.base.Get(name)
	all := e.derived.Program().IR().Data
	for _, of := range all {
		if n := sizesOf(all, of); n != nil && of.Name == e.out.Variable {
			sizes, _ := e.base.Get(n.Name)
			return perElement(v, sizes), ok
		}
	}
	return v, ok
}

// names lists the generated quantities. The elements of ragged ones are those of all rows, one row
// after another.
func (e *effecting) names(q *model.Posterior) []string {
	names := slices.Clone(q.GeneratedNames())
	flatten(names, e.derived.Program().IR().GeneratedQuantityVars)
	return names
}

// countRows counts the rows of the outcome, which are the elements of a ragged one.
func (e *effecting) countRows() error {
	q, err := e.bind(e.base)
	if err != nil {
		return err
	}
	for _, n := range e.names(q) {
		if row, _, ok := e.place(n); ok {
			e.rows = max(e.rows, row+1)
		}
	}
	if e.rows == 0 {
		return fmt.Errorf("the data have no %s, over which expected values are averaged", e.out.Variable)
	}
	return nil
}

func (e *effecting) checkVariable(name string) error {
	v, ok := e.column(name)
	switch {
	case name == e.out.Variable:
		return fmt.Errorf("%s is the outcome; effects are those of other variables: %s", name, strings.Join(e.columns(), ", "))
	case !ok:
		return fmt.Errorf("the data have no %s; they have %s", name, strings.Join(e.columns(), ", "))
	case len(v.Shape) != 1 || v.Shape[0] != e.rows:
		return fmt.Errorf("%s has no value for each of the %d rows; these have: %s", name, e.rows, strings.Join(e.columns(), ", "))
	}
	if row := slices.IndexFunc(v.Reals, math.IsNaN); row >= 0 && slices.Contains(e.Of, name) {
		return fmt.Errorf("%s has no value in row %d, which a step or a slope needs. Set it to the same values in all rows instead", name, row+1)
	}
	return nil
}

// bind binds the derived model to data.
func (e *effecting) bind(values *data.Set) (*model.Posterior, error) {
	o := e.fit.Binding()
	o.AllowImpossible = true
	return e.derived.BindContext(e.ctx, values, o)
}

// place returns the row and the category of a generated quantity, both from 0.
func (e *effecting) place(name string) (row, category int, ok bool) {
	parts := strings.Split(name, ".")
	if parts[0] != e.out.Name || len(parts) < 2 {
		return 0, 0, false
	}
	row, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0, 0, false
	}
	if len(parts) > 2 {
		if category, err = strconv.Atoi(parts[2]); err != nil {
			return 0, 0, false
		}
		return row - 1, category - 1, true
	}
	return row - 1, 0, true
}

// change sets a variable to a value in all rows or, if add is set, adds the value to it.
type change struct {
	name  string
	value float64
	add   bool
}

// changing returns the data with changes.
func changing(s *data.Set, changes []change) *data.Set {
	return s.With(func(name string, v data.Value) data.Value {
		for _, c := range changes {
			if c.name != name {
				continue
			}
			out := data.Value{Shape: v.Shape, Ragged: v.Ragged, Reals: slices.Clone(v.Reals)}
			for i := range out.Reals {
				if !c.add {
					out.Reals[i] = 0
				}
				out.Reals[i] += c.value
			}
			out.IsInt = v.IsInt && c.value == math.Trunc(c.value)
			if out.IsInt {
				out.Ints = make([]int64, len(out.Reals))
				for i, x := range out.Reals {
					out.Ints[i] = int64(x)
				}
			}
			v = out
		}
		return v
	})
}

// groups returns the groups of rows, in the order of their levels, and the index of the group of
// each row.
func (e *effecting) groups(at []change) (settings [][]Setting, of []int) {
	of = make([]int, e.rows)
	type key struct {
		values []float64
		rows   []int
	}
	found := map[string]*key{}
	for r := range e.rows {
		var k key
		for _, name := range e.By {
			v, _ := e.column(name)
			x := v.Reals[r]
			if i := slices.IndexFunc(at, func(c change) bool { return c.name == name }); i >= 0 {
				x = at[i].value
			}
			k.values = append(k.values, x)
		}
		id := fmt.Sprint(k.values)
		if found[id] == nil {
			found[id] = &k
		}
		found[id].rows = append(found[id].rows, r)
	}
	var keys []*key
	for _, k := range found {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return slices.Compare(keys[i].values, keys[j].values) < 0 })
	for g, k := range keys {
		var s []Setting
		for i, x := range k.values {
			s = append(s, e.setting(e.By[i], x))
		}
		settings = append(settings, s)
		for _, r := range k.rows {
			of[r] = g
		}
	}
	return settings, of
}

// setting describes a value of a variable, by the name of its level if it has one.
func (e *effecting) setting(name string, x float64) Setting {
	sets := []*data.Set{e.base}
	if d, err := e.fit.Data(); err == nil {
		sets = append(sets, d)
	}
	return settingOf(name, x, sets...)
}

// average computes the average expected outcome of each group of rows, for data with changes.
func (e *effecting) average(changes []change, groups int, of []int) (averages, error) {
	key := fmt.Sprint(changes)
	if a, ok := e.known[key]; ok {
		return a, nil
	}
	q, err := e.bind(changing(e.base, changes))
	if err != nil {
		return nil, err
	}
	type cell struct{ column, group, category int }
	var cells []cell
	categories := 1
	counts := make([]float64, groups)
	for i, n := range e.names(q) {
		row, category, ok := e.place(n)
		if !ok || row >= len(of) {
			continue
		}
		cells = append(cells, cell{i, of[row], category})
		categories = max(categories, category+1)
		e.result.Categories = e.result.Categories || strings.Count(n, ".") > 1
	}
	offsets, total := make([]int, e.fit.Draws.Chains()), 0
	for c := range offsets {
		offsets[c] = total
		total += e.fit.Draws.Len(c)
	}
	e.result.Draws = total
	out := make(averages, groups)
	for g := range out {
		out[g] = make([][]float64, categories)
		for k := range out[g] {
			out[g][k] = make([]float64, total)
		}
	}
	for _, c := range cells {
		if c.category == 0 {
			counts[c.group]++
		}
	}
	g, err := fit.Generate(e.ctx, q, e.fit, fit.GenerateOptions{Seed: e.Seed, Parallel: e.Parallel, Each: func(chain, draw int, values []float64) error {
		at := offsets[chain] + draw
		for _, c := range cells {
			out[c.group][c.category][at] += values[c.column] / counts[c.group]
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	e.result.Failed = max(e.result.Failed, g.Failed)
	e.known[key] = out
	return out, nil
}

// combinations lists all combinations of the values of several variables.
func combinations(all []At) [][]change {
	out := [][]change{nil}
	for _, a := range all {
		var next [][]change
		for _, c := range out {
			for _, v := range a.Values {
				next = append(next, append(slices.Clip(c), change{name: a.Name, value: v}))
			}
		}
		out = next
	}
	return out
}

// at computes the effects for data in which all rows have the given values.
func (e *effecting) at(at []change) error {
	groups, of := e.groups(at)
	var where []Setting
	for _, c := range at {
		where = append(where, e.setting(c.name, c.value))
	}
	add := func(t Effect, value func(g, k int) []float64, like averages) {
		for g := range groups {
			for k := range like[g] {
				row := t
				row.By, row.At, row.Draws = groups[g], where, value(g, k)
				if e.result.Categories {
					row.Category = k + 1
				}
				e.result.Rows = append(e.result.Rows, row)
			}
		}
	}
	with := func(c ...change) (averages, error) {
		return e.average(append(slices.Clip(at), c...), len(groups), of)
	}
	if len(e.Of) == 0 {
		a, err := with()
		if err != nil {
			return err
		}
		add(Effect{}, func(g, k int) []float64 { return a[g][k] }, a)
		return nil
	}
	for _, name := range e.Of {
		levels := e.levels(name)
		switch {
		case e.Kind == Predictions || e.Ranks:
			if levels == nil {
				return fmt.Errorf("%s is a number with many values: set those that you want predictions at", name)
			}
			var all []averages
			for _, x := range levels {
				a, err := with(change{name: name, value: x})
				if err != nil {
					return err
				}
				all = append(all, a)
				s := e.setting(name, x)
				if e.Kind == Predictions {
					add(Effect{Term: name, Level: &s}, func(g, k int) []float64 { return a[g][k] }, a)
				}
			}
			if e.Ranks {
				e.rank(name, levels, all, groups, where)
			}
		case e.Kind == Slopes:
			if levels != nil {
				return fmt.Errorf("%s is a factor, which has no slope: compare its levels", name)
			}
			v, _ := e.base.Get(name)
			if e.whole(name) {
				return fmt.Errorf("%s has whole numbers, so it cannot change a little: compare instead", name)
			}
			h := 1e-4 * (slices.Max(v.Reals) - slices.Min(v.Reals))
			if h == 0 {
				h = 1e-4 * max(1, math.Abs(v.Reals[0]))
			}
			low, high, err := e.pair(with, change{name, -h / 2, true}, change{name, h / 2, true}, at)
			if err != nil {
				return err
			}
			add(Effect{Term: name}, func(g, k int) []float64 {
				return zip(low[g][k], high[g][k], func(a, b float64) float64 { return (b - a) / h })
			}, low)
		case levels == nil:
			low, high, err := e.pair(with, change{name, 0, true}, change{name, e.Step, true}, at)
			if err != nil {
				return err
			}
			step := Setting{Name: name, Value: e.Step, Label: "+" + strconv.FormatFloat(e.Step, 'g', -1, 64)}
			add(Effect{Term: name, To: &step}, func(g, k int) []float64 {
				return zip(low[g][k], high[g][k], e.Contrast.of)
			}, low)
		default:
			for _, p := range e.Pairing.pairs(len(levels)) {
				from, to := e.setting(name, levels[p[0]]), e.setting(name, levels[p[1]])
				low, high, err := e.pair(with, change{name, from.Value, false}, change{name, to.Value, false}, at)
				if err != nil {
					return err
				}
				add(Effect{Term: name, From: &from, To: &to}, func(g, k int) []float64 {
					return zip(low[g][k], high[g][k], e.Contrast.of)
				}, low)
			}
		}
	}
	return nil
}

func (e *effecting) pair(with func(...change) (averages, error), low, high change, at []change) (a, b averages, err error) {
	if slices.ContainsFunc(at, func(c change) bool { return c.name == low.name }) && !low.add {
		return nil, nil, fmt.Errorf("%s is set to a value and compared between its levels", low.name)
	}
	if a, err = with(low); err != nil {
		return nil, nil, err
	}
	b, err = with(high)
	return a, b, err
}

// levels lists the values of a factor: a variable used as an index, a column with levels, or a
// column of zeros and ones. It returns nil for other numbers.
func (e *effecting) levels(name string) []float64 {
	v, _ := e.base.Get(name)
	if !v.IsInt {
		return nil
	}
	values := slices.Clone(v.Reals)
	known, _ := e.fit.Data()
	if known != nil { // use all levels, since new data may have only some of them
		if old, ok := known.Get(name); ok {
			values = append(values, old.Reals...)
		}
	}
	slices.Sort(values)
	values = slices.Compact(values)
	binary := values[0] == 0 && values[len(values)-1] == 1 || len(values) == 1 && values[0] == 0
	if binary {
		return []float64{0, 1}
	}
	if slices.Contains(e.factors, name) || e.base.Levels(name) != nil || known != nil && known.Levels(name) != nil {
		return values
	}
	return nil
}

// whole reports whether the model declares a variable as integer.
func (e *effecting) whole(name string) bool {
	return slices.ContainsFunc(e.derived.Program().IR().Data, func(v *ir.Var) bool { return v.Name == name && v.Type.Scalar() == types.Int })
}

// pairs lists the pairs of levels to compare; there are n levels.
func (p Pairing) pairs(n int) (out [][2]int) {
	for j := 1; j < n; j++ {
		switch p {
		case Sequential:
			out = append(out, [2]int{j - 1, j})
		case Pairwise:
			for i := range j {
				out = append(out, [2]int{i, j})
			}
		default:
			out = append(out, [2]int{0, j})
		}
	}
	return out
}

// of compares two averages in the way that the contrast names.
func (c Contrast) of(low, high float64) float64 {
	switch c {
	case Ratio:
		return high / low
	case OddsRatio:
		return high / (1 - high) / (low / (1 - low))
	case Lift:
		return (high - low) / low
	}
	return high - low
}

func zip(a, b []float64, f func(a, b float64) float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = f(a[i], b[i])
	}
	return out
}

// rank computes the probabilities of the ranks of the levels of a variable.
func (e *effecting) rank(name string, levels []float64, all []averages, groups [][]Setting, at []Setting) {
	for g := range groups {
		for k := range all[0][g] {
			n := len(all[0][g][k])
			first := len(e.result.Ranks)
			for _, x := range levels {
				r := LevelRank{Term: name, Level: e.setting(name, x), By: groups[g], At: at, Probabilities: make([]float64, len(levels))}
				if e.result.Categories {
					r.Category = k + 1
				}
				e.result.Ranks = append(e.result.Ranks, r)
			}
			for d := range n {
				for i := range levels {
					above, equal := 0, 0
					for j := range levels {
						switch a, b := all[i][g][k][d], all[j][g][k][d]; {
						case b > a:
							above++
						case b == a:
							equal++
						}
					}
					for rank := above; rank < above+equal; rank++ {
						r := &e.result.Ranks[first+i]
						r.Probabilities[rank] += 1 / float64(equal) / float64(n)
						r.Mean += float64(rank+1) / float64(equal) / float64(n)
					}
				}
			}
		}
	}
}
