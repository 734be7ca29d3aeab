package plan

// Axis is the set of iterations ("lanes") over which values vary while a loop is evaluated once
// for all of them. A nest of loops, however ragged, is one axis with a map to the lanes of the
// loop around it. A branch that data decide is an axis too: the lanes that take it.
type Axis struct {
	N      int
	Parent *Axis   // nil: the uniform context
	Up     []int32 // lane of the parent for each lane; nil if Parent is nil
	Subset bool    // a branch: some of the parent's lanes, each once

	// Level is where values with these lanes live. This package does not look at it.
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

// LanesOf maps the lanes of a to those of its ancestor to; nil is the identity. It may be
// the axis's own table, which nobody writes to.
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

// Iterations is the number of iterations of the loop that made the axis: in each lane of
// the loop around it, if they agree, else in all.
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

// Lanes is the number of lanes of an axis, 1 of none.
func Lanes(ax *Axis) int {
	if ax == nil {
		return 1
	}
	return ax.N
}

// UpTo is the map of ax's lanes to those of an axis around it; nil if they are the same or there
// is none.
func UpTo(ax, of *Axis) []int32 {
	if of == nil || of == ax {
		return nil
	}
	return ax.LanesOf(of)
}
