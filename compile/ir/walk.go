package ir

import (
	"iter"

	"github.com/ppl-lang/ppl/lang/source"
)

// Node is a statement or an expression. Its children are listed in this file.
type Node interface{ Span() source.Span }

// Inspect visits n and all nodes below it. If pre returns false for a node, its children are
// skipped. n may be nil.
//
// Nodes that occur in two fields are visited once: Assign.Combine contains Value, and Index.After
// is the A of another index. Functions and variables are not nodes, but Declare has the sizes of
// its variable as children.
func Inspect(n Node, pre func(Node) bool) {
	if n != nil {
		w := walker{pre: pre}
		w.visit(n)
	}
}

// Stmts iterates over a statement and the statements within it.
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

// Inner iterates over the statements directly within a statement: the body of a loop, the branches
// of a conditional, the statements of a block.
func Inner(s Stmt) iter.Seq[Stmt] {
	return func(yield func(Stmt) bool) {
		done := false
		w := walker{pre: func(n Node) bool {
			if t, ok := n.(Stmt); ok && !done {
				done = !yield(t)
			}
			return false
		}}
		w.children(s)
	}
}

// Exprs iterates over the expressions that a statement evaluates itself, without those of the
// statements in it.
func Exprs(s Stmt) iter.Seq[Expr] {
	return func(yield func(Expr) bool) {
		done := false
		w := walker{pre: func(n Node) bool {
			if e, ok := n.(Expr); ok && !done {
				done = !yield(e)
			}
			return false
		}}
		w.children(s)
	}
}

// Vars iterates over the variables that n reads, once for each read.
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

// walker visits nodes and those below them.
type walker struct{ pre func(Node) bool }

func (w *walker) visit(n Node) {
	if w.pre(n) {
		w.children(n)
	}
}

func (w *walker) exprs(list ...Expr) {
	for _, e := range list {
		if e != nil {
			w.visit(e)
		}
	}
}

func (w *walker) indices(list []Index) {
	for i := range list {
		w.exprs(list[i].A, list[i].B)
	}
}

func (w *walker) stmts(list ...Stmt) {
	for _, s := range list {
		if s != nil {
			w.visit(s)
		}
	}
}

// children visits the children of a node. Only this function lists them; TestChildren finds fields
// that are missing here.
func (w *walker) children(n Node) {
	switch n := n.(type) {
	case *Declare:
		w.exprs(n.Var.Sizes...)
		w.exprs(n.Init)
	case *Unpack:
		w.exprs(n.Value)
	case *Assign:
		w.exprs(n.Value)
		w.indices(n.Indices)
	case *Target:
		w.exprs(n.Value)
	case *Tilde:
		w.exprs(n.Density)
	case *CallStmt:
		w.exprs(n.Call)
	case *For:
		w.exprs(n.From, n.To)
		w.stmts(n.Body)
	case *ForEach:
		w.exprs(n.Over)
		w.stmts(n.Body)
	case *While:
		w.exprs(n.Cond)
		w.stmts(n.Body)
	case *If:
		w.exprs(n.Cond)
		w.stmts(n.Then, n.Else)
	case *Block:
		w.stmts(n.Stmts...)
	case *Return:
		w.exprs(n.Value)
	case *Print:
		w.exprs(n.Args...)
	case *Reject:
		w.exprs(n.Args...)
	case *Call:
		w.exprs(n.Args...)
	case *UserCall:
		w.exprs(n.Args...)
	case *IndexExpr:
		w.exprs(n.X)
		w.indices(n.Indices)
	case *Cond:
		w.exprs(n.Cond, n.Then, n.Else)
	case *And:
		w.exprs(n.X, n.Y)
	case *Or:
		w.exprs(n.X, n.Y)
	case *ArrayLit:
		w.exprs(n.Elems...)
	case *RowVectorLit:
		w.exprs(n.Elems...)
	case *Promote:
		w.exprs(n.X)
	case *Tuple:
		w.exprs(n.Elems...)
	case *Member:
		w.exprs(n.X)
	}
}
