// Package source holds source text and positions in it.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// A [File] is a name and a text; a [Span] is a half-open byte range of one
// file. Every node of the syntax tree, every diagnostic and every operation of
// a compiled program carries a Span, so that a message at any stage can show
// the user's own line.
package source

import (
	"slices"
	"sort"
	"strings"
)

// File is a named source text. It is immutable after NewFile.
type File struct {
	Name  string // as the user wrote it; shown in messages
	Text  string
	lines []int  // byte offset of the start of each line
	runes []int  // characters before each block of bytes
	parts []part // of a text that was assembled from several files
}

// part is a piece of text that comes from another file.
type part struct {
	start int // where it begins
	from  Span
}

// Assemble joins pieces of files into one text. Positions in it are those of the files from which
// the pieces came.
func Assemble(name string, pieces []Span) *File {
	var b strings.Builder
	var parts []part
	for _, p := range pieces {
		parts = append(parts, part{b.Len(), p})
		b.WriteString(p.Text())
	}
	f := NewFile(name, b.String())
	f.parts = parts
	return f
}

// Origin is the file and the offset from which the text at an offset came: the file itself unless
// it was assembled.
func (f *File) Origin(offset int) (*File, int) {
	if len(f.parts) == 0 {
		return f, offset
	}
	offset = max(0, min(offset, len(f.Text)))
	i := sort.Search(len(f.parts), func(i int) bool { return f.parts[i].start > offset }) - 1
	// At a seam between parts, the part that begins there counts, unless none does.
	p := f.parts[i]
	return p.from.File.Origin(p.from.Start + offset - p.start)
}

// Origin is the span in the file from which its text came; a span over a seam
// ends at the end of its first file's part.
func (s Span) Origin() Span {
	if s.File == nil || len(s.File.parts) == 0 {
		return s
	}
	f, start := s.File.Origin(s.Start)
	return Span{f, start, min(start+s.End-s.Start, len(f.Text))}
}

// Placed is the offset in f, which was assembled, of the text at an offset of another file; ok is
// false if f does not contain that text. If a part occurs several times, the first counts.
func (f *File) Placed(of *File, offset int) (at int, ok bool) {
	if f == of {
		return offset, true
	}
	for i, p := range f.parts {
		at, ok := p.from.File.Placed(of, offset)
		if !ok || at < p.from.Start || at > p.from.End {
			continue
		}
		// At a seam within one file, as around an #include line, the part that begins there counts.
		if at == p.from.End && slices.ContainsFunc(f.parts[i+1:], func(q part) bool { return q.from.File == p.from.File && q.from.Start == at }) {
			continue
		}
		return p.start + at - p.from.Start, true
	}
	return 0, false
}

// NewFile indexes the lines of text.
func NewFile(name, text string) *File {
	f := &File{Name: name, Text: text, lines: []int{0}}
	n := 0
	for i := 0; i < len(text); i++ {
		if i%runeBlock == 0 {
			f.runes = append(f.runes, n)
		}
		if startsRune(text[i]) {
			n++
		}
		if text[i] == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	f.runes = append(f.runes, n)
	return f
}

// runeBlock is the number of bytes in a block whose characters are counted in advance. The column
// of a place is then found without reading its line from the start, which matters for a program of
// one line with a message in every statement.
const runeBlock = 256

func startsRune(b byte) bool { return b&0xC0 != 0x80 }

// runesBefore counts the characters that begin before an offset.
func (f *File) runesBefore(offset int) int {
	block := offset / runeBlock
	n := f.runes[block]
	for i := block * runeBlock; i < offset; i++ {
		if startsRune(f.Text[i]) {
			n++
		}
	}
	return n
}

// Position is a human-readable place: line and column count from 1, the column
// in characters (not bytes).
type Position struct {
	File         string
	Line, Column int
}

// Position converts a byte offset, which is clamped to the text.
func (f *File) Position(offset int) Position {
	if len(f.parts) > 0 {
		f, offset = f.Origin(offset)
	}
	offset = max(0, min(offset, len(f.Text)))
	line := sort.SearchInts(f.lines, offset+1) - 1
	col := f.runesBefore(offset) - f.runesBefore(f.lines[line]) + 1
	return Position{File: f.Name, Line: line + 1, Column: col}
}

// Line returns the text of a line (counted from 1) without its line break; an
// absent line is empty.
func (f *File) Line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	end := len(f.Text)
	if n < len(f.lines) {
		end = f.lines[n] - 1
	}
	return strings.TrimSuffix(f.Text[f.lines[n-1]:end], "\r")
}

// LineStart is the byte offset of the first character of a line (counted from
// 1); that of an absent line is the end of the text.
func (f *File) LineStart(n int) int {
	if n < 1 || n > len(f.lines) {
		return len(f.Text)
	}
	return f.lines[n-1]
}

// Span is the half-open byte range [Start, End) of File. The zero Span is
// "nowhere": nodes made by the compiler rather than read from source.
type Span struct {
	File       *File
	Start, End int
}

// IsValid reports whether the span lies in a file.
func (s Span) IsValid() bool { return s.File != nil }

// Begin is the position of the first character; the zero Position if invalid.
func (s Span) Begin() Position {
	if s.File == nil {
		return Position{}
	}
	return s.File.Position(s.Start)
}

// Text is the source text that the span covers.
func (s Span) Text() string {
	if s.File == nil {
		return ""
	}
	return s.File.Text[s.Start:s.End]
}

// Join is the smallest span that covers both; an invalid span is ignored.
func Join(a, b Span) Span {
	switch {
	case !a.IsValid() || a.File != b.File && !b.IsValid():
		if a.IsValid() {
			return a
		}
		return b
	case !b.IsValid() || a.File != b.File:
		return a
	}
	return Span{File: a.File, Start: min(a.Start, b.Start), End: max(a.End, b.End)}
}
