// Package planted lets tests inject a fault into the compiler, to check that a run detects it. Only
// tests make a Fault.
package planted

import (
	"context"
	"os"
)

// Panics is the environment variable with which a panic of the compiler goes on, instead of leaving
// the model to the reference evaluator. Tests set it, so that no fault stays hidden.
const Panics = "PPL_PANICS"

// Loud reports whether [Panics] is set.
func Loud() bool { return os.Getenv(Panics) != "" }

// Fault is a change that the compiler makes after one of its passes, unless that pass is left out.
type Fault struct {
	Pass string // name of the pass; Bind: the binder, independently of the passes
	// Change receives the result of the pass, an *ad.Graph or a *loopnest.Program, and returns its
	// replacement.
	Change func(any) any
	// Outputs applies the fault to the program that computes outputs, instead of the program for
	// the log density.
	Outputs bool
}

// Of returns the fault if it applies to the program of outputs, or to the log density if outputs is
// false; nil otherwise.
func (f *Fault) Of(outputs bool) *Fault {
	if f == nil || f.Outputs != outputs {
		return nil
	}
	return f
}

// Bind is the value of Pass for a fault in the binder.
const Bind = "bind"

type key struct{}

// With returns a context for binding a program with the fault.
func With(ctx context.Context, f *Fault) context.Context { return context.WithValue(ctx, key{}, f) }

// From returns the fault of a context; nil if it has none.
func From(ctx context.Context) *Fault {
	f, _ := ctx.Value(key{}).(*Fault)
	return f
}

// After returns the replacement of made, the result of a pass. A nil Fault changes nothing.
func After[T any](f *Fault, pass string, made T) T {
	if f == nil || f.Pass != pass {
		return made
	}
	return f.Change(made).(T)
}
