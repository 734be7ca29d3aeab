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
)

// maxEvaluated bounds the statements, calls and iterations alike, of one evaluation of an
// expression: a function of the program may not end. It takes up to half a second.
const maxEvaluated = 5_000_000

// Scope is the variables that an expression may read.
type Scope interface {
	// Shape is that of a variable; ok is false if it is not known.
	Shape(v *ir.Var) (shape []int, ok bool)
	// Value is what data decide a variable to be; ok is false if they do not.
	Value(v *ir.Var) (x lanes.Value, ok bool)
	// Excluded reports for each lane of an axis whether it is left out; nil if none is.
	Excluded(ax *plan.Axis) []bool
}

// Binding is what evaluation belongs to.
type Binding interface {
	// Reserve asks for memory, see [lanes.Memory].
	Reserve(bytes int, sizes ...int)
	// Halt ends the binding.
	Halt(err error)
	// Ask ends the binding if nobody wants it any more.
	Ask()
}

// Place is where an expression is evaluated.
type Place struct {
	Scope
	Binding
	Axis    *plan.Axis   // whose lanes are in force
	Operand *lanes.Value // of ir.Operand
}

// Evaluators are those of a program, one for its blocks and one for each of its functions.
type Evaluators struct {
	prog      *ir.Program
	functions *static.Functions
	options   interp.Options
	budget    *ad.Budget
	of        map[*ir.Function]*Evaluator
}

// Evaluator evaluates expressions of the program's blocks, or of one function.
type Evaluator struct {
	Variables int // by ir.Var.ID

	all      *Evaluators
	numbers  *interp.Evaluator
	prepared map[ir.Expr]*expression
}

// expression is an expression that is ready to be evaluated.
type expression struct {
	*interp.Expression
	pure bool      // if not, data do not decide it
	long bool      // it takes more than maxEvaluated statements, and counts as one that data do not decide
	call bool      // it calls a function of the program
	vars []*ir.Var // it needs their values
	only []*ir.Var // it needs their sizes alone
}

// NewEvaluators are the evaluators of a program. What they take counts against the budget.
func NewEvaluators(prog *ir.Program, fs *static.Functions, o interp.Options, budget *ad.Budget) *Evaluators {
	o.Statements = maxEvaluated
	return &Evaluators{prog: prog, functions: fs, options: o, budget: budget, of: map[*ir.Function]*Evaluator{}}
}

// Of is the evaluator of a function; nil: of the program's blocks.
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

// Functions are the functions of the program.
func (v *Evaluator) Functions() *static.Functions { return v.all.functions }

// prepare looks at an expression, once.
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
	x.Expression = v.numbers.Resolve(e)
	return x
}

// lasts reports whether an evaluation was too long, and remembers that.
func (x *expression) lasts(err error) bool {
	x.long = x.long || errors.Is(err, interp.ErrLong)
	return x.long
}

// mistake is the mistake of the user that ended an evaluation. Any other error ends the binding.
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

// input is a variable, nil: an operand, that an expression is evaluated for, lane by lane.
type input struct {
	v *ir.Var
	lanes.Value
	up   []int32 // from the lanes of the evaluation to those of the value, nil: they are the same
	size int
}

// load gives the variable its value in a lane.
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

// Eval evaluates an expression that is known, in the lanes that its variables have, or in those in
// force where a branch leaves out some of them. The error is an [*interp.Error] if the user made a
// mistake in a lane that counts, or interp.ErrLong: the expression is not known any more.
func (v *Evaluator) Eval(e ir.Expr, at *Place) (out lanes.Value, err error) {
	switch e := e.(type) {
	case *ir.IntLit:
		return lanes.Int(e.Value), nil
	case *ir.VarRef:
		x, _ := at.Value(e.Var)
		return x.Narrow(at.Axis), nil
	case *ir.Operand:
		return *at.Operand, nil
	case *ir.Cond: // where all lanes agree, the value has the lanes of that side alone
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
	return v.inLanes(v.prepare(e), at)
}

// inLanes evaluates an expression lane by lane.
func (v *Evaluator) inLanes(x *expression, at *Place) (out lanes.Value, err error) {
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
	var sizes []int64 // of other values
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
		if x.lasts(err) {
			return out, interp.ErrLong
		}
		if err != nil { // in lanes that are left out it does not matter
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
	// What a function decides is often the same in all lanes, where the branch that it takes is.
	if x.call && x.IsInt() && n > 0 && !slices.ContainsFunc(out.Ints, func(i int64) bool { return i != out.Ints[0] }) {
		return lanes.Int(out.Ints[0]), nil
	}
	return out, nil
}

// Diagnostic is the mistake of the user that an error of an evaluation is; ok is false if it is
// none.
func Diagnostic(err error) (d diag.Diagnostic, ok bool) {
	if e := (*interp.Error)(nil); errors.As(err, &e) {
		return e.Diagnostic, true
	}
	return d, false
}
