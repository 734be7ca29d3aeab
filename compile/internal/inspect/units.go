package inspect

import (
	"maps"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/known"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// This file: the inspector, which finds the units of a nest and the iterations in which they run.

// Inspect finds the units of a loop.
func Inspect(ev *known.Evaluator, out Outside, r Request) *Found {
	f := findings{unknown: map[*ir.Var]bool{}, compound: map[ir.Stmt]bool{}, groups: r.Groups, written: map[*ir.For]*ir.If{}}
	if r.Way.Joined && r.Axis.N > SmallUnrolled {
		for _, s := range r.Across {
			if s, ok := s.(*ir.For); ok && !static.MayJump(s.Body) {
				f.written[s] = iterationOf(s)
			}
		}
	}
	for {
		at := &sight{ev: ev, out: out, known: f}
		found := &Found{way: r.Way, iterations: r.Axis.N}
		in := &inspection{at: at, rec: &recorder{at: at, Found: found}, skipped: r.Skipped}
		if r.Way.Steps {
			in.inOrder = r.Steps
		}
		in.run(r)
		if f = at.known; found.Why != "" {
			found.Last = 0
		}
		if found.Why != "" || !in.rec.again {
			return found
		}
	}
}

// run inspects the loop once.
func (in *inspection) run(r Request) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *mistake:
			in.rec.Why, in.rec.Mistake = p.d.Summary, &p.d
		case tooLong:
			in.rec.again = true
		case *lanes.Fault:
			if in.rec.again = p.Split != nil && in.at.known.groups.Refine(r.Axis, p.Split); !in.rec.again {
				in.rec.Why = p.Reason
			}
		default:
			panic(p)
		}
	}()
	in.look(r)
}

// look finds the units of the loop.
func (in *inspection) look(r Request) {
	lp := r.Loop
	root := &plan.Loop{Axis: r.Axis}
	in.rec.nest = &Nest{Plan: plan.Nest{Root: root}, Loops: map[*plan.Loop]ir.Stmt{root: lp.Body}}
	in.rec.Nest = in.rec.nest
	in.rec.used = map[*Variable]*plan.Variable{}
	in.rec.loop = root
	in.at.declared, in.at.assigned = map[*ir.Var]bool{}, map[*ir.Var]bool{}
	in.owns(lp.Body)
	in.rec.nest.Tracked = in.followed(slices.Clone(r.Tracked))
	for _, v := range static.CarriedInts(lp.Body) {
		if !known.Tracks(in.rec.nest.Tracked, v) {
			in.at.known.unknown[v] = true
		}
	}
	in.at.axis = r.Axis
	in.at.scope = make(Scope, in.at.ev.Variables)
	in.at.privatise(in.rec.nest.Tracked)
	in.at.bindVar(lp, r.Number)
	sig := in.groups(lp)
	if sig&(static.Breaks|static.Returns) == 0 {
		return
	}
	if r.Axis.Parent != nil || sig&static.Returns != 0 {
		in.rec.Why = Jumps
		return
	}
	for !sig.Certain() && in.rec.Last < r.Axis.N && static.Signal(in.at.code.At(nil, in.rec.Last, 0))&static.Breaks == 0 {
		in.rec.Last++
	}
	in.rec.Last++
}

// owns records the variables that a statement of the nest declares and assigns. A while loop that
// counts has variables only in its second form, where they are not those of the body.
func (in *inspection) owns(s ir.Stmt) {
	vars := static.VariablesOf(s)
	maps.Copy(in.at.declared, vars.Declared)
	for _, v := range vars.Assigned {
		in.at.assigned[v] = true
	}
}

// groups inspects the body once for each group of iterations.
func (in *inspection) groups(lp *Loop) static.Signal {
	gr := in.at.known.groups
	if gr.N == 0 {
		return in.stmt(lp.Body)
	}
	for k := range gr.N {
		in.at.choose(gr.Condition(in.at.axis, k), func() static.Signal {
			if sig := in.stmt(lp.Body); sig&^(static.GoesOn|static.Continues) != 0 {
				in.rec.refuse(Jumps)
			}
			return static.GoesOn
		}, goesOn)
	}
	return static.GoesOn
}

// stmt inspects a statement.
func (in *inspection) stmt(s ir.Stmt) static.Signal {
	if s == nil || in.rec.Why != "" {
		return static.GoesOn
	}
	switch s := s.(type) {
	case *ir.Block:
		return in.stmts(s.Stmts)
	case *ir.If:
		return in.stmts([]ir.Stmt{s})
	case *ir.For:
		in.forLoop(s)
	case *ir.ForEach:
		in.forEach(s)
	case *ir.While:
		if s.Counted != nil && !in.skipped {
			in.owns(s.Counted)
			return in.stmt(s.Counted)
		}
		whileLoop{in, s}.from(0)
	case *ir.Declare:
		in.declare(s)
	case *ir.Unpack:
		in.unpack(s)
	case *ir.Assign:
		in.assign(s)
	case *ir.Break:
		return static.Breaks
	case *ir.Continue:
		return static.Continues
	case *ir.Return:
		in.rec.refuse(Jumps)
		return static.Returns
	case *ir.Print:
		in.rec.refuse(PrintsOrder)
	default:
		in.rec.leaf(s, nil)
	}
	return static.GoesOn
}

// stmts inspects statements in order.
func (in *inspection) stmts(list []ir.Stmt) static.Signal {
	return static.Sequence(list, func(s ir.Stmt, rest []ir.Stmt) (sig static.Signal, done bool) {
		switch s := s.(type) {
		case *ir.Block:
			if static.MayJump(s) {
				return in.stmts(slices.Concat(s.Stmts, rest)), true
			}
		case *ir.If:
			sig, done := in.conditional(s, rest)
			return sig, done || in.rec.Why != ""
		}
		return in.stmt(s), false
	}, in.at.onlyIf)
}

// conditional inspects a conditional. done reports that it also inspected rest, the statements
// after the conditional.
func (in *inspection) conditional(s *ir.If, rest []ir.Stmt) (sig static.Signal, done bool) {
	whole := in.at.known.compound[s]
	if !whole && in.binds(s) {
		if whole, in.rec.joins = in.rec.way.Joined, true; whole && in.repeats(s) {
			in.rec.refuse(LongInSteps)
			return static.GoesOn, true
		}
		if whole && divides(in.at, s) {
			side{in, s, true}.stmt(s.Then)
			side{in, s, false}.stmt(s.Else)
			return static.GoesOn, false
		}
	}
	if whole || !in.at.isKnown(s.Cond) {
		if !static.MayJump(s) {
			in.rec.leaf(s, nil)
			return static.GoesOn, false
		}
		switch {
		case static.Leaves(s) || slices.ContainsFunc(rest, static.Leaves):
			in.jumpsOut()
		case len(in.decided) > 0: // it also skips the statements after the outer conditional
			in.rec.compound(in.decided[0])
		}
		in.rec.leaf(s, rest)
		return static.GoesOn, true
	}
	in.rec.uses(s.Cond)
	cond := in.at.eval(s.Cond)
	if static.MayJump(s) {
		in.decided = append(in.decided, s)
		defer func() { in.decided = in.decided[:len(in.decided)-1] }()
	}
	then, els, done := static.Sides(s, rest)
	return in.at.choose(cond, func() static.Signal { return in.stmts(then) }, func() static.Signal { return in.stmts(els) }), done
}

// trips returns the bounds of a loop and its greatest number of iterations. The number is above
// MediumLoop if data do not decide it.
func (in *inspection) trips(s *ir.For) (from, to lanes.Value, n int64) {
	if !in.at.isKnown(s.From) || !in.at.isKnown(s.To) {
		return from, to, MediumLoop + 1
	}
	from, to = in.at.eval(s.From), in.at.eval(s.To)
	if ax := lanes.Innermost(from.Axis, to.Axis); ax != nil {
		return from, to, lanes.MaxTrips(from, to, ax)
	}
	return from, to, max(0, to.Ints[0]-from.Ints[0]+1)
}

// repeats reports whether a statement has a loop of many iterations whose number differs between
// lanes. In the steps of a recurrence, each step would have as many iterations as the longest loop.
func (in *inspection) repeats(s ir.Stmt) bool {
	for s := range ir.Stmts(s) {
		f, ok := s.(*ir.For)
		if !ok || !in.at.isKnown(f.From) || !in.at.isKnown(f.To) {
			continue
		}
		from, to := in.at.eval(f.From), in.at.eval(f.To)
		if ax := lanes.Innermost(from.Axis, to.Axis); ax != nil && lanes.MaxTrips(from, to, ax) > MediumLoop {
			return true
		}
	}
	return false
}

// jumpsOut records that parameters may end the innermost loop.
func (in *inspection) jumpsOut() {
	switch {
	case in.innermost == nil:
		in.rec.refuse(Jumps)
	case !in.at.known.compound[in.innermost]:
		in.rec.compound(in.innermost)
	}
}

// within inspects iterations of an inner loop. Their jumps end there.
func (in *inspection) within(s ir.Stmt, iterations func()) {
	innermost, decided := in.innermost, in.decided
	defer func() { in.innermost, in.decided = innermost, decided }() // also if a fault ends it
	in.innermost, in.decided = s, nil
	iterations()
}

// binds reports whether a conditional assigns a variable that units assign.
func (in *inspection) binds(s ir.Stmt) bool {
	return slices.ContainsFunc(static.VariablesOf(s).Assigned, in.at.isWatched)
}

// ---- loops ----

func (in *inspection) forLoop(s *ir.For) {
	if in.at.known.compound[s] || static.Has(s.Body, static.IsReturn) || !in.at.isKnown(s.From) || !in.at.isKnown(s.To) {
		in.rec.leaf(s, nil)
		return
	}
	from, to := in.at.eval(s.From), in.at.eval(s.To)
	if static.Leaves(s.Body) {
		last, ok := in.ends(s, from, to)
		if !ok {
			in.rec.leaf(s, nil)
			return
		}
		if most := lanes.MaxTrips(from, last, last.Axis); from.Axis == nil && to.Axis == nil && most <= int64(in.rec.way.Unroll) {
			to = lanes.Int(from.Ints[0] + most - 1) // jumps end it earlier in some lanes
		} else {
			to = last
		}
	}
	if from.Axis != nil || to.Axis != nil {
		if in.writtenOut(s, from, to) {
			return
		}
		if ax, i := lanes.Ragged(from, to, in.at.axis, in.at.out.Reserve); ax.N > 0 {
			in.inner(s, ax, &Loop{Body: s.Body, Var: s.Var}, i)
		}
		return
	}
	lo := from.Ints[0]
	n := max(0, to.Ints[0]-lo+1)
	in.uniform(s, n, &Loop{Body: s.Body, Var: s.Var, Add: lo - 1})
}

// ends returns the last value of the variable of a loop with a jump, in the lanes around it. ok is
// false if data do not decide the jump, or if there are too many iterations to look for it.
func (in *inspection) ends(s *ir.For, from, to lanes.Value) (last lanes.Value, ok bool) {
	ax := lanes.Innermost(in.at.axis, lanes.Innermost(from.Axis, to.Axis))
	if lanes.MaxTrips(from, to, ax) > int64(maxSearched/max(1, ax.N)) {
		return last, false
	}
	inner, i := lanes.Ragged(from, to, ax, in.at.out.Reserve)
	lp := &Loop{Body: s.Body, Var: s.Var}
	runs, ok := in.at.ev.Runs(lp.Followed(inner, i, nil), around{in.at}, in.at.out)
	if !ok {
		return last, false
	}
	up := plan.UpTo(ax, from.Axis)
	for l := range runs.Ints {
		runs.Ints[l] += from.At(up, l, 0) - 1
	}
	return runs, true
}

// writtenOut unrolls a loop whose number of iterations differs between lanes: each iteration
// becomes a conditional. It returns false if findings.written does not ask for that, or if there
// would be too many iterations.
func (in *inspection) writtenOut(s *ir.For, from, to lanes.Value) bool {
	it := in.at.known.written[s]
	if it == nil {
		return false
	}
	most := lanes.MaxTrips(from, to, lanes.Innermost(from.Axis, to.Axis))
	if most > MediumLoop {
		return false
	}
	lp := &Loop{Body: it, Var: s.Var}
	in.unrolled(s, lp, most, from.Plus)
	return true
}

// unrolled inspects the iterations of a loop one by one. number returns the number of the k-th.
func (in *inspection) unrolled(s ir.Stmt, lp *Loop, n int64, number func(k int64) lanes.Value) {
	in.within(s, func() { unrolling{in, lp, n, number}.from(0) })
	if len(in.rec.nest.Statements) > MaxUnits {
		in.rec.refuse("too many statements")
	}
}

// unrolling is a loop whose iterations are inspected one by one.
type unrolling struct {
	in     *inspection
	lp     *Loop
	n      int64
	number func(k int64) lanes.Value
}

// from inspects the iterations from the k-th on. In lanes in which one of them leaves the loop, the
// later ones do not run.
func (u unrolling) from(k int64) static.Signal {
	in := u.in
	for ; k < u.n && !in.at.known.compound[in.innermost]; k++ {
		in.at.bindVar(u.lp, u.number(k))
		if sig := in.stmt(u.lp.Body); sig&static.Breaks != 0 {
			return in.at.onlyIf(sig, static.GoesOn|static.Continues, func() static.Signal { return u.from(k + 1) })
		}
	}
	return static.GoesOn
}

// iterationOf returns one iteration of a loop as a conditional, which does nothing beyond the
// loop's end.
func iterationOf(s *ir.For) *ir.If {
	i := &ir.VarRef{Typed: ir.Typed{At: s.Span(), Ty: types.IntType}, Var: s.Var}
	ints := []types.Type{types.IntType, types.IntType}
	overload, _, fail := types.ResolveLevels(stdlib.Language().Lookup("operator<="), ints, make([]bool, len(ints)))
	if fail != nil {
		panic(&lanes.Fault{Reason: "no comparison of integers"})
	}
	more := &ir.Call{Typed: i.Typed, Name: "operator<=", Overload: overload, Args: []ir.Expr{i, s.To}}
	return &ir.If{Pos: s.Pos, Cond: more, Then: s.Body}
}

func (in *inspection) forEach(s *ir.ForEach) {
	if in.at.known.compound[s] || static.Leaves(s.Body) || in.rec.readsWatched(s.Over) {
		in.rec.leaf(s, nil)
		return
	}
	over := &Container{Expr: s.Over, Scope: in.at.scope, Axis: in.at.axis}
	if in.at.isKnown(s.Over) {
		v := in.at.eval(s.Over)
		over.Known, over.Shape = &v, v.Shape
	} else {
		shapes, ok := in.at.shapes(s.Over)
		if !ok {
			in.rec.refuse(unknownSize)
			return
		}
		over.Shape = shapes[0]
	}
	n := 0
	if len(over.Shape) > 0 {
		n = over.Shape[0]
	}
	in.uniform(s, int64(n), &Loop{Body: s.Body, Var: s.Var, Over: over})
}

// uniform inspects an inner loop of n iterations in every lane.
func (in *inspection) uniform(s ir.Stmt, n int64, lp *Loop) {
	switch {
	case n <= 0:
	case in.written(s, n):
		in.unrolled(s, lp, n, lanes.Int(1).Plus)
	case n*int64(max(1, plan.Lanes(in.at.axis))) > interp.MaxElements:
		in.rec.refuse("too many iterations")
	default:
		ax, i := lanes.Iterations(int(n), in.at.axis, nil, in.at.out.Reserve)
		in.inner(s, ax, lp, i)
	}
}

// written reports whether a loop of n iterations in every lane is unrolled.
func (in *inspection) written(s ir.Stmt, n int64) bool {
	if n <= int64(in.rec.way.Unroll) {
		return true
	}
	if n <= MaxUnits && slices.Contains(in.inOrder, s) {
		in.rec.stepped = true
		return true
	}
	if in.rec.least == 0 || n < in.rec.least {
		in.rec.least = n
	}
	return false
}

// inner inspects a loop of the nest.
func (in *inspection) inner(s ir.Stmt, ax *plan.Axis, lp *Loop, i lanes.Value) {
	outer := in.rec.loop
	in.rec.loop = &plan.Loop{Axis: ax, Parent: outer}
	in.rec.nest.Loops[in.rec.loop] = s
	outer.Body = append(outer.Body, in.rec.loop)
	list := in.followed(in.at.ev.Follow(lp.Followed(ax, i, nil), around{in.at}, in.at.out))
	for _, v := range static.CarriedInts(lp.Body) {
		if !in.at.known.unknown[v] && !known.Tracks(list, v) {
			in.rec.lose(v)
		}
	}
	scope := in.at.scope
	in.at.inLanes(ax, func() {
		in.at.privatise(list)
		in.at.bindVar(lp, i)
		in.within(s, func() { in.stmt(lp.Body) })
	})
	in.at.scope = scope // everything that the body assigns and data decide is followed
	for _, t := range list {
		x := in.at.variable(t.Var)
		in.at.setKnown(x, lanes.WholeOf(x.Shape), t.Final)
	}
	in.rec.loop = outer
}

// whileLoop is a while loop whose iterations are inspected one by one.
type whileLoop struct {
	in *inspection
	s  *ir.While
}

// from inspects the iterations from number trip on.
func (w whileLoop) from(trip int) {
	in, s := w.in, w.s
	for ; ; trip++ {
		if trip > 0 && in.at.known.compound[s] {
			return
		}
		if in.at.known.compound[s] || static.Has(s.Body, static.IsReturn) || !in.at.isKnown(s.Cond) || trip > MaxLaneTrips {
			if trip > 0 {
				in.rec.compound(s)
				return
			}
			in.rec.leaf(s, nil)
			return
		}
		cond := in.at.eval(s.Cond)
		if i, ok := cond.Scalar(); !ok {
			in.at.choose(cond, func() static.Signal {
				w.after(w.once(), trip)
				return static.GoesOn
			}, goesOn)
			return
		} else if i == 0 {
			return
		}
		sig := w.once()
		if in.rec.again || in.rec.Why != "" {
			return
		}
		if len(in.rec.nest.Statements) > MaxUnits {
			in.rec.compound(s)
			return
		}
		if sig&static.Breaks != 0 {
			w.after(sig, trip)
			return
		}
	}
}

// once inspects one iteration.
func (w whileLoop) once() (sig static.Signal) {
	w.in.within(w.s, func() { sig = w.in.stmt(w.s.Body) })
	return sig
}

// after inspects the iterations after one that ended with sig.
func (w whileLoop) after(sig static.Signal, trip int) {
	w.in.at.onlyIf(sig, static.GoesOn|static.Continues, func() static.Signal {
		w.from(trip + 1)
		return static.GoesOn
	})
}

// readsWatched reports whether an expression reads variables that units assign.
func (rc *recorder) readsWatched(e ir.Expr) bool {
	for v := range ir.Vars(e) {
		if rc.at.isWatched(v) {
			return true
		}
	}
	return false
}

// ---- variables ----

// followed returns the list without integers that an earlier inspection lost.
func (in *inspection) followed(list []known.Tracked) []known.Tracked {
	return slices.DeleteFunc(list, func(t known.Tracked) bool { return in.at.known.unknown[t.Var] })
}

// privatise gives the current iteration its own tracked variables.
func (at *sight) privatise(list []known.Tracked) {
	for _, t := range list {
		at.scope = at.scope.with(&Variable{Var: t.Var, Shape: t.Start.Shape, Home: at.axis, Known: &t.Start})
	}
}

// bindVar gives the variable of a loop its value in the iterations with the given numbers.
func (at *sight) bindVar(lp *Loop, number lanes.Value) {
	x := &Variable{Var: lp.Var, Home: at.axis}
	if lp.Over != nil {
		x.Shape, x.Element = lp.Over.Shape[1:], &Element{lp.Over, number}
	}
	if v, ok := lp.element(number); ok {
		x.Known = &v
	}
	at.scope = at.scope.with(x)
}

// setKnown assigns v to elements of a known integer. This makes a new variable.
func (at *sight) setKnown(old *Variable, acc lanes.Access, v lanes.Value) {
	x := *old
	x.Cell, x.Value, x.Copy, x.Part = nil, nil, nil, false
	if at.axis == x.Home && acc.IsWhole(x.Size()) {
		v.Shape = x.Shape
		x.Known = &v
	} else {
		was, _ := at.valueOf(old)
		wide := was.Wide(x.Home)
		wide.Ints = slices.Clone(wide.Ints)
		wide.Put(acc, v, at.axis)
		x.Known = &wide
	}
	at.scope = at.scope.with(&x)
}

// newVariable makes a variable for a declaration.
func (at *sight) newVariable(v *ir.Var, shape []int) *Variable {
	x := &Variable{Var: v, Shape: shape, Home: at.axis}
	if !at.isWatched(v) {
		x.Known = &lanes.Value{Shape: shape, Ints: slices.Repeat([]int64{math.MinInt32}, x.Size())}
	}
	at.scope = at.scope.with(x)
	return x
}

func (in *inspection) declare(s *ir.Declare) {
	v := s.Var
	for _, e := range v.Sizes {
		if !in.at.isKnown(e) {
			in.rec.refuse(unknownSize)
			return
		}
	}
	x := in.at.newVariable(v, in.at.shape(v))
	if !in.at.isWatched(v) {
		if s.Init == nil {
			return
		}
		if in.at.isKnown(s.Init) {
			init := in.at.eval(s.Init)
			fits(s.Init.Span(), v.Name, x.Shape, init.Shape)
			x.Known = &init
			return
		}
		in.rec.lose(v)
	}
	in.rec.history(x)
	if s.Init != nil {
		in.rec.leaf(&ir.Assign{Pos: s.Pos, Var: v, Value: s.Init}, nil)
	}
}

// shape returns the shape of a declared variable.
func (at *sight) shape(v *ir.Var) []int {
	shape, wrong := interp.Shape(v, func(k int) int64 {
		n := at.eval(v.Sizes[k])
		if n.Axis == nil {
			return n.Ints[0]
		}
		n = n.Narrow(at.axis)
		return n.MustAgree(at.Excluded(n.Axis))
	})
	if wrong != nil {
		panic(&mistake{*wrong})
	}
	return shape
}

// fits fails unless a value has the shape of the variable that it is assigned to.
func fits(at source.Span, name string, want, got []int) {
	if !slices.Equal(want, got) {
		panic(&mistake{interp.SizeMismatch(at, name, want, got)})
	}
}

func (in *inspection) unpack(s *ir.Unpack) {
	if len(s.Vars) == 1 && !in.at.isWatched(s.Vars[0]) && in.at.isKnown(s.Value) {
		v := in.at.eval(s.Value)
		in.at.newVariable(s.Vars[0], v.Shape).Known = &v
		return
	}
	shapes := make([][]int, len(s.Vars))
	if slices.ContainsFunc(s.Vars, func(v *ir.Var) bool { return v.Type.Rank() > 0 }) {
		var ok bool
		if shapes, ok = in.at.shapes(s.Value); !ok {
			in.rec.refuse(unknownSize)
			return
		}
	}
	for k, v := range s.Vars {
		if !in.at.isWatched(v) {
			in.rec.lose(v)
		}
		in.rec.history(in.at.newVariable(v, shapes[k]))
	}
	in.rec.leaf(s, nil)
}

func (in *inspection) assign(s *ir.Assign) {
	if in.at.isWatched(s.Var) {
		in.rec.leaf(s, nil)
		return
	}
	ok := in.at.isKnown(s.Value)
	for _, ix := range s.Indices {
		ok = ok && (ix.A == nil || in.at.isKnown(ix.A)) && (ix.B == nil || in.at.isKnown(ix.B))
	}
	if !ok || !in.assignKnown(s) {
		in.rec.lose(s.Var)
	}
}

// assignKnown assigns a known integer; ok is false if the value turns out to be unknown.
func (in *inspection) assignKnown(s *ir.Assign) (ok bool) {
	x := in.at.variable(s.Var)
	was, ok := in.at.valueOf(x)
	if !ok || was.Ints == nil {
		return false
	}
	acc := lanes.WholeOf(x.Shape)
	if len(s.Indices) > 0 {
		if acc, ok = lanes.Select(in.at, x.Shape, s.Indices, "`"+s.Var.Name+"`"); !ok || acc.None {
			return false
		}
	}
	e := s.Value
	if s.Op != "" {
		old := was
		if len(s.Indices) > 0 {
			old = was.Gather(acc)
		}
		in.at.operand = &old
		defer func() { in.at.operand = nil }()
		e = s.Combine
	}
	v := in.at.eval(e)
	fits(s.Value.Span(), s.Var.Name, acc.Index.Shape(), v.Shape)
	in.at.setKnown(x, acc, v)
	return true
}

// ---- jumps ----

func goesOn() static.Signal { return static.GoesOn }

// choose runs then in the lanes in which a condition is true, and els in the others. union is the
// set of ways in which they ended.
func (at *sight) choose(cond lanes.Value, then, els func() static.Signal) (union static.Signal) {
	if i, ok := cond.Scalar(); ok {
		if i != 0 {
			return then()
		}
		return els()
	}
	ax := lanes.Innermost(at.axis, cond.Axis)
	at.out.Reserve(32, ax.N)
	type end struct {
		ax   *plan.Axis
		sig  static.Signal
		code lanes.Value
	}
	var ends []end
	sides := lanes.Sides(cond, ax)
	at.sides = share(&sides, at.sides)
	for k, side := range []func() static.Signal{then, els} {
		some := sides[k]
		if some == nil {
			continue
		}
		e := end{ax: some}
		at.inLanes(some, func() { e.sig = side() })
		if some == ax {
			return e.sig
		}
		if e.code = at.code; e.sig.Certain() {
			e.code = lanes.Int(int64(e.sig))
		}
		ends = append(ends, e)
		union |= e.sig
	}
	if !union.Certain() {
		code := lanes.Value{Axis: ax, Ints: make([]int64, ax.N)}
		for _, e := range ends {
			code.Put(lanes.WholeOf(nil), e.code, e.ax)
		}
		at.code = code
	}
	return union
}

// share replaces sides of a conditional by earlier ones with the same lanes, so that the statements
// in them may form one recurrence. It returns the earlier sides with the others.
func share(sides *[2]*plan.Axis, earlier []*plan.Axis) []*plan.Axis {
	for k, side := range sides {
		if side == nil || !side.Subset {
			continue
		}
		same := func(old *plan.Axis) bool { return old.Parent == side.Parent && slices.Equal(old.Up, side.Up) }
		if i := slices.IndexFunc(earlier, same); i >= 0 {
			sides[k] = earlier[i]
		} else {
			earlier = append(earlier, side)
		}
	}
	return earlier
}

// onlyIf runs rest where statements that ended with sig did so in one of the ways in on.
func (at *sight) onlyIf(sig, on static.Signal, rest func() static.Signal) static.Signal {
	if sig&^on == 0 {
		return rest()
	}
	if sig&on == 0 {
		return sig
	}
	code := at.code
	is := lanes.Value{Axis: code.Axis, Ints: make([]int64, len(code.Ints))}
	for i, c := range code.Ints {
		is.Ints[i] = lanes.Truth(static.Signal(c)&on != 0)
	}
	return at.choose(is, rest, func() static.Signal {
		at.code = code
		return sig &^ on
	})
}
