package auto

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/ppl-lang/ppl/infer"
)

// TestStartsElsewhere starts chains where the model rejects the points at which climbs begin, with
// group-level terms near their means. Such chains climb from the points found first. They climb
// from slow points only if there are no others, and then do not reject them. The search for modes
// goes around very slow points.
func TestStartsElsewhere(t *testing.T) {
	nowhere := func([]float64) bool { return false }
	near := func(x []float64) bool {
		for _, v := range x[1:] {
			if math.Abs(v) > nearMeans {
				return false
			}
		}
		return true
	}
	far := func(x []float64) bool {
		return slices.ContainsFunc(x[1:], func(v float64) bool { return math.Abs(v) > 16 })
	}
	for _, c := range []struct {
		name           string
		rejected, slow func(x []float64) bool
		ratio          float64
		waits          bool
	}{
		{"everywhere", nowhere, nowhere, 1000, false},
		{"rejected near means", near, nowhere, 1000, false},
		{"slow near means", nowhere, near, 10, true}, // the search for modes goes there
		{"slow far away", nowhere, far, 10, true},    // and there
		{"very slow far away", nowhere, far, 1000, false},
		{"slow", nowhere, func([]float64) bool { return true }, 1000, true},
		{"rejected near means, slow elsewhere", near, func(x []float64) bool { return !near(x) }, 1000, true},
	} {
		for seed := range uint64(4) {
			target := &observed{rejected: c.rejected, slow: c.slow, ratio: c.ratio, waits: new(atomic.Int64)}
			small := Sampler{Kind: NUTS, StepSize: 1e-6, MaxDepth: 1, NoRefine: true} // trajectories do not go far
			session, err := infer.NewSession(target, infer.Config{Sampler: small, Seed: 1 + seed, Warmup: 1, Draws: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range session.Draws(context.Background()) {
				if err != nil {
					t.Fatalf("%s, seed %d: %v", c.name, 1+seed, err)
				}
			}
			for _, r := range session.Report().Chains {
				if r.Err != nil {
					t.Errorf("%s, seed %d: chain %d: %v", c.name, 1+seed, r.Chain, r.Err)
				}
			}
			if got := target.waits.Load() > 0; got != c.waits {
				t.Errorf("%s, seed %d: %d slow points", c.name, 1+seed, target.waits.Load())
			}
		}
	}
}

// observed is the density of six group-level terms that have the prior of a funnel and are observed
// at 3, with standard deviation 0.3.
type observed struct {
	rejected, slow func(x []float64) bool
	waits          *atomic.Int64 // evaluations at slow points
	ratio          float64       // of the time at slow points to that at others
	haste          float64
	postponed      bool
}

func (*observed) Dim() int { return 7 }

func (o *observed) CloneDensity() infer.LogDensity {
	c := *o
	c.haste, c.postponed = 0, false
	return &c
}

func (o *observed) Recentring() (infer.Recentring, error) { return &funnelMap{d: o.Dim()}, nil }

func (o *observed) SetHasty(ratio float64) (rejected bool) {
	rejected, o.haste, o.postponed = o.postponed, ratio, false
	return rejected
}

func (o *observed) LogDensityGrad(x, grad []float64) (float64, error) {
	if o.rejected(x) {
		return 0, errors.New("rejected")
	}
	if o.slow(x) {
		if o.haste > 0 && o.haste <= o.ratio {
			o.postponed = true
			return 0, errors.New("slow")
		}
		o.waits.Add(1)
	}
	lp := -x[0] * x[0] / 2
	grad[0] = -x[0]
	precision := math.Exp(-x[0])
	for j, v := range x[1:] {
		far := (v - 3) / 0.3
		lp -= (x[0] + v*v*precision + far*far) / 2
		grad[0] -= (1 - v*v*precision) / 2
		grad[1+j] = -v*precision - far/0.3
	}
	return lp, nil
}
