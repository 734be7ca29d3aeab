package lsp

import (
	"maps"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// publishSoon sends the diagnostics of a document and of its included files when they are ready. If
// several versions arrive meanwhile, it analyses only the newest.
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
		delete(w.waiting, d.uri) // a version that arrives from now on is published by another goroutine
		now := w.documents[d.uri]
		w.mu.Unlock()
		w.analysing.Unlock()
		if now == nil {
			return // the document was closed
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
	for _, f := range p.Files() {
		found[w.uri(f)] = []Diagnostic{}
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

// published holds what was sent about a program. A file may be a part of several programs, and then
// has the diagnostics of all of them.
type published struct {
	documents map[string]bool         // URIs of the open documents that are parts of the program
	found     map[string][]Diagnostic // by the URI of the file
}

// publish sends the diagnostics of the program p of an open document.
func (s *server) publish(d *document, p *program) {
	if s.pulls() {
		s.refresh()
		return
	}
	w := s.workspace
	now := published{map[string]bool{d.uri: true}, s.found(d, p)}
	for _, other := range w.open() {
		if slices.Contains(p.Files(), other.file) {
			if host := w.host(other); host != nil && host.uri == p.uri {
				now.documents[other.uri] = true
			}
		}
	}
	w.mu.Lock()
	touched := w.forget(func(program, document string) bool { return program == p.uri || now.documents[document] })
	w.published[p.uri] = now
	for uri := range now.found {
		touched[uri] = true
	}
	messages := w.merged(touched)
	w.mu.Unlock()
	for _, m := range messages {
		if m.URI == d.uri {
			m.Version = &d.version
		}
		s.notify("textDocument/publishDiagnostics", m)
	}
}

// forget removes documents from the programs that were published, and programs without documents.
// It returns the URIs of the files of the programs that are gone.
func (w *workspace) forget(which func(program, document string) bool) map[string]bool {
	touched := map[string]bool{}
	for program, was := range w.published {
		for document := range was.documents {
			if which(program, document) {
				delete(was.documents, document)
			}
		}
		if len(was.documents) == 0 {
			delete(w.published, program)
			for uri := range was.found {
				touched[uri] = true
			}
		}
	}
	return touched
}

// merged returns the messages about files: the diagnostics of all programs, each once.
func (w *workspace) merged(uris map[string]bool) []PublishDiagnosticsParams {
	programs := slices.Sorted(maps.Keys(w.published))
	var out []PublishDiagnosticsParams
	for _, uri := range slices.Sorted(maps.Keys(uris)) {
		list := []Diagnostic{}
		for _, program := range programs {
			for _, x := range w.published[program].found[uri] {
				if !slices.ContainsFunc(list, func(y Diagnostic) bool {
					return x.Range == y.Range && x.Code == y.Code && x.Message == y.Message
				}) {
					list = append(list, x)
				}
			}
		}
		out = append(out, PublishDiagnosticsParams{URI: uri, Diagnostics: list})
	}
	return out
}

// withdraw removes the diagnostics of a closed document from the client, and publishes again those
// of the documents that it was analysed with.
func (s *server) withdraw(d *document) {
	w := s.workspace
	w.publishing.Lock()
	defer w.publishing.Unlock()
	s.mu.Lock()
	delete(s.painted, d.uri)
	s.mu.Unlock()
	w.mu.Lock()
	delete(w.checked, d.uri)
	again := map[string]bool{}
	for program, was := range w.published {
		if program == d.uri || was.documents[d.uri] {
			maps.Copy(again, was.documents)
		}
	}
	messages := w.merged(w.forget(func(_, document string) bool { return document == d.uri }))
	w.mu.Unlock()
	if s.pulls() {
		s.refresh()
		return
	}
	for _, m := range messages {
		s.notify("textDocument/publishDiagnostics", m)
	}
	for _, other := range w.open() {
		if again[other.uri] || other.uses(d.path) {
			s.publishSoon(other)
		}
	}
}

// codePage is the page of all codes; a code is the name of its section.
const codePage = "https://github.com/ppl-lang/ppl/blob/main/doc/reference/codes.md"

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
	out.explain()
	return out
}

// explain adds what the code of a diagnostic means.
func (d *Diagnostic) explain() {
	if e, ok := diag.Explain(diag.Code(d.Code)); ok {
		d.About = &CodeDescription{codePage + "#" + strings.ToLower(d.Code)}
		d.Data = &DiagnosticData{e.Title, strings.TrimSpace(e.Text), e.Example, e.Fixed}
	}
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
