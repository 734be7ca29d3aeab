// Package censor rewrites programs whose data are censored as ordinary programs. A statement about
// censored data becomes one that adds the density of each known value, and the log probability of
// the interval of each other value.
//
//	censor.go  Rewrite: the whole way, and the variables that say how values are censored
//	terms.go   statements and expressions about censored values
//
// The rewriting does not depend on the data. In transformed data, an integer for each value says
// how it is censored: -1 from the left, 0 not at all, 1 from the right, 2 in an interval. Binding
// evaluates it, so that each statement has the lanes of the known values and those of the others.
//
// An interval includes its ends. That matters for integers: a count that is censored at 10 from
// the right is 10 or more.
package censor

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Is reports whether a checked program has censored data.
func Is(info *check.Info) bool {
	for _, v := range info.Defs {
		if v.Censored {
			return true
		}
	}
	return false
}

// Rewrite returns a checked program without declarations of censored data. elementwise reports
// whether a call applies a function of numbers to each element of its arguments.
func Rewrite(f *ast.File, info *check.Info, elementwise func(*check.Call) bool) *ast.File {
	w := &writer{info: info, elementwise: elementwise, names: ast.NamesOf(f), cuts: map[*check.Var]*cut{}}
	out := *f
	out.Blocks = nil
	for _, b := range f.Blocks {
		switch b.Kind {
		case ast.Functions:
		case ast.Data:
			b = ast.Map(b, w.declaration).(*ast.Block)
		default:
			b = ast.Map(b, w.node).(*ast.Block)
		}
		out.Blocks = append(out.Blocks, b)
	}
	var declared []ast.Stmt
	for _, c := range w.used {
		declared = append(declared, c.declared...)
	}
	if declared == nil {
		return &out
	}
	at := slices.IndexFunc(out.Blocks, func(b *ast.Block) bool { return b.Kind >= ast.TransformedData })
	if at < 0 || out.Blocks[at].Kind != ast.TransformedData {
		if at < 0 {
			at = len(out.Blocks)
		}
		out.Blocks = slices.Insert(out.Blocks, at, &ast.Block{Base: ast.Base{Pos: declared[0].Span()}, Kind: ast.TransformedData})
	}
	b := *out.Blocks[at]
	b.Stmts = append(declared, b.Stmts...)
	out.Blocks[at] = &b
	return &out
}

// writer is the state of rewriting a program.
type writer struct {
	info        *check.Info
	elementwise func(*check.Call) bool

	names ast.Names
	cuts  map[*check.Var]*cut
	used  []*cut // in the order of their first use
}

// cut is a censored variable.
type cut struct {
	v        *check.Var
	t        *ast.TypeExpr
	sides    ast.Expr   // the variable that says how each value is censored
	declared []ast.Stmt // of transformed data
}

// limit returns the expression of an entry of the declaration; nil if it has none.
func (c *cut) limit(kind string) ast.Expr {
	if b := c.t.Bound(kind); b != nil {
		return b.Value
	}
	return nil
}

// integer reports whether the values are integers.
func (c *cut) integer() bool { return c.v.Type.Scalar() == types.Int }

// declaration returns a declaration of data without the entries about censored values.
func (w *writer) declaration(n ast.Node) ast.Node {
	d, ok := n.(*ast.VarDecl)
	if !ok || !d.Type.Cuts() {
		return n
	}
	out, t := *d, *d.Type
	t.Bounds = slices.DeleteFunc(slices.Clone(t.Bounds), func(b ast.Bound) bool { return b.Cuts() })
	if len(t.Bounds) == 0 {
		t.Bounds = nil
	}
	out.Type = &t
	return &out
}

// cut returns a censored variable that a statement is about.
func (w *writer) cut(v *check.Var) *cut {
	if c := w.cuts[v]; c != nil {
		return c
	}
	d := v.Decl.(*ast.VarDecl)
	c := &cut{v: v, t: d.Type}
	w.cuts[v] = c
	w.used = append(w.used, c)
	b := builder{v.Ident.Span()}
	sizes := slices.Concat(d.Type.ArrayDims, d.Type.Sizes)
	loops := make([]string, len(sizes))
	indices := make([]ast.Expr, len(sizes))
	for i := range sizes {
		loops[i] = w.names.New("i")
		indices[i] = b.name(loops[i])
	}
	at := func(e ast.Expr) ast.Expr {
		if w.info.Types[e].Type.IsScalar() {
			return e
		}
		return b.at(e, indices...)
	}
	y := b.at(b.name(v.Name), indices...)
	refuse := func(unless, x ast.Expr, name, why string) ast.Stmt {
		text := []ast.Expr{b.text(name)}
		for i, l := range loops {
			text = append(text, b.text(map[bool]string{true: "[", false: ", "}[i == 0]), b.name(l))
			if i == len(loops)-1 {
				text = append(text, b.text("]"))
			}
		}
		text = append(text, b.text(" is "), x, b.text(why))
		return &ast.If{Base: b.base(), Cond: &ast.Unary{Base: b.base(), Op: "!", X: unless}, Then: &ast.Reject{Base: b.base(), Args: text}}
	}
	var body []ast.Stmt
	to := c.limit(ast.CensoredTo)
	if s := c.limit(ast.Censored); s != nil {
		c.sides = s
		most, why := int64(1), ", which is none of -1 (censored from the left), 0 (known) and 1 (censored from the right)"
		if to != nil {
			most, why = 2, ", which is none of -1 (censored from the left), 0 (known), 1 (censored from the right) and 2 (in an interval)"
		}
		name := ast.Unparen(s).(*ast.VarExpr).Name
		body = append(body, refuse(b.op("&&", b.op(">=", at(s), b.int(-1)), b.op("<=", at(s), b.int(most))), at(s), name, why))
		if to != nil {
			body = append(body, refuse(b.op("||", b.op("!=", at(s), b.int(2)), b.op("<=", y, at(to))), y, v.Name, ", above the end of its interval"))
		}
	} else {
		name := w.names.New(v.Name + "_censored")
		c.sides = b.name(name)
		side := b.int(0)
		choose := func(cond ast.Expr, n int64) {
			side = &ast.Cond{Base: b.base(), Cond: cond, Then: b.int(n), Else: side}
		}
		if to != nil {
			body = append(body, refuse(b.op("<=", y, at(to)), y, v.Name, ", above the end of its interval"))
			choose(b.op("<", y, at(to)), 2)
			if !c.integer() {
				choose(b.op("==", at(to), b.call("positive_infinity")), 1)
				choose(b.op("==", y, b.call("negative_infinity")), -1)
			}
		}
		if x := c.limit(ast.CensoredAbove); x != nil {
			choose(b.op(">=", y, at(x)), 1)
		}
		if x := c.limit(ast.CensoredBelow); x != nil {
			choose(b.op("<=", y, at(x)), -1)
		}
		ints := &ast.TypeExpr{Base: b.base(), ArrayDims: sizes, Elem: "int"}
		decl := &ast.VarDecl{Base: b.base(), Type: ints, Name: b.ident(name)}
		if len(sizes) == 0 {
			decl.Init = side
		} else {
			body = append(body, &ast.Assign{Base: b.base(), LHS: b.at(b.name(name), indices...), Op: "=", RHS: side})
		}
		c.declared = append(c.declared, decl)
	}
	for i := len(sizes) - 1; i >= 0; i-- {
		body = []ast.Stmt{b.loop(loops[i], sizes[i], body...)}
	}
	c.declared = append(c.declared, body...)
	return c
}

// builder makes nodes of the written program. They have the position of the declaration or
// statement that they come from.
type builder struct{ pos source.Span }

func (b builder) base() ast.Base { return ast.Base{Pos: b.pos} }

func (b builder) ident(name string) ast.Ident { return ast.Ident{Base: b.base(), Name: name} }

func (b builder) int(n int64) ast.Expr {
	if n < 0 {
		return &ast.Unary{Base: b.base(), Op: "-", X: b.int(-n)}
	}
	return &ast.IntLit{Base: b.base(), Text: fmt.Sprint(n), Value: n}
}

func (b builder) half() ast.Expr { return &ast.RealLit{Base: b.base(), Text: "0.5", Value: 0.5} }

func (b builder) name(name string) ast.Expr { return &ast.VarExpr{Base: b.base(), Name: name} }

func (b builder) text(s string) ast.Expr { return &ast.StringLit{Base: b.base(), Value: s} }

func (b builder) op(op string, x, y ast.Expr) ast.Expr {
	return &ast.Binary{Base: b.base(), Op: op, OpPos: b.pos, X: x, Y: y}
}

func (b builder) call(f string, args ...ast.Expr) ast.Expr {
	return &ast.CallExpr{Base: b.base(), Func: b.ident(f), Args: args}
}

// given returns f(x | args).
func (b builder) given(f string, x ast.Expr, args []ast.Expr) ast.Expr {
	return &ast.CallExpr{Base: b.base(), Func: b.ident(f), Args: append([]ast.Expr{x}, args...), Bar: true}
}

// at returns x[indices], or x without indices.
func (b builder) at(x ast.Expr, indices ...ast.Expr) ast.Expr {
	if len(indices) == 0 {
		return x
	}
	e := &ast.IndexExpr{Base: b.base(), X: x}
	for _, i := range indices {
		e.Indices = append(e.Indices, &ast.Single{Base: b.base(), X: i})
	}
	return e
}

// loop returns for (i in 1:to) { body }.
func (b builder) loop(i string, to ast.Expr, body ...ast.Stmt) ast.Stmt {
	return &ast.For{Base: b.base(), Var: b.ident(i), From: b.int(1), To: to, Body: b.block(body...)}
}

func (b builder) block(stmts ...ast.Stmt) *ast.BlockStmt {
	return &ast.BlockStmt{Base: b.base(), Stmts: stmts}
}
