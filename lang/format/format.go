// Package format lays programs out in one canonical form: two blanks of
// indentation, blanks around operators, lines of at most 80 columns where that
// is possible. Comments stay where they are, up to one empty line is kept
// between statements, and nothing else of the layout matters.
//
//	format.go    Source: text to text
//	layout.go    documents whose line breaks are decided by what fits
//	stmt.go      blocks, declarations, statements
//	expr.go      expressions and types
//	comments.go  where comments go
//	edits.go     what changes from one text to another, line by line
//
// The formatted program has the same tree (ast.Equal), and formatting it again
// changes nothing; tests hold both over every program at hand.
package format

import (
	"strings"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// Source formats a program. Where the list has errors, the program could not be
// read and the text is empty. #include lines are kept as they are.
func Source(f *source.File) (string, diag.List) {
	tree, list := lang.ParseWith(f, lang.Options{KeepIncludes: true})
	if list.HasErrors() {
		return "", list
	}
	return settled(tree), list
}

// settled formats a tree until formatting again changes nothing: where a comment
// stands can depend on the line breaks around it, which formatting moves.
func settled(tree *ast.File) string {
	text := Tree(tree)
	if len(tree.Comments) == 0 {
		return text
	}
	for range rounds {
		again, list := lang.ParseWith(source.NewFile(tree.Source.Name, text), lang.Options{KeepIncludes: true})
		if list.HasErrors() {
			return text // a defect, which tests would show
		}
		next := Tree(again)
		if next == text {
			break
		}
		text = next
	}
	return text
}

// rounds bounds how often a program is formatted; one is nearly always enough.
const rounds = 8

// Upgrade formats a program and rewrites what is written as older versions of
// Stan had it; known tells the functions of the library. The list holds a
// warning for each change, or errors.
func Upgrade(f *source.File, known func(name string) bool) (string, diag.List) {
	tree, list := lang.ParseWith(f, lang.Options{KeepIncludes: true, Legacy: true, Known: known, Rename: true})
	if list.HasErrors() {
		return "", list
	}
	return settled(tree), list
}

// Tree formats a tree that was parsed without errors.
func Tree(f *ast.File) string {
	p := &printer{src: f.Source.Text, file: f.Source, comments: f.Comments}
	p.program(f)
	out := strings.TrimLeft(string(p.w.b), "\n")
	if strings.HasPrefix(f.Source.Text, "\ufeff") {
		out = "\ufeff" + out
	}
	return out
}

// printer writes statement after statement; each is one doc.
type printer struct {
	src      string
	file     *source.File
	comments []ast.Comment // those not written yet, in order
	w        writer
	depth    int // of nested blocks
	last     int // end of the source that has been written, for empty lines
	top      bool
}

func (p *printer) indent() int { return level * p.depth }

// out lays out a doc on the line that has begun.
func (p *printer) out(ds ...doc) {
	for _, d := range ds {
		p.w.lay(d, p.indent(), false)
	}
}

// newline ends the line.
func (p *printer) newline() { p.w.newline(p.indent()) }
