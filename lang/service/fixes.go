package service

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
)

// Fix is a change that an editor offers.
type Fix struct {
	Title       string
	Diagnostics []diag.Diagnostic // that it fixes
	Edits       []diag.Edit
}

// Fixes are the changes that the diagnostics in a part of a file offer.
func (s *Snapshot) Fixes(f *source.File, start, end int) []Fix {
	var out []Fix
	for _, d := range s.Diagnostics {
		if len(d.Edits) == 0 || d.Span.File != f || d.Span.End < start || d.Span.Start > end {
			continue
		}
		out = append(out, Fix{Title: title(d), Diagnostics: []diag.Diagnostic{d}, Edits: d.Edits})
	}
	return out
}

// title is what a fix does: the help of the diagnostic, or for a question the answer.
func title(d diag.Diagnostic) string {
	if strings.HasPrefix(d.Fix, "did you mean") && len(d.Edits) == 1 {
		return "Write `" + d.Edits[0].Text + "`"
	}
	if d.Fix == "" {
		return "Fix this"
	}
	return strings.ToUpper(d.Fix[:1]) + d.Fix[1:]
}

// FixAll fixes all errors of a file that offer a change, as far as these do not
// overlap; ok is false if there are fewer than two.
func (s *Snapshot) FixAll(f *source.File) (fix Fix, ok bool) {
	fix.Title = "Fix all that can be fixed"
	for _, d := range s.Diagnostics {
		overlaps := slices.ContainsFunc(d.Edits, func(e diag.Edit) bool {
			return e.Span.File != f || slices.ContainsFunc(fix.Edits, func(o diag.Edit) bool { return e.Span.Start <= o.Span.End && o.Span.Start <= e.Span.End })
		})
		if d.Severity == diag.Error && len(d.Edits) > 0 && !overlaps {
			fix.Edits = append(fix.Edits, d.Edits...)
			fix.Diagnostics = append(fix.Diagnostics, d)
		}
	}
	return fix, len(fix.Diagnostics) > 1
}

// older are the diagnostics of syntax that Upgrade rewrites.
var older = []diag.Code{diag.OldArraySyntax, diag.ArrowAssign, diag.HashComment, diag.IncrementLogProb, diag.RemovedFunction}

// Upgrade rewrites a file in today's syntax; ok is false if the file has no older syntax, or cannot
// be read even as older syntax.
func (s *Snapshot) Upgrade(f *source.File) (fix Fix, ok bool) {
	for _, d := range s.Diagnostics {
		if d.Span.File == f && slices.Contains(older, d.Code) {
			fix.Diagnostics = append(fix.Diagnostics, d)
		}
	}
	if len(fix.Diagnostics) == 0 || s.options.Functions {
		return fix, false
	}
	text, list := format.Upgrade(f, func(name string) bool { return len(s.options.Library.Lookup(name)) > 0 })
	if list.HasErrors() {
		return fix, false
	}
	fix.Title = "Rewrite the syntax of older versions in the whole file"
	fix.Edits = format.Edits(f, text)
	return fix, true
}

// Format lays a file out by small edits, so that unchanged text stays in place. With the span of a
// part of the file, only the lines in it change. ok is false if the file cannot be read as a
// program.
func (s *Snapshot) Format(f *source.File, part *source.Span) (edits []diag.Edit, ok bool) {
	if s.options.Functions {
		return nil, false
	}
	text, list := format.Source(f)
	if list.HasErrors() {
		return nil, false
	}
	for _, e := range format.Edits(f, text) {
		if part == nil || e.Span.End >= part.Start && e.Span.Start <= part.End {
			edits = append(edits, e)
		}
	}
	return edits, true
}
