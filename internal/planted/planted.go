// Package planted lets tests put a fault into the compiler, to see whether a run notices it. It
// is for tests alone: nothing else makes a Fault.
package planted

import "context"

// Fault is a change that the compiler makes after one of its passes, if that is not left out.
type Fault struct {
	Pass string // its name; Bind: the graph that the binder makes, whatever passes run
	// Change gets what the pass returns, an *ad.Graph or a *loopnest.Program, and returns its
	// replacement.
	Change func(any) any
	// Outputs puts it into the program of outputs in place of that of the log density.
	Outputs bool
}

// Of is the fault if it is one of the program of outputs, or of the log density; nil otherwise.
func (f *Fault) Of(outputs bool) *Fault {
	if f == nil || f.Outputs != outputs {
		return nil
	}
	return f
}

// Bind is the Pass of a fault in the binder.
const Bind = "bind"

type key struct{}

// With is a context for binding a program, whose compilation has the fault.
func With(ctx context.Context, f *Fault) context.Context { return context.WithValue(ctx, key{}, f) }

// From is the fault of a context; nil if it has none.
func From(ctx context.Context) *Fault {
	f, _ := ctx.Value(key{}).(*Fault)
	return f
}

// After returns the replacement of made, which a pass returns. A nil Fault changes nothing.
func After[T any](f *Fault, pass string, made T) T {
	if f == nil || f.Pass != pass {
		return made
	}
	return f.Change(made).(T)
}
