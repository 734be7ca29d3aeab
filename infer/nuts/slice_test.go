package nuts

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/internal/short"
)

// TestInvariance2011 is TestInvariance for the sampler of 2011.
func TestInvariance2011(t *testing.T) {
	for _, c := range short.Every(2, []struct {
		target infertest.Exact
		eps    float64
		kernel Kernel2011
	}{
		{infertest.NewNormal([]float64{1, -2, 0.5}, [][]float64{{1, 0, 0}, {0.6, 0.9, 0}, {-0.5, 0.3, 1.1}}), 0.95, Kernel2011{}},
		{infertest.Funnel{D: 3}, 0.5, Kernel2011{MaxDepth: 5}},
		{infertest.LogGamma{D: 2, Shape: 0.7}, 1.2, Kernel2011{}},
		{infertest.Exponential{D: 2}, 0.3, Kernel2011{MaxEnergyError: 2}},
	}) {
		for _, m := range metrics(c.target.Dim()) {
			res, err := infertest.Invariance{
				Target: c.target, StepSize: c.eps, Seed: 9, Replicates: 15000,
				Hamiltonian: func(l infer.LogDensity) (infer.Hamiltonian, error) { return hmc.NewEuclidean(l, m) },
				Kernel: func() infer.Kernel {
					return &Kernel2011{MaxDepth: c.kernel.MaxDepth, MaxEnergyError: c.kernel.MaxEnergyError}
				},
			}.Run()
			if err == nil {
				err = res.Err()
			}
			if err != nil {
				t.Errorf("%s, %s: %v", c.target, m.Kind, err)
			}
			if res.AcceptStat < 0.2 || res.AcceptStat > 0.85 {
				t.Errorf("%s, %s: mean acceptance %.2f is no test", c.target, m.Kind, res.AcceptStat)
			}
		}
	}
}

// TestTransition2011 checks that the acceptance statistic is computed from the last doubling, and
// that the limits on depth and error hold.
func TestTransition2011(t *testing.T) {
	h, z := start(t, infertest.AR1(2, 0), infer.Metric{}, []float64{1, 1})
	rng := infer.Stream(6, 0, "2011", 0)
	for depth := 1; depth < 8; depth++ {
		_, info, err := (&Kernel2011{MaxDepth: depth}).Transition(rng, h, 1e-4, z)
		if err != nil {
			t.Fatal(err)
		}
		if info.TreeDepth != depth || info.Leapfrogs != 1<<depth-1 || info.Divergent || info.AcceptStat < 0.99 || info.AcceptStat > 1 {
			t.Errorf("MaxDepth %d: %+v", depth, info.Stats)
		}
	}
	_, info, err := (&Kernel2011{}).Transition(rng, h, 100, z)
	if err != nil || !info.Divergent || info.Leapfrogs != 1 || info.AcceptStat != 0 {
		t.Errorf("%+v, %v", info.Stats, err)
	}
	k := &Kernel2011{}
	step := func() { z, _, _ = k.Transition(rng, h, 0.3, z) }
	for range 100 {
		step()
	}
	if n := testing.AllocsPerRun(200, step); n != 0 {
		t.Errorf("%v allocations per transition", n)
	}
}

// TestSampler2011 checks that dual averaging brings the acceptance statistic to its target.
func TestSampler2011(t *testing.T) {
	for _, delta := range []float64{0, 0.8} {
		s := Sampler2011{}
		s.Averaging.Delta = delta
		want := delta
		if want == 0 {
			want = DefaultDelta2011
		}
		accept, n := 0.0, 0.0
		for d, err := range infer.Run(context.Background(), infertest.AR1(10, 0.5), infer.Config{Sampler: s, Chains: 2, Seed: 4}) {
			if err != nil {
				t.Fatal(err)
			}
			accept += d.Stats.AcceptStat
			n++
		}
		if math.Abs(accept/n-want) > 0.08 {
			t.Errorf("mean acceptance %.3f, want %v", accept/n, want)
		}
	}
	for _, bad := range []Sampler2011{{MaxDepth: 99}, {MaxEnergyError: -1}, {StepSize: -1}} {
		if bad.Validate() == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}

// TestCriterion2011 checks that the criterion is that of Algorithm 3: s = 0 if (θ⁺ - θ⁻)·r⁻ < 0 or
// (θ⁺ - θ⁻)·r⁺ < 0. (Invariance would hold with any criterion that depends only on the ends.)
func TestCriterion2011(t *testing.T) {
	rng := infer.Stream(1, 0, "criterion 2011", 0)
	for _, dim := range []int{1, 2, 3, 6} {
		count := [4]int{}
		for range 200 {
			ends := [2]*node{}
			for i := range ends {
				ends[i] = &node{Point: *infer.NewPoint(dim)}
				for j := range dim {
					ends[i].Position[j], ends[i].Momentum[j] = rng.NormFloat64(), rng.NormFloat64()
				}
			}
			minus, plus := 0.0, 0.0
			for j := range dim {
				d := ends[1].Position[j] - ends[0].Position[j]
				minus += d * ends[0].Momentum[j]
				plus += d * ends[1].Momentum[j]
			}
			want, which := minus < 0 || plus < 0, 0
			if minus < 0 {
				which++
			}
			if plus < 0 {
				which += 2
			}
			count[which]++
			if got := (&slice{}).turning(&tree{left: ends[0]}, &tree{right: ends[1]}); got != want {
				t.Fatalf("dimension %d: %v with products %v and %v", dim, got, minus, plus)
			}
		}
		if slices.Min(count[:]) == 0 {
			t.Errorf("dimension %d: not all cases were seen: %v", dim, count)
		}
	}
}
