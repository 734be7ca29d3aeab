package inspect

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/known"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/ir"
)

// Variable is a variable as a statement sees it. If it is declared in the nest, it has a value in
// each lane of its home.
type Variable struct {
	Var   *ir.Var
	Shape []int
	Home  *plan.Axis // the axis in force at the declaration

	// Known is its value if data decide it. It is nil for other variables, and for variables from
	// outside the loop.
	Known *lanes.Value
	// Element is the value of a loop variable that takes the elements of a container.
	Element *Element

	// The remaining fields are for variables from outside the loop.

	// Cell is where package emit stores it. This package does not use it.
	Cell any
	// Steady means that no statement in progress writes it, so that its value does not change.
	Steady bool
	// Value returns its value; ok is false unless data decide it.
	Value func() (v lanes.Value, ok bool)
	// Copy is the copy that an enclosing statement uses instead; nil: none. With Part, the copy has
	// only the elements that the statement uses.
	Copy *Variable
	Part bool
}

// Size returns the number of elements.
func (v *Variable) Size() int { return ad.SizeOf(v.Shape) }

// Element is one element of a container in each lane, given by its number, counted from 1.
type Element struct {
	Of     *Container
	Number lanes.Value
}

// Container is the container over whose elements a loop runs.
type Container struct {
	Expr  ir.Expr
	Scope Scope      // variables in scope at the loop
	Axis  *plan.Axis // axis in force at the loop
	Shape []int
	Known *lanes.Value // nil: data do not decide it
}

// Scope is the list of the nest's variables in scope, by ir.Var.ID; nil for variables from outside.
// A Scope never changes.
type Scope []*Variable

// hidden replaces a variable that is local to a unit: its value and shape are unknown.
var hidden = new(Variable)

// Outside gives access to the variables around a loop.
type Outside interface {
	known.Binding
	// Variable returns a variable from outside the loop; nil if it is not declared there.
	Variable(v *ir.Var) *Variable
}

// with returns the scope in which x replaces the earlier variable of its name.
func (s Scope) with(x *Variable) Scope {
	out := append(Scope(nil), s...)
	out[x.Var.ID] = x
	return out
}
