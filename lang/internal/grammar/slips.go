package grammar

import (
	"slices"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
)

// This file: rules of explain.go for slips of a beginner, whose message would otherwise only name
// the token that was found.

// wrongMark explains a wrong or foreign mark in a statement.
func wrongMark(s *situation) (d diag.Diagnostic, ok bool) {
	next, second := s.at(s.i+1), s.at(s.start+1)
	adjacent := s.i > s.start && end(&s.prev) == s.tok.Pos.Offset
	switch {
	case isPunct(s.first, "-") && isPunct(second, "-") && end(&s.first) == second.Pos.Offset:
		d = s.error(diag.HashComment, s.first, "`--` does not begin a comment")
		d.Span.End = end(&second)
		d.Fix = "begin the comment with `//`"
		d.Replace("//")
	case isPunct(s.prev, "~") && adjacent && (s.tok.Type == tokAssign || isPunct(s.tok, "=")):
		d = s.instead(s.prev, s.tok, "there is no operator `~"+s.tok.Value+"`", "~")
	case s.fail.want == wantExpr && isPunct(s.prev, "-") && isPunct(s.tok, ">") && adjacent:
		d = s.error(diag.UnexpectedToken, s.prev, "functions cannot be written within an expression")
		d.Span.End = end(&s.tok)
		d.Fix = "define the function in the `functions` block, or compute the elements in a loop"
	case s.tok.Type == tokString && s.i == s.start+1 && (isWord(&s.prev, "print") || isWord(&s.prev, "reject") || isWord(&s.prev, "fatal_error")):
		d = s.error(diag.UnexpectedToken, s.tok, "the arguments of %s are in parentheses", s.prev.Value)
		d.Fix = "write as in `" + s.prev.Value + "(\"x is \", x);`"
		if last := s.at(s.i + 1); isPunct(last, ";") {
			d.Edits = []diag.Edit{{Span: s.span(end(&s.prev), s.tok.Pos.Offset), Text: "("}, {Span: s.span(end(&s.tok), end(&s.tok)), Text: ")"}}
		}
	case s.fail.want != wantSemi:
		return d, false
	case isPunct(s.tok, ",") && s.open < 0 && !beginsType(s.first) && next.Pos.Line > s.tok.Pos.Line:
		d = s.error(diag.UnexpectedToken, s.tok, "a statement ends with `;`, not with `,`")
		d.Fix = "write `;`"
		d.Replace(";")
	case isPunct(s.tok, ":") && s.i == s.start+1 && s.prev.Type == tokIdent && next.Type == tokIdent:
		d = s.error(diag.UnexpectedToken, s.tok, "`:` neither assigns nor gives a distribution")
		d.Fix = "write `~` for a distribution, `=` to assign"
		if isPunct(s.at(s.i+2), "(") {
			d.Replace(" ~")
		}
	case s.i == s.start+1 && s.first.Type == tokIdent && slices.Contains([]string{"end", "endif", "endfor", "endwhile", "done", "fi"}, s.first.Value):
		d = s.error(diag.UnexpectedToken, s.first, "there is no word `%s` in the language", s.first.Value)
		d.Detail = "Several statements are a block between `{` and `}`; a single one needs no end."
		d.Fix = "remove it"
		d.Replace("")
	case isPunct(s.tok, "~") && beginsType(s.first) && s.prev.Type == tokIdent:
		d = s.error(diag.UnexpectedToken, s.tok, "a declaration does not give a distribution")
		d.Fix = "end the declaration with `;`, and write the distribution in the model block: `" + s.prev.Value + " ~ …;`"
	case s.open < 0 && isPunct(s.prev, ")") && s.tok.Type == tokPunct && binaryPrec(s.tok.Value) > precLowest && s.distributes():
		d = s.error(diag.UnexpectedToken, s.tok, "distributions cannot be combined by `%s`", s.tok.Value)
		d.Detail = "A distribution statement ends after the arguments of the distribution."
		d.Fix = "for the sum of independent terms, declare a parameter for each; for a mixture, add `log_mix(…)` to `target`"
	default:
		return d, false
	}
	return d, true
}

// distributes reports whether there is a `~` before the wrong token.
func (s *situation) distributes() bool {
	return slices.ContainsFunc(s.tokens[s.start:s.i], func(t lexer.Token) bool { return isPunct(t, "~") })
}

// boundSlip explains a bound without `=`, a parenthesis that closes nothing before `>`, and the
// type of elements in the place of bounds.
func boundSlip(s *situation) (d diag.Diagnostic, ok bool) {
	next := s.at(s.i + 1)
	switch {
	case s.fail.want == "`>`" && isPunct(s.tok, ")") && isPunct(next, ">"):
		d = s.error(diag.UnexpectedToken, s.tok, "this `)` closes nothing")
		d.Fix = "remove it"
		d.Replace("")
	case s.fail.want == "`=`" && slices.Contains(ast.BoundNames(), s.prev.Value) && (s.tok.Type == tokIdent || s.tok.Type == tokInt || s.tok.Type == tokReal):
		d = s.error(diag.UnexpectedToken, s.prev, "`=` is missing after `%s`", s.prev.Value)
		d.Span.End = end(&s.tok)
		d.Fix = "write `" + s.prev.Value + "=" + s.tok.Value + "`"
		d.Replace(s.prev.Value + "=" + s.tok.Value)
	case s.fail.want == "a bound" && isPunct(s.prev, "<") && s.tok.Type == tokType && s.at(s.i-2).Type == tokType:
		outer := s.at(s.i - 2).Value
		d = s.error(diag.BadBound, s.tok, "the type of elements is not written in `<…>`")
		d.Fix = "the elements of a " + outer + " are reals: remove `<" + s.tok.Value + ">`"
		if s.tok.Value == "int" {
			d.Detail = "The elements of vectors and matrices are reals."
			d.Fix = "integers are in an array: `array[N] int x`"
		}
	case s.fail.want == "a type" && isPunct(s.prev, "]") && s.tok.Type == tokIdent && next.Type == tokIdent:
		return unknownTypeAt(s, s.tok), true
	default:
		return d, false
	}
	return d, true
}
