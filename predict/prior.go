package predict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/types"
)

// priorProgram writes the program of the prior: the model without what it says
// about data.
func (e *emitter) priorProgram() (string, error) {
	e.indent = 1
	e.b.Reset()
	for _, s := range e.model {
		e.stmt(s)
	}
	var out strings.Builder
	for _, b := range e.tree.Blocks {
		switch b.Kind {
		case ast.GeneratedQuantities:
		case ast.Model:
			out.WriteString("model {\n" + e.b.String() + "}\n")
		default:
			e.block(&out, b)
		}
	}
	return out.String(), nil
}

// priorStmt writes a statement that adds to the target, without what it says
// about data.
func (e *emitter) priorStmt(s ast.Stmt) {
	if e.kind == TopLevel {
		e.topStmt(s)
		return
	}
	f := e.findings[s]
	switch s := s.(type) {
	case *ast.Tilde:
		if f.prior {
			e.lines(printer.String(s))
		}
	case *ast.TargetPlus:
		if len(f.terms) == 0 && len(f.left) == 0 {
			e.lines(printer.String(s))
			return
		}
		// Those addends of a sum that are about parameters alone.
		for _, p := range addends(s.Value, false, nil) {
			var one finding
			e.addend(&one, s, p, false)
			if one.prior {
				sign := ""
				if p.negative {
					sign = "-"
				}
				e.line("target += %s%s;", sign, rename(nil).operand(p.value))
			}
		}
	case *ast.CallStmt:
		if len(f.left) == 0 {
			e.lines(printer.String(s))
		}
	}
}

// forwardProgram writes a program without parameters whose generated quantities
// are the parameters of the model, drawn from their priors, each after those
// that its prior depends on. reason says why that is not possible; the prior must
// then be sampled as any density.
func (e *emitter) forwardProgram() (text, reason string) {
	block := e.tree.Block(ast.Parameters)
	if block == nil || len(block.Stmts) == 0 {
		return "", "the model has no parameters"
	}
	var params []*check.Var
	for _, s := range block.Stmts {
		if d, ok := s.(*ast.VarDecl); ok {
			params = append(params, e.info.Defs[d])
		}
	}
	priors := map[*check.Var]*ast.Tilde{}
	for _, s := range e.model {
		f := e.findings[s]
		d, isTilde := s.(*ast.Tilde)
		switch {
		case isTilde && f.prior && len(f.left) == 0:
			v := e.wholeParameter(d.Variate)
			if v == nil {
				return "", fmt.Sprintf("the left side of `%s` is not a whole parameter", oneLine(printer.String(d)))
			}
			if priors[v] != nil {
				return "", fmt.Sprintf("%s has two priors", v.Name)
			}
			priors[v] = d
		case f.prior || e.adds(s):
			return "", fmt.Sprintf("`%s` is more than one statement with ~ about one parameter", brief(printer.String(s)))
		}
	}
	var order []*check.Var
	state := map[*check.Var]int{}
	var visit func(v *check.Var) string
	visit = func(v *check.Var) string {
		switch state[v] {
		case 1:
			return fmt.Sprintf("the prior of %s depends on itself", v.Name)
		case 2:
			return ""
		}
		state[v] = 1
		t := priors[v]
		if t == nil {
			return fmt.Sprintf("%s has no prior", v.Name)
		}
		decl := v.Decl.(*ast.VarDecl)
		parts := slices.Clone(t.Args)
		for _, b := range decl.Type.Bounds {
			parts = append(parts, b.Value)
		}
		if t.Trunc != nil {
			parts = append(parts, t.Trunc.Lower, t.Trunc.Upper)
		}
		bad := ""
		for _, x := range parts {
			if x == nil {
				continue
			}
			ast.Inspect(x, func(n ast.Node) bool {
				y, ok := n.(*ast.VarExpr)
				if !ok || e.info.Uses[y] == nil || bad != "" {
					return true
				}
				switch u := e.info.Uses[y]; {
				case isParameter(u):
					bad = visit(u)
				case !e.observable(u):
					bad = fmt.Sprintf("the prior of %s depends on %s, which is computed", v.Name, u.Name)
				}
				return true
			}, nil)
		}
		if bad != "" {
			return bad
		}
		state[v] = 2
		order = append(order, v)
		return ""
	}
	for _, v := range params {
		if reason := visit(v); reason != "" {
			return "", reason
		}
	}
	e.now = rename{}
	e.observed = map[*check.Var][]string{}
	e.plans = map[planKey]plan{}
	e.b.Reset()
	e.indent = 1
	for _, v := range params {
		sizes, t := sizesOf(v.Decl.(*ast.VarDecl).Type, v.Type)
		e.line("%s %s;", declared(t, sizes), v.Name)
		e.names[v] = v.Name
	}
	for _, v := range order {
		if reason := e.drawParameter(v, priors[v]); reason != "" {
			return "", reason
		}
	}
	quantities := e.b.String()
	var out strings.Builder
	for _, b := range e.tree.Blocks {
		switch b.Kind {
		case ast.Functions, ast.Data, ast.TransformedData:
			e.block(&out, b)
		}
	}
	if e.tree.Block(ast.Functions) == nil && e.functions.Len() > 0 {
		head := "functions {\n" + e.functions.String() + "}\n"
		if !strings.HasPrefix(out.String(), head) {
			rest := out.String()
			out.Reset()
			out.WriteString(head + rest)
		}
	}
	out.WriteString("generated quantities {\n" + quantities + "}\n")
	return out.String(), ""
}

func brief(s string) string {
	s = oneLine(s)
	if len(s) > 60 {
		s = s[:57] + "…"
	}
	return s
}

// adds reports a statement that adds to the target, on whatever.
func (e *emitter) adds(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Tilde:
			found = found || e.findings[n].prior
		case *ast.TargetPlus:
			found = found || e.findings[n].prior || len(e.findings[n].terms) == 0 && len(e.findings[n].left) == 0
		case *ast.CallStmt:
			found = found || strings.HasSuffix(n.Call.Func.Name, "_lp") && len(e.findings[n].left) == 0
		}
		return true
	}, nil)
	return found
}

// wholeParameter is the parameter that a variate is all of; nil if none.
func (e *emitter) wholeParameter(variate ast.Expr) *check.Var {
	switch x := ast.Unparen(variate).(type) {
	case *ast.VarExpr:
		if v := e.info.Uses[x]; v != nil && isParameter(v) {
			return v
		}
	case *ast.CallExpr:
		if x.Func.Name == "to_vector" && len(x.Args) == 1 {
			if v := e.wholeParameter(x.Args[0]); v != nil && v.Type.Dims == 0 && v.Type.Kind == types.Matrix {
				return v
			}
		}
	}
	return nil
}

// drawParameter writes how a parameter is drawn from its prior; a reason if that
// is not possible.
func (e *emitter) drawParameter(v *check.Var, s *ast.Tilde) (reason string) {
	decl := v.Decl.(*ast.VarDecl)
	call := e.info.Calls[s]
	t := term{at: s, place: &place{v: v}, function: call.Name, user: call.Func != nil, variate: s.Variate, args: s.Args, trunc: s.Trunc, whole: true}
	if _, ok := ast.Unparen(s.Variate).(*ast.CallExpr); ok {
		t.place.flat = "columns"
	}
	dist, _ := density(call.Name)
	bound := map[string]ast.Expr{}
	for _, b := range decl.Type.Bounds {
		if b.Kind == "lower" || b.Kind == "upper" {
			bound[b.Kind] = b.Value
		}
	}
	structured := map[types.ConstraintKind][]string{
		types.Simplex: {"dirichlet"}, types.CorrMatrix: {"lkj_corr"}, types.CholeskyFactorCorr: {"lkj_corr_cholesky"},
		types.CovMatrix: {"wishart", "inv_wishart"}, types.CholeskyFactorCov: {"wishart_cholesky", "inv_wishart_cholesky"},
	}
	sorted := false
	switch k := v.Constraint; {
	case k == types.Ordered || k == types.PositiveOrdered:
		sorted = true
		if k == types.PositiveOrdered {
			bound["lower"] = literal(0)
		}
		for _, a := range s.Args {
			if !e.typeOf(a).IsScalar() {
				return fmt.Sprintf("the elements of %s, which are ordered, have different priors", v.Name)
			}
		}
		if v.Type.Dims > 0 {
			return fmt.Sprintf("%s is an array of ordered vectors", v.Name)
		}
	case k == types.Unconstrained || k == types.LowerUpper || k == types.OffsetMultiplier:
	case slices.Contains(structured[k], dist) && !t.user:
	default:
		return fmt.Sprintf("%s is a %s with a prior that is not drawn so", v.Name, k)
	}
	if len(bound) > 0 {
		if s.Trunc != nil {
			return fmt.Sprintf("%s has bounds and a truncated prior", v.Name)
		}
		for _, b := range bound {
			if !(e.synthetic(b) || e.typeOf(b).IsScalar()) {
				return fmt.Sprintf("%s has several bounds", v.Name)
			}
		}
		// Bounds that the distribution keeps by itself need no truncation.
		if d := distOf(call.Name); d == nil || !inside(d.Support, d.Variate, bound) {
			// The density does not divide by the probability between the bounds. Where
			// that is no constant, it is a factor of the prior of what it depends on.
			parts := slices.Clone(s.Args)
			for _, b := range bound {
				parts = append(parts, b)
			}
			for _, x := range parts {
				if e.reads(x, isParameter) {
					return fmt.Sprintf("%s is cut off by its bounds, at a probability that depends on other parameters", v.Name)
				}
			}
			t.trunc = &ast.Truncation{Lower: bound["lower"], Upper: bound["upper"]}
		}
	}
	if reason := e.planWith(&t, Replicated); reason != "" {
		return fmt.Sprintf("%s cannot be drawn from its prior: %s", v.Name, reason)
	}
	e.draw(&t)
	if sorted {
		e.line("%s = sort_asc(%s);", v.Name, v.Name)
	}
	return ""
}

// synthetic reports an expression that no checker has seen.
func (e *emitter) synthetic(x ast.Expr) bool {
	_, ok := e.info.Types[x]
	return !ok
}

// inside reports whether the support of a distribution lies within bounds that
// are numbers.
func inside(support, variate types.Constraint, bound map[string]ast.Expr) bool {
	if support.Text == "" {
		support = variate
	}
	value := func(x ast.Expr) (float64, bool) {
		switch x := ast.Unparen(x).(type) {
		case *ast.IntLit:
			return float64(x.Value), true
		case *ast.RealLit:
			return x.Value, true
		}
		return 0, false
	}
	if b := bound["lower"]; b != nil {
		if v, ok := value(b); !ok || support.Lo < v {
			return false
		}
	}
	if b := bound["upper"]; b != nil {
		if v, ok := value(b); !ok || support.Hi > v {
			return false
		}
	}
	return true
}
