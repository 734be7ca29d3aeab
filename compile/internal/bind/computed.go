package bind

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// Indices that are computed when the program runs: integers that were drawn or
// that parameters decide, and those that a region's iterations hide.

// computedIndex reads elements of x whose indices are computed.
func (b *binder) computedIndex(x value, indices []ir.Index, typ types.Type) value {
	x = b.numeric(x)
	pos := b.computedPositions(x.shape, indices)
	v := b.take(x, pos, typ)
	v.param = x.param
	return v
}

// reduceSlice calls one of these functions on a slice whose size is known only when the
// program runs, by leaving out the elements that are not in it. ok is false for any
// other call.
func (b *binder) reduceSlice(e *ir.Call, f *stdlib.Func) (v value, ok bool) {
	x := static.ReducedSlice(e)
	if x == nil {
		return v, false
	}
	ix := x.Indices[0]
	// The whole is evaluated only where it is wanted: an element out of the slice may be what is
	// about to be assigned.
	from, to := b.bounds(ix, 0)
	if from.ints != nil && to.ints != nil {
		return v, false
	}
	all := b.eval(x.X)
	size := all.shape[0]
	if ix.B == nil {
		to = intValue(int64(size))
	}
	old := b.at(e.Span())
	defer b.setSpan(old)
	bounds := []value{b.numeric(from), b.numeric(to)}
	b.emitEffect(bounds, func(g *ad.Graph, a []ad.Ref) {
		limit := g.Const(float64(size))
		outside := g.Do(ad.OpMax, nil, g.Less(a[0], g.Const(1)), g.Less(limit, a[0]))
		empty := g.Const(0)
		if ix.Part == ir.Begun {
			empty = outside
		}
		bad := g.Select(g.Less(a[1], a[0]), empty, g.Do(ad.OpMax, nil, outside, g.Less(limit, a[1])))
		g.RejectIf(bad, outOfRange(1, size), g.Select(outside, a[0], a[1]))
	})
	positions := make([]int64, size)
	for i := range positions {
		positions[i] = int64(i) + 1
	}
	at := b.numeric(value{typ: types.Type{Kind: types.Int, Dims: 1}, shape: []int{size}, ints: positions})
	all = b.numeric(all)
	part := b.emit(all.typ, append(bounds, at, all), func(g *ad.Graph, a []ad.Ref) ad.Ref {
		no := g.Const(static.Neutral[e.Name])
		return g.Select(g.Less(a[2], a[0]), no, g.Select(g.Less(a[1], a[2]), no, a[3]))
	})
	part.param = all.param
	return b.apply(f, e.Name, []value{part}, e.Type()), true
}

// assignComputed assigns to elements whose indices are computed: the variable
// becomes one with these elements replaced.
func (b *binder) assignComputed(c *cell, s *ir.Assign) {
	pos := b.computedPositions(c.shape, s.Indices)
	whole := lanes.WholeOf(c.shape)
	old := b.numeric(b.load(c, whole, c.typ))
	var v value
	if s.Op == "" {
		v = b.eval(s.Value)
	} else {
		part := b.take(old, pos, s.Combine.Type())
		part.param = c.param
		outer := b.operand
		b.operand = &part
		v = b.eval(s.Combine)
		b.operand = outer
	}
	b.checkShape(s.Value.Span(), s.Var.Name, pos.shape, v.shape)
	b.store(c, whole, b.replace(old, v, pos))
}

// computedPositions are the positions of the elements in a container of that
// shape, taken as flat, in the shape of what is read or assigned. Each index is
// checked when the program runs.
func (b *binder) computedPositions(shape []int, indices []ir.Index) value {
	type dim struct {
		at     value // positions along the dimension, times stride
		single bool
	}
	known := func(ints []int64, shape []int) value {
		return value{typ: types.Type{Kind: types.Int, Dims: len(shape)}, shape: shape, ints: ints}
	}
	var dims []dim
	nothing := false // an index selects nothing, after which none is looked at
	stride := sizeOf(shape)
	for k, size := range shape {
		stride /= max(size, 1)
		ix := ir.Index{Kind: ir.IndexAll}
		if k < len(indices) {
			ix = indices[k]
		}
		unseen := nothing || ix.After != nil && b.eval(ix.After).size() == 0
		var i value
		switch ix.Kind {
		case ir.IndexSingle, ir.IndexMulti:
			i = b.eval(ix.A)
		case ir.IndexRange:
			from, to := b.bounds(ix, size)
			if from.ints == nil || to.ints == nil {
				b.unsupported(ix.At, "a slice whose size is known only when the program runs", "go through the elements by a loop, as in `for (i in a:b)`")
			}
			if wrong := lanes.WrongParts(ix.Part, from.known(), to.known(), size); wrong.Ints != nil && !unseen {
				b.checkIndex(ofLanes(wrong), size, k+1, ix)
			}
			ax := lanes.Innermost(from.axis, to.axis)
			n, starts := lanes.SliceAgreed(indexing{b}, from.known(), to.known(), ax)
			list := make([]int64, 0, n*len(starts.Ints))
			for _, first := range starts.Ints {
				for k := range int64(n) {
					list = append(list, first+k)
				}
			}
			i = known(list, []int{n})
			i.axis = ax
		case ir.IndexAll:
			list := make([]int64, size)
			for j := range list {
				list[j] = int64(j) + 1
			}
			i = known(list, []int{size})
		}
		if !unseen {
			b.checkIndex(i, size, k+1, ix)
		}
		nothing = nothing || ix.Ends && i.size() == 0
		at := b.emit(types.Type{Kind: types.Real, Dims: len(i.shape)}, []value{b.numeric(i)}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
			return g.Scale(float64(stride), g.Sub(a[0], g.Const(1)))
		})
		at.ints = nil
		dims = append(dims, dim{at, ix.Kind == ir.IndexSingle})
	}
	// Add up the dimensions, each repeated over the others.
	var out []int
	for _, d := range dims {
		if !d.single {
			out = append(out, d.at.shape[0])
		}
	}
	args := make([]value, len(dims))
	for i, d := range dims {
		args[i] = d.at
	}
	pos := b.emit(types.Type{Kind: types.Real, Dims: len(out)}, args, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		sum := g.Broadcast(g.Const(0), out)
		axis := 0
		for i, d := range dims {
			r := a[i]
			if !d.single {
				ix := ad.Index{Dims: make([]ad.Dim, len(out))}
				for j, n := range out {
					ix.Dims[j] = ad.Dim{N: n}
				}
				ix.Dims[axis].Stride = 1
				r = g.Gather(r, ix)
				axis++
			}
			sum = g.Add(sum, r)
		}
		return sum
	})
	pos.ints = nil
	return pos
}

// checkIndex rejects the evaluation where an index is out of range; one that is
// known and wrong is reported now, unless it stands in a branch, which may never
// be taken.
func (b *binder) checkIndex(i value, size, dimension int, ix ir.Index) {
	if i.ints != nil && !slices.ContainsFunc(i.ints, func(x int64) bool { return x < 1 || x > int64(size) }) {
		return
	}
	b.emitEffect([]value{b.numeric(i)}, func(g *ad.Graph, a []ad.Ref) {
		bad := g.Add(g.Less(a[0], g.Const(1)), g.Less(g.Const(float64(size)), a[0]))
		if len(g.Type(bad).Shape) > 0 {
			bad = g.Sum(bad)
		}
		g.RejectIf(bad, outOfRange(dimension, size), a[0])
	})
}

// outOfRange says that an index, the argument, is none of a dimension.
func outOfRange(dimension, size int) *ad.Message {
	return &ad.Message{Parts: []ad.MessagePart{
		{Text: "index ", Arg: -1}, {Arg: 0}, {Text: fmt.Sprintf(" is out of range; dimension %d has %d element%s", dimension, size, plural(size)), Arg: -1}}}
}
