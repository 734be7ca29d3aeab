package format

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// Edits returns line-by-line edits that change a file to another text.
func Edits(f *source.File, text string) []diag.Edit {
	var out []diag.Edit
	at := 0
	joins := false // the next change continues the last edit
	for _, l := range Lines(f.Text, text) {
		if l.Op == ' ' {
			at += len(l.Line)
			joins = false
			continue
		}
		if !joins {
			out = append(out, diag.Edit{Span: source.Span{File: f, Start: at, End: at}})
			joins = true
		}
		e := &out[len(out)-1]
		if l.Op == '-' {
			at += len(l.Line)
			e.Span.End = at
		} else {
			e.Text += l.Line
		}
	}
	return out
}

func splitLines(s string) []string {
	var out []string
	for l := range strings.Lines(s) {
		out = append(out, l)
	}
	return out
}

// Line is a line of a comparison: kept (Op ' '), removed ('-') or added ('+'), with the number of
// lines of each text before it.
type Line struct {
	Op            byte
	Line          string
	Before, After int
}

// Lines compares texts a and b line by line. It skips their common beginning and end, and keeps the
// longest common subsequence of the lines between.
func Lines(a, b string) []Line {
	x, y := splitLines(a), splitLines(b)
	lo := 0
	for lo < len(x) && lo < len(y) && x[lo] == y[lo] {
		lo++
	}
	hi := 0
	for hi < len(x)-lo && hi < len(y)-lo && x[len(x)-1-hi] == y[len(y)-1-hi] {
		hi++
	}
	n, m := len(x)-lo-hi, len(y)-lo-hi
	// common[i][j] is the length of the longest common subsequence of x[lo+i:] and y[lo+j:]. Very
	// long texts are replaced as a whole.
	var common [][]int
	if n*m <= 10_000_000 {
		common = make([][]int, n+1)
		for i := range common {
			common[i] = make([]int, m+1)
		}
		for i := n - 1; i >= 0; i-- {
			for j := m - 1; j >= 0; j-- {
				if x[lo+i] == y[lo+j] {
					common[i][j] = common[i+1][j+1] + 1
				} else {
					common[i][j] = max(common[i+1][j], common[i][j+1])
				}
			}
		}
	}
	var out []Line
	i, j := 0, 0
	step := func(op byte, line string) {
		out = append(out, Line{op, line, i, j})
		if op != '+' {
			i++
		}
		if op != '-' {
			j++
		}
	}
	for i < lo {
		step(' ', x[i])
	}
	for i < lo+n || j < lo+m {
		switch {
		case common != nil && i < lo+n && j < lo+m && x[i] == y[j]:
			step(' ', x[i])
		case i < lo+n && (j >= lo+m || common == nil || common[i-lo+1][j-lo] >= common[i-lo][j-lo+1]):
			step('-', x[i])
		default:
			step('+', y[j])
		}
	}
	for i < len(x) {
		step(' ', x[i])
	}
	return out
}
