package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// page is a page of doc/contributing.
type page struct {
	name, path string
	blocks     []block
}

// kind is the purpose of the text of a block.
type kind uint8

const (
	newFile kind = iota
	after
	before
	instead
	end
	commands
	shows
)

// places lists the words of info strings for places.
var places = map[string]kind{"after": after, "before": before, "instead": instead}

// block is a fenced block.
type block struct {
	kind   kind
	line   int    // line of the page
	file   string // the file to change
	anchor string // the line of that file at which to change it
	text   string
}

// readPages reads the pages of a repository.
func readPages(root string) ([]page, error) {
	names, err := filepath.Glob(filepath.Join(root, folder, "add-*.md"))
	if err != nil {
		return nil, err
	}
	var pages []page
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		p := page{name: strings.TrimSuffix(filepath.Base(name), ".md"), path: folder + "/" + filepath.Base(name)}
		if p.blocks, err = parse(string(text)); err != nil {
			return nil, fmt.Errorf("%s:%w", p.path, err)
		}
		pages = append(pages, p)
	}
	return pages, nil
}

// info matches the parts of an info string after the language.
var info = regexp.MustCompile(`(\w+)(?:=("[^"]*"|\S+))?`)

// parse returns the blocks of a page.
func parse(text string) (blocks []block, err error) {
	var b *block
	indent, fenced := "", false
	for i, line := range strings.SplitAfter(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		if !strings.HasPrefix(trimmed, "```") {
			if b != nil {
				b.text += strings.TrimPrefix(line, indent)
			}
			continue
		}
		if fenced = !fenced; !fenced {
			if b != nil {
				blocks = append(blocks, *b)
			}
			b = nil
			continue
		}
		indent = line[:len(line)-len(trimmed)]
		if b, err = start(strings.TrimSpace(strings.TrimPrefix(trimmed, "```"))); err != nil {
			return nil, fmt.Errorf("%d: %w", i+1, err)
		}
		if b != nil {
			b.line = i + 1
		}
	}
	if fenced {
		return nil, errors.New("0: the last block is not closed")
	}
	return blocks, nil
}

// start returns a new block for an info string; nil for a block of plain text.
func start(text string) (*block, error) {
	language, rest, _ := strings.Cut(text, " ")
	switch {
	case language == "sh":
		return &block{kind: commands}, nil
	case language == "output":
		return &block{kind: shows}, nil
	case !strings.Contains(rest, "file="):
		return nil, nil
	}
	b := &block{}
	for _, m := range info.FindAllStringSubmatch(rest, -1) {
		value := m[2]
		if strings.HasPrefix(value, `"`) {
			value = html.UnescapeString(value[1 : len(value)-1])
		}
		switch place, known := places[m[1]]; {
		case m[1] == "file":
			b.file = value
		case m[1] == "end":
			b.kind = end
		case known:
			b.kind, b.anchor = place, strings.TrimSpace(value)
		default:
			return nil, fmt.Errorf("%q is no part of a block's description", m[0])
		}
	}
	return b, nil
}

// files returns the files that a reader who follows the page edits.
func (p page) files() []string {
	var files []string
	for _, b := range p.blocks {
		if b.file != "" && !slices.Contains(files, b.file) {
			files = append(files, b.file)
		}
	}
	return files
}

// apply makes the changes of a page in a copy of the repository.
func (p page) apply(dir string) error {
	for _, b := range p.blocks {
		if b.file == "" {
			continue
		}
		if err := b.apply(filepath.Join(dir, b.file)); err != nil {
			return fmt.Errorf("%s:%d: %s: %w", p.path, b.line, b.file, err)
		}
	}
	for _, name := range p.files() {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || filepath.Ext(name) != ".go" {
			continue
		}
		formatted, err := format.Source(text)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", p.path, name, err)
		}
		if !bytes.Equal(formatted, text) {
			return fmt.Errorf("%s: %s is not as gofmt formats it", p.path, name)
		}
	}
	return nil
}

func (b block) apply(path string) error {
	text, err := os.ReadFile(path)
	switch {
	case b.kind == newFile:
		if err == nil {
			return errors.New("it exists; say where the lines go")
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(b.text), 0o644)
	case err != nil:
		return err
	case b.kind == end:
		return os.WriteFile(path, append(text, b.text...), 0o644)
	}
	lines := strings.SplitAfter(string(text), "\n")
	at := -1
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if head, rest := strings.CutSuffix(b.anchor, "…"); !(rest && strings.HasPrefix(line, head)) && line != b.anchor {
			continue
		}
		if at >= 0 {
			return fmt.Errorf("the line %q is there twice", b.anchor)
		}
		at = i
	}
	if at < 0 {
		return fmt.Errorf("there is no line %q", b.anchor)
	}
	from, to := at, at
	switch b.kind {
	case after:
		from, to = at+1, at+1
	case instead:
		to = at + 1
	}
	lines = slices.Replace(lines, from, to, b.text)
	return os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644)
}
