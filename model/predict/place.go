package predict

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file finds the elements of a data variable that a variate consists of.

// place describes the elements of a data variable that form a variate.
type place struct {
	v       *check.Var
	indices []index // for each dimension of v; trailing ones may be missing

	// flat is the order in which two dimensions were flattened into one: by
	// columns (to_vector of a matrix) or by rows (to_array_1d of an array).
	flat string // "", "columns", "rows"

	// The variate is of(elements), where of is an invertible function. of and inverse are "" if the
	// variate is the elements themselves.
	of, inverse string
}

// index is one of the indices of a place.
type index struct {
	single bool // one element, with index a
	many   bool // the elements whose indices are in a, an array of integers
	a, b   ast.Expr
}

// inverses maps invertible functions of data to their inverses, for variates such as log(y). They
// act elementwise.
var inverses = map[string]string{
	"log": "exp", "exp": "log", "sqrt": "square", "logit": "inv_logit", "inv_logit": "logit",
	"inv": "inv", "log1p": "expm1", "log10": "exp10", "inv_Phi": "Phi", "Phi": "inv_Phi", "cbrt": "pow3",
}

// placeOf returns the elements of a data variable that an expression consists of; nil if it does
// not consist of such elements.
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
		// If the index applies to an expression that is indexed already, the earlier indices must
		// select single elements.
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

// placeOfCall handles functions that select or rearrange elements.
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
		return binary("-", binary("+", x, y), literal(minus))
	}
	size := call("size", e.Args[0])
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
		return add(index{a: binary("+", binary("-", size, args[0]), literal(1))})
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

// free returns the dimensions of the variable along which the place has several elements, in order.
func (p *place) free() []int {
	var out []int
	for d := range p.v.Type.Rank() {
		if d >= len(p.indices) || !p.indices[d].single {
			out = append(out, d)
		}
	}
	return out
}

// unit reports whether the place is one element, or all elements with the same leading indices,
// such as a row. Any form of term may be about such a place.
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

// at returns the indices of element i of the place along its first free dimension, for a variable
// with dims dimensions. i is nil if the place has one element, or if its elements are used
// together. The other indices are those of the place.
func (p *place) at(r rename, i ast.Expr, dims int) []ast.Index {
	if p.flat != "" {
		sizes := sizesOf(p.v.Decl.(*ast.VarDecl).Type, p.v.Type)
		size := sizes[map[string]int{"columns": 0, "rows": 1}[p.flat]]
		part := func(op string) ast.Index { // (i - 1) op size + 1
			return &ast.Single{X: binary("+", binary(op, binary("-", i, literal(1)), size), literal(1))}
		}
		fast, slow := part("%"), part("%/%")
		if p.flat == "columns" {
			return []ast.Index{fast, slow}
		}
		return []ast.Index{slow, fast}
	}
	var out []ast.Index
	for d := range dims {
		x := index{}
		if d < len(p.indices) {
			x = p.indices[d]
		}
		a := r.expr(x.a)
		switch {
		case x.single || i == nil && x.many:
			out = append(out, &ast.Single{X: a})
			continue
		case i == nil:
			out = append(out, &ast.Range{From: a, To: r.expr(x.b)})
			continue
		case x.many:
			i = element(a, i)
		case a != nil:
			i = binary("-", binary("+", a, i), literal(1))
		}
		out = append(out, &ast.Single{X: i})
		i = nil
	}
	for len(out) > 0 {
		last, ok := out[len(out)-1].(*ast.Range)
		if !ok || last.From != nil || last.To != nil {
			break
		}
		out = out[:len(out)-1]
	}
	return out
}

// same reports whether two places are written with the same indices.
func (p *place) same(q *place) bool {
	at := func(p *place) ast.Node {
		return &ast.IndexExpr{X: variable(p.v.Name), Indices: p.at(nil, nil, len(p.indices))}
	}
	return p.v == q.v && p.flat == q.flat && (p.flat != "" || ast.Equal(at(p), at(q)))
}
