package inspect

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
	"github.com/ppl-lang/ppl/lang/source"
)

// Evaluator evaluates the expressions of the program's blocks, or of one function.
type Evaluator struct {
	variables int // by ir.Var.ID
	functions *static.Functions
	numbers   *interp.Evaluator
	prepared  map[ir.Expr]*expression
}

// expression is an expression that is ready to be evaluated.
type expression struct {
	*interp.Expression
	pure bool      // if not, data do not decide it
	long bool      // it takes more than maxEvaluated statements, and counts as one that data do not decide
	call bool      // a function of the program is called
	vars []*ir.Var // whose values it needs
	only []*ir.Var // whose sizes it needs alone
}

// NewEvaluator is the evaluator of a frame of so many variables.
func NewEvaluator(prog *ir.Program, variables int, fs *static.Functions, o interp.Options, budget *ad.Budget) *Evaluator {
	o.Statements = maxEvaluated
	return &Evaluator{variables: variables, functions: fs, numbers: interp.NewEvaluator(prog, variables, o, budget), prepared: map[ir.Expr]*expression{}}
}

// prepare looks at an expression, once.
func (v *Evaluator) prepare(e ir.Expr) *expression {
	if x, ok := v.prepared[e]; ok {
		return x
	}
	x := &expression{pure: v.functions.Pure(e)}
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

// mistake is a mistake of the user.
type mistake struct{ d diag.Diagnostic }

// fail ends the inspection with a mistake.
func fail(at source.Span, code diag.Code, detail, format string, args ...any) {
	d := diag.Errorf(code, at, format, args...)
	d.Detail = detail
	panic(&mistake{d})
}

// tooLong ends an inspection that came upon an expression that takes too long: the next one takes
// it for one that data do not decide.
type tooLong struct{}

// lasts reports whether an evaluation was too long, and remembers that.
func (x *expression) lasts(err error) bool {
	x.long = x.long || errors.Is(err, interp.ErrLong)
	return x.long
}

// wrong is the mistake that an evaluation ended with.
func wrong(out Outside, err error) *mistake {
	e := (*interp.Error)(nil)
	if limit := (*ad.LimitError)(nil); !errors.As(err, &e) || errors.As(err, &limit) {
		if e != nil {
			out.Halt(e)
		}
		out.Halt(err)
	}
	return &mistake{e.Diagnostic}
}

// isKnown reports whether data decide the value of an expression.
func (in *sight) isKnown(e ir.Expr) bool {
	x := in.ev.prepare(e)
	return x.pure && !x.long && !slices.ContainsFunc(x.vars, func(v *ir.Var) bool { return !in.isKnownVar(v) }) &&
		!slices.ContainsFunc(x.only, func(v *ir.Var) bool { return (in.declared[v] || in.variable(v) == nil) && !in.isKnownVar(v) })
}

func (in *sight) isKnownVar(v *ir.Var) bool {
	x := in.variable(v)
	if x == nil || in.isWatched(v) {
		return false
	}
	_, ok := in.valueOf(x)
	return ok
}

// variable is a variable in scope; nil if there is none.
func (in *sight) variable(v *ir.Var) *Variable {
	x := in.scope[v.ID]
	if x == nil {
		x = in.out.Variable(v)
	}
	if x == hidden {
		return nil
	}
	return x
}

// valueOf is what data decide a variable to be.
func (in *sight) valueOf(x *Variable) (v lanes.Value, ok bool) {
	switch {
	case x.Known != nil:
		return *x.Known, true
	case x.Cell != nil && x.Steady:
		return x.Value()
	}
	return v, false
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

// eval evaluates an expression that is known, in the lanes that its variables have, or in those in
// force where a branch leaves out some of them.
func (in *sight) eval(e ir.Expr) lanes.Value {
	switch e := e.(type) {
	case *ir.IntLit:
		return lanes.Int(e.Value)
	case *ir.VarRef:
		v, _ := in.valueOf(in.variable(e.Var))
		return v.Narrow(in.axis)
	case *ir.Operand:
		return *in.operand
	case *ir.Cond: // where all lanes agree, the value has the lanes of that side alone
		c := in.eval(e.Cond).Narrow(in.axis)
		zero := func(i int64) bool { return i == 0 }
		if len(c.Ints) > 0 && !slices.ContainsFunc(c.Ints, zero) {
			return in.eval(e.Then)
		}
		if len(c.Ints) > 0 && !slices.ContainsFunc(c.Ints, func(i int64) bool { return !zero(i) }) {
			return in.eval(e.Else)
		}
	}
	x := in.ev.prepare(e)
	numbers := in.ev.numbers
	var vars []*input
	var ax *plan.Axis
	for _, v := range x.only {
		if u := in.variable(v); u != nil {
			numbers.Set(v, interp.Number{Shape: u.Shape})
		}
	}
	for _, v := range x.vars {
		u, _ := in.valueOf(in.variable(v))
		if u.Axis == nil {
			numbers.Set(v, interp.Number{Shape: u.Shape, Ints: u.Ints, Reals: u.Reals})
			continue
		}
		ax = lanes.Innermost(ax, u.Axis)
		vars = append(vars, &input{v: v, Value: u, size: u.Size()})
	}
	if in.operand != nil {
		ax = lanes.Innermost(ax, in.operand.Axis)
		vars = append(vars, &input{Value: *in.operand, size: in.operand.Size()})
	}
	if lanes.Leaves(in.axis, ax) {
		ax = in.axis
	}
	for _, u := range vars {
		u.up = plan.UpTo(ax, u.Axis)
	}
	n := plan.Lanes(ax)
	out := lanes.Value{Axis: ax}
	if x.IsInt() {
		in.out.Reserve(8, n)
		out.Ints = make([]int64, 0, n)
	}
	var sizes []int64 // of other values
	var excluded []bool
	looked := false
	for l := range n {
		for _, u := range vars {
			u.load(numbers, l)
		}
		var i int64
		var v interp.Number
		var err error
		if x.IsInt() {
			i, err = numbers.Int(x.Expression)
		} else {
			v, err = numbers.Value(x.Expression)
		}
		if x.lasts(err) {
			panic(tooLong{})
		}
		if err != nil { // in lanes that are left out it does not matter
			w := wrong(in.out, err)
			if !looked {
				excluded, looked = in.Excluded(ax), true
			}
			if excluded == nil || !excluded[l] {
				panic(w)
			}
		}
		if x.IsInt() {
			out.Ints = append(out.Ints, i)
			continue
		}
		if l == 0 || out.Ints == nil && out.Reals == nil {
			out.Shape = v.Shape
		}
		in.out.Reserve(8, ad.SizeOf(v.Shape))
		sizes = append(sizes, int64(ad.SizeOf(v.Shape)))
		if v.Ints != nil {
			out.Ints = append(out.Ints, v.Ints...)
		} else {
			out.Reals = append(out.Reals, v.Reals...)
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
		return lanes.Int(out.Ints[0])
	}
	return out
}

// lookInt is the value of a condition that data decide; ok is false of others.
func (in *sight) lookInt(e ir.Expr) (v lanes.Value, ok bool) {
	if !in.isKnown(e) {
		return v, false
	}
	ok = in.passes(func() { v = in.eval(e) })
	return v, ok && v.Ints != nil
}

// passes runs fn and reports whether it came upon no mistake of the user: one in what
// nobody may reach is reported when that is evaluated.
func (in *sight) passes(fn func()) (ok bool) {
	axis, scope, operand := in.axis, in.scope, in.operand
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *mistake:
			in.axis, in.scope, in.operand = axis, scope, operand
		default:
			panic(r)
		}
	}()
	fn()
	return true
}

// Ints, Elements, Excluded and OutOfRange are what indices are evaluated by, see [lanes.Evaluator].

// Ints are known ints.
func (in *sight) Ints(e ir.Expr) (v lanes.Value, ok bool) {
	if !in.isKnown(e) {
		return v, false
	}
	return in.eval(e), true
}

// Elements is the number of elements of a value.
func (in *sight) Elements(e ir.Expr) int { return in.eval(e).Size() }

// Excluded tells for every lane of an axis whether it is left out.
func (in *sight) Excluded(ax *plan.Axis) []bool { return lanes.Excluded(in.masks, in.axis, ax) }

// OutOfRange ends what is looked at.
func (in *sight) OutOfRange(_, _ lanes.Value, first int64, size, dimension int, ix ir.Index, what string) {
	message, detail, fix := interp.IndexRange(first, size, dimension, what)
	d := diag.Errorf(diag.IndexRange, ix.At, "%s", message)
	d.Detail, d.Fix = detail, fix
	panic(&mistake{d})
}
