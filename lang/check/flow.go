package check

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
)

// outcome describes how control leaves a statement.
type outcome uint8

const (
	goesOn outcome = iota // control may reach the next statement
	ends                  // every path returns or rejects
	breaks                // some path leaves a loop
)

// flow computes how control leaves a statement, by Stan's rules: conditions are not evaluated,
// except literal conditions of while loops.
func flow(s ast.Stmt) outcome {
	switch s := s.(type) {
	case *ast.Return, *ast.Reject:
		return ends
	case *ast.Break:
		return breaks
	case *ast.BlockStmt:
		return flowList(s.Stmts)
	case *ast.Profile:
		return flow(s.Body)
	case *ast.If:
		a, b := flow(s.Then), goesOn
		if s.Else != nil {
			b = flow(s.Else)
		}
		switch {
		case a == breaks || b == breaks:
			return breaks
		case a == ends && b == ends:
			return ends
		}
	case *ast.While:
		body := flow(s.Body)
		if body == ends || body == goesOn && forever(s.Cond) {
			return ends
		}
	case *ast.For:
		if flow(s.Body) == ends {
			return ends
		}
	case *ast.ForEach:
		if flow(s.Body) == ends {
			return ends
		}
	}
	return goesOn
}

// flowList is flow for a sequence; statements after an escape are ignored.
func flowList(ss []ast.Stmt) outcome {
	out := goesOn
	for _, s := range ss {
		switch f := flow(s); {
		case out == breaks || f == breaks:
			out = breaks
		default:
			out = f
		}
		if escapes(s) {
			break
		}
	}
	return out
}

// forever reports whether a condition is a literal other than 0.
func forever(e ast.Expr) bool {
	l, ok := e.(*ast.IntLit)
	return ok && l.Value != 0
}

// escapes reports whether the following statements in the same list never run.
func escapes(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.Return, *ast.Reject, *ast.Break, *ast.Continue:
		return true
	}
	return false
}

// unreachable warns about a statement after an escape.
func (c *checker) unreachable(ss []ast.Stmt) {
	for i, s := range ss {
		if i > 0 && escapes(ss[i-1]) {
			switch ss[i-1].(type) {
			case *ast.Break, *ast.Continue:
				if c.loops == 0 {
					return // that is an error already
				}
			case *ast.Return:
				if c.fn == nil {
					return
				}
			}
			c.report(diag.Warnf(diag.Unreachable, s.Span(), "this statement is never reached"), "", "",
				note(ss[i-1], "control always leaves here"))
			return
		}
	}
}
