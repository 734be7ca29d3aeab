package report_test

import (
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/front/report"
)

// TestShares checks what is stated of simplexes of several sizes, and of an array of them, whose
// elements do not add up to 1.
func TestShares(t *testing.T) {
	for declared, want := range map[string]string{
		"simplex[3] w":          "The shares w add up to 1: 0.",
		"simplex[4] w":          "The shares w add up to 1: 0.",
		"simplex[5] w":          "Of the 5 shares w, which add up to 1, the highest is 0.",
		"vector[3] w":           "w[1] is ",
		"array[2] simplex[2] w": "",
	} {
		r := made(t, sampled(t, "data { int N; vector[N] y; } parameters { real m; "+declared+"; } model { m ~ std_normal(); y ~ normal(m, 1); "+priorOf(declared)+" }", "y\n1\n2\n"), report.Options{})
		text := strings.Join(r.Answers, "\n")
		if !strings.Contains(text, want) || !strings.HasPrefix(want, "The shares") && !strings.HasPrefix(want, "Of") && strings.Contains(text, "shares") {
			t.Errorf("%s: %s", declared, text)
		}
	}
}

func priorOf(declared string) string {
	if strings.HasPrefix(declared, "vector") {
		return "w ~ std_normal();"
	}
	return ""
}
