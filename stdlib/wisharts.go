package stdlib

import (
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: Wishart distributions of positive definite matrices, and of their Cholesky factors.
// Formulas are those of Gelman et al., Bayesian Data Analysis (3rd ed.), appendix A; those of
// factors have the Jacobian 2ᵏ Π Lᵢᵢ^(k-i+1).

// wishartSizes checks matrices W, S and the degrees of freedom nu.
func (b *Builder) wishartSizes(a []Arg, w, nu, s int) int {
	k := b.square(a, s)
	if w >= 0 && b.square(a, w) != k {
		b.Fail("the random variable has %s, but the scale parameter has %s", sizeText(b.shape(a[w])), sizeText(b.shape(a[s])))
	}
	least := types.Constraint{Text: "greater than " + ad.FormatNumber(float64(k-1)), Lo: float64(k - 1), Hi: math.Inf(1), LoOpen: true}
	check(b.G, b.Name, degrees.Is, least, a[nu].Ref)
	if w < 0 {
		check(b.G, b.Name, degrees.Is, types.Finite, a[nu].Ref)
	}
	return k
}

// logMultigamma returns log Γ_k(x), where Γ_k is the multivariate gamma function.
func logMultigamma(g *ad.Graph, k int, x ad.Ref) ad.Ref {
	sum := g.Const(float64(k*(k-1)) / 4 * math.Log(math.Pi))
	for j := range k {
		sum = g.Add(sum, g.Lgamma(plus(g, x, -float64(j)/2)))
	}
	return sum
}

// wishart builds |W|^(½(ν-k-1)) exp(-½ tr S⁻¹W) / (2^(½νk) Γ_k(½ν) |S|^(½ν)).
func wishart(b *Builder, a []Arg) []ad.Ref {
	const ofW, ofNu, ofS = 1 << 0, 1 << 1, 1 << 2
	g, nu := b.G, a[1].Ref
	k := b.wishartSizes(a, 0, 1, 2)
	lw, ls := b.factor(a, 0, "random variable"), b.factor(a, 2, "scale parameter")
	if k == 0 {
		return nil
	}
	dim := float64(k)
	return b.kept(a,
		Term{Value: nu, Weight: -0.5 * dim * math.Ln2, Of: ofNu},
		Term{Value: logMultigamma(g, k, g.Scale(0.5, nu)), Weight: -1, Of: ofNu},
		Term{Value: g.Mul(nu, logDiagonal(g, ls)), Weight: -1, Of: ofNu | ofS},
		Term{Value: g.Square(g.TriSolve(ls, lw, ad.TriAttr{})), Weight: -0.5, Of: ofS | ofW},
		Term{Value: g.Mul(plus(g, nu, -dim-1), logDiagonal(g, lw)), Of: ofW | ofNu})
}

// invWishart builds |S|^(½ν) exp(-½ tr S W⁻¹) / (2^(½νk) Γ_k(½ν) |W|^(½(ν+k+1))).
func invWishart(b *Builder, a []Arg) []ad.Ref {
	const ofW, ofNu, ofS = 1 << 0, 1 << 1, 1 << 2
	g, nu := b.G, a[1].Ref
	k := b.wishartSizes(a, 0, 1, 2)
	lw, ls := b.factor(a, 0, "random variable"), b.factor(a, 2, "scale parameter")
	if k == 0 {
		return nil
	}
	dim := float64(k)
	return b.kept(a,
		Term{Value: logMultigamma(g, k, g.Scale(0.5, nu)), Weight: -1, Of: ofNu},
		Term{Value: g.Mul(nu, logDiagonal(g, ls)), Of: ofNu | ofS},
		Term{Value: g.Mul(plus(g, nu, dim+1), logDiagonal(g, lw)), Weight: -1, Of: always},
		Term{Value: g.Square(g.TriSolve(lw, ls, ad.TriAttr{})), Weight: -0.5, Of: ofS | ofW},
		Term{Value: nu, Weight: -0.5 * dim * math.Ln2, Of: ofNu | ofS})
}

// factorOf checks that argument i is a lower triangle with a positive diagonal,
// and returns the triangle.
func (b *Builder) factorOf(a []Arg, i int, what string) ad.Ref {
	check(b.G, b.Name, what, types.Positive, diagonal(b.G, a[i].Ref))
	return lowerTriangle(b.G, a[i].Ref)
}

// wishartCholesky builds the density of the factor of a Wishart matrix or, with inverse, of an
// inverse Wishart matrix.
func wishartCholesky(inverse bool) func(b *Builder, a []Arg) []ad.Ref {
	return func(b *Builder, a []Arg) []ad.Ref {
		g, nu := b.G, a[1].Ref
		k := b.wishartSizes(a, 0, 1, 2)
		if k == 0 {
			b.Fail("the random variable is empty")
		}
		lw, ls := b.factorOf(a, 0, "Cholesky random variable"), b.factorOf(a, 2, "Cholesky scale matrix")
		powers := make([]float64, k)
		for i := range powers {
			powers[i] = float64(-1 - i)
		}
		exponents := g.ConstArray(ad.Type{Shape: []int{k}}, powers)
		norm, ratio := g.Neg(g.Mul(nu, logDiagonal(g, ls))), g.TriSolve(ls, lw, ad.TriAttr{})
		weights := g.Add(nu, exponents)
		if inverse {
			norm, ratio = g.Neg(norm), g.TriSolve(lw, ls, ad.TriAttr{})
			weights = g.Sub(exponents, nu)
		}
		dim := float64(k)
		return b.kept(a,
			Term{Value: g.Sub(plus(g, g.Scale(-0.5*dim*math.Ln2, nu), dim*math.Ln2), logMultigamma(g, k, g.Scale(0.5, nu))), Of: 1 << 1},
			Term{Value: g.Square(ratio), Weight: -0.5, Of: always},
			Term{Value: g.Mul(weights, g.Log(diagonal(g, lw))), Of: always},
			Term{Value: norm, Of: always})
	}
}

// bartlett draws the lower triangular A for which L A is the factor of a
// Wishart matrix with scale L Lᵀ: χ variates of ν, ν-1, … degrees on the
// diagonal, normal ones below (Bartlett 1933).
func (b *Builder) bartlett(nu ad.Ref, k int) ad.Ref {
	g := b.G
	less := g.Sub(g.Broadcast(nu, []int{k}), plus(g, positions(g, k), -1))
	chi := b.random("chi", func(rng *rand.Rand, p []float64) float64 { return math.Sqrt(2 * randGamma(rng, p[0]/2)) }, less)
	a := g.Scatter(chi, dims(0, k, k+1), []int{k, k})
	var below []int
	for i := range k {
		for j := range i {
			below = append(below, i*k+j)
		}
	}
	if len(below) == 0 {
		return a
	}
	return g.Add(a, g.Scatter(b.normals([]int{len(below)}), tableOf(below...), []int{k, k}))
}

// wisharts declares the Wishart distributions.
func wisharts() []Func {
	sets := []types.Set{types.Just(tMat), types.Just(tReal), types.Just(tMat)}
	above := drawnFrom(4, 7) // tests use matrices with four rows
	spd, lower := types.CovMat, types.CholeskyCov
	lpdf := func(name, of string, in types.Constraint, terms func(b *Builder, a []Arg) []ad.Ref) Func {
		return density(name, "The logarithm of the density of "+of, sets, []types.Constraint{in, above, in}, terms)
	}
	draw := func(name, of string, in types.Constraint, f func(b *Builder, a []Arg, k int) ad.Ref) Func {
		return fixed(name, "A draw from "+of, tMat, list(tReal, tMat), func(b *Builder, a []Arg) ad.Ref {
			return f(b, a, b.wishartSizes(a, -1, 0, 1))
		}).in(above, in).with(func(f *Func) { f.Random = true })
	}
	product := func(g *ad.Graph, l ad.Ref) ad.Ref { return g.MatMul(l, g.Transpose(l)) }
	// inverted draws the factor of an inverse Wishart matrix. L A is the factor of a Wishart matrix
	// with scale S⁻¹, and the result is the factor of its inverse.
	inverted := func(b *Builder, nu, s ad.Ref, k int) ad.Ref {
		g := b.G
		l := g.Cholesky(inverseOfProduct(g, s))
		return inverseOfProduct(g, g.MatMul(l, b.bartlett(nu, k)))
	}
	const (
		w   = "the Wishart distribution with nu degrees of freedom and scale S."
		iw  = "the inverse Wishart distribution with nu degrees of freedom and scale S."
		wc  = "the Cholesky factor of a Wishart matrix with nu degrees of freedom and Cholesky factor L_S of the scale."
		iwc = "the Cholesky factor of an inverse Wishart matrix with nu degrees of freedom and Cholesky factor L_S of the scale."
	)
	return []Func{
		lpdf("wishart_lpdf", w, spd, wishart), lpdf("inv_wishart_lpdf", iw, spd, invWishart),
		lpdf("wishart_cholesky_lpdf", wc, lower, wishartCholesky(false)), lpdf("inv_wishart_cholesky_lpdf", iwc, lower, wishartCholesky(true)),
		draw("wishart_rng", w, spd, func(b *Builder, a []Arg, k int) ad.Ref {
			return product(b.G, b.G.MatMul(b.factor(a, 1, "scale parameter"), b.bartlett(a[0].Ref, k)))
		}),
		draw("wishart_cholesky_rng", wc, lower, func(b *Builder, a []Arg, k int) ad.Ref {
			return b.G.MatMul(b.factorOf(a, 1, "Cholesky scale matrix"), b.bartlett(a[0].Ref, k))
		}),
		draw("inv_wishart_rng", iw, spd, func(b *Builder, a []Arg, k int) ad.Ref {
			return inverted(b, a[0].Ref, b.factor(a, 1, "scale parameter"), k)
		}),
		draw("inv_wishart_cholesky_rng", iwc, lower, func(b *Builder, a []Arg, k int) ad.Ref {
			return b.G.Cholesky(inverted(b, a[0].Ref, b.factorOf(a, 1, "Cholesky scale matrix"), k))
		}),
	}
}
