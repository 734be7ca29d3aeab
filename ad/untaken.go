package ad

import "slices"

// This file: sides of choices that were not taken. The select or conditional that made the choice
// gives such a side the adjoint 0. The values on that side need not be finite: they may be the
// logarithm of 0, or a local variable that was never set. So where an adjoint comes from a choice,
// it is multiplied by OpMulGuarded, which gives 0 if the adjoint is 0, whatever the other factor
// is.
//
// Which adjoints these are is found beforehand, across regions: they include adjoints of nodes in a
// body, of arguments of conditionals, and of streams and captured values that a body reads on one
// side only. This holds for derivatives of all orders, because a guarded product is itself a
// choice.
//
// Only nodes below a choice are guarded, because guarding has a price: OpMul can be moved out of
// sums and combined with them, OpMulGuarded cannot.

// untaken marks the nodes before end that may be on a side not taken: their adjoint is then 0, but
// their value may not be finite. left marks outs that are known to be such; nil: none is.
func (g *Graph) untaken(end int, outs []Ref, left []bool) []bool {
	c := choices{g: g, m: make([]bool, end)}
	c.mark(outs, left)
	return c.m
}

// choices marks the nodes of a graph that may be on a side not taken. Marks are only added. When a
// graph is visited again, the marks of its loops are kept, so that the cost does not multiply with
// the depth of nesting.
type choices struct {
	g     *Graph
	m     []bool
	loops map[Ref]*loopChoices
}

// loopChoices has the marks of a loop, a region whose body repeats: of the body's nodes, outputs
// and inputs, given the marks of the region's results.
type loopChoices struct {
	layout             Layout
	results, outs, ins []bool
	body               choices
}

// mark marks outputs where left is set, and everything that they are computed from.
func (c *choices) mark(outs []Ref, left []bool) {
	g, m := c.g, c.m
	for k, r := range outs {
		if left != nil && left[k] {
			m[r] = true
		}
	}
	results := map[Ref][]bool{}
	for i := len(m) - 1; i >= 0; i-- {
		n := &g.Nodes[i]
		switch {
		case n.Op == OpSelect && n.Attr == nil:
			m[n.Args[1]], m[n.Args[2]] = true, true
		case n.Op == OpMulGuarded:
			m[n.Args[1]] = true
		case table[n.Op].Flat: // passes no adjoint on
			continue
		case n.Op == OpResult:
			if m[i] {
				r := n.Args[0]
				if results[r] == nil {
					results[r] = make([]bool, len(g.Nodes[r].Results()))
				}
				results[r][n.ResultIndex()] = true
			}
			continue
		case table[n.Op].Class == Region:
			if l := n.Layout(); l.Control == Chosen {
				for _, a := range n.Args[l.First():] {
					m[a] = true
				}
				continue
			}
			for k, in := range c.loop(Ref(i), n).mark(n, results[Ref(i)]) {
				m[n.Args[k]] = m[n.Args[k]] || in
			}
			continue
		}
		if m[i] {
			for _, a := range n.Args {
				m[a] = true
			}
		}
	}
}

func (c *choices) loop(r Ref, n *Node) *loopChoices {
	l := c.loops[r]
	if l == nil {
		l = newLoopChoices(n)
		if c.loops == nil {
			c.loops = map[Ref]*loopChoices{}
		}
		c.loops[r] = l
	}
	return l
}

// untakenOutputs returns the outputs of a region's body that may be on a side not taken, given the
// marked results.
func (n *Node) untakenOutputs(results []bool) []bool {
	l := newLoopChoices(n)
	l.mark(n, results)
	return l.outs
}

func newLoopChoices(n *Node) *loopChoices {
	layout := n.Layout()
	body := layout.Repeated()
	return &loopChoices{
		layout: layout,
		outs:   make([]bool, len(body.Outputs)), ins: make([]bool, len(body.Inputs)),
		body: choices{g: body, m: make([]bool, len(body.Nodes))},
	}
}

// mark marks the outputs and inputs of a loop's body that may be on a side not taken. An output is
// marked if the region's result is, or if the next step uses the value only on one side. It returns
// the marks of the inputs.
func (l *loopChoices) mark(n *Node, results []bool) []bool {
	if results == nil {
		results = make([]bool, len(n.Results()))
	}
	if l.results != nil && slices.Equal(l.results, results) {
		return l.ins
	}
	l.results = results
	if s, ok := n.Attr.(*Scan); ok && s.Finite {
		for k := range l.ins {
			l.ins[k] = slices.Contains(results, true)
		}
		return l.ins
	}
	for i, p := range l.layout.Parts() {
		if results[i] && p.From != Trips && p.From != Stride {
			l.outs[p.Output] = true
		}
	}
	for grown := true; grown; {
		grown = false
		l.body.mark(l.body.g.Outputs, l.outs)
		for k, in := range l.body.g.Inputs {
			if l.ins[k] = l.body.m[in]; l.ins[k] && k < l.layout.Carries && !l.outs[k] {
				l.outs[k], grown = true, true
			}
		}
	}
	return l.ins
}

// times returns the product of an adjoint and a factor, guarded if the adjoint may belong to a side
// not taken.
func (g *Graph) times(adj, x Ref) Ref {
	if g.guarding {
		return g.Do(OpMulGuarded, nil, adj, x)
	}
	return g.Mul(adj, x)
}

// guardedVJP is the rule of n if its adjoint may belong to a side not taken. It is correct where
// the adjoint of the element, or for ops on whole lanes that of the lane, is not 0; elsewhere its
// result is not used.
func (g *Graph) guardedVJP(n *Node, r, adj Ref, need []bool) []Ref {
	row, zero := &table[n.Op], g.Const(0)
	switch n.Op {
	case OpSelect, OpBoundAdjoint, OpMaxOf, OpTake, OpPut, OpReplace, OpAddAt, OpFourier: // these move adjoints, or multiply them with finite numbers
		return row.VJP(g, n, r, adj, need)
	case OpMulGuarded: // each factor, and the adjoint, may belong to a side not taken
		x, y := n.Args[0], n.Args[1]
		return []Ref{g.Do(OpMulGuarded, nil, adj, y), g.Do(OpMulGuarded, nil, g.Select(g.Do(OpNotEqual, nil, x, zero), adj, zero), x)}
	case OpLogSumExp:
		g.guarding = true
		defer func() { g.guarding = false }()
		return row.VJP(g, n, r, adj, need)
	case OpMatMul:
		return row.VJP(g, g.maskedProduct(n, adj), r, adj, need)
	}
	if row.Class == Linear {
		return row.VJP(g, n, r, adj, need)
	}
	live := g.Do(OpNotEqual, nil, adj, zero)
	lanes := g.Type(adj).Lanes
	m := *n
	if row.Class != Elementwise {
		live = g.Less(zero, g.Sum(live))
		m.Args = append([]Ref(nil), n.Args...)
		for k, a := range m.Args {
			if lanes > 0 {
				// Lanes stay separate until their adjoints are summed.
				m.Args[k] = g.Spread(a, lanes)
			}
		}
	}
	adjs := row.VJP(g, &m, r, adj, need)
	for k, a := range adjs {
		if a != None && need[k] {
			adjs[k] = g.Select(live, a, zero)
		}
	}
	return adjs
}

// maskedProduct returns a matrix product in which some rows of the first factor and columns of the
// second are replaced by zeros: those of which no element of the product has an adjoint.
func (g *Graph) maskedProduct(n *Node, adj Ref) *Node {
	attr, zero := n.Attr.(MatMulAttr), g.Const(0)
	live := g.Do(OpNotEqual, nil, adj, zero)
	m := *n
	m.Args = append([]Ref(nil), n.Args...)
	mask := func(k int, trans bool, rows bool) {
		a := n.Args[k]
		if g.finiteConst(a) {
			return
		}
		t, of := g.Type(a).Shape, g.Type(adj).Shape
		// some reports, for each row or column of the product, whether any of its elements has an
		// adjoint.
		ix, size := Index{Dims: []Dim{{N: of[0], Stride: 1}, {N: of[1]}}}, of[0]
		if !rows {
			ix, size = Index{Dims: []Dim{{N: of[0]}, {N: of[1], Stride: 1}}}, of[1]
		}
		some := g.Less(zero, g.Scatter(live, ix, []int{size}))
		to := Index{Dims: []Dim{{N: t[0], Stride: 1}, {N: t[1]}}}
		if rows == trans { // the rows of the product are columns of a
			to = Index{Dims: []Dim{{N: t[0]}, {N: t[1], Stride: 1}}}
		}
		m.Args[k] = g.Select(g.Gather(some, to), a, zero)
	}
	mask(0, attr.TransA, true)
	mask(1, attr.TransB, false)
	return &m
}
