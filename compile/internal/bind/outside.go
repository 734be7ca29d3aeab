package bind

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
	b    *binder
	vars map[*ir.Var]*inspect.Variable
	over map[*inspect.Container]value // what loops over elements go over
}

func (b *binder) outside() *outside {
	return &outside{b: b, vars: map[*ir.Var]*inspect.Variable{}, over: map[*inspect.Container]value{}}
}

// evaluator evaluates what data decide in the function under way, or in the program's blocks.
func (b *binder) evaluator() *inspect.Evaluator {
	ev := b.evaluators[b.frame]
	if ev == nil {
		o := interp.Options{Transforms: b.opts.Transforms}
		if b.opts.Budget != nil {
			o.Stop = b.opts.Budget.Stop
		}
		ev = inspect.NewEvaluator(b.prog, len(b.cells), b.functions, o, b.opts.Budget)
		b.evaluators[b.frame] = ev
	}
	return ev
}

// track finds the known values of the integers that a loop carries, see [inspect.Track].
func (b *binder) track(ax *axis, lp *loop, i value, active *value) []inspect.Tracked {
	var some *lanes.Value
	if active != nil {
		v := active.known()
		some = &v
	}
	return inspect.Track(b.evaluator(), b.outside(), ax, &lp.Loop, i.known(), some)
}

// Variable is a variable of outside.
func (o *outside) Variable(v *ir.Var) *inspect.Variable {
	if x, ok := o.vars[v]; ok {
		return x
	}
	b, c := o.b, o.b.cell(v)
	if c == nil {
		o.vars[v] = nil
		return nil
	}
	x := &inspect.Variable{Var: v, Shape: c.shape, Home: c.home, Cell: c, Steady: c.whole != nil}
	for n := b.nest; n != nil; n = n.around {
		x.Steady = x.Steady && n.watched[c] == nil
	}
	if l := b.overlayOf(c); l != nil {
		x.Copy, x.Part = &inspect.Variable{Var: v, Shape: l.temp.shape, Home: l.temp.home, Cell: l.temp}, !l.whole
	}
	var known *lanes.Value // once asked for
	x.Value = func() (lanes.Value, bool) {
		if known == nil {
			w := b.load(c, lanes.WholeOf(c.shape), c.typ)
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
	b := o.b
	saved, used := *b, b.opts.Budget.Used()
	effects := map[*level]int{}
	for l := b.lvl; l != nil; l = l.parent {
		effects[l] = len(l.g.Effects)
	}
	defer func() { // nothing stays but nodes that nobody uses
		saved.sites = b.sites
		*b = saved
		for l, n := range effects {
			l.g.Effects = l.g.Effects[:n]
		}
		b.opts.Budget.Back(used)
	}()
	b.cells = newCells(b, o.over).scope(s)
	b.with(b.context.in(at), func() {
		for _, leaf := range b.eval(e).parts() {
			shapes = append(shapes, leaf.shape)
		}
	})
	return shapes
}

// Reserve asks for memory.
func (o *outside) Reserve(bytes int, sizes ...int) { o.b.reserve(bytes, sizes...) }

// Halt ends the binding.
func (o *outside) Halt(err error) { panic(&halt{o.b.limited(err, o.b.span)}) }

// Ask ends the binding if nobody wants it any more.
func (o *outside) Ask() { o.b.ask() }

// cells are the cells of variables that the inspector made.
type cells struct {
	b      *binder
	of     map[*inspect.Variable]*cell
	scopes map[**inspect.Variable][]*cell
	over   map[*inspect.Container]value
}

func newCells(b *binder, over map[*inspect.Container]value) *cells {
	return &cells{b: b, of: map[*inspect.Variable]*cell{}, scopes: map[**inspect.Variable][]*cell{}, over: over}
}

// scope are the cells of the variables in scope.
func (k *cells) scope(s inspect.Scope) []*cell {
	if len(s) == 0 {
		return k.b.cells
	}
	list := k.scopes[&s[0]]
	if list == nil {
		list = slices.Clone(k.b.cells)
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
	b := k.b
	b.with(b.context.in(x.Home), func() {
		switch {
		case x.Known != nil && x.Known.Ints != nil:
			c = b.newCell(nil, x.Var.Name, x.Var.Type, x.Shape)
			c.setWhole(ofLanes(*x.Known))
		case x.Element != nil:
			v := b.item(k.container(x.Element.Of), ofLanes(x.Element.Number), x.Var.Type)
			c = b.newCell(x.Var, x.Var.Name, x.Var.Type, x.Shape)
			c.param, c.state = v.param, state{whole: &v}
		default:
			c = b.localCell(x.Var, x.Shape)
		}
	})
	k.of[x] = c
	return c
}

// container is what a loop goes over the elements of.
func (k *cells) container(of *inspect.Container) value {
	v, ok := k.over[of]
	if !ok {
		b, old := k.b, k.b.cells
		b.cells = k.scope(of.Scope)
		b.with(b.context.in(of.Axis), func() { v = b.eval(of.Expr) })
		b.cells = old
		k.over[of] = v
	}
	return v
}

// privatise gives the present iteration its own tracked variables.
func (b *binder) privatise(lp *loop) {
	for _, t := range lp.tracked {
		c := b.newCell(nil, t.Var.Name, t.Var.Type, t.Start.Shape)
		c.setWhole(ofLanes(t.Start))
		b.cells[t.Var.ID] = c
	}
}

// settle stores the tracked variables after the loop.
func (b *binder) settle(lp *loop) {
	for _, t := range lp.tracked {
		c := b.cell(t.Var)
		b.store(c, lanes.WholeOf(c.shape), ofLanes(t.Final))
	}
}

// tracks reports whether a variable is among those that are known in the loop.
func (lp *loop) tracks(v *ir.Var) bool {
	return slices.ContainsFunc(lp.tracked, func(t inspect.Tracked) bool { return t.Var == v })
}
