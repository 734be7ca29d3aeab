package emit

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

// reporter reports errors with their source position, and takes from the budget.
type reporter struct {
	at   *context
	opts *Options

	span    source.Span // position of the nodes and errors that follow
	calls   []callSite  // calls in progress
	entered source.Span // the call in the program of the library's function in evaluation
	levels  int         // nesting depth of the statements and expressions in evaluation

	// Work in branches that points may never take, in statements; see maxSkippedShare.
	skipped    int64 // so far, in the current graph
	maxSkipped int64
	left       int64 // statements that the budget had left at the last call of attribute
}

// Error is what Bind returns when data and program do not fit: diagnostics with
// positions in the program.
type Error struct {
	List  diag.List
	Fault bool // a fault of the planner, not a program that no graph can represent
	// Skippable means that the error is in a branch that parameters may never take. It becomes a
	// rejection if they do.
	Skippable bool
}

// Error implements error: the first diagnostic's first line.
func (e *Error) Error() string {
	for _, d := range e.List {
		return d.String()
	}
	return "the program cannot be bound to these data"
}

// Unknown reports whether the diagnostics are about values that only a run determines.
func Unknown(list diag.List) bool {
	return slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
		return d.Code == diag.NotSupported || d.Code == diag.UnknownInt || d.Code == diag.EndlessRecursion
	})
}

// fault is an internal error: the evaluation met a case that the plan did not foresee. It ends the
// binding. Tests fail; a user's program is interpreted. Only the inspector recovers from one: if
// sizes in a loop differ between iterations, it inspects the iterations in groups.
type fault = lanes.Fault

// halt ends the binding unconditionally: a budget is exhausted, or the caller cancelled it.
type halt struct{ err error }

// Reserve asks for the memory of an array with these sizes before it is allocated. Each element has
// a size in bytes.
func (rp *reporter) Reserve(bytes int, sizes ...int) {
	n := ad.SizeOf(sizes)
	if n > interp.MaxElements {
		rp.fail(rp.span, diag.TooLarge, "this needs arrays of more than %d elements", interp.MaxElements).halt()
	}
	if err := rp.opts.Budget.Take(int64(n) * int64(bytes)); err != nil {
		rp.Halt(err)
	}
	rp.attribute(int64(n) * int64(bytes) / skippedBytes)
}

// Used and Back call the budget's methods, see [plan.Memory].
func (rp *reporter) Used() int64     { return rp.opts.Budget.Used() }
func (rp *reporter) Back(used int64) { rp.opts.Budget.Back(used) }

// step counts a bound statement.
func (rp *reporter) step() {
	rp.attribute(0)
	if err := rp.opts.Budget.Step(statementCost); err != nil {
		rp.Halt(err)
	}
}

// attribute counts the statements since its last call, and more work that the budget does not
// count, if the current statement may be skipped. If this is too much, it ends the binding of the
// graph. Its part of the program is then interpreted, and runs the branch only at points that take
// it.
func (rp *reporter) attribute(more int64) {
	_, left := rp.opts.Budget.Left()
	spent := rp.left - left + more
	rp.left = left
	if !rp.at.mayBeSkipped() || rp.opts.Budget == nil {
		return
	}
	if rp.skipped += spent; rp.skipped <= rp.maxSkipped {
		return
	}
	at := rp.span
	if len(rp.calls) > 0 {
		at = rp.calls[0].at // a line of the branch, rather than of a function
	}
	rp.fail(at, diag.TooManyStatements, "binding it would run more than %d statements in branches that parameters decide", rp.maxSkipped).halt()
}

// maxLevels bounds the nesting depth of statements and expressions in evaluation, including all
// calls in progress. Each takes up to 1.4 kB of stack, and Go ends a program whose stack exceeds
// half a gigabyte.
const maxLevels = 150_000

// deeper counts the beginning of a nested statement or expression.
func (rp *reporter) deeper(at source.Span) {
	if rp.levels++; rp.levels > maxLevels {
		rp.fail(at, diag.EndlessRecursion, "calls are nested too deeply").
			detailf("%d calls are in progress, with %d statements and expressions in them.", len(rp.calls), maxLevels).throw()
	}
}

func (rp *reporter) shallower() { rp.levels-- }

// Halt ends the binding.
func (rp *reporter) Halt(err error) { panic(&halt{rp.limited(err, rp.span)}) }

// Spend counts work that the budget does not count as statements, if it may be skipped. It ends the
// binding if there is too much of it, or if the caller cancelled it.
func (rp *reporter) Spend(statements int64) {
	rp.attribute(statements)
	if err := rp.opts.Budget.Ask(); err != nil {
		panic(&halt{err})
	}
}

// limited adds a source position to a budget's error.
func (rp *reporter) limited(err error, at source.Span) error {
	var limit *ad.LimitError
	if !errors.As(err, &limit) {
		return err
	}
	p := rp.fail(at, interp.LimitCode(limit), "%v", limit).detailf("%s", limit.Detail()).fix("%s", limit.Fix())
	p.d.Settings = []string{limit.What} // the name of the setting
	return &Error{List: diag.List{p.d}, Skippable: p.skippable && limit.What == "memory"}
}

// Limited adds a source position to the error of a budget that was exhausted after binding, while g
// was processed. The result is an *Error at the place that asked for memory or, if unknown, at the
// place of the largest value.
func (pr *Program) Limited(err error, g *ad.Graph) error {
	if limit := (*ad.LimitError)(nil); !errors.As(err, &limit) {
		return err
	}
	at, most := ad.Site(0), 0
	if g != nil {
		for i := range g.Nodes {
			if n := &g.Nodes[i]; n.Op != ad.OpConst && n.Type.Total() > most {
				at, most = n.Site, n.Type.Total()
			}
		}
	}
	var build *ad.BuildError
	if errors.As(err, &build) {
		at = build.Site
	}
	return pr.rep.limited(err, pr.b.sites[at])
}

// problem is a diagnostic under construction. Its method throw ends the evaluation.
type problem struct {
	d         diag.Diagnostic
	skippable bool // see Error
}

func (rp *reporter) fail(at source.Span, code diag.Code, format string, args ...any) *problem {
	return rp.complain(diag.Errorf(code, at, format, args...))
}

// complain returns a problem with the calls in progress.
func (rp *reporter) complain(d diag.Diagnostic) *problem {
	if !d.Span.IsValid() && (len(rp.calls) == 0 || rp.span.IsValid()) {
		d.Span = rp.span
	}
	if at, function := d.Span.Called(rp.entered); function != "" {
		d.Span, d.Summary = at, function+": "+d.Summary
		return &problem{d, rp.at.mayBeSkipped()}
	}
	const shown = 3 // calls of a deep recursion all look alike
	for i := len(rp.calls) - 1; i >= max(0, len(rp.calls)-shown); i-- {
		c := rp.calls[i]
		if !d.Span.IsValid() { // a function that ppl has added
			d.Span = c.at
			continue
		}
		d.Related = append(d.Related, diag.Note{Span: c.at, Message: "in a call of " + c.name})
	}
	return &problem{d, rp.at.mayBeSkipped()}
}

// complainOfCall is complain. If the diagnostic has no position, it gets that of the innermost
// call.
func (rp *reporter) complainOfCall(d diag.Diagnostic) *problem {
	span := rp.span
	defer func() { rp.span = span }()
	rp.span = source.Span{}
	return rp.complain(d)
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

// halt is throw for errors that would occur in any way of evaluating a loop.
func (p *problem) halt() { panic(&halt{&Error{List: diag.List{p.d}, Skippable: p.skippable}}) }

// unknownDetail explains why a value must be known.
const unknownDetail = "It depends on parameters or on random draws here, and the sizes of all values in a graph are fixed when data are bound."

// unsupported reports a feature of the language that graphs do not support. fix, if not "", says
// what to write instead.
func (rp *reporter) unsupported(at source.Span, what, fix string) {
	p := rp.fail(at, diag.NotSupported, "%s cannot be evaluated", what).detailf("%s", unknownDetail)
	p.d.Fix = fix
	p.throw()
}

type callSite struct {
	name  string
	at    source.Span
	param bool // some argument has parameter level
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// move sets the current position and returns the previous one.
func (rp *reporter) move(s source.Span) source.Span {
	old := rp.span
	if s.IsValid() { // functions that ppl has added have no positions
		rp.span = s
	}
	return old
}

// catch turns an error in a declaration of the library into a diagnostic at the call.
func (rp *reporter) catch(f func()) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *stdlib.Error:
			if r.Unknown {
				rp.fail(rp.span, diag.UnknownInt, "%s", r.Msg).detailf("%s", unknownDetail).throw()
			}
			rp.fail(rp.span, diag.BadCall, "%s", r.Msg).throw()
		case *ad.BuildError:
			if r.Err != nil {
				panic(&halt{rp.limited(r.Err, rp.span)})
			}
			rp.fail(rp.span, diag.BadCall, "sizes do not match").detailf("%v", r).throw()
		default:
			panic(r)
		}
	}()
	f()
}
