// Package direct is a plain interpreter, against which tests compare the other ways to evaluate a
// program. It runs a typed program at one point, statement by statement, on Go numbers. It has no
// graphs that outlive a call, no lanes, no caches, and no decisions in advance, so it is short
// enough to check by reading. Only tests use it: package interp runs users' interpreted programs.
// It has no derivatives.
//
// Map of the package:
//
//	direct.go  New, Density, Outputs: the blocks of a program, data, parameters, declared bounds
//	stmt.go    statements
//	expr.go    expressions, calls, autodiff levels
//	value.go   values, indices
//
// It shares only its inputs with the partial evaluator (package bind): the typed program, the
// declarations of the library, and the transforms. A library call is built on a graph of constants,
// which is discarded after the call. It must not share the treatment of loops, branches, variables
// and levels.
package direct

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// Options say how a Model evaluates its program.
type Options struct {
	Propto     bool         // `~` and _lupdf drop constant terms
	Jacobian   bool         // transforms of parameters add their log Jacobians
	Print      func(string) // receives what print statements print; nil: dropped
	Rand       *rand.Rand   // source of random numbers; nil: _rng functions fail
	Transforms transform.Edition
}

// Model is a program with its data.
type Model struct {
	prog  *ir.Program
	opts  Options
	known frame // the variables after transformed data
}

// Density is a log density. Magnitude is the sum of the absolute values of its terms, to which
// rounding errors are proportional. Work is the number of statements and expressions evaluated,
// plus the number of numbers that library functions, indices and assignments read and make.
type Density struct{ Value, Magnitude, Work float64 }

// Error is the error of an evaluation: a rejection or a mistake of the program. Rejections are
// failed checks of arguments and reject statements; find them with errors.As.
type Error struct {
	Span source.Span
	Err  error
}

// Error returns the message with its position in the program.
func (e *Error) Error() string {
	at := e.Span.Begin()
	return fmt.Sprintf("line %d, column %d: %v", at.Line, at.Column, e.Err)
}

// Unwrap returns the error without its position.
func (e *Error) Unwrap() error { return e.Err }

// New reads the data and runs the transformed data block.
func New(prog *ir.Program, set *data.Set, o Options) (m *Model, err error) {
	m = &Model{prog: prog, opts: o}
	r := m.run()
	r.frame = frame{vals: make([]value, prog.NumVars), levels: make([]ir.Level, prog.NumVars)}
	r.propto = false
	defer r.caught(&err)
	for _, v := range prog.Data {
		r.at = v.Span
		r.readData(v, set)
	}
	r.statements(prog.TransformedData)
	r.checkAll(prog.TransformedDataVars)
	m.known = r.frame
	return m, nil
}

// Sizes returns the number of unconstrained coordinates of each declared parameter. Sizes depend on
// data only.
func (m *Model) Sizes() (sizes []int, err error) {
	r := m.run()
	defer r.caught(&err)
	for _, leaves := range ir.Declared(m.prog.Parameters) {
		n := 0
		for _, v := range leaves {
			n += count(r.free(v))
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// free returns the shape of the unconstrained numbers of a parameter.
func (r *run) free(v *ir.Var) []int {
	shape, tr := r.sizes(v), r.transform(v)
	if tr.Free == nil {
		return shape
	}
	d := v.Type.Dims
	return append(slices.Clone(shape[:d]), tr.Free(shape[d:])...)
}

// Density evaluates the log density at a point, given by the unconstrained numbers of each
// parameter.
func (m *Model) Density(x [][]float64) (d Density, err error) {
	r := m.run()
	r.inModel = true
	defer r.caught(&err)
	r.parameters(x)
	r.transformedParameters()
	r.statements(m.prog.Model)
	r.target.Work = float64(r.work)
	return r.target, nil
}

// Outputs evaluates the values of parameters and transformed parameters (constrained), and the same
// values followed by the generated quantities (generated). Variables follow one another; within a
// variable, the first index changes fastest.
func (m *Model) Outputs(x [][]float64) (constrained, generated []float64, err error) {
	r := m.run()
	defer r.caught(&err)
	r.parameters(x)
	r.transformedParameters()
	constrained = r.numbers(slices.Concat(m.prog.Parameters, m.prog.TransformedParameterVars))
	generated = slices.Clone(constrained)
	r.statements(m.prog.GeneratedQuantities)
	r.checkAll(m.prog.GeneratedQuantityVars)
	return constrained, append(generated, r.numbers(m.prog.GeneratedQuantityVars)...), nil
}

// numbers returns the values of variables in the order of the outputs.
func (r *run) numbers(vars []*ir.Var) []float64 {
	var out []float64
	for _, leaves := range ir.Declared(vars) {
		var shapes [][]int
		for _, v := range leaves {
			shapes = append(shapes, r.frame.vals[v.ID].shape)
		}
		for _, s := range ir.Layout(leaves, shapes) {
			out = append(out, r.frame.vals[leaves[s.Leaf].ID].floats()[s.Element])
		}
	}
	return out
}

// run is one evaluation.
type run struct {
	*Model
	frame   frame
	calls   int     // depth of calls of user functions
	work    int     // see Density
	target  Density // the log density so far
	inModel bool    // statements add to the log density
	propto  bool    // `~` and _lupdf drop constant terms
	operand value   // the value of ir.Operand
	result  value   // the value that return has set
	at      source.Span
}

// frame holds the variables of the program or of a call of a user function, by
// ir.Var.ID.
type frame struct {
	vals   []value
	levels []ir.Level
	inCall bool
	local  ir.Level // in a call: the level of reals that are declared in the function
}

// run begins an evaluation with the variables that are known from the data. Values are never
// changed in place, so several runs may share them.
func (m *Model) run() *run {
	f := m.known
	f.vals, f.levels = slices.Clone(f.vals), slices.Clone(f.levels)
	return &run{Model: m, frame: f, propto: m.opts.Propto}
}

// fail ends the evaluation.
func (r *run) fail(err error) { panic(&Error{r.at, err}) }

func (r *run) failf(format string, args ...any) { r.fail(fmt.Errorf(format, args...)) }

// caught recovers an error thrown by fail.
func (r *run) caught(err *error) {
	switch p := recover().(type) {
	case nil:
	case *Error:
		*err = p
	default:
		panic(p)
	}
}

// add adds to the log density.
func (r *run) add(v float64) {
	if r.inModel {
		r.target.Value += v
		r.target.Magnitude += math.Abs(v)
	}
}

func (r *run) transformedParameters() {
	r.statements(r.prog.TransformedParameters)
	r.checkAll(r.prog.TransformedParameterVars)
}

// readData reads a variable of the data block from the set.
func (r *run) readData(v *ir.Var, set *data.Set) {
	w := value{shape: r.sizes(v)}
	d, ok := set.Get(v.Name)
	if n := len(d.Shape); v.Part != types.NotComplex && n > 0 && d.Shape[n-1] == 2 {
		d = d.Half(int(v.Part - types.RealPart))
	}
	isInt := v.Type.Kind == types.Int
	if ok && isInt && !d.IsInt || d.Size() != count(w.shape) || d.Size() > 0 && !slices.Equal(d.Shape, w.shape) {
		r.failf("the data for %s, of shape %v, do not fit its declaration", v.Name, d.Shape)
	}
	if isInt {
		w.ints = append([]int64{}, d.Ints...)
	} else {
		w.reals = d.Reals
	}
	r.declare(v, w)
	r.check(v)
}

// parameters declares the parameters from unconstrained numbers.
func (r *run) parameters(x [][]float64) {
	for i, leaves := range ir.Declared(r.prog.Parameters) {
		var shapes [][]int
		for _, v := range leaves {
			shapes = append(shapes, r.free(v))
		}
		values := make([]value, len(leaves))
		for k := range leaves {
			values[k] = value{shape: shapes[k], reals: make([]float64, count(shapes[k]))}
		}
		for n, s := range ir.FreeLayout(leaves, shapes) {
			values[s.Leaf].reals[s.Element] = x[i][n]
		}
		for k, v := range leaves {
			r.at = v.Span
			r.declare(v, r.parameter(v, values[k]))
		}
	}
}

// parameter returns the value of a parameter, given its unconstrained numbers.
func (r *run) parameter(v *ir.Var, free value) value {
	shape, tr := r.sizes(v), r.transform(v)
	if tr.Free == nil {
		return r.constrain(v, tr, free, shape)
	}
	// A constrained type: transform its vectors or matrices one by one.
	d := v.Type.Dims
	all, item, from := value{shape: shape}, shape[d:], free.shape[d:]
	for k := range count(shape[:d]) {
		size := count(from)
		y := r.constrain(v, tr, value{shape: from, reals: free.reals[k*size : (k+1)*size]}, item)
		all.reals = append(all.reals, y.reals...)
	}
	return all
}

func (r *run) transform(v *ir.Var) transform.Transform {
	return transform.Of(v.Constraint.Kind, r.opts.Transforms)
}

// constrain applies a transform and adds its log Jacobian.
func (r *run) constrain(v *ir.Var, tr transform.Transform, free value, shape []int) value {
	g := ad.NewGraph()
	bounds := transform.Bounds{Lower: ad.None, Upper: ad.None}
	if e := v.Constraint.Lower; e != nil {
		bounds.Lower = constant(g, r.eval(e))
	}
	if e := v.Constraint.Upper; e != nil {
		bounds.Upper = constant(g, r.eval(e))
	}
	if v.Constraint.Kind == types.LowerUpper && bounds.Lower != ad.None && bounds.Upper != ad.None {
		for _, below := range r.computed(g, g.Less(bounds.Lower, bounds.Upper)).reals {
			if below == 0 {
				r.failf("the lower bound of %s is not below its upper bound", v.Name)
			}
		}
	}
	if v.Constraint.Kind == types.OffsetMultiplier && v.Constraint.Upper != nil {
		for _, m := range r.eval(v.Constraint.Upper).floats() {
			if !(m > 0) || math.IsInf(m, 1) {
				r.failf("the multiplier of %s is %v", v.Name, m)
			}
		}
	}
	y, jacobian := tr.Constrain(g, constant(g, free), shape, bounds)
	for _, j := range jacobian {
		if tr.Free == nil {
			j = g.Broadcast(j, shape) // one number that counts for each element
		}
		if r.opts.Jacobian {
			r.add(r.computed(g, g.Sum(j)).reals[0])
		}
	}
	return r.computed(g, g.Broadcast(y, shape))
}

// sizes evaluates the declared sizes of a variable.
func (r *run) sizes(v *ir.Var) []int {
	var shape []int
	for _, e := range v.Sizes {
		n := r.int(e)
		if n < 0 {
			r.failf("the size of %s is %d", v.Name, n)
		}
		shape = append(shape, int(n))
	}
	if k := v.Constraint.Kind; k.Structured() && k.WrongSize(shape[v.Type.Dims:]) != "" {
		r.failf("a %v of sizes %v", k, shape[v.Type.Dims:])
	}
	return shape
}

// checkAll checks the variables of a block at its end.
func (r *run) checkAll(vars []*ir.Var) {
	for _, v := range vars {
		r.at = v.Span
		r.check(v)
	}
}

// check compares a variable with its declared bounds, or its vectors and matrices with their
// constrained type. NaN is out of bounds.
func (r *run) check(v *ir.Var) {
	c, x := v.Constraint, r.frame.vals[v.ID]
	switch c.Kind {
	case types.Unconstrained, types.OffsetMultiplier:
		return
	case types.LowerUpper:
	default:
		item := x.shape[v.Type.Dims:]
		n := count(item)
		for k := range count(x.shape[:v.Type.Dims]) {
			y := x.reals[k*n : (k+1)*n]
			if wrong := c.Kind.Wrong(item, y, make([]float64, n), types.Tolerance); wrong != "" {
				r.failf("%s is not %s: %s", v.Name, c.Kind.Text(), wrong)
			}
		}
		return
	}
	for k, e := range []ir.Expr{c.Lower, c.Upper} {
		if e == nil {
			continue
		}
		limits := r.eval(e).floats()
		for i, x := range x.floats() {
			limit := limits[0]
			if len(limits) > 1 {
				limit = limits[i]
			}
			if k == 0 && !(x >= limit) || k == 1 && !(x <= limit) {
				r.failf("%s is %v, outside its declared bound %v", v.Name, x, limit)
			}
		}
	}
}
