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

// call types f(args). The result may be Void.
func (c *checker) call(e *ast.CallExpr) TypeLevel {
	name := e.Func.Name
	args, ok := c.args(e.Args)
	cands := c.candidates(name)
	if len(cands) == 0 || c.lookup(name) != nil && len(c.universe.Lookup(normalised(name))) == 0 {
		c.unknownFunction(e.Func)
		return invalid
	}
	c.callRules(e)
	if !ok || !c.raggedArguments(name, len(c.funcs[normalised(name)]) > 0, e.Args, args) {
		return invalid
	}
	before := len(c.diags)
	call := c.resolve(&e.Func, name, cands, e.Args, args)
	if call == nil {
		if v := c.lookup(name); v != nil && len(c.diags) == before+1 {
			d := &c.diags[before]
			d.Summary = quote(name) + " is also a function: " + d.Summary
			d.Related = append(d.Related, note(&v.Ident, "the variable is declared here"))
			d.Fix = "for a product with the variable, write `" + name + " * (…)`"
			if at := e.Func.Span(); len(e.Args) == 1 {
				at.Start = at.End
				d.Edits = []diag.Edit{{Span: at, Text: " * "}}
			}
		}
		return invalid
	}
	call.Propto = Unnormalised(name)
	c.deprecation(e.Func.Span(), name)
	c.info.Calls[e] = call
	return result(call, args)
}

// args types the arguments of a call, some of which may be functions; ok is false if one is
// Invalid.
func (c *checker) args(es []ast.Expr) (out []TypeLevel, ok bool) {
	ok = true
	for _, a := range es {
		o := c.argument(a)
		out = append(out, o)
		ok = ok && o.Type.Kind != types.Invalid
	}
	return out, ok
}

// result returns the type and level of a resolved call.
func result(call *Call, args []TypeLevel) TypeLevel {
	out := TypeLevel{Type: call.Match.Result}
	for _, a := range args {
		out.Level = max(out.Level, a.Level)
	}
	if discrete(out.Type) {
		out.Level = Data
	}
	return out
}

// resolve picks the overload of a call, and reports a call that fits none. The arguments must be
// valid.
func (c *checker) resolve(at ast.Node, name string, cands []types.Overload, es []ast.Expr, args []TypeLevel) *Call {
	r := c.choose(cands, es, args)
	if r.fail != nil {
		if !anyInvalid(cands) {
			ts, _ := split(args)
			c.noOverload(at, name, es, ts, 0, r.fail)
		}
		return nil
	}
	if !c.functorRules(r, es, args) {
		return nil
	}
	c.record(r)
	return r.call(normalised(name))
}

// anyInvalid reports whether the type of a candidate is unknown, so that the call cannot be
// checked.
func anyInvalid(cands []types.Overload) bool {
	for _, cand := range cands {
		if f, ok := cand.(*Func); ok && f.invalid {
			return true
		}
	}
	return false
}

// split separates types from levels.
func split(args []TypeLevel) (ts []types.Type, param []bool) {
	for _, a := range args {
		ts = append(ts, a.Type)
		param = append(param, a.Level == Param)
	}
	return ts, param
}

// noOverload reports that the arguments match no overload, or several equally well. If there is one
// candidate, the message is about the argument, else about the call. The first skip arguments are
// not in the parentheses, such as the variate before ~.
func (c *checker) noOverload(at ast.Node, name string, es []ast.Expr, ts []types.Type, skip int, fail *types.Failure) {
	if fail.Ambiguous {
		d := diag.Errorf(diag.AmbiguousCall, at.Span(), "the call %s(%s) is ambiguous", name, typeList(ts[skip:]))
		d.Detail = "It fits several forms with equally many promotions; convert an argument to choose one."
		c.diags.Add(withCandidates(d, fail, nil))
		return
	}
	functors := c.functorNotes(es)
	fail = relevant(fail, ts)
	best := fail.Candidates[0]
	// Only one overload takes this number of arguments, so assume that it is meant.
	single := len(fail.Candidates) == 1 || fail.Candidates[1].Fault.Count > 0 || fail.Candidates[1].Fault.Want == types.NoArguments
	if single && best.Fault.Count == 0 && best.Fault.Arg < len(es) && best.Fault.Want != types.NoArguments {
		d := diag.Errorf(diag.BadArguments, es[best.Fault.Arg].Span(), "%s of %s must be %s, but is %s",
			argument(name, best.Fault.Arg, skip), name, wanted(best.Fault), ts[best.Fault.Arg])
		d.Detail, d.Fix = best.Overload.String(), sparseAdvice(name, ts)
		if best.Fault.Type.Kind != types.Invalid {
			if advice := c.conversion(ts[best.Fault.Arg], best.Fault.Type); advice != "" && d.Fix == "" {
				d.Fix = helpFrom(advice)
			}
			if (name == "max" || name == "min") && ts[best.Fault.Arg].Equal(types.RealType) {
				d.Fix = "the greater and the smaller of two reals are fmax(x, y) and fmin(x, y)"
			}
		}
		if i, j, ok := exchanged(fail, ts); ok && skip == 0 {
			d.Fix = fmt.Sprintf("exchange arguments %d and %d", i+1, j+1)
			d.Edits = []diag.Edit{{Span: es[i].Span(), Text: es[j].Span().Text()}, {Span: es[j].Span(), Text: es[i].Span().Text()}}
		} else if strings.HasPrefix(best.Fault.Want, "vector") && ts[best.Fault.Arg].IsScalar() {
			d.Fix = "use rep_vector(…, n) to repeat a scalar"
		}
		if best.Fault.Want == types.NotData {
			d.Summary = fmt.Sprintf("%s of %s must be data", argument(name, best.Fault.Arg, skip), name)
			d.Fix = "local variables and function arguments count as parameters, but for arguments marked data"
		}
		if f, ok := best.Overload.(*Func); ok {
			d.Related = append(d.Related, note(&f.Decl.Name, "it is declared here"))
			d.Detail = ""
		}
		d.Related = append(d.Related, functors...)
		_, forwards := typed(best.Overload).(types.Laplace)
		if forwards {
			inTuple(&d, es[best.Fault.Arg], best.Fault.Type, ts[best.Fault.Arg])
		}
		if arg := es[best.Fault.Arg]; skip == 0 && !forwards && arg.Span().Begin().Line != at.Span().Begin().Line {
			// The message is about the whole call; a note has the position of the argument.
			d.Span = at.Span()
			d.Related = slices.Insert(d.Related, 0, note(arg, argument(name, best.Fault.Arg, skip)+" is here"))
		}
		c.diags.Add(d)
		return
	}
	if n, ok := onlyCount(fail); ok {
		d := diag.Errorf(diag.BadArguments, at.Span(), "%s takes %s, not %d", name, countOf(n-skip), len(ts)-skip)
		_, forwards := typed(fail.Candidates[0].Overload).(types.Laplace)
		if n < len(es) && (forwards || es[n].Span().Begin().Line == at.Span().Begin().Line) {
			d.Span = es[n].Span() // the first of the superfluous arguments
			d.Span.End = es[len(es)-1].Span().End
		}
		d.Fix = argumentNames(name, skip, best.Overload)
		if scalars := ts[min(skip, len(ts)):]; n == skip+1 && len(scalars) > 1 && !slices.ContainsFunc(scalars, func(t types.Type) bool { return !t.IsScalar() }) {
			fits := func(t types.Type) bool {
				_, ok := best.Overload.Match(append(slices.Clone(ts[:skip]), t))
				return ok
			}
			if fits(types.VectorType) && !fits(types.RealType) {
				first, last := es[skip].Span(), es[len(es)-1].Span()
				last.Start, first.End = last.End, first.Start
				d.Fix = "write the values as one vector: `[a, b]'`"
				d.Edits = []diag.Edit{{Span: first, Text: "["}, {Span: last, Text: "]'"}}
			}
		}
		if d.Fix == "" {
			d.Fix = countHelp(name, n, len(ts), skip)
		}
		d.Related = append(d.Related, functors...)
		c.diags.Add(withCandidates(d, fail, nil))
		return
	}
	d := diag.Errorf(diag.BadArguments, at.Span(), "%s does not take (%s)", name, typeList(ts[skip:]))
	d.Fix = sparseAdvice(name, ts)
	if skip > 0 {
		d.Summary = fmt.Sprintf("%s does not take (%s) for a variate of type %s", name, typeList(ts[skip:]), ts[0])
	}
	if x, ok := es[0].(*ast.VarExpr); ok && len(es) == 1 && slices.Contains(whole, name) {
		if v := c.info.Uses[x]; v != nil && c.block == ast.Functions && v.Type.Dims == 1 && v.Type.Rank() == 2 {
			d.Fix = fmt.Sprintf("go through the rows of `%s` by a loop; of a ragged array, the function can take all elements, as to_vector of it", v.Name)
		}
	}
	c.diags.Add(withCandidates(d, fail, ts))
}

// otherCounts has advice for functions that take another number of arguments in other languages,
// by name and number.
var otherCounts = map[string]string{
	"log 2":   "divide for another base: `log(x) / log(base)`",
	"round 2": "scale for decimals: `round(100 * x) / 100` rounds to two",
	"exp 2":   "write `base ^ x` for another base",
	"pow 1":   "give the base and the exponent, as in `pow(x, 2)`; the square alone is `square(x)`",
	"sqrt 2":  "write `x ^ (1.0 / n)` for the n-th root",
}

// countHelp shows how a function is called that takes n arguments and was given another number.
func countHelp(name string, n, given, skip int) string {
	if advice := otherCounts[fmt.Sprint(name, " ", given)]; advice != "" {
		return advice
	}
	names := []string{"x", "y", "z", "u", "v", "w"}
	if n == 0 {
		return "leave the parentheses empty: `" + name + "()`"
	}
	if n > len(names) || skip > 0 {
		return ""
	}
	list := strings.Join(names[:n], ", ")
	if _, suffix := SplitSuffix(name); TakesBar(suffix) && n > 1 {
		list = strings.Replace(list, ", ", " | ", 1)
	}
	return "give it " + countOf(n) + ", as in `" + name + "(" + list + ")`"
}

// argumentNames lists the names and descriptions of a function's arguments; "" if they are not
// known.
func argumentNames(name string, skip int, o types.Overload) string {
	p, ok := typed(o).(interface{ Parameters() []string })
	if !ok || len(p.Parameters()) == 0 {
		return ""
	}
	lead := "its arguments are "
	if _, suffix := SplitSuffix(name); skip == 0 && TakesBar(suffix) {
		lead = "after the variate stand "
	} else if len(p.Parameters()) == 1 {
		lead = "its argument is "
	}
	return lead + strings.Join(p.Parameters(), "; ")
}

// exchanged finds two arguments that would fit if they were swapped; ok is false if there is no
// such pair, or more than one.
func exchanged(fail *types.Failure, ts []types.Type) (i, j int, ok bool) {
	var overloads []types.Overload
	for _, cand := range fail.Candidates {
		overloads = append(overloads, cand.Overload)
	}
	found := 0
	for a := range ts {
		for b := a + 1; b < len(ts); b++ {
			if ts[a].Equal(ts[b]) {
				continue
			}
			swapped := slices.Clone(ts)
			swapped[a], swapped[b] = ts[b], ts[a]
			if _, _, fault := types.Resolve(overloads, swapped); fault == nil {
				i, j = a, b
				found++
			}
		}
	}
	return i, j, found == 1
}

// inTuple narrows a message about a tuple expression to the member that is wrong.
func inTuple(d *diag.Diagnostic, e ast.Expr, want, is types.Type) {
	t, ok := ast.Unparen(e).(*ast.TupleExpr)
	if !ok || want.Kind != types.Tuple || len(want.Members) != len(t.Elems) {
		return
	}
	for i, w := range want.Members {
		if _, ok := types.Promotable(is.Members[i], w); !ok {
			d.Span = t.Elems[i].Span()
			d.Detail = fmt.Sprintf("Member %d of the tuple must be %s, but is %s.", i+1, w, is.Members[i])
			return
		}
	}
}

// relevant omits overloads for complex numbers if no argument is complex and there are others. For
// a sparse matrix it keeps only the overloads for these, and for other arguments all others.
func relevant(fail *types.Failure, ts []types.Type) *types.Failure {
	has := func(is func(t types.Type) bool) bool { return slices.ContainsFunc(ts, is) }
	isComplex := has(func(t types.Type) bool { return t.Scalar() == types.Complex })
	sparse := has(func(t types.Type) bool { return t.Kind == types.SparseMatrix })
	out := &types.Failure{}
	for _, cand := range fail.Candidates {
		_, forSparse := cand.Overload.(types.SparseForm)
		if (isComplex || !strings.Contains(cand.Overload.String(), "complex")) && (forSparse == sparse || sparse && isUser(cand.Overload)) {
			out.Candidates = append(out.Candidates, cand)
		}
	}
	if len(out.Candidates) == 0 {
		return fail
	}
	return out
}

// functorNotes returns notes with the types of the functions that are passed, because they
// determine the other arguments.
func (c *checker) functorNotes(es []ast.Expr) []diag.Note {
	var out []diag.Note
	for _, e := range es {
		for _, f := range c.functor(e) {
			out = append(out, note(&f.Decl.Name, quote(f.Name)+" is "+f.String()))
		}
	}
	return out
}

// onlyCount reports whether every candidate takes n arguments, and the call has another number.
func onlyCount(fail *types.Failure) (n int, ok bool) {
	n = fail.Candidates[0].Fault.Count
	for _, cand := range fail.Candidates {
		if cand.Fault.Count != n {
			return 0, false
		}
	}
	return n, n > 0
}

func countOf(n int) string {
	switch n {
	case 0:
		return "no arguments"
	case 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// argument describes the i-th argument, counted from 0, in a message. The first skip arguments do
// not count.
func argument(name string, i, skip int) string {
	if _, suffix := SplitSuffix(name); i == 0 && (TakesBar(suffix) || skip > 0) {
		return "the variate"
	}
	return fmt.Sprintf("argument %d", i+1-skip)
}

// wanted returns the type that the argument of a fault should have.
func wanted(f types.Fault) string {
	if f.Want != "" {
		return f.Want
	}
	return f.Type.String()
}

// shown is the maximum number of candidates that a message lists.
const shown = 5

// withCandidates adds the candidates to a message: those of the library to the detail, the user's
// as notes. If ts is given, it adds why each does not fit.
func withCandidates(d diag.Diagnostic, fail *types.Failure, ts []types.Type) diag.Diagnostic {
	var lines []string
	for i, cand := range fail.Candidates {
		if i == shown {
			lines = append(lines, fmt.Sprintf("and %d more", len(fail.Candidates)-shown))
			break
		}
		why := ""
		if ts != nil {
			why = ": " + cand.Explain(ts)
		}
		if f, ok := cand.Overload.(*Func); ok {
			d.Related = append(d.Related, note(&f.Decl.Name, f.String()+why))
		} else {
			lines = append(lines, cand.Overload.String()+why)
		}
	}
	if len(lines) > 0 {
		if d.Detail != "" {
			d.Detail += "\n"
		}
		d.Detail += strings.Join(lines, "\n")
	}
	return d
}

func typeList(ts []types.Type) string {
	var s []string
	for _, t := range ts {
		s = append(s, t.String())
	}
	return strings.Join(s, ", ")
}

// callRules checks the rules for functions whose names have a suffix: the bar, and the blocks in
// which they may be called.
func (c *checker) callRules(e *ast.CallExpr) {
	name := e.Func.Name
	_, suffix := SplitSuffix(name)
	switch {
	case TakesBar(suffix) && !e.Bar && len(e.Args) > 1:
		d := diag.Errorf(diag.Bar, e.Func.Span(), "%s is called with a bar after the variate", name)
		d.Fix = fmt.Sprintf("write %s(%s | …)", name, brief(e.Args[0].Span(), "x"))
		if rest := brief(source.Span{File: e.Span().File, Start: e.Args[1].Span().Start, End: e.Args[len(e.Args)-1].Span().End}, ""); rest != "" {
			d.Fix = fmt.Sprintf("write %s(%s | %s)", name, brief(e.Args[0].Span(), "x"), rest)
		}
		comma := between(e.Args)
		if strings.TrimSpace(comma.Text()) == "," {
			d.Edits = []diag.Edit{{Span: comma, Text: " | "}}
		}
		c.diags.Add(d)
	case e.Bar && !TakesBar(suffix):
		d := diag.Errorf(diag.Bar, e.Func.Span(), "%s is called with commas only", name)
		d.Detail = "A bar is for densities and distribution functions: names that end in _lpdf, _lpmf, _lcdf, _lccdf or _cdf."
		d.Fix = "write a comma instead of the bar"
		if bar := between(e.Args); strings.TrimSpace(bar.Text()) == "|" {
			d.Edits = []diag.Edit{{Span: bar, Text: ", "}}
		}
		c.diags.Add(d)
	}
	switch suffix {
	case "_lp":
		if c.block != ast.TransformedParameters {
			c.addsToTarget(&e.Func, "a call of "+name)
		} else if c.firstTime(diag.DeprecatedForm, name) {
			d := diag.Warnf(diag.DeprecatedForm, e.Func.Span(), "calling %s in transformed parameters is deprecated in Stan", name)
			d.Fix = "use a function whose name ends in _jacobian, with jacobian += in it"
			c.diags.Add(d)
		}
	case "_jacobian":
		c.addsJacobian(&e.Func, "a call of "+name)
	case "_rng":
		c.rngRules(&e.Func)
	case "_lupdf", "_lupmf":
		c.unnormalisedRules(&e.Func, name)
	}
}

// between returns the text between the first two arguments.
func between(args []ast.Expr) source.Span {
	if len(args) < 2 {
		return source.Span{}
	}
	return source.Span{File: args[0].Span().File, Start: args[0].Span().End, End: args[1].Span().Start}
}

// brief returns the text of a part of the program, or other if it is long.
func brief(at source.Span, other string) string {
	if s := at.Text(); len(s) <= 40 && !strings.Contains(s, "\n") {
		return s
	}
	return other
}

// unnormalisedRules reports densities without constant terms in places where these are not allowed.
func (c *checker) unnormalisedRules(at ast.Node, name string) {
	inDensity := c.fn != nil && (c.fn.Suffix == "_lpdf" || c.fn.Suffix == "_lpmf")
	if c.block != ast.Model && !inDensity {
		c.report(diag.Errorf(diag.Unnormalised, at.Span(), "%s is not allowed in %s", name, c.where()),
			"What it leaves out depends on what is a parameter: only the model block and functions whose name ends in _lpdf or _lpmf know. Use "+normalised(name)+".", "")
	}
}

// rngRules reports random numbers where the program must be deterministic.
func (c *checker) rngRules(id *ast.Ident) {
	switch {
	case c.sizes:
		c.report(diag.Errorf(diag.NoRandom, id.Span(), "a size cannot be random"), "", "")
	case c.fn != nil && c.fn.Suffix == "_rng":
	case c.fn == nil && (c.block == ast.TransformedData || c.block == ast.GeneratedQuantities):
	default:
		c.report(diag.Errorf(diag.NoRandom, id.Span(), "%s is not allowed in %s", id.Name, c.where()),
			"Random numbers can be drawn in transformed data, in generated quantities, and in functions whose name ends in _rng.", "make the quantity a parameter with a distribution, or move this to generated quantities")
	}
}

// callStmt checks a call as a statement.
func (c *checker) callStmt(s *ast.CallStmt) {
	o := c.untypedExpr(s.Call)
	if o.Type.Kind != types.Void && o.Type.Kind != types.Invalid {
		c.report(diag.Errorf(diag.VoidValue, s.Call.Func.Span(), "the result of %s is not used", s.Call.Func.Name),
			"Only functions that return void can be called as statements. It returns "+o.Type.String()+".", "assign the result to a variable, or leave the call out")
		if _, suffix := SplitSuffix(s.Call.Func.Name); c.block == ast.Model && c.fn == nil && slices.Contains([]string{"_lpdf", "_lpmf", "_lcdf", "_lccdf"}, suffix) {
			d := &c.diags[len(c.diags)-1]
			d.Detail = "A call alone does not change the log density."
			d.Fix = "add it to the log density: write `target += ` before it"
			at := s.Call.Func.Span()
			at.End = at.Start
			d.Edits = []diag.Edit{{Span: at, Text: "target += "}}
		}
	}
}

// operator resolves an operator. node is the node for which the call is recorded, pos the position
// of the operator.
func (c *checker) operator(node ast.Node, op string, e ast.Expr, pos source.Span, xs ...TypeLevel) TypeLevel {
	for _, x := range xs {
		if x.Type.Kind == types.Invalid {
			return invalid
		}
	}
	ts, params := split(xs)
	name := "operator" + op
	o, m, fail := types.ResolveLevels(c.universe.Lookup(name), ts, params)
	if fail != nil {
		if u, ok := e.(*ast.Unary); ok {
			c.badOperator(u.X.Span(), op, ts, fail)
		} else {
			c.badOperator(pos, op, ts, fail)
		}
		return invalid
	}
	call := &Call{Name: name, Overload: o, Match: m}
	c.info.Calls[node] = call
	return result(call, xs)
}

// badOperator reports operands that an operator does not take.
func (c *checker) badOperator(at source.Span, op string, ts []types.Type, fail *types.Failure) {
	var d diag.Diagnostic
	switch {
	case len(ts) == 1:
		d = diag.Errorf(diag.BadOperand, at, "operator %s does not take %s", op, ts[0])
		if op == "!" {
			d.Fix = "it binds more strongly than a comparison: write !(x > 0)"
		}
	case fail.Ambiguous:
		d = diag.Errorf(diag.AmbiguousCall, at, "%s %s %s is ambiguous", ts[0], op, ts[1])
	default:
		d = diag.Errorf(diag.BadOperand, at, "operator %s does not take %s and %s", op, ts[0], ts[1])
		d.Fix = c.operatorAdvice(op, ts[0], ts[1])
	}
	c.diags.Add(d)
}
