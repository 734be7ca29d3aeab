package data

import (
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// Error is an error in data, with its position. Find it with errors.As in errors of this package.
type Error struct {
	File         string   // "" for Go values
	Line, Column int      // from 1; 0 for Go values
	Path         string   // such as y[3][2]; "" if the error is about no variable
	Message      string   // one line, which names the path where there is one
	Fix          string   // a remedy, or ""
	Settings     []string // what Fix advises to set; see [diag.Diagnostic]

	// Nested says that lists differ in their length or depth. What the program declares says how
	// they should be.
	Nested bool

	span source.Span
}

// Error returns "file:line:column: message".
func (e *Error) Error() string {
	if e.Line == 0 {
		if e.File != "" {
			return e.File + ": " + e.Message
		}
		return e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Diagnostic returns the error in the form that diag.Render shows, with the line of the file.
func (e *Error) Diagnostic() diag.Diagnostic {
	summary := e.Message
	if !e.span.IsValid() {
		summary = e.Error() // so that the position is shown
	}
	var code diag.Code
	if e.Line > 0 { // for line 0, the file could not be opened
		code = diag.DataForm
	}
	return diag.Diagnostic{Code: code, Summary: summary, Span: e.span, Fix: e.Fix, Settings: e.Settings}
}

// newError returns an error about a span. If its text has characters that only look like the right
// ones, the error is about these characters.
func newError(span source.Span, path, message, fix string) *Error {
	const longest = 40 // maximum length of a text that the advice repeats
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
