package service

import (
	"fmt"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Hint is a text that an editor shows after a place without it being part of the
// program.
type Hint struct {
	File *source.File
	At   int
	Text string
}

// Hints are the types and shapes of the expressions of a file that are more than a name
// or number and are assigned or given to distributions, and, where data are known, the
// sizes of variables and the values of ints.
func (s *Snapshot) Hints(f *source.File) []Hint {
	var out []Hint
	add := func(n source.Span, text string) {
		end := source.Span{File: n.File, Start: max(n.Start, n.End-1), End: n.End}.Origin()
		if end.File == f {
			out = append(out, Hint{f, end.End, text})
		}
	}
	expression := func(e ast.Expr) {
		switch e.(type) {
		case *ast.Binary, *ast.CallExpr, *ast.IndexExpr, *ast.Unary, *ast.Cond:
		default:
			return
		}
		t := s.Info.Types[e].Type
		if t.Rank() == 0 || t.Kind == types.Invalid || t.Kind == types.Function {
			return
		}
		text := t.String()
		if sh, ok := s.shape(e); ok {
			text = s.best(sh).typed(t)
		}
		add(e.Span(), ": "+text)
	}
	known := s.ints()
	ast.Walk(s.Tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarDecl:
			v := s.Info.Defs[n]
			if v == nil {
				break
			}
			if value, ok := known[v]; ok {
				add(n.Name.Span(), fmt.Sprintf(" = %d", value))
			} else if sh, ok := s.varShape(v); ok && len(sh) > 0 {
				if n2, ok := s.numbers(sh); ok && n2.text() != sh.text() {
					add(n.Name.Span(), ": "+n2.text())
				}
			}
			if n.Init != nil {
				expression(n.Init)
			}
		case *ast.ForEach:
			if v := s.Info.Defs[n]; v != nil && v.Type.Kind != types.Invalid {
				text := v.Type.String()
				if sh, ok := s.varShape(v); ok {
					text = s.best(sh).typed(v.Type)
				}
				add(n.Var.Span(), ": "+text)
			}
		case *ast.Assign:
			expression(n.RHS)
		case *ast.Tilde:
			expression(n.Variate)
			for _, a := range n.Args {
				expression(a)
			}
		}
		return true
	}, nil)
	return out
}
