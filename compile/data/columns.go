package data

import (
	"slices"
	"strings"
	"unicode"
)

// This file describes the columns of a table and the treatment of missing values (holes).

// Column is a column of a table as it was read.
type Column struct {
	Header  string // as in the file
	Name    string // in a program, see [ColumnName]
	Missing int    // the number of fields that are empty or NA, in all rows of the file
	Holes   Holes  // what happens to missing values
	How     How    // the way in which it was declared to be read; the zero How: its texts decide

	byKey bool // it has a value for each level of a key, see [Options].ByKey
}

// Columns lists the columns of a table, in the order of the file; nil for other formats.
func (s *Set) Columns() []Column { return s.columns }

// Dropped returns the number of rows of a table that were left out because of missing values; see
// [Options].Holes.
func (s *Set) Dropped() int { return s.dropped }

// Holes is the treatment of missing values: the fields of a column that are empty or NA.
type Holes uint8

const (
	// HolesFault makes the column faulty. The fault is reported if a program declares the column.
	HolesFault Holes = iota
	// HolesDrop leaves out the rows with missing values.
	HolesDrop
	// HolesKeep reads missing values as NaN. The column then has reals.
	HolesKeep
)

// gapFix is the advice about missing elements.
const gapFix = "declare the variable with `missing`, as in vector<missing>[N] y or array[N] int<lower=0, upper=1, missing> y: then missing values are parameters; " +
	"or leave these rows out"

// lacks reports whether a field of the column means that a value is missing.
func (c *column) lacks(field string) bool {
	field = strings.TrimSpace(field)
	return field == "" || field == "NA" || slices.Contains(c.absent, field)
}

// holesWords are the words for the treatments, by number.
func holesWords() []string {
	return []string{HolesFault: "error", HolesDrop: "drop", HolesKeep: "keep"}
}

// HolesWords lists the words that [ParseHoles] reads.
func HolesWords() []string { return slices.Sorted(slices.Values(holesWords())) }

// String returns "error", "drop" or "keep".
func (h Holes) String() string {
	if words := holesWords(); int(h) < len(words) {
		return words[h]
	}
	return ""
}

// ParseHoles is the inverse of [Holes.String].
func ParseHoles(text string) (h Holes, ok bool) {
	i := slices.Index(holesWords(), text)
	return Holes(max(i, 0)), i >= 0
}

// holes returns the treatment of missing values for each column. drop reports whether any of them
// drops rows.
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

// dropped reports whether a row with these fields is left out.
func dropped(of []Holes, columns []column, fields []string) bool {
	for i, f := range fields {
		if of[i] == HolesDrop && columns[i].lacks(f) {
			return true
		}
	}
	return false
}

// ColumnName returns the name in a program of a column with a header. Letters, digits and
// underscores stay; each run of other characters becomes one underscore. Underscores at the
// beginning and end are dropped. If the name would begin with a digit, an x goes before it.
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
