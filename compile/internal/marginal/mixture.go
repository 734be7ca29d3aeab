package marginal

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
)

// mixed returns the tree with an indicator for each mixture of terms about a count without an upper
// bound: target += log_mix(p, poisson_lpmf(N | a), poisson_lpmf(N | b)) becomes target +=
// (component == 1 ? log(p) + poisson_lpmf(N | a) : log1m(p) + poisson_lpmf(N | b)). The sum over N
// is then checked for each component, so that no peak is overlooked. The indicators are summed out
// like declared parameters, but they are not in the output.
func (s *splitter) mixed(f *ast.File) *ast.File {
	b := f.Block(ast.Model)
	if b == nil || len(s.counts()) == 0 {
		return f
	}
	m := &mixer{s: s}
	model := m.node(b, nil).(*ast.Block)
	if len(m.declared) == 0 {
		return f
	}
	return ast.Map(f, func(n ast.Node) ast.Node {
		switch old, _ := n.(*ast.Block); {
		case old == b:
			return model
		case old != nil && old.Kind == ast.Parameters:
			c := *old
			c.Stmts = slices.Concat(old.Stmts, m.declared)
			return &c
		}
		return n
	}).(*ast.File)
}

// counts are the names of the discrete parameters without an upper bound.
func (s *splitter) counts() map[string]bool {
	out := map[string]bool{}
	for v, kinds := range s.bounds {
		if kinds["upper"] == nil && !v.Missing {
			out[v.Name] = true
		}
	}
	return out
}

type mixer struct {
	s        *splitter
	declared []ast.Stmt
}

// node rewrites the statements within loops, outermost first.
func (m *mixer) node(n ast.Node, loops []*ast.For) ast.Node {
	switch n := n.(type) {
	case *ast.For:
		return ast.Map(n, func(c ast.Node) ast.Node { return m.node(c, append(loops[:len(loops):len(loops)], n)) })
	case *ast.TargetPlus:
		if x := m.indicated(n, loops); x != nil {
			c := *n
			c.Value = x
			return &c
		}
		return n
	case ast.Expr, *ast.While, *ast.ForEach:
		return n
	}
	return ast.Map(n, func(c ast.Node) ast.Node { return m.node(c, loops) })
}

// indicated returns the term of a statement with an indicator; nil if it is no mixture about a
// count, or if the sizes of the loops are not the same throughout.
func (m *mixer) indicated(st *ast.TargetPlus, loops []*ast.For) ast.Expr {
	b := builder{st.Span()}
	parts := m.components(b, st.Value)
	if len(parts) < 2 || !m.about(st.Value) {
		return nil
	}
	var sizes, at []ast.Expr
	for _, l := range loops {
		if m.s.involved(l.From) || m.s.involved(l.To) || m.local(l.From) || m.local(l.To) {
			return nil
		}
		size, i := clone(l.To, nil), b.name(l.Var.Name)
		if n, ok := literal(l.From); !ok || n != 1 {
			none := b.op("<", b.grouped(clone(l.To, nil)), b.grouped(clone(l.From, nil)))
			many := b.plus(b.op("-", b.grouped(clone(l.To, nil)), b.grouped(clone(l.From, nil))), 1)
			size = &ast.Paren{Base: b.base(), X: &ast.Cond{Base: b.base(), Cond: none, Then: b.int(0), Else: many}}
			i = b.plus(b.op("-", i, b.grouped(clone(l.From, nil))), 1)
		}
		sizes, at = append(sizes, size), append(at, i)
	}
	name := m.s.names.fresh("component")
	if m.s.indicators == nil {
		m.s.indicators = map[string]bool{}
	}
	m.s.indicators[name] = true
	d := b.declare(sizes, "int", nil, name, nil)
	d.Type.Bounds = []ast.Bound{{Base: b.base(), Kind: "lower", Value: b.int(1)}, {Base: b.base(), Kind: "upper", Value: b.int(int64(len(parts)))}}
	m.declared = append(m.declared, d)
	out := parts[len(parts)-1]
	for k := len(parts) - 2; k >= 0; k-- {
		x := &ast.Cond{Base: b.base(), Cond: b.op("==", b.at(b.name(name), clones(at)...), b.int(int64(k+1))), Then: parts[k], Else: out}
		out = &ast.Paren{Base: b.base(), X: x}
	}
	return out
}

func clones(es []ast.Expr) []ast.Expr {
	out := make([]ast.Expr, len(es))
	for i, e := range es {
		out[i] = clone(e, nil)
	}
	return out
}

// about reports whether an expression reads a count.
func (m *mixer) about(e ast.Expr) bool {
	counts, found := m.s.counts(), false
	ast.Inspect(e, func(n ast.Node) bool {
		if v, ok := n.(*ast.VarExpr); ok {
			found = found || counts[v.Name]
		}
		return !found
	}, nil)
	return found
}

// local reports whether an expression reads variables of the model block.
func (m *mixer) local(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if v, ok := n.(*ast.VarExpr); ok {
			u := m.s.info.Uses[v]
			found = found || u == nil || u.Loop || u.Block > ast.TransformedData
		}
		return !found
	}, nil)
	return found
}

// components returns the logs of the terms whose sum an expression is the log of.
func (m *mixer) components(b builder, e ast.Expr) []ast.Expr {
	e = ast.Unparen(e)
	c, ok := e.(*ast.CallExpr)
	if !ok || m.s.info.Calls[c] == nil || m.s.info.Calls[c].Func != nil {
		return []ast.Expr{e}
	}
	var weights, terms []ast.Expr
	switch {
	case c.Func.Name == "log_mix" && len(c.Args) == 3:
		weights = []ast.Expr{b.call("log", clone(c.Args[0], nil)), b.call("log1m", clone(c.Args[0], nil))}
		terms = c.Args[1:]
	case c.Func.Name == "log_mix" && len(c.Args) == 2 && m.s.info.Types[c.Args[1]].Type.Rank() == 1:
		terms = elementsOf(c.Args[1])
		for k := range terms {
			weights = append(weights, b.call("log", m.s.at(c.Args[0], b.int(int64(k+1)))))
		}
	case c.Func.Name == "log_sum_exp" && len(c.Args) == 2:
		terms = c.Args
	case c.Func.Name == "log_sum_exp" && len(c.Args) == 1:
		terms = elementsOf(c.Args[0])
	}
	if len(terms) == 0 {
		return []ast.Expr{e}
	}
	var out []ast.Expr
	for k, t := range terms {
		for _, x := range m.components(b, t) {
			if x = b.grouped(clone(x, nil)); weights != nil {
				x = b.op("+", clone(weights[k], nil), x)
			}
			out = append(out, x)
		}
	}
	return out
}

// elementsOf returns the elements of a written container; nil: the expression is another one.
func elementsOf(e ast.Expr) []ast.Expr {
	switch e := ast.Unparen(e).(type) {
	case *ast.ArrayExpr:
		return e.Elems
	case *ast.RowVectorExpr:
		return e.Elems
	case *ast.Unary:
		if e.Op == "'" {
			return elementsOf(e.X)
		}
	}
	return nil
}

// concealed declares the local variables with draws of the indicators.
func (w *writer) concealed() (out []ast.Stmt) {
	for _, u := range w.p.unknowns {
		if !w.p.indicators[u.name] {
			continue
		}
		name := u.name
		if w.p.o.Purpose == Probabilities {
			name += modeSuffix
		}
		out = append(out, w.declare(clones(u.decl.Type.ArrayDims), "int", nil, name, nil))
	}
	return out
}
