package direct

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
)

// value is a value of the language: an array of numbers of the given shape, in row-major order. If
// its type is an int type, ints is set, otherwise reals. A value of a composite type has only
// leaves. Values are never changed in place.
type value struct {
	shape  []int
	ints   []int64
	reals  []float64
	leaves []value
}

func intOf(n int64) value    { return value{ints: []int64{n}} }
func realOf(x float64) value { return value{reals: []float64{x}} }

func truth(b bool) value {
	if b {
		return intOf(1)
	}
	return intOf(0)
}

// parts returns the leaves of a value; a simple value is its own leaf.
func (v value) parts() []value {
	if v.leaves != nil {
		return v.leaves
	}
	return []value{v}
}

// each applies f to every leaf.
func (v value) each(f func(value) value) value {
	if v.leaves == nil {
		return f(v)
	}
	var out value
	for _, leaf := range v.leaves {
		out.leaves = append(out.leaves, f(leaf))
	}
	return out
}

func (v value) isInt() bool  { return v.ints != nil }
func (v value) isTrue() bool { return v.ints[0] != 0 }

// count returns the number of elements of a shape.
func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// floats returns the numbers as reals.
func (v value) floats() []float64 {
	if !v.isInt() {
		return v.reals
	}
	out := make([]float64, len(v.ints))
	for i, n := range v.ints {
		out[i] = float64(n)
	}
	return out
}

// at gathers the elements at the given positions into a new value.
func (v value) at(places, shape []int) value {
	out := value{shape: shape}
	if v.isInt() {
		out.ints = make([]int64, len(places))
		for k, p := range places {
			out.ints[k] = v.ints[p]
		}
		return out
	}
	out.reals = make([]float64, len(places))
	for k, p := range places {
		out.reals[k] = v.reals[p]
	}
	return out
}

// with returns v with the elements at the given positions replaced, in order. If a position occurs
// twice, the last one wins.
func (v value) with(places []int, w value) value {
	out := v.at(all(count(v.shape)), v.shape)
	for k, p := range places {
		if v.isInt() {
			out.ints[p] = w.ints[k]
		} else {
			out.reals[p] = w.reals[k]
		}
	}
	return out
}

// all returns 0, 1, … n-1.
func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// places returns the positions of the elements that indices select from a value of the given shape,
// in order, and the shape of the selection.
func (r *run) places(shape []int, indices []ir.Index) (at, selected []int) {
	at = []int{0}
	nothing := false // once an index selects nothing, the indices after it are not checked
	for k, size := range shape {
		picked, single := all(size), false
		if k < len(indices) {
			after := indices[k].After
			picked, single = r.picked(indices[k], size, !nothing && (after == nil || len(r.eval(after).ints) > 0))
			nothing = nothing || indices[k].Ends && len(picked) == 0
		}
		if !single {
			selected = append(selected, len(picked))
		}
		next := make([]int, 0, len(at)*len(picked))
		for _, a := range at {
			for _, i := range picked {
				next = append(next, a*size+i)
			}
		}
		at = next
	}
	return at, selected
}

// picked returns the elements of one dimension, counted from 0, that an index selects. look says
// whether to check that they exist.
func (r *run) picked(ix ir.Index, size int, look bool) (picked []int, single bool) {
	r.at = ix.At
	var numbers []int64
	switch ix.Kind {
	case ir.IndexAll:
		return all(size), false
	case ir.IndexSingle, ir.IndexMulti:
		numbers = r.eval(ix.A).ints
	case ir.IndexRange:
		lo, hi := int64(1), int64(size)
		if ix.A != nil {
			lo = r.int(ix.A)
		}
		if ix.B != nil {
			hi = r.int(ix.B)
		}
		if wrong, is := ix.Part.Wrong(lo, hi, size); is && look {
			r.failf("%d is out of range: there are %d elements", wrong, size)
		}
		for i := lo; i <= hi; i++ { // if hi < lo there are none, wherever lo is
			numbers = append(numbers, i)
		}
	}
	for _, i := range numbers {
		if look && (i < 1 || i > int64(size)) {
			r.failf("index %d is out of range: there are %d elements", i, size)
		}
		picked = append(picked, int(i)-1)
	}
	return picked, ix.Kind == ir.IndexSingle
}

// constant adds v to a graph as a constant.
func constant(g *ad.Graph, v value) ad.Ref {
	return g.ConstArray(ad.Type{Shape: v.shape}, v.floats())
}

// computed evaluates a node of a graph without inputs, including side effects.
func (r *run) computed(g *ad.Graph, node ad.Ref) value {
	r.work += count(g.Type(node).Shape)
	h := *g
	h.Outputs = []ad.Ref{node}
	out, err := h.Eval(nil, &ad.Env{Rand: r.opts.Rand, Print: r.opts.Print})
	if err != nil {
		r.fail(err)
	}
	return value{shape: g.Type(node).Shape, reals: slices.Clone(out[0])}
}
