package assess

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
)

// This file finds columns of the data that are about the rows of an outcome.

// baseName returns the name of the variable in an expression such as time[iObs].
func baseName(column string) string {
	name, _, _ := strings.Cut(column, "[")
	return strings.TrimSpace(name)
}

// like reports whether a variable is declared with the same size as v.
func (v *replicated) like(name string) bool {
	size := func(d *ir.Var) *ir.Var {
		if d == nil || len(d.Sizes) == 0 {
			return nil
		}
		if ref, ok := d.Sizes[0].(*ir.VarRef); ok {
			return ref.Var
		}
		return nil
	}
	own := size(v.declared)
	return own != nil && slices.ContainsFunc(v.program.Data, func(d *ir.Var) bool { return d.Name == name && size(d) == own })
}

// lookup returns the values of a column.
type lookup func(name string) ([]float64, error)

// dataColumn looks a column up in the data.
func dataColumn(values *data.Set) lookup {
	return func(name string) ([]float64, error) {
		v, ok := values.Get(name)
		if !ok {
			return nil, noData(values, name)
		}
		if len(v.Shape) != 1 {
			return nil, fmt.Errorf("%s is no column: it has %d dimensions", name, len(v.Shape))
		}
		return v.Reals, nil
	}
}

// each returns a value for each place of ragged data from one for each row. Other values stay as
// they are.
func (v *replicated) each(x []float64) []float64 {
	if v.row == nil || len(x) != v.outer || len(x) == len(v.row) {
		return x
	}
	out := make([]float64, len(v.row))
	for i, row := range v.row {
		out[i] = x[row]
	}
	return out
}

// columnOf returns the values of a column for the rows of an outcome. The column is a variable, or
// one with indices that are a variable, as in time[iObs] and weight[id[iObs]]. If it has other rows
// than the outcome, and only one variable lists distinct rows of it with one for each row of the
// outcome, that is the index. Variables with the declared size of the outcome come first.
func columnOf(values *data.Set, named lookup, column string, v *replicated) ([]float64, error) {
	rows := v.length
	x, err := indexedColumn(values, named, column)
	if err == nil {
		x = v.each(x)
	}
	if err != nil || len(x) == rows {
		return x, err
	}
	var found, same []string // same has those declared with the size of the outcome
	for _, name := range values.Names() {
		k, _ := values.Get(name)
		if !k.IsInt || len(k.Shape) != 1 || len(k.Reals) != rows || !distinctRows(k.Reals, len(x)) {
			continue
		}
		if found = append(found, name); v.like(name) {
			same = append(same, name)
		}
	}
	if len(same) > 0 {
		found = same
	}
	if len(found) != 1 {
		text := fmt.Sprintf("%s has %d values, but the outcome has %d rows", column, len(x), rows)
		if len(found) > 1 {
			text += fmt.Sprintf("; write %s[%s] or %s[%s]", column, found[0], column, found[1])
		}
		return nil, fmt.Errorf("%s", text)
	}
	return indexedColumn(values, named, column+"["+found[0]+"]")
}

// distinctRows reports whether numbers are different rows of a table.
func distinctRows(x []float64, rows int) bool {
	seen := map[float64]bool{}
	for _, v := range x {
		if v < 1 || v > float64(rows) || v != math.Trunc(v) || seen[v] {
			return false
		}
		seen[v] = true
	}
	return true
}

// indexedColumn evaluates NAME, or NAME[COLUMN]. Indices are in the data.
func indexedColumn(values *data.Set, named lookup, column string) ([]float64, error) {
	name, rest, indexed := strings.Cut(column, "[")
	x, err := named(strings.TrimSpace(name))
	if err != nil || !indexed {
		return x, err
	}
	inner, ok := strings.CutSuffix(strings.TrimSpace(rest), "]")
	if !ok {
		return nil, fmt.Errorf("%s: ] is missing", column)
	}
	at, err := indexedColumn(values, dataColumn(values), inner)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(at))
	for i, k := range at {
		if k < 1 || k > float64(len(x)) || k != math.Trunc(k) {
			return nil, fmt.Errorf("%s: element %d of the index is %g, but %s has %d values", column, i+1, k, name, len(x))
		}
		out[i] = x[int(k)-1]
	}
	return out, nil
}

// elementsOf returns the values of a column for the elements of a variable, by their rows.
func elementsOf(values *data.Set, named lookup, column string, v *replicated) ([]float64, error) {
	if slices.Contains(v.rows, -1) {
		return nil, fmt.Errorf("the values of %s are not rows of one variable; if censored ones have only a limit, store it as their value", v.name)
	}
	x, err := columnOf(values, named, column, v)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(v.rows))
	for i, row := range v.rows {
		out[i] = x[row]
	}
	return out, nil
}
