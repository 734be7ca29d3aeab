package service

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
)

// path returns the nodes around an offset of the whole program, the outermost first. A node that
// ends at the offset belongs to it only if no node begins there.
func (s *Snapshot) path(at int) []ast.Node {
	var out []ast.Node
	var n ast.Node = s.Tree
	for n != nil {
		out = append(out, n)
		var within, ends ast.Node
		for c := range ast.Children(n) {
			switch p := c.Span(); {
			case within == nil && p.Start <= at && at < p.End:
				within = c
			case ends == nil && p.Start <= at && at == p.End:
				ends = c
			}
		}
		if n = within; n == nil {
			n = ends
		}
	}
	return out
}

// token returns the token of a file that contains an offset, or that ends there if no token begins
// there; ok is false between tokens.
func (s *Snapshot) token(f *source.File, offset int) (t grammar.Token, ok bool) {
	ts := s.fileTokens(f).all
	i := tokensBefore(ts, offset)
	if i < len(ts) && ts[i].Span.Start == offset && (i == 0 || ts[i-1].Span.End < offset || ts[i].Kind != grammar.Punct) {
		return ts[i], true
	}
	if i > 0 && ts[i-1].Span.End >= offset {
		return ts[i-1], true
	}
	return t, false
}

// tokensBefore returns the number of tokens that begin before an offset.
func tokensBefore(ts []grammar.Token, offset int) int {
	n, _ := slices.BinarySearchFunc(ts, offset, func(t grammar.Token, at int) int { return t.Span.Start - at })
	return n
}

// word returns the span of the name or keyword around an offset, or the empty span at the offset.
func (s *Snapshot) word(f *source.File, offset int) source.Span {
	if t, ok := s.token(f, offset); ok && (t.Kind == grammar.Identifier || t.Kind == grammar.Keyword || t.Kind == grammar.TypeName) {
		return t.Span
	}
	return source.Span{File: f, Start: offset, End: offset}
}
