package tempered_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/tempered"
)

// mixtures returns references with all kinds of covariance, in three dimensions.
func mixtures(t *testing.T) []*tempered.Mixture {
	t.Helper()
	unit := infer.Metric{Kind: infer.Unit, Dim: 3, Mean: []float64{1, 2, 3}}
	diagonal := infer.Metric{Kind: infer.Diagonal, Dim: 3, Inverse: []float64{0.5, 2, 1}, Mean: []float64{-1, 0, 1}}
	dense := infer.Metric{Kind: infer.Dense, Dim: 3, Inverse: []float64{2, 0.5, 0.1, 0.5, 1, -0.3, 0.1, -0.3, 0.7}}
	low := infer.Metric{Kind: infer.LowRank, Dim: 3, Inverse: []float64{0.7, 1.2, 2, 3, 0.6, 0.8, 0}, Mean: []float64{0, 1, 0}}
	var out []*tempered.Mixture
	for _, parts := range [][]tempered.Component{
		{{1, unit}}, {{1, diagonal}}, {{1, dense}}, {{1, low}}, {{3, unit}, {2, diagonal}, {4, dense}, {1, low}},
	} {
		m, err := tempered.NewMixture(parts)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// TestMixture checks the gradient of a mixture against its log density. It also checks that the
// mixture is normalised: against another normalised density, its draws must have an importance
// weight of 1 on average.
func TestMixture(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	all := mixtures(t)
	x, grad, unused := make([]float64, 3), make([]float64, 3), make([]float64, 3)
	wide := all[len(all)-1]
	for n, m := range all {
		for range 20 {
			m.Sample(rng, x)
			log := m.LogGrad(x, grad)
			if got := m.Log(x); got != log {
				t.Errorf("%d: log densities %v and %v at one point", n, got, log)
			}
			for i := range x {
				const h = 1e-5
				y := slices.Clone(x)
				y[i] += h
				above := m.LogGrad(y, unused)
				y[i] -= 2 * h
				if want := (above - m.Log(y)) / (2 * h); math.Abs(want-grad[i]) > 1e-6*(1+math.Abs(want)) {
					t.Errorf("%d: element %d of the gradient is %v, by differences %v", n, i, grad[i], want)
				}
			}
		}
		sum, squares := 0.0, 0.0
		const draws = 20000
		for range draws {
			wide.Sample(rng, x)
			w := math.Exp(m.Log(x) - wide.Log(x))
			sum, squares = sum+w, squares+w*w
		}
		mean := sum / draws
		if se := math.Sqrt((squares/draws - mean*mean) / draws); math.Abs(mean-1) > 5*se+1e-9 {
			t.Errorf("%d: its integral is %v ± %v", n, mean, se)
		}
	}
	if _, err := tempered.NewMixture(nil); err == nil {
		t.Error("a mixture of nothing")
	}
}

// replicate starts a ladder whose replicas are exact draws of their levels: target and references
// are normal distributions with their own variances, so that all levels are normal too.
type replicate struct {
	target    infertest.Exact
	reference infer.Metric
	oneLeg    bool
	k         *tempered.Kernel
	begun     *infer.Point
}

// Transition implements [infer.Kernel]. A point of another replicate starts a new ladder.
func (r *replicate) Transition(rng *rand.Rand, h infer.Hamiltonian, eps float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	if z != r.begun {
		var err error
		if r.k == nil {
			r.k, err = tempered.New(rng, infer.NewMeter(r.target.CloneDensity()), tempered.Sampler{MaxDepth: 2, OneLeg: r.oneLeg}, tempered.Start{
				Modes: []tempered.Component{{Weight: 1, Normal: r.reference}},
				Broad: infer.Metric{Kind: infer.Diagonal, Dim: 2, Inverse: []float64{4, 9}}, At: z.Position,
			})
		}
		if err != nil {
			return z, infer.Info{}, err
		}
		r.k.Redraw(rng, z.Position)
	}
	next, info, err := r.k.Transition(rng, h, eps, z)
	if !r.k.Check() {
		err = errors.New("a replica carries what is not of its level")
	}
	r.begun = next
	return next, info, err
}

// TestInvariance checks that a scan leaves the target invariant as the distribution of the state
// there, if all replicas start from exact draws of their levels.
func TestInvariance(t *testing.T) {
	target := infertest.NewNormal([]float64{0.5, -0.3}, [][]float64{{0.6, 0}, {0, 1.3}})
	for _, oneLeg := range []bool{false, true} {
		r, err := infertest.Invariance{
			Target: target,
			Kernel: func() infer.Kernel {
				return &replicate{target: target, reference: infer.Metric{Kind: infer.Diagonal, Dim: 2, Inverse: []float64{0.5, 2}, Mean: []float64{0.2, 0}}, oneLeg: oneLeg}
			},
			Hamiltonian: func(target infer.LogDensity) (infer.Hamiltonian, error) { return plain(target) },
			StepSize:    1, Replicates: 10000, Seed: 5,
		}.Run()
		if err == nil {
			err = r.Err()
		}
		if err != nil {
			t.Errorf("one leg %v: %v", oneLeg, err)
		}
		if r.Moved < 0.9 {
			t.Errorf("only %v of the replicates have moved", r.Moved)
		}
	}
}

func drawn(t *testing.T, target infer.LogDensity, cfg infer.Config) ([]infer.Draw, infer.Report) {
	t.Helper()
	s, err := infer.NewSession(target, cfg)
	if err != nil {
		t.Fatal(err)
	}
	var out []infer.Draw
	for d, err := range s.Draws(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, d)
	}
	return out, s.Report()
}

// TestResume checks that a run makes the same draws if it is resumed from any of its snapshots,
// taken between stages and between draws.
func TestResume(t *testing.T) {
	m := scattered(rand.New(rand.NewPCG(3, 1)), 3, 2, 4)
	cfg := infer.Config{Sampler: tempered.Sampler{Starts: 4}, Chains: 1, Warmup: 120, Draws: 40, Seed: 4, SnapshotEvery: -1}
	var snapshots [][]byte
	cfg.Snapshot = func(s *infer.Snapshot) {
		var out bytes.Buffer
		if err := gob.NewEncoder(&out).Encode(s); err != nil {
			t.Fatal(err)
		}
		snapshots = append(snapshots, out.Bytes())
	}
	want, report := drawn(t, m, cfg)
	if len(snapshots) < 40 {
		t.Fatalf("only %d snapshots", len(snapshots))
	}
	cfg.Snapshot = nil
	for i := 0; i < len(snapshots); i += 1 + i/4 {
		var s infer.Snapshot
		if err := gob.NewDecoder(bytes.NewReader(snapshots[i])).Decode(&s); err != nil {
			t.Fatal(err)
		}
		cfg.Resume = []*infer.Snapshot{&s}
		got, again := drawn(t, m, cfg)
		rest := want[len(want)-len(got):]
		for j := range got {
			if !slices.Equal(got[j].Position, rest[j].Position) || got[j].Stats != rest[j].Stats || got[j].LogDensity != rest[j].LogDensity {
				t.Fatalf("from snapshot %d: draw %d differs", i, j)
			}
		}
		if len(got)+s.Draws != len(want) {
			t.Errorf("from snapshot %d: %d draws after %d", i, len(got), s.Draws)
		}
		for name, v := range report.Chains[0].Kernel {
			if again.Chains[0].Kernel[name] != v {
				t.Errorf("from snapshot %d: %s is %v, not %v", i, name, again.Chains[0].Kernel[name], v)
			}
		}
	}
}
