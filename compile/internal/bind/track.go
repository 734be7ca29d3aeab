package bind

import (
	"maps"
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// Integers that a loop hands from iteration to iteration, as in `pos += n[i]`,
// are known if data decide them. They are followed through all iterations before
// the loop is evaluated; in the evaluation each iteration then has a variable of
// its own, which begins with what is known.

// tracked is such a variable.
type tracked struct {
	v     *ir.Var
	start value // before each iteration, in lanes of the loop
	final value // after the loop, in the lanes around it
}

// tracks reports whether a variable is among those of the loop.
func (lp *loop) tracks(v *ir.Var) bool {
	return slices.ContainsFunc(lp.tracked, func(t tracked) bool { return t.v == v })
}

// follower runs a loop's statements on integers alone.
type follower struct {
	b      *binder
	ax     *axis
	lane   int
	inside map[*ir.Var]bool // variables that the body declares or assigns, and loop variables
	env    map[*ir.Var][]int64
	loaded map[*ir.Var]value
	ups    map[*axis][]int32
	steps  int
	lost   *ir.Var // a tracked variable that was assigned something unknown
	follow map[*ir.Var]bool
}

// track finds the known values of the integers that the loop in the lanes of ax
// carries; i is its number, and active tells, unless it is nil, which iterations
// there are. It changes nothing.
func (b *binder) track(ax *axis, lp *loop, i value, active *value) (list []tracked) {
	vars := slices.DeleteFunc(static.CarriedInts(lp.body), func(v *ir.Var) bool {
		o := b.overlayOf(b.cell(v))
		return o != nil && !o.whole || b.cell(v).size > maxTracked
	})
	if len(vars) == 0 {
		return nil
	}
	number := value{}
	if lp.v.Type.Kind == types.Int && lp.v.Type.Dims == 0 {
		number = lp.bind(i)
	}
	for len(vars) > 0 {
		f := &follower{b: b, ax: ax, loaded: map[*ir.Var]value{}, ups: map[*axis][]int32{}, follow: map[*ir.Var]bool{}}
		for _, v := range vars {
			f.follow[v] = true
		}
		if list = f.run(vars, lp, number, active); list != nil || f.lost == nil {
			break
		}
		vars = slices.DeleteFunc(vars, func(v *ir.Var) bool { return v == f.lost })
	}
	return list
}

// run follows the variables through all iterations; nil if that cannot be done.
func (f *follower) run(vars []*ir.Var, lp *loop, number value, active *value) []tracked {
	b := f.b
	inside := static.VariablesOf(lp.body)
	f.inside = map[*ir.Var]bool{lp.v: true}
	for _, v := range inside.Assigned {
		f.inside[v] = true
	}
	maps.Copy(f.inside, inside.Declared)
	maps.Copy(f.inside, inside.OfLoops)
	outer := f.ax.Parent
	around := plan.Lanes(outer)
	list := make([]tracked, len(vars))
	for k, v := range vars {
		c := b.cell(v)
		whole := b.load(c, lanes.WholeOf(c.shape), c.typ)
		if whole.ints == nil {
			f.lost = v
			return nil
		}
		t := tracked{v: v, start: value{typ: c.typ, shape: c.shape, axis: f.ax, ints: []int64{}}, final: value{typ: c.typ, shape: c.shape, axis: outer, ints: []int64{}}}
		up := plan.UpTo(outer, whole.axis)
		for l := range around {
			for p := range c.size {
				t.final.ints = append(t.final.ints, whole.known().At(up, l, p))
			}
		}
		list[k] = t
	}
	ended := false
	for l := range f.ax.N {
		f.lane = l
		a := 0
		if outer != nil {
			a = int(f.ax.Up[l])
		}
		if l == 0 || outer != nil && f.ax.Up[l] != f.ax.Up[l-1] {
			ended = false
		}
		f.env = map[*ir.Var][]int64{}
		for k := range list {
			t := &list[k]
			n := t.final.size()
			now := t.final.ints[a*n : (a+1)*n]
			t.start.ints = append(t.start.ints, now...)
			f.env[t.v] = slices.Clone(now)
		}
		if ended || active != nil && active.ints[l] == 0 {
			continue
		}
		if number.ints != nil {
			f.env[lp.v] = []int64{number.known().At(plan.UpTo(f.ax, number.axis), l, 0)}
		}
		sig, ok := f.exec(lp.body)
		if !ok || f.lost != nil || !sig.certain() {
			return nil
		}
		ended = sig&(breaks|returns) != 0
		for k := range list {
			n := list[k].final.size()
			copy(list[k].final.ints[a*n:(a+1)*n], f.env[list[k].v])
		}
	}
	return list
}

// forget makes what a statement assigns unknown.
func (f *follower) forget(s ir.Stmt) {
	for _, v := range static.VariablesOf(s).Assigned {
		f.unknown(v)
	}
}

func (f *follower) unknown(v *ir.Var) {
	delete(f.env, v)
	if f.follow[v] {
		f.lost = v
	}
}

// matters reports whether the body of a loop assigns integers, or leaves the
// function; its other jumps end at the loop.
func (f *follower) matters(s ir.Stmt) bool {
	return static.Has(s, static.IsReturn) || slices.ContainsFunc(static.VariablesOf(s).Assigned, func(v *ir.Var) bool { return v.Type.Kind == types.Int })
}

func (f *follower) exec(s ir.Stmt) (signal, bool) {
	const most = 20_000_000
	if f.steps++; f.steps > most {
		return goesOn, false
	}
	if f.steps%4096 == 0 {
		f.b.ask()
	}
	switch s := s.(type) {
	case *ir.Declare:
		if s.Var.Type.Kind != types.Int || s.Var.Type.Dims > 0 {
			return goesOn, true
		}
		delete(f.env, s.Var)
		if s.Init != nil {
			if x, ok := f.number(s.Init); ok {
				f.env[s.Var] = []int64{x.i}
			}
		}
	case *ir.Unpack:
		for _, v := range s.Vars {
			delete(f.env, v)
		}
		if len(s.Vars) == 1 && s.Vars[0].Type.Equal(types.IntType) {
			if x, ok := f.number(s.Value); ok {
				f.env[s.Vars[0]] = []int64{x.i}
			}
		}
	case *ir.Assign:
		if s.Var.Type.Kind == types.Int {
			f.assign(s)
		}
	case *ir.Block:
		for _, t := range s.Stmts {
			if sig, ok := f.exec(t); !ok || sig != goesOn {
				return sig, ok
			}
		}
	case *ir.If:
		c, ok := f.number(s.Cond)
		switch {
		case !ok:
			f.forget(s)
			return goesOn, !static.MayJump(s)
		case c.truth():
			return f.exec(s.Then)
		case s.Else != nil:
			return f.exec(s.Else)
		}
	case *ir.For:
		if !f.matters(s.Body) {
			return goesOn, true
		}
		from, ok1 := f.number(s.From)
		to, ok2 := f.number(s.To)
		if !ok1 || !ok2 {
			f.forget(s)
			return goesOn, !static.MayJump(s)
		}
		for i := from.i; i <= to.i; i++ {
			f.env[s.Var] = []int64{i}
			sig, ok := f.exec(s.Body)
			if !ok || sig == returns {
				return sig, ok
			}
			if sig == breaks {
				break
			}
		}
	case *ir.ForEach:
		if f.matters(s.Body) {
			f.forget(s)
			return goesOn, !static.MayJump(s)
		}
	case *ir.While:
		if !f.matters(s.Body) {
			return goesOn, true
		}
		for {
			c, ok := f.number(s.Cond)
			if !ok {
				f.forget(s)
				return goesOn, !static.MayJump(s)
			}
			if !c.truth() {
				return goesOn, true
			}
			sig, ok := f.exec(s.Body)
			if !ok || sig == returns {
				return sig, ok
			}
			if sig == breaks {
				return goesOn, true
			}
		}
	case *ir.Break:
		return breaks, true
	case *ir.Continue:
		return continues, true
	case *ir.Return:
		return returns, true
	}
	return goesOn, true
}

func (f *follower) assign(s *ir.Assign) {
	unknown := func() { f.unknown(s.Var) }
	at, shape := 0, []int(nil)
	if s.Var.Type.Dims > 0 {
		if !f.follow[s.Var] {
			return
		}
		shape = f.b.cell(s.Var).shape
	}
	if len(shape) != len(s.Indices) {
		unknown()
		return
	}
	for k, ix := range s.Indices {
		i, ok := f.index(ix, shape[k])
		if !ok {
			unknown()
			return
		}
		at = at*shape[k] + i
	}
	e := s.Value
	var x num
	ok := true
	if s.Op != "" {
		old := f.env[s.Var]
		if old == nil {
			unknown()
			return
		}
		x, ok = f.withOperand(s.Combine, num{i: old[at]})
	} else {
		x, ok = f.number(e)
	}
	if !ok || x.real {
		unknown()
		return
	}
	if len(shape) == 0 {
		f.env[s.Var] = []int64{x.i}
		return
	}
	if f.env[s.Var] != nil {
		f.env[s.Var][at] = x.i
	}
}

// index is a single index from 0.
func (f *follower) index(ix ir.Index, size int) (int, bool) {
	if ix.Kind != ir.IndexSingle {
		return 0, false
	}
	i, ok := f.number(ix.A)
	if !ok || i.real || i.i < 1 || i.i > int64(size) {
		return 0, false
	}
	return int(i.i) - 1, true
}

// num is a known number.
type num struct {
	i    int64
	r    float64
	real bool
}

func (n num) truth() bool { return n.i != 0 }

func (n num) float() float64 {
	if n.real {
		return n.r
	}
	return float64(n.i)
}

func (f *follower) withOperand(e ir.Expr, x num) (num, bool) {
	f.env[nil] = []int64{x.i}
	defer delete(f.env, nil)
	return f.number(e)
}

// number is the value of an expression; ok is false if it is not known, or no
// single number.
func (f *follower) number(e ir.Expr) (num, bool) {
	switch e := e.(type) {
	case *ir.IntLit:
		return num{i: e.Value}, true
	case *ir.RealLit:
		return num{r: e.Value, real: true}, true
	case *ir.Operand:
		return num{i: f.env[nil][0]}, true
	case *ir.Promote:
		x, ok := f.number(e.X)
		return num{r: x.float(), real: true}, ok
	case *ir.VarRef:
		return f.element(e.Var, nil)
	case *ir.IndexExpr:
		if v, ok := e.X.(*ir.VarRef); ok {
			return f.element(v.Var, e.Indices)
		}
	case *ir.And, *ir.Or:
		var x, y ir.Expr
		and := false
		if a, ok := e.(*ir.And); ok {
			x, y, and = a.X, a.Y, true
		} else {
			o := e.(*ir.Or)
			x, y = o.X, o.Y
		}
		l, ok := f.number(x)
		if !ok || l.truth() != and {
			return num{i: lanes.Truth(l.truth())}, ok
		}
		r, ok := f.number(y)
		return num{i: lanes.Truth(r.truth())}, ok
	case *ir.Cond:
		c, ok := f.number(e.Cond)
		if !ok {
			return num{}, false
		}
		if c.truth() {
			return f.number(e.Then)
		}
		return f.number(e.Else)
	case *ir.Call:
		return f.call(e)
	}
	return num{}, false
}

func (f *follower) call(e *ir.Call) (num, bool) {
	fn := static.FuncOf(e)
	if fn.Int == nil && !(len(e.Args) == 2 && e.Type().Kind == types.Int) {
		return num{}, false
	}
	var args []int64
	var reals []float64
	ints := true
	for _, a := range e.Args {
		x, ok := f.number(a)
		if !ok {
			return num{}, false
		}
		ints = ints && !x.real
		args, reals = append(args, x.i), append(reals, x.float())
	}
	if ints && fn.Int != nil {
		x, err := fn.Int(args)
		return num{i: x}, err == nil
	}
	if ints || len(reals) != 2 {
		return num{}, false
	}
	x, y := reals[0], reals[1]
	switch e.Name {
	case "operator<":
		return num{i: lanes.Truth(x < y)}, true
	case "operator<=":
		return num{i: lanes.Truth(x <= y)}, true
	case "operator>":
		return num{i: lanes.Truth(x > y)}, true
	case "operator>=":
		return num{i: lanes.Truth(x >= y)}, true
	case "operator==":
		return num{i: lanes.Truth(x == y)}, true
	case "operator!=":
		return num{i: lanes.Truth(x != y)}, true
	}
	return num{}, false
}

// element is a variable, or an element of one, in the present lane.
func (f *follower) element(v *ir.Var, indices []ir.Index) (num, bool) {
	if f.inside[v] {
		x := f.env[v]
		if x == nil || len(x) == 1 && len(indices) == 0 {
			if x == nil {
				return num{}, false
			}
			return num{i: x[0]}, true
		}
		shape := f.b.cell(v).shape
		at := 0
		if len(shape) != len(indices) {
			return num{}, false
		}
		for k, ix := range indices {
			i, ok := f.index(ix, shape[k])
			if !ok {
				return num{}, false
			}
			at = at*shape[k] + i
		}
		return num{i: x[at]}, true
	}
	c := f.b.cell(v)
	if len(indices) != len(c.shape) {
		return num{}, false
	}
	if o := f.b.overlayOf(c); o != nil && !o.whole {
		return num{}, false
	}
	x, ok := f.loaded[v]
	if !ok {
		x = f.b.load(c, lanes.WholeOf(c.shape), c.typ)
		f.loaded[v] = x
	}
	at := 0
	for k, ix := range indices {
		i, ok := f.index(ix, c.shape[k])
		if !ok {
			return num{}, false
		}
		at = at*c.shape[k] + i
	}
	if x.axis != nil {
		if !x.axis.Within(f.ax) {
			return num{}, false
		}
		up, ok := f.ups[x.axis]
		if !ok {
			up = plan.UpTo(f.ax, x.axis)
			f.ups[x.axis] = up
		}
		l := f.lane
		if up != nil {
			l = int(up[l])
		}
		at += l * c.size
	}
	if x.ints != nil {
		return num{i: x.ints[at]}, true
	}
	data, ok := x.lvl.g.Value(x.ref)
	if !ok {
		return num{}, false
	}
	return num{r: data[at], real: true}, true
}

// privatise gives the present iteration its own tracked variables.
func (b *binder) privatise(lp *loop) {
	for _, t := range lp.tracked {
		c := b.newCell(nil, t.v.Name, t.v.Type, t.start.shape)
		c.setWhole(t.start)
		b.cells[t.v.ID] = c
	}
}

// settle stores the tracked variables after the loop.
func (b *binder) settle(lp *loop) {
	for _, t := range lp.tracked {
		c := b.cell(t.v)
		b.store(c, lanes.WholeOf(c.shape), t.final)
	}
}
