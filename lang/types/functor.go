package types

import "fmt"

// fits reports whether the function can be called with arguments of types want and up to n in
// total, and returns result. Types must be equal, because arguments that a library function passes
// on are not promoted. If the caller's argument may depend on parameters, the parameter must not be
// marked data.
func (f *FuncType) fits(want []Param, n int, result Type) bool {
	if len(f.Params) < len(want) || len(f.Params) > n || !f.Result.Equal(result) {
		return false
	}
	for i, w := range want {
		p := f.Params[i]
		if !p.Type.Equal(w.Type) || p.DataOnly && !w.DataOnly {
			return false
		}
	}
	return true
}

// HigherOrder is a library function whose first argument is a function. That function takes some
// arguments from the library, and any further ones from the caller: ode_rk45(f, y0, t0, ts, …)
// calls f(t, y, …).
type HigherOrder struct {
	Name   string
	Func   FuncType // the first argument: its leading parameters and its result
	Args   []Param  // the arguments between the function and those that are passed on to it
	Result Type
}

// Match implements Overload.
func (h HigherOrder) Match(args []Type) (Match, bool) {
	want := Type{Kind: Function, Func: &h.Func}
	if len(args) == 0 {
		return wrongCount(1 + len(h.Args))
	}
	if args[0].Kind != Function || !args[0].Func.fits(h.Func.Params, len(args[0].Func.Params), h.Func.Result) {
		return Match{Fault: Fault{Want: "a function " + h.leading(want)}}, false
	}
	params := append([]Param{{Type: args[0]}}, h.Args...)
	params = append(params, args[0].Func.Params[len(h.Func.Params):]...)
	return matchTyped(params, h.Result, args)
}

// matchTyped is matchParams for parameters of which some are marked data.
func matchTyped(params []Param, result Type, args []Type) (Match, bool) {
	ft := FuncType{Params: params, Result: result}
	return ft.Match(args)
}

// leading returns the text of a function type that may have more parameters.
func (h HigherOrder) leading(t Type) string {
	s := t.String()
	cut := len(") => ") + len(h.Func.Result.String())
	return s[:len(s)-cut] + ", …" + s[len(s)-cut:]
}

// String implements Overload.
func (h HigherOrder) String() string {
	s := h.Name + "(" + h.leading(Type{Kind: Function, Func: &h.Func})
	for _, a := range h.Args {
		s += ", "
		if a.DataOnly {
			s += "data "
		}
		s += a.Type.String()
	}
	return s + ", …) => " + h.Result.String()
}

// ReduceSum is the type of reduce_sum. Its arguments are a function, an array, an int, and further
// arguments. The function takes a slice of the array, the slice's ends, and the further arguments.
type ReduceSum struct{ Name string }

// Match implements Overload.
func (r ReduceSum) Match(args []Type) (Match, bool) {
	if len(args) < 3 {
		return wrongCount(3)
	}
	f := args[0].Func
	const want = "a function (array[] T, int, int, …) => real"
	if args[0].Kind != Function || len(f.Params) < 3 || !f.Result.Equal(RealType) || f.Params[0].Type.Dims == 0 ||
		!f.Params[1].Type.Equal(IntType) || !f.Params[2].Type.Equal(IntType) {
		return Match{Fault: Fault{Want: want}}, false
	}
	switch f.Params[0].Type.Kind {
	case Int, Real, Vector, RowVector, Matrix:
	default:
		return Match{Fault: Fault{Want: want + ", T a type of int, real, vector, row_vector or matrix"}}, false
	}
	params := append([]Param{{Type: args[0]}, f.Params[0], {Type: IntType}}, f.Params[3:]...)
	return matchTyped(params, RealType, args)
}

// String implements Overload.
func (r ReduceSum) String() string {
	return r.Name + "((array[] T, int, int, …) => real, array[] T, int, …) => real"
}

// Laplace is the type of the functions of the embedded Laplace approximation. Each takes four
// groups of arguments: the likelihood (a function of the latent vector with a tuple of further
// arguments, or the arguments of a built-in likelihood); the block size of the Hessian; the
// covariance function with a tuple of its arguments; and, with Tol, a tuple that controls the
// solver.
type Laplace struct {
	Name   string
	Built  []Type // the arguments of a built-in likelihood; nil for a function
	Tol    bool
	Result Type
}

// LaplaceControl is the type of the tuple that controls the solver: initial guess, tolerance,
// steps, solver, line search, and whether to try the next solver on failure.
var LaplaceControl = Type{Kind: Tuple, Members: []Type{VectorType, RealType, IntType, IntType, IntType, IntType}}

// Match implements Overload.
func (l Laplace) Match(args []Type) (Match, bool) {
	head := len(l.Built)
	if l.Built == nil {
		head = 2
	}
	n := head + 3
	if l.Tol {
		n++
	}
	if len(args) != n {
		return wrongCount(n)
	}
	m := Match{Result: l.Result, Params: make([]Type, n), DataOnly: make([]bool, n)}
	copy(m.Params, args)
	cost := 0
	promote := func(i int, to Type) bool {
		k, ok := Promotable(args[i], to)
		if !ok {
			m.Fault = Fault{Arg: i, Type: to}
			return false
		}
		m.Params[i] = to
		cost += k
		return true
	}
	// call checks that the function at i can be called with lead and the members of the following
	// tuple.
	call := func(i int, lead []Param, result Type, want string) bool {
		f := args[i].Func
		if args[i].Kind != Function || !f.fits(lead, len(f.Params), result) {
			m.Fault = Fault{Arg: i, Want: want}
			return false
		}
		to := Type{Kind: Tuple}
		for _, p := range f.Params[len(lead):] {
			to.Members = append(to.Members, p.Type)
		}
		if args[i+1].Kind != Tuple || args[i+1].Dims > 0 {
			m.Fault = Fault{Arg: i + 1, Want: fmt.Sprintf("a tuple of the arguments that are passed on, %s", to)}
			return false
		}
		return promote(i+1, to)
	}
	if l.Built == nil {
		if !call(0, []Param{{Type: VectorType}}, RealType, "a function (vector, …) => real") {
			return m, false
		}
	}
	for i, t := range l.Built {
		if !promote(i, t) {
			return m, false
		}
	}
	m.DataOnly[head] = true
	if !promote(head, IntType) || !call(head+1, nil, MatrixType, "a function (…) => matrix") {
		return m, false
	}
	if l.Tol && !promote(head+3, LaplaceControl) {
		return m, false
	}
	m.Promotions = cost
	return m, true
}

// String implements Overload.
func (l Laplace) String() string {
	s := l.Name + "("
	if l.Built == nil {
		s += "(vector, …) => real, tuple(…)"
	}
	for i, t := range l.Built {
		if i > 0 {
			s += ", "
		}
		s += t.String()
	}
	s += ", data int, (…) => matrix, tuple(…)"
	if l.Tol {
		s += ", " + LaplaceControl.String()
	}
	return s + ") => " + l.Result.String()
}

// SparseForm is an overload for sparse matrices. Before a program is lowered, its calls are
// rewritten to functions of the values and their positions.
type SparseForm struct {
	Overload
	Doc string // what it computes
}

// Extension is implemented by overloads that may be functions that Stan does not have.
type Extension interface{ Extends() bool }

// Extends implements Extension.
func (w Written) Extends() bool { return w.Beyond }

// Written is an overload whose implementation is Stan source that is made for the functions and
// types of a call: see ir.Lower.
type Written struct {
	Overload
	Name, Text string
	// Make returns the Stan source for a call with arguments of these types, without functions. If
	// it is nil, all calls have Text.
	Make func(args []Type) string
	Doc  string // what it computes
	Lead int    // number of arguments that the Stan source passes to the function; -1: all

	// Tolerance is the relative error at which a solver ends, unless an argument named rtol, atol,
	// relative, absolute or tolerance sets another one. It is 0 for functions that are exact up to
	// rounding.
	Tolerance float64

	// Beyond marks functions that Stan does not have.
	Beyond bool

	// Batch returns the function that computes several calls at once; nil: there is none.
	Batch func(args []Type) *Batch
}

// Batch describes a function that computes several calls of another one at once.
type Batch struct {
	Name  string
	Len   int         // the position of the argument with the number of records of each call
	Roles []BatchRole // of the arguments of a single call; functions have BatchSame
	// The result has as many states as the argument Of says (its value, or its size for a row or a
	// square matrix), if Of is not below 0, and States more.
	States, Of int
	// Rows is set if the result of a single call is an array with one row for each record. That of
	// the batch, and of a single call otherwise, is a matrix with one column for each record.
	Rows bool
}

// BatchRole says what becomes of the arguments of several calls.
type BatchRole uint8

const (
	BatchSame    BatchRole = iota // all calls must have the same
	BatchRecords                  // those of the calls follow one another
	BatchTable                    // a row, or a table with one row for all records of a call or for each
	BatchRow                      // a row for each call
)
