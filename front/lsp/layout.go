package lsp

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/service"
	"github.com/ppl-lang/ppl/lang/source"
)

// whole returns a document and the program that it is part of.
func (s *server) whole(ctx context.Context, uri string) (*document, *program, error) {
	d, err := s.workspace.get(ctx, uri)
	if err != nil {
		return nil, nil, err
	}
	host := s.workspace.host(d)
	if host == nil {
		return nil, nil, errOvertaken
	}
	return d, host, nil
}

// symbolKinds are the protocol's numbers: module, function, variable.
var symbolKinds = map[service.OutlineKind]int{service.OutlineBlock: 2, service.OutlineFunction: 12, service.OutlineVariable: 13}

func (s *server) documentSymbol(ctx context.Context, p *DocumentParams) (any, error) {
	d, prog, err := s.whole(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	return symbols(prog.Outlines(d.file)), nil
}

func symbols(list []service.Outline) []DocumentSymbol {
	out := []DocumentSymbol{}
	for _, o := range list {
		x := DocumentSymbol{Name: o.Name, Detail: o.Detail, Kind: symbolKinds[o.Kind], Range: rangeOf(o.Span), SelectionRange: rangeOf(o.Head)}
		if len(o.Inner) > 0 {
			x.Children = symbols(o.Inner)
		}
		out = append(out, x)
	}
	return out
}

func (s *server) foldingRange(ctx context.Context, p *DocumentParams) (any, error) {
	d, prog, err := s.whole(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	out := []FoldingRange{}
	for _, f := range prog.Folds(d.file) {
		r := rangeOf(f.Span)
		x := FoldingRange{StartLine: r.Start.Line, EndLine: r.End.Line}
		if f.Comment {
			x.Kind = "comment"
		} else {
			x.EndLine-- // the line of the brace stays
		}
		out = append(out, x)
	}
	return out, nil
}

// formatting formats the document or, with a range, its lines. It changes nothing if the program
// has errors.
func (s *server) formatting(ctx context.Context, p *DocumentParams) (any, error) {
	d, _, err := s.whole(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	var part *source.Span
	if p.Range != nil {
		span := spanOf(d.file, *p.Range)
		part = &span
	}
	own := s.workspace.own(d)
	if own == nil {
		return nil, errOvertaken
	}
	edits, ok := own.Format(d.file, part)
	if !ok {
		return nil, nil
	}
	return textEdits(edits, d.file), nil
}

func (s *server) semanticTokens(ctx context.Context, p *DocumentParams) (any, error) {
	data, err := s.tokenData(ctx, p)
	if err != nil || p.Range != nil {
		return SemanticTokens{Data: data}, err
	}
	return SemanticTokens{s.keepTokens(p.TextDocument.URI, data), data}, nil
}

// tokenData returns the tokens of a document or of its range, as the protocol encodes them.
func (s *server) tokenData(ctx context.Context, p *DocumentParams) ([]int, error) {
	d, prog, err := s.whole(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	part := source.Span{File: d.file, End: len(d.file.Text)}
	if p.Range != nil {
		part = spanOf(d.file, *p.Range)
	}
	out := []int{}
	last := Position{}
	for _, t := range prog.SemanticTokens(d.file) {
		if t.Span.End < part.Start || t.Span.Start > part.End {
			continue
		}
		// Tokens of several lines are sent line by line, which all clients accept.
		for at := t.Span.Start; at < t.Span.End; {
			line := d.file.Text[at:t.Span.End]
			if i := strings.IndexByte(line, '\n'); i >= 0 {
				line = line[:i+1]
			}
			begin := positionOf(d.file, at)
			at += len(line)
			n := units(strings.TrimRight(line, "\r\n"))
			if n == 0 {
				continue
			}
			if begin.Line != last.Line {
				last.Character = 0
			}
			out = append(out, begin.Line-last.Line, begin.Character-last.Character, n, int(t.Type), int(t.Modifiers))
			last = begin
		}
	}
	return out, nil
}

func (s *server) inlayHint(ctx context.Context, p *DocumentParams) (any, error) {
	d, prog, err := s.whole(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	out := []InlayHint{}
	which := service.HintResults
	s.mu.Lock()
	if s.settings.Hints == "all" {
		which = service.HintExpressions
	}
	s.mu.Unlock()
	for _, h := range prog.Hints(d.file, which) {
		at := positionOf(d.file, h.At)
		if p.Range == nil || at.Line >= p.Range.Start.Line && at.Line <= p.Range.End.Line {
			out = append(out, InlayHint{Position: at, Label: strings.TrimSpace(h.Text), Kind: 1, PaddingLeft: strings.HasPrefix(h.Text, " ")})
		}
	}
	return out, nil
}

// onType formats what was just completed: a line after a semicolon, and the lines from the opening
// brace after a closing one.
func (s *server) onType(ctx context.Context, p *TypedParams) (any, error) {
	d, prog, err := s.whole(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	at := offsetOf(d.file, p.Position)
	from := at
	if p.Typed == "}" {
		for _, f := range prog.Folds(d.file) {
			if !f.Comment && f.Span.End == at-1 {
				from = f.Span.Start
			}
		}
	}
	part := Range{Position{Line: positionOf(d.file, from).Line}, p.Position}
	return s.formatting(ctx, &DocumentParams{TextDocument: p.TextDocument, Range: &part})
}

// codeLens offers to run a model, above its first block, and to check it with its data file.
func (s *server) codeLens(ctx context.Context, p *DocumentParams) (any, error) {
	d, prog, err := s.whole(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	out := []CodeLens{}
	blocks := prog.Tree.Blocks
	if d.path == "" || prog.uri != d.uri || len(blocks) == 0 || blocks[len(blocks)-1].Kind == 0 {
		return out, nil
	}
	file := dataFile(d.path)
	if file == "" && prog.Tree.Block(1) != nil {
		return out, nil // it needs data, and has no data file
	}
	first := blocks[0].Span().Origin()
	if first.File != d.file {
		first = source.Span{File: d.file}
	}
	first.End = first.Start
	with := ""
	if file != "" {
		with = " with " + filepath.Base(file)
		out = append(out, CodeLens{rangeOf(first), &Command{"check" + with, commandCheck, []any{d.uri}}})
	}
	out = append([]CodeLens{{rangeOf(first), &Command{"run" + with, commandRun, []any{d.uri}}}}, out...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folders[d.uri] != "" {
		out = append(out, CodeLens{rangeOf(first), &Command{"report of the last run", commandReport, []any{d.uri}}})
	}
	return out, nil
}

// codeAction offers fixes for the diagnostics of a range.
func (s *server) codeAction(ctx context.Context, p *CodeActionParams) (any, error) {
	d, prog, err := s.whole(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	wanted := func(kind string) bool {
		return len(p.Context.Only) == 0 || slices.ContainsFunc(p.Context.Only, func(only string) bool {
			return kind == only || strings.HasPrefix(kind, only+".")
		})
	}
	out := []CodeAction{}
	add := func(kind string, f service.Fix, preferred bool) {
		out = append(out, CodeAction{
			Title: f.Title, Kind: kind, Diagnostics: s.diagnostics(f.Diagnostics), IsPreferred: preferred, Edit: s.workspace.changes(f.Edits),
		})
	}
	span := spanOf(d.file, p.Range)
	if wanted("quickfix") {
		for _, f := range prog.Fixes(d.file, span.Start, span.End) {
			add("quickfix", f, true)
		}
	}
	if wanted("source.fixAll") {
		if f, ok := prog.FixAll(d.file); ok {
			add("source.fixAll", f, false)
		}
	}
	if wanted("refactor.rewrite") {
		if f, ok := prog.Upgrade(d.file); ok {
			add("refactor.rewrite", f, false)
		}
	}
	return out, nil
}

func (s *server) diagnostics(list []diag.Diagnostic) []Diagnostic {
	var out []Diagnostic
	for _, d := range list {
		out = append(out, s.diagnostic(d))
	}
	return out
}
