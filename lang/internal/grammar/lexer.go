package grammar

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Kinds of tokens. participle defines EOF.
const (
	tokIdent   lexer.TokenType = -(iota + 2)
	tokKeyword                 // of statements, blocks, bounds
	tokType                    // the name of an element type: int, vector, cov_matrix, …
	tokInt                     // 1_000
	tokReal                    // 1.5e3
	tokDot                     // a number such as .5, or the member of a tuple
	tokImag                    // 2.5i
	tokString                  // "…", quotes included
	tokPunct                   // operators and punctuation
	tokAssign                  // = += and the like
	tokBad                     // the lexer has reported an error here, which is not reported again
)

// typeRule describes the sizes and bounds of an element type.
type typeRule struct {
	minSizes, maxSizes int
	lowerUpper, offset bool // bounds that the type takes
	basic              bool // allowed for local variables, arguments and results
	square             bool // a matrix with one size
}

// typeNames has the element types: those in this table, and the constrained ones.
var typeNames = withConstrained(map[string]typeRule{
	"int":                {basic: true, lowerUpper: true},
	"real":               {basic: true, lowerUpper: true, offset: true},
	"complex":            {basic: true, lowerUpper: true, offset: true},
	"vector":             {minSizes: 1, maxSizes: 1, basic: true, lowerUpper: true, offset: true},
	"row_vector":         {minSizes: 1, maxSizes: 1, basic: true, lowerUpper: true, offset: true},
	"matrix":             {minSizes: 2, maxSizes: 2, basic: true, lowerUpper: true, offset: true},
	"complex_vector":     {minSizes: 1, maxSizes: 1, basic: true, lowerUpper: true, offset: true},
	"complex_row_vector": {minSizes: 1, maxSizes: 1, basic: true, lowerUpper: true, offset: true},
	"complex_matrix":     {minSizes: 2, maxSizes: 2, basic: true, lowerUpper: true, offset: true},
	"sparse_matrix":      {minSizes: 2, maxSizes: 2, basic: true},
})

// withConstrained adds the constrained types.
func withConstrained(names map[string]typeRule) map[string]typeRule {
	for _, k := range types.ConstrainedTypes() {
		r := typeRule{}
		r.minSizes, r.maxSizes = k.Sizes()
		r.square = k.Type().Rank() == 2 && r.minSizes == 1
		names[k.String()] = r
	}
	return names
}

// keywords cannot be names. The lexer distinguishes them from identifiers.
var keywords = setOf("functions data parameters model return if else while for in break continue profile " +
	"void array tuple lower upper offset multiplier target jacobian print reject fatal_error")

// reservedNames are identifiers for the lexer but must not be declared, as in Stan: parts of block
// names, and words reserved for the future.
var reservedNames = setOf("generated quantities transformed repeat until then true false " +
	"typedef struct var export extern static auto")

// punctuation has all operators and brackets, assignments the operators that assign. The lexer
// takes the longest match.
var (
	punctuation = setOf("%/% && || == != <= >= .* ./ .^ { } ( ) [ ] < > , ; | ? : ! - + ^ ' * / % ~ \\")
	assignments = setOf("= += -= *= /= .*= ./=")
)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// definition makes the scanner available to participle.
type definition struct{}

var _ lexer.Definition = definition{}

// Symbols implements lexer.Definition.
func (definition) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{
		"EOF": lexer.EOF, "Ident": tokIdent, "Keyword": tokKeyword, "Type": tokType,
		"Int": tokInt, "Real": tokReal, "Dot": tokDot, "Imag": tokImag, "String": tokString,
		"Punct": tokPunct, "Assign": tokAssign, "Bad": tokBad,
	}
}

// Lex implements lexer.Definition. Our own parser uses newScanner instead, which also has comments
// and diagnostics.
func (definition) Lex(name string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return newScanner(source.NewFile(name, string(text)), Options{}), nil
}

// scanner converts text to tokens. It is written by hand, not with regular expressions, for speed
// and for better errors: it reports an error and skips it, so that the parser sees the rest.
type scanner struct {
	file     *source.File
	text     string
	options  Options
	pos      int
	line     int
	begin    int         // start of the line
	token    lexer.Token // read, but not returned by Next yet, if ready
	ready    bool
	count    int // number of tokens that Next has returned
	indented int // line of the last token
	indent   int // its indentation
	comments []ast.Comment
	brackets int // number of open ( and [
	diags    diag.List

	// swallowed is set if an unclosed comment or string may contain braces. A missing brace is then
	// not reported separately.
	swallowed bool
}

// newScanner returns a scanner at the beginning of a file.
func newScanner(f *source.File, o Options) *scanner {
	s := &scanner{file: f, text: f.Text, options: o, line: 1}
	s.pos = len("\ufeff") * boolInt(strings.HasPrefix(s.text, "\ufeff")) // skip a byte order mark
	return s
}

// Next implements lexer.Lexer: it returns the next token, at the end of the text EOF. The Pos of a
// token has Offset, Line, and the indentation of the line as Column.
func (s *scanner) Next() (lexer.Token, error) {
	for !s.ready && s.pos < len(s.text) {
		s.next()
	}
	s.count++
	if !s.ready {
		return lexer.Token{Type: lexer.EOF, Pos: lexer.Position{Offset: len(s.text), Line: s.line}}, nil
	}
	s.ready = false
	return s.token, nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *scanner) span(start, end int) source.Span {
	return source.Span{File: s.file, Start: start, End: end}
}

// emit adds a token of n bytes and moves past it.
func (s *scanner) emit(t lexer.TokenType, n int) {
	if s.indented != s.line {
		s.indented, s.indent = s.line, s.pos-s.begin
	}
	s.token, s.ready = lexer.Token{Type: t, Value: s.text[s.pos : s.pos+n], Pos: lexer.Position{Offset: s.pos, Line: s.line, Column: s.indent}}, true
	s.pos += n
}

// next reads at most one token, or a comment or white space.
func (s *scanner) next() {
	rest := s.text[s.pos:]
	c := rest[0]
	switch {
	case c == '\n':
		s.line++
		s.pos++
		s.begin = s.pos
	case c == ' ' || c == '\t' || c == '\r' || c == '\f':
		s.pos++
	case isLetter(c):
		n := 1
		for n < len(rest) && isNameByte(rest[n]) {
			n++
		}
		word, kind := rest[:n], tokIdent
		if _, ok := typeNames[word]; ok {
			kind = tokType
		} else if keywords[word] {
			kind = tokKeyword
		}
		s.emit(kind, n)
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		s.number()
	case strings.HasPrefix(rest, "//"):
		s.comment(lineLength(rest))
	case strings.HasPrefix(rest, "/*"):
		if n := strings.Index(rest[2:], "*/"); n >= 0 {
			s.comment(n + 4)
			return
		}
		d := diag.Errorf(diag.UnterminatedComment, s.span(s.pos, s.pos+2), "this comment is never closed")
		d.Fix = "close the comment with `*/`"
		s.diags.Add(d)
		s.swallowed = true
		s.comment(len(rest))
	case c == '"':
		s.str()
	case c == '#':
		s.hash()
	default:
		switch c {
		case '(', '[':
			s.brackets++
		case ')', ']':
			s.brackets--
		}
		if s.options.Legacy && s.brackets <= 0 && strings.HasPrefix(rest, "<-") {
			s.emit(tokAssign, 2)
			return
		}
		for n := min(3, len(rest)); n > 0; n-- {
			switch {
			case punctuation[rest[:n]]:
				s.emit(tokPunct, n)
				return
			case assignments[rest[:n]]:
				s.emit(tokAssign, n)
				return
			}
		}
		s.invalid()
	}
}

// comment records a comment of n bytes.
func (s *scanner) comment(n int) {
	s.comments = append(s.comments, ast.Comment{Base: ast.Base{Pos: s.span(s.pos, s.pos+n)}})
	text := s.text[s.pos : s.pos+n]
	s.bidi("comment", text)
	s.line += strings.Count(text, "\n")
	if k := strings.LastIndexByte(text, '\n'); k >= 0 {
		s.begin = s.pos + k + 1
	}
	s.pos += n
}

// bidiControls are the characters that change the order in which text is displayed.
var bidiControls = map[rune]string{
	'\u202a': "left-to-right embedding", '\u202b': "right-to-left embedding", '\u202c': "pop directional formatting",
	'\u202d': "left-to-right override", '\u202e': "right-to-left override",
	'\u2066': "left-to-right isolate", '\u2067': "right-to-left isolate", '\u2068': "first strong isolate", '\u2069': "pop directional isolate",
}

// bidi warns about such characters in the text of a comment or string that begins here: once, with
// all of them.
func (s *scanner) bidi(what, text string) {
	var d diag.Diagnostic
	for at := 0; ; {
		i := strings.IndexByte(text[at:], 0xe2) // these characters begin with this byte
		if i < 0 {
			break
		}
		at += i
		r, n := utf8.DecodeRuneInString(text[at:])
		if name, ok := bidiControls[r]; ok {
			span := s.span(s.pos+at, s.pos+at+n)
			if d.Code == "" {
				d = diag.Warnf(diag.BidiControl, span, "this %s has the invisible character U+%04X (%s)", what, r, name)
				d.Detail = "Text after it is shown in another order than it is read."
				d.Fix = "remove it"
			}
			d.Edits = append(d.Edits, diag.Edit{Span: span})
		}
		at += n
	}
	if d.Code != "" {
		if len(d.Edits) > 1 {
			d.Summary += fmt.Sprintf(", and %d more such characters", len(d.Edits)-1)
		}
		s.diags.Add(d)
	}
}

// number reads the longest literal that fits, so that 1.*x is 1. times x.
func (s *scanner) number() {
	rest := s.text[s.pos:]
	kind := tokInt
	n := digits(rest)
	if n == 0 {
		kind = tokDot
		n = 1 + digits(rest[1:])
	} else if n < len(rest) && rest[n] == '.' {
		kind = tokReal
		n++
		n += digits(rest[n:])
	}
	if e := exponent(rest[n:]); e > 0 {
		kind = tokReal
		n += e
	}
	number := n
	if n < len(rest) && rest[n] == 'i' {
		kind = tokImag
		n++
	}
	// A reader sees an adjacent letter or underscore as part of the number: 2x, 1__0, 1e.
	bad := n
	for bad < len(rest) && isNameByte(rest[bad]) {
		bad++
	}
	if bad == n {
		s.emit(kind, n)
		return
	}
	d := diag.Errorf(diag.BadNumber, s.span(s.pos, s.pos+bad), "`%s` is not a number", rest[:bad])
	switch tail := rest[n:bad]; {
	case tail[0] == '_':
		d.Detail = "An underscore in a number is between two digits."
		plain := strings.Trim(strings.ReplaceAll(rest[:bad], "_", ""), "_")
		d.Fix = "write `" + plain + "`"
		d.Replace(plain)
	case tail[0] == 'e' || tail[0] == 'E':
		d.Detail = "The `e` of a number is followed by a whole exponent, as in `1e5` or `1e-5`."
		d.Fix = "write the exponent, or remove the `" + tail[:1] + "`"
	case kind == tokReal && strings.Contains("f F l L d D", tail) || kind == tokInt && (tail == "f" || tail == "F"):
		d.Detail = "Numbers have no suffix for their type."
		d.Fix = "write `" + rest[:n] + "`"
		d.Replace(rest[:n])
	case kind == tokInt && tail == "L":
		d.Fix = "write `" + rest[:n] + "` for the integer, or `" + rest[:n] + " * L` for a product"
	default:
		d.Fix = "write `" + rest[:n] + " * " + tail + "` for a product; a name cannot begin with a digit"
		d.Replace(rest[:n] + " * " + tail)
		if word := rest[number:bad]; !IsName(word) {
			d.Fix, d.Edits = "write a space, an operator or a bracket between the number and `"+word+"`", nil
		}
	}
	s.diags.Add(d)
	s.emit(tokBad, bad)
}

// digits returns the length of a run of digits, which may contain single underscores.
func digits(s string) int {
	n := 0
	for n < len(s) && (isDigit(s[n]) || n > 0 && s[n] == '_' && n+1 < len(s) && isDigit(s[n+1])) {
		n++
	}
	return n
}

// exponent returns the length of an exponent such as e5 or e-5, 0 if there is none.
func exponent(s string) int {
	if s == "" || s[0] != 'e' && s[0] != 'E' {
		return 0
	}
	n := 1
	if n < len(s) && (s[n] == '+' || s[n] == '-') {
		n++
	}
	if d := digits(s[n:]); d > 0 {
		return n + d
	}
	return 0
}

// str reads a string, which must end on its line. There are no escapes.
func (s *scanner) str() {
	rest := s.text[s.pos:]
	// Do not search for the end of the line first: the line may be long, with many strings.
	if n := strings.IndexAny(rest[1:], "\"\n"); n >= 0 && rest[1+n] == '"' {
		s.bidi("string", rest[:n+2])
		s.emit(tokString, n+2)
		return
	}
	line := lineLength(rest)
	d := diag.Errorf(diag.UnterminatedString, s.span(s.pos, s.pos+line), "this string is not closed on its line")
	d.Fix = "close the string with `\"`"
	if strings.TrimSpace(rest[line:]) == "" && !strings.ContainsAny(rest[:line], ";(){}") { // what follows is missing too
		d.Summary, d.Detail = "the text ends within this string", "The file seems to be cut off."
		d.Fix = "restore the rest of the file: the `\"` that closes the string, the end of the statement, and the braces"
		s.swallowed = true
	}
	s.diags.Add(d)
	s.swallowed = s.swallowed || strings.ContainsAny(rest[:line], "{}")
	s.emit(tokBad, line)
}

// hash reads a line that begins with #: an include, or a comment in the old style.
func (s *scanner) hash() {
	n := lineLength(s.text[s.pos:])
	line := strings.TrimRight(s.text[s.pos:s.pos+n], " \t")
	var d diag.Diagnostic
	if s.options.KeepIncludes && strings.HasPrefix(line, "#include") {
		s.comment(n)
		return
	}
	if strings.HasPrefix(line, "#include") {
		d = diag.Errorf(diag.Include, s.span(s.pos, s.pos+len(line)), "files cannot be included here")
		d.Detail = "This text does not come from a file, so that it is not known where to look for others."
		d.Fix = "give the folder of the file as an include path"
	} else {
		d = diag.Errorf(diag.HashComment, s.span(s.pos, s.pos+1), "`#` does not begin a comment")
		d.Fix = "begin the comment with `//`"
		d.Replace("//")
		if s.options.Legacy {
			d.Code, d.Severity = diag.LegacySyntax, diag.Warning
		}
	}
	s.diags.Add(d)
	s.comment(n)
}

// invalid reports a run of characters with which no token begins.
func (s *scanner) invalid() {
	rest := s.text[s.pos:]
	first, n := utf8.DecodeRuneInString(rest)
	one := n                                        // length of the first character in bytes
	for n < len(rest) && rest[n] >= utf8.RuneSelf { // report a foreign word once
		n++
	}
	plain, isPlain := "", false
	if first >= utf8.RuneSelf {
		plain, isPlain = source.Plain(first)
	}
	d := diag.Errorf(diag.InvalidCharacter, s.span(s.pos, s.pos+n), "`%s` has no meaning here", rest[:n])
	switch {
	case first == utf8.RuneError:
		d.Summary = "this is not UTF-8 text"
	case strings.ContainsRune("“”„«»", first):
		d.Fix = "strings are written between straight quotes: `\"`"
	case strings.ContainsRune("‘’´`", first):
		d.Fix = "transpose is a straight quote: `'`"
	case strings.ContainsRune("−–—", first):
		d.Fix = "minus is the hyphen of the keyboard: `-`"
	case first == '×' || first == '·':
		d.Fix = "write `*` for a product"
	case first == '\u00a0' || first == '\u200b' || first == '\u3000':
		d.Summary = "there is an invisible character here that is not a plain space"
		d.Fix = "replace it by a space"
	case first == '_':
		d.Fix = "begin names with a letter"
	case first == '&':
		d.Fix = "write `&&` for the logical and"
		d.Replace("&&")
	case strings.ContainsRune("∼˜～", first):
		d.Fix = "the sign of a distribution is the tilde of the keyboard: `~`"
	case strings.ContainsRune("≤≥≠", first):
		d.Fix = "write `<=`, `>=` or `!=`"
	case first == '.' && s.pos > 0 && (s.text[s.pos-1] == '.' || isDigit(s.text[s.pos-1])):
		d.Fix = "a range is written `1:N`"
		if s.text[s.pos-1] == '.' {
			d.Edits = []diag.Edit{{Span: s.span(s.pos-1, s.pos+1), Text: ":"}}
		}
	case first == '.' && s.foreignDot(&d):
	case first == '$' && len(s.wordBefore()) > 0:
		word := s.wordBefore()
		d.Fix = "write the name of the variable without `" + word + "$`"
		d.Edits = []diag.Edit{{Span: s.span(s.pos-len(word), s.pos+1)}}
	case first == '.':
		d.Fix = "write `_` between the words of a name; a call such as `x.f(y)` is `f(x, y)`; members of tuples are numbered, as in `x.1`"
	case first == '@' && s.pos > 0 && s.text[s.pos-1] == ' ':
		d.Fix = "a product of matrices is written `x * y`"
		d.Edits = []diag.Edit{{Span: s.span(s.pos, s.pos+1), Text: "*"}}
	case first == '$' || first == '@':
		d.Fix = "names have letters, digits and underscores only"
	case isPlain:
		d.Fix = "write `" + plain + "`"
	case greek[first] != "":
		d.Detail = "Outside comments and strings only ASCII characters are used."
		d.Fix = "write the name of the letter: `" + greek[first] + "`"
		if n == utf8.RuneLen(first) {
			d.Replace(greek[first])
		}
	case first >= utf8.RuneSelf:
		d.Detail = "Outside comments and strings only ASCII characters are used; write out Greek letters, as in `alpha`."
	}
	if isPlain && n == one {
		d.Replace(plain)
	}
	s.diags.Add(d)
	s.emit(tokBad, n)
}

// wordBefore returns the name that ends at the position.
func (s *scanner) wordBefore() string {
	from := s.pos
	for from > 0 && isNameByte(s.text[from-1]) {
		from--
	}
	return s.text[from:s.pos]
}

// foreignDot explains a dot in the syntax of Python or R; it returns false for others.
func (s *scanner) foreignDot(d *diag.Diagnostic) bool {
	word, after := s.wordBefore(), s.text[s.pos+1:]
	n := 0
	for n < len(after) && isNameByte(after[n]) {
		n++
	}
	replace := func(from, to int, text string) { d.Edits = []diag.Edit{{Span: s.span(from, to), Text: text}} }
	switch after = after[:n]; {
	case after == "T":
		d.Fix = "write `'` to transpose"
		replace(s.pos, s.pos+2, "'")
	case word == "is" && (after == "na" || after == "nan"):
		d.Detail = "Data have no missing values: `is_nan` finds NaN, which data may have."
		d.Fix = "write `is_nan`"
		replace(s.pos-len(word), s.pos+1+n, "is_nan")
	case n > 0 && slices.Contains(samplingModules, word) && (isUpper(after[0]) || after == "sample"):
		d.Detail = "In Stan you declare a parameter in the block `parameters`, and state its distribution in the block `model`."
		d.Fix = "declare the variable, as in `real mu;`, and write its distribution as in `mu ~ normal(0, 1);`"
	case n > 0 && slices.Contains(modules, word):
		d.Detail = "There are no modules: all functions can be called by their names."
		d.Fix = "remove `" + word + ".`"
		replace(s.pos-len(word), s.pos+1, "")
	default:
		return false
	}
	return true
}

// modules are the usual names of modules of Python whose functions users expect here.
var modules = []string{"np", "numpy", "jnp", "math", "scipy", "stats", "special", "pm", "pymc", "dist", "numpyro", "tf", "tfd", "torch", "stan"}

// samplingModules are the modules whose classes are distributions of parameters.
var samplingModules = []string{"pm", "pymc", "dist", "numpyro", "pyro", "tfd"}

// greek maps Greek letters, which denote parameters in print, to their names.
var greek = map[rune]string{
	'α': "alpha", 'β': "beta", 'γ': "gamma", 'δ': "delta", 'ε': "epsilon", 'η': "eta", 'θ': "theta",
	'κ': "kappa", 'λ': "lambda", 'μ': "mu", 'µ': "mu", 'ν': "nu", 'ξ': "xi", 'π': "pi", 'ρ': "rho",
	'σ': "sigma", 'τ': "tau", 'φ': "phi", 'χ': "chi", 'ψ': "psi", 'ω': "omega", 'Σ': "Sigma", 'Ω': "Omega",
}

// lineLength returns the number of bytes before the line break.
func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		s = s[:n]
	}
	return len(strings.TrimSuffix(s, "\r"))
}

func isLetter(c byte) bool   { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isUpper(c byte) bool    { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool    { return '0' <= c && c <= '9' }
func isNameByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

// Includes lists the #include lines of a text.
func Includes(f *source.File) []source.Span {
	if !strings.Contains(f.Text, "#include") {
		return nil
	}
	var out []source.Span
	s := newScanner(f, Options{KeepIncludes: true})
	for s.pos < len(s.text) {
		s.next()
	}
	for _, c := range s.comments {
		if strings.HasPrefix(c.Pos.Text(), "#include") {
			out = append(out, c.Pos)
		}
	}
	return out
}
