package compile

import (
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/lang/diag"
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
	return list
}

// quoted lists names as code.
func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "`" + n + "`"
	}
	return strings.Join(out, ", ")
}
