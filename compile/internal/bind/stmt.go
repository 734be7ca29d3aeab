package bind

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

func (b *binder) exec(s ir.Stmt) signal {
	switch s.(type) {
	case nil:
		return goesOn
	case *ir.If:
		return b.execAll([]ir.Stmt{s})
	}
	old := b.at(s.Span())
	defer b.setSpan(old)
	b.step()
	b.deeper(s.Span())
	defer b.shallower()
	switch s := s.(type) {
	case *ir.Declare:
		b.declare(s)
	case *ir.Unpack:
		b.unpack(s)
	case *ir.Assign:
		b.assign(s)
	case *ir.Target:
		b.target(s)
	case *ir.Tilde:
		b.tilde(s)
	case *ir.CallStmt:
		b.userCall(s.Call)
	case *ir.Block:
		return b.execAll(s.Stmts)
	case *ir.For:
		return b.execFor(s)
	case *ir.ForEach:
		return b.execForEach(s)
	case *ir.While:
		return b.execWhile(s)
	case *ir.Break:
		return breaks
	case *ir.Continue:
		return continues
	case *ir.Return:
		b.result = nil
		if s.Value != nil {
			v := b.eval(s.Value)
			b.result = &v
		}
		return returns
	case *ir.Print:
		b.print(s)
	case *ir.Reject:
		b.reject(s)
	}
	return goesOn
}

// execAll runs statements in order.
func (b *binder) execAll(stmts []ir.Stmt) signal {
	return static.Sequence(stmts, func(s ir.Stmt, rest []ir.Stmt) (sig signal, done bool) {
		f, ok := s.(*ir.If)
		if !ok {
			return b.exec(s), false
		}
		old := b.at(s.Span())
		defer b.setSpan(old)
		b.step()
		then, els, done := static.Sides(f, rest)
		return b.choose(b.eval(f.Cond), func() signal { return b.execAll(then) }, func() signal { return b.execAll(els) }), done
	}, b.onlyIf)
}

// ---- declarations and assignments ----

// sizes evaluates the sizes of a declared variable.
func (b *binder) sizes(v *ir.Var) []int {
	shape, wrong := inspect.Shape(v, func(e ir.Expr) int64 {
		n := b.knownInt(e, "a size")
		if n.axis == nil {
			return n.ints[0]
		}
		n = b.narrow(n)
		return n.known().MustAgree(b.excluded(n.axis))
	})
	if wrong != nil && wrong.Code == diag.TooLarge {
		b.complain(*wrong).halt()
	}
	if wrong != nil {
		b.complain(*wrong).throw()
	}
	return shape
}

func (b *binder) declare(s *ir.Declare) {
	v := s.Var
	c := b.localCell(v, b.sizes(v))
	b.cells[v.ID] = c
	if s.Init != nil {
		init := b.eval(s.Init)
		b.checkShape(s.Init.Span(), v.Name, c.shape, init.shape)
		c.setWhole(b.convert(init, c.typ))
	}
}

// localCell makes the cell of a variable that a statement declares, unset.
func (b *binder) localCell(v *ir.Var, shape []int) *cell {
	c := b.newCell(v, v.Name, v.Type, shape)
	if b.inFunction() {
		c.param = b.calls[len(b.calls)-1].param && v.Type.Kind != types.Int
	}
	c.setWhole(b.unset(v.Type, c.shape))
	return c
}

// unpack declares the variables of the leaves of a value.
func (b *binder) unpack(s *ir.Unpack) {
	for k, leaf := range b.eval(s.Value).parts() {
		v := s.Vars[k]
		c := b.newCell(v, v.Name, v.Type, leaf.shape)
		c.param = leaf.param && v.Type.Kind != types.Int
		c.setWhole(b.convert(leaf, v.Type))
		b.cells[v.ID] = c
	}
}

func (b *binder) assign(s *ir.Assign) {
	c := b.cell(s.Var)
	acc := lanes.WholeOf(c.shape)
	if len(s.Indices) > 0 {
		var ok bool
		if acc, ok = b.accessTo(c, s.Indices, "`"+s.Var.Name+"`"); !ok {
			b.assignComputed(c, s)
			return
		}
		if acc.None {
			b.eval(s.Value)
			return
		}
	}
	if s.Op == "" {
		v := b.eval(s.Value)
		b.checkShape(s.Value.Span(), s.Var.Name, acc.Index.Shape(), v.shape)
		b.store(c, acc, v)
		return
	}
	if (s.Op == "+" || s.Op == "-") && c.typ.Kind != types.Int {
		v := b.eval(s.Value)
		shape := acc.Index.Shape()
		if len(v.shape) > 0 {
			b.checkShape(s.Value.Span(), s.Var.Name, shape, v.shape)
		} else if len(shape) > 0 {
			v = b.emitMove(types.Type{Kind: types.Real, Dims: len(shape)}, []value{v}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
				return g.Broadcast(a[0], shape)
			})
		}
		b.accumulate(c, acc, v, s.Op == "-")
		return
	}
	old := b.load(c, acc, s.Combine.Type())
	outer := b.operand
	b.operand = &old
	v := b.eval(s.Combine)
	b.operand = outer
	b.checkShape(s.Value.Span(), s.Var.Name, acc.Index.Shape(), v.shape)
	b.store(c, acc, v)
}

// ---- log density ----

func (b *binder) target(s *ir.Target) {
	if s.Jacobian && (!b.opts.Jacobian || b.marking) {
		b.eval(s.Value) // for its checks
		return
	}
	if c, ok := s.Value.(*ir.Call); ok {
		if f := static.FuncOf(c); f.Terms != nil { // its addends are added over lanes one by one
			for _, t := range b.terms(c, f, c.Propto && b.propto) {
				b.addTarget(t)
			}
			return
		}
	}
	b.addTarget(b.eval(s.Value))
}

func (b *binder) tilde(s *ir.Tilde) {
	switch d := s.Density.(type) {
	case *ir.Call:
		if f := static.FuncOf(d); f.Terms != nil {
			for _, t := range b.terms(d, f, b.propto) {
				b.addTarget(t)
			}
			return
		}
		b.addTarget(b.eval(d))
	default:
		b.addTarget(b.eval(d))
	}
}

// ---- print and reject ----

// message evaluates the arguments of print or reject.
func (b *binder) message(args []ir.Expr, fatal bool) (*ad.Message, []value) {
	m := &ad.Message{Fatal: fatal}
	var vals []value
	for _, a := range args {
		if s, ok := a.(*ir.StringLit); ok {
			m.Parts = append(m.Parts, ad.MessagePart{Text: s.Value, Arg: -1})
			continue
		}
		m.Parts = append(m.Parts, ad.MessagePart{Arg: len(vals), Form: stdlib.FormOf(a.Type())})
		for _, v := range b.eval(a).parts() {
			vals = append(vals, b.numeric(v))
		}
	}
	return m, vals
}

func (b *binder) print(s *ir.Print) {
	if !b.inOrder() {
		panic(&fault{Reason: "print: its order matters"})
	}
	m, vals := b.message(s.Args, false)
	b.emitEffect(vals, func(g *ad.Graph, refs []ad.Ref) { g.Print(m, refs...) })
}

func (b *binder) reject(s *ir.Reject) {
	m, vals := b.message(s.Args, s.Fatal)
	b.emitEffect(vals, func(g *ad.Graph, refs []ad.Ref) { g.RejectIf(g.Const(1), m, refs...) })
}
