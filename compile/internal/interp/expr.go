package interp

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// expr resolves an expression.
func (s *scope) expr(e ir.Expr) expr {
	s.depth++
	defer func() { s.depth-- }()
	switch e := e.(type) {
	case *ir.IntLit:
		x := float64(e.Value)
		out := ofInt(func(*frame) int64 { return e.Value })
		out.number = &x
		return out
	case *ir.RealLit:
		out := ofReal(ir.Data, func(f *frame) float64 {
			f.ref = none
			return e.Value
		})
		out.number = &e.Value
		return out
	case *ir.VarRef:
		return s.variable(e.Var)
	case *ir.Operand:
		return s.operandOf(e)
	case *ir.Promote:
		return s.promote(e)
	case *ir.IndexExpr:
		return s.index(e)
	case *ir.Call:
		return s.library(e)
	case *ir.UserCall:
		return s.userCall(e)
	case *ir.Cond:
		return s.choice(e)
	case *ir.And:
		x, y := s.expr(e.X).int, s.expr(e.Y).int
		return ofInt(func(f *frame) int64 { return truth(x(f) != 0 && y(f) != 0) })
	case *ir.Or:
		x, y := s.expr(e.X).int, s.expr(e.Y).int
		return ofInt(func(f *frame) int64 { return truth(x(f) != 0 || y(f) != 0) })
	case *ir.ArrayLit:
		return s.literal(e.Ty, e.Elems)
	case *ir.RowVectorLit:
		return s.literal(e.Ty, e.Elems)
	case *ir.Tuple:
		return s.tuple(e)
	case *ir.Member:
		x := s.expr(e.X)
		from, to := e.X.Type().LeafRange(e.I)
		levels := x.levels[from:to]
		if !e.Ty.Composite() {
			return typed(e.Ty, levels, x.fresh, func(f *frame) *array { return x.leaves(f)[from] })
		}
		return ofLeaves(levels, x.fresh, func(f *frame) []*array { return x.leaves(f)[from:to] })
	case *ir.TargetValue:
		return ofReal(ir.Param, func(f *frame) float64 {
			f.ref = f.m.targetRef()
			return f.m.target.value
		})
	}
	panic(fmt.Sprintf("interp: an expression that is none: %T", e))
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (s *scope) variable(v *ir.Var) expr {
	id, level := v.ID, s.levels[v.ID]
	switch {
	case !isNumber(v.Type):
		return ofArray(level, false, func(f *frame) *array { return f.arrays[id] })
	case v.Type.Kind == types.Int:
		return ofInt(func(f *frame) int64 { return f.ints[id] })
	}
	return ofReal(level, func(f *frame) float64 {
		f.ref = f.refs[id]
		return f.reals[id]
	})
}

// operandOf returns the old value of the target of a compound assignment.
func (s *scope) operandOf(e *ir.Operand) expr {
	switch {
	case !isNumber(e.Ty):
		return ofArray(e.Lv, false, func(f *frame) *array { return f.operand.array })
	case e.Ty.Kind == types.Int:
		return ofInt(func(f *frame) int64 { return f.operand.int })
	}
	return ofReal(e.Lv, func(f *frame) float64 {
		f.ref = f.operand.ref
		return f.operand.real
	})
}

func (s *scope) choice(e *ir.Cond) expr {
	cond, x, y := s.expr(e.Cond).int, s.expr(e.Then), s.expr(e.Else)
	levels := settle(e.Ty, highest([]expr{x, y}, len(x.levels)))
	fresh := x.fresh && y.fresh
	switch {
	case x.int != nil:
		return ofInt(func(f *frame) int64 {
			if cond(f) != 0 {
				return x.int(f)
			}
			return y.int(f)
		})
	case x.real != nil:
		return ofReal(levels[0], func(f *frame) float64 {
			if cond(f) != 0 {
				return x.real(f)
			}
			return y.real(f)
		})
	case x.leaves != nil:
		return ofLeaves(levels, fresh, func(f *frame) []*array {
			if cond(f) != 0 {
				return x.leaves(f)
			}
			return y.leaves(f)
		})
	}
	return ofArray(levels[0], fresh, func(f *frame) *array {
		if cond(f) != 0 {
			return x.array(f)
		}
		return y.array(f)
	})
}

// promote converts a value to another type.
func (s *scope) promote(e *ir.Promote) expr {
	x, from, to := s.expr(e.X), e.X.Type(), e.Ty
	switch {
	case from.Equal(to):
		return x
	case x.int != nil && to.Equal(types.RealType):
		out := ofReal(ir.Data, func(f *frame) float64 {
			n := x.int(f)
			f.ref = none
			return float64(n)
		})
		out.number = x.number
		return out
	case from.Composite() || to.Composite():
		parts := x.parts()
		return ofLeaves(settle(to, types.PromotedLeaves(x.levels, from, to)), false, func(f *frame) []*array { return promoted(parts(f), from, to) })
	}
	return ofArray(x.levels[0], true, func(f *frame) *array {
		a := x.array(f)
		return &array{shape: a.shape, reals: toReals(a.ints)}
	})
}

// promoted returns the leaves of a value converted to another type.
func promoted(leaves []*array, from, to types.Type) []*array {
	if from.Kind == types.Tuple {
		var out []*array
		for i, m := range from.Members {
			lo, hi := from.LeafRange(i)
			out = append(out, promoted(leaves[lo:hi], m, to.Members[i])...)
		}
		return out
	}
	if from.Composite() || from.Equal(to) {
		return leaves
	}
	a := leaves[0]
	if a.isInt() {
		a = &array{shape: a.shape, reals: toReals(a.ints)}
	}
	if !to.Composite() {
		return []*array{a}
	}
	return []*array{a, {shape: a.shape, reals: make([]float64, len(a.reals))}} // a complex number
}

func (s *scope) tuple(e *ir.Tuple) expr {
	var parts []func(*frame) []*array
	var fresh []bool
	var levels []ir.Level
	for _, x := range e.Elems {
		p := s.expr(x)
		parts, fresh, levels = append(parts, p.parts()), append(fresh, p.fresh), append(levels, p.levels...)
	}
	at := e.Span()
	return ofLeaves(settle(e.Ty, levels), false, func(f *frame) []*array {
		var out []*array
		held := int64(0)
		for i, p := range parts {
			values := p(f)
			held += f.m.hold(at, fresh[i], values...)
			out = append(out, values...)
		}
		f.m.budget.Return(held)
		return out
	})
}

// literal evaluates {…} or […], leaf by leaf.
func (s *scope) literal(t types.Type, elems []ir.Expr) expr {
	parts := make([]expr, len(elems))
	for i, e := range elems {
		parts[i] = s.expr(e)
	}
	kinds := t.Leaves()
	levels := settle(t, highest(parts, len(kinds)))
	join := func(f *frame) []*array {
		rows, held := make([][]*array, len(parts)), int64(0)
		for i, p := range parts {
			rows[i] = p.parts()(f)
			held += f.m.hold(elems[i].Span(), p.fresh && p.int == nil && p.real == nil, rows[i]...)
		}
		out := make([]*array, len(kinds))
		for k, leaf := range kinds {
			column := make([]*array, len(rows))
			shape := make([]int, leaf.Type.Rank()-1)
			for i, r := range rows {
				column[i] = r[k]
				if i == 0 {
					shape = r[k].shape
				}
				f.m.fits(elems[i].Span(), "the literal", shape, r[k].shape)
			}
			f.m.reserve(elems[0].Span(), len(column)*count(shape))
			out[k] = f.m.stack(leaf.Type, shape, column)
		}
		f.m.budget.Return(held)
		return out
	}
	if t.Composite() {
		return ofLeaves(levels, true, join)
	}
	return ofArray(levels[0], true, func(f *frame) *array { return join(f)[0] })
}

// ---- user functions ----

// userCall evaluates a call with a value.
func (s *scope) userCall(e *ir.UserCall) expr {
	switch e.Func.Intrinsic {
	case ir.Detach:
		x := s.expr(e.Args[0])
		return typed(e.Ty, x.levels, true, func(f *frame) *array {
			a := x.array(f).clone()
			a.rec = nil
			return a
		})
	case ir.Jacobian:
		return s.jacobian(e)
	}
	call, given := s.call(e)
	levels := uniform(e.Ty, []expr{{levels: given}})
	at, name := e.At, e.Func.Name
	run := func(f *frame) *result {
		r, ok := call(f)
		if !ok {
			f.m.fail(at, diag.NoReturn, "`%s` ended without a return statement", name).throw()
		}
		return r
	}
	switch {
	case e.Ty.Composite():
		return ofLeaves(levels, true, func(f *frame) []*array { return run(f).leaves })
	case !isNumber(e.Ty):
		return ofArray(levels[0], true, func(f *frame) *array { return run(f).array })
	case e.Ty.Kind == types.Int:
		return ofInt(func(f *frame) int64 { return run(f).int })
	}
	return ofReal(levels[0], func(f *frame) float64 {
		r := run(f)
		f.ref = r.ref
		return r.real
	})
}

// call resolves a call, whose arguments have levels; ok is false if the function ended without a
// return.
func (s *scope) call(e *ir.UserCall) (run func(f *frame) (r *result, ok bool), levels []ir.Level) {
	// A density drops terms if it is called with ~ or as _lupdf.
	propto := s.propto && e.Propto
	if addsToTarget(e.Func) {
		propto = s.propto
	}
	levels = []ir.Level{ir.Data} // of a call without arguments
	var pass []func(from, to *frame)
	next := 0
	for _, a := range e.Args {
		x := s.expr(a)
		levels = append(levels, x.levels...)
		n := len(x.levels)
		pass = append(pass, passArgs(a.Span(), e.Func.Params[next:next+n], x))
		next += n
	}
	fn := s.function(e.Func, levels[1:], propto)
	site := callSite{e.Func.Name, e.At, s.depth + 1}
	run = func(f *frame) (*result, bool) {
		m := f.m
		if m.ticks--; m.ticks < 0 {
			m.ask(site.at)
		}
		inner := m.enter(site.at, fn)
		for _, p := range pass {
			p(f, inner)
		}
		m.call(site)
		sig := fn.body(inner)
		m.returned(site)
		m.leave(fn, inner)
		return &inner.result, sig == returns
	}
	return run, levels
}

// passArgs returns a function that stores an argument in the parameters that are its leaves. Arrays
// still belong to the caller: no function changes its arguments.
func passArgs(at source.Span, params []*ir.Var, x expr) func(from, to *frame) {
	id := params[0].ID
	switch {
	case x.int != nil && params[0].Type.Kind == types.Int:
		return func(from, to *frame) { to.ints[id] = x.int(from) }
	case x.real != nil:
		return func(from, to *frame) {
			v := x.real(from)
			to.reals[id], to.refs[id] = v, from.ref
		}
	}
	parts := x.parts()
	sets := make([]func(*frame, *array), len(params))
	for k, p := range params {
		sets[k] = set(p)
		if x.fresh {
			sets[k] = keep(at, p)
		}
	}
	return func(from, to *frame) {
		for k, a := range parts(from) {
			sets[k](to, a)
		}
	}
}

// jacobian evaluates the matrix of derivatives of a function's vector with respect to one of its
// arguments, a vector: the call is recorded separately and the record differentiated.
func (s *scope) jacobian(e *ir.UserCall) expr {
	var levels []ir.Level
	var parts []func(*frame) []*array
	for _, a := range e.Args {
		x := s.expr(a)
		levels, parts = append(levels, x.levels...), append(parts, x.parts())
	}
	fn := s.function(e.Func.Of, levels, s.propto)
	by, site := e.Func.Arg, callSite{e.Func.Of.Name, e.At, s.depth + 1}
	return ofArray(uniform(types.RealType, []expr{{levels: levels}})[0], true, func(f *frame) *array {
		var args []*array
		for _, p := range parts {
			args = append(args, p(f)...)
		}
		return f.m.jacobian(fn, site, args, by)
	})
}

func (m *machine) jacobian(fn *function, site callSite, args []*array, by int) *array {
	outer := m.rec
	inner := &recorder{g: ad.NewGraph(), sites: newSites()}
	inner.g.Use(m.budget)
	defer func() { m.budget.Return(inner.g.Taken()) }()
	if outer != nil {
		inner.sites = outer.sites
	}
	x := args[by]
	in := inner.g.Input(ad.Type{Shape: x.shape})
	refs, inputs := []ad.Ref{m.refOf(x)}, [][]float64{x.reals}
	if refs[0] == none && outer != nil {
		refs[0] = outer.g.ConstArray(ad.Type{Shape: x.shape}, slices.Clone(x.reals))
	}
	to := m.enter(site.at, fn)
	for i, a := range args {
		b := *a
		b.rec = nil
		switch r := m.refOf(a); {
		case i == by:
			b.rec = &recorded{whole: in}
		case r != none:
			b.rec = &recorded{whole: inner.g.Input(ad.Type{Shape: a.shape})}
			refs, inputs = append(refs, r), append(inputs, a.reals)
		}
		m.rec = inner
		set(fn.of.Params[i])(to, &b)
		m.rec = outer
	}
	m.rec = inner
	m.call(site)
	sig := fn.body(to)
	m.returned(site)
	if sig != returns {
		m.fail(site.at, diag.NoReturn, "`%s` ended without a return statement", site.name).throw()
	}
	out := to.result.array
	if isNumber(fn.of.Result) {
		out = realArray(to.result.real, to.result.ref)
	}
	r := m.refOf(out)
	m.leave(fn, to)
	m.rec = outer
	rows, columns := len(out.reals), len(x.reals)
	m.reserve(site.at, count([]int{rows, columns}))
	zeros := &array{shape: []int{rows, columns}, reals: make([]float64, rows*columns)}
	if r == none {
		return zeros
	}
	g := inner.g
	g.Outputs = m.catch(site.at, func() []ad.Ref {
		if j := g.Jacobian(g.Broadcast(r, []int{rows}), in, false); j != none {
			return []ad.Ref{g.Transpose(j)}
		}
		return nil
	})
	if g.Outputs == nil {
		return zeros
	}
	values, err := g.Eval(inputs, &ad.Env{Rand: m.opts.Rand, Stop: m.opts.Stop})
	if err != nil {
		m.rejected(site.at, err)
	}
	a := &array{shape: []int{rows, columns}, reals: values[0]}
	if outer != nil {
		if ref := outer.g.Inline(g, refs, false)[0]; !isConstant(outer.g, ref) {
			a.rec = &recorded{whole: ref}
		}
	}
	return a
}

func isConstant(g *ad.Graph, r ad.Ref) bool {
	_, ok := g.Value(r)
	return ok
}
