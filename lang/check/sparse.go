package check

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: sparse matrices. The places of their values must be known when the data are bound.

// sparseDeclaration checks the declaration of a variable of type t that is or has a sparse matrix.
func (c *checker) sparseDeclaration(d *ast.VarDecl, t types.Type, global bool) {
	if !sparseWithin(t) {
		return
	}
	at := d.Type.Span()
	switch {
	case t.Dims > 0 || t.Kind == types.Tuple:
		c.report(diag.Errorf(diag.SparseType, at, "arrays and tuples cannot have sparse matrices as elements"), "", "declare a variable for each")
	case c.block == ast.Parameters:
		d := diag.Errorf(diag.SparseType, at, "a sparse matrix cannot be a parameter")
		d.Detail = "The places of its values must be known before sampling."
		d.Fix = "declare a vector of its values as the parameter, and make the matrix by to_sparse_matrix(m, n, rows, columns, values)"
		c.diags.Add(d)
	case d.Init == nil && c.block != ast.Data:
		c.report(diag.Errorf(diag.SparseType, at, "the sparse matrix `%s` is declared without a value", d.Name.Name),
			"Its value decides where it may differ from 0.", "write the value in the declaration, as in `sparse_matrix[n, n] Q = tau * W;`")
	case d.Init != nil && global && c.block > ast.TransformedData:
		c.sparsePlaces(d.Init)
	}
}

// sparseWithin reports whether a type is, or has members that are, sparse matrices.
func sparseWithin(t types.Type) bool {
	for _, m := range t.Members {
		if sparseWithin(m) {
			return true
		}
	}
	return t.Kind == types.SparseMatrix
}

// sparsePlaces reports variables on which the places of the values of e depend, if they are not
// data. Their names are part of the output, and so must be known before.
func (c *checker) sparsePlaces(e ast.Expr) {
	if c.info.Types[e].Type.Kind != types.SparseMatrix {
		return
	}
	inside := []ast.Expr{}
	if call, ok := e.(*ast.CallExpr); ok && call.Func.Name == "to_sparse_matrix" {
		for _, a := range call.Args {
			if t := c.info.Types[a].Type; t.Kind == types.Int || len(call.Args) == 1 {
				inside = append(inside, a)
			}
		}
	} else if x, ok := e.(*ast.VarExpr); ok {
		if v := c.info.Uses[x]; v != nil && !v.Global {
			c.placesNotData(x, v)
		}
		return
	} else {
		for n := range ast.Children(e) {
			if x, ok := n.(ast.Expr); ok {
				c.sparsePlaces(x)
			}
		}
	}
	for _, a := range inside {
		for x := range variablesIn(a) {
			if v := c.info.Uses[x]; v != nil && (!v.Global || v.Block > ast.TransformedData) {
				c.placesNotData(x, v)
			}
		}
	}
}

func (c *checker) placesNotData(x *ast.VarExpr, v *Var) {
	c.report(diag.Errorf(diag.SparseType, x.Span(), "the places of the values depend on `%s`", v.Name),
		"The output has a name for each value, so that their places must be data.", "compute `"+v.Name+"` in transformed data, or declare the matrix in braces",
		note(&v.Ident, "it is declared here"))
}

// sparseElement types S[i, j].
func (c *checker) sparseElement(e *ast.IndexExpr) (types.Type, bool) {
	if len(e.Indices) == 2 && c.isSingle(e.Indices[0]) && c.isSingle(e.Indices[1]) {
		return types.RealType, true
	}
	d := diag.Errorf(diag.SparseUse, e.Span(), "only single elements of a sparse matrix can be taken, as S[i, j]")
	d.Fix = "make it an ordinary matrix first, by to_matrix"
	if x, ok := e.X.(*ast.VarExpr); ok {
		d.Fix = "make it an ordinary matrix first, as to_matrix(" + x.Name + ")"
		d.Edits = []diag.Edit{{Span: x.Span(), Text: "to_matrix(" + x.Name + ")"}}
	}
	c.diags.Add(d)
	return types.Type{}, false
}

// sparseResult reports a function that returns a sparse matrix.
func (c *checker) sparseResult(d *ast.FunctionDecl, t types.Type) {
	if sparseWithin(t) {
		c.report(diag.Errorf(diag.SparseType, d.Result.Span(), "a function cannot return a sparse matrix"), "",
			"return the vector of its values, and make the matrix where the function is called")
	}
	for _, p := range d.Params {
		if t := c.typeOf(p.Type); sparseWithin(t) && (t.Dims > 0 || t.Kind == types.Tuple) {
			c.report(diag.Errorf(diag.SparseType, p.Type.Span(), "arrays and tuples cannot have sparse matrices as elements"), "", "use an argument for each")
		}
	}
}

// sparseMember reports a sparse matrix as an element of an array or tuple.
func (c *checker) sparseMember(e ast.Expr, t types.Type) bool {
	if t.Kind == types.SparseMatrix {
		c.report(diag.Errorf(diag.SparseUse, e.Span(), "arrays and tuples cannot have sparse matrices as elements"), "", "use a variable for each")
	}
	return t.Kind == types.SparseMatrix
}

// isUser reports whether an overload is a user's function.
func isUser(o types.Overload) bool { _, ok := o.(*Func); return ok }

// sparseAdvice says how to do with sparse matrices what an operator or function does not do.
func sparseAdvice(name string, ts []types.Type) string {
	sparse := false
	for _, t := range ts {
		sparse = sparse || t.Kind == types.SparseMatrix
	}
	switch {
	case !sparse:
		return ""
	case name == `\`:
		return `for a symmetric positive definite S write mdivide_left_spd(S, b), for others to_matrix(S) \ b`
	case name == "log_determinant":
		return "for a symmetric positive definite S write log_determinant_spd(S), for others log_determinant(to_matrix(S))"
	}
	return "make it an ordinary matrix first, by to_matrix(…)"
}
