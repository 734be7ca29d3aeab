package service

import (
	"strings"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
)

// expectation is the kind of text that is allowed at a position, judged by the preceding tokens.
type expectation uint8

const (
	nothing      expectation = iota // within comments, strings and numbers, and for a new name
	blockHeader                     // outside of all blocks
	statement                       // at the beginning of a statement or declaration
	declaration                     // at the beginning of a declaration, where statements are not allowed
	function                        // at the beginning of the definition of a function
	typeName                        // a type
	parameter                       // a parameter of a function that is being defined
	boundName                       // lower, upper, offset, multiplier
	distribution                    // after ~
	expression
	includePath
)

// situation is a position and the tokens before it.
type situation struct {
	want    expectation
	word    source.Span     // the typed part of the word, up to its end
	tokens  []grammar.Token // before the word, without comments
	within  *ast.Block      // nil outside
	include source.Span     // the path on an #include line
}

// situation analyses a position.
func (s *Snapshot) situation(f *source.File, offset int) situation {
	tokens := s.fileTokens(f)
	ts := tokens.all
	at, ok := s.at(f, offset)
	st := situation{word: s.word(f, offset)}
	if ok {
		st.within = s.block(at)
	}
	if t, ok := s.token(f, offset); ok {
		switch {
		case t.Kind == grammar.IncludeLine || t.Kind == grammar.Bad && strings.HasPrefix(t.Span.Text(), "#"):
			st.want = includePath
			st.include = pathOf(t)
			return st
		case t.Kind == grammar.CommentText && t.Span.Start < offset && (offset < t.Span.End || strings.HasPrefix(t.Span.Text(), "//") || !strings.HasSuffix(t.Span.Text(), "*/")),
			(t.Kind == grammar.String || t.Kind == grammar.Number || t.Kind == grammar.Bad) && t.Span.Start < offset:
			return st
		}
	}
	n := tokensBefore(ts, st.word.Start)
	if n > 0 && ts[n-1].Span.End > st.word.Start && ts[n-1].Kind != grammar.CommentText {
		return st // the position is in a token that is not a word
	}
	code := tokens.code()
	st.tokens = code[:tokensBefore(code, st.word.Start)]
	st.want = st.expected()
	return st
}

// pathOf returns the file name in an #include line.
func pathOf(t grammar.Token) source.Span {
	text := t.Span.Text()
	i := min(len("#include"), len(text))
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '<' || text[i] == '"') {
		i++
	}
	end := i
	for end < len(text) && !strings.ContainsRune(" \t>\"\r", rune(text[end])) {
		end++
	}
	return source.Span{File: t.Span.File, Start: t.Span.Start + i, End: t.Span.Start + end}
}

func includeName(t grammar.Token) string { return lang.IncludeName(t.Span.Text()) }

// before returns the i-th token before the word, not counting comments; the zero Token if there are
// fewer.
func (st *situation) before(i int) grammar.Token {
	if i < 1 || i > len(st.tokens) {
		return grammar.Token{}
	}
	return st.tokens[len(st.tokens)-i]
}

func (st *situation) expected() expectation {
	if st.within == nil {
		return blockHeader
	}
	prev := st.before(1)
	text := prev.Span.Text()
	inFunctions := st.within.Kind == ast.Functions && !st.inBody()
	start := statement
	switch {
	case inFunctions:
		start = function
	case (st.within.Kind == ast.Data || st.within.Kind == ast.Parameters):
		start = declaration
	}
	open := st.opener()
	switch {
	case prev.Kind == grammar.TypeName || prev.Kind == grammar.Keyword && (text == "void" || text == "array" || text == "tuple"):
		return nothing // a name follows, or a bracket
	case text == "~":
		return distribution
	case text == "{" && st.before(2).Kind == grammar.Punct && strings.Contains("=(,[", st.before(2).Span.Text()):
		return expression
	case text == "" || text == "{" || text == "}" || text == ";" || text == "else":
		return start
	case text == "]" && st.arrayEnds():
		return typeName
	case text == "<" && st.before(2).Kind == grammar.TypeName, text == "," && st.boundsOpen():
		return boundName
	case inFunctions && (text == "(" || text == "," || text == "data"):
		return parameter
	case text == "(" && st.before(2).Span.Text() == "tuple", text == "," && open == "tuple(":
		return typeName
	case (text == "]" || text == ">") && st.inType(), text == "," && open == "" && st.inType():
		return nothing
	case text == ")" && st.headerEnds():
		return statement
	case text == "for" || text == "if" || text == "while" || text == "(" && st.before(2).Span.Text() == "for":
		return nothing
	case prev.Kind == grammar.Identifier || prev.Kind == grammar.Number || text == ")" || text == "]":
		return nothing // an operator follows
	}
	return expression
}

// inBody reports, for a position in the functions block, whether it is in a function's body: two
// braces are open.
func (st *situation) inBody() bool {
	depth := 0
	for _, t := range st.tokens {
		switch t.Span.Text() {
		case "{":
			depth++
		case "}":
			depth--
		}
	}
	own := 0 // the brace of the block, if it is in this file
	for i, t := range st.tokens {
		if t.Span.Text() == "functions" && i+1 < len(st.tokens) && st.tokens[i+1].Span.Text() == "{" {
			own = 1
		}
	}
	return depth > own
}

// opener returns the innermost open bracket before the position with the preceding word, such as
// "foo("; "" if no bracket of the statement is open.
func (st *situation) opener() string {
	depth := 0
	for i := 1; ; i++ {
		t := st.before(i)
		switch text := t.Span.Text(); text {
		case "", ";", "{", "}":
			return ""
		case ")", "]":
			depth++
		case "(", "[":
			if depth == 0 {
				return st.before(i+1).Span.Text() + text
			}
			depth--
		}
	}
}

// matching returns the distance, in tokens, to the bracket that the token at i closes; 0 if there
// is no such bracket.
func (st *situation) matching(i int) int {
	depth := 0
	for ; ; i++ {
		switch st.before(i).Span.Text() {
		case "", ";":
			return 0
		case ")", "]":
			depth++
		case "(", "[":
			if depth--; depth == 0 {
				return i
			}
		}
	}
}

// arrayEnds reports whether array[…] precedes the position.
func (st *situation) arrayEnds() bool {
	i := st.matching(1)
	return i > 0 && st.before(i+1).Span.Text() == "array"
}

// headerEnds reports whether for (…), if (…) or while (…) precedes the position.
func (st *situation) headerEnds() bool {
	i := st.matching(1)
	word := st.before(i + 1).Span.Text()
	return i > 0 && (word == "for" || word == "if" || word == "while")
}

// boundsOpen reports whether the bounds of a type are open: TYPE<… without > after.
func (st *situation) boundsOpen() bool {
	depth := 0
	for i := 1; ; i++ {
		switch t := st.before(i); t.Span.Text() {
		case "", ";", "{", "}", "=":
			if t.Span.Text() != "=" {
				return false
			}
		case ")", "]":
			depth++
		case "(", "[":
			if depth--; depth < 0 {
				return false
			}
		case ">":
			return false
		case "<":
			if depth == 0 {
				return st.before(i+1).Kind == grammar.TypeName
			}
		}
	}
}

// inType reports whether the statement so far is the beginning of a declaration.
func (st *situation) inType() bool {
	for i := 1; ; i++ {
		t := st.before(i)
		switch t.Span.Text() {
		case "", ";", "{", "}", ")":
			first := st.before(i - 1)
			return i > 1 && (first.Kind == grammar.TypeName || first.Span.Text() == "array" || first.Span.Text() == "tuple")
		case "=":
			if _, is := boundWords()[st.before(i+1).Span.Text()]; !is {
				return false
			}
		}
	}
}
