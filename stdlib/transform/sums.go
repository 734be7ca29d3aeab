package transform

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
)

// constant returns a constant matrix.
func constant(g *ad.Graph, rows, cols int, f func(i, j int) float64) ad.Ref {
	data := g.Array(rows, cols)
	for i := range rows {
		for j := range cols {
			data[i*cols+j] = f(i, j)
		}
	}
	return g.ConstArray(ad.Type{Shape: []int{rows, cols}}, data)
}

// zeros returns a constant of zeros.
func zeros(g *ad.Graph, shape ...int) ad.Ref {
	t := ad.Type{Shape: shape}
	return g.ConstArray(t, g.Array(t.Size()))
}

func slice(g *ad.Graph, x ad.Ref, from, to int) ad.Ref {
	return g.Slice(x, from, []int{to - from})
}

// where1 returns a constant matrix with 1 where a condition holds, and 0 elsewhere.
func where1(g *ad.Graph, rows, cols int, holds func(i, j int) bool) ad.Ref {
	return constant(g, rows, cols, func(i, j int) float64 {
		if holds(i, j) {
			return 1
		}
		return 0
	})
}

// Relations for cumulate. before takes the preceding elements, after the following ones; upTo also
// takes the element itself.
func before(i, j int) bool { return i < j }
func after(i, j int) bool  { return i > j }
func upTo(i, j int) bool   { return i <= j }
func from(i, j int) bool   { return i >= j }

// times returns x·m, for x a row [k] or a matrix [r k].
func times(g *ad.Graph, x, m ad.Ref) ad.Ref {
	if len(g.Type(x).Shape) == 1 {
		return g.VecMat(x, m)
	}
	return g.MatMul(x, m)
}

// dense is the size up to which partial sums of a vector are products with a matrix of zeros and
// ones. For larger vectors that is too expensive.
const dense = 32

// cumulate returns partial sums of x, which is a vector or a matrix of rows. The relation defines
// the elements of each sum: upTo and before those up to each element, with or without it; from and
// after those from it on. It sums blocks of √n elements, and then their totals.
func cumulate(g *ad.Graph, x ad.Ref, within func(i, j int) bool) ad.Ref {
	shape := g.Type(x).Shape
	n := shape[len(shape)-1]
	if n <= dense {
		return times(g, x, where1(g, n, n, within))
	}
	c := int(math.Ceil(math.Sqrt(float64(n))))
	r := (n + c - 1) / c
	rows := g.Type(x).Size() / n
	blocks := g.Reshape(widen(g, x, r*c), []int{rows * r, c})
	last, between := c-1, before
	if within(1, 0) { // backwards
		last, between = 0, after
	}
	sums := g.MatMul(blocks, where1(g, c, c, within))
	var totals ad.Ref
	if within(0, 0) {
		totals = g.Gather(sums, ad.Index{Offset: last, Dims: []ad.Dim{{N: rows, Stride: r * c}, {N: r, Stride: c}}})
	} else {
		totals = g.Reshape(g.MatMul(blocks, constant(g, c, 1, func(int, int) float64 { return 1 })), []int{rows, r})
	}
	others := g.MatMul(totals, where1(g, r, r, between))
	sums = g.Add(sums, g.Gather(others, ad.Index{Dims: []ad.Dim{{N: rows * r, Stride: 1}, {N: c}}}))
	return narrow(g, g.Reshape(sums, []int{rows, r * c}), shape)
}

// widen appends zeros to x, a vector or each row of a matrix, up to n elements.
func widen(g *ad.Graph, x ad.Ref, n int) ad.Ref {
	shape := g.Type(x).Shape
	k := shape[len(shape)-1]
	if k == n {
		return x
	}
	if len(shape) == 1 {
		return g.Concat(x, zeros(g, n-k))
	}
	return g.Scatter(x, ad.Index{Dims: []ad.Dim{{N: shape[0], Stride: n}, {N: k, Stride: 1}}}, []int{shape[0], n})
}

// narrow returns the first elements of the rows of x, as many as the shape has.
func narrow(g *ad.Graph, x ad.Ref, shape []int) ad.Ref {
	if len(shape) == 1 {
		return slice(g, g.Reshape(x, []int{g.Type(x).Size()}), 0, shape[0])
	}
	return g.Gather(x, ad.Index{Dims: []ad.Dim{{N: shape[0], Stride: g.Type(x).Shape[1]}, {N: shape[1], Stride: 1}}})
}

// helmert returns element (i, j), from 0, of the Helmert matrix without its constant column; see
// the package's documentation.
func helmert(i, j int) float64 {
	n := float64(j + 1)
	switch {
	case i <= j:
		return 1 / math.Sqrt(n*(n+1))
	case i == j+1:
		return -n / math.Sqrt(n*(n+1))
	}
	return 0
}

// isometry returns V x, which maps K-1 numbers to K numbers with sum zero, for a vector or each row
// of a matrix.
func isometry(g *ad.Graph, x ad.Ref) ad.Ref {
	s := g.Type(x).Shape
	m := s[len(s)-1]
	if m < dense {
		return times(g, x, constant(g, m, m+1, func(i, j int) float64 { return helmert(j, i) }))
	}
	// Above its last nonzero element, each column is constant.
	above, low := g.Mul(x, byRow(g, s, func(j int) float64 { return helmert(0, j) })), g.Mul(x, byRow(g, s, func(j int) float64 { return helmert(j+1, j) }))
	rows := g.Type(x).Size() / m
	return g.Add(widen(g, cumulate(g, above, from), m+1), moved(g, low, rows, m))
}

// byRow returns a constant of that shape with the same numbers in each row.
func byRow(g *ad.Graph, shape []int, f func(j int) float64) ad.Ref {
	t := ad.Type{Shape: shape}
	n := shape[len(shape)-1]
	data := g.Array(t.Size())
	for i := range data {
		data[i] = f(i % n)
	}
	return g.ConstArray(t, data)
}

// moved prepends a zero to x, a vector or each row of a matrix.
func moved(g *ad.Graph, x ad.Ref, rows, n int) ad.Ref {
	if len(g.Type(x).Shape) == 1 {
		return g.Concat(zeros(g, 1), x)
	}
	return g.Scatter(x, ad.Index{Offset: 1, Dims: []ad.Dim{{N: rows, Stride: n + 1}, {N: n, Stride: 1}}}, []int{rows, n + 1})
}

// unisometry returns Vᵀ y, the inverse of isometry.
func unisometry(g *ad.Graph, y ad.Ref) ad.Ref {
	s := g.Type(y).Shape
	k := s[len(s)-1]
	if k <= dense {
		return times(g, y, constant(g, k, k-1, helmert))
	}
	free := lastLess(s)
	above := g.Mul(narrow(g, cumulate(g, y, upTo), free), byRow(g, free, func(j int) float64 { return helmert(0, j) }))
	from1 := ad.Index{Offset: 1, Dims: []ad.Dim{{N: k - 1, Stride: 1}}}
	if len(s) == 2 {
		from1.Dims = append([]ad.Dim{{N: s[0], Stride: k}}, from1.Dims...)
	}
	return g.Add(above, g.Mul(g.Gather(y, from1), byRow(g, free, func(j int) float64 { return helmert(j+1, j) })))
}
