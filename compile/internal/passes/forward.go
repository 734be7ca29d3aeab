package passes

import (
	"github.com/ppl-lang/ppl/ad"
)

// forwardElements forwards stores to loads, a part of scalar replacement (moves). It has what is
// taken out of an array taken from where its elements were computed, if the array has only been
// put together of elements of others: variables that loops in lanes fill step by step, some of the
// lanes at each, would be copied whole for each step, and their adjoints likewise.
//
// It runs before the density is differentiated.
func forwardElements(g *ad.Graph) *ad.Graph {
	x := &forwarding{left: mostFollowed, known: map[ad.Ref]*origin{}}
	return rebuildTo(g.Beside(), g, nil, func(w *ad.Rewriter, _ ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		made := w.Same(n, attr, args)
		if n.Op != ad.OpGather || w.To.Nodes[made].Op != ad.OpGather {
			return made
		}
		x.g = w.To
		return x.instead(made)
	})
}

// forwarding knows where elements come from.
type forwarding struct {
	g     *ad.Graph
	left  int // elements that may still be looked at
	known map[ad.Ref]*origin
}

// origin is where the elements of a value, counted over all lanes, come from: element e is element
// at[e] of parts[part[e]].
type origin struct {
	parts    []ad.Ref
	part, at []int32
	deep     bool // elements are moved more than once
}

// instead is what takes the place of a gather.
func (x *forwarding) instead(r ad.Ref) ad.Ref {
	g := x.g
	n := &g.Nodes[r]
	source := n.Args[0]
	for g.Nodes[source].Op == ad.OpReshape || g.Nodes[source].Op == ad.OpLane || g.Nodes[source].Op == ad.OpUnlane {
		source = g.Nodes[source].Args[0]
	}
	if op := g.Nodes[source].Op; op != ad.OpGather && op != ad.OpConcat {
		return r
	}
	o := x.origin(r)
	if o == nil {
		return r
	}
	used := o.used()
	total := 0
	for _, p := range used {
		total += g.Type(o.parts[p]).Total()
	}
	if len(used) == 0 || len(used) > 1 && (!o.deep || total > 2*g.Type(source).Total()) {
		return r
	}
	t := n.Type
	flat := make([]ad.Ref, len(used))
	first := make([]int32, len(o.parts))
	at := int32(0)
	for i, p := range used {
		v := o.parts[p]
		first[p] = at
		at += int32(g.Type(v).Total())
		flat[i] = g.Reshape(g.Unlane(v), []int{g.Type(v).Total()})
	}
	from := make([]int32, len(o.at))
	for e, p := range o.part {
		from[e] = first[p] + o.at[e]
	}
	shape := t.Shape
	if t.Lanes > 0 {
		shape = append([]int{t.Lanes}, shape...)
	}
	out := g.Reshape(g.Gather(g.Concat(flat...), indexOf(from, t)), shape)
	if t.Lanes > 0 {
		out = g.Lane(out)
	}
	return out
}

// indexOf is the index that takes these elements, of a value of a type.
func indexOf(from []int32, t ad.Type) ad.Index {
	inner := t.Size()
	outer := len(from) / inner
	ix := ad.Index{Offset: int(from[0]), Dims: []ad.Dim{{N: outer}, {N: inner}}}
	if outer > 1 {
		ix.Dims[0].Stride = int(from[inner] - from[0])
	}
	if inner > 1 {
		ix.Dims[1].Stride = int(from[1] - from[0])
	}
	for e, v := range from {
		if int(v) != ix.Offset+e/inner*ix.Dims[0].Stride+e%inner*ix.Dims[1].Stride {
			return ad.Index{Dims: []ad.Dim{{N: len(from), Table: from}}}
		}
	}
	if inner == 1 {
		ix.Dims = ix.Dims[:1]
	}
	return ix
}

// used are the parts that elements come from, in their order.
func (o *origin) used() []int32 {
	is := make([]bool, len(o.parts))
	for _, p := range o.part {
		is[p] = true
	}
	var out []int32
	for p, u := range is {
		if u {
			out = append(out, int32(p))
		}
	}
	return out
}

// origin is where the elements of r come from; nil if that is too much to look at.
func (x *forwarding) origin(r ad.Ref) *origin {
	o, ok := x.known[r]
	if !ok {
		o = x.find(r)
		x.known[r] = o
	}
	return o
}

func (x *forwarding) find(r ad.Ref) *origin {
	g := x.g
	n := &g.Nodes[r]
	total := n.Type.Total()
	if x.left -= total; x.left < 0 || total == 0 {
		return nil
	}
	o := &origin{part: make([]int32, 0, total), at: make([]int32, 0, total)}
	switch n.Op {
	case ad.OpReshape, ad.OpLane, ad.OpUnlane:
		return x.origin(n.Args[0])
	case ad.OpGather:
		a := x.origin(n.Args[0])
		if a == nil {
			return nil
		}
		source := g.Type(n.Args[0])
		o.parts, o.deep = a.parts, a.deep || len(a.parts) > 1 || a.parts[0] != n.Args[0]
		for lane := range max(source.Lanes, 1) {
			n.Index().Each(func(_, e int) {
				e += lane * source.Size()
				o.part, o.at = append(o.part, a.part[e]), append(o.at, a.at[e])
			})
		}
	case ad.OpConcat:
		place := map[ad.Ref]int32{}
		of, to := make([]*origin, len(n.Args)), make([][]int32, len(n.Args))
		for k, a := range n.Args {
			if of[k] = x.origin(a); of[k] == nil {
				return nil
			}
			o.deep = o.deep || of[k].deep || n.Type.Lanes > 0 // numbers of lanes lie apart
			for _, p := range of[k].parts {
				at, ok := place[p]
				if !ok {
					at = int32(len(o.parts))
					place[p] = at
					o.parts = append(o.parts, p)
				}
				to[k] = append(to[k], at)
			}
		}
		for lane := range max(n.Type.Lanes, 1) {
			for k, a := range n.Args {
				t, e := g.Type(a), 0
				if t.Lanes > 0 {
					e = lane * t.Size()
				}
				for range t.Size() {
					o.part, o.at = append(o.part, to[k][of[k].part[e]]), append(o.at, of[k].at[e])
					e++
				}
			}
		}
	default:
		o.parts = []ad.Ref{r}
		o.part = o.part[:total]
		for e := range total {
			o.at = append(o.at, int32(e))
		}
	}
	return o
}
