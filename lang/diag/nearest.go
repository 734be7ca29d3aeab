package diag

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Nearest returns the candidate that was most likely meant by name, or "" if none is near. Near
// means at most one edit per three characters; one edit is always allowed from two characters on.
// An edit inserts, drops or replaces a character, or swaps two neighbours. A difference in case
// alone always counts as near. Of equally near candidates the alphabetically first wins, so the
// result does not depend on their order.
func Nearest(name string, candidates iter.Seq[string]) string {
	n := utf8.RuneCountInString(name)
	limit := n / 3
	if limit == 0 && n > 1 {
		limit = 1
	}
	best, bestDist := "", limit+1
	lower := strings.ToLower(name)
	for c := range candidates {
		if c == name {
			continue
		}
		d := 0
		if lc := strings.ToLower(c); lc != lower {
			m := utf8.RuneCountInString(c)
			if m-n > limit || n-m > limit {
				continue
			}
			d = min(editDistance(name, c), editDistance(lower, lc)+1)
		}
		if d < bestDist || d == bestDist && best != "" && c < best {
			best, bestDist = c, d
		}
	}
	return best
}

// editDistance returns the Damerau-Levenshtein distance in its "optimal string alignment" form: no
// substring is edited twice.
func editDistance(s, t string) int {
	a, b := []rune(s), []rune(t)
	// Three rows suffice: a swap looks two rows back.
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			subst := prev[j-1]
			if a[i-1] != b[j-1] {
				subst++
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, subst)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
