package lsp

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ppl-lang/ppl/lang/service"
)

// completionKinds are the protocol's numbers of the kinds.
var completionKinds = map[service.CompletionKind]int{
	service.CompleteVariable: 6, service.CompleteFunction: 3, service.CompleteDistribution: 7,
	service.CompleteKeyword: 14, service.CompleteType: 22, service.CompleteFile: 17,
}

func (s *server) completion(ctx context.Context, p *PlaceParams) (any, error) {
	at, err := s.workspace.near(ctx, p.TextDocument.URI, p.Position)
	if err != nil {
		return nil, err
	}
	snippets := s.client.Capabilities.TextDocument.Completion.CompletionItem.SnippetSupport
	list := CompletionList{Items: []CompletionItem{}}
	for _, c := range at.Complete(at.file, at.offset, s.workspace.includeFiles(at.file.Name)) {
		item := CompletionItem{
			Label: c.Label, Kind: completionKinds[c.Kind], Detail: c.Detail, SortText: fmt.Sprintf("%d%s", c.Rank, c.Label), Data: c.Library,
		}
		text := c.Label
		if snippets && c.Snippet != "" {
			text = c.Snippet
			item.InsertTextFormat = 2
		}
		item.TextEdit = &TextEdit{rangeOf(c.Replace), text}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

// maxOffered is the maximum number of files offered for an #include line.
const maxOffered = 200

// includeFiles lists the files that an #include line of a model may name, including files in
// subfolders that have been typed so far.
func (w *workspace) includeFiles(model string) func(prefix string) []string {
	if !filepath.IsAbs(model) {
		return nil
	}
	return func(prefix string) []string {
		var out []string
		sub, _ := path.Split(prefix)
		if strings.Contains(sub, "..") || path.IsAbs(sub) {
			return nil
		}
		for _, folder := range w.folders(model) {
			entries, err := os.ReadDir(filepath.Join(folder, filepath.FromSlash(sub)))
			if err != nil {
				continue
			}
			for _, e := range entries {
				name := sub + e.Name()
				ext := filepath.Ext(name)
				switch {
				case len(out) >= maxOffered:
					return out
				case strings.HasPrefix(e.Name(), "."):
				case e.IsDir():
					out = append(out, name+"/")
				case (ext == ".stan" || ext == ".stanfunctions" || ext == ".model") && filepath.Join(folder, filepath.FromSlash(name)) != model:
					out = append(out, name)
				}
			}
		}
		return out
	}
}

// resolve adds the documentation to a selected completion.
func (s *server) resolve(_ context.Context, item *CompletionItem) (any, error) {
	if doc, ok := s.options.Library.Describe(item.Data); ok {
		item.Documentation = markdown(service.Documentation(doc))
	}
	return item, nil
}

func (s *server) hover(ctx context.Context, p *PlaceParams) (any, error) {
	at, err := s.workspace.at(ctx, p.TextDocument.URI, p.Position)
	if err != nil {
		return nil, err
	}
	h, ok := at.Hover(at.file, at.offset)
	if !ok {
		return nil, nil
	}
	out := Hover{Contents: markdown(h.Text)}
	if h.Span.File == at.file {
		r := rangeOf(h.Span)
		out.Range = &r
	}
	return out, nil
}

func (s *server) signatureHelp(ctx context.Context, p *PlaceParams) (any, error) {
	at, err := s.workspace.at(ctx, p.TextDocument.URI, p.Position)
	if err != nil {
		return nil, err
	}
	help, ok := at.SignatureHelp(at.file, at.offset)
	if !ok {
		return nil, nil
	}
	out := SignatureHelp{ActiveParameter: help.Argument}
	chosen := false
	for i, f := range help.Forms {
		sig := SignatureInformation{Label: f.Label, Parameters: []ParameterInformation{}}
		if f.Text != "" {
			sig.Documentation = markdown(f.Text)
		}
		for _, x := range f.Parameters {
			info := ParameterInformation{Label: [2]int{units(f.Label[:x.Start]), units(f.Label[:x.End])}}
			if x.Text != "" {
				info.Documentation = markdown(x.Text)
			}
			sig.Parameters = append(sig.Parameters, info)
		}
		if !chosen && help.Argument < len(f.Parameters) { // the first with enough parameters
			out.ActiveSignature, chosen = i, true
		}
		out.Signatures = append(out.Signatures, sig)
	}
	return out, nil
}

func (s *server) definition(ctx context.Context, p *PlaceParams) (any, error) {
	at, err := s.workspace.at(ctx, p.TextDocument.URI, p.Position)
	if err != nil {
		return nil, err
	}
	out := []Location{}
	for _, span := range at.Definition(at.file, at.offset) {
		out = append(out, s.workspace.location(span))
	}
	return out, nil
}

func (s *server) references(ctx context.Context, p *PlaceParams) (any, error) {
	at, err := s.workspace.at(ctx, p.TextDocument.URI, p.Position)
	if err != nil {
		return nil, err
	}
	out := []Location{}
	for _, r := range at.References(at.file, at.offset) {
		if include := p.Context.IncludeDeclaration; !r.Declaration || include == nil || *include {
			out = append(out, s.workspace.location(r.Span))
		}
	}
	return out, nil
}

func (s *server) highlight(ctx context.Context, p *PlaceParams) (any, error) {
	at, err := s.workspace.at(ctx, p.TextDocument.URI, p.Position)
	if err != nil {
		return nil, err
	}
	out := []DocumentHighlight{}
	for _, r := range at.References(at.file, at.offset) {
		if r.Span.File == at.file {
			kind := 2
			if r.Written {
				kind = 3
			}
			out = append(out, DocumentHighlight{rangeOf(r.Span), kind})
		}
	}
	return out, nil
}
