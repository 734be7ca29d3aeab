package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/lang/types"
)

// axis is a set of iterations ("lanes") over which values vary. Its level is the graph that holds
// values with these lanes.
type axis = plan.Axis

func levelOf(ax *axis) *level { return ax.Level.(*level) }

// level is a graph under construction: the program's own, the body of a loop that is one region, or
// a branch of a conditional. Values of outer levels enter as inputs. A value that varies over the
// loop's iterations enters as a stream, one slice per iteration. Others are captured.
type level struct {
	g      *ad.Graph
	parent *level
	depth  int
	outer  *axis // axis in force around the region, which hides it
	loop   *axis // iterations of the loop whose body it is; nil for a branch
	steps  int   // number of iterations of that loop, per lane of outer
	flat   bool  // the iterations in all lanes around the loop are steps of one scan
	branch bool  // additions to the log density become results of the region
	laned  bool  // the graph will run in lanes, so it must have no lanes itself

	captured map[capture]ad.Ref // values that have entered
	args     []ad.Ref           // the parent's refs, in order of capture
	streams  []ad.Entry         // Lane is for flat levels
	captures []ad.Entry         // for a loop's body: args with their inputs
}

// capture identifies a value of a surrounding level, and how it enters.
type capture struct {
	ref    ad.Ref
	stream bool
}

func newLevel(parent *level, outer *axis) *level {
	return &level{g: parent.g.Sibling(), parent: parent, depth: parent.depth + 1, outer: outer, captured: map[capture]ad.Ref{}}
}

func deeper(a, b *level) *level {
	if b == nil || a != nil && a.depth >= b.depth {
		return a
	}
	return b
}

// value is a value of the language during evaluation: either known integers (per lane) or a
// reference into a graph. A value of a composite type consists of its leaves, and has no other
// fields set.
type value struct {
	typ   types.Type
	shape []int
	axis  *axis   // lanes; nil if the value is the same in all
	ints  []int64 // known integers: size of shape, times lanes
	lvl   *level
	ref   ad.Ref
	param bool // autodiff level, as declared

	leaves []value
}

// parts returns the leaves of a value; a simple value is its own leaf.
func (v value) parts() []value {
	if v.leaves != nil {
		return v.leaves
	}
	return []value{v}
}

// each applies f to every leaf of a value.
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

// composed returns a value of type t with these leaves.
func composed(t types.Type, leaves []value) value {
	if !t.Composite() {
		return leaves[0]
	}
	out := value{typ: t, leaves: slices.Clone(leaves)}
	for k, leaf := range t.Leaves() {
		if leaf.Part == types.ImagPart { // both parts of a complex number have the same level
			p := out.leaves[k-1].param || out.leaves[k].param
			out.leaves[k-1].param, out.leaves[k].param = p, p
		}
	}
	return out
}

func (v value) size() int { return ad.SizeOf(v.shape) }

func intValue(v int64) value { return value{typ: types.IntType, ints: []int64{v}} }

// known returns the known integers as a lanes.Value.
func (v value) known() lanes.Value { return lanes.Value{Shape: v.shape, Axis: v.axis, Ints: v.ints} }

// data returns the numbers of a value that data decide.
func (v value) data() (x lanes.Value, ok bool) {
	if x = v.known(); x.Ints == nil {
		x.Reals, _ = v.lvl.g.Value(v.ref)
	}
	return x, x.Ints != nil || x.Reals != nil
}

// ofLanes returns the value of known integers.
func ofLanes(v lanes.Value) value {
	return value{typ: types.Type{Kind: types.Int, Dims: len(v.Shape)}, shape: v.Shape, axis: v.Axis, ints: v.Ints}
}

// mapped applies f to each known integer.
func (v value) mapped(f func(x int64) int64) value {
	ints := make([]int64, len(v.ints))
	for i, x := range v.ints {
		ints[i] = f(x)
	}
	v.ints = ints
	return v
}

// arrayOf returns the type of arrays of ints, for ints, or else of reals.
func arrayOf(kind types.Kind, dims int) types.Type {
	if kind != types.Int {
		kind = types.Real
	}
	return types.Type{Kind: kind, Dims: dims}
}

// upTo returns the integers from 1 to n.
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

// context is the current state of evaluation. It alone decides where emitted nodes go: into which
// graph, with which lanes, and with which lanes excluded. Only the method with changes it.
type context struct {
	lvl      *level       // graph for side effects and conditional work
	axis     *axis        // lanes in force, hidden if they belong to a surrounding level; nil: none
	masks    []lanes.Mask // current conditions that are known per lane, where lanes are hidden
	branches []*branch    // the current branches
	nest     *nest        // the loop whose units are being evaluated; nil: none
	scan     *recurrence  // the recurrence whose steps are being evaluated; nil: none
}

// with runs fn in another context.
func (c *context) with(now context, fn func()) {
	old := *c
	defer func() { *c = old }()
	*c = now
	fn()
}

// in returns the context with the lanes of ax in force.
func (c context) in(ax *axis) context {
	c.axis = ax
	return c
}

// into returns the context within a branch, or the body of a region.
func (c context) into(br *branch) context {
	c.lvl, c.branches = br.lvl, append(slices.Clip(c.branches), br)
	return c
}

// where returns the context on one side of a condition that is known per lane.
func (c context) where(cond value, side bool) context {
	c.masks = append(slices.Clip(c.masks), lanes.Mask{Cond: cond.known(), Side: side})
	return c
}

// before returns the context before the loop of a nest.
func (c context) before(n *nest) context {
	c.nest, c.scan = n.around, nil
	return c
}

// outside returns the context for values that do not depend on the current recurrence. They are
// evaluated in lanes.
func (c context) outside() context {
	c.scan = nil
	return c
}

// hidden reports whether the lanes in force belong to a surrounding level.
func (c *context) hidden() bool { return c.axis != nil && levelOf(c.axis) != c.lvl }

// hiddenAxis reports whether the current region hides the lanes of ax.
func (c *context) hiddenAxis(ax *axis) bool { return ax != nil && levelOf(ax) != c.lvl }

// scanning reports whether the steps of a recurrence are being evaluated, outside of its regions.
func (c *context) scanning() bool {
	return c.scan != nil && c.lvl == levelOf(c.scan.dom)
}

// inOrder reports whether the current evaluation runs in program order, because all enclosing loops
// are regions or unrolled.
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

// mayBeSkipped reports whether the current statement may never be reached: it is in a branch that
// parameters decide.
func (c *context) mayBeSkipped() bool {
	for l := c.lvl; l != nil; l = l.parent {
		if l.branch && l.loop == nil {
			return true
		}
	}
	return false
}

// excluded returns the lanes of an axis that are excluded in the current context, or nil. A lane is
// excluded by a current branch with a known condition, or because no lane in force belongs to it
// (an inner loop without iterations there).
func (c *context) excluded(ax *axis) []bool { return lanes.Excluded(c.masks, c.axis, ax) }

// surroundings returns the level and the axis in force around a region that begins here.
func (c *context) surroundings() (*level, *axis) {
	switch {
	case c.scanning():
		return c.scan.lvl, nil
	case c.hidden():
		return c.lvl, nil
	}
	return c.lvl, c.axis
}

// narrow restricts known integers to the lanes in force. Iterations that a condition excludes then
// do not count (n - 1 where n > 1).
func (c *context) narrow(v value) value {
	if v.ints == nil || c.hidden() {
		return v
	}
	k := v.known().Narrow(c.axis)
	v.ints, v.axis = k.Ints, k.Axis
	return v
}
