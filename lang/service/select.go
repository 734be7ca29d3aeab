package service

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
)

// Selections returns the parts of a file around a place, each within the next: a word, expressions,
// statements, a block, the whole text.
func (s *Snapshot) Selections(f *source.File, offset int) []source.Span {
	all := whole(f)
	out := []source.Span{}
	add := func(span source.Span) {
		if span.File != f || span.Start > offset || span.End < offset {
			return
		}
		if n := len(out); n > 0 && (out[n-1] == span || out[n-1].Start < span.Start || out[n-1].End > span.End) {
			return // it is not larger than the part before
		}
		out = append(out, span)
	}
	if w := s.word(f, offset); w.End > w.Start {
		add(w)
	}
	if at, ok := s.at(f, offset); ok {
		path := s.path(at)
		for i := len(path) - 1; i > 0; i-- { // without the whole program, which is first
			span := path[i].Span()
			begin, end := source.Span{File: span.File, Start: span.Start, End: span.Start + 1}.Origin(), lastByte(span)
			if span.End > span.Start && begin.File == f && end.File == f {
				add(source.Span{File: f, Start: begin.Start, End: end.End})
			}
		}
	}
	add(all)
	return out
}

// Include is an #include line.
type Include struct {
	Span source.Span  // span of the name in the line
	File *source.File // nil: not found
}

// Includes lists the #include lines of a file.
func (s *Snapshot) Includes(f *source.File) []Include {
	var out []Include
	for _, t := range s.fileTokens(f).all {
		if t.Kind != grammar.IncludeLine {
			continue
		}
		name := includeName(t)
		at := strings.LastIndex(t.Span.Text(), name)
		if name == "" || at < 0 {
			continue
		}
		i := Include{Span: source.Span{File: f, Start: t.Span.Start + at, End: t.Span.Start + at + len(name)}}
		if s.options.Include != nil {
			if found, err := s.options.Include(name); err == nil {
				i.File = found
			}
		}
		out = append(out, i)
	}
	return out
}
