package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// replaceInRegions unrolls scans of few short steps, and replaces short arrays in other loops by
// scalars. In while loops, these arrays are the states of differential equations, their stages and
// errors. The code of such a loop is then scalar code, without an inner loop for each op. Its
// lanes, such as the subjects of a study with separate steps, run as vectors (vm/nativelanes.go);
// lanes whose solution is done keep it while the others continue. In scans, the arrays are the last
// errors of a series, or a state and its covariance. Their scalar code keeps the carried values in
// registers (vm/nativescan.go).
//
// The pass runs before the density is differentiated, so that the loops of the derivative also work
// on scalars. Each number is computed as before; sums of elements are added in the same order.
func replaceInRegions(g *ad.Graph) *ad.Graph {
	if !has(g, ad.OpWhile) && !has(g, ad.OpScan) {
		return g
	}
	return replaceRegions(g, replaceInRegions, func(to *ad.Graph, n *ad.Node, attr any, args []ad.Ref, used []bool) (run ad.Ref, results []ad.Ref, _ any) {
		switch s, ok := attr.(*ad.Scan); {
		case ok && unrolls(to, s, args, n.Type.Lanes):
			// Nothing reads the scan itself, which need not have arguments.
			run, results = to.Const(0), writtenOut(to, s, args, n.Type.Lanes)
		case ok:
			run, results = scanInScalars(to, s, n, args, used, maxCode)
		case n.Layout().Control == ad.Tested:
			run, results = loopInScalars(to, attr.(ad.RegionAttr), n, args, used, maxShort)
		}
		return run, results, attr
	})
}

// loopInScalars adds the while loop of node n to g, with scalars in place of arrays. It returns the
// loop and its results, None for those that nothing reads. It returns nil results if the loop does
// not change. With short above maxShort, arrays of up to that many elements are replaced at any
// cost.
func loopInScalars(g *ad.Graph, loop ad.RegionAttr, n *ad.Node, args []ad.Ref, used []bool, short int) (ad.Ref, []ad.Ref) {
	l := loop.Layout()
	for k, p := range l.Parts() {
		if used[k] && (p.From == ad.History || p.From == ad.Stride) {
			return ad.None, nil
		}
	}
	body := l.Repeated()
	if !slices.ContainsFunc(body.Nodes, func(n ad.Node) bool { return n.Type.Size() > 1 }) {
		return ad.None, nil
	}
	x := &scalars{left: maxLoopCode / maxShort * short, short: short}
	inNumbers, groups, ok := x.bodies(loop)
	if !ok {
		return ad.None, nil
	}
	after := billOf(inNumbers.Layout().Bodies...).inLanes(n.Type.Lanes, maskedLanes)
	if short == maxShort && !after.beats(billOf(l.Bodies...), maxLoopCode) {
		return ad.None, nil
	}
	var each []ad.Ref
	for i, a := range args {
		each = append(each, split(g, a, !x.whole(body.Type(body.Inputs[i])))...)
	}
	run := g.Do(n.Op, inNumbers, each...)
	results := make([]ad.Ref, len(used))
	for k, t := range n.Results() {
		if groups[k] != nil {
			results[k] = assemble(g, run, groups[k], t, 0, t)
		}
	}
	return run, results
}

// scanInScalars adds the scan s of node n to g, with scalars in place of arrays. It returns the
// scan and its results, None for those that nothing reads. It returns nil results if the scan does
// not change. With a bound above maxCode, arrays of up to maxMatrix elements are replaced at any
// cost.
func scanInScalars(g *ad.Graph, s *ad.Scan, n *ad.Node, args []ad.Ref, used []bool, bound int) (ad.Ref, []ad.Ref) {
	b := s.Body
	if n.Type.Lanes > 0 || s.Steps < minSteps || !slices.ContainsFunc(b.Nodes, func(n ad.Node) bool { return n.Type.Size() > 1 }) {
		return ad.None, nil
	}
	x := &scalars{left: bound, short: maxShort}
	if bound > maxCode {
		x.short = maxMatrix
	}
	for _, r := range b.Outputs {
		if x.whole(b.Type(r)) {
			return ad.None, nil
		}
	}
	matrices := factorsOf(s)
	body, ok := x.graph(b, matrices)
	if !ok {
		return ad.None, nil
	}
	// With arrays in a step, carried values go through memory. With scalars, streams are taken
	// apart before the scan, and kept values are put together after it.
	before, after := billOf(b), billOf(body)
	before.work += (scanLoopNS - loopNS) * before.loops
	moved := func(r ad.Ref) float64 { return float64(b.Type(r).Size()) }
	for i, r := range b.Inputs[:s.Carries+s.Streams] {
		if _, known := g.Value(args[i]); i < s.Carries {
			before.memory += moved(r)
		} else if len(b.Type(r).Shape) > 0 && !known {
			after.memory += moved(r)
		}
	}
	for k, r := range slices.Concat(b.Outputs[:s.Carries], b.Outputs[s.Carries:s.Carries+s.Outs]) {
		if used[s.Carries+k] && len(b.Type(r).Shape) > 0 {
			after.memory += moved(r)
		}
	}
	if bound == maxCode && !after.beats(before, maxCode) {
		return ad.None, nil
	}
	c := ad.Scan{Body: body, Steps: s.Steps, Reverse: s.Reverse, Limit: s.Limit, Finite: s.Finite}
	var each []ad.Ref
	for i, a := range args {
		t := b.Type(b.Inputs[i])
		stream := i >= s.Carries && i < s.Carries+s.Streams
		switch {
		case !stream:
			each = append(each, split(g, a, !x.whole(t) || matrices[b.Inputs[i]])...)
		case len(t.Shape) == 0 || x.whole(t):
			each = append(each, a)
		default:
			for k := range t.Size() {
				each = append(each, g.Gather(a, ad.Index{Offset: k, Dims: []ad.Dim{{N: s.Steps, Stride: t.Size()}}}))
			}
		}
		switch made := len(each); {
		case i < s.Carries:
			c.Carries = made
		case stream:
			c.Streams = made - c.Carries
		}
	}
	for k, r := range b.Outputs[s.Carries:] {
		if n := b.Type(r).Size(); k < s.Outs {
			c.Outs += n
		} else {
			c.Sums += n
		}
	}
	run := g.DoScan(&c, each)
	var made []ad.Type // by result: its type in a step
	for _, r := range slices.Concat(b.Outputs[:s.Carries], b.Outputs) {
		made = append(made, b.Type(r))
	}
	groups := grouped(made)
	results := make([]ad.Ref, len(made))
	for k, t := range s.Results() {
		steps := 0
		if k >= s.Carries && k < 2*s.Carries+s.Outs { // one for each step
			steps = s.Steps
		}
		if results[k] = ad.None; used[k] && len(groups[k]) > 0 {
			results[k] = assemble(g, run, groups[k], made[k], steps, t)
		}
	}
	return run, results
}

// factorsOf returns the captured matrices that one product of a step reads, if they are small.
// Their elements are taken apart before the scan.
func factorsOf(s *ad.Scan) map[ad.Ref]bool {
	readers := map[ad.Ref]int{}
	for i := range s.Body.Nodes {
		n := &s.Body.Nodes[i]
		if n.Op != ad.OpMatMul {
			continue
		}
		for _, r := range n.Args {
			a := &s.Body.Nodes[r]
			if a.Op == ad.OpInput && a.Attr.(int) >= s.Carries+s.Streams && a.Type.Size() <= maxShort*maxShort {
				readers[r]++
			}
		}
	}
	out := map[ad.Ref]bool{}
	for r, n := range readers {
		out[r] = n == 1
	}
	return out
}

// assemble puts the elements of a value of type t together. They are results of a region, one per
// step if steps is not 0. made is the type of the value in a step.
func assemble(g *ad.Graph, run ad.Ref, elements []int, made ad.Type, steps int, t ad.Type) ad.Ref {
	parts := make([]ad.Ref, len(elements))
	for i, at := range elements {
		parts[i] = g.Result(run, at)
	}
	switch {
	case len(made.Shape) == 0:
		return parts[0]
	case steps > 0:
		return g.Reshape(g.Transpose(g.Reshape(g.Concat(parts...), []int{len(parts), steps})), t.Shape)
	}
	return g.Reshape(g.Concat(parts...), t.Shape)
}

// split returns the elements of r. It returns r itself if r is a number, or unless apart is set.
func split(g *ad.Graph, r ad.Ref, apart bool) []ad.Ref {
	t := g.Type(r)
	if len(t.Shape) == 0 || !apart {
		return []ad.Ref{r}
	}
	out := make([]ad.Ref, t.Size())
	for i := range out {
		out[i] = g.Slice(r, i, nil)
	}
	return out
}

// scalars writes out graphs. left is the number of numbers that it may still produce, and short the
// largest number of elements of an array that it writes out.
type scalars struct{ left, short int }

// whole reports whether an input of a region's graph, or a constant, is so long that it stays an
// array. Only single elements of it may then be read.
func (x *scalars) whole(t ad.Type) bool { return t.Total() > x.short }

// element is the written-out form of a node: its elements, or one long array.
type element struct {
	each  []ad.Ref
	array bool
}

// graph returns a graph of scalars with the meaning of b. Its outputs are the elements of b's
// outputs, one after the other. Long inputs in apart are taken apart too. ok is false if b has
// nodes that cannot be written out.
func (x *scalars) graph(b *ad.Graph, apart map[ad.Ref]bool) (to *ad.Graph, ok bool) {
	to = b.Sibling()
	of := make([]element, len(b.Nodes))
	groups := map[ad.Ref][][]int{} // by region: for each result, its indices in the new region
	for _, r := range b.Inputs {
		t := b.Type(r)
		if t.Lanes > 0 {
			return nil, false
		}
		if x.whole(t) && !apart[r] {
			of[r] = element{[]ad.Ref{to.Input(t)}, true}
			continue
		}
		for range t.Size() {
			of[r].each = append(of[r].each, to.Input(ad.Scalar))
		}
	}
	for i, live := range b.Live(b.Outputs, true) {
		n := &b.Nodes[i]
		if !live || n.Op == ad.OpInput {
			continue
		}
		old := to.SetSite(n.Site)
		switch {
		case n.Op == ad.OpResult:
			for _, k := range groups[n.Args[0]][n.ResultIndex()] {
				of[i].each = append(of[i].each, to.Result(of[n.Args[0]].each[0], k))
			}
			ok = len(of[i].each) > 0
		case n.Op.Row().Class == ad.Region:
			of[i].each, groups[ad.Ref(i)], ok = x.region(to, n, of)
		default:
			of[i], ok = x.node(to, b, n, of)
		}
		to.SetSite(old)
		if x.left -= len(of[i].each); !ok || x.left < 0 {
			return nil, false
		}
	}
	for _, r := range b.Outputs {
		if of[r].array {
			return nil, false
		}
		for _, e := range of[r].each {
			to.Output(e)
		}
	}
	return to, true
}

// node writes out a node other than a region.
func (x *scalars) node(to, b *ad.Graph, n *ad.Node, of []element) (out element, ok bool) {
	size := n.Type.Size()
	if n.Type.Lanes > 0 && (x.short == maxShort || n.Op == ad.OpMatMul || n.Op.Row().Class == ad.Effect) || size == 0 {
		return out, false
	}
	args := make([]element, len(n.Args))
	arrays := false
	for k, a := range n.Args {
		args[k] = of[a]
		arrays = arrays || of[a].array
	}
	if n.Op == ad.OpConst && x.whole(n.Type) {
		return element{[]ad.Ref{to.ConstArray(n.Type, n.Data)}, true}, true
	}
	if n.Op == ad.OpGather && arrays && !x.whole(n.Type) {
		n.Index().Each(func(_, at int) { out.each = append(out.each, to.Slice(args[0].each[0], at, nil)) })
		return out, true
	}
	if arrays || x.whole(n.Type) {
		return out, false
	}
	switch class := n.Op.Row().Class; {
	case n.Op == ad.OpConst:
		for _, v := range n.Data {
			out.each = append(out.each, to.Const(v))
		}
	case class == ad.Effect:
		refs := make([]ad.Ref, len(args))
		for k, a := range args {
			t := b.Type(n.Args[k])
			switch {
			case len(t.Shape) == 0:
				refs[k] = a.each[0]
			case n.Op == ad.OpReject && k > 0: // a value in the message
				refs[k] = to.Reshape(to.Concat(a.each...), t.Shape)
			default: // its message has an index
				return out, false
			}
		}
		out.each = []ad.Ref{to.Do(n.Op, n.Attr, refs...)}
	case n.Op == ad.OpMatMul:
		m := n.Attr.(ad.MatMulAttr)
		A, B := b.Type(n.Args[0]).Shape, b.Type(n.Args[1]).Shape
		rows, inner, cols := A[0], A[1], B[1]
		if m.TransA {
			rows, inner = inner, rows
		}
		if m.TransB {
			cols = B[0]
		}
		at := func(e element, shape []int, trans bool, i, j int) ad.Ref {
			if trans {
				i, j = j, i
			}
			return e.each[i*shape[1]+j]
		}
		for i := range rows {
			for j := range cols {
				sum := to.Const(0)
				for k := range inner {
					p := to.Mul(at(args[0], A, m.TransA, i, k), at(args[1], B, m.TransB, k, j))
					if sum = to.Add(sum, p); k == 0 {
						sum = p
					}
				}
				out.each = append(out.each, sum)
			}
		}
	default:
		each := make([][]ad.Ref, len(args))
		for k, a := range args {
			each[k] = a.each
		}
		if n.Type.Lanes == 0 || n.Op == ad.OpLane {
			out.each = written(to, n, n.Attr, each, size)
			return out, out.each != nil
		}
		for l := range n.Type.Lanes {
			lane := slices.Clone(each)
			for k, a := range n.Args {
				if t := b.Type(a); t.Lanes > 0 {
					lane[k] = each[k][l*t.Size() : (l+1)*t.Size()]
				}
			}
			made := written(to, n, n.Attr, lane, size)
			if made == nil {
				return out, false
			}
			out.each = append(out.each, made...)
		}
		return out, true
	}
	return out, true
}

// written returns the elements of a node, given those of its arguments. size is the number of
// elements in a lane. It handles ops that are elementwise, move elements, or add them up in order;
// for others it returns nil.
func written(to *ad.Graph, n *ad.Node, attr any, args [][]ad.Ref, size int) []ad.Ref {
	out := make([]ad.Ref, 0, size)
	switch {
	case n.Op.Row().Class == ad.Elementwise:
		refs := make([]ad.Ref, len(args))
		for i := range size {
			for k, a := range args {
				refs[k] = a[min(i, len(a)-1)]
			}
			out = append(out, to.Do(n.Op, attr, refs...))
		}
	case n.Op == ad.OpReshape || n.Op == ad.OpLane || n.Op == ad.OpUnlane:
		out = args[0]
	case n.Op == ad.OpConcat:
		for _, a := range args {
			out = append(out, a...)
		}
	case n.Op == ad.OpGather:
		n.Index().Each(func(_, at int) { out = append(out, args[0][at]) })
	case n.Op == ad.OpScatter:
		for range size {
			out = append(out, ad.None)
		}
		n.Index().Each(func(k, at int) {
			v := args[0][k]
			if out[at] != ad.None {
				v = to.Add(out[at], v)
			}
			out[at] = v
		})
		for i, v := range out {
			if v == ad.None {
				out[i] = to.Const(0)
			}
		}
	default:
		return nil
	}
	return out
}

// region writes out a region. It returns its new node and, for each result, the results of the new
// node that replace it.
func (x *scalars) region(to *ad.Graph, n *ad.Node, of []element) (made []ad.Ref, groups [][]int, ok bool) {
	if n.Type.Lanes > 0 || n.Draws() {
		return nil, nil, false
	}
	var args []ad.Ref
	for _, a := range n.Args {
		args = append(args, of[a].each...)
	}
	if n.Layout().Control == ad.Counted {
		return nil, nil, false
	}
	attr, groups, ok := x.bodies(n.Attr.(ad.RegionAttr))
	if !ok {
		return nil, nil, false
	}
	r := to.Do(n.Op, attr, args...)
	if mustRun(n) {
		to.SideEffects = append(to.SideEffects, r)
	}
	return []ad.Ref{r}, groups, true
}

// bodies writes out the bodies of a region that is not Counted. For each result it returns the
// indices of the results that replace it; nil for histories.
func (x *scalars) bodies(attr ad.RegionAttr) (out ad.RegionAttr, groups [][]int, ok bool) {
	l := attr.Layout()
	to := l
	to.Bodies = make([]*ad.Graph, len(l.Bodies))
	for k, b := range l.Bodies {
		if to.Bodies[k], ok = x.graph(b, nil); !ok {
			return nil, nil, false
		}
	}
	body := l.Bodies[len(l.Bodies)-1]
	first := []int{0} // by output: index of the first output that replaces it
	for k, r := range body.Outputs {
		first = append(first, first[k]+body.Type(r).Size())
	}
	if l.Control == ad.Tested {
		to.Carries, to.Sums = first[l.Carries], first[len(body.Outputs)]-first[l.Carries]
	}
	out = attr.With(to)
	to = out.Layout()
	for _, p := range l.Parts() {
		var list []int
		switch p.From {
		case ad.Trips:
			list = []int{to.At(ad.Trips, 0)}
		case ad.Taken, ad.Final, ad.Sum:
			for k := first[p.Output]; k < first[p.Output+1]; k++ {
				list = append(list, to.At(p.From, k))
			}
		}
		groups = append(groups, list)
	}
	return out, groups, true
}

// grouped returns, for results of these types, the indices of their elements, counted one result
// after the other.
func grouped(ts []ad.Type) (groups [][]int) {
	at := 0
	for _, t := range ts {
		var list []int
		for range t.Size() {
			list = append(list, at)
			at++
		}
		groups = append(groups, list)
	}
	return groups
}
