package grammar

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// This file: expressions. They are parsed by precedence climbing over the tokens, because
// participle has no left recursion. Expr, BoundExpr, Args and Sizes connect this with the grammar
// structs of stmt.go.

// exprKind is the kind of an Expr.
type exprKind uint8

const (
	exprBad exprKind = iota // a token that the lexer has reported
	exprInt
	exprReal
	exprImag
	exprString
	exprVar
	exprCall   // Text is the function, Kids the arguments; Bar: the first is followed by |
	exprTarget // target()
	exprUnary
	exprBinary
	exprCond
	exprIndex  // Kids[0][Indices]
	exprMember // Kids[0].Text
	exprArray
	exprRowVector
	exprTuple
	exprParen
)

// Expr is an expression: one struct for all kinds, which is lowered to package ast.
type Expr struct {
	Kind       exprKind
	Bar        bool
	Start, End int          // byte offsets
	Tok        *lexer.Token // the literal, name or operator
	Kids       []*Expr
	Indices    []*Index
	height     int // height of the tree, which is limited, so that later stages may recurse
}

// Index is one index of an exprIndex: the expression From or, with Colon, a range from From to To,
// which may be nil. Without From and Colon it is the empty index.
type Index struct {
	Start, End int
	From, To   *Expr
	Colon      bool
}

// maxDepth is the maximum nesting of brackets, statements and operators, so that no recursive stage
// can exhaust the stack.
const maxDepth = 1000

// maxHeight is the maximum height of expression trees. It exceeds maxDepth, because a long sum is a
// high tree without nesting, and recursion over trees needs less of the stack than the parser.
const maxHeight = 10_000

// Binding strengths, weakest first. Unary operators are between `*` and `^`: -x ^ 2 is -(x ^ 2), -x
// * y is (-x) * y.
const (
	precLowest = iota
	precCond
	precOr
	precAnd
	precEqual
	precCompare
	precAdd
	precMul
	precDivLeft // \ and %/%
	precUnary
	precPow
)

// binaryPrec returns the strength of a binary operator, 0 for any other token.
func binaryPrec(op string) int {
	switch op {
	case "||":
		return precOr
	case "&&":
		return precAnd
	case "==", "!=":
		return precEqual
	case "<", "<=", ">", ">=":
		return precCompare
	case "+", "-":
		return precAdd
	case "*", "/", "%", ".*", "./":
		return precMul
	case `\`, "%/%":
		return precDivLeft
	case "^", ".^":
		return precPow
	}
	return precLowest
}

// failure is a syntax error without a message: its position, and what was expected. explain.go
// converts it to a diagnostic.
type failure struct {
	tok  lexer.Token
	want string       // what was expected, for the message
	open *lexer.Token // the innermost open bracket, if any
}

// Error implements error, as participle requires.
func (f *failure) Error() string { return "expected " + f.want }

// What a failure may expect, other than literal tokens.
const (
	wantExpr     = "an expression"
	wantName     = "a name"
	wantShallow  = "less nesting" // the tree is too deep
	wantNoString = "no string"    // there is a string outside print and reject
)

// Parse implements participle.Parseable.
func (e *Expr) Parse(lex *lexer.PeekingLexer) error { return e.parseAt(lex, precLowest) }

func (e *Expr) parseAt(lex *lexer.PeekingLexer, prec int) error {
	p := exprParser{PeekingLexer: lex}
	x, err := p.expr(prec)
	if err != nil {
		return err
	}
	*e = *x
	return nil
}

// BoundExpr is an expression within <…>. It may not contain comparisons or
// weaker operators outside parentheses, since > ends the bounds.
type BoundExpr struct{ Expr }

// Parse implements participle.Parseable.
func (e *BoundExpr) Parse(lex *lexer.PeekingLexer) error {
	start := lex.MakeCheckpoint()
	if at(lex, "{") {
		open := lex.Next()
		if lex.Peek().Type == tokString { // labels
			p := exprParser{PeekingLexer: lex}
			list, close, err := p.strings(open, "}")
			if err == nil {
				e.Expr = Expr{Kind: exprArray, Start: open.Pos.Offset, End: end(close), Tok: open, Kids: list}
			}
			return err
		}
		lex.LoadCheckpoint(start)
	}
	return e.parseAt(lex, precAdd)
}

// Args is a parenthesised list of expressions.
type Args struct {
	List []*Expr
	End  int
}

// Parse implements participle.Parseable.
func (a *Args) Parse(lex *lexer.PeekingLexer) error {
	if !at(lex, "(") {
		return participle.NextMatch
	}
	p := exprParser{PeekingLexer: lex}
	open := lex.Next()
	list, err := p.list(open, ")")
	if err != nil {
		return err
	}
	a.List, a.End = list, end(lex.Next())
	return nil
}

// Sizes is a bracketed list of sizes, any of which may be missing: [3, N], [,].
type Sizes struct {
	List       []*Expr // a missing size is nil
	Start, End int
}

// Parse implements participle.Parseable.
func (s *Sizes) Parse(lex *lexer.PeekingLexer) error {
	if !at(lex, "[") {
		return participle.NextMatch
	}
	p := exprParser{PeekingLexer: lex}
	open := lex.Next()
	s.Start = open.Pos.Offset
	for {
		var x *Expr
		if !at(lex, ",") && !at(lex, "]") {
			var err error
			if x, err = p.inside(open); err != nil {
				return err
			}
		}
		s.List = append(s.List, x)
		if at(lex, ",") {
			lex.Next()
			continue
		}
		close, err := p.close(open, "]", "`,` or `]`")
		if err != nil {
			return err
		}
		s.End = end(close)
		return nil
	}
}

// at reports whether the next token is this punctuation.
func at(lex *lexer.PeekingLexer, punct string) bool {
	return isPunct(*lex.Peek(), punct)
}

// end returns the offset after a token.
func end(t *lexer.Token) int { return t.Pos.Offset + len(t.Value) }

// exprParser parses one expression. Its methods return a *failure as error, and leave the lexer at
// the wrong token.
type exprParser struct {
	*lexer.PeekingLexer
	depth int
}

func (p *exprParser) fail(want string, open *lexer.Token) error {
	return &failure{tok: *p.Peek(), want: want, open: open}
}

// node completes an expression that ends with its last part.
func (p *exprParser) node(e *Expr) (*Expr, error) {
	for _, k := range e.Kids {
		e.height = max(e.height, k.height+1)
	}
	for _, i := range e.Indices {
		for _, k := range []*Expr{i.From, i.To} {
			if k != nil {
				e.height = max(e.height, k.height+1)
			}
		}
	}
	if e.height > maxHeight {
		return nil, p.fail(wantShallow, nil)
	}
	return e, nil
}

// expr parses an expression whose operators bind at least as strongly as prec.
func (p *exprParser) expr(prec int) (*Expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(wantShallow, nil)
	}
	defer func() { p.depth-- }()

	x, err := p.unary()
	if err != nil {
		return nil, err
	}
	for {
		t := p.Peek()
		if t.Type != tokPunct {
			return x, nil
		}
		if t.Value == "?" && prec <= precCond {
			if x, err = p.cond(x); err != nil {
				return nil, err
			}
			continue
		}
		opPrec := binaryPrec(t.Value)
		if opPrec == precLowest || opPrec < prec {
			return x, nil
		}
		op := p.Next()
		// The right operand of a left-associative operator must bind more strongly; powers are
		// right-associative.
		right := opPrec + 1
		if opPrec == precPow {
			right = precPow
		}
		y, err := p.expr(right)
		if err != nil {
			return nil, err
		}
		if x, err = p.node(&Expr{Kind: exprBinary, Start: x.Start, End: y.End, Tok: op, Kids: []*Expr{x, y}}); err != nil {
			return nil, err
		}
	}
}

// cond parses the rest of c ? a : b, which is right-associative.
func (p *exprParser) cond(c *Expr) (*Expr, error) {
	op := p.Next()
	a, err := p.expr(precCond)
	if err != nil {
		return nil, err
	}
	if !at(p.PeekingLexer, ":") {
		return nil, p.fail("`:`", op)
	}
	p.Next()
	b, err := p.expr(precCond)
	if err != nil {
		return nil, err
	}
	return p.node(&Expr{Kind: exprCond, Start: c.Start, End: b.End, Tok: op, Kids: []*Expr{c, a, b}})
}

func (p *exprParser) unary() (*Expr, error) {
	t := p.Peek()
	if t.Type == tokPunct && (t.Value == "-" || t.Value == "+" || t.Value == "!") {
		op := p.Next()
		x, err := p.expr(precUnary)
		if err != nil {
			return nil, err
		}
		return p.node(&Expr{Kind: exprUnary, Start: op.Pos.Offset, End: x.End, Tok: op, Kids: []*Expr{x}})
	}
	return p.primary()
}

// primary parses an atom and the following indices, members and transposes.
func (p *exprParser) primary() (*Expr, error) {
	x, err := p.atom()
	for err == nil {
		t := p.Peek()
		switch {
		case t.Type == tokDot:
			p.Next()
			x, err = p.node(&Expr{Kind: exprMember, Start: x.Start, End: end(t), Tok: t, Kids: []*Expr{x}})
		case t.Type == tokPunct && t.Value == "[":
			x, err = p.index(x)
		case t.Type == tokPunct && t.Value == "'":
			p.Next()
			x, err = p.node(&Expr{Kind: exprUnary, Start: x.Start, End: end(t), Tok: t, Kids: []*Expr{x}})
		default:
			return x, nil
		}
	}
	return nil, err
}

func (p *exprParser) atom() (*Expr, error) {
	t := p.Peek()
	e := &Expr{Start: t.Pos.Offset, End: end(t), Tok: t}
	switch t.Type {
	case tokInt:
		e.Kind = exprInt
	case tokReal, tokDot:
		e.Kind = exprReal
	case tokImag:
		e.Kind = exprImag
	case tokBad:
		e.Kind = exprBad
	case tokString:
		return nil, p.fail(wantNoString, nil)
	case tokIdent:
		p.Next()
		if at(p.PeekingLexer, "(") {
			return p.call(e)
		}
		e.Kind = exprVar
		return e, nil
	case tokKeyword:
		if t.Value != "target" {
			return nil, p.fail(wantExpr, nil)
		}
		p.Next()
		if !at(p.PeekingLexer, "(") {
			return nil, p.fail("`(`", nil)
		}
		e.Kind = exprTarget
		open := p.Next()
		close, err := p.close(open, ")", "`)`")
		if err != nil {
			return nil, err
		}
		e.End = end(close)
		return e, nil
	case tokPunct:
		switch t.Value {
		case "(":
			return p.paren()
		case "[":
			return p.sequence(exprRowVector, "]")
		case "{":
			return p.sequence(exprArray, "}")
		}
		return nil, p.fail(wantExpr, nil)
	default:
		return nil, p.fail(wantExpr, nil)
	}
	p.Next()
	return e, nil
}

// call parses the arguments of a call of the name in e.
func (p *exprParser) call(e *Expr) (*Expr, error) {
	e.Kind = exprCall
	open := p.Next()
	if !at(p.PeekingLexer, ")") {
		first, err := p.inside(open)
		if err != nil {
			return nil, err
		}
		e.Kids = []*Expr{first}
		switch {
		case at(p.PeekingLexer, "|"):
			p.Next()
			e.Bar = true
			if at(p.PeekingLexer, ")") {
				break
			}
			rest, err := p.list(open, ")")
			if err != nil {
				return nil, err
			}
			e.Kids = append(e.Kids, rest...)
		case at(p.PeekingLexer, ","):
			p.Next()
			rest, err := p.nonEmptyList(open, ")")
			if err != nil {
				return nil, err
			}
			e.Kids = append(e.Kids, rest...)
		}
	}
	close, err := p.close(open, ")", "`,` or `)`")
	if err != nil {
		return nil, err
	}
	e.End = end(close)
	return p.node(e)
}

// paren parses (x) or a tuple: (x, y), (x,).
func (p *exprParser) paren() (*Expr, error) {
	open := p.Next()
	e := &Expr{Kind: exprParen, Start: open.Pos.Offset, Tok: open}
	x, err := p.inside(open)
	if err != nil {
		return nil, err
	}
	e.Kids = []*Expr{x}
	if at(p.PeekingLexer, ",") {
		e.Kind = exprTuple
		p.Next()
		rest, err := p.list(open, ")")
		if err != nil {
			return nil, err
		}
		e.Kids = append(e.Kids, rest...)
	}
	close, err := p.close(open, ")", "`)`")
	if err != nil {
		return nil, err
	}
	e.End = end(close)
	return p.node(e)
}

// sequence parses an array {…} or a row vector […]. Only a row vector may be empty, because the
// element type of an empty array is unknown.
func (p *exprParser) sequence(kind exprKind, closer string) (*Expr, error) {
	open := p.Next()
	parse := p.list
	if kind == exprArray {
		parse = p.nonEmptyList
	}
	list, err := parse(open, closer)
	if err != nil {
		return nil, err
	}
	close := p.Next()
	return p.node(&Expr{Kind: kind, Start: open.Pos.Offset, End: end(close), Tok: open, Kids: list})
}

// list parses expressions up to the closing bracket, which the caller parses.
func (p *exprParser) list(open *lexer.Token, closer string) ([]*Expr, error) {
	if at(p.PeekingLexer, closer) {
		return nil, nil
	}
	return p.nonEmptyList(open, closer)
}

func (p *exprParser) nonEmptyList(open *lexer.Token, closer string) ([]*Expr, error) {
	var out []*Expr
	for {
		x, err := p.inside(open)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
		switch {
		case at(p.PeekingLexer, closer):
			return out, nil
		case !at(p.PeekingLexer, ","):
			return nil, p.fail("`,` or `"+closer+"`", open)
		}
		p.Next()
	}
}

// strings parses expressions, of which some may be strings, and the closing bracket.
func (p *exprParser) strings(open *lexer.Token, closer string) (out []*Expr, close *lexer.Token, err error) {
	for {
		var x *Expr
		if t := p.Peek(); t.Type == tokString {
			p.Next()
			x = &Expr{Kind: exprString, Start: t.Pos.Offset, End: end(t), Tok: t}
		} else if x, err = p.inside(open); err != nil {
			return nil, nil, err
		}
		out = append(out, x)
		if at(p.PeekingLexer, ",") {
			p.Next()
			continue
		}
		close, err = p.close(open, closer, "`,` or `"+closer+"`")
		return out, close, err
	}
}

// index parses x[i, a:b, , :].
func (p *exprParser) index(x *Expr) (*Expr, error) {
	open := p.Next()
	e := &Expr{Kind: exprIndex, Start: x.Start, Tok: open, Kids: []*Expr{x}}
	for {
		i := &Index{Start: p.Peek().Pos.Offset}
		i.End = i.Start
		var err error
		if !at(p.PeekingLexer, ",") && !at(p.PeekingLexer, "]") && !at(p.PeekingLexer, ":") {
			if i.From, err = p.inside(open); err != nil {
				return nil, err
			}
			i.End = i.From.End
		}
		if at(p.PeekingLexer, ":") {
			i.Colon = true
			i.End = end(p.Next())
			if !at(p.PeekingLexer, ",") && !at(p.PeekingLexer, "]") {
				if i.To, err = p.inside(open); err != nil {
					return nil, err
				}
				i.End = i.To.End
			}
		}
		e.Indices = append(e.Indices, i)
		if at(p.PeekingLexer, ",") {
			p.Next()
			continue
		}
		close, err := p.close(open, "]", "`,` or `]`")
		if err != nil {
			return nil, err
		}
		e.End = end(close)
		return p.node(e)
	}
}

// inside parses an expression within an open bracket. If no expression begins, the failure includes
// the bracket.
func (p *exprParser) inside(open *lexer.Token) (*Expr, error) {
	start := p.Cursor()
	x, err := p.expr(precLowest)
	if f, ok := err.(*failure); ok && f.open == nil && p.Cursor() == start {
		f.open = open
	}
	return x, err
}

// close parses the closing bracket.
func (p *exprParser) close(open *lexer.Token, closer, want string) (*lexer.Token, error) {
	if !at(p.PeekingLexer, closer) {
		return nil, p.fail(want, open)
	}
	return p.Next(), nil
}
