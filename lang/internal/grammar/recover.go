package grammar

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ppl-lang/ppl/lang/ast"
)

// participle stops at the first error. Therefore the text is parsed in pieces: program blocks, then
// each statement, at every level of nesting (Block below parses the statements within braces
// separately). A piece with an error becomes an Item with a failure, and parsing continues after
// it.

// Item is one statement or function definition. If it has a failure, Stmt is what participle had
// parsed so far, and is used only for the failures in its blocks.
type Item struct {
	Stmt  *Stmt
	Func  *FuncDef
	Fail  *failure
	Start lexer.Token // first token of the item, for messages
	End   int         // after a failure: where parsing continues
}

// Block is a list of statements in braces.
type Block struct {
	Open, Close lexer.Token // Close is EOF's type if Missing
	Items       []Item
	Missing     bool // the closing brace is missing

	at int // index of Open among all tokens
}

// Parse implements participle.Parseable. After the opening brace it never fails: failures become
// items.
func (b *Block) Parse(lex *lexer.PeekingLexer) error {
	if !at(lex, "{") {
		return participle.NextMatch
	}
	return b.parse(lex, false)
}

// parse parses the block from its opening brace on. functions is set if it contains function
// definitions.
func (b *Block) parse(lex *lexer.PeekingLexer, functions bool) error {
	g, err := grammar()
	if err != nil {
		return err
	}
	b.at = int(lex.RawCursor())
	b.Open = *lex.Next()
	failed := false // the item before failed, so that what follows may be its rest,
	orphan := false // or a block after that
	for {
		t := lex.Peek()
		if t.EOF() || isHeader(lex) {
			b.Missing, b.Close = true, *t
			return nil
		}
		if at(lex, "}") {
			b.Close = *lex.Next()
			return nil
		}
		if isWord(t, "else") && b.cutBy(lex) {
			b.Missing, b.Close = true, *t
			return nil
		}
		if orphan && isWord(t, "else") {
			lex.Next() // the `else` of an `if` that did not parse
			continue
		}
		item := Item{Start: *t}
		start := lex.MakeCheckpoint()
		switch {
		case at(lex, ";") && !functions: // a semicolon after a closing brace, as in other languages
			lex.Next()
			item.Stmt = &Stmt{Tokens: lex.Range(lex.RawCursor()-1, lex.RawCursor()), Empty: true}
			err = nil
		// The body of a function whose header did not parse.
		case functions && failed && at(lex, "{"):
			item.Stmt, err = g.stmt.ParseFromLexer(lex, participle.AllowTrailing(true))
		case functions:
			item.Func, err = g.fun.ParseFromLexer(lex, participle.AllowTrailing(true))
		default:
			item.Stmt, err = g.stmt.ParseFromLexer(lex, participle.AllowTrailing(true))
		}
		orphan = err != nil || orphan && item.Stmt != nil && item.Stmt.Block != nil
		failed = err != nil
		if failed {
			item.Fail = asFailure(err, lex)
			resume(lex, start, item.Fail)
			item.End = lex.Peek().Pos.Offset
		}
		b.Items = append(b.Items, item)
	}
}

// cutBy reports whether this block lacks its closing brace: the next `else` belongs to the `if`
// whose branch this block is. That is assumed if the `else` begins a line and is not indented more
// than the `if`.
func (b *Block) cutBy(lex *lexer.PeekingLexer) bool {
	t := lex.Peek()
	if t.Pos.Column > b.Open.Pos.Column || t.Pos.Line == b.Open.Pos.Line {
		return false
	}
	before := lex.Range(0, lex.RawCursor())
	if before[len(before)-1].Pos.Line == t.Pos.Line {
		return false
	}
	i := b.at - 1 // the parenthesis that closes before the brace
	for depth := 0; i > 0; i-- {
		if isPunct(before[i], ")") {
			depth++
		} else if isPunct(before[i], "(") {
			if depth--; depth == 0 {
				return isWord(&before[i-1], "if")
			}
		} else if depth == 0 {
			return false
		}
	}
	return false
}

// asFailure converts participle's errors to failures.
func asFailure(err error, lex *lexer.PeekingLexer) *failure {
	switch e := err.(type) {
	case *failure:
		return e
	case *participle.UnexpectedTokenError:
		return &failure{tok: e.Unexpected, want: expected(e)}
	}
	return &failure{tok: *lex.Peek(), want: wantExpr}
}

// resume moves the lexer from the start of a failed statement to where parsing can continue, at
// least one token ahead.
func resume(lex *lexer.PeekingLexer, start lexer.Checkpoint, f *failure) {
	lex.LoadCheckpoint(start)
	first := lex.Cursor()
	prev := lexer.Token{}
	braces := 0 // number of open braces of array expressions
	loop := -1  // line of a `for` whose header is open: semicolons do not end it
	for lex.Peek().Pos.Offset < f.tok.Pos.Offset {
		switch {
		case at(lex, "{"):
			braces++
		case at(lex, "}") && braces > 0:
			braces--
		case isWord(&prev, "for"):
			loop = prev.Pos.Line
		case at(lex, ")"):
			loop = -1
		}
		prev = *lex.Next()
	}
	moved := func() bool { return lex.Cursor() > first }
	if f.want == wantSemi && moved() && lex.Peek().Pos.Line > prev.Pos.Line {
		return // only the semicolon is missing
	}
	for {
		t := lex.Peek()
		switch {
		case t.EOF(), isHeader(lex):
			return
		case at(lex, ";"):
			if t.Pos.Line != loop {
				lex.Next()
				return
			}
		case at(lex, "{"):
			if !opensArray(prev) && moved() {
				return // a body, which is parsed separately
			}
			braces++
		case at(lex, "}"):
			if braces == 0 && moved() {
				return
			}
			braces = max(0, braces-1)
		case t.Pos.Line > prev.Pos.Line && moved() && beginsStatement(t):
			return
		}
		prev = *lex.Next()
	}
}

// opensArray reports whether a brace after prev opens an array expression rather than a block.
func opensArray(prev lexer.Token) bool {
	switch prev.Type {
	case tokAssign:
		return true
	case tokPunct:
		return !strings.Contains(")]};'", prev.Value)
	}
	return isWord(&prev, "return") || isWord(&prev, "in")
}

// beginsStatement reports whether a token begins a statement and cannot continue an expression.
func beginsStatement(t *lexer.Token) bool {
	switch t.Type {
	case tokType:
		return true
	case tokKeyword:
		switch t.Value {
		case "in", "lower", "upper", "offset", "multiplier", "data", "target":
			return false
		}
		return true
	}
	return false
}

func isWord(t *lexer.Token, word string) bool {
	return (t.Type == tokKeyword || t.Type == tokIdent) && t.Value == word
}

// header is the name of a program block as written.
type header struct {
	words []lexer.Token
	kind  ast.BlockKind
	guess bool // the name is unknown and unlike any other, so kind is arbitrary
}

// isHeader reports whether a known block begins here. That needs no context: no statement contains
// `data {`, so a header always ends the preceding text.
func isHeader(lex *lexer.PeekingLexer) bool {
	switch t := lex.Peek(); t.Value {
	case "functions", "data", "parameters", "model", "transformed", "generated":
		start := lex.MakeCheckpoint()
		_, ok := readHeader(lex)
		lex.LoadCheckpoint(start)
		return ok
	}
	return false
}

// readHeader parses the name of a known block up to its brace. If there is none, the lexer's
// position is undefined.
func readHeader(lex *lexer.PeekingLexer) (header, bool) {
	var h header
	name := ""
	for len(h.words) < 2 && (lex.Peek().Type == tokKeyword || lex.Peek().Type == tokIdent) {
		h.words = append(h.words, *lex.Next())
		if name != "" {
			name += " "
		}
		name += h.words[len(h.words)-1].Value
	}
	if !at(lex, "{") {
		return h, false
	}
	for k := ast.Functions; k <= ast.GeneratedQuantities; k++ {
		if k.String() == name {
			h.kind = k
			return h, true
		}
	}
	return h, false
}
