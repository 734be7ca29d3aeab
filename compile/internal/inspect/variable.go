package inspect

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/known"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/ir"
)

// Variable is a variable at a statement. One of the nest has a content per lane of its
// home.
type Variable struct {
	Var   *ir.Var
	Shape []int
	Home  *plan.Axis // the axis in force at the declaration

	// Known is what data decide it to be; nil: nothing is known, or it is of outside.
	Known *lanes.Value
	// Element is what the variable of a loop over elements is.
	Element *Element

	// Of a variable of outside:

	// Cell is where emission keeps it. This package does not look at it.
	Cell any
	// Steady: no statement under way writes it, so that what it is does not depend on the time.
	Steady bool
	// Value is what data decide it to be; ok is false if they do not.
	Value func() (v lanes.Value, ok bool)
	// Copy is what a statement around works on instead, nil: the variable itself. With Part it has
	// some of the elements, which are all that the statement uses.
	Copy *Variable
	Part bool
}

// Size is the number of elements.
func (v *Variable) Size() int { return ad.SizeOf(v.Shape) }

// Element is an element of a container, per lane: the one of that number, counted from 1.
type Element struct {
	Of     *Container
	Number lanes.Value
}

// Container is what a loop goes over the elements of.
type Container struct {
	Expr  ir.Expr
	Scope Scope      // the variables there
	Axis  *plan.Axis // in force there
	Shape []int
	Known *lanes.Value // nil: data do not decide it
}

// Scope are variables, by ir.Var.ID; nil is one of outside. It is not changed.
type Scope []*Variable

// hidden is any variable that is unknown and none of the nest.
var hidden = new(Variable)

// Outside is what is around a loop.
type Outside interface {
	known.Binding
	// Variable is a variable of outside; nil if it is not declared there.
	Variable(v *ir.Var) *Variable
}

// with is a scope in which one variable is another.
func (s Scope) with(x *Variable) Scope {
	out := append(Scope(nil), s...)
	out[x.Var.ID] = x
	return out
}
