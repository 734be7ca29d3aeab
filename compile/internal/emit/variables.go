package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// variables gives access to the variables of the current frame, as the units of nests see them.
type variables struct {
	floor
	functions *static.Functions

	cells []*cell // by ir.Var.ID
}

func (vs *variables) cell(v *ir.Var) *cell { return vs.cells[v.ID] }

// Shape, Value and Excluded implement [known.Scope].

func (vs *variables) Shape(v *ir.Var) (shape []int, ok bool) {
	c := vs.cell(v)
	if c == nil {
		return nil, false
	}
	return c.shape, true
}

func (vs *variables) Value(v *ir.Var) (x lanes.Value, ok bool) {
	if c := vs.cell(v); c != nil && vs.steady(c) {
		return c.whole.data()
	}
	return x, false
}

func (vs *variables) Excluded(ax *axis) []bool { return vs.at.excluded(ax) }

// steady reports whether a variable has one value that no current unit writes.
func (vs *variables) steady(c *cell) bool {
	steady := c.whole != nil
	for n := vs.at.nest; n != nil; n = n.around {
		steady = steady && n.watched[c] == nil
	}
	return steady
}

// load reads elements of a variable.
func (vs *variables) load(c *cell, acc lanes.Access, typ types.Type) value {
	c, acc = vs.resolve(c, acc)
	for n := vs.at.nest; n != nil; n = n.around {
		if h := n.watched[c]; h != nil && n.unit != nil {
			return vs.readVersions(n, h, acc, typ)
		}
	}
	return vs.mem.readLocal(c, acc, typ)
}

// store writes elements of a variable.
func (vs *variables) store(c *cell, acc lanes.Access, val value) {
	val = vs.arr.convert(val, c.typ)
	if to, all := vs.resolve(c, acc); to != c {
		c, acc = to, all
		if !slices.Equal(val.shape, acc.Index.Shape()) {
			val = vs.arr.shaped(val, acc.Index.Shape(), c.typ)
		}
	}
	if n := vs.at.nest; n != nil && n.unit != nil {
		if h := n.watched[c]; h != nil {
			vs.record(h, val, false)
			return
		}
	}
	vs.mem.saveForBranch(c)
	vs.mem.writeLocal(c, acc, val, vs.at.axis)
}

// accumulate adds val to (or, with negate, subtracts it from) elements of a
// variable.
func (vs *variables) accumulate(c *cell, acc lanes.Access, val value, negate bool) {
	c, acc = vs.resolve(c, acc)
	if n := vs.at.nest; n != nil && n.unit != nil && c.typ.Kind != types.Int {
		if h := n.watched[c]; h != nil && (h.Sum || n.summing == h) {
			vs.record(h, vs.arr.convert(val, c.typ), negate)
			return
		}
	}
	op := ad.OpAdd
	if negate {
		op = ad.OpSub
	}
	old := vs.load(c, acc, c.typ)
	if len(val.shape) > 0 && len(val.shape) != len(old.shape) {
		val = vs.arr.reshape(val, old.shape, val.typ)
	}
	sum := vs.b.emit(c.typ, []value{old, val}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		return g.Do(op, nil, a...)
	})
	vs.store(c, acc, sum)
}

// overlay is a unit's private copy of elements of a variable. A unit needs it if control flow that
// parameters decide binds its statements together, or if its elements are not known in advance.
// Within the unit it is an ordinary variable. Its final content is the value that the unit writes.
type overlay struct {
	w     *write
	whole bool
	temp  *cell
	delta bool // the unit only adds: the overlay holds the sum of its terms
}

// resolve redirects an access to the overlay that a current unit uses, if any. The unit of an inner
// nest uses a copy of the overlay of the surrounding unit.
func (vs *variables) resolve(c *cell, acc lanes.Access) (*cell, lanes.Access) {
	for o := vs.overlayOn(vs.at.nest, c); o != nil; o = vs.overlayOn(vs.at.nest, c) {
		switch {
		case o.whole:
		case acc.Same(o.w.acc, lanes.Innermost(o.w.u.Domain, acc.Axis)): // acc may be known for more iterations
			acc = lanes.WholeOf(o.temp.shape)
		case o.w.Others:
			return c, acc
		default:
			panic(&fault{Reason: "elements that were not foreseen"})
		}
		c = o.temp
	}
	return c, acc
}

// overlayOn returns the overlay for a cell of the units of n and of the nests around it.
func (vs *variables) overlayOn(n *nest, c *cell) *overlay {
	for ; n != nil; n = n.around {
		if n.unit != nil && n.unit.overlays[c] != nil {
			return n.unit.overlays[c]
		}
	}
	return nil
}

// overlayOf returns the innermost overlay of the current units for a variable, or nil.
func (vs *variables) overlayOf(c *cell) (last *overlay) {
	for o := vs.overlayOn(vs.at.nest, c); o != nil; o = vs.overlayOn(vs.at.nest, o.temp) {
		last = o
	}
	return last
}

// storage returns the cell of a variable, or the copy that a current unit uses instead.
func (vs *variables) storage(v *ir.Var) *cell {
	c := vs.cell(v)
	if o := vs.overlayOf(c); o != nil {
		return o.temp
	}
	return c
}

// record stores the value that the current unit writes.
func (vs *variables) record(h *history, val value, negate bool) {
	w := h.ofUnit(vs.at.nest.unit)
	if w == nil {
		panic(&fault{Reason: "a write that was not foreseen"})
	}
	w.val, w.negate = val, negate
}

// readVersions reads elements of a variable of the nest n in the lanes in force.
func (vs *variables) readVersions(n *nest, h *history, acc lanes.Access, typ types.Type) value {
	ax := lanes.Innermost(vs.at.axis, acc.Axis)
	if len(h.writes) == 0 || h.Sum {
		return vs.loadBefore(n, h, acc, typ)
	}
	if vs.at.scan != nil && vs.at.scan.has(h) {
		return vs.readCarried(n, h, acc, ax, typ)
	}
	v := vs.valueOf(n, h, h.origins(n.unit, acc, ax, vs.at.excluded(ax)), acc, ax, typ)
	v.param = h.c.param
	return v
}

// loadBefore reads the content that a variable had before the nest n.
func (vs *variables) loadBefore(n *nest, h *history, acc lanes.Access, typ types.Type) value {
	var v value
	vs.at.with(vs.at.before(n), func() { v = vs.load(h.c, acc, typ) })
	return v
}

// valueOf returns the elements of acc with these origins, in the lanes of ax.
func (vs *variables) valueOf(n *nest, h *history, from []plan.Origin, acc lanes.Access, ax *axis, typ types.Type) value {
	shape := acc.Index.Shape()
	if !slices.ContainsFunc(from, plan.Origin.Written) {
		return vs.loadBefore(n, h, acc, typ)
	}
	for _, o := range from {
		if w := h.write(o); w != nil && !w.done {
			panic(&fault{Reason: "a value that is not there yet"})
		}
	}
	if v, ok := vs.inEveryLane(n, h, from, acc, ax, typ); ok {
		return v
	}
	v := vs.assembled(h, from, typ.Kind, func() value { return vs.arr.flatten(vs.loadBefore(n, h, acc, typ), ax) })
	return vs.arr.unflatten(v, ax, shape, typ)
}

// assembled returns the values of origins as one array. Those without a write are the elements Pos
// of the array that before returns.
func (vs *variables) assembled(h *history, from []plan.Origin, kind types.Kind, before func() value) value {
	var a assembly[*write]
	t := make([]int32, len(from))
	for i, o := range from {
		switch w := h.write(o); {
		case o.Unread():
		case w == nil:
			t[i] = o.Pos + a.part(nil, before)
		case w.Slot != nil: // of a sum
			t[i] = w.Slot[o.Pos] + a.part(w, func() value { return w.val })
		default:
			t[i] = o.Pos + a.part(w, func() value { return vs.arr.flatten(w.val, w.u.Domain) })
		}
	}
	return vs.arr.elementsOf(a.parts, t, kind)
}

// inEveryLane is valueOf for reads in which every lane reads values of its own iteration, from the
// same writes at the same positions. ok is false for other reads.
func (vs *variables) inEveryLane(n *nest, h *history, from []plan.Origin, acc lanes.Access, ax *axis, typ types.Type) (v value, ok bool) {
	width := acc.Index.Size()
	if width == 0 || len(from) == 0 {
		return v, false
	}
	at := make([]int32, width) // position in the value of its write, then in the concatenation of all
	for p := range width {
		w := h.write(from[p])
		if w != h.write(from[0]) && !h.Private {
			return v, false // arrays of all iterations: one gather takes a quarter of the time
		}
		size, up := int32(0), []int32(nil)
		if at[p] = int32(p); w != nil {
			if w.Slot != nil || !w.u.Domain.Within(ax) {
				return v, false
			}
			size, up = int32(len(w.Offsets)), ax.LanesOf(w.u.Domain)
			at[p] = from[p].Pos % size
		}
		for l := range len(from) / width {
			o, lane := from[l*width+p], int32(l)
			if up != nil {
				lane = up[l]
			}
			if h.write(o) != w || o.Unread() || w != nil && o.Pos != lane*size+at[p] {
				return v, false // it reads another write, or another iteration
			}
		}
	}
	var a assembly[*write]
	identity := true
	for p := range width {
		w := h.write(from[p])
		at[p] += a.part(w, func() value {
			if w == nil {
				return vs.loadBefore(n, h, acc, typ)
			}
			return w.val
		})
		identity = identity && at[p] == int32(p)
	}
	vals := a.parts
	identity = identity && len(vals) == 1 && a.total == int32(width)
	shape := acc.Index.Shape()
	if identity {
		return vs.arr.shaped(vals[0], shape, typ), true
	}
	elem := types.Type{Kind: typ.Kind, Dims: 1}
	if v := vals[0]; len(vals) == 1 && v.ints != nil {
		v = vs.arr.reshape(v, []int{v.size()}, elem)
		return vs.arr.shaped(vs.arr.gather(v, lanes.Access{Index: lanes.Affine(ad.Index{Dims: []ad.Dim{lanes.Table(at)}})}, elem), shape, typ), true
	}
	for k, v := range vals {
		vals[k] = vs.arr.reshape(vs.b.numeric(v), []int{v.size()}, elem)
	}
	return vs.arr.reshape(vs.arr.elementsOf(vals, at, typ.Kind), shape, typ), true
}
