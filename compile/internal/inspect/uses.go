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

// isWatched reports whether units assign a variable. Other variables are only read, or are integers
// that data decide.
func (at *sight) isWatched(v *ir.Var) bool {
	if !at.declared[v] && !at.assigned[v] {
		return false
	}
	return v.Type.Kind != types.Int || at.known.unknown[v]
}

// leaf adds a unit: a statement, with the statements after it that must be evaluated together with
// it.
func (rc *recorder) leaf(s ir.Stmt, rest []ir.Stmt) {
	u := &Statement{Stmts: append([]ir.Stmt{s}, rest...), Scope: rc.at.scope, Unit: &plan.Unit{ID: len(rc.nest.Statements), Domain: rc.at.axis, Loop: rc.loop}}
	rc.nest.Statements = append(rc.nest.Statements, u)
	rc.nest.Plan.Units = append(rc.nest.Plan.Units, u.Unit)
	rc.loop.Body = append(rc.loop.Body, u.Unit)
	rc.unit(u)
}

// history returns the variable in the form that the plan uses.
func (rc *recorder) history(x *Variable) *plan.Variable {
	h := rc.used[x]
	if h == nil {
		h = &plan.Variable{
			ID: len(rc.nest.Used), Size: x.Size(), Home: x.Home, Inside: rc.at.declared[x.Var], Integer: x.Var.Type.Kind == types.Int,
		}
		rc.used[x] = h
		rc.nest.Plan.Variables = append(rc.nest.Plan.Variables, h)
		rc.nest.Used = append(rc.nest.Used, x)
	}
	return h
}

func (rc *recorder) unit(u *Statement) {
	s := u.Stmts[0]
	switch s := s.(type) {
	case *ir.Unpack:
		rc.uses(s.Value)
		for _, v := range s.Vars {
			rc.touch(v, nil, plan.Writes)
		}
		return
	case *ir.Assign:
		rc.assigns(s)
		return
	case *ir.Target:
		rc.uses(s.Value)
		return
	case *ir.Tilde:
		rc.uses(s.Density)
		return
	case *ir.CallStmt:
		rc.uses(s.Call)
		return
	case *ir.Reject:
		for _, e := range s.Args {
			rc.uses(e)
		}
		return
	}
	u.Compound = true
	for _, s := range u.Stmts {
		rc.within(s)
	}
}

// within records what the statements of a compound unit use. In such a unit, variables that they
// assign and variables of their loops have no known values.
func (rc *recorder) within(s ir.Stmt) {
	vars := static.VariablesOf(s)
	local := vars.Declared
	maps.Copy(local, vars.OfLoops)
	for _, v := range vars.Assigned {
		if !rc.at.isWatched(v) && !local[v] {
			rc.lose(v)
		}
	}
	if rc.at.ev.Functions().SideEffectsIn(s)&static.Prints != 0 {
		rc.refuse(PrintsOrder)
	}
	if rc.again {
		return
	}
	vary := map[*ir.Var]bool{}
	rc.at.hiding(local, func() {
		for v := range ir.Vars(s) {
			x := rc.at.variable(v)
			if x == nil {
				continue
			}
			if rc.at.isWatched(v) && v.Type.Kind == types.Int {
				vary[v] = true
			} else if u, ok := rc.at.valueOf(x); ok && u.Ints != nil && u.Axis != nil {
				vary[v] = true
			}
		}
		if rc.ragged = rc.at.ev.Functions().SizesVary(s, vary); rc.ragged {
			defer func() { rc.ragged = false }()
		}
		rc.withinStmt(s)
	})
}

// withinStmt records what one statement of a compound unit uses, while variables local to the unit
// are hidden. The sides of a condition that data decide exclude iterations.
func (rc *recorder) withinStmt(s ir.Stmt) {
	if a, ok := s.(*ir.Assign); ok && rc.at.isWatched(a.Var) {
		rc.assigns(a)
		return
	}
	for e := range ir.Exprs(s) {
		rc.uses(e)
	}
	switch s := s.(type) {
	case *ir.If:
		cond, ok := rc.at.lookInt(s.Cond)
		side := func(s ir.Stmt, then bool) {
			if s == nil {
				return
			}
			masks := rc.at.masks
			if ok {
				rc.at.masks = append(slices.Clip(masks), lanes.Mask{Cond: cond, Side: then})
			}
			rc.withinStmt(s)
			rc.at.masks = masks
		}
		side(s.Then, true)
		side(s.Else, false)
	case *ir.Declare:
		for _, e := range s.Var.Sizes {
			rc.size(e)
		}
	default:
		for t := range ir.Inner(s) {
			rc.withinStmt(t)
		}
	}
}

// sizes checks that an expression makes values of the same size in all iterations. It does not
// check its subexpressions.
func (rc *recorder) sizes(e ir.Node) {
	switch e := e.(type) {
	case *ir.Call:
		for _, a := range static.SizeArgs(e) {
			rc.size(a)
		}
	case *ir.UserCall:
		args, parts := rc.at.ev.Functions().Call(e)
		for _, a := range args {
			rc.size(a)
		}
		for _, s := range parts {
			rc.slice(s[0], s[1])
		}
	case *ir.IndexExpr:
		for _, ix := range e.Indices {
			if ix.Kind == ir.IndexRange {
				rc.slice(ix.A, ix.B)
			}
		}
	}
}

// slice checks that a slice has the same size in all iterations. first and last are its bounds; nil
// means the bound of the dimension.
func (rc *recorder) slice(first, last ir.Expr) {
	from, to, ok := lanes.Int(1), lanes.Int(math.MaxInt32), true // any end is as good: it is the same in all
	if first != nil {
		from, ok = rc.at.lookInt(first)
	}
	if last != nil && ok {
		to, ok = rc.at.lookInt(last)
	}
	if ok {
		lanes.SliceAgreed(rc.at, from, to, lanes.Innermost(from.Axis, to.Axis))
	} else {
		rc.unknownSize()
	}
}

// size checks that a size is the same in all iterations.
func (rc *recorder) size(e ir.Expr) {
	v, ok := rc.at.lookInt(e)
	switch n := v.Size(); {
	case !ok:
		rc.unknownSize()
	case v.Axis != nil:
		v = v.Narrow(rc.at.axis)
		for k := range n {
			at := lanes.Value{Axis: v.Axis, Ints: make([]int64, v.Axis.N)}
			for l := range at.Ints {
				at.Ints[l] = v.Ints[l*n+k]
			}
			at.MustAgree(rc.at.Excluded(at.Axis))
		}
	}
}

// unknownSize refuses the loop because a size is not known. It does not refuse it in a compound
// unit whose sizes agree in all iterations: there the size may become known during evaluation.
func (rc *recorder) unknownSize() {
	if k := len(rc.nest.Statements); rc.ragged || k > 0 && !rc.nest.Statements[k-1].Compound {
		rc.refuse(unknownSize)
	}
}

// hiding runs fn while the values of the variables in local are hidden.
func (at *sight) hiding(local map[*ir.Var]bool, fn func()) {
	scope := at.scope
	at.scope = slices.Clone(scope)
	for v := range local {
		at.scope[v.ID] = hidden
	}
	fn()
	at.scope = scope
}

// assigns records what an assignment to a variable of the nest uses.
func (rc *recorder) assigns(s *ir.Assign) {
	for _, ix := range s.Indices {
		rc.uses(ix.A)
		rc.uses(ix.B)
	}
	rc.uses(s.Value)
	switch {
	case s.Op == "":
		rc.touch(s.Var, s.Indices, plan.Writes)
	case (s.Op == "+" || s.Op == "-") && s.Var.Type.Kind != types.Int:
		rc.touch(s.Var, s.Indices, plan.Adds)
	default:
		rc.touch(s.Var, s.Indices, plan.Reads)
		rc.touch(s.Var, s.Indices, plan.Writes)
	}
}

// uses records the reads of an expression.
func (rc *recorder) uses(e ir.Expr) {
	ir.Inspect(e, func(e ir.Node) bool {
		rc.sizes(e)
		switch e := e.(type) {
		case *ir.VarRef:
			rc.touch(e.Var, nil, plan.Reads)
		case *ir.TargetValue:
			rc.refuse(TargetRead)
		case *ir.Call:
			return static.Measured(e) == nil
		case *ir.UserCall:
			if rc.at.ev.Functions().SideEffectsOf(e.Func)&static.Prints != 0 {
				rc.refuse(PrintsOrder)
			}
		case *ir.IndexExpr:
			v, ok := e.X.(*ir.VarRef)
			if !ok {
				return true
			}
			for _, ix := range e.Indices {
				rc.uses(ix.A)
				rc.uses(ix.B)
			}
			rc.touch(v.Var, e.Indices, plan.Reads)
			return false
		case *ir.Cond:
			rc.either(e.Cond, e.Then, e.Else)
			return false
		case *ir.And:
			rc.either(e.X, e.Y, nil)
			return false
		case *ir.Or:
			rc.either(e.X, nil, e.Y)
			return false
		}
		return true
	})
}

// either records the reads of a condition and of two sides, each in the lanes that evaluate it. A
// side may be nil.
func (rc *recorder) either(cond, then, els ir.Expr) {
	rc.uses(cond)
	c, ok := rc.at.lookInt(cond)
	if !ok {
		rc.uses(then)
		rc.uses(els)
		return
	}
	side := func(e ir.Expr) func() static.Signal {
		return func() static.Signal {
			rc.uses(e)
			return static.GoesOn
		}
	}
	rc.at.choose(c, side(then), side(els))
}

// touch records a use of a variable.
func (rc *recorder) touch(v *ir.Var, indices []ir.Index, how plan.Use) {
	x := rc.at.variable(v)
	if x == nil || rc.Why != "" || !rc.at.isWatched(v) {
		return
	}
	u := rc.nest.Statements[len(rc.nest.Statements)-1]
	acc := lanes.WholeOf(x.Shape)
	t := plan.Touch{Axis: rc.at.axis, How: how}
	if len(indices) > 0 {
		if some, ok := rc.elements(x, indices); ok {
			acc = some
		} else {
			t.Some = true
		}
	}
	if x.Copy != nil {
		if x.Part { // the copy has only the elements that are used
			t.Some, acc = false, lanes.WholeOf(x.Copy.Shape)
		}
		x = x.Copy
	}
	t.Variable = rc.history(x)
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

// elements returns the elements that indices select; ok is false if the indices are unknown or out
// of range.
func (rc *recorder) elements(x *Variable, indices []ir.Index) (acc lanes.Access, ok bool) {
	for _, ix := range indices {
		if ix.A != nil && !rc.at.isKnown(ix.A) || ix.B != nil && !rc.at.isKnown(ix.B) || ix.After != nil && !rc.at.isKnown(ix.After) {
			return acc, false
		}
	}
	passes := rc.at.passes(func() { acc, ok = lanes.Select(rc.at, x.Shape, indices, "") })
	return acc, passes && ok && !acc.None
}
