package stdlib

import (
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: distributions of correlation matrices.

// checkLower adds the check that all elements above the diagonal of m are 0.
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

// lkjConstant returns the logarithm of the normalising constant of the LKJ density of k by k
// matrices: (k-1) log Γ(η + (k-1)/2) - Σ_{i=1}^{k-1} (½ i log π + log Γ(η + (k-1-i)/2))
// (Lewandowski, Kurowicka & Joe 2009, theorem 5).
func lkjConstant(g *ad.Graph, eta ad.Ref, k int) ad.Ref {
	n := float64(k - 1)
	c := g.Scale(n, g.Lgamma(plus(g, eta, n/2)))
	for i := 1.; i <= n; i++ {
		c = g.Sub(c, g.Lgamma(plus(g, eta, (n-i)/2)))
	}
	return plus(g, c, -math.Log(math.Pi)*n*(n+1)/4)
}

// lkjCholesky builds Σ_{i=2}^{k} (k - i + 2η - 2) log Lᵢᵢ for the Cholesky factor L.
func lkjCholesky(b *Builder, a []Arg) []ad.Ref {
	g, l, eta := b.G, a[0].Ref, a[1].Ref
	k := b.square(a, 0)
	check(g, b.Name, "Shape parameter", types.Positive, eta)
	checkLower(g, b.Name, "Random variable", l)
	if k == 0 {
		return nil
	}
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

// lkjCorr builds |Σ|^(η-1) for a correlation matrix.
func lkjCorr(b *Builder, a []Arg) []ad.Ref {
	g, eta := b.G, a[1].Ref
	k := b.square(a, 0)
	check(g, b.Name, "Shape parameter", types.Positive, eta)
	checkUnitDiagonal(g, b.Name, "Correlation matrix", a[0].Ref)
	return b.kept(a, lkjTerms(b, b.factor(a, 0, "Correlation matrix"), eta, k, 1<<1)...)
}

// lkjTerms returns the addends for the factor l of a correlation matrix, which argument 0 gives.
func lkjTerms(b *Builder, l, eta ad.Ref, k int, ofEta uint) []Term {
	g := b.G
	if k == 0 {
		return nil
	}
	return []Term{
		{Make: func() ad.Ref { return lkjConstant(g, eta, k) }, Of: ofEta},
		{Value: g.Mul(plus(g, eta, -1), logDiagonal(g, l)), Weight: 2, Of: 1<<0 | ofEta}}
}

// checkUnitDiagonal adds the check that a matrix has ones on its diagonal.
func checkUnitDiagonal(g *ad.Graph, function, what string, m ad.Ref) {
	one := types.Between(1-symmetryTolerance, 1+symmetryTolerance)
	one.Text = "1"
	if d := diagonal(g, m); g.Type(d).Size() > 0 {
		check(g, function, "diagonal of "+what, one, d)
	}
}

// lkjCov builds a density of covariance matrices: the standard deviations are lognormal, the
// correlations have an LKJ distribution.
func lkjCov(b *Builder, a []Arg) []ad.Ref {
	g, y, mu, sigma, eta := b.G, a[0].Ref, a[1].Ref, a[2].Ref, a[3].Ref
	k := b.square(a, 0)
	if b.size(a[1]) != k || b.size(a[2]) != k {
		b.Fail("the random variable has %s, but the location has size %d and the scale has size %d", sizeText(b.shape(a[0])), b.size(a[1]), b.size(a[2]))
	}
	check(g, b.Name, "Shape parameter", types.Positive, eta)
	check(g, b.Name, "Location parameter", types.Finite, mu)
	check(g, b.Name, "Scale parameter", types.PositiveFinite, sigma)
	l := b.factor(a, 0, "Covariance matrix")
	if k == 0 {
		return nil
	}
	variances := diagonal(g, y)
	logSD := g.Scale(0.5, g.Log(variances))
	// The factor of the correlations is L with each row divided by its deviation. The quotient in
	// the first row is exactly 1; in another formula, its error would be multiplied by eta.
	unit := g.Div(l, alongCols(g, g.Sqrt(variances), []int{k, k}))
	const ofY, ofSigma = 1 << 0, 1 << 2
	ts := []Term{
		{Value: g.Square(standard(g, logSD, mu, sigma)), Weight: -0.5, Of: ofY | 1<<1 | ofSigma},
		{Value: g.Log(sigma), Weight: -1, Of: ofSigma},
		{Value: logSD, Weight: -1, Of: ofY},
		{Value: g.Const(-logSqrt2Pi * float64(k)), Of: ofY | 1<<1 | ofSigma},
	}
	return b.kept(a, append(ts, lkjTerms(b, unit, eta, k, 1<<3)...)...)
}

// drawLKJ draws the Cholesky factor of a k by k correlation matrix: canonical
// partial correlations are beta variates on (-1, 1), those of column j (from 0)
// with parameters η + ½(k-2-j) (Lewandowski, Kurowicka & Joe 2009).
func (b *Builder) drawLKJ(k int, eta ad.Ref) ad.Ref {
	g := b.G
	check(g, b.Name, "Shape parameter", types.PositiveFinite, eta)
	if k == 0 {
		b.Fail("the size must be positive")
	}
	rest := g.Broadcast(g.Const(1), []int{k}) // what remains of the length 1 of each row
	var columns []ad.Ref
	for j := range k {
		below := k - 1 - j
		head := []ad.Ref{g.Slice(rest, j, []int{1})}
		if j > 0 {
			head = append([]ad.Ref{g.Broadcast(g.Const(0), []int{j})}, head...)
		}
		if below == 0 {
			columns = append(columns, g.Concat(head...))
			break
		}
		alpha := g.Broadcast(plus(g, eta, 0.5*float64(k-2-j)), []int{below})
		z := b.random("lkj_corr", func(rng *rand.Rand, p []float64) float64 { return 2*randBeta(rng, p[0], p[0]) - 1 }, alpha)
		last := g.Slice(rest, j+1, []int{below})
		columns = append(columns, g.Concat(append(head, g.Mul(z, last))...))
		left := g.Mul(last, g.Sqrt(g.Mul(plus(g, z, 1), g.Sub(g.Const(1), z))))
		rest = g.Concat(g.Slice(rest, 0, []int{j + 1}), left)
	}
	return g.Transpose(g.Stack(columns...))
}

// correlations declares the distributions of correlation matrices.
func correlations() []Func {
	draw := func(name, doc string, f func(g *ad.Graph, l ad.Ref) ad.Ref) Func {
		return fixed(name, doc, tMat, list(tInt, tReal), func(b *Builder, a []Arg) ad.Ref {
			return f(b.G, b.drawLKJ(b.length(a, 0), a[1].Ref))
		}).in(drawnFrom(4, 4), types.Positive).with(func(f *Func) { f.Random = true })
	}
	return []Func{
		density("lkj_corr_cholesky_lpdf", "The logarithm of the LKJ density with shape eta of a correlation matrix, at its Cholesky factor.",
			[]types.Set{types.Just(tMat), types.Just(tReal)}, []types.Constraint{types.CholeskyCorr, types.Positive}, lkjCholesky),
		density("lkj_corr_lpdf", "The logarithm of the LKJ density of a correlation matrix, proportional to |Σ|^(eta - 1) (Lewandowski, Kurowicka & Joe 2009).",
			[]types.Set{types.Just(tMat), types.Just(tReal)}, []types.Constraint{types.CorrMat, types.Positive}, lkjCorr),
		density("lkj_cov_lpdf", "The logarithm of a density of covariance matrices: the standard deviations are lognormal with location mu and scale sigma, the correlations LKJ with shape eta.",
			[]types.Set{types.Just(tMat), types.Just(tVec), types.Just(tVec), types.Just(tReal)},
			[]types.Constraint{types.CovMat, {}, types.Positive, types.Positive}, lkjCov),
		draw("lkj_corr_rng", "A draw of a correlation matrix of size k from the LKJ distribution with shape eta, for arguments k and eta.",
			func(g *ad.Graph, l ad.Ref) ad.Ref { return g.MatMul(l, g.Transpose(l)) }),
		draw("lkj_corr_cholesky_rng", "A draw of the Cholesky factor of a correlation matrix of size k from the LKJ distribution with shape eta, for arguments k and eta.",
			func(_ *ad.Graph, l ad.Ref) ad.Ref { return l }),
	}
}
