// Package grammar parses source text to the syntax tree of package ast.
//
// The steps, in order:
//
//   - lexer.go: text to tokens, by hand; comments and lexical errors are stored separately;
//   - oldnames.go: words that older programs use as names;
//   - program.go: tokens to program blocks, their order and names;
//   - recover.go: blocks to statements, each parsed separately, so that one
//     syntax error does not hide the next;
//   - stmt.go: the grammar of a statement as participle structs, LL(1);
//   - expr.go: expressions by precedence climbing;
//   - explain.go, foreign.go, habits.go: from a wrong token to a helpful message;
//   - lower.go, lower_decl.go, lower_expr.go: grammar structs to ast nodes, and
//     the rules whose messages need more than the grammar.
//
// No input makes this package panic or take more than linear time, which a fuzz test checks: the
// grammar never reparses, and nesting is limited before the first recursion.
package grammar

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// maxErrors is the maximum number of errors reported for one text. More of them mean that the text
// is not a program.
const maxErrors = 100

// Options of Parse.
type Options struct {
	KeepIncludes bool // #include lines are comments
	Legacy       bool // accept the syntax of older versions, and convert it
}

// Parse parses a program. The tree is never nil. If there are errors, it lacks the parts that could
// not be parsed.
func Parse(f *source.File, o Options) (*ast.File, diag.List) {
	s := newScanner(f, o)
	out := &ast.File{Source: f}
	out.Pos = s.span(0, len(f.Text))
	lex, err := lexer.Upgrade(s)
	if err == nil {
		_, err = grammar()
	}
	if err != nil { // a fault in the grammar structs, which every test would find
		return out, diag.List{diag.Errorf(diag.UnexpectedToken, out.Pos, "internal error: %v", err)}
	}
	tokens := lex.Range(0, lexer.RawCursor(s.count)) // all of them, as lex has them
	s.oldNames(tokens)
	ownNames(tokens)
	out.Comments = s.comments
	l := &lowerer{file: f, tokens: tokens, diags: s.diags, swallowed: s.swallowed, options: o}
	if !l.tooDeep() {
		l.program(lex, out)
		out.Lost = l.lost
	}
	l.diags.Sort()
	if len(l.diags) > maxErrors {
		l.diags = l.diags[:maxErrors]
	}
	return out, l.diags
}

// tooDeep reports nesting that would exhaust the parser's stack: of brackets, and of statements
// within statements without braces. An `else if` counts as a tenth of a level, because such chains
// are long without being deep.
func (l *lowerer) tooDeep() bool {
	const level, link = 10, 1
	// Number of open brackets, and of control words since the end of the last statement.
	depth, chain := 0, 0
	var outer []int // for each open brace, the value of chain outside it
	for i, t := range l.tokens {
		switch t.Value {
		case "{":
			outer = append(outer, chain)
			depth += chain + level
			chain = 0
		case "(", "[":
			depth += level
		case ")", "]":
			depth = max(0, depth-level)
		case "}":
			if n := len(outer); n > 0 {
				chain, outer = outer[n-1], outer[:n-1]
				depth = max(0, depth-chain-level)
			}
			if !isWord(&l.tokens[i+1], "else") {
				chain = 0
			}
		case ";":
			if !isWord(&l.tokens[i+1], "else") {
				chain = 0
			}
		case "if":
			if i > 0 && isWord(&l.tokens[i-1], "else") {
				break
			}
			chain += level
		case "for", "while":
			chain += level
		case "else":
			if isWord(&l.tokens[i+1], "if") {
				chain += link
			} else {
				chain += level
			}
		}
		if depth+chain > maxDepth*level {
			l.add(diag.TooDeep, spanOf(l, t), "the program is nested more than %d levels deep", maxDepth)
			return true
		}
	}
	return false
}

// program parses the blocks.
func (l *lowerer) program(lex *lexer.PeekingLexer, out *ast.File) {
	var last *ast.Block
	first := map[ast.BlockKind]*ast.Block{}
	for !lex.Peek().EOF() {
		start := lex.MakeCheckpoint()
		h, ok := readHeader(lex)
		known := ok
		if !ok {
			lex.LoadCheckpoint(start)
			if h, ok = l.unknownHeader(lex); !ok {
				lex.LoadCheckpoint(start)
				l.gap(lex, last)
				continue
			}
		}
		var b Block
		if err := b.parse(lex, h.kind == ast.Functions); err != nil {
			return // the grammar could not be built, which Parse has reported
		}
		begin := h.words[0].Pos.Offset
		block := &ast.Block{Kind: h.kind, Base: ast.Base{Pos: l.span(begin, end(&b.Close))}}
		if b.Missing {
			block.Pos.End = l.endBefore(b.Close)
		}
		block.Stmts = l.block(h.kind, &b, known && first[h.kind] != nil)
		if b.Missing {
			l.unclosed(h, &b)
		}
		last = block
		if h.guess {
			l.lost = append(l.lost, block.Pos)
			continue
		}
		if known {
			l.order(out, first, block, h)
		}
		if first[block.Kind] == nil {
			first[block.Kind] = block
		}
		out.Blocks = append(out.Blocks, block)
	}
}

// order checks the position of a block relative to the earlier ones.
func (l *lowerer) order(out *ast.File, first map[ast.BlockKind]*ast.Block, b *ast.Block, h header) {
	name := source.Join(spanOf(l, h.words[0]), spanOf(l, h.words[len(h.words)-1]))
	note := func(b *ast.Block, message string) []diag.Note {
		return []diag.Note{{Span: l.span(b.Pos.Start, b.Pos.Start+len(b.Kind.String())), Message: message}}
	}
	if prev := first[b.Kind]; prev != nil {
		d := diag.Errorf(diag.DuplicateBlock, name, "a second `%s` block", b.Kind)
		d.Related = note(prev, "the first is here")
		d.Fix = "merge the two blocks"
		if b.Kind == ast.Data || b.Kind == ast.Parameters {
			d.Fix = "merge the two blocks, or call this one `transformed " + b.Kind.String() + "`"
		}
		l.diags.Add(d)
		return
	}
	for _, prev := range out.Blocks {
		if prev.Kind > b.Kind {
			d := diag.Errorf(diag.BlockOrder, name, "the `%s` block must come before the `%s` block", b.Kind, prev.Kind)
			d.Detail = "The order of blocks is: functions, data, transformed data, parameters, transformed parameters, model, generated quantities."
			d.Related = note(prev, "it comes after this one")
			d.Fix = "move the block up"
			l.diags.Add(d)
			return
		}
	}
}

// blockNames maps wrong names of blocks that users write to the right ones.
var blockNames = map[string]string{
	"params": "parameters", "param": "parameters", "input": "data", "inputs": "data",
	"derived": "transformed parameters", "observations": "data",
	"generated": "generated quantities", "outputs": "generated quantities", "output": "generated quantities",
}

// unknownHeader parses text that looks like the header of a block: up to three words and a brace.
func (l *lowerer) unknownHeader(lex *lexer.PeekingLexer) (h header, ok bool) {
	var words []string
	for len(words) < 3 && (lex.Peek().Type == tokKeyword || lex.Peek().Type == tokIdent) {
		t := lex.Next()
		h.words, words = append(h.words, *t), append(words, t.Value)
	}
	if len(words) == 0 || !at(lex, "{") || beginsStatement(&h.words[0]) && words[0] != "functions" && words[0] != "parameters" && words[0] != "model" {
		return h, false
	}
	name := strings.Join(words, " ")
	span := source.Join(spanOf(l, h.words[0]), spanOf(l, h.words[len(h.words)-1]))
	d := diag.Errorf(diag.UnknownBlock, span, "there is no block called `%s`", name)
	h.kind = ast.TransformedData // the block with the fewest rules
	near := blockNames[name]
	if near == "" {
		near = diag.Nearest(name, func(yield func(string) bool) {
			for k := ast.Functions; k <= ast.GeneratedQuantities && yield(k.String()); k++ {
			}
		})
	}
	known := false
	for k := ast.Functions; k <= ast.GeneratedQuantities; k++ {
		if k.String() == near {
			h.kind, known = k, true
		}
	}
	switch {
	case name == "transformed":
		d.Fix = "write `transformed data` or `transformed parameters`"
	case known:
		d.Fix = "did you mean `" + near + "`?"
		d.Replace(near)
	default:
		d.Fix = "write one of: functions, data, transformed data, parameters, transformed parameters, model, generated quantities"
	}
	l.diags.Add(d)
	h.guess = !known
	return h, true
}

// gap reports text outside all blocks, once, and moves to the next block.
func (l *lowerer) gap(lex *lexer.PeekingLexer, last *ast.Block) {
	t := *lex.Peek()
	var d diag.Diagnostic
	switch next := l.tokens[l.index(t)+1]; {
	case t.Type == tokBad:
		d.Code = "" // the lexer has reported it
	case isPunct(t, "}"):
		d = diag.Errorf(diag.StrayBrace, spanOf(l, t), "this `}` closes nothing")
		d.Fix = "remove it, or look for a `{` that is missing before it"
	case t.Value == "data" || t.Value == "parameters" || t.Value == "model" || t.Value == "functions":
		d = l.braceMissing(t.Value, next)
	case t.Value == "generated" && next.Value == "quantities", t.Value == "transformed" && (next.Value == "data" || next.Value == "parameters"):
		d = l.braceMissing(t.Value+" "+next.Value, l.tokens[l.index(next)+1])
	default:
		d = diag.Errorf(diag.OutsideBlock, spanOf(l, t), "text outside all program blocks")
		d.Detail = "Every declaration and statement belongs to a block such as `data { … }` or `model { … }`."
		d.Fix = "put it into a block: statements such as `y ~ normal(0, 1);` into `model { … }`"
	}
	if l.swallowed && (d.Code == diag.StrayBrace || d.Code == diag.OutsideBlock) {
		d.Code = "" // the brace is probably in the unclosed comment
	}
	if last != nil && (d.Code == diag.StrayBrace || d.Code == diag.OutsideBlock) {
		d.Related = []diag.Note{{Span: l.span(max(last.Pos.Start, last.Pos.End-1), last.Pos.End),
			Message: "the block `" + last.Kind.String() + "` ended here"}}
	}
	if d.Code != "" {
		l.diags.Add(d)
	}
	for lex.Next(); !lex.Peek().EOF() && !isHeader(lex); {
		lex.Next()
	}
	l.lost = append(l.lost, l.span(t.Pos.Offset, lex.Peek().Pos.Offset))
}

// braceMissing reports the name of a block without an opening brace.
func (l *lowerer) braceMissing(name string, next lexer.Token) diag.Diagnostic {
	d := diag.Errorf(diag.UnexpectedToken, spanOf(l, next), "`{` is missing after the block name `%s`", name)
	d.Fix = "write `" + name + " { … }`"
	return d
}

// unclosed reports a program block whose closing brace is missing.
func (l *lowerer) unclosed(h header, b *Block) {
	if l.swallowed {
		return
	}
	// Each inner brace may have been matched with a brace that was meant for an outer one. The
	// indentation shows which.
	inner := l.misindented(b)
	if inner == nil {
		inner = b
	}
	d := diag.Errorf(diag.UnclosedBrace, spanOf(l, inner.Close), "`}` is missing: the block `%s` goes on into the next", h.kind)
	note := "the block begins here"
	switch {
	case inner.Close.EOF():
		d.Summary = "`}` is missing: the text ends within the block `" + h.kind.String() + "`"
	case isPunct(inner.Close, "}"):
		d.Summary = "`}` is missing before this one"
	}
	if inner != b {
		note = "this `{` is not closed, if the indentation is right"
	}
	d.Related = []diag.Note{{Span: spanOf(l, inner.Open), Message: note}}
	d.Fix = "add the missing `}`"
	l.diags.Add(d)
}

// misindented finds the innermost block whose closing brace begins a line but is indented less than
// the line of its opening brace, or is missing.
func (l *lowerer) misindented(b *Block) *Block {
	for _, item := range b.Items {
		for _, inner := range item.blocks() {
			if deeper := l.misindented(inner); deeper != nil {
				return deeper
			}
			if inner.Missing {
				if isWord(&inner.Close, "else") {
					continue // it was reported there
				}
				return inner
			}
			close := inner.Close.Pos
			if begins := l.tokens[l.index(inner.Close)-1].Pos.Line < close.Line; begins && close.Column < inner.Open.Pos.Column {
				return inner
			}
		}
	}
	return nil
}

// blocks lists the blocks directly within a statement.
func (it *Item) blocks() []*Block {
	var out []*Block
	if it.Func != nil && it.Func.Body != nil {
		out = append(out, it.Func.Body)
	}
	var visit func(*Stmt)
	visit = func(s *Stmt) {
		switch {
		case s == nil:
		case s.Block != nil:
			out = append(out, s.Block)
		case s.Profile != nil && s.Profile.Body != nil:
			out = append(out, s.Profile.Body)
		case s.If != nil:
			visit(s.If.Then)
			visit(s.If.Else)
		case s.For != nil:
			visit(s.For.Body)
		case s.While != nil:
			visit(s.While.Body)
		}
	}
	visit(it.Stmt)
	return out
}
