package data

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/source"
)

// Value is one variable's data: a scalar or a rectangular array of numbers.
type Value struct {
	// Shape holds the extents, outermost first; it is nil for a scalar. An
	// empty array has an extent 0: [] is {0} and [[],[]] is {2, 0}. Text and Go
	// cannot say all extents of an array without elements ([] may stand for
	// two dimensions), so any two shapes without elements should be taken as
	// equal, as Stan does.
	Shape []int

	// IsInt says that every element was written as an integer: without point
	// or exponent in text, of an integer type in Go. True of empty arrays.
	IsInt bool

	Ints  []int64   // the elements in row-major order, if IsInt
	Reals []float64 // the elements in row-major order, always

	firstReal  int  // index of the first element that is no integer, if !IsInt
	start, end int  // where the value stands in Set.text
	apart      bool // the elements do not stand there one after another
	goType     string
}

// Size is the number of elements: 1 for a scalar.
func (v Value) Size() int { return len(v.Reals) }

// FirstReal is the index among the elements of the first that was not written
// as an integer, -1 if there is none.
func (v Value) FirstReal() int {
	if v.IsInt {
		return -1
	}
	return v.firstReal
}

// GoType is the type in Go, such as []float64, of a value whose numbers are of a floating-point
// type there; "" for others.
func (v Value) GoType() string { return v.goType }

// Half takes the first (0) or second (1) of the two elements of the last
// dimension: real or imaginary parts.
func (v Value) Half(i int) Value {
	out := Value{Shape: v.Shape[:len(v.Shape)-1], Reals: []float64{}, start: v.start, end: v.end, apart: true}
	for ; i < len(v.Reals); i += 2 {
		out.Reals = append(out.Reals, v.Reals[i])
	}
	return out
}

// Set is a set of named values. It is not modified after it has been made.
type Set struct {
	file        string
	text        string // that the values were read from, for Span; "" for tables and Go values
	names       []string
	values      map[string]Value
	faults      map[string]*Error // by name: values that are no numbers
	named       map[string]bool   // the names, while values are added; nil: not yet made
	levels      map[string][]string
	notIntegers map[string]func() *Error // by column of a table: the first that is none
	zeros       map[string][]string      // levels that count from 0, see FromZero
	counts      []Count
	table       bool
	columns     []Column // of a table
	dropped     int      // rows of the table
	dump        bool
	structure   bool // of Go
}

// Reading is what a set has beyond its values that matters to data which are read
// later, see [Options].As.
type Reading struct {
	Levels map[string][]string // of the factors
	Zeros  map[string][]string // of factors of two levels that count from 0
	Counts []Count             // what was counted in a table
}

// Reading is how the set was read.
func (s *Set) Reading() Reading { return Reading{s.levels, s.zeros, s.counts} }

// Read returns the set as one that was read like this. Levels of what has other
// integers than their numbers are left out.
func (s *Set) Read(r Reading) *Set {
	out := *s
	out.named, out.counts, out.levels = nil, r.Counts, map[string][]string{}
	for name, levels := range r.Levels {
		v, ok := s.values[name]
		if ok && v.IsInt && !slices.ContainsFunc(v.Ints, func(i int64) bool { return i < 1 || i > int64(len(levels)) }) {
			out.levels[name] = levels
		}
	}
	out.zeros = map[string][]string{}
	for name, levels := range r.Zeros {
		v, ok := s.values[name]
		if ok && v.IsInt && !slices.ContainsFunc(v.Ints, func(i int64) bool { return i < 0 || i >= int64(len(levels)) }) {
			out.zeros[name] = levels
		}
	}
	return &out
}

// FromZero returns the set with the levels of a factor counted from 0. It is no factor for
// [Set.Levels] then, but [Set.Reading] knows its levels.
func (s *Set) FromZero(name string) *Set {
	out := *s
	out.values, out.levels, out.zeros = maps.Clone(s.values), maps.Clone(s.levels), maps.Clone(s.zeros)
	if out.zeros == nil {
		out.zeros = map[string][]string{}
	}
	v := s.values[name]
	v.Ints, v.Reals = slices.Clone(v.Ints), slices.Clone(v.Reals)
	for i := range v.Ints {
		v.Ints[i]--
		v.Reals[i]--
	}
	out.values[name], out.zeros[name] = v, out.levels[name]
	delete(out.levels, name)
	return &out
}

// Only returns the set with the values of some names alone, of a tuple with all members.
func (s *Set) Only(names func(name string) bool) *Set {
	out := *s
	out.named, out.names = nil, nil
	kept := func(name string) bool {
		whole, _, _ := strings.Cut(name, ".")
		return names(name) || names(whole)
	}
	for _, n := range s.names {
		if kept(n) {
			out.names = append(out.names, n)
		}
	}
	out.values, out.levels, out.zeros = maps.Clone(s.values), maps.Clone(s.levels), maps.Clone(s.zeros)
	other := func(name string) bool { return !kept(name) }
	maps.DeleteFunc(out.values, func(n string, _ Value) bool { return other(n) })
	maps.DeleteFunc(out.levels, func(n string, _ []string) bool { return other(n) })
	maps.DeleteFunc(out.zeros, func(n string, _ []string) bool { return other(n) })
	return &out
}

// Levels are the texts that the integers of a factor stand for, that of 1 first;
// nil for other variables.
func (s *Set) Levels(name string) []string { return s.levels[name] }

// Table reports whether the set is of a table, whose values are columns, but for what
// is counted.
func (s *Set) Table() bool { return s.table }

// Struct reports whether the set was read from a struct of Go, whose names are those of fields.
func (s *Set) Struct() bool { return s.structure }

// Dump reports whether the set was read from an R dump.
func (s *Set) Dump() bool { return s.dump }

// Get returns the value of a name. The members of a tuple t are t.1, t.2 and so
// on; for an array of tuples they are arrays.
func (s *Set) Get(name string) (Value, bool) {
	v, ok := s.values[name]
	return v, ok
}

// Fault says what is wrong with the value of a name, or of the tuple that it is
// a member of, where the file has something else than numbers; nil if nothing
// is. It is the user of the value who reports it: other programs' files also
// hold what is of no use to a model, such as labels.
func (s *Set) Fault(name string) *Error {
	if e := s.faults[name]; e != nil {
		return e
	}
	if _, ok := s.values[name]; ok {
		return nil // names in other people's files may have dots
	}
	name, _, _ = strings.Cut(name, ".")
	return s.faults[name]
}

// NotInteger says which field of a column of a table is no integer, nil if all are or the set
// is of no table.
func (s *Set) NotInteger(name string) *Error {
	if find := s.notIntegers[name]; find != nil {
		return find()
	}
	return nil
}

// Names lists the names in the order in which they were written (in that of
// the alphabet for a Go map). The slice is not to be modified.
func (s *Set) Names() []string { return s.names }

// File is the name of the file, for messages; "" for Go values.
func (s *Set) File() string { return s.file }

// Empty returns a set without values, for a model without data.
func Empty() *Set { return &Set{values: map[string]Value{}} }

// With returns a set in which each value, of a tuple each member, is replaced by
// what change makes of it. It is of no file: messages about it name the variables alone.
func (s *Set) With(change func(name string, v Value) Value) *Set {
	out := Empty()
	out.names, out.faults = s.names, s.faults
	for name, v := range s.values {
		out.values[name] = change(name, v)
	}
	return out
}

// ChooseRows returns the set with only some of the rows of the named values, counted from
// 0; the variable size holds their number.
func (s *Set) ChooseRows(names []string, size string, rows []int) *Set {
	return s.With(func(name string, v Value) Value {
		switch {
		case name == size:
			return Value{IsInt: true, Ints: []int64{int64(len(rows))}, Reals: []float64{float64(len(rows))}}
		case slices.Contains(names, name):
			return v.Rows(rows)
		}
		return v
	})
}

// Rows returns an array of some of the elements of v's outermost dimension, by
// their places from 0.
func (v Value) Rows(rows []int) Value {
	size := 1
	for _, n := range v.Shape[1:] {
		size *= n
	}
	out := Value{Shape: slices.Clone(v.Shape), IsInt: v.IsInt, Reals: []float64{}}
	out.Shape[0] = len(rows)
	for _, r := range rows {
		out.Reals = append(out.Reals, v.Reals[r*size:(r+1)*size]...)
		if v.IsInt {
			out.Ints = append(out.Ints, v.Ints[r*size:(r+1)*size]...)
		}
	}
	return out
}

// has reports whether there is a value of that name, simple or not, or a faulty one.
func (s *Set) has(name string) bool {
	if s.named == nil {
		s.named = map[string]bool{}
		for _, n := range s.names {
			s.named[n] = true
		}
	}
	_, member := s.values[name] // of a tuple, which an untrusted user's name with a dot can be that of
	return member || s.named[name]
}

// add appends a value; it reports whether the name is new.
func (s *Set) add(name string, v Value) bool { return s.addMembers(name, members{{"", v}}) }

// addMembers appends the members of a tuple; it reports whether their names are new.
func (s *Set) addMembers(name string, ms members) bool {
	if s.has(name) || slices.ContainsFunc(ms, func(m member) bool { return s.has(name + m.path) }) {
		return false
	}
	if s.values == nil {
		s.values = map[string]Value{}
	}
	name = strings.Clone(name) // a part of a text would keep all of it
	s.named[name] = true
	for _, m := range ms {
		s.values[name+m.path] = m.v
	}
	s.names = append(s.names, name)
	return true
}

// addFault appends a name whose value cannot be used.
func (s *Set) addFault(name string, e *Error) {
	if s.faults == nil {
		s.faults = map[string]*Error{}
	}
	s.faults[name] = e
	s.addMembers(name, nil)
}

// addLevels says that a name that has been added is a factor.
func (s *Set) addLevels(name string, levels []string) {
	if s.levels == nil {
		s.levels = map[string][]string{}
	}
	s.levels[strings.Clone(name)] = levels
}

// members are the simple values within tuples, with the paths to them: .1, .2.1.
type members []member

type member struct {
	path string
	v    Value
}

// within are the members of a tuple that is itself a member.
func (ms members) within(path string) members {
	for i := range ms {
		ms[i].path = path + ms[i].path
	}
	return ms
}

// stack makes members of an array of tuples; it fails with the number of the
// first that differs from those before.
func stack(elems []members) (out members, differs int) {
	for i, e := range elems {
		if i == 0 {
			for _, m := range e {
				m.v.Shape = append([]int{len(elems)}, m.v.Shape...)
				m.v.apart = true
				out = append(out, m)
			}
			continue
		}
		if len(e) != len(out) {
			return nil, i
		}
		for k, m := range e {
			o := &out[k]
			if m.path != o.path || !slices.Equal(m.v.Shape, o.v.Shape[1:]) {
				return nil, i
			}
			if o.v.IsInt && !m.v.IsInt {
				o.v.firstReal = len(o.v.Reals) + m.v.firstReal
			}
			if o.v.IsInt = o.v.IsInt && m.v.IsInt; o.v.IsInt {
				o.v.Ints = append(o.v.Ints, m.v.Ints...)
			} else {
				o.v.Ints = nil
			}
			o.v.Reals = append(o.v.Reals, m.v.Reals...)
			o.v.end = m.v.end
		}
	}
	return out, -1
}

// Span is where an element of a variable is written, or, if element is
// negative, the whole variable. For Go values and unknown names it is the
// invalid span. Elements are found by reading the text again, which is meant
// for messages.
func (s *Set) Span(name string, element int) source.Span {
	v, ok := s.values[name]
	if !ok || s.text == "" {
		return source.Span{}
	}
	start, end := v.start, v.end
	if element >= 0 && !v.apart {
		start, end = elementSpan(s.text, v.start, v.end, element)
	}
	return source.Span{File: source.NewFile(s.file, s.text), Start: start, End: end}
}

// Forget lets go of the text, after which [Set.Span] knows no places. It is of use once a
// model is bound: nothing that is wrong with the data is found later.
func (s *Set) Forget() { s.text = "" }

// elementSpan finds the n-th number among text[start:end], which has been
// read without error.
func elementSpan(text string, start, end, n int) (int, int) {
	for i := start; i < end; i++ {
		if strings.IndexByte(" \t\r\n[],", text[i]) >= 0 {
			continue
		}
		from := i
		for i < end && strings.IndexByte(" \t\r\n[],", text[i]) < 0 {
			i++
		}
		if n == 0 {
			return from, i
		}
		n--
	}
	return start, end
}

// Path writes the place of an element of a value as in y[3][2], counting from
// 1. A negative element is the whole variable.
func (s *Set) Path(name string, element int) string {
	v, ok := s.values[name]
	if !ok || element < 0 {
		return name
	}
	return name + subscript(v.Shape, element)
}

// subscript is [i][j]… of an element given by its row-major index.
func subscript(shape []int, element int) string {
	var b strings.Builder
	stride := 1
	for _, n := range shape {
		stride *= n
	}
	for _, n := range shape {
		stride /= max(n, 1)
		if stride == 0 {
			return ""
		}
		fmt.Fprintf(&b, "[%d]", element/stride+1)
		element %= stride
	}
	return b.String()
}

// Errorf makes an error about a variable or, if element is not negative, one
// of its elements. The message should begin with what [Set.Path] returns.
func (s *Set) Errorf(name string, element int, format string, args ...any) *Error {
	return newError(s.Span(name, element), s.Path(name, element), fmt.Sprintf(format, args...), "")
}

// Element finds the value of an element by its name as in CmdStan's files, theta.2.1.
func (s *Set) Element(column string) (float64, bool) {
	if s == nil {
		return 0, false
	}
	name := column
	if i := strings.IndexAny(column, ".:"); i >= 0 {
		name = column[:i]
	}
	v, ok := s.Get(name)
	if !ok {
		return 0, false
	}
	at := column[len(name):]
	k, d := 0, 0
	for at != "" {
		if at[0] != '.' || d == len(v.Shape) {
			return 0, false
		}
		i, n := 0, 1
		for n < len(at) && at[n] >= '0' && at[n] <= '9' {
			i = 10*i + int(at[n]-'0')
			n++
		}
		if i < 1 || i > v.Shape[d] {
			return 0, false
		}
		k, at, d = k*v.Shape[d]+i-1, at[n:], d+1
	}
	if d != len(v.Shape) {
		return 0, false
	}
	return v.Reals[k], true
}
