package nuts

import (
	"math"

	"github.com/ppl-lang/ppl/infer/internal/quick"
)

// space is where the tree algorithm grows its trees. T is the type of a tree: a run of consecutive
// points in time, with its two ends, the values for the U-turn criterion, and one chosen point. The
// space owns the trees, and the algorithm changes them in place.
type space[T any] interface {
	// leaf makes one step beyond the front (or back) end of the whole trajectory and makes dst the
	// tree of the new point. w is the point's weight; ok is false if the trajectory diverges there,
	// and then ends.
	leaf(dst T, forward bool) (w weight, ok bool)

	// choose replaces the chosen point of dst by that of src with probability prob. The chosen
	// point of src is not used afterwards.
	choose(dst, src T, prob float64)

	// join adds the adjacent tree other to dst: after it in time if after is set, otherwise before
	// it. It reports whether the union makes a U-turn, either as a whole or across the border
	// between the two. The chosen point of dst stays; other must not be used again. Both parts need
	// the sum of the momenta, so they are one method.
	join(dst, other T, after bool) (turning bool)

	// scratch returns a tree for use at a level. The trees of different levels differ, and none is
	// the root.
	scratch(level int) T
}

// grow doubles the tree root, which has one point with weight total, until it makes a U-turn,
// diverges or has been doubled maxDepth times. Bit j of directions says whether doubling j goes
// forward in time. Afterwards root has the chosen point. The result is the number of complete
// doublings. A doubling that diverges or makes a U-turn inside is not counted, and none of its
// points is chosen.
//
// The transition from the start to the chosen point leaves the weights invariant, for these
// reasons. Consider the 2^depth trees of the final size that contain the start and fit the
// directions. Each is equally likely to be built from any of its points. A doubling is discarded if
// any subtree in its balanced division makes a U-turn, so every point of the final tree would have
// led to the same tree. The choice between the old tree and a doubling is a Metropolis step between
// their total weights; the choice within a doubling is proportional to the weights.
func grow[T any, S space[T]](s S, root T, total weight, directions uint64, maxDepth int) (depth int) {
	for depth < maxDepth {
		forward := directions>>depth&1 == 1
		next := s.scratch(depth)
		w, ok := build[T](s, next, depth, forward)
		if !ok {
			break
		}
		depth++
		s.choose(root, next, min(1, w.over(total)))
		total = total.plus(w)
		if s.join(root, next, forward) {
			break
		}
	}
	return depth
}

// build makes dst a tree of 2^depth new points beyond the front or back end, and returns their
// total weight. If the tree diverges, or if it or one of its subtrees makes a U-turn, ok is false
// and the tree must not be used.
func build[T any, S space[T]](s S, dst T, depth int, forward bool) (total weight, ok bool) {
	if depth == 0 {
		return s.leaf(dst, forward)
	}
	total, ok = build[T](s, dst, depth-1, forward)
	if !ok {
		return total, false
	}
	// The first half is complete, so the scratch trees below this level are free.
	second := s.scratch(depth - 1)
	w, ok := build[T](s, second, depth-1, forward)
	if !ok {
		return total, false
	}
	total = total.plus(w)
	s.choose(dst, second, w.over(total))
	return total, !s.join(dst, second, forward)
}

// weight represents the number value·exp(shift). Almost always shift is 0, and weights are simply
// added. This saves two exponentials and a logarithm per leaf, a third of the time of a small
// model.
type weight struct {
	value, shift float64
}

// unshifted is the maximum logarithm of weights that need no shift: sums of 2^30 of them do not
// overflow.
const unshifted = 600

func weightOf(log float64) weight {
	switch {
	case math.Abs(log) <= unshifted:
		return weight{quick.Exp(log), 0}
	case math.IsInf(log, -1):
		return weight{0, 0}
	}
	return weight{1, log}
}

func (a weight) plus(b weight) weight {
	switch {
	case a.shift == b.shift:
		return weight{a.value + b.value, a.shift}
	case a.value == 0 || a.shift < b.shift && b.value != 0:
		a, b = b, a
	}
	return weight{a.value + b.value*math.Exp(b.shift-a.shift), a.shift}
}

// over returns a/b. b must not be 0 unless a is; 0/0 is 0.
func (a weight) over(b weight) float64 {
	switch {
	case a.value == 0:
		return 0
	case a.shift == b.shift:
		return a.value / b.value
	}
	return a.value / b.value * math.Exp(a.shift-b.shift)
}
