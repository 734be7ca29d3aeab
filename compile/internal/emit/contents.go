package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// contents stores the values of variables.
type contents struct {
	at  *context
	rep *reporter
	b   *builder
	arr *arrays

	room  []cell  // for cells to come
	slots []int32 // of pick, by part; 0 between calls
}

// cell is the storage of a variable during evaluation. Its content is one whole value or, after
// writes to elements, scattered over parts. In that case a table has the part and the position of
// every element. Reading elements uses the table; reading the whole copies the parts together.
type cell struct {
	name  string
	typ   types.Type
	shape []int
	size  int
	home  *axis // axis in force at the declaration; the content has its lanes
	depth int   // level depth at the declaration
	param bool

	state
}

// state is the content of a cell; it is copied when a branch begins to write.
type state struct {
	whole *value // nil if scattered

	// Scattered: element e of lane l is at position pos of part p, where
	// table[i] = {p, pos} with i = e, for parts with the lanes of home, or, if
	// flat, i = l·size + e for parts without lanes.
	flat  bool
	parts []value
	table []location
	owned bool // table (or whole.ints) is not shared and may be changed in place
}

type location struct{ part, pos int32 }

func (ct *contents) newCell(v *ir.Var, name string, typ types.Type, shape []int) *cell {
	if len(ct.room) == 0 {
		ct.room = make([]cell, 8)
	}
	c := &ct.room[0]
	ct.room = ct.room[1:]
	*c = cell{name: name, typ: typ, shape: shape, size: ad.SizeOf(shape), home: ct.at.axis, depth: ct.at.lvl.depth}
	if v != nil {
		c.param = v.Level == ir.Param
	}
	return c
}

// setWhole replaces the content by one whole value.
func (c *cell) setWhole(v value) {
	v.typ, v.param = c.typ, c.param
	v.shape = c.shape
	c.state = state{whole: &v}
}

// pack returns the whole content as one value.
func (ct *contents) pack(c *cell) value {
	if c.whole != nil {
		c.owned = false
		return *c.whole
	}
	v := ct.pick(c, c.table)
	if c.flat {
		v = ct.arr.unflatten(v, c.home, c.shape, c.typ)
	} else {
		v = ct.arr.reshape(v, c.shape, c.typ)
	}
	v.typ, v.param = c.typ, c.param
	c.state = state{whole: &v}
	return v
}

// picked is a part of which pick reads elements.
type picked struct {
	part  int32
	count int
	few   []int32 // the positions read of a large part of which little is read; nil: it is read whole
	start int32   // where it begins in the concatenation of the parts
}

// pick returns the elements at the given locations in c's parts, as one dimension. It takes as long
// as there are locations, even if there are many more parts.
func (ct *contents) pick(c *cell, places []location) value {
	if len(places) == 0 {
		return value{typ: c.typ, shape: []int{0}, lvl: ct.b.root, ref: ct.b.root.g.ConstArray(ad.Type{Shape: []int{0}}, nil)}
	}
	if len(ct.slots) < len(c.parts) {
		ct.slots = make([]int32, 2*len(c.parts))
	}
	var used []picked // ct.slots has their numbers, plus 1
	for _, p := range places {
		if ct.slots[p.part] == 0 {
			used = append(used, picked{part: p.part})
			ct.slots[p.part] = int32(len(used))
		}
		used[ct.slots[p.part]-1].count++
	}
	if len(places) > 1 && len(places)*minRarelyRead < c.size {
		for k := range used {
			if u := &used[k]; u.count*minRarelyRead < c.parts[u.part].size() {
				u.few = make([]int32, 0, u.count)
			}
		}
	}
	at := make([]int32, len(places))
	for i, p := range places {
		u := &used[ct.slots[p.part]-1]
		if at[i] = p.pos; u.few != nil {
			at[i] = int32(len(u.few))
			u.few = append(u.few, p.pos)
		}
	}
	parts, total := make([]value, len(used)), int32(0)
	for k := range used {
		u := &used[k]
		if parts[k] = c.parts[u.part]; u.few != nil {
			parts[k] = ct.arr.elementsOf([]value{parts[k]}, u.few, c.typ.Kind)
		}
		u.start = total
		total += int32(parts[k].size())
	}
	for i, p := range places {
		at[i] += used[ct.slots[p.part]-1].start
	}
	for _, u := range used {
		ct.slots[u.part] = 0
	}
	return ct.arr.elementsOf(parts, at, c.typ.Kind)
}

// scatterState turns a whole content into a scattered one, per lane or flat.
func (ct *contents) scatterState(c *cell, flat bool) {
	if c.whole != nil {
		v := ct.b.numeric(*c.whole)
		n := c.size
		part := ct.arr.reshape(v, []int{c.size}, c.typ)
		if flat {
			part = ct.arr.flatten(v, c.home)
			n *= c.home.N
		}
		ct.rep.Reserve(8, n)
		t := make([]location, n)
		for i := range t {
			t[i].pos = int32(i)
		}
		c.state = state{flat: flat, parts: []value{part}, table: t, owned: true}
		return
	}
	if flat && !c.flat {
		v := ct.pack(c)
		c.setWhole(v)
		ct.scatterState(c, true)
		return
	}
	if !c.owned {
		c.table = append([]location(nil), c.table...)
		c.parts = append([]value(nil), c.parts...)
		c.owned = true
	}
}

// readLocal reads elements of a cell that no current loop shares.
func (ct *contents) readLocal(c *cell, acc lanes.Access, typ types.Type) value {
	if c.whole == nil && acc.Axis == nil && !c.flat {
		if acc.IsWhole(c.size) {
			return ct.arr.shaped(ct.pack(c), acc.Index.Shape(), typ)
		}
		var places []location
		acc.Index.Each(func(_, e int) { places = append(places, c.table[e]) })
		v := ct.arr.reshape(ct.pick(c, places), acc.Index.Shape(), typ)
		v.param = c.param
		return v
	}
	if v, ok := ct.readFew(c, acc, typ); ok {
		return v
	}
	v := ct.pack(c)
	if acc.IsWhole(c.size) {
		return ct.arr.shaped(v, acc.Index.Shape(), typ)
	}
	v = ct.arr.gather(v, acc, typ)
	v.param = c.param
	return v
}

// readFew reads a few elements, in lanes, of a scattered variable, and leaves it scattered.
func (ct *contents) readFew(c *cell, acc lanes.Access, typ types.Type) (v value, ok bool) {
	if c.whole != nil || c.flat || c.home != nil || acc.Axis == nil || acc.Axis.N*acc.Index.Size()*minRarelyRead > c.size {
		return v, false
	}
	lvl := levelOf(acc.Axis)
	if slices.ContainsFunc(c.parts, func(p value) bool { return p.lvl != nil && p.lvl.depth > lvl.depth }) {
		return v, false
	}
	elems := make([]int32, 0, acc.Axis.N*acc.Index.Size())
	offs := acc.Offsets()
	for _, s := range acc.Base {
		for _, o := range offs {
			elems = append(elems, s+o)
		}
	}
	// In array order, so that a row that is written backwards and read backwards moves no elements.
	inOrder := slices.Compact(slices.Sorted(slices.Values(elems)))
	places := make([]location, len(inOrder))
	for k, e := range inOrder {
		places[k] = c.table[e]
	}
	v = ct.b.numeric(ct.pick(c, places))
	if !slices.Equal(elems, inOrder) {
		for k, e := range elems {
			at, _ := slices.BinarySearch(inOrder, e)
			elems[k] = int32(at)
		}
		v = ct.arr.elementsOf([]value{v}, elems, c.typ.Kind)
	}
	g := lvl.g
	r := g.Lane(g.Reshape(ct.b.use(v, lvl, nil), append([]int{acc.Axis.N}, acc.Index.Shape()...)))
	return ct.b.wrap(r, lvl, acc.Axis, typ, c.param), true
}

// writeLocal stores v at the elements of acc, in the lanes of ax, the axis in
// force.
func (ct *contents) writeLocal(c *cell, acc lanes.Access, v value, ax *axis) {
	// A region runs one iteration at a time, whatever lanes are around it.
	every := ax == c.home || ct.at.hidden()
	if every && acc.IsWhole(c.size) {
		c.setWhole(ct.arr.shaped(v, c.shape, c.typ))
		return
	}
	if c.whole != nil && c.whole.ints != nil && v.ints != nil {
		ct.writeInts(c, acc, v, ax)
		return
	}
	if acc.Axis != nil && (ct.at.hiddenAxis(acc.Axis) || ct.at.scanning()) {
		c.setWhole(ct.arr.replace(ct.pack(c), v, ofLanes(acc.Positions())))
		return
	}
	if acc.Axis == nil && every {
		if c.whole == nil && c.flat {
			ct.pack(c)
		}
		ct.scatterState(c, false)
		part := int32(len(c.parts))
		c.parts = append(c.parts, ct.arr.reshape(ct.b.numeric(v), []int{acc.Index.Size()}, c.typ))
		acc.Index.Each(func(p, e int) { c.table[e] = location{part, int32(p)} })
		ct.compact(c)
		return
	}
	// The elements differ between lanes, or only some lanes write.
	if ax == nil {
		panic(&fault{Reason: "a write outside its lanes"})
	}
	ct.scatterState(c, c.home != nil)
	part, offs := int32(len(c.parts)), acc.Offsets()
	width := len(offs) // elements of the part that a lane takes for itself
	if v = ct.b.numeric(v); v.axis == nil && v.lvl.depth <= levelOf(ax).depth {
		// All lanes write the same. Like the parts of other writes, it must be a value of the
		// lanes' level: that may be a branch, around which other lanes are in force.
		width = 0
		once := levelOf(ax).g.Reshape(ct.b.use(v, levelOf(ax), nil), []int{len(offs)})
		c.parts = append(c.parts, value{typ: v.typ, shape: []int{len(offs)}, lvl: levelOf(ax), ref: once, param: v.param})
	} else {
		c.parts = append(c.parts, ct.arr.flatten(v, ax))
	}
	for l, s := range acc.FlatBase(c.home, ax, c.size) {
		for p, o := range offs {
			c.table[s+o] = location{part, int32(l*width + p)}
		}
	}
	ct.compact(c)
}

// compact packs a cell that has many more parts than elements, so that overwritten parts do not
// accumulate.
func (ct *contents) compact(c *cell) {
	if len(c.parts) > 4*len(c.table)+16 {
		ct.pack(c)
	}
}

// writeInts changes known integers in place.
func (ct *contents) writeInts(c *cell, acc lanes.Access, v value, ax *axis) {
	w := *c.whole
	switch {
	case w.axis != c.home: // so far the content was the same in several lanes
		ct.rep.Reserve(8, c.home.N, c.size)
		w.ints, w.axis = w.known().Wide(c.home).Ints, c.home
	case !c.owned:
		w.ints = slices.Clone(w.ints)
	}
	c.whole, c.owned = &w, true
	w.known().Put(acc, v.known(), ax)
}

func (ct *contents) checkShape(at source.Span, name string, want, got []int) {
	if !slices.Equal(want, got) {
		ct.rep.complain(interp.SizeMismatch(at, name, want, got)).throw()
	}
}

// saveForBranch saves a cell's content before a branch writes to it.
func (ct *contents) saveForBranch(c *cell) {
	for i := len(ct.at.branches) - 1; i >= 0; i-- {
		br := ct.at.branches[i]
		if c.depth >= br.lvl.depth {
			return // declared inside
		}
		if _, ok := br.saved[c]; ok {
			continue
		}
		s := c.state
		s.owned = false
		c.owned = false
		br.saved[c] = s
		br.order = append(br.order, c)
	}
}

// localCell makes the cell of a variable that a statement declares, without a value.
func (ct *contents) localCell(v *ir.Var, shape []int) *cell {
	c := ct.newCell(v, v.Name, v.Type, shape)
	if len(ct.rep.calls) > 0 {
		c.param = ct.rep.calls[len(ct.rep.calls)-1].param && v.Type.Kind != types.Int
	}
	c.setWhole(ct.arr.unset(v.Type, c.shape))
	return c
}
