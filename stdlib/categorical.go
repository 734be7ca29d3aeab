package stdlib

import (
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// Distributions over the positions of a vector.

// simplexTolerance is Stan's: a simplex may miss the sum 1 by so much.
const simplexTolerance = 1e-8

// checkSimplex adds the checks that x is a simplex.
func checkSimplex(g *ad.Graph, function, what string, x ad.Ref) {
	check(g, function, what, types.NonNegative, x)
	one := types.Between(1-simplexTolerance, 1+simplexTolerance)
	one.Text = "1"
	check(g, function, "sum of "+what, one, g.Sum(x))
}

// pick is, for every element of the index array i (from 1), the element of the
// vector v at that position. An index that is known only when the program runs
// is looked for by comparisons.
func (b *Builder) pick(v ad.Ref, i Arg) ad.Ref {
	g := b.G
	t, k := g.Type(i.Ref), b.G.Type(v).Size()
	if at, ok := g.Value(i.Ref); ok && !anyOutside(at, 1, float64(k)) {
		laned := g.Type(v).Lanes > 0
		table := make([]int32, len(at))
		for n, x := range at {
			table[n] = int32(x) - 1
		}
		if t.Lanes == 0 { // the same positions in all lanes
			return g.Reshape(g.Gather(v, ad.Index{Dims: []ad.Dim{{N: len(table), Table: table}}}), t.Shape)
		}
		if laned { // position p of lane l is element l·k + p of all lanes
			for n := range table {
				table[n] += int32(n / t.Size() * k)
			}
			v = g.Unlane(v)
		}
		return g.Lane(g.Reshape(g.Gather(v, ad.Index{Dims: []ad.Dim{{N: len(table), Table: table}}}), append([]int{t.Lanes}, t.Shape...)))
	}
	sum := g.Const(0)
	for p := range k {
		here := g.Equal(i.Ref, g.Const(float64(p+1)))
		sum = g.Add(sum, g.Select(here, g.Slice(v, p, nil), g.Const(0)))
	}
	return sum
}

func anyOutside(v []float64, lo, hi float64) bool {
	for _, x := range v {
		if x < lo || x > hi {
			return true
		}
	}
	return false
}

// outcomes adds the check that the variate is a position of the vector.
func (b *Builder) outcomes(a []Arg, what string) (empty bool) {
	check(b.G, b.Name, what, types.Between(1, float64(b.size(a[1]))), a[0].Ref)
	return b.size(a[0]) == 0
}

// vectorMass declares a log mass of one or more outcomes given a vector.
func vectorMass(name, doc string, in types.Constraint, terms func(b *Builder, a []Arg) []ad.Ref) Func {
	return Func{Name: name, Doc: doc, Overload: types.Density(name, types.Ints, types.Just(tVec)),
		In: []types.Constraint{{}, in}, Terms: func(b *Builder, a []Arg) []ad.Ref {
			r := terms(b, a)
			if b.Propto && !a[1].Param {
				return nil
			}
			return r
		}}
}

// categoricals are the categorical distributions.
func categoricals() []Func {
	mass := func(b *Builder, a []Arg) []ad.Ref {
		empty := b.outcomes(a, "Number of categories")
		checkSimplex(b.G, b.Name, "Probabilities parameter", a[1].Ref)
		if empty {
			return nil
		}
		return []ad.Ref{b.G.Sum(b.pick(b.G.Log(a[1].Ref), a[0]))}
	}
	logit := func(b *Builder, a []Arg) []ad.Ref {
		g, n := b.G, float64(b.size(a[0]))
		empty := b.outcomes(a, "categorical outcome out of support")
		check(g, b.Name, "log odds parameter", types.Finite, a[1].Ref)
		if empty {
			return nil
		}
		return []ad.Ref{g.Sum(b.pick(a[1].Ref, a[0])), g.Scale(-n, g.LogSumExp(a[1].Ref))}
	}
	draw := func(name, doc string, in types.Constraint, prepare func(b *Builder, x ad.Ref) ad.Ref) Func {
		return Func{Name: name, Doc: doc, Overload: types.Fixed{Name: name, Params: list(tVec), Result: tInt}, Random: true,
			In: []types.Constraint{in},
			Build: func(b *Builder, a []Arg) ad.Ref {
				return b.drawPosition(prepare(b, a[0].Ref))
			}}
	}
	const of, ofLogit = "the categorical distribution with probabilities theta.", "the categorical distribution with log odds beta."
	return []Func{
		vectorMass("categorical_lpmf", "The logarithm of the mass of "+of, types.SimplexVec, mass),
		vectorMass("categorical_logit_lpmf", "The logarithm of the mass of "+ofLogit, types.Finite, logit),
		draw("categorical_rng", "A draw from "+of, types.SimplexVec, func(b *Builder, x ad.Ref) ad.Ref {
			checkSimplex(b.G, b.Name, "Probabilities parameter", x)
			return x
		}),
		draw("categorical_logit_rng", "A draw from "+ofLogit, types.Finite, func(b *Builder, x ad.Ref) ad.Ref {
			check(b.G, b.Name, "Log odds parameter", types.Finite, x)
			return b.G.Exp(b.G.Sub(x, b.G.LogSumExp(x)))
		}),
	}
}

// drawPosition draws a position (from 1) with these probabilities: one more
// than the number of partial sums, the last left out, that do not exceed a
// uniform number.
func (b *Builder) drawPosition(theta ad.Ref) ad.Ref {
	g := b.G
	k := g.Type(theta).Size()
	if k == 0 {
		b.Fail("the vector of probabilities is empty")
	}
	sums := g.Slice(cumulativeSum(g, theta, k), 0, []int{k - 1})
	// The argument gives the draw its lanes.
	lead := g.Scale(0, g.Slice(theta, 0, nil))
	u := b.random("uniform", func(rng *rand.Rand, p []float64) float64 { return p[0] + rng.Float64() }, lead)
	return plus(g, g.Sum(g.Do(ad.OpLessEqual, nil, sums, u)), 1)
}
