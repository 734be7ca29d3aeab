package inspect

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/known"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
)

// Loop is a loop about to be evaluated.
type Loop struct {
	Body ir.Stmt
	Var  *ir.Var
	Add  int64      // added to the number of an iteration, it is the value of a variable that counts
	Over *Container // nil: the variable counts
}

// element is the value of the variable in iterations of these numbers, from 1; ok is false if data
// do not decide it.
func (lp *Loop) element(number lanes.Value) (v lanes.Value, ok bool) {
	switch {
	case lp.Over == nil:
		return number.Plus(lp.Add), true
	case lp.Over.Known == nil:
		return v, false
	}
	shape := lp.Over.Shape[1:]
	return lp.Over.Known.Gather(Items(shape, number)), true
}

// followed is the loop as its integers are followed, see [Track].
func (lp *Loop) followed(ax *plan.Axis, number lanes.Value, active *lanes.Value) known.Loop {
	counts, _ := lp.element(number)
	return known.Loop{Body: lp.Body, Var: lp.Var, Axis: ax, Counts: counts, Active: active}
}

// Items is the access of elements of a container by number, from 1, each of that shape.
func Items(shape []int, number lanes.Value) lanes.Access {
	acc := lanes.WholeOf(shape)
	size := acc.Index.Size()
	if number.Axis == nil {
		acc.Index.Offset += int(number.Ints[0]-1) * size
		return acc
	}
	acc.Axis, acc.Base = number.Axis, make([]int32, len(number.Ints))
	for l, x := range number.Ints {
		acc.Base[l] = int32(int(x-1) * size)
	}
	return acc
}

// Way is a way to make a loop with those in it a nest: which inner loops become
// statements one after another, and what else is one unit.
type Way struct {
	Unroll int  // inner loops of no more iterations
	Joined bool // conditionals on data that assign variables of the nest are units
	Steps  bool // and inner loops of which former plans found that their steps depend on one another
}

// Ways are those that are looked at, in their order. A loop over days within one over
// countries, in which a day depends on sums over earlier ones, is one of steps: its days are
// written out, while countries and the sums stay lanes.
func Ways() []Way {
	return []Way{{Unroll: SmallLoop}, {Unroll: MediumLoop}, {Unroll: MediumLoop, Joined: true}, {Unroll: SmallLoop, Steps: true}, {Unroll: MaxUnits}}
}

// Request is what to inspect, and how.
type Request struct {
	Loop    *Loop
	Axis    *plan.Axis      // of its iterations
	Number  lanes.Value     // of each, from 1
	Tracked []known.Tracked // see [Track]
	Groups  lanes.Groups
	Way     Way

	// Across are inner loops that kept earlier plans from being a recurrence, Steps those of them
	// whose iterations depend on one another through loops within.
	Across, Steps []ir.Stmt
}

// Nest is a loop with the loops in its body whose iterations data decide, as the statements that it
// consists of: units, each a statement with the set of iterations that execute it. Each variable of
// the nest is a [Variable]: an assignment to an integer that data decide makes another one. It is
// not changed any more.
type Nest struct {
	Plan       plan.Nest // in integers
	Statements []*Statement
	Used       []*Variable            // beside Plan.Variables
	Loops      map[*plan.Loop]ir.Stmt // the root's body, and the loops within
	Tracked    []known.Tracked
}

// Statement is a unit with its statements: one, or several that parameters hold together, a
// conditional that they decide with the statements after it if it may jump.
type Statement struct {
	*plan.Unit
	Stmts    []ir.Stmt
	Scope    Scope          // variables there
	Accesses []lanes.Access // beside Unit.Touches, as far as the inspector has made them
}

// Found is the result of an inspection.
type Found struct {
	Nest *Nest
	// Why is the reason if the loop cannot be evaluated statement by statement; with Mistake, it is
	// one of the user.
	Why     string
	Mistake *diag.Diagnostic
	// Last is the number of iterations after which data end the loop, 0 if they do not.
	Last int

	// What decides whether another way would find something else.
	way        Way
	iterations int   // of the loop
	stepped    bool  // a loop in it was unrolled because of Request.Steps
	joins      bool  // Way.Joined makes a difference to a conditional
	least      int64 // the fewest iterations of a loop in it that was not unrolled, 0 of none
}

// Foresees reports whether an inspection in another way, which unrolls no fewer loops,
// would find the same. across tells that there are loops for it to write out.
func (f *Found) Foresees(w Way, across bool) bool {
	joins := f.joins || f.iterations > SmallUnrolled && across
	return !f.stepped && !w.Steps && (f.way.Joined == w.Joined || !joins) && (f.least == 0 || f.least > int64(w.Unroll))
}

// inspection is one pass over a loop: it finds the units of the nest.
type inspection struct {
	at  *sight
	rec *recorder

	inOrder []ir.Stmt // the loops that are meant by Way.Steps
	decided []*ir.If  // conditionals on data around the statement
}

// recorder notes what units use.
type recorder struct {
	at *sight
	*Found

	nest   *Nest
	loop   *plan.Loop // innermost around the present statement
	used   map[*Variable]*plan.Variable
	ragged bool // the sizes in the unit differ between iterations
	again  bool // something was found that matters to an earlier statement
}

// sight is what is known at the present statement.
type sight struct {
	ev  *known.Evaluator
	out Outside

	axis    *plan.Axis
	masks   []lanes.Mask // conditions on data around, in a compound unit
	scope   Scope
	operand *lanes.Value // ir.Operand
	code    lanes.Value  // how statements ended, where their signal is not certain

	declared map[*ir.Var]bool // in the nest
	assigned map[*ir.Var]bool // in the nest
	known    findings
}

// findings are what the next inspection of the same loop is to know.
type findings struct {
	unknown  map[*ir.Var]bool   // integers that data do not decide everywhere
	compound map[ir.Stmt]bool   // statements that parameters hold together
	groups   lanes.Groups       // iterations by the sizes of what they declare
	written  map[*ir.For]*ir.If // inner loops that are written out, and an iteration of them
}

// inLanes runs fn in the lanes of an axis.
func (at *sight) inLanes(ax *plan.Axis, fn func()) {
	old := at.axis
	at.axis = ax
	fn()
	at.axis = old
}

func (rc *recorder) refuse(why string) {
	if rc.Why == "" {
		rc.Why = why
	}
}

// lose notes that data do not decide an integer.
func (rc *recorder) lose(v *ir.Var) {
	rc.at.known.unknown[v] = true
	rc.again = true
}

// compound notes that a statement is one unit.
func (rc *recorder) compound(s ir.Stmt) {
	rc.at.known.compound[s] = true
	rc.again = true
}

// tracks reports whether a variable is among those that are followed.
func tracks(list []known.Tracked, v *ir.Var) bool {
	return slices.ContainsFunc(list, func(t known.Tracked) bool { return t.Var == v })
}
