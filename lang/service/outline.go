package service

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
)

// OutlineKind is the kind of an [Outline].
type OutlineKind uint8

// The kinds of items in an outline.
const (
	OutlineBlock OutlineKind = iota
	OutlineFunction
	OutlineVariable
)

// Outline is a block, function or variable with the items that it contains.
type Outline struct {
	Kind       OutlineKind
	Name       string
	Detail     string      // its type
	Span, Head source.Span // the whole item, and its name
	Inner      []Outline
}

// Outlines lists the blocks of a file and their declarations.
func (s *Snapshot) Outlines(f *source.File) []Outline {
	var out []Outline
	for _, b := range s.Tree.Blocks {
		o := Outline{Kind: OutlineBlock, Name: b.Kind.String()}
		for _, st := range b.Stmts {
			if inner, ok := outlined(st, f); ok && (b.Kind != ast.Model || inner.Kind == OutlineVariable) {
				o.Inner = append(o.Inner, inner)
			}
		}
		begin, end := source.Span{File: b.Pos.File, Start: b.Pos.Start, End: b.Pos.Start + 1}.Origin(), lastByte(b.Pos)
		if begin.File != f || end.File != f || begin.Start > end.End {
			out = append(out, o.Inner...) // the block begins or ends in another file
			continue
		}
		o.Span = source.Span{File: f, Start: begin.Start, End: end.End}
		o.Head = source.Span{File: f, Start: begin.Start, End: min(begin.Start+len(o.Name), end.End)}
		out = append(out, o)
	}
	return out
}

// lastByte returns the origin of the last byte of a span.
func lastByte(p source.Span) source.Span {
	return source.Span{File: p.File, Start: max(p.Start, p.End-1), End: p.End}.Origin()
}

func outlined(st ast.Stmt, f *source.File) (o Outline, ok bool) {
	var name ast.Ident
	switch d := st.(type) {
	case *ast.VarDecl:
		o.Kind, name = OutlineVariable, d.Name
		o.Detail = strings.Join(strings.Fields(d.Type.Span().Text()), " ")
	case *ast.FunctionDecl:
		o.Kind, name = OutlineFunction, d.Name
		var params []string
		for _, p := range d.Params {
			params = append(params, strings.Join(strings.Fields(p.Span().Text()), " "))
		}
		o.Detail = "(" + strings.Join(params, ", ") + ") => " + d.Result.Span().Text()
	default:
		return o, false
	}
	o.Name, o.Head = name.Name, name.Span().Origin()
	span := st.Span()
	begin, end := source.Span{File: span.File, Start: span.Start, End: span.Start + 1}.Origin(), lastByte(span)
	if o.Head.File != f || begin.File != f || end.File != f || begin.Start > o.Head.Start || end.End < o.Head.End {
		return o, o.Head.File == f && setSpan(&o, o.Head)
	}
	return o, setSpan(&o, source.Span{File: f, Start: begin.Start, End: end.End})
}

func setSpan(o *Outline, s source.Span) bool { o.Span = s; return true }

// Fold is a part of a text that an editor can fold, from the end of its first line to its last
// line.
type Fold struct {
	Span    source.Span
	Comment bool
}

// Folds returns the parts between braces, and comments of several lines.
func (s *Snapshot) Folds(f *source.File) []Fold {
	var out []Fold
	var open []int
	ts := s.fileTokens(f).all
	line := func(offset int) int { return f.Position(offset).Line }
	for i := 0; i < len(ts); i++ {
		t := ts[i]
		switch text := t.Span.Text(); {
		case t.Kind == grammar.CommentText:
			end := t.Span.End
			for strings.HasPrefix(text, "//") && i+1 < len(ts) && ts[i+1].Kind == grammar.CommentText &&
				strings.HasPrefix(ts[i+1].Span.Text(), "//") && line(ts[i+1].Span.Start) == line(end)+1 {
				i++
				end = ts[i].Span.End
			}
			if line(end) > line(t.Span.Start) {
				out = append(out, Fold{source.Span{File: f, Start: t.Span.Start, End: end}, true})
			}
		case t.Kind != grammar.Punct:
		case text == "{":
			open = append(open, t.Span.Start)
		case text == "}" && len(open) > 0:
			start := open[len(open)-1]
			open = open[:len(open)-1]
			if line(t.Span.Start) > line(start)+1 {
				out = append(out, Fold{source.Span{File: f, Start: start, End: t.Span.Start}, false})
			}
		}
	}
	return out
}
