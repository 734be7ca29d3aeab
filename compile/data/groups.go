package data

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// This file: a table whose rows are divided into groups, each with its own set of values.

// Groups is a table divided into groups of rows. The whole table decides the type and the levels of
// a column, so that they are the same in all groups. An error in a row affects only its group.
type Groups struct {
	by      []string // columns whose values form the groups; nil: each row is one
	whole   *Set
	groups  []group
	at      map[string]int              // groups by name
	columns []int                       // the numbers of the columns of by
	faults  map[string]map[int]rowFault // for each column with faults, the faulty rows
	counts  []Count
	counted map[string]int // numbers of levels
}

// group is a group of rows.
type group struct {
	name string
	rows []int
	err  error // why the rows cannot be read
}

// rowFault is the fault of a field, at a line and column of the file.
type rowFault struct {
	line, at int
	err      *Error // nil: the value is missing
}

// rowFaultSize is about the memory in bytes that a rowFault takes.
const rowFaultSize = 64

// ParseGroups reads a table and divides its rows into groups: those that have the same texts in
// some columns. If by is nil, each row is a group, whose values are scalars. Counts of rows are
// those of a group. The error, if any, is an [*Error] about the whole table.
func ParseGroups(file, text string, by []string, o Options) (*Groups, error) {
	g := &Groups{by: by, at: map[string]int{}, faults: map[string]map[int]rowFault{}, counts: o.Counts, counted: map[string]int{}}
	o.groups = g
	s, err := Parse(file, text, o)
	if err != nil {
		return nil, err
	}
	if !s.table {
		return nil, &Error{File: file, Message: "only a table (CSV) has rows that can be divided into groups, and this file is not one", Fix: "give the file as a data set of its own"}
	}
	if len(g.groups) == 0 {
		return nil, &Error{File: file, Message: "the table has no rows below its header", Fix: "write a line for each row"}
	}
	for _, c := range s.counts {
		g.counted[c.Name] = int(s.values[c.Name].Ints[0])
		s.names = slices.DeleteFunc(s.names, func(name string) bool { return name == c.Name })
		delete(s.values, c.Name)
	}
	g.whole = s
	return g, nil
}

// Len returns the number of groups.
func (g *Groups) Len() int { return len(g.groups) }

// Whole returns the table without its groups, and without what is counted.
func (g *Groups) Whole() *Set { return g.whole }

// Name returns the name of a group, such as clinic=b or row 3.
func (g *Groups) Name(i int) string { return g.groups[i].name }

// Set returns the values of a group. Columns with a faulty field in a row of the group are faults
// of the set. The error, if any, says why the rows cannot be read.
func (g *Groups) Set(i int) (*Set, error) {
	of := g.groups[i]
	if of.err != nil {
		return nil, of.err
	}
	s := g.whole.chosen(of.rows)
	s.named, s.names, s.faults = nil, slices.Clone(s.names), maps.Clone(s.faults)
	for name, rows := range g.faults {
		for _, row := range of.rows {
			f, faulty := rows[row]
			if !faulty {
				continue
			}
			delete(s.values, name)
			if s.faults == nil {
				s.faults = map[string]*Error{}
			}
			s.faults[name] = f.of(s.file, name, row+1)
			break
		}
	}
	if len(g.by) == 0 {
		for name, v := range s.values {
			v.Shape = nil
			s.values[name] = v
		}
	}
	for _, c := range g.counts {
		n := len(of.rows)
		if c.Of != "" {
			n = g.counted[c.Name]
		}
		s.add(c.Name, Value{IsInt: true, Ints: []int64{int64(n)}, Reals: []float64{float64(n)}})
	}
	return s, nil
}

// of returns the error of the fault, in a column and a row from 1.
func (f rowFault) of(file, name string, row int) *Error {
	e := f.err
	if e == nil {
		e = missingValue(name, row, f.line, f.at)
	}
	e.File = file
	return e
}

// find determines the columns that form the groups.
func (g *Groups) find(file string, columns []column) error {
	for _, name := range g.by {
		i := slices.IndexFunc(columns, func(c column) bool { return c.header == name || c.name == name })
		if i < 0 {
			var known []string
			for _, c := range columns {
				known = append(known, c.header)
			}
			return &Error{File: file, Message: fmt.Sprintf("there is no column %s to group by", name), Fix: "the columns are " + strings.Join(known, ", ")}
		}
		g.columns = append(g.columns, i)
	}
	return nil
}

// add adds a row, counted from 0, to its group. broken is the error of a row that cannot be read.
func (g *Groups) add(fields []string, columns []column, row int, broken *Error) {
	name := fmt.Sprintf("row %d", row+1)
	switch {
	case len(g.by) == 0:
	case len(fields) > slices.Max(g.columns):
		var parts []string
		for _, i := range g.columns {
			parts = append(parts, columns[i].header+"="+strings.TrimSpace(fields[i]))
		}
		name = strings.Join(parts, ", ")
	case broken != nil: // its group is unknown
		name = fmt.Sprintf("line %d", broken.Line)
	}
	i, ok := g.at[name]
	if !ok {
		i = len(g.groups)
		g.at[name] = i
		g.groups = append(g.groups, group{name: name})
	}
	g.groups[i].rows = append(g.groups[i].rows, row)
	if broken != nil {
		g.groups[i].err = errors.Join(g.groups[i].err, broken)
	}
}

// groupSize is the memory in bytes that a row takes in its group, without the name of the group.
const groupSize = 96

// confine records the fault of a row, counted from 0. The row has no value.
func (c *column) confine(memory *allowance, row int, f rowFault) error {
	if err := memory.take(rowFaultSize); err != nil {
		return err
	}
	c.rows[row] = f
	if row < len(c.reals) {
		c.reals[row] = math.NaN()
	}
	return nil
}

// confineText records the fault of a row, counted from 0, whose field is no number, in a column of
// numbers.
func (c *column) confineText(memory *allowance, field string, row, line, at int) error {
	if c.lacks(field) || isNumber(field) {
		return nil
	}
	return c.confine(memory, row, rowFault{line, at, &Error{Line: line, Column: at, Path: fmt.Sprintf("%s[%d]", c.name, row+1),
		Message:  fmt.Sprintf("%s is %q in row %d, and a number in %d of %d rows", c.name, clip(field), row+1, c.count, len(c.reals)),
		Fix:      "write a number; or say that the text means that there is no value",
		Settings: []string{"missing=" + quotedWord(field)}}})
}

// skip adds a row without a value.
func (c *column) skip(memory *allowance, line, at int, more func() int) (err error) {
	if c.reals, err = grown(memory, c.reals, more); err != nil {
		return err
	}
	c.reals = append(c.reals, math.NaN())
	if c.declared != nil {
		return c.declared.keep(memory, tableField{"", line, at, true}, more)
	}
	return nil
}

// missingValue returns the fault of a field without a value.
func missingValue(name string, row, line, at int) *Error {
	return &Error{Line: line, Column: at, Path: fmt.Sprintf("%s[%d]", name, row),
		Message:  fmt.Sprintf("%s has no value in row %d", name, row),
		Fix:      gapFix,
		Settings: []string{"na=drop"}}
}
