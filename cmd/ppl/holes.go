package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	stan "github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/model"
)

// This file: --na, --missing and --read, which say how columns of a table are read.

// howWords completes the words of --read.
var howWords = oneOf(data.Hows()...)

// namedColumn is a column that a flag names.
type namedColumn struct{ flag, column string }

// holeWords completes the words of --na.
var holeWords = oneOf(data.HolesWords()...)

// holes reads --na. of says what happens to missing values of a column. The columns that the flag
// names are added to named. A value without a column applies to the columns that the model
// declares.
func (in *input) holes(named []namedColumn) (of func(column string) data.Holes, _ []namedColumn, err error) {
	if len(in.na) == 0 {
		return nil, named, nil
	}
	all, own := data.HolesFault, map[string]data.Holes{}
	for _, text := range in.na {
		column, what, isNamed := strings.Cut(text, "=")
		if !isNamed {
			column, what = "", text
		}
		h, ok := data.ParseHoles(strings.TrimSpace(what))
		switch column = strings.TrimSpace(column); {
		case !ok || isNamed && column == "":
			return nil, nil, usagef("--na must be error, drop, keep, or of one column as in age=drop, but is %q", text)
		case isNamed:
			own[column] = h
			named = append(named, namedColumn{"na", column})
		default:
			all = h
		}
	}
	return func(column string) data.Holes {
		if h, ok := own[column]; ok {
			return h
		}
		if in.uses != nil && !in.uses(column) {
			return data.HolesFault
		}
		return all
	}, named, nil
}

// columns reads --missing and --read into the options. The columns that these flags name are added
// to named.
func (in *input) columns(o *data.Options, named []namedColumn) ([]namedColumn, error) {
	for _, text := range in.missing {
		m := data.ReadMissing(text)
		if m.Column != "" {
			named = append(named, namedColumn{"missing", m.Column})
		}
		o.Missing = append(o.Missing, m)
	}
	for _, text := range in.how {
		list, what, given := strings.Cut(text, "=")
		if !given {
			list, what = "", text
		}
		how, err := data.ParseHow(what)
		if err != nil {
			return nil, usagef("--read %s: %v", text, err)
		}
		if o.How == nil {
			o.How = map[string]data.How{}
		}
		for column := range strings.SplitSeq(list, ",") {
			switch column = strings.TrimSpace(column); {
			case column != "":
				o.How[column], named = how, append(named, namedColumn{"read", column})
			case given:
				return nil, usagef("--read must be HOW, or COLUMN=HOW as in admitted=days, but is %q", text)
			}
		}
	}
	return named, nil
}

// checkColumns returns an error if --na, --missing or --read do not fit these data.
func checkColumns(set *data.Set, name string, named []namedColumn, o data.Options) error {
	if !set.Table() && (o.Holes != nil || o.Missing != nil || o.How != nil) {
		flag := "read"
		switch {
		case o.Holes != nil:
			flag = "na"
		case o.Missing != nil:
			flag = "missing"
		}
		return usagef("--%s is for tables (CSV), but %s is none", flag, name)
	}
	for _, n := range named {
		if slices.ContainsFunc(set.Columns(), func(c data.Column) bool { return c.Name == n.column }) {
			continue
		}
		text := fmt.Sprintf("--%s: %s has no column %s", n.flag, name, n.column)
		if near := diag.Nearest(n.column, slices.Values(set.Names())); near != "" {
			text += "; did you mean " + near + "?"
		}
		return usagef("%s", text)
	}
	return nil
}

// readAgain adds to the options how columns are read that a value of --read without a column is
// about: those for which it is advised. It reports whether there are any.
func (in *input) readAgain(set *data.Set, o *data.Options) bool {
	again := false
	for _, text := range in.how {
		how, err := data.ParseHow(text)
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
func advised(set *data.Set, column, as string) bool {
	e := set.Fault(column)
	switch {
	case as == "lowercase":
		return data.SameLetters(set.Levels(column)) != nil
	case e == nil:
		return false
	}
	return slices.ContainsFunc(e.Settings, func(s string) bool {
		needs, ok := strings.CutPrefix(s, "read="+column+"=")
		return ok && (needs == as || (needs == "days" || needs == "hours") && as != "number" && as != "levels")
	})
}

// suits makes data be read for a model.
func (in *input) suits(m *model.Model) { in.uses, in.sizes = m.Program().Declares, firstSizes(m) }

// byKey reports whether a column of a further table has a value for each level of the key, as the
// model declares it: with another size than the key.
func (in *input) byKey(column, key string) bool {
	of, keyOf := in.sizes[column], in.sizes[key]
	return of != "" && keyOf != "" && of != keyOf
}

// firstSizes returns the first sizes of the variables of a model's data, as they are written.
func firstSizes(m *model.Model) map[string]string {
	sizes := map[string]string{}
	tree, info := m.Program().Syntax()
	block := tree.Block(ast.Data)
	if block == nil {
		return sizes
	}
	for _, s := range block.Stmts {
		d, ok := s.(*ast.VarDecl)
		if !ok {
			continue
		}
		if all := slices.Concat(d.Type.ArrayDims, d.Type.Sizes); len(all) > 0 {
			sizes[info.Defs[d].Name] = stan.Line(all[0])
		}
	}
	return sizes
}

// droppedRows reports the rows that --na leaves out.
func droppedRows(stderr io.Writer, s *data.Set) {
	if s.Dropped() == 0 {
		return
	}
	var of []string
	for _, c := range s.Columns() {
		if c.Missing > 0 && c.Holes == data.HolesDrop {
			of = append(of, fmt.Sprintf("%s in %d", c.Name, c.Missing))
		}
	}
	printMessage(stderr, "%s: %s with holes left out (%s)", s.File(), counted(s.Dropped(), "row"), strings.Join(of, ", "))
}
