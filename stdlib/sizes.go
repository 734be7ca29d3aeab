package stdlib

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/types"
)

// ofShape declares a function of the shape of its argument, for each of the types args.
func ofShape(name, doc string, args []types.Type, f func(shape []int) int64) []Func {
	var fs []Func
	for _, t := range args {
		fs = append(fs, Func{Overload: types.Fixed{Name: name, Params: list(t), Result: tInt}, Name: name, Doc: doc,
			OfShape: func(shapes [][]int) []int64 { return []int64{f(shapes[0])} }})
	}
	return fs
}

// anyArray matches one argument that is an array of anything.
func anyArray(result types.Type) func(args []types.Type) (types.Match, bool) {
	return func(args []types.Type) (types.Match, bool) {
		if len(args) != 1 {
			return types.Match{Fault: types.Fault{Count: 1}}, false
		}
		if args[0].Dims == 0 {
			return types.Match{Fault: types.Fault{Want: "a container"}}, false
		}
		return types.Match{Params: args, Result: result}, true
	}
}

// sizes declares the functions of the shape of a container.
func sizes() []Func {
	total := func(shape []int) int64 { return int64(product(shape)) }
	first := func(shape []int) int64 { return int64(shape[0]) }
	second := func(shape []int) int64 { return int64(shape[1]) }
	one := func([]int) int64 { return 1 }
	const (
		sizeDoc  = "The number of elements of an array, a vector or a matrix; 1 for a number."
		countDoc = "The total number of numbers in a container."
		rowsDoc  = "The number of rows."
		colsDoc  = "The number of columns."
	)
	array := func(name, doc string, f func(shape []int) int64) Func {
		return Func{Overload: types.Computed{Form: name + "(array[] T) => int", Fit: anyArray(tInt)}, Name: name, Doc: doc,
			OfShape: func(shapes [][]int) []int64 { return []int64{f(shapes[0])} }}
	}
	var fs []Func
	fs = append(fs, ofShape("size", sizeDoc, list(tInt, tReal, tVec, tRow, tMat), total)...)
	fs = append(fs, array("size", sizeDoc, first))
	fs = append(fs, ofShape("num_elements", countDoc, list(tVec, tRow, tMat), total)...)
	fs = append(fs, array("num_elements", countDoc, total))
	fs = append(fs, ofShape("rows", rowsDoc, list(tVec, tMat), first)...)
	fs = append(fs, ofShape("rows", rowsDoc, list(tRow), one)...)
	fs = append(fs, ofShape("cols", colsDoc, list(tRow), first)...)
	fs = append(fs, ofShape("cols", colsDoc, list(tVec), one)...)
	fs = append(fs, ofShape("cols", colsDoc, list(tMat), second)...)
	column := func(shape []int) []int { return append(shape, 1) }
	row := func(shape []int) []int { return []int{1, shape[0]} }
	whole := func(shape []int) []int { return shape }
	return append(fs,
		allSizes("dims(T) => array[] int, T a number or any array of them", whole, types.Int, types.Real, types.Complex),
		allSizes("dims(vector) => array[] int, or arrays of these", column, types.Vector, types.ComplexVector),
		allSizes("dims(row_vector) => array[] int, or arrays of these", row, types.RowVector, types.ComplexRowVector),
		allSizes("dims(matrix) => array[] int, or arrays of these", whole, types.Matrix, types.ComplexMatrix))
}

// allSizes declares dims for arrays of some kinds of elements. As in Stan, a vector counts as a
// matrix with one column. After an array dimension of size 0 no dimensions follow, because no
// element has them.
func allSizes(form string, ofElement func(shape []int) []int, kinds ...types.Kind) Func {
	rank := types.Type{Kind: kinds[0]}.Rank()
	return Func{Name: "dims",
		Doc: "The sizes of all dimensions of a value: rows and columns also of a vector; none after a dimension of an array that is 0.",
		Overload: types.Computed{Form: form, Fit: func(args []types.Type) (types.Match, bool) {
			if len(args) != 1 {
				return types.Match{Fault: types.Fault{Count: 1}}, false
			}
			if !slices.Contains(kinds, args[0].Kind) {
				return types.Match{Fault: types.Fault{Want: kinds[0].String() + " or an array of that"}}, false
			}
			return types.Match{Params: args, Result: tInt.Array(1)}, true
		}},
		OfShape: func(shapes [][]int) []int64 {
			of := shapes[0]
			array, element := of[:len(of)-rank], of[len(of)-rank:]
			all := slices.Clone(array)
			if k := slices.Index(array, 0); k >= 0 {
				all = all[:k+1]
			} else {
				all = append(all, ofElement(slices.Clone(element))...)
			}
			out := make([]int64, len(all))
			for i, n := range all {
				out[i] = int64(n)
			}
			return out
		}}
}
