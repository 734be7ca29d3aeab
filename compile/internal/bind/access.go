package bind

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// access is a set of elements of a container, per lane: position p of lane l is
// element base[l] + ix(p) of the container's flat storage.
type access struct {
	axis *axis
	base []int32 // one per lane of axis; nil if axis is nil
	ix   ad.Index
	out  []bool // lanes that a condition leaves out, whose index is wrong; nil: none
	none bool   // of a container without elements: whoever gets here has been rejected
}

// wholeOf is the access of everything.
func wholeOf(shape []int) access { return access{ix: contiguous(shape)} }

func (a access) isWhole(size int) bool {
	if a.axis != nil || a.ix.Offset != 0 {
		return false
	}
	n, stride := 1, 1
	for k := len(a.ix.Dims) - 1; k >= 0; k-- {
		d := a.ix.Dims[k]
		if d.N != 1 && (d.Table != nil || d.Stride != stride) {
			return false
		}
		stride *= d.N
		n *= d.N
	}
	return n == size
}

// offsets are the elements of the uniform part, in order.
func (a access) offsets() []int32 {
	out := make([]int32, 0, a.ix.Size())
	a.ix.Each(func(_, e int) { out = append(out, int32(e)) })
	return out
}

// access evaluates indices into a container of that shape, checking bounds; ok
// is false if an index is computed only when the program runs.
func (b *binder) access(shape []int, indices []ir.Index, what string) (acc access, ok bool) {
	stride := 1
	for _, d := range shape {
		stride *= d
	}
	addLanes := func(ax *axis, ints []int64, stride int) {
		if acc.axis == nil {
			acc.axis, acc.base = ax, make([]int32, ax.N)
		} else if acc.axis != ax {
			if acc.axis.Within(ax) {
				up := ax.LanesOf(acc.axis)
				wide := make([]int32, ax.N)
				for l := range wide {
					wide[l] = acc.base[up[l]]
				}
				acc.axis, acc.base = ax, wide
			} else {
				up := acc.axis.LanesOf(ax)
				wide := make([]int64, acc.axis.N)
				for l := range wide {
					wide[l] = ints[up[l]]
				}
				ints = wide
			}
		}
		for l, i := range ints {
			acc.base[l] += int32(int(i-1) * stride)
		}
	}
	var outs []outLanes
	nothing := false // an index selects nothing, after which none is looked at
	for k, size := range shape {
		stride /= max(size, 1)
		if k >= len(indices) {
			acc.ix.Dims = append(acc.ix.Dims, ad.Dim{N: size, Stride: stride})
			continue
		}
		ix := indices[k]
		unseen := nothing || ix.After != nil && b.eval(ix.After).size() == 0
		check := func(i value) value {
			if unseen {
				return i
			}
			i, out, none := b.inRange(i, size, k+1, ix, what)
			acc.none = acc.none || none
			if out != nil {
				outs = append(outs, outLanes{i.axis, out})
			}
			return i
		}
		switch ix.Kind {
		case ir.IndexSingle:
			i := b.eval(ix.A)
			if i.ints == nil {
				return access{}, false
			}
			if i = check(i); unseen {
				continue
			}
			if i.axis == nil {
				acc.ix.Offset += int(i.ints[0]-1) * stride
			} else {
				addLanes(i.axis, i.ints, stride)
			}
		case ir.IndexMulti:
			i := b.eval(ix.A)
			if i.ints == nil {
				return access{}, false
			}
			if i.axis != nil {
				return access{}, false
			}
			i = check(i)
			nothing = nothing || ix.Ends && len(i.ints) == 0
			t := make([]int32, len(i.ints))
			for p, v := range i.ints {
				t[p] = int32(int(v-1) * stride)
			}
			acc.ix.Dims = append(acc.ix.Dims, tableDim(t))
		case ir.IndexRange:
			from, to := b.bounds(ix, size)
			if from.ints == nil || to.ints == nil {
				return access{}, false
			}
			ax := innermost(from.axis, to.axis)
			n, starts := b.sliceLanes(from, to, ax)
			if wrong := wrongParts(ix.Part, from, to, size); wrong.ints != nil {
				check(wrong)
			}
			nothing = nothing || ix.Ends && n == 0
			if n == 0 || unseen {
				acc.ix.Dims = append(acc.ix.Dims, ad.Dim{N: n, Stride: stride})
				continue
			}
			starts = check(starts)
			starts.ints = slices.Clone(starts.ints)
			ends := starts
			ends.ints = make([]int64, len(starts.ints))
			for l, i := range starts.ints {
				ends.ints[l] = i + int64(n) - 1
			}
			for l, i := range check(ends).ints { // where the end was wrong, any other slice will do
				if i != ends.ints[l] {
					ends.ints[l] = int64(n)
				}
				starts.ints[l] = ends.ints[l] - int64(n) + 1
			}
			acc.none = acc.none || n > size
			if ax == nil {
				acc.ix.Offset += int(starts.ints[0]-1) * stride
			} else {
				addLanes(ax, starts.ints, stride)
			}
			acc.ix.Dims = append(acc.ix.Dims, ad.Dim{N: n, Stride: stride})
		case ir.IndexAll:
			nothing = nothing || ix.Ends && size == 0
			acc.ix.Dims = append(acc.ix.Dims, ad.Dim{N: size, Stride: stride})
		}
	}
	acc.ix = affine(acc.ix)
	for _, o := range outs {
		if o.axis != acc.axis {
			continue
		}
		if acc.out == nil {
			acc.out = make([]bool, acc.axis.N)
		}
		for l, out := range o.out {
			acc.out[l] = acc.out[l] || out
		}
	}
	return acc, true
}

// bounds are those of a slice of a dimension.
func (b *binder) bounds(ix ir.Index, size int) (from, to value) {
	from, to = intValue(1), intValue(int64(size))
	if ix.A != nil {
		from = b.eval(ix.A)
	}
	if ix.B != nil {
		to = b.eval(ix.B)
	}
	return from, to
}

// outLanes are lanes of an axis that a condition leaves out, whose index is wrong.
type outLanes struct {
	axis *axis
	out  []bool
}

// wrongParts are what is wrong of slices that functions take, see [ir.Part.Wrong],
// and 1 in the iterations whose slices are as they should be; no ints if all are.
func wrongParts(part ir.Part, from, to value, size int) (wrong value) {
	if part == ir.NoPart {
		return wrong
	}
	ax := innermost(from.axis, to.axis)
	n := 1
	if ax != nil {
		n = ax.N
	}
	ints := make([]int64, n)
	any := false
	uf, ut := plan.UpTo(ax, from.axis), plan.UpTo(ax, to.axis)
	for l := range ints {
		x, is := part.Wrong(intAt(from, ax, uf, l, 0), intAt(to, ax, ut, l, 0), size)
		if ints[l] = 1; is {
			ints[l], any = x, true
		}
	}
	if any {
		wrong = value{typ: types.IntType, axis: ax, ints: ints}
	}
	return wrong
}

// sliceLanes is a slice whose bounds differ between iterations: its length, which
// must be the same in all, and where it starts.
func (b *binder) sliceLanes(from, to value, ax *axis) (n int, starts value) {
	sizes, starts := sizesOf(from, to, ax)
	n = int(b.mustAgree(sizes, differ))
	if n == 0 { // an empty slice, wherever it lies
		for l := range starts.ints {
			starts.ints[l] = 1
		}
	}
	return n, starts
}

// inRange checks known indices into a dimension. One that is out of range is an
// error, unless no iteration that gets here uses it, or this place may never be
// reached: in a branch it is a rejection when the program runs. none tells that the
// dimension has no element that could stand for the one that there is not.
func (b *binder) inRange(i value, size, dimension int, ix ir.Index, what string) (in value, out []bool, none bool) {
	wrong := func(x int64) bool { return x < 1 || x > int64(size) }
	if !slices.ContainsFunc(i.ints, wrong) {
		return i, nil, false
	}
	bad := value{typ: i.typ, shape: i.shape, axis: i.axis, ints: make([]int64, len(i.ints))}
	excluded := b.excluded(i.axis)
	n, rest := i.size(), (*int64)(nil) // the first that is wrong
	ints := slices.Clone(i.ints)
	for p, x := range ints {
		if !wrong(x) {
			continue
		}
		ints[p] = 1
		if excluded == nil || !excluded[p/n] {
			if bad.ints[p] = 1; rest == nil {
				rest = &x
			}
			continue
		}
		if out == nil && i.axis != nil {
			out = make([]bool, i.axis.N)
		}
		if out != nil {
			out[p/n] = true
		}
	}
	in = i
	in.ints = ints
	if !slices.Contains(bad.ints, 1) {
		return in, out, size == 0
	}
	if b.inspecting || !b.mayBeSkipped() {
		b.fail(ix.At, diag.IndexRange, "index %d is out of range", *rest).
			detailf("%s has %d element%s in dimension %d; indices count from 1.", what, size, plural(size), dimension).throw()
	}
	b.instead++
	b.emitEffect([]value{b.numeric(bad), b.numeric(i)}, func(g *ad.Graph, a []ad.Ref) {
		if len(g.Type(a[0]).Shape) > 0 {
			a[0] = g.Sum(a[0])
		}
		g.RejectIf(a[0], &ad.Message{Parts: []ad.MessagePart{
			{Text: "index ", Arg: -1}, {Arg: 0}, {Text: fmt.Sprintf(" is out of range; dimension %d of %s has %d element%s", dimension, what, size, plural(size)), Arg: -1}}}, a[1])
	})
	return in, out, size == 0
}

// flatBase returns, for every lane of ax (which is inside both the access's
// axis and the home axis of the container), the element offset in the flat
// storage of all of the container's lanes.
func (a access) flatBase(home, ax *axis, size int) []int32 {
	return plan.FlatBase(a.axis, a.base, home, ax, size)
}

// outIn tells for every lane of ax, that of the access or one within it, whether its
// index is wrong where conditions leave it out; nil if none is.
func (a access) outIn(ax *axis) []bool { return plan.OutIn(a.axis, ax, a.out) }

// innermost is the deeper of two nested axes.
func innermost(a, b *axis) *axis {
	if a == nil {
		return b
	}
	if b == nil || b.Within(a) {
		return a
	}
	if !a.Within(b) {
		panic(&fault{reason: "values that vary over different loops"})
	}
	return b
}

// positions are the elements of an access as known integers per lane.
func positions(acc access) value {
	offs := acc.offsets()
	v := value{typ: types.Type{Kind: types.Int, Dims: len(acc.ix.Dims)}, shape: acc.ix.Shape(), axis: acc.axis, ints: []int64{}}
	base := acc.base
	if acc.axis == nil {
		base = []int32{0}
	}
	for _, s := range base {
		for _, o := range offs {
			v.ints = append(v.ints, int64(s+o))
		}
	}
	return v
}

// gather reads the elements of acc from v.
func (b *binder) gather(v value, acc access, typ types.Type) value {
	shape := acc.ix.Shape()
	if v.ints != nil {
		ax := innermost(v.axis, acc.axis)
		out := value{typ: typ, shape: shape, axis: ax, param: v.param}
		size, offs := v.size(), acc.offsets()
		if ax == nil {
			b.reserve(8, len(offs))
			out.ints = make([]int64, len(offs))
			for p, o := range offs {
				out.ints[p] = v.ints[o]
			}
			return out
		}
		b.reserve(8, len(offs), ax.N)
		base := acc.flatBase(v.axis, ax, size)
		out.ints = make([]int64, 0, len(offs)*ax.N)
		for _, s := range base {
			for _, o := range offs {
				out.ints = append(out.ints, v.ints[s+o])
			}
		}
		return out
	}
	if acc.axis == nil {
		return b.emitMove(typ, []value{v}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Gather(a[0], acc.ix) })
	}
	ax := innermost(v.axis, acc.axis)
	if v.lvl.depth > levelOf(ax).depth {
		return b.take(v, positions(acc), typ)
	}
	lvl := levelOf(ax)
	b.reserve(4, ax.N)
	base := acc.flatBase(v.axis, ax, v.size())
	ix := acc.ix
	ix.Dims = append([]ad.Dim{tableDim(base)}, ix.Dims...)
	ix = affine(ix)
	var r ad.Ref
	if v.lvl == lvl {
		r = lvl.g.Unlane(v.ref)
	} else {
		if v.axis != nil {
			panic(&fault{reason: "lanes of an outer region"})
		}
		r = b.use(v, lvl, nil)
	}
	lvl.g.SetSite(b.site())
	return b.wrap(lvl.g.Lane(lvl.g.Gather(r, ix)), lvl, ax, typ, v.param)
}

// assembly is an array that is put together from elements of other arrays, its parts,
// which are known by keys.
type assembly[K comparable] struct {
	parts []value
	start map[K]int32 // of each part, where it begins in all of them together
	total int32
}

// part is where the part of a key begins, which get gives when it is first asked for.
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

// elementsOf are the elements at those places of arrays that stand one after another, in
// one dimension.
func (b *binder) elementsOf(parts []value, at []int32, kind types.Kind) value {
	ix := affine(ad.Index{Dims: []ad.Dim{tableDim(at)}})
	if kind != types.Int {
		kind = types.Real
	}
	return b.emitMove(types.Type{Kind: kind, Dims: 1}, parts, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		src := a[0]
		if len(a) > 1 {
			src = g.Concat(a...)
		}
		return g.Gather(src, ix)
	})
}

// flatten gives the values of v in all lanes of ax as one array of dimension
// one: lane after lane.
func (b *binder) flatten(v value, ax *axis) value {
	v = b.numeric(v)
	if ax == nil {
		return b.emitMove(v.typ, []value{v}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
			return g.Reshape(a[0], []int{v.size()})
		})
	}
	if v.lvl.depth > levelOf(ax).depth {
		panic(&fault{reason: "a value computed in a branch"})
	}
	g := levelOf(ax).g
	r := g.Spread(b.use(v, levelOf(ax), ax), ax.N)
	r = g.Reshape(g.Unlane(r), []int{ax.N * v.size()})
	return value{typ: v.typ, shape: g.Type(r).Shape, lvl: levelOf(ax), ref: r, param: v.param}
}

// unflatten is the inverse of flatten.
func (b *binder) unflatten(v value, ax *axis, shape []int, typ types.Type) value {
	if ax == nil {
		out := b.emitMove(typ, []value{v}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Reshape(a[0], shape) })
		return out
	}
	g := v.lvl.g
	r := g.Lane(g.Reshape(v.ref, append([]int{ax.N}, shape...)))
	return b.wrap(r, v.lvl, ax, typ, v.param)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// take reads the elements at positions, counted from 0 in x taken as flat.
func (b *binder) take(x, pos value, typ types.Type) value {
	v := b.emit(typ, []value{b.numeric(x), b.numeric(pos)}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Take(a[0], a[1]) })
	v.param = x.param
	return v
}

// replace is x with the elements of v at positions.
func (b *binder) replace(x, v, pos value) value {
	out := b.emit(x.typ, []value{b.numeric(x), b.numeric(v), b.numeric(pos)}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		return g.Replace(a[0], g.Broadcast(a[1], g.Type(a[2]).Shape), a[2])
	})
	out.param = x.param || v.param
	return out
}
