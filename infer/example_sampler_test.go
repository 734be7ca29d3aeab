package infer_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// walk is an example of a sampler outside this module: random walk Metropolis. It tunes the width
// of its proposals in warm-up.
type walk struct{}

// Plan implements infer.Sampler.
func (walk) Plan(target *infer.Meter, n int) (infer.Plan, error) {
	h, err := hmc.NewEuclidean(target, infer.Metric{Kind: infer.Unit})
	return infer.Plan{
		Hamiltonian: h,
		Kernel:      &proposal{},
		Stages:      []infer.Stage{warmup.Window{Length: n, Skip: n, Averaging: warmup.Averaging{Delta: 0.4}}},
		StepSize:    1,
	}, err
}

// proposal is the kernel of walk. It keeps two points; the chain is at one of them.
type proposal struct{ points [2]*infer.Point }

// Transition implements infer.Kernel.
func (k *proposal) Transition(rng *rand.Rand, h infer.Hamiltonian, width float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	for i, p := range k.points {
		if p == nil {
			k.points[i] = infer.NewPoint(len(z.Position))
		}
	}
	w := k.points[0]
	if w == z {
		w = k.points[1]
	}
	for i, x := range z.Position {
		w.Position[i] = x + width*rng.NormFloat64()
	}
	if err := h.Reset(w); err != nil { // the log density there
		return z, infer.Info{}, err
	}
	info := infer.Info{Proposal: w}
	info.StepSize = width
	info.AcceptStat = min(1, math.Exp(w.LogDensity-z.LogDensity))
	if rng.Float64() < info.AcceptStat {
		return w, info, nil
	}
	return z, info, nil
}

// Your own sampler needs a Plan and a Kernel. Chains, streams, warm-up, snapshots and diagnostics
// are already there.
func ExampleSampler() {
	mean, accepted, n := 0.0, 0.0, 0.0
	for d, err := range infer.Run(context.Background(), coin{heads: 7, tails: 3}, infer.Config{Sampler: walk{}, Seed: 1, Draws: 20000}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		n++
		mean += (1/(1+math.Exp(-d.Position[0])) - mean) / n
		accepted += (d.Stats.AcceptStat - accepted) / n
	}
	fmt.Printf("the mean is %.2f; acceptance %.1f\n", mean, accepted)
	// Output: the mean is 0.67; acceptance 0.4
}
