package stdlib

import (
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: distributions over the positions of a vector.

// simplexTolerance is the largest deviation of a simplex's sum from 1, as in Stan.
const simplexTolerance = 1e-8

// checkSimplex adds the checks that x is a simplex.
func checkSimplex(g *ad.Graph, function, what string, x ad.Ref) {
	check(g, function, what, types.NonNegative, x)
	one := types.Between(1-simplexTolerance, 1+simplexTolerance)
	one.Text = "1"
	check(g, function, "sum of "+what, one, g.Sum(x))
}

// pick returns, for every element of the index i (from 1), the element of v at that position: of
// the vector v or, for element n, of row n of the matrix v.
func (b *Builder) pick(v ad.Ref, i Arg) ad.Ref {
	g := b.G
	t, u := g.Type(i.Ref), g.Type(v)
	shape, stride := t.Shape, 0 // shape of the result, and the distance from row to row
	k := u.Shape[len(u.Shape)-1]
	if len(u.Shape) == 2 {
		shape, stride = u.Shape[:1], k
	}
	size := ad.Type{Shape: shape}.Size()
	at, ok := g.Value(i.Ref)
	if !ok || anyOutside(at, 1, float64(k)) {
		rows := make([]float64, size)
		for e := range rows {
			rows[e] = float64(e*stride - 1)
		}
		return g.Take(v, g.Add(i.Ref, g.ConstArray(ad.Type{Shape: shape}, rows)))
	}
	lanes, step := 1, 0 // positions that differ between lanes are counted over all lanes
	if t.Lanes > 0 {
		lanes = t.Lanes
		if u.Lanes > 0 {
			step = u.Size()
			v = g.Unlane(v)
		}
	}
	g.Reserve(4, lanes, size)
	table := make([]int32, 0, lanes*size)
	for l := range lanes {
		for e := range size {
			p := l * t.Size()
			if len(t.Shape) > 0 {
				p += e
			}
			table = append(table, int32(l*step+e*stride+int(at[p])-1))
		}
	}
	picked := g.Gather(v, ad.Index{Dims: []ad.Dim{{N: len(table), Table: table}}})
	if t.Lanes > 0 {
		return g.Lane(g.Reshape(picked, append([]int{lanes}, shape...)))
	}
	return g.Reshape(picked, shape)
}

// reaches reports whether the index i contains every position of the vector v. If the density is
// positive, then a function of all of v has finite derivatives. Otherwise an element that no index
// selects may be where the function has no derivative, such as the logarithm at 0.
func (b *Builder) reaches(v ad.Ref, i Arg) bool {
	at, known := b.G.Value(i.Ref)
	t := b.G.Type(v)
	k := t.Size()
	if !known || t.Lanes > 0 || len(t.Shape) != 1 || len(at) < k {
		return false
	}
	seen := make([]bool, k+1)
	for _, x := range at {
		if x >= 1 && x <= float64(k) && !seen[int(x)] {
			seen[int(x)], k = true, k-1
		}
	}
	return k == 0
}

func anyOutside(v []float64, lo, hi float64) bool {
	for _, x := range v {
		if x < lo || x > hi {
			return true
		}
	}
	return false
}

// outcomes adds the check that the variate is a position in the vector.
func (b *Builder) outcomes(a []Arg, what string) (empty bool) {
	check(b.G, b.Name, what, types.Between(1, float64(b.size(a[1]))), a[0].Ref)
	return b.size(a[0]) == 0
}

// categoricals declares the categorical distributions.
func categoricals() []Func {
	mass := func(b *Builder, a []Arg) []ad.Ref {
		empty := b.outcomes(a, "Number of categories")
		checkSimplex(b.G, b.Name, "Probabilities parameter", a[1].Ref)
		if empty {
			return nil
		}
		// Compute the logarithm once for each category, not for each outcome.
		if b.reaches(a[1].Ref, a[0]) {
			return b.kept(a, Term{Value: b.pick(b.G.Log(a[1].Ref), a[0]), Of: always})
		}
		return b.kept(a, Term{Value: b.G.Log(b.pick(a[1].Ref, a[0])), Of: always})
	}
	logit := func(b *Builder, a []Arg) []ad.Ref {
		g, n := b.G, float64(b.size(a[0]))
		empty := b.outcomes(a, "categorical outcome out of support")
		check(g, b.Name, "log odds parameter", types.Finite, a[1].Ref)
		if empty {
			return nil
		}
		return b.kept(a,
			Term{Value: b.pick(a[1].Ref, a[0]), Of: always},
			Term{Value: g.LogSumExp(a[1].Ref), Weight: -n, Of: always})
	}
	draw := func(name, doc string, in types.Constraint, prepare func(b *Builder, x ad.Ref) ad.Ref) Func {
		return Func{Name: name, Doc: doc, Overload: types.Fixed{Name: name, Params: list(tVec), Result: tInt}, Random: true,
			In: []types.Constraint{in},
			Build: func(b *Builder, a []Arg) ad.Ref {
				return b.drawPosition(prepare(b, a[0].Ref))
			}}
	}
	sets := []types.Set{types.Ints, types.Just(tVec)}
	outcome := drawnFrom(1, 4) // tests use a vector of four
	const of, ofLogit = "the categorical distribution with probabilities theta.", "the categorical distribution with log odds beta."
	return []Func{
		density("categorical_lpmf", "The logarithm of the mass of "+of, sets, []types.Constraint{outcome, types.SimplexVec}, mass).
			with(func(f *Func) { f.Statements = categoricalStatements }),
		density("categorical_logit_lpmf", "The logarithm of the mass of "+ofLogit, sets, []types.Constraint{outcome, {}}, logit).
			with(func(f *Func) { f.Statements = categoricalLogitStatements }),
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

// drawPosition draws a position (from 1) with these probabilities: the number of partial sums,
// without the last, that do not exceed a uniform number, plus one.
func (b *Builder) drawPosition(theta ad.Ref) ad.Ref {
	g := b.G
	k := g.Type(theta).Size()
	if k == 0 {
		b.Fail("the vector of probabilities is empty")
	}
	sums := g.Slice(cumulativeSum(g, theta, k), 0, []int{k - 1})
	// Adding 0 repeats the draw in the lanes of theta.
	lead := g.Scale(0, g.Slice(theta, 0, nil))
	u := b.random("uniform", func(rng *rand.Rand, p []float64) float64 { return p[0] + rng.Float64() }, lead)
	return plus(g, g.Sum(g.Do(ad.OpLessEqual, nil, sums, u)), 1)
}
