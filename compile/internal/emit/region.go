package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/lang/types"
)

// branch is one side of a conditional that parameters decide, while it is being
// evaluated into a separate graph.
type branch struct {
	lvl    *level
	saved  map[*cell]state // content before the branch of the cells that it changed
	order  []*cell
	target []ad.Ref
	trips  bool // not a branch but the body of a loop that is a region
	outcome
}

// region evaluates both sides of a conditional that parameters decide, each
// into a separate graph, and adds the OpIf. What the sides assign, add to the
// log density and return become its results.
func (cl *control) region(cond value, then, els func() signal) signal {
	parent := cl.at.regionLevel()
	if cl.at.axis != nil && !cl.lp.inModel && !cl.at.hidden() && parent == levelOf(cl.at.axis) {
		// One decision per iteration even where the condition is the same in all,
		// because a side may draw random numbers.
		g := parent.g
		r := g.Spread(cl.b.use(cond, parent, cl.at.axis), cl.at.axis.N)
		cond = cl.b.wrap(r, parent, cl.at.axis, types.IntType, cond.param)
		cond.ints = nil
	}
	sides := [2]*branch{}
	for k, run := range []func() signal{then, els} {
		outer := (*axis)(nil)
		if parent == cl.at.lvl && !cl.at.hidden() {
			outer = cl.at.axis
		}
		lvl := newLevel(parent, outer)
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
		// Take the changed contents out of the cells and put the old ones back.
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
				// Any number will do where nothing is returned.
				v.lvl, v.axis, v.ints = cl.b.root, nil, nil
				v.ref = cl.b.root.g.Broadcast(cl.b.root.g.Const(0), v.shape)
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
			sum := g.Const(0)
			for _, r := range br.target {
				sum = g.Add(sum, r)
			}
			g.Output(sum)
		}
	}
	if len(t.lvl.g.Outputs) == 0 && len(t.lvl.g.Effects)+len(e.lvl.g.Effects) == 0 {
		cl.result = nil
		return union
	}
	args := unifyInputs(t.lvl, e.lvl)
	g := parent.g
	ax := cl.at.axis
	if parent != cl.at.lvl || cl.at.hidden() {
		ax = nil
	}
	c := cl.b.use(cond, parent, ax)
	g.SetSite(cl.b.site())
	r := g.Do(ad.OpIf, &ad.If{Then: t.lvl.g, Else: e.lvl.g}, append([]ad.Ref{c}, args...)...)
	if len(t.lvl.g.Effects)+len(e.lvl.g.Effects) > 0 {
		g.Effects = append(g.Effects, r)
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

// sidesResult is the type, shape and level of what the sides return; nil if that
// is no value.
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

// unifyInputs gives the two graphs of a conditional the same inputs in the same
// order, and returns the captured values of the level around.
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
		for i, in := range inputs {
			l.g.Nodes[in].Attr = i
		}
		l.g.Inputs = inputs
	}
	return args
}

// setInputs puts the inputs of a graph into that order.
func setInputs(g *ad.Graph, inputs []ad.Ref) {
	for k, in := range inputs {
		g.Nodes[in].Attr = k
	}
	g.Inputs = inputs
}
