package ahmc_test

import (
	"context"
	"fmt"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// The paper's experiment with a bivariate normal, in a box given by hand.
func Example() {
	var kernel *ahmc.Kernel
	config := infer.Config{
		Sampler: ahmc.Sampler{
			Box:   ahmc.Box{MinStepSize: 0.01, MaxStepSize: 0.2, MinSteps: 1, MaxSteps: 100},
			Watch: func(_ int, k *ahmc.Kernel) { kernel = k },
		},
		Chains: 1,
		Warmup: 1000,
		Draws:  5000,
	}
	draws := 0
	for _, err := range infer.Run(context.Background(), infertest.AR1(2, 0.99), config) {
		if err != nil {
			fmt.Println(err)
			return
		}
		draws++
	}
	m, k := kernel.Schedule()
	first := kernel.Batches()[0]
	fmt.Println(draws, "draws")
	fmt.Println(len(kernel.Batches()), "batches of", m, "transitions, annealed after", k)
	fmt.Println("started at", first.StepSize, first.Steps)
	// Output:
	// 5000 draws
	// 600 batches of 10 transitions, annealed after 100
	// started at 0.01 1
}
