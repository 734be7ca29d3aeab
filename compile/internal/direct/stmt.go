package direct

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// signal says how a statement ended.
type signal uint8

const (
	goesOn signal = iota
	breaks
	continues
	returns // the value is in run.result
)

func (r *run) statements(ss []ir.Stmt) signal {
	for _, s := range ss {
		if sig := r.exec(s); sig != goesOn {
			return sig
		}
	}
	return goesOn
}

func (r *run) exec(s ir.Stmt) signal {
	r.at = s.Span()
	r.work++
	switch s := s.(type) {
	case *ir.Block:
		return r.statements(s.Stmts)
	case *ir.Declare:
		shape := r.sizes(s.Var)
		v := unset(s.Var.Type, shape)
		if s.Init != nil {
			v = r.eval(s.Init)
			r.fits(shape, v)
		}
		r.declare(s.Var, v)
	case *ir.Unpack:
		leaves, levels := r.eval(s.Value).parts(), r.levels(s.Value)
		for k, v := range s.Vars {
			r.bind(v, leaves[k], levels[k])
		}
	case *ir.Assign:
		r.assign(s)
	case *ir.Target:
		v := r.eval(s.Value)
		if s.Jacobian && !r.opts.Jacobian {
			break
		}
		for _, x := range v.floats() {
			r.add(x)
		}
	case *ir.Tilde:
		r.add(r.eval(s.Density).reals[0])
	case *ir.CallStmt:
		r.call(s.Call)
	case *ir.If:
		switch {
		case r.eval(s.Cond).isTrue():
			return r.exec(s.Then)
		case s.Else != nil:
			return r.exec(s.Else)
		}
	case *ir.For:
		from, to := r.int(s.From), r.int(s.To)
		for i := from; i <= to; i++ {
			r.bind(s.Var, intOf(i), ir.Data)
			if left, sig := r.body(s.Body); left {
				return sig
			}
		}
	case *ir.ForEach:
		over, level := r.eval(s.Over), r.level(s.Over)
		for _, elem := range elements(over) {
			r.bind(s.Var, elem, level)
			if left, sig := r.body(s.Body); left {
				return sig
			}
		}
	case *ir.While:
		for r.eval(s.Cond).isTrue() {
			if left, sig := r.body(s.Body); left {
				return sig
			}
		}
	case *ir.Break:
		return breaks
	case *ir.Continue:
		return continues
	case *ir.Return:
		r.result = value{}
		if s.Value != nil {
			r.result = r.eval(s.Value)
		}
		return returns
	case *ir.Print:
		r.effect(ad.OpPrint, s.Args, false)
	case *ir.Reject:
		r.effect(ad.OpReject, s.Args, s.Fatal)
	default:
		r.failf("unknown statement %T", s)
	}
	return goesOn
}

// body runs the body of a loop once. left means that the loop ends.
func (r *run) body(s ir.Stmt) (left bool, sig signal) {
	switch sig := r.exec(s); sig {
	case breaks:
		return true, goesOn
	case returns:
		return true, sig
	}
	return false, goesOn
}

// elements returns the elements of an array or a vector, for a foreach loop.
func elements(v value) []value {
	var out []value
	n := count(v.shape[1:])
	for i := range v.shape[0] {
		places := all(n)
		for k := range places {
			places[k] += i * n
		}
		out = append(out, v.at(places, v.shape[1:]))
	}
	return out
}

// declare creates a variable. A real has level Param if its declaration says so or, in a function,
// if any argument of the call has that level.
func (r *run) declare(v *ir.Var, x value) {
	level := v.Level
	if r.frame.inCall && v.Type.Kind != types.Int {
		level = r.frame.local
	}
	r.bind(v, x, level)
}

// bind gives a variable a value and a level.
func (r *run) bind(v *ir.Var, x value, level ir.Level) {
	r.frame.vals[v.ID], r.frame.levels[v.ID] = x, level
}

// unset returns the content of a variable before its first assignment.
func unset(t types.Type, shape []int) value {
	v := value{shape: shape}
	n := count(shape)
	if t.Kind == types.Int {
		v.ints = make([]int64, n)
		for i := range v.ints {
			v.ints[i] = math.MinInt32
		}
		return v
	}
	v.reals = make([]float64, n)
	for i := range v.reals {
		v.reals[i] = math.NaN()
	}
	return v
}

// fits fails unless v has the shape of the assigned variable or elements.
func (r *run) fits(shape []int, v value) {
	if !slices.Equal(shape, v.shape) {
		r.failf("a value of shape %v is assigned to shape %v", v.shape, shape)
	}
}

// assign stores a value in a variable or in its elements.
func (r *run) assign(s *ir.Assign) {
	old := r.frame.vals[s.Var.ID]
	places, shape := all(count(old.shape)), old.shape
	if len(s.Indices) > 0 {
		places, shape = r.places(old.shape, s.Indices)
	}
	var v value
	if s.Op == "" {
		v = r.eval(s.Value)
	} else {
		outer := r.operand
		r.operand = old.at(places, shape)
		v = r.eval(s.Combine)
		r.operand = outer
	}
	r.at = s.At
	r.fits(shape, v)
	r.work += len(places)
	r.frame.vals[s.Var.ID] = old.with(places, v)
}

// effect runs a print or reject.
func (r *run) effect(op ad.OpCode, args []ir.Expr, fatal bool) {
	m := &ad.Message{Fatal: fatal}
	var shapes []ad.Type
	var values [][]float64
	if op == ad.OpReject { // the first argument of OpReject is its condition
		shapes, values = append(shapes, ad.Scalar), append(values, []float64{1})
	}
	n := 0
	for _, a := range args {
		if text, ok := a.(*ir.StringLit); ok {
			m.Parts = append(m.Parts, ad.MessagePart{Text: text.Value, Arg: -1})
			continue
		}
		m.Parts = append(m.Parts, ad.MessagePart{Arg: n, Form: formOf(a)})
		for _, v := range r.eval(a).parts() {
			n++
			shapes, values = append(shapes, ad.Type{Shape: v.shape}), append(values, v.floats())
		}
	}
	if err := ad.RunEffect(&ad.Node{Op: op, Attr: m}, shapes, values, r.opts.Print); err != nil {
		r.fail(err)
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
