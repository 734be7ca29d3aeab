package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
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
	return &level{g: parent.g.Beside(), parent: parent, depth: parent.depth + 1, outer: outer, captured: map[capture]ad.Ref{}}
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

func (v value) size() int { return sizeOf(v.shape) }

func intValue(v int64) value { return value{typ: types.IntType, ints: []int64{v}} }

// known are known integers without what else is said of a value.
func (v value) known() lanes.Value { return lanes.Value{Shape: v.shape, Axis: v.axis, Ints: v.ints} }

// ofLanes is a value of known integers.
func ofLanes(v lanes.Value) value {
	return value{typ: types.Type{Kind: types.Int, Dims: len(v.Shape)}, shape: v.Shape, axis: v.Axis, ints: v.Ints}
}

// scalarInt returns the value of an int scalar that is known and the same in
// all lanes.
func (v value) scalarInt() (int64, bool) {
	if v.ints != nil && v.axis == nil && len(v.shape) == 0 {
		return v.ints[0], true
	}
	return 0, false
}

func sizeOf(shape []int) int { return ad.SizeOf(shape) }

func sizeText(shape []int) string { return interp.SizeText(shape) }
