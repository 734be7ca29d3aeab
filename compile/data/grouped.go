package data

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// This file: the rows of a table as the rows of ragged variables.

// Grouped returns the set for a program in which the variable c.Name has the number of rows of each
// level of the column c.Of. All columns are sorted by these levels; the rows of a level keep their
// order. number is the variable with the number of levels, whose labels they become; "" if there is
// none. The columns each have one value for each level: that of its rows, which must all be equal.
// A value of c.Name that was not counted stays as it is.
func (s *Set) Grouped(c Count, number string, each []string) *Set {
	v, ok := s.values[c.Name]
	key, is := s.values[c.Of]
	if !ok || len(v.Shape) > 0 || !is || !slices.Contains(s.counts, c) || !slices.Equal(key.Shape, []int{s.rows}) {
		return s
	}
	out := *s
	out.values, out.faults, out.gaps = maps.Clone(s.values), maps.Clone(s.faults), maps.Clone(s.gaps)
	if out.faults == nil {
		out.faults = map[string]*Error{}
	}
	refuse := func(fix, format string, args ...any) *Set {
		out.faults[c.Name] = &Error{File: s.file, Path: c.Of, Message: fmt.Sprintf(format, args...), Fix: fix}
		delete(out.values, c.Name)
		return &out
	}
	levels := s.levels[c.Of]
	if s.as != nil && s.as.levels[number] != nil { // the levels of the fit
		given := s.as.levels[number]
		ints := make([]int64, s.rows)
		for i, k := range key.Ints {
			level := strconv.FormatInt(k, 10)
			if levels != nil {
				level = levels[k-1]
			}
			at := slices.Index(given, level)
			if at < 0 {
				return refuse("leave its rows out", "`%s` is %q in row %d, which is none of the %d levels in the data of the fit", c.Of, clip(level), i+1, len(given))
			}
			ints[i] = int64(at + 1)
		}
		key.Ints, levels = ints, given
	}
	groups := len(levels)
	if levels == nil {
		groups = int(slices.Max(append([]int64{0}, key.Ints...)))
		if i := slices.IndexFunc(key.Ints, func(k int64) bool { return k < 1 }); i >= 0 {
			return refuse("count its values from 1, or make them texts", "the column `%s` has the value %d in row %d, but groups count from 1", c.Of, key.Ints[i], i+1)
		}
		if groups > maxGroups*(s.rows+1) {
			return refuse("make its values texts, such as s17: then only those that occur are groups", "the column `%s` has the value %d in %d rows, and groups count from 1", c.Of, groups, s.rows)
		}
	}
	order := make([]int, s.rows)
	sizes := make([]int64, groups)
	for i := range order {
		order[i] = i
		sizes[key.Ints[i]-1]++
	}
	sorting.Stable(order, func(a, b int) int { return int(key.Ints[a] - key.Ints[b]) })
	for _, column := range s.columns {
		name := column.Name
		if column.byKey {
			continue
		}
		chosen := order
		if slices.Contains(each, name) {
			if chosen, out.faults[name] = s.firsts(name, c.Of, key.Ints, groups, levels); chosen == nil {
				delete(out.values, name)
				continue
			}
			delete(out.faults, name)
		}
		for _, in := range []map[string]Value{out.values, out.gaps} {
			if v, ok := in[name]; ok && len(v.Shape) > 0 && v.Shape[0] == s.rows {
				in[name] = v.Rows(chosen)
			}
		}
	}
	n := integers(sizes)
	n.apart = false
	out.values[c.Name] = n
	if number == "" {
		return &out
	}
	if _, given := out.values[number]; !given {
		out.named, out.names, out.counts = nil, slices.Clone(s.names), slices.Clone(s.counts)
		out.add(number, integers([]int64{int64(groups)}).single())
	}
	if v := out.values[number]; levels != nil && len(v.Ints) == 1 && v.Ints[0] == int64(groups) {
		out.levels = maps.Clone(s.levels)
		out.addLevels(number, levels)
		out.counts = append(slices.Clone(out.counts), Count{Name: number, Of: number})
	}
	return &out
}

// maxGroups is the largest number of groups by integers, as a multiple of the number of rows. It is
// beyond what sequences of numbers with gaps reach.
const maxGroups = 1000

// single returns a list of one number as this number.
func (v Value) single() Value {
	v.Shape = nil
	return v
}

// firsts returns the first row of each group in which the column has a value for each group; nil
// with an error if there is none, or if the column has different values.
func (s *Set) firsts(name, of string, keys []int64, groups int, levels []string) ([]int, *Error) {
	if e := s.faults[name]; e != nil {
		return nil, e
	}
	v := s.values[name]
	first := slices.Repeat([]int{-1}, groups)
	level := func(k int) string {
		if levels != nil {
			return strconv.Quote(clip(levels[k]))
		}
		return strconv.Itoa(k + 1)
	}
	for i, k := range keys {
		switch j := first[k-1]; {
		case j < 0:
			first[k-1] = i
		case v.Reals[i] != v.Reals[j]:
			return nil, &Error{File: s.file, Path: name, Message: fmt.Sprintf("`%s` is to have one value for each %s, but the rows of %s differ, such as rows %d and %d", name, of, level(int(k)-1), j+1, i+1),
				Fix: "correct the table, or declare a value for each row"}
		}
	}
	if k := slices.Index(first, -1); k >= 0 {
		return nil, &Error{File: s.file, Path: name, Message: fmt.Sprintf("`%s` has no value for %s %s, which has no rows", name, of, level(k)), Fix: "add a row for it, or give all data as JSON"}
	}
	return first, nil
}
