package formula

import (
	"fmt"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// Error is an error in a formula for a table.
type Error struct {
	Start, End int    // the wrong part, in bytes; both 0: the whole formula
	Message    string // one line
	Fix        string // the remedy
	Setting    string // the setting that Fix advises to change; see [diag.Diagnostic]

	text string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Diagnostic returns the error in the form that [diag.Render] shows, with the formula.
func (e *Error) Diagnostic() diag.Diagnostic {
	d := diag.Diagnostic{Severity: diag.Error, Summary: e.Message, Fix: e.Fix}
	if e.Setting != "" {
		d.Settings = []string{e.Setting}
	}
	if e.text != "" && e.End <= len(e.text) && e.Start < e.End {
		d.Span = source.Span{File: source.NewFile("formula", e.text), Start: e.Start, End: e.End}
	}
	return d
}

// place is a range of bytes of a formula.
type place struct{ start, end int }

// errorf returns an error about a place.
func errorf(at place, fix, format string, args ...any) *Error {
	return &Error{Start: at.start, End: at.end, Message: fmt.Sprintf(format, args...), Fix: fix}
}
