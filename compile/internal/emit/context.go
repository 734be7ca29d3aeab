package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/lanes"
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

// with runs fn in another context.
func (c *context) with(now context, fn func()) {
	old := *c
	defer func() { *c = old }()
	*c = now
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

// narrow leaves of known integers only those of the lanes in force, so that
// iterations that a condition excludes do not count (n - 1 where n > 1).
func (c *context) narrow(v value) value {
	if v.ints == nil || c.hidden() {
		return v
	}
	k := v.known().Narrow(c.axis)
	v.ints, v.axis = k.Ints, k.Axis
	return v
}
