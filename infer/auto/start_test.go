package auto_test

import (
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// TestMouth starts chains on funnels whose highest point is in the neck. With nine further
// dimensions it is at −40, where there is 10⁻⁴⁰ of the mass; with one, at −4.5. No chain may be far
// out in the neck after the first round of warm-up.
func TestMouth(t *testing.T) {
	for _, d := range []int{2, 10} {
		for seed := range uint64(3) {
			draws, _ := drawn(t, infertest.Funnel{D: d}, infer.Config{Sampler: auto.Sampler{}, Seed: 1 + seed, Warmup: 15, Draws: 1})
			for chain, x := range draws {
				if log := x[0]; log < -12 {
					t.Errorf("%d dimensions, seed %d, chain %d: begins at %.3g, far down the neck", d, 1+seed, chain, log)
				}
			}
		}
	}
}
