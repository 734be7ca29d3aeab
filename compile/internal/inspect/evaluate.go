package inspect

import (
	"errors"

	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/known"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
)

// mistake is an error in the user's program or data.
type mistake struct{ d diag.Diagnostic }

// tooLong ends an inspection when an expression takes too long to evaluate. In the next inspection,
// that expression counts as unknown.
type tooLong struct{}

// isKnown reports whether data decide the value of an expression.
func (at *sight) isKnown(e ir.Expr) bool { return at.ev.Knows(e, at) }

// Shape returns the shape of a variable. For a variable of the nest, ok is false unless its value
// is known.
func (at *sight) Shape(v *ir.Var) (shape []int, ok bool) {
	x := at.variable(v)
	if x == nil {
		return nil, false
	}
	if at.declared[v] {
		if _, ok := at.Value(v); !ok {
			return nil, false
		}
	}
	return x.Shape, true
}

// Value returns the value of a variable; ok is false unless data decide it. It is also false for
// variables that units assign.
func (at *sight) Value(v *ir.Var) (x lanes.Value, ok bool) {
	u := at.variable(v)
	if u == nil || at.isWatched(v) {
		return x, false
	}
	return at.valueOf(u)
}

// variable returns a variable in scope; nil if there is none.
func (at *sight) variable(v *ir.Var) *Variable {
	x := at.scope[v.ID]
	if x == nil {
		x = at.out.Variable(v)
	}
	if x == hidden {
		return nil
	}
	return x
}

// valueOf returns the value of a variable; ok is false unless data decide it.
func (at *sight) valueOf(x *Variable) (v lanes.Value, ok bool) {
	switch {
	case x.Known != nil:
		return *x.Known, true
	case x.Cell != nil && x.Steady:
		return x.Value()
	}
	return v, false
}

// eval evaluates a known expression, see [known.Evaluator.Eval].
func (at *sight) eval(e ir.Expr) lanes.Value {
	v, err := at.ev.Eval(e, at.context())
	if errors.Is(err, interp.ErrLong) {
		panic(tooLong{})
	}
	if d, ok := known.Diagnostic(err); ok {
		panic(&mistake{d})
	}
	return v
}

// context returns the context in which the current statement is evaluated.
func (at *sight) context() *known.Context {
	return &known.Context{Scope: at, Binding: at.out, Axis: at.axis, Operand: at.operand}
}

// shapes returns the shapes of the leaves of an expression; ok is false if data do not decide them.
func (at *sight) shapes(e ir.Expr) (shapes [][]int, ok bool) {
	in := at.context()
	in.Scope = sized{at}
	return at.ev.Shapes(e, in)
}

// sized is the scope used to find sizes: here all variables have a shape, even if their values are
// unknown.
type sized struct{ *sight }

// Shape returns the shape of a variable.
func (s sized) Shape(v *ir.Var) (shape []int, ok bool) {
	x := s.variable(v)
	if x == nil {
		return nil, false
	}
	return x.Shape, true
}

// around is the scope of the variables around a loop whose integers are followed.
type around struct{ at *sight }

// Shape returns the shape of a variable.
func (a around) Shape(v *ir.Var) (shape []int, ok bool) { return sized{a.at}.Shape(v) }

// Value returns the value of a whole variable; ok is false unless data decide it.
func (a around) Value(v *ir.Var) (value lanes.Value, ok bool) {
	if x := a.at.variable(v); x != nil && !x.Part {
		return a.at.valueOf(x)
	}
	return value, false
}

// Excluded returns nil: a loop is followed in all its iterations.
func (a around) Excluded(*plan.Axis) []bool { return nil }

// lookInt returns the value of a condition; ok is false unless data decide it.
func (at *sight) lookInt(e ir.Expr) (v lanes.Value, ok bool) {
	if !at.isKnown(e) {
		return v, false
	}
	ok = at.passes(func() { v = at.eval(e) })
	return v, ok && v.Ints != nil
}

// passes runs fn and reports whether it ran without a mistake of the user. A mistake in code that
// may never run is reported when that code is evaluated.
func (at *sight) passes(fn func()) (ok bool) {
	axis, scope, operand := at.axis, at.scope, at.operand
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *mistake:
			at.axis, at.scope, at.operand = axis, scope, operand
		default:
			panic(r)
		}
	}()
	fn()
	return true
}

// Ints, Elements, Excluded and OutOfRange implement [lanes.Evaluator], which evaluates indices.

// Ints returns the value of known ints.
func (at *sight) Ints(e ir.Expr) (v lanes.Value, ok bool) {
	if !at.isKnown(e) {
		return v, false
	}
	return at.eval(e), true
}

// Elements returns the number of elements of a value.
func (at *sight) Elements(e ir.Expr) int { return at.eval(e).Size() }

// Excluded reports which lanes of an axis are excluded.
func (at *sight) Excluded(ax *plan.Axis) []bool { return lanes.Excluded(at.masks, at.axis, ax) }

// OutOfRange ends the inspection with a mistake.
func (at *sight) OutOfRange(_, _ lanes.Value, first int64, size, dimension int, ix ir.Index, what string) {
	panic(&mistake{interp.IndexRange(ix.At, first, size, dimension, what)})
}
