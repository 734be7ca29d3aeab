package dense

import (
	"math"

	"github.com/ppl-lang/ppl/compile/internal/native"
)

// This file: straight-line code for factors of matrices with few rows, their adjoints and
// triangular solves. Other code generators include it in their code. An element is a number, or one
// number in each lane. The speed is limited by the latency of pivots. Tiles would be half empty,
// and need transpositions before and after.

// Load returns element (i, j) of a matrix, and Store stores one. Both may be called more than once
// for an element.
type (
	Load  func(i, j int) native.Value
	Store func(i, j int, x native.Value)
)

// Factor generates the Cholesky factor of a matrix of n rows, with zeros above the diagonal. It
// reads only the lower triangle. It returns a mask that is true if a pivot is not positive; the
// stored numbers are then invalid. Each pivot waits for the quotient of the one before, not for its
// root.
func Factor(b *native.Builder, n int, a Load, l Store) (bad native.Value) {
	c, x := square(n), square(n) // columns as they are, and divided by minus the pivot
	least, strange := native.Value(0), native.Value(0)
	for p := range n {
		for i := p; i < n; i++ {
			c[i][p] = a(i, p)
			for k := range p {
				c[i][p] = b.MulAdd(x[p][k], c[i][k], c[i][p])
			}
		}
		pivot := c[p][p]
		over := b.Sub(pivot, pivot) // 0, or NaN for an infinite pivot or NaN
		if p == 0 {
			least, strange = pivot, over
		} else {
			least, strange = b.Min(pivot, least), b.Add(strange, over)
		}
		quotient := b.Div(b.Number(-1), pivot)
		for i := p + 1; i < n; i++ {
			x[i][p] = b.Mul(c[i][p], quotient)
		}
		root := b.Sqrt(pivot)
		inverse := b.Neg(b.Mul(root, quotient))
		l(p, p, root)
		for i := p + 1; i < n; i++ {
			l(i, p, b.Mul(c[i][p], inverse))
			l(p, i, b.Number(0))
		}
	}
	return b.Either(b.Compare(native.NGT, least, b.Number(0)), b.Compare(native.NEQ, strange, b.Number(0)))
}

// FactorAdjoint generates the adjoint of the lower triangle of a matrix of n rows, with zeros above
// the diagonal. It computes it from the factor l and the lower triangle of the factor's adjoint;
// see package kernel.
func FactorAdjoint(b *native.Builder, n int, l, adj Load, dst Store) {
	inverse := make([]native.Value, n)
	for j := range inverse {
		inverse[j] = b.Div(b.Number(-1), l(j, j))
	}
	s := square(n)
	for j := n - 1; j >= 0; j-- {
		for i := n - 1; i >= j; i-- {
			t := b.Neg(adj(i, j))
			for k := n - 1; k > j; k-- {
				t = b.MulAdd(l(k, j), s[max(i, k)][min(i, k)], t)
			}
			s[i][j] = b.Mul(t, inverse[j])
			if i != j {
				dst(i, j, s[i][j])
				dst(j, i, b.Number(0))
			} else {
				dst(i, i, b.Mul(s[i][i], b.Number(0.5)))
			}
		}
	}
}

// Substitute generates the solution x of a triangular system of n equations, op(A) x = r. It reads
// only the upper or lower triangle of A, as isUpper says. If trans is set, op is the transpose.
func Substitute(b *native.Builder, n int, isUpper, trans bool, a Load, r func(i int) native.Value, x func(i int, v native.Value)) {
	xs := make([]native.Value, n)
	inverse := make([]native.Value, n)
	for i := range inverse {
		inverse[i] = b.Div(b.Number(-1), a(i, i))
	}
	order := make([]int, n)
	for k := range order {
		order[k] = k
		if isUpper != trans {
			order[k] = n - 1 - k
		}
	}
	for k, i := range order {
		t := b.Neg(r(i))
		for _, j := range order[:k] {
			if trans {
				t = b.MulAdd(a(j, i), xs[j], t)
			} else {
				t = b.MulAdd(a(i, j), xs[j], t)
			}
		}
		xs[i] = b.Mul(t, inverse[i])
		x(i, xs[i])
	}
}

func square(n int) [][]native.Value {
	x := make([][]native.Value, n)
	for i := range x {
		x[i] = make([]native.Value, n)
		for j := range x[i] {
			x[i][j] = math.MinInt32 // marks an element that was not stored
		}
	}
	return x
}
