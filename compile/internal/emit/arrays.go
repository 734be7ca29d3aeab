package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/lang/types"
)

// arrays moves elements of arrays.
type arrays struct {
	at  *context
	rep *reporter
	b   *builder
}

// gather reads the elements of acc from v.
func (ar *arrays) gather(v value, acc lanes.Access, typ types.Type) value {
	if v.ints != nil {
		ar.rep.reserve(8, acc.Index.Size(), plan.Lanes(lanes.Innermost(v.axis, acc.Axis)))
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
	ar.rep.reserve(4, ax.N)
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
func (ar *arrays) elementsOf(parts []value, at []int32, kind types.Kind) value {
	ix := lanes.Affine(ad.Index{Dims: []ad.Dim{lanes.Table(at)}})
	if kind != types.Int {
		kind = types.Real
	}
	return ar.b.emitMove(types.Type{Kind: kind, Dims: 1}, parts, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		src := a[0]
		if len(a) > 1 {
			src = g.Concat(a...)
		}
		return g.Gather(src, ix)
	})
}

// flatten gives the values of v in all lanes of ax as one array of dimension
// one: lane after lane.
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
		out := ar.b.emitMove(typ, []value{v}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Reshape(a[0], shape) })
		return out
	}
	g := v.lvl.g
	r := g.Lane(g.Reshape(v.ref, append([]int{ax.N}, shape...)))
	return ar.b.wrap(r, v.lvl, ax, typ, v.param)
}

// take reads the elements at positions, counted from 0 in x taken as flat.
func (ar *arrays) take(x, pos value, typ types.Type) value {
	v := ar.b.emit(typ, []value{ar.b.numeric(x), ar.b.numeric(pos)}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Take(a[0], a[1]) })
	v.param = x.param
	return v
}

// replace is x with the elements of v at positions.
func (ar *arrays) replace(x, v, pos value) value {
	out := ar.b.emit(x.typ, []value{ar.b.numeric(x), ar.b.numeric(v), ar.b.numeric(pos)}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		return g.Replace(a[0], g.Broadcast(a[1], g.Type(a[2]).Shape), a[2])
	})
	out.param = x.param || v.param
	return out
}

// shaped is v with that shape, which may be the one it has.
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

// unset is the content of a variable before its first assignment.
func (ar *arrays) unset(typ types.Type, shape []int) value {
	n := sizeOf(shape)
	if typ.Kind == types.Int {
		ar.rep.reserve(8, n)
		ints := make([]int64, n)
		for i := range ints {
			ints[i] = -1 << 31
		}
		return value{typ: typ, shape: shape, ints: ints}
	}
	if n == 0 {
		return value{typ: typ, shape: shape, lvl: ar.b.root, ref: ar.b.root.g.ConstArray(ad.Type{Shape: shape}, nil)}
	}
	nan := ar.b.root.g.Const(nan)
	return value{typ: typ, shape: shape, lvl: ar.b.root, ref: ar.b.root.g.Broadcast(nan, shape)}
}

// convert promotes known integers stored in a real variable.
func (ar *arrays) convert(v value, to types.Type) value {
	if to.Kind != types.Int && v.ints != nil {
		v = ar.b.numeric(v)
	}
	return v
}

func (ar *arrays) reshapeLike(v, like value) value {
	if len(v.shape) == 0 || len(v.shape) == len(like.shape) {
		return v
	}
	return ar.reshape(v, like.shape, v.typ)
}

// choosing is x where mask is not 0, else y.
func (ar *arrays) choosing(mask, x, y value, typ types.Type) value {
	return ar.b.emit(typ, []value{mask, x, y}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		return g.Select(a[0], a[1], a[2])
	})
}

// narrowTo is a value in the lanes in force, which are some of its lanes.
func (ar *arrays) narrowTo(val value) value {
	r := ar.b.align(ar.b.numeric(val), ar.at.axis)
	return ar.b.wrap(r, val.lvl, ar.at.axis, val.typ, val.param)
}
