package grammar

import (
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
)

func (l *lowerer) exprs(list []*Expr) []ast.Expr {
	var out []ast.Expr
	for _, e := range list {
		out = append(out, l.expr(e))
	}
	return out
}

// expr lowers an expression. It recurses, since the parser has limited the depth.
func (l *lowerer) expr(e *Expr) ast.Expr {
	base := l.base(e.Start, e.End)
	switch e.Kind {
	case exprInt:
		return l.intLit(e, base)
	case exprReal:
		return &ast.RealLit{Base: base, Text: e.Tok.Value, Value: l.real(e, e.Tok.Value)}
	case exprImag:
		return &ast.ImagLit{Base: base, Text: e.Tok.Value, Value: l.real(e, strings.TrimSuffix(e.Tok.Value, "i"))}
	case exprString:
		return &ast.StringLit{Base: base, Value: unquote(e.Tok.Value)}
	case exprVar:
		return &ast.VarExpr{Base: base, Name: e.Tok.Value}
	case exprCall:
		return &ast.CallExpr{Base: base, Func: l.ident(*e.Tok), Args: l.exprs(e.Kids), Bar: e.Bar}
	case exprTarget:
		return &ast.Target{Base: base}
	case exprUnary:
		return &ast.Unary{Base: base, Op: e.Tok.Value, X: l.expr(e.Kids[0])}
	case exprBinary:
		return &ast.Binary{Base: base, Op: e.Tok.Value, OpPos: spanOf(l, *e.Tok), X: l.expr(e.Kids[0]), Y: l.expr(e.Kids[1])}
	case exprCond:
		return &ast.Cond{Base: base, Cond: l.expr(e.Kids[0]), Then: l.expr(e.Kids[1]), Else: l.expr(e.Kids[2])}
	case exprIndex:
		out := &ast.IndexExpr{Base: base, X: l.expr(e.Kids[0])}
		for _, i := range e.Indices {
			out.Indices = append(out.Indices, l.indexNode(i))
		}
		return out
	case exprMember:
		return &ast.TupleMember{Base: base, X: l.expr(e.Kids[0]), Member: l.member(e)}
	case exprArray:
		return &ast.ArrayExpr{Base: base, Elems: l.exprs(e.Kids)}
	case exprRowVector:
		return &ast.RowVectorExpr{Base: base, Elems: l.exprs(e.Kids)}
	case exprTuple:
		return &ast.TupleExpr{Base: base, Elems: l.exprs(e.Kids)}
	case exprParen:
		return &ast.Paren{Base: base, X: l.expr(e.Kids[0])}
	}
	return &ast.VarExpr{Base: base} // exprBad: the tree has errors anyway
}

func (l *lowerer) indexNode(i *Index) ast.Index {
	base := l.base(i.Start, i.End)
	switch {
	case i.Colon:
		out := &ast.Range{Base: base}
		if i.From != nil {
			out.From = l.expr(i.From)
		}
		if i.To != nil {
			out.To = l.expr(i.To)
		}
		return out
	case i.From != nil:
		return &ast.Single{Base: base, X: l.expr(i.From)}
	}
	return &ast.All{Base: base}
}

// intLit parses an integer. A value that is too large saturates, and check refuses it.
func (l *lowerer) intLit(e *Expr, base ast.Base) ast.Expr {
	v, _ := strconv.ParseInt(strings.ReplaceAll(e.Tok.Value, "_", ""), 10, 64)
	return &ast.IntLit{Base: base, Text: e.Tok.Value, Value: v}
}

func (l *lowerer) real(e *Expr, text string) float64 {
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil {
		l.add(diag.BadNumber, l.span(e.Start, e.End), "this number is too large for double precision").Fix =
			"for infinity, write `positive_infinity()`"
	}
	return v
}

// member parses the number of a tuple member from its token, such as `.2`.
func (l *lowerer) member(e *Expr) int {
	text := strings.ReplaceAll(strings.TrimPrefix(e.Tok.Value, "."), "_", "")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		l.add(diag.BadNumber, spanOf(l, *e.Tok), "`%s` is no member of a tuple", text).Fix = "members are numbered from 1, as in `x.1`"
		return 1
	}
	return n
}
