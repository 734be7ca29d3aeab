package model

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/lang/diag"
)

// ErrNoContext says that a context is nil.
var ErrNoContext = errors.New("ppl: there is no context; context.Background() is one that never ends")

// Diagnostics returns the messages in an error of this package, with their positions. diag.Render
// prints them with the lines of the source. It returns nil for an error without messages.
func Diagnostics(err error) diag.List {
	var compileError *compile.Error
	if errors.As(err, &compileError) {
		return compileError.List
	}
	var dataError *data.Error
	if errors.As(err, &dataError) {
		return diag.List{dataError.Diagnostic()}
	}
	var rejection *compile.Rejection
	if !errors.As(err, &rejection) || !rejection.Span.IsValid() {
		return nil
	}
	d := diag.Diagnostic{Span: rejection.Span, Summary: rejection.Err.Error()}
	var start *infer.InitError
	var chain *infer.ChainError
	switch {
	case !errors.As(err, &start):
		if errors.As(err, &chain) {
			d.Detail = fmt.Sprintf("This ended chain %d, in its %s, after %d transitions.", chain.ID, chain.Phase, chain.Iteration)
		}
	case start.Attempts == 1:
		d.Summary = "the run cannot start at the given initial values: " + d.Summary
		d.Fix = "give other initial values, or leave some of them to chance"
	default:
		d.Summary = fmt.Sprintf("no starting point found in %d attempts; at the last one: %s", start.Attempts, d.Summary)
		d.Fix = "check that the data and the bounds of the parameters fit this statement;\n" +
			"otherwise give initial values, or a smaller radius for random ones"
		if fix := compile.Remedy(err); fix != "" {
			d.Fix = fix
		}
		if strings.Contains(d.Summary, "must be not nan") {
			d.Fix = "look for NaN in the data: leave missing values out, or declare them as parameters"
		}
	}
	return diag.List{d}
}
