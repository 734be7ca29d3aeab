package lsp

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// publishSoon sends the diagnostics of a document and of its included files when they are ready. Of
// several versions that come meanwhile, it analyses the newest.
func (s *server) publishSoon(d *document) {
	w := s.workspace
	w.mu.Lock()
	waiting := w.waiting[d.uri]
	w.waiting[d.uri] = true
	w.mu.Unlock()
	if waiting {
		return
	}
	s.background.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				s.log.Printf("internal error with %s: %v", d.uri, p)
			}
		}()
		w.analysing.Lock() // until the analysis that is running ends
		w.mu.Lock()
		delete(w.waiting, d.uri) // a version that comes now is published by another goroutine
		now := w.documents[d.uri]
		w.mu.Unlock()
		w.analysing.Unlock()
		if now == nil {
			return // closed
		}
		p := w.host(now)
		w.publishing.Lock()
		defer w.publishing.Unlock()
		if p == nil || w.overtaken(now) || w.host(now) != p {
			return
		}
		s.publish(now, p)
	})
}

// found returns the diagnostics of the program p of an open document, by file: those of the text,
// and those of its last check with data. Files without diagnostics have empty lists.
func (s *server) found(d *document, p *program) map[string][]Diagnostic {
	w := s.workspace
	found := map[string][]Diagnostic{d.uri: {}}
	if p.uri != "" {
		found[p.uri] = []Diagnostic{}
	}
	for _, x := range p.Diagnostics {
		uri := w.uri(x.Span.File)
		found[uri] = append(found[uri], s.diagnostic(x))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for uri, list := range w.checked[p.uri] {
		found[uri] = append(found[uri], list...)
	}
	return found
}

// publish sends the diagnostics of the program p of an open document.
func (s *server) publish(d *document, p *program) {
	if s.pulls() {
		s.refresh()
		return
	}
	w := s.workspace
	found := s.found(d, p)
	w.mu.Lock()
	gone := append(w.published[p.uri], w.published[d.uri]...)
	delete(w.published, d.uri)
	w.published[p.uri] = nil
	for uri := range found {
		w.published[p.uri] = append(w.published[p.uri], uri)
	}
	w.mu.Unlock()
	for _, uri := range gone {
		if found[uri] == nil {
			found[uri] = []Diagnostic{}
		}
	}
	for uri, list := range found {
		params := PublishDiagnosticsParams{URI: uri, Diagnostics: list}
		if uri == d.uri {
			params.Version = &d.version
		}
		s.notify("textDocument/publishDiagnostics", params)
	}
}

// withdraw removes the diagnostics of a closed document from the client.
func (s *server) withdraw(uri string) {
	w := s.workspace
	w.publishing.Lock()
	defer w.publishing.Unlock()
	w.mu.Lock()
	gone := w.published[uri]
	delete(w.published, uri)
	delete(w.checked, uri)
	w.mu.Unlock()
	s.mu.Lock()
	delete(s.painted, uri)
	s.mu.Unlock()
	if s.pulls() {
		return
	}
	for _, u := range gone {
		s.notify("textDocument/publishDiagnostics", PublishDiagnosticsParams{URI: u, Diagnostics: []Diagnostic{}})
	}
}

// diagnostic converts a diagnostic to the form of the protocol.
func (s *server) diagnostic(d diag.Diagnostic) Diagnostic {
	out := Diagnostic{Range: rangeOf(d.Span), Severity: 1, Code: string(d.Code), Source: "ppl", Message: messageText(d)}
	switch {
	case d.Code.Pedantic():
		out.Severity = 3
	case d.Severity == diag.Warning:
		out.Severity = 2
	}
	switch d.Code {
	case diag.Unused:
		out.Tags = []int{1} // shown faded
	case diag.DeprecatedForm:
		out.Tags = []int{2} // shown struck through
	}
	for _, n := range d.Related {
		out.Related = append(out.Related, RelatedLocation{s.workspace.location(n.Span), n.Message})
	}
	if e, ok := diag.Explain(d.Code); ok {
		out.Data = &DiagnosticData{e.Title, strings.TrimSpace(e.Text), e.Example, e.Fixed}
	}
	return out
}

// messageText returns the whole text of a diagnostic.
func messageText(d diag.Diagnostic) string {
	text := d.Summary
	if d.Detail != "" {
		text += "\n" + d.Detail
	}
	if d.Fix != "" {
		text += "\nhelp: " + d.Fix
	}
	return text
}

// textEdits returns the edits of one file.
func textEdits(edits []diag.Edit, f *source.File) []TextEdit {
	out := []TextEdit{}
	for _, e := range slices.Backward(edits) {
		if e.Span.File == f {
			out = append(out, TextEdit{rangeOf(e.Span), e.Text})
		}
	}
	return out
}
