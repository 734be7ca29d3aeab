package main

import (
	"regexp"
	"strings"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/types"
)

// rejectionGroup has the rejections by one statement. If the statement is unknown, it has messages
// that differ only in their numbers.
type rejectionGroup struct {
	message  string // one of them
	messages int    // different messages
	count    int    // rejections
	advice   string // what to declare, if known
}

var (
	figures = regexp.MustCompile(`[-+]?(\d+(\.\d+)?([eE][-+]?\d+)?|\bnan\b|\binf\b)`)
	where   = regexp.MustCompile(`\([^()]*, line \d+, column \d+\)$`)
)

// groupRejections groups the messages by statement, the most frequent first.
func groupRejections(list []infer.Rejection) []rejectionGroup {
	var groups []rejectionGroup
	index := map[string]int{}
	for _, r := range list {
		at := where.FindString(r.Message)
		key := at
		if at == "" {
			key = figures.ReplaceAllString(r.Message, "#")
		}
		i, ok := index[key]
		if !ok {
			i = len(groups)
			index[key] = i
			groups = append(groups, rejectionGroup{message: r.Message, advice: declaration(r.Message)})
		}
		groups[i].messages++
		groups[i].count += r.Count
	}
	sorting.Stable(groups, func(a, b rejectionGroup) int { return b.count - a.count })
	return groups
}

// declaration returns the declaration with which a parameter always passes the check of an
// argument.
func declaration(message string) string {
	_, rest, ok := strings.Cut(message, " must be ")
	if !ok || strings.Contains(rest, "but is 0") || strings.Contains(rest, "but is inf") {
		return "" // an underflow or overflow; no bound prevents it
	}
	declare := func(how string) string {
		return "If it is a parameter, or computed from some, declare it, or them, such that it always is: " + how + "."
	}
	for _, k := range types.ConstrainedTypes() {
		if strings.HasPrefix(rest, k.Text()) {
			return declare(k.Declaration())
		}
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
	} {
		if strings.HasPrefix(rest, d.want) {
			return declare(d.declare)
		}
	}
	return ""
}
