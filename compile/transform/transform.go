// Package transform maps unconstrained numbers to values that satisfy a
// declared constraint, with the log Jacobian of the map, and back.
//
// Each constraint is a row of the table: the map, its log absolute Jacobian
// determinant, and the inverse, all as graph expressions, so that they are
// differentiated like everything else. transform.go has the table and the
// constraints on single numbers, vectors.go those on whole vectors.
package transform

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// Bounds are the arguments of a constraint: lower bound or offset, upper bound
// or multiplier. ad.None stands for an absent one. Each is a scalar or has the
// shape of the value.
type Bounds struct{ Lower, Upper ad.Ref }

// Transform is one row.
type Transform struct {
	// Free is the number of unconstrained numbers of a vector of n, for
	// constraints on whole vectors; nil for those on single numbers, which have
	// one for each.
	Free func(n int) int
	// Violated is not 0 where a vector is outside the constraint; nil for
	// constraints on single numbers. Want completes "must be …".
	Violated func(g *ad.Graph, y ad.Ref) ad.Ref
	Want     string
	// Constrain maps x to the constrained value; jacobian holds addends of the
	// log Jacobian, of x's shape or scalar per element.
	Constrain func(g *ad.Graph, x ad.Ref, b Bounds) (y ad.Ref, jacobian []ad.Ref)
	// Unconstrain is the inverse.
	Unconstrain func(g *ad.Graph, y ad.Ref, b Bounds) ad.Ref
}

// Of returns the transform of a kind of constraint; ok is false if there is
// none.
func Of(kind types.ConstraintKind) (Transform, bool) {
	switch kind {
	case types.Unconstrained:
		return Transform{
			Constrain:   func(g *ad.Graph, x ad.Ref, _ Bounds) (ad.Ref, []ad.Ref) { return x, nil },
			Unconstrain: func(g *ad.Graph, y ad.Ref, _ Bounds) ad.Ref { return y },
		}, true
	case types.LowerUpper:
		return Transform{Constrain: constrainBounds, Unconstrain: unconstrainBounds}, true
	case types.OffsetMultiplier:
		return Transform{Constrain: constrainOffset, Unconstrain: unconstrainOffset}, true
	case types.Ordered:
		return Transform{Free: all, Violated: violatesOrder, Want: "in increasing order",
			Constrain: constrainOrdered, Unconstrain: unconstrainOrdered}, true
	case types.PositiveOrdered:
		return Transform{Free: all, Violated: violatesPositiveOrder, Want: "positive and in increasing order",
			Constrain: constrainPositiveOrdered, Unconstrain: unconstrainPositiveOrdered}, true
	case types.Simplex:
		return Transform{Free: func(n int) int { return max(n-1, 0) }, Violated: violatesSimplex, Want: "a simplex: not negative, with sum 1",
			Constrain: constrainSimplex, Unconstrain: unconstrainSimplex}, true
	}
	return Transform{}, false
}

func all(n int) int { return n }

// infinite tells how much of a bound is infinite: none of it, all of it, or
// some; a bound that is computed counts as finite, as nothing else makes sense.
func infinite(g *ad.Graph, bound ad.Ref, sign int) (none, all bool) {
	if bound == ad.None {
		return false, true
	}
	v, ok := g.Value(bound)
	if !ok {
		return true, false
	}
	none, all = true, true
	for _, x := range v {
		if math.IsInf(x, sign) {
			none = false
		} else {
			all = false
		}
	}
	return none, all
}

// constrainBounds: with a lower bound a, y = a + exp x; with an upper bound b,
// y = b - exp x; with both, y = a + (b-a) inv_logit x. An infinite bound is
// none.
func constrainBounds(g *ad.Graph, x ad.Ref, b Bounds) (ad.Ref, []ad.Ref) {
	loNone, loAll := infinite(g, b.Lower, -1)
	upNone, upAll := infinite(g, b.Upper, 1)
	lower := func() (ad.Ref, ad.Ref) { return g.Add(g.Exp(x), b.Lower), x }
	upper := func() (ad.Ref, ad.Ref) { return g.Sub(b.Upper, g.Exp(x)), x }
	both := func() (ad.Ref, ad.Ref) {
		width := g.Sub(b.Upper, b.Lower)
		y := g.Add(b.Lower, g.Mul(width, g.Do(ad.OpInvLogit, nil, x)))
		jac := g.Add(g.Log(width), g.Add(g.Do(ad.OpLogInvLogit, nil, x), g.Do(ad.OpLog1mInvLogit, nil, x)))
		return y, jac
	}
	switch {
	case loAll && upAll:
		return x, nil
	case upAll && loNone:
		y, j := lower()
		return y, []ad.Ref{j}
	case loAll && upNone:
		y, j := upper()
		return y, []ad.Ref{j}
	case loNone && upNone:
		y, j := both()
		return y, []ad.Ref{j}
	}
	// Some elements are bounded and others not.
	y, jac := x, g.Const(0)
	finite := func(r ad.Ref) ad.Ref { return g.Do(ad.OpNot, nil, g.Do(ad.OpIsInf, nil, r)) }
	hasLo, hasUp := g.Const(0), g.Const(0)
	if !loAll {
		hasLo = finite(b.Lower)
		ly, lj := lower()
		y, jac = g.Select(hasLo, ly, y), g.Select(hasLo, lj, jac)
	}
	if !upAll {
		hasUp = finite(b.Upper)
		uy, uj := upper()
		y, jac = g.Select(hasUp, uy, y), g.Select(hasUp, uj, jac)
	}
	if !loAll && !upAll {
		two := g.Mul(hasLo, hasUp)
		by, bj := both()
		y, jac = g.Select(two, by, y), g.Select(two, bj, jac)
	}
	return y, []ad.Ref{jac}
}

func unconstrainBounds(g *ad.Graph, y ad.Ref, b Bounds) ad.Ref {
	_, loAll := infinite(g, b.Lower, -1)
	_, upAll := infinite(g, b.Upper, 1)
	switch {
	case loAll && upAll:
		return y
	case upAll:
		x := g.Log(g.Sub(y, b.Lower))
		return g.Select(g.Do(ad.OpIsInf, nil, b.Lower), y, x)
	case loAll:
		x := g.Log(g.Sub(b.Upper, y))
		return g.Select(g.Do(ad.OpIsInf, nil, b.Upper), y, x)
	}
	x := g.Do(ad.OpLogit, nil, g.Div(g.Sub(y, b.Lower), g.Sub(b.Upper, b.Lower)))
	noLo, noUp := g.Do(ad.OpIsInf, nil, b.Lower), g.Do(ad.OpIsInf, nil, b.Upper)
	x = g.Select(noUp, g.Log(g.Sub(y, b.Lower)), x)
	one := g.Select(noUp, y, g.Log(g.Sub(b.Upper, y)))
	return g.Select(noLo, one, x)
}

// constrainOffset: y = offset + multiplier·x.
func constrainOffset(g *ad.Graph, x ad.Ref, b Bounds) (ad.Ref, []ad.Ref) {
	y := x
	var jac []ad.Ref
	if b.Upper != ad.None {
		y = g.Mul(b.Upper, y)
		jac = []ad.Ref{g.Log(b.Upper)}
	}
	if b.Lower != ad.None {
		y = g.Add(y, b.Lower)
	}
	return y, jac
}

func unconstrainOffset(g *ad.Graph, y ad.Ref, b Bounds) ad.Ref {
	if b.Lower != ad.None {
		y = g.Sub(y, b.Lower)
	}
	if b.Upper != ad.None {
		y = g.Div(y, b.Upper)
	}
	return y
}
