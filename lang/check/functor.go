package check

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// argument types an argument of a call, which may be a function of the user's.
// A function with several forms has the type of the first; choose tries all.
func (c *checker) argument(e ast.Expr) TypeLevel {
	fs := c.functor(e)
	if fs == nil {
		return c.expr(e)
	}
	v := unparen(e).(*ast.VarExpr)
	if unnormalised(v.Name) {
		c.unnormalisedRules(v, v.Name)
	}
	for _, f := range fs {
		if f.invalid {
			return invalid
		}
	}
	return TypeLevel{Type: functionType(fs[0])}
}

// functor gives the functions that an argument names; nil if it names none.
func (c *checker) functor(e ast.Expr) []*Func {
	v, ok := unparen(e).(*ast.VarExpr)
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
	functors map[*ast.VarExpr]*Func // the forms chosen of functions as arguments
}

// call makes the record of a resolved call.
func (r resolution) call(name string) *Call {
	call := &Call{Name: name, Overload: r.overload, Match: r.match}
	if f, ok := r.overload.(*Func); ok {
		call.Func, call.Overload = f, nil
	}
	return call
}

// maxForms bounds the combinations of forms of functions as arguments that are
// tried.
const maxForms = 100

// choose picks the overload of a call. Where arguments are functions with
// several forms, it picks these too.
func (c *checker) choose(cands []types.Overload, es []ast.Expr, args []TypeLevel) resolution {
	ts, params := split(args)
	picked := make([]*Func, len(es))
	var best resolution
	tried := 0
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
		case r.fail != nil || best.match.Promotions <= r.match.Promotions:
			return
		}
		r.functors = map[*ast.VarExpr]*Func{}
		for j, f := range picked {
			if f != nil {
				r.functors[unparen(es[j]).(*ast.VarExpr)] = f
			}
		}
		best = r
	}
	try(0)
	return best
}

// record enters the functions that were chosen as arguments.
func (c *checker) record(r resolution) {
	for v, f := range r.functors {
		c.info.Functors[v] = f
		c.info.Types[v] = TypeLevel{Type: functionType(f)}
	}
}

// takesFunction reports a library function with a function as an argument.
func takesFunction(o types.Overload) bool {
	switch unplanned(o).(type) {
	case types.HigherOrder, types.ReduceSum, types.Laplace:
		return true
	}
	return false
}

// functorRules checks what types do not say of functions as arguments: their
// suffix, and that data go where data are wanted within a tuple.
func (c *checker) functorRules(r resolution, es []ast.Expr, args []TypeLevel) bool {
	_, reduces := unplanned(r.overload).(types.ReduceSum)
	for i, e := range es {
		v, ok := unparen(e).(*ast.VarExpr)
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
				what+": random numbers and changes of the target are not for library functions to call.",
				note(&f.Decl.Name, "it is declared here"))
			return false
		}
		if _, ok := unplanned(r.overload).(types.Laplace); !ok {
			continue
		}
		// The arguments of the function are the members of the tuple that follows.
		lead := len(f.FuncType.Params) - len(args[i+1].Type.Members)
		for k := range args[i+1].Type.Members {
			if f.FuncType.Params[lead+k].DataOnly && args[i+1].member(k).Level == Param {
				at := es[i+1]
				if t, ok := unparen(at).(*ast.TupleExpr); ok {
					at = t.Elems[k]
				}
				c.report(diag.Errorf(diag.BadArguments, at.Span(), "argument %d of %s must be data", lead+k+1, f.Name), "",
					note(f.Decl.Params[lead+k], "it is marked data here"))
				return false
			}
		}
	}
	return true
}

// unplanned is the overload itself, with or without evaluation.
func unplanned(o types.Overload) types.Overload {
	if p, ok := o.(types.Planned); ok {
		return p.Overload
	}
	return o
}
