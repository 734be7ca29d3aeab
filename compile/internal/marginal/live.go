package marginal

import "slices"

// A message is 1, whatever the parameters, where one value is possible and all factors are 1 there:
// a dead animal stays dead, and is not seen. Such sums cost nothing, so an order of elimination is
// better if it has more of them.

// table1 says where a message may be positive, and where it is 1.
type table1 struct{ possible, certain []bool }

// live returns the number of terms of each step whose sums depend on parameters. tables has the
// factors that may be 0 or 1.
func (p *program) live(steps []*step, tables map[factor]*table) []float64 {
	out := make([]float64, len(steps))
	messages := make([]*table1, len(steps))
	work := 0
	for i, s := range steps {
		clique := append([]int{s.element}, s.around...)
		volume := p.volume(clique)
		out[i] = volume
		if volume > maxTriedValues || work > maxTried || slices.ContainsFunc(clique, func(e int) bool { return p.elements[e].cut }) {
			continue
		}
		work += int(volume)
		type use struct {
			possible, certain []bool
			strides           []int // by place in the clique
		}
		var uses []use
		unknown := false // whether a factor is never 1
		for _, f := range s.factors {
			u := use{strides: make([]int, len(clique))}
			scope := []int(nil)
			switch t, m := tables[f], (*table1)(nil); {
			case f.pattern != nil && t != nil:
				u.possible, u.certain, scope = t.possible, t.certain, t.elements
			case f.pattern == nil:
				if m = messages[f.step]; m != nil {
					u.possible, u.certain, scope = m.possible, m.certain, steps[f.step].around
				}
			}
			if scope == nil {
				unknown = true
				continue
			}
			stride := 1
			for _, e := range slices.Backward(scope) {
				u.strides[slices.Index(clique, e)] += stride
				stride *= int(p.elements[e].size())
			}
			uses = append(uses, u)
		}
		around := clique[1:]
		sizes := make([]int, len(around))
		for k, e := range around {
			sizes[k] = int(p.elements[e].size())
		}
		n := int(p.elements[s.element].size())
		rows := int(volume) / n
		m := &table1{make([]bool, rows), make([]bool, rows)}
		at := make([]int, len(around))
		out[i] = 0
		for c := range rows {
			terms, certain := 0, !unknown
			for v := range n {
				possible := true
				one := true
				for _, u := range uses {
					k := u.strides[0] * v
					for a, x := range at {
						k += u.strides[a+1] * x
					}
					possible, one = possible && u.possible[k], one && u.certain[k]
				}
				if possible {
					terms++
					certain = certain && one
				}
			}
			m.possible[c], m.certain[c] = terms > 0, certain && terms == 1
			if !m.certain[c] {
				out[i] += float64(terms)
			}
			advance(at, sizes)
		}
		messages[i] = m
	}
	return out
}
