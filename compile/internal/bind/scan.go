package bind

import (
	"reflect"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// A scan is made in two evaluations of the body. The first, the probe, treats
// iterations as lanes and records for every read of a variable from outside
// which write it would have seen: of which statement, how many iterations
// before, at which position. If that is the same in all iterations (but for the
// first few, which see what was there before the loop), the read is a carried
// value, and the second evaluation reads it from a register: an input of the
// scan's body.
//
// In the second evaluation only what depends on a register goes into the
// body's graph; everything else is evaluated in lanes, outside. Of the body's
// graph in turn only what the next values of the registers need stays in the
// scan; the rest is evaluated in lanes on what the scan keeps. So the recurrence
// that remains is as small as it can be, and the loop is distributed without a
// separate pass.

// plan says for every read of the loop, by its number, where it reads.
type plan map[int]*pattern

// pattern is where the positions of one read come from; nil stands for a read
// of what was there before the loop.
type pattern struct {
	irregular bool
	later     bool          // some position is of a write that comes after the read
	from      []carriedFrom // per position
	first     [][]int32     // elements that the first iterations see: [iteration][lane around·positions + position]
}

// carriedFrom is a position of entry number e, written d iterations before.
type carriedFrom struct {
	entry, pos, d int
	size          int // of the entry's value
}

// scanFrame is the state of the second evaluation.
type scanFrame struct {
	f       *frame
	lvl     *level
	plan    plan
	chains  map[chainKey]*chain
	order   []*chain
	targets []ad.Ref

	densities []int // in binder.densities, whose arguments are values of the body
}

type chainKey struct {
	c     *cell
	entry int
}

// chain is the registers that hold the values of one write of the last
// iterations, the most recent first.
type chain struct {
	key   chainKey
	v     *ir.Var
	size  int
	reg   []ad.Ref
	first [][]int32 // element of the cell that register k holds before the loop: [k][lane around·size + position]; -1 unknown
}

// probe is the first evaluation.
func (b *binder) probe(ax *axis, lp *loop, i value) plan {
	f := b.newFrame(ax, lp)
	f.probe = true
	b.inFrame(f, func() {
		defer b.private(lp)()
		b.bindVar(lp, i)
		if sig := b.exec(lp.body); sig&^(goesOn|continues) != 0 {
			panic(&abort{reason: jumps})
		}
	})
	pl := plan{}
	for _, c := range f.order {
		lg := f.logs[c]
		for _, r := range lg.reads {
			if p := patternOf(lg, r, ax); p != nil {
				pl[r.number] = p
			}
		}
	}
	return pl
}

// patternOf finds how a read in the lanes of ax depends on writes, its own
// iteration's and earlier ones', of statements before and after it.
func patternOf(lg *log, r *readRecord, ax *axis) *pattern {
	n, width := ax.n, len(r.offs)
	src := make([]origin, n*width)
	if len(r.base) != n {
		return &pattern{irregular: true, later: true} // a read in some iterations only
	}
	found, later := false, false
	group, since := ax.groups()
	for l, s := range r.base {
		for p, o := range r.offs {
			best := origin{lane: -1}
			if r.from != nil {
				best = r.from[l*width+p]
			}
			for _, e := range lg.entries {
				if e.seq < r.seq {
					continue
				}
				if x, ok := e.lookup(s+o, int32(l)-1); ok && x.lane >= best.lane {
					best, later = x, true
				}
			}
			if int(best.lane) < l-int(since[l]) {
				// A write of another iteration of the loops around: that such a one is
				// seen here is for their logs to find.
				best = origin{lane: -1}
			}
			src[l*width+p] = best
			found = found || best.e != nil
		}
	}
	if !found {
		return nil
	}
	irregular := &pattern{irregular: true, later: later}
	pt := &pattern{from: make([]carriedFrom, width)}
	late := 0 // the lane with most iterations before it
	for l, t := range since {
		if t >= since[late] {
			late = l
		}
	}
	around := 1
	if ax.parent != nil {
		around = ax.parent.n
	}
	for p := range width {
		last := src[late*width+p]
		if last.e == nil || last.e.lane != nil || late-int(last.lane) > int(since[late]) {
			return irregular
		}
		d := late - int(last.lane)
		size := len(last.e.offs)
		pos := int(last.pos) - int(last.lane)*size
		pt.from[p] = carriedFrom{last.e.index, pos, d, size}
		for l := range n {
			x, t := src[l*width+p], int(since[l])
			if t < d {
				if x.e != nil {
					return irregular
				}
				for len(pt.first) <= t {
					pt.first = append(pt.first, slices.Repeat([]int32{-1}, around*width))
				}
				pt.first[t][int(group[l])*width+p] = r.base[l] + r.offs[p]
				continue
			}
			if x.e != last.e || int(x.lane) != l-d || int(x.pos) != (l-d)*size+pos {
				return irregular
			}
		}
	}
	return pt
}

// groups gives for every lane the lane around it and how many iterations come
// before it in that.
func (a *axis) groups() (group, since []int32) {
	group, since = make([]int32, a.n), make([]int32, a.n)
	if a.parent != nil {
		copy(group, a.up)
	}
	for l := 1; l < a.n; l++ {
		if group[l] == group[l-1] {
			since[l] = since[l-1] + 1
		}
	}
	return group, since
}

// readScan reads from registers and values of the body; ok is false if the
// read is of what was there before the loop or of values in lanes.
func (b *binder) readScan(f *frame, c *cell, v *ir.Var, r *readRecord, acc access, typ types.Type) (value, bool) {
	s, lg := f.scan, f.logs[c]
	pt := s.plan[r.number]
	if pt == nil {
		return value{}, false
	}
	inBody := func(e *entry) bool { return e.val.lvl == s.lvl }
	if pt.irregular {
		for _, x := range r.from {
			if x.e != nil && inBody(x.e) {
				panic(&abort{reason: irregularly})
			}
		}
		if pt.later {
			panic(&abort{reason: irregularly})
		}
		return value{}, false
	}
	if len(pt.from) != len(r.offs) {
		panic(&abort{reason: decides})
	}
	needed := false
	for _, x := range pt.from {
		if x.entry >= len(lg.entries) || inBody(lg.entries[x.entry]) {
			needed = true
		}
	}
	if !needed {
		return value{}, false
	}
	// Parts: this iteration's values (d = 0) and registers.
	type partKey struct{ entry, d int }
	index := map[partKey]int32{}
	var parts []value
	total := int32(0)
	t := make([]int32, len(pt.from))
	for p, x := range pt.from {
		k := partKey{x.entry, x.d}
		start, ok := index[k]
		if !ok {
			start = total
			index[k] = start
			if x.d == 0 {
				parts = append(parts, b.reshape(lg.entries[x.entry].val, []int{x.size}, typ))
			} else {
				ch := s.chain(c, v, x)
				parts = append(parts, value{typ: typ, shape: []int{x.size}, lvl: s.lvl, ref: ch.reg[x.d-1], param: true})
			}
			total += int32(x.size)
		}
		t[p] = start + int32(x.pos)
		for t := range min(x.d, len(pt.first)) {
			for a := range s.around() {
				s.chain(c, v, x).starts(x.d-t-1, a*x.size+x.pos, pt.first[t][a*len(pt.from)+p])
			}
		}
	}
	ix := affine(ad.Index{Dims: []ad.Dim{tableDim(t)}})
	shape := acc.ix.Shape()
	out := b.emitMove(typ, parts, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		src := a[0]
		if len(a) > 1 {
			src = g.Concat(a...)
		}
		return g.Reshape(g.Gather(src, ix), shape)
	})
	out.param = c.param
	return out, true
}

// chain returns the registers of a carried write, at least d of them.
func (s *scanFrame) chain(c *cell, v *ir.Var, x carriedFrom) *chain {
	k := chainKey{c, x.entry}
	ch := s.chains[k]
	if ch == nil {
		ch = &chain{key: k, v: v, size: x.size}
		s.chains[k] = ch
		s.order = append(s.order, ch)
	}
	for len(ch.reg) < x.d {
		ch.reg = append(ch.reg, s.lvl.g.Input(ad.Type{Shape: []int{x.size}}))
		ch.first = append(ch.first, slices.Repeat([]int32{-1}, s.around()*x.size))
	}
	return ch
}

// around is the number of lanes around the loop.
func (s *scanFrame) around() int {
	if p := s.f.ax.parent; p != nil {
		return p.n
	}
	return 1
}

// starts says which element of the cell register k holds at a position before
// the loop.
func (ch *chain) starts(k, pos int, elem int32) {
	if elem < 0 { // a lane without this iteration
		return
	}
	if old := ch.first[k][pos]; old >= 0 && old != elem {
		panic(&abort{reason: "carried values that begin differently"})
	}
	ch.first[k][pos] = elem
}

// scan is the second evaluation.
//
// In lanes, the iterations of all lanes are the steps of one scan, in which a
// lane's first steps take what the registers held before the loop: lanes may
// then have different numbers of iterations, and the loop is distributed like
// any other.
func (b *binder) scan(ax *axis, lp *loop, i value, pl plan) {
	f := b.newFrame(ax, lp)
	s := &scanFrame{f: f, plan: pl, chains: map[chainKey]*chain{}}
	s.lvl = newLevel(b.lvl, nil)
	s.lvl.loop, s.lvl.steps, s.lvl.flat = ax, ax.n, true
	f.scan = s
	b.inFrame(f, func() {
		defer b.private(lp)()
		b.bindVar(lp, i)
		if sig := b.exec(lp.body); sig&^(goesOn|continues) != 0 {
			panic(&abort{reason: jumps})
		}
	})
	s.verify(ax)
	body := s.lvl.g

	// The next values of the registers, and what they need: the recurrence. What
	// draws random numbers belongs to it, for a number in every iteration: in
	// lanes, arguments that are the same in all would give a single one.
	var regs, next []ad.Ref
	for _, ch := range s.order {
		e := f.logs[ch.key.c].entries[ch.key.entry]
		val := b.reshape(b.numeric(e.val), []int{ch.size}, e.val.typ)
		for k, r := range ch.reg {
			regs = append(regs, r)
			if k == 0 {
				next = append(next, body.Broadcast(b.use(val, s.lvl, nil), []int{ch.size}))
			} else {
				next = append(next, ch.reg[k-1])
			}
		}
	}
	needed := slices.Clone(next)
	for i := range body.Nodes {
		if body.Nodes[i].Draws() {
			needed = append(needed, ad.Ref(i))
		}
	}
	inner := body.Live(needed, false)
	body.MarkResults(inner)

	// What is used outside the recurrence.
	isReg := map[ad.Ref]int{}
	for k, r := range regs {
		isReg[r] = k
	}
	var wanted []ad.Ref
	bodyEntry := func(e *entry) bool { return e.val.ints == nil && e.val.lvl == s.lvl }
	for _, c := range f.order {
		lg := f.logs[c]
		for _, list := range [][]*entry{lg.entries, lg.sums} {
			for _, e := range list {
				if bodyEntry(e) {
					wanted = append(wanted, e.val.ref)
				}
			}
		}
	}
	wanted = append(wanted, s.targets...)
	var marked []ad.Statement
	for _, k := range s.densities {
		marked = append(marked, b.densities[k].statements...)
	}
	for _, st := range marked {
		wanted = append(wanted, st.Args...)
	}
	wanted = append(wanted, body.Effects...)
	outer := map[ad.Ref]bool{}
	var kept []ad.Ref
	keptAt := map[ad.Ref]int{}
	var visit func(r ad.Ref)
	visit = func(r ad.Ref) {
		if outer[r] {
			return
		}
		outer[r] = true
		n := &body.Nodes[r]
		if n.Op == ad.OpConst || n.Op == ad.OpInput {
			return
		}
		if inner[r] {
			if n.Op.Row().Class == ad.Region { // it has no value to keep
				return
			}
			keptAt[r] = len(kept)
			kept = append(kept, r)
			return
		}
		for _, a := range n.Args {
			visit(a)
		}
	}
	for _, r := range wanted {
		visit(r)
	}

	// The scan itself.
	g := b.lvl.g
	nb := ad.NewGraph()
	to := make([]ad.Ref, len(body.Nodes))
	var args []ad.Ref
	lanes := ax.parent != nil
	before := map[ad.Ref]ad.Ref{} // by register
	for _, ch := range s.order {
		for k, r := range ch.reg {
			to[r] = nb.Input(ad.Type{Shape: []int{ch.size}})
			v := b.before(f, ch, k)
			before[r] = b.use(v, b.lvl, ax.parent)
			if lanes {
				v = b.wrap(before[r], b.lvl, ax.parent, v.typ, v.param)
				before[r] = g.Spread(b.align(v, ax), ax.n)
				args = append(args, g.Broadcast(g.Const(0), []int{ch.size}))
			} else {
				args = append(args, before[r])
			}
		}
	}
	streams := 0
	for _, l := range s.lvl.streams {
		if inner[l.in] {
			to[l.in] = nb.Input(body.Type(l.in))
			args = append(args, l.outer)
			streams++
		}
	}
	starts := ad.None
	if lanes {
		starts = g.ConstArray(ad.Type{Lanes: ax.n}, startsOf(ax))
		is := nb.Input(ad.Scalar)
		args = append(args, g.Unlane(starts))
		streams++
		for _, r := range regs {
			args = append(args, g.Unlane(before[r]))
			to[r] = nb.Select(is, nb.Input(body.Type(r)), to[r])
			streams++
		}
	}
	for _, l := range s.lvl.captures {
		if inner[l.in] {
			to[l.in] = nb.Input(body.Type(l.in))
			args = append(args, l.outer)
		}
	}
	copyNodes(nb, body, to, inner)
	for _, r := range next {
		nb.Output(to[r])
	}
	for _, r := range kept {
		nb.Output(to[r])
	}
	g.SetSite(b.site())
	sc := g.DoScan(&ad.Scan{Body: nb, Carries: len(regs), Streams: streams, Outs: len(kept), Steps: ax.n}, args)
	if len(nb.Effects) > 0 {
		g.Effects = append(g.Effects, sc)
	}

	// The rest, in lanes.
	lane := make([]ad.Ref, len(body.Nodes))
	for _, l := range s.lvl.streams {
		lane[l.in] = l.flat
	}
	for _, l := range s.lvl.captures {
		lane[l.in] = l.outer
	}
	replay := make([]bool, len(body.Nodes))
	for r := range outer {
		n := &body.Nodes[r]
		switch k, isKept := keptAt[r]; {
		case isKept:
			lane[r] = g.Lane(g.Kept(sc, k))
		case inner[r] && n.Op.Row().Class == ad.Region: // the scan runs it
		case n.Op == ad.OpInput:
			if k, ok := isReg[r]; ok {
				lane[r] = g.Lane(g.History(sc, k))
				if lanes {
					lane[r] = g.Select(starts, before[r], lane[r])
				}
			}
		default:
			replay[r] = true
		}
	}
	copyNodes(g, body, lane, replay)

	// Give the logged writes their values and commit as any loop in lanes.
	wrap := func(v value) value { return b.wrap(lane[v.ref], b.lvl, ax, v.typ, v.param) }
	for _, c := range f.order {
		lg := f.logs[c]
		for _, list := range [][]*entry{lg.entries, lg.sums} {
			for _, e := range list {
				if bodyEntry(e) {
					e.val = wrap(e.val)
				}
			}
		}
	}
	f.scan = nil
	for _, st := range marked {
		for k, a := range st.Args {
			st.Args[k] = lane[a]
		}
	}
	for _, r := range s.targets {
		b.inFrame(f, func() {
			b.addTarget(b.wrap(lane[r], b.lvl, ax, types.RealType, true))
		})
	}
	b.commit(f)
	b.settle(lp)
}

// irregularly is the reason of a scan whose reads follow no pattern.
const irregularly = "a carried value whose distance varies"

// everyStep gives up where something is about to be done in the body of a scan
// though only some of the iterations do it: the body runs in all of them.
func (b *binder) everyStep(lvl *level) {
	if f := b.frame; f != nil && f.scan != nil && lvl == f.scan.lvl && b.lvl == f.ax.lvl && b.axis != f.ax {
		panic(&abort{reason: irregularly})
	}
}

// decides is the reason of a scan whose two evaluations went different ways.
const decides = "a carried value that decides what is read"

// verify makes sure that the reads saw what they should: the log of this
// evaluation must show the pattern by which each read was served. The probe may
// have gone another way, where a value that is known before the loop decides a
// condition.
func (s *scanFrame) verify(ax *axis) {
	for _, c := range s.f.order {
		lg := s.f.logs[c]
		for _, r := range lg.reads {
			if !reflect.DeepEqual(patternOf(lg, r, ax), s.plan[r.number]) {
				panic(&abort{reason: decides})
			}
		}
	}
}

// startsOf marks the first iteration of every lane around a loop.
func startsOf(ax *axis) []float64 {
	_, since := ax.groups()
	out := make([]float64, ax.n)
	for l, t := range since {
		if t == 0 {
			out[l] = 1
		}
	}
	return out
}

// before is what register k of a chain holds before the loop.
func (b *binder) before(f *frame, ch *chain, k int) value {
	c, ax := ch.key.c, f.ax.parent
	var homes []int32 // lane of the cell's home by lane around the loop
	around := f.scan.around()
	if c.home != nil {
		homes = ax.lanesOf(c.home)
	}
	acc := access{axis: ax, base: make([]int32, around)}
	offs := make([]int32, ch.size)
	known := false
	for a := range around {
		elems := ch.first[k][a*ch.size : (a+1)*ch.size]
		some := slices.IndexFunc(elems, func(e int32) bool { return e >= 0 })
		if some < 0 { // no iteration reads the register: anything will do
			continue
		}
		home := int32(0)
		if c.home != nil {
			home = int32(a * c.size)
			if homes != nil {
				home = homes[a] * int32(c.size)
			}
		}
		if !known {
			known = true
			for p, e := range elems {
				offs[p] = max(e, elems[some]) - elems[some]
				if e >= 0 {
					offs[p] = e - elems[some]
				}
			}
		}
		acc.base[a] = elems[some] - offs[some] - home
		for p, e := range elems {
			if e >= 0 && e != acc.base[a]+home+offs[p] {
				panic(&abort{reason: "carried values that begin differently"})
			}
		}
	}
	if ax == nil || allEqual(acc.base) {
		acc.axis = nil
		acc.ix.Offset, acc.base = int(acc.base[0]), nil
	}
	ix := affine(ad.Index{Dims: []ad.Dim{tableDim(offs)}})
	acc.ix.Dims = ix.Dims
	acc.ix.Offset += ix.Offset
	v := b.load(c, ch.v, acc, types.Type{Kind: types.Real, Dims: 1})
	return b.shaped(b.numeric(v), []int{ch.size}, v.typ)
}

// copyNodes adds to g copies of the marked nodes of body; to holds, by node of
// body, the counterparts, of inputs already, of the others afterwards.
// Regions with effects keep them.
func copyNodes(g, body *ad.Graph, to []ad.Ref, marked []bool) {
	w := ad.NewRewriter(body, g)
	for i, n := range body.Nodes {
		if n.Op == ad.OpInput || !marked[i] {
			w.Put(ad.Ref(i), to[i])
		}
	}
	w.Run(marked)
	for i, m := range marked {
		if m {
			to[i] = w.At(ad.Ref(i))
		}
	}
}
