package marginal

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
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
	m.survey(b)
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

	lists    [][]ast.Stmt        // the statements around, outermost first
	locals   map[*check.Var]bool // of the model block
	changing map[*check.Var]bool // which are set more than once
	assigned map[*check.Var]int  // the number of statements
}

// node rewrites the statements within loops, outermost first.
func (m *mixer) node(n ast.Node, loops []*ast.For) ast.Node {
	switch n := n.(type) {
	case *ast.Block:
		m.lists = [][]ast.Stmt{n.Stmts}
	case *ast.BlockStmt:
		m.lists = append(m.lists, n.Stmts)
		defer func() { m.lists = m.lists[:len(m.lists)-1] }()
	case *ast.For:
		return ast.Map(n, func(c ast.Node) ast.Node { return m.node(c, append(loops[:len(loops):len(loops)], n)) })
	case *ast.TargetPlus:
		if x, _ := m.indicated(n.Value, loops); x != nil {
			c := *n
			c.Value = x
			return &c
		}
		return n
	case *ast.Assign:
		v, ok := root(n.LHS)
		if !ok || !slices.Contains(m.s.seen, v.Name) {
			return n
		}
		if x, number := m.indicated(n.RHS, loops); x != nil {
			// Without the observation, its component has any value: this takes their number off.
			b := builder{n.RHS.Span()}
			c := *n
			c.RHS = b.op("+", b.call("log", clone(number, nil)), b.grouped(x))
			return &c
		}
		return n
	case ast.Expr, *ast.While, *ast.ForEach:
		return n
	}
	return ast.Map(n, func(c ast.Node) ast.Node { return m.node(c, loops) })
}

// indicated returns the term of a statement with an indicator, and the number of its values; nil if
// it is no mixture about a count, or if the sizes of the loops are not the same throughout.
func (m *mixer) indicated(value ast.Expr, loops []*ast.For) (term, number ast.Expr) {
	b := builder{value.Span()}
	parts := m.components(b, value)
	number = b.int(int64(len(parts)))
	element := func(ast.Expr) ast.Expr { return nil }
	if len(parts) < 2 {
		if number, element = m.elements(b, value); number == nil || m.s.unknown(number) || !m.s.involved(value) {
			return nil, nil
		}
	} else if !slices.ContainsFunc(parts, m.about) {
		return nil, nil
	}
	var sizes, at []ast.Expr
	for _, l := range loops {
		if m.s.unknown(l.From) || m.s.unknown(l.To) {
			return nil, nil
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
	d.Type.Bounds = []ast.Bound{{Base: b.base(), Kind: "lower", Value: b.int(1)}, {Base: b.base(), Kind: "upper", Value: number}}
	m.declared = append(m.declared, d)
	if x := element(b.at(b.name(name), clones(at)...)); x != nil {
		return x, number
	}
	out := parts[len(parts)-1]
	for k := len(parts) - 2; k >= 0; k-- {
		x := &ast.Cond{Base: b.base(), Cond: b.op("==", b.at(b.name(name), clones(at)...), b.int(int64(k+1))), Then: parts[k], Else: out}
		out = &ast.Paren{Base: b.base(), X: x}
	}
	return out, number
}

// written returns the elements of a written container, or of a local vector whose elements are set
// one by one; nil: the expression is another one.
func (m *mixer) written(e ast.Expr) []ast.Expr {
	if v, ok := ast.Unparen(e).(*ast.VarExpr); ok && m.s.info.Uses[v] != nil && m.s.info.Uses[v].Block == ast.Model {
		_, _, elements := m.filled(m.s.info.Uses[v])
		return elements
	}
	return elementsOf(e)
}

// elements returns the number of terms of a mixture whose terms are the elements of a vector, and a
// function that returns one of these; nil if an expression is something else.
func (m *mixer) elements(b builder, e ast.Expr) (number ast.Expr, element func(at ast.Expr) ast.Expr) {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(c.Args) == 0 || m.s.info.Calls[c] == nil || m.s.info.Calls[c].Func != nil {
		return nil, nil
	}
	last := c.Args[len(c.Args)-1]
	if m.s.info.Types[last].Type.Rank() != 1 {
		return nil, nil
	}
	number, of := m.s.size(last), func(at ast.Expr) ast.Expr { return m.s.at(last, at) }
	if v, ok := ast.Unparen(last).(*ast.VarExpr); ok && m.s.info.Uses[v].Block == ast.Model {
		d, value, _ := m.filled(m.s.info.Uses[v])
		if value == nil {
			return nil, nil
		}
		number, of = clone(d.Type.Sizes[0], nil), value
	} else if mentions(m.s.info, m.locals, last) {
		return nil, nil
	}
	switch {
	case c.Func.Name == "log_sum_exp" && len(c.Args) == 1:
		return number, of
	case c.Func.Name == "log_mix" && len(c.Args) == 2:
		return number, func(at ast.Expr) ast.Expr {
			return b.op("+", b.call("log", m.s.at(c.Args[0], at)), b.grouped(of(clone(at, nil))))
		}
	}
	return nil, nil
}

// filled finds how the model block computes a vector of terms: a loop over all its elements adds to
// them or sets them, or each is set by its own statement. value returns an element at an index, and
// elements are all of them; both are nil if the vector is computed in another way, or from
// variables that change.
func (m *mixer) filled(v *check.Var) (d *ast.VarDecl, value func(at ast.Expr) ast.Expr, elements []ast.Expr) {
	d, ok := v.Decl.(*ast.VarDecl)
	if !ok || len(d.Type.ArrayDims) > 0 || len(d.Type.Sizes) != 1 {
		return nil, nil, nil
	}
	within := func(body []ast.Stmt) bool { return slices.Contains(body, ast.Stmt(d)) }
	k := slices.IndexFunc(m.lists, within)
	if k < 0 {
		return nil, nil, nil
	}
	steady := func(e ast.Expr) bool {
		return !mentions(m.s.info, map[*check.Var]bool{v: true}, e) && !mentions(m.s.info, m.changing, e)
	}
	found := 0
	for _, st := range m.lists[k] {
		loop, _ := st.(*ast.For)
		if loop != nil {
			if body := statements(loop.Body); len(body) == 1 {
				st = body[0]
			}
		}
		a, ok := st.(*ast.Assign)
		if !ok {
			continue
		}
		at, ok := a.LHS.(*ast.IndexExpr)
		if !ok || len(at.Indices) != 1 || !m.s.is(at.X, v) {
			continue
		}
		found++
		one, ok := at.Indices[0].(*ast.Single)
		if !ok || !steady(a.RHS) {
			return nil, nil, nil
		}
		if n, ok := literal(one.X); ok && loop == nil && a.Op == "=" && n == int64(len(elements)+1) {
			elements = append(elements, a.RHS)
			continue
		}
		from, first := int64(0), false
		if loop != nil {
			from, first = literal(loop.From)
		}
		if !first || from != 1 || !m.s.is(one.X, m.s.info.Defs[loop]) || printer.String(loop.To) != printer.String(d.Type.Sizes[0]) || a.Op != "=" && (a.Op != "+=" || d.Init == nil || !steady(d.Init)) {
			return nil, nil, nil
		}
		value = func(at ast.Expr) ast.Expr {
			var visit func(n ast.Node) ast.Node
			visit = func(n ast.Node) ast.Node {
				if e, ok := n.(*ast.VarExpr); ok && m.s.is(e, m.s.info.Defs[loop]) {
					return &ast.Paren{Base: e.Base, X: clone(at, nil)}
				}
				return ast.Map(n, visit)
			}
			x := visit(a.RHS).(ast.Expr)
			if a.Op == "+=" {
				b := builder{a.Span()}
				x = b.op("+", b.grouped(m.s.at(d.Init, clone(at, nil))), b.grouped(x))
			}
			return x
		}
	}
	size, literally := literal(d.Type.Sizes[0])
	switch {
	case found != m.assigned[v] || value != nil && found > 1:
		return nil, nil, nil
	case value != nil:
		return d, value, nil
	case !literally || size != int64(len(elements)):
		return nil, nil, nil
	}
	return d, nil, elements
}

// is reports whether an expression is a variable.
func (s *splitter) is(e ast.Expr, v *check.Var) bool {
	x, ok := ast.Unparen(e).(*ast.VarExpr)
	return ok && v != nil && s.info.Uses[x] == v
}

// survey notes the local variables of the model block, and how often each is assigned.
func (m *mixer) survey(b *ast.Block) {
	m.locals, m.changing, m.assigned = map[*check.Var]bool{}, map[*check.Var]bool{}, map[*check.Var]int{}
	set := map[*check.Var]int{}
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarDecl:
			m.locals[m.s.info.Defs[n]] = true
			if n.Init != nil {
				set[m.s.info.Defs[n]]++
			}
		case *ast.Assign:
			for t := range ast.Targets(n.LHS) {
				m.assigned[m.s.info.Uses[t]]++
				set[m.s.info.Uses[t]]++
			}
		}
		return true
	}, nil)
	for v, n := range set {
		m.changing[v] = n > 1
	}
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

// components returns the logs of the terms whose sum an expression is the log of.
func (m *mixer) components(b builder, e ast.Expr) []ast.Expr {
	e = ast.Unparen(e)
	if at, ok := e.(*ast.IndexExpr); ok && len(at.Indices) == 1 { // an element of a local vector of terms
		if one, ok := at.Indices[0].(*ast.Single); ok {
			if k, ok := literal(one.X); ok && k >= 1 {
				if terms := m.written(at.X); k <= int64(len(terms)) {
					return m.components(b, terms[k-1])
				}
			}
		}
	}
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
		terms = m.written(c.Args[1])
		for k := range terms {
			weights = append(weights, b.call("log", m.s.at(c.Args[0], b.int(int64(k+1)))))
		}
	case c.Func.Name == "log_sum_exp" && len(c.Args) == 2:
		terms = c.Args
	case c.Func.Name == "log_sum_exp" && len(c.Args) == 1:
		terms = m.written(c.Args[0])
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
