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
	at  *context
	rep *reporter
	b   *builder
	arr *arrays
	mem *contents
	lp  *logDensity
	log *journal

	code   value  // how statements ended, where their signal is not certain
	result *value // of a return
}

// signal is how statements end: binder.code holds it where it is not certain, binder.result what
// they return.
type signal = static.Signal

const (
	goesOn    = static.GoesOn
	breaks    = static.Breaks
	continues = static.Continues
	returns   = static.Returns
)

// outcome is how one side of a conditional ended.
type outcome struct {
	sig    signal
	code   value
	result *value
}

// codeOf is the outcome as a number.
func (o outcome) codeOf() value {
	if o.sig.Certain() {
		return intValue(int64(o.sig))
	}
	return o.code
}

// choose runs then where cond is not 0 and els elsewhere: now, in lanes, or as a
// region of the graph.
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
		// The iterations that get here agree, so that recursion that data end does end.
		if all {
			return then()
		}
		return els()
	}
	cl.log.stats.Ifs++
	return cl.region(cond, then, els)
}

// taken tells whether some, and whether all, of the iterations that the branches
// under way leave may find the condition true.
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

// onlyIf runs rest where statements that ended with sig did so by one of the
// ways in on.
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

// isOneOf is the truth of code being in the set.
func (cl *control) isOneOf(code value, set signal) value {
	if code.ints != nil {
		ints := make([]int64, len(code.ints))
		for i, c := range code.ints {
			ints[i] = lanes.Truth(signal(c)&set != 0)
		}
		code.ints = ints
		return code
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

// recode replaces in the code of an outcome what is in from by to.
func (cl *control) recode(code value, from, to signal) value {
	if code.ints != nil {
		ints := slices.Clone(code.ints)
		for i, c := range ints {
			if signal(c)&from != 0 {
				ints[i] = int64(to)
			}
		}
		code.ints = ints
		return code
	}
	return cl.b.emit(types.IntType, []value{cl.isOneOf(code, from), code}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		return g.Select(a[0], g.Const(float64(to)), a[1])
	})
}

// loopEnds is how a loop ends whose iterations ended with sig.
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

// partition runs the sides of a conditional that data decide differently in
// different iterations, each in its own lanes.
func (cl *control) partition(cond value, then, els func() signal) signal {
	ax := lanes.Innermost(cl.at.axis, cond.axis)
	cl.rep.reserveLanes(ax.N)
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

// mergeResults makes one value of what the sides in their lanes return.
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
