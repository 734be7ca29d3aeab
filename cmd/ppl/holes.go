package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/diag"
)

// This file: --na, the treatment of missing values in a table.

// holeWhat maps the words of --na to their meaning.
var holeWhat = map[string]data.Holes{"error": data.HolesFault, "drop": data.HolesDrop, "keep": data.HolesKeep}

// holeWords completes the words of --na.
var holeWords = oneOf(slices.Sorted(maps.Keys(holeWhat))...)

// holes reads --na. of says what happens to missing values of a column, and named lists the columns
// that the flag names. A value without a column applies to the columns that the model declares.
func (in *input) holes() (of func(column string) data.Holes, named []string, err error) {
	if len(in.na) == 0 {
		return nil, nil, nil
	}
	all, own := data.HolesFault, map[string]data.Holes{}
	for _, text := range in.na {
		column, what, isNamed := strings.Cut(text, "=")
		if !isNamed {
			column, what = "", text
		}
		h, ok := holeWhat[strings.TrimSpace(what)]
		switch column = strings.TrimSpace(column); {
		case !ok || isNamed && column == "":
			return nil, nil, usagef("--na must be error, drop, keep, or of one column as in age=drop, but is %q", text)
		case isNamed:
			own[column] = h
			named = append(named, column)
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

// checkHoles returns an error if --na does not fit these data.
func checkHoles(set *data.Set, name string, named []string) error {
	if !set.Table() {
		return usagef("--na is for tables (CSV), but %s is none", name)
	}
	for _, column := range named {
		if slices.ContainsFunc(set.Columns(), func(c data.Column) bool { return c.Name == column }) {
			continue
		}
		text := fmt.Sprintf("--na: %s has no column %s", name, column)
		if near := diag.Nearest(column, slices.Values(set.Names())); near != "" {
			text += "; did you mean " + near + "?"
		}
		return usagef("%s", text)
	}
	return nil
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
