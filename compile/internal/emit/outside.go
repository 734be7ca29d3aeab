package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/ir"
)

// What the inspector asks of emission: the variables around a loop.

// outside is what is around a loop that begins here.
type outside struct {
	it   *iterator
	vars map[*ir.Var]*inspect.Variable
	over map[*inspect.Container]value // what loops over elements go over
}

func (it *iterator) outside() *outside {
	return &outside{it: it, vars: map[*ir.Var]*inspect.Variable{}, over: map[*inspect.Container]value{}}
}

// evaluator evaluates what data decide in the function under way, or in the program's blocks.
func (it *iterator) evaluator() *inspect.Evaluator {
	ev := it.evaluators[it.users.frame]
	if ev == nil {
		o := interp.Options{Transforms: it.opts.Transforms}
		if it.opts.Budget != nil {
			o.Stop = it.opts.Budget.Stop
		}
		ev = inspect.NewEvaluator(it.prog, len(it.vars.cells), it.functions, o, it.opts.Budget)
		it.evaluators[it.users.frame] = ev
	}
	return ev
}

// track finds the known values of the integers that a loop carries, see [inspect.Track].
func (it *iterator) track(ax *axis, lp *loop, i value, active *value) []inspect.Tracked {
	var some *lanes.Value
	if active != nil {
		v := active.known()
		some = &v
	}
	return inspect.Track(it.evaluator(), it.outside(), ax, &lp.Loop, i.known(), some)
}

// Variable is a variable of outside.
func (o *outside) Variable(v *ir.Var) *inspect.Variable {
	if x, ok := o.vars[v]; ok {
		return x
	}
	it, c := o.it, o.it.vars.cell(v)
	if c == nil {
		o.vars[v] = nil
		return nil
	}
	x := &inspect.Variable{Var: v, Shape: c.shape, Home: c.home, Cell: c, Steady: c.whole != nil}
	for n := it.at.nest; n != nil; n = n.around {
		x.Steady = x.Steady && n.watched[c] == nil
	}
	if l := it.vars.overlayOf(c); l != nil {
		x.Copy, x.Part = &inspect.Variable{Var: v, Shape: l.temp.shape, Home: l.temp.home, Cell: l.temp}, !l.whole
	}
	var known *lanes.Value // once asked for
	x.Value = func() (lanes.Value, bool) {
		if known == nil {
			w := it.vars.load(c, lanes.WholeOf(c.shape), c.typ)
			k := w.known()
			if w.ints == nil {
				if data, ok := w.lvl.g.Value(w.ref); ok {
					k.Reals = data
				}
			}
			known = &k
		}
		return *known, known.Ints != nil || known.Reals != nil
	}
	o.vars[v] = x
	return x
}

// Shapes are those of the leaves of an expression.
func (o *outside) Shapes(e ir.Expr, s inspect.Scope, at *axis) (shapes [][]int) {
	it := o.it
	it.trial.run(func() {
		it.vars.cells = newCells(it, o.over).scope(s)
		it.at.with(it.at.in(at), func() {
			for _, leaf := range it.ex.eval(e).parts() {
				shapes = append(shapes, leaf.shape)
			}
		})
	})
	return shapes
}

// Reserve asks for memory.
func (o *outside) Reserve(bytes int, sizes ...int) { o.it.rep.reserve(bytes, sizes...) }

// Halt ends the binding.
func (o *outside) Halt(err error) { panic(&halt{o.it.rep.limited(err, o.it.rep.span)}) }

// Ask ends the binding if nobody wants it any more.
func (o *outside) Ask() { o.it.rep.ask() }

// cells are the cells of variables that the inspector made.
type cells struct {
	it     *iterator
	of     map[*inspect.Variable]*cell
	scopes map[**inspect.Variable][]*cell
	over   map[*inspect.Container]value
}

func newCells(it *iterator, over map[*inspect.Container]value) *cells {
	return &cells{it: it, of: map[*inspect.Variable]*cell{}, scopes: map[**inspect.Variable][]*cell{}, over: over}
}

// scope are the cells of the variables in scope.
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

// cell is the cell of a variable.
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

// container is what a loop goes over the elements of.
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
