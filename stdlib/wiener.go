package stdlib

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: the distribution of the time at which a Wiener process leaves an interval.

// wiener has the density exp(δαw - ½δ²(y-τ)) f(u, β)/α², with u = (y - τ)/α² and w = 1 - β. f is
// the density of a process of drift 0 (Feller 1968; Navarro & Fuss 2009).
var wiener = Dist{
	Name: "wiener", Cite: "Navarro & Fuss 2009",
	Doc: "the Wiener first passage time distribution: of the time y at which a process with drift delta, " +
		"started after tau at the part beta of the boundary separation alpha, reaches the upper boundary.",
	Variate: types.Positive,
	Params: []Param{{Name: "alpha", Is: "Boundary separation", In: types.PositiveFinite},
		{Name: "tau", Is: "Nondecision time", In: types.PositiveFinite},
		{Name: "beta", Is: "A-priori bias", In: types.OpenUnitInterval},
		{Name: "delta", Is: "Drift rate", In: types.Finite}},
	Relations: []Relation{{Arg: 0, Strict: true, Than: 2}},
	Terms: func(g *ad.Graph, y ad.Ref, p []ad.Ref) []Term {
		alpha, w, delta := p[0], g.Sub(g.Const(1), p[2]), p[3]
		t := g.Sub(y, p[1])
		drift := g.Mul(delta, g.Sub(g.Mul(alpha, w), g.Scale(0.5, g.Mul(delta, t))))
		return []Term{
			{Value: drift, Of: always},
			{Value: g.Log(alpha), Weight: -2, Of: always},
			{Value: g.Do(ad.OpLogWiener, nil, g.Div(g.Div(t, alpha), alpha), p[2]), Of: always},
		}
	},
}
