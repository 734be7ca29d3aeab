package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/lang/types"
)

// control runs the sides of conditionals.
type control struct {
	floor
	lp  *logDensity
	log *journal

	code   value  // how statements ended, if the signal leaves that open
	result *value // the value of a return
}

// signal is the set of ways in which statements may end. If there are several, control.code holds
// the actual one; control.result holds the returned value.
type signal = static.Signal

const (
	goesOn    = static.GoesOn
	breaks    = static.Breaks
	continues = static.Continues
	returns   = static.Returns
)

// outcome records how one side of a conditional ended.
type outcome struct {
	sig    signal
	code   value
	result *value
}

// codeOf returns the outcome as a number.
func (o outcome) codeOf() value {
	if o.sig.Certain() {
		return intValue(int64(o.sig))
	}
	return o.code
}

// choose runs then where cond is not 0, and els elsewhere. It takes one side now, partitions the
// lanes, or adds a region to the graph.
func (cl *control) choose(cond value, then, els func() signal) signal {
	if i, ok := cond.scalarInt(); ok {
		if i != 0 {
			return then()
		}
		return els()
	}
	if cond.ints != nil && !cl.at.hiddenAxis(cond.axis) && !cl.at.hidden() && !cl.at.scanning() {
		return cl.partition(cond, then, els)
	}
	if some, all := cl.taken(cond); all || !some {
		// All current iterations agree. Choosing one side lets a recursion that data end terminate.
		if all {
			return then()
		}
		return els()
	}
	cl.log.stats.Ifs++
	return cl.region(cond, then, els)
}

// taken reports whether the condition may be true in some, and in all, of the current iterations.
func (cl *control) taken(cond value) (some, all bool) {
	if cond.ints == nil {
		return true, false
	}
	excluded := cl.at.excluded(cond.axis)
	all = true
	for l, x := range cond.ints {
		if excluded != nil && excluded[l] {
			continue
		}
		some, all = some || x != 0, all && x != 0
	}
	return some, all
}

// onlyIf runs rest where statements that may end with sig ended in one of the ways in on.
func (cl *control) onlyIf(sig, on signal, rest func() signal) signal {
	if sig&^on == 0 {
		return rest()
	}
	if sig&on == 0 {
		return sig
	}
	code, result := cl.code, cl.result
	return cl.choose(cl.isOneOf(code, sig&on), rest, func() signal {
		cl.code, cl.result = code, result
		return sig &^ on
	})
}

// isOneOf returns 1 if code is in the set, else 0.
func (cl *control) isOneOf(code value, set signal) value {
	if code.ints != nil {
		return code.mapped(func(c int64) int64 { return lanes.Truth(signal(c)&set != 0) })
	}
	return cl.b.emit(types.IntType, []value{code}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		r := ad.None
		for k := goesOn; k <= returns; k <<= 1 {
			if set&k == 0 {
				continue
			}
			is := g.Do(ad.OpEqual, nil, a[0], g.Const(float64(k)))
			if r == ad.None {
				r = is
			} else {
				r = g.Add(r, is)
			}
		}
		return r
	})
}

// recode replaces codes in from by to.
func (cl *control) recode(code value, from, to signal) value {
	if code.ints != nil {
		return code.mapped(func(c int64) int64 {
			if signal(c)&from != 0 {
				return int64(to)
			}
			return c
		})
	}
	return cl.b.emit(types.IntType, []value{cl.isOneOf(code, from), code}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		return g.Select(a[0], g.Const(float64(to)), a[1])
	})
}

// loopEnds returns the signal of a loop whose iterations ended with sig.
func (cl *control) loopEnds(sig signal) signal {
	switch {
	case sig&returns == 0:
		return goesOn
	case sig == returns:
		return returns
	case sig&(breaks|continues) != 0:
		cl.code = cl.recode(cl.code, breaks|continues, goesOn)
	}
	return goesOn | returns
}

// partition runs each side of a conditional in its own lanes. It is for conditions that data
// decide, and that differ between iterations.
func (cl *control) partition(cond value, then, els func() signal) signal {
	ax := lanes.Innermost(cl.at.axis, cond.axis)
	lanes.Memory(cl.rep.Reserve).Lanes(ax.N)
	sides := lanes.Sides(cond.known(), ax)
	var outs []outcome
	var axes []*axis
	union := signal(0)
	for k, side := range []func() signal{then, els} {
		some := sides[k]
		if some == nil {
			continue
		}
		o := outcome{}
		cl.at.with(cl.at.in(some), func() {
			cl.result = nil
			o.sig = side()
			o.code, o.result = cl.code, cl.result
		})
		if some == ax {
			return o.sig
		}
		outs, axes = append(outs, o), append(axes, some)
		union |= o.sig
	}
	cl.at.with(cl.at.in(ax), func() {
		if !union.Certain() {
			c := cl.mem.newCell(nil, "code", types.IntType, nil)
			c.setWhole(value{typ: types.IntType, axis: ax, ints: make([]int64, ax.N)})
			for k, o := range outs {
				cl.mem.writeLocal(c, lanes.WholeOf(nil), o.codeOf(), axes[k])
			}
			cl.code = cl.mem.pack(c)
		}
		cl.mergeResults(outs, axes, union)
	})
	return union
}

// mergeResults merges the values that the sides return in their lanes into one value.
func (cl *control) mergeResults(outs []outcome, axes []*axis, union signal) {
	cl.result = nil
	if union&returns == 0 {
		return
	}
	var cells []*cell
	var typ types.Type
	for k, o := range outs {
		if o.sig&returns == 0 || o.result == nil {
			continue
		}
		typ = o.result.typ
		if cells == nil {
			for _, v := range o.result.parts() {
				c := cl.mem.newCell(nil, "return", v.typ, v.shape)
				c.setWhole(cl.arr.unset(v.typ, v.shape))
				cells = append(cells, c)
			}
		}
		for i, v := range o.result.parts() {
			c := cells[i]
			if !slices.Equal(v.shape, c.shape) {
				panic(&fault{Reason: "a function whose result has different sizes in different iterations"})
			}
			c.param = c.param || v.param
			cl.at.with(cl.at.in(axes[k]), func() { cl.mem.writeLocal(c, lanes.WholeOf(c.shape), v, axes[k]) })
		}
	}
	if cells != nil {
		var leaves []value
		for _, c := range cells {
			leaves = append(leaves, cl.mem.pack(c))
		}
		v := composed(typ, leaves)
		cl.result = &v
	}
}

// branch is one side of a conditional that parameters decide, during its evaluation into a separate
// graph.
type branch struct {
	lvl    *level
	saved  map[*cell]state // contents of changed cells before the branch
	order  []*cell
	target []ad.Ref
	trips  bool // the body of a loop that is a region, rather than a branch
	outcome
}

// region evaluates both sides of a conditional that parameters decide, each into a separate graph,
// and adds the OpIf. Its results are the values that the sides assign, add to the log density, or
// return.
func (cl *control) region(cond value, then, els func() signal) signal {
	parent, ax := cl.at.surroundings()
	if cl.at.axis != nil && !cl.lp.inModel && !cl.at.hidden() && parent == levelOf(cl.at.axis) {
		// One decision per iteration, even if the condition is the same in all, because a side may
		// draw random numbers.
		g := parent.g
		r := g.Spread(cl.b.use(cond, parent, cl.at.axis), cl.at.axis.N)
		cond = cl.b.wrap(r, parent, cl.at.axis, types.IntType, cond.param)
		cond.ints = nil
	}
	sides := [2]*branch{}
	for k, run := range []func() signal{then, els} {
		lvl := newLevel(parent, ax)
		lvl.branch = true
		br := &branch{lvl: lvl, saved: map[*cell]state{}}
		sides[k] = br
		at := cl.at.into(br)
		if cond.ints != nil {
			at = at.where(cond, k == 0)
		}
		cl.result = nil
		cl.at.with(at, func() { br.sig = run() })
		br.code, br.result = cl.code, cl.result
		// Take the new contents out of the cells and restore the old ones.
		for _, c := range br.order {
			changed := c.state
			c.state = br.saved[c]
			br.saved[c] = changed
		}
	}
	t, e := sides[0], sides[1]
	union := t.sig | e.sig
	// Outputs, the same list on both sides.
	var cells []*cell
	for _, br := range sides {
		for _, c := range br.order {
			if !slices.Contains(cells, c) {
				cells = append(cells, c)
			}
		}
	}
	outputs := func(br *branch) []value {
		var out []value
		for _, c := range cells {
			before := c.state
			if s, ok := br.saved[c]; ok {
				c.state = s
			}
			cl.at.with(cl.at.into(br), func() { out = append(out, cl.b.numeric(cl.mem.pack(c))) })
			c.state = before
		}
		return out
	}
	outs := [2][]value{outputs(t), outputs(e)}
	hasTarget := len(t.target)+len(e.target) > 0
	if !union.Certain() {
		for k, br := range sides {
			outs[k] = append(outs[k], cl.b.numeric(br.codeOf()))
		}
	}
	result := cl.sidesResult(sides)
	if result != nil {
		for k, br := range sides {
			for i, v := range result.parts() {
				// If a side returns nothing, any number will do.
				v = cl.b.filled(0, v.typ, v.shape)
				if br.sig&returns != 0 && br.result != nil {
					v = br.result.parts()[i]
				}
				outs[k] = append(outs[k], cl.b.numeric(v))
			}
		}
	}
	for k, br := range sides {
		g := br.lvl.g
		for _, v := range outs[k] {
			g.Output(g.Broadcast(cl.b.use(v, br.lvl, nil), v.shape))
		}
		if hasTarget {
			g.Output(sumOf(g, append([]ad.Ref{g.Const(0)}, br.target...)))
		}
	}
	if len(t.lvl.g.Outputs) == 0 && len(t.lvl.g.SideEffects)+len(e.lvl.g.SideEffects) == 0 {
		cl.result = nil
		return union
	}
	args := unifyInputs(t.lvl, e.lvl)
	g := parent.g
	c := cl.b.use(cond, parent, ax)
	g.SetSite(cl.b.site())
	r := g.Do(ad.OpIf, &ad.If{Then: t.lvl.g, Else: e.lvl.g}, append([]ad.Ref{c}, args...)...)
	if len(t.lvl.g.SideEffects)+len(e.lvl.g.SideEffects) > 0 {
		g.SideEffects = append(g.SideEffects, r)
	}
	k := 0
	next := func(typ types.Type, param bool) value {
		v := cl.b.wrap(g.Result(r, k), parent, ax, typ, param)
		k++
		return v
	}
	for _, c := range cells {
		v := next(c.typ, c.param)
		v.ints = nil
		cl.mem.saveForBranch(c)
		cl.mem.writeLocal(c, lanes.WholeOf(c.shape), v, cl.at.axis)
	}
	if !union.Certain() {
		cl.code = next(types.IntType, false)
		cl.code.ints = nil
	}
	cl.result = nil
	if result != nil {
		v := result.each(func(_ int, leaf value) value { return next(leaf.typ, leaf.param) })
		cl.result = &v
	}
	if hasTarget {
		cl.lp.addTarget(next(types.RealType, true))
	}
	return union
}

// sidesResult returns the type, shape and level of the value that the sides return, or nil if they
// return none.
func (cl *control) sidesResult(sides [2]*branch) *value {
	var r *value
	for _, br := range sides {
		if br.sig&returns == 0 || br.result == nil {
			continue
		}
		if r == nil {
			v := *br.result
			r = &v
			continue
		}
		v := r.each(func(k int, leaf value) value {
			other := br.result.parts()[k]
			if !slices.Equal(leaf.shape, other.shape) {
				cl.rep.unsupported(cl.rep.span, "a function whose result has one size or another", "")
			}
			leaf.param = leaf.param || other.param
			return leaf
		})
		r = &v
	}
	return r
}

// unifyInputs gives the two graphs of a conditional the same inputs in the same order. It returns
// the values of the surrounding level that they capture.
func unifyInputs(a, b *level) []ad.Ref {
	args := slices.Clone(a.args)
	for _, r := range b.args {
		if !slices.Contains(args, r) {
			args = append(args, r)
		}
	}
	for _, l := range []*level{a, b} {
		inputs := make([]ad.Ref, len(args))
		for i, r := range args {
			in, ok := l.captured[capture{ref: r}]
			if !ok {
				in = l.g.Input(ad.Type{Shape: l.parent.g.Type(r).Shape})
			}
			inputs[i] = in
		}
		l.g.SetInputs(inputs)
	}
	return args
}
