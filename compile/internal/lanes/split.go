package lanes

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/plan"
)

// This file: ragged data. If data make sizes in the body of a loop differ between iterations, the
// iterations of each size run in separate lanes, as if the body were in conditionals on its sizes.
// The sizes that matter are those that the inspector meets.

// Split is a size in the body of a loop that differs between the lanes of an axis. A negative size
// does not matter.
type Split struct {
	Axis  *plan.Axis
	Sizes []int64
}

// Differ is the reason why something cannot be evaluated once for iterations of several sizes.
const Differ = "a size that differs between iterations"

// MustAgree returns a size that must be the same in all lanes that are not excluded. The inspector
// ensures this.
func (v Value) MustAgree(excluded []bool) int64 {
	size, some, agree := int64(0), false, true
	sizes := slices.Clone(v.Ints)
	for l, x := range sizes {
		if excluded != nil && excluded[l] {
			sizes[l] = -1
			continue
		}
		agree = agree && (!some || x == size)
		size, some = x, true
	}
	if !agree {
		panic(&Fault{Reason: Differ, Split: &Split{v.Axis, sizes}})
	}
	return size
}

// These bound the groups of iterations with equal sizes. There are at most maxGroups groups, and at
// least minLanes times as many iterations as groups; otherwise it is better to unroll the loop.
// Iterations are counted per lane of the outer loop, if their number is the same in each lane: if
// such a loop is unrolled, the code stays in these lanes and needs no gathers for groups. For two
// triangular convolutions in 14 lanes, the gathers made a gradient take 660 µs instead of 510.
const (
	maxGroups = 128
	minLanes  = 4
)

// Groups divides the iterations of a loop into groups with equal sizes.
type Groups struct {
	Of []int32 // the group of each lane
	N  int
}

// Refine splits the groups of the lanes of ax by a size. It reports whether there are now more
// groups, but not too many. The size may belong to only some of the iterations. It may also belong
// to inner loops, if it is the same in all their iterations.
func (g *Groups) Refine(ax *plan.Axis, s *Split) bool {
	most := min(maxGroups, ax.Iterations()/minLanes)
	if !ax.Within(s.Axis) {
		return false
	}
	up := plan.UpTo(s.Axis, ax)
	sizes := slices.Repeat([]int64{-1}, ax.N)
	for l, x := range s.Sizes {
		if x < 0 {
			continue
		}
		at := l
		if up != nil {
			at = int(up[l])
		}
		if sizes[at] >= 0 && sizes[at] != x {
			return false
		}
		sizes[at] = x
	}
	type part struct {
		of   int32
		size int64
	}
	numbers, of := map[part]int32{}, make([]int32, ax.N)
	for l, x := range sizes {
		p := part{size: x}
		if g.Of != nil {
			p.of = g.Of[l]
		}
		k, ok := numbers[p]
		if !ok {
			if len(numbers) == most {
				return false
			}
			k = int32(len(numbers))
			numbers[p] = k
		}
		of[l] = k
	}
	if n := len(numbers); n <= g.N || n > most {
		return false
	}
	g.Of, g.N = of, len(numbers)
	return true
}

// Condition returns, in the lanes of ax, whether the lane is in group k.
func (g *Groups) Condition(ax *plan.Axis, k int) Value {
	in := Value{Axis: ax, Ints: make([]int64, ax.N)}
	for l, of := range g.Of {
		in.Ints[l] = Truth(int(of) == k)
	}
	return in
}

// Slice returns the sizes and starts, per lane of ax, of a slice whose bounds differ between
// iterations.
func Slice(from, to Value, ax *plan.Axis) (sizes, starts Value) {
	sizes = Value{Axis: ax, Ints: make([]int64, plan.Lanes(ax))}
	starts = Value{Axis: ax, Ints: make([]int64, plan.Lanes(ax))}
	uf, ut := plan.UpTo(ax, from.Axis), plan.UpTo(ax, to.Axis)
	for l := range sizes.Ints {
		lo := from.At(uf, l, 0)
		sizes.Ints[l], starts.Ints[l] = max(0, to.At(ut, l, 0)-lo+1), lo
	}
	return sizes, starts
}
