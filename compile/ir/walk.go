package ir

import (
	"iter"

	"github.com/ppl-lang/ppl/lang/source"
)

// Node is a statement or an expression. Its children are listed in this file.
type Node interface {
	Span() source.Span
	children(visit func(Node))
}

// Inspect visits n and the nodes below it; the children of a node are skipped if pre
// returns false for it. Nothing is below nil.
//
// What a statement or an expression holds twice is visited once: Assign.Combine works on
// Value, and Index.After is the A of another index. Functions and variables are no
// nodes, but Declare has the sizes of its variable as children.
func Inspect(n Node, pre func(Node) bool) {
	if n == nil {
		return
	}
	var visit func(Node)
	visit = func(n Node) {
		if pre(n) {
			n.children(visit)
		}
	}
	visit(n)
}

// Stmts gives a statement and the statements within it.
func Stmts(s Stmt) iter.Seq[Stmt] {
	return func(yield func(Stmt) bool) {
		done := false
		Inspect(s, func(n Node) bool {
			s, ok := n.(Stmt)
			if ok && !done {
				done = !yield(s)
			}
			return ok && !done
		})
	}
}

// Inner gives the statements directly within a statement: the body of a loop, the
// branches of a conditional, the statements of a block.
func Inner(s Stmt) iter.Seq[Stmt] {
	return func(yield func(Stmt) bool) {
		done := false
		s.children(func(n Node) {
			if t, ok := n.(Stmt); ok && !done {
				done = !yield(t)
			}
		})
	}
}

// Exprs gives the expressions that a statement evaluates itself, not those of the
// statements in it.
func Exprs(s Stmt) iter.Seq[Expr] {
	return func(yield func(Expr) bool) {
		done := false
		s.children(func(n Node) {
			if e, ok := n.(Expr); ok && !done {
				done = !yield(e)
			}
		})
	}
}

// Vars gives the variables that are read below n, each as often as it is.
func Vars(n Node) iter.Seq[*Var] {
	return func(yield func(*Var) bool) {
		done := false
		Inspect(n, func(n Node) bool {
			if v, ok := n.(*VarRef); ok && !done {
				done = !yield(v.Var)
			}
			return !done
		})
	}
}

func inExprs(visit func(Node), list ...Expr) {
	for _, e := range list {
		if e != nil {
			visit(e)
		}
	}
}

func inIndices(visit func(Node), list []Index) {
	for i := range list {
		inExprs(visit, list[i].A, list[i].B)
	}
}

func inStmts(visit func(Node), list ...Stmt) {
	for _, s := range list {
		if s != nil {
			visit(s)
		}
	}
}

// The children of every type of node. TestChildren finds fields that are forgotten here.

func (s *Declare) children(visit func(Node))  { inExprs(visit, s.Var.Sizes...); inExprs(visit, s.Init) }
func (s *Unpack) children(visit func(Node))   { inExprs(visit, s.Value) }
func (s *Assign) children(visit func(Node))   { inExprs(visit, s.Value); inIndices(visit, s.Indices) }
func (s *Target) children(visit func(Node))   { inExprs(visit, s.Value) }
func (s *Tilde) children(visit func(Node))    { inExprs(visit, s.Density) }
func (s *CallStmt) children(visit func(Node)) { inExprs(visit, s.Call) }
func (s *For) children(visit func(Node))      { inExprs(visit, s.From, s.To); inStmts(visit, s.Body) }
func (s *ForEach) children(visit func(Node))  { inExprs(visit, s.Over); inStmts(visit, s.Body) }
func (s *While) children(visit func(Node))    { inExprs(visit, s.Cond); inStmts(visit, s.Body) }
func (s *If) children(visit func(Node))       { inExprs(visit, s.Cond); inStmts(visit, s.Then, s.Else) }
func (s *Block) children(visit func(Node))    { inStmts(visit, s.Stmts...) }
func (s *Break) children(func(Node))          {}
func (s *Continue) children(func(Node))       {}
func (s *Return) children(visit func(Node))   { inExprs(visit, s.Value) }
func (s *Print) children(visit func(Node))    { inExprs(visit, s.Args...) }
func (s *Reject) children(visit func(Node))   { inExprs(visit, s.Args...) }

func (e *IntLit) children(func(Node))             {}
func (e *RealLit) children(func(Node))            {}
func (e *StringLit) children(func(Node))          {}
func (e *VarRef) children(func(Node))             {}
func (e *Operand) children(func(Node))            {}
func (e *Call) children(visit func(Node))         { inExprs(visit, e.Args...) }
func (e *UserCall) children(visit func(Node))     { inExprs(visit, e.Args...) }
func (e *IndexExpr) children(visit func(Node))    { inExprs(visit, e.X); inIndices(visit, e.Indices) }
func (e *Cond) children(visit func(Node))         { inExprs(visit, e.Cond, e.Then, e.Else) }
func (e *And) children(visit func(Node))          { inExprs(visit, e.X, e.Y) }
func (e *Or) children(visit func(Node))           { inExprs(visit, e.X, e.Y) }
func (e *ArrayLit) children(visit func(Node))     { inExprs(visit, e.Elems...) }
func (e *RowVectorLit) children(visit func(Node)) { inExprs(visit, e.Elems...) }
func (e *Promote) children(visit func(Node))      { inExprs(visit, e.X) }
func (e *Tuple) children(visit func(Node))        { inExprs(visit, e.Elems...) }
func (e *Member) children(visit func(Node))       { inExprs(visit, e.X) }
func (e *TargetValue) children(func(Node))        {}
