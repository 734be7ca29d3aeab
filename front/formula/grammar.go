package formula

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ppl-lang/ppl/compile/data"
)

// maxLength is the maximum length of a formula in bytes. It also limits the depth of its tree.
const maxLength = 4096

// The grammar is the same for terms and for arithmetic; the context decides whether a sum or a
// product is one or the other. Precedence is as in R, from weak to strong: + -, then * and /, then
// :, then ^.

// tree is a formula.
type tree struct {
	Outcome *atom   `parser:"@@"`
	Extras  []*atom `parser:"('|' @@ ('+' @@)*)? '~'"`
	Terms   *sum    `parser:"@@"`
}

// sum is a sum of terms, or of numbers.
type sum struct {
	Sign  string     `parser:"@('+' | '-')?"`
	First *product   `parser:"@@"`
	Rest  []*sumRest `parser:"@@*"`
}

type sumRest struct {
	Op string   `parser:"@('+' | '-')"`
	X  *product `parser:"@@"`
}

// product crosses or nests terms, or multiplies or divides numbers.
type product struct {
	First *inter         `parser:"@@"`
	Rest  []*productRest `parser:"@@*"`
}

type productRest struct {
	Op string `parser:"@('*' | '/')"`
	X  *inter `parser:"@@"`
}

// inter is an interaction of terms.
type inter struct {
	Of []*power `parser:"@@ (':' @@)*"`
}

// power raises a sum of terms, or a number, to a power.
type power struct {
	Base *atom `parser:"@@"`
	Exp  *atom `parser:"('^' @@)?"`
}

// atom is a name, a number, a call or what is in parentheses.
type atom struct {
	Pos    lexer.Position
	EndPos lexer.Position
	Minus  *atom  `parser:"  '-' @@"`
	Number string `parser:"| @Number"`
	Text   string `parser:"| @String"`
	Call   *call  `parser:"| @@"`
	Name   string `parser:"| @Name"`
	Group  *bars  `parser:"| '(' @@ ')'"`
}

// call is a call of a function.
type call struct {
	Name string `parser:"@Name '('"`
	Args []*arg `parser:"(@@ (',' @@)*)? ')'"`
}

// arg is an argument, which may have a name.
type arg struct {
	Name  string `parser:"(@Name '=')?"`
	Value *sum   `parser:"@@"`
}

// bars is a sum in parentheses. With a bar, its terms vary by group.
type bars struct {
	Of    *sum   `parser:"@@"`
	By    string `parser:"(@('||' | '|')"`
	Group *sum   `parser:"@@)?"`
}

// at returns the position of an atom.
func (a *atom) at() place { return place{a.Pos.Offset, a.EndPos.Offset} }

// at returns the position of a sum.
func (s *sum) at() place {
	first := s.First.First.Of[0].Base
	last := s.First
	if n := len(s.Rest); n > 0 {
		last = s.Rest[n-1].X
	}
	return place{first.Pos.Offset, last.at().end}
}

// at returns the position of a product.
func (p *product) at() place {
	last := p.First
	if n := len(p.Rest); n > 0 {
		last = p.Rest[n-1].X
	}
	end := last.Of[len(last.Of)-1]
	at := place{p.First.Of[0].Base.Pos.Offset, end.Base.EndPos.Offset}
	if end.Exp != nil {
		at.end = end.Exp.EndPos.Offset
	}
	return at
}

// parse parses a formula.
func parse(text string) (*tree, *Error) {
	if len(text) > maxLength {
		return nil, errorf(place{}, "write a shorter formula, and edit the model", "the formula is longer than %d bytes", maxLength)
	}
	const form = "write the outcome, ~ and the terms, as in: y ~ x + (1 | group)"
	if !strings.Contains(text, "~") {
		return nil, errorf(place{0, len(text)}, form, "a formula has a ~ between the outcome and its predictors")
	}
	lex, err := lexer.NewSimple([]lexer.SimpleRule{
		{Name: "space", Pattern: `\s+`},
		{Name: "Number", Pattern: `([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?`},
		{Name: "String", Pattern: `"[^"]*"|'[^']*'`},
		{Name: "Name", Pattern: namePattern},
		{Name: "Punct", Pattern: `\|\||[-~+*/:^()|,=]`},
	})
	if err != nil {
		return nil, errorf(place{}, "", "internal error: %v", err)
	}
	p, err := participle.Build[tree](participle.Lexer(lex), participle.UseLookahead(3))
	if err != nil {
		return nil, errorf(place{}, "", "internal error: %v", err)
	}
	t, err := p.ParseString("", text)
	if err == nil {
		return t, nil
	}
	at, message := place{0, len(text)}, err.Error()
	var found participle.Error
	if errors.As(err, &found) {
		start := min(found.Position().Offset, max(len(text)-1, 0))
		at, message = place{start, start + 1}, found.Message()
	}
	// The parser's own message names rules of the grammar, which users do not know.
	if token := (*participle.UnexpectedTokenError)(nil); errors.As(err, &token) {
		message = fmt.Sprintf("%q is not expected here", token.Unexpected.Value)
		if token.Unexpected.EOF() {
			message = "it ends too early"
		}
	}
	return nil, errorf(at, form, "this is no formula: %s", message)
}

// Columns lists the names in a formula, of columns and of functions, as a program writes them.
func Columns(text string) []string {
	var out []string
	for _, name := range regexp.MustCompile(namePattern).FindAllString(text, -1) {
		out = append(out, data.ColumnName(strings.Trim(name, "`")))
	}
	return out
}

// namePattern matches names, as in R, and those in backquotes.
const namePattern = "`[^`]+`|[\\pL.][\\pL\\pN._]*"
