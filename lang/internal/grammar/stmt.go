package grammar

import (
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// This file: the grammar of statements and declarations, as participle structs. It is LL(1): the
// first token of each alternative decides, and lookahead is 0. So a failure is always reported at
// the wrong token, and never hidden by another alternative.
//
// It accepts more than the language: sizes and bounds anywhere in a type, old array syntax, any
// expression as a statement. Lowering refuses these, with better messages.

// parsers has the compiled grammar, which is immutable.
type parsers struct {
	stmt *participle.Parser[Stmt]
	fun  *participle.Parser[FuncDef]
}

// grammar compiles the structs at its first use.
var grammar = sync.OnceValues(func() (*parsers, error) {
	opts := []participle.Option{participle.Lexer(definition{}), participle.UseLookahead(0)}
	stmt, err := participle.Build[Stmt](opts...)
	if err != nil {
		return nil, err
	}
	fun, err := participle.Build[FuncDef](opts...)
	return &parsers{stmt, fun}, err
})

// Stmt is one statement or declaration. The most frequent alternatives come first, because trying
// one costs an allocation in participle.
type Stmt struct {
	Tokens []lexer.Token

	ExprStmt *ExprStmt `parser:"  @@"`
	Decl     *Decl     `parser:"| @@"`
	For      *For      `parser:"| @@"`
	Add      *Add      `parser:"| @@"`
	If       *If       `parser:"| @@"`
	Block    *Block    `parser:"| @@"`
	Return   *Return   `parser:"| @@"`
	Output   *Output   `parser:"| @@"`
	While    *While    `parser:"| @@"`
	Jump     *Jump     `parser:"| @@"`
	Profile  *Profile  `parser:"| @@"`
	Empty    bool      `parser:"| @';'"`
}

// Decl declares variables of one type.
type Decl struct {
	Type  *Type         `parser:"@@"`
	Names []*Declarator `parser:"@@ (',' @@)*"`
	Semi  Semi          `parser:"@@"`
}

// Declarator is a name with an optional initial value. Old is the size in the array syntax that
// Stan has dropped.
type Declarator struct {
	Tokens []lexer.Token

	Name Name   `parser:"@@"`
	Old  *Sizes `parser:"@@?"`
	Init *Expr  `parser:"('=' @@)?"`
}

// Type is a type with any sizes and bounds: an array of elements, or one plain element.
type Type struct {
	Tokens []lexer.Token

	Array *Sizes `parser:"( 'array' @@"`
	Of    *Elem  `parser:"  @@"`
	Plain *Elem  `parser:"| @@ )"`
}

// elem returns the element type of an array, or the type itself.
func (t *Type) elem() *Elem {
	if t.Of != nil {
		return t.Of
	}
	return t.Plain
}

// Elem is a type other than an array.
type Elem struct {
	Tokens []lexer.Token

	Members []*Type  `parser:"( 'tuple' '(' @@ ',' (@@ (',' @@)*)? ')'"`
	Name    string   `parser:"| @Type"`
	Bounds  []*Bound `parser:"  ('<' @@ (',' @@)* '>')?"`
	Sizes   *Sizes   `parser:"  @@? )"`
}

// Bound is one entry of <…>; lowering checks its name.
type Bound struct {
	Tokens []lexer.Token

	Missing bool       `parser:"( @'missing'"`
	Extra   *BoundExpr `parser:"  ('=' @@)?"`
	Kind    string     `parser:"| @(Keyword | Ident) '='"`
	Value   *BoundExpr `parser:"  @@ )"`
}

// FuncDef defines or declares a function.
type FuncDef struct {
	Tokens []lexer.Token

	Void    bool     `parser:"( @'void'"`
	Result  *Type    `parser:"| @@ )"`
	Name    Name     `parser:"@@"`
	Params  []*Param `parser:"'(' (@@ (',' @@)*)? ')'"`
	Body    *Block   `parser:"( @@"`
	Forward bool     `parser:"| @';' )"`
}

// Param is a parameter of a function.
type Param struct {
	Tokens []lexer.Token

	Data bool   `parser:"@'data'?"`
	Type *Type  `parser:"@@"`
	Name Name   `parser:"@@"`
	Old  *Sizes `parser:"@@?"`
}

// If is the conditional.
type If struct {
	Cond *Expr `parser:"'if' '(' @@ ')'"`
	Then *Stmt `parser:"@@"`
	Else *Stmt `parser:"('else' @@)?"`
}

// For is a loop over a range or, without To, over a container.
type For struct {
	Var  Name  `parser:"'for' '(' @@ 'in'"`
	From *Expr `parser:"@@"`
	To   *Expr `parser:"(':' @@)? ')'"`
	Body *Stmt `parser:"@@"`
}

// While is a loop with a condition.
type While struct {
	Cond *Expr `parser:"'while' '(' @@ ')'"`
	Body *Stmt `parser:"@@"`
}

// Add is target += e or jacobian += e.
type Add struct {
	What  string `parser:"@('target' | 'jacobian') '+='"`
	Value *Expr  `parser:"@@"`
	Semi  Semi   `parser:"@@"`
}

// Output is print, reject or fatal_error.
type Output struct {
	What string     `parser:"@('print' | 'reject' | 'fatal_error')"`
	Args *PrintArgs `parser:"@@"`
	Semi Semi       `parser:"@@"`
}

// Jump is break or continue.
type Jump struct {
	What string `parser:"@('break' | 'continue')"`
	Semi Semi   `parser:"@@"`
}

// Return leaves a function.
type Return struct {
	Word  string `parser:"@'return'"`
	Value *Expr  `parser:"@@?"`
	Semi  Semi   `parser:"@@"`
}

// Profile times a block.
type Profile struct {
	Name string `parser:"'profile' '(' @String ')'"`
	Body *Block `parser:"@@"`
}

// ExprStmt is a statement that begins with an expression: an assignment, a distribution statement,
// a call, or a mistake.
type ExprStmt struct {
	LHS   *First `parser:"@@"`
	Op    string `parser:"( @Assign"`
	RHS   *Expr  `parser:"  @@"`
	Tilde *Tilde `parser:"| @@ )?"`
	Semi  Semi   `parser:"@@"`
}

// First is an expression that begins a statement. It must not begin like another kind of statement.
type First struct{ Expr }

// Parse implements participle.Parseable.
func (e *First) Parse(lex *lexer.PeekingLexer) error {
	switch t := lex.Peek(); t.Type {
	case tokType, tokKeyword, tokAssign, tokString, lexer.EOF:
		return participle.NextMatch
	case tokPunct:
		if !strings.Contains("([-+!", t.Value) && !(t.Value == "{" && beginsArray(lex)) {
			return participle.NextMatch
		}
	}
	return e.Expr.Parse(lex)
}

// beginsArray reports whether a brace begins an array, as in `{1, 2} ~ normal(0, 1);`, rather than
// a block. An array contains no semicolon, and no statement follows it.
func beginsArray(lex *lexer.PeekingLexer) bool {
	start := lex.MakeCheckpoint()
	defer lex.LoadCheckpoint(start)
	for depth := 0; ; {
		switch t := lex.Next(); {
		case t.EOF() || t.Type == tokType || t.Type == tokKeyword && t.Value != "target" || isPunct(*t, ";"):
			return false
		case isPunct(*t, "{"):
			depth++
		case isPunct(*t, "}"):
			if depth--; depth == 0 {
				next := lex.Peek()
				return next.Type == tokDot || next.Type == tokPunct && !strings.Contains("{};(", next.Value)
			}
		}
	}
}

// Tilde is the right-hand side of a distribution statement.
type Tilde struct {
	Dist  Name   `parser:"'~' @@"`
	Args  *Args  `parser:"@@"`
	Trunc *Trunc `parser:"@@?"`
}

// Trunc is T[lower, upper].
type Trunc struct {
	Tokens []lexer.Token

	Lower *Expr `parser:"'T' '[' @@?"`
	Upper *Expr `parser:"',' @@? ']'"`
}

// Name is an identifier that is declared or refers to a distribution.
type Name struct{ Tok lexer.Token }

// Parse implements participle.Parseable.
func (n *Name) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if t.Type != tokIdent {
		return &failure{tok: *t, want: wantName}
	}
	n.Tok = *lex.Next()
	return nil
}

// Semi is the semicolon that ends a statement. It is a separate type, so that a missing one is
// recognised.
type Semi struct{ End int }

const wantSemi = "`;`"

// Parse implements participle.Parseable.
func (s *Semi) Parse(lex *lexer.PeekingLexer) error {
	if !at(lex, ";") {
		return &failure{tok: *lex.Peek(), want: wantSemi}
	}
	s.End = end(lex.Next())
	return nil
}

// PrintArgs is a parenthesised list that may contain strings.
type PrintArgs struct{ List []*Expr }

// Parse implements participle.Parseable.
func (a *PrintArgs) Parse(lex *lexer.PeekingLexer) error {
	if !at(lex, "(") {
		return participle.NextMatch
	}
	p := exprParser{PeekingLexer: lex}
	var err error
	a.List, _, err = p.strings(lex.Next(), ")")
	return err
}
