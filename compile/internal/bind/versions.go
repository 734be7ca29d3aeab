package bind

import (
	"cmp"
	"slices"
	"sort"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// history is what the units of a nest do to one variable: the versions of its
// elements, each of which one unit wrote in one iteration.
type history struct {
	n      *nest
	c      *cell
	v      *ir.Var
	inside bool // declared in the nest
	writes []*write
	sum    bool // units only add to it: their order does not matter

	// Either every iteration of the declaration's domain has elements of its own,
	// and the units that write them run in that very domain, so that who wrote
	// last follows from the order of the units alone …
	private bool
	// … or versions[starts[e]:starts[e+1]] are those of element e, in the order of
	// the program.
	starts   []int32
	versions []version
}

// write is a write of a unit: position p of lane l of its value goes to element
// base[l]+offs[p].
type write struct {
	h     *history
	u     *unit
	index int // in history.writes
	acc   access
	add   bool // += or -=
	base  []int32
	offs  []int32

	overlaid bool // the unit works on a copy of the elements

	val    value   // in lanes of the unit; set when it has been evaluated
	slot   []int32 // of a sum: the element of val, which is flat, by position
	runs   int     // of a sum: how many elements there are
	done   bool
	negate bool // of a sum
}

// version is position pos of the value that a write made, at a time.
type version struct {
	time  int64
	write int32
	pos   int32
}

// origin is where a read finds a position: a version or, with write nil, what
// there was before the nest. None of a read that does not matter.
type origin struct {
	w    *write
	pos  int32
	none bool
}

// elements are those of an access in the lanes of ax: base per lane and the
// offsets that are added to it.
func (c *cell) elements(acc access, ax *axis) (base, offs []int32) {
	if ax == nil {
		return []int32{0}, acc.offsets()
	}
	return acc.flatBase(c.home, ax, c.size), acc.offsets()
}

// total is the number of elements of a cell over the lanes of its home.
func (c *cell) total() int {
	if c.home == nil {
		return c.size
	}
	return c.size * c.home.n
}

// lanesOf is the number of lanes of an axis, 1 of none.
func lanesOf(ax *axis) int {
	if ax == nil {
		return 1
	}
	return ax.n
}

// index prepares the look-up of versions.
func (h *history) index() {
	if h.sum || h.private {
		return
	}
	h.n.b.reserve(4, h.c.total()+1)
	h.starts = make([]int32, h.c.total()+1)
	for _, w := range h.writes {
		out := w.acc.outIn(w.u.dom)
		for l, s := range w.base {
			if out != nil && out[l] {
				continue
			}
			for _, o := range w.offs {
				h.starts[s+o+1]++
			}
		}
	}
	for i := range h.c.total() {
		h.starts[i+1] += h.starts[i]
	}
	h.n.b.reserve(16, int(h.starts[len(h.starts)-1]))
	h.versions = make([]version, h.starts[len(h.starts)-1])
	next := slices.Clone(h.starts)
	for _, w := range h.writes {
		width, out := int32(len(w.offs)), w.acc.outIn(w.u.dom)
		for l, s := range w.base {
			if out != nil && out[l] {
				continue
			}
			t := w.u.time[l]
			for p, o := range w.offs {
				h.versions[next[s+o]] = version{t, int32(w.index), int32(l)*width + int32(p)}
				next[s+o]++
			}
		}
	}
	if len(h.writes) > 1 || slices.ContainsFunc(h.writes, func(w *write) bool { return !distinct(w.offs) }) {
		for e := range h.c.total() {
			if v := h.versions[h.starts[e]:h.starts[e+1]]; len(v) > 1 {
				slices.SortStableFunc(v, func(a, b version) int { return cmp.Compare(a.time, b.time) })
			}
		}
	}
}

// before finds the version of an element that is seen at a time; ok is false if
// there is none.
func (h *history) before(elem int32, time int64) (v version, ok bool) {
	list := h.versions[h.starts[elem]:h.starts[elem+1]]
	k := len(list)
	if k == 1 && list[0].time >= time { // most elements are written once
		k = 0
	} else if k > 1 {
		k = sort.Search(k, func(i int) bool { return list[i].time >= time })
	}
	if k == 0 {
		return version{}, false
	}
	return list[k-1], true
}

// last is the version of an element after the nest.
func (h *history) last(elem int32) (v version, ok bool) {
	lo, hi := h.starts[elem], h.starts[elem+1]
	if lo == hi {
		return version{}, false
	}
	return h.versions[hi-1], true
}

// ofUnit is the write of a unit to the variable, nil if there is none.
func (h *history) ofUnit(u *unit) *write {
	for _, w := range h.writes {
		if w.u == u {
			return w
		}
	}
	return nil
}

// origins finds what a read of elements by a unit sees, position after position in
// each lane of ax, of a variable that some unit writes. skip are lanes in which it does not matter.
func (h *history) origins(u *unit, acc access, ax *axis, skip []bool) []origin {
	base, offs := h.c.elements(acc, ax)
	used := h.n.b.opts.Budget.Used()
	h.n.b.reserve(16, len(base), len(offs))
	defer h.n.b.opts.Budget.Back(used) // the caller keeps less of it
	out := make([]origin, len(base)*len(offs))
	if h.private {
		h.privateOrigins(u, base, offs, ax, out)
		return out
	}
	var up []int32
	if ax != u.dom {
		up = ax.lanesOf(u.dom)
	}
	for l, s := range base {
		to := out[l*len(offs) : (l+1)*len(offs)]
		if skip != nil && skip[l] {
			for p := range to {
				to[p].none = true
			}
			continue
		}
		at := l
		if up != nil {
			at = int(up[l])
		}
		t := u.time[at]
		for p, o := range offs {
			if v, ok := h.before(s+o, t); ok {
				to[p] = origin{w: h.writes[v.write], pos: v.pos}
			}
		}
	}
	return out
}

// privateOrigins is origins where the order of the units tells who wrote.
func (h *history) privateOrigins(u *unit, base, offs []int32, ax *axis, out []origin) {
	type place struct {
		w *write
		p int32
	}
	size := int32(h.c.size)
	who := make([]place, size)
	for _, w := range h.writes {
		if w.u.id >= u.id {
			continue
		}
		first := w.base[0]
		for p, o := range w.offs {
			who[first+o] = place{w, int32(p)}
		}
	}
	home := ax.lanesOf(h.c.home)
	for l, s := range base {
		lane := int32(l)
		if home != nil {
			lane = home[l]
		}
		for p, o := range offs {
			x := who[s+o-lane*size]
			if x.w != nil {
				out[l*len(offs)+p] = origin{w: x.w, pos: lane*int32(len(x.w.offs)) + x.p}
			}
		}
	}
}

// isPrivate reports whether every lane of the variable's home has elements of its
// own which units write in that domain alone, the same ones in every lane.
func (h *history) isPrivate() bool {
	home := h.c.home
	if !h.inside || home == nil {
		return false
	}
	for _, w := range h.writes {
		if w.u.dom != home || w.acc.out != nil {
			return false
		}
		for l, s := range w.base {
			if s-int32(l*h.c.size) != w.base[0] {
				return false
			}
		}
	}
	return true
}

// ---- values of versions ----

// readVersions reads elements of a variable of the nest n in the lanes in force.
func (b *binder) readVersions(n *nest, h *history, acc access, typ types.Type) value {
	ax := innermost(b.axis, acc.axis)
	if len(h.writes) == 0 || h.sum {
		return b.loadBefore(n, h, acc, typ)
	}
	if b.scan != nil && b.scan.has(h) {
		return b.readCarried(n, h, acc, ax, typ)
	}
	v := b.valueOf(n, h, h.origins(n.unit, acc, ax, b.excluded(ax)), acc, ax, typ)
	v.param = h.c.param
	return v
}

// loadBefore reads what a variable of the nest n held before it.
func (b *binder) loadBefore(n *nest, h *history, acc access, typ types.Type) value {
	var v value
	b.with(b.context.before(n), func() { v = b.load(h.c, acc, typ) })
	return v
}

// valueOf is the value of the elements of acc that have these origins, in the
// lanes of ax.
func (b *binder) valueOf(n *nest, h *history, from []origin, acc access, ax *axis, typ types.Type) value {
	shape := acc.ix.Shape()
	if !slices.ContainsFunc(from, func(o origin) bool { return o.w != nil }) {
		return b.loadBefore(n, h, acc, typ)
	}
	for _, o := range from {
		if o.w != nil && !o.w.done {
			panic(&fault{reason: "a value that is not there yet"})
		}
	}
	if v, ok := b.inEveryLane(n, h, from, acc, ax, typ); ok {
		return v
	}
	// Gather from all lanes of the writes and, where there was none, from before.
	var a assembly[*write]
	t := make([]int32, len(from))
	for i, o := range from {
		switch {
		case o.none:
		case o.w == nil:
			t[i] = int32(i) + a.part(nil, func() value { return b.flatten(b.loadBefore(n, h, acc, typ), ax) })
		default:
			t[i] = o.w.at(o.pos) + a.part(o.w, func() value { return b.flatWrite(o.w) })
		}
	}
	return b.unflatten(b.elementsOf(a.parts, t, typ.Kind), ax, shape, typ)
}

// at is the place of a position in the flat value.
func (w *write) at(pos int32) int32 {
	if w.slot != nil {
		return w.slot[pos]
	}
	return pos
}

// flatWrite is the value of a write, all lanes one after another.
func (b *binder) flatWrite(w *write) value {
	if w.slot != nil {
		return w.val
	}
	return b.flatten(w.val, w.u.dom)
}

// inEveryLane is valueOf where every lane reads the values of its own iteration,
// of the same writes at the same positions; ok is false if it does not.
func (b *binder) inEveryLane(n *nest, h *history, from []origin, acc access, ax *axis, typ types.Type) (v value, ok bool) {
	width := acc.ix.Size()
	if width == 0 || len(from) == 0 {
		return v, false
	}
	type part struct {
		w  *write
		up []int32
	}
	var parts []part
	at := make([]int32, width) // position in the concatenation of the parts
	which := make([]int, width)
	for p := range width {
		w := from[p].w
		k := slices.IndexFunc(parts, func(x part) bool { return x.w == w })
		if k < 0 {
			k = len(parts)
			x := part{w: w}
			if w != nil {
				if w.slot != nil || !w.u.dom.within(ax) {
					return v, false
				}
				x.up = ax.lanesOf(w.u.dom)
			}
			if parts = append(parts, x); len(parts) > 1 && !h.private {
				return v, false // arrays of all iterations: one gather takes a quarter of the time
			}
		}
		x := parts[k]
		which[p], at[p] = k, int32(p)
		size := int32(0)
		if w != nil {
			size = int32(len(w.offs))
			first := int32(0)
			if x.up != nil {
				first = x.up[0]
			}
			if at[p] = from[p].pos - first*size; at[p] < 0 || at[p] >= size {
				return v, false // of another iteration
			}
		}
		for l := range len(from) / width {
			o := from[l*width+p]
			if o.w != w || o.none {
				return v, false
			}
			if w == nil {
				continue
			}
			lane := int32(l)
			if x.up != nil {
				lane = x.up[l]
			}
			if o.pos != lane*size+at[p] {
				return v, false
			}
		}
	}
	vals := make([]value, len(parts))
	start := make([]int32, len(parts))
	total := int32(0)
	for k, x := range parts {
		if x.w == nil {
			vals[k] = b.loadBefore(n, h, acc, typ)
		} else {
			vals[k] = x.w.val
		}
		start[k] = total
		total += int32(vals[k].size())
	}
	identity := len(parts) == 1 && total == int32(width)
	for p := range width {
		at[p] += start[which[p]]
		identity = identity && at[p] == int32(p)
	}
	shape := acc.ix.Shape()
	if identity {
		return b.shaped(vals[0], shape, typ), true
	}
	elem := types.Type{Kind: typ.Kind, Dims: 1}
	if v := vals[0]; len(vals) == 1 && v.ints != nil {
		v = b.reshape(v, []int{v.size()}, elem)
		return b.shaped(b.gather(v, access{ix: affine(ad.Index{Dims: []ad.Dim{tableDim(at)}})}, elem), shape, typ), true
	}
	for k, v := range vals {
		vals[k] = b.reshape(b.numeric(v), []int{v.size()}, elem)
	}
	return b.reshape(b.elementsOf(vals, at, typ.Kind), shape, typ), true
}
