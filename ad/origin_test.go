package ad

import (
	"slices"
	"testing"
)

// TestZeros checks that the elements above the diagonal of a triangular matrix are known to be 0,
// through sums, products and moves of elements, and that others are not.
func TestZeros(t *testing.T) {
	g := NewGraph()
	x := g.Input(Type{Shape: []int{3}})
	square := Type{Shape: []int{2, 2}}
	lower := g.Scatter(x, Index{Dims: []Dim{{N: 3, Table: []int32{0, 2, 3}}}}, []int{2, 2})
	diagonal := g.ConstArray(square, []float64{1, 0, 0, 1})
	full := g.Gather(x, Index{Dims: []Dim{{N: 4, Table: []int32{0, 1, 2, 0}}}})
	full = g.Reshape(full, []int{2, 2})
	zeros := g.Zeros()
	for _, c := range []struct {
		name string
		r    Ref
		want []bool
	}{
		{"an input", x, nil},
		{"lower triangle", lower, []bool{false, true, false, false}},
		{"a constant", diagonal, []bool{false, true, true, false}},
		{"a sum", g.Add(lower, diagonal), []bool{false, true, false, false}},
		{"a difference with something", g.Sub(lower, full), nil},
		{"a product", g.Mul(full, lower), []bool{false, true, false, false}},
		{"a product with a number", g.Neg(g.Mul(g.Slice(x, 0, nil), lower)), []bool{false, true, false, false}},
		{"a quotient", g.Div(lower, full), []bool{false, true, false, false}},
		{"a column", g.Gather(lower, Index{Offset: 1, Dims: []Dim{{N: 2, Stride: 2}}}), []bool{true, false}},
		{"a scattered triangle", g.Scatter(lower, Index{Dims: []Dim{{N: 2, Stride: 2}, {N: 2, Stride: 1}}}, []int{6}), []bool{false, true, false, false, true, true}},
		{"an exponential", g.Exp(lower), nil},
	} {
		if got := zeros(c.r); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
	}
}
