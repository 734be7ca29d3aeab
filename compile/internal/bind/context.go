package bind

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/lang/types"
)

// context is where evaluation stands. It alone decides where what is emitted goes:
// into which graph, with which lanes, and what it leaves out. It is a value, changed
// by with alone.
type context struct {
	lvl      *level       // the graph where effects and conditional work go
	axis     *axis        // lanes in force, hidden if they are of a level around; nil: the uniform context
	masks    []lanes.Mask // conditions of the branches under way that are known per lane, where lanes are hidden
	branches []*branch    // under way
	nest     *nest        // the loop whose units are being evaluated; nil: none
	scan     *recurrence  // whose steps are being evaluated; nil: none
}

// with runs fn in a context.
func (b *binder) with(c context, fn func()) {
	old := b.context
	defer func() { b.context = old }()
	b.context = c
	fn()
}

// in is the context with the lanes of ax in force.
func (c context) in(ax *axis) context {
	c.axis = ax
	return c
}

// into is the context within a branch, or the body of a region.
func (c context) into(br *branch) context {
	c.lvl, c.branches = br.lvl, append(slices.Clip(c.branches), br)
	return c
}

// where is the context on one side of a condition that is known per lane.
func (c context) where(cond value, side bool) context {
	c.masks = append(slices.Clip(c.masks), lanes.Mask{Cond: cond.known(), Side: side})
	return c
}

// before is the context before the loop of a nest.
func (c context) before(n *nest) context {
	c.nest, c.scan = n.around, nil
	return c
}

// outside is the context of what has nothing to do with the recurrence under way: it
// is evaluated in lanes.
func (c context) outside() context {
	c.scan = nil
	return c
}

// hidden reports whether the lanes in force belong to a level around the
// present one.
func (c *context) hidden() bool { return c.axis != nil && levelOf(c.axis) != c.lvl }

// hiddenAxis reports whether lanes of ax cannot be told apart where evaluation
// stands, because a region hides them.
func (c *context) hiddenAxis(ax *axis) bool { return ax != nil && levelOf(ax) != c.lvl }

// scanning reports whether evaluation stands in the steps of a recurrence, outside
// of its regions.
func (c *context) scanning() bool {
	return c.scan != nil && c.lvl == levelOf(c.scan.dom)
}

// inOrder reports whether what is evaluated runs in the order of the program:
// all loops under way are regions or unrolled.
func (c *context) inOrder() bool {
	for ax := c.axis; ax != nil; ax = ax.Parent {
		l := c.lvl
		for l != nil && l.loop != ax {
			l = l.parent
		}
		if l == nil {
			return false
		}
	}
	return true
}

// mayBeSkipped reports whether what is evaluated may never be reached: it stands
// in a branch that parameters decide.
func (c *context) mayBeSkipped() bool {
	for l := c.lvl; l != nil; l = l.parent {
		if l.branch && l.loop == nil {
			return true
		}
	}
	return false
}

// excluded tells for every lane of an axis whether it is left out where evaluation
// stands: by branches under way whose conditions are known, or because no lane in force
// belongs to it (a loop within has no iterations there); nil if none is.
func (c *context) excluded(ax *axis) []bool { return lanes.Excluded(c.masks, c.axis, ax) }

// regionLevel is the level around a region that begins here.
func (c *context) regionLevel() *level {
	if c.scanning() {
		return c.scan.lvl
	}
	return c.lvl
}

// surroundings are the level and the axis in force where a region is to stand.
func (c *context) surroundings() (*level, *axis) {
	parent := c.regionLevel()
	if parent == c.lvl && !c.hidden() {
		return parent, c.axis
	}
	return parent, nil
}

// ---- emission ----

// emit adds a computation on args, in the innermost level that one of them or
// the surrounding branch needs, and wraps its result.
func (b *binder) emit(typ types.Type, args []value, build func(g *ad.Graph, a []ad.Ref) ad.Ref) value {
	lvl, ax := b.place(args, false)
	return b.emitAt(lvl, ax, typ, args, build)
}

// emitMove is emit for computations that only move data: they may leave a
// branch, since they cannot fail and have no separate derivative.
func (b *binder) emitMove(typ types.Type, args []value, build func(g *ad.Graph, a []ad.Ref) ad.Ref) value {
	lvl, ax := b.place(args, true)
	return b.emitAt(lvl, ax, typ, args, build)
}

// emitEffect adds an effect on args, in the level where it applies.
func (b *binder) emitEffect(args []value, add func(g *ad.Graph, a []ad.Ref)) {
	lvl := b.lvl
	for _, a := range args {
		lvl = deeper(lvl, a.lvl)
	}
	ax := b.axis
	if ax != nil && levelOf(ax) != lvl {
		ax = nil
	}
	refs := make([]ad.Ref, len(args))
	for i, a := range args {
		refs[i] = b.use(a, lvl, ax)
	}
	lvl.g.SetSite(b.site())
	add(lvl.g, refs)
}

func (b *binder) emitAt(lvl *level, ax *axis, typ types.Type, args []value, build func(g *ad.Graph, a []ad.Ref) ad.Ref) value {
	refs := make([]ad.Ref, len(args))
	param := false
	for i, a := range args {
		refs[i] = b.use(a, lvl, ax)
		param = param || a.param
	}
	lvl.g.SetSite(b.site())
	return b.wrap(build(lvl.g, refs), lvl, ax, typ, param)
}

// place decides on the level and the axis of a computation on args.
func (b *binder) place(args []value, move bool) (*level, *axis) {
	lvl := b.root
	var ax *axis
	constant := true
	for _, a := range args {
		if a.axis != nil && (ax == nil || ax.Within(a.axis)) {
			ax = a.axis
		}
		if a.ints != nil {
			if a.axis != nil {
				lvl = deeper(lvl, levelOf(a.axis))
			}
			continue
		}
		lvl = deeper(lvl, a.lvl)
		if _, ok := a.lvl.g.Value(a.ref); !ok {
			constant = false
		}
	}
	if !move && !constant && b.lvl.depth > lvl.depth {
		lvl = b.lvl // a branch: not evaluated unless taken
	}
	if ax != nil && levelOf(ax) != lvl {
		ax = nil // hidden by the region
		for _, a := range args {
			if a.axis != nil && levelOf(a.axis) == lvl && (ax == nil || ax.Within(a.axis)) {
				ax = a.axis
			}
		}
	}
	if !move {
		ax = b.domain(ax)
	}
	return lvl, ax
}

// placeChecked is place of what checks its arguments: in a branch that parameters decide
// the checks belong to the branch, of constants too.
func (b *binder) placeChecked(args []value) (*level, *axis) {
	lvl, ax := b.place(args, false)
	if b.lvl.branch {
		lvl = deeper(lvl, b.lvl)
		if ax != nil && levelOf(ax) != lvl {
			ax = nil
		}
	}
	return lvl, ax
}

// domain is the axis on which something is computed whose arguments have the
// lanes of ax: these, unless the iterations in force leave some of them out.
func (b *binder) domain(ax *axis) *axis {
	if ax == nil || b.axis == nil || b.axis == ax || levelOf(b.axis) != levelOf(ax) || !ax.Within(b.axis) {
		return ax
	}
	subset := false
	for a := b.axis; a != ax; a = a.Parent {
		subset = subset || a.Subset
	}
	if !subset {
		return ax
	}
	key := [2]*axis{b.axis, ax}
	all, ok := b.covered[key]
	if !ok {
		seen, n := make([]bool, ax.N), 0
		for _, l := range b.axis.LanesOf(ax) {
			if !seen[l] {
				seen[l] = true
				n++
			}
		}
		all = n == ax.N
		b.covered[key] = all
	}
	if all {
		return ax
	}
	return b.axis
}
