package ast

import (
	"iter"
	"slices"
)

// Inspect visits n and the nodes below it in the order of the source text: pre is
// called before the children of a node, which are skipped if it returns false,
// and post after them (also when they were skipped). Either may be nil.
//
// Identifiers that are part of a node (the name of a declaration, the function
// of a call) are visited as *Ident. A type that several declarations share is
// visited with each. Comments are not visited. Nothing is below nil.
func Inspect(n Node, pre func(Node) bool, post func(Node)) {
	if n == nil {
		return
	}
	var c cursor
	c.visit = func(n Node) Node {
		if pre == nil || pre(n) {
			n.children(&c)
		}
		if post != nil {
			post(n)
		}
		return n
	}
	c.visit(n)
}

// Children gives the nodes directly below n in the order of the source text.
func Children(n Node) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		done := false
		n.children(&cursor{visit: func(c Node) Node {
			done = done || !yield(c)
			return c
		}})
	}
}

// Map is n with f applied to each of its children. Nodes are immutable: n itself is
// returned if f changes no child, else a copy that shares the children that stay and
// has the position of n.
//
// A child is replaced by a node that fits its place: an expression by an
// expression, an identifier by an identifier. An optional child is removed by nil,
// and so is an element of a list.
func Map(n Node, f func(Node) Node) Node {
	var now []Node
	changed := false
	n.children(&cursor{visit: func(c Node) Node {
		to := f(c)
		now, changed = append(now, to), changed || to != c
		return c
	}})
	if !changed {
		return n
	}
	return n.children(&cursor{write: true, visit: func(Node) Node {
		to := now[0]
		now = now[1:]
		return to
	}})
}

// Rewrite is the tree n with its nodes replaced, children first: post returns what
// takes the place of a node whose children have been rewritten. The children of
// a node are left as they are if pre, which may be nil, returns false. What does not
// change is shared with n, see [Map]; a type that several declarations share is
// rewritten once and stays shared.
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

// Targets gives the variables that an assignment to lhs changes: of x[i] it is x,
// and of a tuple they are those of its members. The indices are only read.
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

// Unparen is an expression without the parentheses around it.
func Unparen(e Expr) Expr {
	for {
		p, ok := e.(*Paren)
		if !ok {
			return e
		}
		e = p.X
	}
}

// cursor goes over the children of a node: it passes each to visit and, to write,
// stores what visit returns in the child's place.
type cursor struct {
	visit func(Node) Node
	write bool
}

// own is the node whose children the cursor may store: n itself if nothing is
// written, else a copy.
func own[N any](c *cursor, n *N) *N {
	if !c.write {
		return n
	}
	m := *n
	return &m
}

// one visits an optional child.
func one[N interface {
	comparable
	Node
}](c *cursor, p *N) {
	var none N
	if *p == none {
		return
	}
	to := c.visit(*p)
	switch {
	case !c.write:
	case to == nil:
		*p = none
	default:
		*p = to.(N)
	}
}

// list visits children; sizes of types that are not written are nil and stay so.
func list[N interface {
	comparable
	Node
}](c *cursor, p *[]N) {
	var none N
	if !c.write {
		for _, n := range *p {
			if n != none {
				c.visit(n)
			}
		}
		return
	}
	var out []N
	for _, n := range *p {
		if n != none {
			one(c, &n)
			if n == none {
				continue
			}
		}
		out = append(out, n)
	}
	*p = out
}

// name visits an identifier, which is a part of its node.
func (c *cursor) name(p *Ident) {
	if to := c.visit(p); c.write {
		*p = *to.(*Ident)
	}
}

func (c *cursor) bounds(p *[]Bound) {
	if c.write {
		*p = slices.Clone(*p)
	}
	for i := range *p {
		if to := c.visit(&(*p)[i]); c.write {
			(*p)[i] = *to.(*Bound)
		}
	}
}

// The children of every type of node, in the order of the source text. This is the
// only place that lists them: Equal goes by reflection, everything else by Inspect,
// Map and Rewrite. TestChildren finds fields that are forgotten here.

func (n *File) children(c *cursor) Node  { n = own(c, n); list(c, &n.Blocks); return n }
func (n *Block) children(c *cursor) Node { n = own(c, n); list(c, &n.Stmts); return n }
func (n *Ident) children(*cursor) Node   { return n }

func (n *TypeExpr) children(c *cursor) Node {
	n = own(c, n)
	list(c, &n.ArrayDims)
	c.bounds(&n.Bounds)
	list(c, &n.Sizes)
	list(c, &n.Members)
	return n
}

func (n *Bound) children(c *cursor) Node { n = own(c, n); one(c, &n.Value); return n }
func (n *Param) children(c *cursor) Node { n = own(c, n); one(c, &n.Type); c.name(&n.Name); return n }

func (n *Truncation) children(c *cursor) Node {
	n = own(c, n)
	one(c, &n.Lower)
	one(c, &n.Upper)
	return n
}

// Statements.

func (n *VarDecl) children(c *cursor) Node {
	n = own(c, n)
	one(c, &n.Type)
	c.name(&n.Name)
	one(c, &n.Init)
	return n
}

func (n *FunctionDecl) children(c *cursor) Node {
	n = own(c, n)
	one(c, &n.Result)
	c.name(&n.Name)
	list(c, &n.Params)
	one(c, &n.Body)
	return n
}

func (n *Assign) children(c *cursor) Node     { n = own(c, n); one(c, &n.LHS); one(c, &n.RHS); return n }
func (n *TargetPlus) children(c *cursor) Node { n = own(c, n); one(c, &n.Value); return n }

func (n *Tilde) children(c *cursor) Node {
	n = own(c, n)
	one(c, &n.Variate)
	c.name(&n.Dist)
	list(c, &n.Args)
	one(c, &n.Trunc)
	return n
}

func (n *CallStmt) children(c *cursor) Node { n = own(c, n); one(c, &n.Call); return n }

func (n *For) children(c *cursor) Node {
	n = own(c, n)
	c.name(&n.Var)
	one(c, &n.From)
	one(c, &n.To)
	one(c, &n.Body)
	return n
}

func (n *ForEach) children(c *cursor) Node {
	n = own(c, n)
	c.name(&n.Var)
	one(c, &n.Over)
	one(c, &n.Body)
	return n
}

func (n *While) children(c *cursor) Node { n = own(c, n); one(c, &n.Cond); one(c, &n.Body); return n }

func (n *If) children(c *cursor) Node {
	n = own(c, n)
	one(c, &n.Cond)
	one(c, &n.Then)
	one(c, &n.Else)
	return n
}

func (n *BlockStmt) children(c *cursor) Node { n = own(c, n); list(c, &n.Stmts); return n }
func (n *Profile) children(c *cursor) Node   { n = own(c, n); one(c, &n.Body); return n }
func (n *Print) children(c *cursor) Node     { n = own(c, n); list(c, &n.Args); return n }
func (n *Reject) children(c *cursor) Node    { n = own(c, n); list(c, &n.Args); return n }
func (n *Break) children(*cursor) Node       { return n }
func (n *Continue) children(*cursor) Node    { return n }
func (n *Return) children(c *cursor) Node    { n = own(c, n); one(c, &n.Value); return n }
func (n *Empty) children(*cursor) Node       { return n }

// Expressions.

func (n *IntLit) children(*cursor) Node    { return n }
func (n *RealLit) children(*cursor) Node   { return n }
func (n *ImagLit) children(*cursor) Node   { return n }
func (n *StringLit) children(*cursor) Node { return n }
func (n *VarExpr) children(*cursor) Node   { return n }
func (n *CallExpr) children(c *cursor) Node {
	n = own(c, n)
	c.name(&n.Func)
	list(c, &n.Args)
	return n
}
func (n *Target) children(*cursor) Node   { return n }
func (n *Unary) children(c *cursor) Node  { n = own(c, n); one(c, &n.X); return n }
func (n *Binary) children(c *cursor) Node { n = own(c, n); one(c, &n.X); one(c, &n.Y); return n }
func (n *IndexExpr) children(c *cursor) Node {
	n = own(c, n)
	one(c, &n.X)
	list(c, &n.Indices)
	return n
}

func (n *Cond) children(c *cursor) Node {
	n = own(c, n)
	one(c, &n.Cond)
	one(c, &n.Then)
	one(c, &n.Else)
	return n
}

func (n *TupleMember) children(c *cursor) Node   { n = own(c, n); one(c, &n.X); return n }
func (n *ArrayExpr) children(c *cursor) Node     { n = own(c, n); list(c, &n.Elems); return n }
func (n *RowVectorExpr) children(c *cursor) Node { n = own(c, n); list(c, &n.Elems); return n }
func (n *TupleExpr) children(c *cursor) Node     { n = own(c, n); list(c, &n.Elems); return n }
func (n *Paren) children(c *cursor) Node         { n = own(c, n); one(c, &n.X); return n }

// Indices.

func (n *Single) children(c *cursor) Node { n = own(c, n); one(c, &n.X); return n }
func (n *Range) children(c *cursor) Node  { n = own(c, n); one(c, &n.From); one(c, &n.To); return n }
func (n *All) children(*cursor) Node      { return n }
