package ad

// A side of a choice that was not taken gets adjoint 0, by the select or the
// conditional above it. What it is made of need not be finite: the logarithm of 0, a
// local variable that nobody set. So products with adjoints that come from a choice
// go through OpMulGuarded, which is 0 where the adjoint is, whatever the other factor.
// Which adjoints these are is known beforehand, across regions: of what a body
// computes, of arguments of conditionals, of streams and captured values that
// a body reads on one side only. It holds at all orders, because a guarded product is
// itself such a choice.
//
// Guarding only what stands below a choice matters: OpMul can be moved out of sums and
// joined with them, OpMulGuarded cannot.

// untaken marks the nodes below end that a choice may leave out, so that their
// adjoints may be 0 while they are not finite. outs are known to be such where left
// says so; nil: none is.
func (g *Graph) untaken(end int, outs []Ref, left []bool) []bool {
	m := make([]bool, end)
	for k, r := range outs {
		if left != nil && left[k] {
			m[r] = true
		}
	}
	results := map[Ref][]bool{}
	for i := end - 1; i >= 0; i-- {
		n := &g.Nodes[i]
		switch {
		case n.Op == OpSelect:
			m[n.Args[1]], m[n.Args[2]] = true, true
		case n.Op == OpMulGuarded:
			m[n.Args[1]] = true
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
			for k, in := range n.untakenArgs(results[Ref(i)]) {
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
	return m
}

// untakenArgs are the arguments of a region that it may leave out, of whose results
// those marked may be left out; nil: none.
func (n *Node) untakenArgs(results []bool) []bool {
	args := make([]bool, len(n.Args))
	if _, ok := n.Attr.(*If); ok {
		for k := range args[1:] {
			args[1+k] = true
		}
		return args
	}
	_, args = n.untakenLoop(results)
	return args
}

// untakenOutputs are the outputs of a region's body that may be left out.
func (n *Node) untakenOutputs(results []bool) []bool {
	if f, ok := n.Attr.(*If); ok {
		if results == nil {
			results = make([]bool, len(f.Then.Outputs))
		}
		return results
	}
	out, _ := n.untakenLoop(results)
	return out
}

// untakenLoop are the outputs and inputs of the body of a scan or loop that may be left
// out: because results are, because the body leaves them out, or because the next step
// does with what it is passed.
func (n *Node) untakenLoop(results []bool) (outs, ins []bool) {
	of := func(k int) bool { return results != nil && results[k] }
	var carries int
	var body *Graph
	switch a := n.Attr.(type) {
	case *Scan:
		carries, body = a.Carries, a.Body
		outs = make([]bool, len(body.Outputs))
		for k := range outs {
			outs[k] = k < carries && of(a.finalAt(k)) || of(carries+k) // the history, kept values and sums follow the final ones
		}
	case *While:
		carries, body = a.Carries, a.Body
		outs = make([]bool, len(body.Outputs))
		for k := range outs {
			if k < carries {
				outs[k] = of(a.finalAt(k)) || of(a.historyAt(k))
			} else {
				outs[k] = of(a.sumAt(k - carries))
			}
		}
	}
	ins = make([]bool, len(body.Inputs))
	for grown := true; grown; {
		grown = false
		m := body.untaken(len(body.Nodes), body.Outputs, outs)
		for k, in := range body.Inputs {
			if ins[k] = m[in]; ins[k] && k < carries && !outs[k] {
				outs[k], grown = true, true
			}
		}
	}
	return outs, ins
}

// times is the product of an adjoint and a factor, in a rule.
func (g *Graph) times(adj, x Ref) Ref {
	if g.guarding {
		return g.Do(OpMulGuarded, nil, adj, x)
	}
	return g.Mul(adj, x)
}

// guardedVJP is the rule of n where its adjoint may be that of a side not taken: what
// it gives is taken only where, in the element or else the lane, the adjoint is not 0.
func (g *Graph) guardedVJP(n *Node, r, adj Ref, need []bool) []Ref {
	row, zero := &table[n.Op], g.Const(0)
	switch n.Op {
	case OpSelect, OpMaxOf, OpTake, OpPut, OpReplace, OpFourier: // move adjoints, or multiply them with finite numbers
		return row.VJP(g, n, r, adj, need)
	case OpMulGuarded: // either factor, or the adjoint, may be of a side not taken
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
				m.Args[k] = g.Spread(a, lanes) // so that lanes are told apart before they are added up
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

// maskedProduct is the matrix product with zeros in the place of rows of the one and
// columns of the other argument from which comes nothing that has an adjoint.
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
		// some is, by row or column of the product, whether any of its elements is live.
		ix, size := Index{Dims: []Dim{{N: of[0], Stride: 1}, {N: of[1]}}}, of[0]
		if !rows {
			ix, size = Index{Dims: []Dim{{N: of[0]}, {N: of[1], Stride: 1}}}, of[1]
		}
		some := g.Less(zero, g.Scatter(live, ix, []int{size}))
		to := Index{Dims: []Dim{{N: t[0], Stride: 1}, {N: t[1]}}}
		if rows == trans { // they are columns of a
			to = Index{Dims: []Dim{{N: t[0]}, {N: t[1], Stride: 1}}}
		}
		m.Args[k] = g.Select(g.Gather(some, to), a, zero)
	}
	mask(0, attr.TransA, true)
	mask(1, attr.TransB, false)
	return &m
}
