package types

import (
	"fmt"
	"slices"
)

// This file: the interface of the table of constrained types for other packages.

var plainNames = [...]string{Unconstrained: "unconstrained", LowerUpper: "lower/upper", OffsetMultiplier: "offset/multiplier"}

// ConstrainedTypes returns the kinds of the constrained types, in the order of the table.
func ConstrainedTypes() []ConstraintKind {
	var ks []ConstraintKind
	for k := Ordered; k < numConstraints; k++ {
		ks = append(ks, k)
	}
	return ks
}

// ConstrainedType returns the constraint and the plain type for a keyword such as simplex; ok is
// false if the keyword does not name a constrained type.
func ConstrainedType(keyword string) (k ConstraintKind, t Type, ok bool) {
	for k := Ordered; k < numConstraints; k++ {
		if row := k.row(); row.keyword == keyword {
			return k, row.typ, true
		}
	}
	return Unconstrained, Type{}, false
}

// Structured reports whether the constraint is a constrained type, which constrains a whole vector
// or matrix. The methods below, except String, are only for these.
func (k ConstraintKind) Structured() bool { return k >= Ordered }

// row returns the table row of a constrained type.
func (k ConstraintKind) row() *structure { return &structures[k] }

// String returns the keyword of the constrained type, if there is one.
func (k ConstraintKind) String() string {
	if !k.Structured() {
		return plainNames[k]
	}
	return k.row().keyword
}

// Function returns the stem of the functions NAME_constrain, NAME_jacobian and NAME_unconstrain.
func (k ConstraintKind) Function() string {
	if f := k.row().function; f != "" {
		return f
	}
	return k.row().keyword
}

// Type returns the plain type of a value, VectorType or MatrixType.
func (k ConstraintKind) Type() Type { return k.row().typ }

// Sizes returns the minimum and maximum number of sizes in a declaration. A matrix that is declared
// with one size is square.
func (k ConstraintKind) Sizes() (min, max int) {
	if s := k.row().sizes; s.max > 0 {
		return s.min, s.max
	}
	n := k.row().typ.Rank()
	return n, n
}

// Declaration returns the type as it is declared, such as simplex[K].
func (k ConstraintKind) Declaration() string {
	if _, max := k.Sizes(); max == 2 {
		return k.String() + "[M, N]"
	}
	return k.String() + "[K]"
}

// Square reports whether all values are square matrices.
func (k ConstraintKind) Square() bool { return k.row().typ.Rank() == 2 && k.row().sizes == oneSize }

// High reports whether values have at least as many rows as columns.
func (k ConstraintKind) High() bool { return k.row().high }

// Range returns the smallest interval that contains every element of every value.
func (k ConstraintKind) Range() (lo, hi float64) { return k.row().lo, k.row().hi }

// Is returns the name of a value with its article, such as "a simplex".
func (k ConstraintKind) Is() string { return k.row().is }

// Values describes the set in the words of spec.md.
func (k ConstraintKind) Values() string { return k.row().values }

// Within reports whether each value of type k is also of type wider.
func (k ConstraintKind) Within(wider ConstraintKind) bool {
	for ; k != wider; k = k.row().special {
		if !k.Structured() {
			return false
		}
	}
	return true
}

// Factor reports whether values are Cholesky factors.
func (k ConstraintKind) Factor() bool { return k.row().factor }

// Example converts random numbers, which must be positive if Range is, to a value of that shape, in
// place.
func (k ConstraintKind) Example(shape []int, x []float64) { k.row().example(shape, x) }

// Short returns a value with two elements in each dimension and few digits.
func (k ConstraintKind) Short() []float64 { return slices.Clone(k.row().short) }

// Tolerance is the maximum deviation of sums, norms and symmetric elements in values of constrained
// types, as in Stan.
const Tolerance = 1e-8

// Text returns the text that completes "must be …" for a constrained type.
func (k ConstraintKind) Text() string { return k.row().text }

// WrongSize describes what is wrong with the sizes of a value of a constrained type. The text
// completes "a simplex …", or is empty.
func (k ConstraintKind) WrongSize(shape []int) string {
	for i, least := range k.row().minSizes {
		switch {
		case shape[i] >= least:
		case least == 1:
			return "cannot be empty"
		default:
			return fmt.Sprintf("has at least %d elements", least)
		}
	}
	if k.row().high && shape[0] < shape[1] {
		return "has at least as many rows as columns"
	}
	return ""
}

// Wrong describes what is wrong with a value of a constrained type with this shape and these
// elements by rows. The text completes "must be …, but …", or is empty. work has the length of x.
// Sums, norms and symmetric elements may deviate by tol, which is Tolerance except for initial
// values.
func (k ConstraintKind) Wrong(shape []int, x, work []float64, tol float64) string {
	return k.row().wrong(shape, x, work, tol)
}

// WrongItem finds the first of the values of this shape in x that is wrong, and describes it. work
// has the length of one value.
func (k ConstraintKind) WrongItem(shape []int, x, work []float64, tol float64) (item int, wrong string) {
	n := len(work)
	for i := range len(x) / max(n, 1) {
		if wrong := k.Wrong(shape, x[i*n:(i+1)*n], work, tol); wrong != "" {
			return i, wrong
		}
	}
	return 0, ""
}

// Fixed reports whether the type determines the element at 0-based indices at of a value of a given
// shape, whatever the other elements are: a diagonal of ones, the zeros of a triangular matrix.
func (k ConstraintKind) Fixed(shape, at []int) bool {
	fixed := k.row().fixed
	return fixed != nil && fixed(shape, at)
}
