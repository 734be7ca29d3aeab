package lanes

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/plan"
)

// Mask is a condition whose value in each iteration is known, and the side that is being evaluated.
type Mask struct {
	Cond Value
	Side bool
}

// Excluded returns the excluded lanes of an axis, or nil. A lane is excluded by a condition, or
// because none of the lanes in force belongs to it (an inner loop without iterations there).
func Excluded(masks []Mask, in, ax *plan.Axis) []bool {
	out := empty(in, ax)
	for _, m := range masks {
		if ax == nil || m.Cond.Axis == nil {
			continue
		}
		lane := make([]bool, ax.N)
		switch {
		case m.Cond.Axis.Within(ax):
			up := plan.UpTo(ax, m.Cond.Axis)
			for l := range lane {
				lane[l] = m.Cond.At(up, l, 0) != 0 != m.Side
			}
		// The condition varies within a lane of ax: the lane is excluded only if all iterations in
		// it are.
		case ax.Within(m.Cond.Axis):
			for l := range lane {
				lane[l] = true
			}
			up := m.Cond.Axis.LanesOf(ax)
			for l, x := range m.Cond.Ints {
				if x != 0 == m.Side {
					lane[up[l]] = false
				}
			}
		default:
			continue
		}
		if out == nil {
			out = lane
			continue
		}
		for l := range out {
			out[l] = out[l] || lane[l]
		}
	}
	return out
}

// empty returns the lanes of an axis to which no lane in force belongs, or nil.
func empty(in, ax *plan.Axis) []bool {
	if ax == nil || in == nil || ax == in || !ax.Within(in) {
		return nil
	}
	out := slices.Repeat([]bool{true}, ax.N)
	left := ax.N
	for _, l := range in.LanesOf(ax) {
		if out[l] {
			out[l] = false
			left--
		}
	}
	if left == 0 {
		return nil
	}
	return out
}

// Sides splits the lanes of ax by a condition: those where it is true, and the others. A side is
// nil if it has no lanes, and ax if it has all of them.
func Sides(cond Value, ax *plan.Axis) (sides [2]*plan.Axis) {
	var lanes [2][]int32
	for l, t := range cond.Mask(ax) {
		k := 1
		if t {
			k = 0
		}
		lanes[k] = append(lanes[k], int32(l))
	}
	for k, some := range lanes {
		switch len(some) {
		case 0:
		case ax.N:
			sides[k] = ax
		default:
			sides[k] = &plan.Axis{N: len(some), Parent: ax, Up: some, Level: ax.Level, Subset: true}
		}
	}
	return sides
}

// Memory requests the memory of an array of these sizes, whose elements have this many bytes,
// before it is allocated. It may panic.
type Memory func(bytes int, sizes ...int)

// Lanes requests the memory of the numbers and maps of an axis.
func (m Memory) Lanes(n ...int) { m(32, n...) }

// Iterations returns the axis of n iterations in every lane of in, and the numbers of the
// iterations, from 1. Outside of all loops in is nil, and the axis gets the given level.
func Iterations(n int, in *plan.Axis, level any, memory Memory) (*plan.Axis, Value) {
	ax := &plan.Axis{N: n, Parent: in, Level: level}
	if in != nil {
		ax.N *= in.N
		ax.Level = in.Level
	}
	memory.Lanes(ax.N)
	ints := make([]int64, ax.N)
	ax.Up = make([]int32, ax.N)
	for i := range ints {
		ints[i] = int64(i%n) + 1
		ax.Up[i] = int32(i / n)
	}
	return ax, Value{Axis: ax, Ints: ints}
}

// MaxTrips returns the largest number of iterations of a loop whose bounds differ between the lanes
// of ax.
func MaxTrips(from, to Value, ax *plan.Axis) (most int64) {
	upFrom, upTo := plan.UpTo(ax, from.Axis), plan.UpTo(ax, to.Axis)
	for l := range ax.N {
		most = max(most, to.At(upTo, l, 0)-from.At(upFrom, l, 0)+1)
	}
	return most
}

// Padded is Ragged with the given number of iterations, at least [MaxTrips], in every lane of ax.
// active is 1 in the iterations of the loop. In the others, the variable has a value from one of
// these.
func Padded(from, to Value, ax *plan.Axis, trips int64, memory Memory) (inner *plan.Axis, i, active Value) {
	memory.Lanes(ax.N, int(trips))
	inner = &plan.Axis{N: ax.N * int(trips), Parent: ax, Level: ax.Level, Up: make([]int32, 0, ax.N*int(trips))}
	i, active = Value{Axis: inner}, Value{Axis: inner}
	upFrom, upTo := plan.UpTo(ax, from.Axis), plan.UpTo(ax, to.Axis)
	for l := range ax.N {
		lo, hi := from.At(upFrom, l, 0), to.At(upTo, l, 0)
		for k := range trips {
			inner.Up = append(inner.Up, int32(l))
			i.Ints = append(i.Ints, max(lo, min(lo+k, hi)))
			active.Ints = append(active.Ints, Truth(lo+k <= hi))
		}
	}
	return inner, i, active
}

// Ragged returns the axis of all iterations of a loop whose bounds differ between the lanes in
// force, and the values of its variable.
func Ragged(from, to Value, in *plan.Axis, memory Memory) (*plan.Axis, Value) {
	ax := Innermost(in, Innermost(from.Axis, to.Axis))
	inner := &plan.Axis{Parent: ax, Level: ax.Level}
	upFrom, upTo := plan.UpTo(ax, from.Axis), plan.UpTo(ax, to.Axis)
	for l := range ax.N {
		n := int(max(0, to.At(upTo, l, 0)-from.At(upFrom, l, 0)+1))
		memory.Lanes(n)
		inner.N += n
	}
	ints := make([]int64, 0, inner.N)
	inner.Up = make([]int32, 0, inner.N)
	for l := range ax.N {
		for i := from.At(upFrom, l, 0); i <= to.At(upTo, l, 0); i++ {
			inner.Up = append(inner.Up, int32(l))
			ints = append(ints, i)
		}
	}
	return inner, Value{Axis: inner, Ints: ints}
}
