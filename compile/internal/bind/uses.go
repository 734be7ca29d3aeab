package bind

import (
	"maps"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// The inspector finds out what a loop does before anything of it is evaluated:
// the units of its nest, their domains, and the elements that they use. What
// data decide is known for all iterations at once: conditions and loop bounds
// split and widen the axis in force as they do when the loop is evaluated, and
// integers have a value per lane. Variables of integers that data decide are
// single-assignment here: every assignment makes a new cell, and a unit keeps
// the cells that are in scope where it stands.
//
// This file: what the inspector knows, and the elements that units read and write.

// inspection is the state of an inspector.
type inspection struct {
	b    *binder
	n    *nest
	loop *plan.Loop

	way
	inOrder []ir.Stmt // the loops that are meant by way.steps

	// What tells whether another way would find something else.
	iterations int   // of the loop
	stepped    bool  // a loop in it was unrolled because of inOrder
	joins      bool  // way.joined makes a difference to a conditional
	least      int64 // the fewest iterations of a loop in it that was not unrolled, 0 of none

	declared map[*ir.Var]bool // in the nest
	assigned map[*ir.Var]bool // in the nest
	decided  []*ir.If         // conditionals on data around the statement
	ragged   bool             // the sizes in the unit lanes.Differ between iterations

	known findings
	again bool   // something was found that an earlier statement should have been told
	why   string // not "": the loop cannot be evaluated statement by statement
}

// findings are what one inspection tells the next of the same loop.
type findings struct {
	unknown  map[*ir.Var]bool   // integers that data do not decide everywhere
	compound map[ir.Stmt]bool   // statements that parameters hold together
	groups   lanes.Groups       // iterations by the sizes of what they declare
	written  map[*ir.For]*ir.If // inner loops that are written out, and an iteration of them
}

func (in *inspection) refuse(why string) {
	if in.why == "" {
		in.why = why
	}
}

// lose notes that data do not decide an integer.
func (in *inspection) lose(v *ir.Var) {
	in.known.unknown[v] = true
	in.again = true
}

// isWatched reports whether a variable is one that units assign, rather than an
// integer that data decide or one that the nest only reads.
func (in *inspection) isWatched(v *ir.Var) bool {
	if !in.declared[v] && !in.assigned[v] {
		return false
	}
	return v.Type.Kind != types.Int || in.known.unknown[v]
}

// isKnown reports whether data decide the value of an expression.
func (in *inspection) isKnown(e ir.Expr) bool {
	known := true
	ir.Inspect(e, func(e ir.Node) bool {
		switch e := e.(type) {
		case *ir.VarRef:
			known = known && in.isKnownVar(e.Var)
		case *ir.TargetValue, *ir.Operand:
			_, known = e.(*ir.Operand)
		case *ir.Call:
			known = known && !static.FuncOf(e).Random
			if v := static.Measured(e); v != nil && !in.declared[v] && in.b.cell(v) != nil {
				return false
			}
		case *ir.UserCall:
			known = known && in.b.functions.IsPure(e.Func)
		}
		return known
	})
	return known
}

func (in *inspection) isKnownVar(v *ir.Var) bool {
	b := in.b
	c := b.cells[v.ID]
	if c == nil || c.whole == nil || in.isWatched(v) {
		return false
	}
	for n := b.nest; n != nil; n = n.around {
		if n.watched[c] != nil {
			return false
		}
	}
	if v.Type.Kind == types.Int {
		return c.whole.ints != nil
	}
	if c.whole.lvl == nil {
		return c.whole.ints != nil
	}
	_, ok := c.whole.lvl.g.Value(c.whole.ref)
	return ok
}

// looking runs fn, which finds something out: nothing that it does stays but nodes that
// nobody uses. It returns what ended fn early.
func (b *binder) looking(fn func()) (failed any) {
	saved := *b
	var levels []*level
	var effects []int
	for l := b.lvl; l != nil; l = l.parent {
		levels, effects = append(levels, l), append(effects, len(l.g.Effects))
	}
	defer func() {
		failed = recover()
		saved.stats, saved.sites = b.stats, b.sites
		*b = saved
		for k, l := range levels {
			l.g.Effects = l.g.Effects[:effects[k]]
		}
	}()
	b.inspecting = true
	fn()
	return nil
}

// history is where what units assign to a variable is kept.
func (in *inspection) history(c *cell, v *ir.Var) *history {
	h := in.n.watched[c]
	if h == nil {
		h = &history{n: in.n, c: c, v: v, Variable: &plan.Variable{
			ID: len(in.n.order), Size: c.size, Home: c.home, Inside: in.declared[v], Integer: c.typ.Kind == types.Int,
		}}
		in.n.Variables = append(in.n.Variables, h.Variable)
		in.n.watched[c] = h
		in.n.order = append(in.n.order, h)
	}
	return h
}

// leaf adds a unit of a statement, with those after it if it takes them along.
func (in *inspection) leaf(s ir.Stmt, rest []ir.Stmt) {
	b := in.b
	u := &unit{stmts: append([]ir.Stmt{s}, rest...), cells: b.cells, Unit: &plan.Unit{ID: len(in.n.units), Domain: b.axis, Loop: in.loop}}
	in.n.units = append(in.n.units, u)
	in.n.Units = append(in.n.Units, u.Unit)
	in.loop.Body = append(in.loop.Body, u.Unit)
	in.unit(u)
}

func (in *inspection) unit(u *unit) {
	s := u.stmts[0]
	switch s := s.(type) {
	case *ir.Declare:
		in.uses(s.Init)
		in.touch(s.Var, nil, plan.Writes)
		return
	case *ir.Unpack:
		in.uses(s.Value)
		for _, v := range s.Vars {
			in.touch(v, nil, plan.Writes)
		}
		return
	case *ir.Assign:
		in.assigns(s)
		return
	case *ir.Target:
		in.uses(s.Value)
		return
	case *ir.Tilde:
		in.uses(s.Density)
		return
	case *ir.CallStmt:
		in.uses(s.Call)
		return
	case *ir.Reject:
		for _, e := range s.Args {
			in.uses(e)
		}
		return
	}
	u.Compound = true
	for _, s := range u.stmts {
		in.within(s)
	}
}

// within notes what the statements of a compound unit use. What they assign, and
// the variables of loops, have no known values there.
func (in *inspection) within(s ir.Stmt) {
	vars := static.VariablesOf(s)
	local := vars.Declared
	maps.Copy(local, vars.OfLoops)
	for _, v := range vars.Assigned {
		if !in.isWatched(v) && !local[v] {
			in.lose(v)
		}
	}
	if in.b.functions.EffectsIn(s)&static.Prints != 0 {
		in.refuse("print: its order matters")
	}
	if in.again {
		return
	}
	vary := map[*ir.Var]bool{}
	in.hiding(local, func() {
		for v := range ir.Vars(s) {
			if c := in.b.cells[v.ID]; c != nil && in.isWatched(v) && v.Type.Kind == types.Int || c != nil && c.whole != nil && c.whole.ints != nil && c.whole.axis != nil {
				vary[v] = true
			}
		}
		if in.ragged = in.b.functions.SizesVary(s, vary); in.ragged {
			defer func() { in.ragged = false }()
		}
		in.withinStmt(s)
	})
}

// withinStmt is within, with what is local to the unit hidden. Where data decide a
// condition, its sides leave out iterations.
func (in *inspection) withinStmt(s ir.Stmt) {
	if a, ok := s.(*ir.Assign); ok && in.isWatched(a.Var) {
		in.assigns(a)
		return
	}
	for e := range ir.Exprs(s) {
		in.uses(e)
	}
	switch s := s.(type) {
	case *ir.If:
		cond, ok := in.lookInt(s.Cond)
		side := func(s ir.Stmt, then bool) {
			if s == nil {
				return
			}
			at := in.b.context
			if ok {
				at = at.where(cond, then)
			}
			in.b.with(at, func() { in.withinStmt(s) })
		}
		side(s.Then, true)
		side(s.Else, false)
	case *ir.Declare:
		for _, e := range s.Var.Sizes {
			in.size(e)
		}
	default:
		for t := range ir.Inner(s) {
			in.withinStmt(t)
		}
	}
}

// sizes makes sure that what decides the sizes of values that an expression makes, but
// for those in it, is the same in all iterations.
func (in *inspection) sizes(e ir.Node) {
	switch e := e.(type) {
	case *ir.Call:
		for _, a := range static.SizeArgs(e) {
			in.size(a)
		}
	case *ir.UserCall:
		args, parts := in.b.functions.Call(e)
		for _, a := range args {
			in.size(a)
		}
		for _, s := range parts {
			in.slice(s[0], s[1])
		}
	case *ir.IndexExpr:
		for _, ix := range e.Indices {
			if ix.Kind == ir.IndexRange {
				in.slice(ix.A, ix.B)
			}
		}
	}
}

// slice makes sure that a slice with these bounds, of which either may be nil, has the
// same size in all iterations.
func (in *inspection) slice(first, last ir.Expr) {
	from, to, ok := intValue(1), intValue(math.MaxInt32), true // any end is as good: it is the same in all
	if first != nil {
		from, ok = in.lookInt(first)
	}
	if last != nil && ok {
		to, ok = in.lookInt(last)
	}
	if ok {
		lanes.SliceAgreed(indexing{in.b}, from.known(), to.known(), lanes.Innermost(from.axis, to.axis))
	} else {
		in.unknownSize()
	}
}

// size makes sure that a size is the same in all iterations.
func (in *inspection) size(e ir.Expr) {
	v, ok := in.lookInt(e)
	switch n := v.size(); {
	case !ok:
		in.unknownSize()
	case v.axis != nil:
		v = in.b.narrow(v)
		for k := range n {
			at := v
			at.shape, at.ints = nil, make([]int64, v.axis.N)
			for l := range at.ints {
				at.ints[l] = v.ints[l*n+k]
			}
			at.known().MustAgree(in.b.excluded(at.axis))
		}
	}
}

// unknownSize is a size that is not known here. In a statement in which no size differs
// between iterations it may become known.
func (in *inspection) unknownSize() {
	if k := len(in.n.units); in.ragged || k > 0 && !in.n.units[k-1].Compound {
		in.refuse("a size that data do not decide")
	}
}

// hiding runs fn with the variables in local unknown and not of the nest.
func (in *inspection) hiding(local map[*ir.Var]bool, fn func()) {
	b := in.b
	cells := b.cells
	b.cells = slices.Clone(cells)
	for v := range local {
		b.cells[v.ID] = nil
	}
	fn()
	b.cells = cells
}

// assigns notes what an assignment to a variable of the nest uses.
func (in *inspection) assigns(s *ir.Assign) {
	for _, ix := range s.Indices {
		in.uses(ix.A)
		in.uses(ix.B)
	}
	in.uses(s.Value)
	switch {
	case s.Op == "":
		in.touch(s.Var, s.Indices, plan.Writes)
	case (s.Op == "+" || s.Op == "-") && s.Var.Type.Kind != types.Int:
		in.touch(s.Var, s.Indices, plan.Adds)
	default:
		in.touch(s.Var, s.Indices, plan.Reads)
		in.touch(s.Var, s.Indices, plan.Writes)
	}
}

// uses notes the reads of an expression.
func (in *inspection) uses(e ir.Expr) {
	b := in.b
	ir.Inspect(e, func(e ir.Node) bool {
		in.sizes(e)
		switch e := e.(type) {
		case *ir.VarRef:
			in.touch(e.Var, nil, plan.Reads)
		case *ir.TargetValue:
			in.refuse(targetRead)
		case *ir.Call:
			return static.Measured(e) == nil
		case *ir.UserCall:
			if b.functions.EffectsOf(e.Func)&static.Prints != 0 {
				in.refuse("print: its order matters")
			}
		case *ir.IndexExpr:
			v, ok := e.X.(*ir.VarRef)
			if !ok {
				return true
			}
			for _, ix := range e.Indices {
				in.uses(ix.A)
				in.uses(ix.B)
			}
			in.touch(v.Var, e.Indices, plan.Reads)
			return false
		case *ir.Cond:
			in.uses(e.Cond)
			if c, ok := in.lookInt(e.Cond); ok {
				b.choose(c, func() signal { in.uses(e.Then); return goesOn }, func() signal { in.uses(e.Else); return goesOn })
				return false
			}
			in.uses(e.Then)
			in.uses(e.Else)
			return false
		case *ir.And:
			in.guarded(e.X, e.Y, true)
			return false
		case *ir.Or:
			in.guarded(e.X, e.Y, false)
			return false
		}
		return true
	})
}

// guarded notes the reads of x and, where x leaves it open, of y.
func (in *inspection) guarded(x, y ir.Expr, and bool) {
	in.uses(x)
	c, ok := in.lookInt(x)
	if !ok {
		in.uses(y)
		return
	}
	open, shut := func() signal { in.uses(y); return goesOn }, func() signal { return goesOn }
	if !and {
		open, shut = shut, open
	}
	in.b.choose(c, open, shut)
}

// lookInt is the value of a condition that data decide; ok is false of others.
func (in *inspection) lookInt(e ir.Expr) (v value, ok bool) {
	if !in.isKnown(e) {
		return v, false
	}
	ok = in.passes(func() { v = in.b.eval(e) })
	return v, ok && v.ints != nil
}

// passes runs fn and reports whether it came upon no mistake of the user: one in what
// nobody may get to is told when that is evaluated.
func (in *inspection) passes(fn func()) bool {
	switch r := in.b.looking(fn).(type) {
	case nil:
		return true
	case *problem:
		return false
	default:
		panic(r)
	}
}

// touch notes a use of a variable.
func (in *inspection) touch(v *ir.Var, indices []ir.Index, how plan.Use) {
	b := in.b
	c := b.cells[v.ID]
	if c == nil || in.why != "" {
		return
	}
	if !in.isWatched(v) {
		return
	}
	u := in.n.units[len(in.n.units)-1]
	acc := lanes.WholeOf(c.shape)
	t := plan.Touch{Axis: b.axis, How: how}
	if len(indices) > 0 {
		if some, ok := in.elements(c, indices); ok {
			acc = some
		} else {
			t.Some = true
		}
	}
	if o := b.overlayOf(c); o != nil && !o.whole { // its elements are all that is used
		t.Some, c, acc = false, o.temp, lanes.WholeOf(o.temp.shape)
	} else if o != nil {
		c = o.temp
	}
	t.Variable = in.history(c, v).Variable
	if acc.IsWhole(c.size) {
		t.Access = t.Variable.Whole()
	} else {
		t.Access = acc.Plain()
	}
	add := func(how plan.Use) {
		t.How = how
		u.Touches, u.accesses = append(u.Touches, t), append(u.accesses, acc)
	}
	if how == plan.Adds && !plan.Distinct(t.Access.Offsets) { // an element that is named twice is added to once
		add(plan.Reads)
		how = plan.Writes
	}
	add(how)
}

// elements are those that indices select; ok is false if they are not known, or wrong.
func (in *inspection) elements(c *cell, indices []ir.Index) (acc lanes.Access, ok bool) {
	for _, ix := range indices {
		if ix.A != nil && !in.isKnown(ix.A) || ix.B != nil && !in.isKnown(ix.B) {
			return acc, false
		}
	}
	passes := in.passes(func() { acc, ok = in.b.access(c.shape, indices, "") })
	return acc, passes && ok && !acc.None
}
