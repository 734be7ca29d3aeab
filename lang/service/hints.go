package service

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Hint is a text that an editor shows after a position, but which is not part of the program.
type Hint struct {
	File *source.File
	At   int
	Text string
}

// HintRange selects the expressions that get hints.
type HintRange uint8

// The ranges. HintResults selects values that are assigned or given to distributions, if they are
// not scalars and more than a name or number. HintExpressions adds all expressions within these,
// and numbers that are computed from containers.
const (
	HintResults HintRange = iota
	HintExpressions
)

// Hints returns the types and shapes of expressions in a file. If data are known, it adds the sizes
// of variables and the values of integers. Of several expressions that end at the same position,
// only the largest gets a hint.
func (s *Snapshot) Hints(f *source.File, which HintRange) []Hint {
	var out []Hint
	taken := map[int]bool{}
	add := func(n source.Span, text string) {
		end := source.Span{File: n.File, Start: max(n.Start, n.End-1), End: n.End}.Origin()
		if end.File == f && !taken[end.End] {
			taken[end.End] = true
			out = append(out, Hint{f, end.End, text})
		}
	}
	// single reports whether a hint about a scalar is useful, because it is computed from
	// containers.
	single := func(e ast.Expr) bool {
		var of []ast.Expr
		switch e := e.(type) {
		case *ast.CallExpr:
			of = e.Args
		case *ast.IndexExpr:
			return true
		case *ast.Binary:
			of = []ast.Expr{e.X, e.Y}
		}
		return slices.ContainsFunc(of, func(x ast.Expr) bool { return s.Info.Types[x].Type.Rank() > 0 })
	}
	expression := func(e ast.Expr) {
		switch e.(type) {
		case *ast.Binary, *ast.CallExpr, *ast.IndexExpr, *ast.Unary, *ast.Cond:
		default:
			return
		}
		t := s.Info.Types[e].Type
		if t.Kind == types.Invalid || t.Kind == types.Function || t.Kind == types.Void {
			return
		}
		if t.Rank() == 0 && !(which == HintExpressions && single(e)) {
			return
		}
		text := t.String()
		if sh, ok := s.shape(e); ok {
			text = s.best(sh).typed(t)
		}
		add(e.Span(), ": "+text)
	}
	known := s.ints()
	ast.Inspect(s.Tree, func(n ast.Node) bool {
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
		case ast.Expr:
			if which == HintExpressions {
				expression(n)
			}
		}
		return true
	}, nil)
	return out
}
