package grammar

import (
	"slices"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/source"
)

// Token is a token or comment of a text, for tools that process text which need not be a program.
type Token struct {
	Kind TokenKind
	Span source.Span
}

// TokenKind is the kind of a [Token].
type TokenKind uint8

// The kinds of tokens.
const (
	Identifier TokenKind = iota
	Keyword              // of statements, blocks, bounds
	TypeName             // of an element type
	Number
	String
	Punct
	CommentText
	IncludeLine
	Bad // characters with which no token begins
)

var tokenKinds = map[lexer.TokenType]TokenKind{
	tokIdent: Identifier, tokKeyword: Keyword, tokType: TypeName, tokInt: Number, tokReal: Number, tokDot: Number,
	tokImag: Number, tokString: String, tokPunct: Punct, tokAssign: Punct, tokBad: Bad,
}

// Tokens returns the tokens and comments of any text, in order.
func Tokens(f *source.File) []Token {
	s := scan(f, Options{KeepIncludes: true})
	out := make([]Token, 0, len(s.tokens)+len(s.comments))
	for _, t := range s.tokens {
		if !t.EOF() {
			out = append(out, Token{tokenKinds[t.Type], s.span(t.Pos.Offset, end(&t))})
		}
	}
	for _, c := range s.comments {
		kind := CommentText
		if c.Pos.Text()[0] == '#' {
			kind = IncludeLine
		}
		out = append(out, Token{kind, c.Pos})
	}
	sorting.Stable(out, func(a, b Token) int { return a.Span.Start - b.Span.Start })
	return out
}

// TypeNames returns the names of the element types, in alphabetical order.
func TypeNames() []string {
	var out []string
	for name := range typeNames {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// IsName reports whether a word may be declared as a name.
func IsName(word string) bool {
	if word == "" || !isLetter(word[0]) || Reserved(word) || keywords[word] {
		return false
	}
	for i := range len(word) {
		if !isNameByte(word[i]) {
			return false
		}
	}
	_, typ := typeNames[word]
	return !typ && !(len(word) > 1 && word[len(word)-2:] == "__")
}
