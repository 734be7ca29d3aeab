package service

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
)

// Fix is an edit that an editor offers.
type Fix struct {
	Title       string
	Diagnostics []diag.Diagnostic // the diagnostics that it fixes
	Edits       []diag.Edit
}

// Fixes returns the edits that the diagnostics in a part of a file offer.
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

// title describes a fix: by the help of the diagnostic or, if that is a question, by the answer.
func title(d diag.Diagnostic) string {
	if strings.HasPrefix(d.Fix, "did you mean") && len(d.Edits) == 1 {
		return "Write `" + d.Edits[0].Text + "`"
	}
	if d.Fix == "" {
		return "Fix this"
	}
	return strings.ToUpper(d.Fix[:1]) + d.Fix[1:]
}

// FixAll applies the edits of all errors in a file, unless they overlap; ok is false if there are
// fewer than two.
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

// older lists the codes for syntax that Upgrade rewrites.
var older = []diag.Code{diag.OldArraySyntax, diag.ArrowAssign, diag.HashComment, diag.IncrementLogProb, diag.RemovedFunction}

// Upgrade rewrites a file in current syntax. ok is false if the file has no older syntax, or cannot
// be parsed even as older syntax.
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

// touches reports whether a change concerns a part of a text, which may be a place between two
// characters.
func touches(change, part source.Span) bool {
	if change.Start == change.End {
		return part.Start <= change.Start && change.Start <= part.End
	}
	return change.Start < max(part.End, part.Start+1) && change.End > part.Start
}

// Format formats a file by small edits, which leave text that need not change alone. part restricts
// the edits to the lines in that span. ok is false if the file cannot be parsed.
func (s *Snapshot) Format(f *source.File, part *source.Span) (edits []diag.Edit, ok bool) {
	if s.options.Functions {
		return nil, false
	}
	text, list := format.Source(f)
	if list.HasErrors() {
		return nil, false
	}
	for _, e := range format.Edits(f, text) {
		if part == nil || touches(e.Span, *part) {
			edits = append(edits, e)
		}
	}
	return edits, true
}
