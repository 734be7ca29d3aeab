package inspect

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/known"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/ir"
)

// Variable is a variable at a statement. One that is declared in the nest has a value in each lane
// of its home.
type Variable struct {
	Var   *ir.Var
	Shape []int
	Home  *plan.Axis // the axis in force at the declaration

	// Known is its value if data decide it; nil: they do not, or it is a variable of outside.
	Known *lanes.Value
	// Element is the value of the variable of a loop over elements.
	Element *Element

	// Of a variable of outside:

	// Cell is where emission keeps it. This package does not look at it.
	Cell any
	// Steady: no statement under way writes it, so that it has one value throughout.
	Steady bool
	// Value is its value if data decide it; else ok is false.
	Value func() (v lanes.Value, ok bool)
	// Copy is a copy on which a statement around works instead; nil: there is none. With Part, the
	// copy has only those elements that the statement uses.
	Copy *Variable
	Part bool
}

// Size is the number of elements.
func (v *Variable) Size() int { return ad.SizeOf(v.Shape) }

// Element is one element of a container in each lane, by its number, counted from 1.
type Element struct {
	Of     *Container
	Number lanes.Value
}

// Container is the container whose elements a loop goes over.
type Container struct {
	Expr  ir.Expr
	Scope Scope      // the variables there
	Axis  *plan.Axis // in force there
	Shape []int
	Known *lanes.Value // nil: data do not decide it
}

// Scope is the variables of the nest that are in scope, by ir.Var.ID; nil: it is one of outside. A
// Scope is never changed.
type Scope []*Variable

// hidden takes the place of a variable that is local to a unit: nothing is known of it.
var hidden = new(Variable)

// Outside is what is around a loop.
type Outside interface {
	known.Binding
	// Variable is a variable of outside; nil if it is not declared there.
	Variable(v *ir.Var) *Variable
}

// with is the scope after x has replaced the former variable of its name.
func (s Scope) with(x *Variable) Scope {
	out := append(Scope(nil), s...)
	out[x.Var.ID] = x
	return out
}
