package bind

import (
	"fmt"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// access evaluates indices into a container of that shape, checking bounds; ok
// is false if an index is computed only when the program runs.
func (b *binder) access(shape []int, indices []ir.Index, what string) (acc lanes.Access, ok bool) {
	return lanes.Select(indexing{b}, shape, indices, what)
}

// indexing evaluates indices.
type indexing struct{ b *binder }

func (x indexing) Ints(e ir.Expr) (v lanes.Value, ok bool) {
	i := x.b.eval(e)
	return i.known(), i.ints != nil
}

func (x indexing) Elements(e ir.Expr) int { return x.b.eval(e).size() }

func (x indexing) Excluded(ax *axis) []bool { return x.b.excluded(ax) }

// OutOfRange deals with indices that are out of range. They are an error, unless this place may
// never be reached: in a branch they are a rejection when the program runs.
func (x indexing) OutOfRange(i, bad lanes.Value, first int64, size, dimension int, ix ir.Index, what string) {
	b := x.b
	if !b.mayBeSkipped() {
		b.fail(ix.At, diag.IndexRange, "index %d is out of range", first).
			detailf("%s has %d element%s in dimension %d; indices count from 1.", what, size, plural(size), dimension).fix("%s", interp.IndexAdvice(first)).throw()
	}
	b.instead++
	b.emitEffect([]value{b.numeric(ofLanes(bad)), b.numeric(ofLanes(i))}, func(g *ad.Graph, a []ad.Ref) {
		if len(g.Type(a[0]).Shape) > 0 {
			a[0] = g.Sum(a[0])
		}
		g.RejectIf(a[0], &ad.Message{Parts: []ad.MessagePart{
			{Text: "index ", Arg: -1}, {Arg: 0}, {Text: fmt.Sprintf(" is out of range; dimension %d of %s has %d element%s", dimension, what, size, plural(size)), Arg: -1}}}, a[1])
	})
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

// gather reads the elements of acc from v.
func (b *binder) gather(v value, acc lanes.Access, typ types.Type) value {
	if v.ints != nil {
		b.reserve(8, acc.Index.Size(), plan.Lanes(lanes.Innermost(v.axis, acc.Axis)))
		out := ofLanes(v.known().Gather(acc))
		out.typ, out.param = typ, v.param
		return out
	}
	if acc.Axis == nil {
		return b.emitMove(typ, []value{v}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Gather(a[0], acc.Index) })
	}
	ax := lanes.Innermost(v.axis, acc.Axis)
	if v.lvl.depth > levelOf(ax).depth {
		return b.take(v, ofLanes(acc.Positions()), typ)
	}
	lvl := levelOf(ax)
	b.reserve(4, ax.N)
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
	ix := lanes.Affine(ad.Index{Dims: []ad.Dim{lanes.Table(at)}})
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
		panic(&fault{Reason: "a value computed in a branch"})
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
