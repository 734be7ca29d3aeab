package marginal

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/compile/ir"
)

// Data may leave an element a single value: an animal is alive at all times until it is last seen.
// Such an element is not summed. The statements that read it have its value, so that a chain falls
// apart there, and what lies behind is the same for all chains.

// table says which values of the elements of an instance have a positive density, as far as data
// show; the last element changes fastest.
type table struct {
	factor   factor
	elements []int
	sizes    []int
	possible []bool
	certain  []bool // where the density is 1
}

// determine finds the elements that data leave one value, by arc consistency: a value is possible
// if each factor is positive for it together with some possible values of its other elements. It
// reports whether there are any.
func (p *program) determine(patterns []*pattern, c *contents) bool {
	possible := make([][]bool, len(p.elements))
	for e, el := range p.elements {
		if el.size() <= maxTriedValues {
			possible[e] = make([]bool, el.size())
			for v := range possible[e] {
				possible[e][v] = true
			}
		}
	}
	tables := p.tables(patterns, c, false)
	around := make([][]int, len(p.elements))
	queue := make([]int, len(tables))
	waits := make([]bool, len(tables))
	for k, t := range tables {
		queue[k], waits[k] = k, true
		for _, e := range t.elements {
			around[e] = append(around[e], k)
		}
	}
	for len(queue) > 0 {
		k := queue[0]
		queue, waits[k] = queue[1:], false
		supported := tables[k].supported(possible)
		for a, e := range tables[k].elements {
			some, fewer := false, false
			for v, ok := range possible[e] {
				some = some || supported[a][v]
				fewer = fewer || ok && !supported[a][v]
			}
			if !some {
				return false // the density is 0
			}
			if !fewer {
				continue
			}
			possible[e] = supported[a]
			for _, o := range around[e] {
				if o != k && !waits[o] {
					queue, waits[o] = append(queue, o), true
				}
			}
		}
	}
	found := false
	for e := range p.elements {
		el := &p.elements[e]
		only, n := int64(0), 0
		for v, ok := range possible[e] {
			if ok {
				only, n = el.lo+int64(v), n+1
			}
		}
		if n != 1 || el.cut {
			continue
		}
		el.lo, el.hi, found = only, only, true
		if el.of.determined == nil {
			el.of.determined = map[int]int64{}
		}
		el.of.determined[el.of.cell(e)] = only
	}
	return found
}

// supported returns, for each element, the possible values for which the factor is positive.
func (t *table) supported(possible [][]bool) [][]bool {
	out := make([][]bool, len(t.elements))
	for a, n := range t.sizes {
		out[a] = make([]bool, n)
	}
	at := make([]int, len(t.sizes))
	for _, ok := range t.possible {
		for a, e := range t.elements {
			ok = ok && possible[e][at[a]]
		}
		if ok {
			for a, v := range at {
				out[a][v] = true
			}
		}
		advance(at, t.sizes)
	}
	return out
}

// advance goes to the next combination of positions.
func advance(at, sizes []int) {
	for a := len(at) - 1; a >= 0; a-- {
		if at[a]++; at[a] < sizes[a] {
			return
		}
		at[a] = 0
	}
}

// tables evaluates the factors that may be 0 or, with certain, also those that may be 1. Those of a
// count without an upper bound are left out, since more values may follow.
func (p *program) tables(patterns []*pattern, c *contents, certain bool) (out []*table) {
	work := 0
	for _, pat := range patterns {
		if !p.deniable(pat) || len(pat.instances[0].elements) == 0 {
			continue
		}
		known := map[string]*table{}
		var t *tracer
		for k, n := range c.all(pat) {
			in := &pat.instances[k]
			ok, volume := true, 1
			key := fmt.Sprint(n)
			var sizes []int
			for _, e := range in.elements {
				el := &p.elements[e]
				ok = ok && !el.cut && el.size() <= maxTriedValues
				volume *= int(min(el.size(), maxTriedValues+1))
				ok = ok && volume <= maxTriedValues
				key += fmt.Sprintf(",%d:%d", el.lo, el.hi)
				sizes = append(sizes, int(el.size()))
			}
			if !ok {
				continue
			}
			of, seen := known[key]
			if !seen {
				if work += volume; work > maxTried {
					return nil
				}
				if t == nil {
					t = p.tracer()
				}
				of = t.table(pat, in, sizes)
				known[key] = of
			}
			if of != nil && (slices.Contains(of.possible, false) || certain && slices.Contains(of.certain, true)) {
				out = append(out, &table{factor{pattern: pat, instance: k}, in.elements, sizes, of.possible, of.certain})
			}
		}
	}
	return out
}

// table evaluates a factor for all values of its elements; nil if it cannot be run.
func (t *tracer) table(pat *pattern, in *instance, sizes []int) *table {
	if err := t.enter(pat, in); err != nil {
		return nil
	}
	n := 1
	sets := make([]func(int, int64), len(sizes))
	for a, e := range in.elements {
		n *= sizes[a]
		sets[a] = t.give(t.p.elements[e].of)
	}
	d := &denial{t: t, leaf: pat.leaf, local: map[*ir.Var]bool{}}
	at := make([]int, len(sizes))
	out := &table{possible: make([]bool, n), certain: make([]bool, n)}
	for i := range n {
		for a, e := range in.elements {
			el := &t.p.elements[e]
			sets[a](el.of.cell(e), el.lo+int64(at[a]))
		}
		out.possible[i] = !d.denies()
		out.certain[i] = out.possible[i] && !d.open
		advance(at, sizes)
	}
	for _, e := range in.elements {
		delete(t.set, t.p.nodes.Vars[t.p.elements[e].of.v][0])
	}
	return out
}
