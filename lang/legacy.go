package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/internal/legacy"
)

// upgrade rewrites the functions of older versions in a tree that no one else
// has seen yet. What is written otherwise in older versions (arrays, <-,
// comments) the parser has upgraded. It returns a warning for each change.
func upgrade(f *ast.File, known func(string) bool) diag.List {
	defined := map[string]bool{}
	u := &upgrader{own: map[string]string{}, known: func(name string) bool { return defined[name] || known(name) }}
	if b := f.Block(ast.Functions); b != nil {
		for _, s := range b.Stmts {
			if d, ok := s.(*ast.FunctionDecl); ok {
				defined[d.Name.Name] = true
			}
		}
		for _, s := range b.Stmts {
			if d, ok := s.(*ast.FunctionDecl); ok {
				u.function(d)
			}
		}
		u.plainJacobians(f, b)
	}
	for _, b := range f.Blocks {
		u.stmts(b.Stmts)
	}
	return u.list
}

// rename gives names that are reserved today an underscore, and more if there is
// such a name already.
func rename(f *ast.File) {
	taken := map[string]bool{}
	var places []*string
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			places = append(places, &n.Name)
		case *ast.VarExpr:
			places = append(places, &n.Name)
		}
		return true
	}, nil)
	for _, p := range places {
		taken[*p] = true
	}
	now := map[string]string{}
	for _, p := range places {
		if !grammar.Reserved(*p) {
			continue
		}
		if now[*p] == "" {
			name := *p + "_"
			for i := 2; taken[name]; i++ {
				name = fmt.Sprintf("%s_%d", *p, i)
			}
			now[*p], taken[name] = name, true
		}
		*p = now[*p]
	}
}

type upgrader struct {
	own   map[string]string // the program's densities by their old names
	known func(string) bool
	list  diag.List
}

func (u *upgrader) note(n ast.Node, was, is string) {
	d := diag.Warnf(diag.LegacySyntax, n.Span(), "`%s` is of an older version of Stan", was)
	d.Fix = "write `" + is + "`"
	u.list.Add(d)
}

// function renames the definition of a density NAME_log or of a distribution
// function NAME_cdf_log or NAME_ccdf_log.
func (u *upgrader) function(d *ast.FunctionDecl) {
	base, ok := strings.CutSuffix(d.Name.Name, "_log")
	if !ok || base == "" || d.Result.Elem != "real" || len(d.Result.ArrayDims) > 0 || len(d.Params) < 1 {
		return
	}
	now := base + "_lpdf"
	if d.Params[0].Type.Elem == "int" {
		now = base + "_lpmf"
	}
	if name, ok := strings.CutSuffix(base, "_ccdf"); ok && name != "" {
		now = name + "_lccdf"
	} else if name, ok := strings.CutSuffix(base, "_cdf"); ok && name != "" {
		now = name + "_lcdf"
	}
	if u.own[d.Name.Name] == "" {
		u.note(&d.Name, d.Name.Name, now)
	}
	u.own[d.Name.Name] = now
	d.Name.Name = now
}

// plainJacobians renames functions of before `jacobian +=`, whose names ended in
// _jacobian because they computed one: today such a name may be called only where
// the parameters are transformed. A function is of today if it adds to the
// Jacobian, or calls one that does.
func (u *upgrader) plainJacobians(f *ast.File, functions *ast.Block) {
	named := func(name string) bool { return strings.HasSuffix(name, "_jacobian") && name != "_jacobian" }
	plain := map[string][]*ast.FunctionDecl{}
	for _, s := range functions.Stmts {
		if d, ok := s.(*ast.FunctionDecl); ok && named(d.Name.Name) {
			plain[d.Name.Name] = append(plain[d.Name.Name], d)
		}
	}
	adjusts := func(d *ast.FunctionDecl) bool {
		found := false
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TargetPlus:
				found = found || n.Jacobian
			case *ast.CallExpr:
				found = found || named(n.Func.Name) && plain[n.Func.Name] == nil
			}
			return !found
		}, nil)
		return found
	}
	for more := true; more; { // until nothing calls what has been found to adjust
		more = false
		for name, ds := range plain {
			if slices.ContainsFunc(ds, adjusts) {
				delete(plain, name)
				more = true
			}
		}
	}
	if len(plain) == 0 {
		return
	}
	ast.Inspect(f, func(n ast.Node) bool {
		var name *string
		switch n := n.(type) {
		case *ast.Ident:
			name = &n.Name
		case *ast.VarExpr:
			name = &n.Name
		default:
			return true
		}
		if plain[*name] != nil {
			u.note(n, *name, *name+"_")
			*name += "_"
		}
		return true
	}, nil)
}

func (u *upgrader) stmts(list []ast.Stmt) {
	for i, s := range list {
		list[i] = u.stmt(s)
	}
}

func (u *upgrader) stmt(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.VarDecl:
		u.typ(s.Type)
		s.Init = u.expr(s.Init)
	case *ast.FunctionDecl:
		if s.Body != nil {
			u.stmts(s.Body.Stmts)
		}
	case *ast.Assign:
		s.LHS, s.RHS = u.expr(s.LHS), u.expr(s.RHS)
		if added := addedToLP(s.RHS); isLP(s.LHS) && added != nil {
			u.note(s.LHS, "lp__", "target += …")
			return &ast.TargetPlus{Base: s.Base, Value: added}
		}
	case *ast.TargetPlus:
		s.Value = u.expr(s.Value)
	case *ast.Tilde:
		s.Variate = u.expr(s.Variate)
		u.exprs(s.Args)
		if s.Trunc != nil {
			s.Trunc.Lower, s.Trunc.Upper = u.expr(s.Trunc.Lower), u.expr(s.Trunc.Upper)
		}
	case *ast.CallStmt:
		if call := s.Call; call.Func.Name == "increment_log_prob" && len(call.Args) == 1 {
			u.note(&call.Func, "increment_log_prob(…)", "target += …")
			return &ast.TargetPlus{Base: s.Base, Value: u.expr(call.Args[0])}
		}
		if call, ok := u.expr(s.Call).(*ast.CallExpr); ok {
			s.Call = call
		}
	case *ast.For:
		s.From, s.To, s.Body = u.expr(s.From), u.expr(s.To), u.stmt(s.Body)
	case *ast.ForEach:
		s.Over, s.Body = u.expr(s.Over), u.stmt(s.Body)
	case *ast.While:
		s.Cond, s.Body = u.expr(s.Cond), u.stmt(s.Body)
	case *ast.If:
		s.Cond, s.Then = u.expr(s.Cond), u.stmt(s.Then)
		if s.Else != nil {
			s.Else = u.stmt(s.Else)
		}
	case *ast.BlockStmt:
		u.stmts(s.Stmts)
	case *ast.Profile:
		u.stmts(s.Body.Stmts)
	case *ast.Print:
		u.exprs(s.Args)
	case *ast.Reject:
		u.exprs(s.Args)
	case *ast.Return:
		s.Value = u.expr(s.Value)
	}
	return s
}

// isLP reports the variable by which programs once added to the target.
func isLP(e ast.Expr) bool {
	v, ok := e.(*ast.VarExpr)
	return ok && v.Name == "lp__"
}

// addedToLP is e of an expression lp__ + e, whatever e ends in; nil for others.
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

func (u *upgrader) typ(t *ast.TypeExpr) {
	u.exprs(t.ArrayDims)
	u.exprs(t.Sizes)
	for i := range t.Bounds {
		t.Bounds[i].Value = u.expr(t.Bounds[i].Value)
	}
	for _, m := range t.Members {
		u.typ(m)
	}
}

func (u *upgrader) exprs(list []ast.Expr) {
	for i, e := range list {
		list[i] = u.expr(e)
	}
}

func (u *upgrader) expr(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.CallExpr:
		return u.call(e)
	case *ast.Unary:
		e.X = u.expr(e.X)
	case *ast.Binary:
		e.X, e.Y = u.expr(e.X), u.expr(e.Y)
	case *ast.Cond:
		e.Cond, e.Then, e.Else = u.expr(e.Cond), u.expr(e.Then), u.expr(e.Else)
	case *ast.IndexExpr:
		e.X = u.expr(e.X)
		for _, i := range e.Indices {
			switch i := i.(type) {
			case *ast.Single:
				i.X = u.expr(i.X)
			case *ast.Range:
				i.From, i.To = u.expr(i.From), u.expr(i.To)
			}
		}
	case *ast.TupleMember:
		e.X = u.expr(e.X)
	case *ast.ArrayExpr:
		u.exprs(e.Elems)
	case *ast.RowVectorExpr:
		u.exprs(e.Elems)
	case *ast.TupleExpr:
		u.exprs(e.Elems)
	case *ast.Paren:
		e.X = u.expr(e.X)
	}
	return e
}

// conditional are the suffixes of functions with a bar after the variate.
var conditional = []string{"_lpdf", "_lpmf", "_lupdf", "_lupmf", "_cdf", "_lcdf", "_lccdf"}

func (u *upgrader) call(e *ast.CallExpr) ast.Expr {
	u.exprs(e.Args)
	name := e.Func.Name
	if now := u.own[name]; now != "" {
		u.note(&e.Func, name, now)
		e.Func.Name, e.Bar = now, true
		return e
	}
	if !e.Bar && len(e.Args) > 1 && u.known(name) {
		for _, s := range conditional {
			if strings.HasSuffix(name, s) {
				u.note(&e.Func, name+"(x, …)", name+"(x | …)")
				e.Bar = true
				return e
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
	case form == legacy.Density || form == legacy.Call:
		u.note(&e.Func, name, today)
		e.Func.Name, e.Bar = today, form == legacy.Density
	}
	return e
}
