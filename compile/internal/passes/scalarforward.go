package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// replaceElements forwards stores to loads, and writes out short sums. Suppose that an array was
// only put together from parts, and that some elements are read. The reads then use the parts.
// Otherwise variables that loops in lanes fill step by step, in some lanes each time, would be
// copied whole at each step, and so would their adjoints.
//
// All gathers from an array are decided together, so that they share its replacement: the parts
// that at least one of them reads, put together once. That pays if fewer numbers are put together
// than before, because some are never read, or because elements were moved more than once.
//
// The pass runs before the density is differentiated.
func replaceElements(g *ad.Graph) *ad.Graph {
	x := &forwarding{g: g, left: maxFollowed, known: map[ad.Ref]*origin{}, of: map[ad.Ref]*forwarded{}, uses: make([]int, len(g.Nodes)),
		place: make([]int32, len(g.Nodes)), flat: slices.Repeat([]ad.Ref{ad.None}, len(g.Nodes))}
	x.decide()
	return rebuildTo(g.Sibling(), g, replaceElements, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if f := x.of[r]; f != nil {
			return x.read(w, r, f)
		}
		if n.Op == ad.OpLogSumExp {
			if sum := shortSum(w.To, n, args[0]); sum != ad.None {
				return sum
			}
		}
		return w.Same(n, attr, args)
	})
}

// forwarding finds the origins of elements, and the gathers that are replaced.
type forwarding struct {
	g     *ad.Graph
	left  int // elements that may still be examined
	known map[ad.Ref]*origin
	uses  []int
	of    map[ad.Ref]*forwarded // by gather that no longer reads its array
	place []int32               // by part: where the last concatenation with it has the part
	flat  []ad.Ref              // by part: the part as a list in the new graph; None before
}

// forwarded is the replacement of an array: the parts that are read, in order.
type forwarded struct {
	parts []ad.Ref
	first []int32 // by part of the array: index of its first element among the elements of parts
	total int
	whole ad.Ref // the parts put together, in the new graph; None before
}

// origin records where the elements of a value come from: element e, counted over all lanes, is
// element at[e] of parts[part[e]]. moves is the number of elements moved for this value alone.
type origin struct {
	parts    []ad.Ref
	part, at []int32
	moves    int
}

// decide finds the gathers that no longer read their arrays. It goes backwards from the density, so
// that all readers of an array are known before the array is visited.
func (x *forwarding) decide() {
	g := x.g
	live := g.Live(g.Outputs, true)
	whole := make([]bool, len(g.Nodes)) // by node: whether a node other than a gather reads it
	readers := make([][]ad.Ref, len(g.Nodes))
	for _, r := range slices.Concat(g.Outputs, g.SideEffects) {
		whole[r] = true
		x.uses[r]++
	}
	for i := range g.Nodes {
		if live[i] {
			for _, a := range g.Nodes[i].Args {
				x.uses[a]++
			}
		}
	}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		r, n := ad.Ref(i), &g.Nodes[i]
		if !live[i] {
			continue
		}
		if len(readers[i]) > 0 {
			if !x.forward(r, readers[i], whole[i]) {
				whole[i] = true
			} else {
				for _, p := range x.known[r].parts {
					whole[p] = true
				}
			}
		}
		if !whole[i] {
			continue
		}
		for _, a := range n.Args {
			if n.Op == ad.OpGather {
				a = x.array(a)
			}
			if op := g.Nodes[a].Op; n.Op == ad.OpGather && (op == ad.OpGather || op == ad.OpConcat) {
				readers[a] = append(readers[a], r)
			} else {
				whole[a] = true
			}
		}
	}
}

// array returns the array that r is a reshape of.
func (x *forwarding) array(r ad.Ref) ad.Ref {
	for n := &x.g.Nodes[r]; n.Op == ad.OpReshape || n.Op == ad.OpLane || n.Op == ad.OpUnlane; n = &x.g.Nodes[r] {
		r = n.Args[0]
	}
	return r
}

// forward decides about an array and the gathers from it. whole means that other nodes read all of
// it. Gathers from the same parts share a replacement. Others do not, so that one may be a prefix
// of another (pass prefixes).
func (x *forwarding) forward(r ad.Ref, gathers []ad.Ref, whole bool) bool {
	source := x.origin(r)
	if source == nil {
		return false
	}
	shared := make([]int32, len(source.parts)) // by part: a part that is read with it; -1: not read
	for p := range shared {
		shared[p] = -1
	}
	root := func(p int32) int32 {
		for shared[p] != p {
			p = shared[p]
		}
		return p
	}
	for _, a := range gathers {
		of := x.origin(a)
		if of == nil {
			return false
		}
		for _, p := range of.part { // a gather has the parts of its array
			if shared[p] < 0 {
				shared[p] = p
			}
			shared[root(p)] = root(of.part[0])
		}
	}
	made, total := map[int32]*forwarded{}, 0
	first := make([]int32, len(source.parts)) // each part is in one replacement
	for p, v := range source.parts {
		if shared[p] < 0 {
			continue
		}
		f := made[root(int32(p))]
		if f == nil {
			f = &forwarded{first: first, whole: ad.None}
			made[root(int32(p))] = f
		}
		f.parts, first[p] = append(f.parts, v), int32(f.total)
		f.total += x.g.Type(v).Total()
	}
	for _, f := range made {
		if len(f.parts) > 1 {
			total += f.total
		}
	}
	if total > 0 && (whole || !(bill{memory: float64(total)}).beats(bill{memory: maxMoveShare * float64(source.moves)}, 0)) {
		return false
	}
	for _, a := range gathers {
		if of := x.origin(a); len(of.part) > 0 {
			x.of[a] = made[root(of.part[0])]
		}
	}
	return true
}

// read returns the replacement of gather r.
func (x *forwarding) read(w *ad.Rewriter, r ad.Ref, f *forwarded) ad.Ref {
	g, t := w.To, x.g.Type(r)
	if f.whole == ad.None {
		flat := make([]ad.Ref, len(f.parts))
		for i, p := range f.parts {
			if x.flat[p] == ad.None {
				v := w.At(p)
				x.flat[p] = g.Reshape(g.Unlane(v), []int{g.Type(v).Total()})
			}
			flat[i] = x.flat[p]
		}
		f.whole = g.Concat(flat...)
	}
	o := x.known[r]
	from := make([]int32, len(o.at))
	for e, p := range o.part {
		from[e] = f.first[p] + o.at[e]
	}
	shape := t.Shape
	if t.Lanes > 0 {
		shape = append([]int{t.Lanes}, shape...)
	}
	out := g.Reshape(g.Gather(f.whole, indexOf(from, t)), shape)
	if t.Lanes > 0 {
		out = g.Lane(out)
	}
	return out
}

// indexOf returns an index for elements `from` of a value of type t.
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

// origin returns the origin of the elements of r; nil if that takes too long.
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
	if total == 0 {
		return nil
	}
	var ix ad.Index
	var source ad.Type
	switch n.Op {
	case ad.OpReshape, ad.OpLane, ad.OpUnlane:
		return x.origin(n.Args[0])
	case ad.OpGather: // a slice shares the origins of its array
		ix, source = n.Index(), g.Type(n.Args[0])
		if from := ix.Offset; source.Lanes == 0 && isSlice(ix) {
			a := x.origin(n.Args[0])
			if a == nil {
				return nil
			}
			return &origin{parts: a.parts, part: a.part[from : from+total : from+total], at: a.at[from : from+total : from+total], moves: total + x.alone(n.Args[0])}
		}
	}
	if x.left -= total; x.left < 0 {
		return nil
	}
	o := &origin{part: make([]int32, 0, total), at: make([]int32, 0, total)}
	switch n.Op {
	case ad.OpGather:
		a := x.origin(n.Args[0])
		if a == nil {
			return nil
		}
		o.parts, o.moves = a.parts, total+x.alone(n.Args[0])
		for lane := range max(source.Lanes, 1) {
			ix.Each(func(_, e int) {
				e += lane * source.Size()
				o.part, o.at = append(o.part, a.part[e]), append(o.at, a.at[e])
			})
		}
	case ad.OpConcat:
		if o.moves = total; n.Type.Lanes > 0 { // the numbers of a lane are not adjacent
			o.moves *= 2
		}
		of, to := make([]*origin, len(n.Args)), make([][]int32, len(n.Args))
		parts := 0
		for k, a := range n.Args {
			if of[k] = x.origin(a); of[k] == nil {
				return nil
			}
			o.moves += x.alone(a)
			parts = max(parts, len(of[k].parts))
		}
		o.parts = make([]ad.Ref, 0, parts+1)
		for k := range n.Args {
			to[k] = make([]int32, len(of[k].parts))
			for i, p := range of[k].parts {
				at := x.place[p] // of another concatenation, unless the part is there
				if int(at) >= len(o.parts) || o.parts[at] != p {
					at = int32(len(o.parts))
					x.place[p] = at
					o.parts = append(o.parts, p)
				}
				to[k][i] = at
			}
		}
		for lane := range max(n.Type.Lanes, 1) {
			for k, a := range n.Args {
				t, e := g.Type(a), 0
				if t.Lanes > 0 {
					e = lane * t.Size()
				}
				for range t.Size() {
					o.part = append(o.part, to[k][of[k].part[e]])
					e++
				}
				o.at = append(o.at, of[k].at[e-t.Size():e]...)
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

// isSlice reports whether an index selects consecutive elements, from its offset on.
func isSlice(ix ad.Index) bool {
	stride := 1
	for _, d := range slices.Backward(ix.Dims) {
		if d.N != 1 && (d.Table != nil || d.Stride != stride) || d.N == 1 && d.Table != nil {
			return false
		}
		stride *= d.N
	}
	return true
}

// alone returns the number of elements that are moved for r and not for other readers. For a gather
// with several readers it is the gather's own number, because the other readers are about to be
// forwarded.
func (x *forwarding) alone(r ad.Ref) int {
	r = x.array(r)
	switch op := x.g.Nodes[r].Op; {
	case op != ad.OpGather && op != ad.OpConcat:
		return 0
	case x.uses[r] == 1:
		return x.known[r].moves
	case op == ad.OpGather:
		return x.g.Type(r).Total()
	}
	return 0
}
