package known

import (
	"errors"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// maxEvaluated bounds the statements of one evaluation of an expression, including all calls and
// iterations, because a user function may not terminate. This takes up to half a second.
const maxEvaluated = 5_000_000

// Scope gives access to the variables that an expression may read.
type Scope interface {
	// Shape returns the shape of a variable; ok is false if it is not known.
	Shape(v *ir.Var) (shape []int, ok bool)
	// Value returns the value of a variable; ok is false if data do not decide it.
	Value(v *ir.Var) (x lanes.Value, ok bool)
	// Excluded returns the excluded lanes of an axis, or nil.
	Excluded(ax *plan.Axis) []bool
}

// Binding is the binding to which an evaluation belongs.
type Binding interface {
	// Reserve asks for memory, see [lanes.Memory].
	Reserve(bytes int, sizes ...int)
	// Halt ends the binding.
	Halt(err error)
	// Spend counts work, in units of an interpreted statement, that the budget does not count. It
	// ends the binding if no point asked for it and it is too much, or if the caller cancelled it.
	// Call it after work that may be long.
	Spend(statements int64)
}

// Context is where and with what values an expression is evaluated.
type Context struct {
	Scope
	Binding
	Axis    *plan.Axis   // the lanes in force
	Operand *lanes.Value // the value of ir.Operand
}

// Evaluators holds the evaluators of a program: one for its blocks and one for each function.
type Evaluators struct {
	prog      *ir.Program
	functions *static.Functions
	options   interp.Options
	budget    *ad.Budget
	of        map[*ir.Function]*Evaluator
}

// Evaluator evaluates expressions of the program's blocks, or of one function.
type Evaluator struct {
	Variables int // number of variables: ir.Var.ID is less than this

	all      *Evaluators
	numbers  *interp.Evaluator
	prepared map[ir.Expr]*expression
}

// expression is an expression prepared for evaluation.
type expression struct {
	*interp.Expression
	pure bool         // data can decide it
	long bool         // it takes more than maxEvaluated statements, so it counts as not known
	call bool         // it calls a user function
	vars []*ir.Var    // variables whose values it needs
	only []*ir.Var    // variables; it needs only their sizes
	ints *stdlib.Func // it is a call of this function of int scalars; nil if it is anything else
}

// NewEvaluators returns the evaluators of a program. Their memory and statements count against the
// budget.
func NewEvaluators(prog *ir.Program, fs *static.Functions, o interp.Options, budget *ad.Budget) *Evaluators {
	o.Statements = maxEvaluated
	return &Evaluators{prog: prog, functions: fs, options: o, budget: budget, of: map[*ir.Function]*Evaluator{}}
}

// Of returns the evaluator of a function, or of the program's blocks if fn is nil.
func (all *Evaluators) Of(fn *ir.Function) *Evaluator {
	v := all.of[fn]
	if v == nil {
		variables := all.prog.NumVars
		if fn != nil {
			variables = fn.NumVars
		}
		numbers := interp.NewEvaluator(all.prog, variables, all.options, all.budget)
		v = &Evaluator{Variables: variables, all: all, numbers: numbers, prepared: map[ir.Expr]*expression{}}
		all.of[fn] = v
	}
	return v
}

// Functions returns the functions of the program.
func (v *Evaluator) Functions() *static.Functions { return v.all.functions }

// prepare analyses an expression, once.
func (v *Evaluator) prepare(e ir.Expr) *expression {
	if x, ok := v.prepared[e]; ok {
		return x
	}
	x := &expression{pure: v.all.functions.Pure(e)}
	v.prepared[e] = x
	if !x.pure {
		return x
	}
	ir.Inspect(e, func(e ir.Node) bool {
		switch e := e.(type) {
		case *ir.VarRef:
			if !slices.Contains(x.vars, e.Var) {
				x.vars = append(x.vars, e.Var)
			}
		case *ir.UserCall:
			x.call = true
		case *ir.Call:
			if u := static.Measured(e); u != nil {
				x.only = append(x.only, u)
				return false
			}
		}
		return true
	})
	// A variable whose elements are read too, as in x[cols(x)], needs more than its shape.
	x.only = slices.DeleteFunc(x.only, func(u *ir.Var) bool { return slices.Contains(x.vars, u) })
	x.Expression = v.numbers.Resolve(e)
	if c, ok := e.(*ir.Call); ok && x.IsInt() && !slices.ContainsFunc(c.Args, func(a ir.Expr) bool { return !isInt(a.Type()) }) {
		if fn := static.FuncOf(c); fn.Int != nil && fn.OfShape == nil {
			x.ints = fn
		}
	}
	return x
}

// lasts reports whether an evaluation was too long, and records this.
func (x *expression) lasts(err error) bool {
	x.long = x.long || errors.Is(err, interp.ErrLong)
	return x.long
}

// mistake returns the user's mistake that ended an evaluation. Any other error ends the binding.
func mistake(b Binding, err error) *interp.Error {
	e := (*interp.Error)(nil)
	if limit := (*ad.LimitError)(nil); !errors.As(err, &e) || errors.As(err, &limit) {
		if e != nil {
			b.Halt(e)
		}
		b.Halt(err)
	}
	return e
}

// Knows reports whether data decide the value of an expression.
func (v *Evaluator) Knows(e ir.Expr, s Scope) bool {
	x := v.prepare(e)
	return x.pure && !x.long &&
		!slices.ContainsFunc(x.vars, func(u *ir.Var) bool { _, ok := s.Value(u); return !ok }) &&
		!slices.ContainsFunc(x.only, func(u *ir.Var) bool { _, ok := s.Shape(u); return !ok })
}

// input is a variable that an expression reads lane by lane. If v is nil, it is the operand.
type input struct {
	v *ir.Var
	lanes.Value
	up   []int32 // maps the lanes of the evaluation to those of the value; nil: the same
	size int
}

// load sets the variable to its value in a lane.
func (u *input) load(to *interp.Evaluator, lane int) {
	switch {
	case u.Axis == nil:
		lane = 0
	case u.up != nil:
		lane = int(u.up[lane])
	}
	one := interp.Number{Shape: u.Shape}
	if u.Ints != nil {
		one.Ints = u.Ints[lane*u.size : (lane+1)*u.size]
	} else {
		one.Reals = u.Reals[lane*u.size : (lane+1)*u.size]
	}
	if u.v == nil {
		to.SetOperand(one)
	} else {
		to.Set(u.v, one)
	}
}

// Eval evaluates a known expression in the lanes of its variables. If a branch excludes some of
// these lanes, it evaluates in the lanes in force. The error is an [*interp.Error] if the user made
// a mistake in a lane that is not excluded. It is interp.ErrLong if the evaluation is too long; the
// expression is then no longer known.
func (v *Evaluator) Eval(e ir.Expr, at *Context) (out lanes.Value, err error) {
	switch e := e.(type) {
	case *ir.IntLit:
		return lanes.Int(e.Value), nil
	case *ir.VarRef:
		x, _ := at.Value(e.Var)
		return x.Narrow(at.Axis), nil
	case *ir.Operand:
		return *at.Operand, nil
	case *ir.Cond: // if all lanes agree, the value has only the lanes of that side
		c, err := v.Eval(e.Cond, at)
		if err != nil {
			return out, err
		}
		c = c.Narrow(at.Axis)
		zero := func(i int64) bool { return i == 0 }
		if len(c.Ints) > 0 && !slices.ContainsFunc(c.Ints, zero) {
			return v.Eval(e.Then, at)
		}
		if len(c.Ints) > 0 && !slices.ContainsFunc(c.Ints, func(i int64) bool { return !zero(i) }) {
			return v.Eval(e.Else, at)
		}
	}
	x := v.prepare(e)
	if x.ints != nil && !x.call {
		if out, ok := v.callInts(x.ints, e.(*ir.Call).Args, at); ok {
			return out, nil
		}
	}
	return v.inLanes(x, at)
}

func isInt(t types.Type) bool { return t.Kind == types.Int && t.Dims == 0 && !t.Composite() }

// callInts evaluates a call of a function of int scalars operand by operand, in a fraction of the
// time that the interpreter takes lane by lane. It fails if there is a mistake in some lane; then
// inLanes finds out whether the lane matters.
func (v *Evaluator) callInts(fn *stdlib.Func, args []ir.Expr, at *Context) (out lanes.Value, ok bool) {
	vals := make([]lanes.Value, len(args))
	for i, a := range args {
		x, err := v.Eval(a, at)
		if err != nil {
			return out, false
		}
		vals[i] = x
	}
	ok = true
	out = Call(fn, vals, at.Reserve, func(int, error) { ok = false })
	return out, ok
}

// inLanes evaluates an expression lane by lane.
func (v *Evaluator) inLanes(x *expression, at *Context) (out lanes.Value, err error) {
	var vars []*input
	var ax *plan.Axis
	for _, u := range x.only {
		if shape, ok := at.Shape(u); ok {
			v.numbers.Set(u, interp.Number{Shape: shape})
		}
	}
	for _, u := range x.vars {
		w, _ := at.Value(u)
		if w.Axis == nil {
			v.numbers.Set(u, interp.Number{Shape: w.Shape, Ints: w.Ints, Reals: w.Reals})
			continue
		}
		ax = lanes.Innermost(ax, w.Axis)
		vars = append(vars, &input{v: u, Value: w, size: w.Size()})
	}
	if at.Operand != nil {
		ax = lanes.Innermost(ax, at.Operand.Axis)
		vars = append(vars, &input{Value: *at.Operand, size: at.Operand.Size()})
	}
	if lanes.Leaves(at.Axis, ax) {
		ax = at.Axis
	}
	for _, u := range vars {
		u.up = plan.UpTo(ax, u.Axis)
	}
	n := plan.Lanes(ax)
	out.Axis = ax
	if x.IsInt() {
		at.Reserve(8, n)
		out.Ints = make([]int64, 0, n)
	}
	var sizes []int64 // sizes of values that are not ints
	var excluded []bool
	looked := false
	for l := range n {
		for _, u := range vars {
			u.load(v.numbers, l)
		}
		var i int64
		var w interp.Number
		if x.IsInt() {
			i, err = v.numbers.Int(x.Expression)
		} else {
			w, err = v.numbers.Value(x.Expression)
		}
		if x.call {
			at.Spend(0)
		}
		if x.lasts(err) {
			return out, interp.ErrLong
		}
		if err != nil { // an error in an excluded lane does not matter
			wrong := mistake(at, err)
			if !looked {
				excluded, looked = at.Excluded(ax), true
			}
			if excluded == nil || !excluded[l] {
				return out, wrong
			}
		}
		if x.IsInt() {
			out.Ints = append(out.Ints, i)
			continue
		}
		if l == 0 || out.Ints == nil && out.Reals == nil {
			out.Shape = w.Shape
		}
		at.Reserve(8, ad.SizeOf(w.Shape))
		sizes = append(sizes, int64(ad.SizeOf(w.Shape)))
		if w.Ints != nil {
			out.Ints = append(out.Ints, w.Ints...)
		} else {
			out.Reals = append(out.Reals, w.Reals...)
		}
	}
	if sizes != nil {
		(lanes.Value{Axis: ax, Ints: sizes}).MustAgree(nil)
	}
	if out.Ints == nil && out.Reals == nil {
		out.Ints = []int64{}
	}
	// The value of a user function is often the same in all lanes, because it takes the same
	// branch.
	if x.call && x.IsInt() && n > 0 && !slices.ContainsFunc(out.Ints, func(i int64) bool { return i != out.Ints[0] }) {
		return lanes.Int(out.Ints[0]), nil
	}
	return out, nil
}

// Diagnostic returns the diagnostic of an evaluation error that is a user's mistake; ok is false
// for other errors.
func Diagnostic(err error) (d diag.Diagnostic, ok bool) {
	if e := (*interp.Error)(nil); errors.As(err, &e) {
		return e.Diagnostic, true
	}
	return d, false
}
