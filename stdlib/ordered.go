package stdlib

import (
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: ordered outcomes. y is the index of the interval between cut points that contains a
// latent variable.

// checkOrdered adds the check that each vector increases.
func checkOrdered(g *ad.Graph, function, what string, c ad.Ref) {
	s := g.Type(c).Shape
	k := s[len(s)-1]
	if k < 2 {
		return
	}
	n := ad.Type{Shape: s}.Size() / k
	from := func(offset int) ad.Ref { return g.Gather(c, dims(offset, n, k, k-1, 1)) }
	check(g, function, "increase of "+what, types.Positive, g.Sub(from(1), from(0)))
}

// edges puts lo before and hi after every vector of cut points.
func edges(g *ad.Graph, c ad.Ref, lo, hi float64) ad.Ref {
	s := g.Type(c).Shape
	if len(s) == 1 {
		return g.Concat(g.Const(lo), c, g.Const(hi))
	}
	n, k := s[0], s[1]
	col := func(x float64) ad.Ref { return g.Broadcast(g.Const(x), []int{1, n}) }
	t := g.Concat(col(lo), g.Transpose(c), col(hi))
	return g.Transpose(g.Reshape(t, []int{k + 2, n}))
}

// outcomesOf checks the arguments y, location and cut points. It returns a function that picks the
// element of outcome y, or of outcome y+1, from vectors with one element more than the cut points.
func (b *Builder) outcomesOf(y, lambda, c Arg) (pick func(v ad.Ref, next bool) ad.Ref, empty bool) {
	g := b.G
	rows, k := b.rows(c)
	check(g, b.Name, "Location parameter", types.Finite, lambda.Ref)
	check(g, b.Name, "Random variable", types.Between(1, float64(k+1)), y.Ref)
	check(g, b.Name, "Cut-points", types.Finite, c.Ref)
	checkOrdered(g, b.Name, "Cut-points", c.Ref)
	ys := b.shape(y)
	if ls := b.shape(lambda); len(ls) > 0 && len(ys) > 0 && ls[0] != ys[0] {
		b.Fail("there are %d outcomes, but the location has size %d", ys[0], ls[0])
	}
	many := len(b.shape(c)) == 2
	if many && rows != b.size(y) {
		b.Fail("there are %d outcomes, but %d vectors of cut points", b.size(y), rows)
	}
	return func(v ad.Ref, next bool) ad.Ref {
		at := y
		if next {
			at = b.shifted(y, 1)
		}
		return b.pick(v, at)
	}, b.size(y) == 0
}

// orderedLogistic returns, with a = λ - c_{y-1} and b = λ - c_y,
//
//	log(inv_logit a - inv_logit b) = log inv_logit(a) + log(1 - inv_logit b) + log(1 - e^{b-a}),
//
// where the last term depends on the cut points only. The outer cut points are infinite, so their
// terms are 0.
func orderedLogistic(b *Builder, a []Arg) []ad.Ref {
	g, inf := b.G, math.Inf(1)
	pick, empty := b.outcomesOf(a[0], a[1], a[2])
	if empty {
		return nil
	}
	c := edges(g, a[2].Ref, -inf, inf)
	s := g.Type(c).Shape
	n, k := product(s)/s[len(s)-1], s[len(s)-1]
	part := func(offset int) ad.Ref {
		r := g.Gather(c, dims(offset, n, k, k-1, 1))
		return g.Reshape(r, append(append([]int{}, s[:len(s)-1]...), k-1))
	}
	gap := pick(g.Do(ad.OpLog1mExp, nil, g.Sub(part(0), part(1))), false)
	if len(g.Type(gap).Shape) == 0 {
		gap = g.Scale(float64(b.size(a[1])), gap) // a single outcome, possibly with many locations
	}
	return b.kept(a,
		Term{Value: g.Do(ad.OpLogInvLogit, nil, g.Sub(a[1].Ref, pick(c, false))), Of: always},
		Term{Value: g.Do(ad.OpLog1mInvLogit, nil, g.Sub(a[1].Ref, pick(c, true))), Of: always},
		Term{Value: gap, Of: always})
}

func orderedLogisticGLM(b *Builder, a []Arg) []ad.Ref {
	zero := Arg{Type: tReal, Ref: b.G.Const(0)}
	return orderedLogistic(b, []Arg{a[0], b.linear(a[1], zero, a[2]), a[3]})
}

// orderedProbit returns log(Φ(a) - Φ(b)), with a and b as for orderedLogistic, computed in the left
// tail. The outer cut points are finite, because the derivative of log Φ is infinite at -Inf.
func orderedProbit(b *Builder, a []Arg) []ad.Ref {
	const far = 1e100
	g := b.G
	// Unlike ordered_logistic, Stan does not allow a single category.
	if _, k := b.rows(a[2]); k == 0 {
		b.Fail("there must be at least one cut point")
	}
	pick, empty := b.outcomesOf(a[0], a[1], a[2])
	if empty {
		return nil
	}
	c := edges(g, a[2].Ref, -far, far)
	hi, lo := g.Sub(a[1].Ref, pick(c, false)), g.Sub(a[1].Ref, pick(c, true))
	right := g.Less(g.Const(0), lo)
	x, y := g.Select(right, g.Neg(lo), hi), g.Select(right, g.Neg(hi), lo)
	// Stan keeps this term under ~ even if all arguments are data.
	full := *b
	full.Propto = false
	return full.kept(a, Term{Value: g.Do(ad.OpLogDiffExp, nil, logPhi(g, x), logPhi(g, y)), Of: always})
}

// ordereds declares the distributions of ordered outcomes.
func ordereds() []Func {
	const (
		logisticDoc = "the ordered logistic distribution with location lambda and cut points c."
		probitDoc   = "the ordered probit distribution with location lambda and cut points c."
	)
	in := []types.Constraint{drawnFrom(1, 5), {}, types.OrderedVec}
	cuts := list(tVec, tVec.Array(1))
	var fs []Func
	statements := map[string]func(b *Builder, a []Arg) []ad.Statement{
		"ordered_logistic_lpmf": orderedLogisticStatements, "ordered_probit_lpmf": orderedProbitStatements,
	}
	form := func(name, doc string, terms func(b *Builder, a []Arg) []ad.Ref, params ...types.Type) {
		fs = append(fs, Func{Name: name, Doc: "The logarithm of the mass of " + doc, In: in, Terms: terms,
			Overload: types.Fixed{Name: name, Params: params, Result: tReal}})
		if params[2].Equal(tVec) {
			fs[len(fs)-1].Statements = statements[name]
		}
	}
	form("ordered_logistic_lpmf", logisticDoc, orderedLogistic, tInt, tReal, tVec)
	form("ordered_probit_lpmf", probitDoc, orderedProbit, tInt, tReal, tVec)
	for _, c := range cuts {
		form("ordered_logistic_lpmf", logisticDoc, orderedLogistic, tInt.Array(1), tVec, c)
		form("ordered_probit_lpmf", probitDoc, orderedProbit, tInt.Array(1), tVec, c)
		form("ordered_probit_lpmf", probitDoc, orderedProbit, tInt.Array(1), tReal, c)
	}
	draw := func(name, doc string, rand func(rng *rand.Rand, p []float64) float64) {
		fs = append(fs, Func{Name: name, Doc: "A draw from " + doc, In: in[1:], Random: true,
			Overload: types.Fixed{Name: name, Params: list(tReal, tVec), Result: tInt},
			Build: func(b *Builder, a []Arg) ad.Ref {
				g := b.G
				check(g, b.Name, "Location parameter", types.Finite, a[0].Ref)
				check(g, b.Name, "Cut-points", types.Finite, a[1].Ref)
				checkOrdered(g, b.Name, "Cut-points", a[1].Ref)
				z := b.random(name, rand, a[0].Ref)
				return plus(g, g.Sum(g.Less(a[1].Ref, z)), 1)
			}})
	}
	draw("ordered_logistic_rng", logisticDoc, func(rng *rand.Rand, p []float64) float64 {
		u := uniformOpen(rng)
		return p[0] + math.Log(u/(1-u))
	})
	draw("ordered_probit_rng", probitDoc, func(rng *rand.Rand, p []float64) float64 { return p[0] + rng.NormFloat64() })
	return fs
}
