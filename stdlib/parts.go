package stdlib

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// sequence declares a function that picks elements of a vector, a row vector or any array; n counts
// its int arguments.
func sequence(name, doc string, n int, f build) []Func {
	ints := make([]types.Type, n)
	for i := range ints {
		ints[i] = tInt
	}
	fs := fixedEach(name, doc, types.Type{}, vectors, ints, f)
	form := name + "(array[] T"
	for range n {
		form += ", int"
	}
	return append(fs, Func{Name: name, Doc: doc, Build: f, Overload: types.Computed{Form: form + ") => array[] T",
		Fit: func(args []types.Type) (types.Match, bool) {
			if len(args) != n+1 {
				return types.Match{Fault: types.Fault{Count: n + 1}}, false
			}
			if args[0].Dims == 0 || args[0].Kind == types.Tuple {
				return types.Match{Fault: types.Fault{Want: "a vector, a row_vector or an array"}}, false
			}
			for i, a := range args[1:] {
				if !a.Equal(tInt) {
					return types.Match{Fault: types.Fault{Arg: i + 1, Type: tInt}}, false
				}
			}
			return types.Match{Params: args, Result: args[0]}, true
		}}})
}

// elements returns elements from, …, from+n-1 (counted from 0) of the first dimension.
func (b *Builder) elements(a Arg, from, n int) ad.Ref {
	s := append([]int{n}, b.shape(a)[1:]...)
	return b.G.Slice(a.Ref, from*product(s[1:]), s)
}

// parts declares the functions that take elements, rows, columns and blocks out of containers.
func parts() []Func {
	head := func(b *Builder, a []Arg) ad.Ref {
		n := b.whole(a, 1)
		b.within(1, n, 0, b.shape(a[0])[0])
		return b.elements(a[0], 0, n)
	}
	tail := func(b *Builder, a []Arg) ad.Ref {
		n, all := b.whole(a, 1), b.shape(a[0])[0]
		b.within(1, n, 0, all)
		return b.elements(a[0], all-n, n)
	}
	segment := func(b *Builder, a []Arg) ad.Ref {
		n, s := b.length(a, 2), b.shape(a[0])
		if n == 0 { // as in Stan, the start must exist even if no element is taken
			b.position(a, 1, 0, s[0])
			return b.elements(a[0], 0, 0)
		}
		inner := product(s[1:])
		dims := append([]int{n, inner}, rowMajorOf(s[1:])...)
		return b.part(a, 0, b.position(a, 1, n-1, s[0]).times(inner), dims...)
	}
	reverse := func(b *Builder, a []Arg) ad.Ref {
		s := b.shape(a[0])
		if s[0] == 0 {
			return a[0].Ref
		}
		ds := rowMajor(s)
		ix := ad.Index{Offset: (s[0] - 1) * ds[0].Stride, Dims: ds}
		ds[0].Stride = -ds[0].Stride
		return b.G.Gather(a[0].Ref, ix)
	}
	row := func(b *Builder, a []Arg) ad.Ref {
		s := b.shape(a[0])
		return b.part(a, 0, b.position(a, 1, 0, s[0]).times(s[1]), s[1], 1)
	}
	col := func(b *Builder, a []Arg) ad.Ref {
		s := b.shape(a[0])
		return b.part(a, 0, b.position(a, 1, 0, s[1]), s[0], s[1])
	}
	sub := func(down bool) build {
		return func(b *Builder, a []Arg) ad.Ref {
			n, s := b.length(a, 3), b.shape(a[0])
			rows, cols, stride := 0, n-1, 1
			if down {
				rows, cols, stride = n-1, 0, s[1]
			}
			from := b.position(a, 1, rows, s[0]).times(s[1]).plus(b.position(a, 2, cols, s[1]))
			return b.part(a, 0, from, n, stride)
		}
	}
	block := func(b *Builder, a []Arg) ad.Ref {
		n, m, s := b.length(a, 3), b.length(a, 4), b.shape(a[0])
		from := b.position(a, 1, n-1, s[0]).times(s[1]).plus(b.position(a, 2, m-1, s[1]))
		return b.part(a, 0, from, n, s[1], m, 1)
	}
	var fs []Func
	fs = append(fs, sequence("head", "The first n elements.", 1, head)...)
	fs = append(fs, sequence("tail", "The last n elements.", 1, tail)...)
	fs = append(fs, sequence("segment", "n elements from element i on, for arguments i and n.", 2, segment)...)
	fs = append(fs, sequence("reverse", "The elements in reverse order.", 0, reverse)...)
	return append(fs,
		fixed("row", "Row i of a matrix.", tRow, list(tMat, tInt), row),
		fixed("col", "Column j of a matrix.", tVec, list(tMat, tInt), col),
		fixed("sub_row", "n elements of row i from column j on.", tRow, list(tMat, tInt, tInt, tInt), sub(false)),
		fixed("sub_col", "n elements of column j from row i on.", tVec, list(tMat, tInt, tInt, tInt), sub(true)),
		fixed("block", "n rows and m columns from row i and column j on.", tMat, list(tMat, tInt, tInt, tInt, tInt), block))
}

// offset is the start of a part of a container: known plus, unless it is None, the computed number
// ref.
type offset struct {
	g     *ad.Graph
	known int
	ref   ad.Ref // None: the start is known
}

// position returns the offset for the index argument i (from 1) of a dimension of size all. At
// least more elements must follow.
func (b *Builder) position(a []Arg, i, more, all int) offset {
	if v, ok := b.G.Value(a[i].Ref); ok && b.G.Type(a[i].Ref).Lanes == 0 {
		at := int(v[0])
		b.within(i, at, 1, all)
		if at+more > all {
			b.Fail("the part from argument %d on, of %d elements, exceeds the %d that there are", i+1, more+1, all)
		}
		return offset{b.G, at - 1, ad.None}
	}
	inside := types.Between(1, float64(all-max(more, 0)))
	check(b.G, b.Name, "argument "+ad.FormatNumber(float64(i+1)), inside, a[i].Ref)
	return offset{b.G, -1, a[i].Ref}
}

func (p offset) times(n int) offset {
	p.known *= n
	if p.ref != ad.None {
		p.ref = p.g.Scale(float64(n), p.ref)
	}
	return p
}

func (p offset) plus(q offset) offset {
	p.known += q.known
	switch {
	case p.ref == ad.None:
		p.ref = q.ref
	case q.ref != ad.None:
		p.ref = p.g.Add(p.ref, q.ref)
	}
	return p
}

// part takes elements of argument i, starting at from, with dimensions given as pairs of number and
// stride.
func (b *Builder) part(a []Arg, i int, from offset, pairs ...int) ad.Ref {
	if from.ref == ad.None {
		return b.G.Gather(a[i].Ref, dims(from.known, pairs...))
	}
	ix := dims(0, pairs...)
	steps := b.G.Array(ix.Size())
	ix.Each(func(pos, elem int) { steps[pos] = float64(elem + from.known) })
	at := b.G.ConstArray(ad.Type{Shape: ix.Shape()}, steps)
	return b.G.Take(a[i].Ref, b.G.Add(at, from.ref))
}

// rowMajorOf returns the dimensions of a shape as pairs for dims.
func rowMajorOf(shape []int) (pairs []int) {
	for _, d := range rowMajor(shape) {
		pairs = append(pairs, d.N, d.Stride)
	}
	return pairs
}
