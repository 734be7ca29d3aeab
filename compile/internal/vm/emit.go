package vm

import "github.com/ppl-lang/ppl/ad"

// emitter turns scheduled nodes into blocks. Memory is planned at the end, so
// that operands of scalar code are numbers of slots until finish.
//
// Time counts instructions of scalar code and whole blocks of other kinds; at
// even times operands are read, at odd times results are written, so that a
// scalar result may take the place of an operand read for the last time.
type emitter struct {
	p       *Program
	time    int
	slots   []slotRef
	viewIDs map[viewKey]int32
	specs   []viewKey // by view; root none: window
}

type slotRef struct {
	root rootID
	off  int
}

type viewKey struct {
	root   rootID
	off, n int
}

// maxStrip is the number of elements that a strip runs over at a time.
const maxStrip = 512

func newCompiler() *compiler {
	c := &compiler{consts: map[uint64]rootID{}}
	c.viewIDs = map[viewKey]int32{}
	c.zero = c.newRoot(root{data: []float64{}, keep: true})
	return c
}

// touch extends the life of r's memory to time t. Memory of a surrounding
// context lives as long as the region within.
func (x *context) touch(r rootID, t int, read bool) {
	for {
		rt := &x.roots[r]
		if read {
			rt.lastRead = max(rt.lastRead, t)
		}
		if rt.in == none {
			break
		}
		r = rt.in
	}
	rt := &x.roots[r]
	if rt.data != nil || rt.bind != nil {
		return
	}
	y := x
	for ; y != rt.ctx; y = y.parent {
		t = y.region.start
		if y.parent == rt.ctx {
			y.region.pins = append(y.region.pins, r)
		}
	}
	rt.touched = true
	rt.lo, rt.hi = min(rt.lo, t), max(rt.hi, t)
}

// view is the view of v's elements; of a rep, of the one element.
func (x *context) view(v val) int32 {
	key := viewKey{v.root, v.off, v.n}
	if v.rep {
		key.n = 1
	}
	if id, ok := x.viewIDs[key]; ok {
		return id
	}
	id := x.newView(key)
	x.viewIDs[key] = id
	if b := x.roots[v.root].bind; b != nil {
		b.views = append(b.views, movingView{id, key.off, key.n})
	}
	return id
}

type movingView struct {
	view   int32
	off, n int
}

func (x *context) newView(key viewKey) int32 {
	x.specs = append(x.specs, key)
	return int32(len(x.specs) - 1)
}

func (x *context) readView(v val, t int) int32 {
	x.touch(v.root, t, true)
	return x.view(v)
}

// slot is the operand of scalar code for element off of a root.
func (x *context) slot(v val, t int, read bool) int32 {
	r := &x.roots[v.root]
	switch {
	case r.data != nil && r.n > 1:
		v = x.constant(r.data[v.off])
	case r.bind != nil:
		b := r.bind
		id, ok := b.loads[v.off]
		if !ok {
			if b.byStep {
				body := b.reg.bodies[0]
				id = x.compiler.newRoot(root{n: 1, ctx: body, keep: true})
				body.touch(id, b.reg.first, false)
			} else {
				outer := b.reg.bodies[0].parent
				id = x.compiler.newRoot(root{n: 1, ctx: outer, keep: true})
				outer.touch(id, b.reg.start, false)
				b.reg.pins = append(b.reg.pins, id)
			}
			b.loads[v.off] = id
			b.order = append(b.order, v.off)
		}
		v = x.whole(id)
	}
	x.touch(v.root, t, read)
	x.slots = append(x.slots, slotRef{v.root, v.off})
	return int32(len(x.slots) - 1)
}

// clearing adds to the block what must be zero before r is written.
func (x *context) clearing(b *block, r rootID, t int) {
	for ; r != none; r = x.roots[r].in {
		for _, s := range x.roots[r].clears {
			x.touch(r, t, false)
			b.clears = append(b.clears, x.view(val{root: r, off: s.lo, n: s.hi - s.lo}))
		}
		x.roots[r].clears = nil
	}
}

// emit schedules the context's nodes and translates them.
func (x *context) emit() []block {
	var bs []block
	x.fuse()
	x.schedule(func(nodes []int32) {
		n := &x.nodes[nodes[0]]
		b := block{n: n.n}
		start := x.time
		x.time += 2
		switch {
		case n.kind > accNode:
			x.single(&b, n, start)
		case n.n == 1:
			x.scalarCode(&b, nodes, start)
		default:
			x.stripCode(&b, nodes, start)
		}
		bs = append(bs, b)
	})
	return bs
}

func (x *context) scalarCode(b *block, nodes []int32, start int) {
	b.kind = scalarBlock
	for _, i := range x.group(nodes) {
		n := &x.nodes[i]
		t := x.time
		x.time += 2
		in := instr{op: uint16(n.op)}
		ops := [3]*int32{&in.a, &in.b, &in.c}
		for k, a := range n.args {
			*ops[k] = x.slot(a, t, true)
		}
		switch {
		case n.op == ad.OpCheck:
			in.dst = in.a
			in.b = int32(len(x.p.checks))
			x.p.checks = append(x.p.checks, n.src)
		case n.kind == accNode:
			x.clearing(b, n.dst, start)
			in.dst = x.slot(val{root: n.dst, off: n.m.off, n: 1}, t+1, false)
			in.op = uint16(ad.OpReshape)
			if !n.store {
				in.op, in.b = uint16(ad.OpAdd), in.a
				in.a = in.dst
			}
		default:
			x.clearing(b, n.dst, start)
			in.dst = x.slot(x.whole(n.dst), t+1, false)
		}
		b.code = append(b.code, in)
	}
	findRuns(b.code)
}

// single emits a node that runs alone.
func (x *context) single(b *block, n *node, t int) {
	b.node, b.types = n.src, n.types
	if n.kind == regionNode {
		b.kind = regionBlock
		b.reg = x.emitRegion(b, n.reg, n, t)
		return
	}
	for _, a := range n.args {
		b.args = append(b.args, x.readView(a, t))
	}
	x.p.maxArgs = max(x.p.maxArgs, len(n.args))
	if n.dst != none {
		x.clearing(b, n.dst, t)
		x.touch(n.dst, t, false)
		b.dst = x.view(x.whole(n.dst))
	}
	switch n.kind {
	case matmulNode:
		b.kind = matmulBlock
	case randomNode:
		b.kind = randomBlock
	case effectNode:
		b.kind = effectBlock
	case arrayNode:
		b.kind = arrayBlock
		work := 0
		if w := n.op.Row().Work; w != nil {
			work = w(n.types, n.src.Attr)
		}
		r := x.newRoot(work)
		x.touch(r, t, false)
		b.work = x.view(x.whole(r))
	}
}

// emitRegion emits a region's bodies and what surrounds them.
func (x *context) emitRegion(blk *block, reg *region, n *node, start int) *regionPlan {
	p := &regionPlan{lanes: max(reg.lanes, 1), steps: 1}
	reg.start = start
	for _, a := range n.args {
		x.touch(a.root, start, true)
	}
	for _, r := range reg.results {
		if r.root != none {
			x.clearing(blk, r.root, start)
			x.touch(r.root, start, false)
		}
	}
	if reg.scan != nil {
		p.steps, p.reverse = reg.scan.Steps, reg.scan.Reverse
	} else {
		p.conditional = true
		p.cond = x.view(reg.cond.val)
		if reg.cond.laned && !reg.cond.rep {
			p.condLane = reg.cond.n / p.lanes
		}
	}
	for _, c := range reg.carries {
		x.touch(c.root, start, false)
		w := copying{dst: x.view(x.whole(c.root)), src: x.view(c.init.val), n: x.roots[c.root].n, rep: c.init.rep}
		if c.init.laned && !c.init.rep {
			w.lane = w.n
		}
		p.inits = append(p.inits, w)
	}
	for _, r := range reg.sums {
		x.touch(r, start, false)
		p.clears = append(p.clears, x.view(x.whole(r)))
	}
	for side, b := range reg.bodies {
		reg.first = x.time
		x.time += 2
		for _, k := range reg.kept {
			if k.first {
				b.keep(&p.history, k, reg.first)
			}
		}
		p.bodies[side] = b.emit()
		t := x.time
		x.time += 2
		for _, k := range reg.kept {
			if !k.first {
				b.keep(&p.keeps[0], k, t)
			}
		}
		for _, k := range reg.outs[side] {
			b.keep(&p.keeps[side], k, t)
		}
		if len(reg.carries) > 0 {
			b.next(reg, p, t)
		}
	}
	end := x.time
	x.time += 2
	for _, f := range reg.finals {
		k := x.roots[f.root].n
		p.finals = append(p.finals, copying{dst: x.view(x.whole(f.part)), src: x.view(x.whole(f.root)), lane: k, n: k})
	}
	for _, bd := range reg.binds {
		src := x.view(bd.src)
		moves, loads := &p.laneMoves, &p.laneLoads
		if bd.byStep {
			moves, loads = &p.stepMoves, &p.stepLoads
		}
		for _, v := range bd.views {
			*moves = append(*moves, move{dst: v.view, src: src, off: v.off, lane: bd.lane, step: bd.step, n: v.n})
		}
		for _, off := range bd.order {
			x.slots = append(x.slots, slotRef{bd.loads[off], 0})
			*loads = append(*loads, scalarMove{slot: int32(len(x.slots) - 1), view: src, off: off, lane: bd.lane, step: bd.step})
		}
	}
	if b := p.bodies[0]; !p.conditional && len(b) == 1 && b[0].kind == scalarBlock && len(b[0].clears) == 0 &&
		len(p.stepMoves)+len(p.history.arrays)+len(p.keeps[0].arrays)+len(p.stages)+len(p.nexts) == 0 {
		p.tight = true
		x.p.cursors = max(x.p.cursors, len(p.stepLoads)+len(p.history.scalars)+len(p.keeps[0].scalars))
	}
	for _, a := range n.args {
		x.touch(a.root, end, true)
	}
	for _, r := range reg.results {
		if r.root != none {
			x.touch(r.root, end, false)
		}
	}
	for _, c := range reg.carries {
		x.touch(c.root, end, true)
	}
	for _, r := range reg.sums {
		x.touch(r, end, true)
	}
	for _, r := range reg.pins {
		x.touch(r, end, true)
	}
	return p
}

// keep emits the storing of a value of the body.
func (x *context) keep(ks *keeps, k kept, t int) {
	dst := x.view(x.whole(k.dst))
	if k.v.n == 1 {
		ks.scalars = append(ks.scalars, scalarMove{slot: x.slot(k.v, t, true), view: dst, lane: k.lane, step: k.step})
	} else if k.v.n > 1 {
		ks.arrays = append(ks.arrays, copying{dst: dst, src: x.readView(k.v, t), lane: k.lane, step: k.step, n: k.v.n, rep: k.v.rep})
	}
}

// next emits the passing on of carried values. A scalar whose predecessor has
// been read for the last time when it is computed is computed in its place.
func (x *context) next(reg *region, p *regionPlan, t int) {
	for _, c := range reg.carries {
		x.touch(c.next.root, t, true)
	}
	for i, c := range reg.carries {
		r := &x.roots[c.next.root]
		old := &x.roots[c.root]
		if c.next.n != 1 || r.n != 1 || r.ctx != x || r.keep || r.in != none || old.lastRead >= r.lo {
			continue
		}
		once := true
		for j, d := range reg.carries {
			once = once && (j == i || d.next.root != c.next.root)
		}
		if once {
			r.in = c.root
		}
	}
	// Values that are themselves overwritten are put aside first.
	carried := map[rootID]bool{}
	for _, c := range reg.carries {
		carried[c.root] = true
	}
	for _, c := range reg.carries {
		n, src := x.roots[c.root].n, c.next
		from := src.root
		if x.roots[from].in != none {
			from = x.roots[from].in
		}
		if n == 0 || src == x.whole(c.root) || x.roots[src.root].in == c.root {
			continue // unchanged, or computed in place
		}
		if carried[from] {
			tmp := x.newRoot(n)
			x.touch(tmp, t, false)
			p.stages = append(p.stages, copying{dst: x.view(x.whole(tmp)), src: x.view(src), n: n, rep: src.rep})
			src = x.whole(tmp)
		}
		if n == 1 {
			p.nextScalars = append(p.nextScalars, instr{op: uint16(ad.OpReshape), dst: x.slot(x.whole(c.root), t, false), a: x.slot(src, t, true)})
		} else {
			p.nexts = append(p.nexts, copying{dst: x.view(x.whole(c.root)), src: x.view(src), n: n, rep: src.rep})
		}
	}
}
