// Package printer writes syntax trees as text, in one canonical layout: two blanks of
// indentation, blanks around operators, lines of at most 80 columns where that is
// possible. It is the only printer of the language.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	printer.go   File, with the comments of its source; String, Line, Commented: trees
//	             that have no source, or whose source does not matter
//	layout.go    documents whose line breaks are decided by what fits
//	stmt.go      blocks, declarations, statements
//	expr.go      expressions and types
//	comments.go  where comments go
//
// Its switches over the types of statements and expressions say how each is written;
// everything else that goes over trees does so by package ast.
package printer

import (
	"math"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
)

// Options say how a file is laid out. The zero value is the canonical layout.
type Options struct {
	Width  int  // columns that lines keep to where they can; 0: 80
	Braces bool // every block has braces, also one that was made of a single statement
}

// File writes a file that was parsed without errors, with its comments, and with at
// most one of the empty lines between its statements.
func File(f *ast.File, o Options) string {
	if o.Width <= 0 {
		o.Width = standard
	}
	p := &printer{src: f.Source.Text, comments: f.Comments, w: writer{width: o.Width}, addsBraces: o.Braces}
	p.program(f)
	out := strings.TrimLeft(string(p.w.b), "\n")
	if strings.HasPrefix(f.Source.Text, "\ufeff") {
		out = "\ufeff" + out
	}
	return out
}

// String is the text of a tree, without comments and without a final line break.
// The tree need not have been parsed: parentheses and braces are added where its
// meaning needs them. Parsing the text of a file gives an equal tree.
func String(n ast.Node) string { return bare(n, standard, nil) }

// Line is the text of a tree in one line, as messages quote it.
func Line(n ast.Node) string {
	return strings.Join(strings.Fields(bare(n, math.MaxInt, nil)), " ")
}

// Commented is String with comments: those that before gives for a statement are
// written before it, each on a line.
func Commented(n ast.Node, before func(ast.Stmt) []string) string { return bare(n, standard, before) }

func bare(n ast.Node, width int, before func(ast.Stmt) []string) string {
	p := &printer{noSource: true, note: before, w: writer{width: width}}
	p.node(n)
	return strings.TrimRight(string(p.w.b), "\n")
}

// complete is a node with the parentheses that its text needs; those of a source are
// separate nodes.
func complete[N ast.Node](p *printer, n N) N {
	if p.noSource {
		return ast.Parenthesise(n).(N)
	}
	return n
}

// endsInIf reports whether an else after s would belong to an if within it.
func endsInIf(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.If:
		return s.Else == nil || endsInIf(s.Else)
	case *ast.For:
		return endsInIf(s.Body)
	case *ast.ForEach:
		return endsInIf(s.Body)
	case *ast.While:
		return endsInIf(s.Body)
	}
	return false
}

// printer writes statement after statement; each is one doc.
type printer struct {
	src      string
	comments []ast.Comment // those not written yet, in order
	w        writer
	depth    int // of nested blocks
	last     int // end of the source that has been written, for empty lines
	top      bool

	addsBraces bool // bodies that have none get braces

	noSource bool // positions mean nothing
	note     func(ast.Stmt) []string
}

// node writes any node.
func (p *printer) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.File:
		p.program(n)
	case *ast.Block:
		p.program(&ast.File{Blocks: []*ast.Block{n}})
	case ast.Stmt:
		p.stmt([]ast.Stmt{n})
	case ast.Expr:
		p.out(p.expr(n))
	case ast.Index:
		p.out(p.index(n))
	case *ast.TypeExpr:
		p.out(p.typ(n))
	case *ast.Bound:
		p.out(p.bound(n))
	case *ast.Param:
		p.out(p.param(n))
	case *ast.Truncation:
		p.out(p.truncation(n))
	case *ast.Ident:
		p.out(text(n.Name))
	}
	if len(p.w.pending) > 0 {
		p.newline()
	}
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
