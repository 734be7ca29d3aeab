package interp

import (
	"errors"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// Evaluator evaluates expressions of known variables repeatedly with different values: those of the
// lanes of a loop. Its variables are those of the program's blocks or of one function.
type Evaluator struct {
	m     *machine
	s     *scope
	f     *frame
	exprs map[ir.Expr]*Expression
}

// Expression is a resolved expression, with the variables that it reads.
type Expression struct {
	Vars []*ir.Var
	expr
}

// Number is an array of numbers; Ints or Reals is nil.
type Number struct {
	Shape []int
	Ints  []int64
	Reals []float64
}

// ErrLong ends an evaluation of more statements than Options.Statements.
var ErrLong = errors.New("more statements than one evaluation may take")

// NewEvaluator returns an evaluator with this number of variables, numbered by ir.Var.ID. Its
// memory counts against the budget. Options.Statements, if not 0, bounds each evaluation: a longer
// one ends with ErrLong.
func NewEvaluator(prog *ir.Program, variables int, o Options, budget *ad.Budget) *Evaluator {
	m := newMachine(&o)
	m.budget, m.longest = budget, o.Statements
	return &Evaluator{
		m: m, f: newFrame(m, variables), exprs: map[ir.Expr]*Expression{},
		s: &scope{resolver: newResolver(prog, &o), levels: make([]ir.Level, variables)},
	}
}

// Resolve prepares an expression; do it once for each.
func (v *Evaluator) Resolve(e ir.Expr) *Expression {
	x, ok := v.exprs[e]
	if !ok {
		x = &Expression{expr: v.s.expr(e)}
		seen := map[*ir.Var]bool{}
		for u := range ir.Vars(e) {
			if !seen[u] {
				seen[u] = true
				x.Vars = append(x.Vars, u)
			}
		}
		v.exprs[e] = x
	}
	return x
}

// SetInt gives an int variable its value.
func (v *Evaluator) SetInt(x *ir.Var, i int64) { v.f.ints[x.ID] = i }

// Set sets a variable to a value that the caller keeps. Without ints and reals only its shape is
// known.
func (v *Evaluator) Set(x *ir.Var, n Number) {
	switch {
	case !isNumber(x.Type):
		v.f.lend(x.ID, &array{shape: n.Shape, ints: n.Ints, reals: n.Reals})
	case n.Ints != nil && x.Type.Kind == types.Int:
		v.f.ints[x.ID] = n.Ints[0]
	case n.Ints != nil:
		v.f.reals[x.ID] = float64(n.Ints[0])
	case n.Reals != nil:
		v.f.reals[x.ID] = n.Reals[0]
	}
}

// SetOperand sets the old value of the target of a compound assignment to ints.
func (v *Evaluator) SetOperand(n Number) {
	if len(n.Shape) == 0 {
		v.f.operand.int = n.Ints[0]
	}
	v.f.operand.array = &array{shape: n.Shape, ints: n.Ints}
}

// IsInt reports whether the value is one int.
func (x *Expression) IsInt() bool { return x.int != nil }

// Int evaluates an expression that is one int. A user's mistake is returned as *Error.
func (v *Evaluator) Int(x *Expression) (i int64, err error) {
	defer v.ends(&err, v.m.budget.Used())
	v.m.done = 0
	return x.int(v.f), nil
}

// Value evaluates an expression of a simple type. A user's mistake is returned as *Error. The
// numbers must not be changed, and may change when a variable is set.
func (v *Evaluator) Value(x *Expression) (n Number, err error) {
	defer v.ends(&err, v.m.budget.Used())
	v.m.done = 0
	a := x.array(v.f)
	return Number{Shape: a.shape, Ints: a.ints, Reals: a.reals}, nil
}

// ends stores the error that ended an evaluation; afterwards no call is in progress and no value is
// pending.
func (v *Evaluator) ends(err *error, used int64) {
	if p := recover(); p != nil {
		v.m.budget.Back(used)
		v.m.calls, v.m.levels = v.m.calls[:0], 0
		func() {
			defer caught(err)
			panic(p)
		}()
		if e := (*Error)(nil); asError(*err, &e) && e.stopped {
			*err = e.Err
		}
	}
}

func asError(err error, to **Error) (ok bool) {
	*to, ok = err.(*Error)
	return ok
}
