package nuts

import (
	"math"

	"github.com/ppl-lang/ppl/infer"
)

// Steps that are refined where they have to be: where the density has a narrow neck, a steep
// tail or a bent ridge, a step size that suits the rest is too long, and trajectories
// diverge there or are hardly ever accepted, so that no draws are made of it. Here
// the way from one leaf of the tree to the next is made of 2^stretch steps of the
// integrator, or, where the energy varies by more than Refine along them, of twice as many
// of half the size, and so on: of the first number with which it does not.
//
// The way back must be the same, or the weights would not be left invariant. Along the same
// steps in the other direction the energy varies by as much, so that what has to be tried
// is whether larger ones would do from there. If they do, the two points are not neighbours,
// seen from either of them, and the trajectory ends, as it does by a divergence.
//
// Bou-Rabee, Carpenter, Kleppe and Liu, "The within-orbit adaptive leapfrog no-U-turn
// sampler" (2025), where the number may be drawn at random. One step at a time would
// not do: how much the energy varies along one depends on the phase of the fastest
// oscillation, and on Rosenbrock's function 28 to 70 % of trajectories ended for larger ones
// that would do on the way back; with 8 steps 13 to 19 %. There is a leaf for every half unit
// of time at least: with fewer, an oscillation where the scale is 1 would not be seen to turn.

// spacing is the largest time from leaf to leaf, if the step size is not larger; maxStretch is
// the largest stretch, and maxHalvings how often steps may be halved: eight times reach three and
// a half standard deviations down the neck of a funnel whose logarithm of the scale has 1.5. Each
// more doubles what a leaf costs where a density jumps, which no step is small enough for.
const (
	spacing     = 0.5
	maxStretch  = 4
	maxHalvings = 8
)

// stretch is that of a step size; the tree must still have a leaf or two.
func stretch(eps float64, maxDepth int) int {
	n := 0
	for n < min(maxStretch, maxDepth-1) && math.Ldexp(eps, n+1) <= spacing {
		n++
	}
	return n
}

// smooth makes the plain steps, halved as often as given, from one point to z, and reports whether
// the energy varies by no more than it may. If it does, z is where that was seen.
func (t *trajectory) smooth(from, z *infer.Point, eps float64, halved int) bool {
	if halved > 0 {
		eps = math.Ldexp(eps, -halved)
	}
	least, most := from.Energy, from.Energy
	for left := 1 << (t.stretch + halved); ; left-- {
		if t.err = t.step(from, z, eps); t.err != nil {
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

// fine goes on from one leaf to the next in steps that are halved, and reports whether
// there is a next one.
func (t *trajectory) fine(from, to *infer.Point, eps float64) bool {
	halved := 1
	for ; ; halved++ {
		if halved > maxHalvings {
			t.divergent = true
			return false
		}
		if t.smooth(from, to, eps, halved) {
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
		if t.smooth(to, t.back, -eps, halved) || t.err != nil {
			return false
		}
	}
	return true
}
