package data

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// This file: columns that are read in a declared way, since their texts alone do not decide what
// they mean. dates.go has dates and times.

// How says how a column of a table is read.
type How struct {
	// As is number, levels or lowercase, or the unit of dates and times: seconds, minutes, hours,
	// days, weeks, months or years. It is nonmem for a whole table, under the name "".
	//
	// A number may have separators of thousands, a decimal comma, signs of currencies, and a unit,
	// which is the same in all rows that have one. levels makes any column a factor; lowercase also
	// ignores case. Months and years follow the calendar: the first days of months are a whole
	// number apart.
	As string

	// Since is the date that is 0, such as 2024-01-31 or 2024-01-31 08:30:00; "" is the earliest
	// date of all columns without an origin. For times of day it is midnight.
	Since string

	Order string // the order of dates such as 3/4/2024: dmy or mdy; "" is the one that all rows have
}

// Hows lists the values of [How].As.
func Hows() []string {
	return append([]string{"number", "levels", "lowercase", "nonmem"}, timeUnits...)
}

// ParseHow reads the notation of [How.String], such as days, days since 2024-01-31, or weeks mdy.
func ParseHow(text string) (How, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return How{}, fmt.Errorf("it is empty")
	}
	h := How{As: words[0]}
	if words = words[1:]; slices.Contains(Hows()[:4], h.As) && len(words) == 0 {
		return h, nil
	}
	if !slices.Contains(timeUnits, h.As) {
		return How{}, fmt.Errorf("%q is none of %s", text, strings.Join(Hows(), ", "))
	}
	if n := len(words); n > 0 && (words[n-1] == "dmy" || words[n-1] == "mdy") {
		h.Order, words = words[n-1], words[:n-1]
	}
	switch {
	case len(words) == 0:
	case words[0] != "since" || len(words) < 2:
		return How{}, fmt.Errorf("after %s comes since and a date, as in `days since 2024-01-31`, or the order dmy or mdy, but not %q", h.As, strings.Join(words, " "))
	default:
		text := strings.Join(words[1:], " ")
		at, ok := moment(text, "")
		if !ok {
			return How{}, fmt.Errorf("the origin is %q; write it as in 2024-01-31 or 2024-01-31 08:30", text)
		}
		h.Since = momentText(at)
	}
	return h, nil
}

// String returns the notation that [ParseHow] reads.
func (h How) String() string {
	text := h.As
	if h.Since != "" {
		text += " since " + h.Since
	}
	if h.Order != "" {
		text += " " + h.Order
	}
	return text
}

// declared is the state of a column that is read in a declared way.
type declared struct {
	how    How
	fields []tableField // one for each row
}

// tableField is a field of a table with its place.
type tableField struct {
	text     string
	line, at int
	missing  bool
}

// keep stores a field until all rows are read.
func (d *declared) keep(memory *allowance, f tableField, more func() int) (err error) {
	if d.fields, err = grown(memory, d.fields, more); err != nil {
		return err
	}
	if err := memory.take(int64(len(f.text))); err != nil {
		return err
	}
	f.text = strings.Clone(f.text)
	d.fields = append(d.fields, f)
	return nil
}

// convertColumns computes the values of the columns that are read in a declared way, after all rows
// have been read. It completes their origins.
func convertColumns(columns []column) {
	var timed []*column
	for i := range columns {
		c := &columns[i]
		switch {
		case c.declared == nil || c.fault != nil && c.fault != c.hole:
		case c.declared.how.As == "number":
			c.convertNumbers()
		case slices.Contains(timeUnits, c.declared.how.As):
			timed = append(timed, c)
		}
	}
	convertTimes(timed)
}

// convert sets the values of a column. value returns the number of a text, or an error and its
// remedy.
func (c *column) convert(value func(text string) (x float64, fault, fix string)) {
	c.integers, c.numbers, c.truths = true, true, false
	for row, f := range c.declared.fields {
		if f.missing { // the missing value is NaN
			c.integers = c.integers && c.rows != nil && c.holes == HolesFault
			continue
		}
		x, fault, fix := value(f.text)
		if fault != "" {
			e := &Error{Line: f.line, Column: f.at, Path: fmt.Sprintf("%s[%d]", c.name, row+1),
				Message: fmt.Sprintf("%s is %s in row %d, %s", c.name, clip(f.text), row+1, fault), Fix: fix,
				Settings: []string{"missing=" + quotedWord(f.text)}}
			if c.rows != nil {
				c.rows[row] = rowFault{f.line, f.at, e}
				continue
			}
			c.fault, c.faultLength = e, len(f.text)
			return
		}
		whole := x == math.Trunc(x) && math.Abs(x) < 1<<53
		if !whole && c.integers {
			c.firstReal, c.notIntegerLength = row, len(f.text)
			c.notInteger = &Error{Line: f.line, Column: f.at, Path: fmt.Sprintf("%s[%d]", c.name, row+1),
				Message: fmt.Sprintf("%s must be an integer, but is %s in row %d", c.name, strconv.FormatFloat(x, 'g', -1, 64), row+1),
				Fix:     "declare " + c.name + " as real"}
		}
		if !whole {
			c.notIntegers++
		}
		c.integers = c.integers && whole
		c.reals[row] = x
	}
}

// quotedWord returns a text as a word of a shell.
func quotedWord(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./%+,", r)
	}) && !strings.Contains(text, "'") {
		return "'" + text + "'"
	}
	return text
}

// convertNumbers reads numbers as people write them. A comma is a decimal comma if some field has
// one that cannot separate thousands; otherwise commas separate thousands. In a table with
// semicolons, a comma is a decimal comma in any case.
func (c *column) convertNumbers() {
	decimal, unit := c.semicolons, ""
	for _, f := range c.declared.fields {
		if f.missing {
			continue
		}
		digits, u := numberParts(f.text)
		if unit == "" {
			unit = u
		}
		if comma := strings.LastIndexByte(digits, ','); comma >= 0 && !thousands.MatchString(digits) && comma > strings.LastIndexByte(digits, '.') {
			decimal = true
		}
	}
	c.convert(func(text string) (float64, string, string) {
		digits, u := numberParts(text)
		if u != "" && u != unit {
			return 0, fmt.Sprintf("but other rows have the unit %q", unit), "write all rows in one unit"
		}
		plain := strings.ReplaceAll(digits, ",", "")
		if decimal {
			plain = strings.Replace(strings.ReplaceAll(digits, ".", ""), ",", ".", 1)
			if !strings.Contains(digits, ",") && !pointThousands.MatchString(digits) {
				plain = digits // it is a decimal point
			}
		}
		x, _, ok := tableValue(plain)
		if !ok {
			return 0, "which is no number", "write a number, or an empty field"
		}
		return x, "", ""
	})
}

// pointThousands matches integers whose thousands are separated by points.
var pointThousands = regexp.MustCompile(`^[+-]?[0-9]{1,3}(\.[0-9]{3})+$`)

// numberParts splits a text such as $1,234 or 72.5 kg into the number and its unit. It drops blanks
// and apostrophes, which separate thousands.
func numberParts(text string) (digits, unit string) {
	if isNumber(text) {
		return text, ""
	}
	inner := func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune(".,+-", r) }
	from, to := strings.IndexFunc(text, inner), strings.LastIndexFunc(text, unicode.IsDigit)
	if from < 0 || to < from {
		return text, ""
	}
	before, sign := strings.TrimSpace(text[:from]), ""
	if before == "\u2212" {
		before, sign = "", "-"
	}
	digits = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\'' || r == '\u2019' {
			return -1
		}
		return r
	}, text[from:to+1])
	return sign + digits, strings.TrimSpace(before + " " + strings.TrimSpace(text[to+1:]))
}

// level returns the level of a text in a factor.
func (c *column) level(text string) string {
	if c.declared != nil && c.declared.how.As == "lowercase" && text != "" {
		return strings.ToLower(text)
	}
	return text
}

// howDeclared returns the way in which a column is to be read; nil if its texts decide.
func (o Options) howDeclared(name string) *declared {
	h, ok := o.How[name]
	if !ok && o.As != nil {
		h, ok = o.As.how[name]
	}
	if !ok {
		return nil
	}
	return &declared{how: h}
}

// missingWords returns the texts that mean that a column has no value, besides empty ones and NA.
func (o Options) missingWords(name string) (words []string) {
	for _, m := range o.allMissing() {
		if m.Column == "" || m.Column == name {
			words = append(words, m.Word)
		}
	}
	return words
}

// allMissing lists the texts that mean that there is no value, with those of earlier data.
func (o Options) allMissing() []Missing {
	if o.As == nil {
		return o.Missing
	}
	list := slices.Clone(o.Missing)
	for _, m := range o.As.missing {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// Missing is a text in a table that means that there is no value.
type Missing struct {
	Column string // "": any column
	Word   string
}

// ReadMissing reads WORD or COLUMN=WORD.
func ReadMissing(text string) Missing {
	if column, word, ok := strings.Cut(text, "="); ok && ColumnName(column) == column {
		return Missing{column, word}
	}
	return Missing{Word: text}
}

// String returns the notation that [ReadMissing] reads.
func (m Missing) String() string {
	if m.Column == "" {
		return m.Word
	}
	return m.Column + "=" + m.Word
}

// SameLetters lists levels that differ only in the case of letters, as pairs of a level and the
// first such one.
func SameLetters(levels []string) (pairs [][2]string) {
	first := map[string]string{}
	for _, l := range levels {
		folded := strings.ToLower(l)
		if f, ok := first[folded]; ok {
			pairs = append(pairs, [2]string{f, l})
			continue
		}
		first[folded] = l
	}
	return pairs
}

// otherNotation reports whether a text is a number that is read only if it is declared.
func otherNotation(text string) bool {
	digits, unit := numberParts(text)
	if isNumber(text) || strings.Trim(unit, "%$€£¥") != "" {
		return false
	}
	return isNumber(digits) || thousands.MatchString(digits) || pointThousands.MatchString(digits) || decimalComma.MatchString(strings.ReplaceAll(digits, ".", ""))
}

// notLevels returns the fault of a column whose texts are mostly numbers, dates or times, and that
// is not declared to be a factor.
func (c *column) notLevels(levels []string) *Error {
	if c.declared != nil || c.given != nil {
		return nil
	}
	most := func(is func(string) bool) (example string, ok bool) {
		n := 0
		for _, l := range levels {
			if is(l) {
				if n++; n == 1 {
					example = l
				}
			}
		}
		return example, n > 2 && n > len(levels)/2
	}
	fault := func(format, example, fix string, units ...string) *Error {
		e := &Error{Line: c.textLine, Column: c.textAt, Path: fmt.Sprintf("%s[%d]", c.name, c.textRow),
			Message: c.name + fmt.Sprintf(format, clip(example)), Fix: fix}
		for _, unit := range units {
			e.Settings = append(e.Settings, "read="+c.name+"="+unit)
		}
		return e
	}
	if number, ok := most(otherNotation); ok {
		return fault(" has numbers such as %s in another notation", number, "read them as numbers, or as levels", "number", "levels")
	}
	for _, order := range []string{"dmy", "mdy"} {
		date, ok := most(func(l string) bool { _, is := moment(l, order); return is })
		if ok && timeOfDay.MatchString(date) {
			return fault(" has times such as %s, which are no numbers", date, "read them as hours since midnight, or as levels", "hours", "levels")
		}
		if ok {
			return fault(" has dates such as %s, which are no numbers", date, "read them as the number of days since the first, or as levels", "days", "levels")
		}
	}
	return nil
}
