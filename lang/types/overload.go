package types

import "strings"

// Match describes how one overload fits a call, or why it does not.
type Match struct {
	Params     []Type // the types to which the arguments are promoted
	Result     Type   // Kind Void if the call returns no value
	Promotions int    // cost of the promotions by Stan's count; Resolve minimises it
	DataOnly   []bool // arguments that must not depend on parameters; nil if all may
	Fault      Fault  // why the overload does not fit
}

// Fault says why an overload does not fit. It is a value instead of a text, so that trying an
// overload is cheap.
type Fault struct {
	Arg   int    // index of the first argument that does not fit, unless Count is set
	Type  Type   // the expected type of that argument; Kind Invalid if Want is set
	Want  string // the expected type of that argument in words, instead of Type
	Count int    // if positive: the expected number of arguments, because the call has another number
}

// Overload is one signature of a library function, or a family of signatures. Implementations are
// immutable and safe for concurrent use. Match does not keep args. Callers must not modify the
// slices of a Match.
type Overload interface {
	// Match reports whether the argument types fit, and how.
	Match(args []Type) (Match, bool)
	// String returns the form shown in messages: "exp(T) => T, T any real container".
	String() string
}

// rank orders the scalar kinds by promotion. It is 0 for other kinds.
func (k Kind) rank() int {
	switch k {
	case Int:
		return 1
	case Real:
		return 2
	case Complex:
		return 3
	}
	return 0
}

// complexKind returns the complex version of a vector or matrix kind, else Invalid.
func (k Kind) complexKind() Kind {
	switch k {
	case Vector:
		return ComplexVector
	case RowVector:
		return ComplexRowVector
	case Matrix:
		return ComplexMatrix
	}
	return Invalid
}

// Promotable reports whether a value of type from can be used where type to is expected: int for
// real, real for complex, also within arrays, and members of tuples. n is the number of steps, 0 if
// the types are equal.
func Promotable(from, to Type) (n int, ok bool) {
	if from.Dims != to.Dims {
		return 0, false
	}
	if a, b := from.Kind.rank(), to.Kind.rank(); a > 0 && b > 0 {
		return b - a, b >= a
	}
	switch {
	case from.Kind == Tuple && to.Kind == Tuple && len(from.Members) == len(to.Members):
		for i := range from.Members {
			m, ok := Promotable(from.Members[i], to.Members[i])
			if !ok {
				return 0, false
			}
			n += m
		}
		return n, true
	case from.Kind == Function && to.Kind == Function:
		return 0, from.Func.fits(to.Func.Params, len(to.Func.Params), to.Func.Result)
	case from.Equal(to):
		return 0, true
	case to.Kind != Invalid && from.Kind.complexKind() == to.Kind:
		return 1, true
	}
	return 0, false
}

// Unify returns the least type to which both can be promoted: the element type of {a, b}, and the
// type of c ? a : b.
func Unify(a, b Type) (Type, bool) {
	if _, ok := Promotable(a, b); ok {
		return b, true
	}
	if _, ok := Promotable(b, a); ok {
		return a, true
	}
	if a.Kind == Tuple && b.Kind == Tuple && a.Dims == b.Dims && len(a.Members) == len(b.Members) {
		u := Type{Kind: Tuple, Dims: a.Dims, Members: make([]Type, len(a.Members))}
		for i := range a.Members {
			m, ok := Unify(a.Members[i], b.Members[i])
			if !ok {
				return Type{}, false
			}
			u.Members[i] = m
		}
		return u, true
	}
	return Type{}, false
}

// Fixed is a single signature, with these parameter types and this result.
type Fixed struct {
	Name     string
	Params   []Type
	Result   Type
	DataOnly []bool // parameters that accept only data; nil if there are none
}

// Match implements Overload.
func (f Fixed) Match(args []Type) (Match, bool) {
	return matchParams(f.Params, f.Result, f.DataOnly, args)
}

// matchParams matches arguments with a list of parameter types.
func matchParams(params []Type, result Type, dataOnly []bool, args []Type) (Match, bool) {
	if len(args) != len(params) {
		return wrongCount(len(params))
	}
	m := Match{Params: params, Result: result, DataOnly: dataOnly}
	for i, a := range args {
		n, ok := Promotable(a, params[i])
		if !ok {
			return Match{Fault: Fault{Arg: i, Type: params[i]}}, false
		}
		m.Promotions += n
	}
	return m, true
}

// NoArguments is Fault.Want for a function that takes no arguments.
const NoArguments = "no arguments"

// wrongCount returns the fault of an overload that takes n arguments. For a function without
// arguments it sets Want, because a Count of 0 means nothing.
func wrongCount(n int) (Match, bool) {
	if n == 0 {
		return Match{Fault: Fault{Want: NoArguments}}, false
	}
	return Match{Fault: Fault{Count: n}}, false
}

// String implements Overload.
func (f Fixed) String() string {
	var b strings.Builder
	b.WriteString(f.Name + "(")
	for i, p := range f.Params {
		switch {
		case i == 1 && (strings.HasSuffix(f.Name, "_lpdf") || strings.HasSuffix(f.Name, "_lpmf")):
			b.WriteString(" | ")
		case i > 0:
			b.WriteString(", ")
		}
		if i < len(f.DataOnly) && f.DataOnly[i] {
			b.WriteString("data ")
		}
		b.WriteString(p.String())
	}
	b.WriteString(") => " + f.Result.String())
	return b.String()
}

// Match implements Overload for the type of a user function.
func (f *FuncType) Match(args []Type) (Match, bool) {
	params := make([]Type, len(f.Params))
	var dataOnly []bool
	for i, p := range f.Params {
		params[i] = p.Type
		if p.DataOnly && dataOnly == nil {
			dataOnly = make([]bool, len(f.Params))
		}
		if p.DataOnly {
			dataOnly[i] = true
		}
	}
	return matchParams(params, f.Result, dataOnly, args)
}

// String returns the function type as written in signatures.
func (f *FuncType) String() string { return Type{Kind: Function, Func: f}.String() }
