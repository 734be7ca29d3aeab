package format

import (
	"strings"
	"unicode"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// Edits returns edits that change a file to another text. A line of which only spaces change is an
// edit, so that edits of some lines alone can be applied.
func Edits(f *source.File, text string) []diag.Edit {
	var out []diag.Edit
	x, y := splitLines(f.Text), splitLines(text)
	at := 0
	joins := false // the next change continues the last edit
	change := func(from, to string) {
		if !joins {
			out = append(out, diag.Edit{Span: source.Span{File: f, Start: at, End: at}})
		}
		e := &out[len(out)-1]
		at += len(from)
		e.Span.End = at
		e.Text += to
		joins = true
	}
	j := 0
	for i, match := range align(words(x), words(y)) {
		for ; match >= 0 && j < match; j++ {
			change("", y[j])
		}
		switch {
		case match < 0:
			change(x[i], "")
			continue
		case x[i] == y[j]:
			at += len(x[i])
		default:
			// Of edits that begin at the same place, only the last may remove text, so an insertion
			// takes the line with it.
			joins = joins && out[len(out)-1].Span.Start == at
			change(x[i], y[j])
		}
		joins = false
		j++
	}
	for ; j < len(y); j++ {
		change("", y[j])
	}
	return out
}

// words returns lines without their spaces.
func words(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, l)
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

// Lines compares texts a and b line by line.
func Lines(a, b string) []Line {
	x, y := splitLines(a), splitLines(b)
	var out []Line
	j := 0
	add := func(i, until int) {
		for ; j < until; j++ {
			out = append(out, Line{'+', y[j], i, j})
		}
	}
	for i, match := range align(x, y) {
		if match < 0 {
			out = append(out, Line{'-', x[i], i, j})
			continue
		}
		add(i, match)
		out = append(out, Line{' ', x[i], i, j})
		j++
	}
	add(len(x), len(y))
	return out
}

// align pairs equal lines of x and y, in order: it returns the index in y of each line of x, or -1.
// The lines without a partner are the fewest possible, if there are at most maxSteps.
func align(x, y []string) []int {
	match := make([]int, len(x))
	for i := range match {
		match[i] = -1
	}
	for i, j := 0, 0; i < len(x) || j < len(y); {
		n, m := alignFrom(x[i:], y[j:], match[i:], j)
		i, j = i+n, j+m
	}
	return match
}

// maxSteps is the number of lines without a partner after which the best pairing so far is taken.
// Memory and time grow with its square.
const maxSteps = 500

// alignFrom pairs lines from the beginning of x and y by E. W. Myers's algorithm, "An O(ND)
// difference algorithm and its variations" (1986), in at most maxSteps steps. It adds base to the
// indices in y, and returns the number of lines of x and of y that are done.
func alignFrom(x, y []string, match []int, base int) (int, int) {
	// furthest[d][d+k] is the number of lines of x that d removals and additions, k more removals
	// than additions, get done at most; -1: none do.
	var furthest [][]int
	reach := func(d, k int) int {
		if d < 0 || k < -d || k > d {
			return -1
		}
		return furthest[d][d+k]
	}
	// step returns the lines of x done before the equal lines of furthest[d][d+k], and whether the
	// last step is a removal.
	step := func(d, k int) (int, bool) {
		added, removed := reach(d-1, k+1), reach(d-1, k-1)
		if added-k > len(y) {
			added = -1
		}
		if removed >= 0 && removed < len(x) && removed+1 > added {
			return removed + 1, true
		}
		return added, false
	}
	best := func(d int) (k, sum int) {
		for at := -d; at <= d; at += 2 {
			if n := reach(d, at); n >= 0 && 2*n-at > sum {
				k, sum = at, 2*n-at
			}
		}
		return k, sum
	}
	d, k, sum := 0, 0, -1
	for {
		row := make([]int, 2*d+1)
		for k := -d; k <= d; k += 2 {
			n := 0
			if d > 0 {
				n, _ = step(d, k)
			}
			for n >= 0 && n < len(x) && n-k < len(y) && x[n] == y[n-k] {
				n++
			}
			row[d+k] = n
		}
		furthest = append(furthest, row)
		if k, sum = best(d); sum == len(x)+len(y) || d == maxSteps {
			break
		}
		d++
	}
	n := reach(d, k)
	done, other := n, n-k
	for ; d >= 0; d-- {
		from, removal := 0, false
		if d > 0 {
			from, removal = step(d, k)
		}
		for ; n > from; n-- {
			match[n-1] = base + n - 1 - k
		}
		if removal {
			n, k = n-1, k-1
		} else {
			k++
		}
	}
	return done, other
}
