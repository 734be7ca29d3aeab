package check

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: warnings about arguments outside the domains of distributions. The library declares
// the domain of each argument.

// Domains may be implemented by the densities, distribution functions and generators of a Universe.
// It returns the domain of each argument, the variate first if there is one.
type Domains interface{ Domains() []types.Domain }

// use is an argument of a call of a distribution.
type use struct {
	dist    string // name of the distribution, without suffix
	variate bool
	arg     int // number of the argument, from 1, not counting the variate
	domain  types.Domain
	e       ast.Expr
	typ     types.Type // type that the call needs
}

// domains checks all calls of distributions.
func (c *checker) domains(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Tilde:
			c.domainsOf(n, n.Dist.Name, append([]ast.Expr{n.Variate}, n.Args...), n.Trunc == nil, true)
			c.uniformWarning(n)
		case *ast.CallExpr:
			name, suffix := SplitSuffix(n.Func.Name)
			c.domainsOf(n, name, n.Args, TakesBar(suffix) && strings.HasPrefix(suffix, "_lp") || strings.HasPrefix(suffix, "_lup"), suffix != "_rng")
		}
		return true
	}, nil)
}

// domainsOf checks the arguments of one call against their domains. density says that the variate
// is that of a whole density, conditional that the call has a variate.
func (c *checker) domainsOf(n ast.Node, name string, args []ast.Expr, density, conditional bool) {
	call := c.info.Calls[n]
	if call == nil || call.Overload == nil {
		return
	}
	lib, ok := typed(call.Overload).(Domains)
	if !ok {
		return
	}
	for i, d := range lib.Domains() {
		if i >= len(args) || i >= len(call.Match.Params) || d.In == (types.Constraint{}) || i == 0 && conditional && !density {
			continue
		}
		u := use{name, i == 0 && conditional, i, d, args[i], call.Match.Params[i]}
		if !conditional {
			u.arg++
		}
		switch {
		case d.In.Structured():
			c.structureWarning(u)
		default:
			c.numberWarning(u)
		}
	}
}

// is describes the argument: "the scale parameter of normal".
func (u use) is() string {
	switch {
	case u.variate:
		return "the variate of " + u.dist
	case u.domain.Is != "":
		return "the " + strings.ToLower(u.domain.Is[:1]) + u.domain.Is[1:] + " of " + u.dist
	}
	return fmt.Sprintf("argument %d of %s", u.arg, u.dist)
}

// numberWarning warns about constants outside the domain of an argument, and about parameters that
// can leave it.
func (c *checker) numberWarning(u use) {
	if x, ok := constant(u.e); ok {
		if !u.domain.In.Contains(x) {
			c.report(diag.Warnf(diag.ConstantOutside, u.e.Span(), "%s must be %s, but is %s", u.is(), u.domain.In, printer.Line(u.e)), "", "")
		}
		return
	}
	below, above := c.reach(u.e).leaves(u.domain.In)
	if !below && !above {
		return
	}
	v := c.parameter(u.e)
	code, d := diag.OutsideDomain, diag.Diagnostic{}
	switch {
	case v != nil && u.variate:
		code = diag.OutsideSupport
		d = diag.Warnf(code, u.e.Span(), "the parameter `%s` can leave the support of its distribution %s", v.Name, u.dist)
		d.Detail = "Such points have no probability or are rejected, which the sampler meets again and again."
	case v != nil:
		d = diag.Warnf(code, u.e.Span(), "%s must be %s, but the parameter `%s` need not be", u.is(), u.domain.In, v.Name)
		d.Detail = "Points where it is not are rejected, which the sampler meets again and again."
	case u.variate:
		return // for a sum, the program may give the sum a distribution
	default:
		d = diag.Warnf(code, u.e.Span(), "%s must be %s, but this need not be", u.is(), u.domain.In)
		d.Detail = "Points where it is not are rejected, which the sampler meets again and again."
	}
	if v != nil {
		if !c.firstTime(code, v.Name) {
			return
		}
		d.Related = []diag.Note{note(&v.Ident, "it is declared here")}
		d.Fix = "declare it with " + v.within(u.domain.In)
		d.Edits = v.declareWith(v.within(u.domain.In))
	} else {
		d.Fix = c.link(u)
		if init := c.meaning(u.e); init != nil {
			d.Related = []diag.Note{note(init, "it is computed here")}
		}
	}
	c.diags.Add(d)
}

// within returns the bounds to declare, so that the values of a variable are in a set.
func (v *Var) within(in types.Constraint) string {
	lo, hi := "", ""
	if d, ok := v.Decl.(*ast.VarDecl); ok {
		for _, b := range d.Type.Bounds {
			if !b.Restricts() {
				continue
			}
			switch x, known := constant(b.Value); {
			case b.Kind == "lower" && (!known || x >= in.Lo):
				lo = printer.Line(b.Value)
			case b.Kind == "upper" && (!known || x <= in.Hi):
				hi = printer.Line(b.Value)
			}
		}
	}
	if lo == "" && !math.IsInf(in.Lo, 0) {
		lo = fmt.Sprintf("%g", in.Lo)
	}
	if hi == "" && !math.IsInf(in.Hi, 0) {
		hi = fmt.Sprintf("%g", in.Hi)
	}
	switch {
	case lo == "":
		return "<upper=" + hi + ">"
	case hi == "":
		return "<lower=" + lo + ">"
	}
	return "<lower=" + lo + ", upper=" + hi + ">"
}

// declareWith returns the edit that declares a variable with other lower and upper bounds. It
// returns nil if the declaration has several names, or a constraint of another kind.
func (v *Var) declareWith(bounds string) []diag.Edit {
	d, ok := v.Decl.(*ast.VarDecl)
	if !ok || v.Constraint != types.Unconstrained && v.Constraint != types.LowerUpper || d.Type.Elem == "tuple" {
		return nil
	}
	file := d.Span().File
	alone := strings.TrimSpace(file.Text[d.Type.Span().End:d.Name.Span().Start]) == "" &&
		strings.HasSuffix(d.Span().Text(), ";") // the declaration has no other names
	at := before(d.Type)
	if n := len(d.Type.ArrayDims); n > 0 {
		at = after(d.Type.ArrayDims[n-1])
	}
	i := strings.Index(file.Text[at.Start:d.Type.Span().End], d.Type.Elem)
	if i < 0 || !alone {
		return nil
	}
	at.Start += i + len(d.Type.Elem)
	at.End = at.Start
	if n := len(d.Type.Bounds); n > 0 {
		last := d.Type.Bounds[n-1].Span().End
		close := strings.IndexByte(file.Text[last:], '>')
		open := strings.IndexByte(file.Text[at.Start:], '<')
		if close < 0 || open < 0 {
			return nil
		}
		at.Start, at.End = at.Start+open, last+close+1
	}
	return []diag.Edit{{Span: at, Text: bounds}}
}

// link returns the function to apply to an unbounded expression, such as exp for a positive
// argument.
func (c *checker) link(u use) string {
	for _, suffix := range []string{"_log", "_logit"} {
		name := u.dist + suffix
		if u.arg == 1 && (c.exists(name+"_lpmf") || c.exists(name+"_lpdf")) {
			return "write " + name + ", which takes any number here"
		}
	}
	switch in := u.domain.In; {
	case in.Lo == 0 && in.Hi == 1:
		return "map it to the domain, for example by inv_logit(…)"
	case in.Lo == 0 && math.IsInf(in.Hi, 1):
		return "map it to the domain, for example by exp(…)"
	}
	return ""
}

// uniformWarning warns about a parameter that can leave the interval of its uniform distribution,
// which the arguments define.
func (c *checker) uniformWarning(s *ast.Tilde) {
	v := c.parameter(s.Variate)
	if v == nil || s.Dist.Name != "uniform" || len(s.Args) != 2 || s.Trunc != nil || v.Constraint.Structured() {
		return
	}
	r := v.bounds()
	in := types.Constraint{Lo: math.NaN(), Hi: math.NaN()}
	if x, ok := constant(s.Args[0]); ok {
		in.Lo = x
	}
	if x, ok := constant(s.Args[1]); ok {
		in.Hi = x
	}
	below, above := r.leaves(in)
	if !below && !above && r.bounded() || !c.firstTime(diag.OutsideSupport, v.Name) {
		return
	}
	d := diag.Warnf(diag.OutsideSupport, s.Variate.Span(), "the parameter `%s` can leave the support of its distribution %s", v.Name, s.Dist.Name)
	d.Detail = "Such points have no probability or are rejected, which the sampler meets again and again."
	d.Related = []diag.Note{note(&v.Ident, "it is declared here")}
	bounds := fmt.Sprintf("<lower=%s, upper=%s>", printer.Line(s.Args[0]), printer.Line(s.Args[1]))
	d.Fix = "declare it with " + bounds
	d.Edits = v.declareWith(bounds)
	c.diags.Add(d)
}

// structureWarning warns about a parameter that is declared without the structure that an argument
// must have: a matrix for a covariance matrix, a vector for a simplex, a Cholesky factor for the
// matrix that it is the factor of.
func (c *checker) structureWarning(u use) {
	v := c.parameter(u.e)
	want := u.domain.In.Kind
	if v == nil || v.Type.Kind != u.typ.Kind || v.Constraint.Within(want) {
		return
	}
	code := diag.OutsideDomain
	if u.variate {
		code = diag.OutsideSupport
	}
	if !c.firstTime(code, v.Name) {
		return
	}
	d := diag.Warnf(code, u.e.Span(), "%s must be %s, but the parameter `%s` need not be", u.is(), u.domain.In, v.Name)
	d.Related = []diag.Note{note(&v.Ident, "it is declared here")}
	d.Fix = "declare it as " + want.String()
	plain, ofFactors := strings.CutSuffix(u.dist, "_cholesky")
	other := ""
	switch {
	case !v.Constraint.Structured():
	case want.Factor() && ofFactors && !v.Constraint.Factor():
		other = plain
	case v.Constraint.Factor() && !want.Factor() && v.Constraint != types.Unconstrained:
		other = u.dist + "_cholesky"
	}
	if other != "" && c.exists(other+"_lpdf") {
		d.Fix = "write `" + other + "`"
		if v.Constraint.Factor() {
			d.Summary = fmt.Sprintf("%s must be %s, but `%s` is a Cholesky factor", u.is(), u.domain.In, v.Name)
		} else {
			d.Summary = fmt.Sprintf("%s must be %s, but `%s` is a whole matrix", u.is(), u.domain.In, v.Name)
		}
	}
	c.diags.Add(d)
}

// equalities warns about tests for equality of reals that depend on parameters.
func (c *checker) equalities(f *ast.File) {
	for _, b := range f.Blocks {
		if b.Kind != ast.TransformedParameters && b.Kind != ast.Model {
			continue
		}
		ast.Inspect(b, func(n ast.Node) bool {
			e, ok := n.(*ast.Binary)
			if !ok || e.Op != "==" && e.Op != "!=" {
				return true
			}
			x, y := c.info.Types[e.X].Type, c.info.Types[e.Y].Type
			if x.Equal(types.RealType) && c.ofParameter(e.X) || y.Equal(types.RealType) && c.ofParameter(e.Y) {
				never := "never"
				if e.Op == "!=" {
					never = "always"
				}
				d := diag.Warnf(diag.RealEquality, e.OpPos, "this is %s true: parameters decide it, which are real numbers", never)
				d.Detail = "That a parameter has exactly one value has no probability."
				c.diags.Add(d)
			}
			return true
		}, nil)
	}
}

// ofParameter reports whether an expression is a parameter, or a sum, product or smooth function of
// parameters. Results of rounding or of conditions may well be equal, and do not count.
func (c *checker) ofParameter(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.VarExpr, *ast.IndexExpr:
		return c.parameter(e) != nil || c.meaning(e) != nil && c.ofParameter(c.meaning(e))
	case *ast.Unary:
		return c.ofParameter(e.X)
	case *ast.Binary:
		return strings.Contains("+ - * / .* ./ ^ .^", e.Op) && (c.ofParameter(e.X) || c.ofParameter(e.Y))
	case *ast.CallExpr:
		return len(e.Args) == 1 && slices.Contains(nonlinear, e.Func.Name) && c.ofParameter(e.Args[0])
	}
	return false
}
