package lsp

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/ppl-lang/ppl/lang/source"
)

// checked holds the diagnostics from checking a model with its data, by the URIs of the files.
type checked map[string][]Diagnostic

// checkMessage is a message in the output of ppl check --json.
type checkMessage struct {
	Severity, Code, Summary, Detail, Help, File string
	Line, Column, EndLine, EndColumn            int
}

// checkedWithData publishes the diagnostics of a check that are not known from the text alone.
func (s *server) checkedWithData(uri, path string, result *CommandResult) (any, error) {
	var output struct{ Messages []checkMessage }
	if err := json.Unmarshal([]byte(result.Output), &output); err != nil {
		s.show(messageError, firstLine(result.Output))
		return result, nil
	}
	w := s.workspace
	d, err := w.get(context.Background(), uri)
	if err != nil {
		return result, nil
	}
	found := checked{}
	files := map[string]*source.File{}
	errors := 0
	for _, m := range output.Messages {
		if m.Severity == "error" {
			errors++
		}
		name := m.File
		if name == "stdin" || name == "" {
			name = path
		} else if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		f := files[name]
		if f == nil {
			f = d.file
			if name != path {
				text, err := source.ReadFile(name, maxHintData)
				if err != nil {
					text = ""
				}
				f = source.NewFile(name, text)
			}
			files[name] = f
		}
		x := Diagnostic{Severity: 1, Code: m.Code, Source: "ppl check"}
		x.explain()
		if m.Severity == "warning" {
			x.Severity = 2
		}
		x.Message = strings.Join(nonEmpty(m.Summary, m.Detail, m.Help), "\n")
		x.Range = Range{positionAt(f, m.Line, m.Column), positionAt(f, m.EndLine, m.EndColumn)}
		at := w.uri(f)
		if !s.known(d, at, x) {
			found[at] = append(found[at], x)
		}
	}
	w.publishing.Lock()
	if p := w.host(d); p != nil && !w.overtaken(d) {
		w.mu.Lock()
		w.checked[uri] = found
		w.checks++
		w.mu.Unlock()
		s.publish(d, p)
	}
	w.publishing.Unlock()
	if errors == 0 {
		s.show(messageInfo, filepath.Base(path)+" and its data fit together")
	} else {
		s.show(messageError, firstLine(output.Messages[0].Summary))
	}
	return result, nil
}

// known reports whether a diagnostic was already published from the text alone.
func (s *server) known(d *document, uri string, x Diagnostic) bool {
	p := s.workspace.host(d)
	if p == nil {
		return false
	}
	for _, k := range p.Diagnostics {
		if string(k.Code) == x.Code && s.workspace.uri(k.Span.File) == uri && rangeOf(k.Span).Start == x.Range.Start {
			return true
		}
	}
	return false
}

// positionAt returns the position of a line and column that count from 1; for 0, the beginning of
// the file.
func positionAt(f *source.File, line, column int) Position {
	text := f.Line(line)
	at, n := len(text), 1
	for i := range text {
		if n >= column {
			at = i
			break
		}
		n++
	}
	return Position{max(0, line-1), units(text[:at])}
}

func nonEmpty(parts ...string) []string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}
