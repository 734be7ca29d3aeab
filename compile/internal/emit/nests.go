package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/lang/types"
)

// nest is a loop with the inner loops whose iterations data decide. Package inspect finds it,
// package plan orders it, and emission evaluates it unit by unit. A unit is a leaf of the nest: a
// statement, evaluated once for all the iterations that execute it, its domain.
//
// The values that units assign to the variables of the nest are stored separately. A read finds,
// for each element, the last write before it in program order. So units may be evaluated in any
// order in which writes come before the reads that see them.
type nest struct {
	*inspect.Nest

	around  *nest      // the nest whose current unit contains this nest; nil: none
	units   []*unit    // parallel to Nest.Statements
	order   []*history // parallel to Nest.Used
	watched map[*cell]*history

	plan    *plan.Plan
	summing *history // the variable that the current group only adds to
	unit    *unit    // the current unit
}

// unit is a unit with the cells of its variables.
type unit struct {
	*inspect.Statement
	cells    []*cell            // variables in scope, by ir.Var.ID
	overlays map[*cell]*overlay // while it is evaluated
}

// history records the writes of a nest's units to one variable.
type history struct {
	*plan.History
	c *cell

	writes []*write // parallel to History.Writes
}

// write is a write of a unit, with its value after the unit has been evaluated.
type write struct {
	*plan.Write
	h   *history
	u   *unit
	acc lanes.Access

	val    value // in lanes of the unit; of a sum: the sums
	done   bool
	negate bool // the sum is subtracted
}

// newNest returns a nest with its plan, ready for evaluation.
func (ns *nests) newNest(x *inspect.Nest, p *plan.Plan, out *outside) *nest {
	n := &nest{Nest: x, around: ns.at.nest, plan: p, watched: map[*cell]*history{}}
	k := newCells(ns.iter, out.over)
	for _, s := range x.Statements {
		n.units = append(n.units, &unit{Statement: s, cells: k.scope(s.Scope)})
	}
	for i, v := range x.Used {
		h := &history{c: k.cell(v), History: p.Histories[i]}
		n.watched[h.c] = h
		n.order = append(n.order, h)
		for _, w := range h.Writes {
			u := n.units[w.Unit.ID]
			y := &write{Write: w, h: h, u: u, acc: lanes.WholeOf(h.c.shape)}
			if !w.Whole {
				y.acc = u.Accesses[w.First]
			}
			h.writes = append(h.writes, y)
		}
	}
	return n
}

// ofUnit returns the write of a unit to the variable, or nil.
func (h *history) ofUnit(u *unit) *write {
	if w := h.Of(u.Unit); w != nil {
		return h.writes[w.Index]
	}
	return nil
}

// write returns the write of an origin, or nil.
func (h *history) write(o plan.Origin) *write {
	if !o.Written() {
		return nil
	}
	return h.writes[o.Index()]
}

// origins finds the versions that a read by a unit sees, see [plan.History.Origins].
func (h *history) origins(u *unit, acc lanes.Access, ax *axis, skip []bool) []plan.Origin {
	return h.Origins(u.Unit, acc.Plain(), ax, skip)
}

// nests evaluates nests according to their plans.
type nests struct {
	floor
	vars  *variables
	log   *journal
	iter  *iterator
	scans *scans
	stmts runner
}

// unitsOf returns the nest's units for planned units.
func (n *nest) unitsOf(planned []*plan.Unit) []*unit {
	units := make([]*unit, len(planned))
	for i, u := range planned {
		units[i] = n.units[u.ID]
	}
	return units
}

// evaluate evaluates the planned nest of a loop.
func (ns *nests) evaluate(n *nest, lp *loop) {
	ns.log.keepPlan(lp.Body.Span(), n.describe(lp))
	cells, at := ns.vars.cells, *ns.at
	at.nest = n
	ns.at.with(at, func() {
		for _, g := range n.plan.Groups {
			switch g.Kind {
			case plan.Map:
				ns.unit(n.units[g.Units[0].ID])
			case plan.Sum:
				ns.sum(n, g.Units)
			case plan.Recurrence:
				ns.scans.recurrence(n, g.Units, ns.unit)
			}
		}
	})
	ns.vars.cells = cells
	ns.at.with(ns.at.in(n.Plan.Root.Axis.Parent), func() {
		for _, h := range n.order {
			if !h.Inside && len(h.writes) > 0 {
				ns.commit(n, h)
			}
		}
	})
	ns.opts.Budget.Back(ns.opts.Budget.Used() - n.plan.Taken)
	ns.iter.settle(lp)
}

// unit evaluates a unit over its domain.
func (ns *nests) unit(u *unit) {
	ns.at.nest.unit, ns.vars.cells = u, u.cells
	ns.at.with(ns.at.in(u.Domain), func() {
		ns.enterUnit(u)
		ns.runUnit(u)
		ns.leaveUnit(u)
	})
}

// enterUnit makes the overlays that a unit needs.
func (ns *nests) enterUnit(u *unit) {
	u.overlays = nil
	made := map[*cell]*overlay{}
	for _, h := range ns.at.nest.order {
		w := h.ofUnit(u)
		if w == nil || !w.Apart {
			continue
		}
		acc := w.acc
		o := &overlay{w: w, whole: acc.IsWhole(h.c.size), delta: w.Add && (h.Sum || ns.at.nest.summing == h)}
		typ, shape := h.c.typ, acc.Index.Shape()
		if !o.whole {
			typ = arrayOf(h.c.typ.Kind, len(shape))
		}
		o.temp = ns.mem.newCell(nil, h.c.name, typ, shape)
		o.temp.param = h.c.param
		if o.delta {
			o.temp.setWhole(ns.b.filled(0, typ, shape))
		} else {
			o.temp.setWhole(ns.vars.load(h.c, acc, typ))
		}
		made[h.c] = o
	}
	if len(made) > 0 {
		u.overlays = made
	}
}

// leaveUnit makes the contents of the overlays the values of the unit's writes.
func (ns *nests) leaveUnit(u *unit) {
	for _, h := range ns.at.nest.order {
		w := h.ofUnit(u)
		if w == nil {
			continue
		}
		if o := u.overlays[h.c]; o != nil {
			w.negate = false
			w.val = ns.mem.pack(o.temp)
		} else if w.val.lvl == nil && w.val.ints == nil { // a jump or a rejection before it
			w.val = ns.arr.unset(h.c.typ, w.acc.Index.Shape())
		}
		w.done = true
	}
	u.overlays = nil
}

// runUnit runs the statements of a unit.
func (ns *nests) runUnit(u *unit) {
	if u.Compound {
		ns.vars.cells = slices.Clone(ns.vars.cells)
	}
	if sig := ns.stmts.execAll(u.Stmts); sig&^(goesOn|continues) != 0 {
		panic(&fault{Reason: "a jump out of a unit"})
	}
}

// sum evaluates units that only add to one variable. The additions to an element without another
// write in between form one sum.
func (ns *nests) sum(n *nest, planned []*plan.Unit) {
	units := n.unitsOf(planned)
	var h *history
	for _, x := range n.order {
		if x.ofUnit(units[0]) != nil {
			h = x
		}
	}
	// The initial value of each sum is the value that its first addition reads.
	runs := h.ofUnit(units[0]).Runs
	first := make([]plan.Origin, runs)
	seen, in := make([]bool, runs), h.Among(planned)
	for e := range h.Elements() {
		before := plan.Before(e)
		h.Versions(e, func(o plan.Origin) {
			if in.Has(o) {
				if run := h.writes[o.Index()].Slot[o.Pos]; !seen[run] {
					seen[run], first[run] = true, before
				}
			}
			before = o
		})
	}
	start := ns.beginnings(n, h, first)
	n.summing = h
	var parts []value
	for _, u := range units {
		ns.unit(u)
	}
	n.summing = nil
	for _, u := range units {
		w := h.ofUnit(u)
		flat := ns.arr.flatten(w.val, u.Domain)
		ix := lanes.Affine(ad.Index{Dims: []ad.Dim{lanes.Table(w.Slot)}})
		parts = append(parts, ns.b.emitMove(flat.typ, []value{flat}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
			r := g.Scatter(a[0], ix, []int{runs})
			if w.negate {
				r = g.Neg(r)
			}
			return r
		}))
	}
	total := ns.b.emitMove(start.typ, append([]value{start}, parts...), sumOf)
	total.param = h.c.param
	for _, u := range units {
		w := h.ofUnit(u)
		w.val, w.done, w.negate = total, true, false
	}
}

// beginnings returns the values of origins as one array. Without a write, Pos is the element to
// read from before the nest, in all lanes of the variable's home.
func (ns *nests) beginnings(n *nest, h *history, from []plan.Origin) value {
	return ns.vars.assembled(h, from, types.Real, func() value {
		if h.Inside {
			return ns.arr.flatten(ns.mem.pack(h.c), h.c.home)
		}
		return ns.arr.flatten(ns.vars.loadBefore(n, h, lanes.WholeOf(h.c.shape), h.c.typ), h.c.home)
	})
}

// commit stores the final content of a variable that was declared outside the nest.
func (ns *nests) commit(n *nest, h *history) {
	c := h.c
	if h.Sum {
		for _, w := range h.writes {
			ns.commitSum(h, w)
		}
		return
	}
	var elems []int32
	var from []plan.Origin
	for e := range h.Elements() {
		o, _ := h.Last(e)
		elems, from = append(elems, e), append(from, o)
	}
	if len(elems) == 0 {
		return
	}
	val := ns.beginnings(n, h, from)
	val.typ = arrayOf(c.typ.Kind, 1)
	if c.typ.Kind == types.Int {
		val = ns.b.wrap(val.ref, val.lvl, nil, val.typ, false)
	}
	val.param = c.param
	if c.home == nil {
		ns.vars.store(c, lanes.Access{Index: lanes.Affine(ad.Index{Dims: []ad.Dim{lanes.Table(elems)}})}, val)
		return
	}
	// The variable belongs to an enclosing loop: give its lanes all elements.
	if len(elems) != h.Total() {
		old := ns.arr.flatten(ns.vars.load(c, lanes.WholeOf(c.shape), c.typ), c.home)
		full := make([]int32, h.Total())
		for i := range full {
			full[i] = int32(val.size() + i)
		}
		for i, x := range elems {
			full[x] = int32(i)
		}
		val = ns.arr.elementsOf([]value{val, old}, full, val.typ.Kind)
	}
	if val = ns.arr.unflatten(val, c.home, c.shape, c.typ); ns.at.axis != c.home {
		val = ns.arr.narrowTo(val)
	}
	ns.vars.store(c, lanes.WholeOf(c.shape), val)
}

// commitSum adds the terms of all iterations.
func (ns *nests) commitSum(h *history, w *write) {
	c, ax := h.c, w.u.Domain
	g := levelOf(ax).g
	r := g.Spread(ns.b.use(w.val, levelOf(ax), ax), ax.N)
	if w.negate {
		r = g.Neg(r)
	}
	if c.home == nil && !slices.ContainsFunc(w.Base, func(x int32) bool { return x != w.Base[0] }) {
		sum := g.SumLanes(r)
		delta := ns.b.wrap(sum, levelOf(ax), nil, w.val.typ, w.val.param)
		offs := make([]int32, len(w.Offsets))
		for i, o := range w.Offsets {
			offs[i] = w.Base[0] + o
		}
		acc := lanes.Access{Index: lanes.Affine(ad.Index{Dims: []ad.Dim{lanes.Table(offs)}})}
		if len(delta.shape) == 0 {
			acc.Index = ad.Index{Offset: int(offs[0])}
		} else {
			delta = ns.arr.reshape(delta, []int{len(offs)}, delta.typ)
		}
		ns.vars.accumulate(c, acc, delta, false)
		return
	}
	ix := lanes.Affine(ad.Index{Dims: []ad.Dim{lanes.Table(w.Base), lanes.Table(w.Offsets)}})
	if len(w.Offsets) == 1 {
		ix.Dims = ix.Dims[:1] // the single offset is in ix.Offset
	}
	flat := g.Reshape(g.Unlane(r), ix.Shape())
	sum := g.Scatter(flat, ix, []int{h.Total()})
	fv := value{typ: c.typ, shape: []int{h.Total()}, lvl: levelOf(ax), ref: sum, param: w.val.param}
	delta := ns.arr.unflatten(fv, c.home, c.shape, c.typ)
	if c.home != nil && ns.at.axis != c.home {
		delta = ns.arr.narrowTo(delta)
	}
	ns.vars.accumulate(c, lanes.WholeOf(c.shape), delta, false)
}
