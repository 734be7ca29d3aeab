package inspect

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

// isWatched reports whether a variable is one that units assign, rather than an
// integer that data decide or one that the nest only reads.
func (in *sight) isWatched(v *ir.Var) bool {
	if !in.declared[v] && !in.assigned[v] {
		return false
	}
	return v.Type.Kind != types.Int || in.known.unknown[v]
}

// leaf adds a unit of a statement, with those after it if it takes them along.
func (in *recorder) leaf(s ir.Stmt, rest []ir.Stmt) {
	u := &Statement{Stmts: append([]ir.Stmt{s}, rest...), Scope: in.scope, Unit: &plan.Unit{ID: len(in.nest.Statements), Domain: in.axis, Loop: in.loop}}
	in.nest.Statements = append(in.nest.Statements, u)
	in.nest.Plan.Units = append(in.nest.Plan.Units, u.Unit)
	in.loop.Body = append(in.loop.Body, u.Unit)
	in.unit(u)
}

// history is what the units do to a variable, for the plan.
func (in *recorder) history(x *Variable) *plan.Variable {
	h := in.used[x]
	if h == nil {
		h = &plan.Variable{
			ID: len(in.nest.Used), Size: x.Size(), Home: x.Home, Inside: in.declared[x.Var], Integer: x.Var.Type.Kind == types.Int,
		}
		in.used[x] = h
		in.nest.Plan.Variables = append(in.nest.Plan.Variables, h)
		in.nest.Used = append(in.nest.Used, x)
	}
	return h
}

func (in *recorder) unit(u *Statement) {
	s := u.Stmts[0]
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
	for _, s := range u.Stmts {
		in.within(s)
	}
}

// within notes what the statements of a compound unit use. What they assign, and
// the variables of loops, have no known values there.
func (in *recorder) within(s ir.Stmt) {
	vars := static.VariablesOf(s)
	local := vars.Declared
	maps.Copy(local, vars.OfLoops)
	for _, v := range vars.Assigned {
		if !in.isWatched(v) && !local[v] {
			in.lose(v)
		}
	}
	if in.ev.functions.SideEffectsIn(s)&static.Prints != 0 {
		in.refuse(PrintsOrder)
	}
	if in.again {
		return
	}
	vary := map[*ir.Var]bool{}
	in.hiding(local, func() {
		for v := range ir.Vars(s) {
			x := in.variable(v)
			if x == nil {
				continue
			}
			if in.isWatched(v) && v.Type.Kind == types.Int {
				vary[v] = true
			} else if u, ok := in.valueOf(x); ok && u.Ints != nil && u.Axis != nil {
				vary[v] = true
			}
		}
		if in.ragged = in.ev.functions.SizesVary(s, vary); in.ragged {
			defer func() { in.ragged = false }()
		}
		in.withinStmt(s)
	})
}

// withinStmt is within, with what is local to the unit hidden. Where data decide a
// condition, its sides leave out iterations.
func (in *recorder) withinStmt(s ir.Stmt) {
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
			masks := in.masks
			if ok {
				in.masks = append(slices.Clip(masks), lanes.Mask{Cond: cond, Side: then})
			}
			in.withinStmt(s)
			in.masks = masks
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
func (in *recorder) sizes(e ir.Node) {
	switch e := e.(type) {
	case *ir.Call:
		for _, a := range static.SizeArgs(e) {
			in.size(a)
		}
	case *ir.UserCall:
		args, parts := in.ev.functions.Call(e)
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
func (in *recorder) slice(first, last ir.Expr) {
	from, to, ok := lanes.Int(1), lanes.Int(math.MaxInt32), true // any end is as good: it is the same in all
	if first != nil {
		from, ok = in.lookInt(first)
	}
	if last != nil && ok {
		to, ok = in.lookInt(last)
	}
	if ok {
		lanes.SliceAgreed(in, from, to, lanes.Innermost(from.Axis, to.Axis))
	} else {
		in.unknownSize()
	}
}

// size makes sure that a size is the same in all iterations.
func (in *recorder) size(e ir.Expr) {
	v, ok := in.lookInt(e)
	switch n := v.Size(); {
	case !ok:
		in.unknownSize()
	case v.Axis != nil:
		v = v.Narrow(in.axis)
		for k := range n {
			at := lanes.Value{Axis: v.Axis, Ints: make([]int64, v.Axis.N)}
			for l := range at.Ints {
				at.Ints[l] = v.Ints[l*n+k]
			}
			at.MustAgree(in.Excluded(at.Axis))
		}
	}
}

// unknownSize is a size that is not known here. In a statement in which no size differs
// between iterations it may become known.
func (in *recorder) unknownSize() {
	if k := len(in.nest.Statements); in.ragged || k > 0 && !in.nest.Statements[k-1].Compound {
		in.refuse(unknownSize)
	}
}

// hiding runs fn with the variables in local unknown and not of the nest.
func (in *sight) hiding(local map[*ir.Var]bool, fn func()) {
	scope := in.scope
	in.scope = slices.Clone(scope)
	for v := range local {
		in.scope[v.ID] = hidden
	}
	fn()
	in.scope = scope
}

// assigns notes what an assignment to a variable of the nest uses.
func (in *recorder) assigns(s *ir.Assign) {
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
func (in *recorder) uses(e ir.Expr) {
	ir.Inspect(e, func(e ir.Node) bool {
		in.sizes(e)
		switch e := e.(type) {
		case *ir.VarRef:
			in.touch(e.Var, nil, plan.Reads)
		case *ir.TargetValue:
			in.refuse(TargetRead)
		case *ir.Call:
			return static.Measured(e) == nil
		case *ir.UserCall:
			if in.ev.functions.SideEffectsOf(e.Func)&static.Prints != 0 {
				in.refuse(PrintsOrder)
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
				in.choose(c, func() static.Signal { in.uses(e.Then); return static.GoesOn }, func() static.Signal { in.uses(e.Else); return static.GoesOn })
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
func (in *recorder) guarded(x, y ir.Expr, and bool) {
	in.uses(x)
	c, ok := in.lookInt(x)
	if !ok {
		in.uses(y)
		return
	}
	open, shut := func() static.Signal { in.uses(y); return static.GoesOn }, goesOn
	if !and {
		open, shut = shut, open
	}
	in.choose(c, open, shut)
}

// touch notes a use of a variable.
func (in *recorder) touch(v *ir.Var, indices []ir.Index, how plan.Use) {
	x := in.variable(v)
	if x == nil || in.Why != "" || !in.isWatched(v) {
		return
	}
	u := in.nest.Statements[len(in.nest.Statements)-1]
	acc := lanes.WholeOf(x.Shape)
	t := plan.Touch{Axis: in.axis, How: how}
	if len(indices) > 0 {
		if some, ok := in.elements(x, indices); ok {
			acc = some
		} else {
			t.Some = true
		}
	}
	if x.Copy != nil {
		if x.Part { // its elements are all that is used
			t.Some, acc = false, lanes.WholeOf(x.Copy.Shape)
		}
		x = x.Copy
	}
	t.Variable = in.history(x)
	if acc.IsWhole(x.Size()) {
		t.Access = t.Variable.Whole()
	} else {
		t.Access = acc.Plain()
	}
	add := func(how plan.Use) {
		t.How = how
		u.Touches, u.Accesses = append(u.Touches, t), append(u.Accesses, acc)
	}
	if how == plan.Adds && !plan.Distinct(t.Access.Offsets) { // an element that is named twice is added to once
		add(plan.Reads)
		how = plan.Writes
	}
	add(how)
}

// elements are those that indices select; ok is false if they are not known, or wrong.
func (in *recorder) elements(x *Variable, indices []ir.Index) (acc lanes.Access, ok bool) {
	for _, ix := range indices {
		if ix.A != nil && !in.isKnown(ix.A) || ix.B != nil && !in.isKnown(ix.B) || ix.After != nil && !in.isKnown(ix.After) {
			return acc, false
		}
	}
	passes := in.passes(func() { acc, ok = lanes.Select(in, x.Shape, indices, "") })
	return acc, passes && ok && !acc.None
}
