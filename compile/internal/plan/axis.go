package plan

// Axis is a set of iterations ("lanes"). A loop is evaluated once for all its lanes, over which
// values vary. An inner loop, however ragged, is one axis with a map to the lanes of the loop
// around it. A branch that data decide is also an axis: the lanes that take it.
type Axis struct {
	N      int
	Parent *Axis   // nil: outside of all loops
	Up     []int32 // lane of the parent for each lane; nil if Parent is nil
	Subset bool    // a branch: a subset of the parent's lanes

	// Level is the graph that has values with these lanes. This package does not use it.
	Level any
}

// Within reports whether a is b or an axis around b.
func (a *Axis) Within(b *Axis) bool {
	for ; b != a; b = b.Parent {
		if b == nil {
			return false
		}
	}
	return true
}

// LanesOf maps the lanes of a to those of its ancestor to; nil is the identity. The result may be
// the axis's own table: do not modify it.
func (a *Axis) LanesOf(to *Axis) []int32 {
	if a == to {
		return nil
	}
	if to != nil && a.Parent == to {
		return a.Up
	}
	m := append([]int32(nil), a.Up...)
	if to == nil {
		clear(m)
		if m == nil {
			m = make([]int32, a.N)
		}
		return m
	}
	for x := a.Parent; x != to; x = x.Parent {
		for i, l := range m {
			m[i] = x.Up[l]
		}
	}
	return m
}

// Iterations returns the number of iterations per lane of the enclosing loop, if it is the same in
// all lanes. Otherwise it returns the total number.
func (a *Axis) Iterations() int {
	if a.Parent == nil || a.Parent.N == 0 || a.N%a.Parent.N != 0 {
		return a.N
	}
	each := make([]int, a.Parent.N)
	for _, l := range a.Up {
		each[l]++
	}
	for _, n := range each {
		if n != a.N/a.Parent.N {
			return a.N
		}
	}
	return each[0]
}

// Lanes returns the number of lanes of an axis, or 1 if ax is nil.
func Lanes(ax *Axis) int {
	if ax == nil {
		return 1
	}
	return ax.N
}

// UpTo returns the map of ax's lanes to those of an axis around it. It is nil if the two are the
// same or of is nil.
func UpTo(ax, of *Axis) []int32 {
	if of == nil || of == ax {
		return nil
	}
	return ax.LanesOf(of)
}
