package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// tilde checks y ~ dist(args), which is dist_lpdf or dist_lpmf of (y, args) without constant terms.
func (c *checker) tilde(s *ast.Tilde) {
	es := append([]ast.Expr{s.Variate}, s.Args...)
	args, ok := c.args(es)
	if before := len(c.diags); !c.addsToTarget(s, "~") && c.fn == nil && c.block == ast.GeneratedQuantities && len(c.diags) > before {
		c.diags[before].Fix = fmt.Sprintf("to draw at random, write %s = %s_rng(…)", brief(s.Variate.Span(), "y"), s.Dist.Name)
		if n := len(s.Args); n > 0 {
			list := source.Span{File: s.Span().File, Start: s.Args[0].Span().Start, End: s.Args[n-1].Span().End}
			c.diags[before].Fix = fmt.Sprintf("to draw at random, write %s = %s_rng(%s)", brief(s.Variate.Span(), "y"), s.Dist.Name, brief(list, "…"))
		}
	}
	truncated := ok
	if s.Trunc != nil {
		for _, b := range []ast.Expr{s.Trunc.Lower, s.Trunc.Upper} {
			if b == nil {
				continue
			}
			if o := c.expr(b); o.Type.Kind != types.Invalid && !o.Type.Equal(types.IntType) && !o.Type.Equal(types.RealType) {
				c.report(diag.Errorf(diag.TypeMismatch, b.Span(), "a bound of truncation must be a scalar, but is %s", o.Type), "", "")
				truncated = false
			}
		}
	}
	name := s.Dist.Name
	base, suffix := SplitSuffix(name)
	if TakesBar(suffix) {
		if suffix == "_lpdf" || suffix == "_lpmf" || suffix == "_lupdf" || suffix == "_lupmf" {
			d := diag.Errorf(diag.TildeSuffix, s.Dist.Span(), "the name after ~ has no suffix")
			d.Fix = "write `" + base + "`"
			d.Replace(base)
			c.diags.Add(d)
		} else {
			c.report(diag.Errorf(diag.TildeSuffix, s.Dist.Span(), "%s is not a density", name),
				"", "add a distribution function to the target: target += "+base+"_lcdf(… | …)")
		}
		return
	}
	pdf, pmf := c.candidates(name+"_lpdf"), c.candidates(name+"_lpmf")
	if len(pdf)+len(pmf) == 0 {
		c.unknownDistribution(s)
		return
	}
	if !ok || !c.raggedArguments(name, len(c.funcs[name+"_lpdf"])+len(c.funcs[name+"_lpmf"]) > 0, es, args) {
		return
	}
	var found *Call
	for _, k := range []struct {
		suffix string
		cands  []types.Overload
	}{{"_lpdf", pdf}, {"_lpmf", pmf}} {
		r := c.choose(k.cands, es, args)
		if r.fail != nil || found != nil && found.Match.Promotions <= r.match.Promotions {
			continue
		}
		found = r.call(name + k.suffix)
		found.Propto = true
		if !c.functorRules(r, es, args) {
			return
		}
		c.record(r)
	}
	if found != nil {
		c.info.Calls[s] = found
		c.deprecation(s.Dist.Span(), name)
		if s.Trunc != nil && truncated {
			c.truncation(s, args)
		}
		return
	}
	if !anyInvalid(pdf) && !anyInvalid(pmf) {
		c.badDistribution(s, es, args, pdf, pmf)
	}
}

// badDistribution reports arguments that match neither the density nor the mass function of a
// distribution.
func (c *checker) badDistribution(s *ast.Tilde, es []ast.Expr, args []TypeLevel, pdf, pmf []types.Overload) {
	cands := pdf
	if len(cands) == 0 {
		cands = pmf
	}
	ts, params := split(args)
	_, _, fail := types.ResolveLevels(cands, ts, params)
	if fail == nil {
		return
	}
	if ts[0].Scalar() == types.Real && len(pdf) == 0 && !fail.Ambiguous && fail.Candidates[0].Fault.Count == 0 && fail.Candidates[0].Fault.Arg == 0 {
		c.report(diag.Errorf(diag.IntVariate, s.Variate.Span(), "%s is a distribution of integers, but this is %s", s.Dist.Name, ts[0]),
			"", "declare the variable as int, or as array[…] int if it has several values",
			c.declaredAt(s.Variate))
		return
	}
	c.noOverload(&s.Dist, s.Dist.Name, es, ts, 1, fail)
}

// truncation checks that the distribution functions exist that normalise a truncated distribution.
func (c *checker) truncation(s *ast.Tilde, args []TypeLevel) {
	if v := args[0].Type; !elementwise(v) {
		d := diag.Errorf(diag.NoTruncation, s.Variate.Span(), "variates of type %s cannot be truncated", v)
		d.Detail = "A truncated variate is a number, a vector, or an array of numbers."
		c.diags.Add(d)
		return
	}
	elements := []TypeLevel(nil) // the elements of the arguments, if some are containers
	if s.Trunc.Lower != nil && s.Trunc.Upper != nil && slices.ContainsFunc(args[1:], func(a TypeLevel) bool { return !a.Type.IsScalar() }) {
		for _, a := range args {
			if elem, ok := a.Type.Elem(); ok {
				a.Type = elem
			}
			elements = append(elements, a)
		}
	}
	for _, b := range []ast.Expr{s.Trunc.Lower, s.Trunc.Upper} {
		if b == nil {
			continue
		}
		o := c.info.Types[b]
		if o.Type.Kind == types.Invalid {
			return
		}
		for _, suffix := range []string{"_lcdf", "_lccdf"} {
			cands := c.candidates(s.Dist.Name + suffix)
			if len(cands) == 0 {
				d := diag.Errorf(diag.NoTruncation, s.Trunc.Span(), "%s cannot be truncated", s.Dist.Name)
				d.Detail = "There is no function " + s.Dist.Name + suffix + ", from which the probability between the bounds is computed."
				d.Fix = "leave the truncation out; a parameter is restricted by the bounds of its declaration"
				if same := untransformed[s.Dist.Name]; same != "" {
					d.Fix = "write " + same + ", which can"
				}
				c.diags.Add(d)
				return
			}
			if !c.truncationCall(s, TruncationCall{b, suffix, false}, cands, append([]TypeLevel{o}, args[1:]...)) {
				return
			}
			if elements != nil && !c.truncationCall(s, TruncationCall{b, suffix, true}, cands, append([]TypeLevel{o}, elements[1:]...)) {
				return
			}
		}
	}
}

// untransformed maps a distribution to the one whose distribution functions it uses.
var untransformed = map[string]string{
	"poisson_log":        "poisson(exp(…))",
	"bernoulli_logit":    "bernoulli(inv_logit(…))",
	"binomial_logit":     "binomial(n, inv_logit(…))",
	"neg_binomial_2_log": "neg_binomial_2(exp(…), phi)",
}

// elementwise reports whether a type is a scalar, a list of scalars, or a matrix.
func elementwise(t types.Type) bool {
	elem, ok := t.Elem()
	return !ok || elem.IsScalar() || t.Kind == types.Matrix && t.Dims == 0
}

// truncationCall resolves one of the calls that a truncation needs.
func (c *checker) truncationCall(s *ast.Tilde, key TruncationCall, cands []types.Overload, args []TypeLevel) bool {
	ts, params := split(args)
	name := s.Dist.Name + key.Suffix
	r := resolution{}
	r.overload, r.match, r.fail = types.ResolveLevels(cands, ts, params)
	if r.fail == nil {
		c.info.Truncations[key] = r.call(name)
		return true
	}
	d := diag.Errorf(diag.NoTruncation, key.Bound.Span(), "%s with these arguments cannot be truncated here", s.Dist.Name)
	d.Detail = fmt.Sprintf("%s does not take (%s).", name, typeList(ts))
	if key.Element {
		d.Detail += "\nBetween two bounds it is called for each element of arguments that are containers."
	}
	c.diags.Add(d)
	return false
}

// declaredAt returns a note at the declaration of the variable that an expression is or indexes.
func (c *checker) declaredAt(e ast.Expr) diag.Note {
	for {
		switch x := e.(type) {
		case *ast.Paren:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.VarExpr:
			if v := c.info.Uses[x]; v != nil {
				return note(&v.Ident, quote(v.Name)+" is declared here")
			}
			return diag.Note{}
		default:
			return diag.Note{}
		}
	}
}

// unknownDistribution reports, once, a name for which there is neither _lpdf nor _lpmf.
func (c *checker) unknownDistribution(s *ast.Tilde) {
	name := s.Dist.Name
	if !c.firstTime(diag.UnknownDistribution, name) {
		return
	}
	d := diag.Errorf(diag.UnknownDistribution, s.Dist.Span(), "there is no distribution `%s`", name)
	near := c.nearest(name, func(yield func(string) bool) {
		for f := range c.functionNames() {
			if base, suffix := SplitSuffix(f); (suffix == "_lpdf" || suffix == "_lpmf") && !yield(base) {
				return
			}
		}
	})
	other := otherDistribution(name)
	switch {
	case other != "" && (near == "" || !strings.EqualFold(near, name)):
		d.Fix = other
		d.Edits = replacement(s.Dist.Span(), other)
	case near != "":
		d.Fix = "did you mean " + quote(near) + "?"
		d.Replace(near)
	case c.exists(name):
		d.Detail = "There is a function " + quote(name) + ", but ~ needs a density: " + name + "_lpdf or " + name + "_lpmf."
	default:
		d.Fix = "`ppl doc` lists the distributions; define your own as a function " + name + "_lpdf or " + name + "_lpmf"
	}
	if d.Fix == "" && strings.Contains(name, "_") {
		d.Detail = "~ needs a function " + name + "_lpdf or " + name + "_lpmf, of the library or your own."
	}
	c.diags.Add(d)
}
