package check

import (
	"iter"
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// varDecl checks a declaration and brings the variable into scope. global is set for declarations
// at the top level of a block.
func (c *checker) varDecl(d *ast.VarDecl, global bool) {
	t, seen := c.declared[d.Type]
	kind := ConstraintOf(d.Type)
	if !seen {
		t = c.sizedType(d.Type, global)
		c.declared[d.Type] = t
	}
	v := &Var{
		Name: d.Name.Name, Type: t, Level: c.declLevel(t), Block: c.block, Global: global,
		Constraint: kind, Ident: d.Name, Decl: d, Ragged: c.info.RaggedType(d.Type),
	}
	for _, e := range slices.Concat(d.Rows, d.Sparse) {
		c.expr(e)
	}
	if v.Missing = d.Type.Missing() != nil && c.block == ast.Data; v.Missing && t.Kind != types.Int {
		v.Level = Param // missing elements are parameters
	}
	v.Censored = c.block == ast.Data && d.Type.Cuts()
	c.discrete = c.discrete || v.Discrete() && (v.Missing || hasBound(d.Type, "lower"))
	if !seen && global && holdsInt(t) {
		c.integers(d, t)
	}
	if !seen {
		c.bounds(d.Type, t)
	}
	c.declare(v)
	c.sparseDeclaration(d, t, global)
	if d.Init == nil {
		return
	}
	if mentions(d.Init, v.Name) {
		c.report(diag.Warnf(diag.UsesItself, d.Init.Span(), "`%s` is used in its own initial value", v.Name),
			"It has no value yet at this point.", "")
	}
	o := c.wanting(v.Type.Equal(types.IntType), d.Init)
	c.assignable(d.Init, o.Type, v.Type, "cannot be the initial value of "+quote(v.Name), note(&v.Ident, "declared as "+v.Type.String()))
}

// integers checks the declaration of integers at the top level of a block. Parameters may be
// integers if they have bounds: they are summed out of the density. Transformed parameters may be
// computed from them.
func (c *checker) integers(d *ast.VarDecl, t types.Type) {
	switch {
	case c.block == ast.TransformedParameters && c.discrete:
	case c.block == ast.TransformedParameters:
		c.report(diag.Errorf(diag.IntParameter, d.Type.Span(), "%s cannot be integers", c.block), "", "compute integers in transformed data or generated quantities, or in braces within this block")
	case c.block != ast.Parameters:
	case t.Kind != types.Int:
		c.report(diag.Errorf(diag.IntParameter, d.Type.Span(), "a parameter that is a tuple cannot have integers"), "", "declare the integers as a separate parameter")
	case !hasBound(d.Type, "lower"):
		c.report(diag.Errorf(diag.IntParameter, d.Type.Span(), "an integer parameter needs a lower bound"),
			"It is summed out of the density, over the values between its bounds, or over all values from the lower one on.",
			"give it bounds that data decide, as in int<lower=1, upper=K> or int<lower=0>, or declare it real")
	}
}

func hasBound(t *ast.TypeExpr, kind string) bool {
	return slices.ContainsFunc(t.Bounds, func(b ast.Bound) bool { return b.Kind == kind })
}

// Discrete reports whether a variable is a discrete parameter: an integer of the parameters block,
// or one of the data whose missing elements are such parameters.
func (v *Var) Discrete() bool {
	return v != nil && v.Type.Kind == types.Int && (v.Block == ast.Parameters || v.Missing)
}

// withoutDiscrete reports a size or bound that a discrete parameter decides.
func (c *checker) withoutDiscrete(e ast.Expr, what string) {
	if c.block == ast.GeneratedQuantities {
		return // there it is drawn
	}
	for v := range variablesIn(e) {
		if u := c.info.Uses[v]; u.Discrete() && !(u.Missing && c.block < ast.TransformedParameters) {
			c.report(diag.Errorf(diag.DiscreteUse, v.Span(), "the discrete parameter `%s` cannot decide %s", v.Name, what),
				"It is summed out: it has no single value while the density is evaluated.", "let data decide it, and use `"+v.Name+"` in conditions", note(&u.Ident, "it is declared here"))
			return
		}
	}
}

// declLevel returns the level of a variable of type t that is declared in the current block.
func (c *checker) declLevel(t types.Type) Level {
	switch c.block {
	case ast.Functions, ast.Parameters, ast.TransformedParameters, ast.Model:
		if !discrete(t) {
			return Param
		}
	}
	return Data
}

// discrete reports whether a type contains only integers.
func discrete(t types.Type) bool {
	for _, m := range t.Members {
		if !discrete(m) {
			return false
		}
	}
	return t.Kind == types.Int || t.Kind == types.Tuple
}

// holdsInt reports whether a type contains integers, also within tuples.
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
	c.sizeExprs(t)
	c.sizes = outer
	return c.typeOf(t)
}

// sizeExprs checks the sizes in a type, within tuples too.
func (c *checker) sizeExprs(t *ast.TypeExpr) {
	for i, e := range t.ArrayDims {
		c.size(t, e, "the size of an array", i)
	}
	for i, e := range t.Sizes {
		c.size(t, e, "the size of a "+t.Elem, len(t.ArrayDims)+i)
	}
	outer := c.inMember
	for _, m := range t.Members {
		c.inMember = true
		c.sizeExprs(m)
	}
	c.inMember = outer
}

// size checks the size of dimension at of a type. It may be nil, if the size is missing. An array
// of sizes makes a ragged variable.
func (c *checker) size(t *ast.TypeExpr, e ast.Expr, what string, at int) {
	if e != nil {
		before := len(c.diags)
		if o := c.wanting(true, e); o.Type.Kind == types.Int && o.Type.Dims > 0 {
			c.raggedSize(t, e, what, at)
		} else {
			c.isInt(e, o, what, before)
		}
		if !c.sizes { // sizes of block variables cannot depend on any parameter
			c.withoutDiscrete(e, what)
		}
	}
}

// typeOf returns the type of a type expression, without its sizes.
func (c *checker) typeOf(t *ast.TypeExpr) types.Type {
	var out types.Type
	if _, ct, ok := types.ConstrainedType(t.Elem); ok {
		out = ct
	} else {
		for k := types.Void; k <= types.Tuple; k++ {
			if k.String() == t.Elem {
				out.Kind = k
			}
		}
	}
	for _, m := range t.Members {
		mt := c.typeOf(m)
		if mt.Kind == types.Invalid {
			return mt
		}
		out.Members = append(out.Members, mt)
	}
	if out.Kind != types.Invalid {
		out.Dims = len(t.ArrayDims)
	}
	return out
}

// ConstraintOf returns the constraint in a type expression. For a tuple, the members have the
// constraints.
func ConstraintOf(t *ast.TypeExpr) types.ConstraintKind {
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

// bounds checks <lower=…, upper=…> and <offset=…, multiplier=…>. A bound must be a scalar or have
// exactly the type of the variable.
func (c *checker) bounds(t *ast.TypeExpr, vt types.Type) {
	for i, m := range t.Members {
		for _, b := range m.Bounds {
			if b.Kind == ast.Missing {
				c.report(diag.Errorf(diag.MissingNotAllowed, b.Span(), "a member of a tuple cannot have missing values"), "", "declare it as a separate variable")
			} else if b.Cuts() {
				c.report(diag.Errorf(diag.CensoredNotAllowed, b.Span(), "a member of a tuple cannot be censored"), "", "declare it as a separate variable")
			}
		}
		if i < len(vt.Members) {
			c.bounds(m, vt.Members[i])
		}
	}
	defer c.noValues(t)
	for _, b := range t.Bounds {
		if b.Kind == ast.Missing {
			c.missingAllowed(t, &b, vt)
			continue
		}
		if b.Kind == ast.Labels {
			c.labels(&b, vt)
			continue
		}
		if b.Cuts() && !c.cutAllowed(t, &b, vt) {
			continue
		}
		o := c.expr(b.Value)
		c.withoutDiscrete(b.Value, "a bound")
		if o.Type.Kind == types.Invalid || vt.Kind == types.Invalid {
			continue
		}
		scalar := o.Type.Equal(types.IntType) || o.Type.Equal(types.RealType)
		_, same := types.Promotable(o.Type, vt)
		switch {
		case vt.Scalar() == types.Complex:
			c.report(diag.Errorf(diag.BoundMismatch, b.Span(), "complex numbers cannot have bounds"),
				"They have no order.", "constrain the real and the imaginary part, and make the number by to_complex(…)")
			return
		case vt.Kind == types.Int && o.Type.Kind == types.Real:
			c.report(diag.Errorf(diag.BoundMismatch, b.Value.Span(), "the %s of an int must be int, but is %s", boundName(b.Kind), o.Type), "", "")
		case b.Kind == ast.Censored:
			c.sides(&b, o.Type, vt)
		case !scalar && !same:
			want, why, fix := "a scalar or "+vt.String(), "A bound applies to every element, or has the variable's own shape.", ""
			if vt.IsScalar() {
				want, why, fix = "a scalar", "", "index the value, or take one number from it, as with max(…)"
			}
			c.report(diag.Errorf(diag.BoundMismatch, b.Value.Span(), "the %s must be %s, but is %s", boundName(b.Kind), want, o.Type), why, fix)
		}
	}
}

// missingAllowed checks that a declaration may have missing values: of data, and of real numbers or
// of integers between two bounds.
func (c *checker) missingAllowed(t *ast.TypeExpr, b *ast.Bound, vt types.Type) {
	switch {
	case c.block != ast.Data:
		c.report(diag.Errorf(diag.MissingNotAllowed, b.Span(), "only variables of the data block can have missing values"),
			"", "remove `missing`; a parameter needs no data")
	case holdsInt(vt) && vt.Kind != types.Int:
		c.report(diag.Errorf(diag.MissingNotAllowed, b.Span(), "a tuple with integers cannot have missing values"), "", "declare the integers as a separate variable")
	case vt.Kind == types.Int && !hasBound(t, "lower"):
		c.report(diag.Errorf(diag.MissingNotAllowed, b.Span(), "integers with missing values need a lower bound"),
			"A missing integer is summed out of the density, over its values from the least one.", "add the bounds, as in int<lower=0, missing> for counts, or int<lower=0, upper=1, missing>")
	case vt.Scalar() == types.Complex:
		c.report(diag.Errorf(diag.MissingNotAllowed, b.Span(), "complex numbers cannot have missing values"),
			"", "declare the real and the imaginary parts separately, and make the number by to_complex(…)")
	}
}

// noValues warns of a lower bound that is greater than the upper one.
func (c *checker) noValues(t *ast.TypeExpr) {
	bounds := slices.DeleteFunc(slices.Clone(t.Bounds), func(b ast.Bound) bool { return !b.Restricts() })
	if len(bounds) != 2 {
		return
	}
	lo, hi := bounds[0], bounds[1]
	if lo.Kind == "upper" {
		lo, hi = hi, lo
	}
	x, okLo := constant(lo.Value)
	y, okHi := constant(hi.Value)
	if lo.Kind != "lower" || hi.Kind != "upper" || !okLo || !okHi || x <= y {
		return
	}
	d := diag.Warnf(diag.NoValues, lo.Span(), "no value is at least %g and at most %g", x, y)
	d.Fix = "exchange the two bounds"
	d.Edits = []diag.Edit{{Span: lo.Value.Span(), Text: hi.Value.Span().Text()}, {Span: hi.Value.Span(), Text: lo.Value.Span().Text()}}
	c.diags.Add(d)
}

// boundName returns the name of a bound in messages.
func boundName(kind string) string {
	if kind == "lower" || kind == "upper" {
		return kind + " bound"
	}
	return kind
}

// mentions reports whether a variable is used in an expression.
func mentions(e ast.Expr, name string) bool {
	for v := range variablesIn(e) {
		if v.Name == name {
			return true
		}
	}
	return false
}

// variablesIn returns the uses of variables in an expression.
func variablesIn(e ast.Expr) iter.Seq[*ast.VarExpr] {
	return func(yield func(*ast.VarExpr) bool) {
		done := false
		ast.Inspect(e, func(n ast.Node) bool {
			if v, ok := n.(*ast.VarExpr); ok && !done {
				done = !yield(v)
			}
			return !done
		}, nil)
	}
}
