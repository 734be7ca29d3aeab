package grammar

import (
	"slices"

	"github.com/alecthomas/participle/v2/lexer"

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
	s := newScanner(f, Options{KeepIncludes: true})
	return s.appendTokens(make([]Token, 0, len(f.Text)/4), len(f.Text))
}

// TokensAfter returns the tokens of a text that differs from an older one between start and end.
// An offset after end plus shift is the offset in the older text. Only the text around the change
// is read again.
func TokensAfter(old []Token, f *source.File, start, end, shift int) []Token {
	adjacent := func(i int) bool { return 0 < i && i < len(old) && old[i-1].Span.End == old[i].Span.Start }
	// The tokens from first up to last are read again: those that touch the change, and what is
	// adjacent to them.
	first, _ := slices.BinarySearchFunc(old, start, func(t Token, at int) int { return t.Span.End - at })
	last := first
	for last < len(old) && (old[last].Span.Start-shift <= end || adjacent(last)) {
		last++
	}
	for adjacent(first) {
		first--
	}
	s := newScanner(f, Options{KeepIncludes: true})
	stop := len(f.Text)
	if first > 0 {
		s.pos = old[first-1].Span.End
	}
	if last < len(old) {
		stop = old[last].Span.Start - shift
	}
	out := make([]Token, first, len(old)+16)
	for i := range out {
		out[i] = Token{old[i].Kind, s.span(old[i].Span.Start, old[i].Span.End)}
	}
	if out = s.appendTokens(out, stop); s.pos != stop {
		return Tokens(f) // the change began a comment or a string
	}
	for _, t := range old[last:] {
		out = append(out, Token{t.Kind, s.span(t.Span.Start-shift, t.Span.End-shift)})
	}
	return out
}

// appendTokens reads up to an offset, or the end of the token there.
func (s *scanner) appendTokens(out []Token, stop int) []Token {
	for s.pos < stop {
		comments := len(s.comments)
		s.next()
		for _, c := range s.comments[comments:] {
			kind := CommentText
			if c.Pos.Text()[0] == '#' {
				kind = IncludeLine
			}
			out = append(out, Token{kind, c.Pos})
		}
		if s.ready {
			s.ready = false
			out = append(out, Token{tokenKinds[s.token.Type], s.span(s.token.Pos.Offset, end(&s.token))})
		}
	}
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
