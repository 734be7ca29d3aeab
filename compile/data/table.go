package data

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/ppl-lang/ppl/lang/source"
)

// A table has a header line with the names of its columns, and a line for each row. The separator
// is a comma. It is a tab or a semicolon if the header has that and no comma. Each column is a
// variable, an array with an element for each row. Its values are:
//
//   - integers, if all fields are written as integers;
//   - reals, if all are numbers, including NaN and Inf;
//   - 0 and 1, if all are FALSE or TRUE, or false or true;
//   - otherwise the levels of a factor: the distinct strings in alphabetical order, counted from 1
//     as in R. The set keeps them, see [Set.Levels]. A column that consists mostly of numbers is
//     not a factor: another string in it is a fault.
//
// Rows can become the rows of ragged variables, see [Set.Grouped].
//
// An empty or NA field is a missing value. Since the language has none, the column is faulty;
// [Options].Holes may choose otherwise. [ColumnName] makes the names: Sepal.Length becomes
// Sepal_Length.

// ParseTable reads a table. The file name is only used in messages. The error, if any, is an
// [*Error].
func ParseTable(file, text string, o Options) (*Set, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	memory, err := o.allow(file, len(text))
	if err != nil {
		return nil, err
	}
	if err := memory.take(recordMemory(text)); err != nil {
		return nil, err
	}
	fail := func(line int, fix, format string, args ...any) error {
		return &Error{File: file, Line: line, Column: 1, Message: fmt.Sprintf(format, args...), Fix: fix}
	}
	r, semicolons := rowsOf(file, text)
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, &Error{File: file, Message: "the file is empty", Fix: "write a header line with the names of the columns, then a line for each row"}
	}
	if err != nil {
		return nil, tableError(file, err, 0, 0)
	}
	if err := memory.take(variableSize * int64(len(header))); err != nil {
		return nil, err
	}
	if plain, ok := source.PlainText(header[0]); ok && len(header) == 1 && strings.ContainsAny(plain, ",;") {
		return nil, fail(1, "write `,` or `;` between columns, with the characters of the keyboard", "the first line has no comma: %s", clip(header[0]))
	}
	columns := make([]column, len(header))
	used := map[string]int{}
	for i, h := range header {
		name := ColumnName(h)
		if name == "" && i == 0 {
			name = "row" // R leaves the header of row names empty
		}
		if name == "" {
			return nil, fail(1, "give it one", "column %d has no name", i+1)
		}
		if strings.ContainsFunc(strings.TrimSpace(h), unicode.IsControl) {
			return nil, fail(1, "write the name in one line; lines of the table end with a line feed", "the name of column %d has control characters: %q", i+1, clip(h))
		}
		if first, twice := used[name]; twice {
			return nil, fail(1, "rename one of them", "columns %d and %d are both called %s", first+1, i+1, name)
		}
		if _, err := strconv.ParseFloat(strings.TrimSpace(h), 64); err == nil {
			return nil, fail(1, "write a first line with the names of the columns", "the first line has numbers and no names: %s", strings.TrimSpace(h))
		}
		used[name] = i
		columns[i] = column{name: name, integers: true, numbers: true, truths: true, reals: []float64{}}
		if o.groups != nil {
			columns[i].rows = map[int]rowFault{}
		}
		columns[i].declared, columns[i].absent, columns[i].semicolons = o.howDeclared(name), o.missingWords(name), semicolons
		columns[i].plain = columns[i].declared == nil && len(columns[i].absent) == 0
		if o.As != nil {
			columns[i].given, columns[i].open = o.As.levels[name], o.NewLevels
			if zeros := o.As.zeros[name]; zeros != nil {
				columns[i].given = zeros
			}
		}
	}
	holes, drop := o.holes(columns)
	for i := range columns {
		columns[i].header, columns[i].holes = strings.Clone(strings.TrimSpace(header[i])), holes[i]
	}
	if o.groups != nil {
		if err := o.groups.find(file, columns); err != nil {
			return nil, err
		}
	}
	s := &Set{file: file, values: map[string]Value{}, table: true, missing: o.allMissing()}
	more := sync.OnceValue(func() int { return strings.Count(text, "\n") })
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var broken *Error
		if err != nil {
			if broken = tableError(file, err, len(fields), len(columns)); o.groups == nil {
				return nil, broken
			}
		}
		if broken == nil && drop && dropped(holes, columns, fields) {
			for i, f := range fields {
				if columns[i].lacks(f) {
					columns[i].missing++
				}
			}
			s.dropped++
			continue
		}
		if o.groups != nil {
			if err := memory.take(groupSize); err != nil {
				return nil, err
			}
			o.groups.add(fields, columns, len(columns[0].reals), broken)
		}
		if broken != nil {
			for i := range columns {
				if err := columns[i].skip(memory, broken.Line, 1, more); err != nil {
					return nil, err
				}
			}
			continue
		}
		for i, f := range fields {
			if columns[i].addQuickly(f) {
				continue
			}
			line, at := r.FieldPos(i)
			if err := columns[i].add(memory, strings.TrimSpace(f), line, at, more); err != nil {
				return nil, err
			}
		}
	}
	convertColumns(columns)
	again := func() rowReader { r, _ := rowsOf(file, text); return r }
	if err := levels(memory, again, columns, holes); err != nil {
		return nil, err
	}
	rows := 0
	for i := range columns {
		c := &columns[i]
		described := Column{Header: c.header, Name: c.name, Holes: c.holes, Missing: c.missing}
		if c.declared != nil {
			described.How = c.declared.how
			s.addHow(c.name, described.How)
		}
		s.columns = append(s.columns, described)
		rows = len(c.reals)
		if c.fault != nil {
			if c.missing > 1 {
				c.fault.Message += fmt.Sprintf(" (%d rows have none)", c.missing)
			}
			c.fault.File, c.fault.span = file, fieldSpan(file, text, c.fault.Line, c.fault.Column, c.faultLength)
			if c.fault == c.hole && (c.numbers || c.levels != nil) {
				v, err := c.value(memory)
				if err != nil {
					return nil, err
				}
				if s.addGaps(c.name, v, c.fault); c.levels != nil {
					s.addGapLevels(c.name, c.levels)
				}
				s.addNotInteger(c, v, file, text)
				continue
			}
			s.addFault(c.name, c.fault)
			continue
		}
		v, err := c.value(memory)
		if err != nil {
			return nil, err
		}
		s.add(c.name, v)
		if len(c.rows) > 0 {
			o.groups.faults[c.name] = c.rows
		}
		if c.levels != nil {
			s.addLevels(c.name, c.levels)
		}
		s.addNotInteger(c, v, file, text)
	}
	s.rows, s.as = rows, o.As
	return s, s.count(o)
}

// addNotInteger notes the first number of a column that is not an integer.
func (s *Set) addNotInteger(c *column, v Value, file, text string) {
	e := c.notInteger
	if e == nil || v.IsInt {
		return
	}
	if s.notIntegers == nil {
		s.notIntegers = map[string]func() *Error{}
	}
	// Find the position only when asked, because it takes another pass over the text and most such
	// columns are declared as reals.
	s.notIntegers[c.name] = sync.OnceValue(func() *Error {
		e.File, e.span = file, fieldSpan(file, text, e.Line, e.Column, c.notIntegerLength)
		n := c.notIntegers
		if c.holes != HolesKeep {
			n -= c.missing
		}
		if n > 1 {
			e.Message += fmt.Sprintf("; %d rows are no integers", n)
		}
		return e
	})
}

// tableError returns the error of a row that has another number of fields than there are columns.
func tableError(file string, err error, fields, columns int) *Error {
	e := &Error{File: file, Message: err.Error()}
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return e
	}
	e.Line, e.Column, e.Message = p.Line, max(p.Column, 1), p.Err.Error()
	switch {
	case errors.Is(p.Err, csv.ErrFieldCount):
		e.Message = fmt.Sprintf("this row has %d %s, but the header has %d", fields, map[bool]string{true: "field", false: "fields"}[fields == 1], columns)
		e.Fix = "write one field for each column, in quotes if it holds a comma"
	case errors.Is(p.Err, csv.ErrQuote):
		e.Message, e.Fix = "the quotes of a field do not end, or text follows them", `put the whole field in quotes, and write quotes within it twice: "a ""b"" c"`
	case errors.Is(p.Err, csv.ErrBareQuote):
		e.Message, e.Fix = "a quote within a field that is not in quotes", `put the whole field in quotes, and write quotes within it twice: "a ""b"" c"`
	}
	return e
}

// lineSpan returns the span of a line of a text, counted from 1.
func lineSpan(file, text string, line int) source.Span {
	start := 0
	for range line - 1 {
		start += strings.IndexByte(text[start:], '\n') + 1
	}
	return source.Span{File: source.NewFile(file, text), Start: start, End: start + len(strings.TrimRight(firstLine(text[start:]), "\r"))}
}

// fieldSpan returns the span of length bytes from a line and column, both counted from 1.
func fieldSpan(file, text string, line, column, length int) source.Span {
	s := lineSpan(file, text, line)
	// An empty field has a position, but no text.
	if start := s.Start + column - 1; start+length <= s.End {
		s.Start, s.End = start, start+length
	}
	return s
}

// recordMemory bounds the memory of the row reader for the longest row: a string and a position for
// each field. A quoted field may be as long as the text.
func recordMemory(text string) int64 {
	longest := 0
	for rest := text; rest != ""; {
		line := firstLine(rest)
		longest = max(longest, len(line))
		rest = rest[min(len(line)+1, len(rest)):]
	}
	n := 48 * int64(longest)
	if strings.Contains(text, `"`) {
		n += 3 * int64(len(text))
	}
	return n
}

// column is the state of a column while it is read.
type column struct {
	name, header              string
	holes                     Holes
	integers, numbers, truths bool // all fields so far are of this kind
	reals                     []float64
	firstReal                 int      // the first field that is not an integer
	count                     int      // number of numbers
	text                      string   // the first field that is not a number
	textRow, textLine, textAt int      // its position
	given                     []string // the prescribed levels; nil: those in the column
	open                      bool     // there may be other levels
	levels                    []string // of a factor
	fault                     *Error
	faultLength               int       // length of the faulty text
	declared                  *declared // how it was declared to be read; nil: its texts decide
	absent                    []string  // texts that mean that there is no value
	semicolons                bool      // whether they separate the columns
	plain                     bool      // its texts decide how it is read, and none is declared as missing
	hole                      *Error    // the error of the first missing value
	holeLength                int
	missing                   int                // fields without a value
	words                     map[string]float64 // while all fields are texts: their codes, which reals has; see addWord
	rows                      map[int]rowFault   // faults by row, from 0; nil: a fault makes the column faulty

	// The error of the first non-integer, for a variable declared int.
	notInteger                    *Error
	notIntegerLength, notIntegers int
	notNumber                     bool // notInteger is about NaN, while no number has a fraction
}

// addQuickly adds a field if it is a short number or a text that occurred before, and if there is
// memory for it. It reports whether it did; otherwise add has to.
func (c *column) addQuickly(field string) bool {
	if !c.plain || len(c.reals) == cap(c.reals) {
		return false
	}
	if c.words != nil {
		code, ok := c.words[field]
		if ok {
			c.notIntegers++
			c.reals = append(c.reals, code)
		}
		return ok
	}
	x, isInteger, ok := shortValue(field)
	if !ok || !isInteger && (c.notInteger == nil || c.notNumber) {
		return false
	}
	if !isInteger {
		c.integers = false
		c.notIntegers++
	}
	c.truths = false
	c.count++
	c.reals = append(c.reals, x)
	return true
}

// maxWords is the maximum number of texts of a column that get codes while it is read.
const maxWords = 1 << 10

// addWord returns the code of a text in a column that has had texts only, so that its levels need
// no second pass over the rows. If it may not be a factor, or has too many texts, it gives up the
// codes.
func (c *column) addWord(memory *allowance, field string, isWord bool) (code float64, err error) {
	if c.words == nil {
		c.words = map[string]float64{}
	}
	if !isWord || len(c.words) == maxWords {
		for word := range c.words {
			memory.give(wordSize(word))
		}
		c.words, c.plain = nil, false
		return 0, nil
	}
	code, known := c.words[field]
	if !known {
		if err := memory.take(wordSize(field)); err != nil {
			return 0, err
		}
		code = float64(len(c.words))
		c.words[strings.Clone(field)] = code
	}
	return code, nil
}

// wordSize is the memory in bytes that the text of a level takes.
func wordSize(word string) int64 { return levelSize + int64(len(word)) }

// add adds a field, which starts at a line and column. more guesses the number of further fields.
func (c *column) add(memory *allowance, field string, line, at int, more func() int) (err error) {
	row, written := len(c.reals)+1, field
	missing := c.lacks(field)
	if missing {
		c.missing++
	}
	if missing && c.rows != nil && c.holes == HolesFault {
		if err := c.confine(memory, row-1, rowFault{line: line, at: at}); err != nil {
			return err
		}
		return c.skip(memory, line, at, more)
	}
	if missing && c.hole == nil {
		c.holeLength, c.hole = len(field), missingValue(c.name, row, line, at)
	}
	switch {
	case missing && c.holes == HolesKeep:
		field = "NaN"
	case missing && c.rows == nil:
		if field = "NaN"; c.fault == nil {
			c.fault, c.faultLength = c.hole, c.holeLength
		}
	}
	if c.reals, err = grown(memory, c.reals, more); err != nil {
		return err
	}
	if d := c.declared; d != nil {
		c.integers, c.numbers, c.truths = false, false, false
		c.reals = append(c.reals, math.NaN())
		if d.how.As == "levels" || d.how.As == "lowercase" {
			return nil
		}
		return d.keep(memory, tableField{written, line, at, missing}, more)
	}
	x, isInteger, isNumber := tableValue(field)
	isTruth := false
	if c.fault == nil && isNumber && math.IsInf(x, 0) && strings.ContainsAny(field, "0123456789") {
		fault := &Error{Line: line, Column: at, Path: fmt.Sprintf("%s[%d]", c.name, row),
			Message: fmt.Sprintf("%s is %s in row %d, which is too large for a 64-bit floating-point number", c.name, clip(field), row),
			Fix:     "write Inf if an infinite value is meant"}
		if c.rows != nil {
			if err := c.confine(memory, row-1, rowFault{line, at, fault}); err != nil {
				return err
			}
		} else {
			c.fault, c.faultLength = fault, len(field)
		}
	}
	if !isNumber {
		x, isTruth = truth[field]
	}
	first := c.notInteger == nil || c.notNumber && isNumber && !math.IsNaN(x)
	if !isInteger && first && (isNumber || c.rows == nil) && !(missing && c.holes != HolesKeep) {
		c.firstReal, c.notNumber = row-1, math.IsNaN(x)
		c.notIntegerLength = len(written)
		c.notInteger = &Error{Line: line, Column: at, Path: fmt.Sprintf("%s[%d]", c.name, row),
			Message: fmt.Sprintf("%s must be an integer, but is %s in row %d", c.name, clip(written), row),
			Fix:     "write integers between -9007199254740991 and 9007199254740991, without a fraction; or declare " + c.name + " as real"}
	}
	if !isInteger && (isNumber || c.rows == nil) {
		c.notIntegers++
	}
	if isNumber {
		c.count++
	} else if c.textRow == 0 {
		c.text, c.textRow, c.textLine, c.textAt = strings.Clone(field), row, line, at
	}
	c.integers, c.numbers, c.truths = c.integers && isInteger, c.numbers && isNumber, c.truths && isTruth
	if isWord := !isNumber && !missing; c.words != nil || row == 1 && isWord && !isTruth && c.plain && c.rows == nil && c.given == nil {
		if x, err = c.addWord(memory, field, isWord); err != nil {
			return err
		}
	}
	c.reals = append(c.reals, x)
	return nil
}

// rewritten returns advice for a number in another notation: with a decimal comma, commas between
// thousands, a currency or percent sign, or characters that look like those of numbers. It returns
// "" for other strings.
func rewritten(text string) string {
	plain, found := source.PlainText(text)
	plain = strings.TrimSpace(plain)
	if found && isNumber(plain) {
		return "write `" + plain + "`, with the characters of the keyboard"
	}
	if decimalComma.MatchString(plain) {
		return "write a decimal point: " + strings.Replace(plain, ",", ".", 1)
	}
	bare := strings.TrimSpace(strings.Trim(plain, "%$€£ "))
	if isNumber(strings.ReplaceAll(bare, ",", "")) && (bare != plain || thousands.MatchString(bare)) {
		return "write the number alone: " + strings.ReplaceAll(bare, ",", "")
	}
	return ""
}

// limit returns how to write a text such as <0.5, which says that a value is below or above a
// limit; "" for other texts.
func limit(text, name string) string {
	for sign, kind := range map[string]string{"<": "censored_below", ">": "censored_above", "≤": "censored_below", "≥": "censored_above"} {
		number, ok := strings.CutPrefix(strings.TrimSpace(text), sign)
		number = strings.TrimSpace(strings.TrimPrefix(number, "="))
		if ok && isNumber(number) {
			return fmt.Sprintf("write the limit alone, %s, and declare the data as censored: vector<%s=%s>[N] %s", number, kind, number, name)
		}
	}
	return ""
}

var (
	decimalComma = regexp.MustCompile(`^[+-]?([0-9]*,[0-9]{1,2}|[0-9]*,[0-9]{4,}|0,[0-9]+)([eE][+-]?[0-9]+)?$`)
	thousands    = regexp.MustCompile(`^[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?$`)
)

// factor reports whether a column is a factor: its fields are strings.
func (c *column) factor() bool {
	return (c.fault == nil || c.fault == c.hole) && (c.given != nil || !c.integers && !c.numbers && !c.truths)
}

// levels finds the levels of the columns that are factors. If the codes of one are not known, it
// reads the rows once more.
func levels(memory *allowance, again func() rowReader, columns []column, holes []Holes) error {
	codes := make([]map[string]float64, len(columns))
	some := false
	for i := range columns {
		c := &columns[i]
		if !c.factor() {
			continue
		}
		if c.hole != nil { // missing, and not a level
			c.fault, c.faultLength = c.hole, c.holeLength
		}
		count := c.count // of numbers
		if c.declared == nil {
			count -= c.missing
		}
		isText := c.declared != nil || c.given != nil
		if c.rows != nil && !isText && count > len(c.reals)/2 {
			c.numbers, c.integers, some = true, c.notIntegers == 0, true // its texts are faults of their rows
			continue
		}
		if fix := limit(c.text, c.name); !isText && fix != "" {
			c.fault = &Error{Line: c.textLine, Column: c.textAt, Path: fmt.Sprintf("%s[%d]", c.name, c.textRow),
				Message: fmt.Sprintf("%s is %s in row %d, which is no number", c.name, clip(c.text), c.textRow), Fix: fix}
			c.faultLength = len(c.text)
			continue
		}
		if fix := rewritten(c.text); !isText && fix != "" {
			c.fault = &Error{Line: c.textLine, Column: c.textAt, Path: fmt.Sprintf("%s[%d]", c.name, c.textRow),
				Message: fmt.Sprintf("%s is %s in row %d, which is no number", c.name, clip(c.text), c.textRow), Fix: fix, Settings: []string{"read=" + c.name + "=number"}}
			c.faultLength = len(c.text)
			continue
		}
		if !isText && count > len(c.reals)/2 {
			c.fault = &Error{Line: c.textLine, Column: 1, Path: fmt.Sprintf("%s[%d]", c.name, c.textRow),
				Message:  fmt.Sprintf("%s is %q in row %d, and a number in %d of %d rows", c.name, clip(c.text), c.textRow, count, len(c.reals)),
				Fix:      "write a number; or say that the text means that there is no value, or that the column is a factor",
				Settings: []string{"missing=" + quotedWord(c.text), "read=" + c.name + "=levels"}}
			continue
		}
		if codes[i] = c.words; codes[i] == nil {
			codes[i], some = map[string]float64{}, true
		}
	}
	if some {
		if err := code(memory, again(), columns, holes, codes); err != nil {
			return err
		}
	}
	for i, m := range codes {
		if m == nil {
			continue
		}
		c := &columns[i]
		if c.levels = c.given; c.levels == nil {
			c.levels = slices.Sorted(maps.Keys(m))
			if fault := c.notLevels(c.levels); fault != nil {
				c.fault, c.faultLength, c.levels = fault, len(c.text), nil
				continue
			}
		} else if c.open {
			others := slices.DeleteFunc(slices.Sorted(maps.Keys(m)), func(l string) bool { return slices.Contains(c.given, l) })
			c.levels = slices.Concat(c.given, others)
		}
		order := make([]float64, len(m)) // for each code, the number of its level, from 1
		for k, level := range c.levels {
			if code, ok := m[level]; ok {
				order[int(code)] = float64(k + 1)
			}
		}
		for row, code := range c.reals {
			if math.IsNaN(code) { // the value of this row alone is missing
				continue
			}
			c.reals[row] = order[int(code)]
		}
		c.integers = c.hole == nil
	}
	return nil
}

// code reads the rows and replaces the texts of columns by codes, which it adds to codes where a
// column has them and not its words.
func code(memory *allowance, r rowReader, columns []column, holes []Holes, codes []map[string]float64) error {
	if _, err := r.Read(); err != nil {
		return err
	}
	for row := 0; ; row++ {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			continue // a row that was broken when it was read before, too
		}
		if dropped(holes, columns, fields) {
			row--
			continue
		}
		for i, f := range fields {
			if c := &columns[i]; c.rows != nil && c.numbers && c.text != "" && c.fault == nil {
				line, at := r.FieldPos(i)
				if err := c.confineText(memory, strings.TrimSpace(f), row, line, at); err != nil {
					return err
				}
			}
			if _, faulty := columns[i].rows[row]; codes[i] == nil || columns[i].words != nil || faulty {
				continue
			}
			if columns[i].hole != nil && columns[i].lacks(strings.TrimSpace(f)) {
				columns[i].reals[row] = math.NaN()
				continue
			}
			f = columns[i].level(strings.TrimSpace(f))
			code, ok := codes[i][f]
			if !ok {
				if given := columns[i].given; given != nil && !columns[i].open && !slices.Contains(given, f) {
					line, _ := r.FieldPos(i)
					columns[i].fault, codes[i] = unknownLevel(columns[i].name, f, row+1, line, given), nil
					continue
				}
				if err := memory.take(wordSize(f)); err != nil {
					return err
				}
				code = float64(len(codes[i]))
				codes[i][strings.Clone(f)] = code
			}
			columns[i].reals[row] = code
		}
	}
	return nil
}

// unknownLevel returns the fault of a column with a string that is not one of its prescribed
// levels.
func unknownLevel(name, text string, row, line int, given []string) *Error {
	return &Error{Line: line, Column: 1, Path: fmt.Sprintf("%s[%d]", name, row),
		Message: fmt.Sprintf("%s is %q in row %d, which is none of the %d levels in the data of the fit", name, clip(text), row, len(given)),
		Fix:     "the levels are " + someLevels(given) + "; others can be drawn from their distribution", Settings: []string{"new-levels=sample"}}
}

// levelSize is the memory in bytes that a level takes besides its string.
const levelSize = 128

// value returns the array of a column.
func (c *column) value(memory *allowance) (Value, error) {
	v := Value{Shape: []int{len(c.reals)}, Reals: c.reals}
	if c.integers || !c.numbers && c.truths {
		if err := memory.take(8 * int64(len(c.reals))); err != nil {
			return v, err
		}
		v.IsInt, v.Ints = true, make([]int64, len(c.reals))
		for i, x := range c.reals {
			if !math.IsNaN(x) { // the value of this row alone is missing
				v.Ints[i] = int64(x)
			}
		}
		return v, nil
	}
	v.firstReal = int32(c.firstReal)
	return v, nil
}

var truth = map[string]float64{"TRUE": 1, "True": 1, "true": 1, "FALSE": 0, "False": 0, "false": 0}

// tableValue reads a number. 1.0 counts as an integer, since programs that represent missing values
// as NaN write integer columns in this way.
func tableValue(f string) (x float64, isInteger, isNumber bool) {
	if x, isInteger, ok := shortValue(f); ok {
		return x, isInteger, true
	}
	digits := f
	if f != "" && (f[0] == '-' || f[0] == '+') {
		digits = f[1:]
	}
	whole, decimal := 0, digits != ""
	for i := range len(digits) {
		switch c := digits[i]; {
		case c-'0' <= 9:
			if whole == i {
				whole++
			}
		case c != '.' && c != 'e' && c != 'E' && c != '-' && c != '+':
			decimal = false
		}
	}
	rest := digits[whole:]
	if whole > 0 && (rest == "" || len(rest) > 1 && rest[0] == '.' && strings.Trim(rest[1:], "0") == "") {
		// Only integers that a float64 represents exactly are integers.
		n, err := strconv.ParseInt(f[:len(f)-len(rest)], 10, 64)
		if err == nil && n > -1<<53 && n < 1<<53 {
			return float64(n), true, true
		}
	}
	if !decimal {
		x, isNumber = specialField(f)
		return x, false, isNumber
	}
	x, err := strconv.ParseFloat(f, 64)
	return x, false, err == nil || errors.Is(err, strconv.ErrRange)
}

// shortValue reads numbers of at most 19 digits without an exponent, the most frequent case. It
// leaves integers of more than 15 digits to tableValue.
func shortValue(f string) (x float64, isInteger, ok bool) {
	pos := 0
	if f != "" && (f[0] == '-' || f[0] == '+') {
		pos = 1
	}
	if len(f)-pos > maxDigits+1 {
		return 0, false, false
	}
	n, first, point := uint64(0), pos, -1
	for ; pos < len(f); pos++ {
		c := f[pos]
		switch {
		case c-'0' <= 9:
			n = 10*n + uint64(c-'0')
		case c == '.' && point < 0:
			point = pos
		default:
			return 0, false, false
		}
	}
	digits, fraction := pos-first, 0
	if point >= 0 {
		digits, fraction = digits-1, pos-point-1
	}
	if digits == 0 || digits > maxDigits {
		return 0, false, false
	}
	isInteger = fraction == 0 && point < 0 || point > first && fraction > 0 && f[pos-1] == '0' && n%powers[fraction] == 0
	if isInteger && digits > 15 {
		return 0, false, false
	}
	x = decimal(n, fraction)
	if f[0] == '-' && (x != 0 || !isInteger) {
		x = -x
	}
	return x, isInteger, true
}

// specialField reads a field that is not a number written in digits.
func specialField(f string) (float64, bool) {
	if f == "" || strings.IndexByte("nNiI+-", f[0]) < 0 {
		return 0, false
	}
	switch strings.ToLower(f) {
	case "nan":
		return math.NaN(), true
	case "inf", "+inf":
		return math.Inf(1), true
	case "-inf":
		return math.Inf(-1), true
	}
	return 0, false
}

// isNumber reports whether a field is a number.
func isNumber(f string) bool {
	_, _, is := tableValue(f)
	return is
}

// ReadCounts parses the variables to count in a table: N or J=column.
func ReadCounts(list []string) []Count {
	var out []Count
	for _, c := range list {
		name, of, _ := strings.Cut(c, "=")
		out = append(out, Count{Name: strings.TrimSpace(name), Of: strings.TrimSpace(of)})
	}
	return out
}
