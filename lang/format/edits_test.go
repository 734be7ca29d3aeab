package format

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// common returns the length of the longest common subsequence, by its definition.
func common(x, y []string) int {
	last := make([]int, len(y)+1)
	for _, a := range x {
		row := make([]int, len(y)+1)
		for j, b := range y {
			row[j+1] = max(row[j], last[j+1])
			if a == b {
				row[j+1] = max(row[j+1], last[j]+1)
			}
		}
		last = row
	}
	return last[len(y)]
}

// TestAlign: lines are paired in order and with equal ones, and no pairing has more, also of texts
// without lines and with one; with more differences than are compared, it is still a pairing.
func TestAlign(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	random := func(n, kinds int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprint(rng.IntN(kinds))
		}
		return out
	}
	sizes := []int{0, 1, 2, 3, 7, 20, 60}
	check := func(x, y []string) int {
		t.Helper()
		match, last, pairs := align(x, y), -1, 0
		for i, j := range match {
			if j < 0 {
				continue
			}
			if j <= last || x[i] != y[j] {
				t.Fatalf("%v and %v: %v", x, y, match)
			}
			last = j
			pairs++
		}
		return pairs
	}
	for range 30 {
		for _, n := range sizes {
			for _, m := range sizes {
				x, y := random(n, 1+n/2), random(m, 1+n/2)
				if got, want := check(x, y), common(x, y); got != want {
					t.Errorf("%v and %v: %d pairs, not %d", x, y, got, want)
				}
			}
		}
	}
	for _, n := range []int{maxSteps/2 - 1, maxSteps / 2, maxSteps/2 + 1, maxSteps, 3 * maxSteps} {
		if got := check(random(n, 1), slices.Repeat([]string{"other"}, n)); got != 0 {
			t.Errorf("%d lines without equal ones have %d pairs", n, got)
		}
		// Every second line differs: all others are paired, whatever the number.
		x, y := make([]string, 2*n), make([]string, 2*n)
		for i := range x {
			x[i], y[i] = fmt.Sprint(i), fmt.Sprint(i)
			if i%2 == 1 {
				y[i] = "other"
			}
		}
		if got := check(x, y); got != n {
			t.Errorf("%d of %d lines are paired", got, n)
		}
	}
}

// TestEdits: the edits give the new text, those of texts that differ by spaces are one for each
// line, and no two begin at the same place.
func TestEdits(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	pieces := []string{"a;\n", "  a;\n", "b;\n", "\n", "b ;\n", "a; b;\n", "c\n", "d"}
	for range 500 {
		var texts [2]string
		for k := range texts {
			for range rng.IntN(8) {
				texts[k] += pieces[rng.IntN(len(pieces))]
			}
		}
		f := source.NewFile("f", texts[0])
		edits := Edits(f, texts[1])
		if got := applied(texts[0], edits); got != texts[1] {
			t.Fatalf("%q becomes %q, not %q: %+v", texts[0], got, texts[1], edits)
		}
		for i := 1; i < len(edits); i++ {
			if edits[i].Span.Start < edits[i-1].Span.End || edits[i].Span.Start == edits[i-1].Span.Start {
				t.Fatalf("%q and %q: %+v", texts[0], texts[1], edits)
			}
		}
	}
	for _, n := range []int{0, 1, 2, 5000} {
		text := strings.Repeat("x;\n", n)
		f := source.NewFile("f", strings.ReplaceAll(text, "x", "\tx"))
		if got := len(Edits(f, text)); got != n {
			t.Errorf("%d lines with other spaces: %d edits", n, got)
		}
	}
}

// applied returns a text after edits.
func applied(text string, edits []diag.Edit) string {
	for _, e := range slices.Backward(edits) {
		text = text[:e.Span.Start] + e.Text + text[e.Span.End:]
	}
	return text
}
