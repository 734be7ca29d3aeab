package check

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// assignable reports an error if a value of type from is used for type to. what completes the
// sentence "VALUE of type T …".
func (c *checker) assignable(at ast.Node, from, to types.Type, what string, notes ...diag.Note) {
	if from.Kind == types.Invalid || to.Kind == types.Invalid {
		return
	}
	if _, ok := types.Promotable(from, to); !ok {
		advice := c.conversion(from, to)
		if e, ok := at.(ast.Expr); ok && from.IsScalar() && to.Rank() > 0 {
			if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && strings.HasSuffix(call.Func.Name, "_rng") {
				advice = "A generator draws one number, unless an argument is a container: draw the elements in a loop."
			}
		}
		d := diag.Errorf(diag.TypeMismatch, at.Span(), "a value of type %s %s, which is %s", from, what, to)
		d.Fix = helpFrom(advice)
		if e, ok := at.(ast.Expr); ok {
			converts(&d, e, to)
		}
		c.report(d, "", "", notes...)
	}
}

// helpFrom converts a sentence to the form of a help text.
func helpFrom(sentence string) string {
	if sentence == "" {
		return ""
	}
	return strings.ToLower(sentence[:1]) + strings.TrimSuffix(sentence[1:], ".")
}

// converts adds the edits for an advised conversion to a diagnostic about an expression: a call
// around it, a transpose after it, or the braces of an array.
func converts(d *diag.Diagnostic, e ast.Expr, to types.Type) {
	inside := ast.Unparen(e)
	if row, ok := inside.(*ast.RowVectorExpr); ok && to.Dims == 1 && to.Kind != types.Tuple {
		first, last := row.Span(), row.Span()
		first.End, last.Start = first.Start+1, last.End-1
		d.Fix = "write braces, which make arrays: `{…}`"
		d.Edits = []diag.Edit{{Span: first, Text: "{"}, {Span: last, Text: "}"}}
		return
	}
	if name, ok := strings.CutSuffix(strings.TrimPrefix(d.Fix, "use "), "(…)"); ok && !strings.Contains(name, " ") {
		d.Edits = []diag.Edit{{Span: before(e), Text: name + "("}, {Span: after(e), Text: ")"}}
	}
	if strings.HasPrefix(d.Fix, "transpose it") {
		d.Edits = []diag.Edit{{Span: before(e), Text: "("}, {Span: after(e), Text: ")'"}}
		if _, ok := e.(*ast.VarExpr); ok {
			d.Edits = []diag.Edit{{Span: after(e), Text: "'"}}
		}
	}
}

// density reports `theta = normal(0, 1)`, where `theta ~ normal(0, 1)` was meant.
func (c *checker) density(s *ast.Assign) (ok bool) {
	call, ok := s.RHS.(*ast.CallExpr)
	if !ok || s.Op != "=" || !c.inLP() || c.exists(call.Func.Name) || !c.exists(call.Func.Name+"_lpdf") && !c.exists(call.Func.Name+"_lpmf") {
		return false
	}
	op := source.Span{File: s.Span().File, Start: s.LHS.Span().End, End: s.RHS.Span().Start}
	at := strings.IndexByte(op.Text(), '=')
	if at < 0 || strings.TrimSpace(op.Text()) != "=" {
		return false
	}
	op.Start += at
	op.End = op.Start + 1
	d := diag.Errorf(diag.UnknownFunction, op, "`=` does not give a variable a distribution")
	d.Detail = call.Func.Name + " is a distribution, not a function."
	d.Fix = "write `~`"
	d.Replace("~")
	c.diags.Add(d)
	return true
}

// assign checks `lhs op rhs`.
func (c *checker) assign(s *ast.Assign) {
	if c.density(s) || c.untyped(s) {
		return
	}
	lhs := c.lvalue(s.LHS)
	c.unpacking(s)
	rhs := c.wanting(lhs.Equal(types.IntType), s.RHS)
	if lhs.Kind == types.Invalid || rhs.Type.Kind == types.Invalid {
		return
	}
	if s.Op == "=" {
		if l, r := s.LHS.Span().Text(), ast.Unparen(s.RHS).Span().Text(); l != "" && l == r {
			c.report(diag.Warnf(diag.SelfAssignment, s.Span(), "this assigns %s to itself", l), "", "")
		}
		c.store(s.LHS, lhs, s.RHS, rhs.Type)
		return
	}
	// x op= y means x = x op y, but the result must have the type of x itself.
	name := "operator" + strings.TrimSuffix(s.Op, "=")
	args := []types.Type{lhs, rhs.Type}
	o, m, fail := types.Resolve(c.universe.Lookup(name), args)
	switch {
	case fail != nil:
		c.badOperator(s.RHS.Span(), s.Op, args, fail)
	case !m.Result.Equal(lhs):
		c.report(diag.Errorf(diag.TypeMismatch, s.RHS.Span(), "%s %s %s gives %s, which cannot be stored in %s", lhs, s.Op, rhs.Type, m.Result, lhs),
			"", helpFrom(c.conversion(m.Result, lhs)))
	case lhs.IsScalar() && strings.HasPrefix(s.Op, "."):
		c.report(diag.Errorf(diag.BadOperand, s.RHS.Span(), "%s is for containers, but this is %s", s.Op, lhs),
			"", "write "+quote(s.Op[1:]))
	default:
		c.info.Calls[s] = &Call{Name: name, Overload: o, Match: m}
	}
}

// untyped reports an assignment to a name that is not declared, and suggests the type of its value.
func (c *checker) untyped(s *ast.Assign) bool {
	x, ok := s.LHS.(*ast.VarExpr)
	if !ok || s.Op != "=" || x.Name == "" || c.lookup(x.Name) != nil || c.elsewhere[x.Name] != nil || c.exists(x.Name) || c.lostName[x.Name] || otherValue(x.Name) != "" {
		return false
	}
	if near := c.nearest(x.Name, c.visible()); near != "" {
		return false
	}
	rhs := c.expr(s.RHS)
	if t := rhs.Type; !t.IsScalar() || t.Kind == types.Invalid || t.Kind == types.Complex || !c.firstTime(diag.UnknownVariable, x.Name) {
		if rhs.Type.Kind != types.Invalid {
			c.lvalue(s.LHS)
		}
		return true
	}
	d := diag.Errorf(diag.UnknownVariable, x.Span(), "`%s` is not declared", x.Name)
	d.Detail = "A variable is declared with its type before, or when, it gets its first value."
	d.Fix = "write `" + rhs.Type.String() + " " + x.Name + "`"
	d.Replace(rhs.Type.String() + " " + x.Name)
	c.diags.Add(d)
	return true
}

// store checks the types of an assignment. Tuples are checked member by member if both sides are
// tuple expressions.
func (c *checker) store(lhs ast.Expr, lt types.Type, rhs ast.Expr, rt types.Type) {
	l, ok1 := lhs.(*ast.TupleExpr)
	r, ok2 := ast.Unparen(rhs).(*ast.TupleExpr)
	if ok1 && ok2 && len(l.Elems) == len(r.Elems) {
		for i := range l.Elems {
			c.store(l.Elems[i], lt.Members[i], r.Elems[i], rt.Members[i])
		}
		return
	}
	c.assignable(rhs, rt, lt, "cannot be assigned to "+quote(lhs.Span().Text()))
}

// lvalue checks the left side of an assignment and returns its type.
func (c *checker) lvalue(e ast.Expr) types.Type {
	switch e := e.(type) {
	case *ast.VarExpr:
		v := c.lookup(e.Name)
		if v == nil {
			if len(c.funcs[e.Name]) > 0 {
				c.report(diag.Errorf(diag.NotAVariable, e.Span(), "`%s` is a function: nothing can be assigned to it", e.Name), "", "")
			} else {
				c.unknownVariable(e, e.Name)
			}
			return types.Type{}
		}
		if !c.writable(e, v) {
			return types.Type{}
		}
		read := v.read
		t := c.expr(e)
		v.read = read
		return t.Type
	case *ast.IndexExpr:
		t := c.lvalue(e.X)
		indices := c.indices(e.Indices)
		if t.Kind == types.Invalid {
			return t
		}
		if t.Kind == types.SparseMatrix {
			c.report(diag.Errorf(diag.SparseUse, e.Span(), "the elements of a sparse matrix cannot be assigned"), "",
				"make the matrix from its values, by to_sparse_matrix(m, n, rows, columns, values)")
			return types.Type{}
		}
		t, ok := c.indexed(e, t, indices)
		if !ok {
			return types.Type{}
		}
		if inner, ok := e.X.(*ast.IndexExpr); ok {
			for x := inner; x != nil; {
				for _, i := range x.Indices {
					if !c.isSingle(i) {
						c.report(diag.Errorf(diag.MultiIndexAssign, i.Span(), "cannot assign to an element of a multiple selection"),
							"", "combine the brackets into one, or assign to the elements in a loop")
						return types.Type{}
					}
				}
				x, _ = x.X.(*ast.IndexExpr)
			}
		}
		c.info.Types[e] = TypeLevel{Type: t, Level: c.info.Types[e.X].Level}
		return t
	case *ast.TupleMember:
		t := c.lvalue(e.X)
		o := c.member(e, TypeLevel{Type: t, Level: c.info.Types[e.X].Level})
		c.info.Types[e] = o
		return o.Type
	case *ast.TupleExpr:
		return c.tupleLvalue(e)
	}
	c.report(diag.Errorf(diag.ReadOnly, e.Span(), "this cannot be assigned to"),
		"The left side of an assignment is a variable or elements of one.", "assign to a variable of the same block")
	return types.Type{}
}

// writable reports an assignment to a variable that must not be assigned here.
func (c *checker) writable(e ast.Expr, v *Var) bool {
	var why, fix string
	_, isParam := v.Decl.(*ast.Param)
	switch {
	case v.Loop:
		why, fix = "A loop variable takes its values from the loop.", "declare another variable and assign to that"
	case isParam:
		why, fix = "Arguments of functions are read-only.", "declare a local variable, give it the argument's value and change that"
	case v.Global && v.Block == ast.Data:
		why, fix = "Data never change.", "declare another variable in the transformed data block, and assign to that"
	case v.Global && v.Block == ast.Parameters:
		why, fix = "The sampler alone sets parameters.", "declare another variable in the transformed parameters block, and assign to that; for a distribution, write `~`"
	case v.Global && v.Block != c.block:
		why = "Variables of the " + v.Block.String() + " block can be assigned to in that block only."
		fix = "move the assignment there, or declare another variable here"
	default:
		return true
	}
	what := "variable"
	switch {
	case v.Loop:
		what = "loop variable"
	case isParam:
		what = "function argument"
	case v.Block == ast.Data:
		what = "data variable"
	case v.Block == ast.Parameters:
		what = "parameter"
	}
	c.report(diag.Errorf(diag.ReadOnly, e.Span(), "cannot assign to the %s `%s`", what, v.Name), why, fix, note(&v.Ident, "it is declared here"))
	return false
}
