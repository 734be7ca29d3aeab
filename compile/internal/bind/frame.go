package bind

import (
	"maps"
	"slices"
	"sort"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// frame is a loop that is being evaluated once for all its iterations. Cells
// from outside that its body writes are not changed until the loop is done:
// writes go to a log, and a read looks into the log for the write that it would
// see if the iterations ran one after another. That write may be of
//
//   - the same iteration: its value is used;
//   - an earlier iteration, by a statement evaluated before the read: its value
//     is there already, for all lanes, and is gathered;
//   - an earlier iteration, by a statement that comes after the read: a carried
//     dependence, which makes the loop a scan (see scan.go);
//   - none: the read sees what was there before the loop.
type frame struct {
	parent   *frame
	ax       *axis
	assigned map[*ir.Var]bool // variables that the body assigns
	accOnly  map[*ir.Var]bool // those that it only adds to
	logs     map[*cell]*log
	order    []*cell // keys of logs in order of first write
	seq      int
	readSeq  int
	regions  bool       // conditions known per iteration become regions
	probe    bool       // record how reads depend on writes, for a scan
	scan     *scanFrame // set while the loop is evaluated as a scan
}

// log holds what a loop's body did to one cell of outside.
type log struct {
	entries []*entry
	reads   []*readRecord
	sums    []*entry // additions, when the body only adds
}

// entry is one write: position p of lane l goes to element base[l]+offs[p] of
// the cell's flat storage.
type entry struct {
	seq    int
	index  int // in log.entries
	val    value
	ax     *axis   // lanes of the write, inside the frame's axis or equal
	lane   []int32 // their lanes of the frame's axis; nil: the same
	base   []int32
	offs   []int32
	negate bool // a subtraction, in sums

	private bool // every lane of the frame writes the same elements
	offOf   map[int32]int32

	// If not private: the positions in the flat value that write element e, in
	// the order of their lanes, are writers[starts[e]:starts[e+1]].
	starts, writers []int32
}

type readRecord struct {
	number int
	seq    int
	base   []int32
	offs   []int32
	lane   []int32
	from   []origin // one per position of the flat read; nil if all are from before the loop
	shape  []int
}

// origin says where a read finds a position: entry (nil: before the loop), the
// lane of the frame that wrote it, and the position within one lane's value.
type origin struct {
	e    *entry
	lane int32
	pos  int32 // position in the flat value of the entry
}

func (f *frame) log(c *cell) *log {
	lg := f.logs[c]
	if lg == nil {
		lg = &log{}
		f.logs[c] = lg
		f.order = append(f.order, c)
	}
	return lg
}

func frameLane(lane []int32, l int) int32 {
	if lane == nil {
		return int32(l)
	}
	return lane[l]
}

func allEqual(t []int32) bool {
	for _, v := range t {
		if v != t[0] {
			return false
		}
	}
	return true
}

// newEntry describes a write in lanes ax by access acc to cell c.
func (f *frame) newEntry(c *cell, acc access, v value, ax *axis) *entry {
	e := &entry{val: v, ax: ax, base: acc.flatBase(c.home, ax, c.size), offs: acc.offsets()}
	if ax != f.ax {
		e.lane = ax.lanesOf(f.ax)
	}
	return e
}

// prepare builds the entry's lookup.
func (e *entry) prepare(f *frame, total int) {
	if e.lane == nil && e.ax.n > 1 && allEqual(e.base) {
		e.private = true
		e.offOf = make(map[int32]int32, len(e.offs))
		for p, o := range e.offs {
			e.offOf[e.base[0]+o] = int32(p)
		}
		return
	}
	e.starts = make([]int32, total+1)
	for _, s := range e.base {
		for _, o := range e.offs {
			e.starts[s+o+1]++
		}
	}
	for i := range total {
		e.starts[i+1] += e.starts[i]
	}
	e.writers = make([]int32, e.starts[total])
	next := slices.Clone(e.starts)
	for l, s := range e.base {
		for p, o := range e.offs {
			e.writers[next[s+o]] = int32(l*len(e.offs) + p)
			next[s+o]++
		}
	}
}

// lookup finds the last write of the entry to an element by a lane not after
// the given one.
func (e *entry) lookup(elem, lane int32) (origin, bool) {
	if e.private {
		p, ok := e.offOf[elem]
		if !ok || lane < 0 {
			return origin{}, false
		}
		return origin{e, lane, lane*int32(len(e.offs)) + p}, true
	}
	list := e.writers[e.starts[elem]:e.starts[elem+1]]
	laneOf := func(p int32) int32 { return frameLane(e.lane, int(p)/len(e.offs)) }
	if len(list) > 1 {
		list = list[:sort.Search(len(list), func(i int) bool { return laneOf(list[i]) > lane })]
	}
	if len(list) == 0 {
		return origin{}, false
	}
	p := list[len(list)-1]
	if l := laneOf(p); l <= lane {
		return origin{e, l, p}, true
	}
	return origin{}, false
}

// readOuter reads elements of a cell from outside the frame f (or a frame
// around it) in the lanes of ax.
func (b *binder) readOuter(f *frame, c *cell, v *ir.Var, acc access, typ types.Type) value {
	for f != c.frame && !f.assigned[v] {
		f = f.parent
	}
	if v, ok := b.pendingValue(c, acc, typ); ok {
		return v
	}
	if f == c.frame {
		return b.readLocal(c, acc, typ)
	}
	if f.accOnly[v] {
		panic(&abort{reason: "a read of a sum under way"})
	}
	ax := innermost(b.axis, acc.axis)
	lg := f.log(c)
	base, offs := acc.flatBase(c.home, ax, c.size), acc.offsets()
	if n := len(lg.entries); n > 0 { // the usual case: what this iteration has just written there
		if e := lg.entries[n-1]; e.ax == ax && slices.Equal(e.base, base) && slices.Equal(e.offs, offs) && distinct(offs) {
			f.readSeq++
			out := e.val
			out.typ, out.shape, out.param = typ, acc.ix.Shape(), c.param
			if sizeOf(e.val.shape) == sizeOf(out.shape) && !slices.Equal(e.val.shape, out.shape) {
				return b.reshape(e.val, out.shape, typ)
			}
			return out
		}
	}
	rec := &readRecord{number: f.readSeq, seq: f.seq, base: base, offs: offs, shape: acc.ix.Shape()}
	f.readSeq++
	if ax != f.ax {
		rec.lane = ax.lanesOf(f.ax)
	}
	missing := 0
	if len(lg.entries) > 0 {
		rec.from = make([]origin, len(base)*len(offs))
		for l, s := range base {
			lane := frameLane(rec.lane, l)
			for p, o := range offs {
				best := origin{lane: -1}
				for _, e := range lg.entries {
					if src, ok := e.lookup(s+o, lane); ok && src.lane >= best.lane {
						best = src
					}
				}
				rec.from[l*len(offs)+p] = best
				if best.e == nil {
					missing++
				}
			}
		}
		if missing == len(rec.from) {
			rec.from = nil
		}
	}
	lg.reads = append(lg.reads, rec)
	if f.scan != nil {
		if out, ok := b.readScan(f, c, v, rec, acc, typ); ok {
			return out
		}
	}
	if rec.from == nil {
		return b.readOuter(f.parent, c, v, acc, typ)
	}
	if c.typ.Kind == types.Int {
		return b.readInts(f, c, v, rec, ax, acc, typ)
	}
	// Gather from the writes and, where there was none, from before the loop.
	var parts []value
	var start []int32
	total := int32(0)
	index := map[*entry]int{}
	add := func(v value) int {
		parts = append(parts, v)
		start = append(start, total)
		total += int32(v.size())
		return len(parts) - 1
	}
	before := -1
	if missing > 0 {
		before = add(b.flatten(b.readOuter(f.parent, c, v, acc, typ), ax))
	}
	t := make([]int32, len(rec.from))
	for i, s := range rec.from {
		if s.e == nil {
			t[i] = start[before] + int32(i)
			continue
		}
		k, ok := index[s.e]
		if !ok {
			k = add(b.flatten(s.e.val, s.e.ax))
			index[s.e] = k
		}
		t[i] = start[k] + s.pos
	}
	ix := affine(ad.Index{Dims: []ad.Dim{tableDim(t)}})
	flat := b.emitMove(typ, parts, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		src := a[0]
		if len(a) > 1 {
			src = g.Concat(a...)
		}
		return g.Gather(src, ix)
	})
	out := b.unflatten(flat, ax, acc.ix.Shape(), typ)
	out.param = c.param
	return out
}

// writeOuter stores v in a cell from outside the innermost frame.
func (b *binder) writeOuter(c *cell, v *ir.Var, acc access, val value) {
	f := b.frame
	if c.typ.Kind == types.Int && val.ints == nil {
		panic(&abort{reason: "an integer variable whose value is not known"})
	}
	if b.lvl != f.ax.lvl {
		b.writePending(c, v, acc, val)
		return
	}
	ax := innermost(b.axis, acc.axis)
	lg := f.log(c)
	e := f.newEntry(c, acc, val, ax)
	e.seq, e.index = f.seq, len(lg.entries)
	f.seq++
	total := c.size
	if c.home != nil {
		total *= c.home.n
	}
	e.prepare(f, total)
	lg.entries = append(lg.entries, e)
}

// addOuter logs an addition to a cell that the body of the frame only adds to.
func (b *binder) addOuter(c *cell, acc access, val value, negate bool) {
	f := b.frame
	if b.lvl != f.ax.lvl {
		br := b.branches[len(b.branches)-1]
		br.adds = append(br.adds, pending{c, b.vars[c], acc, val, negate})
		return
	}
	ax := innermost(b.axis, acc.axis)
	lg := f.log(c)
	e := f.newEntry(c, acc, val, ax)
	e.negate = negate
	lg.sums = append(lg.sums, e)
}

// verify reports whether every read of the loop saw the right write: no later
// statement's write by an earlier iteration should have been seen instead.
func (f *frame) verify() (carried bool) {
	for _, c := range f.order {
		lg := f.logs[c]
		for _, r := range lg.reads {
			for _, e := range lg.entries {
				if e.seq < r.seq {
					continue
				}
				for l, s := range r.base {
					lane := frameLane(r.lane, l)
					for p, o := range r.offs {
						src, ok := e.lookup(s+o, lane-1)
						if !ok {
							continue
						}
						if r.from == nil || src.lane >= r.from[l*len(r.offs)+p].lane {
							return true
						}
					}
				}
			}
		}
	}
	return false
}

// commit applies the log to the cells, in the context around the loop.
func (b *binder) commit(f *frame) {
	for _, c := range f.order {
		lg := f.logs[c]
		if f.parent != nil && c.frame != f.parent {
			b.hoist(f, c, b.vars[c], lg)
			continue
		}
		if c.typ.Kind == types.Int {
			b.commitInts(f, c, b.vars[c], lg)
			continue
		}
		for _, e := range lg.sums {
			b.commitSum(f, c, b.vars[c], e)
		}
		if len(lg.entries) > 0 {
			b.commitWrites(f, c, b.vars[c], lg)
		}
	}
}

// hoist hands the log of a cell that is from outside the loop around as well
// to that loop: the lanes of the inner loop are lanes of its nest.
func (b *binder) hoist(f *frame, c *cell, v *ir.Var, lg *log) {
	p := f.parent
	b.vars[c] = v
	out := p.log(c)
	total := c.size
	if c.home != nil {
		total *= c.home.n
	}
	if len(lg.sums) > 0 {
		if !p.accOnly[v] {
			panic(&abort{reason: "a sum that the loop around reads"})
		}
		for _, e := range lg.sums {
			up := *e
			up.lane = e.ax.lanesOf(p.ax)
			out.sums = append(out.sums, &up)
		}
	}
	// In the loop around, the entry that comes last wins: that must be who wrote
	// last here.
	type writer struct{ lane, entry int32 }
	last, winner := map[int32]writer{}, map[int32]writer{}
	for k, e := range lg.entries {
		for l, s := range e.base {
			for _, o := range e.offs {
				w := writer{frameLane(e.lane, l), int32(k)}
				winner[s+o] = w
				if old, ok := last[s+o]; !ok || w.lane >= old.lane {
					last[s+o] = w
				}
			}
		}
	}
	if !maps.Equal(last, winner) {
		panic(&abort{reason: "iterations that write the same element"})
	}
	for _, e := range lg.entries {
		up := *e
		up.lane = e.ax.lanesOf(p.ax)
		up.seq, up.index = p.seq, len(out.entries)
		p.seq++
		up.private, up.offOf = false, nil
		up.prepare(p, total)
		out.entries = append(out.entries, &up)
	}
}

// commitSum adds what all lanes added.
func (b *binder) commitSum(f *frame, c *cell, v *ir.Var, e *entry) {
	var delta value
	var acc access
	g := e.ax.lvl.g
	r := g.Spread(b.use(e.val, e.ax.lvl, e.ax), e.ax.n)
	if e.negate {
		r = g.Neg(r)
	}
	if c.home == nil && allEqual(e.base) {
		sum := g.SumLanes(r)
		delta = b.wrap(sum, e.ax.lvl, nil, e.val.typ, e.val.param)
		offs := make([]int32, len(e.offs))
		for i, o := range e.offs {
			offs[i] = e.base[0] + o
		}
		acc = access{ix: affine(ad.Index{Dims: []ad.Dim{tableDim(offs)}})}
		if len(delta.shape) == 0 {
			acc.ix = ad.Index{Offset: int(offs[0])}
		} else {
			delta = b.reshape(delta, []int{len(offs)}, delta.typ)
		}
	} else {
		total := c.size
		if c.home != nil {
			total *= c.home.n
		}
		ix := affine(ad.Index{Dims: []ad.Dim{tableDim(e.base), tableDim(e.offs)}})
		if len(e.offs) == 1 {
			ix.Dims = ix.Dims[:1] // the single offset is in ix.Offset
		}
		flat := g.Reshape(g.Unlane(r), ix.Shape())
		sum := g.Scatter(flat, ix, []int{total})
		fv := value{typ: c.typ, shape: []int{total}, lvl: e.ax.lvl, ref: sum, param: e.val.param}
		delta = b.unflatten(fv, c.home, c.shape, c.typ)
		acc = wholeOf(c.shape)
	}
	b.accumulate(c, v, acc, delta, false)
}

// commitWrites stores the last write of every element.
func (b *binder) commitWrites(f *frame, c *cell, v *ir.Var, lg *log) {
	if n := len(lg.entries); c.home == nil && (n == 1 || lg.entries[n-1].private) {
		e := lg.entries[n-1]
		if e.private && (n == 1 || coversAll(lg.entries, e)) {
			// Every lane overwrote the same elements: the last lane's stay.
			last := int32(e.ax.n - 1)
			acc := access{ix: affine(ad.Index{Dims: []ad.Dim{tableDim(addTo(e.offs, e.base[0]))}})}
			flat := b.flatten(e.val, e.ax)
			k := len(e.offs)
			val := b.gather(flat, access{ix: ad.Index{Offset: int(last) * k, Dims: []ad.Dim{{N: k, Stride: 1}}}}, flat.typ)
			b.store(c, v, acc, val)
			return
		}
	}
	final := map[int32]origin{}
	var elems []int32
	for _, e := range lg.entries {
		for l, s := range e.base {
			lane := frameLane(e.lane, l)
			for p, o := range e.offs {
				old, ok := final[s+o]
				if !ok {
					elems = append(elems, s+o)
				}
				if !ok || lane >= old.lane {
					final[s+o] = origin{e, lane, int32(l*len(e.offs) + p)}
				}
			}
		}
	}
	slices.Sort(elems)
	index := map[*entry]int32{}
	var parts []value
	total := int32(0)
	t := make([]int32, len(elems))
	for i, x := range elems {
		src := final[x]
		start, ok := index[src.e]
		if !ok {
			start = total
			index[src.e] = start
			fv := b.flatten(src.e.val, src.e.ax)
			parts = append(parts, fv)
			total += int32(fv.size())
		}
		t[i] = start + src.pos
	}
	ix := affine(ad.Index{Dims: []ad.Dim{tableDim(t)}})
	val := b.emitMove(types.Type{Kind: types.Real, Dims: 1}, parts, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		src := a[0]
		if len(a) > 1 {
			src = g.Concat(a...)
		}
		return g.Gather(src, ix)
	})
	if c.home == nil {
		b.store(c, v, access{ix: affine(ad.Index{Dims: []ad.Dim{tableDim(elems)}})}, val)
		return
	}
	// The cell belongs to a loop around this one: give its lanes all elements.
	if len(elems) != c.size*c.home.n {
		old := b.flatten(b.load(c, v, wholeOf(c.shape), c.typ), c.home)
		full := make([]int32, c.size*c.home.n)
		for i := range full {
			full[i] = int32(val.size() + i)
		}
		for i, x := range elems {
			full[x] = int32(i)
		}
		fix := affine(ad.Index{Dims: []ad.Dim{tableDim(full)}})
		val = b.emitMove(val.typ, []value{val, old}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
			return g.Gather(g.Concat(a...), fix)
		})
	}
	b.store(c, v, wholeOf(c.shape), b.unflatten(val, c.home, c.shape, c.typ))
}

// coversAll reports whether the private entry e overwrites what the earlier
// entries of the loop wrote.
func coversAll(entries []*entry, e *entry) bool {
	for _, x := range entries {
		for _, s := range x.base {
			for _, o := range x.offs {
				if _, ok := e.offOf[s+o]; !ok {
					return false
				}
			}
			if x.private {
				break
			}
		}
	}
	return true
}

func addTo(t []int32, by int32) []int32 {
	out := make([]int32, len(t))
	for i, v := range t {
		out[i] = v + by
	}
	return out
}
