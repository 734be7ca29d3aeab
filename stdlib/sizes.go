package stdlib

import (
	"github.com/ppl-lang/ppl/lang/types"
)

// ofShape declares a function of the shape of its argument for each of types.
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

// sizes are the functions of the shape of a container.
func sizes() []Func {
	total := func(shape []int) int64 { return int64(product(shape)) }
	first := func(shape []int) int64 { return int64(shape[0]) }
	second := func(shape []int) int64 { return int64(shape[1]) }
	one := func([]int) int64 { return 1 }
	const (
		sizeDoc  = "The number of elements of an array, a vector or a matrix; 1 for a number."
		countDoc = "The total number of numbers in a container."
		dimsDoc  = "The sizes of all dimensions of a value."
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
	return append(fs, Func{Name: "dims", Doc: dimsDoc,
		Overload: types.Computed{Form: "dims(T) => array[] int", Fit: func(args []types.Type) (types.Match, bool) {
			if len(args) != 1 {
				return types.Match{Fault: types.Fault{Count: 1}}, false
			}
			if args[0].Kind == types.Tuple || args[0].Kind == types.Function {
				return types.Match{Fault: types.Fault{Want: "a number or a container of numbers"}}, false
			}
			return types.Match{Params: args, Result: tInt.Array(1)}, true
		}},
		OfShape: func(shapes [][]int) []int64 {
			d := make([]int64, len(shapes[0]))
			for i, n := range shapes[0] {
				d[i] = int64(n)
			}
			return d
		}})
}
