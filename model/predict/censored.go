package predict

import (
	"fmt"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: data that are declared as censored, by limits or by a variable that says for each
// value how it is censored.

// entry returns the value of an entry of the declaration of censored data, at an element; nil if
// there is none.
func (a *analysis) entry(v *check.Var, kind string, at []ast.Index) ast.Expr {
	d, ok := v.Decl.(*ast.VarDecl)
	if !ok || !v.Censored {
		return nil
	}
	b := d.Type.Bound(kind)
	if b == nil {
		return nil
	}
	x := rename(nil).expr(b.Value)
	if a.typeOf(b.Value).IsScalar() {
		return x
	}
	return indexed(x, at)
}

// sided reports whether a variable says for each of its values how it is censored.
func (a *analysis) sided(v *check.Var) bool {
	return a.entry(v, ast.Censored, nil) != nil || a.entry(v, ast.CensoredTo, nil) != nil
}

// limited reports whether a variable is censored by limits.
func (a *analysis) limited(v *check.Var) bool {
	return a.entry(v, ast.CensoredBelow, nil) != nil || a.entry(v, ast.CensoredAbove, nil) != nil
}

// cutAt returns the value that is recorded in place of a value of an element: at least the lower
// limit, and at most the upper one.
func (a *analysis) cutAt(v *check.Var, at []ast.Index, value ast.Expr) ast.Expr {
	most, least := "fmax", "fmin"
	if v.Type.Scalar() == types.Int {
		most, least = "max", "min"
	}
	if x := a.entry(v, ast.CensoredBelow, at); x != nil {
		value = call(most, value, x)
	}
	if x := a.entry(v, ast.CensoredAbove, at); x != nil {
		value = call(least, value, x)
	}
	return value
}

// sideAt returns the number that says how an element is censored, as a variable declared with
// censored has it. A value at a limit of the declaration is censored.
func (a *analysis) sideAt(v *check.Var, at []ast.Index) ast.Expr {
	if side := a.entry(v, ast.Censored, at); side != nil {
		return side
	}
	y := func() ast.Expr { return indexed(variable(v.Name), at) }
	to := func() ast.Expr { return a.entry(v, ast.CensoredTo, at) }
	choose := func(op string, x, y ast.Expr, n int64, other ast.Expr) ast.Expr {
		return &ast.Cond{Cond: binary(op, x, y), Then: literal(n), Else: other}
	}
	if a.limited(v) {
		out := literal(0)
		if x := a.entry(v, ast.CensoredAbove, at); x != nil {
			out = choose(">=", y(), x, 1, out)
		}
		if x := a.entry(v, ast.CensoredBelow, at); x != nil {
			out = choose("<=", y(), x, -1, out)
		}
		return out
	}
	out := literal(2)
	if v.Type.Scalar() == types.Real {
		out = choose("==", y(), call("negative_infinity"), -1, choose("==", to(), call("positive_infinity"), 1, out))
	}
	return choose("==", y(), to(), 0, out)
}

// idle marks variables that are not given, as they only say how the values of another one are
// censored, which is not given either.
func (e *emitter) idle(v *check.Var) {
	for _, kind := range []string{ast.Censored, ast.CensoredTo} {
		x, ok := e.entry(v, kind, nil).(*ast.VarExpr)
		if !ok {
			continue
		}
		of := e.dataVariable(x.Name)
		used := of == nil
		for _, b := range e.tree.Blocks {
			ast.Inspect(b, func(n ast.Node) bool {
				if d, ok := n.(*ast.VarDecl); ok && e.info.Defs[d] == v {
					return false
				}
				if x, ok := n.(*ast.VarExpr); ok && e.info.Uses[x] == of {
					used = true
				}
				return !used
			}, nil)
		}
		if !used {
			e.unknown[of] = true
		}
	}
}

// Recorded derives the program that has no parameters and whose generated quantities are the data
// that are censored by limits, each value as it is recorded: a value beyond a limit is the limit.
// names maps the quantities to the variables. program is nil if there are none.
func Recorded(p *compile.Program) (program *compile.Program, names map[string]string, err error) {
	tree, info := p.Syntax()
	e := &emitter{analysis: analyse(tree, info, nil), kind: Replicated, used: namesOf(tree), comments: map[ast.Stmt]string{}}
	names = map[string]string{}
	quantities := &ast.Block{Kind: ast.GeneratedQuantities}
	for _, v := range e.data() {
		if !e.limited(v) {
			continue
		}
		name := e.fresh(v.Name + "_recorded")
		names[name] = v.Name
		sizes := sizesOf(v.Decl.(*ast.VarDecl).Type, v.Type)
		var at []ast.Index
		var loops []string
		for range sizes {
			loops = append(loops, e.fresh("i"))
			at = append(at, &ast.Single{X: variable(loops[len(loops)-1])})
		}
		s := assign(indexed(variable(name), at), "=", e.cutAt(v, at, indexed(variable(v.Name), at)))
		for i := len(sizes) - 1; i >= 0; i-- {
			s = loop(loops[i], sizes[i], []ast.Stmt{s})
		}
		quantities.Stmts = append(quantities.Stmts, declare(typeExpr(v.Type, sizes), name, nil), s)
	}
	if len(names) == 0 {
		return nil, nil, nil
	}
	e.unknown = map[*check.Var]bool{}
	text := e.text(e.file(quantities, ast.Functions, ast.Data, ast.TransformedData))
	program, list := compile.CompileWith(placed(tree.Source.Name, text, tree.Source), compile.Options{Like: p})
	if list.HasErrors() {
		return nil, nil, fmt.Errorf("the censored data are no program: %s", list.Errors()[0].Summary)
	}
	return program, names, nil
}
