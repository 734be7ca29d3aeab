// Package format formats programs in the canonical layout of package printer. It keeps the
// positions of comments and up to one empty line between statements, and ignores the rest of the
// layout.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	format.go    Source, With: format a text
//	canonical.go parentheses that With removes, and braces that it adds
//	edits.go     differences between two texts, line by line
//
// The formatted program has the same tree (ast.Equal), and formatting it again changes nothing.
// Tests check both for all available programs.
package format

import (
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/source"
)

// Options say how to format a program, and what to rewrite. The zero value gives the behaviour of
// Source.
type Options struct {
	Width int // maximum line width, if possible; 0: 80

	// Known reports whether the library has a function. If it is not nil, the syntax of older
	// versions of Stan is rewritten.
	Known func(name string) bool

	Parentheses bool // remove redundant parentheses
	Braces      bool // put single statements of loops and conditionals into braces

	// Include finds the files of #include lines, which are replaced by their texts. nil: the lines
	// are kept.
	Include func(name string) (*source.File, error)
}

// Source formats a program. If the list has errors, the program could not be parsed and the text is
// empty. #include lines are kept.
func Source(f *source.File) (string, diag.List) { return With(f, Options{}) }

// Upgrade formats a program and rewrites the syntax of older versions of Stan; known reports
// whether the library has a function. The list has a warning for each change, or errors.
func Upgrade(f *source.File, known func(name string) bool) (string, diag.List) {
	return With(f, Options{Known: known})
}

// With formats a program. The list has a warning for each change of older syntax, or errors; then
// the text is empty.
func With(f *source.File, o Options) (string, diag.List) {
	tree, list := lang.ParseWith(f, lang.Options{
		KeepIncludes: o.Include == nil, Include: o.Include,
		Legacy: o.Known != nil, Known: o.Known, Rename: o.Known != nil,
	})
	if list.HasErrors() {
		return "", list
	}
	return settled(canonical(tree, o), o), list
}

// settled formats a tree until formatting again changes nothing, because the position of a comment
// can depend on the surrounding line breaks, which formatting changes.
func settled(tree *ast.File, o Options) string {
	text := laidOut(tree, o)
	if len(tree.Comments) == 0 {
		return text
	}
	for range rounds {
		again, list := lang.ParseWith(source.NewFile(tree.Source.Name, text), lang.Options{KeepIncludes: true})
		if list.HasErrors() {
			// The formatted text does not parse: a fault of this package, which tests would find.
			return text
		}
		next := laidOut(again, o)
		if next == text {
			break
		}
		text = next
	}
	return text
}

// rounds is the maximum number of times that a program is formatted; one is nearly always enough.
const rounds = 8

func laidOut(f *ast.File, o Options) string {
	return printer.File(f, printer.Options{Width: o.Width, Braces: o.Braces})
}
