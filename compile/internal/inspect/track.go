package inspect

import (
	"maps"
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// Tracked is an integer that a loop hands from iteration to iteration, as in `pos += n[i]`. If data
// decide it, it is followed through all iterations before the loop is evaluated; in the evaluation
// each iteration then has its own variable, which begins with what is known.
type Tracked struct {
	Var   *ir.Var
	Start lanes.Value // before each iteration, in lanes of the loop
	Final lanes.Value // after the loop, in the lanes around it
}

// follower runs a loop's statements on integers alone.
type follower struct {
	ev       *Evaluator
	out      Outside
	variable func(v *ir.Var) *Variable
	value    func(x *Variable) (lanes.Value, bool)

	ax      *plan.Axis
	lane    int
	inside  map[*ir.Var]bool    // variables that the body declares or assigns, and loop variables
	env     map[*ir.Var][]int64 // of these, what is known in the present lane
	outside map[*ir.Var]*input  // variables of outside; nil: of those that are not known
	varying []*input
	steps   int
	lost    *ir.Var // a tracked variable that was assigned something unknown
	follow  map[*ir.Var]bool
}

// Track finds the known values of the integers that the loop in the lanes of ax carries; number is
// that of the iteration, and active tells, unless it is nil, which iterations there are.
func Track(ev *Evaluator, out Outside, ax *plan.Axis, lp *Loop, number lanes.Value, active *lanes.Value) []Tracked {
	return track(follower{ev: ev, out: out, ax: ax, variable: out.Variable, value: func(x *Variable) (lanes.Value, bool) { return x.Value() }}, lp, number, active)
}

func track(f follower, lp *Loop, number lanes.Value, active *lanes.Value) (list []Tracked) {
	vars := slices.DeleteFunc(static.CarriedInts(lp.Body), func(v *ir.Var) bool {
		x := f.variable(v)
		return x.Part || x.Size() > maxTracked
	})
	for len(vars) > 0 {
		run := f
		run.outside, run.follow = map[*ir.Var]*input{}, map[*ir.Var]bool{}
		for _, v := range vars {
			run.follow[v] = true
		}
		if list = run.run(vars, lp, number, active); list != nil || run.lost == nil {
			break
		}
		vars = slices.DeleteFunc(vars, func(v *ir.Var) bool { return v == run.lost })
	}
	return list
}

// run follows the variables through all iterations; nil if that cannot be done.
func (f *follower) run(vars []*ir.Var, lp *Loop, number lanes.Value, active *lanes.Value) []Tracked {
	inside := static.VariablesOf(lp.Body)
	f.inside = map[*ir.Var]bool{lp.Var: true}
	for _, v := range inside.Assigned {
		f.inside[v] = true
	}
	maps.Copy(f.inside, inside.Declared)
	maps.Copy(f.inside, inside.OfLoops)
	outer := f.ax.Parent
	list := make([]Tracked, len(vars))
	for k, v := range vars {
		x := f.variable(v)
		whole, ok := f.value(x)
		if !ok || whole.Ints == nil {
			f.lost = v
			return nil
		}
		final := whole.Wide(outer)
		final.Ints = slices.Clone(final.Ints)
		list[k] = Tracked{Var: v, Start: lanes.Value{Shape: x.Shape, Axis: f.ax, Ints: []int64{}}, Final: final}
	}
	counts, _ := lp.element(number)
	up := plan.UpTo(f.ax, counts.Axis)
	ended := false
	for l := range f.ax.N {
		f.enter(l)
		a := 0
		if outer != nil {
			a = int(f.ax.Up[l])
		}
		if l == 0 || outer != nil && f.ax.Up[l] != f.ax.Up[l-1] {
			ended = false
		}
		for k := range list {
			t := &list[k]
			n := t.Final.Size()
			now := t.Final.Ints[a*n : (a+1)*n]
			t.Start.Ints = append(t.Start.Ints, now...)
			f.set(t.Var, t.Final.Shape, slices.Clone(now))
		}
		if ended || active != nil && active.Ints[l] == 0 {
			continue
		}
		if counts.Ints != nil && lp.Var.Type.Equal(types.IntType) {
			f.set(lp.Var, nil, []int64{counts.At(up, l, 0)})
		}
		sig, ok := f.exec(lp.Body)
		if !ok || f.lost != nil || !sig.Certain() {
			return nil
		}
		ended = sig&(static.Breaks|static.Returns) != 0
		for k := range list {
			n := list[k].Final.Size()
			copy(list[k].Final.Ints[a*n:(a+1)*n], f.env[list[k].Var])
		}
	}
	return list
}

// enter begins an iteration.
func (f *follower) enter(lane int) {
	f.lane, f.env = lane, map[*ir.Var][]int64{}
	for _, u := range f.varying {
		u.load(f.ev.numbers, lane)
	}
}

// set gives a variable of the loop its value.
func (f *follower) set(v *ir.Var, shape []int, ints []int64) {
	f.env[v] = ints
	f.ev.numbers.Set(v, interp.Number{Shape: shape, Ints: ints})
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

func (f *follower) exec(s ir.Stmt) (static.Signal, bool) {
	const most = 20_000_000
	if f.steps++; f.steps > most {
		return static.GoesOn, false
	}
	if f.steps%4096 == 0 {
		f.out.Ask()
	}
	switch s := s.(type) {
	case *ir.Declare:
		if s.Var.Type.Kind != types.Int || s.Var.Type.Dims > 0 {
			return static.GoesOn, true
		}
		delete(f.env, s.Var)
		if s.Init != nil {
			if x, ok := f.number(s.Init); ok {
				f.set(s.Var, nil, []int64{x})
			}
		}
	case *ir.Unpack:
		for _, v := range s.Vars {
			delete(f.env, v)
		}
		if len(s.Vars) == 1 && s.Vars[0].Type.Equal(types.IntType) {
			if x, ok := f.number(s.Value); ok {
				f.set(s.Vars[0], nil, []int64{x})
			}
		}
	case *ir.Assign:
		if s.Var.Type.Kind == types.Int {
			f.assign(s)
		}
	case *ir.Block:
		for _, t := range s.Stmts {
			if sig, ok := f.exec(t); !ok || sig != static.GoesOn {
				return sig, ok
			}
		}
	case *ir.If:
		c, ok := f.number(s.Cond)
		switch {
		case !ok:
			f.forget(s)
			return static.GoesOn, !static.MayJump(s)
		case c != 0:
			return f.exec(s.Then)
		case s.Else != nil:
			return f.exec(s.Else)
		}
	case *ir.For:
		if !f.matters(s.Body) {
			return static.GoesOn, true
		}
		from, ok1 := f.number(s.From)
		to, ok2 := f.number(s.To)
		if !ok1 || !ok2 {
			f.forget(s)
			return static.GoesOn, !static.MayJump(s)
		}
		for i := from; i <= to; i++ {
			f.set(s.Var, nil, []int64{i})
			sig, ok := f.exec(s.Body)
			if !ok || sig == static.Returns {
				return sig, ok
			}
			if sig == static.Breaks {
				break
			}
		}
	case *ir.ForEach:
		if f.matters(s.Body) {
			f.forget(s)
			return static.GoesOn, !static.MayJump(s)
		}
	case *ir.While:
		if !f.matters(s.Body) {
			return static.GoesOn, true
		}
		for {
			c, ok := f.number(s.Cond)
			if !ok {
				f.forget(s)
				return static.GoesOn, !static.MayJump(s)
			}
			if c == 0 {
				return static.GoesOn, true
			}
			sig, ok := f.exec(s.Body)
			if !ok || sig == static.Returns {
				return sig, ok
			}
			if sig == static.Breaks {
				return static.GoesOn, true
			}
		}
	case *ir.Break:
		return static.Breaks, true
	case *ir.Continue:
		return static.Continues, true
	case *ir.Return:
		return static.Returns, true
	}
	return static.GoesOn, true
}

func (f *follower) assign(s *ir.Assign) {
	at, shape := 0, []int(nil)
	if s.Var.Type.Dims > 0 {
		if !f.follow[s.Var] {
			return
		}
		shape = f.variable(s.Var).Shape
	}
	old := f.env[s.Var]
	if len(shape) != len(s.Indices) || s.Op != "" && old == nil {
		f.unknown(s.Var)
		return
	}
	for k, ix := range s.Indices {
		i, ok := int64(0), ix.Kind == ir.IndexSingle
		if ok {
			i, ok = f.number(ix.A)
		}
		if !ok || i < 1 || i > int64(shape[k]) {
			f.unknown(s.Var)
			return
		}
		at = at*shape[k] + int(i) - 1
	}
	e := s.Value
	if s.Op != "" {
		f.ev.numbers.SetOperand(interp.Number{Ints: old[at : at+1]})
		e = s.Combine
	}
	x, ok := f.number(e)
	switch {
	case !ok:
		f.unknown(s.Var)
	case len(shape) == 0:
		f.set(s.Var, nil, []int64{x})
	case old != nil:
		old[at] = x
	}
}

// number is the value of an expression that is one int; ok is false if it is not known. Of && , ||
// and ?: what is not asked for need not be known.
func (f *follower) number(e ir.Expr) (i int64, ok bool) {
	switch e := e.(type) {
	case *ir.And:
		if x, ok := f.number(e.X); !ok || x == 0 {
			return 0, ok
		}
		y, ok := f.number(e.Y)
		return lanes.Truth(y != 0), ok
	case *ir.Or:
		if x, ok := f.number(e.X); !ok || x != 0 {
			return 1, ok
		}
		y, ok := f.number(e.Y)
		return lanes.Truth(y != 0), ok
	case *ir.Cond:
		c, ok := f.number(e.Cond)
		switch {
		case !ok:
			return 0, false
		case c != 0:
			return f.number(e.Then)
		}
		return f.number(e.Else)
	}
	x := f.ev.prepare(e)
	if !x.pure || x.long || !x.IsInt() {
		return 0, false
	}
	for _, v := range x.only {
		u := f.variable(v)
		if f.inside[v] || u == nil {
			return 0, false
		}
		f.ev.numbers.Set(v, interp.Number{Shape: u.Shape})
	}
	for _, v := range x.vars {
		if f.inside[v] && f.env[v] == nil || !f.inside[v] && !f.known(v) {
			return 0, false
		}
	}
	i, err := f.ev.numbers.Int(x.Expression)
	if err != nil && !x.lasts(err) {
		wrong(f.out, err) // ends the binding where a budget is exhausted
	}
	return i, err == nil
}

// known reports whether a variable of outside has a known value.
func (f *follower) known(v *ir.Var) bool {
	u, ok := f.outside[v]
	if ok {
		return u != nil
	}
	f.outside[v] = nil
	x := f.variable(v)
	if x == nil || x.Part {
		return false
	}
	val, ok := f.value(x)
	if !ok || val.Axis != nil && !val.Axis.Within(f.ax) {
		return false
	}
	u = &input{v: v, Value: val, up: plan.UpTo(f.ax, val.Axis), size: val.Size()}
	f.outside[v] = u
	if u.Axis != nil {
		f.varying = append(f.varying, u)
	}
	u.load(f.ev.numbers, f.lane)
	return true
}
