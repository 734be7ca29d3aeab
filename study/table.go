package study

import (
	"context"
	"iter"
	"path/filepath"

	"github.com/ppl-lang/ppl/compile/data"
)

// Table is a source of data sets from a table. Rows with the same texts in some columns form a
// group. Each group is a data set with the columns as arrays; without groups, each row is a data
// set with scalars. An error in a row affects only its group, see [data.ParseGroups].
type Table struct {
	name   string
	groups *data.Groups
	with   *data.Set
}

// TableOptions say how to divide a table into groups.
type TableOptions struct {
	Name    string                   // in the results; "": the path
	By      []string                 // columns whose texts form the groups; nil: each row is one
	Counts  []data.Count             // further variables: the number of rows of a group, or of levels
	Columns data.Declarations        // how columns are read
	Uses    func(column string) bool // whether a column is used; nil: all are
	With    *data.Set                // further values for all groups; nil: none
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
	t := &Table{name: filepath.ToSlash(o.Name), with: o.With}
	_, err = o.Columns.Parse(data.Options{Counts: o.Counts}, o.Uses, func(d data.Options) (*data.Set, error) {
		if t.groups, err = data.ParseGroups(t.name, text, o.By, d); err != nil {
			return nil, err
		}
		return t.groups.Whole(), nil
	})
	return t, err
}

func (t *Table) Len() int { return t.groups.Len() }

// Sets makes the data set of each group.
func (t *Table) Sets(ctx context.Context) iter.Seq[DataSet] {
	return func(yield func(DataSet) bool) {
		for i := range t.groups.Len() {
			if ctx.Err() != nil || !yield(t.group(i)) {
				return
			}
		}
	}
}

func (t *Table) group(i int) DataSet {
	out := DataSet{Name: t.name + ": " + t.groups.Name(i)}
	if out.Values, out.Err = t.groups.Set(i); out.Err == nil {
		out.add(t.with)
	}
	return out
}
