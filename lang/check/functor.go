package check

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// argument types an argument of a call, which may be a user function. A function with several
// signatures gets the type of the first; choose tries all.
func (c *checker) argument(e ast.Expr) TypeLevel {
	fs := c.functor(e)
	if fs == nil {
		return c.wanting(false, e)
	}
	v := ast.Unparen(e).(*ast.VarExpr)
	if Unnormalised(v.Name) {
		c.unnormalisedRules(v, v.Name)
	}
	for _, f := range fs {
		if f.invalid {
			return invalid
		}
	}
	return TypeLevel{Type: functionType(fs[0])}
}

// functor returns the functions that an argument may name; nil if it does not name a function.
func (c *checker) functor(e ast.Expr) []*Func {
	v, ok := ast.Unparen(e).(*ast.VarExpr)
	if !ok || c.lookup(v.Name) != nil {
		return nil
	}
	return c.funcs[normalised(v.Name)]
}

func functionType(f *Func) types.Type {
	return types.Type{Kind: types.Function, Func: f.FuncType}
}

// resolution is the outcome of choosing an overload.
type resolution struct {
	overload types.Overload
	match    types.Match
	fail     *types.Failure
	functors map[*ast.VarExpr]*Func // the chosen signatures of functions as arguments
}

// call returns the record of a resolved call.
func (r resolution) call(name string) *Call {
	call := &Call{Name: name, Overload: r.overload, Match: r.match}
	if f, ok := r.overload.(*Func); ok {
		call.Func, call.Overload = f, nil
	}
	return call
}

// maxForms is the maximum number of combinations of signatures to try for functions as arguments.
const maxForms = 100

// choose selects the overload of a call. If arguments are functions with several signatures, it
// selects these too.
func (c *checker) choose(cands []types.Overload, es []ast.Expr, args []TypeLevel) resolution {
	ts, params := split(args)
	for i, e := range es {
		params[i] = params[i] || c.varies(e)
	}
	picked := make([]*Func, len(es))
	var best resolution
	tried, ties := 0, false
	var try func(i int)
	try = func(i int) {
		for i < len(es) && ts[i].Kind != types.Function {
			i++
		}
		if i < len(es) {
			for _, f := range c.functor(es[i]) {
				ts[i], picked[i] = functionType(f), f
				try(i + 1)
			}
			return
		}
		if tried++; tried > maxForms {
			return
		}
		var r resolution
		r.overload, r.match, r.fail = types.ResolveLevels(cands, ts, params)
		switch {
		case tried == 1, best.fail != nil && r.fail == nil:
		case r.fail == nil && best.match.Promotions == r.match.Promotions:
			ties = true
			return
		case r.fail != nil || best.match.Promotions <= r.match.Promotions:
			return
		}
		ties = false
		r.functors = map[*ast.VarExpr]*Func{}
		for j, f := range picked {
			if f != nil {
				r.functors[ast.Unparen(es[j]).(*ast.VarExpr)] = f
			}
		}
		best = r
	}
	try(0)
	if ties {
		best.fail = &types.Failure{Ambiguous: true}
		for _, f := range best.functors {
			for _, g := range c.funcs[f.Name] {
				best.fail.Candidates = append(best.fail.Candidates, types.Candidate{Overload: g})
			}
		}
	}
	return best
}

// varies reports whether an integer depends on parameters, such as a > 2. Its type has no
// derivatives, but it is not data. The result of a function of integers counts as data, as in Stan.
func (c *checker) varies(e ast.Expr) bool {
	o := c.info.Types[e]
	if o.Level == Param {
		return true
	}
	all := func(es ...ast.Expr) bool { return slices.ContainsFunc(es, c.varies) }
	switch e := e.(type) {
	case *ast.Paren:
		return all(e.X)
	case *ast.Unary:
		return all(e.X)
	case *ast.Binary:
		return all(e.X, e.Y)
	case *ast.Cond:
		return all(e.Cond, e.Then, e.Else)
	case *ast.ArrayExpr:
		return all(e.Elems...)
	case *ast.IndexExpr:
		return all(e.X)
	}
	return false
}

// record records the signatures that were chosen for functions as arguments.
func (c *checker) record(r resolution) {
	for v, f := range r.functors {
		c.info.Functors[v] = f
		c.info.Types[v] = TypeLevel{Type: functionType(f)}
	}
}

// takesFunction reports whether a library function has a function as an argument.
func takesFunction(o types.Overload) bool {
	switch typed(o).(type) {
	case types.HigherOrder, types.ReduceSum, types.Laplace:
		return true
	}
	if f, ok := typed(o).(types.Forms); ok {
		return f.Forms()[0].Params[0].Type.Kind == types.Function
	}
	f, ok := typed(o).(types.Fixed)
	return ok && len(f.Params) > 0 && f.Params[0].Kind == types.Function
}

// functorRules checks rules for functional arguments that types do not express: the function's
// suffix, and data within tuples.
func (c *checker) functorRules(r resolution, es []ast.Expr, args []TypeLevel) bool {
	_, reduces := typed(r.overload).(types.ReduceSum)
	for i, e := range es {
		v, ok := ast.Unparen(e).(*ast.VarExpr)
		f := r.functors[v]
		if !ok || f == nil {
			continue
		}
		density := f.Suffix == "_lpdf" || f.Suffix == "_lpmf"
		if f.Suffix != "" && !(reduces && density) {
			what := "Pass a function whose name has no suffix"
			if reduces {
				what += ", or one in _lpdf or _lpmf"
			}
			c.report(diag.Errorf(diag.BadFunctor, e.Span(), "`%s` cannot be passed to another function", v.Name),
				what+": random numbers and changes of the target are not for library functions to call.", "",
				note(&f.Decl.Name, "it is declared here"))
			return false
		}
		l, ok := typed(r.overload).(types.Laplace)
		if !ok {
			continue
		}
		if i == 0 {
			c.likelihoods = append(c.likelihoods, likelihood{f, v})
		}
		solves := strings.Contains(l.Name, "_solve")
		// The function's last arguments are the members of the following tuple.
		lead := len(f.FuncType.Params) - len(args[i+1].Type.Members)
		for k := range args[i+1].Type.Members {
			if args[i+1].member(k).Level != Param {
				continue
			}
			at := elemOf(es[i+1], k)
			switch {
			case f.FuncType.Params[lead+k].DataOnly:
				c.report(diag.Errorf(diag.BadArguments, at.Span(), "argument %d of %s must be data", lead+k+1, f.Name), "", "",
					note(f.Decl.Params[lead+k], "it is marked data here"))
				return false
			case solves:
				c.report(diag.Errorf(diag.BadArguments, at.Span(), "what %s passes on must be data", l.Name),
					"The solution has no derivatives.", "to infer parameters, use laplace_marginal")
				return false
			}
		}
	}
	if l, ok := typed(r.overload).(types.Laplace); ok && l.Tol {
		last := len(args) - 1
		for k := 1; k < len(args[last].Type.Members); k++ { // without the initial guess
			if at := elemOf(es[last], k); args[last].member(k).Level == Param {
				c.report(diag.Errorf(diag.BadArguments, at.Span(), "what controls the solver of %s must be data", l.Name),
					"Of the control arguments only the initial guess may depend on parameters.", "")
				return false
			}
		}
	}
	return true
}

// elemOf returns the k-th member if an expression is a tuple expression, otherwise the expression
// itself.
func elemOf(e ast.Expr, k int) ast.Expr {
	if t, ok := ast.Unparen(e).(*ast.TupleExpr); ok {
		return t.Elems[k]
	}
	return e
}

// likelihood is a function that the Laplace approximation differentiates three times, and the
// position where it is passed.
type likelihood struct {
	f  *Func
	at *ast.VarExpr
}

// firstOrder lists library functions without higher derivatives, besides those that take functions.
var firstOrder = map[string]bool{"hmm_marginal": true, "hmm_hidden_state_prob": true}

// checkLikelihoods reports likelihoods that call a function without higher derivatives, directly or
// through other functions. All bodies have been checked.
func (c *checker) checkLikelihoods() {
	for _, l := range c.likelihoods {
		seen := map[*Func]bool{}
		var visit func(f *Func)
		visit = func(f *Func) {
			if seen[f] || f.Decl.Body == nil {
				return
			}
			seen[f] = true
			ast.Inspect(f.Decl.Body, func(n ast.Node) bool {
				if v, ok := n.(*ast.VarExpr); ok && c.info.Functors[v] != nil {
					visit(c.info.Functors[v])
				}
				call := c.info.Calls[n]
				switch {
				case call == nil:
				case call.Func != nil:
					visit(call.Func)
				case firstOrder[call.Name] || takesFunction(call.Overload):
					if key := "likelihood"; c.firstTime(diag.BadFunctor, key+l.f.Name) {
						c.report(diag.Errorf(diag.BadFunctor, l.at.Span(), "`%s` cannot be a likelihood here: it calls %s", l.f.Name, call.Name),
							"The Laplace approximation needs higher derivatives, which "+call.Name+" does not have.", "", note(n, "it is called here"))
					}
				}
				return true
			}, nil)
		}
		visit(l.f)
	}
}

// typed returns the overload inside a types.Written; other overloads are returned unchanged.
func typed(o types.Overload) types.Overload {
	if w, ok := o.(types.Written); ok {
		return w.Overload
	}
	return o
}
