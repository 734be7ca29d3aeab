package assess

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
)

// This file: values for each row of ragged data, and for each element.

// sizesOf returns the data variable with the sizes of the rows of a variable; nil if it is not
// ragged, or its sizes are no variable of the data.
func sizesOf(all []*ir.Var, v *ir.Var) *ir.Var {
	if v.Ragged == nil {
		return nil
	}
	if ref, ok := v.Ragged.Sizes[v.Ragged.At].(*ir.VarRef); ok && slices.Contains(all, ref.Var) {
		return ref.Var
	}
	return nil
}

// placeOf returns the position along the ragged dimension of an element of ragged data, which is
// given by its offset.
func placeOf(at int, v data.Value) int {
	for _, n := range v.Shape[v.Ragged.At+1:] {
		at /= n
	}
	return at % v.Shape[v.Ragged.At]
}

// rowOf returns the number of the row of each element, given the sizes of the rows.
func rowOf(sizes data.Value) []int {
	var at []int
	for j, k := range sizes.Ints {
		at = append(at, slices.Repeat([]int{j}, max(0, int(k)))...)
	}
	return at
}

// perElement returns a value for each element from one for each row. Other values stay as they are.
func perElement(v, sizes data.Value) data.Value {
	if v.Ragged != nil || len(v.Shape) == 0 || !slices.Equal(v.Shape, sizes.Shape) {
		return v
	}
	v.Shape = []int{len(v.Reals)}
	return v.Rows(rowOf(sizes))
}
