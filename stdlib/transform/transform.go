package transform

import (
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// Bounds are the arguments of a constraint: lower bound or offset, and upper bound or multiplier.
// ad.None means that there is none. Each is a scalar or has the shape of the value.
type Bounds struct{ Lower, Upper ad.Ref }

// Transform maps unconstrained numbers to values that satisfy a constraint, and back.
type Transform struct {
	// Free returns, for a constrained type, the shape of the unconstrained numbers for a vector or
	// matrix of the given shape. It is nil for constraints on single numbers, which have one number
	// for each element. The sampler's point has a matrix of unconstrained numbers by columns.
	Free func(shape []int) []int
	// Constrain maps x to the constrained value, which has the given shape. jacobian has the
	// addends of the log Jacobian. For a constrained type they may have any shape. Otherwise each
	// has x's shape, or is a scalar for every element.
	Constrain func(g *ad.Graph, x ad.Ref, shape []int, b Bounds) (y ad.Ref, jacobian []ad.Ref)
	// Unconstrain is the inverse of Constrain, without its log Jacobian.
	Unconstrain func(g *ad.Graph, y ad.Ref, b Bounds) ad.Ref
}

// Edition selects a version of Stan, whose transforms are used.
type Edition uint8

// The editions. They differ in the simplex, and in the rows and columns of stochastic matrices.
// Stochastic matrices and the sum-to-zero types were new in Stan 2.36.
const (
	Stan239 Edition = iota
	Stan232
)

// editions has the names of the editions.
var editions = [...]string{Stan239: "2.39", Stan232: "2.32"}

// EditionOf returns the edition with a name; "" means the newest.
func EditionOf(name string) (Edition, error) {
	for e, n := range editions {
		if n == name || name == "" {
			return Edition(e), nil
		}
	}
	return 0, fmt.Errorf("there are no transforms of Stan %s: there are those of %s and %s", name, editions[Stan232], editions[Stan239])
}

// String returns the version of Stan.
func (e Edition) String() string { return editions[e] }

// row is the transform of a constraint, with its description for spec.md.
type row struct {
	Transform
	numbers string // description of the unconstrained numbers of a constrained type
	value   string // description of the value x
	target  string // description of the log Jacobian
	// before is the transform in editions before Stan239, if it differs.
	before *Transform
}

// tables has the rows, which are in the files of their families.
var tables = []map[types.ConstraintKind]row{scalars, vectors, simplexes, matrices}

// find returns the row of a constraint.
func find(kind types.ConstraintKind) row {
	for _, t := range tables {
		if r, ok := t[kind]; ok {
			return r
		}
	}
	return row{}
}

// Of returns the transform of a kind of constraint. Its functions are nil if the kind has no row.
func Of(kind types.ConstraintKind, e Edition) Transform {
	r := find(kind)
	if e == Stan232 && r.before != nil {
		return *r.before
	}
	return r.Transform
}

// Words describes the transform of a constrained type for spec.md: the unconstrained numbers, the
// value, and the addend of the target.
func Words(kind types.ConstraintKind) (numbers, value, target string) {
	r := find(kind)
	return r.numbers, r.value, r.target
}

// scalars has the rows for constraints on single numbers.
var scalars = map[types.ConstraintKind]row{
	types.Unconstrained: {Transform: Transform{
		Constrain:   func(_ *ad.Graph, x ad.Ref, _ []int, _ Bounds) (ad.Ref, []ad.Ref) { return x, nil },
		Unconstrain: func(_ *ad.Graph, y ad.Ref, _ Bounds) ad.Ref { return y },
	}},
	types.LowerUpper:       {Transform: Transform{nil, constrainBounds, unconstrainBounds}},
	types.OffsetMultiplier: {Transform: Transform{nil, constrainOffset, unconstrainOffset}},
}

// Each applies a map of vectors or matrices, such as Constrain, to every element of an array with
// dims dimensions. A map of single numbers is applied to all of them at once. item is the shape of
// one result. Addends are summed.
func (t Transform) Each(g *ad.Graph, dims int, x ad.Ref, item []int, f func(ad.Ref) (ad.Ref, []ad.Ref)) (ad.Ref, []ad.Ref) {
	at := g.Type(x)
	if t.Free == nil || dims == 0 {
		return f(x)
	}
	array, one := at.Shape[:dims], at.Shape[dims:]
	out := append(slices.Clone(array), item...)
	items := ad.Type{Shape: array}.Size()
	if items == 0 {
		return g.ConstArray(ad.Type{Shape: out}, nil), nil
	}
	// f is applied to all elements of the array at once: each element of each lane becomes a lane.
	// front is the dimension of the original lanes, if x has any.
	var front []int
	if at.Lanes > 0 {
		front = []int{at.Lanes}
	}
	lanes := items * max(at.Lanes, 1)
	y, addends := f(g.Lane(g.Reshape(g.Unlane(x), append([]int{lanes}, one...))))
	back := func(x ad.Ref, shape []int) ad.Ref {
		x = g.Reshape(g.Unlane(g.Spread(x, lanes)), append(slices.Clone(front), shape...))
		if at.Lanes > 0 {
			x = g.Lane(x)
		}
		return x
	}
	for i, a := range addends {
		if a = g.Sum(a); g.Type(a).Lanes == 0 {
			addends[i] = g.Scale(float64(items), a)
		} else {
			addends[i] = g.Sum(back(a, []int{items}))
		}
	}
	return back(y, out), addends
}

// infinite reports whether no element of a bound is infinite, or all are; neither if only some are.
// A bound without a constant value counts as finite, because the graph has to be built before its
// value is known.
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

// constrainBounds maps to y = a + exp x with a lower bound a, to y = b - exp x with an upper bound
// b, and to y = a + (b-a) inv_logit x with both. An infinite bound counts as none.
func constrainBounds(g *ad.Graph, x ad.Ref, _ []int, b Bounds) (ad.Ref, []ad.Ref) {
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
	// Some elements are bounded and others are not.
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

// constrainOffset maps to y = offset + multiplier·x.
func constrainOffset(g *ad.Graph, x ad.Ref, _ []int, b Bounds) (ad.Ref, []ad.Ref) {
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
