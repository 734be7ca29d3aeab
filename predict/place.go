package predict

import (
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: which elements of which variable a variate is.

// place is the elements of a variable of the data that a variate consists of.
type place struct {
	v       *check.Var
	indices []index // one for each dimension of v, but the last ones may be missing

	// flat says that two dimensions were laid out as one, column by column
	// (to_vector of a matrix) or row by row (to_array_1d of an array).
	flat string // "", "columns", "rows"

	// The variate is of(the elements), of being a function with an inverse; both
	// are "" where it is the elements themselves.
	of, inverse string
}

// index is one of the indices of a place.
type index struct {
	single bool // one element, given by a
	many   bool // the elements of an array of integers, a
	a, b   ast.Expr
}

// inverses are the functions of data whose inverse is known, for variates such
// as log(y). They act on each element.
var inverses = map[string]string{
	"log": "exp", "exp": "log", "sqrt": "square", "logit": "inv_logit", "inv_logit": "logit",
	"inv": "inv", "log1p": "expm1", "log10": "exp10", "inv_Phi": "Phi", "Phi": "inv_Phi", "cbrt": "pow3",
}

// placeOf finds out which elements of a variable of the data an expression is;
// nil if it is nothing of the kind.
func (a *analysis) placeOf(e ast.Expr) *place {
	switch e := ast.Unparen(e).(type) {
	case *ast.VarExpr:
		if v := a.info.Uses[e]; v != nil && a.observable(v) {
			return &place{v: v}
		}
	case *ast.IndexExpr:
		p := a.placeOf(e.X)
		if p == nil || p.of != "" || p.flat != "" {
			return nil
		}
		// An index of what was selected: only single elements may come before.
		for _, x := range p.indices {
			if !x.single {
				return nil
			}
		}
		for _, x := range e.Indices {
			p.indices = append(p.indices, a.index(x))
		}
		return p
	case *ast.Unary:
		// The transpose of a vector has the same elements.
		if t := a.typeOf(e.X); e.Op == "'" && t.Dims == 0 && t.Rank() == 1 {
			return a.placeOf(e.X)
		}
	case *ast.CallExpr:
		return a.placeOfCall(e)
	}
	return nil
}

func (a *analysis) index(x ast.Index) index {
	switch x := x.(type) {
	case *ast.Single:
		if a.typeOf(x.X).Dims > 0 {
			return index{many: true, a: x.X}
		}
		return index{single: true, a: x.X}
	case *ast.Range:
		return index{a: x.From, b: x.To}
	}
	return index{}
}

// placeOfCall knows the functions that select or rearrange elements.
func (a *analysis) placeOfCall(e *ast.CallExpr) *place {
	if len(e.Args) == 0 || a.info.Calls[e] == nil || a.info.Calls[e].Func != nil {
		return nil
	}
	p := a.placeOf(e.Args[0])
	if p == nil || p.of != "" || p.flat != "" {
		return nil
	}
	from := a.typeOf(e.Args[0])
	plus := func(x, y ast.Expr, minus int64) ast.Expr { // x + y - minus
		var s ast.Expr = &ast.Binary{Op: "+", X: paren(x), Y: paren(y)}
		return &ast.Binary{Op: "-", X: s, Y: literal(minus)}
	}
	size := &ast.CallExpr{Func: ast.Ident{Name: "size"}, Args: e.Args[:1]}
	add := func(x index) *place {
		for _, y := range p.indices {
			if !y.single {
				return nil
			}
		}
		p.indices = append(p.indices, x)
		return p
	}
	args := e.Args[1:]
	switch name := e.Func.Name; {
	case name == "to_vector" && from.Dims == 0 && from.Kind == types.Matrix && len(p.indices) == 0:
		p.flat = "columns"
		return p
	case name == "to_array_1d" && from.Rank() == 2 && from.Dims == 2 && len(p.indices) == 0:
		p.flat = "rows"
		return p
	case (name == "to_vector" || name == "to_row_vector" || name == "to_array_1d") && from.Rank() == 1:
		return p
	case name == "segment" && len(args) == 2:
		return add(index{a: args[0], b: plus(args[0], args[1], 1)})
	case name == "head" && len(args) == 1:
		return add(index{a: literal(1), b: args[0]})
	case name == "tail" && len(args) == 1:
		from := &ast.Binary{Op: "+", X: &ast.Binary{Op: "-", X: size, Y: paren(args[0])}, Y: literal(1)}
		return add(index{a: from})
	case name == "row" && len(args) == 1:
		return add(index{single: true, a: args[0]})
	case name == "col" && len(args) == 1 && len(p.indices) == 0:
		p.indices = []index{{}, {single: true, a: args[0]}}
		return p
	case inverses[name] != "" && len(args) == 0 && from.Rank() <= 1 && from.Scalar() == types.Real:
		p.of, p.inverse = name, inverses[name]
		return p
	}
	return nil
}

func literal(n int64) ast.Expr { return &ast.IntLit{Text: fmt.Sprint(n), Value: n} }

func paren(e ast.Expr) ast.Expr {
	switch e.(type) {
	case *ast.VarExpr, *ast.IntLit, *ast.Paren, *ast.CallExpr:
		return e
	}
	return &ast.Paren{X: e}
}

// free are the dimensions of the variable along which the place has several
// elements, in order.
func (p *place) free() []int {
	var out []int
	for d := range p.v.Type.Rank() {
		if d >= len(p.indices) || !p.indices[d].single {
			out = append(out, d)
		}
	}
	return out
}

// unit reports a place that a term of any form may be about: one element, or all
// elements with the same first indices, such as a row.
func (p *place) unit() bool {
	singles := 0
	for _, x := range p.indices {
		if !x.single {
			return false
		}
		singles++
	}
	return p.flat == "" && (singles > 0 || p.v.Type.Rank() == 0)
}

// at writes the indices of element i of the place along its first dimension, of
// dims dimensions of the variable; i is "" for a place that is one element, or
// whose elements are taken together. Further dimensions along which it has
// several elements are selected as the place selects them.
func (p *place) at(r rename, i string, dims int) string {
	if p.flat != "" {
		sizes, _ := sizesOf(p.v.Decl.(*ast.VarDecl).Type, p.v.Type)
		size := "(" + sizes[map[string]int{"columns": 0, "rows": 1}[p.flat]] + ")"
		fast, slow := fmt.Sprintf("(%s - 1) %% %s + 1", i, size), fmt.Sprintf("(%s - 1) %%/%% %s + 1", i, size)
		if p.flat == "columns" {
			return "[" + fast + ", " + slow + "]"
		}
		return "[" + slow + ", " + fast + "]"
	}
	var parts []string
	for d := range dims {
		x := index{}
		if d < len(p.indices) {
			x = p.indices[d]
		}
		text := ""
		switch {
		case x.single:
			text = r.text(x.a)
		case i == "" && x.many:
			text = r.text(x.a)
		case i == "":
			text = ":"
			if x.a != nil {
				text = r.text(x.a) + ":"
			}
			if x.b != nil {
				text += r.text(x.b)
			}
		case x.many:
			text, i = r.operand(x.a)+"["+i+"]", ""
		case x.a != nil:
			text, i = r.operand(x.a)+" + "+i+" - 1", ""
		default:
			text, i = i, ""
		}
		parts = append(parts, text)
	}
	for len(parts) > 0 && parts[len(parts)-1] == ":" {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 0 {
		return ""
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// same reports whether two places are the same elements as they are written.
func (p *place) same(q *place) bool {
	return p.v == q.v && p.flat == q.flat && p.at(nil, "", len(p.indices)) == q.at(nil, "", len(q.indices))
}
