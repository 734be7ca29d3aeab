package transform

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
)

// constant is a constant matrix.
func constant(g *ad.Graph, rows, cols int, f func(i, j int) float64) ad.Ref {
	data := make([]float64, rows*cols)
	for i := range rows {
		for j := range cols {
			data[i*cols+j] = f(i, j)
		}
	}
	return g.ConstArray(ad.Type{Shape: []int{rows, cols}}, data)
}

// zeros is a constant of zeros.
func zeros(g *ad.Graph, shape ...int) ad.Ref {
	t := ad.Type{Shape: shape}
	return g.ConstArray(t, make([]float64, t.Size()))
}

func slice(g *ad.Graph, x ad.Ref, from, to int) ad.Ref {
	return g.Slice(x, from, []int{to - from})
}

// where1 is the constant matrix with 1 where a condition holds.
func where1(g *ad.Graph, rows, cols int, holds func(i, j int) bool) ad.Ref {
	return constant(g, rows, cols, func(i, j int) float64 {
		if holds(i, j) {
			return 1
		}
		return 0
	})
}

// before and after say which elements a sum takes: from the first one on, or
// from it to the last, without the element itself.
func before(i, j int) bool { return i < j }
func after(i, j int) bool  { return i > j }
func upTo(i, j int) bool   { return i <= j }
func from(i, j int) bool   { return i >= j }

// times is x·m, for x a row [k] or a matrix [r k].
func times(g *ad.Graph, x, m ad.Ref) ad.Ref {
	if len(g.Type(x).Shape) == 1 {
		return g.VecMat(x, m)
	}
	return g.MatMul(x, m)
}

// dense is the size up to which sums over parts of a vector are products with a
// matrix of zeros and ones; beyond it that would cost too much.
const dense = 32

// cumulate is the vector of the sums of x up to each element; with back, of
// those from each element on. Blocks of √n elements are summed, and then their
// totals.
func cumulate(g *ad.Graph, x ad.Ref, back bool) ad.Ref {
	n := g.Type(x).Size()
	within, between := upTo, before
	if back {
		within, between = from, after
	}
	if n <= dense {
		return g.VecMat(x, where1(g, n, n, within))
	}
	c := int(math.Ceil(math.Sqrt(float64(n))))
	r := (n + c - 1) / c
	if r*c > n {
		x = g.Concat(x, zeros(g, r*c-n))
	}
	sums := g.MatMul(g.Reshape(x, []int{r, c}), where1(g, c, c, within))
	last := c - 1
	if back {
		last = 0
	}
	totals := g.Gather(sums, ad.Index{Offset: last, Dims: []ad.Dim{{N: r, Stride: c}}})
	others := g.VecMat(totals, where1(g, r, r, between))
	sums = g.Add(sums, g.Gather(others, ad.Index{Dims: []ad.Dim{{N: r, Stride: 1}, {N: c}}}))
	return slice(g, sums, 0, n)
}

// helmert is element (i, j), from 0, of the Helmert matrix without its constant
// column; see the package's documentation.
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

// isometry is V x: K numbers with sum zero from K-1, of one vector or of each
// row of a matrix.
func isometry(g *ad.Graph, x ad.Ref) ad.Ref {
	s := g.Type(x).Shape
	m := s[len(s)-1]
	if len(s) == 2 || m < dense {
		return times(g, x, constant(g, m, m+1, func(i, j int) float64 { return helmert(j, i) }))
	}
	// The columns are constant above their lowest element.
	scale, low := make([]float64, m), make([]float64, m)
	for j := range scale {
		scale[j], low[j] = helmert(0, j), helmert(j+1, j)
	}
	t := ad.Type{Shape: []int{m}}
	zero := zeros(g, 1)
	above := g.Concat(cumulate(g, g.Mul(g.ConstArray(t, scale), x), true), zero)
	return g.Add(above, g.Concat(zero, g.Mul(g.ConstArray(t, low), x)))
}

// unisometry is Vᵀ y, the inverse of isometry.
func unisometry(g *ad.Graph, y ad.Ref) ad.Ref {
	s := g.Type(y).Shape
	k := s[len(s)-1]
	return times(g, y, constant(g, k, k-1, helmert))
}
