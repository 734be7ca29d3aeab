package ahmc_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

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

// squares is a user's reward: the mean squared change of ‖x‖². Unlike squared jumps, it does not
// reward jumps to the mirror image of a point.
type squares struct{}

// Signed implements ahmc.Reward.
func (squares) Signed() bool { return false }

// Start implements ahmc.Reward.
func (squares) Start(infer.Hamiltonian, *infer.Meter) (ahmc.Objective, error) {
	return &changes{}, nil
}

// changes sums the changes in a batch.
type changes struct{ sum, n float64 }

func (c *changes) Observe(before, after *infer.Point, _ infer.Info) {
	d := 0.0
	for i, x := range after.Position {
		d += x*x - before.Position[i]*before.Position[i]
	}
	c.sum += d * d
	c.n++
}

func (c *changes) Reward(*rand.Rand, ahmc.Setting) (float64, error) {
	r := c.sum / c.n
	*c = changes{}
	return r, nil
}

func (c *changes) State() []float64 { return []float64{c.sum, c.n} }

func (c *changes) SetState(s []float64) error {
	if len(s) != 2 {
		return fmt.Errorf("%d numbers are no state of this reward", len(s))
	}
	c.sum, c.n = s[0], s[1]
	return nil
}

// A reward of one's own.
func ExampleReward() {
	sum, n := 0.0, 0.0
	for d, err := range infer.Run(context.Background(), infertest.AR1(2, 0.9), infer.Config{
		Sampler: ahmc.Sampler{Reward: squares{}}, Seed: 1, Draws: 10000,
	}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		sum += d.Position[0] * d.Position[0]
		n++
	}
	fmt.Printf("variance %.1f\n", math.Round(10*sum/n)/10)
	// Output: variance 1.0
}
