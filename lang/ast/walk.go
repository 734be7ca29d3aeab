package ast

import (
	"iter"
	"slices"
)

// Inspect visits n and the nodes below it in source order. It calls pre before the children of a
// node, which it skips if pre returns false, and post after them, even if they were skipped. Both
// may be nil.
//
// Identifiers that are part of a node (the name of a declaration, the function of a call) are
// visited as *Ident. A type that several declarations share is visited with each. Comments are not
// visited. If n is nil, nothing is visited.
func Inspect(n Node, pre func(Node) bool, post func(Node)) {
	if n != nil {
		c := cursor{pre: pre, post: post}
		c.visit(n)
	}
}

// Children returns the nodes directly below n in source order.
func Children(n Node) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		done := false
		c := cursor{child: func(c Node) { done = done || !yield(c) }}
		c.children(n)
	}
}

// Map returns n with f applied to each of its children. Nodes are immutable: if f changes no child,
// Map returns n itself. Otherwise it returns a copy that has the position of n and shares the
// unchanged children.
//
// f must return a node that can replace the child: an expression for an expression, an identifier
// for an identifier. It may return nil to remove an optional child or an element of a list.
func Map(n Node, f func(Node) Node) Node {
	var now []Node
	changed := false
	c := cursor{child: func(n Node) {
		to := f(n)
		now, changed = append(now, to), changed || to != n
	}}
	c.children(n)
	if !changed {
		return n
	}
	c = cursor{write: true, now: now}
	return c.children(n)
}

// Rewrite returns the tree n with its nodes replaced, children first: post returns the replacement
// of a node whose children have been rewritten. If pre is not nil and returns false, the children
// of that node stay as they are. Unchanged parts are shared with n, see [Map]. A type that several
// declarations share is rewritten once and stays shared.
func Rewrite(n Node, pre func(Node) bool, post func(Node) Node) Node {
	types := map[*TypeExpr]Node{}
	var visit func(Node) Node
	visit = func(n Node) Node {
		t, isType := n.(*TypeExpr)
		if to, seen := types[t]; isType && seen {
			return to
		}
		to := n
		if pre == nil || pre(n) {
			to = Map(n, visit)
		}
		to = post(to)
		if isType {
			types[t] = to
		}
		return to
	}
	return visit(n)
}

// Fresh returns a copy of a tree with separate nodes for names and numbers, for a tree that has it
// in several places: facts about nodes are found by their addresses.
func Fresh[N Node](n N) N {
	return Rewrite(n, nil, func(n Node) Node {
		switch n := n.(type) {
		case *Ident:
			return fresh(n)
		case *VarExpr:
			return fresh(n)
		case *IntLit:
			return fresh(n)
		case *RealLit:
			return fresh(n)
		}
		return n
	}).(N)
}

func fresh[N any](n *N) *N {
	c := *n
	return &c
}

// Targets returns the variables that an assignment to lhs changes: for x[i] it is x, and for a
// tuple the variables of its members. It omits indices, which are only read.
func Targets(lhs Expr) iter.Seq[*VarExpr] {
	return func(yield func(*VarExpr) bool) {
		done := false
		Inspect(lhs, func(n Node) bool {
			if v, ok := n.(*VarExpr); ok && !done {
				done = !yield(v)
			}
			_, index := n.(Index)
			return !done && !index
		}, nil)
	}
}

// Unparen returns an expression without enclosing parentheses.
func Unparen(e Expr) Expr {
	for {
		p, ok := e.(*Paren)
		if !ok {
			return e
		}
		e = p.X
	}
}

// cursor iterates over the children of a node. It visits or replaces them.
type cursor struct {
	child func(Node) // nil: call pre and post, and visit the nodes below
	pre   func(Node) bool
	post  func(Node)

	write bool
	now   []Node // children to store instead
}

func (c *cursor) visit(n Node) {
	if c.child != nil {
		c.child(n)
		return
	}
	if c.pre == nil || c.pre(n) {
		c.children(n)
	}
	if c.post != nil {
		c.post(n)
	}
}

// next returns the node that replaces the next child.
func (c *cursor) next() Node {
	n := c.now[0]
	c.now = c.now[1:]
	return n
}

// own returns the node whose children the cursor may replace: n itself if it only visits, otherwise
// a copy.
func own[N any](c *cursor, n *N) *N {
	if !c.write {
		return n
	}
	m := *n
	return &m
}

// The fields for children, one method for each of their types.

func (c *cursor) expr(p *Expr) {
	switch {
	case *p == nil:
	case c.write:
		*p, _ = store[Expr](c.next())
	default:
		c.visit(*p)
	}
}

func (c *cursor) stmt(p *Stmt) {
	switch {
	case *p == nil:
	case c.write:
		*p, _ = store[Stmt](c.next())
	default:
		c.visit(*p)
	}
}

// store converts a node to the type of its field; ok is false if the field becomes empty.
func store[N any](n Node) (out N, ok bool) {
	if n == nil {
		return out, false
	}
	return n.(N), true
}

// part visits an optional child of one type.
func part[T any, P interface {
	*T
	Node
}](c *cursor, p *P) {
	switch {
	case *p == nil:
	case c.write:
		*p, _ = store[P](c.next())
	default:
		c.visit(*p)
	}
}

// exprs visits a list of expressions. The sizes of unsized types are nil and stay nil.
func (c *cursor) exprs(p *[]Expr) {
	if c.write {
		rewriteList(c, p, func(e Expr) bool { return e == nil })
		return
	}
	for _, e := range *p {
		if e != nil {
			c.visit(e)
		}
	}
}

// list visits a list of children of other types.
func list[N Node](c *cursor, p *[]N) {
	if c.write {
		rewriteList(c, p, func(N) bool { return false })
		return
	}
	for _, n := range *p {
		c.visit(n)
	}
}

func rewriteList[N Node](c *cursor, p *[]N, empty func(N) bool) {
	var out []N
	for _, n := range *p {
		if empty(n) {
			out = append(out, n)
		} else if to, ok := store[N](c.next()); ok {
			out = append(out, to)
		}
	}
	*p = out
}

// name visits an identifier that is stored in its node.
func (c *cursor) name(p *Ident) {
	if c.write {
		*p = *c.next().(*Ident)
	} else {
		c.visit(p)
	}
}

func (c *cursor) bounds(p *[]Bound) {
	if c.write {
		*p = slices.Clone(*p)
	}
	for i := range *p {
		if c.write {
			(*p)[i] = *c.next().(*Bound)
		} else {
			c.visit(&(*p)[i])
		}
	}
}

// children visits the children of a node in the order of the source text, or stores others in a
// copy, which it returns. It is the only place that lists the children of each type: Equal uses
// reflection, and everything else uses Inspect, Children, Map and Rewrite. TestChildren finds
// fields that are missing here. A switch, unlike methods, lets the compiler see that cursors and
// their functions need no heap memory.
func (c *cursor) children(n Node) Node {
	switch n := n.(type) {
	case *File:
		n = own(c, n)
		list(c, &n.Blocks)
		return n
	case *Block:
		n = own(c, n)
		list(c, &n.Stmts)
		return n
	case *TypeExpr:
		n = own(c, n)
		c.exprs(&n.ArrayDims)
		c.bounds(&n.Bounds)
		c.exprs(&n.Sizes)
		list(c, &n.Members)
		return n
	case *Bound:
		n = own(c, n)
		c.expr(&n.Value)
		return n
	case *Param:
		n = own(c, n)
		part(c, &n.Type)
		c.name(&n.Name)
		return n
	case *Truncation:
		n = own(c, n)
		c.expr(&n.Lower)
		c.expr(&n.Upper)
		return n

	// Statements.
	case *VarDecl:
		n = own(c, n)
		part(c, &n.Type)
		c.name(&n.Name)
		c.expr(&n.Init)
		c.exprs(&n.Rows)
		c.exprs(&n.Sparse)
		return n
	case *FunctionDecl:
		n = own(c, n)
		part(c, &n.Result)
		c.name(&n.Name)
		list(c, &n.Params)
		part(c, &n.Body)
		return n
	case *Assign:
		n = own(c, n)
		c.expr(&n.LHS)
		c.expr(&n.RHS)
		return n
	case *TargetPlus:
		n = own(c, n)
		c.expr(&n.Value)
		return n
	case *Tilde:
		n = own(c, n)
		c.expr(&n.Variate)
		c.name(&n.Dist)
		c.exprs(&n.Args)
		part(c, &n.Trunc)
		return n
	case *CallStmt:
		n = own(c, n)
		part(c, &n.Call)
		return n
	case *For:
		n = own(c, n)
		c.name(&n.Var)
		c.expr(&n.From)
		c.expr(&n.To)
		c.stmt(&n.Body)
		return n
	case *ForEach:
		n = own(c, n)
		c.name(&n.Var)
		c.expr(&n.Over)
		c.stmt(&n.Body)
		return n
	case *While:
		n = own(c, n)
		c.expr(&n.Cond)
		c.stmt(&n.Body)
		return n
	case *If:
		n = own(c, n)
		c.expr(&n.Cond)
		c.stmt(&n.Then)
		c.stmt(&n.Else)
		return n
	case *BlockStmt:
		n = own(c, n)
		list(c, &n.Stmts)
		return n
	case *Profile:
		n = own(c, n)
		part(c, &n.Body)
		return n
	case *Print:
		n = own(c, n)
		c.exprs(&n.Args)
		return n
	case *Reject:
		n = own(c, n)
		c.exprs(&n.Args)
		return n
	case *Return:
		n = own(c, n)
		c.expr(&n.Value)
		return n

	// Expressions.
	case *CallExpr:
		n = own(c, n)
		c.name(&n.Func)
		c.exprs(&n.Args)
		return n
	case *Unary:
		n = own(c, n)
		c.expr(&n.X)
		return n
	case *Binary:
		n = own(c, n)
		c.expr(&n.X)
		c.expr(&n.Y)
		return n
	case *IndexExpr:
		n = own(c, n)
		c.expr(&n.X)
		list(c, &n.Indices)
		return n
	case *Cond:
		n = own(c, n)
		c.expr(&n.Cond)
		c.expr(&n.Then)
		c.expr(&n.Else)
		return n
	case *TupleMember:
		n = own(c, n)
		c.expr(&n.X)
		return n
	case *ArrayExpr:
		n = own(c, n)
		c.exprs(&n.Elems)
		return n
	case *RowVectorExpr:
		n = own(c, n)
		c.exprs(&n.Elems)
		return n
	case *TupleExpr:
		n = own(c, n)
		c.exprs(&n.Elems)
		return n
	case *Paren:
		n = own(c, n)
		c.expr(&n.X)
		return n

	// Indices.
	case *Single:
		n = own(c, n)
		c.expr(&n.X)
		return n
	case *Range:
		n = own(c, n)
		c.expr(&n.From)
		c.expr(&n.To)
		return n
	}
	return n
}
