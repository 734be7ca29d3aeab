package check

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// varDecl checks a declaration and brings the variable into scope. Global tells
// a variable of the top level of a block from a local one.
func (c *checker) varDecl(d *ast.VarDecl, global bool) {
	t, seen := c.declared[d.Type]
	kind := constraintOf(d.Type)
	if !seen {
		t = c.sizedType(d.Type, global)
		c.declared[d.Type] = t
	}
	v := &Var{
		Name: d.Name.Name, Type: t, Level: c.declLevel(t), Block: c.block, Global: global,
		Constraint: kind, Ident: d.Name, Decl: d,
	}
	if !seen && global && (c.block == ast.Parameters || c.block == ast.TransformedParameters) && holdsInt(t) {
		c.report(diag.Errorf(diag.IntParameter, d.Type.Span(), "%s cannot be integers", c.block),
			"The sampler moves by gradients, so that whatever it moves must be real. Sum discrete parameters out of the density.")
	}
	if !seen {
		c.bounds(d.Type, v)
	}
	c.declare(v)
	if d.Init == nil {
		return
	}
	if mentions(d.Init, v.Name) {
		c.report(diag.Warnf(diag.UsesItself, d.Init.Span(), "`%s` is used in its own initial value", v.Name),
			"It has no value yet at this point.")
	}
	o := c.expr(d.Init)
	c.assignable(d.Init, o.Type, v.Type, "cannot be the initial value of "+quote(v.Name), note(&v.Ident, "declared as "+v.Type.String()))
}

// declLevel is the level of a variable of type t that is declared in the
// present block.
func (c *checker) declLevel(t types.Type) Level {
	switch c.block {
	case ast.Functions, ast.Parameters, ast.TransformedParameters, ast.Model:
		if t.Scalar() != types.Int {
			return Param
		}
	}
	return Data
}

// holdsInt reports integers in a type, also within tuples.
func holdsInt(t types.Type) bool {
	for _, m := range t.Members {
		if holdsInt(m) {
			return true
		}
	}
	return t.Kind == types.Int
}

// sizedType checks the type of a declared variable with its sizes.
func (c *checker) sizedType(t *ast.TypeExpr, global bool) types.Type {
	outer := c.sizes
	c.sizes = global
	for _, e := range t.ArrayDims {
		c.size(e, "the size of an array")
	}
	for _, e := range t.Sizes {
		c.size(e, "the size of a "+t.Elem)
	}
	c.sizes = outer
	return c.typeOf(t)
}

// size checks a size expression; nil for one that is not written.
func (c *checker) size(e ast.Expr, what string) {
	if e != nil {
		c.intExpr(e, what)
	}
}

// typeOf is the type that is written, apart from sizes.
func (c *checker) typeOf(t *ast.TypeExpr) types.Type {
	var out types.Type
	if k, ct, ok := types.ConstrainedType(t.Elem); ok {
		out = ct
		if !supportedConstraint(k) {
			c.unsupported(t.Span(), constrainedType(k))
			return types.Type{}
		}
	} else {
		for k := types.Void; k <= types.Tuple; k++ {
			if k.String() == t.Elem {
				out.Kind = k
			}
		}
	}
	switch {
	case out.Kind == types.Tuple:
		for _, m := range t.Members {
			c.sizedType(m, c.sizes)
		}
		c.unsupported(t.Span(), tuples)
		return types.Type{}
	case out.Scalar() == types.Complex:
		c.unsupported(t.Span(), complexNums)
		return types.Type{}
	}
	if out.Kind != types.Invalid {
		out.Dims = len(t.ArrayDims)
	}
	return out
}

// constraintOf is the kind of constraint that is written.
func constraintOf(t *ast.TypeExpr) types.ConstraintKind {
	if k, _, ok := types.ConstrainedType(t.Elem); ok {
		return k
	}
	for _, b := range t.Bounds {
		switch b.Kind {
		case "lower", "upper":
			return types.LowerUpper
		case "offset", "multiplier":
			return types.OffsetMultiplier
		}
	}
	return types.Unconstrained
}

// bounds checks <lower=…, upper=…> and <offset=…, multiplier=…>. A bound is a
// scalar or has the very type of the variable.
func (c *checker) bounds(t *ast.TypeExpr, v *Var) {
	for _, b := range t.Bounds {
		o := c.expr(b.Value)
		if o.Type.Kind == types.Invalid || v.Type.Kind == types.Invalid {
			continue
		}
		scalar := o.Type.Equal(types.IntType) || o.Type.Equal(types.RealType)
		_, same := types.Promotable(o.Type, v.Type)
		switch {
		case v.Type.Kind == types.Int && o.Type.Kind == types.Real:
			c.report(diag.Errorf(diag.BoundMismatch, b.Value.Span(), "the %s of an int must be int, but is %s", b.Kind, o.Type), "")
		case !scalar && !same:
			c.report(diag.Errorf(diag.BoundMismatch, b.Value.Span(), "the %s must be a scalar or %s, but is %s", b.Kind, v.Type, o.Type),
				"A bound applies to every element, or has the variable's own shape.")
		}
	}
}

// mentions reports whether a variable is used in an expression.
func mentions(e ast.Expr, name string) bool {
	found := false
	inspect(e, func(e ast.Expr) {
		if v, ok := e.(*ast.VarExpr); ok && v.Name == name {
			found = true
		}
	})
	return found
}

// inspect calls f for an expression and all within it.
func inspect(e ast.Expr, f func(ast.Expr)) {
	if e == nil {
		return
	}
	f(e)
	all := func(es ...ast.Expr) {
		for _, e := range es {
			inspect(e, f)
		}
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		all(e.Args...)
	case *ast.Unary:
		all(e.X)
	case *ast.Binary:
		all(e.X, e.Y)
	case *ast.Cond:
		all(e.Cond, e.Then, e.Else)
	case *ast.IndexExpr:
		all(e.X)
		for _, i := range e.Indices {
			switch i := i.(type) {
			case *ast.Single:
				all(i.X)
			case *ast.Range:
				all(i.From, i.To)
			}
		}
	case *ast.TupleMember:
		all(e.X)
	case *ast.ArrayExpr:
		all(e.Elems...)
	case *ast.RowVectorExpr:
		all(e.Elems...)
	case *ast.TupleExpr:
		all(e.Elems...)
	case *ast.Paren:
		all(e.X)
	}
}
