package lsp

import (
	"net/url"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ppl-lang/ppl/lang/source"
)

// positionOf returns the position of an offset in the protocol's form: lines and UTF-16 code units,
// from 0.
func positionOf(f *source.File, offset int) Position {
	offset = max(0, min(offset, len(f.Text)))
	line := f.Position(offset).Line
	start := f.LineStart(line)
	return Position{Line: line - 1, Character: units(f.Text[start:offset])}
}

// units counts the UTF-16 code units of a text.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// offsetOf returns the byte offset of a position. As in the protocol, a position beyond the end of
// its line means that end, and one within a character means its beginning.
func offsetOf(f *source.File, p Position) int {
	if p.Line < 0 {
		return 0
	}
	start := f.LineStart(p.Line + 1)
	line := f.Line(p.Line + 1)
	at := 0
	for left := p.Character; left > 0 && at < len(line); {
		r, n := utf8.DecodeRuneInString(line[at:])
		if left -= max(1, utf16.RuneLen(r)); left >= 0 {
			at += n
		}
	}
	return min(start+at, len(f.Text))
}

func rangeOf(s source.Span) Range {
	if !s.IsValid() {
		return Range{}
	}
	return Range{positionOf(s.File, s.Start), positionOf(s.File, s.End)}
}

func spanOf(f *source.File, r Range) source.Span {
	start, end := offsetOf(f, r.Start), offsetOf(f, r.End)
	return source.Span{File: f, Start: min(start, end), End: max(start, end)}
}

// pathOf returns the file that a URI names; "" for texts without a file, such as those that were
// never saved.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	name := u.Path
	if runtime.GOOS == "windows" {
		name = strings.TrimPrefix(name, "/")
		if u.Host != "" {
			name = "//" + u.Host + u.Path
		}
	}
	return filepath.Clean(filepath.FromSlash(name))
}

// uriOf returns the URI of a file.
func uriOf(name string) string {
	name = filepath.ToSlash(name)
	if !strings.HasPrefix(name, "/") { // C:/…
		name = "/" + name
	}
	return (&url.URL{Scheme: "file", Path: path.Clean(name)}).String()
}
