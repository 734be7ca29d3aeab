package service

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// visible lists the variables that may be used at an offset of the whole program, in reverse order
// of declaration.
func (s *Snapshot) visible(at int) []*check.Var {
	b := s.block(at)
	if b == nil {
		return nil
	}
	v := &visibility{info: s.Info, at: at}
	if b.Kind == ast.Functions {
		for _, st := range b.Stmts {
			if f, ok := st.(*ast.FunctionDecl); ok && f.Pos.Start <= at && at <= f.Pos.End {
				for _, p := range f.Params {
					v.add(p)
				}
				if f.Body != nil {
					v.stmts(f.Body.Stmts)
				}
			}
		}
	} else {
		for _, earlier := range s.Tree.Blocks {
			if earlier.Kind < b.Kind && earlier.Kind != ast.Functions && earlier.Kind != ast.Model {
				for _, st := range earlier.Stmts {
					if d, ok := st.(*ast.VarDecl); ok {
						v.add(d)
					}
				}
			}
		}
		v.stmts(b.Stmts)
	}
	out := make([]*check.Var, 0, len(v.vars))
	seen := map[string]bool{}
	for i := len(v.vars) - 1; i >= 0; i-- {
		if x := v.vars[i]; !seen[x.Name] {
			seen[x.Name] = true
			out = append(out, x)
		}
	}
	return out
}

// visibility collects the variables that are visible at a position.
type visibility struct {
	info *check.Info
	at   int
	vars []*check.Var
}

func (v *visibility) add(n ast.Node) {
	if x := v.info.Defs[n]; x != nil {
		v.vars = append(v.vars, x)
	}
}

// stmts enters the statement around the position. Variables that are declared before it are
// visible.
func (v *visibility) stmts(list []ast.Stmt) {
	for _, st := range list {
		p := st.Span()
		if p.Start >= v.at {
			return
		}
		if d, ok := st.(*ast.VarDecl); ok {
			if p.End <= v.at {
				v.add(d)
			}
			continue
		}
		if v.at <= p.End {
			v.stmt(st)
		}
	}
}

func (v *visibility) stmt(st ast.Stmt) {
	switch st := st.(type) {
	case *ast.For:
		v.loop(st, st.To, st.Body)
	case *ast.ForEach:
		v.loop(st, st.Over, st.Body)
	case *ast.BlockStmt:
		v.stmts(st.Stmts)
	default:
		for c := range ast.Children(st) {
			if inner, ok := c.(ast.Stmt); ok {
				v.inner(inner)
			}
		}
	}
}

func (v *visibility) loop(n ast.Node, header ast.Expr, body ast.Stmt) {
	if header != nil && v.at > header.Span().End {
		v.add(n)
		v.inner(body)
	}
}

// inner enters a nested statement if the position is in it.
func (v *visibility) inner(st ast.Stmt) {
	if st == nil {
		return
	}
	if p := st.Span(); p.Start <= v.at && v.at <= p.End {
		v.stmts([]ast.Stmt{st})
	}
}
