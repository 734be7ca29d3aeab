package lang

import (
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/internal/legacy"
)

// upgrade rewrites the functions of older versions in a tree. The parser has already upgraded other
// old syntax (arrays, <-, comments). The list has a warning for each change.
func upgrade(f *ast.File, known func(string) bool) (*ast.File, diag.List) {
	defined := map[string]bool{}
	u := &upgrader{scopes: scopes(f), own: map[string]string{}, noted: map[string]bool{}, known: func(name string) bool { return defined[name] || known(name) }}
	if b := f.Block(ast.Functions); b != nil {
		for _, s := range b.Stmts {
			if d, ok := s.(*ast.FunctionDecl); ok {
				defined[d.Name.Name] = true
				if now := nameToday(d); now != "" {
					u.own[d.Name.Name] = now
				}
			}
		}
		u.plain = plainJacobians(b)
	}
	return u.tree(f).(*ast.File), u.list
}

// rename appends an underscore to names that are reserved now, and more underscores if the result
// is already in use.
func rename(f *ast.File) *ast.File {
	taken := map[string]bool{}
	var reserved []string // in the order of the text
	ast.Inspect(f, func(n ast.Node) bool {
		if name := nameOf(n); name != "" {
			taken[name] = true
			if grammar.Reserved(name) {
				reserved = append(reserved, name)
			}
		}
		return true
	}, nil)
	now := map[string]string{}
	for _, old := range reserved {
		if now[old] != "" {
			continue
		}
		name := old + "_"
		for i := 2; taken[name]; i++ {
			name = fmt.Sprintf("%s_%d", old, i)
		}
		now[old], taken[name] = name, true
	}
	return ast.Rewrite(f, nil, func(n ast.Node) ast.Node {
		if to := now[nameOf(n)]; to != "" {
			return named(n, to)
		}
		return n
	}).(*ast.File)
}

// nameOf returns the name of a node that is an identifier or a variable; "" for other nodes.
func nameOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Ident:
		return n.Name
	case *ast.VarExpr:
		return n.Name
	}
	return ""
}

// named returns the node with another name.
func named(n ast.Node, name string) ast.Node {
	switch n := n.(type) {
	case *ast.Ident:
		return &ast.Ident{Base: n.Base, Name: name}
	case *ast.VarExpr:
		return &ast.VarExpr{Base: n.Base, Name: name}
	}
	return n
}

type upgrader struct {
	scopes []scope           // types of variables
	own    map[string]string // the program's densities by their old names
	plain  map[string]bool   // functions named _jacobian that do not add to the Jacobian
	noted  map[string]bool   // new names of densities whose definition already has a warning
	known  func(string) bool
	list   diag.List
}

func (u *upgrader) note(n ast.Node, was, is string) {
	d := diag.Warnf(diag.LegacySyntax, n.Span(), "`%s` is of an older version of Stan", was)
	d.Fix = "write `" + is + "`"
	u.list.Add(d)
}

// nameToday returns the current name of a function that is defined as a density NAME_log, or as a
// distribution function NAME_cdf_log or NAME_ccdf_log; "" for others.
func nameToday(d *ast.FunctionDecl) string {
	base, ok := strings.CutSuffix(d.Name.Name, "_log")
	if !ok || base == "" || d.Result.Elem != "real" || len(d.Result.ArrayDims) > 0 || len(d.Params) < 1 {
		return ""
	}
	if name, ok := strings.CutSuffix(base, "_ccdf"); ok && name != "" {
		return name + "_lccdf"
	}
	if name, ok := strings.CutSuffix(base, "_cdf"); ok && name != "" {
		return name + "_lcdf"
	}
	if d.Params[0].Type.Elem == "int" {
		return base + "_lpmf"
	}
	return base + "_lpdf"
}

// plainJacobians finds functions named _jacobian that were written before `jacobian +=` existed.
// Now functions with this suffix may be called only where parameters are transformed, so these
// functions are renamed. Functions that add to the Jacobian, or call one that does, keep their
// names.
func plainJacobians(functions *ast.Block) map[string]bool {
	jacobian := func(name string) bool { return strings.HasSuffix(name, "_jacobian") && name != "_jacobian" }
	plain := map[string]bool{}
	var list []*ast.FunctionDecl
	for _, s := range functions.Stmts {
		if d, ok := s.(*ast.FunctionDecl); ok && jacobian(d.Name.Name) {
			plain[d.Name.Name] = true
			list = append(list, d)
		}
	}
	adjusts := func(d *ast.FunctionDecl) bool {
		found := false
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TargetPlus:
				found = found || n.Jacobian
			case *ast.CallExpr:
				found = found || jacobian(n.Func.Name) && !plain[n.Func.Name]
			}
			return !found
		}, nil)
		return found
	}
	for more := true; more; { // repeat until no more functions are found that add to the Jacobian
		more = false
		for _, d := range list {
			if plain[d.Name.Name] && adjusts(d) {
				delete(plain, d.Name.Name)
				more = true
			}
		}
	}
	return plain
}

// tree returns a tree in current syntax. A call that is a statement is rewritten with its
// statement, because its replacement may not be a call.
func (u *upgrader) tree(n ast.Node) ast.Node {
	return ast.Rewrite(n, func(n ast.Node) bool { _, call := n.(*ast.CallStmt); return !call }, u.node)
}

// node rewrites a node in current syntax, after its children have been rewritten.
func (u *upgrader) node(n ast.Node) ast.Node {
	if name := nameOf(n); u.plain[name] {
		u.note(n, name, name+"_")
		return named(n, name+"_")
	}
	switch n := n.(type) {
	case *ast.FunctionDecl:
		if now := nameToday(n); now != "" {
			if !u.noted[now] { // report a forward declaration and its definition only once
				u.note(&n.Name, n.Name.Name, now)
			}
			u.noted[now] = true
			c := *n
			c.Name.Name = now
			return &c
		}
	case *ast.Assign:
		if added := addedToLP(n.RHS); isLP(n.LHS) && added != nil {
			u.note(n.LHS, "lp__", "target += …")
			return &ast.TargetPlus{Base: n.Base, Value: added}
		}
	case *ast.CallStmt:
		if call := n.Call; call.Func.Name == "increment_log_prob" && len(call.Args) == 1 {
			u.note(&call.Func, "increment_log_prob(…)", "target += …")
			return &ast.TargetPlus{Base: n.Base, Value: u.tree(call.Args[0]).(ast.Expr)}
		}
		if call, ok := u.tree(n.Call).(*ast.CallExpr); ok {
			return &ast.CallStmt{Base: n.Base, Call: call}
		}
	case *ast.CallExpr:
		return u.call(n)
	}
	return n
}

// isLP reports whether an expression is lp__, by which programs once added to the target.
func isLP(e ast.Expr) bool {
	v, ok := e.(*ast.VarExpr)
	return ok && v.Name == "lp__"
}

// addedToLP returns e for an expression lp__ + e, where e may be a long sum; nil for other
// expressions.
func addedToLP(e ast.Expr) ast.Expr {
	b, ok := e.(*ast.Binary)
	switch {
	case !ok || b.Op != "+" && b.Op != "-":
		return nil
	case isLP(b.X) && b.Op == "+":
		return b.Y
	}
	x := addedToLP(b.X)
	if x == nil {
		return nil
	}
	return &ast.Binary{Base: b.Base, Op: b.Op, OpPos: b.OpPos, X: x, Y: b.Y}
}

// conditional lists the suffixes of functions that are called with a bar after the variate.
var conditional = []string{"_lpdf", "_lpmf", "_lupdf", "_lupmf", "_cdf", "_lcdf", "_lccdf"}

func (u *upgrader) call(e *ast.CallExpr) ast.Expr {
	name := e.Func.Name
	called := func(name string, bar bool) ast.Expr {
		c := *e
		c.Func.Name, c.Bar = name, bar
		return &c
	}
	if now := u.own[name]; now != "" {
		u.note(&e.Func, name, now)
		return called(now, true)
	}
	if !e.Bar && len(e.Args) > 1 && u.known(name) {
		for _, s := range conditional {
			if strings.HasSuffix(name, s) {
				u.note(&e.Func, name+"(x, …)", name+"(x | …)")
				return called(name, true)
			}
		}
	}
	today, form, ok := legacy.Replacement(name, u.known)
	if !ok || name != "fabs" && u.known(name) {
		return e
	}
	switch {
	case form == legacy.Target && len(e.Args) == 0:
		u.note(&e.Func, "get_lp()", "target()")
		return &ast.Target{Base: e.Base}
	case form == legacy.Choice && len(e.Args) == 3:
		u.note(&e.Func, "if_else(c, a, b)", "c ? a : b")
		part := func(x ast.Expr) ast.Expr {
			if _, ok := x.(*ast.Cond); ok {
				return &ast.Paren{Base: ast.Base{Pos: x.Span()}, X: x}
			}
			return x
		}
		c := &ast.Cond{Base: e.Base, Cond: part(e.Args[0]), Then: part(e.Args[1]), Else: part(e.Args[2])}
		return &ast.Paren{Base: e.Base, X: c}
	case form == legacy.Transposed:
		c := called(today, false).(*ast.CallExpr)
		if o, ok := legacy.Orders[name]; ok {
			if c.Args = u.inOrder(e, o); c.Args == nil {
				return e // checking reports it
			}
		}
		u.note(&e.Func, name+"(…)", today+"(…)'")
		return &ast.Unary{Base: e.Base, Op: "'", X: c}
	case form == legacy.Density || form == legacy.Call:
		u.note(&e.Func, name, today)
		return called(today, form == legacy.Density)
	}
	return e
}
