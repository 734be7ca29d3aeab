package loopnest

import (
	"cmp"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// lowering is the lowering of one graph: the program's, or that of a body of a region.
type lowering struct {
	*Body
	g        *ad.Graph
	vals     []Value            // for each node of the graph, its value
	regions  map[ad.Ref]*Region // for each region of the graph, its lowered form
	loads    map[loadKey]Value
	uses     []int32
	absorbed []bool
	site     ad.Site
}

type loadKey struct {
	v          Value
	s0, n1, s1 int
}

// Lower lowers the nodes that g's outputs and side effects need. It does not form blocks.
func Lower(g *ad.Graph) *Program {
	p := &Program{consts: map[uint64]BufferID{}}
	p.zero = p.AddBuffer(Buffer{Data: []float64{}, Kept: true})
	x := p.newLowering(g, nil, nil)
	p.Main = x.Body
	for k, r := range g.Inputs {
		n := &g.Nodes[r]
		if n.Op != ad.OpInput || n.Attr != k {
			faultf("input %d of the graph is not an input node", k)
		}
		in := p.AddBuffer(Buffer{N: n.Type.Total(), Body: x.Body, Input: k + 1, Kept: true, Shared: true})
		p.Inputs = append(p.Inputs, in)
		x.vals[r] = p.Whole(in)
	}
	all := make([]int, len(g.Outputs))
	for k := range all {
		all[k] = k
	}
	x.lower(all)
	for k := range g.Outputs {
		p.Outputs = append(p.Outputs, x.ownOutput(k))
	}
	return p
}

func (p *Program) newLowering(g *ad.Graph, parent *Body, reg *Region) *lowering {
	b := &Body{Program: p, Parent: parent, Region: reg, last: -1}
	return &lowering{Body: b, g: g, vals: make([]Value, len(g.Nodes)), regions: map[ad.Ref]*Region{}, loads: map[loadKey]Value{}}
}

// emit appends a node, with the site of the node being lowered.
func (x *lowering) emit(n Node) int32 {
	n.Site = x.site
	return x.add(n)
}

// lower lowers the nodes that the given outputs (their indices) and side effects need. x.vals has
// the inputs already.
func (x *lowering) lower(outputs []int) {
	g := x.g
	refs := make([]ad.Ref, len(outputs))
	for k, o := range outputs {
		refs[k] = g.Outputs[o]
	}
	live := x.live(refs)
	x.uses = make([]int32, len(g.Nodes))
	for _, r := range refs {
		x.uses[r] += 2 // counts twice, so that an output is never absorbed
	}
	for i := range g.Nodes {
		if live[i] {
			for _, a := range g.Nodes[i].Args {
				x.uses[a]++
			}
		}
	}
	x.absorb(live)
	x.findRegions(live)
	count := 0
	for _, l := range live {
		if l {
			count++
		}
	}
	x.Nodes = make([]Node, 0, count)
	x.Buffers = slices.Grow(x.Buffers, count)
	for i := range g.Nodes {
		if n := &g.Nodes[i]; live[i] && n.Op != ad.OpInput && !x.absorbed[i] {
			x.site = n.Site
			x.vals[i] = x.node(ad.Ref(i), n)
		}
	}
}

// live marks the nodes that outputs and side effects need. It also marks nodes that may fail or
// draw random numbers, if any output needs them, so that errors and random numbers are the same as
// in the reference.
func (x *lowering) live(outputs []ad.Ref) []bool {
	g := x.g
	all := g.Live(g.Outputs, true)
	for i := range g.Nodes {
		if all[i] && MayFail(&g.Nodes[i]) {
			outputs = append(outputs, ad.Ref(i))
		}
	}
	return g.Live(outputs, true)
}

// MayFail reports whether a node may reject, so that its place among the side effects must not
// change.
func MayFail(n *ad.Node) bool {
	switch n.Op.Row().Class {
	case ad.Effect, ad.Random:
		return true
	case ad.Array:
		return !n.Op.Row().Total
	case ad.Region:
		return slices.ContainsFunc(n.Bodies(), anyFails)
	}
	return false
}

func anyFails(g *ad.Graph) bool {
	live := g.Live(g.Outputs, true)
	for i := range g.Nodes {
		if live[i] && MayFail(&g.Nodes[i]) {
			return true
		}
	}
	return false
}

// ownOutput returns output k in memory that nothing else writes. An input's memory does not
// qualify, since the caller may write it while the output is still valid.
func (x *lowering) ownOutput(k int) Value {
	v := x.solid(x.vals[x.g.Outputs[k]])
	r := &x.Buffers[v.Buf]
	if v.N > 0 && (r.Body != x.Body || len(r.Makers) == 0) {
		dst := x.newBuffer(v.N)
		x.emit(Node{Kind: Accumulate, Op: ad.OpScatter, N: v.N, Args: []Value{v}, Dst: dst, Map: affine2(1, 0, v.N, 1), Store: true})
		v = x.Whole(dst)
	}
	x.Buffers[v.Buf].Shared = true
	return v
}

// absorb finds sums of arrays with terms that are scatters read only there: the adjoint of a value
// of which parts are used. They become one accumulation, which costs as much as the parts, not as
// the whole.
func (x *lowering) absorb(live []bool) {
	g := x.g
	x.absorbed = make([]bool, len(g.Nodes))
	sum := make([]bool, len(g.Nodes)) // sums of arrays, read once, with a scatter among their terms
	term := func(a ad.Ref, n *ad.Node) bool { return sum[a] && g.Nodes[a].Type.Equal(n.Type) }
	for i := range g.Nodes {
		if n := &g.Nodes[i]; x.uses[i] == 1 {
			sum[i] = n.Op == ad.OpScatter || n.Op == ad.OpAdd && (term(n.Args[0], n) || term(n.Args[1], n))
		}
	}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := &g.Nodes[i]
		if live[i] && n.Op == ad.OpAdd && n.Type.Total() > 1 {
			for _, a := range n.Args {
				if term(a, n) {
					x.absorbed[a] = true
				}
			}
		}
	}
}

// part is one term of an accumulation.
type part struct {
	v     Value
	m     Map
	store bool
}

// terms appends the parts that add up to r.
func (x *lowering) terms(ps []part, r ad.Ref, t ad.Type) []part {
	n, total := &x.g.Nodes[r], t.Total()
	switch {
	case !x.absorbed[r]:
		v := x.spread(x.vals[r], x.g.Type(r), t)
		if c, ok := x.number(v); ok && c == 0 {
			return ps
		}
		if v.N == 1 && total > 1 {
			v = Value{Buf: v.Buf, Off: v.Off, N: total, Rep: true}
		}
		return append(ps, part{v: v, m: affine2(1, 0, total, 1)})
	case n.Op == ad.OpScatter:
		return append(ps, x.scatter(n))
	}
	return x.terms(x.terms(ps, n.Args[0], t), n.Args[1], t)
}

func (x *lowering) scatter(n *ad.Node) part {
	return part{v: x.vals[n.Args[0]], m: Flatten(n.Index(), n.Type.Lanes, n.Type.Size())}
}

// solid returns a value all of whose elements are in memory.
func (x *lowering) solid(v Value) Value {
	if !v.Rep {
		return v
	}
	return x.load(Value{Buf: v.Buf, Off: v.Off, N: 1}, affine2(1, 0, v.N, 0))
}

// node lowers one node.
func (x *lowering) node(r ad.Ref, n *ad.Node) Value {
	total := n.Type.Total()
	row := n.Op.Row()
	if total == 0 && row.Class != ad.Region && !MayFail(n) {
		return x.Whole(x.zero)
	}
	switch n.Op {
	case ad.OpConst:
		if total == 1 || equalBits(n.Data) {
			v := x.Constant(n.Data[0])
			v.N, v.Rep = total, total > 1
			return v
		}
		return x.Whole(x.AddBuffer(Buffer{N: total, Data: n.Data, Kept: true}))
	case ad.OpReshape, ad.OpLane, ad.OpUnlane:
		v := x.vals[n.Args[0]]
		return v
	case ad.OpGather:
		return x.gather(n)
	case ad.OpScatter:
		return x.accumulate(total, []part{x.scatter(n)})
	case ad.OpConcat:
		vs := make([]LaneValue, len(n.Args))
		for i, a := range n.Args {
			vs[i] = LaneValue{x.vals[a], x.g.Type(a).Lanes > 0}
		}
		return x.concat(n.Type.Lanes, vs)
	case ad.OpResult:
		return x.regions[n.Args[0]].Results[n.ResultIndex()].Value
	}
	if row.Class == ad.Region {
		x.lowerRegion(r, n)
		return Value{}
	}
	if row.Class == ad.Elementwise {
		if n.Op == ad.OpAdd && (x.absorbed[n.Args[0]] || x.absorbed[n.Args[1]]) {
			return x.accumulate(total, x.terms(x.terms(nil, n.Args[0], n.Type), n.Args[1], n.Type))
		}
		return x.elementwise(n)
	}
	nd := Node{Kind: Array, Op: n.Op, N: total, Src: n, Dst: None}
	for _, a := range n.Args {
		nd.Args = append(nd.Args, x.solid(x.vals[a]))
		nd.Types = append(nd.Types, x.g.Type(a))
	}
	switch row.Class {
	case ad.Effect:
		nd.Kind = Effect
		if c, ok := n.Attr.(*ad.Check); ok && x.holds(nd.Args[0], c) {
			return Value{}
		}
		if n.Op == ad.OpCheck {
			if nd.Kind, nd.N = Elementwise, nd.Args[0].N; nd.N == 0 {
				return Value{}
			}
		}
	case ad.Random:
		nd.Kind = Random
	default:
		if n.Op == ad.OpMatMul {
			nd.Kind = MatMul
		}
	}
	if row.Class != ad.Effect {
		nd.Dst = x.newBuffer(total)
	}
	i := x.emit(nd)
	if MayFail(n) {
		x.ordered(i)
	}
	if nd.Dst == None {
		return Value{}
	}
	return x.Whole(nd.Dst)
}

// holds reports whether a check of a constant is known to pass.
func (x *lowering) holds(v Value, c *ad.Check) bool {
	d := x.Buffers[v.Buf].Data
	if d == nil {
		return false
	}
	for _, e := range d[v.Off : v.Off+v.N] {
		if !c.Set.Contains(e) {
			return false
		}
	}
	return true
}

// equalBits reports whether all elements are the same number.
func equalBits(xs []float64) bool {
	for _, v := range xs[1:] {
		if math.Float64bits(v) != math.Float64bits(xs[0]) {
			return false
		}
	}
	return true
}

// elementwise lowers an elementwise op. Operands of one element, or of the result's size, are used
// as they are; others are first repeated by a load. If all operands repeat one number, the op is
// computed once.
func (x *lowering) elementwise(n *ad.Node) Value {
	total := n.Type.Total()
	nd := Node{Kind: Elementwise, Op: n.Op, N: total, Args: x.operands(len(n.Args))}
	uniform := true
	for _, a := range n.Args {
		v := x.spread(x.vals[a], x.g.Type(a), n.Type)
		uniform = uniform && v.N == 1
		nd.Args = append(nd.Args, v)
	}
	if n.Op == ad.OpAdd || n.Op == ad.OpMul {
		// Adjoints of unused values are 0, those of sums are 1.
		nothing := 0.0
		if n.Op == ad.OpMul {
			nothing = 1
		}
		for k, v := range nd.Args {
			if c, ok := x.number(v); ok && c == nothing && v.N == 1 {
				keep := nd.Args[1-k]
				if uniform && total > 1 {
					keep.N, keep.Rep = total, true
				}
				return keep
			}
		}
	}
	if uniform {
		nd.N = 1
		nd.Dst = x.newBuffer(1)
		x.emit(nd)
		return Value{Buf: nd.Dst, N: total, Rep: total > 1}
	}
	nd.Dst = x.newBuffer(total)
	x.emit(nd)
	return x.Whole(nd.Dst)
}

// spread converts v, of type from, to an operand of an elementwise op whose result has type to: one
// element, or as many as the result has.
func (x *lowering) spread(v Value, from, to ad.Type) Value {
	switch {
	case v.Rep || v.N == 1:
		return Value{Buf: v.Buf, Off: v.Off, N: 1}
	case v.N == to.Total():
		return v
	case from.Lanes > 0: // one number for each lane
		return x.load(v, affine2(to.Lanes, 1, to.Size(), 0))
	}
	return x.load(v, affine2(to.Lanes, 0, to.Size(), 1)) // the same array in every lane
}

// gather lowers a gather: a slice becomes a view, a single repeated element stays one element, and
// everything else becomes a load.
func (x *lowering) gather(n *ad.Node) Value {
	v := x.vals[n.Args[0]]
	m := Flatten(n.Index(), n.Type.Lanes, x.g.Type(n.Args[0]).Size())
	switch {
	case v.Rep:
		return Value{Buf: v.Buf, Off: v.Off, N: m.N, Rep: m.N > 1}
	case m.N == 1:
		return Value{Buf: v.Buf, Off: v.Off + m.Off, N: 1}
	case m.Uniform():
		return Value{Buf: v.Buf, Off: v.Off + m.Off, N: m.N, Rep: true}
	case m.Contiguous():
		return Value{Buf: v.Buf, Off: v.Off + m.Off, N: m.N}
	}
	return x.load(v, m)
}

// load emits a load of the elements of v that m selects, and returns the new value.
func (x *lowering) load(v Value, m Map) Value {
	_, s0, n1, s1, affine := m.Affine()
	key := loadKey{Value{v.Buf, v.Off + m.Off, m.N, false}, s0, n1, s1}
	if affine {
		if w, ok := x.loads[key]; ok {
			return w
		}
	}
	dst := x.newBuffer(m.N)
	x.emit(Node{Kind: Load, Op: ad.OpGather, N: m.N, Args: []Value{v}, Dst: dst, Map: m})
	if affine {
		x.loads[key] = x.Whole(dst)
	}
	return x.Whole(dst)
}

// concat puts values one after another, in each lane.
func (x *lowering) concat(lanes int, vs []LaneValue) Value {
	size := 0
	L := max(lanes, 1)
	for _, v := range vs {
		if v.Laned {
			size += v.N / L
		} else {
			size += v.N
		}
	}
	var ps []part
	offset := 0
	for _, v := range vs {
		k := v.N
		if v.Laned {
			k /= L
		}
		if k == 0 {
			continue
		}
		if !v.Laned && L > 1 {
			v.Value = x.load(x.solid(v.Value), affine2(L, 0, k, 1))
		}
		m := affine2(L, size, k, 1)
		m.Off = offset
		ps = append(ps, part{v: v.Value, m: m, store: true})
		offset += k
	}
	return x.accumulate(L*size, ps)
}

// accumulate returns the array of n elements to which parts are added through their maps. A part
// that is the only one in its range of elements is stored instead; a value that is made only for it
// is computed there directly.
func (x *lowering) accumulate(n int, parts []part) Value {
	if n == 0 {
		return x.Whole(x.zero)
	}
	type span struct {
		lo, hi int
		p      int
	}
	spans := make([]span, 0, len(parts))
	for i := range parts {
		p := &parts[i]
		if p.v.N > 0 && p.m.N > 0 {
			s := p.m.Span()
			spans = append(spans, span{s.Lo, s.Hi, i})
		}
	}
	if len(spans) == 0 {
		v := x.Constant(0)
		v.N, v.Rep = n, n > 1
		return v
	}
	sorting.Stable(spans, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	stores := parts[0].store // either all are stores or none
	dst := x.newBuffer(n)
	// The elements before end are covered by stores; top is the largest end of a part so far.
	end, top := 0, 0
	var clears []Span
	for k, s := range spans {
		p := &parts[s.p]
		alone := s.lo >= top && (k+1 == len(spans) || spans[k+1].lo >= s.hi)
		top = max(top, s.hi)
		if !stores && alone && p.m.Contiguous() {
			p.store = true
			if s.lo > end {
				clears = append(clears, Span{end, s.lo})
			}
			end = s.hi
		}
	}
	if !stores && end < n {
		clears = append(clears, Span{end, n})
	}
	x.Buffers[dst].Clears = clears
	for _, p := range parts {
		if p.v.N == 0 || p.m.N == 0 {
			continue
		}
		v := x.solid(p.v)
		x.emit(Node{Kind: Accumulate, Op: ad.OpScatter, N: v.N, Args: append(x.operands(1), v), Dst: dst, Map: p.m, Store: p.store})
	}
	return x.Whole(dst)
}
