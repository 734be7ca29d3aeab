package tempered_test

import (
	"context"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/tempered"
)

// TestBarrier compares the barrier of the broad leg with the literature. Between normal
// distributions with one centre it is the closed form of Predescu et al. (2003). Between normal(-3,
// 1) and normal(3, 1) it is 3.15, found by Pigeons.jl. The sum of the rejections is smaller by a
// part that falls with the square of the number of intervals: a tenth with two intervals, which no
// seed may lead to.
func TestBarrier(t *testing.T) {
	mean, sd := func(d int, v float64) [][]float64 { return [][]float64{at(d, v)} }, math.Sqrt(0.1)
	concentric := func(d float64) float64 {
		return math.Pow(2, 2-d) / math.Exp(logBeta(d/2, d/2)) * 0.5 * math.Log(10)
	}
	for _, c := range []struct {
		name     string
		target   *modes
		at, want float64 // position of the reference; the barrier
	}{
		{"2 dimensions", &modes{shares: []float64{1}, means: mean(2, 0), sds: []float64{sd}}, 0, concentric(2)},
		{"10 dimensions", &modes{shares: []float64{1}, means: mean(10, 0), sds: []float64{sd}}, 0, concentric(10)},
		{"40 dimensions", &modes{shares: []float64{1}, means: mean(40, 0), sds: []float64{sd}}, 0, concentric(40)},
		{"apart", &modes{shares: []float64{1}, means: mean(1, 3), sds: []float64{1}}, -3, 3.15},
	} {
		d := c.target.Dim()
		meter, rng := infer.NewMeter(c.target), infer.Stream(2, 1, c.name, 0)
		start := tempered.Start{At: c.target.means[0], Broad: infer.Metric{Kind: infer.Unit, Dim: d, Mean: at(d, c.at)},
			Modes: []tempered.Component{{Weight: 1, Normal: infer.Metric{Kind: infer.Unit, Dim: d, Mean: at(d, c.at)}}}}
		k, err := tempered.New(rng, meter, tempered.Sampler{Alone: true}, start)
		if err != nil {
			t.Fatal(err)
		}
		h, err := plain(meter)
		if err != nil {
			t.Fatal(err)
		}
		s, err := infer.NewState(infer.Plan{Hamiltonian: h, Kernel: k, Stages: k.Stages(600), StepSize: 1}, meter, rng, start.At)
		if err != nil {
			t.Fatal(err)
		}
		for _, stage := range k.Stages(600) {
			if err := stage.Run(context.Background(), s); err != nil {
				t.Fatal(err)
			}
		}
		for range 600 {
			if _, err := s.Advance(); err != nil {
				t.Fatal(err)
			}
		}
		if _, broad := k.Barriers(); math.Abs(broad/c.want-1) > 0.1 {
			t.Errorf("%s: the barrier is %.3f, not %.3f", c.name, broad, c.want)
		}
	}
}
