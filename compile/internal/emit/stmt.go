package emit

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// statements runs statements.
type statements struct {
	floor
	vars  *variables
	lp    *logDensity
	ctl   *control
	idx   *indexer
	lib   *library
	users *userCalls
	ex    *expressions
	loops *loops
}

func (st *statements) exec(s ir.Stmt) signal {
	switch s.(type) {
	case nil:
		return goesOn
	case *ir.If:
		return st.execAll([]ir.Stmt{s})
	}
	old := st.rep.move(s.Span())
	defer st.rep.move(old)
	st.rep.step()
	st.rep.deeper(s.Span())
	defer st.rep.shallower()
	switch s := s.(type) {
	case *ir.Declare:
		st.declare(s)
	case *ir.Unpack:
		st.unpack(s)
	case *ir.Assign:
		st.assign(s)
	case *ir.Target:
		st.target(s)
	case *ir.Tilde:
		st.add(s.Density, true)
	case *ir.CallStmt:
		st.users.userCall(s.Call)
	case *ir.Block:
		return st.execAll(s.Stmts)
	case *ir.For:
		return st.loops.execFor(s)
	case *ir.ForEach:
		return st.loops.run(st.loops.iter.overElements(s))
	case *ir.While:
		if s.Counted != nil && !st.at.mayBeSkipped() { // work that may be skipped is bounded below
			return st.exec(s.Counted)
		}
		return st.ctl.loopEnds(st.loops.whileFrom(s, 0))
	case *ir.Break:
		return breaks
	case *ir.Continue:
		return continues
	case *ir.Return:
		st.ctl.result = nil
		if s.Value != nil {
			v := st.ex.eval(s.Value)
			st.ctl.result = &v
		}
		return returns
	case *ir.Print:
		st.print(s)
	case *ir.Reject:
		st.reject(s)
	}
	return goesOn
}

// execAll runs statements in order.
func (st *statements) execAll(stmts []ir.Stmt) signal {
	return static.Sequence(stmts, func(s ir.Stmt, rest []ir.Stmt) (sig signal, done bool) {
		f, ok := s.(*ir.If)
		if !ok {
			return st.exec(s), false
		}
		old := st.rep.move(s.Span())
		defer st.rep.move(old)
		st.rep.step()
		then, els, done := static.Sides(f, rest)
		return st.ctl.choose(st.ex.eval(f.Cond), func() signal { return st.execAll(then) }, func() signal { return st.execAll(els) }), done
	}, st.ctl.onlyIf)
}

func (st *statements) declare(s *ir.Declare) {
	v := s.Var
	c := st.mem.localCell(v, st.ex.sizes(v))
	st.vars.cells[v.ID] = c
	if s.Init != nil {
		init := st.ex.eval(s.Init)
		st.mem.checkShape(s.Init.Span(), v.Name, c.shape, init.shape)
		if v.Marks && st.lp.marked {
			init.ref, init.lvl, init.param = st.b.root.g.Input(ad.Type{Shape: c.shape}), st.b.root, true
		}
		c.setWhole(st.arr.convert(init, c.typ))
	}
}

// unpack declares variables for the leaves of a value. The nest has declared those of its units.
func (st *statements) unpack(s *ir.Unpack) {
	for k, leaf := range st.ex.eval(s.Value).parts() {
		v := s.Vars[k]
		c := st.vars.cell(v)
		if n := st.at.nest; n == nil || n.watched[c] == nil {
			c = st.mem.newCell(v, v.Name, v.Type, leaf.shape)
			st.vars.cells[v.ID] = c
		}
		c.param = leaf.param && v.Type.Kind != types.Int
		st.mem.checkShape(s.Span(), c.name, c.shape, leaf.shape)
		st.vars.store(c, lanes.WholeOf(c.shape), leaf)
	}
}

func (st *statements) assign(s *ir.Assign) {
	c := st.vars.cell(s.Var)
	acc := lanes.WholeOf(c.shape)
	if len(s.Indices) > 0 {
		var ok bool
		if acc, ok = st.idx.accessTo(c, s.Indices, "`"+s.Var.Name+"`"); !ok {
			st.assignComputed(c, s)
			return
		}
		if acc.None {
			st.ex.eval(s.Value)
			return
		}
	}
	if s.Op == "" {
		v := st.ex.eval(s.Value)
		st.mem.checkShape(s.Value.Span(), s.Var.Name, acc.Index.Shape(), v.shape)
		st.vars.store(c, acc, v)
		return
	}
	if (s.Op == "+" || s.Op == "-") && c.typ.Kind != types.Int {
		v := st.ex.eval(s.Value)
		shape := acc.Index.Shape()
		if len(v.shape) > 0 {
			st.mem.checkShape(s.Value.Span(), s.Var.Name, shape, v.shape)
		} else if len(shape) > 0 {
			v = st.b.emitMove(types.Type{Kind: types.Real, Dims: len(shape)}, []value{v}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
				return g.Broadcast(a[0], shape)
			})
		}
		st.vars.accumulate(c, acc, v, s.Op == "-")
		return
	}
	v := st.ex.combine(s.Combine, st.vars.load(c, acc, s.Combine.Type()))
	st.mem.checkShape(s.Value.Span(), s.Var.Name, acc.Index.Shape(), v.shape)
	st.vars.store(c, acc, v)
}

func (st *statements) target(s *ir.Target) {
	if s.Jacobian && (!st.opts.Jacobian || st.lp.marking) {
		st.ex.eval(s.Value) // for its checks
		return
	}
	st.add(s.Value, false)
}

// add adds an expression to the log density, and the terms of a density one by one. tilde says that
// constants are dropped.
func (st *statements) add(e ir.Expr, tilde bool) {
	c, ok := e.(*ir.Call)
	if !ok || static.FuncOf(c).Terms == nil {
		st.lp.addTarget(st.ex.eval(e))
		return
	}
	for _, t := range st.lib.terms(c, static.FuncOf(c), st.lp.propto && (tilde || c.Propto)) {
		st.lp.addTarget(t)
	}
}

// message evaluates the arguments of print or reject.
func (st *statements) message(args []ir.Expr, fatal bool) (*ad.Message, []value) {
	m := &ad.Message{Fatal: fatal}
	var vals []value
	for _, a := range args {
		if s, ok := a.(*ir.StringLit); ok {
			m.Parts = append(m.Parts, ad.MessagePart{Text: s.Value, Arg: -1})
			continue
		}
		m.Parts = append(m.Parts, ad.MessagePart{Arg: len(vals), Form: formOf(a)})
		for _, v := range st.ex.eval(a).parts() {
			vals = append(vals, st.b.numeric(v))
		}
	}
	return m, vals
}

// known returns the text of arguments that are strings or known integers, in the first iteration
// that gets here.
func (st *statements) known(args []ir.Expr) (text string, ok bool) {
	for _, a := range args {
		if s, ok := a.(*ir.StringLit); ok {
			text += s.Value
			continue
		}
		v := st.at.narrow(st.ex.eval(a))
		if v.ints == nil || len(v.shape) > 0 {
			return "", false
		}
		lane := 0
		if v.axis != nil {
			lane = max(0, slices.Index(st.at.excluded(v.axis), false))
		}
		if lane >= len(v.ints) {
			return "", false
		}
		text += fmt.Sprint(v.ints[lane])
	}
	return text, true
}

func (st *statements) print(s *ir.Print) {
	if !st.at.inOrder() {
		panic(&fault{Reason: "print: its order matters"})
	}
	m, vals := st.message(s.Args, false)
	st.b.emitEffect(vals, func(g *ad.Graph, refs []ad.Ref) { g.Print(m, refs...) })
}

func (st *statements) reject(s *ir.Reject) {
	if s.Range && !st.at.mayBeSkipped() && !st.at.hidden() && !st.at.scanning() {
		if text, ok := st.known(s.Args); ok {
			st.rep.complainOfCall(interp.OutOfRange(s.At, text)).throw()
		}
	}
	m, vals := st.message(s.Args, s.Fatal)
	st.b.emitEffect(vals, func(g *ad.Graph, refs []ad.Ref) { g.RejectIf(g.Const(1), m, refs...) })
}

// assignComputed assigns to elements whose indices are computed at run time: it replaces these
// elements in the whole variable.
func (st *statements) assignComputed(c *cell, s *ir.Assign) {
	pos := st.idx.computedPositions(c.shape, s.Indices)
	whole := lanes.WholeOf(c.shape)
	old := st.b.numeric(st.vars.load(c, whole, c.typ))
	var v value
	if s.Op == "" {
		v = st.ex.eval(s.Value)
	} else {
		part := st.arr.take(old, pos, s.Combine.Type())
		part.param = c.param
		v = st.ex.combine(s.Combine, part)
	}
	st.mem.checkShape(s.Value.Span(), s.Var.Name, pos.shape, v.shape)
	st.vars.store(c, whole, st.arr.replace(old, v, pos))
}

// formOf says how an argument is printed.
func formOf(e ir.Expr) *ad.Form {
	form := stdlib.FormOf(e.Type())
	if t, ok := e.(*ir.Tuple); ok {
		form.Rows = t.Rows
	}
	return form
}
