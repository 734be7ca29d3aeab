package service

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
)

// Later returns a snapshot that completes in a newer text of the document, with the declarations
// of s, so that completion need not wait for the analysis of the newer text. ok is false if the
// texts differ by what changes blocks, statements or files: then only an analysis shows what the
// newer text declares.
func (s *Snapshot) Later(f *source.File) (later *Snapshot, ok bool) {
	if s.options.Functions {
		return nil, false
	}
	before, after := s.File.Text, f.Text
	start := 0
	for start < min(len(before), len(after)) && before[start] == after[start] {
		start++
	}
	end := 0 // common end
	for end < min(len(before), len(after))-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	changed := before[start:len(before)-end] + after[start:len(after)-end]
	if strings.ContainsAny(changed, "{};#/*\"") {
		return nil, false
	}
	e := &earlier{file: s.File, start: start, shift: len(before) - len(after), end: len(after) - end}
	tokens := grammar.TokensAfter(s.fileTokens(s.File).all, f, e.start, e.end, e.shift)
	return &Snapshot{
		File: f, Tree: s.Tree, Info: s.Info, options: s.options, whole: s.whole, files: s.files,
		tokens: map[*source.File]*fileTokens{f: newFileTokens(tokens)},
		ints:   s.ints, earlier: e,
	}, true
}

// earlier describes the text that a later snapshot was analysed from.
type earlier struct {
	file       *source.File
	start, end int // what differs, in the newer text
	shift      int // from the newer text to the older, after end
}

// offset converts an offset in the newer text. What differs is at the start of what it replaces.
func (o *earlier) offset(at int) int {
	switch {
	case at <= o.start:
		return at
	case at >= o.end:
		return at + o.shift
	}
	return o.start
}
