package predict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// priorProgram returns the program of the prior: the model without its statements about data. If
// bare is set, it keeps what these statements need of local variables and transformed parameters,
// and nothing else.
func (e *emitter) priorProgram(bare bool) *ast.File {
	var model *ast.Block
	if e.tree.Block(ast.Model) != nil {
		model = &ast.Block{Kind: ast.Model, Stmts: e.stmts(e.model)}
	}
	if !bare {
		return e.file(model, ast.Functions, ast.Data, ast.TransformedData, ast.Parameters, ast.TransformedParameters)
	}
	names := map[string]bool{}
	if model != nil {
		s := slicer{names: names, effects: true}
		model.Stmts = s.slice(model.Stmts)
	}
	f := e.file(model, ast.Functions, ast.Data, ast.TransformedData, ast.Parameters)
	from := e.tree.Block(ast.TransformedParameters)
	if from == nil {
		return f
	}
	// The names of the model's local variables are not those of variables of this block's loops.
	s := slicer{names: map[string]bool{}}
	for _, x := range from.Stmts {
		if v := e.info.Defs[x]; v != nil && v.Global && names[v.Name] {
			s.names[v.Name] = true
		}
	}
	if list := s.slice(from.Stmts); len(list) > 0 {
		at := len(f.Blocks)
		if model != nil {
			at--
		}
		f.Blocks = slices.Insert(f.Blocks, at, &ast.Block{Kind: ast.TransformedParameters, Stmts: list})
	}
	return f
}

// priorStmt returns the part of a statement about parameters alone.
func (e *emitter) priorStmt(s ast.Stmt) []ast.Stmt {
	if e.kind == TopLevel {
		return e.topStmt(s)
	}
	f := e.findings[s]
	if e.keepsLeft && len(f.left) > 0 && len(f.terms) == 0 {
		return []ast.Stmt{s}
	}
	switch s := s.(type) {
	case *ast.Tilde:
		if !f.prior {
			return nil
		}
	case *ast.TargetPlus:
		if len(f.terms) == 0 && len(f.left) == 0 {
			break
		}
		// Keep the addends of the sum that are about parameters alone.
		var out []ast.Stmt
		for _, p := range addends(s.Value, false, nil) {
			if one := e.part(s, p); one.prior {
				out = append(out, p.added())
			}
		}
		return out
	case *ast.CallStmt:
		if len(f.left) > 0 {
			return nil
		}
	}
	return []ast.Stmt{s}
}

// part returns the finding about an addend of a statement.
func (e *emitter) part(s *ast.TargetPlus, p part) (one finding) {
	e.addend(&one, s, p, false)
	if len(one.loose) == 1 && one.loose[0].reason == "" {
		one.prior = !slices.ContainsFunc(e.findings[s].terms, func(t term) bool { return t.value == p.value })
	}
	return one
}

// added returns the statement that adds the part to the target.
func (p part) added() ast.Stmt {
	value := rename(nil).expr(p.value)
	if p.negative {
		value = &ast.Unary{Op: "-", X: value}
	}
	return &ast.TargetPlus{Value: value}
}

// forwardProgram returns a program without parameters. Its generated quantities are the model's
// parameters, each drawn from its prior after the parameters on which that prior depends. If this
// is impossible, it returns the reason; the prior must then be sampled like any density. If partial
// is set, parameters without a prior are left out, with those that depend on them; undrawn has the
// reasons.
func (e *emitter) forwardProgram(partial bool) (f *ast.File, undrawn []string, reason string) {
	block := e.tree.Block(ast.Parameters)
	if block == nil || len(block.Stmts) == 0 {
		return nil, nil, "the model has no parameters"
	}
	var params []*check.Var
	for _, s := range block.Stmts {
		if d, ok := s.(*ast.VarDecl); ok {
			params = append(params, e.info.Defs[d])
		}
	}
	priors := map[*check.Var][]elementPrior{}
	for _, s := range e.model {
		if reason := e.priorsOf(s, nil, priors); reason != "" {
			return nil, nil, reason
		}
	}
	gaps := map[*check.Var]bool{}
	for _, v := range params {
		overlap, gap := e.arranged(v, priors[v])
		if overlap {
			return nil, nil, fmt.Sprintf("%s has two priors", v.Name)
		}
		gaps[v] = gap
	}
	var order []*check.Var
	state := map[*check.Var]int{}
	reasons := map[*check.Var]string{}
	var visit func(v *check.Var) (why string)
	visit = func(v *check.Var) (why string) {
		switch state[v] {
		case 1:
			return fmt.Sprintf("the prior of %s depends on itself", v.Name)
		case 2:
			return ""
		case 3:
			return reasons[v]
		}
		state[v] = 1
		defer func() {
			if why != "" { // parameters that depend on it have the same reason
				state[v], reasons[v] = 3, why
			}
		}()
		decl := v.Decl.(*ast.VarDecl)
		if priors[v] == nil { // a uniform prior has no statement
			if reason := e.uniform(v); reason != "" {
				return reason
			}
		} else if gaps[v] {
			return fmt.Sprintf("some elements of %s have no prior", v.Name)
		}
		bad := ""
		look := func(x ast.Expr, p elementPrior) {
			if x == nil {
				return
			}
			earlier := e.earlier(v, p, x)
			ast.Inspect(x, func(n ast.Node) bool {
				y, ok := n.(*ast.VarExpr)
				if !ok || e.info.Uses[y] == nil || bad != "" {
					return true
				}
				switch u := e.info.Uses[y]; {
				case u == v && earlier || e.among(y, p.loops) != nil:
				case e.isParameter(u):
					bad = visit(u)
				case !e.observable(u):
					bad = fmt.Sprintf("the prior of %s depends on %s, which is computed", v.Name, u.Name)
				}
				return true
			}, nil)
		}
		for _, b := range decl.Type.Bounds {
			look(b.Value, elementPrior{})
		}
		for _, p := range priors[v] {
			for _, x := range p.s.Args {
				look(x, p)
			}
			if p.s.Trunc != nil {
				look(p.s.Trunc.Lower, p)
				look(p.s.Trunc.Upper, p)
			}
		}
		if bad != "" {
			return bad
		}
		state[v] = 2
		order = append(order, v)
		return ""
	}
	for _, v := range params {
		reason := visit(v)
		if reason != "" && !(partial && e.independent(v)) {
			return nil, nil, reason
		}
		if reason != "" && !slices.Contains(undrawn, reason) {
			undrawn = append(undrawn, reason)
		}
	}
	if len(order) == 0 {
		return nil, nil, strings.Join(undrawn, ", ")
	}
	e.now = rename{}
	e.observed = map[*check.Var][]string{}
	e.plans = map[planKey]plan{}
	var quantities []ast.Stmt
	for _, v := range params {
		if !slices.Contains(order, v) {
			continue
		}
		quantities = append(quantities, declare(typeExpr(v.Type, sizesOf(v.Decl.(*ast.VarDecl).Type, v.Type)), v.Name, nil))
		e.names[v] = v.Name
	}
	for _, v := range order {
		if priors[v] == nil {
			quantities = append(quantities, e.drawUniform(v))
			continue
		}
		for _, p := range priors[v] {
			drawn, reason := e.drawParameter(v, p)
			if reason != "" {
				return nil, nil, reason
			}
			quantities = append(quantities, e.within(p, drawn)...)
		}
	}
	last := &ast.Block{Kind: ast.GeneratedQuantities, Stmts: quantities}
	return e.file(last, ast.Functions, ast.Data, ast.TransformedData), undrawn, ""
}

// brief returns the beginning of a statement, to quote in messages.
func brief(n ast.Node) string {
	s := printer.Line(n)
	if len(s) > 60 {
		s = s[:57] + "…"
	}
	return s
}

// adds reports whether a statement adds to the target.
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

// wholeParameter returns the parameter whose value is the whole variate; nil if there is none.
func (e *emitter) wholeParameter(variate ast.Expr) *check.Var {
	switch x := ast.Unparen(variate).(type) {
	case *ast.VarExpr:
		if v := e.info.Uses[x]; v != nil && e.isParameter(v) {
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

// uniform returns "" if a parameter without a statement has a uniform prior between two bounds, and
// otherwise the reason why not.
func (e *emitter) uniform(v *check.Var) (reason string) {
	bounds := boundsOf(v)
	if v.Constraint != types.LowerUpper || bounds["lower"] == nil || bounds["upper"] == nil || v.Type.Rank() > 1 {
		return fmt.Sprintf("%s has no prior", v.Name)
	}
	for _, b := range bounds {
		if !e.typeOf(b).IsScalar() || e.reads(b, e.isParameter) {
			return fmt.Sprintf("%s has no prior, and bounds that differ", v.Name)
		}
	}
	return ""
}

// independent reports whether the bounds of a parameter are the same for all values of the others.
// If they are not, leaving out the parameter would change the prior of others.
func (e *emitter) independent(v *check.Var) bool {
	for _, b := range boundsOf(v) {
		if e.reads(b, e.isParameter) {
			return false
		}
	}
	return true
}

// drawUniform draws a parameter between its bounds.
func (e *emitter) drawUniform(v *check.Var) (out ast.Stmt) {
	bounds := boundsOf(v)
	draw := "uniform_rng"
	if v.Type.Kind == types.Int {
		draw = "discrete_range_rng"
	}
	value := call(draw, e.now.expr(bounds["lower"]), e.now.expr(bounds["upper"]))
	if v.Type.Rank() == 0 {
		return assign(variable(v.Name), "=", value)
	}
	e.scope(func() {
		i := e.fresh("i")
		out = loop(i, call("num_elements", variable(v.Name)), []ast.Stmt{assign(element(variable(v.Name), variable(i)), "=", value)})
	})
	return out
}

// boundsOf returns the bounds in the declaration of a parameter, by kind: lower and upper.
func boundsOf(v *check.Var) map[string]ast.Expr {
	bounds := map[string]ast.Expr{}
	for _, b := range v.Decl.(*ast.VarDecl).Type.Bounds {
		if b.Kind == "lower" || b.Kind == "upper" {
			bounds[b.Kind] = b.Value
		}
	}
	return bounds
}

// drawParameter returns statements that draw a parameter from its prior, or the reason why that is
// impossible.
func (e *emitter) drawParameter(v *check.Var, p elementPrior) (out []ast.Stmt, reason string) {
	s := p.s
	resolved := e.info.Calls[s]
	t := term{at: s, place: &place{v: v}, function: resolved.Name, user: resolved.Func != nil, variate: s.Variate, args: s.Args, trunc: s.Trunc, whole: true}
	if _, ok := ast.Unparen(s.Variate).(*ast.CallExpr); ok {
		t.place.flat = "columns"
	}
	for _, x := range p.at {
		t.place.indices = append(t.place.indices, index{single: true, a: x})
	}
	dist, _ := density(resolved.Name)
	bound := boundsOf(v)
	sorted := false
	switch k := v.Constraint; {
	case k == types.Ordered || k == types.PositiveOrdered:
		sorted = true
		if k == types.PositiveOrdered {
			bound["lower"] = literal(0)
		}
		for _, a := range s.Args {
			if !e.typeOf(a).IsScalar() {
				return nil, fmt.Sprintf("the elements of %s, which are ordered, have different priors", v.Name)
			}
		}
		if v.Type.Dims > 0 {
			return nil, fmt.Sprintf("%s is an array of ordered vectors", v.Name)
		}
	case k == types.Unconstrained || k == types.LowerUpper || k == types.OffsetMultiplier:
	case !t.user && drawn(resolved.Name, dist, k):
	default:
		return nil, fmt.Sprintf("%s is a %s with a prior that is not drawn so", v.Name, k)
	}
	if len(bound) > 0 {
		if s.Trunc != nil {
			return nil, fmt.Sprintf("%s has bounds and a truncated prior", v.Name)
		}
		for _, b := range bound {
			if !(e.synthetic(b) || e.typeOf(b).IsScalar()) {
				return nil, fmt.Sprintf("%s has several bounds", v.Name)
			}
		}
		// Bounds that contain the distribution's support need no truncation.
		if d := distOf(resolved.Name); !e.covered(dist, s, bound) && (d == nil || !inside(d.Support, d.Variate, bound)) {
			// The program does not divide the density by the probability of the interval between
			// the bounds. If that probability is not constant, it is a factor of the prior of the
			// parameters on which it depends.
			parts := slices.Clone(s.Args)
			for _, b := range bound {
				parts = append(parts, b)
			}
			for _, x := range parts {
				if e.reads(x, e.isParameter) {
					return nil, fmt.Sprintf("%s is cut off by its bounds, at a probability that depends on other parameters", v.Name)
				}
			}
			t.trunc = &ast.Truncation{Lower: bound["lower"], Upper: bound["upper"]}
		}
	}
	if reason := e.planWith(&t, Replicated); reason != "" {
		return nil, fmt.Sprintf("%s cannot be drawn from its prior: %s", v.Name, reason)
	}
	out = e.draw(&t)
	if sorted {
		out = append(out, assign(variable(v.Name), "=", call("sort_asc", variable(v.Name))))
	}
	return out, ""
}

// covered reports whether the bounds of a discrete parameter are the ends of its prior's support,
// which an argument decides: a category of w is between 1 and the size of w.
func (e *emitter) covered(dist string, s *ast.Tilde, bound map[string]ast.Expr) bool {
	lower, upper := bound["lower"], bound["upper"]
	if len(s.Args) == 0 || lower == nil || upper == nil || e.synthetic(lower) || e.synthetic(upper) {
		return false
	}
	first, ok := number(lower)
	if !ok {
		return false
	}
	last := printer.Line(upper)
	switch dist {
	case "binomial", "binomial_logit", "beta_binomial":
		return first <= 0 && last == printer.Line(s.Args[0])
	case "categorical", "categorical_logit":
		v, ok := ast.Unparen(s.Args[0]).(*ast.VarExpr)
		if !ok || e.info.Uses[v] == nil {
			return false
		}
		d, ok := e.info.Uses[v].Decl.(*ast.VarDecl)
		return ok && first <= 1 && len(d.Type.Sizes) == 1 && last == printer.Line(d.Type.Sizes[0])
	}
	return false
}

// drawn reports whether the library can draw values of type k from a distribution whose density is
// function.
func drawn(function, dist string, k types.ConstraintKind) bool {
	return len(stdlib.Language().Lookup(dist+"_rng")) > 0 && slices.ContainsFunc(stdlib.Language().Lookup(function), func(o types.Overload) bool {
		f, ok := o.(*stdlib.Func)
		return ok && len(f.In) > 0 && f.In[0].Kind == k
	})
}

// synthetic reports whether an expression was made by this package, so that the checker has not
// seen it.
func (e *emitter) synthetic(x ast.Expr) bool {
	_, ok := e.info.Types[x]
	return !ok
}

// inside reports whether the support of a distribution lies within bounds, which must be literals.
func inside(support, variate types.Constraint, bound map[string]ast.Expr) bool {
	if support.Text == "" {
		support = variate
	}
	if b := bound["lower"]; b != nil {
		if v, ok := number(b); !ok || support.Lo < v {
			return false
		}
	}
	if b := bound["upper"]; b != nil {
		if v, ok := number(b); !ok || support.Hi > v {
			return false
		}
	}
	return true
}

// number returns the value of an expression that consists of literals.
func number(e ast.Expr) (float64, bool) {
	n, ok := (*check.Info)(nil).Number(e, nil)
	return n.Val, ok
}
