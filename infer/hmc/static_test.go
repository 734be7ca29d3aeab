package hmc_test

import (
	"math"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/internal/short"
)

func geometry(m infer.Metric) func(infer.LogDensity) (infer.Hamiltonian, error) {
	return func(target infer.LogDensity) (infer.Hamiltonian, error) { return hmc.NewEuclidean(target, m) }
}

// TestInvariance starts from exact draws and checks that later positions have the same
// distribution, with coarse steps and metrics other than the identity.
func TestInvariance(t *testing.T) {
	for _, c := range short.Every(3, []struct {
		target infertest.Exact
		eps    float64
		kernel hmc.Kernel
	}{
		{infertest.NewNormal([]float64{1, -2, 0.5}, [][]float64{{1, 0, 0}, {0.6, 0.9, 0}, {-0.5, 0.3, 1.1}}), 1.0, hmc.Kernel{Steps: 5}},
		{infertest.Funnel{D: 3}, 0.7, hmc.Kernel{Steps: 4}},
		{infertest.Banana{B: 0.3, Sigma: 1.5}, 1.1, hmc.Kernel{Steps: 4, FixedLength: true}},
		{infertest.StudentT{D: 2, Nu: 4}, 1.4, hmc.Kernel{Jitter: 0.5}},
		{infertest.LogGamma{D: 2, Shape: 0.7}, 1.1, hmc.Kernel{IntTime: 6}},
		{infertest.Bimodal{D: 2, Distance: 4}, 1.22, hmc.Kernel{Steps: 6}},
		{infertest.Exponential{D: 2}, 0.5, hmc.Kernel{Steps: 3}},
	}) {
		for _, m := range metrics(c.target.Dim())[1:] {
			res, err := infertest.Invariance{
				Target: c.target, StepSize: c.eps, Seed: 7, Hamiltonian: geometry(m),
				Kernel: func() infer.Kernel { k := c.kernel; return &k },
			}.Run()
			if err == nil {
				err = res.Err()
			}
			if err != nil {
				t.Errorf("%s, %s: %v", c.target, m.Kind, err)
			}
			if res.AcceptStat < 0.25 || res.AcceptStat > 0.85 {
				t.Errorf("%s, %s: mean acceptance %.2f is no test of the acceptance step", c.target, m.Kind, res.AcceptStat)
			}
			t.Logf("%s, %s: acceptance %.2f, divergent %.3f, moved %.2f", c.target, m.Kind, res.AcceptStat, res.Divergent, res.Moved)
		}
	}
}

func TestLength(t *testing.T) {
	for _, c := range []struct {
		k    hmc.Kernel
		eps  float64
		want int
	}{
		{hmc.Kernel{Steps: 7}, 0.1, 7},
		{hmc.Kernel{}, 0.1, 32},
		{hmc.Kernel{}, 1e-9, 1024},
		{hmc.Kernel{MaxSteps: 10}, 1e-9, 10},
		{hmc.Kernel{IntTime: 2}, 0.5, 4},
		{hmc.Kernel{}, 1e9, 1},
	} {
		if got := c.k.Length(c.eps); got != c.want {
			t.Errorf("%+v.Length(%v) = %d, want %d", c.k, c.eps, got, c.want)
		}
	}
}

// TestTransitionStats checks that the numbers of steps are uniform on 1…L, and that the statistics
// describe the transition.
func TestTransitionStats(t *testing.T) {
	target := infertest.AR1(2, 0.5)
	h, err := hmc.NewEuclidean(target, infer.Metric{})
	if err != nil {
		t.Fatal(err)
	}
	rng := infer.Stream(5, 0, "stats", 0)
	z := infer.NewPoint(2)
	if err := h.Reset(z); err != nil {
		t.Fatal(err)
	}
	k := &hmc.Kernel{Steps: 5}
	counts := make([]int, 6)
	const n = 20000
	for range n {
		before := append([]float64(nil), z.Position...)
		next, info, err := k.Transition(rng, h, 1.1, z)
		if err != nil {
			t.Fatal(err)
		}
		if z.Position[0] != before[0] || z.Position[1] != before[1] {
			t.Fatal("the position of the state was changed in place")
		}
		if next != z && next != info.Proposal {
			t.Fatal("the new state is neither the old one nor the proposal")
		}
		if info.StepSize != 1.1 || info.IntTime != 5*1.1 || info.TreeDepth != 0 {
			t.Fatalf("stats %+v", info.Stats)
		}
		counts[info.Leapfrogs]++
		z = next
	}
	for l, c := range counts {
		want := n / 5.0
		if l == 0 {
			want = 0
		}
		if math.Abs(float64(c)-want) > 6*math.Sqrt(want) {
			t.Errorf("%d trajectories of %d steps, want about %v", c, l, want)
		}
	}
}

func TestTransitionDoesNotAllocate(t *testing.T) {
	for _, m := range metrics(5) {
		h, err := hmc.NewEuclidean(infertest.AR1(5, 0.5), m)
		if err != nil {
			t.Fatal(err)
		}
		rng := infer.Stream(6, 0, "allocations", 0)
		z := infer.NewPoint(5)
		if err := h.Reset(z); err != nil {
			t.Fatal(err)
		}
		k := &hmc.Kernel{Steps: 10}
		if n := testing.AllocsPerRun(200, func() { z, _, _ = k.Transition(rng, h, 0.5, z) }); n != 0 {
			t.Errorf("%s: %v allocations per transition", m.Kind, n)
		}
	}
}

// TestFigure1 compares the three settings of the paper's Figure 1, on a bivariate normal with
// correlation 0.99, with the results of the study (section 5 of its STUDY.md). For trajectories of
// fixed length, the acceptance rates and lag-1 autocorrelations differ as in the figure. For those
// of Algorithm 1, with random lengths, they hardly differ.
func TestFigure1(t *testing.T) {
	target := infertest.AR1(2, 0.99)
	for _, c := range []struct {
		eps         float64
		steps       int
		fixed       bool
		accept, lag float64
	}{
		{0.16, 40, true, 0.70, 0.18},
		{0.16, 50, true, 0.68, 0.87},
		{0.15, 50, true, 0.996, 0.58},
		{0.16, 40, false, 0.79, 0.03},
		{0.16, 50, false, 0.79, 0.12},
		{0.15, 50, false, 0.84, 0.02},
	} {
		h, err := hmc.NewEuclidean(target, infer.Metric{})
		if err != nil {
			t.Fatal(err)
		}
		rng := infer.Stream(9, 0, "figure 1", 0)
		z := infer.NewPoint(2)
		if err := h.Reset(z); err != nil {
			t.Fatal(err)
		}
		k := &hmc.Kernel{Steps: c.steps, FixedLength: c.fixed}
		const n = 20000
		var accept, squares, products float64
		last := 0.0
		for range n {
			var info infer.Info
			if z, info, err = k.Transition(rng, h, c.eps, z); err != nil {
				t.Fatal(err)
			}
			accept += info.AcceptStat / n
			x := z.Position[0] // of mean 0
			squares += x * x
			products += x * last
			last = x
		}
		if lag := products / squares; math.Abs(accept-c.accept) > 0.02 || math.Abs(lag-c.lag) > 0.05 {
			t.Errorf("eps %v, L %d, fixed %v: acceptance %.3f and lag-1 autocorrelation %.3f, want %v and %v", c.eps, c.steps, c.fixed, accept, lag, c.accept, c.lag)
		}
	}
}
