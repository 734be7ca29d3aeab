package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/lang/types"
)

// axis is a set of iterations ("lanes") over which values vary. Its level is where values with
// these lanes live.
type axis = plan.Axis

func levelOf(ax *axis) *level { return ax.Level.(*level) }

// level is a graph under construction: the program's own, the body of a loop
// that is one region, or a branch of a conditional. Values of outer levels enter
// as inputs: captured, or, of those that vary over the loop's iterations, one
// slice for each.
type level struct {
	g      *ad.Graph
	parent *level
	depth  int
	outer  *axis // axis in force where the region stands; hidden inside
	loop   *axis // the iterations of a loop's body; nil for a branch
	steps  int   // iterations of that loop, per lane of outer
	flat   bool  // the iterations in all lanes around the loop are steps of one scan
	branch bool  // additions to the log density are results of the region
	laned  bool  // the graph is put where there are lanes, so that it must have none

	captured map[capture]ad.Ref // what has entered
	args     []ad.Ref           // the parent's refs, in order of capture
	streams  []link
	captures []link // of a loop's body: the same as args, with their inputs
}

// capture names a value of the level around, and how it enters.
type capture struct {
	ref    ad.Ref
	stream bool
}

// link is a value of the level around and the body's input for it. flat is, for
// a stream of a flat level, the value in lanes of the loop.
type link struct{ outer, in, flat ad.Ref }

func newLevel(parent *level, outer *axis) *level {
	return &level{g: parent.g.Sibling(), parent: parent, depth: parent.depth + 1, outer: outer, captured: map[capture]ad.Ref{}}
}

func deeper(a, b *level) *level {
	if b == nil || a != nil && a.depth >= b.depth {
		return a
	}
	return b
}

// value is a value of the language in the middle of evaluation: either integers
// that are known (per lane), or a reference into a graph. A value of a composite
// type is its leaves alone, which have all that is said of it.
type value struct {
	typ   types.Type
	shape []int
	axis  *axis   // lanes; nil if the same in all
	ints  []int64 // known integers: size of shape, times lanes
	lvl   *level
	ref   ad.Ref
	param bool // autodiff level, by declaration

	leaves []value
}

// parts are the leaves of a value, which is itself one if it is simple.
func (v value) parts() []value {
	if v.leaves != nil {
		return v.leaves
	}
	return []value{v}
}

// each does the same with every leaf of a value.
func (v value) each(f func(k int, leaf value) value) value {
	if v.leaves == nil {
		return f(0, v)
	}
	out := value{typ: v.typ, leaves: make([]value, len(v.leaves))}
	for k, leaf := range v.leaves {
		out.leaves[k] = f(k, leaf)
	}
	return out
}

// composed makes a value of a type from its leaves.
func composed(t types.Type, leaves []value) value {
	if !t.Composite() {
		return leaves[0]
	}
	out := value{typ: t, leaves: slices.Clone(leaves)}
	for k, leaf := range t.Leaves() {
		if leaf.Part == types.ImagPart { // a complex number has one level
			p := out.leaves[k-1].param || out.leaves[k].param
			out.leaves[k-1].param, out.leaves[k].param = p, p
		}
	}
	return out
}

func (v value) size() int { return ad.SizeOf(v.shape) }

func intValue(v int64) value { return value{typ: types.IntType, ints: []int64{v}} }

// known are known integers without what else is said of a value.
func (v value) known() lanes.Value { return lanes.Value{Shape: v.shape, Axis: v.axis, Ints: v.ints} }

// ofLanes is a value of known integers.
func ofLanes(v lanes.Value) value {
	return value{typ: types.Type{Kind: types.Int, Dims: len(v.Shape)}, shape: v.Shape, axis: v.Axis, ints: v.Ints}
}

// mapped are known integers, each made another.
func (v value) mapped(f func(x int64) int64) value {
	ints := make([]int64, len(v.ints))
	for i, x := range v.ints {
		ints[i] = f(x)
	}
	v.ints = ints
	return v
}

// upTo are the integers from 1 to n.
func upTo(n int) value {
	v := value{typ: types.Type{Kind: types.Int, Dims: 1}, shape: []int{n}, ints: make([]int64, n)}
	for i := range v.ints {
		v.ints[i] = int64(i) + 1
	}
	return v
}

// scalarInt returns the value of an int scalar that is known and the same in
// all lanes.
func (v value) scalarInt() (int64, bool) {
	if v.ints != nil && v.axis == nil && len(v.shape) == 0 {
		return v.ints[0], true
	}
	return 0, false
}

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
