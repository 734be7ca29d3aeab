package ppl

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/infer"
)

// RejectionGroup is messages of rejections that differ only in their numbers.
type RejectionGroup struct {
	Message  string // one of them
	Messages int    // different ones
	Count    int    // rejections
	Advice   string // what to declare, if that is known
}

var (
	figures = regexp.MustCompile(`[-+]?(\d+(\.\d+)?([eE][-+]?\d+)?|\bnan\b|\binf\b)`)
	place   = regexp.MustCompile(`\([^()]*, line \d+, column \d+\)$`)
)

// GroupRejections puts messages together that say the same of the same place, the
// most frequent first.
func GroupRejections(list []infer.Rejection) []RejectionGroup {
	var groups []RejectionGroup
	index := map[string]int{}
	for _, r := range list {
		at := place.FindString(r.Message)
		key := figures.ReplaceAllString(strings.TrimSuffix(r.Message, at), "#") + at
		i, ok := index[key]
		if !ok {
			i = len(groups)
			index[key] = i
			groups = append(groups, RejectionGroup{Message: r.Message, Advice: declaration(r.Message)})
		}
		groups[i].Messages++
		groups[i].Count += r.Count
	}
	slices.SortStableFunc(groups, func(a, b RejectionGroup) int { return b.Count - a.Count })
	return groups
}

// declaration says how a parameter must be declared of which an argument check
// complains.
func declaration(message string) string {
	_, rest, ok := strings.Cut(message, " must be ")
	if !ok || strings.Contains(rest, "but is 0") || strings.Contains(rest, "but is inf") {
		return "" // an underflow or an overflow, which no bound keeps out
	}
	for _, d := range []struct{ want, declare string }{
		{"positive definite", "cov_matrix[K], or a Cholesky factor of it, cholesky_factor_cov[K]"},
		{"positive", "<lower=0>"},
		{"nonnegative", "<lower=0>"},
		{"in the interval [0, 1]", "<lower=0, upper=1>"},
		{"in the interval (0, 1)", "<lower=0, upper=1>"},
		{"in the interval [-1, 1]", "<lower=-1, upper=1>"},
		{"greater than 1", "<lower=1>"},
		{"a simplex", "simplex[K]"},
		{"a valid simplex", "simplex[K]"},
		{"ordered", "ordered[K]"},
	} {
		if strings.HasPrefix(rest, d.want) {
			return "If it is a parameter, or computed from some, declare it, or them, such that it always is: " + d.declare + "."
		}
	}
	return ""
}
