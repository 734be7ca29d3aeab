package predict

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file predicts observations of mixtures of distributions that are written as sums of
// densities.

// mixture is a distribution that is one of several, with probabilities that sum to 1.
type mixture struct {
	parts []component

	// If over is not nil, there is one part for each value of its variable. The only part has the
	// density for that value, and weights, a simplex, has the probabilities.
	over    *ast.For
	weights ast.Expr
}

// component is one of the distributions of a mixture.
type component struct {
	weight []factor // of its probability
	value  ast.Expr // its log density
	of     term
}

// factor is a probability, or 1 minus a probability.
type factor struct {
	of   ast.Expr
	rest bool
}

// mixtureOf returns the mixture whose log density an addend is; nil if it is none. The forms are
// log_mix, and log_sum_exp of densities of the same observation with the logarithms of their
// weights, also nested. Weights are w and 1 - w, or the elements of a simplex. The addends of
// log_sum_exp may be the elements of a local vector, which a loop may assign.
func (a *analysis) mixtureOf(s ast.Stmt, value ast.Expr, at *place) *mixture {
	m := a.looped(s, value)
	if m == nil {
		parts := a.components(s, value)
		if len(parts) < 2 || !a.weighted(parts) {
			return nil
		}
		m = &mixture{parts: parts}
	}
	for i := range m.parts {
		if !a.densityOf(s, &m.parts[i], at) {
			return nil
		}
	}
	return m
}

// densityOf finds the density of a component. It reports whether that is a density of the
// observation.
func (a *analysis) densityOf(s ast.Stmt, c *component, at *place) bool {
	call, ok := ast.Unparen(c.value).(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	if _, ok := density(call.Func.Name); !ok || !a.info.Types[call.Args[0]].Type.IsScalar() {
		return false
	}
	p := a.placeOf(call.Args[0])
	if p == nil || !p.same(at) {
		return false
	}
	c.of = term{at: s, place: p, function: normalised(call.Func.Name), user: a.info.Calls[call].Func != nil, variate: call.Args[0], args: call.Args[1:], whole: true}
	return true
}

// components divides a log density into those of its parts.
func (a *analysis) components(s ast.Stmt, value ast.Expr) []component {
	var weight []factor
	var body ast.Expr
	for _, x := range addends(value, false, nil) {
		switch f, ok := factorOf(ast.Unparen(x.value)); {
		case x.negative:
			return nil
		case ok:
			weight = append(weight, f)
		case body != nil:
			return nil
		default:
			body = x.value
		}
	}
	if body == nil {
		return nil
	}
	var out []component
	add := func(x ast.Expr, more ...factor) bool {
		parts := a.components(s, x)
		for _, p := range parts {
			p.weight = slices.Concat(weight, more, p.weight)
			out = append(out, p)
		}
		return len(parts) > 0
	}
	call, ok := ast.Unparen(body).(*ast.CallExpr)
	switch {
	case ok && call.Func.Name == "log_mix" && len(call.Args) == 3:
		w := ast.Unparen(call.Args[0])
		if !add(call.Args[1], factor{of: w}) || !add(call.Args[2], factor{of: w, rest: true}) {
			return nil
		}
	case ok && call.Func.Name == "log_sum_exp":
		for _, x := range a.elements(s, call.Args) {
			if !add(x) {
				return nil
			}
		}
	default:
		return []component{{weight: weight, value: body}}
	}
	return out
}

// factorOf returns the probability of which an expression is the logarithm.
func factorOf(x ast.Expr) (factor, bool) {
	c, ok := x.(*ast.CallExpr)
	if !ok || len(c.Args) != 1 {
		return factor{}, false
	}
	w := ast.Unparen(c.Args[0])
	switch c.Func.Name {
	case "log":
		if d, ok := w.(*ast.Binary); ok && d.Op == "-" {
			if one, ok := ast.Unparen(d.X).(*ast.IntLit); ok && one.Value == 1 {
				return factor{of: ast.Unparen(d.Y), rest: true}, true
			}
		}
		return factor{of: w}, true
	case "log1m":
		return factor{of: w, rest: true}, true
	case "log_inv_logit":
		return factor{of: call("inv_logit", w)}, true
	case "log1m_inv_logit":
		return factor{of: call("inv_logit", w), rest: true}, true
	}
	return factor{}, false
}

// elements returns the values of which log_sum_exp is the sum; nil if they are not known.
func (a *analysis) elements(s ast.Stmt, args []ast.Expr) []ast.Expr {
	if len(args) == 2 {
		return args
	}
	x := ast.Unparen(args[0])
	if t, ok := x.(*ast.Unary); ok && t.Op == "'" {
		x = ast.Unparen(t.X)
	}
	switch x := x.(type) {
	case *ast.ArrayExpr:
		return x.Elems
	case *ast.RowVectorExpr:
		return x.Elems
	case *ast.VarExpr:
		return a.assignedElements(s, x)
	}
	return nil
}

// maxComponents is the maximum number of components that are written one by one.
const maxComponents = 100

// assignedElements returns the values of a local vector whose elements are assigned one by one.
func (a *analysis) assignedElements(s ast.Stmt, x *ast.VarExpr) []ast.Expr {
	v := a.info.Uses[x]
	if v == nil || v.Global {
		return nil
	}
	decl, ok := v.Decl.(*ast.VarDecl)
	if !ok || len(decl.Type.Sizes) != 1 || len(decl.Type.ArrayDims) > 0 {
		return nil
	}
	size, ok := ast.Unparen(decl.Type.Sizes[0]).(*ast.IntLit)
	if !ok || size.Value > maxComponents {
		return nil
	}
	out := make([]ast.Expr, size.Value)
	for _, set := range a.assigned[v] {
		to, ok := set.at.(*ast.Assign)
		if !ok || !a.together(set.at, s) {
			return nil
		}
		i, ok := onlyIndex(to.LHS).(*ast.IntLit)
		switch {
		case !ok || i.Value < 1 || i.Value > size.Value:
			return nil
		case to.Op == "=":
			out[i.Value-1] = to.RHS
		case to.Op == "+=" && out[i.Value-1] != nil:
			out[i.Value-1] = binary("+", out[i.Value-1], to.RHS)
		default:
			return nil
		}
	}
	if slices.Contains(out, nil) {
		return nil
	}
	return out
}

// together reports whether a statement runs whenever a later one does, once, and before it.
func (a *analysis) together(first, later ast.Stmt) bool {
	return first.Span().Start < later.Span().Start && slices.Equal(a.loops[first], a.loops[later]) && slices.Equal(a.under[first], a.under[later])
}

// onlyIndex returns the index i of x[i]; nil for other expressions.
func onlyIndex(x ast.Expr) ast.Expr {
	if e, ok := ast.Unparen(x).(*ast.IndexExpr); ok && len(e.Indices) == 1 {
		if i, ok := e.Indices[0].(*ast.Single); ok {
			return ast.Unparen(i.X)
		}
	}
	return nil
}

// weighted reports whether the weights of components sum to 1.
func (a *analysis) weighted(parts []component) bool {
	var weights [][]factor
	for _, p := range parts {
		weights = append(weights, p.weight)
	}
	return a.sumToOne(weights)
}

// sumToOne reports whether products of factors are known to sum to 1. They are if they are the
// elements of a simplex, or if a factor w is in some, 1 - w in the others, and the same is true of
// what is left of both.
func (a *analysis) sumToOne(weights [][]factor) bool {
	if len(weights) == 1 {
		return len(weights[0]) == 0
	}
	if a.elementsOfSimplex(weights) {
		return true
	}
	for _, w := range weights[0] {
		with, without := [][]factor{}, [][]factor{}
		for _, product := range weights {
			i := slices.IndexFunc(product, func(f factor) bool { return printer.Line(f.of) == printer.Line(w.of) })
			if i < 0 {
				return false
			}
			left := slices.Concat(product[:i], product[i+1:])
			if product[i].rest {
				without = append(without, left)
			} else {
				with = append(with, left)
			}
		}
		if len(with) > 0 && len(without) > 0 && a.sumToOne(with) && a.sumToOne(without) {
			return true
		}
	}
	return false
}

// elementsOfSimplex reports whether factors are all elements of one simplex of a known size.
func (a *analysis) elementsOfSimplex(weights [][]factor) bool {
	var simplex *check.Var
	seen := map[int64]bool{}
	for _, product := range weights {
		if len(product) != 1 || product[0].rest {
			return false
		}
		i, ok := onlyIndex(product[0].of).(*ast.IntLit)
		if !ok {
			return false
		}
		v := a.simplexOf(product[0].of.(*ast.IndexExpr).X)
		if v == nil || simplex != nil && v != simplex {
			return false
		}
		simplex = v
		seen[i.Value] = true
	}
	size, ok := ast.Unparen(simplex.Decl.(*ast.VarDecl).Type.Sizes[0]).(*ast.IntLit)
	return ok && len(weights) == int(size.Value) && len(seen) == len(weights)
}

// simplexOf returns the variable that an expression is, if that is a simplex; nil for others.
func (a *analysis) simplexOf(x ast.Expr) *check.Var {
	e, ok := ast.Unparen(x).(*ast.VarExpr)
	if !ok {
		return nil
	}
	v := a.info.Uses[e]
	if v == nil || v.Constraint != types.Simplex || v.Type.Dims > 0 {
		return nil
	}
	if d, ok := v.Decl.(*ast.VarDecl); !ok || len(d.Type.Sizes) != 1 {
		return nil
	}
	return v
}

// looped returns a mixture whose log densities a loop assigns to the elements of a local vector, as
// in
//
//	vector[K] lp = log(theta);
//	for (k in 1:K) lp[k] += normal_lpdf(y[n] | mu[k], sigma);
//	target += log_sum_exp(lp);
//
// The logarithms of the weights may be added within the loop, and log_mix(theta, lp) adds them.
func (a *analysis) looped(s ast.Stmt, value ast.Expr) *mixture {
	sum, ok := ast.Unparen(value).(*ast.CallExpr)
	if !ok {
		return nil
	}
	var weights ast.Expr
	switch {
	case sum.Func.Name == "log_sum_exp" && len(sum.Args) == 1:
	case sum.Func.Name == "log_mix" && len(sum.Args) == 2:
		weights = ast.Unparen(sum.Args[0])
	default:
		return nil
	}
	x, ok := ast.Unparen(sum.Args[len(sum.Args)-1]).(*ast.VarExpr)
	if !ok {
		return nil
	}
	v := a.info.Uses[x]
	if v == nil || v.Global || v.Type.Rank() != 1 {
		return nil
	}
	var set *ast.Assign
	var first ast.Expr
	for _, to := range a.assigned[v] {
		switch at := to.at.(type) {
		case *ast.VarDecl:
			first = to.value
		case *ast.Assign:
			if set != nil {
				return nil
			}
			set = at
		}
	}
	if set == nil {
		return nil
	}
	loops := a.loops[set]
	if len(loops) != len(a.loops[s])+1 {
		return nil
	}
	over, ok := loops[len(loops)-1].(*ast.For)
	if !ok || !a.together(over, s) || !within(over, set) {
		return nil
	}
	index := a.info.Defs[over]
	i, ok := onlyIndex(set.LHS).(*ast.VarExpr)
	if from, one := ast.Unparen(over.From).(*ast.IntLit); !ok || a.info.Uses[i] != index || !one || from.Value != 1 {
		return nil
	}
	var body ast.Expr
	for _, x := range addends(set.RHS, false, nil) {
		w := a.weightAt(x.value, index)
		switch {
		case w != nil && weights == nil && !x.negative:
			weights = w
		case w != nil || body != nil || x.negative:
			return nil
		default:
			body = x.value
		}
	}
	switch {
	case set.Op == "+=" && first != nil && weights == nil:
		weights = a.logOf(first)
	case set.Op != "=":
		return nil
	}
	if body == nil || weights == nil {
		return nil
	}
	simplex := a.simplexOf(weights)
	if simplex == nil || printer.Line(simplex.Decl.(*ast.VarDecl).Type.Sizes[0]) != printer.Line(over.To) || !a.outside(body, over) {
		return nil
	}
	return &mixture{parts: []component{{value: body}}, over: over, weights: weights}
}

// within reports whether a statement is the body of a loop, or directly in it.
func within(over *ast.For, s ast.Stmt) bool {
	block, ok := over.Body.(*ast.BlockStmt)
	return over.Body == s || ok && slices.Contains(block.Stmts, s)
}

// weightAt returns x if an expression is log(x[i]), where i is the variable of a loop; nil for
// others.
func (a *analysis) weightAt(e ast.Expr, index *check.Var) ast.Expr {
	element := ast.Unparen(e)
	c, inner := element.(*ast.CallExpr)
	if inner {
		if c.Func.Name != "log" || len(c.Args) != 1 {
			return nil
		}
		element = ast.Unparen(c.Args[0])
	}
	i, ok := onlyIndex(element).(*ast.VarExpr)
	if !ok || a.info.Uses[i] != index {
		return nil
	}
	x := ast.Unparen(element.(*ast.IndexExpr).X)
	if inner {
		return x
	}
	return a.logOf(x)
}

// logOf returns x if an expression is log(x), or a variable that has this value alone; nil for
// others.
func (a *analysis) logOf(e ast.Expr) ast.Expr {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if e.Func.Name == "log" && len(e.Args) == 1 {
			return ast.Unparen(e.Args[0])
		}
	case *ast.VarExpr:
		if v := a.info.Uses[e]; v != nil && len(a.assigned[v]) == 1 {
			if c, ok := ast.Unparen(a.assigned[v][0].value).(*ast.CallExpr); ok {
				return a.logOf(c)
			}
		}
	}
	return nil
}

// outside reports whether an expression reads no variable that a loop assigns.
func (a *analysis) outside(x ast.Expr, over *ast.For) bool {
	return !a.directly(x, func(v *check.Var) bool {
		return slices.ContainsFunc(a.assigned[v], func(s assignment) bool { return slices.Contains(a.loops[s.at], ast.Stmt(over)) })
	})
}

// planMixture is planWith for a mixture.
func (e *emitter) planMixture(t *term, kind Kind) (reason string) {
	if kind == LinearPredictor {
		return "a mixture has no linear predictor"
	}
	if kind == Variance {
		return "the variance of a mixture is not known"
	}
	for i := range t.mixed.parts {
		of := &t.mixed.parts[i].of
		if reason := e.planWith(of, kind); reason != "" {
			return reason
		}
		if e.plans[planKey{of.at, of.variate}].moments.vector {
			return "the expected value of a mixture of outcomes with categories is not known"
		}
	}
	return ""
}

// probability returns the weight of a component.
func (e *emitter) probability(c *component) (out ast.Expr) {
	for _, f := range c.weight {
		w := e.now.expr(f.of)
		if f.rest {
			w = binary("-", literal(1), w)
		}
		if out == nil {
			out = w
		} else {
			out = binary("*", out, w)
		}
	}
	return out
}

// mix returns the statements that draw an observation from one of the distributions, or that
// compute its expected value.
func (e *emitter) mix(t *term) (out []ast.Stmt) {
	e.scope(func() {
		if e.kind == Replicated {
			out = []ast.Stmt{e.drawMixed(t.mixed)}
		} else {
			out = []ast.Stmt{e.expectMixed(t)}
		}
	})
	return out
}

// drawMixed draws the number of a component, then from that.
func (e *emitter) drawMixed(m *mixture) ast.Stmt {
	block := func(c *component) ast.Stmt { return &ast.BlockStmt{Stmts: e.draw(&c.of)} }
	if len(m.parts) == 2 {
		return &ast.If{Cond: call("bernoulli_rng", e.probability(&m.parts[0])), Then: block(&m.parts[0]), Else: block(&m.parts[1])}
	}
	chosen := e.fresh("which")
	is := func(i ast.Expr) ast.Expr { return binary("==", variable(chosen), i) }
	var from ast.Expr
	var body ast.Stmt
	if m.over != nil {
		from = e.now.expr(m.weights)
		body = &ast.For{Var: m.over.Var, From: literal(1), To: e.now.expr(m.over.To),
			Body: &ast.BlockStmt{Stmts: []ast.Stmt{&ast.If{Cond: is(variable(m.over.Var.Name)), Then: block(&m.parts[0])}}}}
	} else {
		row := &ast.RowVectorExpr{}
		for i := range m.parts {
			row.Elems = append(row.Elems, e.probability(&m.parts[i]))
		}
		from = transposed(row)
		body = block(&m.parts[len(m.parts)-1])
		for i := len(m.parts) - 2; i >= 0; i-- {
			body = &ast.If{Cond: is(literal(int64(i + 1))), Then: block(&m.parts[i]), Else: body}
		}
	}
	return &ast.BlockStmt{Stmts: []ast.Stmt{declare(&ast.TypeExpr{Elem: "int"}, chosen, call("categorical_rng", from)), body}}
}

// expectMixed computes the sum of the expected values times the weights.
func (e *emitter) expectMixed(t *term) ast.Stmt {
	m, sum := t.mixed, e.fresh("mean_of_all")
	at := t.place.at(e.now, nil, t.place.v.Type.Rank())
	value := func() ast.Expr { return indexed(variable(e.names[t.place.v]), at) }
	add := func(c *component, weight ast.Expr) []ast.Stmt {
		return append(e.expect(&c.of), assign(variable(sum), "+=", binary("*", weight, value())))
	}
	list := []ast.Stmt{declare(&ast.TypeExpr{Elem: "real"}, sum, literal(0))}
	if m.over != nil {
		weight := element(e.now.expr(m.weights), variable(m.over.Var.Name))
		list = append(list, &ast.For{Var: m.over.Var, From: literal(1), To: e.now.expr(m.over.To), Body: &ast.BlockStmt{Stmts: add(&m.parts[0], weight)}})
	} else {
		for i := range m.parts {
			list = append(list, add(&m.parts[i], e.probability(&m.parts[i]))...)
		}
	}
	return &ast.BlockStmt{Stmts: append(list, e.unlessKnown(t.place.v, at, assign(value(), "=", variable(sum))))}
}
