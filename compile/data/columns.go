package data

import (
	"strings"
	"unicode"
)

// This file: what a table has, column by column, and what happens to its holes.

// Column is a column of a table as it was read.
type Column struct {
	Header  string // as the file has it
	Name    string // in a program, see [ColumnName]
	Missing int    // fields that are empty or NA, of all rows of the file
}

// Columns lists the columns of a table, in the order of the file; nil for other formats.
func (s *Set) Columns() []Column { return s.columns }

// Dropped is the number of rows of a table that were left out for their holes, see
// [Options].Holes.
func (s *Set) Dropped() int { return s.dropped }

// Holes is what happens to the fields of a column that are empty or NA.
type Holes uint8

const (
	// HolesFault makes the column a fault, which is reported if a program declares it.
	HolesFault Holes = iota
	// HolesDrop leaves out the rows.
	HolesDrop
	// HolesKeep reads them as NaN. The column is of reals then.
	HolesKeep
)

// hole reports whether a field has no value.
func hole(field string) bool {
	field = strings.TrimSpace(field)
	return field == "" || field == "NA"
}

// holes says what happens to the holes of each column.
func (o Options) holes(columns []column) (of []Holes, drop bool) {
	of = make([]Holes, len(columns))
	if o.Holes == nil {
		return of, false
	}
	for i, c := range columns {
		of[i] = o.Holes(c.name)
		drop = drop || of[i] == HolesDrop
	}
	return of, drop
}

// dropped reports whether the rows with these fields are left out.
func dropped(of []Holes, fields []string) bool {
	for i, f := range fields {
		if of[i] == HolesDrop && hole(f) {
			return true
		}
	}
	return false
}

// ColumnName is the name in a program of a column with a header: letters, digits and underscores
// stay, all between them becomes one underscore, and none begins or ends the name. An x begins it
// where a digit would.
func ColumnName(header string) string {
	var b strings.Builder
	gap := false
	for _, r := range header {
		switch {
		case r < unicode.MaxASCII && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)):
			if gap && r != '_' && !strings.HasSuffix(b.String(), "_") {
				b.WriteByte('_')
			}
			b.WriteRune(r)
			gap = false
		default:
			gap = true
		}
	}
	name := strings.Trim(b.String(), "_")
	if name != "" && unicode.IsDigit(rune(name[0])) {
		name = "x" + name
	}
	return name
}
