package types

import "slices"

// ComplexPart is the real or the imaginary part of a complex number, or neither.
type ComplexPart uint8

// The parts.
const (
	NotComplex ComplexPart = iota
	RealPart
	ImagPart
)

// Leaf is one of the simple values that form a value of a composite type.
type Leaf struct {
	Type Type  // with the array dimensions of all enclosing types
	Path []int // the members that lead to it, from 1
	Part ComplexPart
}

// Leaves returns the leaves of a type in order: members from first to last, real before imaginary
// parts. A simple type is its own leaf.
func (t Type) Leaves() []Leaf {
	return t.leaves(make([]Leaf, 0, t.NumLeaves()), nil, 0)
}

// leaves appends the leaves of a member. dims is the number of array dimensions of the enclosing
// types.
func (t Type) leaves(out []Leaf, path []int, dims int) []Leaf {
	switch {
	case t.Kind == Tuple:
		for i, m := range t.Members {
			out = m.leaves(out, append(path, i+1), dims+t.Dims)
		}
		return out
	case t.Scalar() == Complex:
		r, _ := t.WithElem(Real)
		r, path = r.Array(dims), slices.Clone(path)
		return append(out, Leaf{r, path, RealPart}, Leaf{r, path, ImagPart})
	}
	return append(out, Leaf{Type: t.Array(dims), Path: slices.Clone(path)})
}

// NumLeaves returns the number of leaves.
func (t Type) NumLeaves() int {
	switch {
	case t.Kind == Tuple:
		n := 0
		for _, m := range t.Members {
			n += m.NumLeaves()
		}
		return n
	case t.Scalar() == Complex:
		return 2
	}
	return 1
}

// Composite reports whether values of a type have several leaves.
func (t Type) Composite() bool { return t.Kind == Tuple || t.Scalar() == Complex }

// LeafRange returns the range of member i's leaves among the leaves of a tuple.
func (t Type) LeafRange(i int) (from, to int) {
	for k, m := range t.Members {
		n := m.NumLeaves()
		if k == i {
			return from, from + n
		}
		from += n
	}
	return from, from
}

// PromotedLeaves converts a list with an item for each leaf of a value, such as its size, when the
// value is promoted to another type. A number promoted to a complex number becomes two leaves.
func PromotedLeaves[T any](leaves []T, from, to Type) []T {
	switch {
	case from.Kind == Tuple:
		var out []T
		for i, m := range from.Members {
			lo, hi := from.LeafRange(i)
			out = append(out, PromotedLeaves(leaves[lo:hi], m, to.Members[i])...)
		}
		return out
	case to.Composite() && !from.Composite():
		return []T{leaves[0], leaves[0]}
	}
	return leaves
}
