// Package printer writes syntax trees as text, in one canonical layout: indentation by two blanks,
// blanks around operators, lines of at most 80 columns if possible. It is the only printer of the
// language.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	printer.go   File, with the comments of its source; String, Line, Commented: trees
//	             without a source, or whose source does not matter
//	layout.go    documents whose line breaks depend on the available width
//	stmt.go      blocks, declarations, statements
//	expr.go      expressions and types
//	comments.go  positions of comments
//
// Its switches over the types of statements and expressions define how each is written. All other
// traversals of trees use package ast.
package printer

import (
	"math"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
)

// Options configure the layout of a file. The zero value is the canonical layout.
type Options struct {
	Width  int  // maximum line width, if possible; 0: 80
	Braces bool // put braces around all bodies, even those that are single statements
}

// File formats a file that was parsed without errors, with its comments. It keeps at most one empty
// line between statements.
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

// String returns the text of a tree, without comments and without a final line break. The tree need
// not have been parsed: String adds the parentheses and braces that its meaning needs. Parsing the
// text of a file gives an equal tree.
func String(n ast.Node) string { return bare(n, standard, nil) }

// Line returns the text of a tree in one line, to quote it in messages. Nodes that were rewritten
// are shown as the program has them.
func Line(n ast.Node) string {
	p := &printer{noSource: true, written: true, w: writer{width: math.MaxInt}}
	return strings.Join(strings.Fields(p.bare(n)), " ")
}

// Commented is String with comments: those that before returns for a statement are written before
// it, each on its own line.
func Commented(n ast.Node, before func(ast.Stmt) []string) string { return bare(n, standard, before) }

func bare(n ast.Node, width int, before func(ast.Stmt) []string) string {
	p := &printer{noSource: true, note: before, w: writer{width: width}}
	return p.bare(n)
}

func (p *printer) bare(n ast.Node) string {
	p.node(n)
	return strings.TrimRight(string(p.w.b), "\n")
}

// complete returns a node with the parentheses that its text needs. In a parsed tree, they are
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

// printer writes one statement after another; each is one doc.
type printer struct {
	src      string
	comments []ast.Comment // comments that are not written yet, in order
	w        writer
	depth    int // number of nested blocks
	last     int // end of the written source, to find empty lines
	top      bool

	addsBraces bool // add braces to bodies that have none

	noSource bool // the tree has no source, so positions mean nothing
	written  bool // show nodes that were rewritten as the program has them
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

// out writes a doc on the current line.
func (p *printer) out(ds ...doc) {
	for _, d := range ds {
		p.w.lay(d, p.indent(), false)
	}
}

// newline ends the line.
func (p *printer) newline() { p.w.newline(p.indent()) }
