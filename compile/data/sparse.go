package data

import (
	"maps"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// This file: values of sparse matrices.

// sparseMembers are the names of the members of a sparse matrix that is written as an object:
// triplets of a row, a column and a value, or compressed rows as in csr_matrix_times_vector, each
// with the size of the matrix if it is given.
var sparseMembers = []string{"row", "column", "value", "w", "v", "u", "size"}

// Sparse describes the matrix that has the elements of a value of [Set.Triplets].
type Sparse struct {
	Size        []int   // the numbers of rows and columns, each -1 if the data do not say it
	Row, Column []int64 // of the elements, from 1
}

// Triplets returns the set for a program in which the variable of a name has the values of a sparse
// matrix, sorted by rows and columns, and the other variables their number, rows and columns. The
// matrix is given as an object of sparseMembers, as columns NAME.row, NAME.column and NAME.value of
// a table, or as a matrix, whose zeros are left out.
func (s *Set) Triplets(name, count, row, column string) *Set {
	if s.has(count) {
		return s
	}
	out := *s
	out.values = maps.Clone(s.values)
	if out.values == nil {
		out.values = map[string]Value{}
	}
	t, e := s.triplets(name)
	if missing := s.faults[name]; missing != nil && strings.HasSuffix(missing.Fix, gapFix) {
		known := *missing
		known.Fix = "write a number, or leave out the place if the element is 0; a sparse matrix cannot have missing values"
		e = &known
	}
	if e != nil {
		out.faults = maps.Clone(s.faults)
		if out.faults == nil {
			out.faults = map[string]*Error{}
		}
		out.faults[name] = e
		delete(out.values, name)
	}
	if t == nil {
		t = &triplets{}
	} else {
		w := Value{Shape: []int{len(t.w)}, Reals: t.w, apart: true}
		w = w.written(s, t.value, t.from)
		w.triplets.matrix = &Sparse{t.size, t.row, t.column}
		out.values[name] = w
	}
	out.values[count] = Value{IsInt: true, Ints: []int64{int64(len(t.row))}, Reals: []float64{float64(len(t.row))}, apart: true}
	for _, p := range []struct {
		name, from string
		at         []int64
	}{{row, t.rows, t.row}, {column, t.columns, t.column}} {
		out.values[p.name] = integers(p.at).written(s, p.from, t.from)
	}
	return &out
}

// Sparse describes the matrix that has the elements of a value of [Set.Triplets]; it is nil for
// other values.
func (v Value) Sparse() *Sparse {
	if v.triplets == nil {
		return nil
	}
	return v.triplets.matrix
}

// origin says where the elements of a value of [Set.Triplets] come from.
type origin struct {
	name   string // they were written as those of this name; "": not as written
	order  []int  // by element, its position there; nil: the same
	matrix *Sparse
}

// written returns a value whose elements were written as those of another one, in this order.
func (v Value) written(s *Set, name string, order []int) Value {
	v.triplets = &origin{}
	if w, ok := s.values[name]; ok && len(w.Reals) == len(v.Reals) {
		v.start, v.end, v.apart = w.start, w.end, w.apart
		v.triplets.name, v.triplets.order = name, order
	}
	return v
}

// triplets has the values of a sparse matrix and their places from 1.
type triplets struct {
	row, column []int64
	w           []float64
	size        []int // as in Sparse

	rows, columns, value string // names of what they were read from; "" if there is none
	from                 []int  // by element, the position there
}

func (t *triplets) add(i, j int64, x float64) {
	t.row, t.column, t.w = append(t.row, i), append(t.column, j), append(t.w, x)
}

// triplets reads the value of a sparse matrix; nil if there is none.
func (s *Set) triplets(name string) (*triplets, *Error) {
	part := func(n string) (Value, bool) { v, ok := s.values[name+"."+n]; return v, ok }
	t := &triplets{w: []float64{}, size: []int{-1, -1}}
	wrong := func(member string, element int, fix, format string, args ...any) (*triplets, *Error) {
		e := s.Errorf(member, element, format, args...)
		e.Path, e.Fix = name, fix
		return nil, e
	}
	const example = `write {"row": [1, 2], "column": [1, 3], "value": [0.5, 2]}`
	if size, ok := part("size"); ok {
		if !size.IsInt || len(size.Ints) != 2 {
			return wrong(name+".size", -1, `write "size": [8, 8]`, "`%s.size` must be the number of rows and the number of columns", name)
		}
		t.size = []int{int(size.Ints[0]), int(size.Ints[1])}
	}
	// integers reads a member with an integer for each of n values.
	integers := func(member, values string, n int) (Value, *Error) {
		v, ok := part(member)
		var e *Error
		switch {
		case !ok:
			_, e = wrong(name+"."+values, -1, example, "`%s` has `%s`, but no `%s`", name, values, member)
		case !v.IsInt && v.Size() > 0:
			_, e = wrong(name+"."+member, v.FirstReal(), "positions count from 1", "`%s.%s[%d]` is no integer", name, member, v.FirstReal()+1)
		case n >= 0 && v.Size() != n:
			_, e = wrong(name+"."+member, -1, "give each value a row and a column", "`%s.%s` has %d elements, but `%s.%s` has %d", name, member, v.Size(), name, values, n)
		}
		return v, e
	}
	value, isTriplets := part("value")
	w, isRows := part("w")
	switch {
	case isTriplets:
		row, e := integers("row", "value", value.Size())
		if e != nil {
			return nil, e
		}
		column, e := integers("column", "value", value.Size())
		if e != nil {
			return nil, e
		}
		for k, x := range value.Reals {
			t.add(row.Ints[k], column.Ints[k], x)
		}
		t.rows, t.columns, t.value = name+".row", name+".column", name+".value"
	case isRows:
		v, e := integers("v", "w", w.Size())
		if e != nil {
			return nil, e
		}
		u, e := integers("u", "w", -1)
		if e != nil {
			return nil, e
		}
		if len(u.Ints) == 0 || u.Ints[0] != 1 || !slices.IsSorted(u.Ints) || u.Ints[len(u.Ints)-1] != int64(w.Size()+1) {
			return wrong(name+".u", -1, `write {"w": [0.5, 2], "v": [1, 3], "u": [1, 2, 3]} for a matrix of two rows`,
				"`%s.u` must have the position in `w` of the first value of each row, and then %d", name, w.Size()+1)
		}
		for i, from := range u.Ints[:len(u.Ints)-1] {
			for k := from; k < u.Ints[i+1]; k++ {
				t.add(int64(i+1), v.Ints[k-1], w.Reals[k-1])
			}
		}
		if t.size[0] < 0 {
			t.size[0] = len(u.Ints) - 1
		}
		t.columns, t.value = name+".v", name+".w"
	default:
		v, ok := s.values[name]
		switch {
		case !ok:
			return nil, nil
		case v.Sparse() != nil: // Triplets returned it
			m := v.Sparse()
			return &triplets{row: m.Row, column: m.Column, w: v.Reals, size: m.Size}, nil
		case len(v.Shape) != 2 && (len(v.Shape) != 1 || v.Size() > 0):
			return wrong(name, -1, "write it as a list of rows, or as "+strings.TrimPrefix(example, "write "), "`%s` is no matrix", name)
		}
		copy(t.size, v.Shape)
		for k, x := range v.Reals {
			if x != 0 {
				t.add(int64(k/v.Shape[1]+1), int64(k%v.Shape[1]+1), x)
			}
		}
		return t, nil
	}
	t.sort()
	for k := 1; k < len(t.w); k++ {
		if t.row[k] == t.row[k-1] && t.column[k] == t.column[k-1] {
			return wrong(t.value, t.from[k], "give one value, such as their sum", "`%s` has two values for row %d and column %d", name, t.row[k], t.column[k])
		}
	}
	return t, nil
}

// sort sorts the values by rows, and within them by columns.
func (t *triplets) sort() {
	order := make([]int, len(t.w))
	for k := range order {
		order[k] = k
	}
	before := func(a, b int) int {
		if t.row[a] != t.row[b] {
			return int(t.row[a] - t.row[b])
		}
		return int(t.column[a] - t.column[b])
	}
	t.from = order
	if slices.IsSortedFunc(order, before) {
		return
	}
	sorting.Stable(order, before)
	from := *t
	t.row, t.column, t.w = nil, nil, nil
	for _, k := range order {
		t.add(from.row[k], from.column[k], from.w[k])
	}
}
