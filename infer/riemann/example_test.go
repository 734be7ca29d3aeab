package riemann_test

import (
	"context"
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/riemann"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// RMHMC on a funnel, x ~ normal(0, exp(v/2)) and v ~ normal(0, 3). The metric is written by hand:
// the information about v in both densities, and the precision of x, which makes the scale of x the
// same everywhere.
func Example() {
	metric := riemann.Func{
		D: 2,
		G: func(x, g []float64) error {
			copy(g, []float64{1./9 + 0.5, 0, 0, math.Exp(-x[0])})
			return nil
		},
		TraceGrad: func(x, a, grad []float64) error { // of a₁₁ (1/9 + 1/2) + a₂₂ exp(-v)
			grad[0], grad[1] = -a[3]*math.Exp(-x[0]), 0
			return nil
		},
	}.AsMetric()
	sampler := hmc.Sampler{
		Kernel:      hmc.Kernel{Steps: 6},
		Adapt:       warmup.Options{StepSize: 0.5, FixedStepSize: true},
		Hamiltonian: riemann.Options{}.Hamiltonian(func(*infer.Meter) (riemann.Metric, error) { return metric, nil }),
	}
	var sum, square, n float64
	for d, err := range infer.Run(context.Background(), infertest.Funnel{D: 2}, infer.Config{Sampler: sampler, Draws: 5000}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		sum += d.Position[0]
		square += d.Position[0] * d.Position[0]
		n++
	}
	fmt.Printf("v has mean %.0f and standard deviation %.0f\n", math.Abs(sum/n), math.Sqrt(square/n))
	// Output:
	// v has mean 0 and standard deviation 3
}
