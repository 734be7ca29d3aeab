package check

import (
	"math"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/types"
)

// reach is an interval that contains all values of a number, as far as the program text determines
// it. A bound that depends on data is NaN.
type reach struct{ lo, hi float64 }

var (
	anywhere = reach{math.Inf(-1), math.Inf(1)}
	unknown  = reach{math.NaN(), math.NaN()}
)

// bounded reports whether there are bounds on both sides, known or not.
func (r reach) bounded() bool { return !math.IsInf(r.lo, 0) && !math.IsInf(r.hi, 0) }

// leaves reports whether some values are certainly outside a set of numbers, below or above. A
// closed end of a declared interval does not count if the set lacks only that end, because a
// parameter never equals its bound.
func (r reach) leaves(c types.Constraint) (below, above bool) {
	return r.lo < c.Lo, r.hi > c.Hi
}

// bounds returns the interval of the elements of a variable, from its declaration.
func (v *Var) bounds() reach {
	if v.Constraint.Structured() {
		lo, hi := v.Constraint.Range()
		return reach{lo, hi}
	}
	d, ok := v.Decl.(*ast.VarDecl)
	if !ok {
		return unknown
	}
	r := anywhere
	for _, b := range d.Type.Bounds {
		if !b.Restricts() {
			continue
		}
		x, ok := constant(b.Value)
		if !ok {
			x = math.NaN()
		}
		switch b.Kind {
		case "lower":
			r.lo = x
		case "upper":
			r.hi = x
		}
	}
	return r
}

// reach returns the interval of the elements of an expression, from the program text. Parameters
// have their bounds. Sums and products with an unbounded parameter are unbounded. Other functions
// are not analysed.
func (c *checker) reach(e ast.Expr) reach {
	e = ast.Unparen(e)
	if x, ok := constant(e); ok {
		return reach{x, x}
	}
	switch e := e.(type) {
	case *ast.VarExpr, *ast.IndexExpr:
		if v := c.parameter(e); v != nil {
			return v.bounds()
		}
		if init := c.meaning(e); init != nil {
			return c.reach(init)
		}
	case *ast.Unary:
		if e.Op == "-" {
			r := c.reach(e.X)
			return reach{-r.hi, -r.lo}
		}
	case *ast.Binary:
		switch e.Op {
		case "+", "-", "*", ".*":
		default:
			return unknown
		}
		for _, p := range [][2]ast.Expr{{e.X, e.Y}, {e.Y, e.X}} {
			// A product with a number that is 0 is 0, so it may be bounded.
			if zero, ok := constant(p[1]); ok && zero == 0 && e.Op != "+" && e.Op != "-" {
				return unknown
			}
			if c.reach(p[0]) == anywhere && c.independent(p[0], p[1]) {
				return anywhere
			}
		}
	}
	return unknown
}

// meaning returns the initial value of a variable, if the variable is never assigned again and its
// declaration has no constraint.
func (c *checker) meaning(e ast.Expr) ast.Expr {
	u, ok := ast.Unparen(e).(*ast.VarExpr)
	if !ok {
		return nil
	}
	v := c.info.Uses[u]
	if v == nil || v.stored || v.Constraint != types.Unconstrained || v.Level != Param || v.Block == ast.Functions {
		return nil
	}
	d, ok := v.Decl.(*ast.VarDecl)
	if !ok {
		return nil
	}
	return d.Init
}

// independent reports whether two expressions share no variable except data, as far as the text
// shows.
func (c *checker) independent(x, y ast.Expr) bool {
	in := map[*Var]bool{}
	c.variables(x, func(v *Var) { in[v] = true })
	common := false
	c.variables(y, func(v *Var) { common = common || in[v] })
	return !common
}

// variables calls f with the variables, except data, on which an expression depends, also through
// other variables.
func (c *checker) variables(e ast.Expr, f func(*Var)) {
	for u := range variablesIn(e) {
		if v := c.info.Uses[u]; v != nil && v.Level == Param {
			f(v)
			if init := c.meaning(u); init != nil {
				c.variables(init, f)
			}
		}
	}
}
