package lanes

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/plan"
)

// Value holds known numbers for each lane of an axis. The lanes are stored one after another, each
// in row-major order. Either Ints or Reals is nil.
type Value struct {
	Shape []int
	Axis  *plan.Axis // nil: the same in all lanes
	Ints  []int64
	Reals []float64
}

// Int returns the value of one int.
func Int(i int64) Value { return Value{Ints: []int64{i}} }

// Size returns the number of elements in a lane.
func (v Value) Size() int { return ad.SizeOf(v.Shape) }

// Scalar returns the value of an int that is the same in all lanes.
func (v Value) Scalar() (i int64, ok bool) {
	if v.Ints != nil && v.Axis == nil && len(v.Shape) == 0 {
		return v.Ints[0], true
	}
	return 0, false
}

// At returns element p of known ints in lane l of an axis. up maps the axis's lanes to those of the
// value; nil if they are the same.
func (v Value) At(up []int32, l, p int) int64 {
	if len(v.Shape) == 0 {
		p = 0
	}
	if v.Axis == nil {
		return v.Ints[p]
	}
	if up != nil {
		l = int(up[l])
	}
	return v.Ints[l*v.Size()+p]
}

// Lane returns the known ints of lane l of an axis. up maps the axis's lanes to those of the value;
// nil if they are the same.
func (v Value) Lane(up []int32, l int) []int64 {
	switch {
	case v.Axis == nil:
		return v.Ints
	case up != nil:
		l = int(up[l])
	}
	n := v.Size()
	return v.Ints[l*n : (l+1)*n]
}

// Wide repeats known ints for each lane of ax, which is the value's axis or within it.
func (v Value) Wide(ax *plan.Axis) Value {
	if v.Axis == ax {
		return v
	}
	n := v.Size()
	ints := make([]int64, 0, n*ax.N)
	up := plan.UpTo(ax, v.Axis)
	for l := range ax.N {
		for p := range n {
			ints = append(ints, v.At(up, l, p))
		}
	}
	return Value{Shape: v.Shape, Axis: ax, Ints: ints}
}

// Plus adds a number to known ints.
func (v Value) Plus(by int64) Value {
	if by == 0 {
		return v
	}
	ints := make([]int64, len(v.Ints))
	for i, x := range v.Ints {
		ints[i] = x + by
	}
	v.Ints = ints
	return v
}

// Mask returns the truth of a condition in every lane of ax.
func (v Value) Mask(ax *plan.Axis) []bool {
	mask := make([]bool, ax.N)
	up := plan.UpTo(ax, v.Axis)
	for l := range mask {
		mask[l] = v.At(up, l, 0) != 0
	}
	return mask
}

// Narrow restricts known ints to the lanes in force, without iterations that a condition excludes,
// as in n - 1 where n > 1.
func (v Value) Narrow(in *plan.Axis) Value {
	if v.Ints == nil || !Leaves(in, v.Axis) {
		return v
	}
	up, n := in.LanesOf(v.Axis), v.Size()
	ints := make([]int64, 0, len(up)*n)
	for _, l := range up {
		ints = append(ints, v.Ints[int(l)*n:(int(l)+1)*n]...)
	}
	v.Ints, v.Axis = ints, in
	return v
}

// Leaves reports whether the lanes in force may exclude lanes of ax, an outer axis: whether there
// is a branch in between.
func Leaves(in, ax *plan.Axis) bool {
	if ax == nil || in == ax || !ax.Within(in) {
		return false
	}
	for a := in; a != ax; a = a.Parent {
		if a.Subset {
			return true
		}
	}
	return false
}

// Innermost returns the inner one of two nested axes.
func Innermost(a, b *plan.Axis) *plan.Axis {
	if a == nil {
		return b
	}
	if b == nil || b.Within(a) {
		return a
	}
	if !a.Within(b) {
		panic(&Fault{Reason: "values that vary over different loops"})
	}
	return b
}

// Fault is the reason why something cannot be evaluated once for all lanes. Functions of this
// package, and of packages that use it, panic with a Fault.
type Fault struct {
	Reason string
	Split  *Split // a size by which grouping the iterations may help; nil: none
}

// Truth returns 1 for true, 0 for false.
func Truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
