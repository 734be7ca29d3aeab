package interp

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// signal describes how a statement ended.
type signal uint8

const (
	goesOn signal = iota
	breaks
	continues
	returns // the value is in frame.result
)

// stmt is a resolved statement.
type stmt func(f *frame) signal

// does returns a statement that never jumps.
func does(f func(f *frame)) stmt {
	return func(fr *frame) signal {
		f(fr)
		return goesOn
	}
}

func (s *scope) block(list []ir.Stmt) stmt {
	var out []stmt
	for _, x := range list {
		out = append(out, s.stmt(x))
	}
	switch len(out) {
	case 0:
		return func(*frame) signal { return goesOn }
	case 1:
		return out[0]
	}
	return func(f *frame) signal {
		for _, x := range out {
			if sig := x(f); sig != goesOn {
				return sig
			}
		}
		return goesOn
	}
}

func (s *scope) stmt(st ir.Stmt) stmt {
	s.depth++
	defer func() { s.depth-- }()
	switch st := st.(type) {
	case *ir.Block:
		return s.block(st.Stmts)
	case *ir.Declare:
		return does(s.declare(st))
	case *ir.Unpack:
		return does(s.unpack(st))
	case *ir.Assign:
		return does(s.assign(st))
	case *ir.Target:
		return does(s.target(st))
	case *ir.Tilde:
		density := s.expr(st.Density).real
		return does(func(f *frame) {
			x := density(f)
			f.m.add(x, f.ref)
		})
	case *ir.CallStmt:
		call, _ := s.call(st.Call)
		return does(func(f *frame) { call(f) })
	case *ir.If:
		return s.conditional(st)
	case *ir.For:
		return s.loop(st)
	case *ir.ForEach:
		return s.forEach(st)
	case *ir.While:
		cond, body, at := s.expr(st.Cond).int, s.stmt(st.Body), st.At
		return func(f *frame) signal {
			for cond(f) != 0 {
				if f.m.ticks--; f.m.ticks < 0 {
					f.m.ask(at)
				}
				if sig := body(f); sig >= breaks {
					if sig == breaks {
						break
					}
					if sig == returns {
						return sig
					}
				}
			}
			return goesOn
		}
	case *ir.Break:
		return func(*frame) signal { return breaks }
	case *ir.Continue:
		return func(*frame) signal { return continues }
	case *ir.Return:
		return s.returns(st)
	case *ir.Print:
		return does(s.effect(st.At, ad.OpPrint, st.Args, false, false))
	case *ir.Reject:
		return does(s.effect(st.At, ad.OpReject, st.Args, st.Fatal, st.Range))
	}
	panic("interp: a statement that is none")
}

// ---- declarations and assignments ----

func (s *scope) declare(st *ir.Declare) func(f *frame) {
	v := st.Var
	sizes := s.checkedSizes(v)
	var init expr
	if st.Init != nil {
		init = s.expr(st.Init) // before the level of the variable is set
	}
	s.levels[v.ID] = s.declaredLevel(v)
	id, declared := v.ID, v.Span
	switch {
	case isNumber(v.Type) && v.Type.Kind == types.Int:
		if st.Init == nil {
			return func(f *frame) { f.ints[id] = math.MinInt32 }
		}
		return func(f *frame) { f.ints[id] = init.int(f) }
	case isNumber(v.Type):
		if st.Init == nil {
			return func(f *frame) { f.reals[id], f.refs[id] = math.NaN(), none }
		}
		return func(f *frame) {
			x := init.real(f)
			f.reals[id], f.refs[id] = x, f.ref
		}
	case st.Init == nil:
		return func(f *frame) {
			// The array of an earlier execution is used only by this variable.
			if shape, old := sizes(f), f.arrays[id]; old == nil || !slices.Equal(shape, old.shape) {
				f.keep(declared, id, unset(v.Type, shape))
			} else {
				old.clear()
			}
		}
	}
	value, at := init.own(), st.Init.Span()
	return func(f *frame) {
		shape := sizes(f)
		a := value(f)
		f.m.fits(at, v.Name, shape, a.shape)
		f.keep(at, id, a)
	}
}

func (s *scope) unpack(st *ir.Unpack) func(f *frame) {
	e := s.expr(st.Value)
	parts := e.ownParts()
	sets := make([]func(*frame, *array), len(st.Vars))
	for k, v := range st.Vars {
		sets[k] = keep(st.Value.Span(), v)
		s.levels[v.ID] = e.levels[k]
	}
	return func(f *frame) {
		for k, a := range parts(f) {
			sets[k](f, a)
		}
	}
}

// fits fails unless a value has the shape of the place to which it is assigned.
func (m *machine) fits(at source.Span, name string, want, got []int) {
	if !slices.Equal(want, got) {
		m.blame(SizeMismatch(at, name, want, got)).throw()
	}
}

// SizeMismatch returns the diagnostic of an assignment of a value of another shape.
func SizeMismatch(at source.Span, name string, want, got []int) diag.Diagnostic {
	d := diag.Errorf(diag.SizeMismatch, at, "sizes do not match in the assignment to `%s`", name)
	d.Detail = fmt.Sprintf("`%s` here has %s; the value has %s.", name, SizeText(want), SizeText(got))
	return d
}

func (s *scope) assign(st *ir.Assign) func(f *frame) {
	source := st.Value
	if st.Op != "" {
		source = st.Combine
	}
	value := s.expr(source)
	v, id := st.Var, st.Var.ID
	compound := st.Op != ""
	switch {
	case len(st.Indices) > 0:
		return s.assignElements(st, value)
	case isNumber(v.Type) && v.Type.Kind == types.Int:
		if !compound {
			return func(f *frame) { f.ints[id] = value.int(f) }
		}
		return func(f *frame) {
			f.operand.int = f.ints[id]
			f.ints[id] = value.int(f)
		}
	case isNumber(v.Type):
		if !compound {
			return func(f *frame) {
				x := value.real(f)
				f.reals[id], f.refs[id] = x, f.ref
			}
		}
		return func(f *frame) {
			f.operand.real, f.operand.ref = f.reals[id], f.refs[id]
			x := value.real(f)
			f.reals[id], f.refs[id] = x, f.ref
		}
	}
	own, at := value.own(), st.Value.Span()
	return func(f *frame) {
		old := f.arrays[id]
		f.operand.array = old
		a := own(f)
		f.m.fits(at, v.Name, old.shape, a.shape)
		f.keep(at, id, a)
	}
}

// assignElements assigns to elements of a variable in place.
func (s *scope) assignElements(st *ir.Assign, value expr) func(f *frame) {
	v, id, at, name := st.Var, st.Var.ID, st.Value.Span(), st.Var.Name
	compound := st.Op != ""
	if allSingle(v.Type, st.Indices) {
		position := s.position(v, v.Name, st.Indices)
		if v.Type.Kind == types.Int {
			return func(f *frame) {
				a, p := position(f)
				if compound {
					f.operand.int = a.ints[p]
				}
				a.ints[p] = value.int(f)
			}
		}
		return func(f *frame) {
			a, p := position(f)
			if compound {
				f.operand.real, f.operand.ref = a.reals[p], none
				if a.rec != nil {
					f.operand.ref = f.m.refAt(a, p)
				}
			}
			x := value.real(f)
			a.reals[p] = x
			if a.rec != nil || f.ref != none {
				f.m.setRef(a, p, f.ref)
			}
		}
	}
	picked := s.selection(st.Indices)
	what := "`" + name + "`"
	return func(f *frame) {
		picks := picked(f)
		a := f.arrays[id]
		pl := f.m.places(a.shape, picks, what)
		if compound {
			f.operand.array = f.m.pick(a, pl)
		}
		b := value.array(f)
		f.m.fits(at, name, pl.shape, b.shape)
		if b == a { // x[i] = x
			b = a.clone()
		}
		f.m.put(a, b, pl.at)
	}
}

// ---- log density ----

func (s *scope) target(st *ir.Target) func(f *frame) {
	e := s.expr(st.Value)
	counts := !st.Jacobian || s.opts.Jacobian
	switch {
	case e.int != nil:
		return func(f *frame) {
			if x := e.int(f); counts {
				f.m.add(float64(x), none)
			}
		}
	case e.real != nil:
		return func(f *frame) {
			if x := e.real(f); counts {
				f.m.add(x, f.ref)
			}
		}
	}
	return func(f *frame) {
		if a := e.array(f); counts {
			f.m.addAll(a)
		}
	}
}

// ---- control flow ----

func (s *scope) conditional(st *ir.If) stmt {
	cond, then := s.expr(st.Cond).int, s.stmt(st.Then)
	if st.Else == nil {
		return func(f *frame) signal {
			if cond(f) != 0 {
				return then(f)
			}
			return goesOn
		}
	}
	otherwise := s.stmt(st.Else)
	return func(f *frame) signal {
		if cond(f) != 0 {
			return then(f)
		}
		return otherwise(f)
	}
}

func (s *scope) loop(st *ir.For) stmt {
	from, to := s.expr(st.From).int, s.expr(st.To).int
	s.levels[st.Var.ID] = ir.Data
	body, id, at := s.stmt(st.Body), st.Var.ID, st.At
	return func(f *frame) signal {
		lo, hi := from(f), to(f)
		for i := lo; i <= hi; i++ {
			if f.m.ticks--; f.m.ticks < 0 {
				f.m.ask(at)
			}
			f.ints[id] = i
			if sig := body(f); sig >= breaks {
				if sig == breaks {
					break
				}
				if sig == returns {
					return sig
				}
			}
		}
		return goesOn
	}
}

// forEach iterates over the elements of an array or a vector, or over the numbers of a matrix by
// columns.
func (s *scope) forEach(st *ir.ForEach) stmt {
	over := s.expr(st.Over)
	s.levels[st.Var.ID] = over.levels[0]
	body, store, at := s.stmt(st.Body), keep(st.At, st.Var), st.At
	values := over.own() // the body may assign to the container
	t := st.Over.Type()
	byColumns := t.Dims == 0 && t.Kind == types.Matrix
	return func(f *frame) signal {
		a := values(f)
		shape := a.shape[1:]
		if byColumns {
			places := columnMajor(a.shape)
			a = f.m.gather(a, places, []int{len(places)})
			shape = nil
		}
		n, held := count(shape), f.m.hold(at, true, a)
		defer func() { f.m.budget.Return(held) }()
		for i := range a.shape[0] {
			if f.m.ticks--; f.m.ticks < 0 {
				f.m.ask(at)
			}
			store(f, f.m.part(a, i*n, n, shape))
			if sig := body(f); sig >= breaks {
				if sig == breaks {
					break
				}
				if sig == returns {
					return sig
				}
			}
		}
		return goesOn
	}
}

func (s *scope) returns(st *ir.Return) stmt {
	if st.Value == nil {
		return func(*frame) signal { return returns }
	}
	e := s.expr(st.Value)
	switch {
	case e.int != nil:
		return func(f *frame) signal {
			f.result.int = e.int(f)
			return returns
		}
	case e.real != nil:
		return func(f *frame) signal {
			f.result.real = e.real(f)
			f.result.ref = f.ref
			return returns
		}
	case e.leaves != nil:
		leaves := e.ownParts()
		return func(f *frame) signal {
			f.result.leaves = leaves(f)
			return returns
		}
	}
	value := e.own()
	if ref, ok := st.Value.(*ir.VarRef); ok && !slices.Contains(s.fn.of.Params, ref.Var) {
		value = func(f *frame) *array { // of a variable that ends with the call
			a := f.arrays[ref.Var.ID]
			f.lend(ref.Var.ID, nil)
			return a
		}
	}
	return func(f *frame) signal {
		f.result.array = value(f)
		return returns
	}
}

// effect resolves a print or reject statement.
func (s *scope) effect(at source.Span, op ad.OpCode, args []ir.Expr, fatal, index bool) func(f *frame) {
	m := &ad.Message{Fatal: fatal}
	var parts []func(*frame) []*array
	n := 0
	for _, a := range args {
		if text, ok := a.(*ir.StringLit); ok {
			m.Parts = append(m.Parts, ad.MessagePart{Text: text.Value, Arg: -1})
			continue
		}
		m.Parts = append(m.Parts, ad.MessagePart{Arg: n, Form: formOf(a)})
		parts = append(parts, s.expr(a).parts())
		n += a.Type().NumLeaves()
	}
	return func(f *frame) {
		var shapes []ad.Type
		var values [][]float64
		if op == ad.OpReject { // its first argument is the condition
			shapes, values = append(shapes, ad.Scalar), append(values, []float64{1})
		}
		for _, p := range parts {
			for _, a := range p(f) {
				shapes, values = append(shapes, ad.Type{Shape: a.shape}), append(values, a.floats())
			}
		}
		if err := ad.RunEffect(&ad.Node{Op: op, Attr: m}, shapes, values, f.m.opts.Print); err != nil {
			if r := (*ad.RejectError)(nil); index && errors.As(err, &r) {
				f.m.blame(OutOfRange(at, r.Message)).throw()
			}
			e := f.m.fail(at, diag.Rejected, "the program rejects these data: %v", err)
			e.Err = err
			e.throw()
		}
	}
}

// formOf says how an argument is printed.
func formOf(e ir.Expr) *ad.Form {
	form := stdlib.FormOf(e.Type())
	if t, ok := e.(*ir.Tuple); ok {
		form.Rows = t.Rows
	}
	return form
}
