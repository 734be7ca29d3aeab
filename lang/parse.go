package lang

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
)

// Options of [ParseWith]. The zero value is what Parse does.
type Options struct {
	// KeepIncludes reads #include lines as comments instead of refusing them.
	KeepIncludes bool
}

// Parse reads a program. The tree is never nil: where the list has errors, it
// lacks the statements that could not be read, so that a tool can still work
// with the rest, but check must not be asked about it. Diagnostics are in order
// of place. A file that is no text gives a single one.
func Parse(f *source.File) (*ast.File, diag.List) { return ParseWith(f, Options{}) }

// ParseWith is Parse with options.
func ParseWith(f *source.File, o Options) (*ast.File, diag.List) {
	if strings.ContainsRune(f.Text, 0) {
		d := diag.Errorf(diag.InvalidCharacter, source.Span{File: f}, "this is not a text file")
		d.Fix = "give the file with the program's text"
		whole := source.Span{File: f, End: len(f.Text)}
		return &ast.File{Base: ast.Base{Pos: whole}, Source: f}, diag.List{d}
	}
	return grammar.Parse(f, grammar.Options{KeepIncludes: o.KeepIncludes})
}
