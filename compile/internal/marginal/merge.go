package marginal

import (
	"encoding/binary"
	"slices"
)

// Steps that are equal have the same message: animals that were not seen again after the same
// occasion, or sites with the same counts. The density has one of them. Messages that nothing else
// uses are its terms, multiplied by the number of equal steps.

// minMerged is the least share of the terms that merging has to save. Elements that have no equal
// are separated before the steps are compared.
const minMerged = 0.25

// merge sets the steps that are equal to each, and returns those that differ in blocks. Purposes
// that need the messages from outside, which differ, have all steps. before has the factors before
// elements were determined; nil: none is.
func (p *program) merge(steps []*step, blocks []block, patterns []*pattern, c *contents, before *traced) []block {
	for i, s := range steps {
		s.same, s.times = i, 1
	}
	if p.o.Purpose == LeaveOneOut || p.o.Purpose == Probabilities || !p.repeats(patterns, c) {
		return blocks
	}
	same := p.classes(steps, patterns, c)
	var only []int
	left, total := 0.0, 0.0
	for i, k := range same {
		if k == i {
			only = append(only, i)
		}
		if len(steps[i].factors) == 0 {
			continue
		}
		n := p.volume(append([]int{steps[i].element}, steps[i].around...))
		if total += n; k == i {
			left += n
		}
	}
	if left > (1-minMerged)*total {
		return blocks
	}
	for i, s := range steps {
		if s.same = same[i]; s.same != i {
			s.times = 0
			steps[s.same].times++
		}
	}
	if before != nil {
		only = p.restrict(steps, only, same, before)
	}
	merged := p.grouped(steps, only, patterns)
	renumber(merged, steps)
	for _, s := range steps {
		s.message = steps[s.same].message
	}
	return merged
}

// repeats reports whether enough elements have the same factors as others.
func (p *program) repeats(patterns []*pattern, c *contents) bool {
	number := map[*pattern]int{}
	for i, pat := range patterns {
		number[pat] = i
	}
	keys := make([][]string, len(p.elements))
	for _, pat := range patterns {
		for k, n := range c.all(pat) {
			for a, e := range pat.instances[k].elements {
				keys[e] = append(keys[e], encoded(number[pat], n, a))
			}
		}
	}
	different := map[string]bool{}
	all := 0
	for e, ks := range keys {
		if len(ks) == 0 {
			continue
		}
		all++
		slices.Sort(ks)
		el := p.elements[e]
		key := encoded(el.of.id, int(el.lo), int(el.hi))
		for _, k := range ks {
			key += k
		}
		different[key] = true
	}
	return float64(len(different)) <= (1-minMerged)*float64(all)
}

func encoded[T int | int64](ns ...T) string {
	var b []byte
	for _, n := range ns {
		b = binary.AppendVarint(b, int64(n))
	}
	return string(b)
}

// classes returns, for each step, the first that is equal to it.
func (p *program) classes(steps []*step, patterns []*pattern, c *contents) []int {
	number := map[*pattern]int{}
	for i, pat := range patterns {
		number[pat] = i
	}
	first := map[string]int{}
	out := make([]int, len(steps))
	for i, s := range steps {
		clique := append([]int{s.element}, s.around...)
		key := ""
		for _, e := range clique {
			el := p.elements[e]
			key += encoded(el.of.id, int(el.lo), int(el.hi))
			if el.cut && !p.overflow { // how much is left out is judged for each
				key += encoded(i)
			}
		}
		key += encoded(-1)
		var factors []string
		for _, f := range s.factors {
			k, scope := "", []int(nil)
			if f.pattern != nil {
				k, scope = encoded(number[f.pattern], c.all(f.pattern)[f.instance]), f.pattern.instances[f.instance].elements
			} else {
				k, scope = encoded(-1, out[f.step]), steps[f.step].around
			}
			factors = append(factors, placed(k, scope, clique))
		}
		slices.Sort(factors)
		for _, f := range factors {
			key += f
		}
		k, ok := first[key]
		if !ok {
			first[key], k = i, i
		}
		out[i] = k
	}
	return out
}

// shared returns an order of elimination in which more steps are equal than in the order of steps,
// or more sums are 1; nil if there is none. It differs where ties go to the last element: chains
// are eliminated from their ends, which is better if their ends are alike. Each component has the
// order in which its steps, shared with those equal to them, have fewer terms; where it matters
// little, the order that is better for all together, so that their steps are alike.
// before is that of merge.
func (p *program) shared(patterns []*pattern, steps []*step, c *contents, before *traced) []int {
	if p.o.Purpose == LeaveOneOut || p.o.Purpose == Probabilities || !slices.ContainsFunc(steps, func(s *step) bool { return len(s.around) > 0 }) {
		return nil
	}
	repeats := p.repeats(patterns, c)
	tables := map[factor]*table{}
	certain := false
	for _, t := range p.tables(patterns, c, true) {
		tables[t.factor] = t
		certain = certain || slices.Contains(t.certain, true)
	}
	if !repeats && !certain {
		return nil
	}
	back, _, err := p.eliminate(patterns, nil, order{lastFirst: true}, maxCost)
	if err != nil {
		return nil
	}
	component := make([]int, len(p.elements))
	for i := range component {
		component[i] = i
	}
	root := func(e int) int {
		for component[e] != e {
			component[e] = component[component[e]]
			e = component[e]
		}
		return e
	}
	for _, s := range steps {
		for _, e := range s.around {
			component[root(e)] = root(s.element)
		}
	}
	linked := make([]bool, len(p.elements)) // by component: whether it has several elements
	for _, s := range steps {
		if len(s.around) > 0 {
			linked[root(s.element)] = true
		}
	}
	orders := [2][]*step{steps, back}
	var terms, rank [2][]float64
	for o, list := range orders {
		same, times := counting(len(list)), make([]int, len(list))
		if repeats {
			same = p.classes(list, patterns, c)
		}
		for _, k := range same {
			times[k]++
		}
		live := p.live(list, tables)
		if repeats && before != nil {
			p.restrict(list, slices.Compact(slices.Sorted(slices.Values(same))), same, before)
			for i, k := range same {
				if list[k].of != nil { // its sum is read from a message
					live[i] = 0
				}
			}
			for _, s := range list {
				s.of = nil
			}
		}
		terms[o], rank[o] = make([]float64, len(p.elements)), make([]float64, len(p.elements))
		for i, s := range list {
			rank[o][s.element] = float64(i)
			terms[o][root(s.element)] += live[i] / float64(times[same[i]])
		}
	}
	total := [2]float64{}
	for r := range p.elements {
		if linked[r] {
			total[0], total[1] = total[0]+terms[0][r], total[1]+terms[1][r]
		}
	}
	out := make([]int, len(p.elements))
	other := false
	for e := range out {
		o, r := 0, root(e)
		if fewer := terms[1][r] < (1-minMerged)*terms[0][r]; fewer || total[1] < (1-minMerged)*total[0] && terms[1][r] <= terms[0][r] {
			o, other = 1, other || terms[1][r] < terms[0][r]
		}
		out[e] = int(rank[o][e])
	}
	if !other {
		return nil
	}
	return out
}

// placed returns the key of a factor together with the places of its elements in a clique.
func placed(key string, scope, clique []int) string {
	for _, e := range scope {
		key += encoded(slices.Index(clique, e))
	}
	return key + encoded(-1)
}
