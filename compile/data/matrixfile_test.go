package data

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestMatrixFiles reads the same matrix from files of several formats.
func TestMatrixFiles(t *testing.T) {
	const market = "%%MatrixMarket matrix "
	main := Text{"data.json", `{"n": 3}`}
	table := Text{"data.csv", "y,z\n1,2\n2,3\n3,4\n"}
	full := []float64{0, -2, 0.5, 0, 0, 3}
	for _, c := range []struct {
		file Text
		want []float64 // of 2 rows and 3 columns, or a square matrix
	}{
		{Text{"W.mtx", market + "coordinate real general\n% comment\n\n2 3 3\n2 3 3\n1 3 0.5\n1 2 -2\n"}, full},
		{Text{"folder/W.x.MTX", strings.ToUpper(market) + "Array Real General\n2 3\n0\n0\n-2\n0\n0.5\n3\n"}, full},
		{Text{"W", market + "coordinate integer symmetric\r\n2 2 2\r\n1 1 4\r\n2 1 -1\r\n"}, []float64{4, -1, -1, 0}},
		{Text{"W", market + "array real symmetric\n2 2\n4\n-1\n0\n"}, []float64{4, -1, -1, 0}},
		{Text{"W", market + "coordinate real skew-symmetric\n2 2 1\n2 1 -1\n"}, []float64{0, 1, -1, 0}},
		{Text{"W", market + "array real skew-symmetric\n2 2\n-1\n"}, []float64{0, 1, -1, 0}},
		{Text{"W", market + "coordinate pattern general\n2 3 1\n1 2"}, []float64{0, 1, 0, 0, 0, 0}},
		{Text{"W", market + "coordinate real general\n2 2 0\n"}, []float64{0, 0, 0, 0}},
		{Text{`C:\data\W.csv`, "row,column,value\n2,3,3\n1,3,0.5\n1,2,-2\n"}, full},
		{Text{"W.csv", "\"\",\"i\",\"j\",\"x\"\n1,2,3,3\n2,1,3,0.5\n3,1,2,-2\n"}, full},
		{Text{"W.csv", "Value;Column;Row\n3;3;2\n0.5;3;1\n-2;2;1\n"}, full},
		{Text{"W.csv", "row,column\n1,2\n"}, []float64{0, 1}},
		{Text{"W.mtx", "\ufeff" + market + "coordinate pattern general\n2 3 1\n1 2"}, []float64{0, 1, 0, 0, 0, 0}},
		{Text{"W.csv", "row,column,value\n"}, []float64{}},
	} {
		columns := 3
		if len(c.want) == 4 || len(c.want) == 2 {
			columns = 2
		}
		for _, other := range []Text{main, table} {
			s, err := ParseJoined(other, []Text{c.file}, Options{})
			if err != nil {
				t.Errorf("%q: %v", c.file, err)
				continue
			}
			s = s.Triplets("W", "-count", "-row", "-column")
			v, _ := s.Get("W")
			row, _ := s.Get("-row")
			column, _ := s.Get("-column")
			got := make([]float64, len(c.want))
			for k, x := range v.Reals {
				got[(int(row.Ints[k])-1)*columns+int(column.Ints[k])-1] = x
			}
			if !slices.Equal(got, c.want) || s.Fault("W") != nil {
				t.Errorf("%q: %v, not %v: %v", c.file, got, c.want, s.Fault("W"))
			}
		}
	}
	// Tables that share a column are matched, and the order of files does not matter.
	s, err := ParseJoined(Text{"a.csv", "row,y\n1,5\n1,6\n"}, []Text{{"b.csv", "row,column\n1,8\n"}, {"W.mtx", market + "coordinate real general\n1 1 0\n"}}, Options{Counts: []Count{{Name: "N"}}})
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := s.Get("column"); !slices.Equal(v.Ints, []int64{8, 8}) {
		t.Errorf("column is %v", v.Ints)
	}
	if v, _ := s.Get("N"); !slices.Equal(v.Ints, []int64{2}) {
		t.Errorf("N is %v", v.Ints)
	}
	if s, err = ParseJoined(Text{"W.mtx", market + "coordinate real general\n1 1 0\n"}, []Text{main}, Options{}); err != nil || !slices.Equal(s.Names(), []string{"n", "W"}) {
		t.Errorf("a matrix before other data: %v", err)
	}
}

// TestMatrixFileFaults checks what messages say, and where.
func TestMatrixFileFaults(t *testing.T) {
	const market = "%%MatrixMarket matrix "
	for _, c := range []struct{ file, text, message string }{
		{"W.mtx", market + "coordinate complex general\n1 1 0\n", `W.mtx:1:1: values of the kind "complex" are not read`},
		{"W.mtx", market + "coordinate real hermitian\n1 1 0\n", `W.mtx:1:1: matrices of the kind "hermitian" are not read`},
		{"W.mtx", "%%MatrixMarket vector\n", "W.mtx:1:1: the first line describes no matrix"},
		{"W.mtx", market + "coordinate real general\n", "W.mtx:2:1: the line with the numbers of rows, columns and values is missing"},
		{"W.mtx", market + "coordinate real general\n2 2 2\n1 1 1\n", "W.mtx:4:1: a line with a row and a column for each value is missing"},
		{"W.mtx", market + "coordinate real general\n2 2 900000000\n", "W.mtx:2:1: the file is too short for 900000000 values"},
		{"W.mtx", market + "coordinate real general\n2 2 1\n1 3 1\n", "W.mtx:3:1: row 1 and column 3 are not in a matrix of 2 rows and 2 columns"},
		{"W.mtx", market + "coordinate real general\n2 2 1\n1 1\n", "W.mtx:3:1: this line has 2 elements"},
		{"W.mtx", market + "coordinate real general\n2 2 1\n1 1 NA\n", `W.mtx:3:1: the value "NA" is no number`},
		{"W.mtx", market + "coordinate real general\n2 2 1\n1 1 1\n1 2 1\n", "W.mtx:4:1: there are more than 1 values"},
		{"W.mtx", market + "coordinate real symmetric\n2 2 1\n1 2 1\n", "W.mtx:3:1: a symmetric matrix has a value for row 1 and column 2"},
		{"W.mtx", "2 2 1\n1 2\n", "W.mtx:1:1: the first line describes no matrix"},
		{"W.mtx", market + "coordinate real general\n% comment\n2 2 2\n1 2 1\n1 2 3\n", "W.mtx:5:1: row 1 and column 2 have a value in line 4 already"},
		{"W.mtx", market + "array real general\n2 2\n1\n", "W.mtx:4:1: there is no value for row 2 and column 1"},
		{"W.csv", "row,column,value\n1,2,\n", "W.csv:2:5: value has no value in row 1"},
		{"W.csv", "row,column,value\n1,b,1\n", "W.csv:2:1: `column` has the text \"b\" in row 1"},
		{"W.csv", "row,column,value\n1,1,2.0\n\n2,2,x\n", "W.csv:4:1: `value` has the text \"x\" in row 2"},
		{"W.csv", "row,column,value\n1,1.5,1\n", "W.csv:2:1: `column` is 1.5 in row 1"},
		{"W.csv", "row,column,value\n1,1,1\n1e300,1,1\n", "W.csv:3:1: `row` is 1e+300 in row 2"},
		{"n.csv", "row,column\n", "n.csv: data.json also has `n`, the name of this matrix"},
		{"more.json", "{}", "more.json: only tables (CSV) can be matched with each other, and this is another kind of file"},
	} {
		_, err := ParseJoined(Text{"data.json", `{"n": 3}`}, []Text{{c.file, c.text}}, Options{})
		if c.file == "more.json" {
			_, err = ParseJoined(Text{"data.csv", "y\n1\n"}, []Text{{c.file, c.text}}, Options{})
		}
		var e *Error
		if !errors.As(err, &e) || e.Error() != c.message || e.Fix == "" {
			t.Errorf("%q: %v, not %s", c.text, err, c.message)
		}
	}
}

// TestMatrixFilePlaces checks where elements of matrices from their own files are reported: in
// that file, not in the data that it was given with.
func TestMatrixFilePlaces(t *testing.T) {
	const market = "%%MatrixMarket matrix "
	for _, c := range []struct {
		file, text, name string
		element          int
		want             string // the file, the line, the column and the text
	}{
		{"W.csv", "row,column,value\n1,1,2\n4,1,3\n", "row", 1, "W.csv:3:1 4,1,3"},
		{"W.csv", "\ufeffrow,column,value\r\n\r\n4,1,2\r\n# comment\r\n1,1,3\r\n", "column", 0, "W.csv:5:1 1,1,3"}, // the first after sorting
		{"W.csv", "\"i\";\"j\"\n\n4;1\n", "row", 0, "W.csv:3:1 4;1"},
		{"W.csv", "row,column\n4,1\n", "W", -1, "W.csv:1:1 row,column"},
		{"W.mtx", market + "coordinate real general\n% comment\n3 2 2\n3 1 5\n\n  1 2 6\n", "W", 0, "W.mtx:6:3 1 2 6"},
		{"W.mtx", market + "coordinate real symmetric\n2 2 2\n2 1 5\n1 1 3\n", "W", 1, "W.mtx:3:1 2 1 5"},
		{"W.mtx", market + "coordinate real general\n% comment\n3 2 0\n", "W", -1, "W.mtx:3:1 3 2 0"},
		{"W.mtx", market + "array real general\n% comment\n2 2\n1\n2\n% comment\n 3\n4\n", "W", 1, "W.mtx:7:2 3"},
		{"W.mtx", market + "array real skew-symmetric\n2 2\n7\n", "W", 1, "W.mtx:3:1 7"},
		{"W.mtx", market + "array real skew-symmetric\n2 2\n7\n", "W", 0, "W.mtx:2:1 2 2"},
	} {
		s, err := ParseJoined(Text{"data.json", `{"n": 3}`}, []Text{{c.file, c.text}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(c.text, "array") {
			s = s.Triplets("W", "count", "row", "column")
		}
		at := s.Span(c.name, c.element)
		if got := at.Begin(); fmt.Sprintf("%s:%d:%d %s", at.File.Name, got.Line, got.Column, at.Text()) != c.want {
			t.Errorf("%q: element %d of %s is at %s:%d:%d, not %s", c.text, c.element, c.name, at.File.Name, got.Line, got.Column, c.want)
		}
		if got := s.Span("n", -1); got.File.Name != "data.json" || got.Text() != "3" {
			t.Errorf("n is at %v", got)
		}
	}
}
