package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// replaceInLanes replaces short arrays in lanes by one scalar in lanes per element: log odds of
// categories, thresholds of ordinal outcomes, cumulative sums. Arrays are stored lane after lane,
// so that an operation within a lane (a sum, a maximum, an element, a concatenation) reads and
// writes numbers that are far apart. As scalars they are operands of one loop, in which values and
// derivatives share exponentials.
//
// The pass runs before the density is differentiated, so that derivatives are scalars too, and
// before the pass that writes out sums of few exponentials. For readers that need an array, the
// scalars are put together again.
func replaceInLanes(g *ad.Graph) *ad.Graph {
	x := &laneScalars{from: g, of: map[ad.Ref][]ad.Ref{}}
	if !x.find() {
		return g
	}
	return rebuildTo(g.Sibling(), g, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		x.to = w.To
		w.Outside = func(r ad.Ref) ad.Ref {
			if each := x.of[r]; each != nil {
				t := g.Type(r)
				if t.Lanes == 0 {
					return w.To.Unlane(w.To.Spread(w.To.Concat(each...), t.Shape[0]))
				}
				return w.To.Spread(w.To.Reshape(w.To.Concat(each...), t.Shape), t.Lanes)
			}
			return ad.None
		}
		if !x.chosen[r] {
			for i, a := range n.Args {
				args[i] = w.At(a)
			}
			return w.Same(n, attr, args)
		}
		each := x.node(n, attr, args)
		switch {
		case n.Op.Row().Class == ad.Effect:
			return each[0]
		case n.Type.IsScalar(): // an element may be the same in all lanes
			return w.To.Spread(each[0], n.Type.Lanes)
		}
		x.of[r] = each
		return ad.None
	})
}

// laneScalars finds the arrays that are replaced.
type laneScalars struct {
	from, to *ad.Graph
	chosen   []bool
	of       map[ad.Ref][]ad.Ref // by replaced array: its elements
}

// short reports whether a type is that of a short array in lanes, or of a matrix with short rows.
func short(t ad.Type) bool {
	if t.Lanes == 0 && len(t.Shape) == 2 {
		return t.Shape[0] >= minInLanes && t.Shape[1] > 1 && t.Shape[1] <= maxShort
	}
	return t.Lanes >= minInLanes && len(t.Shape) > 0 && t.Size() > 1 && t.Size() <= maxShort
}

// find marks the arrays to replace. Arrays that depend on one another form a group; a group is
// replaced if an operation within a lane occurs in it. find reports whether there are any.
func (x *laneScalars) find() bool {
	g := x.from
	live := g.Live(g.Outputs, true)
	n := len(g.Nodes)
	marks := make([]bool, 3*n)
	array, detached := marks[:n], marks[n:2*n] // array: by node, whether it can be replaced
	for i := range detached {
		detached[i] = true
	}
	for i := range g.Nodes {
		for _, a := range g.Nodes[i].Args {
			detached[a] = detached[a] && (!live[i] || g.Nodes[i].Op == ad.OpDetach)
		}
	}
	group := make([]ad.Ref, len(g.Nodes)) // by node: representative of its group
	root := func(r ad.Ref) ad.Ref {
		for group[r] != r {
			group[r] = group[group[r]]
			r = group[r]
		}
		return r
	}
	x.chosen = marks[2*n:]
	for i := range g.Nodes {
		r, n := ad.Ref(i), &g.Nodes[i]
		group[r] = r
		if !live[r] {
			continue
		}
		var of []ad.Ref // arguments that can be replaced
		for _, a := range n.Args {
			if array[a] {
				of = append(of, a)
			}
		}
		can, lanes := false, n.Type.Lanes > 0
		switch n.Op {
		case ad.OpConcat:
			can = lanes && short(n.Type)
		case ad.OpGather, ad.OpScatter:
			can = lanes && (short(n.Type) || len(of) > 0 && n.Type.IsScalar())
		case ad.OpReshape:
			can = lanes && (short(n.Type) || len(of) > 0 && n.Type.IsScalar())
		case ad.OpLane, ad.OpUnlane:
			can = len(of) > 0 && short(n.Type)
		case ad.OpMatMul:
			_, known := g.Value(n.Args[0])
			can = known && !lanes && short(n.Type) && g.Type(n.Args[1]).Lanes == 0
		case ad.OpMaxOf:
			can = lanes && short(g.Type(n.Args[0])) && n.Type.IsScalar() && detached[r]
		case ad.OpLogSumExp:
			can = lanes && short(g.Type(n.Args[0])) && n.Type.IsScalar()
		case ad.OpCheck:
			can = len(of) > 0 && len(n.Attr.(*ad.Check).Elements) == 0
		default:
			can = n.Op.Row().Class == ad.Elementwise && short(n.Type)
		}
		if n.Op == ad.OpConcat && can { // an element must not be a long array
			for _, a := range n.Args {
				can = can && g.Type(a).Size() <= maxShort
			}
		}
		if x.chosen[r] = can; !can {
			continue
		}
		array[r] = short(n.Type)
		for _, a := range of {
			group[root(a)] = root(r)
		}
	}
	// With arrays, operations on single elements within a lane go through memory. With scalars,
	// only arrays that enter the group or leave it do.
	before, after := map[ad.Ref]bill{}, map[ad.Ref]bill{}
	borders := map[[2]ad.Ref]bool{}
	border := func(of, a ad.Ref) {
		if key := [2]ad.Ref{root(of), a}; !borders[key] {
			borders[key] = true
			after[key[0]] = after[key[0]].plus(bill{memory: float64(perLane(g.Type(a)))})
		}
	}
	for i := range g.Nodes {
		r, n := ad.Ref(i), &g.Nodes[i]
		if !live[r] {
			continue
		}
		for _, a := range n.Args {
			switch {
			case array[a] && !x.chosen[r]:
				border(a, a)
			case x.chosen[r] && !array[a] && n.Op != ad.OpMatMul && short(g.Type(a)) && !moved(g, a):
				border(r, a)
			}
		}
		if !x.chosen[r] || n.Op.Row().Class == ad.Elementwise || n.Op == ad.OpReshape || n.Op == ad.OpMatMul {
			continue
		}
		was, is := price(g, n), bill{}
		if n.Op == ad.OpLogSumExp { // derivatives compute the exponentials again, or share them
			is = was.inLanes(vectorLanes, vectorLanes)
			was = is.plus(is).plus(bill{memory: float64(g.Type(n.Args[0]).Size())})
			is.loops, was.loops = 0, 0
		}
		before[root(r)], after[root(r)] = before[root(r)].plus(was), after[root(r)].plus(is)
	}
	for _, r := range g.Outputs {
		if array[r] {
			border(r, r)
		}
	}
	for i := range x.chosen {
		of := root(ad.Ref(i))
		x.chosen[i] = x.chosen[i] && after[of].beats(before[of], maxCode)
	}
	return slices.Contains(x.chosen, true)
}

// moved reports whether r is data, or elements of another value that can be read instead.
func moved(g *ad.Graph, r ad.Ref) bool {
	switch n := &g.Nodes[r]; n.Op {
	case ad.OpReshape, ad.OpLane, ad.OpUnlane:
		return moved(g, n.Args[0])
	case ad.OpGather, ad.OpConst, ad.OpInput:
		return true
	}
	return false
}

// perLane returns the size of an array in one lane, or in one row of a matrix.
func perLane(t ad.Type) int {
	if t.Lanes == 0 && len(t.Shape) == 2 {
		return t.Shape[1]
	}
	return t.Size()
}

// each returns the elements of argument a. If a is not replaced, they are taken from its
// counterpart r.
func (x *laneScalars) each(a, r ad.Ref) []ad.Ref {
	if each := x.of[a]; each != nil {
		return each
	}
	t := x.to.Type(r)
	switch {
	case len(t.Shape) == 0:
		return []ad.Ref{r}
	case t.Lanes == 0 && short(t):
		each := make([]ad.Ref, t.Shape[1])
		for k := range each {
			each[k] = x.to.Lane(x.to.Gather(r, ad.Index{Offset: k, Dims: []ad.Dim{{N: t.Shape[0], Stride: t.Shape[1]}}}))
		}
		return each
	}
	return split(x.to, r, true)
}

// product returns the columns of a product of a known matrix and another one, in lanes. Each column
// is a product with a vector, if that joins the loops that read it. Otherwise the columns are rows
// of the transpose, which are contiguous in memory.
func (x *laneScalars) product(m ad.MatMulAttr, a, b ad.Ref) []ad.Ref {
	to := x.to
	A, B := to.Type(a).Shape, to.Type(b).Shape
	rows, inner := A[0], A[1]
	if m.TransA {
		rows, inner = inner, rows
	}
	columns := B[1]
	if m.TransB {
		columns = B[0]
	}
	out := make([]ad.Ref, columns)
	whole := ad.None
	if inner > loopnest.FewColumns {
		if !m.TransA { // computed once, when the model is bound
			a, m.TransA = to.Transpose(a), true
		}
		whole = to.Do(ad.OpMatMul, ad.MatMulAttr{TransA: !m.TransB, TransB: !m.TransA}, b, a)
	}
	for k := range out {
		if whole != ad.None {
			out[k] = to.Lane(to.Slice(whole, k*rows, []int{rows}))
			continue
		}
		v := ad.Index{Offset: k, Dims: []ad.Dim{{N: inner, Stride: columns}, {N: 1}}}
		if m.TransB {
			v.Offset, v.Dims[0].Stride = k*inner, 1
		}
		p := to.Do(ad.OpMatMul, ad.MatMulAttr{TransA: m.TransA}, a, to.Gather(b, v))
		out[k] = to.Lane(to.Reshape(p, []int{rows}))
	}
	return out
}

// node returns the elements of a node.
func (x *laneScalars) node(n *ad.Node, attr any, made []ad.Ref) []ad.Ref {
	to := x.to
	args := make([][]ad.Ref, len(n.Args))
	if n.Op != ad.OpMatMul {
		for k, a := range n.Args {
			args[k] = x.each(a, made[k])
		}
	}
	var out []ad.Ref
	switch n.Op {
	case ad.OpMatMul:
		out = x.product(n.Attr.(ad.MatMulAttr), made[0], made[1])
	case ad.OpMaxOf: // NaN if any element is NaN
		greatest := args[0][0]
		for _, v := range args[0][1:] {
			greatest = to.Select(to.Do(ad.OpIsNaN, nil, v), v, to.Select(to.Less(greatest, v), v, greatest))
		}
		out = []ad.Ref{greatest}
	case ad.OpLogSumExp:
		out = []ad.Ref{to.LogSumExp(to.Concat(args[0]...))}
	case ad.OpCheck:
		for k, v := range args[0] {
			c := *attr.(*ad.Check)
			c.Elements = []int32{int32(k)}
			if t := x.from.Type(n.Args[0]); t.Lanes == 0 { // counted over the whole matrix
				for i := 1; i < t.Shape[0]; i++ {
					c.Elements = append(c.Elements, int32(i*t.Shape[1]+k))
				}
			}
			out = append(out, to.Do(n.Op, &c, v))
		}
	default:
		out = written(to, n, attr, args, perLane(n.Type))
	}
	return out
}
