package vm

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// emitter generates code for the blocks of a loop nest. Memory is assigned at the end, by finish;
// until then, operands of scalar code are numbers of slots.
//
// Time is counted in instructions of scalar code and in whole blocks of other kinds. Operands are
// read at even times and results are written at odd times, so that a scalar result may take the
// memory of an operand that is read for the last time.
type emitter struct {
	p       *Program
	nest    *loopnest.Program
	roots   []root // the buffers of the nest come first
	regions map[*loopnest.Region]*regionState
	binds   map[*loopnest.Binding]*bindState
	consts  map[uint64]rootID
	time    int
	slots   []slotRef
	weights []float64 // estimated times of blocks that may run in parts; nil: none may
	viewIDs map[viewKey]int32
	specs   []viewKey // for each view, what it shows; with root none, a window of a strip
	updates []update  // in order of time
	sides   map[*loopnest.Body]interval

	exchanged map[rootID]bool // inputs, and roots that contain outputs; nil: not computed yet
}

type (
	rootID = loopnest.BufferID
	val    = loopnest.Value
	node   = loopnest.Node
)

const none = loopnest.None

// root is a piece of memory and its lifetime: a buffer of the nest, or memory that only the
// generated code needs.
type root struct {
	n    int
	data []float64 // of a constant
	bind *loopnest.Binding
	body *loopnest.Body // in which it is written
	keep bool
	in   rootID // the root of which this one is a part, from element at on
	at   int

	clears   []loopnest.Span // spans that must still be cleared
	lo, hi   int             // lifetime in the emitter's time, for roots with separate memory
	lastRead int
	reads    []int // times of reads, for arrays that may be updated in place
	touched  bool
	off      int  // offset in the arena
	own      bool // it is in each worker's private memory, at offset off
}

// regionState is the state of a region while its code is generated.
type regionState struct {
	start, first int // start times of the region and of the body
	pins         []rootID
}

// bindState lists what has to move when a binding moves: the views of its root, and the copies of
// single elements that scalar code reads.
type bindState struct {
	views []movingView
	loads map[int]rootID // for each offset, the root that holds a copy of the element
	order []int          // offsets in the order of their first use
}

type movingView struct {
	view   int32
	off, n int
}

type slotRef struct {
	root rootID
	off  int
}

type viewKey struct {
	root   rootID
	off, n int
	caller bool // see callers.go
}

func newEmitter(p *Program, nest *loopnest.Program) *emitter {
	e := &emitter{p: p, nest: nest, roots: make([]root, len(nest.Buffers)), regions: map[*loopnest.Region]*regionState{},
		binds: map[*loopnest.Binding]*bindState{}, sides: map[*loopnest.Body]interval{}, viewIDs: make(map[viewKey]int32, 32), consts: map[uint64]rootID{}}
	for i := range nest.Buffers {
		b := &nest.Buffers[i]
		e.roots[i] = root{n: b.N, data: b.Data, bind: b.Binding, body: b.Body, keep: b.Kept, in: b.In, at: b.At, clears: b.Clears,
			lo: math.MaxInt, hi: -1, lastRead: -1}
	}
	e.shareData()
	return e
}

func (e *emitter) body(b *loopnest.Body) *context { return &context{emitter: e, Body: b} }

// context generates the code of one body.
type context struct {
	*emitter
	*loopnest.Body
}

// newRoot adds a root that is not a buffer of the nest.
func (e *emitter) newRoot(n int, in *loopnest.Body, keep bool) rootID {
	e.roots = append(e.roots, root{n: n, body: in, keep: keep, in: none, lo: math.MaxInt, hi: -1, lastRead: -1})
	return rootID(len(e.roots) - 1)
}

// number returns the value of a constant element.
func (e *emitter) number(v float64) val {
	bits := math.Float64bits(v)
	id, ok := e.consts[bits]
	if !ok {
		id = e.newRoot(1, nil, true)
		e.roots[id].data = []float64{v}
		e.consts[bits] = id
	}
	return e.whole(id)
}

func (e *emitter) whole(r rootID) val { return val{Buf: r, N: e.roots[r].n} }

func (e *emitter) region(r *loopnest.Region) *regionState {
	s := e.regions[r]
	if s == nil {
		s = &regionState{}
		e.regions[r] = s
	}
	return s
}

func (e *emitter) binding(b *loopnest.Binding) *bindState {
	s := e.binds[b]
	if s == nil {
		s = &bindState{loads: map[int]rootID{}}
		e.binds[b] = s
	}
	return s
}

// touch extends the lifetime of r to time t. A root of an outer body lives as long as the region
// that contains the reader.
func (x *context) touch(r rootID, t int, read bool) {
	if rt := &x.roots[r]; read && rt.n >= minUpdated {
		rt.reads = append(rt.reads, t)
	}
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
	for y := x.Body; y != rt.body; y = y.Parent {
		reg := x.region(y.Region)
		t = reg.start
		if y.Parent == rt.body {
			reg.pins = append(reg.pins, r)
		}
	}
	rt.touched = true
	rt.lo, rt.hi = min(rt.lo, t), max(rt.hi, t)
}

// view returns the view of v's elements; for a broadcast value, the view of its one element.
func (x *context) view(v val) int32 {
	key := viewKey{root: v.Buf, off: v.Off, n: v.N}
	if v.Rep {
		key.n = 1
	}
	if id, ok := x.viewIDs[key]; ok {
		return id
	}
	id := x.newView(key)
	x.viewIDs[key] = id
	if b := x.roots[v.Buf].bind; b != nil {
		s := x.binding(b)
		s.views = append(s.views, movingView{id, key.off, key.n})
	}
	return id
}

func (x *context) newView(key viewKey) int32 {
	x.specs = append(x.specs, key)
	return int32(len(x.specs) - 1)
}

func (x *context) readView(v val, t int) int32 {
	x.touch(v.Buf, t, true)
	return x.view(v)
}

// slot returns the operand of scalar code for the value v at time t.
func (x *context) slot(v val, t int, read bool) int32 {
	r := &x.roots[v.Buf]
	switch {
	case r.data != nil && r.n > 1:
		v = x.number(r.data[v.Off])
	case r.bind != nil:
		b, reg := x.binding(r.bind), r.bind.Region
		id, ok := b.loads[v.Off]
		if !ok {
			if r.bind.ByStep {
				id = x.newRoot(1, reg.Bodies[0], true)
				x.body(reg.Bodies[0]).touch(id, x.region(reg).first, false)
			} else {
				outer := reg.Bodies[0].Parent
				id = x.newRoot(1, outer, true)
				x.body(outer).touch(id, x.region(reg).start, false)
				x.region(reg).pins = append(x.region(reg).pins, id)
			}
			b.loads[v.Off] = id
			b.order = append(b.order, v.Off)
		}
		v = x.whole(id)
	}
	x.touch(v.Buf, t, read)
	x.slots = append(x.slots, slotRef{v.Buf, v.Off})
	return int32(len(x.slots) - 1)
}

// clearing adds to a block the spans of r that must be set to zero before r is written.
func (x *context) clearing(b *block, r rootID, t int) {
	for ; r != none; r = x.roots[r].in {
		for _, s := range x.roots[r].clears {
			x.touch(r, t, false)
			b.clears = append(b.clears, x.view(val{Buf: r, Off: s.Lo, N: s.Hi - s.Lo}))
		}
		x.roots[r].clears = nil
	}
}

// emit translates the body's blocks.
func (x *context) emit() []block {
	bs := make([]block, 0, len(x.Blocks))
	order, passes := x.order()
	begun := 0 // when the product of the current pass was emitted
	for _, k := range order {
		pass := slices.IndexFunc(passes, func(p passOf) bool { return p.product == k || p.sums == k })
		each := 0
		if pass >= 0 && passes[pass].sums == k {
			each = passes[pass].each
		}
		nb := &x.Blocks[k]
		b := block{n: nb.N, nest: nb}
		start := x.time
		x.time += 2
		switch nb.Kind {
		case loopnest.SingleBlock:
			x.single(&b, &x.Nodes[nb.Nodes[0]], x.weight(k), start, each)
		case loopnest.ScalarBlock:
			x.scalarCode(&b, nb.Nodes, start)
		default:
			x.stripCode(&b, k, nb.Nodes, start)
		}
		if b.split != nil {
			x.p.splits++
		}
		bs = append(bs, b)
		switch {
		case each > 0:
			x.join(bs[len(bs)-3:], passes[pass], begun)
		case pass >= 0:
			begun = start
		}
	}
	return bs
}

func (x *context) scalarCode(b *block, nodes []int32, start int) {
	b.kind = scalarBlock
	b.code, x.slots = make([]instr, 0, len(nodes)), slices.Grow(x.slots, 4*len(nodes))
	for _, i := range nodes {
		n := &x.Nodes[i]
		t := x.time
		x.time += 2
		in := instr{op: n.Op}
		ops := [3]*int32{&in.a, &in.b, &in.c}
		for k, a := range n.Args {
			*ops[k] = x.slot(a, t, true)
		}
		switch {
		case n.Op == ad.OpCheck:
			in.dst = in.a
			in.b = int32(len(x.p.checks))
			x.p.checks = append(x.p.checks, n.Src)
		case n.Kind == loopnest.Accumulate:
			x.clearing(b, n.Dst, start)
			in.dst = x.slot(val{Buf: n.Dst, Off: n.Map.Off, N: 1}, t+1, false)
			in.op = ad.OpReshape
			if !n.Store {
				in.op, in.b = ad.OpAdd, in.a
				in.a = in.dst
			}
		default:
			x.clearing(b, n.Dst, start)
			in.dst = x.slot(x.whole(n.Dst), t+1, false)
		}
		b.code = append(b.code, in)
	}
	b.began, b.ended = start, x.time
}

// single emits a node that forms a block alone. ns is its estimated time if it may run in parts.
// each is the number of terms in a part of a product, if that is decided; otherwise 0.
func (x *context) single(b *block, n *node, ns float64, t, each int) {
	b.node, b.types, b.array = n.Src, n.Types, arrayOpOf(n.Src.Op)
	if n.Kind == loopnest.Regions {
		b.kind = regionBlock
		b.reg = x.emitRegion(b, n.Reg, n, t)
		x.splitRegion(b, ns)
		return
	}
	for _, a := range n.Args {
		b.args = append(b.args, x.readView(a, t))
	}
	x.p.maxArgs = max(x.p.maxArgs, len(n.Args))
	if n.Dst != none {
		x.clearing(b, n.Dst, t)
		x.touch(n.Dst, t, false)
		b.dst = x.view(x.whole(n.Dst))
		x.mayUpdate(n, t)
	}
	switch n.Kind {
	case loopnest.MatMul:
		b.kind = matmulBlock
		if b.sparse = x.sparseOf(n); b.sparse == nil {
			work := x.productWork(b)
			x.splitProduct(b, ns, t, each)
			x.workspace(b, work, t)
		}
	case loopnest.Random:
		b.kind = randomBlock
	case loopnest.Effect:
		b.kind = effectBlock
	case loopnest.Array:
		b.kind = arrayBlock
		work := 0
		if w := n.Op.Row().Work; w != nil {
			work = w(n.Types, n.Src.Attr)
		}
		x.takeDense(b)
		x.splitArray(b, ns, t)
		if b.dense != nil {
			work = max(work, b.array.work(b.dense, b))
		}
		x.workspace(b, work, t)
	}
}

// workspace gives a block a work space of n numbers at time t.
func (x *context) workspace(b *block, n, t int) {
	r := x.newRoot(n, x.Body, false)
	x.touch(r, t, false)
	if b.split != nil && !b.split.shared {
		x.makeOwn(b, r)
	}
	b.work = x.view(x.whole(r))
}

// emitRegion emits a region's bodies and the code around them.
func (x *context) emitRegion(blk *block, reg *loopnest.Region, n *node, start int) *regionPlan {
	p := &regionPlan{lanes: max(reg.Lanes, 1)}
	st := x.region(reg)
	st.start = start
	for _, a := range n.Args {
		x.touch(a.Buf, start, true)
	}
	for _, c := range reg.Carries {
		x.mayGoOn(reg, c, start)
	}
	for _, r := range reg.Results {
		if r.Buf != none {
			x.clearing(blk, r.Buf, start)
			x.touch(r.Buf, start, false)
		}
	}
	p.control = x.control(reg, p.lanes)
	_, chooses := p.control.(*chosen)
	loop, loops := p.control.(*tested)
	for _, c := range reg.Carries {
		x.touch(c.Buf, start, false)
		w := copying{dst: x.view(x.whole(c.Buf)), src: x.view(c.Init.Value), n: x.roots[c.Buf].n, rep: c.Init.Rep}
		if c.Init.Laned && !c.Init.Rep {
			w.lane = w.n
		}
		p.inits = append(p.inits, w)
	}
	for _, r := range reg.Sums {
		x.touch(r, start, false)
		p.clears = append(p.clears, x.view(x.whole(r)))
	}
	for side, body := range reg.Bodies {
		b := x.body(body)
		condition := loops && side == 0
		st.first = x.time
		x.time += 2
		for _, k := range reg.Keeps {
			if k.First && !condition {
				b.keep(&p.history, k, st.first)
			}
		}
		from := x.time
		p.bodies[side] = b.emit()
		t := x.time
		x.time += 2
		if chooses {
			x.sides[body] = interval{from, t}
		}
		for _, k := range reg.Keeps {
			if !k.First && !condition {
				b.keep(&p.keeps[0], k, t)
			}
		}
		if condition {
			loop.cond = b.readView(reg.Cond.Value, t)
			continue
		}
		for _, k := range reg.Outs[side] {
			b.keep(&p.keeps[side], k, t)
		}
		if len(reg.Carries) > 0 {
			b.next(reg, p, t)
		}
	}
	end := x.time
	x.time += 2
	for _, f := range reg.Finals {
		k := x.roots[f.Buf].n
		p.finals = append(p.finals, copying{dst: x.view(x.whole(f.Part)), src: x.view(x.whole(f.Buf)), lane: k, n: k})
	}
	for _, bd := range reg.Bindings {
		src := x.view(bd.Src)
		moves, loads := &p.laneMoves, &p.laneLoads
		if bd.ByStep {
			moves, loads = &p.stepMoves, &p.stepLoads
		}
		for _, v := range x.binding(bd).views {
			*moves = append(*moves, move{dst: v.view, src: src, off: v.off, lane: bd.Lane, step: bd.Step, n: v.n})
		}
		for _, off := range x.binding(bd).order {
			x.slots = append(x.slots, slotRef{x.binding(bd).loads[off], 0})
			*loads = append(*loads, scalarMove{slot: int32(len(x.slots) - 1), view: src, off: off, lane: bd.Lane, step: bd.Step})
		}
	}
	if c, ok := p.control.(*counted); ok && p.scalarSteps() {
		c.tight = true
		x.p.cursors = max(x.p.cursors, len(p.stepLoads)+len(p.history.scalars)+len(p.keeps[0].scalars))
	}
	repeats := !chooses || p.lanes > 1
	for k, a := range n.Args {
		x.touch(a.Buf, end, repeats && !startsOnly(reg, k))
	}
	for _, r := range reg.Results {
		if r.Buf != none {
			x.touch(r.Buf, end, false)
		}
	}
	for _, c := range reg.Carries {
		x.touch(c.Buf, end, false)
	}
	x.mayMerge(reg, n, end)
	for _, r := range reg.Sums {
		x.touch(r, end, true)
	}
	for _, r := range st.pins {
		x.touch(r, end, repeats && !carries(reg, r))
	}
	return p
}

// control returns the control of a region, without the condition that a body computes.
func (x *context) control(reg *loopnest.Region, lanes int) control {
	view := func(r rootID) int32 {
		if r == none {
			return -1
		}
		return x.view(x.whole(r))
	}
	switch l := &reg.Layout; l.Control {
	case ad.Counted:
		return &counted{times: l.Steps, reverse: l.Reverse}
	case ad.Tested:
		return &tested{snapshots: l.Snapshots, bounded: l.Bounded, trips: view(reg.Trips), stride: view(reg.Stride)}
	default:
		c := &chosen{cond: x.view(reg.Cond.Value)}
		if reg.Cond.Laned && !reg.Cond.Rep {
			c.condLane = reg.Cond.N / lanes
		}
		return c
	}
}

// scalarSteps reports whether a step is one block of scalar code and copies nothing else.
func (p *regionPlan) scalarSteps() bool { return p.numberSteps() && len(p.stages) == 0 }

// numberSteps reports whether a step is one block of scalar code and copies no arrays.
func (p *regionPlan) numberSteps() bool {
	b := p.bodies[0]
	return len(b) == 1 && b[0].kind == scalarBlock && len(b[0].clears) == 0 &&
		len(p.stepMoves)+len(p.history.arrays)+len(p.keeps[0].arrays)+len(p.nexts) == 0 &&
		!slices.ContainsFunc(p.stages, func(c copying) bool { return c.n != 1 })
}

// keep emits the code that stores a value of the body.
func (x *context) keep(ks *keeps, k loopnest.Keep, t int) {
	dst := x.view(x.whole(k.Dst))
	if k.N == 1 {
		ks.scalars = append(ks.scalars, scalarMove{slot: x.slot(k.Value, t, true), view: dst, lane: k.Lane, step: k.Step})
	} else if k.N > 1 {
		ks.arrays = append(ks.arrays, copying{dst: dst, src: x.readView(k.Value, t), lane: k.Lane, step: k.Step, n: k.N, rep: k.Rep})
	}
}

// next emits the code that passes carried values to the next step. If the old value of a scalar is
// not read afterwards, the new one is computed directly in its memory.
func (x *context) next(reg *loopnest.Region, p *regionPlan, t int) {
	for _, c := range reg.Carries {
		x.touch(c.Next.Buf, t, true)
	}
	for i, c := range reg.Carries {
		r := &x.roots[c.Next.Buf]
		old := &x.roots[c.Buf]
		if c.Next.N != 1 || r.n != 1 || r.body != x.Body || r.keep || r.in != none || old.lastRead >= r.lo {
			continue
		}
		once := true
		for j, d := range reg.Carries {
			once = once && (j == i || d.Next.Buf != c.Next.Buf)
		}
		if once {
			r.in = c.Buf
		}
	}
	x.passedOn(reg, t)
	var ps []passing
	for _, c := range reg.Carries {
		src := c.Next
		from := src.Buf
		if x.roots[from].in != none {
			from = x.roots[from].in
		}
		if x.roots[c.Buf].n == 0 || src == x.whole(c.Buf) || x.roots[src.Buf].in == c.Buf {
			continue // it did not change, or is computed in place
		}
		ps = append(ps, passing{c.Buf, from, src})
	}
	x.pass(p, ps, t)
}

// passing is a copy of a value, in the memory of root from, to the carried value dst.
type passing struct {
	dst, from rootID
	src       loopnest.Value
}

// pass emits copies in an order in which none overwrites what another one still reads. Where
// carried values change places there is no such order, and one of them is first copied elsewhere.
// So is a number that fills an array, because arrays are copied after numbers.
func (x *context) pass(p *regionPlan, ps []passing, t int) {
	to, readers := map[rootID]int{}, map[rootID]int{}
	stage := func(c *passing) {
		n := x.roots[c.dst].n
		tmp := x.newRoot(n, x.Body, false)
		x.touch(tmp, t, false)
		p.stages = append(p.stages, copying{dst: x.view(x.whole(tmp)), src: x.view(c.src), n: n, rep: c.src.Rep})
		c.src, c.from = x.whole(tmp), tmp
	}
	for i, c := range ps {
		to[c.dst] = i
	}
	for i := range ps {
		c := &ps[i]
		if _, ok := to[c.from]; ok && x.roots[c.from].n == 1 && x.roots[c.dst].n > 1 {
			stage(c)
		}
		readers[c.from]++
	}
	var free []int
	read := func(from rootID) {
		readers[from]--
		if i, ok := to[from]; ok && readers[from] == 0 {
			free = append(free, i)
		}
	}
	for i, c := range ps {
		if readers[c.dst] == 0 {
			free = append(free, i)
		}
	}
	done := make([]bool, len(ps))
	for first := 0; first < len(ps); {
		if len(free) == 0 {
			c := &ps[first]
			if done[first] {
				first++
				continue
			}
			from := c.from
			stage(c)
			readers[c.from]++
			read(from)
			continue
		}
		i := free[0]
		free = free[1:]
		done[i] = true
		c, n := ps[i], x.roots[ps[i].dst].n
		if n == 1 {
			p.nextScalars = append(p.nextScalars, instr{op: ad.OpReshape, dst: x.slot(x.whole(c.dst), t, false), a: x.slot(c.src, t, true)})
		} else {
			p.nexts = append(p.nexts, copying{dst: x.view(x.whole(c.dst)), src: x.view(c.src), n: n, rep: c.src.Rep})
		}
		read(c.from)
	}
}
