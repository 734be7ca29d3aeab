package lsp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/creachadair/jrpc2"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

func (s *server) prepareRename(ctx context.Context, p *PlaceParams) (any, error) {
	at, err := s.workspace.at(ctx, p.TextDocument.URI, p.Position)
	if err != nil {
		return nil, err
	}
	span, err := at.Renameable(at.file, at.offset)
	if err != nil {
		return nil, jrpc2.Errorf(requestFailed, "%v", err)
	}
	return rangeOf(span), nil
}

// rename changes a name in all files of a program. It refuses if the effect is unknown: if other
// programs include one of the files, or if texts have changed since they were analysed.
func (s *server) rename(ctx context.Context, p *PlaceParams) (any, error) {
	w := s.workspace
	at, err := w.at(ctx, p.TextDocument.URI, p.Position)
	if err != nil {
		return nil, err
	}
	edits, err := at.Rename(at.file, at.offset, p.NewName)
	if err != nil {
		return nil, jrpc2.Errorf(requestFailed, "%v", err)
	}
	var changed []*source.File
	for _, e := range edits {
		if !slices.Contains(changed, e.Span.File) {
			changed = append(changed, e.Span.File)
		}
	}
	for _, f := range changed {
		if !w.current(f) {
			w.mu.Lock()
			w.renew(nil)
			w.mu.Unlock()
			return nil, jrpc2.Errorf(contentModified, "%s has changed in the meantime; rename again", filepath.Base(f.Name))
		}
	}
	v := at.VariableAt(at.file, at.offset)
	others, err := w.including(at.program, changed)
	if v != nil && !v.Global {
		// Other programs are not affected, unless they use the new name for something else.
		others = slices.DeleteFunc(others, func(o otherProgram) bool { return !o.mentions(p.NewName) })
	}
	part := filepath.Base(changed[0].Name)
	switch {
	case len(others) > 0:
		return nil, jrpc2.Errorf(requestFailed, "%s would change, but %s includes it too and would break. Rename by hand in both", filepath.Base(others[0].part), others[0].name)
	case err != nil && (len(changed) > 1 || changed[0].Name != at.path || at.Tree.Block(ast.Model) == nil): // programs with a model block are rarely included
		return nil, jrpc2.Errorf(requestFailed, "%s may be included elsewhere, and %v: rename it by hand", part, err)
	}
	if v != nil && v.Global && v.Block == ast.Data {
		s.show(messageInfo, fmt.Sprintf("The data must now have %s in place of %s.", p.NewName, v.Name))
	}
	return w.changes(edits), nil
}

// current reports whether an analysed text is still the current one: that of the open document or,
// if it is not open, of the file. Not every editor reports that files have changed.
func (w *workspace) current(f *source.File) bool {
	for _, d := range w.open() {
		if d.file == f {
			return true
		}
		if d.file.Name == f.Name {
			return d.file.Text == f.Text
		}
	}
	text, err := source.ReadFile(f.Name, 0)
	return err == nil && text == f.Text
}

// otherProgram is a file that includes part of a program without belonging to it.
type otherProgram struct{ name, text, part string }

// mentions reports whether a word occurs in the text of the file.
func (o otherProgram) mentions(word string) bool {
	found, err := regexp.MatchString(`\b`+regexp.QuoteMeta(word)+`\b`, o.text)
	return err != nil || found
}

// maxIncluding is the maximum number of files that are searched before a rename.
const maxIncluding = 5000

var errTooMany = errors.New("there are too many files to see which programs include it")

// including lists the files outside of a program that include one of its changed files, directly or
// through other files of it. It searches open documents, and files below the workspace's folder and
// the folders of the program. An error says why they cannot all be known.
func (w *workspace) including(p *program, changed []*source.File) ([]otherProgram, error) {
	own := map[string]bool{p.path: true}
	for _, f := range p.Files() {
		own[f.Name] = true
	}
	reached := map[string]bool{}
	for _, f := range changed {
		reached[f.Name] = true
	}
	// part returns the reached file that a text includes; "": none.
	part := func(name, text string) string {
		for line := range strings.Lines(text) {
			_, rest, ok := strings.Cut(line, "#include")
			if !ok {
				continue
			}
			include := filepath.FromSlash(lang.IncludeName("#include" + rest))
			found := w.found(name, include)
			for r := range reached {
				if r == found || found == "" && filepath.Base(r) == filepath.Base(include) {
					return r
				}
			}
		}
		return ""
	}
	for range p.Files() { // each pass may reach one more file
		for _, f := range p.Files() {
			if !reached[f.Name] && part(f.Name, f.Text) != "" {
				reached[f.Name] = true
			}
		}
	}
	var out []otherProgram
	seen := map[string]bool{}
	look := func(name, text string) {
		if r := part(name, text); r != "" {
			out = append(out, otherProgram{name, text, r})
		}
	}
	for _, d := range w.open() {
		if !own[d.path] && !own[d.file.Name] {
			look(d.file.Name, d.file.Text)
		}
		seen[d.path] = true
	}
	folders := []string{}
	if root := pathOf(w.server.client.RootURI); root != "" {
		folders = append(folders, root)
	}
	for name := range own {
		if filepath.IsAbs(name) {
			folders = append(folders, filepath.Dir(name))
		}
	}
	slices.Sort(folders[min(1, len(folders)):])
	looked := 0
	for _, folder := range slices.Compact(folders) {
		err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // an unreadable file cannot be a program in use
			}
			if e.IsDir() {
				if name != folder && (strings.HasPrefix(e.Name(), ".") || seen[name]) {
					return filepath.SkipDir
				}
				seen[name] = true
			} else if ext := filepath.Ext(name); !slices.Contains([]string{".stan", ".model", ".ppl", ".stanfunctions"}, ext) || seen[name] || own[name] {
				return nil
			}
			if looked++; looked > maxIncluding {
				return errTooMany
			}
			if e.IsDir() {
				return nil
			}
			seen[name] = true
			if text, err := source.ReadFile(name, 0); err == nil {
				look(name, text)
			}
			return nil
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// found returns the file that a text includes by a name, if there is one.
func (w *workspace) found(from, include string) string {
	if !filepath.IsAbs(from) {
		return ""
	}
	for _, folder := range w.folders(from) {
		full := filepath.Join(folder, include)
		if _, err := os.Stat(full); err == nil {
			return full
		}
	}
	return ""
}

// changes converts edits to the protocol's form. If the editor supports it, they name the versions
// of the documents, so that it applies none to a text that has changed meanwhile.
func (w *workspace) changes(edits []diag.Edit) *WorkspaceEdit {
	if !w.server.client.Capabilities.Workspace.WorkspaceEdit.DocumentChanges {
		out := &WorkspaceEdit{Changes: map[string][]TextEdit{}}
		for _, e := range edits {
			uri := w.uri(e.Span.File)
			out.Changes[uri] = append(out.Changes[uri], TextEdit{rangeOf(e.Span), e.Text})
		}
		return out
	}
	out := &WorkspaceEdit{}
	for _, e := range edits {
		uri := w.uri(e.Span.File)
		i := slices.IndexFunc(out.DocumentChanges, func(d DocumentEdit) bool { return d.TextDocument.URI == uri })
		if i < 0 {
			i = len(out.DocumentChanges)
			out.DocumentChanges = append(out.DocumentChanges, DocumentEdit{TextDocument: VersionedDocument{uri, w.version(e.Span.File)}})
		}
		out.DocumentChanges[i].Edits = append(out.DocumentChanges[i].Edits, TextEdit{rangeOf(e.Span), e.Text})
	}
	return out
}

// version returns the version of the open document with the text of f; nil if there is none.
func (w *workspace) version(f *source.File) *int {
	for _, d := range w.open() {
		if d.file == f {
			return &d.version
		}
	}
	return nil
}
