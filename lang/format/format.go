// Package format lays programs out in the one canonical form of package printer.
// Comments stay where they are, up to one empty line is kept between statements, and
// nothing else of the layout matters.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	format.go    Source, With: text to text
//	canonical.go what With takes out of a tree, and puts into it
//	edits.go     what changes from one text to another, line by line
//
// The formatted program has the same tree (ast.Equal), and formatting it again
// changes nothing; tests hold both over every program at hand.
package format

import (
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/source"
)

// Options say how a program is laid out, and what is rewritten. The zero value is what
// Source does.
type Options struct {
	Width int // columns that lines keep to where they can; 0: 80

	// Known reports whether the library has a function. If it is not nil, the syntax of older
	// versions of Stan is rewritten.
	Known func(name string) bool

	Parentheses bool // take out parentheses that change nothing
	Braces      bool // put single statements of loops and conditionals into braces

	// Include finds the files of #include lines, whose texts replace them. nil: the lines
	// are kept.
	Include func(name string) (*source.File, error)
}

// Source formats a program. Where the list has errors, the program could not be
// read and the text is empty. #include lines are kept as they are.
func Source(f *source.File) (string, diag.List) { return With(f, Options{}) }

// Upgrade formats a program and rewrites the syntax of older versions of Stan; known reports
// whether the library has a function. The list has a warning for each change, or errors.
func Upgrade(f *source.File, known func(name string) bool) (string, diag.List) {
	return With(f, Options{Known: known})
}

// With formats a program. The list holds a warning for each change of older syntax, or
// errors: then the text is empty.
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

// settled formats a tree until formatting again changes nothing: the place of a comment can depend
// on the line breaks around it, which formatting changes.
func settled(tree *ast.File, o Options) string {
	text := laidOut(tree, o)
	if len(tree.Comments) == 0 {
		return text
	}
	for range rounds {
		again, list := lang.ParseWith(source.NewFile(tree.Source.Name, text), lang.Options{KeepIncludes: true})
		if list.HasErrors() {
			return text // a defect, which tests would show
		}
		next := laidOut(again, o)
		if next == text {
			break
		}
		text = next
	}
	return text
}

// rounds is the largest number of times that a program is formatted; one is nearly always enough.
const rounds = 8

func laidOut(f *ast.File, o Options) string {
	return printer.File(f, printer.Options{Width: o.Width, Braces: o.Braces})
}
