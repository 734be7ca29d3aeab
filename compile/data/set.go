package data

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/source"
)

// Value is the data of one variable: a scalar or a rectangular array of numbers. It has 128 bytes:
// maps keep larger values apart, by an allocation each.
type Value struct {
	// Shape holds the extents, outermost first; it is nil for a scalar. An empty array has an
	// extent of 0: [] is {0} and [[],[]] is {2, 0}. Text and Go values cannot express all extents
	// of an array without elements: [] may also be the value of an array with two dimensions. So
	// treat any two shapes without elements as equal, as Stan does.
	Shape []int

	// IsInt reports whether every element was written as an integer: without point or exponent in
	// text, of an integer type in Go. It is true for empty arrays.
	IsInt bool

	apart     bool  // the elements are not adjacent in the text
	firstReal int32 // index of the first element that is not an integer, if !IsInt

	Ints  []int64   // the elements in row-major order, if IsInt
	Reals []float64 // the elements in row-major order, always

	// Ragged describes the rows of a value of [Set.Flattened]; it is nil for other values.
	Ragged *Rows

	triplets *origin // of a value of Set.Triplets

	start, end int // the bytes of the value in Set.text
	goType     string
}

// Size returns the number of elements: 1 for a scalar.
func (v Value) Size() int { return len(v.Reals) }

// FirstReal returns the index of the first element that was not written as an integer, or -1.
func (v Value) FirstReal() int {
	if v.IsInt {
		return -1
	}
	return int(v.firstReal)
}

// GoType returns the Go type, such as []float64, of a value read from Go floating-point numbers,
// and "" for other values.
func (v Value) GoType() string { return v.goType }

// Half returns element 0 or 1 of the last dimension, which has length two: the real or the
// imaginary parts.
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
	text        string                 // the source of the values, for Span; "" for tables and Go values
	matrices    map[string]*matrixFile // those read from their own files
	names       []string
	values      map[string]Value
	faults      map[string]*Error // for each value that is not numeric, its error
	texts       map[string]texts  // values whose only fault is that all elements are strings
	gaps        map[string]Value  // values whose only fault is that some elements are missing
	gapLevels   map[string][]string
	uneven      map[string]uneven // values whose only faults are that lists differ in length, and gaps
	named       map[string]bool   // the set of names, while values are added; nil: not made yet
	levels      map[string][]string
	notIntegers map[string]func() *Error // for each column of a table, a function that finds the first number that is not an integer
	zeros       map[string][]string      // levels that count from 0, see FromZero
	counts      []Count
	table       bool
	columns     []Column       // columns of the table
	dropped     int            // rows of the table
	rows        int            // of a table
	as          *Set           // what the table was read like; nil: none
	how         map[string]How // columns that were read in a declared way
	missing     []Missing      // texts that meant that there is no value
	holes       map[string]Holes
	dump        bool
	structure   bool // read from a Go struct
}

// Reading describes how a set was read, so that later data can be read the same way; see
// [Options].As.
type Reading struct {
	Levels map[string][]string // levels of the factors
	Zeros  map[string][]string // levels of two-level factors that count from 0
	Counts []Count             // the counts made in a table

	How     map[string]How // columns that were read in a declared way
	Missing []Missing      // texts that meant that there is no value

	Holes map[string]Holes // columns whose missing values were not faults
}

// Reading returns how the set was read.
func (s *Set) Reading() Reading {
	r := Reading{s.levels, s.zeros, s.counts, s.how, s.missing, maps.Clone(s.holes)}
	for _, c := range s.columns {
		if c.Holes == HolesFault {
			continue
		}
		if r.Holes == nil {
			r.Holes = map[string]Holes{}
		}
		r.Holes[c.Name] = c.Holes
	}
	return r
}

// Read returns the set with the levels and counts of r. It leaves out the levels of a variable
// whose integers do not fit them.
func (s *Set) Read(r Reading) *Set {
	out := *s
	out.named, out.counts, out.levels = nil, r.Counts, map[string][]string{}
	out.how, out.missing, out.holes = r.How, r.Missing, r.Holes
	for name, levels := range r.Levels {
		v, ok := s.values[name]
		if ok && v.between(1, len(levels)) {
			out.levels[name] = levels
		}
	}
	out.zeros = map[string][]string{}
	for name, levels := range r.Zeros {
		v, ok := s.values[name]
		if ok && v.between(0, len(levels)-1) {
			out.zeros[name] = levels
		}
	}
	return &out
}

// between reports whether a value has integers within limits; elements may be missing.
func (v Value) between(lo, hi int) bool {
	gap := false
	for _, x := range v.Reals {
		if gap = gap || math.IsNaN(x); x < float64(lo) || x > float64(hi) || !math.IsNaN(x) && x != math.Trunc(x) {
			return false
		}
	}
	return v.IsInt || gap
}

// FromZero returns the set with the levels of a factor counted from 0. [Set.Levels] then no longer
// has the factor, but [Set.Reading] does.
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
	}
	for i := range v.Reals {
		v.Reals[i]--
	}
	out.values[name], out.zeros[name] = v, out.levels[name]
	delete(out.levels, name)
	return &out
}

// Factor returns the levels of a factor and the value of the first: 1, or 0 after [Set.FromZero].
func (s *Set) Factor(name string) (levels []string, first int) {
	if z := s.zeros[name]; z != nil {
		return z, 0
	}
	return s.levels[name], 1
}

// Counted returns the set with an integer that was counted; see [Options].Counts.
func (s *Set) Counted(c Count, n int) *Set {
	out := *s
	out.named, out.names, out.values = nil, slices.Clone(s.names), maps.Clone(s.values)
	out.counts = append(slices.Clone(s.counts), c)
	out.add(c.Name, Value{IsInt: true, Ints: []int64{int64(n)}, Reals: []float64{float64(n)}})
	return &out
}

// Only returns the set with only the values of some names. A tuple keeps all its members.
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

// Levels returns the levels of a factor: the strings that its integers represent, from 1 on. It
// returns nil for other variables.
func (s *Set) Levels(name string) []string { return s.levels[name] }

// Table reports whether the set was read from a table. All its values except counts are then
// columns.
func (s *Set) Table() bool { return s.table }

// Struct reports whether the set was read from a Go struct.
func (s *Set) Struct() bool { return s.structure }

// Dump reports whether the set was read from an R dump.
func (s *Set) Dump() bool { return s.dump }

// Get returns the value of a name. The members of a tuple t are t.1, t.2 and so on. The members of
// an array of tuples are arrays.
func (s *Set) Get(name string) (Value, bool) {
	v, ok := s.values[name]
	return v, ok
}

// Fault returns the error of a non-numeric value, or nil. For a member of a tuple, it also looks at
// the tuple. Report it only if you use the value: files of other programs also contain values that
// a model does not need, such as labels.
func (s *Set) Fault(name string) *Error {
	if e := s.faults[name]; e != nil {
		return e
	}
	if _, ok := s.values[name]; ok {
		return nil // names in data may contain dots without being tuples
	}
	name, _, _ = strings.Cut(name, ".")
	return s.faults[name]
}

// NotInteger returns an error about the first field of a table column that is not an integer. It
// returns nil if all are integers or the set was not read from a table.
func (s *Set) NotInteger(name string) *Error {
	if find := s.notIntegers[name]; find != nil {
		return find()
	}
	return nil
}

// Names lists the names in the order in which they were written; names of a Go map are sorted. Do
// not modify the slice.
func (s *Set) Names() []string { return s.names }

// File returns the name of the file, for messages; "" for Go values.
func (s *Set) File() string { return s.file }

// Empty returns a set without values, for a model without data.
func Empty() *Set { return &Set{values: map[string]Value{}} }

// With returns a set in which change has replaced each value, and each member of a tuple. The new
// set has no file, so messages about it name only the variables.
func (s *Set) With(change func(name string, v Value) Value) *Set {
	out := Empty()
	out.names, out.faults, out.gaps, out.uneven = s.names, s.faults, s.gaps, s.uneven
	for name, v := range s.values {
		out.values[name] = change(name, v)
	}
	return out
}

// ChooseRows returns the set with only some rows of the named values; rows count from 0. It sets
// the variable size to their number.
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

// Rows returns an array of some of the elements of v's outermost dimension, given by their indices
// from 0.
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
	if !v.IsInt && v.between(math.MinInt32, math.MaxInt32) && !slices.ContainsFunc(out.Reals, math.IsNaN) {
		out.IsInt = true // integers of which some are missing, in other rows
		for _, x := range out.Reals {
			out.Ints = append(out.Ints, int64(x))
		}
	}
	return out
}

// has reports whether the set has a simple, composite or faulty value of that name.
func (s *Set) has(name string) bool {
	if s.named == nil {
		s.named = map[string]bool{}
		for _, n := range s.names {
			s.named[n] = true
		}
	}
	_, member := s.values[name] // a name with a dot may equal that of a member
	return member || s.named[name]
}

// add appends a value. It reports whether the name is new.
func (s *Set) add(name string, v Value) bool { return s.addMembers(name, members{{"", v}}) }

// addMembers appends the members of a tuple; it reports whether their names are new.
func (s *Set) addMembers(name string, ms members) bool {
	if s.has(name) || slices.ContainsFunc(ms, func(m member) bool { return s.has(name + m.path) }) {
		return false
	}
	if s.values == nil {
		s.values = map[string]Value{}
	}
	name = strings.Clone(name) // a substring would keep the whole text in memory
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

// addGaps appends a value some of whose elements are missing, which are NaN. e is the error for
// programs that do not allow for this.
func (s *Set) addGaps(name string, v Value, e *Error) {
	s.addFault(name, e)
	if s.gaps == nil {
		s.gaps = map[string]Value{}
	}
	s.gaps[strings.Clone(name)] = v
}

// addGapLevels gives the levels of a factor that has been added by addGaps.
func (s *Set) addGapLevels(name string, levels []string) {
	if s.gapLevels == nil {
		s.gapLevels = map[string][]string{}
	}
	s.gapLevels[strings.Clone(name)] = levels
}

// Filled returns the set with values for variables with missing elements, which are NaN: for those
// of which allowed returns true. Without it, their value is a fault.
func (s *Set) Filled(allowed func(name string) bool) *Set {
	out := *s
	for name, v := range s.gaps {
		if !allowed(name) {
			continue
		}
		if len(out.gaps) == len(s.gaps) { // the first
			out.gaps, out.faults, out.values = maps.Clone(s.gaps), maps.Clone(s.faults), maps.Clone(s.values)
		}
		delete(out.gaps, name)
		delete(out.faults, name)
		out.values[name] = v
		if l := s.gapLevels[name]; l != nil {
			out.levels = maps.Clone(out.levels)
			out.addLevels(name, l)
		}
	}
	return &out
}

// addLevels marks a name that has been added as a factor with these levels.
func (s *Set) addLevels(name string, levels []string) {
	if s.levels == nil {
		s.levels = map[string][]string{}
	}
	s.levels[strings.Clone(name)] = levels
}

// addHow records how a column was declared to be read.
func (s *Set) addHow(name string, how How) {
	if s.how == nil {
		s.how = map[string]How{}
	}
	s.how[strings.Clone(name)] = how
}

// members are the simple values within a tuple, with their paths: .1, .2.1.
type members []member

type member struct {
	path string
	v    Value
}

// within returns the members with their paths extended, for a tuple that is itself a member.
func (ms members) within(path string) members {
	for i := range ms {
		ms[i].path = path + ms[i].path
	}
	return ms
}

// stack combines the members of an array's tuples into members that are arrays. If a tuple differs
// from those before it, stack returns its number.
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
				o.v.firstReal = int32(len(o.v.Reals)) + m.v.firstReal
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

// Span returns the span of an element of a variable or, if element is negative, of the whole
// variable. It is invalid for Go values and unknown names. Span reads the text again, so use it for
// messages only.
func (s *Set) Span(name string, element int) source.Span {
	v, ok := s.values[name]
	from := name
	if v.triplets != nil && v.triplets.name != "" {
		from = v.triplets.name
	}
	from, _, _ = strings.Cut(from, ".")
	if m := s.matrices[from]; m != nil {
		if ok && element >= 0 {
			return m.span(v.place(element))
		}
		return m.span(-1)
	}
	if !ok || s.text == "" {
		return source.Span{}
	}
	start, end := v.start, v.end
	if element >= 0 && !v.apart {
		start, end = elementSpan(s.text, v.start, v.end, v.place(element))
	}
	return source.Span{File: source.NewFile(s.file, s.text), Start: start, End: end}
}

// Forget releases the text; [Set.Span] then returns invalid spans. Call it after a model is bound:
// no errors in the data are found later.
func (s *Set) Forget() { s.text, s.matrices = "", nil }

// elementSpan finds the n-th number in text[start:end], which must be valid.
func elementSpan(text string, start, end, n int) (int, int) {
	for i := start; i < end; i++ {
		if strings.IndexByte(" \t\r\n[],", text[i]) >= 0 {
			continue
		}
		from := i
		for quoted := false; i < end && (quoted || strings.IndexByte(" \t\r\n[],", text[i]) < 0); i++ {
			switch text[i] {
			case '"':
				quoted = !quoted
			case '\\':
				i++
			}
		}
		i = min(i, end)
		if n == 0 {
			return from, i
		}
		n--
	}
	return start, end
}

// Path returns the path of an element of a value, such as y[3][2], with indices from
// 1. A negative element is the whole variable.
func (s *Set) Path(name string, element int) string {
	v, ok := s.values[name]
	if v.triplets != nil && v.triplets.name != "" {
		name = v.triplets.name
	}
	if !ok || element < 0 {
		return name
	}
	return name + v.path(v.place(element))
}

// place returns the position at which an element was written.
func (v Value) place(element int) int {
	if v.triplets == nil || v.triplets.order == nil {
		return element
	}
	return v.triplets.order[element]
}

// indices returns [i,j,…], as in the names of quantities; "" if there are none. The numbers count
// from 1.
func indices(at []int) string {
	if len(at) == 0 {
		return ""
	}
	return strings.ReplaceAll(fmt.Sprint(at), " ", ",")
}

// subscript returns the indices of an element given by its row-major index.
func subscript(shape []int, element int) string {
	var at []int
	stride := 1
	for _, n := range shape {
		stride *= n
	}
	for _, n := range shape {
		stride /= max(n, 1)
		if stride == 0 {
			return ""
		}
		at = append(at, element/stride+1)
		element %= stride
	}
	return indices(at)
}

// Errorf returns an error about a variable or, if element is not negative, about one of its
// elements. Begin the message with the result of [Set.Path].
func (s *Set) Errorf(name string, element int, format string, args ...any) *Error {
	return newError(s.Span(name, element), s.Path(name, element), fmt.Sprintf(format, args...), "")
}

// Element returns the value of an element by its name in CmdStan's files, such as theta.2.1.
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
