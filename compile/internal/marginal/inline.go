package marginal

import (
	"slices"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// definition is a statement that gives a container elements: v[i, j] = value in loops over i and j,
// v[i, 1] = value in a loop over i, or v = value. No other statement gives it the same ones.
type definition struct {
	loops []*ast.For // in the order of the indices, nil for a number; no loops: the whole container
	fixed []int64    // these numbers
	value ast.Expr
}

// numbers returns the number of indices that are numbers.
func (d definition) numbers() (n int) {
	for _, l := range d.loops {
		if l == nil {
			n++
		}
	}
	return n
}

// apart reports whether two definitions are about different elements, as their indices show.
func (d definition) apart(o definition) bool {
	before := func(d, o definition, k int) bool {
		if d.loops[k] != nil {
			return false
		}
		if o.loops[k] == nil {
			return d.fixed[k] != o.fixed[k]
		}
		from, ok := literal(o.loops[k].From)
		return ok && d.fixed[k] < from
	}
	for k := range min(len(d.loops), len(o.loops)) {
		if before(d, o, k) || before(o, d, k) {
			return true
		}
	}
	return false
}

// inliner replaces an element of a container that depends on discrete parameters by the expression
// that it is defined as. Otherwise a factor that reads one element would compute all of them, and
// so read everything that they depend on.
type inliner struct {
	split *splitter
	info  *check.Info
	taint map[*check.Var]bool
	count map[*check.Var]int // assignments
	defs  map[*check.Var][]definition
	now   []*check.Var // being replaced
}

// inlined returns the tree with elements replaced in its model block.
func inlined(f *ast.File, s *splitter) *ast.File {
	in := &inliner{split: s, info: s.info, taint: s.taint, count: map[*check.Var]int{}, defs: map[*check.Var][]definition{}}
	blocks := []ast.BlockKind{ast.TransformedParameters, ast.Model}
	for _, k := range blocks {
		if b := f.Block(k); b != nil {
			in.counts(b)
		}
	}
	for _, k := range blocks {
		if b := f.Block(k); b != nil {
			in.find(b.Stmts, nil)
		}
	}
	for v, ds := range in.defs {
		sorting.Stable(ds, func(a, b definition) int { return a.numbers() - b.numbers() })
		twice := len(ds) != in.count[v] || ds[0].numbers() > 0
		for i, d := range ds {
			twice = twice || slices.ContainsFunc(ds[i+1:], func(o definition) bool { return !d.apart(o) })
		}
		if twice {
			delete(in.defs, v)
		}
	}
	if len(in.defs) == 0 {
		return f
	}
	return ast.Map(f, func(n ast.Node) ast.Node {
		if b, ok := n.(*ast.Block); ok && b.Kind == ast.Model {
			return in.node(b)
		}
		return n
	}).(*ast.File)
}

func (in *inliner) counts(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarDecl:
			if n.Init != nil {
				in.count[in.info.Defs[n]]++
			}
		case *ast.Assign:
			for v := range ast.Targets(n.LHS) {
				in.count[in.info.Uses[v]]++
			}
		}
		return true
	}, nil)
}

// find collects definitions among the statements of a block or of a loop.
func (in *inliner) find(ss []ast.Stmt, loops []*ast.For) {
	for _, s := range ss {
		switch s := s.(type) {
		case *ast.VarDecl:
			if v := in.info.Defs[s]; s.Init != nil && len(loops) == 0 {
				in.define(v, nil, nil, s.Init)
			}
		case *ast.Assign:
			if s.Op != "=" {
				continue
			}
			if v, ok := s.LHS.(*ast.VarExpr); ok && len(loops) == 0 {
				in.define(in.info.Uses[v], nil, nil, s.RHS)
			}
			if e, ok := s.LHS.(*ast.IndexExpr); ok {
				if v, ok := e.X.(*ast.VarExpr); ok {
					if order, fixed := in.order(e.Indices, loops); order != nil {
						in.define(in.info.Uses[v], order, fixed, s.RHS)
					}
				}
			}
		case *ast.For:
			in.find(statements(s.Body), append(slices.Clip(loops), s))
		case *ast.BlockStmt:
			if len(loops) > 0 {
				in.find(s.Stmts, loops)
			}
		}
	}
}

// order returns the loops in the order of the indices, and the numbers among these; nil if others
// than each loop's variable and numbers are among them.
func (in *inliner) order(is []ast.Index, loops []*ast.For) (out []*ast.For, fixed []int64) {
	used := 0
	for _, i := range is {
		s, ok := i.(*ast.Single)
		if !ok {
			return nil, nil
		}
		n, number := literal(s.X)
		v, ok := ast.Unparen(s.X).(*ast.VarExpr)
		if !ok && !number {
			return nil, nil
		}
		var loop *ast.For
		if !number {
			k := slices.IndexFunc(loops, func(l *ast.For) bool { return in.info.Defs[l] == in.info.Uses[v] })
			if k < 0 || slices.Contains(out, loops[k]) {
				return nil, nil
			}
			loop = loops[k]
			used++
		}
		out, fixed = append(out, loop), append(fixed, n)
	}
	if used < len(loops) {
		return nil, nil
	}
	return out, fixed
}

// define adds a definition if the value may be computed elsewhere: all that it reads is visible
// there and does not change.
func (in *inliner) define(v *check.Var, loops []*ast.For, fixed []int64, value ast.Expr) {
	if !in.taint[v] || loops == nil && in.count[v] != 1 || v.Type.Rank() == 0 || loops == nil && v.Type.Rank() != 1 {
		return
	}
	ok := true
	ast.Inspect(value, func(n ast.Node) bool {
		e, is := n.(*ast.VarExpr)
		if !is {
			return true
		}
		u := in.info.Uses[e]
		switch {
		case u == nil || u.Block == ast.Data || u.Block == ast.TransformedData || u.Block == ast.Parameters:
		case slices.ContainsFunc(loops, func(l *ast.For) bool { return l != nil && in.info.Defs[l] == u }):
		case u == v || u.Loop || in.count[u] != 1 || !u.Global && u.Block != ast.Model || u.Block == ast.Model && !in.top(u):
			ok = false
		}
		return ok
	}, nil)
	if ok {
		in.defs[v] = append(in.defs[v], definition{loops, fixed, value})
	}
}

// top reports whether a local variable of the model block has a definition, and so is declared
// outside loops or defined by its own loop.
func (in *inliner) top(u *check.Var) bool {
	_, ok := in.defs[u]
	return ok
}

func (in *inliner) node(n ast.Node) ast.Node {
	if a, ok := n.(*ast.Assign); ok { // its left side is no read
		c := *a
		c.RHS = in.node(a.RHS).(ast.Expr)
		return &c
	}
	e, ok := n.(*ast.IndexExpr)
	if !ok {
		return ast.Map(n, in.node)
	}
	v, ok := ast.Unparen(e.X).(*ast.VarExpr)
	if !ok {
		return ast.Map(n, in.node)
	}
	u := in.info.Uses[v]
	ds := in.defs[u]
	if len(ds) == 0 || slices.Contains(in.now, u) || len(e.Indices) != max(1, len(ds[0].loops)) {
		return ast.Map(n, in.node)
	}
	var at []ast.Expr
	for _, i := range e.Indices {
		s, ok := i.(*ast.Single)
		if !ok || !in.info.Types[s.X].Type.IsScalar() {
			return ast.Map(n, in.node)
		}
		at = append(at, in.node(s.X).(ast.Expr))
	}
	in.now = append(in.now, u)
	defer func() { in.now = in.now[:len(in.now)-1] }()
	b := builder{e.Span()}
	if d := ds[0]; d.loops == nil {
		// The element of the value, in which other elements may be replaced.
		mark := "\x00"
		value := in.split.at(d.value, b.name(mark))
		return &ast.Paren{Base: b.base(), X: replaced(value, map[string]ast.Expr{mark: at[0]})}
	}
	index := map[*check.Var]ast.Expr{}
	var visit func(ast.Node) ast.Node
	visit = func(n ast.Node) ast.Node {
		if v, ok := n.(*ast.VarExpr); ok {
			if x, ok := index[in.info.Uses[v]]; ok {
				return &ast.Paren{Base: v.Base, X: clone(x, nil)}
			}
		}
		return ast.Map(n, visit)
	}
	var out ast.Expr
	for _, d := range ds {
		var cond ast.Expr
		for k, l := range d.loops {
			if l != nil {
				index[in.info.Defs[l]] = at[k]
			} else if is := b.op("==", b.grouped(clone(at[k], nil)), b.int(d.fixed[k])); cond == nil {
				cond = is
			} else {
				cond = b.op("&&", cond, is)
			}
		}
		value := ast.Expr(&ast.Paren{Base: b.base(), X: visit(in.node(d.value)).(ast.Expr)})
		if out != nil {
			value = &ast.Paren{Base: b.base(), X: &ast.Cond{Base: b.base(), Cond: cond, Then: value, Else: out}}
		}
		out = value
	}
	return out
}

// replaced returns an expression with expressions for names.
func replaced(e ast.Expr, by map[string]ast.Expr) ast.Expr {
	return clone(e, func(n ast.Node) ast.Node {
		if v, ok := n.(*ast.VarExpr); ok && by[v.Name] != nil {
			return &ast.Paren{Base: v.Base, X: clone(by[v.Name], nil)}
		}
		return n
	})
}
