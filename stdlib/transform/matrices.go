package transform

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// Correlation and covariance matrices and their Cholesky factors.

// matrices has the rows for positive definite matrices and their Cholesky factors.
var matrices = map[types.ConstraintKind]row{
	types.CorrMatrix: {
		Transform: Transform{choose2, constrainCorr, unconstrainCorr},
		numbers:   "K(K − 1)/2",
		value:     "L Lᵀ, L as for `cholesky_factor_corr`",
		target:    "Σ (1 + ½(K − 1 − j)) log(1 − zᵢⱼ²), over i > j",
	},
	types.CovMatrix: {
		Transform: Transform{triangle, constrainCov, unconstrainCov},
		numbers:   "K(K + 1)/2",
		value:     "L Lᵀ, L as for `cholesky_factor_cov`",
		target:    "K log 2 + Σ (K − k + 2) uₖₖ",
	},
	types.CholeskyFactorCorr: {
		Transform: Transform{choose2, constrainCorrFactor, unconstrainCorrFactor},
		numbers:   "K(K − 1)/2",
		value:     "zᵢⱼ √(1 − zᵢ₁²) ⋯ √(1 − z²ᵢ,ⱼ₋₁) for j ≤ i",
		target:    "Σ (1 + ½(i − 1 − j)) log(1 − zᵢⱼ²), over i > j",
	},
	types.CholeskyFactorCov: {
		Transform: Transform{triangle, constrainFactor, unconstrainFactor},
		numbers:   "N(N + 1)/2 + (M − N)N",
		value:     "u, with exponentials on the diagonal",
		target:    "Σ uₖₖ",
	},
}

// below maps positions 0, 1, … to the elements below the diagonal of a k×k matrix, row by row or
// column by column.
func below(k int, byColumn bool) ad.Index {
	var table []int32
	if byColumn {
		for j := range k {
			for i := j + 1; i < k; i++ {
				table = append(table, int32(i*k+j))
			}
		}
	} else {
		for i := range k {
			for j := range i {
				table = append(table, int32(i*k+j))
			}
		}
	}
	return ad.Index{Dims: []ad.Dim{{N: len(table), Table: table}}}
}

func identity(g *ad.Graph, k int) ad.Ref {
	return where1(g, k, k, func(i, j int) bool { return i == j })
}

func choose2(shape []int) []int { return []int{shape[0] * (shape[0] - 1) / 2} }

// corrFactor returns the Cholesky factor of a correlation matrix from partial correlations tanh x.
// weight is the weight of log √(1-z²) for element (i, j), from 0, in the log Jacobian.
func corrFactor(g *ad.Graph, x ad.Ref, k int, byColumn bool, weight func(i, j int) float64) (ad.Ref, []ad.Ref) {
	if k < 2 {
		return identity(g, k), nil
	}
	ix := below(k, byColumn)
	// log √(1 - tanh² x) = log 2 + ½ (log inv_logit(2x) + log inv_logit(-2x))
	twice := g.Scale(2, x)
	s := g.Add(g.Do(ad.OpLogInvLogit, nil, twice), g.Do(ad.OpLog1mInvLogit, nil, twice))
	s = g.Add(g.Scale(0.5, s), g.Const(math.Ln2))
	length := g.Exp(g.MatMul(g.Scatter(s, ix, []int{k, k}), where1(g, k, k, before))) // remaining length of the row
	z := g.Add(g.Scatter(g.Do(ad.OpTanh, nil, x), ix, []int{k, k}), identity(g, k))
	w := g.Array(ix.Size())
	for p, e := range ix.Dims[0].Table {
		w[p] = weight(int(e)/k, int(e)%k)
	}
	return g.Mul(z, length), []ad.Ref{g.Mul(g.ConstArray(ad.Type{Shape: []int{len(w)}}, w), s)}
}

// partials is the inverse of corrFactor. The rows of l need not have length 1.
func partials(g *ad.Graph, l ad.Ref, byColumn bool) ad.Ref {
	k := g.Type(l).Shape[0]
	if k < 2 {
		return zeros(g, 0)
	}
	ix := below(k, byColumn)
	// With r the sum of the squares of the elements after l in its row, z = l/√(l²+r). Therefore
	// sinh x = z/√(1-z²) = l/√r. Unlike atanh z, this has no cancellation for z near 1.
	rest := g.MatMul(g.Square(l), where1(g, k, k, after))
	return g.Do(ad.OpAsinh, nil, g.Div(g.Gather(l, ix), g.Sqrt(g.Gather(rest, ix))))
}

func constrainCorrFactor(g *ad.Graph, x ad.Ref, shape []int, _ Bounds) (ad.Ref, []ad.Ref) {
	return corrFactor(g, x, shape[0], false, func(i, j int) float64 { return float64(2 + i - 1 - j) })
}

func unconstrainCorrFactor(g *ad.Graph, y ad.Ref, _ Bounds) ad.Ref { return partials(g, y, false) }

func constrainCorr(g *ad.Graph, x ad.Ref, shape []int, _ Bounds) (ad.Ref, []ad.Ref) {
	k := shape[0]
	l, jacobian := corrFactor(g, x, k, true, func(_, j int) float64 { return float64(2 + k - 2 - j) })
	return selfProduct(g, l), jacobian
}

func unconstrainCorr(g *ad.Graph, y ad.Ref, _ Bounds) ad.Ref {
	return ofFactor(g, y, func(l ad.Ref) ad.Ref { return partials(g, l, true) })
}

// selfProduct is L Lᵀ.
func selfProduct(g *ad.Graph, l ad.Ref) ad.Ref {
	if g.Type(l).Size() == 0 {
		return l
	}
	return g.MatMul(l, g.Transpose(l))
}

// ofFactor applies f to the Cholesky factor of y. If y is not known, so that it is NaN, the result
// is NaN. A y without a factor rejects the evaluation.
func ofFactor(g *ad.Graph, y ad.Ref, f func(l ad.Ref) ad.Ref) ad.Ref {
	k := g.Type(y).Shape[0]
	if k == 0 {
		return zeros(g, 0)
	}
	unknown := g.Do(ad.OpIsNaN, nil, g.Sum(y))
	x := f(g.Cholesky(g.Select(unknown, identity(g, k), y)))
	return g.Select(unknown, g.Const(math.NaN()), x)
}

// triangle returns the shape of the unconstrained numbers for a Cholesky factor with M ≥ N rows and
// N columns.
func triangle(shape []int) []int {
	m, n := shape[0], shape[1]
	return []int{n*(n+1)/2 + (m-n)*n}
}

// parts returns the positions of the diagonal and of the rest, the elements below it, in the
// unconstrained numbers, which are the rows of the triangle one after another. at is the position
// of each element of the rest in the matrix.
func parts(shape []int) (diagonal, rest, at ad.Index) {
	m, n := shape[0], shape[1]
	var d, r, a []int32
	p := int32(0)
	for i := range m {
		for j := range min(i+1, n) {
			if i == j {
				d = append(d, p)
			} else {
				r, a = append(r, p), append(a, int32(i*n+j))
			}
			p++
		}
	}
	index := func(t []int32) ad.Index { return ad.Index{Dims: []ad.Dim{{N: len(t), Table: t}}} }
	return index(d), index(r), index(a)
}

// factor returns the Cholesky factor, and the logarithm of its diagonal.
func factor(g *ad.Graph, x ad.Ref, shape []int) (l, logDiagonal ad.Ref) {
	n := shape[1]
	diagonal, rest, at := parts(shape)
	logDiagonal = g.Gather(x, diagonal)
	l = g.Scatter(g.Exp(logDiagonal), ad.Index{Dims: []ad.Dim{{N: n, Stride: n + 1}}}, shape)
	if at.Size() > 0 {
		l = g.Add(l, g.Scatter(g.Gather(x, rest), at, shape))
	}
	return l, logDiagonal
}

// unfactor is the inverse of factor.
func unfactor(g *ad.Graph, l ad.Ref) ad.Ref {
	shape := g.Type(l).Shape
	n := shape[1]
	diagonal, rest, at := parts(shape)
	size := triangle(shape)
	x := g.Scatter(g.Log(g.Gather(l, ad.Index{Dims: []ad.Dim{{N: n, Stride: n + 1}}})), diagonal, size)
	if at.Size() > 0 {
		x = g.Add(x, g.Scatter(g.Gather(l, at), rest, size))
	}
	return x
}

func constrainFactor(g *ad.Graph, x ad.Ref, shape []int, _ Bounds) (ad.Ref, []ad.Ref) {
	if empty(g, x) {
		return zeros(g, shape...), nil
	}
	l, logDiagonal := factor(g, x, shape)
	return l, []ad.Ref{logDiagonal}
}

func unconstrainFactor(g *ad.Graph, y ad.Ref, _ Bounds) ad.Ref {
	if empty(g, y) {
		return zeros(g, 0)
	}
	return unfactor(g, y)
}

func constrainCov(g *ad.Graph, x ad.Ref, shape []int, _ Bounds) (ad.Ref, []ad.Ref) {
	if empty(g, x) {
		return zeros(g, shape...), nil
	}
	k := shape[0]
	l, logDiagonal := factor(g, x, shape)
	w := g.Array(k)
	for i := range w {
		w[i] = float64(k - i + 1)
	}
	return selfProduct(g, l), []ad.Ref{g.Const(float64(k) * math.Ln2), g.Mul(g.ConstArray(ad.Type{Shape: []int{k}}, w), logDiagonal)}
}

func unconstrainCov(g *ad.Graph, y ad.Ref, _ Bounds) ad.Ref {
	return ofFactor(g, y, func(l ad.Ref) ad.Ref { return unfactor(g, l) })
}
