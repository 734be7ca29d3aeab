package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// iterator makes loops the iterations that they have, for inspection and evaluation.
type iterator struct {
	at        *context
	opts      *Options
	prog      *ir.Program
	functions *static.Functions
	rep       *reporter
	arr       *arrays
	mem       *contents
	vars      *variables
	users     *userCalls
	ex        evaluator
	trial     *trial

	evaluators map[*ir.Function]*inspect.Evaluator
}

// Loops as the iterations that they have: numbers, an axis of lanes, and what makes the
// loop variable's value of them.

// loop is a loop about to run.
type loop struct {
	inspect.Loop
	over value // the container of which it goes over the elements

	tracked []inspect.Tracked // integers known before every iteration
	across  []ir.Stmt         // inner loops that keep a plan from being a recurrence
	steps   []ir.Stmt         // those of them whose iterations depend on one another through loops within
	why     []string          // why it was not evaluated in the ways that were looked at so far
}

// counting is a loop whose variable is the number of the iteration plus some number.
func counting(s *ir.For, add int64) *loop {
	return &loop{Loop: inspect.Loop{Body: s.Body, Var: s.Var, Add: add}}
}

// iterations is the axis of n iterations in every lane in force, and their
// numbers from 1.
func (it *iterator) iterations(n int) (*axis, value) {
	ax, i := lanes.Iterations(n, it.at.axis, it.at.lvl, it.rep.reserve)
	return ax, ofLanes(i)
}

// ragged is a loop whose bounds differ between lanes: one axis of all iterations.
func (it *iterator) ragged(s *ir.For, from, to value) (*axis, *loop, value) {
	ax, i := lanes.Ragged(from.known(), to.known(), it.at.axis, it.rep.reserve)
	return ax, counting(s, 0), ofLanes(i)
}

func addInt(v value, by int64) value {
	v.ints = v.known().Plus(by).Ints
	return v
}

// overElements is the loop over the elements of a container, and their number.
func (it *iterator) overElements(s *ir.ForEach) (int, *loop) {
	over := it.ex.eval(s.Over)
	n := 0
	if len(over.shape) > 0 {
		n = over.shape[0]
	}
	c := &inspect.Container{Expr: s.Over, Shape: over.shape}
	if k := over.known(); k.Ints != nil {
		c.Known = &k
	} else if data, ok := over.lvl.g.Value(over.ref); ok {
		k.Reals = data
		c.Known = &k
	}
	return n, &loop{Loop: inspect.Loop{Body: s.Body, Var: s.Var, Over: c}, over: over}
}

// item is an element of a container, by number.
func (it *iterator) item(over, number value, typ types.Type) value {
	v := it.arr.gather(over, inspect.Items(over.shape[1:], number.known()), typ)
	v.typ = typ
	return v
}

// bindVar gives the variable of a loop its value in an iteration.
func (it *iterator) bindVar(lp *loop, i value) {
	v := i
	if lp.Over != nil {
		v = it.item(lp.over, i, lp.Var.Type)
	} else if i.ints != nil {
		v = addInt(i, lp.Add)
	}
	c := it.mem.newCell(lp.Var, lp.Var.Name, lp.Var.Type, v.shape)
	c.param = v.param
	c.state = state{whole: &v}
	it.vars.cells[lp.Var.ID] = c
}

// privatise gives the present iteration its own tracked variables.
func (it *iterator) privatise(lp *loop) {
	for _, t := range lp.tracked {
		c := it.mem.newCell(nil, t.Var.Name, t.Var.Type, t.Start.Shape)
		c.setWhole(ofLanes(t.Start))
		it.vars.cells[t.Var.ID] = c
	}
}

// settle stores the tracked variables after the loop.
func (it *iterator) settle(lp *loop) {
	for _, t := range lp.tracked {
		c := it.vars.cell(t.Var)
		it.vars.store(c, lanes.WholeOf(c.shape), ofLanes(t.Final))
	}
}

// tracks reports whether a variable is among those that are known in the loop.
func (lp *loop) tracks(v *ir.Var) bool {
	return slices.ContainsFunc(lp.tracked, func(t inspect.Tracked) bool { return t.Var == v })
}
