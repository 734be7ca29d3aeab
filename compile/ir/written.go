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

// A text of the library is a functions block. Its function `solve` is what is
// called, with the arguments of the call but for functions. Functions that it
// declares without a body of their own (`{ reject(""); }`) stand for others:
//
//	f, g          the first and second function that are passed
//	jacobian_h_k  the Jacobian of h by its argument number k, from 0, a vector
//	detach        its argument, taken as constant by derivatives
//
// The text is completed with what depends on the call: $params are the
// parameters, $args the arguments that are passed on to f, each beginning with a
// comma; $1, $2, … are the types of the arguments that are not functions.

// written lowers a call of a library function that is a text.
func (l *lowerer) written(e *ast.CallExpr, call *check.Call, w types.Written) Expr {
	var passed []*Function
	var extra []types.Param
	var args []Expr
	for i, a := range e.Args {
		if f := l.functor(a); f != nil {
			if len(passed) == 0 && w.Lead >= 0 {
				extra = f.FuncType.Params[w.Lead:]
			}
			passed = append(passed, l.funcs[f])
			continue
		}
		args = append(args, promote(l.expr(a), call.Match.Params[i]))
	}
	fn := l.make(w, passed, extra, args)
	ty := Typed{At: e.Span(), Ty: call.Match.Result}
	for _, a := range args {
		ty.Lv = max(ty.Lv, a.Level())
	}
	return &UserCall{Typed: ty, Func: fn, Args: args}
}

// functor is the function that an argument names; nil if it names none.
func (l *lowerer) functor(e ast.Expr) *check.Func {
	for {
		p, ok := e.(*ast.Paren)
		if !ok {
			break
		}
		e = p.X
	}
	v, ok := e.(*ast.VarExpr)
	if !ok {
		return nil
	}
	return l.info.Functors[v]
}

// make is the function of a text for the functions and arguments passed.
func (l *lowerer) make(w types.Written, passed []*Function, extra []types.Param, values []Expr) *Function {
	var params, args, key strings.Builder
	for i, p := range extra {
		data := ""
		if p.DataOnly {
			data = "data "
		}
		fmt.Fprintf(&params, ", %s%s a%d", data, p.Type, i+1)
		fmt.Fprintf(&args, ", a%d", i+1)
	}
	replace := []string{"$params", params.String(), "$args", args.String()}
	for i, v := range values {
		replace = append(replace, "$"+strconv.Itoa(i+1), v.Type().String())
	}
	text := strings.NewReplacer(replace...).Replace(w.Text)
	for _, f := range passed {
		fmt.Fprintf(&key, "%p ", f)
	}
	key.WriteString(text)
	if f := l.made[key.String()]; f != nil {
		return f
	}
	src := source.NewFile("library:"+w.Name, text)
	tree, list := lang.Parse(src)
	info, more := check.Check(tree, l.universe)
	if list = append(list, more...); list.HasErrors() {
		panic(fmt.Sprintf("ir: the text of %s: %v", w.Name, list[0])) // a bug of the library; its tests use every text
	}
	sub := &lowerer{info: info, universe: l.universe, prog: l.prog, vars: map[*check.Var][]*Var{}, funcs: map[*check.Func]*Function{}, made: l.made}
	byName := map[string]*Function{}
	for _, fn := range info.Funcs {
		out := &Function{Name: fn.Name, Result: fn.Result, Span: fn.Decl.Name.Span()}
		switch fn.Name {
		case "f":
			out = passed[0]
		case "g":
			out = passed[1]
		case "detach":
			out.Intrinsic = Detach
		case "solve":
			out.Name = w.Name
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
				out.Arg += len(p.Type.Leaves())
			}
		}
		if !slices.Contains(passed, out) {
			sub.function(fn)
			l.prog.Functions = append(l.prog.Functions, out)
		}
	}
	solve := byName["solve"]
	l.made[key.String()] = solve
	return solve
}
