package check

import (
	"math"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/types"
)

// reach is what is known of the values that a number can have: how far it gets
// below and above. What is not known, such as a bound that data decide, is NaN.
type reach struct{ lo, hi float64 }

var (
	anywhere = reach{math.Inf(-1), math.Inf(1)}
	unknown  = reach{math.NaN(), math.NaN()}
)

// bounded reports whether there are bounds on both sides, known or not.
func (r reach) bounded() bool { return !math.IsInf(r.lo, 0) && !math.IsInf(r.hi, 0) }

// leaves reports whether some of the values are certainly not in a set of numbers.
// That a closed end of a declared interval is left out of an open domain does not
// count: a parameter never is on its bound.
func (r reach) leaves(c types.Constraint) (below, above bool) {
	return r.lo < c.Lo, r.hi > c.Hi
}

// bounds is how far the numbers get that a parameter, or another variable with
// declared bounds, consists of.
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

// reach is how far the numbers get that an expression consists of, as its text
// tells: parameters have their bounds, and sums and products with a parameter
// without bounds get everywhere. What other functions do is not known here.
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
			// A number that is 0 makes a product with it no less 0.
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

// meaning is the initial value of a variable that an expression is, if nothing
// else is ever assigned to it and its declaration promises nothing.
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

// independent reports whether two expressions have no variable in common that is
// not data, as far as their texts tell.
func (c *checker) independent(x, y ast.Expr) bool {
	in := map[*Var]bool{}
	c.variables(x, func(v *Var) { in[v] = true })
	common := false
	c.variables(y, func(v *Var) { common = common || in[v] })
	return !common
}

// variables calls f with the variables that an expression depends on and that are
// not data, those that its variables are computed from included.
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
