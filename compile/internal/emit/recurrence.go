package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// A recurrence is a group of units that depend on one another across iterations. Its iterations, in
// all lanes around the loop, are the steps of one scan. A value that the group wrote a number of
// steps before comes from a register, an input of the scan's body. Values that the group did not
// write come from outside. These are read in the first steps of each lane around, or where the
// program restarts the recurrence.
//
// Only computations that depend on a register go into the body's graph; all others are evaluated in
// lanes, outside. Of the body's graph, [ad.Graph.DoRecurrence] leaves only the computations for the
// next values of the registers in the scan.
type recurrence struct {
	planned []*plan.Unit
	dom     *axis // its lanes are the steps
	lvl     *level

	chains  map[*write]*chain
	order   []*chain
	targets []ad.Ref

	densities []int // indices of densities whose arguments are values of the body
}

// chain holds the registers with the values that one write made in the last steps, the most recent
// first.
type chain struct {
	w    *write
	size int
	reg  []ad.Ref
	init [][]element // values of register k before the scan
}

// element is an element of a flat array; from is nil if there is none. Elements with the same name
// have the same value.
type element struct {
	from *value
	at   int32
	name name
}

// name is a value of an element of a variable before a recurrence: a position of the value of a
// write, or, if write is nil, an element of the variable before the nest.
type name struct {
	h     *history
	write *plan.Write
	at    int32
}

// outOfScan reports whether an expression does not depend on the values of the current recurrence,
// so that it can be evaluated in lanes.
func (vs *variables) outOfScan(e ir.Expr) bool {
	r := vs.at.scan
	out := vs.functions.SideEffectsIn(e) == 0
	for v := range ir.Vars(e) {
		c := vs.cell(v)
		if o := vs.overlayOf(c); o != nil && !o.w.Others {
			c = o.temp
		}
		if h := vs.at.nest.watched[c]; h != nil && r.has(h) {
			out = false
		}
		if c.whole != nil {
			out = out && c.whole.lvl != r.lvl
			continue
		}
		for _, p := range c.parts {
			out = out && p.lvl != r.lvl
		}
	}
	return out
}

// has reports whether the group writes a variable.
func (r *recurrence) has(h *history) bool {
	return slices.ContainsFunc(h.Writes, func(w *plan.Write) bool { return plan.Has(r.planned, w.Unit) })
}

// readCarried reads elements that the current recurrence writes.
func (vs *variables) readCarried(n *nest, h *history, acc lanes.Access, ax *axis, typ types.Type) value {
	r := vs.at.scan
	if ax != r.dom && r.dom.Within(ax) { // in an inner loop, whose lanes read at the same time
		return vs.readStep(n, h, acc, typ)
	}
	if ax != r.dom {
		panic(&fault{Reason: plan.Irregular})
	}
	skip := acc.OutIn(ax)
	if ex := vs.at.excluded(ax); ex != nil {
		skip = ex
	}
	width := acc.Index.Size()
	from := h.origins(n.unit, acc, ax, skip)
	if width == 0 {
		return vs.loadBefore(n, h, acc, typ)
	}
	at, ok := h.Pattern(r.planned, from, width)
	if !ok && !acc.IsWhole(h.c.size) { // unknown to the planner, so carried as a whole
		return vs.arr.gather(vs.readCarried(n, h, lanes.WholeOf(h.c.shape), ax, h.c.typ), acc, typ)
	}
	if !ok {
		panic(&fault{Reason: plan.Irregular})
	}
	shape := acc.Index.Shape()
	elem := types.Type{Kind: types.Real, Dims: 1}
	var outside value // in lanes
	flat := make([]int32, width)
	anyCarried, mixed, always := false, false, false
	for _, x := range at {
		anyCarried = anyCarried || x.Write != nil
		mixed = mixed || x.Outside && x.Write != nil
		always = always || x.Write == nil
	}
	if mixed && vs.begins(n, h, acc, at, from, typ) {
		mixed = false
	}
	if mixed || always {
		outside = vs.arr.reshape(vs.b.numeric(vs.valueOf(n, h, r.fromOutside(h, from), acc, ax, typ)), []int{width}, elem)
		if !anyCarried {
			v := vs.arr.shaped(outside, shape, typ)
			v.param = h.c.param
			return v
		}
	}
	// The carried positions come from registers and from values of this step.
	type partKey struct {
		w *write
		d int
	}
	var a assembly[partKey]
	for p, x := range at {
		switch {
		case x.Write == nil: // from outside, in every step
			flat[p] = int32(p) + a.part(partKey{}, func() value { return outside })
		case x.Distance == 0:
			w := h.writes[x.Write.Index]
			if !w.done {
				panic(&fault{Reason: "a value that is not there yet"})
			}
			flat[p] = int32(x.Pos) + a.part(partKey{w, 0}, func() value { return vs.arr.reshape(vs.b.numeric(w.val), []int{len(w.Offsets)}, elem) })
		default:
			w := h.writes[x.Write.Index]
			ch := r.chain(w, x.Distance)
			flat[p] = int32(x.Pos) + a.part(partKey{w, x.Distance}, func() value {
				return value{typ: elem, shape: []int{ch.size}, lvl: r.lvl, ref: ch.reg[x.Distance-1], param: true}
			})
		}
	}
	v := vs.arr.elementsOf(a.parts, flat, types.Real)
	if mixed {
		v = vs.b.emit(elem, []value{vs.maskOutside(h, from, width), outside, v}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
			return g.Select(a[0], a[1], a[2])
		})
	}
	v = vs.arr.reshape(v, shape, typ)
	v.param = h.c.param
	return v
}

// readStep is readCarried in the lanes of an inner loop. If these lanes read different elements,
// the step reads the whole variable, and the lanes gather from it.
func (vs *variables) readStep(n *nest, h *history, acc lanes.Access, typ types.Type) (v value) {
	r := vs.at.scan
	at := vs.at.in(r.dom)
	if acc.Axis == nil || acc.Axis.Within(r.dom) {
		vs.at.with(at, func() { v = vs.readCarried(n, h, acc, r.dom, typ) })
		return v
	}
	vs.at.with(at, func() { v = vs.readCarried(n, h, lanes.WholeOf(h.c.shape), r.dom, h.c.typ) })
	return vs.arr.gather(v, acc, typ)
}

// fromOutside returns origins without values written by the recurrence.
func (r *recurrence) fromOutside(h *history, from []plan.Origin) []plan.Origin {
	from, in := slices.Clone(from), h.Among(r.planned)
	for i, o := range from {
		if in.Has(o) {
			from[i] = plan.Unread
		}
	}
	return from
}

// begins sets the registers' values before the scan, from the values that reads see from outside.
// This works if only the first steps read from outside, in place of values from earlier steps.
// Otherwise it returns false.
func (vs *variables) begins(n *nest, h *history, acc lanes.Access, at []plan.From, from []plan.Origin, typ types.Type) bool {
	r, width, most := vs.at.scan, len(at), 0
	loop := r.dom
	for loop.Subset {
		loop = loop.Parent
	}
	if loop.Parent != nil {
		return false // each outer lane starts a new recurrence
	}
	in := h.Among(r.planned)
	for p, x := range at {
		if !x.Outside || x.Write == nil {
			continue
		}
		most = max(most, min(x.Distance, r.dom.N))
		for l := range r.dom.N {
			if o := from[l*width+p]; !o.Unread() && in.Has(o) != (l >= x.Distance) {
				return false
			}
		}
	}
	// The values that the first steps read.
	first := &axis{N: most, Parent: r.dom, Up: make([]int32, most), Level: levelOf(r.dom), Subset: true}
	for l := range most {
		first.Up[l] = int32(l)
	}
	some := acc
	if acc.Axis != nil {
		some.Axis, some.Base = first, acc.FlatBase(nil, first, 0)
	}
	rest := r.fromOutside(h, from[:most*width])
	flat := new(value)
	vs.at.with(vs.at.in(first), func() { *flat = vs.arr.flatten(vs.valueOf(n, h, rest, some, first, typ), first) })
	same := func(k int, ch *chain, pos int, e element) bool {
		was := ch.init[k][pos]
		return was.from == nil || was.name == e.name || was.at == e.at && was.from.ref == e.from.ref && was.from.lvl == e.from.lvl
	}
	base, offsets := acc.FlatBase(nil, r.dom, 0), acc.Offsets()
	for _, store := range []bool{false, true} {
		for p, x := range at {
			if !x.Outside || x.Write == nil {
				continue
			}
			ch := r.chain(h.writes[x.Write.Index], x.Distance)
			for l := range min(x.Distance, r.dom.N) {
				if from[l*width+p].Unread() {
					continue
				}
				o := from[l*width+p]
				e := element{flat, int32(l*width + p), name{h, h.Source(o), base[l] + offsets[p]}}
				if e.name.write != nil {
					e.name.at = o.Pos
				}
				if !store && !same(x.Distance-l-1, ch, x.Pos, e) {
					return false
				}
				if store {
					ch.init[x.Distance-l-1][x.Pos] = e
				}
			}
		}
	}
	return true
}

// maskOutside returns, for every step, whether a read sees a value from outside. If the positions
// of the read differ in that, it does so for every position.
func (vs *variables) maskOutside(h *history, from []plan.Origin, width int) value {
	r := vs.at.scan
	in := h.Among(r.planned)
	mask := value{typ: types.Type{Kind: types.Int, Dims: 1}, shape: []int{width}, axis: r.dom, ints: make([]int64, len(from))}
	one := value{typ: types.IntType, axis: r.dom, ints: make([]int64, r.dom.N)}
	same := true
	for l := range r.dom.N {
		for p := range width {
			o := from[l*width+p]
			mask.ints[l*width+p] = lanes.Truth(!o.Unread() && !in.Has(o))
			same = same && mask.ints[l*width+p] == mask.ints[l*width]
		}
		one.ints[l] = mask.ints[l*width]
	}
	if same {
		return one
	}
	return mask
}

// chain returns the registers of a carried write, at least d of them.
func (r *recurrence) chain(w *write, d int) *chain {
	ch := r.chains[w]
	if ch == nil {
		ch = &chain{w: w, size: len(w.Offsets)}
		r.chains[w] = ch
		r.order = append(r.order, ch)
	}
	for len(ch.reg) < d {
		ch.reg = append(ch.reg, r.lvl.g.Input(ad.Type{Shape: []int{ch.size}}))
		ch.init = append(ch.init, make([]element, ch.size))
	}
	return ch
}

// scans evaluates recurrences.
type scans struct {
	floor
	lp    *logDensity
	marks *marks
}

// recurrence evaluates a group of units as a scan.
func (sn *scans) recurrence(n *nest, planned []*plan.Unit, run func(u *unit)) {
	units := n.unitsOf(planned)
	ax := planned[0].Domain
	r := &recurrence{planned: planned, dom: ax, chains: map[*write]*chain{}}
	r.lvl = newLevel(sn.at.lvl, nil)
	r.lvl.loop, r.lvl.steps, r.lvl.flat = ax, ax.N, true
	at := *sn.at
	at.scan = r
	sn.at.with(at, func() {
		for _, u := range units {
			run(u)
		}
	})
	// The body of the scan, with the next values of the registers.
	body := r.lvl.g
	loop := &ad.Recurrence{Body: body, Steps: ax.N}
	for _, ch := range r.order {
		val := sn.arr.reshape(sn.b.numeric(ch.w.val), []int{ch.size}, ch.w.val.typ)
		next := body.Broadcast(sn.b.use(val, r.lvl, nil), []int{ch.size})
		for _, reg := range ch.reg {
			loop.Carried, loop.Next = append(loop.Carried, reg), append(loop.Next, next)
			next = reg
		}
	}
	loop.Streams, loop.Captures = r.lvl.streams, r.lvl.captures // a next value may have come in from outside
	for _, ch := range r.order {
		for k := range ch.reg {
			loop.Start = append(loop.Start, sn.beforeScan(ch, k))
		}
	}

	// The values that are used outside the recurrence.
	var writes []*write
	var wanted []ad.Ref
	for _, u := range units {
		for _, h := range n.order {
			if w := h.ofUnit(u); w != nil && w.val.ints == nil && w.val.lvl == r.lvl {
				writes, wanted = append(writes, w), append(wanted, w.val.ref)
			}
		}
	}
	wanted = append(wanted, r.targets...)
	var marked []ad.Statement
	for _, k := range r.densities {
		marked = append(marked, sn.marks.densities[k].statements...)
	}
	for _, st := range marked {
		wanted = append(wanted, st.Args...)
	}

	g := sn.at.lvl.g
	g.SetSite(sn.b.site())
	lane := g.DoRecurrence(loop, wanted)
	for _, w := range writes {
		w.val = sn.b.wrap(lane(w.val.ref), sn.at.lvl, ax, w.val.typ, w.val.param)
	}
	for _, st := range marked {
		for k, a := range st.Args {
			st.Args[k] = lane(a)
		}
	}
	sn.at.with(sn.at.in(ax), func() {
		for _, x := range r.targets {
			sn.lp.addTarget(sn.b.wrap(lane(x), sn.at.lvl, ax, types.RealType, true))
		}
	})
}

// beforeScan returns the content of register k of a chain before the scan.
func (sn *scans) beforeScan(ch *chain, k int) ad.Ref {
	var a assembly[*value]
	t := make([]int32, ch.size)
	for p, e := range ch.init[k] {
		if e.from != nil { // else no step reads it
			t[p] = e.at + a.part(e.from, func() value { return *e.from })
		}
	}
	if len(a.parts) == 0 {
		g := sn.at.lvl.g
		return g.Broadcast(g.Const(0), []int{ch.size})
	}
	return sn.b.use(sn.arr.elementsOf(a.parts, t, types.Real), sn.at.lvl, nil)
}
