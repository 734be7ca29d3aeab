package check

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// stmts checks a list of statements in the current scope.
func (c *checker) stmts(ss []ast.Stmt) {
	for _, s := range ss {
		c.stmt(s)
	}
	c.unreachable(ss)
}

// nested checks the body of a control statement in a separate scope.
func (c *checker) nested(s ast.Stmt) {
	c.push()
	c.stmt(s)
	c.pop()
}

// stmt checks one statement.
func (c *checker) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.VarDecl:
		c.varDecl(s, false)
	case *ast.Assign:
		c.assign(s)
	case *ast.TargetPlus:
		c.targetPlus(s)
	case *ast.Tilde:
		c.tilde(s)
	case *ast.CallStmt:
		c.callStmt(s)
	case *ast.For:
		c.intExpr(s.From, "the lower bound of a loop")
		c.intExpr(s.To, "the upper bound of a loop")
		c.loop(&Var{Name: s.Var.Name, Type: types.IntType, Ident: s.Var, Decl: s}, s.Body)
		c.belowOne(s)
	case *ast.ForEach:
		c.forEach(s)
	case *ast.While:
		c.condition(s.Cond, "while")
		c.loops++
		c.nested(s.Body)
		c.loops--
	case *ast.If:
		c.condition(s.Cond, "if")
		c.nested(s.Then)
		if s.Else != nil {
			c.nested(s.Else)
		}
	case *ast.BlockStmt:
		c.push()
		c.stmts(s.Stmts)
		c.pop()
	case *ast.Profile:
		c.nested(s.Body)
	case *ast.Print:
		c.printed(s.Args)
	case *ast.Reject:
		c.printed(s.Args)
	case *ast.Break:
		if c.loops == 0 {
			c.report(diag.Errorf(diag.OutsideLoop, s.Span(), "break outside a loop"), "", "remove it, or move it into the body of a `for` or `while`")
		}
	case *ast.Continue:
		if c.loops == 0 {
			c.report(diag.Errorf(diag.OutsideLoop, s.Span(), "continue outside a loop"), "", "remove it, or move it into the body of a `for` or `while`")
		}
	case *ast.Return:
		c.returnStmt(s)
	case *ast.FunctionDecl, *ast.Empty: // the parser refuses functions here
	}
}

// loop checks the body of a loop over v.
func (c *checker) loop(v *Var, body ast.Stmt) {
	v.Block, v.Loop, v.Level = c.block, true, c.declLevel(v.Type)
	c.push()
	c.declare(v)
	c.loops++
	c.nested(body)
	c.loops--
	c.pop()
}

// forEach checks a loop over the elements of a container.
func (c *checker) forEach(s *ast.ForEach) {
	o := c.expr(s.Over)
	var elem types.Type
	switch {
	case o.Type.Kind == types.Invalid:
	case o.Type.Dims > 0:
		elem, _ = o.Type.Elem()
	// The loop is over all elements of a matrix.
	case o.Type.Scalar() == types.Real && o.Type.Rank() > 0:
		elem = types.Type{Kind: o.Type.Scalar()}
	default:
		d := diag.Errorf(diag.NotIterable, s.Over.Span(), "cannot loop over %s", o.Type)
		d.Detail = "A loop runs over a range, as in 1:N, or over the elements of an array, vector, row_vector or matrix."
		if o.Type.Equal(types.IntType) {
			d.Fix = "write 1:" + s.Over.Span().Text()
			d.Edits = []diag.Edit{{Span: before(s.Over), Text: "1:"}}
		}
		c.diags.Add(d)
	}
	c.loop(&Var{Name: s.Var.Name, Type: elem, Ident: s.Var, Decl: s}, s.Body)
}

// inLP reports whether statements may add to the target here.
func (c *checker) inLP() bool {
	return c.block == ast.Model || c.fn != nil && c.fn.Suffix == "_lp"
}

// addsToTarget reports an error if the target does not exist here.
func (c *checker) addsToTarget(n ast.Node, what string) (ok bool) {
	if !c.inLP() {
		d := diag.Errorf(diag.NoTarget, n.Span(), "%s is not allowed in %s", what, c.where())
		d.Detail = "Only the model block, and functions whose name ends in _lp, add to the target."
		d.Fix = "move it to the model block"
		c.diags.Add(d)
		return false
	}
	return true
}

// addsJacobian reports an error if the Jacobian does not exist here.
func (c *checker) addsJacobian(n ast.Node, what string) {
	if !(c.block == ast.TransformedParameters || c.fn != nil && c.fn.Suffix == "_jacobian") {
		c.report(diag.Errorf(diag.NoTarget, n.Span(), "%s is not allowed in %s", what, c.where()),
			"A change of variables happens in the transformed parameters block, or in a function whose name ends in _jacobian.", "move it there")
	}
}

// where describes the current place, for messages.
func (c *checker) where() string {
	if c.fn != nil {
		return "the function " + quote(c.fn.Name)
	}
	return "the " + c.block.String() + " block"
}

func (c *checker) targetPlus(s *ast.TargetPlus) {
	o := c.expr(s.Value)
	if s.Jacobian {
		c.addsJacobian(s, "jacobian +=")
	} else {
		c.addsToTarget(s, "target +=")
	}
	if k := o.Type.Scalar(); o.Type.Kind != types.Invalid && k != types.Int && k != types.Real {
		c.report(diag.Errorf(diag.TypeMismatch, s.Value.Span(), "cannot add %s to the target", o.Type),
			"The target is a sum of numbers.", "add a real, or a container of reals, whose elements are all added")
	}
}

// printed checks the arguments of print and reject, which may be strings.
func (c *checker) printed(args []ast.Expr) {
	for _, a := range args {
		if _, ok := a.(*ast.StringLit); !ok {
			c.expr(a)
		}
	}
}

func (c *checker) returnStmt(s *ast.Return) {
	var o TypeLevel
	if s.Value != nil {
		o = c.expr(s.Value)
	}
	switch {
	case c.fn == nil:
		c.report(diag.Errorf(diag.MisplacedReturn, s.Span(), "return outside a function"), "", "remove it; to end a loop early, write `break`")
	case s.Value == nil && c.fn.Result.Kind != types.Void:
		if c.fn.Result.Kind != types.Invalid {
			c.report(diag.Errorf(diag.MisplacedReturn, s.Span(), "the function `%s` must return a value of type %s", c.fn.Name, c.fn.Result), "", "write the value after return, as in `return x;`",
				note(c.fn.Decl.Result, "its result is declared here"))
		}
	case s.Value != nil && c.fn.Result.Kind == types.Void:
		c.report(diag.Errorf(diag.MisplacedReturn, s.Value.Span(), "the function `%s` returns no value", c.fn.Name),
			"", "declare its result instead of void, or return without a value", note(c.fn.Decl.Result, "it is declared void"))
	case s.Value != nil:
		c.assignable(s.Value, o.Type, c.fn.Result, "cannot be the result of "+quote(c.fn.Name),
			note(c.fn.Decl.Result, "declared as "+c.fn.Result.String()))
	}
}
