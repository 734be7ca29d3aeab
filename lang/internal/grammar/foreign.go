package grammar

import (
	"maps"
	"slices"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
)

// foreignOperator explains operators of other languages, which the lexer reads as two tokens.
func foreignOperator(s *situation) (d diag.Diagnostic, ok bool) {
	if s.tok.Type != tokPunct && s.tok.Type != tokAssign {
		return d, false
	}
	prev := ""
	if (s.prev.Type == tokPunct || s.prev.Type == tokAssign) && end(&s.prev) == s.tok.Pos.Offset {
		prev = s.prev.Value
	}
	if isPunct(s.prev, "%") && prev != "" && isPunct(s.at(s.i+1), "%") {
		d = s.error(diag.UnexpectedToken, s.prev, "there is no operator `%%%s%%`", s.tok.Value)
		d.Span.End = s.tok.Pos.Offset + len(s.tok.Value) + 1
		if s.tok.Value == "*" {
			d.Fix = "a product of matrices is written `x * y`"
			d.Replace("*")
		}
		return d, true
	}
	if op := s.at(s.i - 2); s.fail.want == wantExpr && (isPunct(s.prev, "+") || isPunct(s.prev, "-")) &&
		isPunct(op, s.prev.Value) && end(&op) == s.prev.Pos.Offset && (isPunct(s.tok, ";") || isPunct(s.tok, ")")) {
		d = s.error(diag.UnexpectedToken, op, "there is no operator `%s%s`", op.Value, op.Value)
		d.Fix = "write `x " + op.Value + "= 1`"
		if name := s.at(s.i - 3); name.Type == tokIdent || isPunct(name, "]") {
			d.Edits = []diag.Edit{{Span: s.span(end(&name), end(&s.prev)), Text: " " + op.Value + "= 1"}}
		}
		return d, true
	}
	fix, write := "", ""
	switch prev + s.tok.Value {
	case "**":
		fix, write = "a power is written `x ^ y`", "^"
	case "<>":
		if s.fail.want == wantExpr {
			fix, write = "write `!=` for not equal", "!="
		}
	case "=>", "=<":
		if p := s.at(s.i - 2); p.Type == tokKeyword { // in lower=>
			return d, false
		}
		fix = "write `>=` or `<=`"
	case "===", "!==":
		write = s.prev.Value + "="
		if s.tok.Value != "=" || len(s.prev.Value) > 1 {
			write = s.prev.Value
		}
		fix = "write `" + write + "`"
	case "^=", ".^=", "%=":
		fix = "write the variable on both sides, as in `x = x ^ 2`"
	}
	if fix != "" {
		d = s.error(diag.UnexpectedToken, s.prev, "there is no operator `%s`", prev+s.tok.Value)
		d.Span.End = end(&s.tok)
		d.Fix = fix
		if write != "" {
			d.Replace(write)
		}
		return d, true
	}
	switch next := s.at(s.i + 1); {
	case s.tok.Value == "=" && (isPunct(next, ">") || isPunct(next, "<")) && next.Pos.Offset == end(&s.tok):
		d = s.error(diag.UnexpectedToken, s.tok, "there is no operator `=%s`", next.Value)
		d.Span.End++
		d.Fix = "write `" + next.Value + "=`"
		d.Replace(next.Value + "=")
		return d, true
	case s.tok.Value == ":" && isPunct(next, "=") && next.Pos.Offset == end(&s.tok):
		d = s.error(diag.ArrowAssign, s.tok, "`:=` does not assign")
		d.Span.End++
		d.Fix = "write `=`"
		d.Replace("=")
		return d, true
	case s.tok.Value == "|":
		d = s.error(diag.UnexpectedToken, s.tok, "`|` comes after the first argument of a density only")
		d.Fix = "for the logical or, write `||`"
		if s.condition() {
			d.Replace("||")
		}
		return d, true
	case s.tok.Value == ":" && s.open >= 0 && isPunct(s.tokens[s.open], "(") && !isWord(ptr(s.at(s.open-1)), "for"):
		d = s.error(diag.UnexpectedToken, s.tok, "a range `a:b` is not a value")
		d.Detail = "Ranges belong in an index, as in `x[1:3]`, or in the header of a loop."
		d.Fix = "for an array of integers, call `linspaced_int_array(n, a, b)`"
		return d, true
	}
	return d, false
}

// unknownType explains `float x;` and `blob[3] x;`.
func unknownType(s *situation) (d diag.Diagnostic, ok bool) {
	if s.first.Type != tokIdent || s.fail.want != wantSemi || s.newLine() || s.tok.Type != tokIdent && s.tok.Type != tokType {
		return d, false
	}
	if s.i == s.start+1 || isPunct(s.at(s.start+1), "[") && isPunct(s.prev, "]") {
		return unknownTypeAt(s, s.first), true
	}
	return d, false
}

func unknownTypeAt(s *situation, t lexer.Token) diag.Diagnostic {
	d := s.error(diag.UnknownType, t, "there is no type called `%s`", t.Value)
	if near := nearestType(t.Value); near != "" {
		d.Fix = "did you mean `" + near + "`?"
		d.Replace(near)
	}
	switch t.Value {
	case "bool", "boolean", "logical":
		if s.at(s.index(t)+1).Type == tokIdent {
			d.Fix = "write `int<lower=0, upper=1>`, for 0 and 1"
			d.Edits = []diag.Edit{{Span: d.Span, Text: "int<lower=0, upper=1>"}}
		}
	case "factor", "category", "categorical", "enum":
		d.Fix, d.Edits = "number the levels from 1: `array[N] int<lower=1> x`", nil
	case "int_vector", "ivector", "intvector", "vector_int":
		d.Fix, d.Edits = "integers are in an array: `array[N] int x`", nil
	case "function", "func", "def", "fn":
		d.Fix = "a function begins with the type of its result, as in `real f(real x) { … }`"
	case "let", "var", "auto", "val":
		d.Fix = "write the type in its place, as in `real x = 1;`"
	case "const":
		d.Fix = "leave it out: what may change is decided by the block"
	case "string", "char":
		d.Fix = "leave it out: no variable holds text"
	case "import", "from", "using", "library", "require":
		d.Fix = "leave the line out: all functions of the language are there, and `#include FILE` puts in the text of a file"
	}
	return d
}

// nearestType returns the type that was probably meant by a name, or "".
func nearestType(name string) string {
	switch name {
	case "float", "double", "numeric", "number":
		return "real"
	case "bool", "boolean", "integer", "long":
		return "int"
	}
	names := maps.Clone(typeNames)
	names["array"], names["tuple"] = typeRule{}, typeRule{}
	return diag.Nearest(name, maps.Keys(names))
}

// words maps operators and keywords of other languages to replacements.
var words = map[string]string{"and": "&&", "or": "||", "AND": "&&", "OR": "||", "then": "{ … }", "mod": "%", "is": "=="}

// nearestBound returns the bound that was probably meant by a name, or "".
func nearestBound(name string) string {
	switch name {
	case "low", "lo", "min", "lb", "from", "gt", "ge":
		return "lower"
	case "up", "high", "max", "ub", "to", "lt", "le":
		return "upper"
	case "mean", "loc", "location":
		return "offset"
	case "scale", "sd":
		return "multiplier"
	}
	return diag.Nearest(name, slices.Values(ast.BoundNames()))
}

// brackets returns the edits that replace a pair of parentheses, which opens at a token, by square
// brackets. Unless word is "", it replaces the preceding word. It returns nil if the pair does not
// close before the statement ends.
func (s *situation) brackets(open int, word string) []diag.Edit {
	from := spanOf(s.lowerer, s.tokens[open])
	edits := []diag.Edit{{Span: from, Text: "["}}
	if word != "" {
		edits = []diag.Edit{{Span: s.span(s.tokens[open-1].Pos.Offset, from.End), Text: word + "["}}
	}
	depth := 0
	for _, t := range s.tokens[open:] {
		switch {
		case isPunct(t, ";"):
			return nil
		case isPunct(t, "("):
			depth++
		case isPunct(t, ")"):
			if depth--; depth == 0 {
				return append(edits, diag.Edit{Span: spanOf(s.lowerer, t), Text: "]"})
			}
		}
	}
	return nil
}
