package bind

import (
	"fmt"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// Error is what Bind returns when data and program do not fit: diagnostics with
// positions in the program.
type Error struct {
	List  diag.List
	fault bool // of the planner, rather than something that no graph can hold
}

// Error implements error: the first diagnostic's first line.
func (e *Error) Error() string {
	for _, d := range e.List {
		return d.String()
	}
	return "the program cannot be bound to these data"
}

// abort ends the attempt to evaluate a loop once for all iterations; the loop
// is then evaluated in the next simpler way.
type abort struct {
	reason string
	split  *split // the loop may be tried by groups of iterations
}

// problem is a diagnostic under construction; throw ends the evaluation.
type problem struct{ d diag.Diagnostic }

func (b *binder) fail(at source.Span, code diag.Code, format string, args ...any) *problem {
	if !at.IsValid() {
		at = b.span
	}
	d := diag.Errorf(code, at, format, args...)
	const shown = 3 // calls of a deep recursion are all alike
	for i := len(b.calls) - 1; i >= max(0, len(b.calls)-shown); i-- {
		c := b.calls[i]
		d.Related = append(d.Related, diag.Note{Span: c.at, Message: "in a call of " + c.name})
	}
	return &problem{d}
}

func (p *problem) detailf(format string, args ...any) *problem {
	p.d.Detail = fmt.Sprintf(format, args...)
	return p
}

func (p *problem) fix(format string, args ...any) *problem {
	p.d.Fix = fmt.Sprintf(format, args...)
	return p
}

func (p *problem) throw() { panic(p) }

// unknownDetail is why a value must be known.
const unknownDetail = "It depends on parameters or on random draws here, and the sizes of all values in a graph are fixed when data are bound."

// unsupported reports something that the language has and the engine does not;
// fix, if not "", is what to write instead.
func (b *binder) unsupported(at source.Span, what, fix string) {
	p := b.fail(at, diag.NotSupported, "%s cannot be evaluated", what).detailf("%s", unknownDetail)
	p.d.Fix = fix
	p.throw()
}
