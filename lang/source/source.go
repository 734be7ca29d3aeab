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
	runes []int  // number of characters before each block of bytes
	parts []part // set if the text was assembled from several files
}

// part is a piece of text that comes from another file.
type part struct {
	start int // where it begins
	from  Span
}

// Assemble joins pieces of files into one text. Positions in the result refer to the original
// files.
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

// Origin returns the file and the offset from which the text at an offset came. Unless f was
// assembled, that is f itself.
func (f *File) Origin(offset int) (*File, int) {
	if len(f.parts) == 0 {
		return f, offset
	}
	offset = max(0, min(offset, len(f.Text)))
	i := sort.Search(len(f.parts), func(i int) bool { return f.parts[i].start > offset }) - 1
	// At a boundary between parts, use the part that begins there, if there is one.
	p := f.parts[i]
	return p.from.File.Origin(p.from.Start + offset - p.start)
}

// Origin returns the span in the file from which the text came. A span over several parts ends at
// the end of the first.
func (s Span) Origin() Span {
	if s.File == nil || len(s.File.parts) == 0 {
		return s
	}
	f, start := s.File.Origin(s.Start)
	return Span{f, start, min(start+s.End-s.Start, len(f.Text))}
}

// Placed returns the offset in f, which was assembled, of the text at an offset of another file; ok
// is false if f does not contain that text. If a part occurs several times, the first counts.
func (f *File) Placed(of *File, offset int) (at int, ok bool) {
	if f == of {
		return offset, true
	}
	for i, p := range f.parts {
		at, ok := p.from.File.Placed(of, offset)
		if !ok || at < p.from.Start || at > p.from.End {
			continue
		}
		// At a boundary within one file, as around an #include line, use the part that begins
		// there.
		if at == p.from.End && slices.ContainsFunc(f.parts[i+1:], func(q part) bool { return q.from.File == p.from.File && q.from.Start == at }) {
			continue
		}
		return p.start + at - p.from.Start, true
	}
	return 0, false
}

// NewFile returns a File, with an index of its lines.
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

// runeBlock is the number of bytes in a block whose characters are counted in advance. So the
// column of a position is found without reading its line from the start. This matters for a long
// program on a single line with many messages.
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

// Position is a human-readable position. Line and column count from 1, the column in characters,
// not bytes.
type Position struct {
	File         string
	Line, Column int
}

// Position converts a byte offset. Offsets outside the text are clamped.
func (f *File) Position(offset int) Position {
	if len(f.parts) > 0 {
		f, offset = f.Origin(offset)
	}
	offset = max(0, min(offset, len(f.Text)))
	line := sort.SearchInts(f.lines, offset+1) - 1
	col := f.runesBefore(offset) - f.runesBefore(f.lines[line]) + 1
	return Position{File: f.Name, Line: line + 1, Column: col}
}

// Line returns the text of a line, counted from 1, without its line break. It is empty if there is
// no such line.
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

// LineStart returns the byte offset of the first character of a line, counted from 1. If there is
// no such line, it is the end of the text.
func (f *File) LineStart(n int) int {
	if n < 1 || n > len(f.lines) {
		return len(f.Text)
	}
	return f.lines[n-1]
}

// Span is the half-open byte range [Start, End) of File. The zero Span has no position, as for
// nodes that the compiler makes.
type Span struct {
	File       *File
	Start, End int
}

// IsValid reports whether the span lies in a file.
func (s Span) IsValid() bool { return s.File != nil }

// Begin returns the position of the first character; the zero Position if the span is invalid.
func (s Span) Begin() Position {
	if s.File == nil {
		return Position{}
	}
	return s.File.Position(s.Start)
}

// Text returns the source text that the span covers.
func (s Span) Text() string {
	if s.File == nil {
		return ""
	}
	return s.File.Text[s.Start:s.End]
}

// Join returns the smallest span that covers both; it ignores an invalid span.
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
