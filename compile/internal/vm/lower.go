package vm

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// rootID names a root of one compiler.
type rootID int32

const none rootID = -1

// root is a run of memory that holds one value or a region's result. Slices,
// reshapes and values with or without lanes are vals of the root they look at.
type root struct {
	n    int
	data []float64 // of a constant
	bind *binding  // of a region's argument that moves with the step or lane; not in the arena itself
	ctx  *context  // in whose blocks it is written
	keep bool      // written by others than its makers: an input, a carried value; never placed within another

	in rootID // the root that it is part of, from element at; none if it has memory of its own
	at int

	makers []int32     // nodes of ctx that write it
	clears []clearSpan // what an accumulation sets to 0 before its makers run
	users  []int32     // nodes of ctx that read it
	shared bool        // read by others than nodes, or otherwise than element by element

	lo, hi   int // life, in the emitter's time; meaningful for roots with memory of their own
	lastRead int
	touched  bool
	off      int // place in the arena
}

type clearSpan struct{ lo, hi int }

// val is a value: n elements of a root from off on, or, with rep, one element
// that stands for n equal ones.
type val struct {
	root rootID
	off  int
	n    int
	rep  bool
}

// nodeKind says how a node runs.
type nodeKind uint8

const (
	elemNode   nodeKind = iota // op, element by element
	loadNode                   // dst = arg through a map
	accNode                    // dst through a map += arg, or = with store
	matmulNode                 // everything from here on runs alone
	arrayNode
	randomNode
	effectNode
	regionNode
)

// node is a lowered operation. Those of kinds up to accNode form blocks with
// others of the same n: scalar code if it is 1, strips otherwise.
type node struct {
	kind  nodeKind
	op    ad.OpCode
	n     int
	args  []val
	dst   rootID
	m     flatMap
	store bool
	src   *ad.Node
	types []ad.Type // of the arguments, for ops that see them
	reg   *region

	after   int32 // node that must run before: order of effects; -1 for none
	block   int32 // in which it runs
	barrier int32 // the block in which it cannot run
	height  int32
	deps    int32 // not yet run
	succs   []int32
}

// context is one graph being lowered: the program's own or a region's.
type context struct {
	*compiler
	g        *ad.Graph
	parent   *context
	region   *region // whose sub-graph it is
	vals     []val
	parts    map[ad.Ref]*region // by node
	nodes    []node
	loads    map[loadKey]val
	exps     map[pair]val // exponentials that logistic functions share
	logs     map[val]val
	uses     []int32
	absorbed []bool
	last     int32    // last node with an effect
	own      []rootID // made in this context
}

type loadKey struct {
	v          val
	s0, n1, s1 int
}

// compiler holds what contexts share.
type compiler struct {
	roots  []root
	consts map[uint64]rootID
	zero   rootID // no elements
	err    error  // a mistake of this package's
	emitter
}

func (c *compiler) fault(format string, args ...any) {
	c.err = fmt.Errorf("vm: "+format, args...)
}

func (c *compiler) newRoot(r root) rootID {
	r.in, r.lo, r.hi, r.lastRead = none, math.MaxInt, -1, -1
	id := rootID(len(c.roots))
	c.roots = append(c.roots, r)
	if r.ctx != nil {
		r.ctx.own = append(r.ctx.own, id)
	}
	return id
}

// whole is the value of all of a root.
func (c *compiler) whole(r rootID) val { return val{root: r, n: c.roots[r].n} }

func (c *compiler) constant(v float64) val {
	bits := math.Float64bits(v)
	r, ok := c.consts[bits]
	if !ok {
		r = c.newRoot(root{n: 1, data: []float64{v}, keep: true})
		c.consts[bits] = r
	}
	return c.whole(r)
}

func (c *compiler) newContext(g *ad.Graph, parent *context, reg *region) *context {
	return &context{compiler: c, g: g, parent: parent, region: reg, vals: make([]val, len(g.Nodes)),
		parts: map[ad.Ref]*region{}, loads: map[loadKey]val{}, exps: map[pair]val{}, logs: map[val]val{}, last: -1}
}

func (x *context) newRoot(n int) rootID { return x.compiler.newRoot(root{n: n, ctx: x}) }

// add appends a node and makes it a maker of its result.
func (x *context) add(n node) int32 {
	i := int32(len(x.nodes))
	n.after, n.block = -1, -1
	x.nodes = append(x.nodes, n)
	if n.dst != none && x.roots[n.dst].ctx == x {
		r := &x.roots[n.dst]
		r.makers = append(r.makers, i)
	}
	return i
}

// ordered puts the node last in the order of effects.
func (x *context) ordered(i int32) {
	x.nodes[i].after = x.last
	x.last = i
}

// lower translates the nodes that outputs (indices into the graph's) and
// effects need. Inputs are in x.vals.
func (x *context) lower(outputs []int) {
	g := x.g
	refs := make([]ad.Ref, len(outputs))
	for k, o := range outputs {
		refs[k] = g.Outputs[o]
	}
	live := x.live(refs)
	x.uses = make([]int32, len(g.Nodes))
	for _, r := range refs {
		x.uses[r] += 2 // never absorbed
	}
	for i := range g.Nodes {
		if live[i] {
			for _, a := range g.Nodes[i].Args {
				x.uses[a]++
			}
		}
	}
	x.absorb(live)
	x.findParts(live, refs)
	for i := range g.Nodes {
		if n := &g.Nodes[i]; live[i] && n.Op != ad.OpInput && !x.absorbed[i] {
			x.vals[i] = x.node(ad.Ref(i), n)
		}
	}
}

// live marks what outputs and effects need, and what may fail or draws random
// numbers if any output needs it, so that errors and streams of random numbers
// are those of the reference.
func (x *context) live(outputs []ad.Ref) []bool {
	g := x.g
	all := g.Live(g.Outputs, true)
	for i := range g.Nodes {
		if all[i] && mayFail(&g.Nodes[i]) {
			outputs = append(outputs, ad.Ref(i))
		}
	}
	return g.Live(outputs, true)
}

// mayFail reports whether the node must keep its place among effects.
func mayFail(n *ad.Node) bool {
	switch n.Op.Row().Class {
	case ad.Effect, ad.Random:
		return true
	case ad.Array:
		return n.Op != ad.OpMatMul && n.Op != ad.OpLogSumExp && n.Op != ad.OpMaxOf && n.Op != ad.OpPut
	case ad.Region:
		switch a := n.Attr.(type) {
		case *ad.Scan:
			return anyFails(a.Body)
		case *ad.If:
			return anyFails(a.Then) || anyFails(a.Else)
		}
	}
	return false
}

func anyFails(g *ad.Graph) bool {
	live := g.Live(g.Outputs, true)
	for i := range g.Nodes {
		if live[i] && mayFail(&g.Nodes[i]) {
			return true
		}
	}
	return false
}

// ownOutput is the value of output k in memory that nobody else writes: not an
// input's, which the caller may write while the output is still valid.
func (x *context) ownOutput(k int) val {
	v := x.solid(x.val(x.g.Outputs[k]))
	r := &x.roots[v.root]
	if v.n > 0 && (r.ctx != x || len(r.makers) == 0) {
		dst := x.newRoot(v.n)
		x.add(node{kind: accNode, op: ad.OpScatter, n: v.n, args: []val{v}, dst: dst, m: affine2(1, 0, v.n, 1), store: true})
		v = x.whole(dst)
	}
	x.roots[v.root].shared = true
	return v
}

// absorb finds sums of arrays some of whose terms are scatters that nobody else
// reads: the adjoint of a value of which parts were used. They become one
// accumulation, whose cost is that of the parts and not of the whole.
func (x *context) absorb(live []bool) {
	g := x.g
	x.absorbed = make([]bool, len(g.Nodes))
	sum := make([]bool, len(g.Nodes)) // of arrays, with a scatter among the terms, read once
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
	v     val
	m     flatMap
	store bool
}

// terms appends the parts that add up to r.
func (x *context) terms(ps []part, r ad.Ref, t ad.Type) []part {
	n, total := &x.g.Nodes[r], t.Total()
	switch {
	case !x.absorbed[r]:
		v := x.spread(x.val(r), x.g.Type(r), t)
		if d := x.roots[v.root].data; v.n == 1 && d != nil && d[v.off] == 0 {
			return ps
		}
		if v.n == 1 && total > 1 {
			v = val{root: v.root, off: v.off, n: total, rep: true}
		}
		return append(ps, part{v: v, m: affine2(1, 0, total, 1)})
	case n.Op == ad.OpScatter:
		return append(ps, x.scatter(n))
	}
	return x.terms(x.terms(ps, n.Args[0], t), n.Args[1], t)
}

func (x *context) scatter(n *ad.Node) part {
	return part{v: x.val(n.Args[0]), m: flatten(n.Index(), n.Type.Lanes, n.Type.Size())}
}

// val is the value of a graph's node; a region's flat value is put together
// where it is used whole.
func (x *context) val(r ad.Ref) val {
	if reg := x.parts[r]; reg != nil && x.vals[r].n == 0 {
		x.vals[r] = x.concat(reg.lanes, reg.results)
	}
	return x.vals[r]
}

// solid is a value whose elements all exist.
func (x *context) solid(v val) val {
	if !v.rep {
		return v
	}
	return x.load(val{root: v.root, off: v.off, n: 1}, affine2(1, 0, v.n, 0))
}

// node lowers one node.
func (x *context) node(r ad.Ref, n *ad.Node) val {
	total := n.Type.Total()
	row := n.Op.Row()
	if total == 0 && row.Class != ad.Region && !mayFail(n) {
		return x.whole(x.zero)
	}
	switch n.Op {
	case ad.OpConst:
		if total == 1 || equalBits(n.Data) {
			v := x.constant(n.Data[0])
			v.n, v.rep = total, total > 1
			return v
		}
		return x.whole(x.compiler.newRoot(root{n: total, data: n.Data, keep: true}))
	case ad.OpReshape, ad.OpLane, ad.OpUnlane:
		v := x.val(n.Args[0])
		return v
	case ad.OpGather:
		return x.gather(n)
	case ad.OpScatter:
		p := x.scatter(n)
		if total == 1 && p.m.uniform() {
			if c, rest, ok := x.factor(n.Args[0]); ok {
				p.v = rest
				return x.times(c, x.accumulate(1, []part{p}))
			}
		}
		return x.accumulate(total, []part{p})
	case ad.OpConcat:
		vs := make([]laneVal, len(n.Args))
		for i, a := range n.Args {
			vs[i] = laneVal{x.val(a), x.g.Type(a).Lanes > 0}
		}
		return x.concat(n.Type.Lanes, vs)
	case ad.OpScan, ad.OpIf:
		x.lowerRegion(r, n)
		return val{}
	}
	if row.Class == ad.Elementwise {
		if n.Op == ad.OpAdd && (x.absorbed[n.Args[0]] || x.absorbed[n.Args[1]]) {
			return x.accumulate(total, x.terms(x.terms(nil, n.Args[0], n.Type), n.Args[1], n.Type))
		}
		return x.elementwise(n)
	}
	nd := node{kind: arrayNode, op: n.Op, n: total, src: n, dst: none}
	for _, a := range n.Args {
		nd.args = append(nd.args, x.solid(x.val(a)))
		nd.types = append(nd.types, x.g.Type(a))
	}
	switch row.Class {
	case ad.Effect:
		nd.kind = effectNode
		if c, ok := n.Attr.(*ad.Check); ok && x.holds(nd.args[0], c) {
			return val{}
		}
		if n.Op == ad.OpCheck && nd.args[0].n == 1 {
			nd.kind, nd.n = elemNode, 1
		}
	case ad.Random:
		nd.kind = randomNode
	default:
		if n.Op == ad.OpMatMul {
			nd.kind = matmulNode
		}
	}
	if row.Class != ad.Effect {
		nd.dst = x.newRoot(total)
	}
	i := x.add(nd)
	if mayFail(n) {
		x.ordered(i)
	}
	if nd.dst == none {
		return val{}
	}
	return x.whole(nd.dst)
}

// holds reports whether a check of a constant is known to pass.
func (x *context) holds(v val, c *ad.Check) bool {
	d := x.roots[v.root].data
	return d != nil && within(d[v.off:v.off+v.n], c.Set)
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

// elementwise lowers an elementwise op: operands of one element and those of
// the result's size are used as they are, others are spread by a load. An op
// all of whose operands are uniform is computed once.
func (x *context) elementwise(n *ad.Node) val {
	total := n.Type.Total()
	nd := node{kind: elemNode, op: n.Op, n: total}
	uniform := true
	for _, a := range n.Args {
		v := x.spread(x.val(a), x.g.Type(a), n.Type)
		uniform = uniform && v.n == 1
		nd.args = append(nd.args, v)
	}
	if !uniform && (n.Op == ad.OpAdd || n.Op == ad.OpMul) {
		// Zeros, from adjoints of what was not used, and ones, from those of sums.
		nothing := 0.0
		if n.Op == ad.OpMul {
			nothing = 1
		}
		for k, v := range nd.args {
			if d := x.roots[v.root].data; v.n == 1 && d != nil && d[v.off] == nothing {
				return nd.args[1-k]
			}
		}
	}
	if uniform {
		nd.n = 1
		nd.dst = x.newRoot(1)
		x.add(nd)
		return val{root: nd.dst, n: total, rep: total > 1}
	}
	if v, ok := x.merge(n, &nd); ok {
		return v
	}
	if v, ok := x.logistic(&nd); ok {
		return v
	}
	nd.dst = x.newRoot(total)
	x.add(nd)
	return x.whole(nd.dst)
}

// spread makes of v, of type from, an operand of an elementwise op whose value
// has type to: one element, or all that the value has.
func (x *context) spread(v val, from, to ad.Type) val {
	switch {
	case v.rep || v.n == 1:
		return val{root: v.root, off: v.off, n: 1}
	case v.n == to.Total():
		return v
	case from.Lanes > 0: // one number per lane
		return x.load(v, affine2(to.Lanes, 1, to.Size(), 0))
	}
	return x.load(v, affine2(to.Lanes, 0, to.Size(), 1)) // the same array in every lane
}

// gather lowers an index: a slice is a view, one element repeated stays one
// element, anything else is a load.
func (x *context) gather(n *ad.Node) val {
	src := n.Args[0]
	t := x.g.Type(src)
	ix := n.Index()
	v := val{}
	size := t.Size()
	if reg := x.parts[src]; reg != nil {
		k, offset := partOf(reg.sizes, ix)
		if k >= 0 {
			v, size = reg.results[k].val, reg.sizes[k]
			ix.Offset -= offset
		}
	}
	if v.n == 0 {
		v = x.val(src)
	}
	m := flatten(ix, n.Type.Lanes, size)
	switch {
	case v.rep:
		return val{root: v.root, off: v.off, n: m.n, rep: m.n > 1}
	case m.n == 1:
		return val{root: v.root, off: v.off + m.off, n: 1}
	case m.uniform():
		return val{root: v.root, off: v.off + m.off, n: m.n, rep: true}
	case m.contiguous():
		return val{root: v.root, off: v.off + m.off, n: m.n}
	}
	return x.load(v, m)
}

// load returns the elements of v that m maps to, as a value of its own.
func (x *context) load(v val, m flatMap) val {
	_, s0, n1, s1, affine := m.affine()
	key := loadKey{val{v.root, v.off + m.off, m.n, false}, s0, n1, s1}
	if affine {
		if w, ok := x.loads[key]; ok {
			return w
		}
	}
	dst := x.newRoot(m.n)
	x.add(node{kind: loadNode, op: ad.OpGather, n: m.n, args: []val{v}, dst: dst, m: m})
	if affine {
		x.loads[key] = x.whole(dst)
	}
	return x.whole(dst)
}

// laneVal is a value that has lanes or not.
type laneVal struct {
	val
	laned bool
}

// concat puts values one after another, per lane.
func (x *context) concat(lanes int, vs []laneVal) val {
	size := 0
	L := max(lanes, 1)
	for _, v := range vs {
		if v.laned {
			size += v.n / L
		} else {
			size += v.n
		}
	}
	var ps []part
	offset := 0
	for _, v := range vs {
		k := v.n
		if v.laned {
			k /= L
		}
		if k == 0 {
			continue
		}
		if !v.laned && L > 1 {
			v.val = x.load(x.solid(v.val), affine2(L, 0, k, 1))
		}
		m := affine2(L, size, k, 1)
		m.off = offset
		ps = append(ps, part{v: v.val, m: m, store: true})
		offset += k
	}
	return x.accumulate(L*size, ps)
}

// accumulate makes the array of n elements to which parts are added through
// their maps. A part that alone covers a range of elements is stored; if it is
// a value made for that, it is computed right there.
func (x *context) accumulate(n int, parts []part) val {
	if n == 0 {
		return x.whole(x.zero)
	}
	type span struct {
		lo, hi int
		p      int
	}
	var spans []span
	for i := range parts {
		p := &parts[i]
		if p.v.n > 0 && p.m.n > 0 {
			s := p.m.span()
			spans = append(spans, span{s.lo, s.hi, i})
		}
	}
	if len(spans) == 0 {
		v := x.constant(0)
		v.n, v.rep = n, n > 1
		return v
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	stores := parts[0].store // all or none come as stores
	dst := x.newRoot(n)
	end, top := 0, 0 // covered by stores; greatest end so far
	var clears []clearSpan
	for k, s := range spans {
		p := &parts[s.p]
		alone := s.lo >= top && (k+1 == len(spans) || spans[k+1].lo >= s.hi)
		top = max(top, s.hi)
		if !stores && alone && p.m.contiguous() {
			p.store = true
			if s.lo > end {
				clears = append(clears, clearSpan{end, s.lo})
			}
			end = s.hi
		}
	}
	if !stores && end < n {
		clears = append(clears, clearSpan{end, n})
	}
	x.roots[dst].clears = clears
	for _, p := range parts {
		if p.v.n == 0 || p.m.n == 0 {
			continue
		}
		v := x.solid(p.v)
		r := &x.roots[v.root]
		if p.store && p.m.contiguous() && x.placeable(v) {
			r.in, r.at = dst, p.m.off
			d := &x.roots[dst]
			d.makers = append(d.makers, r.makers...)
			continue
		}
		x.add(node{kind: accNode, op: ad.OpScatter, n: v.n, args: []val{v}, dst: dst, m: p.m, store: p.store})
	}
	return x.whole(dst)
}

// placeable reports whether v may live within another root: it is all of a
// root that this context's nodes write and that has no other home.
func (x *context) placeable(v val) bool {
	r := &x.roots[v.root]
	return r.ctx == x && !r.keep && r.in == none && r.data == nil && r.bind == nil && v.off == 0 && v.n == r.n && len(r.makers) > 0
}

// span is the least range that holds all elements of the map.
func (m *flatMap) span() clearSpan {
	lo, hi := m.off, m.off
	for _, d := range m.dims {
		if d.Table == nil {
			if s := (d.N - 1) * d.Stride; s < 0 {
				lo += s
			} else {
				hi += s
			}
			continue
		}
		a, b := slices.Min(d.Table[:d.N]), slices.Max(d.Table[:d.N])
		lo, hi = lo+int(a), hi+int(b)
	}
	return clearSpan{lo, hi + 1}
}
