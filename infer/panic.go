package infer

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/ppl-lang/ppl/internal/goroutines"
)

// PanicError is a panic of a target, a sampler or an Init, which ended a chain. It is a bug in that
// code. Its text is one line, which may be shown to users. The stack names files of the program, so
// it is separate, for logs.
type PanicError struct {
	Value any    // the value of the panic
	Stack []byte // of the goroutine, as runtime/debug.Stack writes it
}

// NewPanicError makes the error for a recovered value. Call it in the deferred function that
// recovers, whose stack contains the place of the panic.
func NewPanicError(value any) *PanicError {
	switch p := value.(type) {
	case *PanicError: // already recovered elsewhere
		return p
	case *goroutines.Panic: // a panic of another goroutine
		return &PanicError{p.Value, p.Stack}
	}
	return &PanicError{value, debug.Stack()}
}

// Recover sets err to a *[PanicError] if the function that defers it panics. Functions that call
// external code, or share their work among goroutines, defer it.
func Recover(err *error) {
	if value := recover(); value != nil {
		*err = NewPanicError(value)
	}
}

// Error implements error.
func (e *PanicError) Error() string {
	const longest = 500
	line, _, _ := strings.Cut(strings.TrimSpace(fmt.Sprint(e.Value)), "\n")
	if len(line) > longest {
		line = strings.ToValidUTF8(line[:longest], "") + "…"
	}
	return "panic: " + line
}

// Unwrap returns the value, if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
