package lsp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// pulls reports whether the client asks for diagnostics. Then they are not also sent unasked, as
// editors would show them twice.
func (s *server) pulls() bool { return s.client.Capabilities.TextDocument.Diagnostic != nil }

// refresh tells a client that pulls diagnostics that they may have changed.
func (s *server) refresh() {
	if s.client.Capabilities.Workspace.Diagnostics.RefreshSupport {
		s.ask("workspace/diagnostic/refresh", nil)
	}
}

// pull returns the diagnostics of a document, and those of the files that it includes.
func (s *server) pull(ctx context.Context, p *PullParams) (any, error) {
	w := s.workspace
	d, prog, err := s.whole(ctx, p.TextDocument.URI)
	if err == nil && w.stale(prog) {
		w.mu.Lock()
		w.renew(nil)
		w.mu.Unlock()
		d, prog, err = s.whole(ctx, p.TextDocument.URI)
	}
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	checks := w.checks
	w.mu.Unlock()
	// The analysis is the same as long as neither the text nor an included file has changed. A
	// pointer would not do as its name, since memory is used again.
	id := fmt.Sprintf("%d %d", prog.number, checks)
	if p.PreviousResultID == id {
		return DiagnosticReport{Kind: "unchanged", ResultID: id}, nil
	}
	found := s.found(d, prog)
	out := DiagnosticReport{Kind: "full", ResultID: id, Items: notNil(found[d.uri])}
	for uri, list := range found {
		if uri != d.uri {
			if out.Related == nil {
				out.Related = map[string]DiagnosticReport{}
			}
			out.Related[uri] = DiagnosticReport{Kind: "full", Items: notNil(list)}
		}
	}
	return out, nil
}

// stale reports whether a file of a program differs from what was analysed, or a missing one exists
// now. Not every editor reports that files have changed.
func (w *workspace) stale(p *program) bool {
	for _, f := range p.Files() {
		if !w.current(f) {
			return true
		}
		for _, i := range p.Includes(f) {
			if i.File != nil && !slices.Contains(p.Files(), i.File) {
				return true
			}
		}
	}
	return false
}

func notNil(list []Diagnostic) *[]Diagnostic {
	if list == nil {
		list = []Diagnostic{}
	}
	return &list
}

// tokens is the last answer about the tokens of a document.
type tokens struct {
	id   string
	data []int
}

// keepTokens remembers the tokens of a document and returns their identifier.
func (s *server) keepTokens(uri string, data []int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers++
	id := strconv.Itoa(s.answers)
	s.painted[uri] = tokens{id, data}
	return id
}

// semanticTokensDelta returns how the tokens of a document differ from those of an earlier answer;
// all of them if that answer is not known.
func (s *server) semanticTokensDelta(ctx context.Context, p *DeltaParams) (any, error) {
	s.mu.Lock()
	last, known := s.painted[p.TextDocument.URI]
	s.mu.Unlock()
	data, err := s.tokenData(ctx, &DocumentParams{TextDocument: p.TextDocument})
	if err != nil {
		return nil, err
	}
	id := s.keepTokens(p.TextDocument.URI, data)
	if !known || last.id != p.PreviousResultID {
		return SemanticTokens{id, data}, nil
	}
	return SemanticTokensDelta{id, tokenEdits(last.data, data)}, nil
}

// tokenEdits returns the edit that turns one list into another: the part between their common
// beginning and their common end.
func tokenEdits(from, to []int) []TokenEdit {
	begin := 0
	for begin < min(len(from), len(to)) && from[begin] == to[begin] {
		begin++
	}
	end := 0
	for end < min(len(from), len(to))-begin && from[len(from)-1-end] == to[len(to)-1-end] {
		end++
	}
	if begin+end == len(from) && len(from) == len(to) {
		return []TokenEdit{}
	}
	return []TokenEdit{{begin, len(from) - begin - end, to[begin : len(to)-end]}}
}
