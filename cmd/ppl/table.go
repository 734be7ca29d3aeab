package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ppl-lang/ppl/infer/diagnose"
)

// column is a column of the summary table. On narrow terminals, columns are dropped in the order of
// drop; 0 is never dropped.
type column struct {
	title string
	cell  func(r row, decimals int) string
	drop  int
}

// row is a line of the table: a quantity, with the requested percentiles.
type row struct {
	diagnose.Row
	percentiles []float64
	label       string // the names of the levels that its indices stand for, if the data have them
}

// columns lists the columns of a table with the given percentiles.
func columns(percentiles []float64) []column {
	out := []column{
		{"", func(r row, _ int) string { return r.Name }, 0},
		{"mean", func(r row, d int) string { return figure(r.Mean, d) }, 0},
		{"mcse", func(r row, d int) string { return figure(r.MCSEMean, d) }, 2},
		{"sd", func(r row, d int) string { return figure(r.SD, d) }, 0},
	}
	for i, p := range percentiles {
		drop := 4
		if p == 50 {
			drop = 1
		}
		title := strconv.FormatFloat(p, 'g', -1, 64) + "%"
		out = append(out, column{title, func(r row, d int) string { return figure(r.percentiles[i], d) }, drop})
	}
	return append(out,
		column{"ess_bulk", func(r row, _ int) string { return whole(r.ESSBulk) }, 5},
		column{"ess_tail", func(r row, _ int) string { return whole(r.ESSTail) }, 3},
		column{"rhat", func(r row, _ int) string { return fixed(r.Rhat, 3) }, 0})
}

// writeTable writes the summary table. width is the width of the terminal, or 0 if the output is
// not a terminal.
func writeTable(b io.Writer, rows []row, percentiles []float64, width int) {
	columns := columns(percentiles)
	longest := 0 // length of the longest label; labels are aligned
	for _, r := range rows {
		longest = max(longest, utf8.RuneCountInString(r.label))
	}
	if longest > 0 {
		columns = append(columns, column{"", func(r row, _ int) string {
			return r.label + strings.Repeat(" ", longest-utf8.RuneCountInString(r.label))
		}, 1})
	}
	cells := make([][]string, len(columns))
	widths := make([]int, len(columns))
	for c, col := range columns {
		cells[c] = append(cells[c], col.title)
		for _, r := range rows {
			cells[c] = append(cells[c], col.cell(r, decimals(r.Row)))
		}
		for _, text := range cells[c] {
			widths[c] = max(widths[c], utf8.RuneCountInString(text))
		}
	}
	var drops []int
	for _, col := range columns {
		drops = append(drops, col.drop)
	}
	writeCells(b, cells, widths, drops, width)
}

// writeCells writes cells, which are indexed [column][line]; the first line has the titles. If they
// do not fit in width, columns are left out in the order of drops.
func writeCells(b io.Writer, cells [][]string, widths, drops []int, width int) {
	keep := make([]bool, len(cells))
	total := -2
	for c := range cells {
		keep[c] = true
		total += widths[c] + 2
	}
	var dropped []string
	for step := 1; step <= 5 && width > 0 && total > width; step++ {
		for c := range cells {
			if drops[c] == step {
				keep[c] = false
				total -= widths[c] + 2
				dropped = append(dropped, cells[c][0])
			}
		}
	}
	if width > 0 && total > width { // long names
		widths[0] = max(8, widths[0]-(total-width))
	}
	for i := range cells[0] {
		var line strings.Builder
		for c := range cells {
			if !keep[c] {
				continue
			}
			text := cut(cells[c][i], widths[c])
			pad := strings.Repeat(" ", widths[c]-utf8.RuneCountInString(text))
			if c == 0 {
				line.WriteString(text + pad)
			} else {
				line.WriteString("  " + pad + text)
			}
		}
		io.WriteString(b, strings.TrimRight(line.String(), " ")+"\n")
	}
	if len(dropped) > 0 {
		fmt.Fprintln(b, broken(fmt.Sprintf("(left out, as the window is narrow: %s)", strings.Join(dropped, ", ")), width))
	}
}

// decimals returns the number of decimals for a row, such that its standard error has two
// significant digits. A result of -1 means that decimals make no sense, and numbers get significant
// digits instead.
func decimals(r diagnose.Row) int {
	for _, scale := range []float64{r.MCSEMean, r.SD / 100} {
		if scale > 0 && !math.IsInf(scale, 1) {
			d := 1 - int(math.Floor(math.Log10(scale)))
			if d > 6 || d < -3 {
				return -1
			}
			return max(d, 0)
		}
	}
	return -1
}

// figure formats a number with decimals, or with five digits if that would not fit.
func figure(v float64, decimals int) string {
	if math.IsNaN(v) {
		return "-"
	}
	if decimals < 0 || math.Abs(v) >= 1e7 {
		return strconv.FormatFloat(v, 'g', 5, 64)
	}
	return fixed(v, decimals)
}

func fixed(v float64, decimals int) string {
	if math.IsNaN(v) {
		return "-"
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	return text
}

func whole(v float64) string { return fixed(v, 0) }
