package data

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/lang/source"
)

// This file: files of one matrix. A file W.mtx in the format Matrix Market is the matrix W. A
// further table W.csv that only has columns for the row, the column and the value is the sparse
// matrix W.

// placeColumns are the columns of a table that has the values of a sparse matrix: the row, the
// column and the value. Those that R and SciPy write are the second ones.
var placeColumns = [][3]string{{"row", "column", "value"}, {"i", "j", "x"}, {"row", "col", "data"}}

// marketHeader begins a file in the format Matrix Market.
const marketHeader = "%%matrixmarket"

// isMarket reports whether a file is in the format Matrix Market, by its text or its name.
func isMarket(name, text string) bool {
	text = strings.TrimPrefix(text, "\ufeff")
	return len(text) >= len(marketHeader) && strings.EqualFold(text[:len(marketHeader)], marketHeader) || strings.EqualFold(path.Ext(name), ".mtx")
}

// stem returns the name of the matrix in a file: that of the file without folder and extensions.
func stem(file string) string {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	name, _, _ := strings.Cut(base, ".")
	return name
}

// matrixFile is the content of a file of one matrix.
type matrixFile struct {
	name string
	of   members
	text Text // what was read, not compressed

	// line returns the line of an element, from 1; for -1, that of the header or of the sizes.
	line func(element int) int
}

// span returns the place of an element in the file: its line.
func (m *matrixFile) span(element int) source.Span {
	at := lineSpan(m.text.File, m.text.Text, m.line(element))
	line := at.Text()
	at.Start += len(line) - len(strings.TrimLeft(line, " \t"))
	at.End = at.Start + len(strings.TrimSpace(line))
	return at
}

// linesOf returns the function line of a matrixFile whose elements are in these lines; 0 is an
// element that is not written.
func linesOf(lines []int32, sizes int) func(int) int {
	return func(element int) int {
		if element < 0 || lines[element] == 0 {
			return sizes
		}
		return int(lines[element])
	}
}

// add adds the matrix to the set s.
func (m *matrixFile) add(s *Set, file string) error {
	s.named = nil
	if !s.addMembers(m.name, m.of) {
		return &Error{File: file, Path: m.name, Message: fmt.Sprintf("%s also has `%s`, the name of this matrix", s.file, m.name), Fix: "name the file like the matrix in the program"}
	}
	if s.matrices == nil {
		s.matrices = map[string]*matrixFile{}
	}
	s.matrices[m.name] = m
	return nil
}

// integers returns a value of integers.
func integers(at []int64) Value {
	v := Value{Shape: []int{len(at)}, IsInt: true, Ints: at, Reals: make([]float64, len(at)), apart: true}
	for i, x := range at {
		v.Reals[i] = float64(x)
	}
	return v
}

// sparseMatrix returns a matrix with values at some places. size is nil if it is not known.
func sparseMatrix(t Text, line func(int) int, row, column []int64, w []float64, size []int64) *matrixFile {
	value := Value{Shape: []int{len(w)}, Reals: w, apart: true}
	m := &matrixFile{stem(t.File), members{{".row", integers(row)}, {".column", integers(column)}, {".value", value}}, t, line}
	if size != nil {
		m.of = append(m.of, member{".size", integers(size)})
	}
	return m
}

// parseMarket reads a file in the format Matrix Market. The error, if any, is an [*Error].
func parseMarket(file, text string, o Options) (*matrixFile, error) {
	memory, err := o.allow(file, len(text))
	if err != nil {
		return nil, err
	}
	whole, line := Text{file, text}, 0
	wrong := func(fix, format string, args ...any) error {
		return &Error{File: file, Line: line, Column: 1, Path: stem(file), Message: fmt.Sprintf(format, args...), Fix: fix}
	}
	next := func() []string { // the fields of the next line that is no comment; nil at the end
		for text != "" {
			var l string
			l, text, _ = strings.Cut(text, "\n")
			line++
			if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "%") {
				return strings.Fields(l)
			}
		}
		line++
		return nil
	}
	header, rest, _ := strings.Cut(strings.TrimPrefix(text, "\ufeff"), "\n")
	text, line = rest, 1
	words := strings.Fields(strings.ToLower(header))
	if len(words) != 5 || words[0] != marketHeader || words[1] != "matrix" || !slices.Contains([]string{"coordinate", "array"}, words[2]) {
		return nil, wrong("write `%%MatrixMarket matrix coordinate real general`", "the first line describes no matrix")
	}
	form, field, symmetry := words[2], words[3], words[4]
	if !slices.Contains([]string{"real", "integer", "double", "pattern"}, field) || form == "array" && field == "pattern" {
		return nil, wrong("write a real matrix", "values of the kind %q are not read", field)
	}
	if !slices.Contains([]string{"general", "symmetric", "skew-symmetric"}, symmetry) {
		return nil, wrong("write the whole matrix, as general", "matrices of the kind %q are not read", symmetry)
	}
	numbers := func(fields []string, n int, what string) ([]int64, error) {
		out := make([]int64, n)
		for i := range n {
			var err error
			if len(fields) <= i {
				return nil, wrong("a file may have been cut off; write it again", "%s is missing", what)
			}
			if out[i], err = strconv.ParseInt(fields[i], 10, 32); err != nil || out[i] < 0 {
				return nil, wrong("write "+what, "%q is no number of rows, columns or values", clip(fields[i]))
			}
		}
		return out, nil
	}
	if form == "array" {
		size, err := numbers(next(), 2, "the line with the numbers of rows and columns")
		if err != nil {
			return nil, err
		}
		return parseMarketArray(whole, symmetry, int(size[0]), int(size[1]), memory, next, &line, wrong)
	}
	size, err := numbers(next(), 3, "the line with the numbers of rows, columns and values")
	if err != nil {
		return nil, err
	}
	sizes := line
	if symmetry != "general" && size[0] != size[1] {
		return nil, wrong("write it as general", "a %s matrix has %d rows and %d columns", symmetry, size[0], size[1])
	}
	if size[2] > int64(len(text)) { // each takes several letters
		return nil, wrong("a file may have been cut off; write it again", "the file is too short for %d values", size[2])
	}
	if err := memory.take(size[2] * 2 * (6*8 + 4)); err != nil {
		return nil, err
	}
	var row, column []int64
	w := []float64{}
	var lines []int32
	seen := map[[2]int64]int{} // the line of each value
	add := func(i, j int64, x float64) {
		row, column, w, lines = append(row, i), append(column, j), append(w, x), append(lines, int32(line))
	}
	for range size[2] {
		fields := next()
		at, err := numbers(fields, 2, "a line with a row and a column for each value")
		if err != nil {
			return nil, err
		}
		if at[0] < 1 || at[0] > size[0] || at[1] < 1 || at[1] > size[1] {
			return nil, wrong("rows and columns count from 1", "row %d and column %d are not in a matrix of %d rows and %d columns", at[0], at[1], size[0], size[1])
		}
		x := 1.0
		if field != "pattern" {
			if len(fields) != 3 {
				return nil, wrong("write the row, the column and the value", "this line has %s", elements(len(fields)))
			}
			if x, err = strconv.ParseFloat(fields[2], 64); err != nil {
				return nil, wrong("write a number, or leave out the line if the value is 0", "the value %q is no number", clip(fields[2]))
			}
		}
		place := [2]int64{at[0], at[1]}
		if before := seen[place]; before > 0 {
			return nil, wrong("give one value, such as their sum", "row %d and column %d have a value in line %d already", at[0], at[1], before)
		}
		seen[place] = line
		add(at[0], at[1], x)
		switch {
		case symmetry == "general" || at[0] == at[1] && symmetry == "symmetric":
		case at[0] <= at[1]:
			return nil, wrong("write the values below the diagonal only", "a %s matrix has a value for row %d and column %d", symmetry, at[0], at[1])
		case symmetry == "symmetric":
			add(at[1], at[0], x)
		default:
			add(at[1], at[0], -x)
		}
	}
	if next() != nil {
		return nil, wrong("correct the number of values in the line of sizes", "there are more than %d values", size[2])
	}
	return sparseMatrix(whole, linesOf(lines, sizes), row, column, w, size[:2]), nil
}

// parseMarketArray reads the values of a matrix of m rows and n columns, column by column. line is
// that of the fields that next returned last.
func parseMarketArray(t Text, symmetry string, m, n int, memory *allowance, next func() []string, line *int, wrong func(fix, format string, args ...any) error) (*matrixFile, error) {
	if symmetry != "general" && m != n {
		return nil, wrong("write it as general", "a %s matrix has %d rows and %d columns", symmetry, m, n)
	}
	if err := memory.take((8 + 4) * int64(m) * int64(n)); err != nil {
		return nil, err
	}
	sizes, lines := *line, make([]int32, m*n)
	v := Value{Shape: []int{m, n}, Reals: make([]float64, m*n), apart: true}
	for j := range n {
		first := 0
		switch symmetry {
		case "symmetric":
			first = j
		case "skew-symmetric":
			first = j + 1
		}
		for i := first; i < m; i++ {
			fields := next()
			if len(fields) != 1 {
				return nil, wrong("write one value in each line, column by column", "there is no value for row %d and column %d", i+1, j+1)
			}
			x, err := strconv.ParseFloat(fields[0], 64)
			if err != nil {
				return nil, wrong("write a number", "the value %q is no number", clip(fields[0]))
			}
			v.Reals[i*n+j], lines[i*n+j] = x, int32(*line)
			switch symmetry {
			case "symmetric":
				v.Reals[j*n+i], lines[j*n+i] = x, int32(*line)
			case "skew-symmetric":
				v.Reals[j*n+i], lines[j*n+i] = -x, int32(*line)
			}
		}
	}
	if next() != nil {
		return nil, wrong("correct the line of sizes", "there are more values than the matrix has elements")
	}
	return &matrixFile{stem(t.File), members{{"", v}}, t, linesOf(lines, sizes)}, nil
}

// headerOf returns the names in the first line of a table, in lower case. It is not nil.
func headerOf(text string) []string {
	line := strings.ToLower(firstLine(strings.TrimPrefix(text, "\ufeff")))
	return append([]string{}, strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(",;\t\"' \r", r) })...)
}

// matrixOf returns the matrix that a file has; nil if it has other data. A table can be one if it
// is given after other data, whose first line has the names before. If these have its columns, the
// tables are to be matched.
func matrixOf(t Text, before []string, o Options) (*matrixFile, error) {
	plain, name, err := unpacked(t.File, t.Text, o)
	if err != nil {
		return nil, err
	}
	if isMarket(name, plain) {
		return parseMarket(t.File, plain, o)
	}
	names := headerOf(plain)
	has := func(c string) bool { return slices.Contains(names, c) }
	for _, c := range placeColumns {
		if before == nil || !has(c[0]) || !has(c[1]) || len(names) > 3 || len(names) == 3 && !has(c[2]) || slices.Contains(before, c[0]) {
			continue
		}
		return tableMatrix(Text{t.File, plain}, c, o)
	}
	return nil, nil
}

// tableMatrix reads a table with the columns of a sparse matrix. Without values, they are 1.
func tableMatrix(t Text, columns [3]string, o Options) (*matrixFile, error) {
	t.Text = strings.TrimPrefix(t.Text, "\ufeff")
	s, err := ParseTable(t.File, t.Text, Options{Limit: o.Limit, Memory: o.Memory})
	if err != nil {
		return nil, err
	}
	line := func(element int) int {
		r, _ := rowsOf(t.File, t.Text)
		for range element + 2 { // the header comes first
			r.Read() // it had no error above
		}
		at, _ := r.FieldPos(0)
		return at
	}
	var of [3]Value
	for i, name := range columns {
		for _, c := range s.columns {
			if !strings.EqualFold(c.Name, name) {
				continue
			}
			name = c.Name
		}
		if e := s.Fault(name); e != nil {
			other := *e
			other.Fix = "write a number; leave out the row if the element is 0"
			return nil, &other
		}
		v, ok := s.values[name]
		wrong := func(row int, fix, format string, args ...any) (*matrixFile, error) {
			return nil, &Error{File: t.File, Line: line(row), Column: 1, Path: name, Message: fmt.Sprintf(format, args...) + fmt.Sprintf(" in row %d", row+1), Fix: fix}
		}
		switch {
		case !ok: // the values
			v.Reals = slices.Repeat([]float64{1}, s.rows)
		case s.levels[name] != nil: // the column has a text, so that all its values are levels
			words := s.levels[name]
			row := max(0, slices.IndexFunc(v.Reals, func(level float64) bool { return notNumber(words[int(level)-1]) }))
			return wrong(row, "write numbers: a row and a column count from 1", "`%s` has the text %q", name, clip(words[int(v.Reals[row])-1]))
		case i < 2 && !v.IsInt && s.rows > 0:
			row := max(0, slices.IndexFunc(v.Reals, func(x float64) bool { return x != math.Trunc(x) || math.Abs(x) >= 1<<53 }))
			return wrong(row, "rows and columns count from 1", "`%s` is %v", name, v.Reals[row])
		}
		of[i] = v
	}
	return sparseMatrix(t, line, of[0].Ints, of[1].Ints, of[2].Reals, nil), nil
}
