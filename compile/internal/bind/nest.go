package bind

import (
	"github.com/ppl-lang/ppl/compile/ir"
)

// nest is a loop with the loops in its body whose iterations data decide. It is
// evaluated statement by statement: each leaf of the nest, a unit, once for all
// the iterations that execute it, its domain.
//
// What a unit assigns to the variables of the nest is kept apart from what other
// units assign (versions.go); a read finds, element by element, the last write
// before it in the order of the program. So units may be evaluated in any order
// in which writes come before the reads that see them.
type nest struct {
	b       *binder
	around  *nest // the nest that the unit under way belongs to, in which this one stands; nil: none
	root    *loopNode
	units   []*unit // in the order of the program
	watched map[*cell]*history
	order   []*history // of watched, in order of first mention
	groups  []group    // of units, in the order of evaluation

	tangled []*unit   // that depend on one another, and are neither a sum nor a recurrence
	across  []ir.Stmt // loops around units that depend on others across loops
	steps   []ir.Stmt // the innermost loops around all units of such a group
	taken   int64     // bytes of memory that the plan takes
	summing *history  // of the group under way, which only adds to it

	unit *unit // under way
}

// loopNode is a loop of a nest.
type loopNode struct {
	ax     *axis // its iterations
	stmt   ir.Stmt
	parent *loopNode
	body   []node
}

// node is a *loopNode or a *unit: what the body of a loop of a nest consists of.
type node interface{ lanes() *axis }

func (l *loopNode) lanes() *axis { return l.ax }
func (u *unit) lanes() *axis     { return u.dom }

// unit is a statement of a nest, or several that parameters hold together: a
// conditional that they decide, with the statements after it if it may jump.
type unit struct {
	id    int // place in the order of the program
	stmts []ir.Stmt
	dom   *axis
	loop  *loopNode // innermost
	cells []*cell   // variables in scope, by ir.Var.ID
	time  []int64   // of each lane, in the order of the program

	touches  []touch // of variables of the nest
	compound bool
	overlays map[*cell]*overlay // while it is evaluated
}

// touch is how a unit uses elements of a variable.
type touch struct {
	c    *cell
	v    *ir.Var
	acc  access
	ax   *axis // lanes of the use, the unit's or some of them
	how  use
	some bool // elements that are not known beforehand: acc is of the whole variable
}

// use is a way to use elements.
type use uint8

const (
	reads use = iota
	writes
	adds // += or -=, which reads and writes
)

// group is what is evaluated at a time: a unit, or units that depend on one
// another across iterations.
type group struct {
	units []*unit
	kind  groupKind
}

type groupKind uint8

const (
	inLanes      groupKind = iota // one unit, over its domain
	asSum                         // units that only add to one variable
	asRecurrence                  // a scan
)

// around reports whether a loop is another or stands around it.
func (l *loopNode) around(in *loopNode) bool {
	for in != nil && in != l {
		in = in.parent
	}
	return in != nil
}
