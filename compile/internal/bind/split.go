package bind

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/lang/types"
)

// Ragged data: where sizes in a loop's body differ between iterations, which data
// decide, the iterations of each size run in lanes of their own, as if the body
// stood in conditionals on its sizes. The sizes that matter are those that the
// inspector comes upon.

// split is a size in the body of a loop: one number for each lane of an axis,
// which differ; negative where it does not matter.
type split struct {
	axis  *axis
	sizes []int64
}

// differ is the reason of what cannot be evaluated once for iterations of several sizes.
const differ = "a size that differs between iterations"

// mustAgree is a size that must be the same in all lanes but those that conditions
// leave out. The inspector makes sure of it.
func (b *binder) mustAgree(v value, reason string) int64 {
	excluded := b.excluded(v.axis)
	size, some, agree := int64(0), false, true
	sizes := slices.Clone(v.ints)
	for l, x := range sizes {
		if excluded != nil && excluded[l] {
			sizes[l] = -1
			continue
		}
		agree = agree && (!some || x == size)
		size, some = x, true
	}
	if !agree {
		panic(&fault{reason: reason, split: &split{v.axis, sizes}})
	}
	return size
}

// groups are the iterations of a loop by their sizes.
type groups struct {
	of []int32 // by lane
	n  int
}

// refine splits the groups of the lanes of ax by a size; it reports whether there
// are more of them now, but not too many. The size may be one of some of the
// iterations, or of iterations of loops within them if it is the same in each of
// these.
func (g *groups) refine(ax *axis, s *split) bool {
	return g.refineTo(ax, s, min(maxGroups, ax.Iterations()/fewestLanes))
}

// refineTo is refine for at most so many groups.
func (g *groups) refineTo(ax *axis, s *split, most int) bool {
	if !ax.Within(s.axis) {
		return false
	}
	up := plan.UpTo(s.axis, ax)
	sizes := make([]int64, ax.N)
	for l := range sizes {
		sizes[l] = -1
	}
	for l, x := range s.sizes {
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
		if g.of != nil {
			p.of = g.of[l]
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
	if n := len(numbers); n <= g.n || n > most {
		return false
	}
	g.of, g.n = of, len(numbers)
	return true
}

// condition is the truth, in the lanes of ax, of being in group k.
func (g *groups) condition(ax *axis, k int) value {
	in := value{typ: types.IntType, axis: ax, ints: make([]int64, ax.N)}
	for l, of := range g.of {
		in.ints[l] = truth(int(of) == k)
	}
	return in
}

// sizesOf are the sizes of slices from one place to another, per lane of ax, and
// where they start.
func sizesOf(from, to value, ax *axis) (sizes, starts value) {
	sizes = value{typ: types.IntType, axis: ax, ints: make([]int64, plan.Lanes(ax))}
	starts = sizes
	starts.ints = slices.Clone(sizes.ints)
	uf, ut := plan.UpTo(ax, from.axis), plan.UpTo(ax, to.axis)
	for l := range sizes.ints {
		lo := intAt(from, ax, uf, l, 0)
		sizes.ints[l], starts.ints[l] = max(0, intAt(to, ax, ut, l, 0)-lo+1), lo
	}
	return sizes, starts
}
