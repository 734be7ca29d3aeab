package vm

import "github.com/ppl-lang/ppl/ad"

// region is a scan or a conditional being lowered. Its sub-graphs are contexts
// of their own; what they share with the surrounding context is addressed
// there: captured values directly, slices of streams and lanes through
// bindings. Carried values live in roots of the surrounding context.
type region struct {
	node    *ad.Node
	scan    *ad.Scan // nil for a conditional
	lanes   int
	results []laneVal // by position in the flat value; dead ones have no root
	sizes   []int     // of one lane
	live    []bool    // results that somebody reads

	cond    laneVal
	bodies  []*context
	binds   []*binding
	carries []carry
	sums    []rootID   // accumulators
	finals  []lanePart // carried values and sums to copy after every lane
	kept    []kept
	outs    [2][]kept // results of the branches of a conditional

	start, first int // in the emitter's time: of the region, of the body
	pins         []rootID
}

// binding ties a root of the sub-graph to a slice of a value that moves with
// the step or the lane. Views of the root are set anew at every step (lane);
// single elements that scalar code reads are copied to the arena.
type binding struct {
	src        val // in the surrounding context
	step, lane int // strides
	byStep     bool
	reg        *region
	views      []movingView
	loads      map[int]rootID // by offset
	order      []int          // offsets in order of demand
}

type carry struct {
	root rootID
	init laneVal
	next val // in the body
}

// lanePart is a root of one lane's size and the result to which it is copied
// after every lane.
type lanePart struct{ root, part rootID }

// kept is a value of a body that is stored at the end (history: at the
// beginning) of every step in part of a result.
type kept struct {
	v          val
	dst        rootID
	step, lane int
	first      bool
}

// findParts prepares the regions among live nodes.
func (x *context) findParts(live []bool, outputs []ad.Ref) {
	for r, used := range usedParts(x.g, live, outputs) {
		n := &x.g.Nodes[r]
		x.parts[r] = &region{node: n, lanes: n.Type.Lanes, sizes: resultSizes(n), live: used}
	}
}

// result makes the root of a live result.
func (x *context) result(reg *region, k int) rootID {
	r := x.newRoot(max(reg.lanes, 1) * reg.sizes[k])
	reg.results[k] = laneVal{x.whole(r), reg.lanes > 0}
	return r
}

// lowerRegion lowers a scan or conditional and its sub-graphs.
func (x *context) lowerRegion(r ad.Ref, n *ad.Node) {
	reg := x.parts[r]
	reg.results = make([]laneVal, len(reg.sizes))
	for k := range reg.results {
		reg.results[k].root = none
	}
	args := make([]laneVal, len(n.Args))
	nd := node{kind: regionNode, op: n.Op, src: n, dst: none, reg: reg}
	for i, a := range n.Args {
		args[i] = laneVal{x.val(a), x.g.Type(a).Lanes > 0}
		nd.args = append(nd.args, args[i].val)
	}
	if s, ok := n.Attr.(*ad.Scan); ok {
		reg.scan = s
		x.lowerScan(reg, args)
	} else {
		x.lowerIf(reg, args)
	}
	i := x.add(nd)
	for _, p := range reg.results {
		if p.root != none {
			x.roots[p.root].makers = append(x.roots[p.root].makers, i)
		}
	}
	if mayFail(n) {
		x.ordered(i)
	}
}

// capture is the value of an argument within a sub-graph, without lanes.
func (x *context) capture(reg *region, a laneVal) val {
	if !a.laned {
		return a.val
	}
	n := a.n / reg.lanes
	if a.rep {
		return val{root: a.root, off: a.off, n: n, rep: n > 1}
	}
	return x.bind(reg, &binding{src: a.val, lane: n}, n)
}

// bind makes the root that b moves.
func (x *context) bind(reg *region, b *binding, n int) val {
	b.reg, b.loads = reg, map[int]rootID{}
	reg.binds = append(reg.binds, b)
	return x.whole(x.compiler.newRoot(root{n: n, bind: b, keep: true}))
}

func (x *context) lowerScan(reg *region, args []laneVal) {
	s, L := reg.scan, max(reg.lanes, 1)
	b := x.newContext(s.Body, x, reg)
	reg.bodies = []*context{b}
	for i, a := range args {
		in := s.Body.Inputs[i]
		size := s.Body.Type(in).Size()
		switch {
		case i < s.Carries:
			c := x.compiler.newRoot(root{n: size, ctx: x, keep: true})
			reg.carries = append(reg.carries, carry{root: c, init: a})
			b.vals[in] = x.whole(c)
		case i >= s.Carries+s.Streams:
			b.vals[in] = x.capture(reg, a)
		case a.rep:
			b.vals[in] = val{root: a.root, off: a.off, n: size, rep: size > 1}
		default:
			bd := &binding{src: a.val, step: size, byStep: true}
			if a.laned {
				bd.lane = a.n / L
			}
			b.vals[in] = x.bind(reg, bd, size)
		}
	}
	var outputs []int
	sum := s.Carries + s.Outs // the first sum among outputs; results have the history besides
	for k := range s.Body.Outputs {
		if k < s.Carries || reg.live[s.Carries+k] {
			outputs = append(outputs, k)
		}
	}
	b.lower(outputs)
	for k := range reg.carries {
		c := &reg.carries[k]
		c.next = b.output(k)
		if reg.live[k] && reg.lanes == 0 {
			f := x.newRoot(reg.sizes[k])
			x.roots[f].in = c.root
			reg.results[k] = laneVal{x.whole(f), false}
		} else if reg.live[k] {
			reg.finals = append(reg.finals, lanePart{c.root, x.result(reg, k)})
		}
		if h := s.Carries + k; reg.live[h] {
			reg.kept = append(reg.kept, kept{v: x.whole(c.root), dst: x.result(reg, h), first: true})
		}
	}
	for k := s.Carries; k < sum; k++ {
		if reg.live[s.Carries+k] {
			reg.kept = append(reg.kept, kept{v: b.output(k), dst: x.result(reg, s.Carries+k)})
		}
	}
	for i := range reg.kept {
		k := &reg.kept[i]
		k.step, k.lane = k.v.n, s.Steps*k.v.n
	}
	for k := sum; k < len(s.Body.Outputs); k++ {
		p := s.Carries + k
		if !reg.live[p] {
			continue
		}
		acc := x.compiler.newRoot(root{n: reg.sizes[p], ctx: x, keep: true})
		if v := b.solid(b.output(k)); v.n > 0 {
			b.add(node{kind: accNode, op: ad.OpScatter, n: v.n, args: []val{v}, dst: acc, m: affine2(1, 0, v.n, 1)})
		}
		if reg.lanes == 0 {
			reg.results[p] = laneVal{x.whole(acc), false}
		} else {
			reg.finals = append(reg.finals, lanePart{acc, x.result(reg, p)})
		}
		reg.sums = append(reg.sums, acc)
	}
}

// output is the value of the graph's output k, read by others than nodes.
func (x *context) output(k int) val {
	v := x.val(x.g.Outputs[k])
	x.roots[v.root].shared = true
	return v
}

func (x *context) lowerIf(reg *region, args []laneVal) {
	f := reg.node.Attr.(*ad.If)
	reg.cond = args[0]
	captured := make([]val, len(args)-1)
	for i, a := range args[1:] {
		captured[i] = x.capture(reg, a)
	}
	var outputs []int
	for k, live := range reg.live {
		if live {
			outputs = append(outputs, k)
			x.result(reg, k)
		}
	}
	for side, g := range []*ad.Graph{f.Then, f.Else} {
		b := x.newContext(g, x, reg)
		reg.bodies = append(reg.bodies, b)
		for i, v := range captured {
			b.vals[g.Inputs[i]] = v
		}
		b.lower(outputs)
		for _, k := range outputs {
			v := b.output(k)
			reg.outs[side] = append(reg.outs[side], kept{v: v, dst: reg.results[k].root, lane: v.n})
		}
	}
}
