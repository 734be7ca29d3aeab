package auto_test

import (
	"math"
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

// trough is a density that is flat around its mode at 30 and has steep walls: the normal
// distribution with the second derivatives at the mode is three times too wide.
type trough struct{ d int }

func (t trough) Dim() int { return t.d }

func (t trough) LogDensityGrad(x, grad []float64) (lp float64, err error) {
	for i, v := range x {
		v -= 30
		lp -= v*v/18 + v*v*v*v/2
		grad[i] = -v/9 - 2*v*v*v
	}
	return lp, nil
}

// TestShorterDraws starts chains where draws from the normal approximation have next to no density.
// They begin nearer to the mode, not at their random points around 0.
func TestShorterDraws(t *testing.T) {
	for _, d := range []int{6, 40} {
		for seed := range uint64(3) {
			draws, _ := drawn(t, trough{d}, infer.Config{Sampler: auto.Sampler{MaxDepth: 1}, Seed: 1 + seed, Warmup: 1, Draws: 1})
			for chain, x := range draws {
				for _, v := range x {
					if math.Abs(v-30) > 3 {
						t.Errorf("%d dimensions, seed %d, chain %d: begins at %.3g, far from the mode", d, 1+seed, chain, v)
						break
					}
				}
			}
		}
	}
}
