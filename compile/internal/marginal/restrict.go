package marginal

import (
	"maps"
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
)

// A sum next to an element that data leave one value is often a message at that value: an animal
// that is alive when it is last seen is not seen again with the probability that the message to
// that occasion has for animals that are alive. The density takes it from the message.

// traced has the factors as they were found before elements were determined.
type traced struct {
	patterns []*pattern
	same     *contents
}

// restriction says that a sum is the message of another step at given values of the elements around
// that one.
type restriction struct {
	step   int
	values []int64
}

// restrict finds the steps whose sums are messages of others, and returns the rest of only. same
// has the first equal step of each.
func (p *program) restrict(steps []*step, only, same []int, before *traced) []int {
	index := map[*leaf]map[string]factor{}
	for _, pat := range before.patterns {
		if index[pat.leaf] == nil {
			index[pat.leaf] = map[string]factor{}
		}
		for k := range pat.instances {
			index[pat.leaf][encoded(pat.instances[k].loops...)] = factor{pattern: pat, instance: k}
		}
	}
	number := map[*pattern]int{}
	for i, pat := range before.patterns {
		number[pat] = i
	}
	// key identifies the sum of a step as a function of the elements around it, and of those with
	// one value, which it returns; ok is false if there is no such function.
	key := func(s *step) (key string, fixed []int, ok bool) {
		clique := append([]int{s.element}, s.around...)
		olds := make([]factor, len(s.factors))
		for i, f := range s.factors {
			if f.pattern == nil {
				continue
			}
			if olds[i], ok = index[f.pattern.leaf][encoded(f.pattern.instances[f.instance].loops...)]; !ok {
				return "", nil, false
			}
			for _, e := range olds[i].pattern.instances[olds[i].instance].elements {
				if slices.Contains(clique, e) || slices.Contains(fixed, e) {
					continue
				}
				if p.elements[e].size() != 1 {
					return "", nil, false
				}
				fixed = append(fixed, e)
			}
		}
		slices.Sort(fixed)
		clique = append(clique, fixed...)
		el := p.elements[s.element]
		key = encoded(int(el.lo), int(el.hi))
		for _, e := range clique {
			key += encoded(p.elements[e].of.id)
		}
		var factors []string
		for i, f := range s.factors {
			k, scope := "", []int(nil)
			if old := olds[i]; old.pattern != nil {
				k = encoded(number[old.pattern], before.same.all(old.pattern)[old.instance])
				scope = old.pattern.instances[old.instance].elements
			} else {
				k, scope = encoded(-1, same[f.step]), steps[f.step].around
			}
			factors = append(factors, placed(k, scope, clique))
		}
		slices.Sort(factors)
		for _, f := range factors {
			key += encoded(-1) + f
		}
		return key, fixed, true
	}
	cut := func(s *step) bool {
		return slices.ContainsFunc(append([]int{s.element}, s.around...), func(e int) bool { return p.elements[e].cut })
	}
	messages := map[string]int{}
	for _, i := range only {
		if s := steps[i]; len(s.around) > 0 && !cut(s) {
			if k, fixed, ok := key(s); ok && len(fixed) == 0 {
				messages[k] = i
			}
		}
	}
	if len(messages) == 0 {
		return only
	}
	var left []int
	for _, i := range only {
		s := steps[i]
		if len(s.around) == 0 && !cut(s) && p.elements[s.element].size() > 1 {
			k, fixed, ok := key(s)
			if from, found := messages[k]; ok && found && len(fixed) > 0 {
				r := &restriction{step: from}
				inside := true
				for j, e := range fixed {
					around := p.elements[steps[from].around[j]]
					v := p.elements[e].lo
					inside = inside && around.lo <= v && v <= around.hi
					r.values = append(r.values, v)
				}
				if inside {
					s.of = r
					continue
				}
			}
		}
		left = append(left, i)
	}
	return left
}

// restricted returns the statements that add the sums that are messages of other steps to the
// target.
func (w *writer) restricted(m messages) []ast.Stmt {
	type column struct{ numbers, positions, times []int64 }
	byRank := map[int]*column{}
	for _, s := range w.steps {
		if s.of == nil || s.times == 0 {
			continue
		}
		from := w.steps[s.of.step]
		rank := len(from.around)
		c := byRank[rank]
		if c == nil {
			c = &column{}
			byRank[rank] = c
		}
		at, stride := int64(1), int64(1)
		for k, e := range slices.Backward(from.around) {
			at += stride * (s.of.values[k] - w.p.elements[e].lo)
			stride *= m.width[rank][k]
		}
		c.numbers = append(c.numbers, int64(from.message)-m.first[rank]+1)
		c.positions, c.times = append(c.positions, at), append(c.times, int64(s.times))
	}
	var out []ast.Stmt
	for _, rank := range slices.Sorted(maps.Keys(byRank)) {
		of := byRank[rank]
		mark := w.p.names.mark()
		c := counter{name: w.p.names.fresh("q"), values: make([]int64, len(of.times))}
		for k := range c.values {
			c.values[k] = int64(k + 1)
		}
		message := w.at(w.name(m.name[rank]), w.of(c, of.numbers), w.of(c, of.positions))
		add := w.target(w.multiplied(c, of.times, message))
		if len(of.times) > 1 {
			add = w.loop(c.name, w.int(1), w.int(int64(len(of.times))), add)
		}
		out = append(out, add)
		w.p.names.release(mark)
	}
	return out
}
