package interp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

// Error ends an evaluation.
type Error struct {
	// Diagnostic is the message if the data are at fault, when transformed data run.
	Diagnostic diag.Diagnostic
	// Err is the rejection of a point. errors.As finds the failed check or the reject statement in
	// it.
	Err error

	stopped bool // by Options.Stop
}

// Error returns the message with its place.
func (e *Error) Error() string {
	at := e.Diagnostic.Span.Begin()
	return fmt.Sprintf("line %d, column %d: %v", at.Line, at.Column, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// callSite is a call of a user function that is in progress.
type callSite struct {
	name   string
	at     source.Span
	levels int // nesting depth of the call's statements and expressions in its function
}

// recursionError reports too many nested calls. It ends a run, since the next point would fail too.
type recursionError struct{ text string }

func (e *recursionError) Error() string { return e.text }

// Fatal reports that the run must end.
func (e *recursionError) Fatal() bool { return true }

// fail makes an error. Its method throw ends the evaluation.
func (m *machine) fail(at source.Span, code diag.Code, format string, args ...any) *Error {
	return m.blame(diag.Errorf(code, at, format, args...))
}

// blame returns an error that lists the calls in progress.
func (m *machine) blame(d diag.Diagnostic) *Error {
	calls := m.calls
	for i := len(calls) - 1; i >= 0 && d.Span.InLibrary(); i-- {
		if at, function := d.Span.Called(calls[i].at); !at.InLibrary() && at.IsValid() {
			calls = calls[:i]
			d.Span, d.Summary = at, function+": "+d.Summary
		}
	}
	const shown = 3 // the calls of a deep recursion are all alike
	for i := len(calls) - 1; i >= max(0, len(calls)-shown); i-- {
		c := calls[i]
		if !d.Span.IsValid() { // a function that ppl has added
			d.Span = c.at
			continue
		}
		d.Related = append(d.Related, diag.Note{Span: c.at, Message: "in a call of " + c.name})
	}
	return &Error{Diagnostic: d}
}

func (e *Error) detailf(format string, args ...any) *Error {
	e.Diagnostic.Detail = fmt.Sprintf(format, args...)
	return e
}

func (e *Error) fix(format string, args ...any) *Error {
	e.Diagnostic.Fix = fmt.Sprintf(format, args...)
	return e
}

// settings stores the names of the settings that the fix mentions.
func (e *Error) settings(names ...string) *Error {
	e.Diagnostic.Settings = names
	return e
}

func (e *Error) throw() {
	if e.Err == nil {
		text := e.Diagnostic.Summary
		if e.Diagnostic.Detail != "" {
			text += ": " + strings.TrimSuffix(e.Diagnostic.Detail, ".")
		}
		e.Err = errors.New(text)
	}
	panic(e)
}

// rejected ends the evaluation because an operation or a side effect returned an error.
func (m *machine) rejected(at source.Span, err error) {
	e := m.fail(at, diag.Rejected, "%v", err).fix("fix the data, or the computation in transformed data")
	e.Err = err
	if function, ok := strings.CutSuffix(e.Diagnostic.Summary, ": "+err.Error()); ok {
		e.Err = fmt.Errorf("%s: %w", function, err)
	}
	e.throw()
}

// LimitCode returns the code for an error of a budget, one for each limit.
func LimitCode(limit *ad.LimitError) diag.Code {
	if limit.What == "statements" {
		return diag.TooManyStatements
	}
	return diag.TooLarge
}

// limited ends the evaluation because a budget is exhausted.
func (m *machine) limited(at source.Span, err error) {
	var limit *ad.LimitError
	if !errors.As(err, &limit) {
		e := m.fail(at, diag.Rejected, "%v", err)
		e.Err, e.stopped = err, true
		e.throw()
	}
	e := m.fail(at, LimitCode(limit), "%v", limit).detailf("%s", limit.Detail()).fix("%s", limit.Fix()).settings(limit.What)
	e.Err = err
	e.throw()
}

// caught recovers from the panic of an Error and stores the error.
func caught(err *error) {
	switch p := recover().(type) {
	case nil:
	case *Error:
		*err = p
	case *ad.BuildError:
		if p.Err == nil {
			panic(p)
		}
		// A budget, or Stop, ended the recording.
		var limit *ad.LimitError
		e := &Error{Err: p.Err, stopped: !errors.As(p.Err, &limit)}
		e.Diagnostic.Summary = p.Err.Error()
		*err = e
	default:
		panic(p)
	}
}

// unknownDetail explains why a library function needs the value of an argument.
const unknownDetail = "It depends on parameters here, and the function decides by it what to compute."

// catch converts an error of a library declaration into an error at the call.
func (m *machine) catch(at source.Span, f func() []ad.Ref) []ad.Ref {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *stdlib.Error:
			if p.Unknown {
				m.fail(at, diag.UnknownInt, "%s", p.Msg).detailf("%s", unknownDetail).throw()
			}
			m.fail(at, diag.BadCall, "%s", p.Msg).throw()
		case *ad.BuildError:
			if p.Err != nil {
				m.limited(at, p.Err)
			}
			m.fail(at, diag.BadCall, "sizes do not match").detailf("%v", p).throw()
		default:
			panic(p)
		}
	}()
	return f()
}
