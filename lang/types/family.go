package types

import "strings"

// Elementwise is a function of scalars that is applied to every element of its arguments. Args are
// the element kinds (Int, Real or Complex) of the arguments, Result that of the result.
//
// Each argument is a scalar, or a container with the same shape as the others: a vector, a
// row_vector, a matrix, or an array of any depth of these or of scalars. Containers of integers
// exist only as arrays. With a vector or matrix, they must have its rank, so that ldexp takes
// (matrix, array[,] int).
//
// Where Real is expected, int containers are accepted and promoted. Stan lists signatures with int
// for most such functions, so passing an int does not count as a promotion in resolution. Strict is
// for functions without such signatures.
type Elementwise struct {
	Name    string
	Args    []Kind
	Result  Kind
	Strict  bool // an int where Real is wanted counts as a promotion
	NoArray bool // no arrays, as in fma
}

// Unary returns an elementwise function of one real.
func Unary(name string) Elementwise {
	return Elementwise{Name: name, Args: []Kind{Real}, Result: Real}
}

// Binary returns an elementwise function of two reals.
func Binary(name string) Elementwise {
	return Elementwise{Name: name, Args: []Kind{Real, Real}, Result: Real}
}

// as returns the type with the same shape and another element kind; ok is false if that type does
// not exist (an int vector) or if the elements are not numbers.
func (t Type) as(elem Kind) (Type, bool) {
	u := Type{Dims: t.Dims}
	switch t.Kind {
	case Int, Real, Complex:
		u.Kind = elem
		return u, true
	case Vector, ComplexVector:
		u.Kind = Vector
	case RowVector, ComplexRowVector:
		u.Kind = RowVector
	case Matrix, ComplexMatrix:
		u.Kind = Matrix
	default:
		return Type{}, false
	}
	if elem == Complex {
		u.Kind = u.Kind.complexKind()
	}
	return u, elem != Int
}

// WithElem returns the type of the same shape whose elements are of the given scalar kind: array[]
// vector with Complex is array[] complex_vector. ok is false if there is no such type.
func (t Type) WithElem(elem Kind) (u Type, ok bool) { return t.as(elem) }

// Scalar returns the kind of the numbers in a type: Int, Real or Complex; Invalid for types that do
// not consist of numbers of one kind.
func (t Type) Scalar() Kind {
	switch t.Kind {
	case Int, Real, Complex:
		return t.Kind
	case Vector, RowVector, Matrix:
		return Real
	case ComplexVector, ComplexRowVector, ComplexMatrix:
		return Complex
	}
	return Invalid
}

// Match implements Overload.
func (e Elementwise) Match(args []Type) (Match, bool) {
	if len(args) != len(e.Args) {
		return wrongCount(len(e.Args))
	}
	m := Match{Params: make([]Type, len(args))}
	shape, intShape := RealType, IntType // shapes of the containers among the arguments
	for i, a := range args {
		p, ok := a.as(e.Args[i])
		if ok {
			var n int
			n, ok = Promotable(a, p)
			if e.Strict || e.Args[i] != Real {
				m.Promotions += n
			}
		}
		if !ok || e.NoArray && a.Dims > 0 {
			return Match{Fault: Fault{Arg: i, Want: e.want(i)}}, false
		}
		m.Params[i] = p
		if p.IsScalar() {
			continue
		}
		// Compare the shapes, whatever the kinds of numbers.
		q, _ := p.as(Real)
		s := &shape
		if e.Args[i] == Int {
			s = &intShape
			q.Kind = Int
		}
		if s.IsScalar() {
			*s = q
		} else if !s.Equal(q) {
			w, _ := s.as(e.Args[i])
			return Match{Fault: Fault{Arg: i, Want: "a scalar or " + w.String() + ", like the others"}}, false
		}
	}
	switch {
	case shape.IsScalar():
		shape = intShape
	case !intShape.IsScalar() && intShape.Dims != shape.Rank():
		for i, k := range e.Args {
			if k == Int && args[i].Dims > 0 {
				return Match{Fault: Fault{Arg: i, Type: IntType.Array(shape.Rank())}}, false
			}
		}
	}
	m.Result, _ = shape.as(e.Result)
	// Signatures with real and int differ in cost: Stan lists (int, array[] real), while (array[]
	// int, array[] real) is a promotion.
	if !e.Strict {
		m.Promotions += mixed(args, e.Args)
	}
	return m, true
}

// mixed counts the int containers that occur together with a real container. Stan lists signatures
// with equal containers and with a scalar and a container, but no mixed ones.
func mixed(args []Type, kinds []Kind) int {
	ints, reals := 0, 0
	for i, a := range args {
		if kinds[i] != Real || a.IsScalar() {
			continue
		}
		if a.Kind == Int {
			ints++
		} else {
			reals++
		}
	}
	if reals == 0 {
		return 0
	}
	return ints
}

// want describes the allowed types of argument i.
func (e Elementwise) want(i int) string {
	switch {
	case e.Args[i] == Int:
		return "int or an array of int"
	case e.NoArray:
		return "a real, vector, row_vector or matrix"
	case e.Args[i] == Complex:
		return "complex numbers: a scalar, vector, matrix, or an array of these"
	}
	return "real: a scalar, vector, matrix, or an array of these"
}

// String implements Overload.
func (e Elementwise) String() string {
	var b strings.Builder
	b.WriteString(e.Name + "(")
	names := [...]string{"T", "U", "V", "W"}
	for i, k := range e.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		switch {
		case len(e.Args) == 1:
			b.WriteString("T")
		case i < len(names):
			b.WriteString(k.String() + " " + names[i])
		default:
			b.WriteString(k.String())
		}
	}
	b.WriteString(") => ")
	if len(e.Args) == 1 {
		b.WriteString("T, T " + e.Args[0].String() + " or any container of it")
		if e.Result != e.Args[0] {
			b.WriteString(", the result of " + e.Result.String())
		}
	} else {
		b.WriteString(e.Result.String() + ", each argument a scalar or a container of one common shape")
	}
	return b.String()
}

// Set is the set of types that an argument of a Vectorised function may have. Its name is that in
// Stan's manual.
type Set struct {
	Name  string
	Types []Type
}

// Reals, Ints and Vectors are the argument types of vectorised functions. AnyReals also has the int
// types, as random number generators do.
var (
	Reals    = Set{"reals", []Type{RealType, VectorType, RowVectorType, RealType.Array(1)}}
	AnyReals = Set{"reals", []Type{RealType, VectorType, RowVectorType, RealType.Array(1), IntType, IntType.Array(1)}}
	Ints     = Set{"ints", []Type{IntType, IntType.Array(1)}}
	Vectors  = Set{"vectors", []Type{VectorType, RowVectorType, VectorType.Array(1), RowVectorType.Array(1)}}
)

// Just returns the set of one type.
func Just(t Type) Set { return Set{t.String(), []Type{t}} }

// OneOf returns the set of these types.
func OneOf(ts ...Type) Set {
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = t.String()
	}
	return Set{strings.Join(names, "|"), ts}
}

// Vectorised is a function each of whose arguments may have any type of a set, independently of the
// other arguments: a density, distribution function, or random number generator. A density has
// Result real for all arguments. A generator has Each, the type of one draw, and returns an array
// of draws if an argument is a container (for Vectors: an array).
type Vectorised struct {
	Name   string
	Args   []Set
	Result Type // for densities; of Kind Invalid if Each is set
	Each   Type // for generators
}

// Density returns a log density, log mass or (log) distribution function.
func Density(name string, args ...Set) Vectorised {
	return Vectorised{Name: name, Args: args, Result: RealType}
}

// Generator returns a random number generator whose single draw has type each.
func Generator(name string, each Type, args ...Set) Vectorised {
	return Vectorised{Name: name, Args: args, Each: each}
}

// Match implements Overload. An int argument is promoted to real at no cost if the set has real,
// even if it also has int.
func (v Vectorised) Match(args []Type) (Match, bool) {
	if len(args) != len(v.Args) {
		return wrongCount(len(v.Args))
	}
	m := Match{Params: make([]Type, len(args)), Result: v.Result}
	many := false
	for i, a := range args {
		best := -1
		for _, t := range v.Args[i].Types {
			if n, ok := Promotable(a, t); ok && (best < 0 || n < best) {
				best, m.Params[i] = n, t
			}
		}
		if best < 0 {
			return Match{Fault: Fault{Arg: i, Want: v.Args[i].want()}}, false
		}
		m.Promotions += best
		if p := m.Params[i]; p.Kind == Int && v.Args[i].has(Type{Kind: Real, Dims: p.Dims}) {
			m.Params[i].Kind = Real
		}
		many = many || v.Args[i].many(a)
	}
	if v.Each.Kind != Invalid {
		m.Result = v.Each
		if many {
			m.Result = v.Each.Array(1)
		}
	}
	return m, true
}

// has reports whether the set contains t.
func (s Set) has(t Type) bool {
	for _, u := range s.Types {
		if u.Equal(t) {
			return true
		}
	}
	return false
}

// many reports whether an argument of type a asks for several draws: a container if the set has
// scalars, an array if it has vectors.
func (s Set) many(a Type) bool {
	if len(s.Types) < 2 {
		return false
	}
	if s.Types[0].IsScalar() {
		return !a.IsScalar()
	}
	return a.Dims > s.Types[0].Dims
}

// want describes the set in words.
func (s Set) want() string {
	if len(s.Types) == 1 {
		return s.Types[0].String()
	}
	var b strings.Builder
	for i, t := range s.Types {
		switch {
		case i == len(s.Types)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(t.String())
	}
	return b.String()
}

// String implements Overload.
func (v Vectorised) String() string {
	var b strings.Builder
	b.WriteString(v.Name + "(")
	for i, s := range v.Args {
		switch {
		case i == 1 && (strings.HasSuffix(v.Name, "_lpdf") || strings.HasSuffix(v.Name, "_lpmf")):
			b.WriteString(" | ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(s.Name)
	}
	b.WriteString(") => ")
	if v.Each.Kind != Invalid {
		b.WriteString(v.Each.String() + " or " + v.Each.Array(1).String())
	} else {
		b.WriteString(v.Result.String())
	}
	return b.String()
}

// Computed is a family of overloads that a function defines, for signatures with a type variable,
// such as append_array(array[] T, array[] T) => array[] T. Fit must be pure.
type Computed struct {
	Form string // for messages
	Fit  func(args []Type) (Match, bool)
}

// Match implements Overload.
func (c Computed) Match(args []Type) (Match, bool) { return c.Fit(args) }

// String implements Overload.
func (c Computed) String() string { return c.Form }
