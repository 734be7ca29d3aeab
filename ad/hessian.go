package ad

// HVP returns the product of the Hessian of the scalar out (of its sum, if it is an array) with a
// vector. The vector's parts v, and the result's, correspond to the parts wrt. It is computed by
// forward over reverse mode, at a few times the cost of the gradient.
func (g *Graph) HVP(out Ref, wrt, v []Ref) []Ref {
	res := g.JVP(g.Grad(out, wrt...), wrt, v)
	for k, r := range res {
		if r == None {
			res[k] = g.Expand(g.Const(0), g.Type(wrt[k]))
		}
	}
	return res
}

// Hessian returns the n×n matrix of second derivatives of the scalar out (of its sum, if it is an
// array) with respect to the n elements of wrt, which has no lanes.
func (g *Graph) Hessian(out, wrt Ref) Ref {
	n := g.Type(wrt).Size()
	h := g.Jacobian(g.Grad(out, wrt)[0], wrt, false)
	if h == None {
		return g.Expand(g.Const(0), Type{Shape: []int{n, n}})
	}
	return h
}

// Jacobian returns the derivatives of the elements of out with respect to the n elements of wrt,
// which has no lanes. Row i is the derivative with respect to element i, with a column for each
// element of out in all lanes. It is None if out does not depend on wrt. laned says that the graph
// will be used where there are lanes; the computation then adds none.
func (g *Graph) Jacobian(out, wrt Ref, laned bool) Ref {
	n := g.Type(wrt).Size()
	if g.Type(out).Total() == 1 { // one reverse sweep instead of n forward sweeps
		d := g.Grad(g.Reshape(out, nil), wrt)[0]
		if d == None {
			return None
		}
		return g.Reshape(d, []int{n, 1})
	}
	eye := make([]float64, n*n)
	for i := range n {
		eye[i*n+i] = 1
	}
	basis := g.ConstArray(Type{Shape: []int{n, n}}, eye)
	return g.directions([]Ref{out}, wrt, basis, laned, func(_ *Graph, t []Ref) []Ref { return t })[0]
}

// directions computes the tangents of outs in several directions of wrt, the rows of seeds. It
// passes them to then, which builds functions of them in the given graph, and returns these: each
// has one row per direction, with all elements of all lanes. A tangent is None if the output does
// not depend on wrt.
//
// The directions are the lanes of one forward sweep. They are the steps of a scan if the sweep has
// lanes already or if laned says that the result of then has. In both cases the size of the graph
// does not depend on the number of directions. Results that depend on no input become constants.
func (g *Graph) directions(outs []Ref, wrt, seeds Ref, laned bool, then func(h *Graph, t []Ref) []Ref) []Ref {
	t := g.Type(wrt)
	if t.Lanes > 0 {
		g.fail(OpInput, "derivatives by a value with lanes")
	}
	n := g.Type(seeds).Shape[0]
	basis := g.Reshape(seeds, append([]int{n}, t.Shape...))
	if n == 0 || laned || !g.lanesFree(outs, wrt, n) {
		return g.sweeps(basis, t, func(h *Graph, dir Ref) []Ref { return then(h, h.JVP(outs, []Ref{wrt}, []Ref{dir})) })
	}
	res := then(g, g.JVP(outs, []Ref{wrt}, []Ref{g.Lane(basis)}))
	for i, d := range res {
		if d != None {
			u := g.Unlane(g.Spread(d, n))
			res[i] = g.settled(g.Reshape(u, []int{n, g.Type(u).Size() / n}))
		}
	}
	return res
}

// settled returns the value of r as a constant, if r depends on no input; otherwise r.
func (g *Graph) settled(r Ref) Ref {
	if _, ok := g.Value(r); ok || g.Type(r).Total() > maxLaneWork {
		return r
	}
	live := g.Live([]Ref{r}, false)
	for i, l := range live {
		if l && (g.Nodes[i].Op == OpInput || table[g.Nodes[i].Op].Class == Random) {
			return r
		}
	}
	h := g.Sibling()
	h.Output(h.inline(g, nil, []Ref{r}, false)[0])
	v, err := h.Eval(nil, &Env{})
	if err != nil {
		return r
	}
	return g.ConstArray(g.Type(r), v[0])
}

// lanesFree reports whether the n directions can be lanes: no value between wrt and outs has lanes
// already, or would be too large if it existed n times.
func (g *Graph) lanesFree(outs []Ref, wrt Ref, n int) bool {
	active, live := g.dependents([]Ref{wrt}, len(g.Nodes)), g.Live(outs, false)
	for i := range active {
		if t := g.Nodes[i].Type; active[i] && live[i] && (t.Lanes > 0 || t.Size()*n > maxLaneWork) {
			return false
		}
	}
	return true
}

// jacobianBack returns the derivatives of the elements of out with respect to those of wrt, by one
// reverse sweep per element of out: row i is the derivative of element i. None if out does not
// depend on wrt.
func (g *Graph) jacobianBack(out, wrt Ref) Ref {
	flat := g.Reshape(g.Unlane(out), []int{g.Type(out).Total()})
	m := g.Type(flat).Size()
	eye := make([]float64, m*m)
	for i := range m {
		eye[i*m+i] = 1
	}
	t := Type{Shape: []int{m}}
	return g.sweeps(g.ConstArray(Type{Shape: []int{m, m}}, eye), t, func(h *Graph, seed Ref) []Ref {
		return h.Grad(h.Dot(flat, seed), wrt)
	})[0]
}

// sweeps differentiates once per row of basis, as the steps of a scan; t is the type of a row.
// sweep is built in a copy of the graph. Its new nodes become the scan's body, which captures the
// values of other nodes. The results are flat, one row per step.
func (g *Graph) sweeps(basis Ref, t Type, sweep func(h *Graph, row Ref) []Ref) []Ref {
	h := g.clone()
	dir := h.Input(t)
	res := sweep(h, dir)
	var wanted []Ref
	for i, d := range res {
		if d != None {
			u := h.Unlane(d)
			res[i] = h.Reshape(u, []int{h.Type(u).Size()})
			wanted = append(wanted, res[i])
		}
	}
	if len(wanted) == 0 {
		return res
	}

	body, first := g.Sibling(), len(g.Nodes)
	w := NewRewriter(h, body)
	w.Put(dir, body.Input(t))
	args := []Ref{basis}
	capture := func(r Ref) Ref { // makes a value of g available in the body
		u := g.Unlane(r)
		args = append(args, u)
		in := body.Input(g.Type(u))
		if g.Type(r).Lanes > 0 {
			return body.Lane(in)
		}
		return in
	}
	w.Outside = func(r Ref) Ref {
		n := &h.Nodes[r]
		switch {
		case n.Op == OpConst:
			return body.ConstArray(n.Type, n.Data)
		case table[n.Op].Class == Region: // a region itself has no value; its results are captured
			return None
		}
		return capture(r)
	}
	w.Node = func(_ Ref, n *Node, attr any, args []Ref) Ref {
		if n.Op == OpResult && args[0] == None {
			return capture(g.Do(OpResult, n.Attr, n.Args[0]))
		}
		return w.Same(n, attr, args)
	}
	fresh := h.Live(wanted, false)
	clear(fresh[:first])
	w.Run(fresh)
	for _, r := range wanted {
		body.Output(w.At(r))
	}
	scan := g.DoScan(&Scan{Body: body, Streams: 1, Outs: len(wanted), Steps: g.Type(basis).Shape[0]}, args)
	k := 0
	for i, d := range res {
		if d != None {
			res[i] = g.settled(g.Kept(scan, k))
			k++
		}
	}
	return res
}
