package lsp

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/lang/service"
	"github.com/ppl-lang/ppl/lang/source"
)

// selectionRange returns, for each position, the parts of the text around it, each within the next.
func (s *server) selectionRange(ctx context.Context, p *SelectionParams) (any, error) {
	d, prog, err := s.whole(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	out := []*SelectionRange{}
	for _, at := range p.Positions {
		var last *SelectionRange
		for _, span := range slices.Backward(prog.Selections(d.file, offsetOf(d.file, at))) {
			last = &SelectionRange{rangeOf(span), last}
		}
		out = append(out, last)
	}
	return out, nil
}

// documentLink returns the files of #include lines.
func (s *server) documentLink(ctx context.Context, p *DocumentParams) (any, error) {
	d, prog, err := s.whole(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	out := []DocumentLink{}
	for _, i := range prog.Includes(d.file) {
		if i.File != nil {
			out = append(out, DocumentLink{rangeOf(i.Span), s.workspace.uri(i.File)})
		}
	}
	return out, nil
}

// prepareCalls returns the function at a place, with all its declarations.
func (s *server) prepareCalls(ctx context.Context, p *PlaceParams) (any, error) {
	at, err := s.workspace.at(ctx, p.TextDocument.URI, p.Position)
	if err != nil {
		return nil, err
	}
	var out []CallItem
	for _, o := range at.FunctionsAt(at.file, at.offset) {
		out = append(out, s.callItem(o, p.TextDocument.URI))
	}
	if out == nil {
		return nil, nil
	}
	return out, nil
}

// callItem converts a function or block to the form of the protocol. The URI is that of the
// document that the client asked about.
func (s *server) callItem(o service.Outline, uri string) CallItem {
	return CallItem{Name: o.Name, Kind: symbolKinds[o.Kind], Detail: o.Detail, URI: s.workspace.uri(o.Head.File), Range: rangeOf(o.Span), SelectionRange: rangeOf(o.Head), Asked: uri}
}

// called finds the name of an item in the program of the document that the client asked about
// first. The file of the item need not be open.
func (w *workspace) called(ctx context.Context, item CallItem) (docPosition, error) {
	if d, err := w.get(ctx, item.Asked); err == nil {
		host := w.host(d)
		if host == nil {
			return docPosition{}, errOvertaken
		}
		for _, f := range host.Files() {
			if w.uri(f) == item.URI {
				return docPosition{host, f, offsetOf(f, item.SelectionRange.Start)}, nil
			}
		}
	}
	return w.at(ctx, item.URI, item.SelectionRange.Start)
}

// incomingCalls returns what calls a function.
func (s *server) incomingCalls(ctx context.Context, p *CallParams) (any, error) {
	at, err := s.workspace.called(ctx, p.Item)
	if err != nil {
		return nil, err
	}
	out := []IncomingCall{}
	for _, c := range at.Callers(at.file, at.offset) {
		out = append(out, IncomingCall{s.callItem(c.Outline, p.Item.Asked), ranges(c.Places)})
	}
	return out, nil
}

// outgoingCalls returns the functions of the program that a function calls.
func (s *server) outgoingCalls(ctx context.Context, p *CallParams) (any, error) {
	at, err := s.workspace.called(ctx, p.Item)
	if err != nil {
		return nil, err
	}
	out := []OutgoingCall{}
	for _, c := range at.Callees(at.file, at.offset) {
		out = append(out, OutgoingCall{s.callItem(c.Outline, p.Item.Asked), ranges(c.Places)})
	}
	return out, nil
}

func ranges(spans []source.Span) []Range {
	out := []Range{}
	for _, span := range spans {
		out = append(out, rangeOf(span))
	}
	return out
}

// The maximum numbers of files below the workspace's folder that are searched for symbols, and of
// symbols in an answer.
const (
	maxSearched = 500
	maxSymbols  = 500
)

// outlined is what a file of the workspace declares, at the time of its last change.
type outlined struct {
	changed time.Time
	size    int64
	list    []SymbolInformation
}

// workspaceSymbol finds blocks, functions and variables whose names contain the letters of a query
// in their order, in open documents and in the models below the workspace's folder.
func (s *server) workspaceSymbol(ctx context.Context, p *QueryParams) (any, error) {
	w := s.workspace
	out := []SymbolInformation{}
	add := func(list []SymbolInformation) {
		for _, x := range list {
			if len(out) < maxSymbols && matches(x.Name, p.Query) {
				out = append(out, x)
			}
		}
	}
	open := map[string]bool{}
	for _, d := range w.open() {
		open[d.path] = true
		if prog := w.own(d); prog != nil {
			add(flat(d.uri, "", prog.Outlines(d.file)))
		}
	}
	root := pathOf(s.client.RootURI)
	if root == "" {
		return out, nil
	}
	searched := 0
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		switch ext := filepath.Ext(name); {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil // what cannot be read has no symbols
		case e.IsDir() && name != root && strings.HasPrefix(e.Name(), "."):
			return filepath.SkipDir
		case e.IsDir() || open[name] || ext != ".stan" && ext != ".model" && ext != ".stanfunctions":
			return nil
		}
		if searched++; searched > maxSearched {
			return filepath.SkipAll
		}
		add(w.outlineOf(name, e))
		return nil
	})
	return out, err
}

// outlineOf returns what a file declares. It reads the file again only if it has changed.
func (w *workspace) outlineOf(name string, e fs.DirEntry) []SymbolInformation {
	info, err := e.Info()
	if err != nil {
		return nil
	}
	w.mu.Lock()
	known, ok := w.outlines[name]
	w.mu.Unlock()
	if ok && known.changed.Equal(info.ModTime()) && known.size == info.Size() {
		return known.list
	}
	text, err := source.ReadFile(name, 0)
	if err != nil {
		return nil
	}
	f := source.NewFile(name, text)
	found := outlined{info.ModTime(), info.Size(), flat(uriOf(name), "", w.program(f, name).Outlines(f))}
	w.mu.Lock()
	w.outlines[name] = found
	w.mu.Unlock()
	return found.list
}

// flat lists the symbols of an outline, with the names of what contains them.
func flat(uri, within string, list []service.Outline) []SymbolInformation {
	var out []SymbolInformation
	for _, o := range list {
		out = append(out, SymbolInformation{o.Name, symbolKinds[o.Kind], Location{uri, rangeOf(o.Head)}, within})
		out = append(out, flat(uri, o.Name, o.Inner)...)
	}
	return out
}

// matches reports whether a name contains the letters of a query in their order, of either case.
func matches(name, query string) bool {
	rest := []rune(strings.ToLower(query))
	for _, r := range strings.ToLower(name) {
		if len(rest) > 0 && r == rest[0] {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}
