package stdlib

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// sequence declares a function that picks elements of a vector, a row vector or
// an array of anything; n counts its int arguments.
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

// elements from..from+n-1 (from 0) of the first dimension.
func (b *Builder) elements(a Arg, from, n int) ad.Ref {
	s := append([]int{n}, b.shape(a)[1:]...)
	return b.G.Slice(a.Ref, from*product(s[1:]), s)
}

// parts take elements, rows, columns and blocks out of containers.
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
		i, n, all := b.whole(a, 1), b.length(a, 2), b.shape(a[0])[0]
		if n > 0 || all > 0 {
			b.within(1, i, 1, all)
		}
		b.within(2, n, 0, all-i+1)
		return b.elements(a[0], i-1, n)
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
	// piece takes n elements of a matrix from (row, col) on, stepping along.
	piece := func(b *Builder, m Arg, row, col, n int, down bool) ad.Ref {
		c := b.shape(m)[1]
		stride := 1
		if down {
			stride = c
		}
		return b.G.Gather(m.Ref, dims(row*c+col, n, stride))
	}
	row := func(b *Builder, a []Arg) ad.Ref {
		i, s := b.whole(a, 1), b.shape(a[0])
		b.within(1, i, 1, s[0])
		return piece(b, a[0], i-1, 0, s[1], false)
	}
	col := func(b *Builder, a []Arg) ad.Ref {
		j, s := b.whole(a, 1), b.shape(a[0])
		b.within(1, j, 1, s[1])
		return piece(b, a[0], 0, j-1, s[0], true)
	}
	sub := func(down bool) build {
		return func(b *Builder, a []Arg) ad.Ref {
			i, j, n, s := b.whole(a, 1), b.whole(a, 2), b.length(a, 3), b.shape(a[0])
			b.within(1, i, 1, s[0])
			b.within(2, j, 1, s[1])
			if down {
				b.within(3, n, 0, s[0]-i+1)
			} else {
				b.within(3, n, 0, s[1]-j+1)
			}
			return piece(b, a[0], i-1, j-1, n, down)
		}
	}
	block := func(b *Builder, a []Arg) ad.Ref {
		i, j, n, m, s := b.whole(a, 1), b.whole(a, 2), b.length(a, 3), b.length(a, 4), b.shape(a[0])
		b.within(1, i, 1, s[0])
		b.within(2, j, 1, s[1])
		b.within(3, n, 0, s[0]-i+1)
		b.within(4, m, 0, s[1]-j+1)
		return b.G.Gather(a[0].Ref, dims((i-1)*s[1]+j-1, n, s[1], m, 1))
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
