package types

// ComplexPart tells the parts of a complex number from what is none.
type ComplexPart uint8

// The parts.
const (
	NotComplex ComplexPart = iota
	RealPart
	ImagPart
)

// Leaf is one of the simple values that a value of a composite type consists of.
type Leaf struct {
	Type Type  // with the array dimensions of all that is around it
	Path []int // the members that lead to it, from 1
	Part ComplexPart
}

// Leaves are the leaves of a type in order: members from first to last, real
// before imaginary parts. A simple type is its own leaf.
func (t Type) Leaves() []Leaf {
	switch {
	case t.Kind == Tuple:
		var out []Leaf
		for i, m := range t.Members {
			for _, leaf := range m.Leaves() {
				leaf.Type = leaf.Type.Array(t.Dims)
				leaf.Path = append([]int{i + 1}, leaf.Path...)
				out = append(out, leaf)
			}
		}
		return out
	case t.Scalar() == Complex:
		r, _ := t.WithElem(Real)
		return []Leaf{{Type: r, Part: RealPart}, {Type: r, Part: ImagPart}}
	}
	return []Leaf{{Type: t}}
}

// Composite reports a type whose values are several leaves.
func (t Type) Composite() bool { return t.Kind == Tuple || t.Scalar() == Complex }

// LeafRange is the range of the leaves of a tuple that those of its member i are.
func (t Type) LeafRange(i int) (from, to int) {
	for k, m := range t.Members {
		n := len(m.Leaves())
		if k == i {
			return from, from + n
		}
		from += n
	}
	return from, from
}
