package assess

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// This file makes predictive checks of groups of rows.

// Groups compares a statistic of each group of rows with the same statistic of the replications.
type Groups struct {
	Statistic string
	By        []string     // the columns whose values make the groups
	X         string       // column whose range is divided into intervals; "": none
	Cells     []GroupCheck // in the order of levels and, within a level, of intervals

	// P is a p-value for all groups together: the share of replications whose most deviating group
	// deviates, in standard deviations, more than any group of the data.
	P float64

	// Limit is the number of standard deviations that the most deviating group stays within, in 99
	// % of the replications.
	Limit float64
}

// GroupCheck is a group of rows with its check.
type GroupCheck struct {
	By        []Setting // the group
	Low, High float64   // minimum and maximum of [PredictiveOptions.X] in the group
	Rows      int
	Check     criticise.Check

	// Deviation is the difference of the data from the mean of the replications, in standard
	// deviations of the replications.
	Deviation float64

	// Shares compares the share of each category, 1, 2, …, of outcomes that are categories; nil for
	// other outcomes.
	Shares []criticise.Check
}

// Odd lists the groups whose deviation exceeds the limit.
func (g *Groups) Odd() (out []GroupCheck) {
	if g == nil {
		return nil
	}
	for _, c := range g.Cells {
		if math.Abs(c.Deviation) > g.Limit {
			out = append(out, c)
		}
	}
	return out
}

// UnknownStatisticError says that there is no statistic with this name.
type UnknownStatisticError struct {
	Name  string
	Known []string
}

// Error implements error.
func (e *UnknownStatisticError) Error() string {
	return fmt.Sprintf("there is no statistic %q; there are %s", e.Name, strings.Join(e.Known, ", "))
}

// maxIntervals is the number of intervals into which a numeric column is divided, and
// maxIntervalsBy the number within each group if there are groups as well.
const (
	maxIntervals   = 10
	maxIntervalsBy = 4
)

// grouping divides rows into groups.
type grouping struct {
	statistic int // index in criticise.Statistics
	name      string
	by        []string
	x         string
	columns   []string // by and x
	cells     []GroupCheck
	of        []int // the cell of each row
}

// newGrouping returns nil if the options ask for no groups.
func newGrouping(values *data.Set, o PredictiveOptions) (*grouping, error) {
	known := criticise.Statistics(true)
	g := &grouping{name: o.Statistic, by: o.By, x: o.X, columns: slices.Clone(o.By)}
	if g.name == "" {
		g.name = known[0]
	}
	if g.statistic = slices.Index(known, g.name); g.statistic < 0 {
		return nil, &UnknownStatisticError{g.name, known}
	}
	if o.X != "" {
		g.columns = append(g.columns, o.X)
	}
	if len(g.columns) == 0 {
		return nil, nil
	}
	columns := make([][]float64, len(g.columns))
	for i, name := range g.columns {
		v, ok := values.Get(name)
		if !ok {
			return nil, noData(values, name)
		}
		if len(v.Shape) != 1 {
			return nil, fmt.Errorf("%s is no column: it has %d dimensions", name, len(v.Shape))
		}
		if i > 0 && len(v.Reals) != len(columns[0]) {
			return nil, fmt.Errorf("%s has %d values, and %s has %d: they are not about the same rows", g.columns[0], len(columns[0]), name, len(v.Reals))
		}
		columns[i] = v.Reals
	}
	keys := slices.Clone(columns)
	if o.X != "" {
		most := maxIntervals
		if len(o.By) > 0 {
			most = maxIntervalsBy
		}
		keys[len(keys)-1] = intervals(columns[len(columns)-1], most)
	}
	g.divide(values, columns, keys, o)
	return g, nil
}

// divide assigns the rows to cells, one for each combination of keys.
func (g *grouping) divide(values *data.Set, columns, keys [][]float64, o PredictiveOptions) {
	n := len(columns[0])
	key := func(row int) []float64 {
		out := make([]float64, len(keys))
		for i := range keys {
			out[i] = keys[i][row]
		}
		return out
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sorting.Stable(order, func(a, b int) int { return slices.Compare(key(a), key(b)) })
	g.of = make([]int, n)
	for k, row := range order {
		if k == 0 || slices.Compare(key(order[k-1]), key(row)) != 0 {
			c := GroupCheck{Low: math.Inf(1), High: math.Inf(-1)}
			for i, name := range o.By {
				c.By = append(c.By, settingOf(name, columns[i][row], values))
			}
			g.cells = append(g.cells, c)
		}
		c := &g.cells[len(g.cells)-1]
		c.Rows++
		if o.X != "" {
			x := columns[len(columns)-1][row]
			c.Low, c.High = min(c.Low, x), max(c.High, x)
		}
		g.of[row] = len(g.cells) - 1
	}
	if o.X == "" {
		for i := range g.cells {
			g.cells[i].Low, g.cells[i].High = math.NaN(), math.NaN()
		}
	}
}

// settingOf describes a value of a column by its level. The names of levels come from the first
// data set that has them.
func settingOf(name string, x float64, sets ...*data.Set) Setting {
	s := Setting{Name: name, Value: x, Label: strconv.FormatFloat(x, 'g', 6, 64)}
	for _, set := range sets {
		if levels, first := set.Factor(name); levels != nil {
			if i := int(x) - first; x == math.Trunc(x) && i >= 0 && i < len(levels) {
				s.Label = levels[i]
			}
			break
		}
	}
	return s
}

// intervals returns the number of the interval of each value. There are at most `most` intervals,
// which have about as many values each; equal values are in the same interval.
func intervals(x []float64, most int) []float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	distinct := slices.Compact(slices.Clone(sorted))
	number := map[float64]float64{}
	for i, v := range distinct {
		number[v] = float64(i)
		if len(distinct) > most {
			first, _ := slices.BinarySearch(sorted, v)
			number[v] = math.Floor(float64(first) * float64(most) / float64(len(sorted)))
		}
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = number[v]
	}
	return out
}

// used returns an error unless some variable has the same rows as the groups.
func (g *grouping) used(variables []*replicated) error {
	if g == nil {
		return nil
	}
	var names []string
	for _, v := range variables {
		if g.fits(v) {
			return nil
		}
		names = append(names, fmt.Sprintf("%s has %d", v.name, v.rowCount()))
	}
	return fmt.Errorf("%s has %d values, but %s rows: groups need one value for each row", g.columns[0], len(g.of), strings.Join(names, ", "))
}

// fits reports whether a variable has the same rows as the groups.
func (g *grouping) fits(v *replicated) bool {
	return g != nil && (v.rowCount() == len(g.of) || v.row != nil && v.outer == len(g.of)) && !slices.Contains(v.rows, -1)
}

// cellOf returns the cell of a row of a variable, or of a place in ragged data, whose rows may have
// the groups.
func (g *grouping) cellOf(v *replicated, row int) int {
	if len(g.of) != v.rowCount() {
		row = v.row[row]
	}
	return g.of[row]
}

// rowCount returns the number of rows of a variable. Without data, the last element has the last
// row.
func (v *replicated) rowCount() int {
	return max(v.length, slices.Max(append(slices.Clone(v.rows), -1))+1)
}

// groupResults has the statistic of each group at every draw.
type groupResults struct {
	*grouping
	members [][]int       // elements of the variable in each cell
	values  [][]float64   // statistic of each cell at every draw
	shares  [][][]float64 // for each cell and each category, its share at every draw; nil without categories
}

// results prepares the results of a variable; nil if it has no groups.
func (g *grouping) results(v *replicated, draws int) *groupResults {
	if !g.fits(v) {
		return nil
	}
	r := &groupResults{grouping: g, members: make([][]int, len(g.cells)), values: make([][]float64, len(g.cells))}
	for i, row := range v.rows {
		c := g.cellOf(v, row)
		r.members[c] = append(r.members[c], i)
	}
	categories := 0
	if strings.HasPrefix(v.dist, "ordered_") || strings.HasPrefix(v.dist, "categorical") {
		if most := slices.Max(append(slices.Clone(v.y), 0)); most <= maxCategories {
			categories = int(most)
		}
	}
	for c := range r.values {
		r.values[c] = make([]float64, draws)
		if categories == 0 {
			continue
		}
		r.shares = append(r.shares, nil)
		for range categories {
			r.shares[c] = append(r.shares[c], make([]float64, draws))
		}
	}
	return r
}

// maxCategories is the maximum number of categories whose shares are compared by group.
const maxCategories = 12

// shareOf returns the share of a category, from 1, in a cell.
func (r *groupResults) shareOf(cell, category int, y []float64) float64 {
	n := 0.0
	for _, i := range r.members[cell] {
		if y[i] == float64(category) {
			n++
		}
	}
	return n / float64(len(r.members[cell]))
}

// statisticOf computes the statistic of the values of y in a cell.
func (r *groupResults) statisticOf(cell int, y []float64) float64 {
	own := make([]float64, 0, len(r.members[cell]))
	for _, i := range r.members[cell] {
		own = append(own, y[i])
	}
	if len(own) == 0 || slices.ContainsFunc(own, math.IsNaN) {
		return math.NaN()
	}
	var all [8]float64
	criticise.Describe(own, all[:])
	return all[r.statistic]
}

// add computes the statistics of y, the replication at a draw.
func (r *groupResults) add(draw int, y []float64) {
	if r == nil {
		return
	}
	for c := range r.values {
		r.values[c][draw] = r.statisticOf(c, y)
		if r.shares != nil {
			for k := range r.shares[c] {
				r.shares[c][k][draw] = r.shareOf(c, k+1, y)
			}
		}
	}
}

// finish compares the groups of y, the data, with their replications.
func (r *groupResults) finish(y []float64) *Groups {
	if r == nil {
		return nil
	}
	out := &Groups{Statistic: r.name, By: r.by, X: r.x, Cells: slices.Clone(r.cells)}
	largest := make([]float64, len(r.values[0])) // the largest deviation in each replication
	observed := 0.0
	for c := range out.Cells {
		cell := &out.Cells[c]
		cell.Check = criticise.NewCheck(r.name, r.statisticOf(c, y), r.values[c])
		if r.shares != nil {
			for k, values := range r.shares[c] {
				cell.Shares = append(cell.Shares, criticise.NewCheck("share", r.shareOf(c, k+1, y), values))
			}
		}
		deviation := func(x float64) float64 {
			if d := x - cell.Check.Mean; d != 0 {
				return d / cell.Check.SD
			}
			return 0
		}
		cell.Deviation = deviation(cell.Check.Observed)
		if !math.IsNaN(cell.Deviation) {
			observed = max(observed, math.Abs(cell.Deviation))
		}
		for d, x := range r.values[c] {
			if z := math.Abs(deviation(x)); !math.IsNaN(z) {
				largest[d] = max(largest[d], z)
			}
		}
	}
	if slices.ContainsFunc(y, math.IsNaN) {
		out.P, out.Limit = math.NaN(), math.NaN()
		return out
	}
	out.P = criticise.NewCheck("", observed, largest).P
	out.Limit = diagnose.Quantiles(largest, 0.99)[0]
	return out
}
