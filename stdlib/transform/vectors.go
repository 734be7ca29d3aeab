package transform

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// vectors has the rows for ordered vectors and unit vectors.
var vectors = map[types.ConstraintKind]row{
	types.Ordered: {
		Transform: Transform{same, constrainOrdered, unconstrainOrdered},
		numbers:   "K",
		value:     "x₁ = u₁, xₖ = xₖ₋₁ + exp(uₖ)",
		target:    "u₂ + … + u_K",
	},
	types.PositiveOrdered: {
		Transform: Transform{same, constrainPositiveOrdered, unconstrainPositiveOrdered},
		numbers:   "K",
		value:     "x₁ = exp(u₁), xₖ = xₖ₋₁ + exp(uₖ)",
		target:    "u₁ + … + u_K",
	},
	types.UnitVector: {
		Transform: Transform{same, constrainUnitVector, unconstrainUnitVector},
		numbers:   "K",
		value:     "u/‖u‖",
		target:    "−½ ‖u‖²",
	},
}

// same returns the shape of the unconstrained numbers if there is one for each element.
func same(shape []int) []int { return shape }

// differences returns y[i+1] - y[i].
func differences(g *ad.Graph, y ad.Ref) ad.Ref {
	n := g.Type(y).Size()
	return g.Sub(slice(g, y, 1, n), slice(g, y, 0, n-1))
}

func constrainOrdered(g *ad.Graph, x ad.Ref, shape []int, _ Bounds) (ad.Ref, []ad.Ref) {
	n := shape[0]
	if n < 2 {
		return x, nil
	}
	rest := slice(g, x, 1, n)
	return cumulate(g, g.Concat(slice(g, x, 0, 1), g.Exp(rest)), upTo), []ad.Ref{rest}
}

func unconstrainOrdered(g *ad.Graph, y ad.Ref, _ Bounds) ad.Ref {
	n := g.Type(y).Size()
	if n < 2 {
		return y
	}
	return g.Concat(slice(g, y, 0, 1), g.Log(differences(g, y)))
}

func constrainPositiveOrdered(g *ad.Graph, x ad.Ref, shape []int, _ Bounds) (ad.Ref, []ad.Ref) {
	if shape[0] == 0 {
		return x, nil
	}
	return cumulate(g, g.Exp(x), upTo), []ad.Ref{x}
}

func unconstrainPositiveOrdered(g *ad.Graph, y ad.Ref, _ Bounds) ad.Ref {
	n := g.Type(y).Size()
	if n < 2 {
		return g.Log(y)
	}
	return g.Log(g.Concat(slice(g, y, 0, 1), differences(g, y)))
}

func constrainUnitVector(g *ad.Graph, x ad.Ref, _ []int, _ Bounds) (ad.Ref, []ad.Ref) {
	square := g.Sum(g.Square(x))
	g.Check(&ad.Check{Set: ad.Interval{Hi: math.Inf(1), LoOpen: true, HiOpen: true}, Function: "unit_vector",
		Name: "the squared length of the unconstrained numbers", Want: "positive and finite"}, square)
	return g.Div(x, g.Sqrt(square)), []ad.Ref{g.Scale(-0.5, square)}
}

func unconstrainUnitVector(_ *ad.Graph, y ad.Ref, _ Bounds) ad.Ref { return y }
