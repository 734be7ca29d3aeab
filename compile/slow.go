package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/internal/bind"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// SlowLoops returns warnings about loops that the log density evaluates one iteration after
// another, although they are long and change arrays. Each warning says what to write instead.
func (m *Model) SlowLoops() (list diag.List) {
	for _, s := range m.bound.Stats.Slow {
		d := diag.Diagnostic{
			Severity: diag.Warning, Code: diag.SlowLoop, Span: s.Span,
			Summary: fmt.Sprintf("the %d iterations of this loop run one after another", s.Iterations),
			Detail:  fmt.Sprintf("They change %s. The reason why they do not run as vectors: %s.", quoted(s.Variables), strings.Join(s.Why, "; ")),
			Fix:     s.Instead,
		}
		if len(s.Why) == 0 {
			d.Detail = fmt.Sprintf("They change %s.", quoted(s.Variables))
		}
		list = append(list, d)
	}
	return append(list, m.copyingLoops(list)...)
}

// copyingLoops returns warnings about loops whose steps mostly copy arrays, except those in known.
func (m *Model) copyingLoops(known diag.List) (list diag.List) {
	if m.density == nil {
		return nil
	}
	seen := map[source.Position]bool{}
	for _, d := range known {
		seen[lineOf(d.Span)] = true
	}
	for _, c := range m.density.CopyingLoops() {
		span, function := m.bound.At(c.Site)
		at := lineOf(span)
		if function != "" || !span.IsValid() || seen[at] || len(list) == maxCopying || m.skewed(at.Line, c.Steps) {
			continue
		}
		seen[at] = true
		often := fmt.Sprintf("each of the %d iterations", c.Steps)
		if c.Steps == 0 {
			often = "each iteration"
		}
		list = append(list, diag.Diagnostic{
			Severity: diag.Warning, Code: diag.SlowLoop, Span: span,
			Summary: fmt.Sprintf("%s of this loop copies arrays: %d numbers", often, c.Copied),
			Detail:  "So an iteration takes longer the longer the arrays are. This happens where a loop moves a whole slice, as in `v[2:N] = v[1:N - 1]`, or where a loop that changes an array contains a `while` loop that cannot become part of it.",
			Fix:     "change single elements: instead of moving a slice, keep the index of its first element; write both loops as one while loop, whose iterations either change an element or begin the next round",
		})
	}
	return list
}

// skewed reports whether the steps of a scan are wavefronts of a table that the loop on a line
// fills, not its iterations. They copy no more than the last wavefronts, however large the table
// is.
func (m *Model) skewed(line, steps int) bool {
	return steps > 0 && slices.ContainsFunc(m.bound.Stats.Plans, func(p bind.Plan) bool {
		return p.Line == line && p.Way == "nest" && p.Iterations != steps
	})
}

// maxCopying is the number of loops that copy arrays of which the user is warned.
const maxCopying = 5

// quoted lists names as code.
func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "`" + n + "`"
	}
	return strings.Join(out, ", ")
}
