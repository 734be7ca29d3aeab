package check

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: warnings about programs without errors. A warning is given only if it is certain, so
// that it is always worth reading.

// warnings checks a whole program that has no errors.
func (c *checker) warnings(f *ast.File) {
	c.unused()
	c.stores(f)
	c.unassigned()
	c.unusedParameters(f)
	for _, b := range f.Blocks {
		if b.Kind == ast.Model {
			c.modelWarnings(f, b)
		}
	}
	c.domains(f)
	c.equalities(f)
	c.pedantic(f)
}

// unused warns about variables whose value is never read: local variables, and transformed data,
// which are not output.
func (c *checker) unused() {
	for _, v := range c.info.Defs {
		if _, ok := v.Decl.(*ast.VarDecl); !ok || v.read || v.Global && v.Block != ast.TransformedData {
			continue
		}
		c.report(diag.Warnf(diag.Unused, v.Ident.Span(), "the value of `%s` is never used", v.Name), "", "")
	}
}

// stores finds the variables that are assigned.
func (c *checker) stores(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.Assign); ok {
			for u := range ast.Targets(s.LHS) {
				if v := c.info.Uses[u]; v != nil {
					v.stored = true
				}
			}
		}
		return true
	}, nil)
}

// unassigned warns about scalars that are read but never assigned.
func (c *checker) unassigned() {
	for _, v := range c.info.Defs {
		d, ok := v.Decl.(*ast.VarDecl)
		if !ok || d.Init != nil || v.stored || !v.read || !v.Type.IsScalar() || v.Global && (v.Block == ast.Data || v.Block == ast.Parameters) {
			continue
		}
		what := "It is NaN."
		if v.Type.Equal(types.IntType) {
			what = "It is the least integer."
		}
		c.report(diag.Warnf(diag.Unassigned, v.Ident.Span(), "`%s` is used but never given a value", v.Name), what, "")
	}
}

// unusedParameters warns about parameters without bounds that neither the model nor the transformed
// parameters use, and refuses counts. Within two bounds, such a parameter is uniform.
func (c *checker) unusedParameters(f *ast.File) {
	p, m := f.Block(ast.Parameters), f.Block(ast.Model)
	if p == nil || m == nil {
		return
	}
	used := map[*Var]bool{}
	for _, b := range []*ast.Block{p, f.Block(ast.TransformedParameters), m} {
		if b == nil {
			continue
		}
		ast.Inspect(b, func(n ast.Node) bool {
			if v, ok := n.(*ast.VarExpr); ok {
				used[c.info.Uses[v]] = true
			}
			return true
		}, nil)
	}
	for _, s := range p.Stmts {
		v := c.info.Defs[s]
		if v == nil || used[v] || v.Type.Kind == types.Tuple {
			continue
		}
		if v.bounds().bounded() {
			continue
		}
		if d, ok := v.Decl.(*ast.VarDecl); ok && v.Type.Kind == types.Int && hasBound(d.Type, "lower") && !hasBound(d.Type, "upper") {
			// Its sum would not end. Binding refuses arrays of which only some elements are used.
			c.report(diag.Errorf(diag.DiscreteParameter, v.Ident.Span(), "`%s` has no upper bound, and no statement gives it a distribution", v.Name),
				"All its values would be equally probable.", "give it a distribution, or an upper bound that data decide")
			continue
		}
		c.report(diag.Warnf(diag.NoPrior, v.Ident.Span(), "the density does not depend on the parameter `%s`", v.Name),
			"Without a distribution, or bounds on both sides, it has no posterior: the sampler would wander off.", "give it a distribution, or remove it")
	}
}

// modelWarnings checks the distribution statements of the model.
func (c *checker) modelWarnings(f *ast.File, b *ast.Block) {
	adjusted := map[string]bool{} // variables in terms that are added to the target
	for _, b := range f.Blocks {
		if b.Kind == ast.Functions {
			continue
		}
		ast.Inspect(b, func(n ast.Node) bool {
			if t, ok := n.(*ast.TargetPlus); ok {
				for v := range variablesIn(t.Value) {
					adjusted[v.Name] = true
				}
			}
			return true
		}, nil)
	}
	ast.Inspect(b, func(n ast.Node) bool {
		if s, ok := n.(*ast.Tilde); ok {
			c.jacobianWarning(s, adjusted)
		}
		return true
	}, nil)
}

// parameter returns the parameter that an expression is or indexes, or nil.
func (c *checker) parameter(e ast.Expr) *Var {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.VarExpr:
			if v := c.info.Uses[x]; v != nil && v.Global && v.Block == ast.Parameters {
				return v
			}
			return nil
		default:
			return nil
		}
	}
}

// nonlinear lists functions of one argument for which a density needs the Jacobian of the change of
// variables.
var nonlinear = []string{"log", "exp", "sqrt", "square", "inv", "inv_sqrt", "inv_square", "logit", "inv_logit", "log10", "log2",
	"log1p", "log1m", "expm1", "cbrt", "exp2", "Phi", "inv_Phi", "tanh", "atanh", "sinh", "asinh", "inv_cloglog"}

// jacobianWarning warns about f(x) ~ … for a nonlinear f of a parameter x. f(x) may be the initial
// value of a transformed parameter. It gives no warning if a term with either variable is added to
// the target.
func (c *checker) jacobianWarning(s *ast.Tilde, adjusted map[string]bool) {
	f := ast.Unparen(s.Variate)
	var related []diag.Note
	if u, ok := f.(*ast.VarExpr); ok {
		t := c.info.Uses[u]
		if t == nil || t.Block != ast.TransformedParameters || adjusted[t.Name] {
			return
		}
		if d, ok := t.Decl.(*ast.VarDecl); ok && d.Init != nil {
			f = ast.Unparen(d.Init)
			related = append(related, note(f, quote(t.Name)+" is computed here"))
		}
	}
	var x ast.Expr
	switch e := f.(type) {
	case *ast.CallExpr:
		if len(e.Args) == 1 && slices.Contains(nonlinear, e.Func.Name) {
			x = e.Args[0]
		}
	case *ast.Binary:
		if k, ok := e.Y.(*ast.IntLit); e.Op == "^" && ok && k.Value > 1 {
			x = e.X
		}
	}
	if x == nil {
		return
	}
	v := c.parameter(x)
	if v == nil || adjusted[v.Name] {
		return
	}
	d := diag.Warnf(diag.NoJacobian, s.Variate.Span(), "a transformed parameter has a distribution, but no Jacobian")
	d.Detail = fmt.Sprintf("The density is that of `%s`, so that the log of the derivative of %s is missing.", v.Name, f.Span().Text())
	d.Related = related
	d.Fix = fmt.Sprintf("add it by target += …, or give `%s` itself a distribution", v.Name)
	c.diags.Add(d)
}

// deprecated lists functions that Stan will remove, and their replacements.
var deprecated = map[string]string{
	"integrate_ode":         "ode_rk45",
	"integrate_ode_rk45":    "ode_rk45",
	"integrate_ode_bdf":     "ode_bdf",
	"integrate_ode_adams":   "ode_adams",
	"algebra_solver":        "solve_powell",
	"algebra_solver_newton": "solve_newton",
	"lkj_cov":               "lkj_corr with a distribution of the scales",
	"lkj_cov_lpdf":          "lkj_corr with a distribution of the scales",
}

// deprecation warns, once, about a call of a function that will be removed.
func (c *checker) deprecation(at source.Span, name string) {
	now, ok := deprecated[name]
	if !ok || len(c.funcs[name]) > 0 || !c.firstTime(diag.DeprecatedForm, name) {
		return
	}
	d := diag.Warnf(diag.DeprecatedForm, at, "%s is deprecated in Stan", name)
	d.Fix = "use " + now
	c.diags.Add(d)
}
