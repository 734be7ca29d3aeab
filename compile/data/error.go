package data

import (
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// Error says what is wrong with data. Functions of this package return it as
// an error; find it with errors.As.
type Error struct {
	File         string   // "" for Go values
	Line, Column int      // from 1; 0 for Go values
	Path         string   // such as y[3][2]; "" if the error is about no variable
	Message      string   // one line, which names the path where there is one
	Fix          string   // optional: what to do
	Settings     []string // what Fix advises to set; see [diag.Diagnostic]

	span source.Span
}

// Error is "file:line:column: message".
func (e *Error) Error() string {
	if e.Line == 0 {
		if e.File != "" {
			return e.File + ": " + e.Message
		}
		return e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Diagnostic is the error in the form that diag.Render shows, with the line of
// the file that it is about.
func (e *Error) Diagnostic() diag.Diagnostic {
	summary := e.Message
	if !e.span.IsValid() {
		summary = e.Error() // nothing else tells of the place
	}
	var code diag.Code
	if e.Line > 0 { // not of a file that cannot be opened
		code = diag.DataForm
	}
	return diag.Diagnostic{Code: code, Summary: summary, Span: e.span, Fix: e.Fix, Settings: e.Settings}
}

// newError is an error at a place. Characters that look like those that belong there are what
// is wrong.
func newError(span source.Span, path, message, fix string) *Error {
	const longest = 40 // what advice repeats
	e := &Error{Path: path, Message: message, Fix: fix, span: span}
	if span.IsValid() {
		text := span.Text()
		if plain, ok := source.PlainText(text[:min(len(text), longest)]); ok && len(text) < longest && strings.IndexByte("\"'", text[0]) < 0 {
			e.Fix = "write `" + plain + "`, with the characters of the keyboard"
		}
		p := span.Begin()
		e.File, e.Line, e.Column = p.File, p.Line, p.Column
	}
	return e
}
