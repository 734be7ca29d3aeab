package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

type alignKey struct {
	g   *ad.Graph
	ref ad.Ref
	ax  *axis
}

// builder adds nodes to graphs.
type builder struct {
	at  *context
	rep *reporter

	root    *level // the graph being built
	aligned map[alignKey]ad.Ref
	covered map[[2]*axis]bool // every lane of the second axis has one of the first, inside it

	sites    []source.Span
	calls    []source.Span // by ad.Site, for those in the library: the call in the program
	lastSite ad.Site
	siteOf   map[sitePlace]ad.Site
}

// use returns v as a node of level lvl, aligned to ax, the axis in force there. lvl must be v's
// level or inside it.
func (b *builder) use(v value, lvl *level, ax *axis) ad.Ref {
	v = b.numeric(v)
	if v.lvl == lvl {
		return b.align(v, ax)
	}
	if data, ok := v.lvl.g.Value(v.ref); ok && v.axis == nil {
		return lvl.g.ConstArray(v.lvl.g.Type(v.ref), data)
	}
	return b.enter(v, lvl)
}

// enter brings v into the region lvl from a surrounding level. Loops in between over which v varies
// take slices of it; other loops and branches capture it.
func (b *builder) enter(v value, lvl *level) ad.Ref {
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
	if len(sliced) == 0 {
		r = v.ref
		if v.axis != nil && path[0].flat { // v differs between the lanes of the steps
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
				l.streams = append(l.streams, ad.Entry{In: in, Outer: r, Lane: flat})
			case l.loop != nil:
				l.captures = append(l.captures, ad.Entry{In: in, Outer: r})
			default:
				l.args = append(l.args, r)
			}
		}
		r = in
	}
	return r
}

// align repeats v's lanes for the lanes of ax, an axis inside v's. A value without lanes does not
// change.
func (b *builder) align(v value, ax *axis) ad.Ref {
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
	b.rep.Reserve(4, ax.N)
	ix := lanes.Contiguous(v.shape)
	ix.Dims = append([]ad.Dim{lanes.Table(plan.FlatBase(nil, nil, v.axis, ax, v.size()))}, ix.Dims...)
	r := g.Lane(g.Gather(g.Unlane(v.ref), lanes.Affine(ix)))
	b.aligned[key] = r
	return r
}

// numeric gives v a node in a graph: known integers become constants.
func (b *builder) numeric(v value) value {
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

// wrap returns the value of a node.
func (b *builder) wrap(r ad.Ref, lvl *level, ax *axis, typ types.Type, param bool) value {
	t := lvl.g.Type(r)
	// An int always has data level, since it has no derivative.
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

// filled returns a value whose elements are all x.
func (b *builder) filled(x float64, typ types.Type, shape []int) value {
	return value{typ: typ, shape: shape, lvl: b.root, ref: b.root.g.Broadcast(b.root.g.Const(x), shape)}
}

func sumOf(g *ad.Graph, list []ad.Ref) ad.Ref {
	sum := list[0]
	for _, r := range list[1:] {
		sum = g.Add(sum, r)
	}
	return sum
}

// notZero returns the truth value of an int, 0 or 1.
func (b *builder) notZero(v value) value {
	if v.ints != nil {
		return v.mapped(func(x int64) int64 { return lanes.Truth(x != 0) })
	}
	return b.emit(types.IntType, []value{v}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		return g.Do(ad.OpNotEqual, nil, a[0], g.Const(0))
	})
}

// refund returns a function for the end of a part of the program. It gives back all memory taken
// since refund was called, except for memory that the graph keeps.
func (b *builder) refund() (free func()) {
	g, budget := b.root.g, b.rep.opts.Budget
	kept, used := g.Taken(), budget.Used()
	return func() { budget.Back(used + g.Taken() - kept) }
}

// emit adds a computation on args, in the innermost level that one of them or the surrounding
// branch needs, and wraps its result.
func (b *builder) emit(typ types.Type, args []value, build func(g *ad.Graph, a []ad.Ref) ad.Ref) value {
	lvl, ax := b.levelFor(args, false)
	return b.emitAt(lvl, ax, typ, args, build)
}

// emitMove is emit for computations that only move data. They may be placed outside a branch, since
// they cannot fail and have no separate derivative.
func (b *builder) emitMove(typ types.Type, args []value, build func(g *ad.Graph, a []ad.Ref) ad.Ref) value {
	lvl, ax := b.levelFor(args, true)
	return b.emitAt(lvl, ax, typ, args, build)
}

// emitEffect adds a side effect on args, in the level where it applies.
func (b *builder) emitEffect(args []value, add func(g *ad.Graph, a []ad.Ref)) {
	lvl := b.at.lvl
	for _, a := range args {
		lvl = deeper(lvl, a.lvl)
	}
	ax := b.at.axis
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

// rejectIf adds a rejection if an element of cond is not 0.
func (b *builder) rejectIf(cond value, m *ad.Message, args ...value) {
	b.emitEffect(append([]value{cond}, args...), func(g *ad.Graph, a []ad.Ref) { g.RejectIf(g.Sum(a[0]), m, a[1:]...) })
}

func (b *builder) emitAt(lvl *level, ax *axis, typ types.Type, args []value, build func(g *ad.Graph, a []ad.Ref) ad.Ref) value {
	refs := make([]ad.Ref, len(args))
	param := false
	for i, a := range args {
		refs[i] = b.use(a, lvl, ax)
		param = param || a.param
	}
	lvl.g.SetSite(b.site())
	return b.wrap(build(lvl.g, refs), lvl, ax, typ, param)
}

// levelFor chooses the level and the axis of a computation on args.
func (b *builder) levelFor(args []value, move bool) (*level, *axis) {
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
	if !move && !constant && b.at.lvl.depth > lvl.depth {
		lvl = b.at.lvl // in a branch: evaluated only if the branch is taken
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

// levelForChecks is levelFor for computations that check their arguments. In a branch that
// parameters decide, checks belong to the branch, even those of constants.
func (b *builder) levelForChecks(args []value) (*level, *axis) {
	lvl, ax := b.levelFor(args, false)
	if b.at.lvl.branch {
		lvl = deeper(lvl, b.at.lvl)
		if ax != nil && levelOf(ax) != lvl {
			ax = nil
		}
	}
	return lvl, ax
}

// domain returns the axis for a computation whose arguments have the lanes of ax. It is ax, unless
// the current iterations exclude some of its lanes.
func (b *builder) domain(ax *axis) *axis {
	if ax == nil || b.at.axis == nil || b.at.axis == ax || levelOf(b.at.axis) != levelOf(ax) || !ax.Within(b.at.axis) {
		return ax
	}
	subset := false
	for a := b.at.axis; a != ax; a = a.Parent {
		subset = subset || a.Subset
	}
	if !subset {
		return ax
	}
	key := [2]*axis{b.at.axis, ax}
	all, ok := b.covered[key]
	if !ok {
		seen, n := make([]bool, ax.N), 0
		for _, l := range b.at.axis.LanesOf(ax) {
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
	return b.at.axis
}

// sitePlace is a position in the source, and for one in the library the call in the program.
type sitePlace struct{ at, call source.Span }

// site returns the number of the current source position, for nodes.
func (b *builder) site() ad.Site {
	place := sitePlace{at: b.rep.span}
	if b.rep.span.InLibrary() {
		place.call = b.rep.entered
	}
	if b.sites[b.lastSite] == place.at && b.calls[b.lastSite] == place.call {
		return b.lastSite
	}
	id, ok := b.siteOf[place]
	if !ok {
		id = ad.Site(len(b.sites))
		b.sites, b.calls = append(b.sites, place.at), append(b.calls, place.call)
		b.siteOf[place] = id
	}
	b.lastSite = id
	return id
}

// arrays moves elements of arrays.
type arrays struct {
	at  *context
	rep *reporter
	b   *builder
}

// gather reads the elements of acc from v.
func (ar *arrays) gather(v value, acc lanes.Access, typ types.Type) value {
	if v.ints != nil {
		ar.rep.Reserve(8, acc.Index.Size(), plan.Lanes(lanes.Innermost(v.axis, acc.Axis)))
		out := ofLanes(v.known().Gather(acc))
		out.typ, out.param = typ, v.param
		return out
	}
	if acc.Axis == nil {
		return ar.b.emitMove(typ, []value{v}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Gather(a[0], acc.Index) })
	}
	ax := lanes.Innermost(v.axis, acc.Axis)
	if v.lvl.depth > levelOf(ax).depth {
		return ar.take(v, ofLanes(acc.Positions()), typ)
	}
	lvl := levelOf(ax)
	ar.rep.Reserve(4, ax.N)
	base := acc.FlatBase(v.axis, ax, v.size())
	ix := acc.Index
	ix.Dims = append([]ad.Dim{lanes.Table(base)}, ix.Dims...)
	ix = lanes.Affine(ix)
	var r ad.Ref
	if v.lvl == lvl {
		r = lvl.g.Unlane(v.ref)
	} else {
		if v.axis != nil {
			panic(&fault{Reason: "lanes of an outer region"})
		}
		r = ar.b.use(v, lvl, nil)
	}
	lvl.g.SetSite(ar.b.site())
	return ar.b.wrap(lvl.g.Lane(lvl.g.Gather(r, ix)), lvl, ax, typ, v.param)
}

// assembly collects the arrays (parts) whose elements form a new array. Each part has a key.
type assembly[K comparable] struct {
	parts []value
	start map[K]int32 // by part: its start in the concatenation of all
	total int32
}

// part returns the start of the part with a key. On first use, it gets the part from get.
func (a *assembly[K]) part(key K, get func() value) int32 {
	at, ok := a.start[key]
	if !ok {
		v := get()
		if a.start == nil {
			a.start = map[K]int32{}
		}
		at = a.total
		a.start[key] = at
		a.parts = append(a.parts, v)
		a.total += int32(v.size())
	}
	return at
}

// elementsOf returns the elements at positions `at` of the concatenated parts, as one dimension.
func (ar *arrays) elementsOf(parts []value, at []int32, kind types.Kind) value {
	ix := lanes.Affine(ad.Index{Dims: []ad.Dim{lanes.Table(at)}})
	return ar.b.emitMove(arrayOf(kind, 1), parts, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		src := a[0]
		if len(a) > 1 {
			src = g.Concat(a...)
		}
		return g.Gather(src, ix)
	})
}

// flatten returns the values of v in all lanes of ax as a one-dimensional array, lane after lane.
func (ar *arrays) flatten(v value, ax *axis) value {
	v = ar.b.numeric(v)
	if ax == nil {
		return ar.b.emitMove(v.typ, []value{v}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
			return g.Reshape(a[0], []int{v.size()})
		})
	}
	if v.lvl.depth > levelOf(ax).depth {
		panic(&fault{Reason: "a value computed in a branch"})
	}
	g := levelOf(ax).g
	r := g.Spread(ar.b.use(v, levelOf(ax), ax), ax.N)
	r = g.Reshape(g.Unlane(r), []int{ax.N * v.size()})
	return value{typ: v.typ, shape: g.Type(r).Shape, lvl: levelOf(ax), ref: r, param: v.param}
}

// unflatten is the inverse of flatten.
func (ar *arrays) unflatten(v value, ax *axis, shape []int, typ types.Type) value {
	if ax == nil {
		return ar.b.emitMove(typ, []value{v}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Reshape(a[0], shape) })
	}
	g := v.lvl.g
	r := g.Lane(g.Reshape(v.ref, append([]int{ax.N}, shape...)))
	return ar.b.wrap(r, v.lvl, ax, typ, v.param)
}

// take reads the elements at positions, counted from 0 in the flat x.
func (ar *arrays) take(x, pos value, typ types.Type) value {
	v := ar.b.emit(typ, []value{ar.b.numeric(x), ar.b.numeric(pos)}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Take(a[0], a[1]) })
	v.param = x.param
	return v
}

// replace returns x with the elements at positions replaced by v.
func (ar *arrays) replace(x, v, pos value) value {
	out := ar.b.emit(x.typ, []value{ar.b.numeric(x), ar.b.numeric(v), ar.b.numeric(pos)}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		return g.Replace(a[0], g.Broadcast(a[1], g.Type(a[2]).Shape), a[2])
	})
	out.param = x.param || v.param
	return out
}

// shaped returns v with the given shape.
func (ar *arrays) shaped(v value, shape []int, typ types.Type) value {
	if !slices.Equal(v.shape, shape) {
		return ar.reshape(v, shape, typ)
	}
	v.typ = typ
	return v
}

func (ar *arrays) reshape(v value, shape []int, typ types.Type) value {
	if v.ints != nil {
		v.shape, v.typ = shape, typ
		return v
	}
	return ar.b.emitMove(typ, []value{v}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Reshape(a[0], shape) })
}

// unset returns the content of a variable before its first assignment.
func (ar *arrays) unset(typ types.Type, shape []int) value {
	n := ad.SizeOf(shape)
	if typ.Kind == types.Int {
		ar.rep.Reserve(8, n)
		return value{typ: typ, shape: shape, ints: slices.Repeat([]int64{-1 << 31}, n)}
	}
	if n == 0 {
		return value{typ: typ, shape: shape, lvl: ar.b.root, ref: ar.b.root.g.ConstArray(ad.Type{Shape: shape}, nil)}
	}
	return ar.b.filled(nan, typ, shape)
}

// convert promotes known integers stored in a real variable.
func (ar *arrays) convert(v value, to types.Type) value {
	if to.Kind != types.Int && v.ints != nil {
		v = ar.b.numeric(v)
	}
	return v
}

// narrowTo restricts a value to the lanes in force, a subset of its lanes.
func (ar *arrays) narrowTo(val value) value {
	r := ar.b.align(ar.b.numeric(val), ar.at.axis)
	return ar.b.wrap(r, val.lvl, ar.at.axis, val.typ, val.param)
}
