package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// index is the page that lists all others: its headings are the shelves, and its links are their
// pages, in the order of the navigation.
const index = "doc/README.md"

// repository is the base of links to files that are not pages of the site.
const repository = "https://github.com/ppl-lang/ppl/blob/main/"

//go:embed assets
var assets embed.FS

// entry is a page in the navigation.
type entry struct {
	Label  string
	source string // the Markdown file, from the root of the module
	file   string // of the site
}

// shelf is a heading of the index with its pages.
type shelf struct {
	Name    string
	Entries []entry
}

// site is the site while it is built.
type site struct {
	root    string
	shelves []shelf
	pages   map[string]string // file of the site, by source
	files   map[string][]byte // what is written
	anchors map[string][]string
	links   []reference
	words   words
}

// reference is a link of a page to a heading, checked when all pages are read.
type reference struct{ from, source, anchor string }

var (
	shelfLine = regexp.MustCompile(`(?m)^## (.+)$`)
	pageLink  = regexp.MustCompile(`\[([^\]]+)\]\(([^)#:\s]+\.md)\)`)
)

// build makes the files of the site, by their names.
func build(root string) (map[string][]byte, error) {
	s := &site{root: root, pages: map[string]string{}, files: map[string][]byte{}, anchors: map[string][]string{}}
	if err := s.shelve(); err != nil {
		return nil, err
	}
	if err := s.complete(); err != nil {
		return nil, err
	}
	frame, err := frame()
	if err != nil {
		return nil, err
	}
	sources := []string{index}
	for _, shelf := range s.shelves {
		for _, e := range shelf.Entries {
			sources = append(sources, e.source)
		}
	}
	for _, source := range sources {
		if err := s.page(frame, source); err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
	}
	var wrong []error
	for _, l := range s.links {
		if !slices.Contains(s.anchors[l.source], l.anchor) {
			wrong = append(wrong, fmt.Errorf("%s: %s has no heading #%s", l.from, l.source, l.anchor))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	for _, name := range []string{"style.css", "search.js"} {
		if s.files[name], err = assets.ReadFile("assets/" + name); err != nil {
			return nil, err
		}
	}
	s.files["words.js"] = s.words.script()
	return s.files, nil
}

// shelve reads the index.
func (s *site) shelve() error {
	text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(index)))
	if err != nil {
		return err
	}
	s.pages[index] = "index.html"
	parts := shelfLine.Split(string(text), -1)
	names := shelfLine.FindAllStringSubmatch(string(text), -1)
	for i, part := range parts[1:] {
		shelf := shelf{Name: names[i][1]}
		for _, m := range pageLink.FindAllStringSubmatch(part, -1) {
			source := path.Join(path.Dir(index), m[2])
			if _, twice := s.pages[source]; twice {
				continue
			}
			file := strings.TrimPrefix(source, "doc/")
			if file == source {
				file = strings.ToLower(file) // of the root: README, ARCHITECTURE, spec
			}
			file = strings.TrimSuffix(file, ".md") + ".html"
			s.pages[source] = file
			shelf.Entries = append(shelf.Entries, entry{m[1], source, file})
		}
		if len(shelf.Entries) > 0 {
			s.shelves = append(s.shelves, shelf)
		}
	}
	if len(s.shelves) == 0 {
		return fmt.Errorf("%s lists no pages", index)
	}
	return nil
}

// complete reports pages of doc/ that the index does not list.
func (s *site) complete() error {
	var missing []string
	err := fs.WalkDir(os.DirFS(s.root), "doc", func(name string, d fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" && s.pages[name] == "" {
			missing = append(missing, name)
		}
		return err
	})
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("%s does not list %s", index, strings.Join(missing, ", "))
	}
	return err
}

// resolve returns the target of a page's link within the site. It adds pictures to the site.
func (s *site) resolve(source, target string, picture bool) (string, error) {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return target, nil
	}
	file, anchor, _ := strings.Cut(target, "#")
	to := source
	if file != "" {
		to = path.Join(path.Dir(source), file)
	}
	if !fs.ValidPath(to) {
		return "", fmt.Errorf("the link to %s leads out of the repository", target)
	}
	text, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(to)))
	if err != nil {
		return "", fmt.Errorf("link to %s: %w", target, err)
	}
	at := s.pages[to]
	switch {
	case at != "":
		if anchor != "" {
			s.links = append(s.links, reference{source, to, anchor})
			anchor = "#" + anchor
		}
	case picture, path.Ext(to) == ".json" && strings.HasPrefix(to, "doc/"):
		// A vector drawing takes fewer bytes than the same plot as pixels.
		drawing := strings.TrimSuffix(to, ".png") + ".svg"
		if _, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(drawing))); err == nil {
			to = drawing
		}
		at = strings.TrimPrefix(to, "doc/")
		if s.files[at], err = os.ReadFile(filepath.Join(s.root, filepath.FromSlash(to))); err != nil {
			return "", err
		}
	default:
		if text.IsDir() {
			to = strings.TrimSuffix(to, "/")
		}
		if anchor != "" {
			anchor = "#" + anchor
		}
		return repository + to + anchor, nil
	}
	return relative(s.pages[source], at) + anchor, nil
}

// relative returns the address of a file of the site, relative to the page that links to it.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}
