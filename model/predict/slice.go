package predict

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
)

// slicer computes backward program slices: it removes the statements that change neither the
// density nor a variable that is needed. It identifies variables by name, so variables of several
// scopes that share a name count as one.
type slicer struct {
	names   map[string]bool // variables that are needed
	effects bool            // calls of functions without a result, and reject, are needed
}

// slice returns the needed statements of a list, and adds what they read to the names.
func (s *slicer) slice(list []ast.Stmt) []ast.Stmt {
	for {
		n := len(s.names)
		out := s.stmts(list)
		if len(s.names) == n {
			return out
		}
	}
}

func (s *slicer) stmts(list []ast.Stmt) (out []ast.Stmt) {
	for _, x := range list {
		if x = s.stmt(x); x != nil {
			out = append(out, x)
		}
	}
	return out
}

// stmt returns the needed part of a statement, nil if there is none.
func (s *slicer) stmt(x ast.Stmt) ast.Stmt {
	if needed, leaf := s.leaf(x); leaf {
		if !needed {
			return nil
		}
		s.read(x)
		return x
	}
	if exits(x) { // the number of iterations depends on the whole body
		if part := s.parts(x); part == nil {
			return nil
		}
		s.read(x)
		return x
	}
	return s.parts(x)
}

// leaf reports whether a statement is needed; leaf is false for statements that contain others.
func (s *slicer) leaf(x ast.Stmt) (needed, leaf bool) {
	children := false
	for n := range ast.Children(x) {
		_, is := n.(ast.Stmt)
		children = children || is
	}
	if children {
		return false, false
	}
	switch x := x.(type) {
	case *ast.VarDecl:
		return s.names[x.Name.Name] || addsToDensity(x), true
	case *ast.Assign:
		for v := range ast.Targets(x.LHS) {
			needed = needed || s.names[v.Name]
		}
		return needed || addsToDensity(x), true
	}
	return s.effect(x) || addsToDensity(x), true
}

// effect reports whether a call or a rejection is needed.
func (s *slicer) effect(x ast.Stmt) bool {
	_, call := x.(*ast.CallStmt)
	_, reject := x.(*ast.Reject)
	return s.effects && (call || reject)
}

// addsToDensity reports whether a statement changes the density.
func addsToDensity(x ast.Stmt) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Tilde, *ast.TargetPlus:
			found = true
		case *ast.CallExpr:
			found = found || strings.HasSuffix(n.Func.Name, "_lp") || strings.HasSuffix(n.Func.Name, "_jacobian")
		}
		return !found
	}, nil)
	return found
}

// exits reports whether a loop has a break or continue, or runs as long as a condition holds.
func exits(x ast.Stmt) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.While, *ast.Break, *ast.Continue:
			found = true
		}
		return !found
	}, nil)
	return found
}

// parts returns a statement that contains others with the needed ones alone, nil if there is none.
func (s *slicer) parts(x ast.Stmt) ast.Stmt {
	if b, ok := x.(*ast.BlockStmt); ok {
		if list := s.stmts(b.Stmts); len(list) > 0 {
			return &ast.BlockStmt{Stmts: list}
		}
		return nil
	}
	kept := false
	to := ast.Map(x, func(n ast.Node) ast.Node {
		inner, ok := n.(ast.Stmt)
		if !ok {
			return n
		}
		if inner = s.stmt(inner); inner == nil {
			return &ast.BlockStmt{}
		}
		kept = true
		return inner
	})
	if !kept {
		return nil
	}
	for n := range ast.Children(x) {
		if _, ok := n.(ast.Stmt); !ok {
			s.read(n)
		}
	}
	return to.(ast.Stmt)
}

// read adds the variables of a node to the names.
func (s *slicer) read(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if v, ok := n.(*ast.VarExpr); ok {
			s.names[v.Name] = true
		}
		return true
	}, nil)
}
