package data

import (
	"maps"
	"slices"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/source"
)

// This file: values of sparse matrices.

// sparseMembers are the names of the members of a sparse matrix that is written as an object:
// triplets of a row, a column and a value, or compressed rows as in csr_matrix_times_vector, each
// with the size of the matrix if it is given.
var sparseMembers = []string{"row", "column", "value", "w", "v", "u", "size"}

// Triplets returns the set for a program in which the variable of a name has the values of a sparse
// matrix, sorted by rows and columns, and the other variables their number, rows and columns. The
// matrix is given as an object of sparseMembers or as a matrix, whose zeros are left out.
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
	if e != nil {
		out.faults = maps.Clone(s.faults)
		if out.faults == nil {
			out.faults = map[string]*Error{}
		}
		out.faults[name] = e
	}
	if t == nil {
		t = &triplets{}
	} else {
		out.values[name] = Value{Shape: []int{len(t.w)}, Reals: t.w, apart: true, Sparse: t.size}
	}
	out.values[count] = Value{IsInt: true, Ints: []int64{int64(len(t.row))}, Reals: []float64{float64(len(t.row))}, apart: true}
	for n, at := range map[string][]int64{row: t.row, column: t.column} {
		v := Value{Shape: []int{len(at)}, IsInt: true, Ints: at, Reals: make([]float64, len(at)), apart: true}
		for i, x := range at {
			v.Reals[i] = float64(x)
		}
		out.values[n] = v
	}
	return &out
}

// triplets has the values of a sparse matrix and their places from 1.
type triplets struct {
	row, column []int64
	w           []float64
	size        []int // nil: unknown
}

func (t *triplets) add(i, j int64, x float64) {
	t.row, t.column, t.w = append(t.row, i), append(t.column, j), append(t.w, x)
}

// triplets reads the value of a sparse matrix; nil if there is none.
func (s *Set) triplets(name string) (*triplets, *Error) {
	part := func(n string) (Value, bool) { v, ok := s.values[name+"."+n]; return v, ok }
	t := &triplets{w: []float64{}}
	if size, ok := part("size"); ok && size.IsInt && len(size.Ints) == 2 {
		t.size = []int{int(size.Ints[0]), int(size.Ints[1])}
	}
	wrong := func(text, fix string) (*triplets, *Error) { return nil, newError(source.Span{}, name, text, fix) }
	value, isTriplets := part("value")
	w, isRows := part("w")
	switch {
	case isTriplets:
		row, _ := part("row")
		column, _ := part("column")
		if !row.IsInt || !column.IsInt || len(row.Ints) != value.Size() || len(column.Ints) != value.Size() {
			return wrong("`"+name+"` needs a row and a column, both integers, for each value", `write {"row": [1, 2], "column": [1, 3], "value": [0.5, 2]}`)
		}
		for k, x := range value.Reals {
			t.add(row.Ints[k], column.Ints[k], x)
		}
		t.sort()
	case isRows:
		v, _ := part("v")
		u, _ := part("u")
		if !v.IsInt || !u.IsInt || len(v.Ints) != w.Size() || len(u.Ints) == 0 || u.Ints[0] != 1 || !slices.IsSorted(u.Ints) || u.Ints[len(u.Ints)-1] != int64(w.Size()+1) {
			return wrong("`"+name+"` does not describe rows: v must have the column of each value of w, and u the position of the first value of each row, from 1 to their number plus 1",
				`write {"w": [0.5, 2], "v": [1, 3], "u": [1, 2, 3]}`)
		}
		for i, from := range u.Ints[:len(u.Ints)-1] {
			for k := from; k < u.Ints[i+1]; k++ {
				t.add(int64(i+1), v.Ints[k-1], w.Reals[k-1])
			}
		}
		t.sort()
	default:
		v, ok := s.values[name]
		if !ok || len(v.Shape) != 2 && v.Size() > 0 {
			if ok {
				return wrong("`"+name+"` is no matrix", "write it as a list of rows, or as "+`{"row": [1, 2], "column": [1, 3], "value": [0.5, 2]}`)
			}
			return nil, nil
		}
		if len(v.Shape) == 2 && v.Size() > 0 {
			t.size = v.Shape
			for k, x := range v.Reals {
				if x != 0 {
					t.add(int64(k/v.Shape[1]+1), int64(k%v.Shape[1]+1), x)
				}
			}
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
