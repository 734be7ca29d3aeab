// Package diag holds diagnostics: messages to users of the language about the programs that they
// wrote.
//
//   - [Diagnostic] is one message: a [Code], a short Summary, a longer Detail, the span it is
//     about, related places, and a fix;
//   - [List] is what every stage returns with its result; a stage reports all that it can find and
//     goes on;
//   - [Render] (render.go) shows a list to a person, with source lines;
//   - [Nearest] (nearest.go) finds the name that was probably meant;
//   - codes*.go declare every code, each with an example program that a test executes.
//
// A Diagnostic is a value, not an error. A list that also implements error would invite the mistake
// of a non-nil error interface with a nil list. Besides, most diagnostics are warnings, not
// failures.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/source"
)

// Severity is how much a diagnostic matters. The zero value is Error.
type Severity uint8

// The severities. A program with an Error does not run.
const (
	Error Severity = iota
	Warning
)

// String returns the word shown in messages.
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Diagnostic is one message about one place of the source.
type Diagnostic struct {
	Code     Code
	Severity Severity
	Summary  string      // one line without a full stop: the problem
	Detail   string      // optional sentences: why, with the facts of this case
	Span     source.Span // the tightest text that is wrong
	Related  []Note      // other places that matter, such as an earlier declaration
	Fix      string      // optional: what to do; shown after "help:"
	Edits    []Edit      // the changes that Fix describes, if they are exact; editors offer them

	// Settings lists the settings that Fix advises, as "name" or "name=value", such as
	// "include-path" or "count=N". Each front end has its own words for them.
	Settings []string
}

// Worded returns the list with the words of a front end for the settings of each Fix. A setting
// whose words are "" is not named. If words is nil, no setting is named.
func (l List) Worded(words func(setting string) string) List {
	out := slices.Clone(l)
	for i := range out {
		d := &out[i]
		var named []string
		for _, s := range d.Settings {
			if words != nil && words(s) != "" {
				named = append(named, words(s))
			}
		}
		switch text := strings.Join(named, ", "); {
		case text == "":
		case d.Fix == "":
			d.Fix = text
		default:
			d.Fix += " (" + text + ")"
		}
		d.Settings = nil
	}
	return out
}

// Edit replaces the text of a span. A span of length zero inserts.
type Edit struct {
	Span source.Span
	Text string
}

// Replace sets the edit that replaces the span of the diagnostic by text.
func (d *Diagnostic) Replace(text string) { d.Edits = []Edit{{d.Span, text}} }

// Note is a remark on another place.
type Note struct {
	Span    source.Span
	Message string
}

// Errorf makes an error. Detail, Related and Fix may be set on the result.
func Errorf(code Code, span source.Span, format string, args ...any) Diagnostic {
	return Diagnostic{Code: code, Span: span, Summary: fmt.Sprintf(format, args...)}
}

// Warnf makes a warning.
func Warnf(code Code, span source.Span, format string, args ...any) Diagnostic {
	d := Errorf(code, span, format, args...)
	d.Severity = Warning
	return d
}

// String returns the first line of the rendered form: "file:line:col: error: summary [CODE]".
func (d Diagnostic) String() string {
	s := d.Severity.String() + ": " + d.Summary
	if d.Code != "" {
		s += " [" + string(d.Code) + "]"
	}
	return place(d.Span) + s
}

// place returns "file:line:col: ", or "" for a span without a file.
func place(s source.Span) string {
	if !s.IsValid() {
		return ""
	}
	p := s.Begin()
	return fmt.Sprintf("%s:%d:%d: ", clean(p.File), p.Line, p.Column)
}

// List is a list of diagnostics in the order in which they were found.
type List []Diagnostic

// Add appends diagnostics.
func (l *List) Add(d ...Diagnostic) { *l = append(*l, d...) }

// Errors returns the errors of the list.
func (l List) Errors() List {
	var out List
	for _, d := range l {
		if d.Severity == Error {
			out = append(out, d)
		}
	}
	return out
}

// HasErrors reports whether there is at least one error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sort orders the list by place: by name of the file, then by offset. Diagnostics without a place
// come last. Diagnostics of the same place keep their order.
func (l List) Sort() {
	sorting.Stable(l, func(a, b Diagnostic) int {
		switch {
		case !a.Span.IsValid() || !b.Span.IsValid():
			return boolInt(a.Span.IsValid())*-1 + boolInt(b.Span.IsValid())
		case a.Span.File != b.Span.File:
			return cmp.Compare(a.Span.File.Name, b.Span.File.Name)
		}
		return cmp.Compare(a.Span.Start, b.Span.Start)
	})
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
