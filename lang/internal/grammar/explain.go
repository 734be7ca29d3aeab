package grammar

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
)

// expected returns the first alternative that participle expected. participle gives it only within
// its message, as a piece of EBNF.
func expected(e *participle.UnexpectedTokenError) string {
	_, ebnf, ok := strings.Cut(e.Message(), "(expected ")
	if !ok {
		return "a statement"
	}
	ebnf = strings.TrimLeft(ebnf, "(")
	if lit, ok := strings.CutPrefix(ebnf, `"`); ok {
		lit, _, _ = strings.Cut(lit, `"`)
		return "`" + lit + "`"
	}
	word, _, _ := strings.Cut(ebnf, " ")
	word = strings.TrimRight(word, "?*+!)")
	switch word {
	case "Expr", "BoundExpr":
		return wantExpr
	case "Name":
		return wantName
	case "Type", "Elem", "Param":
		return "a type"
	case "Bound":
		return "a bound"
	case "Block":
		return "`{`"
	case "Args", "PrintArgs":
		return "`(`"
	case "Sizes":
		return "`[`"
	case "Semi":
		return wantSemi
	case "<string>":
		return "a string"
	case "Stmt":
		return "a statement"
	}
	return "something else"
}

// situation is a syntax error with its context, for the rules below.
type situation struct {
	*lowerer
	scope
	fail      *failure
	tokens    []lexer.Token
	start, i  int         // indices of the first token of the statement, and of the wrong token
	tok, prev lexer.Token // the wrong token, tokens[i], and the token before it, which is zero at the start
	first     lexer.Token // the first token of the statement, tokens[start]
	open      int         // index of the innermost open bracket, or -1
	functions bool        // the error is in a function definition
}

// rules convert a situation to a diagnostic. The first rule that applies decides. A rule that
// applies but reports nothing returns a Diagnostic without Code.
var rules = []func(*situation) (diag.Diagnostic, bool){
	alreadyReported,
	tooNested,
	integerDivision,
	wrongMark,
	boundSlip,
	singleQuotes,
	foreignOutput,
	strayString,
	reservedName,
	boundsAfterSize,
	functionElsewhere,
	signature,
	parameterWithoutType,
	notAFunction,
	targetMisuse,
	strayElse,
	loopHeader,
	foreignWords,
	foreignOperator,
	wrongBrackets,
	typeAsFunction,
	misnamed,
	equalsAsComparison,
	comparisonInBound,
	unknownType,
	unclosedBracket,
	missingComma,
	missingSemicolon,
	strayBracket,
	plain,
}

// explain reports the syntax error of an item.
func (l *lowerer) explain(sc scope, it *Item) {
	f := it.Fail
	s := &situation{lowerer: l, scope: sc, fail: f, tokens: l.tokens, start: l.index(it.Start), i: l.index(f.tok), open: -1}
	s.tok, s.first = s.tokens[s.i], s.tokens[s.start]
	if s.i > s.start {
		s.prev = s.tokens[s.i-1]
	}
	for depth, j := 0, s.i-1; j >= s.start && s.open < 0; j-- {
		switch t := s.tokens[j]; {
		case t.Type != tokPunct:
		case t.Value == ")" || t.Value == "]" || t.Value == "}":
			depth++
		case (t.Value == "(" || t.Value == "[" || t.Value == "{") && depth > 0:
			depth--
		case t.Value == "(" || t.Value == "[" || t.Value == "{":
			s.open = j
		}
	}
	s.functions = sc.block == ast.Functions && !sc.nested
	for _, rule := range rules {
		if d, ok := rule(s); ok {
			if d.Code != "" {
				l.diags.Add(d)
			}
			return
		}
	}
}

// describe describes a token in a message.
func describe(t lexer.Token) string {
	switch {
	case t.EOF():
		return "the end of the text"
	case t.Type == tokString:
		return "a string"
	}
	return "`" + t.Value + "`"
}

func (s *situation) at(i int) lexer.Token {
	if i < s.start || i >= len(s.tokens) {
		return lexer.Token{}
	}
	return s.tokens[i]
}

// error returns an error about one token.
func (s *situation) error(code diag.Code, t lexer.Token, format string, args ...any) diag.Diagnostic {
	return diag.Errorf(code, spanOf(s.lowerer, t), format, args...)
}

// newLine reports whether the wrong token begins a line.
func (s *situation) newLine() bool { return s.i > 0 && s.tok.Pos.Line > s.tokens[s.i-1].Pos.Line }

// beginsType reports whether a token begins the type of a declaration.
func beginsType(t lexer.Token) bool {
	return t.Type == tokType || isWord(&t, "array") || isWord(&t, "tuple")
}

func alreadyReported(s *situation) (d diag.Diagnostic, ok bool) {
	// A bad token after the wrong one is mostly its cause, as in `data$x`.
	for _, t := range s.tokens[s.start:min(s.i+2, len(s.tokens))] {
		if t.Type == tokBad {
			return d, true
		}
	}
	return d, false
}

func tooNested(s *situation) (d diag.Diagnostic, ok bool) {
	if s.fail.want != wantShallow {
		return d, false
	}
	d = s.error(diag.TooDeep, s.tok, "this expression has too many levels")
	d.Detail = fmt.Sprintf("At most %d operators can follow one another, and at most %d brackets or operators be nested.", maxHeight, maxDepth)
	d.Fix = "compute parts of it in their own variables"
	return d, true
}

// singleQuotes explains 'text', whose quotes the lexer reads as transposes.
func singleQuotes(s *situation) (d diag.Diagnostic, ok bool) {
	if s.fail.want != wantExpr || !isPunct(s.tok, "'") {
		return d, false
	}
	line := s.file.Text[s.tok.Pos.Offset+1:]
	n := strings.IndexByte(line[:lineLength(line)], '\'')
	if n < 0 {
		return d, false
	}
	d = s.error(diag.UnexpectedToken, s.tok, "strings need double quotes")
	d.Span.End += n + 1
	d.Fix = "write `\"" + line[:n] + "\"`"
	d.Replace(`"` + line[:n] + `"`)
	return d, true
}

func strayString(s *situation) (d diag.Diagnostic, ok bool) {
	if s.tok.Type != tokString {
		return d, false
	}
	if s.fail.want == "`,` or `)`" && s.open > s.start && (isWord(&s.tokens[s.open-1], "print") || isWord(&s.tokens[s.open-1], "reject") || isWord(&s.tokens[s.open-1], "fatal_error")) {
		return s.error(diag.UnexpectedToken, s.tok, "a comma is missing before this string"), true
	}
	if isPunct(s.prev, "=") && s.at(s.i-2).Value == ast.Labels {
		d = s.error(diag.BadBound, s.tok, "labels are a list of strings")
		d.Fix = "write braces around it: `" + ast.Labels + "={" + s.tok.Value + "}`"
		d.Replace("{" + s.tok.Value + "}")
		return d, true
	}
	d = s.error(diag.StringNotAllowed, s.tok, "a string cannot be used here")
	d.Detail = "Strings are arguments of print, reject, fatal_error and profile; there are no variables that hold text."
	if s.i == s.start {
		d.Fix = "to write a comment, begin it with `//`"
	}
	return d, true
}

func reservedName(s *situation) (d diag.Diagnostic, ok bool) {
	if s.fail.want != wantName || s.tok.Type != tokKeyword && s.tok.Type != tokType {
		return d, false
	}
	if isPunct(s.prev, "(") && isWord(ptr(s.at(s.i-2)), "for") && s.tok.Type == tokType {
		return d, false // loopHeader explains for (int i in …)
	}
	d = s.error(diag.ReservedWord, s.tok, "`%s` is a reserved word and cannot be a name", s.tok.Value)
	if isWord(&s.tok, "array") && beginsType(s.first) {
		d = s.error(diag.UnexpectedToken, s.tok, "`array` comes before the type of the elements")
		d.Fix = "write as in `array[N] " + s.first.Value + " x`"
		return d, true
	}
	if s.tok.Type == tokType && isPunct(s.prev, ",") {
		d.Detail = "All variables of one declaration have the same type."
		d.Fix = "end the declaration with `;` and begin another"
	} else if s.tok.Type == tokType && s.i == s.start+1 && beginsType(s.first) && s.at(s.i+1).Type == tokIdent {
		d.Fix = "remove one of the two types"
	} else {
		d.Fix = "choose another name, such as `" + s.tok.Value + "_`"
	}
	return d, true
}

func ptr[T any](x T) *T { return &x }

func boundsAfterSize(s *situation) (d diag.Diagnostic, ok bool) {
	if !isPunct(s.tok, "<") || !beginsType(s.first) {
		return d, false
	}
	switch next := s.at(s.i + 1); {
	case s.fail.want == wantName && isPunct(s.prev, "]"):
		d = s.error(diag.BadBound, s.tok, "bounds come before the size")
		d.Fix = "write as in `vector<lower=0>[N]`"
	case s.fail.want == wantSemi && s.prev.Type == tokIdent && (next.Value == "lower" || next.Value == "upper"):
		d = s.error(diag.BadBound, s.tok, "bounds come before the name, directly after the type")
		d.Fix = "write as in `real<lower=0> " + s.prev.Value + "`"
	default:
		return d, false
	}
	return d, true
}

func functionElsewhere(s *situation) (d diag.Diagnostic, ok bool) {
	if s.functions {
		return d, false
	}
	if isWord(&s.first, "void") || beginsType(s.first) && s.fail.want == wantSemi && isPunct(s.tok, "(") && s.prev.Type == tokIdent {
		name := s.first
		if s.prev.Type == tokIdent {
			name = s.prev
		}
		d = s.error(diag.FunctionElsewhere, name, "functions are defined in the `functions` block only")
		d.Fix = "move the function to a `functions { … }` block at the top"
		return d, true
	}
	return d, false
}

func parameterWithoutType(s *situation) (d diag.Diagnostic, ok bool) {
	if !s.functions || s.open < 0 || !isPunct(s.tokens[s.open], "(") || !isPunct(s.prev, "(") && !isPunct(s.prev, ",") {
		return d, false
	}
	if isWord(&s.tok, "void") {
		return s.error(diag.UnexpectedToken, s.tok, "`void` is the result of a function, not the type of a parameter"), true
	}
	if s.tok.Type != tokIdent {
		return d, false
	}
	d = s.error(diag.UnexpectedToken, s.tok, "the parameter `%s` has no type", s.tok.Value)
	d.Fix = "write the type before the name, as in `real " + s.tok.Value + "`"
	if near := nearestType(s.tok.Value); near != "" {
		d = s.error(diag.UnknownType, s.tok, "there is no type called `%s`", s.tok.Value)
		d.Fix = "did you mean `" + near + "`?"
		d.Replace(near)
	}
	return d, true
}

func notAFunction(s *situation) (d diag.Diagnostic, ok bool) {
	if !s.functions || s.open >= 0 || isPunct(s.prev, ")") {
		return d, false
	}
	if s.first.Type == tokIdent && s.i == s.start && s.at(s.i+1).Type == tokIdent {
		return unknownTypeAt(s, s.first), true
	}
	if s.i == s.start+1 && s.fail.want == wantName && isPunct(s.tok, "(") {
		d = s.error(diag.UnexpectedToken, s.tok, "the name of the function is missing before `(`")
		d.Fix = "a function is written as in `real square_sum(vector x) { … }`"
		return d, true
	}
	if s.first.Type == tokIdent && isPunct(s.at(s.start+1), "(") {
		d = s.error(diag.UnexpectedToken, s.first, "the type of the result of `%s` is missing", s.first.Value)
		d.Fix = "write it before the name, as in `real " + s.first.Value + "(…)`, or `void` if there is no result"
		return d, true
	}
	d = s.error(diag.NotAFunction, s.first, "the `functions` block has functions only")
	if s.i > s.start {
		d.Detail = "Expected " + s.fail.want + ", found " + describe(s.tok) + "."
	}
	d.Fix = "a function is written as in `real square_sum(vector x) { … }`"
	return d, true
}

func targetMisuse(s *situation) (d diag.Diagnostic, ok bool) {
	if !isWord(&s.prev, "target") && !isWord(&s.prev, "jacobian") || s.fail.want != "`+=`" && s.fail.want != "`(`" {
		return d, false
	}
	d = s.error(diag.TargetMisuse, s.prev, "`%s` cannot be used like this", s.prev.Value)
	d.Detail = "It is not a variable: a program can only add to it."
	d.Fix = "write `" + s.prev.Value + " += …;`"
	if s.prev.Value == "target" {
		d.Fix += "; the sum so far is `target()`"
	}
	return d, true
}

func strayElse(s *situation) (d diag.Diagnostic, ok bool) {
	if s.i != s.start || !isWord(&s.tok, "else") {
		return d, false
	}
	d = s.error(diag.UnexpectedToken, s.tok, "this `else` belongs to no `if`")
	d.Detail = "Between `if (…)` and its `else` is exactly one statement; several need braces."
	return d, true
}

// loopHeader explains headers of for, while and if in the syntax of other languages.
func loopHeader(s *situation) (d diag.Diagnostic, ok bool) {
	word := ""
	// As in for i in …, or if x ….
	if s.open < 0 && s.prev.Type == tokKeyword && s.fail.want == "`(`" {
		word = s.prev.Value
	}
	if s.open > s.start && s.tokens[s.open-1].Type == tokKeyword {
		word = s.tokens[s.open-1].Value
	}
	switch {
	case word == "for" && s.open < 0:
		d = s.error(diag.BadLoop, s.tok, "a loop needs parentheses around its variable and range")
		d.Edits = s.parentheses()
	case word == "for" && beginsType(s.tok):
		d = s.error(diag.BadLoop, s.tok, "a loop variable is declared without a type")
		if name := s.at(s.i + 1); name.Type == tokIdent && isWord(ptr(s.at(s.i+2)), "in") {
			d.Edits = []diag.Edit{{Span: s.span(s.tok.Pos.Offset, name.Pos.Offset)}}
			d.Fix = "leave out `" + s.tok.Value + "`"
			return d, true
		}
	case word == "for" && s.fail.want == "`in`":
		d = s.error(diag.BadLoop, s.tok, "a loop names its range after `in`")
		if s.tok.Value == "=" {
			d.Fix = "write `in`"
			d.Replace("in")
			return d, true
		}
	case (word == "if" || word == "while") && s.open < 0:
		d = s.error(diag.BadLoop, s.tok, "`%s` needs parentheses around its condition", word)
		d.Fix = "write `" + word + " (…)`"
		d.Edits = s.parentheses()
		return d, true
	default:
		return d, false
	}
	d.Fix = "write `for (i in 1:N)`, or `for (x in xs)` for the elements of a container"
	return d, true
}

// parentheses returns the edits that put the text from the wrong token to the next brace of its
// line in parentheses; nil if there is no such brace.
func (s *situation) parentheses() []diag.Edit {
	for j := s.i; j < len(s.tokens) && s.tokens[j].Pos.Line == s.tok.Pos.Line; j++ {
		switch last := s.at(j - 1); {
		case isPunct(s.tokens[j], ";"):
			return nil
		case isPunct(s.tokens[j], "{") && j > s.i:
			from, to := s.tok.Pos.Offset, end(&last)
			return []diag.Edit{{Span: s.span(from, from), Text: "("}, {Span: s.span(to, to), Text: ")"}}
		}
	}
	return nil
}

// condition reports whether the wrong token is directly within the parentheses of an if or a while.
func (s *situation) condition() bool {
	return s.open > s.start && (isWord(&s.tokens[s.open-1], "if") || isWord(&s.tokens[s.open-1], "while"))
}

func equalsAsComparison(s *situation) (d diag.Diagnostic, ok bool) {
	if !isPunct(s.tok, "=") || s.functions {
		return d, false
	}
	if next := s.at(s.i + 1); s.open < 0 {
		assigned := slices.ContainsFunc(s.tokens[s.start:s.i], func(t lexer.Token) bool { return t.Type == tokAssign })
		if !assigned || next.Pos.Offset == end(&s.tok) && strings.Contains("<>", next.Value) {
			return d, false
		}
	}
	if s.open > 0 && s.tokens[s.open-1].Type == tokIdent && isPunct(s.tokens[s.open], "(") {
		d = s.error(diag.UnexpectedToken, s.tok, "arguments have no names")
		d.Detail = "Their order alone decides which is which."
		if s.prev.Type == tokIdent && s.at(s.i+1).Type != 0 {
			d.Fix = "leave out `" + s.prev.Value + " =`, and give all arguments in their order"
			d.Edits = []diag.Edit{{Span: s.span(s.prev.Pos.Offset, s.tokens[s.i+1].Pos.Offset)}}
		}
		return d, true
	}
	d = s.error(diag.EqualsAsComparison, s.tok, "`=` assigns and cannot be part of an expression")
	d.Fix = "to compare, write `==`"
	d.Replace("==")
	return d, true
}

func comparisonInBound(s *situation) (d diag.Diagnostic, ok bool) {
	// In real<lower=a > b> x, the first > ends the bounds.
	ended := beginsType(s.first) && isPunct(s.tok, ">") && s.fail.want == wantSemi && slices.ContainsFunc(s.tokens[s.start:s.i], func(t lexer.Token) bool { return isPunct(t, "<") })
	if s.fail.want != "`>`" && !ended {
		return d, false
	}
	switch prec := binaryPrec(s.tok.Value); {
	case s.tok.Type != tokPunct:
		return d, false
	case s.tok.Value == "?" || prec > precLowest && prec < precAdd:
		d = s.error(diag.BadBound, s.tok, "%s within a bound needs parentheses", describe(s.tok))
		d.Fix = "write `(…)` around the whole bound"
		return d, true
	}
	return d, false
}

// unclosedBracket explains a statement that ends, or seems to end, while a bracket is open.
func unclosedBracket(s *situation) (d diag.Diagnostic, ok bool) {
	if s.open < 0 {
		return d, false
	}
	ends := s.tok.EOF() || isPunct(s.tok, ";") || isPunct(s.tok, "{") || isPunct(s.tok, "}") || isPunct(s.tok, "~") ||
		isPunct(s.tok, ")") || isPunct(s.tok, "]") || s.newLine() && s.fail.want != wantExpr
	open := s.tokens[s.open]
	closer := map[string]string{"(": ")", "[": "]", "{": "}"}[open.Value]
	if !ends || s.fail.want == wantExpr && isPunct(s.tok, closer) || !strings.Contains(s.fail.want, "`"+closer+"`") && s.fail.want != wantExpr {
		return d, false
	}
	if s.fail.want == wantExpr && isPunct(s.prev, ",") && !s.tok.EOF() && !isPunct(s.tok, ";") {
		return d, false
	}
	if isPunct(s.tok, ";") && open.Value != "{" {
		for i, depth := s.i+1, 0; i < len(s.tokens) && s.tokens[i].Pos.Line == s.tok.Pos.Line && !isPunct(s.tokens[i], ";"); i++ {
			switch s.tokens[i].Value {
			case "(", "[":
				depth++
			case ")", "]":
				if depth--; depth < 0 && s.tokens[i].Value == closer {
					d = s.error(diag.UnexpectedToken, s.tok, "a semicolon cannot be within brackets")
					d.Related = []diag.Note{{Span: spanOf(s.lowerer, open), Message: "this `" + open.Value + "` is open"}}
					d.Fix = "write a comma"
					return d, true
				}
			}
		}
	}
	d = s.error(diag.UnclosedBracket, s.tok, "`%s` is missing before %s", closer, describe(s.tok))
	if s.newLine() { // something is missing at the end of the line before
		at := end(&s.prev)
		d.Span, d.Summary = s.span(at, at), "`"+closer+"` is missing here"
	}
	d.Related = []diag.Note{{Span: spanOf(s.lowerer, open), Message: "this `" + open.Value + "` is not closed"}}
	d.Fix = "add `" + closer + "`"
	at := end(&s.prev)
	d.Edits = []diag.Edit{{Span: s.span(at, at), Text: closer}}
	return d, true
}

// missingComma explains f(x y), which lacks a comma.
func missingComma(s *situation) (d diag.Diagnostic, ok bool) {
	if !strings.HasPrefix(s.fail.want, "`,` or ") || s.newLine() {
		return d, false
	}
	switch s.tok.Type {
	case tokIdent:
		if words[s.tok.Value] != "" {
			return d, false
		}
	case tokInt, tokReal, tokImag, tokDot:
	default:
		return d, false
	}
	d = s.error(diag.UnexpectedToken, s.tok, "a comma or an operator is missing before %s", describe(s.tok))
	d.Fix = "write `,` between two arguments, or the operator between two values"
	if s.prev.Type == tokString {
		d.Summary = "a comma is missing before " + describe(s.tok)
		d.Fix = "write `,`"
		d.Edits = []diag.Edit{{Span: s.span(end(&s.prev), end(&s.prev)), Text: ","}}
	}
	return d, true
}

func missingSemicolon(s *situation) (d diag.Diagnostic, ok bool) {
	if s.fail.want != wantSemi || s.i == s.start {
		return d, false
	}
	if !s.newLine() && !s.tok.EOF() && !isPunct(s.tok, "}") && !beginsStatement(&s.tok) && !isWord(&s.tok, "target") {
		return d, false
	}
	if isWord(&s.tok, "if") && !s.newLine() {
		d = s.error(diag.UnexpectedToken, s.tok, "a statement cannot end with a condition")
		d.Detail = "A condition comes before its statement, as in `if (x > 0) y = 1;`."
		d.Fix = "for a choice between two values, write `condition ? a : b`"
		return d, true
	}
	at := end(&s.prev)
	d = diag.Errorf(diag.MissingSemicolon, s.span(at, at), "a semicolon is missing here")
	d.Fix = "end the statement with `;`"
	if beginsType(s.first) {
		d.Fix = "end the declaration with `;`"
	}
	d.Replace(";")
	return d, true
}

func strayBracket(s *situation) (d diag.Diagnostic, ok bool) {
	if s.open >= 0 || !isPunct(s.tok, ")") && !isPunct(s.tok, "]") || s.fail.want != wantSemi {
		return d, false
	}
	if s.start > 0 && isPunct(s.tokens[s.start-1], ";") && s.tokens[s.start-1].Pos.Line == s.tok.Pos.Line && s.closes(s.start-1) {
		return d, true // the semicolon is within brackets; that was already reported
	}
	d = s.error(diag.UnclosedBracket, s.tok, "this `%s` closes nothing", s.tok.Value)
	d.Fix = "remove it, or add the bracket that opens it"
	return d, true
}

// closes reports whether the wrong token closes a bracket that is open at a semicolon, where a
// statement seems to end.
func (s *situation) closes(semicolon int) bool {
	opener := map[string]string{")": "(", "]": "["}[s.tok.Value]
	depth := 0
	for i := semicolon - 1; i >= 0 && !isPunct(s.tokens[i], ";"); i-- {
		switch s.tokens[i].Value {
		case ")", "]":
			depth++
		case "(", "[":
			if depth == 0 {
				return s.tokens[i].Value == opener
			}
			depth--
		}
	}
	return false
}

// plain reports the token that was found and the one that was expected.
func plain(s *situation) (d diag.Diagnostic, ok bool) {
	switch {
	case s.i == s.start:
		d = s.error(diag.UnexpectedToken, s.tok, "a statement cannot begin with %s", describe(s.tok))
		if isPunct(s.tok, "~") {
			d.Fix = "write the variable before `~`, as in `y ~ normal(0, 1);`"
		}
		if isWord(&s.tok, "data") {
			d.Detail = "The word `data` marks parameters of functions; a variable is data by the block it is declared in."
		}
	case isPunct(s.prev, "~") && s.fail.want == wantName:
		d = s.error(diag.UnexpectedToken, s.tok, "expected a distribution, found %s", describe(s.tok))
		d.Fix = "write as in `y ~ normal(mu, sigma);`"
	case s.fail.want == wantExpr:
		d = s.error(diag.UnexpectedToken, s.tok, "an expression is missing before %s", describe(s.tok))
		d.Fix = missingPart(s)
		switch {
		case s.functions && isPunct(s.prev, "[") && isWord(ptr(s.at(s.i-2)), "array"):
			d.Summary = "`]` is missing after `array[`"
			d.Fix = "an array in a signature is written without sizes: `array[] real`, or `array[,] real` with two dimensions"
		case isPunct(s.tok, "}") && isPunct(s.prev, "{"):
			d.Detail = "An array expression needs an element, which gives its type. An array of size 0 is declared without a value."
		case isWord(&s.tok, "if"):
			d.Fix = "a choice between two values is written `condition ? a : b`"
		case isPunct(s.tok, "~"):
			d.Fix = "a distribution statement is its own statement, as in `y ~ normal(mu, sigma);`"
		}
	case s.fail.want == wantSemi:
		d = s.error(diag.UnexpectedToken, s.tok, "unexpected %s", describe(s.tok))
		if beginsType(s.first) && s.prev.Type == tokIdent && (beginsType(s.tokens[s.i-2]) || strings.Contains(",>]", s.tokens[s.i-2].Value)) {
			d.Detail = "After the name of a variable comes `=`, `,` or `;`."
			if s.tok.Type == tokIdent {
				d.Fix = "write `,` between two names, or `;` after the first"
			}
		} else {
			d.Detail = "After " + describe(s.prev) + ", the statement continues with an operator or ends with `;`."
			if s.tok.Type == tokIdent || s.tok.Type == tokInt || s.tok.Type == tokReal {
				d.Fix = "write an operator before it, or `;` if the statement ends there"
			}
			if isWord(&s.prev, "then") {
				d = s.error(diag.UnexpectedToken, s.prev, "there is no word `then` in the language")
				d.Fix = "leave it out: after `if (…)` comes the statement, or several in braces"
				d.Replace("")
			}
			if slices.Contains([]string{"I", "truncate", "truncated", "trunc"}, s.tok.Value) && s.at(s.i+1).Value == "(" {
				d.Fix = "truncation is written `T[lower, upper]`"
				d.Edits = s.brackets(s.i+1, "T")
			}
			if s.prev.Type == tokInt && isPunct(s.tok, ",") {
				if n := s.at(s.i + 1); n.Type == tokInt && n.Pos.Offset == end(&s.tok) && end(&s.prev) == s.tok.Pos.Offset {
					number := s.prev.Value + "." + n.Value
					d = s.error(diag.BadNumber, s.prev, "`%s,%s` is not a number", s.prev.Value, n.Value)
					d.Span.End = end(&n)
					d.Fix = "write `" + number + "`, with a decimal point"
					d.Replace(number)
				}
			}
			if w := s.first.Value; (w == "do" || w == "repeat" || w == "loop") && isPunct(s.tok, "{") {
				d = s.error(diag.UnexpectedToken, s.first, "there is no statement `%s`", w)
				d.Fix = "write `while (…) { … }`"
			}
			if w := s.first.Value; w == "elif" || w == "elsif" || w == "elseif" {
				d = s.error(diag.UnexpectedToken, s.first, "there is no statement `%s`", w)
				d.Fix = "write `else if (…)`"
				d.Replace("else if")
			}
		}
	default:
		d = s.error(diag.UnexpectedToken, s.tok, "expected %s, found %s", s.fail.want, describe(s.tok))
		opener := lexer.Token{}
		if s.open > s.start {
			opener = s.tokens[s.open-1]
		}
		switch {
		case s.fail.want == wantName && isPunct(s.prev, ",") && isPunct(s.tok, ";"):
			d = s.trailingComma()
		case s.fail.want == wantName && s.prev.Type == tokType && !s.tok.EOF():
			d.Fix = "write a name after the type, as in `" + s.prev.Value + " x`"
		case s.fail.want == "a bound" && isPunct(s.prev, "<") && !s.tok.EOF():
			d.Fix = "bounds have names: write as in `<lower=0>`"
		case s.fail.want == "`>`" && s.tok.Type == tokIdent:
			d.Summary = "`>` is missing before " + describe(s.tok)
			d.Fix = "close the bounds with `>`, as in `real<lower=0> " + s.tok.Value + "`"
			d.Edits = []diag.Edit{{Span: s.span(end(&s.prev), end(&s.prev)), Text: ">"}}
		case s.fail.want == "`=`" && beginsType(s.first) && s.prev.Type == tokIdent && (isPunct(s.at(s.i-2), ",") || isPunct(s.at(s.i-2), "<")):
			d = s.error(diag.BadBound, s.prev, "there is no bound called `%s`", s.prev.Value)
			d.Detail = "The bounds are lower, upper, offset and multiplier."
			if near := nearestBound(s.prev.Value); near != "" {
				d.Fix = "did you mean `" + near + "`?"
				d.Replace(near)
			}
			if isPunct(s.tok, ";") {
				d.Edits = nil
				d.Fix = "close the bounds with `>`, as in `real<lower=0> " + s.prev.Value + "`"
			}
		case s.fail.want == "`>`" && isPunct(s.tok, ";"):
			d.Fix = "close the bounds with `>`"
			if next := s.at(s.i + 1).Value; next == "lower" || next == "upper" {
				d.Summary = "a comma, not a semicolon, separates two bounds"
				d.Fix = "write `,`"
				d.Replace(",")
			}
		case s.fail.want == "`(`" && isPunct(s.at(s.i-2), "~"):
			d.Summary = "the arguments of a distribution are in parentheses"
			d.Fix = "write as in `y ~ " + s.prev.Value + "(…)`"
			if isPunct(s.tok, ";") && isPunct(s.at(s.i-3), ")") && s.first.Type == tokIdent {
				d.Summary = "the variable comes before `~`, its distribution after it"
				d.Fix = "write as in `" + s.prev.Value + " ~ " + s.first.Value + "(…)`"
			}
		case s.tok.Type == tokIdent && words[s.tok.Value] != "":
			d.Summary = "there is no operator " + describe(s.tok)
			d.Fix = "write `" + words[s.tok.Value] + "`"
			if s.tok.Value != "then" {
				d.Replace(words[s.tok.Value])
			}
		case isWord(&s.prev, "not") || isWord(&s.prev, "NOT"):
			d = s.error(diag.UnexpectedToken, s.prev, "there is no operator `%s`", s.prev.Value)
			d.Fix = "write `!(…)` around what is to be false"
		case s.fail.want == "`[`" && isWord(&s.prev, "T") && isPunct(s.tok, "("):
			d.Summary = "the bounds of a truncation are in square brackets"
			d.Fix = "write `T[lower, upper]`, where either bound may be left out"
			d.Edits = s.brackets(s.i, "")
		case s.fail.want == "`>`" && s.tok.Type == tokKeyword && strings.Contains("lower upper offset multiplier", s.tok.Value):
			d.Summary = "a comma is missing between two bounds"
			d.Fix = "write as in `<lower=0, upper=1>`"
			d.Edits = []diag.Edit{{Span: s.span(end(&s.prev), end(&s.prev)), Text: ","}}
		case s.functions && s.fail.want == "`{`":
			d.Detail = "After the parameters comes the body in braces, or a semicolon if the body follows later."
		case isWord(&s.prev, "array"):
			d.Fix = "write `array[N]` with the size, then the type"
		case isWord(&s.tok, "array") && isPunct(s.prev, "]"):
			d.Fix = "write all sizes in one pair of brackets, as in `array[M, N]`"
		case s.fail.want == "`:`":
			d.Summary = "`:` is missing before " + describe(s.tok)
			d.Detail = "A choice has two results: `condition ? a : b`."
		case s.prev.Type == tokString && s.tok.Type == tokPunct && (s.tok.Value == "+" || s.tok.Value == "%" || s.tok.Value == "."):
			d.Summary = "there are no operators for strings"
			d.Fix = "write a comma between the strings and values to be printed"
		case s.fail.want == "a type" && isPunct(s.prev, "]") && isPunct(s.tok, "["):
			d.Fix = "write all sizes in one pair of brackets, as in `array[M, N]`"
		case s.fail.want == "a type" && isPunct(s.prev, "]"):
			d = s.error(diag.UnexpectedToken, s.tok, "the type of the elements is missing before %s", describe(s.tok))
			d.Fix = "write as in `array[N] real x`"
		case s.fail.want == "`,`" && isWord(&opener, "T"):
			d.Detail = "A truncation has two bounds, either of which may be left out."
			d.Fix = "write `T[lower, ]` or `T[ , upper]`, with the comma"
		case s.fail.want == "`,`" && isWord(&opener, "tuple"):
			d.Detail = "A tuple has several members, or one and a comma."
		}
	}
	return d, true
}
