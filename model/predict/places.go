package predict

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/source"
)

// This file: the places of a derived program in the user's own text.

// placed returns a file with the text of a derived program. Positions in statements and
// declarations that the user wrote, which the text repeats, are those in the user's file; others
// are in a file with the given name.
func placed(name, text string, of *source.File) *source.File {
	own, written := source.NewFile(name, text), statements(of)
	var pieces []source.Span
	from := 0 // of the text that is not yet in a piece
	for _, s := range segments(text) {
		at, ok := written[spaceless(text[s.start:s.end])]
		if !ok || !at.IsValid() {
			continue
		}
		if from < s.start {
			pieces = append(pieces, source.Span{File: own, Start: from, End: s.start})
		}
		pieces = append(pieces, at)
		from = s.end
	}
	if from < len(text) {
		pieces = append(pieces, source.Span{File: own, Start: from, End: len(text)})
	}
	return source.Assemble(name, pieces)
}

// statements maps the statements and declarations of a file, without their blanks, to their places.
// One that is there twice has the zero Span.
func statements(f *source.File) map[string]source.Span {
	out := map[string]source.Span{}
	for _, s := range segments(f.Text) {
		key := spaceless(f.Text[s.start:s.end])
		if _, twice := out[key]; twice {
			out[key] = source.Span{}
			continue
		}
		out[key] = source.Span{File: f, Start: s.start, End: s.end}.Origin()
	}
	return out
}

// segment is a part of a text that ends with a semicolon and has no comment.
type segment struct{ start, end int }

// segments finds the statements and declarations of a text that hold no braces, comments or
// strings.
func segments(text string) []segment {
	var out []segment
	start := -1 // of the segment; -1: none has begun
	skip := func(from int, end string) int {
		start = -1
		if n := strings.Index(text[from:], end); n >= 0 {
			return from + n + len(end)
		}
		return len(text)
	}
	broken := false // until the next end
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], "//"), c == '#':
			broken = start >= 0
			i = skip(i, "\n")
			continue
		case strings.HasPrefix(text[i:], "/*"):
			broken = start >= 0
			i = skip(i+2, "*/")
			continue
		case c == '"':
			broken = true
			i = skip(i+1, `"`)
			continue
		case c == '{' || c == '}':
			start, broken = -1, false
		case c == ';':
			if start >= 0 && !broken {
				out = append(out, segment{start, i + 1})
			}
			start, broken = -1, false
		case start < 0 && c != ' ' && c != '\t' && c != '\n' && c != '\r':
			start = i
		}
		i++
	}
	return out
}

// spaceless removes the blanks that do not separate two names.
func spaceless(text string) string {
	var b strings.Builder
	name := func(c byte) bool {
		return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
	}
	blank, last := false, byte(0)
	for i := range len(text) {
		c := text[i]
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			blank = true
			continue
		}
		if blank && name(last) && name(c) {
			b.WriteByte(' ')
		}
		b.WriteByte(c)
		blank, last = false, c
	}
	return b.String()
}
