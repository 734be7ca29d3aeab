package stdlib

import (
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: distributions of simplexes, and of counts given a simplex.

// dirichlet builds log Γ(Σα) - Σ log Γ(α) + Σ (α-1) log θ.
func dirichlet(b *Builder, a []Arg) []ad.Ref {
	g := b.G
	vs, n, k := b.sameRows(a, "the simplex", "the vector of prior sample sizes")
	check(g, b.Name, "prior sample sizes", types.Positive, a[1].Ref)
	check(g, b.Name, "probabilities", types.NonNegative, a[0].Ref)
	one := types.Between(1-simplexTolerance, 1+simplexTolerance)
	one.Text = "1"
	check(g, b.Name, "sum of probabilities", one, sumLast(g, a[0].Ref))
	if n == 0 || k <= 0 {
		return nil
	}
	theta, alpha := vs[0], vs[1]
	repeat := float64(n) // the number of normalising constants if alpha is a single vector
	if r, _ := b.rows(a[1]); r == n {
		repeat = 1
	}
	norm := g.Sub(g.Lgamma(sumLast(g, a[1].Ref)), sumLast(g, g.Lgamma(a[1].Ref)))
	return b.kept(a,
		Term{Value: norm, Weight: repeat, Of: 1 << 1},
		Term{Value: atEdge(g, plus(g, alpha, -1), g.Log(theta)), Of: always})
}

// logMultinomial returns the addend log (Σn)! - Σ log n!, a constant.
func logMultinomial(g *ad.Graph, ns ad.Ref) Term {
	return Term{Make: func() ad.Ref {
		return g.Sub(g.Lgamma(plus(g, g.Sum(ns), 1)), g.Sum(g.Lgamma(plus(g, ns, 1))))
	}}
}

func (b *Builder) multinomialCounts(a []Arg, what string) {
	if b.size(a[0]) != b.size(a[1]) {
		b.Fail("Size of number of trials variable is %d, but %s has size %d", b.size(a[0]), what, b.size(a[1]))
	}
	check(b.G, b.Name, "Number of trials variable", types.NonNegative, a[0].Ref)
}

func multinomial(b *Builder, a []Arg) []ad.Ref {
	b.multinomialCounts(a, "Probabilities parameter")
	checkSimplex(b.G, b.Name, "Probabilities parameter", a[1].Ref)
	return b.kept(a, logMultinomial(b.G, a[0].Ref), Term{Value: weightedLog(b.G, ad.OpLog, a[0].Ref, a[1].Ref), Of: 1 << 1})
}

func multinomialLogit(b *Builder, a []Arg) []ad.Ref {
	g := b.G
	b.multinomialCounts(a, "log-probabilities parameter")
	check(g, b.Name, "log-probabilities parameter", types.Finite, a[1].Ref)
	return b.kept(a, logMultinomial(g, a[0].Ref), Term{Value: g.Mul(a[0].Ref, logSoftmax(b, a[1:])), Of: 1 << 1})
}

// dirichletMultinomial builds the multinomial distribution with Dirichlet-distributed
// probabilities: n B(A, n) / Π n_k B(α_k, n_k), with A = Σα.
func dirichletMultinomial(b *Builder, a []Arg) []ad.Ref {
	g, ns, alpha := b.G, a[0].Ref, a[1].Ref
	b.multinomialCounts(a, "prior size parameter")
	check(g, b.Name, "prior size parameter", types.PositiveFinite, alpha)
	n, total := g.Sum(ns), g.Sum(alpha)
	// With logarithms of numbers of multisets, which cancel less than gamma functions.
	if !b.Propto {
		sets := op2(ad.OpLmultichoose)
		return b.kept(a, Term{Value: sets(g, alpha, ns), Of: always}, Term{Value: sets(g, total, n), Weight: -1, Of: always})
	}
	return b.kept(a, logMultinomial(g, ns),
		Term{Value: logRising(g, total, n), Weight: -1, Of: 1 << 1},
		Term{Value: logRising(g, alpha, ns), Of: 1 << 1})
}

// drawCounts distributes n objects over classes with probabilities theta, one class after another.
func (b *Builder) drawCounts(theta, n ad.Ref) ad.Ref {
	g := b.G
	k := g.Type(theta).Size()
	var counts []ad.Ref
	rest := g.Const(1) // the probability of the remaining classes
	for i := range k - 1 {
		p := g.Slice(theta, i, nil)
		share := g.Do(ad.OpMin, nil, g.Const(1), g.Select(g.Less(g.Const(0), rest), g.Div(p, rest), g.Const(0)))
		c := b.random("binomial", func(rng *rand.Rand, p []float64) float64 { return randBinomial(rng, p[0], p[1]) }, n, share)
		counts = append(counts, c)
		n, rest = g.Sub(n, c), g.Sub(rest, p)
	}
	return g.Concat(append(counts, n)...)
}

// drawSimplex draws from the Dirichlet distribution: gamma variates divided by their sum. It uses
// logarithms, which do not underflow for small alpha.
func (b *Builder) drawSimplex(alpha ad.Ref) ad.Ref {
	x := b.random("dirichlet", func(rng *rand.Rand, p []float64) float64 { return randLogGamma(rng, p[0]) }, alpha)
	return b.G.Exp(b.G.Sub(x, b.G.LogSumExp(x)))
}

// simplexes declares the distributions of simplexes, and of counts given a simplex.
func simplexes() []Func {
	counts := []types.Set{types.Just(tInt.Array(1)), types.Just(tVec)}
	draw := func(name, doc string, result types.Type, params []types.Type, in types.Constraint, f build) Func {
		return fixed(name, doc, result, params, f).in(in).with(func(f *Func) { f.Random = true })
	}
	trials := func(b *Builder, a []Arg) ad.Ref {
		check(b.G, b.Name, "number of trials variables", types.NonNegative, a[1].Ref)
		return a[1].Ref
	}
	const (
		dir    = "the Dirichlet distribution with prior sample sizes alpha."
		multi  = "the multinomial distribution with probabilities theta."
		logit  = "the multinomial distribution with log probabilities gamma, which need not be normalised."
		dirMul = "the Dirichlet-multinomial distribution with prior sample sizes alpha."
	)
	return []Func{
		density("dirichlet_lpdf", "The logarithm of the density of "+dir, []types.Set{types.Vectors, types.Vectors},
			[]types.Constraint{types.SimplexVec, types.Positive}, dirichlet),
		density("multinomial_lpmf", "The logarithm of the mass of "+multi, counts, []types.Constraint{types.NonNegative, types.SimplexVec}, multinomial).
			with(func(f *Func) { f.Statements = multinomialStatements }),
		density("multinomial_logit_lpmf", "The logarithm of the mass of "+logit, counts, []types.Constraint{types.NonNegative, {}}, multinomialLogit).
			with(func(f *Func) { f.Statements = multinomialLogitStatements }),
		density("dirichlet_multinomial_lpmf", "The logarithm of the mass of "+dirMul, counts, []types.Constraint{types.NonNegative, types.Positive}, dirichletMultinomial),
		draw("dirichlet_rng", "A draw from "+dir, tVec, list(tVec), types.Positive, func(b *Builder, a []Arg) ad.Ref {
			check(b.G, b.Name, "prior sample sizes", types.PositiveFinite, a[0].Ref)
			return b.drawSimplex(a[0].Ref)
		}),
		draw("multinomial_rng", "A draw of n objects from "+multi, tInt.Array(1), list(tVec, tInt), types.SimplexVec, func(b *Builder, a []Arg) ad.Ref {
			checkSimplex(b.G, b.Name, "Probabilities parameter", a[0].Ref)
			return b.drawCounts(a[0].Ref, trials(b, a))
		}),
		draw("multinomial_logit_rng", "A draw of n objects from "+logit, tInt.Array(1), list(tVec, tInt), types.Constraint{}, func(b *Builder, a []Arg) ad.Ref {
			check(b.G, b.Name, "Log-probabilities parameter", types.Finite, a[0].Ref)
			return b.drawCounts(b.G.Exp(logSoftmax(b, a[:1])), trials(b, a))
		}),
		draw("dirichlet_multinomial_rng", "A draw of n objects from "+dirMul, tInt.Array(1), list(tVec, tInt), types.Positive, func(b *Builder, a []Arg) ad.Ref {
			check(b.G, b.Name, "prior size parameter", types.PositiveFinite, a[0].Ref)
			return b.drawCounts(b.drawSimplex(a[0].Ref), trials(b, a))
		}),
	}
}
