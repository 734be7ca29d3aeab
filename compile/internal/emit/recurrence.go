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

	chains  map[chainKey]*chain
	order   []*chain
	starts  []*starts
	targets []ad.Ref

	densities []int // indices of densities whose arguments are values of the body
}

// starts are steps at which registers get new values from outside: the first step, and steps where
// another sequence begins, as in each lane around.
type starts struct {
	at    []int // in order, from 0
	since []int // by step: steps since the last start
	mask  value // by step: whether the next step is a start; lvl is nil before its first use

	// crossed means that steps read values from before the last start, or from another lane around,
	// as rows of a table read those of the row before. Then no register gets a new value, which is
	// the form that pass skew knows.
	crossed bool
}

// chainKey identifies a chain; starts is nil if all reads see values of the write.
type chainKey struct {
	w      *write
	starts *starts
}

// chain holds the registers with the values that one write made in the last steps, the most recent
// first.
type chain struct {
	w      *write
	starts *starts
	size   int
	reg    []ad.Ref
	init   [][]element // values of register k at each start
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
	var since *starts
	if mixed {
		if since = vs.begins(n, h, acc, at, from, typ); since != nil {
			mixed = false
		}
	} else {
		since = r.startsOf(h, at, from)
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
			ch := r.chain(w, since, x.Distance)
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

// begins sets the registers' values at starts, from the values that reads see from outside. This
// works if only the first steps after each start read from outside, in place of values from earlier
// steps. Otherwise it returns nil.
func (vs *variables) begins(n *nest, h *history, acc lanes.Access, at []plan.From, from []plan.Origin, typ types.Type) *starts {
	r, width, most := vs.at.scan, len(at), 0
	st := r.startsAt(n, h, at, from)
	if st.crossed || !r.fits(st, h, at, from) {
		return nil
	}
	for _, x := range at {
		if x.Outside && x.Write != nil {
			most = max(most, x.Distance)
		}
	}
	// The values that the first steps read.
	first := &axis{Parent: r.dom, Level: levelOf(r.dom), Subset: true}
	var seen []plan.Origin
	for l, d := range st.since {
		if d < most {
			first.Up = append(first.Up, int32(l))
			for _, o := range from[l*width : (l+1)*width] {
				if !o.Unread() && !o.Written() {
					o = plan.Before(int32(len(seen))) // among the steps of first, not all steps
				}
				seen = append(seen, o)
			}
		}
	}
	first.N = len(first.Up)
	some := acc
	if acc.Axis != nil {
		some.Axis, some.Base = first, acc.FlatBase(nil, first, 0)
	}
	flat := new(value)
	vs.at.with(vs.at.in(first), func() {
		*flat = vs.arr.flatten(vs.valueOf(n, h, r.fromOutside(h, seen), some, first, typ), first)
	})
	base, offsets := acc.FlatBase(nil, r.dom, 0), acc.Offsets()
	for _, store := range []bool{false, true} {
		for p, x := range at {
			if !x.Outside || x.Write == nil {
				continue
			}
			ch := r.chain(h.writes[x.Write.Index], st, x.Distance)
			start := -1
			for i, l := range first.Up {
				d := st.since[l]
				if d == 0 {
					start++
				}
				o := seen[i*width+p]
				if d >= x.Distance || o.Unread() {
					continue
				}
				e := element{flat, int32(i*width + p), name{h, h.Source(o), base[l] + offsets[p]}}
				if e.name.write != nil {
					e.name.at = o.Pos
				}
				was := &ch.init[x.Distance-d-1][start*ch.size+x.Pos]
				if !store && was.from != nil && was.name != e.name && (was.at != e.at || was.from.ref != e.from.ref || was.from.lvl != e.from.lvl) {
					return nil
				}
				if store {
					*was = e
				}
			}
		}
	}
	return st
}

// startsAt returns the starts that the nearest read asks for.
func (r *recurrence) startsAt(n *nest, h *history, at []plan.From, from []plan.Origin) *starts {
	in, width, nearest := h.Among(r.planned), len(at), -1
	for p, x := range at {
		if x.Outside && x.Write != nil && (nearest < 0 || x.Distance < at[nearest].Distance) {
			nearest = p
		}
	}
	st, before := &starts{at: []int{0}, since: make([]int, r.dom.N)}, false
	for l := range r.dom.N {
		o := from[l*width+nearest]
		outside := !o.Unread() && !in.Has(o)
		if l > 0 && outside && (!before || at[nearest].Distance == 1) {
			st.at = append(st.at, l)
		}
		st.since[l], before = l-st.at[len(st.at)-1], outside
	}
	for _, old := range r.starts {
		if slices.Equal(old.at, st.at) {
			return old
		}
	}
	r.starts = append(r.starts, st)
	steps := slices.Concat(st.at, r.lanesAround())
	slices.Sort(steps)
	for _, x := range n.order {
		st.crossed = st.crossed || r.has(x) && x.Crosses(r.planned, steps)
	}
	return st
}

// lanesAround returns the first step in each lane of the loop around.
func (r *recurrence) lanesAround() (steps []int) {
	loop := r.dom
	for loop.Subset {
		loop = loop.Parent
	}
	last := int32(-1)
	for l, lane := range r.dom.LanesOf(loop.Parent) {
		if lane != last {
			steps = append(steps, l)
		}
		last = lane
	}
	return steps
}

// startsOf returns starts whose chains have the values of a read that sees nothing from outside.
func (r *recurrence) startsOf(h *history, at []plan.From, from []plan.Origin) *starts {
	for _, st := range r.starts {
		if !st.crossed && r.fits(st, h, at, from) {
			return st
		}
	}
	return nil
}

// fits reports whether a read sees values from outside exactly in the first steps after starts.
func (r *recurrence) fits(st *starts, h *history, at []plan.From, from []plan.Origin) bool {
	in := h.Among(r.planned)
	for p, x := range at {
		if x.Write == nil {
			continue
		}
		for l, d := range st.since {
			if o := from[l*len(at)+p]; !o.Unread() && in.Has(o) != (d >= x.Distance) {
				return false
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
func (r *recurrence) chain(w *write, st *starts, d int) *chain {
	key := chainKey{w, st}
	ch := r.chains[key]
	if ch == nil {
		ch = &chain{w: w, starts: st, size: len(w.Offsets)}
		r.chains[key] = ch
		r.order = append(r.order, ch)
	}
	n := 1
	if st != nil {
		n = len(st.at)
	}
	for len(ch.reg) < d {
		ch.reg = append(ch.reg, r.lvl.g.Input(ad.Type{Shape: []int{ch.size}}))
		ch.init = append(ch.init, make([]element, n*ch.size))
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
	r := &recurrence{planned: planned, dom: ax, chains: map[chainKey]*chain{}}
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
		for k, reg := range ch.reg {
			loop.Carried, loop.Next = append(loop.Carried, reg), append(loop.Next, sn.started(r, ch, k, next))
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
	v, ok := sn.elements(ch.init[k][:ch.size])
	if !ok {
		g := sn.at.lvl.g
		return g.Broadcast(g.Const(0), []int{ch.size})
	}
	return sn.b.use(v, sn.at.lvl, nil)
}

// started returns the next content of register k of a chain: next, or the value from outside before
// a start.
func (sn *scans) started(r *recurrence, ch *chain, k int, next ad.Ref) ad.Ref {
	if ch.starts == nil || len(ch.starts.at) == 1 {
		return next
	}
	list := make([]element, r.dom.N*ch.size)
	mask := value{typ: types.IntType, axis: r.dom, ints: make([]int64, r.dom.N)}
	for i, l := range ch.starts.at[1:] {
		mask.ints[l-1] = 1
		copy(list[(l-1)*ch.size:], ch.init[k][(i+1)*ch.size:(i+2)*ch.size])
	}
	v, ok := sn.elements(list)
	if !ok {
		return next
	}
	v = sn.arr.unflatten(v, r.dom, []int{ch.size}, v.typ)
	if ch.starts.mask.lvl == nil {
		ch.starts.mask = sn.b.numeric(mask)
	}
	return r.lvl.g.Select(sn.b.use(ch.starts.mask, r.lvl, nil), sn.b.use(v, r.lvl, nil), next)
}

// elements returns elements as one array; ok is false if there are none. The first element replaces
// those that no step reads.
func (sn *scans) elements(list []element) (v value, ok bool) {
	var a assembly[*value]
	t := make([]int32, len(list))
	for i, e := range list {
		if e.from != nil {
			t[i] = e.at + a.part(e.from, func() value { return *e.from })
		}
	}
	if len(a.parts) == 0 {
		return v, false
	}
	return sn.arr.elementsOf(a.parts, t, types.Real), true
}
