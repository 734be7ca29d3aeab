package marginal

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/ast"
)

// kind is a way in which steps use a factor: a pattern or a message, with the position in the
// step's clique of each element that it reads.
type kind struct {
	key     string
	pattern *pattern // nil: messages
	rank    int      // of messages: the number of elements that one is a function of
	axes    []int    // positions in the clique: first the eliminated element, then those around it
	many    bool     // some step has several such factors

	decided map[ast.Node]bool // results of comparisons in the code
}

// group is a set of isomorphic steps, which one loop computes.
type group struct {
	id       int
	unknowns []*unknown // of the clique
	kinds    []*kind
	rows     []row // in an order in which no row needs a later one
	segments []int // where segments of rows begin: chains, or levels of a tree or of many chains
	chained  bool  // rows need earlier rows of the group
	levelled bool  // segments are levels of chains

	selectors map[int]*selector // by kind
	regions   []region          // nil: sums are over all values
}

// row is a step of a group.
type row struct {
	step    int
	number  int64
	clique  []int      // elements
	factors [][]factor // by kind
}

// certain reports whether the element of each row has one value, and nothing depends on it.
func (g *group) certain(p *program) bool {
	return len(g.unknowns) == 1 && !slices.ContainsFunc(g.rows, func(r row) bool { return p.elements[r.clique[0]].size() != 1 })
}

// block is a loop over rows of one or several groups with the same number of rows: each iteration
// computes a row of each group, in order.
type block []*group

// grouped sorts the steps into groups, in an order in which no group needs a later one. If groups
// need one another, the steps are taken in the order of elimination, and a sequence of steps that
// repeats is one loop. With only, it takes these steps alone, each for all steps equal to it.
func (p *program) grouped(steps []*step, only []int, patterns []*pattern) []block {
	all := only
	if only == nil {
		all = counting(len(steps))
	}
	users := consumers(steps, only)
	number := numbers(all, users)
	patternID := map[*pattern]int{}
	for i, pat := range patterns {
		patternID[pat] = i
	}
	kinds := map[string]*kind{}
	type use struct {
		k *kind
		f factor
	}
	uses := make([][]use, len(steps))
	for _, i := range all {
		s := steps[i]
		clique := append([]int{s.element}, s.around...)
		count := map[*kind]int{}
		for _, f := range s.factors {
			k := &kind{pattern: f.pattern}
			var scope []int
			if f.pattern != nil {
				scope = f.pattern.instances[f.instance].elements
				k.key = fmt.Sprintf("p%06d", patternID[f.pattern])
			} else {
				scope = steps[f.step].around
				k.rank = len(scope)
				k.key = fmt.Sprintf("q%d", k.rank)
			}
			for _, e := range scope {
				at := slices.Index(clique, e)
				k.axes = append(k.axes, at)
				k.key += fmt.Sprintf(",%d", at)
			}
			if known := kinds[k.key]; known != nil {
				k = known
			} else {
				kinds[k.key] = k
			}
			if count[k]++; count[k] > 1 {
				k.many = true
			}
			uses[i] = append(uses[i], use{k, f})
		}
	}
	signature := make([]string, len(steps))
	for _, i := range all {
		s := steps[i]
		var keys []string
		for _, u := range uses[i] {
			keys = append(keys, u.k.key)
		}
		sort.Strings(keys)
		keys = slices.Compact(keys)
		var b strings.Builder
		for _, e := range append([]int{s.element}, s.around...) {
			fmt.Fprintf(&b, "%d.", p.elements[e].of.id)
		}
		if len(s.around) == 0 && p.elements[s.element].size() == 1 { // there is nothing to sum
			b.WriteString("1.")
		}
		signature[i] = b.String() + strings.Join(keys, ";")
	}
	for _, i := range all {
		steps[i].message = number[i]
	}
	id := 0
	grouping := func(in []int, segments []int, chained, levelled bool) *group {
		g := &group{id: id, segments: segments, chained: chained, levelled: levelled}
		id++
		s := steps[in[0]]
		for _, e := range append([]int{s.element}, s.around...) {
			g.unknowns = append(g.unknowns, p.elements[e].of)
		}
		for _, u := range uses[in[0]] {
			if !slices.Contains(g.kinds, u.k) {
				g.kinds = append(g.kinds, u.k)
			}
		}
		sorting.Stable(g.kinds, func(a, b *kind) int { return strings.Compare(a.key, b.key) })
		for _, i := range in {
			r := row{step: i, number: int64(number[i]), clique: append([]int{steps[i].element}, steps[i].around...), factors: make([][]factor, len(g.kinds))}
			for _, u := range uses[i] {
				k := slices.Index(g.kinds, u.k)
				r.factors[k] = append(r.factors[k], u.f)
			}
			g.rows = append(g.rows, r)
		}
		return g
	}
	var out []block
	order, ok := topological(signature, all, users)
	if !ok {
		listed := make([]string, len(all))
		for k, i := range all {
			listed[k] = signature[i]
		}
		for from := 0; from < len(all); {
			length, times := period(listed[from:])
			var b block
			for k := range length {
				var in []int
				for r := range times {
					in = append(in, all[from+r*length+k])
				}
				b = append(b, grouping(in, []int{0}, true, false))
			}
			out = append(out, b)
			from += length * times
		}
		return out
	}
	members := map[string][]int{}
	for _, i := range all {
		members[signature[i]] = append(members[signature[i]], i)
	}
	for _, sig := range order {
		out = append(out, block{grouping(arranged(members[sig], users, number))})
	}
	return out
}

// maxPeriod bounds the length of a sequence of steps that one loop repeats.
const maxPeriod = 200

// period returns the length of the sequence of steps at the beginning that covers the most steps by
// repetition, and the number of repetitions.
func period(signature []string) (length, times int) {
	length, times = 1, 1
	for n := 1; n <= min(maxPeriod, len(signature)/2); n++ {
		same := 0
		for n+same < len(signature) && signature[n+same] == signature[same] {
			same++
		}
		if k := 1 + same/n; k > 1 && k*n > length*times {
			length, times = n, k
		}
	}
	return length, times
}

// consumers returns, for each step, the steps that use its message. With only, these are among the
// given steps, and messages of equal steps are the same.
func consumers(steps []*step, only []int) [][]int {
	out := make([][]int, len(steps))
	add := func(i, from int) {
		if !slices.Contains(out[from], i) {
			out[from] = append(out[from], i)
		}
	}
	if only == nil {
		for i, s := range steps {
			for _, f := range s.factors {
				if f.pattern == nil {
					add(i, f.step)
				}
			}
		}
		return out
	}
	for _, i := range only {
		for _, f := range steps[i].factors {
			if f.pattern == nil {
				add(i, steps[f.step].same)
			}
		}
	}
	return out
}

// counting returns the numbers from 0 to n-1.
func counting(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// numbers numbers the steps from 1, such that a step that uses the message of another one mostly
// follows it. Longer chains come first: where steps of many chains are computed side by side, those
// of a level are the first of the level before, in the same order.
func numbers(steps []int, users [][]int) []int {
	length := make([]int, len(users))
	for _, i := range slices.Backward(steps) {
		if length[i] = 1; len(users[i]) > 0 {
			length[i] += length[users[i][0]]
		}
	}
	steps = slices.Clone(steps)
	sorting.Stable(steps, func(a, b int) int { return length[b] - length[a] })
	out := make([]int, len(users))
	n := 0
	for _, i := range steps {
		for k := i; out[k] == 0; k = users[k][0] {
			n++
			out[k] = n
			if len(users[k]) == 0 {
				break
			}
		}
	}
	return out
}

// topological sorts signatures such that messages go forward, also within one; ok is false if
// messages go round among several.
func topological(signature []string, steps []int, users [][]int) (order []string, ok bool) {
	needs := map[string]map[string]bool{}
	count := map[string]int{}
	var all []string
	for _, i := range steps {
		s := signature[i]
		if _, seen := count[s]; !seen {
			count[s] = 0
			all = append(all, s)
		}
		for _, c := range users[i] {
			if signature[c] == s {
				continue
			}
			if needs[s] == nil {
				needs[s] = map[string]bool{}
			}
			needs[s][signature[c]] = true
		}
	}
	for _, to := range needs {
		for t := range to {
			count[t]++
		}
	}
	var ready []string
	for _, s := range all {
		if count[s] == 0 {
			ready = append(ready, s)
		}
	}
	for len(ready) > 0 {
		s := ready[0]
		ready = ready[1:]
		order = append(order, s)
		for _, t := range all { // in a fixed order
			if needs[s][t] {
				if count[t]--; count[t] == 0 {
					ready = append(ready, t)
				}
			}
		}
	}
	return order, len(order) == len(all)
}

// minChains is the number of chains, on average over their steps, from which the same steps of all
// chains are computed together, in lanes.
const minChains = 16

// arranged orders the steps of a group by need. If every step needs at most one other of the group,
// and none is needed twice, the segments are chains or, if there are many, their levels; otherwise
// levels.
func arranged(in []int, users [][]int, number []int) (rows, segments []int, chained, levelled bool) {
	sorting.Stable(in, func(a, b int) int { return number[a] - number[b] })
	member := map[int]bool{}
	for _, i := range in {
		member[i] = true
	}
	sources := map[int]int{}
	next := map[int]int{} // in the group
	depth := map[int]int{}
	most, branches := 0, false
	byElimination := slices.Clone(in)
	slices.Sort(byElimination)
	for _, i := range byElimination {
		for _, c := range users[i] {
			if !member[c] {
				continue
			}
			sources[c]++
			most = max(most, sources[c])
			depth[c] = max(depth[c], depth[i]+1)
			_, again := next[i]
			next[i], branches = c, branches || again
		}
	}
	longest := 0
	for _, d := range depth {
		longest = max(longest, d)
	}
	switch {
	case most == 0:
		return in, []int{0}, false, false
	case most == 1 && !branches && len(in) < minChains*(longest+1):
		for _, i := range in {
			if sources[i] > 0 {
				continue
			}
			segments = append(segments, len(rows))
			for k, ok := i, true; ok; k, ok = next[k] {
				rows = append(rows, k)
			}
		}
		return rows, segments, true, false
	}
	sorting.Stable(in, func(a, b int) int { return depth[a] - depth[b] })
	for k, i := range in {
		if k == 0 || depth[i] != depth[in[k-1]] {
			segments = append(segments, k)
		}
	}
	return in, segments, true, most == 1
}

// renumber numbers messages in the order in which they are computed, if that is by levels of
// chains: then those that a level reads follow one another.
func renumber(blocks []block, steps []*step) {
	levelled := false
	for _, g := range slices.Concat(blocks...) {
		levelled = levelled || g.levelled
	}
	if !levelled {
		return
	}
	n := 0
	for _, b := range blocks {
		for k := range b[0].rows {
			for _, g := range b {
				n++
				r := &g.rows[k]
				r.number, steps[r.step].message = int64(n), n
			}
		}
	}
}
