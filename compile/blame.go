package compile

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/source"
)

// Blame finds the statement that makes the log density at x infinite or NaN. It follows operands
// that are not finite back from the log density, down to a node whose own operands are finite. ok
// is false if the log density is finite, if x is rejected, or if no statement can be named. It
// evaluates the whole graph node by node and is meant for messages.
func (m *Model) Blame(x []float64) (statement source.Span, ok bool) {
	g, sites := m.bound.Density, m.bound.Sites
	if m.Interpreted() {
		r, err := m.record(x, &ad.Env{})
		if err != nil {
			return source.Span{}, false
		}
		g, sites = r.Graph, r.Sites
	}
	// The values of all nodes that the log density needs.
	all := *g
	index := map[ad.Ref]int{}
	all.Outputs = nil
	for i, live := range g.Live(g.Outputs[:1], false) {
		if live {
			index[ad.Ref(i)] = len(all.Outputs)
			all.Outputs = append(all.Outputs, ad.Ref(i))
		}
	}
	values, err := all.Eval(m.split(x), &ad.Env{})
	if err != nil {
		return source.Span{}, false
	}
	bad := func(r ad.Ref) bool {
		i, known := index[r]
		return known && hasNonFinite(values[i])
	}
	at := g.Outputs[0]
	if !bad(at) {
		return source.Span{}, false
	}
	for {
		if s := int(g.Nodes[at].Site); s < len(sites) && sites[s].IsValid() {
			statement, ok = sites[s], true
		}
		next, found := at, false
		for _, a := range g.Nodes[at].Args {
			if g.Nodes[a].Op != ad.OpConst && g.Nodes[a].Op != ad.OpInput && bad(a) {
				next, found = a, true
				break
			}
		}
		if !found {
			return statement, ok
		}
		at = next
	}
}

func hasNonFinite(values []float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return true
		}
	}
	return false
}
