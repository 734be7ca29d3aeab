package check

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: data that are censored. Their declaration says which values are known, and for which
// only an interval is. A density of a known value is what it is for other data; that of another
// value is the probability of its interval.

// cutAllowed checks that a declaration may have an entry that makes values censored. If not, the
// entry is not examined further.
func (c *checker) cutAllowed(t *ast.TypeExpr, b *ast.Bound, vt types.Type) bool {
	what := ""
	detail, fix := "", ""
	limits := b.Kind == ast.CensoredBelow || b.Kind == ast.CensoredAbove
	_, named := ast.Unparen(b.Value).(*ast.VarExpr)
	switch {
	case c.block != ast.Data:
		what, fix = "only variables of the data block can be censored", "remove `"+b.Kind+"`"
	case vt.Scalar() == types.Complex:
		what, detail = "complex numbers cannot be censored", "They have no order."
	case t.Missing() != nil:
		what = "a variable is either censored or has missing values"
		detail = "A censored value is known to be in an interval; of a missing value nothing is known."
		fix = "give a missing value as one between its bounds, such as -Inf and Inf, by `" + ast.CensoredTo + "`; or leave its row out"
	case limits && (t.Bound(ast.Censored) != nil || t.Bound(ast.CensoredTo) != nil):
		what = "`" + b.Kind + "` cannot be combined with `" + ast.Censored + "` or `" + ast.CensoredTo + "`"
		detail = "Limits decide which values are censored."
		fix = "give either limits, or a variable that says for each value how it is censored"
	case !limits && !named:
		what = "`" + b.Kind + "` must be the name of a variable"
		fix = "declare a variable with these values in the data block"
	default:
		return true
	}
	c.report(diag.Errorf(diag.CensoredNotAllowed, b.Span(), "%s", what), detail, fix)
	return false
}

// sides checks the type of a variable that says for each value how it is censored.
func (c *checker) sides(b *ast.Bound, t, vt types.Type) {
	want := types.IntType
	if vt.Rank() > 0 {
		want = types.IntType.Array(vt.Rank())
	}
	if !t.Equal(want) {
		c.report(diag.Errorf(diag.CensoredNotAllowed, b.Value.Span(), "`%s` must be %s, but is %s", b.Kind, want, t),
			"It has -1 for a value that is censored from the left, 0 for one that is known, 1 for one that is censored from the right, and 2 for one in an interval.",
			"declare it with the sizes of the data, as in array[N] int<lower=-1, upper=1>")
	}
}

// CensoredVariate returns the variable declared as censored that an expression is or selects
// elements of; nil if it is none.
func (i *Info) CensoredVariate(e ast.Expr) *Var {
	for {
		switch x := e.(type) {
		case *ast.Paren:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.VarExpr:
			if v := i.Uses[x]; v != nil && v.Censored {
				return v
			}
			return nil
		default:
			return nil
		}
	}
}

// MassOf returns the distribution of a density or mass function; "" if a function is neither.
func MassOf(name string) string {
	switch base, suffix := SplitSuffix(name); suffix {
	case "_lpdf", "_lupdf", "_lpmf", "_lupmf":
		return base
	}
	return ""
}

// Addends splits a sum, or a difference, into the addends that are not subtracted and the others.
func Addends(e ast.Expr) (added, subtracted []ast.Expr) {
	x, ok := ast.Unparen(e).(*ast.Binary)
	switch {
	case ok && x.Op == "+":
		added, subtracted = Addends(x.X)
		more, less := Addends(x.Y)
		return append(added, more...), append(subtracted, less...)
	case ok && x.Op == "-":
		added, subtracted = Addends(x.X)
		return added, append(subtracted, x.Y)
	}
	return []ast.Expr{e}, nil
}

// censoring checks the uses of censored variables.
func (c *checker) censoring(f *ast.File) {
	any := false
	for _, v := range c.info.Defs {
		any = any || v.Censored
	}
	if !any || c.diags.HasErrors() {
		return
	}
	u := &censoring{checker: c, fine: map[*ast.VarExpr]bool{}, addends: map[ast.Expr]bool{}}
	for _, b := range f.Blocks {
		if b.Kind == ast.Functions || b.Kind == ast.Data {
			continue
		}
		u.block = b.Kind
		ast.Inspect(b, u.visit, nil)
	}
}

// censoring is a walk over the uses of censored variables.
type censoring struct {
	*checker
	block   ast.BlockKind
	fine    map[*ast.VarExpr]bool // uses as a variate, or of sizes only
	addends map[ast.Expr]bool     // calls that are an addend of the density
}

func (u *censoring) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.TargetPlus:
		added, _ := Addends(n.Value)
		for _, a := range added {
			u.addends[ast.Unparen(a)] = true
		}
	case *ast.Tilde:
		u.variate(n, n.Variate, n.Dist, n.Dist.Name, true)
	case *ast.CallExpr:
		if dist := MassOf(n.Func.Name); dist != "" && len(n.Args) > 0 {
			u.variate(n, n.Args[0], n.Func, dist, u.addends[n])
		} else if ofSizes[n.Func.Name] {
			u.mark(n)
		}
	case *ast.VarExpr:
		v := u.info.Uses[n]
		if v == nil || !v.Censored || u.fine[n] || u.block == ast.GeneratedQuantities || !u.firstTime(diag.CensoredValue, v.Name) {
			break
		}
		u.report(diag.Warnf(diag.CensoredValue, n.Span(), "some values of `%s` are only limits here, as it is declared as censored", v.Name),
			"Only distribution statements and densities of `"+v.Name+"` treat them as censored.",
			"use them as the left side of a statement alone; for another use, make the censored values parameters with the limits as bounds",
			note(&v.Ident, "it is declared here"))
	}
	return true
}

// ofSizes lists the functions of sizes alone.
var ofSizes = map[string]bool{"size": true, "rows": true, "cols": true, "dims": true, "num_elements": true}

// mark notes that the uses of variables in an expression are fine.
func (u *censoring) mark(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if x, ok := n.(*ast.VarExpr); ok {
			u.fine[x] = true
		}
		return true
	}, nil)
}

// variate checks a density. added is set if it is an addend of the target.
func (u *censoring) variate(at ast.Node, e ast.Expr, name ast.Ident, dist string, added bool) {
	v := u.info.CensoredVariate(e)
	if v == nil {
		var of *Var
		for x := range variablesIn(e) {
			if w := u.info.Uses[x]; w != nil && w.Censored {
				of = w
			}
		}
		if of != nil {
			u.mark(e)
			u.report(diag.Errorf(diag.CensoredVariate, e.Span(), "the censored variable `%s` cannot be a part of a left side", of.Name),
				"The left side is the variable itself, or elements of it. So it is clear what its limits mean.",
				"give transformed values and limits as data; for elements of a matrix, write a loop over its rows", note(&of.Ident, "it is declared here"))
		}
		return
	}
	u.mark(e)
	t := u.info.Types[e].Type
	if elem, ok := t.Elem(); ok && !elem.IsScalar() {
		u.report(diag.Errorf(diag.CensoredVariate, e.Span(), "censored values of type %s cannot have one statement", t),
			"Each value has its own probability.", "write a loop over the rows")
		return
	}
	if !t.IsScalar() && !added {
		u.report(diag.Errorf(diag.CensoredVariate, at.Span(), "a density of several censored values must be a statement, or an addend of one"),
			"", "write `~` or `target += …` in the model, and a loop over the elements in generated quantities")
		return
	}
	for _, suffix := range []string{"_lpdf", "_lpmf", "_lcdf", "_lccdf"} {
		if f := u.ofWhole(dist + suffix); f != nil {
			u.report(diag.Errorf(diag.CensoredVariate, name.Span(), "%s cannot have censored values: `%s` takes their %s", dist, f.Name, f.FuncType.Params[0].Type),
				"Each value has its own probability, so that the function is called for one value at a time.",
				"define `"+f.Name+"` for one value, as in `real "+f.Name+"("+v.Type.Scalar().String()+" y, …)`", note(&f.Decl.Name, "it is defined here"), note(&v.Ident, "`"+v.Name+"` is declared as censored here"))
			return
		}
		if suffix == "_lpdf" || suffix == "_lpmf" || len(u.candidates(dist+suffix)) > 0 {
			continue
		}
		d := diag.Errorf(diag.CensoredVariate, name.Span(), "%s cannot have censored values", dist)
		d.Detail = "There is no function " + dist + suffix + ", from which the probability of a censored value is computed."
		d.Related = []diag.Note{note(&v.Ident, "`"+v.Name+"` is declared as censored here")}
		if same := untransformed[dist]; same != "" {
			d.Fix = "write " + same + ", which can"
		}
		u.diags.Add(d)
		return
	}
}

// ofWhole returns the function of this name that the program defines for several values as a
// whole, if it defines none for one value.
func (u *censoring) ofWhole(name string) *Func {
	var whole *Func
	for _, f := range u.funcs[name] {
		if len(f.FuncType.Params) == 0 || f.FuncType.Params[0].Type.IsScalar() {
			return nil
		}
		whole = f
	}
	return whole
}
