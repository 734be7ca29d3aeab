package plotfile

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/internal/files"
)

// columns are the columns of the table of a figure. A cell is empty if its layer has no such
// number. The last two repeat the labels of the axes in each row, so that tables of several figures
// can be stacked, and so that a program that knows the header can read every table.
var columns = []string{"layer", "label", "mark", "name", "x", "y", "low", "high", "value", "x_axis", "y_axis"}

// saveTable writes the numbers of a figure, a row for each point, interval, bar or cell.
func saveTable(path string, r *report.Report, f report.Figure) error {
	return files.SaveBy(path, func(w io.Writer) error {
		out := csv.NewWriter(w)
		out.Write(columns)
		x, y := meaning(f.X), meaning(f.Y)
		for i, l := range r.Resolve(f) {
			for _, row := range rowsOf(f, &l) {
				row = append([]string{strconv.Itoa(i + 1), l.Label, string(l.Mark)}, row...)
				out.Write(append(row, x, y))
			}
		}
		out.Flush()
		return out.Error()
	})
}

// meaning returns what the numbers of an axis are: its label or, where names replace both label and
// numbers, a reference to the column of names.
func meaning(a report.Axis) string {
	if a.Label == "" && a.Names != nil {
		return "position of name"
	}
	return a.Label
}

// rowsOf returns the rows of a layer, from the column of names on.
func rowsOf(f report.Figure, l *report.Layer) (rows [][]string) {
	n := max(len(l.X), len(l.Y), len(l.Low), len(l.Z))
	for i := range n {
		x, y := at(l.X, i), at(l.Y, i)
		low, high := at(l.Low, i), at(l.High, i)
		switch l.Mark {
		case report.Step: // bars: their edges
			low = l.From + float64(i)*l.Step
			high = low + l.Step
			x = (low + high) / 2
		case report.Cells:
			x, y = l.X[i%len(l.X)], l.Y[i/len(l.X)]
		}
		name := ""
		switch {
		case i < len(l.Names):
			name = l.Names[i]
		case f.Y.Names != nil:
			name = named(f.Y.Names, y)
		case f.X.Names != nil:
			name = named(f.X.Names, x)
		}
		row := []string{name}
		for _, v := range []float64{x, y, low, high, at(l.Z, i)} {
			text := ""
			if !math.IsNaN(v) {
				text = strconv.FormatFloat(v, 'g', decimalDigits, 64)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows
}

// at returns an element, or NaN if there is none.
func at(values report.Values, i int) float64 {
	if i < len(values) {
		return values[i]
	}
	return math.NaN()
}

// named returns the name of a position on an axis.
func named(names []string, position float64) string {
	if i := int(position); float64(i) == position && i >= 0 && i < len(names) {
		return names[i]
	}
	return ""
}

// decimalDigits is the number of digits that every float64 keeps: more would show that 0.00078 is
// no binary fraction.
const decimalDigits = 15
