package bind

import (
	"errors"
	"fmt"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// Error is what Bind returns when data and program do not fit: diagnostics with
// positions in the program.
type Error struct {
	List  diag.List
	fault bool // of the planner, rather than something that no graph can hold
	// skippable tells that it stands where parameters may never lead, so that it is
	// no more than a rejection when they do.
	skippable bool
}

// Error implements error: the first diagnostic's first line.
func (e *Error) Error() string {
	for _, d := range e.List {
		return d.String()
	}
	return "the program cannot be bound to these data"
}

// fault is what should not happen: an evaluation that meets what the plan did not
// foresee. It ends the binding; tests fail, users have their program interpreted. Only
// the inspector looks at one: where the sizes in a loop differ between iterations, it
// inspects them by groups.
type fault = lanes.Fault

// halt ends the binding, whatever is being looked at: a budget is exhausted, or
// whoever asked for it wants it no more.
type halt struct{ err error }

// reserve asks for the memory of an array of so many elements in each dimension, of so
// many bytes each, before it is allocated.
func (b *binder) reserve(bytes int, sizes ...int) {
	n := ad.SizeOf(sizes)
	if n > inspect.MaxElements {
		b.fail(b.span, diag.TooLarge, "this needs arrays of more than %d elements", inspect.MaxElements).halt()
	}
	if err := b.opts.Budget.Take(int64(n) * int64(bytes)); err != nil {
		panic(&halt{b.limited(err, b.span)})
	}
}

// reserveLanes asks for the memory of the numbers and maps of an axis.
func (b *binder) reserveLanes(n ...int) { b.reserve(32, n...) }

// refund gives back what is taken from now on, but for what the graph keeps, at the end
// of a part of the program.
func (b *binder) refund() (free func()) {
	g, budget := b.root.g, b.opts.Budget
	kept, used := g.Taken(), budget.Used()
	return func() { budget.Back(used + g.Taken() - kept) }
}

// step counts a statement that is bound.
func (b *binder) step() {
	if err := b.opts.Budget.Step(statementCost); err != nil {
		panic(&halt{b.limited(err, b.span)})
	}
}

// maxLevels bounds the statements and expressions that are evaluated within one another,
// in all calls that are under way: each takes up to 1.4 kB of the stack, and Go ends a
// program whose stack grows beyond half a gigabyte.
const maxLevels = 150_000

// deeper begins a statement or expression within others.
func (b *binder) deeper(at source.Span) {
	if b.levels++; b.levels > maxLevels {
		b.fail(at, diag.EndlessRecursion, "calls stand too deep within one another").
			detailf("%d calls are under way, and %d statements and expressions in them.", len(b.calls), maxLevels).throw()
	}
}

func (b *binder) shallower() { b.levels-- }

// ask ends the binding if nobody wants it any more.
func (b *binder) ask() {
	if err := b.opts.Budget.Ask(); err != nil {
		panic(&halt{err})
	}
}

// limited is the error of a budget, at a place.
func (b *binder) limited(err error, at source.Span) error {
	var limit *ad.LimitError
	if !errors.As(err, &limit) {
		return err
	}
	return &Error{List: diag.List{b.fail(at, diag.TooLarge, "%v", limit).
		detailf("%s", limit.Detail()).fix("%s", limit.Fix()).d}}
}

// Limited is an error that a budget, exhausted after binding by what is made of g, ended
// with: an *Error, at the place that asked or, if that is not known, at that of the
// largest value.
func (out *Bound) Limited(err error, g *ad.Graph) error {
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
	return out.again.limited(err, out.Sites[at])
}

// problem is a diagnostic under construction; throw ends the evaluation.
type problem struct {
	d         diag.Diagnostic
	skippable bool // see Error
}

func (b *binder) fail(at source.Span, code diag.Code, format string, args ...any) *problem {
	if !at.IsValid() {
		at = b.span
	}
	return b.complain(diag.Errorf(code, at, format, args...))
}

// complain is a diagnostic with the calls that are under way.
func (b *binder) complain(d diag.Diagnostic) *problem {
	const shown = 3 // calls of a deep recursion are all alike
	for i := len(b.calls) - 1; i >= max(0, len(b.calls)-shown); i-- {
		c := b.calls[i]
		d.Related = append(d.Related, diag.Note{Span: c.at, Message: "in a call of " + c.name})
	}
	return &problem{d, b.mayBeSkipped()}
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

// halt is throw where another way to evaluate a loop would end in the same.
func (p *problem) halt() { panic(&halt{&Error{List: diag.List{p.d}}}) }

// unknownDetail is why a value must be known.
const unknownDetail = "It depends on parameters or on random draws here, and the sizes of all values in a graph are fixed when data are bound."

// unsupported reports something that the language has and the engine does not;
// fix, if not "", is what to write instead.
func (b *binder) unsupported(at source.Span, what, fix string) {
	p := b.fail(at, diag.NotSupported, "%s cannot be evaluated", what).detailf("%s", unknownDetail)
	p.d.Fix = fix
	p.throw()
}
