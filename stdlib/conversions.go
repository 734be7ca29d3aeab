package stdlib

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// columnMajor returns a container's elements in Stan's order: column after column of a matrix,
// otherwise the order of storage.
func columnMajor(b *Builder, a Arg) ad.Ref {
	x := a.Ref
	if a.Type.Kind == types.Matrix && a.Type.Dims == 0 {
		x = b.G.Transpose(x)
	}
	return b.G.Reshape(x, []int{b.size(a)})
}

// toMatrix makes a matrix of a container's elements in column-major order,
// filling it by columns or, if a fourth argument is 0, by rows.
func toMatrix(b *Builder, a []Arg) ad.Ref {
	m, n := b.length(a, 1), b.length(a, 2)
	if m*n != b.size(a[0]) {
		b.Fail("a matrix of %d by %d has %d elements, but there are %d", m, n, m*n, b.size(a[0]))
	}
	x := columnMajor(b, a[0])
	if len(a) > 3 && b.whole(a, 3) == 0 {
		return b.G.Reshape(x, []int{m, n})
	}
	return b.G.Gather(x, dims(0, m, 1, n, m))
}

// conversions change the type of a container.
func conversions() []Func {
	flat := func(b *Builder, a []Arg) ad.Ref { return columnMajor(b, a[0]) }
	self := func(b *Builder, a []Arg) ad.Ref { return a[0].Ref }
	reals, ints := tReal.Array(1), tInt.Array(1)
	const (
		vecDoc   = "The elements as a vector, those of a matrix column by column."
		arrayDoc = "The elements as an array of one dimension: of a matrix column by column, of nested arrays in order."
		matDoc   = "The elements as a matrix of m rows and n columns, filled column by column, or row by row if a fourth argument is 0."
	)
	var fs []Func
	from := list(tVec, tRow, tMat, ints, reals)
	fs = append(fs, fixedEach("to_vector", vecDoc, tVec, from, nil, flat)...)
	fs = append(fs, fixedEach("to_row_vector", vecDoc, tRow, from, nil, flat)...)
	fs = append(fs, fixedEach("to_array_1d", arrayDoc, reals, list(tVec, tRow, tMat), nil, flat)...)
	fs = append(fs, Func{Name: "to_array_1d", Doc: arrayDoc, Build: flat, Overload: types.Computed{
		Form: "to_array_1d(array[…] T) => array[] T",
		Fit: func(args []types.Type) (types.Match, bool) {
			if len(args) != 1 {
				return types.Match{Fault: types.Fault{Count: 1}}, false
			}
			if k := args[0].Kind; args[0].Dims == 0 || k != types.Int && k != types.Real {
				return types.Match{Fault: types.Fault{Want: "a vector, a matrix, or an array of numbers"}}, false
			}
			return types.Match{Params: args, Result: types.Type{Kind: args[0].Kind, Dims: 1}}, true
		}}})
	fs = append(fs, fixed("to_array_2d", "The matrix as an array.", tReal.Array(2), list(tMat), self))
	for _, more := range [][]types.Type{list(tInt, tInt), list(tInt, tInt, tInt)} {
		fs = append(fs, fixedEach("to_matrix", matDoc, tMat, from, more, toMatrix)...)
	}
	const sameDoc = "The same elements as a matrix."
	fs = append(fs, fixedEach("to_matrix", sameDoc, tMat, list(tVec, tRow, tMat), nil, func(b *Builder, a []Arg) ad.Ref {
		return b.asMatrix(a[0])
	})...)
	fs = append(fs, fixedEach("to_matrix", sameDoc, tMat, list(tRow.Array(1), tInt.Array(2), tReal.Array(2)), nil, self)...)
	transposed := func(b *Builder, a []Arg) ad.Ref { return b.G.Transpose(a[0].Ref) }
	return append(fs,
		fixed("to_matrix", "The matrix with these vectors as columns.", tMat, list(tVec.Array(1)), transposed),
		fixed("to_vector_array", "The columns of the matrix.", tVec.Array(1), list(tMat), transposed),
		fixed("to_row_vector_array", "The rows of the matrix.", tRow.Array(1), list(tMat), self))
}
