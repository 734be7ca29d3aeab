package check

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: ragged variables, whose rows differ in size. Their type is that of a rectangular
// array. So the types of a program are checked first, and then what is done with ragged variables.

// Ragged describes the sizes of a ragged variable.
type Ragged struct {
	Outer int      // the number of array dimensions before a row: those of Sizes
	At    int      // the dimension, from 0, whose size differs between rows
	Sizes ast.Expr // an array of integers: the size of each row
}

// Flat returns the type of all rows of a variable of type t, one after another.
func (r *Ragged) Flat(t types.Type) types.Type {
	t.Dims -= r.Outer
	return t
}

// Indexed returns what is indexed and the indices, in x[i, j] and in x[i][j] for a single i.
func (info *Info) Indexed(e *ast.IndexExpr) (base ast.Expr, indices []ast.Index) {
	inner, ok := ast.Unparen(e.X).(*ast.IndexExpr)
	if !ok || slices.ContainsFunc(inner.Indices, func(i ast.Index) bool { return !info.Single(i) }) {
		return e.X, e.Indices
	}
	base, indices = info.Indexed(inner)
	return base, slices.Concat(indices, e.Indices)
}

// Single reports whether an index selects one element rather than several.
func (info *Info) Single(i ast.Index) bool {
	s, ok := i.(*ast.Single)
	return ok && info.Types[s.X].Type.Dims == 0
}

// maxOuter is the maximum number of array dimensions before a row.
const maxOuter = 2

// RaggedType returns what is ragged in a declared type; nil if it is rectangular.
func (info *Info) RaggedType(t *ast.TypeExpr) *Ragged {
	at := 0
	for _, list := range [...][]ast.Expr{t.ArrayDims, t.Sizes} {
		for _, e := range list {
			if s := info.Types[e].Type; s.Kind == types.Int && s.Dims > 0 {
				return &Ragged{Outer: s.Dims, At: at, Sizes: e}
			}
			at++
		}
	}
	return nil
}

// raggedSize reports an array of sizes where a variable cannot be ragged. before is the number of
// array dimensions before that of the size.
func (c *checker) raggedSize(t *ast.TypeExpr, e ast.Expr, what string, at int) {
	dims := c.info.Types[e].Type.Dims
	text := brief(e.Span(), "n")
	all := slices.Concat(t.ArrayDims, t.Sizes)
	earlier := slices.ContainsFunc(all[:at], func(e ast.Expr) bool { return c.info.Types[e].Type.Dims > 0 })
	kind := ConstraintOf(t)
	switch {
	case c.inMember:
		c.report(diag.Errorf(diag.RaggedType, e.Span(), "the members of a tuple cannot be ragged"), "", "declare it as a separate variable")
	case at == 0:
		d := diag.Errorf(diag.RaggedType, e.Span(), "%s must be int, but is %s", what, c.info.Types[e].Type)
		d.Detail = "An array of sizes has one size for each row, and the rows are an array."
		d.Fix = fmt.Sprintf("write the number of rows first, as in array[size(%s)] %s[%s]", text, t.Elem, text)
		if len(t.ArrayDims) > 0 || t.Elem == "int" || t.Elem == "real" {
			d.Fix = fmt.Sprintf("write the number of rows first, as in array[size(%s), %s]", text, text)
		}
		c.diags.Add(d)
	case at < dims || dims > maxOuter:
		c.report(diag.Errorf(diag.RaggedType, e.Span(), "these sizes have %d dimensions, but %s before them", dims, countDims(at)),
			"There is one size for each element of the dimensions before.", "give the sizes as many dimensions, and at most two")
	case earlier:
		c.report(diag.Errorf(diag.RaggedType, e.Span(), "only one dimension of a variable can be ragged"), "",
			"declare the elements in a row, with positions computed in transformed data")
	case kind.Structured():
		c.report(diag.Errorf(diag.RaggedType, e.Span(), "the sizes of a %s cannot differ between the elements of an array", t.Elem), "",
			"declare one variable for each size, or a vector whose rows are computed in transformed parameters")
	case t.Elem == "tuple" || types.Type{Kind: c.typeOf(t).Kind}.Scalar() == types.Complex:
		c.report(diag.Errorf(diag.RaggedType, e.Span(), "arrays of %s cannot be ragged", t.Elem), "",
			"declare the members, or the real and imaginary parts, separately")
	}
}

func countDims(n int) string {
	if n == 1 {
		return "there is one"
	}
	return fmt.Sprintf("there are %d", n)
}

// whole lists the functions of all elements of a ragged variable.
var whole = []string{"to_vector", "to_row_vector", "to_array_1d", "sum", "prod", "min", "max", "mean", "sd", "variance"}

// OfAll reports whether a library function takes all elements of a ragged variable of type t, one
// row after another.
func (r *Ragged) OfAll(function string, t types.Type) bool {
	return function == "num_elements" || r.Flat(t).Rank() == 1 && slices.Contains(whole, function)
}

// variable returns the ragged variable that an expression is; nil if it is none.
func (c *checker) raggedVariable(e ast.Expr) *Var {
	if x, ok := ast.Unparen(e).(*ast.VarExpr); ok {
		if v := c.info.Uses[x]; v != nil && v.Ragged != nil {
			return v
		}
	}
	return nil
}

// raggedArguments prepares the arguments of a function that are ragged variables. Library functions
// take all elements of one, or nothing of it. It returns false after it has reported an error.
func (c *checker) raggedArguments(name string, user bool, es []ast.Expr, args []TypeLevel) bool {
	for i, e := range es {
		v := c.raggedVariable(e)
		if x, ok := ast.Unparen(e).(*ast.IndexExpr); ok && !user {
			base, indices := c.info.Indexed(x)
			if of := c.raggedVariable(base); of != nil && !c.oneRow(x, indices, of, of.Ragged) {
				return false
			}
		}
		switch {
		case v == nil || user || name == "size" && len(es) == 1:
		case len(es) == 1 && v.Ragged.OfAll(name, v.Type):
			args[i].Type = v.Ragged.Flat(v.Type)
		default:
			c.raggedUse(e, v, v.Ragged)
			return false
		}
	}
	return true
}

// raggedUse reports a use of a whole ragged variable.
func (c *checker) raggedUse(e ast.Expr, v *Var, r *Ragged) {
	d := diag.Errorf(diag.RaggedUse, e.Span(), "the rows of `%s` differ in size, so that it cannot be used as a whole here", v.Name)
	d.Fix = fmt.Sprintf("use a row, such as %s[j]", v.Name)
	if r.Flat(v.Type).Rank() == 1 && v.Type.Kind != types.Int {
		d.Fix = fmt.Sprintf("use all elements as to_vector(%s), or a row as %s[j]", v.Name, v.Name)
		d.Edits = []diag.Edit{{Span: e.Span(), Text: "to_vector(" + v.Name + ")"}}
	}
	d.Related = []diag.Note{note(&v.Ident, "it is declared here")}
	c.diags.Add(d)
}

// raggedUses checks what a program without other errors does with ragged variables.
func (c *checker) raggedUses(f *ast.File) {
	found := false
	for _, v := range c.info.Defs {
		found = found || v != nil && v.Ragged != nil
	}
	if !found {
		return
	}
	w := &raggedUses{c: c, seen: map[string]bool{}, types: map[*ast.TypeExpr]bool{}}
	for _, b := range f.Blocks {
		for _, s := range b.Stmts {
			w.visit(s)
		}
	}
}

// raggedUses visits the uses of ragged variables.
type raggedUses struct {
	c      *checker
	params map[*Var]*Ragged // the arguments of the function being visited that are ragged
	seen   map[string]bool  // functions with their ragged arguments
	types  map[*ast.TypeExpr]bool
}

// Of returns how a variable is ragged, if an expression is one.
func (w *raggedUses) of(e ast.Expr) (*Var, *Ragged) {
	x, ok := ast.Unparen(e).(*ast.VarExpr)
	if !ok {
		return nil, nil
	}
	v := w.c.info.Uses[x]
	if v == nil {
		return nil, nil
	}
	if v.Ragged != nil {
		return v, v.Ragged
	}
	return v, w.params[v]
}

func (w *raggedUses) children(n ast.Node) {
	for m := range ast.Children(n) {
		w.visit(m)
	}
}

func (w *raggedUses) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.VarExpr:
		if v, r := w.of(n); r != nil {
			w.c.raggedUse(n, v, r)
		}
	case *ast.IndexExpr:
		w.index(n)
	case *ast.CallExpr:
		w.call(n, n.Args)
	case *ast.Tilde:
		w.call(n, append([]ast.Expr{n.Variate}, n.Args...))
		if n.Trunc != nil {
			w.children(n.Trunc)
		}
	case *ast.Print:
		for _, a := range n.Args {
			if _, r := w.of(a); r == nil {
				w.visit(a)
			}
		}
	case *ast.ForEach:
		if v, r := w.of(n.Over); r == nil {
			w.visit(n.Over)
		} else if r.Outer > 1 {
			w.c.raggedUse(n.Over, v, r)
		}
		w.visit(n.Body)
	case *ast.VarDecl:
		w.visit(n.Type)
		if v := w.c.info.Defs[n]; n.Init != nil && v != nil && v.Ragged != nil {
			w.store(v, v.Ragged, n.Init)
		} else if n.Init != nil {
			w.visit(n.Init)
		}
	case *ast.TypeExpr:
		if w.types[n] {
			return
		}
		w.types[n] = true // declarations of several variables share it
		own := w.c.info.RaggedType(n)
		for i := range n.Bounds {
			v, r := w.of(n.Bounds[i].Value)
			if r == nil || own == nil {
				w.visit(&n.Bounds[i])
			} else if !w.same(r, own) {
				w.otherSizes(n.Bounds[i].Value, v)
			}
		}
		for _, e := range slices.Concat(n.ArrayDims, n.Sizes) {
			if e != nil {
				w.visit(e)
			}
		}
		for _, m := range n.Members {
			w.visit(m)
		}
	case *ast.Assign:
		if v, r := w.of(n.LHS); r != nil && n.Op == "=" {
			w.store(v, r, n.RHS)
			return
		}
		w.children(n)
	default:
		w.children(n)
	}
}

// same reports whether two variables have rows of the same sizes: those of one variable.
func (w *raggedUses) same(r, s *Ragged) bool {
	x, ok1 := ast.Unparen(r.Sizes).(*ast.VarExpr)
	y, ok2 := ast.Unparen(s.Sizes).(*ast.VarExpr)
	return ok1 && ok2 && w.c.info.Uses[x] == w.c.info.Uses[y] && r.Outer == s.Outer && r.At == s.At
}

func (w *raggedUses) otherSizes(e ast.Expr, v *Var) {
	w.c.report(diag.Errorf(diag.RaggedUse, e.Span(), "the sizes of the rows of `%s` are not declared by the same variable", v.Name), "",
		"declare both with the same sizes, or use the rows in a loop", note(&v.Ident, "it is declared here"))
}

// store checks the value of a whole ragged variable: another one with the same sizes, or a list of
// rows.
func (w *raggedUses) store(v *Var, r *Ragged, e ast.Expr) {
	if u, s := w.of(e); s != nil {
		if !w.same(r, s) {
			w.otherSizes(e, u)
		}
		return
	}
	if list, ok := ast.Unparen(e).(*ast.ArrayExpr); ok && r.Outer == 1 {
		w.children(list)
		return
	}
	w.children(e)
	w.c.report(diag.Errorf(diag.RaggedUse, e.Span(), "the rows of `%s` differ in size, so that it cannot be assigned as a whole", v.Name), "",
		fmt.Sprintf("assign its rows in a loop, as in %s[j] = …", v.Name), note(&v.Ident, "it is declared here"))
}

// index checks x[i…] and x[i][j…].
func (w *raggedUses) index(e *ast.IndexExpr) {
	base, indices := w.c.info.Indexed(e)
	for _, i := range indices {
		w.visit(i)
	}
	v, r := w.of(base)
	if r == nil {
		w.visit(base)
		return
	}
	w.c.oneRow(e, indices, v, r)
}

// oneRow reports an expression with these indices of the ragged variable v that is not within one
// row. It returns false after a report.
func (c *checker) oneRow(e ast.Expr, indices []ast.Index, v *Var, r *Ragged) bool {
	for k := range r.Outer {
		if k < len(indices) && c.info.Single(indices[k]) {
			continue
		}
		at := e.Span()
		if k < len(indices) {
			at = indices[k].Span()
		}
		c.report(diag.Errorf(diag.RaggedUse, at, "the rows of `%s` differ in size, so that they are used one at a time", v.Name), "",
			"use one row, and a loop over the rows", note(&v.Ident, "it is declared here"))
		return false
	}
	return true
}

// call checks the ragged arguments of a call. A user's function is checked again with its arguments
// known to be ragged.
func (w *raggedUses) call(n ast.Node, es []ast.Expr) {
	call := w.c.info.Calls[n]
	params, key := map[*Var]*Ragged{}, ""
	for i, e := range es {
		v, r := w.of(e)
		switch {
		case r == nil:
			w.visit(e)
		case call == nil:
		case call.Func != nil:
			if i < len(call.Func.Params) {
				params[call.Func.Params[i]] = r
			}
			key += fmt.Sprintf(" %d:%d,%d", i, r.Outer, r.At)
		case len(es) != 1 || call.Name != "size" && !r.OfAll(call.Name, v.Type):
			w.c.raggedUse(e, v, r)
		case v.Ragged == nil && call.Name != "size" && call.Name != "num_elements":
			w.c.raggedUse(e, v, r) // the type of the call is that for a rectangular argument
		}
	}
	if key == "" || call.Func.Decl.Body == nil {
		return
	}
	if key = fmt.Sprintf("%p%s", call.Func, key); w.seen[key] {
		return
	}
	w.seen[key] = true
	inner := &raggedUses{c: w.c, params: params, seen: w.seen, types: map[*ast.TypeExpr]bool{}}
	before := len(w.c.diags)
	inner.visit(call.Func.Decl.Body)
	for i := before; i < len(w.c.diags); i++ {
		d := &w.c.diags[i]
		d.Related = append(d.Related, note(n, "it is called here with a ragged argument"))
	}
}
