package engine

import (
	"cmp"
	"strings"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/service"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

// text is the current text of the model, and its analysis.
type text struct {
	snapshot *service.Snapshot
	places   *places
}

// textRequest changes the current text.
type textRequest struct {
	Name string           `json:"name"`
	Text string           `json:"text"`
	Ints map[string]int64 `json:"ints"` // integers in the data, to show sizes in hints
}

// textAnswer is the analysis of a text.
type textAnswer struct {
	Messages []diagnostic `json:"messages"`

	// Tokens has three numbers for each token: its position, its length, and its class, an index in
	// Classes.
	Tokens  []int    `json:"tokens"`
	Classes []string `json:"classes"`

	Hints []hint `json:"hints"`
}

// diagnostic is a message about a part of a text.
type diagnostic struct {
	part
	Severity string `json:"severity"` // error, warning, note
	Code     string `json:"code"`
	Line     int    `json:"line"` // line, from 1; 0: it is not about a part of the model
	Summary  string `json:"summary"`
	Detail   string `json:"detail,omitempty"`
	Help     string `json:"help,omitempty"`
	Edits    []edit `json:"edits,omitempty"` // edits that do what Help says
}

// edit replaces a part of the text.
type edit struct {
	part
	Text string `json:"text"`
}

type hint struct {
	At   int    `json:"at"`
	Text string `json:"text"`
}

func (e *Engine) takeText(_ *call, r *textRequest) (*textAnswer, error) {
	f := source.NewFile(def(r.Name, "model.stan"), r.Text)
	e.text = text{
		snapshot: service.Analyse(f, service.Options{Library: stdlib.Language(), Ints: r.Ints}),
		places:   newPlaces(f.Text),
	}
	s, p := e.text.snapshot, e.text.places
	a := &textAnswer{Messages: []diagnostic{}, Tokens: []int{}, Classes: service.TokenTypeNames, Hints: []hint{}}
	units := map[*source.File]*places{f: p}
	for _, d := range s.Diagnostics[:min(len(s.Diagnostics), maxMessages)] {
		a.Messages = append(a.Messages, describeDiagnostic(d, units))
	}
	for _, t := range s.SemanticTokens(f) {
		from := p.unit(t.Span.Start)
		a.Tokens = append(a.Tokens, from, p.unit(t.Span.End)-from, int(t.Type))
	}
	for _, h := range s.Hints(f, service.HintResults) {
		a.Hints = append(a.Hints, hint{p.unit(h.At), h.Text})
	}
	return a, nil
}

// describeDiagnostic converts a diagnostic for the page. units caches the positions of each file.
func describeDiagnostic(d diag.Diagnostic, units map[*source.File]*places) diagnostic {
	out := diagnostic{Severity: "error", Code: string(d.Code), Summary: d.Summary, Detail: d.Detail, Help: d.Fix}
	switch {
	case d.Code.Pedantic():
		out.Severity = "note"
	case d.Severity == diag.Warning:
		out.Severity = "warning"
	}
	at := func(s source.Span) part {
		if units[s.File] == nil {
			units[s.File] = newPlaces(s.File.Text)
		}
		return units[s.File].part(s)
	}
	if d.Span.IsValid() {
		out.part, out.Line = at(d.Span), d.Span.Begin().Line
	}
	for _, x := range d.Edits {
		out.Edits = append(out.Edits, edit{at(x.Span), x.Text})
	}
	return out
}

// placeRequest asks about a position in the text.
type placeRequest struct {
	At int `json:"at"`
}

type completion struct {
	part
	Kind    string `json:"kind"`
	Label   string `json:"label"`
	Detail  string `json:"detail,omitempty"`
	Snippet string `json:"snippet,omitempty"` // with ${1:placeholders}
	Library string `json:"library,omitempty"` // name to ask describe about
}

// completionKinds are the page's names of the kinds of completions.
var completionKinds = map[service.CompletionKind]string{
	service.CompleteVariable: "variable", service.CompleteFunction: "function", service.CompleteDistribution: "distribution",
	service.CompleteKeyword: "keyword", service.CompleteType: "type", service.CompleteFile: "file",
}

// maxCompletions is the maximum number of completions in an answer.
const maxCompletions = 60

func (e *Engine) complete(_ *call, r *placeRequest) ([]completion, error) {
	out := []completion{}
	s, p := e.text.snapshot, e.text.places
	if s == nil {
		return out, nil
	}
	at := p.offset(r.At)
	list := s.Complete(s.File, at, nil)
	// Names that begin with the typed text come first, then names that contain it.
	fit := func(c service.Completion) int {
		written := strings.ToLower(s.File.Text[c.Replace.Start:max(c.Replace.Start, min(at, c.Replace.End))])
		label := strings.ToLower(c.Label)
		switch {
		case strings.HasPrefix(label, written):
			return 0
		case strings.Contains(label, written):
			return 1
		}
		return 2
	}
	sorting.Stable(list, func(a, b service.Completion) int {
		return cmp.Or(cmp.Compare(fit(a), fit(b)), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Label, b.Label))
	})
	for _, c := range list {
		if len(out) == maxCompletions || fit(c) == 2 {
			break
		}
		out = append(out, completion{p.part(c.Replace), completionKinds[c.Kind], c.Label, c.Detail, c.Snippet, c.Library})
	}
	return out, nil
}

// nameRequest asks about a name, for instance of a function.
type nameRequest struct {
	Name string `json:"name"`
}

// markdown is a text in Markdown with its subject.
type markdown struct {
	part
	Text string `json:"text"`
}

func (e *Engine) describe(_ *call, r *nameRequest) (*markdown, error) {
	doc, ok := stdlib.Language().Describe(r.Name)
	if !ok {
		return nil, nil
	}
	return &markdown{Text: service.Documentation(doc)}, nil
}

func (e *Engine) hover(_ *call, r *placeRequest) (*markdown, error) {
	if e.text.snapshot == nil {
		return nil, nil
	}
	h, ok := e.text.snapshot.Hover(e.text.snapshot.File, e.text.places.offset(r.At))
	if !ok {
		return nil, nil
	}
	out := &markdown{Text: h.Text}
	if h.Span.File == e.text.snapshot.File {
		out.part = e.text.places.part(h.Span)
	}
	return out, nil
}

// signature describes the call around a position, and where its label contains the current
// argument.
type signature struct {
	Label string `json:"label"`
	part         // part of the label
	Text  string `json:"text,omitempty"`
	Forms int    `json:"forms"` // number of signatures
}

func (e *Engine) signature(_ *call, r *placeRequest) (*signature, error) {
	if e.text.snapshot == nil {
		return nil, nil
	}
	help, ok := e.text.snapshot.SignatureHelp(e.text.snapshot.File, e.text.places.offset(r.At))
	if !ok || len(help.Forms) == 0 {
		return nil, nil
	}
	form := help.Forms[0]
	for _, f := range help.Forms {
		if help.Argument < len(f.Parameters) { // the first signature with enough arguments
			form = f
			break
		}
	}
	out := &signature{Label: form.Label, Text: form.Text, Forms: len(help.Forms)}
	if help.Argument < len(form.Parameters) {
		x := form.Parameters[help.Argument]
		units := newPlaces(form.Label)
		out.part = part{units.unit(x.Start), units.unit(x.End)}
		if x.Text != "" {
			out.Text = x.Text
		}
	}
	return out, nil
}

// format returns the edits that format the text; none if it has errors.
func (e *Engine) format(*call, *struct{}) ([]edit, error) {
	out := []edit{}
	if e.text.snapshot == nil {
		return out, nil
	}
	edits, _ := e.text.snapshot.Format(e.text.snapshot.File, nil)
	for _, x := range edits {
		out = append(out, edit{e.text.places.part(x.Span), x.Text})
	}
	return out, nil
}

// explanation explains a diagnostic's code.
type explanation struct {
	Title   string `json:"title"`
	Text    string `json:"text"`
	Example string `json:"example"`
	Fixed   string `json:"fixed"`
}

func (e *Engine) explain(_ *call, r *nameRequest) (*explanation, error) {
	x, ok := diag.Explain(diag.Code(r.Name))
	if !ok {
		return nil, nil
	}
	return &explanation{x.Title, strings.TrimSpace(x.Text), x.Example, x.Fixed}, nil
}

func def[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
