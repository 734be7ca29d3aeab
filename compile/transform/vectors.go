package transform

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
)

// Transforms of whole vectors, written for one vector; an array of them is
// lanes.

// matrixOf is a constant matrix.
func matrixOf(g *ad.Graph, rows, cols int, f func(i, j int) float64) ad.Ref {
	data := make([]float64, rows*cols)
	for i := range rows {
		for j := range cols {
			data[i*cols+j] = f(i, j)
		}
	}
	return g.ConstArray(ad.Type{Shape: []int{rows, cols}}, data)
}

// cumulate is the vector of partial sums of x.
func cumulate(g *ad.Graph, x ad.Ref) ad.Ref {
	n := g.Type(x).Size()
	return g.MatVec(matrixOf(g, n, n, func(i, j int) float64 {
		if j <= i {
			return 1
		}
		return 0
	}), x)
}

func slice(g *ad.Graph, x ad.Ref, from, to int) ad.Ref {
	return g.Slice(x, from, []int{to - from})
}

// differences are y[i+1] - y[i].
func differences(g *ad.Graph, y ad.Ref) ad.Ref {
	n := g.Type(y).Size()
	return g.Sub(slice(g, y, 1, n), slice(g, y, 0, n-1))
}

// constrainOrdered: y[1] = x[1], y[k] = y[k-1] + exp x[k].
func constrainOrdered(g *ad.Graph, x ad.Ref, _ Bounds) (ad.Ref, []ad.Ref) {
	n := g.Type(x).Size()
	if n < 2 {
		return x, nil
	}
	rest := slice(g, x, 1, n)
	return cumulate(g, g.Concat(slice(g, x, 0, 1), g.Exp(rest))), []ad.Ref{rest}
}

func unconstrainOrdered(g *ad.Graph, y ad.Ref, _ Bounds) ad.Ref {
	n := g.Type(y).Size()
	if n < 2 {
		return y
	}
	return g.Concat(slice(g, y, 0, 1), g.Log(differences(g, y)))
}

// constrainPositiveOrdered: y[1] = exp x[1], y[k] = y[k-1] + exp x[k].
func constrainPositiveOrdered(g *ad.Graph, x ad.Ref, _ Bounds) (ad.Ref, []ad.Ref) {
	if g.Type(x).Size() == 0 {
		return x, nil
	}
	return cumulate(g, g.Exp(x)), []ad.Ref{x}
}

func unconstrainPositiveOrdered(g *ad.Graph, y ad.Ref, _ Bounds) ad.Ref {
	n := g.Type(y).Size()
	if n < 2 {
		return g.Log(y)
	}
	return g.Log(g.Concat(slice(g, y, 0, 1), differences(g, y)))
}

// helmert is the matrix [K K-1] whose orthonormal columns are orthogonal to the
// vector of ones: column n-1 has 1/√(n(n+1)) in its first n rows and
// -n/√(n(n+1)) in the next.
func helmert(g *ad.Graph, k int) ad.Ref {
	return matrixOf(g, k, k-1, func(i, j int) float64 {
		n := float64(j + 1)
		switch {
		case i <= j:
			return 1 / math.Sqrt(n*(n+1))
		case i == j+1:
			return -n / math.Sqrt(n*(n+1))
		}
		return 0
	})
}

// constrainSimplex is the inverse isometric log ratio: y = softmax(V x), with V
// the Helmert matrix; the log Jacobian is ½ log K + Σ log y (Egozcue et al.
// 2003; Stan since 2.37).
func constrainSimplex(g *ad.Graph, x ad.Ref, _ Bounds) (ad.Ref, []ad.Ref) {
	k := g.Type(x).Size() + 1
	if k == 1 {
		return g.ConstArray(ad.Type{Shape: []int{1}}, []float64{1}), nil
	}
	z := g.MatVec(helmert(g, k), x)
	logY := g.Sub(z, g.LogSumExp(z))
	half := g.Const(0.5 * math.Log(float64(k)))
	return g.Exp(logY), []ad.Ref{g.Add(half, g.Sum(logY))}
}

func unconstrainSimplex(g *ad.Graph, y ad.Ref, _ Bounds) ad.Ref {
	k := g.Type(y).Size()
	if k == 1 {
		return g.ConstArray(ad.Type{Shape: []int{0}}, nil)
	}
	return g.VecMat(g.Log(y), helmert(g, k))
}

// violatesOrder is not 0 where y is not in increasing order.
func violatesOrder(g *ad.Graph, y ad.Ref) ad.Ref {
	if g.Type(y).Size() < 2 {
		return g.Const(0)
	}
	return g.Sum(g.Do(ad.OpNot, nil, g.Less(g.Const(0), differences(g, y))))
}

func violatesPositiveOrder(g *ad.Graph, y ad.Ref) ad.Ref {
	if g.Type(y).Size() == 0 {
		return g.Const(0)
	}
	first := slice(g, y, 0, 1)
	negative := g.Sum(g.Do(ad.OpNot, nil, g.Do(ad.OpLessEqual, nil, g.Const(0), first)))
	return g.Add(negative, violatesOrder(g, y))
}

// violatesSimplex is not 0 where an element is negative or the sum is not 1 to
// 1e-8, Stan's tolerance.
func violatesSimplex(g *ad.Graph, y ad.Ref) ad.Ref {
	negative := g.Sum(g.Do(ad.OpNot, nil, g.Do(ad.OpLessEqual, nil, g.Const(0), y)))
	off := g.Do(ad.OpAbs, nil, g.Sub(g.Sum(y), g.Const(1)))
	return g.Add(negative, g.Do(ad.OpNot, nil, g.Do(ad.OpLessEqual, nil, off, g.Const(1e-8))))
}
