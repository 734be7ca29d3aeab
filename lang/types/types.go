// Package types has the types of the language, function signatures and promotion, and constraints.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// A [Type] is unsized: sizes are values, known only when data are bound. An [Overload] defines
// which argument types a function takes. A family of overloads (of [Elementwise] functions, or
// [Vectorised] densities and generators) is one Overload, not a list. [Resolve] selects the one
// that fits a call. A [Constraint] serves as the domain of an argument, the support of a
// distribution and the bound of a parameter.
//
//	types.go          types
//	overload.go       overloads and promotion
//	family.go         families
//	leaves.go         the simple values that form tuples and complex numbers
//	functor.go        functions that take functions
//	resolve.go        overload resolution
//	constraint.go     constraints on arguments
//	structure.go      the table of constrained types
//	kind.go           the table's interface for other packages
//	wrong.go          checks of values
//	settle.go         correction of rounded values
//	documentation.go  the library's documentation of its names
package types

import "strings"

// Kind is the kind of a type's element.
type Kind uint8

// The element kinds.
const (
	Invalid Kind = iota
	Void
	Int
	Real
	Complex
	Vector
	RowVector
	Matrix
	ComplexVector
	ComplexRowVector
	ComplexMatrix
	SparseMatrix
	Tuple
	Function
)

var kindNames = [...]string{"invalid", "void", "int", "real", "complex", "vector", "row_vector", "matrix",
	"complex_vector", "complex_row_vector", "complex_matrix", "sparse_matrix", "tuple", "function"}

// String returns the keyword of the kind.
func (k Kind) String() string { return kindNames[k] }

// Type is an unsized type: an element kind with Dims array dimensions. Compare types with Equal.
type Type struct {
	Kind    Kind
	Dims    int    // number of array dimensions
	Members []Type // of Tuple
	Func    *FuncType
}

// FuncType is the type of a user function, for overloads and functors.
type FuncType struct {
	Params []Param
	Result Type // Kind Void for none
}

// Param is a parameter of a user function.
type Param struct {
	Type     Type
	DataOnly bool
}

// Common types.
var (
	ComplexType   = Type{Kind: Complex}
	VoidType      = Type{Kind: Void}
	IntType       = Type{Kind: Int}
	RealType      = Type{Kind: Real}
	VectorType    = Type{Kind: Vector}
	RowVectorType = Type{Kind: RowVector}
	MatrixType    = Type{Kind: Matrix}
	SparseType    = Type{Kind: SparseMatrix}
)

// Array returns the type with n more array dimensions.
func (t Type) Array(n int) Type { t.Dims += n; return t }

// Elem returns the type of one element of an array, or of x[i] with one index: an element of a
// vector is real, a row of a matrix is a row_vector. ok is false if the type cannot be indexed.
func (t Type) Elem() (e Type, ok bool) {
	if t.Dims > 0 {
		t.Dims--
		return t, true
	}
	switch t.Kind {
	case Vector, RowVector:
		return RealType, true
	case Matrix:
		return RowVectorType, true
	case ComplexVector, ComplexRowVector:
		return Type{Kind: Complex}, true
	case ComplexMatrix:
		return Type{Kind: ComplexRowVector}, true
	}
	return Type{}, false
}

// Rank returns the number of indices that select a scalar.
func (t Type) Rank() int {
	switch t.Kind {
	case Vector, RowVector, ComplexVector, ComplexRowVector:
		return t.Dims + 1
	case Matrix, ComplexMatrix:
		return t.Dims + 2
	}
	return t.Dims
}

// IsScalar reports whether the type is int, real or complex without array dimensions.
func (t Type) IsScalar() bool {
	return t.Dims == 0 && (t.Kind == Int || t.Kind == Real || t.Kind == Complex)
}

// Equal reports whether two types are the same.
func (t Type) Equal(u Type) bool {
	if t.Kind != u.Kind || t.Dims != u.Dims || len(t.Members) != len(u.Members) {
		return false
	}
	for i := range t.Members {
		if !t.Members[i].Equal(u.Members[i]) {
			return false
		}
	}
	if t.Kind == Function {
		if len(t.Func.Params) != len(u.Func.Params) || !t.Func.Result.Equal(u.Func.Result) {
			return false
		}
		for i, p := range t.Func.Params {
			if p.DataOnly != u.Func.Params[i].DataOnly || !p.Type.Equal(u.Func.Params[i].Type) {
				return false
			}
		}
	}
	return true
}

// String returns the type as in a function signature: array[,] vector.
func (t Type) String() string {
	var b strings.Builder
	if t.Dims > 0 {
		b.WriteString("array[" + strings.Repeat(",", t.Dims-1) + "] ")
	}
	switch t.Kind {
	case Tuple:
		b.WriteString("tuple(")
		for i, m := range t.Members {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(m.String())
		}
		b.WriteString(")")
	case Function:
		b.WriteString("(")
		for i, p := range t.Func.Params {
			if i > 0 {
				b.WriteString(", ")
			}
			if p.DataOnly {
				b.WriteString("data ")
			}
			b.WriteString(p.Type.String())
		}
		b.WriteString(") => " + t.Func.Result.String())
	default:
		b.WriteString(t.Kind.String())
	}
	return b.String()
}
