package lang

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
)

// maxIncludes bounds how many files are put into one.
const maxIncludes = 1000

// expand puts the text of included files in the place of #include lines. The
// spans of the result lead to the files from which the text came.
func expand(f *source.File, include func(name string) (*source.File, error)) (*source.File, diag.List) {
	e := &expansion{include: include}
	e.file(f, nil)
	if e.count == 0 && len(e.list) == 0 {
		return f, nil
	}
	return source.Assemble(f.Name, e.parts), e.list
}

type expansion struct {
	include func(string) (*source.File, error)
	parts   []source.Span
	list    diag.List
	count   int
}

func (e *expansion) file(f *source.File, within []string) {
	from := 0
	for _, span := range grammar.Includes(f) {
		e.parts = append(e.parts, source.Span{File: f, Start: from, End: span.Start})
		from = span.End
		e.one(span, within)
	}
	e.parts = append(e.parts, source.Span{File: f, Start: from, End: len(f.Text)})
}

// one includes what a line names.
func (e *expansion) one(span source.Span, within []string) {
	fail := func(fix, format string, args ...any) {
		d := diag.Errorf(diag.Include, span, format, args...)
		d.Fix = fix
		e.list.Add(d)
	}
	name := IncludeName(span.Text())
	for _, outer := range within {
		if outer == name {
			fail("", "`%s` includes itself", name)
			return
		}
	}
	switch {
	case name == "":
		fail("write `#include file.stan`", "`#include` names no file")
		return
	case e.count >= maxIncludes || len(within) > 100:
		fail("", "more than %d files are included", maxIncludes)
		return
	}
	f, err := e.include(name)
	if err != nil {
		fail("give the folder of the file by --include-path", "cannot include `%s`: %v", name, err)
		return
	}
	e.count++
	e.file(f, append(within, name))
}

// IncludeName is the file that an #include line names: #include a.stan, with or
// without <> or quotes. What follows is a comment.
func IncludeName(line string) string {
	name := strings.TrimSpace(strings.TrimPrefix(line, "#include"))
	for _, q := range []string{"<>", `""`} {
		if strings.HasPrefix(name, q[:1]) {
			name, _, _ = strings.Cut(name[1:], q[1:])
			return strings.TrimSpace(name)
		}
	}
	if i := strings.IndexAny(name, " \t"); i >= 0 {
		name = name[:i]
	}
	return name
}

// IncludeFrom finds included files in folders, in their order. It is for
// [Options.Include].
func IncludeFrom(folders ...string) func(name string) (*source.File, error) {
	return func(name string) (*source.File, error) {
		for _, folder := range folders {
			path := filepath.Join(folder, filepath.FromSlash(name))
			text, err := os.ReadFile(path)
			if err == nil {
				return source.NewFile(path, string(text)), nil
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		return nil, fmt.Errorf("there is no such file in %s", strings.Join(folders, ", "))
	}
}
