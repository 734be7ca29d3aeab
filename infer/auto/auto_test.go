package auto_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/internal/short"
)

// drawn runs a sampler and returns the positions by chain and the report.
func drawn(t *testing.T, target infer.LogDensity, cfg infer.Config) ([][]float64, infer.Report) {
	t.Helper()
	session, err := infer.NewSession(target, cfg)
	if err != nil {
		t.Fatal(err)
	}
	draws := make([][]float64, session.Config().Chains)
	for d, err := range session.Draws(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		draws[d.Chain] = append(draws[d.Chain], d.Position...)
	}
	return draws, session.Report()
}

// TestNormal samples a correlated, badly scaled normal. Warm-up must be short, the metric not
// diagonal, and the kernel static. Every chain must choose the same.
func TestNormal(t *testing.T) {
	factor := make([][]float64, 8)
	mean := make([]float64, 8)
	for i := range factor {
		factor[i] = make([]float64, 8)
		factor[i][i] = math.Pow(10, float64(i-4)/2)
		if i > 0 {
			factor[i][i-1] = 3 * factor[i][i]
		}
		mean[i] = float64(i)
	}
	target := infertest.NewNormal(mean, factor)
	_, report := drawn(t, target, infer.Config{Sampler: auto.Sampler{}, Seed: 3})
	for _, c := range report.Chains {
		if c.Warmup.Transitions > 250 || c.Warmup.Gradients > 2000 || c.Sampling.Gradients > 4000 {
			t.Errorf("warm-up of %d transitions, gradients %d + %d", c.Warmup.Transitions, c.Warmup.Gradients, c.Sampling.Gradients)
		}
		notes := strings.Join(c.Notes, " ")
		if !strings.Contains(notes, "HMC") || !strings.Contains(notes, "Metric") || !strings.Contains(notes, fmt.Sprintf("Warm-up ended early, after %d of 1000 transitions", c.Warmup.Transitions)) || c.Metric.Kind == infer.Diagonal {
			t.Errorf("metric %s; %s", c.Metric.Kind, notes)
		}
		if !slices.Equal(c.Metric.Inverse, report.Chains[0].Metric.Inverse) || c.StepSize != report.Chains[0].StepSize {
			t.Errorf("chain %d has another metric or step size than chain 1", c.ID)
		}
	}
}

// TestChoices checks that NUTS is kept if trajectories of fixed length cannot be trusted, and that
// choices made by hand are followed.
func TestChoices(t *testing.T) {
	for _, c := range []struct {
		target  infer.LogDensity
		sampler auto.Sampler
		want    string
	}{
		{infertest.Funnel{D: 4}, auto.Sampler{}, "Kernel: NUTS"},
		{infertest.EightSchools{}, auto.Sampler{}, "Kernel: NUTS"},
		{infertest.AR1(5, 0.5), auto.Sampler{Kind: auto.NUTS}, "it was asked for"},
		{infertest.AR1(5, 0.5), auto.Sampler{Kind: auto.Leapfrog, Steps: 3}, "leapfrog HMC with 3 steps"},
		{infertest.AR1(5, 0.5), auto.Sampler{Kind: auto.ExactNormal, Steps: 2}, "exact-normal HMC with 2 steps"},
		{infertest.AR1(5, 0.5), auto.Sampler{Kind: auto.NUTS, StepSize: 0.123}, "NUTS. Its step size is 0.123"},
		{infertest.AR1(5, 0.5), auto.Sampler{Kind: auto.Leapfrog, Steps: 3, StepSize: 0.345}, "leapfrog HMC with 3 steps of size 0.345. Reason: it was asked for"},
		{infertest.AR1(5, 0.5), auto.Sampler{Kind: auto.ExactNormal, StepSize: 0.9}, "times as efficient per gradient as NUTS. The step size is 0.9."},
		{infertest.Funnel{D: 4}, auto.Sampler{}, "of the steps subdivided"},
		{infertest.AR1(5, 0.5), auto.Sampler{Metric: infer.Diagonal}, "Metric: diagonal"},
		{infertest.AR1(5, 0.5), auto.Sampler{Metric: infer.Unit}, "Metric: the identity"},
		{infertest.AR1(5, 0.5), auto.Sampler{Metric: infer.Dense}, "Metric: dense"},
	} {
		_, report := drawn(t, c.target, infer.Config{Sampler: c.sampler, Seed: 1, Warmup: 300, Draws: 50})
		if notes := strings.Join(report.Chains[0].Notes, " "); !strings.Contains(notes, c.want) {
			t.Errorf("%T, %+v: %s", c.target, c.sampler, notes)
		}
	}
}

// TestProgress checks that progress ends at the announced total even if warm-up ends early.
func TestProgress(t *testing.T) {
	ends := make([]infer.Progress, 2)
	_, report := drawn(t, infertest.AR1(5, 0.5), infer.Config{Sampler: auto.Sampler{}, Seed: 1, Warmup: 1000, Draws: 250, Chains: 2,
		Progress: func(p infer.Progress) {
			if p.Iteration > p.Total {
				t.Errorf("%+v", p)
			}
			ends[p.Chain] = p
		}})
	for i, p := range ends {
		if n := report.Chains[i].Warmup.Transitions; n >= 1000 || p.Iteration != n+250 || p.Total != n+250 {
			t.Errorf("%d transitions of warm-up, progress ends at %+v", n, p)
		}
	}
}

// TestNoEarlyEnd checks that a full warm-up, if requested, has exactly the given length for any
// kernel and any way to choose it. The draws must not depend on the number of parallel chains.
func TestNoEarlyEnd(t *testing.T) {
	for _, c := range []struct {
		target  infer.LogDensity
		sampler auto.Sampler
		warmup  int
	}{
		{infertest.Funnel{D: 4}, auto.Sampler{}, 300},                                       // NUTS is kept
		{infertest.AR1(5, 0.5), auto.Sampler{}, 400},                                        // the race is run
		{infertest.AR1(5, 0.5), auto.Sampler{}, 40},                                         // or too short
		{infertest.AR1(5, 0.5), auto.Sampler{}, 1},                                          //
		{infertest.AR1(5, 0.5), auto.Sampler{Kind: auto.NUTS, StepSize: 0.4}, 150},          // it was asked for
		{infertest.AR1(5, 0.5), auto.Sampler{Kind: auto.Leapfrog}, 30},                      //
		{infertest.AR1(5, 0.5), auto.Sampler{Kind: auto.ExactNormal, NoPool: true}, 333},    //
		{quartic{3, 0.005}, auto.Sampler{RaceBatch: 11, RaceLength: 3, FirstRound: 7}, 500}, // gentler steps are tried
	} {
		c.sampler.NoEarlyEnd = true
		var first [][]float64
		for _, parallel := range []int{1, 3} {
			draws, report := drawn(t, c.target, infer.Config{Sampler: c.sampler, Seed: 5, Warmup: c.warmup, Draws: 20, Chains: 3, Parallel: parallel})
			for _, chain := range report.Chains {
				if chain.Warmup.Transitions != c.warmup {
					t.Errorf("%T, %+v: %d transitions of warm-up instead of %d", c.target, c.sampler, chain.Warmup.Transitions, c.warmup)
				}
				if eps := c.sampler.StepSize; eps > 0 && chain.StepSize != eps {
					t.Errorf("the step size is %v, not %v", chain.StepSize, eps)
				}
			}
			if first == nil {
				first = draws
			} else if !reflect.DeepEqual(draws, first) {
				t.Errorf("%T, %+v: other draws where %d chains run at a time", c.target, c.sampler, parallel)
			}
		}
	}
}

// quartic is a normal density with a quartic term, so its tails are lighter.
type quartic struct {
	d int
	c float64
}

func (q quartic) Dim() int { return q.d }

func (q quartic) LogDensityGrad(x, grad []float64) (float64, error) {
	lp := 0.0
	for i, v := range x {
		lp -= v*v/2 + q.c*v*v*v*v
		grad[i] = -v - 4*q.c*v*v*v
	}
	return lp, nil
}

// TestGentlerSteps checks what happens if the best step size is rejected in the tails. The race
// must try the same trajectory length in smaller steps before it gives up static kernels.
func TestGentlerSteps(t *testing.T) {
	// The best setting at first, and whether tails reject it, differ from seed to seed.
	var all []string
	for seed := range uint64(10) {
		_, report := drawn(t, quartic{3, 0.005}, infer.Config{Sampler: auto.Sampler{}, Seed: seed, Draws: 50})
		notes := strings.Join(report.Chains[0].Notes, " ")
		if strings.Contains(notes, "HMC with 2 steps") {
			return
		}
		all = append(all, notes)
	}
	t.Error(strings.Join(all, "\n"))
}

// TestDelta checks that the target acceptance is raised if transitions diverge. It must not change
// if the user gave it, even if that is the default value.
func TestDelta(t *testing.T) {
	for _, delta := range []float64{0, auto.DefaultDelta, 0.7} {
		_, report := drawn(t, infertest.EightSchools{}, infer.Config{Sampler: auto.Sampler{Delta: delta, NoRefine: true, NoEarlyEnd: true}, Seed: 1, Warmup: 600, Draws: 10})
		c := report.Chains[0]
		notes := strings.Join(c.Notes, " ")
		raised := c.Adapted["delta"] > max(delta, auto.DefaultDelta)
		if raised != (delta == 0) || raised != strings.Contains(notes, "because transitions diverged") || delta > 0 && c.Adapted["delta"] != delta {
			t.Errorf("delta %v: %v; %s", delta, c.Adapted["delta"], notes)
		}
	}
}

// TestSpareTransitions checks that a draw takes several transitions if a transition is worth
// little, unless this is switched off.
func TestSpareTransitions(t *testing.T) {
	gradients, wanted := map[bool]int64{}, 0.0
	for _, t := range auto.Thresholds() {
		if t.Name == "wanted" {
			wanted = t.Value
		}
	}
	for _, off := range []bool{false, true} {
		_, report := drawn(t, infertest.StudentT{D: 2, Nu: 3}, infer.Config{Sampler: auto.Sampler{NoSpare: off}, Seed: 2, Draws: 400})
		c := report.Chains[0]
		per, told := c.Adapted["transitions_per_draw"]
		if told == off || told != strings.Contains(strings.Join(c.Notes, " "), "Thinning: ") || !off && math.Abs(per*c.Adapted["worth"]-wanted) > 1e-9 {
			t.Errorf("switched off %v: %v, %v transitions per draw, of which one is worth %v", off, c.Notes, per, c.Adapted["worth"])
		}
		gradients[off] = c.Sampling.Gradients
	}
	if !(gradients[false] > gradients[true]*5/4) {
		t.Errorf("gradients with and without: %v", gradients)
	}
	_, report := drawn(t, infertest.AR1(5, 0.5), infer.Config{Sampler: auto.Sampler{}, Seed: 2, Draws: 400})
	if _, told := report.Chains[0].Adapted["transitions_per_draw"]; told {
		t.Errorf("a normal target: %v", report.Chains[0].Notes)
	}
}

// TestThreads checks that draws do not depend on the number of parallel chains.
func TestThreads(t *testing.T) {
	target := infertest.Banana{B: 0.2, Sigma: 1}
	cfg := infer.Config{Sampler: auto.Sampler{}, Seed: 7, Warmup: 200, Draws: 50, Parallel: 1}
	want, _ := drawn(t, target, cfg)
	for _, parallel := range []int{2, 4} {
		cfg.Parallel = parallel
		got, _ := drawn(t, target, cfg)
		for i := range want {
			if !slices.Equal(want[i], got[i]) {
				t.Errorf("chain %d differs with %d chains at a time", i, parallel)
			}
		}
	}
}

func TestWithoutWarmup(t *testing.T) {
	for _, n := range []int{-1, 1, 3} {
		draws, _ := drawn(t, infertest.AR1(2, 0.5), infer.Config{Sampler: auto.Sampler{}, Seed: 7, Warmup: n, Draws: 5})
		if len(draws[0]) != 10 {
			t.Errorf("warm-up %d: %d numbers", n, len(draws[0]))
		}
	}
}

func TestValidate(t *testing.T) {
	for _, s := range []auto.Sampler{{Metric: "round"}, {Kind: "gibbs"}, {Steps: 3}, {Delta: 1}, {MaxDepth: 99}, {RaceBatch: -1}, {FirstRound: 1}, {MaxEnergyError: math.NaN()},
		{StepSize: 0.3}, {StepSize: -1, Kind: auto.NUTS}, {StepSize: math.Inf(1), Kind: auto.NUTS}, {Refine: -1}, {Refine: math.NaN()}} {
		if s.Validate() == nil {
			t.Errorf("%+v passes", s)
		}
	}
	if err := (auto.Sampler{}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestEnough runs until a target precision is reached; the chains wait for each other after
// warm-up. The run must also end if fewer chains compute at a time than it has.
func TestEnough(t *testing.T) {
	ended := make(chan error, 1)
	go func() {
		var err error
		for _, e := range infer.Run(context.Background(), infertest.AR1(3, 0.5), infer.Config{
			Sampler: auto.Sampler{}, Chains: 3, Warmup: 60, Draws: 150, Seed: 1, Parallel: 1, Enough: func(n int) bool { return n >= 100 },
		}) {
			err = e
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the run does not end")
	}
}

// TestLengthOfWarmup checks that warm-up is never longer than requested, however short that is.
func TestLengthOfWarmup(t *testing.T) {
	for _, n := range []int{1, 2, 7, 15, 40, 62, 130, 200, 400} {
		for _, s := range []auto.Sampler{{}, {Kind: auto.Leapfrog}, {Kind: auto.ExactNormal, Steps: 2}, {Kind: auto.NUTS}, {NoEarlyEnd: true}} {
			_, report := drawn(t, infertest.AR1(3, 0.5), infer.Config{Sampler: s, Chains: 2, Warmup: n, Draws: 5, Seed: 1})
			for _, c := range report.Chains {
				if c.Warmup.Transitions > n || s.NoEarlyEnd && c.Warmup.Transitions < n*2/3 {
					t.Errorf("%+v: %d transitions of warm-up of %d", s, c.Warmup.Transitions, n)
				}
			}
		}
	}
}

// shared is a target that can be cloned for each chain. Without clones chains learn alone.
type shared struct{ quartic }

func (s shared) CloneDensity() infer.LogDensity { return s }

// TestLengthOfRace checks that warm-up with a race of kernels never takes more transitions than it
// was given. It covers every kind of race: with given kernels, given step sizes, other lengths and
// unpooled chains. Pooled chains must all choose the same kernel and settings.
func TestLengthOfRace(t *testing.T) {
	told := map[string]bool{} // how races end
	for _, target := range []infer.LogDensity{shared{quartic{3, 0.005}}, shared{quartic{3, 0.015}}, shared{quartic{1, 0.01}}, infertest.AR1(3, 0.5), infertest.LogGamma{D: 2, Shape: 20}, infertest.StudentT{D: 2, Nu: 3}} {
		for _, s := range []auto.Sampler{{}, {Kind: auto.Leapfrog}, {Kind: auto.ExactNormal, Steps: 2}, {Kind: auto.Leapfrog, StepSize: 0.5}, {RaceLength: 1}, {RaceBatch: 11}, {RaceLength: 20}, {NoPool: true}} {
			for seed := range uint64(short.Of(10, 2)) {
				s.NoEarlyEnd = seed%2 == 1 // then the race begins as late as possible
				const n = 220
				_, report := drawn(t, target, infer.Config{Sampler: s, Chains: 3, Warmup: n, Draws: 5, Seed: seed})
				for _, c := range report.Chains {
					if c.Warmup.Transitions > n {
						t.Errorf("%v, %+v: %d transitions of warm-up of %d", target, s, c.Warmup.Transitions, n)
					}
					if first := report.Chains[0]; !s.NoPool && (c.StepSize != first.StepSize || c.Chosen != first.Chosen || c.Chosen == "" || c.Adapted["trajectory_steps"] != first.Adapted["trajectory_steps"] || c.Warmup.Transitions != first.Warmup.Transitions) {
						t.Errorf("%v, %+v: chain %d has chosen differently: %v, chain 1: %v", target, s, c.ID, c.Notes, first.Notes)
					}
				}
				for _, note := range report.Chains[0].Notes {
					for _, how := range []string{"leapfrog HMC", "exact-normal HMC", "rejected too often", "rejected in the tails", "the best trajectories", "too far from normal", "too short"} {
						told[how] = told[how] || strings.Contains(note, how)
					}
				}
			}
		}
	}
	for how, seen := range told {
		if !seen && !testing.Short() && how != "rejected too often" && how != "rejected in the tails" {
			t.Errorf("no race has ended so: %s", how)
		}
	}
	t.Log(told)
}

// TestTurns checks that a stopped run has draws of all chains, also if fewer chains compute at a
// time than it has.
func TestTurns(t *testing.T) {
	var draws [4]int
	all := 0
	for d, err := range infer.Run(context.Background(), infertest.AR1(3, 0.5), infer.Config{Sampler: auto.Sampler{}, Warmup: 100, Draws: 100000, Seed: 1, Parallel: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		draws[d.Chain]++
		if all++; all == 20000 {
			break
		}
	}
	if slices.Min(draws[:]) < 2000 {
		t.Errorf("draws of the chains: %v", draws)
	}
}
