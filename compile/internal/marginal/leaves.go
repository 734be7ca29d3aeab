package marginal

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
)

// leaf is a statement that adds a factor to the density in each instance: for each combination of
// values of the loops around it for which the conditions hold.
type leaf struct {
	id   int
	path []ast.Stmt // *ast.For and *ast.If around it, outermost first
	then []bool     // for an *ast.If of path: the branch
	// before has, for each statement of path, the integers that statements before it set: data
	// alone decide them.
	before [][]ast.Stmt
	// code computes the factor: statements that the last one needs, in order, then that one.
	code []ast.Stmt
	occs []*occ
	// copied are variables that the code declares although the model block also has them.
	copied []*check.Var
}

func (l *leaf) stmt() ast.Stmt { return l.code[len(l.code)-1] }

// occ is a place in the code that reads a discrete parameter: its name with the indices behind it.
type occ struct {
	node    ast.Expr // *ast.VarExpr or *ast.IndexExpr
	of      *unknown
	indices []ast.Index
}

// level is a list of statements around a leaf with the position in it.
type level struct {
	before []ast.Stmt // statements before, in order
	loop   ast.Stmt   // the loop or conditional whose body the list is; nil: a block
	depth  int        // number of loops around it
}

// collector finds the leaves of the model block.
type collector struct {
	p      *program
	leaves []*leaf
	levels []level
	path   []ast.Stmt
	then   []bool
	before [][]ast.Stmt
}

// collect splits the model block into leaves and the statements that no discrete parameter is
// involved in, which it returns.
func (p *program) collect() ([]*leaf, []ast.Stmt) {
	c := &collector{p: p}
	c.levels = []level{{before: slices.Clone(p.derived)}} // transformed parameters come before
	var kept []ast.Stmt
	if b := p.tree.Block(ast.Model); b != nil {
		kept = c.list(b.Stmts)
	}
	return c.leaves, kept
}

// list goes over statements of the innermost level, and returns those that stay as they are.
func (c *collector) list(ss []ast.Stmt) (kept []ast.Stmt) {
	for _, s := range ss {
		if !c.p.involved(s) {
			kept = append(kept, s)
		} else if k := c.involved(s); k != nil {
			kept = append(kept, k)
		}
		top := &c.levels[len(c.levels)-1]
		top.before = append(top.before, s)
	}
	return kept
}

// involved goes over a statement that a discrete parameter is involved in. It returns what stays.
func (c *collector) involved(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.BlockStmt:
		kept := c.inner(level{}, s.Stmts)
		if len(kept) == 0 {
			return nil
		}
		return builder{s.Span()}.block(kept...)
	case *ast.For:
		if !c.p.involved(s.From) && !c.p.involved(s.To) && !jumps(s.Body) && c.apart(s) {
			kept := c.within(s, true, s.Body)
			if !adds(kept) {
				return nil
			}
			k := *s
			k.Body = builder{s.Span()}.block(kept...)
			return &k
		}
	case *ast.If:
		if c.p.decided(s.Cond) {
			k := *s
			k.Then, k.Else = nil, nil
			branch := func(s2 ast.Stmt, then bool) []ast.Stmt {
				if s2 == nil {
					return nil
				}
				return c.within(s, then, s2)
			}
			yes, no := branch(s.Then, true), branch(s.Else, false)
			if len(yes)+len(no) == 0 {
				return nil
			}
			k.Then = builder{s.Span()}.block(yes...)
			if len(no) > 0 {
				k.Else = builder{s.Span()}.block(no...)
			}
			return &k
		}
	case *ast.VarDecl, *ast.Assign:
		if c.p.observation(s) != nil {
			c.leaf(s)
		}
		return nil // leaves that need it include it
	case *ast.Print, *ast.Reject:
		c.p.refuse(diag.DiscreteUse, s.Span(), "a discrete parameter has no value here", "It is summed out: no evaluation of the density has a value of it.",
			"print or check it in generated quantities, where it is drawn")
		return nil
	}
	if adds([]ast.Stmt{s}) {
		c.leaf(s)
	}
	return nil
}

// within goes over the body of a loop or of a branch.
func (c *collector) within(s ast.Stmt, then bool, body ast.Stmt) []ast.Stmt {
	var ints []ast.Stmt
	for _, l := range c.levels {
		for _, b := range l.before {
			if d, ok := b.(*ast.VarDecl); ok && c.p.fixed[c.p.info.Defs[d]] {
				ints = append(ints, d)
			}
		}
	}
	c.path, c.then, c.before = append(c.path, s), append(c.then, then), append(c.before, ints)
	kept := c.inner(level{loop: s}, statements(body))
	n := len(c.path) - 1
	c.path, c.then, c.before = c.path[:n], c.then[:n], c.before[:n]
	return kept
}

// inner goes over the statements of an inner list.
func (c *collector) inner(l level, ss []ast.Stmt) []ast.Stmt {
	l.depth = c.levels[len(c.levels)-1].depth
	if _, ok := l.loop.(*ast.For); ok {
		l.depth++
	}
	c.levels = append(c.levels, l)
	kept := c.list(ss)
	c.levels = c.levels[:len(c.levels)-1]
	return kept
}

// apart reports whether each iteration of a loop is independent of the others as far as discrete
// parameters matter: no variable from outside that it assigns is read by a statement of the loop
// that a discrete parameter is involved in. Otherwise the loop is one factor.
func (c *collector) apart(s *ast.For) bool {
	inside := map[*check.Var]bool{}
	assigned := map[*check.Var]bool{}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarDecl, *ast.For, *ast.ForEach:
			inside[c.p.info.Defs[n]] = true
		case *ast.Assign:
			for v := range ast.Targets(n.LHS) {
				assigned[c.p.info.Uses[v]] = true
			}
		}
		return true
	}, nil)
	for v := range assigned {
		if inside[v] {
			delete(assigned, v)
		}
	}
	if len(assigned) == 0 {
		return true
	}
	// A variable that is only assigned here, and read after the loop, is no obstacle to a split if
	// nothing in the loop that involves a discrete parameter reads it.
	ok := true
	var visit func(s ast.Stmt)
	visit = func(s ast.Stmt) {
		switch s := s.(type) {
		case *ast.BlockStmt:
			for _, t := range s.Stmts {
				visit(t)
			}
		case *ast.For:
			visit(s.Body)
		case *ast.If:
			if mentions(c.p.info, assigned, s.Cond) {
				ok = false
			}
			visit(s.Then)
			if s.Else != nil {
				visit(s.Else)
			}
		case *ast.Assign, *ast.VarDecl:
		default:
			if mentions(c.p.info, assigned, s) {
				ok = false
			}
		}
	}
	visit(s.Body)
	if !ok {
		return false
	}
	// Local variables computed from it would carry it too.
	carried := assigned
	for v := range inside {
		_ = v
	}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarDecl:
			if n.Init != nil && mentions(c.p.info, carried, n.Init) {
				ok = false
			}
		case *ast.Assign:
			if t, local := root(n.LHS); local && inside[c.p.info.Uses[t]] && mentions(c.p.info, carried, n.RHS) {
				ok = false
			}
		}
		return ok
	}, nil)
	return ok
}

// root returns the variable of a simple left side.
func root(e ast.Expr) (*ast.VarExpr, bool) {
	for v := range ast.Targets(e) {
		return v, true
	}
	return nil, false
}

// leaf adds a statement with what it needs.
func (c *collector) leaf(s ast.Stmt) {
	l := &leaf{id: len(c.leaves), path: slices.Clone(c.path), then: slices.Clone(c.then), before: slices.Clone(c.before)}
	needed, changed := map[*check.Var]bool{}, map[*check.Var]bool{}
	c.p.reads(s, needed)
	c.p.assigns(s, changed)
	if v := c.p.observation(s); v != nil {
		delete(needed, v)
		delete(changed, v)
	}
	var code []ast.Stmt
	for k := len(c.levels) - 1; k >= 0; k-- {
		before := c.levels[k].before
		for i := len(before) - 1; i >= 0; i-- {
			b := before[i]
			// At the top of the block, what no discrete parameter is involved in is computed once,
			// unless the code changes it.
			if k == 0 && !c.p.involved(b) && !c.p.defines(b, changed) {
				continue
			}
			if !c.p.defines(b, needed) {
				continue
			}
			if d, ok := b.(*ast.VarDecl); ok && k == 0 && !c.p.involved(b) {
				l.copied = append(l.copied, c.p.info.Defs[d])
			}
			if b = c.p.withoutTargets(b); b != nil {
				c.p.reads(b, needed)
				c.p.assigns(b, changed)
				code = append(code, b)
			}
		}
	}
	slices.Reverse(code)
	l.code = append(code, s)
	for _, s := range l.code {
		c.p.occurrences(s, l)
	}
	c.leaves = append(c.leaves, l)
}

// reads adds the variables that a statement uses to a set.
func (p *program) reads(n ast.Node, into map[*check.Var]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if v, ok := n.(*ast.VarExpr); ok {
			if u := p.info.Uses[v]; u != nil {
				into[u] = true
			}
		}
		return true
	}, nil)
}

// assigns adds the variables that a statement assigns to a set.
func (p *program) assigns(n ast.Node, into map[*check.Var]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if a, ok := n.(*ast.Assign); ok {
			for v := range ast.Targets(a.LHS) {
				into[p.info.Uses[v]] = true
			}
		}
		return true
	}, nil)
}

// settled refuses a local variable that changes after a statement about discrete parameters has
// read it: the written program evaluates such statements last.
func (p *program) settled(l *leaf) {
	b := p.tree.Block(ast.Model)
	read, own := map[*check.Var]bool{}, map[*check.Var]bool{}
	for _, s := range l.code {
		p.reads(s, read)
		delete(read, p.observation(s))
		ast.Inspect(s, func(n ast.Node) bool {
			if v := p.info.Defs[n]; v != nil {
				own[v] = true
			}
			return true
		}, nil)
	}
	passed := false
	ast.Inspect(b, func(n ast.Node) bool {
		passed = passed || n == l.stmt()
		a, ok := n.(*ast.Assign)
		if !ok {
			return true
		}
		for t := range ast.Targets(a.LHS) {
			if v := p.info.Uses[t]; passed && read[v] && !own[v] {
				p.refuse(diag.DiscreteUse, a.Span(), "`"+v.Name+"` changes after a statement about a discrete parameter has read it", "Such statements are evaluated last.", "use another variable")
			}
		}
		return true
	}, nil)
}

// defines reports whether a statement declares or assigns a variable of a set.
func (p *program) defines(s ast.Stmt, set map[*check.Var]bool) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarDecl:
			found = found || set[p.info.Defs[n]]
		case *ast.Assign:
			for v := range ast.Targets(n.LHS) {
				found = found || set[p.info.Uses[v]]
			}
		}
		return !found
	}, nil)
	return found
}

// occurrences lists the places of a statement or an index that read discrete parameters.
func (p *program) occurrences(s ast.Node, l *leaf) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			if u := p.unknownOf(n.X); u != nil {
				l.occs = append(l.occs, &occ{node: n, of: u, indices: n.Indices})
				for _, i := range n.Indices { // an index may read one too
					p.occurrences(i, l)
				}
				return false
			}
		case *ast.VarExpr:
			if u := p.unknownOf(n); u != nil {
				l.occs = append(l.occs, &occ{node: n, of: u})
			}
		}
		return true
	}, nil)
}

// unknownOf returns the discrete parameter that an expression is; nil if it is none.
func (p *program) unknownOf(e ast.Expr) *unknown {
	v, ok := ast.Unparen(e).(*ast.VarExpr)
	if !ok {
		return nil
	}
	return p.byVar[p.info.Uses[v]]
}

// statements returns the statements of a body.
func statements(s ast.Stmt) []ast.Stmt {
	if b, ok := s.(*ast.BlockStmt); ok {
		return b.Stmts
	}
	return []ast.Stmt{s}
}

// jumps reports whether a body has a break, continue or return for a loop around it.
func jumps(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.Break, *ast.Continue, *ast.Return:
			found = true
		case ast.Expr:
			return false
		}
		return !found
	}, nil)
	return found
}

// adds reports whether statements add to the target, print or reject.
func adds(ss []ast.Stmt) bool {
	found := false
	for _, s := range ss {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.Tilde, *ast.TargetPlus, *ast.CallStmt, *ast.Print, *ast.Reject, *ast.Assign:
				found = true
			}
			return !found
		}, nil)
	}
	return found
}
