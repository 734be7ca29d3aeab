package ad

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Index maps positions of a result to elements of a source: position
// (i0, i1, …) of a result with dimensions Dims[k].N is element
//
//	Offset + Σ_k (Dims[k].Table[ik] if there is a table, else Dims[k].Stride·ik)
//
// of the source's flat storage. With it, OpGather is every index, slice,
// transposition, row gather, broadcast and flattening; OpScatter, its
// transpose, is every sum, segment sum and placement. Each is the other's
// derivative.
type Index struct {
	Offset int
	Dims   []Dim
}

// Dim is one dimension of an Index. A Table holds element offsets (already multiplied by the
// stride) and must not change afterwards. A graph stores equal tables once.
type Dim struct {
	N, Stride int
	Table     []int32
}

// Shape returns the shape of the result.
func (x Index) Shape() []int {
	s := make([]int, len(x.Dims))
	for i, d := range x.Dims {
		s[i] = d.N
	}
	return s
}

// Size returns the number of elements of the result.
func (x Index) Size() int {
	n := 1
	for _, d := range x.Dims {
		if d.N == 0 {
			return 0
		}
		n = times(n, d.N)
	}
	return n
}

// AppendKey implements Keyed. Affine maps are compared by content, tables by address: a graph
// stores equal tables once.
func (x Index) AppendKey(b []byte) []byte {
	b = strconv.AppendInt(b, int64(x.Offset), 36)
	for _, d := range x.Dims {
		b = strconv.AppendInt(append(b, ','), int64(d.N), 36)
		if d.Table == nil {
			b = strconv.AppendInt(append(b, ':'), int64(d.Stride), 36)
		} else if d.N > 0 {
			b = fmt.Appendf(b, "@%p", &d.Table[0])
		}
	}
	return b
}

// tables holds index tables; equal ones are stored once. So gathers with equal tables become one
// node, and passes can compare tables by their address.
type tables struct {
	byContent map[tableKey][]int32
	known     map[*int32]int // for each stored table, by its address: its length
	shared    bool           // another graph uses the same maps
}

type tableKey struct {
	n    int
	hash uint64
}

// clone returns tables that can grow independently. The maps are copied when they grow, since most
// never do. Until then, the clone also knows tables that are added to ts.
func (ts *tables) clone() tables { return tables{ts.byContent, ts.known, ts.known != nil} }

// index returns x with its tables replaced by equal ones that are stored. ok is false if that
// changes nothing.
func (ts *tables) index(x Index) (_ Index, ok bool) {
	for k, d := range x.Dims {
		if d.Table == nil || d.N == 0 {
			continue
		}
		t := ts.table(d.Table[:d.N])
		if &t[0] == &d.Table[0] {
			continue
		}
		if !ok {
			x.Dims, ok = slices.Clone(x.Dims), true
		}
		x.Dims[k].Table = t
	}
	return x, ok
}

func (ts *tables) table(t []int32) []int32 {
	if ts.known[&t[0]] == len(t) {
		return t
	}
	key := tableKey{n: len(t), hash: 14695981039346656037} // FNV hash, of numbers instead of bytes
	for _, v := range t {
		key.hash = (key.hash ^ uint64(uint32(v))) * 1099511628211
	}
	switch old, ok := ts.byContent[key]; {
	case !ok:
		if ts.byContent == nil {
			ts.byContent, ts.known = map[tableKey][]int32{}, map[*int32]int{}
		}
		if ts.shared {
			ts.byContent, ts.known, ts.shared = maps.Clone(ts.byContent), maps.Clone(ts.known), false
		}
		ts.byContent[key], ts.known[&t[0]] = t, len(t)
	case slices.Equal(old, t):
		return old
	}
	return t // it is new, or the hash of another table is the same
}

// Each calls f(position, element) for every position of the result, in order.
func (x Index) Each(f func(pos, elem int)) {
	if x.Size() == 0 {
		return
	}
	if len(x.Dims) == 0 {
		f(0, x.Offset)
		return
	}
	pos, last := 0, len(x.Dims)-1
	var walk func(k, base int)
	walk = func(k, base int) {
		d := &x.Dims[k]
		for i := range d.N {
			at := base + i*d.Stride
			if d.Table != nil {
				at = base + int(d.Table[i])
			}
			if k < last {
				walk(k+1, at)
				continue
			}
			f(pos, at)
			pos++
		}
	}
	walk(0, x.Offset)
}

// isIdentity reports whether the map selects elements 0, 1, …, size-1 in order.
func (x Index) isIdentity(size int) bool {
	if x.Offset != 0 || x.Size() != size {
		return false
	}
	stride := 1
	for k := len(x.Dims) - 1; k >= 0; k-- {
		d := x.Dims[k]
		if d.N != 1 && (d.Table != nil || d.Stride != stride) {
			return false
		}
		stride *= d.N
	}
	return true
}

// compose returns the map that applies x to the result of src, if that can be written as an Index:
// if x selects whole dimensions of that result.
func (x Index) compose(src Index) (Index, bool) {
	// Only a source that is a scalar or affine in one dimension is handled here; lowering composes
	// other maps.
	if len(src.Dims) == 1 && src.Dims[0].Table == nil {
		s := src.Dims[0].Stride
		out := Index{Offset: src.Offset + x.Offset*s, Dims: make([]Dim, len(x.Dims))}
		for i, d := range x.Dims {
			out.Dims[i] = Dim{N: d.N, Stride: d.Stride * s}
			if d.Table != nil {
				t := make([]int32, d.N)
				for j, v := range d.Table {
					t[j] = v * int32(s)
				}
				out.Dims[i].Table = t
			}
		}
		return out, true
	}
	return Index{}, false
}

// bounds returns the least and the greatest element that the map selects; ok is false if it selects
// none.
func (x Index) bounds() (lo, hi int, ok bool) {
	lo, hi = x.Offset, x.Offset
	for _, d := range x.Dims {
		if d.N == 0 {
			return 0, 0, false
		}
		if d.Table == nil {
			if s := (d.N - 1) * d.Stride; s < 0 {
				lo += s
			} else {
				hi += s
			}
			continue
		}
		mn, mx := d.Table[0], d.Table[0]
		for _, v := range d.Table {
			mn, mx = min(mn, v), max(mx, v)
		}
		lo, hi = lo+int(mn), hi+int(mx)
	}
	return lo, hi, true
}

// scatterAttr is the attribute of a scatter: the map, and the shape of the result.
type scatterAttr struct {
	Index
	to []int
}

// AppendKey implements Keyed.
func (s scatterAttr) AppendKey(b []byte) []byte { return appendSizes(s.Index.AppendKey(b), s.to) }

// Index returns the map of a gather or scatter node, for executors.
func (n *Node) Index() Index {
	switch a := n.Attr.(type) {
	case Index:
		return a
	case scatterAttr:
		return a.Index
	}
	return Index{}
}

type shapeAttr struct{ shape []int }

// AppendKey implements Keyed.
func (s shapeAttr) AppendKey(b []byte) []byte { return appendSizes(b, s.shape) }

func appendSizes(b []byte, sizes []int) []byte {
	for _, n := range sizes {
		b = strconv.AppendInt(append(b, ';'), int64(n), 36)
	}
	return b
}

// Gather returns, in each lane, the elements of x that ix selects.
func (g *Graph) Gather(x Ref, ix Index) Ref { return g.Do(OpGather, ix, x) }

// Scatter returns an array of shape to, each of whose elements is the sum of those elements of x
// that ix maps to it, or 0 if there are none.
func (g *Graph) Scatter(x Ref, ix Index, to []int) Ref {
	return g.Do(OpScatter, scatterAttr{ix, to}, x)
}

// Reshape gives x another shape of the same size.
func (g *Graph) Reshape(x Ref, shape []int) Ref {
	if n := &g.Nodes[x]; shapeEqual(n.Type.Shape, shape) && table[n.Op].Class != Region {
		return x // without allocating an attribute
	}
	return g.Do(OpReshape, shapeAttr{shape}, x)
}

// Concat returns the elements of all arguments one after another, as a vector, in each lane.
func (g *Graph) Concat(xs ...Ref) Ref { return g.Do(OpConcat, nil, xs...) }

// Stack returns an array whose first dimension runs over the arguments, which have the same shape.
// Arguments without lanes are repeated if others have lanes.
func (g *Graph) Stack(xs ...Ref) Ref {
	shape := append([]int{len(xs)}, g.Type(xs[0]).Shape...)
	return g.Reshape(g.Concat(xs...), shape)
}

// Lane turns the first dimension of x, of size N, into N lanes; Unlane is its inverse. Neither
// moves data.
func (g *Graph) Lane(x Ref) Ref { return g.Do(OpLane, nil, x) }

// Unlane turns lanes into a first dimension. It returns x unchanged if it has no lanes.
func (g *Graph) Unlane(x Ref) Ref {
	if g.Type(x).Lanes == 0 {
		return x
	}
	return g.Do(OpUnlane, nil, x)
}

// Broadcast repeats x, whose shape is scalar or equals shape, to that shape.
func (g *Graph) Broadcast(x Ref, shape []int) Ref {
	if shapeEqual(g.Type(x).Shape, shape) {
		return x
	}
	ix := Index{Dims: make([]Dim, len(shape))}
	for i, n := range shape {
		ix.Dims[i] = Dim{N: n}
	}
	return g.Gather(x, ix)
}

// Spread repeats x in each of n lanes. It returns a value with lanes unchanged.
func (g *Graph) Spread(x Ref, n int) Ref {
	t := g.Type(x)
	if t.Lanes > 0 {
		return x
	}
	ix := contiguous(t.Shape, 0)
	ix.Dims = append([]Dim{{N: n}}, ix.Dims...)
	return g.Lane(g.Gather(x, ix))
}

// contiguous returns the map of the elements offset, offset+1, … in the given shape.
func contiguous(shape []int, offset int) Index {
	ix := Index{Offset: offset, Dims: make([]Dim, len(shape))}
	stride := 1
	for k := len(shape) - 1; k >= 0; k-- {
		ix.Dims[k] = Dim{N: shape[k], Stride: stride}
		stride *= shape[k]
	}
	return ix
}

// Slice returns the elements of x from offset on, in the given shape.
func (g *Graph) Slice(x Ref, offset int, shape []int) Ref {
	return g.Gather(x, contiguous(shape, offset))
}

// Transpose swaps the two dimensions of a matrix.
func (g *Graph) Transpose(x Ref) Ref {
	s := g.Type(x).Shape
	if len(s) != 2 {
		g.fail(OpGather, "transpose of a value of shape %v", s)
	}
	return g.Gather(x, Index{Dims: []Dim{{N: s[1], Stride: 1}, {N: s[0], Stride: s[1]}}})
}

// Sum adds the elements of x in each lane.
func (g *Graph) Sum(x Ref) Ref {
	t := g.Type(x)
	if len(t.Shape) == 0 {
		return x
	}
	return g.Scatter(x, Index{Dims: []Dim{{N: t.Size()}}}, nil)
}

// SumLanes adds x over its lanes, element by element.
func (g *Graph) SumLanes(x Ref) Ref {
	t := g.Type(x)
	if t.Lanes == 0 {
		return x
	}
	ix := contiguous(t.Shape, 0)
	ix.Dims = append([]Dim{{N: t.Lanes}}, ix.Dims...)
	return g.Scatter(g.Unlane(x), ix, t.Shape)
}

// ReduceTo sums x, an adjoint, to type t: the type of the value before it was broadcast.
func (g *Graph) ReduceTo(x Ref, t Type) Ref {
	if len(t.Shape) == 0 && len(g.Type(x).Shape) > 0 {
		x = g.Sum(x)
	}
	if t.Lanes == 0 {
		x = g.SumLanes(x)
	}
	return x
}

// Expand repeats x to type t. x is a scalar or has t's shape, with or without lanes.
func (g *Graph) Expand(x Ref, t Type) Ref {
	x = g.Broadcast(x, t.Shape)
	if t.Lanes > 0 {
		x = g.Spread(x, t.Lanes)
	}
	return x
}
