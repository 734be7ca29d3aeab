package predict

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// Suffixes of the names of outputs.
const (
	meanSuffix     = "_mean"
	linkSuffix     = "_link"
	varianceSuffix = "_variance"
)

// moments describes how to compute the expected value or the linear predictor of an observation.
type moments struct {
	formula  ast.Expr // expression in y and the parameters' names
	params   []stdlib.Param
	function string // name of a function of the model that computes the value instead

	truncated bool // the distribution is truncated; the formula is for the distribution without truncation
	vector    bool // the value is a vector, such as the probabilities of all categories
}

// inverseLinks are inverse link functions, which models apply to linear predictors.
var inverseLinks = map[string]bool{
	"exp": true, "inv_logit": true, "Phi": true, "Phi_approx": true, "inv_cloglog": true, "square": true, "inv": true, "log1p_exp": true,
}

// distribution returns the name of a term's distribution. ok is true if the term is a density or,
// for expected values and complete draws, the probability of a censored observation, which has the
// same distribution.
func (t *term) distribution(kind Kind, complete bool) (dist string, ok bool) {
	if dist, ok := density(t.function); ok {
		return dist, t.whole
	}
	for _, s := range []string{"_lccdf", "_lcdf"} {
		if base, ok := strings.CutSuffix(t.function, s); ok {
			return base, !t.negative && (kind != Replicated || t.censored && complete)
		}
	}
	return "", false
}

// planExpected decides how to compute the mean, the linear predictor or the variance of a term's
// observations. If that is impossible, it returns the reason.
func (e *emitter) planExpected(t *term, p *plan, dist string, kind Kind) (reason string) {
	v := t.place.v
	for _, c := range e.under[t.at] {
		if t.whole && e.reads(c, func(u *check.Var) bool { return u == v }) {
			return "whether it has this distribution depends on the value of " + v.Name + " itself"
		}
	}
	what, suffix := "expected value", meanSuffix
	switch kind {
	case LinearPredictor:
		what, suffix = "linear predictor", linkSuffix
	case Variance:
		what, suffix = "variance", varianceSuffix
	}
	if t.user {
		name := dist + suffix
		if len(e.candidates(name)) == 0 {
			return fmt.Sprintf("there is no function %s for the %s of the distribution, with the arguments of its density", name, what)
		}
		p.moments = moments{function: name}
		e.given(t)
		return ""
	}
	m, ok := stdlib.MomentsOf(dist)
	text := m.Mean
	switch kind {
	case LinearPredictor:
		text = m.Link
	case Variance:
		text = m.Variance
	}
	switch {
	case !ok || text == "":
		return fmt.Sprintf("%s has no %s in closed form", dist, what)
	case len(m.Params) != len(p.args):
		return fmt.Sprintf("%s has other arguments", dist)
	}
	p.moments = moments{formula: formula(text, m.Params), params: m.Params, vector: m.Categories && (kind == Expected || m.LinkVector)}
	if t.place.of != "" && kind != LinearPredictor {
		if t.place.of != "log" || dist != "normal" || t.trunc != nil {
			return fmt.Sprintf("the %s of %s is known, but not that of %s", what, printer.Line(t.variate), v.Name)
		}
		lognormal, _ := stdlib.MomentsOf("lognormal")
		p.moments.formula = formula(lognormal.Mean, lognormal.Params)
		if kind == Variance {
			p.moments.formula = formula(lognormal.Variance, lognormal.Params)
		}
	}
	if t.trunc != nil && kind == Variance {
		return fmt.Sprintf("the variance of %s, truncated, is not known", dist)
	}
	if t.trunc != nil && kind == Expected {
		if !discrete(p.function) && dist != "normal" {
			return fmt.Sprintf("the expected value of %s, truncated, is not known", dist)
		}
		p.moments.truncated = true
	}
	if kind == LinearPredictor {
		e.stripLink(t, p)
	}
	if p.moments.vector {
		size, ok := e.categories(p.args[len(p.args)-1].expr, t)
		if !ok {
			return "the number of categories does not follow from the declarations: assign the vector to a variable that is declared with its size"
		}
		if strings.HasPrefix(dist, "ordered_") {
			size = binary("+", size, literal(1))
		}
		if e.vectors == nil {
			e.vectors = map[*check.Var]ast.Expr{}
		}
		if old := e.vectors[v]; old != nil && !ast.Equal(old, size) {
			return "its numbers of categories differ"
		}
		e.vectors[v] = size
	}
	e.given(t)
	return ""
}

// Categorical reports whether the values of a distribution are categories, which have no mean.
func Categorical(dist string) bool {
	m, _ := stdlib.MomentsOf(dist)
	return m.Categories
}

// given records that the distribution of observations depends on observed values of the same
// variable, if it does.
func (e *emitter) given(t *term) {
	e.observedBy(t)
	v := t.place.v
	for _, a := range t.args {
		if len(e.observed[v]) == 0 && e.readsValues(a, func(u *check.Var) bool { return u == v }) {
			e.observed[v] = append(e.observed[v], fmt.Sprintf("its distribution depends on other values of %s", v.Name))
		}
	}
}

// reserved matches the parameter names that are keywords of the language.
var reserved = regexp.MustCompile(`\b(lower|upper)\b`)

// formula parses an expression of package stdlib. It renames parameters whose names are keywords.
func formula(text string, params []stdlib.Param) ast.Expr {
	text = "generated quantities { real x = " + reserved.ReplaceAllString(text, "${1}_") + "; }"
	tree, _ := lang.Parse(source.NewFile("formula", text)) // a test parses all of them
	return tree.Blocks[0].Stmts[0].(*ast.VarDecl).Init
}

// filled returns the formula with the arguments in place of the parameters. It converts integers to
// reals, because the language divides two integers without remainder.
func (m *moments) filled(variate ast.Expr, args []ast.Expr, whole []bool) ast.Expr {
	values := map[string]ast.Expr{"y": variate}
	for i, p := range m.params {
		x := args[i]
		if whole[i] && !p.Int {
			x = asReal(x)
		}
		values[reserved.ReplaceAllString(p.Name, "${1}_")] = x
	}
	return ast.Rewrite(m.formula, nil, func(n ast.Node) ast.Node {
		if v, ok := n.(*ast.VarExpr); ok && values[v.Name] != nil {
			return values[v.Name]
		}
		return n
	}).(ast.Expr)
}

func asReal(x ast.Expr) ast.Expr {
	if l, ok := ast.Unparen(x).(*ast.IntLit); ok {
		return &ast.RealLit{Text: l.Text + ".0"}
	}
	return binary("*", &ast.RealLit{Text: "1.0"}, x)
}

// stripLink replaces the formula by the linear predictor inside an argument: eta for
// inv_logit(eta). Computing logit(inv_logit(eta)) would lose digits. A scale
// exp(eta) / tgamma(1 + 1 / shape) belongs to the mean exp(eta), so its predictor is eta, too.
func (e *emitter) stripLink(t *term, p *plan) {
	link, ok := ast.Unparen(p.moments.formula).(*ast.CallExpr)
	if !ok || len(link.Args) != 1 || link.Func.Name != "log" && link.Func.Name != "logit" {
		return
	}
	name, ok := link.Args[0].(*ast.VarExpr)
	if !ok {
		return
	}
	for i, q := range p.moments.params {
		if q.Name != name.Name || i >= len(t.args) {
			continue
		}
		inner := ast.Unparen(t.args[i])
		if q, ok := inner.(*ast.Binary); ok && (q.Op == "/" || q.Op == "./") {
			if g, ok := ast.Unparen(q.Y).(*ast.CallExpr); ok && g.Func.Name == "tgamma" {
				inner = ast.Unparen(q.X)
			}
		}
		c, ok := inner.(*ast.CallExpr)
		if !ok || len(c.Args) != 1 || !inverseLinks[c.Func.Name] || e.info.Calls[c] == nil || e.info.Calls[c].Func != nil {
			return
		}
		p.args[i] = argument{expr: rename(nil).expr(c.Args[0]), typ: e.typeOf(c.Args[0])}
		p.moments.formula = name
	}
}

// categories returns the number of elements of a vector as an expression of the sizes in
// declarations, because the size of an output must not depend on parameters.
func (e *emitter) categories(x ast.Expr, t *term) (size ast.Expr, ok bool) {
	if x == nil { // from plain: the vector is a row of data times a matrix of coefficients
		return e.extent(t.args[len(t.args)-1], 1)
	}
	return e.extent(x, 0)
}

// extent returns the size of dimension k of an expression.
func (e *emitter) extent(x ast.Expr, k int) (size ast.Expr, ok bool) {
	switch x := ast.Unparen(x).(type) {
	case *ast.VarExpr:
		if d := e.declared(x.Name); d != nil {
			if sizes := sizesOf(d.Type, e.info.Defs[d].Type); k < len(sizes) {
				return sizes[k], !e.local(sizes[k])
			}
		}
	case *ast.IndexExpr:
		d := 0 // the dimension of the variable that is dimension k of the part
		for i, y := range x.Indices {
			if _, all := y.(*ast.All); all && k == 0 {
				return e.extent(x.X, i)
			} else if all {
				k--
			} else if _, single := y.(*ast.Single); !single {
				return nil, false
			}
			d = i + 1
		}
		return e.extent(x.X, d+k)
	case *ast.Unary:
		if x.Op == "'" {
			if size, ok := e.extent(x.X, 1-k); ok {
				return size, true
			}
		}
		return e.extent(x.X, k)
	case *ast.Binary:
		if x.Op == "*" && k == 1 {
			return e.extent(x.Y, k)
		}
		if size, ok := e.extent(x.X, k); ok {
			return size, true
		}
		return e.extent(x.Y, k)
	case *ast.RowVectorExpr:
		if k == 0 && len(x.Elems) > 0 && e.typeOf(x.Elems[0]).IsScalar() {
			return literal(int64(len(x.Elems))), true
		}
	case *ast.CallExpr:
		if len(x.Args) == 1 && elementwise[x.Func.Name] {
			return e.extent(x.Args[0], k)
		}
	}
	return nil, false
}

// elementwise lists functions whose result has the size of the argument.
var elementwise = map[string]bool{"softmax": true, "log_softmax": true, "exp": true, "log": true, "inv_logit": true, "cumulative_sum": true}

// declared returns the declaration of the variable with this name; nil if there are several.
func (e *emitter) declared(name string) *ast.VarDecl {
	var found *ast.VarDecl
	for n, v := range e.info.Defs {
		d, ok := n.(*ast.VarDecl)
		if !ok || v.Name != name {
			continue
		}
		if found != nil {
			return nil
		}
		found = d
	}
	return found
}

// local reports whether an expression uses variables that are not global.
func (e *emitter) local(x ast.Expr) bool {
	found := false
	ast.Inspect(x, func(n ast.Node) bool {
		if y, ok := n.(*ast.VarExpr); ok {
			global := false
			for _, v := range e.info.Defs {
				global = global || v.Name == y.Name && v.Global
			}
			found = found || !global
		}
		return !found
	}, nil)
	return found
}

// declareExpected declares the output of a variable with these sizes.
func (e *emitter) declareExpected(v *check.Var, name string, sizes []ast.Expr) ast.Stmt {
	if k := e.vectors[v]; k != nil {
		return declare(&ast.TypeExpr{ArrayDims: sizes, Elem: types.VectorType.Kind.String(), Sizes: []ast.Expr{k}}, name, nil)
	}
	t := v.Type
	if t.Scalar() == types.Int {
		t = types.RealType.Array(t.Dims)
	}
	return declare(typeExpr(t, sizes), name, nil)
}

// expect returns the statements that compute the outputs for a term's observations.
func (e *emitter) expect(t *term) []ast.Stmt {
	p := e.plans[planKey{t.at, t.variate}]
	name, rank := e.names[t.place.v], t.place.v.Type.Rank()
	dist, _ := t.distribution(e.kind, e.complete)
	if q, _, ok := plain(dist, e.typeOf(t.variate), p.args); ok && !t.user {
		dist = q
	}
	observation := e.typeOf(t.variate)
	if p.each {
		observation, _ = observation.Elem()
	}
	return e.each(t, &p, func(i, variate ast.Expr, args []ast.Expr) []ast.Stmt {
		whole := make([]bool, len(args))
		var of types.Type // type of the argument that gives the value, if there is one
		for k, a := range p.args {
			at := a.typ
			if p.each && p.split[k] {
				at, _ = at.Elem()
			}
			whole[k] = at.IsScalar() && at.Kind == types.Int
			if f, ok := p.moments.formula.(*ast.VarExpr); ok && k < len(p.moments.params) && f.Name == p.moments.params[k].Name {
				of = at
			}
		}
		var value ast.Expr
		switch m := &p.moments; {
		case m.function != "":
			value = call(m.function, args...)
		case m.truncated:
			value = e.truncatedMean(t, &p, dist, args)
		default:
			value = m.filled(variate, args, whole)
		}
		switch {
		case observation.Dims > 0 && observation.Rank() == 1: // counts of categories
			value = call("to_array_1d", value)
		case observation.Kind == types.RowVector && p.moments.function == "" && of.Kind != types.RowVector,
			observation.Kind == types.Vector && of.Kind == types.RowVector:
			value = transposed(value)
		}
		at := t.place.at(e.now, i, rank)
		return []ast.Stmt{e.unlessKnown(t.place.v, at, assign(indexed(variable(name), at), "=", value))}
	})
}

// truncatedMean returns a call of a function that computes the mean of a truncated distribution.
func (e *emitter) truncatedMean(t *term, p *plan, dist string, args []ast.Expr) ast.Expr {
	key := dist + meanSuffix
	if e.truncated == nil {
		e.truncated = map[string]string{}
	}
	if e.truncated[key] == "" {
		name := e.freshEnding("truncated_"+dist, meanSuffix)
		e.truncated[key] = name
		text := normalTruncatedMean
		if discrete(p.function) {
			text = discreteTruncatedMean
		}
		text = strings.ReplaceAll(text, "MEAN", meanOf(dist))
		e.addTruncated(name, p.function, text, "least most lo hi all_of total j k term")
	}
	lower, upper := e.bounds(t, discrete(p.function))
	return call(e.truncated[key], append([]ast.Expr{lower, upper}, args...)...)
}

// meanOf returns the mean of a distribution of numbers, as an expression of p1, p2 and so on.
func meanOf(dist string) string {
	m, _ := stdlib.MomentsOf(dist)
	text := m.Mean
	for i, p := range m.Params {
		text = regexp.MustCompile(`\b`+p.Name+`\b`).ReplaceAllString(text, fmt.Sprintf("p%d", i+1))
	}
	return text
}

const normalTruncatedMean = `
  real NAME(PARAMS) {
    real lo = (least - p1) / p2;
    real hi = (most - p1) / p2;
    real all_of = lo > 0 ? log_diff_exp(std_normal_lccdf(lo), std_normal_lccdf(hi)) : log_diff_exp(std_normal_lcdf(hi), std_normal_lcdf(lo));
    real total = p1 + p2 * (exp(std_normal_lpdf(lo) - all_of) - exp(std_normal_lpdf(hi) - all_of));
    return fmin(fmax(total, least), most);
  }
`

// If there is no upper bound and few values are below the lower bound, the mean is computed from
// the mean of the untruncated distribution. Otherwise the probabilities between the bounds are
// summed until they are negligible.
const discreteTruncatedMean = `
  real NAME(PARAMS) {
    int lo = max(least, LEAST);
    int hi = min(most, MOST);
    if (lo > hi) {
      reject("no value between the bounds ", least, " and ", most, " is possible");
    }
    real total = 0;
    real all_of = 0;
    if (hi == UNBOUNDED) {
      all_of = lo > LEAST ? DIST_lccdf(lo - 1 | GIVEN) : 0;
      if (all_of > -5) {
        for (j in LEAST:(lo - 1)) {
          total += j * exp(DIST_lpmf(j | GIVEN));
        }
        return ((MEAN) - total) / exp(all_of);
      }
    } else {
      all_of = lo > LEAST ? log_diff_exp(DIST_lcdf(hi | GIVEN), DIST_lcdf(lo - 1 | GIVEN)) : DIST_lcdf(hi | GIVEN);
    }
    int k = lo;
    while (k <= hi) {
      real term = k * exp(DIST_lpmf(k | GIVEN) - all_of);
      total += term;
      if (k > (MEAN) && term < 1e-17 * total) {
        break;
      }
      k += 1;
    }
    return total;
  }
`
