package data

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/lang/source"
)

// A table has a header line with the names of its columns and a line for each
// row; the separator is a comma, or a tab or a semicolon if the header has that
// and no comma. Each column is a variable, an array with an element for each
// row:
//
//   - of integers, if all of its fields are written so;
//   - of reals, if all are numbers (NaN and Inf among them);
//   - 0 and 1, if all are FALSE or TRUE, or false or true;
//   - otherwise a factor: its levels, the different texts in the order of the
//     alphabet, are counted from 1, as R does. The set keeps them, see
//     [Set.Levels].
//
// A field that is empty or NA is missing, and a fault of its column: the
// language has no missing values. Characters of a name that are not letters,
// digits or _ become _, so that Sepal.Length is read as Sepal_Length.

// ParseTable reads a table. The name of the file is used in messages only. The
// error, if any, is an [*Error].
func ParseTable(file, text string, o Options) (*Set, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	fail := func(line int, fix, format string, args ...any) error {
		return &Error{File: file, Line: line, Column: 1, Message: fmt.Sprintf(format, args...), Fix: fix}
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comment = '#'
	r.ReuseRecord = true
	r.TrimLeadingSpace = true
	if head := firstLine(text); strings.ToLower(path.Ext(strings.TrimSuffix(file, ".gz"))) == ".tsv" || !strings.Contains(head, ",") && strings.Contains(head, "\t") {
		r.Comma = '\t'
	} else if !strings.Contains(head, ",") && strings.Contains(head, ";") {
		r.Comma = ';'
	}
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, &Error{File: file, Message: "the file is empty", Fix: "write a header line with the names of the columns, then a line for each row"}
	}
	if err != nil {
		return nil, tableError(file, err)
	}
	columns := make([]column, len(header))
	used := map[string]int{}
	for i, h := range header {
		name := variableName(h)
		if name == "" && i == 0 {
			name = "row" // R writes the names of rows under none
		}
		if name == "" {
			return nil, fail(1, "give it one", "column %d has no name", i+1)
		}
		if first, twice := used[name]; twice {
			return nil, fail(1, "rename one of them", "columns %d and %d are both called %s", first+1, i+1, name)
		}
		if _, err := strconv.ParseFloat(strings.TrimSpace(h), 64); err == nil {
			return nil, fail(1, "write a first line with the names of the columns", "the first line has numbers and no names: %s", strings.TrimSpace(h))
		}
		used[name] = i
		columns[i].name = name
	}
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, tableError(file, err)
		}
		line, _ := r.FieldPos(0)
		for i, f := range fields {
			columns[i].add(strings.TrimSpace(f), line)
		}
	}
	s := &Set{file: file, values: map[string]Value{}}
	rows := 0
	for i := range columns {
		c := &columns[i]
		rows = len(c.fields)
		v, levels := c.value()
		if c.missing > 0 {
			if s.faults == nil {
				s.faults = map[string]*Error{}
			}
			s.faults[c.name] = newError(lineSpan(file, text, c.missing), fmt.Sprintf("%s[%d]", c.name, c.missingRow),
				fmt.Sprintf("%s has no value in row %d, and the language has no missing values", c.name, c.missingRow),
				"leave out the row, or give the places and the values of what is there as data of their own")
			s.addMembers(c.name, nil)
			continue
		}
		s.add(c.name, v)
		if levels != nil {
			if s.levels == nil {
				s.levels = map[string][]string{}
			}
			s.levels[c.name] = levels
		}
	}
	for _, count := range o.Counts {
		n := rows
		if count.Of != "" {
			v, ok := s.values[count.Of]
			switch {
			case !ok:
				return nil, &Error{File: file, Message: fmt.Sprintf("there is no column %s whose levels could be counted", count.Of), Fix: "the columns are " + strings.Join(s.names, ", ")}
			case !v.IsInt:
				return nil, &Error{File: file, Message: fmt.Sprintf("the column %s has real numbers: it has no levels", count.Of)}
			case s.levels[count.Of] != nil:
				n = len(s.levels[count.Of])
			default:
				n = 0
				for _, x := range v.Ints {
					n = max(n, int(x))
				}
			}
		}
		if !s.add(count.Name, Value{IsInt: true, Ints: []int64{int64(n)}, Reals: []float64{float64(n)}}) {
			return nil, &Error{File: file, Message: fmt.Sprintf("there is a column %s already", count.Name), Fix: "choose another name for --count"}
		}
	}
	return s, nil
}

func tableError(file string, err error) error {
	e := &Error{File: file, Message: err.Error()}
	var p *csv.ParseError
	if errors.As(err, &p) {
		e.Line, e.Column, e.Message = p.Line, max(p.Column, 1), p.Err.Error()
		if errors.Is(p.Err, csv.ErrFieldCount) {
			e.Message, e.Fix = "this row has another number of fields than the header", "write one field for each column, in quotes if it holds a comma"
		}
	}
	return e
}

// lineSpan is a line of a text, counted from 1.
func lineSpan(file, text string, line int) source.Span {
	start := 0
	for range line - 1 {
		start += strings.IndexByte(text[start:], '\n') + 1
	}
	return source.Span{File: source.NewFile(file, text), Start: start, End: start + len(strings.TrimRight(firstLine(text[start:]), "\r"))}
}

// variableName makes a name of the language of a column's.
func variableName(h string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, strings.TrimSpace(h))
	return strings.Trim(name, "_")
}

// column is one that is being read.
type column struct {
	name                string
	fields              []string
	missing, missingRow int // line and row of the first that is missing; 0: none
}

func (c *column) add(field string, line int) {
	c.fields = append(c.fields, strings.Clone(field))
	if c.missing == 0 && (field == "" || field == "NA") {
		c.missing, c.missingRow = line, len(c.fields)
	}
}

// value makes an array of a column; levels are those of a factor, else nil.
func (c *column) value() (v Value, levels []string) {
	v = Value{Shape: []int{len(c.fields)}, IsInt: true, Reals: make([]float64, 0, len(c.fields))}
	all := func(f func(field string) bool) bool {
		return !slices.ContainsFunc(c.fields, func(field string) bool { return !f(field) })
	}
	add := func(x float64) {
		v.Reals = append(v.Reals, x)
		if v.IsInt {
			v.Ints = append(v.Ints, int64(x))
		}
	}
	switch {
	case all(func(f string) bool {
		n, err := strconv.ParseInt(f, 10, 64)
		return err == nil && n > -1<<53 && n < 1<<53
	}):
		for _, f := range c.fields {
			n, _ := strconv.ParseInt(f, 10, 64)
			add(float64(n))
		}
	case all(func(f string) bool { _, ok := tableNumber(f); return ok }):
		v.IsInt = false
		v.firstReal = slices.IndexFunc(c.fields, func(f string) bool { _, err := strconv.ParseInt(f, 10, 64); return err != nil })
		for _, f := range c.fields {
			x, _ := tableNumber(f)
			add(x)
		}
	case all(func(f string) bool { _, ok := truth[f]; return ok }):
		for _, f := range c.fields {
			add(truth[f])
		}
	default:
		levels = slices.Clone(c.fields)
		slices.Sort(levels)
		levels = slices.Compact(levels)
		for _, f := range c.fields {
			i, _ := slices.BinarySearch(levels, f)
			add(float64(i + 1))
		}
	}
	return v, levels
}

var truth = map[string]float64{"TRUE": 1, "True": 1, "true": 1, "FALSE": 0, "False": 0, "false": 0}

func tableNumber(f string) (float64, bool) {
	switch strings.ToLower(f) {
	case "nan":
		return math.NaN(), true
	case "inf", "+inf":
		return math.Inf(1), true
	case "-inf":
		return math.Inf(-1), true
	}
	x, err := strconv.ParseFloat(f, 64)
	return x, (err == nil || errors.Is(err, strconv.ErrRange)) && !strings.ContainsAny(f, "xX_pPnN")
}
