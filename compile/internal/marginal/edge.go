package marginal

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/types"
)

// edge reports whether a value of a discrete parameter may make a leaf -inf where its derivative is
// infinite: it computes a probability, or the argument of a logarithm, by arithmetic that may give
// exactly 0 or 1. Such a term needs a choice, whose other side passes no derivative. Choices cost
// time, so terms that only look parameters up have none.
func (p *program) edge(l *leaf) bool {
	found := false
	for _, s := range l.code {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Tilde:
				c := p.info.Calls[n]
				found = found || c != nil && p.edgeOf(c.Name, c.Func != nil, n.Args)
			case *ast.CallExpr:
				if c := p.info.Calls[n]; c != nil {
					found = found || p.edgeOf(c.Name, c.Func != nil, n.Args)
				}
			}
			return !found
		}, nil)
	}
	return found
}

// logarithms are functions that are -inf, with an infinite derivative, at an edge of their domain.
var logarithms = map[string]bool{
	"log": true, "log1m": true, "log1p": true, "log2": true, "log10": true, "log1m_exp": true, "log_diff_exp": true, "multiply_log": true, "lmultiply": true,
	"log_mix": true, "logit": true,
}

// edgeOf does so for a call of a function, which the program may define itself.
func (p *program) edgeOf(name string, own bool, args []ast.Expr) bool {
	if stem, ok := strings.CutSuffix(name, "_lpmf"); ok && !own {
		for _, link := range []string{"_logit", "_log", "_logit_glm", "_log_glm", "ordered_logistic"} {
			if strings.HasSuffix(stem, link) {
				return false
			}
		}
	} else if !own && !logarithms[name] {
		return false
	}
	for _, a := range args {
		if own && p.involved(a) || !p.looked(a) {
			return true
		}
	}
	return false
}

// looked reports whether an expression has nothing of discrete parameters but elements at indices
// that depend on them, integers, and products with an integer, which are choices already.
func (p *program) looked(e ast.Expr) bool {
	if !p.involved(e) || p.info.Types[e].Type.Kind == types.Int {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		return !p.involved(e.X)
	case *ast.Cond:
		return p.looked(e.Then) && p.looked(e.Else)
	case *ast.Unary:
		return p.looked(e.X)
	case *ast.Binary:
		one, ok := e.X.(*ast.IntLit)
		switch e.Op {
		case "*":
			_, _, guarded := p.multiple(e)
			return guarded
		case "-":
			return ok && one.Value == 1 && p.looked(e.Y)
		}
	}
	return false
}

// multiple returns the factors of a product of an integer that depends on discrete parameters and a
// real number that does not.
func (p *program) multiple(e *ast.Binary) (n, x ast.Expr, ok bool) {
	n, x = e.X, e.Y
	if p.info.Types[x].Type.Equal(types.IntType) {
		n, x = x, n
	}
	return n, x, p.info.Types[n].Type.Equal(types.IntType) && p.info.Types[x].Type.Equal(types.RealType) && p.involved(n) && !p.involved(x)
}
