package infer_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// TestMoments checks the whole sampler: each moment of a correlated normal must lie within six
// Monte Carlo standard errors, estimated from 100 batch means. With about 100 degrees of freedom
// each of the 27 has a false alarm probability of 3e-8.
func TestMoments(t *testing.T) {
	target := infertest.NewNormal([]float64{1, -2, 30}, [][]float64{{2, 0, 0}, {1.5, 0.5, 0}, {-1, 0.3, 0.1}})
	for name, s := range map[string]infer.Sampler{
		"nuts":       nuts.Sampler{},
		"nuts dense": nuts.Sampler{Adapt: warmup.Options{Metric: infer.Dense}},
		"hmc":        hmc.Sampler{},
	} {
		const draws, batch = 10000, 400
		chains, _ := run(t, target, infer.Config{Sampler: s, Draws: draws, Seed: 11})
		check := func(what string, want, scale float64, f func(x []float64) float64) {
			t.Helper()
			var means []float64
			for _, c := range chains {
				for b := 0; b < draws; b += batch {
					m := 0.0
					for _, d := range c[b : b+batch] {
						m += f(d.Position) / batch
					}
					means = append(means, m)
				}
			}
			n := float64(len(means))
			var mean, v float64
			for _, m := range means {
				mean += m / n
			}
			for _, m := range means {
				v += (m - mean) * (m - mean) / (n - 1)
			}
			se := math.Sqrt(v / n)
			if math.Abs(mean-want) > 6*se {
				t.Errorf("%s: %s is %v ± %.2g, want %v", name, what, mean, se, want)
			}
			if se > 0.03*scale {
				t.Errorf("%s: %s: standard error %v says nothing", name, what, se)
			}
		}
		for i := range 3 {
			check(fmt.Sprint("mean ", i), target.Mean[i], math.Sqrt(target.Cov(i, i)), func(x []float64) float64 { return x[i] })
			for j := range i + 1 {
				scale := math.Sqrt(target.Cov(i, i) * target.Cov(j, j))
				check(fmt.Sprint("covariance ", i, j), target.Cov(i, j), scale, func(x []float64) float64 {
					return (x[i] - target.Mean[i]) * (x[j] - target.Mean[j])
				})
			}
		}
	}
}

// TestRunAllocations checks that a run allocates for the draws it delivers, not per transition.
func TestRunAllocations(t *testing.T) {
	allocs := func(draws int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, err := range infer.Run(context.Background(), infertest.AR1(5, 0.5), infer.Config{Sampler: nuts.Sampler{}, Chains: 1, Warmup: 200, Draws: draws}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	allocs(10)
	few, many := allocs(100), allocs(20100)
	if perDraw := float64(many-few) / 20000; perDraw > 0.2 {
		t.Errorf("%v allocations per draw", perDraw)
	}
}
