package ast

import "iter"

// Walk visits n and the nodes below it in the order of the source text: pre is
// called before the children of a node, which are skipped if it returns false,
// and post after them (also when they were skipped). Either may be nil.
//
// Identifiers that are part of a node (the name of a declaration, the function
// of a call) are visited as *Ident. A type that several declarations share is
// visited with each. Comments are not visited.
func Walk(n Node, pre func(Node) bool, post func(Node)) {
	if pre == nil || pre(n) {
		for c := range Children(n) {
			Walk(c, pre, post)
		}
	}
	if post != nil {
		post(n)
	}
}

// Children gives the nodes directly below n in the order of the source text.
func Children(n Node) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		c := &cursor{yield: yield}
		c.children(n)
	}
}

// cursor hands nodes to a consumer until it has had enough.
type cursor struct {
	yield func(Node) bool
	done  bool
}

func (c *cursor) node(n Node) {
	if !c.done {
		c.done = !c.yield(n)
	}
}

// The optional parts of nodes are nil interfaces or nil pointers; a nil pointer
// in a Node would not be nil, hence a method for each kind.

func (c *cursor) expr(e Expr) {
	if e != nil {
		c.node(e)
	}
}

func (c *cursor) exprs(list []Expr) {
	for _, e := range list {
		c.expr(e)
	}
}

func (c *cursor) stmt(s Stmt) {
	if s != nil {
		c.node(s)
	}
}

func (c *cursor) typ(t *TypeExpr) {
	if t != nil {
		c.node(t)
	}
}

func (c *cursor) block(b *BlockStmt) {
	if b != nil {
		c.node(b)
	}
}

// children has a case for every node of the package; TestWalkComplete sees to
// it.
func (c *cursor) children(n Node) {
	switch n := n.(type) {
	case *File:
		for _, b := range n.Blocks {
			c.node(b)
		}
	case *Block:
		for _, s := range n.Stmts {
			c.stmt(s)
		}
	case *TypeExpr:
		c.exprs(n.ArrayDims)
		for i := range n.Bounds {
			c.node(&n.Bounds[i])
		}
		c.exprs(n.Sizes)
		for _, m := range n.Members {
			c.typ(m)
		}
	case *Bound:
		c.expr(n.Value)
	case *Param:
		c.typ(n.Type)
		c.node(&n.Name)
	case *Truncation:
		c.expr(n.Lower)
		c.expr(n.Upper)

	case *VarDecl:
		c.typ(n.Type)
		c.node(&n.Name)
		c.expr(n.Init)
	case *FunctionDecl:
		c.typ(n.Result)
		c.node(&n.Name)
		for _, p := range n.Params {
			c.node(p)
		}
		c.block(n.Body)
	case *Assign:
		c.expr(n.LHS)
		c.expr(n.RHS)
	case *TargetPlus:
		c.expr(n.Value)
	case *Tilde:
		c.expr(n.Variate)
		c.node(&n.Dist)
		c.exprs(n.Args)
		if n.Trunc != nil {
			c.node(n.Trunc)
		}
	case *CallStmt:
		if n.Call != nil {
			c.node(n.Call)
		}
	case *For:
		c.node(&n.Var)
		c.expr(n.From)
		c.expr(n.To)
		c.stmt(n.Body)
	case *ForEach:
		c.node(&n.Var)
		c.expr(n.Over)
		c.stmt(n.Body)
	case *While:
		c.expr(n.Cond)
		c.stmt(n.Body)
	case *If:
		c.expr(n.Cond)
		c.stmt(n.Then)
		c.stmt(n.Else)
	case *BlockStmt:
		for _, s := range n.Stmts {
			c.stmt(s)
		}
	case *Profile:
		c.block(n.Body)
	case *Print:
		c.exprs(n.Args)
	case *Reject:
		c.exprs(n.Args)
	case *Return:
		c.expr(n.Value)

	case *CallExpr:
		c.node(&n.Func)
		c.exprs(n.Args)
	case *Unary:
		c.expr(n.X)
	case *Binary:
		c.expr(n.X)
		c.expr(n.Y)
	case *Cond:
		c.expr(n.Cond)
		c.expr(n.Then)
		c.expr(n.Else)
	case *IndexExpr:
		c.expr(n.X)
		for _, i := range n.Indices {
			c.node(i)
		}
	case *TupleMember:
		c.expr(n.X)
	case *ArrayExpr:
		c.exprs(n.Elems)
	case *RowVectorExpr:
		c.exprs(n.Elems)
	case *TupleExpr:
		c.exprs(n.Elems)
	case *Paren:
		c.expr(n.X)

	case *Single:
		c.expr(n.X)
	case *Range:
		c.expr(n.From)
		c.expr(n.To)
	}
}
