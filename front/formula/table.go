package formula

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
)

// column is a column of the table. Levels of a factor are numbered from 1.
type column struct {
	name   string
	isInt  bool
	levels []string // of a factor
	values []float64
	asInt  bool // the program declares it with integers
	zero   bool // its levels count from 0
}

// table is the table for which the model is written.
type table struct {
	set     *data.Set
	columns map[string]*column
	used    []*column // in the order of their first use
	rows    int
}

// newTable reads the columns of a set. rows is the number of rows if the set need not be a table:
// then its columns are the variables with one value per row; otherwise it is 0.
func newTable(set *data.Set, rows int) (*table, *Error) {
	t := &table{set: set, columns: map[string]*column{}, rows: rows}
	var names []string
	switch {
	case rows > 0:
		names = set.Names()
	case !set.Table():
		return nil, errorf(place{}, "give a CSV file with a header line", "%s is no table", set.File())
	default:
		for _, c := range set.Columns() {
			names = append(names, c.Name)
		}
	}
	for _, name := range names {
		v, ok := set.Get(name)
		if !ok || rows > 0 && (len(v.Shape) != 1 || v.Shape[0] != rows) {
			continue
		}
		t.rows = v.Shape[0]
		t.columns[name] = &column{name: name, isInt: v.IsInt, levels: set.Levels(name), values: v.Reals}
	}
	return t, nil
}

// column finds a column by its name in the formula or in the table.
func (t *table) column(name string, at place) (*column, *Error) {
	name = data.ColumnName(strings.Trim(name, "`"))
	c := t.columns[name]
	if c == nil {
		if fault := t.set.Fault(name); fault != nil {
			e := errorf(at, fault.Fix, "%s", fault.Message)
			if len(fault.Settings) > 0 {
				e.Setting = fault.Settings[0]
			}
			if e.Setting == "na=drop" {
				e.Fix = "leave out the rows with holes"
			}
			return nil, e
		}
		var names []string
		for _, c := range t.set.Columns() {
			names = append(names, c.Name)
		}
		if names == nil { // the data are no table
			names = slices.Sorted(maps.Keys(t.columns))
		}
		fix := "the columns are " + listed(names)
		if near := diag.Nearest(name, slices.Values(names)); near != "" {
			fix = "did you mean " + near + "? " + strings.ToUpper(fix[:1]) + fix[1:]
		}
		return nil, errorf(at, fix, "%s has no column %s", t.set.File(), name)
	}
	if len(c.values) == 0 {
		return nil, errorf(at, "give a table with rows", "%s has no rows", t.set.File())
	}
	if !declarable(name) {
		return nil, errorf(at, "rename the column in the table", "%s is a word of Stan's language and cannot name a variable", name)
	}
	if !slices.Contains(t.used, c) {
		t.used = append(t.used, c)
	}
	return c, nil
}

// declarable reports whether a name is valid for a variable.
func declarable(name string) bool {
	_, list := format.Source(source.NewFile("", "data {\n  real "+name+";\n}\n"))
	return !list.HasErrors()
}

// numbers returns an error if the column does not have numbers.
func (c *column) numbers(at place) *Error {
	if c.levels != nil {
		return errorf(at, "its levels are "+listed(c.levels), "%s is a column of texts, not of numbers", c.name)
	}
	return nil
}

// text returns the expression for the column as a vector in the program.
func (c *column) text() string {
	if c.asInt {
		return "to_vector(" + c.name + ")"
	}
	return c.name
}

// distinct lists the distinct values of a column of integers.
func (c *column) distinct() []float64 {
	out := slices.Clone(c.values)
	slices.Sort(out)
	return slices.Compact(out)
}

// comment describes the values of a column.
func (c *column) comment() string {
	if c.levels != nil {
		from := 1
		if c.zero {
			from = 0
		}
		var words []string
		for i, l := range c.levels {
			words = append(words, fmt.Sprintf("%d %s", from+i, plain(l)))
		}
		return listed(words)
	}
	least, greatest := slices.Min(c.values), slices.Max(c.values)
	if least == greatest {
		return short(least)
	}
	m, _ := moments(c.values)
	return fmt.Sprintf("%s to %s, mean %s", short(least), short(greatest), digits(m, 3))
}

// plain removes everything that would end a comment.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
}

// listed joins words; of many it lists only the first.
func listed(words []string) string {
	const shown = 8
	if len(words) > shown {
		return strings.Join(words[:shown], ", ") + fmt.Sprintf(", … (%d)", len(words))
	}
	return strings.Join(words, ", ")
}

// moments returns the mean and the standard deviation of numbers.
func moments(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / float64(max(len(x)-1, 1)))
}

// short formats a number as in the table.
func short(x float64) string { return plainNumber(fmt.Sprintf("%.6g", x)) }

// digits formats a number with some significant digits.
func digits(x float64, n int) string { return plainNumber(fmt.Sprintf("%.*g", n, x)) }

// plainNumber formats a number without an exponent: 100 instead of 1e+02.
func plainNumber(text string) string {
	if !strings.Contains(text, "e") {
		return text
	}
	var x float64
	fmt.Sscan(text, &x)
	if a := math.Abs(x); a >= 1e-4 && a < 1e7 {
		out := fmt.Sprintf("%f", x)
		return strings.TrimRight(strings.TrimRight(out, "0"), ".")
	}
	return strings.Replace(text, "e+", "e", 1)
}

// decimal adds a decimal point to an integer, since 1 / 3 would be an integer division.
func decimal(text string) string {
	if strings.ContainsAny(text, ".e") {
		return text
	}
	return text + ".0"
}
