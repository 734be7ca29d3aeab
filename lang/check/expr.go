package check

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// expr types an expression and records the result. After reporting an error it returns the type
// Invalid.
func (c *checker) expr(e ast.Expr) TypeLevel {
	o := c.untypedExpr(e)
	if o.Type.Kind == types.Void {
		c.report(diag.Errorf(diag.VoidValue, e.Span(), "this function returns no value"),
			"", "call it as a separate statement")
		o.Type = types.Type{}
	}
	if o.Type.Kind == types.Int || o.Type.Kind == types.Invalid || o.Type.Kind == types.Function {
		o.Level = Data // integers have no derivatives
	}
	c.info.Types[e] = o
	return o
}

// invalid is the type of expressions that could not be typed.
var invalid = TypeLevel{}

func (c *checker) untypedExpr(e ast.Expr) TypeLevel {
	switch e := e.(type) {
	case *ast.IntLit:
		if e.Value > math.MaxInt32 || e.Value < math.MinInt32 {
			c.report(diag.Errorf(diag.IntTooLarge, e.Span(), "the integer %s is too large", e.Text),
				"Integers have 32 bits: at most 2147483647.", "write a real, as in 3e9, if a real will do")
		}
		return TypeLevel{Type: types.IntType}
	case *ast.RealLit:
		return TypeLevel{Type: types.RealType}
	case *ast.ImagLit:
		return TypeLevel{Type: types.ComplexType}
	case *ast.StringLit:
		c.report(diag.Errorf(diag.TypeMismatch, e.Span(), "strings are for print, reject and fatal_error only"), "", "")
		return invalid
	case *ast.VarExpr:
		return c.varExpr(e)
	case *ast.CallExpr:
		return c.call(e)
	case *ast.Target:
		if !c.inLP() && c.block != ast.TransformedParameters {
			c.addsToTarget(e, "target()")
		}
		return TypeLevel{Type: types.RealType, Level: c.declLevel(types.RealType)}
	case *ast.Unary:
		x := c.expr(e.X)
		return c.operator(e, e.Op, e, e.X.Span(), x)
	case *ast.Binary:
		return c.binary(e)
	case *ast.Cond:
		return c.cond(e)
	case *ast.IndexExpr:
		x := c.expr(e.X)
		indices := c.indices(e.Indices)
		if x.Type.Kind == types.Invalid {
			return invalid
		}
		t, ok := c.indexed(e, x.Type, indices)
		if !ok {
			return invalid
		}
		return TypeLevel{Type: t, Level: x.Level}
	case *ast.TupleMember:
		return c.member(e, c.expr(e.X))
	case *ast.TupleExpr:
		return c.tupleExpr(e)
	case *ast.ArrayExpr:
		return c.arrayExpr(e)
	case *ast.RowVectorExpr:
		return c.rowVectorExpr(e)
	case *ast.Paren:
		return c.expr(e.X)
	}
	return invalid
}

// varExpr resolves the use of a name as a value.
func (c *checker) varExpr(e *ast.VarExpr) TypeLevel {
	if e.Name == "" { // the parser could not read it
		return invalid
	}
	v := c.lookup(e.Name)
	if v == nil {
		if c.lostName[e.Name] || c.missing[string(diag.UnknownVariable)+e.Name] {
			return invalid // it may be declared in lost text, or was already reported
		}
		if c.exists(e.Name) {
			c.firstTime(diag.UnknownVariable, e.Name)
			detail := "call it: " + e.Name + "(…)"
			if slices.ContainsFunc(c.candidates(e.Name), takesNothing) {
				detail = "call it: " + e.Name + "()"
			} else if len(c.funcs[normalised(e.Name)]) == 0 {
				detail += "; to pass it to another function, write a function that calls it"
			}
			c.report(diag.Errorf(diag.NotAVariable, e.Span(), "`%s` is a function, not a variable", e.Name), "", detail)
		} else {
			c.unknownVariable(e, e.Name)
		}
		return invalid
	}
	c.info.Uses[e] = v
	v.read = true
	if c.sizes && v.Global && (v.Block == ast.Parameters || v.Block == ast.TransformedParameters || v.Block == ast.GeneratedQuantities) {
		c.report(diag.Errorf(diag.SizeNotData, e.Span(), "a size cannot depend on `%s`", v.Name),
			"The sizes of variables must be known before sampling.", "use data or transformed data for the size",
			note(&v.Ident, "it is declared in the "+v.Block.String()+" block"))
	}
	if v.Missing && v.Global && c.block < ast.TransformedParameters {
		c.report(diag.Errorf(diag.MissingNotKnown, e.Span(), "the values of `%s` are not known before sampling", v.Name),
			"It is declared with `missing`, so that some of its elements may be parameters.",
			"use it in transformed parameters, in the model or in generated quantities", note(&v.Ident, "it is declared here"))
	}
	level := v.Level
	if c.block == ast.GeneratedQuantities {
		level = Data
	}
	return TypeLevel{Type: v.Type, Level: level}
}

// takesNothing reports whether a function has no parameters.
func takesNothing(o types.Overload) bool {
	_, ok := o.Match(nil)
	return ok
}

// intExpr checks an expression that must be an int.
func (c *checker) intExpr(e ast.Expr, what string) {
	before := len(c.diags)
	c.isInt(e, c.wanting(true, e), what, before)
}

// isInt checks that an expression, which has been typed, is an int. before is the number of
// diagnostics before that.
func (c *checker) isInt(e ast.Expr, o TypeLevel, what string, before int) {
	if o.Type.Kind != types.Invalid && !o.Type.Equal(types.IntType) {
		if c.sizes && c.diags[before:].HasErrors() {
			return // another message says that the size depends on a parameter
		}
		detail := ""
		if o.Type.Equal(types.RealType) {
			detail = "Reals are not rounded to int by themselves."
		}
		d := diag.Errorf(diag.IntExpected, e.Span(), "%s must be int, but is %s", what, o.Type)
		d.Detail = detail
		if o.Type.Equal(types.RealType) && strings.HasPrefix(what, "the condition") {
			d.Detail, d.Fix = "", "compare it, as in `x != 0`"
		} else if o.Type.Equal(types.RealType) {
			if v := c.declareAsInt(&d, e); v != nil && !c.firstTime(diag.IntExpected, v.Name) {
				return
			}
		}
		c.diags.Add(d)
	}
}

// condition checks the condition of a statement: an int or a real, which is true unless it is 0.
func (c *checker) condition(e ast.Expr, of string) {
	o := c.wanting(true, e)
	if o.Type.Kind != types.Invalid && !truth(o.Type) {
		c.diags.Add(diag.Errorf(diag.IntExpected, e.Span(), "the condition of %s must be int or real, but is %s", of, o.Type))
	}
}

// truth reports whether values of a type can be conditions.
func truth(t types.Type) bool { return t.Equal(types.IntType) || t.Equal(types.RealType) }

// declareAsInt advises, if an int is required, to declare the real variable that e is or indexes
// with integers. It returns this variable, or nil.
func (c *checker) declareAsInt(d *diag.Diagnostic, e ast.Expr) *Var {
	e = ast.Unparen(e)
	as := "int"
	for {
		x, ok := e.(*ast.IndexExpr)
		if !ok {
			break
		}
		e, as = ast.Unparen(x.X), "array[…] int"
	}
	x, ok := e.(*ast.VarExpr)
	if !ok {
		return nil
	}
	v := c.info.Uses[x]
	if v == nil || v.Global && (v.Block == ast.Parameters || v.Block == ast.TransformedParameters) {
		return nil
	}
	d.Related = append(d.Related, note(&v.Ident, quote(v.Name)+" is declared here"))
	d.Fix = "declare " + quote(v.Name) + " as " + as
	return v
}

// wanting types an expression. ints says that an int is expected.
func (c *checker) wanting(ints bool, e ast.Expr) TypeLevel {
	outer := c.ints
	c.ints = ints
	defer func() { c.ints = outer }()
	return c.expr(e)
}

// cond types a ? b : c.
func (c *checker) cond(e *ast.Cond) TypeLevel {
	c.intExpr(e.Cond, "the condition of ?:")
	a, b := c.expr(e.Then), c.expr(e.Else)
	if a.Type.Kind == types.Invalid || b.Type.Kind == types.Invalid {
		return invalid
	}
	t, ok := types.Unify(a.Type, b.Type)
	if !ok {
		c.report(diag.Errorf(diag.MixedTypes, e.Else.Span(), "the two results of ?: differ in type: %s and %s", a.Type, b.Type), "", "")
		return invalid
	}
	return TypeLevel{Type: t, Level: max(a.Level, b.Level)}
}

// arrayExpr types {a, b, …}.
func (c *checker) arrayExpr(e *ast.ArrayExpr) TypeLevel {
	if len(e.Elems) == 0 {
		c.report(diag.Errorf(diag.MixedTypes, e.Span(), "an array cannot be written without elements"),
			"Its type would be unknown.", "declare a variable of size 0 instead")
		return invalid
	}
	out := c.expr(e.Elems[0])
	for _, x := range e.Elems[1:] {
		o := c.expr(x)
		if o.Type.Kind == types.Invalid || out.Type.Kind == types.Invalid {
			out = invalid
			continue
		}
		t, ok := types.Unify(out.Type, o.Type)
		if !ok {
			c.report(diag.Errorf(diag.MixedTypes, x.Span(), "the elements of an array must have one type: this is %s, those before are %s", o.Type, out.Type), "", "")
			out = invalid
			continue
		}
		out = TypeLevel{Type: t, Level: max(out.Level, o.Level)}
	}
	if out.Type.Kind == types.Invalid || c.sparseMember(e.Elems[0], out.Type) {
		return invalid
	}
	return TypeLevel{Type: out.Type.Array(1), Level: out.Level}
}

// rowVectorExpr types [a, b, …]: a row_vector of scalars, or a matrix of
// row_vectors, complex if an element is.
func (c *checker) rowVectorExpr(e *ast.RowVectorExpr) TypeLevel {
	out := TypeLevel{Type: types.RowVectorType}
	rows, isComplex, bad := false, false, false
	for i, x := range e.Elems {
		o := c.expr(x)
		out.Level = max(out.Level, o.Level)
		isRow := o.Type.Dims == 0 && (o.Type.Kind == types.RowVector || o.Type.Kind == types.ComplexRowVector)
		switch {
		case o.Type.Kind == types.Invalid || bad:
			bad = true
		case !isRow && !o.Type.IsScalar():
			c.report(diag.Errorf(diag.MixedTypes, x.Span(), "brackets hold numbers or row_vectors, but this is %s", o.Type),
				"[a, b] is a row_vector if a and b are scalars and a matrix if they are row_vectors.", "write braces for an array: {a, b}")
			bad = true
		case i > 0 && isRow != rows:
			c.report(diag.Errorf(diag.MixedTypes, x.Span(), "brackets hold either numbers or row_vectors, but this is %s", o.Type), "", "")
			bad = true
		default:
			rows = isRow
			isComplex = isComplex || o.Type.Scalar() == types.Complex
		}
	}
	if bad {
		return invalid
	}
	if rows {
		out.Type = types.MatrixType
	}
	if isComplex {
		out.Type, _ = out.Type.WithElem(types.Complex)
	}
	return out
}

// binary types x op y, and warns about common mistakes.
func (c *checker) binary(e *ast.Binary) TypeLevel {
	if c.missingValue(e) {
		return TypeLevel{Type: types.IntType}
	}
	x, y := c.expr(e.X), c.expr(e.Y)
	if e.Op == "&&" || e.Op == "||" {
		// The library has no functions for && and ||, because they may not evaluate the right side.
		for _, side := range []struct {
			e ast.Expr
			o TypeLevel
		}{{e.X, x}, {e.Y, y}} {
			if k := side.o.Type; k.Kind != types.Invalid && !truth(k) {
				c.report(diag.Errorf(diag.BadOperand, side.e.Span(), "the operands of %s must be int or real, but this is %s", e.Op, k),
					"", "compare numbers first, as in x > 0")
			}
		}
		return TypeLevel{Type: types.IntType}
	}
	if inner, ok := e.X.(*ast.Binary); ok && comparison(e.Op) && comparison(inner.Op) {
		x, mid, y := inner.X.Span().Text(), inner.Y.Span().Text(), e.Y.Span().Text()
		c.report(diag.Warnf(diag.ChainedComparison, e.OpPos, "a chained comparison compares 0 or 1 with the last operand"),
			fmt.Sprintf("This means (%s %s %s) %s %s. If that is meant, write the parentheses; else write %s %s %s && %s %s %s.",
				x, inner.Op, mid, e.Op, y, x, inner.Op, mid, mid, e.Op, y), "")
	}
	if inner, ok := e.X.(*ast.Unary); ok && inner.Op == "!" && comparison(e.Op) {
		x, y := inner.X.Span().Text(), e.Y.Span().Text()
		c.report(diag.Warnf(diag.ChainedComparison, e.OpPos, "! binds more strongly than %s, so that 0 or 1 is compared", e.Op),
			fmt.Sprintf("This means (!%s) %s %s. If that is meant, write the parentheses; else write !(%s %s %s).", x, e.Op, y, x, e.Op, y), "")
	}
	if e.Op == "/" && x.Type.Equal(types.IntType) && y.Type.Equal(types.IntType) {
		_, lit1 := e.X.(*ast.IntLit)
		_, lit2 := e.Y.(*ast.IntLit)
		if !c.ints || lit1 && lit2 {
			c.intDivision(e)
		}
	}
	if e.Op == "^" && x.Type.Kind == types.Matrix && y.Type.IsScalar() {
		c.report(diag.Warnf(diag.MatrixPower, e.OpPos, "^ takes the power of every element of a matrix"),
			"", "write .^ if that is meant, matrix_power(…) for products of the matrix with itself")
	}
	return c.operator(e, e.Op, e, e.OpPos, x, y)
}

// intDivision warns that int / int drops the remainder.
func (c *checker) intDivision(e *ast.Binary) {
	fix, edit := e.X.Span().Text()+" * 1.0 / "+e.Y.Span().Text(), diag.Edit{Span: e.OpPos, Text: "* 1.0 /"}
	if l, ok := e.X.(*ast.IntLit); ok {
		fix, edit = l.Text+".0 / "+e.Y.Span().Text(), diag.Edit{Span: after(l), Text: ".0"}
	} else if l, ok := e.Y.(*ast.IntLit); ok {
		fix, edit = e.X.Span().Text()+" / "+l.Text+".0", diag.Edit{Span: after(l), Text: ".0"}
	}
	d := diag.Warnf(diag.IntDivision, e.OpPos, "int / int drops the remainder")
	d.Detail = "The result is an int, rounded towards zero."
	d.Fix = "write " + fix + " for the real quotient, or %/% if rounding is meant"
	d.Edits = []diag.Edit{edit}
	c.diags.Add(d)
}

func comparison(op string) bool {
	switch op {
	case "==", "!=", "<", "<=", ">", ">=":
		return true
	}
	return false
}
