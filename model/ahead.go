package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/model/predict"
)

// This file extends data beyond their last row.

// NoFutureValuesError says that the rows ahead depend on data variables whose values in these rows
// were not given.
type NoFutureValuesError struct {
	Names []string
	Rows  int
}

// Error implements error.
func (e *NoFutureValuesError) Error() string {
	return fmt.Sprintf("what follows depends on %s, whose values in the %d rows ahead are not given", strings.Join(e.Names, ", "), e.Rows)
}

// Ahead extends data by rows after the last one, for [Model.DeriveFor] with [predict.Options].
// future has the values of the covariates in these rows; it is nil if the model has no covariates.
// Outcomes get placeholders in the new rows; the derived program replaces them by draws.
func (m *Model) Ahead(values, future *data.Set, rows int) (*data.Set, *predict.Ahead, error) {
	if err := m.Err(); err != nil {
		return nil, nil, err
	}
	t, err := predict.TimelineOf(m.program)
	if err != nil {
		return nil, nil, err
	}
	count := func(name string) int {
		if v, ok := values.Get(name); ok && len(v.Ints) == 1 {
			return int(v.Ints[0])
		}
		return 0
	}
	from, times := count(t.Rows), count(t.Size)
	if from < 1 || times < 1 {
		return nil, nil, fmt.Errorf("%w: there are no rows", predict.ErrNoFuture)
	}
	longer := data.NewBuilder()
	missing := &NoFutureValuesError{Rows: rows}
	for _, c := range t.Columns {
		old, ok := values.Get(c.Name)
		switch {
		case c.Name == t.Rows || c.Name == t.Size:
			if err := longer.Add(c.Name, "", old.Reals[0]+float64(rows), true); err != nil {
				return nil, nil, err
			}
			continue
		case c.Along < 0 || !ok:
			continue
		}
		tail, given := data.Value{}, false
		if future != nil {
			tail, given = future.Get(c.Name)
		}
		var next func(row int, i int) float64 // element i of a row ahead
		inner := 1
		for _, n := range old.Shape[min(c.Along+1, len(old.Shape)):] {
			inner *= n
		}
		switch {
		case len(old.Shape) <= c.Along:
			continue
		case c.Name == t.Index && given && !follows(tail.Ints, times, rows):
			return nil, nil, fmt.Errorf("%s must be %d to %d in the rows ahead", c.Name, times+1, times+rows)
		case c.Name == t.Index:
			next = func(row, _ int) float64 { return float64(times + row + 1) }
		case c.Outcome:
			next = func(_, i int) float64 {
				return old.Reals[i/inner*inner*old.Shape[c.Along]+(old.Shape[c.Along]-1)*inner+i%inner]
			}
		case !given:
			missing.Names = append(missing.Names, fmt.Sprintf("%s (line %d)", c.Name, c.Line))
			continue
		case len(tail.Shape) != len(old.Shape) || tail.Shape[c.Along] != rows:
			return nil, nil, fmt.Errorf("%s has the shape %v in the data of the rows ahead, but must have %d values for as many rows", c.Name, tail.Shape, rows)
		default:
			next = func(row, i int) float64 { return tail.Reals[i/inner*inner*rows+row*inner+i%inner] }
		}
		if err := extend(longer, c, old, rows, inner, next); err != nil {
			return nil, nil, err
		}
	}
	if missing.Names != nil {
		return nil, nil, missing
	}
	return values.Replace(longer.Set(), nil), &predict.Ahead{Rows: t.Rows, From: from, Index: t.Index, Time: times}, nil
}

// follows reports whether index has the consecutive integers times+1, times+2, …, one for each of
// the rows.
func follows(index []int64, times, rows int) bool {
	for i, x := range index {
		if x != int64(times+i+1) {
			return false
		}
	}
	return len(index) == rows
}

// extend adds rows to a variable along the dimension that counts rows. inner is the number of
// elements of one row.
func extend(to *data.Builder, c predict.TimeColumn, old data.Value, rows, inner int, next func(row, i int) float64) error {
	shape := slices.Clone(old.Shape)
	shape[c.Along] += rows
	total := 1
	for _, n := range shape {
		total *= n
	}
	for k := range total {
		var index []string
		rest := k
		at := make([]int, len(shape))
		for d := len(shape) - 1; d >= 0; d-- {
			at[d] = rest % shape[d]
			rest /= shape[d]
		}
		for _, i := range at {
			index = append(index, fmt.Sprint(i+1))
		}
		position := at[c.Along]
		outer := k / (shape[c.Along] * inner)
		var x float64
		if n := old.Shape[c.Along]; position < n {
			x = old.Reals[(outer*n+position)*inner+k%inner]
		} else {
			x = next(position-n, outer*inner+k%inner)
		}
		if err := to.Add(c.Name, strings.Join(index, "."), x, old.IsInt); err != nil {
			return err
		}
	}
	return nil
}
