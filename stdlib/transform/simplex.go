package transform

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// Values with sums of zero or one: vectors, and matrices with such rows or columns. The maps take a
// vector, or a matrix, of which they map each row.

// simplexes has the rows for values with sums of zero or one.
var simplexes = map[types.ConstraintKind]row{
	types.Simplex: {
		Transform: softmax,
		before:    &sticks,
		numbers:   "K − 1",
		value:     "softmax(V u)",
		target:    "½ log K + log x₁ + … + log x_K",
	},
	types.SumToZeroVector: {
		Transform: Transform{lastLess, constrainSumToZero, unconstrainSumToZero},
		numbers:   "K − 1",
		value:     "V u",
		target:    "0",
	},
	types.SumToZeroMatrix: {
		Transform: Transform{bothLess, constrainSumToZeroMatrix, unconstrainSumToZeroMatrix},
		numbers:   "M − 1 by N − 1",
		value:     "W u Wᵀ",
		target:    "0",
	},
	types.RowStochasticMatrix: {
		Transform: softmax,
		before:    &sticks,
		numbers:   "M by N − 1",
		value:     "each row as a simplex",
		target:    "as for simplexes",
	},
	types.ColumnStochasticMatrix: {
		Transform: byColumns(softmax),
		before:    &stickColumns,
		numbers:   "M − 1 by N",
		value:     "each column as a simplex",
		target:    "as for simplexes",
	},
}

var (
	softmax      = Transform{lastLess, constrainSimplex, unconstrainSimplex}
	sticks       = Transform{lastLess, constrainStick, unconstrainStick}
	stickColumns = byColumns(sticks)
)

// oneLess returns the shape with one element, row or column less in the given dimensions.
func oneLess(shape []int, dims ...int) []int {
	out := append([]int{}, shape...)
	for _, d := range dims {
		out[d]--
	}
	return out
}

func lastLess(shape []int) []int  { return oneLess(shape, len(shape)-1) }
func firstLess(shape []int) []int { return oneLess(shape, 0) }
func bothLess(shape []int) []int  { return oneLess(shape, 0, 1) }

// empty reports whether there are no unconstrained numbers.
func empty(g *ad.Graph, x ad.Ref) bool { return g.Type(x).Size() == 0 }

func filled(g *ad.Graph, shape []int, v float64) ad.Ref { return g.Broadcast(g.Const(v), shape) }

func constrainSumToZero(g *ad.Graph, x ad.Ref, shape []int, _ Bounds) (ad.Ref, []ad.Ref) {
	if empty(g, x) {
		return zeros(g, shape...), nil
	}
	return isometry(g, x), nil
}

func unconstrainSumToZero(g *ad.Graph, y ad.Ref, _ Bounds) ad.Ref {
	s := g.Type(y).Shape
	if s[0] == 1 {
		return zeros(g, 0)
	}
	return unisometry(g, y)
}

// rotated returns the transpose of the Helmert matrix with k rows, whose first row is moved to the
// end.
func rotated(g *ad.Graph, k int) ad.Ref {
	return constant(g, k-1, k, func(i, j int) float64 { return helmert((j+1)%k, i) })
}

func constrainSumToZeroMatrix(g *ad.Graph, x ad.Ref, shape []int, _ Bounds) (ad.Ref, []ad.Ref) {
	if empty(g, x) {
		return zeros(g, shape...), nil
	}
	rows, cols := g.Transpose(rotated(g, shape[0])), rotated(g, shape[1])
	return g.MatMul(g.MatMul(rows, x), cols), nil
}

func unconstrainSumToZeroMatrix(g *ad.Graph, y ad.Ref, _ Bounds) ad.Ref {
	s := g.Type(y).Shape
	if s[0] == 1 || s[1] == 1 {
		return zeros(g, s[0]-1, s[1]-1)
	}
	return g.MatMul(g.MatMul(rotated(g, s[0]), y), g.Transpose(rotated(g, s[1])))
}

// constrainSimplex computes the inverse isometric log ratio.
func constrainSimplex(g *ad.Graph, x ad.Ref, shape []int, _ Bounds) (ad.Ref, []ad.Ref) {
	if empty(g, x) {
		return filled(g, shape, 1), nil // one element, or no row
	}
	z := isometry(g, x)
	logY := g.Sub(z, alongLast(g, g.LogSumExp(z), shape))
	rows, k := 1, shape[len(shape)-1]
	if len(shape) == 2 {
		rows = shape[0]
	}
	half := g.Const(0.5 * float64(rows) * math.Log(float64(k)))
	return g.Exp(logY), []ad.Ref{g.Add(half, g.Sum(logY))}
}

// alongLast repeats x, which has a number for each row, along the rows.
func alongLast(g *ad.Graph, x ad.Ref, shape []int) ad.Ref {
	if len(shape) == 1 {
		return x
	}
	return g.Gather(x, ad.Index{Dims: []ad.Dim{{N: shape[0], Stride: 1}, {N: shape[1]}}})
}

func unconstrainSimplex(g *ad.Graph, y ad.Ref, _ Bounds) ad.Ref {
	if free := lastLess(g.Type(y).Shape); (ad.Type{Shape: free}).Size() == 0 {
		return zeros(g, free...)
	}
	return unisometry(g, g.Log(y))
}

// constrainStick computes the simplex of Stan 2.32 by stick-breaking.
func constrainStick(g *ad.Graph, x ad.Ref, shape []int, _ Bounds) (ad.Ref, []ad.Ref) {
	if empty(g, x) {
		return filled(g, shape, 1), nil
	}
	k := shape[len(shape)-1]
	a := g.Sub(x, equalShares(g, shape))
	logZ, log1mZ := g.Do(ad.OpLogInvLogit, nil, a), g.Do(ad.OpLog1mInvLogit, nil, a)
	left := cumulate(g, widen(g, log1mZ, k), before) // logarithm of the rest of the stick
	logY := g.Add(left, widen(g, logZ, k))
	// The sum of left over all pieces but the last, which has no unconstrained number: log1mZ[i] is
	// in left of the k-2-i pieces after piece i.
	weight := times(g, log1mZ, constant(g, k-1, 1, func(i, _ int) float64 { return float64(k - 2 - i) }))
	return g.Exp(logY), []ad.Ref{logZ, log1mZ, weight}
}

// equalShares returns log(K-k). With it subtracted, zeros give equal pieces.
func equalShares(g *ad.Graph, shape []int) ad.Ref {
	free := lastLess(shape)
	m := free[len(free)-1]
	return byRow(g, free, func(j int) float64 { return math.Log(float64(m - j)) })
}

func unconstrainStick(g *ad.Graph, y ad.Ref, _ Bounds) ad.Ref {
	shape := g.Type(y).Shape
	if free := lastLess(shape); (ad.Type{Shape: free}).Size() == 0 {
		return zeros(g, free...)
	}
	free := lastLess(shape)
	rest, piece := narrow(g, cumulate(g, y, after), free), narrow(g, y, free)
	return g.Add(g.Sub(g.Log(piece), g.Log(rest)), equalShares(g, shape))
}

// byColumns converts a transform of rows to one of columns.
func byColumns(t Transform) Transform {
	return Transform{
		Free: firstLess,
		Constrain: func(g *ad.Graph, x ad.Ref, shape []int, b Bounds) (ad.Ref, []ad.Ref) {
			y, jacobian := t.Constrain(g, g.Transpose(x), []int{shape[1], shape[0]}, b)
			return g.Transpose(y), jacobian
		},
		Unconstrain: func(g *ad.Graph, y ad.Ref, b Bounds) ad.Ref {
			return g.Transpose(t.Unconstrain(g, g.Transpose(y), b))
		},
	}
}
