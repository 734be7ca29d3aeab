package main

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// view contains the values that the frame shows.
type view struct {
	Title   string
	Up      string // relative path to the top folder of the site
	Shelves []navigation
	Parts   []heading
	Body    template.HTML
}

type navigation struct {
	Name  string
	Open  bool
	Items []item
}

type item struct {
	Label, Address string
	Here           bool
}

// heading is a section of a page; Text is the text that the search finds there.
type heading struct {
	Anchor, Title string
	level         int
	text          strings.Builder
}

func frame() (*template.Template, error) {
	return template.ParseFS(assets, "assets/page.html")
}

// page adds a page to the site.
func (s *site) page(frame *template.Template, source string) error {
	raw, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(source)))
	if err != nil {
		return err
	}
	names := &anchors{}
	markdown := goldmark.New(goldmark.WithExtensions(
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Linkify),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	doc := markdown.Parser().Parse(text.NewReader(raw), parser.WithContext(parser.NewContext(parser.WithIDs(names))))
	if err := s.relink(doc, source); err != nil {
		return err
	}
	s.anchors[source] = names.all
	parts := sections(doc, raw)
	if len(parts) == 0 || parts[0].level != 1 {
		return fmt.Errorf("the page does not begin with its title")
	}
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, raw, doc); err != nil {
		return err
	}
	file := s.pages[source]
	for _, p := range parts {
		s.words.add(file, parts[0].Title, p)
	}
	// A wide table scrolls inside a box, so that the page does not.
	html := strings.NewReplacer("<table>", `<div class="wide"><table>`, "</table>", "</table></div>").Replace(body.String())
	v := view{Title: parts[0].Title, Up: relative(file, ""), Body: template.HTML(html)}
	for _, p := range parts {
		if p.level == 2 {
			v.Parts = append(v.Parts, heading{Anchor: p.Anchor, Title: p.Title})
		}
	}
	for _, shelf := range s.shelves {
		n := navigation{Name: shelf.Name}
		for _, e := range shelf.Entries {
			here := e.source == source
			n.Open = n.Open || here || source == index
			n.Items = append(n.Items, item{e.Label, relative(file, e.file), here})
		}
		v.Shelves = append(v.Shelves, n)
	}
	var out bytes.Buffer
	if err := frame.Execute(&out, v); err != nil {
		return err
	}
	s.files[file] = out.Bytes()
	return nil
}

// relink replaces the links of a page by links within the site.
func (s *site) relink(doc ast.Node, source string) error {
	return ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		switch n := n.(type) {
		case *ast.Link:
			var to string
			to, err = s.resolve(source, string(n.Destination), false)
			n.Destination = []byte(to)
		case *ast.Image:
			var to string
			to, err = s.resolve(source, string(n.Destination), true)
			n.Destination = []byte(to)
		}
		return ast.WalkContinue, err
	})
}

// sections returns the headings of a page with the text below each.
func sections(doc ast.Node, raw []byte) []*heading {
	var parts []*heading
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if h, ok := n.(*ast.Heading); ok {
			id, _ := n.AttributeString("id")
			anchor, _ := id.([]byte)
			parts = append(parts, &heading{Anchor: string(anchor), Title: plain(n, raw), level: h.Level})
		}
		if len(parts) == 0 {
			return ast.WalkContinue, nil
		}
		into := &parts[len(parts)-1].text
		switch n := n.(type) {
		case *ast.Text:
			into.Write(n.Segment.Value(raw))
			into.WriteByte(' ')
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			into.Write(n.Lines().Value(raw))
			into.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return parts
}

// plain returns the text of a node without markup.
func plain(n ast.Node, raw []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(raw))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// anchors gives headings the same names as GitHub, so that links work in both.
type anchors struct{ all []string }

func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	var name strings.Builder
	for _, r := range strings.ToLower(string(value)) {
		switch {
		case r == ' ':
			name.WriteByte('-')
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			name.WriteRune(r)
		}
	}
	unique := name.String()
	for i := 1; slices.Contains(a.all, unique); i++ {
		unique = fmt.Sprintf("%s-%d", name.String(), i)
	}
	a.all = append(a.all, unique)
	return []byte(unique)
}

func (a *anchors) Put(value []byte) { a.all = append(a.all, string(value)) }
