package printer

import (
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
)

// typ writes a type.
func (p *printer) typ(t *ast.TypeExpr) doc {
	var out concat
	pos := t.Pos.Start
	if len(t.ArrayDims) > 0 {
		out = append(out, p.leaf(pos, "array"), text("["))
		if t.ArrayDims[0] != nil {
			out = append(out, p.sizes(t.ArrayDims))
		} else {
			out = append(out, text(strings.Repeat(",", len(t.ArrayDims)-1)))
		}
		out = append(out, text("] "))
	}
	if t.Elem == "tuple" {
		out = append(out, text("tuple("))
		for i, m := range t.Members {
			if i > 0 {
				out = append(out, text(", "))
			}
			out = append(out, p.typ(m))
		}
		if len(t.Members) == 1 {
			out = append(out, text(","))
		}
		return append(out, text(")"))
	}
	if len(t.ArrayDims) > 0 {
		out = append(out, text(t.Elem))
	} else {
		out = append(out, p.leaf(pos, t.Elem))
	}
	for i := range t.Bounds {
		b := &t.Bounds[i]
		if i == 0 {
			out = append(out, text("<"))
		} else {
			out = append(out, text(", "))
		}
		out = append(out, p.bound(b))
	}
	if len(t.Bounds) > 0 {
		out = append(out, text(">"))
	}
	if len(t.Sizes) > 0 {
		out = append(out, text("["), p.sizes(t.Sizes), text("]"))
	}
	return out
}

func (p *printer) bound(b *ast.Bound) doc {
	b = complete(p, b)
	if b.Kind == ast.Missing {
		return p.leaf(b.Pos.Start, b.Kind)
	}
	return concat{p.leaf(b.Pos.Start, b.Kind), text("="), p.expr(b.Value)}
}

// sizes writes the sizes of a type, on several lines if necessary.
func (p *printer) sizes(list []ast.Expr) doc {
	var out fill
	for i, e := range list {
		if i == len(list)-1 {
			out = append(out, p.expr(e))
		} else {
			out = append(out, concat{p.expr(e), text(",")}, soft{" "})
		}
	}
	return nest{out, continued}
}

// list writes expressions in brackets: on one line, or else on one line within the brackets, or
// else one per line.
func (p *printer) list(open string, list []ast.Expr, close string) doc {
	if len(list) == 0 {
		return text(open + close)
	}
	var items concat
	for i, e := range list {
		if i > 0 {
			items = append(items, text(","), soft{" "})
		}
		items = append(items, p.operand(e))
	}
	return group{concat{text(open), nest{concat{soft{}, group{items}}, level}, soft{}, text(close)}}
}

// literal writes the elements of an array or row vector, with as many on a line as fit.
func (p *printer) literal(open string, list []ast.Expr, close string) doc {
	if len(list) == 0 {
		return text(open + close)
	}
	var items fill
	for i, e := range list {
		d := p.operand(e)
		if i+1 < len(list) {
			items = append(items, concat{d, text(",")}, soft{" "})
		} else {
			items = append(items, d)
		}
	}
	if breaks(items) { // some comments end their line, perhaps the last one
		return group{concat{text(open), nest{concat{soft{}, items}, level}, soft{}, text(close)}}
	}
	return concat{text(open), nest{items, level}, text(close)}
}

// operand writes an expression with the comments after it.
func (p *printer) operand(e ast.Expr) doc {
	d := p.expr(e)
	if a := p.after(e.Span().End); a != nil {
		return concat{d, a}
	}
	return d
}

// expr writes an expression.
func (p *printer) expr(e ast.Expr) doc {
	if p.written {
		e = ast.AsWritten(e)
	}
	e = complete(p, e)
	pos := e.Span().Start
	switch e := e.(type) {
	case *ast.IntLit:
		return p.leaf(pos, e.Text)
	case *ast.RealLit:
		return p.leaf(pos, e.Text)
	case *ast.ImagLit:
		return p.leaf(pos, e.Text)
	case *ast.StringLit:
		return p.leaf(pos, `"`+e.Value+`"`)
	case *ast.VarExpr:
		return p.leaf(pos, e.Name)
	case *ast.Target:
		return concat{p.leaf(pos, "target"), text("()")}
	case *ast.CallExpr:
		return p.call(e)
	case *ast.Unary:
		if e.Op == "'" {
			return concat{p.expr(e.X), text("'")}
		}
		op := p.leaf(pos, e.Op)
		if u, ok := e.X.(*ast.Unary); ok && u.Op == e.Op {
			op = concat{op, text(" ")} // with a blank, so that -- is not read as a decrement
		}
		return concat{op, p.expr(e.X)}
	case *ast.Binary:
		return p.binary(e)
	case *ast.Cond:
		cond := p.operand(e.Cond)
		then := p.operand(e.Then)
		return group{concat{cond, nest{concat{soft{" "}, text("? "), then, soft{" "}, text(": "), p.expr(e.Else)}, level}}}
	case *ast.IndexExpr:
		out := concat{p.expr(e.X), text("[")}
		for i, x := range e.Indices {
			if i > 0 {
				out = append(out, text(", "))
			}
			out = append(out, p.index(x))
		}
		return append(out, text("]"))
	case *ast.TupleMember:
		dot := "."
		switch e.X.(type) {
		case *ast.IntLit, *ast.RealLit, *ast.ImagLit:
			dot = " ." // x is not a tuple here, but 0 .5 must not become 0.5
		}
		return concat{p.expr(e.X), text(dot + strconv.Itoa(e.Member))}
	case *ast.ArrayExpr:
		return p.literal("{", e.Elems, "}")
	case *ast.RowVectorExpr:
		return p.literal("[", e.Elems, "]")
	case *ast.TupleExpr:
		if e.Rows > 0 {
			return p.expr(e.Elems[0])
		}
		if len(e.Elems) == 1 {
			return concat{text("("), p.expr(e.Elems[0]), text(",)")}
		}
		return p.list("(", e.Elems, ")")
	case *ast.Paren:
		return concat{text("("), nest{p.expr(e.X), level}, text(")")}
	}
	return nil
}

func (p *printer) call(e *ast.CallExpr) doc {
	name := p.leaf(e.Func.Pos.Start, e.Func.Name)
	if !e.Bar {
		return concat{name, p.list("(", e.Args, ")")}
	}
	var items concat
	for i, a := range e.Args {
		switch {
		case i == 1:
			items = append(items, text(" |"), soft{" "})
		case i > 1:
			items = append(items, text(","), soft{" "})
		}
		items = append(items, p.operand(a))
	}
	if len(e.Args) == 1 {
		items = append(items, text(" |"))
	}
	return concat{name, group{concat{text("("), nest{concat{soft{}, group{items}}, level}, soft{}, text(")")}}}
}

// binary writes a chain of operators of the same strength, with one operand per line if they do not
// fit on one.
func (p *printer) binary(e *ast.Binary) doc {
	var chain func(e ast.Expr, strength int) concat
	chain = func(x ast.Expr, strength int) concat {
		b, ok := x.(*ast.Binary)
		if !ok || ast.Strength(b.Op) != strength || b.Op == "^" || b.Op == ".^" {
			return concat{p.operand(x)}
		}
		b = complete(p, b)
		out := chain(b.X, strength)
		before := p.before(b.OpPos.Start)
		// A comment after the operator goes to the end of the preceding line.
		after := p.after(b.OpPos.Start + len(b.Op))
		return append(out, after, soft{" "}, before, text(b.Op+" "), p.operand(b.Y))
	}
	if e.Op == "^" || e.Op == ".^" {
		x := p.expr(e.X)
		op := p.leaf(e.OpPos.Start, e.Op)
		return concat{x, text(" "), op, text(" "), p.expr(e.Y)}
	}
	list := chain(e, ast.Strength(e.Op))
	return group{concat{list[0], nest{list[1:], level}}}
}

func (p *printer) index(i ast.Index) doc {
	switch i := i.(type) {
	case *ast.Single:
		return p.expr(i.X)
	case *ast.Range:
		var out concat
		if i.From != nil {
			out = append(out, p.expr(i.From))
		}
		out = append(out, text(":"))
		if i.To != nil {
			out = append(out, p.expr(i.To))
		}
		return out
	}
	return nil
}
