package nuts

import (
	"math"

	"github.com/ppl-lang/ppl/infer"
)

// This file refines steps. In a narrow neck, a steep tail or a bent ridge of the density, a step
// size that suits the rest is too large. Trajectories diverge there or are hardly ever accepted, so
// that the region gets no draws. With Refine, the path from one leaf of the tree to the next
// consists of 2^stretch steps of the integrator. If the energy varies by more than Refine along
// them, the path is made of twice as many steps of half the size, and so on, until the variation is
// small enough.
//
// The path in the opposite direction must be the same, or the weights would not be invariant.
// Backwards along the same steps, the energy varies by the same amount. It remains to test whether
// larger steps would have been enough from the other end. If so, the two points are not neighbours
// as seen from both ends, and the trajectory ends there, as after a divergence.
//
// Source: Bou-Rabee, Carpenter, Kleppe and Liu, "The within-orbit adaptive leapfrog no-U-turn
// sampler" (2025), in which the number of steps may also be drawn at random. Refining single steps
// does not work: the energy's variation along one step depends on the phase of the fastest
// oscillation. On Rosenbrock's function, 28 to 70 % of trajectories then ended because larger steps
// were enough on the way back; with 8 steps it was 13 to 19 %. There is at least one leaf for every
// half unit of time, since with fewer, the turn of an oscillation of scale 1 would be missed.

// spacing is the maximum time between leaves, unless the step size is larger. maxStretch is the
// maximum of stretch. maxHalvings is the maximum number of times that steps are halved. Eight
// halvings reach three and a half standard deviations down the neck of a funnel whose log scale has
// standard deviation 1.5. Each further one doubles the cost of a leaf where a density jumps, for
// which no step is small enough.
const (
	spacing     = 0.5
	maxStretch  = 4
	maxHalvings = 8
)

// stretch returns the stretch for a step size, such that the tree can still have a leaf or two.
func stretch(eps float64, maxDepth int) int {
	n := 0
	for n < min(maxStretch, maxDepth-1) && math.Ldexp(eps, n+1) <= spacing {
		n++
	}
	return n
}

// smooth makes the unrefined steps, halved the given number of times, from one point to z. It
// reports whether the energy varies by no more than allowed. If it varies more, z is the point at
// which this was found. more says that the next path probably continues this one.
func (t *trajectory) smooth(from, z *infer.Point, eps float64, halved int, more bool) bool {
	if halved > 0 {
		eps = math.Ldexp(eps, -halved)
	}
	least, most := from.Energy, from.Energy
	for left := 1 << (t.stretch + halved); ; left-- {
		if t.err = t.step(from, z, eps, more || left > 1); t.err != nil {
			return false
		}
		if e := z.Energy; !(e-least <= t.refine && most-e <= t.refine) {
			return false
		}
		if left == 1 {
			return true
		}
		from = z
		least, most = min(least, z.Energy), max(most, z.Energy)
	}
}

// fine goes from one leaf to the next in halved steps. It reports whether there is a next leaf.
func (t *trajectory) fine(from, to *infer.Point, eps float64) bool {
	halved := 1
	for ; ; halved++ {
		if halved > maxHalvings {
			t.divergent = true
			return false
		}
		if t.smooth(from, to, eps, halved, false) {
			break
		}
		if t.err != nil {
			return false
		}
	}
	if t.back == nil {
		t.back = infer.NewPoint(t.dim)
	}
	for halved--; halved >= 0; halved-- {
		if t.smooth(to, t.back, -eps, halved, false) || t.err != nil {
			return false
		}
	}
	return true
}
