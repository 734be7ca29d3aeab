package inspect

import (
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
	Add  int64      // of a counting loop: its variable is the iteration number plus Add
	Over *Container // container over whose elements the loop runs; nil: it counts
}

// element returns the value of the loop's variable in iterations with the given numbers, counted
// from 1; ok is false if data do not decide it.
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

// Followed returns the loop in the form in which package known follows its integers. number is the
// number of each iteration; active is 1 in the iterations that run, or nil.
func (lp *Loop) Followed(ax *plan.Axis, number lanes.Value, active *lanes.Value) known.Loop {
	counts, _ := lp.element(number)
	return known.Loop{Body: lp.Body, Var: lp.Var, Axis: ax, Counts: counts, Active: active}
}

// Items returns the access to elements of a container with the given shape. number has their
// numbers, counted from 1.
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

// Way is a way to make a nest from a loop: which inner loops are fully unrolled, and which
// conditionals become one unit.
type Way struct {
	Unroll int  // inner loops of at most this many iterations are unrolled
	Joined bool // each conditional on data that assigns variables of the nest is one unit
	Steps  bool // also unroll inner loops whose steps depend on one another, as earlier plans found
}

// Ways returns the ways to try, in order. Way.Steps is for a loop over days within a loop over
// countries, if a day depends on sums over earlier days. The days are then unrolled, while
// countries and sums remain lanes.
func Ways() []Way {
	return []Way{{Unroll: SmallLoop}, {Unroll: MediumLoop}, {Unroll: MediumLoop, Joined: true}, {Unroll: SmallLoop, Steps: true}, {Unroll: MaxUnits}}
}

// Request says what to inspect, and how.
type Request struct {
	Loop    *Loop
	Axis    *plan.Axis      // of its iterations
	Number  lanes.Value     // of each, from 1
	Tracked []known.Tracked // see [known.Evaluator.Follow]
	Groups  lanes.Groups
	Way     Way

	// Skipped means that the loop may never run. Package emit then bounds its while loops, so they
	// are not replaced by for loops.
	Skipped bool

	// Across lists inner loops that kept earlier plans from being a recurrence. Steps lists those
	// among them whose iterations depend on one another through loops within.
	Across, Steps []ir.Stmt
}

// Nest is a loop as a list of units, together with the loops in its body whose iterations data
// decide. A unit is a statement with the set of iterations that execute it (its domain). A Nest
// does not change after the inspection.
type Nest struct {
	Plan       plan.Nest // in integers
	Statements []*Statement
	Used       []*Variable            // in the order of Plan.Variables
	Loops      map[*plan.Loop]ir.Stmt // bodies of the loops: of the root, and of the loops within
	Tracked    []known.Tracked
}

// Statement is a unit with its statements: one, or several that must be evaluated together. A
// conditional that parameters decide forms a unit with the statements after it if it may jump.
type Statement struct {
	*plan.Unit
	Stmts    []ir.Stmt
	Scope    Scope          // variables there
	Accesses []lanes.Access // in the order of Unit.Touches
}

// Found is the result of an inspection.
type Found struct {
	Nest *Nest
	// Why is the reason why the loop cannot be evaluated statement by statement, or "". Mistake is
	// set if that is a mistake of the user.
	Why     string
	Mistake *diag.Diagnostic
	// Last is the number of iterations after which data end the loop early; 0 if they do not.
	Last int

	// See Foresees.
	way        Way
	iterations int   // of the loop
	stepped    bool  // an inner loop was unrolled because of Request.Steps
	joins      bool  // Way.Joined matters for some conditional
	least      int64 // least number of iterations of an inner loop that was not unrolled; 0: none
}

// Foresees reports whether an inspection in another way, which unrolls at least as many loops,
// would find the same. across means that Request.Across is not empty.
func (f *Found) Foresees(w Way, across bool) bool {
	joins := f.joins || f.iterations > SmallUnrolled && across
	return !f.stepped && !w.Steps && (f.way.Joined == w.Joined || !joins) && (f.least == 0 || f.least > int64(w.Unroll))
}

// inspection is one pass over a loop: it finds the units of the nest.
type inspection struct {
	at  *sight
	rec *recorder

	inOrder []ir.Stmt // loops to unroll because of Way.Steps
	skipped bool      // see Request.Skipped
	decided []*ir.If  // conditionals on data, which may jump, around the current statement

	innermost ir.Stmt // the inner loop around the current statement, which its jumps end; nil: none
}

// recorder records what units use.
type recorder struct {
	at *sight
	*Found

	nest   *Nest
	loop   *plan.Loop // innermost loop around the current statement
	used   map[*Variable]*plan.Variable
	ragged bool // sizes in the unit differ between iterations
	again  bool // a finding affects an earlier statement
}

// sight is what is known at the current statement.
type sight struct {
	ev  *known.Evaluator
	out Outside

	axis    *plan.Axis
	masks   []lanes.Mask // conditions on data around the statement, in a compound unit
	scope   Scope
	operand *lanes.Value // ir.Operand
	code    lanes.Value  // the static.Signal in each lane, if the last statements ended in several ways

	sides    []*plan.Axis     // of conditionals so far
	declared map[*ir.Var]bool // in the nest
	assigned map[*ir.Var]bool // in the nest
	known    findings
}

// findings are passed from one inspection of a loop to the next.
type findings struct {
	unknown  map[*ir.Var]bool   // integers that data do not decide everywhere
	compound map[ir.Stmt]bool   // statements that are one unit, as parameters decide what in them is run
	groups   lanes.Groups       // groups of iterations that declare variables of the same sizes
	written  map[*ir.For]*ir.If // inner loops to unroll as conditionals; one iteration of each
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

// lose records that data do not decide an integer. If that was known before, another inspection
// would not end either.
func (rc *recorder) lose(v *ir.Var) {
	if rc.at.known.unknown[v] {
		rc.refuse(undecided)
	}
	rc.at.known.unknown[v] = true
	rc.again = true
}

// compound records that a statement is one unit.
func (rc *recorder) compound(s ir.Stmt) {
	if rc.at.known.compound[s] {
		rc.refuse(undecided)
	}
	rc.at.known.compound[s] = true
	rc.again = true
}
