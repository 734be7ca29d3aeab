package data

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/diag"
)

// Declarations say how the columns of a table are read, as texts that users write. The zero value
// is the default.
type Declarations struct {
	// NA is what happens to missing values: error, drop or keep; or of one column, as in age=drop.
	// The former is for the columns that are used.
	NA []string

	// Missing has texts that mean that there is no value: WORD, or COLUMN=WORD.
	Missing []string

	// Read says how columns are read, in the notation of [ParseHow]: COLUMN=HOW for columns
	// separated by commas; or HOW for those that seem to need it. nonmem is for the whole table.
	Read []string
}

// DeclarationError says what is wrong with declarations. The message begins with the name of the
// declaration: na, missing or read.
type DeclarationError struct{ Message string }

func (e *DeclarationError) Error() string { return e.Message }

func declarationError(format string, args ...any) error {
	return &DeclarationError{fmt.Sprintf(format, args...)}
}

// namedColumn is a column that a declaration names.
type namedColumn struct{ declaration, column string }

// Check returns a [*DeclarationError] if the texts cannot be read, whatever the columns are.
func (d Declarations) Check() error {
	_, _, err := d.holes(nil)
	if err == nil {
		_, err = d.columns(&Options{}, nil)
	}
	return err
}

// Parse adds the declarations to o and calls parse, which is one of the functions that parse
// tables. uses reports whether a column is used; nil means that all are. The error is that of
// parse or a [*DeclarationError].
func (d Declarations) Parse(o Options, uses func(column string) bool, parse func(Options) (*Set, error)) (*Set, error) {
	var named []namedColumn
	var err error
	used := uses
	if uses != nil { // columns whose levels are counted are too
		used = func(column string) bool {
			return uses(column) || slices.ContainsFunc(o.Counts, func(c Count) bool { return c.Of == column })
		}
	}
	if o.Holes, named, err = d.holes(used); err == nil {
		named, err = d.columns(&o, named)
	}
	if err != nil {
		return nil, err
	}
	set, err := parse(o)
	if err == nil && d.again(set, &o) {
		set, err = parse(o)
	}
	if err != nil {
		return nil, err
	}
	return set, d.fit(set, named)
}

// holes reads NA. of says what happens to missing values of a column. named has the columns that NA
// names.
func (d Declarations) holes(uses func(string) bool) (of func(column string) Holes, named []namedColumn, err error) {
	if len(d.NA) == 0 {
		return nil, nil, nil
	}
	all, own := HolesFault, map[string]Holes{}
	for _, text := range d.NA {
		column, what, isNamed := strings.Cut(text, "=")
		if !isNamed {
			column, what = "", text
		}
		h, ok := ParseHoles(strings.TrimSpace(what))
		switch column = strings.TrimSpace(column); {
		case !ok || isNamed && column == "":
			return nil, nil, declarationError("na must be error, drop, keep, or of one column as in age=drop, but is %q", text)
		case isNamed:
			own[column] = h
			named = append(named, namedColumn{"na", column})
		default:
			all = h
		}
	}
	return func(column string) Holes {
		if h, ok := own[column]; ok {
			return h
		}
		if uses != nil && !uses(column) {
			return HolesFault
		}
		return all
	}, named, nil
}

// columns reads Missing and Read into the options. The columns that they name are added to named.
func (d Declarations) columns(o *Options, named []namedColumn) ([]namedColumn, error) {
	for _, text := range d.Missing {
		m := ReadMissing(text)
		if m.Column != "" {
			named = append(named, namedColumn{"missing", m.Column})
		}
		o.Missing = append(o.Missing, m)
	}
	for _, text := range d.Read {
		list, what, given := strings.Cut(text, "=")
		if !given {
			list, what = "", text
		}
		how, err := ParseHow(what)
		if err != nil {
			return nil, declarationError("read %s: %v", text, err)
		}
		if o.How == nil {
			o.How = map[string]How{}
		}
		if how.As == "nonmem" {
			if given {
				return nil, declarationError("read nonmem is for the whole table, not for the columns %s", list)
			}
			o.How[""] = how
			continue
		}
		for column := range strings.SplitSeq(list, ",") {
			switch column = strings.TrimSpace(column); {
			case column != "":
				o.How[column], named = how, append(named, namedColumn{"read", column})
			case given:
				return nil, declarationError("read must be HOW, or COLUMN=HOW as in admitted=days, but is %q", text)
			}
		}
	}
	return named, nil
}

// again adds to the options how columns are read that a HOW without a column is about: those for
// which it is advised. It reports whether there are any.
func (d Declarations) again(set *Set, o *Options) bool {
	again := false
	for _, text := range d.Read {
		how, err := ParseHow(text)
		if err != nil { // it names a column
			continue
		}
		for _, c := range set.Columns() {
			if _, declared := o.How[c.Name]; !declared && c.How.As == "" && advised(set, c.Name, how.As) {
				o.How[c.Name], again = how, true
			}
		}
	}
	return again
}

// advised reports whether a column seems to need to be read in some way.
func advised(set *Set, column, as string) bool {
	e := set.Fault(column)
	switch {
	case as == "lowercase":
		return SameLetters(set.Levels(column)) != nil
	case e == nil:
		return false
	}
	return slices.ContainsFunc(e.Settings, func(s string) bool {
		needs, ok := strings.CutPrefix(s, "read="+column+"=")
		return ok && (needs == as || (needs == "days" || needs == "hours") && as != "number" && as != "levels")
	})
}

// fit returns an error if the declarations do not fit the data.
func (d Declarations) fit(set *Set, named []namedColumn) error {
	if !set.Table() {
		for _, given := range []struct {
			name string
			list []string
		}{{"na", d.NA}, {"missing", d.Missing}, {"read", d.Read}} {
			if len(given.list) > 0 && (given.name != "read" || set.how[""].As == "") {
				return declarationError("%s is for tables (CSV), but %s is none", given.name, set.File())
			}
		}
	}
	for _, n := range named {
		if slices.ContainsFunc(set.Columns(), func(c Column) bool { return c.Name == n.column }) {
			continue
		}
		text := fmt.Sprintf("%s: %s has no column %s", n.declaration, set.File(), n.column)
		if near := diag.Nearest(n.column, slices.Values(set.Names())); near != "" {
			text += "; did you mean " + near + "?"
		}
		return declarationError("%s", text)
	}
	return nil
}
