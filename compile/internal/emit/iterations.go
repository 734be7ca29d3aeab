package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/known"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// iterator makes the axes of loops, and presents variables to the inspector.
type iterator struct {
	floor
	vars  *variables
	users *userCalls
	ex    evaluator
}

// loop is a loop about to run.
type loop struct {
	inspect.Loop
	over value // the container of a loop over elements

	tracked []known.Tracked // integers known before every iteration
	across  []ir.Stmt       // inner loops that keep a plan from being a recurrence
	steps   []ir.Stmt       // loops in across whose iterations depend on one another
	why     []string        // reasons against the ways tried so far

	counts *ir.For // of a loop that counts: its statement
	second ir.Stmt // another form of the body, for use if this one has no plan; nil: none
	width  int     // if there is no plan: average executions per iteration of the most frequent unit that depends on others
	jumps  bool    // parameters may decide a jump
	whiles bool    // parameters may decide the iterations of a while loop

	unrolls bool // it may be unrolled, so that its inner loops are lanes
	narrow  bool // if there is no plan: inner loops that depend on others read few elements at a time
	inOrder bool // the iterations are evaluated one after another, unrolled
}

// counting returns a loop whose variable is the iteration number plus add.
func counting(s *ir.For, add int64) *loop {
	lp := &loop{Loop: inspect.Loop{Body: s.Body, Var: s.Var, Add: add}, jumps: static.MayJump(s.Body), whiles: static.Has(s.Body, static.IsWhile), inOrder: s.InOrder, counts: s}
	if s.Accumulated != nil {
		lp.second = s.Accumulated.Body
	}
	return lp
}

// iterations returns the axis of n iterations in every lane in force, and their numbers from 1.
func (it *iterator) iterations(n int) (*axis, value) {
	ax, i := lanes.Iterations(n, it.at.axis, it.at.lvl, it.rep.Reserve)
	return ax, ofLanes(i)
}

// overElements returns the number of elements of a container, and the loop over them.
func (it *iterator) overElements(s *ir.ForEach) (int, *loop) {
	over := it.ex.eval(s.Over)
	n := 0
	if len(over.shape) > 0 {
		n = over.shape[0]
	}
	c := &inspect.Container{Expr: s.Over, Shape: over.shape}
	if k, ok := over.data(); ok {
		c.Known = &k
	}
	return n, &loop{Loop: inspect.Loop{Body: s.Body, Var: s.Var, Over: c}, over: over}
}

// item returns the element of a container with the given number, counted from 1.
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
		v = ofLanes(i.known().Plus(lp.Add))
	}
	c := it.mem.newCell(lp.Var, lp.Var.Name, lp.Var.Type, v.shape)
	c.param = v.param
	c.state = state{whole: &v}
	it.vars.cells[lp.Var.ID] = c
}

// privatise gives the current iteration private copies of the tracked variables.
func (it *iterator) privatise(lp *loop) {
	for _, t := range lp.tracked {
		c := it.mem.newCell(nil, t.Var.Name, t.Var.Type, t.Start.Shape)
		c.setWhole(ofLanes(t.Start))
		it.vars.cells[t.Var.ID] = c
	}
}

// settle stores the final values of the tracked variables after the loop.
func (it *iterator) settle(lp *loop) {
	for _, t := range lp.tracked {
		c := it.vars.cell(t.Var)
		it.vars.store(c, lanes.WholeOf(c.shape), ofLanes(t.Final))
	}
}

// outside shows the inspector the variables around the loop that begins here.
type outside struct {
	*reporter
	it   *iterator
	vars map[*ir.Var]*inspect.Variable
	over map[*inspect.Container]value // evaluated containers
}

func (it *iterator) outside() *outside {
	return &outside{reporter: it.rep, it: it, vars: map[*ir.Var]*inspect.Variable{}, over: map[*inspect.Container]value{}}
}

// track finds the known values of integers that a loop passes from iteration to iteration, see
// [known.Evaluator.Follow]. If active is not nil, it is 1 in the iterations that run.
func (it *iterator) track(ax *axis, lp *loop, i lanes.Value, active *lanes.Value) []known.Tracked {
	return it.users.evaluator().Follow(lp.Followed(ax, i, active), it.vars, it.rep)
}

// Variable returns the inspector's form of a variable outside the loop.
func (o *outside) Variable(v *ir.Var) *inspect.Variable {
	if x, ok := o.vars[v]; ok {
		return x
	}
	it, c := o.it, o.it.vars.cell(v)
	if c == nil {
		o.vars[v] = nil
		return nil
	}
	x := &inspect.Variable{Var: v, Shape: c.shape, Home: c.home, Cell: c, Steady: it.vars.steady(c)}
	if l := it.vars.overlayOf(c); l != nil {
		x.Copy, x.Part = &inspect.Variable{Var: v, Shape: l.temp.shape, Home: l.temp.home, Cell: l.temp}, !l.whole
	}
	var known *lanes.Value // nil until first use
	x.Value = func() (lanes.Value, bool) {
		if known == nil {
			k, _ := it.vars.load(c, lanes.WholeOf(c.shape), c.typ).data()
			known = &k
		}
		return *known, known.Ints != nil || known.Reals != nil
	}
	o.vars[v] = x
	return x
}

// cells maps the inspector's variables to cells.
type cells struct {
	it     *iterator
	of     map[*inspect.Variable]*cell
	scopes map[**inspect.Variable][]*cell
	over   map[*inspect.Container]value
}

func newCells(it *iterator, over map[*inspect.Container]value) *cells {
	return &cells{it: it, of: map[*inspect.Variable]*cell{}, scopes: map[**inspect.Variable][]*cell{}, over: over}
}

// scope returns the cells of the variables in scope.
func (k *cells) scope(s inspect.Scope) []*cell {
	if len(s) == 0 {
		return k.it.vars.cells
	}
	list := k.scopes[&s[0]]
	if list == nil {
		list = slices.Clone(k.it.vars.cells)
		for id, x := range s {
			if x != nil {
				list[id] = k.cell(x)
			}
		}
		k.scopes[&s[0]] = list
	}
	return list
}

// cell returns the cell of a variable.
func (k *cells) cell(x *inspect.Variable) *cell {
	if x.Cell != nil {
		return x.Cell.(*cell)
	}
	c := k.of[x]
	if c != nil {
		return c
	}
	it := k.it
	it.at.with(it.at.in(x.Home), func() {
		switch {
		case x.Known != nil && x.Known.Ints != nil:
			c = it.mem.newCell(nil, x.Var.Name, x.Var.Type, x.Shape)
			c.setWhole(ofLanes(*x.Known))
		case x.Element != nil:
			v := it.item(k.container(x.Element.Of), ofLanes(x.Element.Number), x.Var.Type)
			c = it.mem.newCell(x.Var, x.Var.Name, x.Var.Type, x.Shape)
			c.param, c.state = v.param, state{whole: &v}
		default:
			c = it.mem.localCell(x.Var, x.Shape)
		}
	})
	k.of[x] = c
	return c
}

// container returns the value of a container over whose elements a loop runs.
func (k *cells) container(of *inspect.Container) value {
	v, ok := k.over[of]
	if !ok {
		it, old := k.it, k.it.vars.cells
		it.vars.cells = k.scope(of.Scope)
		it.at.with(it.at.in(of.Axis), func() { v = it.ex.eval(of.Expr) })
		it.vars.cells = old
		k.over[of] = v
	}
	return v
}
