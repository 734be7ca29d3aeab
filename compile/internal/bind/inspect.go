package bind

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// The inspector: the units of a nest, and over which iterations they run.

// inspect finds the units of the loop in the lanes of ax; why of what is returned is
// the reason if it cannot be evaluated statement by statement. last is the number of
// iterations after which data end the loop, 0 if they do not.
func (b *binder) inspect(ax *axis, lp *loop, i value, w way) (in *inspection, last int) {
	f := findings{unknown: map[*ir.Var]bool{}, compound: map[ir.Stmt]bool{}, groups: lp.groups, written: map[*ir.For]*ir.If{}}
	if w.joined && ax.N > smallUnrolled {
		for _, s := range lp.across {
			if s, ok := s.(*ir.For); ok && !static.MayJump(s.Body) {
				f.written[s] = iterationOf(s)
			}
		}
	}
	for {
		in = &inspection{b: b, way: w, known: f, iterations: ax.N}
		if w.steps {
			in.inOrder = lp.steps
		}
		last = in.run(ax, lp, i)
		f = in.known
		if in.why != "" {
			return in, 0
		}
		if !in.again {
			lp.groups = f.groups
			return in, last
		}
	}
}

// foresees reports whether an inspection in another way, which unrolls no fewer loops,
// would find the same.
func (in *inspection) foresees(w way, lp *loop) bool {
	joins := in.joins || in.iterations > smallUnrolled && len(lp.across) > 0
	return !in.stepped && !w.steps && (in.joined == w.joined || !joins) && (in.least == 0 || in.least > int64(w.unroll))
}

// run inspects the loop once.
func (in *inspection) run(ax *axis, lp *loop, i value) (last int) {
	switch r := in.b.looking(func() { last = in.look(ax, lp, i) }).(type) {
	case nil:
		return last
	case *problem:
		if !unknown(diag.List{r.d}) && !static.Leaves(lp.body) && !r.skippable {
			panic(r) // a mistake of the user; of a loop that may end, the iteration that is to blame will tell
		}
		in.why = r.d.Summary
	case *fault:
		if in.again = r.Split != nil && in.known.groups.Refine(ax, r.Split); !in.again {
			in.why = r.Reason
		}
	default:
		panic(r)
	}
	return 0
}

// look finds the units of the loop.
func (in *inspection) look(ax *axis, lp *loop, i value) (last int) {
	b := in.b
	root := &plan.Loop{Axis: ax}
	in.n = &nest{b: b, around: b.nest, Nest: plan.Nest{Root: root}, stmts: map[*plan.Loop]ir.Stmt{root: lp.body}, watched: map[*cell]*history{}}
	in.loop = root
	vars := static.VariablesOf(lp.body)
	in.declared, in.assigned = vars.Declared, map[*ir.Var]bool{}
	for _, v := range vars.Assigned {
		in.assigned[v] = true
	}
	lp.tracked = in.followed(slices.Clone(lp.tracked))
	for _, v := range static.CarriedInts(lp.body) {
		if !lp.tracks(v) {
			in.known.unknown[v] = true
		}
	}
	b.context = b.context.in(ax)
	b.cells = slices.Clone(b.cells)
	b.privatise(lp)
	b.bindVar(lp, i)
	sig := in.groups(ax, lp)
	if sig&(breaks|returns) == 0 {
		return 0
	}
	if ax.Parent != nil || sig&returns != 0 || !sig.certain() && b.code.ints == nil {
		in.why = jumps
		return 0
	}
	for !sig.certain() && last < ax.N && signal(b.code.known().At(nil, last, 0))&breaks == 0 {
		last++
	}
	return last + 1
}

// groups inspects the body for the iterations of each group in turn.
func (in *inspection) groups(ax *axis, lp *loop) signal {
	gr := in.known.groups
	if gr.N == 0 {
		return in.stmt(lp.body)
	}
	for k := range gr.N {
		in.b.choose(ofLanes(gr.Condition(ax, k)), func() signal {
			if sig := in.stmt(lp.body); sig&^(goesOn|continues) != 0 {
				in.refuse(jumps)
			}
			return goesOn
		}, func() signal { return goesOn })
	}
	return goesOn
}

// stmt inspects a statement.
func (in *inspection) stmt(s ir.Stmt) signal {
	if s == nil || in.why != "" {
		return goesOn
	}
	b := in.b
	old := b.at(s.Span())
	defer b.setSpan(old)
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
		in.while(s, 0)
	case *ir.Declare:
		in.declare(s)
	case *ir.Unpack:
		in.unpack(s)
	case *ir.Assign:
		in.assign(s)
	case *ir.Break:
		return breaks
	case *ir.Continue:
		return continues
	case *ir.Return:
		in.refuse(jumps)
		return returns
	case *ir.Print:
		in.refuse("print: its order matters")
	default:
		in.leaf(s, nil)
	}
	return goesOn
}

// stmts inspects statements in order.
func (in *inspection) stmts(list []ir.Stmt) signal {
	return in.b.sequence(list, func(s ir.Stmt, rest []ir.Stmt) (sig signal, done bool) {
		switch s := s.(type) {
		case *ir.Block:
			if static.MayJump(s) {
				return in.stmts(slices.Concat(s.Stmts, rest)), true
			}
		case *ir.If:
			sig, done := in.conditional(s, rest)
			return sig, done || in.why != ""
		}
		return in.stmt(s), false
	})
}

// conditional inspects a conditional; done tells that rest, the statements after
// it, has been inspected too.
func (in *inspection) conditional(s *ir.If, rest []ir.Stmt) (sig signal, done bool) {
	b := in.b
	old := b.at(s.Span())
	defer b.setSpan(old)
	whole := in.known.compound[s]
	if !whole && in.binds(s) {
		whole, in.joins = in.joined, true
	}
	if whole || !in.isKnown(s.Cond) {
		if !static.MayJump(s) {
			in.leaf(s, nil)
			return goesOn, false
		}
		switch {
		case static.Leaves(s) || slices.ContainsFunc(rest, static.Leaves):
			in.jumpsOut()
		case len(in.decided) > 0: // the statements after that one are skipped too
			in.compound(in.decided[0])
		}
		in.leaf(s, rest)
		return goesOn, true
	}
	in.uses(s.Cond)
	cond := b.eval(s.Cond)
	if cond.ints == nil {
		in.compound(s)
		return goesOn, true
	}
	if static.MayJump(s) {
		in.decided = append(in.decided, s)
		defer func() { in.decided = in.decided[:len(in.decided)-1] }()
	}
	return b.sides(s, cond, rest, in.stmts)
}

// jumpsOut notes that parameters may end the innermost loop.
func (in *inspection) jumpsOut() {
	if in.loop.Parent == nil {
		in.refuse(jumps)
		return
	}
	in.compound(in.n.stmts[in.loop])
}

// compound notes that a statement is one unit.
func (in *inspection) compound(s ir.Stmt) {
	in.known.compound[s] = true
	in.again = true
}

// binds reports whether a conditional assigns a variable of the nest that is no
// integer that data decide.
func (in *inspection) binds(s ir.Stmt) bool {
	return slices.ContainsFunc(static.VariablesOf(s).Assigned, in.isWatched)
}

// ---- loops ----

func (in *inspection) forLoop(s *ir.For) {
	b := in.b
	if in.known.compound[s] || static.Leaves(s.Body) || !in.isKnown(s.From) || !in.isKnown(s.To) {
		in.leaf(s, nil)
		return
	}
	from, to := b.eval(s.From), b.eval(s.To)
	if from.ints == nil || to.ints == nil {
		in.leaf(s, nil)
		return
	}
	if from.axis != nil || to.axis != nil {
		if in.writtenOut(s, from, to) {
			return
		}
		ax, lp, i := b.ragged(s, from, to)
		if ax.N > 0 {
			in.inner(s, ax, lp, i)
		}
		return
	}
	lo := from.ints[0]
	n := max(0, to.ints[0]-lo+1)
	in.uniform(s, n, &loop{body: s.Body, v: s.Var, bind: func(i value) value { return addInt(i, lo-1) }})
}

// writtenOut inspects a loop of which lanes have different numbers of iterations as so
// many conditionals, if that is to be done and there are not too many.
func (in *inspection) writtenOut(s *ir.For, from, to value) bool {
	it := in.known.written[s]
	if it == nil {
		return false
	}
	b := in.b
	ax := lanes.Innermost(from.axis, to.axis)
	upFrom, upTo := plan.UpTo(ax, from.axis), plan.UpTo(ax, to.axis)
	most := int64(0)
	for l := range ax.N {
		most = max(most, to.known().At(upTo, l, 0)-from.known().At(upFrom, l, 0)+1)
	}
	if most > mediumLoop {
		return false
	}
	lp := &loop{body: it, v: s.Var, bind: func(i value) value { return i }}
	for k := range most {
		in.scope(func() {
			b.bindVar(lp, addInt(from, k))
			in.stmt(lp.body)
		})
	}
	if len(in.n.units) > maxUnits {
		in.refuse("too many statements")
	}
	return true
}

// iterationOf is one iteration of a loop as a statement, which does nothing beyond the
// loop's end.
func iterationOf(s *ir.For) *ir.If {
	i := &ir.VarRef{Typed: ir.Typed{At: s.Span(), Ty: types.IntType}, Var: s.Var}
	ints := []types.Type{types.IntType, types.IntType}
	overload, _, fail := types.ResolveLevels(stdlib.Language().Lookup("operator<="), ints, make([]bool, len(ints)))
	if fail != nil {
		panic(&fault{Reason: "no comparison of integers"})
	}
	more := &ir.Call{Typed: i.Typed, Name: "operator<=", Overload: overload, Args: []ir.Expr{i, s.To}}
	return &ir.If{Pos: s.Pos, Cond: more, Then: s.Body}
}

func (in *inspection) forEach(s *ir.ForEach) {
	if in.known.compound[s] || static.Leaves(s.Body) || in.readsWatched(s.Over) {
		in.leaf(s, nil)
		return
	}
	n, lp := in.b.overElements(s)
	in.uniform(s, int64(n), lp)
}

// uniform inspects an inner loop of n iterations in every lane.
func (in *inspection) uniform(s ir.Stmt, n int64, lp *loop) {
	b := in.b
	switch {
	case n <= 0:
	case in.written(s, n):
		for k := range n {
			in.scope(func() {
				b.bindVar(lp, intValue(k+1))
				in.stmt(lp.body)
			})
		}
		if len(in.n.units) > maxUnits {
			in.refuse("too many statements")
		}
	case n*int64(max(1, plan.Lanes(b.axis))) > maxElements:
		in.refuse("too many iterations")
	default:
		ax, i := b.iterations(int(n))
		in.inner(s, ax, lp, i)
	}
}

// written reports whether a loop of n iterations in every lane becomes statements one
// after another.
func (in *inspection) written(s ir.Stmt, n int64) bool {
	if n <= int64(in.unroll) {
		return true
	}
	if n <= maxUnits && slices.Contains(in.inOrder, s) {
		in.stepped = true
		return true
	}
	if in.least == 0 || n < in.least {
		in.least = n
	}
	return false
}

// inner inspects a loop of the nest.
func (in *inspection) inner(s ir.Stmt, ax *axis, lp *loop, i value) {
	b := in.b
	outer, axis := in.loop, b.axis
	in.loop = &plan.Loop{Axis: ax, Parent: outer}
	in.n.stmts[in.loop] = s
	outer.Body = append(outer.Body, in.loop)
	b.with(b.context.in(ax.Parent), func() { lp.tracked = in.followed(b.track(ax, lp, i, nil)) })
	for _, v := range static.CarriedInts(lp.body) {
		if !in.known.unknown[v] && !lp.tracks(v) {
			in.lose(v)
		}
	}
	cells := b.cells
	b.with(b.context.in(ax), func() {
		in.scope(func() {
			b.privatise(lp)
			b.bindVar(lp, i)
			in.stmt(lp.body)
		})
	})
	b.cells = cells // all that the body assigns and data decide is followed
	for _, t := range lp.tracked {
		in.setKnown(t.v, func(c *cell) { b.writeLocal(c, lanes.WholeOf(c.shape), t.final, axis) })
	}
	in.loop = outer
}

func (in *inspection) while(s *ir.While, trip int) {
	b := in.b
	for ; ; trip++ {
		if in.known.compound[s] || static.Leaves(s.Body) || !in.isKnown(s.Cond) || trip > maxLaneTrips {
			if trip > 0 {
				in.compound(s)
				return
			}
			in.leaf(s, nil)
			return
		}
		cond := b.eval(s.Cond)
		if cond.ints == nil {
			in.compound(s)
			return
		}
		if i, ok := cond.scalarInt(); !ok {
			b.choose(cond, func() signal {
				in.stmt(s.Body)
				in.while(s, trip+1)
				return goesOn
			}, func() signal { return goesOn })
			return
		} else if i == 0 {
			return
		}
		in.stmt(s.Body)
		if in.again || in.why != "" {
			return
		}
		if len(in.n.units) > maxUnits {
			in.compound(s)
			return
		}
	}
}

// scope runs fn; variables that it declares are its own, those that it assigns
// stay assigned.
func (in *inspection) scope(fn func()) {
	in.b.cells = slices.Clone(in.b.cells)
	fn()
}

// readsWatched reports whether an expression reads what units assign.
func (in *inspection) readsWatched(e ir.Expr) bool {
	for v := range ir.Vars(e) {
		if in.isWatched(v) {
			return true
		}
	}
	return false
}

// ---- variables ----

// followed leaves out integers that data turned out not to decide everywhere.
func (in *inspection) followed(list []tracked) []tracked {
	return slices.DeleteFunc(list, func(t tracked) bool { return in.known.unknown[t.v] })
}

// setKnown gives an integer a new cell, which change alters.
func (in *inspection) setKnown(v *ir.Var, change func(c *cell)) {
	b := in.b
	c := *b.cells[v.ID]
	c.owned = false
	change(&c)
	b.cells = slices.Clone(b.cells)
	b.cells[v.ID] = &c
}

func (in *inspection) newCell(v *ir.Var, shape []int) *cell {
	b := in.b
	c := b.localCell(v, shape)
	b.cells = slices.Clone(b.cells)
	b.cells[v.ID] = c
	return c
}

func (in *inspection) declare(s *ir.Declare) {
	b, v := in.b, s.Var
	for _, e := range v.Sizes {
		if !in.isKnown(e) {
			in.refuse("a size that data do not decide")
			return
		}
	}
	c := in.newCell(v, b.sizes(v))
	if !in.isWatched(v) {
		if s.Init == nil {
			return
		}
		if in.isKnown(s.Init) {
			if init := b.eval(s.Init); init.ints != nil {
				b.checkShape(s.Init.Span(), v.Name, c.shape, init.shape)
				c.setWhole(init)
				return
			}
		}
		in.lose(v)
	}
	in.history(c, v)
	if s.Init != nil {
		in.leaf(s, nil)
	}
}

func (in *inspection) unpack(s *ir.Unpack) {
	b := in.b
	if len(s.Vars) == 1 && !in.isWatched(s.Vars[0]) && in.isKnown(s.Value) {
		if v := b.eval(s.Value); v.ints != nil {
			in.newCell(s.Vars[0], v.shape).setWhole(v)
			return
		}
	}
	var shapes [][]int
	if slices.ContainsFunc(s.Vars, func(v *ir.Var) bool { return v.Type.Rank() > 0 }) {
		for _, leaf := range b.eval(s.Value).parts() {
			shapes = append(shapes, leaf.shape)
		}
	} else {
		shapes = make([][]int, len(s.Vars))
	}
	for k, v := range s.Vars {
		if !in.isWatched(v) {
			in.lose(v)
		}
		in.history(in.newCell(v, shapes[k]), v)
	}
	in.leaf(s, nil)
}

func (in *inspection) assign(s *ir.Assign) {
	b := in.b
	if in.isWatched(s.Var) {
		in.leaf(s, nil)
		return
	}
	ok := in.isKnown(s.Value)
	for _, ix := range s.Indices {
		ok = ok && (ix.A == nil || in.isKnown(ix.A)) && (ix.B == nil || in.isKnown(ix.B))
	}
	if ok {
		in.setKnown(s.Var, func(c *cell) { ok = b.assignKnown(c, s) })
	}
	if !ok {
		in.lose(s.Var)
	}
}

// assignKnown assigns an integer that is known; ok is false if it is not.
func (b *binder) assignKnown(c *cell, s *ir.Assign) (ok bool) {
	acc := lanes.WholeOf(c.shape)
	if len(s.Indices) > 0 {
		if acc, ok = b.access(c.shape, s.Indices, "`"+s.Var.Name+"`"); !ok || acc.None {
			return false
		}
	}
	e := s.Value
	if s.Op != "" {
		old := b.readLocal(c, acc, s.Combine.Type())
		outer := b.operand
		b.operand = &old
		defer func() { b.operand = outer }()
		e = s.Combine
	}
	v := b.eval(e)
	if v.ints == nil || c.whole == nil || c.whole.ints == nil || b.hidden() {
		return false
	}
	b.checkShape(s.Value.Span(), s.Var.Name, acc.Index.Shape(), v.shape)
	b.writeLocal(c, acc, v, b.axis)
	return true
}
