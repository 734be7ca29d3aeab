package service

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Hover is the description of the text at a position, in Markdown.
type Hover struct {
	Text string
	Span source.Span
}

// Hover describes the name, type, operator or expression at a position, and explains the codes of
// diagnostics there. ok is false if there is nothing to describe.
func (s *Snapshot) Hover(f *source.File, offset int) (h Hover, ok bool) {
	var parts []string
	if t, found := s.token(f, offset); found && t.Kind == grammar.CommentText {
		return h, false
	} else if found {
		h.Span = t.Span
	}
	if sym, found := s.symbolAt(f, offset); found {
		h.Span = sym.Span
		parts = append(parts, s.describe(sym))
	} else if text, span := s.other(f, offset); text != "" {
		h.Span = span
		parts = append(parts, text)
	}
	for _, d := range s.Diagnostics {
		if d.Span.File != f || offset < d.Span.Start || offset > d.Span.End {
			continue
		}
		if e, known := diag.Explain(d.Code); known {
			parts = append(parts, explanation(e))
			if !h.Span.IsValid() {
				h.Span = d.Span
			}
		}
	}
	h.Text = strings.Join(parts, "\n\n---\n\n")
	return h, h.Text != ""
}

// explanation formats the explanation of a code.
func explanation(e diag.Explanation) string {
	out := fmt.Sprintf("**%s**: %s", e.Code, e.Title)
	if e.Text != "" {
		out += "\n\n" + strings.TrimSpace(e.Text)
	}
	if e.Example != "" {
		out += "\n\nFor example:\n\n" + code(e.Example)
	}
	if e.Fixed != "" {
		out += "\n\nWithout the mistake:\n\n" + code(e.Fixed)
	}
	return out
}

func code(text string) string { return "```stan\n" + strings.TrimRight(text, "\n") + "\n```" }

// describe returns the description of a symbol.
func (s *Snapshot) describe(sym Symbol) string {
	switch {
	case sym.Var != nil:
		return s.describeVar(sym.Var)
	case sym.Func != "":
		var b strings.Builder
		for i, f := range s.functions(sym.Func) {
			if i > 0 {
				b.WriteString("\n\n")
			}
			head := f.Decl.Span().Text()
			if f.Decl.Body != nil {
				head = strings.TrimSpace(strings.TrimSuffix(head, f.Decl.Body.Span().Text()))
			}
			b.WriteString(code(head))
			if text := s.commentAbout(f.Decl); text != "" {
				b.WriteString("\n\n" + text)
			}
		}
		return b.String()
	}
	doc, _ := s.options.Library.Describe(sym.Library)
	return Documentation(doc)
}

// describeVar describes a variable: its declaration, its role, its shape.
func (s *Snapshot) describeVar(v *check.Var) string {
	out := code(declared(v) + " " + v.Name)
	what := ""
	switch d := v.Decl.(type) {
	case *ast.Param:
		what = "argument"
		if d.DataOnly {
			what += ", data only"
		}
	case *ast.For, *ast.ForEach:
		what = "loop variable"
	default:
		switch {
		case !v.Global:
			what = "local variable"
		case v.Block == ast.Parameters:
			what = "parameter"
		case v.Block == ast.TransformedParameters:
			what = "transformed parameter"
		case v.Block == ast.GeneratedQuantities:
			what = "generated quantity"
		default:
			what = v.Block.String()
		}
	}
	if v.Ragged != nil {
		what += ", ragged: `" + v.Ragged.Sizes.Span().Text() + "` has the size of each row"
	} else if sh, ok := s.varShape(v); ok && len(sh) > 0 {
		what += " of shape " + sh.text()
		if n, ok := s.numbers(sh); ok && n.text() != sh.text() {
			what += " = " + n.text()
		}
	}
	if n, ok := s.ints()[v]; ok {
		what += fmt.Sprintf(" = %d", n)
	}
	out += "\n\n" + what
	if d, ok := v.Decl.(*ast.VarDecl); ok && v.Block == ast.Parameters && v.Discrete() {
		out += "\n\ndiscrete: it is summed out of the density, and drawn after the other parameters"
		if !slices.ContainsFunc(d.Type.Bounds, func(b ast.Bound) bool { return b.Kind == "upper" }) {
			out += ". It has no upper bound, so its sum ends where at most 1e-12 of the mass is beyond"
		}
	}
	if v.Constraint.Structured() {
		out += ": " + types.Structure(v.Constraint).Text
	}
	if text := s.commentAbout(v.Decl); text != "" {
		out += "\n\n" + text
	}
	return out
}

// commentAbout returns the comment after a declaration on its line, or on the lines right before
// it.
func (s *Snapshot) commentAbout(n ast.Node) string {
	at := n.Span().Origin()
	f := at.File
	first, last := f.Position(at.Start).Line, f.Position(at.End).Line
	ts := s.fileTokens(f).all
	i := tokensBefore(ts, at.End)
	if i < len(ts) && ts[i].Span.Text() == ";" {
		i++
	}
	if i < len(ts) && ts[i].Kind == grammar.CommentText && ts[i].Span.Begin().Line == last {
		return commentText(ts[i].Span.Text())
	}
	var above []string
	for i := tokensBefore(ts, at.Start) - 1; i >= 0 && ts[i].Kind == grammar.CommentText; i-- {
		begin := ts[i].Span.Begin()
		alone := strings.TrimSpace(f.Text[f.LineStart(begin.Line):ts[i].Span.Start]) == ""
		if !alone || f.Position(ts[i].Span.End).Line != first-1 {
			break
		}
		above = append([]string{commentText(ts[i].Span.Text())}, above...)
		first = begin.Line
	}
	return strings.Join(above, " ")
}

// commentText returns the text of a comment without its delimiters.
func commentText(c string) string {
	if body, ok := strings.CutPrefix(c, "/*"); ok {
		var lines []string
		for line := range strings.Lines(strings.TrimSuffix(body, "*/")) {
			lines = append(lines, strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "*")))
		}
		return strings.TrimSpace(strings.Join(lines, "\n"))
	}
	return strings.TrimSpace(strings.TrimLeft(c, "/"))
}

// other describes operators, types and other expressions.
func (s *Snapshot) other(f *source.File, offset int) (text string, span source.Span) {
	at, ok := s.at(f, offset)
	if !ok {
		return "", span
	}
	t, _ := s.token(f, offset)
	if t.Kind == grammar.TypeName {
		if w, ok := WordOf(t.Span.Text()); ok {
			return code(w.Form) + "\n\n" + w.Text, t.Span
		}
		return "", span
	}
	path := s.path(at)
	for i := len(path) - 1; i >= 0; i-- {
		switch n := path[i].(type) {
		case ast.Expr:
			tl, known := s.Info.Types[n]
			if !known || tl.Type.Kind == types.Invalid || tl.Type.Kind == types.Function {
				return "", span
			}
			out := code(tl.Type.String())
			if sh, ok := s.shape(n); ok && len(sh) > 0 {
				out += "\n\nof shape " + sh.text()
				if n, ok := s.numbers(sh); ok && n.text() != sh.text() {
					out += " = " + n.text()
				}
			}
			if b, ok := n.(*ast.Binary); ok && b.OpPos.Start <= at && at <= b.OpPos.End {
				if doc, known := s.options.Library.Describe(b.Op); known && len(doc.Functions) > 0 {
					out += "\n\n" + doc.Functions[0].Texts[0].Text
				}
			}
			return out, n.Span().Origin()
		case *ast.Bound:
			if w, ok := boundWords()[n.Kind]; ok {
				return code(n.Span().Text()) + "\n\n" + w.Text, n.Span().Origin()
			}
			return "", span
		case ast.Stmt:
			return "", span
		}
	}
	return "", span
}

// Documentation formats the library's documentation of a name, in Markdown.
func Documentation(doc types.Documentation) string {
	var b strings.Builder
	if d := doc.Distribution; d != nil {
		fmt.Fprintf(&b, "**%s**: %s\n\n", d.Name, d.Text)
		if d.Formula != "" {
			b.WriteString(code(d.Formula) + "\n\n")
		}
		if d.Mean != "" {
			b.WriteString("Mean " + code(d.Mean))
			if d.Variance != "" {
				b.WriteString(", variance " + code(d.Variance))
			}
			b.WriteString("\n\n")
		}
		for _, a := range d.Arguments {
			fmt.Fprintf(&b, "- `%s`: %s\n", a.Name, argumentText(a))
		}
		b.WriteString("\n")
	}
	for i, f := range doc.Functions {
		if i > 0 && doc.Distribution != nil {
			fmt.Fprintf(&b, "`%s`", f.Name)
			if i < len(doc.Functions)-1 {
				b.WriteString(" · ")
			}
			continue // of a distribution's other functions, the names are enough
		}
		for _, t := range f.Texts {
			if t.Text != "" && (doc.Distribution == nil || f.Name != doc.Distribution.Name+"_lpdf" && f.Name != doc.Distribution.Name+"_lpmf") {
				b.WriteString(t.Text + "\n\n")
			}
			forms := t.Forms
			if len(forms) > 6 {
				forms = append(append([]string{}, forms[:6]...), fmt.Sprintf("// and %d more forms", len(forms)-6))
			}
			b.WriteString(code(strings.Join(forms, "\n")) + "\n\n")
			if len(t.Examples) > 0 {
				b.WriteString("Example\n\n" + code(strings.Join(t.Examples, "\n")) + "\n\n")
			}
		}
	}
	if d := doc.Distribution; d != nil && d.Source != "" {
		b.WriteString("\n\n" + d.Source)
	}
	return strings.TrimSpace(b.String())
}
