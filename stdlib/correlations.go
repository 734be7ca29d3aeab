package stdlib

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// Distributions of correlation matrices.

// checkLower adds the check that nothing stands above the diagonal of m.
func checkLower(g *ad.Graph, function, what string, m ad.Ref) {
	s := g.Type(m).Shape
	var above []int
	for i := range s[0] {
		for j := i + 1; j < s[1]; j++ {
			above = append(above, i*s[1]+j)
		}
	}
	if len(above) > 0 {
		zero := types.Between(0, 0)
		zero.Text = "0"
		check(g, function, "above the diagonal, "+what, zero, g.Gather(m, tableOf(above...)))
	}
}

// lkjConstant is the logarithm of the normalising constant of the LKJ density of
// k by k matrices: (k-1) log Γ(η + (k-1)/2) - Σ_{i=1}^{k-1} (½ i log π +
// log Γ(η + (k-1-i)/2)) (Lewandowski, Kurowicka & Joe 2009, theorem 5).
func lkjConstant(g *ad.Graph, eta ad.Ref, k int) ad.Ref {
	n := float64(k - 1)
	c := g.Scale(n, g.Lgamma(plus(g, eta, n/2)))
	for i := 1.; i <= n; i++ {
		c = g.Sub(c, g.Lgamma(plus(g, eta, (n-i)/2)))
	}
	return plus(g, c, -math.Log(math.Pi)*n*(n+1)/4)
}

// lkjCholesky: with L the Cholesky factor, Σ_{i=2}^{k} (k - i + 2η - 2) log Lᵢᵢ.
func lkjCholesky(b *Builder, a []Arg) []ad.Ref {
	g, l, eta := b.G, a[0].Ref, a[1].Ref
	k := b.square(a, 0)
	check(g, b.Name, "Shape parameter", types.Positive, eta)
	checkLower(g, b.Name, "Random variable", l)
	if k < 2 {
		return b.kept(a, Term{Value: lkjConstant(g, eta, k), Of: 1 << 1})
	}
	powers := make([]float64, k-1)
	for i := range powers {
		powers[i] = float64(k - 4 - i)
	}
	weights := g.Add(g.ConstArray(ad.Type{Shape: []int{k - 1}}, powers), g.Scale(2, eta))
	logs := g.Log(g.Gather(l, dims(k+1, k-1, k+1)))
	return b.kept(a,
		Term{Make: func() ad.Ref { return lkjConstant(g, eta, k) }, Of: 1 << 1},
		Term{Value: g.Mul(weights, logs), Of: always})
}

// correlations are the declarations.
func correlations() []Func {
	return []Func{
		density("lkj_corr_cholesky_lpdf", "The logarithm of the LKJ density with shape eta of a correlation matrix, at its Cholesky factor.",
			[]types.Set{types.Just(tMat), types.Just(tReal)}, []types.Constraint{types.CholeskyCorr, types.Positive}, lkjCholesky),
	}
}
