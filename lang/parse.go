package lang

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
)

// Options are the options of [ParseWith]. The zero value gives the behaviour of Parse.
type Options struct {
	// KeepIncludes reads #include lines as comments instead of refusing them.
	KeepIncludes bool

	// Include finds the file that an #include line names. nil: #include is
	// refused. The error completes "cannot include NAME: …".
	Include func(name string) (*source.File, error)

	// SkipMissing ignores #include lines for which Include finds no file, for tools that work with
	// unfinished programs.
	SkipMissing bool

	// Legacy accepts the syntax of older versions of Stan, with a warning for each place. Known
	// then reports whether the library has a function.
	Legacy bool
	Known  func(name string) bool

	// MaxBytes is the maximum length of the text together with its included files; 0:
	// [source.DefaultLimit].
	MaxBytes int64

	// Rename gives variables and functions other names if theirs are reserved now. In legacy
	// syntax, such names are allowed.
	Rename bool
}

// Recovered reports whether a tree with these parser errors is worth checking. Its blocks are then
// those that the user meant, and File.Lost lists the text that the tree lacks.
func Recovered(list diag.List) bool {
	for _, d := range list {
		switch d.Code {
		case diag.UnclosedBrace, diag.DuplicateBlock, diag.TooDeep, diag.TooLong, diag.Include, diag.UnterminatedComment,
			diag.FunctionElsewhere, diag.NotAFunction:
			return false
		}
	}
	return true
}

// Parse parses a program. The tree is never nil. If the list has errors, the tree lacks the
// statements that could not be parsed. Tools can still use the rest, but do not pass the tree to
// check. Diagnostics are in the order of their positions. A file that is not text gives a single
// diagnostic.
func Parse(f *source.File) (*ast.File, diag.List) { return ParseWith(f, Options{}) }

// ParseWith is Parse with options.
func ParseWith(f *source.File, o Options) (*ast.File, diag.List) {
	limit := o.MaxBytes
	if limit <= 0 {
		limit = source.DefaultLimit
	}
	if int64(len(f.Text)) > limit {
		d := diag.Errorf(diag.TooLong, source.Span{File: f}, "the program is longer than %s", source.Bytes(limit))
		d.Fix = "put numbers and tables into the data, or allow for a longer program"
		d.Settings = []string{"max-source"}
		return &ast.File{Base: ast.Base{Pos: source.Span{File: f, End: len(f.Text)}}, Source: f}, diag.List{d}
	}
	if strings.ContainsRune(f.Text, 0) {
		d := diag.Errorf(diag.InvalidCharacter, source.Span{File: f}, "this is not a text file")
		d.Fix = "give the file with the program's text"
		if source.UTF16(f.Text) {
			d.Summary, d.Fix = "this text is in UTF-16", "save the file in UTF-8"
		}
		whole := source.Span{File: f, End: len(f.Text)}
		return &ast.File{Base: ast.Base{Pos: whole}, Source: f}, diag.List{d}
	}
	var included diag.List
	if o.Include != nil {
		if f, included = expand(f, o.Include, limit); included.HasErrors() && !o.SkipMissing {
			return &ast.File{Base: ast.Base{Pos: source.Span{File: f, End: len(f.Text)}}, Source: f}, included
		}
	}
	tree, list := grammar.Parse(f, grammar.Options{KeepIncludes: o.KeepIncludes, Legacy: o.Legacy})
	if d := otherLanguage(f); d != nil && list.HasErrors() {
		return &ast.File{Base: ast.Base{Pos: source.Span{File: f, End: len(f.Text)}}, Source: f}, append(included, *d)
	}
	list = append(included, list...)
	if o.Legacy && !list.HasErrors() {
		known := o.Known
		if known == nil {
			known = func(string) bool { return false }
		}
		var changes diag.List
		tree, changes = upgrade(tree, known)
		list = append(list, changes...)
		if o.Rename {
			tree = rename(tree)
		}
		list.Sort()
	}
	return tree, list
}
