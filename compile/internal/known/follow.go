package known

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

const (
	// Of an array of integers, the content before each iteration is recorded. Its size is at most
	// maxTracked, or maxRecorded over all iterations, if that is more: 2 MB. A queue of 500 days
	// whose entries data decide then takes 0.4 µs for a gradient instead of 106.
	maxTracked  = 16
	maxRecorded = 1 << 18

	// maxFollowed bounds the statements executed to follow one loop or one call.
	maxFollowed = 20_000_000

	// followedCost is the cost of following a statement, 165 ns, in units of an interpreted
	// statement of 5 to 50 ns. A loop of a million iterations with a counter must remain possible
	// in a branch that may be skipped: interpreted, it takes seconds at each point.
	followedCost = 3
)

// Tracked is an integer that a loop passes from iteration to iteration, as in `pos += n[i]`. If
// data decide it, it is computed for all iterations before the loop is evaluated. In the evaluation
// each iteration then has its own variable, which begins with the known value.
type Tracked struct {
	Var   *ir.Var
	Start lanes.Value // before each iteration, in lanes of the loop
	Final lanes.Value // after the loop, in the lanes around it
}

// Tracks reports whether a variable is in a list of tracked ones.
func Tracks(list []Tracked, v *ir.Var) bool {
	return slices.ContainsFunc(list, func(t Tracked) bool { return t.Var == v })
}

// Loop is a loop whose integers are followed.
type Loop struct {
	Body   ir.Stmt
	Var    *ir.Var
	Axis   *plan.Axis   // its iterations
	Counts lanes.Value  // the loop variable in each; no numbers: not known
	Active *lanes.Value // 1 in iterations that run; nil: all run
}

// follower runs the statements of a loop or of a function on integers only.
type follower struct {
	ev *Evaluator
	Binding
	scope Scope // scope of outside variables; nil: the statements are those of a function

	ax      *plan.Axis
	lane    int
	inside  map[*ir.Var]bool    // variables that the body declares or assigns, and loop variables
	env     map[*ir.Var][]int64 // their known values in the current lane
	outside map[*ir.Var]*input  // outside variables; nil for those that are not known
	varying []*input
	steps   int
	lost    *ir.Var // a tracked variable that was assigned something unknown
	follow  map[*ir.Var]bool
	shapes  map[*ir.Var][]int // shapes of a function's variables, and of tracked ones

	returned ir.Expr // the returned expression, after a function has ended
	calls    int     // depth of calls
}

// Follow finds the known values of the integers that a loop passes from iteration to iteration.
func (v *Evaluator) Follow(lp Loop, s Scope, b Binding) (list []Tracked) {
	list, _ = v.follow(lp, s, b)
	return list
}

// Runs returns how many of the iterations of a loop with a jump run, in the lanes around it; ok is
// false if data do not decide that.
func (v *Evaluator) Runs(lp Loop, s Scope, b Binding) (runs lanes.Value, ok bool) {
	_, runs = v.follow(lp, s, b)
	return runs, runs.Ints != nil
}

// follow follows integers, and the jumps that end the loop.
func (v *Evaluator) follow(lp Loop, s Scope, b Binding) (list []Tracked, runs lanes.Value) {
	vars := slices.DeleteFunc(static.CarriedInts(lp.Body), func(v *ir.Var) bool {
		shape, ok := s.Shape(v)
		return !ok || lanes.Value{Shape: shape}.Size() > max(maxTracked, maxRecorded/max(1, lp.Axis.N))
	})
	for len(vars) > 0 || static.Leaves(lp.Body) {
		f := follower{ev: v, Binding: b, scope: s, ax: lp.Axis, outside: map[*ir.Var]*input{}, follow: map[*ir.Var]bool{}, shapes: map[*ir.Var][]int{}}
		for _, v := range vars {
			f.follow[v] = true
			f.shapes[v], _ = s.Shape(v)
		}
		if list, runs = f.run(vars, lp); list != nil || f.lost == nil {
			break
		}
		vars = slices.DeleteFunc(vars, func(v *ir.Var) bool { return v == f.lost })
	}
	return list, runs
}

// run follows the variables through all iterations. It returns nil if that is not possible. runs is
// the number of iterations that run in each lane around the loop.
func (f *follower) run(vars []*ir.Var, lp Loop) (list []Tracked, runs lanes.Value) {
	inside := static.VariablesOf(lp.Body)
	f.inside = map[*ir.Var]bool{lp.Var: true}
	for _, v := range inside.Assigned {
		f.inside[v] = true
	}
	maps.Copy(f.inside, inside.Declared)
	maps.Copy(f.inside, inside.OfLoops)
	outer := f.ax.Parent
	list = make([]Tracked, len(vars))
	for k, v := range vars {
		whole, ok := f.scope.Value(v)
		if !ok || whole.Ints == nil {
			f.lost = v
			return nil, runs
		}
		final := whole.Wide(outer)
		final.Ints = slices.Clone(final.Ints)
		list[k] = Tracked{Var: v, Start: lanes.Value{Shape: f.shapes[v], Axis: f.ax, Ints: []int64{}}, Final: final}
	}
	up := plan.UpTo(f.ax, lp.Counts.Axis)
	runs = lanes.Value{Axis: outer, Ints: make([]int64, plan.Lanes(outer))}
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
		if ended || lp.Active != nil && lp.Active.Ints[l] == 0 {
			continue
		}
		runs.Ints[a]++
		if lp.Counts.Ints != nil && lp.Var.Type.Equal(types.IntType) {
			f.set(lp.Var, nil, []int64{lp.Counts.At(up, l, 0)})
		}
		sig, ok := f.exec(lp.Body)
		if !ok || f.lost != nil || !sig.Certain() {
			return nil, lanes.Value{}
		}
		ended = sig&(static.Breaks|static.Returns) != 0
		for k := range list {
			n := list[k].Final.Size()
			copy(list[k].Final.Ints[a*n:(a+1)*n], f.env[list[k].Var])
		}
	}
	return list, runs
}

// enter begins an iteration.
func (f *follower) enter(lane int) {
	f.lane, f.env = lane, map[*ir.Var][]int64{}
	for _, u := range f.varying {
		u.load(f.ev.numbers, lane)
	}
}

// set sets the value of a variable of the loop.
func (f *follower) set(v *ir.Var, shape []int, ints []int64) {
	f.env[v] = ints
	f.ev.numbers.Set(v, interp.Number{Shape: shape, Ints: ints})
}

// forget marks all variables that a statement assigns as unknown.
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

// exec runs a statement. ok is false if the next statement to run is not known.
func (f *follower) exec(s ir.Stmt) (sig static.Signal, ok bool) {
	if f.steps++; f.steps > maxFollowed {
		return static.GoesOn, false
	}
	const every = 4096
	if f.steps%every == 0 {
		f.Spend(every * followedCost)
	}
	switch s := s.(type) {
	case *ir.Declare:
		f.declare(s)
	case *ir.Unpack:
		f.unpack(s)
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
			return f.either(s, s.Then, s.Else)
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
			return f.either(s, s.Body)
		}
		for i := from; i <= to; i++ {
			f.set(s.Var, nil, []int64{i})
			if sig, ok := f.exec(s.Body); !ok || sig == static.Returns {
				return sig, ok
			} else if sig == static.Breaks {
				break
			}
		}
	case *ir.ForEach:
		if f.matters(s.Body) {
			return f.either(s, s.Body)
		}
	case *ir.While:
		if f.matters(s.Body) {
			return f.while(s)
		}
	case *ir.Break:
		return static.Breaks, true
	case *ir.Continue:
		return static.Continues, true
	case *ir.Return:
		f.returned = s.Value
		return static.Returns, true
	}
	return static.GoesOn, true
}

func (f *follower) while(s *ir.While) (static.Signal, bool) {
	for {
		c, ok := f.number(s.Cond)
		switch {
		case !ok:
			return f.either(s, s.Body)
		case c == 0:
			return static.GoesOn, true
		}
		if sig, ok := f.exec(s.Body); !ok || sig == static.Returns {
			return sig, ok
		} else if sig == static.Breaks {
			return static.GoesOn, true
		}
	}
}

// either handles a statement if it is not known which of its parts run: the variables that it
// assigns become unknown. In a function whose result sizes are computed, it takes the first part
// that returns, since all returned values have the same size.
func (f *follower) either(s ir.Stmt, parts ...ir.Stmt) (static.Signal, bool) {
	f.forget(s)
	if !static.MayJump(s) {
		return static.GoesOn, true
	}
	if f.scope != nil {
		return static.GoesOn, false
	}
	for _, t := range parts {
		if t == nil || !static.Has(t, static.IsReturn) {
			continue
		}
		if sig, ok := f.exec(t); !ok || sig == static.Returns {
			return sig, ok
		}
		f.forget(s)
	}
	return static.GoesOn, true
}

func (f *follower) declare(s *ir.Declare) {
	v := s.Var
	if f.scope == nil {
		f.declareSized(v)
	}
	if v.Type.Kind != types.Int || v.Type.Dims > 0 {
		return
	}
	delete(f.env, v)
	if s.Init != nil {
		if x, ok := f.number(s.Init); ok {
			f.set(v, nil, []int64{x})
		}
	}
}

func (f *follower) unpack(s *ir.Unpack) {
	for _, v := range s.Vars {
		delete(f.env, v)
		delete(f.shapes, v)
	}
	if len(s.Vars) == 1 && s.Vars[0].Type.Equal(types.IntType) {
		if x, ok := f.number(s.Value); ok {
			f.set(s.Vars[0], nil, []int64{x})
		}
	}
	if f.scope == nil {
		if shapes, ok := (&sizer{ev: f.ev, in: f, Binding: f.Binding, calls: f.calls}).of(s.Value); ok {
			for k, v := range s.Vars {
				f.shapes[v] = shapes[k]
			}
		}
	}
}

func (f *follower) assign(s *ir.Assign) {
	at, shape := 0, []int(nil)
	if s.Var.Type.Dims > 0 {
		if !f.follow[s.Var] {
			delete(f.env, s.Var)
			return
		}
		shape = f.shapes[s.Var]
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

// number returns the value of a scalar int expression; ok is false if it is not known. Operands of
// && , || and ?: that are not evaluated need not be known.
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
	if !x.pure || x.long || !x.IsInt() || !f.ready(x) {
		return 0, false
	}
	i, err := f.ev.numbers.Int(x.Expression)
	if x.call {
		f.Spend(0)
	}
	if err != nil && !x.lasts(err) {
		mistake(f, err) // ends the binding if a budget is exhausted
	}
	return i, err == nil
}

// ready sets the variables of an expression to their values. It returns false if one is not known.
func (f *follower) ready(x *expression) bool {
	for _, v := range x.only {
		shape, ok := f.shape(v)
		if !ok {
			return false
		}
		f.ev.numbers.Set(v, interp.Number{Shape: shape})
	}
	return !slices.ContainsFunc(x.vars, func(v *ir.Var) bool {
		if f.isInside(v) {
			return f.env[v] == nil
		}
		return !f.knows(v)
	})
}

func (f *follower) isInside(v *ir.Var) bool { return f.scope == nil || f.inside[v] }

// shape returns the shape of a variable. A loop's own variables have none here.
func (f *follower) shape(v *ir.Var) (shape []int, ok bool) {
	if f.scope == nil {
		shape, ok = f.shapes[v]
		return shape, ok
	}
	if f.inside[v] {
		return nil, false
	}
	return f.scope.Shape(v)
}

// knows reports whether an outside variable has a known value.
func (f *follower) knows(v *ir.Var) bool {
	u, ok := f.outside[v]
	if ok {
		return u != nil
	}
	f.outside[v] = nil
	val, ok := f.scope.Value(v)
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
