package proggen

import (
	"math"

	"github.com/ppl-lang/ppl/lang/types"
)

// constrainedType is a constrained type that parameters may have. bound is the largest absolute
// value of an element, if the unconstrained numbers are within ±1.2 and sizes are at most 4; New
// evaluates programs there.
type constrainedType struct {
	keyword string
	kind    kind
	bound   float64
	square  bool
	high    bool // a matrix with at least as many rows as columns
}

// narrower has bounds for types whose definition does not bound the elements. Other such types get
// a bound of 16.
var narrower = map[types.ConstraintKind]float64{
	types.Ordered: 12, types.PositiveOrdered: 14, types.SumToZeroVector: 2.1, types.SumToZeroMatrix: 3.6, types.CholeskyFactorCov: 3.4,
}

// constrainedTypes returns the constrained types of the language, each with its bound.
func constrainedTypes() []constrainedType {
	var all []constrainedType
	for _, k := range types.ConstrainedTypes() {
		c := constrainedType{keyword: k.String(), kind: vectors, bound: 16, square: k.Square(), high: k.High()}
		if k.Type().Rank() == 2 {
			c.kind = matrices
		}
		lo, hi := k.Range()
		if b := max(math.Abs(lo), math.Abs(hi)); !math.IsInf(b, 1) {
			c.bound = b
		} else if narrower[k] > 0 {
			c.bound = narrower[k]
		}
		all = append(all, c)
	}
	return all
}

// constrainedParameters declares up to three parameters of constrained types. Some are arrays, of
// which some are empty.
func (g *gen) constrainedParameters() {
	if !g.on(Constrained) {
		return
	}
	for range g.between(1, 3) {
		c := one(g, constrainedTypes())
		a, b := among(g, g.sizeK(), lit(2), lit(3), lit(4)), among(g, g.sizeK(), lit(2), lit(4))
		v := variable{name: g.name("q"), typ: c.keyword, kind: c.kind, bound: c.bound, dims: []size{a}, ready: true, fixed: true, level: true}
		switch {
		case c.square:
			v.dims = []size{a, a}
		case c.high && a.n < b.n:
			v.dims = []size{b, a}
		case c.kind == matrices:
			v.dims = []size{a, b}
		}
		if g.chance(0.4) {
			v.array = []size{among(g, g.sizeJ(), lit(2), size{"L", g.data["L"].(int)})}
		}
		g.line("%s;", declaration(&v, ""))
		g.declare(v)
	}
}

// constrainedValue declares a transformed parameter or generated quantity of a constrained type.
// The language checks the constraint at run time.
func (g *gen) constrainedValue() {
	if !g.on(Constrained) || !g.chance(0.4) {
		return
	}
	k := g.sizeK()
	v := variable{name: g.name("q"), kind: vectors, bound: 1, dims: []size{k}, ready: true, level: true, fixed: true}
	value := ""
	switch x := g.scaled(g.vector(k, 1), 2); g.between(0, 2) {
	case 0:
		v.typ, value = "simplex", "softmax("+x.text+")"
	case 1:
		v.typ, v.bound, value = "sum_to_zero_vector", 2*x.bound, x.text+" - mean("+x.text+")"
	default:
		m := g.scaled(g.matrix(k, k, 1), 2)
		v.typ, v.kind, v.dims, v.bound = "cov_matrix", matrices, []size{k, k}, float64(k.n)*m.bound*m.bound+1
		value = m.text + " * (" + m.text + ")' + identity_matrix(" + k.text + ")"
	}
	g.line("%s = %s;", declaration(&v, ""), value)
	g.declare(v)
}
