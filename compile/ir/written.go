package ir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Some library functions are defined by Stan source: a functions block. A call runs its function
// `solve` with all arguments of the call except functions. Functions declared with the placeholder
// body `{ reject(""); }` represent others:
//
//	f, g          the first and second function that are passed
//	jacobian_h_k  the Jacobian of h with respect to its argument k (from 0), a vector
//	detach        its argument; derivatives treat it as constant
//
// Placeholders in the source are replaced by parts that depend on the call. $params are the
// parameters and $args the arguments passed on to f, each with a leading comma. $params2 and $args2
// are those for g; $list2 and $call2 are the same without the leading comma. $1, $2, … are the
// types of the arguments that are not functions. $leaves is 1 in programs of LowerLeaving, else 0.
// $level(1), $level(2), … are 0 if the argument's level is Data, else 1.
//
// For types.Laplace, f is the user's or the library's likelihood, and g the covariance function.
// The arguments of solve are: the size of the blocks, the members of the control tuple, the members
// of the likelihood's tuple (or the arguments of the library's likelihood), and the members of the
// covariance function's tuple.

// written lowers a call of a library function that is defined by Stan source. Such functions have
// no terms to drop. But a density passed to reduce_sum may have been passed by the name that drops
// them.
func (l *lowerer) written(at source.Span, es []ast.Expr, call *check.Call, w types.Written) *UserCall {
	var t textCall
	if o, ok := w.Overload.(types.Laplace); ok {
		t = l.laplaceCall(es, call, o)
	} else {
		for i, a := range es {
			if f := l.functor(a); f != nil {
				if len(t.passed) == 0 && w.Lead >= 0 {
					t.extra[0] = f.FuncType.Params[w.Lead:]
				}
				t.passed = append(t.passed, l.funcs[f])
				t.drops = t.drops || check.Unnormalised(ast.Unparen(a).(*ast.VarExpr).Name)
				continue
			}
			t.args = append(t.args, promote(l.expr(a), call.Match.Params[i]))
		}
	}
	ty := Typed{At: at, Ty: call.Match.Result}
	for _, a := range t.args {
		ty.Lv = max(ty.Lv, a.Level())
	}
	return &UserCall{Typed: ty, Func: l.make(w, t), Args: t.args, Propto: call.Propto || t.drops}
}

// textCall is a call of a function that is defined by Stan source: the functions for f and g, the
// arguments passed on to each, and the arguments of solve.
type textCall struct {
	passed []*Function
	drops  bool // f drops the terms of level Data: it was passed as NAME_lupdf
	extra  [2][]types.Param
	args   []Expr
}

// laplaceCall returns the call of a form of the Laplace approximation.
func (l *lowerer) laplaceCall(es []ast.Expr, call *check.Call, o types.Laplace) textCall {
	t := textCall{passed: make([]*Function, 2)}
	arg := func(i int) Expr { return promote(l.expr(es[i]), call.Match.Params[i]) }
	head := len(o.Built)
	var likelihood []Expr
	if o.Built == nil {
		head = 2
		f := l.functor(es[0])
		t.passed[0], t.extra[0] = l.funcs[f], f.FuncType.Params[1:]
		likelihood = members(arg(1))
	}
	for i, ty := range o.Built {
		t.extra[0] = append(t.extra[0], types.Param{Type: ty})
		likelihood = append(likelihood, arg(i))
	}
	g := l.functor(es[head+1])
	t.passed[1], t.extra[1] = l.funcs[g], g.FuncType.Params
	t.args = append(t.args, arg(head))
	if o.Tol {
		t.args = append(t.args, members(arg(head+3))...)
	}
	t.args = append(append(t.args, likelihood...), members(arg(head+2))...)
	return t
}

// members returns the members of a tuple as expressions.
func members(e Expr) []Expr {
	var out []Expr
	t := e.Type()
	parts := apartNow(e)
	for i, m := range t.Members {
		from, to := t.LeafRange(i)
		switch {
		case parts == nil:
			out = append(out, &Member{Typed{e.Span(), m, e.Level()}, e, i})
		case m.Composite():
			out = append(out, tuple(Typed{At: e.Span(), Ty: m}, parts[from:to]...))
		default:
			out = append(out, parts[from])
		}
	}
	return out
}

// functor returns the function that an argument names, or nil.
func (l *lowerer) functor(e ast.Expr) *check.Func {
	v, ok := ast.Unparen(e).(*ast.VarExpr)
	if !ok {
		return nil
	}
	return l.info.Functors[v]
}

// make returns the function made from the Stan source for a call.
func (l *lowerer) make(w types.Written, t textCall) *Function {
	var key strings.Builder
	fmt.Fprintf(&key, "%t ", t.drops)
	var replace []string
	for k, end := range []string{"", "2"} {
		name := [...]string{"passed", "further"}[k] // no source uses these names
		var params, args strings.Builder
		for i, p := range t.extra[k] {
			data := ""
			if p.DataOnly {
				data = "data "
			}
			fmt.Fprintf(&params, ", %s%s %s%d", data, p.Type, name, i+1)
			fmt.Fprintf(&args, ", %s%d", name, i+1)
		}
		// Replace applies the first of several patterns that match, so longer ones come first.
		replace = append([]string{"$params" + end, params.String(), "$args" + end, args.String(),
			"$list" + end, strings.TrimPrefix(params.String(), ", "), "$call" + end, strings.TrimPrefix(args.String(), ", ")}, replace...)
	}
	for i, v := range t.args {
		level := "0"
		if v.Level() > Data {
			level = "1"
		}
		replace = append(replace, fmt.Sprintf("$level(%d)", i+1), level, "$"+strconv.Itoa(i+1), v.Type().String())
	}
	text := w.Text
	if w.Make != nil {
		var of []types.Type
		for _, v := range t.args {
			of = append(of, v.Type())
		}
		text = w.Make(of)
	}
	leaves := "0"
	if l.leaving && strings.Contains(text, "$leaves") {
		leaves, l.prog.Leaves = "1", true
	}
	text = strings.NewReplacer(append(replace, "$leaves", leaves)...).Replace(text)
	for _, f := range t.passed {
		fmt.Fprintf(&key, "%p ", f)
	}
	key.WriteString(text)
	if f := l.made[key.String()]; f != nil {
		return f
	}
	src := source.NewFile(source.Library+w.Name, text)
	tree, list := lang.Parse(src)
	info, more := check.Check(tree, l.universe)
	if list = append(list, more...); list.HasErrors() {
		// This is a bug of the library: its tests use every source.
		panic(fmt.Sprintf("ir: the text of %s: %v", w.Name, list[0]))
	}
	sub := &lowerer{info: info, universe: l.universe, leaving: l.leaving, prog: l.prog, vars: map[*check.Var][]*Var{}, funcs: map[*check.Func]*Function{}, made: l.made}
	byName := map[string]*Function{}
	var solve *Function
	for _, fn := range info.Funcs {
		out := &Function{Name: fn.Name, Result: fn.Result, Span: fn.Decl.Name.Span()}
		switch fn.Name {
		case "f":
			out = t.passed[0]
			if t.drops {
				sub.drops = fn
			}
		case "g":
			out = t.passed[1]
		case "detach":
			out.Intrinsic = Detach
		case "solve", "solve_rng":
			out.Name, out.Tolerance, solve = w.Name, w.Tolerance, out
		}
		sub.funcs[fn], byName[fn.Name] = out, out
	}
	for _, fn := range info.Funcs {
		out := sub.funcs[fn]
		if of, ok := strings.CutPrefix(fn.Name, "jacobian_"); ok {
			of, arg, _ := strings.Cut(of, "_")
			out.Intrinsic, out.Of = Jacobian, byName[of]
			k, _ := strconv.Atoi(arg)
			for _, p := range fn.Params[:k] {
				out.Arg += p.Type.NumLeaves()
			}
		}
		if !slices.Contains(t.passed, out) {
			sub.function(fn)
			l.prog.Functions = append(l.prog.Functions, out)
		}
	}
	l.made[key.String()] = solve
	return solve
}
