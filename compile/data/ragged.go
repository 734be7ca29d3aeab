package data

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// This file: values whose lists differ in length. They are faults, unless the program declares a
// variable that is ragged in this way; see [Set.Flattened].

// Rows describes a value whose elements are stored one row after another.
type Rows struct {
	Outer []int // extents of the dimensions before a row
	Sizes []int // the sizes of the rows, in row-major order
	At    int   // the dimension of the value along which the rows follow one another
}

// Place returns the indices, from 0, of the dimensions before a row, and within it, of a position
// along dimension At.
func (r *Rows) Place(at int) []int {
	row := 0
	for row < len(r.Sizes)-1 && at >= r.Sizes[row] {
		at -= r.Sizes[row]
		row++
	}
	out := make([]int, len(r.Outer)+1)
	for d := len(r.Outer) - 1; d >= 0; d-- {
		out[d], row = row%r.Outer[d], row/r.Outer[d]
	}
	out[len(r.Outer)] = at
	return out
}

// Each returns the number of the row, from 0, of each position along dimension At.
func (r *Rows) Each() []int {
	var out []int
	for row, n := range r.Sizes {
		out = append(out, slices.Repeat([]int{row}, max(0, n))...)
	}
	return out
}

// Labels returns the indices of each position along dimension At, from 1, as in 2,3.
func (r *Rows) Labels() []string {
	var out []string
	for row, n := range r.Sizes {
		before := ""
		for d := len(r.Outer) - 1; d >= 0; d-- {
			before = strconv.Itoa(row%r.Outer[d]+1) + "," + before
			row /= r.Outer[d]
		}
		for k := range max(0, n) {
			out = append(out, before+strconv.Itoa(k+1))
		}
	}
	return out
}

// uneven is a value whose lists differ in length.
type uneven struct {
	value   Value
	lengths [][]int // by depth, the lengths of the lists there
	gap     *Error  // the error of its first missing element
}

// addUneven appends a value whose lists differ in length. e is the error for programs that do not
// allow for this.
func (s *Set) addUneven(name string, u uneven, e *Error) {
	s.addFault(name, e)
	if s.uneven == nil {
		s.uneven = map[string]uneven{}
	}
	s.uneven[strings.Clone(name)] = u
}

// Flattened returns the set for a program in which the variable of a name is ragged. Its value has
// the elements of all rows, one row after another, and [Value].Ragged. rank is the number of
// indices of an element, outer the number of dimensions before a row, and at the dimension whose
// extents differ between rows. A value that is no such array, or is flat already, stays as it is.
func (s *Set) Flattened(name string, rank, outer, at int) *Set {
	u, ok := s.uneven[name]
	if !ok {
		if v, given := s.values[name]; given {
			u.value = v
		} else if v, given := s.gaps[name]; given {
			u.value, u.gap = v, s.faults[name]
		} else {
			return s
		}
		if len(u.value.Shape) != rank {
			return s
		}
		n := 1
		for _, extent := range u.value.Shape {
			u.lengths = append(u.lengths, slices.Repeat([]int{extent}, n))
			n *= extent
		}
	}
	v, ok := u.flat(rank, outer, at)
	if !ok {
		return s
	}
	out := *s
	out.values, out.faults, out.gaps, out.uneven = maps.Clone(s.values), maps.Clone(s.faults), maps.Clone(s.gaps), maps.Clone(s.uneven)
	delete(out.uneven, name)
	delete(out.faults, name)
	if u.gap != nil {
		if out.gaps == nil {
			out.gaps, out.faults = map[string]Value{}, map[string]*Error{}
		}
		out.gaps[name], out.faults[name] = v, u.gap
		return &out
	}
	out.values[name] = v
	return &out
}

// InRows returns the set with the rows of a variable whose elements are given one row after
// another, and its rows nowhere else. sizes is the variable with their sizes, rank the number of
// dimensions of a row, and at the one along which the rows follow one another.
func (s *Set) InRows(name, sizes string, rank, at int) *Set {
	n, ok := s.values[sizes]
	if !ok || !n.IsInt || len(n.Shape) != 1 {
		return s
	}
	rows := &Rows{Outer: n.Shape, At: at}
	total := 0
	for _, x := range n.Ints {
		if x < 0 {
			return s
		}
		rows.Sizes = append(rows.Sizes, int(x))
		total += int(x)
	}
	put := func(in map[string]Value) map[string]Value {
		v, ok := in[name]
		if !ok || v.Ragged != nil || len(v.Shape) != rank || v.Shape[at] != total {
			return in
		}
		v.Ragged = rows
		in = maps.Clone(in)
		in[name] = v
		return in
	}
	out := *s
	out.values, out.gaps = put(s.values), put(s.gaps)
	return &out
}

// flat stores the elements of a value one row after another. It returns false if the lists differ
// in length in another way.
func (u *uneven) flat(rank, outer, at int) (Value, bool) {
	if len(u.lengths) > rank || at >= rank {
		return Value{}, false
	}
	extents := slices.Repeat([]int{-1}, rank) // of the dimensions that do not vary
	next := make([]int, rank)
	rows := &Rows{At: at - outer}
	known := []bool{}
	row := 0
	// sizes finds the extents and the sizes of the rows.
	var sizes func(depth int) bool
	sizes = func(depth int) bool {
		if depth == rank {
			return true
		}
		if depth == outer {
			row = len(rows.Sizes)
			rows.Sizes, known = append(rows.Sizes, 0), append(known, false)
		}
		if depth >= len(u.lengths) || next[depth] >= len(u.lengths[depth]) {
			return false // a list in place of a number
		}
		n := u.lengths[depth][next[depth]]
		next[depth]++
		switch {
		case depth == at && known[row] && rows.Sizes[row] != n, depth != at && extents[depth] >= 0 && extents[depth] != n:
			return false
		case depth == at:
			rows.Sizes[row], known[row] = n, true
		default:
			extents[depth] = n
		}
		for range n {
			if !sizes(depth + 1) {
				return false
			}
		}
		return true
	}
	if !sizes(0) {
		return Value{}, false
	}
	total := 0
	starts := make([]int, len(rows.Sizes))
	for i, n := range rows.Sizes {
		starts[i] = total
		total += n
	}
	for d := range outer {
		rows.Outer = append(rows.Outer, max(extents[d], 0))
	}
	v := u.value
	v.Ragged, v.Shape = rows, nil
	for d := outer; d < rank; d++ {
		if d == at {
			v.Shape = append(v.Shape, total)
		} else {
			v.Shape = append(v.Shape, max(extents[d], 0))
		}
	}
	if at == outer { // the elements are in this order already
		return v, true
	}
	v.apart = true
	v.Reals = make([]float64, len(u.value.Reals))
	if v.IsInt {
		v.Ints = make([]int64, len(u.value.Ints))
	}
	from := 0
	for i, n := range rows.Sizes {
		shape := slices.Clone(v.Shape)
		shape[rows.At] = n
		is := make([]int, len(shape))
		for range product(shape) {
			to := 0
			for d, k := range is {
				if d == rows.At {
					k += starts[i]
				}
				to = to*v.Shape[d] + k
			}
			v.Reals[to] = u.value.Reals[from]
			if v.IsInt {
				v.Ints[to] = u.value.Ints[from]
			}
			from++
			for d := len(is) - 1; d >= 0; d-- {
				if is[d]++; is[d] < shape[d] {
					break
				}
				is[d] = 0
			}
		}
	}
	return v, true
}

// path returns the subscripts of an element of a value with rows.
func (v *Value) path(element int) string {
	if v.Ragged == nil {
		return subscript(v.Shape, element)
	}
	is := make([]int, len(v.Shape))
	for d := len(is) - 1; d >= 0; d-- {
		is[d], element = element%max(v.Shape[d], 1), element/max(v.Shape[d], 1)
	}
	place := v.Ragged.Place(is[v.Ragged.At])
	outer := len(v.Ragged.Outer)
	is[v.Ragged.At] = place[outer]
	at := append(place[:outer:outer], is...)
	for i := range at {
		at[i]++
	}
	return indices(at)
}

// lengthsOf returns the lengths of the lists in the text of an array, by depth.
func lengthsOf(text string) [][]int {
	var out [][]int
	var open []int // by depth, the number of the list
	counted := func() {
		if d := len(open) - 1; d >= 0 {
			out[d][open[d]]++
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '[':
			counted()
			d := len(open)
			if d == len(out) {
				out = append(out, nil)
			}
			out[d] = append(out[d], 0)
			open = append(open, len(out[d])-1)
		case c == ']':
			open = open[:len(open)-1]
		case strings.IndexByte(" \t\r\n,", c) < 0:
			counted()
			for i+1 < len(text) && strings.IndexByte(" \t\r\n[],", text[i+1]) < 0 {
				i++
			}
		}
	}
	return out
}
