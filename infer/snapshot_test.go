package infer_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/riemann"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/infer/warmup"
)

// drawn runs a target and returns the draws by chain and the report.
func drawn(t *testing.T, target infer.LogDensity, cfg infer.Config) ([][]infer.Draw, infer.Report) {
	t.Helper()
	session, err := infer.NewSession(target, cfg)
	if err != nil {
		t.Fatal(err)
	}
	draws := make([][]infer.Draw, session.Config().Chains)
	for d, err := range session.Draws(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		draws[d.Chain] = append(draws[d.Chain], d)
	}
	return draws, session.Report()
}

// through encodes and decodes a snapshot by gob.
func through(t *testing.T, s *infer.Snapshot) *infer.Snapshot {
	t.Helper()
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		t.Fatal(err)
	}
	out := &infer.Snapshot{}
	if err := gob.NewDecoder(&b).Decode(out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestResume checks that a run resumed from snapshots of any moment makes the same draws as the
// original run, with the same report.
func TestResume(t *testing.T) {
	banana := infertest.Banana{B: 0.3, Sigma: 1.5}
	fisher := riemann.Options{}.Hamiltonian(func(m *infer.Meter) (riemann.Metric, error) { return riemann.FromTarget(riemann.Fisher, m, 0) })
	for name, s := range map[string]infer.Sampler{
		"nuts":       nuts.Sampler{},
		"nuts dense": nuts.Sampler{Adapt: warmup.Options{Metric: infer.Dense}},
		"nuts low":   nuts.Sampler{Adapt: warmup.Options{Metric: infer.LowRank}},
		"nuts fine":  nuts.Sampler{Refine: 0.05, Jitter: 0.2},
		"nuts2011":   nuts.Sampler2011{},
		"auto":       auto.Sampler{},
		"auto alone": auto.Sampler{NoPool: true},
		"nuts frozen": sampler.Geometric{
			Sampler:    nuts.Sampler{Adapt: warmup.Options{Metric: infer.Dense, FixedMetric: true}},
			Riemannian: sampler.Riemannian{Kind: riemann.Fisher, Frozen: true},
		},
		"armhmc":    ahmc.Sampler{Hamiltonian: fisher, StepSizePoints: 10, StepsPoints: 10},
		"hmc":       hmc.Sampler{Kernel: hmc.Kernel{Jitter: 0.2}},
		"rmhmc":     hmc.Sampler{Kernel: hmc.Kernel{Steps: 3}, Hamiltonian: fisher},
		"ahmc":      ahmc.Sampler{StepSizePoints: 10, StepsPoints: 10},
		"ahmc diag": ahmc.Sampler{Metric: infer.Diagonal, StepSizePoints: 10, StepsPoints: 10, Freeze: true, Reward: ahmc.Autocorrelation{}},
	} {
		if testing.Short() && !slices.Contains([]string{"nuts", "auto", "ahmc", "rmhmc"}, name) { // one of each kind
			continue
		}
		cfg := infer.Config{Sampler: s, Chains: 2, Warmup: 150, Draws: 120, Thin: 2, SaveWarmup: true, WarmupValues: true, Seed: 3}
		want, wantReport := drawn(t, noisy{banana}, cfg)

		// Taking snapshots does not change the draws.
		var snapshots [2][]*infer.Snapshot
		cfg.SnapshotEvery = -1
		cfg.Snapshot = func(s *infer.Snapshot) { snapshots[s.Chain] = append(snapshots[s.Chain], through(t, s)) }
		if got, _ := drawn(t, noisy{banana}, cfg); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: taking snapshots has changed the draws", name)
		}
		least := 270 // one per transition, including warm-up
		if _, ok := s.(auto.Sampler); ok {
			least = 120 // its warm-up is repeated
		}
		if n := len(snapshots[0]); n < least {
			t.Fatalf("%s: %d snapshots", name, n)
		}
		cfg.Snapshot = nil
		pick := func(chain, percent int) *infer.Snapshot {
			all := snapshots[chain]
			return all[percent*(len(all)-1)/100]
		}
		moments := [][2]*infer.Snapshot{
			{snapshots[0][0], nil}, {snapshots[0][1], snapshots[1][2]}, {pick(0, 100), pick(1, 99)}, {pick(0, 100), pick(1, 100)},
		}
		for percent := 5; percent < 77; percent += 9 { // covers warm-up, whose stages take some 55
			moments = append(moments, [2]*infer.Snapshot{pick(0, percent), pick(1, 77-percent)})
		}
		for _, at := range moments {
			cfg.Resume = at[:]
			got, report := drawn(t, noisy{banana}, cfg)
			for chain, s := range at {
				before := 0
				if s != nil {
					before = s.Draws
				}
				whole := append(slices.Clone(want[chain][:before]), got[chain]...)
				if !reflect.DeepEqual(whole, want[chain]) {
					t.Errorf("%s: chain %d, resumed after %d draws: the draws differ", name, chain, before)
				}
				a, b := wantReport.Chains[chain], report.Chains[chain]
				for _, r := range []*infer.ChainReport{&a, &b} {
					r.Warmup.Elapsed, r.Sampling.Elapsed = 0, 0
					r.Warmup.Charged, r.Sampling.Charged = 0, 0 // by the clock
					if r.Geometry != nil {                      // its account begins anew
						r.Geometry = nil
					}
				}
				if fmt.Sprint(a) != fmt.Sprint(b) {
					t.Errorf("%s: chain %d, resumed after %d draws: the report is\n%v, not\n%v", name, chain, before, b, a)
				}
			}
		}
	}
}

// noisy generates values that depend on random numbers.
type noisy struct{ infertest.Banana }

func (g noisy) CloneDensity() infer.LogDensity { return g }
func (noisy) OutputNames() []string            { return []string{"u"} }
func (noisy) Generate(x []float64, rng *rand.Rand, dst []float64) error {
	dst[0] = x[0] + rng.NormFloat64()
	return nil
}

// TestResumeRefuses checks that snapshots of another run, model or sampler are refused, and that a
// density that has changed by rounding is reported.
func TestResumeRefuses(t *testing.T) {
	target := infertest.AR1(2, 0.5)
	cfg := infer.Config{Sampler: nuts.Sampler{}, Chains: 1, Warmup: 50, Draws: 50, Seed: 3}
	var last *infer.Snapshot
	cfg.Snapshot = func(s *infer.Snapshot) { last = through(t, s) }
	cfg.SnapshotEvery = -1
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	for range infer.Run(ctx, target, cfg) {
		if n++; n == 20 {
			break
		}
	}
	cfg.Snapshot = nil
	fails := func(target infer.LogDensity, cfg infer.Config) error {
		cfg.Resume = []*infer.Snapshot{last}
		for _, err := range infer.Run(context.Background(), target, cfg) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := fails(target, cfg); err != nil {
		t.Fatal(err)
	}
	other := cfg
	other.Seed = 4
	if err := fails(target, other); err == nil {
		t.Error("another seed passes")
	}
	if err := fails(infertest.AR1(3, 0.5), cfg); err == nil {
		t.Error("another dimension passes")
	}
	if err := fails(infertest.AR1(2, 0.6), cfg); err == nil || !strings.Contains(err.Error(), "have changed") {
		t.Errorf("another density: %v", err)
	}
	other = cfg
	other.Sampler = hmc.Sampler{Hamiltonian: riemann.Options{}.Hamiltonian(func(*infer.Meter) (riemann.Metric, error) { return infertest.Curved{D: 2}, nil })}
	if err := fails(target, other); err == nil {
		t.Error("another geometry passes")
	}
	cfg.Resume = []*infer.Snapshot{last}
	_, report := drawn(t, rounding{target}, cfg)
	if !report.Chains[0].Inexact {
		t.Error("a density that rounds otherwise is not told")
	}
	if new(infer.Snapshot).GobDecode([]byte("nonsense")) == nil {
		t.Error("nonsense was decoded")
	}
}

// TestElapsed checks that the time for which a chain waits for the consumer is counted once.
// Otherwise the time of a phase could be negative.
func TestElapsed(t *testing.T) {
	cfg := infer.Config{Sampler: nuts.Sampler{}, Chains: 2, Warmup: 50, Draws: 1000, Seed: 1}
	cfg.Enough = func(n int) bool { return n >= 900 }
	cfg.SnapshotEvery = -1
	cfg.Snapshot = func(s *infer.Snapshot) {
		time.Sleep(100 * time.Microsecond)
		if p := s.Elapsed(); p < 0 {
			t.Errorf("after %d draws %s have passed", s.Draws, p)
		}
	}
	drawn(t, infertest.AR1(2, 0.5), cfg)
}

// rounding is a target whose density differs in the last digits.
type rounding struct{ *infertest.Normal }

func (r rounding) CloneDensity() infer.LogDensity {
	return rounding{r.Normal.CloneDensity().(*infertest.Normal)}
}
func (r rounding) LogDensityGrad(x, grad []float64) (float64, error) {
	lp, err := r.Normal.LogDensityGrad(x, grad)
	return lp * (1 + 1e-12), err
}

// TestEnough checks that Enough is called at the same points however fast the chains are, and ends
// them all after the same number of draws. A failed chain does not hold the others up, and a
// resumed run ends at the same draw.
func TestEnough(t *testing.T) {
	var asked []int
	seen := 0
	cfg := infer.Config{Sampler: nuts.Sampler{}, Chains: 3, Warmup: 100, Draws: 5000, Seed: 1, Parallel: 1}
	cfg.Enough = func(n int) bool {
		asked = append(asked, n)
		return n >= 300
	}
	var snapshots [3][]*infer.Snapshot
	cfg.Snapshot = func(s *infer.Snapshot) { snapshots[s.Chain] = append(snapshots[s.Chain], through(t, s)) }
	cfg.SnapshotEvery = -1
	target := infertest.AR1(2, 0.5)
	var last [3]infer.Progress
	cfg.Progress = func(p infer.Progress) { last[p.Chain] = p }
	want, report := drawn(t, target, cfg)
	for _, p := range last {
		if p.Iteration != 403 || p.Total != 403 {
			t.Errorf("progress ends at %+v", p)
		}
	}
	cfg.Progress = nil
	for _, chain := range want {
		seen += len(chain)
	}
	if !slices.Equal(asked, []int{100, 125, 156, 195, 243, 303}) || seen != 909 || report.Enough != 303 || report.Interrupted {
		t.Errorf("asked after %v, %d draws, %d, interrupted %v", asked, seen, report.Enough, report.Interrupted)
	}
	cfg.Snapshot = nil
	at := func(chain, n int) *infer.Snapshot {
		i := slices.IndexFunc(snapshots[chain], func(s *infer.Snapshot) bool { return s.Draws == n })
		return snapshots[chain][i]
	}
	cfg.Resume = []*infer.Snapshot{at(0, 190), at(1, 210), at(2, 200)}
	got, report := drawn(t, target, cfg)
	for chain := range want {
		n := cfg.Resume[chain].Draws
		if !reflect.DeepEqual(append(slices.Clone(want[chain][:n]), got[chain]...), want[chain]) {
			t.Errorf("chain %d: the resumed draws differ", chain)
		}
	}
	if report.Enough != 303 {
		t.Errorf("the resumed run ended at %d", report.Enough)
	}

	// One chain fails: Enough is still called for the others.
	cfg = infer.Config{Sampler: nuts.Sampler{}, Chains: 3, Warmup: 100, Draws: 5000, Seed: 1,
		Init: infer.At{Positions: [][]float64{{0, 0}, {math.NaN(), 0}, {0, 0}}, Radius: math.NaN()}}
	cfg.Enough = func(n int) bool { return n >= 200 }
	failed, seen := 0, 0
	for _, err := range infer.Run(context.Background(), target, cfg) {
		if err != nil {
			failed++
		} else {
			seen++
		}
	}
	if failed == 0 {
		t.Error("no chain failed")
	}
	// Enough is never true: Draws is the limit.
	cfg.Init, cfg.Draws = nil, 250
	cfg.Enough = func(int) bool { return false }
	got, report = drawn(t, target, cfg)
	if len(got[0]) != 250 || report.Enough != 0 {
		t.Errorf("%d draws, enough %d", len(got[0]), report.Enough)
	}
	// The loop is left, or the run cancelled, while chains wait.
	for _, err := range infer.Run(context.Background(), target, cfg) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if _, err := infer.NewSession(unclonable{}, cfg); err == nil {
		t.Error("chains that cannot run together were promised to")
	}
}

type unclonable struct{}

func (unclonable) Dim() int { return 1 }
func (unclonable) LogDensityGrad(x, grad []float64) (float64, error) {
	grad[0] = -x[0]
	return -0.5 * x[0] * x[0], nil
}

// TestStartingStepSize checks that sampling without warm-up uses the given step size.
func TestStartingStepSize(t *testing.T) {
	cfg := infer.Config{Sampler: nuts.Sampler{}, Chains: 2, Warmup: -1, Draws: 3, StepSize: []float64{0.25, 0.5}}
	for _, s := range []infer.Sampler{nuts.Sampler{}, nuts.Sampler2011{}, hmc.Sampler{}} {
		cfg.Sampler = s
		draws, _ := drawn(t, infertest.AR1(2, 0), cfg)
		if draws[0][0].Stats.StepSize != 0.25 || draws[1][2].Stats.StepSize != 0.5 {
			t.Errorf("%T: step sizes %v, %v", s, draws[0][0].Stats.StepSize, draws[1][2].Stats.StepSize)
		}
	}
	for _, bad := range [][]float64{{1, 2, 3}, {-1}, {math.Inf(1)}} {
		cfg.StepSize = bad
		if _, err := infer.NewSession(infertest.AR1(2, 0), cfg); err == nil {
			t.Errorf("%v passes", bad)
		}
	}
}
