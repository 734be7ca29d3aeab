package grammar

import (
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
)

// This file: rules of explain.go for habits from other languages, and for parts of a type that have
// wrong brackets or are missing.

// operand matches a comment that may be the right side of a division by `//`: a value up to the end
// of the statement or of a header, without two adjacent words.
var operand = regexp.MustCompile(`^//\s*[\w(.][\w.()\[\]+*/%^, -]*(?:[<>=!|&]=?[\w.()\[\]+*/%^, -]+)*[;{]\s*(?://.*)?$`)

// twoWords matches adjacent words, which occur in prose but not in expressions.
var twoWords = regexp.MustCompile(`[A-Za-z_]\w*\s+[A-Za-z_]`)

// integerDivision explains `N // 2`, which is Python's syntax: the statement breaks off at a
// comment that looks like the rest of an expression.
func integerDivision(s *situation) (d diag.Diagnostic, ok bool) {
	if s.i == s.start || !s.newLine() && !s.tok.EOF() {
		return d, false
	}
	from := end(&s.prev)
	line, _, _ := strings.Cut(s.file.Text[from:], "\n")
	comment := strings.TrimLeft(line, " \t")
	value := s.prev.Type == tokInt || s.prev.Type == tokReal || s.prev.Type == tokIdent || isPunct(s.prev, ")") || isPunct(s.prev, "]")
	// A declaration without a value, such as `int N // n;`, has nothing to divide.
	declares := beginsType(s.first) && s.open < 0 && !slices.ContainsFunc(s.tokens[s.start:s.i], func(t lexer.Token) bool { return t.Type == tokAssign })
	if !value || declares || !operand.MatchString(strings.TrimRight(comment, " \t\r")) || twoWords.MatchString(strings.TrimLeft(comment, "/ \t")) {
		return d, false
	}
	s.swallowed = s.swallowed || strings.Contains(comment, "{")
	from += len(line) - len(comment)
	d = diag.Errorf(diag.UnexpectedToken, s.span(from, from+2), "`//` begins a comment: it does not divide")
	d.Detail = "The rest of the line is ignored, so the statement is not complete."
	d.Fix = "divide integers by `%/%`; for real numbers, write `floor(a / b)`"
	d.Replace("%/%")
	return d, true
}

// foreignWords explains words of other languages in places of an operator or a part of a header.
func foreignWords(s *situation) (d diag.Diagnostic, ok bool) {
	if s.fail.want == "`>`" {
		return d, false
	}
	opener := s.at(s.open - 1)
	switch {
	case isPunct(s.prev, "%") && isPunct(s.tok, "%") && end(&s.prev) == s.tok.Pos.Offset && !isPunct(s.at(s.i+1), "%"):
		return s.instead(s.prev, s.tok, "there is no operator `%%`", "%"), true
	case s.prev.Type == tokAssign && s.prev.Value == "=" && (isPunct(s.tok, "*") || isPunct(s.tok, "/")) && end(&s.prev) == s.tok.Pos.Offset:
		return s.instead(s.prev, s.tok, "there is no operator `="+s.tok.Value+"`", s.tok.Value+"="), true
	case isWord(&s.tok, "in") && (opener.Value == "foreach" || opener.Value == "parfor"):
		return s.instead(opener, opener, "there is no statement `"+opener.Value+"`", "for"), true
	case isWord(&s.tok, "in") && s.condition():
		d = s.error(diag.UnexpectedToken, s.tok, "there is no operator `in`")
		d.Fix = "compare with both ends, as in `a <= x && x <= b`"
		return d, true
	case isWord(&s.first, "switch") && isPunct(s.tok, "{"):
		d = s.error(diag.UnexpectedToken, s.first, "there is no statement `switch`")
		d.Fix = "write `if (…) … else if (…) … else …`"
		return d, true
	case isWord(&s.prev, "do") && s.i-1 > s.start && s.fail.want == wantSemi:
		d = s.error(diag.UnexpectedToken, s.prev, "there is no word `do` in the language")
		d.Fix = "leave it out: after the header comes the statement, or several in braces"
		d.Replace("")
		return d, true
	case isPunct(s.tok, ":") && s.fail.want == "a statement" && isPunct(s.prev, ")"):
		d = s.error(diag.UnexpectedToken, s.tok, "a header does not end with `:`")
		d.Fix = "leave it out: after the header comes the statement, or several in braces"
		d.Replace("")
		return d, true
	case s.fail.want == wantSemi && s.tok.Type == tokIdent && words[s.tok.Value] != "" && s.tok.Value != "then" && !s.newLine():
		return s.instead(s.tok, s.tok, "there is no operator "+describe(s.tok), words[s.tok.Value]), true
	case s.i == s.start && isPunct(s.tok, "%"):
		d = s.error(diag.HashComment, s.tok, "`%%` does not begin a comment")
		d.Fix = "begin the comment with `//`"
		d.Replace("//")
		return d, true
	}
	return d, false
}

// instead returns an error about the text from one token to another. Its help has the text to write
// instead.
func (s *situation) instead(from, to lexer.Token, summary, write string) diag.Diagnostic {
	d := s.error(diag.UnexpectedToken, from, "%s", summary)
	d.Span.End = end(&to)
	d.Fix = "write `" + write + "`"
	d.Replace(write)
	return d
}

// foreignOutput explains strings in calls of functions from other languages.
func foreignOutput(s *situation) (d diag.Diagnostic, ok bool) {
	if s.tok.Type != tokString {
		return d, false
	}
	if s.prev.Type == tokIdent && end(&s.prev) == s.tok.Pos.Offset && strings.Contains("f r b F R B u", s.prev.Value) {
		d = s.error(diag.UnexpectedToken, s.prev, "strings have no prefix such as `%s`", s.prev.Value)
		d.Span.End = end(&s.tok)
		d.Fix = "give text and values as arguments with commas between them, as in `print(\"x is \", x)`"
		return d, true
	}
	call := s.at(s.open - 1)
	word := ""
	switch call.Value {
	case "printf", "println", "cat", "message", "echo", "puts", "display":
		word = "print"
	case "stop", "error", "raise", "throw", "abort":
		word = "reject"
	default:
		return d, false
	}
	if before := s.at(s.open - 2); s.open > s.start+1 && !isPunct(before, ")") && !isWord(&before, "else") {
		return d, false
	}
	d = s.instead(call, call, "there is no statement `"+call.Value+"`", word)
	return d, true
}

// wrongBrackets explains sizes in the brackets of bounds, bounds in those of sizes, and both in
// parentheses.
func wrongBrackets(s *situation) (d diag.Diagnostic, ok bool) {
	if !beginsType(s.first) {
		return d, false
	}
	bounds := ast.BoundNames()
	next := s.at(s.i + 1)
	switch {
	case s.fail.want == wantName && isPunct(s.tok, "(") && s.prev.Type == tokType && slices.Contains(bounds, next.Value):
		d = s.error(diag.BadBound, s.tok, "bounds are written between `<` and `>`")
		d.Fix = "write as in `" + s.prev.Value + "<lower=0>`"
		d.Edits = s.otherBrackets(s.i, "<", ">")
	case s.fail.want == wantName && isPunct(s.tok, "(") && s.prev.Type == tokType && s.prev.Value != "real" && s.prev.Value != "int":
		d = s.error(diag.BadSize, s.tok, "sizes are written in square brackets")
		d.Fix = "write as in `" + s.prev.Value + "[N]`"
		d.Edits = s.otherBrackets(s.i, "[", "]")
	case s.fail.want == wantName && isPunct(s.tok, "[") && isPunct(s.prev, "]") && slices.ContainsFunc(s.tokens[s.start:s.i], func(t lexer.Token) bool { return isWord(&t, "matrix") || t.Value == "matrix" }):
		d = s.error(diag.BadSize, s.tok, "the sizes of a matrix are in one pair of brackets")
		d.Fix = "write as in `matrix[M, N]`"
		d.Edits = []diag.Edit{{Span: s.span(s.prev.Pos.Offset, end(&s.tok)), Text: ", "}}
	case s.fail.want == "`>`" && (isPunct(s.tok, "]") || isPunct(s.tok, ")")):
		d = s.error(diag.UnexpectedToken, s.tok, "bounds end with `>`, not %s", describe(s.tok))
		d.Fix = "write `>`"
		d.Replace(">")
	case s.fail.want == "`=`" && isPunct(s.tok, ":"):
		d = s.error(diag.UnexpectedToken, s.tok, "a bound has `=` before its value")
		d.Fix = "write `=`"
		d.Replace("=")
	case s.fail.want == "`=`" && isPunct(s.tok, ">") && slices.Contains(bounds, s.prev.Value):
		d = s.error(diag.UnexpectedToken, s.tok, "the bound `%s` has no value", s.prev.Value)
		d.Fix = "give it one, as in `<lower=0>`, or remove the bound"
	case s.fail.want == "a bound" && isPunct(s.tok, ">") && isPunct(s.prev, ","):
		d = s.trailingComma()
	case s.fail.want == "`=`" && isPunct(s.tok, ">") && isPunct(s.at(s.i-2), "<"):
		d = s.error(diag.BadBound, s.prev, "there is no bound called `%s`", s.prev.Value)
		d.Detail = "The bounds are lower, upper, offset and multiplier."
		switch typ := s.at(s.i - 3); {
		case strings.HasPrefix(s.prev.Value, "pos") || strings.HasPrefix(s.prev.Value, "nonneg"):
			d.Fix = "write `lower=0`"
			d.Replace("lower=0")
		case typ.Type == tokType && typ.Value != "real" && typ.Value != "int":
			d.Fix = "if it is the size, write `" + typ.Value + "[" + s.prev.Value + "]`"
			d.Edits = []diag.Edit{{Span: s.span(s.at(s.i-2).Pos.Offset, end(&s.tok)), Text: "[" + s.prev.Value + "]"}}
		default:
			d.Fix = "name the bound, as in `<lower=0>`"
		}
	case strings.HasSuffix(s.fail.want, "`]`") && s.open > s.start && isPunct(s.tokens[s.open], "[") && s.typeUpTo(s.open) &&
		!s.newLine() && (s.tok.Type == tokIdent && words[s.tok.Value] == "" && isDeclaratorEnd(next) || s.tok.Type == tokType):
		d = s.error(diag.UnclosedBracket, s.tok, "`]` is missing before %s", describe(s.tok))
		d.Related = []diag.Note{{Span: spanOf(s.lowerer, s.tokens[s.open]), Message: "this `[` is not closed"}}
		d.Fix = "add `]`"
		d.Edits = []diag.Edit{{Span: s.span(end(&s.prev), end(&s.prev)), Text: "]"}}
	default:
		return d, false
	}
	return d, true
}

// typeUpTo reports whether the tokens before i can be the beginning of a type, so that a bracket
// there contains sizes.
func (s *situation) typeUpTo(i int) bool {
	before := s.tokens[i-1]
	return beginsType(before) || isPunct(before, ">")
}

// isDeclaratorEnd reports whether a token can follow the name of a declared variable.
func isDeclaratorEnd(t lexer.Token) bool {
	return isPunct(t, ";") || isPunct(t, ",") || t.Type == tokAssign
}

// otherBrackets returns the edits that replace a pair of parentheses by other brackets; nil if the
// pair does not close before the statement ends.
func (s *situation) otherBrackets(open int, left, right string) []diag.Edit {
	edits := s.brackets(open, "")
	if edits != nil {
		edits[0].Text, edits[len(edits)-1].Text = left, right
	}
	return edits
}

func (s *situation) trailingComma() diag.Diagnostic {
	d := s.error(diag.UnexpectedToken, s.prev, "nothing follows this comma")
	d.Fix = "remove the comma"
	d.Replace("")
	return d
}

// signature explains errors in the parameter list of a function.
func signature(s *situation) (d diag.Diagnostic, ok bool) {
	switch {
	case !s.functions || s.open < 0:
		return d, false
	case isPunct(s.tok, ")") && isPunct(s.prev, ","):
		return s.trailingComma(), true
	case s.tok.Type == tokAssign && s.tok.Value == "=" || isPunct(s.tok, "="):
		d = s.error(diag.UnexpectedToken, s.tok, "parameters of functions have no default values")
		d.Fix = "remove the `=` and the value, and give the argument in every call"
		return d, true
	case isWord(&s.prev, "array") && s.tok.Type == tokType:
		d = s.error(diag.UnexpectedToken, s.tok, "the brackets of the array are missing before %s", describe(s.tok))
		d.Fix = "write `array[] " + s.tok.Value + "`"
		at := end(&s.prev)
		d.Edits = []diag.Edit{{Span: s.span(at, at), Text: "[]"}}
		return d, true
	}
	return d, false
}

// typeAsFunction explains int(x), and Int<lower=0> x, whose first word the parser reads as a
// variable.
func typeAsFunction(s *situation) (d diag.Diagnostic, ok bool) {
	if s.i == s.start+2 && s.first.Type == tokIdent && isPunct(s.prev, "<") && slices.Contains(ast.BoundNames(), s.tok.Value) {
		return unknownTypeAt(s, s.first), true
	}
	if s.fail.want != wantExpr || s.tok.Type != tokType || !isPunct(s.at(s.i+1), "(") {
		return d, false
	}
	d = s.error(diag.UnexpectedToken, s.tok, "`%s` is a type, not a function", s.tok.Value)
	switch s.tok.Value {
	case "int", "vector", "row_vector", "matrix":
		d.Fix = "write `to_" + s.tok.Value + "`"
		d.Replace("to_" + s.tok.Value)
	case "real":
		d.Fix = "leave it out: an int is also a real"
		d.Replace("")
	}
	return d, true
}

// misnamed explains a wrong token after the name of a declared variable: a character that names
// cannot have, or a bound.
func misnamed(s *situation) (d diag.Diagnostic, ok bool) {
	if s.fail.want != wantSemi || !beginsType(s.first) || s.i != s.start+2 || s.prev.Type != tokIdent {
		return d, false
	}
	value := s.at(s.i + 1)
	switch {
	case s.tok.Type == tokDot && end(&s.prev) == s.tok.Pos.Offset:
		name := s.prev.Value + "_" + s.tok.Value[1:]
		return s.instead(s.prev, s.tok, "a name has letters, digits and underscores only", name), true
	case isPunct(s.tok, "-") && end(&s.prev) == s.tok.Pos.Offset && value.Pos.Offset == end(&s.tok) && (value.Type == tokIdent || value.Type == tokInt):
		return s.instead(s.prev, value, "a name has letters, digits and underscores only", s.prev.Value+"_"+value.Value), true
	case (isPunct(s.tok, ">") || isPunct(s.tok, ">=") || isPunct(s.tok, "<=")) && isPunct(s.at(s.i+2), ";"):
		bound := "lower"
		if isPunct(s.tok, "<=") {
			bound = "upper"
		}
		bound = "<" + bound + "=" + value.Value + ">"
		d = s.error(diag.BadBound, s.tok, "bounds come before the name, directly after the type")
		d.Fix = "write `" + s.first.Value + bound + " " + s.prev.Value + "`"
		d.Edits = []diag.Edit{{Span: s.span(s.first.Pos.Offset, end(&value)), Text: s.first.Value + bound + " " + s.prev.Value}}
		return d, true
	}
	return d, false
}

// missingPart describes what to write where a value is missing.
func missingPart(s *situation) string {
	switch {
	case isPunct(s.prev, ",") && (isPunct(s.tok, ")") || isPunct(s.tok, "]") || isPunct(s.tok, "}")):
		return "remove the comma, or write another value after it"
	case isPunct(s.prev, ","):
		return "write a value between the two, or remove one of them"
	case isPunct(s.tok, ",") || binaryPrec(s.tok.Value) > precLowest && !isPunct(s.tok, ">"):
		return "write a value before `" + s.tok.Value + "`, or remove it"
	case isPunct(s.tok, ">"):
		return "write the value of the bound, as in `<lower=0>`"
	case s.prev.Type == tokAssign:
		return "write a value after `" + s.prev.Value + "`"
	case s.prev.Type == tokPunct && binaryPrec(s.prev.Value) > precLowest:
		return "write a value after `" + s.prev.Value + "`, or remove the operator"
	}
	return ""
}
