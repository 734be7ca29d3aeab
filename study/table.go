package study

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/model"
)

// Table is a source of data sets from a CSV table. Rows with the same values in some columns form a
// group. Each group is a data set with the columns as arrays; without groups, each row is a data
// set with scalars.
//
// The whole table decides the type of a column. So a group of integers in a column of real numbers
// is not taken for integers, and the levels of a factor are the same in all groups. An error in a
// row affects only its groups.
type Table struct {
	file    string
	columns []tableColumn
	groups  []tableGroup
	with    *data.Set
	counts  []data.Count
	scalar  bool
}

type tableColumn struct {
	name   string
	fields []string
	whole  bool
	levels []string // levels of a factor
}

type tableGroup struct {
	name string
	rows []int
	err  error
}

// TableOptions say how to divide a table into groups.
type TableOptions struct {
	Name   string       // in the results; "": the path
	By     []string     // columns whose values form the groups; nil: each row is one
	Counts []data.Count // further variables: the number of rows of a group, or of levels
	With   *data.Set    // further values for all groups; nil: none
}

// ReadTable reads a table. An error concerns the table as a whole, not single rows.
func ReadTable(path string, o TableOptions) (*Table, error) {
	text, err := data.ReadText(path, data.Options{})
	if err != nil {
		return nil, err
	}
	if o.Name == "" {
		o.Name = path
	}
	t := &Table{file: o.Name, with: o.With, counts: o.Counts, scalar: len(o.By) == 0}
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.Comment, r.TrimLeadingSpace, r.FieldsPerRecord = '#', true, -1
	head, _, _ := strings.Cut(text, "\n")
	if !strings.Contains(head, ",") {
		switch {
		case strings.Contains(head, "\t"):
			r.Comma = '\t'
		case strings.Contains(head, ";"):
			r.Comma = ';'
		}
	}
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: a table needs a header line with the names of its columns: %w", o.Name, err)
	}
	for i, h := range header {
		h = strings.TrimSpace(h)
		if h == "" && i == 0 {
			h = "row"
		}
		if h == "" || slices.ContainsFunc(t.columns, func(c tableColumn) bool { return c.name == h }) {
			return nil, fmt.Errorf("%s:1: column %d has no separate name: %q", o.Name, i+1, h)
		}
		t.columns = append(t.columns, tableColumn{name: h})
	}
	var by []int
	for _, name := range o.By {
		i := slices.IndexFunc(t.columns, func(c tableColumn) bool { return c.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s has no column %s to group by; the columns are %s", o.Name, name, strings.Join(header, ", "))
		}
		by = append(by, i)
	}
	if err := t.readRows(r, by); err != nil {
		return nil, err
	}
	if len(t.groups) == 0 {
		return nil, fmt.Errorf("%s has no rows below its header", o.Name)
	}
	for i := range t.columns {
		t.columns[i].decide()
	}
	return t, nil
}

// readRows reads the rows below the header.
func (t *Table) readRows(r *csv.Reader, by []int) error {
	at := map[string]int{}
	rows := 0
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		line := 0
		var broken error
		var p *csv.ParseError
		switch {
		case errors.As(err, &p):
			line, broken = p.StartLine, fmt.Errorf("%s:%d: %w", t.file, p.Line, p.Err)
		case err != nil:
			return err
		default:
			line, _ = r.FieldPos(0)
			if len(fields) != len(t.columns) {
				broken = fmt.Errorf("%s:%d: this row has %d fields, the header %d", t.file, line, len(fields), len(t.columns))
			}
		}
		name := fmt.Sprintf("row %d", rows+1)
		if len(by) > 0 && (broken == nil || len(fields) > slices.Max(by)) {
			var parts []string
			for _, i := range by {
				parts = append(parts, t.columns[i].name+"="+strings.TrimSpace(fields[i]))
			}
			name = strings.Join(parts, ", ")
		} else if len(by) > 0 { // its group is unknown
			name = fmt.Sprintf("line %d", line)
		}
		g, ok := at[name]
		if !ok {
			g = len(t.groups)
			at[name] = g
			t.groups = append(t.groups, tableGroup{name: name})
		}
		if broken != nil {
			t.groups[g].err = errors.Join(t.groups[g].err, broken)
		}
		t.groups[g].rows = append(t.groups[g].rows, rows)
		for i := range t.columns {
			field := ""
			if broken == nil {
				field = strings.TrimSpace(fields[i])
			}
			t.columns[i].fields = append(t.columns[i].fields, field)
		}
		rows++
	}
}

func missing(field string) bool { return field == "" || field == "NA" }

// decide determines the type of a column: a factor has no numbers at all.
func (c *tableColumn) decide() {
	c.whole = true
	numbers := 0
	for _, f := range c.fields {
		if missing(f) {
			continue
		}
		if _, err := strconv.ParseFloat(f, 64); err == nil {
			numbers++
			if _, err := strconv.ParseInt(f, 10, 64); err != nil {
				c.whole = false
			}
		}
	}
	if numbers > 0 {
		return
	}
	for _, f := range c.fields {
		if !missing(f) {
			c.levels = append(c.levels, f)
		}
	}
	slices.Sort(c.levels)
	c.levels = slices.Compact(c.levels)
}

// value reads a field.
func (c *tableColumn) value(f string) (float64, error) {
	switch {
	case missing(f):
		return math.NaN(), errors.New("it has no value, and the language has no missing values")
	case c.levels != nil:
		i, _ := slices.BinarySearch(c.levels, f)
		return float64(i + 1), nil
	}
	v, err := strconv.ParseFloat(f, 64)
	if err != nil {
		return math.NaN(), fmt.Errorf("%q is not a number, as others in its column are", f)
	}
	return v, nil
}

func (t *Table) Len() int { return len(t.groups) }

// Sets makes the data set of each group.
func (t *Table) Sets(ctx context.Context) iter.Seq[DataSet] {
	return func(yield func(DataSet) bool) {
		for _, g := range t.groups {
			if ctx.Err() != nil || !yield(t.group(g)) {
				return
			}
		}
	}
}

func (t *Table) group(g tableGroup) DataSet {
	out := DataSet{Name: filepath.ToSlash(t.file) + ": " + g.name, Err: g.err, Faults: map[string]error{}}
	if g.err != nil {
		return out
	}
	values := map[string]any{}
	for i := range t.columns {
		c := &t.columns[i]
		name := columnVariable(c.name)
		var reals []float64
		var ints []int
		for _, row := range g.rows {
			v, err := c.value(c.fields[row])
			if err != nil && out.Faults[name] == nil {
				out.Faults[name] = fmt.Errorf("%s: %s in row %d of the table: %w", t.file, c.name, row+1, err)
			}
			reals, ints = append(reals, v), append(ints, int(v))
		}
		switch {
		case t.scalar && c.whole:
			values[name] = ints[0]
		case t.scalar:
			values[name] = reals[0]
		case c.whole:
			values[name] = ints
		default:
			values[name] = reals
		}
	}
	for _, count := range t.counts {
		n := len(g.rows)
		if count.Of != "" {
			i := slices.IndexFunc(t.columns, func(c tableColumn) bool { return c.name == count.Of })
			if i < 0 {
				out.Err = fmt.Errorf("%s has no column %s whose levels could be counted", t.file, count.Of)
				return out
			}
			n = t.columns[i].count()
		}
		values[count.Name] = n
	}
	set, err := model.ReadData(values)
	if out.Err = err; err == nil && t.with != nil {
		set = t.with.Replace(set, nil)
	}
	out.Values = set
	return out
}

// count returns the number of levels.
func (c *tableColumn) count() int {
	if c.levels != nil {
		return len(c.levels)
	}
	most := 0
	for _, f := range c.fields {
		if v, err := strconv.Atoi(f); err == nil {
			most = max(most, v)
		}
	}
	return most
}

// columnVariable converts a column's name to a name in the language, as package data does.
func columnVariable(h string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, h)
	return strings.Trim(name, "_")
}
