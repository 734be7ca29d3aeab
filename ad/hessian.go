package ad

import "maps"

// HVP returns the products of the Hessian of the scalar out (of its sum, if it
// is an array) with the vector whose parts are v, in the parts wrt: forward over
// reverse mode, a few times the cost of the gradient.
func (g *Graph) HVP(out Ref, wrt, v []Ref) []Ref {
	res := g.JVP(g.Grad(out, wrt...), wrt, v)
	for k, r := range res {
		if r == None {
			res[k] = g.Expand(g.Const(0), g.Type(wrt[k]))
		}
	}
	return res
}

// Hessian returns the n×n matrix of second derivatives of the scalar out (of its
// sum, if it is an array) by the n elements of wrt, which has no lanes.
func (g *Graph) Hessian(out, wrt Ref) Ref {
	n := g.Type(wrt).Size()
	h := g.Jacobian(g.Grad(out, wrt)[0], wrt)
	if h == None {
		return g.Expand(g.Const(0), Type{Shape: []int{n, n}})
	}
	return h
}

// maxLaneWork bounds the elements of one value in all directions at once, from
// where on directions are taken one after the other.
const maxLaneWork = 1 << 22

// Jacobian returns the derivatives of the elements of out by the n elements of
// wrt, which has no lanes: row i, of as many columns as out has elements over
// all lanes, is the tangent in the direction i; None where out does not depend on
// wrt. The directions are lanes of one forward sweep or, where the sweep has
// lanes of its own, the steps of a scan: the size of the graph does not grow
// with n.
func (g *Graph) Jacobian(out, wrt Ref) Ref {
	t := g.Type(wrt)
	n := t.Size()
	if t.Lanes > 0 {
		g.fail(OpInput, "derivatives by a value with lanes")
	}
	eye := make([]float64, n*n)
	for i := range n {
		eye[i*n+i] = 1
	}
	basis := g.ConstArray(Type{Shape: append([]int{n}, t.Shape...)}, eye)
	total := g.Type(out).Total()
	if n == 0 || !g.lanesFree(out, wrt, n) {
		return g.jacobianScan(out, wrt, basis)
	}
	d := g.JVP([]Ref{out}, []Ref{wrt}, []Ref{g.Lane(basis)})[0]
	if d == None {
		return None
	}
	return g.Reshape(g.Unlane(g.Spread(d, n)), []int{n, total})
}

// lanesFree reports whether no value between wrt and out has lanes or is too
// large to be taken n times.
func (g *Graph) lanesFree(out, wrt Ref, n int) bool {
	active, live := g.dependents([]Ref{wrt}, int(out)+1), g.Live([]Ref{out}, false)
	for i := range active {
		if t := g.Nodes[i].Type; active[i] && live[i] && (t.Lanes > 0 || t.Size()*n > maxLaneWork) {
			return false
		}
	}
	return true
}

// jacobianScan takes one direction per step. The sweep is built in a copy of the
// graph, from which the body takes what is new; the rest is captured.
func (g *Graph) jacobianScan(out, wrt, basis Ref) Ref {
	h := *g
	h.Nodes = append([]Node(nil), g.Nodes...)
	h.Inputs = append([]Ref(nil), g.Inputs...)
	h.cse, h.consts = maps.Clone(g.cse), maps.Clone(g.consts)
	h.uniform, h.fills, h.lower = maps.Clone(g.uniform), maps.Clone(g.fills), maps.Clone(g.lower)
	dir := h.Input(g.Type(wrt))
	d := h.JVP([]Ref{out}, []Ref{wrt}, []Ref{dir})[0]
	if d == None {
		return None
	}
	d = h.Reshape(h.Unlane(d), []int{g.Type(out).Total()})

	body := NewGraph()
	to := make([]Ref, len(h.Nodes))
	for i := range to {
		to[i] = None
	}
	to[dir] = body.Input(g.Type(wrt))
	args := []Ref{basis}
	of := func(r Ref) Ref { // what the body sees in place of a node
		if n := &h.Nodes[r]; to[r] == None {
			switch {
			case n.Op == OpConst:
				to[r] = body.ConstArray(n.Type, n.Data)
			case n.Type.Lanes > 0:
				u := g.Unlane(r)
				args = append(args, u)
				to[r] = body.Lane(body.Input(g.Type(u)))
			default:
				args = append(args, r)
				to[r] = body.Input(n.Type)
			}
		}
		return to[r]
	}
	live := h.Live([]Ref{d}, false)
	for i := len(g.Nodes); i < len(h.Nodes); i++ {
		n := &h.Nodes[i]
		if !live[i] || to[i] != None || n.Op == OpConst {
			continue
		}
		in := make([]Ref, len(n.Args))
		for k, a := range n.Args {
			in[k] = of(a)
		}
		body.site = n.Site
		to[i] = body.Do(n.Op, n.Attr, in...)
	}
	body.Output(of(d))
	return g.Kept(g.DoScan(&Scan{Body: body, Streams: 1, Outs: 1, Steps: g.Type(basis).Shape[0]}, args), 0)
}
