package auto

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/ppl-lang/ppl/infer"
)

// TestStartsElsewhere starts chains where the model rejects the points at which climbs begin, with
// group-level terms near their means. Such chains climb from the points found first. They climb
// from slow points only if there are no others, and then do not reject them.
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
	for _, c := range []struct {
		name           string
		rejected, slow func(x []float64) bool
		waits          bool
	}{
		{"everywhere", nowhere, nowhere, false},
		{"rejected near means", near, nowhere, false},
		{"slow near means", nowhere, near, true}, // the search for modes goes there
		{"slow", nowhere, func([]float64) bool { return true }, true},
		{"rejected near means, slow elsewhere", near, func(x []float64) bool { return !near(x) }, true},
	} {
		for seed := range uint64(4) {
			target := &observed{rejected: c.rejected, slow: c.slow, waits: new(atomic.Int64)}
			session, err := infer.NewSession(target, infer.Config{Sampler: Sampler{}, Seed: 1 + seed, Warmup: 1, Draws: 1})
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
	hasty, haste   bool
}

func (*observed) Dim() int { return 7 }

func (o *observed) CloneDensity() infer.LogDensity {
	c := *o
	c.hasty, c.haste = false, false
	return &c
}

func (o *observed) Recentring() (infer.Recentring, error) { return &funnelMap{d: o.Dim()}, nil }

func (o *observed) SetHasty(hasty bool) (rejected bool) {
	rejected, o.hasty, o.haste = o.haste, hasty, false
	return rejected
}

func (o *observed) LogDensityGrad(x, grad []float64) (float64, error) {
	if o.rejected(x) {
		return 0, errors.New("rejected")
	}
	if o.slow(x) {
		if o.hasty {
			o.haste = true
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
