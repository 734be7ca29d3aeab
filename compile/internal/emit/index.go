package emit

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// indexer evaluates indices.
type indexer struct {
	floor
	vars *variables
	ex   evaluator

	instead int // out-of-range indices in branches that may be skipped; each is replaced by 1
}

// Computed indices are known only when the program runs: integers that were drawn or that depend on
// parameters, and integers that the iterations of a region hide.

// Ints, Elements, Excluded and OutOfRange implement [lanes.Evaluator], which [lanes.Select] needs.

func (xr *indexer) Ints(e ir.Expr) (v lanes.Value, ok bool) {
	i := xr.ex.eval(e)
	return i.known(), i.ints != nil
}

func (xr *indexer) Elements(e ir.Expr) int { return xr.ex.eval(e).size() }

func (xr *indexer) Excluded(ax *axis) []bool { return xr.at.excluded(ax) }

// OutOfRange handles indices that are out of range. They are an error, except in a branch that may
// never be taken: there they become a rejection when the program runs.
func (xr *indexer) OutOfRange(i, bad lanes.Value, first int64, size, dimension int, ix ir.Index, what string) {
	if !xr.at.mayBeSkipped() {
		xr.rep.complain(interp.IndexRange(ix.At, first, size, dimension, what)).throw()
	}
	xr.instead++
	xr.b.rejectIf(ofLanes(bad), outOfRange(dimension, " of "+what, size), ofLanes(i))
}

// computedIndex reads elements of x whose indices are computed.
func (xr *indexer) computedIndex(x value, indices []ir.Index, typ types.Type) value {
	x = xr.b.numeric(x)
	pos := xr.computedPositions(x.shape, indices)
	v := xr.arr.take(x, pos, typ)
	v.param = x.param
	return v
}

// computedPositions returns the positions of the indexed elements in a flat container of the given
// shape. The result has the shape of the elements read or assigned. Each index is checked when the
// program runs.
func (xr *indexer) computedPositions(shape []int, indices []ir.Index) value {
	type dim struct {
		at     value // positions along the dimension, times stride
		single bool
	}
	var dims []dim
	nothing := false // an index selects nothing, so later ones are not checked
	stride := ad.SizeOf(shape)
	for k, size := range shape {
		stride /= max(size, 1)
		ix := ir.Index{Kind: ir.IndexAll}
		if k < len(indices) {
			ix = indices[k]
		}
		unseen := nothing || ix.After != nil && xr.ex.eval(ix.After).size() == 0
		var i value
		switch ix.Kind {
		case ir.IndexSingle, ir.IndexMulti:
			i = xr.ex.eval(ix.A)
		case ir.IndexRange:
			from, to := xr.bounds(ix, size)
			if from.ints == nil || to.ints == nil {
				xr.rep.unsupported(ix.At, "a slice whose size is known only when the program runs", "go through the elements by a loop, as in `for (i in a:b)`")
			}
			if wrong := lanes.WrongParts(ix.Part, from.known(), to.known(), size); wrong.Ints != nil && !unseen {
				xr.checkIndex(ofLanes(wrong), size, k+1, ix)
			}
			ax := lanes.Innermost(from.axis, to.axis)
			n, starts := lanes.SliceAgreed(xr, from.known(), to.known(), ax)
			list := make([]int64, 0, n*len(starts.Ints))
			for _, first := range starts.Ints {
				for k := range int64(n) {
					list = append(list, first+k)
				}
			}
			i = ofLanes(lanes.Value{Shape: []int{n}, Axis: ax, Ints: list})
		case ir.IndexAll:
			i = upTo(size)
		}
		if !unseen {
			xr.checkIndex(i, size, k+1, ix)
		}
		nothing = nothing || ix.Ends && i.size() == 0
		at := xr.b.emit(types.Type{Kind: types.Real, Dims: len(i.shape)}, []value{xr.b.numeric(i)}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
			return g.Scale(float64(stride), g.Sub(a[0], g.Const(1)))
		})
		at.ints = nil
		dims = append(dims, dim{at, ix.Kind == ir.IndexSingle})
	}
	// Add up the positions along the dimensions, each broadcast over the others.
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
	pos := xr.b.emit(types.Type{Kind: types.Real, Dims: len(out)}, args, func(g *ad.Graph, a []ad.Ref) ad.Ref {
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

// checkIndex rejects the evaluation if an index is out of range. A known index out of range is
// reported now, except in a branch, which may never be taken.
func (xr *indexer) checkIndex(i value, size, dimension int, ix ir.Index) {
	if i.ints != nil && !slices.ContainsFunc(i.ints, func(x int64) bool { return x < 1 || x > int64(size) }) {
		return
	}
	xr.b.emitEffect([]value{xr.b.numeric(i)}, func(g *ad.Graph, a []ad.Ref) {
		bad := g.Add(g.Less(a[0], g.Const(1)), g.Less(g.Const(float64(size)), a[0]))
		g.RejectIf(g.Sum(bad), outOfRange(dimension, "", size), a[0])
	})
}

// outOfRange returns the message that an index, its argument, is out of range.
func outOfRange(dimension int, of string, size int) *ad.Message {
	return &ad.Message{Parts: []ad.MessagePart{
		{Text: "index ", Arg: -1}, {Arg: 0}, {Text: fmt.Sprintf(" is out of range; dimension %d%s has %d element%s", dimension, of, size, plural(size)), Arg: -1}}}
}

// bounds returns the bounds of a slice of a dimension.
func (xr *indexer) bounds(ix ir.Index, size int) (from, to value) {
	from, to = intValue(1), intValue(int64(size))
	if ix.A != nil {
		from = xr.ex.eval(ix.A)
	}
	if ix.B != nil {
		to = xr.ex.eval(ix.B)
	}
	return from, to
}

// accessTo returns the access of indices to a variable. ok is false if the elements are known only
// when the program runs. If a unit works on a copy, the elements are those that the inspector
// found, even if a region hides the indices.
func (xr *indexer) accessTo(c *cell, indices []ir.Index, what string) (acc lanes.Access, ok bool) {
	acc, ok = lanes.Select(xr, c.shape, indices, what)
	if o := xr.vars.overlayOn(xr.at.nest, c); !ok && o != nil && !o.whole {
		return o.w.acc, true
	}
	return acc, ok
}
