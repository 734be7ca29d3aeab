package infer_test

import (
	"context"
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// coin is the posterior of a coin's probability of heads, uniform a priori,
// on the logit scale.
type coin struct{ heads, tails float64 }

func (coin) Dim() int { return 1 }

// LogDensityGrad is heads·log θ + tails·log(1-θ) plus log θ(1-θ), the log
// Jacobian of θ = 1/(1+exp(-x)).
func (c coin) LogDensityGrad(x, grad []float64) (float64, error) {
	theta := 1 / (1 + math.Exp(-x[0]))
	grad[0] = c.heads + 1 - (c.heads+c.tails+2)*theta
	return (c.heads+1)*math.Log(theta) + (c.tails+1)*math.Log1p(-theta), nil
}

// CloneDensity lets the chains run in parallel.
func (c coin) CloneDensity() infer.LogDensity { return c }

// Sampling a hand-written target.
func ExampleRun() {
	mean, n := 0.0, 0.0
	for d, err := range infer.Run(context.Background(), coin{heads: 7, tails: 3}, infer.Config{
		Sampler: nuts.Sampler{},
		Seed:    1,
		Draws:   5000,
	}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		n++
		mean += (1/(1+math.Exp(-d.Position[0])) - mean) / n
	}
	fmt.Printf("%.0f draws; the mean is %.2f, exactly it is %.2f\n", n, mean, 8.0/12)
	// Output: 20000 draws; the mean is 0.67, exactly it is 0.67
}

// A session gives a report on the run in addition to its draws.
func ExampleSession() {
	s, err := infer.NewSession(coin{heads: 7, tails: 3}, infer.Config{Sampler: nuts.Sampler{}, Chains: 2, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, err := range s.Draws(context.Background()) {
		if err != nil {
			fmt.Println(err)
		}
	}
	for _, c := range s.Report().Chains {
		fmt.Printf("chain %d: %d transitions, %d divergences, metric %s\n",
			c.ID, c.Sampling.Transitions, c.Sampling.Divergences, c.Metric.Kind)
	}
	// Output:
	// chain 1: 1000 transitions, 0 divergences, metric diag_e
	// chain 2: 1000 transitions, 0 divergences, metric diag_e
}

// A stopped run continues from its snapshots and makes the same draws as without the stop. Package
// encoding/gob can store snapshots in a file.
func ExampleSnapshot() {
	cfg := infer.Config{Sampler: nuts.Sampler{}, Chains: 1, Seed: 1}
	cfg.SnapshotEvery = -1 // after every transition, for this example
	latest := make([]*infer.Snapshot, cfg.Chains)
	cfg.Snapshot = func(s *infer.Snapshot) { latest[s.Chain] = s }
	var kept []infer.Draw
	for d, err := range infer.Run(context.Background(), coin{heads: 7, tails: 3}, cfg) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if kept = append(kept, d); len(kept) == 600 {
			break
		}
	}
	// The draws after the snapshot are made again.
	kept = kept[:latest[0].Draws]
	cfg.Snapshot, cfg.Resume = nil, latest
	for d, err := range infer.Run(context.Background(), coin{heads: 7, tails: 3}, cfg) {
		if err != nil {
			fmt.Println(err)
			return
		}
		kept = append(kept, d)
	}
	fmt.Println(len(kept), "draws, the last of transition", kept[len(kept)-1].Iteration)
	// Output: 1000 draws, the last of transition 1999
}
