package lanes

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/plan"
)

// Ragged data: where sizes in a loop's body differ between iterations, which data
// decide, the iterations of each size run in separate lanes, as if the body
// stood in conditionals on its sizes. The sizes that matter are those that the
// inspector comes upon.

// Split is a size in the body of a loop: one number for each lane of an axis,
// which differ; negative where it does not matter.
type Split struct {
	Axis  *plan.Axis
	Sizes []int64
}

// Differ is the reason of what cannot be evaluated once for iterations of several sizes.
const Differ = "a size that differs between iterations"

// MustAgree is a size that must be the same in all lanes but those that are left out. The inspector
// makes sure of it.
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

// Of iterations by groups of equal sizes. Groups are few in number, and there are at least
// this many times as many iterations as groups; else the loop is better unrolled. The
// iterations are those of the loop itself if it has as many in each lane of a loop around:
// unrolled, it stays in these lanes, and spares the gathers of the groups. For two
// triangular convolutions in 14 lanes these made a gradient take 660 µs instead of 510.
const (
	maxGroups = 128
	minLanes  = 4
)

// Groups are the iterations of a loop by their sizes.
type Groups struct {
	Of []int32 // by lane
	N  int
}

// Refine splits the groups of the lanes of ax by a size; it reports whether there
// are more of them now, but not too many. The size may be one of some of the
// iterations, or of iterations of loops within them if it is the same in each of
// these.
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

// Condition is the truth, in the lanes of ax, of being in group k.
func (g *Groups) Condition(ax *plan.Axis, k int) Value {
	in := Value{Axis: ax, Ints: make([]int64, ax.N)}
	for l, of := range g.Of {
		in.Ints[l] = Truth(int(of) == k)
	}
	return in
}

// Slice is a slice whose bounds differ between iterations: its sizes, per lane of ax, and where
// they start.
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
