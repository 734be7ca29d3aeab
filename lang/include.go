package lang

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
)

// maxIncludes is the maximum number of included files.
const maxIncludes = 1000

// maxWithin is the maximum depth of nested includes.
const maxWithin = 100

// expand replaces #include lines by the text of the included files. The spans of the result refer
// to the original files. Together the files have at most limit bytes.
func expand(f *source.File, include func(name string) (*source.File, error), limit int64) (*source.File, diag.List) {
	e := &expansion{include: include, left: limit - int64(len(f.Text))}
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
	left    int64 // number of bytes that may still be included
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

// one includes the file that a line names.
func (e *expansion) one(span source.Span, within []string) {
	fail := func(fix, format string, args ...any) *diag.Diagnostic {
		d := diag.Errorf(diag.Include, span, format, args...)
		d.Fix = fix
		e.list.Add(d)
		return &e.list[len(e.list)-1]
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
	case e.count >= maxIncludes:
		fail("", "more than %d files are included", maxIncludes)
		return
	case len(within) > maxWithin:
		fail("", "files are included more than %d deep", maxWithin)
		return
	}
	f, err := e.include(name)
	if err != nil {
		d := fail("", "cannot include `%s`: %v", name, err)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errOutside) {
			d.Fix, d.Settings = "give the folder of the file", []string{"include-path"}
		}
		return
	}
	if e.left -= int64(len(f.Text)); e.left < 0 {
		fail("", "with `%s`, the program is longer than may be read", name)
		return
	}
	e.count++
	e.file(f, append(within, name))
}

// IncludeName returns the file that an #include line names: #include a.stan, with or without <> or
// quotes. The rest of the line is a comment.
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

// IncludeFrom returns a function for [Options.Include], which finds files in the folders, in this
// order.
//
// A program may come from an untrusted user. Therefore it can include only regular files of at most
// limit bytes (0: [source.DefaultLimit]) in and below these folders, even by ".." and symbolic
// links.
func IncludeFrom(limit int64, folders ...string) func(name string) (*source.File, error) {
	return func(name string) (*source.File, error) {
		for _, folder := range folders {
			path := filepath.Join(folder, filepath.FromSlash(name))
			text, err := readWithin(folders, path, limit)
			if err == nil {
				return source.NewFile(path, text), nil
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		return nil, notFound(folders)
	}
}

// notFound is the error for a missing file. It lists the folders that were searched.
type notFound []string

func (e notFound) Error() string        { return "there is no such file in " + strings.Join(e, ", ") }
func (e notFound) Is(target error) bool { return target == fs.ErrNotExist }

// errOutside is the error for a file outside the allowed folders.
var errOutside = errors.New("it lies outside the folder of the program and the include paths")

// readWithin reads a file in one of the folders, after following symbolic links. A path that leads
// out of the folders gives the same error whether the file exists or not.
func readWithin(folders []string, path string, limit int64) (string, error) {
	if _, _, ok := within(folders, path, filepath.Abs); !ok {
		return "", errOutside
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", plain(err)
	}
	folder, rel, ok := within(folders, target, func(path string) (string, error) {
		full, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		return filepath.EvalSymlinks(full)
	})
	if !ok {
		return "", errOutside
	}
	// From here on, no link leads out of the folder, even if it was just created.
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", plain(err)
	}
	defer root.Close()
	info, err := root.Stat(rel)
	if err != nil {
		return "", plain(err)
	}
	if !info.Mode().IsRegular() { // opening a pipe may block forever
		return "", errors.New("it is not a regular file")
	}
	in, err := root.Open(rel)
	if err != nil {
		return "", plain(err)
	}
	defer in.Close()
	return source.ReadAll(in, "it", limit)
}

// within finds the folder that contains a path, and the path relative to it. resolve converts both
// before they are compared.
func within(folders []string, path string, resolve func(string) (string, error)) (folder, rel string, ok bool) {
	path, err := resolve(path)
	if err != nil {
		return "", "", false
	}
	for _, f := range folders {
		f, err := resolve(f)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(f, path); err == nil && filepath.IsLocal(rel) {
			return f, rel, true
		}
	}
	return "", "", false
}

// plain returns a system error without the name of the system call.
func plain(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
