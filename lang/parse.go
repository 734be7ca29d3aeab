package lang

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
)

// Parse reads a program. The tree is never nil: where the list has errors, it
// lacks the statements that could not be read, so that a tool can still work
// with the rest, but check must not be asked about it. Diagnostics are in order
// of place.
func Parse(f *source.File) (*ast.File, diag.List) { return grammar.Parse(f) }
