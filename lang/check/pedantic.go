package check

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: warnings about code that is often a mistake but also often intended. Their codes are
// pedantic: callers drop them unless the user asks for them.

// wide is the length from which on the interval of a uniform distribution is called very wide.
const wide = 100

// pedantic checks a whole program that has no errors.
func (c *checker) pedantic(f *ast.File) {
	m := f.Block(ast.Model)
	p := f.Block(ast.Parameters)
	if m == nil || p == nil {
		return
	}
	t := &tracer{c: c, from: map[*Var]map[*Var]bool{}}
	for _, b := range []*ast.Block{p, f.Block(ast.TransformedParameters), m} {
		if b != nil {
			t.trace(b)
		}
	}
	c.priors(p, t)
	for _, b := range f.Blocks {
		if b.Kind == ast.TransformedParameters || b.Kind == ast.Model {
			c.decisions(b, t)
		}
	}
}

// tracer records from which parameters each variable is computed, and which statements of the model
// give a distribution to a parameter.
type tracer struct {
	c     *checker
	from  map[*Var]map[*Var]bool
	own   map[*Var]bool         // parameters that have a distribution, or are alone in a term of the target
	used  map[*Var]bool         // parameters that are mentioned
	terms map[*Var]bool         // parameters in terms of the target that are not densities
	tilde map[*Var][]*ast.Tilde // for each parameter, its ~ statements about the whole of it, outside conditions
}

// of returns the parameters from which an expression is computed.
func (t *tracer) of(e ast.Expr) map[*Var]bool {
	out := map[*Var]bool{}
	for u := range variablesIn(e) {
		v := t.c.info.Uses[u]
		switch {
		case v == nil:
		case v.Global && v.Block == ast.Parameters:
			out[v] = true
		default:
			for p := range t.from[v] {
				out[p] = true
			}
		}
	}
	return out
}

// trace processes the statements of a block in order.
func (t *tracer) trace(b *ast.Block) {
	if t.own == nil {
		t.own, t.used, t.terms, t.tilde = map[*Var]bool{}, map[*Var]bool{}, map[*Var]bool{}, map[*Var][]*ast.Tilde{}
	}
	assign := func(v *Var, e ast.Expr) {
		if v == nil || e == nil {
			return
		}
		if t.from[v] == nil {
			t.from[v] = map[*Var]bool{}
		}
		for p := range t.of(e) {
			t.from[v][p] = true
		}
	}
	conditions := 0
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarExpr:
			if v := t.c.info.Uses[n]; v != nil {
				t.used[v] = true
			}
		case *ast.VarDecl:
			assign(t.c.info.Defs[n], n.Init)
		case *ast.Assign:
			for u := range ast.Targets(n.LHS) {
				assign(t.c.info.Uses[u], n.RHS)
			}
		case *ast.ForEach:
			assign(t.c.info.Defs[n], n.Over)
		case *ast.If, *ast.While:
			conditions++
		case *ast.Tilde:
			t.distributed(n.Variate)
			if u, ok := ast.Unparen(n.Variate).(*ast.VarExpr); ok && conditions == 0 {
				if v := t.c.info.Uses[u]; v != nil && v.Global && v.Block == ast.Parameters {
					t.tilde[v] = append(t.tilde[v], n)
				}
			}
		case *ast.TargetPlus:
			t.term(n.Value)
		case *ast.CallStmt:
			t.calls(n.Call)
		case *ast.CallExpr:
			t.calls(n)
		}
		return true
	}, func(n ast.Node) {
		switch n.(type) {
		case *ast.If, *ast.While:
			conditions--
		}
	})
}

// distributed records that the parameters of a variate have a distribution.
func (t *tracer) distributed(variate ast.Expr) {
	for p := range t.of(variate) {
		t.own[p] = true
	}
}

// term processes a term of the target. The variates of its densities have a distribution, and so
// has every parameter that occurs outside densities.
func (t *tracer) term(e ast.Expr) {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		_, suffix := SplitSuffix(e.Func.Name)
		if TakesBar(suffix) && len(e.Args) > 0 {
			t.distributed(e.Args[0])
			return
		}
		for _, a := range e.Args {
			t.term(a)
		}
	case *ast.Binary:
		t.term(e.X)
		t.term(e.Y)
	case *ast.Unary:
		t.term(e.X)
	case *ast.Cond:
		t.term(e.Then)
		t.term(e.Else)
	default:
		t.distributed(e)
		for p := range t.of(e) {
			t.terms[p] = true
		}
	}
}

// calls records that the arguments of functions that add to the target have a distribution.
func (t *tracer) calls(e *ast.CallExpr) {
	if _, suffix := SplitSuffix(e.Func.Name); suffix == "_lp" {
		for _, a := range e.Args {
			t.distributed(a)
		}
	}
}

// priors checks each parameter.
func (c *checker) priors(b *ast.Block, t *tracer) {
	for _, s := range b.Stmts {
		v := c.info.Defs[s]
		if v == nil || v.Type.Kind == types.Tuple {
			continue
		}
		r := v.bounds()
		switch {
		case !r.bounded() && t.used[v] && !t.own[v]:
			d := diag.Warnf(diag.NoPriorOfItsOwn, v.Ident.Span(), "the parameter `%s` has no prior", v.Name)
			d.Detail = "It is flat, which is improper: the posterior is what the data say alone, if it exists."
			d.Fix = "give it a distribution, such as " + v.Name + " ~ " + likely(r) + " if values of about 1 are plausible, as for standardised data; else put the plausible size in place of the 1"
			c.diags.Add(d)
		case r.bounded() && !t.used[v]:
			c.report(diag.Warnf(diag.OnlyBounds, v.Ident.Span(), "the density does not depend on the parameter `%s`", v.Name),
				"It is uniform over the values that its type allows.", "")
		case r.bounded() && r.hi-r.lo >= wide && !t.own[v]:
			c.report(diag.Warnf(diag.WideUniform, v.Ident.Span(), "the parameter `%s` is uniform between %g and %g", v.Name, r.lo, r.hi),
				"Nearly all of that is far from zero.", "use a half-normal or exponential prior, which says what is plausible without an edge")
		}
		list := t.tilde[v]
		if len(list) > 1 {
			d := diag.Warnf(diag.SeveralDistributions, list[1].Variate.Span(), "the parameter `%s` has several distributions", v.Name)
			d.Detail = "Their densities are multiplied."
			d.Related = []diag.Note{note(list[0], "another one is here")}
			c.diags.Add(d)
		}
		for _, s := range list {
			if s.Dist.Name != "uniform" || len(s.Args) != 2 {
				continue
			}
			lo, ok1 := constant(s.Args[0])
			hi, ok2 := constant(s.Args[1])
			if ok1 && ok2 && hi-lo >= wide {
				c.report(diag.Warnf(diag.WideUniform, s.Dist.Span(), "the parameter `%s` is uniform between %g and %g", v.Name, lo, hi),
					"Nearly all of that is far from zero.", "use a half-normal or exponential prior, which says what is plausible without an edge")
			}
		}
	}
}

// likely returns a usual prior for numbers with these bounds.
func likely(r reach) string {
	if r.lo == 0 && math.IsInf(r.hi, 1) {
		return "exponential(1)"
	}
	return "normal(0, 1)"
}

// jumps lists library functions with jumps.
var jumps = []string{"step", "int_step", "floor", "ceil", "round", "trunc"}

// decisions checks conditions on parameters, and variates that are not linear in parameters.
func (c *checker) decisions(b *ast.Block, t *tracer) {
	condition := func(e ast.Expr) {
		if of := t.of(e); len(of) > 0 {
			d := diag.Warnf(diag.ParameterDecides, e.Span(), "the parameter `%s` decides what is computed", first(of))
			d.Detail = "The density may jump or have a kink there, which gradients do not tell of."
			c.diags.Add(d)
		}
	}
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.If:
			condition(n.Cond)
		case *ast.While:
			condition(n.Cond)
		case *ast.Cond:
			condition(n.Cond)
		case *ast.CallExpr:
			if slices.Contains(jumps, n.Func.Name) && len(n.Args) == 1 {
				condition(n.Args[0])
			}
		case *ast.Tilde:
			of := t.of(n.Variate)
			adjusted := slices.ContainsFunc(slices.Collect(maps.Keys(of)), func(v *Var) bool { return t.terms[v] })
			if len(of) > 0 && !adjusted && c.product(n.Variate, t) {
				d := diag.Warnf(diag.NonlinearVariate, n.Variate.Span(), "what has the distribution %s is not linear in `%s`", n.Dist.Name, first(of))
				d.Detail = "Unless a Jacobian is added to the target, this is not the distribution of parameters."
				c.diags.Add(d)
			}
		}
		return true
	}, nil)
}

// product reports whether an expression multiplies or divides parameters by each other, or raises
// one to a power. Functions of one argument have their own warning.
func (c *checker) product(e ast.Expr, t *tracer) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		b, ok := n.(*ast.Binary)
		if !ok {
			return true
		}
		x, y := len(t.of(b.X)) > 0, len(t.of(b.Y)) > 0
		switch b.Op {
		case "*", ".*":
			found = found || x && y
		case "/", "./", `\`:
			found = found || x && y || y && b.Op != `\` || x && b.Op == `\`
		case "^", ".^":
			found = found || y
		}
		return !found
	}, nil)
	return found
}

// first returns the name of the parameter that is declared first.
func first(of map[*Var]bool) string {
	return slices.MinFunc(slices.Collect(maps.Keys(of)), func(v, w *Var) int { return cmp.Compare(v.Ident.Span().Start, w.Ident.Span().Start) }).Name
}
