package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
)

// This file: --na, the treatment of missing values in a table.

// holeWhat has the values of --na.
var holeWhat = map[string]data.Holes{"error": data.HolesFault, "drop": data.HolesDrop, "keep": data.HolesKeep}

// holeWords completes the values of --na.
var holeWords = oneOf(slices.Sorted(maps.Keys(holeWhat))...)

// holes reads --na. A column that the model does not declare has no effect.
func (in *input) holes() (func(column string) data.Holes, error) {
	if len(in.na) == 0 {
		return nil, nil
	}
	all, of := data.HolesFault, map[string]data.Holes{}
	for _, text := range in.na {
		column, what, named := strings.Cut(text, "=")
		if !named {
			column, what = "", text
		}
		h, ok := holeWhat[strings.TrimSpace(what)]
		switch column = strings.TrimSpace(column); {
		case !ok || named && column == "":
			return nil, usagef("--na must be error, drop, keep, or of one column as in age=drop, but is %q", text)
		case named:
			of[column] = h
		default:
			all = h
		}
	}
	return func(column string) data.Holes {
		if h, ok := of[column]; ok {
			return h
		}
		if in.uses != nil && !in.uses(column) {
			return data.HolesFault
		}
		return all
	}, nil
}

// droppedRows reports the rows that --na leaves out.
func droppedRows(stderr io.Writer, s *data.Set) {
	if s.Dropped() == 0 {
		return
	}
	var of []string
	for _, c := range s.Columns() {
		if c.Missing > 0 {
			of = append(of, fmt.Sprintf("%s in %d", c.Name, c.Missing))
		}
	}
	fmt.Fprintf(stderr, "%s: %s with holes left out (%s)\n", s.File(), counted(s.Dropped(), "row"), strings.Join(of, ", "))
}
