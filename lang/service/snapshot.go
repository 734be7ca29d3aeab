package service

import (
	"slices"
	"strings"
	"sync"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Library is the library of functions, with its documentation.
type Library interface {
	check.Universe
	// Describe returns the documentation of a function, an operator such as "+", or a distribution;
	// ok is false if there is no such name.
	Describe(name string) (doc types.Documentation, ok bool)
}

// Options of [Analyse].
type Options struct {
	Library Library

	// Include finds the file for an #include line; nil: no file is found. It returns the same
	// *source.File for the same text, as long as the text has not changed.
	Include func(name string) (*source.File, error)

	// Functions says that the text is the inside of a functions block, as in files named
	// NAME.stanfunctions.
	Functions bool

	// Ints has the values of integers in the data, by name. With them, hints show sizes as numbers.
	// nil: no data are known.
	Ints map[string]int64
}

// Snapshot is an analysed version of a program. It is immutable and safe for concurrent use.
type Snapshot struct {
	File        *source.File // the text of the document
	Tree        *ast.File    // the whole program, with included files
	Info        *check.Info
	Diagnostics diag.List // each in the file from which its text came

	options Options
	whole   *source.File // the text of the whole program
	files   []*source.File
	earlier *earlier // of a snapshot that Later returned

	mu     sync.Mutex
	tokens map[*source.File]*fileTokens
	ints   func() map[*check.Var]int64
}

// Analyse parses and checks a program. It never fails.
func Analyse(f *source.File, o Options) *Snapshot {
	s := &Snapshot{File: f, options: o, tokens: map[*source.File]*fileTokens{}}
	text := f
	if o.Functions {
		before, after := source.NewFile("", "functions {\n"), source.NewFile("", "\n}\n")
		text = source.Assemble(f.Name, []source.Span{whole(before), whole(f), whole(after)})
	}
	missing := false // whether an included file was not found
	include := func(name string) (*source.File, error) {
		if o.Include == nil {
			missing = true
			return nil, errNoFolder
		}
		found, err := o.Include(name)
		missing = missing || err != nil
		if err == nil && !slices.Contains(s.files, found) {
			s.files = append(s.files, found)
		}
		return found, err
	}
	s.files = []*source.File{f}
	tree, list := lang.ParseWith(text, lang.Options{Include: include, SkipMissing: true})
	s.Tree, s.whole = tree, tree.Source
	switch {
	case !list.HasErrors():
		var more diag.List
		s.Info, more = check.Check(tree, o.Library)
		list = append(list, more...)
	case lang.Recovered(withoutIncludes(list)):
		s.Info, list = check.After(tree, list, o.Library)
	default:
		s.Info, _ = check.Check(tree, o.Library)
	}
	if missing {
		// The missing file may declare these names.
		list = slices.DeleteFunc(list, func(d diag.Diagnostic) bool {
			return d.Code == diag.UnknownVariable || d.Code == diag.UnknownFunction || d.Code == diag.UnknownDistribution
		})
	}
	for i := range list {
		list[i] = s.placed(list[i])
	}
	list.Sort()
	s.Diagnostics = list
	s.ints = sync.OnceValue(s.knownInts)
	return s
}

type plainError string

func (e plainError) Error() string { return string(e) }

const errNoFolder = plainError("it is not known where to look for files")

func whole(f *source.File) source.Span { return source.Span{File: f, End: len(f.Text)} }

// withoutIncludes returns the list without errors about missing files, because the rest of the
// program can still be checked.
func withoutIncludes(list diag.List) diag.List {
	var out diag.List
	for _, d := range list {
		if d.Code != diag.Include {
			out = append(out, d)
		}
	}
	return out
}

// placed converts the spans of a diagnostic to the files from which the text came.
func (s *Snapshot) placed(d diag.Diagnostic) diag.Diagnostic {
	d.Span = s.origin(d.Span)
	d.Related = slices.Clone(d.Related)
	for i := range d.Related {
		d.Related[i].Span = s.origin(d.Related[i].Span)
	}
	d.Edits = slices.Clone(d.Edits)
	for i := range d.Edits {
		at := d.Edits[i].Span.Origin()
		if !slices.Contains(s.files, at.File) {
			d.Edits = nil // the text of the edit does not come from a file
			break
		}
		d.Edits[i].Span = at
	}
	return d
}

// origin converts a span to the file from which the text came. Text without a file gives the start
// of the document.
func (s *Snapshot) origin(span source.Span) source.Span {
	span = span.Origin()
	if !slices.Contains(s.files, span.File) {
		return source.Span{File: s.File}
	}
	return span
}

// Files returns the files of the program, the document first.
func (s *Snapshot) Files() []*source.File { return s.files }

// at converts an offset in one of the files to an offset in the whole program.
func (s *Snapshot) at(f *source.File, offset int) (int, bool) {
	if s.earlier != nil && f == s.File {
		f, offset = s.earlier.file, s.earlier.offset(max(0, min(offset, len(f.Text))))
	}
	return s.whole.Placed(f, max(0, min(offset, len(f.Text))))
}

// fileTokens has the tokens of a file.
type fileTokens struct {
	all  []grammar.Token
	code func() []grammar.Token // without comments and #include lines
}

func newFileTokens(all []grammar.Token) *fileTokens {
	return &fileTokens{all, sync.OnceValue(func() []grammar.Token {
		other := func(t grammar.Token) bool { return t.Kind == grammar.CommentText || t.Kind == grammar.IncludeLine }
		if !slices.ContainsFunc(all, other) {
			return all
		}
		return slices.DeleteFunc(slices.Clone(all), other)
	})}
}

// fileTokens returns the tokens of one of the files.
func (s *Snapshot) fileTokens(f *source.File) *fileTokens {
	s.mu.Lock()
	defer s.mu.Unlock()
	ts, ok := s.tokens[f]
	if !ok {
		ts = newFileTokens(grammar.Tokens(f))
		s.tokens[f] = ts
	}
	return ts
}

// block returns the program block around an offset of the whole program; nil outside all blocks.
// Text after an unclosed block belongs to it.
func (s *Snapshot) block(at int) *ast.Block {
	var last *ast.Block
	for _, b := range s.Tree.Blocks {
		if b.Pos.Start <= at {
			last = b
		}
	}
	if last == nil {
		return nil
	}
	closed := strings.HasSuffix(last.Pos.Text(), "}")
	if closed && at >= last.Pos.End || at < last.Pos.Start+len(last.Kind.String()) {
		return nil
	}
	return last
}
