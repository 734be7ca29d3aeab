package marginal

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
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
		if own && p.involved(a) || !p.looked(a) || p.vanishes(a, nil) {
			return true
		}
	}
	return false
}

// vanishes reports whether data may make an expression with parameters 0 or 1, as in a * x with x =
// 0: then a term of a value of a discrete parameter is -inf at all points, and others are not. seen
// are variables whose definitions are being examined.
func (p *program) vanishes(e ast.Expr, seen map[*check.Var]bool) bool {
	e = ast.Unparen(e)
	if p.plainData(e) {
		return false // it has no derivative
	}
	zero := func(e ast.Expr) bool { return p.mayBeZero(e) || p.vanishes(e, seen) }
	switch e := e.(type) {
	case *ast.VarExpr:
		v := p.info.Uses[e]
		if v == nil || v.Block < ast.TransformedParameters || v.Loop || seen[v] {
			return false
		}
		now := map[*check.Var]bool{v: true}
		for s := range seen {
			now[s] = true
		}
		for _, d := range p.definitions()[v] {
			if p.mayBeZero(d) || p.vanishes(d, now) {
				return true
			}
		}
	case *ast.IndexExpr:
		return p.vanishes(e.X, seen)
	case *ast.Unary:
		return p.vanishes(e.X, seen)
	case *ast.Cond:
		return zero(e.Then) || zero(e.Else)
	case *ast.Binary:
		switch e.Op {
		case "*", ".*":
			return zero(e.X) || zero(e.Y)
		case "/", "./":
			return zero(e.X)
		case "^", ".^": // x^0 is 1
			return zero(e.X) || zero(e.Y)
		case "+", "-", ".+", ".-":
			if n, ok := ast.Unparen(e.X).(*ast.IntLit); ok && e.Op == "-" && n.Value == 1 {
				return zero(e.Y) // 1 - p of a probability p
			}
			return zero(e.X) && zero(e.Y)
		}
	case *ast.CallExpr:
		if positive[e.Func.Name] {
			return false
		}
		return slices.ContainsFunc(e.Args, zero)
	}
	return false
}

// positive are functions whose values are not 0, or 1, unless by rounding.
var positive = map[string]bool{"inv_logit": true, "Phi": true, "Phi_approx": true, "inv_cloglog": true, "softmax": true, "log1p_exp": true, "inv": true}

// plainData reports whether an expression has no parameters, nor variables computed from them.
func (p *program) plainData(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if v, ok := n.(*ast.VarExpr); ok {
			u := p.info.Uses[v]
			found = found || u != nil && u.Block >= ast.Parameters && !u.Loop && u.Type.Kind != types.Int || p.taint[u]
		}
		return !found
	}, nil)
	return !found
}

// mayBeZero reports whether an expression of data alone may be 0.
func (p *program) mayBeZero(e ast.Expr) bool {
	e = ast.Unparen(e)
	if !p.plainData(e) {
		return false
	}
	x := e
	if i, ok := e.(*ast.IndexExpr); ok {
		x = ast.Unparen(i.X)
	}
	switch x := x.(type) {
	case *ast.IntLit:
		return x.Value == 0
	case *ast.RealLit:
		return x.Value == 0
	case *ast.VarExpr:
		v := p.info.Uses[x]
		if v == nil || v.Loop || p.nodes == nil || len(p.nodes.Vars[v]) != 1 {
			return true
		}
		found, known := false, false
		p.known.Each(func(of *ir.Var, _ []int, ints []int64, reals []float64) {
			if of == p.nodes.Vars[v][0] {
				known, found = true, slices.Contains(ints, 0) || slices.Contains(reals, 0)
			}
		})
		return found || !known
	}
	return true
}

// definitions returns the values that the program gives to variables.
func (p *program) definitions() map[*check.Var][]ast.Expr {
	if p.defined == nil {
		p.defined = map[*check.Var][]ast.Expr{}
		ast.Inspect(p.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.VarDecl:
				if v := p.def(n); v != nil && n.Init != nil {
					p.defined[v] = append(p.defined[v], n.Init)
				}
			case *ast.Assign:
				for t := range ast.Targets(n.LHS) {
					p.defined[p.info.Uses[t]] = append(p.defined[p.info.Uses[t]], n.RHS)
				}
			}
			return true
		}, nil)
	}
	return p.defined
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
