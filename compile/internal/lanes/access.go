package lanes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/ir"
)

// Access is, for each lane, a set of elements of a container. Position p of lane l is element
// Base[l] + Index(p) of the container's flat storage.
type Access struct {
	Axis  *plan.Axis
	Base  []int32 // one per lane of Axis; nil if Axis is nil
	Index ad.Index
	Out   []bool // lanes with an invalid index that are excluded; nil: none
	None  bool   // the container has no elements; such an evaluation has been rejected
}

// WholeOf returns the access to all elements of a container with a shape.
func WholeOf(shape []int) Access { return Access{Index: Contiguous(shape)} }

// IsWhole reports whether the access is to all elements of a container of the given size, in order.
func (a Access) IsWhole(size int) bool {
	if a.Axis != nil || a.Index.Offset != 0 {
		return false
	}
	n, stride := 1, 1
	for k := len(a.Index.Dims) - 1; k >= 0; k-- {
		d := a.Index.Dims[k]
		if d.N != 1 && (d.Table != nil || d.Stride != stride) {
			return false
		}
		stride *= d.N
		n *= d.N
	}
	return n == size
}

// Offsets returns the offsets of the index, in order. They are the same in all lanes; Base is added
// to them.
func (a Access) Offsets() []int32 {
	out := make([]int32, 0, a.Index.Size())
	a.Index.Each(func(_, e int) { out = append(out, int32(e)) })
	return out
}

// Plain returns the access in the form of package plan, which holds only integers.
func (a Access) Plain() plan.Access {
	return plan.Access{Axis: a.Axis, Base: a.Base, Offsets: a.Offsets(), Out: a.Out}
}

// FlatBase returns, for every lane of ax, the element offset in the flat storage of the container,
// all lanes of which follow one another. ax is within the access's axis and within the container's
// axis, home.
func (a Access) FlatBase(home, ax *plan.Axis, size int) []int32 {
	return plan.FlatBase(a.Axis, a.Base, home, ax, size)
}

// Same reports whether two accesses are to the same elements in the lanes of ax, which is within
// the axes of both.
func (a Access) Same(b Access, ax *plan.Axis) bool {
	offs, of := a.Offsets(), b.Offsets()
	if len(offs) != len(of) {
		return false
	}
	// An offset common to all lanes may be part of the bases or of the offsets.
	apart := int32(0)
	for p := range offs {
		if p == 0 {
			apart = of[0] - offs[0]
		}
		if of[p]-offs[p] != apart {
			return false
		}
	}
	return slices.EqualFunc(a.FlatBase(nil, ax, 0), b.FlatBase(nil, ax, 0), func(x, y int32) bool { return x-y == apart })
}

// OutIn returns Out for the lanes of ax, which is the access's axis or within it. It is nil if no
// lane is out.
func (a Access) OutIn(ax *plan.Axis) []bool { return plan.OutIn(a.Axis, ax, a.Out) }

// Positions returns the positions of the elements of an access for each lane, counted from 0.
func (a Access) Positions() Value {
	offs := a.Offsets()
	v := Value{Shape: a.Index.Shape(), Axis: a.Axis, Ints: []int64{}}
	base := a.Base
	if a.Axis == nil {
		base = []int32{0}
	}
	for _, s := range base {
		for _, o := range offs {
			v.Ints = append(v.Ints, int64(s+o))
		}
	}
	return v
}

// Gather reads the elements of an access from a value.
func (v Value) Gather(a Access) Value {
	ax := Innermost(v.Axis, a.Axis)
	out := Value{Shape: a.Index.Shape(), Axis: ax}
	base := []int32{0}
	if ax != nil {
		base = a.FlatBase(v.Axis, ax, v.Size())
	}
	offs := a.Offsets()
	if v.Ints != nil {
		out.Ints = make([]int64, 0, len(offs)*len(base))
		for _, s := range base {
			for _, o := range offs {
				out.Ints = append(out.Ints, v.Ints[s+o])
			}
		}
		return out
	}
	out.Reals = make([]float64, 0, len(offs)*len(base))
	for _, s := range base {
		for _, o := range offs {
			out.Reals = append(out.Reals, v.Reals[s+o])
		}
	}
	return out
}

// Put changes ints in place: it replaces the elements of an access by those of x in the lanes of
// ax. v must have the lanes of its home.
func (v Value) Put(a Access, x Value, ax *plan.Axis) {
	offs := a.Offsets()
	if ax == nil {
		for p, o := range offs {
			v.Ints[o] = x.Ints[p]
		}
		return
	}
	up := plan.UpTo(ax, x.Axis)
	for l, s := range a.FlatBase(v.Axis, ax, v.Size()) {
		k := 0
		if x.Axis != nil {
			k = l
			if up != nil {
				k = int(up[l])
			}
		}
		for p, o := range offs {
			v.Ints[s+o] = x.Ints[k*len(offs)+p]
		}
	}
}

// Evaluator evaluates indices for Select and Bounds.
type Evaluator interface {
	// Ints returns known ints. ok is false if they are known only when the program runs.
	Ints(e ir.Expr) (v Value, ok bool)
	// Elements returns the number of elements of a value.
	Elements(e ir.Expr) int
	// Excluded returns the excluded lanes of an axis, or nil.
	Excluded(ax *plan.Axis) []bool
	// OutOfRange reports indices i that are out of range in lanes that are not excluded. bad is 1
	// for these; first is the first of them. In a branch that may never be taken it may return;
	// each such index is then replaced by 1.
	OutOfRange(i, bad Value, first int64, size, dimension int, ix ir.Index, what string)
}

// maxMissing bounds the excess length of an out-of-range slice in a branch that may never be taken.
// Up to this bound, the slice keeps its length, so that it fits its use; the memory for it is
// negligible.
const maxMissing = 1 << 16

// Select evaluates indices into a container of the given shape, and checks bounds. ok is false if
// an index is computed only when the program runs.
func Select(ev Evaluator, shape []int, indices []ir.Index, what string) (acc Access, ok bool) {
	stride := 1
	for _, d := range shape {
		stride *= d
	}
	addLanes := func(ax *plan.Axis, ints []int64, stride int) {
		if acc.Axis == nil {
			acc.Axis, acc.Base = ax, make([]int32, ax.N)
		} else if acc.Axis != ax {
			if acc.Axis.Within(ax) {
				up := ax.LanesOf(acc.Axis)
				wide := make([]int32, ax.N)
				for l := range wide {
					wide[l] = acc.Base[up[l]]
				}
				acc.Axis, acc.Base = ax, wide
			} else {
				up := acc.Axis.LanesOf(ax)
				wide := make([]int64, acc.Axis.N)
				for l := range wide {
					wide[l] = ints[up[l]]
				}
				ints = wide
			}
		}
		for l, i := range ints {
			acc.Base[l] += int32(int(i-1) * stride)
		}
	}
	var outs []outLanes
	nothing := false // once an index selects nothing, the indices after it are not checked
	for k, size := range shape {
		stride /= max(size, 1)
		if k >= len(indices) {
			acc.Index.Dims = append(acc.Index.Dims, ad.Dim{N: size, Stride: stride})
			continue
		}
		ix := indices[k]
		unseen := nothing || ix.After != nil && ev.Elements(ix.After) == 0
		check := func(i Value) Value {
			if unseen {
				return i
			}
			i, out, none := inRange(ev, i, size, k+1, ix, what)
			acc.None = acc.None || none
			if out != nil {
				outs = append(outs, outLanes{i.Axis, out})
			}
			return i
		}
		switch ix.Kind {
		case ir.IndexSingle:
			i, ok := ev.Ints(ix.A)
			if !ok {
				return Access{}, false
			}
			if i = check(i); unseen {
				continue
			}
			if i.Axis == nil {
				acc.Index.Offset += int(i.Ints[0]-1) * stride
			} else {
				addLanes(i.Axis, i.Ints, stride)
			}
		case ir.IndexMulti:
			i, ok := ev.Ints(ix.A)
			if !ok || i.Axis != nil {
				return Access{}, false
			}
			i = check(i)
			nothing = nothing || ix.Ends && len(i.Ints) == 0
			t := make([]int32, len(i.Ints))
			for p, v := range i.Ints {
				t[p] = int32(int(v-1) * stride)
			}
			acc.Index.Dims = append(acc.Index.Dims, Table(t))
		case ir.IndexRange:
			from, to, ok := Bounds(ev, ix, size)
			if !ok {
				return Access{}, false
			}
			ax := Innermost(from.Axis, to.Axis)
			n, starts := SliceAgreed(ev, from, to, ax)
			if wrong := WrongParts(ix.Part, from, to, size); wrong.Ints != nil {
				check(wrong)
			}
			nothing = nothing || ix.Ends && n == 0
			if n == 0 || unseen {
				acc.Index.Dims = append(acc.Index.Dims, ad.Dim{N: n, Stride: stride})
				continue
			}
			starts = check(starts)
			starts.Ints = slices.Clone(starts.Ints)
			ends := starts
			ends.Ints = make([]int64, len(starts.Ints))
			for l, i := range starts.Ints {
				ends.Ints[l] = i + int64(n) - 1
			}
			// If the end was out of range, the lane is excluded, and any slice will do.
			for l, i := range check(ends).Ints {
				if i != ends.Ints[l] {
					ends.Ints[l] = int64(n)
				}
				starts.Ints[l] = ends.Ints[l] - int64(n) + 1
			}
			if n > size+maxMissing { // the slice is never read, so it may be shorter
				n, starts = size, Int(1)
				ax = nil
			}
			acc.None = acc.None || n > size
			if ax == nil {
				acc.Index.Offset += int(starts.Ints[0]-1) * stride
			} else {
				addLanes(ax, starts.Ints, stride)
			}
			acc.Index.Dims = append(acc.Index.Dims, ad.Dim{N: n, Stride: stride})
		case ir.IndexAll:
			nothing = nothing || ix.Ends && size == 0
			acc.Index.Dims = append(acc.Index.Dims, ad.Dim{N: size, Stride: stride})
		}
	}
	acc.Index = Affine(acc.Index)
	for _, o := range outs {
		if o.axis != acc.Axis {
			continue
		}
		if acc.Out == nil {
			acc.Out = make([]bool, acc.Axis.N)
		}
		for l, out := range o.out {
			acc.Out[l] = acc.Out[l] || out
		}
	}
	return acc, true
}

// Bounds returns the bounds of a slice of a dimension. ok is false if they are known only when the
// program runs.
func Bounds(ev Evaluator, ix ir.Index, size int) (from, to Value, ok bool) {
	from, to, ok = Int(1), Int(int64(size)), true
	if ix.A != nil {
		from, ok = ev.Ints(ix.A)
	}
	if ix.B != nil {
		v, known := ev.Ints(ix.B)
		to, ok = v, ok && known
	}
	return from, to, ok
}

// outLanes are the lanes of an axis that are excluded and have an invalid index.
type outLanes struct {
	axis *plan.Axis
	out  []bool
}

// WrongParts checks slices against the conditions of a part. For each iteration it returns the
// offending number of [ir.Part.Wrong], or 1 if the slice is valid. It returns no ints if all are
// valid.
func WrongParts(part ir.Part, from, to Value, size int) (wrong Value) {
	if part == ir.NoPart {
		return wrong
	}
	ax := Innermost(from.Axis, to.Axis)
	ints := make([]int64, plan.Lanes(ax))
	any := false
	uf, ut := plan.UpTo(ax, from.Axis), plan.UpTo(ax, to.Axis)
	for l := range ints {
		x, is := part.Wrong(from.At(uf, l, 0), to.At(ut, l, 0), size)
		if ints[l] = 1; is {
			ints[l], any = x, true
		}
	}
	if any {
		wrong = Value{Axis: ax, Ints: ints}
	}
	return wrong
}

// SliceAgreed returns the length and the starts of a slice whose bounds differ between iterations.
// The length must be the same in all iterations that are not excluded.
func SliceAgreed(ev Evaluator, from, to Value, ax *plan.Axis) (n int, starts Value) {
	sizes, starts := Slice(from, to, ax)
	n = int(sizes.MustAgree(ev.Excluded(ax)))
	if n == 0 { // an empty slice may start anywhere
		for l := range starts.Ints {
			starts.Ints[l] = 1
		}
	}
	return n, starts
}

// inRange checks known indices into a dimension. An index out of range is an error, unless its lane
// is excluded; out marks these lanes. none means that the dimension has no element to replace the
// missing one.
func inRange(ev Evaluator, i Value, size, dimension int, ix ir.Index, what string) (in Value, out []bool, none bool) {
	wrong := func(x int64) bool { return x < 1 || x > int64(size) }
	if !slices.ContainsFunc(i.Ints, wrong) {
		return i, nil, false
	}
	bad := Value{Shape: i.Shape, Axis: i.Axis, Ints: make([]int64, len(i.Ints))}
	excluded := ev.Excluded(i.Axis)
	n, rest := i.Size(), (*int64)(nil) // the first index that is out of range
	ints := slices.Clone(i.Ints)
	for p, x := range ints {
		if !wrong(x) {
			continue
		}
		ints[p] = 1
		if excluded == nil || !excluded[p/n] {
			if bad.Ints[p] = 1; rest == nil {
				rest = &x
			}
			continue
		}
		if out == nil && i.Axis != nil {
			out = make([]bool, i.Axis.N)
		}
		if out != nil {
			out[p/n] = true
		}
	}
	in = i
	in.Ints = ints
	if rest != nil {
		ev.OutOfRange(i, bad, *rest, size, dimension, ix, what)
	}
	return in, out, size == 0
}

// Table returns a dimension with listed positions.
func Table(t []int32) ad.Dim { return ad.Dim{N: len(t), Table: t} }

// Affine replaces evenly spaced tables by strides.
func Affine(ix ad.Index) ad.Index {
	for k, d := range ix.Dims {
		if d.Table == nil || d.N == 0 {
			continue
		}
		stride := int32(0)
		if d.N > 1 {
			stride = d.Table[1] - d.Table[0]
		}
		even := true
		for i, v := range d.Table {
			if v != d.Table[0]+int32(i)*stride {
				even = false
				break
			}
		}
		if even {
			ix.Offset += int(d.Table[0])
			ix.Dims[k] = ad.Dim{N: d.N, Stride: int(stride)}
		}
	}
	return ix
}

// Separable returns the index of elements at positions t, by element in row-major order, if each
// dimension of the shape has one stride.
func Separable(t []int32, shape []int) ad.Index {
	if len(shape) < 2 || len(t) == 0 {
		return Contiguous(shape)
	}
	ix := ad.Index{Dims: make([]ad.Dim, len(shape))}
	stride := 1
	for k := len(shape) - 1; k >= 0; k-- {
		ix.Dims[k].N = shape[k]
		if shape[k] > 1 {
			ix.Dims[k].Stride = int(t[stride])
		}
		stride *= shape[k]
	}
	return ix
}

// Contiguous returns the index of all elements in row-major order.
func Contiguous(shape []int) ad.Index {
	ix := ad.Index{Dims: make([]ad.Dim, len(shape))}
	stride := 1
	for k := len(shape) - 1; k >= 0; k-- {
		ix.Dims[k] = ad.Dim{N: shape[k], Stride: stride}
		stride *= shape[k]
	}
	return ix
}
