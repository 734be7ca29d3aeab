package bind

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

// use returns v as a node of level lvl, which is v's own or inside it, aligned
// to ax, the axis in force at that level.
func (b *binder) use(v value, lvl *level, ax *axis) ad.Ref {
	v = b.numeric(v)
	if v.lvl == lvl {
		return b.align(v, ax)
	}
	if data, ok := v.lvl.g.Value(v.ref); ok && v.axis == nil {
		return lvl.g.ConstArray(v.lvl.g.Type(v.ref), data)
	}
	return b.enter(v, lvl)
}

// enter brings v into the region lvl from a level around it: sliced by the loops
// in between over which it varies, captured by the others and by branches.
func (b *binder) enter(v value, lvl *level) ad.Ref {
	var path []*level // from v's level inwards
	for l := lvl; l != v.lvl; l = l.parent {
		if l == nil {
			panic(&fault{Reason: "a value of another region"})
		}
		path = append(path, l)
	}
	slices.Reverse(path)
	var sliced []*level
	if v.axis != nil {
		for _, l := range path {
			if l.loop != nil && l.loop.Within(v.axis) {
				sliced = append(sliced, l)
			}
		}
	}
	var r, flat ad.Ref
	if in, ok := b.sameSlices(v, sliced); ok {
		r, path = in, path[slices.Index(path, sliced[0]):]
	} else if len(sliced) == 0 {
		r = v.ref
		if v.axis != nil && path[0].flat { // differs between the lanes that the steps run through
			v = b.wrap(b.align(v, path[0].loop), v.lvl, path[0].loop, v.typ, v.param)
			return b.enter(v, lvl)
		}
		if v.axis != nil {
			r = b.align(v, path[0].outer)
		}
	} else {
		first, last := sliced[0], sliced[len(sliced)-1]
		around := first.loop.Parent
		if first.flat {
			around = nil
		}
		if last.loop != v.axis || around != path[0].outer && around != nil {
			panic(&fault{Reason: "a value that varies over some iterations of a region"})
		}
		g := v.lvl.g
		var shape []int
		if around != nil {
			shape = append(shape, first.loop.N/first.steps)
		}
		for _, l := range sliced {
			shape = append(shape, l.steps)
		}
		r = g.Reshape(g.Unlane(v.ref), append(shape, v.shape...))
		if first.flat {
			flat = g.Lane(r)
		}
		if around != nil {
			r = g.Lane(r)
		}
	}
	for _, l := range path {
		t := ad.Type{Shape: l.parent.g.Type(r).Shape}
		key := capture{r, l.loop != nil && slices.Contains(sliced, l)}
		in, ok := l.captured[key]
		if !ok {
			if key.stream {
				t.Shape = t.Shape[1:]
			}
			in = l.g.Input(t)
			l.captured[key] = in
			switch {
			case key.stream:
				l.streams = append(l.streams, link{r, in, flat})
			case l.loop != nil:
				l.captures = append(l.captures, link{outer: r, in: in})
			default:
				l.args = append(l.args, r)
			}
		}
		r = in
	}
	return r
}

// sameSlices is, of a known value that the loops of levels slice, what each of the lanes around
// them has, where that is the same: one array in the graph around the loops, so that what is
// computed of it alone is known too, and not each lane's own. An iteration's number is so.
func (b *binder) sameSlices(v value, levels []*level) (ad.Ref, bool) {
	if len(levels) == 0 || levels[0].flat || levels[len(levels)-1].loop != v.axis {
		return ad.None, false
	}
	data, ok := v.lvl.g.Value(v.ref)
	if !ok {
		return ad.None, false
	}
	size := sizeOf(v.shape)
	var shape []int
	for _, l := range levels {
		size *= l.steps
		shape = append(shape, l.steps)
	}
	for i := size; i < len(data); i += size {
		if !slices.Equal(data[i:i+size], data[:size]) {
			return ad.None, false
		}
	}
	g := levels[0].parent.g
	return g.ConstArray(ad.Type{Shape: append(shape, v.shape...)}, slices.Clone(data[:size])), true
}

// align repeats v's lanes for the lanes of ax, an axis inside v's; a value
// without lanes stays as it is.
func (b *binder) align(v value, ax *axis) ad.Ref {
	if v.axis == nil || v.axis == ax {
		return v.ref
	}
	if ax == nil || !v.axis.Within(ax) {
		panic(&fault{Reason: "a value that varies over another loop's iterations"})
	}
	g := v.lvl.g
	key := alignKey{g, v.ref, ax}
	if r, ok := b.aligned[key]; ok {
		return r
	}
	size := v.size()
	b.reserve(4, ax.N)
	up := ax.LanesOf(v.axis)
	ix := lanes.Contiguous(v.shape)
	ix.Dims = append([]ad.Dim{lanes.Table(scaled(up, size))}, ix.Dims...)
	r := g.Lane(g.Gather(g.Unlane(v.ref), lanes.Affine(ix)))
	b.aligned[key] = r
	return r
}

type alignKey struct {
	g   *ad.Graph
	ref ad.Ref
	ax  *axis
}

func scaled(t []int32, by int) []int32 {
	if by == 1 {
		return t
	}
	s := make([]int32, len(t))
	for i, v := range t {
		s[i] = v * int32(by)
	}
	return s
}

// numeric gives v a node in a graph: known integers become constants.
func (b *binder) numeric(v value) value {
	if v.ints == nil {
		return v
	}
	t := ad.Type{Shape: v.shape}
	lvl := b.root
	if v.axis != nil {
		t.Lanes, lvl = v.axis.N, levelOf(v.axis)
	}
	lvl.g.SetSite(b.site())
	data := lvl.g.Array(len(v.ints))
	for i, x := range v.ints {
		data[i] = float64(x)
	}
	v.ref, v.lvl, v.ints = lvl.g.ConstArray(t, data), lvl, nil
	return v
}

// wrap makes a value of a node.
func (b *binder) wrap(r ad.Ref, lvl *level, ax *axis, typ types.Type, param bool) value {
	t := lvl.g.Type(r)
	// An int is of data level whatever it was computed from: it has no derivative.
	v := value{typ: typ, shape: t.Shape, lvl: lvl, ref: r, param: param && typ.Kind != types.Int}
	if t.Lanes > 0 {
		v.axis = ax
	}
	if typ.Kind == types.Int {
		if data, ok := lvl.g.Value(r); ok {
			v.ints = make([]int64, len(data))
			for i, x := range data {
				v.ints[i] = int64(x)
			}
		}
	}
	return v
}

// narrow leaves of known integers only those of the lanes in force, so that
// iterations that a condition excludes do not count (n - 1 where n > 1).
func (b *binder) narrow(v value) value {
	if v.ints == nil || b.hidden() {
		return v
	}
	k := v.known().Narrow(b.axis)
	v.ints, v.axis = k.Ints, k.Axis
	return v
}

func sizeOf(shape []int) int { return ad.SizeOf(shape) }

func sumOf(g *ad.Graph, list []ad.Ref) ad.Ref {
	sum := list[0]
	for _, r := range list[1:] {
		sum = g.Add(sum, r)
	}
	return sum
}

// notZero is the truth of an int, 0 or 1.
func (b *binder) notZero(v value) value {
	if v.ints != nil {
		ints := make([]int64, len(v.ints))
		for i, x := range v.ints {
			ints[i] = lanes.Truth(x != 0)
		}
		v.ints = ints
		return v
	}
	return b.emit(types.IntType, []value{v}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		return g.Do(ad.OpNotEqual, nil, a[0], g.Const(0))
	})
}

func sizeText(shape []int) string { return interp.SizeText(shape) }
